/* SPDX-License-Identifier: MIT
 *
 * memory_cases.c - fmemopen and open_memstream.
 */
#include "transcript.h"

#include <stdio_ext.h>
#include <sys/mman.h>

CASE(fmemopen_each_mode) {
    static const char *const modes[] = {"r", "w", "a", "r+", "w+", "a+", "rb", "wb", "ab+", "r+b", "w+b"};
    for (int i = 0; i < 11; i++) {
        char buffer[20] = "0123456789";
        say("mode %s", modes[i]);
        FILE *f = CALL(fmemopen(buffer, sizeof buffer, modes[i]));
        char text[12] = "";
        CALL(ftell(f));
        WITH_ERRNO(fread(text, 1, 4, f));
        say("  %q", text);
        note_flags(f);
        clearerr(f);
        CALL(fseek(f, 2, SEEK_SET));
        WITH_ERRNO(fputs("XY", f));
        CALL(ftell(f));
        CALL(fflush(f));
        say("  %b", buffer, 20);
        CALL(fseek(f, 0, SEEK_END));
        CALL(ftell(f));
        CALL(fclose(f));
        say("  %b", buffer, 20);
    }
}

CASE(fmemopen_wrong_arguments) {
    char buffer[4];
    CALL(fmemopen(buffer, 0, "r"));
    CALL(fmemopen(buffer, 0, "w"));
    CALL(fmemopen(buffer, 4, "x"));
    CALL(fmemopen(buffer, 4, ""));
    FILE *f = CALL(fmemopen(NULL, 0, "w+"));
    if (f)
        CALL(fclose(f));
    volatile size_t too_much = (size_t)-1 / 2;
    CALL(fmemopen(NULL, too_much, "w+"));
}

CASE(fmemopen_small_sizes) {
    for (size_t size = 1; size < 8; size++) {
        char buffer[10];
        memset(buffer, '#', sizeof buffer);
        say("size %lu", size);
        FILE *f = CALL(fmemopen(buffer, size, "w"));
        WITH_ERRNO(fputs("abcd", f));
        WITH_ERRNO(fflush(f));
        note_flags(f);
        say("  %b", buffer, 10);
        WITH_ERRNO(fclose(f));
        say("  %b", buffer, 10);
    }
}

CASE(fmemopen_unbuffered_overflow) {
    char buffer[6];
    memset(buffer, '#', sizeof buffer);
    FILE *f = fmemopen(buffer, 6, "w");
    setvbuf(f, NULL, _IONBF, 0);
    for (int i = 0; i < 8; i++) {
        WITH_ERRNO(fputc('a' + i, f));
        say("  %b", buffer, 6);
    }
    note_state(f);
    CALL(fclose(f));
}

CASE(fmemopen_own_buffer) {
    FILE *f = fmemopen(NULL, 30, "w+");
    CALL(fputs("some text", f));
    CALL(fseek(f, 5, SEEK_SET));
    char text[30];
    CALL(fgets(text, sizeof text, f));
    rewind(f);
    CALL(fgets(text, sizeof text, f));
    note_state(f);
    CALL(fclose(f));
}

CASE(fmemopen_reading_lines) {
    char buffer[] = "first\nsecond\n\nlast";
    FILE *f = fmemopen(buffer, strlen(buffer), "r");
    char *line = NULL;
    size_t size = 0;
    while (CALL(getline(&line, &size, f)) >= 0)
        say("%q", line);
    note_state(f);
    rewind(f);
    int number;
    char word[10];
    CALL(fscanf(f, "%9s %d", word, &number));
    CALL(ungetc('Q', f));
    CALL(fgets(word, sizeof word, f));
    CALL(fclose(f));
}

CASE(fmemopen_reading_nul_bytes) {
    char buffer[] = "ab\0cd\0ef";
    FILE *f = fmemopen(buffer, 8, "r");
    char text[10] = "";
    CALL(fread(text, 1, 10, f));
    say("%b", text, 8);
    note_state(f);
    fclose(f);
    f = fmemopen(buffer, 8, "r+");
    CALL(fseek(f, 0, SEEK_END));
    CALL(ftell(f));
    fclose(f);
    f = fmemopen(buffer, 8, "a+");
    CALL(ftell(f));
    CALL(fputs("X", f));
    fclose(f);
    say("%b", buffer, 8);
}

CASE(fmemopen_seeks) {
    char buffer[20] = "0123456789";
    FILE *f = fmemopen(buffer, sizeof buffer, "r+");
    CALL(fseek(f, 25, SEEK_SET));
    CALL(fseek(f, -1, SEEK_SET));
    CALL(fseek(f, 20, SEEK_SET));
    CALL(getc(f));
    CALL(fseek(f, 5, SEEK_SET));
    CALL(getc(f));
    CALL(fseek(f, -3, SEEK_CUR));
    CALL(getc(f));
    CALL(fseek(f, -2, SEEK_END));
    CALL(ftell(f));
    CALL(getc(f));
    CALL(fseek(f, 1, SEEK_END));
    CALL(ftell(f));
    CALL(fputs("zz", f));
    CALL(fclose(f));
    say("%b", buffer, 20);
}

CASE(fmemopen_update) {
    char buffer[20] = "0123456789";
    FILE *f = fmemopen(buffer, sizeof buffer, "r+");
    CALL(getc(f));
    CALL(fseek(f, 0, SEEK_CUR));
    CALL(fputs("AB", f));
    CALL(fseek(f, 0, SEEK_CUR));
    CALL(getc(f));
    CALL(fclose(f));
    say("%b", buffer, 20);
}

CASE(memstream_grows) {
    char *text = NULL;
    size_t size = 77;
    FILE *f = CALL(open_memstream(&text, &size));
    CALL(ftell(f));
    CALL(fflush(f));
    say("size %lu %q", size, text);
    CALL(fputs("hello", f));
    CALL(fflush(f));
    say("size %lu %q", size, text);
    CALL(fprintf(f, " %d", 12345));
    CALL(putc(0, f));
    CALL(fputs("after zero", f));
    CALL(ftell(f));
    CALL(fclose(f));
    say("size %lu %b", size, text, (int)size + 1);
    free(text);
}

CASE(fmemopen_seek_that_fails) {
    char area[239], line[20];
    for (size_t i = 0; i < sizeof area; i++)
        area[i] = (char)('a' + i % 26);
    FILE *f = fmemopen(area, sizeof area, "r");
    CALL(fread(line, 1, 12, f));
    CALL(fseek(f, 5000, SEEK_SET));
    CALL(ftell(f));
    CALL(getc(f));
    CALL(fseek(f, 240, SEEK_SET));
    CALL(getc(f));
    fclose(f);
}

CASE(memstream_very_long) {
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    for (int i = 0; i < 100000; i++)
        fprintf(f, "%d,", i);
    CALL(ftell(f));
    static char block[300000];
    memset(block, 'B', sizeof block);
    CALL(fwrite(block, 1, sizeof block, f));
    CALL(fclose(f));
    say("size %lu %b", size, text, (int)size);
    free(text);
}

CASE(memstream_seeks) {
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    fputs("0123456789", f);
    CALL(fseek(f, 3, SEEK_SET));
    CALL(fflush(f));
    say("size %lu %q", size, text);
    fputs("abc", f);
    CALL(fflush(f));
    say("size %lu %q", size, text);
    CALL(fseek(f, 0, SEEK_END));
    CALL(ftell(f));
    fputs("end", f);
    CALL(fseek(f, 20, SEEK_SET));
    CALL(fputs("far", f));
    CALL(fflush(f));
    say("size %lu %b", size, text, (int)size + 1);
    CALL(fseek(f, -5, SEEK_SET));
    CALL(fseek(f, -5, SEEK_CUR));
    CALL(ftell(f));
    rewind(f);
    fputs("R", f);
    CALL(fclose(f));
    say("size %lu %b", size, text, (int)size + 1);
    free(text);
}

CASE(memstream_without_writing) {
    char *text = NULL;
    size_t size = 5;
    FILE *f = open_memstream(&text, &size);
    CALL(fclose(f));
    say("size %lu %q", size, text);
    free(text);
}

CASE(memstream_left_open) {
    static char *text;
    static size_t size;
    FILE *f = open_memstream(&text, &size);
    fputs("abc", f);
    fflush(NULL);
    say("size %lu %q", size, text ? text : "not set");
}

static struct {
    char *text;
    size_t size;
} * shared;

static void _leaves_memstreams_open(void) {
    FILE *f = open_memstream(&shared[0].text, &shared[0].size);
    fputs("abc", f);
    f = open_memstream(&shared[1].text, &shared[1].size);
    for (int i = 0; i < 20000; i++)
        putc('x', f);
    open_memstream(&shared[2].text, &shared[2].size);
    f = open_memstream(&shared[3].text, &shared[3].size);
    fputs("abc", f);
    fflush(f);
    fputs("def", f);
    exit(0);
}

/* When the process ends, the pointer and the size may be in freed or reused memory. */
CASE(memstream_left_open_at_exit) {
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 4; i++)
        shared[i].size = 77;
    child(_leaves_memstreams_open);
    for (int i = 0; i < 4; i++)
        say("%s, size %lu", shared[i].text ? "set" : "not set", shared[i].size);
}

/* Writes more at once than any buffer holds. */
/* The allocator returns memory that was used before. */
CASE(memstream_in_used_memory) {
    void *used[4];
    for (int i = 0; i < 4; i++)
        used[i] = memset(malloc(BUFSIZ), '#', BUFSIZ);
    for (int i = 0; i < 4; i++)
        free(used[i]);
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    CALL(fputs("ab", f));
    CALL(fflush(f));
    say("%b", text, size + 1);
    CALL(fseek(f, 9, SEEK_SET));
    CALL(fputs("cd", f));
    CALL(fseek(f, 4, SEEK_SET));
    CALL(fputc('e', f));
    CALL(fflush(f));
    say("%lu %b", size, text, 12);
    CALL(fseek(f, 3 * BUFSIZ, SEEK_SET));
    CALL(fputc('f', f));
    CALL(fclose(f));
    size_t zeros = 0;
    for (size_t i = 0; i <= size; i++)
        zeros += !text[i];
    say("%lu, zeros %lu: %b", size, zeros, text, 12);
    free(text);
}

CASE(memstream_blocks) {
    for (size_t n = 1000; n < 300000; n = n * 3 + 1) {
        char *text = NULL, *block = malloc(n);
        size_t size = 0;
        memset(block, 'b', n);
        FILE *f = open_memstream(&text, &size);
        CALL(fwrite(block, 1, n, f));
        CALL(fputs("between", f));
        CALL(fwrite(block, n / 2, 2, f));
        CALL(fclose(f));
        say("%lu %b", size, text, (int)size);
        free(block);
        free(text);
    }
}
