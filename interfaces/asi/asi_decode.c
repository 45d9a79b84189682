/* SPDX-License-Identifier: MIT
 *
 * asi_decode.c - the functions of <asf/decode.h>, which stack a decoder over a stream.
 */
#define _GNU_SOURCE
#include <errno.h>

#include <asf/decode.h>

#include "backplane/window.h"
#include "streams/streams.h"

static struct asf_cios *result(struct asf_cios *c, int rc, int *error) {
    if (error)
        *error = rc;
    return rc < 0 ? NULL : c;
}

static struct asf_cios *stack(struct asf_cios *below, const struct asf_decoder *decoder, int *error) {
    struct asf_cios *c = asf__open_decoded(decoder, below);
    if (c)
        asf__cios_link(c);
    return result(c, c ? 0 : -ENOMEM, error);
}

struct asf_cios *asf_decode_with(struct asf_cios *below, const struct asf_decoder *decoder, int *error) {
    if (!asf__is_decoder(decoder))
        return result(NULL, -EINVAL, error);
    if (below->flags & ASF_NO_READS)
        return result(NULL, -EBADF, error);
    return stack(below, decoder, error);
}

struct asf_cios *asf_decode(struct asf_cios *below, int *error) {
    const struct asf_decoder *decoder = NULL;
    asf__begin_call(below);
    int rc = asf__find_decoder(below, &decoder);
    asf__end_call(below);
    return rc < 0 || !decoder ? result(below, rc, error) : stack(below, decoder, error);
}
