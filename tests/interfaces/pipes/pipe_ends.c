/* SPDX-License-Identifier: MIT
 *
 * pipe_ends.c - a program at either end of a pipe. It writes or copies a stream of numbered lines in one
 * of many ways. In the middle of the stream it does something that a ring cannot serve.
 *   pipe_ends write WAY LINES      pipe_ends read WAY      pipe_ends stay WAY MILLISECONDS
 */
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/interfaces/unix/lacking.h"

enum { LINE = 16, SOME = 1 << 20 };

static void die(const char *what) {
    fprintf(stderr, "pipe_ends: %s: %s\n", what, strerror(errno));
    exit(3);
}

static bool is(const char *a, const char *b) {
    return strcmp(a, b) == 0;
}

/* --- lines ------------------------------------------------------------------------- */

static size_t lines_of(char *to, unsigned from, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        snprintf(to + (size_t)i * LINE, LINE + 1, "line %010u\n", from + i);
    return (size_t)n * LINE;
}

static void write_all(int fd, const char *p, size_t n) {
    while (n > 0) {
        ssize_t r = write(fd, p, n);
        if (r < 0 && (errno == EINTR || errno == EAGAIN)) {
            struct pollfd wait = {.fd = fd, .events = POLLOUT};
            if (errno == EAGAIN)
                poll(&wait, 1, -1);
            continue;
        }
        if (r <= 0)
            die("write");
        p += r;
        n -= (size_t)r;
    }
}

static char text[SOME + LINE];

static void raw(int fd, unsigned from, unsigned to, unsigned piece) {
    for (unsigned i = from; i < to; i += piece)
        write_all(fd, text, lines_of(text, i, i + piece < to ? piece : to - i));
}

static void stdio(unsigned from, unsigned to) {
    for (unsigned i = from; i < to; i++)
        if (printf("line %010u\n", i) != LINE)
            die("printf");
}

/* --- writing -------------------------------------------------------------------------- */

static void in_child(unsigned from, unsigned to) {
    pid_t child = fork();
    if (child == 0) {
        raw(1, from, to, 100);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static void by_exec(char *self, unsigned from, unsigned to) {
    char a[12], b[12];
    snprintf(a, sizeof a, "%u", from);
    snprintf(b, sizeof b, "%u", to);
    execl(self, self, "write", "rest", b, a, (char *)NULL);
    die("exec");
}

static void by_vector(unsigned from, unsigned to) {
    for (unsigned i = from; i < to; i += 2) {
        size_t n = lines_of(text, i, i + 2 <= to ? 2 : 1);
        struct iovec v[2] = {{text, LINE}, {text + LINE, n - LINE}};
        if (writev(1, v, 2) != (ssize_t)n)
            die("writev");
    }
}

static void by_splice(unsigned from, unsigned to) {
    char name[] = "/tmp/pipe_ends.XXXXXX";
    int fd = mkstemp(name);
    unlink(name);
    raw(fd, from, to, 1000);
    off_t at = 0, end = (off_t)(to - from) * LINE;
    while (at < end)
        if (splice(fd, &at, 1, NULL, (size_t)(end - at), 0) <= 0)
            die("splice");
    close(fd);
}

static struct { unsigned from, to; } job;

static void *in_thread(void *unused) {
    raw(1, job.from, job.to, 100);
    return unused;
}

static unsigned handled, handler_lines;

/* Writes the line that the main program omits. */
static void on_signal(int sig) {
    char line[LINE + 1] = "handler        \n";
    (void)sig;
    handled = 1;
    write_all(1, line, LINE);
    handler_lines++;
}

static void with_signals(unsigned from, unsigned to, bool restart) {
    struct sigaction act = {.sa_handler = on_signal, .sa_flags = restart ? SA_RESTART : 0};
    struct itimerval often = {{0, 3000}, {0, 3000}}, never = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &act, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    raw(1, from, to, 64);
    setitimer(ITIMER_REAL, &never, NULL);
    fprintf(stderr, "handler lines %u\n", handler_lines);
}

/* Allows no system calls but read, write, exit and sigreturn. */
static void allow_next_to_nothing(void) {
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
        die("prctl");
}

static void write_lines(char *self, const char *way, unsigned n, unsigned from) {
    unsigned third = n / 3, rest = third * 2;
    if (is(way, "stdio"))
        stdio(0, n);
    else if (is(way, "raw"))
        raw(1, 0, n, 512);
    else if (is(way, "lines"))
        raw(1, 0, n, 1);
    else if (is(way, "large"))
        raw(1, 0, n, SOME / LINE);
    else if (is(way, "rest"))
        raw(1, from, n, 100);
    else if (is(way, "slow"))
        for (unsigned i = 0; i < n; i += n / 20 + 1) {
            raw(1, i, i + n / 20 + 1 < n ? i + n / 20 + 1 : n, 256);
            usleep(3000);
        }
    else if (is(way, "signals") || is(way, "restart"))
        with_signals(0, n, is(way, "restart"));
    else {
        if (is(way, "mixed"))
            stdio(0, third);
        else
            raw(1, 0, third, 256);
        fflush(stdout);
        if (is(way, "mixed"))
            raw(1, third, rest, 100);
        else if (is(way, "fork"))
            in_child(third, rest);
        else if (is(way, "exec"))
            by_exec(self, third, n);
        else if (is(way, "vector"))
            by_vector(third, rest);
        else if (is(way, "splice"))
            by_splice(third, rest);
        else if (is(way, "thread")) {
            pthread_t t;
            job.from = third;
            job.to = rest;
            pthread_create(&t, NULL, in_thread, NULL);
            pthread_join(t, NULL);
        } else if (is(way, "dup")) {
            int other = dup(1);
            raw(other, third, rest, 100);
            close(other);
        } else if (is(way, "nonblock")) {
            fcntl(1, F_SETFL, O_NONBLOCK);
            raw(1, third, rest, 100);
        } else if (is(way, "reopen")) {
            int other = open("/dev/stdout", O_WRONLY);
            raw(other, third, rest, 100);
            close(other);
        } else if (is(way, "strict")) {
            allow_next_to_nothing();
            raw(1, third, rest, 100);
        } else
            die(way);
        raw(1, rest, n, 256);
        if (is(way, "strict"))
            syscall(SYS_exit, 0);
    }
}

/* --- reading ---------------------------------------------------------------------------- */

static int out;

static size_t copy(int from, size_t most, size_t piece) {
    size_t done = 0;
    while (done < most) {
        ssize_t r = read(from, text, piece < most - done ? piece : most - done);
        if (r < 0 && (errno == EINTR || errno == EAGAIN)) {
            struct pollfd wait = {.fd = from, .events = POLLIN};
            if (errno == EAGAIN)
                poll(&wait, 1, -1);
            continue;
        }
        if (r < 0)
            die("read");
        if (r == 0)
            break;
        write_all(out, text, (size_t)r);
        done += (size_t)r;
    }
    return done;
}

/* Expects that each byte is the next one of the lines; reports how many bytes there were. */
static void check(bool by_stdio) {
    static char wanted[SOME + LINE];
    size_t total = 0, piece = by_stdio ? 1000 : 16384;
    ssize_t r;
    while ((r = by_stdio ? (ssize_t)fread(text, 1, piece, stdin) : read(0, text, piece)) > 0) {
        size_t first = total / LINE, n = (size_t)r;
        lines_of(wanted, (unsigned)first, (unsigned)(n / LINE + 2));
        if (memcmp(text, wanted + total % LINE, n) != 0)
            exit(4);
        total += n;
    }
    printf("%zu\n", total);
}

static void copy_stdio(void) {
    char line[64];
    while (fgets(line, sizeof line, stdin))
        write_all(out, line, strlen(line));
}

static void read_in_child(void) {
    pid_t child = fork();
    if (child == 0)
        _exit(copy(0, 300000, 4096) == 0);
    waitpid(child, NULL, 0);
}

static void read_with_poll(const char *way) {
    int e = epoll_create1(0), n = 0;
    struct epoll_event event = {.events = EPOLLIN};
    if (is(way, "epoll") && epoll_ctl(e, EPOLL_CTL_ADD, 0, &event) != 0)
        die("epoll_ctl");
    for (size_t got = 1; got > 0;) {
        struct pollfd wait = {.fd = 0, .events = POLLIN};
        fd_set set;
        FD_ZERO(&set);
        FD_SET(0, &set);
        if (is(way, "poll"))
            poll(&wait, 1, -1);
        else if (is(way, "checked_poll"))
            __ppoll_chk(&wait, 1, NULL, NULL, sizeof wait);
        else if (is(way, "select"))
            select(1, &set, NULL, NULL, NULL);
        else if (is(way, "epoll"))
            epoll_wait(e, &event, 1, -1);
        else if (ioctl(0, FIONREAD, &n) != 0)
            die("ioctl");
        got = copy(0, 50000, 50000);
    }
}

static void interrupted(int sig) {
    (void)sig;
    handled++;
}

static void read_with_signals(bool restart) {
    struct sigaction act = {.sa_handler = interrupted, .sa_flags = restart ? SA_RESTART : 0};
    struct itimerval often = {{0, 500}, {0, 500}};
    sigaction(SIGALRM, &act, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    copy(0, SIZE_MAX, 4096);
}

static void read_by_exec(const char *way, char *self, const char *by) {
    char *path = is(by, "self") ? self : (char *)by;
    char *const arguments[] = {path, (char *)"read", (char *)"raw", NULL};
    if (is(way, "exec"))
        execv(path, arguments);
    else if (is(way, "exec_at"))
        execveat(AT_FDCWD, path, arguments, environ, 0);
    else
        syscall(SYS_execve, path, arguments, environ);
    die("exec");
}

/* Restricts the process, so that it is difficult to open the other end of the pipe. */
static void confine(const char *way) {
    struct rlimit few = {3, 3}, none = {0, 0};
    if (is(way, "full"))
        while (dup(2) >= 0)
            ;
    else if (is(way, "limit"))
        setrlimit(RLIMIT_NOFILE, &few);
    else if (is(way, "no_limit"))
        setrlimit(RLIMIT_NOFILE, &none);
    else if (is(way, "user"))
        setresuid(65534, 65534, 65534);
    else if (is(way, "unmount"))
        unshare(CLONE_NEWNS) == 0 ? umount2("/proc", MNT_DETACH) : 0;
    else if (is(way, "shrink"))
        fcntl(0, F_SETPIPE_SZ, 4096);
    else if (chroot("/usr") != 0 && errno != EPERM)
        die("chroot");
}

/* Reads by calls that use the pipe itself, not the ring. */
static void read_pipe_itself(const char *way) {
    int copies[2];
    ssize_t n = 0;
    if (is(way, "aio")) {
        struct aiocb request = {.aio_fildes = 0, .aio_buf = text, .aio_nbytes = 1000};
        const struct aiocb *const list[] = {&request};
        aio_read(&request);
        while (aio_suspend(list, 1, NULL) != 0)
            ;
        n = aio_return(&request);
    } else if (is(way, "preadv2")) {
        struct iovec v = {text, 1000};
        n = preadv2(0, &v, 1, -1, 0);
    } else if (pipe(copies) != 0 || tee(0, copies[1], 1000, 0) <= 0)
        die("tee");
    write_all(out, text, n > 0 ? (size_t)n : 0);
}

static void read_lines(char *self, const char *way, const char *other) {
    if (is(way, "raw"))
        copy(0, SIZE_MAX, 16384);
    else if (is(way, "small"))
        copy(0, SIZE_MAX, 100);
    else if (is(way, "large"))
        copy(0, SIZE_MAX, SOME);
    else if (is(way, "stdio"))
        copy_stdio();
    else if (is(way, "check") || is(way, "check_stdio"))
        check(is(way, "check_stdio"));
    else if (is(way, "part"))
        copy(0, 100000, 4096);
    else if (is(way, "signals") || is(way, "restart"))
        read_with_signals(is(way, "restart"));
    else {
        copy(0, 500000, 4096);
        if (strncmp(way, "exec", 4) == 0)
            read_by_exec(way, self, other);
        else if (is(way, "fork"))
            read_in_child();
        else if (is(way, "dup")) {
            int fd = dup(0);
            copy(fd, 300000, 4096);
            close(fd);
        } else if (is(way, "dup2")) {
            dup2(0, 7);
            copy(7, 300000, 4096);
        } else if (is(way, "dup_fails")) {
            usleep(30000); /* wait until the ring is full */
            if (dup2(-1, 0) >= 0 || dup3(1, 0, O_APPEND) >= 0)
                die("dup");
        } else if (is(way, "moved")) {
            dup2(0, 7);
            close(0);
            copy(7, SIZE_MAX, 4096);
            return;
        } else if (is(way, "reopen")) {
            int fd = open("/dev/stdin", O_RDONLY);
            copy(fd, 300000, 4096);
            close(fd);
        } else if (is(way, "nonblock")) {
            fcntl(0, F_SETFL, O_NONBLOCK);
            copy(0, 300000, 4096);
        } else if (is(way, "vector")) {
            struct iovec v[2] = {{text, 100}, {text + 100, 1000}};
            ssize_t n = readv(0, v, 2);
            write_all(out, text, n > 0 ? (size_t)n : 0);
        } else if (is(way, "splice")) {
            if (splice(0, NULL, out, NULL, 300000, 0) < 0)
                die("splice");
        } else if (is(way, "slow")) {
            for (int i = 0; i < 20; i++) {
                usleep(3000);
                copy(0, 20000, 4096);
            }
        } else if (is(way, "aio") || is(way, "preadv2") || is(way, "tee")) {
            usleep(30000);
            read_pipe_itself(way);
        } else if (is(way, "full") || is(way, "limit") || is(way, "no_limit") || is(way, "shrink") ||
                   is(way, "root") || is(way, "user") || is(way, "unmount")) {
            copy(0, 300000, 4096);
            usleep(30000); /* wait until the ring is full */
            confine(way);
            read_with_poll("poll");
        } else if (is(way, "strict")) {
            allow_next_to_nothing();
            copy(0, SIZE_MAX, 4096);
            syscall(SYS_exit, 0);
        } else if (is(way, "poll") || is(way, "checked_poll") || is(way, "select") || is(way, "epoll") ||
                   is(way, "fionread"))
            read_with_poll(way);
        else
            die(way);
        copy(0, SIZE_MAX, 4096);
    }
}

/* Stops reading after at most one read, and waits. */
static void stay(const char *way, useconds_t milliseconds) {
    if (!is(way, "sleep") && read(0, text, 1000) < 0)
        die("read");
    if (is(way, "closes"))
        close(0);
    usleep(1000 * milliseconds);
    if (is(way, "killed") || is(way, "terminated"))
        kill(getpid(), is(way, "killed") ? SIGKILL : SIGTERM);
}

static void by_popen(const char *mode, const char *command, unsigned n) {
    FILE *f = popen(command, mode);
    static char line[64];
    if (!f)
        die("popen");
    if (mode[0] == 'r')
        while (fgets(line, sizeof line, f))
            write_all(out, line, strlen(line));
    for (unsigned i = 0; mode[0] == 'w' && i < n; i++)
        fprintf(f, "line %010u\n", i);
    if (pclose(f) != 0)
        die("pclose");
}

int main(int argc, char **argv) {
    static char self[4096];
    if (argc < 3 || readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        die("arguments");
    alarm(100);
    out = 1;
    if (is(argv[1], "popen_bare"))
        clearenv();
    if (strncmp(argv[1], "popen", 5) == 0)
        by_popen(argv[2], argv[3], (unsigned)strtoul(argv[4], NULL, 10));
    else if (is(argv[1], "stay"))
        stay(argv[2], argc > 3 ? (useconds_t)strtoul(argv[3], NULL, 10) : 0);
    else if (is(argv[1], "write"))
        write_lines(self, argv[2], argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0,
                    argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 0);
    else
        read_lines(self, argv[2], argc > 3 ? argv[3] : "self");
    return fflush(stdout) ? 2 : 0;
}
