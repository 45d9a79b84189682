/* SPDX-License-Identifier: MIT
 *
 * wide_cases.c - wide streams: orientation, fgetws and fputws, fwprintf.
 */
#include "tests/interfaces/stdio/transcript.h"

#include <locale.h>

CASE(orientation) {
    put_text("file", "some text\n");
    FILE *f = fopen("file", "r");
    CALL(fwide(f, 0));
    CALL(fwide(f, 1));
    CALL(fwide(f, -1));
    CALL(fgetwc(f));
    WITH_ERRNO(getc(f));
    fclose(f);
    f = fopen("file", "r");
    CALL(getc(f));
    CALL(fwide(f, 0));
    CALL(fwide(f, 1));
    WITH_ERRNO(fgetwc(f));
    CALL(getc(f));
    CALL(freopen("file", "r", f) != NULL);
    CALL(fwide(f, 0));
    fclose(f);
    f = fopen("file", "r");
    CALL(fwide(f, -5));
    CALL(fwide(f, 5));
}

CASE(reading) {
    setlocale(LC_ALL, "C.UTF-8");
    put_text("file", "caf\xc3\xa9 \xe2\x82\xac 1\nsecond line\nlast");
    FILE *f = fopen("file", "r");
    wchar_t line[40];
    CALL(fgetwc(f));
    CALL(getwc(f));
    CALL(ungetwc(L'X', f));
    CALL(fgetws(line, 40, f));
    CALL(fgetws(line, 4, f));
    CALL(ftell(f));
    CALL(fgetws(line, 40, f));
    CALL(fgetws(line, 40, f));
    CALL(fgetws(line, 40, f));
    note_flags(f);
    rewind(f);
    CALL(fgetws(line, 40, f));
    CALL(fseek(f, 0, SEEK_SET));
    int number = 0;
    CALL(fwscanf(f, L"%ls", line));
    CALL((wchar_t *)line);
    CALL(fwscanf(f, L"%*lc%*lc%d", &number));
    say("%d", number);
    fclose(f);
}

CASE(invalid_bytes) {
    setlocale(LC_ALL, "C.UTF-8");
    put_text("file", "ab\xff"
                     "cd\n");
    FILE *f = fopen("file", "r");
    CALL(fgetwc(f));
    CALL(fgetwc(f));
    CALL(fgetwc(f));
    note_flags(f);
    clearerr(f);
    CALL(fgetwc(f));
}

CASE(writing) {
    setlocale(LC_ALL, "C.UTF-8");
    FILE *f = fopen("file", "w");
    CALL(fputwc(L'\xe9', f));
    CALL(putwc(L'a', f));
    CALL(fputws(L"wide text \x20ac\n", f));
    CALL(fwprintf(f, L"%d %ls %s|%5.1f\n", 5, L"wide", "narrow", 2.5));
    CALL(fwide(f, 0));
    CALL(fflush(f));
    note_file("file");
    CALL(ftell(f));
    CALL(fputws(L"more", f));
    WITH_ERRNO(fputs("narrow", f));
    CALL(fclose(f));
    note_file("file");
}

CASE(writing_what_cannot_be_written) {
    FILE *f = fopen("file", "w");
    setlocale(LC_ALL, "C");
    WITH_ERRNO(fputwc(0x20ac, f));
    note_flags(f);
    fclose(f);
    note_file("file");
}

CASE(standard_output) {
    setlocale(LC_ALL, "C.UTF-8");
    CALL(wprintf(L"%ls %d\n", L"caf\xe9", 5));
    CALL(putwchar(L'\x20ac'));
    CALL(fputws(L"\ntext\n", stdout));
    kernel_write(1, "[raw]");
    CALL(fwide(stdout, 0));
    WITH_ERRNO(printf("narrow"));
    CALL(fwprintf(stderr, L"%ls\n", L"errors"));
}

CASE(standard_input) {
    setlocale(LC_ALL, "C.UTF-8");
    wchar_t line[40];
    CALL(getwchar());
    CALL(fgetws(line, 40, stdin));
    CALL(fgetws(line, 40, stdin));
    int n = 0, number = 0;
    while (wscanf(L"%*ls %d", &number) == 1)
        n++;
    say("%d numbers, last %d", n, number);
}

CASE(much_in_and_out) {
    setlocale(LC_ALL, "C.UTF-8");
    FILE *f = fopen("file", "w+");
    for (int i = 0; i < 5000; i++)
        fwprintf(f, L"%d \xe9\x20ac %ls\n", i, L"text");
    CALL(ftell(f));
    rewind(f);
    wchar_t line[60];
    unsigned long lines = 0, sum = 0;
    while (fgetws(line, 60, f)) {
        lines++;
        for (wchar_t *p = line; *p; p++)
            sum = sum * 31 + (unsigned long)*p;
    }
    say("%lu lines, sum %lu", lines, sum);
    fclose(f);
    note_file("file");
}

CASE(strings_and_memory) {
    wchar_t text[60];
    CALL(swprintf(text, 60, L"%d %ls", 5, L"wide"));
    CALL((wchar_t *)text);
    CALL(swprintf(text, 3, L"%d", 12345));
    wchar_t *grown;
    size_t size;
    FILE *f = CALL(open_wmemstream(&grown, &size));
    CALL(fputws(L"wide memory", f));
    CALL(fwprintf(f, L" %d", 7));
    CALL(fflush(f));
    say("size %lu", size);
    CALL((wchar_t *)grown);
    CALL(fclose(f));
    free(grown);
    int a = 0;
    CALL(swscanf(L"42 x", L"%d", &a));
    say("%d", a);
}

CASE(coded_character_sets) {
    FILE *f = CALL(fopen("file", "w,ccs=UTF-8"));
    CALL(fputws(L"caf\xe9 \x20ac\n", f));
    CALL(fclose(f));
    note_file("file");
    f = CALL(fopen("file", "r,ccs=UTF-8"));
    wchar_t line[40];
    CALL(fgetws(line, 40, f));
    CALL(fgetwc(f));
    CALL(fclose(f));
    f = CALL(fopen("file", "w,ccs=UTF-16LE"));
    if (f) {
        CALL(fputws(L"ab\xe9", f));
        CALL(fclose(f));
        note_file("file");
    }
}

CASE(visible_as_it_is_written) {
    FILE *f = fopen("file", "w");
    for (int i = 0; i < 20; i++) {
        fputws(L"seven..", f);
        struct stat st;
        stat("file", &st);
        say("%ld", (long)st.st_size);
    }
}
