/* SPDX-License-Identifier: MIT
 *
 * cp.c - copies files and trees.  cp_plain.c and cp_asi.c copy the files' bytes.
 */
#include "cp.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "examples/common/program.h"

static const char usage[] = "Usage: cp [OPTION]... SOURCE DEST\n"
                            "  or:  cp [OPTION]... SOURCE... DIRECTORY\n"
                            "Copy SOURCE to DEST, or SOURCEs to DIRECTORY.\n\n"
                            "  -f, --force           remove a destination that cannot be opened\n"
                            "  -H                    follow symbolic links among the operands\n"
                            "  -i, --interactive     ask before overwriting\n"
                            "  -L, --dereference     follow all symbolic links\n"
                            "  -n, --no-clobber      do not overwrite\n"
                            "  -p, --preserve        keep mode, owner and times\n"
                            "  -P, --no-dereference  follow no symbolic link\n"
                            "  -R, -r, --recursive   copy directories with all that is in them\n"
                            "  -v, --verbose         tell what is copied\n"
                            "      --help            display this help and exit\n";

static const struct option long_options[] = {
    {"force", no_argument, NULL, 'f'},          {"interactive", no_argument, NULL, 'i'},
    {"dereference", no_argument, NULL, 'L'},    {"no-clobber", no_argument, NULL, 'n'},
    {"preserve", no_argument, NULL, 'p'},       {"recursive", no_argument, NULL, 'R'},
    {"no-dereference", no_argument, NULL, 'P'}, {"verbose", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0},
};

static struct {
    bool force, interactive, no_clobber, preserve, recursive, verbose;
    char follow; /* 'H', 'L', 'P', or 0: follow unless recursive */
} options;

/* The operand that is being copied, and the identity of the first target directory.  If the copy reaches that
 * directory as a source, a directory is being copied into itself. */
static struct {
    const char *source, *target;
    bool known;
    dev_t device;
    ino_t inode;
} top;

static bool copy(const char *source, const char *target, bool operand);

static bool failed(const char *message, const char *name, int error_number) {
    error(0, error_number, message, quoted_always(name));
    return false;
}

bool cp_read_failed(struct cp_file from, int error_number) {
    return failed("error reading %s", from.name, error_number);
}

bool cp_write_failed(struct cp_file to, int error_number) {
    return failed("error writing %s", to.name, error_number);
}

static bool follows(bool operand) {
    if (options.follow == 'H')
        return operand;
    return options.follow ? options.follow == 'L' : !options.recursive;
}

static char *joined(const char *directory, const char *name) {
    char *path;
    size_t length = strlen(directory);
    if (asprintf(&path, "%s%s%s", directory, length && directory[length - 1] == '/' ? "" : "/", name) < 0)
        error(EXIT_FAILURE, errno, "memory exhausted");
    return path;
}

/* Set the owner before the mode, because chown clears the set-user-ID bits.  Only root may change an owner,
 * so EPERM is no error. */
static bool preserve_attributes(const char *target, const struct stat *st) {
    struct timespec times[] = {st->st_atim, st->st_mtim};
    if (utimensat(AT_FDCWD, target, times, AT_SYMLINK_NOFOLLOW) != 0)
        return failed("preserving times for %s", target, errno);
    mode_t mode = st->st_mode & 07777;
    if (lchown(target, st->st_uid, st->st_gid) != 0) {
        if (errno != EPERM)
            return failed("failed to preserve ownership for %s", target, errno);
        mode &= 01777;
    }
    if (!S_ISLNK(st->st_mode) && chmod(target, mode) != 0)
        return failed("preserving permissions for %s", target, errno);
    return true;
}

static int create(const char *target, mode_t mode) {
    int fd = open(target, O_WRONLY | O_CREAT | O_EXCL, mode);
    if (fd < 0 && errno == EISDIR)
        errno = ENOTDIR;
    return fd;
}

/* With -p only the user may read a new copy until its owner and mode are set. */
static int open_target(const char *target, bool exists, mode_t mode) {
    mode &= options.preserve ? 0700 : 0777;
    if (!exists)
        return create(target, mode);
    int fd = open(target, O_WRONLY | O_TRUNC);
    if (fd < 0 && options.force && unlink(target) == 0)
        return create(target, mode);
    return fd;
}

static bool copy_file(const char *source, const char *target, const struct stat *st, bool exists) {
    struct cp_file from = {open(source, O_RDONLY), source};
    if (from.fd < 0)
        return failed("cannot open %s for reading", source, errno);
    struct cp_file to = {open_target(target, exists, st->st_mode), target};
    bool ok = to.fd >= 0 || failed("cannot create regular file %s", target, errno);
    if (ok) {
        ok = cp_contents(from, to);
        if (close(to.fd) != 0)
            ok = failed("failed to close %s", target, errno);
        if (options.preserve)
            ok &= preserve_attributes(target, st);
    }
    close(from.fd);
    return ok;
}

static bool copy_link(const char *source, const char *target) {
    char text[PATH_MAX];
    ssize_t length = readlink(source, text, sizeof text - 1);
    if (length < 0)
        return failed("cannot read symbolic link %s", source, errno);
    text[length] = '\0';
    return symlink(text, target) == 0 || failed("cannot create symbolic link %s", target, errno);
}

static bool copy_entries(const char *source, const char *target) {
    bool ok = true;
    DIR *directory = opendir(source);
    if (!directory)
        return failed("cannot access %s", source, errno);
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        char *from = joined(source, entry->d_name), *to = joined(target, entry->d_name);
        ok &= copy(from, to, false);
        free(from);
        free(to);
    }
    closedir(directory);
    return ok;
}

/* Make a directory that its owner may write to, so that it can be filled. */
static bool make_directory(const char *target, mode_t mode) {
    return mkdir(target, (mode & 07777) | S_IRWXU) == 0 ||
           failed("cannot create directory %s", target, errno);
}

static void remember_top(const char *target) {
    struct stat st;
    if (top.known || stat(target, &st) != 0)
        return;
    top.known = true;
    top.device = st.st_dev;
    top.inode = st.st_ino;
}

static bool copy_directory(const char *source, const char *target, const struct stat *st, bool exists) {
    if (top.known && st->st_dev == top.device && st->st_ino == top.inode) {
        error(0, 0, "cannot copy a directory, %s, into itself, %s", quoted_always(top.source),
              quoted_always(top.target));
        return false;
    }
    if (!exists && !make_directory(target, st->st_mode))
        return false;
    remember_top(target);
    bool ok = copy_entries(source, target);
    mode_t mask = umask(0);
    umask(mask);
    if (!exists && !options.preserve && (st->st_mode & S_IRWXU & ~mask) != S_IRWXU &&
        chmod(target, st->st_mode & 07777 & ~mask) != 0)
        ok = failed("setting permissions for %s", target, errno);
    return options.preserve ? preserve_attributes(target, st) && ok : ok;
}

/* Copy a FIFO, a device or a symbolic link.  An existing target is removed first. */
static bool copy_special(const char *source, const char *target, const struct stat *st, bool exists) {
    if (exists && unlink(target) != 0)
        return failed("cannot remove %s", target, errno);
    if (S_ISLNK(st->st_mode)) {
        if (!copy_link(source, target))
            return false;
    } else if (mknod(target, st->st_mode, st->st_rdev) != 0) {
        return failed(S_ISFIFO(st->st_mode) ? "cannot create fifo %s" : "cannot create special file %s",
                      target, errno);
    }
    return !options.preserve || preserve_attributes(target, st);
}

static const char *permissions(mode_t mode) {
    static char text[] = "rwxrwxrwx";
    for (int bit = 0; bit < 9; bit++)
        text[bit] = mode & (0400 >> bit) ? "rwx"[bit % 3] : '-';
    return text;
}

static bool may_overwrite(const char *target, const struct stat *st) {
    char *answer = NULL;
    size_t size = 0;
    if (options.no_clobber || !options.interactive)
        return !options.no_clobber;
    const char *name = quoted_always(target);
    unsigned mode = st->st_mode & 07777;
    if (eaccess(target, W_OK) == 0)
        fprintf(stderr, "cp: overwrite %s? ", name);
    else if (options.force)
        fprintf(stderr, "cp: replace %s, overriding mode %04o (%s)? ", name, mode, permissions(mode));
    else
        fprintf(stderr, "cp: unwritable %s (mode %04o, %s); try anyway? ", name, mode, permissions(mode));
    bool yes = getline(&answer, &size, stdin) > 0 && rpmatch(answer) == 1;
    free(answer);
    return yes;
}

enum target_state { TARGET_BAD, TARGET_NEW, TARGET_EXISTS };

/* Returns the state of the target.  A dangling symbolic link is an error, because the copy would be written
 * where the link points. */
static enum target_state target_state(const char *target, bool follow, struct stat *st) {
    if ((follow ? stat(target, st) : lstat(target, st)) == 0)
        return TARGET_EXISTS;
    if (errno != ENOENT) {
        failed("cannot stat %s", target, errno);
        return TARGET_BAD;
    }
    if (lstat(target, st) != 0)
        return TARGET_NEW;
    failed("not writing through dangling symlink %s", target, 0);
    return TARGET_BAD;
}

static bool fits(const char *source, const struct stat *from, const char *target, const struct stat *to) {
    bool directory = S_ISDIR(from->st_mode);
    if (from->st_dev == to->st_dev && from->st_ino == to->st_ino)
        error(0, 0, "%s and %s are the same file", quoted_always(source), quoted_always(target));
    else if (directory && !S_ISDIR(to->st_mode))
        error(0, 0, "cannot overwrite non-directory %s with directory %s", quoted_always(target),
              quoted_always(source));
    else if (!directory && S_ISDIR(to->st_mode))
        error(0, 0, "cannot overwrite directory %s with non-directory", quoted_always(target));
    else
        return true;
    return false;
}

static bool copy(const char *source, const char *target, bool operand) {
    struct stat from, to;
    if ((follows(operand) ? stat(source, &from) : lstat(source, &from)) != 0)
        return failed("cannot stat %s", source, errno);
    if (S_ISDIR(from.st_mode) && !options.recursive)
        return failed("-r not specified; omitting directory %s", source, 0);
    bool special =
        S_ISLNK(from.st_mode) || (options.recursive && !S_ISREG(from.st_mode) && !S_ISDIR(from.st_mode));
    enum target_state state = target_state(target, !special, &to);
    if (state == TARGET_BAD || (state == TARGET_EXISTS && !fits(source, &from, target, &to)))
        return false;
    bool exists = state == TARGET_EXISTS;
    if (exists && !S_ISDIR(from.st_mode) && !may_overwrite(target, &to))
        return true;
    if (options.verbose && !(exists && S_ISDIR(from.st_mode)))
        printf("%s -> %s\n", quoted_always(source), quoted_always(target));
    if (S_ISDIR(from.st_mode))
        return copy_directory(source, target, &from, exists);
    return special ? copy_special(source, target, &from, exists) : copy_file(source, target, &from, exists);
}

static bool copy_operand(const char *source, const char *target) {
    top.source = source;
    top.target = target;
    top.known = false;
    return copy(source, target, true);
}

static bool copy_into(const char *source, const char *directory) {
    char *scratch = strdup(source);
    char *target = joined(directory, *source ? basename(scratch) : source);
    bool ok = copy_operand(source, target);
    free(target);
    free(scratch);
    return ok;
}

static void set_option(int option) {
    switch (option) {
    case 'f':
        options.force = true;
        break;
    case 'i':
    case 'n':
        options.interactive = option == 'i';
        options.no_clobber = option == 'n';
        break;
    case 'p':
        options.preserve = true;
        break;
    case 'R':
    case 'r':
        options.recursive = true;
        break;
    case 'v':
        options.verbose = true;
        break;
    case 'H':
    case 'L':
    case 'P':
        options.follow = (char)option;
        break;
    case 'h':
        program_usage(usage);
    default:
        program_try_help();
    }
}

static void check_operands(int count, char **operands) {
    if (count > 1)
        return;
    if (count == 0)
        error(0, 0, "missing file operand");
    else
        error(0, 0, "missing destination file operand after %s", quoted_always(operands[0]));
    program_try_help();
}

int main(int argc, char **argv) {
    struct stat st;
    program_start(argv, "cp", EXIT_FAILURE);
    for (int option; (option = getopt_long(argc, argv, "fHiLnpPRrv", long_options, NULL)) != -1;)
        set_option(option);
    int count = argc - optind;
    char **operands = argv + optind;
    check_operands(count, operands);
    const char *target = operands[count - 1];
    int no_directory = stat(target, &st) != 0 ? errno : S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
    if (count > 2 && no_directory)
        error(EXIT_FAILURE, no_directory, "target %s", quoted_always(target));
    bool ok = true;
    for (int i = 0; i < count - 1; i++)
        ok &= no_directory ? copy_operand(operands[i], target) : copy_into(operands[i], target);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
