/* SPDX-License-Identifier: MIT
 *
 * libc.h - the parts of stdio that depend on the libc: only this header knows which libc it is.  The folder
 * glibc/ or musl/ has the functions below.  Its face, included here, defines for inline use:
 *
 *   asf__ours              whether a FILE is a stream of ours that is served as a byte stream
 *   asf__is_wide           whether a FILE is a wide stream, with a buffer of characters
 *   asf__ours_wide         whether it is, and ours
 *   asf__is_own_object     whether the object, and so its lock, is this library's; else libc made the FILE
 *   asf__remove_bias       make the lock one that libc's own code can take
 *   asf__other_flush_all   flush the FILEs that libc made
 *   asf__named_conversion  make a stream wide by the character set of fopen's ",ccs="
 *   asf__wide_to_bytes     to_bytes of struct asf_hooks
 *   asf__wide_start        at the start, has the engine keep the state of wide streams behind each object
 *   asf__free_line         free what fgetln left with the stream
 *   asf__scan_flag         whether a flag of scanf changes nothing
 *   asf__offset_in, asf__set_offset_in, asf__state_in
 *                          the parts of an fpos_t
 *   asf__stdin, asf__stdout, asf__stderr, ASF_STANDARD_LIBC_MEMBERS, ASF_STANDARD_VISIBILITY
 *                          the objects of the standard streams, what libc reads in them, and their visibility
 *   asf__link_sentinel, asf__byte_stream_vtable, asf__wide_stream_vtable
 *                          called at the start; the values of `vtable` that mark our streams
 *   asf__find_byte         the faster of memchr and ours
 *   GLIBC_NAME             defines a name that only glibc has
 *   __chk_fail             end the program: a buffer overflows
 *   ASF_LIBC(name)         whether libc does as libc_differences.def says
 *
 * The folder also has the functions asf__libc_NAME of print/print.h and scan/scanf_engine.h, which call
 * libc's own code.
 */
#ifndef ASF_INTERFACES_STDIO_LIBC_H
#define ASF_INTERFACES_STDIO_LIBC_H

#include <stdio.h>
#include <wchar.h>

#include "backplane/backplane.h"

#pragma GCC visibility push(hidden)

/* --- FILEs that are not ours, or are wide ---------------------------------------------------
 *
 * Where asf__ours, asf__is_wide, asf__ours_wide and asf__is_own_object are constants, as on musl, no call of
 * these functions remains after optimization, and the libc's folder need not define them. */

/* The lock of a FILE that libc made.  pre: !asf__is_own_object.  trylock returns 0, or another value. */
void asf__other_lock(struct asf_cios *c);
void asf__other_unlock(struct asf_cios *c);
int asf__other_trylock(struct asf_cios *c);

/* Each does what the call beside it does for a byte stream of ours, and sets errno.  pre: !asf__ours; the
 * stream is locked; get, put, unget and underflow: it is not a wide stream.
 *
 *   get fread, put fwrite, put_char putc, unget ungetc, sync fflush, seek fseek, tell ftell
 *   underflow          fills an empty window: returns the first byte, which stays unread; or EOF
 *   set_buffer         makes p[0..size) the buffer; p NULL: makes the stream unbuffered.  false: it failed */
size_t asf__other_get(struct asf_cios *c, void *p, size_t n);
size_t asf__other_put(struct asf_cios *c, const void *p, size_t n);
int asf__other_put_char(struct asf_cios *c, int ch);
int asf__other_unget(struct asf_cios *c, int ch);
int asf__other_sync(struct asf_cios *c);
bool asf__other_set_buffer(struct asf_cios *c, char *p, size_t size);
int asf__other_underflow(struct asf_cios *c);
off64_t asf__other_seek(struct asf_cios *c, off64_t offset, int whence);
off64_t asf__other_tell(struct asf_cios *c);

/* setvbuf, fclose and freopen.  pre: !asf__is_own_object; the stream is not locked. */
int asf__other_setvbuf(struct asf_cios *c, char *buf, int mode, size_t size);
int asf__other_close(struct asf_cios *c);
FILE *asf__other_reopen(const char *path, const char *mode, struct asf_cios *c);

/* Wide streams.  pre: asf__ours_wide; the stream is locked.
 * asf__wide_prepare: make both buffers, of bytes and of characters, if they are missing.
 * asf__wide_flush: put all output; 0 or EOF.
 * asf__wide_close: fclose's part before the descriptor is closed; 0 or EOF.
 * asf__wide_tell: the offset, or -errno.
 * asf__wide_free_backup: free the characters that were pushed back.
 * asf__wide_width: how many bytes each character takes; 0: that varies; -1: the encoding has a state. */
void asf__wide_prepare(struct asf_cios *c);
int asf__wide_flush(struct asf_cios *c);
int asf__wide_close(struct asf_cios *c);
off64_t asf__wide_tell(struct asf_cios *c);
void asf__wide_free_backup(struct asf_cios *c);
int asf__wide_width(const struct asf_cios *c);

/* The characters of a wide stream.  pre: asf__is_wide.
 * asf__wide_pending, asf__wide_unread: how many are not written, or not read yet.
 * asf__wide_buffer_size: how many the buffer holds.
 * asf__wide_purge: drop them all.
 * asf__wide_state: the state of the conversion. */
size_t asf__wide_pending(const struct asf_cios *c);
size_t asf__wide_unread(const struct asf_cios *c);
size_t asf__wide_buffer_size(const struct asf_cios *c);
void asf__wide_purge(struct asf_cios *c);
mbstate_t *asf__wide_state(const struct asf_cios *c);

#pragma GCC visibility pop

#ifdef __GLIBC__
#include "interfaces/stdio/glibc/glibc_face.h"
#include "interfaces/stdio/glibc/wide/wide.h"
#else
#include "interfaces/stdio/musl/musl_face.h"
#endif

#endif
