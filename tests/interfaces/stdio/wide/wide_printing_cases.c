/* SPDX-License-Identifier: MIT
 *
 * wide_printing_cases.c - fwprintf on streams in every mode: when output is written, what stays in the
 * buffer, and the state after a failing conversion; swprintf into too small a buffer.
 */
#include "tests/interfaces/stdio/transcript.h"

#include <locale.h>
#include <stdio_ext.h>
#include <sys/ioctl.h>

static int ends[2];

static FILE *open_pipe(int mode, char *buffer, size_t size) {
    pipe(ends);
    fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
    FILE *f = fdopen(ends[1], "w");
    setvbuf(f, buffer, mode, size);
    return f;
}

static void close_pipe(FILE *f) {
    int waiting = 0;
    CALL(fclose(f));
    ioctl(ends[0], FIONREAD, &waiting);
    static char all[1 << 20];
    ssize_t n = read(ends[0], all, sizeof all);
    unsigned sum = 0;
    for (ssize_t i = 0; i < n; i++)
        sum = sum * 31 + (unsigned char)all[i];
    say("%d bytes in all, %x", waiting, sum);
    close(ends[0]);
}

static void note_pipe(FILE *f, const char *what, int r) {
    int waiting = 0;
    ioctl(ends[0], FIONREAD, &waiting);
    say("%s: %d, errno %d; %d in the pipe, %ld pending", what, r, errno, waiting, (long)__fpending(f));
    note_flags(f);
}

#define PRINT(...)                                                                                           \
    do {                                                                                                     \
        errno = 0;                                                                                           \
        note_pipe(f, #__VA_ARGS__, fwprintf(f, __VA_ARGS__));                                                \
    } while (0)

/* --- every mode -------------------------------------------------------------------- */

static void print_all_kinds(FILE *f) {
    int count = -1;
    PRINT(L"");
    PRINT(L"text");
    PRINT(L"%d\n", 5);
    PRINT(L"a\nb%d", 5);
    PRINT(L"%d\n%d\n", 5, 6);
    PRINT(L"%ls", L"\x20ac\nand more");
    PRINT(L"%s|%-8s|%8.2s|%.9s", "caf\xc3\xa9", "\xe2\x82\xac", "caf\xc3\xa9", "caf\xc3\xa9");
    PRINT(L"%s %ls", (char *)NULL, (wchar_t *)NULL);
    PRINT(L"%c%lc%C%5c%-5lc|", 'a', L'\xe9', L'\x20ac', 'b', L'c');
    PRINT(L"%c", '\n');
    PRINT(L"%lc", L'\n');
    PRINT(L"%2$d %1$ls\n", L"second", 7);
    PRINT(L"12345%n678\n", &count);
    say("counted %d", count);
    PRINT(L"%p %p %#x %+.3e %a %Lf\n", (void *)NULL, (void *)16, 255, 1234.5, 1.0, 2.5L);
    PRINT(L"%'d %I5d|", 1234567, 3);
    PRINT(L"%m %5.3s|%%", "abcdef");
    PRINT(L"%700d|%-700d|%.600f", 1, 2, 3.0);
    PRINT(L"%*d|%-*d|%.*s", 6, 1, -4, 2, -1, "whole");
    PRINT(L"%y %d", 5);
    PRINT(L"%");
}

static void print_failures(FILE *f) {
    PRINT(L"before%d %", 5);
    PRINT(L"before %d %s after", 5, "caf\xe9");
    PRINT(L"before\n%d %10s after", 5, "caf\xe9");
    PRINT(L"%.3s|", "caf\xe9");
    PRINT(L"%.4s|", "caf\xe9");
    PRINT(L"cut off %s", "\xe2\x82");
    PRINT(L"%c|", 0xe9);
    PRINT(L"%lc|", (wint_t)WEOF);
    PRINT(L"text %lc|", (wint_t)0xd800);
    PRINT(L"text %99999999999d|", 5);
    PRINT(L"%d\n", 5);
}

static void print_in_mode(int mode, char *buffer, size_t size) {
    FILE *f = open_pipe(mode, buffer, size);
    print_all_kinds(f);
    print_all_kinds(f);
    close_pipe(f);
    f = open_pipe(mode, buffer, size);
    print_failures(f);
    print_failures(f);
    close_pipe(f);
}

CASE(fully_buffered) {
    setlocale(LC_ALL, "C.UTF-8");
    print_in_mode(_IOFBF, NULL, 0);
}

CASE(fully_buffered_in_little_memory) {
    static char buffer[200];
    setlocale(LC_ALL, "C.UTF-8");
    print_in_mode(_IOFBF, buffer, sizeof buffer);
    print_in_mode(_IOFBF, buffer, 5);
}

CASE(line_buffered) {
    setlocale(LC_ALL, "C.UTF-8");
    print_in_mode(_IOLBF, NULL, 0);
}

CASE(line_buffered_in_little_memory) {
    static char buffer[100];
    setlocale(LC_ALL, "C.UTF-8");
    print_in_mode(_IOLBF, buffer, sizeof buffer);
}

CASE(unbuffered) {
    setlocale(LC_ALL, "C.UTF-8");
    print_in_mode(_IONBF, NULL, 0);
}

CASE(in_ascii) {
    print_in_mode(_IOFBF, NULL, 0);
}

/* --- buffers that fill up ------------------------------------------------------------ */

static void print_many(FILE *f) {
    uint32_t random = 7;
    for (int i = 0; i < 3000; i++) {
        random = random * 1664525 + 1013904223;
        int width = (int)(random >> 8) % (i % 50 ? 40 : 400);
        int r = fwprintf(f, L"%*d %ls %-*s|%.*f\n", width, i, L"w\xe9\x64\x65", width, "caf\xc3\xa9",
                         width % 20, i / 7.0);
        if (i % 20 == 0)
            note_pipe(f, "line", r);
    }
    close_pipe(f);
}

CASE(many_lines) {
    static char buffer[777];
    setlocale(LC_ALL, "C.UTF-8");
    print_many(open_pipe(_IOFBF, NULL, 0));
    print_many(open_pipe(_IOFBF, buffer, sizeof buffer));
    print_many(open_pipe(_IOLBF, NULL, 0));
}

CASE(into_a_full_device) {
    FILE *f = fopen("/dev/full", "w");
    for (int i = 0; i < 4000; i++) {
        errno = 0;
        int r = fwprintf(f, L"%d %s %ls\n", i, "narrow", L"wide");
        if (r < 0)
            say("%d: errno %d", i, errno);
    }
    note_flags(f);
    CALL(fclose(f));
}

/* --- streams that are not wide output -------------------------------------------------------- */

CASE(other_streams) {
    put_text("file", "text");
    FILE *f = fopen("file", "r");
    WITH_ERRNO(fwprintf(f, L"%d", 5));
    note_state(f);
    fclose(f);
    f = fopen("file", "w");
    fputs("bytes", f);
    WITH_ERRNO(fwprintf(f, L"%d", 5));
    note_state(f);
    fclose(f);
    f = fopen("file", "w");
    WITH_ERRNO(fwprintf(f, L""));
    CALL(fwide(f, 0));
    WITH_ERRNO(fprintf(f, "%d", 5));
    fclose(f);
    note_file("file");
}

CASE(between_input_and_output) {
    setlocale(LC_ALL, "C.UTF-8");
    put_text("file", "caf\xc3\xa9 and more\n");
    FILE *f = fopen("file", "r+");
    CALL(getwc(f));
    CALL(fseek(f, 0, SEEK_CUR));
    CALL(fwprintf(f, L"%d", 5));
    CALL(fwprintf(f, L"%lc", L'\x20ac'));
    CALL(fseek(f, 0, SEEK_CUR));
    CALL(getwc(f));
    CALL(fseek(f, 0, SEEK_END));
    CALL(fwprintf(f, L"%s\n", "at the end"));
    CALL(ftell(f));
    CALL(fwprintf(f, L"%s\n", "and behind"));
    CALL(ftell(f));
    fclose(f);
    note_file("file");
}

/* --- into memory ------------------------------------------------------------------- */

CASE(strings) {
    wchar_t text[12];
    setlocale(LC_ALL, "C.UTF-8");
    for (size_t n = 0; n < 12; n++) {
        wmemset(text, L'~', 12);
        WITH_ERRNO(swprintf(text, n, L"%d %ls", 12345, L"wide"));
        say("room for %d: %x %x", (int)n, text[n ? n - 1 : 0], text[n]);
        if (n > 0)
            CALL((text[n - 1] = 0, (wchar_t *)text));
    }
    WITH_ERRNO(swprintf(text, 12, L"ab%s", "\xff"));
    WITH_ERRNO(swprintf(text, 12, L"%2$d %1$d", 1, 2));
    CALL((wchar_t *)text);
}
