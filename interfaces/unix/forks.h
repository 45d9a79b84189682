/* SPDX-License-Identifier: MIT
 *
 * forks.h - our handlers of forks.
 * Layer: interfaces.  May include: nothing.
 */
#ifndef ASF_INTERFACES_UNIX_FORKS_H
#define ASF_INTERFACES_UNIX_FORKS_H

#pragma GCC visibility push(hidden)

/* asf__heed_forks: have libc call us around each fork from now on; by whoever forks, starts
 * a thread, registers handlers or finds a way past us, and before that. */
void asf__heed_forks(void);

#pragma GCC visibility pop

#endif
