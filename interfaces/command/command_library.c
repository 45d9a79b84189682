/* SPDX-License-Identifier: MIT
 *
 * command_library.c - where libasf_stdio.so and libasf_unix.so are, and LD_PRELOAD.
 *
 *
 * The library is looked for beside the command, from the place the command
 * runs in, so that the build tree and a tree that was moved after it was
 * installed work alike.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interfaces/command/command.h"
#include "lib/sys/machine.h"

/* The library's file name: its soname ends in the major version. */
static const char *file_name(enum library library) {
    return asf__text("%s.%.*s", library == LIBRARY_OF_UNIX ? "libasf_unix.so" : "libasf_stdio.so",
                     (int)strcspn(ASF_VERSION, "."), ASF_VERSION);
}

const char *asf__own_directory(void) {
    static char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length < 0)
        asf__fail("/proc/self/exe: readlink: %s; mount /proc", strerror(errno));
    path[length] = '\0';
    *strrchr(path, '/') = '\0';
    return path;
}

/* The directory is made canonical for the sake of who reads LD_PRELOAD; the
 * name in it stays, so that an update of the library may replace its file. */
static const char *library_in(const char *directory, enum library library) {
    char *canonical = realpath(directory, NULL);
    if (canonical == NULL)
        return NULL;
    const char *path = asf__text("%s/%s", canonical, file_name(library));
    free(canonical);
    return access(path, F_OK) == 0 ? path : NULL;
}

static const char *library_beside_command(enum library library) {
    const char *own = asf__own_directory();
    const char *installed = asf__text("%s/" ASF_LIBDIR_FROM_BINDIR, own);
    const char *built = asf__text("%s/../lib", own);
    const char *path = library_in(installed, library);
    if (path == NULL)
        path = library_in(built, library);
    if (path == NULL)
        asf__fail("%s is not in %s%s; build or install it, or set ASF_LIBRARY to its path",
                  file_name(library), installed,
                  strcmp(installed, built) == 0 ? "" : asf__text(", nor in %s", built));
    return path;
}

/* A program may change its directory before it starts another. */
static const char *absolute(const char *path) {
    char directory[PATH_MAX];
    if (path[0] == '/')
        return path;
    if (getcwd(directory, sizeof directory) == NULL)
        asf__fail("getcwd: %s; set ASF_LIBRARY to an absolute path", strerror(errno));
    return asf__text("%s/%s", directory, path);
}

static const char *find_library(enum library library) {
    const char *named = getenv("ASF_LIBRARY");
    bool is_named = named != NULL && named[0] != '\0';
    const char *path = is_named ? absolute(named) : library_beside_command(library);
    if (access(path, R_OK) != 0)
        asf__fail("%s: access: %s; %s", path, strerror(errno),
                  is_named ? "ASF_LIBRARY must name libasf_stdio.so or libasf_unix.so" : "make it readable");
    if (!asf__is_library(path))
        asf__fail("%s is no shared library for " ASF_MACHINE "; build or install it anew, or set ASF_LIBRARY",
                  path);
    /* ld.so(8) splits LD_PRELOAD at spaces and colons, knows no quoting, and
     * replaces $ORIGIN, $LIB and $PLATFORM. */
    if (strpbrk(path, " :$") != NULL)
        asf__fail("%s cannot be preloaded: ld.so takes no path with a space, a colon or a dollar sign; "
                  "set ASF_LIBRARY to a symbolic link without them",
                  path);
    return path;
}

/* musl's loader ends a program whose preloaded library it cannot load, and ignores one that it cannot
 * find.  It does not replace $LIB; glibc does, by the directory below / that its libc is in.  Where that
 * directory is missing, as on NixOS, only the plain path is left. */
static const char *found_by_glibc_alone(const char *path) {
    const char *name = asf__text("/$LIB/../../../../../..%s", path);
    dlerror();
    return dlopen(name, RTLD_LAZY | RTLD_NOLOAD) != NULL || dlerror() == NULL ? name : path;
}

/* What LD_PRELOAD has besides asf's libraries, which an outer asf has put there. */
struct others {
    const char *before_libc, *from_libc_on; /* libc itself may be among them */
};

static const char *file_name_in(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* `library` becomes libasf_unix if that is there already: it serves stdio, too. */
static struct others others_preloaded(enum library *library) {
    struct others others = {"", ""};
    const char *next = getenv("LD_PRELOAD");
    while (next != NULL && *next != '\0') {
        size_t length = strcspn(next, " :");
        const char *item = asf__text("%.*s", (int)length, next), *name = file_name_in(item);
        if (strcmp(name, file_name(LIBRARY_OF_UNIX)) == 0)
            *library = LIBRARY_OF_UNIX;
        else if (strcmp(name, "libc.so.6") == 0 || others.from_libc_on[0] != '\0')
            others.from_libc_on = asf__join_list(others.from_libc_on, ':', item);
        else if (strcmp(name, file_name(LIBRARY_OF_STDIO)) != 0)
            others.before_libc = asf__join_list(others.before_libc, ':', item);
        next += length + strspn(next + length, " :");
    }
    return others;
}

const char *asf__preload(enum library library) {
    static const char *made[2]; /* once: a child may have no descriptors for it */
    const char **preload = &made[library];
    if (*preload == NULL) {
        struct others others = others_preloaded(&library);
        const char *own = found_by_glibc_alone(find_library(library));
        *preload = asf__join_list(asf__join_list(others.before_libc, ':', own), ':', others.from_libc_on);
    }
    return *preload;
}
