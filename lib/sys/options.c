/* SPDX-License-Identifier: MIT
 *
 * options.c - ASF_OPTIONS=key=value,key=value…  Unknown keys and unusable values are reported on
 * stderr and ignored.
 */
#define _GNU_SOURCE
#include "lib/sys/options.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/sys/syscalls.h"

static char nowhere[1];

struct asf_options asf__option_values = {
    .stats = nowhere,
    /* Measured: a map costs 4 to 6 microseconds more than a read; windows of
     * 2 MiB and more on 2 MiB boundaries are mapped by whole folios. */
    .map_min = 256 << 10,
    .window = 8 << 20,
    .tune = true,
    .shm = "posix",
    .private_fds = true,
};
bool asf__options_parsed;

static void report_unusable(const char *what, size_t length) {
    char line[160] = "asf: option not understood, ignored: ";
    size_t at = strlen(line);
    if (length > sizeof line - at - 1)
        length = sizeof line - at - 1;
    memcpy(line + at, what, length);
    line[at + length] = '\n';
    asf__sys.write(2, line, at + length + 1);
}

/* strtoull, but errno is not changed. */
static unsigned long long to_number(const char *text, char **end) {
    int saved = errno;
    unsigned long long n = strtoull(text, end, 10);
    errno = saved;
    return n;
}

static bool is(const char *text, size_t length, const char *word) {
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

/* Parses a number of bytes, with K or M after it or not. */
static bool set_size(size_t *to, const char *value, size_t least, size_t unit) {
    char *end;
    unsigned long long n = to_number(value, &end);
    unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : 0;
    const char *behind = shift ? end + 1 : end;
    if (end == value || *value == '-' || (*behind && *behind != ',') || n > (1ULL << 40) >> shift)
        return false;
    n <<= shift;
    if (n < least || n % unit != 0)
        return false;
    *to = n;
    return true;
}

static bool set_text(char *to, size_t size, const char *value, size_t length) {
    if (length == 0 || length >= size)
        return false;
    memcpy(to, value, length);
    to[length] = '\0';
    return true;
}

static bool set_stats(const char *value, size_t length) {
    enum { LONGEST = 4096 };
    static char *path;
    if (!path)
        path = asf__zero_pages(LONGEST);
    if (!path || !set_text(path, LONGEST, value, length))
        return false;
    asf__option_values.stats = path;
    return true;
}

static bool set_flag(bool *to, const char *value, size_t length) {
    bool on = is(value, length, "on") || is(value, length, "1");
    bool off = is(value, length, "off") || is(value, length, "0");
    if (on || off)
        *to = on;
    return on || off;
}

/* A size that the user gives is exact, as setvbuf's is. */
static bool set_buffer(const char *value, size_t length) {
    struct asf_options *o = &asf__option_values;
    bool by_libc = is(value, length, "libc"), by_itself = is(value, length, "auto");
    if (by_libc || by_itself)
        o->buffer = 0;
    else if (!set_size(&o->buffer, value, 1, 1))
        return false;
    o->exact = !by_itself;
    return true;
}

static bool set_module(const char *value, size_t length) {
    if (is(value, length, "map") || is(value, length, "read"))
        return set_text(asf__option_values.module, sizeof asf__option_values.module, value, length);
    return false;
}

static bool set_shm(const char *value, size_t length) {
    if (is(value, length, "posix") || is(value, length, "sysv"))
        return set_text(asf__option_values.shm, sizeof asf__option_values.shm, value, length);
    return false;
}

#ifdef ASF_UNIX
/* PROCESS/DESCRIPTOR/INODE. */
static bool set_ring(const char *value) {
    struct asf_options *o = &asf__option_values;
    unsigned long long part[3];
    for (int i = 0; i < 3; i++) {
        char *end;
        part[i] = to_number(value, &end);
        if (end == value || (i < 2 ? *end != '/' : *end && *end != ','))
            return false;
        value = end + 1;
    }
    enum { MOST = sizeof o->ring / sizeof *o->ring };
    o->ring[o->ring_count++ % MOST] = (struct asf_ring_offer){(int)part[0], (int)part[1], part[2]};
    o->rings = true;
    return true;
}
#endif

/* Offsets in struct asf_options, not pointers, which would be relocated in every run. */
static const struct {
    char name[12];
    uint16_t at;
} flags[] = {
    {"decompress", offsetof(struct asf_options, decompress)},
    {"tune", offsetof(struct asf_options, tune)},
    {"verbose", offsetof(struct asf_options, verbose)},
#ifdef ASF_UNIX
    {"rings", offsetof(struct asf_options, popen_rings)},
    {"private", offsetof(struct asf_options, private_fds)},
#endif
};

/* Sizes: a given one overrules the table of `asf tune`. */
static const struct {
    char name[12];
    uint16_t at;
    unsigned given;
    size_t least, unit;
} sizes[] = {
    {"map_min", offsetof(struct asf_options, map_min), ASF_GIVEN_map_min, 0, 1},
    {"window", offsetof(struct asf_options, window), ASF_GIVEN_window, 2 << 20, 2 << 20},
};

static void *option_at(size_t at) {
    return (char *)&asf__option_values + at;
}

static bool set_option(const char *key, size_t klen, const char *value, size_t vlen) {
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (is(key, klen, flags[i].name))
            return set_flag(option_at(flags[i].at), value, vlen);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (is(key, klen, sizes[i].name)) {
            asf__option_values.given |= sizes[i].given;
            return set_size(option_at(sizes[i].at), value, sizes[i].least, sizes[i].unit);
        }
    if (is(key, klen, "stats"))
        return set_stats(value, vlen);
    if (is(key, klen, "buffer"))
        return set_buffer(value, vlen);
    if (is(key, klen, "module"))
        return set_module(value, vlen);
    if (is(key, klen, "shm"))
        return set_shm(value, vlen);
#ifdef ASF_UNIX
    if (is(key, klen, "ring"))
        return set_ring(value);
    return false;
#else
    /* Options of libasf_unix: another program, which has libasf_unix, may start this one with them. */
    return is(key, klen, "rings") || is(key, klen, "ring") || is(key, klen, "private");
#endif
}

static void parse_options(const char *text) {
    struct asf_options before;
    while (*text) {
        size_t length = strcspn(text, ",");
        size_t klen = strcspn(text, "=,");
        before = asf__option_values;
        if (length && (klen == length || !set_option(text, klen, text + klen + 1, length - klen - 1))) {
            asf__option_values = before;
            report_unusable(text, length);
        }
        text += length + (text[length] == ',');
    }
}

/* Searches by hand: nearly always the variable is not set, and libc's getenv costs a page fault. */
static bool may_be_given(void) {
    static char name[] = "ASF_OPTIONS=";
    for (char **variable = environ; variable && *variable; variable++) {
        size_t i = 0;
        while (name[i] && (*variable)[i] == name[i])
            i++;
        if (!name[i])
            return true;
    }
    return false;
}

/* The program's own variable, if it has one. */
extern const char asf_conf[] __attribute__((weak, visibility("default")));

const struct asf_options *asf__parse_options(void) {
    const char *text = may_be_given() ? secure_getenv("ASF_OPTIONS") : NULL;
    asf__options_parsed = true;
    if (asf_conf)
        parse_options(asf_conf);
    if (text)
        parse_options(text);
    return &asf__option_values;
}
