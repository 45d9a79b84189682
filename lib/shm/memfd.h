/* SPDX-License-Identifier: MIT
 *
 * memfd.h - memory without a name, shared by its descriptor.
 */
#ifndef ASF_LIB_MEMFD_H
#define ASF_LIB_MEMFD_H

#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "lib/sys/syscalls.h"

enum { ASF_MEMFD_SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL };

/* asf__memfd: an empty memfd, shown as `name` in /proc; or a negated errno value. */
static inline int asf__memfd(const char *name) {
    return (int)asf__raw_syscall(SYS_memfd_create, (long)name, MFD_CLOEXEC | MFD_ALLOW_SEALING, 0, 0);
}

/* asf__memfd_seal: forbid any process to change the size. */
static inline int asf__memfd_seal(int fd) {
    return (int)asf__raw_syscall(SYS_fcntl, fd, F_ADD_SEALS, ASF_MEMFD_SEALS, 0);
}

/* asf__memfd_sealed: whether a descriptor is a memfd with these seals. */
static inline bool asf__memfd_sealed(int fd) {
    long seals = asf__raw_syscall(SYS_fcntl, fd, F_GET_SEALS, 0, 0);
    return seals >= 0 && (seals & ASF_MEMFD_SEALS) == ASF_MEMFD_SEALS;
}

/* asf__exceeds_file_limit: whether a file of this size exceeds RLIMIT_FSIZE; making it would raise
 * SIGXFSZ. */
static inline bool asf__exceeds_file_limit(size_t size) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && size > limit.rlim_cur;
}

#endif
