/* SPDX-License-Identifier: MIT
 *
 * noted.h - cases whose notes stay in memory until the case is over, since writing one to the
 * transcript would publish every private descriptor.
 * Layer: tests.
 */
#ifndef ASF_TESTS_NOTED_H
#define ASF_TESTS_NOTED_H

#include <stdarg.h>

#include "tests/interfaces/stdio/transcript.h"

static char noted[8192];

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...) {
    va_list ap;
    size_t at = strlen(noted);
    va_start(ap, format);
    vsnprintf(noted + at, sizeof noted - at, format, ap);
    va_end(ap);
}

#define NOTE(call)                                                                                           \
    ({                                                                                                       \
        errno = 0;                                                                                           \
        long value_ = (long)(call);                                                                          \
        note("%s = %ld %s\n", #call, value_, errno ? strerrorname_np(errno) : "");                           \
    })

#define NOTED_CASE(name)                                                                                     \
    static void name##_steps(void);                                                                          \
    CASE(name) {                                                                                             \
        name##_steps();                                                                                      \
        say("%s", noted);                                                                                    \
    }                                                                                                        \
    static void name##_steps(void)

static void note_bytes(const char *bytes, int n) {
    for (int i = 0; i < n; i++)
        note("%02x", (unsigned char)bytes[i]);
    note("\n");
}

#endif
