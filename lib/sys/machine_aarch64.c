/* SPDX-License-Identifier: MIT
 *
 * machine_aarch64.c - see machine.h.
 * Layer: lib.  May include: lib.
 */
#include "lib/sys/machine.h"

ptrdiff_t asf__descriptor;
_Alignas(64) uint64_t asf__tick;
