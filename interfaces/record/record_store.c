/* SPDX-License-Identifier: MIT
 *
 * record_store.c - the part that all format stores share: a cache of recent formats, and checks of loaded
 * descriptions.
 */
#define _GNU_SOURCE
#include "interfaces/record/record_stored.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <asf/record_store.h>

enum { REMEMBERED = 256 };

struct asf_record_store {
    const struct asf_record_store_ops *ops;
    void *data;
    pthread_mutex_t lock;                          /* protects `formats` */
    struct asf_record_format *formats[REMEMBERED]; /* cache, indexed by hash */
};

int asf_record_store_with(const struct asf_record_store_ops *ops, void *data,
                          struct asf_record_store **store) {
    *store = NULL;
    if (!ops || ops->size != sizeof *ops || ops->version != ASF_RECORD_STORE_VERSION || !ops->load ||
        !ops->save)
        return asf__record_fail(-EINVAL, "the store has another version, or lacks functions");
    struct asf_record_store *s = calloc(1, sizeof *s);
    if (!s)
        return asf__record_no_memory("for a store");
    s->ops = ops;
    s->data = data;
    pthread_mutex_init(&s->lock, NULL);
    *store = s;
    return 0;
}

void asf_record_store_free(struct asf_record_store *s) {
    if (!s)
        return;
    for (int i = 0; i < REMEMBERED; i++)
        asf_record_format_free(s->formats[i]);
    if (s->ops->close)
        s->ops->close(s->data);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* The cache entry for a hash.  A format replaces another one with the same index. */
static struct asf_record_format **cache_entry(struct asf_record_store *s, const unsigned char *hash) {
    return &s->formats[hash[0] % REMEMBERED];
}

static struct asf_record_format *remembered(struct asf_record_store *s, const unsigned char *hash) {
    pthread_mutex_lock(&s->lock);
    struct asf_record_format *f = *cache_entry(s, hash);
    f = f && !memcmp(f->hash, hash, sizeof f->hash) ? asf__record_keep(f) : NULL;
    pthread_mutex_unlock(&s->lock);
    return f;
}

static void remember(struct asf_record_store *s, struct asf_record_format *f) {
    pthread_mutex_lock(&s->lock);
    struct asf_record_format **at = cache_entry(s, f->hash), *before = *at;
    *at = asf__record_keep(f);
    pthread_mutex_unlock(&s->lock);
    asf_record_format_free(before);
}

int asf_record_store_put(struct asf_record_store *s, struct asf_record_format *f) {
    struct asf_record_format *known = remembered(s, f->hash);
    if (known) {
        asf_record_format_free(known);
        return 0;
    }
    int rc = s->ops->save(s->data, f->hash, f->description, f->length);
    if (rc < 0)
        return asf__record_fail(rc, "the store (%.32s) cannot save '%.64s': %.64s", s->ops->name,
                                asf__root(f)->name, strerrordesc_np(-rc));
    remember(s, f);
    return 0;
}

static int load(struct asf_record_store *s, const unsigned char *hash, struct asf_record_format **f) {
    void *description = malloc(DESCRIPTION_MOST);
    if (!description)
        return asf__record_no_memory("for a format");
    ssize_t n = s->ops->load(s->data, hash, description, DESCRIPTION_MOST);
    int rc = n >= 0 ? asf_record_parse(description, (size_t)n, f)
                    : asf__record_fail((int)n, "the store (%.32s) does not have the format: %.64s",
                                       s->ops->name, strerrordesc_np((int)-n));
    free(description);
    if (rc < 0 || !memcmp((*f)->hash, hash, sizeof(*f)->hash))
        return rc;
    asf_record_format_free(*f);
    *f = NULL;
    return asf__record_fail(-EBADMSG, "the store (%.32s) has another format under the hash", s->ops->name);
}

int asf_record_store_get(struct asf_record_store *s, const unsigned char hash[16],
                         struct asf_record_format **f) {
    *f = remembered(s, hash);
    if (*f)
        return 0;
    int rc = load(s, hash, f);
    if (rc == 0)
        remember(s, *f);
    return rc;
}

int asf__load_format(struct asf_record_store *s, const unsigned char hash[16], struct asf_record_format **f) {
    if (!s)
        return asf__record_fail(-ENOENT, "the record's format is not in the stream, and there is no store");
    return asf_record_store_get(s, hash, f);
}
