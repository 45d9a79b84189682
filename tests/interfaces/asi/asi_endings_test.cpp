// SPDX-License-Identifier: MIT
//
// asi_endings_test.cpp - regions whose process or thread ends, forks or executes another program, or whose
// stream is closed; with libasf alone and with libasf_stdio.
#include <csignal>
#include <functional>
#include <pthread.h>
#include <sys/wait.h>
#include <thread>

#include "tests/asleep.h"
#include "tests/interfaces/asi/asi_model.h"

#ifdef __SANITIZE_ADDRESS__
// A cancelled thread leaves AddressSanitizer's marks of its frames on its stack.  With use-after-return
// stacks the runtime mistakes these for its own frames when the thread ends.
extern "C" const char *__asan_default_options() {
    return "use_sigaltstack=0";
}
#endif

namespace asi {
namespace {

// The stream of an output file with "before", an unfreed region, and "after".
struct Output {
    asf_cios *s;
    char *kept;
};

class Endings : public Asi {
  protected:
    Output open_output(bool keeps = true) const {
        Output o = {must_open(path("out"), O_WRONLY | O_CREAT | O_TRUNC), nullptr};
        give(o.s, "before");
        ssize_t n = 4;
        if (keeps)
            o.kept = static_cast<char *>(salloc(o.s, &n));
        if (keeps)
            memcpy(o.kept, "KEPT", 4);
        give(o.s, "after");
        return o;
    }

    // Runs `body` in a child; returns the status that wait() gives.
    template <typename F> static int in_child(F body) {
        const pid_t child = fork();
        if (child == 0) {
            body();
            _exit(testing::Test::HasFailure() ? 90 : 91); // the body itself must end the process
        }
        int status = -1;
        waitpid(child, &status, 0);
        return status;
    }

    template <typename F> void expect_exit(F body, int code = 0) const {
        const int status = in_child(body);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == code) << "status " << std::hex << status;
    }

    void finish_output(const Output &o) const {
        EXPECT_EQ(sfree(o.s, o.kept), 0);
        EXPECT_EQ(sclose(o.s), 0);
        EXPECT_EQ(contents("out"), "beforeKEPTafter");
    }
};

void become_true() {
    char name[] = "/bin/true";
    char *const argv[] = {name, nullptr};
    execv(name, argv);
}

// --- the process ends -------------------------------------------------------------------

TEST_F(Endings, ExitWritesWhatIsComplete) {
    expect_exit([&] {
        open_output(false);
        exit(0);
    });
    EXPECT_EQ(contents("out"), "beforeafter");
}

// exit omits an unfreed region of output, since the program has not completed its contents.
TEST_F(Endings, ExitLeavesOutARegionThatIsKept) {
    expect_exit([&] {
        open_output();
        exit(0);
    });
    EXPECT_EQ(contents("out"), "beforeafter");
}

TEST_F(Endings, ExitWritesWhatAnotherThreadGaveBack) {
    expect_exit([&] {
        Output o = open_output();
        std::thread([&] { sfree(o.s, o.kept); }).join();
        exit(0);
    });
    EXPECT_EQ(contents("out"), "beforeKEPTafter");
}

TEST_F(Endings, ExitLeavesOutAPlaceThatIsKept) {
    put("out", "0123456789");
    expect_exit([&] {
        asf_cios *s = must_open(path("out"), O_WRONLY);
        ssize_t n = 2;
        auto *first = static_cast<char *>(sallocAt(s, &n, 2, SEEK_SET));
        auto *second = static_cast<char *>(sallocAt(s, &n, 6, SEEK_SET));
        memcpy(first, "ab", 2);
        memcpy(second, "cd", 2);
        sfree(s, second);
        exit(0);
    });
    EXPECT_EQ(contents("out"), "012345cd89");
}

// _exit, exec, and a signal write nothing.
TEST_F(Endings, AbruptEndsWriteNothing) {
    expect_exit(
        [&] {
            open_output();
            _exit(7);
        },
        7);
    EXPECT_EQ(contents("out"), "");
    expect_exit([&] {
        open_output();
        become_true();
    });
    EXPECT_EQ(contents("out"), "");
    const int status = in_child([&] {
        open_output(false);
        kill(getpid(), SIGKILL);
    });
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(contents("out"), "");
}

// sflush writes the output before the oldest unfreed region; _exit and exec do not lose it.
TEST_F(Endings, AbruptEndsLeaveWhatWasFlushed) {
    for (void (*end)() : {+[] { _exit(0); }, become_true}) {
        expect_exit([&] {
            const Output o = open_output();
            if (sflush(o.s) == -EBUSY)
                end();
        });
        EXPECT_EQ(contents("out"), "before");
        expect_exit([&] {
            const Output o = open_output(false);
            if (sflush(o.s) == 0)
                end();
        });
        EXPECT_EQ(contents("out"), "beforeafter");
    }
}

// An unfreed region of input does not prevent exit, _exit or exec, and the file does not change.
TEST_F(Endings, InputThatIsKeptHindersNoEnd) {
    const std::string file = put_pattern("in", 300000);
    for (void (*end)() : {+[] { exit(0); }, +[] { _exit(0); }, become_true})
        expect_exit([&] {
            asf_cios *s = must_open(file, O_RDONLY);
            ssize_t n = 200000;
            if (salloc(s, &n) && n == 200000)
                end();
        });
    EXPECT_EQ(contents("in"), pattern(300000));
}

// --- fork --------------------------------------------------------------------------------------

TEST_F(Endings, AChildThatEndsByUnderscoreExitWritesNothing) {
    const Output o = open_output();
    expect_exit([&] { _exit(memcmp(o.kept, "KEPT", 4)); }); // the child's copy of the region
    expect_exit([&] { become_true(); });
    finish_output(o);
}

// Both processes write output that was buffered before the fork, as with stdio.
TEST_F(Endings, AChildThatClosesWritesItsCopy) {
    const Output o = open_output();
    expect_exit([&] {
        memcpy(o.kept, "COPY", 4);
        sfree(o.s, o.kept);
        _exit(-sclose(o.s));
    });
    EXPECT_EQ(contents("out"), "beforeCOPYafter");
    EXPECT_EQ(sfree(o.s, o.kept), 0);
    EXPECT_EQ(sclose(o.s), 0);
    EXPECT_EQ(contents("out"), "beforeCOPYafterbeforeKEPTafter");
}

TEST_F(Endings, AChildThatExitsWritesItsCopyOfWhatIsComplete) {
    const Output o = open_output(false);
    expect_exit([&] { exit(0); });
    EXPECT_EQ(sclose(o.s), 0);
    EXPECT_EQ(contents("out"), "beforeafterbeforeafter");
}

TEST_F(Endings, NothingIsWrittenTwiceThatWasFlushedBeforeFork) {
    const Output o = open_output(false);
    EXPECT_EQ(sflush(o.s), 0);
    expect_exit([&] { exit(0); });
    expect_exit([&] { _exit(-sclose(o.s)); });
    EXPECT_EQ(sclose(o.s), 0);
    EXPECT_EQ(contents("out"), "beforeafter");
}

TEST_F(Endings, AChildHasACopyOfInputRegions) {
    asf_cios *s = must_open(put_pattern("in", 300000), O_RDONLY);
    ssize_t n = 1000;
    void *p = salloc(s, &n);
    ASSERT_NE(p, nullptr);
    expect_exit([&] {
        const bool same = first_wrong(p, 1000, 0) == 1000;
        _exit(same && sfree(s, p) == 0 && sclose(s) == 0 ? 0 : 1);
    });
    EXPECT_EQ(first_wrong(p, 1000, 0), 1000U);
    EXPECT_EQ(sclose(s), -EBUSY); // this process has not freed the region
    EXPECT_EQ(sfree(s, p), 0);
    EXPECT_EQ(sclose(s), 0);
}

// --- threads -----------------------------------------------------------------------------------

TEST_F(Endings, ARegionOutlivesItsThread) {
    Output o = {};
    std::thread([&] { o = open_output(); }).join();
    EXPECT_EQ(sflush(o.s), -EBUSY);
    EXPECT_EQ(contents("out"), "before");
    finish_output(o);
}

// A thread calls `take` and is cancelled in `wait`.
void cancel_in(const std::function<void()> &take, const std::function<void()> &wait) {
    std::pair<const std::function<void()> *, const std::function<void()> *> both = {&take, &wait};
    int ready[2];
    ASSERT_EQ(pipe2(ready, O_CLOEXEC), 0);
    struct Argument {
        decltype(both) functions;
        int ready;
    } argument = {both, ready[1]};
    pthread_t thread;
    pthread_create(
        &thread, nullptr,
        [](void *p) -> void * {
            const auto *a = static_cast<Argument *>(p);
            (*a->functions.first)();
            ::close(a->ready);
            (*a->functions.second)();
            return nullptr;
        },
        &argument);
    char byte;
    EXPECT_EQ(::read(ready[0], &byte, 1), 0);
    ::close(ready[0]);
    pthread_cancel(thread);
    void *result = nullptr;
    pthread_join(thread, &result);
    EXPECT_EQ(result, PTHREAD_CANCELED);
}

TEST_F(Endings, ARegionOutlivesTheCancellationOfItsThread) {
    Output o = {};
    cancel_in([&] { o = open_output(); }, [] { pause(); });
    EXPECT_EQ(sclose(o.s), -EBUSY);
    finish_output(o);
}

// A thread is cancelled while it waits for more of a pipe: the stream and the thread's regions do not change.
TEST_F(Endings, AStreamOutlivesACancelledSalloc) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    ASSERT_EQ(::write(ends[1], "012345", 6), 6);
    asf_cios *s = asf_sopen_fd(ends[0], O_RDONLY, nullptr);
    char *kept = nullptr;
    cancel_in(
        [&] {
            ssize_t n = 4;
            kept = static_cast<char *>(salloc(s, &n));
        },
        [&] {
            ssize_t n = 100;
            salloc(s, &n);
        });
    ASSERT_EQ(::write(ends[1], "6789", 4), 4);
    ::close(ends[1]);
    EXPECT_EQ(take(s, 100), "456789");
    EXPECT_EQ(std::string(kept, 4), "0123");
    EXPECT_EQ(sclose(s), -EBUSY);
    EXPECT_EQ(sfree(s, kept), 0);
    EXPECT_EQ(sclose(s), 0);
}

// --- close ---------------------------------------------------------------------------------------

TEST_F(Endings, CloseRefusesWhileARegionIsKept) {
    const Output o = open_output();
    EXPECT_EQ(sclose(o.s), -EBUSY);
    EXPECT_EQ(contents("out"), "before");
    EXPECT_EQ(sclose(o.s), -EBUSY);
    finish_output(o);
}

TEST_F(Endings, CloseRefusesWhileInputIsKept) {
    asf_cios *s = must_open(put_pattern("in", 300000), O_RDONLY);
    ssize_t n = 1000;
    void *p = salloc(s, &n);
    EXPECT_EQ(take(s, 1000), pattern(1000, 1000));
    EXPECT_EQ(sclose(s), -EBUSY);
    EXPECT_EQ(first_wrong(p, 1000, 0), 1000U);
    EXPECT_EQ(sfree(s, p), 0);
    EXPECT_EQ(sclose(s), 0);
}

// --- given up, and bounded -------------------------------------------------------------------------

class Abandoned : public Endings {};

TEST_F(Abandoned, OutputIsLeftOut) {
    const Output o = open_output();
    EXPECT_EQ(sabandon(o.s, o.kept), 0);
    EXPECT_EQ(sabandon(o.s, o.kept), -EINVAL);
    EXPECT_EQ(sfree(o.s, o.kept), -EINVAL);
    EXPECT_EQ(sclose(o.s), 0);
    EXPECT_EQ(contents("out"), "beforeafter");
}

TEST_F(Abandoned, ThatOfAThreadThatIsGone) {
    Output o = {};
    cancel_in([&] { o = open_output(); }, [] { pause(); });
    EXPECT_EQ(sabandon(o.s, o.kept), 0);
    EXPECT_EQ(sclose(o.s), 0);
    EXPECT_EQ(contents("out"), "beforeafter");
}

TEST_F(Abandoned, InputIsGivenBack) {
    asf_cios *s = must_open(put_pattern("in", 300000), O_RDONLY);
    ssize_t n = 1000;
    void *p = salloc(s, &n);
    EXPECT_EQ(sabandon(s, p), 0);
    EXPECT_EQ(take(s, 1000), pattern(1000, 1000));
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Abandoned, APlaceIsNotWritten) {
    put("out", "0123456789");
    asf_cios *s = must_open(path("out"), O_WRONLY);
    ssize_t n = 2;
    void *p = sallocAt(s, &n, 4, SEEK_SET);
    ASSERT_NE(p, nullptr);
    memcpy(p, "ab", 2);
    EXPECT_EQ(sabandon(s, p), 0);
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(contents("out"), "0123456789");
}

// With much more output than may wait, the call that would exceed the bound is refused.
TEST_F(Abandoned, NoMoreWaitsThanTheBoundAllows) {
    Output o = open_output();
    const std::string much(100000, 'm');
    asf_set_bound(o.s, 2 * much.size(), 0);
    ssize_t n = 0;
    int given = 0;
    for (; given < 5; given++) {
        n = static_cast<ssize_t>(much.size());
        void *p = salloc(o.s, &n);
        if (!p)
            break;
        memcpy(p, much.data(), much.size());
        EXPECT_EQ(sfree(o.s, p), 0);
    }
    EXPECT_TRUE(given == 1 || given == 2) << given;
    EXPECT_EQ(n, -ENOBUFS);
    EXPECT_EQ(sfree(o.s, o.kept), 0);
    give(o.s, much);
    EXPECT_EQ(sclose(o.s), 0);
    EXPECT_EQ(contents("out").size(), 15 + static_cast<size_t>(given + 1) * much.size());
}

TEST_F(Abandoned, SallocWaitsUntilTheRegionIsGivenBack) {
    Output o = open_output();
    const std::string much(100000, 'm');
    asf_set_bound(o.s, much.size(), 1);
    std::thread other([&] {
        wait_until_asleep(getpid());
        EXPECT_EQ(sfree(o.s, o.kept), 0);
    });
    for (int i = 0; i < 5; i++)
        give(o.s, much);
    other.join();
    EXPECT_EQ(sclose(o.s), 0);
    EXPECT_EQ(contents("out"), "beforeKEPTafter" + much + much + much + much + much);
}

} // namespace
} // namespace asi
