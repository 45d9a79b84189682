// SPDX-License-Identifier: MIT
//
// scan_number_test.cpp - compares lib/text/scan_number.c with libc's strtod, strtof and strtold: the same
// bits and the same end of the number, or a refusal. Also computes the table of powers again.
#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <sys/mman.h>
#include <vector>

#include "tests/random.h"

extern "C" {
#include "lib/text/powers.h"
#include "lib/text/scan_number.h"
}

namespace {

// --- the table: natural numbers as 32-bit digits, the lowest first ---------------------

using natural = std::vector<uint32_t>;

natural times(natural n, uint32_t factor) {
    uint64_t carry = 0;
    for (uint32_t &digit : n) {
        carry += static_cast<uint64_t>(digit) * factor;
        digit = static_cast<uint32_t>(carry);
        carry >>= 32;
    }
    if (carry)
        n.push_back(static_cast<uint32_t>(carry));
    return n;
}

natural add(natural a, const natural &b, size_t shift) {
    uint64_t carry = 0;
    a.resize(std::max(a.size(), b.size() + shift) + 1);
    for (size_t i = shift; i < a.size(); i++) {
        carry += static_cast<uint64_t>(a[i]) + (i - shift < b.size() ? b[i - shift] : 0);
        a[i] = static_cast<uint32_t>(carry);
        carry >>= 32;
    }
    return a;
}

natural trimmed(natural n) {
    while (!n.empty() && n.back() == 0)
        n.pop_back();
    return n;
}

// Returns a <= b.
bool at_most(natural a, natural b) {
    a = trimmed(a);
    b = trimmed(b);
    if (a.size() != b.size())
        return a.size() < b.size();
    for (size_t i = a.size(); i-- > 0;)
        if (a[i] != b[i])
            return a[i] < b[i];
    return true;
}

natural power_of_two(size_t n) {
    natural r(n / 32 + 1);
    r.back() = 1u << n % 32;
    return r;
}

size_t bit_length(const natural &n) {
    return n.size() * 32 - static_cast<size_t>(__builtin_clz(n.back()));
}

natural product(unsigned __int128 entry, const natural &n) {
    natural r;
    for (size_t i = 0; i < 4; i++)
        r = add(r, times(n, static_cast<uint32_t>(entry >> 32 * i)), i);
    return r;
}

unsigned __int128 entry_of(int exponent) {
    const uint64_t *halves = asf__power(exponent);
    return static_cast<unsigned __int128>(halves[0]) << 64 | halves[1];
}

TEST(ScanNumber, TableOfPowers) {
    natural power = {1};
    for (int n = 0; n <= ASF__POWER_LAST; n++, power = times(power, 5)) {
        const size_t bits = bit_length(power);
        // the entry is right if entry * 2^(bits - 128) <= power < (entry + 1) * 2^(bits - 128)
        const natural scaled = product(entry_of(n), power_of_two(bits));
        const natural exact = product(static_cast<unsigned __int128>(1) << 127, times(power, 2));
        ASSERT_TRUE(at_most(scaled, exact)) << n;
        ASSERT_FALSE(at_most(product(entry_of(n) + 1, power_of_two(bits)), exact) && entry_of(n) + 1 != 0)
            << n;
        if (n >= 1) { // the entry of the reciprocal is right if power * entry <= 2^(127 + bits)
            const unsigned __int128 cut = entry_of(-n);
            ASSERT_TRUE(at_most(product(cut, power), power_of_two(127 + bits))) << -n;
            ASSERT_FALSE(at_most(product(cut + 1, power), power_of_two(127 + bits))) << -n;
        }
    }
}

// --- values --------------------------------------------------------------------------------

const unsigned char *scan(const std::string &text, asf_decimal &number, int point = '.') {
    const auto *p = reinterpret_cast<const unsigned char *>(text.data());
    return asf__scan_decimal(p, p + text.size(), point, &number);
}

size_t length_of(const std::string &text) {
    asf_decimal number;
    const unsigned char *end = scan(text, number);
    return end ? static_cast<size_t>(end - reinterpret_cast<const unsigned char *>(text.data()))
               : std::string::npos;
}

struct counts {
    unsigned long values = 0, refused = 0;
};

template <class Value, class Convert, class Reference>
void compare(const std::string &text, const asf_decimal &number, size_t size, const Convert &convert,
             const Reference &reference, counts &c) {
    Value ours, libcs = reference(text.c_str(), nullptr);
    c.values++;
    if (!convert(&number, &ours))
        c.refused++;
    else
        ASSERT_EQ(memcmp(&ours, &libcs, size), 0) << text;
}

void check(const std::string &text, counts &c) {
    asf_decimal number;
    char *end;
    const unsigned char *ours = scan(text, number);
    if (!ours) {
        c.refused++;
        return;
    }
    (void)strtod(text.c_str(), &end);
    ASSERT_EQ(reinterpret_cast<const char *>(ours), text.data() + (end - text.c_str())) << text;
    const std::string token(text, 0, static_cast<size_t>(end - text.c_str()));
    compare<double>(token, number, 8, asf__decimal_double, strtod, c);
    compare<float>(token, number, 4, asf__decimal_float, strtof, c);
    compare<long double>(token, number, 10, asf__decimal_long_double, strtold, c);
}

struct generator {
    std::mt19937_64 source{20250611};
    uint64_t below(uint64_t n) { return source() % n; }

    std::string text() {
        char line[400];
        uint64_t bits = source();
        double value;
        memcpy(&value, &bits, sizeof value);
        switch (below(5)) {
        case 0:
            snprintf(line, sizeof line, "%.*e", static_cast<int>(below(22)), value);
            break;
        case 1:
            snprintf(line, sizeof line, "%.*f", static_cast<int>(below(9)),
                     static_cast<double>(below(1000000000)) / 1e4);
            break;
        case 2: // halfway between two doubles, or next to it
            bits = (UINT64_C(1) << 53) + (source() >> 12);
            snprintf(line, sizeof line, "%lu%s", 2 * bits + below(3), below(2) ? "" : "0000");
            break;
        case 3:
            snprintf(line, sizeof line, "%lu%lue%d", source(), source(), static_cast<int>(below(700)) - 400);
            break;
        default: {
            std::string odd;
            for (uint64_t n = 1 + below(12); n > 0; n--)
                odd += "0123456789012345...eE+-x "[below(25)];
            return odd;
        }
        }
        return line;
    }
};

TEST(ScanNumber, ValuesAsLibcConvertsThem) {
    generator random;
    counts c;
    for (int i = 0; i < tests::rounds(400000) && !HasFatalFailure(); i++)
        check(random.text(), c);
    EXPECT_GT(c.values, static_cast<unsigned long>(tests::rounds(700000)));
    EXPECT_LT(c.refused * 2, c.values);
}

TEST(ScanNumber, EveryPowerOfTen) {
    counts c;
    for (int exponent = -330; exponent <= 310 && !HasFatalFailure(); exponent++)
        for (const char *digits :
             {"1", "9007199254740993", "9999999999999999999", "4.9", "2.2250738585072014"})
            check(digits + ("e" + std::to_string(exponent)), c);
    EXPECT_GT(c.values, 9000u);
}

TEST(ScanNumber, WhereANumberEnds) {
    EXPECT_EQ(length_of("12.5e3,"), 6u);
    EXPECT_EQ(length_of("-1.x"), 3u);
    EXPECT_EQ(length_of("1.2.3"), 3u);
    EXPECT_EQ(length_of("12x"), 2u);
    EXPECT_EQ(length_of(std::string(5000, '7')), 5000u);
    for (const char *refused : {"", "-", ".", "e5", "1e", "1e+", "0x1p3", "0X", "inf", "nan", " 1"})
        EXPECT_EQ(length_of(refused), std::string::npos) << refused;
}

// --- many -----------------------------------------------------------------------------------

// Text between two unreadable pages, at the beginning or at the end of its own page.
class Guarded {
  public:
    Guarded(const std::string &text, bool at_end) : length((text.size() + page - 1) / page * page) {
        all = static_cast<char *>(
            mmap(nullptr, length + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        // qemu rejects a length of 0
        EXPECT_TRUE(length == 0 || mprotect(all + page, length, PROT_READ | PROT_WRITE) == 0);
        begin = all + page + (at_end ? length - text.size() : 0);
        memcpy(begin, text.data(), text.size());
    }
    ~Guarded() { munmap(all, length + 2 * page); }
    Guarded(const Guarded &) = delete;
    Guarded &operator=(const Guarded &) = delete;

    char *begin;

  private:
    static constexpr size_t page = 65536; // a multiple of every processor's page size
    size_t length;
    char *all;
};

std::string usual_number(generator &random) {
    char line[64];
    const double value = static_cast<double>(random.source()) / 3e9;
    switch (random.below(8)) {
    case 0:
        snprintf(line, sizeof line, "%d", static_cast<int>(random.below(2000)) - 1000);
        break;
    case 1:
        snprintf(line, sizeof line, "%.17g", -value);
        break;
    case 2: // up to twenty digits, with the point at any position, even first or last
        snprintf(line, sizeof line, "%.*s.%.*s", static_cast<int>(random.below(12)), "098765432101",
                 static_cast<int>(random.below(12)), "918273645004");
        break;
    case 3:
        snprintf(line, sizeof line, "%s%lu", random.below(2) ? "-" : "", random.source());
        break;
    case 4:
        snprintf(line, sizeof line, "%+.3f", value);
        break;
    case 5:
        snprintf(line, sizeof line, "0.%0*lu", static_cast<int>(1 + random.below(24)), random.below(100000));
        break;
    case 6:
        return random.text();
    default:
        snprintf(line, sizeof line, "%.*f", static_cast<int>(random.below(10)), value - 1e9);
    }
    return line;
}

// Compares all numbers up to the first one that is refused, or that strtod does not read as a whole word.
void check_many(const char *begin, size_t size, unsigned long &converted) {
    const auto *first = reinterpret_cast<const unsigned char *>(begin), *p = first;
    std::vector<double> values(64, 0.5);
    const size_t n = asf__scan_doubles(&p, first + size, values.data(), values.size());
    const std::string text(begin, size);
    const char *at = text.c_str();
    for (size_t i = 0; i < n; i++) {
        char *end;
        const double value = strtod(at, &end);
        ASSERT_EQ(memcmp(&value, &values[i], sizeof value), 0) << i << " of '" << text << "'";
        at = end;
    }
    ASSERT_EQ(at - text.c_str(), p - first) << text;
    converted += n;
}

TEST(ScanNumber, ManyAsLibcConvertsThem) {
    generator random;
    unsigned long converted = 0;
    for (int i = 0; i < tests::rounds(40000) && !HasFatalFailure(); i++) {
        std::string text;
        for (uint64_t n = random.below(40); n > 0; n--)
            text += usual_number(random) +
                    std::string(1 + (random.below(8) ? 0 : random.below(8)), " \n\t "[random.below(4)]);
        text.resize(text.size() - (random.below(4) ? 0 : std::min<size_t>(random.below(9), text.size())));
        const Guarded at_end(text, true), at_begin(text, false);
        check_many(at_end.begin, text.size(), converted);
        check_many(at_begin.begin, text.size(), converted);
    }
    EXPECT_GT(converted, static_cast<unsigned long>(tests::rounds(300000)));
}

TEST(ScanNumber, EveryLengthOfUsualNumbers) {
    unsigned long converted = 0;
    const std::string digits = "12345678909876543210", before(40, ' ');
    for (size_t length = 1; length <= 20 && !HasFatalFailure(); length++)
        for (size_t point = 0; point <= length + 1; point++)
            for (const char *sign : {"", "-", "+"}) {
                std::string number = digits.substr(0, length);
                if (point <= length)
                    number.insert(point, ".");
                const std::string text = before + sign + number + '\n' + std::string(40, ' ');
                check_many(text.data(), text.size(), converted);
            }
    EXPECT_EQ(converted, 3u * (20 * 2 + 20 * 21 / 2));
}

TEST(ScanNumber, TheDecimalPointIsTheLocales) {
    asf_decimal number;
    double value;
    ASSERT_NE(scan("2,5", number, ','), nullptr);
    ASSERT_TRUE(asf__decimal_double(&number, &value));
    EXPECT_EQ(value, 2.5);
}

TEST(ScanNumber, OtherRoundingModesAreRefused) {
    asf_decimal number;
    double value;
    ASSERT_NE(scan("0.1", number), nullptr);
    fesetround(FE_UPWARD);
    EXPECT_FALSE(asf__decimal_double(&number, &value));
    fesetround(FE_TONEAREST);
    EXPECT_TRUE(asf__decimal_double(&number, &value));
}

} // namespace
