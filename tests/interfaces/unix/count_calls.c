/* SPDX-License-Identifier: MIT
 *
 * count_calls.c - whether each small read causes a system call: "count_calls WAY FILE N" reads some
 * thousand bytes, and fails if this takes more than N system calls. WAY is read, readv, pread, duplicate
 * (reads by a duplicate whose original is closed) or thread (another thread sleeps).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { BYTES = 10000 };

/* Returns the number of reads that this process has made. */
static long calls(int io) {
    const char *which = "syscr:";
    char text[512] = "";
    if (pread(io, text, sizeof text - 1, 0) <= 0 || !strstr(text, which))
        exit(2);
    return strtol(strstr(text, which) + 6, NULL, 10);
}

static void *sleep_on(void *unused) {
    pause();
    return unused;
}

static int open_for(const char *way, const char *path) {
    pthread_t other;
    int fd = open(path, O_RDONLY);
    if (strcmp(way, "duplicate") == 0) {
        dup2(fd, 50);
        close(fd);
        fd = fcntl(50, F_DUPFD_CLOEXEC, 60);
        close(50);
    }
    if (strcmp(way, "thread") == 0)
        pthread_create(&other, NULL, sleep_on, NULL);
    return fd;
}

static bool read_byte(const char *way, int fd, long at) {
    char byte = 0;
    struct iovec v = {&byte, 1};
    ssize_t r = strcmp(way, "readv") == 0   ? readv(fd, &v, 1)
                : strcmp(way, "pread") == 0 ? pread(fd, &byte, 1, at)
                                            : read(fd, &byte, 1);
    return r == 1 && byte == 'x';
}

int main(int argc, char **argv) {
    static char text[BYTES];
    int io = open("/proc/self/io", O_RDONLY);
    int fd = argc == 4 ? open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    memset(text, 'x', sizeof text);
    if (io < 0 || write(fd, text, sizeof text) != sizeof text)
        return 2;
    close(fd);
    const char *way = argv[1];
    fd = open_for(way, argv[2]);
    long before = calls(io);
    for (long i = 0; i < BYTES; i++)
        if (!read_byte(way, fd, i * 7 % BYTES))
            return 3;
    long n = calls(io) - before;
    close(fd);
    unlink(argv[2]);
    printf("%ld system calls\n", n);
    return n > strtol(argv[3], NULL, 10);
}
