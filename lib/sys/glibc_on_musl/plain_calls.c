/* SPDX-License-Identifier: MIT
 *
 * plain_calls.c - musl's functions by the names that glibc.h gives them.  libasf_unix.so, which defines the
 * plain names itself, replaces these functions (interfaces/unix/musl/own_calls.c); its archive replaces read
 * and write (interfaces/stdio/musl/take_own).
 */
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <unistd.h>

#define WEAK        __attribute__((weak))
#define MUSLS(name) name
#include "lib/sys/glibc_on_musl/own_calls.def"
