/* SPDX-License-Identifier: MIT
 *
 * lines_cases.c - fgets, getline, getdelim, puts, fputs.
 */
#include "tests/interfaces/stdio/transcript.h"

#include <malloc.h>

static const char text[] = "one\ntwo\n\nfour and more\n\0with\0zero\nlast without newline";

static FILE *text_file(void) {
    put_file("file", text, sizeof text - 1);
    return fopen("file", "r");
}

/* If the size is 0, getline ignores the pointer's value and allocates memory. */
CASE(getline_into_no_memory) {
    char other[16] = "not from malloc", *line = other;
    size_t size = 0;
    CALL(getline(&line, &size, stdin));
    say("%q %lu %d", line, (unsigned long)size, line != other);
    free(line);
}

CASE(fgets_of_each_size) {
    for (int size = 1; size < 30; size++) {
        FILE *f = text_file();
        char line[32];
        say("size %d", size);
        for (int i = 0; i < 60; i++) {
            memset(line, '#', sizeof line);
            if (!fgets(line, size, f))
                break;
            say("  %b ftell %ld", line, 32, ftell(f));
            if (size == 1 && i == 2)
                break;
        }
        say("  after the end %b", line, 32);
        note_flags(f);
        fclose(f);
    }
}

CASE(fgets_of_no_size) {
    FILE *f = text_file();
    char line[8] = "before";
    volatile int none = 0, negative = -5;
    CALL(fgets(line, none, f));
    say("%b", line, 8);
    CALL(fgets(line, negative, f));
    say("%b", line, 8);
    CALL(ftell(f));
    while (getc(f) != EOF)
        continue;
    CALL(fgets(line, 1, f));
    say("%b", line, 8);
}

CASE(fgets_keeps_the_buffer_at_end_of_file) {
    put_text("file", "abc");
    FILE *f = fopen("file", "r");
    char line[8] = "before";
    CALL(fgets(line, sizeof line, f));
    note_flags(f);
    CALL(fgets(line, sizeof line, f));
    say("%b", line, 8);
    CALL(fgets_unlocked(line, sizeof line, f));
}

CASE(fgets_on_an_output_stream) {
    FILE *f = fopen("file", "w");
    char line[8] = "before";
    CALL(fgets(line, sizeof line, f));
    note_flags(f);
}

CASE(fgets_with_an_old_error) {
    FILE *f = text_file();
    WITH_ERRNO(fputc('x', f));
    note_flags(f);
    char line[30];
    CALL(fgets(line, sizeof line, f));
    note_flags(f);
}

/* Lines whose lengths are near each multiple of the buffer's size. */
static void put_edge_lines(void) {
    FILE *f = fopen("edges", "w");
    static const int lengths[] = {0,     1,      10,   126,  127,     128,     4085,  4090,
                                  4095,  4096,   4097, 8191, 8192,    8193,    65535, 65536,
                                  65537, 200000, 3,    0,    2097150, 2097152, 5};
    for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        for (int k = 0; k < lengths[i]; k++)
            putc('a' + k % 26, f);
        putc('\n', f);
    }
    fputs("tail", f);
    fclose(f);
}

CASE(getline_of_each_length) {
    put_edge_lines();
    FILE *f = fopen("edges", "r");
    char *line = NULL;
    size_t size = 0;
    ssize_t n;
    while ((n = getline(&line, &size, f)) >= 0)
        say("length %ld size enough %d text %b ftell %ld", (long)n, size > (size_t)n, line, (int)n, ftell(f));
    note_state(f);
    WITH_ERRNO(getline(&line, &size, f));
    free(line);
}

CASE(fgets_of_long_lines) {
    put_edge_lines();
    static const int room[] = {2, 100, 4096, 4097, 100000};
    static char line[100000];
    for (int i = 1; i < 5; i++) {
        FILE *f = fopen("edges", "r");
        unsigned long sum = 0, calls = 0;
        while (fgets(line, room[i], f)) {
            calls++;
            for (const char *p = line; *p; p++)
                sum = sum * 31 + (unsigned char)*p;
            sum += strlen(line) * calls;
        }
        say("room %d: %lu calls, sum %lu, ftell %ld", room[i], calls, sum, ftell(f));
        fclose(f);
    }
}

CASE(getline_buffer_sizes) {
    put_edge_lines();
    FILE *f = fopen("edges", "r");
    char *line = NULL;
    size_t size = 0;
    for (int i = 0; i < 10; i++) {
        getline(&line, &size, f);
        say("size %lu", size);
    }
    free(line);
    line = malloc(5);
    size = 5;
    CALL(getline(&line, &size, f));
    say("enough %d", size >= 4099);
}

CASE(getline_refuses_null) {
    FILE *f = text_file();
    char *line = NULL;
    size_t size = 0;
    char **volatile no_line = NULL;
    size_t *volatile no_size = NULL;
    CALL(getline(no_line, &size, f));
    CALL(getline(&line, no_size, f));
    note_flags(f);
    CALL(getline(&line, &size, f));
}

#ifdef __GLIBC__ /* musl lacks this interface */
/* M_PERTURB fills allocated memory, so that a missing null byte shows. */
CASE(getline_of_an_empty_file) {
    char *line = NULL;
    size_t size = 0;
    FILE *f = fopen("/dev/null", "r");
    mallopt(M_PERTURB, 0x55);
    for (int i = 0; i < 20; i++) /* do not reuse freed memory, which is not filled */
        *(char *volatile *)&line = malloc(120);
    line = NULL;
    CALL(getline(&line, &size, f));
    say("size %lu, terminated %d", size, line[0] == 0);
}
#endif

CASE(getline_size_without_buffer) {
    FILE *f = text_file();
    char *line = NULL;
    size_t size = 1000;
    CALL(getline(&line, &size, f));
    say("%s size %lu", line, size);
}

CASE(getdelim_of_each_delimiter) {
    static const int delimiters[] = {'\n', 0, 'o', ' ', 'z', 255, -1, '\t'};
    for (int i = 0; i < 8; i++) {
        FILE *f = text_file();
        char *line = NULL;
        size_t size = 0;
        ssize_t n;
        say("delimiter %d", delimiters[i]);
        while ((n = getdelim(&line, &size, delimiters[i], f)) >= 0)
            say("  %ld %b", (long)n, line, (int)n + 1);
        note_state(f);
        free(line);
        fclose(f);
    }
}

CASE(getline_with_an_error) {
    FILE *f = fopen("file", "w");
    char *line = NULL;
    size_t size = 0;
    CALL(getline(&line, &size, f));
    note_flags(f);
    int fd = open(".", O_RDONLY);
    f = fdopen(fd, "r");
    CALL(getline(&line, &size, f));
    note_flags(f);
    say("allocated %d", line != NULL);
}

CASE(lines_from_a_pipe_in_pieces) {
    int ends[2];
    pipe(ends);
    FILE *f = fdopen(ends[0], "r");
    char line[40];
    char *long_line = NULL;
    size_t size = 0;
    kernel_write(ends[1], "first\nsecond\nthi");
    CALL(fgets(line, sizeof line, f));
    CALL(fgets(line, sizeof line, f));
    kernel_write(ends[1], "rd\nfourth");
    CALL(fgets(line, sizeof line, f));
    close(ends[1]);
    CALL(getline(&long_line, &size, f));
    say("%s", long_line);
    note_flags(f);
    WITH_ERRNO(getline(&long_line, &size, f));
}

CASE(getline_of_a_piece) {
    int ends[2];
    pipe2(ends, O_NONBLOCK);
    FILE *f = fdopen(ends[0], "r");
    char *line = NULL;
    size_t size = 0;
    kernel_write(ends[1], "a line\nhalf");
    CALL(getline(&line, &size, f));
    WITH_ERRNO(getline(&line, &size, f));
    note_flags(f);
    clearerr(f);
    kernel_write(ends[1], " of it\n");
    CALL(getline(&line, &size, f));
    say("%s", line);
    fclose(f);
}

CASE(mixed_with_characters_and_blocks) {
    char line[64], *long_line = NULL;
    size_t size = 0;
    CALL(fgets(line, 5, stdin));
    CALL(getchar());
    CALL(getline(&long_line, &size, stdin));
    say("%s", long_line);
    CALL(fread(line, 1, 30, stdin));
    say("%b", line, 30);
    CALL(fgets(line, sizeof line, stdin));
    CALL(ungetc('Q', stdin));
    CALL(getdelim(&long_line, &size, '4', stdin));
    say("%s", long_line);
    CALL(ftell(stdin));
}

CASE(every_line_of_the_input) {
    char *line = NULL;
    size_t size = 0;
    int count = 0;
    while (getline(&line, &size, stdin) > 0)
        if (++count % 3 == 0)
            fputs(line, stdout);
    say("%d lines", count);
}

CASE(lines_out) {
    CALL(puts("puts"));
    CALL(puts(""));
    CALL(fputs("", stdout));
    CALL(fputs("fputs\n", stdout));
    CALL(fputs_unlocked("unlocked\n", stdout));
    note_state(stdout);
    FILE *f = fopen("file", "r+");
    say("%d", f == NULL);
    put_text("file", "x");
    f = fopen("file", "r");
    CALL(fputs("no", f));
    note_flags(f);
    WITH_ERRNO(fputs("", f));
    note_flags(f);
}

CASE(long_lines_out) {
    static char line[300000];
    memset(line, 'L', sizeof line - 1);
    FILE *f = fopen("file", "w");
    for (int n = 1; n < 300000; n = n * 3 + 1) {
        line[n] = 0;
        say("%d: %d", n, fputs(line, f) >= 0);
        line[n] = 'L';
    }
    CALL(ftell(f));
    fclose(f);
    note_file("file");
    line[299999] = 0;
    CALL(puts(line));
}
