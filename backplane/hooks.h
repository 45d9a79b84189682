/* SPDX-License-Identifier: MIT
 *
 * hooks.h - what an interface that is not always there wants to know of every stream.
 */
#ifndef ASF_BACKPLANE_HOOKS_H
#define ASF_BACKPLANE_HOOKS_H

#include "backplane/cios.h"

#pragma GCC visibility push(hidden)

/* For an interface that minds descriptors: called when a stream enters the list, when the
 * program asks for its ASI, and when what lies below it is about to be closed (lock: held).
 * NULL: nobody does.
 * forked: in the child of a fork.
 * to_bytes: of the interface of wide characters: the stream is to be used as bytes: what has been
 * put in characters is converted, and input goes on at the next one that was not taken (lock: held). */
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
