/* SPDX-License-Identifier: MIT
 *
 * lines.c - lines and strings: fgets, getdelim, fputs, puts.
 */
#include "interfaces/stdio/stdio_cios.h"

#include <limits.h>
#include <stdlib.h>

/* How many bytes of the window to take: up to and including the delimiter, at most n. */
static inline size_t length_in_window(const struct asf_cios *c, int delimiter, size_t n, bool *found) {
    size_t length = asf__avail(c) < n ? asf__avail(c) : n;
    const char *end = asf__find_byte(c->read_ptr, delimiter, length);
    *found = end != NULL;
    return end ? (size_t)(end - c->read_ptr) + 1 : length;
}

/* How many of the copied bytes are the file's: fewer if the file was truncated during the copy. */
static inline size_t count_valid(struct asf_cios *c, size_t length, bool *found) {
    if (asf__likely(c->read_ptr + length <= __atomic_load_n(&c->read_end, __ATOMIC_RELAXED)))
        return length;
    c->ops->trim(c);
    *found = false;
    return asf__avail(c) < length ? asf__avail(c) : length;
}

/* Makes an unoriented stream a byte stream.  After a seek the window of an unoriented stream may have bytes.
 * At exit libc sets back the offset of oriented streams only. */
static inline void orient(struct asf_cios *c) {
    if (asf__unlikely(c->orientation == 0))
        c->orientation = -1;
}

static size_t get_line(struct asf_cios *c, char *p, size_t n) {
    size_t done = 0;
    bool found = false;
    orient(c);
    while (done < n && !found) {
        if (asf__avail(c) == 0 && asf__underflow(c) == EOF)
            break;
        size_t length = length_in_window(c, '\n', n - done, &found);
        asf__copy(p + done, c->read_ptr, length);
        length = count_valid(c, length, &found);
        c->read_ptr += length;
        done += length;
    }
    return done;
}

/* As in glibc: after an error the line is lost, unless the error is EAGAIN after some bytes; a line that
 * leaves no room for the null byte is an overflow. */
static char *read_whole_line(struct asf_cios *c, char *p, size_t limit, size_t room) {
    int old = asf__forget_error(c);
    asf__count(c);
    size_t done = get_line(c, p, limit);
    bool lost = asf__has_failed(c, old) && (errno != EAGAIN || !ASF_LIBC(keeps_piece));
    if (done == 0 || lost)
        return NULL;
    if (done >= room)
        __chk_fail();
    p[done] = '\0';
    return p;
}

static char *get_string(struct asf_cios *c, char *p, int n) {
    if (n > 1)
        return read_whole_line(c, p, (size_t)n - 1, (size_t)n);
    *p = '\0';
    return p;
}

/* The fast path: returns NULL unless the window has the whole line. */
static inline char *get_string_fast(struct asf_cios *c, char *p, int n) {
    bool found;
    size_t length = length_in_window(c, '\n', (size_t)n - 1, &found);
    orient(c);
    if (!found)
        return NULL;
    asf__copy(p, c->read_ptr, length);
    if (asf__unlikely(count_valid(c, length, &found) != length || !found))
        return NULL;
    p[length] = '\0';
    c->read_ptr += length;
    return p;
}

EXPORT char *fgets(char *p, int n, FILE *f) {
    struct asf_cios *c = asf__cios(f);
    if (n <= 0)
        return NULL;
    if (asf__alone() && asf__avail(c) > 0 && n > 1) {
        char *line = get_string_fast(c, p, n);
        if (asf__likely(line != NULL))
            return line;
    }
    asf__enter(c);
    char *r = get_string(c, p, n);
    asf__leave(c);
    return r;
}

EXPORT char *fgets_unlocked(char *p, int n, FILE *f) {
    struct asf_cios *c = asf__cios(f);
    return n <= 0 ? NULL : ASF_UNLOCKED(c, get_string(c, p, n));
}

/* The limit n may be larger than the room: only a line that fills the room ends the program. */
EXPORT char *__fgets_unlocked_chk(char *p, size_t room, int n, FILE *f) {
    struct asf_cios *c = asf__cios(f);
    if (n > 0 && (size_t)n - 1 >= room)
        return ASF_UNLOCKED(c, read_whole_line(c, p, room, room));
    return n == 1 ? NULL : fgets_unlocked(p, n, f); /* glibc's checked form reads nothing then */
}

EXPORT char *__fgets_chk(char *p, size_t room, int n, FILE *f) {
    struct asf_cios *c = asf__cios(f);
    if (n <= 0 || (size_t)n - 1 < room)
        return n == 1 ? NULL : fgets(p, n, f);
    asf__enter(c);
    char *r = read_whole_line(c, p, room, room);
    asf__leave(c);
    return r;
}

/* As in glibc: after any error, even EAGAIN, the line is lost. */
static char *get_unbounded(char *p, size_t room) {
    struct asf_cios *c = asf__cios(stdin);
    size_t done = 0;
    int ch = 0;
    asf__enter(c);
    int old = asf__forget_error(c);
    while (done < room && (ch = asf__uflow(c)) != EOF && ch != '\n')
        p[done++] = (char)ch;
    bool lost = asf__has_failed(c, old);
    asf__leave(c);
    if (done == room)
        __chk_fail();
    if (lost || (done == 0 && ch == EOF))
        return NULL;
    p[done] = '\0';
    return p;
}

EXPORT char *gets(char *p) {
    return get_unbounded(p, SIZE_MAX);
}

EXPORT char *__gets_chk(char *p, size_t room) {
    return get_unbounded(p, room);
}

/* --- getdelim --------------------------------------------------------------- */

/* Makes room for `needed` bytes, of which the last is the null; `found`: the line is complete. */
static bool grow_line(char **line, size_t *size, size_t needed, bool found) {
    if (needed <= *size)
        return true;
    size_t wanted = 2 * *size > needed ? 2 * *size : needed;
    if (!ASF_LIBC(getdelim_doubles))
        wanted = found ? needed + 1 : needed + 1 + (needed + 1) / 2;
    char *longer = realloc(*line, wanted);
    if (!longer)
        return false;
    *line = longer;
    *size = wanted;
    return true;
}

/* getdelim failed for its arguments or for want of memory: since glibc 2.41 it sets the error flag. */
static ssize_t fail_getdelim(struct asf_cios *c) {
    if (ASF_LIBC(getdelim_error))
        c->flags |= ASF_ERR;
    return -1;
}

static ssize_t get_delimited(struct asf_cios *c, char **line, size_t *size, int delimiter) {
    size_t done = 0;
    bool found = false;
    if (!ASF_LIBC(getdelim_after_error) && c->flags & ASF_ERR && ((line && size) || ASF_LIBC(getdelim_error)))
        return -1; /* as glibc: nothing is read while the error flag is set */
    if (!line || !size) {
        errno = EINVAL;
        return fail_getdelim(c);
    }
    if (!*line && !ASF_LIBC(getdelim_doubles))
        *size = 0;
    if (ASF_LIBC(getdelim_doubles) &&
        (!*line || *size == 0)) { /* with size 0 the pointer is ignored, as in glibc */
        char *first = malloc(120);
        if (!first)
            return fail_getdelim(c);
        if (ASF_LIBC(getdelim_terminates))
            *first = '\0';
        *line = first;
        *size = 120;
    }
    while (!found) {
        if (asf__avail(c) == 0 && asf__underflow(c) == EOF) {
            if (!ASF_LIBC(getdelim_keeps_piece) && !(c->flags & ASF_EOF))
                return -1;
            break;
        }
        size_t length = length_in_window(c, delimiter, SIZE_MAX, &found);
        if (length >= SSIZE_MAX - done) {
            errno = EOVERFLOW;
            return fail_getdelim(c);
        }
        if (!grow_line(line, size, done + length + 1, found))
            return fail_getdelim(c);
        asf__copy(*line + done, c->read_ptr, length);
        length = count_valid(c, length, &found);
        c->read_ptr += length;
        done += length;
    }
    if (done == 0)
        return -1;
    (*line)[done] = '\0';
    return (ssize_t)done;
}

EXPORT ssize_t getdelim(char **line, size_t *size, int delimiter, FILE *f) {
    struct asf_cios *c = asf__cios(f);
    bool found;
    if (asf__alone() && asf__avail(c) > 0 && line && size && *line && !(c->flags & ASF_ERR)) {
        size_t length = length_in_window(c, delimiter, *size, &found);
        if (asf__likely(found && length < *size)) {
            asf__copy(*line, c->read_ptr, length);
        }
        if (asf__likely(found && length < *size && count_valid(c, length, &found) == length && found)) {
            (*line)[length] = '\0';
            c->read_ptr += length;
            return (ssize_t)length;
        }
    }
    asf__enter(c);
    asf__count(c);
    ssize_t r = get_delimited(c, line, size, delimiter);
    asf__leave(c);
    return r;
}

ssize_t __getdelim(char **, size_t *, int, FILE *) ALIAS(getdelim);

EXPORT ssize_t getline(char **line, size_t *size, FILE *f) {
    return getdelim(line, size, '\n', f);
}

/* --- strings out ------------------------------------------------------------ */

static inline bool put_text_fast(struct asf_cios *c, const char *text, size_t length) {
    if (length - 1 >= asf__room(c)) /* also an empty string, which must orient the stream */
        return length == 0 && c->orientation < 0;
    asf__copy(c->write_ptr, text, length);
    c->write_ptr += length;
    return true;
}

/* The result of an fputs that succeeds. */
enum { PUT = ASF_LIBC(counts_text) ? 1 : 0 };

static int put_text_slow(struct asf_cios *c, const char *text, size_t length) {
    return asf__orient_to_bytes(c) && asf__put_bytes(c, text, length) == length ? PUT : EOF;
}

EXPORT int fputs_unlocked(const char *text, FILE *f) {
    struct asf_cios *c = asf__cios(f);
    size_t length = strlen(text);
    asf__count(c);
    if (asf__ours(c) && put_text_fast(c, text, length))
        return PUT;
    return ASF_UNLOCKED(c, put_text_slow(c, text, length));
}

EXPORT int fputs(const char *text, FILE *f) {
    struct asf_cios *c = asf__cios(f);
    size_t length = strlen(text);
    if (asf__alone() && asf__ours(c) && put_text_fast(c, text, length))
        return PUT;
    asf__enter(c);
    asf__count(c);
    int r = asf__ours(c) && put_text_fast(c, text, length) ? PUT : put_text_slow(c, text, length);
    asf__leave(c);
    return r;
}

/* The result of a puts that succeeds. */
static inline int count_line(size_t length) {
    return !ASF_LIBC(counts_text) ? 0 : length < INT_MAX ? (int)length + 1 : INT_MAX;
}

static int put_line(struct asf_cios *c, const char *text, size_t length) {
    if (!put_text_fast(c, text, length) &&
        (!asf__orient_to_bytes(c) || asf__put_bytes(c, text, length) != length))
        return EOF;
    if (c->write_ptr < c->write_end)
        *c->write_ptr++ = '\n';
    else if (asf__put_char(c, '\n') == EOF)
        return EOF;
    return count_line(length);
}

EXPORT int puts(const char *text) {
    struct asf_cios *c = asf__cios(stdout);
    size_t length = strlen(text);
    if (asf__alone() && length < asf__room(c)) {
        asf__copy(c->write_ptr, text, length);
        c->write_ptr[length] = '\n';
        c->write_ptr += length + 1;
        return count_line(length);
    }
    asf__enter(c);
    asf__count(c);
    int r = put_line(c, text, length);
    asf__leave(c);
    return r;
}
