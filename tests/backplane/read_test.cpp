// SPDX-License-Identifier: MIT
//
// read_test.cpp - input: fills, short reads, errors, large reads that bypass the window, copies by two
// threads at once.
#include <thread>

#include "tests/backplane/engine_test.h"

namespace engine {
namespace {

class Read : public Engine {};

TEST_F(Read, AFillAsksForOneBuffer) {
    open(O_RDONLY, numbers(3 * BLOCK));
    EXPECT_EQ(take(10), numbers(10));
    EXPECT_EQ(b.gets, 1);
    EXPECT_EQ(b.at, BLOCK);
    EXPECT_EQ(asf__avail(c), BLOCK - 10);
}

TEST_F(Read, WholeBuffersGoToTheCaller) {
    const std::string all = numbers(10 * BLOCK + 100);
    open(O_RDONLY, all);
    EXPECT_EQ(take(8 * BLOCK + 7), all.substr(0, 8 * BLOCK + 7));
    EXPECT_EQ(b.gets, 2) << "eight buffers, and one of which 7 bytes are taken";
    EXPECT_EQ(b.at, 9 * BLOCK);
}

TEST_F(Read, ShortReads) {
    const std::string all = numbers(20000);
    open(O_RDONLY, all);
    b.most = 7;
    EXPECT_EQ(take(1), all.substr(0, 1));
    EXPECT_EQ(asf__fill(c, 100, nullptr), 104) << "as many calls as it takes";
    EXPECT_EQ(take(20000), all.substr(1));
    EXPECT_EQ(take(1), "");
}

TEST_F(Read, AnErrorComesBehindTheBytesBeforeIt) {
    open(O_RDONLY, numbers(100));
    EXPECT_EQ(take(10), numbers(10));
    b.error = -EIO;
    EXPECT_EQ(asf__fill(c, 200, nullptr), 90);
    EXPECT_EQ(take(200, -EIO), numbers(100).substr(10));
    b.error = 0;
    b.bytes += "more";
    EXPECT_EQ(take(4), "more");
}

TEST_F(Read, OfAStreamThatWrites) {
    open(O_WRONLY);
    EXPECT_EQ(take(1, -EBADF), "");
}

TEST_F(Read, ALargeFillMovesWhatIsUnread) {
    const std::string all = numbers(3 * BLOCK);
    open(O_RDONLY, all);
    take(100);
    EXPECT_EQ(asf__fill(c, 2 * BLOCK, nullptr), static_cast<ssize_t>(2 * BLOCK));
    EXPECT_EQ(std::string(c->read_ptr, 2 * BLOCK), all.substr(100, 2 * BLOCK));
}

TEST_F(Read, TwoThreadsCopyEachByteOnce) {
    constexpr size_t total = 4 << 20, part = 3000;
    std::string all(total, 0);
    for (size_t i = 0; i < total; i++)
        all[i] = static_cast<char>(i >> 4);
    open(O_RDONLY, all);
    c->block = 64 << 10;
    size_t sum[2] = {}, bytes[2] = {};
    const auto reader = [&](int me) {
        char p[part];
        for (size_t n = 1; n > 0;) {
            int error;
            asf__lock(&c->lk);
            c->use = ASF_LOCKED;
            n = asf__take(c, p, part, nullptr, &error);
            c->use = ASF_OUTSIDE;
            asf__unlock(&c->lk);
            bytes[me] += n;
            for (size_t i = 0; i < n; i++)
                sum[me] += static_cast<unsigned char>(p[i]);
        }
    };
    std::thread other(reader, 1);
    reader(0);
    other.join();
    size_t expected = 0;
    for (const char byte : all)
        expected += static_cast<unsigned char>(byte);
    EXPECT_EQ(bytes[0] + bytes[1], total);
    EXPECT_EQ(sum[0] + sum[1], expected);
    EXPECT_EQ(c->buffer->refs, 0U);
}

} // namespace
} // namespace engine
