// SPDX-License-Identifier: MIT
//
// format_test.cpp - compares lib/text/format.c with libc's snprintf: the bytes and length for random values
// and specifications, output longer than the buffer, and the point from which a format is left to libc.
#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <clocale>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>

#include "tests/random.h"

extern "C" {
#include "lib/text/format.h"
#include "lib/text/of_libc.h"
}

namespace {

// The point from which a format is left to libc, and the next argument.
struct Left {
    const char *format = nullptr;
    int next = 0;
};

asf__output output(char *to, size_t room) {
    asf__output o = {};
    o.p = o.begin = to;
    o.end = to + room;
    return o;
}

size_t format(Left *left, char *to, size_t room, const char *text, ...) {
    va_list ap;
    va_start(ap, text);
    asf__output o = output(to, room);
    const char *rest = asf__format(&o, text, ASF_ARGUMENTS(ap));
    *left = {rest, rest ? va_arg(ap, int) : 0};
    va_end(ap);
    return asf__made(&o);
}

template <typename... Values> void expect_same(const std::string &text, Values... values) {
    char ours[2500], libcs[2500];
    Left left;
    const size_t n = format(&left, ours, sizeof ours, text.c_str(), values...);
    ASSERT_EQ(left.format, nullptr) << "left: " << text;
    const int m = snprintf(libcs, sizeof libcs, text.c_str(), values...);
    ASSERT_EQ(std::string(ours, n), std::string(libcs, static_cast<size_t>(m))) << text;
}

// Reduces a value to the 64 bits that a long double of x86-64 has. The formatter leaves longer ones to libc.
long double with_64_bits(long double value) {
    int exponent;
    const long double mantissa = std::frexp(value, &exponent);
    return std::ldexp(std::trunc(std::ldexp(mantissa, 64)), exponent - 64);
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
    for (int i = 0; i < tests::rounds(400000); i++) {
        long value = static_cast<long>(random.source() >> random.below(64));
        expect_same(random.specification(letters[random.below(13)]), i % 2 ? value : -value);
    }
}

TEST(Format, StringsAndCharactersAsLibcPrintsThem) {
    Random random;
    static const char *const texts[] = {"", "a", "some text", "a longer text than the others, by far",
                                        nullptr};
    for (int i = 0; i < tests::rounds(100000); i++) {
        expect_same(random.specification("s"), texts[random.below(5)]);
        expect_same(random.specification("c"), static_cast<int>(random.below(256)));
    }
    expect_same("%% %*d|%-*.*s|%.*d%%", 5, 3, 8, 2, "text", -1, 7);
}

TEST(Format, FixedPointAsLibcPrintsIt) {
    Random random;
    for (int i = 0; i < tests::rounds(1000000); i++) {
        uint64_t bits = random.source();
        double value = static_cast<double>(static_cast<int64_t>(bits) >> random.below(64));
        if (i % 3 == 0)
            memcpy(&value, &bits, sizeof value);
        else
            value /= i % 3 == 1 ? 1000 : 64; // dividing by 64 gives exact halves
        expect_same(random.specification("f"), value);
    }
    for (double value : {0.0, -0.0, 0.5, 1.5, 2.5, 0.125, 1e12, 123456.789, -0.001, 5e-324})
        expect_same("%.2f %f %8.0f", value, value, value);
}

TEST(Format, SignificantDigitsAsLibcPrintsThem) {
    Random random;
    static const char *const letters[] = {"e", "g", "E", "G", "a", "A"};
    for (int i = 0; i < tests::rounds(300000); i++) {
        const uint64_t bits = random.source();
        double value = static_cast<double>(static_cast<int64_t>(bits) >> random.below(64));
        if (i % 3 == 0)
            memcpy(&value, &bits, sizeof value);
        else
            value /= i % 3 == 1 ? 1000 : 64;
        const char *letter = letters[random.below(6)];
        if (ASF__SCALES_BY_EXPONENT || std::fpclassify(value) != FP_SUBNORMAL)
            expect_same(random.specification(letter), value);
        expect_same(random.specification("Lg"), with_64_bits(static_cast<long double>(value) / 3));
    }
    for (const double value : {999999.5, 99999.95, 1e6, 9.5, 0.00001, 1e300, 5e-324})
        expect_same("%#g %g %#.0e %.0e %.40g %.400f", value, value, value, value, value, value);
}

// For any buffer size, the beginning of the text and the returned length are the same.
TEST(Format, WhatDoesNotFitIsCounted) {
    for (size_t room = 0; room < 60; room++) {
        char ours[100], libcs[101];
        memset(ours, '~', sizeof ours);
        Left left;
        const char *text = "%s|%5d|%-8x|%08.3f|%e|%c%%end, and more text than sixteen";
        const size_t n = format(&left, ours, room, text, "text", -12, 255u, 2.5, 1e10, 'c');
        const int m = snprintf(libcs, room + 1, text, "text", -12, 255u, 2.5, 1e10, 'c');
        EXPECT_EQ(n, static_cast<size_t>(m));
        EXPECT_EQ(std::string(ours, room), std::string(libcs));
        EXPECT_EQ(ours[room], '~');
    }
}

// Output in chunks that did not fit, with the text that preceded each.
struct Pieces {
    asf__output o = {};
    char room[24];
    std::string all;
    size_t largest = 0, allowed = SIZE_MAX;
};

bool take(asf__output *o, const char *text, size_t n) {
    auto *pieces = reinterpret_cast<Pieces *>(o);
    pieces->all += std::string(pieces->room, o->p) + std::string(text, n);
    pieces->largest = std::max(pieces->largest, n);
    o->p = pieces->room;
    return pieces->all.size() <= pieces->allowed;
}

const char *format_in_pieces(Pieces *pieces, size_t room, const char *text, ...) {
    va_list ap;
    va_start(ap, text);
    pieces->o = output(pieces->room, room);
    pieces->o.full = take;
    pieces->o.counts = true;
    const char *rest = asf__format(&pieces->o, text, ASF_ARGUMENTS(ap));
    va_end(ap);
    pieces->all += std::string(pieces->room, pieces->o.p);
    return rest;
}

TEST(Format, WhatDoesNotFitIsHandedOver) {
    for (size_t room = 0; room <= sizeof Pieces::room; room++) {
        char libcs[200];
        Pieces pieces;
        const char *text = "%s|%5d|%-38x|%08.3f|%e|%c%%end, and more text than sixteen|%30ls|%ld";
        EXPECT_EQ(format_in_pieces(&pieces, room, text, "text", -12, 255u, 2.5, 1e10, 'c', L"wide", 1L),
                  nullptr);
        const int n = snprintf(libcs, sizeof libcs, text, "text", -12, 255u, 2.5, 1e10, 'c', L"wide", 1L);
        EXPECT_EQ(pieces.all, libcs);
        EXPECT_EQ(asf__made(&pieces.o), static_cast<size_t>(n));
        EXPECT_EQ(pieces.largest,
                  ASF__PUTS_GROUPS ? 38 - strlen("ff") : strlen("end, and more text than sixteen|"));
        EXPECT_FALSE(pieces.o.failed);
    }
}

TEST(Format, AnErrorEndsIt) {
    Pieces pieces;
    pieces.allowed = 20;
    EXPECT_EQ(format_in_pieces(&pieces, 8, "%s%d%s%d%#m", "0123456789", 1, "0123456789", 22), nullptr);
    EXPECT_TRUE(pieces.o.failed);
    EXPECT_EQ(pieces.all, "012345678910123456789");
    EXPECT_EQ(asf__made(&pieces.o), 10U);
}

// The decision is made before any chunk is passed on, so that libc can start with the first argument.
TEST(Format, WhatCountsIsMadeInTheRoomOrLeft) {
    for (const char *text : {"%d-%d-%n", "%2$d-%1$d-"}) {
        Pieces fits, large;
        int n = 0;
        EXPECT_EQ(format_in_pieces(&fits, 24, text, 17, 42, &n), nullptr);
        EXPECT_EQ(fits.all.size(), 6U);
        EXPECT_EQ(format_in_pieces(&large, 5, text, 17, 42, &n), text);
        EXPECT_EQ(large.all, "");
    }
}

// Not compared with libc, which would take seconds.
TEST(Format, MoreThanAnIntCounts) {
    char room[8];
    Left left;
    EXPECT_EQ(format(&left, room, sizeof room, "%2147483600d%2000000000s|%.2000000000f", 1, "", 0.5),
              2147483600UL + 2000000000 + 1 + 2000000002);
    EXPECT_EQ(left.format, nullptr);
}

TEST(Format, WhatIsLeftToLibc) {
    char room[64];
    for (const char *rest : {"%La", "%I5d", "%", "%5", "%y", "%#m", "%99999999999d", "%hf"}) {
        Left left;
        const std::string text = std::string("<%d>") + rest;
        EXPECT_EQ(format(&left, room, sizeof room, text.c_str(), 17, 42), 4U) << text;
        EXPECT_EQ(left.format, text.c_str() + 4) << text;
        EXPECT_EQ(left.next, 42) << text;
    }
}

TEST(Format, WideTextAsLibcPrintsIt) {
    const wchar_t lone[] = {L'a', 0xd800, 0}, beyond[] = {0x110000, 0};
    ASSERT_NE(setlocale(LC_ALL, "C.UTF-8"), nullptr);
    for (const wchar_t *text : {L"", L"wide", L"caf\u00e9 \u20ac \U0001f600 \U0010ffff"})
        for (const char *format :
             {"%ls|", "%20ls|", "%-20ls|", "%S|", "%.0ls|", "%.4ls|", "%.7ls|", "%9.5ls|"})
            expect_same(format, text);
    for (const wint_t ch : {L'w', L'\0', L'\u00e9', L'\u20ac', L'\U0001f600'})
        for (const char *format : {"%lc|", "%5lc|", "%-5lc|", "%C|"})
            if (ASF__PADS_WIDE || ch != 0)
                expect_same(format, ch);
    const auto is_left = [](size_t room, const char *format_text, auto value) {
        char to[64];
        Left left;
        format(&left, to, room, format_text, value);
        return left.format == format_text;
    };
    for (const wchar_t *text : {lone, beyond})
        EXPECT_TRUE(is_left(64, "%ls", text));
    EXPECT_TRUE(is_left(64, "%lc", 0xd800));
    EXPECT_TRUE(is_left(64, "%ls", std::wstring(5000, L'w').c_str()));
    setlocale(LC_ALL, "C");
    expect_same("%ls|%lc", L"wide", static_cast<wint_t>(L'w'));
    EXPECT_TRUE(is_left(64, "%lc", L'\u00e9'));
}

// Formats with %n or numbered arguments are left to libc from the beginning.
TEST(Format, AllIsLeftToLibc) {
    char room[64];
    for (const char *text :
         {"<%d>%n", "<%d>%hhn", "<%d>%2$d", "<%d>%*3$d", "<%d>%I5d%n", "<%d>%I5d%3$d", "%1$d%3$d", "%2$d",
          "%1$*2$d", "%10$d", "%1$I5d", "%1$d%d", "%1$d%1$f", "%1$n"}) {
        Left left;
        EXPECT_EQ(format(&left, room, sizeof room, text, 17, 42), 0U) << text;
        EXPECT_EQ(left.format, text);
        EXPECT_EQ(left.next, 17) << text;
    }
}

TEST(Format, NumberedArguments) {
    expect_same("%1$d", 1);
    expect_same("%2$s: %1$5d%% %3$.3f|%1$x", 42, "text", 2.5);
    expect_same("%4$Lg %3$s %2$g %1$c", 'x', 0.1, "text", 1.25L);
    expect_same("%9$d%8$d%7$d%6$d%5$d%4$d%3$d%2$d%1$d", 1, 2, 3, 4, 5, 6, 7, 8, 9);
    expect_same("%8$g%7$g%6$g%5$g%4$g%3$g%2$g%1$g%9$g", 1., 2., 3., 4., 5., 6., 7., 8., 9.);
    expect_same("%2$-9s|%1$ld|%2$s", 1L << 60, "twice");
}

TEST(Format, CountsWhereTheCallerAllowsIt) {
    char room[32];
    int whole = -1;
    short half = -1;
    const auto counted = [&](bool counts, const char *text, ...) {
        asf__output o = output(room, sizeof room);
        o.counts = counts;
        va_list ap;
        va_start(ap, text);
        const char *rest = asf__format(&o, text, ASF_ARGUMENTS(ap));
        va_end(ap);
        return rest == nullptr;
    };
    EXPECT_TRUE(counted(true, "%s%n, %d%hn", "within the room", &whole, 12, &half));
    EXPECT_EQ(whole, 15);
    EXPECT_EQ(half, 19);
    whole = half = -1;
    EXPECT_FALSE(counted(false, "%s%n, %d%hn", "within the room", &whole, 12, &half));
    EXPECT_EQ(whole, -1);
    EXPECT_FALSE(counted(true, "%s%n, %d%hn", "longer than the room, which ends here", &whole, 12, &half));
    EXPECT_EQ(whole, -1) << "libc's, where the output may fail before it";
    EXPECT_EQ(half, -1);
}

TEST(Format, AnotherRoundingModeIsLeftToLibc) {
    char room[64];
    Left left;
    fesetround(FE_UPWARD);
    EXPECT_EQ(format(&left, room, sizeof room, "%.1f", 0.25), 0U);
    EXPECT_NE(left.format, nullptr);
    fesetround(FE_TONEAREST);
    EXPECT_EQ(format(&left, room, sizeof room, "%.1f", 0.25), 3U);
    EXPECT_EQ(left.format, nullptr);
}

} // namespace
