// SPDX-License-Identifier: MIT
//
// ring_test.h - shared by the tests of rings: processes that open an end.
#ifndef ASF_TESTS_RING_TEST_H
#define ASF_TESTS_RING_TEST_H

#include <csignal>
#include <functional>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <asf/ring.h>

#include "tests/interfaces/asi/asi_test.h"

namespace asi {

// Starts a process that runs `body` and exits with its result.
inline pid_t start(const std::function<int()> &body) {
    const pid_t child = fork();
    if (child == 0)
        _exit(body());
    return child;
}

// Waits for the child; returns its exit status, or minus the signal that ended it.
inline int finish(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

class RingTest : public Asi {
  protected:
    void SetUp() override {
        Asi::SetUp();
        ring = asf_ring_create(0);
        ASSERT_GE(ring, 0);
    }
    void TearDown() override {
        ::close(ring);
        Asi::TearDown();
    }
    void make(size_t size) {
        ::close(ring);
        ring = asf_ring_create(size);
        ASSERT_GE(ring, 0);
    }

    int ring = -1;
};

inline asf_cios *open_end(int fd, int flags) {
    int error = 1;
    asf_cios *s = asf_ring_sopen_fd(fd, flags, &error);
    return error == 0 ? s : nullptr;
}

// Writes the pattern in regions of `piece` bytes; returns 0, or the negated error.
inline int write_pattern(asf_cios *s, size_t total, size_t piece, size_t from = 0) {
    for (size_t at = from; at < from + total;) {
        ssize_t n = static_cast<ssize_t>(std::min(piece, from + total - at));
        char *p = static_cast<char *>(salloc(s, &n));
        if (!p)
            return static_cast<int>(-n);
        for (ssize_t i = 0; i < n; i++)
            p[i] = pattern_at(at + static_cast<size_t>(i));
        if (const int rc = sfree(s, p); rc < 0)
            return -rc;
        at += static_cast<size_t>(n);
    }
    return 0;
}

// Reads and checks the pattern until the end of file; returns the number of bytes, -1 for a wrong byte, or
// the error.
inline ssize_t read_pattern(asf_cios *s, size_t piece, size_t *got = nullptr) {
    size_t at = 0, unused;
    size_t &count = got ? *got : unused;
    for (;;) {
        ssize_t n = static_cast<ssize_t>(piece);
        char *p = static_cast<char *>(salloc(s, &n));
        count = at;
        if (!p)
            return n < 0 ? n : static_cast<ssize_t>(at);
        if (first_wrong(p, static_cast<size_t>(n), at) != static_cast<size_t>(n))
            return -1;
        at += static_cast<size_t>(n);
        if (sfree(s, p) != 0)
            return -1;
    }
}

// State of a process that must stay intact, whatever another process does to a shared ring.
inline bool is_list_empty() {
    void **head = nullptr;
    size_t length = 0;
    return syscall(SYS_get_robust_list, 0, &head, &length) == 0 && *head == head;
}

inline bool ring_still_works() {
    const int ring = asf_ring_create(8192);
    asf_cios *w = open_end(ring, O_WRONLY), *r = open_end(ring, O_RDONLY);
    bool works = w && r && write_pattern(w, 100, 100) == 0 && sclose(w) == 0;
    works = works && read_pattern(r, 10) == 100 && sclose(r) == 0;
    ::close(ring);
    return works;
}

} // namespace asi

#endif
