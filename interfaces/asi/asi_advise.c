/* SPDX-License-Identifier: MIT
 *
 * asi_advise.c - asf_advise: the program says how it will read a stream.
 */
#define _GNU_SOURCE
#include "backplane/window.h"
#include "streams/streams.h"

int asf_advise(struct asf_cios *c, enum asf_advice advice) {
    asf__begin_call(c);
    int rc = asf__advise(c, advice);
    asf__end_call(c);
    return rc;
}
