/* SPDX-License-Identifier: MIT
 *
 * positional.c - regions at any offset of a regular file, for sallocAt outside the current buffer.  pread
 * fills a region of input, in memory of its own.  After as many reads as mapping the file would cost page
 * faults, the whole file is mapped, and regions point into the map.  A region of output is a buffer of its
 * own, which pwrite puts when the region is given back.  pread and pwrite are called without the stream's
 * lock.
 *
 * After such a region the stream continues at the region's end, but its window and descriptor move only at
 * the next sequential call (ASF_MOVED).  Until then each thread records the end of its latest region, with
 * the time; the stream continues at the latest of these ends.  A positional call that runs while a
 * sequential call clears ASF_MOVED counts as made before it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>

#include "backplane/regions.h"
#include "lib/sys/cleanup.h"
#include "lib/sys/clock.h"
#include "lib/sys/fault.h"
#include "lib/sys/syscalls.h"
#include "streams/modules.h"

/* The kernel maps sixteen pages at each fault.  The file is mapped after as many reads as its map can cost
 * faults: 200 MB after 3200 reads.  A fault costs about as much as two small reads of 0.5 us each. */
enum { FAULT_AROUND = 64 << 10 };

/* Each thread enters its regions in one of SHARDS tables of REGIONS entries, so that up to SHARDS threads
 * share no cache line. */
enum { SHARDS = 16, REGIONS = 61 };

struct shard {
    _Alignas(64) struct kept {
        char *p; /* NULL: the entry is free; its own address: a thread is filling or freeing it */
        size_t n;
        off64_t end;               /* output: the offset of its end; input: 0 */
        struct asf_buffer *buffer; /* output: its memory; input: NULL */
    } kept[REGIONS];
    /* The latest region allocated by a thread of this shard. */
    const char *region;
    size_t length;
    off64_t moved_to;    /* the offset of that region's end, to which it moved the stream */
    uint64_t moved_when; /* the time of the move, in asf__ticks */
};

struct asf_positional {
    struct shard shards[SHARDS];
    char *map; /* set once, after `size`, and valid until the stream is closed; or NULL */
    size_t size;
    int watch;
    bool truncated;         /* the map may have pages of zeros, even if the file has grown again */
    uint64_t reads, needed; /* the reads so far; the reads after which the file is mapped, or NEVER */
    off64_t reach;          /* the file can have all offsets up to this one */
};

static const uint64_t NEVER = UINT64_MAX;

static unsigned threads; /* how many threads have been numbered; the first number is 1 */

static struct shard *my_shard(struct asf_positional *p) {
    static __thread unsigned mine;
    if (asf__unlikely(mine == 0))
        mine = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
    return &p->shards[mine % SHARDS];
}

static struct asf_positional *of(const struct asf_cios *c) {
    return __atomic_load_n(&c->positional, __ATOMIC_ACQUIRE);
}

/* --- regions that are not given back yet ---------------------------------------------- */

/* Claims the entry if its `p` is `expected`: NULL, or the region to be freed. */
static bool claim(struct kept *k, char *expected) {
    return __atomic_load_n(&k->p, __ATOMIC_RELAXED) == expected &&
           __atomic_compare_exchange_n(&k->p, &expected, (char *)k, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

static void release(struct kept *k) {
    __atomic_store_n(
        &k->end, 0,
        __ATOMIC_RELAXED); /* before `p`: a reader must not see the old end with the next region */
    __atomic_store_n(&k->p, NULL, __ATOMIC_RELEASE);
}

/* Enters a region of input; or, with a buffer, a region of output that ends at the offset `end`. */
static bool enter_region(struct asf_positional *p, char *region, size_t n, struct asf_buffer *b,
                         off64_t end) {
    struct kept *k = my_shard(p)->kept, *last = k + REGIONS;
    while (k < last && !claim(k, NULL))
        k++;
    if (k == last)
        return false;
    k->n = n;
    k->buffer = b;
    __atomic_store_n(&k->end, end, __ATOMIC_RELAXED);
    __atomic_store_n(&k->p, region, __ATOMIC_RELEASE);
    return true;
}

static struct kept *find_in(struct shard *s, const char *region) {
    for (struct kept *k = s->kept; k < s->kept + REGIONS; k++)
        if (__atomic_load_n(&k->p, __ATOMIC_RELAXED) == region)
            return k;
    return NULL;
}

static struct kept *find_kept(struct asf_positional *p, const char *region, struct shard **s) {
    *s = my_shard(p);
    struct kept *k = find_in(*s, region);
    unsigned last = __atomic_load_n(&threads, __ATOMIC_RELAXED);
    for (unsigned i = 0; !k && i < SHARDS && i <= last; i++)
        k = find_in(*s = &p->shards[i], region);
    return k;
}

/* Clears the latest region if it is `region`, since its address may be allocated again. */
static void forget_latest(struct shard *s, const char *region) {
    __atomic_compare_exchange_n(&s->region, &region, NULL, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

bool asf__has_regions_apart(const struct asf_cios *c) {
    struct asf_positional *p = of(c);
    for (size_t i = 0; p && i < SHARDS * REGIONS; i++)
        if (__atomic_load_n(&p->shards[i / REGIONS].kept[i % REGIONS].p, __ATOMIC_ACQUIRE))
            return true;
    return false;
}

off64_t asf__end_of_output_apart(const struct asf_cios *c) {
    struct asf_positional *p = of(c);
    off64_t last = 0;
    for (size_t i = 0; p && i < SHARDS * REGIONS; i++) {
        const struct kept *k = &p->shards[i / REGIONS].kept[i % REGIONS];
        off64_t end =
            __atomic_load_n(&k->p, __ATOMIC_ACQUIRE) ? __atomic_load_n(&k->end, __ATOMIC_RELAXED) : 0;
        last = end > last ? end : last;
    }
    return last;
}

/* --- the stream's position ---------------------------------------------------------- */

/* Drops the window and the offset, so that no call uses them.  Lock: held. */
static void leave_window(struct asf_cios *c) {
    asf__free_backup(c);
    asf__table_last(c);
    asf__leave_window(c);
    c->offset = -1;
    c->stopped = 0;
    c->flags &= ~ASF_EOF;
}

static void note_move(struct asf_positional *p, const char *region, size_t n, off64_t end, uint64_t when) {
    struct shard *s = my_shard(p);
    __atomic_store_n(&s->region, region, __ATOMIC_RELAXED);
    __atomic_store_n(&s->length, n, __ATOMIC_RELAXED);
    __atomic_store_n(&s->moved_to, end, __ATOMIC_RELAXED);
    __atomic_store_n(&s->moved_when, when, __ATOMIC_RELEASE);
}

/* Moves the stream to the end of a region of input.  when: the time of the move; 0: now. */
static void move_stream(struct asf_cios *c, struct asf_positional *p, const char *region, size_t n,
                        off64_t end, uint64_t when) {
    note_move(p, region, n, end, when ? when : asf__ticks());
    if (asf__likely(__atomic_load_n(&c->gate, __ATOMIC_ACQUIRE) & ASF_MOVED))
        return;
    asf__lock(&c->lk);
    if (!(c->gate & ASF_MOVED) && !asf__is_putting(c)) { /* otherwise output has begun meanwhile */
        leave_window(c);
        __atomic_store_n(&c->gate, c->gate | ASF_MOVED, __ATOMIC_RELEASE);
        when = 0;
    }
    note_move(p, region, n, end, when ? when : asf__ticks());
    asf__unlock(&c->lk);
}

/* Returns the shard with the latest move. */
static struct shard *latest(struct asf_positional *p) {
    struct shard *latest = p->shards;
    for (struct shard *s = p->shards + 1; s < p->shards + SHARDS; s++)
        if (__atomic_load_n(&s->moved_when, __ATOMIC_ACQUIRE) >
            __atomic_load_n(&latest->moved_when, __ATOMIC_ACQUIRE))
            latest = s;
    return latest;
}

/* Sets the descriptor and the stream to `offset`, and clears ASF_MOVED.  Lock: held. */
static int go_to(struct asf_cios *c, off64_t offset) {
    off64_t at = c->ops->seek(c, offset, SEEK_SET);
    if (at < 0)
        return (int)at;
    leave_window(c);
    c->offset = at;
    __atomic_store_n(&c->gate, c->gate & ~(unsigned)ASF_MOVED, __ATOMIC_RELEASE);
    return 0;
}

/* Makes a region of output the current buffer, when the stream is at the region's beginning.  Lock: held. */
static void adopt(struct asf_cios *c, struct asf_buffer *b) {
    asf__use_buffer(c, b);
    asf__insert_region(b, b->base, b->size);
    b->refs = 1;
    c->write_ptr += b->size;
    asf__show_room(c);
}

/* Moves the stream to the end of the latest region.  If that is a kept region of output and the stream
 * continues to write, the region becomes the current buffer, and the output that follows waits for it. */
int asf__arrive_slow(struct asf_cios *c) {
    struct shard *s = latest(c->positional);
    off64_t at = __atomic_load_n(&s->moved_to, __ATOMIC_RELAXED);
    char *region = (char *)(uintptr_t)__atomic_load_n(&s->region, __ATOMIC_RELAXED);
    struct kept *k = region && asf__is_putting(c) ? find_in(s, region) : NULL;
    if (!k || __atomic_load_n(&k->end, __ATOMIC_RELAXED) != at)
        return go_to(c, at);
    int rc = go_to(c, at - (off64_t)__atomic_load_n(&s->length, __ATOMIC_RELAXED));
    if (rc < 0)
        return rc;
    if (!claim(k, region)) /* another thread has just given the region back */
        return go_to(c, at);
    adopt(c, k->buffer);
    forget_latest(s, region);
    release(k);
    return 0;
}

/* Moves the stream to an offset at or after the end of the file.  Moves at once, so that an offset that
 * the file cannot have fails now. */
static int move_beyond_end(struct asf_cios *c, off64_t offset) {
    asf__lock(&c->lk);
    int rc = asf__is_putting(c) ? 0 : go_to(c, offset);
    asf__unlock(&c->lk);
    return rc;
}

size_t asf__latest_at(struct asf_cios *c, const char *region) {
    struct shard *s = c->positional ? latest(c->positional) : NULL;
    if (!s || __atomic_load_n(&s->region, __ATOMIC_RELAXED) != region)
        return 0;
    const struct kept *k = find_in(s, region);
    if (k && __atomic_load_n(&k->end, __ATOMIC_RELAXED) > 0) /* output */
        return 0;
    bool here = c->gate & ASF_MOVED || asf__tell(c) == __atomic_load_n(&s->moved_to, __ATOMIC_RELAXED);
    return here ? __atomic_load_n(&s->length, __ATOMIC_RELAXED) : 0;
}

/* --- the map ------------------------------------------------------------------------------ */

/* Maps the file if as many reads were made as touching the whole map would cost page faults.  A stream that
 * writes has no map: regions in a map would show the bytes that the stream writes.  At least half of the file
 * must be data: a mapped hole costs a fault for each page, and memory on tmpfs.  Lock: held. */
static void consider_map(struct asf_cios *c, struct asf_positional *p) {
    struct stat64 st;
    int error = 0;
    bool can = c->access == O_RDONLY && !p->map && asf__fstat(c->fd, &st) == 0 && st.st_size > 0 &&
               st.st_blocks >= st.st_size / 512 / 2;
    uint64_t needed = can ? (uint64_t)st.st_size / FAULT_AROUND + 1 : NEVER;
    __atomic_store_n(&p->needed, needed, __ATOMIC_RELAXED);
    if (!can || __atomic_load_n(&p->reads, __ATOMIC_RELAXED) <= needed)
        return;
    __atomic_store_n(&p->needed, NEVER, __ATOMIC_RELAXED);
    char *map = asf__can_catch_faults() && asf__why_map(c, &st)
                    ? asf__sys.map((size_t)st.st_size, c->fd, 0, &error)
                    : NULL;
    if (!map)
        return;
    p->size = (size_t)st.st_size;
    p->watch = asf__watch(map, p->size, &p->truncated, NULL, ASF_MOST_WINDOWS);
    if (p->watch < 0)
        asf__sys.unmap(map, p->size);
    else
        __atomic_store_n(&p->map, map, __ATOMIC_RELEASE);
}

static void *read_mapped(struct asf_cios *c, size_t n, off64_t offset, uint64_t when) {
    struct asf_positional *p = of(c);
    char *map = p ? __atomic_load_n(&p->map, __ATOMIC_ACQUIRE) : NULL;
    if (!map || __atomic_load_n(&p->truncated, __ATOMIC_RELAXED) || (uint64_t)offset >= p->size ||
        n > p->size - (size_t)offset || !enter_region(p, map + offset, n, NULL, 0))
        return NULL;
    move_stream(c, p, map + offset, n, offset + (off64_t)n, when);
    return map + offset;
}

static bool is_in_map(struct asf_positional *p, const char *region) {
    const char *map = __atomic_load_n(&p->map, __ATOMIC_ACQUIRE);
    return map && region >= map && region < map + p->size;
}

/* Returns -EIO if the file may have been truncated under the region.  Bytes after the end of the file read
 * as zeros, so a last byte that is not zero was the file's. */
static int lost(struct asf_cios *c, const struct asf_positional *p, const char *region, size_t n) {
    char last = *(const volatile char *)(region + n - 1);
    if (last && !__atomic_load_n(&p->truncated, __ATOMIC_ACQUIRE))
        return 0;
    return asf__was_cut(c, p->map, 0, p->watch, region + n) ? -EIO : 0;
}

/* --- giving back ------------------------------------------------------------------------- */

/* Ends a put: a stream that also reads drops its window, which may show bytes that the put has changed. */
static void end_put(struct asf_cios *c, size_t done, int error) {
    if (asf__likely(c->access == O_WRONLY && error == 0 && !asf__counting))
        return;
    asf__lock(&c->lk);
    c->stats.syscalls++;
    c->stats.out += done;
    c->flags |= error ? ASF_ERR : 0;
    asf__forget_window(c);
    asf__unlock(&c->lk);
}

static int put_output(struct asf_cios *c, const struct kept *k) {
    int error = 0;
    size_t done = 0;
    while (error == 0 && done < k->n) {
        ssize_t r =
            asf__sys.pwrite(c->fd, k->buffer->base + done, k->n - done, k->end - (off64_t)(k->n - done));
        if (r > 0)
            done += (size_t)r;
        else
            error = r < 0 ? (int)r : -EIO;
    }
    end_put(c, done, error);
    return error;
}

/* Moves the stream back to the beginning of an abandoned region if it is at the region's end: output in
 * sequence begins there. */
static void move_back(struct shard *s, const struct kept *k) {
    off64_t end = k->end;
    __atomic_compare_exchange_n(&s->moved_to, &end, end - (off64_t)k->n, false, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
}

int asf__free_apart(struct asf_cios *c, char *region, bool put) {
    struct asf_positional *p = of(c);
    struct shard *s;
    struct kept *k = p && region ? find_kept(p, region, &s) : NULL;
    if (!k)
        return ASF_NOT_APART;
    if (!claim(k, region))
        return ASF_NOT_APART; /* another thread has given it back, or the current buffer contains it now */
    if (!put && k->buffer)
        move_back(s, k);
    bool mapped = is_in_map(p, region);
    int rc = k->buffer ? put ? put_output(c, k) : 0 : mapped ? lost(c, p, region, k->n) : 0;
    if (!mapped)
        forget_latest(s, region);
    if (k->buffer)
        asf__retire_buffer(c, k->buffer);
    else if (!mapped)
        free(region);
    release(k);
    return rc;
}

/* --- output ------------------------------------------------------------------------------- */

/* Every file system allows offsets up to this one. */
enum { REACH = INT32_MAX };

/* Returns the stream's tables, or NULL if there is no memory.  Lock: held. */
static struct asf_positional *allocate_tables(struct asf_cios *c) {
    struct asf_positional *p = c->positional;
    if (!p && (p = aligned_alloc(_Alignof(struct asf_positional), sizeof *p))) {
        memset(p, 0, sizeof *p);
        p->reach = REACH;
        __atomic_store_n(&c->positional, p, __ATOMIC_RELEASE);
    }
    return p;
}

void *asf__write_apart(struct asf_cios *c, size_t n, off64_t offset) {
    struct asf_positional *p = of(c);
    off64_t end;
    if (offset > __atomic_load_n(&p->reach, __ATOMIC_RELAXED) || __builtin_add_overflow(offset, n, &end))
        return NULL;
    struct asf_buffer *b = asf__buffer_new(n);
    if (!b || !enter_region(p, b->base, n, b, end)) {
        if (b)
            asf__retire_buffer(c, b);
        return NULL;
    }
    note_move(p, b->base, n, end, asf__ticks());
    return b->base;
}

/* Asks the kernel whether the file can have the offset, and many after it, by moving the descriptor. */
static int extend_reach(struct asf_cios *c, struct asf_positional *p, off64_t offset) {
    enum { AT_ONCE = 1 << 30 };
    if (offset <= p->reach)
        return 0;
    off64_t at = c->ops->seek(c, offset | (AT_ONCE - 1), SEEK_SET);
    if (at < 0)
        at = c->ops->seek(c, offset, SEEK_SET);
    if (at >= 0)
        __atomic_store_n(&p->reach, at, __ATOMIC_RELAXED);
    return at < 0 ? (int)at : 0;
}

/* Sets the stream to write; a later call moves it to the offset. */
static void begin_output(struct asf_cios *c, struct asf_positional *p, off64_t offset) {
    if (asf__is_putting(c) && c->gate & ASF_MOVED)
        return;
    leave_window(c);
    asf__use_buffer(c, NULL);
    c->flags |= ASF_PUTTING;
    note_move(p, NULL, 0, offset, asf__ticks());
    __atomic_store_n(&c->gate, c->gate | ASF_MOVED, __ATOMIC_RELEASE);
}

void *asf__write_at(struct asf_cios *c, ssize_t *length, off64_t offset) {
    struct asf_positional *p = allocate_tables(c);
    size_t n = (size_t)*length;
    off64_t end;
    int rc = !p ? -ENOMEM : __builtin_add_overflow(offset, n, &end) ? -EINVAL : extend_reach(c, p, offset);
    if (rc < 0)
        return asf__no_region(length, rc);
    begin_output(c, p, offset);
    void *region = asf__write_apart(c, n, offset);
    if (region)
        return region;
    struct asf_buffer *b = asf__buffer_new(n); /* the table is full, or there was no memory */
    rc = b ? go_to(c, offset) : -ENOMEM;
    if (rc == 0)
        adopt(c, b);
    else if (b)
        asf__retire_buffer(c, b);
    return rc == 0 ? b->base : asf__no_region(length, rc);
}

/* --- input --------------------------------------------------------------------------------- */

/* Counts a read before it is made, and maps the file after enough of them.  Returns NULL if there is no
 * memory. */
static struct asf_positional *prepare_read(struct asf_cios *c) {
    struct asf_positional *p = of(c);
    uint64_t needed = p ? __atomic_load_n(&p->needed, __ATOMIC_RELAXED) : 0;
    if (needed == NEVER || (p && __atomic_add_fetch(&p->reads, 1, __ATOMIC_RELAXED) <= needed))
        return p;
    asf__lock(&c->lk);
    p = allocate_tables(c);
    if (p)
        consider_map(c, p);
    asf__unlock(&c->lk);
    return p;
}

static ssize_t read_all(struct asf_cios *c, char *to, size_t n, off64_t offset) {
    size_t done = 0;
    while (done < n) {
        ssize_t r = asf__sys.pread(c->fd, to + done, n - done, offset + (off64_t)done);
        if (r < 0 && done == 0)
            return r;
        if (r <= 0)
            break;
        done += (size_t)r;
    }
    return (ssize_t)done;
}

/* Returns n; if n is large, at most the file's bytes after `offset`, so that no memory is allocated
 * beyond them. */
static size_t within_file(struct asf_cios *c, size_t n, off64_t offset) {
    enum { MUCH = 1 << 20 };
    off64_t size = n > MUCH ? asf__fd_length(c) : -1;
    if (size < 0)
        return n;
    size_t there = size > offset ? (size_t)(size - offset) : 1;
    return n < there ? n : there;
}

/* Moves a region for which the shard has no free entry to a buffer of the stream.  Such a region cannot
 * be resized. */
static char *keep_in_buffer(struct asf_cios *c, char *region, size_t n) {
    struct asf_buffer *b = asf__buffer_new(n);
    if (b) {
        memcpy(b->base, region, n);
        asf__lock(&c->lk);
        asf__hand_out_apart(c, b, n);
        asf__unlock(&c->lk);
    }
    free(region);
    return b ? b->base : NULL;
}

static void *read_apart(struct asf_cios *c, struct asf_positional *p, ssize_t *length, off64_t offset,
                        uint64_t when) {
    size_t n = within_file(c, (size_t)*length, offset);
    char *region = malloc(n);
    if (!region)
        return asf__no_region(length, -ENOMEM);
    int cancellation = asf__forbid_cancellation();
    ssize_t r = read_all(c, region, n, offset);
    asf__permit_cancellation(cancellation);
    if (r <= 0) {
        free(region);
        return asf__no_region(length, r < 0 ? r : move_beyond_end(c, offset));
    }
    *length = r;
    bool kept = enter_region(p, region, (size_t)r, NULL, 0);
    if (!kept) {
        region = keep_in_buffer(c, region, (size_t)r);
        *length = region ? r : -ENOMEM;
    }
    if (*length >= 0)
        move_stream(c, p, kept ? region : NULL, (size_t)r, offset + r, when);
    return region;
}

void *asf__read_at(struct asf_cios *c, ssize_t *length, off64_t offset, uint64_t when) {
    void *region = read_mapped(c, (size_t)*length, offset, when);
    if (region)
        return region;
    struct asf_positional *p = prepare_read(c);
    return p ? read_apart(c, p, length, offset, when) : asf__no_region(length, -ENOMEM);
}

void asf__end_positional(struct asf_cios *c) {
    struct asf_positional *p = c->positional;
    if (!p)
        return;
    if (p->map) {
        asf__unwatch(p->watch);
        asf__sys.unmap(p->map, p->size);
    }
    c->positional = NULL;
    free(p);
}
