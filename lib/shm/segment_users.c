/* SPDX-License-Identifier: MIT
 *
 * segment_users.c - reads /proc: which processes have a segment attached, and facts about processes and the
 * system.  The kernel itself counts the users of SysV segments only.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "lib/shm/segment.h"
#include "lib/sys/syscalls.h"
#include "lib/text/format.h"

struct states {
    struct asf_segment_state *first;
    size_t count;
};

static void count_mapping(const struct states *all, pid_t pid, uint64_t device, uint64_t inode) {
    for (size_t i = 0; i < all->count; i++) {
        struct asf_segment_state *s = &all->first[i];
        if (s->inode != inode || s->device != device || s->counted == pid)
            continue;
        s->counted = pid;
        s->info.attached++;
    }
}

/* Returns the text after the n-th blank, or NULL if there are fewer blanks. */
static const char *field(const char *p, int n) {
    while (p && n-- > 0) {
        p = strchr(p, ' ');
        p = p ? p + 1 : NULL;
    }
    return p;
}

/* Counts a user for a line of /proc/PID/maps: range, permissions, offset, device, inode, path. */
static void count_line(const struct states *all, pid_t pid, const char *line) {
    const char *device = field(line, 3), *inode = field(device, 1);
    char *minor;
    if (!inode)
        return;
    unsigned long major = strtoul(device, &minor, 16);
    unsigned long long number = strtoull(inode, NULL, 10);
    if (*minor == ':' && number != 0)
        count_mapping(all, pid, makedev((unsigned)major, (unsigned)strtoul(minor + 1, NULL, 16)), number);
}

static int count_process(const struct states *all, pid_t pid) {
    char path[32], text[8192];
    size_t have = 0;
    ssize_t n;
    asf__format_text(path, sizeof path, "/proc/%d/maps", (int)pid);
    int fd = asf__sys.open(path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return fd;
    while ((n = asf__sys.read(fd, text + have, sizeof text - 1 - have)) > 0) {
        char *line = text, *end;
        have += (size_t)n;
        text[have] = '\0';
        while ((end = strchr(line, '\n'))) {
            *end = '\0';
            count_line(all, pid, line);
            line = end + 1;
        }
        have -= (size_t)(line - text);
        memmove(text, line, have);
    }
    asf__sys.close(fd);
    return (int)n;
}

int asf__count_users(struct asf_segment_state *states, size_t count) {
    struct states all = {states, count};
    bool any = false;
    int rc = 0;
    for (size_t i = 0; i < count; i++)
        any = any || states[i].inode != 0;
    DIR *directory = any ? opendir("/proc") : NULL;
    if (!directory)
        return any && errno != ENOENT ? asf__segment_fail(-errno, "/proc could not be read") : 0;
    for (struct dirent *entry; rc == 0 && (entry = readdir(directory));) {
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
            rc = count_process(&all, (pid_t)strtol(entry->d_name, NULL, 10));
        if (asf__hidden(rc))
            rc = 0;
    }
    closedir(directory);
    return rc < 0 ? asf__segment_fail(rc, "the users of the segments could not be counted") : 0;
}

/* --- numbers --------------------------------------------------------------------- */

bool asf__proc_number(const char *path, const char *key, int base, uint64_t *value) {
    char text[4096];
    int fd = asf__sys.open(path, O_RDONLY | O_CLOEXEC, 0);
    ssize_t n = fd < 0 ? 0 : asf__sys.read(fd, text, sizeof text - 1);
    if (fd >= 0)
        asf__sys.close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *found = strstr(text, key);
    if (found)
        *value = strtoull(found + strlen(key), NULL, base);
    return found != NULL;
}

/* Reads the umask from /proc, because umask(2) can read it only by changing it.  Without /proc, returns 077.
 */
mode_t asf__umask(void) {
    uint64_t mask;
    return asf__proc_number("/proc/self/status", "\nUmask:", 8, &mask) ? (mode_t)mask & 0777 : 077;
}

/* --- whether a creator still exists ------------------------------------------------ */

/* Reads a process's start time, in clock ticks since boot, and whether it has ended.  Returns false if /proc
 * shows no such process. */
static bool find_start(pid_t pid, bool *ended, unsigned long long *ticks) {
    char path[32], text[1024];
    asf__format_text(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = asf__sys.open(path, O_RDONLY | O_CLOEXEC, 0);
    ssize_t n = fd < 0 ? 0 : asf__sys.read(fd, text, sizeof text - 1);
    if (fd >= 0)
        asf__sys.close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *rest =
        strrchr(text, ')'); /* skip the command name, which may contain blanks and parentheses */
    const char *status = field(rest, 1), *threads = field(status, 17), *started = field(threads, 2);
    if (!started)
        return false;
    *ticks = strtoull(started, NULL, 10);
    /* if the first thread ends before the others, the process shows as Z */
    *ended = *status == 'X' || (*status == 'Z' && strtol(threads, NULL, 10) <= 1);
    return true;
}

static bool pid_exists(pid_t pid) {
    return asf__raw_syscall(SYS_kill, pid, 0, 0, 0) != -ESRCH;
}

uint64_t asf__process_start(pid_t pid) {
    bool ended;
    unsigned long long ticks;
    if (!find_start(pid, &ended, &ticks))
        return pid_exists(pid) ? 1 : 0;
    return ended ? 0 : ticks + 2;
}

/* If process `pid` was started after `at`, the process that had this id at `at` has ended.  The comparison
 * allows 2 s, since the clock may be adjusted and three times are rounded. */
bool asf__process_ended(pid_t pid, int64_t at) {
    bool ended;
    struct timespec now, up;
    unsigned long long ticks;
    if (pid <= 0)
        return false;
    if (!find_start(pid, &ended, &ticks))
        return !pid_exists(pid);
    clock_gettime(CLOCK_REALTIME, &now);
    clock_gettime(CLOCK_BOOTTIME, &up);
    return ended || now.tv_sec - up.tv_sec + (int64_t)ticks / sysconf(_SC_CLK_TCK) > at + 2;
}
