// SPDX-License-Identifier: MIT
//
// ring_broken_test.cpp - rings whose memory another process damages: the file of a named ring is truncated,
// or the other end writes garbage over the control block.  An end returns an error; it does not crash, write
// outside the ring, or wait for a process that has died.  ASF_RING_ROUNDS in the environment sets the number
// of rounds, ASF_RING_SEED the seed.
#include <array>
#include <pthread.h>
#include <random>

#include "tests/asleep.h"
#include "tests/streams/ring_test.h"

#include <asf/shm.h>

namespace asi {
namespace {

constexpr size_t SIZE = 65536;

class Broken : public Asi {
  protected:
    void SetUp() override {
        Asi::SetUp();
        ASSERT_EQ(asf_ring_create_named("broken", 0600, SIZE, label), 0) << asf_shm_why();
        file = "/dev/shm/asf-shm." + std::string(label, strcspn(label, " "));
        struct stat st {};
        ASSERT_EQ(stat(file.c_str(), &st), 0);
        whole = st.st_size;
    }
    void TearDown() override {
        unlink(file.c_str()); // a truncated ring has lost its label
        Asi::TearDown();
    }
    asf_cios *open(int flags) {
        int error = 1;
        asf_cios *s = asf_ring_sopen(label, flags, &error);
        EXPECT_EQ(error, 0);
        return s;
    }
    int cut(off_t length) { return truncate(file.c_str(), length); }

    char label[ASF_RING_LABEL];
    std::string file;
    off_t whole = 0;
};

// The control block, which the other end can write: the page before the data.
template <class Word> struct Control {
    Control(int ring, size_t size) {
        struct stat st {};
        fstat(ring, &st);
        const off_t at = st.st_size - static_cast<off_t>(size) - 4096, page = at & -sysconf(_SC_PAGESIZE);
        auto *p = static_cast<char *>(mmap(nullptr, static_cast<size_t>(4096 + at - page),
                                           PROT_READ | PROT_WRITE, MAP_SHARED, ring, page));
        words = reinterpret_cast<Word *>(p + (at - page));
    }
    Word *begin() const { return words; }
    Word *end() const { return words + 4096 / sizeof(Word); }
    Word *words;
};

// Starts a process that must end by itself in time; else SIGALRM ends it.
pid_t start_in_time(const std::function<int()> &body) {
    return start([&] {
        alarm(20);
        return body();
    });
}

int put_bytes(asf_cios *s, size_t n) {
    ssize_t got = static_cast<ssize_t>(n);
    void *p = salloc(s, &got);
    if (!p)
        return static_cast<int>(got);
    memset(p, 'x', n);
    const int rc = sfree(s, p);
    return rc < 0 ? rc : sflush(s);
}

// --- truncated ----------------------------------------------------------------------

TEST_F(Broken, ARegionThatIsCutOff) {
    asf_cios *w = open(O_WRONLY), *r = open(O_RDONLY);
    EXPECT_EQ(put_bytes(w, 20000), 0);
    ssize_t n = 20000;
    const char *p = static_cast<char *>(salloc(r, &n));
    ASSERT_TRUE(p && n == 20000);
    EXPECT_EQ(p[0], 'x');
    ASSERT_EQ(cut(whole - static_cast<off_t>(SIZE)), 0);
    EXPECT_EQ(p[19999], 0) << "where the bytes are gone";
    sfree(r, const_cast<char *>(p));
    n = 1;
    EXPECT_EQ(salloc(r, &n), nullptr);
    EXPECT_EQ(n, -EIO);
    EXPECT_EQ(sclose(r), -EIO);
    EXPECT_NE(put_bytes(w, 100), 0);
    EXPECT_NE(sclose(w), 0);
}

TEST_F(Broken, CutOffBeforeItIsRead) {
    asf_cios *w = open(O_WRONLY), *r = open(O_RDONLY);
    for (int i = 0; i < 4; i++)
        EXPECT_EQ(put_bytes(w, 10000), 0);
    ASSERT_EQ(cut(whole - static_cast<off_t>(SIZE)), 0);
    ssize_t n = 40000; // more than half of the ring: a copy
    EXPECT_EQ(salloc(r, &n), nullptr);
    EXPECT_EQ(n, -EIO);
    EXPECT_EQ(sclose(r), -EIO);
    EXPECT_EQ(sclose(w), 0) << "which has touched nothing of it";
}

TEST_F(Broken, CutOffUnderTheWriter) {
    asf_cios *w = open(O_WRONLY), *r = open(O_RDONLY);
    ASSERT_EQ(cut(whole - static_cast<off_t>(SIZE)), 0);
    int rc = 0;
    for (int i = 0; i < 10 && rc == 0; i++)
        rc = put_bytes(w, 1000);
    EXPECT_EQ(rc, -EIO);
    EXPECT_EQ(sclose(w), -EIO);
    ssize_t n = 10000;
    EXPECT_EQ(salloc(r, &n), nullptr) << "half of a stream is no whole";
    EXPECT_EQ(n, -EIO);
    EXPECT_EQ(sclose(r), -EIO);
}

class BrokenWhole : public Broken, public testing::WithParamInterface<bool> {};

// Truncates the whole ring, with the control block, while an end sleeps.
TEST_P(BrokenWhole, WhileOneWaits) {
    const bool reading = GetParam();
    const auto wait = [&](int flags) {
        asf_cios *s = open(flags);
        signal(SIGPIPE, SIG_IGN);
        int rc = 0;
        while (rc >= 0) {
            ssize_t n = 1000;
            rc = reading ? salloc(s, &n) ? 0 : static_cast<int>(n ? n : -ENODATA) : put_bytes(s, 1000);
        }
        return rc == -EIO && sclose(s) == -EIO ? 0 : -rc;
    };
    asf_cios *other = open(reading ? O_WRONLY : O_RDONLY);
    const pid_t waiter = start_in_time([&] { return wait(reading ? O_RDONLY : O_WRONLY); });
    wait_until_asleep(waiter);
    ASSERT_EQ(cut(0), 0);
    EXPECT_EQ(finish(waiter), 0);
    EXPECT_EQ(sclose(other), -EIO);
}

INSTANTIATE_TEST_SUITE_P(Ends, BrokenWhole, testing::Bool());

// After a long region was copied, later regions must still be guarded.
TEST_F(Broken, CutOffAfterMakingWay) {
    const pid_t writer = start_in_time([&] {
        asf_cios *w = open(O_WRONLY);
        signal(SIGPIPE, SIG_IGN);
        while (put_bytes(w, 4096) == 0)
            continue;
        return sclose(w) == 0;
    });
    asf_cios *r = open(O_RDONLY);
    std::vector<char *> regions;
    for (size_t i = 0; i < 4 * SIZE / 4096; i++) {
        ssize_t n = 4096;
        regions.push_back(static_cast<char *>(salloc(r, &n)));
        ASSERT_TRUE(regions.back() && n == 4096) << n;
        ASSERT_EQ(regions.back()[4095], 'x');
    }
    ASSERT_EQ(cut(whole - static_cast<off_t>(SIZE)), 0);
    ssize_t n = 0;
    for (int i = 0; i < 100 && n >= 0; i++) {
        n = 4096;
        if (char *p = static_cast<char *>(salloc(r, &n)); p) {
            EXPECT_TRUE(p[n - 1] == 'x' || p[n - 1] == 0);
            regions.push_back(p);
        }
    }
    EXPECT_EQ(n, -EIO);
    for (char *p : regions)
        sfree(r, p);
    EXPECT_EQ(sclose(r), -EIO);
    finish(writer);
}

// --- forged -------------------------------------------------------------------------

// Whatever the control page contains, closing writes nowhere else.
TEST_F(Broken, ForgedLinks) {
    auto *trap =
        static_cast<char *>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    memset(trap, 'x', 8192);
    for (const bool mapped : {true, false}) {
        const pid_t closer = start_in_time([&] {
            signal(SIGPIPE, SIG_IGN);
            const int ring = asf_ring_create(SIZE);
            const Control<uint64_t> page(ring, SIZE);
            asf_cios *s = open_end(ring, O_WRONLY), *other = open_end(ring, O_RDONLY);
            for (uint64_t &word : page)
                if (word > UINT32_MAX) // the word may be a pointer
                    word = mapped ? reinterpret_cast<uint64_t>(trap + 4096) : 0x10;
            sclose(s);
            sclose(other);
            for (size_t i = 0; i < 8192; i++)
                if (trap[i] != 'x')
                    return 2;
            return 0;
        });
        EXPECT_EQ(finish(closer), 0) << (mapped ? "written to" : "not mapped");
    }
    munmap(trap, 8192);
}

// An end notices that a process has died, even if that process had forged its lock's word.
TEST_F(Broken, TheDeadAreNoticedBehindAForgedWord) {
    for (const bool reading : {true, false}) {
        const int ring = asf_ring_create(8192);
        int ready[2];
        ASSERT_EQ(pipe(ready), 0);
        const pid_t victim = start_in_time([&] {
            asf_cios *s = open_end(ring, reading ? O_RDONLY : O_WRONLY);
            signal(SIGPIPE, SIG_IGN);
            ssize_t n = 10;
            if (reading)
                return salloc(s, &n) ? 1 : n == -EOWNERDEAD ? 0 : 2;
            int rc = 0;
            while (rc == 0)
                rc = put_bytes(s, 1000);
            return rc == -EPIPE ? 0 : 3;
        });
        const pid_t forger = start([&] {
            asf_cios *s = open_end(ring, reading ? O_WRONLY : O_RDONLY);
            usleep(300000); // by now the victim sleeps in its final wait, not in an earlier one
            for (uint32_t &word : Control<uint32_t>(ring, 8192))
                if ((word & 0x3fffffffU) == static_cast<uint32_t>(gettid())) // the forger's number
                    word = (word & 0x80000000U) | 1;                         // the number of init
            (void)!write(ready[1], s ? "" : "x", 1);
            pause();
            return 0;
        });
        char byte;
        ASSERT_EQ(read(ready[0], &byte, 1), 1);
        kill(forger, SIGKILL);
        finish(forger);
        EXPECT_EQ(finish(victim), 0) << (reading ? "reading" : "writing");
        for (const int fd : {ring, ready[0], ready[1]})
            ::close(fd);
    }
}

// A process whose first thread has ended is not dead, nor is a slow one.
TEST_F(Broken, TheSlowAreWaitedFor) {
    const int ring = asf_ring_create(8192);
    const pid_t writer = start_in_time([&] {
        pthread_t thread;
        const auto work = [](void *fd) -> void * {
            asf_cios *s = open_end(*static_cast<int *>(fd), O_WRONLY);
            usleep(1000000);
            _exit(put_bytes(s, 100) || sclose(s));
        };
        static int fd;
        fd = ring;
        pthread_create(&thread, nullptr, work, &fd);
        return static_cast<int>(syscall(SYS_exit, 0)); // ends only this thread
    });
    asf_cios *r = open_end(ring, O_RDONLY);
    ssize_t n = 100;
    void *p = salloc(r, &n);
    EXPECT_EQ(n, 100);
    sfree(r, p);
    EXPECT_EQ(finish(writer), 0);
    EXPECT_EQ(sclose(r), 0);
    ::close(ring);
}

// --- garbage -------------------------------------------------------------------------

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr size_t ROUNDS = 8;
#else
constexpr size_t ROUNDS = 24;
#endif

size_t from_environment(const char *name, size_t otherwise) {
    const char *text = getenv(name);
    return text ? strtoul(text, nullptr, 10) : otherwise;
}

// Two ends move bytes.  After both have attached, a third process writes garbage over the control block while
// the ends write there, too.  Then one end is killed, or the garbage stops, and no end may wait for ever.
class Garbage : public testing::Test {
  protected:
    enum Victim { WRITER, READER, BOTH };
    struct Shared {
        int moving; // the number of ends that have moved enough bytes to have waited for each other
        int stop;
    };

    static bool is_stopped(const Shared *shared) { return __atomic_load_n(&shared->stop, __ATOMIC_RELAXED); }
    static void note(Shared *shared, size_t before, size_t now) {
        constexpr size_t enough = 65536;
        if (before < enough && now >= enough)
            __atomic_fetch_add(&shared->moving, 1, __ATOMIC_SEQ_CST);
    }

    // Runs an end until an error or until `stop` is set.  The process's other lists and locks must be intact
    // afterwards.
    static int run_end(int ring, Shared *shared, int flags, size_t piece) {
        signal(SIGPIPE, SIG_IGN);
        asf_cios *s = open_end(ring, flags);
        int rc = s ? 0 : -ENXIO;
        for (size_t i = 0; rc == 0 && !is_stopped(shared); i++) {
            ssize_t n = static_cast<ssize_t>(piece);
            if (flags == O_WRONLY)
                rc = put_bytes(s, piece);
            else if (char *p = static_cast<char *>(salloc(s, &n)); p)
                rc = sfree(s, p);
            else
                rc = n ? static_cast<int>(n) : 1;
            note(shared, i * piece, (i + 1) * piece);
        }
        if (s)
            sclose(s);
        return is_list_empty() && ring_still_works() ? 0 : 3;
    }

    uint32_t adversarial(const std::vector<pid_t> &ends) {
        switch (random() % 8) {
        case 0:
            return 0;
        case 1:
            return UINT32_MAX;
        case 2:
            return static_cast<uint32_t>(ends[random() % ends.size()]);
        case 3:
            return static_cast<uint32_t>(ends[random() % ends.size()]) | 1U << (30 + random() % 2);
        case 4:
            return 1U << (30 + random() % 2); // one of the lock's two flags without a thread number
        case 5:
            return 1U << random() % 32;
        default:
            return static_cast<uint32_t>(random());
        }
    }

    // Writes random words of the page, mostly near its end, where the ends' shared state is.
    int scribble(int ring, size_t size, Shared *shared, const std::vector<pid_t> &ends) {
        const Control<uint32_t> page(ring, size);
        const size_t words = static_cast<size_t>(page.end() - page.begin());
        const size_t last = random() % 4 ? 80 : words;
        const useconds_t pause = random() % 2 ? 0 : static_cast<useconds_t>(random() % 50);
        for (size_t n = 1 + random() % 2000; n > 0 && !is_stopped(shared); n--) {
            uint32_t *word = page.begin() + words - 1 - random() % last;
            __atomic_store_n(word, adversarial(ends), __ATOMIC_SEQ_CST);
            if (pause)
                usleep(pause);
        }
        return 0;
    }

    static bool await(const int *value, int wanted) {
        for (int i = 0; i < 20000 && __atomic_load_n(value, __ATOMIC_SEQ_CST) < wanted; i++)
            usleep(500);
        return __atomic_load_n(value, __ATOMIC_SEQ_CST) >= wanted;
    }

    void play(Victim victim) {
        constexpr size_t size = 8192;
        const int ring = asf_ring_create(size);
        auto *shared = static_cast<Shared *>(
            mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
        const size_t in = 1 + random() % 6000, out = 1 + random() % 6000;
        const pid_t writer = start_in_time([&] { return run_end(ring, shared, O_WRONLY, in); });
        const pid_t reader = start_in_time([&] { return run_end(ring, shared, O_RDONLY, out); });
        EXPECT_TRUE(await(&shared->moving, 2));
        const pid_t scribbler = start([&] { return scribble(ring, size, shared, {writer, reader}); });
        usleep(static_cast<useconds_t>(random() % 20000));
        if (victim != BOTH)
            kill(victim == WRITER ? writer : reader, SIGKILL);
        usleep(static_cast<useconds_t>(random() % 1000));
        kill(scribbler, SIGKILL);
        finish(scribbler);
        if (victim == BOTH)
            __atomic_store_n(&shared->stop, 1, __ATOMIC_SEQ_CST);
        for (const auto &[end, process] : {std::pair{WRITER, writer}, {READER, reader}}) {
            const int seen = finish(process);
            EXPECT_TRUE(seen == 0 || (seen == -SIGKILL && victim == end)) << end << ": " << seen;
        }
        munmap(shared, 4096);
        ::close(ring);
    }

    std::mt19937_64 random{from_environment("ASF_RING_SEED", 1)};
};

TEST_F(Garbage, EndsInAnError) {
    const size_t rounds = from_environment("ASF_RING_ROUNDS", ROUNDS);
    for (size_t i = 0; i < rounds && !HasFailure(); i++) {
        const Victim victim = std::array{WRITER, READER, BOTH}[i % 3];
        play(victim);
        EXPECT_FALSE(HasFailure()) << "round " << i << ", victim " << victim;
    }
}

} // namespace
} // namespace asi
