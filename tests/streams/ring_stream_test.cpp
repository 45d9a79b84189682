// SPDX-License-Identifier: MIT
//
// ring_stream_test.cpp - rings as streams of the Alloc Stream Interface, with each end in its own process.
#include <malloc.h>
#include <sys/time.h>

#include "tests/asleep.h"
#include "tests/one_processor.h"
#include "tests/streams/ring_test.h"

#include <asf/shm.h>

namespace asi {
namespace {

class Ring : public RingTest {};

TEST_F(Ring, HandsOverTheSameBytes) {
    asf_cios *w = open_end(ring, O_WRONLY), *r = open_end(ring, O_RDONLY);
    ASSERT_TRUE(w && r);
    EXPECT_STREQ(asf_module_name(w), "ring");
    EXPECT_EQ(asf_fileno(w), -EBADF);
    ssize_t n = 100;
    char *p = static_cast<char *>(salloc(w, &n));
    ASSERT_TRUE(p && n == 100);
    memcpy(p, pattern(100).data(), 100);
    EXPECT_EQ(sfree(w, p), 0);
    EXPECT_EQ(sflush(w), 0);
    n = 40;
    char *q = static_cast<char *>(salloc(r, &n));
    ASSERT_TRUE(q && n == 40);
    p[1] = 'x';
    EXPECT_EQ(q[1], 'x') << "not a copy";
    p[1] = pattern_at(1);
    EXPECT_EQ(first_wrong(q, 40, 0), 40U);
    EXPECT_EQ(sfree(r, q), 0);
    n = 1000;
    EXPECT_EQ(sclose(w), 0);
    q = static_cast<char *>(salloc(r, &n));
    ASSERT_TRUE(q && n == 60) << "what there is before the end";
    EXPECT_EQ(first_wrong(q, 60, 40), 60U);
    EXPECT_EQ(sfree(r, q), 0);
    n = 1;
    q = static_cast<char *>(salloc(r, &n));
    EXPECT_TRUE(!q && n == 0) << "the end of the file";
    EXPECT_EQ(sclose(r), 0);
}

// A region larger than memory is refused, and the stream does not change.
TEST_F(Ring, TooLongARegionChangesNothing) {
    if (sanitized)
        GTEST_SKIP();
    asf_cios *w = open_end(ring, O_WRONLY), *r = open_end(ring, O_RDONLY);
    const auto fill = [&](size_t from) {
        ssize_t n = 100;
        void *p = salloc(w, &n);
        return p ? memcpy(p, pattern(100, from).data(), 100) : nullptr;
    };
    void *a = fill(0), *b = fill(100);
    for (const bool again : {false, true}) {
        ssize_t n = ssize_t{1} << 62;
        void *none = again ? srealloc(w, b, &n) : salloc(w, &n);
        expect_none(none, n, -ENOMEM);
    }
    EXPECT_EQ(sfree(w, b), 0);
    EXPECT_EQ(sflush(w), -EBUSY);
    EXPECT_EQ(sfree(w, a), 0);
    EXPECT_EQ(sfree(w, fill(200)), 0);
    EXPECT_EQ(sclose(w), 0);
    EXPECT_EQ(read_pattern(r, 1000), 300);
    EXPECT_EQ(sclose(r), 0);
}

// The child of a fork has copies of the regions, but no end of the ring.
TEST_F(Ring, AChildGivesRegionsBackAndCloses) {
    make(8192);
    asf_cios *w = open_end(ring, O_WRONLY), *r = open_end(ring, O_RDONLY);
    std::vector<char *> regions;
    for (size_t at = 0; at < 4000; at += 400) {
        ASSERT_EQ(write_pattern(w, 400, 400, at) || sflush(w), 0);
        ssize_t n = 400;
        regions.push_back(static_cast<char *>(salloc(r, &n)));
        ASSERT_EQ(n, 400);
    }
    const pid_t child = start([&] {
#ifdef M_PERTURB
        mallopt(M_PERTURB, 0x5a); // freed memory is overwritten
#endif
        for (char *region : regions)
            sfree(r, region);
        return -(sclose(r) + sclose(w));
    });
    EXPECT_EQ(finish(child), 0);
    for (char *region : regions)
        EXPECT_EQ(sfree(r, region), 0);
    for (asf_cios *end : {r, w})
        EXPECT_EQ(sclose(end), 0);
}

struct Shape {
    size_t size, total, in, out;
};

class RingShapes : public RingTest, public testing::WithParamInterface<Shape> {
  protected:
    void move_all();
};

// Each byte must arrive once and in order, over wraps, with regions of any size, even longer than the ring.
void RingShapes::move_all() {
    const Shape shape = GetParam();
    make(shape.size);
    const pid_t writer = start([&] {
        asf_cios *s = open_end(ring, O_WRONLY);
        return s ? write_pattern(s, shape.total, shape.in) || sclose(s) : 100;
    });
    asf_cios *s = open_end(ring, O_RDONLY);
    ASSERT_TRUE(s);
    EXPECT_EQ(read_pattern(s, shape.out), static_cast<ssize_t>(shape.total));
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(finish(writer), 0);
}

TEST_P(RingShapes, MoveAllBytes) {
    move_all();
}

TEST_P(RingShapes, MoveAllBytesOnOneProcessor) {
    const OneProcessor alone;
    move_all();
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, RingShapes,
    testing::Values(Shape{8192, 3000000, 1000, 1000}, Shape{8192, 3000000, 1, 4096},
                    Shape{8192, 3000000, 4096, 1}, Shape{8192, 3000000, 777, 5001},
                    Shape{8192, 3000000, 100000, 333}, Shape{8192, 3000000, 333, 100000},
                    Shape{65536, 30000000, 8192, 8192}, Shape{65536, 30000000, 65536, 40000},
                    Shape{262144, 30000000, 16384, 65536}, Shape{262144, 30000000, 50001, 4097},
                    Shape{1 << 20, 30000000, 65536, 262144}, Shape{1 << 20, 30000000, 3 << 20, 5 << 20},
                    Shape{1 << 25, 50000000, 65536, 65536}, Shape{8192, 5000, 100, 100},
                    Shape{8192, 0, 1, 1}));

TEST_F(Ring, AWriterWaitsForTheReader) {
    make(8192);
    int told[2];
    ASSERT_EQ(pipe(told), 0);
    const pid_t writer = start([&] {
        asf_cios *s = open_end(ring, O_WRONLY);
        int rc = !s;
        for (size_t at = 0; rc == 0 && at < 100000; at += 500) {
            rc = write_pattern(s, 500, 500, at) || sflush(s);
            if (::write(told[1], "x", 1) != 1)
                rc = 1;
        }
        return rc || sclose(s);
    });
    ::close(told[1]);
    asf_cios *s = open_end(ring, O_RDONLY);
    ASSERT_TRUE(s);
    char marks[300];
    size_t at = 0, marked = 0;
    for (; at < 5000; at += 500) {
        const std::string piece = take(s, 500);
        ASSERT_EQ(first_wrong(piece.data(), piece.size(), at), 500U);
    }
    wait_until_asleep(writer);
    while (marked * 500 < at) {
        const ssize_t seen = ::read(told[0], marks, sizeof marks);
        ASSERT_GT(seen, 0);
        marked += static_cast<size_t>(seen);
    }
    EXPECT_LE(marked * 500, at + 8192) << "no more than fits is written ahead";
    for (; at < 100000; at += 500)
        ASSERT_EQ(take(s, 500), pattern(500, at));
    EXPECT_EQ(take(s, 1), "");
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(finish(writer), 0);
    ::close(told[0]);
}

TEST_F(Ring, AReaderSleepsUntilThereIsSomething) {
    const pid_t writer = start([&] {
        asf_cios *s = open_end(ring, O_WRONLY);
        for (size_t i = 0; i < 10; i++) {
            wait_until_asleep(getppid());
            if (write_pattern(s, 10, 10, i * 10) || sflush(s))
                return 1;
        }
        wait_until_asleep(getppid());
        return -sclose(s);
    });
    asf_cios *s = open_end(ring, O_RDONLY);
    for (size_t i = 0; i < 10; i++)
        EXPECT_EQ(take(s, 10), pattern(10, i * 10));
    EXPECT_EQ(take(s, 10), "");
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(finish(writer), 0);
}

// SA_RESTART decides whether a signal ends a wait.
TEST_F(Ring, SignalsInterruptAsTheirHandlersSay) {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "the sanitizer's handlers are others than the program's";
#endif
    for (const int flags : {SA_RESTART, 0}) {
        const int own = asf_ring_create(8192);
        const pid_t reader = start([&] {
            asf_cios *s = open_end(own, O_RDONLY);
            struct sigaction act {};
            act.sa_handler = [](int) {};
            act.sa_flags = flags;
            sigaction(SIGALRM, &act, nullptr);
            signal(SIGCHLD, act.sa_handler); // signal() sets SA_RESTART, as for most handlers
            act.sa_flags = 0;
            sigaction(SIGSEGV, &act, nullptr);
            const itimerval often = {{0, 20000}, {0, 20000}};
            setitimer(ITIMER_REAL, &often, nullptr);
            ssize_t n = 1;
            return salloc(s, &n) ? 0 : static_cast<int>(-n);
        });
        asf_cios *w = open_end(own, O_WRONLY);
        usleep(600000);
        signal(SIGPIPE, SIG_IGN);
        give(w, "x");
        sflush(w);
        EXPECT_EQ(finish(reader), flags ? 0 : EINTR);
        sclose(w);
        ::close(own);
    }
    signal(SIGPIPE, SIG_DFL);
}

TEST_F(Ring, AWriterWithoutReaderIsTold) {
    const auto writing = [&](bool ignores) {
        return start([this, ignores] {
            if (ignores)
                signal(SIGPIPE, SIG_IGN);
            asf_cios *s = open_end(ring, O_WRONLY);
            return s ? write_pattern(s, 10000000, 1000) : 100;
        });
    };
    for (const bool ignores : {false, true}) {
        make(0);
        const pid_t writer = writing(ignores);
        asf_cios *s = open_end(ring, O_RDONLY);
        EXPECT_EQ(take(s, 100), pattern(100));
        EXPECT_EQ(sclose(s), 0);
        EXPECT_EQ(finish(writer), ignores ? EPIPE : -SIGPIPE);
    }
}

TEST_F(Ring, AKilledReaderIsNoticed) {
    signal(SIGPIPE, SIG_IGN);
    int opened[2];
    ASSERT_EQ(pipe(opened), 0);
    for (const bool reads : {false, true}) {
        make(0);
        const pid_t reader = start([&] {
            asf_cios *s = open_end(ring, O_RDONLY);
            if (::write(opened[1], "x", 1) == 1 && reads)
                take(s, 100);
            return pause();
        });
        char mark;
        ASSERT_EQ(::read(opened[0], &mark, 1), 1) << "killed earlier, it would be waited for";
        asf_cios *s = open_end(ring, O_WRONLY);
        if (reads) {
            EXPECT_EQ(write_pattern(s, 100, 100) || sflush(s), 0);
        }
        wait_until_asleep(reader);
        kill(reader, SIGKILL);
        EXPECT_EQ(finish(reader), -SIGKILL);
        EXPECT_EQ(write_pattern(s, 10000000, 1000), EPIPE);
        sclose(s);
    }
    ::close(opened[0]);
    ::close(opened[1]);
}

TEST_F(Ring, ASleepingWriterIsWokenByDeath) {
    signal(SIGPIPE, SIG_IGN);
    int opened[2];
    ASSERT_EQ(pipe(opened), 0);
    const pid_t reader = start([&] {
        asf_cios *s = open_end(ring, O_RDONLY);
        const bool told = ::write(opened[1], "x", 1) == 1;
        wait_until_asleep(getppid());
        return s && told ? 0 : 1; // the process ends without closing the stream
    });
    char mark;
    ASSERT_EQ(::read(opened[0], &mark, 1), 1);
    asf_cios *s = open_end(ring, O_WRONLY);
    EXPECT_EQ(write_pattern(s, 10000000, 1000), EPIPE) << "it sleeps, the ring being full";
    sclose(s);
    EXPECT_EQ(finish(reader), 0);
    ::close(opened[0]);
    ::close(opened[1]);
}

TEST_F(Ring, AKilledWriterIsNoEndOfFile) {
    for (const bool flushes : {false, true}) {
        make(0);
        const pid_t writer = start([&] {
            asf_cios *s = open_end(ring, O_WRONLY);
            write_pattern(s, 1000, 100);
            if (flushes)
                sflush(s);
            wait_until_asleep(getppid());
            kill(getpid(), SIGKILL);
            return 0;
        });
        asf_cios *s = open_end(ring, O_RDONLY);
        size_t got = 0;
        EXPECT_EQ(read_pattern(s, 300, &got), -EOWNERDEAD);
        EXPECT_EQ(got, flushes ? 1000U : 0U);
        ssize_t n = 1;
        EXPECT_EQ(salloc(s, &n), nullptr);
        EXPECT_EQ(n, -EOWNERDEAD) << "still";
        EXPECT_EQ(sclose(s), 0);
        EXPECT_EQ(finish(writer), -SIGKILL);
    }
}

// The thread that opened an end may end; other threads of the process can still use the end.
TEST_F(Ring, ThreadsHandAnEndOn) {
    const pid_t writer = start([&] {
        pthread_t first;
        struct Both {
            int fd;
            asf_cios *s;
        } both = {ring, nullptr};
        const auto body = [](void *arg) -> void * {
            Both *b = static_cast<Both *>(arg);
            b->s = open_end(b->fd, O_WRONLY);
            write_pattern(b->s, 1000, 100);
            sflush(b->s);
            return nullptr;
        };
        pthread_create(&first, nullptr, body, &both);
        pthread_join(first, nullptr);
        wait_until_asleep(getppid());
        if (write_pattern(both.s, 1000000, 100, 1000))
            return 1;
        return -sclose(both.s);
    });
    asf_cios *s = open_end(ring, O_RDONLY);
    EXPECT_EQ(read_pattern(s, 300), 1001000);
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(finish(writer), 0);
}

TEST_F(Ring, RegionsStayAndStayTrue) {
    make(8192);
    const size_t total = 1000000;
    const pid_t writer = start([&] {
        asf_cios *s = open_end(ring, O_WRONLY);
        return s ? write_pattern(s, total, 700) || sclose(s) : 100;
    });
    asf_cios *s = open_end(ring, O_RDONLY);
    std::vector<std::pair<char *, size_t>> held;
    size_t at = 0;
    for (size_t i = 0;; i++) {
        ssize_t n = 501;
        char *p = static_cast<char *>(salloc(s, &n));
        if (!p) {
            EXPECT_EQ(n, 0);
            break;
        }
        ASSERT_EQ(first_wrong(p, static_cast<size_t>(n), at), static_cast<size_t>(n));
        if (i % 10 == 0)
            held.emplace_back(p, at);
        else
            ASSERT_EQ(sfree(s, p), 0);
        at += static_cast<size_t>(n);
    }
    EXPECT_EQ(at, total);
    for (const auto &[p, where] : held) {
        const size_t n = std::min<size_t>(501, total - where);
        EXPECT_EQ(first_wrong(p, n, where), n);
    }
    EXPECT_EQ(sclose(s), -EBUSY);
    for (const auto &[p, where] : held)
        EXPECT_EQ(sfree(s, p), 0);
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(finish(writer), 0);
}

// Short regions are in the ring, regions longer than half of it are copies; some are kept for a while.
TEST_F(Ring, RegionsOfAnyLengthByTurns) {
    make(8192);
    const size_t lengths[] = {1, 700, 6000, 30, 9000, 4096, 100}, total = 1000000;
    const pid_t writer = start([&] {
        asf_cios *s = open_end(ring, O_WRONLY);
        int rc = !s;
        for (size_t i = 0, at = 0; rc == 0 && at < total; at += lengths[i++ % 7])
            rc = write_pattern(s, lengths[i % 7], lengths[i % 7], at) || (i % 5 == 0 && sflush(s));
        return rc || sclose(s);
    });
    asf_cios *s = open_end(ring, O_RDONLY);
    std::vector<std::pair<char *, size_t>> held;
    size_t at = 0;
    for (size_t i = 0;; i++) {
        ssize_t n = static_cast<ssize_t>(lengths[i * 3 % 7]);
        char *p = static_cast<char *>(salloc(s, &n));
        if (!p) {
            EXPECT_EQ(n, 0);
            break;
        }
        ASSERT_EQ(first_wrong(p, static_cast<size_t>(n), at), static_cast<size_t>(n));
        held.emplace_back(p, at);
        at += static_cast<size_t>(n);
        for (; held.size() > i % 4; held.pop_back())
            ASSERT_EQ(sfree(s, held.back().first), 0);
    }
    EXPECT_GE(at, total);
    for (const auto &[p, where] : held) {
        EXPECT_EQ(*p, pattern_at(where));
        EXPECT_EQ(sfree(s, p), 0);
    }
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(finish(writer), 0);
}

TEST_F(Ring, OutputRegionsInAnyOrder) {
    make(8192);
    const size_t total = 500000;
    const pid_t reader = start([&] {
        asf_cios *s = open_end(ring, O_RDONLY);
        return s && read_pattern(s, 900) == static_cast<ssize_t>(total) ? 0 : 1;
    });
    asf_cios *s = open_end(ring, O_WRONLY);
    std::vector<char *> out;
    for (size_t at = 0; at < total; at += 500) {
        ssize_t n = 500;
        char *p = static_cast<char *>(salloc(s, &n));
        ASSERT_TRUE(p);
        memcpy(p, pattern(500, at).data(), 500);
        out.push_back(p);
        if (out.size() == 30) { // their bytes are twice the ring's size
            for (size_t i = out.size(); i-- > 0;)
                ASSERT_EQ(sfree(s, out[(i * 7) % 30]), 0);
            out.clear();
        }
    }
    for (char *p : out)
        ASSERT_EQ(sfree(s, p), 0);
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(finish(reader), 0);
}

TEST_F(Ring, RegionsAreShortened) {
    asf_cios *w = open_end(ring, O_WRONLY), *r = open_end(ring, O_RDONLY);
    std::string wanted;
    for (size_t i = 0; i < 2000; i++) {
        ssize_t n = 1000, m = static_cast<ssize_t>(i % 300);
        char *p = static_cast<char *>(salloc(w, &n));
        memset(p, 'a' + static_cast<int>(i % 26), 1000);
        ASSERT_EQ(sfree(w, srealloc(w, p, &m)), 0);
        wanted.append(static_cast<size_t>(m), static_cast<char>('a' + i % 26));
        if (wanted.size() > 50000) {
            ASSERT_EQ(sflush(w), 0);
            ASSERT_EQ(take(r, static_cast<ssize_t>(wanted.size())), wanted);
            wanted.clear();
        }
    }
    EXPECT_EQ(sclose(w), 0);
    EXPECT_EQ(take(r, MiB), wanted);
    EXPECT_EQ(sclose(r), 0);
}

TEST_F(Ring, AnEndIsTakenOnce) {
    asf_cios *w = open_end(ring, O_WRONLY), *r = open_end(ring, O_RDONLY);
    ASSERT_TRUE(w && r);
    int error = 0;
    for (const int flags : {O_RDONLY, O_WRONLY}) {
        EXPECT_EQ(asf_ring_sopen_fd(ring, flags, &error), nullptr);
        EXPECT_EQ(error, -EBUSY);
    }
    EXPECT_EQ(sclose(w), 0);
    EXPECT_EQ(asf_ring_sopen_fd(ring, O_WRONLY, &error), nullptr);
    EXPECT_EQ(error, -EBUSY) << "nor after it was closed";
    EXPECT_EQ(sclose(r), 0);
    for (const int flags : {O_RDWR, O_WRONLY | O_APPEND}) {
        EXPECT_EQ(asf_ring_sopen_fd(ring, flags, &error), nullptr);
        EXPECT_EQ(error, -EINVAL);
    }
    EXPECT_EQ(asf_ring_sopen_fd(-1, O_RDONLY, &error), nullptr);
    EXPECT_EQ(error, -EBADF);
    const int other = ::open(put("file", pattern(100000)).c_str(), O_RDWR);
    EXPECT_EQ(asf_ring_sopen_fd(other, O_RDONLY, &error), nullptr);
    EXPECT_EQ(error, -EINVAL) << "not a ring";
    ::close(other);
    EXPECT_EQ(asf_ring_create((1 << 25) + 1), -EINVAL);
    struct stat st {};
    EXPECT_EQ(fstat(ring, &st), 0);
    EXPECT_EQ(st.st_mode & 07777, 0600U);
}

TEST_F(Ring, AForkedChildCannotUseAnEnd) {
    asf_cios *w = open_end(ring, O_WRONLY), *r = open_end(ring, O_RDONLY);
    EXPECT_EQ(write_pattern(w, 100, 100), 0) << "not published yet";
    const pid_t child = start([&] {
        ssize_t n = 10;
        if (sflush(w) != -EBADF || salloc(r, &n) || n != -EBADF)
            return 1;
        sclose(w);
        return sclose(r) == 0 ? 0 : 2;
    });
    EXPECT_EQ(finish(child), 0);
    EXPECT_EQ(sclose(w), 0);
    EXPECT_EQ(read_pattern(r, 30), 100) << "once";
    EXPECT_EQ(sclose(r), 0);
}

TEST_F(Ring, AForkedChildHasNothingOfTheWindows) {
    asf_cios *w = open_end(ring, O_WRONLY), *r = open_end(ring, O_RDONLY);
    EXPECT_EQ(write_pattern(w, 100, 100), 0);
    EXPECT_EQ(sflush(w), 0);
    EXPECT_EQ(take(r, 10), pattern(10)) << "the rest is in the reader's window";
    const pid_t child = start([&] {
        ssize_t n = 10;
        if (salloc(r, &n) || n != -EBADF)
            return 1;
        n = 10;
        return salloc(w, &n) || n != -EBADF ? 2 : 0;
    });
    EXPECT_EQ(finish(child), 0);
    EXPECT_EQ(write_pattern(w, 50, 50), 0);
    EXPECT_EQ(sclose(w), 0);
    EXPECT_EQ(take(r, 90), pattern(90, 10));
    EXPECT_EQ(take(r, 50), pattern(50));
    EXPECT_EQ(sclose(r), 0);
}

TEST_F(Ring, HasAName) {
    char label[ASF_RING_LABEL];
    ASSERT_EQ(asf_ring_create_named("a ring", 0600, 100000, label), 0) << asf_shm_why();
    const pid_t writer = start([&] {
        asf_cios *s = asf_ring_sopen(label, O_WRONLY, nullptr);
        return s ? write_pattern(s, 1000000, 1000) || sclose(s) : 100;
    });
    int error = 1;
    asf_cios *s = asf_ring_sopen(label, O_RDONLY, &error);
    ASSERT_TRUE(s) << error;
    EXPECT_EQ(take(s, 1), pattern(1)) << "both have it now";
    EXPECT_EQ(asf_shm_remove(label), 0);
    EXPECT_EQ(take(s, MiB), pattern(999999, 1));
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(finish(writer), 0);
    EXPECT_EQ(asf_ring_sopen(label, O_RDONLY, &error), nullptr);
    EXPECT_EQ(error, -ENOENT);
    char *segment = asf_shm_create("no ring", 0600, 100000);
    const std::string other(segment, strcspn(segment, "\n"));
    EXPECT_EQ(asf_ring_sopen(other.c_str(), O_RDONLY, &error), nullptr);
    EXPECT_EQ(error, -EINVAL);
    EXPECT_EQ(asf_shm_remove(other.c_str()), 0);
    EXPECT_EQ(asf_shm_close(segment), 0);
}

} // namespace
} // namespace asi
