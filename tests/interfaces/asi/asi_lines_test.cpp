// SPDX-License-Identifier: MIT
//
// Proves the lines, fields and records of a stream in place: against libc's getline and strsep, with lines of
// every length around the ends of buffers and windows, from files and from pipes whose data comes in chunks,
// by every kernel, and mixed with other calls of the ASI.
#include <asf/lines.h>
#include <asf/numbers.h>
#include <asf/ring.h>
#include <asf/scan.h>
#include <asf/stream.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <pty.h>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/interfaces/asi/asi_test.h"
#include "tests/lib/text/kernel_names.h"

namespace asi {
namespace {

struct Line {
    std::string text; // without the delimiter
    bool delimited;
    bool operator==(const Line &) const = default;
};
using Lines = std::vector<Line>;

// Splits the bytes by libc's getdelim.
Lines libc_lines(const std::string &all, char delimiter) {
    Lines lines;
    if (all.empty())
        return lines;
    FILE *file = fmemopen(const_cast<char *>(all.data()), all.size(), "r");
    char *text = nullptr;
    size_t room = 0;
    ssize_t n;
    while ((n = getdelim(&text, &room, static_cast<unsigned char>(delimiter), file)) > 0) {
        const bool delimited = text[n - 1] == delimiter;
        lines.push_back({std::string(text, static_cast<size_t>(n - delimited)), delimited});
    }
    free(text);
    fclose(file);
    return lines;
}

// Reads the rest of a stream by the iterator, which must end without an error.
Lines iterated(asf_cios *s, char delimiter, ssize_t longest = 0, size_t most = SIZE_MAX) {
    Lines lines;
    asf_lines it;
    ssize_t n = -1;
    asf_lines_begin(&it, s, delimiter, longest);
    while (lines.size() < most) {
        const char *text = asf_lines_next(&it, &n);
        if (!text)
            break;
        lines.push_back({std::string(text, static_cast<size_t>(n)), asf_lines_delimited(&it) != 0});
        if (asf_lines_delimited(&it)) {
            EXPECT_EQ(text[n], delimiter);
        }
    }
    EXPECT_GE(n, lines.size() < most ? 0 : -1);
    EXPECT_EQ(asf_lines_end(&it), 0);
    return lines;
}

// Reads the rest of a stream by regions, some of which are held for a while.
Lines allocated(asf_cios *s, char delimiter, size_t held = 0, ssize_t longest = 0) {
    Lines lines;
    std::vector<std::pair<char *, size_t>> regions;
    for (;;) {
        ssize_t n = longest;
        char *p = static_cast<char *>(salloc_until(s, delimiter, &n));
        if (!p) {
            EXPECT_EQ(n, 0);
            break;
        }
        const bool delimited = p[n - 1] == delimiter;
        lines.push_back({std::string(p, static_cast<size_t>(n - delimited)), delimited});
        regions.emplace_back(p, lines.size() - 1);
        if (regions.size() > held) {
            const auto [q, i] = regions.front();
            EXPECT_EQ(memcmp(q, lines[i].text.data(), lines[i].text.size()), 0) << "a held region changed";
            EXPECT_EQ(sfree(s, q), 0);
            regions.erase(regions.begin());
        }
    }
    for (const auto &[p, i] : regions)
        EXPECT_EQ(sfree(s, p), 0);
    return lines;
}

void expect_lines(const Lines &got, const Lines &expected) {
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); i++)
        ASSERT_TRUE(got[i] == expected[i]) << "line " << i << " of " << got.size() << ", "
                                           << got[i].text.size() << " bytes, not " << expected[i].text.size();
}

class Source {
  public:
    explicit Source(unsigned seed) : engine_(seed) {}
    size_t below(size_t limit) { return std::uniform_int_distribution<size_t>(0, limit - 1)(engine_); }

    // Lines of one kind or mixed, with NUL and CR among the bytes, to about `size` bytes.
    std::string text(size_t size, char delimiter) {
        static const size_t longest[] = {2, 17, 60, 130, 5000, 100000, 300000};
        const size_t kind = below(std::size(longest) + 1);
        std::string all;
        while (all.size() < size) {
            const size_t most = longest[kind < std::size(longest) ? kind : below(std::size(longest))];
            all.append(line(below(most), delimiter));
            all += delimiter;
        }
        if (below(2))
            all.append(line(1 + below(300), delimiter));
        return all;
    }

  private:
    std::string line(size_t n, char delimiter) {
        std::string text(n, 'x');
        const char odd[] = {'\0', '\r', '\n', '\t', 'y', '\xff'};
        for (size_t i = 0; i < n; i += 1 + below(20))
            if (const char c = odd[below(sizeof odd)]; c != delimiter)
                text[i] = c;
        if (n > 0 && below(4) == 0)
            text[n - 1] = delimiter == '\r' ? 'x' : '\r';
        return text;
    }

    std::mt19937_64 engine_;
};

class LinesTest : public Asi, public testing::WithParamInterface<std::string> {
  protected:
    void SetUp() override {
        Asi::SetUp();
        const int error = asf_scan_use(GetParam().c_str());
        if (error == -ENOTSUP)
            GTEST_SKIP() << "this CPU does not have " << GetParam();
        ASSERT_EQ(error, 0);
    }
    void TearDown() override {
        asf_scan_use(nullptr);
        Asi::TearDown();
    }

    // Reads the file both ways, by iterator and by regions.
    void expect_of_file(const std::string &all, char delimiter, size_t held = 0) {
        put("file", all);
        const Lines expected = libc_lines(all, delimiter);
        asf_cios *s = must_open(path("file"), O_RDONLY);
        expect_lines(iterated(s, delimiter), expected);
        ssize_t n = 1;
        if (void *p = sallocAt(s, &n, 0, SEEK_SET)) {
            n = 0;
            p = srealloc(s, p, &n);
            sfree(s, p);
        }
        expect_lines(allocated(s, delimiter, held), expected);
        EXPECT_EQ(sclose(s), 0);
    }
};

TEST_P(LinesTest, EveryShape) {
    for (const char *text : {"", "\n", "\n\n", "a", "a\n", "\na", "a\nb", "a\r\nb\r\n", "one\ntwo\n\nfour\n"})
        expect_of_file(text, '\n');
    expect_of_file(std::string("a\0b\n\0\0\nc\0", 10), '\n');
    expect_of_file(std::string("a\0b\n\0\0\nc\0", 10), '\0');
    expect_of_file("a\xff"
                   "b\xff",
                   '\xff');
}

// Lines that end at every offset near the ends of kernel masks, parts and buffers.
TEST_P(LinesTest, EndsAboutEdges) {
    for (size_t edge : {size_t{64}, size_t{512}, size_t{16384}, size_t{65536}, size_t{131072}}) {
        for (size_t off = 0; off < 4; off++) {
            const std::string all =
                std::string(edge - 2 + off, 'a') + "\n" + std::string(edge - 1, 'b') + "\nc";
            expect_of_file(all, '\n');
            expect_of_file(std::string(edge - 2 + off, '\n') + "c", '\n');
        }
    }
}

TEST_P(LinesTest, RandomFiles) {
    Source source(1);
    for (int round = 0; round < (sanitized ? 15 : 60); round++) {
        const char delimiter = "\n\n\n\0:"[source.below(5)];
        SCOPED_TRACE(round);
        expect_of_file(source.text(1 + source.below(source.below(2) ? 3000 : 700000), delimiter), delimiter,
                       source.below(2) * source.below(40));
        if (HasFailure())
            break;
    }
}

TEST_P(LinesTest, LargerThanAWindow) {
    Source source(2);
    std::string all = source.text(static_cast<size_t>(5 * MiB), '\n');
    expect_of_file(all, '\n', 3);
    all.insert(static_cast<size_t>(MiB), std::string(static_cast<size_t>(MiB) - 5, 'l') + "\n");
    all.insert(static_cast<size_t>(MiB), "\n");
    expect_of_file(all, '\n');
}

// A pipe to which a thread writes in chunks.
class Pipe {
  public:
    Pipe(std::string all, unsigned seed) {
        int ends[2];
        if (pipe(ends) != 0)
            abort();
        stream = asf_sopen_fd(ends[0], O_RDONLY, nullptr);
        writer_ = std::thread([=] {
            Source source(seed);
            const size_t most = source.below(2) ? 50 : 100000;
            for (size_t at = 0; at < all.size();) {
                const size_t n = std::min(all.size() - at, 1 + source.below(most));
                if (::write(ends[1], all.data() + at, n) != static_cast<ssize_t>(n))
                    abort();
                at += n;
            }
            ::close(ends[1]);
        });
    }
    ~Pipe() {
        writer_.join();
        EXPECT_EQ(sclose(stream), 0);
    }
    asf_cios *stream;

  private:
    std::thread writer_;
};

TEST_P(LinesTest, RandomPipes) {
    Source source(3);
    for (unsigned round = 0; round < (sanitized ? 8 : 30); round++) {
        const std::string all = source.text(1 + source.below(round % 2 ? 900000 : 20000), '\n');
        const Lines expected = libc_lines(all, '\n');
        SCOPED_TRACE(round);
        Pipe one(all, round), other(all, round + 1000);
        expect_lines(iterated(one.stream, '\n'), expected);
        expect_lines(allocated(other.stream, '\n', source.below(2) * source.below(10)), expected);
    }
}

// Stops the iteration at random, and continues by any other call.
TEST_P(LinesTest, MixedWithOtherCalls) {
    Source source(4);
    for (int round = 0; round < 40; round++) {
        const std::string all = source.text(200000, '\n');
        asf_cios *s = must_open(put("file", all), O_RDONLY);
        size_t at = 0;
        while (at < all.size()) {
            const size_t most = 1 + source.below(50);
            if (source.below(3) == 0) {
                const std::string text = take(s, static_cast<ssize_t>(most));
                ASSERT_EQ(text, all.substr(at, most));
                at += text.size();
            } else if (source.below(2)) {
                for (const Line &line : iterated(s, '\n', 0, most)) {
                    ASSERT_TRUE(all.compare(at, line.text.size(), line.text) == 0);
                    at += line.text.size() + line.delimited;
                }
            } else {
                ssize_t n = 0;
                char *p = static_cast<char *>(salloc_until(s, '\n', &n));
                ASSERT_NE(p, nullptr);
                ASSERT_TRUE(all.compare(at, static_cast<size_t>(n), p, static_cast<size_t>(n)) == 0);
                at += static_cast<size_t>(n);
                ASSERT_TRUE(at == all.size() || all[at - 1] == '\n');
                sfree(s, p);
            }
        }
        EXPECT_EQ(take(s, 10), "");
        EXPECT_EQ(sclose(s), 0);
    }
}

// Limits below, at and above each line's length.
TEST_P(LinesTest, Limits) {
    const std::string all = "1234567\n\n12345\n" + std::string(100000, 'x') + "\n123";
    put("file", all);
    const Lines expected = libc_lines(all, '\n');
    for (ssize_t longest : {1, 2, 6, 7, 8, 9, 100, 16384, 65536, 99999, 100000, 100001, 100002}) {
        SCOPED_TRACE(longest);
        asf_cios *s = must_open(path("file"), O_RDONLY);
        asf_cios *t = must_open(path("file"), O_RDONLY);
        for (const Line &line : expected) {
            const ssize_t whole = static_cast<ssize_t>(line.text.size()) + line.delimited;
            asf_lines it;
            ssize_t n = longest, m = 0;
            char *p = static_cast<char *>(salloc_until(s, '\n', &n));
            asf_lines_begin(&it, t, '\n', longest);
            for (int again = 0; again < (whole > longest ? 3 : 1); again++)
                if (const char *q = asf_lines_next(&it, &m); q) {
                    EXPECT_TRUE(std::string(q, static_cast<size_t>(m)) == line.text);
                    EXPECT_LE(whole, longest);
                } else {
                    EXPECT_GT(whole, longest);
                    EXPECT_EQ(m, -EMSGSIZE);
                }
            EXPECT_EQ(asf_lines_end(&it), 0);
            if (whole > longest) {
                expect_none(p, n, -EMSGSIZE);
                EXPECT_TRUE(take(t, whole).compare(0, line.text.size(), line.text) == 0);
                n = whole;
                p = static_cast<char *>(salloc_until(s, '\n', &n));
            }
            ASSERT_NE(p, nullptr);
            EXPECT_EQ(n, whole);
            EXPECT_EQ(sfree(s, p), 0);
        }
        EXPECT_EQ(sclose(s), 0);
        EXPECT_EQ(sclose(t), 0);
    }
}

// If the caller sets no limit, the default limit applies.
TEST_P(LinesTest, TheDefaultLimit) {
    const size_t most = static_cast<size_t>(ASF_LONGEST_LINE);
    put("file", std::string(most - 1, 'x') + "\n" + std::string(most, 'y') + "\n" + std::string(most, 'z'));
    asf_cios *s = must_open(path("file"), O_RDONLY);
    for (ssize_t expected : {ssize_t{ASF_LONGEST_LINE}, ssize_t{-EMSGSIZE}}) {
        ssize_t n = 0;
        void *p = salloc_until(s, '\n', &n);
        EXPECT_EQ(n, expected);
        EXPECT_EQ(p != nullptr, expected > 0);
        if (p)
            sfree(s, p);
    }
    EXPECT_EQ(take(s, static_cast<ssize_t>(most) + 1), std::string(most, 'y') + "\n");
    ssize_t n = 0;
    void *p = salloc_until(s, '\n', &n);
    EXPECT_EQ(n, static_cast<ssize_t>(most)) << "the end of the file is no delimiter";
    sfree(s, p);
    EXPECT_EQ(sclose(s), 0);
}

// A line that has arrived is returned before the call waits for more.
TEST_P(LinesTest, LinesOfAPipeAsTheyCome) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    asf_cios *s = asf_sopen_fd(ends[0], O_RDONLY, nullptr);
    asf_lines it;
    asf_lines_begin(&it, s, '\n', 0);
    const auto say = [&](std::string_view text) {
        ASSERT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    };
    const auto expect = [&](const std::string &text) {
        ssize_t n;
        const char *p = asf_lines_next(&it, &n);
        ASSERT_NE(p, nullptr);
        EXPECT_EQ(std::string(p, static_cast<size_t>(n)), text);
    };
    EXPECT_FALSE(asf_lines_at_hand(&it));
    say("one\ntwo\nthr");
    expect("one");
    EXPECT_TRUE(asf_lines_at_hand(&it));
    expect("two");
    EXPECT_FALSE(asf_lines_at_hand(&it));
    say("ee\n");
    expect("three");
    for (size_t n : {size_t{4095}, size_t{4096}, size_t{60000}, size_t{65535}}) {
        say(std::string(n, 'x') + "\n");
        expect(std::string(n, 'x'));
    }
    EXPECT_EQ(asf_lines_end(&it), 0);
    say("four\nfive");
    ssize_t n = 0;
    void *p = salloc_until(s, '\n', &n);
    EXPECT_EQ(n, 5);
    EXPECT_EQ(sfree(s, p), 0);
    ::close(ends[1]);
    n = 0;
    p = salloc_until(s, '\n', &n);
    EXPECT_EQ(std::string(static_cast<char *>(p), static_cast<size_t>(n)), "five");
    EXPECT_EQ(sfree(s, p), 0);
    EXPECT_EQ(sclose(s), 0);
}

// A ring of 8 KB, which also passes longer lines.
TEST_P(LinesTest, RandomRings) {
    Source source(8);
    for (int round = 0; round < 16; round++) {
        const std::string all = source.text(1 + source.below(300000), '\n');
        const int fd = asf_ring_create(8192);
        asf_cios *in = asf_ring_sopen_fd(fd, O_RDONLY, nullptr),
                 *out = asf_ring_sopen_fd(fd, O_WRONLY, nullptr);
        ::close(fd);
        std::thread writer([&] {
            for (size_t at = 0; at < all.size(); at += 3000)
                give(out, std::string_view(all).substr(at, 3000));
            EXPECT_EQ(sclose(out), 0);
        });
        expect_lines(round % 2 ? iterated(in, '\n') : allocated(in, '\n', source.below(4)),
                     libc_lines(all, '\n'));
        writer.join();
        EXPECT_EQ(sclose(in), 0);
    }
}

// A module of the program's own whose reads are short.
struct ShortReads {
    std::string all;
    size_t at = 0, most = 1;
    static ssize_t get(asf_cios *c, void *buf, size_t n) {
        auto *self = static_cast<ShortReads *>(asf_stream_data(c));
        n = std::min({n, self->most, self->all.size() - self->at});
        memcpy(buf, self->all.data() + self->at, n);
        self->at += n;
        return static_cast<ssize_t>(n);
    }
};

TEST_P(LinesTest, AModuleOfTheProgram) {
    static const asf_stream_ops ops = [] {
        asf_stream_ops o = {};
        o.size = sizeof o;
        o.version = ASF_STREAM_VERSION;
        o.name = "short";
        o.get = ShortReads::get;
        return o;
    }();
    Source source(9);
    for (int round = 0; round < 20; round++) {
        ShortReads data{source.text(1 + source.below(60000), '\n'), 0,
                        1 + source.below(round % 2 ? 10 : 9000)};
        asf_cios *s = asf_sopen_with(&ops, &data, O_RDONLY, nullptr);
        expect_lines(round % 4 < 2 ? iterated(s, '\n') : allocated(s, '\n'), libc_lines(data.all, '\n'));
        EXPECT_EQ(sclose(s), 0);
    }
}

TEST_P(LinesTest, ThreadsGetWholeLinesOnce) {
    std::string all;
    constexpr size_t count = 40000;
    for (size_t i = 0; i < count; i++)
        all += std::to_string(i) + ":" + std::string(i % 97, static_cast<char>('a' + i % 26)) + "\n";
    Pipe pipe(all, 5);
    for (asf_cios *s : {must_open(put("file", all), O_RDONLY), pipe.stream}) {
        std::vector<std::atomic<int>> seen(count);
        std::atomic<int> wrong = 0;
        const auto read_lines = [&] {
            ssize_t n = 0;
            while (char *p = static_cast<char *>(salloc_until(s, '\n', &n))) {
                char *end;
                const size_t i = strtoul(p, &end, 10);
                if (i >= count || n != end - p + 2 + static_cast<ssize_t>(i % 97) || p[n - 1] != '\n' ||
                    seen[i]++)
                    wrong++;
                sfree(s, p);
                n = 0;
            }
        };
        std::thread one(read_lines), two(read_lines);
        one.join();
        two.join();
        EXPECT_EQ(wrong, 0);
        EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](const auto &times) { return times == 1; }));
        if (s != pipe.stream)
            sclose(s);
    }
}

// Splits by strsep, which needs its own copy of the string.
std::vector<std::string> libc_fields(std::string text, char separator) {
    std::vector<std::string> fields;
    const char separators[] = {separator, '\0'};
    char *rest = text.data();
    while (const char *field = strsep(&rest, separators))
        fields.emplace_back(field);
    return fields;
}

std::vector<std::string> fields_of(const char *text, size_t length, char separator) {
    std::vector<std::string> fields;
    asf_fields it;
    ssize_t n;
    asf_fields_begin(&it, text, static_cast<ssize_t>(length), separator);
    while (const char *field = asf_fields_next(&it, &n))
        fields.emplace_back(field, static_cast<size_t>(n));
    EXPECT_EQ(n, -1);
    EXPECT_EQ(asf_fields_next(&it, &n), nullptr) << "after the end, again";
    return fields;
}

TEST_P(LinesTest, Fields) {
    Source source(6);
    for (size_t length = 0; length < 300; length++) {
        for (int round = 0; round < 10; round++) {
            const size_t often = round == 0 ? 1 : 1 + source.below(40);
            std::string text(length, 'a');
            for (char &c : text)
                c = source.below(often) == 0 ? ',' : 'b';
            const auto exact = std::make_unique<char[]>(length); // bounds that sanitizers see
            memcpy(exact.get(), text.data(), length);
            ASSERT_EQ(fields_of(exact.get(), length, ','), libc_fields(text, ','));
        }
    }
    EXPECT_EQ(fields_of("a\xff"
                        "b",
                        3, '\xff')
                  .size(),
              2U);
}

TEST_P(LinesTest, Records) {
    constexpr size_t all = 300001;
    for (size_t size : {size_t{1}, size_t{7}, size_t{64}, size_t{4096}, size_t{70000}, all, all + 1}) {
        Pipe pipe(pattern(all), static_cast<unsigned>(size));
        for (asf_cios *s : {must_open(put_pattern("file", all), O_RDONLY), pipe.stream}) {
            asf_fixed_records it;
            asf_fixed_records_begin(&it, s, size);
            size_t at = 0;
            ssize_t n = -1;
            while (const void *p = asf_fixed_records_next(&it, &n)) {
                ASSERT_EQ(static_cast<size_t>(n), std::min(size, all - at));
                ASSERT_EQ(first_wrong(p, static_cast<size_t>(n), at), static_cast<size_t>(n));
                at += static_cast<size_t>(n);
            }
            EXPECT_EQ(n, 0);
            EXPECT_EQ(at, all);
            EXPECT_EQ(asf_fixed_records_end(&it), 0);
            if (s != pipe.stream)
                sclose(s);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Kernels, LinesTest, testing::ValuesIn(kernel_names()),
                         [](const auto &kernel) { return kernel.param; });

using LinesOnce = Asi;

// Compiles source code written for version 0.2.
TEST_F(LinesOnce, RecordsAndColumnsByTheirOldNames) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    asf_cios *s = must_open(put("file", "1\n2\n3\n4\n"), O_RDONLY);
    struct asf_records it;
    ssize_t n;
    int32_t numbers[8];
    const asf_column column = {0, ASF_INT32, numbers};
    asf_records_begin(&it, s, 4);
    EXPECT_EQ(memcmp(asf_records_next(&it, &n), "1\n2\n", 4), 0);
    EXPECT_EQ(asf_records_end(&it), 0);
    EXPECT_EQ(asf_scan_columns(s, '\t', &column, 1, 8), 2);
    EXPECT_EQ(numbers[1], 4);
    EXPECT_EQ(sclose(s), 0);
#pragma GCC diagnostic pop
}

TEST_F(LinesOnce, RecordsEndWhereTheyWereLeft) {
    asf_cios *s = must_open(put_pattern("file", 100000), O_RDONLY);
    asf_fixed_records it;
    ssize_t n;
    asf_fixed_records_begin(&it, s, 100);
    for (int i = 0; i < 3; i++)
        asf_fixed_records_next(&it, &n);
    EXPECT_EQ(asf_fixed_records_end(&it), 0);
    EXPECT_EQ(take(s, 10), pattern(10, 300));
    asf_fixed_records_begin(&it, s, 0);
    EXPECT_EQ(asf_fixed_records_next(&it, &n), nullptr);
    EXPECT_EQ(n, -EINVAL);
    EXPECT_EQ(asf_fixed_records_end(&it), 0);
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(LinesOnce, Errors) {
    asf_cios *s = must_open(path("out"), O_RDWR | O_CREAT);
    ssize_t n = -1;
    void *p = salloc_until(s, '\n', &n);
    expect_none(p, n, -EINVAL);
    ASSERT_NE(set_stream_mode(s, ASF_WRITE), nullptr);
    n = 0;
    p = salloc_until(s, '\n', &n);
    expect_none(p, n, -EBADF);
    EXPECT_EQ(sclose(s), 0);
    s = must_open(path("out"), O_WRONLY);
    n = 0;
    lockAsfStream(s);
    p = u_salloc_until(s, '\n', &n);
    unlockAsfStream(s);
    expect_none(p, n, -EBADF);
    asf_lines it;
    asf_lines_begin(&it, s, '\n', 0);
    EXPECT_EQ(asf_lines_next(&it, &n), nullptr);
    EXPECT_EQ(n, -EBADF);
    EXPECT_EQ(asf_lines_end(&it), 0);
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(LinesOnce, AnotherCallBetweenIsTold) {
    asf_cios *s = must_open(put("file", "one\ntwo\nthree\n"), O_RDONLY);
    asf_lines it;
    ssize_t n, m = 1;
    asf_lines_begin(&it, s, '\n', 0);
    EXPECT_NE(asf_lines_next(&it, &n), nullptr);
    EXPECT_EQ(salloc(s, &m), nullptr) << "all is held";
    EXPECT_EQ(sclose(s), -EBUSY);
    asf_lines_end(&it);
    EXPECT_EQ(sclose(s), 0);
    s = must_open(put("file", std::string(static_cast<size_t>(9 * MiB), '\n')), O_RDONLY);
    asf_lines_begin(&it, s, '\n', 0);
    EXPECT_NE(asf_lines_next(&it, &n), nullptr);
    m = 10;
    void *p = salloc(s, &m);
    EXPECT_NE(p, nullptr);
    EXPECT_EQ(asf_lines_end(&it), -EBUSY);
    EXPECT_EQ(sfree(s, p), 0);
    EXPECT_EQ(sclose(s), 0);
}

std::string next_line(asf_lines &it, ssize_t *n) {
    const char *line = asf_lines_next(&it, n);
    return line ? std::string(line, static_cast<size_t>(*n)) : "none";
}

// If it were not refused, the second iterator would begin in the file's next window.
TEST_F(LinesOnce, ASecondIterationIsRefused) {
    std::string all;
    for (int i = 0; i < 500000; i++)
        all += std::to_string(i) + "\n";
    asf_cios *s = must_open(put("file", all), O_RDONLY), *other = must_open(path("file"), O_RDONLY);
    asf_lines first, second;
    asf_fixed_records records;
    ssize_t n = 0;
    int64_t id;
    const asf_column column = {0, ASF_INT64, &id};
    asf_lines_begin(&first, s, '\n', 0);
    asf_lines_begin(&second, s, '\n', 0);
    asf_fixed_records_begin(&records, s, 2);
    EXPECT_EQ(next_line(first, &n), "0");
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(next_line(second, &n), "none");
        EXPECT_EQ(n, -EBUSY);
        EXPECT_EQ(asf_fixed_records_next(&records, &n), nullptr);
        EXPECT_EQ(n, -EBUSY);
        EXPECT_EQ(asf_get_columns(s, '\t', &column, 1, 1), -EBUSY);
        EXPECT_EQ(asf_fixed_records_end(&records), 0);
    }
    EXPECT_EQ(next_line(first, &n), "1");
    expect_lines(iterated(other, '\n'), libc_lines(all, '\n'));
    EXPECT_EQ(asf_lines_end(&first), 0);
    EXPECT_EQ(next_line(second, &n), "2");
    EXPECT_EQ(next_line(first, &n), "none");
    EXPECT_EQ(n, -EBUSY);
    EXPECT_EQ(asf_lines_end(&first), 0);
    EXPECT_EQ(next_line(second, &n), "3");
    EXPECT_EQ(asf_lines_end(&second), 0);
    EXPECT_EQ(asf_get_columns(s, '\t', &column, 1, 1), 1);
    EXPECT_EQ(id, 4);
    EXPECT_NE(asf_fixed_records_next(&records, &n), nullptr);
    asf_lines_begin(&first, s, '\n', 0);
    EXPECT_EQ(next_line(first, &n), "none");
    EXPECT_EQ(n, -EBUSY);
    EXPECT_EQ(sclose(s), -EBUSY);
    EXPECT_EQ(asf_fixed_records_end(&records), 0);
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(sclose(other), 0);
}

// After -EMSGSIZE an iterator still holds its lines; after the end of the file it holds nothing.
TEST_F(LinesOnce, AnIterationThatHasReturnedTheEndHoldsNothing) {
    asf_cios *s = must_open(put("file", "one\ntwo\nmuch too long\n"), O_RDONLY);
    asf_lines first, second;
    ssize_t n;
    asf_lines_begin(&first, s, '\n', 5);
    EXPECT_EQ(next_line(first, &n), "one");
    EXPECT_EQ(next_line(first, &n), "two");
    EXPECT_EQ(next_line(first, &n), "none");
    EXPECT_EQ(n, -EMSGSIZE);
    asf_lines_begin(&second, s, '\n', 0);
    EXPECT_EQ(next_line(second, &n), "none");
    EXPECT_EQ(n, -EBUSY);
    EXPECT_EQ(asf_lines_end(&first), 0);
    EXPECT_EQ(next_line(second, &n), "much too long");
    EXPECT_EQ(next_line(second, &n), "none");
    EXPECT_EQ(n, 0);
    asf_lines_begin(&first, s, '\n', 0);
    EXPECT_EQ(next_line(first, &n), "none");
    EXPECT_EQ(n, 0);
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(asf_lines_end(&first), 0) << "without a look at the stream";
    EXPECT_EQ(asf_lines_end(&second), 0);
}

// As with salloc, bytes before an error are returned first.
TEST_F(LinesOnce, ADescriptorThatDoesNotWait) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_NONBLOCK), 0);
    asf_cios *s = asf_sopen_fd(ends[0], O_RDONLY, nullptr);
    ssize_t n = 0;
    void *p = salloc_until(s, '\n', &n);
    expect_none(p, n, -EAGAIN);
    ASSERT_EQ(::write(ends[1], "one\ntw", 6), 6);
    for (ssize_t expected : {ssize_t{4}, ssize_t{2}, ssize_t{-EAGAIN}}) {
        n = 0;
        p = salloc_until(s, '\n', &n);
        EXPECT_EQ(n, expected);
        if (p)
            sfree(s, p);
    }
    ::close(ends[1]);
    EXPECT_EQ(sclose(s), 0);
}

// A terminal gives a line at a time; after an end of file the next call reads again.
TEST_F(LinesOnce, ATerminal) {
    int master, slave;
    ASSERT_EQ(openpty(&master, &slave, nullptr, nullptr, nullptr), 0);
    asf_cios *s = asf_sopen_fd(slave, O_RDONLY, nullptr);
    asf_lines it;
    ssize_t n;
    asf_lines_begin(&it, s, '\n', 0);
    for (const std::string text : {"one", "", "three"}) {
        ASSERT_GT(::write(master, (text + "\n").data(), text.size() + 1), 0);
        const char *line = asf_lines_next(&it, &n);
        ASSERT_NE(line, nullptr);
        EXPECT_EQ(std::string(line, static_cast<size_t>(n)), text);
    }
    ASSERT_EQ(::write(master, "\004", 1), 1);
    EXPECT_EQ(asf_lines_next(&it, &n), nullptr);
    EXPECT_EQ(n, 0);
    ASSERT_EQ(::write(master, "four\n", 5), 5);
    EXPECT_NE(asf_lines_next(&it, &n), nullptr);
    EXPECT_EQ(n, 4);
    EXPECT_EQ(asf_lines_end(&it), 0);
    EXPECT_EQ(sclose(s), 0);
    ::close(master);
}

// Missing bytes read as zeros, and an error reports them.
TEST_F(LinesOnce, AFileThatIsTruncated) {
    std::string all;
    while (all.size() < static_cast<size_t>(4 * MiB))
        all += "a line of some length\n";
    asf_cios *s = must_open(put("file", all), O_RDONLY);
    asf_lines it;
    ssize_t n = 0;
    asf_lines_begin(&it, s, '\n', 0);
    EXPECT_NE(asf_lines_next(&it, &n), nullptr);
    const bool mapped = !strcmp(asf_module_name(s), "map");
    ASSERT_EQ(truncate(path("file").c_str(), 100), 0);
    for (int i = 0; i < 1000000 && asf_lines_next(&it, &n); i++)
        ASSERT_GE(n, 0);
    if (mapped) {
        EXPECT_TRUE(n == -EIO || n == -EMSGSIZE) << n;
    }
    asf_lines_end(&it);
    n = 0;
    void *p = salloc_until(s, '\n', &n);
    expect_none(p, n, 0);
    sclose(s);
}

TEST_F(LinesOnce, AGrowingFile) {
    asf_cios *s = must_open(put("file", "one\ntwo"), O_RDONLY);
    asf_lines it;
    ssize_t n;
    asf_lines_begin(&it, s, '\n', 0);
    EXPECT_NE(asf_lines_next(&it, &n), nullptr);
    EXPECT_NE(asf_lines_next(&it, &n), nullptr);
    EXPECT_FALSE(asf_lines_delimited(&it));
    EXPECT_EQ(asf_lines_next(&it, &n), nullptr);
    EXPECT_EQ(n, 0);
    const int fd = open(path("file").c_str(), O_WRONLY | O_APPEND);
    ASSERT_EQ(::write(fd, " more\n", 6), 6);
    ::close(fd);
    EXPECT_NE(asf_lines_next(&it, &n), nullptr);
    EXPECT_EQ(n, 5);
    EXPECT_TRUE(asf_lines_delimited(&it));
    EXPECT_EQ(asf_lines_end(&it), 0);
    EXPECT_EQ(sclose(s), 0);
}

} // namespace
} // namespace asi
