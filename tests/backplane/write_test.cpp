// SPDX-License-Identifier: MIT
//
// write_test.cpp - output: when it is written, in which chunks, and the state after an error.
#include "tests/backplane/engine_test.h"

namespace engine {
namespace {

class Write : public Engine {};

TEST_F(Write, NothingIsPutBeforeTheBufferIsFull) {
    open(O_WRONLY);
    for (size_t i = 0; i < BLOCK / 16; i++)
        EXPECT_EQ(append("0123456789abcdef"), 0);
    EXPECT_EQ(b.puts, 0);
    EXPECT_EQ(append("x"), 0);
    EXPECT_EQ(b.bytes.size(), BLOCK);
    EXPECT_EQ(asf__flush_output(c), 0);
    EXPECT_EQ(b.bytes.size(), BLOCK + 1);
}

TEST_F(Write, WholeBuffersAreTheCallers) {
    const std::string all = numbers(5 * BLOCK + 10);
    open(O_WRONLY);
    EXPECT_EQ(append(all), 0);
    EXPECT_EQ(b.puts, 1);
    EXPECT_EQ(b.bytes, all.substr(0, 5 * BLOCK));
    EXPECT_EQ(asf__pending(c), 10U);
    EXPECT_EQ(asf__flush_output(c), 0);
    EXPECT_EQ(b.bytes, all);
}

TEST_F(Write, ShortCounts) {
    const std::string all = numbers(3 * BLOCK);
    open(O_WRONLY);
    b.most = 11;
    EXPECT_EQ(append(all), 0);
    EXPECT_EQ(asf__flush_output(c), 0);
    EXPECT_EQ(b.bytes, all);
}

TEST_F(Write, AnErrorIsToldOnce) {
    open(O_WRONLY);
    append("abc");
    b.error = -ENOSPC;
    EXPECT_EQ(asf__flush_output(c), -ENOSPC);
    b.error = 0;
    EXPECT_EQ(asf__flush_output(c), 0);
    EXPECT_EQ(append("def"), 0);
    EXPECT_EQ(asf__flush_output(c), 0);
    EXPECT_EQ(b.bytes, "def") << "what failed is lost";
}

// EBUSY of a device is an error, unlike output that waits for a region.
TEST_F(Write, ADeviceThatIsBusyIsAnError) {
    open(O_WRONLY);
    c->flags |= ASF_LINE_BUF;
    b.error = -EBUSY;
    EXPECT_EQ(append("line\n"), -EBUSY);
    append("line");
    EXPECT_EQ(asf__put_now(c), -EBUSY);
}

TEST_F(Write, LineByLine) {
    open(O_WRONLY);
    c->flags |= ASF_LINE_BUF;
    EXPECT_EQ(append("one"), 0);
    EXPECT_EQ(b.bytes, "");
    EXPECT_EQ(append("\ntwo"), 0);
    EXPECT_EQ(b.bytes, "one\n");
    EXPECT_EQ(asf__overflow(c, '\n'), '\n');
    EXPECT_EQ(b.bytes, "one\ntwo\n");
}

TEST_F(Write, Unbuffered) {
    open(O_WRONLY);
    c->flags |= ASF_UNBUFFERED;
    EXPECT_EQ(append("abc"), 0);
    EXPECT_EQ(b.bytes, "abc");
    EXPECT_EQ(asf__overflow(c, 'd'), 'd');
    EXPECT_EQ(b.bytes, "abcd");
}

TEST_F(Write, OutputGoesWhereInputStopped) {
    open(O_RDWR, "0123456789");
    EXPECT_EQ(take(3), "012");
    EXPECT_EQ(append("xy"), 0);
    EXPECT_EQ(asf__end_output(c), 0);
    EXPECT_EQ(b.bytes, "012xy56789");
    EXPECT_EQ(take(10), "56789");
}

TEST_F(Write, WhereNothingSeeksNeitherDirectionEndsTheOther) {
    open(O_RDWR, "0123456789", &without_seek);
    EXPECT_EQ(take(3), "012");
    EXPECT_EQ(append("xy"), 0);
    EXPECT_EQ(take(4), "3456");
    EXPECT_EQ(b.bytes, "0123456789xy");
    EXPECT_EQ(append("z"), 0);
    EXPECT_EQ(take(3), "789");
}

TEST_F(Write, OfAStreamThatReads) {
    open(O_RDONLY);
    EXPECT_EQ(append("x"), -EBADF);
    EXPECT_EQ(asf__drain(c, 1), -EBADF);
}

} // namespace
} // namespace engine
