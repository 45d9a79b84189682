/* SPDX-License-Identifier: MIT
 *
 * fresh_memory.h - memory that a program has just allocated and reads a large
 * file into.  The kernel would make its pages one by one as it copies, which
 * costs twice as much as the copy; here they are made large ones first.
 * Layer: lib.  May include: lib.
 */
#ifndef ASF_LIB_FRESH_MEMORY_H
#define ASF_LIB_FRESH_MEMORY_H

#include <stddef.h>

#pragma GCC visibility push(hidden)

/* Of shorter reads none is sure to cover a large page. */
enum { ASF_LARGE_READ = 4 << 20 };

void asf__make_large_pages(int fd, void *p, size_t n);

/* asf__before_large_read: n bytes at `p` are about to be read from `fd`. */
static inline void asf__before_large_read(int fd, void *p, size_t n) {
    if (__builtin_expect(n >= ASF_LARGE_READ, 0))
        asf__make_large_pages(fd, p, n);
}

#pragma GCC visibility pop

#endif
