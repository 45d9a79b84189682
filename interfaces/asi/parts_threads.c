/* SPDX-License-Identifier: MIT
 *
 * parts_threads.c - asf_each_part: several threads process the parts of a file, each taking the next part.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "interfaces/asi/parts.h"
#include "lib/sys/lock.h"
#include "lib/sys/processors.h"
#include "lib/sys/syscalls.h"

enum { PARTS_A_THREAD = 4, MOST_THREADS = 1024, PARTS_AHEAD = 4 };

struct crew {
    int fd;
    struct asf_part *parts;
    ssize_t count, next; /* the number of parts; the next to take, atomic */
    asf_part_work *work;
    asf_part_done *done;
    void *argument;
    unsigned most; /* the most threads, including the calling one */
    int result;    /* the first result that was not 0; atomic */
    pthread_t *threads;
    unsigned started;
    pthread_mutex_t lock; /* guards the members below */
    bool *finished;       /* by part: whether it is finished; NULL without `done` */
    ssize_t done_calls;   /* the number of parts for which `done` was called */
    bool telling;
    pthread_cond_t moved; /* signals a change of `done_calls`, or the end of the work */
};

static bool goes_on(const struct crew *w) {
    return __atomic_load_n(&w->result, __ATOMIC_RELAXED) == 0;
}

static void end_with(struct crew *w, int result) {
    int none = 0;
    if (result == 0)
        return;
    __atomic_compare_exchange_n(&w->result, &none, result, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    pthread_mutex_lock(&w->lock);
    pthread_cond_broadcast(&w->moved);
    pthread_mutex_unlock(&w->lock);
}

/* If a thread ends within `work`, all threads stop. */
static void end_of_thread(void *crew) {
    end_with(crew, -ECANCELED);
}

/* --- calls of `done`, in order --------------------------------------------------------------- */

static const struct asf_part *next_to_tell(struct crew *w) {
    bool any = goes_on(w) && w->done_calls < w->count && w->finished[w->done_calls];
    return any ? &w->parts[w->done_calls] : NULL;
}

/* Calls `done` for this part and all finished parts that follow, unless another thread is calling it. */
static void tell(struct crew *w, ssize_t index) {
    const struct asf_part *part;
    if (!w->done)
        return;
    pthread_mutex_lock(&w->lock);
    w->finished[index] = true;
    while (!w->telling && (part = next_to_tell(w))) {
        w->telling = true;
        pthread_mutex_unlock(&w->lock);
        end_with(w, w->done(part, w->argument));
        pthread_mutex_lock(&w->lock);
        w->telling = false;
        w->done_calls++;
        pthread_cond_broadcast(&w->moved);
    }
    pthread_mutex_unlock(&w->lock);
}

static void unlock(void *crew) {
    pthread_mutex_unlock(&((struct crew *)crew)->lock);
}

/* Waits while the part is far ahead of the next call of `done`, since results that wait for it take
 * memory.  Returns whether to begin the part. */
static bool wait_for_turn(struct crew *w, ssize_t index) {
    pthread_mutex_lock(&w->lock);
    pthread_cleanup_push(unlock, w);
    while (w->done && goes_on(w) && index - w->done_calls >= PARTS_AHEAD * (ssize_t)w->most)
        pthread_cond_wait(&w->moved, &w->lock);
    pthread_cleanup_pop(1);
    return goes_on(w);
}

/* --- one thread -------------------------------------------------------------------------------- */

static void close_stream(void *stream) {
    asf_sclose(stream);
}

static int call_work(struct crew *w, struct asf_cios *stream, const struct asf_part *part) {
    int rc;
    pthread_cleanup_push(close_stream, stream);
    rc = w->work(stream, part, w->argument);
    pthread_cleanup_pop(0);
    int closed = asf_sclose(stream);
    return rc ? rc : closed;
}

static void work_on_part(struct crew *w, ssize_t index) {
    int rc;
    struct asf_cios *stream = asf__open_part(w->fd, false, &w->parts[index], &w->result, &rc);
    if (stream)
        rc = call_work(w, stream, &w->parts[index]);
    end_with(w, rc);
    if (rc == 0)
        tell(w, index);
}

static void *work_on_all(void *crew) {
    struct crew *w = crew;
    ssize_t index;
    pthread_cleanup_push(end_of_thread, w);
    while (goes_on(w) && (index = __atomic_fetch_add(&w->next, 1, __ATOMIC_RELAXED)) < w->count &&
           wait_for_turn(w, index))
        work_on_part(w, index);
    pthread_cleanup_pop(0);
    return NULL;
}

/* --- all threads ------------------------------------------------------------------------------- */

static void start(struct crew *w, unsigned threads) {
    asf__lock_register();                /* with several threads this takes 25 ms */
    uint64_t mask = asf__hold_signals(); /* the threads inherit the mask */
    while (w->started + 1 < threads && pthread_create(&w->threads[w->started], NULL, work_on_all, w) == 0)
        w->started++;
    asf__release_signals(mask);
}

static void join(struct crew *w) {
    for (; w->started > 0; w->started--)
        pthread_join(w->threads[w->started - 1], NULL);
}

/* Frees everything; also called when the calling thread is cancelled. */
static void finish(void *crew) {
    struct crew *w = crew;
    join(w);
    asf__close(w->fd);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->moved);
    free(w->parts);
    free(w->threads);
    free(w->finished);
}

static void run(struct crew *w, const struct asf_cut *how) {
    w->count = asf__cut(w->fd, how, PARTS_A_THREAD * (int64_t)w->most, &w->parts);
    if (w->count <= 0) {
        end_with(w, (int)w->count);
        return;
    }
    unsigned threads = w->count < (ssize_t)w->most ? (unsigned)w->count : w->most;
    w->threads = malloc(threads * sizeof *w->threads);
    w->finished = w->done ? calloc((size_t)w->count, sizeof *w->finished) : NULL;
    if (!w->threads || (w->done && !w->finished)) {
        end_with(w, -ENOMEM);
        return;
    }
    start(w, threads); /* if no thread can be started, the calling one does all the work */
    work_on_all(w);
    pthread_cleanup_push(end_of_thread, w);
    join(w);
    pthread_cleanup_pop(0);
}

static unsigned at_most(unsigned threads) {
    if (threads == 0)
        threads = asf__usable_processors();
    return threads < MOST_THREADS ? threads : MOST_THREADS;
}

int asf_each_part(const char *path, const struct asf_cut *how, unsigned threads, asf_part_work *work,
                  asf_part_done *done, void *argument) {
    struct crew w = {.work = work,
                     .done = done,
                     .argument = argument,
                     .most = at_most(threads),
                     .lock = PTHREAD_MUTEX_INITIALIZER,
                     .moved = PTHREAD_COND_INITIALIZER};
    w.fd = asf__open(path, O_RDONLY | O_CLOEXEC, 0);
    if (w.fd < 0)
        return w.fd;
    pthread_cleanup_push(finish, &w);
    run(&w, how);
    pthread_cleanup_pop(1);
    return w.result;
}
