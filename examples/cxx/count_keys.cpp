// SPDX-License-Identifier: MIT
//
// count_keys.cpp - count the lines of a TSV by the key in its first column, and sum up the
// second one: lines and fields where they lie, a string made for each new key alone.
#include <charconv>
#include <cstdio>
#include <map>
#include <string>
#include <unordered_map>

#include <asf/asf.hpp>

int main(int argc, char **argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s FILE\n", argv[0]);
        return 2;
    }
    struct total {
        long lines = 0, sum = 0;
    };
    struct hash : std::hash<std::string_view> {
        using is_transparent = void; // a key need not be a string to be looked up
    };
    std::unordered_map<std::string, total, hash, std::equal_to<>> totals;
    try {
        asf::stream in(argv[1]);
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
    } catch (const std::system_error &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    for (const auto &[key, t] : std::map(totals.begin(), totals.end()))
        std::printf("%s\t%ld\t%ld\n", key.c_str(), t.lines, t.sum);
    return std::fclose(stdout) == 0 ? 0 : 1;
}
