/* SPDX-License-Identifier: MIT
 *
 * glibc_face.h - stdio's calls of glibc.  <interfaces/stdio/libc.h> describes each.
 *
 * A FILE that glibc made itself (setmntent, open_wmemstream) has another table than ours: our functions use
 * its window and that table (foreign.c), as glibc's own code does.  On a wide stream of ours the byte
 * functions fail by its orientation.  Only putc calls its table, and writes, as in glibc.
 */
#ifndef ASF_INTERFACES_STDIO_GLIBC_FACE_H
#define ASF_INTERFACES_STDIO_GLIBC_FACE_H

#include "interfaces/stdio/glibc/jumps.h"
#include "interfaces/stdio/glibc/libc_differences.h"
#include "lib/sys/next.h"

#include <langinfo.h>
#include <wctype.h>

extern void __chk_fail(void) __attribute__((noreturn));
extern int _IO_flush_all(void);

/* A name that only glibc has: for offsets of 64 bits, or an old one. */
#define GLIBC_NAME(declaration, name) declaration ALIAS(name);

#pragma GCC visibility push(hidden)

#ifdef ASF_STATIC
/* In a static program glibc's own objects link glibc's printf functions on strings, scanf functions and
 * fwide.  These call our streams through the jump table. */
#define ASF_TEXT_BY_LIBC 1
#endif

#define asf__find_byte memchr

/* --- streams of ours and FILEs of glibc ------------------------------------------ */

static inline bool asf__ours(const struct asf_cios *c) {
    return asf__likely(c->vtable == &asf__jumps);
}

/* This flag never changes, though others in the same word do. */
ASF_RACY static inline bool asf__is_own_object(const struct asf_cios *c) {
    return asf__likely(c->flags2 & ASF_OURS);
}

static inline bool asf__is_wide(const struct asf_cios *c) {
    return c->orientation > 0;
}

static inline bool asf__ours_wide(const struct asf_cios *c) {
    return asf__likely(c->vtable == &asf__wide_jumps);
}

/* asf__remove_bias: remove the lock's bias, before a glibc function locks the stream. */
static inline void asf__remove_bias(struct asf_cios *c) {
    if (asf__is_own_object(c))
        asf__unbias(&c->lk);
}

/* asf__free_line: glibc has no fgetln. */
static inline void asf__free_line(struct asf_cios *c) {
    (void)c;
}

static inline int asf__other_flush_all(void) {
    return _IO_flush_all();
}

/* --- fpos_t ----------------------------------------------------------------------------- */

static inline off64_t asf__offset_in(const fpos_t *p) {
    return p->__pos;
}

static inline void asf__set_offset_in(fpos_t *p, off64_t at) {
    p->__pos = at;
}

static inline mbstate_t *asf__state_in(fpos_t *p) {
    return &p->__state;
}

/* --- scanf's flags ------------------------------------------------------------------------ */

/* Whether the flag has no effect in this locale: for I the locale has no own digits, for ' it groups no
 * digits. */
static inline bool asf__scan_flag(int flag) {
    if (flag == 'I')
        return wctrans("to_inpunct") == 0 && (uintptr_t)nl_langinfo(_NL_CTYPE_INDIGITS_MB_LEN) == 1;
    return *nl_langinfo(THOUSEP) == '\0';
}

/* --- the standard streams ------------------------------------------------------------------ */

/* They replace glibc's own objects, under its names. */
#define ASF_STANDARD_VISIBILITY EXPORT
#define asf__stdin              _IO_2_1_stdin_
#define asf__stdout             _IO_2_1_stdout_
#define asf__stderr             _IO_2_1_stderr_

#define asf__byte_stream_vtable (&asf__jumps)
#define asf__wide_stream_vtable (&asf__wide_jumps)

void asf__link_sentinel(void);

/* The members that glibc's code reads. */
#define ASF_STANDARD_LIBC_MEMBERS(object, number, next_one, before)                                          \
    .chain = next_one, .prevchain = before, .lock = &object.lk, .wide_data = &asf__wide_standard[number],    \
    .vtable = &asf__jumps

#pragma GCC visibility pop

#endif
