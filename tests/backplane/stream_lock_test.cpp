// SPDX-License-Identifier: MIT
//
// stream_lock_test.cpp - the stream lock: exclusion, recursion, and the bias towards one thread, which other
// threads revoke at any time.
#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include <sys/rseq.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/streams/private_headers.h"
extern "C" {
#include "lib/sys/restart.h"
}

extern "C" void _IO_flockfile(FILE *);
extern "C" void _IO_funlockfile(FILE *);

namespace {

class StreamLock : public testing::Test {
  protected:
    void SetUp() override {
        asf__lock_register();
        asf__lock_reset(&lock);
    }

    // Takes the lock n times and changes the guarded counter, not atomically.
    void hammer(int n) {
        for (int i = 0; i < n; i++) {
            asf__lock(&lock);
            change();
            asf__unlock(&lock);
        }
    }

    void change() {
        first++;
        asm volatile("" ::: "memory");
        second++;
        torn += first != second;
    }

    void run(std::vector<std::thread> threads) {
        for (std::thread &t : threads)
            t.join();
    }

    asf_lock lock = {};
    long first = 0, second = 0, torn = 0;
};

TEST_F(StreamLock, OneThread) {
    hammer(100000);
    EXPECT_EQ(first, 100000);
    asf__lock(&lock);
    asf__lock(&lock);
    EXPECT_TRUE(asf__trylock(&lock));
    asf__unlock(&lock);
    asf__unlock(&lock);
    asf__unlock(&lock);
    EXPECT_EQ(lock.word, 0);
    EXPECT_EQ(lock.depth, 0);
}

TEST_F(StreamLock, ManyThreads) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([this] { hammer(100000); });
    run(std::move(threads));
    EXPECT_EQ(first, 400000);
    EXPECT_EQ(torn, 0);
}

// One thread takes the lock almost alone; another takes it from time to time.  Each round has a new lock, so
// each round revokes a bias.
TEST_F(StreamLock, BiasIsTakenAway) {
    for (int round = 0; round < 200; round++) {
        asf__lock_reset(&lock);
        first = 0;
        second = 0;
        std::atomic<bool> started{false};
        std::thread holder([&] {
            hammer(200);
            started = true;
            hammer(3000);
        });
        while (!started)
            continue;
        for (int i = 0; i < 5; i++) {
            hammer(1);
            for (int pause = 0; pause < round * 3; pause++)
                asf__pause();
        }
        holder.join();
        ASSERT_EQ(first, 3205);
        ASSERT_EQ(torn, 0);
        ASSERT_EQ(lock.word, 0);
    }
}

TEST_F(StreamLock, BiasMovesFromThreadToThread) {
    for (int i = 0; i < 50; i++)
        std::thread([this] { hammer(1000); }).join();
    hammer(1000);
    EXPECT_EQ(first, 51000);
    EXPECT_EQ(torn, 0);
}

TEST_F(StreamLock, ABiasedHolderKeepsOthersOut) {
    std::atomic<int> stage{0};
    std::thread holder([&] {
        hammer(1000);
        asf__lock(&lock);
        asf__lock(&lock);
        stage = 1;
        while (stage == 1)
            usleep(100);
        change();
        asf__unlock(&lock);
        usleep(2000);
        change();
        asf__unlock(&lock);
    });
    while (stage == 0)
        usleep(100);
    EXPECT_FALSE(asf__trylock(&lock));
    EXPECT_FALSE(asf__trylock(&lock));
    stage = 2;
    asf__lock(&lock);
    EXPECT_EQ(first, 1002) << "not before the last of the holder's unlocks";
    asf__unlock(&lock);
    holder.join();
    EXPECT_TRUE(asf__trylock(&lock));
    asf__unlock(&lock);
}

TEST_F(StreamLock, RecursionsAndTries) {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 4; i++)
        threads.emplace_back([this, i] {
            unsigned state = i + 1;
            for (int k = 0; k < 30000; k++) {
                state = state * 1664525 + 1013904223;
                const unsigned depth = 1 + (state >> 29);
                if (state & 1024 ? !asf__trylock(&lock) : (asf__lock(&lock), false))
                    continue;
                for (unsigned d = 1; d < depth; d++)
                    asf__lock(&lock);
                change();
                for (unsigned d = 0; d < depth; d++)
                    asf__unlock(&lock);
            }
        });
    run(std::move(threads));
    EXPECT_EQ(torn, 0);
    EXPECT_EQ(first, second);
    EXPECT_EQ(lock.word, 0);
    EXPECT_EQ(lock.depth, 0);
}

TEST_F(StreamLock, UnbiasedForGood) {
    std::atomic<bool> stop{false};
    std::thread holder([&] {
        while (!stop)
            hammer(100);
    });
    for (int i = 0; i < 20; i++) {
        asf__unbias(&lock);
        hammer(10);
        EXPECT_FALSE(lock.biasable);
    }
    stop = true;
    holder.join();
    EXPECT_EQ(torn, 0);
    hammer(1000);
    EXPECT_EQ(lock.holder, nullptr);
}

// While an idle thread exists the lock is biased to this one.
class WithAnotherThread {
  public:
    WithAnotherThread()
        : thread([this] {
              while (!stop)
                  usleep(100);
          }) {}
    ~WithAnotherThread() {
        stop = true;
        thread.join();
    }

  private:
    std::atomic<bool> stop{false};
    std::thread thread;
};

TEST_F(StreamLock, TheHolderItselfEndsItsBias) {
    WithAnotherThread another;
    hammer(1000);
    ASSERT_EQ(lock.holder, asf__self());
    asf__unbias(&lock);
    EXPECT_EQ(lock.holder, nullptr);
    EXPECT_EQ(lock.word, 0);
    hammer(1000);
    EXPECT_EQ(lock.holder, nullptr);
}

#ifdef __GLIBC__ // FILE's lock differs in other libcs
// Takes and releases the lock as libc's own functions do.
class LibcInside : public StreamLock, public testing::WithParamInterface<bool> {
  protected:
    void SetUp() override {
        StreamLock::SetUp();
        file._lock = reinterpret_cast<_IO_lock_t *>(&lock);
    }

    bool another_gets_it() {
        bool got = false;
        std::thread([&] {
            got = asf__trylock(&lock);
            if (got)
                asf__unlock(&lock);
        }).join();
        return got;
    }

    FILE file = {};
};

TEST_P(LibcInside, LeavesHeldWhatWasHeld) {
    WithAnotherThread another;
    hammer(GetParam() ? 1000 : 1);
    ASSERT_EQ(lock.holder != nullptr, GetParam());
    asf__lock(&lock);
    asf__unbias(&lock);
    for (int i = 0; i < 3; i++) {
        _IO_flockfile(&file);
        EXPECT_FALSE(another_gets_it());
        asf__lock(&lock);
        asf__unlock(&lock);
        _IO_funlockfile(&file);
        EXPECT_FALSE(another_gets_it());
    }
    asf__unlock(&lock);
    EXPECT_TRUE(another_gets_it());
    EXPECT_EQ(lock.word, 0);
    hammer(1000);
    EXPECT_TRUE(another_gets_it());
}

INSTANTIATE_TEST_SUITE_P(Bias, LibcInside, testing::Bool());

// A revoker waits while the holder is inside libc's functions, which release the lock and take it again.
TEST_F(StreamLock, LibcWorksForAHolderWhoIsWaitedFor) {
    FILE file = {};
    file._lock = reinterpret_cast<_IO_lock_t *>(&lock);
    for (int round = 0; round < 100; round++) {
        asf__lock_reset(&lock);
        first = 0;
        second = 0;
        std::atomic<bool> inside{false};
        std::thread holder([&] {
            WithAnotherThread another;
            hammer(200);
            asf__lock(&lock);
            inside = true;
            for (int i = 0; i < 20; i++) {
                asf__unbias(&lock);
                _IO_flockfile(&file);
                change();
                _IO_funlockfile(&file);
            }
            asf__unlock(&lock);
            hammer(200);
        });
        while (!inside)
            usleep(10);
        while (!asf__trylock(&lock))
            usleep(10);
        change();
        asf__unlock(&lock);
        hammer(200);
        holder.join();
        ASSERT_EQ(first, 200 + 20 + 200 + 1 + 200);
        ASSERT_EQ(torn, 0);
        ASSERT_EQ(lock.word, 0);
    }
}
#endif

// Forks while another thread holds the lock, waits for it or revokes its bias: the child can take the lock.
TEST_F(StreamLock, InheritedByAChild) {
    std::atomic<bool> stop{false};
    std::thread other([&] {
        while (!stop)
            hammer(100);
    });
    for (int i = 0; i < 50; i++) {
        asf__lock(&lock);
        change();
        pid_t child = fork();
        if (child == 0) {
            alarm(20);
            asf__lock_inherit(&lock, true);
            asf__unlock(&lock);
            bool taken = asf__trylock(&lock);
            _exit(taken ? 0 : 1);
        }
        asf__unlock(&lock);
        int status = -1;
        waitpid(child, &status, 0);
        ASSERT_EQ(status, 0);
    }
    stop = true;
    other.join();
    EXPECT_EQ(torn, 0);
}

// Many threads take many locks in turn: each lock is biased and revoked often.
TEST_F(StreamLock, ManyLocks) {
    struct Guarded {
        asf_lock lock;
        long a, b;
    };
    constexpr size_t count = 16;
    auto guarded = std::make_unique<Guarded[]>(count);
    for (size_t i = 0; i < count; i++)
        asf__lock_reset(&guarded[i].lock);
    std::atomic<long> wrong{0}, total{0};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; t++)
        threads.emplace_back([&, t] {
            unsigned state = t + 1;
            for (int k = 0; k < 300; k++) {
                state = state * 1664525 + 1013904223;
                Guarded &g = guarded[(state >> 16) % count];
                for (int i = 0; i < 150; i++) {
                    asf__lock(&g.lock);
                    g.a++;
                    asm volatile("" ::: "memory");
                    g.b++;
                    wrong += g.a != g.b;
                    asf__unlock(&g.lock);
                }
                total += 150;
            }
        });
    run(std::move(threads));
    long sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += guarded[i].a;
    EXPECT_EQ(sum, total);
    EXPECT_EQ(wrong, 0);
}

// Two threads take bytes from a window, each byte once.  The lock is biased to the first thread; the second
// starts later.
struct Window {
    asf_lock lock = {};
    asf__tag fast = 0;
    std::vector<char> bytes;
    char *at = nullptr, *end = nullptr;
    long fast_takes = 0; // takes of the first thread by the fast path

    explicit Window(size_t n) : bytes(n) {
        for (size_t i = 0; i < n; i++)
            bytes[i] = static_cast<char>(i % 251);
        at = bytes.data();
        end = at + n;
        lock.fast = &fast;
        asf__lock_reset(&lock);
    }

    int take() {
        int byte = asf__take_byte(&fast, &at, &end);
        fast_takes += byte >= 0;
        if (byte >= 0)
            return byte;
        asf__lock(&lock);
        byte = at < end ? static_cast<unsigned char>(*at++) : -1;
        asf__unlock(&lock);
        return byte;
    }
};

TEST_F(StreamLock, RestartableSequencesAreKeptOut) {
    constexpr size_t size = 30000;
    long expected = 0, fast_takes = 0;
    for (size_t i = 0; i < size; i++)
        expected += static_cast<long>(i % 251);
    for (int round = 0; round < 200; round++) {
        Window w(size);
        std::atomic<bool> begun{false};
        long sum[2] = {}, taken[2] = {};
        std::thread other([&] {
            while (!begun)
                ;
            for (int i = 0; i < 20 * (round % 10); i++)
                sched_yield();
            asf__lock(&w.lock);
            for (; w.at < w.end; taken[1]++)
                sum[1] += static_cast<unsigned char>(*w.at++);
            asf__unlock(&w.lock);
        });
        for (int byte; (byte = w.take()) >= 0; taken[0]++) {
            sum[0] += byte;
            begun = begun || taken[0] > 1000;
        }
        begun = true;
        other.join();
        fast_takes += w.fast_takes;
        ASSERT_EQ(taken[0] + taken[1], static_cast<long>(size));
        ASSERT_EQ(sum[0] + sum[1], expected);
        ASSERT_EQ(w.fast, w.lock.holder ? asf__my_tag() : 0);
    }
#ifndef __SANITIZE_THREAD__
    EXPECT_EQ(fast_takes > 0, __rseq_size > 0);
#endif
}

TEST_F(StreamLock, RestartableSequencesStopAtTheEnd) {
    char bytes[2] = {'a', 0}, *at = bytes, *end = bytes + 1;
    asf__tag fast = asf__my_tag(), others = fast + 64;
    EXPECT_EQ(asf__take_byte(&others, &at, &end), -1);
    EXPECT_EQ(asf__take_byte(&fast, &at, &end), 'a');
    EXPECT_EQ(asf__take_byte(&fast, &at, &end), -1);
    EXPECT_EQ(at, end);
    end++;
    EXPECT_EQ(asf__put_byte(&others, &at, &end, 'b'), -1);
    EXPECT_EQ(asf__put_byte(&fast, &at, &end, 0x1ff), 0xff);
    EXPECT_EQ(asf__put_byte(&fast, &at, &end, 'c'), -1);
    EXPECT_EQ(bytes[1], '\xff');
}

} // namespace
