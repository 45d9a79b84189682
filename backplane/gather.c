/* SPDX-License-Identifier: MIT
 *
 * gather.c - small writes to a file gathered into larger ones.  As for offsets
 * that are kept (descriptor.h) there is one thread, signals are held while
 * something is written, and a copy counts by one instruction.
 * Layer: backplane.  May include: backplane, lib.
 */
#define _GNU_SOURCE
#include "backplane/gather.h"

#include <errno.h>

#include "backplane/backplane.h"
#include "backplane/descriptor.h"
#include "lib/sys/fault.h"
#include "lib/sys/options.h"
#include "lib/sys/syscalls.h"

enum { SIZE = 64 << 10, FILES = 8, TABLE = 1024, NEVER = 255, USED_BITS = 32 };

static struct gathering {
    uint64_t state; /* a generation, and the bytes gathered: USED_BITS */
    char *buffer;
    int fd, failed;
    bool used, over; /* over: nothing more is gathered, but an error is still to be told */
    dev_t dev;
    ino_t ino;
} files[FILES];

static uint8_t file_of[TABLE]; /* one more than the file's number, or NEVER */
static uint64_t generation;
static bool some_known; /* file_of has been written to */
static bool stopped;
int asf__gathered_count;

static size_t gathered(uint64_t state) {
    return (size_t)(state & (((uint64_t)1 << USED_BITS) - 1));
}

static struct gathering *find(int fd) {
    unsigned i = (unsigned)fd < TABLE ? file_of[fd] : 0;
    return i == 0 || i == NEVER ? NULL : &files[i - 1];
}

static void count(int change) {
    asf__gathered_count += change;
    __atomic_add_fetch(&asf__unsettled_count, change, __ATOMIC_RELAXED);
    __atomic_add_fetch(&asf__holding_count, change, __ATOMIC_RELAXED);
}

/* With signals held. */
static void write_out(struct gathering *g) {
    size_t n = gathered(g->state), done = 0;
    if (n == 0)
        return;
    while (done < n) {
        ssize_t r = asf__raw(SYS_write, g->fd, (long)(g->buffer + done), (long)(n - done), 0);
        if (r <= 0) {
            g->failed = r < 0 ? (int)r : -EIO;
            break;
        }
        done += (size_t)r;
    }
    g->state = ++generation << USED_BITS;
    count(-1);
}

void asf__write_gathered(void) {
    if (asf__likely(asf__gathered_count == 0))
        return;
    uint64_t mask = asf__hold_signals();
    for (int i = 0; i < FILES; i++)
        if (files[i].used)
            write_out(&files[i]);
    asf__release_signals(mask);
}

static void end(struct gathering *g, bool for_good) {
    write_out(g);
    g->used = false;
    file_of[g->fd] = for_good ? NEVER : 0;
}

int asf__end_gathering(int fd) {
    if (!some_known || (unsigned)fd >= TABLE || file_of[fd] == 0)
        return 0;
    uint64_t mask = asf__hold_signals();
    struct gathering *g = find(fd);
    int failed = 0;
    if (g) {
        end(g, false);
        failed = g->failed;
        g->failed = 0;
    }
    file_of[fd] = 0;
    asf__release_signals(mask);
    return failed;
}

int asf__gathering_error(int fd) {
    struct gathering *g = find(fd);
    if (!g)
        return 0;
    asf__write_gathered();
    int failed = g->failed;
    g->failed = 0;
    return failed;
}

void asf__stop_gathering(void) {
    if (stopped || !asf__options()->coalesce)
        return;
    asf__write_gathered();
    stopped = true;
}

/* Another descriptor of the same file: order between the two would show. */
static bool has_twin(const struct stat64 *st) {
    for (int i = 0; i < FILES; i++) {
        struct gathering *g = &files[i];
        if (g->used && g->dev == st->st_dev && g->ino == st->st_ino) {
            write_out(g);
            g->over = true;
            if (!g->failed)
                end(g, true);
            return true;
        }
    }
    return false;
}

static bool begin(int fd) {
    struct stat64 st;
    int flags = (int)asf__raw(SYS_fcntl, fd, F_GETFL, 0, 0), i = 0;
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || flags & (O_DIRECT | O_SYNC | O_DSYNC | O_PATH) ||
        asf__sys.fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || has_twin(&st))
        return false;
    while (i < FILES && files[i].used)
        i++;
    if (i == FILES || !(files[i].buffer || (files[i].buffer = asf__zero_pages(SIZE))))
        return false;
    struct gathering *g = &files[i];
    *g = (struct gathering){.buffer = g->buffer, .fd = fd, .used = true, .dev = st.st_dev, .ino = st.st_ino};
    g->state = ++generation << USED_BITS;
    file_of[fd] = (uint8_t)(i + 1);
    asf__last_words(asf__settle_last);
    return true;
}

static struct gathering *find_or_begin(int fd) {
    struct gathering *g = find(fd);
    if (g && g->over && !g->failed) {
        end(g, true);
        g = NULL;
    }
    if (g || (unsigned)fd >= TABLE || file_of[fd] == NEVER)
        return g;
    uint64_t mask = asf__hold_signals();
    some_known = true;
    if (!begin(fd))
        file_of[fd] = NEVER;
    asf__release_signals(mask);
    return find(fd);
}

int asf__gather(int fd, const void *p, size_t n) {
    enum { SMALL = 4096 };
    if (stopped || !__libc_single_threaded || n - 1 >= SMALL)
        return 0;
    for (;;) {
        struct gathering *g = find_or_begin(fd);
        if (!g)
            return 0;
        uint64_t state = __atomic_load_n(&g->state, __ATOMIC_RELAXED);
        size_t at = gathered(state);
        int failed = g->failed;
        if (failed || at + n > SIZE) {
            g->failed = 0;
            if (failed)
                return failed;
            asf__write_gathered();
            continue;
        }
        memcpy(g->buffer + at, p, n);
        if (at == 0) /* first: what a signal handler adds to it is to be found */
            count(1);
        if (g->fd == fd && asf__exchange(&g->state, state, state + n))
            return 1;
        if (at == 0)
            count(-1);
    }
}
