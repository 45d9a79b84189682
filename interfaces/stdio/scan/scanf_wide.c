/* SPDX-License-Identifier: MIT
 *
 * scanf_wide.c - scanf's wide characters, words and sets, converted from the bytes of the locale's encoding.
 */
#include "interfaces/stdio/scan/scanf_engine.h"

#ifndef ASF_TEXT_BY_LIBC
#include <langinfo.h>
#include <wchar.h>

struct wide {
    struct asf_sink sink;
    mbstate_t state;
    bool initial; /* whether `state` is initial; after an error it may not be */
    bool ascii;   /* a byte below 0x80 is the character of that number */
};

static void start_text(struct wide *w, size_t characters, bool ends_in_null) {
    const char *encoding = nl_langinfo(CODESET);
    w->sink.size = characters * sizeof(wchar_t);
    w->sink.reserved = ends_in_null ? sizeof(wchar_t) : 0;
    w->initial = true;
    w->ascii = strcmp(encoding, "UTF-8") == 0 || strcmp(encoding, "ANSI_X3.4-1968") == 0;
    memset(&w->state, 0, sizeof w->state);
}

/* Where the next character is stored; NULL: it is not stored. */
static inline wchar_t *destination(const struct wide *w) {
    return (wchar_t *)(void *)w->sink.to;
}

static inline enum asf_scan_result make_room(struct asf_scan *s, const struct asf_directive *d,
                                             struct wide *w) {
    return asf__likely(w->sink.room > 0) ? ASF_SCANNED : asf__scan_grow(s, d, &w->sink);
}

static inline void advance(struct wide *w) {
    if (w->sink.to)
        w->sink.to += sizeof(wchar_t);
    if (w->sink.owner)
        w->sink.room -= sizeof(wchar_t);
}

/* Adds a byte to the character.  Returns as mbrtowc. */
static inline size_t add_byte(struct wide *w, int ch) {
    char byte = (char)ch;
    if (w->ascii && w->initial && ch > 0 && ch < 0x80) {
        if (w->sink.to)
            *destination(w) = (wchar_t)ch;
        return 1;
    }
    size_t n = mbrtowc(destination(w), &byte, 1, &w->state);
    w->initial = mbsinit(&w->state) != 0;
    return n;
}

/* Reads a whole character, whose first byte is `ch`.  As in glibc, a null is no character. */
static inline enum asf_scan_result read_character(struct asf_scan *s, const struct asf_directive *d,
                                                  struct wide *w, int ch) {
    enum asf_scan_result r = make_room(s, d, w);
    if (r != ASF_SCANNED)
        return r;
    size_t n;
    while ((n = add_byte(w, ch)) == (size_t)-2)
        if ((ch = asf__scan_next(s)) == EOF)
            break;
    if (n != 1) {
        errno = EILSEQ;
        return ASF_MISMATCH;
    }
    advance(w);
    return ASF_SCANNED;
}

/* Reads up to `width` characters; those of a word end before white space.  No byte has been read yet. */
static inline enum asf_scan_result read_characters(struct asf_scan *s, const struct asf_directive *d,
                                                   struct wide *w, size_t width, bool word) {
    enum asf_scan_result r = asf__scan_open(s, d, &w->sink);
    if (r != ASF_SCANNED)
        return r;
    int ch = asf__scan_next(s);
    if (ch == EOF)
        return ASF_INPUT_END;
    do {
        if (word && asf__scan_is_space(ch)) {
            asf__scan_unget(s);
            break;
        }
        if ((r = read_character(s, d, w, ch)) != ASF_SCANNED)
            return r;
    } while (--width > 0 && (ch = asf__scan_next(s)) != EOF);
    if (asf__scan_is_truncated(s) || (!word && width > 0 && ASF_LIBC(scan_complete)))
        return ASF_INPUT_END;
    asf__scan_close(s, &w->sink);
    return ASF_SCANNED;
}

enum asf_scan_result asf__scan_wide_chars(struct asf_scan *s, const struct asf_directive *d) {
    struct wide w;
    size_t width = d->width > 0 ? (size_t)d->width : 1;
    start_text(&w, width > ASF_SCAN_LARGEST_FIRST ? ASF_SCAN_LARGEST_FIRST : width, false);
    return read_characters(s, d, &w, width, false);
}

enum asf_scan_result asf__scan_wide_string(struct asf_scan *s, const struct asf_directive *d) {
    struct wide w;
    start_text(&w, ASF_SCAN_FIRST_SIZE, true);
    return read_characters(s, d, &w, asf__scan_width(d), true);
}

/* Reads the text of a %l[.  As in glibc, the width counts bytes if the text is not stored (%*l[), and invalid
 * bytes leave a gap in the stored text. */
static enum asf_scan_result read_members(struct asf_scan *s, const struct asf_directive *d, struct wide *w,
                                         const struct asf_set *set, int ch) {
    size_t width = asf__scan_width(d);
    bool partial = false;
    do {
        if (!set->member[ch]) {
            asf__scan_unget(s);
            break;
        }
        if (w->sink.to) {
            enum asf_scan_result r = make_room(s, d, w);
            if (r != ASF_SCANNED)
                return r;
            partial = add_byte(w, ch) == (size_t)-2;
            if (partial)
                continue;
            advance(w);
        }
        if (--width == 0)
            break;
    } while ((ch = asf__scan_next(s)) != EOF);
    if (!partial)
        return ASF_SCANNED;
    errno = EILSEQ;
    return ASF_MISMATCH;
}

enum asf_scan_result asf__scan_wide_set(struct asf_scan *s, const struct asf_directive *d) {
    struct wide w;
    struct asf_set set;
    asf__scan_fill_set(&set, d);
    start_text(&w, ASF_SCAN_FIRST_SIZE, true);
    enum asf_scan_result r = asf__scan_open(s, d, &w.sink);
    if (r != ASF_SCANNED)
        return r;
    size_t before = asf__scan_consumed(s);
    int ch = asf__scan_next(s);
    if (ch == EOF)
        return ASF_INPUT_END;
    r = asf__scan_unless_truncated(s, read_members(s, d, &w, &set, ch));
    if (r != ASF_SCANNED)
        return r;
    if (asf__scan_consumed(s) == before)
        return ASF_MISMATCH;
    asf__scan_close(s, &w.sink);
    return ASF_SCANNED;
}
#endif
