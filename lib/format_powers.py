#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# format_powers.py - prints format_powers.h: the powers of ten that printf's %e
# and %g multiply by.  Run it as lib/format_powers.py >lib/format_powers.h; a
# test compares the two.
STEP, FIRST, LAST = 27, -12, 12  # 10^(27*-12) to 10^(27*12), and 10^0 to 10^26 between
HEADER = """/* SPDX-License-Identifier: MIT
 *
 * format_powers.h - powers of ten for format_decimal.c; made by
 * format_powers.py.  A power is its leading bits, cut off and not rounded, the
 * first of them a 1.
 * Layer: lib.  May include: lib.
 */
#ifndef ASF_LIB_FORMAT_POWERS_H
#define ASF_LIB_FORMAT_POWERS_H

#include <stdint.h>

enum { POWER_STEP = %d, POWER_FIRST = %d };
"""


def leading_bits(exponent, bits):
    """The first bits of 10^exponent."""
    power = 10 ** abs(exponent)
    if exponent < 0:
        quotient = (1 << (power.bit_length() + bits)) // power
        return quotient >> (quotient.bit_length() - bits)
    return (power << bits) >> power.bit_length()


def main():
    print(HEADER % (STEP, FIRST))
    print("/* 10^(POWER_STEP * (i + POWER_FIRST)): 128 bits, the upper half first. */")
    print("static const uint64_t coarse_powers[][2] = {")
    for i in range(FIRST, LAST + 1):
        power = leading_bits(STEP * i, 128)
        print(f"    {{0x{power >> 64:016x}, 0x{power & (1 << 64) - 1:016x}}}, /* 10^{STEP * i} */")
    print("};\n\n/* 10^i: 64 bits hold them. */")
    print("static const uint64_t fine_powers[] = {")
    for i in range(STEP):
        print(f"    0x{leading_bits(i, 64):016x}, /* 10^{i} */")
    print("};\n\n#endif")


main()
