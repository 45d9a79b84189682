/* SPDX-License-Identifier: MIT
 *
 * cios.h - the client I/O state (CIOS): one struct for every interface.  It
 * begins with glibc's FILE, because compiled programs carry getc_unlocked and
 * putc_unlocked inline and gnulib reads the fields.
 *
 * Glossary
 *   current buffer   the memory that calls are served from: read_ptr..read_end
 *                    of a stream that reads, write_ptr..write_end of one that
 *                    writes (the paper's term)
 *   window           the part of the current buffer that those pointers show
 *   region           bytes of the current buffer that salloc has handed out
 *   backup           bytes pushed back by ungetc, in a small buffer of their
 *                    own; the window proper waits in save_base..save_end
 *   stream module    the functions that fill and empty the current buffer of one
 *                    kind of stream (struct asf_module)
 *   interface        what programs call: stdio, Unix I/O, the ASI
 */
#ifndef ASF_BACKPLANE_CIOS_H
#define ASF_BACKPLANE_CIOS_H

#include <gconv.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <wchar.h>

#include "backplane/module.h"

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

/* Bits of `flags2`: glibc's (no call is a cancellation point, the wide buffer is the program's,
 * freopen opens with close-on-exec, glibc's own functions take the lock, which glibc says
 * of those in its list alone), and four that glibc leaves alone: this FILE is a CIOS, its end of
 * file is looked for again (fopen's "m"), it was reopened: at exit it is flushed before
 * streams that are older; and with a buffer of the program's, or none, it is not looked at. */
enum {
    ASF_NOT_CANCELLED = 0x2,
    ASF_WIDE_USER_BUF = 0x8,
    ASF_CLOSE_ON_EXEC = 0x40,
    ASF_NEEDS_LOCK = 0x80,
    ASF_OURS = 0x100000,
    ASF_FOLLOWS = 0x200000,
    ASF_REOPENED = 0x400000,
    ASF_NOT_LOOKED_AT = 0x800000,
};

/* The kind of file that the stream is on.  It is looked up when the stream is first used; a stream with
 * ASF_NOT_LOOKED_AT stays ASF_UNKNOWN. */
enum asf_kind {
    ASF_UNKNOWN,
    ASF_REGULAR,
    ASF_NULL_DEVICE,
    ASF_PIPE,
    ASF_SOCKET,
    ASF_CHARACTER_DEVICE,
    ASF_CALLBACK,
    ASF_MEMORY,
    ASF_RING,
    ASF_SEGMENT,
};

/* Why salloc is not served from the window: it is a wide stream's; the stream is somewhere
 * else since a positional call (streams/positional.c); or threads may wait for a region to be given
 * back, which is then not done in line. */
enum asf_gate { ASF_WIDE = 1, ASF_MOVED = 2, ASF_WAITING = 4 };

/* What the stream is in: no call, one that has taken its lock, one that has not
 * (the program has), or a system call. */
enum asf_use { ASF_OUTSIDE, ASF_LOCKED, ASF_UNLOCKED, ASF_IN_SYSTEM_CALL };

/* A region in the table of its buffer. */
enum asf_region_state {
    ASF_KEPT,      /* not given back */
    ASF_FREED,     /* waits to be taken from the table */
    ASF_ABANDONED, /* of output: its bytes are left out when the buffer is put */
};
struct asf_region {
    char *p;
    size_t n;
    enum asf_region_state state;
};

/* Memory that regions point into.  It lives until none does.
 *
 * The one region of the current buffer may be in no table, but in `last` and `last_end` of the
 * stream (asf__table_last): that is what salloc in line leaves. */
struct asf_buffer {
    unsigned refs;           /* regions kept, and copies by threads that have unlocked the stream */
    unsigned copies;         /* of these the copies: none are left in the child of a fork */
    struct asf_buffer *next; /* in `retired` or `queue` */
    char *base;
    size_t size;
    struct asf_region *many, few[2]; /* the table, by address: `few`, or from the heap */
    unsigned first, end, room;       /* what is used of it; and of `many` there is */
    unsigned kept;                   /* how many in the table are kept */
    char *from, *to;                 /* in `queue`: the bytes to put */
    bool mapped;                     /* a file's, which may become shorter */
    bool truncated;                  /* mapped, and it did */
    void (*release)(struct asf_cios *c, struct asf_buffer *); /* the module's end of it; NULL: the heap's */
    size_t whole;                                             /* bytes of its memory */
    bool slides; /* base moves over that memory, as a stream is bulk (bulk.h) */
};

/* glibc's struct _IO_wide_data: the current buffer of a wide stream, in
 * characters.  The windows of bytes then hold what is not converted yet, or is on
 * its way out. */
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

/* Offsets in the file, of the modules that read ahead (streams/read_ahead.c). */
struct asf_ahead {
    off64_t from, next; /* where reading in sequence began, and where it would go on */
    off64_t asked;      /* if by_us: what comes before has been asked for; else where to look again */
    off64_t dropped;    /* ASF_ONCE: what comes before has been dropped */
    bool by_us;         /* the kernel's own read-ahead was found to be short */
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
    off64_t offset; /* of read_end in the file, while glibc would know it; else -1 */
    void *codecvt;
    void *wide_data;
    void *freeres_list, *freeres_buf;
    void *prevchain; /* since glibc 2.41: what points to it in glibc's list; in none: its `chain` */
    int orientation; /* <0 bytes, >0 wide */
    char unused2[12];
    asf__tag fast; /* ours, in bytes that glibc leaves alone: see lib/sys/restart.h */
    const void *vtable;

    /* Ours, by owner.  Lock: `lk`, unless a line says otherwise. */

    struct {                       /* struct asf_view of <asf/inline.h>: regions.h's */
        struct asf_buffer *buffer; /* under buf_base..buf_end, or NULL */
        char *last, *last_end;     /* the current buffer's one region, unless that is in its table */
        unsigned gate;             /* enum asf_gate: why salloc does not look at the window */
        unsigned mapped;           /* buffer->mapped */
        struct asf_lock lk;        /* rank: after the list's */
    };
    struct { /* the object below: written by modules as they attach, read by all */
        const struct asf_module *ops;
        void *data;      /* the module's own */
        const char *why; /* the module's choice, in words */
        char *name;      /* the path, kept for the statistics; or NULL */
        enum asf_kind kind;
        int access;     /* O_RDONLY, O_WRONLY, O_RDWR */
        size_t block;   /* the size of the buffer that is made when one is needed */
        bool exclusive; /* nobody else can have moved the descriptor's offset: it is `place` */
        off64_t place;  /* where the descriptor stands, if exclusive and not -1 */
        off64_t told;   /* what a callback answered to the last seek, if that is negative; else 0 */
        pid_t child;    /* popen's */
        struct asf_positional *positional; /* streams/positional.c's, or NULL; set once */
        /* How the program is going to read, and what follows from it. */
        enum asf_advice advice;
        bool copied; /* ASF_COPIED was advised: no maps */
        struct asf_ahead ahead;
    };
    struct {                        /* buffers: the backplane's */
        struct asf_buffer *retired; /* no longer current, with regions outstanding */
        struct asf_buffer *queue;   /* output that waits for regions, oldest first */
        struct asf_cios *detached;  /* output that waits for regions at other places */
        struct asf_buffer *unread;  /* input of a stream that cannot seek, while it writes */
        struct asf_buffer
            single;      /* over `shortbuf`, for a stream without a buffer, or the program's memory */
        size_t left_out; /* bytes of the output that are of regions that were abandoned */
        size_t bound;    /* bytes of output that may wait for regions; */
        bool waits;      /* salloc waits beyond that, */
        bool full;       /* as the latest call met it */
        unsigned turns;  /* counts the times that waiting calls were woken: a futex */
        int failed;      /* an error that the next call tells: -errno */
        int stopped;     /* why input ended short of what a call wanted, if the next one is to tell:
                            -errno, or 1: the end */
    };
    struct asf_bulk { /* bulk.c's */
        enum asf_bulk_state {
            ASF_BULK_NEVER = -1,
            ASF_BULK_UNKNOWN, /* until the stream is first used */
            ASF_BULK_MAYBE,
            ASF_BULK,
        } state;
        unsigned run;    /* whole blocks moved in a row */
        int64_t since;   /* when they, or what is between the pointers, began: milliseconds */
        char *from, *to; /* input: what was read ahead of the current buffer; output: what is held
                            before it; or NULL */
    } bulk;
    struct {                    /* calls */
        enum asf_use use, left; /* now, and before the system call that it is in */
    };
    struct { /* links: list.c's, under the list's lock */
        struct asf_cios *next, *prev;
        bool listed;
    };
    struct asf_stats stats; /* of modules and interfaces */
    struct asf_wide wide;   /* the wide interface's */
};

_Static_assert(offsetof(struct asf_cios, read_ptr) == 0x08, "glibc's FILE");
_Static_assert(offsetof(struct asf_cios, write_ptr) == 0x28, "glibc's FILE");
_Static_assert(offsetof(struct asf_cios, fd) == 0x70, "glibc's FILE");
_Static_assert(offsetof(struct asf_cios, lock) == 0x88, "glibc's FILE");
_Static_assert(offsetof(struct asf_cios, offset) == 0x90, "glibc's FILE");
_Static_assert(offsetof(struct asf_cios, orientation) == 0xc0, "glibc's FILE");
_Static_assert(offsetof(struct asf_cios, fast) == 0xd0, "glibc's FILE");
_Static_assert(offsetof(struct asf_cios, vtable) == 0xd8, "glibc's FILE");
_Static_assert(offsetof(struct asf_view, regions) == offsetof(struct asf_cios, buffer), "the view");
_Static_assert(offsetof(struct asf_view, last_end) == offsetof(struct asf_cios, last_end), "the view");
_Static_assert(offsetof(struct asf_view, gate) == offsetof(struct asf_cios, gate), "the view");
_Static_assert(offsetof(struct asf_view, mapped) == offsetof(struct asf_cios, mapped), "the view");
_Static_assert(offsetof(struct asf_view, holder) == offsetof(struct asf_cios, lk.holder), "the view");
_Static_assert(offsetof(struct asf_view, revoke) == offsetof(struct asf_cios, lk.revoke), "the view");
_Static_assert(offsetof(struct asf_buffer, refs) == 0, "the view");
_Static_assert((int)ASF_VIEW_BACKUP == (int)ASF_IN_BACKUP, "the view");
_Static_assert(offsetof(struct asf_wide, vtable) == 0xe0, "glibc's _IO_wide_data");

#endif
