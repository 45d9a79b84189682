/* SPDX-License-Identifier: MIT
 *
 * glibc_print.c - the calls of the printf family that glibc's own code makes, and the conversions
 * that a program registers with it.
 */
#include "interfaces/stdio/print/print.h"

#include <printf.h>
#include <stdlib.h>

#ifdef ASF_STATIC
/* glibc's formatter for streams cannot be reached here: text is made in memory first. */
extern int __vasprintf_chk(char **, int, const char *, va_list);

int asf__print_allocated(char **result, int fortify, const char *format, asf__arguments ap) {
    return fortify > 0 ? __vasprintf_chk(result, fortify, format, asf__list(ap))
                       : vasprintf(result, format, asf__list(ap));
}

int asf__libc_print(struct asf_cios *c, int fortify, const char *format, asf__arguments ap) {
    char *text;
    int n = asf__print_allocated(&text, fortify, format, ap);
    if (n < 0)
        return -1;
    bool put = n == 0 || asf__put_bytes(c, text, (size_t)n) == (size_t)n;
    free(text);
    return put ? n : -1;
}

int asf__libc_print_fd(int fd, int fortify, const char *format, asf__arguments ap) {
    char *text;
    int n = asf__print_allocated(&text, fortify, format, ap);
    if (n < 0)
        return -1;
    bool written = asf__print_bytes(fd, text, (size_t)n);
    free(text);
    return written ? n : -1;
}
#else

/* --- formats --------------------------------------------------------------------------- */

/* Names of libc that are not interposed. */
extern int __vsnprintf(char *, size_t, const char *, va_list);
extern int _IO_vsprintf(char *, const char *, va_list);
/* Names of libc that are interposed. */
extern int __vfprintf_chk(FILE *, int, const char *, va_list);
extern int __vdprintf_chk(int, int, const char *, va_list);
extern int __vsnprintf_chk(char *, size_t, int, size_t, const char *, va_list);
extern int __vsprintf_chk(char *, int, size_t, const char *, va_list);
extern int __vasprintf_chk(char **, int, const char *, va_list);

int asf__libc_print(struct asf_cios *c, int fortify, const char *format, asf__arguments ap) {
    asf__remove_bias(c);
    return fortify > 0 ? ASF_NEXT(__vfprintf_chk)(asf__file(c), fortify, format, asf__list(ap))
                       : ASF_NEXT(vfprintf)(asf__file(c), format, asf__list(ap));
}

int asf__libc_print_fd(int fd, int fortify, const char *format, asf__arguments ap) {
    return fortify > 0 ? ASF_NEXT(__vdprintf_chk)(fd, fortify, format, asf__list(ap))
                       : ASF_NEXT(vdprintf)(fd, format, asf__list(ap));
}

/* A format that may have %n is left to libc as a whole, so libc's checked form, which checks %n, is needed
 * only then.  sprintf, whose room is more than SSIZE_MAX, may read the text that it is about to overwrite, so
 * it cannot use vsnprintf, which first stores a null. */
int asf__libc_print_text(char *p, size_t room, int fortify, bool all, const char *format, asf__arguments ap) {
    if (fortify > 0 && all)
        return ASF_NEXT(__vsnprintf_chk)(p, room + 1, fortify, room + 1, format, asf__list(ap));
    if (room > SSIZE_MAX)
        return _IO_vsprintf(p, format, asf__list(ap));
    return __vsnprintf(p, room + 1, format, asf__list(ap));
}

int asf__libc_print_checked(char *p, int fortify, size_t size, const char *format, asf__arguments ap) {
    return ASF_NEXT(__vsprintf_chk)(p, fortify, size, format, asf__list(ap));
}

int asf__libc_print_allocated(char **result, int fortify, const char *format, asf__arguments ap) {
    return ASF_NEXT(__vasprintf_chk)(result, fortify, format, asf__list(ap));
}

/* --- conversions of the program's own -------------------------------------------- */

EXPORT int register_printf_specifier(int spec, printf_function *print, printf_arginfo_size_function *info) {
    asf__format_custom = true;
    return ASF_NEXT(register_printf_specifier)(spec, print, info);
}

EXPORT int register_printf_modifier(const wchar_t *text) {
    asf__format_custom = true;
    return ASF_NEXT(register_printf_modifier)(text);
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
EXPORT int register_printf_function(int spec, printf_function *print, printf_arginfo_function *info) {
    asf__format_custom = true;
    return ASF_NEXT(register_printf_function)(spec, print, info);
}
#endif
