// SPDX-License-Identifier: MIT
//
// decoders_stdio_test.cpp - stdio on streams that are decoded automatically, since the program's own options
// variable contains decompress=on.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <fcntl.h>
#include <functional>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

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

// A pipe that receives chunks of these sizes, and then all remaining bytes, with pauses between.
class Trickle {
  public:
    Trickle(std::string bytes, std::vector<size_t> parts, int flags = 0) {
        int ends[2];
        EXPECT_EQ(0, pipe(ends));
        EXPECT_EQ(0, fcntl(ends[0], F_SETFL, flags));
        f = fdopen(ends[0], "r");
        writer = std::thread([=, out = ends[1]] {
            size_t at = 0;
            for (size_t n : parts) {
                EXPECT_EQ(static_cast<ssize_t>(n), write(out, bytes.data() + at, n));
                at += n;
                usleep(3000);
            }
            FILE *rest = fdopen(out, "w");
            fwrite(bytes.data() + at, 1, bytes.size() - at, rest);
            fclose(rest);
        });
    }
    Trickle(const Trickle &) = delete;
    ~Trickle() {
        EXPECT_EQ(0, fclose(f));
        writer.join();
    }
    FILE *f;

  private:
    std::thread writer;
};

std::string of_file(const std::string &path) {
    std::string s;
    FILE *f = popen(("cat " + path).c_str(), "r");
    char part[65536];
    for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;)
        s.append(part, n);
    pclose(f);
    return s;
}

std::string by_getc(FILE *f) {
    std::string s;
    for (int c; (c = getc(f)) != EOF;)
        s += static_cast<char>(c);
    return s;
}

const std::vector<std::vector<size_t>> in_parts = {
    {}, {1}, {2}, {1, 1, 1}, {1, 2}, {3, 1}, {1, 1, 1, 1, 1, 1}};

// Compressed bytes are recognized, however few arrive first or are requested.
TEST_F(DecodersStdio, APipeTellsItsFormatWhateverComesFirst) {
    ASSERT_EQ(
        0, system(("cd " + directory + " && head -c 3000 plain >few && zstd -q few && gzip -k few").c_str()));
    const std::string few = all.substr(0, 3000);
    for (const char *ending : {".zst", ".gz"}) {
        const std::string packed = of_file(directory + "/few" + ending);
        for (const auto &parts : in_parts) {
            EXPECT_EQ(few, rest(Trickle(packed, parts).f));
            EXPECT_EQ(few, by_getc(Trickle(packed, parts).f));
            for (size_t size : {0, 1, 2, 5, 6, 7}) {
                Trickle t(packed, parts);
                char buffer[8];
                setvbuf(t.f, size ? buffer : nullptr, size ? _IOFBF : _IONBF, size);
                EXPECT_EQ(few, by_getc(t.f)) << size;
            }
        }
    }
}

TEST_F(DecodersStdio, APipeThatOnlyBeginsLikeAFormatIsPlain) {
    for (std::string packed :
         {"(", "(\xb5", "(\xb5/\n and more", "\x1f\x8b", "\x1f\x8bx", "\xfd\x37zX", "(text)\n", "\x02!L-"})
        for (const auto &parts : in_parts) {
            std::vector<size_t> some;
            for (size_t n = 0; some.size() < parts.size() && (n += parts[some.size()]) < packed.size();)
                some.push_back(parts[some.size()]);
            EXPECT_EQ(packed, rest(Trickle(packed, some).f));
            for (size_t size : {0, 1, 2, 5, 6, 7}) {
                Trickle t(packed, some);
                char buffer[8];
                setvbuf(t.f, size ? buffer : nullptr, size ? _IOFBF : _IONBF, size);
                EXPECT_EQ(packed, by_getc(t.f)) << size;
            }
        }
}

// A non-blocking descriptor returns EAGAIN between the first bytes.
TEST_F(DecodersStdio, APipeThatDoesNotWaitTellsItsFormat) {
    const std::string packed = of_file(plain + ".gz");
    for (bool by_chars : {false, true}) {
        Trickle t(packed, {1, 1, 1}, O_NONBLOCK);
        if (by_chars)
            setvbuf(t.f, nullptr, _IONBF, 0);
        std::string got;
        int waited = 0;
        for (; got.size() < all.size() && !feof(t.f); usleep(100), clearerr(t.f)) {
            got += by_chars ? by_getc(t.f) : rest(t.f);
            waited += ferror(t.f) && errno == EAGAIN;
        }
        EXPECT_TRUE(got == all) << got.size();
        EXPECT_GT(waited, 2);
    }
}

TEST_F(DecodersStdio, APipeThatGivesMuchAtOnce) {
    const std::string packed = of_file(plain + ".gz");
    int ends[2];
    ASSERT_EQ(0, pipe(ends));
    ASSERT_GE(fcntl(ends[1], F_SETPIPE_SZ, 1 << 20), 1 << 20);
    const size_t n = 300000;
    ASSERT_EQ(static_cast<ssize_t>(n), write(ends[1], packed.data(), n));
    close(ends[1]);
    FILE *f = fdopen(ends[0], "r");
    std::string got(all.size(), '\0');
    got.resize(fread(&got[0], 1, got.size(), f));
    EXPECT_GT(got.size(), n);
    EXPECT_EQ(0, all.compare(0, got.size(), got));
    EXPECT_EQ(0, fclose(f));
}

} // namespace
