/* SPDX-License-Identifier: MIT
 *
 * cios.h - the client I/O state (CIOS): one struct for every interface.  It
 * begins with the FILE of the system's ABI, because compiled programs carry
 * getc_unlocked and putc_unlocked inline and gnulib reads the fields.
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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "backplane/module.h"

#include "lib/sys/lock.h"
#include "lib/sys/stats.h"

/* Bits of `flags`, as the ABI has them and programs read them. */
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
    ASF_KEEPS_BYTES = 0x4000, /* a bit that the ABI reserves; <asf/inline.h> has it as ASF_VIEW_KEEPS_BYTES */
    ASF_USER_LOCK = 0x8000,
};

/* Bits of `flags2`: four of the ABI's, and those that it does not use.  The last five are set only where the
 * C library moves bytes so (interfaces/stdio). */
enum {
    ASF_NOT_CANCELLED = 0x2,        /* no call is a cancellation point */
    ASF_WIDE_USER_BUF = 0x8,        /* the wide buffer is the program's */
    ASF_CLOSE_ON_EXEC = 0x40,       /* freopen opens with close-on-exec */
    ASF_NEEDS_LOCK = 0x80,          /* the C library's functions lock the FILE */
    ASF_OURS = 0x100000,            /* the FILE is a CIOS */
    ASF_FOLLOWS = 0x200000,         /* reading goes on after the end of the file (fopen's "m") */
    ASF_REOPENED = 0x400000,        /* set by freopen: exit flushes it before older streams */
    ASF_NOT_LOOKED_AT = 0x800000,   /* fstat is not called before a buffer is made */
    ASF_PUTS_WHOLE = 0x1000000,     /* output that overflows the buffer is put with it, in one piece */
    ASF_LINES_AT_FIRST = 0x2000000, /* the stream is line buffered until its first put */
    ASF_SEEKS_ANEW = 0x4000000,     /* a seek drops the window, even if the target is in it */
    ASF_READS_ON = 0x8000000,       /* a read into the caller's block continues into the buffer (readv) */
    ASF_LOOKS_LATE = 0x10000000,    /* fstat is not called before 64 KB have been read */
};

/* The kind of file that the stream is on, found at the stream's first use. */
enum asf_kind {
    ASF_UNKNOWN,
    ASF_REGULAR,
    ASF_NULL_DEVICE,
    ASF_PIPE,
    ASF_SOCKET,
    ASF_CHARACTER_DEVICE,
    ASF_CALLBACK,
    ASF_MEMORY, /* of this process, or shared with others: a segment or a ring */
};

/* Reasons why the inline salloc is not used: the stream is wide; a positional call has moved it
 * (streams/positional.c); or asf_set_bound asked for waiting, since the inline sfree would not wake the
 * threads that wait. */
enum asf_gate { ASF_WIDE = 1, ASF_MOVED = 2, ASF_WAITING = 4 };

/* The kind of call in progress: none; a call that has locked the stream; one for which the program has
 * locked it; a system call.  Inline calls, and calls on a stream with ASF_USER_LOCK, count as none. */
enum asf_use { ASF_OUTSIDE, ASF_LOCKED, ASF_UNLOCKED, ASF_IN_SYSTEM_CALL };

/* Whether the stream has a large buffer (bulk.h). */
enum asf_bulk_state {
    ASF_BULK_NEVER = -1,
    ASF_BULK_UNKNOWN, /* until the stream is first used */
    ASF_BULK_MAYBE,   /* becomes bulk after many whole blocks */
    ASF_BULK,
};

/* An entry of a buffer's table of regions, and its state. */
enum asf_region_state {
    ASF_KEPT,      /* the program has not freed it */
    ASF_FREED,     /* the program has freed it; the entry is not removed yet */
    ASF_ABANDONED, /* output without its bytes: they are not put */
};
struct asf_region {
    char *p;
    size_t n;
    enum asf_region_state state;
};

/* Memory that regions point into.  It is freed when it is not the current buffer and has no regions.
 *
 * A single region of the current buffer may be in the stream's `last` and `last_end` instead of the
 * table: the inline salloc stores it there.  asf__table_last moves it to the table. */
struct asf_buffer {
    unsigned refs;           /* kept regions, and copies by threads that have unlocked the stream */
    unsigned copies;         /* the copies alone: the child of a fork has none */
    struct asf_buffer *next; /* the next in `retired` or `queue` */
    char *base;
    size_t size;
    struct asf_region *many, few[2]; /* the table, sorted by address: `few`, or from the heap */
    unsigned first, end, room;       /* the entries in use; the capacity of `many` */
    unsigned kept;                   /* the number of entries in state ASF_KEPT */
    char *from, *to; /* in `queue` the bytes to put; in `unread` the end; in memory.c those that it copies */
    bool mapped;     /* the memory maps a file, which may be truncated */
    bool truncated;  /* the mapped file was truncated */
    void (*release)(struct asf_cios *c, struct asf_buffer *); /* frees the buffer; NULL: a heap buffer */
    size_t whole;                                             /* the size of its memory */
    bool is_static; /* the object and its memory are static, and not freed */
};

/* File offsets for read-ahead (streams/read_ahead.c). */
struct asf_ahead {
    off64_t from, next; /* where sequential reading began, and where it would continue */
    off64_t asked;      /* if by_us: the kernel was asked to read up to here; else where to check again */
    off64_t dropped;    /* ASF_ONCE: the page cache was told to drop the bytes before this */
    bool by_us;         /* the kernel's own read-ahead was found to be short */
};

struct asf_cios {
    /* The ABI's FILE. */
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
    off64_t offset; /* the file offset of read_end, if the C library would know it; else -1 */
    void *codecvt;
    void *wide_data; /* the state of a wide stream, stdio's; or NULL */
    void *freeres_list, *freeres_buf;
    void *prevchain; /* the C library's, since 2.41: the pointer to this FILE in its list, or `chain` */
    int orientation; /* <0 bytes, >0 wide */
    char unused2[12];
    asf__tag fast; /* ours, in bytes that the ABI does not use: see lib/sys/restart.h */
    const void *vtable;

    /* The ABI's FILE ends here.  The members below are this library's.  The comment at the head of each group
     * names the files or layers that write its members.  A comment at a member names further writers.  cios.c
     * initializes and resets all.  Lock: `lk`, unless a line says otherwise. */

    struct { /* struct asf_view of <asf/inline.h>, which moves `last`: the backplane's */
        struct asf_buffer *buffer; /* describes buf_base..buf_end, or NULL */
        char *last, *last_end;     /* the current buffer's one region, unless that is in its table */
        /* enum asf_gate: why the inline salloc is not used.  ASF_WIDE is the wide interface's, ASF_MOVED
         * streams/positional.c's, which a seek clears, ASF_WAITING await.c's. */
        unsigned gate;
        unsigned mapped;    /* buffer->mapped */
        struct asf_lock lk; /* rank: after the list's */
    };
    struct { /* the file, device or memory: written by the module and by interfaces */
        const struct asf_module *ops;
        void *data;      /* the module's own */
        const char *why; /* why this module was chosen, in words */
        char *name;      /* report.c's: the path, kept for the statistics; or NULL */
        enum asf_kind kind;
        int access;   /* O_RDONLY, O_WRONLY, O_RDWR */
        size_t block; /* the size of the buffer that is made when one is needed */
        /* No other process or stream can have moved the descriptor's offset: set where an interface opens the
         * file, cleared for good by asf__share_offset.  Atomic. */
        bool exclusive;
        /* The descriptor's offset, if exclusive and not -1; else where this stream's last call left it. */
        off64_t place;
        dev_t device; /* device and inode of a stdio stream's file */
        ino_t inode;
        off64_t seek_error; /* cookies.c's: the last seek callback's result, if negative; else 0 */
        pid_t child;        /* popen's */
        struct asf_positional *positional; /* streams/positional.c's, or NULL; set once */
        /* The program's advice (asf_advise), and the read-ahead that follows from it: read_ahead.c's. */
        enum asf_advice advice;
        bool copied; /* ASF_COPIED was advised: no maps */
        struct asf_ahead ahead;
    };
    struct {                        /* buffers: the backplane's */
        struct asf_buffer *retired; /* no longer current, with regions outstanding */
        struct asf_buffer *queue;   /* output that waits for regions, oldest first */
        struct asf_cios *detached;  /* streams of their own for output with regions at other offsets */
        struct asf_buffer *unread;  /* input of a stream that cannot seek, while it writes */
        struct asf_buffer
            single;       /* over `shortbuf`, for a stream without a buffer, or the program's memory */
        size_t left_out;  /* bytes of the output that belong to abandoned regions */
        size_t bound;     /* the most bytes of output that may wait for regions; 0: the default */
        bool waits;       /* when `bound` bytes wait, salloc waits for a region instead of failing */
        bool full;        /* the latest call found that `bound` bytes wait; salloc clears it first */
        unsigned wakeups; /* a futex: counts how often waiting calls were woken; atomic */
        int failed; /* -errno that the next flush or out-of-line salloc returns; interfaces set it, too */
        /* Why the last asf__fill_buffer gave less than wanted, for the next call: -errno; 1: end of a file
         * that is not regular: at the end of a regular file the next call reads again.  The call that
         * reports it, and a change of the offset, clear it; clearerr does not. */
        int stopped;
    };
    struct asf_bulk { /* bulk.c's */
        /* The `attach` for stdio sets ASF_BULK_MAYBE, so streams of the ASI are never bulk.  Modules,
         * asf_stream, fdopen, setvbuf with memory or _IONBF, and cuts of input set ASF_BULK_NEVER. */
        enum asf_bulk_state state;
        unsigned run;  /* system calls that moved whole blocks since the last flush, seek or cut */
        int64_t since; /* milliseconds: the start of the run, or of the large buffer's bytes; -1: none */
        struct asf_buffer *own; /* the stream's own buffer, while the current one is large; else NULL */
        char *seen;             /* input: the end of the bytes that calls have looked at, if beyond read_ptr;
                                 * ungetc and scanf set it */
        char *passed;           /* input: where the stream's own buffer would begin again, after bytes that
                                 * would have bypassed it; or NULL */
        unsigned process;       /* bulk.c's number of the process that uses the large buffer */
        bool unlocked;          /* the latest call that filled or put a block did not lock the stream */
    } bulk;
    struct {                  /* iterations: interfaces/asi/asi_lines.c's */
        const char *iterated; /* the region that an iterator of lines or records holds, or NULL */
    };
    struct {                    /* calls: window.h's; interfaces that lock the stream without it set `use` */
        enum asf_use use, left; /* now, and before the current system call */
    };
    struct { /* links: list.c's, under the list's lock; of detached output detached.c's, under `lk` */
        struct asf_cios *next, *prev;
        bool listed;
    };
    struct asf_stats stats; /* written by all layers */
};

#endif
