/* SPDX-License-Identifier: MIT
 *
 * numbers_bench.h - shared by the parts of numbers_bench.
 */
#ifndef ASF_BENCH_NUMBERS_BENCH_H
#define ASF_BENCH_NUMBERS_BENCH_H

#include <cstdint>
#include <string>
#include <vector>

// The numbers that a benchmark writes, one a line, into a new file.
struct numbers {
    std::string name;
    std::vector<std::int64_t> integers; // these,
    std::vector<double> reals;          // or these
};

struct writer {
    std::string name;
    void (*integers)(const std::string &path, const std::vector<std::int64_t> &values);
    void (*reals)(const std::string &path, const std::vector<double> &values);
    bool shortest; // prints the fewest digits that read back as the same number
};

std::vector<writer> writers();
std::vector<writer> fmt_writers();
std::vector<writer> fast_io_writers();

// A reader's result: the sums of both number columns of a table, whose rows have an integer, a text and a
// double.
struct sums {
    std::int64_t integers = 0;
    double reals = 0;
    std::int64_t rows = 0;
    bool operator==(const sums &) const = default;
};
struct column_reader {
    std::string name;
    sums (*read)(const std::string &path, std::int64_t rows);
};
std::vector<column_reader> column_readers();

#endif
