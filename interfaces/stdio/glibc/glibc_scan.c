/* SPDX-License-Identifier: MIT
 *
 * glibc_scan.c - the calls of the scanf family that glibc's own code makes.
 */
#include "interfaces/stdio/scan/scanf_engine.h"

#ifndef ASF_TEXT_BY_LIBC
/* libc's functions under one dialect's names. */
struct libc_scanf {
    const char *stream_name, *text_name;
    void *stream, *text;
};

static struct libc_scanf libc_scanfs[] = {
    [ASF_SCAN_GNU] = {"vfscanf", "vsscanf", NULL, NULL},
    [ASF_SCAN_C99] = {"__isoc99_vfscanf", "__isoc99_vsscanf", NULL, NULL},
    [ASF_SCAN_C23] = {"__isoc23_vfscanf", "__isoc23_vsscanf", NULL, NULL},
};

/* Programs built with a newer libc call __isoc23_*.  An older libc does not have these: its __isoc99_* are
 * called. */
static struct libc_scanf *find_libc_scanf(enum asf_dialect dialect) {
    bool unknown = dialect == ASF_SCAN_C23 && !dlsym(RTLD_NEXT, libc_scanfs[dialect].stream_name);
    return &libc_scanfs[unknown ? ASF_SCAN_C99 : dialect];
}

int asf__libc_scan(struct asf_cios *c, enum asf_dialect dialect, const char *format, va_list *ap) {
    typedef int scanner(FILE *, const char *, va_list);
    struct libc_scanf *libc = find_libc_scanf(dialect);
    scanner *scan_format = (scanner *)asf__next(&libc->stream, libc->stream_name);
    asf__remove_bias(c);
    return scan_format(asf__file(c), format, *ap);
}

int asf__libc_scan_text(const char *text, enum asf_dialect dialect, const char *format, va_list *ap) {
    typedef int scanner(const char *, const char *, va_list);
    struct libc_scanf *libc = find_libc_scanf(dialect);
    return ((scanner *)asf__next(&libc->text, libc->text_name))(text, format, *ap);
}
#endif
