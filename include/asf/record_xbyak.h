/* SPDX-License-Identifier: MIT
 *
 * record_xbyak.h - conversions by machine code made with xbyak.  It is in its own library,
 * libasf_xbyak (-lasf_xbyak), which is built where xbyak is installed; no other library of asf needs
 * it.
 */
#ifndef ASF_RECORD_XBYAK_H
#define ASF_RECORD_XBYAK_H

#include <asf/record_generator.h>

#ifdef __cplusplus
extern "C" {
#endif

/* asf_record_generate_xbyak: make code for the conversions that are planned from now on.  If memory
 * cannot be made executable, or the CPU has no SSSE3, they are done without generated code.
 * returns  0. */
ASF_EXPORT int asf_record_generate_xbyak(void);

#ifdef __cplusplus
}
#endif
#endif
