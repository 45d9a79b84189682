// SPDX-License-Identifier: MIT
//
// asi_stdio_test.cpp - one stream used by stdio and by the ASI in turn, in a
// program linked with libasf_stdio (paper, "Structure": the interface modules
// are interoperable).
#include <atomic>
#include <clocale>
#include <cwchar>
#include <stdio_ext.h>
#include <string>
#include <thread>

#include <csignal>

#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <asf/numbers.h>

#include "asi_test.h"
#include "tests/asleep.h"

namespace asi {
namespace {

using Mixed = Asi;

TEST_F(Mixed, StandardStreamsAreOurs) {
    EXPECT_NE(asf_stream(stdin), nullptr);
    EXPECT_NE(asf_stream(stdout), nullptr);
    EXPECT_NE(asf_stream(stderr), nullptr);
    EXPECT_EQ(asf_fileno(asf_stream(stdout)), 1);
}

TEST_F(Mixed, OneObjectTwoNames) {
    FILE *f = fopen(put_pattern("file", 1000).c_str(), "r");
    asf_cios *s = asf_stream(f);
    ASSERT_NE(s, nullptr);
    EXPECT_EQ(asf_file(s), f);
    EXPECT_EQ(asf_fileno(s), fileno(f));
    fclose(f);
    s = must_open(path("file"), O_RDONLY);
    f = asf_file(s);
    ASSERT_NE(f, nullptr);
    EXPECT_EQ(asf_stream(f), s);
    EXPECT_EQ(getc(f), static_cast<unsigned char>(pattern_at(0)));
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Mixed, ReadingByTurns) {
    FILE *f = fopen(put_pattern("file", static_cast<size_t>(5 * MiB)).c_str(), "r");
    asf_cios *s = asf_stream(f);
    size_t at = 0;
    for (int i = 0; i < 2000; i++) {
        char block[1000];
        ASSERT_EQ(fread(block, 1, 10, f), 10U);
        ASSERT_EQ(first_wrong(block, 10, at), 10U);
        at += 10;
        const size_t n = static_cast<size_t>(1 + i % 900);
        ASSERT_EQ(take(s, static_cast<ssize_t>(n)), pattern(n, at));
        at += n;
        ASSERT_EQ(getc(f), static_cast<unsigned char>(pattern_at(at)));
        at++;
        ASSERT_EQ(ftell(f), static_cast<long>(at));
        if (i % 100 == 0) {
            at = static_cast<size_t>(i) * 1999;
            ASSERT_EQ(fseek(f, static_cast<long>(at), SEEK_SET), 0);
        }
    }
    EXPECT_EQ(fclose(f), 0);
}

TEST_F(Mixed, RegionsOutliveStdioCalls) {
    FILE *f = fopen(put_pattern("file", static_cast<size_t>(5 * MiB)).c_str(), "r");
    asf_cios *s = asf_stream(f);
    ssize_t n = 3000;
    void *p = salloc(s, &n);
    ASSERT_EQ(n, 3000);
    static char block[3000000];
    EXPECT_EQ(fread(block, 1, sizeof block, f), sizeof block);
    EXPECT_EQ(first_wrong(block, sizeof block, 3000), sizeof block);
    EXPECT_EQ(fseek(f, 0, SEEK_END), 0);
    EXPECT_EQ(getc(f), EOF);
    rewind(f);
    getc(f);
    EXPECT_EQ(first_wrong(p, 3000, 0), 3000U);
    EXPECT_EQ(sfree(s, p), 0);
    EXPECT_EQ(fclose(f), 0);
}

TEST_F(Mixed, PushedBackCharactersComeFirst) {
    FILE *f = fopen(put("file", "0123456789").c_str(), "r");
    asf_cios *s = asf_stream(f);
    EXPECT_EQ(getc(f), '0');
    EXPECT_EQ(ungetc('0', f), '0');
    EXPECT_EQ(take(s, 2), "01");
    ungetc('z', f);
    ungetc('y', f);
    const std::string got = take(s, 5);
    EXPECT_TRUE(got == "yz234" || got == "yz") << got;
    EXPECT_EQ(fclose(f), 0);
}

TEST_F(Mixed, WritingByTurns) {
    FILE *f = fopen(path("out").c_str(), "w");
    asf_cios *s = asf_stream(f);
    std::string all;
    for (int i = 0; i < 2000; i++) {
        all += "fprintf " + std::to_string(i) + "\n";
        fprintf(f, "fprintf %d\n", i);
        const std::string piece(static_cast<size_t>(1 + i % 300), static_cast<char>('a' + i % 26));
        give(s, piece);
        all += piece;
        all += "#\n";
        putc('#', f);
        fputs("\n", f);
    }
    EXPECT_EQ(ftell(f), static_cast<long>(all.size()));
    EXPECT_EQ(fclose(f), 0);
    EXPECT_TRUE(contents("out") == all);
}

TEST_F(Mixed, StdioWaitsForAnOpenOutputRegion) {
    FILE *f = fopen(path("out").c_str(), "w");
    asf_cios *s = asf_stream(f);
    ssize_t n = 6;
    char *p = static_cast<char *>(salloc(s, &n));
    ASSERT_NE(p, nullptr);
    fputs("second", f);
    fflush(f);
    memcpy(p, "first ", 6);
    EXPECT_EQ(sfree(s, p), 0);
    EXPECT_EQ(fclose(f), 0);
    EXPECT_EQ(contents("out"), "first second");
}

TEST_F(Mixed, UpdateByTurns) {
    FILE *f = fopen(put("file", "0123456789").c_str(), "r+");
    asf_cios *s = asf_stream(f);
    EXPECT_EQ(getc(f), '0');
    ssize_t n = 2;
    char *p = static_cast<char *>(Salloc(s, ASF_WRITE, &n));
    ASSERT_NE(p, nullptr);
    memcpy(p, "ab", 2);
    EXPECT_EQ(sfree(s, p), 0);
    EXPECT_EQ(fseek(f, 0, SEEK_CUR), 0);
    EXPECT_EQ(getc(f), '3');
    EXPECT_EQ(fclose(f), 0);
    EXPECT_EQ(contents("file"), "0ab3456789");
}

TEST_F(Mixed, OneLock) {
    FILE *f = fopen(put_pattern("file", 1000).c_str(), "r");
    asf_cios *s = asf_stream(f);
    flockfile(f);
    lockAsfStream(s);
    int tried = -1;
    std::thread([&] { tried = ftrylockfile(f); }).join();
    EXPECT_NE(tried, 0);
    unlockAsfStream(s);
    std::thread([&] { tried = ftrylockfile(f); }).join();
    EXPECT_NE(tried, 0);
    funlockfile(f);
    std::thread([&] {
        tried = ftrylockfile(f);
        if (tried == 0)
            funlockfile(f);
    }).join();
    EXPECT_EQ(tried, 0);
    EXPECT_EQ(fclose(f), 0);
}

TEST_F(Mixed, EndOfFileIsSeenByBoth) {
    FILE *f = fopen(put("file", "abc").c_str(), "r");
    asf_cios *s = asf_stream(f);
    EXPECT_EQ(take(s, 10), "abc");
    EXPECT_EQ(take(s, 10), "");
    EXPECT_EQ(getc(f), EOF);
    EXPECT_NE(feof(f), 0);
    rewind(f);
    EXPECT_EQ(take(s, 1), "a");
    EXPECT_EQ(fclose(f), 0);
}

TEST_F(Mixed, StdioOnAStreamOfTheAsi) {
    asf_cios *s = must_open(path("out"), O_RDWR | O_CREAT);
    FILE *f = asf_file(s);
    EXPECT_EQ(fprintf(f, "%d %s\n", 5, "text"), 7);
    EXPECT_EQ(fseek(f, 0, SEEK_SET), 0);
    char line[20];
    EXPECT_STREQ(fgets(line, sizeof line, f), "5 text\n");
    EXPECT_EQ(fgets(line, sizeof line, f), nullptr);
    EXPECT_EQ(fclose(f), 0);
    EXPECT_EQ(contents("out"), "5 text\n");
}

TEST_F(Mixed, MemoryStreams) {
    char buffer[] = "0123456789";
    FILE *f = fmemopen(buffer, 10, "r");
    asf_cios *s = asf_stream(f);
    ASSERT_NE(s, nullptr);
    EXPECT_EQ(take(s, 4), "0123");
    EXPECT_EQ(getc(f), '4');
    EXPECT_EQ(fclose(f), 0);
    char *text = nullptr;
    size_t size = 0;
    f = open_memstream(&text, &size);
    give(asf_stream(f), "by salloc ");
    fputs("by fputs", f);
    EXPECT_EQ(fclose(f), 0);
    EXPECT_EQ(std::string(text, size), "by salloc by fputs");
    free(text);
}

// Regions do not move while the memory grows, and bytes written to them then reach the memory.
TEST_F(Mixed, NumbersLeaveTheBytesOfAMemoryStreamAfterThem) {
    char *text = nullptr;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    fputs("0123456789abcdefghijklmnopqrstuvwxyz", f);
    rewind(f);
    EXPECT_EQ(asf_put_int(asf_stream(f), -7), 0);
    EXPECT_EQ(asf_put_double(asf_stream(f), 2.5), 0);
    fseek(f, 36, SEEK_SET);
    EXPECT_EQ(fclose(f), 0);
    EXPECT_EQ(std::string(text, 36), "-72.556789abcdefghijklmnopqrstuvwxyz");
    free(text);
}

TEST_F(Mixed, RegionsOfAMemoryStreamThatGrows) {
    char *text = nullptr;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    asf_cios *s = asf_stream(f);
    std::vector<Region> regions;
    std::string expected;
    for (ssize_t n : {ssize_t{100}, ssize_t{50000}, ssize_t{7}, ssize_t{400000}, 4 * MiB, ssize_t{1}}) {
        fputs("text ", f);
        expected += "text ";
        regions.push_back({static_cast<char *>(salloc(s, &n)), n, expected.size()});
        expected += pattern(static_cast<size_t>(n), expected.size());
    }
    ssize_t n = 8 * MiB;
    regions.back().p = static_cast<char *>(srealloc(s, regions.back().p, &n));
    ASSERT_EQ(regions.back().n = n, 8 * MiB);
    expected.pop_back();
    expected += pattern(static_cast<size_t>(n), expected.size());
    n = 10;
    void *none = sallocAt(s, &n, 0, SEEK_SET);
    expect_none(none, n, -EBUSY);
    EXPECT_EQ(sclose(s), -EBUSY);
    for (size_t i : {4, 0, 5, 1, 3, 2}) {
        const Region &r = regions[i];
        memcpy(r.p, expected.data() + r.at, static_cast<size_t>(r.n));
        EXPECT_EQ(sfree(s, r.p), 0);
#ifdef __GLIBC__ // in musl the stream writes by callbacks, which wait for the regions before the bytes
        EXPECT_EQ(fflush(f), 0);
        ASSERT_EQ(size, expected.size());
        EXPECT_EQ(memcmp(text + r.at, expected.data() + r.at, static_cast<size_t>(r.n)), 0) << i;
#endif
    }
    fputs("end", f);
    EXPECT_EQ(fclose(f), 0);
    EXPECT_TRUE(std::string(text, size) == expected + "end");
    free(text);
}

TEST_F(Mixed, LinesAndRegionsOfAPipe) {
    FILE *f = popen("printf 'one\\ntwo\\nthree four'", "r");
    asf_cios *s = asf_stream(f);
    char line[20];
    EXPECT_STREQ(fgets(line, sizeof line, f), "one\n");
    EXPECT_EQ(take(s, 4), "two\n");
    EXPECT_EQ(getc(f), 't');
    EXPECT_EQ(take(s, 100), "hree four");
    EXPECT_EQ(pclose(f), 0);
}

// The writer waits with pending output, and the flush waits for the writer.
TEST_F(Mixed, ClosedWhileAllStreamsAreFlushed) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    int error = 0;
    asf_cios *s = asf_sopen_fd(ends[1], O_WRONLY, &error);
    ASSERT_NE(s, nullptr);
    give(s, std::string(120000, 'x'));
    alarm(20); // in case of a deadlock
    std::atomic<bool> flushing{false};
    std::thread flush([&] {
        wait_until_asleep(getpid());
        flushing = true;
        fflush(nullptr);
    });
    std::thread reader([&] {
        char block[4096];
        while (!flushing)
            usleep(1000);
        wait_until_asleep(getpid());
        while (read(ends[0], block, sizeof block) > 0)
            continue;
    });
    EXPECT_EQ(asf_sclose(s), 0);
    flush.join();
    reader.join();
    alarm(0);
    close(ends[0]);
}

TEST_F(Mixed, ARegionOutlivesFreopen) {
    FILE *f = fopen(put_pattern("file", 1000).c_str(), "r");
    asf_cios *s = asf_stream(f);
    ssize_t n = 20;
    auto *region = static_cast<char *>(asf_salloc(s, &n));
    ASSERT_NE(region, nullptr);
    std::string before(region, 20);
    ASSERT_EQ(freopen(put_pattern("another", 5000).c_str(), "r", f), f);
    char block[5000];
    EXPECT_EQ(fread(block, 1, sizeof block, f), sizeof block);
    EXPECT_EQ(std::string(region, 20), before);
    EXPECT_EQ(asf_sfree(s, region), 0);
    EXPECT_EQ(fclose(f), 0);
}

int pipe_of_handler[2];
char read_by_handler;

void writes_and_reads(int) {
    if (::write(pipe_of_handler[1], "ab", 2) != 2 || ::read(pipe_of_handler[0], &read_by_handler, 1) != 1)
        read_by_handler = '?';
}

// A handler that interrupts a call on the stream reads the descriptor's next byte from the kernel.
TEST_F(Mixed, AHandlerReadsTheDescriptorThatIsWaitedFor) {
    const struct itimerval soon = {{0, 0}, {0, 20000}};
    struct sigaction act = {};
    act.sa_handler = writes_and_reads;
    act.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &act, nullptr);
    ASSERT_EQ(pipe(pipe_of_handler), 0);
    asf_cios *s = asf_sopen_fd(pipe_of_handler[0], O_RDONLY, nullptr);
    ASSERT_NE(s, nullptr);
    setitimer(ITIMER_REAL, &soon, nullptr);
    EXPECT_EQ(take(s, 1), "b");
    EXPECT_EQ(read_by_handler, 'a');
    signal(SIGALRM, SIG_DFL);
    EXPECT_EQ(sclose(s), 0);
    ::close(pipe_of_handler[1]);
}

// --- unfreed regions and stdio's output ---

TEST_F(Mixed, BytesBeforeAKeptRegionGoOutByFflush) {
    FILE *f = fopen(path("out").c_str(), "w");
    asf_cios *s = asf_stream(f);
    fputs("before ", f);
    ssize_t n = 6;
    char *p = static_cast<char *>(salloc(s, &n));
    fputs("behind", f);
    EXPECT_EQ(fflush(f), EOF);
    EXPECT_EQ(errno, EBUSY);
    EXPECT_EQ(contents("out"), "before ");
    memcpy(p, "region", 6);
    EXPECT_EQ(sfree(s, p), 0);
    EXPECT_EQ(fclose(f), 0);
    EXPECT_EQ(contents("out"), "before regionbehind");
}

TEST_F(Mixed, WhatFollowsARegionGoesOutWithItWhereNothingWaits) {
    for (const int mode : {_IONBF, _IOLBF}) {
        FILE *f = fopen(path("out").c_str(), "w");
        setvbuf(f, nullptr, mode, 0);
        asf_cios *s = asf_stream(f);
        for (int i = 0; i < 3; i++) {
            ssize_t n = 2;
            char *p = static_cast<char *>(salloc(s, &n));
            EXPECT_GE(fputs("line\n", f), 0);
            EXPECT_EQ(putc('\n', f), '\n');
            memcpy(p, "r ", 2);
            EXPECT_EQ(sfree(s, p), 0);
            EXPECT_EQ(contents("out").size(), static_cast<size_t>(8 * (i + 1))) << mode;
        }
        EXPECT_EQ(fclose(f), 0);
        EXPECT_EQ(contents("out"), "r line\n\nr line\n\nr line\n\n");
    }
}

// --- wide streams ---

TEST_F(Mixed, WideOutputKeepsItsOrder) {
    FILE *f = fopen(path("out").c_str(), "w");
    EXPECT_GE(fputws(L"wide ", f), 0);
    asf_cios *s = asf_stream(f);
    ASSERT_NE(s, nullptr);
    give(s, "abcd");
    EXPECT_GE(fputws(L" and wide", f), 0);
    ssize_t n = 2;
    char *kept = static_cast<char *>(salloc(s, &n));
    EXPECT_GE(fputws(L" the end", f), 0);
    EXPECT_GE(fflush(f), EOF);
    memcpy(kept, "::", 2);
    EXPECT_EQ(sfree(s, kept), 0);
    EXPECT_EQ(fclose(f), 0);
    EXPECT_EQ(contents("out"), "wide abcd and wide:: the end");
}

TEST_F(Mixed, BytesOfAWideStreamAreFlushed) {
    FILE *f = fopen(path("out").c_str(), "w");
    EXPECT_GT(fwide(f, 1), 0);
    give(asf_stream(f), "bytes");
    EXPECT_EQ(fflush(f), 0);
    EXPECT_EQ(contents("out"), "bytes");
    give(asf_stream(f), " more");
    EXPECT_EQ(fclose(f), 0);
    EXPECT_EQ(contents("out"), "bytes more");
}

TEST_F(Mixed, WideInputGoesOnWhereTheReaderStands) {
    std::string text;
    for (int i = 0; i < 5000; i++)
        text += std::to_string(i) + " \xc3\xa9\xe2\x82\xac\n"; // characters of two and three bytes
    const char *old = setlocale(LC_CTYPE, nullptr);
    const std::string before = old ? old : "C";
    ASSERT_NE(setlocale(LC_CTYPE, "C.UTF-8"), nullptr);
    FILE *f = fopen(put("in", text).c_str(), "r+");
    size_t at = 0;
    for (int i = 0; at < text.size(); i++) {
        for (int k = 0; k < 3 && at < text.size(); k++) {
            const wint_t ch = fgetwc(f);
            ASSERT_NE(ch, WEOF);
            at += ch < 0x80 ? 1 : ch < 0x800 ? 2 : 3;
        }
        if (i % 2 == 0 || at == text.size())
            continue;
        const size_t n = text.find('\n', at) + 1 - at; // up to the end of a line, and so of a character
        ssize_t length = static_cast<ssize_t>(n);
        char *p = static_cast<char *>(Salloc(asf_stream(f), ASF_READ, &length));
        ASSERT_NE(p, nullptr) << at << ' ' << length;
        ASSERT_EQ(std::string(p, static_cast<size_t>(length)), text.substr(at, n));
        ASSERT_EQ(sfree(asf_stream(f), p), 0);
        at += n;
    }
    EXPECT_EQ(fgetwc(f), WEOF);
    EXPECT_EQ(fclose(f), 0);
    setlocale(LC_CTYPE, before.c_str());
}

} // namespace
} // namespace asi
