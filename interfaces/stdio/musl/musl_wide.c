/* SPDX-License-Identifier: MIT
 *
 * musl_wide.c - <wchar.h> on streams: each character is converted in the buffer of bytes, as in musl.
 */
#include "interfaces/stdio/print/print.h"

#include <limits.h>
#include <locale.h>
#include <wchar.h>

/* --- orientation ---------------------------------------------------------------------- */

static inline void make_wide(struct asf_cios *c) {
    if (c->orientation == 0) {
        c->orientation = -1;
        c->flags2 |= ASF_WIDE_CHARACTERS | (MB_CUR_MAX > 1 ? ASF_WIDE_IN_UTF8 : 0);
    }
}

/* A stream keeps the encoding of the locale in which it became wide.  If the thread's locale has another
 * encoding, the thread gets a locale with the stream's.  returns  the locale to restore, or NULL. */
static locale_t enter_encoding(struct asf_cios *c) {
    make_wide(c);
    const bool utf8 = c->flags2 & ASF_WIDE_IN_UTF8;
    if (asf__likely(utf8 == (MB_CUR_MAX > 1)))
        return NULL;
    return uselocale(newlocale(LC_CTYPE_MASK, utf8 ? "C.UTF-8" : "C", NULL)); /* musl's static locales */
}

#define AS_WIDE(c, call)                                                                                     \
    (__extension__({                                                                                         \
        const locale_t outer_ = enter_encoding(c);                                                           \
        __typeof__(call) answer_ = call;                                                                     \
        if (outer_)                                                                                          \
            uselocale(outer_);                                                                               \
        answer_;                                                                                             \
    }))

static int orientation(const struct asf_cios *c) {
    return c->flags2 & ASF_WIDE_CHARACTERS ? 1 : c->orientation;
}

static int orient(struct asf_cios *c, int mode) {
    if (mode > 0)
        make_wide(c);
    else if (mode < 0)
        asf__orient_to_bytes(c);
    return orientation(c);
}

EXPORT int fwide(FILE *f, int mode) {
    struct asf_cios *c = asf__cios(f);
    return ASF_LOCKED(c, asf__try_biased_lock, orient(c, mode));
}

/* --- input ------------------------------------------------------------------------------- */

/* Reads byte by byte a character that is only partly in the window. */
static __attribute__((noinline)) wint_t read_by_bytes(struct asf_cios *c) {
    mbstate_t state = {0};
    wchar_t wc;
    for (bool first = true;; first = false) {
        int byte = asf__avail(c) > 0 ? (unsigned char)*c->read_ptr++ : asf__uflow(c);
        if (byte == EOF) {
            if (!first)
                asf__error(c, -EILSEQ);
            return WEOF;
        }
        char ch = (char)byte;
        size_t n = mbrtowc(&wc, &ch, 1, &state);
        if (n != (size_t)-1 && n != (size_t)-2)
            return (wint_t)wc;
        if (n == (size_t)-1) {
            if (!first) {
                c->flags |= ASF_ERR;
                asf__unget(c, byte);
            }
            return WEOF;
        }
    }
}

static inline wint_t read_wide(struct asf_cios *c) {
    if (asf__avail(c) > 0 && (signed char)*c->read_ptr >= 0)
        return (unsigned char)*c->read_ptr++;
    if (asf__avail(c) > 0) {
        wchar_t wc;
        int n = mbtowc(&wc, c->read_ptr, asf__avail(c));
        if (n >= 0) {
            c->read_ptr += n + !n;
            return (wint_t)wc;
        }
    }
    return read_by_bytes(c);
}

EXPORT wint_t fgetwc(FILE *f) {
    struct asf_cios *c = asf__cios(f);
    if (asf__alone() && c->flags2 & ASF_WIDE_CHARACTERS && asf__avail(c) > 0 &&
        (signed char)*c->read_ptr >= 0)
        return (unsigned char)*c->read_ptr++;
    return ASF_LOCKED(c, asf__try_biased_lock, AS_WIDE(c, read_wide(c)));
}

EXPORT wint_t fgetwc_unlocked(FILE *f) {
    struct asf_cios *c = asf__cios(f);
    return ASF_UNLOCKED(c, AS_WIDE(c, read_wide(c)));
}

EXPORT wint_t getwchar(void) {
    return fgetwc(stdin);
}

EXPORT wint_t getwchar_unlocked(void) {
    return fgetwc_unlocked(stdin);
}

wint_t getwc(FILE *) ALIAS(fgetwc);
wint_t getwc_unlocked(FILE *) ALIAS(fgetwc_unlocked);

static wchar_t *read_wide_line(struct asf_cios *c, wchar_t *text, int n) {
    wchar_t *p = text;
    wint_t wc = 0;
    while (n-- > 1 && wc != L'\n' && (wc = read_wide(c)) != WEOF)
        *p++ = (wchar_t)wc;
    *p = L'\0';
    return c->flags & ASF_ERR || p == text ? NULL : text;
}

EXPORT wchar_t *fgetws(wchar_t *restrict text, int n, FILE *restrict f) {
    struct asf_cios *c = asf__cios(f);
    if (n == 0)
        return text;
    return ASF_LOCKED(c, asf__try_biased_lock, AS_WIDE(c, read_wide_line(c, text, n)));
}

EXPORT wchar_t *fgetws_unlocked(wchar_t *restrict text, int n, FILE *restrict f) {
    struct asf_cios *c = asf__cios(f);
    if (n == 0)
        return text;
    return ASF_UNLOCKED(c, AS_WIDE(c, read_wide_line(c, text, n)));
}

static wint_t push_back(struct asf_cios *c, wint_t wc) {
    char bytes[MB_LEN_MAX];
    size_t n = wc == WEOF ? (size_t)-1 : wcrtomb(bytes, (wchar_t)wc, NULL);
    if (n == (size_t)-1 || c->flags & ASF_NO_READS)
        return WEOF;
    while (n-- > 0)
        if (asf__unget(c, (unsigned char)bytes[n]) == EOF)
            return WEOF;
    c->flags &= ~ASF_EOF;
    return wc;
}

EXPORT wint_t ungetwc(wint_t wc, FILE *f) {
    struct asf_cios *c = asf__cios(f);
    return ASF_LOCKED(c, asf__try_biased_lock, AS_WIDE(c, push_back(c, wc)));
}

/* --- output --------------------------------------------------------------------------------- */

static wint_t put_wide(struct asf_cios *c, wchar_t wc) {
    char bytes[MB_LEN_MAX];
    if ((unsigned)wc < 0x80) {
        if (c->write_ptr < c->write_end)
            return (wint_t)(*c->write_ptr++ = (char)wc);
        return asf__put_char(c, (int)wc) == EOF ? WEOF : (wint_t)wc;
    }
    size_t n = wcrtomb(bytes, wc, NULL);
    if (n == (size_t)-1) {
        c->flags |= ASF_ERR;
        return WEOF;
    }
    return asf__put_bytes(c, bytes, n) == n ? (wint_t)wc : WEOF;
}

EXPORT wint_t fputwc(wchar_t wc, FILE *f) {
    struct asf_cios *c = asf__cios(f);
    if (asf__alone() && c->flags2 & ASF_WIDE_CHARACTERS && (unsigned)wc < 0x80 && c->write_ptr < c->write_end)
        return (wint_t)(*c->write_ptr++ = (char)wc);
    return ASF_LOCKED(c, asf__try_biased_lock, AS_WIDE(c, put_wide(c, wc)));
}

EXPORT wint_t fputwc_unlocked(wchar_t wc, FILE *f) {
    struct asf_cios *c = asf__cios(f);
    return ASF_UNLOCKED(c, AS_WIDE(c, put_wide(c, wc)));
}

EXPORT wint_t putwchar(wchar_t wc) {
    return fputwc(wc, stdout);
}

EXPORT wint_t putwchar_unlocked(wchar_t wc) {
    return fputwc_unlocked(wc, stdout);
}

wint_t putwc(wchar_t, FILE *) ALIAS(fputwc);
wint_t putwc_unlocked(wchar_t, FILE *) ALIAS(fputwc_unlocked);

/* returns  0 or -1. */
static int put_text(struct asf_cios *c, const wchar_t *text) {
    char bytes[BUFSIZ];
    size_t n = 0;
    while (text && (n = wcsrtombs(bytes, &text, sizeof bytes, NULL)) + 1 > 1)
        if (asf__put_bytes(c, bytes, n) != n)
            return -1;
    return (int)n;
}

EXPORT int fputws(const wchar_t *restrict text, FILE *restrict f) {
    struct asf_cios *c = asf__cios(f);
    return ASF_LOCKED(c, asf__try_biased_lock, AS_WIDE(c, put_text(c, text)));
}

EXPORT int fputws_unlocked(const wchar_t *restrict text, FILE *restrict f) {
    struct asf_cios *c = asf__cios(f);
    return ASF_UNLOCKED(c, AS_WIDE(c, put_text(c, text)));
}

/* --- formats ------------------------------------------------------------------------------------ */

struct wide_output {
    struct asf__wide_output o; /* the first member, since `full` gets its address */
    struct asf_cios *c;
    wchar_t text[256];
};

static bool put_characters(struct asf_cios *c, const wchar_t *p, size_t n) {
    for (; n > 0; p++, n--)
        if (put_wide(c, *p) == WEOF)
            return false;
    return true;
}

static bool put_full(struct asf__wide_output *o, const wchar_t *p, size_t n) {
    struct wide_output *w = (struct wide_output *)o;
    bool put = put_characters(w->c, w->text, (size_t)(o->p - w->text)) && put_characters(w->c, p, n);
    o->p = w->text;
    return put;
}

static __attribute__((noinline)) int print_by_libc(struct asf_cios *c, const wchar_t *format, va_list ap) {
    const int old = asf__forget_error(c);
    struct asf_bridge *b = asf__bridge_open(c, BUFSIZ);
    if (!b)
        return -1;
    int n = ASF_LIBC_OWN(vfwprintf)(b->file, format, ap);
    if (ASF_LIBC_OWN(ferror)(b->file))
        c->flags |= ASF_ERR;
    asf__bridge_close(b);
    return asf__has_failed(c, old) ? -1 : n;
}

static int print_wide(struct asf_cios *c, const wchar_t *format, asf__arguments ap) {
    struct wide_output w;
    if (c->flags & ASF_NO_WRITES)
        return asf__error(c, asf__reported_error(c, -EBADF, ASF_NO_WRITES));
    w.o = (struct asf__wide_output){.p = w.text, .end = w.text + 256, .begin = w.text, .full = put_full};
    w.c = c;
    struct asf__place first = asf__place_in(ap);
    const wchar_t *left = asf__format_wide(&w.o, format, ap);
    size_t n = asf__wide_made(&w.o);
    if (left && w.o.before == 0) {
        asf__go_to(ap, first);
        return print_by_libc(c, format, asf__list(ap));
    }
    if (!w.o.failed && !put_characters(c, w.text, (size_t)(w.o.p - w.text)))
        return -1;
    return asf__print_result(w.o.failed, n, left ? print_by_libc(c, left, asf__list(ap)) : 0);
}

EXPORT int vfwprintf(FILE *restrict f, const wchar_t *restrict format, va_list ap) {
    struct asf_cios *c = asf__cios(f);
    asf__enter(c);
    asf__count(c);
    int n = AS_WIDE(c, print_wide(c, format, ASF_ARGUMENTS(ap)));
    asf__leave(c);
    return n;
}

EXPORT int vwprintf(const wchar_t *restrict format, va_list ap) {
    return vfwprintf(stdout, format, ap);
}

ASF_VARIADIC(fwprintf, (FILE *restrict f, const wchar_t *restrict format, ...), vfwprintf(f, format, list))
ASF_VARIADIC(wprintf, (const wchar_t *restrict format, ...), vfwprintf(stdout, format, list))

static int scan_wide(struct asf_cios *c, const wchar_t *format, va_list ap) {
    struct asf_bridge *b = asf__bridge_open(c, BUFSIZ);
    if (!b)
        return EOF;
    int n = ASF_LIBC_OWN(vfwscanf)(b->file, format, ap);
    if (ASF_LIBC_OWN(ferror)(b->file))
        c->flags |= ASF_ERR;
    asf__bridge_close(b);
    return n;
}

EXPORT int vfwscanf(FILE *restrict f, const wchar_t *restrict format, va_list ap) {
    struct asf_cios *c = asf__cios(f);
    asf__enter(c);
    asf__count(c);
    int n = AS_WIDE(c, scan_wide(c, format, ap));
    asf__leave(c);
    return n;
}

EXPORT int vwscanf(const wchar_t *restrict format, va_list ap) {
    return vfwscanf(stdin, format, ap);
}

ASF_VARIADIC(fwscanf, (FILE *restrict f, const wchar_t *restrict format, ...), vfwscanf(f, format, list))
ASF_VARIADIC(wscanf, (const wchar_t *restrict format, ...), vfwscanf(stdin, format, list))

int __isoc99_vfwscanf(FILE *restrict, const wchar_t *restrict, va_list) ALIAS(vfwscanf);
int __isoc99_vwscanf(const wchar_t *restrict, va_list) ALIAS(vwscanf);
int __isoc99_fwscanf(FILE *restrict, const wchar_t *restrict, ...) ALIAS(fwscanf);
int __isoc99_wscanf(const wchar_t *restrict, ...) ALIAS(wscanf);

#ifdef ASF_STATIC
/* libc.a's vswprintf would link musl's functions on streams. */
EXPORT int vswprintf(wchar_t *restrict s, size_t n, const wchar_t *restrict format, va_list ap) {
    return ASF_LIBC_OWN(vswprintf)(s, n, format, ap);
}

EXPORT int vswscanf(const wchar_t *restrict s, const wchar_t *restrict format, va_list ap) {
    return ASF_LIBC_OWN(vswscanf)(s, format, ap);
}

ASF_VARIADIC(swprintf, (wchar_t *restrict s, size_t n, const wchar_t *restrict format, ...),
             vswprintf(s, n, format, list))
ASF_VARIADIC(swscanf, (const wchar_t *restrict s, const wchar_t *restrict format, ...),
             vswscanf(s, format, list))
int __isoc99_vswscanf(const wchar_t *restrict, const wchar_t *restrict, va_list) ALIAS(vswscanf);
int __isoc99_swscanf(const wchar_t *restrict, const wchar_t *restrict, ...) ALIAS(swscanf);
#endif
