/* SPDX-License-Identifier: MIT
 *
 * truncated_region_test.cpp - ASI regions of a file that is truncated while they are held: the remaining
 * bytes stay readable, lost bytes read as zeros, sfree returns -EIO, and no process is killed.
 */
#include <asf/asf.h>
#include <asf/decode.h>
#include <asf/lines.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr size_t file_size = 3 << 20;

/* A file of numbered records, large enough for the mapped module. */
class TruncatedRegion : public testing::Test {
  protected:
    void SetUp() override {
        char name[] = "/tmp/asf-truncated.XXXXXX";
        fd = mkstemp(name);
        ASSERT_GE(fd, 0);
        path = name;
        for (size_t i = 0; text.size() < file_size; i++)
            text += std::to_string(i + 1000000) + "\n";
        text.resize(file_size);
        ASSERT_EQ(write(fd, text.data(), text.size()), static_cast<ssize_t>(file_size));
    }

    void TearDown() override {
        close(fd);
        unlink(path.c_str());
    }

    asf_cios *open_stream() const {
        int error = 0;
        asf_cios *stream = sopen(path.c_str(), O_RDONLY, 0, &error);
        EXPECT_EQ(error, 0);
        return stream;
    }

    bool is_mapped() const {
        asf_cios *stream = open_stream();
        ssize_t length = 1;
        void *byte = salloc(stream, &length);
        bool mapped = std::string_view(asf_module_name(stream)).find("map") != std::string_view::npos;
        sfree(stream, byte);
        sclose(stream);
        return mapped;
    }

    void cut(size_t size) const { ASSERT_EQ(ftruncate(fd, static_cast<off_t>(size)), 0); }

    /* Rewrites the file in place, as `cp new old` does; the size may change. */
    void rewrite(char with, size_t size = file_size) const {
        const std::string all(size, with);
        cut(0);
        ASSERT_EQ(pwrite(fd, all.data(), all.size(), 0), static_cast<ssize_t>(size));
    }

    static char *region_of(asf_cios *stream, ssize_t length) {
        const ssize_t wanted = length;
        auto *region = static_cast<char *>(salloc(stream, &length));
        EXPECT_EQ(length, wanted);
        return region;
    }

    /* Expects the file's bytes up to `left`, and then zeros or the file's bytes. */
    void expect_region(const char *region, size_t start, size_t length, size_t left) const {
        for (size_t i = 0; i < length; i++) {
            char want = text[start + i];
            bool right = region[i] == want || (start + i >= left && region[i] == '\0');
            ASSERT_TRUE(right) << "byte " << start + i << " is " << int(region[i]) << ", not " << int(want);
        }
    }

    std::string path, text;
    int fd = -1;
};

TEST_F(TruncatedRegion, WholeRegionBeforeTheCutIsUntouched) {
    asf_cios *stream = open_stream();
    ssize_t length = 1 << 20;
    const char *region = static_cast<char *>(salloc(stream, &length));
    ASSERT_EQ(length, 1 << 20);
    cut(2 << 20);
    EXPECT_EQ(std::string_view(region, static_cast<size_t>(length)),
              std::string_view(text).substr(0, 1 << 20));
    EXPECT_EQ(sfree(stream, const_cast<char *>(region)), 0);
    EXPECT_EQ(sclose(stream), 0);
}

TEST_F(TruncatedRegion, MissingPartReadsAsZerosAndSfreeSaysEio) {
    if (!is_mapped())
        GTEST_SKIP() << "this file is not served by mapping here";
    asf_cios *stream = open_stream();
    ssize_t length = 2 << 20;
    char *region = static_cast<char *>(salloc(stream, &length));
    ASSERT_EQ(length, 2 << 20);
    cut(1 << 20);
    expect_region(region, 0, 2 << 20, 1 << 20);
    EXPECT_EQ(region[(2 << 20) - 1], '\0');
    EXPECT_EQ(sfree(stream, region), -EIO);
    EXPECT_EQ(sclose(stream), 0);
}

TEST_F(TruncatedRegion, CutInsideAPageKeepsTheRestOfThatPage) {
    asf_cios *stream = open_stream();
    ssize_t length = 1 << 20;
    char *region = static_cast<char *>(salloc(stream, &length));
    ASSERT_NE(region, nullptr);
    cut(500001);
    expect_region(region, 0, 1 << 20, 500001);
    EXPECT_EQ(memcmp(region, text.data(), 500001), 0);
    sfree(stream, region);
    EXPECT_EQ(sclose(stream), 0);
}

/* Reads the next 100,000 bytes; returns sfree's result, or 1 at the end. */
int read_on(asf_cios *stream, size_t *total, const std::function<void(const char *, size_t)> &check) {
    ssize_t length = 100000;
    char *region = static_cast<char *>(salloc(stream, &length));
    if (!region)
        return length == 0 ? 1 : static_cast<int>(length);
    check(region, static_cast<size_t>(length));
    *total += static_cast<size_t>(length);
    return sfree(stream, region);
}

/* The stream need not examine the file's size before each region, so one region may cross the new end; its
 * sfree then reports it. */
TEST_F(TruncatedRegion, StreamEndsWhereTheFileEndsNow) {
    constexpr size_t left = 1 << 20;
    asf_cios *stream = open_stream();
    size_t total = 0;
    auto check = [&](const char *region, size_t length) { expect_region(region, total, length, left); };
    EXPECT_EQ(read_on(stream, &total, check), 0);
    cut(left);
    int said = 0;
    while ((said = read_on(stream, &total, check)) == 0)
        ;
    EXPECT_TRUE(said == 1 ? total == left : said == -EIO && total < left + 100000) << said << " at " << total;
    int then = read_on(stream, &total, check);
    EXPECT_TRUE(then == 1 || then == -EIO) << then;
    EXPECT_LT(total, left + 100000);
    EXPECT_EQ(sclose(stream), 0);
}

TEST_F(TruncatedRegion, FileEmptiedUnderTheStream) {
    asf_cios *stream = open_stream();
    ssize_t length = 10;
    void *region = salloc(stream, &length);
    ASSERT_EQ(length, 10);
    cut(0);
    sfree(stream, region);
    for (int i = 0; i < 3; i++) {
        length = 4096;
        region = salloc(stream, &length);
        /* A module may return bytes that it copied before the truncation. */
        if (region)
            expect_region(static_cast<char *>(region), static_cast<size_t>(10 + i * 4096),
                          static_cast<size_t>(length), 0);
        if (region)
            sfree(stream, region);
    }
    EXPECT_EQ(sclose(stream), 0);
}

TEST_F(TruncatedRegion, RegionsFreedInAnyOrderByOtherThreads) {
    asf_cios *stream = open_stream();
    std::vector<char *> regions;
    std::vector<ssize_t> lengths;
    for (int i = 0; i < 20; i++) {
        ssize_t length = 100000;
        regions.push_back(static_cast<char *>(salloc(stream, &length)));
        lengths.push_back(length);
    }
    cut(1000000);
    std::vector<std::thread> threads;
    for (size_t part = 0; part < 4; part++)
        threads.emplace_back([&, part] {
            for (size_t i = 20 - part; i-- > 0 && i < 20; i -= std::min<size_t>(i, 3)) {
                expect_region(regions[i], i * 100000, static_cast<size_t>(lengths[i]), 1000000);
                if (i < 4)
                    break;
            }
        });
    for (auto &thread : threads)
        thread.join();
    for (size_t i = 20; i-- > 0;) {
        int error = sfree(stream, regions[i]);
        EXPECT_TRUE(error == 0 || (error == -EIO && i >= 9)) << i << ": " << error;
    }
    EXPECT_EQ(sclose(stream), 0);
}

TEST_F(TruncatedRegion, GivenToWriteTheKernelSaysEfaultAndNobodyDies) {
    if (!is_mapped())
        GTEST_SKIP() << "this file is not served by mapping here";
    asf_cios *stream = open_stream();
    ssize_t length = 1 << 20;
    char *region = static_cast<char *>(salloc(stream, &length));
    cut(8192);
    int sink = open("/dev/shm", O_TMPFILE | O_WRONLY, 0600);
    if (sink < 0)
        sink = open("/tmp", O_TMPFILE | O_WRONLY, 0600);
    ASSERT_GE(sink, 0);
    ssize_t written = write(sink, region, 1 << 20);
    EXPECT_TRUE(written == 8192 || (written < 0 && errno == EFAULT)) << written;
    close(sink);
    sfree(stream, region);
    EXPECT_EQ(sclose(stream), 0);
}

/* --- cut off and grown again ------------------------------------------------------ */

constexpr size_t half = file_size / 2;

using Regrown = TruncatedRegion;

TEST_F(Regrown, WhatHasShownZerosIsTold) {
    if (!is_mapped())
        GTEST_SKIP() << "this file is not served by mapping here";
    asf_cios *stream = open_stream();
    char *before = region_of(stream, 1 << 20), *region = region_of(stream, 900000),
         *after = region_of(stream, 1000);
    cut(half);
    EXPECT_EQ(region[800000], '\0');
    rewrite('n');
    EXPECT_EQ(region[800000], '\0');
    EXPECT_EQ(after[999], 'n');
    EXPECT_EQ(sfree(stream, region), -EIO);
    EXPECT_EQ(sfree(stream, before), 0) << "it lies before what was cut off";
    EXPECT_EQ(sfree(stream, after), -EIO) << "nobody knows what it has shown";
    char *next = region_of(stream, 1000);
    EXPECT_EQ(std::string(next, 1000), std::string(1000, 'n'));
    EXPECT_EQ(sfree(stream, next), 0);
    EXPECT_EQ(sclose(stream), 0);
}

/* The rest of the page in which the file ended reads as zeros without a fault. */
TEST_F(Regrown, ARegionThatEndsInTheLastPageIsTold) {
    if (!is_mapped())
        GTEST_SKIP() << "this file is not served by mapping here";
    asf_cios *stream = open_stream();
    char *before = region_of(stream, (1 << 20) - 4096), *region = region_of(stream, 2000),
         *after = region_of(stream, 100000);
    cut((1 << 20) - 4096 + 1000);
    EXPECT_EQ(region[1500], '\0');
    EXPECT_EQ(after[5000], '\0');
    rewrite('n');
    EXPECT_EQ(sfree(stream, before), 0);
    EXPECT_EQ(sfree(stream, region), -EIO);
    EXPECT_EQ(sfree(stream, after), -EIO);
    EXPECT_EQ(sclose(stream), 0);
}

/* The stream continues at its offset, with the file's present bytes. */
TEST_F(Regrown, WhatComesNextIsTheFiles) {
    for (const bool seeks : {false, true}) {
        asf_cios *stream = open_stream();
        char *region = region_of(stream, (2 << 20) + 100000);
        ssize_t n = 2 << 20;
        cut(half);
        const bool mapped = region[(2 << 20) + 50000] == '\0' && region[(2 << 20) - 1] == '\0';
        EXPECT_EQ(srealloc(stream, region, &n), region);
        rewrite('n');
        n = 100000;
        auto *next =
            static_cast<char *>(seeks ? sallocAt(stream, &n, 2 << 20, SEEK_SET) : salloc(stream, &n));
        ASSERT_EQ(n, 100000);
        if (mapped) {
            EXPECT_TRUE(std::string(next, 100000) == std::string(100000, 'n'));
        }
        EXPECT_EQ(sfree(stream, next), 0);
        EXPECT_EQ(sfree(stream, region), mapped ? -EIO : 0);
        EXPECT_EQ(sclose(stream), 0);
        TearDown();
        SetUp();
    }
}

TEST_F(Regrown, ARegionThatIsToGrowIsTold) {
    if (!is_mapped())
        GTEST_SKIP() << "this file is not served by mapping here";
    asf_cios *stream = open_stream();
    char *region = region_of(stream, 2 << 20);
    cut(half);
    EXPECT_EQ(region[(2 << 20) - 1], '\0');
    rewrite('n');
    ssize_t more = (2 << 20) + 1000;
    EXPECT_EQ(srealloc(stream, region, &more), nullptr);
    EXPECT_EQ(more, -EIO);
    EXPECT_EQ(sfree(stream, region), -EIO);
    EXPECT_EQ(sclose(stream), 0);
}

TEST_F(Regrown, LinesAreTold) {
    if (!is_mapped())
        GTEST_SKIP() << "this file is not served by mapping here";
    asf_cios *stream = open_stream();
    asf_lines lines;
    ssize_t n = 0;
    bool zeros = false;
    asf_lines_begin(&lines, stream, '\n', 0);
    ASSERT_NE(asf_lines_next(&lines, &n), nullptr);
    cut(half);
    ASSERT_EQ(n, 7);
    const char *line = nullptr;
    /* Touches the page after the end, before the file grows again: a line may have bytes of both states. */
    for (size_t at = 8; at + 8 < half; at += 8)
        ASSERT_NE(asf_lines_next(&lines, &n), nullptr);
    std::thread([&] { (void)*static_cast<const volatile char *>(lines.line + 10000); }).join();
    ASSERT_EQ(pwrite(fd, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    while ((line = asf_lines_next(&lines, &n)) != nullptr)
        zeros = zeros || memchr(line, '\0', static_cast<size_t>(n));
    if (zeros) {
        EXPECT_EQ(n, -EIO);
    }
    asf_lines_end(&lines);
    EXPECT_EQ(sclose(stream), 0);
}

TEST_F(Regrown, WhatIsReadAnywhereIsTold) {
    asf_cios *stream = open_stream();
    const auto at = [&](size_t place, ssize_t n) {
        return static_cast<char *>(sallocAt(stream, &n, static_cast<int64_t>(place), SEEK_SET));
    };
    for (size_t i = 0; i < 1000; i++) /* enough reads for the file to be mapped */
        ASSERT_EQ(sfree(stream, at(i * 1000 % half, 100)), 0);
    char *before = at(1000, 1000), *region = at(half + 100000, 1000), *after = at(half + 500000, 1000);
    cut(half);
    if (region[500] != '\0')
        GTEST_SKIP() << "this file is not served by mapping here";
    rewrite('n');
    EXPECT_EQ(after[999], 'n');
    EXPECT_EQ(sfree(stream, before), 0);
    EXPECT_EQ(sfree(stream, region), -EIO);
    EXPECT_EQ(sfree(stream, after), -EIO);
    region = at(half + 100000, 1000);
    EXPECT_EQ(std::string(region, 1000), std::string(1000, 'n'));
    EXPECT_EQ(sfree(stream, region), 0);
    EXPECT_EQ(sclose(stream), 0);
}

// A decoder that copies: only the regions can report an error.
int decode_plain(void *, asf_decoding *d) {
    const size_t n = std::min(d->in_size, d->out_size);
    memcpy(d->out, d->in, n);
    d->in += n;
    d->in_size -= n;
    d->out += n;
    d->out_size -= n;
    return 1;
}

const asf_decoder plain = {sizeof(asf_decoder),
                           ASF_DECODER_VERSION,
                           "plain",
                           [] { return static_cast<void *>(const_cast<asf_decoder *>(&plain)); },
                           decode_plain,
                           [](void *) {},
                           nullptr};

TEST_F(TruncatedRegion, UnderADecoderReadingFails) {
    int error = 0;
    size_t total = 0;
    bool zeros = false;
    asf_cios *stream = asf_decode_with(open_stream(), &plain, &error);
    ASSERT_NE(stream, nullptr);
    auto check = [&](const char *region, size_t length) {
        expect_region(region, total, length, 0);
        zeros = zeros || memchr(region, 0, length);
    };
    while (total < 1000000)
        ASSERT_EQ(read_on(stream, &total, check), 0);
    cut(0);
    int said = 0;
    while ((said = read_on(stream, &total, check)) == 0)
        ;
    EXPECT_TRUE(said == -EIO || (said == 1 && !zeros)) << said << " at " << total;
    EXPECT_EQ(sclose(stream), 0);
}

sigjmp_buf back;
void own_handler(int) {
    siglongjmp(back, 1);
}

/* In a child: touches a missing page of the program's own mapping. */
[[noreturn]] void touch_own_missing_page(const char *path, bool handler_first) {
    struct sigaction action {};
    action.sa_handler = own_handler;
    if (handler_first)
        sigaction(SIGBUS, &action, nullptr);
    int error = 0;
    asf_cios *stream = sopen(path, O_RDONLY, 0, &error);
    ssize_t length = 1 << 20;
    if (!salloc(stream, &length))
        _exit(2);
    if (!handler_first)
        sigaction(SIGBUS, &action, nullptr);
    int empty = open("/tmp", O_TMPFILE | O_RDWR, 0600);
    auto *page = static_cast<volatile char *>(mmap(nullptr, 4096, PROT_READ, MAP_SHARED, empty, 0));
    if (sigsetjmp(back, 1))
        _exit(0);
    (void)*page;
    _exit(3);
}

TEST_F(TruncatedRegion, ProgramsOwnHandlerGetsItsOwnFaults) {
    for (bool handler_first : {true, false}) {
        pid_t child = fork();
        if (child == 0)
            touch_own_missing_page(path.c_str(), handler_first);
        int status = -1;
        waitpid(child, &status, 0);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
            << "handler first: " << handler_first << ", status " << status;
    }
}

TEST_F(TruncatedRegion, WithoutAHandlerAnOwnFaultKillsAsEver) {
    pid_t child = fork();
    if (child == 0) {
        signal(SIGBUS, SIG_DFL); // a sanitizer has a handler
        int error = 0;
        ssize_t length = 1 << 20;
        asf_cios *stream = sopen(path.c_str(), O_RDONLY, 0, &error);
        if (!salloc(stream, &length))
            _exit(2);
        int empty = open("/tmp", O_TMPFILE | O_RDWR, 0600);
        auto *page = static_cast<volatile char *>(mmap(nullptr, 4096, PROT_READ, MAP_SHARED, empty, 0));
        (void)*page;
        _exit(3);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS) << status;
}

TEST(MissingInput, ErrorsAreReturnedDirectly) {
    int error = 0;
    errno = 77;
    EXPECT_EQ(sopen("/nonexistent/file", O_RDONLY, 0, &error), nullptr);
    EXPECT_EQ(error, -ENOENT);
    EXPECT_EQ(sopen("/etc/passwd/below", O_RDONLY, 0, &error), nullptr);
    EXPECT_EQ(error, -ENOTDIR);
    EXPECT_EQ(sopen("/tmp", O_WRONLY, 0, &error), nullptr);
    EXPECT_EQ(error, -EISDIR);
    EXPECT_EQ(sopen(std::string(5000, 'x').c_str(), O_RDONLY, 0, &error), nullptr);
    EXPECT_EQ(error, -ENAMETOOLONG);
    EXPECT_EQ(asf_sopen_fd(-1, O_RDONLY, &error), nullptr);
    EXPECT_EQ(error, -EBADF);
    EXPECT_EQ(errno, 77);
}

TEST(MissingInput, DirectoryIsOpenedAndRefusedWhenRead) {
    int error = 0;
    asf_cios *stream = sopen("/tmp", O_RDONLY, 0, &error);
    if (!stream) {
        EXPECT_EQ(error, -EISDIR);
        return;
    }
    ssize_t length = 10;
    EXPECT_EQ(salloc(stream, &length), nullptr);
    EXPECT_EQ(length, -EISDIR);
    sclose(stream);
}

TEST(FullDevice, SflushOrSfreeSaysEnospcAndScloseAgrees) {
    int error = 0;
    asf_cios *stream = sopen("/dev/full", O_WRONLY, 0, &error);
    ASSERT_NE(stream, nullptr);
    ssize_t length = 100;
    void *region = salloc(stream, &length);
    ASSERT_NE(region, nullptr);
    memset(region, 'x', 100);
    int freed = sfree(stream, region);
    int flushed = sflush(stream);
    EXPECT_TRUE(freed == -ENOSPC || flushed == -ENOSPC) << freed << " " << flushed;
    int closed = sclose(stream);
    EXPECT_TRUE(closed == 0 || closed == -ENOSPC) << closed;
}

} // namespace
