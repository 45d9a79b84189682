/* SPDX-License-Identifier: MIT
 *
 * pushback.h - bytes pushed back by ungetc.  Lock: held.
 */
#ifndef ASF_BACKPLANE_PUSHBACK_H
#define ASF_BACKPLANE_PUSHBACK_H

#include "backplane/cios.h"

#pragma GCC visibility push(hidden)

/* asf__push_back: returns the byte, or -ENOMEM.  asf__push_back_one: the same without memory: one byte has
 * room in the stream.  asf__free_backup: forget such bytes. */
int asf__push_back(struct asf_cios *c, int byte);
int asf__push_back_one(struct asf_cios *c, int byte);
void asf__free_backup(struct asf_cios *c);

#pragma GCC visibility pop

#endif
