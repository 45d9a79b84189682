/* SPDX-License-Identifier: MIT
 *
 * popen.c - popen and pclose, on posix_spawn.
 * Layer: interfaces.  May include: backplane, lib, include/asf.
 */
#include "interfaces/stdio/stdio_cios.h"

#include <fcntl.h>
#include <paths.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/syscalls.h"

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
};

static bool close_earlier(struct asf_cios *c, void *arg) {
    struct closing *k = arg;
    if (c->child > 0 && c->fd >= 0 && c->fd != k->standard)
        posix_spawn_file_actions_addclose(&k->actions, c->fd);
    return true;
}

static int spawn(const char *command, int theirs, int standard, pid_t *child) {
    struct closing k = {.standard = standard};
    char *const argv[] = {"sh", "-c", (char *)command, NULL};
    posix_spawn_file_actions_init(&k.actions);
    /* dup2 onto itself clears close-on-exec (posix_spawn, POSIX 2024). */
    posix_spawn_file_actions_adddup2(&k.actions, theirs, standard);
    asf__each(close_earlier, &k);
    int rc = posix_spawn(child, _PATH_BSHELL, &k.actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&k.actions);
    return -rc;
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
    pid_t child;
    if (!parse_mode(mode, &m)) {
        errno = EINVAL;
        return NULL;
    }
    if (pipe2(ends, O_CLOEXEC) < 0)
        return NULL;
    int ours = m.reading ? ends[0] : ends[1], theirs = m.reading ? ends[1] : ends[0];
    int rc = spawn(command, theirs, m.reading ? 1 : 0, &child);
    FILE *f = rc < 0 ? NULL : open_on(ours, child, &m);
    asf__sys.close(theirs);
    if (!f)
        asf__sys.close(ours);
    if (rc < 0)
        errno = -rc;
    return f;
}

int asf__pclose_child(pid_t child) {
    int status;
    pid_t r;
    do {
        r = waitpid(child, &status, 0);
    } while (r < 0 && errno == EINTR);
    return r < 0 ? -1 : status;
}

EXPORT int pclose(FILE *f) {
    return fclose(f);
}
