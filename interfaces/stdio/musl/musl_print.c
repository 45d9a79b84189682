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

/* Makes the text in `small`, or if that is too small in memory from malloc.  returns  its length, or -1 if
 * there is no more than what `small` has: a character could not be encoded, or there is no memory. */
static int make_text(char **text, char *small, size_t size, const char *format, asf__arguments ap) {
    struct asf__place first = asf__place_in(ap);
    small[0] = '\0';
    int n = ASF_LIBC_OWN(vsnprintf)(small, size, format, asf__list(ap));
    *text = small;
    if (n < 0 || (size_t)n < size)
        return n;
    asf__go_to(ap, first);
    char *all;
    n = asf__libc_print_allocated(&all, 0, format, ap);
    if (n >= 0)
        *text = all;
    return n;
}

/* Prints to the stream, or if there is none to the descriptor. */
static int print(struct asf_cios *c, int fd, const char *format, asf__arguments ap) {
    char small[512], *text;
    int n = make_text(&text, small, sizeof small, format, ap);
    size_t length = n < 0 ? strlen(small) : (size_t)n;
    bool put = c ? asf__put_bytes(c, text, length) == length : asf__print_bytes(fd, text, length);
    if (text != small)
        free(text);
    return put ? n : -1;
}

int asf__libc_print(struct asf_cios *c, int fortify, const char *format, asf__arguments ap) {
    (void)fortify;
    return print(c, -1, format, ap);
}

int asf__libc_print_fd(int fd, int fortify, const char *format, asf__arguments ap) {
    (void)fortify;
    return print(NULL, fd, format, ap);
}
