// SPDX-License-Identifier: MIT
//
// one_processor.h - a machine with one processor, for as long as the object is there: where two
// sides cannot work at once they do not wait for each other by looking again and again.
#ifndef ASF_TESTS_ONE_PROCESSOR_H
#define ASF_TESTS_ONE_PROCESSOR_H

#include <gtest/gtest.h>
#include <sched.h>

// For the thread that makes it, and for the threads and processes that this one starts meanwhile.
class OneProcessor {
  public:
    OneProcessor() {
        cpu_set_t one;
        EXPECT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
        int first = 0;
        while (!CPU_ISSET(first, &before))
            first++;
        CPU_ZERO(&one);
        CPU_SET(first, &one);
        EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    }
    ~OneProcessor() { EXPECT_EQ(sched_setaffinity(0, sizeof before, &before), 0); }
    OneProcessor(const OneProcessor &) = delete;
    OneProcessor &operator=(const OneProcessor &) = delete;

  private:
    cpu_set_t before;
};

#endif
