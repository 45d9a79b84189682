// SPDX-License-Identifier: MIT
//
// shm_stdio_test.cpp - a segment as a FILE: stdio behaves as on a file of this size that cannot grow. The
// comparison uses libc's fmemopen.
#include "shm_test.h"

namespace shm {
namespace {

class SegmentAsFile : public Segments {
  protected:
    FILE *open_file(const char *shm, int flags) {
        int error = 1;
        asf_cios *s = asf_shm_sopen(shm, flags, &error);
        EXPECT_NE(s, nullptr) << asf_shm_why();
        return asf_file(s);
    }
};

TEST_P(SegmentAsFile, Prints) {
    char *shm = make("printed", 1000);
    FILE *f = open_file(shm, O_WRONLY);
    EXPECT_EQ(fprintf(f, "%d and %s\n", 1, "two"), 10);
    EXPECT_GE(fputs("three\n", f), 0);
    EXPECT_EQ(putc('4', f), '4');
    EXPECT_EQ(ftell(f), 17);
    EXPECT_STREQ(shm + ASF_SHM_HEAD, "1 and two\nthree\n4") << "there at once";
    EXPECT_EQ(fileno(f), -1);
    EXPECT_EQ(fclose(f), 0);
    EXPECT_EQ(asf_shm_close(shm), 0);
}

TEST_P(SegmentAsFile, ReadsLinesAndNumbers) {
    char *shm = make("lines", 30);
    memcpy(shm + ASF_SHM_HEAD, "12 0.5 word\nsecond line\nlast..", 30);
    FILE *f = open_file(shm, O_RDONLY);
    int i = 0;
    double d = 0;
    char word[10] = "", line[40] = "";
    EXPECT_EQ(fscanf(f, "%d %lf %9s", &i, &d, word), 3);
    EXPECT_EQ(i, 12);
    EXPECT_EQ(d, 0.5);
    EXPECT_STREQ(word, "word");
    EXPECT_EQ(getc(f), '\n');
    EXPECT_STREQ(fgets(line, sizeof line, f), "second line\n");
    EXPECT_EQ(ungetc('L', f), 'L');
    EXPECT_STREQ(fgets(line, sizeof line, f), "Llast..");
    EXPECT_EQ(getc(f), EOF);
    EXPECT_TRUE(feof(f));
    EXPECT_FALSE(ferror(f));
    rewind(f);
    EXPECT_EQ(getc(f), '1');
    EXPECT_EQ(fclose(f), 0);
    EXPECT_EQ(asf_shm_close(shm), 0);
}

// A region that contains a pushed-back byte is a copy; stdio continues after it.
TEST_P(SegmentAsFile, RegionsAfterAPushedBackByte) {
    char *shm = make("pushed", 20);
    fill(shm);
    std::string data(shm + ASF_SHM_HEAD, 20);
    int error = 1;
    asf_cios *s = asf_shm_sopen(shm, O_RDONLY, &error);
    ASSERT_NE(s, nullptr) << asf_shm_why();
    EXPECT_EQ(ungetc('x', asf_file(s)), 'x');
    ssize_t n = 8;
    auto *p = static_cast<char *>(asf_salloc(s, &n));
    ASSERT_TRUE(p && n == 8) << n;
    EXPECT_EQ(std::string(p, 8), "x" + data.substr(0, 7));
    EXPECT_EQ(asf_sfree(s, p), 0);
    EXPECT_EQ(getc(asf_file(s)), static_cast<unsigned char>(data[7]));
    EXPECT_EQ(ftell(asf_file(s)), 8);
    EXPECT_EQ(asf_sclose(s), 0);
    EXPECT_EQ(asf_shm_close(shm), 0);
}

TEST_P(SegmentAsFile, BlocksAndSeeks) {
    constexpr size_t n = 100000;
    char *shm = make("blocks", n);
    fill(shm);
    FILE *f = open_file(shm, O_RDWR);
    std::vector<unsigned char> all(n + 10);
    EXPECT_EQ(fread(all.data(), 1, 10, f), 10U);
    EXPECT_EQ(fread(all.data() + 10, 1, n, f), n - 10);
    for (size_t i = 0; i < n; i++)
        ASSERT_EQ(all[i], pattern_at(i));
    EXPECT_TRUE(feof(f));
    EXPECT_EQ(fseek(f, -5, SEEK_END), 0);
    EXPECT_EQ(ftell(f), static_cast<long>(n) - 5);
    EXPECT_EQ(fwrite("12345", 1, 5, f), 5U);
    EXPECT_EQ(fseek(f, 1, SEEK_END), -1);
    EXPECT_EQ(fseek(f, -5, SEEK_CUR), 0);
    EXPECT_EQ(fread(all.data(), 1, 10, f), 5U);
    EXPECT_EQ(memcmp(all.data(), "12345", 5), 0);
    EXPECT_EQ(fclose(f), 0);
    EXPECT_EQ(asf_shm_close(shm), 0);
}

TEST_P(SegmentAsFile, EndsWhereItEnds) {
    for (const size_t piece : {1U, 100U, 7000U, 20000U, 60000U}) {
        constexpr size_t n = 50000;
        char *shm = make("full", n);
        FILE *f = open_file(shm, O_WRONLY);
        const std::vector<char> block(piece, 'x');
        size_t total = 0, got = piece;
        while (got == piece) {
            errno = 0;
            got = fwrite(block.data(), 1, piece, f);
            total += got;
        }
        EXPECT_EQ(errno, ENOSPC) << piece;
        EXPECT_EQ(total, n) << piece;
        EXPECT_TRUE(ferror(f));
        EXPECT_EQ(std::string(shm + ASF_SHM_HEAD, n), std::string(n, 'x'));
        EXPECT_EQ(fclose(f), 0);
        EXPECT_EQ(asf_shm_close(shm), 0);
    }
}

TEST_P(SegmentAsFile, BuffersThatAreSetChangeNothing) {
    char *shm = make("setvbuf", 100), own[10];
    FILE *f = open_file(shm, O_WRONLY);
    EXPECT_EQ(setvbuf(f, nullptr, _IONBF, 0), 0);
    EXPECT_GE(fputs("unbuffered ", f), 0);
    EXPECT_EQ(fclose(f), 0);
    f = open_file(shm, O_RDWR);
    EXPECT_EQ(setvbuf(f, own, _IOFBF, sizeof own), 0);
    EXPECT_EQ(getc(f), 'u');
    EXPECT_EQ(fseek(f, 11, SEEK_SET), 0);
    EXPECT_GE(fputs("in the program's buffer", f), 0);
    EXPECT_EQ(fflush(f), 0);
    EXPECT_EQ(fclose(f), 0);
    EXPECT_STREQ(shm + ASF_SHM_HEAD, "unbuffered in the program's buffer");
    EXPECT_EQ(asf_shm_close(shm), 0);
}

TEST_P(SegmentAsFile, OneStreamForStdioAndTheAsi) {
    char *shm = make("mixed", 30);
    memcpy(shm + ASF_SHM_HEAD, "0123456789abcdefghij..........", 30);
    FILE *f = open_file(shm, O_RDONLY);
    char ten[11] = "";
    EXPECT_EQ(fread(ten, 1, 10, f), 10U);
    ssize_t n = 10;
    char *p = static_cast<char *>(asf_salloc(asf_stream(f), &n));
    EXPECT_EQ(std::string(p, static_cast<size_t>(n)), "abcdefghij");
    EXPECT_EQ(asf_sfree(asf_stream(f), p), 0);
    EXPECT_EQ(getc(f), '.');
    EXPECT_EQ(fclose(f), 0);
    EXPECT_EQ(asf_shm_close(shm), 0);
}

// Written bytes are in the segment, however the process ends.
TEST_P(SegmentAsFile, NothingIsLostWithTheProcess) {
    char *shm = make("killed", 100);
    EXPECT_EQ(in_child([&] {
                  fputs("last words", open_file(shm, O_WRONLY));
                  return raise(SIGKILL);
              }),
              -SIGKILL);
    EXPECT_STREQ(shm + ASF_SHM_HEAD, "last words");
    EXPECT_EQ(asf_shm_close(shm), 0);
}

ASF_ON_EACH_BACKEND(SegmentAsFile);

} // namespace
} // namespace shm
