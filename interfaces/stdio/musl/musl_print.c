/* SPDX-License-Identifier: MIT
 *
 * musl_print.c - the calls of the printf family that musl's own code makes, which has text in memory.  musl
 * has no checked forms.
 */
#include "interfaces/stdio/print/print.h"

#include <limits.h>
#include <stdlib.h>

int asf__libc_print_allocated(char **result, int fortify, const char *format, asf__arguments ap) {
    (void)fortify;
    return ASF_LIBC_OWN(vasprintf)(result, format, asf__list(ap));
}

int asf__libc_print_text(char *p, size_t room, int fortify, bool all, const char *format, asf__arguments ap) {
    (void)fortify, (void)all;
    if (room > SSIZE_MAX)
        return ASF_LIBC_OWN(vsprintf)(p, format, asf__list(ap));
    return ASF_LIBC_OWN(vsnprintf)(p, room + 1, format, asf__list(ap));
}

int asf__libc_print_checked(char *p, int fortify, size_t size, const char *format, asf__arguments ap) {
    (void)fortify, (void)size;
    return ASF_LIBC_OWN(vsprintf)(p, format, asf__list(ap));
}

/* Makes the text in `small`, or if that is too small in memory from malloc.  returns  its length, or -1. */
static int make_text(char **text, char *small, size_t size, const char *format, asf__arguments ap) {
    struct asf__place first = asf__place_in(ap);
    small[0] = '\0';
    int n = ASF_LIBC_OWN(vsnprintf)(small, size, format, asf__list(ap));
    *text = small;
    if (n < 0 || (size_t)n < size)
        return n;
    asf__go_to(ap, first);
    return asf__libc_print_allocated(text, 0, format, ap);
}

int asf__libc_print(struct asf_cios *c, int fortify, const char *format, asf__arguments ap) {
    char small[512], *text;
    (void)fortify;
    int n = make_text(&text, small, sizeof small, format, ap);
    if (n < 0) { /* what comes before the character that cannot be encoded */
        asf__put_bytes(c, small, strlen(small));
        return -1;
    }
    bool put = n == 0 || asf__put_bytes(c, text, (size_t)n) == (size_t)n;
    if (text != small)
        free(text);
    return put ? n : -1;
}

int asf__libc_print_fd(int fd, int fortify, const char *format, asf__arguments ap) {
    char small[512], *text;
    (void)fortify;
    int n = make_text(&text, small, sizeof small, format, ap);
    if (n < 0)
        return -1;
    bool written = asf__print_bytes(fd, text, (size_t)n);
    if (text != small)
        free(text);
    return written ? n : -1;
}
