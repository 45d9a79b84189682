/* SPDX-License-Identifier: MIT
 *
 * counted.c - with statistics on, counts the calls that the program makes on descriptors.  The counts of a
 * descriptor are reported when it is closed; all counts, when the process ends or executes another program.
 */
#define _GNU_SOURCE
#include "interfaces/unix/unix.h"

#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* The counts of a descriptor; atomic, since threads may share it. */
struct call_counts {
    struct asf_stats stats;
    const char *why; /* the kind of file; NULL: not examined yet */
    char name[104];  /* its path, "stdin", or "fd 7" */
    bool windowed;
};

static struct call_counts *counts; /* ASF_FDS entries */

static const char *kind_of(const struct stat64 *st) {
    return S_ISREG(st->st_mode)           ? "regular file"
           : S_ISFIFO(st->st_mode)        ? "pipe"
           : S_ISSOCK(st->st_mode)        ? "socket"
           : S_ISDIR(st->st_mode)         ? "directory"
           : st->st_rdev == makedev(1, 3) ? "the null device"
                                          : "character device";
}

/* Names the descriptor by its path, unless the path is too long, contains a tab or a newline, or is that of
 * a standard descriptor which is not on a regular file. */
static void set_name(struct call_counts *d, int fd) {
    static const char *const standard[] = {"stdin", "stdout", "stderr"};
    const bool is_standard = fd <= STDERR_FILENO && strcmp(d->why, "regular file") != 0;
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = is_standard ? 0 : readlink(link, d->name, sizeof d->name);
    if (n > 0 && n < (ssize_t)sizeof d->name && d->name[0] == '/' && !memchr(d->name, '\n', (size_t)n) &&
        !memchr(d->name, '\t', (size_t)n))
        d->name[n] = '\0';
    else if (fd <= STDERR_FILENO)
        strcpy(d->name, standard[fd]);
    else
        snprintf(d->name, sizeof d->name, "fd %d", fd);
}

static struct call_counts *find_counts(int fd) {
    struct stat64 st;
    if ((unsigned)fd >= ASF_FDS || asf__is_vfork_child())
        return NULL;
    if (!counts) {
        struct call_counts *made = asf__zero_pages(ASF_FDS * sizeof *made), *none = NULL;
        if (made &&
            __atomic_compare_exchange_n(&counts, &none, made, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            asf__register_fork_handlers();
    }
    struct call_counts *d = counts ? &counts[fd] : NULL;
    if (d && !d->why && asf__fstat(fd, &st) == 0) {
        d->why = kind_of(&st);
        set_name(d, fd);
        asf__raise_highest(fd);
    }
    return d && d->why ? d : NULL;
}

static void add_count(uint64_t *to, uint64_t n) {
    __atomic_fetch_add(to, n, __ATOMIC_RELAXED);
}

void asf__count_call_slow(int fd, long r, bool is_output, bool has_ring) {
    int saved = errno;
    struct call_counts *d = find_counts(fd);
    if (d) {
        add_count(&d->stats.calls, 1);
        add_count(&d->stats.syscalls, !has_ring);
        __atomic_fetch_add(&d->stats.spared, has_ring, __ATOMIC_RELAXED);
        add_count(is_output ? &d->stats.out : &d->stats.in, r > 0 ? (uint64_t)r : 0);
    }
    errno = saved;
}

void asf__count_pread(int fd, size_t n) {
    add_count(&asf__fds[fd].calls, 1);
    add_count(&asf__fds[fd].bytes, n);
}

void asf__count_window(struct asf_fd *of) {
    const uint64_t syscalls = of->stream.stats.syscalls;
    struct call_counts *d = asf__counting && syscalls > 0 ? find_counts((int)(of - asf__fds)) : NULL;
    if (!d)
        return;
    d->windowed = true;
    add_count(&d->stats.calls, of->calls);
    add_count(&d->stats.in, of->bytes);
    add_count(&d->stats.syscalls, syscalls);
    __atomic_fetch_add(&d->stats.spared, (int64_t)of->calls - (int64_t)syscalls, __ATOMIC_RELAXED);
    of->calls = of->bytes = of->stream.stats.syscalls = 0;
}

void asf__report_calls(int fd) {
    struct call_counts *d = counts && (unsigned)fd < ASF_FDS && !asf__is_vfork_child() ? &counts[fd] : NULL;
    if (!d || !d->why)
        return;
    asf__count_window(&asf__fds[fd]);
    d->stats.as_libc = true;
    if (d->stats.calls > 0)
        asf__stats_line(&(struct asf_stats_line){.stream = d->name,
                                                 .module = d->windowed ? "window" : "kernel",
                                                 .why = d->why,
                                                 .stats = &d->stats});
    *d = (struct call_counts){.why = NULL};
}

void asf__report_all_calls(void) {
    for (int fd = 0; counts && fd <= asf__highest; fd++)
        asf__report_calls(fd);
}

void asf__forget_calls(void) {
    for (int fd = 0; counts && fd <= asf__highest; fd++)
        counts[fd] = (struct call_counts){.why = NULL};
}
