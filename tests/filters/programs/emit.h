/* SPDX-License-Identifier: MIT
 *
 * emit.h - writes exactly n bytes of numbered text to a stream, by a stdio call that the caller chooses.
 * For the probe programs of tests/; uses only libc.
 */
#ifndef ASF_TESTS_EMIT_H
#define ASF_TESTS_EMIT_H

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

/* The text is the same for all calls: records of eight bytes with increasing numbers. A lost, repeated or
 * misplaced byte therefore shows. */
static inline char emit_byte(size_t at) {
    static const size_t powers[] = {1000000, 100000, 10000, 1000, 100, 10, 1};
    return at % 8 == 7 ? '\n' : (char)('0' + at / 8 / powers[at % 8] % 10);
}

static inline char *emit_text(size_t from, size_t n) {
    char *text = malloc(n + 1);
    if (!text)
        abort();
    for (size_t i = 0; i < n; i++)
        text[i] = emit_byte(from + i);
    text[n] = '\0';
    return text;
}

/* Writes n bytes of text by the named call. */
static inline void emit_piece(FILE *to, const char *how, char *text, size_t n) {
    char end = text[n];
    text[n] = '\0';
    if (!strcmp(how, "putc")) {
        for (size_t i = 0; i < n; i++)
            putc(text[i], to);
    } else if (!strcmp(how, "unlocked")) {
        for (size_t i = 0; i < n; i++)
            putc_unlocked(text[i], to);
    } else if (!strcmp(how, "fwrite")) {
        fwrite(text, 1, n, to);
    } else if (!strcmp(how, "fputs")) {
        fputs(text, to);
    } else if (!strcmp(how, "printf")) {
        fprintf(to, "%c%s", text[0], text + 1);
    } else if (!strcmp(how, "puts")) {
        /* puts writes the last byte, which is a newline. */
        char last = text[n - 1];
        text[n - 1] = '\0';
        if (last == '\n' && to == stdout)
            puts(text);
        else
            fprintf(to, "%s%c", text, last);
        text[n - 1] = last;
    } else if (!strcmp(how, "wide")) {
        for (size_t i = 0; i < n; i++)
            putwc((wchar_t)text[i], to);
    } else {
        fprintf(stderr, "emit: no such way to write: %s\n", how);
        exit(9);
    }
    text[n] = end;
}

/* `how` is CALL or CALL:SIZE, where SIZE is the bytes of each call. "mix" uses all calls in turn, with odd
 * sizes. */
static inline void emit(FILE *to, const char *how, size_t from, size_t n) {
    static const char *const calls[] = {"putc", "fwrite", "fputs", "printf", "puts", "unlocked"};
    static const size_t sizes[] = {1, 7, 13, 100, 613, 4096, 5000, 3, 9001};
    char call[32];
    size_t piece = !strncmp(how, "puts", 4) || !strncmp(how, "printf", 6) ? 64 : 13;
    char *text = emit_text(from, n);
    if (sscanf(how, "%31[^:]:%zu", call, &piece) < 1)
        exit(9);
    for (size_t done = 0, turn = 0; done < n; turn++) {
        int mix = !strcmp(call, "mix");
        size_t size = mix ? sizes[turn % 9] : piece;
        if (size > n - done)
            size = n - done;
        emit_piece(to, mix ? calls[turn % 6] : call, text + done, size);
        done += size;
    }
    free(text);
}

#endif
