// SPDX-License-Identifier: MIT
//
// Proves <asf/parts.hpp>: parts as a range, streams on parts, threads that call a function for each part, and
// exceptions thrown by this function.
#include "tests/interfaces/cxx/cxx_test.h"

#include <asf/parts.hpp>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <set>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace {

using namespace cxx;

static_assert(std::ranges::random_access_range<std::vector<asf::part>>);
static_assert(std::is_trivially_copyable_v<asf::part>);

class CxxParts : public testing::Test {
  protected:
    void SetUp() override {
        std::ofstream out(file());
        for (int i = 0; i < lines; i++)
            out << "line " << i << '\n';
    }
    fs::path file() const { return directory / "lines"; }
    static constexpr int lines = 200000;
    const Directory directory;
    const asf::cut how{'\n', 100000};
};

long lines_of(asf::stream &in) {
    long found = 0;
    for ([[maybe_unused]] std::string_view line : in.lines())
        found++;
    return found;
}

TEST_F(CxxParts, AreARange) {
    const auto parts = asf::parts(file(), how);
    EXPECT_GT(parts.size(), 10U);
    long found = 0;
    std::ranges::for_each(parts, [&](const asf::part &part) {
        asf::stream in = asf::open_part(file(), part);
        found += lines_of(in);
    });
    EXPECT_EQ(found, lines);
    EXPECT_THROW(asf::parts(directory / "none"), fs::filesystem_error);
    const auto records = asf::parts(file(), asf::cut::records(7, 70000));
    EXPECT_TRUE(std::ranges::all_of(records, [](const asf::part &part) { return part.begin % 7 == 0; }));
}

TEST_F(CxxParts, EachOnce) {
    for (unsigned threads : {1U, 3U, 0U}) {
        std::atomic<long> found = 0;
        std::mutex lock;
        std::set<std::int64_t> seen;
        asf::each_part(
            file(),
            [&](asf::stream &in, const asf::part &part) {
                found += lines_of(in);
                const std::lock_guard<std::mutex> guard(lock);
                EXPECT_TRUE(seen.insert(part.index).second);
            },
            threads, &how);
        EXPECT_EQ(found, lines);
        EXPECT_EQ(seen.size(), asf::parts(file(), how).size());
    }
}

TEST_F(CxxParts, AnExceptionEndsAll) {
    // The other thread waits until the exception has left the function, and 50 ms more, until it is caught.
    struct Sets {
        std::atomic<bool> &flag;
        ~Sets() { flag = true, flag.notify_all(); }
    };
    std::atomic<int> calls = 0;
    std::atomic<bool> left = false;
    const auto work = [&](asf::stream &, const asf::part &part) {
        calls++;
        if (part.index == 3) {
            const Sets sets{left};
            throw std::runtime_error("part 3");
        }
        if (part.index > 3) {
            left.wait(false);
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
    };
    try {
        asf::each_part(file(), work, 2, &how);
        FAIL() << "nothing was thrown";
    } catch (const std::runtime_error &error) {
        EXPECT_STREQ(error.what(), "part 3");
    }
    EXPECT_LT(calls, static_cast<int>(asf::parts(file(), how).size()));
    EXPECT_THROW(asf::each_part(directory / "none", work), fs::filesystem_error);
}

TEST_F(CxxParts, OfAnotherFile) {
    const auto parts = asf::parts(file(), how);
    std::ofstream(file()) << "another\n";
    std::error_code error;
    EXPECT_FALSE(asf::open_part(file(), parts[1], error));
    EXPECT_EQ(error.value(), ESTALE);
    EXPECT_THROW(asf::open_part(file(), parts[1]), fs::filesystem_error);
}

TEST_F(CxxParts, ColumnsOfAFile) {
    static_assert(std::ranges::contiguous_range<asf::column<double>>);
    const fs::path table = directory / "table";
    {
        std::ofstream out(table);
        out << "id;name;price\n";
        for (int i = 0; i < lines; i++)
            out << i << ";name;" << i % 1000 / 4.0 << '\n';
    }
    for (unsigned threads : {1U, 2U}) {
        auto [ids, prices] = asf::columns<int, double>(table, {0, 2}, ';', 1, threads);
        ASSERT_EQ(ids.size(), static_cast<std::size_t>(lines));
        ASSERT_EQ(prices.size(), ids.size());
        for (int i = 0; i < lines; i++) {
            ASSERT_EQ(ids[static_cast<std::size_t>(i)], i);
            ASSERT_EQ(prices[static_cast<std::size_t>(i)], i % 1000 / 4.0);
        }
        auto moved = std::move(ids);
        EXPECT_EQ(*std::ranges::max_element(moved), lines - 1);
        EXPECT_TRUE(ids.empty());
    }
    EXPECT_THROW((asf::columns<int>(table, {0}, ';')), fs::filesystem_error);
    EXPECT_THROW((asf::columns<int>(directory / "none", {0})), fs::filesystem_error);
    auto [none] = asf::columns<long>(make(directory / "empty", ""), {0});
    EXPECT_TRUE(none.empty());
}

} // namespace
