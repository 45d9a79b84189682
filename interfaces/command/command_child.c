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

enum { NO_CHILD = 0, CHILD_ENDED = -1, SECONDS_TO_KILL = 2 /* seconds from a signal to SIGKILL */ };

static volatile pid_t child; /* a process id, then CHILD_ENDED until asf__child_done; or NO_CHILD */
static volatile sig_atomic_t fatal_signal;
static bool dies_of_signals;

/* The handler's signal is blocked while the handler runs, so raise() ends the process when it returns. */
static void raise_default(int sig) {
    signal(sig, SIG_DFL);
    raise(sig);
}

static void signal_child(int sig) {
    if (sig != SIGALRM) {
        fatal_signal = sig;
        alarm(SECONDS_TO_KILL);
    }
    if (child > 0)
        kill(child, sig == SIGALRM ? SIGKILL : sig);
    else if (child == NO_CHILD)
        raise_default(fatal_signal);
}

static void forward_signal(int sig) {
    if (child > 0)
        kill(child, sig);
}

static void set_unless_ignored(int sig, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, before;
    if (sigaction(sig, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(sig, &action, NULL);
}

/* As a subreaper this process becomes the parent of the child's orphans and can kill them. */
void asf__die_by_signals(void) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM};
    dies_of_signals = true;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        set_unless_ignored(signals[i], signal_child);
}

/* Ignores SIGINT and SIGQUIT, because the terminal sends them to the child, too. */
static void forward_signals(void) {
    set_unless_ignored(SIGINT, SIG_IGN);
    set_unless_ignored(SIGQUIT, SIG_IGN);
    set_unless_ignored(SIGTERM, forward_signal);
    set_unless_ignored(SIGHUP, forward_signal);
}

pid_t asf__fork(void) {
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    pid_t pid = fork();
    if (pid > 0) {
        child = pid;
        if (!dies_of_signals)
            forward_signals();
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
    child = CHILD_ENDED;
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
    if (fatal_signal) {
        kill_descendants();
        raise_default(fatal_signal);
    }
    child = NO_CHILD;
}

const char *asf__status_text(int status) {
    return WIFSIGNALED(status) ? asf__text("signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)))
                               : asf__text("exit status %d", WEXITSTATUS(status));
}

int asf__exit_status(int status) {
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
