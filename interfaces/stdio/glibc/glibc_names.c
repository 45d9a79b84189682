/* SPDX-License-Identifier: MIT
 *
 * glibc_names.c - names that glibc alone has.
 */
#include "interfaces/stdio/stdio_cios.h"

#include <stdio_ext.h>

/* Programs have getc_unlocked and putc_unlocked inline.  These call __uflow, __underflow and __overflow when
 * the window has no byte or no room.  A static program is linked with libc's definitions of the three, which
 * call the stream's jump table. */
#ifdef ASF_STATIC
#define INLINE_END __attribute__((weak)) EXPORT
#else
#define INLINE_END EXPORT
#endif

INLINE_END int __uflow(FILE *f) {
    struct asf_cios *c = asf__cios(f);
    asf__count(c);
    return ASF_UNLOCKED(c, asf__uflow(c));
}

INLINE_END int __underflow(FILE *f) {
    struct asf_cios *c = asf__cios(f);
    return ASF_UNLOCKED(c, asf__underflow(c)) == EOF ? EOF : (unsigned char)*c->read_ptr;
}

INLINE_END int __overflow(FILE *f, int ch) {
    struct asf_cios *c = asf__cios(f);
    asf__count(c);
    return ASF_UNLOCKED(c, asf__put_char(c, ch));
}

EXPORT void __fpurge(FILE *f) {
    asf__purge(asf__cios(f));
}
