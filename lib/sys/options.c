/* SPDX-License-Identifier: MIT
 *
 * options.c - ASF_OPTIONS=key=value,key=value…  Unknown keys and unusable
 * values are named on stderr and passed over.
 * Layer: lib.  May include: lib.
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
    .buffer = 128 << 10,
    /* Readers of 16 to 128 KB gain no more from a larger one. */
    .pipe = 512 << 10,
    .tune = true,
    .shm = "posix",
#ifdef ASF_STATIC
    /* An archive cannot notice every call through which it would show. */
    .grow = false,
    .ahead = false,
    .large_pages = false,
    .unix_io = ASF_UNIX_OFF,
#else
    .grow = true,
    .ahead = true,
    .large_pages = true,
    .unix_io = ASF_UNIX_AUTO,
#endif
};
bool asf__options_parsed;

static void complain(const char *what, size_t length) {
    char line[160] = "asf: ASF_OPTIONS: not understood, ignored: ";
    size_t at = strlen(line);
    if (length > sizeof line - at - 1)
        length = sizeof line - at - 1;
    memcpy(line + at, what, length);
    line[at + length] = '\n';
    asf__sys.write(2, line, at + length + 1);
}

/* As strtoull, but errno stays the program's. */
static unsigned long long number(const char *text, char **end) {
    int saved = errno;
    unsigned long long n = strtoull(text, end, 10);
    errno = saved;
    return n;
}

static bool is(const char *text, size_t length, const char *word) {
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

static bool set_size(size_t *to, const char *value, size_t least, size_t unit) {
    char *end;
    unsigned long long n = number(value, &end);
    if (end == value || (*end && *end != ',') || n < least || n > (1ULL << 40) || n % unit != 0)
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
    char *path = asf__zero_pages(LONGEST);
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

static bool set_unix_io(const char *value, size_t length) {
    bool on;
    if (is(value, length, "auto"))
        asf__option_values.unix_io = ASF_UNIX_AUTO;
    else if (set_flag(&on, value, length))
        asf__option_values.unix_io = on ? ASF_UNIX_ON : ASF_UNIX_OFF;
    else
        return false;
#ifdef ASF_STATIC /* which cannot notice every call through which it would show */
    asf__option_values.unix_io = ASF_UNIX_OFF;
#endif
    return true;
}

static bool set_write(const char *value, size_t length) {
    bool coalesce = is(value, length, "coalesce"), through = is(value, length, "through");
    if (coalesce || through)
        asf__option_values.coalesce = coalesce;
    return coalesce || through;
}

/* PROCESS/DESCRIPTOR/INODE.  An archive cannot notice every call that works on
 * the pipe itself. */
static bool set_ring(const char *value) {
    struct asf_options *o = &asf__option_values;
    unsigned long long part[3];
    for (int i = 0; i < 3; i++) {
        char *end;
        part[i] = number(value, &end);
        if (end == value || (i < 2 ? *end != '/' : *end && *end != ','))
            return false;
        value = end + 1;
    }
#ifdef ASF_STATIC
    bool can_notice = false;
#else
    bool can_notice = true;
#endif
    enum { MOST = sizeof o->ring / sizeof *o->ring };
    o->ring[o->ring_count++ % MOST] = (struct asf_ring_offer){(int)part[0], (int)part[1], part[2]};
    o->rings = can_notice;
    return true;
}

/* By where they are in the options: no pointers, which would be relocated in every run. */
static const struct {
    char name[12];
    uint16_t at;
} flags[] = {
    {"tune", offsetof(struct asf_options, tune)},
    {"grow", offsetof(struct asf_options, grow)},
    {"ahead", offsetof(struct asf_options, ahead)},
    {"large_pages", offsetof(struct asf_options, large_pages)},
    {"verbose", offsetof(struct asf_options, verbose)},
    {"rings", offsetof(struct asf_options, popen_rings)},
};

/* Sizes, which no measurement overrules once they are given. */
static const struct {
    char name[12];
    uint16_t at;
    unsigned given;
    size_t least, unit;
} sizes[] = {
    {"map_min", offsetof(struct asf_options, map_min), ASF_GIVEN_map_min, 0, 1},
    {"window", offsetof(struct asf_options, window), ASF_GIVEN_window, 2 << 20, 2 << 20},
    {"buffer", offsetof(struct asf_options, buffer), ASF_GIVEN_buffer, 4096, 1},
    {"pipe", offsetof(struct asf_options, pipe), ASF_GIVEN_pipe, 0, 1},
};

static void *option_at(size_t at) {
    return (char *)&asf__option_values + at;
}

static bool set(const char *key, size_t klen, const char *value, size_t vlen) {
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
    if (is(key, klen, "module"))
        return set_module(value, vlen);
    if (is(key, klen, "unix"))
        return set_unix_io(value, vlen);
    if (is(key, klen, "write"))
        return set_write(value, vlen);
    if (is(key, klen, "ring"))
        return set_ring(value);
    if (is(key, klen, "shm"))
        return set_shm(value, vlen);
    return false;
}

static void parse(const char *text) {
    struct asf_options before;
    while (*text) {
        size_t length = strcspn(text, ",");
        size_t klen = strcspn(text, "=,");
        before = asf__option_values;
        if (length && (klen == length || !set(text, klen, text + klen + 1, length - klen - 1))) {
            asf__option_values = before;
            complain(text, length);
        }
        text += length + (text[length] == ',');
    }
}

/* By hand: nearly always there is none, and libc's function costs a page fault. */
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

const struct asf_options *asf__parse_options(void) {
    const char *text = may_be_given() ? secure_getenv("ASF_OPTIONS") : NULL;
    asf__options_parsed = true;
    if (text)
        parse(text);
    return &asf__option_values;
}

void asf__options_of_libc(void) {
    asf__options();
    asf__option_values.grow = asf__option_values.ahead = asf__option_values.coalesce = false;
    asf__option_values.unix_io = ASF_UNIX_OFF;
    asf__option_values.tune = asf__option_values.large_pages = false;
}
