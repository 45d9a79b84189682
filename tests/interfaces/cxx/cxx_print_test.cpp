// SPDX-License-Identifier: MIT
//
// cxx_print_test.cpp - asf::print on both kinds of stream: the text is that of std::to_chars, whatever the
// stream's format flags are. asf::ostream's operator<< is compared with std::ofstream's.
#include "tests/interfaces/cxx/cxx_test.h"

#include <asf/asf.hpp>
#include <asf/streams.hpp>

#include <cfloat>
#include <charconv>
#include <iomanip>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace cxx;
using Random = std::mt19937_64;

static_assert(asf::printable<int> && asf::printable<unsigned long long> && asf::printable<char>);
static_assert(asf::printable<const char *> && asf::printable<std::string> && asf::printable<char[3]>);
static_assert(!asf::printable<bool> && !asf::printable<signed char> && !asf::printable<std::uint8_t>);
static_assert(!asf::printable<__int128> && !asf::printable<std::nullptr_t>);
static_assert(!asf::printable<wchar_t> && !asf::printable<long double> && !asf::printable<void *>);

template <class Number> std::string text_of(Number value) {
    char text[64];
    return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

double some_double(Random &random) {
    double value = static_cast<double>(random() >> random() % 64) / static_cast<double>(1 + random() % 1000);
    return random() % 2 ? value : -value;
}

// Prints a row with a value of each type, and adds the expected text to `wanted`.
template <class Stream> void print_row(Stream &out, Random &random, std::string &wanted) {
    const auto i = static_cast<int>(random());
    const auto u = static_cast<unsigned short>(random());
    const auto l = static_cast<long long>(random() >> random() % 64);
    const double d = some_double(random);
    const auto f = static_cast<float>(some_double(random));
    const std::string name(random() % (random() % 100 ? 20 : 200000), 'n');
    asf::print(out, i, '\t', u, ' ', l, "\t", d, std::string_view(" = "), f, name, '\n');
    wanted += text_of(i) + "\t" + text_of(u) + " " + text_of(l) + "\t" + text_of(d) + " = " + text_of(f) +
              name + "\n";
}

TEST(Print, WritesTheSameToEachStream) {
    Directory directory;
    Random random(1);
    std::string wanted, wanted_too;
    {
        asf::stream out(directory / "stream", O_WRONLY | O_CREAT);
        asf::ostream too(directory / "ostream");
        too << std::hex << std::showpos;
        for (int i = 0; i < 5000; i++) {
            print_row(out, random, wanted);
            print_row(too, random, wanted_too);
        }
        asf::print(out);
        asf::print(too, "");
        out.close();
        too.close();
        EXPECT_TRUE(too.good());
    }
    EXPECT_TRUE(contents(directory / "stream") == wanted);
    EXPECT_TRUE(contents(directory / "ostream") == wanted_too);
}

// Prints as in the manual, and also constants, one value and no value. The plain calls find asf::print by the
// stream's type.
template <class Stream> void print_as_documented(Stream &out) {
    const int id = 7;
    constexpr double price = 2.5;
    const std::string name = "name";
    asf::print(out, id, '\t', name, '\t', price, '\n');
    asf::print(out, 42);
    asf::print(out);
    print(out, ' ', "text\n");
}

TEST(Print, IsCalledByItsFullName) {
    Directory directory;
    asf::stream out(directory / "stream", O_WRONLY | O_CREAT);
    asf::ostream too(directory / "ostream");
    print_as_documented(out);
    print_as_documented(too);
    asf::print(asf::print(too, 1), 2) << "\n";
    out.close();
    too.close();
    EXPECT_EQ(contents(directory / "stream"), "7\tname\t2.5\n42 text\n");
    EXPECT_EQ(contents(directory / "ostream"), "7\tname\t2.5\n42 text\n12\n");
}

TEST(Print, WritesTextsUpToTheirNull) {
    Directory directory;
    const char array[8] = "ab\0cd";
    char changeable[] = "ef";
    const char *none = nullptr;
    char *none_too = nullptr;
    asf::stream out(directory / "stream", O_WRONLY | O_CREAT);
    asf::ostream too(directory / "ostream");
    const auto print_texts = [&](auto &to) {
        asf::print(to, array, changeable, &changeable[1], none, none_too, std::string_view("g\0h", 3));
    };
    print_texts(out);
    print_texts(too);
    out.close();
    too.close();
    const std::string wanted("abeff(null)(null)g\0h", 20);
    EXPECT_EQ(contents(directory / "stream"), wanted);
    EXPECT_EQ(contents(directory / "ostream"), wanted);
}

TEST(Print, ReportsAsItsStreamDoes) {
    Directory directory;
    make(directory / "file", "text");
    asf::stream in(directory / "file");
    EXPECT_THROW(asf::print(in, 1), std::system_error);
    asf::stream closed;
    EXPECT_THROW(asf::print(closed, 1), std::system_error);
    asf::ostream none(directory / "missing" / "file");
    EXPECT_EQ(none.rdstate(), std::ios_base::failbit);
    asf::print(none, 1, ' ', 2.5);
    EXPECT_EQ(none.rdstate(), std::ios_base::failbit);
    none.clear();
    asf::print(none, 1, ' ', 2.5);
    EXPECT_EQ(none.rdstate(), std::ios_base::badbit);
    none.open(directory / "opened");
    asf::print(none, 1, ' ', 2.5);
    none.close();
    EXPECT_TRUE(none.good());
    EXPECT_EQ(contents(directory / "opened"), "1 2.5");
    asf::ostream full("/dev/full");
    for (int i = 0; i < 100000 && full; i++)
        asf::print(full, i, " some text\n");
    EXPECT_TRUE(full.bad());
    asf::ostream at_once(directory / "at_once");
    at_once << std::unitbuf;
    asf::print(at_once, 17, '\n');
    EXPECT_EQ(contents(directory / "at_once"), "17\n");
}

TEST(Print, KeepsTheRowsOfThreadsWhole) {
    Directory directory;
    constexpr int threads = 4, each = 10000;
    asf::stream out(directory / "file", O_WRONLY | O_CREAT);
    std::vector<std::thread> writers;
    for (int t = 0; t < threads; t++)
        writers.emplace_back([&, t] {
            for (int i = 0; i < each; i++)
                asf::print(out, t, ' ', i, " the same row ", t, ' ', i, '\n');
        });
    for (std::thread &writer : writers)
        writer.join();
    out.close();
    std::ifstream in(directory / "file");
    std::vector<int> next(threads);
    int rows = 0;
    for (std::string line; std::getline(in, line); rows++) {
        int t = -1, i = -1, t_too = -1, i_too = -1;
        ASSERT_EQ(sscanf(line.c_str(), "%d %d the same row %d %d", &t, &i, &t_too, &i_too), 4) << line;
        ASSERT_TRUE(t == t_too && i == i_too && next[static_cast<std::size_t>(t)]++ == i) << line;
    }
    EXPECT_EQ(rows, threads * each);
}

// operator<< writes numbers with any precision and flags as std::ofstream does.
TEST(Print, LeavesOperatorsAsTheyAre) {
    Directory directory;
    Random random(2);
    std::ofstream theirs(directory / "theirs");
    asf::ostream ours(directory / "ours");
    const auto both = [&](auto call) {
        call(static_cast<std::ostream &>(theirs));
        call(ours);
    };
    for (int i = 0; i < 50000; i++) {
        const std::uint64_t draw = random();
        const double value = draw % 50 ? some_double(random) : std::numeric_limits<double>::infinity();
        both([&](auto &out) {
            if (draw % 97 == 0)
                out.precision(static_cast<int>(draw / 97 % 25));
            if (draw % 89 == 0)
                out.flags(draw / 89 % 3 ? std::ios_base::dec | std::ios_base::skipws : std::ios_base::fixed);
            out << value << ' ' << static_cast<float>(value) << '\t' << static_cast<int>(draw) << "\n"
                << draw;
        });
    }
    theirs.close();
    ours.close();
    EXPECT_TRUE(contents(directory / "ours") == contents(directory / "theirs"));
}

// A width, a fill, a flag or a long precision affects operator<< as in std::ofstream, and does not affect
// asf::print.
TEST(Print, LeavesWidthsAndPrecisionsAsTheyAre) {
    Directory directory;
    std::ofstream theirs(directory / "theirs");
    asf::ostream ours(directory / "ours");
    const auto both = [&](auto call) {
        call(theirs);
        call(ours);
    };
    const std::ios_base::fmtflags initial = theirs.flags();
    Random random(4);
    for (int i = 0; i < 5000; i++) {
        static const double extreme[] = {DBL_MAX, -DBL_MAX, DBL_TRUE_MIN, -DBL_MIN, 0.1, -1e22};
        static const std::ios_base::fmtflags flags[] = {
            std::ios_base::fixed, std::ios_base::scientific, std::ios_base::showpos,
            std::ios_base::hex,   std::ios_base::showpoint,  std::ios_base::internal,
            std::ios_base::left,  std::ios_base::boolalpha,
        };
        const double value = random() % 2 ? some_double(random) : extreme[random() % std::size(extreme)];
        const auto whole = static_cast<long long>(random() >> random() % 64);
        const auto width = static_cast<int>(random() % 40);
        const auto precision = static_cast<int>(random() % (i % 10 ? 20 : 1100));
        const std::ios_base::fmtflags flag = i % 3 ? initial : initial | flags[random() % std::size(flags)];
        both([&](auto &out) {
            // `out << std::setw(n)` has the type std::ostream&, so the operators that follow it are not
            // asf::ostream's
            const auto put = [&](const auto &each) {
                out.width(width);
                out << each;
            };
            out << std::setfill('*') << std::setw(width) << whole;
            put(whole);
            put(value);
            out.flags(flag);
            out.precision(precision);
            put(value);
            put(static_cast<float>(value));
            put(static_cast<short>(whole));
            put('c');
            put("text");
            out << value << whole << out.width() << '\n';
            out.flags(initial);
        });
        ours << std::setw(width);
        asf::print(ours, whole); // ignores the width
        ASSERT_EQ(ours.width(), width);
        ours.width(0);
        theirs << whole;
    }
    theirs.close();
    ours.close();
    EXPECT_TRUE(contents(directory / "ours") == contents(directory / "theirs"));
}

TEST(Columns, AreVectorsOfTheirTypes) {
    Directory directory;
    std::string text;
    std::vector<int> ids;
    std::vector<double> prices;
    std::vector<std::int64_t> counts;
    Random random(3);
    for (int i = 0; i < 30000; i++) {
        ids.push_back(i - 100);
        prices.push_back(some_double(random));
        counts.push_back(static_cast<std::int64_t>(random()));
        text +=
            text_of(ids.back()) + "\tname\t" + text_of(prices.back()) + "\t" + text_of(counts.back()) + "\n";
    }
    make(directory / "table", text);
    asf::stream in(directory / "table");
    const auto [id, price, count] = asf::columns<int, double, std::int64_t>(in, {0, 2, 3}, '\t', 10000);
    const auto [id_too, count_too] = asf::columns<int, long>(in, {0, 3});
    EXPECT_TRUE(std::equal(id.begin(), id.end(), ids.begin(), ids.begin() + 10000));
    EXPECT_TRUE(std::equal(price.begin(), price.end(), prices.begin(), prices.begin() + 10000));
    EXPECT_TRUE(std::equal(count.begin(), count.end(), counts.begin(), counts.begin() + 10000));
    EXPECT_TRUE(std::equal(id_too.begin(), id_too.end(), ids.begin() + 10000, ids.end()));
    EXPECT_TRUE(std::equal(count_too.begin(), count_too.end(), counts.begin() + 10000, counts.end()));
    EXPECT_TRUE(std::get<0>(asf::columns<double>(in, {0})).empty());
    asf::stream wrong(make(directory / "wrong", "1\n2\nthree\n"));
    try {
        asf::columns<int>(wrong, {0});
        ADD_FAILURE();
    } catch (const std::system_error &e) {
        EXPECT_EQ(e.code(), std::errc::bad_message);
        EXPECT_EQ(e.what(), std::string("asf::columns: row 3: ") + asf_error_text(-EBADMSG));
    }
    asf::stream closed;
    EXPECT_THROW(asf::columns<int>(closed, {0}), std::system_error);
}

} // namespace
