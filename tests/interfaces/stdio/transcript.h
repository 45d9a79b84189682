/* SPDX-License-Identifier: MIT
 *
 * transcript.h - for test programs that run under libc and under asf, and must leave the same results: the
 * value of every call, the files, both outputs, the exit status and the offset of standard input.
 *
 * A program is a set of CASEs; compare.sh runs each one in a separate process and an empty directory.
 * Standard input is a file of 3000 lines "line 000001"; standard output and standard error are files.
 */
#ifndef ASF_TESTS_TRANSCRIPT_H
#define ASF_TESTS_TRANSCRIPT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#include <wchar.h>

/* On musl: numbers instead of errors' names, and a version that includes all of glibc's changes. */
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#else
#define strerrorname_np              strerror
#define gnu_get_libc_version()       "2.99"
#define __GLIBC_PREREQ(major, minor) 1
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct test_case {
    const char *name;
    void (*run)(void);
};

/* Only other cases run a case whose name starts with an underscore. */
#define CASE(name)                                                                                           \
    static void name(void);                                                                                  \
    __attribute__((used, retain, section("cases"),                                                           \
                   aligned(sizeof(void *)))) static const struct test_case case_##name = {#name, name};      \
    static void name(void)

/* CALL: evaluates an expression, and notes its text and value; if the value is NULL or negative, also
 * errno. WITH_ERRNO always notes errno. */
#define CALL(e)       NOTED_CALL(#e, e, false)
#define WITH_ERRNO(e) NOTED_CALL(#e, e, true)
#define NOTED_CALL(text, e, always)                                                                          \
    ({                                                                                                       \
        errno = 0;                                                                                           \
        __auto_type value_ = (e);                                                                            \
        note_call(text, KIND_OF(value_), (long)value_, errno, always);                                       \
        value_;                                                                                              \
    })

enum kind { NUMBER, TEXT, WIDE_TEXT, WIDE_CHARACTER, POINTER };

#define KIND_OF(v)                                                                                           \
    _Generic((v), char *: TEXT, const char *: TEXT, wchar_t *: WIDE_TEXT, unsigned: WIDE_CHARACTER,          \
        FILE *: POINTER, void *: POINTER, default: NUMBER)

void note_call(const char *text, enum kind kind, long value, int error, bool always);

/* say: adds a line to the transcript. Formats: %d %u %x (int), %ld %lu %lx, %c, %s, %q (a quoted string)
 * and %b (quoted bytes, given by a pointer and an int). */
void say(const char *format, ...);

/* note_state: notes the indicators and ftell. */
void note_state(FILE *f);
/* note_file: notes a file's size and contents, by direct system calls. */
void note_file(const char *path);
/* note_flags: notes only the indicators; the stream does not change. */
void note_flags(FILE *f);

/* put_file: makes a file by direct system calls. */
void put_file(const char *path, const void *data, size_t n);
void put_text(const char *path, const char *text);
/* put_pattern: n bytes, each computed from its offset (see pattern_at). */
void put_pattern(const char *path, size_t n);
unsigned char pattern_at(size_t offset);
/* put_lines: n lines "line 000001". */
void put_lines(const char *path, int n);

/* raw_write, raw_offset: direct system calls, which no library can interpose. */
void raw_write(int fd, const void *data, size_t n);
long raw_offset(int fd);
/* kernel_write: raw_write of a string. */
void kernel_write(int fd, const char *text);

/* child: forks, and runs `body` with an alarm and exit(0), unless it exits itself. Notes and returns the
 * wait status. */
int child(void (*body)(void));
/* start_case: forks and executes this program for another case, with these descriptors as its 0, 1 and 2
 * (-1: inherited). Returns the process. */
pid_t start_case(const char *name, int in, int out, int err);
/* run_case: start_case, then finish. */
int run_case(const char *name, int in, int out, int err);
/* finish: waits for a process, and notes how it ended. */
int finish(pid_t pid);
/* exec_case: executes this program for another case. */
void exec_case(const char *name);
char **case_arguments(const char *name);

/* wait_until_blocked: waits until a thread of this process sleeps in a system call or on a lock. */
void wait_until_blocked(pid_t tid);

#ifdef __cplusplus
}
#endif
#endif
