/* SPDX-License-Identifier: MIT
 *
 * coverage_exit.c - _exit for the test programs of the preset coverage: gcov writes its
 * counters in exit alone, and children of tests end by _exit.  Not for what is preloaded,
 * whose programs may be in the midst of anything.
 * Layer: tests.
 */
#include <gcov.h>
#include <sys/syscall.h>
#include <unistd.h>

void _exit(int status) {
    __gcov_dump();
    __gcov_reset(); /* the child of a vfork has its parent's */
    syscall(SYS_exit_group, status);
    __builtin_unreachable();
}
