/* SPDX-License-Identifier: MIT
 *
 * command_program.c - inspects a program's file for reasons why asf cannot serve it.
 *
 * In doubt the answer is NO_OBSTACLE: a warning must be true.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "interfaces/command/command.h"
#include "lib/sys/machine.h"
#include "lib/sys/syscalls.h"

/* The kernel follows up to four interpreters that are scripts themselves. */
enum { SCRIPT_DEPTH = 4 };

static bool is_executable(const char *path) {
    struct stat file;
    return stat(path, &file) == 0 && S_ISREG(file.st_mode) && access(path, X_OK) == 0;
}

/* An empty element of PATH is the current directory. */
static const char *join_path(const char *directory, size_t length, const char *name) {
    return length == 0 ? name : asf__text("%.*s/%s", (int)length, directory, name);
}

static const char *search_path(const char *name) {
    const char *directory = getenv("PATH");
    if (directory == NULL)
        directory = "/bin:/usr/bin";
    for (;;) {
        size_t length = strcspn(directory, ":");
        const char *path = join_path(directory, length, name);
        if (is_executable(path))
            return path;
        if (directory[length] == '\0')
            return NULL;
        directory += length + 1;
    }
}

/* Returns false unless all bytes were read. */
static bool read_at(int file, void *data, size_t size, Elf64_Off offset) {
    return offset <= LLONG_MAX && asf__sys.pread(file, data, size, (off_t)offset) == (ssize_t)size;
}

/* The interpreter in the first line of a script, or NULL. */
static const char *read_interpreter(int file) {
    char line[256] = "";
    if (asf__sys.pread(file, line, sizeof line - 1, 0) < 0 || strncmp(line, "#!", 2) != 0)
        return NULL;
    const char *name = line + 2 + strspn(line + 2, " \t");
    size_t length = strcspn(name, " \t\n");
    return length == 0 ? NULL : asf__text("%.*s", (int)length, name);
}

static bool is_elf(const Elf64_Ehdr *header) {
    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0;
}

static bool is_native(const Elf64_Ehdr *header) {
    return header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_machine == ASF_ELF;
}

/* The kernel refuses program headers of another size, and more than 64 KB of them. */
static bool find_segment(int file, const Elf64_Ehdr *header, Elf64_Word type, Elf64_Phdr *segment) {
    enum { MAX_HEADERS = 65536 / sizeof *segment };
    if (header->e_phentsize != sizeof *segment || header->e_phnum > MAX_HEADERS)
        return false;
    for (Elf64_Half i = 0; i < header->e_phnum; i++) {
        Elf64_Off offset = header->e_phoff + (Elf64_Off)i * sizeof *segment;
        if (!read_at(file, segment, sizeof *segment, offset))
            return false;
        if (segment->p_type == type)
            return true;
    }
    return false;
}

/* An ET_DYN file without an interpreter is a static program only if it has DF_1_PIE.  The dynamic linker
 * itself lacks that flag. */
static bool has_pie_flag(int file, const Elf64_Ehdr *header) {
    enum { MAX_ENTRIES = 4096 }; /* entries; programs have about thirty */
    Elf64_Phdr dynamic;
    Elf64_Dyn entry;
    if (!find_segment(file, header, PT_DYNAMIC, &dynamic))
        return false;
    for (Elf64_Xword i = 0; i < MAX_ENTRIES && i < dynamic.p_filesz / sizeof entry; i++) {
        Elf64_Off at = dynamic.p_offset + i * sizeof entry;
        if (!read_at(file, &entry, sizeof entry, at) || entry.d_tag == DT_NULL)
            return false;
        if (entry.d_tag == DT_FLAGS_1)
            return (entry.d_un.d_val & DF_1_PIE) != 0;
    }
    return false;
}

static bool is_static(int file, const Elf64_Ehdr *header) {
    return header->e_type == ET_EXEC || (header->e_type == ET_DYN && has_pie_flag(file, header));
}

static const char *read_loader(int file, const Elf64_Phdr *segment) {
    char path[PATH_MAX] = "";
    size_t size = segment->p_filesz < sizeof path ? segment->p_filesz : sizeof path - 1;
    return read_at(file, path, size, segment->p_offset) ? asf__text("%s", path) : NULL;
}

static enum libc libc_of(const char *loader) {
    const char *slash = strrchr(loader, '/');
    const char *name = slash != NULL ? slash + 1 : loader;
    if (strcmp(name, ASF_GLIBC_LOADER) == 0)
        return GLIBC;
    return strcmp(name, ASF_MUSL_LOADER) == 0 ? MUSL : UNKNOWN_LIBC;
}

static enum obstacle obstacle_in_loader(struct program *program) {
    if (program->loader == NULL)
        return NO_OBSTACLE;
    program->libc = libc_of(program->loader);
    if (program->libc == UNKNOWN_LIBC)
        return FOREIGN_LOADER;
    return program->libc == OTHER_LIBC && asf__other_library_flaw(STDIO_LIBRARY) != NULL ? NO_LIBRARY
                                                                                         : NO_OBSTACLE;
}

/* Go's linker writes this note. */
static bool is_go(int file, const Elf64_Ehdr *header) {
    Elf64_Phdr note;
    struct {
        Elf64_Nhdr header;
        char owner[4];
    } start;
    return find_segment(file, header, PT_NOTE, &note) && read_at(file, &start, sizeof start, note.p_offset) &&
           start.header.n_namesz == sizeof start.owner &&
           memcmp(start.owner, "Go\0", sizeof start.owner) == 0;
}

static enum obstacle obstacle_in_format(int file, struct program *program) {
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    if (!read_at(file, &header, sizeof header, 0) || !is_elf(&header))
        return NO_OBSTACLE;
    if (!is_native(&header))
        return FOREIGN_MACHINE;
    if (find_segment(file, &header, PT_INTERP, &segment)) {
        program->loader = read_loader(file, &segment);
        return obstacle_in_loader(program);
    }
    if (!is_static(file, &header))
        return NO_OBSTACLE;
    return is_go(file, &header) ? GO_PROGRAM : STATICALLY_LINKED;
}

/* Returns whether the kernel honours set-id bits and capabilities of this file. */
static bool can_raise_privileges(int file) {
    struct statvfs mount;
    return fstatvfs(file, &mount) == 0 && (mount.f_flag & ST_NOSUID) == 0 &&
           prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0;
}

/* The dynamic linker ignores LD_PRELOAD only if exec changes the user, the group or the capabilities.  Root's
 * own set-uid programs, and capabilities that root already has, change nothing. */
static enum obstacle obstacle_in_privileges(int file) {
    struct stat status;
    if (fstat(file, &status) != 0 || !can_raise_privileges(file))
        return NO_OBSTACLE;
    bool sets_user = (status.st_mode & S_ISUID) != 0 && status.st_uid != getuid();
    bool sets_group =
        (status.st_mode & S_ISGID) != 0 && (status.st_mode & S_IXGRP) != 0 && status.st_gid != getgid();
    if (sets_user || sets_group)
        return SET_ID;
    return getuid() != 0 && fgetxattr(file, "security.capability", NULL, 0) > 0 ? CAPABILITIES : NO_OBSTACLE;
}

static enum obstacle obstacle_in(int file, struct program *program) {
    enum obstacle found = obstacle_in_privileges(file);
    return found != NO_OBSTACLE ? found : obstacle_in_format(file, program);
}

/* Inspect the program's binary; if it is a script, store its interpreter in *next. */
static enum obstacle inspect_binary(struct program *program, const char **next) {
    int file = open(program->binary, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return errno == EACCES ? UNREADABLE : NO_OBSTACLE;
    *next = read_interpreter(file);
    enum obstacle obstacle = *next != NULL ? NO_OBSTACLE : obstacle_in(file, program);
    close(file);
    return obstacle;
}

struct program asf__find_program(const char *name) {
    const char *path = name;
    if (strchr(name, '/') == NULL)
        path = search_path(name);
    else if (access(name, F_OK) != 0)
        path = NULL;
    struct program program = {.path = path, .binary = path, .libc = OWN_LIBC, .obstacle = NO_OBSTACLE};
    const char *next = path;
    for (int depth = 0; depth <= SCRIPT_DEPTH && next != NULL && is_executable(next); depth++) {
        program.binary = next;
        next = NULL;
        program.obstacle = inspect_binary(&program, &next);
    }
    return program;
}

bool asf__is_library(const char *path) {
    Elf64_Ehdr header;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return false;
    bool is_library = read_at(file, &header, sizeof header, 0) && is_elf(&header) && is_native(&header) &&
                      header.e_type == ET_DYN;
    close(file);
    return is_library;
}
