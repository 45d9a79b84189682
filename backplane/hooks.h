/* SPDX-License-Identifier: MIT
 *
 * hooks.h - functions by which an interface that is not in every library learns of each stream.
 */
#ifndef ASF_BACKPLANE_HOOKS_H
#define ASF_BACKPLANE_HOOKS_H

#include "backplane/cios.h"

#pragma GCC visibility push(hidden)

/* linked: a stream enters the list.  joined: the program asks for its ASI.  closing: its descriptor is about
 * to be closed (lock: held).  forked: in the child of a fork.
 * to_bytes: a wide stream is to be used as bytes: convert pending characters, and set input to the next
 * character that was not taken (lock: held).
 * NULL: no interface asks. */
struct asf_hooks {
    void (*linked)(struct asf_cios *c);
    void (*joined)(struct asf_cios *c);
    void (*closing)(struct asf_cios *c);
    void (*forked)(void);
    int (*to_bytes)(struct asf_cios *c);
};
extern struct asf_hooks asf__hooks;
static inline int asf__to_bytes(struct asf_cios *c) {
    return asf__unlikely(c->gate & ASF_WIDE) ? asf__hooks.to_bytes(c) : 0;
}
static inline void asf__join(struct asf_cios *c) {
    if (asf__hooks.joined)
        asf__hooks.joined(c);
}

#pragma GCC visibility pop

#endif
