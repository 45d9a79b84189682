/* SPDX-License-Identifier: MIT
 *
 * musl_face.h - stdio's calls of musl.  <interfaces/stdio/libc.h> describes each.
 *
 * musl's FILE is opaque, so every FILE of a program is ours.  This library replaces musl's functions that
 * read or write a FILE, or calls them on a bridge (bridge.c).  A wide stream's buffer has bytes, like a byte
 * stream's.
 */
#ifndef ASF_INTERFACES_STDIO_MUSL_FACE_H
#define ASF_INTERFACES_STDIO_MUSL_FACE_H

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "asf/scan.h"
#include "backplane/backplane.h"
#include "lib/sys/next.h"

#define __chk_fail abort

#define asf__find_byte asf_scan_find /* vectorized, unlike musl's memchr */

/* ASF_LIBC_OWN(name): musl's own function with a name that we define.  An archive has it under another name
 * (take_own). */
#ifdef ASF_STATIC
#define ASF_LIBC_OWN(name)                                                                                   \
    (__extension__({                                                                                         \
        extern __typeof__(name) asf__own_##name;                                                             \
        &asf__own_##name;                                                                                    \
    }))
#else
#define ASF_LIBC_OWN(name) ASF_NEXT(name)
#endif

/* A name that only glibc has. */
#define GLIBC_NAME(declaration, name)

#define DIFFERENCE(name, glibc, musl, test, what) ASF_MUSL_##name = (musl),
enum {
#include "interfaces/stdio/libc_differences.def"
};
#undef DIFFERENCE
#define ASF_LIBC(name) ASF_MUSL_##name

#pragma GCC visibility push(hidden)

/* Bits of `flags2`. */
enum {
    ASF_WIDE_CHARACTERS = 0x1, /* the stream is wide; its orientation is that of bytes */
    ASF_WIDE_IN_UTF8 = 0x4     /* the locale was UTF-8 when the stream became wide */
};

/* --- there are no others: musl defines no function asf__other_... or asf__wide_... ----------- */

static inline bool asf__ours(const struct asf_cios *c) {
    (void)c;
    return true;
}

static inline bool asf__is_own_object(const struct asf_cios *c) {
    (void)c;
    return true;
}

static inline bool asf__is_wide(const struct asf_cios *c) {
    (void)c;
    return false;
}

static inline bool asf__ours_wide(const struct asf_cios *c) {
    (void)c;
    return false;
}

/* asf__wide_start: a stream's bytes are the state of its wide characters, too. */
static inline void asf__wide_start(void) {}

/* asf__free_line: free the line that fgetln returned. */
static inline void asf__free_line(struct asf_cios *c) {
    free(c->freeres_buf);
    c->freeres_buf = NULL;
}

static inline int asf__other_flush_all(void) {
    return 0;
}

/* asf__named_conversion: musl ignores ",ccs=" in a mode. */
static inline bool asf__named_conversion(struct asf_cios *c, const char *charset) {
    (void)c, (void)charset;
    return true;
}

/* --- fpos_t -------------------------------------------------------------------------------- */

static inline off_t asf__offset_in(const fpos_t *p) {
    off_t at;
    memcpy(&at, p, sizeof at);
    return at;
}

static inline void asf__set_offset_in(fpos_t *p, off_t at) {
    memcpy(p, &at, sizeof at);
}

static inline mbstate_t *asf__state_in(fpos_t *p) {
    return (mbstate_t *)(void *)((char *)p + sizeof(off_t));
}

/* asf__scan_flag: musl's scanf has neither I nor '. */
static inline bool asf__scan_flag(int flag) {
    (void)flag;
    return false;
}

/* --- the standard streams ---------------------------------------------------------------------- */

/* The objects of musl's libc.a refer to the standard streams by these names.  In a shared library the names
 * are hidden: each copy of the library in a process has its own streams. */
#ifdef ASF_STATIC
#define ASF_STANDARD_VISIBILITY EXPORT
#else
#define ASF_STANDARD_VISIBILITY
#endif
#define asf__stdin  __stdin_FILE
#define asf__stdout __stdout_FILE
#define asf__stderr __stderr_FILE

#define ASF_STANDARD_LIBC_MEMBERS(object, number, next_one, before)                                          \
    .chain = next_one, .prevchain = before, .lock = &object.lk, .vtable = asf__byte_stream_vtable

/* The `vtable` of our streams: any unique address. */
extern const char asf__vtable_address[1];
#define asf__byte_stream_vtable ((const void *)asf__vtable_address)
#define asf__wide_stream_vtable NULL

void asf__link_sentinel(void);

/* asf__wide_to_bytes: to_bytes of struct asf_hooks. */
static inline int asf__wide_to_bytes(struct asf_cios *c) {
    (void)c;
    return 0;
}

/* The bytes at the beginning of a setvbuf's buffer that musl keeps for ungetc. */
enum { ASF_KEPT_FOR_UNGETC = 8 };

/* --- bridges (bridge.c) ----------------------------------------------------------------------------- */

/* A musl FILE that reads and writes one of our streams, for one call of musl's code.  The caller has locked
 * the stream.
 * asf__bridge_open: c NULL: the FILE writes to `fd`, which the caller sets.  room: the size of its buffer, at
 * most BUFSIZ; 1: the stream gets each chunk of output as musl makes it.  NULL: there is no memory.
 * asf__bridge_close: gives bytes that were read and not used back to the stream. */
struct asf_bridge {
    struct asf_cios *c;
    int fd;
    FILE *file;
    size_t width;                   /* MB_CUR_MAX when the FILE was opened, since a FILE keeps its encoding */
    const char *window_start;       /* where the bytes taken last begin in the window */
    unsigned char last_bytes[8], n; /* the last bytes taken before these, and how many */
    char buffer[ASF_KEPT_FOR_UNGETC + BUFSIZ];
};
struct asf_bridge *asf__bridge_open(struct asf_cios *c, size_t room);
void asf__bridge_close(struct asf_bridge *b);

#pragma GCC visibility pop

#endif
