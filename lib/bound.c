/* SPDX-License-Identifier: MIT
 *
 * bound.c - functions of libc that are found when the library is loaded instead of when
 * they are first called: those that stdio calls when its own frames are deepest.  To find
 * one takes the dynamic linker up to 3 KB of stack, where it saves registers of 512 bits,
 * and a signal handler may have 8 KB in all.  One reference by way of the global offset
 * table binds every call of a function.
 * Layer: lib.  May include: nothing.
 */
#ifdef __x86_64__

#define BOUND(function) "    mov " #function "@GOTPCREL(%rip), %rax\n"

__asm__(".pushsection .text.unlikely, \"ax\", @progbits\n" /* never run */
        BOUND(__ctype_b_loc) BOUND(free) BOUND(memchr) BOUND(memcpy) BOUND(memmove) BOUND(memset)
            BOUND(nl_langinfo) BOUND(strchr) BOUND(strchrnul) BOUND(strcmp) BOUND(strlen) BOUND(strncmp)
                BOUND(strnlen) BOUND(strspn) ".popsection\n");

#else
typedef int asf__nothing; /* C wants a declaration in each file */
#endif
