/* SPDX-License-Identifier: MIT
 *
 * command_stat.c - "asf stat": runs a program and reports its I/O.
 *
 * In each process the library appends a line per stream to a temporary file.  libasf_unix counts the
 * program's own reads and writes; it serves them only with --unix.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interfaces/command/command_child.h"
#include "interfaces/command/command_report.h"
#include "interfaces/command/command_table.h"

/* --- the lines of the library ------------------------------------------------------------- */

/* Returns false if the line is not the library's, or if a name in it has a tab. */
static bool parse_line(char *line, struct stream_report *s) {
    enum { FIELDS = 12 };
    char *field[FIELDS], *next = line;
    for (int i = 0; i < FIELDS; i++)
        if (!(field[i] = strsep(&next, "\t")))
            return false;
    uint64_t numbers[5];
    for (int i = 0; i < 5; i++)
        numbers[i] = strtoull(field[5 + i], NULL, 10);
    *s = (struct stream_report){.program = field[1],
                                .process = strtol(field[2], NULL, 10),
                                .name = field[3],
                                .module = field[4],
                                .in = numbers[0],
                                .out = numbers[1],
                                .calls = numbers[2],
                                .free = numbers[3],
                                .syscalls = numbers[4],
                                .why = field[10],
                                .libc = field[11][0] == '-' ? -1 : strtoll(field[11], NULL, 10)};
    return !strcmp(field[0], "asf:") && !next;
}

/* The lines are never freed: the report points into them. */
static void read_lines(struct report *r, int fd) {
    FILE *in = fdopen(fd, "r");
    size_t room = 0, size;
    char *line = NULL;
    while (in && getline(&line, &size, in) > 0) {
        line[strcspn(line, "\n")] = '\0';
        if (r->count == room) {
            room = room ? 2 * room : 16;
            r->streams = realloc(r->streams, room * sizeof *r->streams);
            if (!r->streams)
                asf__fail("stat: realloc: %s; give asf more memory", strerror(errno));
        }
        if (parse_line(line, &r->streams[r->count]))
            r->count++;
        line = NULL;
    }
    if (in)
        fclose(in);
}

/* --- the program ---------------------------------------------------------------------------- */

/* Returns whether exec failed; asf__execute has then printed a message. */
static bool fork_program(const struct program *program, char **argv, const struct serving *s) {
    int failure[2];
    if (pipe2(failure, O_CLOEXEC) < 0)
        asf__fail("stat: pipe2: %s; raise 'ulimit -n'", strerror(errno));
    pid_t pid = asf__fork();
    if (pid < 0)
        asf__fail("stat: fork: %s; end some processes", strerror(errno));
    if (pid == 0) {
        if (s->prepare)
            s->prepare();
        int status = asf__execute(program, argv, s);
        dprintf(failure[1], "!");
        _exit(status);
    }
    close(failure[1]);
    FILE *why = fdopen(failure[0], "r");
    bool failed = why && fgetc(why) != EOF;
    if (why)
        fclose(why);
    return failed;
}

bool asf__report_program(const struct program *program, char **argv, const struct serving *asked,
                         struct report *r) {
    struct serving s = *asked;
    char *path;
    asf__preload(UNIX_LIBRARY); /* fails before the program starts */
    signal(SIGCHLD, SIG_DFL);
    int fd = asf__temporary("stat", &path);
    const char *given = getenv("ASF_OPTIONS");
    given = asf__text(",%s,%s,", given ? given : "", s.options ? s.options : "");
    *r = (struct report){.command = argv[0],
                         .obstacle = asf__obstacle(program),
                         .unix_io = s.library == UNIX_LIBRARY,
                         .decompress = strstr(given, ",decompress=on,") || strstr(given, ",decompress=1,"),
                         .exact = strstr(given, ",buffer=libc,")};
    s.options = asf__text("%s%sstats=%s%s", s.options ? s.options : "", s.options ? "," : "", path,
                          r->unix_io ? "" : ",private=off");
    s.library = UNIX_LIBRARY;
    bool failed = fork_program(program, argv, &s);
    r->status = asf__wait(NULL);
    unlink(path);
    asf__child_done();
    read_lines(r, fd);
    if (program->obstacle == UNREADABLE && r->count > 0)
        r->obstacle = NULL;
    return !failed;
}

/* --- the command ------------------------------------------------------------------------------- */

/* Write the report in one go, so that no other process's message splits it. */
static void write_report(const struct report *r, FILE *to, bool json) {
    char *text = NULL;
    size_t size = 0;
    FILE *lines = open_memstream(&text, &size);
    if (!lines)
        asf__fail("stat: malloc: %s; give asf more memory", strerror(errno));
    (json ? asf__report_json : asf__report_print)(r, lines);
    fclose(lines);
    fwrite(text, 1, size, to);
    if (fflush(to) != 0)
        asf__warn("stat: the report: write: %s; name another file with --output", strerror(errno));
    free(text);
}

int asf__stat_program(const struct program *program, char **argv, const struct serving *s, const char *output,
                      bool json) {
    struct report r;
    FILE *to = output ? fopen(output, "we") : stderr;
    if (!to)
        asf__fail("stat: --output: %s: open: %s; name a writable file", output, strerror(errno));
    if (asf__report_program(program, argv, s, &r))
        write_report(&r, to, json);
    return asf__exit_status(r.status);
}

int asf__stat(int argc, char **argv) {
    struct serving s = {0};
    const char *output = NULL;
    bool json = false;
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, "+:ho:", asf__options_of("stat"), NULL)) != -1;) {
        if (option == 'h')
            return asf__help_of("stat");
        if (option == 'j')
            json = true;
        else if (option == 'o')
            output = optarg;
        else if (!asf__serving_option(&s, "stat", option, optarg))
            asf__bad_option("stat", option, argv);
    }
    if (optind == argc)
        asf__fail("stat: no program given; see 'asf stat --help'");
    struct program program = asf__find_program(argv[optind]);
    return asf__stat_program(&program, argv + optind, &s, output, json);
}
