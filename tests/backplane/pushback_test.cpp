// SPDX-License-Identifier: MIT
//
// pushback_test.cpp - pushed-back bytes: equal to the bytes that were read, or different.
#include "tests/backplane/engine_test.h"

namespace engine {
namespace {

class Pushback : public Engine {};

TEST_F(Pushback, OfWhatWasReadMovesThePointer) {
    open(O_RDONLY, "0123456789");
    take(3);
    EXPECT_EQ(asf__push_back(c, '2'), '2');
    EXPECT_FALSE(c->flags & ASF_IN_BACKUP);
    EXPECT_EQ(take(8), "23456789");
}

TEST_F(Pushback, OfOtherBytesComesFirst) {
    open(O_RDONLY, "0123456789");
    take(3);
    for (const char byte : {'c', 'b', 'a'})
        EXPECT_EQ(asf__push_back(c, byte), byte);
    EXPECT_TRUE(c->flags & ASF_IN_BACKUP);
    EXPECT_EQ(asf__unread(c), 10U);
    EXPECT_EQ(take(5), "abc34");
    EXPECT_EQ(take(10), "56789");
}

TEST_F(Pushback, OfManyBytes) {
    open(O_RDONLY, "end");
    std::string expected = "end";
    for (int i = 0; i < 1000; i++) {
        const char byte = static_cast<char>('a' + i % 26);
        ASSERT_EQ(asf__push_back(c, byte), byte);
        expected.insert(expected.begin(), byte);
    }
    EXPECT_EQ(take(2000), expected);
}

TEST_F(Pushback, IsForgottenByASeek) {
    open(O_RDONLY, "0123456789");
    take(3);
    asf__push_back(c, 'x');
    EXPECT_EQ(asf__seek(c, 5, SEEK_SET), 5);
    EXPECT_EQ(take(2), "56");
}

TEST_F(Pushback, BytesCountBackwards) {
    open(O_RDONLY, "0123456789");
    take(3);
    asf__push_back(c, 'x');
    EXPECT_EQ(asf__tell(c) - (c->save_end - c->save_base),
              2); // the caller must subtract the unread bytes of the main window
}

TEST_F(Pushback, OutlivesTheBuffer) {
    static char other[10];
    open(O_RDONLY, "0123456789");
    take(3);
    asf__push_back(c, 'x');
    EXPECT_EQ(asf__set_buffer(c, other, sizeof other), 0); // seeks one byte back from the end
    EXPECT_EQ(take(10), "9");
    asf__push_back(c, 'y');
    asf__use_buffer(c, asf__buffer_new(10));
    EXPECT_EQ(asf__unread(c), 1U);
    EXPECT_EQ(take(10), "y");
}

} // namespace
} // namespace engine
