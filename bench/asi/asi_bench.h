/* SPDX-License-Identifier: MIT
 *
 * asi_bench.h - what the parts of asi_bench share: the text that all files hold, the clocks, threads that
 * start together, and the registration of a case.
 */
#ifndef ASF_BENCH_ASI_BENCH_H
#define ASF_BENCH_ASI_BENCH_H

#include <asf/asf.h>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

// text: 560 times 16 times 117 bytes of words; no byte is zero.
const std::string &text();

// make_file: a file with this text over and over; returns its path.
std::string make_file(const std::string &path, size_t copies);

[[noreturn]] void give_up(const std::string &what);

double cpu_now(); // nanoseconds of the process
double now();     // nanoseconds elapsed

// in_threads: the work in this many threads of their own; from the first's start to the last's end.
double in_threads(unsigned threads, const std::function<void(unsigned)> &work);

// add_case: times one(), which returns the nanoseconds that `count` regions or the like took.  The reference
// of a group of cases is added twice, the second time as "again": the difference of the two is noise.
void add_case(const std::string &name, size_t count, const std::function<double()> &one);

inline uint64_t ends(const char *region, size_t n) {
    return static_cast<unsigned char>(region[0]) + static_cast<unsigned char>(region[n - 1]);
}

void add_regions(const std::string &directory); // 16 and 117 bytes, one after the other
void add_turns(const std::string &directory);   // input and output by turns
void add_places(const std::string &directory);  // 16 bytes anywhere in a file
void add_outputs(const std::string &directory); // output and updates at places, by threads

#endif
