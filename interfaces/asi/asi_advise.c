/* SPDX-License-Identifier: MIT
 *
 * asi_advise.c - a program tells how it is going to read a stream.
 * Layer: interfaces.  May include: backplane, lib, include/asf, streams/streams.h.
 */
#define _GNU_SOURCE
#include "backplane/check.h"
#include "streams/streams.h"

int asf_advise(struct asf_cios *c, enum asf_advice advice) {
    asf__lock(&c->lk);
    asf__check(c);
    int rc = asf__advise(c, advice);
    asf__check(c);
    asf__unlock(&c->lk);
    return rc;
}
