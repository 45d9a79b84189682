// SPDX-License-Identifier: MIT
//
// shm_names_test.cpp - <asf/shm_tools.h>: the three function names of the note, in one file with POSIX's
// shm_open.
#include "shm_test.h"

#include <asf/shm_tools.h>

namespace shm {
namespace {

TEST(Names, TheNotesAndPosixs) {
    char *shm = shm_create("simdat-3/23-seriesb", 0666, 80);
    ASSERT_NE(shm, nullptr);
    char *again = shm_open(shm);
    ASSERT_NE(again, nullptr);
    EXPECT_EQ(shm_close(again), 0);
    EXPECT_NE(shm_close(again), 0);
    EXPECT_EQ(shm_open("nonsense"), nullptr);
    const std::string object = "/asf-names-test." + std::to_string(getpid());
    const int fd = shm_open(object.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
    EXPECT_GE(fd, 0) << "POSIX's";
    EXPECT_EQ(close(fd), 0);
    EXPECT_EQ(shm_unlink(object.c_str()), 0);
    EXPECT_EQ(asf_shm_remove(label_of(shm).c_str()), 0);
    EXPECT_EQ(shm_close(shm), 0);
}

} // namespace
} // namespace shm
