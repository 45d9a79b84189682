/* SPDX-License-Identifier: MIT
 *
 * other_calls.c - a library to preload: programs print the right output, but make other system calls than
 * with libc. DEFECT_x selects the difference.
 */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

__attribute__((unused)) static char buffer[65536];

__attribute__((constructor)) static void begin(void) {
#if defined DEFECT_AHEAD
    setvbuf(stdin, buffer, _IOFBF, sizeof buffer);
#elif defined DEFECT_LATE
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
#elif defined DEFECT_PIECES
    setvbuf(stdout, buffer, _IOFBF, 1000);
#endif
}

#if defined DEFECT_ASKS
long ftell(FILE *f) {
    struct stat st;
    fstat(fileno(f), &st);
    return ftello(f);
}
#endif

__attribute__((destructor)) static void end(void) {
#if defined DEFECT_OFFSET
    if (lseek(0, 1, SEEK_CUR) == 0)
        _exit(1);
#elif defined DEFECT_CLOSE
    close(0);
#endif
}
