// SPDX-License-Identifier: MIT
//
// asi_sharing_test.cpp - threads that take the regions of one file: each byte goes to one thread, and no
// other thread changes a thread's region.
#include <algorithm>
#include <future>
#include <mutex>
#include <sys/resource.h>
#include <thread>

#include "tests/interfaces/asi/asi_test.h"

namespace asi {
namespace {

using Range = std::pair<uint64_t, uint64_t>;

// Makes the process multithreaded while the object exists.
class Company {
  public:
    Company() : other([leave = leave.get_future()]() mutable { leave.wait(); }) {}
    ~Company() {
        leave.set_value();
        other.join();
    }

  private:
    std::promise<void> leave;
    std::thread other;
};

class Sharing : public Asi {
  protected:
    // Makes a file whose words are their own indices.
    std::string put_words(uint64_t n) const {
        std::vector<uint64_t> words(n);
        for (uint64_t i = 0; i < n; i++)
            words[i] = i;
        return put("words", {reinterpret_cast<const char *>(words.data()), n * sizeof words[0]});
    }

    // Takes the bytes that are available at once, at most a mebibyte.
    static std::string take_some(asf_cios *s) {
        ssize_t n = MiB;
        void *p = salloc_some(s, &n);
        std::string text(static_cast<char *>(p), p ? static_cast<size_t>(n) : 0);
        EXPECT_EQ(p ? sfree(s, p) : static_cast<int>(n), 0);
        return text;
    }

    asf_cios *open_pattern(ssize_t size) {
        asf_cios *s = must_open(put_pattern("file", static_cast<size_t>(size)), O_RDONLY);
        EXPECT_EQ(take(s, 64), pattern(64));
        return s;
    }
};

// The words of a region, if they are consecutive.
Range range_of(const void *region, ssize_t length) {
    const auto *words = static_cast<const uint64_t *>(region);
    const size_t n = static_cast<size_t>(length) / sizeof *words;
    for (size_t i = 1; i < n; i++)
        if (words[i] != words[0] + i)
            return {UINT64_MAX, UINT64_MAX};
    return {words[0], words[0] + n};
}

std::vector<Range> take_all(asf_cios *s) {
    std::vector<Range> ranges;
    ssize_t length = MiB;
    for (void *region; (region = salloc_some(s, &length)); length = MiB) {
        ranges.push_back(range_of(region, length));
        EXPECT_EQ(sfree(s, region), 0);
    }
    EXPECT_EQ(length, 0);
    return ranges;
}

TEST_F(Sharing, EachByteGoesToOneThread) {
    const uint64_t words = 3 * MiB + 1001;
    asf_cios *s = must_open(put_words(words), O_RDONLY);
    std::vector<std::future<std::vector<Range>>> readers;
    for (int i = 0; i < 3; i++)
        readers.push_back(std::async(std::launch::async, take_all, s));
    std::vector<Range> ranges;
    for (auto &reader : readers)
        for (const Range &range : reader.get())
            ranges.push_back(range);
    std::sort(ranges.begin(), ranges.end());
    uint64_t at = 0;
    for (const Range &range : ranges) {
        ASSERT_EQ(range.first, at);
        at = range.second;
    }
    EXPECT_EQ(at, words);
    EXPECT_EQ(sclose(s), 0);
}

long page_faults() {
    rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

TEST_F(Sharing, RegionsThatWereGivenBackLendTheirMemory) {
#ifndef __GLIBC__
    GTEST_SKIP() << "musl's heap gives back what is large";
#endif
    constexpr int rounds = 5, at_once = 3, pages = 32;
    if (sanitized)
        GTEST_SKIP() << "a sanitizer keeps what is freed";
    Company two;
    asf_cios *s = open_pattern(4 * MiB);
    if (std::string(asf_module_name(s)) != "read") {
        sclose(s);
        GTEST_SKIP() << "regions of a map are the file's own memory";
    }
    long before = 0;
    for (int round = -2; round < rounds; round++) { // two warm-up rounds, which touch the memory
        void *regions[at_once];
        before = round == 0 ? page_faults() : before;
        for (void *&region : regions) {
            ssize_t length = MiB;
            region = salloc_some(s, &length);
            ASSERT_NE(region, nullptr);
        }
        for (void *region : regions)
            EXPECT_EQ(sfree(s, region), 0);
    }
    EXPECT_LT(page_faults() - before, rounds * pages / 2);
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Sharing, ARegionIsMadeShorterAndLonger) {
    Company two;
    asf_cios *s = open_pattern(4 * MiB);
    ssize_t length = MiB;
    void *region = salloc_some(s, &length);
    ASSERT_NE(region, nullptr);
    EXPECT_EQ(first_wrong(region, static_cast<size_t>(length), 64), static_cast<size_t>(length));
    ssize_t less = length - 1000;
    ASSERT_EQ(srealloc(s, region, &less), region);
    EXPECT_EQ(take(s, 10), pattern(10, 64 + static_cast<size_t>(less)));
    EXPECT_EQ(sfree(s, region), 0);

    ssize_t more = MiB, at = 64 + less + 10;
    region = salloc_some(s, &more);
    ASSERT_NE(region, nullptr);
    more += 5000;
    region = srealloc(s, region, &more);
    ASSERT_NE(region, nullptr);
    EXPECT_EQ(first_wrong(region, static_cast<size_t>(more), static_cast<size_t>(at)),
              static_cast<size_t>(more));
    EXPECT_EQ(sfree(s, region), 0);
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Sharing, SeeksBackIntoARegion) {
    Company two;
    asf_cios *s = open_pattern(2 * MiB);
    ssize_t length = MiB, back = 50;
    void *region = salloc_some(s, &length);
    ASSERT_NE(region, nullptr);
    void *again = sallocAt(s, &back, -100, SEEK_CUR);
    ASSERT_NE(again, nullptr);
    const auto at = static_cast<size_t>(64 + length - 100);
    EXPECT_EQ(first_wrong(again, 50, at), 50U);
    EXPECT_EQ(take(s, 200), pattern(200, at + 50));
    EXPECT_EQ(sfree(s, again), 0);
    EXPECT_EQ(sfree(s, region), 0);
    EXPECT_EQ(sclose(s), 0);
}

// Takes many regions at once, and frees them in another order while others follow.
TEST_F(Sharing, RegionsStayUntilTheirOwnFree) {
    Company two;
    asf_cios *s = open_pattern(8 * MiB);
    size_t at = 64;
    std::vector<std::pair<char *, size_t>> regions;
    for (int i = 0; i < 12; i++) {
        ssize_t length = 100000 + i;
        char *region = static_cast<char *>(salloc_some(s, &length));
        ASSERT_NE(region, nullptr);
        regions.emplace_back(region, at);
        at += static_cast<size_t>(length);
        if (i % 3 == 2) {
            EXPECT_EQ(sfree(s, regions[static_cast<size_t>(i) / 2].first), 0);
            regions[static_cast<size_t>(i) / 2].first = nullptr;
        }
    }
    for (auto [region, where] : regions)
        if (region) {
            EXPECT_EQ(first_wrong(region, 1000, where), 1000U);
            EXPECT_EQ(sfree(s, region), 0);
        }
    EXPECT_EQ(sclose(s), 0);
}

// The stream asks for the end of the file again, and so reads appended bytes.
TEST_F(Sharing, AFileThatGrowsIsReadOn) {
    Company two;
    asf_cios *s = open_pattern(MiB + 100);
    while (!take_some(s).empty())
        continue;
    std::string more = pattern(3 * MiB, MiB + 100);
    const int fd = open(path("file").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    ASSERT_EQ(::write(fd, more.data(), more.size()), 3 * MiB);
    ::close(fd);
    std::string rest;
    for (std::string some; !(some = take_some(s)).empty();)
        rest += some;
    EXPECT_TRUE(rest == more);
    EXPECT_EQ(sclose(s), 0);
}

} // namespace
} // namespace asi
