/* SPDX-License-Identifier: MIT
 *
 * threads_cases.c - streams used by several threads.
 */
#include "transcript.h"

#include <mntent.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio_ext.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { THREADS = 4 };

static void run_threads(int n, void *(*body)(void *)) {
    pthread_t t[8];
    for (long i = 0; i < n; i++)
        pthread_create(&t[i], NULL, body, (void *)i);
    for (int i = 0; i < n; i++)
        pthread_join(t[i], NULL);
}

static FILE *shared;

/* --- calls are atomic ------------------------------------------------------------------------ */

static void *puts_lines(void *arg) {
    char line[128];
    int length = 30 + 20 * (int)(long)arg;
    memset(line, 'a' + (int)(long)arg, (size_t)length);
    strcpy(line + length, "\n");
    for (int i = 0; i < 2000; i++)
        switch (i % 3) {
        case 0:
            fputs(line, shared);
            break;
        case 1:
            fwrite(line, 1, (size_t)length + 1, shared);
            break;
        default:
            fprintf(shared, "%s", line);
        }
    return NULL;
}

static void check_lines(const char *path) {
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t size = 0;
    int count[THREADS] = {0}, torn = 0;
    for (ssize_t n; (n = getline(&line, &size, f)) > 0;) {
        int who = line[0] - 'a';
        bool whole = who >= 0 && who < THREADS && n == 31 + 20 * who;
        for (ssize_t i = 1; whole && i < n - 1; i++)
            whole = line[i] == line[0];
        whole ? count[who]++ : torn++;
    }
    fclose(f);
    free(line);
    say("torn %d whole %d %d %d %d", torn, count[0], count[1], count[2], count[3]);
}

static void lines_into(const char *mode, int buffering) {
    shared = fopen("out", mode);
    setvbuf(shared, NULL, buffering, 4096);
    run_threads(THREADS, puts_lines);
    fclose(shared);
    check_lines("out");
    unlink("out");
}

CASE(lines_are_whole) {
    lines_into("w", _IOFBF);
}
CASE(lines_are_whole_when_line_buffered) {
    lines_into("w", _IOLBF);
}
CASE(lines_are_whole_when_appended) {
    lines_into("a", _IOFBF);
}
CASE(lines_are_whole_in_update_mode) {
    lines_into("w+", _IOFBF);
}

CASE(lines_are_whole_on_standard_output) {
    shared = stdout;
    CALL(freopen("out", "w", stdout) != NULL);
    run_threads(THREADS, puts_lines);
    fflush(stdout);
    check_lines("out");
    unlink("out");
}

static void *seeks_and_puts(void *arg) {
    puts_lines(arg);
    fflush(shared);
    return NULL;
}

CASE(flushes_between) {
    shared = fopen("out", "w");
    run_threads(THREADS, seeks_and_puts);
    fclose(shared);
    check_lines("out");
    unlink("out");
}

/* --- every byte is delivered once ---------------------------------------------------- */

enum { FILE_SIZE = 4 << 20, BLOCK = 65536 };
static atomic_uchar delivered[FILE_SIZE / BLOCK];
static atomic_long total, wrong;

/* Each block is filled with its number. */
static void put_numbered_blocks(void) {
    static int block[BLOCK / sizeof(int)];
    int fd = open("numbered", O_WRONLY | O_CREAT, 0644);
    for (int i = 0; i < FILE_SIZE / BLOCK; i++) {
        for (unsigned k = 0; k < BLOCK / sizeof(int); k++)
            block[k] = i;
        raw_write(fd, block, BLOCK);
    }
    close(fd);
}

static void *reads_blocks(void *arg) {
    (void)arg;
    int *block = malloc(BLOCK);
    while (fread(block, 1, BLOCK, shared) == BLOCK) {
        for (unsigned k = 1; k < BLOCK / sizeof(int); k++)
            wrong += block[k] != block[0];
        delivered[block[0]]++;
    }
    free(block);
    return NULL;
}

CASE(blocks_are_delivered_once) {
    put_numbered_blocks();
    shared = fopen("numbered", "r");
    run_threads(2, reads_blocks);
    int once = 0;
    for (int i = 0; i < FILE_SIZE / BLOCK; i++)
        once += delivered[i] == 1;
    say("%d of %d blocks once, %ld wrong", once, FILE_SIZE / BLOCK, (long)wrong);
    note_state(shared);
    unlink("numbered");
}

static void *reads_a_block(void *got) {
    static char block[BLOCK];
    *(size_t *)got = fread(block, 1, BLOCK, shared);
    return NULL;
}

/* Reads in another thread, so that no thread is the stream's only user. */
static void read_a_block_elsewhere(void) {
    size_t got = 0;
    pthread_t t;
    pthread_create(&t, NULL, reads_a_block, &got);
    pthread_join(t, NULL);
    say("%lu bytes, the descriptor at %ld", (long)got, (long)lseek(fileno(shared), 0, SEEK_CUR));
    note_flags(shared);
}

/* Does not note the file's size, which is unspecified. */
CASE(blocks_of_a_file_that_changes) {
    put_pattern("changing", 8 * BLOCK);
    put_pattern("another", BLOCK + 1000);
    shared = fopen("changing", "r");
    read_a_block_elsewhere();
    read_a_block_elsewhere();
    CALL(truncate("changing", 2 * BLOCK + 30000));
    read_a_block_elsewhere();
    read_a_block_elsewhere();
    CALL(truncate("changing", 6 * BLOCK));
    read_a_block_elsewhere();
    note_state(shared);
    CALL(truncate("changing", BLOCK));
    read_a_block_elsewhere();
    note_state(shared);
    rewind(shared);
    int other = open("another", O_RDONLY);
    CALL(truncate("changing", 6 * BLOCK));
    read_a_block_elsewhere();
    dup2(other, fileno(shared));
    for (int i = 0; i < 3; i++)
        read_a_block_elsewhere();
    note_state(shared);
    fclose(shared);
}

static void becomes_a_pipe(bool unseen) {
    int ends[2];
    char line[] = "through the pipe";
    put_pattern("changing", 8 * BLOCK);
    shared = fopen("changing", "r");
    read_a_block_elsewhere();
    CALL(pipe(ends));
    raw_write(ends[1], line, sizeof line);
    close(ends[1]);
    if (unseen)
        syscall(SYS_dup3, ends[0], fileno(shared), 0);
    else
        dup2(ends[0], fileno(shared));
    read_a_block_elsewhere();
    read_a_block_elsewhere();
    note_state(shared);
    fclose(shared);
    close(ends[0]);
}

CASE(blocks_of_a_descriptor_that_became_a_pipe) {
    becomes_a_pipe(false);
    becomes_a_pipe(true);
}

/* Increasing numbers: a record is intact if its numbers are. */
static size_t record_size;

static void put_numbers(const char *path, unsigned n) {
    unsigned *numbers = malloc(n * sizeof *numbers);
    for (unsigned i = 0; i < n; i++)
        numbers[i] = i;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    raw_write(fd, numbers, n * sizeof *numbers);
    close(fd);
    free(numbers);
}

static bool is_whole(const unsigned *record, size_t n) {
    for (size_t i = 1; i < n / sizeof *record; i++)
        if (record[i] != record[0] + i)
            return false;
    return true;
}

static void *reads_records(void *unused) {
    unsigned *record = malloc(record_size);
    (void)unused;
    for (size_t n; (n = fread(record, 1, record_size, shared)) > 0;) {
        wrong += !is_whole(record, n);
        total += (long)n;
    }
    free(record);
    return NULL;
}

static ssize_t read_numbers(void *cookie, char *p, size_t n) {
    return (ssize_t)fread(p, 1, n, cookie);
}

static FILE *open_numbers(int kind) {
    cookie_io_functions_t functions = {.read = read_numbers};
    return kind == 0   ? fopen("numbers", "r")
           : kind == 1 ? fopen("numbers", "r+")
           : kind == 2 ? popen("cat numbers", "r")
                       : fopencookie(fopen("numbers", "r"), "r", functions);
}

CASE(records_are_whole) {
    static const size_t sizes[] = {100, 3000, 8192, 40000, 100004, 300000};
    put_numbers("numbers", 1000000);
    for (int kind = 0; kind < 4; kind++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            wrong = total = 0;
            record_size = sizes[i];
            shared = open_numbers(kind);
            run_threads(3, reads_records);
            say("%d: of %lu bytes %ld torn, %ld in all", kind, record_size, (long)wrong, (long)total);
            kind == 2 ? pclose(shared) : fclose(shared);
        }
    unlink("numbers");
}

static void *writes_records(void *arg) {
    unsigned *record = malloc(record_size);
    for (unsigned n = 0; n < 4000000 / THREADS; n += (unsigned)record_size) {
        for (unsigned i = 0; i < record_size / sizeof *record; i++)
            record[i] = i + (unsigned)(long)arg;
        fwrite(record, 1, record_size, shared);
    }
    free(record);
    return NULL;
}

CASE(records_are_written_whole) {
    static const size_t sizes[] = {100, 3000, 8192, 40000, 100004, 300000};
    static const char *const modes[] = {"w", "a", "w+"};
    for (int kind = 0; kind < 3; kind++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            wrong = total = 0;
            record_size = sizes[i];
            shared = fopen("numbers", modes[kind]);
            run_threads(THREADS, writes_records);
            fclose(shared);
            shared = fopen("numbers", "r");
            reads_records(NULL);
            say("%s: of %lu bytes %ld torn, %ld in all", modes[kind], record_size, (long)wrong, (long)total);
            fclose(shared);
            unlink("numbers");
        }
}

static void *gets_characters(void *arg) {
    long sum = 0, count = 0;
    for (int c; (c = arg ? getc(shared) : fgetc(shared)) != EOF; count++)
        sum += c;
    total += sum + (count << 40);
    return NULL;
}

CASE(characters_are_delivered_once) {
    put_pattern("file", 500000);
    shared = fopen("file", "r");
    run_threads(THREADS, gets_characters);
    say("total %lx", (long)total);
}

static void *gets_lines(void *arg) {
    char *line = NULL, text[100];
    size_t size = 0;
    long sum = 0;
    while (arg ? getline(&line, &size, shared) > 0 : fgets(text, sizeof text, shared) != NULL)
        sum += atoi((arg ? line : text) + 5);
    free(line);
    total += sum;
    return NULL;
}

CASE(lines_are_delivered_once) {
    put_lines("file", 30000);
    shared = fopen("file", "r");
    run_threads(THREADS, gets_lines);
    say("total %ld", (long)total);
}

static void *pushes_back(void *arg) {
    long sum = 0;
    for (int i = 0; i < 20000; i++) {
        flockfile(shared);
        int c = getc(shared);
        if (c != EOF && (i + (long)arg) % 2) {
            ungetc(c, shared);
            c = getc(shared);
        }
        funlockfile(shared);
        sum += c == EOF ? 0 : c;
    }
    total += sum;
    return NULL;
}

CASE(pushed_back_characters) {
    put_pattern("file", 60000);
    shared = fopen("file", "r");
    run_threads(THREADS, pushes_back);
    say("total %ld", (long)total);
    CALL(getc(shared));
}

static void *reads_pipe(void *arg) {
    (void)arg;
    char block[777];
    for (size_t n; (n = fread(block, 1, sizeof block, shared)) > 0;)
        for (size_t i = 0; i < n; i++)
            total += (unsigned char)block[i] + (1L << 40);
    return NULL;
}

CASE(a_pipe_is_delivered_once) {
    put_pattern("file", 200000);
    shared = popen("cat file", "r");
    run_threads(2, reads_pipe);
    say("total %lx", (long)total);
    CALL(pclose(shared));
}

/* --- locks ------------------------------------------------------------------------------ */

static void *tries(void *f) {
    int result = ftrylockfile(f);
    if (result == 0)
        funlockfile(f);
    return (void *)(long)result;
}

static void try_from_another_thread(FILE *f) {
    pthread_t t;
    void *result;
    pthread_create(&t, NULL, tries, f);
    pthread_join(t, &result);
    say("another thread gets it %d", result == NULL);
}

CASE(locks_are_recursive) {
    flockfile(stdout);
    flockfile(stdout);
    CALL(ftrylockfile(stdout));
    try_from_another_thread(stdout);
    printf("text");
    funlockfile(stdout);
    try_from_another_thread(stdout);
    funlockfile(stdout);
    funlockfile(stdout);
    try_from_another_thread(stdout);
    CALL(ftrylockfile(stdout));
    try_from_another_thread(stdout);
    funlockfile(stdout);
}

/* libc's own code takes the lock, which the caller holds, and must leave it held. */
static void held_over(FILE *f) {
    int n = 0;
    flockfile(f);
    try_from_another_thread(f);
    CALL(fscanf(f, "%d", &n));
    try_from_another_thread(f);
    CALL(fscanf(f, "%'d%*[^\n]", &n)); /* libc's own code handles this format */
    try_from_another_thread(f);
    CALL(getmntent(f) != NULL);
    try_from_another_thread(f);
    funlockfile(f);
    try_from_another_thread(f);
}

CASE(held_while_libc_locks) {
    put_text("numbers", "1 2 x\na b c d 0 0\n3 4 x\na b c d 0 0\n");
    FILE *f = fopen("numbers", "r");
    held_over(f);
    for (int i = 0; i < 200; i++) { /* so that the lock becomes biased to this thread */
        rewind(f);
        CALL(getc(f));
        ungetc('1', f);
    }
    held_over(f);
    fclose(f);
}

CASE(error_messages_while_held) {
    flockfile(stderr);
    errno = ENOENT;
    perror("perror");
    try_from_another_thread(stderr);
    psignal(SIGINT, "psignal");
    try_from_another_thread(stderr);
    fprintf(stderr, "%s\n", "fprintf");
    fwprintf(stderr, L"%s\n", "refused");
    try_from_another_thread(stderr);
    funlockfile(stderr);
    try_from_another_thread(stderr);
}

static atomic_int stage; /* 1: the other thread has started */

static pthread_t start_until_staged(void *(*body)(void *), void *arg) {
    pthread_t t;
    pthread_create(&t, NULL, body, arg);
    while (stage < 1)
        usleep(100);
    return t;
}

/* The body stores its thread number first. */
static pthread_t start_until_blocked(void *(*body)(void *)) {
    pid_t tid;
    pthread_t t = start_until_staged(body, &tid);
    wait_until_blocked(tid);
    return t;
}

static bool cancel(pthread_t t) {
    void *result;
    pthread_cancel(t);
    pthread_join(t, &result);
    return result == PTHREAD_CANCELED;
}

static void *waits_for_lock(void *arg) {
    *(pid_t *)arg = (pid_t)syscall(SYS_gettid);
    stage = 1;
    putc('2', shared);
    stage = 2;
    return NULL;
}

CASE(a_locked_stream_waits) {
    shared = fopen("out", "w");
    flockfile(shared);
    pthread_t t = start_until_blocked(waits_for_lock);
    say("stage %d", stage);
    putc_unlocked('1', shared);
    putc('1', shared);
    funlockfile(shared);
    pthread_join(t, NULL);
    fclose(shared);
    note_file("out");
}

static void *locks_and_dies(void *arg) {
    (void)arg;
    for (int i = 0; i < 1000; i++)
        putc('x', shared);
    return NULL;
}

CASE(a_thread_that_used_a_stream_ends) {
    shared = fopen("out", "w");
    for (int i = 0; i < 20; i++) {
        run_threads(1, locks_and_dies);
        putc('y', shared);
    }
    CALL(ftell(shared));
    fclose(shared);
}

static void *uses_once(void *arg) {
    (void)arg;
    for (int i = 0; i < 100; i++)
        fputs("abc", shared);
    return NULL;
}

CASE(single_then_threads_then_single) {
    shared = fopen("out", "w");
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 100; i++)
            putc('-', shared);
        run_threads(2, uses_once);
        fputs("single", shared);
    }
    CALL(ftell(shared));
    CALL(fclose(shared));
}

CASE(locking_by_the_caller) {
    FILE *f = fopen("out", "w");
    CALL(__fsetlocking(f, FSETLOCKING_QUERY));
    CALL(__fsetlocking(f, FSETLOCKING_BYCALLER));
    CALL(__fsetlocking(f, FSETLOCKING_QUERY));
    shared = f;
    run_threads(1, uses_once);
    fputs("more", f);
    CALL(__fsetlocking(f, FSETLOCKING_INTERNAL));
    CALL(fclose(f));
    note_file("out");
}

/* --- fork and cancellation ----------------------------------------------------------------- */

static void *holds_lock(void *arg) {
    (void)arg;
    flockfile(stdout);
    flockfile(shared);
    stage = 1;
    while (stage < 2)
        usleep(100);
    funlockfile(shared);
    funlockfile(stdout);
    return NULL;
}

CASE(fork_while_a_lock_is_held_elsewhere) {
    shared = fopen("out", "w");
    pthread_t t = start_until_staged(holds_lock, NULL);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(40);
        printf("the child prints");
        fputs("the child writes", shared);
        say("both done");
        fflush(NULL);
        say("flushed");
        exit(0);
    }
    finish(pid);
    stage = 2;
    pthread_join(t, NULL);
    printf(" and the parent");
}

static void *writes_all_the_time(void *arg) {
    (void)arg;
    while (stage < 2) {
        fputs("some text\n", shared);
        fflush(shared);
    }
    return NULL;
}

CASE(forks_while_threads_write) {
    shared = fopen("/dev/null", "w");
    pthread_t t;
    pthread_create(&t, NULL, writes_all_the_time, NULL);
    int good = 0;
    for (int i = 0; i < 30; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            alarm(40);
            FILE *f = fopen("/dev/null", "w");
            fputs("child", f);
            fclose(f);
            fflush(NULL);
            exit(7);
        }
        int status;
        waitpid(pid, &status, 0);
        good += WIFEXITED(status) && WEXITSTATUS(status) == 7;
    }
    stage = 2;
    pthread_join(t, NULL);
    say("%d of 30", good);
}

static void *reads_forever(void *arg) {
    *(pid_t *)arg = (pid_t)syscall(SYS_gettid);
    stage = 1;
    getc(shared);
    stage = 3;
    return NULL;
}

CASE(cancelled_in_a_read) {
    int ends[2];
    pipe(ends);
    shared = fdopen(ends[0], "r");
    pthread_t t = start_until_blocked(reads_forever);
    bool cancelled = cancel(t);
    say("cancelled %d stage %d", cancelled, stage);
    raw_write(ends[1], "abc", 3);
    CALL(ftrylockfile(shared));
    CALL(getc(shared));
    CALL(fclose(shared));
}

static void *writes_forever(void *arg) {
    static char block[200000];
    *(pid_t *)arg = (pid_t)syscall(SYS_gettid);
    stage = 1;
    fwrite(block, 1, sizeof block, shared);
    stage = 3;
    return NULL;
}

CASE(cancelled_in_a_write) {
    int ends[2];
    pipe(ends);
    shared = fdopen(ends[1], "w");
    pthread_t t = start_until_blocked(writes_forever);
    bool cancelled = cancel(t);
    say("cancelled %d stage %d", cancelled, stage);
    CALL(ftrylockfile(shared));
}

static void *reads_input_until_told(void *arg) {
    return reads_forever(arg);
}

/* A thread waits in a read while another exits the process. Since glibc 2.41 exit waits for the thread for
 * ever. */
CASE(exit_while_a_thread_reads) {
    int ends[2];
    if (__GLIBC_PREREQ(2, 41))
        return;
    pipe(ends);
    shared = fdopen(ends[0], "r");
    start_until_blocked(reads_input_until_told);
    printf("printed before exit");
    exit(3);
}

CASE(other_streams_while_a_thread_reads) {
    int ends[2];
    pipe(ends);
    shared = fdopen(ends[0], "r");
    pthread_t t = start_until_blocked(reads_forever);
    FILE *f = fopen("out", "w");
    fputs("text", f);
    CALL(fclose(f));
    CALL(getchar());
    printf("text");
    CALL(fflush(stdout));
    CALL(system("true"));
    raw_write(ends[1], "x", 1);
    pthread_join(t, NULL);
    say("stage %d", stage);
}

/* libc's own functions write on a stream that another thread is using. */
static void *puts_entries(void *arg) {
    (void)arg;
    struct passwd p = {(char *)"name",  (char *)"x",      1000, 1001, (char *)"A Name",
                       (char *)"/home", (char *)"/bin/sh"};
    for (int i = 0; i < 1000; i++)
        putpwent(&p, shared);
    stage = 2;
    return NULL;
}

static void *puts_other_lines(void *arg) {
    (void)arg;
    while (stage < 2) {
        fputs("a line of ours, neither short nor long\n", shared);
        if (stage == 0)
            stage = 1;
    }
    return NULL;
}

CASE(functions_inside_libc_meanwhile) {
    shared = fopen("out", "w");
    pthread_t t = start_until_staged(puts_other_lines, NULL);
    /* since 2.37 glibc's printf may write into the buffer of a stream that another thread uses */
    if (__GLIBC_PREREQ(2, 37)) {
        flockfile(shared);
        funlockfile(shared);
    }
    puts_entries(NULL);
    pthread_join(t, NULL);
    fclose(shared);
    FILE *f = fopen("out", "r");
    char line[100];
    int entries = 0, others = 0, torn = 0;
    while (fgets(line, sizeof line, f))
        if (strcmp(line, "name:x:1000:1001:A Name:/home:/bin/sh\n") == 0)
            entries++;
        else if (strcmp(line, "a line of ours, neither short nor long\n") == 0)
            others++;
        else
            torn++;
    say("%d entries, other lines %d, torn %d", entries, others > 0, torn);
    unlink("out");
}

/* Many threads at once open, use and close a stream. */
static void *opens_and_closes(void *arg) {
    char path[20] = "file0";
    path[4] = (char)('0' + (long)arg);
    for (int i = 0; i < 500; i++) {
        FILE *f = fopen(path, "w+");
        fprintf(f, "%d", i);
        rewind(f);
        int back = -1;
        total += fscanf(f, "%d", &back) == 1 && back == i;
        fclose(f);
    }
    return NULL;
}

CASE(streams_of_many_threads) {
    run_threads(THREADS, opens_and_closes);
    say("right %ld", (long)total);
}

static void *flushes_all(void *arg) {
    (void)arg;
    while (stage < 2)
        fflush(NULL);
    return NULL;
}

CASE(flushing_everything_meanwhile) {
    pthread_t t;
    pthread_create(&t, NULL, flushes_all, NULL);
    run_threads(THREADS, opens_and_closes);
    stage = 2;
    pthread_join(t, NULL);
    say("right %ld", (long)total);
}

static void *main_leaves(void *arg) {
    pthread_join(*(pthread_t *)arg, NULL);
    printf("printed by the thread that is left");
    return NULL;
}

enum { MANY = 150 };
static FILE *many[MANY];

static void *holds_many(void *arg) {
    for (int i = 0; i < MANY; i++)
        flockfile(many[i]);
    stage = 1;
    wait_until_blocked(getpid());
    for (int i = 0; i < MANY; i++)
        funlockfile(many[i]);
    return arg;
}

CASE(flushing_everything_while_much_is_busy) {
    pthread_t t;
    int written = 0;
    for (int i = 0; i < MANY; i++) {
        char name[20];
        snprintf(name, sizeof name, "many%d", i);
        many[i] = fopen(name, "w");
        fputs("text", many[i]);
    }
    stage = 0;
    pthread_create(&t, NULL, holds_many, NULL);
    while (stage == 0)
        sched_yield(); /* the other thread does not block before it flushes */
    CALL(fflush(NULL));
    for (int i = 0; i < MANY; i++) {
        struct stat st;
        written += fstat(fileno(many[i]), &st) == 0 && st.st_size == 4;
    }
    say("%d of %d are written", written, MANY);
    pthread_join(t, NULL);
    for (int i = 0; i < MANY; i++)
        fclose(many[i]);
}

CASE(main_thread_ends_first) {
    static pthread_t self, t;
    self = pthread_self();
    printf("printed by main. ");
    pthread_create(&t, NULL, main_leaves, &self);
    pthread_exit(NULL);
}

/* After a cancellation in any waiting call, the lock is free, and the stream continues at its offset. */
static void (*waiting_call)(FILE *);

static void *waits_in_a_call(void *arg) {
    *(pid_t *)arg = (pid_t)syscall(SYS_gettid);
    stage = 1;
    waiting_call(shared);
    return NULL;
}

static void by_fgets(FILE *f) {
    char line[100];
    fgets(line, sizeof line, f);
}

static void by_getline(FILE *f) {
    static char *line;
    static size_t size;
    getline(&line, &size, f);
}

static void by_fscanf(FILE *f) {
    char word[100];
    fscanf(f, "%99s", word);
}

static void by_fgetc(FILE *f) {
    fgetc(f);
    fgetc(f);
    fgetc(f);
    fgetc(f);
}

static void by_fflush(FILE *f) {
    for (int i = 0; i < 1000; i++) {
        fputs("some words", f);
        fflush(f);
    }
}

static void by_putc(FILE *f) {
    for (int i = 0; i < 200000; i++)
        putc('x', f);
}

static void by_fprintf(FILE *f) {
    for (int i = 0; i < 20000; i++)
        fprintf(f, "%d words\n", i);
}

static void cancel_in(const char *name, void (*call)(FILE *), bool reading) {
    int ends[2];
    pipe(ends);
    fcntl(ends[1], F_SETPIPE_SZ, 4096);
    shared = fdopen(ends[reading ? 0 : 1], reading ? "r" : "w");
    raw_write(ends[1], "abc", reading ? 3 : 0);
    stage = 0;
    waiting_call = call;
    pthread_t t = start_until_blocked(waits_in_a_call);
    bool cancelled = cancel(t);
    say("%s: cancelled %d locked %d", name, cancelled, ftrylockfile(shared));
    funlockfile(shared);
    if (reading) {
        raw_write(ends[1], "de\n", 3);
        say("then %d", getc(shared));
        fclose(shared);
    }
    close(ends[reading ? 1 : 0]);
}

CASE(cancelled_in_each_call) {
    cancel_in("fgets", by_fgets, true);
    cancel_in("getline", by_getline, true);
    cancel_in("fscanf", by_fscanf, true);
    cancel_in("fgetc", by_fgetc, true);
    signal(SIGPIPE, SIG_IGN);
    cancel_in("fflush", by_fflush, false);
    cancel_in("putc", by_putc, false);
    cancel_in("fprintf", by_fprintf, false);
}

static atomic_int getter;

static void *get_one(void *f) {
    getter = (int)syscall(SYS_gettid);
    say("the other thread: %d", getc(f));
    return NULL;
}

/* fread_unlocked releases no lock, neither with flockfile nor without. */
CASE(much_without_a_lock) {
    static char block[20000];
    pthread_t thread;
    put_pattern("file", 70000);
    FILE *f = fopen("file", "r");
    for (int i = 0; i < 2; i++) {
        pthread_create(&thread, NULL, get_one, f);
        pthread_join(thread, NULL);
        say("%lu", fread_unlocked(block, 1, 20000, f));
    }
    flockfile(f);
    getter = 0;
    pthread_create(&thread, NULL, get_one, f);
    say("%lu", fread_unlocked(block, 1, 12000, f));
    long at = ftell(f);
    while (!getter)
        usleep(100);
    wait_until_blocked(getter);
    say("nobody read meanwhile: %d", ftell(f) == at);
    funlockfile(f);
    pthread_join(thread, NULL);
    say("then %ld", ftell(f));
    fclose(f);
}

/* --- calls without a lock, while other threads wait ------------------------------------------ */

enum { MANY_LINES = 500000 };

static void by_fwrite_unlocked(const char *line, size_t n) {
    fwrite_unlocked(line, 1, n, shared);
}

static void by_fputs_unlocked(const char *line, size_t n) {
    (void)n;
    fputs_unlocked(line, shared);
}

static void by_putc_unlocked(const char *line, size_t n) {
    for (size_t i = 0; i < n; i++)
        putc_unlocked(line[i], shared);
}

static void by_fputs(const char *line, size_t n) {
    (void)n;
    fputs(line, shared);
}

static void by_fputws_unlocked(const char *line, size_t n) {
    wchar_t wide[64];
    for (size_t i = 0; i <= n; i++)
        wide[i] = (unsigned char)line[i];
    fputws_unlocked(wide, shared);
}

static void *writes_many_lines(void *by) {
    void (*put)(const char *, size_t) = *(void (**)(const char *, size_t))by;
    char line[64];
    for (int i = 0; i < MANY_LINES; i++)
        put(line, (size_t)sprintf(line, "%d line of text\n", i));
    stage = 1;
    return NULL;
}

/* The main thread waits repeatedly. Each time the other thread's buffered output must be written, and
 * exactly once. */
static void write_beside(void (*put)(const char *, size_t), int locking) {
    pthread_t t;
    shared = fopen("out", "w");
    __fsetlocking(shared, locking);
    stage = 0;
    pthread_create(&t, NULL, writes_many_lines, &put);
    while (stage == 0)
        poll(NULL, 0, 0);
    pthread_join(t, NULL);
    CALL(fclose(shared));
    note_file("out");
}

CASE(written_without_a_lock_while_others_wait) {
    write_beside(by_fwrite_unlocked, FSETLOCKING_INTERNAL);
    write_beside(by_fputs_unlocked, FSETLOCKING_INTERNAL);
    write_beside(by_putc_unlocked, FSETLOCKING_INTERNAL);
    write_beside(by_fputs, FSETLOCKING_BYCALLER);
    write_beside(by_fputws_unlocked, FSETLOCKING_INTERNAL);
}

struct reading {
    size_t (*get)(char *p, size_t room);
    unsigned long bytes, sum;
};

static size_t by_fread_unlocked(char *p, size_t room) {
    return (fread_unlocked)(p, 1, room / 9, shared);
}

static size_t by_fgets_unlocked(char *p, size_t room) {
    return fgets_unlocked(p, (int)room, shared) ? strlen(p) : 0;
}

static size_t by_getc_unlocked(char *p, size_t room) {
    (void)room;
    int c = getc_unlocked(shared);
    *p = (char)c;
    return c != EOF;
}

static void *reads_all(void *arg) {
    struct reading *r = arg;
    char piece[64];
    for (size_t n; (n = r->get(piece, sizeof piece)) > 0; r->bytes += n)
        for (size_t i = 0; i < n; i++)
            r->sum = r->sum * 31 + (unsigned char)piece[i];
    stage = 1;
    return NULL;
}

static void read_beside(size_t (*get)(char *, size_t)) {
    struct reading r = {get, 0, 0};
    pthread_t t;
    shared = fopen("long", "r");
    stage = 0;
    pthread_create(&t, NULL, reads_all, &r);
    while (stage == 0) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        waitpid(child, NULL, 0);
    }
    pthread_join(t, NULL);
    say("%lu bytes, %lx", r.bytes, r.sum);
    fclose(shared);
}

/* At each fork the descriptor must get libc's offset. */
CASE(read_without_a_lock_while_others_fork) {
    put_pattern("long", 30000000);
    for (int i = 0; i < 3; i++) {
        read_beside(by_fread_unlocked);
        read_beside(by_fgets_unlocked);
        read_beside(by_getc_unlocked);
    }
}
