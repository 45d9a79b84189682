/* SPDX-License-Identifier: MIT
 *
 * main.cpp - lines_bench: the lines of files and the fields of lines, by asf and by its alternatives, in one
 * process.  Every reader's result is checked before the reader is timed.
 */
#include "lines_bench.h"

#include <benchmark/benchmark.h>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace {

// strtok skips empty fields, so it is left out if the input has any.
bool is_right(const std::string &name, const input &from, const reader &way, const tally &expected) {
    double nanoseconds;
    if (way.read(from, &nanoseconds) == expected)
        return true;
    if (way.name == "strtok_r")
        return false;
    fprintf(stderr, "lines_bench: %s finds something else\n", name.c_str());
    exit(1);
}

// Each iteration is one pass over the input; items are lines or fields.
void add_reader(const std::string &name, const input &from, const reader &way) {
    const auto time = [&from, way](benchmark::State &state) {
        double taken = 0, all = 0;
        uint64_t count = 0;
        for (auto _ : state) {
            count += way.read(from, &taken).count;
            state.SetIterationTime(taken / 1e9);
            all += taken;
        }
        state.counters["ns"] = all / static_cast<double>(count);
        state.counters["bytes"] =
            static_cast<double>(from.text.size() * state.iterations()) / static_cast<double>(count);
    };
    benchmark::RegisterBenchmark(name.c_str(), time)->UseManualTime();
}

// The first reader is the reference, and is added twice, the second time as "again": the difference is noise.
void add(const std::string &kind, const std::vector<input> &inputs, const std::vector<reader> &ways) {
    for (const input &from : inputs) {
        double nanoseconds;
        const std::string prefix = kind + "/" + from.name + "/";
        const tally expected = ways.front().read(from, &nanoseconds);
        for (const reader &way : ways) {
            if (is_right(prefix + way.name, from, way, expected))
                add_reader(prefix + way.name, from, way);
        }
        add_reader(prefix + "again", from, ways.front());
    }
}

} // namespace

int main(int argc, char **argv) {
    benchmark::Initialize(&argc, argv);
    std::string directory = argc > 1 ? argv[1] : "/var/tmp";
    directory += "/lines_bench.XXXXXX";
    if (!mkdtemp(directory.data())) {
        perror(directory.c_str());
        return 1;
    }
    const std::vector<input> inputs = make_inputs(directory);
    for (const input &each : inputs)
        benchmark::AddCustomContext("module " + each.name, module_of(each));
    const std::vector<input> integers = make_integers(directory), reals = make_reals(directory);
    add("lines", inputs, line_readers());
    add("fields", inputs, field_readers());
    add("fields of lines", inputs, cxx_field_readers());
    add("integers", integers, integer_readers());
    add("reals", reals, real_readers());
    const bool ran = benchmark::RunSpecifiedBenchmarks() > 0;
    std::filesystem::remove_all(directory);
    return ran ? 0 : 1;
}
