/* SPDX-License-Identifier: MIT
 *
 * decode.h - find a decoder by the first bytes of the input; and the module that decodes.
 */
#ifndef ASF_STREAMS_DECODE_H
#define ASF_STREAMS_DECODE_H

#include <asf/decode.h>

#include "streams/modules.h"

#pragma GCC visibility push(hidden)

/* asf__stack_decoder: make c a stream of the decoded bytes of `below`.  If c has no descriptor, closing c
 * closes `below`; else the two share c's descriptor.  returns  0 or -ENOMEM. */
int asf__stack_decoder(struct asf_cios *c, const struct asf_decoder *decoder, struct asf_cios *below);

/* asf__look_for_format: called at the end of `attach` if the option "decompress" is set: a listed,
 * read-only stream of compressed bytes becomes a decoding one.  A file is examined at once, a pipe or
 * socket when its first bytes are read. */
void asf__look_for_format(struct asf_cios *c);

#pragma GCC visibility pop

#endif
