/* SPDX-License-Identifier: MIT
 *
 * version.h - the version of this library, if a process has two of them.
 */
#ifndef ASF_LIB_VERSION_H
#define ASF_LIB_VERSION_H

/* asf__own_version: returns this library's version.  asf_version itself may be another library's, the
 * first of the process: a preloaded libasf_stdio comes before a libasf that the program is linked with. */
__attribute__((visibility("hidden"))) const char *asf__own_version(void);

#endif
