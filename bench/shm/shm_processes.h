// SPDX-License-Identifier: MIT
//
// shm_processes.h - shared by the experiments: pinned, timed processes that start together, and memory that
// these share.
#ifndef BENCH_SHM_PROCESSES_H
#define BENCH_SHM_PROCESSES_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace processes {

// Ends the experiment; prints `what` and errno's text.
[[noreturn]] void stop(const std::string &what);

inline void check(bool right, const std::string &what) {
    if (!right)
        stop(what);
}

// Runs `body`; returns the exit status for the process.
int guarded(const std::function<void()> &body);

// Seconds.
struct Times {
    double start = 0, end = 0, cpu = 0;
    double elapsed() const { return end - start; }
};

// The clock of one process.  Preparation comes before begin(), and checks after end(): neither is timed.
class Watch {
  public:
    Watch(int ready_fd, int gate_fd, Times *times) : ready(ready_fd), gate(gate_fd), to(times) {}
    void begin(); // returns when every process of the run has called it
    void end();

  private:
    int ready, gate;
    Times *to;
};

struct Process {
    int cpu; // from 0; beyond the machine's processors: the last one
    std::function<void(Watch &)> body;
};

// Runs all processes at once, each forked and pinned.  If one fails, all are killed.
std::vector<Times> run(const std::vector<Process> &all);

// Seconds from the first start to the last end.
double span(const std::vector<Times> &all);

bool two_processors();

// The numbers below n in random order, so that no measurement always follows the same other one.
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

// A pipe; both ends stay open in all processes until the object is destroyed.
class Pipe {
  public:
    explicit Pipe(int size = 0); // 0: the system's default
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
