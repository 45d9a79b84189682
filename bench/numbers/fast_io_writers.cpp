/* SPDX-License-Identifier: MIT
 *
 * fast_io_writers.cpp - numbers to a file by fast_io.
 */
#include "numbers_bench.h"

#include <fast_io.h>
#include <fast_io_device.h>

namespace {

template <class Value> void write(const std::string &path, const std::vector<Value> &values) {
    fast_io::obuf_file out(path);
    for (const Value value : values)
        fast_io::io::println(out, value);
}

} // namespace

std::vector<writer> fast_io_writers() {
    return {{"fast_io", write<std::int64_t>, write<double>, true}};
}
