/* SPDX-License-Identifier: MIT
 *
 * machine_aarch64.c - see machine.h.
 */
#include "lib/sys/machine.h"

ptrdiff_t asf__descriptor;
_Alignas(64) uint64_t asf__tick;
