/* SPDX-License-Identifier: MIT
 *
 * coverage_exit.c - for the coverage preset. Makes gcov also count in a process that ends by _exit, as
 * children do, and in a static program after gcov's destructor.
 */
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

extern void __gcov_dump(void), __gcov_reset(void);
extern _Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);
void __wrap___gcov_exit(void);

/* The process that may write counts. A child of vfork or clone may not: it may be unable to take locks. */
static pid_t own;

static void this_is_own(void) {
    own = getpid();
}

static __attribute__((constructor)) void begin(void) {
    this_is_own();
    pthread_atfork(NULL, NULL, this_is_own);
}

/* Writes the counts, and resets them so that they are not added twice. */
static void write_counts(void) {
    __gcov_dump();
    __gcov_reset();
}

_Noreturn void __wrap__exit(int status) {
    if (getpid() == own)
        write_counts();
    __real__exit(status);
}

/* Called by the destructor of each object. gcov's own function would write nothing after its first call. */
void __wrap___gcov_exit(void) {
    static bool done;
    if (!done)
        write_counts();
    done = true;
}
