/* SPDX-License-Identifier: MIT
 *
 * command.h - what the parts of the asf command share.
 * The command is linked with none of the libraries: "asf run" only arranges that another
 * program is served, and what "asf shm" needs is compiled into the command.  So is what "asf record"
 * needs into asf-record, which it becomes.
 */
#ifndef ASF_COMMAND_H
#define ASF_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

/* Exit statuses, as env(1) and the shell give them. */
enum exit_status {
    EXIT_OWN_FAILURE = 125, /* asf itself failed; the program was not started */
    EXIT_CANNOT_RUN = 126,  /* the program is there, but cannot be run */
    EXIT_NOT_FOUND = 127,   /* there is no such program, or no interpreter of it */
};

/* What keeps a program from being served. */
enum obstacle {
    NO_OBSTACLE,
    CANNOT_TELL,       /* the file cannot be read */
    GO_PROGRAM,        /* statically linked, as a rule, and without libc */
    STATICALLY_LINKED, /* no dynamic linker is there to preload anything */
    FOREIGN_MACHINE,   /* not this one, 64-bit */
    NO_LIBRARY,        /* for OTHER_LIBC, whose build of libasf_stdio is not there */
    FOREIGN_LOADER,    /* the dynamic linker of a libc that is neither glibc nor musl */
    SET_ID,            /* set-uid or set-gid: the dynamic linker ignores LD_PRELOAD */
    CAPABILITIES,      /* file capabilities: likewise */
};

/* The libcs that libasf_stdio is built for.  OWN_LIBC is the one of this command. */
enum libc { GLIBC, MUSL, UNKNOWN_LIBC };
#ifdef __GLIBC__
#define OWN_LIBC   GLIBC
#define OTHER_LIBC MUSL
#else
#define OWN_LIBC   MUSL
#define OTHER_LIBC GLIBC
#endif

/* A program as execvp() would find it. */
struct program {
    const char *path;       /* the file that execvp() takes; NULL when there is none */
    const char *binary;     /* the file that is loaded: path, or the interpreter of a script */
    const char *loader;     /* the dynamic linker that the binary names; NULL when it names none */
    enum libc libc;         /* of that loader; OWN_LIBC when there is none */
    enum obstacle obstacle; /* of the binary */
};

/* asf__find_program: look at the file that execvp(name) would run.
 * lifetime  its strings live as long as the process. */
struct program asf__find_program(const char *name);

/* asf__is_library: whether the file is a shared object that a program of this machine
 * can load. */
bool asf__is_library(const char *path);

/* The library to preload: libasf_stdio, or libasf_unix, which serves Unix I/O besides stdio. */
enum library { LIBRARY_OF_STDIO, LIBRARY_OF_UNIX };

/* asf__preload: LD_PRELOAD for programs that libasf_stdio.so, or libasf_unix.so, is to serve; the same
 * for all that this process starts.  The library stands where libc would: last, or
 * before libc if that is there, so that wrappers of other libraries come before it.
 * The build for OTHER_LIBC, if it is installed, follows: each loader finds its own one alone;
 * libasf_stdio's where libasf_unix's is missing.
 * errors  ends the process with EXIT_OWN_FAILURE when there is none that can
 *         be preloaded. */
const char *asf__preload(enum library library);

/* asf__other_library_flaw: the library that is to serve programs for OTHER_LIBC, and what keeps it from doing
 * so, as "PATH is missing"; NULL when nothing does. */
const char *asf__other_library_flaw(enum library library);

/* asf__libc_name: "glibc" or "musl". */
const char *asf__libc_name(enum libc libc);

/* asf__run: "asf run".  argv[0] is "run".  Returns the exit status, if it
 * returns at all. */
int asf__run(int argc, char **argv);

/* How a program is to be served: by the options that "run", "stat" and "compare" share. */
struct serving {
    enum library library;
    const char *options;   /* of the library, in the order they were given; or NULL */
    bool decompress;       /* they ask for it */
    bool exact, sized;     /* they ask for libc's buffers, for a size of buffers */
    void (*prepare)(void); /* the process that is to become the program; or NULL */
};

/* asf__serving_option: take one of those.  returns  false: it is none.
 * errors  ends the process with EXIT_OWN_FAILURE when its argument is unusable. */
bool asf__serving_option(struct serving *s, const char *command, int option, const char *argument);

/* asf__execute: become the program, served.
 * returns  only when that failed, after a message: EXIT_CANNOT_RUN or EXIT_NOT_FOUND. */
int asf__execute(char **argv, const struct serving *s);

/* asf__prepare: set the environment in which the program will be served.
 * asf__cannot_execute: tell why it cannot be executed.  returns  EXIT_CANNOT_RUN or EXIT_NOT_FOUND. */
void asf__prepare(const struct program *program, const struct serving *s);
int asf__cannot_execute(const struct program *program, const char *name, int error);

/* asf__obstacle: what keeps the program from being served, in words; or NULL. */
const char *asf__obstacle(const struct program *program);

/* asf__stat: "asf stat".  argv[0] is "stat".  Returns the exit status.
 * asf__stat_program: run the program and report to the file, or to stderr if that is NULL. */
int asf__stat(int argc, char **argv);
int asf__stat_program(char **argv, const struct serving *s, const char *output, bool json);

/* asf__compare: "asf compare".  argv[0] is "compare".  Returns the exit status. */
int asf__compare(int argc, char **argv);

/* asf__serve: let programs that this process becomes be served, with these
 * options more; "" for none. */
void asf__serve(enum library library, const char *options);

/* asf__join_list: the list with one more item; either may be empty. */
const char *asf__join_list(const char *list, char separator, const char *item);

/* asf__pipeline: "asf pipe".  argv[0] is "pipe".  Returns the exit status. */
int asf__pipeline(int argc, char **argv);

/* asf__make_pipe: pipe2(O_CLOEXEC), with descriptors that are not those of standard input, output and error.
 * errors  ends the process with EXIT_OWN_FAILURE; `command` is for the message. */
void asf__make_pipe(const char *command, int ends[2]);

/* asf__parallel: "asf parallel".  argv[0] is "parallel".  Returns the exit status. */
int asf__parallel(int argc, char **argv);

/* asf__shm: "asf shm".  argv[0] is "shm".  Returns the exit status. */
int asf__shm(int argc, char **argv);

/* asf__tune: "asf tune".  argv[0] is "tune".  Returns the exit status. */
int asf__tune(int argc, char **argv);

/* asf__own_directory: the directory of this executable.
 * errors  ends the process with EXIT_OWN_FAILURE where /proc is not mounted, and the path by which the
 *         command was executed leads nowhere from the working directory. */
const char *asf__own_directory(void);

/* asf__warn: print one line, "asf: ...", on stderr.  asf__fail: the same, then
 * end the process with EXIT_OWN_FAILURE. */
void asf__warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void asf__fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* asf__bad_option: fail with a complaint about what getopt_long, which answered
 * `option`, did not understand; `command` is "pipe" or "shm ls". */
void asf__bad_option(const char *command, int option, char **argv) __attribute__((noreturn));

/* asf__size: the bytes that an option's value asks for, as the library takes it; it is never 0.  It
 * fails with a complaint about anything else; `command` is "run" or "record". */
size_t asf__size(const char *command, const char *option, const char *value);

/* asf__temporary: a new file of nobody else's, open, in TMPDIR or /tmp; *path, if asked for, has no commas
 * and is for the caller to unlink, else the file has no name any more. */
int asf__temporary(const char *command, char **path);

/* asf__text: format into memory that is never freed. */
char *asf__text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* asf__close_stdout: flush what has been printed.
 * returns  0, or EXIT_OWN_FAILURE after a message when it could not be written. */
int asf__close_stdout(void);

#endif
