/* SPDX-License-Identifier: MIT
 *
 * cat_format.c - applies cat's options to the bytes: line numbers, $ at line ends, ^X and M-X.
 */
#include <string.h>

#include "cat.h"

/* The text of the last line number, at least six columns wide. */
static char line_number[24] = "                     0\t";
static char *first_digit = line_number + 21;
static char *const last_digit = line_number + 21;
static int blank_lines;  /* consecutive empty lines before this line */
static bool within_line; /* the line has begun */
static bool held;        /* a withheld carriage return: with -E it is ^M before a newline */

bool cat_formats(const struct cat_format *format) {
    return format->number || format->squeeze || format->ends || format->tabs || format->nonprinting;
}

bool cat_held(void) {
    return held;
}

static char *put_number(char *out) {
    char *digit = last_digit;
    while (*digit == '9')
        *digit-- = '0';
    *digit = *digit == ' ' ? '1' : (char)(*digit + 1);
    if (digit < first_digit)
        first_digit = digit;
    const char *start = first_digit < last_digit - 5 ? first_digit : last_digit - 5;
    size_t length = (size_t)(last_digit + 2 - start);
    memcpy(out, start, length);
    return out + length;
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

/* Write a byte within a line as -v shows it. */
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

/* Returns, for each byte, whether it is copied unchanged within a line. */
static const bool *unchanged_bytes(const struct cat_format *format) {
    static bool unchanged[256], known;
    for (int c = 0; c < 256 && !known; c++) {
        bool visible = c >= 0x20 && c < 0x7f;
        unchanged[c] = c != '\n' && !(c == '\t' && format->tabs) && !(c == '\r' && format->ends) &&
                       (visible || c == '\t' || !format->nonprinting);
    }
    known = true;
    return unchanged;
}

size_t cat_format(const struct cat_format *format, const char *block, size_t n, char *out) {
    const bool *unchanged = unchanged_bytes(format);
    char *to = out;
    for (size_t i = 0; i < n; i++) {
        int c = (unsigned char)block[i];
        to = c == '\n' ? put_line_end(format, to) : put_byte(format, to, c);
        while (within_line && !held && i + 1 < n && unchanged[(unsigned char)block[i + 1]])
            *to++ = block[++i];
    }
    return (size_t)(to - out);
}
