/* SPDX-License-Identifier: MIT
 *
 * command_messages.c - messages, formatted text and temporary files for all subcommands.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interfaces/command/command.h"

static void print_line(const char *format, va_list arguments) {
    fputs("asf: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

void asf__warn(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print_line(format, arguments);
    va_end(arguments);
}

void asf__fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print_line(format, arguments);
    va_end(arguments);
    exit(EXIT_OWN_FAILURE);
}

/* Parse a number of bytes, or of units K or M.  Returns 0 if the value is invalid. */
static size_t parse_size(const char *value) {
    char *end;
    errno = 0;
    unsigned long long n = strtoull(value, &end, 10);
    unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : 0;
    if (value[0] < '0' || value[0] > '9' || end[shift > 0] || errno != 0 || n > 1ull << (40 - shift))
        return 0;
    return (size_t)n << shift;
}

size_t asf__size(const char *command, const char *option, const char *value) {
    size_t n = parse_size(value);
    if (n == 0)
        asf__fail("%s: --%s %s: not a size; give bytes, or a number with K or M, such as 64K", command,
                  option, value);
    return n;
}

const char *asf__join_list(const char *list, char separator, const char *item) {
    if (list == NULL || list[0] == '\0')
        return item;
    return item[0] == '\0' ? list : asf__text("%s%c%s", list, separator, item);
}

int asf__above_stderr(int fd) {
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    int above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), error = errno;
    close(fd);
    errno = error;
    return above;
}

int asf__temporary(const char *command, char **path) {
    const char *directory = getenv("TMPDIR");
    if (!directory || directory[0] != '/' || strchr(directory, ','))
        directory = "/tmp";
    char *name = asf__text("%s/asf-%s.XXXXXX", directory, command);
    int fd = mkostemp(name, O_CLOEXEC);
    if (fd < 0)
        asf__fail("%s: %s: open: %s; set TMPDIR to a directory with free space", command, name,
                  strerror(errno));
    if (path)
        *path = name;
    else
        unlink(name);
    return asf__above_stderr(fd);
}

char *asf__text(const char *format, ...) {
    char *text;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        asf__fail("malloc: %s; give asf more memory", strerror(ENOMEM));
    return text;
}

int asf__close_stdout(void) {
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_SUCCESS;
    asf__warn("standard output: write: %s; redirect it to a file system with free space", strerror(errno));
    return EXIT_OWN_FAILURE;
}
