/* SPDX-License-Identifier: MIT
 *
 * locked.h - defines the calls of the ASI that lock the stream and then call their u_ form.
 */
#ifndef ASF_INTERFACES_ASI_LOCKED_H
#define ASF_INTERFACES_ASI_LOCKED_H

#include "backplane/window.h"

/* LOCKED: defines asf_NAME, which evaluates `call` with the stream `c` locked.
 *   params  in parentheses; the first is `struct asf_cios *c` */
#define LOCKED(type, name, params, call)                                                                     \
    type asf_##name params {                                                                                 \
        asf__begin_call(c);                                                                                  \
        type result = call;                                                                                  \
        asf__end_call(c);                                                                                    \
        return result;                                                                                       \
    }

#endif
