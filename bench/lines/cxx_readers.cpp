/* SPDX-License-Identifier: MIT
 *
 * cxx_readers.cpp - how C++ programs read lines, the fields of lines, and numbers: by the standard library,
 * by hand over mmap, and by <asf/asf.hpp> and <asf/streams.hpp>.
 */
#include "lines_bench.h"

#include <bit>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>

#include <asf/asf.hpp>
#include <asf/streams.hpp>

namespace {

template <auto read> tally timed(const input &from, double *nanoseconds) {
    const double start = cpu_now();
    const tally found = read(from);
    *nanoseconds = cpu_now() - start;
    return found;
}

// Calls use() for each field of a text, found by memchr.
template <class Use> void each_piece(std::string_view text, char separator, Use use) {
    const char *p = text.data(), *end = p + text.size();
    while (const void *stop = memchr(p, separator, static_cast<size_t>(end - p))) {
        use(std::string_view(p, static_cast<size_t>(static_cast<const char *>(stop) - p)));
        p = static_cast<const char *>(stop) + 1;
    }
    use(std::string_view(p, static_cast<size_t>(end - p)));
}

template <class Use> void each_line(std::string_view text, Use use) {
    if (text.ends_with('\n'))
        text.remove_suffix(1);
    each_piece(text, '\n', use);
}

// --- fields of the lines of a file -----------------------------------------------------

// getline finds no empty field at the end of a line.
tally fields_by_stringstream(const input &from) {
    tally found;
    std::ifstream file(from.path);
    std::istringstream fields;
    for (std::string line, field; std::getline(file, line);) {
        if (line.empty() || line.back() == from.separator)
            found.add(0);
        fields.clear();
        fields.str(line);
        while (std::getline(fields, field, from.separator))
            found.add(field.size());
    }
    return found;
}

tally fields_by_find(const input &from) {
    tally found;
    std::ifstream file(from.path);
    for (std::string line; std::getline(file, line);) {
        size_t at = 0;
        for (size_t stop; (stop = line.find(from.separator, at)) != line.npos; at = stop + 1)
            found.add(stop - at);
        found.add(line.size() - at);
    }
    return found;
}

tally fields_by_memchr(const input &from) {
    tally found;
    const mapped file(from.path);
    each_line(file.text(), [&](std::string_view line) {
        each_piece(line, from.separator, [&](std::string_view field) { found.add(field.size()); });
    });
    return found;
}

tally fields_by_asf(const input &from) {
    tally found;
    asf::stream file(from.path);
    for (std::string_view line : file.lines())
        for (std::string_view field : asf::fields(line, from.separator))
            found.add(field.size());
    return found;
}

// --- numbers: the sum adds the bits of the values -----------------------------------------

void add_number(tally &found, long value) {
    found.add(static_cast<size_t>(value));
}

void add_number(tally &found, double value) {
    found.add(std::bit_cast<uint64_t>(value));
}

template <class Stream, class Number> tally numbers_by(const input &from) {
    tally found;
    Stream file(from.path);
    for (Number value; file >> value;)
        add_number(found, value);
    return found;
}

template <class Number> tally numbers_by_fscanf(const input &from) {
    tally found;
    FILE *file = fopen(from.path.c_str(), "r");
    for (Number value; fscanf(file, std::is_same_v<Number, double> ? "%lf" : "%ld", &value) == 1;)
        add_number(found, value);
    fclose(file);
    return found;
}

template <class Number> tally numbers_by_from_chars(const input &from) {
    tally found;
    const mapped file(from.path);
    each_line(file.text(), [&](std::string_view line) {
        Number value{};
        std::from_chars(line.data(), line.data() + line.size(), value);
        add_number(found, value);
    });
    return found;
}

template <class Number> std::vector<reader> number_readers() {
    return {
        {"std::ifstream >>", timed<numbers_by<std::ifstream, Number>>},
        {"fscanf", timed<numbers_by_fscanf<Number>>},
        {"memchr, from_chars, mmap", timed<numbers_by_from_chars<Number>>},
        {"asf::istream >>", timed<numbers_by<asf::istream, Number>>},
    };
}

tally lines_by_asf(const input &from) {
    tally found;
    asf::stream file(from.path);
    for (std::string_view line : file.lines())
        found.add(line.size());
    return found;
}

} // namespace

reader cxx_line_reader() {
    return {"asf::lines", timed<lines_by_asf>};
}

std::vector<reader> cxx_field_readers() {
    return {
        {"std::getline, istringstream", timed<fields_by_stringstream>},
        {"std::getline, find", timed<fields_by_find>},
        {"memchr, mmap", timed<fields_by_memchr>},
        {"asf::lines, asf::fields", timed<fields_by_asf>},
    };
}

std::vector<reader> integer_readers() {
    return number_readers<long>();
}

std::vector<reader> real_readers() {
    return number_readers<double>();
}
