/* SPDX-License-Identifier: MIT
 *
 * record_directory.c - a format store in a directory: each format is a file named by its hash.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <asf/record_store.h>

#include "interfaces/record/record_format.h"

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

static ssize_t load(void *directory, const unsigned char hash[16], void *description, size_t room) {
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

/* Writes a temporary file and renames it: concurrent writers store identical content.  If the temporary name
 * exists, left by a killed thread or used on another machine, tries the next one. */
static int save_at(const char *path, char *directory, const unsigned char hash[16], const void *description,
                   size_t length) {
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

static int save(void *directory, const unsigned char hash[16], const void *description, size_t length) {
    char path[PATH_MAX];
    int saved = errno;
    int rc = path_of(path, directory, hash, true);
    if (rc == 0 && access(path, F_OK) != 0)
        rc = save_at(path, directory, hash, description, length);
    errno = saved;
    return rc;
}

static const struct asf_record_store_ops directory_ops = {.size = sizeof directory_ops,
                                                          .version = ASF_RECORD_STORE_VERSION,
                                                          .name = "directory",
                                                          .load = load,
                                                          .save = save,
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
