/* SPDX-License-Identifier: MIT
 *
 * startup.h - where the code stands that every process runs.
 * Layer: lib.  May include: nothing.
 */
#ifndef ASF_LIB_STARTUP_H
#define ASF_LIB_STARTUP_H

/* What start-up and exit always run, and what the children of shells do, is kept together,
 * beside the tables that the dynamic linker reads: each 64 KB touched elsewhere costs a
 * page fault, and the shortest commands take no longer than some hundred of them. */
#define ASF_EVERY_RUN __attribute__((section(".text.startup")))

/* The same for what start-up, fork and exit write, though it begins as zeros: among
 * the initialized data, whose pages the dynamic linker has written to. */
#define ASF_EVERY_RUN_DATA __attribute__((section(".data")))

/* Tables of zeros of which little is ever used: the linker puts this section
 * behind .bss, where all others share a page or two. */
#define ASF_MOSTLY_UNUSED __attribute__((section(".lbss")))

#endif
