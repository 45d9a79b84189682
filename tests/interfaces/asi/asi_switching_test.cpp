// SPDX-License-Identifier: MIT
//
// asi_switching_test.cpp - streams open for reading and writing, pipes, and two threads on one stream.
#include <atomic>
#include <numeric>
#include <sys/socket.h>
#include <thread>

#include "asi_test.h"

namespace asi {
namespace {

using Switching = Asi;

TEST_F(Switching, StartsInReadMode) {
    asf_cios *s = must_open(put("file", "0123456789"), O_RDWR);
    EXPECT_EQ(take(s, 4), "0123");
    EXPECT_EQ(set_stream_mode(s, ASF_WRITE), s);
    give(s, "ab");
    EXPECT_EQ(set_stream_mode(s, ASF_READ), s);
    EXPECT_EQ(take(s, 2), "67");
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(contents("file"), "0123ab6789");
}

TEST_F(Switching, TellsWhereItIs) {
    asf_cios *s = must_open(put("file", "0123456789"), O_RDWR);
    EXPECT_EQ(asf_tell(s), 0);
    take(s, 4);
    EXPECT_EQ(asf_tell(s), 4);
    EXPECT_EQ(set_stream_mode(s, ASF_WRITE), s);
    give(s, "ab");
    EXPECT_EQ(asf_tell(s), 6);
    EXPECT_EQ(sclose(s), 0);
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    s = asf_sopen_fd(ends[0], O_RDONLY, nullptr);
    EXPECT_EQ(asf_tell(s), -ESPIPE);
    EXPECT_EQ(sclose(s), 0);
    close(ends[1]);
}

// After a switch to writing the offset is where the program has read; an appending stream keeps it until it
// writes.
TEST_F(Switching, StandsWhereItHasReadTo) {
    for (const int flags : {O_RDWR, O_RDWR | O_APPEND}) {
        asf_cios *s = must_open(put_pattern("file", 100000), flags);
        EXPECT_EQ(take(s, 33), pattern(33));
        EXPECT_EQ(set_stream_mode(s, ASF_WRITE), s);
        ssize_t n = 45;
        void *p = SallocAt(s, ASF_READ, &n, 2496, SEEK_CUR);
        EXPECT_EQ(first_wrong(p, 45, 33 + 2496), 45U);
        EXPECT_EQ(sfree(s, p), 0);
        EXPECT_EQ(sclose(s), 0);
    }
}

TEST_F(Switching, ModeVariableForms) {
    asf_cios *s = must_open(put("file", "0123456789"), O_RDWR);
    const auto put_at = [&](char c) {
        ssize_t n = 1;
        char *p = static_cast<char *>(Salloc(s, ASF_WRITE, &n));
        ASSERT_NE(p, nullptr);
        *p = c;
        EXPECT_EQ(sfree(s, p), 0);
    };
    const auto get = [&] {
        ssize_t n = 1;
        char *p = static_cast<char *>(Salloc(s, ASF_READ, &n));
        const char c = p ? *p : '?';
        EXPECT_EQ(sfree(s, p), 0);
        return c;
    };
    for (int i = 0; i < 5; i++) {
        EXPECT_EQ(get(), static_cast<char>('0' + 2 * i));
        put_at(static_cast<char>('a' + i));
    }
    ssize_t n = 10;
    char *p = static_cast<char *>(SallocAt(s, ASF_READ, &n, 0, SEEK_SET));
    EXPECT_EQ(std::string(p, static_cast<size_t>(n)), "0a2b4c6d8e");
    EXPECT_EQ(sfree(s, p), 0);
    n = 3;
    p = static_cast<char *>(SallocAt(s, ASF_WRITE, &n, -2, SEEK_END));
    memcpy(p, "XYZ", 3);
    EXPECT_EQ(sfree(s, p), 0);
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(contents("file"), "0a2b4c6dXYZ");
}

// A seek does not change the mode.
TEST_F(Switching, WritesAtPlaces) {
    asf_cios *s = must_open(put("file", "0123456789"), O_RDWR);
    const auto give_at = [&](const char *text, off_t at, int whence) {
        ssize_t n = static_cast<ssize_t>(strlen(text));
        void *p = sallocAt(s, &n, at, whence);
        ASSERT_NE(p, nullptr);
        ASSERT_EQ(n, static_cast<ssize_t>(strlen(text)));
        memcpy(p, text, strlen(text));
        EXPECT_EQ(sfree(s, p), 0);
    };
    EXPECT_EQ(set_stream_mode(s, ASF_WRITE), s);
    give(s, "ab");
    give_at("XXXX", 8, SEEK_SET);
    give_at("end", 0, SEEK_END);
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(contents("file"), "ab234567XXXXend");
}

// Neither direction of a socket waits for the other.
TEST_F(Switching, RequestAndReply) {
    int ends[2];
    char reply[10];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    ASSERT_EQ(write(ends[1], "hello world", 11), 11);
    asf_cios *s = asf_sopen_fd(ends[0], O_RDWR, nullptr);
    EXPECT_EQ(take(s, 5), "hello");
    for (const char *answer : {"first", "again"}) {
        EXPECT_EQ(set_stream_mode(s, ASF_WRITE), s);
        give(s, answer);
        EXPECT_EQ(sflush(s), 0);
        ASSERT_EQ(recv(ends[1], reply, sizeof reply, 0), 5);
        EXPECT_EQ(std::string(reply, 5), answer);
        EXPECT_EQ(set_stream_mode(s, ASF_READ), s);
        EXPECT_EQ(take(s, 3), answer[0] == 'f' ? " wo" : "rld");
    }
    EXPECT_EQ(sclose(s), 0);
    close(ends[1]);
}

TEST_F(Switching, ReadsBackWhatItWrote) {
    asf_cios *s = must_open(path("file"), O_RDWR | O_CREAT | O_TRUNC);
    ASSERT_EQ(set_stream_mode(s, ASF_WRITE), s);
    const std::string all = pattern(static_cast<size_t>(3 * MiB));
    for (size_t at = 0; at < all.size(); at += 10000)
        give(s, std::string_view(all).substr(at, 10000));
    ssize_t n = 5 * MiB;
    char *p = static_cast<char *>(SallocAt(s, ASF_READ, &n, 0, SEEK_SET));
    ASSERT_EQ(n, 3 * MiB);
    EXPECT_EQ(memcmp(p, all.data(), all.size()), 0);
    EXPECT_EQ(sfree(s, p), 0);
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Switching, InputRegionsOutliveWrites) {
    asf_cios *s = must_open(put_pattern("file", 100000), O_RDWR);
    ssize_t n = 1000;
    char *kept = static_cast<char *>(salloc(s, &n));
    ssize_t m = 500;
    char *p = static_cast<char *>(SallocAt(s, ASF_WRITE, &m, 200, SEEK_SET));
    ASSERT_NE(p, nullptr) << m;
    memset(p, '#', 500);
    EXPECT_EQ(sfree(s, p), 0);
    EXPECT_EQ(sflush(s), 0);
    EXPECT_EQ(first_wrong(kept, 1000, 0), 1000U) << "valid and unchanged until its own sfree";
    EXPECT_EQ(sfree(s, kept), 0);
    ASSERT_EQ(set_stream_mode(s, ASF_READ), s);
    EXPECT_EQ(take(s, 10), pattern(10, 700));
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Switching, OutputThatCannotBeWritten) {
    asf_cios *s = must_open("/dev/full", O_RDWR);
    ASSERT_EQ(set_stream_mode(s, ASF_WRITE), s);
    give(s, "text");
    EXPECT_EQ(set_stream_mode(s, ASF_READ), nullptr);
    sclose(s);
}

// --- pipes -----------------------------------------------------------------------

class Pipes : public Asi {
  protected:
    void SetUp() override {
        Asi::SetUp();
        ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    }
    int ends[2] = {-1, -1};
};

TEST_F(Pipes, SallocWaitsForAll) {
    asf_cios *s = asf_sopen_fd(ends[0], O_RDONLY, nullptr);
    std::thread writer([this] {
        for (size_t at = 0; at < 100; at += 10) {
            const std::string piece = pattern(10, at);
            EXPECT_EQ(::write(ends[1], piece.data(), 10), 10);
            usleep(1000);
        }
        ::close(ends[1]);
    });
    EXPECT_EQ(take(s, 95), pattern(95));
    EXPECT_EQ(take(s, 95), pattern(5, 95));
    EXPECT_EQ(take(s, 95), "");
    writer.join();
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Pipes, SallocSomeDoesNot) {
    asf_cios *s = asf_sopen_fd(ends[0], O_RDONLY, nullptr);
    ASSERT_EQ(::write(ends[1], "abc", 3), 3);
    ssize_t n = 4096;
    char *p = static_cast<char *>(salloc_some(s, &n));
    ASSERT_NE(p, nullptr);
    EXPECT_EQ(std::string(p, static_cast<size_t>(n)), "abc");
    EXPECT_EQ(sfree(s, p), 0);
    ASSERT_EQ(::write(ends[1], "defgh", 5), 5);
    n = 2;
    p = static_cast<char *>(salloc_some(s, &n));
    EXPECT_EQ(std::string(p, static_cast<size_t>(n)), "de");
    EXPECT_EQ(sfree(s, p), 0);
    ::close(ends[1]);
    EXPECT_EQ(take(s, 100), "fgh");
    n = 100;
    expect_none(salloc_some(s, &n), 0, 0);
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Pipes, RegionsLongerThanThePipe) {
    asf_cios *s = asf_sopen_fd(ends[0], O_RDONLY, nullptr);
    std::thread writer([this] {
        const std::string all = pattern(static_cast<size_t>(3 * MiB));
        for (size_t at = 0; at < all.size();)
            at += static_cast<size_t>(::write(ends[1], all.data() + at, all.size() - at));
        ::close(ends[1]);
    });
    ssize_t n = 2 * MiB;
    char *p = static_cast<char *>(salloc(s, &n));
    ASSERT_EQ(n, 2 * MiB);
    EXPECT_EQ(first_wrong(p, static_cast<size_t>(n), 0), static_cast<size_t>(n));
    EXPECT_EQ(take(s, 2 * MiB).size(), static_cast<size_t>(MiB));
    EXPECT_EQ(sfree(s, p), 0);
    writer.join();
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Pipes, CannotSeek) {
    asf_cios *s = asf_sopen_fd(ends[0], O_RDONLY, nullptr);
    ssize_t n = 10;
    void *p = sallocAt(s, &n, 0, SEEK_SET);
    expect_none(p, n, -ESPIPE);
    EXPECT_EQ(sflush(s), 0);
    EXPECT_EQ(sclose(s), 0);
    s = asf_sopen_fd(ends[1], O_WRONLY, nullptr);
    n = 10;
    p = sallocAt(s, &n, 5, SEEK_SET);
    expect_none(p, n, -ESPIPE);
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Pipes, OutputIsWritten) {
    asf_cios *s = asf_sopen_fd(ends[1], O_WRONLY, nullptr);
    std::string got;
    std::thread reader([&] {
        char data[5000];
        for (ssize_t n; (n = ::read(ends[0], data, sizeof data)) > 0;)
            got.append(data, static_cast<size_t>(n));
    });
    const std::string all = pattern(500000);
    for (size_t at = 0; at < all.size(); at += 777)
        give(s, std::string_view(all).substr(at, 777));
    EXPECT_EQ(sclose(s), 0);
    reader.join();
    EXPECT_TRUE(got == all);
    ::close(ends[0]);
}

TEST_F(Pipes, AnEmptyOneThatDoesNotWait) {
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    asf_cios *s = asf_sopen_fd(ends[0], O_RDONLY, nullptr);
    ssize_t n = 10;
    void *p = salloc(s, &n);
    expect_none(p, n, -EAGAIN);
    ASSERT_EQ(::write(ends[1], "abc", 3), 3);
    n = 3;
    p = salloc(s, &n);
    ASSERT_NE(p, nullptr);
    EXPECT_EQ(memcmp(p, "abc", 3), 0);
    EXPECT_EQ(sfree(s, p), 0);
    EXPECT_EQ(sclose(s), 0);
    ::close(ends[1]);
}

// --- threads -----------------------------------------------------------------------

using Threads = Asi;

TEST_F(Threads, EveryRegionGoesToOneReader) {
    constexpr size_t size = 12 << 20;
    asf_cios *s = must_open(put_pattern("file", size), O_RDONLY);
    std::atomic<size_t> total{0}, hash{0};
    const auto read_all = [&](ssize_t region) {
        for (;;) {
            ssize_t n = region;
            char *p = static_cast<char *>(salloc(s, &n));
            if (!p)
                break;
            size_t sum = 0;
            for (ssize_t i = 0; i < n; i++)
                sum += static_cast<unsigned char>(p[i]);
            hash += sum;
            total += static_cast<size_t>(n);
            ASSERT_EQ(sfree(s, p), 0);
        }
    };
    std::vector<std::thread> threads;
    for (ssize_t region : {100, 4096, 65536, 9999})
        threads.emplace_back(read_all, region);
    for (std::thread &t : threads)
        t.join();
    const std::string all = pattern(size);
    EXPECT_EQ(total, size);
    EXPECT_EQ(hash, std::accumulate(all.begin(), all.end(), size_t{0},
                                    [](size_t a, char c) { return a + static_cast<unsigned char>(c); }));
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Threads, RecordsOfManyWritersAreWhole) {
    asf_cios *s = must_open(path("out"), O_WRONLY | O_CREAT);
    constexpr int records = 3000;
    const auto write_records = [&](char who, size_t length) {
        for (int i = 0; i < records; i++) {
            ssize_t n = static_cast<ssize_t>(length);
            char *p = static_cast<char *>(salloc(s, &n));
            ASSERT_NE(p, nullptr);
            memset(p, who, length - 1);
            p[length - 1] = '\n';
            ASSERT_EQ(sfree(s, p), 0);
        }
    };
    std::vector<std::thread> threads;
    for (size_t i = 0; i < 4; i++)
        threads.emplace_back(write_records, static_cast<char>('a' + i), 20 + i * 111);
    for (std::thread &t : threads)
        t.join();
    EXPECT_EQ(sclose(s), 0);
    const std::string all = contents("out");
    int whole[4] = {};
    for (size_t at = 0; at < all.size();) {
        const size_t end = all.find('\n', at), who = static_cast<size_t>(all[at] - 'a');
        ASSERT_NE(end, std::string::npos);
        ASSERT_LT(who, 4U);
        ASSERT_EQ(end - at + 1, 20 + who * 111);
        ASSERT_EQ(all.find_first_not_of(all[at], at), end);
        whole[who]++;
        at = end + 1;
    }
    for (int count : whole)
        EXPECT_EQ(count, records);
}

// One thread allocates, the others check and free the regions, in any order.
TEST_F(Threads, GivenBackByAnotherThread) {
    asf_cios *s = must_open(put_pattern("file", static_cast<size_t>(8 * MiB)), O_RDONLY);
    constexpr size_t slots = 64;
    std::atomic<Region *> box[slots] = {};
    std::atomic<bool> done{false};
    std::atomic<size_t> freed{0};
    const auto free_them = [&](size_t from) {
        for (size_t i = from; !done || freed < static_cast<size_t>(8 * MiB); i++) {
            Region *r = box[i % slots].exchange(nullptr);
            if (!r) {
                if (done && i % slots == 0)
                    std::this_thread::yield();
                continue;
            }
            ASSERT_EQ(first_wrong(r->p, static_cast<size_t>(r->n), r->at), static_cast<size_t>(r->n));
            ASSERT_EQ(sfree(s, r->p), 0);
            freed += static_cast<size_t>(r->n);
            delete r;
        }
    };
    std::thread a(free_them, 0), b(free_them, 31);
    size_t at = 0;
    for (size_t i = 0;; i = i * 5 + 3) {
        ssize_t n = 1 + static_cast<ssize_t>(i % 30000);
        char *p = static_cast<char *>(salloc(s, &n));
        if (!p)
            break;
        Region *r = new Region{p, n, at};
        at += static_cast<size_t>(n);
        while (Region *old = box[i % slots].exchange(r)) {
            r = old;
            std::this_thread::yield();
            i++;
        }
    }
    done = true;
    a.join();
    b.join();
    EXPECT_EQ(at, static_cast<size_t>(8 * MiB));
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Threads, AtIsOneStep) {
    asf_cios *s = must_open(put_pattern("file", static_cast<size_t>(4 * MiB)), O_RDONLY);
    const auto read_places = [&](size_t seed) {
        for (int i = 0; i < 3000; i++) {
            seed = seed * 6364136223846793005U + 1442695040888963407U;
            const size_t place = (seed >> 33) % static_cast<size_t>(4 * MiB - 200);
            ssize_t n = 100;
            void *p = sallocAt(s, &n, static_cast<off64_t>(place), SEEK_SET);
            ASSERT_NE(p, nullptr);
            ASSERT_EQ(first_wrong(p, 100, place), 100U);
            ASSERT_EQ(sfree(s, p), 0);
        }
    };
    std::thread a(read_places, 1), b(read_places, 2), c(read_places, 3);
    a.join();
    b.join();
    c.join();
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Threads, TheLockKeepsOthersOut) {
    asf_cios *s = must_open(put_pattern("file", 100000), O_RDONLY);
    lockAsfStream(s);
    std::atomic<bool> through{false};
    std::thread other([&] {
        take(s, 10);
        through = true;
    });
    for (size_t at = 0; at < 1000; at += 10) {
        ssize_t n = 10;
        void *p = u_salloc(s, &n);
        ASSERT_EQ(first_wrong(p, 10, at), 10U) << "nothing of the other thread's comes between";
        ASSERT_EQ(u_sfree(s, p), 0);
        usleep(100);
    }
    EXPECT_FALSE(through);
    unlockAsfStream(s);
    other.join();
    EXPECT_EQ(take(s, 10), pattern(10, 1010));
    EXPECT_EQ(sclose(s), 0);
}

} // namespace
} // namespace asi
