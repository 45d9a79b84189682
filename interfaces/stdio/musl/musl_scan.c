/* SPDX-License-Identifier: MIT
 *
 * musl_scan.c - the calls of the scanf family that musl's own code makes.
 */
#include "interfaces/stdio/scan/scanf_engine.h"

int asf__libc_scan(struct asf_cios *c, enum asf_dialect dialect, const char *format, va_list *ap) {
    int n = EOF;
    (void)dialect;
    asf__enter(c);
    struct asf_bridge *b = asf__bridge_open(c, BUFSIZ);
    if (b) {
        n = ASF_LIBC_OWN(vfscanf)(b->file, format, *ap);
        asf__bridge_close(b);
    }
    asf__leave(c);
    return n;
}

int asf__libc_scan_text(const char *text, enum asf_dialect dialect, const char *format, va_list *ap) {
    (void)dialect;
    return ASF_LIBC_OWN(vsscanf)(text, format, *ap);
}
