/* SPDX-License-Identifier: MIT
 *
 * scanning_cases.c - the scanf family: conversions, failures, and where the
 * stream stands afterwards.
 * Layer: tests.
 */
#include "transcript.h"

#include <stdarg.h>
#include <stddef.h>

static FILE *text(const char *content) {
    put_text("in", content);
    return fopen("in", "r");
}

/* Where it stopped: position, indicators and the next character. */
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
