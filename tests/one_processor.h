// SPDX-License-Identifier: MIT
//
// one_processor.h - restricts the process to one processor while the object exists. Two sides that cannot run
// at the same time must not wait for each other by polling.
#ifndef ASF_TESTS_ONE_PROCESSOR_H
#define ASF_TESTS_ONE_PROCESSOR_H

#include <gtest/gtest.h>
#include <sched.h>

// Applies to the thread that creates the object, and to the threads and processes that this thread then
// starts.
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
