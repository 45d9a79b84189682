/* SPDX-License-Identifier: MIT
 *
 * glibc.h - names of glibc that musl lacks or spells differently.  On musl this file is included before
 * every file (lib/libc.cmake), and this directory has the headers of glibc that musl lacks.
 * In lib/ only this directory and text/of_libc.h test for musl.  The rest of lib/, backplane/ and streams/
 * use glibc's names.
 */
#ifndef ASF_LIB_SYS_GLIBC_ON_MUSL_GLIBC_H
#define ASF_LIB_SYS_GLIBC_ON_MUSL_GLIBC_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define _LARGEFILE64_SOURCE /* off64_t, stat64 and so on */
#include <string.h>

/* Functions of plain_calls.c: libasf_unix defines the plain names. */
#define __open64    asf__own_open
#define __pread64   asf__own_pread
#define __read      asf__own_read
#define __sigaction asf__own_sigaction
#define __write     asf__own_write

#define _pthread_cleanup_buffer                         __ptcb
#define __register_atfork(before, after, child, object) pthread_atfork(before, after, child)

/* musl's strerror returns constant texts. */
#define strerrordesc_np                strerror
#define strerror_r(number, text, size) ((void)(text), strerror(number))

/* musl's locales do not group digits, and their yes and no are English. */
#define GROUPING THOUSEP
static inline int rpmatch(const char *answer) {
    return *answer == 'y' || *answer == 'Y' ? 1 : *answer == 'n' || *answer == 'N' ? 0 : -1;
}

#endif
