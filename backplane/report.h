/* SPDX-License-Identifier: MIT
 *
 * report.h - what the statistics tell of a stream.  Lock: held.
 */
#ifndef ASF_BACKPLANE_REPORT_H
#define ASF_BACKPLANE_REPORT_H

#include "backplane/cios.h"

#pragma GCC visibility push(hidden)

/* asf__set_name: keep the path, if the statistics want it. */
void asf__set_name(struct asf_cios *c, const char *name);
/* asf__tell_bulk: say that the stream has become bulk, if the user asks for verbose. */
void asf__tell_bulk(const struct asf_cios *c);
/* asf__module_name: what serves the stream, for people: the null device is no pipe. */
const char *asf__module_name(const struct asf_cios *c);
/* asf__forget_counts: in the child of a fork: they are the parent's. */
void asf__forget_counts(struct asf_cios *c);
/* asf__report: the stream's line; nothing if it has told the same before. */
void asf__report(struct asf_cios *c);

#pragma GCC visibility pop

#endif
