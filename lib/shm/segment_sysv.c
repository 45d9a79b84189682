/* SPDX-License-Identifier: MIT
 *
 * segment_sysv.c - segments of shmget, as in Grosse's note.  The identifier is shmget's number, so that
 * "ipcrm -m" can remove a segment.  All keys begin with the same 20 bits, which identify a segment even if
 * its creator was killed before it wrote the label.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/syscall.h>

#include "lib/shm/segment.h"
#include "lib/sys/syscalls.h"
#include "lib/text/format.h"

/* The upper 20 bits of a key are KEY_MARK; the lower 12 distinguish segments. */
enum { KEY_MARK = 0x61736000, KEYS = 0x1000, STAT_ANY = 15 };

static bool has_our_key(const struct shmid_ds *ds) {
    return (ds->shm_perm.__key & ~(KEYS - 1)) == KEY_MARK;
}

/* Whether the identifier is a SysV one: only digits, no leading zero, at most INT32_MAX. */
static bool sysv_owns(const char *id) {
    size_t n = strspn(id, "0123456789");
    return n > 0 && n <= 10 && id[n] == '\0' && (id[0] != '0' || n == 1) && strtol(id, NULL, 10) <= INT32_MAX;
}

static int number_of_id(const char *id) {
    return (int)strtol(id, NULL, 10);
}

static int control(int id, int command, void *to) {
    return (int)asf__raw_syscall(SYS_shmctl, id, command, (long)to, 0);
}

/* Creates a segment with the first free key, from a random one on.  Returns -EEXIST if all keys are in use.
 */
static long get_segment(size_t size, mode_t mode) {
    unsigned start = 0;
    asf__raw_syscall(SYS_getrandom, (long)&start, sizeof start, 0, 0);
    for (unsigned i = 0; i < KEYS; i++) {
        long key = KEY_MARK | ((start + i) & (KEYS - 1));
        long id = asf__raw_syscall(SYS_shmget, key, (long)size, IPC_CREAT | IPC_EXCL | (long)mode, 0);
        if (id != -EEXIST)
            return id;
    }
    return -EEXIST;
}

static int cannot_get(long rc) {
    switch (rc) {
    case -EEXIST:
        return asf__segment_fail(-ENOSPC, "all keys are in use; remove some segments");
    case -EINVAL:
        return asf__segment_fail(-EFBIG, "the segment would be larger than SHMMAX (/proc/sys/kernel/shmmax)");
    case -ENOSPC:
        return asf__segment_fail(-ENOSPC,
                                 "the system's limit of segments (SHMMNI) or of their pages (SHMALL) "
                                 "is reached");
    case -ENOMEM:
        return asf__segment_fail(-ENOMEM, "there is no memory for the segment");
    default:
        return asf__segment_fail((int)rc, "shmget failed");
    }
}

static int map_segment(struct asf_segment *s, int flags) {
    int saved = errno, rc;
    void *p = shmat(number_of_id(s->id), NULL, flags);
    rc = p == (void *)-1 ? -errno : 0;
    errno = saved;
    s->base = rc < 0 ? NULL : p;
    if (rc == -EINVAL || rc == -EIDRM)
        return asf__segment_fail(-ENOENT,
                                 "there is no such segment: it was removed, or is on another system");
    if (rc == -EACCES)
        return asf__segment_fail(rc, "its mode does not permit this user to attach it");
    return rc < 0 ? asf__segment_fail(rc, "shmat failed") : 0;
}

static int sysv_detach(struct asf_segment *s) {
    return (int)asf__raw_syscall(SYS_shmdt, (long)s->base, 0, 0, 0);
}

static int sysv_remove(const char *id) {
    int rc = control(number_of_id(id), IPC_RMID, NULL);
    if (rc == -EINVAL || rc == -EIDRM)
        return asf__segment_fail(-ENOENT, "there is no such segment");
    return rc < 0 ? asf__segment_fail(rc, "it belongs to another user") : 0;
}

/* A process can create a read-only file and write it by the same descriptor.  shmat has no such exception. So
 * the segment is created and attached with mode 0600 set, and gets its final mode afterwards. */
static int set_mode(int id, mode_t mode) {
    struct shmid_ds ds;
    int rc = control(id, IPC_STAT, &ds);
    ds.shm_perm.mode = (unsigned short)mode;
    if (rc == 0)
        rc = control(id, IPC_SET, &ds);
    return rc < 0 ? asf__segment_fail(rc, "its mode could not be set") : 0;
}

static int sysv_create(struct asf_segment *s, const char *name, mode_t mode) {
    mode &= ~asf__umask(); /* shmget ignores the umask; apply it as open does */
    long id = get_segment(s->size, mode | 0600);
    if (id < 0)
        return cannot_get(id);
    asf__format_text(s->id, sizeof s->id, "%ld", id);
    int rc = map_segment(s, 0);
    if (rc == 0 && (mode & 0600) != 0600)
        rc = set_mode((int)id, mode);
    if (rc == 0)
        asf__segment_label(s, name);
    else if (s->base)
        sysv_detach(s);
    if (rc < 0)
        sysv_remove(s->id);
    return rc;
}

/* shmat can still attach a removed segment (SHM_DEST) until its last user detaches it; refuse it. */
static int sysv_attach(struct asf_segment *s, bool update) {
    struct shmid_ds ds;
    int rc = map_segment(s, update ? 0 : SHM_RDONLY);
    if (rc < 0)
        return rc;
    rc = control(number_of_id(s->id), IPC_STAT, &ds);
    if (rc < 0 || ds.shm_perm.mode & SHM_DEST)
        return asf__segment_fail(-ENOENT, "the segment has been removed");
    s->size = ds.shm_segsz;
    return 0;
}

static void describe_segment(struct asf_segment_state *state, int id, const struct shmid_ds *ds) {
    char text[ASF_SEGMENT_ID];
    struct asf_segment_head head;
    int saved = errno;
    void *p = shmat(id, NULL, SHM_RDONLY);
    errno = saved;
    bool readable = p != (void *)-1;
    if (readable && ds->shm_segsz >= sizeof head)
        memcpy(&head, p, sizeof head);
    if (readable)
        asf__raw_syscall(SYS_shmdt, (long)p, 0, 0, 0);
    asf__format_text(text, sizeof text, "%d", id);
    *state = (struct asf_segment_state){.info = {.backend = asf__segment_sysv.name,
                                                 .owner = ds->shm_perm.uid,
                                                 .mode = ds->shm_perm.mode & 0777,
                                                 .created = ds->shm_ctime,
                                                 .accessed = ds->shm_atime,
                                                 .attached = (int64_t)ds->shm_nattch,
                                                 .creator = ds->shm_cpid}};
    asf__segment_describe(state, text, ds->shm_segsz, readable ? &head : NULL);
}

static int sysv_look(const char *id, asf_segment_visit *visit, void *arg) {
    struct shm_info totals;
    struct asf_segment_state state;
    int last = control(0, SHM_INFO, &totals), rc = 0;
    if (last < 0 && last != -ENOSYS && !asf__hidden(last)) /* sandboxes return these */
        return asf__segment_fail(last, "the SysV segments could not be listed");
    for (int i = 0; i <= last && rc == 0; i++) {
        struct shmid_ds ds;
        int found = control(i, STAT_ANY, &ds);
        if (found < 0 || !has_our_key(&ds) || (id && found != number_of_id(id)))
            continue;
        describe_segment(&state, found, &ds);
        rc = visit(&state, arg);
    }
    return rc;
}

const struct asf_segment_backend asf__segment_sysv = {
    .name = "sysv",
    .owns = sysv_owns,
    .create = sysv_create,
    .attach = sysv_attach,
    .detach = sysv_detach,
    .remove = sysv_remove,
    .look = sysv_look,
};
