// SPDX-License-Identifier: MIT
//
// asi_advise_test.cpp - asf_advise: the bytes are the same after any advice, and the page cache has the
// expected pages.
#include <chrono>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <thread>

#include "tests/interfaces/asi/asi_test.h"

namespace asi {
namespace {

constexpr asf_advice every[] = {ASF_NORMAL,   ASF_SEQUENTIAL, ASF_RANDOM, ASF_WILLNEED,
                                ASF_DONTNEED, ASF_ONCE,       ASF_COPIED};
constexpr size_t page = 4096, mib = 1 << 20;

class Advice : public Asi {
  protected:
    // Makes a file whose pages can be dropped; returns an empty path on a file system in memory.
    std::string on_disk(size_t n) const {
        const std::string file = put_pattern("file", n);
        struct statfs fs = {};
        int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
        bool memory = fstatfs(fd, &fs) == 0 && fs.f_type == 0x01021994;
        fsync(fd);
        ::close(fd);
        return memory ? "" : file;
    }

    static void drop(const std::string &file) {
        int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
        posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        ::close(fd);
    }

    // Returns how many pages of [from, end) are in memory.
    static size_t resident(const std::string &file, size_t from, size_t end) {
        int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
        void *p = mmap(nullptr, end, PROT_READ, MAP_SHARED, fd, 0);
        std::vector<unsigned char> there(end / page + 1); // the sanitizer's mincore uses one byte more
        mincore(p, end, there.data());
        munmap(p, end);
        ::close(fd);
        size_t n = 0;
        for (size_t i = from / page; i < end / page; i++)
            n += there[i] & 1;
        return n;
    }

    // Reads on to `end`, which may be after the file's end.
    static void read_on(asf_cios *s, size_t &at, size_t end) {
        while (at < end) {
            ssize_t n = static_cast<ssize_t>(std::min<size_t>(100'000, end - at));
            void *p = salloc(s, &n);
            if (!p) {
                EXPECT_EQ(n, 0);
                return;
            }
            ASSERT_EQ(first_wrong(p, static_cast<size_t>(n), at), static_cast<size_t>(n)) << at;
            ASSERT_EQ(sfree(s, p), 0);
            at += static_cast<size_t>(n);
        }
    }
};

TEST_F(Advice, SameBytesForEach) {
    const size_t size = 19 * mib + 12345;
    const std::string file = put_pattern("file", size);
    for (asf_advice first : every) {
        for (asf_advice second : every) {
            asf_cios *s = must_open(file, O_RDONLY);
            size_t at = 0;
            ASSERT_EQ(asf_advise(s, first), 0);
            read_on(s, at, 3 * mib + 17);
            ASSERT_EQ(asf_advise(s, second), 0);
            read_on(s, at, SIZE_MAX);
            EXPECT_EQ(at, size) << first << second;
            at = 5 * mib + 1;
            ssize_t n = 10;
            void *p = sallocAt(s, &n, static_cast<int64_t>(at), SEEK_SET);
            ASSERT_EQ(first_wrong(p, 10, at), 10U);
            at += 10;
            read_on(s, at, SIZE_MAX);
            EXPECT_EQ(at, size) << first << second;
            EXPECT_EQ(sfree(s, p), 0);
            ASSERT_EQ(sclose(s), 0);
        }
    }
}

TEST_F(Advice, PipesSayThatTheyAreNone) {
    for (asf_advice advice : every) {
        int ends[2];
        ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
        ASSERT_EQ(write(ends[1], "what was written", 16), 16);
        ::close(ends[1]);
        asf_cios *s = asf_sopen_fd(ends[0], O_RDONLY, nullptr);
        EXPECT_EQ(asf_advise(s, advice), -ESPIPE);
        EXPECT_EQ(take(s, 100), "what was written");
        EXPECT_EQ(sclose(s), 0);
    }
}

TEST_F(Advice, OthersAreRefused) {
    asf_cios *s = must_open(put("file", "some text"), O_RDONLY);
    EXPECT_EQ(asf_advise(s, static_cast<asf_advice>(7)), -EINVAL);
    EXPECT_EQ(take(s, 100), "some text");
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Advice, StreamsThatWriteTakeIt) {
    for (int flags : {O_WRONLY, O_RDWR}) {
        asf_cios *s = must_open(path("out"), flags | O_CREAT | O_TRUNC);
        ASSERT_EQ(set_stream_mode(s, ASF_WRITE), s);
        for (asf_advice advice : every) {
            give(s, "abc");
            EXPECT_EQ(asf_advise(s, advice), 0);
        }
        EXPECT_EQ(sclose(s), 0);
        EXPECT_EQ(contents("out"), "abcabcabcabcabcabcabc");
    }
}

// Reads in sequence, and at offsets often enough for the file to be mapped.
TEST_F(Advice, CopiedStaysAsItWas) {
    const size_t size = 4 * mib;
    const std::string file = put_pattern("file", size);
    asf_cios *s = must_open(file, O_RDONLY);
    ASSERT_EQ(asf_advise(s, ASF_COPIED), 0);
    ssize_t n = mib;
    void *next = salloc(s, &n), *there = nullptr;
    EXPECT_STREQ(asf_module_name(s), "read");
    for (size_t i = 0; i < 200; i++) {
        sfree(s, there);
        there = sallocAt(s, &n, 3 * mib, SEEK_SET);
        ASSERT_EQ(n, mib);
    }
    put("file", std::string(2 * mib, '-'));
    EXPECT_EQ(first_wrong(next, mib, 0), mib);
    EXPECT_EQ(first_wrong(there, mib, 3 * mib), mib);
    EXPECT_EQ(sfree(s, next), 0);
    EXPECT_EQ(sfree(s, there), 0);
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Advice, OnceDropsBehind) {
    const size_t size = 40 * mib + 1000;
    const std::string file = on_disk(size);
    if (file.empty())
        GTEST_SKIP() << "the file system is memory";
    ASSERT_GT(resident(file, 0, size), size / page / 2);
    asf_cios *s = must_open(file, O_RDONLY);
    ASSERT_EQ(asf_advise(s, ASF_ONCE), 0);
    size_t at = 0;
    read_on(s, at, 33 * mib);
    EXPECT_EQ(resident(file, 0, 24 * mib), 0U);
    read_on(s, at, SIZE_MAX);
    EXPECT_EQ(at, size);
    ASSERT_EQ(sclose(s), 0);
    EXPECT_EQ(resident(file, 0, size), 0U);
}

TEST_F(Advice, OnceKeepsWhatARegionPointsInto) {
    const size_t size = 40 * mib;
    const std::string file = on_disk(size);
    if (file.empty())
        GTEST_SKIP() << "the file system is memory";
    asf_cios *s = must_open(file, O_RDONLY);
    ASSERT_EQ(asf_advise(s, ASF_ONCE), 0);
    size_t at = 0;
    read_on(s, at, 3 * mib);
    ssize_t n = 3000;
    void *kept = salloc(s, &n);
    bool mapped = asf_module_name(s) == std::string("map");
    at += static_cast<size_t>(n);
    read_on(s, at, SIZE_MAX);
    if (mapped) {
        EXPECT_GT(resident(file, 3 * mib, 4 * mib), 0U);
    } else {
        EXPECT_EQ(resident(file, 0, 32 * mib), 0U);
    }
    EXPECT_EQ(first_wrong(kept, 3000, 3 * mib), 3000U);
    EXPECT_EQ(sfree(s, kept), 0);
    ASSERT_EQ(sclose(s), 0);
    EXPECT_EQ(resident(file, 0, size), 0U);
}

TEST_F(Advice, DontNeedDropsNow) {
    const size_t size = 12 * mib;
    const std::string file = on_disk(size);
    if (file.empty())
        GTEST_SKIP() << "the file system is memory";
    asf_cios *s = must_open(file, O_RDONLY);
    size_t at = 0;
    read_on(s, at, 9 * mib);
    EXPECT_EQ(asf_advise(s, ASF_DONTNEED), 0);
    EXPECT_EQ(resident(file, 0, size), 0U);
    read_on(s, at, SIZE_MAX);
    EXPECT_EQ(at, size);
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Advice, WillNeedBeginsNow) {
    const size_t size = 12 * mib;
    const std::string file = on_disk(size);
    if (file.empty())
        GTEST_SKIP() << "the file system is memory";
    drop(file);
    ASSERT_EQ(resident(file, 0, size), 0U);
    asf_cios *s = must_open(file, O_RDONLY);
    EXPECT_EQ(asf_advise(s, ASF_WILLNEED), 0);
    for (int i = 0; i < 1000 && resident(file, 0, size) < size / page; i++)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(resident(file, 0, size), size / page);
    EXPECT_EQ(sclose(s), 0);
}

} // namespace
} // namespace asi
