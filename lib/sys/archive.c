/* SPDX-License-Identifier: MIT
 *
 * archive.c - the only source that is in the archives and not in the shared libraries.
 */
#include "lib/sys/archive.h"

const char asf__in_archive[1] = {1};
