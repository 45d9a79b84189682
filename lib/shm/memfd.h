/* SPDX-License-Identifier: MIT
 *
 * memfd.h - memory files without a name (memfd_create), which processes share by descriptor.
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

/* asf__memfd: create an empty memfd; /proc shows it as `name`.  Returns the descriptor or a negated errno
 * value. */
static inline int asf__memfd(const char *name) {
    return (int)asf__raw_syscall(SYS_memfd_create, (long)name, MFD_CLOEXEC | MFD_ALLOW_SEALING, 0, 0);
}

/* asf__memfd_seal: forbid every process to change the file's size. */
static inline int asf__memfd_seal(int fd) {
    return (int)asf__raw_syscall(SYS_fcntl, fd, F_ADD_SEALS, ASF_MEMFD_SEALS, 0);
}

/* asf__memfd_sealed: whether the descriptor is a memfd with these seals. */
static inline bool asf__memfd_sealed(int fd) {
    long seals = asf__raw_syscall(SYS_fcntl, fd, F_GET_SEALS, 0, 0);
    return seals >= 0 && (seals & ASF_MEMFD_SEALS) == ASF_MEMFD_SEALS;
}

/* asf__exceeds_file_limit: whether `size` exceeds RLIMIT_FSIZE.  Creating such a file would raise SIGXFSZ. */
static inline bool asf__exceeds_file_limit(size_t size) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && size > limit.rlim_cur;
}

#endif
