// SPDX-License-Identifier: MIT
//
// ring_killed_test.cpp - one end of a ring is killed at a random point, thousands of times: no process hangs,
// no byte is wrong, doubled or misplaced, and a half stream never ends with an end of file.  ASF_RING_ROUNDS
// in the environment sets the number of rounds, ASF_RING_SEED the seed.
#include <random>
#include <thread>

#include "tests/streams/ring_test.h"

namespace asi {
namespace {

size_t from_environment(const char *name, size_t otherwise) {
    const char *text = getenv(name);
    return text ? strtoul(text, nullptr, 10) : otherwise;
}

// A process with a sanitizer's runtime starts slowly.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr size_t ROUNDS = 300;
#else
constexpr size_t ROUNDS = 2000;
#endif

enum Victim { WRITER, READER, NOBODY };

struct Round {
    Victim victim;
    size_t size, total, in, out;
    useconds_t pause;
};

enum { DONE = 0, TOLD_OF_DEATH = 10, WRONG = 20, SHORT = 21 };

// A hang is a failure: SIGALRM ends the process.
int write_all(int ring, const Round &round) {
    alarm(60);
    asf_cios *s = open_end(ring, O_WRONLY);
    const int rc = s ? write_pattern(s, round.total, round.in) : 1;
    return rc ? rc : -sclose(s);
}

int read_all(int ring, const Round &round) {
    alarm(60);
    asf_cios *s = open_end(ring, O_RDONLY);
    const ssize_t n = read_pattern(s, round.out);
    if (n == -EOWNERDEAD)
        return TOLD_OF_DEATH;
    return n == static_cast<ssize_t>(round.total) ? DONE : n < 0 ? WRONG : SHORT;
}

class Killed : public testing::Test {
  protected:
    size_t one_of(std::initializer_list<size_t> sizes) { return *(sizes.begin() + random() % sizes.size()); }

    Round any_round() {
        Round r{};
        r.victim = static_cast<Victim>(random() % 3);
        r.size = one_of({8192, 65536, 262144});
        r.in = one_of({1 + random() % 100, 1 + random() % 10000, 100000});
        r.out = one_of({1 + random() % 100, 1 + random() % 10000, 100000});
        r.total = r.victim == NOBODY ? random() % 1000000 : size_t{1} << 40;
        r.pause = static_cast<useconds_t>(random() % 4 ? random() % 1500 : random() % 100);
        return r;
    }

    static void play(const Round &round) {
        const int ring = asf_ring_create(round.size);
        ASSERT_GE(ring, 0);
        const pid_t writer = start([&] { return write_all(ring, round); });
        const pid_t reader = start([&] { return read_all(ring, round); });
        usleep(round.pause);
        if (round.victim != NOBODY)
            kill(round.victim == WRITER ? writer : reader, SIGKILL);
        check(round, ring, writer, reader);
        close(ring);
    }

    // The victim may have been killed before it opened its end.  So the test opens that end once more: the
    // other process waits for it.
    static void check(const Round &round, int ring, pid_t writer, pid_t reader) {
        if (round.victim == WRITER) {
            EXPECT_EQ(finish(writer), -SIGKILL);
            const pid_t another = start([&] { return write_all(ring, {NOBODY, 0, 0, 1, 1, 0}); });
            const int instead = finish(another), seen = finish(reader);
            EXPECT_TRUE(seen == TOLD_OF_DEATH || (instead == 0 && seen == SHORT)) << seen << " " << instead;
        } else if (round.victim == READER) {
            EXPECT_EQ(finish(reader), -SIGKILL);
            asf_cios *another = open_end(ring, O_RDONLY);
            if (another)
                sclose(another);
            EXPECT_EQ(finish(writer), -SIGPIPE);
        } else {
            EXPECT_EQ(finish(writer), 0);
            EXPECT_EQ(finish(reader), DONE);
        }
    }

    std::mt19937_64 random{from_environment("ASF_RING_SEED", 1)};
};

TEST_F(Killed, AtAnyPoint) {
    const size_t rounds = from_environment("ASF_RING_ROUNDS", ROUNDS);
    for (size_t i = 0; i < rounds && !HasFailure(); i++) {
        const Round r = any_round();
        play(r);
        EXPECT_FALSE(HasFailure()) << "round " << i << ": victim " << r.victim << " size " << r.size << " in "
                                   << r.in << " out " << r.out << " total " << r.total << " pause "
                                   << r.pause;
    }
}

// The writer records how many bytes it has flushed; after it is killed the reader must get at least these.
TEST_F(Killed, WhatWasFlushedIsThere) {
    auto *flushed = static_cast<size_t *>(
        mmap(nullptr, sizeof(size_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    const size_t rounds = from_environment("ASF_RING_ROUNDS", ROUNDS) / 10;
    for (size_t i = 0; i < rounds && !HasFailure(); i++) {
        const int ring = asf_ring_create(one_of({8192, 65536, 262144}));
        const size_t piece = 1 + random() % 3000;
        const bool meanwhile = random() % 2;
        *flushed = 0;
        const pid_t writer = start([&] {
            alarm(60);
            asf_cios *s = open_end(ring, O_WRONLY);
            for (size_t at = 0; s && write_pattern(s, piece, piece, at) == 0 && sflush(s) == 0; at += piece)
                __atomic_store_n(flushed, at + piece, __ATOMIC_SEQ_CST);
            return 1;
        });
        while (__atomic_load_n(flushed, __ATOMIC_SEQ_CST) == 0)
            usleep(10);
        std::thread killer([&, pause = random() % 1500] {
            usleep(static_cast<useconds_t>(pause));
            kill(writer, SIGKILL);
        });
        if (!meanwhile)
            killer.join();
        asf_cios *r = open_end(ring, O_RDONLY);
        size_t got = 0;
        EXPECT_EQ(read_pattern(r, 1 + random() % 5000, &got), -EOWNERDEAD);
        if (meanwhile)
            killer.join();
        EXPECT_EQ(finish(writer), -SIGKILL);
        EXPECT_GE(got, *flushed) << "round " << i;
        sclose(r);
        close(ring);
    }
    munmap(flushed, sizeof(size_t));
}

} // namespace
} // namespace asi
