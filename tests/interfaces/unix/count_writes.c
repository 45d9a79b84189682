/* SPDX-License-Identifier: MIT
 *
 * count_writes.c - whether small writes reach the kernel one by one: "count_writes
 * FILE N" writes 1000 bytes and fails when that took more than N system calls.
 * Layer: tests.  Uses the system's headers only.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long writes(int fd) {
    char text[512] = "";
    if (pread(fd, text, sizeof text - 1, 0) <= 0 || !strstr(text, "syscw:"))
        return -1;
    return strtol(strstr(text, "syscw:") + 6, NULL, 10);
}

int main(int argc, char **argv) {
    int io = open("/proc/self/io", O_RDONLY);
    int fd = argc == 3 ? open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    if (fd < 0 || io < 0)
        return 2;
    long before = writes(io);
    for (int i = 0; i < 1000; i++)
        if (write(fd, "x", 1) != 1)
            return 3;
    long n = writes(io) - before;
    close(fd);
    unlink(argv[1]);
    printf("%ld system calls\n", n);
    return n > strtol(argv[2], NULL, 10);
}
