/* SPDX-License-Identifier: MIT
 *
 * gathered_cases.c - small writes to files, and everything by which the process
 * itself, its children and those who come after it see what was written: with
 * write=coalesce the same is to be seen.
 * Layer: tests.
 */
#include "tests/interfaces/stdio/transcript.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

static char buffer[100000];

static void write_small(int fd, int n) {
    char line[40];
    for (int i = 0; i < n; i++)
        if (write(fd, line, (size_t)snprintf(line, sizeof line, "line %d of %d\n", i, n)) < 0)
            say("  line %d: %s", i, strerrorname_np(errno));
}

static int written(const char *path, int flags) {
    int fd = CALL(open(path, flags | O_CREAT, 0600));
    write_small(fd, 100);
    return fd;
}

static void note_size(int fd) {
    struct stat st;
    CALL(fstat(fd, &st));
    say("  size %ld", (long)st.st_size);
}

CASE(looked_at) {
    int fd = written("out", O_RDWR);
    note_size(fd);
    write_small(fd, 5);
    CALL(lseek(fd, 0, SEEK_CUR));
    write_small(fd, 5);
    CALL(pread(fd, buffer, 50, 100));
    write_small(fd, 5);
    CALL(lseek(fd, 20, SEEK_SET));
    write_small(fd, 2);
    CALL(read(fd, buffer, 40));
    say("%b", buffer, 40);
    write_small(fd, 5);
    CALL(ftruncate(fd, 500));
    write_small(fd, 2);
    CALL(fsync(fd));
    CALL(close(fd));
    note_file("out");
}

CASE(looked_at_by_another_descriptor) {
    int fd = written("out", O_WRONLY), r = open("out", O_RDONLY);
    CALL(read(r, buffer, sizeof buffer));
    for (int i = 0; i < 100; i++) {
        write_small(fd, 1);
        CALL(read(r, buffer, 7));
    }
    write_small(fd, 3);
    FILE *f = fopen("out", "r");
    int lines = 0;
    while (fgets(buffer, 100, f))
        lines++;
    say("%d lines", lines);
    write_small(fd, 3);
    char *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, r, 0);
    write_small(fd, 3);
    say("%d", (int)strlen(map));
}

CASE(written_by_two) {
    int a = written("out", O_WRONLY | O_APPEND), b = CALL(open("out", O_WRONLY | O_APPEND));
    for (int i = 0; i < 50; i++)
        write_small(i % 3 ? a : b, 2);
    int c = dup(a);
    for (int i = 0; i < 50; i++)
        write_small(i % 3 ? a : c, 2);
    FILE *f = fopen("out", "a");
    for (int i = 0; i < 50; i++) {
        write_small(a, 1);
        fprintf(f, "by a stream\n");
        if (i % 5 == 0)
            fflush(f);
    }
    fclose(f);
    struct iovec v = {buffer, 10};
    memset(buffer, 'v', 10);
    write_small(a, 1);
    CALL(writev(a, &v, 1));
    write_small(a, 1);
    CALL(pwrite(a, "w", 1, 0));
    write(a, buffer, 50000);
    write_small(a, 1);
    syscall(SYS_write, a, "raw\n", 4L);
    write_small(a, 1);
    close(a);
    note_file("out");
}

CASE(two_files) {
    int a = written("a", O_WRONLY), b = written("b", O_WRONLY);
    for (int i = 0; i < 3000; i++)
        write_small(i % 2 ? a : b, 2);
    CALL(close(a));
    CALL(open("c", O_WRONLY | O_CREAT, 0600));
    write_small(a, 10);
    note_file("c");
    CALL(dup2(b, a));
    write_small(a, 3);
    write_small(b, 3);
    int fds[20];
    for (int i = 0; i < 20; i++) {
        char name[20];
        snprintf(name, sizeof name, "file%d", i);
        fds[i] = open(name, O_WRONLY | O_CREAT, 0600);
    }
    for (int i = 0; i < 200; i++)
        write_small(fds[i * 7 % 20], 1);
}

CASE(children) {
    int fd = written("out", O_WRONLY | O_APPEND);
    CALL(system("wc -c <out"));
    write_small(fd, 3);
    pid_t pid = fork();
    if (pid == 0) {
        write_small(fd, 3);
        note_size(fd);
        write_small(fd, 3);
        _exit(0);
    }
    finish(pid);
    write_small(fd, 3);
    pid = vfork();
    if (pid == 0) {
        write(fd, "by the child\n", 13);
        _exit(0);
    }
    finish(pid);
    write_small(fd, 3);
    FILE *f = popen("cksum out >sum", "w");
    pclose(f);
    note_file("sum");
}

static void _ends_by_exit(void) {
    written("out", O_WRONLY);
    exit(0);
}
static void _ends_by__exit(void) {
    written("out", O_WRONLY);
    _exit(0);
}
static void _ends_by_exec(void) {
    written("out", O_WRONLY);
    execlp("wc", "wc", "-c", "out", NULL);
}
static void at_the_end(void) {
    written("out", O_WRONLY | O_APPEND);
}
static void _ends_late(void) {
    atexit(at_the_end);
}

CASE(endings) {
    static void (*const ways[])(void) = {_ends_by_exit, _ends_by__exit, _ends_by_exec, _ends_late};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        unlink("out");
        child(ways[i]);
        note_file("out");
    }
}

static int handler_fd;

static void write_one(int sig) {
    (void)sig;
    write(handler_fd, "by the handler\n", 15);
}

CASE(handlers) {
    handler_fd = written("out", O_WRONLY);
    signal(SIGUSR1, write_one);
    for (int i = 0; i < 50; i++) {
        write_small(handler_fd, 1);
        raise(SIGUSR1);
    }
    close(handler_fd);
    note_file("out");
}

static void *write_there(void *fd) {
    write_small((int)(intptr_t)fd, 20);
    return NULL;
}

CASE(a_thread) {
    int fd = written("out", O_WRONLY);
    pthread_t t;
    pthread_create(&t, NULL, write_there, (void *)(intptr_t)fd);
    pthread_join(t, NULL);
    write_small(fd, 3);
    note_file("out");
}

CASE(not_gathered) {
    int pipes[2];
    pipe(pipes);
    write_small(pipes[1], 3);
    CALL(read(pipes[0], buffer, 1000));
    int fd = CALL(open("/dev/full", O_WRONLY));
    write_small(fd, 2);
    fd = written("out", O_WRONLY | O_SYNC);
    note_file("out");
    fd = CALL(open("out", O_RDONLY));
    write_small(fd, 2);
    CALL(write(-1, "x", 1));
    CALL(write(77, "x", 1));
}

/* --- errors ------------------------------------------------------------------- */

static int failures;

static void count_failure(bool failed) {
    failures += failed;
}

/* More than the file may have; how much of it fails where is not the same. */
static int write_too_much(const char *path) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    failures = 0;
    for (int i = 0; i < 20; i++)
        count_failure(write(fd, buffer, 1000) < 1000);
    return fd;
}

CASE(errors_are_told_late_but_told) {
    struct rlimit most = {8192, 8192};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &most);
    count_failure(close(write_too_much("a")) < 0);
    say("close: told %d", failures > 0);
    int fd = write_too_much("b");
    count_failure(dup2(fd, 50) < 0);
    count_failure(close(50) < 0);
    count_failure(close(fd) < 0);
    say("dup2: told %d", failures > 0);
    fd = write_too_much("d");
    int twin = open("d", O_WRONLY);
    CALL(write(twin, "x", 1));
    count_failure(write(fd, "x", 1) < 0);
    say("another descriptor: told %d", failures > 0);
    close(fd); /* which may tell it, too */
    CALL(close(twin));
    fd = write_too_much("e");
    count_failure(fsync(fd) < 0);
    say("fsync: told %d", failures > 0);
    CALL(close(fd));
}
