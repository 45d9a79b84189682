/* SPDX-License-Identifier: MIT
 *
 * ring.h - a ring in shared memory between two processes, as a stream at each
 * end: in place of a pipe, with nothing copied and, while neither end waits,
 * no system call.
 *
 * One process writes and one reads.  Regions of salloc are the ring itself: the
 * writer fills them, sfree completes them, and they are published when enough
 * has come together or sflush asks for it; the reader is handed the same bytes.
 * A writer whose ring is full waits for the reader.  When the writer closes, the
 * reader comes to the end of the file; a writer whose reader has closed or ended
 * is told by -EPIPE and SIGPIPE; a reader whose writer ended without closing (it
 * was killed, or forgot) gets what was published and then -EOWNERDEAD, so that
 * half of a stream is never taken for the whole.
 *
 * An end belongs to the process that opened it: the child of a fork cannot use
 * its parent's (-EBADF), but may open one that nobody has.  Who shares a ring
 * must be in one PID namespace.
 *
 * Whoever can write to a ring decides what is read from it and when it ends, but
 * harms no process beyond that.  An end answers -EIO, in sclose, too, when the ring was
 * truncated (bytes of a region that are gone read as zero) or its control block written
 * over, as far as it comes upon that; what happens while it waits, or the end of a
 * process that hides it, is noticed after 250 ms at most.
 *
 * Calls return a negated errno value on failure.
 */
#ifndef ASF_RING_H
#define ASF_RING_H

#include <asf/asf.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Room for a label, with its null byte. */
#define ASF_RING_LABEL 112

/* asf_ring_create: make a ring without a name, of mode 0600.
 *   size  bytes; rounded up to a power of two, from 8 KiB to 32 MiB.  0: 2 MiB:
 *         as much as one end moves while the other, asleep, is woken
 * returns  a descriptor, close-on-exec, for asf_ring_sopen_fd in this process
 *          or in one that it is given to (by fork, exec or a socket); -EINVAL
 *          (size), -EFBIG (over RLIMIT_FSIZE), -EMFILE, -ENOMEM and the like.
 * lifetime the ring goes with the last descriptor and the last end. */
ASF_EXPORT int asf_ring_create(size_t size);

/* asf_ring_create_named: make one with a label, in a segment (<asf/shm.h>).
 *   name, mode  as asf_shm_create's: 0600 keeps it to this user
 *   label       where to put the label, ASF_RING_LABEL bytes
 * returns  0; as asf_shm_create, negated.
 * lifetime until it is removed: asf_shm_remove, "asf shm rm". */
ASF_EXPORT int asf_ring_create_named(const char *name, mode_t mode, size_t size, char *label);

/* asf_ring_sopen_fd, asf_ring_sopen: take an end of a ring, by descriptor or by
 * label.  The descriptor stays the caller's and may be closed.
 *   flags  O_RDONLY or O_WRONLY
 *   error  where to put 0 or a negated errno value; may be NULL.  -EBUSY: that
 *          end has been taken before; -EINVAL: no ring, or other flags; for a
 *          label as asf_shm_open_update, negated; -ENOMEM, -ENOTSUP (the kernel or
 *          libc keep no robust list)
 * returns  the stream, for the ASI and, with libasf_stdio, for stdio
 *          (asf_file); or NULL.
 * lifetime until sclose or fclose. */
ASF_EXPORT struct asf_cios *asf_ring_sopen_fd(int fd, int flags, int *error);
ASF_EXPORT struct asf_cios *asf_ring_sopen(const char *label, int flags, int *error);

#ifdef __cplusplus
}
#endif
#endif
