// SPDX-License-Identifier: MIT
//
// modules_test.cpp - the module for each kind of object, and every module forced on every kind that allows
// it: the bytes must be the same.
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "tests/interfaces/asi/asi_test.h"
#include "tests/streams/private_headers.h"

namespace asi {
namespace {

class Modules : public Asi {
  protected:
    static std::string module_of(asf_cios *s) {
        const std::string name = asf_module_name(s);
        EXPECT_GT(strlen(asf_module_why(s)), 3U) << name;
        EXPECT_EQ(sclose(s), 0);
        return name;
    }

    static std::string read_all(asf_cios *s, ssize_t region) {
        std::string all;
        for (;;) {
            ssize_t n = region;
            void *p = salloc(s, &n);
            if (!p) {
                EXPECT_EQ(n, 0) << strerror(static_cast<int>(-n));
                return all;
            }
            all.append(static_cast<char *>(p), static_cast<size_t>(n));
            EXPECT_EQ(sfree(s, p), 0);
        }
    }

    static void force(const char *module, size_t map_min, size_t window) {
        strcpy(options().module, module);
        options().map_min = map_min;
        options().window = window;
    }

    Restore restore;
};

TEST_F(Modules, ChosenByWhatTheObjectIs) {
    force("", 256 << 10, 8 << 20);
    const auto module_reading = [&](const std::string &file) {
        asf_cios *s = must_open(file, O_RDONLY);
        take(s, 1);
        return module_of(s);
    };
    const auto module_writing = [&](int flags) {
        asf_cios *s = must_open(path("out"), flags | O_CREAT);
        EXPECT_EQ(set_stream_mode(s, ASF_WRITE), s);
        give(s, "x");
        return module_of(s);
    };
    EXPECT_EQ(module_reading(put("empty", "")), "read");
    EXPECT_EQ(module_reading(put_pattern("small", 1000)), "read");
    EXPECT_EQ(module_reading("/proc/self/status"), "read");
    EXPECT_EQ(module_reading("/dev/zero"), "pipe");
    EXPECT_EQ(module_writing(O_WRONLY), "write");
    EXPECT_EQ(module_writing(O_WRONLY | O_APPEND), "write");
    EXPECT_EQ(module_writing(O_RDWR), "update");
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    ASSERT_EQ(::write(ends[1], "x", 1), 1);
    asf_cios *s = asf_sopen_fd(ends[0], O_RDONLY, nullptr);
    take(s, 1);
    EXPECT_EQ(module_of(s), "pipe");
    ::close(ends[1]);
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    ASSERT_EQ(::write(ends[1], "x", 1), 1);
    s = asf_sopen_fd(ends[0], O_RDWR, nullptr);
    take(s, 1);
    EXPECT_EQ(module_of(s), "pipe");
    ::close(ends[1]);
}

struct Forced {
    const char *module;
    size_t map_min, window;
};

void PrintTo(const Forced &f, std::ostream *out) {
    *out << "module=" << f.module << ",map_min=" << f.map_min << ",window=" << f.window;
}

class Forcing : public Modules, public testing::WithParamInterface<Forced> {
  protected:
    void SetUp() override {
        Modules::SetUp();
        force(GetParam().module, GetParam().map_min, GetParam().window);
    }
};

TEST_P(Forcing, FilesOfEachSize) {
    for (ssize_t size : {ssize_t{0}, ssize_t{1}, ssize_t{4095}, ssize_t{4096}, ssize_t{4097}, 2 * MiB - 1,
                         2 * MiB, 2 * MiB + 1, 7 * MiB}) {
        const std::string all = pattern(static_cast<size_t>(size));
        put("file", all);
        for (ssize_t region : {ssize_t{999}, ssize_t{4096}, ssize_t{70001}, 3 * MiB}) {
            asf_cios *s = must_open(path("file"), O_RDONLY);
            EXPECT_TRUE(read_all(s, region) == all) << "file of " << size << " in regions of " << region;
            EXPECT_EQ(sclose(s), 0);
        }
    }
}

TEST_P(Forcing, FilesWithoutASize) {
    for (const char *file : {"/proc/version", "/proc/sys/kernel/ostype", "/proc/self/maps", "/proc/cpuinfo",
                             "/sys/kernel/mm/transparent_hugepage/enabled", "/sys/kernel/notes"}) {
        if (access(file, R_OK) != 0)
            continue;
        asf_cios *s = must_open(file, O_RDONLY);
        EXPECT_GT(read_all(s, 1000).size(), 1U) << file;
        EXPECT_EQ(sclose(s), 0);
    }
}

TEST_P(Forcing, FromTheMiddle) {
    put_pattern("file", static_cast<size_t>(5 * MiB));
    for (off64_t start :
         {off64_t{1}, off64_t{4096}, off64_t{3000000}, off64_t{5 * MiB - 1}, off64_t{6 * MiB}}) {
        int fd = open(path("file").c_str(), O_RDONLY | O_CLOEXEC);
        lseek(fd, start, SEEK_SET);
        asf_cios *s = asf_sopen_fd(fd, O_RDONLY, nullptr);
        const size_t left = start < 5 * MiB ? static_cast<size_t>(5 * MiB - start) : 0;
        EXPECT_TRUE(read_all(s, 33333) == pattern(left, static_cast<size_t>(start))) << start;
        EXPECT_EQ(sclose(s), 0);
    }
}

TEST_P(Forcing, AFileThatGrowsAtItsEnd) {
    asf_cios *s = must_open(put_pattern("file", static_cast<size_t>(2 * MiB)), O_RDONLY);
    EXPECT_TRUE(read_all(s, 100000) == pattern(static_cast<size_t>(2 * MiB)));
    for (int i = 0; i < 3; i++) {
        int fd = open(path("file").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
        ASSERT_EQ(::write(fd, "0123456789", 10), 10);
        ::close(fd);
        EXPECT_EQ(read_all(s, 4), "0123456789");
    }
    EXPECT_EQ(sclose(s), 0);
}

TEST_P(Forcing, PipesAndDevicesAreNotMapped) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    ASSERT_EQ(::write(ends[1], "0123456789", 10), 10);
    ::close(ends[1]);
    asf_cios *s = asf_sopen_fd(ends[0], O_RDONLY, nullptr);
    EXPECT_EQ(read_all(s, 3), "0123456789");
    EXPECT_EQ(module_of(s), "pipe");
    s = must_open("/dev/zero", O_RDONLY);
    EXPECT_EQ(take(s, 10), std::string(10, '\0'));
    EXPECT_EQ(module_of(s), "pipe");
}

TEST_P(Forcing, OutputIsNotTouchedByIt) {
    const std::string all = pattern(static_cast<size_t>(3 * MiB));
    for (int flags : {O_WRONLY, O_WRONLY | O_APPEND, O_RDWR}) {
        asf_cios *s = must_open(path("out"), flags | O_CREAT | O_TRUNC);
        ASSERT_EQ(set_stream_mode(s, ASF_WRITE), s);
        for (size_t at = 0; at < all.size(); at += 9999)
            give(s, std::string_view(all).substr(at, 9999));
        EXPECT_EQ(sclose(s), 0);
        EXPECT_TRUE(contents("out") == all);
    }
}

INSTANTIATE_TEST_SUITE_P(All, Forcing,
                         testing::Values(Forced{"", 256 << 10, 8 << 20}, Forced{"", 0, 2 << 20},
                                         Forced{"map", 0, 2 << 20}, Forced{"map", 256 << 10, 8 << 20},
                                         Forced{"read", 0, 2 << 20}),
                         [](const auto &test) {
                             const Forced &f = test.param;
                             return std::string(*f.module ? f.module : "chosen") + "_window_" +
                                    std::to_string(f.window >> 20) + (f.map_min ? "" : "_even_small");
                         });

// --- results that the kernel may return -------------------------------------------------------

asf_syscalls real;
int countdown; // this many calls succeed before the failure
int live_maps, most_maps;

ssize_t read_one_byte(int fd, void *p, size_t) {
    return real.read(fd, p, 1);
}
ssize_t read_fails_later(int fd, void *p, size_t n) {
    return countdown-- > 0 ? real.read(fd, p, n) : -EIO;
}
ssize_t write_a_bit(int fd, const void *p, size_t n) {
    return real.write(fd, p, n < 1000 ? n : 1000);
}
ssize_t write_fails_later(int fd, const void *p, size_t n) {
    return countdown-- > 0 ? real.write(fd, p, n) : -ENOSPC;
}
void *map_fails_later(size_t n, int fd, off64_t at, int *error) {
    if (countdown-- > 0)
        return real.map(n, fd, at, error);
    *error = -ENODEV;
    return nullptr;
}
void *map_counted(size_t n, int fd, off64_t at, int *error) {
    void *p = real.map(n, fd, at, error);
    live_maps += p != nullptr;
    most_maps = live_maps > most_maps ? live_maps : most_maps;
    return p;
}
int unmap_counted(void *p, size_t n) {
    live_maps--;
    return real.unmap(p, n);
}

class Answers : public Modules {
  protected:
    void SetUp() override {
        Modules::SetUp();
        real = asf__sys;
        live_maps = most_maps = 0;
        force("", 0, 2 << 20);
    }
};

TEST_F(Answers, ReadsOfOneByte) {
    force("read", 0, 2 << 20);
    asf_cios *s = must_open(put_pattern("file", 20000), O_RDONLY);
    asf__sys.read = read_one_byte;
    EXPECT_TRUE(read_all(s, 777) == pattern(20000));
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Answers, AReadThatFailsLater) {
    force("read", 0, 2 << 20);
    asf_cios *s = must_open(put_pattern("file", static_cast<size_t>(3 * MiB)), O_RDONLY);
    asf__sys.read = read_fails_later;
    countdown = 3;
    size_t at = 0;
    ssize_t n;
    for (;;) {
        n = 1000;
        void *p = salloc_some(s, &n);
        if (!p)
            break;
        ASSERT_EQ(first_wrong(p, static_cast<size_t>(n), at), static_cast<size_t>(n));
        at += static_cast<size_t>(n);
        ASSERT_EQ(sfree(s, p), 0);
    }
    EXPECT_EQ(n, -EIO);
    EXPECT_GT(at, 0U) << "what had been read is delivered";
    countdown = 1 << 20;
    EXPECT_TRUE(take(s, 1000) == pattern(1000, at)) << "and it goes on from there";
    EXPECT_EQ(sclose(s), 0);
}

int reads_at, writes_at, other_calls;

ssize_t pread_counted(int fd, void *p, size_t n, off64_t at) {
    reads_at++;
    return real.pread(fd, p, n, at);
}
ssize_t pwrite_counted(int fd, const void *p, size_t n, off64_t at) {
    writes_at++;
    return real.pwrite(fd, p, n, at);
}
ssize_t write_counted(int fd, const void *p, size_t n) {
    other_calls++;
    return real.write(fd, p, n);
}
off64_t lseek_counted(int fd, off64_t at, int whence) {
    other_calls++;
    return real.lseek(fd, at, whence);
}
int fstat_counted(int fd, struct stat64 *st) {
    other_calls++;
    return real.fstat(fd, st);
}

// A positional chunk is one system call, as the program's own pread or pwrite would be.
TEST_F(Answers, PiecesAtPlacesAreOneCallEach) {
    for (const bool reads : {false, true}) {
        asf_cios *s = must_open(put_pattern("file", 400000), reads ? O_RDWR : O_WRONLY);
        reads_at = writes_at = other_calls = 0;
        asf__sys.pread = pread_counted;
        asf__sys.pwrite = pwrite_counted;
        asf__sys.write = write_counted;
        asf__sys.lseek = lseek_counted;
        asf__sys.fstat = fstat_counted;
        for (int64_t i = 0; i < 1000; i++) {
            ssize_t n = 64;
            if (reads) {
                EXPECT_EQ(sfree(s, SallocAt(s, ASF_READ, &n, 400 * i, SEEK_SET)), 0);
            }
            void *p = SallocAt(s, ASF_WRITE, &n, 400 * i, SEEK_SET);
            ASSERT_NE(p, nullptr) << n;
            memset(p, 'w', 64);
            EXPECT_EQ(sfree(s, p), 0);
        }
        EXPECT_EQ(reads_at, reads ? 1000 : 0);
        EXPECT_EQ(writes_at, 1000);
        EXPECT_LT(other_calls, 10);
        asf__sys = real;
        EXPECT_EQ(sclose(s), 0);
    }
}

TEST_F(Answers, WritesThatTakeABit) {
    const std::string all = pattern(500000);
    asf__sys.write = write_a_bit;
    asf_cios *s = must_open(path("out"), O_WRONLY | O_CREAT);
    for (size_t at = 0; at < all.size(); at += 7777)
        give(s, std::string_view(all).substr(at, 7777));
    EXPECT_EQ(sclose(s), 0);
    EXPECT_TRUE(contents("out") == all);
}

TEST_F(Answers, AWriteThatFailsLater) {
    asf__sys.write = write_fails_later;
    countdown = 2;
    asf_cios *s = must_open(path("out"), O_WRONLY | O_CREAT);
    int error = 0;
    for (int i = 0; i < 2000 && error == 0; i++) {
        ssize_t n = 1000;
        void *p = salloc(s, &n);
        if (!p) {
            error = static_cast<int>(n);
            break;
        }
        memset(p, 'x', 1000);
        error = sfree(s, p);
    }
    EXPECT_EQ(error, -ENOSPC);
    sclose(s);
}

TEST_F(Answers, AMapThatIsRefused) {
    for (int good : {0, 1, 2}) {
        asf__sys.map = map_fails_later;
        countdown = good;
        asf_cios *s = must_open(put_pattern("file", static_cast<size_t>(7 * MiB)), O_RDONLY);
        EXPECT_TRUE(read_all(s, 100003) == pattern(static_cast<size_t>(7 * MiB))) << good << " maps succeed";
        EXPECT_EQ(module_of(s), "read");
    }
}

TEST_F(Answers, WindowsAreGivenBack) {
    put_pattern("file", static_cast<size_t>(21 * MiB));
    asf__sys.map = map_counted;
    asf__sys.unmap = unmap_counted;
    force("map", 0, 2 << 20);
    asf_cios *s = must_open(path("file"), O_RDONLY);
    EXPECT_EQ(read_all(s, 65536).size(), static_cast<size_t>(21 * MiB));
    EXPECT_LE(most_maps, 3) << "a window at a time, whatever the file's size";
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(live_maps, 0);
}

TEST_F(Answers, AWindowLivesAsLongAsItsRegions) {
    put_pattern("file", static_cast<size_t>(12 * MiB));
    asf__sys.map = map_counted;
    asf__sys.unmap = unmap_counted;
    force("map", 0, 2 << 20);
    asf_cios *s = must_open(path("file"), O_RDONLY);
    ssize_t n = 100;
    void *first = salloc(s, &n);
    while (take(s, 500000).size() > 0)
        continue;
    EXPECT_EQ(first_wrong(first, 100, 0), 100U);
    const int before = live_maps;
    EXPECT_EQ(sfree(s, first), 0);
    EXPECT_EQ(live_maps, before - 1);
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(live_maps, 0);
}

// With address space for a few windows only, the module must not need more.
TEST_F(Answers, LittleAddressSpace) {
    if (sanitized)
        GTEST_SKIP() << "a sanitizer needs more";
    put_pattern("file", static_cast<size_t>(30 * MiB));
    const pid_t pid = fork();
    if (pid == 0) {
        force("map", 0, 2 << 20);
        std::string expected = pattern(static_cast<size_t>(MiB), static_cast<size_t>(29 * MiB));
        struct rlimit limit = {200 << 20, 200 << 20};
        setrlimit(RLIMIT_AS, &limit);
        asf_cios *s = must_open(path("file"), O_RDONLY);
        for (int i = 0; i < 29; i++)
            if (take(s, MiB).size() != static_cast<size_t>(MiB))
                _exit(1);
        _exit(take(s, MiB) == expected ? 0 : 2);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    EXPECT_TRUE(WIFEXITED(status)) << status;
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(Answers, NoDescriptorIsLeft) {
    const auto open_descriptors = [] {
        int count = 0;
        for (int fd = 0; fd < 1000; fd++)
            count += fcntl(fd, F_GETFD) >= 0;
        return count;
    };
    put_pattern("file", static_cast<size_t>(3 * MiB));
    const int before = open_descriptors();
    for (int i = 0; i < 100; i++) {
        asf_cios *s = must_open(path("file"), i % 2 ? O_RDONLY : O_RDWR);
        take(s, 100000);
        EXPECT_EQ(open_descriptors(), before + 1);
        EXPECT_EQ(sclose(s), 0);
    }
    EXPECT_EQ(open_descriptors(), before);
}

} // namespace
} // namespace asi
