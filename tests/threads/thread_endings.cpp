// SPDX-License-Identifier: MIT
//
// thread_endings.cpp - processes end or fork while threads are inside calls on one stream.
//
//     thread_endings exit|fork [ROUNDS [SEED]]
//
// exit: one thread of a child calls exit. The child must end, and the file must contain the flushed records
// complete and once. fork: children use the stream, whichever thread holds its lock at that moment, and end
// by _exit. They must not wait for a thread that does not exist in the child, and their output must not
// appear.
#include <fcntl.h>
#include <map>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/threads/history.h"

using namespace tests;

namespace {

constexpr unsigned THREADS = 3;

void check(bool good, const char *what) {
    if (!good) {
        perror(what);
        _exit(2);
    }
}

// Not freed at the end of the process, which does not wait for the threads.
struct Round {
    Random random = Random(0);
    FILE *stream = nullptr;
    std::atomic<size_t> *safe = nullptr; // for each thread: the number of records that must be in the file
    std::atomic<bool> over = false;      // exit has been called
    size_t records = 0;                  // the number of records of each thread
    bool ends = false;                   // the first thread ends the process
};

// "THREAD NUMBER LENGTH xxxx"
std::string record(unsigned thread, size_t number, size_t length) {
    return std::to_string(thread) + " " + std::to_string(number) + " " + std::to_string(length) + " " +
           std::string(length, static_cast<char>('a' + thread)) + "\n";
}

void write_one(FILE *f, const std::string &text, size_t how) {
    if (how == 0)
        fputs(text.c_str(), f);
    else if (how == 1)
        fprintf(f, "%s", text.c_str());
    else
        fwrite(text.data(), 1, text.size(), f);
}

void write_records(Round &round, unsigned thread) {
    Random random(round.random.next() + thread);
    for (size_t i = 1; i <= round.records; i++) {
        write_one(round.stream, record(thread, i, some_length(random, true)), random.below(3));
        if (random.one_in(4) && fflush(round.stream) == 0 && !round.over)
            round.safe[thread] = i;
        if (round.ends && thread == 0 && (random.one_in(20) || i == round.records)) {
            round.over = true;
            exit(7);
        }
    }
}

// Counts how often each thread's numbers occur in the complete lines.
std::map<std::pair<unsigned, size_t>, size_t> count_records(int fd) {
    std::map<std::pair<unsigned, size_t>, size_t> counts;
    std::string all(static_cast<size_t>(lseek(fd, 0, SEEK_END)), '\0');
    check(pread(fd, all.data(), all.size(), 0) == static_cast<ssize_t>(all.size()), "pread");
    for (size_t at = 0, end; (end = all.find('\n', at)) != std::string::npos; at = end + 1) {
        unsigned thread = 0;
        size_t number = 0, length = 0;
        const std::string line = all.substr(at, end + 1 - at);
        const bool read = sscanf(line.c_str(), "%u %zu %zu", &thread, &number, &length) == 3;
        if (read && length < 10000 && line == record(thread, number, length))
            counts[{thread, number}]++;
        else
            counts[{THREADS, 0}]++;
    }
    return counts;
}

// Opens the stream with one of a few small buffers, or with one so large that only a flush writes.
void open_stream(Round &round, int fd, const char *mode, bool small) {
    static char buffer[16 << 20];
    const size_t sizes[] = {64, 1024, 4096, 65536};
    round.stream = fopen(("/proc/self/fd/" + std::to_string(fd)).c_str(), mode);
    check(round.stream && setvbuf(round.stream, buffer, _IOFBF,
                                  small ? sizes[round.random.below(4)] : sizeof buffer) == 0,
          "fopen");
}

int wait_for(pid_t child) {
    int status = -1;
    check(waitpid(child, &status, 0) == child, "waitpid");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

size_t tell(uint64_t seed, const char *what, long got, long expected) {
    fprintf(stderr, "seed %llu: %s: %ld instead of %ld\n", static_cast<unsigned long long>(seed), what, got,
            expected);
    return 1;
}

[[noreturn]] void end_in_threads(uint64_t seed, int fd, std::atomic<size_t> *safe) {
    static Round round;
    alarm(60);
    round.random = Random(seed);
    round.safe = safe;
    round.ends = true;
    round.records = 500;
    open_stream(round, fd, round.random.one_in(2) ? "w" : "a", true);
    for (unsigned thread = 0; thread < THREADS; thread++)
        std::thread(write_records, std::ref(round), thread).detach();
    for (;;)
        pause();
}

size_t checked; // the total number of records checked

size_t play_exit(uint64_t seed, std::atomic<size_t> *safe) {
    const int fd = memfd_create("thread_endings", 0);
    size_t wrong = 0;
    for (unsigned thread = 0; thread < THREADS; thread++)
        safe[thread] = 0;
    const pid_t child = fork();
    if (child == 0)
        end_in_threads(seed, fd, safe);
    const int status = wait_for(child);
    wrong += status != 7 ? tell(seed, "the end", status, 7) : 0;
    auto counts = count_records(fd);
    for (unsigned thread = 0; thread < THREADS; thread++)
        for (size_t i = 1; i <= safe[thread]; i++, checked++)
            if (counts[{thread, i}] != 1)
                wrong += tell(seed, record(thread, i, 1).c_str(), static_cast<long>(counts[{thread, i}]), 1);
    close(fd);
    return wrong;
}

[[noreturn]] void use_in_child(FILE *f) {
    alarm(60);
    const bool free = ftrylockfile(f) == 0;
    fputs("nobody's line\n", f);
    fprintf(f, "%d\n", 1);
    putc('x', f);
    _exit(free ? 0 : 1);
}

size_t play_fork(uint64_t seed, std::atomic<size_t> *safe) {
    const int fd = memfd_create("thread_endings", 0);
    Round round;
    size_t wrong = 0;
    round.random = Random(seed);
    round.safe = safe;
    round.records = 200;
    open_stream(round, fd, "w", false);
    std::vector<std::thread> threads;
    for (unsigned thread = 0; thread < THREADS; thread++)
        threads.emplace_back(write_records, std::ref(round), thread);
    for (int i = 0; i < 5; i++) {
        spin(round.random.below(20000));
        const pid_t child = fork();
        if (child == 0)
            use_in_child(round.stream);
        const int status = wait_for(child);
        wrong += status != 0 ? tell(seed, "a child's end", status, 0) : 0;
    }
    for (std::thread &thread : threads)
        thread.join();
    check(fclose(round.stream) == 0, "fclose");
    auto counts = count_records(fd);
    for (unsigned thread = 0; thread < THREADS; thread++)
        for (size_t i = 1; i <= round.records; i++, checked++)
            if (counts[{thread, i}] != 1)
                wrong += tell(seed, record(thread, i, 1).c_str(), static_cast<long>(counts[{thread, i}]), 1);
    wrong += counts[{THREADS, 0}] ? tell(seed, "other lines", static_cast<long>(counts[{THREADS, 0}]), 0) : 0;
    close(fd);
    return wrong;
}

} // namespace

int main(int argc, char **argv) {
    const std::string what = argc > 1 ? argv[1] : "exit";
    const uint64_t rounds =
        from_environment("ASF_ORDER_ROUNDS", argc > 2 ? strtoull(argv[2], nullptr, 10) : 100);
    const uint64_t seed = from_environment("ASF_ORDER_SEED", argc > 3 ? strtoull(argv[3], nullptr, 10) : 1);
    void *shared = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    check(shared != MAP_FAILED, "mmap");
    auto *safe = static_cast<std::atomic<size_t> *>(shared);
    size_t wrong = 0;
    for (uint64_t i = 0; i < rounds; i++)
        wrong += what == "exit" ? play_exit(seed + i, safe) : play_fork(seed + i, safe);
    printf("%s: %llu rounds from seed %llu, %zu records that were to be there, %zu wrong\n", what.c_str(),
           static_cast<unsigned long long>(rounds), static_cast<unsigned long long>(seed), checked, wrong);
    return wrong > 0;
}
