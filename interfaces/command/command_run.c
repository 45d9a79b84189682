/* SPDX-License-Identifier: MIT
 *
 * command_run.c - "asf run": start a program that libasf_stdio.so, or libasf_unix.so, serves.
 *
 * Layer: interfaces/command; may include command.h, libc's headers, lib.
 *
 * All there is to do is to set LD_PRELOAD and ASF_OPTIONS and to become the
 * program.  What can be said beforehand of a program that cannot be served is
 * said here, for the library will not be there to say it.
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
#include "lib/sys/machine.h"
#include "lib/sys/stats.h"

static int print_help(void) {
    fputs("usage: asf run [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
          "\n"
          "Run PROGRAM with its stdio served by asf.\n"
          "\n"
          "  --stats           report on stderr, at exit, what served each stream\n"
          "  --stats=FILE      append the report to FILE, in tab-separated fields\n"
          "  --unix            serve its Unix I/O, too: libasf_unix in the place of libasf_stdio\n"
          "  --buffer SIZE     streams that libc would fully buffer get buffers of this many\n"
          "                    bytes, of K or of M (64K), as if by setvbuf\n"
          "  --exact           no larger buffers for streams that move much: the transfers of\n"
          "                    libc, to the system call\n"
          "  --decompress      decode input that zstd, gzip, lz4 or xz has compressed\n"
          "  --options STRING  options for the library: KEY=VALUE[,KEY=VALUE]...;\n"
          "                    they follow, and so overrule, those in ASF_OPTIONS\n"
          "  --help            print this\n"
          "\n"
          "Keys that the library knows (asf(1) gives the defaults):\n"
          "  stats=stderr|PATH  report each stream: to stderr, or appended to a file\n"
          "  buffer=auto|libc|SIZE  the buffers of streams that libc would fully buffer; auto,\n"
          "                     the default: libc's, and large ones for streams that move much\n"
          "  decompress=on|off  decode compressed input\n"
          "  module=map|read    serve input files of the ASI by mapping, or by reading\n"
          "  map_min=SIZE       map no input file that is smaller\n"
          "  window=SIZE        size of the window through which a file is mapped\n"
          "  tune=on|off        go by what 'asf tune' measured\n"
          "  shm=posix|sysv     where segments of shared memory are made\n"
          "  verbose=1          tell each stream's module, and why, as it is chosen\n"
          "With --unix, also:\n"
          "  rings=on|off       put a ring in shared memory beside the pipes of popen\n"
          "\n"
          "Exit status: 125 when asf itself fails, 126 when PROGRAM cannot be run, 127 when\n"
          "it, or its interpreter, is not found; otherwise that of PROGRAM.\n",
          stdout);
    return asf__close_stdout();
}

const char *asf__join_list(const char *list, char separator, const char *item) {
    if (list == NULL || list[0] == '\0')
        return item;
    return item[0] == '\0' ? list : asf__text("%s%c%s", list, separator, item);
}

/* The option that makes the library report to this file.  The path is made
 * absolute because programs change their directory, and opened once because
 * nobody would see the library fail to. */
static const char *stats_to_file(const char *file) {
    char directory[PATH_MAX] = "";
    if (file[0] == '\0' || strchr(file, ',') != NULL)
        asf__fail("run: --stats=%s: the file needs a name without commas, which separate options", file);
    int fd = asf__stats_open(file);
    if (fd < 0)
        asf__fail("run: --stats: %s: open: %s; name a file that can be appended to", file, strerror(-fd));
    close(fd);
    if (file[0] != '/' && getcwd(directory, sizeof directory) == NULL)
        asf__fail("run: --stats: getcwd: %s; name the file by its absolute path", strerror(errno));
    if (strchr(directory, ',') != NULL)
        asf__fail("run: --stats: %s/%s: the path must have no commas, which separate options", directory,
                  file);
    return file[0] == '/' ? asf__text("stats=%s", file) : asf__text("stats=%s/%s", directory, file);
}

/* The library would only warn of what is none. */
static const char *buffer_of(const char *size) {
    asf__size("run", "buffer", size);
    return asf__text("buffer=%s", size);
}

static const char *remedy(enum obstacle obstacle) {
    switch (obstacle) {
    case CANNOT_TELL:
        return "cannot be read, so that nobody knows whether it can be served; make it readable to be told";
    case STATICALLY_LINKED:
        return "is statically linked and runs without asf; link it with libasf_stdio.a instead";
    case FOREIGN_MACHINE:
        return "is not for 64-bit " ASF_MACHINE ", and asf serves nothing else; give it a program that is";
    case FOREIGN_LOADER:
        return "uses another libc than glibc and runs without asf; build it for glibc";
    case SET_ID:
        return "is set-uid or set-gid and runs without asf: ld.so preloads nothing then; run it as its owner";
    case CAPABILITIES:
        return "has file capabilities and runs without asf: ld.so preloads nothing then; run it as root";
    case NO_OBSTACLE:
        break;
    }
    return NULL;
}

/* A program of another machine or libc would only complain about, or be broken
 * by, what it cannot load.  The others pass it on to programs that they start. */
static bool can_load(enum obstacle obstacle) {
    return obstacle != FOREIGN_MACHINE && obstacle != FOREIGN_LOADER;
}

static void set_environment(const char *name, const char *value) {
    if (setenv(name, value, 1) != 0)
        asf__fail("setenv %s: %s; make it shorter", name, strerror(errno));
}

static void set_options(const char *options) {
    if (options[0] != '\0')
        set_environment("ASF_OPTIONS", asf__join_list(getenv("ASF_OPTIONS"), ',', options));
}

void asf__serve(enum library library, const char *options) {
    set_environment("LD_PRELOAD", asf__preload(library));
    set_options(options);
}

/* What the options of "asf run" ask for. */
struct request {
    enum library library;
    const char *stats;   /* an option of the library, or NULL */
    const char *options; /* more of them, or NULL; in the order they were given */
    bool help;
};

static void prepare_environment(const struct program *program, const struct request *r) {
    const char *options = asf__join_list(r->stats, ',', r->options != NULL ? r->options : "");
    if (can_load(program->obstacle))
        asf__serve(r->library, options);
    else
        set_options(options);
}

/* execvp's ENOENT is also that of a missing interpreter. */
static int cannot_execute(const struct program *program, const char *name, int error) {
    if (error != ENOENT)
        asf__warn("%s: exec: %s; check its permissions and what kind of file it is",
                  program->path != NULL ? program->path : name, strerror(error));
    else if (program->path != NULL)
        asf__warn("%s: exec: %s; the interpreter that it names is missing", program->path, strerror(error));
    else
        asf__warn("%s: exec: %s; check the name and PATH", name, strerror(error));
    return error == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

/* Returns only when the program could not be started. */
static int execute(char **argv, const struct request *r) {
    struct program program = asf__find_program(argv[0]);
    const char *told = remedy(program.obstacle);
    if (told && program.binary && (program.obstacle != CANNOT_TELL || r->stats))
        asf__warn("%s %s", program.binary, told);
    prepare_environment(&program, r);
    if (program.obstacle == FOREIGN_MACHINE)
        execv(program.path, argv); /* execvp would give it to the shell, as a script */
    else
        execvp(argv[0], argv);
    return cannot_execute(&program, argv[0], errno);
}

static struct request parse(int argc, char **argv) {
    static const struct option long_options[] = {
        {"stats", optional_argument, NULL, 's'},   {"unix", no_argument, NULL, 'u'},
        {"buffer", required_argument, NULL, 'b'},  {"exact", no_argument, NULL, 'e'},
        {"options", required_argument, NULL, 'o'}, {"decompress", no_argument, NULL, 'd'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0}};
    struct request request = {0};
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, "+:h", long_options, NULL)) != -1;) {
        if (option == 's')
            request.stats = optarg == NULL ? "stats=stderr" : stats_to_file(optarg);
        else if (option == 'u')
            request.library = LIBRARY_OF_UNIX;
        else if (option == 'b')
            request.options = asf__join_list(request.options, ',', buffer_of(optarg));
        else if (option == 'e')
            request.options = asf__join_list(request.options, ',', "buffer=libc");
        else if (option == 'd')
            request.library = LIBRARY_OF_UNIX, /* or programs that read() themselves go without */
                request.options = asf__join_list(request.options, ',', "decompress=on");
        else if (option == 'o')
            request.options = asf__join_list(request.options, ',', optarg);
        else if (option == 'h')
            request.help = true;
        else
            asf__bad_option("run", option, argv);
    }
    return request;
}

int asf__run(int argc, char **argv) {
    struct request request = parse(argc, argv);
    if (request.help)
        return print_help();
    if (optind == argc)
        asf__fail("run: no program given; see 'asf run --help'");
    return execute(argv + optind, &request);
}
