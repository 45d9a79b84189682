// SPDX-License-Identifier: MIT
//
// asi_keeping_test.cpp - output after unfreed regions: the output that is written, waits, or is abandoned,
// and the bound on waiting output; and growing a region in small steps.
#include <sys/mman.h>
#include <thread>

#include "asi_test.h"
#include "tests/asleep.h"

namespace asi {
namespace {

class Keeping : public Asi {
  protected:
    asf_cios *create() const { return must_open(path("out"), O_WRONLY | O_CREAT | O_TRUNC); }

    static char *keep(asf_cios *s, std::string_view text) {
        ssize_t n = static_cast<ssize_t>(text.size());
        char *p = static_cast<char *>(salloc(s, &n));
        EXPECT_NE(p, nullptr) << n;
        if (p)
            memcpy(p, text.data(), text.size());
        return p;
    }
};

TEST_F(Keeping, WhatLiesBeforeGoesOut) {
    asf_cios *s = create();
    give(s, std::string(1000, 'a'));
    char *kept = keep(s, "0123456789");
    EXPECT_EQ(sflush(s), -EBUSY);
    EXPECT_EQ(contents("out"), std::string(1000, 'a'));
    give(s, "behind");
    EXPECT_EQ(sclose(s), -EBUSY);
    EXPECT_EQ(contents("out"), std::string(1000, 'a'));
    EXPECT_EQ(sfree(s, kept), 0);
    EXPECT_EQ(sflush(s), 0);
    EXPECT_EQ(contents("out"), std::string(1000, 'a') + "0123456789behind");
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Keeping, GoesOutUpToTheOldestInAnyOrder) {
    asf_cios *s = create();
    char *a = keep(s, "aa"), *b = keep(s, "bb"), *c = keep(s, "cc");
    EXPECT_EQ(sfree(s, b), 0);
    EXPECT_EQ(sflush(s), -EBUSY);
    EXPECT_EQ(contents("out"), "");
    EXPECT_EQ(sfree(s, a), 0);
    EXPECT_EQ(sflush(s), -EBUSY);
    EXPECT_EQ(contents("out"), "aabb");
    give(s, "dd");
    EXPECT_EQ(sfree(s, c), 0);
    EXPECT_EQ(sfree(s, c), -EINVAL) << "a second time";
    EXPECT_EQ(sflush(s), 0);
    EXPECT_EQ(contents("out"), "aabbccdd");
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Keeping, AbandonedIsLeftOut) {
    asf_cios *s = create();
    give(s, "1");
    char *a = keep(s, "aa"), *b = keep(s, "bb"), *c = keep(s, "cc");
    give(s, "2");
    EXPECT_EQ(asf_sabandon(s, a), 0);
    EXPECT_EQ(asf_sabandon(s, a), -EINVAL);
    EXPECT_EQ(sflush(s), -EBUSY);
    EXPECT_EQ(contents("out"), "1");
    EXPECT_EQ(sfree(s, b), 0);
    EXPECT_EQ(sabandon(s, c), 0);
    char *last = keep(s, "3");
    EXPECT_EQ(sfree(s, last), 0);
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(contents("out"), "1bb23");
}

TEST_F(Keeping, ManyAbandoned) {
    asf_cios *s = create();
    std::string expected;
    std::vector<char *> kept;
    for (int i = 0; i < 100000; i++) {
        const std::string text = std::to_string(i) + ",";
        kept.push_back(keep(s, text));
        if (i % 3 == 0)
            expected += text;
    }
    for (size_t i = 0; i < kept.size(); i++)
        ASSERT_EQ(i % 3 == 0 ? sfree(s, kept[i]) : sabandon(s, kept[i]), 0);
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(contents("out"), expected);
}

TEST_F(Keeping, TableOfManyRegionsTakesThemInAnyOrder) {
    asf_cios *s = create();
    std::string expected;
    std::vector<char *> kept;
    for (int i = 0; i < 50000; i++) {
        expected += std::to_string(i);
        kept.push_back(keep(s, std::to_string(i)));
    }
    for (size_t i = 0, at = 0; i < kept.size(); i++, at = (at + 30011) % kept.size())
        ASSERT_EQ(sfree(s, kept[at]), 0);
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(contents("out"), expected);
}

TEST_F(Keeping, NoMoreWaitsThanTheBound) {
    asf_cios *s = create();
    char *kept = keep(s, "first ");
    asf_set_bound(s, 1 << 20, 0);
    const std::string piece(1000, 'x');
    ssize_t n = 1000;
    size_t pieces = 0;
    for (void *p; (p = salloc(s, &n)); pieces++) {
        memcpy(p, piece.data(), piece.size());
        ASSERT_EQ(sfree(s, p), 0);
        ASSERT_LT(pieces, size_t{3000});
    }
    EXPECT_EQ(n, -ENOBUFS);
    EXPECT_GT(pieces, size_t{1000});
    EXPECT_EQ(sfree(s, kept), 0);
    give(s, "last");
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(contents("out").size(), 6 + pieces * 1000 + 4);
}

TEST_F(Keeping, WaitsAtTheBoundForAnotherThread) {
    asf_cios *s = create();
    char *kept = keep(s, "first ");
    asf_set_bound(s, 1 << 20, 1);
    std::thread other([&] {
        wait_until_asleep(getpid());
        EXPECT_EQ(sfree(s, kept), 0);
    });
    const std::string piece(1000, 'x');
    for (int i = 0; i < 5000; i++)
        give(s, piece);
    other.join();
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(contents("out").size(), size_t{6 + 5000 * 1000});
}

TEST_F(Keeping, GrowsByLittleInLinearTime) {
    asf_cios *s = create();
    give(s, "head ");
    ssize_t n = 4096;
    char *p = static_cast<char *>(salloc(s, &n));
    for (ssize_t i = 0; i < n; i++)
        p[i] = pattern_at(static_cast<size_t>(i));
    int moves = 0;
    while (n < 16 * MiB) {
        const ssize_t had = n;
        n += 4096;
        char *q = static_cast<char *>(srealloc(s, p, &n));
        ASSERT_NE(q, nullptr) << n;
        moves += q != p;
        p = q;
        for (ssize_t i = had; i < n; i++)
            p[i] = pattern_at(static_cast<size_t>(i));
    }
    EXPECT_LT(moves, 60);
    EXPECT_EQ(sfree(s, p), 0);
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(contents("out"), "head " + pattern(16 * MiB));
}

TEST_F(Keeping, InputFromAPipeGrowsByLittleInLinearTime) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const std::string all = pattern(8 * MiB);
    std::thread writer([&] {
        for (size_t at = 0; at < all.size();)
            at += static_cast<size_t>(write(ends[1], all.data() + at, all.size() - at));
        close(ends[1]);
    });
    asf_cios *s = asf_sopen_fd(ends[0], O_RDONLY, nullptr);
    ssize_t n = 4096;
    char *p = static_cast<char *>(salloc(s, &n));
    int moves = 0;
    for (ssize_t want = n + 4096; want <= 8 * MiB; want += 4096) {
        n = want;
        char *q = static_cast<char *>(srealloc(s, p, &n));
        ASSERT_NE(q, nullptr) << n;
        ASSERT_EQ(n, want);
        moves += q != p;
        p = q;
    }
    EXPECT_LT(moves, 100);
    EXPECT_EQ(first_wrong(p, static_cast<size_t>(n), 0), static_cast<size_t>(n));
    EXPECT_EQ(sfree(s, p), 0);
    EXPECT_EQ(sclose(s), 0);
    writer.join();
}

TEST_F(Keeping, AFileCutInsideAPageUnderARegion) {
    const std::string text(3 * MiB, 'x');
    const std::string file = put("file", text);
    asf_cios *s = must_open(file, O_RDONLY);
    ssize_t n = 100;
    void *whole = salloc(s, &n);
    n = 2 * MiB;
    char *cut = static_cast<char *>(salloc(s, &n));
    ASSERT_EQ(n, 2 * MiB);
    const bool mapped = std::string_view(asf_module_name(s)) == "map";
    ASSERT_EQ(truncate(file.c_str(), 100 + 2 * MiB - 50), 0);
    EXPECT_EQ(sfree(s, cut), mapped ? -EIO : 0);
    EXPECT_EQ(sfree(s, whole), 0);
    EXPECT_EQ(sclose(s), 0);
}

// Regions that end with zero bytes look like truncated ones.
TEST_F(Keeping, AFileOfZerosIsNotCut) {
    asf_cios *s = must_open(put("file", std::string(5 * MiB, '\0')), O_RDONLY);
    size_t total = 0;
    ssize_t n = 777;
    for (void *p; (p = salloc(s, &n)); n = 777) {
        total += static_cast<size_t>(n);
        ASSERT_EQ(sfree(s, p), 0);
    }
    EXPECT_EQ(total, static_cast<size_t>(5 * MiB));
    EXPECT_EQ(sclose(s), 0);
}

} // namespace
} // namespace asi
