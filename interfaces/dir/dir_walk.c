/* SPDX-License-Identifier: MIT
 *
 * dir_walk.c - walks a directory tree with several threads.
 *
 * Each thread pops a directory from a shared stack, opens it relative to its parent's descriptor, and reads
 * it with the thread's own stream.  Then it pushes the subdirectories that it found.  A stack, not a queue,
 * keeps the number of waiting directories small.  A directory's object lives until all its subdirectories are
 * finished.  So does its descriptor, unless too many are open.  Then the subdirectories are opened one path
 * component at a time, from the nearest ancestor with an open descriptor.
 */
#define _GNU_SOURCE
#include <asf/dir.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "lib/sys/race_detector.h"
#include "lib/sys/syscalls.h"
#include "streams/streams.h"

struct directory {
    struct directory *parent; /* parent directory, or NULL */
    struct directory *next;   /* next in the walk's stack or in a worker's list */
    unsigned refs;            /* atomic: 1 until it has been read, plus 1 per unfinished subdirectory */
    int fd;                   /* for opening its subdirectories; -1: not kept open */
    int depth;
    struct {
        uint32_t major, minor;
    } device; /* set only with ASF_WALK_FOLLOW or ASF_WALK_ONE_FS */
    uint64_t inode;
    void *user_data;   /* the program's pointer */
    size_t start, end; /* range of its name within its path */
    char name[];
};

struct worker {
    struct walk *w;
    pthread_t thread;
    unsigned number;
    struct asf_cios *stream; /* reads the current directory */
    char *path;              /* path of the current directory or entry */
    size_t path_capacity;
    struct directory *found_first, *found_last; /* subdirectories found in the current directory */
    unsigned found_count;                       /* length of that list */
};

struct walk {
    int at, flags;
    unsigned mask, max_threads;
    int (*visit)(const struct asf_visit *v, void *arg);
    void *arg;
    int result;         /* atomic: the error or the callback's value that ends the walk, or 0 */
    int kept, max_kept; /* atomic: descriptors kept open; their limit */
    size_t slash;       /* 1: a slash must be added after the walk's first path */
    struct directory *root;
    pthread_mutex_t lock; /* protects the members below */
    pthread_cond_t work_or_end;
    struct directory *stack;
    /* Directories in the stack; directories in the stack or being read; threads that wait. */
    unsigned stacked, pending, idle;
    unsigned started;
    struct worker workers[ASF_WALK_THREADS];
};

static bool is_ending(const struct walk *w) {
    return __atomic_load_n(&w->result, __ATOMIC_RELAXED) != 0;
}

static void end_early(struct walk *w, int rc) {
    int none = 0;
    __atomic_compare_exchange_n(&w->result, &none, rc, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static int call_visit(struct worker *t, const struct asf_visit *v) {
    int rc = is_ending(t->w) ? -ECANCELED : t->w->visit(v, t->w->arg);
    if (rc < 0)
        end_early(t->w, rc);
    return rc;
}

/* --- paths ---------------------------------------------------------------------------- */

/* Makes room in t->path for a path of `end` bytes and its null.  Returns false, and ends the walk, if there
 * is no memory. */
static bool reserve_path(struct worker *t, size_t end) {
    if (end < t->path_capacity)
        return true;
    char *more = realloc(t->path, 2 * end + 256);
    if (!more) {
        end_early(t->w, -ENOMEM);
        return false;
    }
    t->path = more;
    t->path_capacity = 2 * end + 256;
    return true;
}

static size_t child_start(const struct walk *w, const struct directory *d) {
    return d->end + (d->parent ? 1 : w->slash);
}

static bool set_path(struct worker *t, const struct directory *d) {
    if (!reserve_path(t, d->end))
        return false;
    t->path[d->end] = '\0';
    for (; d; d = d->parent) {
        memcpy(t->path + d->start, d->name, d->end - d->start);
        if (d->start > 0)
            t->path[d->start - 1] = '/';
    }
    return true;
}

/* --- descriptors ------------------------------------------------------------------------ */

static int open_retrying(const struct worker *t, int at, const char *name, int flags) {
    int fd;
    flags |= O_DIRECTORY | O_CLOEXEC | (t->w->flags & ASF_WALK_FOLLOW ? 0 : O_NOFOLLOW);
    do
        fd = asf__sys.open_at(at, name, flags);
    while (fd == -EINTR);
    return fd;
}

static void close_if(int fd, bool must_close) {
    if (must_close)
        asf__sys.close(fd);
}

/* Opens the parent directory of `d`, relative to its nearest ancestor with an open descriptor.  The path in
 * t->path leads to `d`.  *must_close: whether the caller must close the result. */
static int open_parent(struct worker *t, const struct directory *d, bool *must_close) {
    const struct directory *kept = d->parent;
    *must_close = false;
    if (!kept)
        return t->w->at;
    while (kept->fd < 0)
        kept = kept->parent;
    int fd = kept->fd;
    char *name = t->path + child_start(t->w, kept), *end;
    for (; name < t->path + d->start && fd >= 0; name = end + 1) {
        end = strchr(name, '/');
        *end = '\0';
        int next = open_retrying(t, fd, name, O_PATH);
        *end = '/';
        close_if(fd, *must_close);
        *must_close = next >= 0;
        fd = next;
    }
    return fd;
}

static int open_directory(struct worker *t, const struct directory *d) {
    bool must_close;
    int parent = open_parent(t, d, &must_close);
    if (parent < 0 && parent != AT_FDCWD)
        return parent;
    int fd = open_retrying(t, parent, t->path + d->start, O_RDONLY);
    close_if(parent, must_close);
    return fd;
}

/* Whether to keep a directory's descriptor open for its subdirectories: always while less than half the limit
 * is used; up to three quarters, each 16th level of the tree; up to the limit, each 256th; the root always.
 */
static bool may_keep_open(struct walk *w, int depth) {
    int kept = __atomic_load_n(&w->kept, __ATOMIC_RELAXED), most = w->max_kept;
    return depth == 0 || kept < most / 2 || (kept < most / 4 * 3 && depth % 16 == 0) ||
           (kept < most && depth % 256 == 0);
}

static void keep_or_close(struct worker *t, struct directory *d, int fd) {
    if (t->found_first && may_keep_open(t->w, d->depth)) {
        d->fd = fd;
        __atomic_add_fetch(&t->w->kept, 1, __ATOMIC_RELAXED);
    } else {
        asf__sys.close(fd);
    }
}

/* --- visits ----------------------------------------------------------------------------- */

static void report_directory(struct worker *t, struct directory *d, enum asf_when when, int error) {
    bool must_close;
    int parent = open_parent(t, d, &must_close);
    t->path[d->end] = '\0';
    struct asf_visit v = {
        .entry = {.name = t->path + d->start,
                  .length = d->end - d->start,
                  .inode = d->inode,
                  .error = error,
                  .type = DT_DIR},
        .when = when,
        .path = t->path,
        .path_length = d->end,
        .dirfd = parent,
        .depth = d->depth,
        .thread = t->number,
        .own = &d->user_data,
        .above = d->parent ? d->parent->user_data : NULL,
    };
    call_visit(t, &v);
    close_if(parent, must_close);
}

/* Drops a reference.  Returns whether it was the last. */
static bool drop_reference(struct directory *d) {
    asf__tell_released(d);
    if (__atomic_sub_fetch(&d->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return false;
    asf__tell_acquired(d);
    return true;
}

static void finish_directory(struct worker *t, struct directory *d) {
    while (d && drop_reference(d)) {
        struct directory *parent = d->parent;
        if (d->fd >= 0) {
            asf__sys.close(d->fd);
            __atomic_sub_fetch(&t->w->kept, 1, __ATOMIC_RELAXED);
        }
        if (t->w->flags & ASF_WALK_AFTER && !is_ending(t->w))
            report_directory(t, d, ASF_WALK_DONE, 0);
        free(d);
        d = parent;
    }
}

static struct directory *new_directory(struct worker *t, struct directory *parent,
                                       const struct asf_visit *v) {
    struct directory *d = malloc(sizeof *d + v->entry.length + 1);
    if (!d) {
        end_early(t->w, -ENOMEM);
        return NULL;
    }
    size_t start = parent ? child_start(t->w, parent) : 0;
    *d =
        (struct directory){.parent = parent, .refs = 1, .fd = -1, .depth = v->depth, .inode = v->entry.inode};
    d->user_data = *v->own;
    d->start = start;
    d->end = start + v->entry.length;
    memcpy(d->name, v->entry.name, v->entry.length + 1);
    if (parent)
        parent->refs++; /* not atomic: no subdirectory has been published yet */
    if (t->found_first)
        t->found_last->next = d;
    else
        t->found_first = d;
    t->found_last = d;
    t->found_count++;
    return d;
}

/* Replaces a symbolic link's type, inode and status by those of its target.  If the target does not exist,
 * the entry remains a link, without an error. */
static void follow_link(struct walk *w, struct asf_visit *v, struct statx *st) {
    unsigned mask = w->mask | STATX_TYPE | STATX_INO;
    int rc = asf__sys.statx(v->dirfd, v->entry.name, AT_NO_AUTOMOUNT, mask, st);
    if (rc < 0) {
        v->entry.error = rc == -ENOENT ? v->entry.error : rc;
        return;
    }
    v->entry.type = (unsigned char)IFTODT(st->stx_mode);
    v->entry.inode = st->stx_ino;
    v->entry.status = w->mask ? st : NULL;
}

static void visit_entry(struct worker *t, struct directory *d, const struct asf_entry *e, int fd) {
    size_t start = child_start(t->w, d);
    if (!reserve_path(t, start + e->length))
        return;
    t->path[start - 1] = '/';
    memcpy(t->path + start, e->name, e->length + 1);
    struct statx st;
    void *user_data = NULL;
    struct asf_visit v = {
        .entry = *e,
        .path = t->path,
        .path_length = start + e->length,
        .dirfd = fd,
        .depth = d->depth + 1,
        .thread = t->number,
        .own = &user_data,
        .above = d->user_data,
    };
    if (e->type == DT_LNK && t->w->flags & ASF_WALK_FOLLOW)
        follow_link(t->w, &v, &st);
    if (call_visit(t, &v) == 0 && v.entry.type == DT_DIR)
        new_directory(t, d, &v);
}

/* --- one directory ---------------------------------------------------------------------- */

static bool same_device(const struct directory *a, const struct directory *b) {
    return a->device.major == b->device.major && a->device.minor == b->device.minor;
}

/* Whether to read the directory.  Returns 1; 0 if it is on another file system; -ELOOP if it is one of its
 * own ancestors; or -errno. */
static int check_directory(struct walk *w, struct directory *d, int fd) {
    struct statx st;
    if (!(w->flags & (ASF_WALK_FOLLOW | ASF_WALK_ONE_FS)))
        return 1;
    int rc = asf__sys.statx(fd, "", AT_EMPTY_PATH, STATX_INO, &st);
    if (rc < 0)
        return rc;
    d->inode = st.stx_ino;
    d->device.major = st.stx_dev_major;
    d->device.minor = st.stx_dev_minor;
    if (w->flags & ASF_WALK_FOLLOW)
        for (const struct directory *a = d->parent; a; a = a->parent)
            if (a->inode == d->inode && same_device(a, d))
                return -ELOOP;
    return !(w->flags & ASF_WALK_ONE_FS) || same_device(w->root, d);
}

static int read_entries(struct worker *t, struct directory *d, int fd) {
    struct asf_dir dir;
    const struct asf_entry *e;
    ssize_t n = 0;
    t->stream->fd = fd;
    asf__empty_windows(t->stream);
    asf_dir_begin(&dir, t->stream, t->w->mask, 0);
    do
        while (!is_ending(t->w) && (e = asf_dir_next(&dir, &n)))
            visit_entry(t, d, e, fd);
    while (!is_ending(t->w) && n == -EINTR);
    asf_dir_end(&dir);
    t->stream->fd = -1;
    return is_ending(t->w) ? 0 : (int)n;
}

static void visit_directory(struct worker *t, struct directory *d) {
    if (is_ending(t->w) || !set_path(t, d))
        return;
    int fd = open_directory(t, d), rc = fd < 0 ? fd : check_directory(t->w, d, fd);
    if (rc > 0)
        rc = read_entries(t, d, fd);
    if (rc < 0)
        report_directory(t, d, ASF_WALK_FAILED, rc);
    if (fd >= 0)
        keep_or_close(t, d, fd);
}

/* --- the threads ------------------------------------------------------------------------ */

static void *run_worker(void *worker);

/* Starts another thread.  Lock: held. */
static void start_worker(struct walk *w) {
    struct worker *t = &w->workers[w->started];
    t->w = w;
    t->number = w->started;
    uint64_t mask = asf__hold_signals();
    if (pthread_create(&t->thread, NULL, run_worker, t) == 0)
        w->started++;
    else
        w->max_threads = w->started;
    asf__release_signals(mask);
}

/* Pushes the directories that the thread has found, and pops one.  `done` is the number of directories that
 * the thread has finished since the last call.  Returns NULL when the walk is over. */
static struct directory *next_directory(struct worker *t, unsigned done) {
    struct walk *w = t->w;
    pthread_mutex_lock(&w->lock);
    if (t->found_first) {
        t->found_last->next = w->stack;
        w->stack = t->found_first;
    }
    w->stacked += t->found_count;
    w->pending += t->found_count - done;
    t->found_first = NULL;
    if (w->pending == 0)
        pthread_cond_broadcast(&w->work_or_end);
    for (unsigned i = 1; i < t->found_count && i <= w->idle; i++)
        pthread_cond_signal(&w->work_or_end);
    if (w->stacked > 1 && w->idle == 0 && w->started < w->max_threads)
        start_worker(w);
    t->found_count = 0;
    while (!w->stack && w->pending > 0) {
        w->idle++;
        pthread_cond_wait(&w->work_or_end, &w->lock);
        w->idle--;
    }
    struct directory *d = w->stack;
    if (d) {
        w->stack = d->next;
        w->stacked--;
    }
    pthread_mutex_unlock(&w->lock);
    return d;
}

static void *run_worker(void *worker) {
    struct worker *t = worker;
    t->stream = asf__open_directory(-1);
    if (!t->stream)
        end_early(t->w, -ENOMEM);
    for (struct directory *d = next_directory(t, 0); d; d = next_directory(t, 1)) {
        visit_directory(t, d);
        finish_directory(t, d);
    }
    if (t->stream)
        asf_sclose(t->stream);
    free(t->path);
    return NULL;
}

/* --- the walk --------------------------------------------------------------------------- */

static void init_walk(struct walk *w, const struct asf_walk_options *o) {
    struct rlimit files;
    unsigned threads = o->threads ? o->threads : asf__processors();
    w->flags = o->flags;
    w->mask = o->mask;
    w->max_threads = threads < ASF_WALK_THREADS ? threads : ASF_WALK_THREADS;
    w->max_kept =
        getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < 8192 ? (int)files.rlim_cur / 2 : 4096;
    w->started = 1;
    w->workers[0].w = w;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->work_or_end, NULL);
}

/* Visits the path given to asf_walk.  Returns 0, or -errno if statx fails. */
static int visit_root(struct worker *t, const char *path) {
    struct walk *w = t->w;
    struct statx st;
    void *user_data = NULL;
    int rc = asf__sys.statx(w->at, path, AT_SYMLINK_NOFOLLOW, w->mask | STATX_TYPE | STATX_INO, &st);
    if (rc < 0)
        return rc;
    size_t n = strlen(path);
    struct asf_visit v = {
        .entry = {.name = path,
                  .length = n,
                  .inode = st.stx_ino,
                  .status = w->mask ? &st : NULL,
                  .type = (unsigned char)IFTODT(st.stx_mode)},
        .path = path,
        .path_length = n,
        .dirfd = w->at,
        .own = &user_data,
    };
    if (v.entry.type == DT_LNK && w->flags & ASF_WALK_FOLLOW)
        follow_link(w, &v, &st);
    w->slash = path[n - 1] != '/';
    if (call_visit(t, &v) == 0 && v.entry.type == DT_DIR)
        w->root = new_directory(t, NULL, &v);
    return 0;
}

/* Cancellation is disabled: a cancelled caller could not join the other threads. */
int asf_walk(int at, const char *path, const struct asf_walk_options *options,
             int (*visit)(const struct asf_visit *v, void *arg), void *arg) {
    static const struct asf_walk_options usual;
    struct walk w = {.at = at, .visit = visit, .arg = arg};
    int cancellation;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
    init_walk(&w, options ? options : &usual);
    int rc = visit_root(&w.workers[0], path);
    if (rc == 0)
        run_worker(&w.workers[0]);
    for (unsigned i = 1; i < w.started; i++)
        pthread_join(w.workers[i].thread, NULL);
    pthread_cond_destroy(&w.work_or_end);
    pthread_mutex_destroy(&w.lock);
    pthread_setcancelstate(cancellation, &cancellation);
    return rc < 0 ? rc : w.result;
}
