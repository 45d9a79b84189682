/* SPDX-License-Identifier: MIT
 *
 * numbers_cases.c - stdio on a number whose descriptor is read in small pieces: a stream uses its
 * number whatever file is there by then.
 * Layer: tests.
 */
#include "tests/interfaces/unix/noted.h"

static char bytes[100];

static void put_numbers(const char *path, int n) {
    char *text = malloc((size_t)n * 10 + 1);
    for (int i = 0; i < n; i++)
        sprintf(text + (size_t)i * 10, "%09d\n", i);
    put_file(path, text, (size_t)n * 10);
    free(text);
}

static void read_small(int fd) {
    for (int i = 0; i < 200; i++)
        if (read(fd, bytes, 10) != 10)
            note("read %d failed\n", i);
}

/* A file on the number 0, read in small pieces. */
static void private_stdin(void) {
    put_numbers("in", 20000);
    put_numbers("other", 7);
    close(0);
    open("in", O_RDWR);
    read_small(0);
}

static void read_more(int fd) {
    memset(bytes, 0, sizeof bytes);
    NOTE(read(fd, bytes, 10));
    note_bytes(bytes, 10);
    NOTE(lseek(fd, 0, SEEK_CUR));
}

NOTED_CASE(duplicated_to_stdin) {
    put_numbers("in", 20000);
    int fd = open("in", O_RDONLY);
    dup2(fd, 0);
    close(fd);
    read_small(0);
    NOTE(fgets(bytes, sizeof bytes, stdin) == bytes);
    note("%s", bytes);
    read_more(0);
}

NOTED_CASE(scanned) {
    int n = 0, last = 0;
    private_stdin();
    NOTE(scanf("%d", &n));
    note("%d\n", n);
    for (int i = 0; i < 1000; i++)
        last = getchar();
    note("%d\n", last);
    read_more(0);
    NOTE(ftell(stdin));
}

NOTED_CASE(told_and_rewound) {
    private_stdin();
    NOTE(ftell(stdin));
    read_small(0);
    NOTE(getchar());
    read_small(0);
    rewind(stdin);
    read_more(0);
}

NOTED_CASE(flushed) {
    private_stdin();
    NOTE(getchar());
    NOTE(fflush(stdin));
    read_more(0);
}

NOTED_CASE(sought) {
    private_stdin();
    NOTE(fseek(stdin, 5, SEEK_CUR));
    read_more(0);
    NOTE(fseek(stdin, -20, SEEK_END));
    read_more(0);
}

NOTED_CASE(reopened) {
    private_stdin();
    NOTE(freopen("other", "r", stdin) == stdin);
    read_more(0);
}

NOTED_CASE(reopened_itself) {
    private_stdin();
    NOTE(freopen(NULL, "r", stdin) == stdin);
    NOTE(getchar());
    read_more(0);
}

NOTED_CASE(closed) {
    private_stdin();
    NOTE(fclose(stdin));
    NOTE(open("in", O_RDONLY));
    read_more(0);
}

NOTED_CASE(closed_and_taken_by_tmpfile) {
    private_stdin();
    fclose(stdin);
    FILE *f = tmpfile();
    NOTE(fputs("0123456789abcdef", f));
    rewind(f);
    NOTE(fileno(f));
    read_more(0);
}

NOTED_CASE(closed_and_taken_by_others) {
    char name[] = "new.XXXXXX";
    int ends[2];
    private_stdin();
    fclose(stdin);
    NOTE(mkstemp(name));
    unlink(name);
    NOTE(write(0, "0123456789abcdef", 16));
    NOTE(lseek(0, 0, SEEK_SET));
    read_more(0);
    NOTE(close(0));
    NOTE(pipe(ends));
    NOTE(write(ends[1], "0123456789abcdef", 16));
    read_more(0);
}

NOTED_CASE(written_by_dprintf) {
    private_stdin();
    NOTE(dprintf(0, "%s", "here"));
    read_more(0);
    note_file("in");
}

NOTED_CASE(on_a_number_of_its_own) {
    put_numbers("in", 20000);
    put_numbers("other", 20000);
    FILE *f = fopen("other", "r");
    int fd = open("in", O_RDONLY);
    getc(f);
    dup2(fd, fileno(f));
    close(fd);
    read_small(fileno(f));
    for (int i = 0; i < 5000; i++)
        getc(f);
    read_more(fileno(f));
    NOTE(ftell(f));
}

NOTED_CASE(with_a_buffer_of_its_own) {
    private_stdin();
    setvbuf(stdin, bytes, _IOFBF, 50);
    NOTE(ungetc('x', stdin));
    NOTE(getchar());
    read_small(0);
    NOTE(getchar());
    read_more(0);
}
