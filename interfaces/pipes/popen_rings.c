/* SPDX-License-Identifier: MIT
 *
 * popen_rings.c - the stream module of pipes that have a ring, and popen's rings, which the child finds by
 * its ASF_OPTIONS.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <paths.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interfaces/pipes/pipe_rings.h"
#include "interfaces/stdio/popen.h"
#include "lib/sys/cleanup.h"
#include "lib/sys/syscalls.h"
#include "lib/text/shell_text.h"
#include "streams/streams.h"

/* --- the module -------------------------------------------------------------------- */

static ssize_t ring_get(struct asf_cios *c, void *buf, size_t n) {
    ssize_t r = ASF_CLEANUP(asf__cancelled, c, asf__pipe_read(c->fd, buf, n));
    c->stats.syscalls += !asf__pipe_has_ring(c->fd);
    c->stats.in += r > 0 ? (uint64_t)r : 0;
    return r;
}

static ssize_t ring_put(struct asf_cios *c, const void *buf, size_t n) {
    ssize_t r = ASF_CLEANUP(asf__cancelled, c, asf__pipe_write(c->fd, buf, n));
    c->stats.syscalls += !asf__pipe_has_ring(c->fd);
    c->stats.out += r > 0 ? (uint64_t)r : 0;
    return r;
}

static off64_t ring_seek(struct asf_cios *c, off64_t offset, int whence) {
    return asf__lseek(c->fd, offset, whence);
}

static int ring_close(struct asf_cios *c) {
    return asf__close(c->fd);
}

static const struct asf_module ring_module = {
    .name = "pipe",
    .get = ring_get,
    .put = ring_put,
    .seek = ring_seek,
    .close = ring_close,
};

/* --- popen ---------------------------------------------------------------------------- */

/* A ring for popen's pipe, and the environment that names it to the child. */
struct offer {
    int ring;
    uint64_t inode;
    char *command; /* command that makes the shell exec the program, whose process id is then the child's; or
                      NULL */
    char **environment; /* the child's environment, with `options`; NULL: no memory */
    char *options;
};

/* Returns a copy of environ (NULL after clearenv) in which `options` replaces ASF_OPTIONS. */
static char **environment_with(char *options) {
    static const char name[] = "ASF_OPTIONS=";
    size_t n = 0, to = 0;
    char **all = environ;
    while (all && all[n])
        n++;
    char **copy = calloc(n + 2, sizeof *copy);
    for (size_t i = 0; copy && i < n; i++)
        if (strncmp(all[i], name, sizeof name - 1) != 0)
            copy[to++] = all[i];
    if (copy)
        copy[to] = options;
    return copy;
}

static void *before_popen(int parent_end, const char **command, char ***environment) {
    struct stat64 st;
    char option[ASF_RING_OPTION];
    struct offer *o = asf__options()->popen_rings ? calloc(1, sizeof *o) : NULL;
    if (!o || asf__fstat(parent_end, &st) < 0 ||
        (o->ring = asf__ring_offer(parent_end, option, sizeof option)) < 0) {
        free(o);
        return NULL;
    }
    o->inode = st.st_ino;
    const char *before = getenv("ASF_OPTIONS"), *end = asf__shell_bar(*command);
    o->command = end && !*end ? asf__shell_becoming(*command) : NULL;
    if (asprintf(&o->options, "ASF_OPTIONS=%s%s%s", before ? before : "", before ? "," : "", option) < 0)
        o->options = NULL;
    o->environment = o->options ? environment_with(o->options) : NULL;
    if (o->command)
        *command = o->command;
    if (o->environment)
        *environment = o->environment;
    return o;
}

/* Children whose shell was made to exec the program.  Lock: asf__popen_lock. */
struct exec_child {
    pid_t child;
    struct exec_child *next;
};
static struct exec_child *exec_children;

static void remember_child(pid_t child) {
    struct exec_child *b = malloc(sizeof *b);
    if (!b) /* then only the exit status after a signal differs from the shell's */
        return;
    *b = (struct exec_child){child, exec_children};
    exec_children = b;
}

static bool forget_child(pid_t child) {
    asf__lock(&asf__popen_lock);
    struct exec_child **at = &exec_children, *b;
    while (*at && (*at)->child != child)
        at = &(*at)->next;
    if ((b = *at))
        *at = b->next;
    asf__unlock(&asf__popen_lock);
    free(b);
    return b != NULL;
}

static void after_popen(void *offer, int parent_end, bool reading, pid_t child) {
    struct offer *o = offer;
    if (child > 0 && o->command)
        remember_child(child);
    free(o->environment);
    free(o->options);
    free(o->command);
    if (child > 0) {
        asf__ring_expect(o->ring, reading ? ASF_RING_READER : ASF_RING_WRITER, getpid());
        asf__ring_expect(o->ring, reading ? ASF_RING_WRITER : ASF_RING_READER, child);
        asf__pipe_record_created(parent_end, o->ring, o->inode);
        asf__pipe_module = &ring_module;
    } else {
        asf__close(o->ring);
    }
    free(o);
}

/* Returns the exit status that popen's shell would have had if signal `sig` had killed its program.  This
 * depends on the shell: dash exits with 128 + sig; bash execs the program, so that the signal ends the
 * process itself.  So this runs a shell on a program that kills itself with `sig`, and returns the status. */
static int status_of_shell(int sig) {
    char command[64], *const argv[] = {(char *)"sh", (char *)"-c", command, NULL};
    posix_spawnattr_t attributes;
    sigset_t set;
    pid_t child;
    int status = (128 + sig) << 8;
    snprintf(command, sizeof command, _PATH_BSHELL " -c 'ulimit -c 0; kill -%d $$'", sig);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    sigemptyset(&set);
    posix_spawnattr_setsigmask(&attributes, &set);
    sigaddset(&set, sig);
    posix_spawnattr_setsigdefault(&attributes, &set);
    if (posix_spawn(&child, _PATH_BSHELL, NULL, &attributes, argv, environ) == 0)
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            continue;
    posix_spawnattr_destroy(&attributes);
    return status;
}

static int popen_status(pid_t child, int status) {
    return forget_child(child) && WIFSIGNALED(status) ? status_of_shell(WTERMSIG(status)) : status;
}

void asf__offer_rings(void) {
    asf__popen_hooks = (struct asf_popen_hooks){before_popen, after_popen, popen_status};
    if (asf__rings())
        asf__pipe_module = &ring_module;
}
