/* SPDX-License-Identifier: MIT
 *
 * coverage_exit.c - _exit for the preset coverage: gcov writes its counters in exit alone,
 * and tests of children, and programs under the preload, end by _exit often.
 * Layer: tests.
 */
#include <gcov.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((visibility("default"))) void _exit(int status) {
    __gcov_dump();
    __gcov_reset(); /* the child of a vfork has its parent's */
    syscall(SYS_exit_group, status);
    __builtin_unreachable();
}

__attribute__((visibility("default"))) void _Exit(int status) {
    _exit(status);
}
