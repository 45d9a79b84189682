// SPDX-License-Identifier: MIT
//
// cios_test.cpp - opening and closing a stream, and its state in the child of a fork.
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "tests/backplane/engine_test.h"

namespace engine {
namespace {

class Stream : public Engine {
  protected:
    bool listed() const {
        struct Search {
            const asf_cios *c;
            bool found;
        } s{c, false};
        asf__each(
            [](asf_cios *each, void *arg) {
                auto *search = static_cast<Search *>(arg);
                search->found |= each == search->c;
                return true;
            },
            &s);
        return s.found;
    }
};

TEST_F(Stream, IsListedUntilItIsClosed) {
    open(O_RDONLY);
    EXPECT_FALSE(listed());
    asf__cios_link(c);
    EXPECT_TRUE(listed());
    EXPECT_EQ(close_result(c), 0);
    EXPECT_FALSE(listed());
    EXPECT_EQ(b.closes, 1);
}

TEST_F(Stream, ClosingPutsWhatIsPending) {
    open(O_WRONLY);
    append("pending");
    EXPECT_EQ(close_result(c), 0);
    EXPECT_EQ(b.bytes, "pending");
}

TEST_F(Stream, ClosingTellsAnError) {
    open(O_WRONLY);
    append("pending");
    b.error = -ENOSPC;
    EXPECT_EQ(close_result(c), -ENOSPC);
    asf__cios_free(c);
    c = nullptr;
}

TEST_F(Stream, ResetRefusesEverything) {
    open(O_RDWR, numbers(100));
    take(10);
    asf__cios_reset(c);
    c->data = &b;
    EXPECT_EQ(take(1, -EBADF), "");
    EXPECT_EQ(append("x"), -EBADF);
    asf__cios_set_up(c, &with_seek, -1, O_RDONLY);
    c->block = BLOCK;
    b.at = 0;
    EXPECT_EQ(take(5), numbers(5));
}

// The child has neither the other thread nor its locks and references; it shares the parent's offset.
TEST_F(Stream, InAChild) {
    open(O_RDONLY, numbers(100));
    c->exclusive = true;
    asf__cios_link(c);
    take(10);
    c->buffer->refs = c->buffer->copies = 1; // as if a thread were copying
    std::thread([this] { asf__lock(&c->lk); }).join();
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        asf__lock(&c->lk);
        const bool good = c->buffer->refs == 0 && !c->exclusive && take(10) == numbers(20).substr(10);
        asf__unlock(&c->lk);
        _exit(good ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_FALSE(c->exclusive) << "the child may move it";
    c->buffer->refs = c->buffer->copies = 0;
    asf__lock_reset(&c->lk);
}

} // namespace
} // namespace engine
