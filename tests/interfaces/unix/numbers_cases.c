/* SPDX-License-Identifier: MIT
 *
 * numbers_cases.c - stdio on a number whose descriptor is read in small pieces: a stream must use the file
 * that the number has at the time of the call.
 */
#include "tests/interfaces/stdio/transcript.h"

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
            say("read %d failed", i);
}

/* Opens a file on descriptor 0 and makes small reads. */
static void private_stdin(void) {
    put_numbers("in", 20000);
    put_numbers("other", 7);
    close(0);
    open("in", O_RDWR);
    read_small(0);
}

static void read_more(int fd) {
    memset(bytes, 0, sizeof bytes);
    CALL(read(fd, bytes, 10));
    say("  %b", bytes, 10);
    CALL(lseek(fd, 0, SEEK_CUR));
}

CASE(duplicated_to_stdin) {
    put_numbers("in", 20000);
    int fd = open("in", O_RDONLY);
    dup2(fd, 0);
    close(fd);
    read_small(0);
    CALL(fgets(bytes, sizeof bytes, stdin) == bytes);
    say("%q", bytes);
    read_more(0);
}

CASE(scanned) {
    int n = 0, last = 0;
    private_stdin();
    CALL(scanf("%d", &n));
    say("%d", n);
    for (int i = 0; i < 1000; i++)
        last = getchar();
    say("%d", last);
    read_more(0);
    CALL(ftell(stdin));
}

CASE(told_and_rewound) {
    private_stdin();
    CALL(ftell(stdin));
    read_small(0);
    CALL(getchar());
    read_small(0);
    rewind(stdin);
    read_more(0);
}

CASE(flushed) {
    private_stdin();
    CALL(getchar());
    CALL(fflush(stdin));
    read_more(0);
}

CASE(sought) {
    private_stdin();
    CALL(fseek(stdin, 5, SEEK_CUR));
    read_more(0);
    CALL(fseek(stdin, -20, SEEK_END));
    read_more(0);
}

CASE(reopened) {
    private_stdin();
    CALL(freopen("other", "r", stdin) == stdin);
    read_more(0);
}

CASE(reopened_itself) {
    private_stdin();
    CALL(freopen(NULL, "r", stdin) == stdin);
    CALL(getchar());
    read_more(0);
}

CASE(closed) {
    private_stdin();
    CALL(fclose(stdin));
    CALL(open("in", O_RDONLY));
    read_more(0);
}

CASE(closed_and_taken_by_tmpfile) {
    private_stdin();
    fclose(stdin);
    FILE *f = tmpfile();
    CALL(fputs("0123456789abcdef", f));
    rewind(f);
    CALL(fileno(f));
    read_more(0);
}

CASE(closed_and_taken_by_others) {
    char name[] = "new.XXXXXX";
    int ends[2];
    private_stdin();
    fclose(stdin);
    CALL(mkstemp(name));
    unlink(name);
    CALL(write(0, "0123456789abcdef", 16));
    CALL(lseek(0, 0, SEEK_SET));
    read_more(0);
    CALL(close(0));
    CALL(pipe(ends));
    CALL(write(ends[1], "0123456789abcdef", 16));
    read_more(0);
}

CASE(written_by_dprintf) {
    private_stdin();
    CALL(dprintf(0, "%s", "here"));
    read_more(0);
    note_file("in");
}

CASE(on_a_number_of_its_own) {
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
    CALL(ftell(f));
}

CASE(with_a_buffer_of_its_own) {
    private_stdin();
    setvbuf(stdin, bytes, _IOFBF, 50);
    CALL(ungetc('x', stdin));
    CALL(getchar());
    read_small(0);
    CALL(getchar());
    read_more(0);
}
