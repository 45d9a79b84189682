/* SPDX-License-Identifier: MIT
 *
 * transcript.h - for test programs that are run twice, under libc and under
 * asf, and must leave the same traces: what every call returned, the files,
 * both outputs, the exit status and the place where standard input stands.
 *
 * A program is a set of CASEs; compare.sh runs each one in a process and an
 * empty directory of its own.  Standard input is a file of 3000 lines
 * "line 000001", standard output and standard error are files.
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

/* musl: numbers for names of errors, and a version that has whatever glibc has changed. */
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

/* A case whose name starts with an underscore is run by other cases only. */
#define CASE(name)                                                                                           \
    static void name(void);                                                                                  \
    __attribute__((used, retain, section("cases"),                                                           \
                   aligned(sizeof(void *)))) static const struct test_case case_##name = {#name, name};      \
    static void name(void)

/* CALL: evaluate, and note the text of the call, its value and, when the value
 * is NULL or negative, errno.  WITH_ERRNO notes errno always. */
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

/* say: a line for the transcript.  Knows %d %u %x (int), %ld %lu %lx, %c, %s
 * and %q: a quoted string; %b: quoted bytes, of a pointer and an int. */
void say(const char *format, ...);

/* note_state: the indicators and ftell. */
void note_state(FILE *f);
/* note_file: size and contents of a file by way of the kernel alone. */
void note_file(const char *path);
/* note_flags: the indicators only; nothing on the stream moves. */
void note_flags(FILE *f);

/* put_file: make a file by way of the kernel alone. */
void put_file(const char *path, const void *data, size_t n);
void put_text(const char *path, const char *text);
/* put_pattern: n bytes, each telling its own offset (see pattern_at). */
void put_pattern(const char *path, size_t n);
unsigned char pattern_at(size_t offset);
/* put_lines: n lines "line 000001". */
void put_lines(const char *path, int n);

/* raw_write, raw_offset: system calls that nobody interposes. */
void raw_write(int fd, const void *data, size_t n);
long raw_offset(int fd);
/* kernel_write: raw_write of a string. */
void kernel_write(int fd, const char *text);

/* child: fork, run `body` with an alarm and exit(0) (or whatever it exits
 * with); returns its wait status, which is noted too. */
int child(void (*body)(void));
/* start_case: fork and exec this program for another case, with these
 * descriptors as its 0, 1 and 2 (-1: inherited); returns the process. */
pid_t start_case(const char *name, int in, int out, int err);
/* run_case: start_case and finish. */
int run_case(const char *name, int in, int out, int err);
/* finish: wait, and note how the process ended. */
int finish(pid_t pid);
/* exec_case: become another case. */
void exec_case(const char *name);
char **case_arguments(const char *name);

/* wait_until_blocked: until a thread of this process sleeps in a system call
 * or on a lock. */
void wait_until_blocked(pid_t tid);

#ifdef __cplusplus
}
#endif
#endif
