// SPDX-License-Identifier: MIT
//
// Proves the numbers of <asf/numbers.h>: integers compared with snprintf, shortest doubles with
// std::to_chars, doubles with a precision with snprintf; at the ends of buffers, between regions and by
// several threads.
#include <asf/lines.h>
#include <asf/numbers.h>
#include <asf/shm.h>

#include <cfloat>
#include <charconv>
#include <climits>
#include <cmath>
#include <csignal>
#include <functional>
#include <limits>
#include <random>
#include <sys/mman.h>
#include <sys/time.h>
#include <thread>

#include "tests/interfaces/asi/asi_test.h"

namespace asi {
namespace {

using Random = std::mt19937_64;

std::string of_libc(const char *format, auto... values) {
    char text[2000];
    const int n = snprintf(text, sizeof text, format, values...);
    return {text, static_cast<size_t>(n)};
}

std::string shortest(double value) {
    if (std::isnan(value)) // libc++ writes -nan(ind)
        return std::signbit(value) ? "-nan" : "nan";
    char text[64];
    return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

double double_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// Integers of every length, most often near a power of ten.
int64_t some_integer(Random &random) {
    const auto power = static_cast<int64_t>(std::pow(10, random() % 19));
    const auto near = static_cast<int64_t>(static_cast<uint64_t>(power) + random() % 7 - 3);
    const auto any = static_cast<int64_t>(random() >> random() % 64);
    const int64_t value = random() % 2 ? near : any;
    return random() % 2 ? value : static_cast<int64_t>(-static_cast<uint64_t>(value));
}

// Doubles of random bits, of few digits, whole ones that end with zeros, and special values.
double some_double(Random &random) {
    static const double special[] = {0.0,
                                     -0.0,
                                     INFINITY,
                                     -INFINITY,
                                     NAN,
                                     -NAN,
                                     5e-324,
                                     1e5,
                                     1e4,
                                     1e22,
                                     1e23,
                                     12e5,
                                     0.001,
                                     0.0001,
                                     0.00012,
                                     1e15,
                                     9007199254740993.0,
                                     18446744073709551616.0};
    const auto whole = static_cast<double>(random() >> random() % 64);
    switch (random() % 6) {
    case 0:
        return double_of(random());
    case 1:
        return static_cast<double>(random() % 100000) / std::pow(10, random() % 12);
    case 2:
        return whole;
    case 3:
        return static_cast<double>(random() % 1000) * std::pow(10, random() % 25);
    case 4:
        return std::ldexp(1.0, static_cast<int>(random() % 2098) - 1074);
    default:
        return special[random() % std::size(special)];
    }
}

std::string digits_of(double value) {
    char text[ASF_DOUBLE_ROOM];
    return {text, asf_digits_double(text, value)};
}

TEST(NumbersInMemory, IntegersAreThoseOfPrintf) {
    Random random(1);
    char text[ASF_INTEGER_ROOM];
    const auto check = [&](int64_t value) {
        char *(*const out_of_line)(char *, int64_t) = asf_digits_int;
        ASSERT_EQ(std::string(text, asf_digits_int(text, value)), of_libc("%jd", intmax_t{value}));
        ASSERT_EQ(std::string(text, out_of_line(text, value)), of_libc("%jd", intmax_t{value}));
        const auto bits = static_cast<uint64_t>(value);
        ASSERT_EQ(std::string(text, asf_digits_uint(text, bits)), of_libc("%ju", uintmax_t{bits}));
    };
    for (int64_t value : {INT64_MIN, INT64_MIN + 1, INT64_MAX, int64_t{0}, int64_t{-1}})
        check(value);
    for (int64_t value = 0; value < 20000 && !HasFatalFailure(); value++)
        check(value);
    for (int i = 0; i < 300000 && !HasFatalFailure(); i++)
        check(some_integer(random));
}

TEST(NumbersInMemory, DoublesAreThoseOfToChars) {
    Random random(2);
    for (int i = 0; i < 500000; i++) {
        const double value = some_double(random);
        ASSERT_EQ(digits_of(value), shortest(value)) << of_libc("%a", value);
    }
    for (int e = -330; e < 310; e++)
        for (int digits : {1, 10, 12, 99, 100, 123456}) {
            const double value = strtod(of_libc("%de%d", digits, e).c_str(), nullptr);
            ASSERT_EQ(digits_of(value), shortest(value));
            ASSERT_EQ(digits_of(std::nextafter(value, 0.0)), shortest(std::nextafter(value, 0.0)));
        }
}

// The calls do not change bytes after the room that <asf/numbers.h> asks for.
TEST(NumbersInMemory, StayInTheirRoom) {
    Random random(9);
    std::vector<char> memory;
    const auto check = [&](size_t room, auto write) {
        memory.assign(room + 64, '#');
        const size_t length = static_cast<size_t>(write(memory.data()) - memory.data());
        ASSERT_LE(length, room);
        ASSERT_EQ(std::string(memory.begin() + static_cast<ptrdiff_t>(room), memory.end()),
                  std::string(64, '#'));
    };
    for (int i = 0; i < 100000 && !HasFatalFailure(); i++) {
        const double value = i % 100 ? some_double(random) : i % 200 ? -DBL_MAX : -DBL_TRUE_MIN;
        const char conversion = "eEfFgG"[random() % 6];
        const int precision = static_cast<int>(random() % (random() % 50 ? 20 : 1101));
        const size_t room = ASF_DOUBLE_ROOM + static_cast<size_t>(precision);
        check(ASF_INTEGER_ROOM, [&](char *to) { return asf_digits_int(to, some_integer(random)); });
        check(ASF_DOUBLE_ROOM, [&](char *to) { return asf_digits_double(to, value); });
        check((conversion | 0x20) == 'f' ? room + 310 : room,
              [&](char *to) { return asf_digits_double_as(to, value, conversion, precision); });
    }
}

class Numbers : public Asi {};

TEST_F(Numbers, WithAPrecisionAreThoseOfPrintf) {
    Random random(3);
    asf_cios *s = must_open(path("file"), O_RDWR | O_CREAT);
    std::string wanted;
    for (int i = 0; i < 100000; i++) {
        const char conversion = "eEfFgG"[random() % 6];
        const int precision = static_cast<int>(random() % (random() % 50 ? 20 : 1101));
        const double value = some_double(random);
        const char format[] = {'%', '.', '*', conversion, '\0'};
        wanted += of_libc(format, precision, value);
        ASSERT_EQ(asf_put_double_as(s, value, conversion, precision), 0);
    }
    EXPECT_EQ(asf_put_double_as(s, 1, 'f', 1101), -EINVAL);
    EXPECT_EQ(asf_put_double_as(s, 1, 'f', -1), -EINVAL);
    EXPECT_EQ(asf_put_double_as(s, 1, 'a', 1), -EINVAL);
    EXPECT_EQ(asf_put_double_as(s, 1, 0, 1), -EINVAL);
    EXPECT_EQ(asf_put_double_as(s, 1, 256 + 'f', 1), -EINVAL);
    for (double most : {DBL_MAX, -DBL_MAX}) {
        ASSERT_EQ(asf_u_put_double_as(s, most, 'f', 1100), 0);
        wanted += of_libc("%.1100f", most);
    }
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(contents("file"), wanted);
}

// The forms of each call: inline, out of line, without the lock.
struct Calls {
    int (*put_int)(asf_cios *, int64_t);
    int (*put_uint)(asf_cios *, uint64_t);
    int (*put_double)(asf_cios *, double);
    int (*put_text)(asf_cios *, const char *, size_t);
};
const Calls in_line = {[](asf_cios *s, int64_t v) { return asf_put_int(s, v); },
                       [](asf_cios *s, uint64_t v) { return asf_put_uint(s, v); },
                       [](asf_cios *s, double v) { return asf_put_double(s, v); },
                       [](asf_cios *s, const char *p, size_t n) { return asf_put_text(s, p, n); }};
const Calls unlocked = {[](asf_cios *s, int64_t v) { return asf_u_put_int(s, v); },
                        [](asf_cios *s, uint64_t v) { return asf_u_put_uint(s, v); },
                        [](asf_cios *s, double v) { return asf_u_put_double(s, v); },
                        [](asf_cios *s, const char *p, size_t n) { return asf_u_put_text(s, p, n); }};
const Calls out_of_line = {asf_put_int, asf_put_uint, asf_put_double, asf_put_text};
const Calls unlocked_out_of_line = {asf_u_put_int, asf_u_put_uint, asf_u_put_double, asf_u_put_text};

// One random call; its text is added to `wanted`.
void put_some(asf_cios *s, const Calls &calls, Random &random, std::string &wanted) {
    switch (random() % 4) {
    case 0: {
        const int64_t value = some_integer(random);
        ASSERT_EQ(calls.put_int(s, value), 0);
        wanted += std::to_string(value);
        break;
    }
    case 1: {
        const auto value = static_cast<uint64_t>(some_integer(random));
        ASSERT_EQ(calls.put_uint(s, value), 0);
        wanted += std::to_string(value);
        break;
    }
    case 2: {
        const double value = some_double(random);
        ASSERT_EQ(calls.put_double(s, value), 0);
        wanted += shortest(value);
        break;
    }
    default: {
        const std::string text(random() % (random() % 100 ? 10 : 300000), static_cast<char>(random()));
        ASSERT_EQ(calls.put_text(s, text.data(), text.size()), 0);
        wanted += text;
    }
    }
}

TEST_F(Numbers, AreWrittenInOrderByEachForm) {
    Random random(4);
    for (const Calls *calls : {&in_line, &unlocked, &out_of_line, &unlocked_out_of_line}) {
        std::string wanted;
        asf_cios *s = must_open(path("file"), O_WRONLY | O_CREAT | O_TRUNC);
        for (int i = 0; i < 30000; i++)
            put_some(s, *calls, random, wanted);
        EXPECT_EQ(sclose(s), 0);
        ASSERT_TRUE(contents("file") == wanted);
    }
}

// Regions of the same stream come before and after numbers, and are freed later, in any order.
TEST_F(Numbers, StandBetweenRegions) {
    Random random(5);
    std::string wanted;
    asf_cios *s = must_open(path("file"), O_WRONLY | O_CREAT | O_TRUNC);
    std::vector<Region> kept;
    const auto give_back_one = [&] {
        const size_t one = random() % kept.size();
        EXPECT_EQ(sfree(s, kept[one].p), 0);
        kept.erase(kept.begin() + static_cast<ptrdiff_t>(one));
    };
    for (int i = 0; i < 20000; i++) {
        put_some(s, in_line, random, wanted);
        if (random() % 3)
            continue;
        const std::string text(1 + random() % 50, static_cast<char>('a' + random() % 26));
        auto n = static_cast<ssize_t>(text.size());
        auto *p = static_cast<char *>(salloc(s, &n));
        ASSERT_NE(p, nullptr);
        memcpy(p, text.data(), text.size());
        wanted += text;
        kept.push_back({p, n, 0});
        while (kept.size() > random() % 5)
            give_back_one();
    }
    while (!kept.empty())
        give_back_one();
    EXPECT_EQ(sclose(s), 0);
    EXPECT_TRUE(contents("file") == wanted);
}

// A segment's window is the segment itself, so the bytes after a number must not change.
TEST_F(Numbers, LeaveTheBytesOfASegmentAfterThem) {
    char *shm = asf_shm_create("numbers of a test", 0600, 1000);
    ASSERT_NE(shm, nullptr) << asf_shm_why();
    memset(shm + ASF_SHM_HEAD, 'x', 1000);
    asf_cios *s = asf_shm_sopen(shm, O_WRONLY, nullptr);
    ASSERT_NE(s, nullptr);
    EXPECT_EQ(asf_put_int(s, 5), 0);
    EXPECT_EQ(asf_put_double(s, 0.5), 0);
    EXPECT_EQ(asf_put_text(s, "\n", 1), 0);
    EXPECT_EQ(asf_put_uint(s, 77), 0);
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(std::string(shm + ASF_SHM_HEAD, 1000), "50.5\n77" + std::string(993, 'x'));
    EXPECT_EQ(asf_shm_remove(shm), 0);
    EXPECT_EQ(asf_shm_close(shm), 0);
}

TEST_F(Numbers, TurnAStreamThatHasReadToWriting) {
    const std::string file = put("file", "12345\nabcdef\n");
    for (const Calls *calls : {&in_line, &out_of_line}) {
        asf_cios *s = must_open(file, O_RDWR);
        EXPECT_EQ(take(s, 6), "12345\n");
        EXPECT_EQ(calls->put_int(s, -42), 0);
        EXPECT_EQ(calls->put_text(s, nullptr, 0), 0);
        EXPECT_EQ(sclose(s), 0);
        EXPECT_EQ(contents("file"), "12345\n-42def\n");
        put("file", "12345\nabcdef\n");
    }
}

TEST_F(Numbers, FailAsSallocDoes) {
    const std::string file = put("file", "12");
    asf_cios *s = must_open(file, O_RDONLY);
    EXPECT_EQ(asf_put_int(s, 1), -EBADF);
    EXPECT_EQ(asf_put_double(s, 1), -EBADF);
    EXPECT_EQ(asf_put_double_as(s, 1, 'g', 3), -EBADF);
    EXPECT_EQ(asf_put_text(s, "1", 1), -EBADF);
    EXPECT_EQ(take(s, 2), "12");
    EXPECT_EQ(sclose(s), 0);
    s = must_open("/dev/full", O_WRONLY);
    int rc = 0;
    for (int i = 0; rc == 0 && i < 1000000; i++)
        rc = asf_put_int(s, i);
    EXPECT_EQ(rc, -ENOSPC);
    sclose(s);
}

// A call of OfThreadsDoNotMix: a number of ten digits, which encodes the thread and the call's index in the
// thread.  The kind of call adds a sign before it or other text after it.
struct Call {
    static constexpr int64_t base = 1000000000;
    int64_t thread, place;
    int64_t value() const { return (thread + 1) * base + place; }
    std::string text() const {
        static const char *const before[] = {"-", "", "", ""}, *const after[] = {"", "", ".25", "\n"};
        return before[place % 4] + std::to_string(value()) + after[place % 4];
    }
    int put(asf_cios *s, const Calls &calls) const {
        const std::string all = text();
        switch (place % 4) {
        case 0:
            return calls.put_int(s, -value());
        case 1:
            return calls.put_uint(s, static_cast<uint64_t>(value()));
        case 2:
            return calls.put_double(s, static_cast<double>(value()) + 0.25);
        default:
            return calls.put_text(s, all.data(), all.size());
        }
    }
};

// Each call's bytes stay together, and each thread's are in order.
TEST_F(Numbers, OfThreadsDoNotMix) {
    constexpr int64_t threads = 4, each = 20000;
    for (const Calls *calls : {&in_line, &out_of_line}) {
        asf_cios *s = must_open(path("file"), O_WRONLY | O_CREAT | O_TRUNC);
        std::vector<std::thread> writers;
        for (int64_t t = 0; t < threads; t++)
            writers.emplace_back([s, t, calls] {
                for (int64_t i = 0; i < each; i++)
                    Call{t, i}.put(s, *calls);
            });
        for (std::thread &writer : writers)
            writer.join();
        EXPECT_EQ(sclose(s), 0);
        const std::string all = contents("file");
        std::vector<int64_t> next(threads);
        for (size_t at = 0; at < all.size();) {
            const std::string digits = all.substr(at + (all[at] == '-'), 10);
            const int64_t t = strtoll(digits.c_str(), nullptr, 10) / Call::base - 1;
            ASSERT_TRUE(t >= 0 && t < threads) << digits;
            const std::string wanted = Call{t, next[static_cast<size_t>(t)]++}.text();
            ASSERT_EQ(all.substr(at, wanted.size()), wanted);
            at += wanted.size();
        }
        EXPECT_EQ(next, std::vector<int64_t>(threads, each));
    }
}

// --- columns ---------------------------------------------------------------------------------

// A field as strtod or strtoll reads it, which must take it whole but for blanks; false: it is no number.
bool read_by_libc(const std::string &field, double &value) {
    const size_t begin = field.find_first_not_of(" \r\v\f");
    value = std::numeric_limits<double>::quiet_NaN();
    if (begin == std::string::npos)
        return true;
    const std::string word = field.substr(begin, field.find_last_not_of(" \r\v\f") + 1 - begin);
    char *end = nullptr;
    value = strtod(word.c_str(), &end);
    return end == word.c_str() + word.size();
}
int read_by_libc(const std::string &field, int64_t &value) {
    char *end = nullptr;
    errno = 0;
    value = strtoll(field.c_str(), &end, 10);
    if (end == field.c_str() ||
        field.find_first_not_of(" \r\v\f", static_cast<size_t>(end - field.c_str())) != std::string::npos)
        return -EBADMSG;
    return -errno;
}

std::string some_field(Random &random) {
    static const char *const unusual[] = {"",
                                          " 7",
                                          "7 ",
                                          "+5",
                                          "5.",
                                          "-",
                                          ".5",
                                          "1e3",
                                          "0x1p3",
                                          "inf",
                                          "nan",
                                          "1e999",
                                          "-inf",
                                          "1 2",
                                          "12a",
                                          "007",
                                          "-0",
                                          "1e-400",
                                          ".",
                                          "9223372036854775807",
                                          "9223372036854775808",
                                          "-9223372036854775808",
                                          "00000000000000000000000000000000000000000000012",
                                          "1.7976931348623157e308"};
    switch (random() % 8) {
    case 0:
        return unusual[random() % std::size(unusual)];
    case 1:
        return shortest(some_double(random));
    case 2:
        return of_libc("%.*f", static_cast<int>(random() % 40), some_double(random));
    default:
        return std::to_string(some_integer(random));
    }
}

TEST_F(Numbers, OfColumnsAreThoseOfLibc) {
    Random random(6);
    std::vector<std::string> fields(100000);
    std::string all;
    for (std::string &field : fields) {
        field = some_field(random);
        all += field + "\t" + field + "\n";
    }
    asf_cios *s = must_open(put("file", all), O_RDONLY);
    for (const std::string &field : fields) {
        int64_t whole = 0, wanted_whole = 0;
        double real = 0, wanted_real = 0;
        const asf_column both[] = {{0, ASF_DOUBLE, &real}, {1, ASF_INT64, &whole}};
        const bool is_real = read_by_libc(field, wanted_real);
        const int wanted = is_real ? read_by_libc(field, wanted_whole) : -EBADMSG;
        ASSERT_EQ(asf_get_columns(s, '\t', both, 2, 1), wanted < 0 ? wanted : 1) << "'" << field << "'";
        if (is_real) {
            ASSERT_EQ(std::isnan(real), std::isnan(wanted_real)) << field;
            ASSERT_TRUE(std::isnan(real) || memcmp(&real, &wanted_real, sizeof real) == 0) << field;
        }
        ssize_t n = 0;
        if (wanted == 0) {
            ASSERT_EQ(whole, wanted_whole) << field;
        } else {
            ASSERT_EQ(sfree(s, salloc_until(s, '\n', &n)), 0);
        }
    }
    sclose(s);
}

TEST_F(Numbers, OfColumnsAreReadInPiecesOfAnyLength) {
    Random random(7);
    constexpr int rows = 40000;
    std::string text;
    std::vector<int32_t> small;
    std::vector<int64_t> large;
    std::vector<double> real;
    for (int i = 0; i < rows; i++) {
        small.push_back(static_cast<int32_t>(random()));
        real.push_back(some_double(random));
        large.push_back(some_integer(random));
        text += std::to_string(small.back()) + ";" + std::string(random() % 100, 'x') + ";" +
                shortest(real.back()) + ";;" + std::to_string(large.back()) + (i % 3 ? "\n" : ";more\n");
    }
    text.pop_back(); // the last line has no newline
    put("file", text);
    for (const int64_t piece : {1, 7, 1000, rows, 2 * rows}) {
        asf_cios *s = must_open(path("file"), O_RDONLY);
        std::vector<int32_t> got_small(2 * rows);
        std::vector<int64_t> got_large(2 * rows);
        std::vector<double> got_real(2 * rows);
        int64_t have = 0, got;
        do {
            const asf_column columns[] = {{0, ASF_INT32, &got_small[static_cast<size_t>(have)]},
                                          {2, ASF_DOUBLE, &got_real[static_cast<size_t>(have)]},
                                          {4, ASF_INT64, &got_large[static_cast<size_t>(have)]}};
            got = asf_get_columns(s, ';', columns, 3, have + piece < rows ? piece : rows);
            ASSERT_GE(got, 0);
            have += got;
        } while (got > 0);
        ASSERT_EQ(have, rows);
        ASSERT_TRUE(std::equal(small.begin(), small.end(), got_small.begin()));
        ASSERT_TRUE(std::equal(large.begin(), large.end(), got_large.begin()));
        ASSERT_TRUE(std::equal(real.begin(), real.end(), got_real.begin(), [](double a, double b) {
            return a == b || (std::isnan(a) && std::isnan(b));
        }));
        EXPECT_EQ(take(s, 1), "");
        sclose(s);
    }
}

// A non-blocking descriptor may give only the beginning of a line, with an incomplete number.
TEST_F(Numbers, OfColumnsWaitForWholeLines) {
    for (const size_t longest : {1, 3, 8}) {
        int ends[2];
        ASSERT_EQ(pipe2(ends, O_NONBLOCK), 0);
        asf_cios *s = asf_sopen_fd(ends[0], O_RDONLY, nullptr);
        Random random(8);
        std::string text;
        std::vector<int64_t> wanted(3000), got(wanted.size() + 8);
        for (int64_t &each : wanted)
            text += "x " + std::to_string(each = some_integer(random)) + "\n";
        text.pop_back();
        int64_t have = 0, more = -EAGAIN;
        for (size_t at = 0; more != 0;) {
            const asf_column column = {1, ASF_INT64, &got[static_cast<size_t>(have)]};
            more = asf_get_columns(s, ' ', &column, 1, 1 + static_cast<int64_t>(random() % 4));
            ASSERT_TRUE(more >= 0 || more == -EAGAIN) << more;
            have += std::max<int64_t>(more, 0);
            if (more < 0) {
                const std::string part = text.substr(at, 1 + random() % longest);
                at += part.size();
                ASSERT_EQ(write(ends[1], part.data(), part.size()), static_cast<ssize_t>(part.size()));
                if (at >= text.size())
                    close(ends[1]);
            }
        }
        got.resize(static_cast<size_t>(have));
        EXPECT_EQ(got, wanted);
        sclose(s);
    }
}

TEST_F(Numbers, OfColumnsStopBeforeALineThatIsWrong) {
    const auto read = [&](const std::string &text, asf_column_type type) {
        asf_cios *s = must_open(put("file", "1\t2\n3\t4\n" + text + "\nnext\n"), O_RDONLY);
        int64_t values[10] = {};
        const asf_column column = {1, type, values};
        EXPECT_EQ(asf_get_columns(s, '\t', &column, 1, 10), 2) << text;
        const int64_t error = asf_get_columns(s, '\t', &column, 1, 10);
        EXPECT_EQ(take(s, static_cast<ssize_t>(text.size() + 1)), text + "\n");
        sclose(s);
        return error;
    };
    EXPECT_EQ(read("5", ASF_INT64), -EBADMSG);
    EXPECT_EQ(read("", ASF_DOUBLE), -EBADMSG);
    EXPECT_EQ(read("5\t", ASF_INT32), -EBADMSG);
    EXPECT_EQ(read("5\t6.0", ASF_INT64), -EBADMSG);
    EXPECT_EQ(read("5\t1.5e1", ASF_INT64), -EBADMSG);
    EXPECT_EQ(read("5\t1e0", ASF_INT64), -EBADMSG);
    EXPECT_EQ(read("5\t6x", ASF_DOUBLE), -EBADMSG);
    EXPECT_EQ(read("5\t2147483648", ASF_INT32), -ERANGE);
    EXPECT_EQ(read("5\t-2147483649", ASF_INT32), -ERANGE);
    EXPECT_EQ(read("5\t9223372036854775808", ASF_INT64), -ERANGE);
    EXPECT_EQ(read("5\t99999999999999999999999", ASF_INT64), -ERANGE);
    EXPECT_EQ(read("5\t" + std::string(5000, '1') + "x", ASF_DOUBLE), -EBADMSG);
    asf_cios *s = must_open(path("file"), O_RDONLY);
    double value = 0;
    const asf_column twice[] = {{1, ASF_DOUBLE, &value}, {1, ASF_DOUBLE, &value}};
    EXPECT_EQ(asf_get_columns(s, '\t', twice, 2, 1), -EINVAL);
    EXPECT_EQ(asf_get_columns(s, '\t', twice, 0, 1), -EINVAL);
    EXPECT_EQ(asf_get_columns(s, '\t', twice, 1, -1), -EINVAL);
    EXPECT_EQ(asf_get_columns(s, '\t', twice, 1, 0), 0);
    const asf_column unknown = {1, static_cast<asf_column_type>(3), &value};
    EXPECT_EQ(asf_get_columns(s, '\t', &unknown, 1, 1), -EINVAL);
    EXPECT_EQ(asf_get_columns(s, '\t', &unknown, 1, 0), -EINVAL);
    EXPECT_EQ(take(s, 4), "1\t2\n");
    sclose(s);
    s = must_open(path("new"), O_WRONLY | O_CREAT);
    EXPECT_EQ(asf_get_columns(s, '\t', twice, 1, 1), -EBADF);
    sclose(s);
    s = must_open(path("new"), O_RDWR);
    EXPECT_EQ(asf_put_text(s, "1\t2\n", 4), 0);
    EXPECT_EQ(asf_get_columns(s, '\t', twice, 1, 1), -EBADF);
    sclose(s);
}

// An empty line has one field, which is empty, and so is the field between two separators.
TEST_F(Numbers, OfColumnsMayBeMissing) {
    double real[6] = {};
    int64_t whole[6] = {};
    asf_cios *s = must_open(put("file", "1\n\n \r\n"), O_RDONLY);
    const asf_column first = {0, ASF_DOUBLE, real}, first_whole = {0, ASF_INT64, whole};
    EXPECT_EQ(asf_get_columns(s, ' ', &first_whole, 1, 6), 1);
    EXPECT_EQ(asf_get_columns(s, ' ', &first_whole, 1, 6), -EBADMSG);
    EXPECT_EQ(asf_get_columns(s, '\t', &first, 1, 6), 2);
    EXPECT_TRUE(std::isnan(real[0]) && std::isnan(real[1]));
    sclose(s);
    s = must_open(put("file", "1  2\n 3 \n"), O_RDONLY);
    const asf_column three[] = {{0, ASF_DOUBLE, real}, {1, ASF_DOUBLE, real + 2}, {2, ASF_DOUBLE, real + 4}};
    EXPECT_EQ(asf_get_columns(s, ' ', three, 3, 6), 2);
    EXPECT_TRUE(real[0] == 1 && std::isnan(real[1]));
    EXPECT_TRUE(std::isnan(real[2]) && real[3] == 3);
    EXPECT_TRUE(real[4] == 2 && std::isnan(real[5]));
    sclose(s);
}

TEST_F(Numbers, OfColumnsAreInLinesOfAMegabyteAtMost) {
    const auto longest = static_cast<size_t>(ASF_LONGEST_LINE);
    for (const char *end : {"\n", ""}) {
        int64_t value = 0;
        ssize_t n = 2 * MiB;
        const asf_column column = {0, ASF_INT64, &value};
        asf_cios *s = must_open(
            put("file", "7 " + std::string(longest - 3, 'x') + "\n8 " + std::string(longest - 1, 'x') + end),
            O_RDONLY);
        EXPECT_EQ(asf_get_columns(s, ' ', &column, 1, 1), 1);
        EXPECT_EQ(value, 7);
        EXPECT_EQ(asf_get_columns(s, ' ', &column, 1, 1), -EMSGSIZE);
        EXPECT_EQ(asf_get_columns(s, ' ', &column, 1, 1), -EMSGSIZE);
        EXPECT_EQ(sfree(s, salloc_until(s, '\n', &n)), 0);
        EXPECT_EQ(n, static_cast<ssize_t>(longest + 1 + strlen(end)));
        EXPECT_EQ(asf_get_columns(s, ' ', &column, 1, 1), 0);
        sclose(s);
    }
}

// 128 bits of precision do not suffice for the number, and it is longer than any buffer.
TEST_F(Numbers, OfColumnsMayBeOfAnyLength) {
    for (const size_t length : {4094, 4095, 4096, 5000, 300000}) {
        const std::string half = "9007199254740993." + std::string(length, '0');
        const std::string all = half + "\n" + half + "1\n" + std::string(length, '9') + "\n";
        asf_cios *s = must_open(put("file", all), O_RDONLY);
        double values[3] = {};
        const asf_column column = {0, ASF_DOUBLE, values};
        EXPECT_EQ(asf_get_columns(s, '\t', &column, 1, 4), 3) << length;
        EXPECT_EQ(values[0], 9007199254740992.0);
        EXPECT_EQ(values[1], 9007199254740994.0);
        EXPECT_EQ(values[2], std::numeric_limits<double>::infinity());
        sclose(s);
    }
}

// Truncates a file in the middle of a call: the second page of the array is write-protected, and the handler
// of SIGSEGV truncates the file.
class TruncatingArray {
  public:
    TruncatingArray(std::string file, off_t length) {
        path = std::move(file);
        size = length;
        page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
        array = static_cast<char *>(
            mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        EXPECT_EQ(mprotect(array + page, page, PROT_READ), 0);
        struct sigaction act = {};
        act.sa_handler = [](int) {
            if (truncate(path.c_str(), size) != 0)
                abort();
            mprotect(array + page, page, PROT_READ | PROT_WRITE);
        };
        sigaction(SIGSEGV, &act, &before);
    }
    TruncatingArray(const TruncatingArray &) = delete;
    TruncatingArray &operator=(const TruncatingArray &) = delete;
    ~TruncatingArray() {
        sigaction(SIGSEGV, &before, nullptr);
        munmap(array, whole);
    }
    int64_t *values() const { return reinterpret_cast<int64_t *>(array); }
    int64_t rows_before() const { return static_cast<int64_t>(page / sizeof(int64_t)); }

  private:
    static constexpr size_t whole = size_t{64} << 20;
    static inline std::string path;
    static inline off_t size;
    static inline char *array;
    static inline size_t page;
    struct sigaction before = {};
};

// The file loses bytes under rows that were read: the rows are returned, and the next call has the error.
TEST_F(Numbers, OfColumnsAreNotLostInAFileThatIsTruncated) {
    std::string all;
    while (all.size() < static_cast<size_t>(4 * MiB))
        all += "1234567890 and text\n";
    for (const bool to_the_end : {false, true}) {
        asf_cios *s = must_open(put("file", all), O_RDONLY);
        const TruncatingArray array(path("file"), 100);
        const int64_t least = array.rows_before() + 1, wanted = to_the_end ? 1000000 : least;
        const asf_column column = {0, ASF_INT64, array.values()};
        const int64_t got = asf_get_columns(s, ' ', &column, 1, wanted);
        ASSERT_GE(got, least);
        ASSERT_LE(got, wanted);
        for (int64_t i = 0; i < got; i++)
            ASSERT_EQ(array.values()[i], 1234567890) << i;
        if (std::string_view(asf_module_name(s)) == "map") {
            EXPECT_EQ(asf_get_columns(s, ' ', &column, 1, 1), -EIO) << to_the_end;
            EXPECT_EQ(asf_get_columns(s, ' ', &column, 1, 1), 0) << to_the_end;
        }
        sclose(s);
    }
}

// A signal ends a call that has read rows; the next call reads on.
TEST_F(Numbers, OfColumnsAreReturnedWhenASignalComes) {
    struct sigaction act = {}, before = {};
    act.sa_handler = [](int) {};
    sigaction(SIGALRM, &act, &before);
    const itimerval often = {{0, 10000}, {0, 10000}}, never = {};
    for (const char *part : {"", "3"}) {
        int ends[2];
        ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
        asf_cios *s = asf_sopen_fd(ends[0], O_RDONLY, nullptr);
        int64_t values[4] = {};
        const asf_column column = {0, ASF_INT64, values};
        const auto scan = [&] { return asf_get_columns(s, ' ', &column, 1, 4); };
        const auto put_in = [&](std::string_view text) {
            ASSERT_EQ(write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
        };
        put_in(std::string("1\n2\n") + part);
        setitimer(ITIMER_REAL, &often, nullptr);
        EXPECT_EQ(scan(), 2);
        setitimer(ITIMER_REAL, &never, nullptr);
        put_in("4\n");
        close(ends[1]);
        EXPECT_EQ(scan(), 1);
        EXPECT_EQ(std::to_string(values[0]), part + std::string("4"));
        EXPECT_EQ(scan(), 0);
        sclose(s);
    }
    sigaction(SIGALRM, &before, nullptr);
}

} // namespace
} // namespace asi
