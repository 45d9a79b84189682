/* SPDX-License-Identifier: MIT
 *
 * format_powers.h - powers of ten for format_decimal.c; made by
 * format_powers.py.  A power is its leading bits, cut off and not rounded, the
 * first of them a 1.
 * Layer: lib.  May include: lib.
 */
#ifndef ASF_LIB_FORMAT_POWERS_H
#define ASF_LIB_FORMAT_POWERS_H

#include <stdint.h>

enum { POWER_STEP = 27, POWER_FIRST = -12 };

/* 10^(POWER_STEP * (i + POWER_FIRST)): 128 bits, the upper half first. */
static const uint64_t coarse_powers[][2] = {
    {0xcf42894a5dce35ea, 0x52064cac828675b9}, /* 10^-324 */
    {0xa76c582338ed2621, 0xaf2af2b80af6f24e}, /* 10^-297 */
    {0x873e4f75e2224e68, 0x5a7744a6e804a291}, /* 10^-270 */
    {0xda7f5bf590966848, 0xaf39a475506a899e}, /* 10^-243 */
    {0xb080392cc4349dec, 0xbd8d794d96aacfb3}, /* 10^-216 */
    {0x8e938662882af53e, 0x547eb47b7282ee9c}, /* 10^-189 */
    {0xe65829b3046b0afa, 0x0cb4a5a3112a5112}, /* 10^-162 */
    {0xba121a4650e4ddeb, 0x92f34d62616ce413}, /* 10^-135 */
    {0x964e858c91ba2655, 0x3a6a07f8d510f86f}, /* 10^-108 */
    {0xf2d56790ab41c2a2, 0xfae27299423fb9c3}, /* 10^-81 */
    {0xc428d05aa4751e4c, 0xaa97e14c3c26b886}, /* 10^-54 */
    {0x9e74d1b791e07e48, 0x775ea264cf55347d}, /* 10^-27 */
    {0x8000000000000000, 0x0000000000000000}, /* 10^0 */
    {0xcecb8f27f4200f3a, 0x0000000000000000}, /* 10^27 */
    {0xa70c3c40a64e6c51, 0x999090b65f67d924}, /* 10^54 */
    {0x86f0ac99b4e8dafd, 0x69a028bb3ded71a3}, /* 10^81 */
    {0xda01ee641a708de9, 0xe80e6f4820cc9495}, /* 10^108 */
    {0xb01ae745b101e9e4, 0x5ec05dcff72e7f8f}, /* 10^135 */
    {0x8e41ade9fbebc27d, 0x14588f13be847307}, /* 10^162 */
    {0xe5d3ef282a242e81, 0x8f1668c8a86da5fa}, /* 10^189 */
    {0xb9a74a0637ce2ee1, 0x6d953e2bd7173692}, /* 10^216 */
    {0x95f83d0a1fb69cd9, 0x4abdaf101564f98e}, /* 10^243 */
    {0xf24a01a73cf2dccf, 0xbc633b39673c8cec}, /* 10^270 */
    {0xc3b8358109e84f07, 0x0a862f80ec4700c8}, /* 10^297 */
    {0x9e19db92b4e31ba9, 0x6c07a2c26a8346d1}, /* 10^324 */
};

/* 10^i: 64 bits hold them. */
static const uint64_t fine_powers[] = {
    0x8000000000000000, /* 10^0 */
    0xa000000000000000, /* 10^1 */
    0xc800000000000000, /* 10^2 */
    0xfa00000000000000, /* 10^3 */
    0x9c40000000000000, /* 10^4 */
    0xc350000000000000, /* 10^5 */
    0xf424000000000000, /* 10^6 */
    0x9896800000000000, /* 10^7 */
    0xbebc200000000000, /* 10^8 */
    0xee6b280000000000, /* 10^9 */
    0x9502f90000000000, /* 10^10 */
    0xba43b74000000000, /* 10^11 */
    0xe8d4a51000000000, /* 10^12 */
    0x9184e72a00000000, /* 10^13 */
    0xb5e620f480000000, /* 10^14 */
    0xe35fa931a0000000, /* 10^15 */
    0x8e1bc9bf04000000, /* 10^16 */
    0xb1a2bc2ec5000000, /* 10^17 */
    0xde0b6b3a76400000, /* 10^18 */
    0x8ac7230489e80000, /* 10^19 */
    0xad78ebc5ac620000, /* 10^20 */
    0xd8d726b7177a8000, /* 10^21 */
    0x878678326eac9000, /* 10^22 */
    0xa968163f0a57b400, /* 10^23 */
    0xd3c21bcecceda100, /* 10^24 */
    0x84595161401484a0, /* 10^25 */
    0xa56fa5b99019a5c8, /* 10^26 */
};

#endif
