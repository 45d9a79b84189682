/* SPDX-License-Identifier: MIT
 *
 * musl_exit.c - the standard streams by musl's names, and the flush of all streams at exit.
 */
#include "interfaces/stdio/stdio_cios.h"

const char asf__vtable_address[1];

#undef stdin
#undef stdout
#undef stderr
EXPORT FILE *const stdin = (FILE *)&asf__stdin;
EXPORT FILE *const stdout = (FILE *)&asf__stdout;
EXPORT FILE *const stderr = (FILE *)&asf__stderr;

void asf__link_sentinel(void) {}

static void flush_at_exit(void) {
    asf__flush_at_exit();
    asf__finish_all();
}

#ifdef ASF_STATIC
/* musl's exit calls this last.  Only a static program can replace musl's definition. */
void __stdio_exit(void);
EXPORT void __stdio_exit(void) {
    flush_at_exit();
}
void __stdio_exit_needed(void) ALIAS(__stdio_exit);
#else
/* This library is initialized before the program and its other libraries, so its destructor runs after
 * theirs. */
__attribute__((destructor)) static void end(void) {
    flush_at_exit();
}
#endif
