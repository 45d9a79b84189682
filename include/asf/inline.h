/* SPDX-License-Identifier: MIT
 *
 * inline.h - inline salloc and sfree (the paper's Figure 4 is a macro): they change a pointer and a
 * count, if the current buffer can serve them.  <asf/asf.h> includes this file; programs use only
 * <asf/asf.h>'s names.
 *
 * struct asf_view has the members of a stream that these functions use.  Its version is part of the
 * names of the functions called in all other cases (asf_v1_...): a program that was compiled for
 * another version does not link with this library.
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

/* The beginning of a stream.  The windows are those of libc's FILE. */
struct __attribute__((__may_alias__)) asf_view {
    int flags; /* ASF_VIEW_BACKUP: the window has bytes that were pushed back; ASF_VIEW_KEEPS_BYTES: bytes
                * after write_ptr are the program's (a segment, open_memstream), which the functions of
                * <asf/numbers.h> must not touch */
    char *read_ptr, *read_end, *read_base;
    char *write_base, *write_ptr, *write_end;
    char file[0xe0 - 0x38]; /* the rest of FILE */
    unsigned *regions;      /* outstanding regions of the current buffer: its first member */
    char *last, *last_end;  /* the buffer's only region, if it is in no table */
    unsigned gate;          /* not 0: inline salloc must not be used */
    unsigned mapped;        /* the buffer maps a file, which may be truncated */
    char lock[16];          /* libc's part of the lock */
    void *holder;           /* the thread that the lock is biased to; busy and revoke: lib/sys/lock.h */
    unsigned busy, revoke;
};
#define ASF_VIEW_BACKUP      0x100
#define ASF_VIEW_KEEPS_BYTES 0x4000

ASF_EXPORT void *asf_v1_salloc(struct asf_cios *stream, ssize_t *length);
ASF_EXPORT int asf_v1_sfree(struct asf_cios *stream, void *ptr);
ASF_EXPORT void *asf_v1_u_salloc(struct asf_cios *stream, ssize_t *length);
ASF_EXPORT int asf_v1_u_sfree(struct asf_cios *stream, void *ptr);
/* asf_v1_leave: release the lock, for which another thread waits. */
ASF_EXPORT void asf_v1_leave(struct asf_cios *stream);

#define ASF_INLINE extern __inline__ __attribute__((__gnu_inline__, __always_inline__))

/* asf_view_region: allocate the region [p, p + n), if the buffer has no other. */
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

/* asf_view_salloc: allocate n bytes.  returns  NULL: the out-of-line call must do it. */
ASF_INLINE void *asf_view_salloc(struct asf_view *v, ssize_t n) {
    if (__builtin_expect(n > 0, 1)) {
        if (__builtin_expect(n <= v->read_end - v->read_ptr && !(v->flags & ASF_VIEW_BACKUP), 1))
            return asf_view_region(v, &v->read_ptr, n);
        if (n <= v->write_end - v->write_ptr)
            return asf_view_region(v, &v->write_ptr, n);
    }
    return NULL;
}

/* asf_view_sfree: give a region back.  returns  false: the out-of-line call must do it.  The bytes after the
 * end of a mapped file are zero: a region whose last byte is not zero was not truncated, unless the file has
 * grown again since; in that case the window ends before the region does. */
ASF_INLINE int asf_view_sfree(struct asf_view *v, const void *ptr) {
    if (__builtin_expect(!ptr || ptr != v->last || *v->regions != 1, 0) ||
        (v->mapped && (!*(const volatile char *)(v->last_end - 1) || v->read_end < v->last_end)))
        return 0;
    *v->regions = 0;
    return 1;
}

/* asf_view_enter: whether this thread may use the stream.  returns  0: no; 1: yes, there is no other thread;
 * 2: yes, the lock is biased to this thread and now held, and asf_view_leave must follow. */
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
