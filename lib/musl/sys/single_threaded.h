/* SPDX-License-Identifier: MIT
 *
 * single_threaded.h - musl does not tell whether a process has one thread: every lock is taken as if
 * there were more.
 */
#ifndef ASF_LIB_MUSL_SINGLE_THREADED_H
#define ASF_LIB_MUSL_SINGLE_THREADED_H

#define __libc_single_threaded 0

#endif
