/* SPDX-License-Identifier: MIT
 *
 * musl_memory.c - open_memstream, open_wmemstream and fmemopen, with musl's rules, over callbacks.
 */
#include "interfaces/stdio/stdio_cios.h"

/* --- memory that grows ------------------------------------------------------------------- */

struct growing {
    void **location;
    size_t *size;
    char *memory;
    size_t at, length, capacity; /* in elements, of which the last is a null */
    size_t element;              /* sizeof(char) or sizeof(wchar_t) */
    mbstate_t state;
};

static bool grow(struct growing *g, size_t room) {
    if (room <= g->capacity)
        return true;
    size_t more = 2 * g->capacity + 1 > room ? 2 * g->capacity + 1 : room;
    char *memory = realloc(g->memory, more * g->element);
    if (!memory)
        return false;
    memset(memory + g->capacity * g->element, 0, (more - g->capacity) * g->element);
    *g->location = g->memory = memory;
    g->capacity = more;
    return true;
}

static ssize_t put_in_growing(void *cookie, const char *bytes, size_t n) {
    struct growing *g = cookie;
    size_t made = n;
    if (!grow(g, g->at + n + 1))
        return -1;
    if (g->element == 1)
        memcpy(g->memory + g->at, bytes, n);
    else
        made =
            mbsnrtowcs((wchar_t *)(void *)g->memory + g->at, &bytes, n, g->capacity - g->at - 1, &g->state);
    if (made == (size_t)-1)
        return -1;
    g->at += made;
    if (g->at > g->length)
        g->length = g->at;
    *g->size = g->at;
    return (ssize_t)n;
}

/* Sets *at to the target of a seek in memory of at most `size` elements. */
static int seek_in_memory(size_t *at, size_t length, size_t size, off_t *offset, int whence) {
    size_t from = whence == SEEK_CUR ? *at : whence == SEEK_END ? length : 0;
    off_t to;
    if (__builtin_add_overflow(*offset, from, &to) || to < 0 || (size_t)to > size) {
        errno = EINVAL;
        return -1;
    }
    *at = (size_t)to;
    *offset = to;
    return 0;
}

static int seek_in_growing(void *cookie, off_t *offset, int whence) {
    struct growing *g = cookie;
    g->state = (mbstate_t){0};
    return seek_in_memory(&g->at, g->length, SSIZE_MAX / g->element, offset, whence);
}

static int end(void *cookie) {
    free(cookie);
    return 0;
}

static FILE *open_growing(void **location, size_t *size, size_t element) {
    struct growing *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    *g = (struct growing){.location = location, .size = size, .element = element};
    cookie_io_functions_t calls = {NULL, put_in_growing, seek_in_growing, end};
    FILE *f = grow(g, 1) ? fopencookie(g, "w", calls) : NULL;
    if (!f) {
        free(g->memory);
        free(g);
        return NULL;
    }
    *size = 0;
    return f;
}

EXPORT FILE *open_memstream(char **location, size_t *size) {
    FILE *f = open_growing((void **)location, size, sizeof(char));
    if (f)
        fwide(f, -1);
    return f;
}

EXPORT FILE *open_wmemstream(wchar_t **location, size_t *size) {
    FILE *f = open_growing((void **)location, size, sizeof(wchar_t));
    if (f) {
        setvbuf(f, NULL, _IONBF, 0);
        fwide(f, 1);
    }
    return f;
}

/* --- memory of one size ------------------------------------------------------------------------- */

struct area {
    char *base;
    size_t at, length, size;
    bool appends, write_only, allocated;
};

static ssize_t get_from_area(void *cookie, char *bytes, size_t n) {
    struct area *a = cookie;
    size_t left = a->at < a->length ? a->length - a->at : 0;
    n = n < left ? n : left;
    memcpy(bytes, a->base + a->at, n);
    a->at += n;
    return (ssize_t)n;
}

/* As in musl, bytes for which there is no room are dropped without an error. */
static ssize_t put_in_area(void *cookie, const char *bytes, size_t n) {
    struct area *a = cookie;
    if (a->appends)
        a->at = a->length;
    size_t room = a->size - a->at, taken = n < room ? n : room;
    memcpy(a->base + a->at, bytes, taken);
    a->at += taken;
    if (a->at > a->length) {
        a->length = a->at;
        if (a->length < a->size)
            a->base[a->length] = '\0';
        else if (a->write_only && a->size > 0)
            a->base[a->size - 1] = '\0';
    }
    return (ssize_t)n;
}

static int seek_in_area(void *cookie, off_t *offset, int whence) {
    struct area *a = cookie;
    return seek_in_memory(&a->at, a->length, a->size, offset, whence);
}

int asf__area_close(void *cookie) {
    struct area *a = cookie;
    if (a->allocated)
        free(a->base);
    free(a);
    return 0;
}

EXPORT FILE *fmemopen(void *restrict memory, size_t size, const char *restrict mode) {
    const bool plus = strchr(mode, '+') != NULL;
    if (*mode != 'r' && *mode != 'w' && *mode != 'a') {
        errno = EINVAL;
        return NULL;
    }
    struct area *a = calloc(1, sizeof *a);
    char *base = memory ? memory : calloc(1, size ? size : 1);
    if (!a || !base) {
        free(a);
        free(memory ? NULL : base);
        errno = ENOMEM;
        return NULL;
    }
    *a = (struct area){.base = base, .size = size, .appends = *mode == 'a', .allocated = !memory};
    a->write_only = *mode != 'r' && !plus;
    if (*mode == 'r')
        a->length = size;
    else if (*mode == 'a')
        a->length = a->at = strnlen(base, size);
    else if (plus && size > 0)
        *base = '\0';
    const char access[] = {*mode, plus ? '+' : '\0', '\0'}; /* fopencookie expects the + second */
    FILE *f = fopencookie(a, access,
                          (cookie_io_functions_t){get_from_area, put_in_area, seek_in_area, asf__area_close});
    if (!f)
        asf__area_close(a);
    return f;
}
