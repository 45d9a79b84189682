// SPDX-License-Identifier: MIT
//
// cxx_ranges_test.cpp - <asf/asf.hpp>: regions that free themselves, ranges of lines, fields and records, and
// both ways to report errors. Lines and fields are compared with those of std::getline.
#include "tests/interfaces/cxx/cxx_test.h"

#include <asf/asf.hpp>
#include <asf/parts.hpp>

#include <algorithm>
#include <random>
#include <sstream>
#include <thread>
#include <vector>

#include <unistd.h>

#include <gtest/gtest.h>

namespace {

using namespace cxx;

// Ranges that own a stream. A range adaptor refers to a named range, and takes over a temporary one; so these
// ranges must not be views.
template <class Range>
concept range_of_a_stream =
    std::ranges::input_range<Range> && std::movable<Range> && std::ranges::viewable_range<Range> &&
    std::ranges::viewable_range<Range &> && !std::ranges::view<Range> &&
    !std::ranges::borrowed_range<Range>;
static_assert(range_of_a_stream<asf::lines> && range_of_a_stream<asf::records>);
static_assert(std::ranges::forward_range<asf::fields> && std::ranges::forward_range<const asf::fields>);
static_assert(std::ranges::view<asf::fields> && std::ranges::borrowed_range<asf::fields>);
template <class Range>
concept range_of_memory =
    std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> && !std::ranges::view<Range> &&
    !std::ranges::borrowed_range<Range>;
static_assert(range_of_memory<asf::region> && range_of_memory<asf::output_region>);
static_assert(range_of_memory<asf::column<double>> && range_of_memory<const asf::column<double>>);

// Returns whether a call that returns a region compiles; on a temporary stream it must not, since the region
// would outlive the stream.
template <class Stream>
concept gives_a_region = requires(Stream &&s) {
    std::forward<Stream>(s).read(1);
}
|| requires(Stream &&s, std::error_code error) {
    std::forward<Stream>(s).read(1, error);
}
|| requires(Stream &&s) {
    std::forward<Stream>(s).read_some(1);
}
|| requires(Stream &&s) {
    std::forward<Stream>(s).read_at(0, 1);
}
|| requires(Stream &&s) {
    std::forward<Stream>(s).read_line();
}
|| requires(Stream &&s) {
    std::forward<Stream>(s).write(1);
}
|| requires(Stream &&s) {
    std::forward<Stream>(s).write_at(0, 1);
};
static_assert(gives_a_region<asf::stream &> && !gives_a_region<asf::stream>);
template <class Range>
concept begins = requires(Range &&range) {
    std::forward<Range>(range).begin();
};
static_assert(begins<asf::lines &> && !begins<asf::lines> && begins<asf::records &> && !begins<asf::records>);
static_assert(begins<asf::fields> && begins<asf::column<int> &> && !begins<asf::column<int>>);
static_assert(std::constructible_from<asf::fields, std::string &, char> &&
              std::constructible_from<asf::fields, const char *, char> &&
              !std::constructible_from<asf::fields, std::string, char>);
static_assert(std::same_as<std::ranges::range_value_t<asf::lines>, std::string_view>);
static_assert(std::is_nothrow_move_constructible_v<asf::stream> &&
              !std::is_copy_constructible_v<asf::stream>);
static_assert(std::is_nothrow_move_constructible_v<asf::region> &&
              !std::is_copy_constructible_v<asf::region>);
static_assert(std::is_convertible_v<asf::region &, std::span<const std::byte>>);
static_assert(std::is_convertible_v<asf::output_region &, std::span<std::byte>>);

std::vector<std::string> split(const std::string &text, char delimiter) {
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, delimiter);)
        parts.push_back(part);
    return parts;
}

// Lines of all lengths, some longer than any buffer, with a delimiter at the end or without.
std::string some_lines(std::mt19937 &random, char delimiter) {
    std::string text;
    for (std::size_t n = random() % 2000; n-- > 0;)
        text += std::string(random() % (random() % 200 == 0 ? 200000 : 40),
                            static_cast<char>('a' + random() % 26)) +
                delimiter;
    if (random() % 2 && !text.empty())
        text.pop_back();
    return text;
}

TEST(CxxRanges, LinesAreThoseOfGetline) {
    Directory directory;
    std::mt19937 random(1);
    for (int i = 0; i < 30; i++) {
        char delimiter = "\n:\0"[random() % 3];
        std::string text = some_lines(random, delimiter);
        asf::stream in(make(directory / "file", text));
        std::vector<std::string> lines;
        for (std::string_view line : in.lines(delimiter))
            lines.emplace_back(line);
        ASSERT_EQ(lines, split(text, delimiter)) << "round " << i;
    }
}

TEST(CxxRanges, FieldsAreTheTextBetweenSeparators) {
    std::mt19937 random(2);
    for (int i = 0; i < 3000; i++) {
        std::string text;
        for (std::size_t n = random() % 200; n-- > 0;)
            text += "ab\t\t"[random() % 4];
        std::vector<std::string> expected = split(text + '\t', '\t'), fields;
        for (std::string_view field : asf::fields(text, '\t'))
            fields.emplace_back(field);
        ASSERT_EQ(fields, expected) << text;
        asf::fields range(text, '\t');
        EXPECT_EQ(std::ranges::distance(range), static_cast<std::ptrdiff_t>(expected.size()));
        std::size_t at = random() % expected.size();
        EXPECT_EQ(*std::ranges::next(range.begin(), static_cast<std::ptrdiff_t>(at)), expected[at]);
    }
}

TEST(CxxRanges, RecordsAreOfOneSizeButTheLast) {
    Directory directory;
    std::string text;
    for (int i = 0; i < 10007; i++)
        text += std::to_string(i % 10);
    asf::stream in(make(directory / "file", text));
    std::string all;
    for (std::string_view record : in.records(100)) {
        EXPECT_EQ(record.size(), all.size() < 10000 ? 100U : 7U);
        all += record;
    }
    EXPECT_EQ(all, text);
}

TEST(CxxRanges, TheStreamStandsBehindTheLineThatWasSeen) {
    Directory directory;
    asf::stream in(make(directory / "file", "one\ntwo\nthree\nfour"));
    for (std::string_view line : in.lines())
        if (line == "two")
            break;
    EXPECT_EQ(in.read(5).text(), "three");
    auto range = in.lines();
    EXPECT_EQ(*range.begin(), "");
    auto moved = std::move(range); // `moved` continues where `range` was
    EXPECT_EQ(*moved.begin(), "four");
    EXPECT_FALSE(moved.delimited());
    EXPECT_EQ(moved.begin(), moved.end());
}

TEST(CxxRanges, ASecondRangeIsRefusedUntilTheFirstHasEnded) {
    Directory directory;
    fs::path path = make(directory / "file", "1\n2\n3\n4\n5\n");
    asf::stream in(path), other(path);
    std::string seen;
    std::error_code error;
    for (std::string_view line : in.lines()) {
        asf::lines refused = in.lines();
        EXPECT_THROW(refused.begin(), std::system_error);
        for (std::string_view none : in.records(1, error))
            ADD_FAILURE() << none;
        EXPECT_EQ(error, std::errc::device_or_resource_busy);
        for (std::string_view each : other.lines())
            seen += each;
        seen += line;
        if (line == "2")
            break;
    }
    for (std::string_view line : in.lines()) {
        seen.append(1, '|').append(line);
        break;
    }
    auto first = in.lines(), second = in.lines('\n', 0, error);
    for (std::string_view line : first)
        seen.append(1, '|').append(line);
    EXPECT_EQ(seen, "1234512|3|4|5");
    EXPECT_EQ(second.begin(), second.end());
    EXPECT_FALSE(error);
}

// A range-based loop destroys a temporary stream before its body runs, so the range takes the stream over.
TEST(CxxRanges, ARangeOfATemporaryTakesItsStreamOver) {
    Directory directory;
    fs::path path = make(directory / "file", "one\ntwo\nthree\n");
    std::string seen;
    std::error_code error;
    for (std::string_view line : asf::stream(path).lines())
        seen += line;
    for (std::string_view line : asf::stream(path).lines('o', 0, error))
        seen.append(1, '|').append(line);
    for (std::string_view record : asf::stream(path).records(5))
        seen.append(1, '|').append(record);
    for (std::string_view record : asf::stream(path).records(99, error))
        seen.append(1, '|').append(record);
    EXPECT_EQ(seen, "onetwothree||ne\ntw|\nthree\n|one\nt|wo\nth|ree\n|one\ntwo\nthree\n");
    EXPECT_FALSE(error);
    EXPECT_THROW(for ([[maybe_unused]] auto line : asf::stream().lines()){}, std::system_error);
}

bool is_open(int descriptor) {
    return fcntl(descriptor, F_GETFD) != -1;
}

TEST(CxxRanges, ARangeClosesTheStreamThatItTookOver) {
    Directory directory;
    fs::path path = make(directory / "file", "one\ntwo\nthree\n");
    asf::stream in(path), other(path);
    const int descriptor = asf_fileno(in.get()), others = asf_fileno(other.get());
    {
        asf::lines lines = std::move(in).lines();
        EXPECT_FALSE(in); // NOLINT
        EXPECT_EQ(*lines.begin(), "one");
        asf::lines moved = std::move(lines), assigned = std::move(other).lines();
        EXPECT_THROW(lines.begin(), std::system_error); // NOLINT
        EXPECT_EQ(*assigned.begin(), "one");
        EXPECT_EQ(*moved.begin(), "two");
        assigned = std::move(moved);
        EXPECT_FALSE(is_open(others));
        EXPECT_EQ(*assigned.begin(), "three");
        EXPECT_TRUE(is_open(descriptor));
    }
    EXPECT_FALSE(is_open(descriptor));
}

#if !defined __clang_major__ || __clang_major__ >= 16 // clang before 16 rejects the standard library's views
TEST(CxxRanges, RangesAreParts) {
    Directory directory;
    asf::stream in(make(directory / "file", "1 2\n\n3\n4 5 6\n"));
    std::vector<std::size_t> counts;
    for (auto n :
         in.lines() | std::views::filter([](auto line) { return !line.empty(); }) |
             std::views::transform([](auto line) { return std::ranges::distance(asf::fields(line, ' ')); }))
        counts.push_back(static_cast<std::size_t>(n));
    EXPECT_EQ(counts, (std::vector<std::size_t>{2, 1, 3}));
}

TEST(CxxRanges, ViewsOfALineRangeLeaveTheRest) {
    Directory directory;
    asf::stream in(make(directory / "file", "1\n2\n3\n4\n5\n6"));
    std::string seen;
    {
        auto lines = in.lines();
        for (std::string_view line : lines | std::views::take_while([](auto text) { return text < "3"; }))
            seen += line;
        EXPECT_TRUE(lines.delimited());
        for (std::string_view line : lines | std::views::take(1))
            seen += line;
    }
    EXPECT_EQ(seen, "124") << "take_while has looked at 3, which it does not show";
    std::ranges::copy(in.lines() | std::views::join, std::back_inserter(seen));
    EXPECT_EQ(seen, "12456");
    std::ranges::copy(asf::stream(directory / "file").lines() | std::views::join, std::back_inserter(seen));
    EXPECT_EQ(seen, "12456123456");
}

TEST(CxxRanges, TakeReadsNoLineMoreThanItShows) {
    Directory directory;
    asf::stream in(make(directory / "file", "1\n2\n3\n4\n5\n6\n"));
    std::string seen;
    for (std::string_view line : in.lines() | std::views::take(3))
        seen += line;
    for (std::string_view line : in.lines()) {
        seen += line;
        break;
    }
    for (std::string_view record : in.records(2) | std::views::take(1))
        seen += record;
    EXPECT_EQ(seen, "12345\n");
    EXPECT_EQ(in.read(9).text(), "6\n");
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    ASSERT_EQ(write(ends[1], "one\n", 4), 4);
    asf::stream through = asf::stream::on(ends[0]);
    // must end without waiting for the second line
    for (std::string_view line : through.lines() | std::views::take(1))
        EXPECT_EQ(line, "one");
    close(ends[1]);
}

TEST(CxxRanges, IteratorsReadWhenTheyAreLookedAt) {
    static_assert(std::copyable<asf::lines::iterator>);
    Directory directory;
    asf::stream in(make(directory / "file", "1\n2\n3\n4\n5\n6"));
    {
        asf::lines lines = in.lines();
        auto i = lines.begin();
        std::ranges::advance(i, 2);
        auto copy = i;
        EXPECT_EQ(*copy, "3");
        EXPECT_EQ(*i, "3");
        copy = lines.begin();
        EXPECT_EQ(*copy, "4");
        EXPECT_TRUE(lines.delimited());
        ++copy;
    }
    auto lines = in.lines() | std::views::common;
    EXPECT_EQ(std::vector<std::string>(lines.begin(), lines.end()), (std::vector<std::string>{"5", "6"}));
}
#endif

TEST(CxxRanges, ErrorsAreThrownOrLeftInAVariable) {
    Directory directory;
    std::error_code error;
    EXPECT_FALSE(asf::stream(directory / "none", O_RDONLY, 0, error));
    EXPECT_EQ(error, std::errc::no_such_file_or_directory);
    try {
        asf::stream(directory / "none");
        FAIL();
    } catch (const std::filesystem::filesystem_error &e) {
        EXPECT_EQ(e.code(), std::errc::no_such_file_or_directory);
        EXPECT_EQ(e.path1(), directory / "none");
        EXPECT_EQ(e.code().message(), asf_error_text(ENOENT));
        EXPECT_STREQ(e.code().category().name(), "asf");
    }
    asf::stream in(make(directory / "file", "short\na line that is long\n"));
    std::vector<std::string> seen;
    for (auto line : in.lines('\n', 10, error))
        seen.emplace_back(line);
    EXPECT_EQ(error, std::errc::message_size);
    EXPECT_EQ(seen, std::vector<std::string>{"short"});
    EXPECT_THROW(for ([[maybe_unused]] auto line : in.lines('\n', 10)){}, std::system_error);
    EXPECT_EQ(in.read_line().text(), "a line that is long\n"); // the long line was not lost
    EXPECT_TRUE(in.read(1).empty());
    EXPECT_THROW(in.write(1), std::system_error);
    in.write(1, error);
    EXPECT_EQ(error, std::errc::bad_file_descriptor);

    asf::stream closed;
    for (auto call : {+[](asf::stream &s) { s.read(1); }, +[](asf::stream &s) { s.write(1); },
                      +[](asf::stream &s) { s.flush(); }, +[](asf::stream &s) { s.close(); },
                      +[](asf::stream &s) { s.put("x"); },
                      +[](asf::stream &s) {
                          for ([[maybe_unused]] auto line : s.lines()) {
                          }
                      }})
        EXPECT_THROW(call(closed), std::system_error);
}

TEST(CxxRanges, ARegionKeepsItsStreamOpenAndGivesItselfBack) {
    Directory directory;
    asf::stream in(make(directory / "file", "some text"));
    {
        asf::region some = in.read(4), moved = std::move(some);
        EXPECT_TRUE(some.empty());
        EXPECT_EQ(moved.text(), "some");
        std::error_code error;
        in.close(error);
        EXPECT_EQ(error, std::errc::device_or_resource_busy);
        moved = in.read_at(5, 100);
        EXPECT_EQ(moved.text(), "text");
        EXPECT_EQ(std::to_integer<char>(*moved.begin()), 't');
    }
    in.close();
    EXPECT_FALSE(in);
}

TEST(CxxRanges, WhatIsNotCommittedIsNotWritten) {
    Directory directory;
    asf::stream out(directory / "file", O_WRONLY | O_CREAT);
    out.put("one ");
    try {
        asf::output_region lost = out.write(100);
        std::ranges::fill(lost.text(), 'x');
        throw 1;
    } catch (int) {
    }
    asf::output_region part = out.write(100);
    std::ranges::copy(std::string_view("two "), part.text().begin());
    part.commit(4);
    asf::output_region none = out.write(10);
    none.commit(0);
    out.put("");
    out.write(1).abandon();
    asf::output_region first = out.write(3), second = out.write(3);
    std::error_code error;
    first.commit(2, error);
    EXPECT_EQ(error, std::errc::device_or_resource_busy);
    first.commit(4, error);
    EXPECT_EQ(error, std::errc::invalid_argument);
    std::ranges::fill(first.bytes(), std::byte('f'));
    std::ranges::fill(second, std::byte('s'));
    second.commit();
    first.commit();
    out.close();
    EXPECT_EQ(contents(directory / "file"), "one two fffsss");
}

#ifdef __cpp_lib_format
TEST(CxxRanges, PrintIsFormat) {
    Directory directory;
    asf::stream out(directory / "file", O_WRONLY | O_CREAT);
    std::string expected;
    for (std::size_t i = 0; i < 3000; i++) {
        std::string word(i, 'x');
        out.print("{:>8}|{}|{:.3f}\n", i, word, 1.0 / static_cast<double>(i));
        expected += std::format("{:>8}|{}|{:.3f}\n", i, word, 1.0 / static_cast<double>(i));
    }
    out.close();
    EXPECT_TRUE(contents(directory / "file") == expected);
}
#endif

TEST(CxxRanges, AFullDeviceIsToldOfByClose) {
    asf::stream out("/dev/full", O_WRONLY);
    out.put("text");
    std::error_code error;
    out.close(error);
    EXPECT_EQ(error, std::errc::no_space_on_device);
    EXPECT_FALSE(out);
}

TEST(CxxRanges, CopyMovesWhatThereIs) {
    Directory directory;
    std::string text(300000, 'c');
    asf::stream in(make(directory / "file", text)), out(directory / "copy", O_WRONLY | O_CREAT);
    EXPECT_EQ(asf::copy(in, out, 1000), 1000);
    EXPECT_EQ(asf::copy(in, out), 299000);
    out.close();
    EXPECT_TRUE(contents(directory / "copy") == text);
}

TEST(CxxRanges, ThreadsShareAStreamLineByLine) {
    Directory directory;
    std::string text;
    for (int i = 0; i < 20000; i++)
        text += std::to_string(i) + "\n";
    asf::stream in(make(directory / "file", text));
    std::vector<std::string> lines[4];
    {
        std::vector<std::jthread> threads;
        for (auto &mine : lines)
            threads.emplace_back([&] {
                for (asf::region line; line = in.read_line(), !line.empty();)
                    mine.emplace_back(line.text());
            });
    }
    std::vector<std::string> all;
    for (auto &some : lines)
        all.insert(all.end(), some.begin(), some.end());
    std::ranges::sort(all, {}, [](auto &line) { return std::stoi(line); });
    std::string together;
    for (auto &line : all)
        together += line;
    EXPECT_TRUE(together == text);
}

TEST(Opening, TellsErrorsInBothWays) {
    Directory directory;
    fs::path path = make(directory / "data", "one\ntwo\n"), none = directory / "none";
    std::error_code error = std::make_error_code(std::errc::io_error);
    asf::stream in(path, error);
    EXPECT_TRUE(in && !error);
    EXPECT_EQ(in.read(4).text(), "one\n");
    asf::stream missing(none, error);
    EXPECT_FALSE(missing);
    EXPECT_EQ(error, std::errc::no_such_file_or_directory);
    EXPECT_THROW(asf::stream{none}, fs::filesystem_error);
    EXPECT_FALSE(asf::stream(none / "none", O_WRONLY | O_CREAT, 0666, error));
    EXPECT_EQ(error, std::errc::no_such_file_or_directory);
}

// A stream on a descriptor reads, writes or does both, as the descriptor was opened.
TEST(Opening, TakesADescriptorAsItIs) {
    Directory directory;
    fs::path path = make(directory / "data", "one\n");
    std::error_code error;
    {
        asf::stream out = asf::stream::on(open(path.c_str(), O_WRONLY | O_APPEND), error);
        ASSERT_FALSE(error);
        out.put("two\n");
        EXPECT_THROW(out.read(1), std::system_error);
        out.close();
    }
    {
        asf::stream both = asf::stream::on(open(path.c_str(), O_RDWR));
        EXPECT_EQ(both.read(4).text(), "one\n");
        both.put("six\n");
        both.close();
    }
    int descriptor = open(path.c_str(), O_RDONLY);
    asf::stream in = asf::stream::on(descriptor, error);
    EXPECT_EQ(in.read(99).text(), "one\nsix\n");
    EXPECT_THROW(in.put("x"), std::system_error);
    in.close();
    EXPECT_EQ(fcntl(descriptor, F_GETFD), -1) << "close has left it open";
    EXPECT_FALSE(asf::stream::on(descriptor, error));
    EXPECT_EQ(error, std::errc::bad_file_descriptor);
    EXPECT_THROW(asf::stream::on(descriptor), std::system_error);
}

TEST(CxxRanges, ADescriptorIsTakenOver) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    asf::stream out = asf::stream::on(ends[1], O_WRONLY), in = asf::stream::on(ends[0]);
    out.put("through\n");
    out.flush();
    EXPECT_EQ(in.read_some(100).text(), "through\n");
    EXPECT_THROW(asf::stream::on(-1), std::system_error);
    asf_cios *plain = in.release();
    EXPECT_EQ(asf_fileno(plain), ends[0]);
    EXPECT_EQ(asf_sclose(plain), 0);
}

} // namespace
