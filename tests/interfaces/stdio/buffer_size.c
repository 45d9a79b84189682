/* SPDX-License-Identifier: MIT
 *
 * buffer_size.c - prints the sizes of its streams' buffers after their first use: buffer=SIZE changes some
 * of them. If CONF is defined, the program requests a size by asf_conf.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>

#ifdef CONF
const char asf_conf[] = CONF;
#endif

static void tell(const char *what, FILE *f) {
    fprintf(stderr, "%s %zu\n", what, __fbufsize(f));
}

int main(int argc, char **argv) {
    static char own[1000];
    FILE *in = fopen(argc > 1 ? argv[1] : "/proc/self/exe", "r"), *callers = fopen("/dev/null", "w");
    FILE *none = fopen("/dev/null", "w"), *memory = fmemopen(NULL, 100, "w+");
    if (!in || !callers || !none || !memory)
        return 2;
    setvbuf(callers, own, _IOFBF, sizeof own);
    setvbuf(none, NULL, _IONBF, 0);
    getc(in);
    putc('x', callers);
    putc('x', none);
    putc('x', memory);
    for (int i = 0; i < 300000; i++)
        putchar('x');
    tell("in", in);
    tell("out", stdout);
    tell("callers", callers);
    tell("none", none);
    tell("stderr", stderr);
    return ferror(stdout) ? 1 : 0;
}
