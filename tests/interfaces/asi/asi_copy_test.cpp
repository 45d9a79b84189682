// SPDX-License-Identifier: MIT
//
// asi_copy_test.cpp - asf_copy: the bytes that arrive, their order among other output, and whether an error
// is the input's or the output's.
#include <sys/ioctl.h>

#include <thread>

#include <asf/ring.h>
#include <asf/shm.h>

#include "asi_test.h"
#include "tests/asleep.h"

namespace asi {
namespace {

class Copying : public Asi {
  protected:
    // Copies a file of n bytes, in calls of `piece` bytes.
    void copy_file(size_t n, int64_t piece) const {
        asf_cios *in = must_open(put_pattern("in", n), O_RDONLY);
        asf_cios *out = must_open(path("out"), O_WRONLY | O_CREAT | O_TRUNC);
        for (size_t left = n; left > 0; left -= std::min(left, static_cast<size_t>(piece)))
            ASSERT_EQ(asf_copy(in, out, piece), std::min(piece, static_cast<int64_t>(left)));
        EXPECT_EQ(asf_copy(in, out, 1), 0);
        EXPECT_EQ(sclose(in), 0);
        EXPECT_EQ(sclose(out), 0);
        EXPECT_TRUE(contents("out") == pattern(n)) << n << " bytes by " << piece;
    }
};

TEST_F(Copying, FilesOfEachSize) {
    for (size_t n :
         {size_t{0}, size_t{1}, size_t{4096}, size_t{100001}, size_t{3 * MiB + 17}, size_t{9 * MiB}})
        copy_file(n, INT64_MAX);
}

TEST_F(Copying, InPieces) {
    for (int64_t piece : {1000, 4096, 8192, 70001, 3000000})
        copy_file(4 * MiB + 5, piece);
}

TEST_F(Copying, InOrderWithOtherOutput) {
    asf_cios *in = must_open(put_pattern("in", 2 * MiB), O_RDONLY);
    asf_cios *out = must_open(path("out"), O_WRONLY | O_CREAT | O_TRUNC);
    EXPECT_EQ(take(in, 10), pattern(10));
    give(out, "before");
    EXPECT_EQ(asf_copy(in, out, MiB), MiB);
    give(out, "after");
    EXPECT_EQ(take(in, 5), pattern(5, 10 + MiB));
    EXPECT_EQ(sclose(in), 0);
    EXPECT_EQ(sclose(out), 0);
    EXPECT_TRUE(contents("out") == "before" + pattern(MiB, 10) + "after");
}

// An unfreed region of the output keeps its offset.
TEST_F(Copying, BehindARegionInUse) {
    asf_cios *in = must_open(put_pattern("in", 300000), O_RDONLY);
    asf_cios *out = must_open(path("out"), O_WRONLY | O_CREAT | O_TRUNC);
    ssize_t length = 4;
    char *region = static_cast<char *>(salloc(out, &length));
    EXPECT_EQ(asf_copy(in, out, INT64_MAX), 300000);
    memcpy(region, "head", 4);
    EXPECT_EQ(sfree(out, region), 0);
    EXPECT_EQ(sclose(in), 0);
    EXPECT_EQ(sclose(out), 0);
    EXPECT_TRUE(contents("out") == "head" + pattern(300000));
}

// A copy from a pipe writes each chunk at once, unless the chunk follows an unfreed region.
TEST_F(Copying, OfAPipeBehindARegionInUse) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    ASSERT_EQ(write(ends[1], "through a pipe", 14), 14);
    close(ends[1]);
    asf_cios *in = asf_sopen_fd(ends[0], O_RDONLY, nullptr);
    asf_cios *out = must_open(path("out"), O_WRONLY | O_CREAT | O_TRUNC);
    ssize_t length = 4;
    char *region = static_cast<char *>(salloc(out, &length));
    EXPECT_EQ(asf_copy(in, out, INT64_MAX), 14);
    memcpy(region, "head", 4);
    EXPECT_EQ(sfree(out, region), 0);
    EXPECT_EQ(sclose(in), 0);
    EXPECT_EQ(sclose(out), 0);
    EXPECT_EQ(contents("out"), "headthrough a pipe");
}

// A ring and a segment have no buffer of the stream's size.
TEST_F(Copying, IntoARing) {
    for (const int64_t n : {int64_t{1000}, int64_t{100000}, INT64_MAX}) {
        const size_t size = 300000, wanted = std::min(size, static_cast<size_t>(n));
        const int fd = asf_ring_create(8192);
        ASSERT_GE(fd, 0);
        std::string got;
        std::thread reader([&] {
            asf_cios *s = asf_ring_sopen_fd(fd, O_RDONLY, nullptr);
            for (std::string some; !(some = take(s, 1000)).empty();)
                got += some;
            EXPECT_EQ(sclose(s), 0);
        });
        asf_cios *in = must_open(put_pattern("in", size), O_RDONLY);
        asf_cios *out = asf_ring_sopen_fd(fd, O_WRONLY, nullptr);
        EXPECT_EQ(asf_copy(in, out, n), static_cast<int64_t>(wanted));
        EXPECT_EQ(sclose(in), 0);
        EXPECT_EQ(sclose(out), 0);
        reader.join();
        close(fd);
        EXPECT_TRUE(got == pattern(wanted)) << n << ": " << got.size();
    }
}

TEST_F(Copying, IntoASegment) {
    char *shm = asf_shm_create("asi copies", 0600, 100000);
    ASSERT_NE(shm, nullptr);
    const std::string label = shm;
    asf_cios *in = must_open(put_pattern("in", 70000), O_RDONLY);
    asf_cios *out = asf_shm_sopen(label.c_str(), O_WRONLY, nullptr);
    give(out, "head");
    EXPECT_EQ(asf_copy(in, out, 50000), 50000);
    EXPECT_EQ(asf_copy(in, out, INT64_MAX), 20000);
    EXPECT_EQ(sclose(in), 0);
    EXPECT_EQ(sclose(out), 0);
    EXPECT_TRUE(std::string(shm + 128, 70004) == "head" + pattern(70000));
    EXPECT_EQ(asf_shm_remove(label.c_str()), 0);
    EXPECT_EQ(asf_shm_close(shm), 0);
}

TEST_F(Copying, APipeIsNotKeptWaiting) {
    int from[2], to[2];
    ASSERT_EQ(pipe(from), 0);
    ASSERT_EQ(pipe(to), 0);
    std::thread copier([&] {
        asf_cios *in = asf_sopen_fd(from[0], O_RDONLY, nullptr),
                 *out = asf_sopen_fd(to[1], O_WRONLY, nullptr);
        EXPECT_EQ(asf_copy(in, out, INT64_MAX), 10);
        EXPECT_EQ(sclose(in), 0);
        EXPECT_EQ(sclose(out), 0);
    });
    char text[6] = "";
    for (const char *word : {"first", "again"}) { // each word arrives before the next is sent
        ASSERT_EQ(::write(from[1], word, 5), 5);
        ASSERT_EQ(::read(to[0], text, 5), 5);
        EXPECT_STREQ(text, word);
    }
    ::close(from[1]);
    copier.join();
    EXPECT_EQ(::read(to[0], text, 5), 0);
    ::close(to[0]);
}

TEST_F(Copying, WhoseErrorItWas) {
    asf_cios *in = must_open(put_pattern("in", 3 * MiB), O_RDONLY);
    asf_cios *full = must_open("/dev/full", O_WRONLY);
    EXPECT_EQ(asf_copy(in, full, INT64_MAX), -ENOSPC);
    EXPECT_EQ(sflush(full), -ENOSPC);
    EXPECT_EQ(sclose(full), 0);
    asf_cios *out = must_open(path("out"), O_WRONLY | O_CREAT | O_TRUNC);
    asf_cios *directory_in = asf_sopen(directory.c_str(), O_RDONLY, 0, nullptr);
    EXPECT_EQ(asf_copy(directory_in, out, 10), -EISDIR);
    EXPECT_EQ(sflush(out), 0);
    EXPECT_EQ(asf_copy(out, in, 10), -EBADF);
    EXPECT_EQ(asf_copy(in, in, 10), -EINVAL);
    EXPECT_EQ(asf_copy(in, out, -1), -EINVAL);
    EXPECT_EQ(asf_copy(in, out, 0), 0);
    for (asf_cios *s : {in, out, directory_in})
        EXPECT_EQ(sclose(s), 0);
}

struct Streams {
    asf_cios *in, *out;
};

void *copies_again_and_again(void *arg) {
    const auto *s = static_cast<const Streams *>(arg);
    for (;;) {
        asf_copy(s->in, s->out, INT64_MAX);
        ssize_t length = 1;
        void *p = asf_sallocAt(s->in, &length, 0, SEEK_SET);
        asf_sfree(s->in, p);
    }
    return nullptr;
}

// Wherever the thread was cancelled, both streams are unlocked for other threads.
TEST_F(Copying, AThreadThatIsCancelled) {
    const std::string file = put_pattern("in", 3 * MiB + 17);
    for (int i = 0; i < 20; i++) {
        Streams s = {must_open(file, O_RDONLY), must_open(path("out"), O_WRONLY | O_CREAT | O_TRUNC)};
        pthread_t t;
        void *result;
        pthread_create(&t, nullptr, copies_again_and_again, &s);
        usleep(static_cast<useconds_t>(1000 * i));
        pthread_cancel(t);
        pthread_join(t, &result);
        EXPECT_EQ(result, PTHREAD_CANCELED);
        EXPECT_EQ(sclose(s.in), 0);
        EXPECT_EQ(sclose(s.out), 0);
    }
}

TEST_F(Copying, AThreadThatIsCancelledWhileItWaits) {
    int from[2];
    void *result;
    ASSERT_EQ(pipe(from), 0);
    Streams s = {asf_sopen_fd(from[0], O_RDONLY, nullptr),
                 must_open(path("out"), O_WRONLY | O_CREAT | O_TRUNC)};
    pthread_t t;
    pthread_create(&t, nullptr, copies_again_and_again, &s);
    ASSERT_EQ(::write(from[1], "text", 4), 4);
    for (int unread = 4; unread > 0; usleep(1000))
        ASSERT_EQ(ioctl(from[0], FIONREAD, &unread), 0);
    wait_until_asleep(getpid());
    pthread_cancel(t);
    pthread_join(t, &result);
    EXPECT_EQ(result, PTHREAD_CANCELED);
    EXPECT_EQ(sclose(s.in), 0);
    EXPECT_EQ(sclose(s.out), 0);
    EXPECT_EQ(contents("out"), "text");
    ::close(from[1]);
}

// asf_copy copies the rest of the file.
TEST_F(Copying, AFileThatIsTruncated) {
    asf_cios *in = must_open(put_pattern("in", 3 * MiB), O_RDONLY);
    asf_cios *out = must_open(path("out"), O_WRONLY | O_CREAT | O_TRUNC);
    EXPECT_EQ(take(in, 4096), pattern(4096)); // the window extends beyond the file's later end
    ASSERT_EQ(truncate(path("in").c_str(), MiB), 0);
    EXPECT_EQ(asf_copy(in, out, INT64_MAX), MiB - 4096);
    EXPECT_EQ(sflush(out), 0);
    EXPECT_EQ(sclose(in), 0);
    EXPECT_EQ(sclose(out), 0);
    EXPECT_TRUE(contents("out") == pattern(MiB - 4096, 4096));
}

TEST_F(Copying, ThreadsShareAnInput) {
    constexpr size_t size = 16 * MiB;
    asf_cios *in = must_open(put_pattern("in", size), O_RDONLY);
    int64_t copied[2] = {};
    std::thread threads[2];
    for (int i = 0; i < 2; i++)
        threads[i] = std::thread([&, i] {
            asf_cios *out = must_open(path("out" + std::to_string(i)), O_WRONLY | O_CREAT | O_TRUNC);
            copied[i] = asf_copy(in, out, INT64_MAX);
            EXPECT_EQ(sclose(out), 0);
        });
    for (auto &t : threads)
        t.join();
    EXPECT_EQ(copied[0] + copied[1], static_cast<int64_t>(size));
    EXPECT_EQ(sclose(in), 0);
}

} // namespace
} // namespace asi
