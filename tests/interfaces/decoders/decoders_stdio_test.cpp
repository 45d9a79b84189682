// SPDX-License-Identifier: MIT
//
// decoders_stdio_test.cpp - stdio on files that decode themselves: decompress=on, by the program's
// own variable.
// Layer: tests.  Uses the public headers only.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <asf/asf.h>

extern "C" __attribute__((visibility("default"))) const char asf_conf[] = "decompress=on";

namespace {

std::string text() {
    std::string s;
    for (int i = 0; s.size() < 3000000; i++)
        s += std::to_string(i * 7919 % 1000003) + "\tsome words that come again\n";
    return s;
}

class DecodersStdio : public testing::Test {
  protected:
    void SetUp() override {
        char name[] = "/tmp/decoders.XXXXXX";
        directory = mkdtemp(name);
        plain = directory + "/plain";
        FILE *f = fopen(plain.c_str(), "w");
        ASSERT_EQ(1U, fwrite(all.data(), all.size(), 1, f));
        ASSERT_EQ(0, fclose(f));
        ASSERT_EQ(0, system(("cd " + directory + " && zstd -q -k plain && gzip -k plain").c_str()));
    }
    void TearDown() override { ASSERT_EQ(0, system(("rm -r " + directory).c_str())); }

    static std::string rest(FILE *f) {
        std::string got;
        char part[10000];
        for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;)
            got.append(part, n);
        return got;
    }

    std::string all = text(), directory, plain;
};

TEST_F(DecodersStdio, EachCallReadsDecodedBytes) {
    FILE *f = fopen((plain + ".zst").c_str(), "r");
    std::string got;
    char line[100];
    for (int i = 0; i < 100; i++) {
        got += static_cast<char>(getc(f));
        ASSERT_NE(nullptr, fgets(line, sizeof line, f));
        got += line;
        int c = getc(f);
        EXPECT_EQ('!', ungetc('!', f));
        EXPECT_EQ('!', getc(f));
        got += static_cast<char>(c);
        ssize_t n = 20;
        char *p = static_cast<char *>(asf_salloc(asf_stream(f), &n));
        ASSERT_EQ(20, n);
        got.append(p, 20);
        EXPECT_EQ(0, asf_sfree(asf_stream(f), p));
    }
    got += rest(f);
    EXPECT_TRUE(got == all);
    EXPECT_TRUE(feof(f));
    EXPECT_EQ(0, fclose(f));
}

TEST_F(DecodersStdio, NoneCanSeek) {
    FILE *f = fopen((plain + ".gz").c_str(), "r");
    EXPECT_EQ(-1, fseek(f, 10, SEEK_SET));
    EXPECT_EQ(ESPIPE, errno);
    EXPECT_EQ(-1, ftell(f));
    EXPECT_GE(fileno(f), 0);
    EXPECT_TRUE(rest(f) == all);
    EXPECT_EQ(0, fclose(f));
}

TEST_F(DecodersStdio, WideAndUnbufferedStreamsAreDecoded) {
    FILE *f = fopen((plain + ".zst").c_str(), "r");
    wchar_t line[100];
    ASSERT_NE(nullptr, fgetws(line, 100, f));
    EXPECT_EQ(0, wcscmp(L"0\tsome words that come again\n", line));
    EXPECT_EQ(0, fclose(f));
    f = fopen((plain + ".zst").c_str(), "r");
    setvbuf(f, nullptr, _IONBF, 0);
    EXPECT_TRUE(rest(f) == all);
    EXPECT_EQ(0, fclose(f));
}

TEST_F(DecodersStdio, IsReopenedAndClosedInTheMiddle) {
    for (size_t part : {10, 100000, 1000000}) {
        std::string got(part, '\0');
        FILE *f = fopen((plain + ".zst").c_str(), "r");
        for (const char *next : {".gz", "", ".zst"}) {
            ASSERT_EQ(part, fread(&got[0], 1, part, f));
            EXPECT_TRUE(all.compare(0, part, got) == 0);
            ASSERT_EQ(f, freopen((plain + next).c_str(), "r", f));
        }
        EXPECT_TRUE(rest(f) == all);
        ASSERT_EQ(f, freopen((plain + ".zst").c_str(), "r", f));
        ASSERT_EQ(part, fread(&got[0], 1, part, f));
        EXPECT_EQ(0, fclose(f));
    }
}

TEST_F(DecodersStdio, OutputAndUpdateAreAsTheyAre) {
    FILE *f = fopen((plain + ".gz").c_str(), "r+");
    EXPECT_EQ(0x1f, getc(f));
    EXPECT_EQ(0, fseek(f, 0, SEEK_SET));
    EXPECT_EQ(0x1f, getc(f));
    EXPECT_EQ(0, fclose(f));
    f = fopen((plain + ".gz").c_str(), "a");
    EXPECT_EQ(0, fclose(f));
}

TEST_F(DecodersStdio, AChildIsToldAndExits) {
    FILE *f = fopen((plain + ".zst").c_str(), "r");
    std::string got(1000000, '\0');
    ASSERT_EQ(got.size(), fread(&got[0], 1, got.size(), f));
    fflush(nullptr);
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        std::string more = rest(f);
        bool told = ferror(f) && errno == ECANCELED && all.compare(got.size(), more.size(), more) == 0;
        exit(told && fclose(f) == 0 ? 7 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(7, WEXITSTATUS(status));
    EXPECT_TRUE(got + rest(f) == all);
    EXPECT_EQ(0, fclose(f));
}

} // namespace
