/* SPDX-License-Identifier: MIT
 *
 * check.h - the invariants of a CIOS, asserted on entry and exit of public calls in
 * builds without NDEBUG.  Lock: held.
 */
#ifndef ASF_BACKPLANE_CHECK_H
#define ASF_BACKPLANE_CHECK_H

#include "backplane/cios.h"

#pragma GCC visibility push(hidden)

#ifdef NDEBUG
static inline void asf__check(const struct asf_cios *c) {
    (void)c;
}
#else
void asf__check(const struct asf_cios *c);
#endif

#pragma GCC visibility pop

#endif
