/* SPDX-License-Identifier: MIT
 *
 * diff_files.c - which files are compared with which, and what is said about
 * them when it is not the lines that differ.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "diff.h"
#include "examples/common/program.h"

/* A pair of files, and the pair of directories it was found in; NULL for the operands. */
struct pair {
    struct side sides[2];
    const struct pair *parent;
};

static int compare_pair(struct pair *pair);

static int trouble(const char *name, int error_number) {
    text_flush();
    error(0, error_number, "%s", name);
    return EXIT_TROUBLE;
}

void *must(void *memory) {
    if (!memory) {
        text_flush();
        error(EXIT_TROUBLE, 0, "memory exhausted");
    }
    return memory;
}

static int worse(int a, int b) {
    return a > b ? a : b;
}

static const char *shown(const struct side *side) {
    return side->label ? side->label : side->name;
}

static char *join(const char *directory, const char *name) {
    size_t length = strlen(directory);
    char *path;
    if (asprintf(&path, "%s%s%s", directory, length > 0 && directory[length - 1] == '/' ? "" : "/", name) < 0)
        path = NULL;
    return must(path);
}

/* A byte as C would write it in a string, if not as itself. */
static const char *escape(char c) {
    static const char plain[] = "\a\b\t\n\v\f\r\"\\", letters[] = "abtnvfr\"\\";
    static char octal[5];
    const char *found = c ? strchr(plain, c) : NULL;
    if (found)
        snprintf(octal, sizeof octal, "\\%c", letters[found - plain]);
    else if ((signed char)c < ' ')
        snprintf(octal, sizeof octal, "\\%03o", (unsigned char)c);
    else
        return NULL;
    return octal;
}

const char *quoted_c(const char *name) {
    char *text = must(malloc(4 * strlen(name) + 3)), *to = text;
    bool quote = false;
    *to++ = '"';
    for (; *name; name++) {
        const char *escaped = escape(*name);
        quote |= escaped || *name == ' ';
        if (escaped)
            to = stpcpy(to, escaped);
        else
            *to++ = *name;
    }
    *to = '\0';
    return quote ? strcpy(to, "\""), text : text + 1;
}

/* The first block says whether it is text, as long as nobody knows better. */
static bool is_binary(const struct side *side) {
    size_t block = (size_t)side->status.st_blksize, size = side->text.size;
    return memchr(side->text.data, '\0', size < block ? size : block) != NULL;
}

static bool ignoring(void) {
    return options.ignore_case || options.ignore_blank_lines || options.space != SPACE_COUNTS;
}

/* With -B: a line that is empty, or white space where that does not count. */
static bool is_blank(const struct side *side, size_t i) {
    const char *at = line_start(side, i), *end = line_start(side, i + 1);
    if (end[-1] == '\n')
        end--;
    while (options.space != SPACE_COUNTS && at < end && isspace((unsigned char)*at))
        at++;
    return at == end;
}

static bool is_ignorable(const struct side sides[2], const struct change *change) {
    for (int f = 0; f < 2; f++)
        for (size_t i = 0; i < change->lines[f]; i++)
            if (!is_blank(&sides[f], change->at[f] + i))
                return false;
    return true;
}

/* Returns how many of the changes count. */
static size_t count_changes(const struct side sides[2], struct script *script) {
    size_t count = 0;
    for (size_t i = 0; i < script->count; i++) {
        struct change *change = &script->changes[i];
        change->ignorable = options.ignore_blank_lines && is_ignorable(sides, change);
        count += !change->ignorable;
    }
    return count;
}

/* In a directory the output for a pair starts with the command that would give it. */
static void print_command(const struct pair *pair) {
    if (pair->parent)
        out_format("diff%s %s %s\n", options.command_line, quoted_c(pair->sides[0].name),
                   quoted_c(pair->sides[1].name));
}

static int report_difference(const struct side sides[2], const char *what) {
    out_format("%s %s and %s differ\n", what, shown(&sides[0]), shown(&sides[1]));
    return EXIT_DIFFERENT;
}

static int report_identity(const struct side sides[2]) {
    if (options.report_identical)
        out_format("Files %s and %s are identical\n", shown(&sides[0]), shown(&sides[1]));
    return EXIT_SAME;
}

/* ed has no way to say that a newline is missing. */
static int check_last_newlines(const struct side sides[2]) {
    int status = EXIT_SAME;
    for (int f = 0; f < 2 && options.style == STYLE_ED; f++) {
        const struct text *text = &sides[f].text;
        if (text->size > 0 && text->data[text->size - 1] != '\n') {
            text_flush();
            error(0, 0, "%s: No newline at end of file", sides[f].name);
            status = EXIT_TROUBLE;
        }
    }
    return status;
}

static int compare_lines(struct pair *pair, size_t common) {
    struct side *sides = pair->sides;
    size_t class_count = find_lines(sides, common);
    struct script script = make_script(sides, class_count);
    int status = EXIT_SAME;
    if (count_changes(sides, &script) == 0) {
        report_identity(sides);
    } else if (options.brief) {
        status = report_difference(sides, "Files");
    } else {
        print_command(pair);
        print_script(sides, &script);
        status = EXIT_DIFFERENT;
    }
    free(script.changes);
    return worse(status, options.brief ? EXIT_SAME : check_last_newlines(sides));
}

static int compare_texts(struct pair *pair) {
    struct side *sides = pair->sides;
    size_t common = common_start(&sides[0].text, &sides[1].text);
    bool binary = !options.text && (is_binary(&sides[0]) || is_binary(&sides[1]));
    if (common == sides[0].text.size && common == sides[1].text.size)
        return worse(report_identity(sides),
                     binary || options.brief ? EXIT_SAME : check_last_newlines(sides));
    if (options.brief && (binary || !ignoring()))
        return report_difference(sides, "Files");
    if (binary)
        return report_difference(sides, "Binary files");
    return compare_lines(pair, common);
}

/* Open and read one side.  returns  EXIT_SAME or EXIT_TROUBLE. */
static int read_side(struct side *side) {
    side->text = (struct text){.data = ""};
    if (side->absent)
        return EXIT_SAME;
    int fd = is_stdin(side->name) ? STDIN_FILENO : open(side->name, O_RDONLY | O_CLOEXEC);
    size_t size = S_ISREG(side->status.st_mode) ? (size_t)side->status.st_size : 0;
    int error_number = fd < 0 ? errno : text_read(&side->text, fd, size);
    return error_number ? trouble(side->name, error_number) : EXIT_SAME;
}

static int compare_files(struct pair *pair) {
    struct side *sides = pair->sides;
    bool regular = S_ISREG(sides[0].status.st_mode) && S_ISREG(sides[1].status.st_mode);
    if (options.brief && !ignoring() && regular && sides[0].status.st_size != sides[1].status.st_size &&
        !is_stdin(sides[0].name) && !is_stdin(sides[1].name))
        return report_difference(sides, "Files");
    int status = worse(read_side(&sides[0]), read_side(&sides[1]));
    if (status == EXIT_SAME)
        status = compare_texts(pair);
    for (int f = 0; f < 2; f++) {
        int error_number = text_free(&sides[f].text);
        if (error_number && status != EXIT_TROUBLE)
            status = trouble(sides[f].name, error_number);
        free_lines(&sides[f]);
    }
    return status;
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

static int report_types(const struct side sides[2]) {
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

/* A name that is in both directories, or with `only` in one of them. */
static int compare_entry(const struct pair *directories, const char *name, int only) {
    struct pair pair = {.parent = directories};
    if (only >= 0 && !options.new_file) {
        out_format("Only in %s: %s\n", directories->sides[only].name, name);
        return EXIT_DIFFERENT;
    }
    for (int f = 0; f < 2; f++) {
        pair.sides[f].name = join(directories->sides[f].name, name);
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

/* A directory that is its own ancestor, through a symbolic link. */
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
    clock_gettime(CLOCK_REALTIME, &side->status.st_mtim); /* it is being written */
    return 0;
}

/* With -N a file that is missing counts as empty, if the other one is there. */
static int stat_pair(struct pair *pair) {
    struct side *sides = pair->sides;
    int errors[2] = {stat_side(&sides[0]), stat_side(&sides[1])}, status = EXIT_SAME;
    for (int f = 0; f < 2; f++) {
        if (errors[f] == ENOENT && !errors[1 - f] && options.new_file && !is_stdin(sides[f].name))
            sides[f].absent = true;
        else if (errors[f])
            status = trouble(sides[f].name, errors[f]);
    }
    for (int f = 0; f < 2; f++)
        if (sides[f].absent)
            sides[f].status.st_mode = sides[1 - f].status.st_mode;
    return status;
}

/* A file against a directory: against the file of the same name in it. */
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
        return report_types(sides);
    return compare_files(pair);
}

int compare(const char *name0, const char *name1) {
    struct pair pair = {
        .sides = {{.name = name0, .label = options.labels[0]}, {.name = name1, .label = options.labels[1]}}};
    return compare_pair(&pair);
}
