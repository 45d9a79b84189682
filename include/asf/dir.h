/* SPDX-License-Identifier: MIT
 *
 * dir.h - directories: one as a stream of its entries in place, and a walk through a
 * whole tree by several threads.
 *
 * The bytes of the stream are the kernel's records, as getdents64(2) gives them: salloc
 * allocates them as it does any input, and struct asf_dir parts them.  Errors are told as
 * everywhere in the ASI: never through errno.
 *
 * The types of entries (DT_REG, DT_DIR and so on) are those of <dirent.h>.  What a struct statx
 * is, and the bits of a mask, <sys/stat.h> says to C programs that define _GNU_SOURCE.
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
 * returns  the stream, or NULL.  Its descriptor, which asf_fileno tells, is closed by exec.
 * lifetime until sclose.
 * lock     none.
 * source   an extension; the paper names directories as what an interface may be for. */
ASF_EXPORT struct asf_cios *asf_dir_sopen(int at, const char *path, int *error);
/* asf_dir_sopen_fd: the same on a descriptor, open for reading.  The stream owns it from now on,
 * and reads on from where it stands; on an error it is still the caller's. */
ASF_EXPORT struct asf_cios *asf_dir_sopen_fd(int fd, int *error);

struct asf_entry {
    const char *name; /* ends with a null */
    size_t length;    /* of the name */
    uint64_t inode;
    const struct statx *status; /* NULL if none was asked for, or it could not be had; */
    int error;                  /* then why: a negated errno value, such as -ENOENT of one that is gone */
    unsigned char type;         /* DT_REG and so on; DT_UNKNOWN: it could not be found out */
};

/* An iterator over the entries of a directory.  As with struct asf_lines of <asf/lines.h>, its members
 * are the library's, and from asf_dir_begin to asf_dir_end no other call may use the stream. */
struct asf_dir {
    struct asf_entry entry;
    struct asf_cios *stream;
    char *region, *next, *end; /* what is held of the stream, or NULL; what is still to come of it */
    unsigned mask;
    int flags;
    uint64_t status[32]; /* a struct statx */
};

/* asf_dir_begin's flags.  ASF_DIR_DOTS: "." and "..", too, which are left out by default. */
enum { ASF_DIR_DOTS = 1 };

/* asf_dir_begin: iterate over the entries from where the stream stands.
 *   stream  asf_dir_sopen's
 *   mask    what to find out about each entry by statx(), which follows no link: STATX_SIZE and
 *           so on; 0: nothing
 * lock, errors  none. */
ASF_EXPORT void asf_dir_begin(struct asf_dir *dir, struct asf_cios *stream, unsigned mask, int flags);

/* asf_dir_next: the next entry, in the order of the file system.
 *   length   out: of the name
 * returns  the entry, whose name lies where the kernel has put it; NULL with *length == 0 at the
 *          end of the directory, also of one that has been removed; NULL with *length < 0 on an
 *          error: that of getdents64(), -ENOMEM, -EBUSY when another call has used the
 *          stream, -EBADMSG when it does not stand at an entry.
 * lock     taken when what is held has no further entry; else none.
 * lifetime until the next call with `dir`. */
ASF_EXPORT const struct asf_entry *asf_dir_next(struct asf_dir *dir, ssize_t *length);

/* asf_dir_rewind: begin again, with what is in the directory now, as rewinddir().
 * returns  0 or a negated errno value.
 * lock     taken. */
ASF_EXPORT int asf_dir_rewind(struct asf_dir *dir);

/* asf_dir_end: give back what is held.  The stream stands after the last entry that was returned.
 * returns  0, or -EBUSY when another call has used the stream: then what was held is passed over.
 * lock     taken. */
ASF_EXPORT int asf_dir_end(struct asf_dir *dir);

/* --- a tree ----------------------------------------------------------------------------- */

/* Why asf_walk calls the program. */
enum asf_when {
    ASF_WALK_FOUND,  /* here is an entry; a directory is gone into afterwards */
    ASF_WALK_FAILED, /* this directory, which was found, cannot be read, or not to its end: entry.error */
    ASF_WALK_DONE,   /* this directory has nothing below it any more that was not done (ASF_WALK_AFTER) */
};

struct asf_visit {
    struct asf_entry entry; /* of a followed link: what it leads to, or why that cannot be looked at */
    enum asf_when when;
    const char *path; /* what asf_walk was given and what leads from there to the entry, of any length */
    size_t path_length;
    int dirfd;       /* of the directory that has it: openat(dirfd, entry.name, ...); a negated errno
                        value where it had to be opened again and could not be */
    int depth;       /* 0: what asf_walk was given; 1: in that; and so on */
    unsigned thread; /* which one calls: from 0, the caller of asf_walk, up to the number of threads - 1 */
    void **own;      /* a directory's: for the program to put there what it likes, NULL at first */
    void *above;     /* what it has put there for the directory that has this entry */
};

/* A visit's way to go on: 0; ASF_WALK_PRUNE: a directory that was found is not gone into, and there
 * is no ASF_WALK_DONE of it; a negative number: the walk ends, and asf_walk returns it. */
enum { ASF_WALK_PRUNE = 1 };

enum {
    ASF_WALK_FOLLOW = 1,  /* links to directories are gone into, unless that leads round in circles: -ELOOP */
    ASF_WALK_ONE_FS = 2,  /* directories of other file systems are found, and not gone into */
    ASF_WALK_AFTER = 4,   /* each directory comes once more, as ASF_WALK_DONE, when all below it has come */
    ASF_WALK_THREADS = 64 /* that many threads at most, whatever was asked for */
};

struct asf_walk_options {
    unsigned threads; /* 0: as many as there are processors for this one; 1: the caller's alone */
    unsigned mask;    /* as asf_dir_begin's */
    int flags;        /* ASF_WALK_FOLLOW and so on */
};

/* asf_walk: visit `path` and, if it is a directory, all that is in it and below, by several threads.
 *   at       as asf_dir_sopen's
 *   path     a link is not followed, unless by ASF_WALK_FOLLOW or a "/" behind it
 *   options  NULL: all 0
 *   visit    is called by several threads at a time.  What it is given is valid until it returns,
 *            which it does: no exception and no longjmp leaves it, no thread ends in it
 *   arg      given to visit
 * returns  0; what a visit returned to end the walk; -ENOMEM; or when path itself cannot be looked
 *          at, why, such as -ENOENT: then nothing is visited.  Directories that cannot be read
 *          are told of by ASF_WALK_FAILED, and the walk goes on; so it does where the tree changes
 *          meanwhile: what is not moved or removed is visited once.  When it returns all its
 *          threads have ended and its descriptors are closed.
 * order    a directory comes before what is in it.  With one thread, all entries of a directory
 *          come before those of the first directory in it, whose tree comes before the second's.
 * limits   paths may be longer than PATH_MAX, and directories nested deeper than there may be open
 *          files: at most half of those are used, and 4096.
 * lock     none.  Not a cancellation point; the threads handle no signals.
 * source   an extension, in place of fts(3) and nftw(3). */
ASF_EXPORT int asf_walk(int at, const char *path, const struct asf_walk_options *options,
                        int (*visit)(const struct asf_visit *v, void *arg), void *arg);

#ifdef __cplusplus
}
#endif
#endif
