/* SPDX-License-Identifier: MIT
 *
 * changing_files_libc.c - a changing file, read by stdio and Unix I/O: with libc alone, under libasf_stdio
 * and under libasf_unix.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/faults/changing_files.h"

enum { MOST = 300000 };
static char buffer[MOST];

/* --- Unix I/O ----------------------------------------------------------------------------------- */

struct descriptor {
    int fd;
    long at;
    struct opened file;
};

static struct descriptor open_descriptor(const char *path) {
    struct look l;
    look_now(&l);
    struct descriptor d = {.fd = open(path, O_RDONLY)};
    d.file = opened_now(&l);
    if (d.fd < 0)
        fail_at(0, "open: %s", strerror(errno));
    return d;
}

static long small_or_any(void) {
    return any(4) ? 1 + (long)any(64) : (long)any_size(MOST);
}

static void read_in_parts(const struct descriptor *d, long n, bool in_place) {
    struct look l;
    const long first = (long)any((uint64_t)n + 1);
    const struct iovec v[] = {{buffer, (size_t)first}, {buffer + first, (size_t)(n - first)}};
    look_now(&l);
    if (in_place)
        check_read(&d->file, &l, d->at, buffer, preadv(d->fd, v, 2, d->at), n, "preadv");
    else
        check_read(&d->file, &l, d->at, buffer, readv(d->fd, v, 2), n, "readv");
}

static void seek_descriptor(struct descriptor *d, int whence) {
    struct look l;
    const long to = (long)any_size(CHANGING_LARGEST) - 1;
    look_now(&l);
    if (whence == SEEK_SET)
        d->at = lseek(d->fd, to, SEEK_SET);
    else
        d->at = lseek(d->fd, 0, whence);
    if (d->at < 0)
        fail_at(to, "lseek: %s", strerror(errno));
    if (whence == SEEK_END && d->at > 0)
        check_read(&d->file, &l, d->at, buffer, 0, 0, "lseek");
}

static void use_descriptor(struct descriptor *d) {
    struct look l;
    const long n = small_or_any(), at = (long)any_size(CHANGING_LARGEST);
    look_now(&l);
    switch (any(24)) {
    case 0:
        check_read(&d->file, &l, at, buffer, pread(d->fd, buffer, (size_t)n, at), n, "pread");
        break;
    case 1:
        check_read(&d->file, &l, d->at, buffer, pread(d->fd, buffer, (size_t)n, d->at), n, "pread");
        break;
    case 2:
        read_in_parts(d, n, true);
        break;
    case 3:
        read_in_parts(d, n, false);
        d->at = lseek(d->fd, 0, SEEK_CUR);
        break;
    case 4:
        seek_descriptor(d, any(4) ? SEEK_SET : SEEK_END);
        break;
    default: {
        const long r = read(d->fd, buffer, (size_t)n);
        check_read(&d->file, &l, d->at, buffer, r, n, "read");
        d->at += r;
    }
    }
    if (any(8) == 0 && lseek(d->fd, 0, SEEK_CUR) != d->at)
        fail_at(d->at, "the descriptor stands at %ld", (long)lseek(d->fd, 0, SEEK_CUR));
}

static void read_descriptors(const char *path) {
    const uint64_t when = any(600);
    for (uint64_t i = 0; i < 600;) {
        struct descriptor d = open_descriptor(path);
        for (const uint64_t end = i + 1 + any(300); i < end; i++) {
            if (i == when)
                set_signals_now();
            may_change();
            use_descriptor(&d);
        }
        close(d.fd);
    }
}

/* --- stdio ---------------------------------------------------------------------------------------- */

static void check_got(const struct opened *o, long *at, const char *p, long n, const char *call) {
    const struct look never = {-1, -1};
    check_read(o, &never, *at, p, n, n, call);
    *at += n;
}

static void take_line(FILE *f, const struct opened *o, long *at) {
    static char *line;
    static size_t room;
    long n;
    if (any(2) || may_be_zero()) {
        n = getline(&line, &room, f);
        check_got(o, at, line, n < 0 ? 0 : n, "getline");
    } else {
        const int most = 2 + (int)any(100);
        n = fgets(buffer, most, f) ? (long)strlen(buffer) : 0;
        check_got(o, at, buffer, n, "fgets");
    }
}

static void take_bytes(FILE *f, const struct opened *o, long *at) {
    long n = 0;
    for (int c; n < 100 && (c = getc(f)) != EOF; n++)
        buffer[n] = (char)c;
    check_got(o, at, buffer, n, "getc");
    if (n > 0 && ungetc((unsigned char)buffer[n - 1], f) != EOF)
        --*at;
}

static void use_stream(FILE *f, const struct opened *o, long *at) {
    const long n = small_or_any();
    switch (any(8)) {
    case 0:
        if (fseek(f, (long)any_size(CHANGING_LARGEST) - 1, SEEK_SET) != 0)
            fail_at(*at, "fseek: %s", strerror(errno));
        *at = ftell(f);
        break;
    case 1:
        if (fseek(f, any(2) ? 0 : -(*at < n ? *at : n), SEEK_CUR) != 0)
            fail_at(*at, "fseek: %s", strerror(errno));
        *at = ftell(f);
        break;
    case 2:
    case 3:
        take_line(f, o, at);
        break;
    case 4:
    case 5:
        take_bytes(f, o, at);
        break;
    default:
        check_got(o, at, buffer, (long)fread(buffer, 1, (size_t)n, f), "fread");
    }
    if (ferror(f))
        fail_at(*at, "an error: %s", strerror(errno));
    if (feof(f))
        clearerr(f);
    if (ftell(f) != *at)
        fail_at(*at, "ftell: %ld", ftell(f));
}

static FILE *open_stream(const char *path, struct opened *o, long *at) {
    struct look l;
    const long n = small_or_any();
    look_now(&l);
    FILE *f = fopen(path, any(4) ? "r" : "r+");
    *o = opened_now(&l);
    if (!f)
        fail_at(0, "fopen: %s", strerror(errno));
    if (any(3) == 0)
        setvbuf(f, NULL, any(3) ? _IOFBF : _IONBF, any_size(MOST));
    *at = (long)fread(buffer, 1, (size_t)n, f);
    check_read(o, &l, 0, buffer, *at, n, "the first fread");
    return f;
}

static void read_streams(const char *path) {
    const uint64_t when = any(300);
    for (uint64_t i = 0; i < 300;) {
        struct opened o;
        long at;
        FILE *f = open_stream(path, &o, &at);
        for (const uint64_t end = i + 1 + any(100); i < end; i++) {
            if (i == when)
                set_signals_now();
            may_change();
            use_stream(f, &o, &at);
        }
        fclose(f);
    }
}

int main(int argc, char **argv) {
    static const struct changing_reader readers[] = {
        {"unix", read_descriptors},
        {"stdio", read_streams},
    };
    return changing_files(argc, argv, readers, sizeof readers / sizeof *readers);
}
