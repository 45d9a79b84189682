// SPDX-License-Identifier: MIT
//
// fault_loops_test.cpp - the ASI's streams with failing calls.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/faults/fault_loops.h"

#include <asf/decode.h>
#include <asf/dir.h>
#include <asf/lines.h>
#include <asf/parts.h>

#define _Static_assert static_assert
extern "C" {
#include "backplane/regions.h"
#include "streams/streams.h"
}
#undef _Static_assert

namespace faults {
namespace {

Outcome reads(ssize_t chunk) {
    Outcome o;
    if (asf_cios *s = open_stream("in", O_RDONLY, o)) {
        read_to_end(s, chunk, o);
        close_stream(s, o);
    }
    return o;
}

Outcome reads_by(const char *module) {
    strcpy(options().module, module);
    options().map_min = 0;
    return reads(5000);
}

Outcome reads_lines() {
    Outcome o;
    asf_lines lines;
    asf_cios *s = open_stream("in", O_RDONLY, o);
    if (!s)
        return o;
    asf_lines_begin(&lines, s, '\n', 0);
    for (int failures = 0; failures < TRIES;) {
        ssize_t n;
        const char *line = asf_lines_next(&lines, &n);
        if (line) {
            o.text.append(line, (size_t)n) += asf_lines_delimited(&lines) ? "\n" : "";
        } else {
            o.told(n);
            failures = n == 0 ? (int)TRIES : failures + 1;
        }
    }
    o.told(asf_lines_end(&lines));
    close_stream(s, o);
    return o;
}

// Reads at offsets that alternate forwards and backwards.
Outcome reads_places() {
    Outcome o;
    asf_cios *s = open_stream("in", O_RDONLY, o);
    if (!s)
        return o;
    for (size_t at = 0; at < content.size(); at += 5000) {
        size_t from = at % 10000 ? at - 5000 : at + 5000; // exchanges the halves of each 10,000 bytes
        ssize_t n = 5000;
        auto *p = static_cast<const char *>(asf_sallocAt(s, &n, (int64_t)from, SEEK_SET));
        if (!p) {
            o.told(n);
            continue;
        }
        EXPECT_EQ(content.compare(from, (size_t)n, p, (size_t)n), 0) << "at " << from;
        o.told(asf_sfree(s, const_cast<char *>(p)));
    }
    close_stream(s, o);
    o.text = content; // the loop has compared the bytes
    return o;
}

// Writes chunks of different sizes, with some flushes.  If no error is reported, the file must have all
// bytes.
void write_all(asf_cios *s, Outcome &o) {
    size_t sizes[] = {1, 100, 4096, 70000, 3, 8192, 20000};
    size_t at = 0;
    for (size_t i = 0; at < content.size(); i++) {
        size_t n = std::min(sizes[i % std::size(sizes)], content.size() - at);
        put(s, content.data() + at, n, o);
        at += n;
        if (i % 5 == 4)
            o.told(asf_sflush(s));
    }
}

Outcome writes(int flags) {
    Outcome o;
    unlink("out");
    if (asf_cios *s = open_stream("out", O_WRONLY | O_CREAT | flags, o)) {
        write_all(s, o);
        close_stream(s, o);
    }
    o.text = read_file("out");
    return o;
}

// Several regions at once, freed in another order.
Outcome writes_places() {
    Outcome o;
    unlink("out");
    asf_cios *s = open_stream("out", O_WRONLY | O_CREAT | O_TRUNC, o);
    for (size_t at = 0; s && at < content.size(); at += 80000) {
        void *p[2];
        for (size_t half : {1, 0}) {
            size_t from = std::min(at + 40000 * half, content.size()), left = content.size() - from;
            ssize_t n = (ssize_t)std::min<size_t>(40000, left);
            p[half] = n ? asf_sallocAt(s, &n, (int64_t)from, SEEK_SET) : nullptr;
            if (p[half])
                memcpy(p[half], content.data() + from, (size_t)n);
            else
                o.told(n);
        }
        for (void *region : p)
            if (region)
                o.told(asf_sfree(s, region));
    }
    if (s)
        close_stream(s, o);
    o.text = read_file("out");
    return o;
}

Outcome copies() {
    Outcome o;
    unlink("out");
    asf_cios *in = open_stream("in", O_RDONLY, o);
    asf_cios *out = in ? open_stream("out", O_WRONLY | O_CREAT | O_TRUNC, o) : nullptr;
    if (out) {
        o.told(asf_copy(in, out, 100));
        o.told(asf_copy(in, out, INT64_MAX));
        close_stream(out, o);
    }
    if (in)
        close_stream(in, o);
    o.text = read_file("out");
    return o;
}

// A thread that writes to, or reads from, the other end of a pipe or socket.
class OtherEnd {
  public:
    explicit OtherEnd(bool socket) {
        EXPECT_EQ(socket ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends_) : pipe(ends_), 0);
    }
    asf_cios *output(Outcome &o) {
        thread_ = std::thread([this] {
            char part[65536];
            for (ssize_t n; (n = ::read(ends_[0], part, sizeof part)) > 0;)
                got_.append(part, static_cast<size_t>(n));
            ::close(ends_[0]);
        });
        return open(ends_[1], O_WRONLY, o);
    }
    asf_cios *input(Outcome &o) {
        thread_ = std::thread([this] {
            for (size_t at = 0; at < content.size();) {
                const ssize_t n = ::write(ends_[1], content.data() + at, content.size() - at);
                if (n <= 0)
                    break; // the reader has closed its end
                at += static_cast<size_t>(n);
            }
            ::close(ends_[1]);
        });
        return open(ends_[0], O_RDONLY, o);
    }
    std::string finish() {
        thread_.join();
        signal(SIGPIPE, before_);
        return got_;
    }

  private:
    static asf_cios *open(int fd, int flags, Outcome &o) {
        int error = 0;
        asf_cios *s = asf_sopen_fd(fd, flags, &error);
        o.told(error);
        if (!s)
            ::close(fd);
        return s;
    }
    int ends_[2];
    void (*const before_)(int) = signal(SIGPIPE, SIG_IGN);
    std::thread thread_;
    std::string got_;
};

void copy_and_close(asf_cios *in, asf_cios *out, Outcome &o) {
    for (int i = 0; in && out && i < TRIES; i++) {
        const int64_t n = asf_copy(in, out, INT64_MAX);
        o.told(n);
        if (n == 0)
            break;
    }
    for (asf_cios *s : {out, in})
        if (s)
            close_stream(s, o);
}

Outcome copies_to(bool socket) {
    Outcome o;
    OtherEnd end(socket);
    asf_cios *out = end.output(o);
    copy_and_close(open_stream("in", O_RDONLY, o), out, o);
    o.text = end.finish();
    return o;
}

Outcome copies_from_a_pipe() {
    Outcome o;
    OtherEnd end(false);
    unlink("out");
    asf_cios *in = end.input(o);
    copy_and_close(in, open_stream("out", O_WRONLY | O_CREAT | O_TRUNC, o), o);
    end.finish();
    o.text = read_file("out");
    return o;
}

Outcome copies_to_nobody() {
    Outcome o;
    asf_cios *in = open_stream("in", O_RDONLY, o), *out = open_stream("/dev/null", O_WRONLY, o);
    const int64_t n = in && out ? asf_copy(in, out, INT64_MAX) : -EIO;
    o.told(n);
    o.text = content.substr(0, n > 0 ? static_cast<size_t>(n) : 0);
    copy_and_close(in, out, o);
    return o;
}

// Reads the first half, and overwrites the second half with the same bytes.
Outcome updates() {
    Outcome o;
    std::filesystem::copy_file("in", "out", std::filesystem::copy_options::overwrite_existing);
    asf_cios *s = open_stream("out", O_RDWR, o);
    size_t half = content.size() / 2;
    if (s) {
        ssize_t n = (ssize_t)half;
        void *p = asf_salloc(s, &n);
        if (p) {
            EXPECT_EQ(content.compare(0, (size_t)n, static_cast<char *>(p), (size_t)n), 0);
            o.told(asf_sfree(s, p));
        } else {
            o.told(n);
        }
        if (p && n == (ssize_t)half && asf_set_stream_mode(s, ASF_WRITE))
            put(s, content.data() + half, content.size() - half, o);
        else
            o.told(-EIO);
        close_stream(s, o);
    }
    o.text = read_file("out");
    return o;
}

Outcome through_a_pipe() {
    Outcome o;
    int ends[2], error = 0;
    EXPECT_EQ(pipe(ends), 0);
    asf_cios *out = asf_sopen_fd(ends[1], O_WRONLY, &error), *in = nullptr;
    o.told(error);
    if (!out)
        close(ends[1]);
    in = asf_sopen_fd(ends[0], O_RDONLY, &error);
    o.told(error);
    if (!in)
        close(ends[0]);
    for (size_t at = 0; in && out && at < content.size(); at += 30000) { // less than the pipe holds
        size_t n = std::min<size_t>(30000, content.size() - at), before = o.text.size();
        bool made = put(out, content.data() + at, n, o);
        if (asf_sflush(out) < 0 || !made) {
            o.told(-EIO);
            break;
        }
        for (int failures = 0; o.text.size() < before + n && failures < TRIES;) {
            ssize_t got = (ssize_t)(before + n - o.text.size());
            auto *p = static_cast<char *>(asf_salloc_some(in, &got));
            if (p) {
                o.text.append(p, (size_t)got);
                o.told(asf_sfree(in, p));
            } else {
                o.told(got ? got : -EIO);
                failures++;
            }
        }
        if (o.text.size() < before + n)
            break;
    }
    if (out)
        close_stream(out, o);
    if (in)
        close_stream(in, o);
    return o;
}

// --- decoded ------------------------------------------------------------------------------

// A decoder for plain bytes: it copies them.
int decode_plainly(void *, asf_decoding *d) {
    const size_t n = std::min(d->in_size, d->out_size);
    if (n > 0)
        memcpy(d->out, d->in, n);
    d->in += n, d->in_size -= n;
    d->out += n, d->out_size -= n;
    return 1;
}

const asf_decoder plainly = {
    sizeof plainly, ASF_DECODER_VERSION, "plain", [] { return malloc(1); }, decode_plainly, free, nullptr};

Outcome decodes(asf_cios *(*begin)(asf_cios *, int *)) {
    Outcome o;
    int error = 0;
    asf_cios *below = open_stream("in", O_RDONLY, o);
    asf_cios *s = below ? begin(below, &error) : nullptr;
    o.told(error);
    if (s)
        read_to_end(s, 5000, o);
    if (s || below)
        close_stream(s ? s : below, o);
    return o;
}

// --- into memory ---------------------------------------------------------------------------

void append(asf_cios *c, size_t from, size_t to, Outcome &o) {
    int error = 0;
    if (asf__append(c, content.data() + from, to - from, &error) < to - from)
        o.told(error ? error : -EIO);
}

// A region is filled while the memory moves, and skipped bytes are written later.
Outcome into_memory() {
    Outcome o;
    char *text = nullptr;
    size_t size = 0;
    asf_cios *c = asf__open_memory(&text, &size);
    if (!c) {
        o.told(-ENOMEM);
        return o;
    }
    ssize_t n = 1000;
    auto *region = static_cast<char *>(asf__u_salloc(c, &n, false));
    if (region) {
        append(c, 1000, 200000, o);
        memcpy(region, content.data(), 1000);
        o.told(asf__flush_output(c));
        o.told(asf__u_sfree(c, region));
        append(c, 200000, content.size() - 10, o);
        o.told(asf__seek(c, 5, SEEK_CUR));
        append(c, content.size() - 5, content.size(), o);
        o.told(asf__seek(c, -10, SEEK_CUR));
        append(c, content.size() - 10, content.size(), o);
    } else {
        o.told(n);
    }
    int result = 0;
    if (!asf__cios_close(c, &result))
        result = -EBUSY;
    o.told(result);
    asf__cios_free(c);
    if (text)
        o.text.assign(text, size);
    free(text);
    return o;
}

// Walks a tree; the walk must be complete if no error was reported.
Outcome walks() {
    Outcome o;
    struct Seen {
        Outcome &o;
        int count;
    } seen = {o, 0};
    const asf_walk_options options = {1, STATX_SIZE, ASF_WALK_FOLLOW | ASF_WALK_AFTER};
    auto visit = [](const asf_visit *v, void *arg) {
        auto *s = static_cast<Seen *>(arg);
        s->o.told(v->entry.error);
        s->count += v->entry.error || v->when == ASF_WALK_DONE ? 1 : 100;
        return 0;
    };
    o.told(asf_walk(AT_FDCWD, "tree", &options, visit, &seen));
    o.text = seen.count == 8 * 100 + 5 ? content : "";
    return o;
}

// --- parts ---------------------------------------------------------------------------------

const asf_cut fifths = {'\n', 0, (int64_t)content.size() / 5, false};

// Reads the parts in order, up to the first error.
Outcome reads_parts() {
    Outcome o;
    asf_part *parts = nullptr;
    const ssize_t count = asf_parts("in", &fifths, &parts);
    o.told(count);
    for (ssize_t i = 0; i < count && !o.error; i++) {
        int error = 0;
        asf_cios *s = asf_sopen_part("in", &parts[i], &error);
        EXPECT_EQ(s != nullptr, error == 0);
        o.told(error);
        if (s) {
            read_to_end(s, 5000, o);
            close_stream(s, o);
        }
    }
    free(parts);
    return o;
}

// A joined thread may stay in /proc for a moment.
void expect_no_thread_is_left() {
    const auto threads = [] {
        const std::filesystem::directory_iterator all("/proc/self/task");
        return std::distance(begin(all), end(all));
    };
    for (int i = 0; i < 1000 && threads() > 1; i++)
        usleep(1000);
    EXPECT_EQ(threads(), 1);
}

int read_part(asf_cios *s, const asf_part *part, void *texts) {
    Outcome o;
    read_to_end(s, 5000, o);
    static_cast<std::vector<std::string> *>(texts)->at((size_t)part->index) = o.text;
    return o.error;
}

int append_part(const asf_part *part, void *texts) {
    auto *all = static_cast<std::vector<std::string> *>(texts);
    all->back() += all->at((size_t)part->index);
    return 0;
}

// The text is that of all parts for which `done` was called.
Outcome each_part() {
    Outcome o;
    std::vector<std::string> texts(20);
    o.told(asf_each_part("in", &fifths, 3, read_part, append_part, &texts));
    end_faults();
    expect_no_thread_is_left();
    o.text = texts.back();
    return o;
}

// Enough copies of the rows for more than two parts.
enum { COPIES = 3 };

void write_rows() {
    std::ofstream rows("rows", std::ios::binary);
    for (int i = 0; i < COPIES; i++)
        rows << content;
}

Outcome reads_columns() {
    Outcome o;
    asf_column number = {1, ASF_INT64, nullptr};
    const int64_t rows = asf_read_columns("rows", ' ', 0, &number, 1, 3);
    o.told(rows);
    end_faults();
    expect_no_thread_is_left();
    EXPECT_EQ(number.values != nullptr, rows > 0);
    const auto *values = static_cast<const int64_t *>(number.values);
    const int64_t lines = std::count(content.begin(), content.end(), '\n');
    int64_t right = 0;
    while (right < rows && values[right] == right % lines * 7919)
        right++;
    EXPECT_TRUE(rows < 0 || right == rows) << "row " << right << " is wrong";
    o.text = right == COPIES * lines ? content : "";
    free(number.values);
    return o;
}

const Scenario scenarios[] = {
    {"reads", [] { return reads(5000); }, true},
    {"reads_large", [] { return reads(1 << 20); }, true},
    {"reads_by_read", [] { return reads_by("read"); }, true},
    {"reads_by_map", [] { return reads_by("map"); }, true},
    {"reads_lines", reads_lines, true},
    {"reads_places", reads_places, true},
    {"reads_parts", reads_parts, true, nullptr, nullptr, {EINTR}}, // the search for a part's end reads again
                                                                   // after EINTR
    {"each_part", each_part, true, nullptr, nullptr, {EINTR}},
    {"reads_columns", reads_columns, true, nullptr, write_rows, {EINTR}},
    {"walks", walks, true},
    {"writes", [] { return writes(O_TRUNC); }, false},
    {"appends", [] { return writes(O_APPEND); }, false},
    {"writes_places", writes_places, false},
    {"copies", copies, false},
    {"copies_to_a_pipe", [] { return copies_to(false); }, false},
    {"copies_to_a_socket", [] { return copies_to(true); }, false},
    {"copies_from_a_pipe", copies_from_a_pipe, false},
    {"copies_to_nobody", copies_to_nobody, true},
    {"updates", updates, false},
    {"through_a_pipe", through_a_pipe, true},
    {"decodes",
     [] { return decodes([](asf_cios *s, int *error) { return asf_decode_with(s, &plainly, error); }); },
     true},
    {"looks_for_a_format", [] { return decodes(asf_decode); }, true},
    {"into_memory", into_memory, false},
};

INSTANTIATE_TEST_SUITE_P(Asi, FaultLoops, testing::ValuesIn(scenarios), name_of);

} // namespace
} // namespace faults
