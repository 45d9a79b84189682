/* SPDX-License-Identifier: MIT
 *
 * wide_scan.c - fwscanf and its variants.  Most calls have an ASCII format, and ASCII input that is in the
 * window: scanf's engine makes these on bytes.  Other calls are made by libc's own code, which works on our
 * FILE through its windows and jump table, inside the stream's lock.  A static program uses libc's fwide, and
 * libc's scanf functions, which call our streams through the jump table.
 */
#include "interfaces/stdio/stdio_cios.h"

#ifndef ASF_STATIC
#include <stdarg.h>

#include "interfaces/stdio/scan/scanf_engine.h"
#include "lib/sys/cleanup.h"
#include "lib/text/utf8.h"

EXPORT int fwide(FILE *f, int mode) {
    struct asf_cios *c = asf__cios(f);
    if (c->orientation != 0 || mode == 0)
        return c->orientation;
    asf__enter(c);
    int r = asf__orient(f, mode);
    asf__leave(c);
    return r;
}

/* --- on bytes ------------------------------------------------------------------ */

enum { MAX_FORMAT = 80, FIRST_REACH = 32, SECOND_REACH = 256 };

/* Copies the characters at p as bytes, up to the first null or character beyond ASCII.  Returns how many. */
static size_t narrow_text(char *to, const wchar_t *p, size_t n) {
    size_t i = 0;
    for (; i < n && (unsigned)p[i] - 1 < 0x7f; i++)
        to[i] = (char)p[i];
    return i;
}

/* Copies an ASCII format as bytes.  Returns false for any other, and for one that may store wide
 * characters: libc stores these without a conversion. */
static bool narrow_format(char *to, const wchar_t *format) {
    for (size_t i = 0; format && i < MAX_FORMAT; i++) {
        wchar_t ch = format[i];
        bool wide = ch == L'S' || ch == L'C' ||
                    (i > 0 && to[i - 1] == 'l' && (ch == L's' || ch == L'c' || ch == L'['));
        if ((unsigned)ch >= 0x80 || wide)
            return false;
        to[i] = (char)ch;
        if (ch == L'\0')
            return true;
    }
    return false;
}

/* Whether scanf's engine can read the window: it has plain input, and the locale's encoding is ASCII or
 * UTF-8. */
static bool is_simple(const struct asf_cios *c) {
    return asf__ours_wide(c) && !asf__is_putting(c) && !(c->flags & (ASF_IN_BACKUP | ASF_NO_READS)) &&
           asf__charset_of_locale() != ASF__OTHER_CHARSET;
}

/* Makes the call on at most `reach` characters of the window.  Returns ASF_SCAN_BY_LIBC if libc must
 * make it; *cut: more characters might change that. */
static int scan_reach(struct asf_cios *c, size_t reach, enum asf_dialect dialect, const char *format,
                      va_list ap, bool *cut) {
    struct asf_wide *w = asf__wide(c);
    size_t there = (size_t)(w->read_end - w->read_ptr), taken;
    char text[SECOND_REACH + 1];
    va_list arguments;
    size_t n = narrow_text(text, w->read_ptr, there < reach ? there : reach);
    text[n] = '.';
    *cut = n == reach;
    va_copy(arguments, ap);
    int r = asf__scan_part(text, n, dialect, format, &arguments, &taken);
    va_end(arguments);
    if (r != ASF_SCAN_BY_LIBC)
        w->read_ptr += taken;
    return r;
}

static int scan_bytes(struct asf_cios *c, enum asf_dialect dialect, const wchar_t *format, va_list ap) {
    char bytes[MAX_FORMAT];
    bool cut;
    if (!narrow_format(bytes, format) || !is_simple(c))
        return ASF_SCAN_BY_LIBC;
    int r = scan_reach(c, FIRST_REACH, dialect, bytes, ap, &cut);
    return r == ASF_SCAN_BY_LIBC && cut ? scan_reach(c, SECOND_REACH, dialect, bytes, ap, &cut) : r;
}

/* --- calls ----------------------------------------------------------------------- */

typedef int scanner(FILE *, const wchar_t *, va_list);
extern scanner __isoc99_vfwscanf, __isoc23_vfwscanf;

static void unlock_stream(void *c) {
    asf__leave(c);
}

static int scan_by_libc(struct asf_cios *c, scanner *libc, const wchar_t *format, va_list ap) {
    asf__remove_bias(c);
    if (__libc_single_threaded)
        return libc(asf__file(c), format, ap);
    if (asf__is_own_object(c)) /* if the thread is cancelled, libc releases its own lock */
        c->use = ASF_UNLOCKED;
    return ASF_CLEANUP(unlock_stream, c, libc(asf__file(c), format, ap));
}

static int scan_wide(struct asf_cios *c, enum asf_dialect dialect, scanner *libc, const wchar_t *format,
                     va_list ap) {
    asf__enter(c);
    asf__count(c);
    int r = scan_bytes(c, dialect, format, ap);
    if (r == ASF_SCAN_BY_LIBC)
        r = scan_by_libc(c, libc, format, ap);
    asf__leave(c);
    return r;
}

/* Programs built with a newer libc call __isoc23_*.  An older libc does not have these: its __isoc99_* are
 * called. */
static scanner *isoc23(void) {
    static void *cache;
    void *found = __atomic_load_n(&cache, __ATOMIC_RELAXED);
    if (!found && (found = dlsym(RTLD_NEXT, "__isoc23_vfwscanf")))
        __atomic_store_n(&cache, found, __ATOMIC_RELAXED);
    return (scanner *)(found ? found : asf__next(&cache, "__isoc99_vfwscanf"));
}

static scanner *plain_vfwscanf(void) {
    static void *found;
    return (scanner *)asf__next(&found, "vfwscanf");
}

/* The plain names: <wchar.h> redirects them to the C99 ones unless told not to. */
#define FAMILY(prefix, dialect, label, libc)                                                                 \
    int prefix##vfwscanf(FILE *, const wchar_t *, va_list) __asm__(label "vfwscanf");                        \
    int prefix##vwscanf(const wchar_t *, va_list) __asm__(label "vwscanf");                                  \
    int prefix##fwscanf(FILE *, const wchar_t *, ...) __asm__(label "fwscanf");                              \
    int prefix##wscanf(const wchar_t *, ...) __asm__(label "wscanf");                                        \
    EXPORT int prefix##vfwscanf(FILE *f, const wchar_t *format, va_list ap) {                                \
        return scan_wide(asf__cios(f), dialect, libc, format, ap);                                           \
    }                                                                                                        \
    EXPORT int prefix##vwscanf(const wchar_t *format, va_list ap) {                                          \
        return scan_wide(asf__cios(stdin), dialect, libc, format, ap);                                       \
    }                                                                                                        \
    ASF_VARIADIC(prefix##fwscanf, (FILE * f, const wchar_t *format, ...),                                    \
                 scan_wide(asf__cios(f), dialect, libc, format, list))                                       \
    ASF_VARIADIC(prefix##wscanf, (const wchar_t *format, ...),                                               \
                 scan_wide(asf__cios(stdin), dialect, libc, format, list))

FAMILY(asf__plain_, ASF_SCAN_GNU, "", plain_vfwscanf())
FAMILY(asf__isoc99_, ASF_SCAN_C99, "__isoc99_", ASF_NEXT(__isoc99_vfwscanf))
FAMILY(asf__isoc23_, ASF_SCAN_C23, "__isoc23_", isoc23())
#endif
