/* SPDX-License-Identifier: MIT
 *
 * options.h - what the user asked for in ASF_OPTIONS, parsed once.
 * Layer: lib.  May include: lib.
 */
#ifndef ASF_LIB_OPTIONS_H
#define ASF_LIB_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Unix I/O: left to the kernel; emulated where that pays; emulated at once. */
enum asf_unix_io { ASF_UNIX_OFF, ASF_UNIX_AUTO, ASF_UNIX_ON };

enum { ASF_GIVEN_map_min = 1, ASF_GIVEN_window = 2, ASF_GIVEN_buffer = 4, ASF_GIVEN_pipe = 8 };

struct asf_options {
    const char *stats; /* where statistics go: "", "stderr" or a path */
    char module[16];   /* "map" or "read": overrules the choice for input files */
    size_t map_min;    /* smallest number of bytes worth a map */
    size_t window;     /* bytes of a mapped window, a multiple of 2 MiB */
    size_t buffer;     /* largest output buffer, bytes */
    size_t pipe;       /* what a pipe is made to hold for a copy, 0: as it is */
    unsigned given;    /* ASF_GIVEN_ bits: sizes that the user chose */
    bool tune;         /* the table of `asf tune` is looked for */
    bool grow;         /* output buffers may grow beyond libc's */
    bool ahead;        /* input may be read further ahead than libc would */
    bool large_pages;  /* large reads may fill large pages */
    enum asf_unix_io unix_io;
    bool coalesce;    /* small writes of write() may be gathered */
    bool verbose;     /* name each stream's module on stderr */
    char shm[8];      /* "posix" or "sysv": where segments are made */
    bool popen_rings; /* popen puts a ring beside its pipe */

    /* Rings beside pipes that this process may have an end of (lib/shm/ring_offer.c). */
    struct asf_ring_offer {
        int keeper, fd; /* whose descriptor the ring is */
        uint64_t inode; /* the pipe */
    } ring[8];
    int ring_count;
    int rings; /* above 0: these, or some of our own */
};

/* asf__options: never NULL; a set-uid program always gets the defaults. */
extern struct asf_options asf__option_values;
extern bool asf__options_parsed;
const struct asf_options *asf__parse_options(void);
static inline const struct asf_options *asf__options(void) {
    return __builtin_expect(asf__options_parsed, 1) ? &asf__option_values : asf__parse_options();
}

/* asf__options_of_libc: no buffers larger than libc's from now on, and no
 * system call that libc would not make. */
void asf__options_of_libc(void);

#pragma GCC visibility pop

#endif
