/* SPDX-License-Identifier: MIT
 *
 * next.h - libc's own function with a name that we interpose, for the few cases that libc must serve.
 * Looked up when first needed, never at start-up.
 */
#ifndef ASF_LIB_NEXT_H
#define ASF_LIB_NEXT_H

#include <dlfcn.h>
#include <stdlib.h>

/* asf__next: the next definition of `name`, stored in `cache`. */
static inline void *asf__next(void **cache, const char *name) {
    void *found = __atomic_load_n(cache, __ATOMIC_RELAXED);
    if (found)
        return found;
    found = dlsym(RTLD_NEXT, name);
    if (!found)
        abort(); /* impossible: libc lacks one of its own functions */
    __atomic_store_n(cache, found, __ATOMIC_RELAXED);
    return found;
}

#define ASF_NEXT(name)                                                                                       \
    (__extension__({                                                                                         \
        static void *cache_;                                                                                 \
        (__typeof__(&(name)))asf__next(&cache_, #name);                                                      \
    }))

#endif
