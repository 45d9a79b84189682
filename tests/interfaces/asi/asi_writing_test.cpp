// SPDX-License-Identifier: MIT
//
// asi_writing_test.cpp - salloc, sfree, srealloc, sallocAt, sflush on output: the bytes written, the time of
// the write, and their order.
#include <algorithm>
#include <csignal>
#include <random>
#include <sys/resource.h>

#include "asi_test.h"

namespace asi {
namespace {

class Writing : public Asi {
  protected:
    asf_cios *create(int more = 0) const {
        return must_open(path("out"), O_WRONLY | O_CREAT | O_TRUNC | more);
    }

    // Allocates a region and fills it.
    static char *fill(asf_cios *s, std::string_view text) {
        ssize_t n = static_cast<ssize_t>(text.size());
        void *p = salloc(s, &n);
        EXPECT_NE(p, nullptr);
        EXPECT_EQ(n, static_cast<ssize_t>(text.size()));
        if (p)
            memcpy(p, text.data(), text.size());
        return static_cast<char *>(p);
    }
};

TEST_F(Writing, RegionsOfEachSize) {
    for (ssize_t region : {ssize_t{1}, ssize_t{7}, ssize_t{100}, ssize_t{4095}, ssize_t{4096}, ssize_t{4097},
                           ssize_t{65537}, MiB, 3 * MiB}) {
        const ssize_t total = std::max(region * 3 + 1, ssize_t{10000});
        const std::string all = pattern(static_cast<size_t>(total));
        asf_cios *s = create();
        for (ssize_t at = 0; at < total; at += region)
            give(s, std::string_view(all).substr(static_cast<size_t>(at), static_cast<size_t>(region)));
        EXPECT_EQ(sclose(s), 0);
        EXPECT_TRUE(contents("out") == all) << "regions of " << region;
    }
}

TEST_F(Writing, MixedSizes) {
    std::mt19937 random(3);
    std::string all;
    asf_cios *s = create();
    for (int i = 0; i < 3000; i++) {
        const size_t n = i % 100 == 0 ? random() % 300000 + 1 : random() % 200 + 1;
        const std::string piece = pattern(n, all.size());
        give(s, piece);
        all += piece;
    }
    EXPECT_EQ(sclose(s), 0);
    EXPECT_TRUE(contents("out") == all);
}

TEST_F(Writing, LengthsBelowOneAreRefused) {
    asf_cios *s = create();
    for (ssize_t wanted : {ssize_t{0}, ssize_t{-1}}) {
        ssize_t n = wanted;
        void *p = salloc(s, &n);
        expect_none(p, n, -EINVAL);
    }
    if (!sanitized) {
        ssize_t n = PTRDIFF_MAX;
        void *p = salloc(s, &n);
        expect_none(p, n, -ENOMEM);
    }
    give(s, "still works");
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(contents("out"), "still works");
}

TEST_F(Writing, FreedOutOfOrderIsWrittenInOrder) {
    asf_cios *s = create();
    char *a = fill(s, "first "), *b = fill(s, "second "), *c = fill(s, "third");
    EXPECT_EQ(sfree(s, c), 0);
    EXPECT_EQ(sfree(s, b), 0);
    EXPECT_EQ(sflush(s), -EBUSY) << "the first region keeps the others back";
    EXPECT_EQ(contents("out"), "");
    EXPECT_EQ(sfree(s, a), 0);
    EXPECT_EQ(sflush(s), 0);
    EXPECT_EQ(contents("out"), "first second third");
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Writing, ManyFreedInRandomOrder) {
    std::mt19937 random(11);
    asf_cios *s = create();
    std::string all;
    std::vector<char *> open_regions;
    for (int i = 0; i < 2000; i++) {
        const size_t n = random() % 3000 + 1;
        const std::string piece = pattern(n, all.size());
        all += piece;
        open_regions.push_back(fill(s, piece));
        while (open_regions.size() > 50) {
            const size_t k = random() % open_regions.size();
            ASSERT_EQ(sfree(s, open_regions[k]), 0);
            open_regions.erase(open_regions.begin() + static_cast<ssize_t>(k));
        }
    }
    EXPECT_EQ(sclose(s), -EBUSY);
    std::shuffle(open_regions.begin(), open_regions.end(), random);
    for (char *p : open_regions)
        ASSERT_EQ(sfree(s, p), 0);
    EXPECT_EQ(sclose(s), 0);
    EXPECT_TRUE(contents("out") == all);
}

TEST_F(Writing, ARegionKeptOpenAcrossManyBuffers) {
    asf_cios *s = create();
    std::string all = pattern(100);
    char *first = fill(s, std::string(100, '?'));
    while (all.size() < static_cast<size_t>(3 * MiB)) {
        const std::string piece = pattern(50000, all.size());
        give(s, piece);
        all += piece;
    }
    EXPECT_EQ(contents("out"), "") << "nothing may be written before the first region";
    memcpy(first, all.data(), 100);
    EXPECT_EQ(sfree(s, first), 0);
    EXPECT_EQ(sclose(s), 0);
    EXPECT_TRUE(contents("out") == all);
}

TEST_F(Writing, ARegionLongerThanAnyBuffer) {
    asf_cios *s = create();
    give(s, "before");
    ssize_t n = 20 * MiB;
    char *p = static_cast<char *>(salloc(s, &n));
    ASSERT_NE(p, nullptr);
    ASSERT_EQ(n, 20 * MiB);
    memset(p, 'x', static_cast<size_t>(n));
    EXPECT_EQ(sfree(s, p), 0);
    give(s, "after");
    EXPECT_EQ(sclose(s), 0);
    EXPECT_TRUE(contents("out") == "before" + std::string(static_cast<size_t>(20 * MiB), 'x') + "after");
}

TEST_F(Writing, ReallocShrinksAndGrows) {
    asf_cios *s = create();
    char *p = fill(s, "0123456789");
    ssize_t n = 4;
    p = static_cast<char *>(srealloc(s, p, &n));
    ASSERT_NE(p, nullptr);
    EXPECT_EQ(n, 4);
    EXPECT_EQ(sfree(s, p), 0);
    p = fill(s, "abc");
    n = 6;
    p = static_cast<char *>(srealloc(s, p, &n));
    ASSERT_NE(p, nullptr);
    EXPECT_EQ(n, 6);
    memcpy(p + 3, "def", 3);
    EXPECT_EQ(sfree(s, p), 0);
    p = fill(s, "gone");
    n = 0;
    p = static_cast<char *>(srealloc(s, p, &n));
    ASSERT_NE(p, nullptr);
    EXPECT_EQ(sfree(s, p), 0);
    give(s, "!");
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(contents("out"), "0123abcdef!");
}

// An empty region and the next region have different addresses, so abandoning one does not affect the other.
TEST_F(Writing, ARegionOfNoBytesIsNotTheNextOne) {
    for (const bool next_first : {false, true})
        for (const bool elsewhere : {false, true}) {
            asf_cios *s = create();
            char *before = fill(s, "before "), *none = fill(s, "gone");
            ssize_t n = 0;
            none = static_cast<char *>(srealloc(s, none, &n));
            ASSERT_NE(none, nullptr);
            EXPECT_EQ(n, 0);
            char *next = fill(s, "given up"), *after = fill(s, "after");
            EXPECT_NE(next, none);
            n = 1;
            EXPECT_EQ(srealloc(s, none, &n), nullptr);
            EXPECT_EQ(n, -EBUSY);
            n = 1;
            if (elsewhere) {
                EXPECT_EQ(sabandon(s, sallocAt(s, &n, 1000, SEEK_SET)), 0);
            }
            EXPECT_EQ(next_first ? sabandon(s, next) : sfree(s, none), 0);
            EXPECT_EQ(next_first ? sfree(s, none) : sabandon(s, next), 0);
            EXPECT_EQ(sfree(s, none), -EINVAL);
            EXPECT_EQ(sfree(s, before), 0);
            EXPECT_EQ(sfree(s, after), 0);
            EXPECT_EQ(sclose(s), 0);
            EXPECT_EQ(contents("out"), "before after");
        }
}

// An empty unfreed region prevents sclose.
TEST_F(Writing, ARegionOfNoBytesKeepsTheStreamOpen) {
    asf_cios *s = create();
    char *none = fill(s, "gone");
    ssize_t n = 0;
    none = static_cast<char *>(srealloc(s, none, &n));
    give(s, "text");
    EXPECT_EQ(sflush(s), 0);
    EXPECT_EQ(contents("out"), "text");
    EXPECT_EQ(sclose(s), -EBUSY);
    EXPECT_EQ(sabandon(s, none), 0);
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(contents("out"), "text");
}

TEST_F(Writing, ReallocGrowsBeyondTheBuffer) {
    asf_cios *s = create();
    give(s, "head ");
    const std::string start = pattern(1000);
    char *p = fill(s, start);
    ssize_t n = 5 * MiB;
    p = static_cast<char *>(srealloc(s, p, &n));
    ASSERT_NE(p, nullptr) << n;
    ASSERT_EQ(n, 5 * MiB);
    EXPECT_EQ(memcmp(p, start.data(), start.size()), 0) << "what was there has moved along";
    const std::string rest = pattern(static_cast<size_t>(5 * MiB) - 1000, 1000);
    memcpy(p + 1000, rest.data(), rest.size());
    EXPECT_EQ(sfree(s, p), 0);
    give(s, " tail");
    EXPECT_EQ(sclose(s), 0);
    EXPECT_TRUE(contents("out") == "head " + start + rest + " tail");
}

TEST_F(Writing, ReallocInSteps) {
    asf_cios *s = create();
    std::string all;
    for (int i = 0; i < 200; i++) {
        const std::string piece = pattern(static_cast<size_t>(1 + i * 37), all.size());
        ssize_t n = 1;
        char *p = static_cast<char *>(salloc(s, &n));
        for (size_t have = 1; have < piece.size(); have = std::min(have * 2, piece.size())) {
            memcpy(p, piece.data(), have);
            n = static_cast<ssize_t>(std::min(have * 2, piece.size()));
            p = static_cast<char *>(srealloc(s, p, &n));
            ASSERT_NE(p, nullptr);
            ASSERT_EQ(memcmp(p, piece.data(), have), 0);
        }
        memcpy(p, piece.data(), piece.size());
        ASSERT_EQ(sfree(s, p), 0);
        all += piece;
    }
    EXPECT_EQ(sclose(s), 0);
    EXPECT_TRUE(contents("out") == all);
}

TEST_F(Writing, ReallocWithAnEarlierRegionOpen) {
    asf_cios *s = create();
    char *a = fill(s, "first "), *b = fill(s, "second");
    ssize_t n = 3;
    void *none = srealloc(s, a, &n);
    expect_none(none, n, -EBUSY);
    n = 500000;
    b = static_cast<char *>(srealloc(s, b, &n));
    ASSERT_NE(b, nullptr) << n;
    EXPECT_EQ(memcmp(b, "second", 6), 0);
    memset(b + 6, 's', 500000 - 6);
    EXPECT_EQ(sfree(s, b), 0);
    EXPECT_EQ(sfree(s, a), 0);
    EXPECT_EQ(sclose(s), 0);
    EXPECT_TRUE(contents("out") == "first second" + std::string(500000 - 6, 's'));
}

// A region larger than memory is refused, and the stream does not change.
TEST_F(Writing, TooLongARegionChangesNothing) {
    if (sanitized)
        GTEST_SKIP();
    const auto refuse = [](asf_cios *s, char *p) {
        ssize_t n = ssize_t{1} << 62;
        void *none = p ? srealloc(s, p, &n) : salloc(s, &n);
        expect_none(none, n, -ENOMEM);
    };
    asf_cios *s = create();
    give(s, "head ");
    char *a = fill(s, std::string(100, 'a'));
    refuse(s, nullptr);
    refuse(s, a);
    char *b = fill(s, std::string(50, 'b'));
    refuse(s, b);
    EXPECT_EQ(contents("out"), "");
    EXPECT_EQ(sfree(s, b), 0);
    EXPECT_EQ(sflush(s), -EBUSY);
    memset(a, 'c', 100);
    EXPECT_EQ(sfree(s, a), 0);
    give(s, " more ");
    a = fill(s, "last word");
    refuse(s, a);
    ssize_t n = 4;
    EXPECT_EQ(srealloc(s, a, &n), a);
    EXPECT_EQ(sfree(s, a), 0);
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(contents("out"), "head " + std::string(100, 'c') + std::string(50, 'b') + " more last");
}

TEST_F(Writing, AtPlaces) {
    asf_cios *s = create();
    give(s, "0123456789");
    const auto at = [&](const char *text, off64_t offset, int whence) {
        ssize_t n = static_cast<ssize_t>(strlen(text));
        void *p = sallocAt(s, &n, offset, whence);
        if (!p)
            return n;
        memcpy(p, text, static_cast<size_t>(n));
        return static_cast<ssize_t>(sfree(s, p));
    };
    EXPECT_EQ(at("ab", 3, SEEK_SET), 0);
    EXPECT_EQ(at("c", 1, SEEK_CUR), 0);
    EXPECT_EQ(at("end", 0, SEEK_END), 0);
    EXPECT_EQ(at("far", 20, SEEK_SET), 0);
    EXPECT_EQ(at("no", -1, SEEK_SET), -EINVAL);
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(contents("out"), std::string("012ab5c789end") + std::string(7, '\0') + "far");
}

TEST_F(Writing, MovesWithRegionsOpen) {
    asf_cios *s = create();
    char *a = fill(s, "aaaa");
    ssize_t n = 4;
    char *b = static_cast<char *>(sallocAt(s, &n, 100, SEEK_SET));
    if (b) {
        memcpy(b, "bbbb", 4);
        EXPECT_EQ(sfree(s, b), 0);
        EXPECT_EQ(sfree(s, a), 0);
        EXPECT_EQ(sclose(s), 0);
        EXPECT_EQ(contents("out"), "aaaa" + std::string(96, '\0') + "bbbb");
    } else {
        EXPECT_EQ(n, -EBUSY) << "either it moves, or it says that it cannot";
        EXPECT_EQ(sfree(s, a), 0);
        EXPECT_EQ(sclose(s), 0);
        EXPECT_EQ(contents("out"), "aaaa");
    }
}

TEST_F(Writing, ErrorsAreReturned) {
    asf_cios *s = must_open("/dev/full", O_WRONLY);
    ssize_t n = 10;
    void *p = salloc(s, &n);
    ASSERT_NE(p, nullptr);
    memset(p, 'x', 10);
    EXPECT_EQ(sfree(s, p), 0);
    EXPECT_EQ(sflush(s), -ENOSPC);
    sclose(s);
    s = must_open("/dev/full", O_WRONLY);
    give(s, "text");
    EXPECT_EQ(sclose(s), -ENOSPC);
}

// A failing sflush loses the output, as fflush does.
TEST_F(Writing, WhatCouldNotBeWrittenIsLost) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_NONBLOCK), 0);
    std::string page(4096, 'x');
    while (write(ends[1], page.data(), page.size()) > 0)
        continue;
    asf_cios *s = asf_sopen_fd(ends[1], O_WRONLY, nullptr);
    ASSERT_NE(s, nullptr);
    give(s, "lost");
    EXPECT_EQ(sflush(s), -EAGAIN);
    EXPECT_EQ(sflush(s), 0);
    while (read(ends[0], page.data(), page.size()) > 0)
        continue;
    give(s, "kept");
    EXPECT_EQ(sclose(s), 0);
    ASSERT_EQ(read(ends[0], page.data(), page.size()), 4);
    EXPECT_EQ(page.substr(0, 4), "kept");
    close(ends[0]);
}

// A file whose size a limit bounds for a while.
class Limited : public Asi {
  protected:
    void SetUp() override {
        Asi::SetUp();
        signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &before);
    }

    void TearDown() override {
        signal(SIGXFSZ, SIG_DFL);
        Asi::TearDown();
    }

    template <typename F> auto with_limit(size_t size, F call) const {
        const rlimit small = {size, before.rlim_max};
        setrlimit(RLIMIT_FSIZE, &small);
        const auto result = call();
        setrlimit(RLIMIT_FSIZE, &before);
        return result;
    }

    static char *fill(asf_cios *s, char with, ssize_t n) {
        return static_cast<char *>(memset(salloc(s, &n), with, static_cast<size_t>(n)));
    }

    // The expected contents: 100 bytes, of which `limit` could be written, and 300000 after them.
    std::string expected(size_t limit, size_t at = 0) const {
        return std::string(at, '\0') + std::string(limit, 'A') + std::string(100 - limit, '\0') +
               std::string(300000, 'B');
    }

    rlimit before = {};
};

TEST_F(Limited, WhatFollowsStaysInItsPlace) {
    for (const size_t limit : {0, 50}) {
        asf_cios *s = must_open(path("out"), O_WRONLY | O_CREAT | O_TRUNC);
        EXPECT_EQ(sfree(s, fill(s, 'A', 100)), 0);
        EXPECT_EQ(with_limit(limit, [&] { return sflush(s); }), -EFBIG);
        EXPECT_EQ(sfree(s, fill(s, 'B', 300000)), 0);
        EXPECT_EQ(sclose(s), 0);
        EXPECT_TRUE(contents("out") == expected(limit)) << limit;
    }
}

// The regions are in one buffer or in two, and are freed in either order.
TEST_F(Limited, WhatFollowsARegionStaysInItsPlace) {
    for (const size_t limit : {0, 50})
        for (const ssize_t first : {100, 300000}) {
            const std::string where = std::to_string(limit) + ", " + std::to_string(first);
            const ssize_t rest = 300000 - first;
            asf_cios *s = must_open(path("out"), O_RDWR | O_CREAT | O_TRUNC);
            ASSERT_EQ(set_stream_mode(s, ASF_WRITE), s);
            char *a = fill(s, 'A', 100), *b = fill(s, 'B', first), *c = rest ? fill(s, 'B', rest) : nullptr;
            EXPECT_EQ(c ? sfree(s, c) : 0, 0);
            EXPECT_EQ(with_limit(limit, [&] { return sfree(s, a) == -EFBIG ? -EFBIG : sflush(s); }), -EFBIG)
                << where;
            EXPECT_EQ(sfree(s, b), 0) << where;
            EXPECT_EQ(sclose(s), 0) << where;
            EXPECT_TRUE(contents("out") == expected(limit)) << where;
        }
}

TEST_F(Limited, WhatFollowsARegionElsewhereStaysInItsPlace) {
    for (const size_t limit : {0, 50}) {
        asf_cios *s = must_open(path("out"), O_WRONLY | O_CREAT | O_TRUNC);
        ssize_t n = 100;
        char *a = static_cast<char *>(memset(sallocAt(s, &n, 1000, SEEK_SET), 'A', 100));
        char *b = fill(s, 'B', 300000);
        n = 1;
        EXPECT_EQ(sabandon(s, sallocAt(s, &n, 0, SEEK_SET)), 0);
        EXPECT_EQ(with_limit(limit ? 1000 + limit : 0, [&] { return sfree(s, a); }), -EFBIG);
        EXPECT_EQ(sfree(s, b), 0);
        EXPECT_EQ(sclose(s), 0);
        EXPECT_TRUE(contents("out") == expected(limit, 1000)) << limit;
    }
}

TEST_F(Limited, InputGoesOnAfterWhatWasLost) {
    asf_cios *s = must_open(put_pattern("file", 1000), O_RDWR);
    EXPECT_EQ(take(s, 10), pattern(10));
    ssize_t n = 100;
    EXPECT_EQ(sfree(s, memset(Salloc(s, ASF_WRITE, &n), 'A', 100)), 0);
    EXPECT_EQ(with_limit(0, [&] { return sflush(s); }), -EFBIG);
    n = 10;
    char *p = static_cast<char *>(Salloc(s, ASF_READ, &n));
    ASSERT_NE(p, nullptr);
    EXPECT_EQ(std::string(p, 10), pattern(10, 110));
    EXPECT_EQ(sfree(s, p), 0);
    EXPECT_EQ(sclose(s), 0);
    EXPECT_TRUE(contents("file") == pattern(1000));
}

TEST_F(Writing, ErrorsOfALargeRegion) {
    asf_cios *s = must_open("/dev/full", O_WRONLY);
    ssize_t n = 5 * MiB;
    void *p = salloc(s, &n);
    ASSERT_NE(p, nullptr);
    memset(p, 'x', static_cast<size_t>(n));
    int freed = sfree(s, p), closed = sclose(s);
    EXPECT_TRUE(freed == -ENOSPC || closed == -ENOSPC) << freed << " " << closed;
}

// The next call tries to write the output that waited for the region; if that fails, the output is lost.
TEST_F(Writing, AnErrorOfQueuedRegionsLetsTheStreamClose) {
    asf_cios *s = must_open("/dev/full", O_WRONLY);
    const std::string text(200000, 'x');
    char *p[] = {fill(s, text), fill(s, text), fill(s, text)};
    EXPECT_EQ(sfree(s, p[2]), 0);
    EXPECT_EQ(sfree(s, p[1]), 0);
    EXPECT_EQ(sclose(s), -EBUSY);
    EXPECT_EQ(sfree(s, p[0]), -ENOSPC);
    EXPECT_EQ(sclose(s), -ENOSPC);
}

TEST_F(Writing, NotOpenForReading) {
    asf_cios *s = create();
    ssize_t n = 10;
    void *p = Salloc(s, ASF_READ, &n);
    expect_none(p, n, -EBADF);
    EXPECT_EQ(set_stream_mode(s, ASF_READ), nullptr);
    EXPECT_EQ(set_stream_mode(s, ASF_WRITE), s);
    give(s, "text");
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(contents("out"), "text");
}

TEST_F(Writing, AppendsToTheEnd) {
    put("out", "already here ");
    asf_cios *s = must_open(path("out"), O_WRONLY | O_APPEND);
    give(s, "one ");
    EXPECT_EQ(sflush(s), 0);
    int fd = open(path("out").c_str(), O_WRONLY | O_APPEND);
    ASSERT_EQ(::write(fd, "another ", 8), 8);
    ::close(fd);
    give(s, "two");
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(contents("out"), "already here one another two");
}

TEST_F(Writing, PermissionsOfANewFile) {
    umask(0);
    asf_cios *s = must_open(path("new"), O_WRONLY | O_CREAT | O_EXCL, 0640);
    sclose(s);
    struct stat st = {};
    stat(path("new").c_str(), &st);
    EXPECT_EQ(st.st_mode & 0777U, 0640U);
    int error = 0;
    EXPECT_EQ(sopen(path("new").c_str(), O_WRONLY | O_CREAT | O_EXCL, 0640, &error), nullptr);
    EXPECT_EQ(error, -EEXIST);
}

TEST_F(Writing, UnlockedForms) {
    asf_cios *s = create();
    lockAsfStream(s);
    ssize_t n = 5;
    char *p = static_cast<char *>(u_salloc(s, &n));
    memcpy(p, "12345", 5);
    n = 3;
    p = static_cast<char *>(u_srealloc(s, p, &n));
    EXPECT_EQ(u_sfree(s, p), 0);
    n = 2;
    p = static_cast<char *>(u_sallocAt(s, &n, 5, SEEK_SET));
    memcpy(p, "67", 2);
    EXPECT_EQ(u_sfree(s, p), 0);
    n = 1;
    p = static_cast<char *>(u_Salloc(s, ASF_WRITE, &n));
    *p = '8';
    EXPECT_EQ(u_sfree(s, p), 0);
    n = 2;
    p = static_cast<char *>(u_SallocAt(s, ASF_WRITE, &n, 3, SEEK_SET));
    memcpy(p, "45", 2);
    EXPECT_EQ(u_sfree(s, p), 0);
    EXPECT_EQ(u_sflush(s), 0);
    unlockAsfStream(s);
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(contents("out"), "12345678");
}

} // namespace
} // namespace asi
