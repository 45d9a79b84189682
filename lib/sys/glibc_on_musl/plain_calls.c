/* SPDX-License-Identifier: MIT
 *
 * plain_calls.c - musl's functions by the names that glibc.h gives them.  libasf_unix defines the plain names
 * itself, and its interfaces/unix/musl/own_calls.c replaces these functions.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <unistd.h>

/* Defined under another C name: the headers declare libc's names, without hidden visibility. */
#define NAMED(type, name, parameters)                                                                        \
    __attribute__((weak, visibility("hidden"))) type own_##name parameters __asm__("asf__own_" #name);       \
    type own_##name parameters
#define OWN(type, name, parameters, arguments)                                                               \
    NAMED(type, name, parameters) {                                                                          \
        return name arguments;                                                                               \
    }

OWN(ssize_t, pread, (int fd, void *p, size_t n, off_t at), (fd, p, n, at))
OWN(int, sigaction, (int sig, const struct sigaction *act, struct sigaction *old), (sig, act, old))
OWN(ssize_t, read, (int fd, void *p, size_t n), (fd, p, n))
OWN(ssize_t, write, (int fd, const void *p, size_t n), (fd, p, n))

NAMED(int, open, (const char *path, int flags, ...)) {
    va_list ap;
    va_start(ap, flags);
    const mode_t mode = va_arg(ap, mode_t);
    va_end(ap);
    return open(path, flags, mode);
}
