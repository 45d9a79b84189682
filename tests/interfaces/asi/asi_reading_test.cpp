// SPDX-License-Identifier: MIT
//
// asi_reading_test.cpp - salloc, sfree, srealloc and sallocAt on input: every
// size of file and region around the edges of buffers, blocks and windows.
#include <algorithm>
#include <random>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/single_threaded.h>
#include <sys/wait.h>

#include "asi_test.h"

namespace asi {
namespace {

using Reading = Asi;

TEST_F(Reading, ErrorsOfOpenAreReturned) {
    int error = 0;
    EXPECT_EQ(sopen(path("missing").c_str(), O_RDONLY, 0, &error), nullptr);
    EXPECT_EQ(error, -ENOENT);
    EXPECT_EQ(sopen(directory.c_str(), O_WRONLY, 0, &error), nullptr);
    EXPECT_EQ(error, -EISDIR);
    EXPECT_EQ(sopen(path("missing").c_str(), O_RDONLY, 0, nullptr), nullptr);
    EXPECT_EQ(asf_sopen_fd(-1, O_ACCMODE, &error), nullptr);
    EXPECT_EQ(error, -EINVAL);
    EXPECT_EQ(asf_sopen_fd(-1, O_RDONLY, &error), nullptr);
    EXPECT_EQ(error, -EBADF);
    int fd = open(put("file", "text").c_str(), O_RDONLY);
    EXPECT_EQ(asf_sopen_fd(fd, O_ACCMODE, &error), nullptr);
    EXPECT_EQ(close(fd), 0) << "it is still the caller's";
}

// The stream could neither read nor write; the file is not changed.
TEST_F(Reading, UnusableFlagsAreRefused) {
    for (int flags : {O_RDONLY | O_DIRECT, O_WRONLY | O_CREAT | O_TRUNC | O_DIRECT, O_RDWR | O_DIRECT,
                      O_ACCMODE, O_ACCMODE | O_CREAT | O_TRUNC}) {
        std::string file = put("file", "text");
        int error = 0;
        EXPECT_EQ(sopen(file.c_str(), flags, 0600, &error), nullptr);
        EXPECT_EQ(error, -EINVAL);
        EXPECT_EQ(contents("file"), "text");
    }
}

TEST_F(Reading, ErrnoIsLeftAlone) {
    std::string file = put_pattern("file", 3 * MiB);
    errno = E2BIG;
    int error;
    sopen(path("missing").c_str(), O_RDONLY, 0, &error);
    asf_cios *s = sopen(file.c_str(), O_RDONLY, 0, &error);
    take(s, 10);
    ssize_t n = 0;
    salloc(s, &n);
    sclose(s);
    EXPECT_EQ(errno, E2BIG);
}

TEST_F(Reading, ADirectoryCannotBeRead) {
    asf_cios *s = must_open(directory, O_RDONLY);
    ssize_t n = 10;
    void *p = salloc(s, &n);
    expect_none(p, n, -EISDIR);
    EXPECT_EQ(sclose(s), 0);
}

// Bytes beyond the file's end take no memory.
TEST_F(Reading, AskedForMoreThanThereIs) {
    for (const size_t size : {size_t{100000}, size_t{3 * MiB}}) {
        asf_cios *s = must_open(put_pattern("file", size), O_RDONLY);
        EXPECT_EQ(take(s, 10), pattern(10));
        ssize_t n = PTRDIFF_MAX;
        auto *p = static_cast<const char *>(salloc(s, &n));
        ASSERT_TRUE(p) << n;
        EXPECT_EQ(n, static_cast<ssize_t>(size) - 10);
        EXPECT_EQ(std::string(p, static_cast<size_t>(n)), pattern(size - 10, 10));
        EXPECT_EQ(sfree(s, const_cast<char *>(p)), 0);
        EXPECT_EQ(sclose(s), 0);
    }
}

TEST_F(Reading, LengthsBelowOneAreRefused) {
    asf_cios *s = must_open(put_pattern("file", 100), O_RDONLY);
    for (ssize_t wanted : {ssize_t{0}, ssize_t{-1}, ssize_t{PTRDIFF_MIN}}) {
        ssize_t n = wanted;
        void *p = salloc(s, &n);
        expect_none(p, n, -EINVAL);
        n = wanted;
        p = salloc_some(s, &n);
        expect_none(p, n, -EINVAL);
    }
    EXPECT_EQ(take(s, 100), pattern(100));
    EXPECT_EQ(sclose(s), 0);
}

class ReadingSizes : public Asi, public testing::WithParamInterface<ssize_t> {};

// Reads the whole file in regions of one size; frees each at once.
TEST_P(ReadingSizes, EveryByteInItsPlace) {
    const ssize_t file = GetParam();
    put_pattern("file", static_cast<size_t>(file));
    for (ssize_t region : {ssize_t{1}, ssize_t{7}, ssize_t{100}, ssize_t{4096}, ssize_t{65537}, 3 * MiB}) {
        if (file / region > 200000)
            continue;
        asf_cios *s = must_open(path("file"), O_RDONLY);
        ssize_t at = 0;
        for (;;) {
            ssize_t n = region;
            void *p = salloc(s, &n);
            if (!p) {
                ASSERT_EQ(n, 0) << "at " << at;
                break;
            }
            ASSERT_EQ(n, std::min(region, file - at)) << "at " << at;
            ASSERT_EQ(first_wrong(p, static_cast<size_t>(n), static_cast<size_t>(at)),
                      static_cast<size_t>(n));
            ASSERT_EQ(sfree(s, p), 0);
            at += n;
        }
        EXPECT_EQ(at, file);
        ssize_t again = region;
        void *p = salloc(s, &again);
        expect_none(p, again, 0);
        EXPECT_EQ(sclose(s), 0);
    }
}

// Keeps every region until the end, then frees them in a random order.
TEST_P(ReadingSizes, RegionsStayAsTheyAre) {
    const ssize_t file = GetParam();
    put_pattern("file", static_cast<size_t>(file));
    asf_cios *s = must_open(path("file"), O_RDONLY);
    std::mt19937 random(42);
    std::vector<Region> regions;
    size_t at = 0;
    for (;;) {
        ssize_t n = 1 + static_cast<ssize_t>(random() % 20000);
        char *p = static_cast<char *>(salloc(s, &n));
        if (!p)
            break;
        regions.push_back({p, n, at});
        at += static_cast<size_t>(n);
    }
    EXPECT_EQ(at, static_cast<size_t>(file));
    if (file > 0) {
        EXPECT_EQ(sclose(s), -EBUSY);
    }
    std::shuffle(regions.begin(), regions.end(), random);
    for (const Region &r : regions) {
        ASSERT_EQ(first_wrong(r.p, static_cast<size_t>(r.n), r.at), static_cast<size_t>(r.n))
            << "at " << r.at;
        ASSERT_EQ(sfree(s, r.p), 0);
    }
    EXPECT_EQ(sclose(s), 0);
}

TEST_P(ReadingSizes, TheWholeFileIsOneRegion) {
    const ssize_t file = GetParam();
    put_pattern("file", static_cast<size_t>(file));
    asf_cios *s = must_open(path("file"), O_RDONLY);
    ssize_t n = file + 1000;
    void *p = salloc(s, &n);
    EXPECT_EQ(n, file);
    if (file > 0) {
        EXPECT_EQ(first_wrong(p, static_cast<size_t>(n), 0), static_cast<size_t>(n));
        EXPECT_EQ(sfree(s, p), 0);
    }
    EXPECT_EQ(sclose(s), 0);
}

// Takes a region across each offset at which a window may end.
TEST_P(ReadingSizes, RegionsAtEveryPlace) {
    const ssize_t file = GetParam();
    put_pattern("file", static_cast<size_t>(file));
    asf_cios *s = must_open(path("file"), O_RDONLY);
    for (ssize_t place : {ssize_t{0}, ssize_t{1}, ssize_t{4095}, ssize_t{4096}, MiB - 1, 2 * MiB - 10,
                          2 * MiB, 4 * MiB - 1, file - 1, file / 2, ssize_t{5}}) {
        if (place < 0 || place >= file)
            continue;
        ssize_t n = 3 * MiB;
        void *p = sallocAt(s, &n, place, SEEK_SET);
        ASSERT_NE(p, nullptr) << "at " << place << ": " << n;
        ASSERT_EQ(n, std::min(3 * MiB, file - place));
        ASSERT_EQ(first_wrong(p, static_cast<size_t>(n), static_cast<size_t>(place)), static_cast<size_t>(n));
        ASSERT_EQ(sfree(s, p), 0);
    }
    EXPECT_EQ(sclose(s), 0);
}

INSTANTIATE_TEST_SUITE_P(Files, ReadingSizes,
                         testing::Values(0, 1, 2, 100, 4095, 4096, 4097, 65536, 300000, MiB - 1, MiB,
                                         2 * MiB - 1, 2 * MiB, 2 * MiB + 1, 5 * MiB, 20 * MiB));

TEST_F(Reading, SomeIsAtMostWhatWasAskedFor) {
    asf_cios *s = must_open(put_pattern("file", 100000), O_RDONLY);
    size_t at = 0;
    for (;;) {
        ssize_t n = 3000;
        void *p = salloc_some(s, &n);
        if (!p) {
            EXPECT_EQ(n, 0);
            break;
        }
        ASSERT_GE(n, 1);
        ASSERT_LE(n, 3000);
        ASSERT_EQ(first_wrong(p, static_cast<size_t>(n), at), static_cast<size_t>(n));
        at += static_cast<size_t>(n);
        sfree(s, p);
    }
    EXPECT_EQ(at, 100000U);
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Reading, FreeOfForeignPointersIsRefused) {
    asf_cios *s = must_open(put_pattern("file", 100), O_RDONLY);
    char mine[10];
    EXPECT_EQ(sfree(s, mine), -EINVAL);
    EXPECT_EQ(sfree(s, nullptr), -EINVAL);
    ssize_t n = 10;
    void *p = salloc(s, &n);
    EXPECT_EQ(sfree(s, mine), -EINVAL);
    EXPECT_EQ(sfree(s, p), 0);
    EXPECT_EQ(sfree(s, p), -EINVAL) << "given back twice";
    EXPECT_EQ(take(s, 10), pattern(10, 10));
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Reading, ReallocShrinks) {
    asf_cios *s = must_open(put_pattern("file", 10000), O_RDONLY);
    ssize_t n = 1000;
    void *p = salloc(s, &n);
    n = 300;
    p = srealloc(s, p, &n);
    ASSERT_NE(p, nullptr);
    EXPECT_EQ(n, 300);
    EXPECT_EQ(first_wrong(p, 300, 0), 300U);
    EXPECT_EQ(take(s, 50), pattern(50, 300));
    EXPECT_EQ(sfree(s, p), 0);
    n = 100;
    p = salloc(s, &n);
    n = 0;
    p = srealloc(s, p, &n);
    ASSERT_NE(p, nullptr);
    EXPECT_EQ(n, 0);
    EXPECT_EQ(sfree(s, p), 0);
    EXPECT_EQ(take(s, 10), pattern(10, 350));
    EXPECT_EQ(sclose(s), 0);
}

// A non-blocking descriptor gives the available bytes, and the next call returns the error.
TEST_F(Reading, WhatCameBeforeAnError) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_NONBLOCK), 0);
    asf_cios *s = asf_sopen_fd(ends[0], O_RDONLY, nullptr);
    for (size_t at = 0; at < 30; at += 10) {
        ASSERT_EQ(::write(ends[1], pattern(10, at).data(), 10), 10);
        EXPECT_EQ(take(s, 100), pattern(10, at));
        ssize_t n = 100;
        void *none = salloc(s, &n);
        expect_none(none, n, -EAGAIN);
    }
    ::close(ends[1]);
    EXPECT_EQ(take(s, 100), "");
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Reading, ReallocGrows) {
    asf_cios *s = must_open(put_pattern("file", static_cast<size_t>(7 * MiB)), O_RDONLY);
    ssize_t n = 10;
    void *p = salloc(s, &n);
    for (ssize_t wanted : {ssize_t{20}, ssize_t{5000}, ssize_t{70000}, MiB, 2 * MiB + 5, 5 * MiB}) {
        n = wanted;
        p = srealloc(s, p, &n);
        ASSERT_NE(p, nullptr) << "to " << wanted << ": " << n;
        ASSERT_EQ(n, wanted);
        ASSERT_EQ(first_wrong(p, static_cast<size_t>(n), 0), static_cast<size_t>(n)) << "to " << wanted;
    }
    n = 100 * MiB;
    p = srealloc(s, p, &n);
    ASSERT_NE(p, nullptr);
    EXPECT_EQ(n, 7 * MiB) << "as much as there is";
    EXPECT_EQ(first_wrong(p, static_cast<size_t>(n), 0), static_cast<size_t>(n));
    EXPECT_EQ(sfree(s, p), 0);
    EXPECT_EQ(take(s, 10), "");
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Reading, ReallocOfAnEarlierRegionIsRefused) {
    asf_cios *s = must_open(put_pattern("file", 10000), O_RDONLY);
    ssize_t n = 100, m = 100;
    void *first = salloc(s, &n), *second = salloc(s, &m);
    n = 200;
    void *p = srealloc(s, first, &n);
    expect_none(p, n, -EBUSY);
    n = 50;
    p = srealloc(s, first, &n);
    expect_none(p, n, -EBUSY);
    n = -1;
    p = srealloc(s, second, &n);
    expect_none(p, n, -EINVAL);
    EXPECT_EQ(first_wrong(first, 100, 0), 100U);
    EXPECT_EQ(first_wrong(second, 100, 100), 100U);
    EXPECT_EQ(sfree(s, first), 0);
    EXPECT_EQ(sfree(s, second), 0);
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Reading, AtEveryWhence) {
    asf_cios *s = must_open(put_pattern("file", 100000), O_RDONLY);
    const auto at = [&](off64_t offset, int whence) {
        ssize_t n = 10;
        char *p = static_cast<char *>(sallocAt(s, &n, offset, whence));
        std::string text = p ? std::string(p, static_cast<size_t>(n)) : "none " + std::to_string(n);
        if (p) {
            EXPECT_EQ(sfree(s, p), 0);
        }
        return text;
    };
    EXPECT_EQ(at(500, SEEK_SET), pattern(10, 500));
    EXPECT_EQ(at(0, SEEK_CUR), pattern(10, 510));
    EXPECT_EQ(at(-20, SEEK_CUR), pattern(10, 500));
    EXPECT_EQ(at(-5, SEEK_END), pattern(5, 99995));
    EXPECT_EQ(at(0, SEEK_END), "none 0");
    EXPECT_EQ(at(1000, SEEK_END), "none 0");
    EXPECT_EQ(at(50000, SEEK_SET), pattern(10, 50000));
    EXPECT_EQ(at(-1, SEEK_SET), "none " + std::to_string(-EINVAL));
    EXPECT_EQ(at(0, 99), "none " + std::to_string(-EINVAL));
    EXPECT_EQ(take(s, 10), pattern(10, 50010)) << "a failed move leaves the offset";
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Reading, RegionsOutliveMoves) {
    asf_cios *s = must_open(put_pattern("file", static_cast<size_t>(9 * MiB)), O_RDONLY);
    std::mt19937 random(7);
    std::vector<Region> regions;
    for (int i = 0; i < 300; i++) {
        const size_t place = random() % static_cast<size_t>(9 * MiB - 50000);
        ssize_t n = 1 + static_cast<ssize_t>(random() % 50000);
        char *p = static_cast<char *>(sallocAt(s, &n, static_cast<off64_t>(place), SEEK_SET));
        ASSERT_NE(p, nullptr);
        regions.push_back({p, n, place});
        if (i % 3 == 0) {
            const size_t k = random() % regions.size();
            ASSERT_EQ(sfree(s, regions[k].p), 0);
            regions.erase(regions.begin() + static_cast<ssize_t>(k));
        }
    }
    for (const Region &r : regions) {
        ASSERT_EQ(first_wrong(r.p, static_cast<size_t>(r.n), r.at), static_cast<size_t>(r.n));
        ASSERT_EQ(sfree(s, r.p), 0);
    }
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Reading, FlushSetsTheDescriptor) {
    asf_cios *s = must_open(put_pattern("file", 100000), O_RDONLY);
    const int fd = asf_fileno(s);
    ASSERT_GE(fd, 0);
    take(s, 123);
    EXPECT_EQ(sflush(s), 0);
    EXPECT_EQ(lseek(fd, 0, SEEK_CUR), 123);
    EXPECT_EQ(take(s, 10), pattern(10, 123));
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(fcntl(fd, F_GETFD), -1) << "the descriptor is closed with the stream";
}

TEST_F(Reading, FromADescriptorWhereItStands) {
    int fd = open(put_pattern("file", 100000).c_str(), O_RDONLY | O_CLOEXEC);
    lseek(fd, 777, SEEK_SET);
    int error = 1;
    asf_cios *s = asf_sopen_fd(fd, O_RDONLY, &error);
    ASSERT_NE(s, nullptr);
    EXPECT_EQ(error, 0);
    EXPECT_EQ(asf_fileno(s), fd);
    EXPECT_EQ(take(s, 1000), pattern(1000, 777));
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Reading, AGrowingFileIsReadOn) {
    asf_cios *s = must_open(put("file", "first"), O_RDONLY);
    EXPECT_EQ(take(s, 100), "first");
    EXPECT_EQ(take(s, 100), "");
    int fd = open(path("file").c_str(), O_WRONLY | O_APPEND);
    ASSERT_EQ(::write(fd, " second", 7), 7);
    EXPECT_EQ(take(s, 100), " second");
    ASSERT_EQ(ftruncate(fd, 3 * MiB), 0);
    EXPECT_EQ(take(s, 5 * MiB).size(), static_cast<size_t>(3 * MiB - 12));
    ::close(fd);
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Reading, NotOpenForWriting) {
    asf_cios *s = must_open(put_pattern("file", 1000), O_RDONLY);
    ssize_t n = 10;
    void *p = Salloc(s, ASF_WRITE, &n);
    expect_none(p, n, -EBADF);
    n = 10;
    p = SallocAt(s, ASF_WRITE, &n, 0, SEEK_SET);
    expect_none(p, n, -EBADF);
    EXPECT_EQ(set_stream_mode(s, ASF_WRITE), nullptr);
    EXPECT_EQ(set_stream_mode(s, ASF_READ), s);
    EXPECT_EQ(take(s, 10), pattern(10));
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Reading, UnlockedForms) {
    asf_cios *s = must_open(put_pattern("file", 10000), O_RDONLY);
    lockAsfStream(s);
    lockAsfStream(s);
    ssize_t n = 10;
    void *p = u_salloc(s, &n);
    EXPECT_EQ(first_wrong(p, 10, 0), 10U);
    n = 5;
    p = u_srealloc(s, p, &n);
    EXPECT_EQ(n, 5);
    EXPECT_EQ(u_sfree(s, p), 0);
    n = 10;
    p = u_salloc_some(s, &n);
    EXPECT_EQ(first_wrong(p, static_cast<size_t>(n), 5), static_cast<size_t>(n));
    EXPECT_EQ(u_sfree(s, p), 0);
    n = 10;
    p = u_sallocAt(s, &n, 100, SEEK_SET);
    EXPECT_EQ(first_wrong(p, 10, 100), 10U);
    EXPECT_EQ(u_sfree(s, p), 0);
    n = 10;
    p = u_Salloc(s, ASF_READ, &n);
    EXPECT_EQ(first_wrong(p, 10, 110), 10U);
    EXPECT_EQ(u_sfree(s, p), 0);
    n = 10;
    p = u_SallocAt(s, ASF_READ, &n, 10, SEEK_SET);
    EXPECT_EQ(first_wrong(p, 10, 10), 10U);
    EXPECT_EQ(u_sfree(s, p), 0);
    EXPECT_EQ(u_set_stream_mode(s, ASF_READ), s);
    EXPECT_EQ(u_sflush(s), 0);
    unlockAsfStream(s);
    unlockAsfStream(s);
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Reading, SpecialFiles) {
    asf_cios *s = must_open("/dev/zero", O_RDONLY);
    EXPECT_EQ(take(s, 3 * MiB), std::string(static_cast<size_t>(3 * MiB), '\0'));
    EXPECT_EQ(sclose(s), 0);
    s = must_open("/dev/null", O_RDONLY);
    EXPECT_EQ(take(s, 10), "");
    EXPECT_EQ(sclose(s), 0);
    s = must_open("/proc/self/status", O_RDONLY);
    EXPECT_EQ(take(s, 5), "Name:");
    EXPECT_GT(take(s, 100000).size(), 100U);
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Reading, TheModuleIsNamed) {
    asf_cios *s = must_open(put_pattern("file", static_cast<size_t>(5 * MiB)), O_RDONLY);
    take(s, 10);
    EXPECT_NE(asf_module_name(s), nullptr);
    ASSERT_NE(asf_module_why(s), nullptr);
    EXPECT_GT(strlen(asf_module_why(s)), 3U);
    const char *options = getenv("ASF_OPTIONS");
    if (options && strstr(options, "module=map")) {
        EXPECT_STREQ(asf_module_name(s), "map");
    }
    if (options && strstr(options, "module=read")) {
        EXPECT_STREQ(asf_module_name(s), "read");
    }
    EXPECT_EQ(sclose(s), 0);
}

// Returns how many of eight pages, 64 KB apart, cost a fault when a map is touched there.
int faults_of(const std::string &file) {
    struct rusage before = {}, after = {};
    int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
    void *p = mmap(nullptr, 1 << 20, PROT_READ, MAP_SHARED, fd, 0);
    ::close(fd);
    getrusage(RUSAGE_THREAD, &before);
    for (size_t i = 0; i < 8; i++)
        (void)static_cast<const volatile char *>(p)[i << 16];
    getrusage(RUSAGE_THREAD, &after);
    munmap(p, 1 << 20);
    return static_cast<int>(after.ru_minflt - before.ru_minflt);
}

// A large file is mapped if its pages are large, and read if each 64 KB would cost a fault.
TEST_F(Reading, SmallPagesAreRead) {
    if (getenv("ASF_OPTIONS"))
        GTEST_SKIP() << "the choice is made by other rules";
    char name[] = "/dev/shm/asi.XXXXXX";
    const int fd = mkstemp(name);
    if (fd < 0)
        GTEST_SKIP() << "no tmpfs to write in";
    const std::string all = pattern(static_cast<size_t>(4 * MiB));
    EXPECT_EQ(::write(fd, all.data(), all.size()), 4 * MiB);
    ::close(fd);
    const bool small = faults_of(name) >= 7;
    asf_cios *s = must_open(name, O_RDONLY);
    EXPECT_EQ(take(s, 10), all.substr(0, 10));
    EXPECT_STREQ(asf_module_name(s), small ? "read" : "map") << asf_module_why(s);
    EXPECT_TRUE(take(s, 4 * MiB) == all.substr(10));
    EXPECT_EQ(sclose(s), 0);
    unlink(name);
}

// Bytes of the region stay readable, or read as zeros.
TEST_F(Reading, TruncatedUnderARegion) {
    asf_cios *s = must_open(put_pattern("file", static_cast<size_t>(4 * MiB)), O_RDONLY);
    ssize_t n = MiB;
    char *p = static_cast<char *>(salloc(s, &n));
    ASSERT_EQ(n, MiB);
    const bool mapped = !strcmp(asf_module_name(s), "map");
    ASSERT_EQ(truncate(path("file").c_str(), 4096), 0);
    EXPECT_EQ(first_wrong(p, 4096, 0), 4096U);
    if (mapped) {
        EXPECT_EQ(p[MiB - 1], 0);
        EXPECT_EQ(sfree(s, p), -EIO);
    } else {
        EXPECT_EQ(first_wrong(p, static_cast<size_t>(n), 0), static_cast<size_t>(n));
        EXPECT_EQ(sfree(s, p), 0);
    }
    sclose(s);
}

// A pipe's data is read into a buffer that grows in place, unless another region still points into it.
TEST_F(Reading, ARegionOfAPipeThatIsMadeLarger) {
    for (bool held : {false, true}) {
        constexpr size_t all = static_cast<size_t>(3 * MiB);
        int ends[2];
        ASSERT_EQ(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0) {
            ::close(ends[0]);
            const std::string text = pattern(all);
            _exit(::write(ends[1], text.data(), all) != static_cast<ssize_t>(all));
        }
        ::close(ends[1]);
        asf_cios *s = asf_sopen_fd(ends[0], O_RDONLY, nullptr);
        ssize_t n = 100;
        void *first = held ? salloc(s, &n) : nullptr;
        const size_t from = held ? 100 : 0;
        n = 1000;
        void *p = salloc(s, &n);
        for (ssize_t asked = 1000; n == asked;) {
            n = asked *= 2;
            p = srealloc(s, p, &n);
            ASSERT_NE(p, nullptr) << "error " << n;
            ASSERT_EQ(first_wrong(p, static_cast<size_t>(n), from), static_cast<size_t>(n)) << asked;
        }
        EXPECT_EQ(static_cast<size_t>(n), all - from);
        if (held) {
            EXPECT_EQ(first_wrong(first, 100, 0), 100U) << "it stays where it was";
            EXPECT_EQ(sfree(s, first), 0);
        }
        EXPECT_EQ(sfree(s, p), 0);
        EXPECT_EQ(sclose(s), 0);
        waitpid(child, nullptr, 0);
    }
}

TEST(Version, IsThreeNumbers) {
    int a = -1, b = -1, c = -1;
    EXPECT_EQ(sscanf(asf_version(), "%d.%d.%d", &a, &b, &c), 3);
}

} // namespace
} // namespace asi
