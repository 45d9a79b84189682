/* SPDX-License-Identifier: MIT
 *
 * stat.h - statx(), which musl has from 1.2.4 on.
 */
#ifndef ASF_LIB_SYS_GLIBC_ON_MUSL_STAT_H
#define ASF_LIB_SYS_GLIBC_ON_MUSL_STAT_H

#include_next <sys/stat.h>

#ifndef STATX_BTIME
#include <linux/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline int statx(int fd, const char *path, int flags, unsigned mask, struct statx *st) {
    return (int)syscall(SYS_statx, fd, path, flags, mask, st);
}
#endif

#endif
