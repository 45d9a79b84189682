/* SPDX-License-Identifier: MIT
 *
 * indicators_cases.c - the end-of-file and error indicators, how long they stay set, and files that change
 * while they are read.
 */
#include "tests/interfaces/stdio/transcript.h"

static void append(const char *text) {
    int fd = open("file", O_WRONLY | O_APPEND);
    kernel_write(fd, text);
    close(fd);
}

CASE(end_of_file_stays) {
    put_text("file", "ab");
    FILE *f = fopen("file", "r");
    while (getc(f) != EOF)
        continue;
    append("cd");
    char text[10] = "";
    CALL(getc(f));
    CALL(fread(text, 1, 5, f));
    CALL(fgets(text, 5, f));
    note_flags(f);
    clearerr(f);
    note_flags(f);
    CALL(getc(f));
    CALL(fgets(text, 5, f));
    note_flags(f);
    append("ef");
    int number;
    CALL(fscanf(f, "%d", &number));
    clearerr_unlocked(f);
    CALL(fread(text, 1, 5, f));
    note_flags(f);
}

CASE(end_of_file_of_each_reader) {
    put_text("file", "ab");
    for (int i = 0; i < 5; i++) {
        FILE *f = fopen("file", "r");
        char text[10], *line = NULL;
        size_t size = 0;
        while (getc(f) != EOF)
            continue;
        append("x\n");
        switch (i) {
        case 0:
            CALL(getc(f));
            break;
        case 1:
            CALL(getc_unlocked(f));
            break;
        case 2:
            CALL(fread(text, 1, 1, f));
            break;
        case 3:
            CALL(fgets(text, 5, f));
            break;
        default:
            CALL(getline(&line, &size, f));
        }
        note_flags(f);
        fclose(f);
    }
}

CASE(a_file_that_grows) {
    put_text("file", "");
    FILE *f = fopen("file", "r");
    char text[100];
    for (int i = 0; i < 5; i++) {
        CALL(fgets(text, sizeof text, f));
        note_flags(f);
        clearerr(f);
        append("a line\n");
    }
    CALL(fgets(text, sizeof text, f));
    append("the ");
    CALL(fgets(text, sizeof text, f));
    append("end\n");
    clearerr(f);
    CALL(fgets(text, sizeof text, f));
}

CASE(a_large_file_that_grows) {
    put_pattern("file", 3000000);
    FILE *f = fopen("file", "r");
    static char block[100000];
    long total = 0;
    for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;)
        total += (long)n;
    say("total %ld", total);
    append("more");
    clearerr(f);
    CALL(fread(block, 1, sizeof block, f));
    say("%b", block, 4);
    note_state(f);
}

CASE(growing_before_the_end_is_seen) {
    put_pattern("file", 5000);
    FILE *f = fopen("file", "r");
    static char block[20000];
    CALL(fread(block, 1, 4500, f));
    append("more at the end");
    CALL(fread(block, 1, sizeof block, f));
    note_state(f);
    say("%b", block + 500, 15);
}

/* The length of the read-ahead at the truncation is unspecified, but less than a third of the file. */
CASE(a_file_that_shrinks) {
    put_pattern("file", 30000000);
    FILE *f = fopen("file", "r");
    static char block[100000];
    CALL(fread(block, 1, 100, f));
    truncate("file", 20000000);
    long total = 100;
    for (size_t n; (n = fread(block, 1, 1000, f)) > 0;)
        total += (long)n;
    say("total %ld", total);
    note_flags(f);
    clearerr(f);
    truncate("file", 20001000);
    CALL(getc(f));
    note_flags(f);
    unlink("file");
}

CASE(a_file_that_shrinks_to_nothing) {
    put_lines("file", 100000);
    FILE *f = fopen("file", "r");
    char line[50];
    for (int i = 0; i < 1024; i++)
        fgets(line, sizeof line, f);
    CALL(ftell(f));
    truncate("file", 0);
    while (fgets(line, sizeof line, f))
        continue;
    note_flags(f);
    CALL(fseek(f, 0, SEEK_END));
    CALL(ftell(f));
    CALL(fgetc(f));
}

CASE(a_file_rewritten_in_place) {
    put_lines("file", 2000);
    FILE *f = fopen("file", "r");
    char line[50];
    CALL(fgets(line, sizeof line, f));
    int fd = open("file", O_WRONLY);
    pwrite(fd, "REWRITTEN\n", 10, 12000);
    fseek(f, 12000, SEEK_SET);
    CALL(fgets(line, sizeof line, f));
    rewind(f);
    pwrite(fd, "FIRST", 5, 0);
    fflush(f);
    CALL(fgets(line, sizeof line, f));
}

CASE(a_file_that_is_unlinked) {
    put_pattern("file", 100000);
    FILE *f = fopen("file", "r"), *out = fopen("out", "w");
    unsigned long sum = (unsigned)getc(f);
    unlink("file");
    fputs("text", out);
    rename("out", "renamed");
    for (int c; (c = getc(f)) != EOF;)
        sum = sum * 31 + (unsigned)c;
    say("sum %lu", sum);
    CALL(fclose(out));
    note_file("renamed");
}

CASE(the_error_stays) {
    put_text("file", "abc");
    FILE *f = fopen("file", "r");
    putc('x', f);
    note_flags(f);
    CALL(getc(f));
    CALL(getc(f));
    note_flags(f);
    CALL(fseek(f, 0, SEEK_SET));
    note_flags(f);
    clearerr(f);
    note_flags(f);
    while (getc(f) != EOF)
        continue;
    putc('x', f);
    note_flags(f);
    clearerr(f);
    note_flags(f);
    FILE *full = fopen("/dev/full", "w");
    setvbuf(full, NULL, _IONBF, 0);
    WITH_ERRNO(putc('x', full));
    note_flags(full);
    WITH_ERRNO(fputs("abc", full));
    WITH_ERRNO(fprintf(full, "%d", 10));
    note_flags(full);
    rewind(full);
    note_flags(full);
    CALL(fclose(full));
}

CASE(output_left_after_an_error) {
    FILE *f = fopen("/dev/full", "w");
    CALL(fputs("text", f));
    CALL(fflush(f));
    note_flags(f);
    CALL(fflush(f));
    note_flags(f);
    clearerr(f);
    CALL(fflush(f));
    CALL(fputs("more", f));
    note_flags(f);
    CALL(fclose(f));
}

CASE(errors_at_the_edge_of_the_buffer) {
    FILE *f = fopen("/dev/full", "w");
    int first = -1, count = 0;
    for (int i = 0; i < 20000; i++)
        if (putc('x', f) == EOF) {
            count++;
            if (first < 0)
                first = i;
        }
    say("first refused %d, refused %d", first, count);
    note_flags(f);
    WITH_ERRNO(fclose(f));
}

CASE(standard_output_is_full) {
    CALL(freopen("/dev/full", "w", stdout));
    CALL(printf("text"));
    CALL(fflush(stdout));
    CALL(puts("more"));
    note_flags(stdout);
}
