/* SPDX-License-Identifier: MIT
 *
 * go_program_cases.c - a program with the note of Go's linker. It makes system calls by its own
 * instructions, as Go does.
 */
#include "transcript.h"

#include <sys/syscall.h>

#include "lib/sys/machine.h"

__asm__(".pushsection .note.go.buildid, \"a\", %note\n"
        ".balign 4\n"
        ".long 4, 4, 4\n"
        ".ascii \"Go\\0\\0test\"\n"
        ".popsection\n");

static long by_itself(long number, long a, long b, long c) {
    return asf__raw(number, a, b, c, 0);
}

CASE(ends_by_itself) {
    for (int i = 0; i < 20000; i++)
        printf("many %d\n", i);
    by_itself(SYS_exit_group, 3, 0, 0);
}

CASE(writes_and_looks_by_itself) {
    FILE *f = fopen("out", "w+");
    for (int i = 0; i < 20000; i++) {
        fprintf(f, "line %d\n", i);
        if (i % 3000 == 0) {
            say("at %ld", by_itself(SYS_lseek, fileno(f), 0, SEEK_CUR));
            by_itself(SYS_write, 1, (long)"kernel\n", 7);
        }
    }
    rewind(f);
    getc(f);
    say("read to %ld", by_itself(SYS_lseek, fileno(f), 0, SEEK_CUR));
    fclose(f);
}
