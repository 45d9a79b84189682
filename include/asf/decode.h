/* SPDX-License-Identifier: MIT
 *
 * decode.h - streams of decoded bytes over streams of compressed ones.
 *
 * A decoder (libasf_zstd, libasf_gzip, libasf_lz4, libasf_xz, or the program's own) decodes compressed
 * bytes and does not use streams.  The library makes a stream that reads another one through it.
 * After the first 256 KB it decodes in its own thread, a few blocks ahead of the program.
 *
 * Successive frames or members form one stream, as for the formats' own tools.
 */
#ifndef ASF_DECODE_H
#define ASF_DECODE_H

#include <stdbool.h>
#include <stdint.h>

#include <asf/asf.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASF_DECODER_VERSION 1

/* Input and output of one call of a decoder, which advances the pointers and lowers the sizes. */
struct asf_decoding {
    const char *in; /* compressed bytes; in_size may be 0 */
    size_t in_size;
    char *out; /* room for decoded bytes; out_size is not 0 */
    size_t out_size;
    bool last; /* no input follows these bytes */
};

/* A frame, or member, of a compressed file, which `frame` measures in steps. */
struct asf_frame {
    int64_t length;  /* the bytes of the frame measured so far; at the end, its length */
    int64_t decoded; /* at the end: how many bytes it decodes to; -1: not stated */
    int64_t most;    /* not 0: the first bytes identify a frame of at most this many bytes */
    uint64_t state;  /* the decoder's own */
};

/* The functions of a decoder.  For one state, one thread at a time calls them, not always the
 * same thread.  They must not call the library's functions. */
struct asf_decoder {
    size_t size; /* sizeof(struct asf_decoder), as compiled; in version 0.2 the struct ends before `frame` */
    unsigned version; /* ASF_DECODER_VERSION */
    const char *name; /* name of the format, as asf_module_why shows it */

    /* begin: make a state.  returns  the state of a new stream; NULL: no memory. */
    void *(*begin)(void);
    /* decode: decode until the input or the room is used up.  It is called again with the rest of the
     * input, and without input as long as the room was used up.
     * returns  1: between two frames or after the last one, where the input may end; 0: within
     *          a frame; -EBADMSG: the input is damaged, or of another format; -ENOMEM: no
     *          memory, or the input asks for more than a decoder should use. */
    int (*decode)(void *state, struct asf_decoding *d);
    /* end: free the state. */
    void (*end)(void *state);
    /* frame: measure a frame without decoding it.  NULL: the format does not state where frames end.
     *   f      all 0 at the first call; the same at each further one
     *   bytes  the file's bytes from f->length in the frame on: 64, or fewer at the end of the file
     * returns  1: f->length is the frame's length; 0: f->length has grown: call again with the bytes
     *          there; -ENOTSUP: the frame does not state its length; -EBADMSG: the bytes are not a frame. */
    int (*frame)(struct asf_frame *f, const unsigned char *bytes, size_t n);
};

/* asf_decode: make a stream of the decoded bytes of another stream, if that is compressed.
 *   stream   opened for reading; its next bytes determine the format (zstd, a skippable frame of
 *            zstd, gzip, lz4, also of "lz4 -l", or xz), whose library is loaded
 *   error    where to put 0 or a negated errno value; may be NULL.  -ENOTSUP: the stream is compressed,
 *            and libasf_zstd, libasf_gzip, libasf_lz4 or libasf_xz is not installed, or
 *            the program is statically linked; -ENOMEM; errors of reading
 * returns  a stream to read, or `stream` itself if it has none of the formats; NULL on an
 *          error: the caller still owns `stream`, and no byte of it was consumed.
 * reading  each of these errors comes after all bytes before it have been read:
 *          -EBADMSG: the input is damaged, or other bytes follow it (zero
 *          bytes after gzip's last member are skipped); -EIO: it ends within a frame, or
 *          is a file that was truncated meanwhile; -ENOMEM: its header asks for more than 128 MB
 *          (zstd, as the tool) or 256 MB (xz) of memory.  A seek fails with -ESPIPE.
 * lifetime until sclose, which also closes `stream`; the program must not use `stream`.
 * threads  as for any stream.  The decoding thread blocks all signals and reads no stream:
 *          the calling thread reads `stream`.  The decoding thread has ended when sclose returns.
 * fork     if no decoding thread had been started, the child continues at the stream's offset.  Otherwise it
 *          reads the rest of the current block and then gets -ECANCELED.
 * source   an extension. */
ASF_EXPORT struct asf_cios *asf_decode(struct asf_cios *stream, int *error);

/* asf_decode_with: the same with a given decoder, without examining the bytes.
 *   decoder  must not change until the stream is closed
 *   error    -EINVAL: a size or version that this library does not know, or a function is
 *            missing; -EBADF: `stream` is not open for reading; -ENOMEM
 * source   an extension. */
ASF_EXPORT struct asf_cios *asf_decode_with(struct asf_cios *stream, const struct asf_decoder *decoder,
                                            int *error);

/* The decoders, each in its own library (libasf_zstd, ...), for a program that is linked with it.
 * source   an extension. */
ASF_EXPORT const struct asf_decoder *asf_decoder_zstd(void);
ASF_EXPORT const struct asf_decoder *asf_decoder_gzip(void);
ASF_EXPORT const struct asf_decoder *asf_decoder_lz4(void);
ASF_EXPORT const struct asf_decoder *asf_decoder_xz(void);

#ifdef __cplusplus
}
#endif
#endif
