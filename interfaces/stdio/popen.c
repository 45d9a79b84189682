/* SPDX-License-Identifier: MIT
 *
 * popen.c - popen and pclose, on posix_spawn.
 * Layer: interfaces.  May include: backplane, lib, include/asf.
 */
#include "interfaces/stdio/stdio_cios.h"

#include <fcntl.h>
#include <paths.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backplane/pipe_ring.h"
#include "lib/shm/ring.h"
#include "lib/text/shell_text.h"
#include "lib/sys/syscalls.h"

extern char **environ;

struct pipe_mode {
    bool reading, writing, cloexec;
};

static bool parse_mode(const char *text, struct pipe_mode *m) {
    *m = (struct pipe_mode){0};
    for (; *text; text++) {
        if (*text == 'r')
            m->reading = true;
        else if (*text == 'w')
            m->writing = true;
        else if (*text == 'e')
            m->cloexec = true;
        else
            return false;
    }
    return m->reading != m->writing;
}

/* POSIX: the child must not hold the streams of earlier popen calls. */
struct closing {
    posix_spawn_file_actions_t actions;
    int standard; /* the child's end is on it already */
    int error;    /* an errno value, or 0 */
};

static bool close_earlier(struct asf_cios *c, void *arg) {
    struct closing *k = arg;
    if (c->child > 0 && c->fd >= 0 && c->fd != k->standard)
        k->error = posix_spawn_file_actions_addclose(&k->actions, c->fd); /* EBADF above the limit */
    return k->error == 0;
}

/* A ring beside the pipe, and the environment by which the child finds it. */
struct beside {
    int ring; /* -1: none */
    uint64_t inode;
    char *command;      /* by which the shell becomes the program that is expected, or NULL */
    char **environment; /* from malloc, as its entry `options` is; NULL: environ as it is then */
    char *options;
};

/* environ, which is NULL after clearenv, with other options of ours. */
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

static struct beside make_beside(int ours, const char *command) {
    struct beside b = {.ring = -1};
    struct stat64 st;
    char option[ASF_RING_OPTION];
    if (!asf__options()->popen_rings || asf__sys.fstat(ours, &st) < 0 ||
        (b.ring = asf__ring_offer(ours, option, sizeof option)) < 0)
        return b;
    b.inode = st.st_ino;
    const char *before = getenv("ASF_OPTIONS");
    const char *end = asf__shell_bar(command);
    b.command = end && !*end ? asf__shell_becoming(command) : NULL;
    if (asprintf(&b.options, "ASF_OPTIONS=%s%s%s", before ? before : "", before ? "," : "", option) < 0)
        b.options = NULL;
    b.environment = b.options ? environment_with(b.options) : NULL;
    return b;
}

/* The child is there, or is not. */
static void finish_beside(struct beside *b, int ours, bool reading, pid_t child) {
    free(b->environment);
    free(b->options);
    free(b->command);
    if (b->ring < 0)
        return;
    if (child > 0) {
        asf__ring_expect(b->ring, reading ? ASF_RING_READER : ASF_RING_WRITER, getpid());
        asf__ring_expect(b->ring, reading ? ASF_RING_WRITER : ASF_RING_READER, child);
        asf__pipe_own(ours, b->ring, b->inode);
    } else {
        asf__sys.close(b->ring);
    }
}

static int spawn(const char *command, int theirs, int standard, char **environment, pid_t *child) {
    struct closing k = {.standard = standard};
    char *const argv[] = {"sh", "-c", (char *)command, NULL};
    posix_spawn_file_actions_init(&k.actions);
    /* dup2 onto itself clears close-on-exec (posix_spawn, POSIX 2024). */
    k.error = posix_spawn_file_actions_adddup2(&k.actions, theirs, standard);
    if (k.error == 0)
        asf__each(close_earlier, &k);
    if (k.error == 0)
        k.error = posix_spawn(child, _PATH_BSHELL, &k.actions, NULL, argv, environment);
    posix_spawn_file_actions_destroy(&k.actions);
    return -k.error;
}

static FILE *open_on(int fd, pid_t child, const struct pipe_mode *m) {
    FILE *f = fdopen(fd, m->reading ? "r" : "w");
    if (f) {
        asf__cios(f)->child = child;
        asf__cios(f)->orientation = -1; /* as glibc: such a stream is never a wide one */
    }
    if (f && !m->cloexec)
        fcntl(fd, F_SETFD, 0);
    return f;
}

EXPORT FILE *popen(const char *command, const char *mode) {
    struct pipe_mode m;
    int ends[2];
    pid_t child = 0;
    if (!parse_mode(mode, &m)) {
        errno = EINVAL;
        return NULL;
    }
    if (pipe2(ends, O_CLOEXEC) < 0)
        return NULL;
    int ours = m.reading ? ends[0] : ends[1], theirs = m.reading ? ends[1] : ends[0];
    struct beside b = make_beside(ours, command);
    asf__settle_all(); /* a write may have to wait: not with the lock */
    asf__popen_lock();
    int rc = spawn(b.command ? b.command : command, theirs, m.reading ? 1 : 0,
                   b.environment ? b.environment : environ, &child);
    finish_beside(&b, ours, m.reading, rc < 0 ? 0 : child);
    FILE *f = rc < 0 ? NULL : open_on(ours, child, &m);
    asf__popen_unlock();
    asf__sys.close(theirs);
    if (f)
        return f;
    rc = rc < 0 ? rc : -errno;
    asf__pipe_lose(ours);
    asf__sys.close(ours);
    if (child == 0)
        rc = -ENOMEM; /* as glibc, whatever the reason */
    if (child > 0)
        asf__pclose_child(child); /* which finds its pipe closed */
    errno = -rc;
    return NULL;
}

int asf__pclose_child(pid_t child) {
    int status, before;
    pid_t r;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    do {
        r = waitpid(child, &status, 0);
    } while (r < 0 && errno == EINTR);
    pthread_setcancelstate(before, &before);
    return r < 0 ? -1 : status;
}

EXPORT int pclose(FILE *f) {
    return fclose(f);
}
