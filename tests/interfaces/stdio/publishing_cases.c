/* SPDX-License-Identifier: MIT
 *
 * publishing_cases.c - threads call functions of their own streams in random order, with and without
 * locks, while another thread waits, forks or starts commands; or a signal handler does so. Buffered
 * output must then be written, and exactly once.
 */
#include "transcript.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio_ext.h>
#include <sys/time.h>
#include <sys/wait.h>

enum { THREADS = 3, STEPS = 2000, SEEDS = 2, ROOM = 20000, LONGEST_FILE = 1000000 };

struct worker {
    int number;
    uint64_t random, hash;
    FILE *f;
    bool reading;
    char path[16], block[ROOM + 1];
};

static atomic_int at_work;

static unsigned chance(struct worker *w, unsigned n) {
    w->random = w->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(w->random >> 33) % n;
}

static void add(struct worker *w, uint64_t value) {
    w->hash = (w->hash ^ value) * UINT64_C(0x100000001b3);
}

static void add_bytes(struct worker *w, const char *p, size_t n) {
    add(w, n);
    for (size_t i = 0; i < n; i++)
        add(w, (unsigned char)p[i]);
}

/* Mostly few bytes, sometimes more than a buffer holds. */
static size_t bytes(struct worker *w) {
    return chance(w, 4) ? chance(w, 100) : chance(w, ROOM);
}

static void write_one(struct worker *w, unsigned how) {
    size_t n = bytes(w);
    memset(w->block, 'a' + (int)chance(w, 26), n);
    w->block[n] = '\0';
    switch (how) {
    case 0:
        for (size_t i = 0; i < n; i++)
            putc_unlocked(w->block[i], w->f);
        break;
    case 1:
        add(w, (fwrite_unlocked)(w->block, 1, n, w->f));
        break;
    case 2:
        add(w, fputs_unlocked(w->block, w->f) < 0);
        break;
    case 3:
        add(w, fwrite(w->block, 1, n, w->f));
        break;
    case 4:
        add(w, fputs(w->block, w->f) < 0);
        break;
    case 5:
        add(w, (uint64_t)fprintf(w->f, "%zu %s %x\n", n, "of text", how));
        break;
    case 6:
        for (size_t i = 0; i < n % 300; i++)
            putc(w->block[i], w->f);
        break;
    default:
        flockfile(w->f);
        for (size_t i = 0; i < n; i++)
            putc_unlocked("0123456789\n"[i % 11], w -> f);
        funlockfile(w->f);
    }
}

static void get_unlocked(struct worker *w, size_t n) {
    int ch = 0;
    for (size_t i = 0; i < n && ch != EOF; i++)
        add(w, (uint64_t)(ch = getc_unlocked(w->f)));
}

static void read_one(struct worker *w, unsigned how) {
    size_t n = bytes(w);
    char *p = w->block;
    switch (how) {
    case 0:
        get_unlocked(w, n);
        break;
    case 1:
        add_bytes(w, p, (fread_unlocked)(p, 1, n, w->f));
        break;
    case 2:
        add_bytes(w, p, fgets_unlocked(p, (int)n + 1, w->f) ? strlen(p) : 0);
        break;
    case 3:
        add_bytes(w, p, fread(p, 1, n, w->f));
        break;
    case 4:
        add_bytes(w, p, fgets(p, (int)n + 1, w->f) ? strlen(p) : 0);
        break;
    case 5:
        add(w, (uint64_t)ungetc(getc(w->f), w->f));
        break;
    case 6:
        add_bytes(w, p, fscanf(w->f, "%64s", p) == 1 ? strlen(p) : 0);
        break;
    default:
        flockfile(w->f);
        get_unlocked(w, n);
        funlockfile(w->f);
    }
}

/* After a failed seek the stream would still be in the state of reading. */
static void move_by(struct worker *w, long offset) {
    if (fseek(w->f, offset, SEEK_CUR) != 0)
        rewind(w->f);
}

static void turn_to(struct worker *w, bool reading) {
    if (w->reading == reading)
        return;
    if (reading)
        fflush(w->f);
    move_by(w, reading ? -(long)chance(w, 5000) : 0);
    w->reading = reading;
}

static void open_again(struct worker *w) {
    add(w, (uint64_t)fclose(w->f));
    w->f = fopen(w->path, chance(w, 3) ? "r+" : "w+");
    if (chance(w, 5) == 0)
        __fsetlocking(w->f, FSETLOCKING_BYCALLER);
    if (chance(w, 7) == 0)
        setvbuf(w->f, NULL, chance(w, 2) ? _IOLBF : _IOFBF, chance(w, 3) ? 0 : 1000);
}

static void move(struct worker *w) {
    switch (chance(w, 6)) {
    case 0:
        move_by(w, -(long)chance(w, 9000));
        break;
    case 1:
        fseek(w->f, (long)chance(w, 100000), SEEK_SET);
        break;
    case 2:
        fseek(w->f, 0, SEEK_END);
        break;
    case 3:
        rewind(w->f);
        break;
    case 4:
        open_again(w);
        break;
    default:
        fflush_unlocked(w->f);
    }
    w->reading = false;
}

static void step(struct worker *w) {
    unsigned kind = chance(w, 16);
    if (kind < 13) {
        turn_to(w, kind >= 8);
        (w->reading ? read_one : write_one)(w, chance(w, 8));
    } else {
        move(w);
    }
    add(w, (uint64_t)feof(w->f));
    if (chance(w, 4) == 0)
        add(w, (uint64_t)ftell(w->f));
    if (ftell(w->f) > LONGEST_FILE)
        rewind(w->f);
}

static void *work(void *arg) {
    struct worker *w = arg;
    w->f = fopen(w->path, "w+");
    for (int i = 0; i < STEPS; i++)
        step(w);
    fclose(w->f);
    w->f = fopen(w->path, "r");
    for (size_t n; (n = fread(w->block, 1, ROOM, w->f)) > 0;)
        add_bytes(w, w->block, n);
    fclose(w->f);
    unlink(w->path);
    atomic_fetch_sub(&at_work, 1);
    return NULL;
}

static void run_beside(void (*other)(void)) {
    static struct worker workers[THREADS];
    pthread_t t[THREADS];
    for (int seed = 0; seed < SEEDS; seed++) {
        atomic_store(&at_work, THREADS);
        for (int i = 0; i < THREADS; i++) {
            workers[i] = (struct worker){.number = i, .random = (uint64_t)(seed * THREADS + i)};
            sprintf(workers[i].path, "file%d", i);
            pthread_create(&t[i], NULL, work, &workers[i]);
        }
        while (atomic_load(&at_work) > 0)
            other();
        for (int i = 0; i < THREADS; i++) {
            pthread_join(t[i], NULL);
            say("seed %d, thread %d: %lx", seed, i, (unsigned long)workers[i].hash);
        }
    }
}

static void waits(void) {
    poll(NULL, 0, 0);
}

CASE(one_that_waits) {
    run_beside(waits);
}

static void forks(void) {
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
}

CASE(one_that_forks) {
    run_beside(forks);
}

static void vforks(void) {
    pid_t child = vfork();
    if (child == 0) {
        execl("/bin/true", "true", (char *)NULL);
        _exit(1);
    }
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
}

CASE(one_that_vforks) {
    run_beside(vforks);
}

static void spawns(void) {
    char *argv[] = {"true", NULL};
    pid_t child;
    if (posix_spawn(&child, "/bin/true", NULL, NULL, argv, NULL) == 0)
        waitpid(child, NULL, 0);
}

CASE(one_that_spawns) {
    run_beside(spawns);
}

static void pipes(void) {
    FILE *f = popen("cat >/dev/null", "w");
    fputs("some text\n", f);
    pclose(f);
}

CASE(one_that_opens_pipes) {
    run_beside(pipes);
}

static void opens(void) {
    FILE *f = fopen("/dev/null", "w");
    fputs("some text\n", f);
    fclose(f);
}

CASE(one_that_opens_files) {
    run_beside(opens);
}

/* --- interrupted --------------------------------------------------------------- */

static void (*interrupts)(void);
static volatile int period;

/* The timer is set again each time, since the handler may run longer than a period. */
static void interrupt_soon(void) {
    const struct itimerval once = {{0, 0}, {0, period}};
    setitimer(ITIMER_REAL, &once, NULL);
}

static void on_alarm(int sig) {
    int error = errno;
    (void)sig;
    interrupts();
    interrupt_soon();
    errno = error;
}

static void interrupt_every(int microseconds) {
    period = microseconds;
    interrupt_soon();
}

static void interrupt_by(void (*other)(void)) {
    struct sigaction act = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    interrupts = other;
    sigaction(SIGALRM, &act, NULL);
}

static void run_interrupted(void (*other)(void), int microseconds) {
    static struct worker w;
    interrupt_by(other);
    for (int seed = 0; seed < 3 * SEEDS; seed++) {
        w = (struct worker){.random = (uint64_t)seed + 1000, .path = "file"};
        interrupt_every(microseconds);
        work(&w);
        interrupt_every(0);
        say("seed %d: %lx", seed, (unsigned long)w.hash);
    }
}

CASE(a_handler_that_waits) {
    run_interrupted(waits, 50);
}

static void writes(void) {
    int fd = open("/dev/null", O_WRONLY);
    if (write(fd, "some text", 9) != 9)
        say("not written");
    close(fd);
}

CASE(a_handler_that_writes) {
    run_interrupted(writes, 50);
}

static void looks(void) {
    struct stat st;
    stat("file", &st);
}

CASE(a_handler_that_looks) {
    run_interrupted(looks, 50);
}

CASE(a_handler_that_forks) {
    run_interrupted(forks, 1000);
}

CASE(a_handler_that_vforks) {
    run_interrupted(vforks, 1000);
}

/* A handler must not wait for a lock that the interrupted code of its thread holds. */
CASE(handlers_in_threads_beside_one_that_waits) {
    interrupt_by(waits);
    interrupt_every(50);
    run_beside(waits);
}

CASE(handlers_in_threads_beside_one_that_forks) {
    interrupt_by(waits);
    interrupt_every(200);
    run_beside(forks);
}
