/* SPDX-License-Identifier: MIT
 *
 * cases.cpp - registers a benchmark for each side.
 */
#include "cases.h"
#include "counting.h"

#include <cerrno>
#include <memory>
#include <mutex>
#include <system_error>

namespace {

bool check = true;

// The check of a case on a side.  All threads of the benchmark ask at once; the first one checks.
struct checked_once {
    std::once_flag flag;
    bool right = false;
    bool ask(const bench_case &stated, const stdio_side &side) {
        std::call_once(flag, [&] { right = stated.right(side); });
        return right;
    }
};

void add(const std::string &name, const std::function<void(benchmark::State &)> &run, int threads) {
    auto *registered = benchmark::RegisterBenchmark(name.c_str(), run);
    if (threads > 0)
        registered->Threads(threads)->UseRealTime();
}

void add_side(const bench_case &stated, const stdio_side &side) {
    const auto checked = std::make_shared<checked_once>();
    const auto run = [stated, checked, &side](benchmark::State &state) {
        if (check && !checked->ask(stated, side))
            return state.SkipWithError("the data moved is not the data expected");
        count_instructions(state, [&] { stated.time(state, side); });
    };
    add(stated.name + "/" + side.name, run, stated.threads);
}

} // namespace

void add_case(const bench_case &stated) {
    add_side(stated, libc_side());
    add_side(stated, asf_side());
    bench_case again = stated;
    again.right = [](const stdio_side &) { return true; }; // libc's are checked
    add_side(again, libc_again());
}

void leave_unchecked() {
    check = false;
}

void add_limit(const std::string &name, const std::function<void(benchmark::State &)> &time, int threads) {
    add("limit/" + name, time, threads);
}

FILE *open_stream(const stdio_side &side, const std::string &path, const char *mode) {
    FILE *file = side.fopen(path.c_str(), mode);
    if (!file)
        throw std::system_error(errno, std::generic_category(), path + ": fopen by " + side.name);
    return file;
}
