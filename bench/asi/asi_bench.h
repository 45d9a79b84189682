/* SPDX-License-Identifier: MIT
 *
 * asi_bench.h - shared by the parts of asi_bench: the text of all files, the clocks, threads that start
 * together, and the registration of a case.
 */
#ifndef ASF_BENCH_ASI_BENCH_H
#define ASF_BENCH_ASI_BENCH_H

#include <asf/asf.h>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

// text: words, 560 * 16 * 117 bytes; no byte is zero.
const std::string &text();

// make_file: write `copies` copies of the text to a file; returns its path.
std::string make_file(const std::string &path, size_t copies);

[[noreturn]] void give_up(const std::string &what);

double cpu_now(); // nanoseconds of the process
double now();     // nanoseconds elapsed

// in_threads: run the work in `threads` new threads; returns the nanoseconds from the start of the first
// thread to the end of the last.
double in_threads(unsigned threads, const std::function<void(unsigned)> &work);

// add_case: register a case: one() returns the nanoseconds of `count` operations.  The reference of a group
// of cases is added twice, the second time as "again": the difference of the two is noise.
void add_case(const std::string &name, size_t count, const std::function<double()> &one);

inline uint64_t ends(const char *region, size_t n) {
    return static_cast<unsigned char>(region[0]) + static_cast<unsigned char>(region[n - 1]);
}

void add_regions(const std::string &directory); // regions of 16 and 117 bytes in sequence
void add_turns(const std::string &directory);   // alternating input and output
void add_places(const std::string &directory);  // 16 bytes at random offsets of a file
void add_outputs(const std::string &directory); // positional output and updates, by threads

#endif
