/* SPDX-License-Identifier: MIT
 *
 * fmt_writers.cpp - numbers to a file by {fmt}.
 */
#include "numbers_bench.h"

#include <fmt/os.h>

namespace {

template <class Value> void write(const std::string &path, const std::vector<Value> &values) {
    fmt::ostream out = fmt::output_file(path);
    for (const Value value : values)
        out.print("{}\n", value);
}

} // namespace

std::vector<writer> fmt_writers() {
    return {{"fmt::output_file", write<std::int64_t>, write<double>, true}};
}
