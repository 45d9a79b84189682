/* SPDX-License-Identifier: MIT
 *
 * scanning_cases.c - the scanf family: conversions, failures, and the stream's offset afterwards.
 */
#include "tests/interfaces/stdio/transcript.h"

#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>

static FILE *text(const char *content) {
    put_text("in", content);
    return fopen("in", "r");
}

/* Notes where scanf stopped: offset, indicators and the next character. */
static void note_rest(FILE *f) {
    note_state(f);
    say("  next %d", getc(f));
}

CASE(numbers) {
    FILE *f = text("12 -34 +56 0x1f 077 99999999999999999999 0b1 abc");
    int a = 0, b = 0, c = 0;
    unsigned d = 0, e = 0;
    long big = 0;
    CALL(fscanf(f, "%d%d%i", &a, &b, &c));
    say("%d %d %d", a, b, c);
    note_state(f);
    CALL(fscanf(f, "%x%o", &d, &e));
    say("%u %u", d, e);
    WITH_ERRNO(fscanf(f, "%ld", &big));
    say("%ld", big);
    CALL(fscanf(f, "%i", &a));
    say("%d", a);
    CALL(fscanf(f, "%d", &a));
    note_rest(f);
}

CASE(every_size_of_integer) {
    FILE *f = text("300 70000 5000000000 6000000000 7 8 9");
    signed char hh = 0;
    short h = 0;
    long l = 0;
    long long ll = 0;
    intmax_t j = 0;
    size_t z = 0;
    ptrdiff_t t = 0;
    CALL(fscanf(f, "%hhd %hd %ld %lld %jd %zu %td", &hh, &h, &l, &ll, &j, &z, &t));
    say("%d %d %ld %ld %ld %lu %ld", hh, h, l, (long)ll, (long)j, z, (long)t);
}

CASE(floating) {
    FILE *f = text("1.5 -2e10 inf nan 0x1.8p3 .5 5. 1e 3.25");
    float a = 0;
    double b = 0, c = 0, d = 0, e = 0, g = 0, h = 0;
    long double i = 0;
    CALL(fscanf(f, "%f %lf %lf %lf %lf %lf %lf", &a, &b, &c, &d, &e, &g, &h));
    char line[200];
    snprintf(line, sizeof line, "%g %g %g %g %g %g %g", (double)a, b, c, d, e, g, h);
    say("%s", line);
    CALL(fscanf(f, "%Lf", &i));
    note_rest(f);
}

CASE(strings) {
    FILE *f = text("  word another-word   x y\tz\nlast");
    char a[30] = "", b[30] = "", c[5] = "";
    CALL(fscanf(f, "%s %5s", a, b));
    say("%q %q", a, b);
    CALL(fscanf(f, "%29s", a));
    say("%q", a);
    CALL(fscanf(f, "%c%c%c", &c[0], &c[1], &c[2]));
    say("%q", c);
    CALL(fscanf(f, "%4c", c));
    say("%b", c, 4);
    CALL(fscanf(f, " %c", c));
    say("%c", c[0]);
    note_rest(f);
}

CASE(sets) {
    FILE *f = text("abc123def]x-y^z\nnext line\n");
    char a[30] = "";
    CALL(fscanf(f, "%[a-z]", a));
    say("%q", a);
    CALL(fscanf(f, "%[0-9]", a));
    say("%q", a);
    CALL(fscanf(f, "%[^]]", a));
    say("%q", a);
    CALL(fscanf(f, "%[]]", a));
    CALL(fscanf(f, "%[a-]", a));
    CALL(fscanf(f, "%2[x-]", a));
    say("%q", a);
    CALL(fscanf(f, "%[^\n]", a));
    say("%q", a);
    CALL(fscanf(f, "%[^\n]", a));
    note_rest(f);
}

CASE(literals_and_counts) {
    FILE *f = text("key = 42; %done");
    int value = 0, at = -1, end = -1;
    CALL(fscanf(f, "key = %n%d%n;", &at, &value, &end));
    say("%d at %d to %d", value, at, end);
    CALL(fscanf(f, " %%do%nX", &at));
    say("at %d", at);
    note_rest(f);
    f = text("abc");
    CALL(fscanf(f, "abd"));
    note_rest(f);
}

CASE(suppressed) {
    FILE *f = text("1 2 three 4.5 5");
    int v = 0;
    CALL(fscanf(f, "%*d %d %*s %*f", &v));
    say("%d", v);
    CALL(fscanf(f, "%d", &v));
    say("%d", v);
}

CASE(allocated) {
    FILE *f = text("word the-long-one xyz");
    char *a = NULL, *b = NULL, *c = NULL;
    CALL(fscanf(f, "%ms %m[a-z-] %mc", &a, &b, &c));
    say("%q %q %c", a, b, c[0]);
    free(a);
    free(b);
    free(c);
}

CASE(positional) {
    FILE *f = text("1 2 3");
    int a = 0, b = 0, c = 0;
    CALL(fscanf(f, "%2$d %1$d %3$d", &a, &b, &c));
    say("%d %d %d", a, b, c);
}

CASE(end_of_file) {
    int v = 0;
    char s[10];
    FILE *f = text("");
    WITH_ERRNO(fscanf(f, "%d", &v));
    note_rest(f);
    f = text("   \n  ");
    WITH_ERRNO(fscanf(f, "%d", &v));
    note_rest(f);
    f = text("5");
    WITH_ERRNO(fscanf(f, "%d%d", &v, &v));
    note_rest(f);
    f = text("5 x");
    WITH_ERRNO(fscanf(f, "%d%d", &v, &v));
    note_rest(f);
    f = text("");
    WITH_ERRNO(fscanf(f, "%s", s));
    WITH_ERRNO(fscanf(f, "literal"));
    WITH_ERRNO(fscanf(f, ""));
    WITH_ERRNO(fscanf(f, "%c", s));
    f = text("-");
    WITH_ERRNO(fscanf(f, "%d", &v));
    note_rest(f);
    f = text("0x");
    WITH_ERRNO(fscanf(f, "%i", &v));
    note_rest(f);
}

CASE(pushed_back) {
    FILE *f = text("345 x");
    ungetc('2', f);
    ungetc('1', f);
    int v = 0;
    CALL(fscanf(f, "%d", &v));
    say("%d", v);
    note_rest(f);
}

CASE(mixed_with_other_calls) {
    int v = 0;
    char word[20], line[40];
    CALL(scanf("%19s %d", word, &v));
    say("%s %d", word, v);
    CALL(getchar());
    CALL(fgets(line, sizeof line, stdin));
    CALL(scanf("%*s%d", &v));
    CALL(fgets(line, sizeof line, stdin));
    CALL(fread(line, 1, 12, stdin));
    CALL(scanf("line %d", &v));
    say("%d", v);
    CALL(ftell(stdin));
}

CASE(many_numbers) {
    FILE *f = fopen("numbers", "w");
    for (int i = 0; i < 20000; i++)
        fprintf(f, "%d %g\n", i * 7919 % 100003, i / 8.0);
    fclose(f);
    f = fopen("numbers", "r");
    long sum = 0;
    double total = 0;
    int v;
    double d;
    while (fscanf(f, "%d %lf", &v, &d) == 2) {
        sum += v;
        total += d;
    }
    say("%ld %ld", sum, (long)total);
    note_state(f);
    unlink("numbers");
}

CASE(across_the_edge_of_a_block) {
    for (int before = 4085; before < 4100; before++) {
        FILE *f = fopen("edge", "w");
        for (int i = 0; i < before; i++)
            putc(' ', f);
        fputs("12345 word", f);
        fclose(f);
        f = fopen("edge", "r");
        int v = 0;
        char word[10] = "";
        int n = fscanf(f, "%d %9s", &v, word);
        say("%d: %d %d %s", before, n, v, word);
        fclose(f);
    }
    unlink("edge");
}

CASE(from_a_pipe) {
    FILE *f = popen("printf '12 '; sleep 0.05; printf '34\n5'; sleep 0.05; echo 6", "r");
    int a = 0, b = 0, c = 0;
    CALL(fscanf(f, "%d", &a));
    CALL(fscanf(f, "%d", &b));
    CALL(fscanf(f, "%d", &c));
    say("%d %d %d", a, b, c);
    CALL(fscanf(f, "%d", &c));
    CALL(pclose(f));
}

CASE(strings_in_memory) {
    int a = 0, b = 0, n = 0;
    char word[10] = "";
    CALL(sscanf("12 abc 34", "%d %9s %d%n", &a, word, &b, &n));
    say("%d %s %d %d", a, word, b, n);
    CALL(sscanf("", "%d", &a));
    CALL(sscanf("x", "%d", &a));
}

static int scan_list(FILE *f, const char *format, ...) {
    va_list a;
    va_start(a, format);
    int n = vfscanf(f, format, a);
    va_end(a);
    return n;
}

CASE(argument_lists) {
    FILE *f = text("7 word");
    int v = 0;
    char word[10] = "";
    CALL(scan_list(f, "%d %9s", &v, word));
    say("%d %s", v, word);
}

CASE(wide_strings) {
    FILE *f = text("word [set] c");
    wchar_t a[20] = L"", b[20] = L"", c = 0;
    CALL(fscanf(f, "%ls [%l[a-z]] %lc", a, b, &c));
    CALL((wchar_t *)a);
    CALL((wchar_t *)b);
    say("%d", (int)c);
}

CASE(from_an_output_stream) {
    FILE *f = fopen("out", "w");
    int v;
    WITH_ERRNO(fscanf(f, "%d", &v));
    note_flags(f);
}

CASE(after_writing) {
    FILE *f = fopen("out", "w+");
    fprintf(f, "%d %s\n", 42, "answer");
    rewind(f);
    int v = 0;
    char word[10];
    CALL(fscanf(f, "%d %9s", &v, word));
    say("%d %s", v, word);
    CALL(fscanf(f, "%d", &v));
    note_state(f);
}

/* --- oddities -------------------------------------------------------------------- */

static const unsigned char untouched[64] = {[0 ... 63] = 0x5a};

/* Notes all results of one conversion of one input. */
static void scan_once(const char *format, const char *input) {
    union {
        unsigned char bytes[64];
        char *allocated;
    } value;
    int count = -1;
    memcpy(value.bytes, untouched, sizeof value.bytes);
    FILE *f = text(input);
    errno = 5;
    int n = fscanf(f, format, value.bytes, &count);
    int error = errno;
    say("%q of %q: %d errno %d value %b count %d", format, input, n, error, value.bytes, 20, count);
    note_rest(f);
    fclose(f);
    memcpy(value.bytes, untouched, sizeof value.bytes);
    errno = 5;
    n = sscanf(input, format, value.bytes, &count);
    say("  in memory: %d errno %d value %b count %d", n, errno, value.bytes, 20, count);
}

CASE(what_a_mismatch_consumes) {
    static const char *const inputs[] = {
        "0x",    "0xg",    "-",         "-x",        "+",        "--1",   "0b101", "08",        "0x1F ",
        "1e",    "1e+",    "1e+x",      "1.e5x",     ".",        "..5",   ".5.5",  "0x.",       "0x1p",
        "0x1p+", "nan(1)", "na",        "nax",       "infi",     "infx",  "inf",   "infinity!", "i",
        "-inf",  "+nan",   "",          "  ",        "x",        "1'234", "(nil)", "(nip",      "nan(",
        "nan()", "nan(a",  "nan(_Z9) ", "nan(a b)",  "-NAN(0x1", "0b",    "-0b2",  "0x(nil)",   "-0x(nil)",
        "-0x.",  "0x.p1",  "0x1.",      "a\303\244b"};
    static const char *const formats[] = {"%d%n",  "%i%n", "%x%n",  "%o%n",  "%p%n",   "%b%n",
                                          "%lf%n", "%f%n", "%Lf%n", "%5c%n", "%*5c%n", "%5lc%n"};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        for (size_t j = 0; j < sizeof formats / sizeof *formats; j++)
            scan_once(formats[j], inputs[i]);
}

/* musl sets EINVAL if there is no digit. After a prefix or an exponent alone, it only reports a mismatch. */
CASE(what_is_no_number) {
    static const char *const inputs[] = {"x",    "-",  "-x", "+",   "0x", "0xg",  "9",     "1e",
                                         "1e+x", ".",  "-.", "0x.", "na", "nan(", "nan(-", "infi",
                                         "inx",  "-i", "",   " ",   "\n", "  x"};
    static const char *const formats[] = {"%d", "%i", "%x", "%o", "%p", "%*d", "%f", "%lf", "%Lf", "%*f"};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        for (size_t j = 0; j < sizeof formats / sizeof *formats; j++)
            scan_once(formats[j], inputs[i]);
}

CASE(widths_within_numbers) {
    static const char *const formats[] = {"%1d%n",  "%2d%n",  "%3i%n",  "%2i%n",     "%1i%n",  "%3x%n",
                                          "%2lf%n", "%3lf%n", "%4lf%n", "%5lf%n",    "%6lf%n", "%1lf%n",
                                          "%4p%n",  "%5p%n",  "%0d%n",  "%00003d%n", "%2s%n",  "%3c%n",
                                          "%2b%n",  "%3b%n",  "%7p%n",  "%7lf%n"};
    static const char *const inputs[] = {"12345",  "-12345",  "0x1234",   "0x",     "-0x12", "1.5e10",
                                         "1e-10",  "-.5e1",   "infinity", "nan",    "(nil)", "0b101",
                                         "-0x1p2", "0x(nil)", "nan(12)",  "-nan(1)"};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        for (size_t j = 0; j < sizeof formats / sizeof *formats; j++)
            scan_once(formats[j], inputs[i]);
}

CASE(numbers_at_their_limits) {
    static const char *const inputs[] = {"127",
                                         "128",
                                         "255",
                                         "256",
                                         "32768",
                                         "65536",
                                         "2147483647",
                                         "2147483648",
                                         "-2147483649",
                                         "4294967296",
                                         "9223372036854775807",
                                         "9223372036854775808",
                                         "-9223372036854775808",
                                         "-9223372036854775809",
                                         "18446744073709551615",
                                         "18446744073709551616",
                                         "-18446744073709551615",
                                         "99999999999999999999999999999999999999"};
    static const char *const formats[] = {"%hhd%n", "%hhu%n", "%hd%n", "%hu%n", "%d%n",  "%u%n",  "%ld%n",
                                          "%lu%n",  "%jd%n",  "%zu%n", "%td%n", "%qd%n", "%Lu%n", "%*d%n"};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        for (size_t j = 0; j < sizeof formats / sizeof *formats; j++)
            scan_once(formats[j], inputs[i]);
}

CASE(floats_at_their_limits) {
    static const char *const inputs[] = {"1e308",
                                         "1.8e308",
                                         "-1e309",
                                         "1e-307",
                                         "1e-308",
                                         "4.9e-324",
                                         "1e-400",
                                         "3.4028235e38",
                                         "3.5e38",
                                         "1e-45",
                                         "1e-46",
                                         "1e4932",
                                         "1e4933",
                                         "1e-4951",
                                         "0.1",
                                         "1e23",
                                         "9007199254740993",
                                         "9007199254740993.00000000000000000000000000001",
                                         "8.5e-2",
                                         "123456789012345678901234567890e-10",
                                         "0x1.fffffffffffff8p0",
                                         "0e999999999999",
                                         "1e-999999999999"};
    static const char *const formats[] = {"%f%n", "%lf%n", "%Lf%n", "%*f%n"};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        for (size_t j = 0; j < sizeof formats / sizeof *formats; j++)
            scan_once(formats[j], inputs[i]);
}

CASE(odd_formats) {
    static const char *const formats[] = {
        "%",        "%l",      "%5",      "%y",  " %y",     "%*y",      "%5*d%n",  "%1$d",
        "%%%n",     "a %%b%n", "%[",      "%[a", "%[]a]%n", "%[^]a]%n", "%[a-]%n", "%[-a]%n",
        "%[c-a]%n", "%[%%]%n", "%*[a]%n", "%b",  "%lln",    "%hhn",     "%'d%n",   "%Id%n",
        "%mn",      "%lc%n",   "%D",      "",    " ",       "a b\t c%n"};
    static const char *const inputs[] = {"abc 12", "% b", "", " a", "]-^a", "12", "a  b c d"};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        for (size_t j = 0; j < sizeof formats / sizeof *formats; j++)
            scan_once(formats[j], inputs[i]);
}

/* The plain functions, which <stdio.h> hides behind the C99 ones. */
int plain_fscanf(FILE *, const char *, ...) __asm__("fscanf");
int plain_sscanf(const char *, const char *, ...) __asm__("sscanf");

int c99_sscanf(const char *, const char *, ...) __asm__("__isoc99_sscanf");

CASE(binary_numbers) {
    static int (*const names[])(const char *, const char *, ...) = {plain_sscanf, c99_sscanf, sscanf};
    static const char *const inputs[] = {"0b101", "-0B12", "110", "0b", "b1", "0x1"};
    static const char *const formats[] = {"%b%n", "%i%n", "%hhb%n", "%*b%n", "%3b%n", "%B%n"};
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
            for (size_t j = 0; j < sizeof formats / sizeof *formats; j++) {
                int value = -7, count = -1, n = names[k](inputs[i], formats[j], &value, &count);
                say("%d: %q of %q: %d value %d count %d", (int)k, formats[j], inputs[i], n, value, count);
            }
}

CASE(sizes_of_integers_by_their_bits) {
    static const char *const formats[] = {"%w8d%n",  "%w16u%n",  "%w32i%n",  "%w64x%n",
                                          "%wf8d%n", "%wf16d%n", "%wf32d%n", "%wf64d%n",
                                          "%w5d%n",  "%*w64d%n", "%wd%n",    "%w8b%n"};
    for (size_t j = 0; j < sizeof formats / sizeof *formats; j++)
        scan_once(formats[j], "101112131415");
}

CASE(allocation_flag_of_old) {
    FILE *f = text("word set99 1.5s 2.5");
    char *a = NULL, *b = NULL;
    float c = 0, d = 0;
    CALL(plain_fscanf(f, "%as %a[a-z]%*d", &a, &b));
    say("%q %q", a, b);
    CALL(fscanf(f, "%as", &c));
    CALL(plain_fscanf(f, "%a", &d));
    say("%d %d", (int)(c * 10), (int)(d * 10));
    note_rest(f);
    free(a);
    CALL(plain_sscanf("x", "%5as", &a));
    say("%q", a);
#ifdef __GLIBC__ /* musl lacks this interface */
    int _IO_sscanf(const char *, const char *, ...);
    CALL(_IO_sscanf("y", "%as", &b));
    say("%q", b);
#endif
}

CASE(allocations_that_end_unused) {
    char *a = (char *)"a", *b = (char *)"b", *c = (char *)"c";
    CALL(sscanf("word 12", "%ms %m[a-z] %ms", &a, &b, &c));
    say("%q %q %q", a, b, c);
    free(a);
    CALL(sscanf("", "%ms", &a));
    CALL(sscanf("  ", "%mc%ms", &b, &c));
    say("%q %q", a, c);
    char long_word[500];
    memset(long_word, 'x', sizeof long_word - 1);
    long_word[sizeof long_word - 1] = '\0';
    FILE *f = text(long_word);
    setvbuf(f, NULL, _IONBF, 0);
    CALL(fscanf(f, "%ms", &a));
    say("%q", a);
}

CASE(strings_scanned_in_place) {
    char s[200] = "  first second third";
    CALL(sscanf(s, "%s", s));
    say("%q", s);
    memcpy(s, "one-and-only word and more of it", 33);
    CALL(sscanf(s, "%*s %[^\n]", s));
    say("%q", s);
    memset(s, 'x', sizeof s);
    memcpy(s + 150, " y", 3);
    CALL(sscanf(s + 10, "%s", s));
    say("%q", s);
}

CASE(no_pointer_to_a_string) {
    FILE *f = text("  word");
    CALL(fscanf(f, "%s", (char *)NULL));
    note_rest(f);
    CALL(fscanf(f, "%ms", (char **)NULL));
    CALL(fscanf(f, "%c", (char *)NULL));
    note_rest(f);
}

CASE(many_directives) {
    char format[400] = "";
    int v[70] = {0};
    for (int i = 0; i < 70; i++)
        strcat(format, i < 60 ? "%*d" : "%d");
    FILE *f = fopen("in", "w");
    for (int i = 0; i < 70; i++)
        fprintf(f, "%d ", i);
    fclose(f);
    f = fopen("in", "r");
    CALL(fscanf(f, format, v, v + 1, v + 2, v + 3, v + 4, v + 5, v + 6, v + 7, v + 8, v + 9));
    say("%d %d", v[0], v[9]);
    note_rest(f);
}

CASE(positions_and_none) {
    int a = 0, b = 0, c = 0;
    CALL(sscanf("1 2 3", "%d %1$d %d", &a, &b, &c));
    say("%d %d %d", a, b, c);
    CALL(sscanf("1 2 3", "%2$d %*d %1$d", &a, &b));
    say("%d %d", a, b);
}

/* --- waiting ----------------------------------------------------------------------- */

CASE(returns_without_more_input) {
    int ends[2];
    pipe(ends);
    FILE *f = fdopen(ends[0], "r");
    int a = 0;
    double d = 0;
    char word[10] = "", set[10] = "";
    kernel_write(ends[1], "12 34x 2.5e1,word 77,123");
    CALL(fscanf(f, "%d", &a));
    CALL(fscanf(f, "%dx", &a));
    CALL(fscanf(f, "%lf,", &d));
    say("%d %d", a, (int)d);
    CALL(fscanf(f, "%s", word));
    CALL(fscanf(f, " %[0-9],", set));
    say("%q %q", word, set);
    CALL(fscanf(f, "%3lf", &d));
    say("%d", (int)d);
    kernel_write(ends[1], "abc");
    CALL(fscanf(f, "%3c", word));
    kernel_write(ends[1], "abc");
    CALL(fscanf(f, "%3s", word));
    kernel_write(ends[1], "inf,nan");
    /* with a width, since without one glibc 2.41 waits for a parenthesis */
    CALL(fscanf(f, "%lf,%3lf", &d, &d));
    close(ends[1]);
    CALL(fscanf(f, "%d", &a));
    note_flags(f);
}

CASE(shows_a_line_buffered_prompt) {
    int ends[2], v = 0;
    struct stat st;
    pipe(ends);
    FILE *f = fdopen(ends[0], "r");
    setvbuf(f, NULL, _IONBF, 0);
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("prompt: ");
    kernel_write(ends[1], "12 ");
    CALL(fscanf(f, "%d", &v));
    fstat(1, &st);
    say("%d, %ld bytes shown", v, (long)st.st_size);
}

static FILE *shared;

static void *scan_pairs(void *format) {
    long wrong = 0;
    int a, b;
    while (fscanf(shared, format, &a, &b) == 2)
        wrong += b != a * 2;
    return (void *)wrong;
}

static void share_pairs(const char *format) {
    FILE *f = fopen("pairs", "w");
    for (int i = 0; i < 30000; i++)
        fprintf(f, "%d %d\n", i, 2 * i);
    fclose(f);
    shared = fopen("pairs", "r");
    pthread_t threads[2];
    long wrong = 0;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, scan_pairs, (void *)format);
    for (int i = 0; i < 2; i++) {
        void *result;
        pthread_join(threads[i], &result);
        wrong += (long)result;
    }
    say("%ld pairs torn", wrong);
    note_state(shared);
    unlink("pairs");
}

CASE(two_threads_on_one_stream) {
    char many[300] = "%d %d\n"; /* too many conversions for our parser: libc's code handles them */
    for (int i = 0; i < 70; i++)
        strcat(many, "%*n");
    share_pairs("%d %d\n");
    share_pairs(many);
}

CASE(read_errors) {
    int ends[2], v = 0;
    pipe(ends);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    FILE *f = fdopen(ends[0], "r");
    WITH_ERRNO(fscanf(f, "%d", &v));
    note_flags(f);
    clearerr(f);
    kernel_write(ends[1], "  12");
    WITH_ERRNO(fscanf(f, "%d", &v));
    say("%d", v);
    note_flags(f);
    clearerr(f);
    kernel_write(ends[1], "word");
    char word[10] = "";
    WITH_ERRNO(fscanf(f, "%s%s", word, word));
    say("%q", word);
    note_flags(f);
}
