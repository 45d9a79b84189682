/* SPDX-License-Identifier: MIT
 *
 * lacking.h - glibc's calls that musl lacks, for the tests: by syscall(), or by another name.
 */
#ifndef ASF_TESTS_LACKING_H
#define ASF_TESTS_LACKING_H

#ifdef __GLIBC__
#include <execinfo.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/types.h>

ssize_t __read_chk(int fd, void *p, size_t n, size_t room);
ssize_t __pread_chk(int fd, void *p, size_t n, off_t at, size_t room);
pid_t __fork(void);
int __open_2(const char *path, int flags);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *signals,
                size_t room);
#else
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define CLOSE_RANGE_CLOEXEC                         (1U << 2)
#define close_range(first, last, flags)             ((int)syscall(SYS_close_range, first, last, flags))
#define closefrom(first)                            syscall(SYS_close_range, first, ~0U, 0)
#define execveat(at, path, arguments, names, flags) syscall(SYS_execveat, at, path, arguments, names, flags)
#define pidfd_open(pid, flags)                      ((int)syscall(SYS_pidfd_open, pid, flags))
#define pidfd_getfd(process, fd, flags)             ((int)syscall(SYS_pidfd_getfd, process, fd, flags))
#ifndef RWF_HIPRI /* musl before 1.2.5 */
#define preadv2(fd, v, n, at, flags)  syscall(SYS_preadv2, fd, v, n, (long)(at), 0L, flags)
#define pwritev2(fd, v, n, at, flags) syscall(SYS_pwritev2, fd, v, n, (long)(at), 0L, flags)
#endif
#define preadv64v2                                  preadv2
#define pwritev64v2                                 pwritev2
#define __read_chk(fd, p, n, room)                  read(fd, p, n)
#define __pread_chk(fd, p, n, at, room)             pread(fd, p, n, at)
#define __ppoll_chk(fds, n, timeout, signals, room) ppoll(fds, n, timeout, signals)
#define __fork                                      fork
#define __open_2(path, flags)                       open(path, flags)
#undef strerrorname_np
#define strerrorname_np strerror

void (*__sysv_signal(int sig, void (*handler)(int)))(int);
#define sysv_signal     __sysv_signal
#endif

#endif
