// SPDX-License-Identifier: MIT
//
// engine_test.h - a stream on a test module: bytes in memory, with short counts and errors on request.
#ifndef ASF_TESTS_ENGINE_TEST_H
#define ASF_TESTS_ENGINE_TEST_H

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/streams/private_headers.h"
#define _Static_assert static_assert
extern "C" {
#include "backplane/regions.h"
}
#undef _Static_assert

namespace engine {

// The file below the stream.
struct Below {
    std::string bytes;
    size_t at = 0;
    size_t most = SIZE_MAX; // the most bytes that one call moves
    int error = 0;          // the error that the next calls return
    int gets = 0, puts = 0, seeks = 0, closes = 0;
};

inline Below &below(asf_cios *c) {
    return *static_cast<Below *>(c->data);
}

inline ssize_t get(asf_cios *c, void *p, size_t n) {
    Below &b = below(c);
    b.gets++;
    if (b.error)
        return b.error;
    if (b.at >= b.bytes.size())
        return 0;
    n = std::min({n, b.most, b.bytes.size() - b.at});
    memcpy(p, b.bytes.data() + b.at, n);
    b.at += n;
    return static_cast<ssize_t>(n);
}

inline ssize_t put(asf_cios *c, const void *p, size_t n) {
    Below &b = below(c);
    b.puts++;
    if (b.error)
        return b.error;
    n = std::min(n, b.most);
    b.bytes.resize(std::max(b.bytes.size(), b.at + n));
    memcpy(&b.bytes[b.at], p, n);
    b.at += n;
    return static_cast<ssize_t>(n);
}

inline int64_t seek(asf_cios *c, int64_t offset, int whence) {
    Below &b = below(c);
    b.seeks++;
    const int64_t base = whence == SEEK_SET   ? 0
                         : whence == SEEK_CUR ? static_cast<int64_t>(b.at)
                                              : static_cast<int64_t>(b.bytes.size());
    if (base + offset < 0)
        return -EINVAL;
    b.at = static_cast<size_t>(base + offset);
    return base + offset;
}

// Closes a stream that has no regions.
inline int close_result(asf_cios *c) {
    int result = 0;
    EXPECT_TRUE(asf__cios_close(c, &result));
    return result;
}

inline int close(asf_cios *c) {
    below(c).closes++;
    return below(c).error;
}

inline constexpr asf_module make_ops(bool seeks) {
    asf_module ops{};
    ops.name = "test";
    ops.get = get;
    ops.put = put;
    ops.seek = seeks ? seek : nullptr;
    ops.close = close;
    return ops;
}
inline constexpr asf_module with_seek = make_ops(true), without_seek = make_ops(false);

class Engine : public testing::Test {
  protected:
    static constexpr size_t BLOCK = 4096;

    void open(int access, std::string bytes = "", const asf_module *ops = &with_seek) {
        b.bytes = std::move(bytes);
        c = asf__cios_new(ops, -1, access);
        ASSERT_NE(c, nullptr);
        c->data = &b;
        c->kind = ASF_REGULAR;
        c->block = BLOCK;
    }

    void TearDown() override {
        b.error = 0;
        if (!c)
            return;
        asf__check(c);
        EXPECT_EQ(close_result(c), 0);
        asf__cios_free(c);
    }

    // Text whose numbers show their position.
    static std::string numbers(size_t n) {
        std::string s;
        for (size_t i = 0; s.size() < n; i++)
            s += std::to_string(i) + ' ';
        s.resize(n);
        return s;
    }

    std::string take(size_t n, int expected = 0) {
        std::string s(n, '?');
        int error;
        s.resize(asf__take(c, s.data(), n, nullptr, &error));
        EXPECT_EQ(error, expected);
        asf__check(c);
        return s;
    }

    int append(std::string_view s) {
        int error;
        const size_t n = asf__append(c, s.data(), s.size(), &error);
        EXPECT_TRUE(n == s.size() || error) << n;
        asf__check(c);
        return error;
    }

    // Allocates a region; on failure returns nullptr with the code in `length`.
    char *region(ssize_t n, bool some = false) {
        length = n;
        char *p = static_cast<char *>(asf__u_salloc(c, &length, some));
        asf__check(c);
        return p;
    }

    int give_back(char *p) {
        const int rc = asf__u_sfree(c, p);
        asf__check(c);
        return rc;
    }

    Below b;
    asf_cios *c = nullptr;
    ssize_t length = 0;
};

} // namespace engine

#endif
