/* SPDX-License-Identifier: MIT
 *
 * main.cpp - bench_micro: libc's stdio and ours, call by call, in one process.
 *
 * One process cannot measure both the costs with one thread and with several: libc enables its locks at the
 * first thread and never disables them.  So the program is run twice, the second time with --second-thread.
 */
#include "cases.h"
#include "inputs.h"

#include <benchmark/benchmark.h>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>

namespace {

const char usage[] = "usage: bench_micro [--second-thread] [--dir DIR] [--against SONAME] [--unchecked]\n"
                     "                   [--benchmark_...]\n"
                     "Times libc's stdio and libasf_stdio's beside each other.\n"
                     "  --second-thread   keep a second thread alive, and time shared streams too\n"
                     "  --dir DIR         where the 16 MB inputs are made (default /var/tmp)\n"
                     "  --against SONAME  the library to compare with libc (default libasf_unix.so.0);\n"
                     "  --unchecked       the data were checked by another run\n"
                     "  --benchmark_...   Google Benchmark's own, see --benchmark_help\n"
                     "bench/micro/report runs it and draws the tables.\n";

struct arguments {
    bool second_thread = false, unchecked = false;
    std::string directory = "/var/tmp", against = "libasf_unix.so.0";
};

[[noreturn]] void print_usage(int status) {
    fputs(usage, status ? stderr : stdout);
    exit(status);
}

const char *value_of(char **&argument) {
    if (!*++argument)
        print_usage(2);
    return *argument;
}

// Takes our arguments out of the vector and leaves Google Benchmark's.
arguments parse(int &argc, char **argv) {
    arguments parsed;
    char **kept = argv + 1;
    for (char **argument = argv + 1; *argument; argument++) {
        const std::string_view text = *argument;
        if (text == "--second-thread")
            parsed.second_thread = true;
        else if (text == "--unchecked")
            parsed.unchecked = true;
        else if (text == "--dir")
            parsed.directory = value_of(argument);
        else if (text == "--against")
            parsed.against = value_of(argument);
        else if (text == "--help")
            print_usage(0);
        else
            *kept++ = *argument;
    }
    *kept = nullptr;
    argc = static_cast<int>(kept - argv);
    return parsed;
}

// An idle thread, for as long as this object lives.
class parked_thread {
    std::jthread thread{[](const std::stop_token &stop) {
        std::atomic<bool> over = false;
        const std::stop_callback wake(stop, [&] {
            over = true;
            over.notify_one();
        });
        over.wait(false);
    }};
};

void add_all(bool second_thread) {
    add_reading();
    add_writing();
    add_printing();
    add_positions();
    add_wide();
    add_unix_io();
    if (second_thread)
        add_sharing();
    else
        add_limits();
}

// Adds the run's facts to the report, including the calls that asf leaves to libc.
void describe(const arguments &given) {
    std::string left;
    for (const std::string &symbol : asf_side().elsewhere)
        left += (left.empty() ? "" : " ") + symbol;
    benchmark::AddCustomContext("second_thread", given.second_thread ? "yes" : "no");
    benchmark::AddCustomContext("libc", libc_side().library);
    benchmark::AddCustomContext("asf", asf_side().library);
    benchmark::AddCustomContext("left_to_libc", left);
    benchmark::AddCustomContext("directory", given.directory);
}

} // namespace

int main(int argc, char **argv) {
    const arguments given = parse(argc, argv);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv))
        return 2;
    set_input_directory(given.directory);
    set_sides(load_side("libc", "libc.so.6"), load_side("asf", given.against));
    describe(given);
    if (given.unchecked)
        leave_unchecked();
    add_all(given.second_thread);
    if (!given.second_thread)
        return benchmark::RunSpecifiedBenchmarks() ? 0 : 1;
    const parked_thread parked;
    return benchmark::RunSpecifiedBenchmarks() ? 0 : 1;
}
