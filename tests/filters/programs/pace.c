/* SPDX-License-Identifier: MIT
 *
 * pace.c - writes bursts to stdout and pauses after each. After each pause it writes to descriptor 3 how
 * many bytes have arrived.
 *
 *     pace HOW PAUSE MILLISECONDS SIZE...
 *
 * A probe for latency.py. It measures and reports by direct system calls, so that no preloaded library
 * sees a call before which it would flush.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "emit.h"
#include "lib/sys/machine.h"

static long unseen_call(long number, long a, long b, long c) {
    return asf__raw(number, a, b, c, 0);
}

static long arrived(void) {
    int queued = 0;
    struct stat about;
    if (!unseen_call(SYS_ioctl, 1, FIONREAD, (long)&queued))
        return queued;
    return unseen_call(SYS_fstat, 1, (long)&about, 0) ? -1 : (long)about.st_size;
}

static int64_t now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void compute(int ms) {
    volatile double x = 1;
    for (int64_t end = now_ms() + ms; now_ms() < end;)
        for (int i = 0; i < 10000; i++)
            x = x * 1.0000001 + 1e-9;
}

static void wait_for_condition(const struct timespec *length) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += length->tv_nsec;
    end.tv_sec += length->tv_sec + end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    pthread_mutex_lock(&mutex);
    while (!pthread_cond_timedwait(&never, &mutex, &end))
        ;
}

static void pause_for(const char *how, int ms) {
    struct timespec length = {ms / 1000, ms % 1000 * 1000000L};
    struct timeval tv = {ms / 1000, ms % 1000 * 1000L};
    char byte;
    if (!strcmp(how, "nanosleep"))
        nanosleep(&length, NULL);
    else if (!strcmp(how, "usleep"))
        usleep((useconds_t)ms * 1000);
    else if (!strcmp(how, "poll"))
        poll(NULL, 0, ms);
    else if (!strcmp(how, "select"))
        select(0, NULL, NULL, NULL, &tv);
    else if (!strcmp(how, "condition"))
        wait_for_condition(&length);
    else if (!strcmp(how, "read"))
        /* The other end of descriptor 4 writes a byte at intervals of `ms` milliseconds. */
        (void)!read(4, &byte, 1);
    else if (!strcmp(how, "compute"))
        compute(ms);
    else if (!strcmp(how, "unseen"))
        unseen_call(SYS_nanosleep, (long)&length, 0, 0);
    else
        exit(9);
}

int main(int count, char **arguments) {
    size_t from = 0;
    if (count < 4)
        return 9;
    for (int i = 4; i < count; i++) {
        size_t n = (size_t)atol(arguments[i]);
        char note[32];
        emit(stdout, arguments[1], from, n);
        from += n;
        pause_for(arguments[2], atoi(arguments[3]));
        sprintf(note, "%ld\n", arrived());
        unseen_call(SYS_write, 3, (long)note, (long)strlen(note));
    }
    return 0;
}
