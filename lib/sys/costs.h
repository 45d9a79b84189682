/* SPDX-License-Identifier: MIT
 *
 * costs.h - the measurements of `asf tune` on this machine, if there are any: a small file that is
 * read when a choice first depends on it, and validated.  Without it the figures in the sources apply.
 */
#ifndef ASF_LIB_COSTS_H
#define ASF_LIB_COSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/sys/options.h"

#pragma GCC visibility push(hidden)

/* Bytes.  For fewer bytes read and write are always as fast as other calls, so the table is not read. */
enum { ASF_COSTS_LEAST = 64 << 10 };

enum { ASF_COSTS_FILE_SYSTEMS = 8, ASF_COSTS_SIZE = 2048 };

/* The first line of the file. */
#define ASF__TUNE_FORMAT "asf-tune 2\n"

/* Picoseconds a byte.  `read`: in chunks of 64 KB; `map`: mapped, with each word used; `by_hand`:
 * copied by read and write; `by_range`: by copy_file_range.  0: not measured. */
struct asf_fs_costs {
    uint64_t type; /* statfs's f_type */
    uint64_t read, map, by_hand, by_range;
};

struct asf_costs {
    size_t map_min; /* bytes; the smallest file that is mapped faster than read */
    size_t window;  /* bytes, a multiple of 2 MiB */
    size_t buffer;  /* output buffer, bytes, a multiple of 4096 */
    size_t copy;    /* buffer for copying by read and write, bytes, a multiple of 4096 */
    size_t pipe;    /* size of a pipe that a copy writes to, bytes */
    size_t count;
    struct asf_fs_costs fs[ASF_COSTS_FILE_SYSTEMS];
};

/* asf__costs: the user's table, or else the system's; NULL when no valid one exists, and always in a
 * set-uid program. */
const struct asf_costs *asf__costs(void);

/* asf__costs_of: the table's row for a file system, or NULL. */
const struct asf_fs_costs *asf__costs_of(long type);

/* asf__map_pays: whether a map is faster by more than 1/16.  The margin pays for page faults:
 * each process must fault in a map anew. */
static inline bool asf__map_pays(const struct asf_fs_costs *fs) {
    return fs->map && fs->map + fs->map / 16 < fs->read;
}

/* asf__costs_parse: parse a table from n bytes of text.  Returns whether it is complete and every
 * value is possible. */
bool asf__costs_parse(struct asf_costs *costs, const char *text, size_t n);
/* asf__costs_path: the path of the user's table (which = 0) or the system's (1).  Returns false when
 * there is none or it is too long. */
bool asf__costs_path(char *path, size_t size, int which);
/* asf__costs_load: read and parse one file.  Returns 0, or a negated errno value: -EPERM when another
 * user owns the file or may write it, -EINVAL when its text is no valid table. */
int asf__costs_load(struct asf_costs *costs, const char *path);

/* asf__tuned_NAME: the user's size, else the measured one, else the built-in one. */
#define ASF_TUNED(name)                                                                                      \
    static inline size_t asf__tuned_##name(void) {                                                           \
        const struct asf_options *o = asf__options();                                                        \
        const struct asf_costs *c = o->given & ASF_GIVEN_##name ? NULL : asf__costs();                       \
        return c ? c->name : o->name;                                                                        \
    }
ASF_TUNED(map_min)
ASF_TUNED(window)

/* asf__tuned_buffer: the ASI's output buffer for files, bytes.
 * asf__tuned_pipe: the size of a pipe for a copy, bytes; readers of 16 to 128 KB gain nothing from a
 * larger one. */
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
