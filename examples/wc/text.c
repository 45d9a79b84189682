/* SPDX-License-Identifier: MIT
 *
 * text.c - wc one character at a time: counts lines, words, characters and columns by the locale's rules.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <wctype.h>

#include "wc.h"

static void end_line(struct wc_text *text) {
    if (text->column > text->counts.length)
        text->counts.length = text->column;
    text->column = 0;
}

/* Count white space: it ends a word, and changes the column. */
static void count_space(struct wc_text *text, wint_t c) {
    text->in_word = false;
    text->counts.lines += c == '\n';
    if (c == '\n' || c == '\r' || c == '\f')
        end_line(text);
    else if (c == '\t')
        text->column += 8 - text->column % 8;
    else if (c == ' ')
        text->column++;
}

/* Count a character that is not white space: it begins or continues a word. */
static inline void count_in_word(struct wc_text *text, unsigned columns) {
    text->column += columns;
    text->counts.words += !text->in_word;
    text->in_word = true;
}

enum kind { OTHER, PRINTABLE, SPACE };

/* Returns the kind of each byte in the locale, found at the first call. */
static const enum kind *byte_kinds(void) {
    static enum kind kinds[256];
    static bool known;
    for (int c = 0; c < 256 && !known; c++)
        kinds[c] = isspace(c) ? SPACE : isprint(c) ? PRINTABLE : OTHER;
    known = true;
    return kinds;
}

static inline void count_byte(struct wc_text *text, const enum kind *kinds, unsigned char c) {
    if (kinds[c] == SPACE)
        count_space(text, c);
    else
        count_in_word(text, kinds[c] == PRINTABLE);
}

/* Returns whether a character is a no-break space, which separates words unless POSIXLY_CORRECT is set. */
static bool is_fixed_space(wint_t c) {
    return (c == 0x00a0 || c == 0x2007 || c == 0x202f || c == 0x2060) && !getenv("POSIXLY_CORRECT");
}

static void count_wide(struct wc_text *text, wint_t c) {
    int width = wc_columns() ? wcwidth((wchar_t)c) : 0;
    unsigned columns = width > 0 ? (unsigned)width : 0;
    if (c < 0x80) {
        count_byte(text, byte_kinds(), (unsigned char)c);
    } else if (iswspace(c) || is_fixed_space(c)) {
        text->column += columns;
        text->in_word = false;
    } else {
        count_in_word(text, columns);
    }
}

/* Count the next character of a block.  An invalid byte is part of a word, and counts for nothing else.  If
 * the invalid sequence began in an earlier block, no byte of this block is consumed: its first byte may begin
 * a character. returns  the number of bytes consumed. */
static size_t count_character(struct wc_text *text, const char *p, size_t n) {
    wchar_t c;
    bool was_cut = text->cut;
    size_t taken = mbrtowc(&c, p, n, &text->state);
    text->cut = taken == (size_t)-2;
    if (text->cut)
        return n;
    if (taken == (size_t)-1) {
        memset(&text->state, 0, sizeof text->state);
        count_in_word(text, 0);
        return was_cut ? 0 : 1;
    }
    text->counts.chars++;
    count_wide(text, (wint_t)c);
    return taken ? taken : 1;
}

static void count_characters(struct wc_text *text, const char *p, size_t n) {
    const enum kind *kinds = byte_kinds();
    const char *end = p + n;
    while (p < end) {
        unsigned char c = (unsigned char)*p;
        if (c < 0x80 && !text->cut) {
            text->counts.chars++;
            count_byte(text, kinds, c);
            p++;
        } else {
            p += count_character(text, p, (size_t)(end - p));
        }
    }
}

void wc_text(struct wc_text *text, const char *block, size_t n) {
    enum wc_depth depth = wc_depth();
    const enum kind *kinds = byte_kinds();
    if (depth == WC_CHARACTERS)
        count_characters(text, block, n);
    for (size_t i = 0; depth == WC_LINES && i < n; i++)
        text->counts.lines += block[i] == '\n';
    for (size_t i = 0; depth == WC_WORDS && i < n; i++)
        count_byte(text, kinds, (unsigned char)block[i]);
    if (text->column > text->counts.length)
        text->counts.length = text->column;
}

void wc_end(struct wc_text *text) {
    if (text->cut)
        count_in_word(text, 0);
}
