/* SPDX-License-Identifier: MIT
 *
 * popen.c - popen and pclose, on posix_spawn.
 */
#include "interfaces/stdio/stdio_cios.h"

#include <fcntl.h>
#include <paths.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backplane/backplane.h"
#include "interfaces/stdio/popen.h"
#include "lib/sys/syscalls.h"

extern char **environ;

struct asf_popen_hooks asf__popen_hooks;

struct pipe_mode {
    bool reading, writing, cloexec;
};

static bool parse_popen_mode(const char *text, struct pipe_mode *m) {
    *m = (struct pipe_mode){0};
    if (!ASF_LIBC(popen_strictly)) {
        *m = (struct pipe_mode){*text == 'r', *text == 'w', strchr(text, 'e') != NULL};
        return m->reading || m->writing;
    }
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

/* POSIX: the child must not have the descriptors of earlier popen calls. */
struct child_actions {
    posix_spawn_file_actions_t actions;
    int standard; /* 0 or 1: the child's end of the new pipe, not to be closed */
    int error;    /* an errno value, or 0 */
};

static bool close_earlier_pipe(struct asf_cios *c, void *arg) {
    struct child_actions *k = arg;
    if (c->child > 0 && c->fd >= 0 && c->fd != k->standard)
        k->error = posix_spawn_file_actions_addclose(&k->actions, c->fd); /* EBADF: above the limit */
    return k->error == 0;
}

static int spawn(const char *command, int child_end, int standard, char **environment, pid_t *child) {
    struct child_actions k = {.standard = standard};
    char *const with_operand[] = {"sh", "-c", "--", (char *)command, NULL};
    char *const without[] = {"sh", "-c", (char *)command, NULL};
    char *const *argv = ASF_LIBC(popen_operand) ? with_operand : without;
    posix_spawn_file_actions_init(&k.actions);
    /* dup2 onto itself clears close-on-exec (posix_spawn, POSIX 2024). */
    k.error = posix_spawn_file_actions_adddup2(&k.actions, child_end, standard);
    if (k.error == 0)
        asf__each(close_earlier_pipe, &k);
    if (k.error == 0)
        k.error = posix_spawn(child, _PATH_BSHELL, &k.actions, NULL, argv, environment);
    posix_spawn_file_actions_destroy(&k.actions);
    return -k.error;
}

static FILE *open_parent_end(int fd, pid_t child, const struct pipe_mode *m) {
    FILE *f = asf__open_on_pipe(fd, m->reading ? O_RDONLY : O_WRONLY);
    if (f) {
        asf__cios(f)->child = child;
        asf__cios(f)->orientation = ASF_LIBC(never_wide) ? -1 : 0;
    }
    if (f && !m->cloexec)
        fcntl(fd, F_SETFD, 0);
    return f;
}

struct asf_lock asf__popen_lock = {.biasable = false};

void asf__popen_in_child(void) {
    asf__lock_reset(&asf__popen_lock);
    asf__popen_lock.biasable = false;
}

static FILE *open_pipe(const int ends[2], const char *command, const struct pipe_mode *m, pid_t *child) {
    int parent_end = m->reading ? ends[0] : ends[1], child_end = m->reading ? ends[1] : ends[0];
    char **environment = environ;
    asf__publish_streams(-1);
    asf__lock(&asf__popen_lock);
    void *offer =
        asf__popen_hooks.before ? asf__popen_hooks.before(parent_end, &command, &environment) : NULL;
    int rc = spawn(command, child_end, m->reading ? 1 : 0, environment, child);
    if (offer)
        asf__popen_hooks.after(offer, parent_end, m->reading, *child);
    FILE *f = rc < 0 ? NULL : open_parent_end(parent_end, *child, m);
    int why = rc < 0 ? -rc : errno;
    asf__unlock(&asf__popen_lock);
    asf__sys.close(child_end);
    if (!f) {
        asf__sys.close(parent_end);
        errno = why;
    }
    return f;
}

EXPORT FILE *popen(const char *command, const char *mode) {
    struct pipe_mode m;
    int ends[2];
    pid_t child = 0;
    if (!parse_popen_mode(mode, &m)) {
        errno = EINVAL;
        return NULL;
    }
    int rc = asf__sys.pipe(ends);
    if (rc < 0) {
        errno = -rc;
        return NULL;
    }
    FILE *f = open_pipe(ends, command, &m, &child);
    if (f)
        return f;
    int why = child > 0 || ASF_LIBC(popen_errno) ? errno : ENOMEM;
    if (child > 0)
        asf__pclose_child(child); /* the child ends, since its pipe is closed */
    errno = why;
    return NULL;
}

int asf__pclose_child(pid_t child) {
    int status, before;
    pid_t r;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    do {
        r = waitpid(child, &status, 0);
    } while (r < 0 && errno == EINTR);
    if (asf__popen_hooks.ended)
        status = asf__popen_hooks.ended(child, r < 0 ? 0 : status);
    pthread_setcancelstate(before, &before);
    return r < 0 ? -1 : status;
}

EXPORT int pclose(FILE *f) {
    if (ASF_LIBC(fclose_waits))
        return fclose(f);
    pid_t child = asf__cios(f)->child;
    fclose(f);
    return asf__pclose_child(child);
}
