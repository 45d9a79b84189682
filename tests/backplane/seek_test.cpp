// SPDX-License-Identifier: MIT
//
// seek_test.cpp - a stream's offset, and seeks.
#include "tests/backplane/engine_test.h"

namespace engine {
namespace {

class Seek : public Engine {};

TEST_F(Seek, WithinTheBufferNothingIsReadAnew) {
    const std::string all = numbers(3 * BLOCK);
    open(O_RDONLY, all);
    EXPECT_EQ(asf__seek(c, 0, SEEK_SET), 0);
    take(100);
    for (const off64_t at : {off64_t{50}, off64_t{0}, off64_t{BLOCK - 1}}) {
        EXPECT_EQ(asf__seek(c, at, SEEK_SET), at);
        EXPECT_EQ(asf__tell(c), at);
        EXPECT_EQ(take(1), all.substr(static_cast<size_t>(at), 1));
    }
    EXPECT_EQ(b.gets, 1);
}

TEST_F(Seek, EveryWhence) {
    const std::string all = numbers(10 * BLOCK);
    open(O_RDONLY, all);
    EXPECT_EQ(asf__seek(c, -5, SEEK_END), static_cast<off64_t>(10 * BLOCK - 5));
    EXPECT_EQ(take(10), all.substr(10 * BLOCK - 5));
    EXPECT_EQ(asf__seek(c, 5 * BLOCK + 9, SEEK_SET), static_cast<off64_t>(5 * BLOCK + 9));
    EXPECT_EQ(take(5), all.substr(5 * BLOCK + 9, 5));
    EXPECT_EQ(asf__seek(c, -14, SEEK_CUR), static_cast<off64_t>(5 * BLOCK));
    EXPECT_EQ(take(5), all.substr(5 * BLOCK, 5));
}

TEST_F(Seek, AFailureLeavesTheOffset) {
    const std::string all = numbers(3 * BLOCK);
    open(O_RDONLY, all);
    take(10);
    EXPECT_EQ(asf__seek(c, -11, SEEK_CUR), -EINVAL);
    EXPECT_EQ(asf__seek(c, -1, SEEK_SET), -EINVAL);
    EXPECT_EQ(take(5), all.substr(10, 5));
}

TEST_F(Seek, WithoutAnOffset) {
    open(O_RDONLY, numbers(10), &without_seek);
    EXPECT_EQ(asf__seek(c, 0, SEEK_CUR), -ESPIPE);
    EXPECT_EQ(asf__tell(c), -ESPIPE);
}

TEST_F(Seek, OutputIsPutFirst) {
    open(O_RDWR, "0123456789");
    append("ab");
    EXPECT_EQ(asf__tell(c), 2);
    EXPECT_EQ(asf__seek(c, 0, SEEK_SET), 0);
    EXPECT_EQ(b.bytes, "ab23456789");
    EXPECT_EQ(take(3), "ab2");
}

TEST_F(Seek, SyncGivesBackWhatWasNotRead) {
    open(O_RDONLY, numbers(3 * BLOCK));
    take(10);
    EXPECT_EQ(asf__sync(c, 0), 0);
    EXPECT_EQ(b.at, 10U);
    EXPECT_EQ(take(10), numbers(20).substr(10));
}

} // namespace
} // namespace engine
