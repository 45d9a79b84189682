/* SPDX-License-Identifier: MIT
 *
 * past_us.c - code that would come to libc or to the kernel past us.  Who looks up a name
 * in libc itself (ctypes and its kin) is given ours, if we have it: libc's would know
 * nothing of what our streams hold back, nor of their FILEs.  With libraries that are
 * bound to libc before us (RTLD_DEEPBIND), and with Go, whose runtime makes system calls
 * by itself, nothing is held back.
 * Layer: interfaces.  May include: backplane, lib.
 */
#ifndef ASF_STATIC

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include "backplane/backplane.h"
#include "lib/next.h"
#include "lib/startup.h"

#pragma GCC visibility push(hidden)
void *asf__dlsym_target(void *handle);
void *asf__dlopen_target(const char *name, int flags);
#pragma GCC visibility pop

/* Both go by who calls them, so that libc's are jumped to: FUNCTION's arguments stay in
 * their registers, and its target tells where to go. */
#ifdef __x86_64__
#define JUMP(function)                                                                                       \
    __asm__(".pushsection .text\n"                                                                           \
            ".globl " #function "\n"                                                                         \
            ".type " #function ", @function\n" #function ":\n"                                               \
            "    .cfi_startproc\n"                                                                           \
            "    endbr64\n"                                                                                  \
            "    push %rdi\n"                                                                                \
            "    push %rsi\n"                                                                                \
            "    sub $8, %rsp\n"                                                                             \
            "    .cfi_adjust_cfa_offset 24\n"                                                                \
            "    call asf__" #function "_target\n"                                                           \
            "    add $8, %rsp\n"                                                                             \
            "    pop %rsi\n"                                                                                 \
            "    pop %rdi\n"                                                                                 \
            "    .cfi_adjust_cfa_offset -24\n"                                                               \
            "    jmp *%rax\n"                                                                                \
            "    .cfi_endproc\n"                                                                             \
            ".size " #function ", .-" #function "\n"                                                         \
            ".popsection\n")

JUMP(dlsym);
JUMP(dlopen);
#endif

typedef void *look_up(void *handle, const char *name);

static look_up *libc_dlsym(void) {
    static look_up *found;
    look_up *it = __atomic_load_n(&found, __ATOMIC_RELAXED);
    if (!it) {
        it = (look_up *)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
        __atomic_store_n(&found, it, __ATOMIC_RELAXED);
    }
    return it;
}

static struct link_map *object_of(const void *address) {
    struct dl_find_object object;
    return _dl_find_object((void *)(uintptr_t)address, &object) == 0 ? object.dlfo_link_map : NULL;
}

/* Our own library, as a handle; NULL: there is no memory for one. */
static void *ourselves(void) {
    static void *handle;
    void *us = __atomic_load_n(&handle, __ATOMIC_RELAXED);
    const struct link_map *map = us ? NULL : object_of(&handle);
    if (map) {
        us = ASF_NEXT(dlopen)(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
        __atomic_store_n(&handle, us, __ATOMIC_RELAXED);
    }
    return us;
}

/* In one object: who asks makes no difference.  What libc has, our library finds at least
 * in libc, so that dlerror has nothing to tell behind it. */
static void *look_in(void *handle, const char *name) {
    look_up *in = libc_dlsym();
    void *found = in(handle, name);
    const struct link_map *where = found ? object_of(found) : NULL;
    if (!where || where != object_of((const void *)in))
        return found;
    void *us = ourselves(), *ours = us ? in(us, name) : NULL;
    return ours && object_of(ours) == object_of(&look_in) ? ours : found;
}

void *asf__dlsym_target(void *handle) {
    return handle == RTLD_DEFAULT || handle == RTLD_NEXT ? (void *)libc_dlsym() : (void *)look_in;
}

void *asf__dlopen_target(const char *name, int flags) {
    if (name && flags & RTLD_DEEPBIND)
        asf__be_plain();
    static void *next;
    void *it = __atomic_load_n(&next, __ATOMIC_RELAXED);
    if (!it) {
        it = libc_dlsym()(RTLD_NEXT, "dlopen");
        __atomic_store_n(&next, it, __ATOMIC_RELAXED);
    }
    return it;
}

/* --- Go ------------------------------------------------------------------------- */

/* Its linker leaves a note with the build. */
ASF_EVERY_RUN static bool has_note_of_go(const char *p, size_t n) {
    enum { GO_BUILD = 4 };
    const ElfW(Nhdr) * note;
    for (size_t i = 0; i + sizeof *note + 4 <= n;) {
        note = (const void *)(p + i);
        if (note->n_type == GO_BUILD && note->n_namesz == 4 && memcmp(note + 1, "Go\0", 4) == 0)
            return true;
        i += sizeof *note + ((note->n_namesz + 3U) & ~3U) + ((note->n_descsz + 3U) & ~3U);
    }
    return false;
}

__attribute__((constructor)) ASF_EVERY_RUN static void look_for_go(void) {
    const ElfW(Phdr) *h = (const void *)getauxval(AT_PHDR); // NOLINT
    size_t n = h ? getauxval(AT_PHNUM) : 0;
    const char *base = NULL;
    bool known = false; /* where it lies; the table's own entry comes first */
    for (size_t i = 0; i < n; i++) {
        if (h[i].p_type == PT_PHDR) {
            base = (const char *)h - h[i].p_vaddr;
            known = true;
        }
        if (known && h[i].p_type == PT_NOTE && has_note_of_go(base + h[i].p_vaddr, h[i].p_memsz))
            asf__be_plain();
    }
}

#endif
