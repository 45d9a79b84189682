/* SPDX-License-Identifier: MIT
 *
 * diff_files.c - finds the pairs of files to compare: operands, and the entries of directories.
 */
#include <dirent.h>
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "diff.h"
#include "examples/common/program.h"

static int compare_pair(struct pair *pair);

static char *join(const char *directory, const char *name) {
    size_t length = strlen(directory);
    char *path;
    if (asprintf(&path, "%s%s%s", directory, length > 0 && directory[length - 1] == '/' ? "" : "/", name) < 0)
        path = NULL;
    return must(path);
}

static const char *file_type(const struct stat *status) {
    switch (status->st_mode & S_IFMT) {
    case S_IFREG:
        return status->st_size == 0 ? "regular empty file" : "regular file";
    case S_IFDIR:
        return "directory";
    case S_IFIFO:
        return "fifo";
    case S_IFCHR:
        return "character special file";
    case S_IFBLK:
        return "block special file";
    case S_IFSOCK:
        return "socket";
    default:
        return "weird file";
    }
}

static int report_only(const struct side *directory, const char *name) {
    out_format("Only in %s: %s\n", directory->name, name);
    return EXIT_DIFFERENT;
}

/* Report a pair of directory entries that cannot be compared, because one is not a regular file. */
static int report_types(const struct pair *pair) {
    const struct side *sides = pair->sides;
    for (int f = 0; f < 2; f++)
        if (sides[1 - f].absent)
            return report_only(&pair->parent->sides[f], strrchr(sides[f].name, '/') + 1);
    out_format("File %s is a %s while file %s is a %s\n", shown(&sides[0]), file_type(&sides[0].status),
               shown(&sides[1]), file_type(&sides[1].status));
    return EXIT_DIFFERENT;
}

/* The names in a directory, sorted. */
struct names {
    char **at;
    size_t count;
};

static int compare_names(const void *a, const void *b) {
    const char *name0 = *(char *const *)a, *name1 = *(char *const *)b;
    int order = strcoll(name0, name1);
    return order ? order : strcmp(name0, name1);
}

static int read_names(struct names *names, const struct side *side) {
    *names = (struct names){NULL, 0};
    if (side->absent)
        return EXIT_SAME;
    DIR *directory = opendir(side->name);
    if (!directory)
        return trouble(side->name, errno);
    errno = 0;
    for (struct dirent *entry; (entry = readdir(directory)); errno = 0) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if ((names->count & (names->count - 1)) == 0)
            names->at = must(realloc(names->at, (2 * names->count + 1) * sizeof *names->at));
        names->at[names->count++] = must(strdup(entry->d_name));
    }
    int status = errno ? trouble(side->name, errno) : EXIT_SAME;
    closedir(directory);
    if (names->count > 0)
        qsort(names->at, names->count, sizeof *names->at, compare_names);
    return status;
}

static void free_names(struct names *names) {
    for (size_t i = 0; i < names->count; i++)
        free(names->at[i]);
    free(names->at);
}

/* Compare the entries of one name.
 *   only  the side whose directory has the name; -1: both have it */
static int compare_entry(const struct pair *directories, const char *name, int only) {
    struct pair pair = {.parent = directories};
    if (only >= 0 && !options.new_file)
        return report_only(&directories->sides[only], name);
    for (int f = 0; f < 2; f++) {
        pair.sides[f].name = join(directories->sides[f].name, name);
        pair.sides[f].label = directories->sides[f].label;
        pair.sides[f].absent = only >= 0 && f != only;
    }
    int status = compare_pair(&pair);
    for (int f = 0; f < 2; f++)
        free((char *)pair.sides[f].name);
    return status;
}

static int merge_names(const struct pair *directories, const struct names names[2]) {
    int status = EXIT_SAME;
    for (size_t i = 0, j = 0; i < names[0].count || j < names[1].count;) {
        int order = i == names[0].count   ? 1
                    : j == names[1].count ? -1
                                          : compare_names(&names[0].at[i], &names[1].at[j]);
        const char *name = order <= 0 ? names[0].at[i] : names[1].at[j];
        status = worse(status, compare_entry(directories, name, order == 0 ? -1 : order > 0));
        i += order <= 0;
        j += order >= 0;
    }
    return status;
}

static bool same_file(const struct side *a, const struct side *b) {
    return !a->absent && !b->absent && a->status.st_dev == b->status.st_dev &&
           a->status.st_ino == b->status.st_ino;
}

/* Returns whether a directory is its own ancestor, because of a symbolic link. */
static bool is_loop(const struct pair *pair, int f) {
    for (const struct pair *above = pair->parent; above; above = above->parent)
        if (same_file(&above->sides[f], &pair->sides[f]))
            return true;
    return false;
}

static int compare_directories(struct pair *pair) {
    for (int f = 0; f < 2; f++)
        if (is_loop(pair, f)) {
            text_flush();
            error(0, 0, "%s: recursive directory loop", pair->sides[f].name);
            return EXIT_TROUBLE;
        }
    struct names names[2];
    int status = read_names(&names[0], &pair->sides[0]);
    status = worse(status, read_names(&names[1], &pair->sides[1]));
    if (status == EXIT_SAME)
        status = merge_names(pair, names);
    free_names(&names[0]);
    free_names(&names[1]);
    return status;
}

static int stat_side(struct side *side) {
    if (side->absent)
        return 0;
    if (!is_stdin(side->name))
        return stat(side->name, &side->status) == 0 ? 0 : errno;
    if (fstat(STDIN_FILENO, &side->status) != 0)
        return errno;
    clock_gettime(CLOCK_REALTIME, &side->status.st_mtim); /* the headers show the time of this run */
    return 0;
}

/* Get the status of both files.  With -N a missing operand counts as empty if the other one exists. */
static int stat_pair(struct pair *pair) {
    struct side *sides = pair->sides;
    int errors[2] = {stat_side(&sides[0]), stat_side(&sides[1])}, status = EXIT_SAME;
    for (int f = 0; f < 2; f++) {
        if (errors[f] == ENOENT && !errors[1 - f] && options.new_file && !pair->parent)
            sides[f].absent = true;
        else if (errors[f])
            status = trouble(sides[f].name, errors[f]);
    }
    for (int f = 0; f < 2; f++)
        if (sides[f].absent)
            sides[f].status.st_mode = sides[1 - f].status.st_mode;
    return status;
}

/* Compare a file with the file of the same name in a directory. */
static int compare_within(struct pair *pair, int directory) {
    struct side *sides = pair->sides;
    const char *name = sides[1 - directory].name, *slash = strrchr(name, '/');
    if (is_stdin(name)) {
        error(0, 0, "cannot compare '-' to a directory");
        return EXIT_TROUBLE;
    }
    char *path = join(sides[directory].name, slash ? slash + 1 : name);
    sides[directory].name = path;
    int status = compare_pair(pair);
    free(path);
    return status;
}

static int compare_pair(struct pair *pair) {
    struct side *sides = pair->sides;
    if (stat_pair(pair) != EXIT_SAME)
        return EXIT_TROUBLE;
    bool directory[2] = {S_ISDIR(sides[0].status.st_mode), S_ISDIR(sides[1].status.st_mode)};
    if (directory[0] && directory[1] && pair->parent && !options.recursive) {
        out_format("Common subdirectories: %s and %s\n", sides[0].name, sides[1].name);
        return EXIT_SAME;
    }
    if (directory[0] != directory[1] && !pair->parent)
        return compare_within(pair, directory[1]);
    if (same_file(&sides[0], &sides[1]))
        return directory[0] ? EXIT_SAME : report_identity(sides);
    if (directory[0] && directory[1])
        return compare_directories(pair);
    bool regular = S_ISREG(sides[0].status.st_mode) && S_ISREG(sides[1].status.st_mode);
    if (pair->parent && !regular)
        return report_types(pair);
    return compare_files(pair);
}

int compare(const char *name0, const char *name1) {
    struct pair pair = {
        .sides = {{.name = name0, .label = options.labels[0]}, {.name = name1, .label = options.labels[1]}}};
    return compare_pair(&pair);
}
