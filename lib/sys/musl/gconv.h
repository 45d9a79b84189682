/* SPDX-License-Identifier: MIT
 *
 * gconv.h - the state of a conversion in glibc's FILE.  On musl nothing converts.
 */
#ifndef ASF_LIB_SYS_MUSL_GCONV_H
#define ASF_LIB_SYS_MUSL_GCONV_H

#include <wchar.h>

struct __gconv_step_data {
    unsigned char *out, *out_end;
    int flags, calls, internal;
    mbstate_t *at, state;
};

#endif
