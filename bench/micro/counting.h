/* SPDX-License-Identifier: MIT
 *
 * counting.h - counts instructions and branches of a benchmark: these show a change of 1 %, which times do
 * not.
 */
#ifndef ASF_BENCH_COUNTING_H
#define ASF_BENCH_COUNTING_H

#include <benchmark/benchmark.h>
#include <functional>

// count_instructions: run the work, which loops over `state`.  Records the instructions and branches per
// iteration that this thread executed outside the kernel; records nothing if the machine has no counters or
// forbids them.
void count_instructions(benchmark::State &state, const std::function<void()> &work);

#endif
