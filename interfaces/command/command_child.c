/* SPDX-License-Identifier: MIT
 *
 * command_child.c - runs one child at a time, and handles the signals that reach asf meanwhile.
 */
#define _GNU_SOURCE
#include "interfaces/command/command_child.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interfaces/command/command.h"

enum { NONE = 0, ENDED = -1, PATIENCE = 2 /* seconds from a signal to SIGKILL */ };

static volatile pid_t child; /* NONE, ENDED until asf__child_done, or the process */
static volatile sig_atomic_t ended_by;
static bool dies;

/* In a handler its signal is blocked, so raise() kills when the handler returns. */
static void die(int sig) {
    signal(sig, SIG_DFL);
    raise(sig);
}

static void end_child(int sig) {
    if (sig != SIGALRM) {
        ended_by = sig;
        alarm(PATIENCE);
    }
    if (child > 0)
        kill(child, sig == SIGALRM ? SIGKILL : sig);
    else if (child == NONE)
        die(ended_by);
}

static void pass_on(int sig) {
    if (child > 0)
        kill(child, sig);
}

static void handle(int sig, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, before;
    if (sigaction(sig, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(sig, &action, NULL);
}

/* As a subreaper this process becomes the parent of the child's orphans and can kill them. */
void asf__die_by_signals(void) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM};
    dies = true;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        handle(signals[i], end_child);
}

/* The terminal sends SIGINT and SIGQUIT to the child itself. */
static void leave_signals_to_child(void) {
    handle(SIGINT, SIG_IGN);
    handle(SIGQUIT, SIG_IGN);
    handle(SIGTERM, pass_on);
    handle(SIGHUP, pass_on);
}

pid_t asf__fork(void) {
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    pid_t pid = fork();
    if (pid > 0) {
        child = pid;
        if (!dies)
            leave_signals_to_child();
    }
    int error = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return pid;
}

int asf__wait(struct rusage *usage) {
    int status;
    while (wait4(child, &status, 0, usage) < 0)
        if (errno != EINTR)
            asf__fail("wait: %s", strerror(errno));
    child = ENDED;
    return status;
}

/* A dead process's children become this process's own before wait() reports the death.  Repeat until no child
 * is left. */
static void kill_descendants(void) {
    for (int killed = 1; killed > 0;) {
        FILE *list = fopen("/proc/thread-self/children", "re");
        killed = 0;
        for (int pid; list && fscanf(list, "%d", &pid) == 1; killed++)
            kill(pid, SIGKILL);
        if (list)
            fclose(list);
        for (int i = 0; i < killed; i++)
            wait(NULL);
    }
}

void asf__child_done(void) {
    if (ended_by) {
        kill_descendants();
        die(ended_by);
    }
    child = NONE;
}

const char *asf__status_text(int status) {
    return WIFSIGNALED(status) ? asf__text("signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)))
                               : asf__text("exit status %d", WEXITSTATUS(status));
}

int asf__exit_status(int status) {
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
