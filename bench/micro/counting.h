/* SPDX-License-Identifier: MIT
 *
 * counting.h - instructions and branches of a benchmark, which show a change of 1 % where time does not.
 */
#ifndef ASF_BENCH_COUNTING_H
#define ASF_BENCH_COUNTING_H

#include <benchmark/benchmark.h>
#include <functional>

// count_instructions: does the work, whose loop is the state's, and notes what it executed in this thread,
// outside of the kernel, for each iteration; notes nothing where the machine has no counters or forbids them.
void count_instructions(benchmark::State &state, const std::function<void()> &work);

#endif
