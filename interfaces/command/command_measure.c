/* SPDX-License-Identifier: MIT
 *
 * command_measure.c - times the system calls of stream modules on files in the page cache.
 *
 * It takes the shortest elapsed time of a few rounds, because other work on the machine only lengthens a
 * round.
 */
#define _GNU_SOURCE
#include "interfaces/command/command_measure.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "interfaces/command/command.h"

enum { KB = 1 << 10, MB = 1 << 20, BUFFER_SIZE = 1 << 20, PAGE = 4096, MIN_FILE_SIZE = 4 * MB };

/* The files and the buffer to measure one file system. */
struct bench {
    int in, out;
    off_t from; /* the range of `in` that a run reads */
    size_t bytes;
    char *buffer;
    volatile uint64_t sum; /* volatile: the compiler must not drop reads */
};

/* Transfer the whole range in chunks of `size` bytes.  Returns false on failure. */
typedef bool run_function(struct bench *b, size_t size);

double asf__seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- the methods ------------------------------------------------------------------- */

static void sum_words(struct bench *b, const char *p, size_t n) {
    uint64_t sum = 0, word;
    for (size_t i = 0; i + sizeof word <= n; i += sizeof word) {
        memcpy(&word, p + i, sizeof word);
        sum += word;
    }
    b->sum += sum;
}

static bool run_read(struct bench *b, size_t size) {
    for (size_t at = 0; at < b->bytes; at += size) {
        ssize_t n = pread(b->in, b->buffer, size, b->from + (off_t)at);
        if (n <= 0)
            return false;
        sum_words(b, b->buffer, (size_t)n);
    }
    return true;
}

static bool run_windows(struct bench *b, size_t size, int flags,
                        void (*use)(struct bench *, const char *, size_t)) {
    for (size_t at = 0; at < b->bytes; at += size) {
        size_t n = b->bytes - at < size ? b->bytes - at : size;
        char *p = mmap(NULL, n, PROT_READ, MAP_SHARED | flags, b->in, b->from + (off_t)at);
        if (p == MAP_FAILED)
            return false;
        use(b, p, n);
        munmap(p, n);
    }
    return true;
}

static bool run_map(struct bench *b, size_t size) {
    return run_windows(b, size, 0, sum_words);
}

static bool run_populate(struct bench *b, size_t size) {
    return run_windows(b, size, MAP_POPULATE, sum_words);
}

static void touch_pages(struct bench *b, const char *p, size_t n) {
    for (size_t i = 0; i < n; i += PAGE)
        b->sum += (uint64_t)((const volatile char *)p)[i];
}

/* Read one byte of each page, to time the page faults alone. */
static bool run_fault(struct bench *b, size_t size) {
    return run_windows(b, size, 0, touch_pages);
}

static bool empty_output(struct bench *b) {
    return ftruncate(b->out, 0) == 0 && lseek(b->out, 0, SEEK_SET) == 0 && lseek(b->in, 0, SEEK_SET) == 0;
}

static bool run_write(struct bench *b, size_t size) {
    for (size_t at = 0; at < b->bytes; at += size)
        if (write(b->out, b->buffer, size) != (ssize_t)size)
            return false;
    return true;
}

static bool run_copy(struct bench *b, size_t size) {
    for (ssize_t n; (n = read(b->in, b->buffer, size)) != 0;)
        if (n < 0 || write(b->out, b->buffer, (size_t)n) != n)
            return false;
    return true;
}

static bool run_copy_file_range(struct bench *b, size_t size) {
    size_t copied = 0;
    for (ssize_t n; (n = copy_file_range(b->in, NULL, b->out, NULL, size, 0)) > 0;)
        copied += (size_t)n;
    return copied == b->bytes;
}

/* --- timing --------------------------------------------------------------------------- */

enum { MAX_SIZES = 8 };

struct method {
    const char *name;
    run_function *run;
    bool writes;
    size_t sizes[MAX_SIZES]; /* ends with a 0 */
};

static void begin_step(const struct target *target, struct progress *progress, const char *what) {
    char *text = asf__text("%s: %s", target->name, what);
    progress->report(progress, text);
    progress->done++;
    free(text);
}

static void add_measurement(struct target *target, const char *method, size_t size, double rate) {
    if (target->count < MAX_MEASUREMENTS && rate > 0)
        target->measurements[target->count++] = (struct measurement){method, size, rate};
}

/* returns  seconds, or 0 on failure */
static double time_method(struct bench *b, const struct method *method, size_t size) {
    if (method->writes && !empty_output(b))
        return 0;
    double began = asf__seconds();
    return method->run(b, size) ? asf__seconds() - began : 0;
}

/* After the time limit sizes and rounds are left out, but each method is still measured once. */
static bool has_time(const struct progress *progress, int round, size_t i) {
    return (round == 0 && i == 0) || asf__seconds() < progress->end;
}

static void measure_method(struct target *target, struct progress *progress, struct bench *b,
                           const struct method *method) {
    double best[MAX_SIZES] = {0};
    begin_step(target, progress, method->name);
    for (int round = 0; round < progress->rounds; round++)
        for (size_t i = 0; i < MAX_SIZES && method->sizes[i] && has_time(progress, round, i); i++) {
            double took = time_method(b, method, method->sizes[i]);
            if (took > 0 && (best[i] == 0 || took < best[i]))
                best[i] = took;
        }
    for (size_t i = 0; i < MAX_SIZES; i++)
        if (best[i] > 0)
            add_measurement(target, method->name, method->sizes[i], (double)b->bytes / best[i]);
}

/* --- the smallest file that is worth a map ------------------------------------------------ */

/* Each run reads another part of the file, so that its data are not in the processor's caches. */
static double time_small_file(struct bench *b, size_t size, run_function *run) {
    enum { TIMES = 16 };
    size_t whole = b->bytes;
    double began = asf__seconds();
    b->bytes = size;
    for (size_t i = 0; i < TIMES; i++) {
        b->from = (off_t)(i * (whole / TIMES) / PAGE * PAGE);
        run(b, run == run_read && size > 64 * KB ? 64 * KB : size);
    }
    b->bytes = whole;
    b->from = 0;
    return asf__seconds() - began;
}

/* Returns whether mapping a file of this size takes at least a tenth less time.  A smaller gain is not worth
 * another module. */
static bool is_map_faster(struct bench *b, size_t size, int rounds) {
    double best_read = 1e9, best_map = 1e9;
    for (int i = 0; i < 2 * rounds; i++) {
        double reading = time_small_file(b, size, run_read), mapping = time_small_file(b, size, run_map);
        best_read = reading < best_read ? reading : best_read;
        best_map = mapping < best_map ? mapping : best_map;
    }
    return best_map < 0.9 * best_read;
}

static void find_map_min(struct target *target, struct progress *progress, struct bench *b) {
    size_t least = 8 * MB;
    begin_step(target, progress, "small files");
    for (size_t size = 4 * MB; size >= 64 * KB && asf__seconds() < progress->end; size /= 2) {
        if (size > b->bytes / 16 || !is_map_faster(b, size, progress->rounds))
            break;
        least = size;
    }
    target->map_min = least;
}

/* --- a file system ------------------------------------------------------------------------- */

/* Returns a file without a name. */
static int open_temporary_file(const char *directory) {
    int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    char *name = asf__text("%s/.asf-tune.XXXXXX", directory);
    fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0)
        unlink(name);
    return fd;
}

static void close_bench(struct bench *b) {
    if (b->in >= 0)
        close(b->in);
    if (b->out >= 0)
        close(b->out);
    free(b->buffer);
}

static bool fill_input(struct bench *b) {
    for (size_t i = 0; i < BUFFER_SIZE; i++)
        b->buffer[i] = (char)(i * 2654435761u >> 13);
    for (size_t at = 0; at < b->bytes; at += BUFFER_SIZE)
        if (write(b->in, b->buffer, BUFFER_SIZE) != BUFFER_SIZE)
            return false;
    return true;
}

static int open_bench(struct bench *b, const char *directory, size_t bytes) {
    *b = (struct bench){
        .bytes = bytes, .in = open_temporary_file(directory), .out = open_temporary_file(directory)};
    b->buffer = aligned_alloc(PAGE, BUFFER_SIZE);
    if (b->in >= 0 && b->out >= 0 && bytes < MIN_FILE_SIZE)
        errno = ENOSPC;
    else if (b->in >= 0 && b->out >= 0 && b->buffer && fill_input(b))
        return 0;
    int rc = errno ? -errno : -EIO;
    close_bench(b);
    return rc;
}

int asf__measure_file_system(struct target *target, struct progress *progress) {
    static const struct method methods[] = {
        {"read", run_read, false, {4 * KB, 16 * KB, 64 * KB, 128 * KB, 256 * KB, 1 * MB}},
        {"map", run_map, false, {2 * MB, 4 * MB, 8 * MB, 16 * MB, 32 * MB}},
        {"fault", run_fault, false, {8 * MB}},
        {"populate", run_populate, false, {8 * MB}},
        {"write", run_write, true, {4 * KB, 64 * KB, 128 * KB, 256 * KB, 512 * KB, 1 * MB}},
        {"copy", run_copy, true, {64 * KB, 128 * KB, 256 * KB, 512 * KB, 1 * MB}},
        {"copy_file_range", run_copy_file_range, true, {8 * MB}},
    };
    struct bench b;
    errno = 0;
    int rc = open_bench(&b, target->directory, progress->bytes);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        measure_method(target, progress, &b, &methods[i]);
    find_map_min(target, progress, &b);
    target->clones = ftruncate(b.out, 0) == 0 && ioctl(b.out, FICLONE, b.in) == 0;
    close_bench(&b);
    return 0;
}

/* --- pipes -------------------------------------------------------------------------------------- */

static void *drain_pipe(void *arg) {
    static char buffer[64 * KB];
    const int *end = arg;
    while (read(*end, buffer, sizeof buffer) > 0)
        continue;
    close(*end);
    return NULL;
}

static bool splice_file_to_pipe(struct bench *b, int to) {
    ssize_t n;
    lseek(b->in, 0, SEEK_SET);
    do
        n = splice(b->in, NULL, to, NULL, 8 * MB, 0);
    while (n > 0);
    return n == 0;
}

static bool write_file_to_pipe(struct bench *b, int to) {
    for (size_t at = 0; at < b->bytes; at += 128 * KB)
        if (pread(b->in, b->buffer, 128 * KB, (off_t)at) <= 0 || write(to, b->buffer, 128 * KB) != 128 * KB)
            return false;
    return true;
}

/* Returns the seconds until the reader thread has read all bytes; 0 on failure. */
static double time_pipe(struct bench *b, size_t size, bool (*move)(struct bench *, int)) {
    int ends[2];
    pthread_t thread;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return 0;
    double began = asf__seconds();
    bool ok = fcntl(ends[1], F_SETPIPE_SZ, (int)size) == (int)size &&
              pthread_create(&thread, NULL, drain_pipe, &ends[0]) == 0;
    if (!ok) {
        close(ends[0]);
        close(ends[1]);
        return 0;
    }
    ok = move(b, ends[1]);
    close(ends[1]);
    pthread_join(thread, NULL);
    return ok ? asf__seconds() - began : 0;
}

static void measure_pipe(struct target *target, struct progress *progress, struct bench *b,
                         const char *method, bool (*move)(struct bench *, int)) {
    static const size_t sizes[] = {64 * KB, 128 * KB, 256 * KB, 512 * KB, 1 * MB};
    enum { COUNT = sizeof sizes / sizeof *sizes };
    double best[COUNT] = {0};
    progress->report(progress, method);
    progress->done++;
    for (int round = 0; round < progress->rounds; round++)
        for (size_t i = 0; i < COUNT && has_time(progress, round, i); i++) {
            double took = time_pipe(b, sizes[i], move);
            if (took > 0 && (best[i] == 0 || took < best[i]))
                best[i] = took;
        }
    for (size_t i = 0; i < COUNT; i++)
        if (best[i] > 0)
            add_measurement(target, method, sizes[i], (double)b->bytes / best[i]);
}

int asf__measure_pipes(struct target *target, struct progress *progress) {
    struct bench b;
    errno = 0;
    int rc = open_bench(&b, target->directory, progress->bytes);
    if (rc < 0)
        return rc;
    measure_pipe(target, progress, &b, "splice to a pipe", splice_file_to_pipe);
    measure_pipe(target, progress, &b, "write to a pipe", write_file_to_pipe);
    close_bench(&b);
    return 0;
}

/* --- results ------------------------------------------------------------------------------- */

double asf__rate(const struct target *target, const char *method, size_t size) {
    for (size_t i = 0; i < target->count; i++)
        if (target->measurements[i].size == size && strcmp(target->measurements[i].method, method) == 0)
            return target->measurements[i].rate;
    return 0;
}

size_t asf__best_size(const struct target *target, const char *method, size_t least) {
    const struct measurement *best = NULL, *f = target->measurements, *end = f + target->count;
    for (; f < end; f++)
        if (strcmp(f->method, method) == 0 && f->size >= least && (!best || f->rate > best->rate))
            best = f;
    for (f = target->measurements; best && f < end; f++)
        if (strcmp(f->method, method) == 0 && f->size >= least && f->rate > 0.97 * best->rate)
            return f->size;
    return 0;
}
