/* SPDX-License-Identifier: MIT
 *
 * main.cpp - asi_bench: small regions and positional regions of a file, compared with stdio and Unix I/O.
 * Every pass checks its data; wrong data ends the program with status 1.
 */
#include "asi_bench.h"
#include "sides.h"

#include <algorithm>
#include <barrier>
#include <benchmark/benchmark.h>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>
#include <string_view>
#include <thread>

namespace {

double read_clock(clockid_t clock) {
    timespec t;
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

std::string make_text() {
    std::mt19937 engine(11);
    std::string made(560 * 16 * 117, '\n');
    for (char &c : made) {
        const unsigned n = engine() % 32;
        c = n < 26 ? static_cast<char>('a' + n) : n < 31 ? ' ' : '\n';
    }
    return made;
}

struct arguments {
    bool second_thread = false, regions = false;
    std::string directory = "/var/tmp";
};

arguments parse(int argc, char **argv) {
    arguments given;
    for (int i = 1; i < argc; i++) {
        const std::string_view word = argv[i];
        if (word == "--second-thread")
            given.second_thread = true;
        else if (word == "--regions")
            given.regions = true;
        else
            given.directory = word;
    }
    return given;
}

int run(const arguments &given, const std::string &directory) {
    if (given.regions) {
        add_regions(directory);
        add_turns(directory);
    } else {
        add_places(directory);
        add_outputs(directory);
    }
    if (!given.second_thread)
        return benchmark::RunSpecifiedBenchmarks() ? 0 : 1;
    std::barrier parked(2); // an idle second thread makes the process multithreaded
    const std::jthread second([&parked] { parked.arrive_and_wait(); });
    const bool ran = benchmark::RunSpecifiedBenchmarks() > 0;
    parked.arrive_and_wait();
    return ran ? 0 : 1;
}

} // namespace

double cpu_now() {
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

double now() {
    return read_clock(CLOCK_MONOTONIC);
}

const std::string &text() {
    static const std::string made = make_text();
    return made;
}

std::string make_file(const std::string &path, size_t copies) {
    std::ofstream file(path, std::ios::binary);
    for (; copies > 0; copies--)
        file << text();
    if (!file.flush())
        give_up(path + " cannot be written");
    return path;
}

void give_up(const std::string &what) {
    fprintf(stderr, "asi_bench: %s\n", what.c_str());
    fflush(stderr);
    _exit(1);
}

double in_threads(unsigned threads, const std::function<void(unsigned)> &work) {
    std::barrier ready(threads);
    std::vector<double> begun(threads), ended(threads);
    std::vector<std::thread> all;
    for (unsigned i = 0; i < threads; i++) {
        all.emplace_back([&, i] {
            ready.arrive_and_wait();
            begun[i] = now();
            work(i);
            ended[i] = now();
        });
    }
    for (std::thread &each : all)
        each.join();
    return *std::ranges::max_element(ended) - *std::ranges::min_element(begun);
}

void add_case(const std::string &name, size_t count, const std::function<double()> &one) {
    const auto time = [count, one](benchmark::State &state) {
        double all = 0;
        for (auto _ : state) {
            const double taken = one();
            state.SetIterationTime(taken / 1e9);
            all += taken;
        }
        state.counters["ns"] = all / (static_cast<double>(state.iterations()) * static_cast<double>(count));
    };
    benchmark::RegisterBenchmark(name.c_str(), time)->UseManualTime();
}

// asi_bench [--regions [--second-thread]] [DIR] [--benchmark_...]; bench/asi/report runs it.
int main(int argc, char **argv) {
    benchmark::Initialize(&argc, argv);
    const arguments given = parse(argc, argv);
    std::string directory = given.directory + "/asi_bench.XXXXXX";
    if (!mkdtemp(directory.data()))
        give_up("no directory can be made in " + given.directory);
    set_sides(load_side("libc", "libc.so.6"), load_side("asf", "libasf_stdio.so.0"));
    const int status = run(given, directory);
    std::filesystem::remove_all(directory);
    return status;
}
