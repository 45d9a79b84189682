/* SPDX-License-Identifier: MIT
 *
 * blocks.c - fread and fwrite.
 */
#include "interfaces/stdio/stdio_cios.h"

#include "backplane/backplane.h"

/* Reads of LARGE bytes or more go to asf__take, which may copy with the stream unlocked.  Blocks of at most
 * SHORT bytes are moved by fread and fwrite themselves. */
enum { LARGE = 2048, SHORT = 64 };

size_t asf__get_bytes(struct asf_cios *c, void *p, size_t n) {
    int error;
    if (c->orientation > 0 || n == 0)
        return 0;
    if (!asf__ours(c))
        return asf__other_get(c, p, n);
    size_t done = asf__take(c, p, n, asf__before_input, &error);
    if (c->flags & ASF_NO_READS && done < n)
        asf__orient_to_bytes(c); /* glibc orients the stream before it refuses to read */
    if (error)
        asf__error(c, asf__reported_error(c, error, ASF_NO_READS));
    else if (done < n)
        c->flags |= ASF_EOF;
    return done;
}

/* fwrite's result after an error, when the buffer or the file has `done` of n bytes.  If all are in the
 * buffer, glibc before 2.42 returns EOF.  Newer ones return how many bytes of this call were written, at most
 * all but one.  musl's does so after every failed write.  Bytes in a buffer that is the module's own memory
 * count as written.  before: the count of bytes written or pending before the call. */
static size_t count_written(const struct asf_cios *c, size_t done, size_t n, uint64_t before) {
    bool counted = !ASF_LIBC(fwrite_written) || asf__module_drains(c);
    if (!ASF_LIBC(fwrite_pending) || (done < n && counted))
        return done < n ? done : (size_t)EOF;
    uint64_t out = c->stats.out, written = out > before && c->kind != ASF_CALLBACK ? out - before : 0;
    return written < n ? written : n - 1;
}

size_t asf__put_bytes(struct asf_cios *c, const void *p, size_t n) {
    int error = 0;
    if (!asf__orient_to_bytes(c) || n == 0)
        return 0;
    if (!asf__ours(c))
        return asf__other_put(c, p, n);
    uint64_t before = c->stats.out + asf__pending(c);
    size_t done = asf__append(c, p, n, &error);
    if (asf__likely(error == 0))
        return done;
    asf__output_error(asf__reported_error(c, error, ASF_NO_WRITES));
    return count_written(c, done, n, before);
}

static inline size_t items(size_t done, size_t bytes, size_t size, size_t count) {
    return done == bytes || done == (size_t)EOF ? count : done / size;
}

/* Takes the bytes from the window, if it has them all.  If a mapped file was truncated, the fault handler
 * moves read_end below read_ptr: returns false, and the slow path shortens the count. */
static inline bool take_fast(struct asf_cios *c, char *p, size_t bytes) {
    if (bytes > asf__avail(c) || asf__unlikely(asf__counting || !asf__ours(c)))
        return false;
    char *end = c->read_ptr + bytes;
    asf__note_passing(c, bytes);
    asf__copy(p, c->read_ptr, bytes);
    if (asf__unlikely(__atomic_load_n(&c->read_end, __ATOMIC_RELAXED) < end))
        return false;
    c->read_ptr = end;
    return true;
}

static inline bool put_fast(struct asf_cios *c, const char *p, size_t bytes) {
    if (bytes > asf__room(c))
        return false;
    asf__copy(c->write_ptr, p, bytes);
    c->write_ptr += bytes;
    return true;
}

CACHE_LINE_ALIGNED static __attribute__((noinline)) size_t read_slow(void *p, size_t size, size_t count,
                                                                     FILE *f) {
    struct asf_cios *c = asf__cios(f);
    size_t bytes = size * count;
    if (bytes == 0 || (asf__alone() && take_fast(c, p, bytes)))
        return bytes ? count : 0;
    asf__enter(c);
    asf__count(c);
    size_t done = bytes < LARGE && take_fast(c, p, bytes) ? bytes : asf__get_bytes(c, p, bytes);
    asf__leave(c);
    return items(done, bytes, size, count);
}

CACHE_LINE_ALIGNED static __attribute__((noinline)) size_t write_slow(const void *p, size_t size,
                                                                      size_t count, FILE *f) {
    struct asf_cios *c = asf__cios(f);
    size_t bytes = size * count;
    if (bytes == 0 || (asf__alone() && put_fast(c, p, bytes)))
        return bytes ? count : 0;
    asf__enter(c);
    asf__count(c);
    size_t done = put_fast(c, p, bytes) ? bytes : asf__put_bytes(c, p, bytes);
    asf__leave(c);
    return items(done, bytes, size, count);
}

static inline bool take_short(struct asf_cios *c, void *p, size_t bytes) {
    const char *from = c->read_ptr, *end = from + bytes;
    if (asf__unlikely(c->read_end - from < (ptrdiff_t)bytes))
        return false;
    asf__copy_short(p, from, bytes);
    if (asf__unlikely(__atomic_load_n(&c->read_end, __ATOMIC_RELAXED) < end))
        return false;
    c->read_ptr = (char *)end;
    return true;
}

static inline bool put_short(struct asf_cios *c, const void *p, size_t bytes) {
    char *to = c->write_ptr;
    if (asf__unlikely(c->write_end - to < (ptrdiff_t)bytes))
        return false;
    asf__copy_short(to, p, bytes);
    c->write_ptr = to + bytes;
    return true;
}

/* In a multithreaded process the fast path needs the stream's lock biased to this thread. */
static __attribute__((noinline)) size_t read_shared(void *p, size_t size, size_t count, FILE *f) {
    struct asf_cios *c = asf__cios(f);
    if (asf__try_biased_lock(c)) {
        bool done = take_short(c, p, size * count);
        asf__bias_leave(&c->lk);
        if (done)
            return count;
    }
    return read_slow(p, size, count, f);
}

static __attribute__((noinline)) size_t write_shared(const void *p, size_t size, size_t count, FILE *f) {
    struct asf_cios *c = asf__cios(f);
    if (asf__try_biased_lock(c)) {
        bool done = put_short(c, p, size * count);
        asf__bias_leave(&c->lk);
        if (done)
            return count;
    }
    return write_slow(p, size, count, f);
}

/* fread and fwrite move short blocks without a stack frame. */
CACHE_LINE_ALIGNED EXPORT size_t fread(void *p, size_t size, size_t count, FILE *f) {
    size_t bytes = size * count;
    if (asf__unlikely(bytes - 1 >= SHORT))
        return read_slow(p, size, count, f);
    if (asf__unlikely(!asf__alone()))
        return read_shared(p, size, count, f);
    if (asf__likely(take_short(asf__cios(f), p, bytes)))
        return count;
    return read_slow(p, size, count, f);
}

CACHE_LINE_ALIGNED EXPORT size_t fwrite(const void *p, size_t size, size_t count, FILE *f) {
    size_t bytes = size * count;
    if (asf__unlikely(bytes - 1 >= SHORT))
        return write_slow(p, size, count, f);
    if (asf__unlikely(!asf__alone()))
        return write_shared(p, size, count, f);
    if (asf__likely(put_short(asf__cios(f), p, bytes)))
        return count;
    return write_slow(p, size, count, f);
}

EXPORT size_t fread_unlocked(void *p, size_t size, size_t count, FILE *f) {
    struct asf_cios *c = asf__cios(f);
    size_t bytes = size * count;
    if (bytes == 0)
        return 0;
    asf__count(c);
    if (take_fast(c, p, bytes))
        return count;
    return items(ASF_UNLOCKED(c, asf__get_bytes(c, p, bytes)), bytes, size, count);
}

EXPORT size_t fwrite_unlocked(const void *p, size_t size, size_t count, FILE *f) {
    struct asf_cios *c = asf__cios(f);
    size_t bytes = size * count;
    if (bytes == 0)
        return 0;
    asf__count(c);
    if (put_fast(c, p, bytes))
        return count;
    return items(ASF_UNLOCKED(c, asf__put_bytes(c, p, bytes)), bytes, size, count);
}

static void check_room(size_t room, size_t size, size_t count) {
    size_t bytes;
    if (__builtin_mul_overflow(size, count, &bytes) || bytes > room)
        __chk_fail();
}

EXPORT size_t __fread_chk(void *p, size_t room, size_t size, size_t count, FILE *f) {
    check_room(room, size, count);
    return fread(p, size, count, f);
}

EXPORT size_t __fread_unlocked_chk(void *p, size_t room, size_t size, size_t count, FILE *f) {
    check_room(room, size, count);
    return fread_unlocked(p, size, count, f);
}
