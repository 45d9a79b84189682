/* SPDX-License-Identifier: MIT
 *
 * shm.h - whole arrays in shared memory, and the lock that processes share.
 *
 * The interface of Grosse, "How Shall We Connect Our Software Tools?": a writer makes a segment and
 * fills it; a reader gets the segment's label by another channel and attaches the segment.  The pointer
 * is to 128 bytes with the label, a line of text; the data follows at shm + ASF_SHM_HEAD.
 * <asf/shm_tools.h> offers the three calls under the note's names.
 *
 * A segment is like a temporary file: it outlives the process that made it, until it is removed
 * (asf_shm_remove, "asf shm rm") or the system stops.  Calls that return a pointer, and asf_shm_close,
 * return NULL or -1 and set errno; all others return a negated errno value.  asf_shm_why describes the
 * error in words.
 *
 * Thread safety: every call may be made from any thread.
 */
#ifndef ASF_SHM_H
#define ASF_SHM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <asf/asf.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes before the data.  They begin with the label: "IDENTIFIER NAME\n" and a null byte. */
#define ASF_SHM_HEAD 128

/* A name is cut after this many bytes. */
#define ASF_SHM_NAME 80

/* --- segments -------------------------------------------------------------- */

/* asf_shm_create: make a segment and attach it for reading and writing.
 *   name    words that describe the segment to users; not empty, no control
 *           characters, no blank at either end.  It need not be unique.
 *   mode    permissions, as for a new file; the umask applies
 *   nbytes  bytes of data, which are zero at first; 0 is allowed
 * returns  the head; NULL and errno: EINVAL (name), EOVERFLOW (nbytes), EFBIG
 *          (over SHMMAX or RLIMIT_FSIZE), ENOSPC (no room: nothing is made),
 *          ENOMEM (no memory, or the segment cannot be guarded against truncation: a thread that
 *          blocks SIGBUS, or a program that handles it, cannot attach a posix segment) and the like.
 * lifetime of the pointer: until asf_shm_close or the end of the process; of
 *          the segment: until it is removed.
 * source   Grosse's shm_create. */
ASF_EXPORT char *asf_shm_create(const char *name, mode_t mode, size_t nbytes);

/* asf_shm_create_on: the same, on a named backend (NULL: as asf_shm_create; EINVAL: an unknown name):
 *   posix  an object in /dev/shm, the faster to read
 *   sysv   one of shmget's
 *   memfd  sealed memory without a name in any file system, for processes that
 *          run at the same time: it is freed however they end, and
 *          nobody can truncate it under a reader
 * asf_shm_create uses posix, or the backend named by ASF_OPTIONS=shm=posix or shm=sysv.
 *
 * A memfd exists as long as a process has a descriptor for it or has it attached.  The label names the
 * creator's descriptor, which asf_shm_close leaves open until the creator calls asf_shm_remove or ends.
 * A process that needs the segment for longer must take it before then: it gets a descriptor of
 * asf_shm_fd over a socket or by inheritance, and calls asf_shm_open_fd.  A label finds the segment as long
 * as a process that the reader may inspect has a descriptor: usually a process of the same user. */
ASF_EXPORT char *asf_shm_create_on(const char *backend, const char *name, mode_t mode, size_t nbytes);

/* asf_shm_open: attach a segment for reading.
 *   label  the label in its head, with or without the newline
 * returns  the head; NULL and errno: EINVAL (not a label of asf's), ENOENT (no
 *          such segment), EACCES, ELOOP (a symbolic link in its place), ESTALE
 *          (the segment found does not match the label or is not complete: stale,
 *          forged, truncated or foreign), ENOMEM (no memory, or the segment cannot be guarded
 *          against truncation).
 * lifetime as asf_shm_create's; a segment that is removed or truncated
 *          meanwhile stays attached (missing bytes read as zero).
 * source   Grosse's shm_open. */
ASF_EXPORT char *asf_shm_open(const char *label);

/* asf_shm_open_update: the same, for reading and writing. */
ASF_EXPORT char *asf_shm_open_update(const char *label);

/* asf_shm_open_fd: attach the segment of a descriptor (asf_shm_fd).  The caller still owns the
 * descriptor and may close it.  Label and size are verified; a memfd must be sealed.
 *   flags  O_RDONLY or O_RDWR, as the descriptor permits
 * returns  the head, with its label; NULL and errno: EBADF, ESPIPE, EINVAL (other
 *          flags), ESTALE, EACCES as asf_shm_open. */
ASF_EXPORT char *asf_shm_open_fd(int fd, int flags);

/* asf_shm_close: detach a segment, which continues to exist.
 * returns  0; -1 and errno: EINVAL (no such segment is attached), EIO (it is
 *          detached, but was truncated while attached: by a page or more,
 *          and a missing byte was used, or is missing now).
 * source   Grosse's shm_close. */
ASF_EXPORT int asf_shm_close(char *shm);

/* asf_shm_size: bytes of data of an attached segment; 0 if shm is not one. */
ASF_EXPORT size_t asf_shm_size(const char *shm);

/* asf_shm_fd: open a descriptor for a segment, close-on-exec, its offset at the first byte of the
 * data, for read(), write(), sendfile() and the like.
 *   flags  O_RDONLY or O_RDWR
 * returns  the descriptor, which the caller closes; -EINVAL for other flags;
 *          -EOPNOTSUPP for a segment of SysV, which has none; otherwise as
 *          asf_shm_open, negated. */
ASF_EXPORT int asf_shm_fd(const char *label, int flags);

/* asf_shm_sopen: open a segment as a stream for the ASI and, with libasf_stdio, for stdio (asf_file).
 * The regions are the segment's memory.
 *   flags  O_RDONLY, O_WRONLY or O_RDWR.  Output starts at the first byte of
 *          the data and ends with -ENOSPC at the last.
 *   error  where to put 0 or a negated errno value, as asf_shm_open's; may be
 *          NULL
 * returns  the stream, or NULL.
 * lifetime until sclose or fclose, which return -EIO (EIO) when the segment was
 *          truncated meanwhile. */
ASF_EXPORT struct asf_cios *asf_shm_sopen(const char *label, int flags, int *error);

/* asf_shm_why: the reason for the last failure of this header's calls in this thread, in plain words.
 * Never NULL; valid until the process ends. */
ASF_EXPORT const char *asf_shm_why(void);

/* --- existing segments ------------------------------------------------------- */

enum asf_shm_state {
    ASF_SHM_WHOLE,      /* label and size are right */
    ASF_SHM_UNFINISHED, /* its creator ended before it was labelled */
    ASF_SHM_UNREADABLE, /* this user may not read it */
    ASF_SHM_BROKEN,     /* truncated, forged, or not a segment */
};

struct asf_shm_info {
    const char *label;   /* only the identifier unless ASF_SHM_WHOLE */
    const char *backend; /* "posix", "sysv", "memfd" */
    enum asf_shm_state state;
    uid_t owner;
    mode_t mode;
    uint64_t size;             /* bytes of data; all bytes unless ASF_SHM_WHOLE */
    int64_t created, accessed; /* seconds since 1970; 0: never, or unknown */
    int64_t attached;          /* processes (sysv: attachments) that this user can see */
    pid_t creator;
    int leaked; /* no process has it attached, and its creator has ended; memfd: never */
};

/* asf_shm_each: call a function for each of asf's segments on the system.
 *   visit  called with each; a result other than 0 ends the iteration
 * returns  that result; 0; or a negated errno value: -ENOMEM, -EMFILE and others when not all
 *          segments, or not all their users, can be found.
 * lifetime of the info: until visit returns. */
ASF_EXPORT int asf_shm_each(int (*visit)(const struct asf_shm_info *info, void *arg), void *arg);

/* asf_shm_remove: remove a segment.  Processes that have it attached keep it.
 *   label  as asf_shm_each gives it: the whole label, checked against the
 *          segment, or only the identifier if the segment is not ASF_SHM_WHOLE
 * returns  0; -ENOENT, -ESTALE, -EINVAL as asf_shm_open; -EPERM or -EACCES when
 *          another user owns it; -EBUSY: a memfd of another process, which only its creator can
 *          remove. */
ASF_EXPORT int asf_shm_remove(const char *label);

/* --- arrays in streams ---------------------------------------------------------- */

/* A field of a text file, "coeff 0 1 2 3", may also be "coeff shmids LABEL": the rest of the line is
 * the label of a segment with the doubles. */

/* asf_shm_read_doubles: read the next array of a text stream, in either form; the field's name must
 * have been read.
 *   count  in: elements wanted, or 0 for all up to the next
 *          word that begins with a letter, '_' or '#' and is not a number; this word
 *          stays in the stream.  out: elements read.
 * returns  the array, in memory or in the segment, where it cannot be written;
 *          NULL and errno: ENODATA (fewer than wanted), EBADMSG (another word that
 *          is not a number; a segment whose size is not a multiple of 8), ERANGE (a
 *          number too large for a double), asf_shm_open's for a label, ENOMEM,
 *          ENOBUFS (a long word after the array cannot be put back: musl's ungetc on
 *          a stream that cannot seek), the stream's errors.
 * lifetime until asf_shm_free_doubles. */
ASF_EXPORT const double *asf_shm_read_doubles(FILE *stream, size_t *count);

/* asf_shm_free_doubles: free an array from asf_shm_read_doubles.
 * returns  0, or asf_shm_close's errno value, negated. */
ASF_EXPORT int asf_shm_free_doubles(const double *array);

/* asf_shm_write_doubles: write an array to a text stream, and a newline.
 *   name  NULL: as numbers, in lines; each is the shortest that is read back exactly.
 *         Otherwise as "shmids LABEL": of the segment whose data the array is,
 *         or else of a new segment of this name with
 *         mode 0600.  For other users make the segment with asf_shm_create.
 * returns  0; a negated errno value. */
ASF_EXPORT int asf_shm_write_doubles(FILE *stream, const double *array, size_t count, const char *name);

/* --- the lock --------------------------------------------------------------------- */

/* The unsequenced lock of the DG/UX brief on a futex, for memory that processes share.  One word contains
 * the holder's id and a bit for contention; obtaining and releasing it uncontended makes
 * no system call.  The lock is not recursive and not fair.  If a holder ends, even if it is
 * killed, the next holder gets -EOWNERDEAD.
 *
 * A zeroed lock is free.  A lock must be released before its memory is detached, and the child of a
 * vfork() must not use it.  The processes that share it must be in one PID namespace.  A process that
 * can write to the lock can make others wait or continue, and can hide the end of a holder
 * from them.  Under musl a thread that ends while it holds the lock follows the
 * lock's links; there, such a process must be trusted. */
struct asf_shm_lock {
    uint32_t word; /* the holder's thread id; the top bit: contended */
    uint32_t reserved[5];
    void *links[2];
};

/* asf_shm_lock_init: initialise a lock that no thread holds.
 * returns  0; -ENOTSUP: the kernel or libc keeps no robust list. */
ASF_EXPORT int asf_shm_lock_init(struct asf_shm_lock *lock);

/* asf_shm_obtain, asf_shm_obtain_no_wait: take the lock.
 * returns  0; -EOWNERDEAD: taken, but the last holder has ended while it held the lock, so the data
 *          guarded by it may be inconsistent; -EDEADLK: this thread holds it;
 *          -EBUSY: another thread holds it (no_wait); -ENOTSUP as asf_shm_lock_init;
 *          -ENOMEM: no memory for the list of this thread's locks. */
ASF_EXPORT int asf_shm_obtain(struct asf_shm_lock *lock);
ASF_EXPORT int asf_shm_obtain_no_wait(struct asf_shm_lock *lock);

/* asf_shm_release: release the lock.
 * returns  0; -EPERM: this thread does not hold it; -ENOTSUP as asf_shm_lock_init. */
ASF_EXPORT int asf_shm_release(struct asf_shm_lock *lock);

#ifdef __cplusplus
}
#endif
#endif
