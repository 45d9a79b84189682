// SPDX-License-Identifier: MIT
//
// private_headers.h - includes the library's own headers in C++, with a guard that restores system calls and
// options that a test has changed.
#ifndef ASF_TESTS_PRIVATE_HEADERS_H
#define ASF_TESTS_PRIVATE_HEADERS_H

#define _Static_assert static_assert
extern "C" {
#include "lib/sys/options.h"
#include "lib/sys/syscalls.h"
}
#undef _Static_assert

// The options are read-only for the library; a test changes them as a user would.
inline asf_options &options() {
    return const_cast<asf_options &>(*asf__options());
}

struct Restore {
    asf_syscalls calls = asf__sys;
    asf_options before = *asf__options();
    Restore() = default;
    Restore(const Restore &) = delete;
    Restore &operator=(const Restore &) = delete;
    ~Restore() {
        asf__sys = calls;
        options() = before;
    }
};

#endif
