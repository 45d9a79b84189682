// SPDX-License-Identifier: MIT
//
// Proves that lines in place and stdio each continue where the other stopped: in random order, on one stream
// of a file or a pipe, with every kind of buffering.
#include <asf/lines.h>

#include <cstdio>
#include <random>
#include <string>

#include "tests/interfaces/asi/asi_test.h"

namespace asi {
namespace {

class LinesAndStdio : public Asi {
  protected:
    size_t below(size_t limit) { return std::uniform_int_distribution<size_t>(0, limit - 1)(random_); }

    std::string text(size_t size) {
        std::string all;
        while (all.size() < size)
            all += std::string(below(below(4) ? 60 : 20000), static_cast<char>('a' + below(26))) + "\n";
        return all + (below(2) ? "" : "the end");
    }

    // Makes one call of either interface; returns the bytes read.
    std::string step(FILE *file) {
        asf_cios *s = asf_stream(file);
        char block[3000];
        ssize_t n = 0;
        switch (below(6)) {
        case 0:
            return getc_of(file);
        case 1:
            return std::string(block, fread(block, 1, 1 + below(sizeof block), file));
        case 2:
            return fgets(block, sizeof block, file) ? block : "";
        case 3:
            ungetc(getc(file), file);
            [[fallthrough]];
        case 4:
            if (char *line = static_cast<char *>(salloc_until(s, '\n', &n)); line) {
                std::string taken(line, static_cast<size_t>(n));
                EXPECT_TRUE(taken.find('\n') == taken.size() - 1 || taken.back() != '\n');
                EXPECT_EQ(sfree(s, line), 0);
                return taken;
            }
            return "";
        default:
            return several(s);
        }
    }

    void expect_all_of(FILE *file, const std::string &all) {
        size_t at = 0;
        while (at < all.size()) {
            const std::string some = step(file);
            ASSERT_FALSE(some.empty()) << "at " << at << " of " << all.size();
            ASSERT_TRUE(all.compare(at, some.size(), some) == 0) << "at " << at;
            at += some.size();
        }
        EXPECT_EQ(getc(file), EOF);
    }

    std::mt19937_64 random_{3};

  private:
    static std::string getc_of(FILE *file) {
        const int c = getc(file);
        return c == EOF ? "" : std::string(1, static_cast<char>(c));
    }

    std::string several(asf_cios *s) {
        std::string taken;
        asf_lines it;
        ssize_t n;
        asf_lines_begin(&it, s, '\n', 0);
        for (size_t i = 1 + below(20); i > 0; i--) {
            const char *line = asf_lines_next(&it, &n);
            if (!line)
                break;
            taken.append(line, static_cast<size_t>(n) + (asf_lines_delimited(&it) ? 1 : 0));
        }
        EXPECT_EQ(asf_lines_end(&it), 0);
        return taken;
    }
};

TEST_F(LinesAndStdio, OnAFile) {
    for (int round = 0; round < 60; round++) {
        const std::string all = text(1 + below(300000));
        FILE *file = fopen(put("file", all).c_str(), "r");
        if (round % 3 == 1)
            setvbuf(file, nullptr, _IOFBF, 1 + below(100000));
        expect_all_of(file, all);
        EXPECT_EQ(ftell(file), static_cast<long>(all.size()));
        fclose(file);
    }
}

TEST_F(LinesAndStdio, Unbuffered) {
    for (int round = 0; round < 10; round++) {
        const std::string all = text(1 + below(100000));
        FILE *file = fopen(put("file", all).c_str(), "r");
        setvbuf(file, nullptr, _IONBF, 0);
        expect_all_of(file, all);
        fclose(file);
    }
}

TEST_F(LinesAndStdio, OnAPipe) {
    for (int round = 0; round < 20; round++) {
        const std::string all = text(1 + below(300000));
        put("file", all);
        FILE *file = popen(("cat " + path("file")).c_str(), "r");
        if (round % 4 == 1)
            setvbuf(file, nullptr, _IONBF, 0);
        expect_all_of(file, all);
        pclose(file);
    }
}

// Memory and callbacks are streams, too.
TEST_F(LinesAndStdio, OnMemory) {
    for (int round = 0; round < 20; round++) {
        std::string all = text(1 + below(50000));
        FILE *file = fmemopen(all.data(), all.size(), "r");
        expect_all_of(file, all);
        fclose(file);
    }
}

} // namespace
} // namespace asi
