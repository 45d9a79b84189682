/* SPDX-License-Identifier: MIT
 *
 * version.h - which library this is, where a process has two of them.
 */
#ifndef ASF_LIB_VERSION_H
#define ASF_LIB_VERSION_H

/* asf__own_version: asf_version of this library.  asf_version itself is that of the first library of the
 * process, as a preloaded libasf_stdio before a libasf that the program is linked with. */
__attribute__((visibility("hidden"))) const char *asf__own_version(void);

#endif
