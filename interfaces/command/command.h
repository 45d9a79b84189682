/* SPDX-License-Identifier: MIT
 *
 * command.h - declarations that the files of the asf command share.
 *
 * The command links none of asf's libraries.  "asf run" only sets up another program to be served, and the
 * code for "asf shm" is compiled into the command.  "asf record" executes asf-record, which contains its own
 * code.
 */
#ifndef ASF_COMMAND_H
#define ASF_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

/* Exit statuses, as in env(1) and the shell. */
enum exit_status {
    EXIT_OWN_FAILURE = 125, /* asf itself failed; the program was not started */
    EXIT_CANNOT_RUN = 126,  /* the program exists, but cannot be run */
    EXIT_NOT_FOUND = 127,   /* the program, or its interpreter, does not exist */
};

/* Reasons why a program cannot be served. */
enum obstacle {
    NO_OBSTACLE,
    UNREADABLE,        /* the file cannot be read */
    GO_PROGRAM,        /* usually statically linked, and without libc */
    STATICALLY_LINKED, /* no dynamic linker exists to preload the library */
    FOREIGN_MACHINE,   /* another architecture, or not 64-bit */
    NO_LIBRARY,        /* the program uses OTHER_LIBC, and the libasf_stdio for that libc is missing */
    FOREIGN_LOADER,    /* the dynamic linker of a libc that is neither glibc nor musl */
    SET_ID,            /* set-uid or set-gid: the dynamic linker ignores LD_PRELOAD */
    CAPABILITIES,      /* file capabilities: the dynamic linker ignores LD_PRELOAD */
};

/* The libcs that libasf_stdio is built for.  OWN_LIBC is the libc of this command. */
enum libc { GLIBC, MUSL, UNKNOWN_LIBC };
#ifdef __GLIBC__
#define OWN_LIBC   GLIBC
#define OTHER_LIBC MUSL
#else
#define OWN_LIBC   MUSL
#define OTHER_LIBC GLIBC
#endif

/* A program as execvp() finds it. */
struct program {
    const char *path;       /* the file that execvp() executes; NULL: not found */
    const char *binary;     /* the file that the kernel loads: path, or the interpreter of a script */
    const char *loader;     /* the dynamic linker that the binary names; NULL: none */
    enum libc libc;         /* the libc of that loader; OWN_LIBC without a loader */
    enum obstacle obstacle; /* the obstacle of the binary */
};

/* asf__find_program: inspect the file that execvp(name) would run.
 * lifetime  the strings are never freed */
struct program asf__find_program(const char *name);

/* asf__is_library: returns whether the file is a shared object for this machine. */
bool asf__is_library(const char *path);

/* The library to preload: libasf_stdio, or libasf_unix, which serves stdio and Unix I/O. */
enum library { STDIO_LIBRARY, UNIX_LIBRARY };

/* asf__preload: returns the LD_PRELOAD for programs to be served.  The first call for a library fixes its
 * value.  The library is the last entry, or precedes libc if LD_PRELOAD names libc, so wrappers of other
 * libraries precede it.  The build for OTHER_LIBC follows if it is installed; each loader finds only its own
 * build.  If libasf_unix is missing for OTHER_LIBC, its libasf_stdio takes its place.
 * errors  ends the process with EXIT_OWN_FAILURE if no library can be preloaded */
const char *asf__preload(enum library library);

/* asf__other_library_flaw: returns why OTHER_LIBC's library cannot be preloaded, as "PATH is missing"; NULL
 * if it can. */
const char *asf__other_library_flaw(enum library library);

/* asf__libc_name: "glibc" or "musl". */
const char *asf__libc_name(enum libc libc);

/* asf__run: "asf run".  argv[0] is "run".  Returns the exit status, only if the program was not executed. */
int asf__run(int argc, char **argv);

/* How to serve a program: the options that "run", "stat" and "compare" share. */
struct serving {
    enum library library;
    const char *options;   /* options of the library, in the order given; or NULL */
    bool decompress;       /* the options ask to decompress input */
    bool exact, sized;     /* --exact (libc's buffers) and --buffer (a size) */
    void (*prepare)(void); /* the child calls it before exec; or NULL */
};

/* asf__serving_option: handle an option of struct serving.  Returns false if `option` is not among them.
 * errors  ends the process with EXIT_OWN_FAILURE if the argument is unusable */
bool asf__serving_option(struct serving *s, const char *command, int option, const char *argument);

/* asf__execute: replace this process by the program, served.
 * returns  only on failure, after a message: EXIT_CANNOT_RUN or EXIT_NOT_FOUND */
int asf__execute(const struct program *program, char **argv, const struct serving *s);

/* asf__prepare: set the environment in which the program is served.
 * asf__cannot_execute: report why exec failed.  Returns EXIT_CANNOT_RUN or EXIT_NOT_FOUND. */
void asf__prepare(const struct program *program, const struct serving *s);
int asf__cannot_execute(const struct program *program, const char *name, int error);

/* asf__obstacle: returns, in words, why the program cannot be served; NULL if it can. */
const char *asf__obstacle(const struct program *program);

/* asf__stat: "asf stat".  argv[0] is "stat".  Returns the exit status.
 * asf__stat_program: run the program and write the report to the file `output`, or to stderr if it is
 * NULL. */
int asf__stat(int argc, char **argv);
int asf__stat_program(const struct program *program, char **argv, const struct serving *s, const char *output,
                      bool json);

/* asf__compare: "asf compare".  argv[0] is "compare".  Returns the exit status. */
int asf__compare(int argc, char **argv);

/* asf__serve: set the environment so that the programs this process executes are served.  `options` are added
 * to ASF_OPTIONS; "" for none. */
void asf__serve(enum library library, const char *options);

/* asf__join_list: returns the list with the item appended; either may be empty, and the list NULL. */
const char *asf__join_list(const char *list, char separator, const char *item);

/* asf__pipeline: "asf pipe".  argv[0] is "pipe".  Returns the exit status. */
int asf__pipeline(int argc, char **argv);

/* asf__make_pipe: pipe2(O_CLOEXEC), with both descriptors above 2.
 * errors  ends the process with EXIT_OWN_FAILURE; the message names `command` */
void asf__make_pipe(const char *command, int ends[2]);

/* asf__parallel: "asf parallel".  argv[0] is "parallel".  Returns the exit status. */
int asf__parallel(int argc, char **argv);

/* asf__shm: "asf shm".  argv[0] is "shm".  Returns the exit status. */
int asf__shm(int argc, char **argv);

/* asf__tune: "asf tune".  argv[0] is "tune".  Returns the exit status. */
int asf__tune(int argc, char **argv);

/* asf__own_directory: returns the directory of this executable.
 * errors  ends the process with EXIT_OWN_FAILURE if /proc is not mounted and the path that the command was
 *         executed by cannot be resolved */
const char *asf__own_directory(void);

/* asf__warn: print one line, "asf: ...", on stderr.
 * asf__fail: print such a line, then end the process with EXIT_OWN_FAILURE. */
void asf__warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void asf__fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* asf__bad_option: fail with a message about the argument that getopt_long rejected.
 *   option   getopt_long's result: ':' or '?'
 *   command  for the message: "pipe" or "shm ls" */
void asf__bad_option(const char *command, int option, char **argv) __attribute__((noreturn));

/* asf__size: parse an option's value, a size as in ASF_OPTIONS.  Returns the bytes, never 0.
 * errors  ends the process with EXIT_OWN_FAILURE if the value is not a size; the message names `command` */
size_t asf__size(const char *command, const char *option, const char *value);

/* asf__above_stderr: move a new descriptor, which has the number of a closed standard stream, above 2.
 * returns  the new number; -1 with errno: fd was -1, or no descriptor is free */
int asf__above_stderr(int fd);

/* asf__temporary: create a file in TMPDIR or /tmp and return its descriptor, which is above 2.
 *   path  out, or NULL: the file's name, without commas; the caller unlinks it.  With NULL the file is
 *         unlinked here */
int asf__temporary(const char *command, char **path);

/* asf__text: format into memory from malloc; few callers free it. */
char *asf__text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* asf__close_stdout: flush standard output.
 * returns  0, or EXIT_OWN_FAILURE after a message if writing failed */
int asf__close_stdout(void);

#endif
