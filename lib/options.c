/* SPDX-License-Identifier: MIT
 *
 * options.c - ASF_OPTIONS=key=value,key=value…  Unknown keys and unusable
 * values are named on stderr and passed over.
 * Layer: lib.  May include: lib.
 */
#define _GNU_SOURCE
#include "lib/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/startup.h"
#include "lib/syscalls.h"

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

static bool set_size(size_t *to, const char *value, size_t least) {
    char *end;
    unsigned long long n = number(value, &end);
    if (end == value || (*end && *end != ',') || n < least || n > (1ULL << 40))
        return false;
    *to = n;
    return true;
}

/* A size that no measurement overrules. */
static bool give_size(unsigned bit, size_t *to, const char *value, size_t least) {
    asf__option_values.given |= bit;
    return set_size(to, value, least);
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
    bool on = (length == 2 && !memcmp(value, "on", 2)) || (length == 1 && *value == '1');
    bool off = (length == 3 && !memcmp(value, "off", 3)) || (length == 1 && *value == '0');
    if (on || off)
        *to = on;
    return on || off;
}

static bool set_module(const char *value, size_t length) {
    if ((length == 3 && !memcmp(value, "map", 3)) || (length == 4 && !memcmp(value, "read", 4)))
        return set_text(asf__option_values.module, sizeof asf__option_values.module, value, length);
    return false;
}

static bool set_shm(const char *value, size_t length) {
    if ((length == 5 && !memcmp(value, "posix", 5)) || (length == 4 && !memcmp(value, "sysv", 4)))
        return set_text(asf__option_values.shm, sizeof asf__option_values.shm, value, length);
    return false;
}

static bool set_unix_io(const char *value, size_t length) {
    bool on;
    if (length == 4 && !memcmp(value, "auto", 4))
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
    bool coalesce = length == 8 && !memcmp(value, "coalesce", 8);
    bool through = length == 7 && !memcmp(value, "through", 7);
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

static bool set(const char *key, size_t klen, const char *value, size_t vlen) {
#define KEY(name) (klen == sizeof(name) - 1 && !memcmp(key, name, klen))
    if (KEY("stats"))
        return set_stats(value, vlen);
    if (KEY("module"))
        return set_module(value, vlen);
    if (KEY("map_min"))
        return give_size(ASF_GIVEN_map_min, &asf__option_values.map_min, value, 0);
    if (KEY("window"))
        return give_size(ASF_GIVEN_window, &asf__option_values.window, value, 2 << 20) &&
               asf__option_values.window % (2 << 20) == 0;
    if (KEY("buffer"))
        return give_size(ASF_GIVEN_buffer, &asf__option_values.buffer, value, 4096);
    if (KEY("pipe"))
        return give_size(ASF_GIVEN_pipe, &asf__option_values.pipe, value, 0);
    if (KEY("tune"))
        return set_flag(&asf__option_values.tune, value, vlen);
    if (KEY("grow"))
        return set_flag(&asf__option_values.grow, value, vlen);
    if (KEY("ahead"))
        return set_flag(&asf__option_values.ahead, value, vlen);
    if (KEY("large_pages"))
        return set_flag(&asf__option_values.large_pages, value, vlen);
    if (KEY("unix"))
        return set_unix_io(value, vlen);
    if (KEY("write"))
        return set_write(value, vlen);
    if (KEY("verbose"))
        return set_flag(&asf__option_values.verbose, value, vlen);
    if (KEY("ring"))
        return set_ring(value);
    if (KEY("rings"))
        return set_flag(&asf__option_values.popen_rings, value, vlen);
    if (KEY("shm"))
        return set_shm(value, vlen);
#undef KEY
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
ASF_EVERY_RUN static bool may_be_given(void) {
    ASF_EVERY_RUN_DATA static char name[] = "ASF_OPTIONS=";
    for (char **variable = environ; variable && *variable; variable++) {
        size_t i = 0;
        while (name[i] && (*variable)[i] == name[i])
            i++;
        if (!name[i])
            return true;
    }
    return false;
}

ASF_EVERY_RUN const struct asf_options *asf__parse_options(void) {
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
