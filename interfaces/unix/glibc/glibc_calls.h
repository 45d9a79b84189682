/* SPDX-License-Identifier: MIT
 *
 * glibc_calls.h - the names of calls.def that only glibc has: its headers, and the names that programs
 * compiled with _FORTIFY_SOURCE call, which no header declares.
 */
#ifndef ASF_INTERFACES_UNIX_GLIBC_CALLS_H
#define ASF_INTERFACES_UNIX_GLIBC_CALLS_H

#include <execinfo.h>
#include <poll.h>
#include <sys/pidfd.h>

void __chk_fail(void) __attribute__((noreturn));
ssize_t __read_chk(int, void *, size_t, size_t);
ssize_t __pread_chk(int, void *, size_t, off_t, size_t);
ssize_t __pread64_chk(int, void *, size_t, off64_t, size_t);
int __open_2(const char *, int);
int __openat_2(int, const char *, int);
int __open64_2(const char *, int);
int __openat64_2(int, const char *, int);
int __poll_chk(struct pollfd *, nfds_t, int, size_t);
int __ppoll_chk(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t);

#endif
