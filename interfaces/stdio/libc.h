/* SPDX-License-Identifier: MIT
 *
 * libc.h - the parts of stdio that depend on the libc: only this header knows which libc it is.  glibc/ and
 * musl/ each define:
 *
 *   asf__ours              whether a FILE is a stream of ours that is served as a byte stream
 *   asf__ours_wide         whether a FILE is a wide stream of ours, with buffers of characters
 *   asf__is_own_object     whether the object, and so its lock, is this library's; else libc made the FILE
 *   asf__other_...         a call on another FILE or a wide stream
 *   asf__remove_bias       make the lock one that libc's own code can take
 *   asf__free_line         free what fgetln left with the stream
 *   asf__scan_flag         whether a flag of scanf changes nothing
 *   asf__offset_in, asf__set_offset_in, asf__state_in
 *                          the parts of an fpos_t
 *   asf__stdin, asf__stdout, asf__stderr, ASF_STANDARD_LIBC_MEMBERS, ASF_STANDARD_VISIBILITY
 *                          the objects of the standard streams, what libc reads in them, and their visibility
 *   asf__link_sentinel, asf__byte_stream_vtable, asf__wide_stream_vtable
 *                          called at the start; the values of `vtable` that mark our streams
 *   asf__find_byte         the faster of memchr and ours
 *   ASF_LIBC(name)         whether libc does as libc_differences.def says
 *
 * and the functions asf__libc_NAME, which call libc's own code.
 */
#ifndef ASF_INTERFACES_STDIO_LIBC_H
#define ASF_INTERFACES_STDIO_LIBC_H

#ifdef __GLIBC__
#include "interfaces/stdio/glibc/glibc_face.h"
#include "interfaces/stdio/glibc/wide/wide.h"
#else
#include "interfaces/stdio/musl/musl_face.h"
#endif

#endif
