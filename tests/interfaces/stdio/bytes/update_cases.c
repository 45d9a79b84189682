/* SPDX-License-Identifier: MIT
 *
 * update_cases.c - streams open for reading and writing: switching direction with and without a seek
 * between, and calls in the wrong direction.
 */
#include "tests/interfaces/stdio/transcript.h"

static FILE *update_file(const char *mode) {
    put_text("file", "0123456789abcdefghij");
    return fopen("file", mode);
}

CASE(pushed_back_on_output) {
    char bytes[5] = {0};
    FILE *f = fopen("file", "w");
    CALL(ungetc('U', f));
    CALL(fread(bytes, 1, sizeof bytes, f));
    say("%q", bytes);
    note_flags(f);
    CALL(fclose(f)); /* do not write and push back here: glibc would corrupt its heap */
}

CASE(read_then_write_without_seek) {
    FILE *f = update_file("r+");
    CALL(getc(f));
    CALL(getc(f));
    CALL(fputs("XY", f));
    CALL(ftell(f));
    CALL(fclose(f));
    note_file("file");
}

CASE(write_then_read_without_seek) {
    FILE *f = update_file("r+");
    CALL(fputs("XY", f));
    CALL(getc(f));
    CALL(getc(f));
    CALL(ftell(f));
    CALL(fclose(f));
    note_file("file");
}

CASE(many_turns_without_seek) {
    FILE *f = update_file("r+");
    for (int i = 0; i < 5; i++) {
        CALL(getc(f));
        CALL(putc('A' + i, f));
        note_state(f);
    }
    CALL(fclose(f));
    note_file("file");
}

CASE(turns_with_a_seek) {
    FILE *f = update_file("r+");
    char text[8];
    CALL(fgets(text, 5, f));
    CALL(fseek(f, 0, SEEK_CUR));
    CALL(fputs("WRITE", f));
    CALL(fseek(f, 0, SEEK_CUR));
    CALL(fgets(text, 5, f));
    CALL(fflush(f));
    CALL(fputs("END", f));
    CALL(fflush(f));
    CALL(fgets(text, 5, f));
    CALL(fclose(f));
    note_file("file");
}

CASE(turns_in_blocks) {
    put_pattern("file", 100000);
    FILE *f = fopen("file", "r+");
    static char block[20000];
    static const int sizes[] = {1, 100, 4095, 4096, 4097, 10000, 20000};
    for (int i = 0; i < 7; i++) {
        CALL(fread(block, 1, (size_t)sizes[i], f));
        CALL(fseek(f, 0, SEEK_CUR));
        CALL(fwrite(block, 1, (size_t)sizes[6 - i] / 3, f));
        CALL(fseek(f, 0, SEEK_CUR));
        CALL(ftell(f));
    }
    CALL(fclose(f));
    note_file("file");
}

CASE(write_past_the_end_then_read) {
    FILE *f = update_file("r+");
    CALL(fseek(f, 0, SEEK_END));
    CALL(fputs("more", f));
    CALL(getc(f));
    note_state(f);
    rewind(f);
    CALL(getc(f));
    while (getc(f) != EOF)
        continue;
    note_state(f);
    CALL(fputs("after the end", f));
    note_state(f);
    CALL(fclose(f));
    note_file("file");
}

CASE(truncating_update) {
    FILE *f = update_file("w+");
    CALL(getc(f));
    note_state(f);
    CALL(fputs("hello world", f));
    rewind(f);
    char text[20];
    CALL(fgets(text, sizeof text, f));
    CALL(fseek(f, 3, SEEK_SET));
    CALL(putc('L', f));
    CALL(getc(f));
    CALL(fclose(f));
    note_file("file");
}

CASE(appending_update) {
    FILE *f = update_file("a+");
    CALL(getc(f));
    CALL(fputs("FIRST", f));
    CALL(getc(f));
    note_state(f);
    rewind(f);
    char text[6];
    CALL(fgets(text, sizeof text, f));
    CALL(fputs("SECOND", f));
    note_state(f);
    CALL(fseek(f, 2, SEEK_SET));
    CALL(fputs("THIRD", f));
    CALL(fflush(f));
    note_state(f);
    CALL(getc(f));
    CALL(fclose(f));
    note_file("file");
}

CASE(an_edit_in_place) {
    put_lines("file", 2000);
    FILE *f = fopen("file", "r+");
    char line[40];
    for (long at = 0; fgets(line, sizeof line, f); at = ftell(f))
        if (atoi(line + 5) % 7 == 0) {
            fseek(f, at, SEEK_SET);
            fputs("LINE", f);
            fseek(f, at + 12, SEEK_SET);
        }
    CALL(fclose(f));
    note_file("file");
}

CASE(writes_to_an_input_stream) {
    FILE *f = update_file("r");
    WITH_ERRNO(putc('x', f));
    note_flags(f);
    clearerr(f);
    WITH_ERRNO(fwrite("abc", 1, 3, f));
    note_flags(f);
    clearerr(f);
    WITH_ERRNO(fputs("abc", f));
    note_flags(f);
    clearerr(f);
    WITH_ERRNO(fprintf(f, "%d", 5));
    note_flags(f);
    clearerr(f);
    WITH_ERRNO(fwrite("abc", 1, 0, f));
    WITH_ERRNO(fprintf(f, "%s", ""));
    note_flags(f);
    WITH_ERRNO(putc_unlocked('x', f));
    note_flags(f);
    CALL(getc(f));
    CALL(fflush(f));
    CALL(fclose(f));
    note_file("file");
}

CASE(reads_from_an_output_stream) {
    FILE *f = fopen("out", "w");
    WITH_ERRNO(getc(f));
    note_flags(f);
    clearerr(f);
    char text[10];
    WITH_ERRNO(fread(text, 1, 5, f));
    note_flags(f);
    clearerr(f);
    WITH_ERRNO(fgets(text, 5, f));
    note_flags(f);
    clearerr(f);
    int number;
    WITH_ERRNO(fscanf(f, "%d", &number));
    note_flags(f);
    clearerr(f);
    WITH_ERRNO(fread(text, 1, 0, f));
    WITH_ERRNO(getc_unlocked(f));
    note_flags(f);
    CALL(fputs("still works", f));
    CALL(fclose(f));
    note_file("out");
}

CASE(wrong_direction_on_standard_streams) {
    WITH_ERRNO(putc('x', stdin));
    note_flags(stdin);
    WITH_ERRNO(getc(stdout));
    note_flags(stdout);
    WITH_ERRNO(getc(stderr));
    note_flags(stderr);
    CALL(puts("text"));
    CALL(fputs("text\n", stderr));
    CALL(getchar());
}

CASE(seek_between_write_and_write) {
    FILE *f = update_file("r+");
    CALL(fputs("AB", f));
    CALL(fseek(f, 10, SEEK_SET));
    CALL(fputs("CD", f));
    CALL(fseek(f, -6, SEEK_CUR));
    CALL(fputs("EF", f));
    CALL(fseek(f, 0, SEEK_SET));
    CALL(getc(f));
    CALL(fclose(f));
    note_file("file");
}

CASE(two_streams_see_each_other) {
    FILE *w = fopen("file", "w"), *r = fopen("file", "r");
    CALL(fputs("first\n", w));
    CALL(getc(r));
    CALL(fflush(w));
    CALL(getc(r));
    clearerr(r);
    char text[30];
    CALL(fgets(text, sizeof text, r));
    CALL(fputs("second\n", w));
    CALL(fflush(w));
    CALL(fgets(text, sizeof text, r));
    clearerr(r);
    CALL(fgets(text, sizeof text, r));
    CALL(fclose(w));
    CALL(fclose(r));
}

CASE(two_appenders) {
    FILE *a = fopen("log", "a"), *b = fopen("log", "a");
    for (int i = 0; i < 500; i++) {
        fprintf(a, "a line from the first, number %d\n", i);
        fprintf(b, "a line from the second, number %d\n", i);
        if (i % 50 == 0)
            fflush(i % 100 ? a : b);
    }
    CALL(fclose(b));
    CALL(fclose(a));
    note_file("log");
}

CASE(two_descriptors_of_one_file) {
    put_text("file", "0123456789");
    FILE *f = fopen("file", "r+");
    CALL(fputs("ab", f));
    int fd = open("file", O_RDWR);
    char text[12] = "";
    CALL(read(fd, text, 10));
    say("%s", text);
    CALL(fflush(f));
    CALL(pread(fd, text, 10, 0));
    say("%s", text);
    CALL(pwrite(fd, "XYZ", 3, 4));
    CALL(fseek(f, 4, SEEK_SET));
    CALL(getc(f));
    CALL(getc(f));
    CALL(ftruncate(fileno(f), 6));
    CALL(getc(f));
    CALL(getc(f));
    CALL(fseek(f, 0, SEEK_END));
    CALL(ftell(f));
}

CASE(raw_calls_between) {
    put_text("file", "0123456789abcdefghij");
    FILE *f = fopen("file", "r+");
    char text[8] = "";
    CALL(fread(text, 1, 3, f));
    CALL(fflush(f));
    CALL(read(fileno(f), text, 4));
    say("%q", text);
    CALL(write(fileno(f), "RAW", 3));
    CALL(fseek(f, 0, SEEK_SET));
    CALL(fread(text, 1, 5, f));
    CALL(ftell(f));
    fclose(f);
    note_file("file");
}

/* After the reader has read a few blocks, changes the file at an offset that libc has not read yet, and
 * reads there. */
static void change_before_reading(void (*change)(FILE *reader)) {
    put_lines("read", 3000);
    FILE *f = fopen("read", "r");
    char line[30];
    for (int i = 0; i < 800; i++)
        fgets(line, sizeof line, f);
    say("%q", line);
    change(f);
    for (int i = 0; i < 1500 && fgets(line, sizeof line, f); i++)
        if (strncmp(line, "line ", 5) != 0)
            say("%d %q", i, line);
    note_state(f);
    fclose(f);
}

enum { UNREAD = 12 * 1500 };

static void change_by_a_stream(FILE *reader) {
    (void)reader;
    FILE *g = fopen("read", "r+");
    fseek(g, UNREAD, SEEK_SET);
    fputs("by a stream", g);
    fclose(g);
}

static void change_by_write(FILE *reader) {
    (void)reader;
    int fd = open("read", O_WRONLY);
    lseek(fd, UNREAD, SEEK_SET);
    write(fd, "by write()", 10);
    close(fd);
}

static void change_by_pwrite(FILE *reader) {
    (void)reader;
    int fd = open("read", O_WRONLY);
    pwrite(fd, "by pwrite()", 11, UNREAD);
    close(fd);
}

static void change_by_truncate(FILE *reader) {
    (void)reader;
    CALL(truncate("read", UNREAD + 5));
}

static void change_by_ftruncate(FILE *reader) {
    (void)reader;
    int fd = open("read", O_WRONLY);
    CALL(ftruncate(fd, UNREAD + 7));
    close(fd);
}

static void rewrite_in_a_child(void) {
    change_by_write(NULL);
}

static void change_by_a_child(FILE *reader) {
    (void)reader;
    child(rewrite_in_a_child);
}

CASE(a_reader_sees_what_others_write) {
    change_before_reading(change_by_a_stream);
    change_before_reading(change_by_write);
    change_before_reading(change_by_pwrite);
    change_before_reading(change_by_truncate);
    change_before_reading(change_by_ftruncate);
    change_before_reading(change_by_a_child);
}

static void rewound(const char *mode) {
    put_text("watched", "one\n");
    FILE *f = fopen("watched", mode);
    char line[30];
    for (int i = 0; i < 3; i++) {
        CALL(fgets(line, sizeof line, f));
        say("%q offset %ld", line, (long)lseek(fileno(f), 0, SEEK_CUR));
        put_text("watched", i ? "four\n" : "two\n");
        rewind(f);
    }
    fclose(f);
}

/* Rewinds and reads a file repeatedly, as some programs do with files in /proc. */
CASE(a_file_that_is_read_again) {
    rewound("r");
    rewound("r+");
}
