/* SPDX-License-Identifier: MIT
 *
 * wide.h - what the files of wide streams share.  The characters of a wide stream are in its `wide`, which
 * has glibc's layout: programs and libc's own code (vfwprintf, vfwscanf) move its pointers, and call the jump
 * table when a window is used up.  Below it, bytes are read and converted as in libc.  Output reaches the
 * descriptor at the same moments as in libc, with fewer system calls: libc makes one for each 16 bytes.
 *
 * The caller holds the lock, unless a line says otherwise.
 */
#ifndef ASF_INTERFACES_STDIO_WIDE_H
#define ASF_INTERFACES_STDIO_WIDE_H

#include "interfaces/stdio/glibc/jumps.h"

#include <gconv.h>
#include <wchar.h>

#include "lib/sys/next.h"

#pragma GCC visibility push(hidden)

/* The ABI's struct _IO_wide_data: the current buffer of a wide stream, in characters.  The byte windows
 * then hold input that is not converted yet, or output that has been converted. */
struct asf_wide {
    wchar_t *read_ptr, *read_end, *read_base;
    wchar_t *write_base, *write_ptr, *write_end;
    wchar_t *buf_base, *buf_end;
    wchar_t *save_base, *backup_base, *save_end;
    mbstate_t state, last_state; /* now, and where the read window begins */
    struct asf_conversion {
        struct __gconv_step *step;
        struct __gconv_step_data data;
    } in, out; /* set when the stream became wide */
    wchar_t shortbuf[1];
    const void *vtable;
};

extern struct asf_wide asf__wide_standard[3]; /* stdin's, stdout's and stderr's */
/* asf__wide_begin: set the state of a stream that is not wide. */
void asf__wide_begin(struct asf_cios *c);
static inline void asf__wide_start(void) {
    asf__append_to_cios(sizeof(struct asf_wide), asf__wide_begin);
}

/* The wide part of any FILE: of ours it is behind the object (wide_buffer.c).  For a byte stream of glibc's
 * it is NULL, or its windows are empty. */
static inline struct asf_wide *asf__wide(const struct asf_cios *c) {
    return c->wide_data;
}

/* --- conversion (wide_convert.c) ------------------------------------------ */

enum asf_converted { ASF_CONVERTED, ASF_PARTIAL, ASF_INVALID };

/* Both advance their pointers over the converted text. */
enum asf_converted asf__decode(struct asf_cios *c, const char **from, const char *end, wchar_t **to,
                               wchar_t *to_end);
enum asf_converted asf__encode(struct asf_cios *c, mbstate_t *state, const wchar_t **from, const wchar_t *end,
                               char **to, char *to_end);
/* asf__wide_span: how many bytes from read_base the first n characters took. */
size_t asf__wide_span(struct asf_cios *c, mbstate_t *state, size_t n);
/* asf__named_conversion: make the stream a wide one in the character set of
 * fopen's ",ccs="; false (EINVAL) when libc has none of that name. */
bool asf__named_conversion(struct asf_cios *c, const char *charset);

/* --- buffers and modes (wide_buffer.c) -------------------------------------- */

int asf__orient(FILE *f, int mode); /* libc's fwide; it takes the lock */
/* asf__wide_free_buffer: free the buffer of characters and the characters that were pushed back. */
void asf__wide_free_buffer(struct asf_cios *c);
/* asf__wide_to_read: end output.  returns  EOF when that fails.
 * asf__wide_to_write: end input of a stream that may be written. */
int asf__wide_to_read(struct asf_cios *c);
void asf__wide_to_write(struct asf_cios *c);
/* As asf__set_read and asf__set_write, for the windows of characters. */
static inline void asf__wide_set_read(struct asf_wide *w, wchar_t *base, wchar_t *p, wchar_t *end) {
    w->read_base = base;
    w->read_ptr = p;
    w->read_end = end;
}

static inline void asf__wide_set_write(struct asf_wide *w, wchar_t *p) {
    w->write_base = w->write_ptr = w->write_end = p;
}

/* --- characters ---------------------------------------------------------------- */

/* asf__wide_error: as asf__error; returns WEOF. */
static inline wint_t asf__wide_error(struct asf_cios *c, int code) {
    asf__error(c, code);
    return WEOF;
}

/* asf__wide_underflow: return the next character, which stays unread.
 * asf__wide_uflow: take and return the next character.  Both return WEOF at the end or on an error. */
wint_t asf__wide_underflow(struct asf_cios *c);
wint_t asf__wide_uflow(struct asf_cios *c);
wint_t asf__wide_pushback(struct asf_cios *c, wint_t ch);
/* asf__wide_overflow: put one character; WEOF: flush. */
wint_t asf__wide_overflow(struct asf_cios *c, wint_t ch);
size_t asf__wide_put(struct asf_cios *c, const wchar_t *p, size_t n);
/* asf__wide_has_output: whether there is output: characters, or bytes of the ASI.
 * asf__wide_to_bytes: to_bytes of struct asf_hooks. */
static inline bool asf__wide_has_output(const struct asf_cios *c) {
    return asf__wide_pending(c) > 0 || (asf__is_putting(c) && (asf__pending(c) > 0 || c->queue));
}
int asf__wide_to_bytes(struct asf_cios *c);
/* asf__wide_reader_to_bytes: empty the window of characters, and set the bytes back to the first character
 * that was not read. */
void asf__wide_reader_to_bytes(struct asf_cios *c);

int asf__wide_sync(struct asf_cios *c);
off64_t asf__wide_seek(struct asf_cios *c, off64_t offset, int whence);

/* The lock biased to this thread: see asf__try_biased_lock. */
static inline bool asf__try_biased_wide_lock(struct asf_cios *c) {
    return asf__is_own_object(c) && !asf__counting && !(c->flags & ASF_USER_LOCK) &&
           __atomic_load_n(&c->lk.holder, __ATOMIC_RELAXED) == asf__self() && asf__bias_enter(&c->lk);
}

#pragma GCC visibility pop

#endif
