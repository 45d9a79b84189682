// SPDX-License-Identifier: MIT
//
// Proves the scanning kernels: each that this CPU supports is compared with the standard library and simple
// loops, at every alignment and length, next to inaccessible pages. wc's rules are compared with the system's
// wc.
#include <asf/scan.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "tests/lib/text/kernel_names.h"
#include "tests/random.h"

namespace {

using Bytes = std::vector<unsigned char>;

// Memory between two inaccessible pages.
class Guarded {
  public:
    explicit Guarded(size_t pages) : size_(pages * page()) {
        void *map = mmap(nullptr, size_ + 2 * page(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (map == MAP_FAILED ||
            mprotect(static_cast<char *>(map) + page(), size_, PROT_READ | PROT_WRITE) != 0)
            abort();
        map_ = static_cast<unsigned char *>(map);
    }
    ~Guarded() { munmap(map_, size_ + 2 * page()); }
    Guarded(const Guarded &) = delete;
    Guarded &operator=(const Guarded &) = delete;

    // Copies data to the first bytes of the page, or to its last.
    const unsigned char *first(const Bytes &data) { return put(begin(), data); }
    const unsigned char *last(const Bytes &data) { return put(begin() + size_ - data.size(), data); }
    // Copies data to an offset from a 64-byte boundary.
    const unsigned char *at(size_t offset, const Bytes &data) { return put(begin() + offset, data); }

  private:
    static size_t page() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }
    unsigned char *begin() { return map_ + page(); }
    static const unsigned char *put(unsigned char *to, const Bytes &data) {
        std::copy(data.begin(), data.end(), to);
        return to;
    }

    size_t size_;
    unsigned char *map_;
};

struct Masks {
    std::vector<uint64_t> a, b;
    bool operator==(const Masks &other) const = default;
};

Masks masks_of(const unsigned char *p, size_t n, int a, int b) {
    // One word more than needed, which must not change.
    const uint64_t untouched = 0x5aa5;
    Masks m{std::vector<uint64_t>(ASF_SCAN_MASKS(n) + 1, untouched),
            std::vector<uint64_t>(ASF_SCAN_MASKS(n) + 1, untouched)};
    asf_scan_masks(p, n, a, b, m.a.data(), m.b.data());
    EXPECT_EQ(m.a.back(), untouched);
    EXPECT_EQ(m.b.back(), untouched);
    m.a.pop_back();
    m.b.pop_back();
    return m;
}

Masks expected_masks(const Bytes &data, int a, int b) {
    Masks m{std::vector<uint64_t>(ASF_SCAN_MASKS(data.size())),
            std::vector<uint64_t>(ASF_SCAN_MASKS(data.size()))};
    for (size_t i = 0; i < data.size(); i++) {
        if (data[i] == a)
            m.a[i / 64] |= uint64_t{1} << i % 64;
        if (data[i] == b)
            m.b[i / 64] |= uint64_t{1} << i % 64;
    }
    return m;
}

// POSIX's rules of wc: words are separated by white space.
asf_scan_counts expected_words(const Bytes &data, asf_scan_counts counts) {
    for (int c : data) {
        counts.lines += c == '\n';
        const int in_word = !isspace(c);
        counts.words += in_word && !counts.in_word;
        counts.in_word = in_word;
    }
    return counts;
}

void expect_words(const asf_scan_counts &got, const asf_scan_counts &expected) {
    EXPECT_EQ(got.lines, expected.lines);
    EXPECT_EQ(got.words, expected.words);
    EXPECT_EQ(got.in_word, expected.in_word);
}

void expect_words_of(const unsigned char *p, const Bytes &data) {
    for (int in_word = 0; in_word < 2; in_word++) {
        asf_scan_counts counts{3, 5, in_word};
        asf_scan_counts expected = expected_words(data, counts);
        asf_scan_words(&counts, p, data.size());
        expect_words(counts, expected);
    }
}

// Calls all functions that examine one block, for the byte c.
void expect_block(const unsigned char *p, const Bytes &data, int c) {
    size_t n = data.size();
    auto byte = static_cast<unsigned char>(c);
    EXPECT_EQ(asf_scan_count(p, c, n), static_cast<size_t>(std::count(data.begin(), data.end(), byte)));
    EXPECT_EQ(asf_scan_find(p, c, n), memchr(p, c, n));
    EXPECT_EQ(asf_scan_rfind(p, c, n), memrchr(p, c, n));
    auto high = std::find_if(data.begin(), data.end(), [](unsigned char x) { return x >= 0x80; });
    EXPECT_EQ(asf_scan_ascii(p, n), static_cast<size_t>(high - data.begin()));
    EXPECT_EQ(masks_of(p, n, byte, '\t'), expected_masks(data, byte, '\t'));
    expect_words_of(p, data);
}

void expect_differ(const unsigned char *p, const unsigned char *q, size_t n) {
    EXPECT_EQ(asf_scan_differ(p, q, n), static_cast<size_t>(std::mismatch(p, p + n, q).first - p));
}

class Source {
  public:
    explicit Source(unsigned seed) : engine_(seed) {}
    size_t below(size_t limit) { return std::uniform_int_distribution<size_t>(0, limit - 1)(engine_); }

    // Kinds of data for which the kernels take different paths.
    Bytes data(size_t n) {
        static const std::string alphabets[] = {"a",
                                                "\n",
                                                " ",
                                                "\x01",
                                                "ab\n",
                                                "a \n\t",
                                                "a\x01 ",
                                                "\x20\x21\x7e\x7f",
                                                "\x08\x09\x0d\x0e",
                                                "\x80\xff\xa0\x7f",
                                                "aaaaaaaaaaaaaaaaaaaaa\n"};
        size_t kind = below(std::size(alphabets) + 2);
        Bytes bytes(n);
        for (auto &byte : bytes)
            byte = static_cast<unsigned char>(kind < std::size(alphabets)
                                                  ? alphabets[kind][below(alphabets[kind].size())]
                                                  : static_cast<char>(below(256)));
        return bytes;
    }

    int byte_of(const Bytes &data) {
        return data.empty() || below(4) == 0 ? static_cast<int>(below(256)) : data[below(data.size())];
    }

  private:
    std::mt19937_64 engine_;
};

// Every case runs with every kernel that this CPU supports.
class Scan : public testing::TestWithParam<std::string> {
  protected:
    void SetUp() override {
        int error = asf_scan_use(GetParam().c_str());
        if (error == -ENOTSUP)
            GTEST_SKIP() << "this CPU does not have " << GetParam();
        ASSERT_EQ(error, 0);
        ASSERT_EQ(asf_scan_kernel(), GetParam());
    }
    void TearDown() override { asf_scan_use(nullptr); }
};

TEST_P(Scan, EveryLengthNextToPagesThatMayNotBeTouched) {
    Guarded before(1), after(1);
    Source source(1);
    for (size_t n = 0; n <= 300; n++) {
        for (int round = 0; round < 8; round++) {
            Bytes data = source.data(n);
            int c = source.byte_of(data);
            const unsigned char *p = before.first(data), *q = after.last(data);
            expect_block(p, data, c);
            expect_block(q, data, c);
            expect_differ(p, q, n);
            if (HasFailure())
                FAIL() << "length " << n << ", byte " << c;
        }
    }
}

TEST_P(Scan, EveryAlignment) {
    Guarded memory(1), other(1);
    Source source(2);
    for (size_t offset = 0; offset < 64; offset++) {
        for (size_t n : {1U, 15U, 16U, 31U, 33U, 63U, 64U, 65U, 127U, 129U, 257U, 1000U}) {
            Bytes data = source.data(n);
            const unsigned char *p = memory.at(offset, data);
            expect_block(p, data, source.byte_of(data));
            expect_differ(p, other.at(source.below(64), data), n);
            if (HasFailure())
                FAIL() << "offset " << offset << ", length " << n;
        }
    }
}

TEST_P(Scan, OneByteInEveryPlace) {
    Guarded memory(1), other(1);
    for (size_t n : {1U, 63U, 64U, 65U, 200U}) {
        for (size_t i = 0; i < n; i++) {
            Bytes data(n, 'x'), same(n, 'x');
            data[i] = 0xe4;
            const unsigned char *p = memory.last(data);
            expect_block(p, data, 0xe4);
            EXPECT_EQ(asf_scan_find(p, 0xe4 - 256, n), p + i) << "c is converted to unsigned char";
            EXPECT_EQ(asf_scan_differ(p, other.last(same), n), i);
        }
    }
}

TEST_P(Scan, EveryPairOfBytesAroundABlockBoundary) {
    for (int first = 0; first < 256; first++) {
        for (int second = 0; second < 256; second++) {
            Bytes data(128, 'x');
            data[63] = static_cast<unsigned char>(first);
            data[64] = static_cast<unsigned char>(second);
            expect_words_of(data.data(), data);
        }
        if (HasFailure())
            FAIL() << "byte " << first;
    }
}

TEST_P(Scan, WordsGoOnFromBlockToBlock) {
    Source source(3);
    for (int round = 0; round < 300; round++) {
        Bytes data = source.data(source.below(3000));
        asf_scan_counts counts{};
        for (size_t at = 0; at < data.size();) {
            size_t n = 1 + source.below(std::min<size_t>(data.size() - at, 150));
            asf_scan_words(&counts, data.data() + at, n);
            at += n;
        }
        expect_words(counts, expected_words(data, asf_scan_counts{}));
    }
}

TEST_P(Scan, LongBlocks) {
    Source source(4);
    for (int round = 0; round < 40; round++) {
        Bytes data = source.data(source.below(200000));
        expect_block(data.data(), data, source.byte_of(data));
        Bytes other = data;
        if (!other.empty())
            other[source.below(other.size())] ^= 1;
        expect_differ(data.data(), other.data(), data.size());
    }
}

TEST_P(Scan, NothingAtNull) {
    asf_scan_counts counts{1, 2, 1};
    uint64_t at_a = 7, at_b = 8;
    EXPECT_EQ(asf_scan_count(nullptr, 0, 0), 0U);
    EXPECT_EQ(asf_scan_find(nullptr, 0, 0), nullptr);
    EXPECT_EQ(asf_scan_rfind(nullptr, 0, 0), nullptr);
    EXPECT_EQ(asf_scan_differ(nullptr, nullptr, 0), 0U);
    EXPECT_EQ(asf_scan_ascii(nullptr, 0), 0U);
    asf_scan_words(&counts, nullptr, 0);
    expect_words(counts, asf_scan_counts{1, 2, 1});
    asf_scan_masks(nullptr, 0, 'a', 'b', &at_a, &at_b);
    EXPECT_EQ(at_a, 7U);
    EXPECT_EQ(at_b, 8U);
}

INSTANTIATE_TEST_SUITE_P(Kernels, Scan, testing::ValuesIn(kernel_names()),
                         [](const auto &kernel) { return kernel.param; });

TEST(ScanUse, AnUnknownNameChangesNothing) {
    ASSERT_EQ(asf_scan_use("scalar"), 0);
    EXPECT_EQ(asf_scan_use("nothing"), -EINVAL);
    EXPECT_EQ(asf_scan_use(""), -EINVAL);
    EXPECT_STREQ(asf_scan_kernel(), "scalar");
    EXPECT_EQ(asf_scan_use(nullptr), 0);
    EXPECT_STRNE(asf_scan_kernel(), "scalar");
}

// Returns the words that the system's wc counts in the C locale. Replaces each byte that is neither graphic
// nor white space by an x, since not every wc counts these bytes as POSIX requires.
asf_scan_counts system_words(Bytes data) {
    std::replace_if(
        data.begin(), data.end(), [](int c) { return !isgraph(c) && !isspace(c); }, 'x');
    char path[] = "/tmp/asf-scan-XXXXXX";
    int fd = mkstemp(path);
    EXPECT_EQ(write(fd, data.data(), data.size()), static_cast<ssize_t>(data.size()));
    close(fd);
    FILE *wc = popen((std::string("LC_ALL=C wc -lw <") + path).c_str(), "r");
    asf_scan_counts counts{};
    EXPECT_EQ(fscanf(wc, "%lu %lu", &counts.lines, &counts.words), 2);
    EXPECT_EQ(pclose(wc), 0);
    unlink(path);
    return counts;
}

void expect_as_wc(const Bytes &data) {
    asf_scan_counts counts{}, expected = system_words(data);
    asf_scan_words(&counts, data.data(), data.size());
    EXPECT_EQ(counts.lines, expected.lines);
    EXPECT_EQ(counts.words, expected.words);
}

TEST(ScanWords, AsWcForEveryByte) {
    for (int c = 0; c < 256; c++) {
        auto byte = static_cast<unsigned char>(c);
        SCOPED_TRACE(c);
        expect_as_wc({byte});
        expect_as_wc({'a', byte, 'a', '\n', byte, 'a', ' ', byte, ' '});
    }
}

TEST(ScanWords, AsWcForRandomData) {
    Source source(5);
    for (int round = 0; round < tests::rounds(100); round++) {
        SCOPED_TRACE(round);
        expect_as_wc(source.data(source.below(20000)));
    }
}

} // namespace
