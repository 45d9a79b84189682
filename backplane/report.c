/* SPDX-License-Identifier: MIT
 *
 * report.c - a stream's line in the statistics.
 */
#define _GNU_SOURCE
#include "backplane/engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/sys/options.h"
#include "lib/text/format_digits.h"

void asf__set_name(struct asf_cios *c, const char *name) {
    if (asf__counting || asf__options()->verbose) {
        free(c->name);
        c->name = strdup(name);
    }
}

/* Returns the module's name for users: "null" for the null device. */
static const char *module_name(const struct asf_cios *c) {
    return c->kind == ASF_NULL_DEVICE ? "null" : c->ops->name;
}

void asf__tell_user(const struct asf_cios *c, const char *what) {
    if (asf__options()->verbose)
        asf__stats_verbose(c->name ? c->name : "stream", module_name(c), what);
}

/* Finds the path of a descriptor.  Returns false if the kernel's name for it is not a path
 * ("pipe:[...]"). */
static bool find_path(int fd, char *path, size_t size) {
    char link[32] = "/proc/self/fd/";
    char *end = link + strlen(link) + asf__count_digits((uint64_t)fd);
    asf__write_digits(end, (uint64_t)fd);
    *end = '\0';
    int saved = errno;
    ssize_t n = readlink(link, path, size - 1);
    errno = saved;
    path[n > 0 ? n : 0] = '\0';
    return path[0] == '/';
}

void asf__forget_counts(struct asf_cios *c) {
    struct asf_stats *s = &c->stats;
    s->in_before = s->in;
    s->out_before = s->out;
    s->calls = s->syscalls = 0;
    s->spared = 0;
}

/* Reads the stream without its lock at exit, while another thread may write. */
ASF_RACY void asf__report(struct asf_cios *c) {
    if (!asf__counting)
        return;
    char fd[256] = "memory";
    uint64_t reported = c->stats.in + c->stats.out + 1;
    struct asf_stats s = c->stats;
    s.in -= s.in_before;
    s.out -= s.out_before;
    const bool used = s.in || s.out || s.syscalls || (c->ops->memory_is_the_stream && s.calls);
    if (!used || c->stats.reported == reported)
        return;
    c->stats.reported = reported;
    if (c->fd >= 0 && !c->name && !find_path(c->fd, fd, sizeof fd)) {
        char *end = fd + 3 + asf__count_digits((uint64_t)c->fd);
        memcpy(fd, "fd ", 3);
        asf__write_digits(end, (uint64_t)c->fd);
        *end = '\0';
    }
    asf__stats_line(&(struct asf_stats_line){
        .stream = c->name ? c->name : fd, .module = module_name(c), .why = c->why, .stats = &s});
}
