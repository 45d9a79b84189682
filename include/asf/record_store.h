/* SPDX-License-Identifier: MIT
 *
 * record_store.h - where the formats of records are kept that carry only their
 * format's hash: the format service of the paper, section 3.2.2, with the
 * contents for a name, so that nobody needs to issue one and what is loaded can
 * be verified.
 *
 * Thread safety: every call may be made from any thread.  Errors are those of
 * <asf/record.h>.
 */
#ifndef ASF_RECORD_STORE_H
#define ASF_RECORD_STORE_H

#include <asf/record.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASF_RECORD_STORE_VERSION 1

/* A store of a program's own.  A call may be made from several threads at once;
 * it gives a negated errno value when it fails. */
struct asf_record_store_ops {
    size_t size;      /* sizeof(struct asf_record_store_ops), as compiled */
    unsigned version; /* ASF_RECORD_STORE_VERSION */
    const char *name;

    /* load: the description for a hash, up to `room` bytes of it.
     * returns  its length; -ENOENT when it is not known. */
    ssize_t (*load)(void *data, const unsigned char hash[16], void *description, size_t room);
    /* save: keep a description; it may be there already. */
    int (*save)(void *data, const unsigned char hash[16], const void *description, size_t length);
    /* close: the store is no longer used; may be NULL. */
    void (*close)(void *data);
};

/* asf_record_store_with: a store by such calls.
 *   ops  stays in use until the store is freed
 * returns  0; -EINVAL: another version, or a call is missing; -ENOMEM. */
ASF_EXPORT int asf_record_store_with(const struct asf_record_store_ops *ops, void *data,
                                     struct asf_record_store **store);

/* asf_record_store_directory: formats in the files of a directory, which is made
 * if need be.  Any number of processes may use it at once, also by NFS: files
 * appear under their names when they are whole.
 * returns  0, and the store (asf_record_store_free); -ENOTDIR: it is something
 *          else; what mkdir fails with; -ENOMEM. */
ASF_EXPORT int asf_record_store_directory(const char *path, struct asf_record_store **store);

/* asf_record_store_free: NULL is allowed.  Writers and readers that use it must
 * be gone. */
ASF_EXPORT void asf_record_store_free(struct asf_record_store *store);

/* asf_record_store_put: make a format known.  Formats that were stored or loaded
 * lately are remembered, and the store is not asked again.
 * returns  0; what the store fails with. */
ASF_EXPORT int asf_record_store_put(struct asf_record_store *store, struct asf_record_format *format);

/* asf_record_store_get: the format of a hash.  What the store gives is not
 * believed: the hash is made again.
 * returns  0, and the format, which the caller frees; -ENOENT; -EBADMSG: the
 *          store has something else under this hash. */
ASF_EXPORT int asf_record_store_get(struct asf_record_store *store, const unsigned char hash[16],
                                    struct asf_record_format **format);

#ifdef __cplusplus
}
#endif
#endif
