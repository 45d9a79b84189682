// SPDX-License-Identifier: MIT
//
// buffers_test.cpp - the lifetime of the buffers, and setvbuf.
#include "tests/backplane/engine_test.h"

namespace engine {
namespace {

class Buffers : public Engine {};

TEST_F(Buffers, AreAligned) {
    open(O_RDONLY);
    for (const size_t size : {size_t{1}, size_t{100}, BLOCK}) {
        asf_buffer *made = asf__buffer_new(size);
        ASSERT_NE(made, nullptr);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(made->base) % 64, 0U);
        EXPECT_EQ(made->size, size);
        asf__retire_buffer(c, made);
    }
    EXPECT_EQ(asf__buffer_new(SIZE_MAX - 10), nullptr);
}

TEST_F(Buffers, LiveAsLongAsTheirRegions) {
    open(O_RDONLY, numbers(3 * BLOCK));
    char *p = region(100);
    take(BLOCK - 100);
    EXPECT_EQ(c->retired, nullptr);
    take(1);
    ASSERT_NE(c->retired, nullptr) << "the next bytes are not read over the region";
    EXPECT_EQ(std::string(p, 100), numbers(100));
    EXPECT_EQ(give_back(p), 0);
    EXPECT_EQ(c->retired, nullptr);
}

int released;

TEST_F(Buffers, OfAModuleAreReleasedByIt) {
    open(O_RDONLY);
    char memory[] = "memory";
    asf_buffer own{};
    own.base = memory;
    own.size = 6;
    own.release = [](asf_cios *, asf_buffer *) { released++; };
    released = 0;
    asf__use_buffer(c, &own);
    asf__set_read(c, memory, memory, memory + 6);
    char *p = region(3);
    EXPECT_EQ(p, memory);
    asf__use_buffer(c, nullptr);
    EXPECT_EQ(released, 0);
    EXPECT_EQ(give_back(p), 0);
    EXPECT_EQ(released, 1);
}

TEST_F(Buffers, OfTheProgram) {
    open(O_WRONLY);
    char mine[200];
    const std::string all = numbers(250);
    EXPECT_EQ(asf__set_buffer(c, mine, sizeof mine), 0);
    EXPECT_EQ(append(all.substr(0, 150)), 0);
    EXPECT_EQ(std::string(mine, 150), all.substr(0, 150));
    EXPECT_EQ(append(all.substr(150)), 0);
    EXPECT_EQ(b.bytes, all.substr(0, 200));
    EXPECT_EQ(asf__set_buffer(c, nullptr, 0), 0);
    EXPECT_EQ(b.bytes, all);
    EXPECT_EQ(append("x"), 0);
    EXPECT_EQ(b.bytes, all + "x");
}

} // namespace
} // namespace engine
