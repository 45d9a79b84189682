/* SPDX-License-Identifier: MIT
 *
 * dir.h - directories: a directory as a stream of its entries in place, and a walk through a whole
 * tree by several threads.
 *
 * The bytes of the stream are the kernel's records, as getdents64(2) returns them: salloc allocates
 * them as any input, and struct asf_dir splits them into entries.  Errors are returned as everywhere
 * in the ASI: never through errno.
 *
 * The types of entries (DT_REG, DT_DIR and so on) are those of <dirent.h>.  In C programs that define
 * _GNU_SOURCE, <sys/stat.h> defines struct statx and the bits of a mask.
 */
#ifndef ASF_DIR_H
#define ASF_DIR_H

#include <asf/asf.h>
#include <dirent.h>

#ifdef __cplusplus
extern "C" {
#endif

struct statx;

/* --- one directory ------------------------------------------------------------------ */

/* asf_dir_sopen: open a directory as a stream.
 *   at     the descriptor of the directory that `path` is relative to, or AT_FDCWD
 *   error  where to put 0 or a negated errno value; may be NULL.  openat()'s, -ENOTDIR
 *          among them, and -ENOMEM
 * returns  the stream, or NULL.  Its descriptor (asf_fileno) is close-on-exec.
 * lifetime until sclose.
 * lock     none.
 * source   an extension; the paper names directories as a possible use of an interface. */
ASF_EXPORT struct asf_cios *asf_dir_sopen(int at, const char *path, int *error);
/* asf_dir_sopen_fd: the same for a descriptor that is open for reading.  The stream owns it from now
 * on and reads from its present offset; on an error the caller still owns it. */
ASF_EXPORT struct asf_cios *asf_dir_sopen_fd(int fd, int *error);

struct asf_entry {
    const char *name; /* ends with a null */
    size_t length;    /* bytes of the name */
    uint64_t inode;
    const struct statx *status; /* NULL: not asked for, or failed */
    int error;                  /* if it failed: a negated errno value, such as -ENOENT: the entry is gone */
    unsigned char type;         /* DT_REG and so on; DT_UNKNOWN: it could not be determined */
};

/* An iterator over the entries of a directory.  As with struct asf_lines of <asf/lines.h>, only the
 * library uses its members, and from asf_dir_begin to asf_dir_end no other call may use the stream. */
struct asf_dir {
    struct asf_entry entry;
    struct asf_cios *stream;
    char *region, *next, *end; /* the region held, or NULL; its remaining entries are from `next` to `end` */
    unsigned mask;
    int flags;
    uint64_t status[32]; /* a struct statx */
};

/* asf_dir_begin's flags.  ASF_DIR_DOTS: include "." and "..", which are omitted by default. */
enum { ASF_DIR_DOTS = 1 };

/* asf_dir_begin: iterate over the entries from the stream's offset on.
 *   stream  from asf_dir_sopen
 *   mask    the members that statx() sets for each entry, without following links: STATX_SIZE and
 *           so on; 0: none
 * lock, errors  none. */
ASF_EXPORT void asf_dir_begin(struct asf_dir *dir, struct asf_cios *stream, unsigned mask, int flags);

/* asf_dir_next: the next entry, in the order of the file system.
 *   length   out: bytes of the name
 * returns  the entry, whose name is in the kernel's record, not copied; NULL with *length == 0 at the
 *          end of the directory, or if the directory has been removed; NULL with *length < 0 on an
 *          error: that of getdents64(), -ENOMEM, -EBUSY: another call has used the
 *          stream, -EBADMSG: the stream's offset is not at an entry.
 * lock     taken when the region held has no further entry; else none.
 * lifetime until the next call with `dir`. */
ASF_EXPORT const struct asf_entry *asf_dir_next(struct asf_dir *dir, ssize_t *length);

/* asf_dir_rewind: begin again, with the directory's present entries, as rewinddir().
 * returns  0 or a negated errno value.
 * lock     taken. */
ASF_EXPORT int asf_dir_rewind(struct asf_dir *dir);

/* asf_dir_end: end the iteration.  The stream's offset is after the last entry that was returned.
 * returns  0, or -EBUSY: another call has used the stream, and the remaining entries of the region held
 *          are skipped.
 * lock     taken. */
ASF_EXPORT int asf_dir_end(struct asf_dir *dir);

/* --- a tree ----------------------------------------------------------------------------- */

/* The reason of a visit. */
enum asf_when {
    ASF_WALK_FOUND,  /* an entry was found; if it is a directory, its entries follow */
    ASF_WALK_FAILED, /* a directory visited before cannot be read to its end: entry.error */
    ASF_WALK_DONE,   /* everything below this directory has been visited (ASF_WALK_AFTER) */
};

struct asf_visit {
    struct asf_entry entry; /* for a followed link: its target, or the error of examining it */
    enum asf_when when;
    const char *path; /* asf_walk's path and the path from there to the entry, of any length */
    size_t path_length;
    int dirfd;       /* the entry's directory, for openat(); -errno: it could not be reopened */
    int depth;       /* 0: asf_walk's path; 1: an entry in it; and so on */
    unsigned thread; /* the calling thread: 0 (asf_walk's caller) to the number of threads - 1 */
    void **own;      /* for a directory: a pointer for the program's use, NULL at first */
    void *above;     /* the pointer that the program stored for the directory that contains this entry */
};

/* The result of a visit.  0: continue; ASF_WALK_PRUNE: do not enter the directory that was found; it
 * gets no ASF_WALK_DONE; a negative number: end the walk, and asf_walk returns the number. */
enum { ASF_WALK_PRUNE = 1 };

enum {
    ASF_WALK_FOLLOW = 1,  /* enter links to directories; -ELOOP for a link to a directory that contains it */
    ASF_WALK_ONE_FS = 2,  /* visit directories of other file systems, but do not enter them */
    ASF_WALK_AFTER = 4,   /* visit each directory once more, as ASF_WALK_DONE, after everything below it */
    ASF_WALK_THREADS = 64 /* most threads, even if more are asked for */
};

struct asf_walk_options {
    unsigned threads; /* 0: one for each processor that this thread may use; 1: only the caller */
    unsigned mask;    /* as asf_dir_begin's */
    int flags;        /* ASF_WALK_FOLLOW and so on */
};

/* asf_walk: visit `path` and, if it is a directory, everything below it, by several threads.
 *   at       as asf_dir_sopen's
 *   path     a link is followed only with ASF_WALK_FOLLOW or a "/" after it
 *   options  NULL: all 0
 *   visit    several threads call it at the same time.  Its argument is valid until it returns.  It must
 *            return: no exception, longjmp or end of the thread may leave it
 *   arg      passed to visit
 * returns  0; the result of a visit that ended the walk; -ENOMEM; or, if path itself cannot be examined,
 *          the error, such as -ENOENT: nothing is visited.  Directories that cannot be read
 *          are reported by ASF_WALK_FAILED, and the walk continues.  It also continues when the tree
 *          changes meanwhile: entries that are not moved or removed are visited once.  When it returns,
 *          all its threads have ended and its descriptors are closed.
 * order    a directory comes before its entries.  With one thread, all entries of a directory
 *          come before the entries of the first directory in it, whose whole tree comes before the second's.
 * limits   paths may be longer than PATH_MAX, and directories nested deeper than the limit of open
 *          files: the walk uses at most half of that limit, and at most 4096.
 * lock     none.  Not a cancellation point; the threads handle no signals.
 * source   an extension that replaces fts(3) and nftw(3). */
ASF_EXPORT int asf_walk(int at, const char *path, const struct asf_walk_options *options,
                        int (*visit)(const struct asf_visit *v, void *arg), void *arg);

#ifdef __cplusplus
}
#endif
#endif
