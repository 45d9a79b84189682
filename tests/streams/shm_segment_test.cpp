// SPDX-License-Identifier: MIT
//
// shm_segment_test.cpp - segments of shared memory as streams of the Alloc Stream Interface: they must give
// the same bytes as a file, in place.
#include <asf/shm.h>

#include "tests/interfaces/asi/asi_test.h"

namespace asi {
namespace {

class ShmSegment : public Asi, public testing::WithParamInterface<const char *> {
  protected:
    static constexpr size_t size = 100000;

    void SetUp() override {
        Asi::SetUp();
        shm = asf_shm_create_on(GetParam(), "stream", 0600, size);
        ASSERT_NE(shm, nullptr) << asf_shm_why();
        label.assign(shm, strcspn(shm, "\n"));
        data = shm + ASF_SHM_HEAD;
    }

    void TearDown() override {
        const bool broken = asf_shm_remove(label.c_str()) == -ESTALE;
        EXPECT_TRUE(!broken || asf_shm_remove(label.substr(0, label.find(' ')).c_str()) == 0);
        asf_shm_close(shm);
        Asi::TearDown();
    }

    asf_cios *open_segment(int flags) {
        int error = 1;
        asf_cios *s = asf_shm_sopen(label.c_str(), flags, &error);
        EXPECT_NE(s, nullptr) << asf_shm_why();
        EXPECT_EQ(error, 0);
        return s;
    }

    void fill() { memcpy(data, pattern(size).data(), size); }

    char *shm = nullptr, *data = nullptr;
    std::string label;
};

TEST_P(ShmSegment, IsNamed) {
    asf_cios *s = open_segment(O_RDONLY);
    EXPECT_STREQ(asf_module_name(s), "segment");
    EXPECT_STREQ(asf_module_why(s), "a segment of shared memory");
    EXPECT_EQ(asf_fileno(s), -EBADF);
    EXPECT_EQ(sclose(s), 0);
}

TEST_P(ShmSegment, ReadsInPlace) {
    fill();
    asf_cios *s = open_segment(O_RDONLY);
    ssize_t n = 10, m = 20;
    char *one = static_cast<char *>(salloc(s, &n)), *two = static_cast<char *>(salloc(s, &m));
    EXPECT_EQ(two, one + 10) << "regions are neighbours, as in the segment";
    data[9] = 'x';
    EXPECT_EQ(one[9], 'x') << "not a copy";
    EXPECT_EQ(sfree(s, one), 0);
    EXPECT_EQ(sfree(s, two), 0);
    EXPECT_EQ(take(s, 1000000), pattern(size - 30, 30)) << "less at the end";
    EXPECT_EQ(take(s, 1), "");
    EXPECT_EQ(take(s, 1), "") << "still the end";
    EXPECT_EQ(sclose(s), 0);
}

TEST_P(ShmSegment, ReadsInAnyPieces) {
    fill();
    for (const ssize_t piece : {1, 7, 4096, 8191, 99999, 100000, 100001}) {
        asf_cios *s = open_segment(O_RDONLY);
        size_t at = 0;
        for (ssize_t n = piece; char *p = static_cast<char *>(salloc_some(s, &n)); n = piece) {
            ASSERT_EQ(first_wrong(p, static_cast<size_t>(n), at), static_cast<size_t>(n));
            at += static_cast<size_t>(n);
            ASSERT_EQ(sfree(s, p), 0);
        }
        EXPECT_EQ(at, size);
        EXPECT_EQ(sclose(s), 0);
    }
}

TEST_P(ShmSegment, WritesInPlace) {
    asf_cios *s = open_segment(O_WRONLY);
    const std::string all = pattern(size);
    give(s, std::string_view(all).substr(0, 10));
    EXPECT_EQ(memcmp(data, all.data(), 10), 0) << "seen at once, with nothing flushed";
    for (size_t at = 10; at < all.size(); at += 999)
        give(s, std::string_view(all).substr(at, 999));
    EXPECT_EQ(sflush(s), 0);
    ssize_t n = 1;
    void *p = salloc(s, &n);
    expect_none(p, n, -ENOSPC);
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(memcmp(data, all.data(), size), 0);
}

TEST_P(ShmSegment, ARegionMustFit) {
    asf_cios *s = open_segment(O_WRONLY);
    ssize_t n = static_cast<ssize_t>(size) + 1;
    void *p = salloc(s, &n);
    expect_none(p, n, -ENOSPC);
    n = static_cast<ssize_t>(size);
    p = salloc(s, &n);
    ASSERT_NE(p, nullptr) << "all of it fits";
    n = 1;
    void *none = salloc(s, &n);
    expect_none(none, n, -ENOSPC);
    EXPECT_EQ(sclose(s), -EBUSY) << "while a region is out";
    EXPECT_EQ(sfree(s, p), 0);
    EXPECT_EQ(sclose(s), 0);
}

TEST_P(ShmSegment, BothWaysWithSeeks) {
    fill();
    asf_cios *s = open_segment(O_RDWR);
    EXPECT_EQ(take(s, 10), pattern(10));
    ASSERT_EQ(set_stream_mode(s, ASF_WRITE), s);
    give(s, "written");
    ASSERT_EQ(set_stream_mode(s, ASF_READ), s);
    EXPECT_EQ(take(s, 10), pattern(10, 17)) << "reading goes on behind what was written";
    ssize_t n = 3;
    char *p = static_cast<char *>(SallocAt(s, ASF_WRITE, &n, -3, SEEK_END));
    ASSERT_NE(p, nullptr);
    memcpy(p, "end", 3);
    EXPECT_EQ(sfree(s, p), 0);
    n = 7;
    p = static_cast<char *>(SallocAt(s, ASF_READ, &n, 10, SEEK_SET));
    ASSERT_NE(p, nullptr);
    EXPECT_EQ(std::string(p, 7), "written");
    EXPECT_EQ(sfree(s, p), 0);
    EXPECT_EQ(sclose(s), 0);
    const std::string wanted = pattern(10) + "written" + pattern(size - 20, 17) + "end";
    EXPECT_EQ(memcmp(data, wanted.data(), size), 0);
}

TEST_P(ShmSegment, OutputBehindInputReachesTheEnd) {
    for (const size_t read : {1U, 50U, 8191U, 99999U}) {
        fill();
        asf_cios *s = open_segment(O_RDWR);
        EXPECT_EQ(take(s, static_cast<ssize_t>(read)), pattern(read));
        ASSERT_EQ(set_stream_mode(s, ASF_WRITE), s);
        const std::string rest(size - read, 'x');
        give(s, rest);
        EXPECT_EQ(sclose(s), 0);
        EXPECT_EQ(std::string(data, size), pattern(read) + rest);
    }
}

TEST_P(ShmSegment, RegionsOutliveAChangeOfMode) {
    asf_cios *s = open_segment(O_RDWR);
    ssize_t n = 100;
    ASSERT_EQ(set_stream_mode(s, ASF_WRITE), s);
    char *out = static_cast<char *>(salloc(s, &n));
    ASSERT_NE(out, nullptr);
    EXPECT_EQ(sflush(s), -EBUSY);
    memcpy(out, pattern(100).data(), 100);
    EXPECT_EQ(sfree(s, out), 0);
    n = 50;
    char *in = static_cast<char *>(SallocAt(s, ASF_READ, &n, 0, SEEK_SET));
    ASSERT_NE(in, nullptr);
    ASSERT_EQ(set_stream_mode(s, ASF_WRITE), s);
    give(s, "x");
    EXPECT_EQ(std::string(in, 50), pattern(50)) << "an input region stays";
    EXPECT_EQ(sfree(s, in), 0);
    EXPECT_EQ(data[50], 'x');
    EXPECT_EQ(sclose(s), 0);
}

TEST_P(ShmSegment, RegionsAreChanged) {
    fill();
    asf_cios *s = open_segment(O_RDWR);
    ssize_t n = 100;
    void *p = salloc(s, &n);
    n = 10;
    EXPECT_EQ(srealloc(s, p, &n), p);
    n = 200;
    EXPECT_EQ(srealloc(s, p, &n), p);
    EXPECT_EQ(n, 200);
    EXPECT_EQ(sfree(s, p), 0);
    ASSERT_EQ(set_stream_mode(s, ASF_WRITE), s);
    n = 100;
    p = salloc(s, &n);
    for (const ssize_t length : {50, 5000, static_cast<int>(size) - 200}) {
        n = length;
        EXPECT_EQ(srealloc(s, p, &n), p) << "it need not move";
    }
    n = static_cast<ssize_t>(size) - 199;
    EXPECT_EQ(srealloc(s, p, &n), nullptr);
    EXPECT_EQ(n, -ENOSPC);
    EXPECT_EQ(sclose(s), -EBUSY) << "the region is as it was";
    EXPECT_EQ(sfree(s, p), 0);
    EXPECT_EQ(sclose(s), 0);
}

TEST_P(ShmSegment, SeeksOnlyWithin) {
    asf_cios *s = open_segment(O_RDONLY);
    const auto refused = [&](int64_t offset, int whence) {
        ssize_t n = 1;
        EXPECT_EQ(sallocAt(s, &n, offset, whence), nullptr);
        return n;
    };
    EXPECT_EQ(refused(size, SEEK_SET), 0) << "the end";
    EXPECT_EQ(refused(size + 1, SEEK_SET), -EINVAL);
    EXPECT_EQ(refused(-1, SEEK_SET), -EINVAL);
    EXPECT_EQ(refused(1, SEEK_END), -EINVAL);
    EXPECT_EQ(refused(INT64_MAX, SEEK_END), -EINVAL);
    EXPECT_EQ(refused(INT64_MIN, SEEK_END), -EINVAL);
    EXPECT_EQ(refused(-static_cast<int64_t>(size) - 1, SEEK_END), -EINVAL);
    EXPECT_EQ(sclose(s), 0);
}

TEST_P(ShmSegment, OpensOnlyWhatItCan) {
    int error = 0;
    const std::string stale = label + "x";
    EXPECT_EQ(asf_shm_sopen(stale.c_str(), O_RDONLY, &error), nullptr);
    EXPECT_EQ(error, -ESTALE);
    EXPECT_EQ(asf_shm_sopen("nonsense", O_RDONLY, &error), nullptr);
    EXPECT_EQ(error, -EINVAL);
    for (const int flags : {O_ACCMODE, O_RDWR | O_TRUNC, O_WRONLY | O_APPEND, O_RDONLY | O_CREAT}) {
        EXPECT_EQ(asf_shm_sopen(label.c_str(), flags, &error), nullptr);
        EXPECT_EQ(error, -EINVAL);
    }
    EXPECT_EQ(asf_shm_sopen("nonsense", O_RDONLY, nullptr), nullptr);
    asf_cios *s = open_segment(O_RDONLY);
    EXPECT_EQ(set_stream_mode(s, ASF_WRITE), nullptr);
    EXPECT_EQ(sclose(s), 0);
    s = open_segment(O_WRONLY);
    ssize_t n = 1;
    EXPECT_EQ(set_stream_mode(s, ASF_READ), nullptr);
    EXPECT_NE(salloc(s, &n), nullptr) << "it writes";
    EXPECT_EQ(sclose(s), -EBUSY);
}

TEST_P(ShmSegment, RemovedOrEmpty) {
    fill();
    asf_cios *s = open_segment(O_RDONLY);
    char *empty = asf_shm_create_on(GetParam(), "empty", 0600, 0);
    ASSERT_NE(empty, nullptr);
    asf_cios *nothing = asf_shm_sopen(empty, O_RDWR, nullptr);
    ASSERT_NE(nothing, nullptr);
    EXPECT_EQ(asf_shm_remove(std::string(empty, strcspn(empty, "\n")).c_str()), 0);
    EXPECT_EQ(take(nothing, 1), "");
    ssize_t n = 1;
    void *p = Salloc(nothing, ASF_WRITE, &n);
    expect_none(p, n, -ENOSPC);
    EXPECT_EQ(sclose(nothing), 0);
    EXPECT_EQ(asf_shm_close(empty), 0);
    EXPECT_EQ(take(s, size), pattern(size));
    EXPECT_EQ(sclose(s), 0);
}

TEST_P(ShmSegment, TruncatedWhileOpen) {
    if (label[0] != 'p')
        GTEST_SKIP() << "what shmget makes cannot be truncated";
    fill();
    asf_cios *s = open_segment(O_RDONLY);
    EXPECT_EQ(take(s, 10), pattern(10));
    const std::string file = "/dev/shm/asf-shm." + label.substr(0, label.find(' '));
    ASSERT_EQ(truncate(file.c_str(), 4096), 0);
    EXPECT_EQ(take(s, size).substr(8192), std::string(size - 10 - 8192, '\0')) << "zeros";
    EXPECT_EQ(sclose(s), -EIO) << "and it is told";
}

INSTANTIATE_TEST_SUITE_P(On, ShmSegment, testing::Values("posix", "sysv"),
                         [](const auto &on) { return std::string(on.param); });

} // namespace
} // namespace asi
