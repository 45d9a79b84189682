/* SPDX-License-Identifier: MIT
 *
 * heap_cases.c - the program's own heap: what it allocates between calls lies as
 * far apart as under libc, whatever its streams do.
 * Layer: tests.
 */
#include "transcript.h"

static char *last;

/* Nothing allocated here is given back. */
static void place(const char *after) {
    for (size_t n = 24; n <= 3000; n *= 5) {
        char *p = malloc(n);
        say("%s: %lu bytes, %ld behind the last", after, n, last ? (long)(p - last) : 0L);
        last = p;
    }
}

static void read_all(FILE *f) {
    long n = 0;
    while (getc(f) != EOF)
        if (++n == 10 || n == 5000)
            place("some bytes read");
}

static void write_much(FILE *f) {
    for (int i = 0; i < 200000; i++)
        putc('a' + i % 26, f);
}

CASE(reading) {
    put_lines("file", 40000);
    place("start");
    for (int i = 0; i < 3; i++) {
        FILE *f = fopen("file", "r");
        place("fopen");
        read_all(f);
        place("end of file");
        fclose(f);
        place("fclose");
    }
}

CASE(reading_by_pieces) {
    static char piece[100000];
    put_lines("file", 40000);
    place("start");
    FILE *f = fopen("file", "r");
    while (fread(piece, 1, sizeof piece, f) == sizeof piece)
        place("fread");
    rewind(f);
    while (fgets(piece, 1000, f))
        continue;
    place("fgets");
    fclose(f);
    place("fclose");
}

CASE(writing) {
    place("start");
    for (int i = 0; i < 3; i++) {
        FILE *f = fopen("file", "w");
        place("fopen");
        putc('x', f);
        place("putc");
        write_much(f);
        place("much");
        fflush(f);
        place("fflush");
        fprintf(f, "%d %s %f\n", 1, "text", 1.5);
        fclose(f);
        place("fclose");
    }
}

CASE(both) {
    put_lines("file", 4000);
    FILE *f = fopen("file", "r+");
    read_all(f);
    fseek(f, 100, SEEK_SET);
    place("fseek");
    write_much(f);
    place("written");
    rewind(f);
    read_all(f);
    fclose(f);
    place("fclose");
}

CASE(standard_streams) {
    place("start");
    getchar();
    place("getchar");
    putchar('x');
    place("putchar");
    fprintf(stderr, "message %d\n", 1);
    place("message");
    read_all(stdin);
    write_much(stdout);
    place("much");
}

CASE(several_at_once) {
    FILE *f[6];
    put_lines("file", 20000);
    for (int i = 0; i < 6; i++) {
        f[i] = fopen("file", "r");
        getc(f[i]);
        place("fopen");
    }
    for (int i = 0; i < 6; i++) {
        read_all(f[i]);
        fclose(f[i]);
        place("fclose");
    }
}

CASE(opened_otherwise) {
    put_lines("file", 20000);
    place("start");
    FILE *f = fdopen(open("file", O_RDONLY), "r");
    place("fdopen");
    read_all(f);
    f = freopen("file", "r", f);
    place("freopen");
    read_all(f);
    fclose(f);
    fopen("missing", "r");
    place("no fopen");
    f = tmpfile();
    write_much(f);
    rewind(f);
    read_all(f);
    fclose(f);
    place("fclose");
}

CASE(unbuffered) {
    put_lines("file", 20000);
    FILE *f = fopen("file", "r+");
    setvbuf(f, NULL, _IONBF, 0);
    getc(f);
    place("getc");
    fseek(f, 0, SEEK_CUR);
    putc('x', f);
    fputs("text", f);
    place("fputs");
    fclose(f);
    place("fclose");
}

CASE(lines) {
    FILE *f = fopen("file", "w");
    setlinebuf(f);
    place("setlinebuf");
    for (int i = 0; i < 1000; i++)
        fprintf(f, "line %d\n", i);
    place("lines");
    fclose(f);
    place("fclose");
}

CASE(wide) {
    put_lines("file", 20000);
    FILE *in = fopen("file", "r"), *out = fopen("out", "w");
    fgetwc(in);
    place("fgetwc");
    fputwc(L'x', out);
    place("fputwc");
    for (wint_t c; (c = fgetwc(in)) != WEOF;)
        fputwc((wchar_t)c, out);
    place("copied");
    fclose(in);
    fclose(out);
    place("fclose");
}
