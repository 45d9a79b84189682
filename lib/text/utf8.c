/* SPDX-License-Identifier: MIT
 *
 * utf8.c - see utf8.h.  Runs of ASCII are converted sixteen characters at a time, others one by one.
 */
#include "lib/text/utf8.h"

#include <langinfo.h>
#include <string.h>

#if defined(__x86_64__)
#include "lib/text/utf8_sse2.h"
#else
#include "lib/text/utf8_neon.h"
#endif

enum asf__charset asf__charset_of_locale(void) {
    const char *name = nl_langinfo(CODESET);
    if (strcmp(name, "UTF-8") == 0)
        return ASF__UTF8;
    return strcmp(name, "ANSI_X3.4-1968") == 0 ? ASF__ASCII : ASF__OTHER_CHARSET;
}

/* --- decoding ------------------------------------------------------------- */

static inline int is_ascii(char byte) {
    return (unsigned char)byte < 0x80;
}

void asf__ascii_decode(const char **from, const char *end, wchar_t **to, wchar_t *to_end) {
    const char *p = *from;
    wchar_t *q = *to;
    while (end - p >= RUN && to_end - q >= RUN) {
        int n = widen_ascii(p, q);
        p += n;
        q += n;
        if (n < RUN)
            break;
    }
    while (p < end && q < to_end && is_ascii(*p))
        *q++ = *p++;
    *from = p;
    *to = q;
}

static inline int continues(char byte) {
    return ((unsigned char)byte & 0xc0) == 0x80;
}

static inline unsigned low_bits(char byte) {
    return (unsigned char)byte & 0x3f;
}

/* Decodes one character of two to four bytes.  Returns its length; 0: the character is invalid or
 * incomplete. */
static inline int decode_long(const char *p, const char *end, wchar_t *ch) {
    unsigned lead = (unsigned char)*p, v;
    if (lead < 0xe0) {
        if (lead < 0xc2 || end - p < 2 || !continues(p[1]))
            return 0;
        *ch = (wchar_t)((lead & 0x1f) << 6 | low_bits(p[1]));
        return 2;
    }
    if (lead < 0xf0) {
        if (end - p < 3 || !continues(p[1]) || !continues(p[2]))
            return 0;
        v = (lead & 0xf) << 12 | low_bits(p[1]) << 6 | low_bits(p[2]);
        *ch = (wchar_t)v;
        return v >= 0x800 && (v & 0xf800) != 0xd800 ? 3 : 0;
    }
    if (end - p < 4 || lead > 0xf4 || !continues(p[1]) || !continues(p[2]) || !continues(p[3]))
        return 0;
    v = (lead & 7) << 18 | low_bits(p[1]) << 12 | low_bits(p[2]) << 6 | low_bits(p[3]);
    *ch = (wchar_t)v;
    return v >= 0x10000 && v <= 0x10ffff ? 4 : 0;
}

/* Decodes characters up to the next ASCII one.  Returns false if the caller must stop. */
static inline int decode_others(const char **from, const char *end, wchar_t **to, wchar_t *to_end) {
    while (*from < end && *to < to_end && !is_ascii(**from)) {
        int n = decode_long(*from, end, *to);
        if (n == 0)
            return 0;
        *from += n;
        ++*to;
    }
    return 1;
}

void asf__utf8_decode(const char **from, const char *end, wchar_t **to, wchar_t *to_end) {
    const char *p = *from;
    wchar_t *q = *to;
    int going = 1;
    while (going && end - p >= RUN && to_end - q >= RUN) {
        int n = widen_ascii(p, q);
        p += n;
        q += n;
        if (n < RUN)
            going = decode_others(&p, end, &q, to_end);
    }
    while (going && p < end && q < to_end) {
        if (is_ascii(*p))
            *q++ = *p++;
        else
            going = decode_others(&p, end, &q, to_end);
    }
    *from = p;
    *to = q;
}

size_t asf__utf8_span(const char *from, const char *end, size_t n) {
    static const unsigned char length[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 4};
    const char *p = from;
    for (; n > 0 && p < end; n--) {
        unsigned lead = (unsigned char)*p;
        p += lead < 0xf8 ? length[lead >> 4] : lead < 0xfc ? 5 : 6;
    }
    return (size_t)((p < end ? p : end) - from);
}

/* --- encoding ------------------------------------------------------------- */

void asf__ascii_encode(const wchar_t **from, const wchar_t *end, char **to, char *to_end) {
    const wchar_t *p = *from;
    char *q = *to;
    while (end - p >= RUN && to_end - q >= RUN && narrow_run(p, q)) {
        p += RUN;
        q += RUN;
    }
    while (p < end && q < to_end && (unsigned)*p < 0x80)
        *q++ = (char)*p++;
    *from = p;
    *to = q;
}

static inline char tail(unsigned v, int shift) {
    return (char)(0x80 | (v >> shift & 0x3f));
}

/* Encodes one character beyond ASCII.  Returns its length; 0: the character is invalid or there is no
 * room. */
static inline int encode_long(unsigned v, char *q, long room) {
    if (v < 0x800 && room >= 2) {
        q[0] = (char)(0xc0 | v >> 6);
        q[1] = tail(v, 0);
        return 2;
    }
    if (v >= 0x800 && v < 0x10000 && (v & 0xf800) != 0xd800 && room >= 3) {
        q[0] = (char)(0xe0 | v >> 12);
        q[1] = tail(v, 6);
        q[2] = tail(v, 0);
        return 3;
    }
    if (v < 0x10000 || v > 0x10ffff || room < 4)
        return 0;
    q[0] = (char)(0xf0 | v >> 18);
    q[1] = tail(v, 12);
    q[2] = tail(v, 6);
    q[3] = tail(v, 0);
    return 4;
}

static inline int encode_one(wchar_t ch, char *q, long room) {
    if ((unsigned)ch >= 0x80)
        return encode_long((unsigned)ch, q, room);
    *q = (char)ch;
    return 1;
}

void asf__utf8_encode(const wchar_t **from, const wchar_t *end, char **to, char *to_end) {
    const wchar_t *p = *from;
    char *q = *to;
    int n = 1;
    while (n > 0 && p < end && q < to_end) {
        if (end - p >= RUN && to_end - q >= RUN && narrow_run(p, q)) {
            p += RUN;
            q += RUN;
            continue;
        }
        /* Mixed text: convert the next sixteen characters one by one, then try a run again. */
        const wchar_t *stop = end - p > RUN ? p + RUN : end;
        for (; p < stop && q < to_end && (n = encode_one(*p, q, to_end - q)) > 0; p++)
            q += n;
    }
    *from = p;
    *to = q;
}
