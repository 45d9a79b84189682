// SPDX-License-Identifier: MIT
//
// shm_transfers.cpp - Table 3 of the DG/UX brief: one and two pairs of processes exchange blocks through
// shared memory, with semaphores alone, with a test-and-set and a semaphore to sleep on, with asf's lock on a
// futex, and by a ring; and the cost of each lock without contention.  Every word is written and summed.
// Before the measurements each lock guards a counter that two processes increment.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <functional>
#include <memory>
#include <pthread.h>
#include <sched.h>
#include <string>
#include <unistd.h>
#include <vector>

#include <asf/ring.h>
#include <asf/shm.h>

#include "shm_processes.h"

using namespace processes;

namespace {

// --- locks ------------------------------------------------------------------------

class Lock {
  public:
    virtual ~Lock() = default;
    virtual void obtain() = 0;
    virtual void release() = 0;
};

class SemaphoreLock final : public Lock {
  public:
    void obtain() override { semaphore.P(0); }
    void release() override { semaphore.V(0); }

  private:
    Semaphores semaphore{{1}};
};

// The brief's lock: the words "held" and "contended", and a semaphore; waiters wait for its value to become
// zero.  Release clears "held" by an exchange: with a plain store, as on the 88100, today's processors would
// lose wake-ups.
class UnsequencedLock final : public Lock {
  public:
    void obtain() override {
        if (!obtain_no_wait())
            wait();
    }
    void release() override {
        words->held.exchange(0);
        if (words->contended.load() != 0)
            wake_up();
    }

  private:
    struct Words {
        std::atomic<uint32_t> held, contended;
    };
    bool obtain_no_wait() { return words->held.exchange(1) == 0; }
    void wait() {
        while (!obtain_no_wait()) {
            semaphore.set(0, 1);
            words->contended = 1;
            if (obtain_no_wait())
                return;
            semaphore.wait_for_zero(0);
        }
    }
    void wake_up() {
        words->contended = 0;
        semaphore.set(0, 0);
    }
    const Shared memory{sizeof(Words)};
    Words *words = memory.at<Words>();
    Semaphores semaphore{{0}};
};

class RobustMutex final : public Lock {
  public:
    RobustMutex() {
        pthread_mutexattr_t a;
        pthread_mutexattr_init(&a);
        pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
        pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
        check(pthread_mutex_init(mutex, &a) == 0, "pthread_mutex_init");
    }
    void obtain() override { check(pthread_mutex_lock(mutex) == 0, "pthread_mutex_lock"); }
    void release() override { check(pthread_mutex_unlock(mutex) == 0, "pthread_mutex_unlock"); }

  private:
    const Shared memory{sizeof(pthread_mutex_t)};
    pthread_mutex_t *mutex = memory.at<pthread_mutex_t>();
};

class AsfLock final : public Lock {
  public:
    AsfLock() { check(asf_shm_lock_init(lock) == 0, "asf_shm_lock_init"); }
    void obtain() override { check(asf_shm_obtain(lock) == 0, "asf_shm_obtain"); }
    void release() override { check(asf_shm_release(lock) == 0, "asf_shm_release"); }

  private:
    const Shared memory{sizeof(asf_shm_lock)};
    asf_shm_lock *lock = memory.at<asf_shm_lock>();
};

// --- the exchanges of a pair -----------------------------------------------------------

struct Work {
    size_t block;
    int transfers;
    uint64_t words() const { return block / sizeof(uint64_t) * static_cast<uint64_t>(transfers); }
};

void fill(uint64_t *to, size_t n, uint64_t &next) {
    for (size_t i = 0; i < n / sizeof *to; i++)
        to[i] = next + i;
    next += n / sizeof *to;
}

void sum(const uint64_t *from, size_t n, uint64_t &total) {
    uint64_t s = 0;
    for (size_t i = 0; i < n / sizeof *from; i++)
        s += from[i] * (i + 1);
    total += s;
}

uint64_t right_sum(const Work &w) {
    std::vector<uint64_t> block(w.block / sizeof(uint64_t));
    uint64_t next = 0, total = 0;
    for (int i = 0; i < w.transfers; i++) {
        fill(block.data(), w.block, next);
        sum(block.data(), w.block, total);
    }
    return total;
}

class Exchange {
  public:
    virtual ~Exchange() = default;
    virtual void write(Watch &watch, const Work &w) = 0;
    virtual uint64_t read(Watch &watch, const Work &w) = 0;
    // The brief has 1000 transfers; a transport that can buffer 1000 blocks makes more.
    virtual int transfers() const { return 1000; }
};

// A block in shared memory and the word `turn`, which says whose turn it is; a lock guards both.
template <class L> class Locked : public Exchange {
  public:
    void write(Watch &watch, const Work &w) override {
        uint64_t next = 0;
        watch.begin();
        for (int i = 0; i < w.transfers; i++)
            in_turn(0, [&] { fill(block, w.block, next); });
        watch.end();
    }
    uint64_t read(Watch &watch, const Work &w) override {
        uint64_t total = 0;
        watch.begin();
        for (int i = 0; i < w.transfers; i++)
            in_turn(1, [&] { sum(block, w.block, total); });
        watch.end();
        return total;
    }

  private:
    template <class Body> void in_turn(uint64_t mine, const Body &body) {
        for (;; sched_yield()) {
            lock.obtain();
            const bool is_mine = *turn == mine;
            if (is_mine) {
                body();
                *turn = 1 - mine;
            }
            lock.release();
            if (is_mine)
                return;
        }
    }
    const Shared memory{(64 << 10) + 64};
    uint64_t *turn = memory.at<uint64_t>(), *block = memory.at<uint64_t>(64);
    L lock;
};

// Two semaphores, one for each direction: neither process polls.
class TwoSemaphores : public Exchange {
  public:
    void write(Watch &watch, const Work &w) override {
        uint64_t next = 0;
        watch.begin();
        for (int i = 0; i < w.transfers; i++) {
            semaphores.P(0);
            fill(memory.at<uint64_t>(), w.block, next);
            semaphores.V(1);
        }
        watch.end();
    }
    uint64_t read(Watch &watch, const Work &w) override {
        uint64_t total = 0;
        watch.begin();
        for (int i = 0; i < w.transfers; i++) {
            semaphores.P(1);
            sum(memory.at<uint64_t>(), w.block, total);
            semaphores.V(0);
        }
        watch.end();
        return total;
    }

  private:
    const Shared memory{64 << 10};
    Semaphores semaphores{{1, 0}};
};

class ByPipe : public Exchange {
  public:
    void write(Watch &watch, const Work &w) override {
        std::vector<uint64_t> block(w.block / sizeof(uint64_t));
        uint64_t next = 0;
        watch.begin();
        for (int i = 0; i < w.transfers; i++) {
            fill(block.data(), w.block, next);
            write_all(pipe.writer(), block.data(), w.block);
        }
        watch.end();
    }
    uint64_t read(Watch &watch, const Work &w) override {
        std::vector<uint64_t> block(w.block / sizeof(uint64_t));
        uint64_t total = 0;
        watch.begin();
        for (int i = 0; i < w.transfers; i++) {
            read_all(pipe.reader(), block.data(), w.block);
            sum(block.data(), w.block, total);
        }
        watch.end();
        return total;
    }
    int transfers() const override { return 10000; }

  private:
    const Pipe pipe;
};

class ByRing : public Exchange {
  public:
    ByRing() : fd(asf_ring_create(0)) { check(fd >= 0, "asf_ring_create"); }
    ~ByRing() override { close(fd); }
    void write(Watch &watch, const Work &w) override {
        uint64_t next = 0;
        asf_cios *s = asf_ring_sopen_fd(fd, O_WRONLY, nullptr);
        watch.begin();
        for (int i = 0; i < w.transfers; i++)
            with_region(s, w.block, [&](uint64_t *p) { fill(p, w.block, next); });
        check(sclose(s) == 0, "sclose");
        watch.end();
    }
    uint64_t read(Watch &watch, const Work &w) override {
        uint64_t total = 0;
        asf_cios *s = asf_ring_sopen_fd(fd, O_RDONLY, nullptr);
        watch.begin();
        for (int i = 0; i < w.transfers; i++)
            with_region(s, w.block, [&](uint64_t *p) { sum(p, w.block, total); });
        watch.end();
        sclose(s);
        return total;
    }
    int transfers() const override { return 10000; }

  private:
    template <class Body> static void with_region(asf_cios *s, size_t size, const Body &body) {
        ssize_t n = static_cast<ssize_t>(size);
        void *p = s ? salloc(s, &n) : nullptr;
        check(p && static_cast<size_t>(n) == size, "salloc");
        body(static_cast<uint64_t *>(p));
        sfree(s, p);
    }
    int fd;
};

// --- measuring -----------------------------------------------------------------------

template <class T> struct Kind {
    const char *name;
    std::unique_ptr<T> (*make)();
};

template <class T, class As> std::unique_ptr<As> make() {
    return std::make_unique<T>();
}

constexpr Kind<Exchange> exchanges[] = {
    {"semop, one lock", make<Locked<SemaphoreLock>, Exchange>},
    {"semop, two semaphores", make<TwoSemaphores, Exchange>},
    {"semop + test-and-set", make<Locked<UnsequencedLock>, Exchange>},
    {"asf_shm_obtain", make<Locked<AsfLock>, Exchange>},
    {"pipe", make<ByPipe, Exchange>},
    {"ring", make<ByRing, Exchange>},
};

constexpr Kind<Lock> locks[] = {
    {"semop", make<SemaphoreLock, Lock>},
    {"test-and-set", make<UnsequencedLock, Lock>},
    {"pthread, robust", make<RobustMutex, Lock>},
    {"asf_shm_obtain", make<AsfLock, Lock>},
};

// Seconds for one transfer of each pair, all pairs at once.
double exchange(const Kind<Exchange> &kind, size_t block, int pairs) {
    std::vector<std::unique_ptr<Exchange>> all;
    std::vector<Process> sides;
    for (int i = 0; i < pairs; i++)
        all.push_back(kind.make());
    const Work w = {block, all[0]->transfers()};
    const uint64_t right = right_sum(w);
    for (int i = 0; i < pairs; i++) {
        Exchange *e = all[static_cast<size_t>(i)].get();
        sides.push_back({i % 2, [=](Watch &watch) { e->write(watch, w); }});
        sides.push_back({1 - i % 2, [=](Watch &watch) { check(e->read(watch, w) == right, "the sum"); }});
    }
    return span(run(sides)) / w.transfers;
}

void transfers(int pairs, size_t block) {
    for (const size_t k : random_order(std::size(exchanges)))
        printf("transfer\t%d\t%zu\t%s\t%g\n", pairs, block, exchanges[k].name,
               exchange(exchanges[k], block, pairs));
}

// Increments a counter under the lock in `in` processes, `rounds` times each.
double count_under(Lock &lock, int in, int rounds) {
    const Shared memory(sizeof(uint64_t));
    volatile uint64_t *counter = memory.at<uint64_t>();
    const auto body = [&](Watch &watch) {
        watch.begin();
        for (int i = 0; i < rounds; i++) {
            lock.obtain();
            *counter = *counter + 1;
            lock.release();
        }
        watch.end();
    };
    std::vector<Process> all;
    for (int i = 0; i < in; i++)
        all.push_back({i, body});
    const double took = span(run(all));
    check(*counter == static_cast<uint64_t>(in) * static_cast<uint64_t>(rounds), "the counter");
    return took / rounds;
}

void uncontended() {
    for (const Kind<Lock> &kind : locks)
        count_under(*kind.make(), 2, 5000);
    for (const size_t k : random_order(std::size(locks)))
        printf("lock\t%s\t%g\n", locks[k].name, count_under(*locks[k].make(), 1, 200000));
}

} // namespace

int main() {
    return guarded([] {
        uncontended();
        for (const int pairs : {1, 2})
            for (const size_t block : {1U << 10, 2U << 10, 4U << 10, 16U << 10})
                transfers(pairs, block);
    });
}
