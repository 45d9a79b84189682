// SPDX-License-Identifier: MIT
//
// popen_test.cpp - popen during forks and calls of other threads. Older libcs hang, so no comparison is
// possible.
#include <atomic>
#include <cstdio>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace {

bool opens_and_closes() {
    FILE *f = popen("true", "r");
    return f && pclose(f) == 0;
}

// The child may be forked while another thread is in popen.
TEST(Popen, InAForkedChild) {
    std::atomic<bool> stop{false};
    std::thread other([&] {
        while (!stop)
            opens_and_closes();
    });
    for (int i = 0; i < 100; i++) {
        pid_t child = fork();
        int status = 0;
        if (child == 0) {
            alarm(20);
            _exit(opens_and_closes() ? 0 : 1);
        }
        ASSERT_EQ(waitpid(child, &status, 0), child);
        ASSERT_EQ(status, 0) << "child " << i;
    }
    stop = true;
    other.join();
}

} // namespace
