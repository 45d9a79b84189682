/* SPDX-License-Identifier: MIT
 *
 * formats.c - recognize compressed input by its first bytes, and load the library that decodes it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include "lib/sys/archive.h"
#include "lib/sys/options.h"
#include "lib/sys/package.h"
#include "lib/sys/syscalls.h"
#include "lib/text/format.h"
#include "streams/decode.h"

/* Declared to detect sanitizers, which end a process that uses RTLD_DEEPBIND.  A program may export names
 * that zlib also has (cksum exports crc32): with RTLD_DEEPBIND the loaded library finds its own names
 * first. */
extern void __sanitizer_print_stack_trace(void) __attribute__((weak, visibility("default")));
#ifndef RTLD_DEEPBIND
#define RTLD_DEEPBIND 0
#endif
static int binding(void) {
    return __sanitizer_print_stack_trace ? RTLD_NOW : RTLD_NOW | RTLD_DEEPBIND;
}

/* A static program, which has no interpreter, cannot load libraries, and may lack dlsym and dladdr.  dlopen
 * is found by dlsym: in a static program the linker would warn of a reference to dlopen. */
#pragma weak dlsym
#pragma weak dladdr
static bool can_load(void) {
    return dlsym && dladdr && (!asf__in_archive || getauxval(AT_BASE) != 0);
}
static void *open_library(const char *path) {
    void *(*function)(const char *, int);
    *(void **)&function = dlsym(RTLD_DEFAULT, "dlopen");
    return function ? function(path, binding()) : NULL;
}

enum format { FORMAT_NONE, FORMAT_OPEN, FORMAT_ZSTD, FORMAT_GZIP, FORMAT_LZ4, FORMAT_XZ };
enum { MAGIC_BYTES = 6 }; /* the length of the longest magic number */

static const char names[][8] = {
    [FORMAT_ZSTD] = "zstd", [FORMAT_GZIP] = "gzip", [FORMAT_LZ4] = "lz4", [FORMAT_XZ] = "xz"};

/* Skippable frames (first byte 0x50 to 0x5f) count as zstd's, although lz4 has such frames, too. */
static const struct {
    enum format format;
    unsigned char length, mask, magic[MAGIC_BYTES];
} magics[] = {
    {FORMAT_ZSTD, 4, 0xff, {0x28, 0xb5, 0x2f, 0xfd}},    {FORMAT_ZSTD, 4, 0xf0, {0x50, 0x2a, 0x4d, 0x18}},
    {FORMAT_GZIP, 3, 0xff, {0x1f, 0x8b, 0x08}},          {FORMAT_LZ4, 4, 0xff, {0x04, 0x22, 0x4d, 0x18}},
    {FORMAT_LZ4, 4, 0xff, {0x02, 0x21, 0x4c, 0x18}}, /* as "lz4 -l" writes it */
    {FORMAT_XZ, 6, 0xff, {0xfd, '7', 'z', 'X', 'Z', 0}},
};

/* Returns the format of a stream that begins with these n bytes; FORMAT_OPEN: more bytes are needed. */
static enum format format_of(const char *p, size_t n) {
    for (size_t i = 0; i < sizeof magics / sizeof *magics && n > 0; i++) {
        size_t length = magics[i].length, seen = n < length ? n : length;
        if ((p[0] & magics[i].mask) == magics[i].magic[0] &&
            memcmp(p + 1, magics[i].magic + 1, seen - 1) == 0)
            return n < length ? FORMAT_OPEN : magics[i].format;
    }
    return n > 0 ? FORMAT_NONE : FORMAT_OPEN;
}

bool asf__is_decoder(const struct asf_decoder *d) {
    enum { FIRST_SIZE = offsetof(struct asf_decoder, frame) };
    return d && (d->size == sizeof *d || d->size == FIRST_SIZE) && d->version == ASF_DECODER_VERSION &&
           d->name && d->begin && d->decode && d->end;
}

/* Returns the format in words. */
static const char *why_format(enum format f) {
    return f == FORMAT_ZSTD   ? "compressed by zstd"
           : f == FORMAT_GZIP ? "compressed by gzip"
           : f == FORMAT_LZ4  ? "compressed by lz4"
                              : "compressed by xz";
}

/* Loads a library from this library's directory, so that a tree which is not installed, or was moved,
 * uses its own; else from the directories that ld.so searches. */
static void *load_library(const char *soname) {
    char path[PATH_MAX];
    Dl_info here;
    const char *slash = dladdr(names, &here) ? strrchr(here.dli_fname, '/') : NULL;
    void *library = NULL;
    if (slash && asf__format_text(path, sizeof path, "%.*s/%s", (int)(slash - here.dli_fname), here.dli_fname,
                                  soname) < (int)sizeof path)
        library = open_library(path);
    return library ? library : open_library(soname);
}

static const struct asf_decoder *find_decoder(enum format f) {
    char name[64];
    asf__format_text(name, sizeof name, "libasf_%s.so.%d", names[f], atoi(ASF_VERSION));
    void *library = load_library(name);
    asf__format_text(name, sizeof name, "asf_decoder_%s", names[f]);
    const struct asf_decoder *(*decoder)(void) = NULL;
    if (library)
        *(void **)&decoder = dlsym(library, name);
    return decoder ? decoder() : NULL;
}

/* Returns the format's decoder, whose library the first call loads; NULL if it is not installed. */
static const struct asf_decoder *load_decoder(enum format f) {
    static const struct asf_decoder *loaded[FORMAT_XZ + 1];
    const struct asf_decoder *d = __atomic_load_n(&loaded[f], __ATOMIC_ACQUIRE);
    if (d)
        return d;
    int saved = errno;
    d = can_load() ? find_decoder(f) : NULL;
    errno = saved;
    if (!asf__is_decoder(d))
        return NULL;
    __atomic_store_n(&loaded[f], d, __ATOMIC_RELEASE);
    return d;
}

/* Reads the magic number byte by byte, so that the call waits for no more bytes than it needs. */
int asf__find_decoder(struct asf_cios *c, const struct asf_decoder **decoder) {
    enum format f = FORMAT_OPEN;
    for (size_t want = 1; f == FORMAT_OPEN && want <= MAGIC_BYTES; want++) {
        ssize_t n = asf__fill(c, want, NULL);
        if (n > 0 && (size_t)n < want) /* at the end, or at an error, which is returned here */
            n = c->stopped < 0 ? asf__take_stop(c) : 0;
        if (n <= 0)
            return (int)n;
        f = format_of(c->read_ptr, (size_t)n);
    }
    if (f > FORMAT_OPEN)
        *decoder = load_decoder(f);
    return f > FORMAT_OPEN && !*decoder ? -ENOTSUP : 0;
}

int asf__decoder_of_file(int fd, const struct asf_decoder **decoder) {
    char magic[MAGIC_BYTES];
    ssize_t n;
    do
        n = asf__sys.pread(fd, magic, sizeof magic, 0);
    while (n == -EINTR);
    const enum format f = n > 0 ? format_of(magic, (size_t)n) : FORMAT_NONE;
    *decoder = f > FORMAT_OPEN ? load_decoder(f) : NULL;
    return n < 0 ? (int)n : f > FORMAT_OPEN && !*decoder ? -ENOTSUP : 0;
}

/* --- the option "decompress" ---------------------------------------------------------- */

static ssize_t get_nothing(struct asf_cios *c, void *buf, size_t n) {
    (void)buf;
    (void)n;
    return c->data ? -ENOMEM : -ENOTSUP;
}

/* The module of compressed input that cannot be decoded.  Its reads fail: a program would otherwise take
 * the compressed bytes for text. */
static const struct asf_module not_decoded = {.name = "none", .get = get_nothing, .close = asf__fd_close};

static void report_missing(const struct asf_cios *c, enum format f) {
    char line[PATH_MAX + 128];
    int n = asf__format_text(
        line, sizeof line, "asf: descriptor %d is %s: dlopen: libasf_%s.so.%d is not there; install %s\n",
        c->fd, why_format(f), names[f], atoi(ASF_VERSION), asf__package("libasf-decoders0", "it"));
    asf__sys.write(2, line, (size_t)n);
}

/* Makes c a stream that decodes the format f.  `first`: n bytes that were already read from a pipe. */
static void decode_as(struct asf_cios *c, enum format f, const char *first, size_t n) {
    enum { BUFFER = 64 << 10 };
    const struct asf_decoder *d = load_decoder(f);
    struct asf_cios *below = d ? asf__cios_new(&asf__for_asi, c->fd, O_RDONLY) : NULL;
    struct asf_buffer *b = below && n ? asf__buffer_new(n > BUFFER ? n : BUFFER) : NULL;
    if (b) {
        memcpy(b->base, first, n);
        asf__use_buffer(below, b);
        asf__set_read(below, b->base, b->base, b->base + n);
    }
    c->why = why_format(f);
    if (below && (b || !n) && asf__stack_decoder(c, d, below) == 0)
        return;
    if (below)
        asf__cios_free(below);
    if (!d)
        report_missing(c, f);
    c->ops = &not_decoded;
    c->data = d ? c : NULL;
}

/* --- pipes ---------------------------------------------------------------------------- */

/* Bytes read from a pipe that are not yet given to the program.  They are too few to show the format: the
 * program wanted fewer bytes than a magic number has, or the next read failed. */
struct first {
    char bytes[MAGIC_BYTES];
    size_t n;
    bool plain;
};

static ssize_t give_plain(struct asf_cios *c, char *p, size_t have, char *buf, size_t n) {
    struct first *f = c->data;
    size_t given = have < n ? have : n;
    memmove(buf, p, given);
    f->plain = have > 0;
    f->n = have - given;
    memcpy(f->bytes, p + given, f->n);
    if (f->plain && f->n == 0) {
        free(f);
        c->data = NULL;
        c->ops = &asf__pipe;
    }
    return (ssize_t)given;
}

/* Reads into the program's buffer if a magic number fits there, so that it reads no more than the program
 * asked for.  Waits for more bytes while the first ones may begin a magic number. */
static ssize_t first_get(struct asf_cios *c, void *buf, size_t n) {
    struct first *f = c->data = c->data ? c->data : calloc(1, sizeof *f);
    if (!f)
        return -ENOMEM;
    char few[MAGIC_BYTES], *p = n < sizeof few ? few : buf;
    size_t have = f->n;
    memcpy(p, f->bytes, have);
    enum format format;
    while ((format = f->plain ? FORMAT_NONE : format_of(p, have)) == FORMAT_OPEN) {
        memcpy(f->bytes, p, f->n = have);
        ssize_t more = asf__fd_get(c, p + have, n > have ? n - have : 1);
        if (more < 0)
            return more;
        if (more == 0)
            break;
        have += (size_t)more;
    }
    if (format <= FORMAT_OPEN)
        return give_plain(c, p, have, buf, n);
    free(f);
    decode_as(c, format, p, have);
    return c->ops->get(c, buf, n);
}

static int first_close(struct asf_cios *c) {
    free(c->data);
    return asf__fd_close(c);
}

static const struct asf_module first_bytes = {
    .name = "pipe", .get = first_get, .seek = asf__fd_seek, .length = asf__fd_length, .close = first_close};

/* Makes c an unbuffered stream that begins with the n bytes `first`, which are too few to show the
 * format. */
static void see_more(struct asf_cios *c, const char *first, size_t n) {
    struct first *f = c->data = calloc(1, sizeof *f);
    c->kind = ASF_PIPE;
    c->why = "pipe";
    c->flags |= ASF_UNBUFFERED;
    c->ops = f ? &first_bytes : &not_decoded;
    if (f)
        memcpy(f->bytes, first, f->n = n);
    else
        c->data = c;
}

/* --- the format of a descriptor -------------------------------------------------------- */

static enum format format_of_file(int fd) {
    char magic[MAGIC_BYTES];
    off64_t at = asf__lseek(fd, 0, SEEK_CUR);
    ssize_t n = at < 0 ? at : asf__sys.pread(fd, magic, sizeof magic, at);
    enum format f = n > 0 ? format_of(magic, (size_t)n) : FORMAT_NONE;
    return f == FORMAT_OPEN ? FORMAT_NONE : f; /* the file ends within a magic number */
}

struct asf_cios *asf__decode_descriptor(int fd, const char *first, size_t n) {
    enum format f = n > 0 ? format_of(first, n) : format_of_file(fd);
    struct asf_cios *c = f > FORMAT_NONE ? asf__cios_new(&asf__for_asi, fd, O_RDONLY) : NULL;
    if (c && f == FORMAT_OPEN)
        see_more(c, first, n);
    else if (c)
        decode_as(c, f, first, n);
    return c;
}

void asf__look_for_format(struct asf_cios *c) {
    if (!c->listed || c->access != O_RDONLY || c->child > 0)
        return;
    if (c->kind == ASF_REGULAR) {
        enum format f = format_of_file(c->fd);
        if (f != FORMAT_NONE)
            decode_as(c, f, NULL, 0);
    } else if ((c->kind == ASF_PIPE || c->kind == ASF_SOCKET) && c->ops == &asf__pipe) {
        c->ops = &first_bytes;
    }
}
