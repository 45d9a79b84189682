/* SPDX-License-Identifier: MIT
 *
 * past_us.c - code that would come to libc or to the kernel past us.  Who looks up a name
 * in libc itself (ctypes and its kin) is given ours where libc's would know nothing of what
 * is held back here.  With libraries that are bound to libc before us (RTLD_DEEPBIND), and
 * with Go, whose runtime makes system calls by itself, nothing is held back.
 * Layer: interfaces.  May include: backplane, lib.
 */
#ifndef ASF_STATIC

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <unistd.h>

#include "backplane/backplane.h"
#include "backplane/descriptor.h"
#include "interfaces/unix/forks.h"
#include "lib/sys/next.h"

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

/* For these libc's own function would not do: it knows nothing of offsets that are minded
 * here, nor of output that is held back.  Those of stdio work on any FILE, and stay. */
static bool is_noticed(const char *name) {
    static const char names[] = "_Exit\0_exit\0abort\0close\0copy_file_range\0creat\0dup\0dup2\0dup3\0"
                                "execl\0execle\0execlp\0execv\0execve\0execvp\0execvpe\0fcntl\0fdatasync\0"
                                "fexecve\0fork\0fstat\0fsync\0ftruncate\0ioctl\0kill\0lstat\0mmap\0mmap64\0"
                                "open\0open64\0openat\0openat64\0poll\0posix_spawn\0posix_spawnp\0pwrite\0"
                                "pwrite64\0raise\0select\0send\0sendfile\0sendmsg\0splice\0stat\0statx\0"
                                "syscall\0system\0truncate\0wait\0waitpid\0write\0writev\0";
    for (const char *n = names; *n; n += strlen(n) + 1)
        if (strcmp(n, name) == 0)
            return true;
    return false;
}

/* Reads that are looked up in libc are the kernel's, from a descriptor that is from then on. */
static ssize_t kernel_read(int fd, void *buf, size_t n) {
    asf__unkeep(fd, true);
    return read(fd, buf, n);
}

static ssize_t kernel_pread(int fd, void *buf, size_t n, off_t offset) {
    asf__unkeep(fd, true);
    return pread(fd, buf, n, offset);
}

static ssize_t kernel_readv(int fd, const struct iovec *parts, int n) {
    asf__unkeep(fd, true);
    return readv(fd, parts, n);
}

static off_t kernel_lseek(int fd, off_t offset, int whence) {
    asf__unkeep(fd, true);
    return lseek(fd, offset, whence);
}

static void *kernels(const char *name) {
    if (strcmp(name, "read") == 0)
        return (void *)kernel_read;
    if (strcmp(name, "readv") == 0)
        return (void *)kernel_readv;
    if (strcmp(name, "pread") == 0 || strcmp(name, "pread64") == 0)
        return (void *)kernel_pread;
    return strcmp(name, "lseek") == 0 || strcmp(name, "lseek64") == 0 ? (void *)kernel_lseek : NULL;
}

/* In one object: who asks makes no difference.  Our library has what is noticed, so that
 * dlerror has nothing to tell behind it. */
static void *look_in(void *handle, const char *name) {
    look_up *in = libc_dlsym();
    void *found = in(handle, name);
    const struct link_map *where = found ? object_of(found) : NULL;
    if (!where || where != object_of((const void *)in))
        return found;
    asf__heed_forks();
    void *by_kernel = kernels(name), *us = by_kernel || !is_noticed(name) ? NULL : ourselves();
    return by_kernel ? by_kernel : us ? in(us, name) : found;
}

void *asf__dlsym_target(void *handle) {
    return handle == RTLD_DEFAULT || handle == RTLD_NEXT ? (void *)libc_dlsym() : (void *)look_in;
}

void *asf__dlopen_target(const char *name, int flags) {
    if (name && flags & RTLD_DEEPBIND) {
        asf__heed_forks();
        asf__be_plain();
    }
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
static bool has_note_of_go(const char *p, size_t n) {
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

__attribute__((constructor)) static void look_for_go(void) {
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
