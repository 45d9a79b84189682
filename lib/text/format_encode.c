/* SPDX-License-Identifier: MIT
 *
 * format_encode.c - printf's conversions of wide characters and strings to the locale's bytes.
 */
#define _GNU_SOURCE
#include "lib/text/format_spec.h"
#include "lib/text/of_libc.h"
#include "lib/text/utf8.h"

/* Only text that takes at most this many bytes is converted here; longer text is left to libc. */
enum { MOST = 4096 };

/* Whether ASCII characters are encoded as single bytes.  They are in musl's C locale, too, whose
 * character set is not known. */
static inline bool has_ascii(enum asf__charset set) {
    return set != ASF__OTHER_CHARSET || !ASF__OF_GLIBC;
}

/* Returns the number of bytes of a character; 0: it has no encoding, or is uncommon. */
static inline size_t encoded_length(wchar_t ch, enum asf__charset set) {
    unsigned code = (unsigned)ch;
    if (code < 0x80)
        return 1;
    if (set != ASF__UTF8 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return 0;
    return code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

/* Puts text that does not fit, in the same chunks as libc. */
static __attribute__((noinline)) void put_chunks(struct asf__output *o, const struct asf__spec *s,
                                                 const wchar_t *text, const wchar_t *end, size_t n) {
    size_t blanks = (size_t)s->width > n ? (size_t)s->width - n : 0;
    asf__pad(o, ' ', s->flags & FLAG_LEFT ? 0 : blanks);
    while (text < end) {
        char piece[256], *p = piece;
        asf__utf8_encode(&text, ASF__PUTS_GROUPS ? text + 1 : end, &p, piece + sizeof piece);
        asf__put(o, piece, (size_t)(p - piece));
    }
    asf__pad(o, ' ', s->flags & FLAG_LEFT ? blanks : 0);
}

/* Puts the characters up to `end`, which take n bytes. */
static void put_encoded(struct asf__output *o, struct asf__spec *s, const wchar_t *text, const wchar_t *end,
                        size_t n) {
    size_t behind;
    s->flags &= ~(unsigned)FLAG_ZERO;
    char *p = asf__begin_field(o, s, "", 0, 0, n, &behind);
    if (!p) {
        put_chunks(o, s, text, end, n);
        return;
    }
    asf__utf8_encode(&text, end, &p, p + n);
    asf__end_field(o, behind);
}

/* Puts whole characters up to the precision, which is in bytes. */
bool asf__put_wide_string(struct asf__output *o, struct asf__spec *s, const wchar_t *text) {
    enum asf__charset set = asf__charset_of_locale();
    size_t most = s->precision >= 0 ? (size_t)s->precision : MOST, n = 0;
    if (!text || most > MOST || !has_ascii(set))
        return false;
    const wchar_t *end = text;
    for (size_t more; n < most && *end != L'\0'; n += more, end++) {
        more = encoded_length(*end, set);
        if (more == 0 || (n + more > most && s->precision < 0))
            return false;
        if (n + more > most)
            break;
    }
    if (n >= MOST && s->precision < 0)
        return false;
    put_encoded(o, s, text, end, n);
    return true;
}

bool asf__put_wide_character(struct asf__output *o, struct asf__spec *s, wint_t ch) {
    wchar_t text = (wchar_t)ch;
    enum asf__charset set = asf__charset_of_locale();
    size_t n = has_ascii(set) ? encoded_length(text, set) : 0;
    if (n == 0 || (!ASF__PADS_WIDE && ch == 0))
        return false;
    put_encoded(o, s, &text, &text + 1, n);
    return true;
}
