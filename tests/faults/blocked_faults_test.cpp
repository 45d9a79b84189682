/* SPDX-License-Identifier: MIT
 *
 * blocked_faults_test.cpp - files and segments that are truncated while a program blocks SIGBUS or handles it
 * itself: if the library can notice this, it reads without a map, or refuses.
 */
#include <asf/asf.h>
#include <asf/ring.h>
#include <asf/shm.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include "tests/interfaces/shm/shm_test.h"

namespace {

using shm::in_child;

constexpr off_t size = 24 << 20; // three windows
constexpr ssize_t window = 8 << 20;

void block_all() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

void handler(int) {}

// Each test runs in a child, since a signal action belongs to the process.
class BlockedFaults : public testing::Test {
  protected:
    void SetUp() override {
        char name[] = "/tmp/asf-blocked.XXXXXX";
        fd = mkstemp(name);
        path = name;
        const std::string block(1 << 20, 'x');
        for (off_t at = 0; at < size; at += static_cast<off_t>(block.size()))
            ASSERT_EQ(pwrite(fd, block.data(), block.size(), at), static_cast<ssize_t>(block.size()));
    }

    void TearDown() override {
        close(fd);
        unlink(path.c_str());
    }

    // Truncates the file under a region.  Returns the module, ":" and sfree's result.
    std::string truncated_under(asf_cios *stream) const {
        ssize_t n = window;
        const char *region = static_cast<char *>(salloc(stream, &n));
        if (!region)
            return "no region";
        if (ftruncate(fd, 0) != 0)
            return "not truncated";
        int others = 0;
        for (ssize_t i = 0; i < n; i += 4096)
            others += region[i] != 'x' && region[i] != '\0';
        const int rc = sfree(stream, const_cast<char *>(region));
        return asf_module_name(stream) + std::string(":") + std::to_string(others ? 1 : rc);
    }

    asf_cios *open_stream() const {
        int error = 0;
        return sopen(path.c_str(), O_RDONLY, 0, &error);
    }

    static void read_window(asf_cios *stream) {
        for (ssize_t n, left = window; left > 0; left -= n) {
            n = left;
            sfree(stream, salloc(stream, &n));
        }
    }

    std::string path;
    int fd = -1;
};

TEST_F(BlockedFaults, AreCaughtOtherwise) {
    EXPECT_EQ(in_child([&] { return truncated_under(open_stream()) != "map:-5"; }), 0);
}

TEST_F(BlockedFaults, BeforeTheFileIsOpened) {
    EXPECT_EQ(in_child([&] {
                  block_all();
                  return truncated_under(open_stream()) != "read:0";
              }),
              0);
}

TEST_F(BlockedFaults, BetweenTwoWindows) {
    EXPECT_EQ(in_child([&] {
                  asf_cios *stream = open_stream();
                  read_window(stream);
                  block_all();
                  return truncated_under(stream) != "read:0";
              }),
              0);
}

TEST_F(BlockedFaults, DefaultAgainBetweenTwoWindows) {
    EXPECT_EQ(in_child([&] {
                  asf_cios *stream = open_stream();
                  read_window(stream);
                  signal(SIGBUS, SIG_DFL);
                  return truncated_under(stream) != "map:-5";
              }),
              0);
}

TEST_F(BlockedFaults, HandledBetweenTwoWindows) {
    EXPECT_EQ(in_child([&] {
                  asf_cios *stream = open_stream();
                  read_window(stream);
                  signal(SIGBUS, handler);
                  return truncated_under(stream) != "read:0";
              }),
              0);
}

TEST_F(BlockedFaults, HandledBefore) {
    EXPECT_EQ(in_child([&] {
                  signal(SIGBUS, handler);
                  return truncated_under(open_stream()) != "map:-5";
              }),
              0);
}

// Only segments that another process could truncate are refused.
TEST_F(BlockedFaults, Segments) {
    EXPECT_EQ(in_child([&] {
                  char label[ASF_RING_LABEL];
                  int error = 0;
                  block_all();
                  if (asf_shm_create_on("posix", "blocked", 0600, 100) || errno != ENOMEM)
                      return 1;
                  if (!strstr(asf_shm_why(), "SIGBUS"))
                      return 2;
                  for (const char *backend : {"sysv", "memfd"}) {
                      char *shm = asf_shm_create_on(backend, "blocked", 0600, 100);
                      if (!shm || asf_shm_remove(shm) != 0)
                          return 3;
                  }
                  const int ring = asf_ring_create(0);
                  asf_cios *stream = asf_ring_sopen_fd(ring, O_RDONLY, &error);
                  if (!stream || sclose(stream) != 0)
                      return 4;
                  return asf_ring_create_named("blocked", 0600, 0, label) == -ENOMEM ? 0 : 5;
              }),
              0);
}

} // namespace
