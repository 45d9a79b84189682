/* SPDX-License-Identifier: MIT
 *
 * command_library.c - finds libasf_stdio.so and libasf_unix.so, and makes LD_PRELOAD.
 *
 * The library is searched relative to the running command, so the build tree and an installed tree that was
 * moved both work.  The builds for the other libc are in asf/musl or asf/glibc of the library's directory.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "interfaces/command/command.h"
#include "lib/sys/machine.h"
#include "lib/sys/package.h"

/* Returns the library's soname, which ends in the major version. */
static const char *file_name(enum library library) {
    return asf__text("%s.%.*s", library == UNIX_LIBRARY ? "libasf_unix.so" : "libasf_stdio.so",
                     (int)strcspn(ASF_VERSION, "."), ASF_VERSION);
}

const char *asf__libc_name(enum libc libc) {
    return libc == GLIBC ? "glibc" : "musl";
}

/* Without /proc, AT_EXECFN gives the path that the command was executed by. */
static char *own_path(void) {
    static char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    const char *executed = (const char *)getauxval(AT_EXECFN); /* NOLINT(performance-no-int-to-ptr) */
    if (length > 0)
        path[length] = '\0';
    else if (executed == NULL || realpath(executed, path) == NULL)
        asf__fail("/proc/self/exe: readlink: %s; mount /proc", strerror(errno));
    return path;
}

const char *asf__own_directory(void) {
    char *path = own_path();
    *strrchr(path, '/') = '\0';
    return path;
}

/* Make the directory canonical, so that people can read LD_PRELOAD.  Keep the file's name, so that an update
 * can replace the file. */
static const char *library_in(const char *directory, enum library library) {
    char *canonical = realpath(directory, NULL);
    if (canonical == NULL)
        return NULL;
    const char *path = asf__text("%s/%s", canonical, file_name(library));
    free(canonical);
    return access(path, F_OK) == 0 ? path : NULL;
}

static const char *installed_directory(void) {
    return asf__text("%s/" ASF_LIBDIR_FROM_BINDIR, asf__own_directory());
}

static const char *built_directory(void) {
    return asf__text("%s/../lib", asf__own_directory());
}

static const char *library_relative_to_command(enum library library) {
    const char *installed = installed_directory(), *built = built_directory();
    const char *path = library_in(installed, library);
    if (path == NULL)
        path = library_in(built, library);
    if (path == NULL)
        asf__fail("%s: not found in %s%s; build or install %s, or set ASF_LIBRARY to its path",
                  file_name(library), installed,
                  strcmp(installed, built) == 0 ? "" : asf__text(" or %s", built),
                  asf__package("libasf0", "it"));
    return path;
}

/* LD_PRELOAD needs an absolute path: a program may change its directory before it executes another. */
static const char *absolute_path(const char *path) {
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
    const char *path = is_named ? absolute_path(named) : library_relative_to_command(library);
    if (access(path, R_OK) != 0)
        asf__fail("%s: access: %s; %s", path, strerror(errno),
                  is_named ? "ASF_LIBRARY must name libasf_stdio.so or libasf_unix.so" : "make it readable");
    if (!asf__is_library(path))
        asf__fail("%s is not a shared library for " ASF_MACHINE "; reinstall it, or set ASF_LIBRARY", path);
    /* ld.so(8) splits LD_PRELOAD at spaces and colons, knows no quoting, and
     * replaces $ORIGIN, $LIB and $PLATFORM. */
    if (strpbrk(path, " :$") != NULL)
        asf__fail("%s cannot be preloaded: its path contains a space, a colon or a dollar sign; "
                  "set ASF_LIBRARY to a symbolic link without them",
                  path);
    return path;
}

/* If the library is missing, the path where it should be installed. */
static const char *other_library_path(enum library library) {
    const char *libc = asf__libc_name(OTHER_LIBC);
    const char *directory = asf__text("%s/asf/%s", installed_directory(), libc);
    const char *path = library_in(directory, library);
    if (path == NULL)
        path = library_in(asf__text("%s/asf/%s", built_directory(), libc), library);
    if (path != NULL)
        return path;
    char *libraries = realpath(installed_directory(), NULL);
    path = libraries == NULL ? asf__text("%s/%s", directory, file_name(library))
                             : asf__text("%s/asf/%s/%s", libraries, libc, file_name(library));
    free(libraries);
    return path;
}

static const char *flaw_of_other_library(const char *path) {
    if (access(path, R_OK) != 0)
        return errno == ENOENT ? asf__text("%s is missing", path)
                               : asf__text("%s cannot be read (%s)", path, strerror(errno));
    if (!asf__is_library(path))
        return asf__text("%s is not a shared library for " ASF_MACHINE, path);
    if (strpbrk(path, " :$\t\n\v\f\r") != NULL)
        return asf__text("%s cannot be preloaded: its path contains a space, a colon or a dollar sign", path);
    return NULL;
}

struct other_library {
    const char *path, *flaw;
};

static const struct other_library *other_library(enum library library) {
    static struct other_library found[2]; /* found once: later a child may have no free descriptors */
    struct other_library *other = &found[library];
    if (other->path == NULL) {
        other->path = other_library_path(library);
        other->flaw = flaw_of_other_library(other->path);
    }
    return other;
}

const char *asf__other_library_flaw(enum library library) {
    return other_library(library)->flaw;
}

/* musl's loader ends a program if it finds a preloaded library but cannot load it.  It does not expand $LIB,
 * so it finds no file of this name.  glibc expands $LIB to the directory of its libc below /.  If that
 * directory is missing, as on NixOS, return the plain path. */
static const char *glibc_only_path(const char *path) {
    const char *name = asf__text("/$LIB/../../../../../..%s", path);
    if (OWN_LIBC == MUSL) /* musl's dlopen cannot test the name */
        return name;
    dlerror();
    return dlopen(name, RTLD_LAZY | RTLD_NOLOAD) != NULL || dlerror() == NULL ? name : path;
}

/* glibc's loader ends a program whose preloaded library needs another libc.  It silently ignores names of
 * PATH_MAX bytes and more, and a tab is part of a name.  To musl's loader tabs separate names.  So PATH_MAX
 * tabs before the path hide it from glibc's loader alone. */
static const char *musl_only_path(const char *path) {
    static char tabs[PATH_MAX + 1];
    memset(tabs, '\t', PATH_MAX);
    return asf__text("%s%s", tabs, path);
}

static const char *single_libc_path(enum libc libc, const char *path) {
    return libc == GLIBC ? glibc_only_path(path) : musl_only_path(path);
}

/* Other libraries in LD_PRELOAD; asf's own, set by an outer asf, are dropped. */
struct preloads {
    const char *before_libc, *from_libc_on; /* from_libc_on may begin with libc */
};

static const char *path_base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* If LD_PRELOAD already has libasf_unix, set `library` to it: libasf_unix also serves stdio. */
static struct preloads parse_preloads(enum library *library) {
    struct preloads preloads = {"", ""};
    const char *next = getenv("LD_PRELOAD");
    while (next != NULL && *next != '\0') {
        size_t length = strcspn(next, " :");
        const char *item = asf__text("%.*s", (int)length, next), *name = path_base_name(item);
        if (strcmp(name, file_name(UNIX_LIBRARY)) == 0)
            *library = UNIX_LIBRARY;
        else if (strcmp(name, "libc.so.6") == 0 || preloads.from_libc_on[0] != '\0')
            preloads.from_libc_on = asf__join_list(preloads.from_libc_on, ':', item);
        else if (strcmp(name, file_name(STDIO_LIBRARY)) != 0)
            preloads.before_libc = asf__join_list(preloads.before_libc, ':', item);
        next += length + strspn(next + length, " :");
    }
    return preloads;
}

const char *asf__preload(enum library library) {
    static const char *made[2]; /* made once: later a child may have no free descriptors */
    const char **preload = &made[library];
    if (*preload == NULL) {
        struct preloads preloads = parse_preloads(&library);
        const char *own = single_libc_path(OWN_LIBC, find_library(library));
        const struct other_library *other = other_library(library);
        if (other->flaw != NULL)
            other = other_library(STDIO_LIBRARY);
        if (other->flaw == NULL)
            own = asf__join_list(own, ':', single_libc_path(OTHER_LIBC, other->path));
        *preload = asf__join_list(asf__join_list(preloads.before_libc, ':', own), ':', preloads.from_libc_on);
    }
    return *preload;
}
