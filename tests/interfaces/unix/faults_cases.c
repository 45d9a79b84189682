/* SPDX-License-Identifier: MIT
 *
 * faults_cases.c - a file is truncated during small reads, by a program that blocks, ignores or handles
 * SIGBUS; and the signal masks and actions that the program sees.
 */
#include "tests/interfaces/stdio/transcript.h"
#include "tests/interfaces/unix/lacking.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <ucontext.h>

enum { SIZE = 200000, LEFT = 1000, PIECE = 16 };

/* Makes as many small reads as make a descriptor private. */
static int open_and_read(void) {
    char piece[PIECE];
    put_pattern("in", SIZE);
    int fd = open("in", O_RDONLY);
    for (int i = 0; i < 100; i++)
        if (read(fd, piece, sizeof piece) != sizeof piece ||
            (unsigned char)piece[0] != pattern_at((size_t)i * PIECE))
            say("  read %d is wrong", i);
    return fd;
}

static void truncate_and_read(int fd) {
    char piece[PIECE] = "";
    CALL(truncate("in", LEFT));
    CALL(read(fd, piece, sizeof piece));
    CALL(pread(fd, piece, sizeof piece, LEFT - 8));
    say("  %b", piece, 8);
    CALL(pread(fd, piece, sizeof piece, 100000));
    CALL(lseek(fd, 0, SEEK_CUR));
    put_pattern("in", SIZE);
    CALL(read(fd, piece, sizeof piece));
    say("  %b", piece, PIECE);
}

static void note_mask(void) {
    sigset_t mask;
    CALL(sigprocmask(SIG_BLOCK, NULL, &mask));
    say("  SIGBUS %d SIGTERM %d", sigismember(&mask, SIGBUS), sigismember(&mask, SIGTERM));
    CALL(pthread_sigmask(SIG_SETMASK, NULL, &mask));
    say("  SIGBUS %d SIGTERM %d", sigismember(&mask, SIGBUS), sigismember(&mask, SIGTERM));
}

static void block_all(void) {
    sigset_t all, before;
    sigfillset(&all);
    sigemptyset(&before);
    CALL(sigprocmask(SIG_BLOCK, &all, &before));
    say("  before: SIGBUS %d", sigismember(&before, SIGBUS));
}

CASE(blocked_by_sigprocmask) {
    int fd = open_and_read();
    block_all();
    note_mask();
    truncate_and_read(fd);
}

CASE(blocked_by_pthread_sigmask) {
    sigset_t all, before;
    int fd = open_and_read();
    sigfillset(&all);
    CALL(pthread_sigmask(SIG_SETMASK, &all, &before));
    say("  before: SIGBUS %d", sigismember(&before, SIGBUS));
    truncate_and_read(fd);
    CALL(pthread_sigmask(SIG_SETMASK, &before, NULL));
    CALL(pthread_sigmask(17, &before, NULL));
    CALL(sigprocmask(17, &before, NULL));
    note_mask();
}

CASE(blocked_in_the_old_ways) {
    int fd = open_and_read();
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#ifdef __GLIBC__ /* musl lacks this interface */
    CALL(sigblock(1 << (SIGBUS - 1)));
    truncate_and_read(fd);
    close(fd);
    CALL(sigsetmask(0));
    fd = open_and_read();
#endif
    CALL(sighold(SIGBUS));
    truncate_and_read(fd);
#pragma GCC diagnostic pop
}

CASE(blocked_before_the_file_is_opened) {
    block_all();
    truncate_and_read(open_and_read());
}

CASE(blocked_for_a_moment) {
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    sigprocmask(SIG_SETMASK, &before, NULL);
    truncate_and_read(open_and_read());
}

CASE(_truncates_and_reads) {
    note_mask();
    truncate_and_read(open_and_read());
}

CASE(blocked_by_who_starts_the_program) {
    block_all();
    run_case("_truncates_and_reads", -1, -1, -1);
}

static int shared;

static void *read_blocked(void *unused) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    truncate_and_read(shared);
    return unused;
}

CASE(blocked_in_another_thread) {
    pthread_t thread;
    shared = open_and_read();
    pthread_create(&thread, NULL, read_blocked, NULL);
    pthread_join(thread, NULL);
    note_mask();
}

static void *read_there(void *unused) {
    truncate_and_read(open_and_read());
    return unused;
}

CASE(blocked_as_a_thread_is_made) {
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_create(&thread, NULL, read_there, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_join(thread, NULL);
}

#ifdef __GLIBC__ /* musl lacks this interface */
CASE(blocked_by_a_thread_s_attributes) {
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    CALL(pthread_attr_setsigmask_np(&attributes, &all));
    pthread_create(&thread, &attributes, read_there, NULL);
    pthread_join(thread, NULL);
}
#endif

static void reads_in_handler(int sig) {
    say("  signal %d", sig);
    truncate_and_read(shared);
}

static void set_handler(int sig, void (*handler)(int)) {
    struct sigaction act = {.sa_handler = handler}, now;
    sigfillset(&act.sa_mask);
    CALL(sigaction(sig, &act, NULL));
    memset(&now, 0, sizeof now);
    CALL(sigaction(sig, NULL, &now));
    say("  SIGBUS %d, the same handler %d", sigismember(&now.sa_mask, SIGBUS), now.sa_handler == handler);
}

CASE(blocked_in_a_handler) {
    shared = open_and_read();
    set_handler(SIGUSR1, reads_in_handler);
    CALL(raise(SIGUSR1));
    struct sigaction old, none = {.sa_handler = SIG_DFL};
    CALL(sigaction(SIGUSR1, &none, &old));
    say("  SIGBUS %d", sigismember(&old.sa_mask, SIGBUS));
    CALL(sigaction(SIGUSR1, NULL, &old));
    say("  SIGBUS %d", sigismember(&old.sa_mask, SIGBUS));
    CALL(sigaction(99, &none, &old));
}

static void wait_with_all_blocked(int way) {
    sigset_t most, usr1;
    struct timespec second = {1, 0};
    struct epoll_event event;
    shared = open_and_read();
    signal(SIGUSR1, reads_in_handler);
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    sigprocmask(SIG_BLOCK, &usr1, NULL);
    raise(SIGUSR1);
    sigfillset(&most);
    sigdelset(&most, SIGUSR1);
    if (way == 0)
        CALL(sigsuspend(&most));
    else if (way == 1)
        CALL(ppoll(NULL, 0, &second, &most));
    else if (way == 2)
        CALL(pselect(0, NULL, NULL, NULL, &second, &most));
    else
        CALL(epoll_pwait(epoll_create1(0), &event, 1, 1000, &most));
}

CASE(blocked_in_sigsuspend) {
    wait_with_all_blocked(0);
}

CASE(blocked_in_ppoll) {
    wait_with_all_blocked(1);
}

CASE(blocked_in_pselect) {
    wait_with_all_blocked(2);
}

CASE(blocked_in_epoll_pwait) {
    wait_with_all_blocked(3);
}

#ifdef __GLIBC__ /* musl lacks this interface */
static ucontext_t there, back;

static void reads_in_context(void) {
    note_mask();
    truncate_and_read(shared);
}

CASE(blocked_in_a_context) {
    static char stack[256 << 10];
    sigset_t none;
    sigemptyset(&none);
    block_all();
    getcontext(&there);
    CALL(sigprocmask(SIG_SETMASK, &none, NULL));
    shared = open_and_read();
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = sizeof stack;
    there.uc_link = &back;
    makecontext(&there, reads_in_context, 0);
    swapcontext(&back, &there);
    note_mask();
}
#endif

CASE(default_after_a_window_was_there) {
    int fd = open_and_read();
    say("  default %d", signal(SIGBUS, SIG_DFL) == SIG_DFL);
    truncate_and_read(fd);
    say("  default %d", signal(SIGBUS, SIG_IGN) == SIG_DFL);
    say("  ignored %d", signal(SIGBUS, SIG_DFL) == SIG_IGN);
}

CASE(ignored) {
    int fd = open_and_read();
    CALL(signal(SIGBUS, SIG_IGN) == SIG_DFL);
    truncate_and_read(fd);
    CALL(raise(SIGBUS));
    run_case("_truncates_and_reads", -1, -1, -1);
}

static void notes_signal(int sig) {
    say("  handler of %d", sig);
}

CASE(handled) {
    struct sigaction old;
    int fd = open_and_read();
    set_handler(SIGBUS, notes_signal);
    truncate_and_read(fd);
    CALL(raise(SIGBUS));
    struct sigaction once = {.sa_handler = notes_signal, .sa_flags = (int)SA_RESETHAND};
    CALL(sigaction(SIGBUS, &once, &old));
    say("  SIGBUS %d, flags %x", sigismember(&old.sa_mask, SIGBUS), (unsigned)old.sa_flags & 0xf0000000U);
    CALL(raise(SIGBUS));
    CALL(sigaction(SIGBUS, NULL, &old));
    say("  default %d", old.sa_handler == SIG_DFL);
    fd = open_and_read();
    truncate_and_read(fd);
}

CASE(handled_in_the_old_ways) {
    int fd = open_and_read();
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    CALL(sigignore(SIGBUS));
    truncate_and_read(fd);
    fd = open_and_read();
    sysv_signal(SIGBUS, notes_signal);
    truncate_and_read(fd);
    CALL(raise(SIGBUS));
    fd = open_and_read();
    sigset(SIGBUS, notes_signal);
    truncate_and_read(fd);
    CALL(raise(SIGBUS));
#pragma GCC diagnostic pop
}

CASE(sent_while_blocked) {
    sigset_t bus, pending;
    int got = 0, fd = open_and_read();
    sigemptyset(&bus);
    sigaddset(&bus, SIGBUS);
    CALL(sigprocmask(SIG_BLOCK, &bus, NULL));
    CALL(kill(getpid(), SIGBUS));
    CALL(sigpending(&pending));
    say("  pending %d", sigismember(&pending, SIGBUS));
    truncate_and_read(fd);
    CALL(sigwait(&bus, &got));
    say("  got %d", got);
}

/* The child of a vfork opens and closes files in this process's memory. */
CASE(a_vfork) {
    int status;
    put_pattern("in", SIZE);
    put_pattern("other", 300);
    int fd = open("in", O_RDONLY), same = dup(fd);
    char piece[PIECE];
    pid_t pid = vfork();
    if (pid == 0) {
        close(fd);
        open("other", O_RDONLY);
        signal(SIGBUS, SIG_IGN);
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, NULL);
        _exit(0);
    }
    waitpid(pid, &status, 0);
    for (int i = 0; i < 100; i++)
        read(fd, piece, sizeof piece);
    CALL(lseek(same, 0, SEEK_CUR));
    close(fd);
    note_mask();
    say("  default %d", signal(SIGBUS, SIG_DFL) == SIG_DFL);
    truncate_and_read(open_and_read());
}
