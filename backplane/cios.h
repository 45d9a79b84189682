/* SPDX-License-Identifier: MIT
 *
 * cios.h - the client I/O state: one struct for every interface.  Its leading
 * bytes are glibc's FILE on x86-64, because compiled programs carry
 * getc_unlocked and putc_unlocked inline and gnulib reads the fields; so the
 * paper's current buffer is read_ptr..read_end or write_ptr..write_end.
 * Layer: backplane.  May include: lib, include/asf.
 */
#ifndef ASF_BACKPLANE_CIOS_H
#define ASF_BACKPLANE_CIOS_H

#include <gconv.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <wchar.h>

#include <asf/stream.h>

#include "lib/sys/lock.h"
#include "lib/sys/stats.h"

/* Bits of `flags`, as glibc has them and programs read them. */
enum {
    ASF_MAGIC = (int)0xfbad0000,
    ASF_USER_BUF = 0x1,
    ASF_UNBUFFERED = 0x2,
    ASF_NO_READS = 0x4,
    ASF_NO_WRITES = 0x8,
    ASF_EOF = 0x10,
    ASF_ERR = 0x20,
    ASF_LINKED = 0x80,
    ASF_IN_BACKUP = 0x100,
    ASF_LINE_BUF = 0x200,
    ASF_PUTTING = 0x800,
    ASF_APPENDING = 0x1000,
    ASF_FILEBUF = 0x2000,
    ASF_USER_LOCK = 0x8000,
};

/* Bits of `flags2`, glibc's: no call is to be cancelled, the wide buffer is not
 * from malloc, what freopen opens is closed by exec; and one that glibc leaves alone: this FILE is a CIOS. */
enum { ASF_NOT_CANCELLED = 0x2, ASF_WIDE_USER_BUF = 0x8, ASF_CLOSED_BY_EXEC = 0x40, ASF_OURS = 0x100000 };

/* What `inside` says: in a call that has taken the lock, or that found no need to. */
enum { ASF_OUTSIDE, ASF_WITH_LOCK, ASF_WITHOUT_LOCK };

/* A buffer that regions point into.  It lives until none does. */
struct asf_buffer {
    struct asf_buffer *next; /* in `retired` or `queue` */
    char *base;
    size_t size;
    void *allocated; /* freed with the buffer: `base`, where that is an allocation of its own */
    union {          /* under the stream's lock; changed at once, for the child of a fork */
        uint64_t uses;
        struct {
            unsigned refs;   /* regions not yet given back */
            unsigned copies; /* of these: what threads copy from just now, with the stream unlocked */
        };
    };
    char *from, *to; /* queued output: the bytes to put */
    int watch;       /* mapped: its slot in the fault table; otherwise -1 */
    off64_t at;      /* mapped: where in the file it begins */
    size_t mapping;  /* of pages of its own: how many bytes, these included; 0: from malloc */
    bool usual;      /* from malloc, of BUFSIZ bytes: kept for the next stream */
    bool user;       /* the program's own memory (setvbuf) */
    bool first;      /* part of its stream; its memory stays until that is closed */
    bool resting;    /* the first one, in no use just now */
    bool for_pieces; /* a thread's own (backplane/regions.c) */
    bool torn;       /* mapped: the file was truncated under it */
    void (*gone)(struct asf_buffer *b); /* its module is told that nothing uses it any more; or NULL */
};

/* libc's input buffer as it lay in the file when a call last moved it (see
 * backplane/libc_buffer.c): from `base` to `end`, libc's read_base at `first`. */
struct asf_libc_buffer {
    off64_t base, first, end;
};

/* glibc's struct _IO_wide_data: the current buffer of a wide stream, which
 * libc's inside and programs read.  Characters stand here, and in the windows
 * of bytes what is not converted yet or is on its way out. */
struct asf_wide {
    wchar_t *read_ptr, *read_end, *read_base;
    wchar_t *write_base, *write_ptr, *write_end;
    wchar_t *buf_base, *buf_end;
    wchar_t *save_base, *backup_base, *save_end;
    mbstate_t state, last_state; /* now, and where the read window begins */
    struct asf_conversion {
        struct __gconv_step *step;
        struct __gconv_step_data data;
    } in, out; /* fixed when the stream became wide */
    wchar_t shortbuf[1];
    const void *vtable;
};

/* The pointers to a window of input. */
struct asf_window {
    char *buf_base, *buf_end, *base, *ptr, *end;
};

struct asf_cios {
    /* glibc's FILE. */
    int flags;
    char *read_ptr, *read_end, *read_base;
    char *write_base, *write_ptr, *write_end;
    char *buf_base, *buf_end;
    char *save_base, *backup_base, *save_end;
    void *markers;
    void *chain;
    int fd;
    int flags2;
    off64_t old_offset;
    unsigned short cur_column;
    signed char vtable_offset;
    char shortbuf[1];
    struct asf_lock *lock;
    off64_t offset; /* the kernel's offset as far as known (see `deferred`), or -1 */
    void *codecvt;
    void *wide_data;
    void *freeres_list, *freeres_buf;
    size_t pad5;
    int orientation; /* <0 bytes, >0 wide */
    char unused2[12];
    asf__tag fast; /* ours, in bytes that libc leaves alone: see lib/sys/restart.h */
    const void *vtable;

    /* Ours.  Everything below is guarded by `lk`, but for the list links. */
    const struct asf_stream_ops *ops;
    struct asf_lock lk;
    void *data; /* the module's own */

    struct asf_buffer *in, *out; /* buffers behind the two windows */
    struct asf_buffer *retired;  /* left behind with regions outstanding */
    struct asf_buffer *queue;    /* output waiting for regions, oldest first */
    struct asf_buffer *spare;    /* whose regions have been given back: for the next ones */
    unsigned spares;
    char *last; /* the region allocated last */
    size_t last_len;
    unsigned regions;
    int failed; /* a write in the background failed; told by the next call */

    /* What libc would have done by now ("Nobody can tell"). */
    size_t block;     /* the size of libc's buffer: blksize, 1 when unbuffered, or what setvbuf gave */
    size_t blksize;   /* st_blksize, as libc takes it */
    size_t user_size; /* the size given to setvbuf, or 0 */
    size_t limit;     /* the present size of our own output buffer, a multiple of block */
    uint64_t written; /* bytes put since the last flush */
    uint64_t exact;   /* `written` after a large write that left libc's buffer empty, or 0 */
    uint64_t filled;  /* when the output buffer was last full, ns */
    struct asf_libc_buffer libc;

    /* Output that follows input without a seek between. */
    size_t indent; /* libc's output starts so many bytes into its buffer */
    size_t lag;    /* and so many bytes before the kernel's offset, which is set back by the first put */
    struct asf_window under; /* the input that it will overwrite; kept until that put */

    bool grown;      /* the buffer is larger than libc's, and may hold back what libc would have written */
    bool ahead;      /* more input has been read than libc would have read */
    bool may_grow;   /* the output buffer may become larger than libc's */
    bool roomy;      /* the disk was seen to have room for a grown buffer */
    bool shared;     /* another process may look at the offset: input is read as libc reads it */
    bool loose;      /* *_unlocked calls read it while there are threads: its window must not be trimmed */
    size_t exactly;  /* if not 0, the next fill must get this many bytes */
    signed char run; /* fills since the last seek (asf__is_sequential) */
    off64_t size;    /* of the file when it was last asked for, or 0: for threads that read it together */
    off64_t reach;   /* the largest offset that the kernel has accepted in a seek */

    bool regular, seekable;
    bool inherited; /* the descriptor was not opened for this stream */
    bool placed;    /* a seek has set the offset, so libc knows it */
    bool astray;    /* the program has since moved the descriptor's offset itself */
    bool deferred;  /* a seek whose lseek is still to be made: `offset` says where to */
    bool sought;    /* libc has made its buffer in a seek */
    bool unprimed;  /* as in libc after a late setvbuf, the first write finds no room in the buffer */
    bool outlived;  /* blocks were read past libc's buffer, which is still set up for output */
    bool late_line; /* made line buffered too late for putc, which still fills the buffer */
    bool resident;  /* the current buffer is the object itself: nothing to get or put */
    bool mapped;    /* the file system is one that maps well */
    bool chosen;    /* the module has been chosen */
    bool early;     /* has bytes that were pushed back before the module was chosen */
    bool direct;    /* large input may go straight to the caller by `get` */
    bool held;      /* in a system call: a signal handler must not touch the stream */
    char inside;    /* in a call: nor then, unless the process is about to end */
    bool yields;    /* the present call took the lock itself, and may release it while it copies */
    bool sink;      /* the null device: what is written is never seen */
    bool records;   /* a socket, a device or a callback, where each write may be one record */
    bool own;       /* opened by asf_sopen: there is no libc to be like */
    bool joined;    /* the ASI uses it: Unix I/O on its descriptor continues at its position */
    bool listed;    /* in the list of streams */
    bool relinked;  /* reopened by freopen: flushed at exit before streams that are older */
    bool follows;   /* reads on when the file has grown after its end was met (fopen's "m") */
    int access;     /* O_RDONLY, O_WRONLY, O_RDWR */
    dev_t dev;
    ino_t ino;
    pid_t child; /* popen's */

    const char *why; /* the module's choice, in words */
    char *name;      /* the path, kept for the statistics */
    struct asf_stats stats;

    /* The program's heap is laid out as under libc: where libc would allocate a FILE and its
     * buffer, as much is allocated.  Larger buffers are mapped. */
    struct asf_buffer first; /* the buffer of libc's size */
    char few[MB_LEN_MAX];    /* its memory when malloc fails: room for one character of any length */
    void *like_file;         /* an allocation of the size of libc's FILE, never used */

    struct asf_cios *next, *prev; /* the list of streams; under the list lock */
    struct asf_cios *fd_next;     /* others on the same descriptor */
    int pins;                     /* threads that found it in the list and wait for its lock; atomic */
    unsigned settles;     /* settlings by any thread: begun so far, and under way (settle.c); atomic */
    unsigned passed_over; /* how often in a row it was not settled, being in use; atomic */
    uint64_t settled;     /* the last round of settling all streams that it was in */
    uint64_t number;      /* its place in the order of entry in the list; under the list's lock */

    /* From here on nothing is cleared when the object is used again. */
    struct {
        const char *p;
        size_t n;
    } recent[32]; /* the latest regions and their lengths: which are lost when the file is truncated */

    struct asf_wide wide;
};

_Static_assert(offsetof(struct asf_cios, read_ptr) == 0x08, "glibc's FILE");
_Static_assert(offsetof(struct asf_cios, write_ptr) == 0x28, "glibc's FILE");
_Static_assert(offsetof(struct asf_cios, fd) == 0x70, "glibc's FILE");
_Static_assert(offsetof(struct asf_cios, lock) == 0x88, "glibc's FILE");
_Static_assert(offsetof(struct asf_cios, offset) == 0x90, "glibc's FILE");
_Static_assert(offsetof(struct asf_cios, orientation) == 0xc0, "glibc's FILE");
_Static_assert(offsetof(struct asf_cios, fast) == 0xd0, "glibc's FILE");
_Static_assert(offsetof(struct asf_cios, vtable) == 0xd8, "glibc's FILE");
_Static_assert(offsetof(struct asf_wide, vtable) == 0xe0, "glibc's _IO_wide_data");

#endif
