/* SPDX-License-Identifier: MIT
 *
 * shm.h - whole arrays in shared memory, and the lock that processes share.
 *
 * The interface of Grosse, "How Shall We Connect Our Software Tools?": a
 * writer makes a segment and fills it; a reader is given the segment's label
 * by some other channel and attaches it.  The pointer is to 128 bytes that
 * hold the label, a line of text, and the data follows: it starts at
 * shm + ASF_SHM_HEAD.  <asf/shm_tools.h> spells the three calls as the note
 * does.
 *
 * A segment is like a temporary file: it outlives the process that made it,
 * and goes when it is removed (asf_shm_remove, "asf shm rm") or the system
 * stops.  Calls that return a pointer give NULL and set errno, as does
 * asf_shm_close; all others return a negated errno value.  asf_shm_why tells
 * the rest in words.
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

/* Bytes before the data.  They begin with the label: "IDENTIFIER NAME\n" and a
 * null byte. */
#define ASF_SHM_HEAD 128

/* A name is cut after this many bytes. */
#define ASF_SHM_NAME 80

/* --- segments -------------------------------------------------------------- */

/* asf_shm_create: make a segment and attach it, to read and to write.
 *   name    words that tell people what it is; not empty, no control
 *           characters, no blank at either end.  It need not be unique.
 *   mode    who may attach it, as for a file that is made; the umask counts
 *   nbytes  bytes of data, which are zero at first; 0 is allowed
 * returns  the head; NULL and errno: EINVAL (name), EOVERFLOW (nbytes), EFBIG
 *          (over SHMMAX or RLIMIT_FSIZE), ENOSPC (no room: nothing is made),
 *          ENOMEM (or it cannot be guarded against truncation: a thread that blocks
 *          SIGBUS, and a program that handles it, attach no segment of posix) and the like.
 * lifetime of the pointer: until asf_shm_close or the end of the process; of
 *          the segment: until it is removed.
 * source   Grosse's shm_create. */
ASF_EXPORT char *asf_shm_create(const char *name, mode_t mode, size_t nbytes);

/* asf_shm_create_on: the same, on a backend by name (NULL: as asf_shm_create;
 * EINVAL for one that there is not):
 *   posix  an object in /dev/shm, the faster to read
 *   sysv   one of shmget's
 *   memfd  a sealed one without a name in any file system, for processes that
 *          run at the same time: nothing is left behind however they end, and
 *          nobody can truncate it under a reader
 * asf_shm_create takes the one of the first two that ASF_OPTIONS=shm=... names,
 * otherwise posix.
 *
 * A memfd lives as long as a process has a descriptor on it or has it attached.
 * Its creator has one, which the label names and asf_shm_close leaves open:
 * until asf_shm_remove there, or the end of that process.  To outlive it the
 * segment must be handed over by then: by asf_shm_fd, and the descriptor sent
 * over a socket or inherited, for asf_shm_open_fd.  Labels lead to it as long as
 * there is a descriptor in a process that the reader may look into: as a rule
 * one of the same user. */
ASF_EXPORT char *asf_shm_create_on(const char *backend, const char *name, mode_t mode, size_t nbytes);

/* asf_shm_open: attach a segment to read it.
 *   label  what its head holds, with or without the newline
 * returns  the head; NULL and errno: EINVAL (no label of ours), ENOENT (no
 *          such segment), EACCES, ELOOP (a symbolic link in its place), ESTALE
 *          (what is there is not what the label names, or not whole: stale,
 *          forged, truncated or foreign), ENOMEM (no memory, or no way to guard it
 *          against truncation).
 * lifetime as asf_shm_create's; a segment that is removed or truncated
 *          meanwhile stays attached (bytes that are gone read as zero).
 * source   Grosse's shm_open. */
ASF_EXPORT char *asf_shm_open(const char *label);

/* asf_shm_open_update: the same, to read and to write. */
ASF_EXPORT char *asf_shm_open_update(const char *label);

/* asf_shm_open_fd: attach the segment that a descriptor is on (asf_shm_fd), which
 * stays the caller's and may be closed.  Its label and size are verified; one of
 * memfd must be sealed.
 *   flags  O_RDONLY or O_RDWR, as far as the descriptor can be used so
 * returns  the head, with its label; NULL and errno: EBADF, ESPIPE, EINVAL (other
 *          flags), ESTALE, EACCES as asf_shm_open. */
ASF_EXPORT char *asf_shm_open_fd(int fd, int flags);

/* asf_shm_close: detach a segment; the segment stays.
 * returns  0; -1 and errno: EINVAL (no segment that is attached), EIO (it is
 *          detached, but was truncated while it was attached: by a page or more,
 *          if it still was truncated when a byte there was used, or is now).
 * source   Grosse's shm_close. */
ASF_EXPORT int asf_shm_close(char *shm);

/* asf_shm_size: bytes of data of an attached segment; 0 if it is none. */
ASF_EXPORT size_t asf_shm_size(const char *shm);

/* asf_shm_fd: a descriptor on a segment, close-on-exec and standing at the
 * first byte of the data, for read(), write(), sendfile() and the like.
 *   flags  O_RDONLY or O_RDWR
 * returns  the descriptor, which the caller closes; -EINVAL for other flags;
 *          -EOPNOTSUPP for a segment of SysV, which has none; otherwise as
 *          asf_shm_open, negated. */
ASF_EXPORT int asf_shm_fd(const char *label, int flags);

/* asf_shm_sopen: open a segment as a stream for the ASI and, with
 * libasf_stdio, for stdio (asf_file).  The regions are the segment itself.
 *   flags  O_RDONLY, O_WRONLY or O_RDWR.  Output starts at the first byte of
 *          the data and ends with -ENOSPC at the last.
 *   error  where to put 0 or a negated errno value, as asf_shm_open's; may be
 *          NULL
 * returns  the stream, or NULL.
 * lifetime until sclose or fclose, which answer -EIO (EIO) when the segment was
 *          truncated meanwhile. */
ASF_EXPORT struct asf_cios *asf_shm_sopen(const char *label, int flags, int *error);

/* asf_shm_why: what the last failure of a call of this header in this thread
 * was about, in plain words.  Never NULL; valid for ever. */
ASF_EXPORT const char *asf_shm_why(void);

/* --- which there are --------------------------------------------------------- */

enum asf_shm_state {
    ASF_SHM_WHOLE,      /* label and size are right */
    ASF_SHM_UNFINISHED, /* its creator ended before it was labelled */
    ASF_SHM_UNREADABLE, /* this user may not read it */
    ASF_SHM_BROKEN,     /* truncated, forged, or no segment at all */
};

struct asf_shm_info {
    const char *label;   /* the identifier alone unless ASF_SHM_WHOLE */
    const char *backend; /* "posix", "sysv", "memfd" */
    enum asf_shm_state state;
    uid_t owner;
    mode_t mode;
    uint64_t size;             /* bytes of data; of all unless ASF_SHM_WHOLE */
    int64_t created, accessed; /* seconds since 1970; 0: never, or not known */
    int64_t attached;          /* processes (sysv: attachments) that this user can see */
    pid_t creator;
    int leaked; /* nobody is attached, and the creator has ended; of memfd: never */
};

/* asf_shm_each: tell of every segment of asf's on the system.
 *   visit  called with each; a result other than 0 ends it
 * returns  that result, or 0, or a negated errno value: -ENOMEM, -EMFILE and others when they
 *          cannot all be found, or not who has them attached.
 * lifetime of the info: until visit returns. */
ASF_EXPORT int asf_shm_each(int (*visit)(const struct asf_shm_info *info, void *arg), void *arg);

/* asf_shm_remove: remove a segment.  Who is attached stays so.
 *   label  as asf_shm_each tells it: the whole label, checked against the
 *          segment, or the identifier alone of one that is not whole
 * returns  0; -ENOENT, -ESTALE, -EINVAL as asf_shm_open; -EPERM or -EACCES when
 *          it is another user's; -EBUSY: one of memfd, which only the process that
 *          made it can let go of. */
ASF_EXPORT int asf_shm_remove(const char *label);

/* --- arrays in streams ---------------------------------------------------------- */

/* A field of a text file, "coeff 0 1 2 3", may instead be "coeff shmids LABEL",
 * the rest of the line being the label of a segment that holds the doubles. */

/* asf_shm_read_doubles: the array that comes next in a text stream, given
 * either way; what names the field has been read before.
 *   count  in: how many are wanted, or 0 for all there are: up to the next
 *          word that begins with a letter, '_' or '#' and is no number, which is
 *          left in the stream.  out: how many there are.
 * returns  the array, in memory or in the segment, where it cannot be written;
 *          NULL and errno: ENODATA (fewer than wanted), EBADMSG (another word that
 *          is no number; a segment whose size is no multiple of 8), ERANGE (a
 *          number too large for a double), asf_shm_open's for a label, ENOMEM,
 *          ENOBUFS (a long word after the array cannot be put back: musl's ungetc on
 *          what cannot seek), what the stream fails with.
 * lifetime until asf_shm_free_doubles. */
ASF_EXPORT const double *asf_shm_read_doubles(FILE *stream, size_t *count);

/* asf_shm_free_doubles: give such an array back.
 * returns  0 or what asf_shm_close fails with, negated. */
ASF_EXPORT int asf_shm_free_doubles(const double *array);

/* asf_shm_write_doubles: the same array into a text stream, and a newline.
 *   name  NULL: as numbers, the shortest that are read back exactly, in lines.
 *         Otherwise as "shmids LABEL": of the segment whose data the array is,
 *         if it is that of one, otherwise of a new segment of this name with
 *         mode 0600.  Others get at one that asf_shm_create makes for them.
 * returns  0; a negated errno value. */
ASF_EXPORT int asf_shm_write_doubles(FILE *stream, const double *array, size_t count, const char *name);

/* --- the lock --------------------------------------------------------------------- */

/* The unsequenced lock of the DG/UX brief on a futex, for memory that processes
 * share: one word says who holds it and whether it is contended; obtaining and
 * releasing it uncontended makes no system call.  It is not recursive and not
 * fair.  When its holder ends, killed or not, the next one is told.
 *
 * A zeroed lock is free.  It must be released before its memory is detached,
 * and not be used by the child of a vfork().  Who shares it must be in one PID
 * namespace.  Whoever can write to it can let others wait or go on as he likes, and
 * keep the end of a thread that holds it, or others, from being told; under musl,
 * whose threads follow its links when they end while they hold it, he must be
 * trusted. */
struct asf_shm_lock {
    uint32_t word; /* the holder's thread id; the top bit: contended */
    uint32_t reserved[5];
    void *links[2];
};

/* asf_shm_lock_init: make a lock free.
 * returns  0; -ENOTSUP where the kernel or libc keep no robust list. */
ASF_EXPORT int asf_shm_lock_init(struct asf_shm_lock *lock);

/* asf_shm_obtain, asf_shm_obtain_no_wait: take the lock.
 * returns  0; -EOWNERDEAD: taken, but who held it has ended, so that what it
 *          guards may be in a half-way state; -EDEADLK: this thread holds it;
 *          -EBUSY: held by another (no_wait); -ENOTSUP as asf_shm_lock_init;
 *          -ENOMEM: for the list of what this thread holds. */
ASF_EXPORT int asf_shm_obtain(struct asf_shm_lock *lock);
ASF_EXPORT int asf_shm_obtain_no_wait(struct asf_shm_lock *lock);

/* asf_shm_release: give the lock back.
 * returns  0; -EPERM: this thread does not hold it; -ENOTSUP as asf_shm_lock_init. */
ASF_EXPORT int asf_shm_release(struct asf_shm_lock *lock);

#ifdef __cplusplus
}
#endif
#endif
