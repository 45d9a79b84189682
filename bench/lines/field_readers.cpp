/* SPDX-License-Identifier: MIT
 *
 * field_readers.cpp - the fields of lines in memory, by libc, C++ and asf.  The lines are found beforehand; a
 * NUL follows each, which strsep and strtok need.
 */
#include "lines_bench.h"

#include <asf/lines.h>
#include <cstring>

namespace {

struct line {
    char *text;
    size_t length;
};

// strsep writes into the text, so each pass has a copy.
std::vector<line> split(std::string &text) {
    std::vector<line> lines;
    for (size_t at = 0, end; at < text.size(); at = end + 1) {
        end = text.find('\n', at);
        text[end] = '\0';
        lines.push_back({text.data() + at, end - at});
    }
    return lines;
}

template <auto read> __attribute__((noinline)) tally pass(const std::vector<line> &lines, char separator) {
    tally found;
    for (const line &each : lines)
        read(found, each, separator);
    return found;
}

template <auto read> tally timed(const input &from, double *nanoseconds) {
    std::string text = from.text;
    const std::vector<line> lines = split(text);
    const double start = cpu_now();
    const tally found = pass<read>(lines, from.separator);
    *nanoseconds = cpu_now() - start;
    return found;
}

void by_strsep(tally &found, const line &from, char separator) {
    const char separators[] = {separator, '\0'};
    char *rest = from.text;
    while (const char *field = strsep(&rest, separators))
        found.add(rest ? static_cast<size_t>(rest - 1 - field) : strlen(field));
}

void by_strcspn(tally &found, const line &from, char separator) {
    const char separators[] = {separator, '\0'};
    for (const char *field = from.text;;) {
        const size_t n = strcspn(field, separators);
        found.add(n);
        if (field[n] == '\0')
            return;
        field += n + 1;
    }
}

// strtok skips empty fields; in the inputs only empty lines have one.
void by_strtok(tally &found, const line &from, char separator) {
    const char separators[] = {separator, '\0'};
    char *state;
    for (char *field = strtok_r(from.text, separators, &state); field;
         field = strtok_r(nullptr, separators, &state))
        found.add(strlen(field));
}

void by_memchr(tally &found, const line &from, char separator) {
    const char *field = from.text, *end = field + from.length;
    while (const void *stop = memchr(field, separator, static_cast<size_t>(end - field))) {
        found.add(static_cast<size_t>(static_cast<const char *>(stop) - field));
        field = static_cast<const char *>(stop) + 1;
    }
    found.add(static_cast<size_t>(end - field));
}

void by_bytes(tally &found, const line &from, char separator) {
    const char *field = from.text, *end = field + from.length;
    for (const char *p = field; p < end; p++) {
        if (*p == separator) {
            found.add(static_cast<size_t>(p - field));
            field = p + 1;
        }
    }
    found.add(static_cast<size_t>(end - field));
}

void by_asf_fields(tally &found, const line &from, char separator) {
    asf_fields fields;
    ssize_t n;
    asf_fields_begin(&fields, from.text, static_cast<ssize_t>(from.length), separator);
    while (asf_fields_next(&fields, &n))
        found.add(static_cast<size_t>(n));
}

} // namespace

std::vector<reader> field_readers() {
    return {
        {"strsep", timed<by_strsep>}, {"strcspn", timed<by_strcspn>},    {"strtok_r", timed<by_strtok>},
        {"memchr", timed<by_memchr>}, {"byte by byte", timed<by_bytes>}, {"asf_fields", timed<by_asf_fields>},
    };
}
