/* SPDX-License-Identifier: MIT
 *
 * glibc_memory.c - open_memstream and fmemopen, with glibc's rules.
 */
#include "interfaces/stdio/stdio_cios.h"

#include <fcntl.h>
#include <stdlib.h>

#include "streams/streams.h"

EXPORT FILE *open_memstream(char **location, size_t *size) {
    asf__stdio_start();
    struct asf_cios *c = asf__open_memory(location, size);
    if (!c) {
        errno = ENOMEM;
        return NULL;
    }
    c->orientation = -1; /* as glibc: never a wide stream; nor are the other streams of this file */
    asf__cios_link(c);
    return asf__file(c);
}

/* --- fmemopen: over callbacks of our own, with glibc's rules ----------------------- */

struct area {
    char *base;
    size_t size, at, end; /* bytes before `end` have been written, or were there */
    bool append, allocated;
};

static ssize_t area_read(void *cookie, char *buf, size_t n) {
    struct area *a = cookie;
    size_t left = a->at < a->end ? a->end - a->at : 0;
    if (n > left)
        n = left;
    memcpy(buf, a->base + a->at, n);
    a->at += n;
    return (ssize_t)n;
}

/* POSIX: a null byte follows the written bytes if there is room for it. */
static ssize_t area_write(void *cookie, const char *buf, size_t n) {
    struct area *a = cookie;
    size_t at = a->append ? a->end : a->at;
    size_t null = n == 0 || buf[n - 1] != '\0';
    if (at + n > a->size) {
        if (a->at + null >= a->size) {
            errno = ENOSPC;
            return 0;
        }
        n = a->size - at;
    }
    memcpy(a->base + at, buf, n);
    a->at = at + n;
    if (a->at > a->end) {
        a->end = a->at;
        if (a->end < a->size && null)
            a->base[a->end] = '\0';
        else if (!a->append && null)
            a->base[a->size - 1] = '\0';
    }
    return (ssize_t)n;
}

static int area_seek(void *cookie, off64_t *offset, int whence) {
    struct area *a = cookie;
    size_t from = whence == SEEK_CUR ? a->at : whence == SEEK_END ? a->end : 0;
    off64_t to;
    if (__builtin_add_overflow(*offset, from, &to) || to < 0 || (size_t)to > a->size) {
        errno = EINVAL;
        return -1;
    }
    a->at = (size_t)to;
    *offset = to;
    return 0;
}

int asf__area_close(void *cookie) {
    struct area *a = cookie;
    if (a->allocated)
        free(a->base);
    free(a);
    return 0;
}

static struct area *area_new(void *buf, size_t size, const char *mode) {
    struct area *a = malloc(sizeof *a);
    if (!a)
        return NULL;
    *a = (struct area){.base = buf ? buf : malloc(size), .size = size, .allocated = !buf};
    if (!a->base) {
        free(a);
        return NULL;
    }
    if (!buf && size > 0)
        a->base[0] = '\0';
    if (buf && mode[0] == 'w' && mode[1] == '+')
        a->base[0] = '\0';
    if (mode[0] == 'a')
        a->end = buf ? strnlen(buf, size) : 0;
    if (mode[0] == 'r')
        a->end = size;
    a->append = mode[0] == 'a';
    a->at = a->append ? a->end : 0;
    return a;
}

EXPORT FILE *fmemopen(void *buf, size_t size, const char *mode) {
    cookie_io_functions_t call = {area_read, area_write, area_seek, asf__area_close};
    if (buf && size > -(uintptr_t)buf) {
        errno = EINVAL;
        return NULL;
    }
    struct area *a = area_new(buf, size, mode);
    FILE *f = a ? fopencookie(a, mode, call) : NULL;
    if (!f && a)
        asf__area_close(a);
    return f;
}
