/* SPDX-License-Identifier: MIT
 *
 * shmids.c - the shmids convention: a text file contains an array as numbers, or as the label of a segment
 * with the array.  The file is read and written by stdio's public functions, so that it can be any FILE.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/shm/segment.h"
#include "lib/text/decimal.h"
#include "lib/text/scan_number.h"

/* LINE_WIDTH: longest line of numbers, in characters. */
enum { LINE_WIDTH = 78, INDENT = 6, DOUBLE = sizeof(double) };

static const char keyword[] = "shmids";

/* Returns the address of the FILE's pointer to the next byte to read or write, and sets *end to the buffer's
 * end.  Returns NULL if libc hides the members of FILE. */
#ifdef __GLIBC__
static char **read_window(FILE *f, char **end) {
    *end = f->_IO_read_end;
    return &f->_IO_read_ptr;
}

static char **write_window(FILE *f, char **end) {
    *end = f->_IO_write_end;
    return &f->_IO_write_ptr;
}
#else
static char **read_window(FILE *f, char **end) {
    (void)f, (void)end;
    return NULL;
}

#define write_window read_window
#endif

/* --- words of a text -------------------------------------------------------------------- */

/* A word of the text, in memory that grows. */
struct word {
    char *text;
    size_t length, capacity;
};

static int append_char(struct word *w, int c) {
    if (w->length + 1 >= w->capacity) {
        size_t capacity = w->capacity * 2 + 64;
        char *more = realloc(w->text, capacity);
        if (!more)
            return asf__segment_fail(-ENOMEM, "there is no memory for a word");
        w->text = more;
        w->capacity = capacity;
    }
    w->text[w->length++] = (char)c;
    w->text[w->length] = '\0';
    return 0;
}

static int read_error(FILE *f) {
    return ferror_unlocked(f) ? asf__segment_fail(-(errno > 0 ? errno : EIO), "the stream could not be read")
                              : 0;
}

/* Reads the next word, and leaves the character after it unread.  At the end of the file the word is empty.
 */
static int read_word(FILE *f, struct word *w) {
    int c, rc = 0;
    w->length = 0;
    do
        c = getc_unlocked(f);
    while (c != EOF && asf__is_blank((unsigned char)c));
    for (; rc == 0 && c != EOF && !asf__is_blank((unsigned char)c); c = getc_unlocked(f))
        rc = append_char(w, c);
    if (c == EOF)
        return rc < 0 ? rc : read_error(f);
    ungetc(c, f);
    return rc;
}

/* Unreads a word that follows the array.  musl's ungetc fails near the beginning of its buffer; then fseeko
 * moves back. */
static int unread_word(FILE *f, const struct word *w) {
    size_t i = w->length;
    while (i > 0 && ungetc((unsigned char)w->text[i - 1], f) != EOF)
        i--;
    if (i == 0 || fseeko(f, -(off_t)i, SEEK_CUR) == 0)
        return 0;
    return asf__segment_fail(-ENOBUFS, "the word after the array could not be put back");
}

/* Reads the rest of the line, without blanks at either end. */
static int read_rest_of_line(FILE *f, struct word *w) {
    int c, rc = 0;
    w->length = 0;
    do
        c = getc_unlocked(f);
    while (c == ' ' || c == '\t');
    for (; rc == 0 && c != EOF && c != '\n'; c = getc_unlocked(f))
        rc = append_char(w, c);
    while (w->length > 0 && asf__is_blank((unsigned char)w->text[w->length - 1]))
        w->text[--w->length] = '\0';
    return rc < 0 ? rc : read_error(f);
}

/* --- reading -------------------------------------------------------------------- */

static int fail_too_few(void) {
    return asf__segment_fail(-ENODATA, "the array has fewer numbers than requested");
}

/* Opens the segment whose label is the rest of the line, and sets *array to its data. */
static int read_segment(FILE *f, struct word *w, size_t *count, const double **array) {
    char *shm = NULL;
    int rc = read_rest_of_line(f, w);
    if (rc == 0)
        rc = asf__segment_open(w->length ? w->text : "", false, &shm);
    if (rc < 0)
        return rc;
    size_t bytes = asf__segment_of(shm)->data;
    if (bytes % DOUBLE != 0)
        rc = asf__segment_fail(-EBADMSG, "the segment's size is not a multiple of sizeof(double)");
    else if (*count > bytes / DOUBLE)
        rc = fail_too_few();
    if (rc < 0) {
        asf__segment_close(shm);
        return rc;
    }
    *count = *count ? *count : bytes / DOUBLE;
    *array = (const double *)(const void *)(shm + ASF_SHM_HEAD);
    return 0;
}

struct numbers {
    double *first;
    size_t count, capacity;
};

/* Allocates an array.  An array of 1.5 MB or more gets huge pages of 2 MB: one page fault then replaces the
 * 512 of small pages. */
static double *allocate_array(size_t count) {
    const size_t huge = 2 << 20, bytes = count * DOUBLE, pages = (bytes + huge - 1) & -huge;
    if (bytes < huge / 4 * 3)
        return malloc(bytes);
    double *array = aligned_alloc(huge, pages);
    if (array)
        madvise(array, pages, MADV_HUGEPAGE);
    return array;
}

/* Allocates memory for `wanted` numbers.  If `wanted` is 0 (unknown) or the memory is not available,
 * allocates it for DEFAULT_COUNT. */
static bool allocate_numbers(struct numbers *n, size_t wanted) {
    enum { DEFAULT_COUNT = 64 };
    n->capacity = wanted > 0 && wanted < SIZE_MAX / 2 / DOUBLE ? wanted : DEFAULT_COUNT;
    n->first = allocate_array(n->capacity);
    if (!n->first)
        n->first = allocate_array(n->capacity = DEFAULT_COUNT);
    return n->first;
}

static int fail_no_memory(void) {
    return asf__segment_fail(-ENOMEM, "there is no memory for the array");
}

static int grow_numbers(struct numbers *n) {
    size_t capacity = n->capacity * 2;
    double *more = reallocarray(n->first, capacity, sizeof *more);
    if (!more)
        return fail_no_memory();
    n->first = more;
    n->capacity = capacity;
    return 0;
}

static int append_number(struct numbers *n, double value) {
    int rc = n->count == n->capacity ? grow_numbers(n) : 0;
    if (rc == 0)
        n->first[n->count++] = value;
    return rc;
}

/* Whether a word that is not a number may begin the next field.  Such a word ends an array of unknown length.
 */
static bool may_begin_field(const struct word *w) {
    return w->length == 0 || isalpha((unsigned char)w->text[0]) || w->text[0] == '_' || w->text[0] == '#';
}

static int fail_bad_number(int rc) {
    return asf__segment_fail(rc, rc == -ERANGE ? "a number is too large for a double"
                                               : "a word in the array is not a number");
}

/* Scans numbers directly in the stream's buffer, up to the first that is not wholly in it. */
static int scan_numbers(FILE *f, size_t wanted, struct numbers *n) {
    char *end, **at = read_window(f, &end);
    while (at) {
        size_t room = n->capacity - n->count, most = wanted - n->count < room ? wanted - n->count : room;
        const unsigned char *p = (unsigned char *)*at;
        size_t got = asf__scan_doubles(&p, (unsigned char *)end, n->first + n->count, most);
        *at += p - (unsigned char *)*at;
        n->count += got;
        if (got < most || n->count == wanted)
            return 0;
        int rc = grow_numbers(n);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Reads the numbers of an array in text form; *w is the first word. */
static int read_text(FILE *f, struct word *w, size_t wanted, struct numbers *n) {
    double value;
    for (;;) {
        int rc = w->length ? asf__get_double(w->text, w->length, &value) : -EBADMSG;
        if (rc == -EBADMSG && may_begin_field(w)) {
            rc = unread_word(f, w);
            return rc == 0 && wanted > n->count ? fail_too_few() : rc;
        }
        if (rc < 0)
            return fail_bad_number(rc);
        rc = append_number(n, value);
        if (rc == 0 && n->count != wanted)
            rc = scan_numbers(f, wanted, n);
        if (rc < 0 || n->count == wanted || (rc = read_word(f, w)) < 0)
            return rc;
    }
}

static int read_doubles(FILE *f, struct word *w, size_t *count, const double **array) {
    struct numbers n = {0};
    int rc = read_word(f, w);
    if (rc == 0 && w->length && !strcmp(w->text, keyword))
        return read_segment(f, w, count, array);
    if (rc == 0)
        rc = allocate_numbers(&n, *count) ? read_text(f, w, *count, &n) : fail_no_memory();
    if (rc < 0) {
        free(n.first);
        return rc;
    }
    *count = n.count;
    *array = n.first;
    return 0;
}

const double *asf_shm_read_doubles(FILE *f, size_t *count) {
    struct word w = {0};
    const double *array = NULL;
    flockfile(f);
    int rc = read_doubles(f, &w, count, &array);
    funlockfile(f);
    free(w.text);
    if (rc < 0)
        errno = -rc;
    return array;
}

int asf_shm_free_doubles(const double *array) {
    char *p = (char *)(uintptr_t)array;
    if (p && asf__segment_of(p - ASF_SHM_HEAD))
        return asf__segment_close(p - ASF_SHM_HEAD);
    free(p);
    return 0;
}

/* --- writing ------------------------------------------------------------------------ */

/* Writes a number, preceded by a blank or a line break unless it is the first.  Writes into the stream's
 * buffer if there is room, else calls fwrite. */
static void put_number(FILE *f, double value, size_t *column) {
    static const char line[] = "\n      ";
    enum { MAX_TEXT = ASF_DECIMAL + sizeof line };
    char text[MAX_TEXT], *end, **window = write_window(f, &end);
    bool room = window && end - *window >= MAX_TEXT;
    char *to = room ? *window : text, *at = to;
    if (*column > 0)
        *at++ = ' ';
    size_t n = asf__put_double(at, value);
    if (*column + 1 + n > LINE_WIDTH) {
        memmove(to + INDENT + 1, at, n);
        memcpy(to, line, INDENT + 1);
        at = to + INDENT + 1;
        *column = INDENT - 1;
    }
    at += n;
    *column += 1 + n;
    if (room)
        *window = at;
    else
        fwrite_unlocked(text, 1, (size_t)(at - to), f);
}

static int put_text(FILE *f, const double *array, size_t count) {
    size_t column = 0;
    for (size_t i = 0; i < count; i++)
        put_number(f, array[i], &column);
    putc_unlocked('\n', f);
    return 0;
}

/* Returns the segment whose data is exactly this array, or NULL. */
static const char *find_segment_of(const double *array, size_t count) {
    const char *shm = (const char *)array - ASF_SHM_HEAD;
    const struct asf_segment *s = asf__segment_of(shm);
    return s && s->data == count * DOUBLE ? shm : NULL;
}

static int put_label(FILE *f, const char *shm) {
    fprintf(f, "%s %.*s\n", keyword, (int)strcspn(shm, "\n"), shm);
    return 0;
}

static int put_segment(FILE *f, const double *array, size_t count, const char *name) {
    const char *own = find_segment_of(array, count);
    char *shm = NULL;
    if (own)
        return put_label(f, own);
    if (count > 0 && !array)
        return asf__segment_fail(-EINVAL, "the array is NULL");
    if (count > PTRDIFF_MAX / DOUBLE)
        return asf__segment_fail(-EOVERFLOW, "the array exceeds the address space");
    int rc = asf__segment_create(NULL, name, 0600, count * DOUBLE, &shm);
    if (rc < 0)
        return rc;
    if (count > 0)
        memcpy(shm + ASF_SHM_HEAD, array, count * DOUBLE);
    put_label(f, shm);
    int error = errno;      /* error of the stream */
    if (ferror_unlocked(f)) /* the label did not reach the file: nobody could find the segment */
        asf__segment_remove(shm);
    rc = asf__segment_close(shm);
    errno = error;
    return rc;
}

int asf_shm_write_doubles(FILE *f, const double *array, size_t count, const char *name) {
    flockfile(f);
    int saved = errno;
    errno = 0;
    int rc = name ? put_segment(f, array, count, name) : put_text(f, array, count);
    if (rc == 0 && ferror_unlocked(f))
        rc = asf__segment_fail(-(errno > 0 ? errno : EIO), "the stream could not be written");
    errno = saved;
    funlockfile(f);
    return rc;
}
