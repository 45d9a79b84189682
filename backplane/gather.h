/* SPDX-License-Identifier: MIT
 *
 * gather.h - small writes to a file gathered into larger ones, for those who
 * ask for it (ASF_OPTIONS=write=coalesce).  What is gathered is written before
 * anything by which this process could see the difference; asf__unsettled_count
 * counts it with what streams hold back.
 * Layer: backplane.  May include: lib, include/asf.
 */
#ifndef ASF_BACKPLANE_GATHER_H
#define ASF_BACKPLANE_GATHER_H

#include <stddef.h>

#pragma GCC visibility push(hidden)

/* Files with something gathered. */
extern int asf__gathered_count;

/* asf__gather: take n bytes.  Returns 1, 0 when they are for the kernel, or the
 * error of an earlier write, which is told once. */
int asf__gather(int fd, const void *p, size_t n);
/* asf__write_gathered: of all files.  asf__end_gathering: of one, which is not
 * gathered for any more; returns 0 or an error not told yet. */
void asf__write_gathered(void);
static inline void asf__before_io(void) {
    if (__builtin_expect(asf__gathered_count > 0, 0))
        asf__write_gathered();
}
int asf__end_gathering(int fd);
/* asf__gathering_error: the same, of a descriptor that is gathered for on. */
int asf__gathering_error(int fd);
/* asf__stop_gathering: for good. */
void asf__stop_gathering(void);

#pragma GCC visibility pop

#endif
