/* SPDX-License-Identifier: MIT
 *
 * command_parallel_input.c - cuts standard input into chunks at lines or records.
 *
 * splice passes the bytes of a file to the runs without a copy.  Other input is read by the threads of the
 * jobs, one block at a time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "interfaces/command/command.h"
#include "interfaces/command/command_parallel.h"

static void fail_to_read(int error) {
    if (error == EIO)
        asf__fail(
            "parallel: standard input: the file was truncated, or its disk fails; run the command again");
    asf__fail("parallel: standard input: read: %s", strerror(error));
}

static void *allocate(void *old, size_t size) {
    void *p = realloc(old, size);
    if (!p)
        asf__fail("parallel: malloc: %s; give asf more memory, or use a smaller --block", strerror(ENOMEM));
    return p;
}

/* Read `size` bytes, or fewer at the end of the input. */
static size_t read_full(char *to, size_t size) {
    size_t n = 0;
    while (n < size) {
        ssize_t r = read(STDIN_FILENO, to + n, size - n);
        if (r == 0)
            break;
        if (r > 0)
            n += (size_t)r;
        else if (errno != EINTR)
            fail_to_read(errno);
    }
    return n;
}

/* --- the header ----------------------------------------------------------------------------- */

/* returns  the size of the first `lines` lines; 0 if the text has fewer */
static size_t size_of_lines(const char *text, size_t size, int64_t lines) {
    const char *at = text, *end = text + size;
    for (; lines > 0; lines--) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (!newline)
            return 0;
        at = newline + 1;
    }
    return (size_t)(at - text);
}

/* Keep the bytes after the header: if the input is not a file, they begin the first chunk. */
static void read_header(struct input *in, int64_t lines) {
    in->header = allocate(NULL, MB);
    size_t n = read_full(in->header, MB);
    in->header_bytes = size_of_lines(in->header, n, lines);
    if (in->header_bytes == 0 && n == MB)
        asf__fail("parallel: --header: the header is longer than 1 MB; give fewer lines");
    if (in->header_bytes == 0)
        in->header_bytes = n;
    in->remainder_bytes = n - in->header_bytes;
    in->remainder = allocate(NULL, MB);
    memcpy(in->remainder, in->header + in->header_bytes, in->remainder_bytes);
    in->next_offset += (int64_t)in->header_bytes;
}

void asf__input_begin(struct input *in, int64_t header) {
    struct stat st;
    if (fstat(STDIN_FILENO, &st) < 0)
        asf__fail("parallel: standard input: fstat: %s; redirect it with <FILE", strerror(errno));
    in->next_offset = in->begin = S_ISREG(st.st_mode) ? lseek(STDIN_FILENO, 0, SEEK_CUR) : 0;
    in->is_file = S_ISREG(st.st_mode) && in->next_offset < st.st_size;
    in->size = st.st_size;
    pthread_mutex_init(&in->lock, NULL);
    if (header > 0)
        read_header(in, header);
}

/* --- chunks ------------------------------------------------------------------------------------ */

static int64_t chunk_size(const struct input *in) {
    int64_t record = in->cut.record;
    return record == 0 ? in->cut.size : in->cut.size < record ? record : in->cut.size - in->cut.size % record;
}

/* Returns the first offset, from `from` on, at which a line begins or the file ends. */
static int64_t find_line_end(const struct input *in, int64_t from) {
    char block[4 * KB];
    for (int64_t at = from - 1; at < in->size;) {
        ssize_t n = pread(STDIN_FILENO, block, sizeof block, at);
        if (n == 0 || (n < 0 && errno != EINTR))
            fail_to_read(n == 0 ? EIO : errno);
        const char *end = n > 0 ? memchr(block, in->cut.delimiter, (size_t)n) : NULL;
        if (end)
            return at + (end - block) + 1 < in->size ? at + (end - block) + 1 : in->size;
        at += n > 0 ? n : 0;
    }
    return in->size;
}

static bool cut_file(struct input *in, struct chunk *p) {
    if (in->next_offset == in->size && in->count > 0)
        return false;
    p->begin = in->next_offset;
    p->end = in->size;
    if (chunk_size(in) < in->size - in->next_offset)
        p->end = in->cut.record ? in->next_offset + chunk_size(in)
                                : find_line_end(in, in->next_offset + chunk_size(in));
    in->next_offset = p->end;
    return true;
}

/* The size of the whole lines or records at the beginning of a block. */
static size_t size_of_units(const struct input *in, const char *bytes, size_t n) {
    if (in->cut.record)
        return n - n % (size_t)in->cut.record;
    const char *last = memrchr(bytes, in->cut.delimiter, n);
    return last ? (size_t)(last - bytes) + 1 : 0;
}

static void grow_buffer(struct buffer *b, size_t size) {
    if (b->size < size) {
        b->bytes = allocate(b->bytes, size);
        b->size = size;
    }
}

/* Save the bytes after the chunk: the next chunk begins with them. */
static void save_remainder(struct input *in, const char *from, size_t n) {
    in->remainder = n > 0 ? allocate(in->remainder, n) : in->remainder;
    memcpy(in->remainder, from, n);
    in->remainder_bytes = n;
}

/* Reads a block, which grows until it holds a whole line or record. */
static bool read_block(struct input *in, struct chunk *p, struct buffer *b) {
    size_t size = (size_t)chunk_size(in), n = in->remainder_bytes, end = 0;
    grow_buffer(b, size > n ? size : n);
    memcpy(b->bytes, in->remainder, n);
    while (!in->ended && end == 0) {
        grow_buffer(b, n < size ? size : 2 * n);
        size_t got = read_full(b->bytes + n, b->size - n);
        in->ended = got < b->size - n;
        n += got;
        end = size_of_units(in, b->bytes, n);
    }
    if (in->ended)
        end = n;
    save_remainder(in, b->bytes + end, n - end);
    p->bytes = b->bytes;
    p->end = (int64_t)end;
    return end > 0 || in->count == 0;
}

bool asf__input_next(struct input *in, struct chunk *p, struct buffer *buffer) {
    bool found = in->is_file ? cut_file(in, p) : read_block(in, p, buffer);
    p->index = in->count;
    in->count += found;
    return found;
}

/* --- pipes to and from a run --------------------------------------------------------------------- */

int asf__bytes_in_pipe(int fd) {
    int n;
    return fcntl(fd, F_GETPIPE_SZ) == PIPE_SIZE && ioctl(fd, FIONREAD, &n) == 0 ? n : PIPE_SIZE / 2;
}

void asf__sleep_millisecond(void) {
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* --- feeding ------------------------------------------------------------------------------------ */

/* returns  false: the pipe has no reader */
static bool write_to_command(int to, const char *bytes, size_t n) {
    while (n > 0) {
        ssize_t written = write(to, bytes, n);
        if (written < 0 && errno == EPIPE)
            return false;
        if (written < 0 && errno != EINTR)
            asf__fail("parallel: pipe: write: %s", strerror(errno));
        if (written > 0)
            bytes += written, n -= (size_t)written;
    }
    return true;
}

/* For file systems without splice.  Returns what splice returns. */
static ssize_t copy_from_file(int64_t *at, int to, size_t most) {
    char block[64 * KB];
    ssize_t n = pread(STDIN_FILENO, block, most < sizeof block ? most : sizeof block, *at);
    if (n <= 0)
        return n;
    *at += n;
    if (write_to_command(to, block, (size_t)n))
        return n;
    errno = EPIPE;
    return -1;
}

static void feed_from_file(struct input *in, const struct chunk *p, int to) {
    bool splices = true;
    for (int64_t at = p->begin; at < p->end;) {
        size_t left = (size_t)(p->end - at);
        if (asf__bytes_in_pipe(to) > PIPE_SIZE * 3 / 4)
            asf__sleep_millisecond();
        ssize_t n = splices ? splice(STDIN_FILENO, &at, to, NULL, left, 0) : copy_from_file(&at, to, left);
        if (n < 0 && errno == EINVAL && splices)
            splices = false;
        else if (n < 0 && errno == EPIPE)
            return;
        else if (n < 0 && errno != EINTR)
            fail_to_read(errno);
        else if (n == 0)
            fail_to_read(EIO);
        else if (n > 0)
            __atomic_fetch_add(&in->bytes_fed, n, __ATOMIC_RELAXED);
    }
}

void asf__input_feed(struct input *in, const struct chunk *p, int to) {
    if (!write_to_command(to, in->header, in->header_bytes))
        return;
    if (in->is_file) {
        feed_from_file(in, p, to);
    } else if (write_to_command(to, p->bytes, (size_t)p->end)) {
        __atomic_fetch_add(&in->bytes_fed, p->end, __ATOMIC_RELAXED);
    }
}
