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

enum { KB = 1 << 10, MB = 1 << 20, LARGEST = 1 << 20, PAGE = 4096, LEAST = 4 * MB };

/* The files and the buffer to measure one file system. */
struct bench {
    int in, out;
    off_t from; /* the range of `in` that a run reads */
    size_t bytes;
    char *buffer;
    volatile uint64_t sum; /* volatile: the compiler must not drop reads */
};

/* Transfer the whole range in pieces of `size` bytes.  Returns false on failure. */
typedef bool run_function(struct bench *b, size_t size);

double asf__seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- the ways ------------------------------------------------------------------- */

static void add_words(struct bench *b, const char *p, size_t n) {
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
        add_words(b, b->buffer, (size_t)n);
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
    return run_windows(b, size, 0, add_words);
}

static bool run_populate(struct bench *b, size_t size) {
    return run_windows(b, size, MAP_POPULATE, add_words);
}

static void touch(struct bench *b, const char *p, size_t n) {
    for (size_t i = 0; i < n; i += PAGE)
        b->sum += (uint64_t)((const volatile char *)p)[i];
}

/* Read one byte of each page, to time the page faults alone. */
static bool run_fault(struct bench *b, size_t size) {
    return run_windows(b, size, 0, touch);
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

static bool run_range(struct bench *b, size_t size) {
    size_t copied = 0;
    for (ssize_t n; (n = copy_file_range(b->in, NULL, b->out, NULL, size, 0)) > 0;)
        copied += (size_t)n;
    return copied == b->bytes;
}

/* --- timing --------------------------------------------------------------------------- */

enum { MOST_SIZES = 8 };

struct way {
    const char *name;
    run_function *run;
    bool writes;
    size_t sizes[MOST_SIZES]; /* ends with a 0 */
};

static void announce(const struct place *place, struct course *course, const char *what) {
    char *text = asf__text("%s: %s", place->name, what);
    course->show(course, text);
    course->done++;
    free(text);
}

static void note(struct place *place, const char *way, size_t size, double rate) {
    if (place->count < MOST_FIGURES && rate > 0)
        place->figures[place->count++] = (struct figure){way, size, rate};
}

/* returns  seconds, or 0 on failure */
static double time_once(struct bench *b, const struct way *way, size_t size) {
    if (way->writes && !empty_output(b))
        return 0;
    double began = asf__seconds();
    return way->run(b, size) ? asf__seconds() - began : 0;
}

/* On a busy machine sizes and rounds are left out, but each way is measured once. */
static bool has_time(const struct course *course, int round, size_t i) {
    return (round == 0 && i == 0) || asf__seconds() < course->end;
}

static void measure_way(struct place *place, struct course *course, struct bench *b, const struct way *way) {
    double best[MOST_SIZES] = {0};
    announce(place, course, way->name);
    for (int round = 0; round < course->rounds; round++)
        for (size_t i = 0; i < MOST_SIZES && way->sizes[i] && has_time(course, round, i); i++) {
            double took = time_once(b, way, way->sizes[i]);
            if (took > 0 && (best[i] == 0 || took < best[i]))
                best[i] = took;
        }
    for (size_t i = 0; i < MOST_SIZES; i++)
        if (best[i] > 0)
            note(place, way->name, way->sizes[i], (double)b->bytes / best[i]);
}

/* --- the smallest file that is worth a map ------------------------------------------------ */

/* Each run reads another part of the file, so that its data are not in the processor's caches. */
static double time_small(struct bench *b, size_t size, run_function *run) {
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
static bool map_wins(struct bench *b, size_t size, int rounds) {
    double best_read = 1e9, best_map = 1e9;
    for (int i = 0; i < 2 * rounds; i++) {
        double reading = time_small(b, size, run_read), mapping = time_small(b, size, run_map);
        best_read = reading < best_read ? reading : best_read;
        best_map = mapping < best_map ? mapping : best_map;
    }
    return best_map < 0.9 * best_read;
}

static void find_map_min(struct place *place, struct course *course, struct bench *b) {
    size_t least = 8 * MB;
    announce(place, course, "small files");
    for (size_t size = 4 * MB; size >= 64 * KB && asf__seconds() < course->end; size /= 2) {
        if (size > b->bytes / 16 || !map_wins(b, size, course->rounds))
            break;
        least = size;
    }
    place->map_min = least;
}

/* --- a file system ------------------------------------------------------------------------- */

/* Returns a file without a name. */
static int scratch(const char *directory) {
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

static bool fill(struct bench *b) {
    for (size_t i = 0; i < LARGEST; i++)
        b->buffer[i] = (char)(i * 2654435761u >> 13);
    for (size_t at = 0; at < b->bytes; at += LARGEST)
        if (write(b->in, b->buffer, LARGEST) != LARGEST)
            return false;
    return true;
}

static int open_bench(struct bench *b, const char *directory, size_t bytes) {
    *b = (struct bench){.bytes = bytes, .in = scratch(directory), .out = scratch(directory)};
    b->buffer = aligned_alloc(PAGE, LARGEST);
    if (b->in >= 0 && b->out >= 0 && bytes < LEAST)
        errno = ENOSPC;
    else if (b->in >= 0 && b->out >= 0 && b->buffer && fill(b))
        return 0;
    int rc = errno ? -errno : -EIO;
    close_bench(b);
    return rc;
}

int asf__measure_place(struct place *place, struct course *course) {
    static const struct way ways[] = {
        {"read", run_read, false, {4 * KB, 16 * KB, 64 * KB, 128 * KB, 256 * KB, 1 * MB}},
        {"map", run_map, false, {2 * MB, 4 * MB, 8 * MB, 16 * MB, 32 * MB}},
        {"fault", run_fault, false, {8 * MB}},
        {"populate", run_populate, false, {8 * MB}},
        {"write", run_write, true, {4 * KB, 64 * KB, 128 * KB, 256 * KB, 512 * KB, 1 * MB}},
        {"copy", run_copy, true, {64 * KB, 128 * KB, 256 * KB, 512 * KB, 1 * MB}},
        {"copy_file_range", run_range, true, {8 * MB}},
    };
    struct bench b;
    errno = 0;
    int rc = open_bench(&b, place->directory, course->bytes);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        measure_way(place, course, &b, &ways[i]);
    find_map_min(place, course, &b);
    place->clones = ftruncate(b.out, 0) == 0 && ioctl(b.out, FICLONE, b.in) == 0;
    close_bench(&b);
    return 0;
}

/* --- pipes -------------------------------------------------------------------------------------- */

static void *reader(void *arg) {
    static char buffer[64 * KB];
    const int *end = arg;
    while (read(*end, buffer, sizeof buffer) > 0)
        continue;
    close(*end);
    return NULL;
}

static bool splice_all(struct bench *b, int to) {
    ssize_t n;
    lseek(b->in, 0, SEEK_SET);
    do
        n = splice(b->in, NULL, to, NULL, 8 * MB, 0);
    while (n > 0);
    return n == 0;
}

static bool write_all(struct bench *b, int to) {
    for (size_t at = 0; at < b->bytes; at += 128 * KB)
        if (pread(b->in, b->buffer, 128 * KB, (off_t)at) <= 0 || write(to, b->buffer, 128 * KB) != 128 * KB)
            return false;
    return true;
}

/* The time until the reader thread has read all. */
static double time_pipe(struct bench *b, size_t size, bool (*move)(struct bench *, int)) {
    int ends[2];
    pthread_t thread;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return 0;
    double began = asf__seconds();
    bool ok = fcntl(ends[1], F_SETPIPE_SZ, (int)size) == (int)size &&
              pthread_create(&thread, NULL, reader, &ends[0]) == 0;
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

static void measure_pipe(struct place *place, struct course *course, struct bench *b, const char *way,
                         bool (*move)(struct bench *, int)) {
    static const size_t sizes[] = {64 * KB, 128 * KB, 256 * KB, 512 * KB, 1 * MB};
    enum { COUNT = sizeof sizes / sizeof *sizes };
    double best[COUNT] = {0};
    course->show(course, way);
    course->done++;
    for (int round = 0; round < course->rounds; round++)
        for (size_t i = 0; i < COUNT && has_time(course, round, i); i++) {
            double took = time_pipe(b, sizes[i], move);
            if (took > 0 && (best[i] == 0 || took < best[i]))
                best[i] = took;
        }
    for (size_t i = 0; i < COUNT; i++)
        if (best[i] > 0)
            note(place, way, sizes[i], (double)b->bytes / best[i]);
}

int asf__measure_pipes(struct place *place, struct course *course) {
    struct bench b;
    errno = 0;
    int rc = open_bench(&b, place->directory, course->bytes);
    if (rc < 0)
        return rc;
    measure_pipe(place, course, &b, "splice to a pipe", splice_all);
    measure_pipe(place, course, &b, "write to a pipe", write_all);
    close_bench(&b);
    return 0;
}

/* --- results ------------------------------------------------------------------------------- */

double asf__rate(const struct place *place, const char *way, size_t size) {
    for (size_t i = 0; i < place->count; i++)
        if (place->figures[i].size == size && strcmp(place->figures[i].way, way) == 0)
            return place->figures[i].rate;
    return 0;
}

size_t asf__best_size(const struct place *place, const char *way, size_t least) {
    const struct figure *best = NULL, *f = place->figures, *end = f + place->count;
    for (; f < end; f++)
        if (strcmp(f->way, way) == 0 && f->size >= least && (!best || f->rate > best->rate))
            best = f;
    for (f = place->figures; best && f < end; f++)
        if (strcmp(f->way, way) == 0 && f->size >= least && f->rate > 0.97 * best->rate)
            return f->size;
    return 0;
}
