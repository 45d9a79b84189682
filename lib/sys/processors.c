/* SPDX-License-Identifier: MIT
 *
 * processors.c - the number of processors that a process may use.
 */
#define _GNU_SOURCE
#include "lib/sys/processors.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/sys/syscalls.h"

static size_t read_text(const char *path, char *text, size_t size) {
    int fd = asf__open(path, O_RDONLY | O_CLOEXEC, 0);
    ssize_t n = fd < 0 ? 0 : asf__read(fd, text, size - 1);
    if (fd >= 0)
        asf__close(fd);
    text[n > 0 ? n : 0] = '\0';
    return strlen(text);
}

/* Returns the number of processors that "QUOTA PERIOD" allows; UINT_MAX for "max PERIOD". */
static unsigned quota_of(const char *text) {
    char *end;
    long long time = strtoll(text, &end, 10), period = strtoll(end, NULL, 10);
    return time > 0 && period > 0 ? (unsigned)((time + period - 1) / period) : UINT_MAX;
}

/* Returns the least quota of the process's control group (version 2) and the groups above it. */
static unsigned quota(void) {
    char groups[4096], path[4096 + 64], text[64];
    read_text("/proc/self/cgroup", groups, sizeof groups);
    char *group = strncmp(groups, "0::", 3) == 0 ? groups + 3 : NULL;
    unsigned least = UINT_MAX;
    if (!group)
        return least;
    group[strcspn(group, "\n")] = '\0';
    for (char *end = group + strlen(group); end; end = strrchr(group, '/')) {
        *end = '\0';
        stpcpy(stpcpy(stpcpy(path, "/sys/fs/cgroup"), group), "/cpu.max");
        if (read_text(path, text, sizeof text) > 0 && quota_of(text) < least)
            least = quota_of(text);
    }
    return least;
}

unsigned asf__usable_processors(void) {
    unsigned all = asf__processors(), allowed = quota();
    return allowed < all ? allowed : all;
}
