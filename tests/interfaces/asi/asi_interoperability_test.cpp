// SPDX-License-Identifier: MIT
//
// asi_interoperability_test.cpp - one stream as a FILE, by its descriptor and by
// the ASI, in any order.  Each test is named after a sentence of the paper
// ("Structure", "Interface modules").
#include <fcntl.h>
#include <functional>
#include <random>
#include <sys/uio.h>
#include <unistd.h>

#include "asi_test.h"

namespace asi {
namespace {

using Interoperability = Asi;

// One stream by its three names: FILE, descriptor and CIOS.
struct Names {
    asf_cios *s;
    FILE *f;
    int fd;
};

Names names(asf_cios *s) {
    return {s, asf_file(s), asf_fileno(s)};
}

std::string read_fd(int fd, size_t n) {
    std::string text(n, '\0');
    const ssize_t r = read(fd, text.data(), n);
    text.resize(r < 0 ? 0 : static_cast<size_t>(r));
    return text;
}

std::string read_file(FILE *f, size_t n) {
    std::string text(n, '\0');
    text.resize(fread(text.data(), 1, n, f));
    return text;
}

// "The application can use the stdio fread to read the first 10 bytes of a file
// and the emulated Unix I/O read to read the next five bytes."
TEST_F(Interoperability, FreadReadsTheFirst10BytesAndReadTheNextFive) {
    for (const char *open_by : {"asf_sopen", "fopen"}) {
        const std::string file = put_pattern("file", static_cast<size_t>(1 * MiB));
        const bool by_asi = std::string(open_by) == "asf_sopen";
        const Names n = names(by_asi ? must_open(file, O_RDONLY) : asf_stream(fopen(file.c_str(), "r")));
        EXPECT_EQ(read_file(n.f, 10), pattern(10, 0)) << open_by;
        EXPECT_EQ(read_fd(n.fd, 5), pattern(5, 10)) << open_by;
        EXPECT_EQ(take(n.s, 20), pattern(20, 15)) << open_by;
        EXPECT_EQ(lseek(n.fd, 0, SEEK_CUR), 35) << open_by;
        EXPECT_EQ(ftell(n.f), 35) << open_by;
        EXPECT_EQ(by_asi ? sclose(n.s) : fclose(n.f), 0);
    }
}

TEST_F(Interoperability, FgetwcReadsACharacterAndSallocTheBytesAfterIt) {
    FILE *f = fopen(put("file", "abcdef").c_str(), "r");
    EXPECT_EQ(fgetwc(f), static_cast<wint_t>(L'a'));
    EXPECT_EQ(take(asf_stream(f), 3), "bcd");
    EXPECT_EQ(fgetwc(f), static_cast<wint_t>(L'e'));
    EXPECT_EQ(fclose(f), 0);
}

// "Operations from different interfaces can therefore be intermixed."
TEST_F(Interoperability, OperationsFromDifferentInterfacesCanBeIntermixed) {
    const size_t size = static_cast<size_t>(3 * MiB);
    const Names n = names(must_open(put_pattern("file", size), O_RDONLY));
    std::minstd_rand any(1);
    size_t at = 0;
    for (int i = 0; i < 20000; i++) {
        const size_t length = 1 + any() % (i % 50 ? 300 : 70000);
        const std::string expected = at < size ? pattern(std::min(length, size - at), at) : "";
        switch (any() % 7) {
        case 0:
            ASSERT_EQ(read_fd(n.fd, length), expected) << i;
            break;
        case 1:
            ASSERT_EQ(read_file(n.f, length), expected) << i;
            break;
        case 2:
            if (!expected.empty()) {
                ASSERT_EQ(take(n.s, static_cast<ssize_t>(expected.size())), expected) << i;
            }
            break;
        case 3: {
            std::string text(length, '\0');
            iovec v = {text.data(), length};
            ASSERT_EQ(readv(n.fd, &v, 1), static_cast<ssize_t>(expected.size())) << i;
            break;
        }
        case 4:
            ASSERT_EQ(pread(n.fd, std::string(10, ' ').data(), 10, 5), 10) << i;
            continue;
        case 5:
            at = any() % size;
            ASSERT_EQ(lseek(n.fd, static_cast<off_t>(at), SEEK_SET), static_cast<off_t>(at)) << i;
            continue;
        default:
            at = any() % size;
            ASSERT_EQ(fseek(n.f, static_cast<long>(at), SEEK_SET), 0) << i;
            continue;
        }
        at += expected.size();
        ASSERT_EQ(lseek(n.fd, 0, SEEK_CUR), static_cast<off_t>(at)) << i;
    }
    EXPECT_EQ(sclose(n.s), 0);
}

// Random calls of all interfaces, compared with a model: a text in which each line is its own offset.
class Sequence {
  public:
    static constexpr size_t LINE = 8;

    static std::string text(size_t lines) {
        std::string all;
        char line[LINE + 1];
        for (size_t i = 0; i < lines; i++) {
            snprintf(line, sizeof line, "%07zu\n", i * LINE);
            all += line;
        }
        return all;
    }

    Sequence(asf_cios *s, const std::string &contents, unsigned seed)
        : n(names(s)), file(contents), any(seed) {}

    // Makes one random call; if the result differs from the model, sets `wrong`.
    void step() {
        const size_t length = 1 + any() % (any() % 20 ? 40 : 9000);
        const std::string there = at < file.size() ? file.substr(at, length) : "";
        clearerr(n.f);
        switch (any() % 11) {
        case 0:
            return expect("fread", read_file(n.f, length), there);
        case 1:
        case 2:
            return expect("read", read_fd(n.fd, length), there);
        case 3:
        case 4:
            return there.empty() ? void() : expect("salloc", take(there.size()), there);
        case 5:
            return scan();
        case 6:
            return expect("getc", std::string(1, static_cast<char>(getc(n.f))), there.substr(0, 1),
                          at < file.size());
        case 7:
            return moved("lseek", lseek(n.fd, go(), SEEK_SET));
        case 8:
            return moved("lseek back", lseek(n.fd, back(), SEEK_CUR));
        case 9:
            return moved("fseek", fseek(n.f, go(), SEEK_SET) == 0 ? ftell(n.f) : -1);
        default:
            return expect_at();
        }
    }

    std::string wrong; // the difference; empty: none

  private:
    void say(const std::string &what, const std::string &got, const std::string &expected) {
        wrong = what + " at " + std::to_string(at) + ": got \"" + got + "\", expected \"" + expected + '"';
    }

    void expect(const char *what, const std::string &got, const std::string &expected, bool possible = true) {
        if (possible && got != expected)
            return say(what, got, expected);
        at += expected.size();
        moved(what, any() % 2 ? lseek(n.fd, 0, SEEK_CUR) : ftell(n.f));
    }

    void moved(const char *what, off_t to) {
        if (to != static_cast<off_t>(at))
            say(what, std::to_string(to), std::to_string(at));
    }

    std::string take(size_t length) {
        auto size = static_cast<ssize_t>(length);
        void *p = salloc(n.s, &size);
        std::string got = p ? std::string(static_cast<char *>(p), static_cast<size_t>(size)) : "nothing";
        if (p)
            sfree(n.s, p);
        return got;
    }

    void scan() {
        long got = -1;
        const size_t begin = file.find_first_not_of('\n', at);
        const bool more = begin != std::string::npos;
        const size_t end = more ? file.find('\n', begin) : file.size();
        if (fscanf(n.f, "%ld", &got) != (more ? 1 : EOF))
            return say("fscanf", "another number of items", more ? "1" : "EOF");
        if (more && got != std::stol(file.substr(begin, end - begin)))
            return say("fscanf", std::to_string(got), file.substr(begin, end - begin));
        at = std::max(at, end);
        moved("fscanf", lseek(n.fd, 0, SEEK_CUR));
    }

    void expect_at() {
        char byte = 0;
        const size_t where = any() % file.size();
        if (pread(n.fd, &byte, 1, static_cast<off_t>(where)) != 1 || byte != file[where])
            say("pread", {byte}, {file[where]});
    }

    off_t go() { return static_cast<off_t>(at = any() % (file.size() + 20)); }

    off_t back() {
        const size_t by = any() % (at < 100 ? at + 1 : 100);
        at -= by;
        return -static_cast<off_t>(by);
    }

    Names n;
    const std::string &file;
    std::minstd_rand any;
    size_t at = 0;
};

TEST_F(Interoperability, AnySequenceOfAllInterfacesAgreesWithAModel) {
    for (unsigned seed = 1; seed <= 12; seed++) {
        const std::string text = Sequence::text(seed % 3 == 0 ? 50 : 60000);
        const std::string file = put("file", text);
        const bool by_asi = seed % 2;
        FILE *f = by_asi ? nullptr : fopen(file.c_str(), "r");
        asf_cios *s = by_asi ? must_open(file, O_RDONLY) : asf_stream(f);
        Sequence sequence(s, text, seed);
        for (int i = 0; i < 5000 && sequence.wrong.empty(); i++)
            sequence.step();
        EXPECT_EQ(sequence.wrong, "") << "seed " << seed;
        EXPECT_EQ(by_asi ? sclose(s) : fclose(f), 0);
    }
}

// "This allows using a library implemented with, for example, stdio even if the
// rest of the application uses Unix I/O."
TEST_F(Interoperability, ALibraryThatUsesStdioServesAProgramThatUsesUnixIO) {
    const Names n = names(must_open(path("out"), O_WRONLY | O_CREAT | O_TRUNC));
    for (int i = 0; i < 100; i++) {
        ASSERT_GT(fprintf(n.f, "line %d\n", i), 0);
        ASSERT_EQ(write(n.fd, "by write\n", 9), 9);
        give(n.s, "by the ASI\n");
    }
    EXPECT_EQ(sclose(n.s), 0);
    std::string expected;
    for (int i = 0; i < 100; i++)
        expected += "line " + std::to_string(i) + "\nby write\nby the ASI\n";
    EXPECT_EQ(contents("out"), expected);
}

// "Read first calls salloc to allocate the data from the stream, then copies the
// data from the allocated region to the user-specified buffer, frees the
// allocated region, and finally returns ... the amount of data read."
TEST_F(Interoperability, ReadReturnsTheAmountOfDataRead) {
    const Names n = names(must_open(put_pattern("file", 1000), O_RDONLY));
    EXPECT_EQ(read_fd(n.fd, 600), pattern(600, 0));
    EXPECT_EQ(read_fd(n.fd, 600), pattern(400, 600));
    EXPECT_EQ(read_fd(n.fd, 600), "");
    EXPECT_EQ(read(n.fd, nullptr, 0), 0);
    errno = 0;
    EXPECT_EQ(write(n.fd, "x", 1), -1);
    EXPECT_EQ(errno, EBADF);
    errno = 0;
    EXPECT_EQ(lseek(n.fd, -1, SEEK_SET), -1);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(sclose(n.s), 0);
}

// "... rewriting just the I/O-intensive parts of the application": a region stays valid during calls of the
// other interfaces.
TEST_F(Interoperability, JustTheIOIntensivePartsAreRewritten) {
    const Names n = names(must_open(put_pattern("file", static_cast<size_t>(1 * MiB)), O_RDONLY));
    ssize_t length = 5000;
    void *region = salloc(n.s, &length);
    EXPECT_EQ(length, 5000);
    EXPECT_EQ(read_fd(n.fd, 5000), pattern(5000, 5000));
    EXPECT_EQ(lseek(n.fd, 500000, SEEK_SET), 500000);
    EXPECT_EQ(read_file(n.f, 10), pattern(10, 500000));
    const int other = dup(n.fd);
    EXPECT_EQ(lseek(other, 0, SEEK_CUR), 500010);
    close(other);
    EXPECT_EQ(first_wrong(region, 5000, 0), 5000U);
    EXPECT_EQ(sfree(n.s, region), 0);
    EXPECT_EQ(sclose(n.s), 0);
}

// By each of its names a pipe gives the bytes that are there, without waiting for more.
TEST_F(Interoperability, APipeGivesWhatThereIs) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const Names n = names(asf_sopen_fd(ends[0], O_RDONLY, nullptr));
    ASSERT_EQ(write(ends[1], "0123456789abcdef", 16), 16);
    EXPECT_EQ(getc(n.f), '0');
    EXPECT_EQ(take(n.s, 2), "12");
    EXPECT_EQ(read_fd(ends[0], 3), "345");
    EXPECT_EQ(read_fd(ends[0], 100), "6789abcdef");
    ASSERT_EQ(write(ends[1], "more", 4), 4);
    EXPECT_EQ(read_fd(ends[0], 100), "more");
    close(ends[1]);
    EXPECT_EQ(read_fd(ends[0], 100), "");
    EXPECT_EQ(sclose(n.s), 0);
}

// After a truncation no interface reads the stale pages of a mapped window.
TEST_F(Interoperability, AFileThatWasCutOffAndHasGrownIsReadAsItIs) {
    const auto size = static_cast<size_t>(4 * MiB), half = size / 2;
    const std::function<std::string(const Names &)> ways[] = {
        [&](const Names &n) { return read_file(n.f, size); },
        [&](const Names &n) {
            std::string text;
            for (int byte; (byte = getc(n.f)) != EOF;)
                text += static_cast<char>(byte);
            return text;
        },
        [&](const Names &n) {
            std::string text(size, '\0');
            text.resize(fgets(text.data(), static_cast<int>(size), n.f) ? strlen(text.data()) : 0);
            return text + read_file(n.f, size);
        },
        [&](const Names &n) {
            ungetc('u', n.f);
            ungetc('v', n.f);
            return read_file(n.f, size).substr(2);
        },
        [&](const Names &n) { return read_fd(n.fd, size); },
        [&](const Names &n) {
            asf_cios *out = must_open(path("out"), O_WRONLY | O_CREAT | O_TRUNC);
            EXPECT_EQ(asf_copy(n.s, out, INT64_MAX), static_cast<int64_t>(half));
            EXPECT_EQ(sclose(out), 0);
            return contents("out");
        },
    };
    for (const auto &way : ways) {
        const std::string file = put("file", std::string(size, 'o'));
        const Names n = names(must_open(file, O_RDONLY));
        ssize_t all = static_cast<ssize_t>(size), part = static_cast<ssize_t>(half);
        auto *region = static_cast<char *>(salloc(n.s, &all));
        ASSERT_EQ(all, 4 * MiB);
        ASSERT_EQ(truncate(file.c_str(), 1000), 0);
        for (size_t at = half; at < size; at += 3 * 4096)
            EXPECT_TRUE(region[at] == '\0' || region[at] == 'o');
        EXPECT_EQ(srealloc(n.s, region, &part), region);
        put("file", std::string(size, 'n'));
        const std::string rest = way(n);
        EXPECT_EQ(rest.size(), half) << &way - ways;
        EXPECT_EQ(rest.find('\0'), std::string::npos) << &way - ways;
        sfree(n.s, region);
        EXPECT_EQ(sclose(n.s), 0);
    }
}

} // namespace
} // namespace asi
