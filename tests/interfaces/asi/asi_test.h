// SPDX-License-Identifier: MIT
//
// asi_test.h - shared by the tests of the Alloc Stream Interface: a private directory, files with known
// contents, streams that must open.
#ifndef ASF_TESTS_ASI_TEST_H
#define ASF_TESTS_ASI_TEST_H

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include <asf/asf.h>

namespace asi {

inline constexpr ssize_t MiB = 1 << 20;

// Sanitizers need much address space and stop at impossible allocations.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

// The byte at an offset of a test file; it depends on the offset.
inline char pattern_at(size_t offset) {
    return static_cast<char>((offset * 2654435761U) >> 11 ^ offset >> 12);
}

inline std::string pattern(size_t n, size_t from = 0) {
    std::string s(n, '\0');
    for (size_t i = 0; i < n; i++)
        s[i] = pattern_at(from + i);
    return s;
}

// Returns the first index at which `p` differs from the file's bytes at `from`; n if none.
inline size_t first_wrong(const void *p, size_t n, size_t from) {
    const char *c = static_cast<const char *>(p);
    for (size_t i = 0; i < n; i++)
        if (c[i] != pattern_at(from + i))
            return i;
    return n;
}

class Asi : public testing::Test {
  protected:
    void SetUp() override {
        char name[] = "/tmp/asi.XXXXXX";
        directory = mkdtemp(name);
    }

    void TearDown() override { std::filesystem::remove_all(directory); }

    std::string path(const std::string &name) const { return directory + "/" + name; }

    std::string put(const std::string &name, std::string_view contents) const {
        int fd = open(path(name).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        while (!contents.empty()) {
            ssize_t n = ::write(fd, contents.data(), contents.size());
            if (n <= 0)
                break;
            contents.remove_prefix(static_cast<size_t>(n));
        }
        ::close(fd);
        return path(name);
    }

    std::string put_pattern(const std::string &name, size_t n) const { return put(name, pattern(n)); }

    std::string contents(const std::string &name) const {
        int fd = open(path(name).c_str(), O_RDONLY | O_CLOEXEC);
        struct stat st = {};
        fstat(fd, &st);
        std::string s(static_cast<size_t>(st.st_size), '\0');
        ssize_t n = pread(fd, s.data(), s.size(), 0);
        ::close(fd);
        s.resize(n > 0 ? static_cast<size_t>(n) : 0);
        return s;
    }

    static asf_cios *must_open(const std::string &file, int flags, mode_t mode = 0644) {
        int error = 1;
        asf_cios *s = sopen(file.c_str(), flags, mode, &error);
        EXPECT_NE(s, nullptr) << file << ": " << strerror(-error);
        EXPECT_EQ(error, 0);
        return s;
    }

    // Returns the next n bytes as a string; frees the region at once.
    static std::string take(asf_cios *s, ssize_t n) {
        void *p = salloc(s, &n);
        if (!p)
            return n == 0 ? "" : "error " + std::to_string(n);
        std::string text(static_cast<char *>(p), static_cast<size_t>(n));
        EXPECT_EQ(sfree(s, p), 0);
        return text;
    }

    static void give(asf_cios *s, std::string_view text) {
        ssize_t n = static_cast<ssize_t>(text.size());
        void *p = salloc(s, &n);
        ASSERT_NE(p, nullptr) << "salloc says " << n;
        ASSERT_EQ(n, static_cast<ssize_t>(text.size()));
        memcpy(p, text.data(), text.size());
        EXPECT_EQ(sfree(s, p), 0);
    }

    // Expects NULL and this length: 0 at end of file, otherwise an error.
    static void expect_none(void *p, ssize_t length, ssize_t wanted) {
        EXPECT_EQ(p, nullptr);
        EXPECT_EQ(length, wanted);
    }

    std::string directory;
};

// A region and its offset in the file.
struct Region {
    char *p;
    ssize_t n;
    size_t at;
};

} // namespace asi

#endif
