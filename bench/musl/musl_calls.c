/* SPDX-License-Identifier: MIT
 *
 * musl_calls.c - makes one call of stdio many times, on standard input and output, which are files.
 *
 *     musl_calls         prints the names of the calls, and how often report makes each
 *     musl_calls CALL N  makes CALL N times, prints nanoseconds of CPU time a call to stderr, and appends the
 *                        last data read, and the input's offset, to the output
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

static char line[118], bytes[64], got[256];
static char *grown;
static size_t grown_size;
static int number;

/* Rewinds at the end of the input, which is rare. */
#define INPUT(call, failed)                                                                                  \
    if ((call) == (failed))                                                                                  \
    rewind(stdin)

#define CALLS                                                                                                \
    CALL("printf %d\\n", 2000000, printf("%d\n", i * 7919))                                                  \
    CALL("printf %s %d\\n", 2000000, printf("%s %d\n", "word", i * 7919))                                    \
    CALL("printf %08x", 2000000, printf("%08x", (unsigned)i * 7919))                                         \
    CALL("printf %.4f\\n", 1000000, printf("%.4f\n", i * 1.2345))                                            \
    CALL("printf %g\\n", 1000000, printf("%g\n", i * 1.2345))                                                \
    CALL("snprintf %d", 2000000, snprintf(got, sizeof got, "%d", i * 7919))                                  \
    CALL("putc", 10000000, putc('a', stdout))                                                                \
    CALL("fputs, 117 B", 500000, fputs(line, stdout))                                                        \
    CALL("fwrite, 1 B", 10000000, fwrite(bytes, 1, 1, stdout))                                               \
    CALL("fwrite, 64 B", 1000000, fwrite(bytes, 1, sizeof bytes, stdout))                                    \
    CALL("getc", 10000000, INPUT(number = getc(stdin), EOF))                                                 \
    CALL("fgets, 117 B", 1000000, INPUT(fgets(got, sizeof got, stdin), NULL))                                \
    CALL("getline, 117 B", 1000000, INPUT(getline(&grown, &grown_size, stdin), -1))                          \
    CALL("fread, 1 B", 10000000, INPUT(fread(got, 1, 1, stdin), 0))                                          \
    CALL("fread, 8 B", 5000000, INPUT(fread(got, 8, 1, stdin), 0))                                           \
    CALL("fread, 64 B", 2000000, INPUT(fread(got, 64, 1, stdin), 0))                                         \
    CALL("sscanf %d", 2000000, sscanf("12345", "%d", &number))                                               \
    CALL("fputwc", 1000000, fputwc(L'a', stdout))                                                            \
    CALL("fopen, getc, fclose", 20000, {                                                                     \
        FILE *f = fopen("/proc/self/fd/0", "r");                                                             \
        number = getc(f);                                                                                    \
        fclose(f);                                                                                           \
    })

static void show_input(void) {
    fwrite(got, 1, sizeof got, stdout);
    printf("%s %d %ld\n", grown ? grown : "", number, ftell(stdin));
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* Returns false if `name` names no call. */
static int make_calls(const char *name, int n) {
#define CALL(its, often, code)                                                                               \
    if (strcmp(name, its) == 0) {                                                                            \
        for (int i = 0; i < n; i++)                                                                          \
            code;                                                                                            \
        return 1;                                                                                            \
    }
    CALLS
#undef CALL
    return 0;
}

int main(int argc, char **argv) {
    memset(bytes, 'b', sizeof bytes);
    memset(line, 'l', sizeof line - 2);
    line[sizeof line - 2] = '\n';
#define CALL(its, often, code) puts(#often " " its);
    if (argc < 3) {
        CALLS
        return 0;
    }
#undef CALL
    int n = atoi(argv[2]);
    double begun = now();
    if (!make_calls(argv[1], n))
        return 2;
    fprintf(stderr, "%.3f\n", (now() - begun) / n);
    if (fwide(stdout, 0) <= 0)
        show_input();
    return fflush(stdout) == 0 ? 0 : 1;
}
