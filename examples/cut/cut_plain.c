/* SPDX-License-Identifier: MIT
 *
 * cut_plain.c - cut on stdio: getdelim reads a line at a time, putchar and fwrite write.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cut.h"
#include "examples/common/program.h"

static const struct cut_options *cut;

static void put_output_delimiter(void) {
    fwrite(cut->output_delimiter, 1, cut->output_delimiter_length, stdout);
}

static void cut_bytes(const char *line, size_t n) {
    const struct cut_range *range = cut->ranges;
    bool printed = false;
    for (size_t i = 0; i < n; i++) {
        if (i + 1 > range->high)
            range++;
        if (i + 1 < range->low)
            continue;
        if (cut->output_delimiter && printed && i + 1 == range->low)
            put_output_delimiter();
        putchar(line[i]);
        printed = true;
    }
    putchar(cut->line_end);
}

static void cut_fields(const char *line, size_t n, bool line_end_follows) {
    const struct cut_range *range = cut->ranges;
    const char *field = line, *end = line + n;
    const char *delimiter = memchr(line, cut->delimiter, n);
    bool printed = false;
    if (!delimiter && !cut_has_fields(cut, line_end_follows)) {
        if (!cut->only_delimited) {
            fwrite(line, 1, n, stdout);
            putchar(cut->line_end);
        }
        return;
    }
    for (uint64_t number = 1;; number++) {
        if (number > range->high)
            range++;
        if (number >= range->low) {
            if (printed)
                put_output_delimiter();
            fwrite(field, 1, (size_t)((delimiter ? delimiter : end) - field), stdout);
            printed = true;
        }
        if (!delimiter)
            break;
        field = delimiter + 1;
        delimiter = memchr(field, cut->delimiter, (size_t)(end - field));
    }
    putchar(cut->line_end);
}

/* Read the rest of a file.  returns  its length; -1 if there are no bytes. */
static ssize_t read_rest(char **text, size_t *size, FILE *in) {
    size_t length = 0, n;
    do {
        if (length == *size) {
            *size = length ? 2 * length : BUFSIZ;
            *text = realloc(*text, *size);
            if (!*text)
                error(EXIT_FAILURE, errno, "memory exhausted");
        }
        n = fread(*text + length, 1, *size - length, in);
        length += n;
    } while (n > 0);
    return length ? (ssize_t)length : -1;
}

static void cut_stream(FILE *in) {
    static char *text;
    static size_t size;
    ssize_t read;
    while ((read = cut_one_record(cut) ? read_rest(&text, &size, in)
                                       : getdelim(&text, &size, (unsigned char)cut->line_end, in)) > 0) {
        size_t n = (size_t)read;
        bool line_end_follows = text[n - 1] == cut->line_end;
        if (cut->fields)
            cut_fields(text, n - line_end_follows, line_end_follows);
        else
            cut_bytes(text, n - line_end_follows);
    }
}

void cut_file(const char *name, const struct cut_options *options) {
    FILE *in = is_stdin(name) ? stdin : fopen(name, "r");
    if (!in) {
        cut_failed(name, errno);
        return;
    }
    cut = options;
    errno = 0;
    cut_stream(in);
    if (ferror(in))
        cut_failed(name, errno);
    if (in == stdin)
        clearerr(in);
    else if (fclose(in) != 0)
        cut_failed(name, errno);
}

/* Nothing to do: exit writes the output that stdout has buffered. */
void cut_end(void) {}
