/* SPDX-License-Identifier: MIT
 *
 * decimal.c - doubles as text and back.
 * Layer: lib.  May include: lib.
 */
#define _GNU_SOURCE
#include "lib/decimal.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The locale in which a decimal point is a point; made once, kept for good. */
static locale_t plain(void) {
    static locale_t made;
    locale_t have = __atomic_load_n(&made, __ATOMIC_ACQUIRE), none = (locale_t)0;
    if (have)
        return have;
    have = newlocale(LC_ALL_MASK, "C", none);
    if (__atomic_compare_exchange_n(&made, &none, have, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return have;
    freelocale(have);
    return none;
}

/* Whole numbers, which most arrays are made of. */
static size_t put_whole(char *to, double value) {
    char digits[ASF_DECIMAL];
    size_t n = 0, at = 0;
    uint64_t rest = (uint64_t)(value < 0 ? -value : value);
    do
        digits[n++] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (signbit(value))
        to[at++] = '-';
    while (n > 0)
        to[at++] = digits[--n];
    to[at] = '\0';
    return at;
}

static size_t put_nan(char *to, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    unsigned long long payload = bits & ((UINT64_C(1) << 51) - 1);
    const char *sign = bits >> 63 ? "-" : "";
    return (size_t)(payload ? snprintf(to, ASF_DECIMAL, "%snan(0x%llx)", sign, payload)
                            : snprintf(to, ASF_DECIMAL, "%snan", sign));
}

/* Fifteen digits are kept by every normal double, and %g leaves zeros out: if
 * they are read as this value there is no shorter way to write it. */
static size_t put_digits(char *to, double value) {
    int saved = errno;
    locale_t theirs = uselocale(plain());
    int n = 0, digits = fabs(value) < 2.3e-308 ? 1 : 15;
    do
        n = snprintf(to, ASF_DECIMAL, "%.*g", digits, value);
    while (++digits <= 17 && strtod(to, NULL) != value);
    uselocale(theirs);
    errno = saved;
    return (size_t)n;
}

size_t asf__put_double(char *to, double value) {
    if (isnan(value))
        return put_nan(to, value);
    if (fabs(value) < 1e15 && value == (double)(int64_t)value)
        return put_whole(to, value);
    return put_digits(to, value);
}

int asf__get_double(const char *word, double *value) {
    char *end;
    int saved = errno;
    errno = 0;
    *value = strtod_l(word, &end, plain());
    bool huge = errno == ERANGE && isinf(*value);
    errno = saved;
    if (end == word || *end != '\0' || isspace((unsigned char)word[0]))
        return -EBADMSG;
    return huge ? -ERANGE : 0;
}
