/* SPDX-License-Identifier: MIT
 *
 * record_why.c - the text of the thread's last failure.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "interfaces/record/record_format.h"

static __thread char why[256];

int asf__record_fail(int code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    return code;
}

int asf__record_no_memory(const char *what) {
    return asf__record_fail(-ENOMEM, "there is no memory %s", what);
}

const char *asf_record_why(void) {
    return why[0] ? why : "nothing has failed";
}
