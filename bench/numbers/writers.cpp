/* SPDX-License-Identifier: MIT
 *
 * writers.cpp - numbers to a file by asf, by libc and by the standard library of C++.
 */
#include "numbers_bench.h"

#include <asf/asf.hpp>
#include <asf/numbers.h>
#include <asf/streams.hpp>

#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <fstream>

namespace {

template <class Put> void by_asf(const std::string &path, Put put) {
    asf_cios *out = asf_sopen(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644, nullptr);
    put(out);
    asf_sclose(out);
}

void asf_integers(const std::string &path, const std::vector<std::int64_t> &values) {
    by_asf(path, [&](asf_cios *out) {
        for (const std::int64_t value : values) {
            asf_put_int(out, value);
            asf_put_text(out, "\n", 1);
        }
    });
}

void asf_reals(const std::string &path, const std::vector<double> &values) {
    by_asf(path, [&](asf_cios *out) {
        for (const double value : values) {
            asf_put_double(out, value);
            asf_put_text(out, "\n", 1);
        }
    });
}

template <class Value> void print(const std::string &path, const std::vector<Value> &values) {
    asf::stream out(path, O_WRONLY | O_CREAT | O_TRUNC);
    for (const Value value : values)
        print(out, value, '\n');
    out.close();
}

template <class Value> void print_ostream(const std::string &path, const std::vector<Value> &values) {
    asf::ostream out(path);
    for (const Value value : values)
        print(out, value, '\n');
}

template <class Stream, class Value> void insert(const std::string &path, const std::vector<Value> &values) {
    Stream out(path);
    for (const Value value : values)
        out << value << '\n';
}

template <class Value> void by_fprintf(const std::string &path, const std::vector<Value> &values) {
    FILE *out = fopen(path.c_str(), "w");
    for (const Value value : values)
        if constexpr (std::is_same_v<Value, double>)
            fprintf(out, "%g\n", value);
        else
            fprintf(out, "%" PRId64 "\n", value);
    fclose(out);
}

template <class Value> void to_chars(const std::string &path, const std::vector<Value> &values) {
    FILE *out = fopen(path.c_str(), "w");
    for (const Value value : values) {
        char text[64], *end = std::to_chars(text, text + sizeof text, value).ptr;
        *end++ = '\n';
        fwrite_unlocked(text, 1, static_cast<std::size_t>(end - text), out);
    }
    fclose(out);
}

} // namespace

std::vector<writer> writers() {
    return {{"fprintf", by_fprintf<std::int64_t>, by_fprintf<double>, false},
            {"std::ofstream <<", insert<std::ofstream>, insert<std::ofstream>, false},
            {"std::to_chars, fwrite", to_chars<std::int64_t>, to_chars<double>, true},
            {"asf_put", asf_integers, asf_reals, true},
            {"asf::print, asf::stream", print<std::int64_t>, print<double>, true},
            {"asf::print, asf::ostream", print_ostream<std::int64_t>, print_ostream<double>, true},
            {"asf::ostream <<", insert<asf::ostream>, insert<asf::ostream>, false}};
}
