/* SPDX-License-Identifier: MIT
 *
 * segment.h - segments of shared memory: the labelled head, what this process
 * has attached, and the backends that the memory comes from.  Failures are
 * negated errno values, and asf__segment_why has the words.
 */
#ifndef ASF_LIB_SEGMENT_H
#define ASF_LIB_SEGMENT_H

#include <errno.h>
#include <stdbool.h>

#include <asf/shm.h>

#pragma GCC visibility push(hidden)

/* A label is its text, a newline and a null byte; then come magic and size. */
enum { ASF_SEGMENT_ID = 32, ASF_SEGMENT_TEXT = 112 };

/* The head: its magic is written last, so that what has it is whole. */
struct asf_segment_head {
    char text[ASF_SEGMENT_TEXT];
    uint64_t magic;
    uint64_t size; /* bytes of data */
};
_Static_assert(sizeof(struct asf_segment_head) == ASF_SHM_HEAD, "the note's 128 bytes");

struct asf_segment_backend;

/* A segment that this process has attached. */
struct asf_segment {
    struct asf_segment *next; /* in the list of all; never changes */
    char *shown;              /* what the program knows it by: base, or NULL when free */
    const struct asf_segment_backend *backend;
    char id[ASF_SEGMENT_ID];
    char *base;
    size_t size, data; /* bytes of all, and of data */
    int fd;            /* a descriptor on it, or -1 */
    int watch;         /* its slot in the fault table; -1: not yet */
    bool torn;         /* it was truncated while attached */
};

/* What one of them looks like from outside. */
struct asf_segment_state {
    struct asf_shm_info info;
    char label[ASF_SEGMENT_TEXT];
    uint64_t device, inode; /* of an object in a file system */
    pid_t counted;
    bool held; /* by a process: it goes when that does */
};

typedef int asf_segment_visit(struct asf_segment_state *state, void *arg);

/* A backend: where segments come from.  Each identifier belongs to one. */
struct asf_segment_backend {
    const char *name;
    bool truncatable; /* by another process, while it is attached */
    /* owns: whether this is an identifier of this backend's. */
    bool (*owns)(const char *id);
    /* create: memory of s->size zero bytes, attached at s->base, with s->id.
     * Calls asf__segment_label before others can see the segment, if it can. */
    int (*create)(struct asf_segment *s, const char *name, mode_t mode);
    /* attach: the memory of s->id at s->base; its size; s->fd if it has one. */
    int (*attach)(struct asf_segment *s, bool update);
    /* adopt: the same, of what the caller's descriptor is on; NULL: none can be. */
    int (*adopt)(struct asf_segment *s, int fd, bool update);
    int (*detach)(struct asf_segment *s);
    int (*remove)(const char *id);
    /* look: tell of one, or of all when `id` is NULL. */
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
/* asf__segment_open_fd: what a descriptor is on, whatever its label. */
int asf__segment_open_fd(int fd, bool update, char **shm);
/* asf__segment_fd: a descriptor at the first byte of data. */
int asf__segment_fd(const char *label, bool update);
int asf__segment_close(char *shm);
/* asf__segment_of: the attached segment that begins here, or NULL. */
const struct asf_segment *asf__segment_of(const char *shm);
int asf__segment_remove(const char *label);
int asf__segment_each(int (*visit)(const struct asf_shm_info *info, void *arg), void *arg);

/* --- for the backends ------------------------------------------------------------ */

/* asf__segment_label: write the head; the magic last. */
void asf__segment_label(struct asf_segment *s, const char *name);
/* asf__segment_describe: label and state from the head of a segment of `size`
 * bytes; NULL when it cannot be read. */
void asf__segment_describe(struct asf_segment_state *state, const char *id, size_t size,
                           const struct asf_segment_head *head);

/* --- what /proc tells (segment_users.c) --------------------------------------------- */

/* asf__hidden: whether what stands in /proc cannot be looked at since it is gone or another
 * user's; what else fails is to be told. */
static inline bool asf__hidden(int rc) {
    return rc == -ENOENT || rc == -ESRCH || rc == -EACCES || rc == -EPERM;
}
/* asf__count_users: set info.attached of those that are objects in a file
 * system, by one pass over all processes' maps.  Who is not counted might be taken for none. */
int asf__count_users(struct asf_segment_state *states, size_t count);
/* asf__process_start: when a process was started, as a number that no other with its id
 * has; 0: it has ended; 1: it is there, and no more is told. */
uint64_t asf__process_start(pid_t pid);
/* asf__process_ended: whether the process that had this id at that time is gone. */
bool asf__process_ended(pid_t pid, int64_t at);
/* asf__proc_number: the number after the first `key` in a short file. */
bool asf__proc_number(const char *path, const char *key, int base, uint64_t *value);
mode_t asf__umask(void);

#pragma GCC visibility pop

#endif
