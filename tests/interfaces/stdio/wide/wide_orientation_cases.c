/* SPDX-License-Identifier: MIT
 *
 * wide_orientation_cases.c - which streams become wide, and when; byte functions on wide streams and the
 * reverse; character sets by fopen's ccs=.
 */
#include "tests/interfaces/stdio/transcript.h"

#include <locale.h>
#include <stdio_ext.h>

CASE(an_empty_string_orients) {
    FILE *f = fopen("file", "w");
    CALL(fputs("", f));
    CALL(fwide(f, 0));
    CALL(fclose(f));
}

CASE(descriptors_of_wide_memory) {
    wchar_t *text = NULL;
    size_t size = 0;
    FILE *f = open_wmemstream(&text, &size);
    CALL(fileno(f));
    fclose(f);
    free(text);
}

CASE(byte_functions_on_a_wide_output) {
    FILE *f = fopen("file", "w");
    CALL(fwide(f, 1));
    WITH_ERRNO(fputs("bytes", f));
    WITH_ERRNO(fputc('b', f));
    WITH_ERRNO((long)fwrite("bytes", 1, 5, f));
    WITH_ERRNO(fprintf(f, "bytes %d", 5));
    WITH_ERRNO(fputws(L"wide", f));
    WITH_ERRNO(fputs("bytes", f));
    WITH_ERRNO((long)fwrite("bytes", 5, 1, f));
    WITH_ERRNO(fprintf(f, "bytes %d", 5));
    WITH_ERRNO(puts("text"));
    CALL(fflush(f));
    WITH_ERRNO(fputs("bytes", f));
    WITH_ERRNO((long)fwrite("bytes", 5, 1, f));
    WITH_ERRNO(fprintf(f, "bytes %d", 5));
    note_flags(f);
    CALL(fclose(f));
    note_file("file");
}

CASE(byte_functions_on_a_wide_standard_output) {
    CALL(fputws(L"wide\n", stdout));
    WITH_ERRNO(puts("bytes"));
    WITH_ERRNO(printf("bytes %d\n", 5));
    WITH_ERRNO(fputs("bytes\n", stdout));
    WITH_ERRNO((long)fwrite("bytes\n", 6, 1, stdout));
    CALL(fwide(stdout, 0));
}

CASE(byte_functions_on_a_wide_input) {
    char text[20];
    char *line = NULL;
    size_t size = 0;
    put_text("file", "some text\nof three\nlines\n");
    FILE *f = fopen("file", "r");
    CALL(fgetwc(f));
    WITH_ERRNO(getc(f));
    WITH_ERRNO(fgetc(f));
    WITH_ERRNO(fgets(text, 20, f));
    WITH_ERRNO((long)fread(text, 1, 5, f));
    WITH_ERRNO((long)getline(&line, &size, f));
    note_flags(f);
    CALL(fgetwc(f));
    CALL(fclose(f));
    free(line);
}

CASE(wide_functions_on_a_byte_stream) {
    wchar_t text[20];
    put_text("file", "some text\n");
    FILE *f = fopen("file", "r+");
    CALL(getc(f));
    WITH_ERRNO(fgetwc(f));
    WITH_ERRNO(getwc(f));
    WITH_ERRNO(fgetws(text, 20, f));
    WITH_ERRNO(ungetwc(L'x', f));
    WITH_ERRNO(fwscanf(f, L"%ls", text));
    WITH_ERRNO(fwide(f, 1));
    CALL(getc(f));
    CALL(fseek(f, 0, SEEK_END));
    WITH_ERRNO(fputwc(L'x', f));
    WITH_ERRNO(fputwc_unlocked(L'x', f));
    WITH_ERRNO(putwc(L'y', f));
    WITH_ERRNO(putwc(L'\x20ac', f));
    WITH_ERRNO(putwc_unlocked(L'z', f));
    WITH_ERRNO(fputws(L"wide", f));
    WITH_ERRNO(fwprintf(f, L"%d", 5));
    note_flags(f);
    CALL(fputs("bytes", f));
    CALL(puts("bytes"));
    WITH_ERRNO(putwchar(L'x'));
    WITH_ERRNO(putwchar_unlocked(L'y'));
    WITH_ERRNO(fputwc(L'z', stdout));
    WITH_ERRNO(wprintf(L"%d", 5));
    CALL(fclose(f));
    note_file("file");
}

CASE(the_first_call_decides) {
    wchar_t text[20];
    put_text("file", "some text\n");
    FILE *f = fopen("file", "r");
    CALL(ftell(f));
    CALL(fseek(f, 2, SEEK_SET));
    CALL(fwide(f, 0));
    CALL(fgetwc(f));
    CALL(fwide(f, 0));
    fclose(f);
    f = fopen("file", "r");
    CALL(ungetwc(L'x', f));
    CALL(fwide(f, 0));
    CALL(fgetwc(f));
    CALL(fgetwc(f));
    fclose(f);
    f = fopen("file", "r");
    CALL(fwscanf(f, L"%ls", text));
    CALL(fwide(f, 0));
    fclose(f);
    f = fopen("file", "w");
    CALL(fwprintf(f, L"%d", 5));
    CALL(fwide(f, -1));
    fclose(f);
    CALL(fwide(stderr, 0));
    CALL(fwide(stderr, 1));
    CALL(fputws(L"wide", stderr));
}

CASE(freopen_makes_it_open_again) {
    wchar_t text[20];
    put_text("file", "some text\n");
    FILE *f = fopen("file", "r");
    CALL(fgetws(text, 5, f));
    CALL(freopen("file", "r", f) != NULL);
    CALL(fwide(f, 0));
    CALL(getc(f));
    CALL(freopen("file", "r", f) != NULL);
    CALL(fgetws(text, 5, f));
    CALL(freopen("other", "w", f) != NULL);
    CALL(fputs("bytes\n", f));
    CALL(freopen("third", "w", f) != NULL);
    CALL(fputws(L"wide\n", f));
    CALL(freopen("file", "a", f) != NULL);
    note_file("third");
    CALL(fputws(L"wide\n", f));
    CALL(fclose(f));
    note_file("file");
    note_file("other");
}

CASE(freopen_of_standard_output) {
    CALL(fputws(L"wide before\n", stdout));
    CALL(freopen("file", "w", stdout) != NULL);
    CALL(puts("bytes after"));
    CALL(freopen("second", "w", stdout) != NULL);
    CALL(fputws(L"wide at last\n", stdout));
    CALL(fclose(stdout));
    note_file("file");
    note_file("second");
}

CASE(streams_that_are_never_wide) {
    char *text;
    size_t size;
    FILE *f = popen("cat", "w");
    WITH_ERRNO(fwide(f, 0));
    WITH_ERRNO(fputws(L"wide", f));
    CALL(fputs("bytes\n", f));
    CALL(pclose(f));
    f = open_memstream(&text, &size);
    WITH_ERRNO(fwide(f, 1));
    WITH_ERRNO(fputwc(L'w', f));
    CALL(fclose(f));
    free(text);
    f = fmemopen(NULL, 20, "w+");
    WITH_ERRNO(fwide(f, 1));
    CALL(fclose(f));
    f = fopencookie(NULL, "r", (cookie_io_functions_t){NULL, NULL, NULL, NULL});
    WITH_ERRNO(fwide(f, 1));
    CALL(fclose(f));
}

CASE(tmpfile_and_fdopen) {
    wchar_t text[20];
    FILE *f = tmpfile();
    CALL(fputws(L"wide text\n", f));
    rewind(f);
    CALL(fgetws(text, 20, f));
    CALL(fclose(f));
    put_text("file", "caf\xc3\xa9\n");
    f = CALL(fdopen(open("file", O_RDWR), "r+,ccs=UTF-16LE"));
    setlocale(LC_ALL, "C.UTF-8");
    CALL(fwide(f, 0));
    CALL(fgetws(text, 20, f));
    CALL(fclose(f));
}

CASE(the_locale_counts_when_it_becomes_wide) {
    wchar_t text[40];
    put_text("file", "caf\xc3\xa9 one\ncaf\xc3\xa9 two\n");
    FILE *f = fopen("file", "r");
    setlocale(LC_ALL, "C.UTF-8");
    CALL(fgetws(text, 40, f));
    setlocale(LC_ALL, "C");
    CALL(fgetws(text, 40, f));
    fclose(f);
    f = fopen("file", "r");
    CALL(fwide(f, 1));
    setlocale(LC_ALL, "C.UTF-8");
    WITH_ERRNO(fgetws(text, 40, f));
    note_flags(f);
    fclose(f);
    f = fopen("file", "w");
    CALL(fputws(L"caf\xe9 one\n", f));
    setlocale(LC_ALL, "C");
    CALL(fputws(L"caf\xe9 two\n", f));
    CALL(fclose(f));
    note_file("file");
}

CASE(a_thread_of_its_own_locale) {
    locale_t utf8 = newlocale(LC_ALL_MASK, "C.UTF-8", NULL);
    wchar_t text[40];
    put_text("file", "caf\xc3\xa9 one\n");
    uselocale(utf8);
    FILE *f = fopen("file", "r");
    CALL(fwide(f, 1));
    uselocale(LC_GLOBAL_LOCALE);
    CALL(fgetws(text, 40, f));
    fclose(f);
}

/* --- ccs= ------------------------------------------------------------------- */

static void write_and_read(const char *charset) {
    char mode[60];
    wchar_t text[60];
    snprintf(mode, sizeof mode, "w,ccs=%s", charset);
    say("%s", charset);
    FILE *f = CALL(fopen("file", mode));
    if (!f)
        return;
    CALL(fwide(f, 0));
    CALL(fputws(L"ascii \xe9 \x20ac \x3042\n", f));
    CALL(fwprintf(f, L"%d %s\n", 5, "five"));
    CALL(fputws(L"\x3042\x3044", f));
    CALL(ftell(f));
    CALL(fclose(f));
    note_file("file");
    mode[0] = 'r';
    f = CALL(fopen("file", mode));
    while (CALL(fgetws(text, 60, f) != NULL))
        CALL((wchar_t *)text);
    note_flags(f);
    CALL(ftell(f));
    CALL(fclose(f));
}

/* ftell includes unwritten output with a change of character set at each character; libc's returns a wrong
 * value. */
CASE(telling_where_shifts_are_many) {
    FILE *f = CALL(fopen("file", "w,ccs=ISO-2022-JP"));
    for (int i = 0; i < 200; i++)
        fputws(L"a\x3042", f);
    say("%d", ftell(f) > 0);
    CALL(fclose(f));
}

CASE(character_sets) {
    write_and_read("UTF-8");
    write_and_read("UTF-16");
    write_and_read("UTF-16LE");
    write_and_read("UTF-32BE");
    write_and_read("ISO-8859-1");
    write_and_read("iso-8859-15//TRANSLIT");
    write_and_read("EUC-JP");
    write_and_read("SJIS");
    write_and_read("ISO-2022-JP");
    write_and_read("ASCII");
    write_and_read("no such set");
    write_and_read("");
}

CASE(character_sets_in_the_mode) {
    put_text("file", "caf\xe9\n");
    wchar_t text[60];
    FILE *f = CALL(fopen("file", "r+b,ccs=ISO-8859-1,x"));
    CALL(fgetws(text, 60, f));
    CALL(fclose(f));
    f = CALL(fopen("file", "rb+e, ccs=latin1"));
    CALL(fwide(f, 0));
    CALL(fclose(f));
    f = CALL(fopen("file", "r,ccs=latin1"));
    CALL(fgetws(text, 60, f));
    WITH_ERRNO(getc(f));
    CALL(freopen("file", "r,ccs=latin1", f) != NULL);
    CALL(fwide(f, 0));
    CALL(freopen("file", "r,ccs=nonsense", f) != NULL);
    CALL(fopen("nowhere/file", "r,ccs=nonsense"));
    CALL(fopen("new", "w,ccs=nonsense"));
    note_file("new");
}

CASE(places_in_a_set_with_shifts) {
    wchar_t text[60];
    FILE *f = CALL(fopen("file", "w+,ccs=ISO-2022-JP"));
    fpos_t middle, start;
    CALL(fgetpos(f, &start));
    CALL(fputws(L"abc \x3042\x3044 def\n", f));
    CALL(fputws(L"second \x3046\n", f));
    CALL(fflush(f));
    note_file("file");
    CALL(fsetpos(f, &start));
    CALL(fgetws(text, 6, f));
    CALL(fgetpos(f, &middle));
    CALL(ftell(f));
    CALL(fgetws(text, 60, f));
    CALL(fsetpos(f, &middle));
    CALL(fgetws(text, 60, f));
    CALL(fclose(f));
}

CASE(what_stdio_ext_says) {
    FILE *f = fopen("file", "w+");
    CALL(fwide(f, 1));
    CALL((long)__fbufsize(f));
    CALL(fputws(L"text", f));
    CALL((long)__fpending(f));
    CALL((long)__fbufsize(f));
    CALL(__fwriting(f) != 0);
    CALL(__freading(f) != 0);
    CALL(__flbf(f));
    __fpurge(f);
    CALL((long)__fpending(f));
    CALL(fputws(L"other", f));
    CALL(fseek(f, 0, SEEK_SET));
    CALL(fgetwc(f));
    CALL(ungetwc(L'x', f));
    __fpurge(f);
    CALL(fgetwc(f));
    CALL(fclose(f));
    note_file("file");
}

CASE(a_byte_pushed_back_before_it_is_wide) {
    put_text("file", "some text\n");
    FILE *f = fopen("file", "r");
    CALL(getc(f));
    FILE *fresh = fopen("file", "r");
    CALL(ungetc('M', fresh));
    CALL(fwide(fresh, 1));
    CALL(ungetwc(L'x', fresh));
    CALL(fclose(fresh));
    CALL(fclose(f));
}
