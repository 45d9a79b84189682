// SPDX-License-Identifier: MIT
//
// memory_test.cpp - streams into memory that grows: the pointer and size after a flush, seeks, and regions
// that are filled while the memory moves.  tests/interfaces/stdio/memory_cases.c compares the same calls with
// glibc's.
#include <string>

#include <gtest/gtest.h>

#include "tests/streams/private_headers.h"
#define _Static_assert static_assert
extern "C" {
#include "backplane/regions.h"
#include "streams/streams.h"
}
#undef _Static_assert

namespace {

class Memory : public testing::Test {
  protected:
    void SetUp() override {
        c = asf__open_memory(&text, &size);
        ASSERT_NE(c, nullptr);
    }
    void TearDown() override {
        if (c)
            close();
        free(text);
    }

    void append(const std::string &s) {
        int error;
        EXPECT_EQ(asf__append(c, s.data(), s.size(), &error), s.size());
        asf__check(c);
    }
    std::string flushed() {
        EXPECT_EQ(asf__flush_output(c), 0);
        asf__check(c);
        return std::string(text, size);
    }
    void close() {
        int result;
        EXPECT_TRUE(asf__cios_close(c, &result));
        EXPECT_EQ(result, 0);
        asf__cios_free(c);
        c = nullptr;
    }

    char *text = nullptr;
    size_t size = 99;
    asf_cios *c = nullptr;
};

TEST_F(Memory, GrowsAndEndsWithANull) {
    const std::string all(100000, 'x');
    append(all);
    EXPECT_EQ(flushed(), all);
    append("y");
    close();
    EXPECT_EQ(std::string(text), all + "y");
}

TEST_F(Memory, IsEmptyWhenNothingIsWritten) {
    close();
    EXPECT_EQ(size, 0U);
    EXPECT_STREQ(text, "");
}

TEST_F(Memory, SeeksBeyondItsEndAndBack) {
    append("abc");
    EXPECT_EQ(asf__seek(c, 10000, SEEK_SET), 10000);
    append("d");
    EXPECT_EQ(asf__tell(c), 10001);
    EXPECT_EQ(flushed(), "abc" + std::string(9997, '\0') + "d");
    EXPECT_EQ(asf__seek(c, 1, SEEK_SET), 1);
    append("B");
    EXPECT_EQ(flushed(), "aB");
    EXPECT_EQ(asf__seek(c, -20000, SEEK_CUR), -EINVAL);
    EXPECT_EQ(asf__seek(c, INT64_MAX, SEEK_CUR), -EINVAL);
    EXPECT_EQ(asf__seek(c, INT64_MIN, SEEK_END), -EINVAL);
    EXPECT_EQ(flushed(), "aB");
}

TEST_F(Memory, IsNotRead) {
    char p[1];
    int error;
    append("abc");
    EXPECT_EQ(asf__take(c, p, 1, nullptr, &error), 0U);
    EXPECT_EQ(error, -EBADF);
    EXPECT_EQ(asf__to_read(c), -EBADF);
}

TEST_F(Memory, RegionsStayWhereTheyAre) {
    ssize_t n = 10;
    auto *p = static_cast<char *>(asf__u_salloc(c, &n, false));
    append(std::string(50000, '-'));
    ssize_t m = 5;
    auto *q = static_cast<char *>(asf__u_salloc(c, &m, false));
    append(std::string(500000, '+'));
    memcpy(p, "0123456789", 10);
    memcpy(q, "abcde", 5);
    EXPECT_EQ(asf__seek(c, 0, SEEK_SET), -EBUSY);
    EXPECT_EQ(flushed().substr(0, 10), "0123456789") << "by a flush";
    int result;
    EXPECT_FALSE(asf__cios_close(c, &result));
    EXPECT_EQ(asf__u_sfree(c, q), 0);
    EXPECT_EQ(asf__seek(c, 0, SEEK_SET), -EBUSY) << "earlier memory has a region";
    EXPECT_EQ(asf__u_sfree(c, p), 0);
    EXPECT_EQ(flushed(), "0123456789" + std::string(50000, '-') + "abcde" + std::string(500000, '+'));
}

} // namespace
