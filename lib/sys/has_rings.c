/* SPDX-License-Identifier: MIT
 *
 * has_rings.c - the only source of lib that is in libasf_unix alone.
 */
#include "lib/sys/options.h"

const char asf__has_rings[1] = {1};
