/* SPDX-License-Identifier: MIT
 *
 * segment.c - segments of shared memory: writes and verifies labels, and keeps a list of the segments that
 * this process has attached.  The list changes by single atomic exchanges, so that a forked child finds it
 * consistent.
 */
#define _GNU_SOURCE
#include "lib/shm/segment.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/sys/fault.h"
#include "lib/sys/options.h"
#include "lib/sys/syscalls.h"
#include "lib/text/format.h"

#define MAGIC 0x316d687320465341u /* "ASF shm1" */

_Thread_local const char *asf__segment_why = "nothing has failed";

enum { BACKENDS = 3 };
static const struct asf_segment_backend *const backends[BACKENDS] = {&asf__segment_posix, &asf__segment_sysv,
                                                                     &asf__segment_memfd};

/* --- the list of attached segments ---------------------------------------------- */

static struct asf_segment *all;
static char claimed; /* `shown` points here while an entry is being changed */

static bool claim_entry(struct asf_segment *s, char *shown) {
    return __atomic_compare_exchange_n(&s->shown, &shown, &claimed, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
}

static void publish_entry(struct asf_segment *s, char *shown) {
    __atomic_store_n(&s->shown, shown, __ATOMIC_RELEASE);
}

/* Returns a claimed entry.  Entries are reused and never freed, so that readers need no lock. */
static struct asf_segment *new_entry(void) {
    struct asf_segment *s = __atomic_load_n(&all, __ATOMIC_ACQUIRE);
    while (s && !claim_entry(s, NULL))
        s = s->next;
    if (!s) {
        if (!(s = calloc(1, sizeof *s)))
            return NULL;
        s->shown = &claimed;
        s->next = __atomic_load_n(&all, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(&all, &s->next, s, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            ;
    }
    s->base = NULL;
    s->fd = s->watch = -1;
    s->truncated = false;
    return s;
}

static struct asf_segment *entry_of(const char *shm) {
    struct asf_segment *s = shm && shm != &claimed ? __atomic_load_n(&all, __ATOMIC_ACQUIRE) : NULL;
    while (s && __atomic_load_n(&s->shown, __ATOMIC_ACQUIRE) != shm)
        s = s->next;
    return s;
}

const struct asf_segment *asf__segment_of(const char *shm) {
    return entry_of(shm);
}

/* Detaches the segment and frees its entry, which the caller has claimed. */
static int detach_entry(struct asf_segment *s) {
    if (s->fd >= 0)
        asf__sys.close(s->fd);
    if (s->watch >= 0) {
        (void)*(volatile const char *)(s->base + s->size - 1); /* a fault shows a truncation */
        asf__unwatch(s->watch);
    }
    int rc = s->base ? s->backend->detach(s) : 0;
    if (rc == 0 && s->truncated)
        rc = asf__segment_fail(-EIO, "the segment was truncated while it was attached");
    publish_entry(s, NULL);
    return rc;
}

int asf__segment_close(char *shm) {
    struct asf_segment *s = entry_of(shm);
    if (!s || !claim_entry(s, shm))
        return asf__segment_fail(-EINVAL, "no segment is attached there");
    return detach_entry(s);
}

/* --- labels --------------------------------------------------------------------------- */

/* Returns the length of a name, cut to ASF_SHM_NAME.  A cut name must not end with a blank. */
static size_t name_length(const char *name) {
    size_t n = name ? strnlen(name, ASF_SHM_NAME) : 0;
    bool cut = n == ASF_SHM_NAME && name[n] != '\0';
    while (cut && n > 0 && name[n - 1] == ' ')
        n--;
    return n;
}

static bool is_segment_name(const char *name, size_t n) {
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)name[i] < ' ' || name[i] == 0x7f)
            return false;
    return n > 0 && name[0] != ' ' && name[n - 1] != ' ';
}

void asf__segment_label(struct asf_segment *s, const char *name) {
    struct asf_segment_head *head = (struct asf_segment_head *)(void *)s->base;
    asf__format_text(head->text, sizeof head->text, "%s %.*s\n", s->id, (int)name_length(name), name);
    head->size = s->data;
    __atomic_store_n(&head->magic, MAGIC, __ATOMIC_RELEASE);
}

static const struct asf_segment_backend *backend_of(const char *id) {
    for (size_t i = 0; i < BACKENDS; i++)
        if (backends[i]->owns(id))
            return backends[i];
    return NULL;
}

/* A parsed label.  `text` is the whole label without its newline. */
struct label {
    const struct asf_segment_backend *backend;
    char id[ASF_SEGMENT_ID];
    char text[ASF_SEGMENT_TEXT];
    bool named;
};

static int parse_label(const char *label, struct label *l) {
    static const char why[] = "not a label: a label reads IDENTIFIER NAME";
    size_t n = label ? strnlen(label, ASF_SEGMENT_TEXT) : 0;
    if (n > 0 && label[n - 1] == '\n')
        n--;
    if (n == 0 || n > ASF_SEGMENT_TEXT - 2)
        return asf__segment_fail(-EINVAL, why);
    memcpy(l->text, label, n);
    l->text[n] = '\0';
    size_t id = strcspn(l->text, " ");
    if (id >= sizeof l->id)
        return asf__segment_fail(-EINVAL, why);
    memcpy(l->id, label, id);
    l->id[id] = '\0';
    l->named = id < n;
    l->backend = backend_of(l->id);
    if (!l->backend || (l->named && !is_segment_name(l->text + id + 1, n - id - 1)))
        return asf__segment_fail(-EINVAL, why);
    return 0;
}

/* Returns why the head of a segment of `size` bytes is invalid, or NULL if it is valid. */
static const char *head_error(const struct asf_segment_head *head, size_t size, const char *id) {
    const char *end = memchr(head->text, '\n', sizeof head->text - 1);
    size_t n = strlen(id);
    if (head->magic != MAGIC)
        return "the object has no label: foreign, or never completed";
    if (head->size != size - ASF_SHM_HEAD)
        return "the object's size differs from its label: truncated or forged";
    if (!end || end[1] != '\0' || strncmp(head->text, id, n) != 0 || head->text[n] != ' ' ||
        !is_segment_name(head->text + n + 1, (size_t)(end - head->text) - n - 1))
        return "the object's label names another segment: a copy, or forged";
    return NULL;
}

static const char too_small[] = "the object is too small for a label: truncated or foreign";

static int verify(struct asf_segment *s, const char *text) {
    struct asf_segment_head head; /* a copy, because other processes can change the head meanwhile */
    if (s->size < ASF_SHM_HEAD)
        return asf__segment_fail(-ESTALE, too_small);
    const uint64_t *magic = &((struct asf_segment_head *)(void *)s->base)->magic;
    uint64_t seen = __atomic_load_n(magic, __ATOMIC_ACQUIRE);
    memcpy(&head, s->base, sizeof head);
    head.magic = seen;
    const char *error = head_error(&head, s->size, s->id);
    if (error)
        return asf__segment_fail(-ESTALE, error);
    size_t n = strlen(text);
    if (strncmp(head.text, text, n) != 0 || head.text[n] != '\n')
        return asf__segment_fail(-ESTALE, "the object's label has another name: stale or forged");
    s->data = head.size;
    return 0;
}

/* Whether the text can be the beginning of a label of `id`: a creator may be killed after any byte. */
static bool is_begun(const char *text, const char *id) {
    return text[0] == '\0' || strncmp(text, id, strnlen(text, strlen(id))) == 0;
}

void asf__segment_describe(struct asf_segment_state *state, const char *id, size_t size,
                           const struct asf_segment_head *head) {
    struct asf_shm_info *i = &state->info;
    bool small = size < ASF_SHM_HEAD;
    bool whole = !small && head && !head_error(head, size, id);
    i->state = whole                                          ? ASF_SHM_WHOLE
               : small                                        ? ASF_SHM_BROKEN
               : !head                                        ? ASF_SHM_UNREADABLE
               : head->magic == 0 && is_begun(head->text, id) ? ASF_SHM_UNFINISHED
                                                              : ASF_SHM_BROKEN;
    i->size = whole ? head->size : size;
    asf__format_text(state->label, sizeof state->label, "%.*s",
                     whole ? (int)strcspn(head->text, "\n") : ASF_SEGMENT_TEXT, whole ? head->text : id);
    i->label = state->label;
}

/* --- making and attaching ------------------------------------------------------------- */

static const struct asf_segment_backend *backend_named(const char *name) {
    for (size_t i = 0; i < BACKENDS; i++)
        if (!strcmp(backends[i]->name, name))
            return backends[i];
    return NULL;
}

/* Watches the segment for faults: without that a truncation would end the process by SIGBUS. */
static int guard_segment(struct asf_segment *s) {
    if (s->backend->truncatable && !asf__can_catch_faults())
        return asf__segment_fail(-ENOMEM,
                                 "the segment could not be guarded against truncation: the thread blocks "
                                 "SIGBUS, or the program handles it");
    s->watch = asf__watch(s->base, s->size, &s->truncated, NULL, INT_MAX);
    return s->watch < 0 ? asf__segment_fail(-ENOMEM, "the segment could not be guarded against truncation")
                        : 0;
}

int asf__segment_create(const char *backend, const char *name, mode_t mode, size_t nbytes, char **shm) {
    const struct asf_segment_backend *b = backend_named(backend ? backend : asf__options()->shm);
    *shm = NULL;
    if (!b)
        return asf__segment_fail(-EINVAL, "unknown backend: the backends are posix, sysv and memfd");
    if (!is_segment_name(name, name_length(name)))
        return asf__segment_fail(-EINVAL, "invalid name: a name is not empty and has no control "
                                          "characters and no blank at either end");
    if (nbytes > PTRDIFF_MAX - ASF_SHM_HEAD)
        return asf__segment_fail(-EOVERFLOW, "the size exceeds the address space");
    struct asf_segment *s = new_entry();
    if (!s)
        return asf__segment_fail(-ENOMEM, "there is no memory for a list entry");
    s->backend = b;
    s->data = nbytes;
    s->size = nbytes + ASF_SHM_HEAD;
    int rc = b->create(s, name, mode & 0777);
    if (rc < 0) {
        publish_entry(s, NULL);
        return rc;
    }
    if ((rc = guard_segment(s)) < 0) {
        b->remove(s->id);
        detach_entry(s);
        return rc;
    }
    *shm = s->base;
    publish_entry(s, s->base);
    return 0;
}

/* Attaches the segment that the label names, by the descriptor if `fd` is not -1, and verifies it.  Other
 * threads cannot see the entry yet. */
static int attach(const char *label, int fd, bool update, struct asf_segment **attached) {
    struct label l;
    int rc = parse_label(label, &l);
    if (rc == 0 && !l.named)
        rc = asf__segment_fail(-EINVAL, "the label lacks the name");
    if (rc < 0)
        return rc;
    struct asf_segment *s = new_entry();
    if (!s)
        return asf__segment_fail(-ENOMEM, "there is no memory for a list entry");
    s->backend = l.backend;
    memcpy(s->id, l.id, sizeof s->id);
    rc = fd < 0 ? s->backend->attach(s, update) : s->backend->adopt(s, fd, update);
    if (rc == 0)
        rc = guard_segment(s);
    if (rc == 0)
        rc = verify(s, l.text);
    if (rc < 0)
        detach_entry(s);
    *attached = s;
    return rc;
}

static char *publish_attached(struct asf_segment *s) {
    if (s->fd >= 0)
        asf__sys.close(s->fd);
    s->fd = -1;
    char *shm = s->base;
    publish_entry(s, shm);
    return shm;
}

int asf__segment_open(const char *label, bool update, char **shm) {
    struct asf_segment *s;
    int rc = attach(label, -1, update, &s);
    *shm = rc < 0 ? NULL : publish_attached(s);
    return rc;
}

int asf__segment_open_fd(int fd, bool update, char **shm) {
    struct asf_segment_head head;
    struct asf_segment *s;
    *shm = NULL;
    ssize_t n = asf__sys.pread(fd, &head, sizeof head, 0);
    if (n < 0)
        return asf__segment_fail((int)n, "the descriptor's file cannot be read");
    struct label l;
    size_t length = n == (ssize_t)sizeof head ? strnlen(head.text, sizeof head.text) : 0;
    head.text[length < sizeof head.text ? length : 0] = '\0';
    if (parse_label(head.text, &l) < 0 || !l.backend->adopt)
        return asf__segment_fail(-ESTALE, "the descriptor's file has no segment label: foreign");
    int rc = attach(head.text, fd, update, &s);
    *shm = rc < 0 ? NULL : publish_attached(s);
    return rc;
}

int asf__segment_fd(const char *label, bool update) {
    struct asf_segment *s;
    int rc = attach(label, -1, update, &s);
    if (rc < 0)
        return rc;
    int fd = s->fd;
    s->fd = -1;
    detach_entry(s);
    if (fd < 0)
        return asf__segment_fail(-EOPNOTSUPP, "SysV segments have no descriptors");
    asf__sys.lseek(fd, ASF_SHM_HEAD, SEEK_SET);
    return fd;
}

/* --- existing segments ------------------------------------------------------------------- */

static int keep(struct asf_segment_state *state, void *arg) {
    *(struct asf_segment_state *)arg = *state;
    return 1;
}

int asf__segment_remove(const char *label) {
    struct label l;
    struct asf_segment_state state;
    int rc = parse_label(label, &l);
    if (rc < 0)
        return rc;
    rc = l.backend->look(l.id, keep, &state);
    if (rc == 0)
        return asf__segment_fail(-ENOENT, "there is no such segment");
    if (rc < 0)
        return rc;
    if (state.info.state == ASF_SHM_WHOLE && !l.named)
        return asf__segment_fail(-EINVAL, "the label lacks the name of the segment");
    if (state.info.state == ASF_SHM_UNREADABLE && l.named)
        return asf__segment_fail(-EACCES, "its mode does not permit this user to read its label");
    if (strcmp(state.label, l.text) != 0)
        return asf__segment_fail(-ESTALE, "the segment there does not have this label");
    return l.backend->remove(l.id);
}

struct collection {
    struct asf_segment_state *states;
    size_t count, room;
};

static int collect_state(struct asf_segment_state *state, void *arg) {
    struct collection *c = arg;
    if (c->count == c->room) {
        size_t room = c->room * 2 + 16;
        struct asf_segment_state *more = reallocarray(c->states, room, sizeof *more);
        if (!more)
            return asf__segment_fail(-ENOMEM, "there is no memory for the list of segments");
        c->states = more;
        c->room = room;
    }
    c->states[c->count++] = *state;
    return 0;
}

int asf__segment_each(int (*visit)(const struct asf_shm_info *, void *), void *arg) {
    struct collection c = {0};
    int rc = 0, saved = errno;
    for (size_t i = 0; i < BACKENDS && rc == 0; i++)
        rc = backends[i]->look(NULL, collect_state, &c);
    if (rc == 0)
        rc = asf__count_users(c.states, c.count);
    errno = saved;
    for (size_t i = 0; i < c.count && rc == 0; i++) {
        struct asf_shm_info *info = &c.states[i].info;
        info->label = c.states[i].label;
        bool ours = info->state == ASF_SHM_WHOLE || info->state == ASF_SHM_UNFINISHED;
        info->leaked = ours && !c.states[i].held && info->attached == 0 &&
                       asf__process_ended(info->creator, info->created);
        rc = visit(info, arg);
    }
    free(c.states);
    return rc;
}
