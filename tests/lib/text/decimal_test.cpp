// SPDX-License-Identifier: MIT
//
// decimal_test.cpp - doubles as text: written digits are those of std::to_chars, the shortest that read back
// as the same double. Reading gives strtod's result.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "tests/random.h"

extern "C" {
#include "lib/text/decimal.h"
}

namespace {

double double_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

std::string put(double value) {
    char text[ASF_DECIMAL];
    const size_t n = asf__put_double(text, value);
    EXPECT_EQ(strlen(text), n);
    return text;
}

// Splits a number: "-12.5e+3" becomes "-", "125" and 4: the digits without outer zeros and without a point,
// and the exponent of the first digit.
std::string normal(const std::string &text) {
    const size_t e = text.find('e');
    std::string digits;
    int exponent = e == std::string::npos ? 0 : atoi(text.c_str() + e + 1), point = -1;
    const std::string mantissa = text.substr(0, e);
    for (const char c : mantissa) {
        if (c == '.')
            point = static_cast<int>(digits.size());
        else if (c != '-')
            digits += c;
    }
    exponent += point < 0 ? static_cast<int>(digits.size()) : point;
    const size_t zeros = std::min(digits.find_first_not_of('0'), digits.size());
    digits.erase(0, zeros);
    exponent -= static_cast<int>(zeros);
    while (!digits.empty() && digits.back() == '0')
        digits.pop_back();
    return (text[0] == '-' ? "-" : "") + digits + "e" + (digits.empty() ? "0" : std::to_string(exponent));
}

void expect_shortest(double value) {
    char best[64];
    *std::to_chars(best, best + sizeof best, value, std::chars_format::scientific).ptr = '\0';
    const std::string text = put(value);
    ASSERT_EQ(normal(text), normal(best)) << text << " and " << best;
    double again = 0;
    ASSERT_EQ(asf__get_double(text.c_str(), text.size(), &again), 0) << text;
    ASSERT_EQ(bits_of(again), bits_of(value)) << text;
    ASSERT_EQ(bits_of(strtod(text.c_str(), nullptr)), bits_of(value)) << text;
}

TEST(Decimal, OfAnyBits) {
    std::mt19937_64 random(11);
    for (int i = 0; i < tests::rounds(400000) && !testing::Test::HasFailure(); i++) {
        const double value = double_of(random());
        if (std::isfinite(value))
            expect_shortest(value);
    }
}

TEST(Decimal, AtEveryPowerOfTwoAndTen) {
    for (int e = -1074; e < 1024 && !testing::Test::HasFailure(); e++)
        for (const double value : {std::ldexp(1.0, e), std::ldexp(1.5, e), std::ldexp(-1.0, e)})
            for (const double near : {value, std::nextafter(value, 0.0), std::nextafter(value, INFINITY)})
                if (std::isfinite(near))
                    expect_shortest(near);
    for (int e = -323; e <= 308 && !testing::Test::HasFailure(); e++)
        for (int digit = 1; digit < 10; digit++) {
            const double value = strtod((std::to_string(digit) + "e" + std::to_string(e)).c_str(), nullptr);
            for (const double near : {value, std::nextafter(value, 0.0), std::nextafter(value, INFINITY)})
                if (std::isfinite(near))
                    expect_shortest(near);
        }
}

TEST(Decimal, OfFewDigits) {
    std::mt19937_64 random(12);
    for (int i = 0; i < tests::rounds(200000) && !testing::Test::HasFailure(); i++) {
        const double whole = static_cast<double>(random() >> random() % 64);
        expect_shortest(whole);
        expect_shortest(whole / 1000);
        expect_shortest(static_cast<double>(random() % 100000) / 1e4);
        expect_shortest(static_cast<double>(static_cast<float>(whole) * 1e-30F));
    }
}

TEST(Decimal, LaidOutAsPercentG) {
    EXPECT_EQ(put(0), "0");
    EXPECT_EQ(put(-0.0), "-0");
    EXPECT_EQ(put(-17), "-17");
    EXPECT_EQ(put(0.1), "0.1");
    EXPECT_EQ(put(1234.5), "1234.5");
    EXPECT_EQ(put(0.0001), "0.0001");
    EXPECT_EQ(put(0.00001), "1e-05");
    EXPECT_EQ(put(1.25e-7), "1.25e-07");
    EXPECT_EQ(put(1e15), "1000000000000000");
    EXPECT_EQ(put(12345678901234568), "12345678901234568");
    EXPECT_EQ(put(1e17), "1e+17");
    EXPECT_EQ(put(-1.5e300), "-1.5e+300");
    EXPECT_EQ(put(5e-324), "5e-324");
    EXPECT_EQ(put(INFINITY), "inf");
    EXPECT_EQ(put(-INFINITY), "-inf");
    EXPECT_EQ(put(NAN), "nan");
    EXPECT_EQ(put(-NAN), "-nan");
    EXPECT_EQ(put(double_of(0xfff8000000000123)), "-nan(0x123)");
    EXPECT_EQ(put(double_of(0x7ff0000000000001)), "nan(0x1)") << "signalling; read back it is quiet";
    char text[ASF_DECIMAL];
    EXPECT_LT(asf__put_double(text, -std::numeric_limits<double>::denorm_min() * 123456789), sizeof text);
}

TEST(Decimal, NaNsHaveTheirSignAndPayload) {
    const auto get = [](const std::string &word) {
        double value = 0;
        EXPECT_EQ(asf__get_double(word.c_str(), word.size(), &value), 0) << word;
        return bits_of(value);
    };
    for (const uint64_t bits : {UINT64_C(0x7ff8000000000000), UINT64_C(0xfff8000000000000),
                                UINT64_C(0x7ff8000000001234), UINT64_MAX})
        EXPECT_EQ(get(put(double_of(bits))), bits);
#ifdef __GLIBC__ // musl's strtod ignores a NaN's sign and payload
    for (const char *word : {"nan", "-NaN", "+nan(18)", "nan(0x12)", "-NAN(022)", "nan()", "nan(1x)",
                             "nan(x)", "nan(0xfffffffffffffffff)"})
        EXPECT_EQ(get(word), bits_of(strtod(word, nullptr))) << word;
#endif
}

TEST(Decimal, ReadsWhatStrtodReads) {
    const auto get = [](const std::string &word) {
        double value = -1;
        const int rc = asf__get_double(word.c_str(), word.size(), &value);
        return rc ? rc : static_cast<int>(value);
    };
    for (const char *good :
         {"12", "+12", "12.", "012", "1.2e1", "120e-1", "0xc", "0X1.8p3", "12.0000000000000000000000001"})
        EXPECT_EQ(get(good), 12) << good;
    for (const char *bad :
         {"", "+", "-", ".", "e1", "1e", "1e+", "0x", "1x", "1 ", " 1", "1,5", "--1", "nanny", "infi"})
        EXPECT_EQ(get(bad), -EBADMSG) << bad;
    EXPECT_EQ(get("1e309"), -ERANGE);
    EXPECT_EQ(get("-1" + std::string(400, '0')), -ERANGE);
    EXPECT_EQ(get("1e-400"), 0);
    EXPECT_EQ(get("0." + std::string(1000, '0') + "12e1002"), 12);
    std::mt19937_64 random(13);
    for (int i = 0; i < tests::rounds(200000); i++) {
        const std::string word = std::to_string(random() >> random() % 60) + "." +
                                 std::to_string(random() >> random() % 60) + "e" +
                                 std::to_string(static_cast<int>(random() % 700) - 350);
        const double wanted = strtod(word.c_str(), nullptr);
        double value = -1;
        const int rc = asf__get_double(word.c_str(), word.size(), &value);
        ASSERT_EQ(rc, std::isinf(wanted) ? -ERANGE : 0) << word;
        ASSERT_EQ(bits_of(value), bits_of(wanted)) << word;
    }
}

} // namespace
