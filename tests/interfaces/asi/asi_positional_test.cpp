// SPDX-License-Identifier: MIT
//
// asi_positional_test.cpp - sallocAt: regions of input and output at any offset of a file, several at once,
// by several threads, freed in any order; and alternation with sequential calls.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <future>
#include <random>
#include <sys/resource.h>
#include <thread>

#include "asi_test.h"

namespace asi {
namespace {

class Positional : public Asi {
  protected:
    static char *at(asf_cios *s, ssize_t n, int64_t offset, int whence = SEEK_SET) {
        ssize_t length = n;
        char *p = static_cast<char *>(sallocAt(s, &length, offset, whence));
        EXPECT_NE(p, nullptr) << length;
        EXPECT_EQ(length, n);
        return p;
    }

    static char *write_at(asf_cios *s, std::string_view text, int64_t offset, int whence = SEEK_SET) {
        char *p = at(s, static_cast<ssize_t>(text.size()), offset, whence);
        if (p)
            memcpy(p, text.data(), text.size());
        return p;
    }

    // Makes enough reads for the file to be mapped as a whole, if its size allows this.
    static void read_often(asf_cios *s, size_t size) {
        std::mt19937 dice(1);
        for (size_t i = 0; i < size / 65536 + 100; i++) {
            const size_t place = dice() % (size - 100);
            char *p = at(s, 100, static_cast<int64_t>(place));
            ASSERT_EQ(first_wrong(p, 100, place), 100U);
            ASSERT_EQ(sfree(s, p), 0);
        }
    }

    asf_cios *create(int flags = O_WRONLY) const { return must_open(path("out"), flags | O_CREAT | O_TRUNC); }
};

TEST_F(Positional, ReadsAreKeptInAnyOrder) {
    const size_t size = static_cast<size_t>(5 * MiB);
    asf_cios *s = must_open(put_pattern("file", size), O_RDONLY);
    for (int round = 0; round < 2; round++) {
        std::mt19937 dice(static_cast<unsigned>(round));
        std::vector<Region> kept;
        for (int i = 0; i < 1000; i++) {
            const ssize_t n = static_cast<ssize_t>(1 + dice() % 3000);
            const size_t place = dice() % (size - 3000);
            kept.push_back({at(s, n, static_cast<int64_t>(place)), n, place});
        }
        EXPECT_EQ(sclose(s), -EBUSY);
        std::shuffle(kept.begin(), kept.end(), dice);
        for (const Region &r : kept) {
            const size_t n = static_cast<size_t>(r.n);
            ASSERT_EQ(first_wrong(r.p, n, r.at), n);
            ASSERT_EQ(sfree(s, r.p), 0);
        }
        read_often(s, size); // the second round reads from the map
    }
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Positional, TheStreamGoesOnAfterARead) {
    const size_t size = static_cast<size_t>(3 * MiB);
    asf_cios *s = must_open(put_pattern("file", size), O_RDONLY);
    for (int round = 0; round < 2; round++) {
        for (const size_t place : {size_t{2000000}, size_t{70}, size_t{1} << 20, size - 2000}) {
            EXPECT_EQ(sfree(s, at(s, 30, static_cast<int64_t>(place))), 0);
            EXPECT_EQ(take(s, 50), pattern(50, place + 30));
            EXPECT_EQ(sfree(s, at(s, 30, 7, SEEK_CUR)), 0);
            EXPECT_EQ(take(s, 5), pattern(5, place + 117));
            EXPECT_EQ(sfree(s, at(s, 10, static_cast<int64_t>(place))), 0);
            char *p = at(s, 10, 1000, SEEK_CUR);
            EXPECT_EQ(std::string(p, 10), pattern(10, place + 1010));
            EXPECT_EQ(sfree(s, p), 0);
            p = at(s, 10, -20, SEEK_END);
            EXPECT_EQ(std::string(p, 10), pattern(10, size - 20));
            EXPECT_EQ(sfree(s, p), 0);
            EXPECT_EQ(take(s, 100), pattern(10, size - 10));
            EXPECT_EQ(take(s, 1), "");
        }
        read_often(s, size);
    }
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Positional, AtAndBehindTheEnd) {
    asf_cios *s = must_open(put_pattern("file", 300000), O_RDONLY);
    void *none;
    for (int round = 0; round < 2; round++) {
        ssize_t n = 100;
        char *p = static_cast<char *>(sallocAt(s, &n, 299990, SEEK_SET));
        EXPECT_EQ(n, 10);
        EXPECT_EQ(sfree(s, p), 0);
        n = 100;
        none = sallocAt(s, &n, 300000, SEEK_SET);
        expect_none(none, n, 0);
        n = 100;
        none = sallocAt(s, &n, 5000000, SEEK_SET);
        expect_none(none, n, 0);
        n = 100;
        none = sallocAt(s, &n, -1, SEEK_SET);
        expect_none(none, n, -EINVAL);
        n = 0;
        none = sallocAt(s, &n, 10, SEEK_SET);
        expect_none(none, n, -EINVAL);
        read_often(s, 300000);
    }
    std::ofstream(path("file"), std::ios::app) << "more";
    char *p = at(s, 6, 299998);
    EXPECT_EQ(std::string(p, 6), pattern(2, 299998) + "more") << "the file has grown";
    EXPECT_EQ(sfree(s, p), 0);
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Positional, ForeignPointersAreRefused) {
    asf_cios *s = must_open(put_pattern("file", 1000000), O_RDONLY);
    for (int round = 0; round < 2; round++) {
        char *p = at(s, 100, 500000);
        EXPECT_EQ(sfree(s, p + 64), -EINVAL);
        EXPECT_EQ(sfree(s, p), 0);
        EXPECT_EQ(sfree(s, p), -EINVAL);
        p = at(s, 100, 600000);
        EXPECT_EQ(sabandon(s, p), 0);
        EXPECT_EQ(sabandon(s, p), -EINVAL);
        read_often(s, 1000000);
    }
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Positional, ReadsAreResized) {
    const size_t size = 1000000;
    asf_cios *s = must_open(put_pattern("file", size), O_RDONLY);
    for (int round = 0; round < 2; round++) {
        char *p = at(s, 100, 500000);
        for (const ssize_t wanted : {10, 200000, 50, 0}) {
            ssize_t n = wanted;
            p = static_cast<char *>(srealloc(s, p, &n));
            ASSERT_NE(p, nullptr) << wanted << ' ' << n;
            ASSERT_EQ(n, wanted);
            ASSERT_EQ(first_wrong(p, static_cast<size_t>(n), 500000), static_cast<size_t>(n));
        }
        EXPECT_EQ(take(s, 5), pattern(5, 500000));
        EXPECT_EQ(sfree(s, p), 0);
        read_often(s, size);
    }
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Positional, AFileCutUnderAMappedRegion) {
    const size_t size = 1000000;
    asf_cios *s = must_open(put("file", std::string(size, 'x')), O_RDONLY);
    for (int i = 0; i < 200; i++)
        EXPECT_EQ(sfree(s, at(s, 100, 5000 * i)), 0);
    char *whole = at(s, 100, 1000), *cut = at(s, 100, 900000), *gone = at(s, 100, 990000);
    ASSERT_EQ(truncate(path("file").c_str(), 900050), 0);
    const bool mapped = cut[60] == '\0'; // if false, the region is a copy
    EXPECT_EQ(sfree(s, whole), 0);
    EXPECT_EQ(sfree(s, cut), mapped ? -EIO : 0);
    EXPECT_EQ(gone[0], mapped ? '\0' : 'x');
    EXPECT_EQ(sfree(s, gone), mapped ? -EIO : 0);
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Positional, NothingIsLeftOfARegionWhoseFileIsCut) {
    for (const off_t size : {0, 500000}) {
        asf_cios *s = must_open(put_pattern("file", 1000000), O_RDONLY);
        char *p = at(s, 100, 500000);
        ASSERT_EQ(truncate(path("file").c_str(), size), 0);
        ssize_t n = 0;
        void *rest = srealloc(s, p, &n);
        ASSERT_NE(rest, nullptr) << n;
        EXPECT_EQ(n, 0);
        EXPECT_EQ(sabandon(s, rest), 0);
        EXPECT_EQ(sflush(s), 0);
        EXPECT_EQ(lseek(asf_fileno(s), 0, SEEK_CUR), 500000);
        EXPECT_EQ(sclose(s), 0);
    }
}

TEST_F(Positional, ReadsByManyThreads) {
    const size_t size = static_cast<size_t>(4 * MiB);
    asf_cios *s = must_open(put_pattern("file", size), O_RDONLY);
    std::vector<std::thread> threads;
    std::atomic<int> wrong = 0;
    for (unsigned t = 0; t < 4; t++)
        threads.emplace_back([&, t] {
            std::mt19937 dice(t);
            for (int i = 0; i < 20000; i++) {
                ssize_t n = static_cast<ssize_t>(1 + dice() % 200);
                const size_t place = dice() % (size - 200);
                const bool sequential = t == 0 && i % 50 == 0;
                char *p = static_cast<char *>(
                    sequential ? salloc(s, &n) : sallocAt(s, &n, static_cast<int64_t>(place), SEEK_SET));
                if (p && !sequential &&
                    first_wrong(p, static_cast<size_t>(n), place) != static_cast<size_t>(n))
                    wrong++;
                if (p ? sfree(s, p) != 0 : n != 0)
                    wrong++;
            }
        });
    for (std::thread &t : threads)
        t.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(sclose(s), 0);
}

// --- output ---

TEST_F(Positional, SeveralPlacesAreWrittenAtOnce) {
    asf_cios *s = create();
    char *a = write_at(s, "aaaa", 8), *b = write_at(s, "bbbb", 0), *c = write_at(s, "cccc", 4);
    ASSERT_TRUE(a && b && c);
    EXPECT_EQ(sflush(s), -EBUSY);
    EXPECT_EQ(sclose(s), -EBUSY);
    EXPECT_EQ(sfree(s, b), 0);
    EXPECT_EQ(sfree(s, a), 0);
    EXPECT_EQ(sflush(s), -EBUSY);
    EXPECT_EQ(contents("out"), std::string("bbbb\0\0\0\0aaaa", 12));
    EXPECT_EQ(sfree(s, c), 0);
    EXPECT_EQ(sfree(s, a), -EINVAL);
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(contents("out"), "bbbbccccaaaa");
}

TEST_F(Positional, SequentialRegionsStayWhereTheyAre) {
    asf_cios *s = create();
    give(s, "0123");
    ssize_t n = 4;
    char *kept = static_cast<char *>(salloc(s, &n));
    give(s, "89");
    char *far = write_at(s, "far", 20);
    give(s, " on");
    char *last = write_at(s, "|", 0, SEEK_END);
    memcpy(kept, "4567", 4);
    EXPECT_EQ(sfree(s, kept), 0);
    EXPECT_EQ(sfree(s, last), 0);
    EXPECT_EQ(sfree(s, far), 0);
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(contents("out"), "0123456789" + std::string(10, '\0') + "far on|");
}

TEST_F(Positional, AnAbandonedPlaceIsNotWritten) {
    asf_cios *s = create();
    give(s, std::string(30, '.'));
    char *a = write_at(s, "aaa", 3), *b = write_at(s, "bbb", 10), *c = write_at(s, "ccc", 20);
    EXPECT_EQ(sabandon(s, b), 0);
    EXPECT_EQ(sfree(s, a), 0);
    EXPECT_EQ(sabandon(s, c), 0);
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(contents("out"), "...aaa........................");
}

TEST_F(Positional, OutputByManyThreads) {
    asf_cios *s = create();
    constexpr int threads = 4, total = 100000;
    constexpr ssize_t size = 37;
    std::atomic<int> refused = 0;
    std::vector<std::thread> all;
    for (int t = 0; t < threads; t++)
        all.emplace_back([&, t] {
            std::vector<char *> kept;
            for (int i = t; i < total; i += threads) {
                ssize_t n = size;
                char *p = static_cast<char *>(sallocAt(s, &n, int64_t{i} * size, SEEK_SET));
                refused += !p;
                if (!p)
                    continue;
                memset(p, 'a' + i % 26, size);
                kept.push_back(p);
                if (kept.size() > 10) {
                    refused += sfree(s, kept[static_cast<size_t>(i) % 10]) != 0;
                    kept.erase(kept.begin() + i % 10);
                }
            }
            for (char *p : kept)
                refused += sfree(s, p) != 0;
        });
    for (std::thread &t : all)
        t.join();
    EXPECT_EQ(refused, 0);
    EXPECT_EQ(sclose(s), 0);
    std::string expected;
    for (int i = 0; i < total; i++)
        expected += std::string(size, static_cast<char>('a' + i % 26));
    EXPECT_TRUE(contents("out") == expected);
}

// While a thread holds the stream's lock, other threads write at their own offsets.
TEST_F(Positional, OutputWaitsForNoLock) {
    asf_cios *s = create();
    EXPECT_EQ(sfree(s, write_at(s, "0000", 0)), 0);
    std::promise<void> written;
    lockAsfStream(s);
    std::thread writer([&] {
        for (int i = 1; i <= 200; i++)
            EXPECT_EQ(sfree(s, write_at(s, "abcd", int64_t{4} * i)), 0);
        written.set_value();
    });
    EXPECT_EQ(written.get_future().wait_for(std::chrono::minutes(1)), std::future_status::ready);
    unlockAsfStream(s);
    writer.join();
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(contents("out").substr(0, 12), "0000abcdabcd");
}

TEST_F(Positional, MoreOutputThanTheTableHasEntries) {
    asf_cios *s = create();
    std::vector<char *> kept;
    for (int i = 0; i < 500; i++)
        kept.push_back(write_at(s, "abcd", int64_t{4} * (499 - i)));
    std::shuffle(kept.begin(), kept.end(), std::mt19937(7));
    for (char *p : kept)
        EXPECT_EQ(sfree(s, p), 0);
    EXPECT_EQ(sclose(s), 0);
    std::string expected;
    for (int i = 0; i < 500; i++)
        expected += "abcd";
    EXPECT_EQ(contents("out"), expected);
}

// Sequential output after an abandoned region begins at the region's offset, whether it was allocated before
// the sabandon or later.
TEST_F(Positional, OutputGoesOnWhereAnAbandonedRegionBegan) {
    asf_cios *s = create();
    for (const bool follows : {false, true}) {
        char *gone = write_at(s, "gone", follows ? 100 : 10);
        if (follows)
            give(s, "he");
        EXPECT_EQ(sabandon(s, gone), 0);
        give(s, follows ? "re" : "here");
    }
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(contents("out"), std::string(10, '\0') + "here" + std::string(86, '\0') + "here");
}

TEST_F(Positional, OutputFarBeyondTheEnd) {
    asf_cios *s = create();
    const int fd = open(path("out").c_str(), O_RDONLY | O_CLOEXEC);
    for (const int64_t far : {int64_t{1} << 31, int64_t{1} << 33, int64_t{1} << 45, int64_t{1} << 62}) {
        const off_t there = lseek(fd, far, SEEK_SET) < 0 ? -errno : far;
        EXPECT_EQ(sfree(s, write_at(s, "near", 0)), 0);
        ssize_t n = 4;
        void *p = sallocAt(s, &n, far, SEEK_SET);
        if (there < 0) {
            expect_none(p, n, there);
        } else {
            EXPECT_EQ(sabandon(s, p), 0);
        }
        give(s, "|");
        EXPECT_EQ(sflush(s), 0);
        EXPECT_EQ(lseek(asf_fileno(s), 0, SEEK_CUR), there < 0 ? 5 : far + 1);
    }
    EXPECT_EQ(sclose(s), 0);
    char first[5];
    EXPECT_EQ(::pread(fd, first, 5, 0), 5);
    EXPECT_EQ(std::string(first, 5), "near|");
    ::close(fd);
}

TEST_F(Positional, OutputToAPipeIsRefused) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    asf_cios *s = asf_sopen_fd(ends[1], O_WRONLY, nullptr);
    ssize_t n = 5;
    void *none = sallocAt(s, &n, 10, SEEK_SET);
    expect_none(none, n, -ESPIPE);
    give(s, "hello");
    EXPECT_EQ(sclose(s), 0);
    close(ends[0]);
}

TEST_F(Positional, AWriteThatFailsIsToldBySfree) {
    asf_cios *s = create();
    signal(SIGXFSZ, SIG_IGN);
    rlimit before = {};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small = {1000, before.rlim_max};
    char *far = write_at(s, "far", 5000), *near = write_at(s, "near", 10);
    setrlimit(RLIMIT_FSIZE, &small);
    EXPECT_EQ(sfree(s, far), -EFBIG);
    EXPECT_EQ(sfree(s, near), 0);
    EXPECT_EQ(sclose(s), 0);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_DFL);
    EXPECT_EQ(contents("out"), std::string(10, '\0') + "near");
}

TEST_F(Positional, ReadsWhileOutputIsKept) {
    asf_cios *s = must_open(put_pattern("file", 500000), O_RDWR);
    ssize_t n = 100;
    char *kept = static_cast<char *>(SallocAt(s, ASF_WRITE, &n, 1000, SEEK_SET));
    ASSERT_NE(kept, nullptr);
    memset(kept, 'k', 100);
    for (const size_t place : {size_t{0}, size_t{400000}, size_t{1000}}) {
        n = 50;
        char *p = static_cast<char *>(SallocAt(s, ASF_READ, &n, static_cast<int64_t>(place), SEEK_SET));
        ASSERT_NE(p, nullptr) << n;
        EXPECT_EQ(std::string(p, 50), pattern(50, place)) << "what is kept is not written yet";
        EXPECT_EQ(sfree(s, p), 0);
    }
    EXPECT_EQ(sfree(s, kept), 0);
    n = 50;
    char *p = static_cast<char *>(SallocAt(s, ASF_READ, &n, 1000, SEEK_SET));
    EXPECT_EQ(std::string(p, 50), std::string(50, 'k'));
    EXPECT_EQ(sfree(s, p), 0);
    EXPECT_EQ(sclose(s), 0);
}

// An offset that lseek refuses is refused at once with the same error, and the stream's offset does not
// change.
TEST_F(Positional, FarBeyondTheEnd) {
    for (const char *where : {"/tmp", "/dev/shm"})
        for (const int64_t far : {int64_t{500000}, int64_t{1} << 45, int64_t{1} << 62}) {
            SCOPED_TRACE(std::string(where) + ", " + std::to_string(far));
            std::string name = std::string(where) + "/asi.XXXXXX";
            const int made = mkstemp(name.data());
            ASSERT_EQ(::write(made, pattern(300000).data(), 300000), 300000);
            const off_t there = lseek(made, far, SEEK_SET) < 0 ? -errno : far;
            const int fd = open(name.c_str(), O_RDONLY | O_CLOEXEC);
            asf_cios *s = asf_sopen_fd(fd, O_RDONLY, nullptr);
            EXPECT_EQ(take(s, 10), pattern(10));
            ssize_t n = 10;
            void *p = sallocAt(s, &n, far, SEEK_SET);
            expect_none(p, n, there < 0 ? there : 0);
            EXPECT_EQ(take(s, 10), there < 0 ? pattern(10, 10) : "");
            EXPECT_EQ(sflush(s), 0);
            EXPECT_EQ(lseek(fd, 0, SEEK_CUR), there < 0 ? 20 : there);
            EXPECT_EQ(sfree(s, at(s, 10, 1000)), 0);
            EXPECT_EQ(take(s, 10), pattern(10, 1010));
            EXPECT_EQ(sclose(s), 0);
            ::close(made);
            unlink(name.c_str());
        }
}

// The descriptor's offset follows at the next sequential call.  If it cannot, that call neither reads nor
// writes.
TEST_F(Positional, APlaceThatIsNotReached) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    for (const int flags : {O_RDONLY, O_RDWR}) {
        const std::string file = put_pattern("file", 300000);
        const int fd = open(file.c_str(), flags | O_CLOEXEC), same = dup(fd);
        asf_cios *s = asf_sopen_fd(fd, flags, nullptr);
        EXPECT_EQ(sfree(s, at(s, 10, 200000)), 0);
        ASSERT_EQ(dup2(ends[0], fd), fd); // a pipe, which cannot seek
        EXPECT_EQ(take(s, 10), "error " + std::to_string(-ESPIPE));
        EXPECT_EQ(take(s, 10), "error " + std::to_string(-ESPIPE));
        EXPECT_EQ(sflush(s), -ESPIPE);
        ssize_t n = 10;
        void *p = sallocAt(s, &n, 10, SEEK_CUR);
        expect_none(p, n, -ESPIPE);
        p = flags == O_RDWR ? (n = 10, Salloc(s, ASF_WRITE, &n)) : (n = -ESPIPE, nullptr);
        expect_none(p, n, -ESPIPE);
        ASSERT_EQ(dup2(same, fd), fd);
        EXPECT_EQ(take(s, 10), pattern(10, 200010));
        EXPECT_EQ(sclose(s), 0);
        ::close(same);
    }
    ::close(ends[0]);
    ::close(ends[1]);
}

// Returns how many bytes this process has read by system calls.
size_t bytes_read() {
    std::ifstream io("/proc/self/io");
    std::string name;
    size_t n = 0;
    io >> name >> n;
    return n;
}

TEST_F(Positional, TakingTurnsReadsLittle) {
    asf_cios *s = must_open(put_pattern("file", 400000), O_RDWR);
    const size_t before = bytes_read();
    for (size_t i = 0; i < 1000; i++) {
        ssize_t n = 64;
        char *p = static_cast<char *>(Salloc(s, ASF_READ, &n));
        ASSERT_EQ(first_wrong(p, 64, i * 128), 64U);
        ASSERT_EQ(sfree(s, p), 0);
        n = 64;
        p = static_cast<char *>(Salloc(s, ASF_WRITE, &n));
        memset(p, 'w', 64);
        ASSERT_EQ(sfree(s, p), 0);
    }
    EXPECT_LT(bytes_read() - before, size_t{1000} * 5000);
    EXPECT_EQ(sclose(s), 0);
    const std::string now = contents("file");
    for (size_t i = 0; i < 1000; i++)
        ASSERT_EQ(now.substr(i * 128, 128), pattern(64, i * 128) + std::string(64, 'w'));
}

} // namespace
} // namespace asi
