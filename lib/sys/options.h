/* SPDX-License-Identifier: MIT
 *
 * options.h - what the user asked for in ASF_OPTIONS and asf_conf, parsed once.
 */
#ifndef ASF_LIB_OPTIONS_H
#define ASF_LIB_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { ASF_GIVEN_map_min = 1, ASF_GIVEN_window = 2 };

struct asf_options {
    const char *stats; /* where statistics go: "", "stderr" or a path */
    char module[16];   /* "map" or "read": overrules the choice for input files of the ASI */
    size_t map_min;    /* the smallest number of bytes worth a map */
    size_t window;     /* bytes of a mapped window, a multiple of 2 MiB */
    size_t buffer;     /* of streams that libc would fully buffer, bytes; 0: libc's size */
    bool exact;        /* no stream is ever bulk */
    unsigned given;    /* ASF_GIVEN_ bits: sizes that the user chose */
    bool tune;         /* the table of `asf tune` is looked for */
    bool decompress;   /* input that is compressed is decoded */
    bool verbose;      /* name each stream's module on stderr */
    char shm[8];       /* "posix" or "sysv": where segments are made */

    /* Of libasf_unix. */
    bool popen_rings; /* popen puts a ring beside its pipe */
    bool private_fds; /* off: the program's own calls are only counted */

    /* Rings beside pipes that this process may have an end of (lib/shm/ring_offer.c). */
    struct asf_ring_offer {
        int keeper, fd; /* whose descriptor the ring is */
        uint64_t inode; /* the pipe */
    } ring[8];
    int ring_count;
    int rings; /* above 0: these, or some of our own */
};

/* asf__options: what a program asks for in a variable of its own,
 *     const char asf_conf[] = "buffer=128K";
 * and then ASF_OPTIONS, which a set-uid program ignores. */
extern struct asf_options asf__option_values;
extern bool asf__options_parsed;
const struct asf_options *asf__parse_options(void);
static inline const struct asf_options *asf__options(void) {
    return __builtin_expect(asf__options_parsed, 1) ? &asf__option_values : asf__parse_options();
}

#pragma GCC visibility pop

#endif
