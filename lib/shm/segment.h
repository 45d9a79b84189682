/* SPDX-License-Identifier: MIT
 *
 * segment.h - segments of shared memory: the head with the label, the list of the segments that this process
 * has attached, and the backends that allocate the memory.  Functions return a negated errno value on failure
 * and describe it in asf__segment_why.
 */
#ifndef ASF_LIB_SEGMENT_H
#define ASF_LIB_SEGMENT_H

#include <errno.h>
#include <stdbool.h>

#include <asf/shm.h>

#pragma GCC visibility push(hidden)

/* A label is text, a newline and a null byte.  Magic and size follow it. */
enum { ASF_SEGMENT_ID = 32, ASF_SEGMENT_TEXT = 112 };

/* The head of a segment.  The creator writes the magic last, so a head with the magic is complete. */
struct asf_segment_head {
    char text[ASF_SEGMENT_TEXT];
    uint64_t magic;
    uint64_t size; /* bytes of data */
};
_Static_assert(sizeof(struct asf_segment_head) == ASF_SHM_HEAD, "the note's 128 bytes");

struct asf_segment_backend;

/* A segment that this process has attached. */
struct asf_segment {
    struct asf_segment *next; /* next in the list of all entries; never changes */
    char *shown;              /* key of the entry: base while attached, NULL while the entry is free */
    const struct asf_segment_backend *backend;
    char id[ASF_SEGMENT_ID];
    char *base;
    size_t size, data; /* bytes of the mapping; bytes of data */
    int fd;            /* a descriptor on it, or -1 */
    int watch;         /* its slot in the fault table, or -1 */
    bool truncated;    /* truncated while attached */
};

/* A segment, attached or not, as a backend's `look` describes it. */
struct asf_segment_state {
    struct asf_shm_info info;
    char label[ASF_SEGMENT_TEXT];
    uint64_t device, inode; /* device and inode of a file; 0: not a file */
    pid_t counted;
    bool held; /* some process has a descriptor of it; the kernel frees it with the last one */
};

typedef int asf_segment_visit(struct asf_segment_state *state, void *arg);

/* The table of a backend.  Each identifier belongs to one backend. */
struct asf_segment_backend {
    const char *name;
    bool truncatable; /* another process can truncate an attached segment */
    /* owns: whether the identifier has this backend's syntax. */
    bool (*owns)(const char *id);
    /* create: allocate s->size zero bytes, attach them at s->base and set s->id.  Call asf__segment_label,
     * before other processes can see the segment if possible. */
    int (*create)(struct asf_segment *s, const char *name, mode_t mode);
    /* attach: attach segment s->id at s->base; set s->size, and s->fd if the backend has descriptors. */
    int (*attach)(struct asf_segment *s, bool update);
    /* adopt: attach the segment of the caller's descriptor.  NULL: the backend has no descriptors. */
    int (*adopt)(struct asf_segment *s, int fd, bool update);
    int (*detach)(struct asf_segment *s);
    int (*remove)(const char *id);
    /* look: call `visit` for segment `id`, or for every segment if `id` is NULL. */
    int (*look)(const char *id, asf_segment_visit *visit, void *arg);
};

extern const struct asf_segment_backend asf__segment_posix, asf__segment_sysv, asf__segment_memfd;

/* The reason for this thread's last failure. */
extern _Thread_local const char *asf__segment_why;
static inline int asf__segment_fail(int code, const char *why) {
    asf__segment_why = why;
    return code;
}

/* --- for interfaces and the stream module (segment.c) --------------------------------- */

int asf__segment_create(const char *backend, const char *name, mode_t mode, size_t nbytes, char **shm);
int asf__segment_open(const char *label, bool update, char **shm);
/* asf__segment_open_fd: attach the segment of a descriptor, whatever its label is. */
int asf__segment_open_fd(int fd, bool update, char **shm);
/* asf__segment_fd: open a descriptor of a segment; its offset is the first byte of data. */
int asf__segment_fd(const char *label, bool update);
int asf__segment_close(char *shm);
/* asf__segment_of: the segment that is attached at address `shm`, or NULL. */
const struct asf_segment *asf__segment_of(const char *shm);
int asf__segment_remove(const char *label);
int asf__segment_each(int (*visit)(const struct asf_shm_info *info, void *arg), void *arg);

/* --- for the backends ------------------------------------------------------------ */

/* asf__segment_label: write the head, magic last. */
void asf__segment_label(struct asf_segment *s, const char *name);
/* asf__segment_describe: set the label and the state from the head of a segment of `size` bytes.  `head` is
 * NULL if it cannot be read. */
void asf__segment_describe(struct asf_segment_state *state, const char *id, size_t size,
                           const struct asf_segment_head *head);

/* --- facts from /proc (segment_users.c) ------------------------------------------------ */

/* asf__hidden: whether an error of reading /proc means that the process ended or belongs to another user.
 * Callers skip such processes and report other errors. */
static inline bool asf__hidden(int rc) {
    return rc == -ENOENT || rc == -ESRCH || rc == -EACCES || rc == -EPERM;
}
/* asf__count_users: set info.attached of all segments that are files, in one pass over /proc/PID/maps.
 * Returns any error, since a missed user would make a segment look unused. */
int asf__count_users(struct asf_segment_state *states, size_t count);
/* asf__process_start: a number for the start time of a process; a later process with the same id has another
 * number.  0: the process has ended; 1: it exists, but /proc does not show its start. */
uint64_t asf__process_start(pid_t pid);
/* asf__process_ended: whether the process that had id `pid` at time `at` (seconds since 1970) has ended. */
bool asf__process_ended(pid_t pid, int64_t at);
/* asf__proc_number: read the number after the first `key` in a file of /proc, within its first 4 KB. */
bool asf__proc_number(const char *path, const char *key, int base, uint64_t *value);
mode_t asf__umask(void);

#pragma GCC visibility pop

#endif
