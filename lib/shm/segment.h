/* SPDX-License-Identifier: MIT
 *
 * segment.h - segments of shared memory: the head with the label, the segments that this process has
 * attached, and the backends that make the memory.  Failures are negated errno values, and
 * asf__segment_why has the words.
 */
#ifndef ASF_LIB_SEGMENT_H
#define ASF_LIB_SEGMENT_H

#include <errno.h>
#include <stdbool.h>

#include <asf/shm.h>

#pragma GCC visibility push(hidden)

/* A label is text, a newline and a null byte.  Magic and size follow it. */
enum { ASF_SEGMENT_ID = 32, ASF_SEGMENT_TEXT = 112 };

/* The head of a segment.  Its magic is written last, so a head with the magic is complete. */
struct asf_segment_head {
    char text[ASF_SEGMENT_TEXT];
    uint64_t magic;
    uint64_t size; /* bytes of data */
};
_Static_assert(sizeof(struct asf_segment_head) == ASF_SHM_HEAD, "the note's 128 bytes");

struct asf_segment_backend;

/* A segment that this process has attached. */
struct asf_segment {
    struct asf_segment *next; /* in the list of all entries; never changes */
    char *shown;              /* the program's address of it: base, or NULL when the entry is free */
    const struct asf_segment_backend *backend;
    char id[ASF_SEGMENT_ID];
    char *base;
    size_t size, data; /* bytes in all, and of data */
    int fd;            /* a descriptor on it, or -1 */
    int watch;         /* its slot in the fault table, or -1 */
    bool torn;         /* truncated while attached */
};

/* A segment, attached or not, as `look` describes it. */
struct asf_segment_state {
    struct asf_shm_info info;
    char label[ASF_SEGMENT_TEXT];
    uint64_t device, inode; /* those of a file; 0: it is no file */
    pid_t counted;
    bool held; /* a process holds it; it is freed when that process ends */
};

typedef int asf_segment_visit(struct asf_segment_state *state, void *arg);

/* A backend makes segments.  Each identifier belongs to one backend. */
struct asf_segment_backend {
    const char *name;
    bool truncatable; /* another process can truncate an attached segment */
    /* owns: whether the identifier is one of this backend's. */
    bool (*owns)(const char *id);
    /* create: make s->size zero bytes, attached at s->base, and set s->id.  Calls asf__segment_label,
     * if it can before others can see the segment. */
    int (*create)(struct asf_segment *s, const char *name, mode_t mode);
    /* attach: attach segment s->id at s->base; set s->size, and s->fd if it has a descriptor. */
    int (*attach)(struct asf_segment *s, bool update);
    /* adopt: attach the segment of the caller's descriptor; NULL: the backend has no descriptors. */
    int (*adopt)(struct asf_segment *s, int fd, bool update);
    int (*detach)(struct asf_segment *s);
    int (*remove)(const char *id);
    /* look: call `visit` for the segment `id`, or for all when `id` is NULL. */
    int (*look)(const char *id, asf_segment_visit *visit, void *arg);
};

extern const struct asf_segment_backend asf__segment_posix, asf__segment_sysv, asf__segment_memfd;

/* Why the last call in this thread failed. */
extern _Thread_local const char *asf__segment_why;
static inline int asf__segment_fail(int code, const char *why) {
    asf__segment_why = why;
    return code;
}

/* --- for the interface and the stream module (segment.c) ----------------------- */

int asf__segment_create(const char *backend, const char *name, mode_t mode, size_t nbytes, char **shm);
int asf__segment_open(const char *label, bool update, char **shm);
/* asf__segment_open_fd: attach the segment of a descriptor, whatever its label. */
int asf__segment_open_fd(int fd, bool update, char **shm);
/* asf__segment_fd: open a descriptor, at the first byte of data. */
int asf__segment_fd(const char *label, bool update);
int asf__segment_close(char *shm);
/* asf__segment_of: the attached segment at the address `shm`, or NULL. */
const struct asf_segment *asf__segment_of(const char *shm);
int asf__segment_remove(const char *label);
int asf__segment_each(int (*visit)(const struct asf_shm_info *info, void *arg), void *arg);

/* --- for the backends ------------------------------------------------------------ */

/* asf__segment_label: write the head, its magic last. */
void asf__segment_label(struct asf_segment *s, const char *name);
/* asf__segment_describe: fill in label and state from the head of a segment of `size` bytes; `head` is
 * NULL when it cannot be read. */
void asf__segment_describe(struct asf_segment_state *state, const char *id, size_t size,
                           const struct asf_segment_head *head);

/* --- facts from /proc (segment_users.c) ------------------------------------------------ */

/* asf__hidden: whether an entry of /proc cannot be read because it is gone or another user's.  Other
 * errors are reported. */
static inline bool asf__hidden(int rc) {
    return rc == -ENOENT || rc == -ESRCH || rc == -EACCES || rc == -EPERM;
}
/* asf__count_users: set info.attached of the segments that are objects in a file system, by one pass
 * over the maps of all processes.  Reports errors: a user that is not counted could make a segment
 * look unused. */
int asf__count_users(struct asf_segment_state *states, size_t count);
/* asf__process_start: a number for the time at which a process was started, different for any later
 * process with the same id; 0: it has ended; 1: it exists, but /proc does not tell its start. */
uint64_t asf__process_start(pid_t pid);
/* asf__process_ended: whether the process that had this id at time `at` (seconds since 1970) has
 * ended. */
bool asf__process_ended(pid_t pid, int64_t at);
/* asf__proc_number: read the number after the first `key` in a short file of /proc. */
bool asf__proc_number(const char *path, const char *key, int base, uint64_t *value);
mode_t asf__umask(void);

#pragma GCC visibility pop

#endif
