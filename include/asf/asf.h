/* SPDX-License-Identifier: MIT
 *
 * asf.h - the Alloc Stream Interface (ASI).
 *
 * The interface of Krieger, Stumm and Unrau, "The Alloc Stream Facility: A Redesign of
 * Application-Level Stream I/O" (1994), Figure 2, modeled after malloc and free: salloc hands out a
 * region of the stream's own buffer and moves the stream offset past it, and sfree gives the region
 * back.  Nothing is copied between library and program.
 *
 * Every call is exported with the prefix asf_ (asf_salloc, ...).  If ASF_SHORT_NAMES is defined before
 * this header is included, it also offers the paper's names (salloc, ...), by macros.
 *
 * Lengths and offsets have 64 bits.  Errors are returned directly, never through errno: a call that
 * returns int gives 0 or a negated errno value (-EBADF); a call that returns a pointer gives NULL and
 * puts the negated errno value into the length.
 *
 * Thread safety: every call may be made from any thread.  The calls whose names start with u_ expect
 * the caller to hold the stream's lock (see asf_lockAsfStream).  The other calls take the lock
 * themselves.  They hold it for the few instructions that change the stream's state, and while they
 * wait for input or for output to be written.  The program reads and writes its regions with the stream
 * unlocked.
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

/* Marks a name of an earlier version, kept for programs of that version. */
#define ASF_RENAMED(now) __attribute__((deprecated("it is " #now " now")))

/* A stream: the client I/O state (CIOS) of the paper.  One object serves all interfaces: a FILE * of
 * libasf_stdio points to the same object. */
struct asf_cios;

/* A region that has not been given back at these events:
 *   exit                    output: everything before the region, and completed regions after it,
 *                           are written; the region itself is not
 *   _exit, exec, a signal   output that was not flushed is lost
 *   fork                    the child has a copy of the region and of pending output, as with
 *                           stdio's buffers: flush before fork.  Both have the same unread input; the
 *                           input after it may be read by both, or shared: let one of them read
 *   end or cancellation     the region stays until any thread gives it back or abandons it:
 *   of its thread           regions belong to no thread
 *   sclose                  is refused (-EBUSY)
 */

/* A stream is always in one of two modes (paper, "Alloc Stream Interface"). */
enum asf_mode { ASF_READ = 0, ASF_WRITE = 1 };

/* sopen: open a stream on a file.
 *   filename  the path, as for open()
 *   flags     O_RDONLY, O_WRONLY or O_RDWR, and any of open()'s other flags except
 *             O_DIRECT
 *   mode      permissions of a file that is created (used with O_CREAT)
 *   error     where to put 0 or a negated errno value; may be NULL.  -EINVAL:
 *             none of the three kinds of access, or O_DIRECT, which needs
 *             sizes and alignments that streams do not have; -ENOMEM; open()'s errors
 * returns  the stream, or NULL.  A stream opened O_RDWR starts in read mode.
 * lifetime until sclose.
 * source   paper, Figure 2. */
ASF_EXPORT struct asf_cios *asf_sopen(const char *filename, int flags, mode_t mode, int *error);

/* sopen_fd: open a stream on an open descriptor.  The stream owns the descriptor from now on.
 *   flags    how the descriptor was opened
 *   error    -EBADF: the descriptor is not open; -EINVAL: `flags` has none of the
 *            three kinds of access; -ENOMEM
 * returns  the stream, or NULL: then the caller still owns the descriptor.
 * source   an extension. */
ASF_EXPORT struct asf_cios *asf_sopen_fd(int fd, int flags, int *error);

/* sclose: flush and close the stream and its descriptor, free the stream.
 * returns  0; the negated errno value of a failed write or close: the stream is freed anyway, and
 *          the output after a failed write is lost; or -EBUSY while a region of the stream has not
 *          been given back: nothing is closed, and the output before the oldest such region is
 *          written.
 * source   paper, Figure 2. */
ASF_EXPORT int asf_sclose(struct asf_cios *stream);

/* salloc: allocate the next bytes of the stream.
 *   length   in: bytes wanted, at least 1.  out: bytes in the region.
 * returns  input: a pointer to the data, which the program must not change.
 *          The region has fewer bytes than wanted if the file ended after them, or an
 *          error occurred (-EIO, -EINTR, -EAGAIN of a non-blocking descriptor).
 *          The next call continues after them and returns that error or the end.
 *          output: a pointer to `*length` bytes of space for the program to
 *          fill; bytes that it does not fill are undefined.
 *          NULL with *length == 0 at the end of file; NULL with *length < 0,
 *          a negated errno value, on an error: -EBADF when the stream was not
 *          opened for its mode, -EINVAL, -ENOMEM, -EIO and the like.  After
 *          -ENOMEM the stream is unchanged.
 * lifetime the region stays valid and unchanged until its own sfree, whatever
 *          other calls the stream gets; regions may be freed in any order and
 *          from any thread.  A region may be longer than the library's buffers.
 * source   paper, Figure 2 and Figure 4. */
ASF_EXPORT void *asf_salloc(struct asf_cios *stream, ssize_t *length);

/* salloc_some: as salloc, but returns the bytes that are available: at least one (unless at end of
 * file) and at most *length.  A filter that reads a pipe needs this, since salloc would wait for all
 * of *length.  For output it is the same as salloc.
 * source   an extension; the paper's read() needs the same (Figure 5). */
ASF_EXPORT void *asf_salloc_some(struct asf_cios *stream, ssize_t *length);

/* sfree: give a region back.  The bytes of an output region are complete from now on and may be
 * written; a line-buffered or unbuffered stream writes them at once.  Output before a region in
 * use may wait for that region, too; sflush writes it.
 *   ptr      the pointer from salloc, srealloc or sallocAt
 * returns  0; -EINVAL: no region of this stream begins at the pointer; for
 *          output, the negated errno value of a write that was waiting for
 *          this region; for input, -EIO if the region maps the file, and the
 *          file was truncated under it, even if it has grown again: the missing
 *          part may have read as zero bytes.  A region that was read into memory stays complete.
 * source   paper, Figure 2 and Figure 4. */
ASF_EXPORT int asf_sfree(struct asf_cios *stream, void *ptr);

/* sabandon: give up a region that its owner will not give back.  Any thread may call; it needs only the
 * pointer.  An output region then counts as never allocated: its bytes are omitted, and the output
 * after it takes its offset, even if sallocAt chose the offset.  An input region is given back, as by
 * sfree.
 *   ptr      as sfree's; nobody may use the region any more
 * returns  0; -EINVAL as sfree; -ENOMEM: nothing was done; or the error of a write that
 *          waited for this region.
 * source   an extension. */
ASF_EXPORT int asf_sabandon(struct asf_cios *stream, void *ptr);

/* asf_set_bound: limit the output that waits for a region that is not given back.
 *   bytes    the bound, 0 for the default: 256 MB.  About this many bytes after the oldest
 *            region are kept in memory at most; a region counts as its length
 *   wait     0: a call that needs more fails with -ENOBUFS (stdio's with ENOBUFS); else
 *            salloc, salloc_some and Salloc wait until another thread gives a region
 *            back.  The u_ forms and stdio's calls never wait
 * source   an extension. */
ASF_EXPORT void asf_set_bound(struct asf_cios *stream, size_t bytes, int wait);

/* srealloc: change the length of the region that was allocated last.
 *   newlen   in: the new length, 0 or more.  out: the length that the region has now.
 * returns  the region, which may have moved; its old address is then invalid.
 *          Bytes removed at its end go back to the stream: on input they are
 *          read again, on output they are not written.  On an input stream a
 *          longer region has the bytes that follow, as many as salloc would give.
 *          An output region of no bytes has an address of its own, different from the next
 *          region's, and its length cannot be changed again.
 *          NULL with *newlen < 0, and the region unchanged, on an error:
 *          -EBUSY: the region is not the latest of the stream, has no bytes, or the
 *          end of the file has been met since; -ENOMEM.  But if output before an output
 *          region had to be written and could not be, the region is freed.
 * lifetime as salloc's.
 * source   paper, Figure 2. */
ASF_EXPORT void *asf_srealloc(struct asf_cios *stream, void *ptr, ssize_t *newlen);

/* sallocAt: move the stream offset as lseek() would and allocate there; no call of another thread
 * comes between.
 *   whence   SEEK_SET, SEEK_CUR or SEEK_END (for output: the end of the file and of pending output)
 * returns  as salloc; *length is -ESPIPE for a stream that cannot seek, or lseek()'s error for
 *          an offset that the file cannot have: then the stream has not moved.
 * On regular files that sopen or sopen_fd has opened without O_APPEND, any number of output regions at
 * different offsets may be kept.  Each is written to its offset when it is given back (sfree then
 * returns that write's error); the order of overlapping writes is undefined.  Output that follows such
 * a region in sequence may be held back until that region is given back, but not for other regions.  Input
 * is read without the lock, and output written; after some calls a read-only stream maps the file.  On other
 * streams *length is -EBUSY while an output region has not been given back.
 * source   paper, Figure 2. */
ASF_EXPORT void *asf_sallocAt(struct asf_cios *stream, ssize_t *length, int64_t offset, int whence);

/* asf_tell: return the stream's offset, as ftell() does.
 * returns  the offset of the next region that salloc would return; -ESPIPE for a stream that cannot seek, or
 *          another negated errno value.
 * lock     the stream's is taken.
 * source   an extension. */
ASF_EXPORT int64_t asf_tell(struct asf_cios *stream);

/* sflush: for output: write the completed regions that are before the oldest region that has not been
 * given back.  For input: set the descriptor's offset to the stream's, if it can seek.
 * returns  0; a negated errno value; or -EBUSY: regions not yet given back
 *          keep bytes from being written.  Bytes in a buffer that was full are written when its
 *          regions and those before it are given back, bytes in the current buffer by the next
 *          sflush, by sclose, or when the buffer is full.
 *          As with fflush(), bytes that a failed write has not written are lost:
 *          -ENOSPC, or -EAGAIN of a non-blocking descriptor, is returned
 *          once and the bytes are not written again.  In a file that sopen has opened without
 *          O_APPEND their range stays unwritten, and later output is written after it.  The next
 *          call tries to write output that waited for a region after them.  After a failed seek,
 *          which precedes any write, the next call tries to write all bytes.
 * source   paper, Figure 2. */
ASF_EXPORT int asf_sflush(struct asf_cios *stream);

/* asf_copy: copy the next n bytes of one stream to another, in the cheapest way that the two allow.  For
 * example, a file is read into the output's own buffer.
 *   n        bytes; INT64_MAX for all
 * returns  the number of bytes copied, fewer than n only at the end of `in`; or a negated
 *          errno value.  If `out` failed, its next call (sflush,
 *          sclose) returns the error again.  Otherwise `in` failed, for example because a signal
 *          ended a wait for input (-EINTR).  -EINVAL: n < 0, or `in` and `out` are
 *          the same stream.
 * threads  the thread may be cancelled between two chunks and while it waits for input.
 * While the call waits for `in` (a pipe, a terminal), `out`'s buffer is empty.
 * source   an extension. */
ASF_EXPORT int64_t asf_copy(struct asf_cios *in, struct asf_cios *out, int64_t n);

/* asf_advise: declare how the stream's file will be read, so that the library adapts its windows, its
 * read-ahead and its use of the page cache.  The bytes read are the same with any advice.  Four
 * patterns, each of which replaces the one before:
 *   ASF_NORMAL      as without any advice: after 1 MB has been read in sequence,
 *                   the library asks the kernel for up to 16 MB ahead that are not in memory, if the
 *                   kernel itself does not read them
 *   ASF_SEQUENTIAL  the same from the first byte on
 *   ASF_RANDOM      neither the library nor the kernel reads ahead, and fills are
 *                   small, about 4 KB
 *   ASF_ONCE        as ASF_SEQUENTIAL.  In addition, the library drops pages before the reader and its
 *                   regions from the page cache, even if another process has read them.  It drops them
 *                   in steps of 2 MB or a window, and the rest when the stream is closed
 * and two actions:
 *   ASF_WILLNEED    the kernel begins to read the next bytes, at most 64 MB
 *   ASF_DONTNEED    drops all pages of the file from the page cache now
 * and one setting, which may be combined with any pattern, advised before the stream is read:
 *   ASF_COPIED      the file is never mapped but read into the stream's own memory, so
 *                   that regions do not change when the file is rewritten or truncated
 * Pages that are dirty, or mapped by another process, stay in the page cache, as with posix_fadvise();
 * so do windows that contain regions of this stream.
 * Read-ahead, small fills and ASF_ONCE apply to streams opened O_RDONLY; for other streams only the
 * kernel is told.
 *   advice   one of these
 * returns  0; -EINVAL: another advice; an error of fstat() or posix_fadvise(); or -ESPIPE: the
 *          stream is not on a regular file, but on a pipe, a terminal, memory, or a module of the
 *          program.  After -ESPIPE nothing has changed, and the caller may ignore it.
 * lock     the stream's is taken.
 * source   an extension; the paper's modules for each pattern of access. */
enum asf_advice { ASF_NORMAL, ASF_SEQUENTIAL, ASF_RANDOM, ASF_WILLNEED, ASF_DONTNEED, ASF_ONCE, ASF_COPIED };
ASF_EXPORT int asf_advise(struct asf_cios *stream, enum asf_advice advice);

/* set_stream_mode: put the stream into read or write mode.  The offset does not change.
 * returns  the stream; NULL: it was not opened for that mode, its output
 *          could not be written, or an output region has not been given back.
 *          Such a region does not matter if sallocAt or SallocAt has since moved the stream
 *          to another offset.
 * source   paper, Figure 2. */
ASF_EXPORT struct asf_cios *asf_set_stream_mode(struct asf_cios *stream, enum asf_mode mode);

/* Salloc, SallocAt: the mode-variable forms: set the mode, then allocate.  Salloc for reading sets
 * *length to -EBUSY if set_stream_mode would fail because of a region.  SallocAt fails as sallocAt
 * does, and may have set the mode by then.
 * source   paper, Figure 2. */
ASF_EXPORT void *asf_Salloc(struct asf_cios *stream, enum asf_mode mode, ssize_t *length);
ASF_EXPORT void *asf_SallocAt(struct asf_cios *stream, enum asf_mode mode, ssize_t *length, int64_t offset,
                              int whence);

/* The unlocked forms: the same, for a caller that holds the stream's lock or is the only user of the
 * stream.
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

/* asf_stream, asf_file: one object, two names (paper, "Structure": "the interface modules are
 * interoperable").  A stream of this library is a FILE for the functions of libasf_stdio.  asf_stream
 * returns NULL for a FILE that libc made inside itself; with libasf alone every FILE is libc's.  The
 * ASI may also use a wide stream: regions have bytes, in order with the stream's characters.
 * With libasf_unix, Unix I/O on a stream's descriptor is joined to the stream: read() and lseek()
 * continue at the stream's offset.  Without it, the descriptor's offset is at the end of the stream's
 * buffer, as with any stdio: call sflush before such a call. */
ASF_EXPORT struct asf_cios *asf_stream(FILE *file);
ASF_EXPORT FILE *asf_file(struct asf_cios *stream);

/* asf_error_text: return the meaning of an error of the library's calls, in a sentence without a period.
 *   error    a negated errno value, as the calls return it, or an errno value
 * returns  the text, which is static and never NULL: the library's own for errors whose
 *          meaning differs from libc's text, or goes beyond it (-EBADMSG, -EBUSY, -EIO, -ESTALE, ...);
 *          otherwise libc's.
 *          0 has libc's text for success.
 * lock     none: it may be called from any thread and from signal handlers.
 * source   an extension. */
ASF_EXPORT const char *asf_error_text(int error);

/* asf_version: the version of the library, as "0.3.0". */
ASF_EXPORT const char *asf_version(void);

/* asf_module_name, asf_module_why: the name of the stream module that serves the stream, and the
 * reason for its choice in plain words; valid until the stream is closed. */
ASF_EXPORT const char *asf_module_name(struct asf_cios *stream);
ASF_EXPORT const char *asf_module_why(struct asf_cios *stream);

#ifdef ASF_SHORT_NAMES
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
