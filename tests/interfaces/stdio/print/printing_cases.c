/* SPDX-License-Identifier: MIT
 *
 * printing_cases.c - the printf family: the text and the returned value.
 */
#include "tests/interfaces/stdio/transcript.h"

#include <float.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#ifdef __GLIBC__
#include <obstack.h>
#include <printf.h>
#endif
#include <stdarg.h>
#include <stddef.h>
#include <sys/socket.h>

#define obstack_chunk_alloc malloc
#define obstack_chunk_free  free

/* Each conversion goes to a stream and to a string; both must be the same. */
#define PRINT(...)                                                                                           \
    do {                                                                                                     \
        char text_[4096] = "";                                                                               \
        int in_string_ = snprintf(text_, sizeof text_, __VA_ARGS__);                                         \
        errno = 0;                                                                                           \
        int on_stream_ = fprintf(out, __VA_ARGS__);                                                          \
        putc('\n', out);                                                                                     \
        say("%d %d %s %q", on_stream_, in_string_, #__VA_ARGS__, text_);                                     \
    } while (0)

static FILE *out;

static void start(void) {
    out = fopen("out", "w");
}

static void end(void) {
    fclose(out);
    note_file("out");
}

CASE(integers) {
    start();
    static const int values[] = {0, 1, -1, 9, 10, 99, 100, 12345, -98765, INT_MAX, INT_MIN};
    for (unsigned i = 0; i < sizeof values / sizeof *values; i++) {
        int v = values[i];
        PRINT("%d|%i|%u|%x|%X|%o", v, v, (unsigned)v, (unsigned)v, (unsigned)v, (unsigned)v);
        PRINT("%5d|%-5d|%05d|%+d|% d|%.3d|%8.3d|%-8.3d|%+08d", v, v, v, v, v, v, v, v, v);
        PRINT("%#x|%#X|%#o|%#10x|%-#10x|%#010x|%.0d", (unsigned)v, (unsigned)v, (unsigned)v, (unsigned)v,
              (unsigned)v, (unsigned)v, v);
        PRINT("%hhd|%hd|%ld|%lld|%jd|%zd|%td", (signed char)v, (short)v, (long)v * 1000003,
              (long long)v << 20, (intmax_t)v, (ssize_t)v, (ptrdiff_t)v);
        PRINT("%hhu|%hu|%lu|%llx|%jo|%zu", (unsigned char)v, (unsigned short)v, (unsigned long)v,
              (long long)v, (uintmax_t)v, (size_t)v);
        PRINT("%*d|%-*d|%*d|%.*d", 8, v, 8, v, -8, v, 4, v);
        PRINT("%.*d|%+.0d|%'d", -3, v, v, v);
    }
    PRINT("%ld %ld %lu %llu", LONG_MAX, LONG_MIN, ULONG_MAX, ULLONG_MAX);
    end();
}

CASE(strings) {
    start();
    const char *const values[] = {"", "a", "hello", "a longer string with spaces", "caf\xc3\xa9"};
    for (int i = 0; i < 5; i++) {
        const char *s = values[i];
        PRINT("%s|%10s|%-10s|%.2s|%10.2s|%-10.2s|%.0s|%.100s", s, s, s, s, s, s, s, s);
        PRINT("%*s|%-*s|%.*s|%*.*s", 7, s, 7, s, 3, s, 7, 3, s);
        PRINT("%c%c|%5c|%-5c|", s[0] ? s[0] : '0', 'x', 'y', 'z');
    }
    const char *volatile none = NULL;
    PRINT("%s|%10s|%.3s|%.6s", none, none, none, none);
    PRINT("%%|");
    PRINT("%ls|%5lc|%lc", L"wide", (wint_t)L'w', (wint_t)L'\xe9');
    PRINT("%S|%C|%.2ls", L"wide", (wint_t)L'c', L"wide");
    PRINT("%lc|%5lc|%-5lc|%ls|%.0ls|%5.1ls|", (wint_t)0, (wint_t)0, (wint_t)0, L"", L"wide", L"wide");
    end();
}

/* musl counts the padding, but does not print it. Text longer than a buffer is written in chunks. */
CASE(wide_text_with_the_flag_0) {
    char text[100] = "", *allocated = NULL;
    memset(text, '#', sizeof text - 1);
    start();
    CALL(fprintf(out, "<%060ls>%d", L"wide", 1));
    CALL(fprintf(out, "%d<%-060lc><%060lc>", 2, (wint_t)L'w', (wint_t)L'w'));
    CALL(fprintf(out, "<%03000ls>%n<%1500ls>", L"wide", &(int){0}, L"wide"));
    CALL(fprintf(out, "<%2$03000S%1$C>", (wint_t)L'w', L"wide"));
    CALL(snprintf(text, 80, "%s<%060ls><%05lc>", "in a string", L"wide", (wint_t)L'w'));
    say("%b", text, (int)sizeof text);
    CALL(sprintf(text, "<%020C>", (wint_t)L'w'));
    say("%b", text, (int)sizeof text);
    int n = CALL(asprintf(&allocated, "%s<%060ls>", "in memory", L"wide"));
    say("%d %q", n, allocated);
    free(allocated);
    CALL(dprintf(STDOUT_FILENO, "<%060ls>%1300ls", L"wide", L"wide"));
    setvbuf(stderr, NULL, _IOLBF, 0);
    CALL(fprintf(stderr, "<%060ls>\n%5d", L"wide", 1));
    CALL(fprintf(stderr, "<%02000ls>\n%2000lc", L"wide", (wint_t)L'w'));
    CALL(wprintf(L"<%060ls>%d", L"wide", 1));
    end();
}

CASE(floating) {
    start();
    static const double values[] = {0.0,    -0.0, 1.0,    -1.5,    0.1,  123456789.0, 1e100,
                                    1e-100, 1e22, 5e-324, DBL_MAX, 0.5,  2.5,         9.9999999,
                                    1234.5, 1e15, 1e16,   99999.5, 1e-5, 0.0001,      3.14159265358979};
    for (unsigned i = 0; i < sizeof values / sizeof *values; i++) {
        double v = values[i];
        PRINT("%f|%e|%g|%a", v, v, v, v);
        PRINT("%.0f|%.1f|%.3e|%.3g|%10.2f|%-10.2f|%+.2f|% .2f|%010.2f", v, v, v, v, v, v, v, v, v);
        PRINT("%#.0f|%#g|%G|%E|%A|%.17g|%.20f", v, v, v, v, v, v, v);
        PRINT("%Lf|%Lg|%La", (long double)v, (long double)v, (long double)v);
    }
    PRINT("%f %F %e %g %a", INFINITY, INFINITY, -INFINITY, NAN, -NAN);
    PRINT("%10f|%-10f|%010f|%+f", INFINITY, NAN, INFINITY, NAN);
    PRINT("%.300f", 1e-300);
    end();
}

CASE(positions_and_others) {
    start();
    PRINT("%2$s %1$s", "one", "two");
    PRINT("%1$*2$d|%1$.*2$d", 42, 6);
    PRINT("%2$d %1$d %2$d", 1, 2);
    PRINT("%p|%20p", (void *)0x1234, (void *)0xabcdef);
    void *volatile none = NULL;
    PRINT("%p|%10p", none, none);
    errno = ENOENT;
    PRINT("plain text only");
    PRINT("%s", "only a string");
    int a = -1, b = -1;
    long c = -1;
    fprintf(out, "abc%ndef%n%ln", &a, &b, &c);
    say("counted %d %d %ld", a, b, c);
    fprintf(out, "%d %9000s%n%d%n", 1, "far", &a, 2, &b);
    say("counted %d %d", a, b);
    PRINT("%3$s: line %1$d of %2$ld %%", 7, 70L, "file");
    errno = EACCES;
    fprintf(out, "%m");
    errno = ENOENT;
    fprintf(out, "%10m|%-30m|", 0, 0);
    end();
}

CASE(wrong_formats) {
    start();
    volatile const char *const formats[] = {"%",   "abc%", "%y", "%5",       "%-",
                                            "%ll", "%.",   "%#", "abc%!def", "%5%|"};
    for (int i = 0; i < 10; i++) {
        const char *format = (const char *)formats[i];
        say("format %q", format);
        WITH_ERRNO(fprintf(out, format, 5));
        WITH_ERRNO(snprintf(NULL, 0, format, 5));
    }
    end();
}

CASE(invalid_wide_characters) {
    start();
    wchar_t bad[] = {L'a', (wchar_t)0x7fffffff, 0};
    WITH_ERRNO(fprintf(out, "%ls", bad));
    note_flags(out);
    WITH_ERRNO(fprintf(out, "%d%ls", 5, bad));
    WITH_ERRNO(fprintf(out, "%lc", (wint_t)0x7fffffff));
    end();
}

CASE(too_long) {
    start();
    const char *volatile wide = "%99999999999d", *volatile precise = "a%.99999999999d";
    WITH_ERRNO(snprintf(NULL, 0, wide, 1));
    WITH_ERRNO(fprintf(out, wide, 1));
    WITH_ERRNO(fprintf(out, precise, 1));
    note_flags(out);
    end();
}

CASE(room_for_more_than_an_int_counts) {
    char text[8];
    volatile size_t over = (size_t)INT_MAX + 10;
    WITH_ERRNO(snprintf(text, over, "%s", "abc"));
    say("%s", text);
}

CASE(long_output) {
    start();
    static char s[200001];
    memset(s, 's', sizeof s - 1);
    CALL(fprintf(out, "%s", s));
    CALL(fprintf(out, "[%s]", s));
    CALL(fprintf(out, "%100000d", 5));
    CALL(fprintf(out, "%-100000d|", 5));
    CALL(fprintf(out, "%0100000d", -5));
    CALL(fprintf(out, "%.100000d", 5));
    CALL(fprintf(out, "%150000s|%-150000s", "abc", "def"));
    CALL(fprintf(out, "%.100000f", 0.1));
    CALL(ftell(out));
    end();
}

CASE(long_output_to_standard_error) {
    static char s[70001];
    memset(s, 's', sizeof s - 1);
    CALL(fprintf(stderr, "%s", s));
    CALL(fprintf(stderr, "%100000d", 5));
    CALL(fprintf(stderr, "a %s b %d c\n", "string", 5));
    struct stat st;
    fstat(2, &st);
    say("size %ld", (long)st.st_size);
}

CASE(many_small_ones) {
    start();
    for (int i = 0; i < 20000; i++)
        fprintf(out, "%d %s %x\n", i, "text", (unsigned)i * 7919);
    CALL(ftell(out));
    end();
}

CASE(snprintf_of_each_size) {
    for (size_t size = 0; size < 16; size++) {
        char text[20];
        memset(text, '#', sizeof text);
        int n = snprintf(text, size, "%s-%d", "hello", 12345);
        say("size %lu returns %d %b", size, n, text, 20);
    }
    char text[64];
    CALL(sprintf(text, "%5.1f%%", 99.95));
    say("%s", text);
    CALL(sprintf(text, "no conversions"));
}

CASE(asprintf_and_dprintf) {
    char *text = NULL;
    CALL(asprintf(&text, "%s %d %*d", "allocated", 5, 5000, 7));
    say("%b", text, (int)strlen(text));
    free(text);
    CALL(dprintf(1, "straight to the descriptor %d\n", 5));
    printf("buffered ");
    CALL(dprintf(1, "%s", "straight "));
    CALL(dprintf(99, "nowhere"));
    CALL(dprintf(1, "%20000d", 5));
}

static int print_list(const char *format, ...) {
    va_list a, b;
    char text[100], *allocated;
    va_start(a, format);
    va_copy(b, a);
    int n = vfprintf(out, format, a);
    va_end(a);
    say("vfprintf %d", n);
    va_copy(a, b);
    say("vsnprintf %d %q", vsnprintf(text, sizeof text, format, a), text);
    va_end(a);
    va_copy(a, b);
    say("vsprintf %d", vsprintf(text, format, a));
    va_end(a);
    va_copy(a, b);
    say("vasprintf %d", vasprintf(&allocated, format, a));
    free(allocated);
    va_end(a);
    va_copy(a, b);
    say("vdprintf %d", vdprintf(1, format, a));
    va_end(a);
    va_copy(a, b);
    say("vprintf %d", vprintf(format, a));
    va_end(a);
    va_end(b);
    return n;
}

CASE(argument_lists) {
    start();
    print_list("%d %s %f %c\n", 5, "text", 2.5, 'c');
    print_list("%d %d %d %d %d %d %d %d %.1f %.1f %.1f %.1f %.1f %.1f %.1f %.1f %.1f %.1f\n", 1, 2, 3, 4, 5,
               6, 7, 8, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0);
    end();
}

#ifdef __GLIBC__ /* musl lacks this interface */
CASE(obstacks) {
    struct obstack o;
    obstack_init(&o);
    CALL(obstack_printf(&o, "%s %d", "on an obstack", 5));
    CALL(obstack_printf(&o, "%3000d", 7));
    obstack_1grow(&o, 0);
    char *text = obstack_finish(&o);
    say("%b", text, (int)strlen(text));
    obstack_free(&o, NULL);
}

/* A conversion of the program's own, %Y: a pair of integers. */
static int print_pair(FILE *f, const struct printf_info *info, const void *const *arguments) {
    const int *pair = *(const int *const *)arguments[0];
    return fprintf(f, "(%d,%d)%s", pair[0], pair[1], info->left ? "left" : "");
}

static int pair_arguments(const struct printf_info *info, size_t n, int *types, int *sizes) {
    (void)info;
    (void)sizes;
    if (n > 0)
        types[0] = PA_POINTER;
    return 1;
}

static int print_more_than_it_says(FILE *f, const struct printf_info *info, const void *const *arguments) {
    print_pair(f, info, arguments);
    return 2;
}

CASE(conversions_that_say_less_than_they_make) {
    static const int pair[2] = {3, 4};
    const char *volatile format = "%Y %d\n";
    char *text;
    size_t size;
    start();
    CALL(register_printf_specifier('Y', print_more_than_it_says, pair_arguments));
    CALL(fprintf(out, format, pair, 6));
    CALL(fprintf(out, format, pair, 7));
    end();
    FILE *f = open_memstream(&text, &size);
    CALL(fprintf(f, format, pair, 8));
    fclose(f);
    say("%q", text);
    CALL(asprintf(&text, format, pair, 9));
    say("%q", text);
}

CASE(registered_conversions) {
    start();
    static const int pair[2] = {3, 4};
    const char *volatile format = "before %Y after %d\n", *volatile left = "%-Y";
    CALL(register_printf_specifier('Y', print_pair, pair_arguments));
    CALL(fprintf(out, format, pair, 5));
    CALL(printf(left, pair));
    char text[50];
    CALL(snprintf(text, sizeof text, format, pair, 7));
    say("%q", text);
    CALL(fprintf(out, "%d", 5));
    end();
}
#endif

CASE(locales) {
    start();
    say("locale %d", setlocale(LC_ALL, "C.UTF-8") != NULL);
    PRINT("%ls|%lc|%.3ls|%5lc|", L"caf\xe9", (wint_t)0xe9, L"caf\xe9", (wint_t)0x20ac);
    PRINT("%'d|%'.2f|%s", 1234567, 1234567.891, "caf\xc3\xa9");
    wchar_t bad[] = {(wchar_t)0xd800, 0};
    WITH_ERRNO(fprintf(out, "%ls", bad));
    end();
}

CASE(on_unbuffered_and_line_buffered_streams) {
    start();
    setvbuf(out, NULL, _IONBF, 0);
    CALL(fprintf(out, "%d %s", 5, "text"));
    note_file("out");
    setvbuf(out, NULL, _IOLBF, 100);
    CALL(fprintf(out, "%d\n%s", 5, "text"));
    note_file("out");
    end();
}

CASE(errors) {
    out = fopen("/dev/full", "w");
    setvbuf(out, NULL, _IONBF, 0);
    WITH_ERRNO(fprintf(out, "%d", 5));
    note_flags(out);
    fclose(out);
    out = fopen("/dev/full", "w");
    WITH_ERRNO(fprintf(out, "%d", 5));
    note_flags(out);
    WITH_ERRNO(fprintf(out, "%5000d", 5));
    note_flags(out);
    WITH_ERRNO(fclose(out));
    close(1);
    CALL(printf("%s", "text"));
    CALL(fflush(stdout));
}

CASE(printing_to_its_own_buffer) {
    char text[40] = "abc";
    CALL(sprintf(text + 3, "%s", "def"));
    say("%s", text);
    strcpy(text, "part");
    strcat(text, "s");
    CALL(puts(text));
}

/* C does not define this, but programs do it, so the result must be glibc's. */
CASE(strings_printed_onto_themselves) {
    char text[200] = "one", *volatile same = text;
    for (int i = 0; i < 8; i++)
        CALL(sprintf(text, "%s%d", same, i));
    say("%s", text);
    CALL(sprintf(text, "%s, %.3f %g", same, 2.5, 1e10));
    CALL(sprintf(text, "%s %a %Lg|", same, 0.5, 0.25L));
    CALL(sprintf(text, "%s %ls", same, L"wide"));
    say("%s", text);
    CALL(sprintf(text, "%1$s %2$d", same, 7));
    say("%s", text);
    CALL(snprintf(text, sizeof text, "%s and %d", same, 5));
    say("%s", text);
    strcpy(text, "abc");
    CALL(sprintf(text, "x%s", same));
    say("%.6s", text);
}

#ifdef __GLIBC__ /* musl lacks this interface */
extern int _IO_sprintf(char *, const char *, ...);

CASE(old_name_of_sprintf) {
    char text[40];
    CALL(_IO_sprintf(text, "%d %s", 5, "text"));
    say("%s", text);
}
#endif

/* n and the buffer's real size may differ: no byte after the null byte is changed. */
CASE(memory_behind_the_text) {
    static const char *const formats[] = {
        "%d", "%5d", "%-9d|", "%08x", "%lu", "plain", "%o and a longer text"};
    for (unsigned i = 0; i < sizeof formats / sizeof *formats; i++) {
        char text[64];
        memset(text, '#', sizeof text);
        int n = sprintf(text, formats[i], 1234L);
        say("%d %b", n, text, 64);
        memset(text, '#', sizeof text);
        n = snprintf(text, sizeof text, formats[i], 7L);
        say("%d %b", n, text, 64);
    }
    char real[64];
    memset(real, '#', sizeof real);
    say("%d %b", snprintf(real, sizeof real, "%g %.2f %e", 0.5, 99.995, 1e-7), real, 64);
}

CASE(errors_of_strings) {
    wchar_t bad[] = {L'a', (wchar_t)0x7fffffff, 0};
    char text[40] = "before", *allocated = text;
    WITH_ERRNO(snprintf(text, sizeof text, "%d-%ls-", 5, bad));
    say("%s", text);
    WITH_ERRNO(snprintf(text, 4, "%d-%ls-", 123456, bad));
    say("%s", text);
    WITH_ERRNO(sprintf(text, "%.1f-%ls-", 2.5, bad));
    say("%s", text);
    WITH_ERRNO(asprintf(&allocated, "%ls", bad));
    WITH_ERRNO(dprintf(1, "%d-%ls-", 5, bad));
    errno = ENOENT;
    WITH_ERRNO(snprintf(text, sizeof text, "%m %d", 5));
    say("%s", text);
    WITH_ERRNO(snprintf(text, 0, "%s", "text"));
    say("%s", text);
}

CASE(counts_in_strings) {
    char text[40];
    int a = -1;
    short b = -1;
    signed char c = -1;
    CALL(snprintf(text, sizeof text, "abc%n %s%hn %a%hhn", &a, "text", &b, 0.5, &c));
    say("%s %d %d %d", text, a, b, c);
    CALL(sprintf(text, "%d%n", 12345, &a));
    say("%s %d", text, a);
    CALL(snprintf(text, 4, "%s%-20d%5n|%hn", "longer than its room", 7, &a, &b));
    say("%s %d %d", text, a, b);
    CALL(snprintf(text, sizeof text, "%La%n", 1.5L, &a));
    say("%s %d", text, a);
}

CASE(lines_of_long_output) {
    static const int widths[] = {1000, 1015, 1030, 2000, 4000, 4090, 4200};
    static char record[10000];
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        int ends[2];
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends);
        FILE *f = fdopen(ends[0], "w");
        setvbuf(f, NULL, _IOLBF, 4096);
        fputs("abc", f);
        CALL(fprintf(f, "%*d\n%s~\n", widths[i], 7, "foo"));
        long all = 0;
        for (long n; (n = read(ends[1], record, sizeof record)) > 0;)
            all += n;
        say("%ld", all);
        fclose(f);
        close(ends[1]);
    }
}

CASE(lines_with_more_behind_than_fits) {
    static char record[10000], buffer[1024];
    for (int room = 1; room < 80; room += 6) {
        int ends[2];
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends);
        FILE *f = fdopen(ends[0], "w");
        setvbuf(f, buffer, _IOLBF, sizeof buffer);
        for (int i = room; i < (int)sizeof buffer; i++)
            putc('.', f);
        CALL(fprintf(f, " %d done\nContinue with %s? ", room, "the next line"));
        for (long n; (n = read(ends[1], record, sizeof record)) > 0;)
            say("%ld", n);
        fclose(f);
        close(ends[1]);
    }
}

/* musl treats text and a following "%%" as one chunk. Here the text alone may fit into the buffer. */
#define FIFTY "01234567890123456789012345678901234567890123456789"
CASE(percent_signs_that_overflow_a_line) {
    static char buffer[200];
    FILE *f = fopen("file", "w");
    setvbuf(f, buffer, _IOLBF, sizeof buffer);
    for (int n = 0; n < 30; n++) {
        CALL(fprintf(f,
                     "%*s\n%%\n" FIFTY FIFTY FIFTY "01234567890123456789012345678901"
                     "%%%%%%%%%%%%%%%%%%%%%d",
                     n, "", n));
        say("%d %ld", n, raw_offset(fileno(f)));
        fflush(f);
    }
    fclose(f);
}

static long size_of(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 ? (long)st.st_size : -1;
}

/* Notes the file's contents after each call, to show when a buffer that is exactly full is written. */
CASE(buffers_filled_to_the_last_byte) {
    static const int sizes[] = {128, 4096, 5000};
    for (int i = 0; i < 3; i++) {
        FILE *f = fopen("filled", "w");
        setvbuf(f, NULL, _IOFBF, (size_t)sizes[i]);
        for (int n = 1; n <= 5; n++) {
            int width = n * sizes[i] - n % 2;
            CALL(fprintf(f, "%*d", width, n));
            say("%d: %ld", sizes[i], size_of("filled"));
            CALL(fprintf(f, "%s|%c", "ab", 'c'));
            say("%d: %ld", sizes[i], size_of("filled"));
        }
        fclose(f);
    }
}

/* The descriptor's offset after each call shows which chunk of a number, or of its padding, overflowed the
 * buffer. */
#define OVERFLOW(format, ...)                                                                                \
    do {                                                                                                     \
        start();                                                                                             \
        unsigned long sum_ = 0;                                                                              \
        for (int i = 0; i < 1000; i++) {                                                                     \
            fprintf(out, format "\n", __VA_ARGS__);                                                          \
            sum_ = sum_ * 31 + (unsigned long)raw_offset(fileno(out));                                       \
        }                                                                                                    \
        end();                                                                                               \
        say("%s %lx", format, sum_);                                                                         \
    } while (0)

CASE(chunks_that_overflow_a_buffer) {
    OVERFLOW("text%%%%%%, %d", i);
    OVERFLOW("%*d|%-*d|%0*d", i % 40, i, i % 30, i, i % 50, i);
    OVERFLOW("%.*d|%.*x|%#0*o", i % 30, i % 3, i % 40, i % 3, i % 30, i % 3);
    OVERFLOW("%*s|%-*s|%*p", i % 700, "text", i % 600, "text", i % 30, (void *)(uintptr_t)(i * 4097));
    OVERFLOW("%f|%0*.3f|%+f", i / 7.0, i % 40, i / 7.0, i * 1e9 / 7);
    OVERFLOW("%.*f|%.*f|%#.0f", i % 50, i / 7.0, i % 700, i * 1e-20 / 7, i / 7.0);
    OVERFLOW("%e|%.*e|%-*e", i / 7.0, i % 50, i * 1e-7 / 7, i % 50, i * 1e100);
    OVERFLOW("%g|%.*g|%#.*G", i / 7.0, i % 50, i * 1e-7 / 7, i % 50, i * 1e9);
    OVERFLOW("%a|%.*a|%0*A", i / 7.0, i % 30, i / 8.0, i % 50, i / 7.0);
    OVERFLOW("%Lf|%.*Le|%Lg", i / 7.0L, i % 50, i / 7.0L, i * 1e4000L);
    OVERFLOW("%*ls|%lc|%-*ls", i % 300, L"wide", (wint_t)L'w', i % 50, L"wide");
}

CASE(counts_behind_what_failed) {
    static char buffer[256];
    int n = -5;
    for (int room = 1; room < 16; room += 3) {
        FILE *f = fopen("/dev/full", "w");
        setvbuf(f, buffer, _IOFBF, sizeof buffer);
        for (int i = room; i < (int)sizeof buffer; i++)
            putc('.', f);
        CALL(fprintf(f, "%dabcdef%n", 77, &n));
        say("%d", n);
        fclose(f);
    }
    CALL(dprintf(-1, "abc%n", &n));
    say("%d", n);
}

CASE(descriptors_in_portions) {
    static const wchar_t bad[] = {L'a', 0x110000, 0};
    int fd = open("out", O_WRONLY | O_CREAT, 0600);
    CALL(dprintf(fd, "a%cb%ls", 0, bad));
    CALL(dprintf(fd, "%2000d%ls", 1, bad));
    CALL(dprintf(fd, "%9000d|%s", 1, "end"));
    CALL(dprintf(-1, "%s", ""));
    close(fd);
    note_file("out");
}

CASE(numbered_arguments) {
    char text[80];
    CALL(snprintf(text, sizeof text, "%3$s %1$d %2$5.1f %1$d", 7, 2.25, "three"));
    say("%s", text);
    CALL(snprintf(text, sizeof text, "%2$Lf %1$c %3$p %%", 'x', 1.5L, (void *)0x1234));
    say("%s", text);
    CALL(snprintf(text, sizeof text, "%1$d%2$d%3$d%4$d%5$d%6$d%7$d%8$d%9$d%10$d", 1, 2, 3, 4, 5, 6, 7, 8, 9,
                  10));
    say("%s", text);
    CALL(snprintf(text, sizeof text, "%9$d%8$d%7$d%6$d%5$d%4$g%3$d%2$g%1$d", 1, 2.0, 3, 4.0, 5, 6, 7, 8, 9));
    say("%s", text);
    CALL(snprintf(text, sizeof text, "%2$*1$d|%1$-*2$d", 4, 5));
    say("%s", text);
}

/* Longer than libc's buffer, but not longer than ours. */
CASE(long_strings_with_a_width) {
    static char text[10001];
    memset(text, 'x', sizeof text - 1);
    start();
    for (int i = 0; i < 5; i++) {
        CALL(fprintf(out, "%d%-3s|", i, text));
        CALL(fprintf(out, "%9999s|%.5000s", text, text));
    }
    end();
}

static void take(const char *format, ...) {
    char text[20], *copy = NULL;
    va_list ap;
#define THEN(call)                                                                                           \
    va_start(ap, format);                                                                                    \
    call;                                                                                                    \
    say("%s: then %d", format, va_arg(ap, int));                                                             \
    va_end(ap)
    THEN(vsnprintf(text, sizeof text, format, ap));
    THEN(vsnprintf(text, 2, format, ap));
    THEN(vsnprintf(NULL, 0, format, ap));
    THEN(copy = vasprintf(&copy, format, ap) < 0 ? NULL : copy);
    free(copy);
    start();
    THEN(vfprintf(out, format, ap));
    THEN(vfprintf(out, format, ap));
    setvbuf(out, NULL, _IOLBF, 0);
    THEN(vfprintf(out, format, ap));
    THEN(vdprintf(fileno(out), format, ap));
    end();
}

/* Programs continue with the va_list after the call, where libc's function left it. */
CASE(arguments_behind_a_call) {
    take("%d", 1, 2, 3, 4);
    take("%s %.2f %d\n", "abc", 2.5, 7, 8, 9);
    take("%'d %d", 1, 2, 3);
    take("%1$d %2$d", 1, 2, 3, 4);
    take("%5d|%-3d", 1, 2, 3, 4);
    take("%300d %d", 1, 2, 3, 4);
    take("%2000d %d\n", 1, 2, 3, 4);
    take("%d %Lf %d", 1, 2.0L, 3, 4);
    take("%d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7, 8, 9);
    take("%d %q", 5, 6, 7);
    take("%*d", 3, 4, 5, 6);
}

/* In the fortified variant, each call ends the program. */
CASE(sprintf_that_overflows) {
    char text[8];
    volatile int many = 123456789;
    say("%d", sprintf(text, "%d", 1234567));
    say("%d", sprintf(text, many > 0 ? "%.7s" : "%d", "1234567890"));
#if __USE_FORTIFY_LEVEL > 0
    say("%d", sprintf(text, "%d", many));
#endif
}

CASE(sprintf_that_overflows_before_an_error) {
#if __USE_FORTIFY_LEVEL > 0
    static const wchar_t bad[] = {L'a', 0x110000, 0};
    static const char *volatile format = "%d%d%ls";
    char text[8];
    say("%d", sprintf(text, format, 12, 34, bad)); /* the size fits, but the conversion fails */
    say("%d", sprintf(text, format, 123456789, 5, bad));
#endif
}

CASE(snprintf_of_more_than_there_is) {
#if __USE_FORTIFY_LEVEL > 0
    char text[8];
    volatile size_t size = 9;
    say("%d", snprintf(text, size, "%d", 1));
#endif
}

CASE(counts_in_a_format_that_was_written) {
    char format[] = "abc%n", text[20];
    volatile int n = 0;
#if __USE_FORTIFY_LEVEL > 1
    say("%d", snprintf(text, sizeof text, format, &n));
#else
    say("%d %d", (int)strlen(format), (int)sizeof text + n);
#endif
}

CASE(counts_in_a_format_on_a_stream) {
    char format[] = "abc%n";
    volatile int n = 0;
    start();
#if __USE_FORTIFY_LEVEL > 1
    CALL(fprintf(out, format, &n));
#else
    say("%d", (int)strlen(format) + n);
#endif
    end();
}
