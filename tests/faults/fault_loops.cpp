// SPDX-License-Identifier: MIT
//
// fault_loops.cpp - see fault_loops.h.
#include "tests/faults/fault_loops.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace faults {
namespace {

// --- the fault --------------------------------------------------------------------------

// Shared by all processes of a scenario.
std::atomic<bool> *const struck = static_cast<std::atomic<bool> *>(
    ::mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));

std::atomic<int> calls_seen; // atomic, since a stream's own thread also makes calls

struct Fault {
    const char *call = "";
    int n = 0; // the n-th call fails, counted from 1
    bool for_ever = false;
    int error = 0; // 0: no error: the transfer moves one byte

    bool strikes(const char *name) const {
        if (strcmp(name, call) != 0)
            return false;
        const int seen = ++calls_seen;
        const bool now = seen == n || (for_ever && seen > n);
        if (now)
            *struck = true;
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

// Transfers may also be short.
template <auto Member, const char *Name> struct Moving;
template <class P, class... A, ssize_t (*asf_syscalls::*Member)(int, P, size_t, A...), const char *Name>
struct Moving<Member, Name> {
    static ssize_t call(int fd, P p, size_t n, A... a) {
        if (!fault.strikes(Name))
            return (real_calls.*Member)(fd, p, n, a...);
        return fault.error ? -fault.error : (real_calls.*Member)(fd, p, n ? 1 : 0, a...);
    }
};

// As in the kernel, a failing close closes the descriptor.
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

// The system calls that the library makes by number.
const struct {
    long number;
    const char *name;
} numbered[] = {{SYS_futex, "futex"},
                {SYS_getrandom, "getrandom"},
                {SYS_memfd_create, "memfd_create"},
                {SYS_ftruncate, "ftruncate"},
                {SYS_fallocate, "fallocate"},
                {SYS_pwrite64, "pwrite64"},
                {SYS_fcntl, "fcntl"},
                {SYS_fchmod, "fchmod"},
                {SYS_unlinkat, "unlinkat"},
                {SYS_readlinkat, "readlinkat"},
                {SYS_shmget, "shmget"},
                {SYS_shmctl, "shmctl"},
                {SYS_shmdt, "shmdt"},
                {SYS_get_robust_list, "get_robust_list"},
                {SYS_sched_getaffinity, "sched_getaffinity"},
                {SYS_nanosleep, "nanosleep"},
                {SYS_tgkill, "tgkill"}};

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
    {"map", {ENOMEM, ENODEV, EACCES, EAGAIN}},
    {"splice", {EINVAL, ENOMEM, EAGAIN}},
    {"send", {EINVAL, EIO}},
    {"copy_range", {EXDEV, EIO, ENOSPC}},
    {"clone_range", {EOPNOTSUPP, EIO}},
    {"truncate", {ENOSPC, EIO}},
    {"cached_pages", {ENOSYS}},
    {"advise", {ENOSYS}},
    {"pipe", {EMFILE}},
    {"futex", {EINTR, EAGAIN, ENOSYS}},
    {"getrandom", {ENOSYS, EINTR}},
    {"memfd_create", {EMFILE, ENOMEM, ENOSYS}},
    {"ftruncate", {ENOSPC, EINTR}},
    {"fallocate", {ENOSPC, EOPNOTSUPP}},
    {"pwrite64", {ENOSPC}},
    {"fcntl", {EINVAL, EPERM, EMFILE}},
    {"fchmod", {EPERM}},
    {"unlinkat", {EPERM, EACCES, EIO}},
    {"readlinkat", {EACCES, ENOENT}},
    {"shmget", {ENOSPC, ENOMEM, EINVAL, EEXIST}},
    {"shmctl", {ENOMEM}},
    {"shmdt", {EINVAL}},
    {"get_robust_list", {ENOSYS}},
    {"sched_getaffinity", {ENOSYS}},
    {"nanosleep", {EINTR, ENOSYS}},
    {"tgkill", {EPERM}},
    {"malloc", {ENOMEM}},
    {"mmap", {ENOMEM, EACCES, ENODEV}},
    {"mprotect", {ENOMEM}},
    {"madvise", {EINVAL}},
    {"mremap", {ENOMEM}},
    {"shmat", {ENOMEM, EMFILE, EACCES}},
    {"watch", {ENOMEM}},
    {"linkat", {ENOENT, EEXIST, ENOSPC}},
    {"statx", {ENOSYS, ENOMEM}},
    {"opendir", {EMFILE, ENOMEM}},
    {"mkdir", {EACCES, ENOSPC}},
    {"access", {EIO}},
    {"rename", {ENOSPC, EIO}},
    {"thread", {EAGAIN}},
};

} // namespace
} // namespace faults

// --- calls by name: the linker leads the library's here ---------------------------------------

extern "C" {
#pragma GCC visibility push(hidden)
long __real_asf__raw_syscall(long number, long a, long b, long c, long d);
long __wrap_asf__raw_syscall(long number, long a, long b, long c, long d);
#pragma GCC visibility pop

long __wrap_asf__raw_syscall(long number, long a, long b, long c, long d) {
    for (const auto &call : faults::numbered)
        if (call.number == number && faults::fault.strikes(call.name))
            return -faults::fault.error;
    return __real_asf__raw_syscall(number, a, b, c, d);
}

#define WRAPPED(kind, result, failure, call, parameters, arguments)                                          \
    result __real_##call parameters;                                                                         \
    result __wrap_##call parameters;                                                                         \
    result __wrap_##call parameters {                                                                        \
        if (!faults::fault.strikes(kind))                                                                    \
            return __real_##call arguments;                                                                  \
        errno = faults::fault.error;                                                                         \
        return failure;                                                                                      \
    }
#define MAPPED(call)                                                                                         \
    WRAPPED("mmap", void *, MAP_FAILED, call,                                                                \
            (void *at, size_t n, int access, int how, int fd, off64_t from), (at, n, access, how, fd, from))
WRAPPED("malloc", void *, nullptr, malloc, (size_t n), (n))
WRAPPED("malloc", void *, nullptr, calloc, (size_t n, size_t size), (n, size))
WRAPPED("malloc", void *, nullptr, realloc, (void *p, size_t n), (p, n))
WRAPPED("malloc", void *, nullptr, reallocarray, (void *p, size_t n, size_t size), (p, n, size))
WRAPPED("malloc", void *, nullptr, aligned_alloc, (size_t alignment, size_t n), (alignment, n))
WRAPPED("malloc", char *, nullptr, strdup, (const char *text), (text))
MAPPED(mmap)
WRAPPED("mprotect", int, -1, mprotect, (void *at, size_t n, int access), (at, n, access))
WRAPPED("madvise", int, -1, madvise, (void *at, size_t n, int advice), (at, n, advice))
WRAPPED("mremap", void *, MAP_FAILED, mremap, (void *at, size_t n, size_t size, int how, void *to),
        (at, n, size, how, to))
WRAPPED("shmat", void *, MAP_FAILED, shmat, (int id, const void *at, int how), (id, at, how))
WRAPPED("watch", int, -1, asf__watch, (char *at, size_t n, bool *truncated, char **end, int most),
        (at, n, truncated, end, most))
WRAPPED("linkat", int, -1, linkat, (int from_at, const char *from, int to_at, const char *to, int how),
        (from_at, from, to_at, to, how))
int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *arg) {
    return faults::fault.strikes("thread") ? faults::fault.error
                                           : __real_pthread_create(thread, how, run, arg);
}
#ifdef __GLIBC__ // other libcs do not define these separately
MAPPED(mmap64)
WRAPPED("statx", int, -1, statx, (int at, const char *path, int how, unsigned mask, struct statx *st),
        (at, path, how, mask, st))
#endif
WRAPPED("opendir", DIR *, nullptr, opendir, (const char *path), (path))
WRAPPED("mkdir", int, -1, mkdir, (const char *path, mode_t mode), (path, mode))
WRAPPED("access", int, -1, access, (const char *path, int how), (path, how))
WRAPPED("rename", int, -1, rename, (const char *from, const char *to), (from, to))
}

namespace faults {

// --- shared by the scenarios -----------------------------------------------------------------

static std::string made_text(size_t lines) {
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

// --- the loop --------------------------------------------------------------------------------

void end_faults() {
    fault.call = "";
}

static int open_descriptors() {
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

FaultLoops::FaultLoops() {
    char name[] = "/tmp/asf-faults.XXXXXX";
    folder = mkdtemp(name);
    std::filesystem::current_path(folder);
    std::ofstream("in", std::ios::binary) << content;
    for (const char *below : {"tree/a", "tree/b/c"})
        std::filesystem::create_directories(below);
    std::filesystem::create_symlink("a", "tree/link");
    std::ofstream("tree/b/c/file"), std::ofstream("tree/a/file");
}

FaultLoops::~FaultLoops() {
    std::filesystem::current_path("/");
    std::filesystem::remove_all(folder);
}

// Returns whether the fault occurred.
static bool try_fault(const Scenario &s, const Fault &f) {
    SCOPED_TRACE(std::string(s.name) + ": " + f.call + " " + std::to_string(f.n) +
                 (f.for_ever ? " for ever: " : ": ") + (f.error ? strerror(f.error) : "short"));
    Restore restore;
    int before = open_descriptors();
    replace_calls();
    fault = f;
    calls_seen = 0;
    *struck = false;
    Outcome o = s.run();
    fault = {};
    if (s.after)
        s.after();
    EXPECT_EQ(open_descriptors(), before);
    EXPECT_TRUE(o.error || o.text == content) << "nothing was told of, but the bytes are not all there";
    EXPECT_TRUE(!s.input || content.compare(0, o.text.size(), o.text) == 0) << "bytes are wrong or left out";
    EXPECT_TRUE(*struck || o.error == 0) << strerror(-o.error);
    return *struck;
}

TEST_P(FaultLoops, NothingIsLostInSilence) {
    const Scenario &s = GetParam();
    int faults = 0;
    if (s.before)
        s.before();
    for (const Kind &kind : kinds)
        for (int error : kind.errors)
            for (bool for_ever : {false, true})
                for (int n = 1;
                     !s.usual.count(error) && !HasFailure() && try_fault(s, {kind.call, n, for_ever, error});
                     n++)
                    faults++;
    printf("%s: %d faults\n", s.name, faults);
}

} // namespace faults
