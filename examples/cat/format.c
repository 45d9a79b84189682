/* SPDX-License-Identifier: MIT
 *
 * format.c - cat's options on the bytes: line numbers, $ at line ends, ^X and
 * M-X.
 */
#include <stdio.h>
#include <string.h>

#include "cat.h"

static unsigned long long line_number;
static int blank_lines;  /* empty lines in a row, before this one */
static bool within_line; /* the line has begun */
static bool held;        /* a carriage return, shown as ^M before a shown line end */

bool cat_formats(const struct cat_format *format) {
    return format->number || format->squeeze || format->ends || format->tabs || format->nonprinting;
}

bool cat_held(void) {
    return held;
}

static char *put_number(char *out) {
    return out + sprintf(out, "%6llu\t", ++line_number);
}

static char *put_caret(char *out, int c) {
    *out++ = '^';
    *out++ = (char)(c ^ 0x40);
    return out;
}

static char *put_line_end(const struct cat_format *format, char *out) {
    bool blank = !within_line;
    blank_lines = blank ? blank_lines + 1 : 0;
    within_line = false;
    if (format->squeeze && blank_lines > 1) {
        blank_lines = 2;
        return out;
    }
    if (blank && format->number && !format->number_nonblank)
        out = put_number(out);
    if (format->ends) {
        if (held)
            out = put_caret(out, '\r');
        held = false;
        *out++ = '$';
    }
    *out++ = '\n';
    return out;
}

/* A byte within a line as -v shows it. */
static char *put_visible(char *out, int c) {
    if (c >= 0x80) {
        *out++ = 'M';
        *out++ = '-';
        c -= 0x80;
    }
    if (c < 0x20 || c == 0x7f)
        return put_caret(out, c);
    *out++ = (char)c;
    return out;
}

static char *put_byte(const struct cat_format *format, char *out, int c) {
    if (held)
        *out++ = '\r';
    held = false;
    if (!within_line && format->number)
        out = put_number(out);
    within_line = true;
    if (c == '\t' && !format->tabs)
        *out++ = '\t';
    else if (c == '\t' || format->nonprinting)
        return put_visible(out, c);
    else if (c == '\r' && format->ends)
        held = true;
    else
        *out++ = (char)c;
    return out;
}

size_t cat_format(const struct cat_format *format, const char *block, size_t n, char *out) {
    char *to = out;
    for (size_t i = 0; i < n; i++) {
        int c = (unsigned char)block[i];
        to = c == '\n' ? put_line_end(format, to) : put_byte(format, to, c);
    }
    return (size_t)(to - out);
}
