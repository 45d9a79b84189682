// SPDX-License-Identifier: MIT
//
// shm_lock_test.cpp - the lock that processes share: one holder at a time, every waiter gets its turn, and
// the next holder learns if the last one died, at whatever instruction it died.
#include <atomic>
#include <chrono>
#include <pthread.h>
#include <random>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <thread>

#include "shm_test.h"

#ifdef __SANITIZE_THREAD__
// One thread takes mutexes in either order on purpose, which ThreadSanitizer would report.
extern "C" const char *__tsan_default_options() { // NOLINT(bugprone-reserved-identifier)
    return "detect_deadlocks=0";
}
#endif

namespace shm {
namespace {

size_t mapped() {
    std::ifstream file("/proc/self/statm");
    size_t pages = 0;
    file >> pages;
    return pages;
}

// The kernel refuses MADV_WIPEONFORK before the process has taken its first lock.
TEST(LockRefused, NothingIsLeftMapped) {
    const int rc = in_child([] {
        asf_shm_lock lock;
        if (!refuse(SYS_madvise, 2, MADV_WIPEONFORK, EINVAL))
            return 255;
        if (asf_shm_lock_init(&lock) != -ENOTSUP)
            return 254;
        const size_t before = mapped();
        for (int i = 0; i < 1000; i++)
            if (asf_shm_obtain(&lock) != -ENOTSUP || asf_shm_release(&lock) != -ENOTSUP)
                return 1;
        return mapped() < before + 1000 ? 0 : 2;
    });
    if (rc >= 254)
        GTEST_SKIP() << (rc == 255 ? "system calls cannot be refused" : "a lock has been taken before");
    EXPECT_EQ(rc, 0);
}

// The memory that the processes of a test share.
struct Shared {
    asf_shm_lock lock;
    asf_shm_lock more[3];
    pthread_mutex_t robust[2];
    std::atomic<int> inside;
    std::atomic<int> holder; // written and read by the holder of the lock
    std::atomic<long> entered, deaths, wrong;
    std::atomic<bool> stop;
};

class Lock : public testing::Test {
  protected:
    void SetUp() override {
        char *shm = asf_shm_create("lock", 0600, sizeof(Shared));
        ASSERT_NE(shm, nullptr) << asf_shm_why();
        label = label_of(shm);
        s = new (shm + ASF_SHM_HEAD) Shared();
        EXPECT_EQ(asf_shm_lock_init(&s->lock), 0);
    }

    void TearDown() override {
        asf_shm_remove(label.c_str());
        asf_shm_close(reinterpret_cast<char *>(s) - ASF_SHM_HEAD);
    }

    // One turn with the lock, taken with result `rc`. Counts an error if another process is inside, or if one
    // was inside and has not died.
    void turn(int rc, int me) {
        if (rc == -EOWNERDEAD)
            s->deaths++;
        else if (rc != 0 || s->inside != 0)
            s->wrong++;
        s->inside = 1;
        s->holder = me;
        s->entered++;
        if (s->holder != me)
            s->wrong++;
        s->inside = 0;
        if (asf_shm_release(&s->lock) != 0)
            s->wrong++;
    }

    std::string label;
    Shared *s = nullptr;
};

TEST_F(Lock, IsTakenOnce) {
    EXPECT_EQ(asf_shm_obtain(&s->lock), 0);
    EXPECT_EQ(asf_shm_obtain(&s->lock), -EDEADLK);
    EXPECT_EQ(asf_shm_obtain_no_wait(&s->lock), -EDEADLK);
    EXPECT_EQ(in_child([&] { return -asf_shm_obtain_no_wait(&s->lock); }), EBUSY);
    EXPECT_EQ(in_child([&] { return -asf_shm_release(&s->lock); }), EPERM);
    std::thread([&] { EXPECT_EQ(asf_shm_obtain_no_wait(&s->lock), -EBUSY); }).join();
    EXPECT_EQ(asf_shm_release(&s->lock), 0);
    EXPECT_EQ(asf_shm_release(&s->lock), -EPERM);
    EXPECT_EQ(in_child([&] { return asf_shm_obtain_no_wait(&s->lock) + asf_shm_release(&s->lock); }), 0);
}

TEST_F(Lock, WordsSayHeldAndContended) {
    EXPECT_EQ(s->lock.word, 0U);
    EXPECT_EQ(asf_shm_obtain(&s->lock), 0);
    EXPECT_EQ(s->lock.word, static_cast<uint32_t>(syscall(SYS_gettid)));
    std::thread other([&] {
        EXPECT_EQ(asf_shm_obtain(&s->lock), 0);
        EXPECT_EQ(asf_shm_release(&s->lock), 0);
    });
    while (!(__atomic_load_n(&s->lock.word, __ATOMIC_RELAXED) & 0x80000000U))
        std::this_thread::yield();
    EXPECT_EQ(asf_shm_release(&s->lock), 0);
    other.join();
    EXPECT_EQ(s->lock.word, 0U);
}

TEST_F(Lock, OneAtATime) {
    constexpr int processes = 4, turns = 20000;
    std::vector<pid_t> pids;
    for (int p = 0; p < processes; p++) {
        pids.push_back(fork());
        if (pids.back() == 0) {
            for (int i = 0; i < turns; i++)
                turn(asf_shm_obtain(&s->lock), p);
            _exit(0);
        }
    }
    for (pid_t pid : pids)
        waitpid(pid, nullptr, 0);
    EXPECT_EQ(s->entered, long{processes} * turns);
    EXPECT_EQ(s->wrong, 0);
    EXPECT_EQ(s->deaths, 0);
    EXPECT_EQ(s->lock.word, 0U);
}

TEST_F(Lock, OneAtATimeAmongThreads) {
    constexpr int turns = 20000;
    long count = 0;
    const auto work = [&] {
        for (int i = 0; i < turns; i++) {
            ASSERT_EQ(asf_shm_obtain(&s->lock), 0);
            count++;
            ASSERT_EQ(asf_shm_release(&s->lock), 0);
        }
    };
    std::thread one(work), two(work);
    work();
    one.join();
    two.join();
    EXPECT_EQ(count, 3L * turns);
}

TEST_F(Lock, DeathIsTold) {
    EXPECT_EQ(in_child([&] { return asf_shm_obtain(&s->lock); }), 0) << "which ends with it";
    EXPECT_EQ(asf_shm_obtain(&s->lock), -EOWNERDEAD);
    EXPECT_EQ(asf_shm_release(&s->lock), 0);
    EXPECT_EQ(asf_shm_obtain(&s->lock), 0) << "told once";
    EXPECT_EQ(asf_shm_release(&s->lock), 0);
    EXPECT_EQ(in_child([&] { return asf_shm_obtain(&s->lock) + raise(SIGKILL); }), -SIGKILL);
    EXPECT_EQ(asf_shm_obtain_no_wait(&s->lock), -EOWNERDEAD);
    EXPECT_EQ(asf_shm_release(&s->lock), 0);
    std::thread([&] { EXPECT_EQ(asf_shm_obtain(&s->lock), 0); }).join();
    EXPECT_EQ(asf_shm_obtain(&s->lock), -EOWNERDEAD) << "a thread is enough";
    EXPECT_EQ(asf_shm_release(&s->lock), 0);
}

TEST_F(Lock, DeathWhileRepairing) {
    EXPECT_EQ(in_child([&] { return asf_shm_obtain(&s->lock); }), 0);
    EXPECT_EQ(in_child([&] { return asf_shm_obtain(&s->lock) == -EOWNERDEAD ? 0 : 1; }), 0);
    EXPECT_EQ(asf_shm_obtain(&s->lock), -EOWNERDEAD) << "not repaired yet";
    EXPECT_EQ(asf_shm_release(&s->lock), 0);
}

TEST_F(Lock, DeathWakesWhoWaits) {
    const pid_t holder = fork();
    if (holder == 0) {
        asf_shm_obtain(&s->lock);
        s->inside = 1;
        for (;;)
            pause();
    }
    while (s->inside == 0)
        std::this_thread::yield();
    std::thread waiter([&] { EXPECT_EQ(asf_shm_obtain(&s->lock), -EOWNERDEAD); });
    while (!(__atomic_load_n(&s->lock.word, __ATOMIC_RELAXED) & 0x80000000U))
        std::this_thread::yield();
    kill(holder, SIGKILL);
    waitpid(holder, nullptr, 0);
    waiter.join();
}

// The library finds all locks of a dead process, even if libc's robust mutexes are in the same list. The
// order of taking and releasing them does not matter.
TEST_F(Lock, AmongRobustMutexesOfLibc) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    for (pthread_mutex_t &m : s->robust)
        pthread_mutex_init(&m, &attributes);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&s->robust[1], &attributes);
    EXPECT_EQ(in_child([&] {
                  int rc = asf_shm_obtain(&s->lock) + asf_shm_obtain(&s->more[0]);
                  rc += pthread_mutex_lock(&s->robust[0]) + asf_shm_obtain(&s->more[1]);
                  rc += pthread_mutex_lock(&s->robust[1]) + asf_shm_obtain(&s->more[2]);
                  rc += asf_shm_release(&s->more[0]) + asf_shm_release(&s->more[2]);
                  rc += pthread_mutex_unlock(&s->robust[0]) + asf_shm_release(&s->lock);
                  rc += pthread_mutex_lock(&s->robust[0]) + asf_shm_obtain(&s->more[2]);
                  rc += pthread_mutex_unlock(&s->robust[1]) + pthread_mutex_lock(&s->robust[1]);
                  return rc; // holds robust[0], robust[1], more[1] and more[2]
              }),
              0);
    EXPECT_EQ(asf_shm_obtain_no_wait(&s->lock), 0);
    EXPECT_EQ(asf_shm_obtain_no_wait(&s->more[0]), 0);
    EXPECT_EQ(asf_shm_obtain_no_wait(&s->more[1]), -EOWNERDEAD);
    EXPECT_EQ(asf_shm_obtain_no_wait(&s->more[2]), -EOWNERDEAD);
    EXPECT_EQ(pthread_mutex_trylock(&s->robust[0]), EOWNERDEAD);
    EXPECT_EQ(pthread_mutex_trylock(&s->robust[1]), EOWNERDEAD);
    for (pthread_mutex_t &m : s->robust) {
        EXPECT_EQ(pthread_mutex_consistent(&m), 0);
        EXPECT_EQ(pthread_mutex_unlock(&m), 0);
    }
    for (asf_shm_lock *l : {&s->more[1], &s->lock, &s->more[0], &s->more[2]})
        EXPECT_EQ(asf_shm_release(l), 0);
}

// Another process writes to locks that are held. A release then writes only to these locks, and libc's
// mutexes in the same list are still found.
TEST_F(Lock, ForgedLinks) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    EXPECT_EQ(in_child([&] {
                  static pthread_mutex_t early, late;
                  pthread_mutex_init(&early, &attributes);
                  pthread_mutex_init(&late, &attributes);
                  static uintptr_t trap[64];
                  asf_shm_lock *locks[] = {&s->lock, &s->more[0], &s->more[1], &s->more[2]};
                  int rc = pthread_mutex_lock(&early);
                  for (asf_shm_lock *l : locks)
                      rc += asf_shm_obtain(l);
                  rc += pthread_mutex_lock(&late);
                  for (asf_shm_lock *l : locks) {
                      std::fill_n(l->reserved, 5, 0x10U);
                      l->links[0] = &trap[16];
                      l->links[1] = &trap[32];
                      l->word ^= 1;
                  }
                  rc += pthread_mutex_unlock(&early);
                  for (asf_shm_lock *l : {locks[2], locks[0], locks[3], locks[1]})
                      rc += asf_shm_release(l);
                  rc += pthread_mutex_lock(&early) + asf_shm_obtain(&s->lock);
                  for (const uintptr_t word : trap)
                      rc += word != 0;
                  rc += pthread_mutex_unlock(&late) + asf_shm_release(&s->lock);
                  return rc + pthread_mutex_unlock(&early);
              }),
              0);
    new (s) Shared();
}

// More locks than the initial size of the table, released in another order.
TEST_F(Lock, VeryMany) {
    auto *shared = static_cast<asf_shm_lock *>(
        mmap(nullptr, 300 * sizeof(asf_shm_lock), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    EXPECT_EQ(in_child([&] {
                  int rc = 0;
                  for (int round = 0; round < 2; round++)
                      for (int i = 0; i < 300; i++)
                          rc += asf_shm_obtain(&shared[i]);
                  if (rc != 300 * -EDEADLK)
                      return 1;
                  rc = 0;
                  for (int i = 0; i < 300; i += 3)
                      rc += asf_shm_release(&shared[i]);
                  for (int i = 299; i >= 0; i -= 3)
                      rc += asf_shm_release(&shared[i]);
                  return rc == 0 ? 0 : 2; // holds a third of the locks
              }),
              0);
    for (int i = 0; i < 300; i++)
        EXPECT_EQ(asf_shm_obtain_no_wait(&shared[i]), i % 3 == 1 ? -EOWNERDEAD : 0) << i;
    for (int i = 0; i < 300; i++)
        EXPECT_EQ(asf_shm_release(&shared[i]), 0);
    munmap(shared, 300 * sizeof(asf_shm_lock));
}

TEST_F(Lock, AForkedChildIsNotTheHolder) {
    EXPECT_EQ(asf_shm_obtain(&s->lock), 0);
    EXPECT_EQ(in_child([&] {
                  // also makes the child look up its own thread number
                  const int rc = asf_shm_release(&s->lock);
                  return rc == -EPERM && asf_shm_obtain(&s->more[0]) == 0 ? 0 : 1;
              }),
              0);
    EXPECT_EQ(asf_shm_obtain(&s->more[0]), -EOWNERDEAD) << "the child's death, by its own number";
    EXPECT_EQ(asf_shm_obtain_no_wait(&s->lock), -EDEADLK) << "not released by the child's end";
    const pid_t plain = static_cast<pid_t>(_Fork()); // calls no handlers of pthread_atfork
    if (plain == 0)
        _exit(-asf_shm_release(&s->lock));
    int status = 0;
    waitpid(plain, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), EPERM);
    EXPECT_EQ(asf_shm_release(&s->lock), 0);
    EXPECT_EQ(asf_shm_release(&s->more[0]), 0);
}

// Workers that run for ever are killed at random and replaced.
TEST_F(Lock, KilledAtRandom) {
    constexpr int workers = 3;
    std::mt19937 random(1);
    pid_t pids[workers];
    const auto start = [&](int w) {
        pids[w] = fork();
        if (pids[w] == 0)
            for (;;)
                turn(asf_shm_obtain(&s->lock), w);
    };
    for (int w = 0; w < workers; w++)
        start(w);
    for (int round = 0; round < rounds(300); round++) {
        const int w = static_cast<int>(random() % workers);
        const long before = s->entered;
        usleep(static_cast<useconds_t>(random() % 2000));
        kill(pids[w], SIGKILL);
        waitpid(pids[w], nullptr, 0);
        start(w);
        for (int i = 0; s->entered == before && i < 30000; i++) // wait until a worker takes the lock
            usleep(1000);
        ASSERT_NE(s->entered, before) << "hung in round " << round;
    }
    for (const pid_t pid : pids) {
        kill(pid, SIGKILL);
        waitpid(pid, nullptr, 0);
    }
    const int rc = asf_shm_obtain(&s->lock);
    EXPECT_TRUE(rc == 0 || rc == -EOWNERDEAD) << rc;
    EXPECT_EQ(asf_shm_release(&s->lock), 0);
    EXPECT_EQ(s->wrong, 0);
    EXPECT_GT(s->deaths, 0) << "some died with it";
}

} // namespace
} // namespace shm
