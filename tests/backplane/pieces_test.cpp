// SPDX-License-Identifier: MIT
//
// pieces_test.cpp - what threads read for themselves of one file, when the file
// is not read as it should be: no byte is passed over unsaid.
// Layer: tests.
#include <functional>
#include <future>
#include <thread>

#include "tests/interfaces/asi/asi_test.h"
#include "tests/streams/private_headers.h"

namespace asi {
namespace {

constexpr off64_t bad = 100000; // from here on reads fail, as long as `broken`
bool broken;
ssize_t (*honest_pread)(int, void *, size_t, off64_t);
std::function<void()> meanwhile; // in the read that fails

ssize_t failing_pread(int fd, void *p, size_t n, off64_t at) {
    if (!broken || at + static_cast<off64_t>(n) <= bad)
        return honest_pread(fd, p, n, at);
    if (at < bad)
        return honest_pread(fd, p, static_cast<size_t>(bad - at), at);
    if (const std::function<void()> call = std::exchange(meanwhile, nullptr))
        call();
    return honest_pread(fd, p, n, at) ? -EIO : 0;
}

class Pieces : public Asi {
  protected:
    void SetUp() override {
        Asi::SetUp();
        strcpy(options().module, "read");
        honest_pread = asf__sys.pread;
        asf__sys.pread = failing_pread;
        broken = true;
        meanwhile = nullptr;
        other = std::thread([this] { leave.get_future().wait(); });
        s = must_open(put_pattern("file", size), O_RDONLY);
        // A buffer, of what is read ahead as one thread alone would.
        while (at < buffered)
            at += static_cast<size_t>(some());
    }
    void TearDown() override {
        EXPECT_EQ(sclose(s), 0);
        leave.set_value();
        other.join();
        Asi::TearDown();
    }
    // Bytes that are there at once and right, or an error.
    static ssize_t some(asf_cios *from, size_t place) {
        ssize_t n = 200000;
        void *p = salloc_some(from, &n);
        if (!p)
            return n;
        EXPECT_EQ(first_wrong(p, static_cast<size_t>(n), place), static_cast<size_t>(n));
        EXPECT_EQ(sfree(from, p), 0);
        return n;
    }
    ssize_t some() const { return some(s, at); }

    static constexpr size_t size = 1000000, buffered = 64 << 10;
    const Restore restore;
    std::promise<void> leave;
    std::thread other;
    asf_cios *s = nullptr;
    size_t at = 0;
};

TEST_F(Pieces, AnErrorBehindBytesIsTheNextCalls) {
    at += static_cast<size_t>(some());
    ASSERT_EQ(at, static_cast<size_t>(bad));
    EXPECT_EQ(some(), -EIO);
    EXPECT_EQ(some(), -EIO);
    broken = false;
    ASSERT_EQ(take(s, 10), pattern(10, at));
    at += 10;
    for (ssize_t n; at < size; at += static_cast<size_t>(n)) {
        n = some();
        ASSERT_GT(n, 0);
    }
    EXPECT_EQ(some(), 0);
}

TEST_F(Pieces, AnErrorIsToldWhereAnotherThreadHasGoneOn) {
    const size_t piece = 128 << 10, begin = at;
    meanwhile = [&] {
        broken = false;
        EXPECT_EQ(some(s, begin + piece), static_cast<ssize_t>(piece));
    };
    at += static_cast<size_t>(some());
    ASSERT_EQ(at, static_cast<size_t>(bad));
    EXPECT_EQ(some(), -EIO);
    EXPECT_GT(some(s, begin + 2 * piece), 0);
}

// What is cut off while it is read can be read when the file has grown anew.
TEST_F(Pieces, AFileThatEndsEarlierThanItWasSeenTo) {
    const std::string file = path("file");
    meanwhile = [&] { ASSERT_EQ(truncate(file.c_str(), bad), 0); };
    at += static_cast<size_t>(some());
    ASSERT_EQ(at, static_cast<size_t>(bad));
    broken = false;
    EXPECT_EQ(some(), 0);
    put_pattern("file", size);
    EXPECT_GT(some(), 0);
}

} // namespace
} // namespace asi
