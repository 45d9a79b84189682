/* SPDX-License-Identifier: MIT
 *
 * costs.c - read the table that `asf tune` writes: lines of words and numbers up to the line "end".  Figures
 * for users may follow.
 */
#define _GNU_SOURCE
#include "lib/sys/costs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "lib/sys/syscalls.h"

static const char first_line[] = ASF__TUNE_FORMAT, last_line[] = "end\n";

static struct asf_costs found;
static const struct asf_costs *costs; /* NULL, or &found once it is complete */
enum { UNKNOWN, LOOKING, KNOWN };
static int state;

/* --- parsing ------------------------------------------------------------------ */

/* Skips the expected word and the blank after it. */
static bool word(const char **p, const char *expected) {
    size_t n = strlen(expected);
    if (strncmp(*p, expected, n) != 0 || (*p)[n] != ' ')
        return false;
    *p += n + 1;
    return true;
}

/* Reads a number, and skips the blank after it, if there is one. */
static bool read_number(const char **p, int base, uint64_t *value) {
    enum { LONGEST = 15 };
    uint64_t n = 0;
    size_t i = 0;
    for (; i < LONGEST; i++) {
        int c = (*p)[i], digit = c >= '0' && c <= '9'                 ? c - '0'
                                 : base == 16 && c >= 'a' && c <= 'f' ? c - 'a' + 10
                                                                      : -1;
        if (digit < 0)
            break;
        n = n * (unsigned)base + (unsigned)digit;
    }
    if (i == 0 || ((*p)[i] != ' ' && (*p)[i] != '\n'))
        return false;
    *p += i + ((*p)[i] == ' ');
    *value = n;
    return true;
}

static bool parse_setting(struct asf_costs *c, const char *p) {
    const struct {
        const char *name;
        size_t *to;
    } settings[] = {{"map_min", &c->map_min},
                    {"window", &c->window},
                    {"buffer", &c->buffer},
                    {"copy", &c->copy},
                    {"pipe", &c->pipe}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (word(&p, settings[i].name))
            return read_number(&p, 10, settings[i].to);
    return false;
}

static bool parse_file_system(struct asf_costs *c, const char *p) {
    if (c->count == ASF_COSTS_FILE_SYSTEMS)
        return false;
    struct asf_fs_costs *fs = &c->fs[c->count++];
    return read_number(&p, 16, &fs->type) && read_number(&p, 10, &fs->read) &&
           read_number(&p, 10, &fs->map) && read_number(&p, 10, &fs->by_hand) &&
           read_number(&p, 10, &fs->by_range);
}

/* Reads the values of one line.  Lines of other forms are for users, and are skipped. */
static bool parse_line(struct asf_costs *c, const char *line) {
    const char *p = line;
    if (word(&p, "set"))
        return parse_setting(c, p);
    return !word(&p, "fs") || parse_file_system(c, p);
}

static bool is_size(size_t n, size_t least, size_t most, size_t unit) {
    return n >= least && n <= most && n % unit == 0;
}

static bool can_be(const struct asf_costs *c) {
    enum { KB = 1 << 10, MB = 1 << 20 };
    return is_size(c->map_min, ASF_COSTS_LEAST, 1024 * (size_t)MB, 1) &&
           is_size(c->window, 2 * MB, 1024 * (size_t)MB, 2 * MB) &&
           is_size(c->buffer, 4 * KB, 16 * MB, 4 * KB) && is_size(c->copy, 4 * KB, 16 * MB, 4 * KB) &&
           is_size(c->pipe, 0, 16 * MB, 4 * KB);
}

bool asf__costs_parse(struct asf_costs *c, const char *text, size_t n) {
    const char *end = text + n, *line = text + sizeof first_line - 1;
    *c = (struct asf_costs){.pipe = SIZE_MAX}; /* 0 is a valid value of `pipe` */
    if (n < sizeof first_line || memcmp(text, first_line, sizeof first_line - 1) != 0)
        return false;
    for (const char *next; (next = memchr(line, '\n', (size_t)(end - line))); line = next + 1) {
        if ((size_t)(next + 1 - line) == sizeof last_line - 1 &&
            memcmp(line, last_line, sizeof last_line - 1) == 0)
            return can_be(c);
        if (!parse_line(c, line))
            return false;
    }
    return false;
}

/* --- finding the file --------------------------------------------------------- */

static bool join_path(char *path, size_t size, const char *directory, const char *rest) {
    size_t n = strlen(directory), m = strlen(rest);
    if (directory[0] != '/' || n + m >= size)
        return false;
    memcpy(path, directory, n);
    memcpy(path + n, rest, m + 1);
    return true;
}

bool asf__costs_path(char *path, size_t size, int which) {
    const char *config = secure_getenv("XDG_CONFIG_HOME"), *home = secure_getenv("HOME");
    if (which == 1)
        return join_path(path, size, "/etc", "/asf/tune");
    if (config && *config)
        return join_path(path, size, config, "/asf/tune");
    return home && join_path(path, size, home, "/.config/asf/tune");
}

/* Whether only this user and root can have written the file: it controls how this user's programs work. */
static bool is_trusted_file(int fd) {
    struct stat64 st;
    return asf__sys.fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
           (st.st_uid == 0 || st.st_uid == geteuid()) && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

int asf__costs_load(struct asf_costs *c, const char *path) {
    char text[ASF_COSTS_SIZE];
    int fd = asf__sys.open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);
    if (fd < 0)
        return fd;
    ssize_t n = is_trusted_file(fd) ? asf__sys.read(fd, text, sizeof text) : -EPERM;
    asf__sys.close(fd);
    if (n < 0)
        return (int)n;
    return asf__costs_parse(c, text, (size_t)n) ? 0 : -EINVAL;
}

static bool load_costs(void) {
    char path[1024];
    const struct asf_options *o = asf__options();
    if (getauxval(AT_SECURE) || !o->tune)
        return false;
    for (int which = 0; which < 2; which++)
        if (asf__costs_path(path, sizeof path, which) && asf__costs_load(&found, path) == 0)
            return true;
    return false;
}

const struct asf_costs *asf__costs(void) {
    int expected = UNKNOWN;
    if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == KNOWN)
        return costs;
    /* While one thread loads the table, others use the built-in figures. */
    if (!__atomic_compare_exchange_n(&state, &expected, LOOKING, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
        return NULL;
    if (load_costs())
        costs = &found;
    __atomic_store_n(&state, KNOWN, __ATOMIC_RELEASE);
    return costs;
}

const struct asf_fs_costs *asf__costs_of(long type) {
    const struct asf_costs *c = asf__costs();
    for (size_t i = 0; c && i < c->count; i++)
        if (c->fs[i].type == (uint64_t)type)
            return &c->fs[i];
    return NULL;
}
