// SPDX-License-Identifier: MIT
//
// format_test.cpp - lib/format.c against libc's snprintf: the same bytes and
// length for random values under random specifications, or a refusal.
#include <gtest/gtest.h>

#include <cfenv>
#include <clocale>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>

extern "C" {
#include "lib/format.h"
}

namespace {

long format(char *to, size_t room, const char *text, ...) {
    va_list ap;
    va_start(ap, text);
    long n = asf__format(to, room, text, ap);
    va_end(ap);
    return n;
}

template <typename... Values> void expect_same(bool must, const std::string &text, Values... values) {
    char ours[2500], libcs[2500];
    long n = format(ours, sizeof ours, text.c_str(), values...);
    if (n < 0) {
        EXPECT_FALSE(must) << "refused: " << text;
        return;
    }
    int m = snprintf(libcs, sizeof libcs, text.c_str(), values...);
    ASSERT_EQ(std::string(ours, static_cast<size_t>(n)), std::string(libcs, static_cast<size_t>(m))) << text;
}

struct Random {
    std::mt19937_64 source{20240611};

    size_t below(size_t n) { return source() % n; }

    std::string specification(const char *letters) {
        static const char *const flags[] = {"", "", "-", "0", "+", " ", "#", "-0", "+0", "-+ "};
        static const char *const widths[] = {"", "", "1", "7", "15", "40"};
        static const char *const precisions[] = {"", "", ".", ".0", ".2", ".9", ".17"};
        return std::string("<%") + flags[below(10)] + widths[below(6)] + precisions[below(7)] + letters + ">";
    }
};

TEST(Format, IntegersAsLibcPrintsThem) {
    Random random;
    static const char *const letters[] = {"ld", "lu",  "lx", "lX", "lo", "d",  "u",
                                          "x",  "hhd", "hu", "zu", "jd", "lli"};
    for (int i = 0; i < 400000; i++) {
        long value = static_cast<long>(random.source() >> random.below(64));
        expect_same(true, random.specification(letters[random.below(13)]), i % 2 ? value : -value);
    }
}

TEST(Format, StringsAndCharactersAsLibcPrintsThem) {
    Random random;
    static const char *const texts[] = {"", "a", "some text", "a longer text than the others, by far",
                                        nullptr};
    for (int i = 0; i < 100000; i++) {
        expect_same(true, random.specification("s"), texts[random.below(5)]);
        expect_same(true, random.specification("c"), static_cast<int>(random.below(256)));
    }
    expect_same(true, "%% %*d|%-*.*s|%.*d%%", 5, 3, 8, 2, "text", -1, 7);
}

TEST(Format, FixedPointAsLibcPrintsIt) {
    Random random;
    for (int i = 0; i < 1000000; i++) {
        uint64_t bits = random.source();
        double value = static_cast<double>(static_cast<int64_t>(bits) >> random.below(64));
        if (i % 3 == 0)
            memcpy(&value, &bits, sizeof value);
        else
            value /= i % 3 == 1 ? 1000 : 64; // the second kind has exact halves
        expect_same(false, random.specification("f"), value);
    }
    for (double value : {0.0, -0.0, 0.5, 1.5, 2.5, 0.125, 1e12, 123456.789, -0.001, 5e-324})
        expect_same(true, "%.2f %f %8.0f", value, value, value);
}

TEST(Format, WhatDependsOnMoreIsRefused) {
    char room[64];
    for (const char *text :
         {"%n", "%1$d", "%'d", "%e", "%g", "%Lf", "%ls", "%lc", "%m", "%p", "%2000d", "%a", "%"})
        EXPECT_EQ(format(room, sizeof room, text, 1, 1), -1) << text;
    EXPECT_EQ(format(room, 4, "12345"), -1);
    EXPECT_EQ(format(room, 4, "%d", 12345), -1);
}

TEST(Format, AnotherRoundingModeIsRefused) {
    char room[64];
    fesetround(FE_UPWARD);
    EXPECT_EQ(format(room, sizeof room, "%.1f", 0.25), -1);
    fesetround(FE_TONEAREST);
    EXPECT_EQ(format(room, sizeof room, "%.1f", 0.25), 3);
}

} // namespace
