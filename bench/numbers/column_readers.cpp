/* SPDX-License-Identifier: MIT
 *
 * column_readers.cpp - two columns of a table, an integer and a double, by asf and by its alternatives.
 */
#include "numbers_bench.h"

#include <asf/asf.hpp>

#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

sums sum_of(const std::vector<std::int64_t> &integers, const std::vector<double> &reals, std::int64_t rows) {
    sums found;
    found.rows = rows;
    for (std::size_t i = 0; i < static_cast<std::size_t>(rows); i++) {
        found.integers += integers[i];
        found.reals += reals[i];
    }
    return found;
}

struct table {
    explicit table(std::int64_t rows) : integers(static_cast<std::size_t>(rows)), reals(integers.size()) {}
    std::vector<std::int64_t> integers;
    std::vector<double> reals;
};

sums by_scan_columns(const std::string &path, std::int64_t rows) {
    table to(rows);
    asf_cios *in = asf_sopen(path.c_str(), O_RDONLY, 0, nullptr);
    const asf_column columns[] = {{0, ASF_INT64, to.integers.data()}, {2, ASF_DOUBLE, to.reals.data()}};
    const std::int64_t got = asf_get_columns(in, '\t', columns, 2, rows);
    asf_sclose(in);
    return sum_of(to.integers, to.reals, got);
}

sums by_columns(const std::string &path, std::int64_t) {
    asf::stream in(path);
    const auto [integers, reals] = asf::columns<std::int64_t, double>(in, {0, 2});
    return sum_of(integers, reals, static_cast<std::int64_t>(integers.size()));
}

// Parses both fields of a line; returns whether both are numbers.
bool read_line(std::string_view line, std::int64_t &integer, double &real) {
    const std::size_t first = line.find('\t'), second = line.find('\t', first + 1);
    const char *end = line.data() + line.size();
    return std::from_chars(line.data(), line.data() + first, integer).ec == std::errc() &&
           std::from_chars(line.data() + second + 1, end, real).ec == std::errc();
}

sums by_from_chars(const std::string &path, std::int64_t rows) {
    table to(rows);
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status;
    fstat(fd, &status);
    const auto size = static_cast<std::size_t>(status.st_size);
    void *map = mmap(nullptr, size, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
    close(fd);
    std::string_view left(static_cast<const char *>(map), size);
    std::size_t row = 0;
    for (std::size_t end; (end = left.find('\n')) != left.npos; left.remove_prefix(end + 1), row++)
        if (!read_line(left.substr(0, end), to.integers[row], to.reals[row]))
            break;
    munmap(map, size);
    return sum_of(to.integers, to.reals, static_cast<std::int64_t>(row));
}

sums by_getline(const std::string &path, std::int64_t rows) {
    table to(rows);
    std::ifstream in(path);
    std::size_t row = 0;
    for (std::string line; std::getline(in, line); row++)
        if (!read_line(line, to.integers[row], to.reals[row]))
            break;
    return sum_of(to.integers, to.reals, static_cast<std::int64_t>(row));
}

sums by_fscanf(const std::string &path, std::int64_t rows) {
    table to(rows);
    FILE *in = fopen(path.c_str(), "r");
    std::size_t row = 0;
    while (fscanf(in, "%" SCNd64 "%*s%lf", &to.integers[row], &to.reals[row]) == 2 &&
           ++row < to.integers.size())
        continue;
    fclose(in);
    return sum_of(to.integers, to.reals, static_cast<std::int64_t>(row));
}

} // namespace

std::vector<column_reader> column_readers() {
    return {{"std::getline, std::from_chars", by_getline},
            {"mmap, std::from_chars", by_from_chars},
            {"fscanf", by_fscanf},
            {"asf_get_columns", by_scan_columns},
            {"asf::columns", by_columns}};
}
