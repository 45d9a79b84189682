/* SPDX-License-Identifier: MIT
 *
 * record_store.c - stores for formats.  Every store has a cache of recent formats and checks of loaded
 * descriptions.  In a directory store each format is a file named by its hash.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <asf/record_store.h>

#include "interfaces/record/record_format.h"

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

/* Does not trust the store: parses the description, and verifies its hash. */
static int load_checked(struct asf_record_store *s, const unsigned char *hash, struct asf_record_format **f) {
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
    int rc = load_checked(s, hash, f);
    if (rc == 0)
        remember(s, *f);
    return rc;
}

/* --- a store in a directory -------------------------------------------------------------------- */

enum { NAME = 64 }; /* bytes of a file name and the slash before it */

/* Sets `path` to "DIRECTORY/HASH.format" or, if not `final`, to the name of a temporary file. */
static int path_of(char *path, const char *directory, const unsigned char *hash, bool final) {
    static unsigned number;
    char name[33];
    size_t length = strlen(directory);
    for (int i = 0; i < 16; i++)
        snprintf(name + 2 * i, 3, "%02x", hash[i]);
    if (length + NAME > PATH_MAX)
        return -ENAMETOOLONG;
    if (final)
        snprintf(path, PATH_MAX, "%s/%s.format", directory, name);
    else
        snprintf(path, PATH_MAX, "%s/.%.8s.%d.%u", directory, name, (int)gettid(),
                 __atomic_fetch_add(&number, 1, __ATOMIC_RELAXED));
    return 0;
}

static ssize_t load_file(void *directory, const unsigned char hash[16], void *description, size_t room) {
    char path[PATH_MAX];
    ssize_t n = (ssize_t)room;
    int rc = path_of(path, directory, hash, true);
    struct asf_cios *c = rc == 0 ? asf_sopen(path, O_RDONLY | O_CLOEXEC, 0, &rc) : NULL;
    if (!c)
        return rc;
    const void *p = asf_salloc(c, &n);
    if (p) {
        memcpy(description, p, (size_t)n);
        asf_sfree(c, (void *)(uintptr_t)p);
    }
    asf_sclose(c);
    return n;
}

static int write_file(const char *path, const void *description, size_t length) {
    int rc;
    ssize_t n = (ssize_t)length;
    struct asf_cios *c = asf_sopen(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666, &rc);
    if (!c)
        return rc;
    void *p = asf_salloc(c, &n);
    if (p) {
        memcpy(p, description, length);
        asf_sfree(c, p);
    }
    rc = asf_sclose(c);
    return p ? rc : (int)n;
}

/* Writes a temporary file and renames it, because concurrent writers store identical content.  If a killed
 * thread or another machine has made a file of the temporary name, tries the next name. */
static int write_and_rename(const char *path, char *directory, const unsigned char hash[16],
                            const void *description, size_t length) {
    char fresh[PATH_MAX];
    int rc;
    do {
        rc = path_of(fresh, directory, hash, false);
        if (rc < 0)
            return rc;
        rc = write_file(fresh, description, length);
    } while (rc == -EEXIST);
    if (rc == 0 && rename(fresh, path) != 0)
        rc = -errno;
    if (rc < 0)
        unlink(fresh);
    return rc;
}

static int save_file(void *directory, const unsigned char hash[16], const void *description, size_t length) {
    char path[PATH_MAX];
    int saved = errno;
    int rc = path_of(path, directory, hash, true);
    if (rc == 0 && access(path, F_OK) != 0)
        rc = write_and_rename(path, directory, hash, description, length);
    errno = saved;
    return rc;
}

static const struct asf_record_store_ops directory_ops = {.size = sizeof directory_ops,
                                                          .version = ASF_RECORD_STORE_VERSION,
                                                          .name = "directory",
                                                          .load = load_file,
                                                          .save = save_file,
                                                          .close = free};

static int make_directory(const char *path) {
    struct stat st;
    if (mkdir(path, 0777) == 0)
        return 0;
    if (errno != EEXIST || stat(path, &st) != 0)
        return asf__record_fail(-errno, "%.150s: the directory cannot be created: %.64s", path,
                                strerrordesc_np(errno));
    return S_ISDIR(st.st_mode) ? 0 : asf__record_fail(-ENOTDIR, "%.200s: not a directory", path);
}

int asf_record_store_directory(const char *path, struct asf_record_store **store) {
    int saved = errno, rc = make_directory(path);
    *store = NULL;
    errno = saved;
    if (rc < 0)
        return rc;
    char *copy = strdup(path);
    rc = copy ? asf_record_store_with(&directory_ops, copy, store) : asf__record_no_memory("for a store");
    if (rc < 0)
        free(copy);
    return rc;
}
