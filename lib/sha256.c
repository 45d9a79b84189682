/* SPDX-License-Identifier: MIT
 *
 * sha256.c - SHA-256 as FIPS 180-4 writes it, section by section.
 * Layer: lib.  May include: lib.
 */
#include "lib/sha256.h"

#include <stdint.h>
#include <string.h>

enum { BLOCK = 64, ROUNDS = 64 };

/* Section 4.2.2. */
static const uint32_t K[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turn(uint32_t x, int n) {
    return x >> n | x << (32 - n);
}

static uint32_t load(const unsigned char *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void store(unsigned char *p, uint64_t value, int bytes) {
    for (int i = bytes - 1; i >= 0; i--, value >>= 8)
        p[i] = (unsigned char)value;
}

/* Section 6.2.2, step 1. */
static void schedule(uint32_t w[ROUNDS], const unsigned char *block) {
    for (int t = 0; t < 16; t++)
        w[t] = load(block + 4 * t);
    for (int t = 16; t < ROUNDS; t++) {
        uint32_t s0 = turn(w[t - 15], 7) ^ turn(w[t - 15], 18) ^ w[t - 15] >> 3;
        uint32_t s1 = turn(w[t - 2], 17) ^ turn(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = s1 + w[t - 7] + s0 + w[t - 16];
    }
}

/* Section 6.2.2, step 3: what is a for one round is b for the next, and so on,
 * so eight rounds turn the names once round. */
#define ROUND(a, b, c, d, e, f, g, h, t)                                                                     \
    do {                                                                                                     \
        uint32_t t1 =                                                                                        \
            (h) + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + (((e) & (f)) ^ (~(e) & (g))) + K[t] + w[t];     \
        (d) += t1;                                                                                           \
        (h) = t1 + (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + (((a) & (b)) ^ ((a) & (c)) ^ ((b) & (c)));     \
    } while (0)

/* Section 6.2.2, steps 2 to 4. */
static void mix(uint32_t state[8], const unsigned char *block) {
    uint32_t w[ROUNDS], a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    schedule(w, block);
    for (int t = 0; t < ROUNDS; t += 8) {
        ROUND(a, b, c, d, e, f, g, h, t);
        ROUND(h, a, b, c, d, e, f, g, t + 1);
        ROUND(g, h, a, b, c, d, e, f, t + 2);
        ROUND(f, g, h, a, b, c, d, e, t + 3);
        ROUND(e, f, g, h, a, b, c, d, t + 4);
        ROUND(d, e, f, g, h, a, b, c, t + 5);
        ROUND(c, d, e, f, g, h, a, b, t + 6);
        ROUND(b, c, d, e, f, g, h, a, t + 7);
    }
    const uint32_t mixed[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; i++)
        state[i] += mixed[i];
}

void asf__sha256(const void *data, size_t n, unsigned char digest[32]) {
    uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}; /* section 5.3.3 */
    unsigned char last[2 * BLOCK] = {0};
    const unsigned char *p = data;
    size_t whole = n / BLOCK * BLOCK, rest = n - whole;
    for (size_t i = 0; i < whole; i += BLOCK)
        mix(h, p + i);
    if (rest > 0)
        memcpy(last, p + whole, rest);
    last[rest] = 0x80; /* section 5.1.1 */
    size_t end = rest + 9 <= BLOCK ? BLOCK : 2 * BLOCK;
    store(last + end - 8, (uint64_t)n * 8, 8);
    for (size_t i = 0; i < end; i += BLOCK)
        mix(h, last + i);
    for (int i = 0; i < 8; i++)
        store(digest + 4 * i, h[i], 4);
}
