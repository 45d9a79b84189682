/* SPDX-License-Identifier: MIT
 *
 * changing_files.c - the process that changes a file, and the checks of the bytes that another process reads.
 */
#define _GNU_SOURCE
#include "tests/faults/changing_files.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MOST_WRITTEN = 256 << 10,
    PATIENCE = 60,
    PAGE = 4096,
    LARGEST_FOLIO = 2 << 20,
    PAGES = CHANGING_LARGEST / PAGE + 1
};

/* --- what is shared ------------------------------------------------------------------------- */

enum kind { REWRITTEN, CUT, GROWN, OVERWRITTEN, REPLACED, PUNCHED, APPENDED, MIXED, KINDS };
static const char *const kinds[] = {"rewritten", "cut and appended", "cut and grown", "overwritten",
                                    "replaced",  "punched",          "appended",      "all of these"};
enum signals { UNTOUCHED, BLOCKED, IGNORED, DEFAULT, HANDLED, SIGNALS };
static const char *const signals[] = {"untouched", "blocked", "ignored", "default", "handled"};

/* `seq` is odd while the file is being changed; `inode` counts the files that had its name. */
static struct {
    sem_t asked, done;
    long seq, inode, size[2];
    bool over, at_any_time, races;
} * the;
static bool *may_show_zeros; /* of each page: see begin_change */
static char *shadow[2];      /* copies of the file and its predecessor, indexed by `inode`'s last bit */
static unsigned char *table; /* the part of a byte that depends on its offset */

static struct {
    uint64_t seed;
    long number;
    const char *reader;
    enum kind kind;
    enum signals signals;
    bool in_steps, before; /* changes come only between two calls; signals are set at the beginning */
    char path[4000], still[4100], next[4100], zeros[4100];
    long first_size;
} now;

static __thread uint64_t state;

void set_numbers(uint64_t seed) {
    state = seed;
}

uint64_t any(uint64_t below) {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return below ? (z ^ z >> 31) % below : 0;
}

/* A random size; small sizes are more frequent than large ones. */
size_t any_size(size_t most) {
    static const size_t bounds[] = {20, 300, 5000, 70000, 1 << 20, CHANGING_LARGEST};
    const size_t bound = bounds[any(sizeof bounds / sizeof *bounds)];
    return 1 + any(bound < most ? bound : most);
}

static void describe(long offset) {
    fprintf(
        stderr,
        "%s, round %ld of seed %lu: %s, %s, SIGBUS %s %s, %ld bytes at first, in %s: offset %ld (%ld in its "
        "page; the file has %ld)\n",
        now.reader, now.number, (unsigned long)now.seed, kinds[now.kind],
        now.in_steps ? "between two calls" : "at any time", signals[now.signals],
        now.before ? "at first" : "later", now.first_size, now.path, offset, offset % 4096,
        the->size[the->inode & 1]);
}

void fail_at(long offset, const char *format, ...) {
    va_list args;
    va_start(args, format);
    describe(offset);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n");
    fflush(stderr);
    _exit(1);
}

bool may_be_zero(void) {
    return now.kind == GROWN || now.kind == PUNCHED || now.kind == MIXED;
}

bool may_be_cut(void) {
    return now.kind == REWRITTEN || now.kind == CUT || now.kind == GROWN || now.kind == MIXED;
}

const char *still_file(void) {
    return now.still;
}

const char *pages_of_zeros(void) {
    return now.zeros;
}

/* --- the changes: by number, since libasf_unix may be preloaded ----------------------------- */

static unsigned generation;

static struct {
    const char *text;
    long length;
} contents[4];

void set_content(unsigned of, const char *text, long length) {
    contents[of & 3].text = text;
    contents[of & 3].length = length;
}

char changing_byte(size_t at, unsigned of) {
    const uint64_t z = (at + 1) * 0x9e3779b97f4a7c15;
    const unsigned byte = (unsigned)(3 + (z >> 40) % 61) << 2;
    return (char)(at % CHANGING_LINE == CHANGING_LINE - 1 ? '\n' : byte | (of & 3));
}

static void make_table(void) {
    for (size_t i = 0; i < CHANGING_LARGEST; i++)
        table[i] = (unsigned char)changing_byte(i, 0);
}

/* Fills `to` with this generation's bytes of [at, at + n). */
static void fill(char *to, long at, long n) {
    const char *text = contents[generation & 3].text;
    const long length = contents[generation & 3].length;
    for (long i = 0; i < n && !text; i++)
        to[i] = (char)(table[at + i] == '\n' ? '\n' : table[at + i] | (generation & 3));
    if (text && at < length)
        memcpy(to, text + at, (size_t)(length - at < n ? length - at : n));
}

/* The initial size of a file of this generation. */
static long full_size(void) {
    return contents[0].text ? contents[generation & 3].length : now.first_size;
}

static void must(bool done, const char *what) {
    if (!done)
        fail_at(-1, "%s: %s", what, strerror(errno));
}

static char *file_now(void) {
    return shadow[the->inode & 1];
}

static long *size_now(void) {
    return &the->size[the->inode & 1];
}

/* Called before the file's size becomes `size`.  Zeros may then appear in the page in which the file ends.
 * If a read may run during the truncation, they may appear in the rest of the folio: the kernel reads the
 * size before it copies. */
static void begin_change(long size) {
    const long zeros = the->races && size < *size_now() ? LARGEST_FOLIO : PAGE;
    for (long at = size; at % zeros != 0 && at < CHANGING_LARGEST; at += PAGE - at % PAGE)
        may_show_zeros[at / PAGE] = true;
    __atomic_add_fetch(&the->seq, 1, __ATOMIC_SEQ_CST);
}

/* Leaves the file unchanged for a while, or until the reader asks for the next change. */
static void end_change(void) {
    __atomic_add_fetch(&the->seq, 1, __ATOMIC_SEQ_CST);
    if (now.in_steps && !__atomic_load_n(&the->at_any_time, __ATOMIC_SEQ_CST)) {
        sem_post(&the->done);
        while (sem_wait(&the->asked) != 0)
            ;
    } else if (any(3) == 0) {
        usleep((useconds_t)any(any(8) ? 200 : 3000));
    }
    if (__atomic_load_n(&the->over, __ATOMIC_SEQ_CST))
        _exit(0);
}

static void put(int fd, long at, long n) {
    char *text = file_now() + at;
    if (n > CHANGING_LARGEST - at)
        n = CHANGING_LARGEST - at;
    if (n <= 0)
        return;
    begin_change(at + n > *size_now() ? at + n : *size_now());
    if (at > *size_now())
        memset(file_now() + *size_now(), 0, (size_t)(at - *size_now()));
    fill(text, at, n);
    must(syscall(SYS_pwrite64, fd, text, n, at) == n, "pwrite");
    if (at + n > *size_now())
        *size_now() = at + n;
    end_change();
}

/* Writes in chunks of one size, as programs do. */
static void put_all(int fd, long at, long n) {
    const long chunk = any(2) ? 4096 << any(6) : 1 + (long)any(MOST_WRITTEN);
    for (long done = 0; done < n; done += chunk)
        put(fd, at + done, n - done < chunk ? n - done : chunk);
}

static void set_size(int fd, long size) {
    begin_change(size);
    must(syscall(SYS_ftruncate, fd, size) == 0, "ftruncate");
    if (size > *size_now())
        memset(file_now() + *size_now(), 0, (size_t)(size - *size_now()));
    *size_now() = size;
    end_change();
}

static void punch(int fd, long at, long n) {
    n = n < *size_now() - at ? n : *size_now() - at;
    if (n <= 0)
        return;
    begin_change(*size_now());
    must(syscall(SYS_fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, n) == 0, "fallocate");
    memset(file_now() + at, 0, (size_t)n);
    end_change();
}

static int open_file(const char *path, int flags) {
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CREAT | O_CLOEXEC, 0600);
    must(fd >= 0, path);
    return fd;
}

/* Makes a file of the next generation, and renames it to the name atomically. */
static int replace(int fd, long size) {
    syscall(SYS_close, fd);
    fd = open_file(now.next, O_RDWR | O_TRUNC);
    begin_change(size);
    __atomic_add_fetch(&the->inode, 1, __ATOMIC_SEQ_CST);
    *size_now() = size;
    fill(file_now(), 0, size);
    for (long at = 0, n; at < size; at += n) {
        n = size - at < 1 << 20 ? size - at : 1 << 20;
        must(syscall(SYS_pwrite64, fd, file_now() + at, n, at) == n, "pwrite");
    }
    must(syscall(SYS_renameat2, AT_FDCWD, now.next, AT_FDCWD, now.path, 0) == 0, "rename");
    end_change();
    return fd;
}

static long any_end(void) {
    const long size = *size_now();
    return any(4) == 0   ? 0
           : any(3) == 0 ? (long)any((uint64_t)size + 1) & ~4095L
                         : (long)any((uint64_t)size + 1);
}

static int change(int fd, enum kind kind) {
    const long size = *size_now(), at = any_end(), n = (long)any_size((size_t)now.first_size);
    generation++;
    switch (kind) {
    case REWRITTEN: /* cp new old */
        set_size(fd, 0);
        put_all(fd, 0, any(2) ? full_size() : n);
        break;
    case CUT:
        if (size > 0)
            set_size(fd, at);
        put_all(fd, *size_now(), any(2) ? full_size() - *size_now() : n);
        break;
    case GROWN:
        set_size(fd, at);
        set_size(fd, any(2) ? full_size() : at + n < CHANGING_LARGEST ? at + n : CHANGING_LARGEST);
        if (any(2))
            put_all(fd, at, *size_now() - at);
        break;
    case OVERWRITTEN:
        put_all(fd, at, n < size - at ? n : size - at);
        break;
    case PUNCHED:
        if (any(2))
            punch(fd, at, n);
        else
            put_all(fd, at, n < size - at ? n : size - at);
        break;
    case APPENDED:
        put_all(fd, size, n);
        break;
    case REPLACED:
        return replace(fd, any(2) ? full_size() : n);
    default:
        return change(fd, (enum kind)any(MIXED));
    }
    return fd;
}

static int change_something(int fd) {
    const long seq = the->seq;
    fd = change(fd, now.kind);
    if (the->seq == seq) { /* the file already has the least or greatest size */
        begin_change(*size_now());
        end_change();
    }
    return fd;
}

static void change_on(int fd) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (now.in_steps)
        while (sem_wait(&the->asked) != 0)
            ;
    while (!__atomic_load_n(&the->over, __ATOMIC_SEQ_CST))
        fd = change_something(fd);
    _exit(0);
}

void may_change(void) {
    if (!now.in_steps || any(4) != 0)
        return;
    for (uint64_t n = any(3) ? 1 : 1 + any(12); n > 0; n--) {
        sem_post(&the->asked);
        while (sem_wait(&the->done) != 0)
            ;
    }
}

void expect_races(void) {
    the->races = true;
}

void change_at_any_time(void) {
    expect_races();
    __atomic_store_n(&the->at_any_time, true, __ATOMIC_SEQ_CST);
    sem_post(&the->asked);
}

/* --- signals ---------------------------------------------------------------------------------- */

static void must_not_be_called(int sig) {
    fail_at(-1, "the program's handler was called for signal %d", sig);
}

static void set_signals(void) {
    sigset_t all;
    sigfillset(&all);
    if (now.signals == BLOCKED)
        sigprocmask(SIG_BLOCK, &all, NULL);
    else if (now.signals != UNTOUCHED)
        signal(SIGBUS, now.signals == IGNORED   ? SIG_IGN
                       : now.signals == DEFAULT ? SIG_DFL
                                                : must_not_be_called);
}

void set_signals_before(void) {
    if (now.before)
        set_signals();
}

void set_signals_now(void) {
    if (!now.before)
        set_signals();
}

/* --- checks ------------------------------------------------------------------------------------ */

void look_now(struct look *l) {
    l->seq = __atomic_load_n(&the->seq, __ATOMIC_SEQ_CST);
    l->inode = __atomic_load_n(&the->inode, __ATOMIC_SEQ_CST);
}

struct opened opened_now(const struct look *before) {
    struct look after;
    look_now(&after);
    return (struct opened){before->seq == after.seq && after.seq % 2 == 0 ? after.inode : -1};
}

static bool is_of_some_generation(long at, unsigned char byte) {
    return table[at] == '\n' ? byte == '\n' : (byte & ~3) == table[at];
}

enum zeros check_bytes(long at, const char *p, long n, const char *call) {
    enum zeros zeros = NO_ZEROS;
    if (at < 0 || n < 0 || n > CHANGING_LARGEST - at)
        fail_at(at, "%s: %ld bytes", call, n);
    for (long i = 0; i < n; i++) {
        if (is_of_some_generation(at + i, (unsigned char)p[i]))
            continue;
        if (p[i] != '\0')
            fail_at(at + i, "%s of %ld bytes at %ld: byte 0x%02x was never there, 0x%02x was", call, n, at,
                    (unsigned char)p[i], table[at + i]);
        if (zeros != WRONG_ZEROS)
            zeros = may_show_zeros[(at + i) / PAGE] ? SOME_ZEROS : WRONG_ZEROS;
    }
    return may_be_zero() ? NO_ZEROS : zeros;
}

bool are_wrong(enum zeros zeros) {
    return zeros == WRONG_ZEROS || (zeros == SOME_ZEROS && !the->races);
}

/* Returns whether file o has not changed since `l`, and is not being changed. */
static bool is_at_rest(const struct opened *o, const struct look *l) {
    struct look after;
    look_now(&after);
    if (o->inode < 0 || l->inode != after.inode)
        return false;
    return o->inode == l->inode - 1 || (o->inode == l->inode && l->seq % 2 == 0 && l->seq == after.seq);
}

static long first_zero(const char *p, long n) {
    const char *zero = memchr(p, 0, (size_t)n);
    return zero ? zero - p : n;
}

static void compare_with_file(const struct opened *o, const struct look *l, long at, const char *p, long n,
                              long asked, const char *call) {
    if (!is_at_rest(o, l))
        return;
    const long size = the->size[o->inode & 1], there = at >= size ? 0 : size - at < asked ? size - at : asked;
    const char *expected = shadow[o->inode & 1] + at;
    if ((n == there && memcmp(p, expected, (size_t)n) == 0) || !is_at_rest(o, l))
        return;
    long i = 0;
    while (i < n && p[i] == expected[i])
        i++;
    fail_at(at + i,
            "%s of %ld bytes at %ld: %ld, of a file at rest that has %ld there; byte 0x%02x, it has 0x%02x",
            call, asked, at, n, there, i < n ? (unsigned char)p[i] : 0,
            i < there ? (unsigned char)expected[i] : 0);
}

void check_read(const struct opened *o, const struct look *l, long at, const char *p, long n, long asked,
                const char *call) {
    if (n < 0)
        fail_at(at, "%s of %ld bytes: %s", call, asked, strerror(errno));
    if (are_wrong(check_bytes(at, p, n, call)))
        fail_at(at + first_zero(p, n), "%s of %ld bytes at %ld: zeros that were never there", call, n, at);
    compare_with_file(o, l, at, p, n, asked, call);
}

void check_region(const struct opened *o, const struct look *l, long at, const char *p, long n, long asked,
                  const char *call) {
    check_bytes(at, p, n, call);
    if (!may_be_cut() || first_zero(p, n) == n)
        compare_with_file(o, l, at, p, n, asked, call);
}

/* --- rounds ------------------------------------------------------------------------------------ */

static long any_first_size(void) {
    static const long bounds[] = {100,    5000,    5000,    300000,  600000,
                                  600000, 2 << 20, 2 << 20, 9 << 20, CHANGING_LARGEST};
    const long bound = bounds[any(sizeof bounds / sizeof *bounds)];
    return bound / 2 + (long)any((uint64_t)bound / 2) + 1;
}

static void make_file(void) {
    memset(the, 0, sizeof *the);
    memset(may_show_zeros, 0, PAGES);
    sem_init(&the->asked, 1, 0);
    sem_init(&the->done, 1, 0);
    generation = 0;
    int fd = open_file(now.path, O_RDWR | O_TRUNC);
    syscall(SYS_close, replace(fd, full_size()));
}

static pid_t start(void (*run)(int), int fd) {
    fflush(NULL);
    pid_t pid = fork();
    must(pid >= 0, "fork");
    if (pid == 0)
        run(fd);
    return pid;
}

static void (*read_it)(const char *path);

static void read_on(int unused) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)unused;
    any(state += 1); /* numbers that differ from the other process's */
    set_signals_before();
    read_it(now.path);
    _exit(0);
}

/* returns  the reader's wait status; -1: it did not end in time. */
static int wait_for(pid_t reader) {
    int status = -1;
    for (long ms = 0; ms < PATIENCE * 1000L; ms++) {
        if (waitpid(reader, &status, WNOHANG) == reader)
            return status;
        usleep(1000);
    }
    kill(reader, SIGKILL);
    waitpid(reader, NULL, 0);
    return -1;
}

static bool play_round(const struct changing_reader *r) {
    state = now.seed * 1000003 + (uint64_t)now.number;
    now.reader = r->name;
    now.kind = (enum kind)any(KINDS);
    now.signals = (enum signals)any(SIGNALS);
    now.before = any(2);
    now.in_steps = false;
    now.first_size = any_first_size();
    read_it = r->read;
    make_file();
    now.in_steps = any(2);
    the->races = !now.in_steps;
    int fd = open_file(now.path, O_RDWR);
    pid_t changer = start(change_on, fd), reader = start(read_on, fd);
    int status = wait_for(reader);
    if (status != 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == 1)) {
        describe(-1);
        fprintf(stderr, "the reader ended with status 0x%x\n", (unsigned)status);
    }
    kill(changer, SIGKILL);
    waitpid(changer, NULL, 0);
    syscall(SYS_close, fd);
    return status == 0;
}

static void *map(size_t size) {
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(p != MAP_FAILED, "mmap");
    return p;
}

static void *map_file(const char *path, size_t size) {
    int fd = open_file(path, O_RDWR | O_TRUNC);
    must(ftruncate(fd, (off_t)size) == 0, "ftruncate");
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    must(p != MAP_FAILED, "mmap");
    close(fd);
    return p;
}

static void prepare(const char *folder) {
    snprintf(now.path, sizeof now.path, "%s/changing-%d", folder, (int)getpid());
    snprintf(now.still, sizeof now.still, "%s.still", now.path);
    snprintf(now.next, sizeof now.next, "%s.next", now.path);
    snprintf(now.zeros, sizeof now.zeros, "%s.zeros", now.path);
    the = map(sizeof *the);
    may_show_zeros = map_file(now.zeros, PAGES);
    table = map(CHANGING_LARGEST);
    for (int i = 0; i < 2; i++)
        shadow[i] = map(CHANGING_LARGEST);
    make_table();
    int fd = open_file(now.still, O_RDWR | O_TRUNC);
    must(write(fd, table, CHANGING_LARGEST) == CHANGING_LARGEST, "write");
    close(fd);
}

static uint64_t from_environment(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static bool is_wanted(const char *name, int argc, char **argv) {
    for (int i = 2; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return true;
    return argc == 2;
}

int changing_files(int argc, char **argv, const struct changing_reader *readers, size_t count) {
    if (argc < 2)
        return 2;
    const long rounds = (long)from_environment("ASF_CHANGES_ROUNDS", 25);
    const long first = (long)from_environment("ASF_CHANGES_FIRST", 0);
    long failed = 0;
    now.seed = from_environment("ASF_CHANGES_SEED", 1);
    prepare(argv[1]);
    for (now.number = first; now.number < first + rounds; now.number++)
        for (size_t i = 0; i < count; i++)
            if (is_wanted(readers[i].name, argc, argv))
                failed += !play_round(&readers[i]);
    unlink(now.path);
    unlink(now.still);
    unlink(now.next);
    unlink(now.zeros);
    return failed != 0;
}
