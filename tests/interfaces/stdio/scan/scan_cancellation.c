/* SPDX-License-Identifier: MIT
 *
 * scan_cancellation.c - a thread is cancelled while scanf waits for input: the input that it has read is
 * lost, and the stream's lock is free. Only with the preload: the archives use libc's scanf.
 */
#include "tests/interfaces/stdio/transcript.h"

#include <pthread.h>
#include <sys/syscall.h>

static FILE *shared;
static volatile pid_t scanning_thread;

static void *scan_for_ever(void *format) {
    int v;
    scanning_thread = (pid_t)syscall(SYS_gettid);
    fscanf(shared, format, &v);
    return NULL;
}

static void cancel_scan(const char *format) {
    int ends[2], v = 0;
    pthread_t thread;
    void *result;
    pipe(ends);
    shared = fdopen(ends[0], "r");
    scanning_thread = 0;
    kernel_write(ends[1], "12");
    pthread_create(&thread, NULL, scan_for_ever, (void *)format);
    while (!scanning_thread)
        usleep(1000);
    wait_until_blocked(scanning_thread);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    say("cancelled %d", result == PTHREAD_CANCELED);
    kernel_write(ends[1], "34 ");
    CALL(ftrylockfile(shared));
    CALL(fscanf(shared, "%d", &v));
    say("%d", v);
}

CASE(cancelled_while_scanning) {
    cancel_scan("%d");
    cancel_scan("%[^\n]");
    cancel_scan("%d\xff"); /* not a valid character: libc's own code handles it */
}
