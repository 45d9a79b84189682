/* SPDX-License-Identifier: MIT
 *
 * concurrency_cases.c - threads that must not see, nor wait for, the internal work of another thread's
 * call: reads of which each thread takes a part, output by one thread while another examines it or ends,
 * forks with handlers, popen by several threads, and minimal stacks.
 */
#include "transcript.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void run(void *(*body)(void *), void *arg) {
    pthread_t t;
    void *result;
    pthread_create(&t, NULL, body, arg);
    pthread_join(t, &result);
    if (result == PTHREAD_CANCELED)
        say("cancelled");
}

/* --- reads ---------------------------------------------------------------------- */

static void *read_much(void *f) {
    static char text[400000];
    size_t n = fread(text, 1, sizeof text, f);
    say("read %lu, right %d, at %ld, descriptor %ld", n,
        n == 0 || (unsigned char)text[n - 1] == pattern_at(n - 1), ftell(f), raw_offset(fileno(f)));
    return NULL;
}

CASE(more_than_there_is) {
    static const char *const modes[] = {"r", "r+"};
    for (int i = 0; i < 2; i++) {
        put_pattern("file", 300000);
        FILE *f = fopen("file", modes[i]);
        run(read_much, f);
        note_flags(f);
        CALL(getc(f));
        CALL(fclose(f));
    }
}

static void *cancelled_before(void *f) {
    static char text[98304];
    pthread_cancel(pthread_self());
    fread(text, 1, sizeof text, f);
    return NULL;
}

CASE(cancelled_before_it_reads) {
    put_pattern("file", 300000);
    FILE *f = fopen("file", "r");
    run(cancelled_before, f);
    CALL(ftrylockfile(f));
    say("right %d, at %ld", getc(f) == pattern_at(0), ftell(f));
    fclose(f);
}

/* --- writes ----------------------------------------------------------------------- */

static void *write_until_cancelled(void *f) {
    pthread_cancel(pthread_self());
    for (int i = 0; i < 100000; i++)
        fprintf(f, "line %d\n", i);
    return NULL;
}

CASE(cancelled_at_the_next_write_of_libc) {
    FILE *f = fopen("out", "w");
    for (int i = 0; i < 20000; i++)
        fprintf(f, "before %d\n", i);
    run(write_until_cancelled, f);
    CALL(fclose(f));
    note_file("out");
}

/* The cancellation is requested before the stream is opened, and is disabled until much has been written. */
static void *write_behind_a_request(void *unused) {
    int state;
    (void)unused;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    pthread_cancel(pthread_self());
    FILE *f = fopen("out", "w");
    for (int i = 0; i < 20000; i++)
        fprintf(f, "before %d\n", i);
    pthread_setcancelstate(state, NULL);
    for (int i = 0; i < 100000; i++)
        fprintf(f, "line %d\n", i);
    return NULL;
}

CASE(cancelled_long_before_at_the_next_write_of_libc) {
    run(write_behind_a_request, NULL);
    note_file("out");
}

static void *flush_wide(void *f) {
    pthread_cancel(pthread_self());
    fflush(f);
    return NULL;
}

CASE(a_wide_flush_that_is_cancelled) {
    FILE *f = fopen("out", "w");
    fputws(L"wide", f);
    run(flush_wide, f);
    CALL(fputws(L" tail", f));
    CALL(fclose(f));
    note_file("out");
}

/* --- a wait ------------------------------------------------------------------------- */

static _Atomic int released;

static void *look_and_write(void *f) {
    struct stat st;
    int turns;
    while (!(turns = released))
        sched_yield();
    for (volatile int i = 0; i < turns; i++)
        ;
    fstat(fileno(f), &st);
    kernel_write(fileno(f), "X");
    return (void *)st.st_size;
}

/* The other thread writes, and waits for this one. All its earlier output must be in the file, even if it
 * was just being written. */
CASE(what_another_thread_writes_before_it_waits) {
    long size, least = LONG_MAX;
    for (int i = 0; i < 200; i++) {
        FILE *f = fopen("out", "w");
        pthread_t t;
        for (int k = 0; k < 6000; k++)
            fprintf(f, "before %d\n", k);
        released = 0;
        pthread_create(&t, NULL, look_and_write, f);
        released = 1 + i * 50;
        pthread_join(t, (void **)&size);
        fclose(f);
        least = size < least ? size : least;
    }
    say("at least %d", least);
    note_file("out");
}

static _Atomic int told;

static void *write_ahead_of_the_reader(void *fd) {
    int turns;
    while (!(turns = released))
        sched_yield();
    for (volatile int i = 0; i < turns; i++)
        ;
    pwrite(*(int *)fd, "X", 1, 8192);
    told = 1;
    return NULL;
}

/* A change to a block that libc has not read yet must be seen. */
CASE(what_another_thread_writes_during_a_read) {
    int right = 0, rounds = 300, c = 0;
    put_pattern("file", 200000);
    for (int i = 0; i < rounds; i++) {
        int fd = open("file", O_RDWR);
        FILE *f = fopen("file", "r");
        pthread_t t;
        pwrite(fd, "a", 1, 8192);
        released = told = 0;
        pthread_create(&t, NULL, write_ahead_of_the_reader, &fd);
        for (int k = 0; k < 4096; k++)
            getc(f);
        released = 1 + i * 10;
        getc(f);
        while (!told)
            sched_yield();
        for (int k = 4097; k <= 8192; k++)
            c = getc(f);
        right += c == 'X';
        pthread_join(t, NULL);
        fclose(f);
        close(fd);
    }
    say("right %d of %d", right, rounds);
}

static FILE *shared;

static void *write_and_sleep(void *turns) {
    for (int k = 0; k < 16500; k++)
        fprintf(shared, "before %d\n", k);
    told = 1;
    for (volatile int i = 0; i < *(int *)turns; i++)
        ;
    sleep(10);
    return NULL;
}

static void end_beside_one_that_goes_to_sleep(int turns) {
    pthread_t t;
    shared = fopen("out", "w");
    pthread_create(&t, NULL, write_and_sleep, &turns);
    while (!told)
        sched_yield();
    for (volatile int i = 0; i < turns * 3 / 2; i++)
        ;
    exit(0);
}

/* Output that a thread writes just before it waits appears once. */
CASE(the_end_while_another_thread_goes_to_sleep) {
    struct stat st;
    for (int i = 0; i < 150; i++) {
        pid_t p = fork();
        if (p == 0)
            end_beside_one_that_goes_to_sleep(i * 14);
        waitpid(p, NULL, 0);
        if (stat("out", &st) != 0 || st.st_size != 203390)
            say("size %d", (int)st.st_size);
    }
    note_file("out");
}

static void *write_and_ask(void *f) {
    for (int k = 0; k < 6000; k++)
        fprintf(f, "before %d\n", k);
    told = 1;
    while (told != 2)
        ftell(f);
    return NULL;
}

/* dup2 replaces the descriptor while another thread is nearly always in a call on the stream. In most rounds,
 * libc's full blocks must be in the file by then. */
CASE(a_descriptor_is_replaced_beside_a_busy_thread) {
    struct stat st;
    int right = 0, rounds = 100, nothing = open("/dev/null", O_WRONLY);
    for (int i = 0; i < rounds; i++) {
        FILE *f = fopen("out", "w");
        pthread_t t;
        told = 0;
        pthread_create(&t, NULL, write_and_ask, f);
        while (!told)
            sched_yield();
        for (volatile int k = 0; k < i * 20; k++)
            ;
        dup2(nothing, fileno(f));
        told = 2;
        pthread_join(t, NULL);
        stat("out", &st);
        right += st.st_size >= 69632;
        fclose(f);
    }
    say("mostly right %d", right > rounds * 9 / 10);
    unlink("out");
}

/* --- forks ------------------------------------------------------------------------ */

static volatile int forking;

static void before(void) {
    forking = 1;
    pthread_mutex_lock(&mutex);
}

static void behind(void) {
    pthread_mutex_unlock(&mutex);
}

static void *use_streams(void *unused) {
    (void)unused;
    pthread_mutex_lock(&mutex);
    told = 1;
    while (!forking)
        usleep(1000);
    wait_until_blocked(getpid());
    FILE *f = fopen("out", "w");
    fputs("while it forks", f);
    fclose(f);
    fflush(NULL);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

CASE(a_handler_that_waits_for_a_user_of_streams) {
    pthread_t t;
    alarm(20);
    pthread_atfork(before, behind, behind);
    pthread_create(&t, NULL, use_streams, NULL);
    while (!told)
        sched_yield();
    pid_t child = fork();
    if (child == 0) {
        FILE *f = fopen("child", "w");
        fputs("by the child", f);
        exit(fclose(f));
    }
    finish(child);
    pthread_join(t, NULL);
    note_file("out");
    note_file("child");
}

static pthread_t allocator;
static atomic_bool done, handled;

static void fork_bare(int sig) {
    (void)sig;
    pid_t child = _Fork();
    if (child == 0)
        _exit(0);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    handled = true;
}

static void *allocates(void *unused) {
    (void)unused;
    while (!done)
        free(malloc(100000));
    return NULL;
}

static void *interrupts(void *unused) {
    (void)unused;
    while (!done) {
        handled = false;
        pthread_kill(allocator, SIGUSR1);
        while (!handled)
            usleep(100);
        usleep(200); /* time for the allocating thread to continue */
    }
    return NULL;
}

/* fork waits for the allocator's lock. _Fork, in a handler that interrupts the allocator, must not wait. */
CASE(bare_forks_in_handlers_beside_forks) {
    pthread_t t;
    alarm(40);
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = fork_bare, .sa_flags = SA_RESTART}, NULL);
    pthread_create(&allocator, NULL, allocates, NULL);
    pthread_create(&t, NULL, interrupts, NULL);
    for (int i = 0; i < 200; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    done = true;
    pthread_join(t, NULL);
    pthread_join(allocator, NULL);
}

static FILE *held;

static void print_to_held(void) {
    fputs("by the handler\n", held);
}

static void *hold_and_wait(void *unused) {
    (void)unused;
    flockfile(held);
    told = 1;
    while (told != 2)
        usleep(1000);
    funlockfile(held);
    return NULL;
}

/* In the child, the streams are unlocked before fork's handlers run. */
CASE(a_handler_that_uses_a_stream_in_the_child) {
    pthread_t t;
    alarm(20);
    held = fopen("held", "w");
    pthread_atfork(NULL, NULL, print_to_held);
    pthread_create(&t, NULL, hold_and_wait, NULL);
    while (!told)
        sched_yield();
    pid_t child = fork();
    if (child == 0)
        exit(0);
    finish(child);
    told = 2;
    pthread_join(t, NULL);
    fclose(held);
    note_file("held");
}

/* --- popen ------------------------------------------------------------------------ */

enum { UNTIL_THE_END = 9 }; /* a descriptor that receives no data while this process lives */

static void *sleepers(void *stop) {
    while (!*(volatile int *)stop) {
        FILE *f = popen("exec cat <&9", "r");
        if (f)
            usleep(2000); /* more sleepers would keep the machine busy, and make the waits long */
    }
    return NULL;
}

/* If a sleeper inherited the end of cat's pipe, cat would see no end of file before the sleeper ends. */
CASE(popen_by_two) {
    static volatile int stop;
    struct timespec from, to;
    pthread_t t;
    long worst = 0;
    int ends[2];
    pipe2(ends, O_CLOEXEC);
    dup2(ends[0], UNTIL_THE_END);
    pthread_create(&t, NULL, sleepers, (void *)&stop);
    for (int i = 0; i < 60; i++) {
        FILE *f = popen("cat >/dev/null", "w");
        clock_gettime(CLOCK_MONOTONIC, &from);
        pclose(f);
        clock_gettime(CLOCK_MONOTONIC, &to);
        long ms = (to.tv_sec - from.tv_sec) * 1000 + (to.tv_nsec - from.tv_nsec) / 1000000;
        worst = ms > worst ? ms : worst;
    }
    stop = 1;
    pthread_join(t, NULL);
    say("none waited %d", worst < 4000);
}

/* --- minimal stacks -------------------------------------------------------------------------- */

static void *complain(void *unused) {
    (void)unused;
    errno = EIO;
    perror("a thread");
    return NULL;
}

CASE(perror_on_the_least_of_stacks) {
    pthread_attr_t least;
    pthread_t t;
    pthread_attr_init(&least);
    pthread_attr_setstacksize(&least, (size_t)PTHREAD_STACK_MIN);
    pthread_create(&t, &least, complain, NULL);
    pthread_join(t, NULL);
}
