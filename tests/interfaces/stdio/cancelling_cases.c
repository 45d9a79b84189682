/* SPDX-License-Identifier: MIT
 *
 * cancelling_cases.c - threads that are cancelled, end or throw inside a call, and calls that replace a
 * stream while other threads use it: the state of the stream afterwards.
 */
#include "transcript.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio_ext.h>
#include <sys/syscall.h>
#include <time.h>

enum { LONGEST = 10 }; /* seconds, after which a hanging case is killed */

static FILE *shared;
static atomic_int stage;

/* --- threads ------------------------------------------------------------------------ */

struct thread {
    pthread_t id;
    pid_t tid;
    atomic_bool started;
    void (*body)(void);
};

static void *run_thread(void *arg) {
    struct thread *t = arg;
    t->tid = (pid_t)syscall(SYS_gettid);
    t->started = true;
    t->body();
    return NULL;
}

static void start(struct thread *t, void (*body)(void)) {
    *t = (struct thread){.body = body};
    alarm(LONGEST);
    pthread_create(&t->id, NULL, run_thread, t);
    while (!t->started)
        usleep(100);
}

static void start_until_blocked(struct thread *t, void (*body)(void)) {
    start(t, body);
    wait_until_blocked(t->tid);
}

static void join(struct thread *t) {
    void *result;
    pthread_join(t->id, &result);
    say(result == PTHREAD_CANCELED ? "cancelled" : "ended");
}

static void cancel(struct thread *t) {
    pthread_cancel(t->id);
    join(t);
}

static void tries(void) {
    int result = ftrylockfile(shared);
    if (result == 0)
        funlockfile(shared);
    stage = result == 0;
}

/* Tries the lock in another thread: for its holder the recursive lock is always free. */
static void try_from_another_thread(FILE *f) {
    struct thread t;
    FILE *before = shared;
    shared = f;
    start(&t, tries);
    pthread_join(t.id, NULL);
    shared = before;
    say("another thread gets it %d", stage);
}

/* Notes whether the lock is free for this thread. Does not try it in a new thread, which libc may mistake
 * for an ended thread that held the lock. */
static void try_lock(FILE *f) {
    int result = ftrylockfile(f);
    if (result == 0)
        funlockfile(f);
    say("it is free %d", result == 0);
}

/* --- replaced while in use ------------------------------------------------------------------- */

static bool reopened;
static int got;

static void reopens_fifo(void) {
    reopened = freopen("fifo", "r", shared) != NULL;
}

static void gets_one(void) {
    got = getc(shared);
}

CASE(a_reader_waits_for_a_reopened_stream) {
    struct thread reopening, reading;
    mkfifo("fifo", 0600);
    put_text("file", "text");
    shared = fopen("file", "r");
    CALL(getc(shared));
    start_until_blocked(&reopening, reopens_fifo);
    start_until_blocked(&reading, gets_one);
    int end = open("fifo", O_WRONLY);
    kernel_write(end, "Q");
    join(&reopening);
    join(&reading);
    say("reopened %d got %d", reopened, got);
    unlink("fifo");
    try_lock(shared);
    CALL(fclose(shared));
}

static void opens_fifo(void) {
    fopen("fifo", "r");
    say("not cancelled");
}

CASE(cancelled_while_it_opens) {
    struct thread t;
    mkfifo("fifo", 0600);
    start_until_blocked(&t, opens_fifo);
    cancel(&t);
    unlink("fifo");
    CALL(fflush(NULL));
    CALL(open("/dev/null", O_RDONLY | O_CLOEXEC)); /* its number shows whether a descriptor was leaked */
}

/* After the cancellation the stream's calls all fail, and no thread holds its lock. */
static void cancelled_in_freopen(const char *mode) {
    struct thread t;
    char byte;
    mkfifo("fifo", 0600);
    put_text("file", "text");
    shared = fopen("file", mode);
    CALL((int)fread(&byte, 1, 1, shared));
    start_until_blocked(&t, reopens_fifo);
    cancel(&t);
    unlink("fifo");
    try_lock(shared);
    CALL(getc(shared));
    CALL(putc('x', shared));
    note_flags(shared);
    CALL(fileno(shared));
    CALL(fflush(NULL));
    CALL(fclose(shared));
}

CASE(cancelled_while_it_reopens) {
    cancelled_in_freopen("r");
}
CASE(cancelled_while_it_reopens_an_update) {
    cancelled_in_freopen("r+");
}

static void reopens_once_cancelled(void) {
    pthread_cancel(pthread_self());
    freopen("file", "r", shared);
    say("not cancelled");
}

CASE(cancelled_before_it_reopens) {
    struct thread t;
    put_text("file", "text");
    shared = fopen("file", "r");
    CALL(getc(shared));
    start(&t, reopens_once_cancelled);
    join(&t);
    try_lock(shared);
    CALL(freopen("file", "r", shared) != NULL);
    CALL(getc(shared));
    CALL(fclose(shared));
}

/* Without a pause, the other thread may wait for seconds for one of glibc's locks. */
static void pause_at_times(void) {
    static int calls;
    if (++calls % 100 == 0)
        usleep(1);
}

static void writes_until_told(void) {
    for (; stage < 2; pause_at_times())
        fprintf(shared, "a line\n");
}

static void reads_until_told(void) {
    static char block[8000];
    for (; stage < 2; pause_at_times()) {
        getc(shared);
        if (fread(block, 1, 3000, shared) == 0)
            clearerr(shared);
    }
}

/* Returns whether more than `seconds` have passed since `begun`. On a busy machine the other thread keeps
 * the lock for a whole time slice, so a fixed number of calls may take long. */
static bool longer_than(double seconds, const struct timespec *begun) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begun->tv_sec) + 1e-9 * (double)(now.tv_nsec - begun->tv_nsec) > seconds;
}

static void reopen_beside(void (*body)(void), const char *mode, int times) {
    struct thread t;
    struct timespec begun;
    int failed = 0;
    put_pattern("file", 1 << 20);
    shared = fopen("file", mode);
    start(&t, body);
    clock_gettime(CLOCK_MONOTONIC, &begun);
    for (int i = 0; i < times && !longer_than(1, &begun); i++) {
        failed += freopen("file", mode, shared) == NULL;
        if (i % 4 == 0)
            sched_yield();
    }
    stage = 2;
    join(&t);
    say("failed %d", failed);
    try_lock(shared);
    CALL(fclose(shared));
    unlink("file");
    _exit(0); /* not exit, which may loop for ever in glibc's damaged list of streams */
}

CASE(reopened_beside_a_writer) {
    reopen_beside(writes_until_told, "a", 2000);
}
CASE(reopened_beside_a_reader) {
    reopen_beside(reads_until_told, "r", 10000);
}

static void prints_until_refused(void) {
    while (printf("line %d\n", 7) > 0)
        stage = 1;
}

static void close_beside_printf(void) {
    struct thread a, b;
    freopen("lines", "w", stdout);
    start(&a, prints_until_refused);
    start(&b, prints_until_refused);
    while (!stage)
        usleep(100);
    CALL(fclose(stdout));
    join(&a);
    join(&b);
    try_lock(stdout);
    CALL(fileno(stdout));
    CALL(freopen("out", "w", stdout) != NULL);
    CALL(puts("text"));
}

CASE(standard_output_is_closed_beside_printf) {
    for (int i = 0; i < 40; i++)
        child(close_beside_printf);
    unlink("lines");
    note_file("out");
}

/* --- fflush(NULL) ------------------------------------------------------------------- */

static void flushes_all(void) {
    int result = fflush(NULL);
    say("flushed %d", result);
}

/* Returns a full pipe. */
static int full_pipe(void) {
    int ends[2];
    static char block[65536];
    pipe(ends);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    while (write(ends[1], block, sizeof block) > 0)
        continue;
    fcntl(ends[1], F_SETFL, 0);
    shared = fdopen(ends[1], "w");
    fputs("pending", shared);
    return ends[0];
}

static void empty(int fd) {
    char block[65536];
    fcntl(fd, F_SETFL, O_NONBLOCK);
    while (read(fd, block, sizeof block) > 0)
        continue;
}

CASE(cancelled_while_all_are_flushed) {
    struct thread t;
    int end = full_pipe();
    start_until_blocked(&t, flushes_all);
    cancel(&t);
    try_lock(shared);
    FILE *f = fopen("file", "w");
    CALL(fputs("text", f));
    empty(end);
    CALL(fflush(NULL));
    CALL(fclose(shared));
    CALL(fclose(f));
    note_file("file");
}

CASE(cancelled_while_it_waits_to_flush) {
    struct thread t;
    int end = full_pipe();
    flockfile(shared);
    start_until_blocked(&t, flushes_all);
    pthread_cancel(t.id);
    funlockfile(shared);
    join(&t);
    try_lock(shared);
    empty(end);
    CALL(fclose(shared));
}

/* Meanwhile streams that are already open are used, and their buffered output is made visible. */
static FILE *output, *input;

static void uses_open_streams(void) {
    static char block[1000];
    struct stat st;
    for (int i = 0; i < 220; i++)
        fwrite(block, 1, sizeof block, output);
    stat("file", &st);
    say("size %ld", (long)st.st_size);
    CALL(getc(input));
    stage = 1;
}

CASE(others_are_used_while_all_are_flushed) {
    struct thread flushing, t;
    struct timespec begun, ended;
    put_text("input", "text");
    output = fopen("file", "w");
    input = fopen("input", "r");
    int end = full_pipe();
    start_until_blocked(&flushing, flushes_all);
    clock_gettime(CLOCK_MONOTONIC, &begun);
    start(&t, uses_open_streams);
    join(&t);
    for (int i = 0; i < 20; i++) {
        putc('x', output);
        access("file", F_OK);
    }
    clock_gettime(CLOCK_MONOTONIC, &ended);
    say("within a second %d", ended.tv_sec - begun.tv_sec < 2);
    empty(end);
    join(&flushing);
    CALL(fclose(shared));
    CALL(fclose(output));
}

static void opens_and_closes(void) {
    for (int i = 0; i < 300; i++) {
        FILE *f = fopen("/dev/null", "w");
        fputs("text", f);
        stage = 1;
        fclose(f);
    }
}

CASE(all_are_flushed_beside_threads_that_close) {
    struct thread t[3];
    for (int i = 0; i < 3; i++)
        start(&t[i], opens_and_closes);
    int good = 0;
    for (int i = 0; i < 300; i++)
        good += fflush(NULL) == 0;
    for (int i = 0; i < 3; i++)
        join(&t[i]);
    say("good %d", good);
}

/* --- calls that take no lock ----------------------------------------------------------- */

static void funlock_later(void *unused) {
    (void)unused;
    try_from_another_thread(shared);
    funlockfile(shared);
}

static void (*read_unlocked)(void);

static void reads_locked_by_itself(void) {
    flockfile(shared);
    pthread_cleanup_push(funlock_later, NULL);
    read_unlocked();
    pthread_cleanup_pop(1);
}

static int empty_pipe(void) {
    int ends[2];
    pipe(ends);
    shared = fdopen(ends[0], "r");
    return ends[1];
}

/* A lock taken by flockfile stays with the thread until it unlocks the stream. */
static void cancelled_under_own_lock(void (*body)(void)) {
    struct thread t;
    int end = empty_pipe();
    read_unlocked = body;
    start_until_blocked(&t, reads_locked_by_itself);
    cancel(&t);
    try_lock(shared);
    kernel_write(end, "text");
    CALL(getc(shared));
    CALL(fclose(shared));
}

static void gets_byte(void) {
    getc_unlocked(shared);
}

static void gets_line(void) {
    char line[10];
    fgets_unlocked(line, sizeof line, shared);
}

static void gets_block(void) {
    char block[500];
    (fread_unlocked)(block, 1, sizeof block, shared); /* (name): the function, not the header's macro */
}

static void gets_byte_locked(void) {
    getc(shared);
}

static void gets_number(void) {
    int number;
    fscanf(shared, "%d", &number);
}

static void gets_wide_word(void) {
    wchar_t word[10];
    fwscanf(shared, L"%9ls", word);
}

CASE(cancelled_in_getc_unlocked) {
    cancelled_under_own_lock(gets_byte);
}
CASE(cancelled_in_fgets_unlocked) {
    cancelled_under_own_lock(gets_line);
}
CASE(cancelled_in_fread_unlocked) {
    cancelled_under_own_lock(gets_block);
}
CASE(cancelled_in_getc_under_its_own_lock) {
    cancelled_under_own_lock(gets_byte_locked);
}
CASE(cancelled_in_fscanf_under_its_own_lock) {
    cancelled_under_own_lock(gets_number);
}
CASE(cancelled_in_fwscanf_under_its_own_lock) {
    cancelled_under_own_lock(gets_wide_word);
}

static void reads_by_callers_lock(void) {
    getc(shared);
}

CASE(cancelled_where_the_caller_locks) {
    struct thread t;
    int end = empty_pipe();
    __fsetlocking(shared, FSETLOCKING_BYCALLER);
    flockfile(shared);
    start_until_blocked(&t, reads_by_callers_lock);
    cancel(&t);
    try_from_another_thread(shared);
    funlockfile(shared);
    try_lock(shared);
    kernel_write(end, "text");
    CALL(getc(shared));
    CALL(fclose(shared));
}

/* The library copies a large block without the stream's lock, unless flockfile holds it. */
static void gets_large_block(void) {
    static char block[9000];
    fread(block, 1, sizeof block, shared);
}

static atomic_int intrusions;

static void tries_until_told(void) {
    while (stage < 2)
        if (ftrylockfile(shared) == 0) {
            intrusions += stage == 1;
            funlockfile(shared);
        }
}

CASE(flockfile_after_a_cancelled_fread) {
    static char block[5000], text[5000];
    struct thread reading, other;
    int end = empty_pipe();
    start_until_blocked(&reading, gets_large_block);
    cancel(&reading);
    flockfile(shared);
    stage = 1;
    start(&other, tries_until_told);
    for (int i = 0; i < 1000; i++) {
        raw_write(end, text, 3020);
        (fread_unlocked)(block, 1, 20, shared);
        raw_write(end, text, 600);
        (fread_unlocked)(block, 1, 3600, shared);
    }
    stage = 2;
    funlockfile(shared);
    join(&other);
    say("intrusions %d", (int)intrusions);
}

/* --- calls that flush other streams ---------------------------------------------------------- */

static void gets_one_from_stdin(void) {
    getchar();
}

CASE(cancelled_while_a_prompt_is_shown) {
    struct thread t;
    int keys[2], end = full_pipe();
    pipe(keys);
    dup2(keys[0], 0);
    dup2(fileno(shared), 1);
    setvbuf(stdin, NULL, _IONBF, 0);
    setvbuf(stdout, NULL, _IOLBF, 0);
    fputs("prompt: ", stdout);
    start_until_blocked(&t, gets_one_from_stdin);
    cancel(&t);
    try_lock(stdin);
    try_lock(stdout);
    kernel_write(keys[1], "a");
    empty(end);
    CALL(getchar());
    CALL(fclose(shared));
}

static FILE *held_back;
static atomic_bool cancelled_already, ended;

static void fill_held_back(void) {
    static char block[1000];
    for (int i = 0; i < 220; i++)
        fwrite(block, 1, sizeof block, held_back);
}

static void note_end(void *unused) {
    (void)unused;
    ended = true;
}

static void waits_for_input(void) {
    pthread_cleanup_push(note_end, NULL);
    while (!cancelled_already)
        continue;
    getc(shared);
    pthread_cleanup_pop(1);
}

static void sleeps(void) {
    pthread_cleanup_push(note_end, NULL);
    while (!cancelled_already)
        continue;
    usleep(1);
    pthread_cleanup_pop(1);
}

/* A cancellation is pending before the call, which reaches a cancellation point when it flushes another
 * stream. */
static void cancelled_before(void (*body)(void)) {
    struct thread t;
    int end = empty_pipe();
    held_back = fopen("file", "w");
    start(&t, body);
    pthread_cancel(t.id);
    fill_held_back();
    cancelled_already = true;
    while (!ended) /* a loop without calls, which might flush the output */
        continue;
    join(&t);
    try_lock(shared);
    try_lock(held_back);
    kernel_write(end, "text");
    CALL(getc(shared));
    CALL(fclose(held_back));
    CALL(fclose(shared));
}

CASE(cancelled_before_it_waits_for_input) {
    cancelled_before(waits_for_input);
}
CASE(cancelled_before_it_sleeps) {
    cancelled_before(sleeps);
}

/* --- callbacks that do not return ------------------------------------------------------ */

static enum { WAIT, END, CANCEL } then;
static int pipe_of_callbacks[2];

static void not_return(void) {
    char byte;
    if (stage++ > 0)
        return;
    if (then == WAIT)
        read(pipe_of_callbacks[0], &byte, 1);
    if (then == END)
        pthread_exit(PTHREAD_CANCELED);
    pthread_cancel(pthread_self());
    pthread_testcancel();
}

static ssize_t give_text(void *unused, char *buf, size_t n) {
    (void)unused;
    not_return();
    if (n < 8 || stage > 2)
        return 0;
    memcpy(buf, "abc def\n", 8);
    return 8;
}

static ssize_t take_text(void *unused, const char *buf, size_t n) {
    (void)unused, (void)buf;
    not_return();
    return (ssize_t)n;
}

static int seek_nowhere(void *unused, off64_t *offset, int whence) {
    (void)unused, (void)whence;
    not_return();
    *offset = 0;
    return 0;
}

static void gets_text(void) {
    char text[20];
    CALL(fgets(text, sizeof text, shared));
}

static void seeks(void) {
    CALL(fseek(shared, 10, SEEK_SET));
}

static void puts_text(void) {
    CALL(fputs("text", shared));
    CALL(fflush(shared));
}

static void puts_much(void) {
    static char text[20000];
    CALL((int)fwrite(text, 1, sizeof text, shared));
}

static void puts_for_all(void) {
    CALL(fputs("text", shared));
    CALL(fflush(NULL));
}

static void left_in_callback(void (*body)(void), const char *mode) {
    cookie_io_functions_t calls = {give_text, take_text, seek_nowhere, NULL};
    struct thread t;
    char text[20];
    stage = 0;
    pipe(pipe_of_callbacks);
    shared = fopencookie(NULL, mode, calls);
    start(&t, body);
    if (then == WAIT) {
        wait_until_blocked(t.tid);
        pthread_cancel(t.id);
    }
    join(&t);
    try_lock(shared);
    if (*mode == 'r')
        CALL(fgets(text, sizeof text, shared));
    else
        CALL(fputs("more", shared));
    CALL(fflush(NULL));
    CALL(fclose(shared));
}

static void left_in_callbacks(void) {
    left_in_callback(gets_text, "r");
    left_in_callback(gets_one, "r");
    left_in_callback(seeks, "r");
    left_in_callback(puts_text, "w");
    left_in_callback(puts_much, "w");
    left_in_callback(puts_for_all, "w");
}

CASE(cancelled_in_a_callback) {
    then = CANCEL;
    left_in_callbacks();
}
CASE(cancelled_while_a_callback_waits) {
    then = WAIT;
    left_in_callbacks();
}
CASE(ended_in_a_callback) {
    then = END;
    left_in_callbacks();
}

/* --- fork ------------------------------------------------------------------------------ */

static void waits_to_be_told(void) {
    while (stage < 2)
        usleep(100);
}

static void puts_line(void) {
    fputs("from a thread\n", shared);
}

static void fork_with_a_lock(int used) {
    struct thread t, writer;
    shared = fopen("out", "w");
    start(&t, waits_to_be_told);
    for (int i = 0; i < used; i++)
        putc('x', shared);
    flockfile(shared);
    pid_t pid = fork();
    if (pid == 0) {
        start(&writer, puts_line);
        join(&writer);
        funlockfile(shared);
        try_from_another_thread(shared);
        CALL(fclose(shared));
        _exit(0);
    }
    finish(pid);
    try_from_another_thread(shared);
    funlockfile(shared);
    stage = 2;
    join(&t);
    CALL(fclose(shared));
    note_file("out");
}

CASE(fork_by_a_thread_that_holds_a_lock) {
    fork_with_a_lock(0);
}
CASE(fork_by_a_thread_that_keeps_a_stream) {
    fork_with_a_lock(500);
}
