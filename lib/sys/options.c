/* SPDX-License-Identifier: MIT
 *
 * options.c - ASF_OPTIONS=key=value,key=value…  Unknown keys and unusable values are reported on
 * stderr and ignored.  The keys are in options.def.
 */
#define _GNU_SOURCE
#include "lib/sys/options.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <asf/asf.h>

#include "lib/sys/syscalls.h"
#include "lib/sys/version.h"

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

/* Reports an unusable option.  If two of the libraries are in one process, only the one whose functions
 * are called reports. */
static void report_unusable(const char *what, size_t length) {
    if (asf_version != asf__own_version)
        return;
    char line[160] = "asf: option not understood, ignored: ";
    size_t at = strlen(line);
    if (length > sizeof line - at - 1)
        length = sizeof line - at - 1;
    memcpy(line + at, what, length);
    line[at + length] = '\n';
    asf__sys.write(2, line, at + length + 1);
}

/* As strtoull, but leaves errno unchanged. */
static unsigned long long to_number(const char *text, char **end) {
    int saved = errno;
    unsigned long long n = strtoull(text, end, 10);
    errno = saved;
    return n;
}

static bool is(const char *text, size_t length, const char *word) {
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

/* Parses a number of bytes, optionally followed by K or M. */
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

/* Sets the exact buffer size that the user gives, as setvbuf does. */
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

/* Parses PROCESS/DESCRIPTOR/INODE. */
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

/* Sets a size that the user gives, which overrides the table of `asf tune`. */
static bool set_given(size_t *to, unsigned given, const char *value, size_t least, size_t unit) {
    asf__option_values.given |= given;
    return set_size(to, value, least, unit);
}

static bool set_option(const char *key, size_t klen, const char *value, size_t length) {
    struct asf_options *o = &asf__option_values;
#define OPTION(KEY, VALUES, TEXT, SET)                                                                       \
    if (is(key, klen, #KEY))                                                                                 \
        return SET;
#include "lib/sys/options.def"
#undef OPTION
    return false;
}

/* Sets nothing if the item is unusable. */
static bool set_item(const char *item, size_t length) {
    const struct asf_options before = asf__option_values;
    const size_t key = strcspn(item, "=,");
    if (key < length && set_option(item, key, item + key + 1, length - key - 1))
        return true;
    asf__option_values = before;
    return false;
}

bool asf__is_option(const char *item, size_t length) {
    const struct asf_options before = asf__option_values;
    const bool is_usable = set_item(item, length);
    asf__option_values = before;
    return is_usable;
}

static void parse_options(const char *text) {
    while (*text) {
        size_t length = strcspn(text, ",");
        if (length && !set_item(text, length))
            report_unusable(text, length);
        text += length + (text[length] == ',');
    }
}

/* Searches the environment directly: the variable is rarely set, and libc's getenv costs a page fault. */
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

/* The program's own variable, if it defines one. */
extern const char asf_conf[] __attribute__((weak, visibility("default")));

const struct asf_options *asf__parse_options(void) {
    const char *text = may_be_given() ? secure_getenv("ASF_OPTIONS") : NULL;
    asf__options_parsed = true;
    if (asf_conf)
        parse_options(asf_conf);
    if (text)
        parse_options(text);
    if (!asf__has_rings) {
        asf__option_values.popen_rings = false;
        asf__option_values.rings = 0;
    }
    return &asf__option_values;
}
