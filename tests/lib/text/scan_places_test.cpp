// SPDX-License-Identifier: MIT
//
// Proves the two kernels that only the library calls, ends and places: each version that this CPU supports is
// compared with a simple loop, next to inaccessible pages.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "tests/lib/text/kernel_names.h"

extern "C" {
#include "lib/text/scan_kernels.h"
}

namespace {

// A page between two inaccessible ones, filled with random bytes; on average one in `often` is `c`.
class Guarded {
  public:
    Guarded() : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE)) * 8) {
        map_ = static_cast<unsigned char *>(
            mmap(nullptr, 3 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        if (map_ == MAP_FAILED || mprotect(map_ + page_, page_, PROT_READ | PROT_WRITE) != 0)
            abort();
    }
    ~Guarded() { munmap(map_, 3 * page_); }
    Guarded(const Guarded &) = delete;
    Guarded &operator=(const Guarded &) = delete;
    unsigned char *first() { return map_ + page_; }
    unsigned char *last(size_t n) { return map_ + 2 * page_ - n; }
    size_t size() const { return page_; }

  private:
    size_t page_;
    unsigned char *map_;
};

class ScanPlaces : public testing::TestWithParam<std::string> {
  protected:
    void SetUp() override {
        const int error = asf_scan_use(GetParam().c_str());
        if (error == -ENOTSUP)
            GTEST_SKIP() << "this CPU does not have " << GetParam();
        ASSERT_EQ(error, 0);
    }
    void TearDown() override { asf_scan_use(nullptr); }

    size_t below(size_t limit) { return std::uniform_int_distribution<size_t>(0, limit - 1)(random_); }

    void fill(unsigned char *p, size_t n, unsigned char c, size_t often) {
        for (size_t i = 0; i < n; i++)
            p[i] = below(often) == 0 ? c : static_cast<unsigned char>(c ^ (1 + below(255)));
    }

    std::mt19937_64 random_{7};
};

void expect_ends(const unsigned char *p, size_t n, unsigned char c) {
    uint64_t expected = n < 64 ? uint64_t{1} << n : 0;
    for (size_t i = 0; i < n && i < 64; i++)
        expected |= static_cast<uint64_t>(p[i] == c) << i;
    ASSERT_EQ(asf__scan()->ends(p, n, c), expected) << n << " bytes";
    ASSERT_EQ(asf__scan()->ends(p, n, c - 256), expected) << "c is converted to unsigned char";
}

// Successive calls find all places; no call writes beyond its output array.
void expect_places(const unsigned char *p, size_t n, unsigned char c) {
    constexpr uint16_t untouched = 0x5aa5;
    std::vector<uint16_t> room(ASF_SCAN_PLACES + 1, untouched);
    std::vector<size_t> found, expected;
    for (size_t i = 0; i < n; i++)
        if (p[i] == c)
            expected.push_back(i);
    for (size_t at = 0; at < n;) {
        size_t part = n - at;
        const size_t count = asf__scan()->places(p + at, &part, c, room.data());
        ASSERT_GT(part, 0U);
        ASSERT_LE(part, n - at);
        ASSERT_LE(count, static_cast<size_t>(ASF_SCAN_PLACES));
        for (size_t i = 0; i < count; i++)
            found.push_back(at + room[i]);
        at += part;
    }
    EXPECT_EQ(room.back(), untouched);
    ASSERT_EQ(found, expected) << n << " bytes";
}

TEST_P(ScanPlaces, EveryLengthAtBothEndsOfAPage) {
    Guarded memory;
    for (size_t n = 0; n <= 300; n++) {
        for (const size_t often : {1U, 2U, 7U, 10U, 40U, 1000U}) {
            const auto c = static_cast<unsigned char>(below(256));
            for (unsigned char *p : {memory.first(), memory.last(n)}) {
                fill(p, n, c, often);
                expect_ends(p, n, c);
                expect_places(p, n, c);
                if (HasFatalFailure())
                    return;
            }
        }
    }
}

TEST_P(ScanPlaces, LongBlocks) {
    std::vector<unsigned char> data(ASF_SCAN_PLACES_BYTES);
    for (int round = 0; round < 60; round++) {
        const size_t n = round == 0 ? data.size() : below(data.size());
        const auto c = static_cast<unsigned char>(below(256));
        fill(data.data(), n, c, 1 + below(round % 2 ? 10 : 200));
        expect_places(data.data(), n, c);
        if (HasFatalFailure())
            return;
    }
}

TEST_P(ScanPlaces, NothingAtNull) {
    size_t n = 0;
    uint16_t room[ASF_SCAN_PLACES];
    EXPECT_EQ(asf__scan()->ends(nullptr, 0, 'a'), 1U);
    EXPECT_EQ(asf__scan()->places(nullptr, &n, 'a', room), 0U);
    EXPECT_EQ(n, 0U);
}

INSTANTIATE_TEST_SUITE_P(Kernels, ScanPlaces, testing::ValuesIn(kernel_names()),
                         [](const auto &kernel) { return kernel.param; });

} // namespace
