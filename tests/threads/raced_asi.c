/* SPDX-License-Identifier: MIT
 *
 * raced_asi.c - threads on private and shared streams of the ASI; regions passed between threads; walks;
 * and the lock of <asf/shm.h>.
 */
#define _GNU_SOURCE
#include "raced.h"

#include <asf/asf.h>
#include <asf/dir.h>
#include <asf/lines.h>
#include <asf/shm.h>
#include <fcntl.h>
#include <string.h>

static struct asf_cios *stream;

static struct asf_cios *open_stream(const char *path, int flags) {
    struct asf_cios *s;
    OK((s = asf_sopen(path, flags, 0600, NULL)));
    return s;
}

/* --- streams of a thread's own ----------------------------------------------------------- */

static void *with_streams_of_its_own(void *name) {
    for (int i = 0; i < rounds; i++) {
        struct asf_cios *s = open_stream(name, O_RDWR | O_CREAT | O_TRUNC);
        for (int j = 0; j < 300; j++) {
            ssize_t n = 100;
            char *p;
            OK((p = asf_Salloc(s, ASF_WRITE, &n)));
            memset(p, 'a' + j % 20, 99);
            p[99] = '\n';
            OK(asf_sfree(s, p) == 0);
        }
        OK(asf_sclose(s) == 0);
        s = open_stream(name, O_RDONLY);
        struct asf_lines lines;
        ssize_t n;
        int count = 0;
        asf_lines_begin(&lines, s, '\n', 0);
        for (const char *line; (line = asf_lines_next(&lines, &n));)
            count += *line != 'z';
        OK(asf_lines_end(&lines) == 0 && count == 300);
        OK(asf_sclose(s) == 0);
    }
    return NULL;
}

/* --- shared ones ----------------------------------------------------------------------------- */

static void *with_a_shared_output(void *name) {
    for (int i = 0; i < 50 * rounds; i++) {
        ssize_t n = 100;
        char *p;
        OK((p = asf_salloc(stream, &n)));
        memset(p, *(char *)name, 99);
        p[99] = '\n';
        OK(asf_sfree(stream, p) == 0);
        asf_lockAsfStream(stream);
        n = 10;
        OK((p = asf_u_salloc(stream, &n)));
        memcpy(p, "123456789\n", 10);
        OK(asf_u_sfree(stream, p) == 0);
        asf_unlockAsfStream(stream);
        if (i % 50 == 0)
            asf_sflush(stream); /* returns EBUSY if another thread has a region */
    }
    return NULL;
}

static long use(char *p, ssize_t n) {
    long sum = 0;
    for (ssize_t i = 0; p && i < n; i++)
        sum += p[i];
    OK(!p || asf_sfree(stream, p) == 0);
    return sum;
}

static void *with_a_shared_input(void *unused) {
    ssize_t n = 1000;
    for (char *p; (p = asf_salloc(stream, &n)); n = 1000) {
        use(p, n);
        n = 100;
        use(asf_salloc_until(stream, '\n', &n), 1);
        asf_lockAsfStream(stream);
        n = 10;
        use(asf_u_salloc(stream, &n), 1);
        asf_unlockAsfStream(stream);
    }
    return unused;
}

static void *reading_at_places(void *unused) {
    for (int i = 0; i < 20 * rounds; i++) {
        ssize_t n = 500;
        use(asf_sallocAt(stream, &n, i * 7919 % 20000, SEEK_SET), n);
    }
    return unused;
}

static void *writing_at_places(void *name) {
    for (int i = 0; i < 20 * rounds; i++) {
        ssize_t n = 50;
        char *p;
        OK((p = asf_sallocAt(stream, &n, (*(char *)name - 'a' + 4 * i) * 50, SEEK_SET)));
        memset(p, *(char *)name, 50);
        OK(asf_sfree(stream, p) == 0);
    }
    return NULL;
}

/* --- regions passed between threads ----------------------------------------------------------- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static char *region;

static void give(char *p) {
    pthread_mutex_lock(&mutex);
    while (region)
        pthread_cond_wait(&moved, &mutex);
    region = p;
    pthread_cond_broadcast(&moved);
    pthread_mutex_unlock(&mutex);
}

static char *take(void) {
    pthread_mutex_lock(&mutex);
    while (!region)
        pthread_cond_wait(&moved, &mutex);
    char *p = region;
    region = NULL;
    pthread_cond_broadcast(&moved);
    pthread_mutex_unlock(&mutex);
    return p;
}

static void *giving_or_taking(void *name) {
    for (int i = 0; i < 20 * rounds; i++) {
        ssize_t n = 100;
        char *p = *(char *)name % 2 ? asf_salloc(stream, &n) : take();
        OK(p);
        *p = *(char *)name;
        if (*(char *)name % 2)
            give(p);
        else
            OK(asf_sfree(stream, p) == 0);
    }
    return NULL;
}

/* --- others ---------------------------------------------------------------------------------- */

static struct asf_shm_lock lock;
static long counter;

static void *with_a_lock(void *unused) {
    for (int i = 0; i < 100 * rounds; i++) {
        OK(asf_shm_obtain(&lock) == 0);
        counter++;
        OK(asf_shm_release(&lock) == 0);
        if (asf_shm_obtain_no_wait(&lock) == 0) {
            counter++;
            asf_shm_release(&lock);
        }
    }
    return unused;
}

/* Counts the entries below each directory, in memory that the program allocates. */
static int count_below(const struct asf_visit *v, void *unused) {
    long *above = v->above;
    (void)unused;
    if (v->when == ASF_WALK_FOUND && v->entry.type == DT_DIR) {
        OK((*v->own = calloc(1, sizeof(long))));
    } else if (v->when == ASF_WALK_DONE) {
        long all = *(long *)*v->own;
        free(*v->own);
        if (above)
            __atomic_add_fetch(above, all, __ATOMIC_RELAXED);
    } else if (above) {
        __atomic_add_fetch(above, 1, __ATOMIC_RELAXED);
    }
    return 0;
}

static void walk(void) {
    const struct asf_walk_options options = {.threads = THREADS, .flags = ASF_WALK_AFTER};
    OK(system("for i in 1 2 3 4 5 6 7 8; do mkdir -p t/$i/a t/$i/b; touch t/$i/a/x t/$i/b/y; done") == 0);
    for (int i = 0; i < rounds; i++)
        OK(asf_walk(AT_FDCWD, "t", &options, count_below, NULL) == 0);
}

static void on(const char *path, int flags, void *(*run)(void *)) {
    stream = open_stream(path, flags);
    together(run);
    OK(asf_sclose(stream) == 0);
}

int main(int argc, char **argv) {
    begin(argc, argv);
    together(with_streams_of_its_own);
    on("shared", O_WRONLY | O_CREAT, with_a_shared_output);
    on("shared", O_RDONLY, with_a_shared_input);
    on("shared", O_RDONLY, reading_at_places);
    on("shared", O_WRONLY, writing_at_places);
    on("/dev/null", O_WRONLY, giving_or_taking);
    if (asf_shm_lock_init(&lock) == 0)
        together(with_a_lock);
    walk();
    return end();
}
