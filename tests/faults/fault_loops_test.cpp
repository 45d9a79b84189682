// SPDX-License-Identifier: MIT
//
// fault_loops_test.cpp - each scenario of the ASI with the n-th call of one kind failing, once or
// from then on, for every n until none fails: system calls by the table of lib/sys/syscalls.h,
// memory by the linker's --wrap.  Whatever fails, nothing crashes, no descriptor stays
// open, and bytes that are wrong or missing were told of.
// Layer: tests.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/streams/private_headers.h"

#include <asf/asf.h>
#include <asf/dir.h>
#include <asf/lines.h>

namespace {

// --- the fault --------------------------------------------------------------------------

struct Fault {
    const char *call = "";
    int n = 0; // the n-th fails, from 1 on
    bool for_ever = false;
    int error = 0; // 0: a transfer is one byte long
    int seen = 0;
    bool struck = false;

    bool strikes(const char *name) {
        if (strcmp(name, call) != 0)
            return false;
        seen++;
        bool now = seen == n || (for_ever && seen > n);
        struck = struck || now;
        return now;
    }
};
Fault fault;
asf_syscalls real_calls = asf__sys;

template <auto Member, const char *Name> struct Failing;
template <class R, class... A, R (*asf_syscalls::*Member)(A...), const char *Name>
struct Failing<Member, Name> {
    static R call(A... a) { return fault.strikes(Name) ? (R)-fault.error : (real_calls.*Member)(a...); }
};

// Transfers may be short as well.
template <auto Member, const char *Name> struct Moving;
template <class P, class... A, ssize_t (*asf_syscalls::*Member)(int, P, size_t, A...), const char *Name>
struct Moving<Member, Name> {
    static ssize_t call(int fd, P p, size_t n, A... a) {
        if (!fault.strikes(Name))
            return (real_calls.*Member)(fd, p, n, a...);
        return fault.error ? -fault.error : (real_calls.*Member)(fd, p, n ? 1 : 0, a...);
    }
};

// As the kernel does: the descriptor is gone all the same.
int failing_close(int fd) {
    int rc = real_calls.close(fd);
    return fault.strikes("close") ? -fault.error : rc;
}

void *failing_map(size_t length, int fd, off64_t offset, int *error) {
    if (!fault.strikes("map"))
        return real_calls.map(length, fd, offset, error);
    *error = -fault.error;
    return nullptr;
}

#define NAME(which) constexpr char which##_name[] = #which;
NAME(read)
NAME(write)
NAME(pread)
NAME(pwrite)
NAME(lseek)
NAME(open)
NAME(fstat)
NAME(fstatfs)
NAME(open_at)
NAME(getdents)
NAME(statx)
NAME(splice)
NAME(send)
NAME(copy_range)
NAME(clone_range)
NAME(truncate)
NAME(cached_pages)
NAME(advise)
NAME(pipe)
#undef NAME

void replace_calls() {
#define MOVING(which)  asf__sys.which = Moving<&asf_syscalls::which, which##_name>::call
#define FAILING(which) asf__sys.which = Failing<&asf_syscalls::which, which##_name>::call
    MOVING(read);
    MOVING(write);
    MOVING(pread);
    MOVING(pwrite);
    FAILING(lseek);
    FAILING(open);
    FAILING(fstat);
    FAILING(fstatfs);
    FAILING(open_at);
    FAILING(getdents);
    FAILING(statx);
    FAILING(splice);
    FAILING(send);
    FAILING(copy_range);
    FAILING(clone_range);
    FAILING(truncate);
    FAILING(cached_pages);
    FAILING(advise);
    FAILING(pipe);
#undef MOVING
#undef FAILING
    asf__sys.close = failing_close;
    asf__sys.map = failing_map;
}

struct Kind {
    const char *call;
    std::vector<int> errors;
};
const Kind kinds[] = {
    {"read", {EIO, EINTR, EAGAIN, 0}},
    {"write", {ENOSPC, EIO, EINTR, EAGAIN, EPIPE, EFBIG, EDQUOT, 0}},
    {"pread", {EIO, EINTR, 0}},
    {"pwrite", {ENOSPC, EIO, EINTR, 0}},
    {"lseek", {ESPIPE, EINVAL}},
    {"open", {EMFILE, ENOENT, EACCES}},
    {"close", {EIO, EINTR}},
    {"fstat", {EBADF, EOVERFLOW}},
    {"fstatfs", {ENOSYS}},
    {"open_at", {EMFILE, ENOENT, EACCES}},
    {"getdents", {EIO}},
    {"statx", {EACCES, EIO}},
    {"map", {ENOMEM, ENODEV, EACCES, EAGAIN}},
    {"splice", {EINVAL, ENOMEM, EAGAIN}},
    {"send", {EINVAL, EIO}},
    {"copy_range", {EXDEV, EIO, ENOSPC}},
    {"clone_range", {EOPNOTSUPP, EIO}},
    {"truncate", {ENOSPC, EIO}},
    {"cached_pages", {ENOSYS}},
    {"advise", {ENOSYS}},
    {"pipe", {EMFILE}},
    {"malloc", {ENOMEM}},
};

} // namespace

// --- memory -----------------------------------------------------------------------------

extern "C" {
void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__real_reallocarray(void *p, size_t n, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_reallocarray(void *p, size_t n, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t n);

static void *none() {
    errno = ENOMEM;
    return nullptr;
}
void *__wrap_malloc(size_t n) {
    return fault.strikes("malloc") ? none() : __real_malloc(n);
}
void *__wrap_calloc(size_t n, size_t size) {
    return fault.strikes("malloc") ? none() : __real_calloc(n, size);
}
void *__wrap_realloc(void *p, size_t n) {
    return fault.strikes("malloc") ? none() : __real_realloc(p, n);
}
void *__wrap_reallocarray(void *p, size_t n, size_t size) {
    return fault.strikes("malloc") ? none() : __real_reallocarray(p, n, size);
}
void *__wrap_aligned_alloc(size_t alignment, size_t n) {
    return fault.strikes("malloc") ? none() : __real_aligned_alloc(alignment, n);
}
}

namespace {

// --- scenarios ---------------------------------------------------------------------------

// What a scenario has read, and the first error that it was told.
struct Outcome {
    std::string text;
    int error = 0;
    void told(int64_t rc) {
        if (rc < 0 && !error)
            error = (int)rc;
    }
};

std::string made_text(size_t lines) {
    std::string text;
    for (size_t i = 0; i < lines; i++)
        text += "line " + std::to_string(i * 7919) + "\n";
    return text;
}
const std::string content = made_text(30000);

std::string read_file(const char *name) {
    std::ifstream in(name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

// What one step has failed to do, the next may do: as a program that tries again.
enum { TRIES = 3 };

void read_to_end(asf_cios *s, ssize_t chunk, Outcome &o) {
    for (int failures = 0; failures < TRIES;) {
        ssize_t n = chunk;
        auto *p = static_cast<const char *>(asf_salloc(s, &n));
        if (!p && n == 0)
            return;
        if (!p) {
            o.told(n);
            failures++;
            continue;
        }
        o.text.append(p, (size_t)n);
        o.told(asf_sfree(s, const_cast<char *>(p)));
    }
}

asf_cios *open_stream(const char *name, int flags, Outcome &o) {
    int error = 0;
    asf_cios *s = asf_sopen(name, flags, 0644, &error);
    EXPECT_EQ(s != nullptr, error == 0);
    o.told(error);
    return s;
}

void close_stream(asf_cios *s, Outcome &o) {
    int rc = asf_sclose(s);
    ASSERT_NE(rc, -EBUSY);
    o.told(rc);
}

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

// In places that go forth and back.
Outcome reads_places() {
    Outcome o;
    asf_cios *s = open_stream("in", O_RDONLY, o);
    if (!s)
        return o;
    for (size_t at = 0; at < content.size(); at += 5000) {
        size_t from = at % 10000 ? at - 5000 : at + 5000; // the two halves of 10,000 changed
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
    o.text = content; // compared above
    return o;
}

bool put(asf_cios *s, const char *from, size_t n, Outcome &o) {
    ssize_t room = (ssize_t)n;
    void *p = asf_salloc(s, &room);
    if (!p) {
        o.told(room);
        return false;
    }
    EXPECT_EQ(room, (ssize_t)n);
    memcpy(p, from, n);
    o.told(asf_sfree(s, p));
    return true;
}

// Chunks of different sizes, a flush here and there; told of nothing, all must be in the file.
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

// Several regions at once, given back in another order.
Outcome writes_places() {
    Outcome o;
    unlink("out");
    asf_cios *s = open_stream("out", O_WRONLY | O_CREAT | O_TRUNC, o);
    for (size_t at = 0; s && at < content.size(); at += 20000) {
        void *p[2];
        for (size_t half : {1, 0}) {
            size_t from = std::min(at + 10000 * half, content.size()), left = content.size() - from;
            ssize_t n = (ssize_t)std::min<size_t>(10000, left);
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

// The first half is read, the second written over with what it is.
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

// A tree that is all there when nothing was told of.
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

struct Scenario {
    const char *name;
    std::function<Outcome()> run;
    bool input; // what was read is a part of the file, from its beginning, whatever failed
};

const Scenario scenarios[] = {
    {"reads", [] { return reads(5000); }, true},
    {"reads_large", [] { return reads(1 << 20); }, true},
    {"reads_by_read", [] { return reads_by("read"); }, true},
    {"reads_by_map", [] { return reads_by("map"); }, true},
    {"reads_lines", reads_lines, true},
    {"reads_places", reads_places, true},
    {"walks", walks, true},
    {"writes", [] { return writes(O_TRUNC); }, false},
    {"appends", [] { return writes(O_APPEND); }, false},
    {"writes_places", writes_places, false},
    {"copies", copies, false},
    {"updates", updates, false},
    {"through_a_pipe", through_a_pipe, true},
};

// --- the loop --------------------------------------------------------------------------------

int open_descriptors() {
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

class FaultLoops : public testing::TestWithParam<size_t> {
  protected:
    FaultLoops() {
        char name[] = "/tmp/asf-faults.XXXXXX";
        folder = mkdtemp(name);
        std::filesystem::current_path(folder);
        std::ofstream("in", std::ios::binary) << content;
        for (const char *below : {"tree/a", "tree/b/c"})
            std::filesystem::create_directories(below);
        std::filesystem::create_symlink("a", "tree/link");
        std::ofstream("tree/b/c/file"), std::ofstream("tree/a/file");
    }
    ~FaultLoops() override {
        std::filesystem::current_path("/");
        std::filesystem::remove_all(folder);
    }
    std::string folder;
};

// Whether the fault came up.
bool try_fault(const Scenario &s, const Fault &f) {
    SCOPED_TRACE(std::string(s.name) + ": " + f.call + " " + std::to_string(f.n) +
                 (f.for_ever ? " for ever: " : ": ") + (f.error ? strerror(f.error) : "short"));
    Restore restore;
    int before = open_descriptors();
    replace_calls();
    fault = f;
    Outcome o = s.run();
    bool struck = fault.struck;
    fault = {};
    EXPECT_EQ(open_descriptors(), before);
    EXPECT_TRUE(o.error || o.text == content) << "nothing was told of, but the bytes are not all there";
    EXPECT_TRUE(!s.input || content.compare(0, o.text.size(), o.text) == 0) << "bytes are wrong or left out";
    EXPECT_TRUE(struck || o.error == 0);
    return struck;
}

TEST_P(FaultLoops, NothingIsLostInSilence) {
    const Scenario &s = scenarios[GetParam()];
    int faults = 0;
    for (const Kind &kind : kinds)
        for (int error : kind.errors)
            for (bool for_ever : {false, true})
                for (int n = 1; try_fault(s, {kind.call, n, for_ever, error}) && !HasFailure(); n++)
                    faults++;
    printf("%s: %d faults\n", s.name, faults);
}

INSTANTIATE_TEST_SUITE_P(Asi, FaultLoops, testing::Range<size_t>(0, std::size(scenarios)),
                         [](const auto &scenario) { return std::string(scenarios[scenario.param].name); });

} // namespace
