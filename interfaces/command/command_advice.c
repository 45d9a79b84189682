/* SPDX-License-Identifier: MIT
 *
 * command_advice.c - the advice of "asf stat", judged by the counts: an option that would help, what asf
 * saves, or why asf cannot help.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <string.h>

#include "interfaces/command/command_report.h"

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The compression format of the input.  NULL: not compressed, or not a regular file that can be opened. */
static const char *compression_format(const struct stream_report *s) {
    static const struct {
        const char *name;
        size_t length;
        unsigned char magic[6];
    } formats[] = {{"gzip", 2, {0x1f, 0x8b}},
                   {"zstd", 4, {0x28, 0xb5, 0x2f, 0xfd}},
                   {"lz4", 4, {0x04, 0x22, 0x4d, 0x18}},
                   {"xz", 6, {0xfd, '7', 'z', 'X', 'Z', 0}}};
    unsigned char start[6] = {0};
    if (s->in == 0 || strncmp(s->why, "regular file", 12) != 0)
        return NULL;
    FILE *in = fopen(!strcmp(s->name, "stdin") ? "/proc/self/fd/0" : s->name, "re");
    size_t n = in ? fread(start, 1, sizeof start, in) : 0;
    if (in)
        fclose(in);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (n >= formats[i].length && !memcmp(start, formats[i].magic, formats[i].length))
            return formats[i].name;
    return NULL;
}

static bool decodes_by_itself(const char *program) {
    static const char *const names[] = {"gzip", "gunzip", "zcat",  "zstd", "unzstd",    "zstdcat", "zstdmt",
                                        "xz",   "unxz",   "xzcat", "lz4",  "unlz4",     "lz4cat",  "file",
                                        "pigz", "bsdtar", "tar",   "cmp",  "sha256sum", "md5sum"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(program, names[i]))
            return true;
    return false;
}

static const char *size_of(uint64_t n) {
    return n >= 10 << 20   ? asf__text("%" PRIu64 " MB", (n + (1 << 19)) >> 20)
           : n >= 10 << 10 ? asf__text("%" PRIu64 " KB", (n + 512) >> 10)
                           : asf__text("%" PRIu64 " byte%s", n, n == 1 ? "" : "s");
}

static uint64_t bytes_of(const struct stream_report *s) {
    return s->in + s->out;
}

static bool is_unix_io(const struct stream_report *s) {
    return !strcmp(s->module, "kernel") || !strcmp(s->module, "window");
}

/* MIN_CALLS, MIN_BYTES: with fewer, the gain cannot be noticed.  WINDOW_READ: the largest read that a window
 * serves. */
enum { MIN_CALLS = 1000, MIN_BYTES = 1 << 20, WINDOW_READ = 4096 };

static const char *advise_unix_io(const struct report *r, const struct stream_report *own) {
    uint64_t size = (bytes_of(own) + own->calls / 2) / (own->calls ? own->calls : 1);
    const char *what = own->out == 0 ? "reads" : own->in == 0 ? "writes" : "reads and writes";
    const char *of = !strcmp(own->why, "the null device") ? own->why : asf__text("a %s", own->why);
    const char *many = asf__text("%s %s of %s of %s (%s)", asf__digits((int64_t)own->calls).text, what,
                                 size_of(size), of, own->name);
    if (own->calls >= MIN_CALLS && own->out == 0 && size <= WINDOW_READ && !strcmp(own->why, "regular file"))
        return r->unix_io
                   ? asf__text("%s: --unix does not serve them: the file is shared, or not known to map "
                               "well",
                               many)
                   : asf__text("%s: --unix would serve them", many);
    if (size > WINDOW_READ)
        return asf__text("%s: the program has its own buffers, and asf cannot help", many);
    return asf__text("%s: the program makes these system calls itself, and asf does not serve them", many);
}

/* The stream with the most system calls. */
static const struct stream_report *most_syscalls_stream(const struct report *r) {
    const struct stream_report *most = &r->streams[0];
    for (size_t i = 1; i < r->count; i++)
        if (r->streams[i].syscalls > most->syscalls)
            most = &r->streams[i];
    return most;
}

static const char *advise_served(const struct report *r) {
    const struct stream_report *most = most_syscalls_stream(r);
    uint64_t bytes = 0;
    int64_t made = 0, libc = 0;
    for (size_t i = 0; i < r->count; i++) {
        const struct stream_report *s = &r->streams[i];
        bytes += bytes_of(s);
        made += s->libc >= 0 ? (int64_t)s->syscalls : 0;
        libc += s->libc >= 0 ? s->libc : 0;
    }
    if (libc > made + made / 8)
        return asf__text("asf saves %s of libc's %s system calls%s", asf__digits(libc - made).text,
                         asf__digits(libc).text,
                         libc < MIN_CALLS ? ": too few for a measurable gain"
                         : r->compared    ? ""
                                          : "; 'asf compare' measures the gain");
    if (is_unix_io(most))
        return advise_unix_io(r, most);
    if (most->syscalls >= MIN_CALLS && bytes_of(most) / most->syscalls < WINDOW_READ / 4)
        return asf__text("%s system calls of %s on %s: each comes from a flush, a seek or an "
                         "unbuffered call of the program",
                         asf__digits((int64_t)most->syscalls).text, size_of(bytes_of(most) / most->syscalls),
                         most->name);
    if (r->exact && bytes >= MIN_BYTES)
        return "with --exact it makes the same system calls as libc; without --exact it makes fewer";
    if (bytes < MIN_BYTES)
        return asf__text("it transfers only %s: too little for a gain", size_of(bytes));
    if (bytes_of(most) / most->syscalls > WINDOW_READ)
        return asf__text(
            "its stdio transfers %s per system call: its buffers are large, and asf saves no calls",
            size_of(bytes_of(most) / most->syscalls));
    return asf__text("%s system calls of %s on %s, as many as libc%s",
                     asf__digits((int64_t)most->syscalls).text, size_of(bytes_of(most) / most->syscalls),
                     most->name, r->compared ? "" : "; 'asf compare' measures any other gain");
}

const char *asf__advice(const struct report *r) {
    if (r->obstacle)
        return r->obstacle;
    if (r->count == 0)
        return asf__text("%s does no stdio, no reads and no writes: asf cannot help", base_name(r->command));
    for (size_t i = 0; !r->decompress && i < r->count; i++) {
        const struct stream_report *s = &r->streams[i];
        const char *format = decodes_by_itself(s->program) ? NULL : compression_format(s);
        if (format)
            return asf__text("input is %s (%s): use --decompress", format, s->name);
    }
    return advise_served(r);
}
