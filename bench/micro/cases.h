/* SPDX-License-Identifier: MIT
 *
 * cases.h - the definition of a benchmark: the timed calls, and the check that they do their work.
 */
#ifndef ASF_BENCH_CASES_H
#define ASF_BENCH_CASES_H

#include "sides.h"

#include <benchmark/benchmark.h>
#include <functional>
#include <string>

struct bench_case {
    std::string name;                              // "fread/64"
    std::function<bool(const stdio_side &)> right; // run once, before anything is timed
    std::function<void(benchmark::State &, const stdio_side &)>
        time;        // one call (or pair of calls) an iteration
    int threads = 0; // 0: measures CPU time; else elapsed time, over this many threads
};

// add_case: register it for both sides, as "fread/64/libc" and "fread/64/asf", and as "fread/64/again", which
// is libc once more: the difference of the two is noise.
void add_case(const bench_case &stated);

// leave_unchecked: skip all checks, since another process has made them.
void leave_unchecked();

// add_limit: register a limit of the machine itself, which belongs to no side.
void add_limit(const std::string &name, const std::function<void(benchmark::State &)> &time, int threads = 0);

// open_stream: fopen of the side, or an exception that names the file.
FILE *open_stream(const stdio_side &side, const std::string &path, const char *mode);

void add_reading();
void add_writing();
void add_printing();
void add_positions();
void add_wide();
void add_unix_io();
void add_sharing(); // needs a multithreaded process
void add_limits();

#endif
