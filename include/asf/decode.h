/* SPDX-License-Identifier: MIT
 *
 * decode.h - streams of decoded bytes over streams of compressed ones.
 *
 * A decoder (libasf_zstd, libasf_gzip, libasf_lz4, libasf_xz, or the program's own) turns
 * compressed bytes into plain ones and knows no stream.  The library stacks it over a stream,
 * and after the first 256 KB decodes in a thread of its own, a few blocks ahead of the program.
 *
 * Frames and members that follow one another are one stream, as for the formats' own tools.
 */
#ifndef ASF_DECODE_H
#define ASF_DECODE_H

#include <stdbool.h>

#include <asf/asf.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASF_DECODER_VERSION 1

/* What one call of a decoder works on; it moves the pointers and lowers the sizes. */
struct asf_decoding {
    const char *in; /* compressed bytes; in_size may be 0 */
    size_t in_size;
    char *out; /* room for decoded ones; out_size is not 0 */
    size_t out_size;
    bool last; /* no input follows what is here */
};

/* The functions of a decoder.  Those of one state are called by one thread at a time, not
 * always the same one; none may call a function of the library. */
struct asf_decoder {
    size_t size;      /* sizeof(struct asf_decoder), as compiled */
    unsigned version; /* ASF_DECODER_VERSION */
    const char *name; /* of the format, as asf_module_why shows it */

    /* begin: returns  the state of a new stream; NULL: memory is short. */
    void *(*begin)(void);
    /* decode: decode until the input is used up or the room is.  It is called again with the
     * rest of the input, and, until some room is left, without any.
     * returns  1: between two frames or behind the last one, where the input may end; 0: within
     *          a frame; -EBADMSG: the input is damaged, or of another format; -ENOMEM: memory
     *          is short, or the input wants more than a decoder should take. */
    int (*decode)(void *state, struct asf_decoding *d);
    /* end: release the state. */
    void (*end)(void *state);
};

/* asf_decode: a stream of what another one has, decoded, if that is compressed.
 *   stream   opened for reading; its next bytes tell the format (zstd, a skippable frame of
 *            zstd, gzip, lz4, also of "lz4 -l", or xz), whose library is loaded
 *   error    where to put 0 or a negated errno value; may be NULL.  -ENOTSUP: it is compressed,
 *            and libasf_zstd, libasf_gzip, libasf_lz4 or libasf_xz is not installed, or
 *            the program is statically linked; -ENOMEM; what reading fails with
 * returns  a stream to read, or `stream` itself when it is in none of the formats; NULL on an
 *          error: then the stream is still the caller's, and nothing of it has been taken.
 * reading  fails with -EBADMSG when the input is damaged, or something else follows it (zero
 *          bytes behind gzip's last member are passed over); -EIO when it ends within a frame, or
 *          is a file that was truncated meanwhile; -ENOMEM when its header asks for more than 128 MB
 *          (zstd, as the tool) or 256 MB (xz) of memory: each once all that comes before has been
 *          read.  A seek fails with -ESPIPE.
 * lifetime until sclose, which closes `stream` as well; the program leaves that alone.
 * threads  as for any stream.  The thread that decodes blocks all signals, and reads nothing:
 *          `stream` is read by the thread that calls.  It has ended when sclose returns.
 * fork     a child goes on where the stream stood if no such thread had been started; else it
 *          reads the rest of the current block and then gets -ECANCELED.
 * source   an extension. */
ASF_EXPORT struct asf_cios *asf_decode(struct asf_cios *stream, int *error);

/* asf_decode_with: the same by a given decoder, whatever the bytes are.
 *   decoder  must not change until the stream is closed
 *   error    -EINVAL: a size or version that this library does not know, or a function is
 *            missing; -EBADF: `stream` is not open for reading; -ENOMEM
 * source   an extension. */
ASF_EXPORT struct asf_cios *asf_decode_with(struct asf_cios *stream, const struct asf_decoder *decoder,
                                            int *error);

/* The decoders, each in the library of its name (libasf_zstd, ...), for a program that is linked
 * with it.
 * source   an extension. */
ASF_EXPORT const struct asf_decoder *asf_decoder_zstd(void);
ASF_EXPORT const struct asf_decoder *asf_decoder_gzip(void);
ASF_EXPORT const struct asf_decoder *asf_decoder_lz4(void);
ASF_EXPORT const struct asf_decoder *asf_decoder_xz(void);

#ifdef __cplusplus
}
#endif
#endif
