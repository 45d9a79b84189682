/* SPDX-License-Identifier: MIT
 *
 * names_cases.c - functions that compilers and headers replace by others: the functions behind inline
 * ones, those of older and stricter programs, and those that only _FORTIFY_SOURCE uses. Each is called by
 * its own name.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <features.h>
#undef __USE_EXTERN_INLINES /* declare the functions themselves, not inline versions */

#include "transcript.h"

#ifdef __GLIBC__
#include <argp.h>
#include <obstack.h>
#include <printf.h>
#endif
#include <err.h>
#include <getopt.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio_ext.h>

#define obstack_chunk_alloc malloc
#define obstack_chunk_free  free

CASE(characters_of_the_standard_streams) {
    CALL(getchar());
    CALL(getchar_unlocked());
    CALL(fgetc_unlocked(stdin));
    CALL(getc_unlocked(stdin));
    CALL(feof_unlocked(stdin));
    CALL(ferror_unlocked(stdin));
    CALL(putchar('a'));
    CALL(putchar_unlocked('b'));
    CALL(putc_unlocked('c', stdout));
    CALL(fputc_unlocked('d', stdout));
    char *line = NULL;
    size_t size = 0;
    CALL(getline(&line, &size, stdin));
    say("%s", line);
    free(line);
}

#ifdef __GLIBC__ /* musl lacks this interface */
extern char *gets_by_name(char *) __asm__("gets");
extern char *gets_checked(char *, size_t) __asm__("__gets_chk");
extern char *fgets_checked(char *, size_t, int, FILE *) __asm__("__fgets_unlocked_chk");
extern char *fgets_checked_locked(char *, size_t, int, FILE *) __asm__("__fgets_chk");

CASE(lines_without_a_limit) {
    char line[40];
    CALL(gets_by_name(line));
    CALL(gets_checked(line, sizeof line));
    CALL(fgets_checked(line, sizeof line, 20, stdin));
    CALL(gets_by_name(line));
    put_text("file", "ab\ncd\nlong enough\n");
    FILE *f = fopen("file", "r");
    CALL(fgets_checked(line, 5, 20, f)); /* the size limit exceeds the array, but the line fits */
    CALL(fgets_checked_locked(line, 4, 5, f));
    CALL(fgets_checked_locked(line, 4, 1, f));
    CALL(ftell(f));
    fclose(f);
}

static ssize_t read_three_and_fail(void *calls, char *buffer, size_t n) {
    if ((*(int *)calls)++ > 0 || n < 3) {
        errno = EIO;
        return -1;
    }
    memcpy(buffer, "abc", 3);
    return 3;
}

CASE(lines_without_a_limit_and_errors) {
    FILE *before = stdin;
    for (int checked = 0; checked < 2; checked++) {
        int calls = 0;
        char line[40] = "";
        stdin = fopencookie(&calls, "r", (cookie_io_functions_t){.read = read_three_and_fail});
        errno = 0;
        char *r = checked ? gets_checked(line, sizeof line) : gets_by_name(line);
        say("%d errno %d", r != NULL, errno);
        note_flags(stdin);
        fclose(stdin);
    }
    stdin = before;
}

static void overflow_gets(void) {
    char line[40];
    gets_checked(line, 5);
}

static void overflow_fgets_locked(void) {
    char line[40];
    fgets_checked_locked(line, 5, 6, stdin);
}

static void overflow_fgets(void) {
    char line[40];
    fgets_checked(line, 5, 20, stdin);
}

CASE(lines_that_do_not_fit) {
    child(overflow_gets);
    child(overflow_fgets);
    child(overflow_fgets_locked);
}

static int print_list(const char *format, ...) {
    extern int checked_vprintf(int, const char *, va_list) __asm__("__vprintf_chk");
    va_list ap;
    va_start(ap, format);
    int a = vprintf(format, ap);
    va_end(ap);
    va_start(ap, format);
    int b = checked_vprintf(1, format, ap);
    va_end(ap);
    return 1000 * a + b;
}

static int print_to_obstack(struct obstack *stack, const char *format, ...) {
    extern int checked_obstack(struct obstack *, int, const char *, va_list) __asm__("__obstack_vprintf_chk");
    va_list ap;
    va_start(ap, format);
    int a = obstack_vprintf(stack, format, ap);
    va_end(ap);
    va_start(ap, format);
    int b = checked_obstack(stack, 1, format, ap);
    va_end(ap);
    return 1000 * a + b;
}

CASE(printing_by_lists) {
    struct obstack stack;
    CALL(print_list("%d %s|%5.2f\n", 5, "text", 2.5));
    obstack_init(&stack);
    CALL(print_to_obstack(&stack, "%d %s;", 5, "text"));
    obstack_1grow(&stack, '\0');
    say("%s", (char *)obstack_finish(&stack));
    obstack_free(&stack, NULL);
}

/* Programs compiled as C89 use these names; there %as allocates in scanf. */
extern int old_scanf(const char *, ...) __asm__("scanf");
extern int old_fscanf(FILE *, const char *, ...) __asm__("fscanf");
extern int old_vscanf(const char *, va_list) __asm__("vscanf");
extern int old_vfscanf(FILE *, const char *, va_list) __asm__("vfscanf");
extern int inner_vfscanf(FILE *, const char *, va_list) __asm__("__vfscanf");
extern int new_vscanf(const char *, va_list) __asm__("__isoc99_vscanf");
extern int new_vfscanf(FILE *, const char *, va_list) __asm__("__isoc99_vfscanf");
extern int new_scanf(const char *, ...) __asm__("__isoc99_scanf");
extern int new_fscanf(FILE *, const char *, ...) __asm__("__isoc99_fscanf");

/* Programs compiled as C23 use these names. */
#if __GLIBC_PREREQ(2, 38)
#define NEWEST "__isoc23_"
#else
#define NEWEST "__isoc99_"
#endif
extern int newest_scanf(const char *, ...) __asm__(NEWEST "scanf");
extern int newest_fscanf(FILE *, const char *, ...) __asm__(NEWEST "fscanf");
extern int newest_vscanf(const char *, va_list) __asm__(NEWEST "vscanf");
extern int newest_vfscanf(FILE *, const char *, va_list) __asm__(NEWEST "vfscanf");

static void scan_lists(const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    int n[7];
    va_list copies[7];
    for (int i = 0; i < 7; i++)
        va_copy(copies[i], ap);
    n[0] = old_vscanf(format, copies[0]);
    n[1] = old_vfscanf(stdin, format, copies[1]);
    n[2] = inner_vfscanf(stdin, format, copies[2]);
    n[3] = new_vscanf(format, copies[3]);
    n[4] = new_vfscanf(stdin, format, copies[4]);
    n[5] = newest_vscanf(format, copies[5]);
    n[6] = newest_vfscanf(stdin, format, copies[6]);
    for (int i = 0; i < 7; i++)
        va_end(copies[i]);
    va_end(ap);
    say("%b", n, (int)sizeof n);
}

CASE(scanning_by_old_names) {
    char word[20], *allocated = NULL;
    int number;
    CALL(old_scanf("%19s %d", word, &number));
    say("%s %d", word, number);
    CALL(old_fscanf(stdin, "%as %d", &allocated, &number));
    say("%s %d", allocated ? allocated : "none", number);
    free(allocated);
    CALL(new_scanf("%19s %d", word, &number));
    CALL(new_fscanf(stdin, "%19s %d", word, &number));
    CALL(newest_scanf("%19s %d", word, &number));
    CALL(newest_fscanf(stdin, "%19s %d", word, &number));
    say("%s %d", word, number);
    scan_lists("%19s %d", word, &number);
    say("%s %d", word, number);
    CALL(ftell(stdin));
}

static void scan_text_lists(const char *text, const char *format, ...) {
    extern int old_vsscanf(const char *, const char *, va_list) __asm__("vsscanf");
    extern int inner_vsscanf(const char *, const char *, va_list) __asm__("__vsscanf");
    extern int new_vsscanf(const char *, const char *, va_list) __asm__("__isoc99_vsscanf");
    extern int newest_vsscanf(const char *, const char *, va_list) __asm__(NEWEST "vsscanf");
    int sum = 0;
    va_list ap;
    for (int i = 0; i < 4; i++) {
        va_start(ap, format);
        sum = 10 * sum + (i == 0   ? old_vsscanf(text, format, ap)
                          : i == 1 ? inner_vsscanf(text, format, ap)
                          : i == 2 ? new_vsscanf(text, format, ap)
                                   : newest_vsscanf(text, format, ap));
        va_end(ap);
    }
    say("%d", sum);
}

CASE(scanning_text_by_each_name) {
    extern int old_sscanf(const char *, const char *, ...) __asm__("sscanf");
    extern int newest_sscanf(const char *, const char *, ...) __asm__(NEWEST "sscanf");
    char word[20] = "", *allocated = NULL;
    int number = 0;
    scan_text_lists("word 12", "%19s %d", word, &number);
    say("%s %d", word, number);
    scan_text_lists("word 12", "%19s %*d %d", word, &number);
    CALL(old_sscanf("any 13", "%as %d", &allocated, &number));
    say("%s %d", allocated, number);
    free(allocated);
    CALL(newest_sscanf("any 14", "%19s %i", word, &number));
    say("%s %d", word, number);
}
#endif

#ifdef __GLIBC__ /* musl links no new program to these names */
CASE(other_names_of_opening) {
    extern FILE *large_freopen(const char *, const char *, FILE *) __asm__("freopen64");
    extern FILE *large_tmpfile(void) __asm__("tmpfile64");
    put_text("file", "0123456789");
    FILE *f = fopen("file", "r");
    CALL(getc(f));
    f = CALL(large_freopen("file", "r+", f));
    CALL(getc(f));
    fclose(f);
    f = CALL(large_tmpfile());
    CALL(fputs("text", f));
    CALL(ftell(f));
    fclose(f);
}
#endif

#ifdef __GLIBC__ /* musl lacks this interface */
static error_t parse_option(int key, char *value, struct argp_state *state) {
    (void)value;
    if (key != 'u')
        return ARGP_ERR_UNKNOWN;
    argp_usage(state);
    return 0;
}
#endif

CASE(options_by_each_name) {
    static char *arguments[] = {(char *)"cases", (char *)"-x", (char *)"-a", (char *)"-b", NULL};
    static const struct option longs[] = {{"long", no_argument, NULL, 'l'}, {NULL, 0, NULL, 0}};
    printf("output before. ");
    for (int c; (c = getopt(4, arguments, "ab:")) != -1;)
        say("option %d", c);
    optind = 1;
    arguments[1] = (char *)"-lon";
    for (int c; (c = getopt_long_only(4, arguments, "a", longs, NULL)) != -1;)
        say("option %d", c);
#ifdef __GLIBC__ /* musl lacks this interface */
    static char *usage[] = {(char *)"cases", (char *)"-u", NULL};
    static const struct argp_option options[] = {{"usage-now", 'u', 0, 0, "Usage", 0}, {0}};
    static const struct argp argp = {options, parse_option, NULL, NULL, NULL, NULL, NULL};
    CALL(argp_parse(&argp, 2, usage, ARGP_NO_EXIT, NULL, NULL));
#endif
}

static void err_child(void) {
    printf("unflushed. ");
    errno = ENOENT;
    err(5, "err %d", 6);
}

CASE(an_error_that_ends) {
    child(err_child);
}

/* --- wide ------------------------------------------------------------------------------------ */

CASE(wide_characters_unlocked) {
    setlocale(LC_ALL, "C.UTF-8");
    FILE *f = fopen("file", "w+");
    CALL(putwc_unlocked(L'a', f));
    CALL(fputwc_unlocked(0xe4, f));
    CALL(fputws_unlocked(L"line\nmore\n", f));
    rewind(f);
    wchar_t text[20];
    CALL(getwc_unlocked(f));
    CALL(fgetwc_unlocked(f));
    CALL(fgetws_unlocked(text, 20, f));
#ifdef __GLIBC__ /* musl lacks this interface */
    extern wchar_t *checked_fgetws(wchar_t *, size_t, int, FILE *) __asm__("__fgetws_unlocked_chk");
    extern wchar_t *checked_locked(wchar_t *, size_t, int, FILE *) __asm__("__fgetws_chk");
    CALL(checked_fgetws(text, 20, 3, f));
    CALL(checked_locked(text, 20, 10, f));
    CALL(checked_fgetws(text, 20, 10, f));
#endif
    fclose(f);
    note_file("file");
    CALL(getwchar());
    CALL(getwchar_unlocked());
    CALL(putwchar_unlocked(L'x'));
    CALL(putwchar(0xe4));
}

#ifdef __GLIBC__ /* musl lacks this interface */
static int print_wide_lists(FILE *f, const wchar_t *format, ...) {
    extern int checked_vfwprintf(FILE *, int, const wchar_t *, va_list) __asm__("__vfwprintf_chk");
    extern int checked_vwprintf(int, const wchar_t *, va_list) __asm__("__vwprintf_chk");
    int sum = 0;
    va_list ap;
    for (int i = 0; i < 4; i++) {
        va_start(ap, format);
        sum = 100 * sum + (i == 0   ? vfwprintf(f, format, ap)
                           : i == 1 ? checked_vfwprintf(f, 1, format, ap)
                           : i == 2 ? vwprintf(format, ap)
                                    : checked_vwprintf(1, format, ap));
        va_end(ap);
    }
    return sum;
}

static void print_wide_text_lists(const wchar_t *format, ...) {
    extern int checked_vswprintf(wchar_t *, size_t, int, size_t, const wchar_t *,
                                 va_list) __asm__("__vswprintf_chk");
    wchar_t text[40] = L"";
    va_list ap;
    va_start(ap, format);
    CALL(vswprintf(text, 40, format, ap));
    say("%b", text, (int)sizeof text);
    va_end(ap);
    va_start(ap, format);
    CALL(checked_vswprintf(text, 40, 1, 40, format, ap));
    say("%b", text, (int)sizeof text);
    va_end(ap);
    va_start(ap, format);
    CALL(checked_vswprintf(text, 5, 1, 40, format, ap));
    va_end(ap);
}

CASE(printing_wide_text_by_each_name) {
    print_wide_text_lists(L"%ls %d", L"words", 15);
}

static int scan_wide_lists(FILE *f, const wchar_t *format, ...) {
    extern int newer(FILE *, const wchar_t *, va_list) __asm__("__isoc99_vfwscanf");
    extern int newer_here(const wchar_t *, va_list) __asm__("__isoc99_vwscanf");
    extern int older(FILE *, const wchar_t *, va_list) __asm__("vfwscanf");
    extern int older_here(const wchar_t *, va_list) __asm__("vwscanf");
    extern int newest(FILE *, const wchar_t *, va_list) __asm__(NEWEST "vfwscanf");
    extern int newest_here(const wchar_t *, va_list) __asm__(NEWEST "vwscanf");
    int sum = 0;
    va_list ap;
    for (int i = 0; i < 6; i++) {
        va_start(ap, format);
        sum = 10 * sum + (i == 0   ? newer(f, format, ap)
                          : i == 1 ? older(f, format, ap)
                          : i == 2 ? newest(f, format, ap)
                          : i == 3 ? newer_here(format, ap)
                          : i == 4 ? older_here(format, ap)
                                   : newest_here(format, ap));
        va_end(ap);
    }
    return sum;
}

CASE(wide_printing_and_scanning_by_lists) {
    extern int old_wscanf(const wchar_t *, ...) __asm__("wscanf");
    extern int old_fwscanf(FILE *, const wchar_t *, ...) __asm__("fwscanf");
    extern int new_wscanf(const wchar_t *, ...) __asm__("__isoc99_wscanf");
    extern int new_fwscanf(FILE *, const wchar_t *, ...) __asm__("__isoc99_fwscanf");
    setlocale(LC_ALL, "C.UTF-8");
    wchar_t word[20];
    int number;
    FILE *f = fopen("file", "w+");
    CALL(print_wide_lists(f, L"%d %ls\n", 5, L"text"));
    fwprintf(f, L"6 word 7 more 8 still 9 some 10 last");
    rewind(f);
    CALL(fwscanf(f, L"%d %ls", &number, word));
    CALL(old_fwscanf(f, L"%d %ls", &number, word));
    CALL(new_fwscanf(f, L"%d %ls", &number, word));
    CALL(scan_wide_lists(f, L"%d %19ls", &number, word));
    say("%d %lx", number, (unsigned long)word[0]);
    fclose(f);
    CALL(wscanf(L"%19ls %d", word, &number));
    CALL(old_wscanf(L"%19ls %d", word, &number));
    CALL(new_wscanf(L"%19ls %d", word, &number));
    say("%d", number);
    CALL(wprintf(L"%d\n", 5));
}

CASE(wide_windows) {
    extern wint_t underflow(FILE *) __asm__("__wunderflow"), uflow(FILE *) __asm__("__wuflow");
    extern wint_t overflow(FILE *, wint_t) __asm__("__woverflow");
    setlocale(LC_ALL, "C.UTF-8");
    put_text("file", "ab\xc3\xa4"
                     "c");
    FILE *f = fopen("file", "r+");
    CALL(fwide(f, 1));
    CALL(underflow(f));
    CALL(uflow(f));
    CALL(getwc(f));
    CALL(uflow(f));
    CALL(fseek(f, 0, SEEK_END));
    CALL(overflow(f, L'o'));
    fclose(f);
    note_file("file");
}
#endif
