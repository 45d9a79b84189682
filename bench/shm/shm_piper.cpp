// SPDX-License-Identifier: MIT
//
// shm_piper.cpp - J. M. Smith's piper and mem: a parent reads a file by blocks and passes them to a child,
// which writes them to /dev/null.  They pass through a pipe, through a buffer in shared memory with two SysV
// semaphores, or through a ring; or one process does both.
//
//     shm_piper PASSES
//
// The file has the mailbox's 184 blocks of 8192 bytes and is read PASSES times.  Before the measurement each
// way copies the file, and the copy is compared.  Every run checks each block's offset.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include <asf/ring.h>

#include "shm_processes.h"

using namespace processes;

namespace {

constexpr size_t file_size = size_t{184} * 8192;

struct Work {
    int in, out;
    size_t block;
    int passes;
    size_t blocks() const { return file_size / block * static_cast<size_t>(passes); }
};

// A file in memory whose words are their own indices.
int make_input() {
    std::vector<uint64_t> words(file_size / sizeof(uint64_t));
    for (size_t i = 0; i < words.size(); i++)
        words[i] = i;
    const int fd = memfd_create("shm_piper input", MFD_CLOEXEC);
    check(fd >= 0, "memfd_create");
    write_all(fd, words.data(), file_size);
    return fd;
}

void take(const Work &w, size_t i, char *to) {
    if (i * w.block % file_size == 0)
        check(lseek(w.in, 0, SEEK_SET) == 0, "lseek");
    read_all(w.in, to, w.block);
}

void give(const Work &w, size_t i, const char *from) {
    uint64_t first, last;
    memcpy(&first, from, sizeof first);
    memcpy(&last, from + w.block - sizeof last, sizeof last);
    const uint64_t place = i * w.block % file_size / sizeof first;
    check(first == place && last == place + w.block / sizeof first - 1, "a block in the wrong place");
    write_all(w.out, from, w.block);
}

class Transport {
  public:
    virtual ~Transport() = default;
    virtual void write(Watch &watch, const Work &w) = 0;
    virtual void read(Watch &watch, const Work &w) = 0;
    virtual bool alone() const { return false; }
};

// Reads and writes the file in one process, which passes nothing.
class Nothing : public Transport {
  public:
    void write(Watch &watch, const Work &w) override {
        std::vector<char> buffer(w.block);
        watch.begin();
        for (size_t i = 0; i < w.blocks(); i++) {
            take(w, i, buffer.data());
            give(w, i, buffer.data());
        }
        watch.end();
    }
    void read(Watch &, const Work &) override {}
    bool alone() const override { return true; }
};

class Piper : public Transport {
  public:
    explicit Piper(int size) : pipe(size) {}
    void write(Watch &watch, const Work &w) override {
        std::vector<char> buffer(w.block);
        watch.begin();
        for (size_t i = 0; i < w.blocks(); i++) {
            take(w, i, buffer.data());
            write_all(pipe.writer(), buffer.data(), w.block);
        }
        watch.end();
    }
    void read(Watch &watch, const Work &w) override {
        std::vector<char> buffer(w.block);
        watch.begin();
        for (size_t i = 0; i < w.blocks(); i++) {
            read_all(pipe.reader(), buffer.data(), w.block);
            give(w, i, buffer.data());
        }
        watch.end();
    }

  private:
    const Pipe pipe;
};

class Mem : public Transport {
  public:
    void write(Watch &watch, const Work &w) override {
        watch.begin();
        for (size_t i = 0; i < w.blocks(); i++) {
            semaphores.P(may_write);
            take(w, i, buffer.at<char>());
            semaphores.V(may_read);
        }
        watch.end();
    }
    void read(Watch &watch, const Work &w) override {
        watch.begin();
        for (size_t i = 0; i < w.blocks(); i++) {
            semaphores.P(may_read);
            give(w, i, buffer.at<char>());
            semaphores.V(may_write);
        }
        watch.end();
    }

  private:
    enum { may_read, may_write };
    const Shared buffer{64 << 10};
    Semaphores semaphores{{0, 1}};
};

class Ring : public Transport {
  public:
    Ring() : fd(asf_ring_create(0)) { check(fd >= 0, "asf_ring_create"); }
    ~Ring() override { close(fd); }
    void write(Watch &watch, const Work &w) override {
        asf_cios *s = asf_ring_sopen_fd(fd, O_WRONLY, nullptr);
        check(s, "asf_ring_sopen_fd");
        watch.begin();
        for (size_t i = 0; i < w.blocks(); i++) {
            char *p = region(s, w.block);
            take(w, i, p);
            sfree(s, p);
        }
        check(sclose(s) == 0, "sclose");
        watch.end();
    }
    void read(Watch &watch, const Work &w) override {
        asf_cios *s = asf_ring_sopen_fd(fd, O_RDONLY, nullptr);
        check(s, "asf_ring_sopen_fd");
        watch.begin();
        for (size_t i = 0; i < w.blocks(); i++) {
            char *p = region(s, w.block);
            give(w, i, p);
            sfree(s, p);
        }
        watch.end();
        sclose(s);
    }

  private:
    static char *region(asf_cios *s, size_t size) {
        ssize_t n = static_cast<ssize_t>(size);
        void *p = salloc(s, &n);
        check(p && static_cast<size_t>(n) == size, "salloc");
        return static_cast<char *>(p);
    }
    int fd;
};

struct Kind {
    const char *name;
    std::unique_ptr<Transport> (*make)();
};

template <class T, auto... arguments> std::unique_ptr<Transport> make() {
    return std::make_unique<T>(arguments...);
}

constexpr Kind kinds[] = {
    {"null", make<Nothing>},
    {"pipe", make<Piper, 64 << 10>},
    {"pipe of 1 MB", make<Piper, 1 << 20>},
    {"semaphores", make<Mem>},
    {"ring", make<Ring>},
};

double seconds(const Kind &kind, const Work &w, bool two) {
    const std::unique_ptr<Transport> t = kind.make();
    const Process parent = {0, [&](Watch &watch) { t->write(watch, w); }};
    const Process child = {two ? 1 : 0, [&](Watch &watch) { t->read(watch, w); }};
    return span(t->alone() ? run({parent}) : run({parent, child}));
}

void check_copy(const Kind &kind, int in, size_t block, bool two) {
    const int copy = memfd_create("shm_piper copy", MFD_CLOEXEC);
    check(copy >= 0, "memfd_create");
    seconds(kind, {in, copy, block, 1}, two);
    std::vector<char> right(file_size), got(file_size);
    check(pread(in, right.data(), file_size, 0) == static_cast<ssize_t>(file_size), "pread");
    check(pread(copy, got.data(), file_size, 0) == static_cast<ssize_t>(file_size), "the copy's size");
    check(right == got && lseek(copy, 0, SEEK_END) == static_cast<off_t>(file_size), "the copy");
    close(copy);
}

void measure(int in, int null, size_t block, bool two, int passes) {
    for (const Kind &kind : kinds)
        check_copy(kind, in, block, two);
    for (const size_t k : random_order(std::size(kinds)))
        printf("piper\t%zu\t%s\t%s\t%g\n", block, two ? "two" : "one", kinds[k].name,
               seconds(kinds[k], {in, null, block, passes}, two) / passes);
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: shm_piper PASSES\n");
        return 2;
    }
    return guarded([&] {
        const int in = make_input(), null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        check(null >= 0, "/dev/null");
        for (const bool two : {false, true})
            if (!two || two_processors())
                for (const size_t block : {size_t{8192}, size_t{65536}})
                    measure(in, null, block, two, atoi(argv[1]));
    });
}
