// SPDX-License-Identifier: MIT
//
// regions_test.cpp - salloc and sfree: regions that the buffer cannot serve, the order of output after
// unfreed regions, and regions longer than any buffer.
#include "tests/backplane/engine_test.h"

namespace engine {
namespace {

class Regions : public Engine {};

TEST_F(Regions, OfInputAreTheBuffer) {
    open(O_RDONLY, numbers(3 * BLOCK));
    char *p = region(10), *q = region(10);
    EXPECT_EQ(q, p + 10);
    EXPECT_EQ(c->buffer->refs, 2U);
    EXPECT_EQ(give_back(p), 0);
    EXPECT_EQ(give_back(q), 0);
    EXPECT_EQ(give_back(q), -EINVAL);
}

TEST_F(Regions, LongerThanTheBuffer) {
    const std::string all = numbers(10 * BLOCK);
    open(O_RDONLY, all);
    take(5);
    char *p = region(9 * BLOCK);
    ASSERT_NE(p, nullptr);
    EXPECT_EQ(std::string(p, 9 * BLOCK), all.substr(5, 9 * BLOCK));
    EXPECT_EQ(give_back(p), 0);
}

TEST_F(Regions, EndWithTheFile) {
    open(O_RDONLY, "0123456789");
    char *p = region(100);
    EXPECT_EQ(length, 10);
    EXPECT_EQ(give_back(p), 0);
    EXPECT_EQ(region(100), nullptr);
    EXPECT_EQ(length, 0);
    EXPECT_EQ(region(0), nullptr);
    EXPECT_EQ(length, -EINVAL);
}

TEST_F(Regions, OfAnErrorAreNone) {
    open(O_RDONLY, numbers(100));
    b.error = -EIO;
    EXPECT_EQ(region(10), nullptr);
    EXPECT_EQ(length, -EIO);
    b.error = 0;
    c->failed = -EPIPE;
    EXPECT_EQ(region(10), nullptr);
    EXPECT_EQ(length, -EPIPE);
    EXPECT_EQ(give_back(region(10)), 0);
}

TEST_F(Regions, OfOutputArePutInOrder) {
    open(O_WRONLY);
    char *first = region(BLOCK), *second = region(BLOCK), *third = region(10);
    ASSERT_TRUE(first && second && third);
    memset(first, '1', BLOCK);
    memset(second, '2', BLOCK);
    memset(third, '3', 10);
    EXPECT_EQ(asf__flush_output(c), ASF_PARTLY);
    EXPECT_EQ(give_back(third), 0);
    EXPECT_EQ(give_back(second), 0);
    EXPECT_EQ(b.bytes, "") << "the first is still being filled";
    EXPECT_EQ(give_back(first), 0);
    EXPECT_EQ(asf__flush_output(c), 0);
    EXPECT_EQ(b.bytes, std::string(BLOCK, '1') + std::string(BLOCK, '2') + std::string(10, '3'));
}

TEST_F(Regions, KeepTheStreamOpen) {
    open(O_WRONLY);
    char *p = region(10);
    int result;
    EXPECT_FALSE(asf__cios_close(c, &result));
    EXPECT_EQ(b.closes, 0);
    memset(p, 'x', 10);
    EXPECT_EQ(give_back(p), 0);
}

TEST_F(Regions, BehindPushedBackBytes) {
    open(O_RDONLY, numbers(BLOCK));
    take(5);
    EXPECT_EQ(asf__push_back(c, '#'), '#');
    EXPECT_EQ(asf__push_back(c, '#'), '#');
    char *p = region(1);
    EXPECT_EQ(std::string(p, 1), "#");
    char *q = region(20);
    EXPECT_EQ(std::string(q, 20), "#" + numbers(24).substr(5));
    EXPECT_EQ(give_back(p), 0);
    EXPECT_EQ(give_back(q), 0);
}

TEST_F(Regions, OfAFullWindowBehindPushedBackBytes) {
    const std::string all = numbers(2 * BLOCK);
    open(O_RDONLY, all);
    EXPECT_EQ(asf__fill(c, 1, nullptr), static_cast<ssize_t>(BLOCK));
    for (const char byte : {'3', '2', '1'})
        asf__push_back(c, byte);
    char *p = region(BLOCK);
    EXPECT_EQ(std::string(p, BLOCK), "123" + all.substr(0, BLOCK - 3));
    EXPECT_EQ(give_back(p), 0);
    EXPECT_EQ(take(2 * BLOCK), all.substr(BLOCK - 3));
}

} // namespace
} // namespace engine
