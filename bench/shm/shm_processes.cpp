// SPDX-License-Identifier: MIT
//
// shm_processes.cpp - see shm_processes.h.
#include "shm_processes.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <numeric>
#include <random>
#include <sched.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/wait.h>
#include <unistd.h>

namespace processes {
namespace {

// The time limit of a process.
constexpr unsigned longest_seconds = 150;

double seconds(clockid_t clock) {
    timespec t{};
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

void pin(int cpu) {
    const int last = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)) - 1;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<unsigned>(std::min(cpu, last)), &set);
    check(sched_setaffinity(0, sizeof set, &set) == 0, "sched_setaffinity");
}

pid_t start(const Process &p, Watch watch, int gate_writer) {
    const pid_t pid = fork();
    check(pid >= 0, "fork");
    if (pid > 0)
        return pid;
    close(gate_writer);
    alarm(longest_seconds);
    _exit(guarded([&] {
        pin(p.cpu);
        p.body(watch);
    }));
}

void wait_for(std::vector<pid_t> pids) {
    bool failed = false;
    while (!pids.empty()) {
        int status = 0;
        const pid_t ended = waitpid(-1, &status, 0);
        check(ended > 0, "waitpid");
        pids.erase(std::remove(pids.begin(), pids.end(), ended), pids.end());
        if (status == 0 || failed)
            continue;
        failed = true;
        for (const pid_t pid : pids)
            kill(pid, SIGKILL);
    }
    errno = 0;
    check(!failed, "a process of the experiment failed");
}

} // namespace

void stop(const std::string &what) {
    throw std::runtime_error(what + ": " + (errno ? strerror(errno) : "wrong"));
}

int guarded(const std::function<void()> &body) {
    try {
        body();
        return 0;
    } catch (const std::exception &e) {
        fprintf(stderr, "%s: %s\n", program_invocation_short_name, e.what());
        return 1;
    }
}

void Watch::begin() {
    char c = 0;
    write_all(ready, &c, 1);
    check(read(gate, &c, 1) == 0, "the gate");
    to->cpu = -seconds(CLOCK_PROCESS_CPUTIME_ID);
    to->start = seconds(CLOCK_MONOTONIC);
}

void Watch::end() {
    to->end = seconds(CLOCK_MONOTONIC);
    to->cpu += seconds(CLOCK_PROCESS_CPUTIME_ID);
    errno = 0;
}

std::vector<Times> run(const std::vector<Process> &all) {
    const Shared memory(all.size() * sizeof(Times));
    Times *times = memory.at<Times>();
    const Pipe ready;
    int gate[2];
    check(pipe2(gate, O_CLOEXEC) == 0, "pipe");
    std::vector<pid_t> pids;
    alarm(longest_seconds);
    for (size_t i = 0; i < all.size(); i++)
        pids.push_back(start(all[i], Watch(ready.writer(), gate[0], times + i), gate[1]));
    close(gate[0]);
    for (size_t i = 0; i < all.size(); i++) {
        char c;
        read_all(ready.reader(), &c, 1);
    }
    close(gate[1]);
    wait_for(pids);
    alarm(0);
    return {times, times + all.size()};
}

double span(const std::vector<Times> &all) {
    double start = all[0].start, end = all[0].end;
    for (const Times &t : all) {
        start = std::min(start, t.start);
        end = std::max(end, t.end);
    }
    return end - start;
}

bool two_processors() {
    return sysconf(_SC_NPROCESSORS_ONLN) > 1;
}

std::vector<size_t> random_order(size_t n) {
    std::vector<size_t> order(n);
    std::iota(order.begin(), order.end(), size_t{0});
    std::shuffle(order.begin(), order.end(), std::mt19937(std::random_device()()));
    return order;
}

Shared::Shared(size_t size) : length(size) {
    void *p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    check(p != MAP_FAILED, "mmap");
    memory = static_cast<char *>(p);
}

Shared::~Shared() {
    munmap(memory, length);
}

void read_all(int fd, void *to, size_t n) {
    for (char *p = static_cast<char *>(to); n > 0;) {
        const ssize_t got = read(fd, p, n);
        check(got > 0, "read");
        p += got;
        n -= static_cast<size_t>(got);
    }
}

void write_all(int fd, const void *from, size_t n) {
    for (const char *p = static_cast<const char *>(from); n > 0;) {
        const ssize_t put = write(fd, p, n);
        check(put > 0, "write");
        p += put;
        n -= static_cast<size_t>(put);
    }
}

Pipe::Pipe(int size) {
    check(pipe2(ends, O_CLOEXEC) == 0, "pipe");
    check(size == 0 || fcntl(ends[1], F_SETPIPE_SZ, size) >= size, "F_SETPIPE_SZ");
}

Pipe::~Pipe() {
    close(ends[0]);
    close(ends[1]);
}

Semaphores::Semaphores(const std::vector<int> &values)
    : id(semget(IPC_PRIVATE, static_cast<int>(values.size()), 0600)) {
    check(id >= 0, "semget");
    for (size_t i = 0; i < values.size(); i++)
        set(static_cast<int>(i), values[i]);
}

Semaphores::~Semaphores() {
    semctl(id, 0, IPC_RMID);
}

void Semaphores::set(int i, int value) {
    check(semctl(id, i, SETVAL, value) == 0, "semctl");
}

void Semaphores::change(unsigned short i, short by) {
    sembuf operation = {i, by, 0};
    check(semop(id, &operation, 1) == 0, "semop");
}

} // namespace processes
