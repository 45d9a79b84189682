// SPDX-License-Identifier: MIT
//
// shm_memfd_test.cpp - segments of memfd. A segment outlives its maker only if its descriptor was sent to
// another process; no process can truncate it; and a process without the right to open it by its label gets
// an error. Other tests cover the properties that all segments share.
#include <algorithm>
#include <filesystem>
#include <random>
#include <sys/mman.h>

#include "shm_test.h"

namespace {
bool no_more_memory;
}

// The library's lists grow by this function, which the test can make fail.
extern "C" void *reallocarray(void *p, size_t n, size_t size) {
    if (!no_more_memory)
        return realloc(p, n * size);
    errno = ENOMEM;
    return nullptr;
}

namespace shm {
namespace {

class Memfd : public Segments {
  protected:
    // Makes a memfd that begins with these bytes.
    static int forged(const std::string &head, unsigned seals, off_t size = ASF_SHM_HEAD + 100) {
        const int fd = memfd_create("asf-shm", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        EXPECT_EQ(ftruncate(fd, size), 0);
        EXPECT_EQ(pwrite(fd, head.data(), head.size(), 0), static_cast<ssize_t>(head.size()));
        EXPECT_EQ(fcntl(fd, F_ADD_SEALS, seals), 0);
        return fd;
    }

    static int error_of_opening(int fd) {
        errno = 0;
        EXPECT_EQ(asf_shm_open_fd(fd, O_RDONLY), nullptr);
        close(fd);
        return errno;
    }

    static size_t descriptors() {
        const std::filesystem::directory_iterator all("/proc/self/fd");
        return static_cast<size_t>(std::distance(begin(all), end(all)));
    }

    static constexpr unsigned all_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
};

TEST_P(Memfd, NobodyTruncatesIt) {
    char *shm = make("sealed", 5000);
    const int fd = asf_shm_fd(shm, O_RDWR);
    ASSERT_GE(fd, 0) << asf_shm_why();
    EXPECT_EQ(ftruncate(fd, 100), -1);
    EXPECT_EQ(errno, EPERM);
    EXPECT_EQ(ftruncate(fd, 10000), -1);
    EXPECT_EQ(fcntl(fd, F_GET_SEALS) & static_cast<int>(all_seals), static_cast<int>(all_seals));
    EXPECT_EQ(close(fd), 0);
    EXPECT_EQ(asf_shm_close(shm), 0);
}

TEST_P(Memfd, WhatCouldBeTruncatedIsRefused) {
    char *shm = make("copied", 100);
    const std::string head(shm, ASF_SHM_HEAD);
    EXPECT_EQ(error_of_opening(forged(head, F_SEAL_GROW)), ESTALE);
    EXPECT_NE(std::string(asf_shm_why()).find("not sealed"), std::string::npos) << asf_shm_why();
    EXPECT_EQ(error_of_opening(forged(head, F_SEAL_SHRINK | F_SEAL_GROW)), ESTALE) << "seals could come off";
    EXPECT_EQ(error_of_opening(forged(head, all_seals, 4096)), ESTALE) << "larger than it says";
    const int copy = forged(head, all_seals);
    char *sealed = asf_shm_open_fd(copy, O_RDONLY);
    EXPECT_NE(sealed, nullptr) << asf_shm_why();
    EXPECT_EQ(asf_shm_close(sealed), 0);
    std::string larger = head;
    larger[120] = 'x'; // the segment's size
    larger[122] = 'x';
    EXPECT_EQ(error_of_opening(forged(larger, all_seals)), ESTALE);
    EXPECT_EQ(close(copy), 0);
    EXPECT_EQ(asf_shm_close(shm), 0);
}

TEST_P(Memfd, AnotherInItsPlaceIsNotTaken) {
    char *shm = make("first", 100);
    const std::string label = label_of(shm);
    EXPECT_EQ(asf_shm_remove(label.c_str()), 0);
    EXPECT_EQ(asf_shm_close(shm), 0);
    char *other = make("second", 100);
    EXPECT_EQ(identifier_of(label_of(other)).substr(0, 8), identifier_of(label).substr(0, 8))
        << "the same descriptor";
    // Another process that searches for segments, such as another test, holds each one open for a moment.
    for (int tries = 0; tries < 200 && (shm = asf_shm_open(label.c_str())); tries++) {
        asf_shm_close(shm);
        usleep(10000);
    }
    expect_refused(label, ENOENT, "no such segment");
    EXPECT_EQ(asf_shm_remove(label.c_str()), -ENOENT);
    EXPECT_EQ(asf_shm_close(other), 0);
}

// Other processes may have any files open, which are not segments.
TEST_P(Memfd, AFileWithAPathLongerThanAPageIsPassedOver) {
    char top[] = "/tmp/asf_deep_XXXXXX";
    const std::string name(250, 'd');
    int at = open(mkdtemp(top), O_RDONLY | O_DIRECTORY);
    for (int depth = 0; depth < 20; depth++) {
        ASSERT_EQ(mkdirat(at, name.c_str(), 0700), 0);
        const int below = openat(at, name.c_str(), O_RDONLY | O_DIRECTORY);
        close(at);
        at = below;
    }
    char *shm = make("beside it", 100);
    EXPECT_EQ(asf_shm_each([](const asf_shm_info *, void *) { return 0; }, nullptr), 0) << asf_shm_why();
    EXPECT_EQ(asf_shm_remove(label_of(shm).c_str()), 0) << asf_shm_why();
    EXPECT_EQ(asf_shm_close(shm), 0);
    close(at);
    std::filesystem::remove_all(top);
}

TEST_P(Memfd, GoesWithItsMaker) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    EXPECT_EQ(in_child([&] {
                  char *shm = asf_shm_create_on("memfd", "not handed over", 0600, 100);
                  return shm && write(ends[1], shm, ASF_SHM_HEAD) == ASF_SHM_HEAD ? 0 : 1;
              }),
              0);
    char label[ASF_SHM_HEAD];
    ASSERT_EQ(read(ends[0], label, sizeof label), ASF_SHM_HEAD);
    expect_refused(label, ENOENT, "no such segment");
    EXPECT_EQ(find(all(), label_of(label)), nullptr);
    close(ends[0]);
    close(ends[1]);
}

TEST_P(Memfd, StaysOpenUntilItsMakerRemovesIt) {
    char *shm = make("closed", 100);
    fill(shm);
    const std::string label = label_of(shm);
    EXPECT_EQ(asf_shm_close(shm), 0);
    const auto reads = [&] {
        char *own = asf_shm_open(label.c_str());
        return own && is_filled(own, 100) ? asf_shm_close(own) : errno;
    };
    EXPECT_EQ(in_child(reads), 0);
    EXPECT_EQ(in_child([&] { return -asf_shm_remove(label.c_str()); }), EBUSY) << "not its maker";
    EXPECT_EQ(asf_shm_remove(label.c_str()), 0);
    EXPECT_EQ(in_child(reads), ENOENT);
}

TEST_P(Memfd, ChildrenInheritIt) {
    int gate[2], ends[2];
    ASSERT_EQ(pipe(gate) | pipe(ends), 0);
    EXPECT_EQ(in_child([&] { // the process makes a segment and ends; its child still has the descriptor
                  char *shm = asf_shm_create_on("memfd", "inherited", 0600, 100);
                  if (!shm)
                      return 1;
                  fill(shm);
                  if (fork() == 0) {
                      char c;
                      close(gate[1]);
                      _exit(asf_shm_close(shm) == 0 && read(gate[0], &c, 1) == 0 ? 0 : 1);
                  }
                  return write(ends[1], shm, ASF_SHM_HEAD) == ASF_SHM_HEAD ? 0 : 1;
              }),
              0);
    char label[ASF_SHM_HEAD];
    ASSERT_EQ(read(ends[0], label, sizeof label), ASF_SHM_HEAD);
    char *shm = asf_shm_open(label);
    ASSERT_NE(shm, nullptr) << asf_shm_why();
    EXPECT_TRUE(is_filled(shm, 100));
    EXPECT_EQ(asf_shm_close(shm), 0);
    for (const int fd : {gate[0], gate[1], ends[0], ends[1]})
        close(fd);
}

TEST_P(Memfd, IsListedOnceAndIsNoLeak) {
    const std::string label = made_by_another(100);
    const int again = asf_shm_fd(label.c_str(), O_RDONLY);
    size_t times = 0;
    for (const Seen &s : all())
        if (s.label == label) {
            times++;
            EXPECT_EQ(s.backend, "memfd");
            EXPECT_EQ(s.info.state, ASF_SHM_WHOLE);
            EXPECT_EQ(s.info.size, 100U);
            EXPECT_EQ(s.info.mode, 0600U);
            EXPECT_EQ(s.info.owner, geteuid());
            EXPECT_EQ(s.info.attached, 0);
            EXPECT_FALSE(s.info.leaked) << "this process has it";
        }
    EXPECT_EQ(times, 1U);
    char *shm = asf_shm_open_fd(again, O_RDONLY);
    const std::vector<Seen> seen = all();
    const Seen *s = find(seen, label);
    ASSERT_NE(s, nullptr);
    EXPECT_EQ(s->info.attached, 1);
    EXPECT_EQ(asf_shm_close(shm), 0);
    close(again);
}

TEST_P(Memfd, AnotherUsersIsHandedOver) {
    if (geteuid() != 0 || as_nobody([] { return 0; }) != 0)
        GTEST_SKIP() << "only root can become another user";
    char *shm = make("root's", 100, 0644);
    fill(shm);
    const int fd = asf_shm_fd(shm, O_RDONLY);
    EXPECT_EQ(as_nobody([&] {
                  char *own = asf_shm_open_fd(fd, O_RDONLY);
                  return own && is_filled(own, 100) && !asf_shm_open_fd(fd, O_RDWR) ? 0 : 1;
              }),
              0);
    EXPECT_EQ(as_nobody([&] {
                  syscall(SYS_close_range, 3, ~0U, 0); // an inherited descriptor would suffice
                  return asf_shm_open(shm) ? 0 : errno;
              }),
              EACCES);
    close(fd);
    EXPECT_EQ(asf_shm_close(shm), 0);
}

TEST_P(Memfd, MoreThanThereIsOfMemory) {
    const size_t before = descriptors();
    errno = 0;
    EXPECT_EQ(asf_shm_create_on("memfd", "too much", 0600, size_t{1} << 46), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_EQ(descriptors(), before);
}

TEST_P(Memfd, NoneIsLeftOutForWantOfMemory) {
    char *shm = make("listed", 100);
    no_more_memory = true;
    const int rc = asf_shm_each([](const asf_shm_info *, void *) { return 0; }, nullptr);
    no_more_memory = false;
    EXPECT_EQ(rc, -ENOMEM);
    EXPECT_EQ(asf_shm_close(shm), 0);
}

// Returns whether a segment is listed. Another process that lists all segments holds each one open for a
// moment.
bool is_listed(const std::string &part) {
    for (int tries = 0; tries < 500; tries++) {
        const std::vector<Seen> seen = all();
        if (std::none_of(seen.begin(), seen.end(),
                         [&](const Seen &s) { return s.label.find(part) != std::string::npos; }))
            return false;
        usleep(10000);
    }
    return true;
}

// Segments are sent one after another, until one of the two processes is killed. Every segment that arrived
// is complete, and nothing is left.
TEST_P(Memfd, EitherSideIsKilledAtRandom) {
    constexpr size_t size = 30000;
    // other tests make segments at the same time
    const std::string name = "killed" + std::to_string(getpid());
    std::mt19937 random{7};
    for (int round = 0; round < rounds(200) && !HasFailure(); round++) {
        int ends[2];
        ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
        const pid_t writer = fork();
        if (writer == 0) {
            close(ends[0]);
            for (;;) {
                char *shm = asf_shm_create_on("memfd", name.c_str(), 0600, size);
                if (!shm)
                    _exit(1);
                fill(shm);
                const int fd = asf_shm_fd(shm, O_RDONLY);
                if (fd < 0 || asf_shm_remove(label_of(shm).c_str()) != 0)
                    _exit(2);
                if (!send_label(ends[1], shm, fd))
                    _exit(0);
                close(fd);
                asf_shm_close(shm);
            }
        }
        const pid_t reader = fork();
        if (reader == 0) {
            close(ends[1]);
            std::string label;
            for (int fd; receive_label(ends[0], label, fd);) {
                char *shm = asf_shm_open_fd(fd, O_RDONLY);
                if (!shm || label_of(shm) != label || !is_filled(shm, size))
                    _exit(3);
                close(fd);
                asf_shm_close(shm);
            }
            _exit(0);
        }
        close(ends[0]);
        close(ends[1]);
        usleep(static_cast<useconds_t>(random() % 3000));
        kill(round % 2 ? writer : reader, SIGKILL);
        for (const pid_t pid : {writer, reader}) {
            int status = 0;
            ASSERT_EQ(waitpid(pid, &status, 0), pid);
            EXPECT_TRUE(status == 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)) << status;
        }
        EXPECT_FALSE(is_listed(name));
    }
}

INSTANTIATE_TEST_SUITE_P(On, Memfd, testing::Values("memfd"), backend_name);

} // namespace
} // namespace shm
