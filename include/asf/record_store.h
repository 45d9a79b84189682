/* SPDX-License-Identifier: MIT
 *
 * record_store.h - stores of formats, for records that carry only their format's hash: the format
 * service of the paper, section 3.2.2.  A format's name is the hash of its contents, so no service
 * issues names, and a loaded format can be verified.
 *
 * Thread safety: every call may be made from any thread.  Errors are those of <asf/record.h>.
 */
#ifndef ASF_RECORD_STORE_H
#define ASF_RECORD_STORE_H

#include <asf/record.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASF_RECORD_STORE_VERSION 1

/* The functions of a program's own store.  Several threads may call them at once; they return a
 * negated errno value on failure. */
struct asf_record_store_ops {
    size_t size;      /* sizeof(struct asf_record_store_ops), as compiled */
    unsigned version; /* ASF_RECORD_STORE_VERSION */
    const char *name;

    /* load: copy the description for a hash, at most `room` bytes of it.
     * returns  its length; -ENOENT: the hash is not known. */
    ssize_t (*load)(void *data, const unsigned char hash[16], void *description, size_t room);
    /* save: store a description, which may already be there. */
    int (*save)(void *data, const unsigned char hash[16], const void *description, size_t length);
    /* close: the store is no longer used; may be NULL. */
    void (*close)(void *data);
};

/* asf_record_store_with: make a store from these functions.
 *   ops  must stay valid until the store is freed
 * returns  0; -EINVAL: another version, or a function is missing; -ENOMEM. */
ASF_EXPORT int asf_record_store_with(const struct asf_record_store_ops *ops, void *data,
                                     struct asf_record_store **store);

/* asf_record_store_directory: store formats in the files of a directory, which is made if necessary.
 * Any number of processes may use it at once, also by NFS: a file gets its name when it is complete.
 * returns  0, and the store (asf_record_store_free); -ENOTDIR: the path is not a
 *          directory; errors of mkdir; -ENOMEM. */
ASF_EXPORT int asf_record_store_directory(const char *path, struct asf_record_store **store);

/* asf_record_store_free: free a store.  NULL is allowed.  Writers and readers that use the store must
 * have been freed before. */
ASF_EXPORT void asf_record_store_free(struct asf_record_store *store);

/* asf_record_store_put: save a format.  The store is not called for formats that were saved or loaded
 * recently.
 * returns  0; the store's error. */
ASF_EXPORT int asf_record_store_put(struct asf_record_store *store, struct asf_record_format *format);

/* asf_record_store_get: load the format for a hash.  The store is not trusted: the hash is computed
 * again.
 * returns  0, and the format, which the caller frees; -ENOENT; -EBADMSG: the
 *          store has another description under this hash. */
ASF_EXPORT int asf_record_store_get(struct asf_record_store *store, const unsigned char hash[16],
                                    struct asf_record_format **format);

#ifdef __cplusplus
}
#endif
#endif
