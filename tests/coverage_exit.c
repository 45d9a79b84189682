/* SPDX-License-Identifier: MIT
 *
 * coverage_exit.c - in the coverage preset: gcov counts also what a process does that leaves
 * by _exit, as children do, and what a static program does after gcov's destructor.
 */
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

extern void __gcov_dump(void), __gcov_reset(void);
extern _Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);
void __wrap___gcov_exit(void);

/* The process, unless it is one of vfork or of clone, which may have no locks to take. */
static pid_t own;

static void this_is_own(void) {
    own = getpid();
}

static __attribute__((constructor)) void begin(void) {
    this_is_own();
    pthread_atfork(NULL, NULL, this_is_own);
}

/* What has been written is not counted again. */
static void write_counts(void) {
    __gcov_dump();
    __gcov_reset();
}

_Noreturn void __wrap__exit(int status) {
    if (getpid() == own)
        write_counts();
    __real__exit(status);
}

/* The destructor, of each object; gcov's own would write nothing afterwards. */
void __wrap___gcov_exit(void) {
    static bool done;
    if (!done)
        write_counts();
    done = true;
}
