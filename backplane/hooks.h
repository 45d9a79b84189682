/* SPDX-License-Identifier: MIT
 *
 * hooks.h - functions by which an interface that is not linked into every library is told of stream events.
 */
#ifndef ASF_BACKPLANE_HOOKS_H
#define ASF_BACKPLANE_HOOKS_H

#include "backplane/cios.h"

#pragma GCC visibility push(hidden)

/* linked: called when a stream enters the list.  joined: when the program asks for a stream's ASI.
 * closing: before a stream's descriptor is closed (lock: held).  forked: in the child of a fork.
 * to_bytes: called when bytes of a wide stream are to be used: convert pending characters, and set input to
 * the next character that was not taken (lock: held).
 * NULL: no interface needs the call. */
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
