/* SPDX-License-Identifier: MIT
 *
 * wide_memory.c - open_wmemstream.
 */
#include "interfaces/stdio/stdio_cios.h"

struct wide_memory {
    wchar_t **location;
    size_t *size;
    wchar_t *text;
    size_t at, length, room; /* in characters, of which the last is a null */
    mbstate_t state;
};

static bool grow(struct wide_memory *m, size_t room) {
    if (room <= m->room)
        return true;
    size_t more = 2 * m->room > room ? 2 * m->room : room;
    wchar_t *text = realloc(m->text, more * sizeof *text);
    if (!text)
        return false;
    wmemset(text + m->room, L'\0', more - m->room);
    m->text = *m->location = text;
    m->room = more;
    return true;
}

static ssize_t put(void *cookie, const char *bytes, size_t n) {
    struct wide_memory *m = cookie;
    const char *from = bytes;
    if (!grow(m, m->at + n + 1))
        return -1;
    size_t made = mbsnrtowcs(m->text + m->at, &from, n, m->room - m->at - 1, &m->state);
    if (made == (size_t)-1)
        return -1;
    m->at += made;
    if (m->at > m->length)
        m->length = m->at;
    *m->size = m->at;
    return (ssize_t)n;
}

static int seek(void *cookie, off_t *offset, int whence) {
    struct wide_memory *m = cookie;
    size_t from = whence == SEEK_CUR ? m->at : whence == SEEK_END ? m->length : 0;
    off_t to;
    if (__builtin_add_overflow(*offset, from, &to) || to < 0 || to > (off_t)(SSIZE_MAX / sizeof(wchar_t))) {
        errno = EINVAL;
        return -1;
    }
    m->state = (mbstate_t){0};
    m->at = (size_t)to;
    *offset = to;
    return 0;
}

static int end(void *cookie) {
    free(cookie);
    return 0;
}

EXPORT FILE *open_wmemstream(wchar_t **location, size_t *size) {
    struct wide_memory *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    *m = (struct wide_memory){.location = location, .size = size};
    FILE *f = grow(m, 1) ? fopencookie(m, "w", (cookie_io_functions_t){NULL, put, seek, end}) : NULL;
    if (!f) {
        free(m->text);
        free(m);
        return NULL;
    }
    *location = m->text;
    *size = 0;
    setvbuf(f, NULL, _IONBF, 0);
    fwide(f, 1);
    return f;
}
