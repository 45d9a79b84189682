/* SPDX-License-Identifier: MIT
 *
 * main.cpp - numbers_bench [DIRECTORY]: numbers written to a file, one a line, and columns read from a table,
 * by asf and other libraries in one process.  All text and all sums are compared before the measurements.
 */
#include "numbers_bench.h"

#include <benchmark/benchmark.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <time.h>

namespace {

constexpr int count = 1000000;
std::string directory = "/var/tmp";

double cpu_now() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

std::string contents(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

[[noreturn]] void fail(const std::string &who) {
    fprintf(stderr, "numbers_bench: %s writes or finds something else\n", who.c_str());
    exit(1);
}

std::vector<numbers> make_numbers() {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> unit(0, 1);
    numbers counted{"1 to 1000000", {}, {}}, wide{"32 bits", {}, {}}, any{"any length", {}, {}};
    numbers fraction{"17 digits", {}, {}}, money{"2 places", {}, {}};
    for (int i = 1; i <= count; i++) {
        counted.integers.push_back(i);
        wide.integers.push_back(static_cast<std::int32_t>(random()));
        any.integers.push_back(static_cast<std::int64_t>(random() >> random() % 64));
        fraction.reals.push_back(unit(random));
        money.reals.push_back(std::round(unit(random) * 1e6) / 100);
    }
    return {counted, wide, any, fraction, money};
}

void add_benchmark(const std::string &name, const std::function<void()> &run) {
    const auto timed = [run](benchmark::State &state) {
        double all = 0;
        for (auto _ : state) {
            const double begun = cpu_now();
            run();
            const double taken = cpu_now() - begun;
            state.SetIterationTime(taken);
            all += taken;
        }
        state.counters["ns"] = all * 1e9 / count / static_cast<double>(state.iterations());
    };
    benchmark::RegisterBenchmark(name.c_str(), timed)->UseManualTime();
}

// Each writer writes a new file.  The text of the reals is compared only if the writer prints the shortest
// digits.
void add_writers(const numbers &of) {
    const std::string path = directory + "/numbers";
    std::string expected;
    std::vector<writer> all = writers();
#ifdef ASF_FMT
    all.push_back(fmt_writers().front());
#endif
#ifdef ASF_FAST_IO
    all.push_back(fast_io_writers().front());
#endif
    const bool integers = !of.integers.empty();
    for (const writer &way : all) {
        const auto run = [&of, way, path, integers] {
            integers ? way.integers(path, of.integers) : way.reals(path, of.reals);
        };
        std::filesystem::remove(path);
        run();
        const bool compared =
            integers || (way.shortest && way.name != "fmt::output_file" && way.name != "fast_io");
        if (compared && expected.empty())
            expected = contents(path);
        else if (compared && contents(path) != expected)
            fail(way.name);
        const std::string name = (integers ? "integers/" : "reals/") + of.name + "/";
        add_benchmark(name + way.name, run);
        if (way.name == all.front().name)
            add_benchmark(name + "again", run);
    }
}

void add_readers() {
    const std::string path = directory + "/table";
    std::mt19937_64 random(2);
    FILE *out = fopen(path.c_str(), "w");
    for (int i = 0; i < count; i++)
        fprintf(out, "%d\tname%d\t%.6f\n", static_cast<int>(random() % 10000000), i % 1000,
                static_cast<double>(random() % 1000000000) / 1e6);
    fclose(out);
    const std::vector<column_reader> all = column_readers();
    const sums expected = all.front().read(path, count);
    for (const column_reader &way : all) {
        if (expected.rows != count || !(way.read(path, count) == expected))
            fail(way.name);
        const auto run = [way, path] { benchmark::DoNotOptimize(way.read(path, count)); };
        add_benchmark("columns/table/" + way.name, run);
        if (way.name == all.front().name)
            add_benchmark("columns/table/again", run);
    }
}

} // namespace

int main(int argc, char **argv) {
    benchmark::Initialize(&argc, argv);
    if (argc > 1)
        directory = argv[1];
    directory += "/numbers_bench.XXXXXX";
    if (!mkdtemp(directory.data())) {
        perror(directory.c_str());
        return 1;
    }
    const std::vector<numbers> all = make_numbers();
    for (const numbers &each : all)
        add_writers(each);
    add_readers();
    const bool ran = benchmark::RunSpecifiedBenchmarks() > 0;
    std::filesystem::remove_all(directory);
    return ran ? 0 : 1;
}
