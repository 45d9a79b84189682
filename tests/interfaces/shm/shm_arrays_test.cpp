// SPDX-License-Identifier: MIT
//
// shm_arrays_test.cpp - arrays in text, and in segments that the text names: both ways give the same doubles,
// to the bit. Built with libc's stdio and with asf's.
#include <cfloat>
#include <clocale>
#include <cmath>
#include <limits>
#include <random>

#include "shm_test.h"

namespace shm {
namespace {

uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

double double_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

class Arrays : public testing::Test {
  protected:
    // Returns a stream that contains this text.
    static FILE *stream_of(const std::string &text) {
        FILE *f = tmpfile();
        fputs(text.c_str(), f);
        rewind(f);
        return f;
    }

    static std::string rest_of(FILE *f) {
        std::string text;
        for (int c; (c = getc(f)) != EOF;)
            text += static_cast<char>(c);
        return text;
    }

    static std::string written(const std::vector<double> &values, const char *name = nullptr) {
        FILE *f = tmpfile();
        EXPECT_EQ(asf_shm_write_doubles(f, values.data(), values.size(), name), 0) << asf_shm_why();
        rewind(f);
        const std::string text = rest_of(f);
        fclose(f);
        return text;
    }

    // The array read from a text, and the rest of the text.
    struct Result {
        int error = 0;
        std::vector<double> values;
        std::string rest;
    };

    static Result reading(const std::string &text, size_t wanted = 0) {
        FILE *f = stream_of(text);
        Result r;
        size_t count = wanted;
        errno = 0;
        const double *array = asf_shm_read_doubles(f, &count);
        r.error = array ? 0 : errno;
        if (array)
            r.values.assign(array, array + count);
        EXPECT_EQ(array ? asf_shm_free_doubles(array) : 0, 0);
        r.rest = rest_of(f);
        fclose(f);
        return r;
    }

    static void expect_same(const std::vector<double> &got, const std::vector<double> &wanted) {
        ASSERT_EQ(got.size(), wanted.size());
        for (size_t i = 0; i < got.size(); i++)
            ASSERT_EQ(bits_of(got[i]), bits_of(wanted[i])) << i << ": " << got[i] << ", not " << wanted[i];
    }

    // Returns the label in "shmids LABEL\n".
    static std::string label_in(const std::string &text) {
        EXPECT_EQ(text.substr(0, 7), "shmids ") << text;
        EXPECT_EQ(text.back(), '\n');
        return text.substr(7, text.size() - 8);
    }

    static std::vector<double> unusual() {
        using limits = std::numeric_limits<double>;
        std::vector<double> v = {0.0,
                                 -0.0,
                                 1,
                                 -1,
                                 0.1,
                                 -0.1,
                                 1.0 / 3,
                                 1e15,
                                 1e15 - 1,
                                 -1e15,
                                 1e16,
                                 1e22,
                                 1e23,
                                 1e-5,
                                 123456.789,
                                 9007199254740992.0,
                                 9007199254740993.0,
                                 9223372036854775808.0,
                                 5e-324,
                                 -5e-324,
                                 limits::max(),
                                 limits::min(),
                                 limits::denorm_min() * 3,
                                 limits::epsilon(),
                                 2.2250738585072011e-308,
                                 9.5367431640625e-7,
                                 8.41e21,
                                 2.0919495182368195e+19,
                                 limits::infinity(),
                                 -limits::infinity(),
                                 limits::quiet_NaN(),
                                 -limits::quiet_NaN(),
                                 double_of(0x7ff8000000001234),
                                 double_of(0xfff8000000000001)};
        for (int e = -1074; e < 1024; e++) { // powers of two: the distances to the two neighbours differ
            v.push_back(std::ldexp(1.0, e));
            v.push_back(std::nextafter(v.back(), 0.0));
        }
        return v;
    }
};

TEST_F(Arrays, TextIsReadBackExactly) {
    expect_same(reading(written(unusual())).values, unusual());
    std::mt19937_64 random(3);
    std::vector<double> any(100000);
    for (double &value : any)
        do
            value = double_of(random());
        while (std::isnan(value));
    expect_same(reading(written(any)).values, any);
    for (double &value : any)
        value = std::round(static_cast<double>(random() % 2000000) - 1e6) / 1000;
    expect_same(reading(written(any)).values, any);
}

// strtod reads the text as the same value, and no shorter text gives this value.
TEST_F(Arrays, TextIsTheShortest) {
    for (const double value : unusual()) {
        std::string text = written({value});
        text.pop_back();
#ifndef __GLIBC__ // musl's strtod ignores a NaN's sign and payload
        if (std::isnan(value))
            continue;
#endif
        EXPECT_EQ(bits_of(strtod(text.c_str(), nullptr)), bits_of(value)) << text;
        for (int digits = 1; digits <= 17 && std::isfinite(value); digits++) {
            char shorter[64];
            snprintf(shorter, sizeof shorter, "%.*g", digits, value);
            if (strtod(shorter, nullptr) != value)
                continue;
            const auto significant = [](const std::string &s) {
                const std::string mantissa = s.substr(0, s.find('e'));
                std::string d;
                for (char c : mantissa)
                    if (isdigit(static_cast<unsigned char>(c)) && (c != '0' || !d.empty()))
                        d += c;
                while (!d.empty() && d.back() == '0')
                    d.pop_back();
                return d.size();
            };
            EXPECT_LE(significant(text), significant(shorter)) << text << " and " << shorter;
            break;
        }
    }
    EXPECT_EQ(written({1, 2.5, -0.0, 1e100}), "1 2.5 -0 1e+100\n");
    EXPECT_EQ(written({}), "\n");
}

TEST_F(Arrays, LinesAreShort) {
    const std::vector<double> many(1000, -1.2345678901234567e-100);
    const std::string text = written(many);
    for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
        EXPECT_LE(end - at, 78U);
    expect_same(reading(text).values, many);
}

TEST_F(Arrays, WhatProgramsWrite) {
    expect_same(reading("0 1 2 3 4 5\n      6 7 8 9\n").values, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    expect_same(reading("+1 .5 5. 1E3 0x1p3 0X.8 1e-400 -inf NAN infinity\n").values,
                {1, .5, 5, 1000, 8, .5, 0, -INFINITY, NAN, INFINITY});
    expect_same(reading("\t1\r\n\v2\f3").values, {1, 2, 3}); // the text has no final newline
    expect_same(reading("").values, {});
    expect_same(reading("0." + std::string(5000, '0') + "1 1" + std::string(300, '0')).values, {0, 1e300});
}

TEST_F(Arrays, NoMoreIsReadThanThere) {
    for (const char *next : {"name", "_x", "# comment", "nanometres 3", "info 4", "e5", "x"}) {
        Result r = reading(std::string("1 2\n") + next + " 9\n");
        expect_same(r.values, {1, 2});
        EXPECT_EQ(r.rest, std::string(next) + " 9\n");
    }
    const Result r = reading("1 2 3 4\n", 3);
    expect_same(r.values, {1, 2, 3});
    EXPECT_EQ(r.rest, " 4\n");
    const std::string name(3000, 'n');
    EXPECT_EQ(reading("1 " + name).rest, name) << "however long the name";
}

// ungetc of glibc and asf accepts any number of bytes, and musl's only as many as fit into its buffer.
TEST_F(Arrays, ALongWordOfAPipeIsPutBackOrTold) {
    const std::string name(3000, 'n'), text = "1 " + name;
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    ASSERT_EQ(write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    close(ends[1]);
    FILE *f = fdopen(ends[0], "r");
    size_t count = 0;
    const double *array = asf_shm_read_doubles(f, &count);
    const int error = errno;
#ifdef __GLIBC__
    EXPECT_NE(array, nullptr);
#endif
    if (array)
        EXPECT_EQ(rest_of(f), name);
    else
        EXPECT_EQ(error, ENOBUFS);
    EXPECT_EQ(asf_shm_free_doubles(array), 0);
    fclose(f);
}

TEST_F(Arrays, WhatIsNoArrayIsRefused) {
    EXPECT_EQ(reading("1 2", 3).error, ENODATA);
    EXPECT_EQ(reading("", 1).error, ENODATA);
    EXPECT_EQ(reading("1 2 name", 3).error, ENODATA);
    EXPECT_EQ(reading("1 2x 3").error, EBADMSG);
    EXPECT_EQ(reading("1,2").error, EBADMSG);
    EXPECT_EQ(reading("1 (2").error, EBADMSG);
    EXPECT_EQ(reading("1 --2").error, EBADMSG);
    EXPECT_EQ(reading("1 1e999").error, ERANGE);
    EXPECT_EQ(reading("-1e999").error, ERANGE);
}

TEST_F(Arrays, ThroughASegment) {
    const std::string text = written(unusual(), "numbers");
    const std::string label = label_in(text);
    EXPECT_EQ(label.substr(label.find(' ')), " numbers");
    expect_same(reading(text).values, unusual());
    expect_same(reading("   " + text + "next 5\n").values, unusual());
    EXPECT_EQ(reading(text + "next 5\n").rest, "next 5\n");
    EXPECT_EQ(reading("shmids \t" + label + " \r\nnext\n").rest, "next\n");
    expect_same(reading(text, 2).values, {unusual()[0], unusual()[1]});
    EXPECT_EQ(reading(text, unusual().size() + 1).error, ENODATA);
    EXPECT_EQ(asf_shm_remove(label.c_str()), 0);
    EXPECT_EQ(reading(text).error, ENOENT);
    EXPECT_EQ(reading("shmids \n").error, EINVAL);
    EXPECT_EQ(reading("shmids").error, EINVAL);
}

TEST_F(Arrays, ASegmentsOwnArrayIsNotCopied) {
    char *shm = asf_shm_create("own", 0600, 3 * sizeof(double));
    ASSERT_NE(shm, nullptr);
    auto *array = reinterpret_cast<double *>(shm + ASF_SHM_HEAD);
    std::fill_n(array, 3, 2.5);
    FILE *f = tmpfile();
    EXPECT_EQ(asf_shm_write_doubles(f, array, 3, "other name"), 0);
    rewind(f);
    EXPECT_EQ("shmids " + label_of(shm) + "\n", rest_of(f));
    rewind(f);
    size_t n = 0;
    const double *again = asf_shm_read_doubles(f, &n);
    ASSERT_NE(again, nullptr);
    array[1] = 7;
    EXPECT_EQ(n, 3U);
    EXPECT_EQ(again[1], 7) << "the segment itself";
    EXPECT_EQ(asf_shm_free_doubles(again), 0);
    rewind(f);
    EXPECT_EQ(asf_shm_write_doubles(f, array, 2, "a part"), 0);
    rewind(f);
    const std::string part = label_in(rest_of(f));
    EXPECT_NE(part, label_of(shm)) << "a part is another array";
    EXPECT_EQ(find(all(), part)->info.mode, 0600U) << "nobody else's";
    EXPECT_EQ(asf_shm_remove(part.c_str()), 0);
    EXPECT_EQ(asf_shm_remove(label_of(shm).c_str()), 0);
    EXPECT_EQ(asf_shm_close(shm), 0);
    fclose(f);
}

TEST_F(Arrays, SegmentsThatAreNoArrays) {
    char *shm = asf_shm_create("odd", 0600, 15);
    EXPECT_EQ(reading("shmids " + label_of(shm) + "\n").error, EBADMSG);
    EXPECT_EQ(asf_shm_remove(label_of(shm).c_str()), 0);
    EXPECT_EQ(asf_shm_close(shm), 0);
    shm = asf_shm_create("empty", 0600, 0);
    const Result r = reading("shmids " + label_of(shm) + "\n");
    EXPECT_EQ(r.error, 0);
    EXPECT_TRUE(r.values.empty());
    EXPECT_EQ(asf_shm_remove(label_of(shm).c_str()), 0);
    EXPECT_EQ(asf_shm_close(shm), 0);
    EXPECT_EQ(asf_shm_free_doubles(nullptr), 0);
}

TEST_F(Arrays, StreamsThatFail) {
    FILE *full = fopen("/dev/full", "w");
    setvbuf(full, nullptr, _IONBF, 0);
    const double value = 1;
    EXPECT_EQ(asf_shm_write_doubles(full, &value, 1, nullptr), -ENOSPC);
    fclose(full);
    FILE *f = fopen("/dev/null", "w");
    EXPECT_EQ(asf_shm_write_doubles(f, &value, 1, "bad\nname"), -EINVAL);
    size_t n = 1;
    errno = 0;
    EXPECT_EQ(getc(f), EOF);
    const int libcs = errno ? errno : EIO; // musl sets no errno
    errno = 0;
    EXPECT_EQ(asf_shm_read_doubles(f, &n), nullptr) << "opened to write";
    EXPECT_EQ(errno, libcs);
    fclose(f);
}

// An error flag that is already set does not prevent reading.
TEST_F(Arrays, AnErrorFromBefore) {
    char text[] = "1.5 2.5\n";
    FILE *f = fmemopen(text, sizeof text - 1, "r");
    EXPECT_EQ(fputc('x', f), EOF);
    ASSERT_NE(ferror(f), 0);
    size_t n = 2;
    const double *array = asf_shm_read_doubles(f, &n);
    ASSERT_NE(array, nullptr);
    EXPECT_EQ(array[1], 2.5);
    EXPECT_EQ(asf_shm_free_doubles(array), 0);
    fclose(f);
}

// Arrays are written and read with a decimal point in every locale.
TEST_F(Arrays, LocalesDoNotMatter) {
    const char *comma = nullptr;
    for (const char *name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE", "nl_NL.UTF-8"})
        if (!comma && setlocale(LC_NUMERIC, name))
            comma = name;
    if (!comma)
        GTEST_SKIP() << "no locale with a decimal comma is installed";
    EXPECT_EQ(written({0.5, 1e-9}), "0.5 1e-09\n");
    expect_same(reading("0.5 1e-9").values, {0.5, 1e-9});
    setlocale(LC_NUMERIC, "C");
}

} // namespace
} // namespace shm
