// SPDX-License-Identifier: MIT
//
// count_keys.cpp - counts the lines of a TSV by the key in the first column, and sums up the second column.
// Lines and fields are read in place, and only a new key is copied to a string.  -j N: uses N threads; 0: one
// for each processor.
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>

#include <asf/parts.hpp>

struct total {
    long lines = 0, sum = 0;
};
struct hash : std::hash<std::string_view> {
    using is_transparent = void; // find() takes a string_view
};
using table = std::unordered_map<std::string, total, hash, std::equal_to<>>;

static void count(asf::stream &in, table &totals) {
    for (std::string_view line : in.lines()) {
        auto field = asf::fields(line, '\t').begin();
        auto found = totals.find(*field);
        if (found == totals.end())
            found = totals.emplace(*field, total()).first;
        found->second.lines++;
        if (++field != std::default_sentinel) {
            long value = 0;
            std::from_chars((*field).data(), (*field).data() + (*field).size(), value);
            found->second.sum += value;
        }
    }
}

// Counts each part in its own table, and adds that table to the totals.
static void count_by_threads(const char *path, unsigned threads, table &totals) {
    std::mutex lock;
    asf::each_part(
        path,
        [&](asf::stream &in, const asf::part &) {
            table found;
            count(in, found);
            const std::lock_guard<std::mutex> guard(lock);
            for (const auto &[key, t] : found) {
                totals[key].lines += t.lines;
                totals[key].sum += t.sum;
            }
        },
        threads);
}

int main(int argc, char **argv) {
    const bool by_threads = argc == 4 && std::strcmp(argv[1], "-j") == 0;
    if (argc != 2 && !by_threads) {
        std::fprintf(stderr, "usage: %s [-j N] FILE\n", argv[0]);
        return 2;
    }
    table totals;
    try {
        if (by_threads) {
            count_by_threads(argv[3], static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10)), totals);
        } else {
            asf::stream in(argv[1]);
            count(in, totals);
        }
    } catch (const std::system_error &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    for (const auto &[key, t] : std::map(totals.begin(), totals.end()))
        std::printf("%s\t%ld\t%ld\n", key.c_str(), t.lines, t.sum);
    return std::fclose(stdout) == 0 ? 0 : 1;
}
