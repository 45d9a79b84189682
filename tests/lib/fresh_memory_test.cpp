// SPDX-License-Identifier: MIT
//
// fresh_memory_test.cpp - which memory gets large pages before a large read;
// what the program sees is in tests/interfaces/unix/large_reads_cases.c.
// Layer: tests.
#include <cstdio>
#include <fstream>
#include <string>
#include <sys/mman.h>
#include <thread>

#include "tests/interfaces/asi/asi_test.h"
#include "tests/streams/private_headers.h"
extern "C" {
#include "lib/sys/fresh_memory.h"
}

namespace asi {
namespace {

constexpr size_t size = 12 << 20;

// Kilobytes of large pages in the mapping that begins at p.
long large_pages(const void *p) {
    char start[32];
    snprintf(start, sizeof start, "%lx-", reinterpret_cast<unsigned long>(p));
    std::ifstream maps("/proc/self/smaps");
    bool inside = false;
    for (std::string line; std::getline(maps, line);) {
        if (line.find("-") < line.find(" "))
            inside = line.rfind(start, 0) == 0;
        if (inside && line.rfind("AnonHugePages:", 0) == 0)
            return std::stol(line.substr(14));
    }
    return 0;
}

class FreshMemory : public Asi {
  protected:
    int fd = -1;
    char *const p =
        static_cast<char *>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    Restore restore;

    void SetUp() override {
        Asi::SetUp();
        fd = open(put_pattern("large", size).c_str(), O_RDONLY | O_CLOEXEC);
        options().large_pages = true;
    }
    void TearDown() override {
        munmap(p, size);
        close(fd);
        Asi::TearDown();
    }
};

TEST_F(FreshMemory, GetsLargePages) {
    asf__before_large_read(fd, p, size);
    const long kilobytes = large_pages(p);
    if (kilobytes == 0)
        GTEST_SKIP() << "this kernel has none to give";
    EXPECT_GE(kilobytes, 8 << 10);
    EXPECT_EQ(std::string(p, size), std::string(size, '\0'));
}

TEST_F(FreshMemory, NotWhereTheFileEnds) {
    lseek(fd, 8 << 20, SEEK_SET);
    asf__before_large_read(fd, p, size);
    EXPECT_LE(large_pages(p), 4 << 10);
}

TEST_F(FreshMemory, NotWhenItIsThere) {
    memset(p, 'x', size);
    asf__before_large_read(fd, p, size);
    EXPECT_EQ(large_pages(p), 0);
}

TEST_F(FreshMemory, NotForAThread) {
    std::thread([&] { asf__before_large_read(fd, p, size); }).join();
    EXPECT_EQ(large_pages(p), 0);
}

TEST_F(FreshMemory, NotWhenTheUserSaysSo) {
    options().large_pages = false;
    asf__before_large_read(fd, p, size);
    EXPECT_EQ(large_pages(p), 0);
}

} // namespace
} // namespace asi
