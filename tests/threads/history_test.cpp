// SPDX-License-Identifier: MIT
//
// history_test.cpp - the check of histories rejects those that no order of their calls gives, and accepts all
// others.
#include <gtest/gtest.h>

#include "tests/threads/stream_model.h"

namespace tests {
namespace {

Call<StreamOp> call(StreamOp op, int64_t from, int64_t to, std::optional<std::string> result) {
    return {std::move(op), 0, 0, false, from, to, std::move(result)};
}

Call<StreamOp> write(const std::string &bytes, int64_t from, int64_t to) {
    return call({What::write, 0, bytes}, from, to, std::to_string(bytes.size()));
}

Call<StreamOp> read(size_t n, int64_t from, int64_t to, const std::string &bytes) {
    return call({What::read, n}, from, to, bytes);
}

Call<StreamOp> contents(const std::string &bytes) {
    return call({What::contents}, 1000, 1001, bytes);
}

StreamModel of(const std::string &before) {
    StreamModel model;
    model.contents = before;
    return model;
}

TEST(History, CallsBesideEachOtherHaveEitherOrder) {
    for (const char *result : {"aabb", "bbaa"})
        EXPECT_TRUE(
            has_order<>(of(""), History<StreamOp>{write("aa", 1, 5), write("bb", 2, 6), contents(result)}));
}

TEST(History, CallsAfterEachOtherHaveOne) {
    EXPECT_TRUE(has_order(of(""), History<StreamOp>{write("aa", 1, 2), write("bb", 3, 4), contents("aabb")}));
    EXPECT_FALSE(
        has_order(of(""), History<StreamOp>{write("aa", 1, 2), write("bb", 3, 4), contents("bbaa")}));
}

TEST(History, CallsAreWhole) {
    for (const char *result : {"abab", "abba", "aab", "aabbb", "bb", ""})
        EXPECT_FALSE(
            has_order(of(""), History<StreamOp>{write("aa", 1, 5), write("bb", 2, 6), contents(result)}));
}

TEST(History, BytesAreReadOnce) {
    EXPECT_TRUE(
        has_order(of("xyz"), History<StreamOp>{read(1, 1, 5, "y"), read(1, 2, 6, "x"), read(9, 7, 8, "z")}));
    EXPECT_FALSE(
        has_order(of("xyz"), History<StreamOp>{read(1, 1, 5, "x"), read(1, 2, 6, "x"), read(9, 7, 8, "yz")}));
    EXPECT_FALSE(
        has_order(of("xyz"), History<StreamOp>{read(1, 1, 5, "x"), read(1, 2, 6, "z"), read(9, 7, 8, "")}));
    EXPECT_FALSE(has_order(of("xyz"), History<StreamOp>{read(2, 1, 5, "xz"), read(1, 2, 6, "y")}));
}

// Each pair of calls has a possible order; all three together have none.
TEST(History, AllResultsAreOfOneOrder) {
    auto tell = [](int64_t from, int64_t to, const char *at) { return call({What::tell}, from, to, at); };
    EXPECT_TRUE(has_order(of(""), History<StreamOp>{write("a", 1, 9), tell(2, 3, "0"), tell(4, 5, "1")}));
    EXPECT_FALSE(has_order(of(""), History<StreamOp>{write("a", 1, 9), tell(2, 3, "1"), tell(4, 5, "0")}));
}

TEST(History, ACancelledCallIsMadeFromItsFirstByteOn) {
    const Call<StreamOp> cancelled = call({What::write, 0, "abc"}, 1, 5, {});
    for (const char *result : {"..", "a..", "ab..", "abc..", "..a", "..abc"})
        EXPECT_TRUE(has_order(of(""), History<StreamOp>{cancelled, write("..", 2, 6), contents(result)}))
            << result;
    for (const char *result : {"b..", "bc..", "abcabc..", "a..bc", "..."})
        EXPECT_FALSE(has_order(of(""), History<StreamOp>{cancelled, write("..", 2, 6), contents(result)}))
            << result;
}

// The history is made by threads, as in the other tests.
TEST(History, IsMadeByThreads) {
    std::vector<History<StreamOp>> calls(3, History<StreamOp>(4));
    std::atomic<size_t> made = 0;
    const History<StreamOp> all =
        make_at_once(calls, [&](const StreamOp &) { return std::to_string(++made); });
    ASSERT_EQ(all.size(), 12U);
    for (const Call<StreamOp> &one : all) {
        EXPECT_LE(one.from, one.to);
        EXPECT_TRUE(one.result.has_value());
    }
}

} // namespace
} // namespace tests
