// SPDX-License-Identifier: MIT
//
// shm_processes.h - what the experiments share: processes that are pinned,
// start together and are timed, and memory that they have in common.
#ifndef BENCH_SHM_PROCESSES_H
#define BENCH_SHM_PROCESSES_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace processes {

// Ends the experiment; errno is told.
[[noreturn]] void stop(const std::string &what);

inline void check(bool right, const std::string &what) {
    if (!right)
        stop(what);
}

// The exit status of a process that does this.
int guarded(const std::function<void()> &body);

// Seconds.
struct Times {
    double start = 0, end = 0, cpu = 0;
    double elapsed() const { return end - start; }
};

// The clock of one process: what comes before begin() and after end() is
// preparation and checking.
class Watch {
  public:
    Watch(int ready_fd, int gate_fd, Times *times) : ready(ready_fd), gate(gate_fd), to(times) {}
    void begin(); // returns when every process of the run has come here
    void end();

  private:
    int ready, gate;
    Times *to;
};

struct Process {
    int cpu; // counted from 0; one that the machine does not have is its last
    std::function<void(Watch &)> body;
};

// Runs all at once, each forked and pinned.  When one fails, all are ended.
std::vector<Times> run(const std::vector<Process> &all);

// From the first start to the last end.
double span(const std::vector<Times> &all);

bool two_processors();

// The numbers below n, by chance: what is timed in one start has no fixed neighbour.
std::vector<size_t> random_order(size_t n);

// Zeroed memory that forked processes share.
class Shared {
  public:
    explicit Shared(size_t size);
    ~Shared();
    Shared(const Shared &) = delete;
    Shared &operator=(const Shared &) = delete;
    template <class T> T *at(size_t offset = 0) const { return reinterpret_cast<T *>(memory + offset); }

  private:
    char *memory;
    size_t length;
};

void read_all(int fd, void *to, size_t n);
void write_all(int fd, const void *from, size_t n);

// A pipe; both ends stay open in everyone until it goes.
class Pipe {
  public:
    explicit Pipe(int size = 0); // 0: as the system makes them
    ~Pipe();
    Pipe(const Pipe &) = delete;
    Pipe &operator=(const Pipe &) = delete;
    int reader() const { return ends[0]; }
    int writer() const { return ends[1]; }

  private:
    int ends[2];
};

// A set of SysV semaphores, and Smith's P and V.
class Semaphores {
  public:
    explicit Semaphores(const std::vector<int> &values);
    ~Semaphores();
    Semaphores(const Semaphores &) = delete;
    Semaphores &operator=(const Semaphores &) = delete;
    void P(unsigned short i) { change(i, -1); }
    void V(unsigned short i) { change(i, 1); }
    void wait_for_zero(unsigned short i) { change(i, 0); }
    void set(int i, int value);

  private:
    void change(unsigned short i, short by);
    int id;
};

} // namespace processes
#endif
