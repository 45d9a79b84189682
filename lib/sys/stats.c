/* SPDX-License-Identifier: MIT
 *
 * stats.c - the statistics, one line a stream: an aligned table on stderr, or
 * tab-separated lines appended to a file, each by one write.
 */
#define _GNU_SOURCE
#include "lib/sys/stats.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include <asf/asf.h>

#include "lib/sys/options.h"
#include "lib/sys/syscalls.h"
#include "lib/text/format.h"

bool asf__counting;

__attribute__((constructor)) void asf__stats_start(void) {
    static bool started;
    if (started)
        return;
    started = true;
    asf__counting = asf__options()->stats[0] != '\0';
    if (asf__options()->verbose)
        asf__stats_verbose("libasf", asf_version(), "ASF_OPTIONS asks for verbose");
}

static bool is_descriptor(const char *path) {
    return !strcmp(path, "/dev/stderr") || !strcmp(path, "/dev/stdout") || !strncmp(path, "/dev/fd/", 8) ||
           !strncmp(path, "/proc/self/fd/", 14);
}

int asf__stats_open(const char *path) {
    int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    return asf__sys.open(path, is_descriptor(path) ? flags : flags | O_NOFOLLOW, 0600);
}

static void emit(const char *line, int length, size_t size) {
    size_t n = (size_t)length < size ? (size_t)length : size - 1;
    const char *to = asf__options()->stats;
    if (!strcmp(to, "stderr")) {
        asf__sys.write(2, line, n);
        return;
    }
    int fd = asf__stats_open(to);
    if (fd >= 0) {
        asf__sys.write(fd, line, n);
        asf__sys.close(fd);
    }
}

/* Prints the table's head, once.  A program may set a name longer than any file name, so NAME_MAX limits the
 * name: the line then fits. */
static int headline(char *to, size_t size) {
    static bool headed;
    if (__atomic_exchange_n(&headed, true, __ATOMIC_RELAXED))
        return 0;
    return asf__format_text(to, size, "asf: %.*s[%d]\nasf:   %-24s %-8s %12s %12s %10s %10s %8s %8s  %s\n",
                            NAME_MAX, program_invocation_short_name, (int)getpid(), "stream", "module",
                            "bytes in", "bytes out", "calls", "no kernel", "syscalls", "by libc", "why");
}

/* Returns the text that follows the reason for the module. */
static const char *tell_bulk(char to[48], const struct asf_stats *s) {
    *to = '\0';
    if (s->bulk)
        asf__format_text(to, 48, ", bulk from byte %" PRIu64 " on", s->bulk);
    return to;
}

/* Returns the least possible number of calls that needed no system call: each system call may be another
 * call's. */
static uint64_t served(const struct asf_stats *s) {
    return s->calls > s->syscalls ? s->calls - s->syscalls : 0;
}

/* Returns the number of system calls that libc would have made; "-" if libc has no such stream. */
static const char *by_libc(char to[24], const struct asf_stats *s) {
    const int64_t n = (int64_t)s->syscalls + s->spared;
    if (!s->as_libc)
        return "-";
    asf__format_text(to, 24, "%" PRId64, n > 0 ? n : 0);
    return to;
}

static int as_table(char *to, size_t size, const struct asf_stats_line *l) {
    const struct asf_stats *s = l->stats;
    char bulk[48], libc[24];
    int n = headline(to, size);
    return n + asf__format_text(to + n, size - (size_t)n,
                                "asf:   %-24s %-8s %12" PRIu64 " %12" PRIu64 " %10" PRIu64 " %10" PRIu64
                                " %8" PRIu64 " %8s  %s%s\n",
                                l->stream, l->module, s->in, s->out, s->calls, served(s), s->syscalls,
                                by_libc(libc, s), l->why, tell_bulk(bulk, s));
}

static int as_fields(char *to, size_t size, const struct asf_stats_line *l) {
    const struct asf_stats *s = l->stats;
    char bulk[48], libc[24];
    return asf__format_text(
        to, size,
        "asf:\t%.*s\t%d\t%s\t%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%s%s\t%s\n",
        NAME_MAX, program_invocation_short_name, (int)getpid(), l->stream, l->module, s->in, s->out, s->calls,
        served(s), s->syscalls, l->why, tell_bulk(bulk, s), by_libc(libc, s));
}

void asf__stats_line(const struct asf_stats_line *line) {
    char text[4608];
    bool table = !strcmp(asf__options()->stats, "stderr");
    int n = table ? as_table(text, sizeof text, line) : as_fields(text, sizeof text, line);
    emit(text, n, sizeof text);
}

void asf__stats_verbose(const char *stream, const char *module, const char *why) {
    char text[4608];
    int n = asf__format_text(text, sizeof text, "asf: %.*s: %s: %s (%s)\n", NAME_MAX,
                             program_invocation_short_name, stream, module, why);
    asf__sys.write(2, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}
