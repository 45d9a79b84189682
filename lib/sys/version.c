/* SPDX-License-Identifier: MIT
 *
 * version.c - the library's version, as the build gives it.
 */
#include "lib/sys/version.h"

#include <asf/asf.h>

#ifndef ASF_VERSION
#define ASF_VERSION "0.3.0"
#endif

const char *asf_version(void) {
    return ASF_VERSION;
}

__attribute__((alias("asf_version"))) const char *asf__own_version(void);
