/* SPDX-License-Identifier: MIT
 *
 * costs.h - what `asf tune` measured on this machine, where it did: a small file
 * that is looked for when a choice first depends on it, and checked before it is
 * believed.  Without one the figures in the sources hold.
 */
#ifndef ASF_LIB_COSTS_H
#define ASF_LIB_COSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/sys/options.h"

#pragma GCC visibility push(hidden)

/* Below this a file is never worth a map, nor a copy a way of its own: nothing
 * is looked for. */
enum { ASF_COSTS_LEAST = 64 << 10 };

enum { ASF_COSTS_FILE_SYSTEMS = 8, ASF_COSTS_SIZE = 2048 };

/* The first line of the file. */
#define ASF__TUNE_FORMAT "asf-tune 2\n"

/* Picoseconds a byte: read in chunks of 64 KB, or mapped, with each word used;
 * copied by read and write, or by copy_file_range.  0: not measured. */
struct asf_fs_costs {
    uint64_t type; /* statfs's f_type */
    uint64_t read, map, by_hand, by_range;
};

struct asf_costs {
    size_t map_min; /* the smallest file that costs less mapped than read */
    size_t window;  /* bytes, a multiple of 2 MiB */
    size_t buffer;  /* of output; a multiple of 4096 */
    size_t copy;    /* the buffer for copying by hand; likewise */
    size_t pipe;    /* what a pipe is made to hold for a copy */
    size_t count;
    struct asf_fs_costs fs[ASF_COSTS_FILE_SYSTEMS];
};

/* asf__costs: the user's table, or else the system's; NULL when there is none
 * that can be believed, and always in a set-uid program. */
const struct asf_costs *asf__costs(void);

/* asf__costs_of: a file system's row of it, or NULL. */
const struct asf_fs_costs *asf__costs_of(long type);

/* asf__map_pays: by a margin, since a map is faulted in anew by each process. */
static inline bool asf__map_pays(const struct asf_fs_costs *fs) {
    return fs->map && fs->map + fs->map / 16 < fs->read;
}

/* asf__costs_parse: the n bytes that a table begins with; whether they are
 * whole and every value is one that can be. */
bool asf__costs_parse(struct asf_costs *costs, const char *text, size_t n);
/* asf__costs_path: where the user's table is (0), and the system's (1); false:
 * nowhere, or it is too long. */
bool asf__costs_path(char *path, size_t size, int which);
/* asf__costs_load: read and parse one file.  Returns 0, or a negated errno
 * value: -EPERM when it is another user's or others may write it, -EINVAL when
 * it is no table. */
int asf__costs_load(struct asf_costs *costs, const char *path);

/* A size: what the user asked for, what was measured, or what is built in. */
#define ASF_TUNED(name)                                                                                      \
    static inline size_t asf__tuned_##name(void) {                                                           \
        const struct asf_options *o = asf__options();                                                        \
        const struct asf_costs *c = o->given & ASF_GIVEN_##name ? NULL : asf__costs();                       \
        return c ? c->name : o->name;                                                                        \
    }
ASF_TUNED(map_min)
ASF_TUNED(window)

/* The ASI's output buffer for files, and what a pipe is made to hold for a copy: readers of
 * 16 to 128 KB gain no more from a larger one. */
static inline size_t asf__tuned_buffer(void) {
    const struct asf_costs *c = asf__costs();
    return c ? c->buffer : 128 << 10;
}

static inline size_t asf__tuned_pipe(void) {
    const struct asf_costs *c = asf__costs();
    return c ? c->pipe : 512 << 10;
}

#pragma GCC visibility pop

#endif
