/* SPDX-License-Identifier: MIT
 *
 * options.h - the user's options, from ASF_OPTIONS and asf_conf, parsed once.
 */
#ifndef ASF_LIB_OPTIONS_H
#define ASF_LIB_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { ASF_GIVEN_map_min = 1, ASF_GIVEN_window = 2 };

struct asf_options {
    const char *stats; /* file for statistics: "" (none), "stderr" or a path */
    char module[16];   /* "map" or "read": module for input files of the ASI */
    size_t map_min;    /* the smallest number of bytes worth a map */
    size_t window;     /* bytes of a mapped window, a multiple of 2 MiB; the last one ends with the file */
    size_t buffer;     /* buffer of fully buffered streams, bytes; 0: libc's size */
    bool exact;        /* no stream becomes bulk: the user gave buffer=libc or buffer=SIZE */
    unsigned given;    /* ASF_GIVEN_ bits: the sizes that the user chose */
    bool tune;         /* use the table of `asf tune` */
    bool decompress;   /* decode compressed input */
    bool verbose;      /* report each stream's module on stderr */
    char shm[8];       /* "posix" or "sysv": backend of new segments */

    /* For libasf_unix. */
    bool popen_rings; /* popen makes a ring for its pipe */
    bool private_fds; /* files that the program opens may get private descriptors */

    /* Rings for pipes of which this process may have an end (lib/shm/ring_offer.c). */
    struct asf_ring_offer {
        int keeper, fd; /* the process with the ring's descriptor, and the descriptor's number */
        uint64_t inode; /* the pipe's */
    } ring[8];
    int ring_count;
    int rings; /* above 0: there are rings, given here or made by this process */
};

/* asf__options: read from the program's own variable,
 *     const char asf_conf[] = "buffer=128K";
 * and then from ASF_OPTIONS, which overrides it and which a set-uid program ignores. */
extern struct asf_options asf__option_values;
extern bool asf__options_parsed;
const struct asf_options *asf__parse_options(void);
static inline const struct asf_options *asf__options(void) {
    return __builtin_expect(asf__options_parsed, 1) ? &asf__option_values : asf__parse_options();
}

/* NULL but in libasf_unix: the other libraries ignore the options of rings, with which another program may
 * start this one. */
extern const char asf__has_rings[1] __attribute__((weak));

/* asf__is_option: whether KEY=VALUE, of `length` characters, can be set.  It changes no option except the
 * path of the statistics. */
bool asf__is_option(const char *item, size_t length);

#pragma GCC visibility pop

#endif
