/* SPDX-License-Identifier: MIT
 *
 * inline.h - salloc and sfree in line (the paper's Figure 4 is a macro): a pointer and a
 * count, where the current buffer can serve them.  Included by <asf/asf.h>; programs use
 * its names alone.
 *
 * struct asf_view is what these functions know of a stream.  It has a version, which stands
 * in the names of the functions called for all else (asf_v1_...): a program that was compiled
 * for another view is not linked with this library.
 */
#ifndef ASF_INLINE_H
#define ASF_INLINE_H

#ifndef ASF_ASF_H
#error "include <asf/asf.h>"
#endif

#ifdef __GLIBC__
#include <sys/single_threaded.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The beginning of a stream.  The windows are libc's FILE's. */
struct __attribute__((__may_alias__)) asf_view {
    int flags; /* ASF_VIEW_BACKUP: the window shows bytes that were pushed back */
    char *read_ptr, *read_end, *read_base;
    char *write_base, *write_ptr, *write_end;
    char file[0xe0 - 0x38]; /* the rest of FILE */
    unsigned *regions;      /* those of the current buffer that were not given back, at its front */
    char *last, *last_end;  /* one that is in no table: it is the only one of the buffer */
    unsigned gate;          /* not 0: salloc is not in line */
    unsigned mapped;        /* the buffer maps a file, which may be truncated */
    char lock[16];          /* libc's words of it */
    void *holder;           /* the thread to which it is biased; busy and revoke: lib/sys/lock.h */
    unsigned busy, revoke;
};
#define ASF_VIEW_BACKUP 0x100

ASF_EXPORT void *asf_v1_salloc(struct asf_cios *stream, ssize_t *length);
ASF_EXPORT int asf_v1_sfree(struct asf_cios *stream, void *ptr);
ASF_EXPORT void *asf_v1_u_salloc(struct asf_cios *stream, ssize_t *length);
ASF_EXPORT int asf_v1_u_sfree(struct asf_cios *stream, void *ptr);
/* asf_v1_leave: give the lock back, for which another thread waits. */
ASF_EXPORT void asf_v1_leave(struct asf_cios *stream);

#define ASF_INLINE extern __inline__ __attribute__((__gnu_inline__, __always_inline__))

/* asf_view_region: the region [p, p + n), if it is the only one. */
ASF_INLINE void *asf_view_region(struct asf_view *v, char **pointer, ssize_t n) {
    char *p = *pointer;
    if (__builtin_expect(*v->regions != 0 || v->gate != 0, 0))
        return NULL;
    *v->regions = 1;
    v->last = p;
    v->last_end = p + n;
    *pointer = p + n;
    return p;
}

/* asf_view_salloc: NULL when it is not for here. */
ASF_INLINE void *asf_view_salloc(struct asf_view *v, ssize_t n) {
    if (__builtin_expect(n > 0, 1)) {
        if (__builtin_expect(n <= v->read_end - v->read_ptr && !(v->flags & ASF_VIEW_BACKUP), 1))
            return asf_view_region(v, &v->read_ptr, n);
        if (n <= v->write_end - v->write_ptr)
            return asf_view_region(v, &v->write_ptr, n);
    }
    return NULL;
}

/* asf_view_sfree: false when it is not for here.  What is behind the end of a mapped file is
 * zero: a region that ends with another byte was not truncated, unless the file has grown again
 * since; then the window ends before it. */
ASF_INLINE int asf_view_sfree(struct asf_view *v, const void *ptr) {
    if (__builtin_expect(!ptr || ptr != v->last || *v->regions != 1, 0) ||
        (v->mapped && (!*(const volatile char *)(v->last_end - 1) || v->read_end < v->last_end)))
        return 0;
    *v->regions = 0;
    return 1;
}

/* asf_view_enter: whether this thread may use the stream, either because there is no other
 * (1) or with the lock, which is biased to it (2) and is to be left. */
ASF_INLINE int asf_view_enter(struct asf_view *v) {
#ifdef __GLIBC__
    if (__builtin_expect(__libc_single_threaded, 1))
        return 1;
#endif
    void *self = __builtin_thread_pointer();
    if (__atomic_load_n(&v->holder, __ATOMIC_RELAXED) != self || __atomic_load_n(&v->busy, __ATOMIC_RELAXED))
        return 0;
    __atomic_store_n(&v->busy, 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(!__atomic_load_n(&v->revoke, __ATOMIC_ACQUIRE) &&
                             __atomic_load_n(&v->holder, __ATOMIC_RELAXED) == self,
                         1))
        return 2;
    asf_v1_leave((struct asf_cios *)v);
    return 0;
}

ASF_INLINE void asf_view_leave(struct asf_view *v, int entered) {
    if (entered == 1)
        return;
    __atomic_store_n(&v->busy, 0, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(__atomic_load_n(&v->revoke, __ATOMIC_RELAXED) != 0, 0))
        asf_v1_leave((struct asf_cios *)v);
}

#ifndef ASF_NO_INLINE
ASF_INLINE void *asf_u_salloc(struct asf_cios *stream, ssize_t *length) {
    void *p = asf_view_salloc((struct asf_view *)stream, *length);
    return __builtin_expect(p != NULL, 1) ? p : asf_v1_u_salloc(stream, length);
}

ASF_INLINE int asf_u_sfree(struct asf_cios *stream, void *ptr) {
    return asf_view_sfree((struct asf_view *)stream, ptr) ? 0 : asf_v1_u_sfree(stream, ptr);
}

ASF_INLINE void *asf_salloc(struct asf_cios *stream, ssize_t *length) {
    struct asf_view *v = (struct asf_view *)stream;
    int entered = asf_view_enter(v);
    if (__builtin_expect(entered, 1)) {
        void *p = asf_view_salloc(v, *length);
        asf_view_leave(v, entered);
        if (__builtin_expect(p != NULL, 1))
            return p;
    }
    return asf_v1_salloc(stream, length);
}

ASF_INLINE int asf_sfree(struct asf_cios *stream, void *ptr) {
    struct asf_view *v = (struct asf_view *)stream;
    int entered = asf_view_enter(v);
    if (__builtin_expect(entered, 1)) {
        int freed = asf_view_sfree(v, ptr);
        asf_view_leave(v, entered);
        if (__builtin_expect(freed, 1))
            return 0;
    }
    return asf_v1_sfree(stream, ptr);
}
#endif

#ifdef __cplusplus
}
#endif
#endif
