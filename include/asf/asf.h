/* SPDX-License-Identifier: MIT
 *
 * asf.h - the Alloc Stream Interface (ASI).
 *
 * The interface of Krieger, Stumm and Unrau, "The Alloc Stream Facility: A
 * Redesign of Application-Level Stream I/O" (1994), Figure 2, modeled after
 * malloc and free: salloc hands out a region of the stream's own buffer and
 * moves the stream offset past it, sfree gives the region back.  Nothing is
 * copied between library and program.
 *
 * Every call is exported with the prefix asf_ (asf_salloc, ...).  This header
 * also spells them as the paper does (salloc, ...), by macros: in C, unless
 * ASF_NO_SHORT_NAMES is defined before it is included; in C++ if ASF_SHORT_NAMES is.
 *
 * Lengths and offsets are 64 bits wide.  Errors are returned directly, never
 * through errno: a call that returns int gives 0 or a negated errno value
 * (-EBADF); a call that returns a pointer gives NULL and puts the negated
 * errno value into the length.
 *
 * Thread safety: every call may be made from any thread.  The calls whose
 * names start with u_ expect the caller to hold the stream's lock (see
 * asf_lockAsfStream), all others take it themselves: for the few instructions
 * that change the stream's state, and while one waits for more input or for
 * output to be written.  The program reads and writes its regions with the
 * stream unlocked.
 */
#ifndef ASF_ASF_H
#define ASF_ASF_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ASF_EXPORT
#define ASF_EXPORT __attribute__((visibility("default")))
#endif

/* A stream: the client I/O state (CIOS) of the paper.  One object serves all
 * interfaces, so that it is also what a FILE * of libasf_stdio points to. */
struct asf_cios;

/* What becomes of a region that has not been given back:
 *   exit                    of output, what lies before it and what was completed after it
 *                           is written; the region counts as not written
 *   _exit, exec, a signal   nothing is written that was not flushed
 *   fork                    the child has a copy of it, and of output that is pending, as of
 *                           the buffers of stdio: flush before
 *   end or cancellation     it stays, until somebody gives it back or abandons it: regions
 *   of its thread           belong to no thread
 *   sclose                  is refused (-EBUSY)
 */

/* A stream is always in one of two modes (paper, "Alloc Stream Interface"). */
enum asf_mode { ASF_READ = 0, ASF_WRITE = 1 };

/* sopen: open a stream on a file.
 *   filename  the path, as for open()
 *   flags     O_RDONLY, O_WRONLY or O_RDWR, and any of open()'s other flags but
 *             O_DIRECT
 *   mode      permissions of a file that is created (used with O_CREAT)
 *   error     where to put 0 or a negated errno value; may be NULL.  -EINVAL:
 *             none of the three kinds of access, or O_DIRECT, which asks for
 *             sizes and alignments that streams do not keep to; -ENOMEM; and open()'s
 * returns  the stream, or NULL.  A stream opened O_RDWR starts in read mode.
 * lifetime until sclose.
 * source   paper, Figure 2. */
ASF_EXPORT struct asf_cios *asf_sopen(const char *filename, int flags, mode_t mode, int *error);

/* sopen_fd: as sopen, on a descriptor that is already open; `flags` says how
 * it was opened.  The stream owns the descriptor from now on.
 *   error    -EBADF: the descriptor is not open; -EINVAL: `flags` has none of the
 *            three kinds of access; -ENOMEM
 * returns  the stream, or NULL: then the descriptor is still the caller's.
 * source   an extension. */
ASF_EXPORT struct asf_cios *asf_sopen_fd(int fd, int flags, int *error);

/* sclose: flush and close the stream and its descriptor, free the stream.
 * returns  0, or the negated errno value of a failed write or close (the
 *          stream is gone all the same, and with it what comes after such a
 *          write), or -EBUSY while a region of the stream has not been given back:
 *          nothing is closed, and what lies before the oldest such region is written.
 * source   paper, Figure 2. */
ASF_EXPORT int asf_sclose(struct asf_cios *stream);

/* salloc: allocate the next bytes of the stream.
 *   length   in: bytes wanted, at least 1.  out: bytes in the region.
 * returns  input: a pointer to the data, which the program must not change.
 *          Fewer bytes than asked for are all that came before the end of the
 *          file, or before an error (-EIO, -EINTR, -EAGAIN of a descriptor that
 *          does not wait): the next call goes on after them, and says which.
 *          output: a pointer to `*length` bytes of space for the program to
 *          fill; what it leaves unfilled is undefined.
 *          NULL with *length == 0 at the end of file; NULL with *length < 0,
 *          a negated errno value, on an error: -EBADF when the stream was not
 *          opened for its mode, -EINVAL, -ENOMEM, -EIO and the like.  After
 *          -ENOMEM the stream is as it was.
 * lifetime the region stays valid and unchanged until its own sfree, whatever
 *          else happens on the stream; regions may be freed in any order and
 *          from any thread.  It may be longer than any buffer of the library.
 * source   paper, Figure 2 and Figure 4. */
ASF_EXPORT void *asf_salloc(struct asf_cios *stream, ssize_t *length);

/* salloc_some: as salloc, but content with what is at hand: at least one byte
 * (unless at end of file) and at most *length.  This is what a filter wants
 * that reads a pipe, where salloc would wait for all of *length.  For output
 * it is the same as salloc.
 * source   an extension; the paper's read() needs the same (Figure 5). */
ASF_EXPORT void *asf_salloc_some(struct asf_cios *stream, ssize_t *length);

/* sfree: give a region back.  For output the region's bytes are complete from
 * now on and may be written.
 *   ptr      what salloc, srealloc or sallocAt returned
 * returns  0; -EINVAL for a pointer at which no region of this stream begins; for
 *          output, the negated errno value of a write that was waiting for
 *          this region; for input, -EIO when the file was truncated under the
 *          region, be it as long again: its missing part may have read as zero bytes.
 * source   paper, Figure 2 and Figure 4. */
ASF_EXPORT int asf_sfree(struct asf_cios *stream, void *ptr);

/* sabandon: give up a region for its owner, which will not: from any thread, and when the
 * pointer is all that is known of it.  An output region counts as never allocated: its
 * bytes are left out, and what follows in sequence moves up, also to the place of one of
 * sallocAt.  An input region is given back, as by sfree.
 *   ptr      as sfree's; whoever still uses the region must not
 * returns  0; -EINVAL as sfree, -ENOMEM with nothing done; and what a write returned that
 *          waited for this region.
 * source   an extension. */
ASF_EXPORT int asf_sabandon(struct asf_cios *stream, void *ptr);

/* asf_set_bound: how much output may wait for a region that is not given back.
 *   bytes    the bound, 0 for the default: 256 MB.  At most about this much is kept in
 *            memory behind the oldest region; of regions themselves this counts their bytes
 *   wait     0: a call that needs more fails with -ENOBUFS (stdio's with ENOBUFS); else
 *            salloc, salloc_some and Salloc wait until a region is given back, which
 *            another thread must do.  The u_ forms and stdio's calls never wait
 * source   an extension. */
ASF_EXPORT void asf_set_bound(struct asf_cios *stream, size_t bytes, int wait);

/* srealloc: change the length of the region that was allocated last.
 *   newlen   in: the new length, 0 or more.  out: the length it has now.
 * returns  the region, which may have moved; its old address is then invalid.
 *          Bytes given up at its end go back to the stream: on input they are
 *          read again, on output they are not written.  On an input stream a
 *          longer region has the bytes that follow, as many as salloc would give.
 *          An output region of no bytes has an address of its own, so that it is not taken
 *          for the next one, and cannot be changed again.
 *          NULL with *newlen < 0, and the region as it was, on an error:
 *          -EBUSY when the region is not the latest of the stream, is one of no bytes, or the
 *          end of the file has been met since; -ENOMEM.  An output region is gone
 *          when what stood before it was to be written and could not be.
 * lifetime as salloc's.
 * source   paper, Figure 2. */
ASF_EXPORT void *asf_srealloc(struct asf_cios *stream, void *ptr, ssize_t *newlen);

/* sallocAt: move the stream offset as lseek() would and allocate there, with
 * nothing of another thread's coming between.
 *   whence   SEEK_SET, SEEK_CUR or SEEK_END (of output: of the file and of what is pending)
 * returns  as salloc; -ESPIPE in *length for a stream that cannot seek, and what lseek() says of
 *          a place that the file cannot have: then the stream is where it was.
 * On regular files that sopen or sopen_fd has opened, not with O_APPEND, there may be any number of
 * output regions at different places, each written where it belongs when it is given back
 * (sfree then returns that write's error); the order of writes that overlap is open.  What follows
 * such a region in sequence may wait for it, and waits for no other.  Input is read without the
 * lock, and if the stream is for input alone from a map of the file after a while.  On other
 * streams *length is -EBUSY while an output region has not been given back.
 * source   paper, Figure 2. */
ASF_EXPORT void *asf_sallocAt(struct asf_cios *stream, ssize_t *length, int64_t offset, int whence);

/* sflush: output: write all that has been sfree'd and lies before the oldest region that has
 * not.  Input: set the descriptor's offset to the stream's, when it can seek.
 * returns  0, a negated errno value, or -EBUSY when regions not yet given back
 *          keep bytes from being written (they are when these are).
 *          What a write that failed has not written is lost, as with fflush():
 *          -ENOSPC, or -EAGAIN of a descriptor that does not wait, is returned
 *          once and the bytes are not tried again; in a file that sopen has opened, not with
 *          O_APPEND, their place stays, and what follows is written after it.  What has waited after them
 *          for a region is tried by the next call, and so is all after a seek
 *          that failed, before anything was written.
 * source   paper, Figure 2. */
ASF_EXPORT int asf_sflush(struct asf_cios *stream);

/* asf_copy: move the next n bytes of one stream to another, by the cheapest way
 * that the two allow: a file is read into the output's own buffer.
 *   n        bytes; INT64_MAX for all there are
 * returns  the bytes copied, fewer than n only at the end of `in`; or a negated
 *          errno value.  When it was `out` that failed, its next call (sflush,
 *          sclose) says so once more; otherwise it was `in`, as when a signal
 *          has ended a wait for it (-EINTR).  -EINVAL for n < 0 and for a stream
 *          that is to be copied to itself.
 * threads  may be cancelled between two chunks and while it waits for input.
 * While `in` is waited for (a pipe, a terminal) nothing is left in `out`'s buffer.
 * source   an extension. */
ASF_EXPORT int64_t asf_copy(struct asf_cios *in, struct asf_cios *out, int64_t n);

/* asf_advise: tell how the stream's file will be read, so that windows, read-ahead and
 * the page cache are used accordingly.  What is read is the same, whatever was advised.
 * Four patterns, each of which replaces the one before:
 *   ASF_NORMAL      as if nothing had been advised: once 1 MB has been read in sequence,
 *                   up to 16 MB that are not in memory are asked for ahead, where the kernel
 *                   by itself does not
 *   ASF_SEQUENTIAL  the same from the first byte on
 *   ASF_RANDOM      nothing is read ahead, neither here nor by the kernel, and fills are
 *                   small, about 4 KB
 *   ASF_ONCE        as ASF_SEQUENTIAL, and what lies behind the reader and its
 *                   regions is dropped from the page cache, by 2 MB or windows, whoever
 *                   had it there; the rest of it when the stream is closed
 * and two acts:
 *   ASF_WILLNEED    the kernel begins to read what comes next, at most 64 MB
 *   ASF_DONTNEED    what the page cache has of the whole file is dropped now
 * and one that lasts, beside any pattern, advised before the stream is read:
 *   ASF_COPIED      the file is never mapped but read into memory of the stream's own, so
 *                   that regions stay as they are when somebody rewrites or truncates it
 * Pages that are written to, or mapped by another process, stay in the page cache, as with
 * posix_fadvise(); so do the windows in which there are regions of this stream.
 * Read-ahead, small fills and ASF_ONCE are of streams opened O_RDONLY; on others the
 * kernel is told and that is all.
 *   advice   one of these
 * returns  0; -EINVAL: another advice; -ESPIPE: the stream is not on a regular file
 *          (a pipe, a terminal, memory, a module of the program's own), as
 *          posix_fadvise() says of a pipe: nothing has changed and the caller may
 *          ignore it; or what fstat() or posix_fadvise() say.
 * lock     the stream's is taken.
 * source   an extension; the paper's modules for each pattern of access. */
enum asf_advice { ASF_NORMAL, ASF_SEQUENTIAL, ASF_RANDOM, ASF_WILLNEED, ASF_DONTNEED, ASF_ONCE, ASF_COPIED };
ASF_EXPORT int asf_advise(struct asf_cios *stream, enum asf_advice advice);

/* set_stream_mode: make the stream a reading or a writing one.  The offset
 * stays where it is.
 * returns  the stream, or NULL when it was not opened for that mode, its output
 *          could not be written, or an output region has not been given back, unless
 *          sallocAt or SallocAt has gone to another place since.
 * source   paper, Figure 2. */
ASF_EXPORT struct asf_cios *asf_set_stream_mode(struct asf_cios *stream, enum asf_mode mode);

/* Salloc, SallocAt: the mode-variable forms: set the mode, then allocate.  Salloc to read
 * gives -EBUSY in *length where set_stream_mode is refused for a region; SallocAt as sallocAt, and
 * the mode may have been set when it fails.
 * source   paper, Figure 2. */
ASF_EXPORT void *asf_Salloc(struct asf_cios *stream, enum asf_mode mode, ssize_t *length);
ASF_EXPORT void *asf_SallocAt(struct asf_cios *stream, enum asf_mode mode, ssize_t *length, int64_t offset,
                              int whence);

/* The unlocked forms: the same, for a caller that holds the stream's lock or
 * is the only one to use the stream.
 * source   paper, Figure 2. */
ASF_EXPORT void *asf_u_salloc(struct asf_cios *stream, ssize_t *length);
ASF_EXPORT void *asf_u_salloc_some(struct asf_cios *stream, ssize_t *length);
ASF_EXPORT int asf_u_sfree(struct asf_cios *stream, void *ptr);
ASF_EXPORT int asf_u_sabandon(struct asf_cios *stream, void *ptr);
ASF_EXPORT void *asf_u_srealloc(struct asf_cios *stream, void *ptr, ssize_t *newlen);
ASF_EXPORT void *asf_u_sallocAt(struct asf_cios *stream, ssize_t *length, int64_t offset, int whence);
ASF_EXPORT int asf_u_sflush(struct asf_cios *stream);
ASF_EXPORT void *asf_u_Salloc(struct asf_cios *stream, enum asf_mode mode, ssize_t *length);
ASF_EXPORT void *asf_u_SallocAt(struct asf_cios *stream, enum asf_mode mode, ssize_t *length, int64_t offset,
                                int whence);
ASF_EXPORT struct asf_cios *asf_u_set_stream_mode(struct asf_cios *stream, enum asf_mode mode);

/* lockAsfStream, unlockAsfStream: take and release the stream's lock, which
 * is recursive and the one that flockfile() takes on the same stream.
 * source   paper, Figure 2. */
ASF_EXPORT void asf_lockAsfStream(struct asf_cios *stream);
ASF_EXPORT void asf_unlockAsfStream(struct asf_cios *stream);

/* asf_fileno: the stream's descriptor, or -EBADF when it has none. */
ASF_EXPORT int asf_fileno(struct asf_cios *stream);

/* asf_stream, asf_file: one object, two names (paper, "Structure": "the
 * interface modules are interoperable").  A stream of ours is a FILE for the
 * functions of libasf_stdio.  asf_stream returns NULL for a FILE that libc
 * made inside itself; with libasf alone every FILE is libc's.  A wide stream may be used by
 * the ASI, too: regions are of bytes, in order with its characters.
 * With libasf_unix Unix I/O on a stream's descriptor is part of it, too: read() and
 * lseek() go on where the stream stands.  Without, the descriptor stands where the
 * stream's buffer ends, as below any stdio: sflush before such a call. */
ASF_EXPORT struct asf_cios *asf_stream(FILE *file);
ASF_EXPORT FILE *asf_file(struct asf_cios *stream);

/* asf_version: the version of the library, as "0.2.0". */
ASF_EXPORT const char *asf_version(void);

/* asf_module_name, asf_module_why: which stream module serves the stream and
 * why it was chosen, as plain words; valid until the stream is closed. */
ASF_EXPORT const char *asf_module_name(struct asf_cios *stream);
ASF_EXPORT const char *asf_module_why(struct asf_cios *stream);

#if defined(ASF_NO_SHORT_NAMES) || (defined(__cplusplus) && !defined(ASF_SHORT_NAMES))
#define ASF_PREFIXED_NAMES
#endif

#ifndef ASF_PREFIXED_NAMES
#define sopen             asf_sopen
#define sclose            asf_sclose
#define salloc            asf_salloc
#define salloc_some       asf_salloc_some
#define sfree             asf_sfree
#define sabandon          asf_sabandon
#define srealloc          asf_srealloc
#define sallocAt          asf_sallocAt
#define sflush            asf_sflush
#define set_stream_mode   asf_set_stream_mode
#define Salloc            asf_Salloc
#define SallocAt          asf_SallocAt
#define u_salloc          asf_u_salloc
#define u_salloc_some     asf_u_salloc_some
#define u_sfree           asf_u_sfree
#define u_sabandon        asf_u_sabandon
#define u_srealloc        asf_u_srealloc
#define u_sallocAt        asf_u_sallocAt
#define u_sflush          asf_u_sflush
#define u_Salloc          asf_u_Salloc
#define u_SallocAt        asf_u_SallocAt
#define u_set_stream_mode asf_u_set_stream_mode
#define lockAsfStream     asf_lockAsfStream
#define unlockAsfStream   asf_unlockAsfStream
#endif

#ifdef __cplusplus
}
#endif

#include <asf/inline.h>
#endif
