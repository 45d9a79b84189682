#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# powers.py - prints powers.c.  Run it as lib/text/powers.py >lib/text/powers.c; a test
# compares the two.
FIRST, LAST, BITS = -342, 342, 128  # as in powers.h
HEADER = """/* SPDX-License-Identifier: MIT
 *
 * powers.c - the table of powers.h; made by powers.py.
 */
#include "lib/text/powers.h"

/* clang-format off */
const uint64_t asf__powers[ASF__POWER_LAST - ASF__POWER_FIRST + 1][2] = {"""


def leading_bits(exponent):
    """The first bits of 10^exponent."""
    power = 10 ** abs(exponent)
    if exponent < 0:
        quotient = (1 << (power.bit_length() + BITS)) // power
        return quotient >> (quotient.bit_length() - BITS)
    return (power << BITS) >> power.bit_length()


def main():
    print(HEADER)
    for exponent in range(FIRST, LAST + 1):
        power = leading_bits(exponent)
        print(f"    {{0x{power >> 64:016x}, 0x{power & (1 << 64) - 1:016x}}}, /* 10^{exponent} */")
    print("};\n/* clang-format on */")


main()
