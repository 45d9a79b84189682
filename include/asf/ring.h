/* SPDX-License-Identifier: MIT
 *
 * ring.h - a ring in shared memory between two processes, with a stream at each end: it replaces a
 * pipe, copies nothing and, while neither end waits, makes no system call.
 *
 * One process writes and one reads.  Regions of salloc are in the ring itself: the writer fills them
 * and sfree completes them.  They are published when enough bytes are complete or by sflush; the
 * reader gets the same bytes.  A writer waits while the ring is full.  When the writer closes, the
 * reader gets the end of the file.  When the reader has closed or ended, the writer gets -EPIPE and
 * SIGPIPE.  When the writer has ended without closing (it was killed, or forgot), the reader gets the
 * published bytes and then -EOWNERDEAD.  So the reader never takes an incomplete stream for a
 * complete one.
 *
 * An end belongs to the process that opened it: the child of a fork cannot use its parent's end
 * (-EBADF), but may open an end that nobody has opened.  Processes that share a ring must be in one
 * PID namespace.
 *
 * A process that can write to a ring decides which bytes are read from it and when it ends, but cannot
 * harm another process otherwise.  An end returns -EIO, also from sclose, when it notices that the
 * ring was truncated or its control block overwritten.  Missing bytes of a region read as zero.  While
 * it waits, it notices these events within 250 ms, and also the end of a process that hides its end.
 *
 * Calls return a negated errno value on failure.
 */
#ifndef ASF_RING_H
#define ASF_RING_H

#include <asf/asf.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of a label, with its null byte. */
#define ASF_RING_LABEL 112

/* asf_ring_create: make a ring without a name, of mode 0600.
 *   size  bytes, rounded up to a power of two, from 8 KiB to 32 MiB.  0: 2 MiB,
 *         as much as one end moves while the other is woken from sleep
 * returns  a descriptor, close-on-exec, for asf_ring_sopen_fd in this process
 *          or in one that receives it (by fork, exec or a socket); -EINVAL
 *          (size), -EFBIG (over RLIMIT_FSIZE), -EMFILE, -ENOMEM and the like.
 * lifetime until the last descriptor and the last end are closed. */
ASF_EXPORT int asf_ring_create(size_t size);

/* asf_ring_create_named: make a ring with a label, in a segment (<asf/shm.h>).
 *   name, mode  as asf_shm_create's; mode 0600 restricts it to this user
 *   label       where to put the label, ASF_RING_LABEL bytes
 * returns  0; as asf_shm_create, negated.
 * lifetime until it is removed: asf_shm_remove, "asf shm rm". */
ASF_EXPORT int asf_ring_create_named(const char *name, mode_t mode, size_t size, char *label);

/* asf_ring_sopen_fd, asf_ring_sopen: take an end of a ring, by descriptor or by label.  The caller
 * still owns the descriptor and may close it.
 *   flags  O_RDONLY or O_WRONLY
 *   error  where to put 0 or a negated errno value; may be NULL.  -EBUSY: that
 *          end was taken before; -EINVAL: the descriptor is not a ring's, or `flags` has another value;
 *          for a label, also the errors of asf_shm_open_update, negated; -ENOMEM;
 *          -ENOTSUP (the kernel or libc keeps no robust list)
 * returns  the stream, for the ASI and, with libasf_stdio, for stdio
 *          (asf_file); or NULL.
 * lifetime until sclose or fclose. */
ASF_EXPORT struct asf_cios *asf_ring_sopen_fd(int fd, int flags, int *error);
ASF_EXPORT struct asf_cios *asf_ring_sopen(const char *label, int flags, int *error);

#ifdef __cplusplus
}
#endif
#endif
