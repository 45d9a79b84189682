/* SPDX-License-Identifier: MIT
 *
 * sides.h - two stdios in one process, libc's and ours: the same functions, each through a pointer.
 */
#ifndef ASF_BENCH_SIDES_H
#define ASF_BENCH_SIDES_H

#include <cstdio>
#include <fcntl.h>
#include <stdio.h>
#include <string>
#include <unistd.h>
#include <vector>
#include <wchar.h>

// Programs compiled with _FORTIFY_SOURCE call these.
extern "C" {
int __fprintf_chk(FILE *, int, const char *, ...);
int __snprintf_chk(char *, size_t, int, size_t, const char *, ...);
int __sprintf_chk(char *, int, size_t, const char *, ...);
}

// The members of a side and the symbols they are found under.
#define BENCH_STDIO(X)                                                                                       \
    X(fopen, "fopen")                                                                                        \
    X(fclose, "fclose")                                                                                      \
    X(rewind, "rewind")                                                                                      \
    X(getc, "getc")                                                                                          \
    X(fgetc, "fgetc")                                                                                        \
    X(getc_unlocked, "getc_unlocked")                                                                        \
    X(ungetc, "ungetc")                                                                                      \
    X(putc, "putc")                                                                                          \
    X(fputc, "fputc")                                                                                        \
    X(putc_unlocked, "putc_unlocked")                                                                        \
    X(fread, "fread")                                                                                        \
    X(fwrite, "fwrite")                                                                                      \
    X(fgets, "fgets")                                                                                        \
    X(getline, "getline")                                                                                    \
    X(fputs, "fputs")                                                                                        \
    X(puts, "puts")                                                                                          \
    X(fprintf, "fprintf")                                                                                    \
    X(snprintf, "snprintf")                                                                                  \
    X(sprintf, "sprintf")                                                                                    \
    X(__fprintf_chk, "__fprintf_chk")                                                                        \
    X(__snprintf_chk, "__snprintf_chk")                                                                      \
    X(__sprintf_chk, "__sprintf_chk")                                                                        \
    X(fscanf, "__isoc99_fscanf")                                                                             \
    X(sscanf, "__isoc99_sscanf")                                                                             \
    X(fseek, "fseek")                                                                                        \
    X(ftell, "ftell")                                                                                        \
    X(fgetwc, "fgetwc")                                                                                      \
    X(fputwc, "fputwc")                                                                                      \
    X(fgetws, "fgetws")                                                                                      \
    X(fputws, "fputws")                                                                                      \
    X(fwprintf, "fwprintf")                                                                                  \
    X(open, "open")                                                                                          \
    X(close, "close")                                                                                        \
    X(read, "read")                                                                                          \
    X(write, "write")                                                                                        \
    X(pread, "pread")                                                                                        \
    X(lseek, "lseek")

struct stdio_side {
    std::string name;                   // "libc", "asf" or "again"
    std::string library;                // the path of the library
    std::vector<std::string> elsewhere; // functions that this library does not define
#define BENCH_MEMBER(function, symbol) decltype(&::function) function;
    BENCH_STDIO(BENCH_MEMBER)
#undef BENCH_MEMBER
};

// load_side: find the functions that the library with this soname defines; it must be loaded already.  Prints
// an error and exits on failure.
stdio_side load_side(const std::string &name, const std::string &soname);

// libc_side, asf_side: the compared sides; libc_again is libc_side under another name.  main sets them once.
const stdio_side &libc_side();
const stdio_side &asf_side();
const stdio_side &libc_again();
void set_sides(const stdio_side &libc, const stdio_side &asf);

#endif
