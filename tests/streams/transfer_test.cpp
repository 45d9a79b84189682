// SPDX-License-Identifier: MIT
//
// transfer_test.cpp - asf_copy between ends of every kind, byte for byte; the offsets afterwards; holes; and
// system calls that the kernel refuses.
#include <functional>
#include <future>
#include <pty.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread>

#include "tests/interfaces/asi/asi_test.h"
#include "tests/streams/private_headers.h"

namespace asi {
namespace {

constexpr size_t size = static_cast<size_t>(3 * MiB) + 12345;

// Runs `work` in a child: with a second thread asf_copy would not use some system calls.
template <class Work> pid_t beside(Work work) {
    pid_t child = fork();
    if (child == 0) {
        work();
        _exit(0);
    }
    return child;
}

class Transfer : public Asi {
  protected:
    void TearDown() override {
        for (pid_t child : children)
            waitpid(child, nullptr, 0);
        Asi::TearDown();
    }

    // --- inputs, all of them with the same bytes -----------------------------

    asf_cios *open_input(const std::string &kind) {
        if (kind == "pipe" || kind == "socket")
            return feed(kind == "pipe");
        return must_open(put_pattern("in", size), kind == "update" ? O_RDWR : O_RDONLY);
    }

    asf_cios *feed(bool by_pipe) {
        int ends[2];
        EXPECT_EQ(by_pipe ? pipe(ends) : socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        children.push_back(beside([&] {
            ::close(ends[0]);
            const std::string all = pattern(size);
            for (size_t at = 0, piece = 1; at < size; piece = piece * 7 % 99991 + 1) {
                ssize_t n = ::write(ends[1], all.data() + at, std::min(piece, size - at));
                if (n <= 0)
                    break;
                at += static_cast<size_t>(n);
            }
        }));
        ::close(ends[1]);
        return asf_sopen_fd(ends[0], O_RDONLY, nullptr);
    }

    // --- outputs; result() returns the bytes written ---------------------------

    asf_cios *open_output(const std::string &kind) {
        result = [this] { return contents("out"); };
        if (kind == "pipe" || kind == "socket" || kind == "terminal")
            return collect(kind);
        if (kind == "new")
            return must_open(path("out"), O_WRONLY | O_CREAT | O_TRUNC);
        put("out", std::string(size + 50000, '.'));
        if (kind == "append")
            return must_open(path("out"), O_WRONLY | O_APPEND);
        if (kind == "appending descriptor") // the stream does not know O_APPEND
            return asf_sopen_fd(open(path("out").c_str(), O_WRONLY | O_APPEND), O_WRONLY, nullptr);
        asf_cios *out = must_open(path("out"), kind == "update" ? O_RDWR : O_WRONLY);
        if (kind == "update") {
            EXPECT_EQ(take(out, 7), ".......");
            EXPECT_EQ(asf_set_stream_mode(out, ASF_WRITE), out);
        }
        return out;
    }

    asf_cios *collect(const std::string &kind) {
        int ends[2];
        if (kind == "terminal") {
            struct termios raw = {};
            cfmakeraw(&raw);
            EXPECT_EQ(openpty(&ends[0], &ends[1], nullptr, &raw, nullptr), 0);
        } else {
            EXPECT_EQ(kind == "pipe" ? pipe(ends) : socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        }
        pid_t child = beside([&] {
            char buffer[50000];
            ::close(ends[1]);
            int fd = open(path("out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
            for (ssize_t n; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;)
                if (::write(fd, buffer, static_cast<size_t>(n)) != n)
                    break;
        });
        ::close(ends[0]);
        result = [this, child] {
            waitpid(child, nullptr, 0);
            return contents("out");
        };
        return asf_sopen_fd(ends[1], O_WRONLY, nullptr);
    }

    // The expected contents after `written`, by the kind of output.
    static std::string expected(const std::string &kind, const std::string &written) {
        std::string old(size + 50000, '.');
        if (kind.rfind("append", 0) == 0)
            return old + written;
        if (kind == "existing")
            return old.replace(0, written.size(), written);
        if (kind == "update")
            return old.replace(7, written.size(), written);
        return written;
    }

    std::vector<pid_t> children;
    std::function<std::string()> result;
    Restore restore;
};

const char *const inputs[] = {"file", "update", "pipe", "socket"};
const char *const outputs[] = {"new",  "existing", "update",  "append", "appending descriptor",
                               "pipe", "socket",   "terminal"};

class Ends : public Transfer, public testing::WithParamInterface<std::tuple<const char *, const char *>> {};

// Pending bytes of both streams come first and in order, a limited copy stops at its length, and both streams
// continue after it.
TEST_P(Ends, ByteForByte) {
    auto [from, to] = GetParam();
    asf_cios *in = open_input(from), *out = open_output(to);
    ASSERT_TRUE(in && out);
    give(out, "before");
    EXPECT_EQ(take(in, 10), pattern(10));
    constexpr int64_t part = MiB + 77;
    EXPECT_EQ(asf_copy(in, out, part), part);
    give(out, "between");
    EXPECT_EQ(take(in, 5), pattern(5, 10 + part));
    const int64_t rest = static_cast<int64_t>(size) - part - 15;
    EXPECT_EQ(asf_copy(in, out, INT64_MAX), rest);
    EXPECT_EQ(asf_copy(in, out, INT64_MAX), 0);
    give(out, "after");
    EXPECT_EQ(sclose(in), 0);
    EXPECT_EQ(sflush(out), 0);
    if (std::string(to) == "terminal")
        tcdrain(asf_fileno(out)); // bytes still in the terminal may be lost when it is closed
    EXPECT_EQ(sclose(out), 0);
    const std::string written = "before" + pattern(static_cast<size_t>(part), 10) + "between" +
                                pattern(static_cast<size_t>(rest), 15 + part) + "after";
    EXPECT_TRUE(result() == expected(to, written));
}

INSTANTIATE_TEST_SUITE_P(All, Ends, testing::Combine(testing::ValuesIn(inputs), testing::ValuesIn(outputs)),
                         [](const auto &test) {
                             std::string name =
                                 std::string(std::get<0>(test.param)) + "_to_" + std::get<1>(test.param);
                             std::replace(name.begin(), name.end(), ' ', '_');
                             return name;
                         });

// --- special inputs ---------------------------------------------------------

TEST_F(Transfer, NowhereButCounted) {
    for (const char *kind : {"file", "pipe"}) {
        asf_cios *in = open_input(kind), *null = must_open("/dev/null", O_WRONLY);
        EXPECT_EQ(asf_copy(in, null, 1000000), 1000000);
        EXPECT_EQ(take(in, 9), pattern(9, 1000000));
        EXPECT_EQ(asf_copy(in, null, INT64_MAX), static_cast<int64_t>(size) - 1000009);
        EXPECT_EQ(sclose(in), 0);
        EXPECT_EQ(sclose(null), 0);
    }
}

// Files whose size is 0, or larger than their contents.
TEST_F(Transfer, FilesMadeUpAsTheyAreRead) {
    for (const char *name :
         {"/proc/self/maps", "/proc/cpuinfo", "/sys/kernel/mm/transparent_hugepage/enabled"}) {
        for (const char *to : {"new", "pipe"}) {
            asf_cios *in = must_open(name, O_RDONLY), *out = open_output(to);
            const int64_t n = asf_copy(in, out, INT64_MAX);
            EXPECT_GT(n, 0) << name;
            EXPECT_EQ(sclose(in), 0);
            EXPECT_EQ(sclose(out), 0);
            EXPECT_EQ(static_cast<int64_t>(result().size()), n) << name;
        }
    }
}

TEST_F(Transfer, AFileThatGrows) {
    asf_cios *in = open_input("file"), *out = open_output("new");
    EXPECT_EQ(asf_copy(in, out, INT64_MAX), static_cast<int64_t>(size));
    int fd = open(path("in").c_str(), O_WRONLY | O_APPEND);
    const std::string more = pattern(200000, size);
    ASSERT_EQ(::write(fd, more.data(), more.size()), 200000);
    ::close(fd);
    EXPECT_EQ(asf_copy(in, out, INT64_MAX), 200000);
    EXPECT_EQ(sclose(in), 0);
    EXPECT_EQ(sclose(out), 0);
    EXPECT_TRUE(result() == pattern(size + 200000));
}

// The offsets of both descriptors must be those that read() and write() would leave.
TEST_F(Transfer, OffsetsOfTheDescriptors) {
    for (const char *to : {"new", "existing"}) {
        asf_cios *in = open_input("file"), *out = open_output(to);
        EXPECT_EQ(asf_copy(in, out, MiB), MiB);
        EXPECT_EQ(sflush(in), 0);
        EXPECT_EQ(sflush(out), 0);
        EXPECT_EQ(lseek(asf_fileno(in), 0, SEEK_CUR), MiB);
        EXPECT_EQ(lseek(asf_fileno(out), 0, SEEK_CUR), MiB);
        EXPECT_EQ(sclose(in), 0);
        EXPECT_EQ(sclose(out), 0);
    }
}

TEST_F(Transfer, WithinOneFile) {
    asf_cios *in = open_input("file");
    asf_cios *out = asf_sopen_fd(open(path("in").c_str(), O_WRONLY), O_WRONLY, nullptr);
    ASSERT_EQ(lseek(asf_fileno(out), size, SEEK_SET), static_cast<off_t>(size));
    EXPECT_EQ(asf_copy(in, out, static_cast<int64_t>(size)), static_cast<int64_t>(size));
    EXPECT_EQ(sclose(in), 0);
    EXPECT_EQ(sclose(out), 0);
    EXPECT_TRUE(contents("in") == pattern(size) + pattern(size));
}

// --- holes --------------------------------------------------------------------------------

class Holes : public Transfer, public testing::WithParamInterface<const char *> {
  protected:
    void SetUp() override {
        Transfer::SetUp();
        std::filesystem::remove_all(directory);
        std::string name = std::string(GetParam()) + "/asf.XXXXXX";
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        directory = name;
    }

    // Makes a file of `length` bytes with 100,000 bytes of data at each of the offsets.
    void put_sparse(std::initializer_list<off_t> places, off_t length) const {
        int fd = open(path("in").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        const std::string data = pattern(100000);
        for (off_t at : places)
            ASSERT_EQ(pwrite(fd, data.data(), data.size(), at), 100000);
        ASSERT_EQ(ftruncate(fd, length), 0);
        ::close(fd);
    }

    int64_t blocks(const char *name) const {
        struct stat st = {};
        EXPECT_EQ(stat(path(name).c_str(), &st), 0);
        return st.st_blocks;
    }
};

TEST_P(Holes, StayHoles) {
    struct {
        std::initializer_list<off_t> places;
        off_t length;
    } shapes[] = {
        {{0, 4 * MiB}, 9 * MiB}, {{1 * MiB, 2 * MiB, 7 * MiB}, 7 * MiB + 100000}, {{}, 5 * MiB + 1}};
    for (const auto &shape : shapes)
        for (int64_t piece : {INT64_MAX, int64_t{777777}}) {
            put_sparse(shape.places, shape.length);
            asf_cios *in = must_open(path("in"), O_RDONLY), *out = open_output("new");
            for (int64_t left = shape.length; left > 0; left -= std::min(piece, left))
                ASSERT_EQ(asf_copy(in, out, piece), std::min(piece, left));
            EXPECT_EQ(asf_copy(in, out, piece), 0);
            EXPECT_EQ(sclose(in), 0);
            EXPECT_EQ(sclose(out), 0);
            EXPECT_TRUE(contents("out") == contents("in"));
            EXPECT_LE(blocks("out"), blocks("in") + 64);
        }
}

// Over old bytes a hole must be written as zeros.
TEST_P(Holes, OverwriteWhatWasThere) {
    put_sparse({0, 2 * MiB}, 3 * MiB);
    asf_cios *in = must_open(path("in"), O_RDONLY), *out = open_output("existing");
    EXPECT_EQ(asf_copy(in, out, INT64_MAX), 3 * MiB);
    EXPECT_EQ(sclose(in), 0);
    EXPECT_EQ(sclose(out), 0);
    EXPECT_TRUE(contents("out") == expected("existing", contents("in")));
}

TEST_P(Holes, BetweenOtherOutput) {
    put_sparse({MiB}, 4 * MiB);
    for (const char *to : {"new", "append", "pipe"}) {
        asf_cios *in = must_open(path("in"), O_RDONLY), *out = open_output(to);
        give(out, "head");
        EXPECT_EQ(asf_copy(in, out, INT64_MAX), 4 * MiB);
        give(out, "tail");
        EXPECT_EQ(sclose(in), 0);
        EXPECT_EQ(sclose(out), 0);
        EXPECT_TRUE(result() == expected(to, "head" + contents("in") + "tail")) << to;
    }
}

INSTANTIATE_TEST_SUITE_P(On, Holes, testing::Values("/tmp", "/dev/shm"),
                         [](const auto &test) { return test.param[1] == 't' ? "tmp" : "shm"; });

// --- system calls that the kernel refuses -----------------------------------------------------------------

int countdown, calls;
ssize_t (*real_splice)(int, int, size_t);
ssize_t splice_fails_later(int in, int out, size_t n) {
    calls++;
    return countdown-- > 0 ? real_splice(in, out, n < 50000 ? n : 50000) : -EINVAL;
}
ssize_t no_copy(int, int, size_t) {
    calls++;
    return -EOPNOTSUPP;
}
int no_truncate(int, off64_t) {
    calls++;
    return -EPERM;
}

class Refusals : public Transfer {
  protected:
    void SetUp() override {
        Transfer::SetUp();
        real_splice = asf__sys.splice;
        calls = 0;
    }

    void copy_and_compare(const char *from, const char *to) {
        asf_cios *in = open_input(from), *out = open_output(to);
        EXPECT_EQ(asf_copy(in, out, INT64_MAX), static_cast<int64_t>(size));
        EXPECT_EQ(sclose(in), 0);
        EXPECT_EQ(sclose(out), 0);
        EXPECT_TRUE(result() == expected(to, pattern(size)));
        EXPECT_GT(calls, 0) << "the way that was to fail was not tried";
    }
};

class Splices : public Refusals, public testing::WithParamInterface<int> {};

TEST_P(Splices, OfAFile) {
    asf__sys.splice = splice_fails_later;
    countdown = GetParam();
    copy_and_compare("file", "pipe");
}

TEST_P(Splices, OfAPipe) {
    if (!__libc_single_threaded)
        GTEST_SKIP() << "another test of this process has made threads";
    asf__sys.splice = splice_fails_later;
    countdown = GetParam();
    copy_and_compare("pipe", "pipe");
}

INSTANTIATE_TEST_SUITE_P(After, Splices, testing::Values(0, 1, 2, 3, 8, 9));

TEST_F(Refusals, NoSendfile) {
    asf__sys.send = no_copy;
    copy_and_compare("file", "socket");
}

int64_t some_pages_missing(int, off64_t, size_t n) {
    calls++;
    return static_cast<int64_t>(n / 4096) - 1;
}
ssize_t (*real_send)(int, int, size_t);
ssize_t broken_disk(int in, int out, size_t n) {
    return countdown-- > 0 ? real_send(in, out, n < 50000 ? n : 50000) : -EIO;
}
ssize_t broken_read(int, void *, size_t) {
    return -EIO;
}

// A copy to /dev/null needs no bytes, but must report errors.
TEST_F(Refusals, ABrokenDiskIsNoticed) {
    asf__sys.cached_pages = some_pages_missing;
    real_send = asf__sys.send;
    asf__sys.send = broken_disk;
    asf__sys.read = broken_read;
    countdown = 4;
    asf_cios *in = open_input("file"), *null = must_open("/dev/null", O_WRONLY);
    EXPECT_EQ(asf_copy(in, null, INT64_MAX), -EIO);
    EXPECT_EQ(sflush(null), 0);
    EXPECT_GT(calls, 0);
    EXPECT_EQ(sclose(in), 0);
    EXPECT_EQ(sclose(null), 0);
}

const char *to_cut;
constexpr off64_t cut_at = 20 * MiB - 100;

// asf_copy calls fstat for both ends, and then for the input before each chunk.
int fstat_of_what_is_cut(int fd, struct stat64 *st) {
    if (++calls == 4 && truncate(to_cut, cut_at) < 0)
        ADD_FAILURE() << strerror(errno);
    return fstat64(fd, st);
}

TEST_F(Refusals, ATruncatedFileEndsWhereItEnds) {
    const std::string in_path = put("in", std::string(20 * MiB, 'x'));
    to_cut = in_path.c_str();
    asf_cios *in = must_open(in_path, O_RDONLY), *null = must_open("/dev/null", O_WRONLY);
    calls = 0;
    asf__sys.fstat = fstat_of_what_is_cut;
    EXPECT_EQ(asf_copy(in, null, INT64_MAX), cut_at);
    EXPECT_GT(calls, 4);
    EXPECT_EQ(sclose(in), 0);
    EXPECT_EQ(sclose(null), 0);
}

TEST_F(Refusals, NoSendfileToTheNullDevice) {
    asf__sys.cached_pages = some_pages_missing;
    asf__sys.send = no_copy;
    asf_cios *in = open_input("file"), *null = must_open("/dev/null", O_WRONLY);
    EXPECT_EQ(asf_copy(in, null, INT64_MAX), static_cast<int64_t>(size));
    EXPECT_EQ(calls, 2); // one for the pages in the cache, and one for sendfile
    EXPECT_EQ(sclose(in), 0);
    EXPECT_EQ(sclose(null), 0);
}

// A second thread may use the output during the wait for a pipe.
TEST_F(Refusals, NotWithASecondThread) {
    asf__sys.splice = splice_fails_later;
    std::promise<void> end; // keeps the thread alive: in musl an ended thread does not count
    std::thread second([&] { end.get_future().wait(); });
    asf_cios *in = open_input("pipe"), *out = open_output("pipe");
    EXPECT_EQ(asf_copy(in, out, INT64_MAX), static_cast<int64_t>(size));
    EXPECT_EQ(calls, 0);
    end.set_value();
    second.join();
    EXPECT_EQ(sclose(in), 0);
    EXPECT_EQ(sclose(out), 0);
    EXPECT_TRUE(result() == pattern(size));
}

TEST_F(Refusals, NoTruncating) {
    put("in", std::string(100000, 'x'));
    ASSERT_EQ(truncate(path("in").c_str(), 2 * MiB), 0);
    asf__sys.truncate = no_truncate;
    asf_cios *in = must_open(path("in"), O_RDONLY), *out = open_output("new");
    EXPECT_EQ(asf_copy(in, out, INT64_MAX), 2 * MiB);
    EXPECT_EQ(sclose(in), 0);
    EXPECT_EQ(sclose(out), 0);
    EXPECT_TRUE(contents("out") == contents("in"));
    EXPECT_GT(calls, 0);
}

// A file system whose server copies (NFS and similar), and one that shares blocks.
int remote_fstatfs(int, struct statfs64 *fs) {
    fs->f_type = 0x6969;
    return 0;
}
ssize_t counted_range(int in, int out, size_t n) {
    calls++;
    char buffer[30000];
    ssize_t got = ::read(in, buffer, std::min(n, sizeof buffer));
    return got > 0 ? ::write(out, buffer, static_cast<size_t>(got)) : got;
}
ssize_t broken_range(int in, int out, size_t n) {
    return countdown-- > 0 ? counted_range(in, out, n) : 0;
}
int counted_clone(int in, int out, off64_t in_at, off64_t out_at, size_t n) {
    calls++;
    std::string data(n, '\0');
    ssize_t got = pread(in, data.data(), n, in_at);
    return got > 0 && pwrite(out, data.data(), static_cast<size_t>(got), out_at) == got ? 0 : -EIO;
}

TEST_F(Refusals, AServerThatCopies) {
    asf__sys.fstatfs = remote_fstatfs;
    asf__sys.copy_range = counted_range;
    copy_and_compare("file", "new");
}

TEST_F(Refusals, AServerThatStopsEarly) {
    asf__sys.fstatfs = remote_fstatfs;
    asf__sys.copy_range = broken_range;
    countdown = 5;
    copy_and_compare("file", "new");
}

TEST_F(Refusals, SharedBlocks) {
    asf__sys.clone_range = counted_clone;
    copy_and_compare("file", "new");
    EXPECT_EQ(calls, 1) << "all of the file at once";
}

// If a part ends within a block, only the blocks before that one are shared.
TEST_F(Refusals, SharedBlocksOfAPart) {
    asf__sys.clone_range = counted_clone;
    asf_cios *in = open_input("file"), *out = open_output("new");
    EXPECT_EQ(asf_copy(in, out, MiB + 5), MiB + 5);
    EXPECT_EQ(asf_copy(in, out, MiB), MiB);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(sclose(in), 0);
    EXPECT_EQ(sclose(out), 0);
    EXPECT_TRUE(result() == pattern(static_cast<size_t>(2 * MiB) + 5));
}

TEST_F(Refusals, AReaderThatLeaves) {
    signal(SIGPIPE, SIG_IGN);
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    asf_cios *in = open_input("file"), *out = asf_sopen_fd(ends[1], O_WRONLY, nullptr);
    ::close(ends[0]);
    EXPECT_EQ(asf_copy(in, out, INT64_MAX), -EPIPE);
    EXPECT_EQ(sflush(out), -EPIPE) << "told once more by the stream whose error it was";
    EXPECT_EQ(sflush(in), 0);
    EXPECT_EQ(sclose(in), 0);
    sclose(out);
}

// Checks whether the error of an interrupted wait is the input's or the output's.
TEST_F(Refusals, ASignalInBetween) {
    if (!__libc_single_threaded)
        GTEST_SKIP() << "another test of this process has made threads";
    struct sigaction action = {};
    action.sa_handler = [](int) {};
    sigaction(SIGALRM, &action, nullptr);
    for (const bool full : {false, true}) {
        const itimerval often = {{0, 10000}, {0, 10000}}, never = {};
        int from[2], to[2];
        ASSERT_EQ(pipe(from) | pipe(to), 0);
        fcntl(from[1], F_SETPIPE_SZ, MiB);
        const std::string some(full ? MiB : 0, 'x'); // more than the output's buffer has room for
        ASSERT_EQ(::write(from[1], some.data(), some.size()), static_cast<ssize_t>(some.size()));
        asf_cios *in = asf_sopen_fd(from[0], O_RDONLY, nullptr),
                 *out = asf_sopen_fd(to[1], O_WRONLY, nullptr);
        setitimer(ITIMER_REAL, &often, nullptr);
        EXPECT_EQ(asf_copy(in, out, INT64_MAX), -EINTR);
        setitimer(ITIMER_REAL, &never, nullptr);
        EXPECT_EQ(sflush(out), full ? -EINTR : 0);
        for (const int fd : {from[1], to[0]})
            ::close(fd);
        EXPECT_EQ(sclose(in), 0);
        EXPECT_EQ(sclose(out), 0);
    }
}

TEST_F(Refusals, NoRoomForWhatWasTaken) {
    asf_cios *in = open_input("pipe"), *full = must_open("/dev/full", O_WRONLY);
    EXPECT_EQ(asf_copy(in, full, INT64_MAX), -ENOSPC);
    EXPECT_EQ(sflush(full), -ENOSPC);
    EXPECT_EQ(sclose(full), 0);
    asf_cios *null = must_open("/dev/null", O_WRONLY);
    EXPECT_GT(asf_copy(in, null, INT64_MAX), 0);
    EXPECT_EQ(sclose(in), 0);
    EXPECT_EQ(sclose(null), 0);
}

} // namespace
} // namespace asi
