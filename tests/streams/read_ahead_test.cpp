// SPDX-License-Identifier: MIT
//
// read_ahead_test.cpp - the read-ahead that the library requests from the kernel, and when it requests none.
#include <algorithm>

#include "tests/interfaces/asi/asi_test.h"
#include "tests/streams/private_headers.h"

namespace asi {
namespace {

struct Asked {
    off64_t at, n;
    int advice;
};

std::vector<Asked> asked;
int looks;
size_t largest_read;
ssize_t (*kernel_read)(int fd, void *buf, size_t n);

int note(int, off64_t at, off64_t n, int advice) {
    asked.push_back({at, n, advice});
    return 0;
}

bool in_memory(int, off64_t) {
    looks++;
    return false;
}

// As if the kernel read nothing by itself: a page is on the disk only, unless the library has requested it.
bool on_disk(int, off64_t at) {
    looks++;
    return std::none_of(asked.begin(), asked.end(),
                        [at](const Asked &a) { return a.at <= at && at < a.at + a.n; });
}

ssize_t note_read(int fd, void *buf, size_t n) {
    largest_read = std::max(largest_read, n);
    return kernel_read(fd, buf, n);
}

class ReadAhead : public Asi, public testing::WithParamInterface<const char *> {
  protected:
    void SetUp() override {
        Asi::SetUp();
        strcpy(options().module, GetParam());
        options().map_min = 0;
        options().window = 8 << 20;
        kernel_read = asf__sys.read;
        asf__sys.advise = note;
        asf__sys.unasked = on_disk;
        asked.clear();
        looks = 0;
        largest_read = 0;
    }

    static void read_on(asf_cios *s, ssize_t bytes) {
        while (bytes > 0) {
            ssize_t n = std::min<ssize_t>(bytes, 64 << 10);
            void *p = salloc(s, &n);
            if (!p)
                return;
            EXPECT_EQ(sfree(s, p), 0);
            bytes -= n;
        }
    }

    // Expects adjacent requests of at most 128 KB, the kernel's limit; returns their end.
    static off64_t end_of_pieces(off64_t from) {
        for (const Asked &a : asked) {
            if (a.advice != POSIX_FADV_WILLNEED)
                continue;
            EXPECT_EQ(a.at, from);
            EXPECT_LE(a.n, 128 << 10);
            from = a.at + a.n;
        }
        return from;
    }

    Restore restore;
};

TEST_P(ReadAhead, BeginsWithinSequentialReadingOfAColdFile) {
    const ssize_t size = 40 * MiB + 5;
    asf_cios *s = must_open(put("file", std::string(static_cast<size_t>(size), 'x')), O_RDONLY);
    read_on(s, MiB - 1);
    EXPECT_TRUE(asked.empty());
    read_on(s, 9 * MiB);
    ASSERT_FALSE(asked.empty());
    off64_t first = asked[0].at;
    EXPECT_GE(first, MiB);
    EXPECT_LE(first, 8 * MiB);
    EXPECT_GE(end_of_pieces(first), 20 * MiB);
    EXPECT_LE(end_of_pieces(first), 32 * MiB);
    read_on(s, size);
    EXPECT_GE(end_of_pieces(first), size);
    EXPECT_LT(end_of_pieces(first), size + (128 << 10));
    EXPECT_EQ(sclose(s), 0);
}

TEST_P(ReadAhead, AtOnceWhereItWasAdvised) {
    asf_cios *s = must_open(put("file", std::string(20 * MiB, 'x')), O_RDONLY);
    ASSERT_EQ(asf_advise(s, ASF_SEQUENTIAL), 0);
    ASSERT_EQ(asked.size(), 1U);
    EXPECT_EQ(asked[0].advice, POSIX_FADV_SEQUENTIAL);
    read_on(s, 10);
    EXPECT_GE(end_of_pieces(0), 16 * MiB);
    EXPECT_EQ(sclose(s), 0);
}

TEST_P(ReadAhead, NotOfWhatIsInMemory) {
    asf__sys.unasked = in_memory;
    asf_cios *s = must_open(put("file", std::string(64 * MiB, 'x')), O_RDONLY);
    read_on(s, 64 * MiB);
    EXPECT_TRUE(asked.empty());
    EXPECT_LE(looks, 16);
    EXPECT_EQ(sclose(s), 0);
}

TEST_P(ReadAhead, NothingIsLookedAtInASmallFile) {
    asf_cios *s = must_open(put("file", std::string(2 * MiB, 'x')), O_RDONLY);
    read_on(s, 4 * MiB);
    EXPECT_TRUE(asked.empty());
    EXPECT_EQ(looks, 0);
    EXPECT_EQ(sclose(s), 0);
}

TEST_P(ReadAhead, NotWhereTheProgramGoesAbout) {
    asf_cios *s = must_open(put("file", std::string(64 * MiB, 'x')), O_RDONLY);
    for (int i = 0; i < 60; i++) {
        ssize_t n = 100;
        void *p = sallocAt(s, &n, i * 37 % 60 * MiB, SEEK_SET);
        ASSERT_NE(p, nullptr);
        EXPECT_EQ(sfree(s, p), 0);
    }
    EXPECT_TRUE(asked.empty());
    EXPECT_EQ(sclose(s), 0);
}

TEST_P(ReadAhead, RandomReadsLittle) {
    asf__sys.read = note_read;
    asf_cios *s = must_open(put("file", std::string(20 * MiB, 'x')), O_RDONLY);
    ASSERT_EQ(asf_advise(s, ASF_RANDOM), 0);
    ASSERT_EQ(asked.size(), 1U);
    EXPECT_EQ(asked[0].advice, POSIX_FADV_RANDOM);
    for (int i = 0; i < 20; i++) {
        ssize_t n = 100;
        void *p = sallocAt(s, &n, i * 7 % 20 * MiB, SEEK_SET);
        ASSERT_NE(p, nullptr);
        EXPECT_EQ(sfree(s, p), 0);
        p = salloc(s, &n);
        ASSERT_NE(p, nullptr);
        EXPECT_EQ(sfree(s, p), 0);
    }
    EXPECT_EQ(largest_read, 4096U);
    read_on(s, 3 * MiB);
    EXPECT_EQ(asked.size(), 1U);
    EXPECT_EQ(looks, 0);
    EXPECT_EQ(sclose(s), 0);
}

INSTANTIATE_TEST_SUITE_P(Modules, ReadAhead, testing::Values("map", "read"),
                         [](const auto &module) { return std::string(module.param); });

} // namespace
} // namespace asi
