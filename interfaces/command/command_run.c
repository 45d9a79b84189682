/* SPDX-License-Identifier: MIT
 *
 * command_run.c - "asf run": executes a program that libasf_stdio.so or libasf_unix.so serves.
 *
 * It sets LD_PRELOAD and ASF_OPTIONS, then executes the program.  It warns of programs that cannot be served,
 * because the library cannot do so where it is not loaded.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interfaces/command/command.h"
#include "interfaces/command/command_table.h"
#include "lib/sys/machine.h"
#include "lib/sys/stats.h"

/* Returns the option that makes the library append its report to this file.  The path is absolute, because
 * programs change their directory.  Open the file once here, because the library's failure would go
 * unseen. */
static const char *stats_to_file(const char *file) {
    char directory[PATH_MAX] = "";
    if (file[0] == '\0' || strchr(file, ',') != NULL)
        asf__fail("run: --stats=%s: give a file name without commas", file);
    int fd = asf__stats_open(file);
    if (fd < 0)
        asf__fail("run: --stats: %s: open: %s; name a file that asf can append to", file, strerror(-fd));
    close(fd);
    if (file[0] != '/' && getcwd(directory, sizeof directory) == NULL)
        asf__fail("run: --stats: getcwd: %s; give an absolute path", strerror(errno));
    if (strchr(directory, ',') != NULL)
        asf__fail("run: --stats: %s/%s: the path contains a comma; name another file", directory, file);
    return file[0] == '/' ? asf__text("stats=%s", file) : asf__text("stats=%s/%s", directory, file);
}

static const char *remedy(enum obstacle obstacle) {
    switch (obstacle) {
    case UNREADABLE:
        return "cannot be read, so asf cannot tell whether it can be served; make it readable";
    case GO_PROGRAM:
        return "is a Go program, which makes its own system calls: asf cannot help";
    case STATICALLY_LINKED:
        return "is statically linked and runs without asf; link it with libasf_stdio.a instead";
    case FOREIGN_MACHINE:
        return "is not for 64-bit " ASF_MACHINE " and runs without asf; use a program for this machine";
    case FOREIGN_LOADER:
        return "uses another libc than glibc or musl and runs without asf; build it for glibc or musl";
    case SET_ID:
        return "is set-uid or set-gid and runs without asf: ld.so ignores LD_PRELOAD; run it as its owner";
    case CAPABILITIES:
        return "has file capabilities and runs without asf: ld.so ignores LD_PRELOAD; run it as root";
    case NO_LIBRARY: /* asf__obstacle has its text */
    case NO_OBSTACLE:
        break;
    }
    return NULL;
}

/* A program of another machine or libc cannot load the library, and its loader would complain or abort.
 * Programs with other obstacles keep LD_PRELOAD for the programs they start. */
static bool can_load(enum obstacle obstacle) {
    return obstacle != FOREIGN_MACHINE && obstacle != FOREIGN_LOADER && obstacle != NO_LIBRARY;
}

static void set_environment(const char *name, const char *value) {
    if (setenv(name, value, 1) != 0)
        asf__fail("%s: setenv: %s; shorten it", name, strerror(errno));
}

static void set_options(const char *options) {
    if (options[0] != '\0')
        set_environment("ASF_OPTIONS", asf__join_list(getenv("ASF_OPTIONS"), ',', options));
}

void asf__serve(enum library library, const char *options) {
    set_environment("LD_PRELOAD", asf__preload(library));
    set_options(options);
}

void asf__prepare(const struct program *program, const struct serving *s) {
    const char *options = s->options != NULL ? s->options : "";
    if (can_load(program->obstacle))
        asf__serve(s->library, options);
    else
        set_options(options);
}

/* execvp also fails with ENOENT if the interpreter is missing. */
int asf__cannot_execute(const struct program *program, const char *name, int error) {
    if (error != ENOENT)
        asf__warn("%s: exec: %s; check its permissions and its file type",
                  program->path != NULL ? program->path : name, strerror(error));
    else if (program->path != NULL)
        asf__warn("%s: exec: %s; install the interpreter that it names", program->path, strerror(error));
    else
        asf__warn("%s: exec: %s; check the name and PATH", name, strerror(error));
    return error == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

static const char *missing_library(const struct program *program) {
    const char *libc = asf__libc_name(OTHER_LIBC);
    return asf__text("%s uses %s (%s) and runs without asf: %s; install the libasf_stdio for %s there",
                     program->binary, libc, program->loader, asf__other_library_flaw(STDIO_LIBRARY), libc);
}

const char *asf__obstacle(const struct program *program) {
    if (program->obstacle == NO_LIBRARY)
        return missing_library(program);
    const char *advice = remedy(program->obstacle);
    return advice && program->binary ? asf__text("%s %s", program->binary, advice) : NULL;
}

int asf__execute(const struct program *program, char **argv, const struct serving *s) {
    asf__prepare(program, s);
    if (program->obstacle == FOREIGN_MACHINE)
        execv(program->path, argv); /* execvp would run it as a shell script */
    else
        execvp(argv[0], argv);
    return asf__cannot_execute(program, argv[0], errno);
}

static void add_option(struct serving *s, const char *option) {
    s->options = asf__join_list(s->options, ',', option);
}

static void set_buffer(struct serving *s, const char *command, const char *option, bool exact) {
    *(exact ? &s->exact : &s->sized) = true;
    if (s->exact && s->sized)
        asf__fail("%s: --exact and --buffer exclude each other; give one of them", command);
    add_option(s, option);
}

bool asf__serving_option(struct serving *s, const char *command, int option, const char *argument) {
    if (option == 'u') {
        s->library = UNIX_LIBRARY;
    } else if (option == 'b') {
        asf__size(command, "buffer", argument); /* reject bad sizes here: the library only warns */
        set_buffer(s, command, asf__text("buffer=%s", argument), false);
    } else if (option == 'e') {
        set_buffer(s, command, "buffer=libc", true);
    } else if (option == 'd') {
        s->library = UNIX_LIBRARY; /* libasf_unix also serves programs that call read() directly */
        s->decompress = true;
        add_option(s, "decompress=on");
    } else if (option == 'k') {
        asf__check_keys(command, argument);
        add_option(s, argument);
    } else {
        return false;
    }
    return true;
}

int asf__run(int argc, char **argv) {
    struct serving s = {0};
    const char *stats = NULL;
    bool report = false;
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, "+:h", asf__options_of("run"), NULL)) != -1;) {
        if (option == 'h')
            return asf__help_of("run");
        if (option == 's') {
            report = optarg == NULL;
            stats = report ? NULL : stats_to_file(optarg);
        } else if (!asf__serving_option(&s, "run", option, optarg)) {
            asf__bad_option("run", option, argv);
        }
    }
    if (optind == argc)
        asf__fail("run: no program given; see 'asf run --help'");
    struct program program = asf__find_program(argv[optind]);
    if (report && strcmp(argv[optind - 1], "--stats") == 0 && !program.path)
        asf__fail("run: %s is not a program; to name a file, write --stats=%s", argv[optind], argv[optind]);
    if (s.library == UNIX_LIBRARY && program.libc == OTHER_LIBC && program.obstacle == NO_OBSTACLE &&
        asf__other_library_flaw(UNIX_LIBRARY) != NULL)
        asf__warn("%s uses %s, and asf serves only its stdio: %s; install the libasf_unix for %s there",
                  program.binary, asf__libc_name(OTHER_LIBC), asf__other_library_flaw(UNIX_LIBRARY),
                  asf__libc_name(OTHER_LIBC));
    if (report)
        return asf__stat_program(&program, argv + optind, &s, NULL, false);
    const char *obstacle = asf__obstacle(&program);
    if (obstacle && (program.obstacle != UNREADABLE || stats))
        asf__warn("%s", obstacle);
    s.options = asf__join_list(stats, ',', s.options != NULL ? s.options : "");
    return asf__execute(&program, argv + optind, &s);
}
