// SPDX-License-Identifier: MIT
//
// count_keys_plain.cpp - counts the lines of a TSV by the key in the first column, and sums up the second
// column, by the standard library alone.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <unordered_map>

int main(int argc, char **argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s FILE\n", argv[0]);
        return 2;
    }
    struct total {
        long lines = 0, sum = 0;
    };
    std::unordered_map<std::string, total> totals;
    std::ifstream in(argv[1]);
    if (!in) {
        std::perror(argv[1]);
        return 1;
    }
    for (std::string line; std::getline(in, line);) {
        std::size_t tab = line.find('\t');
        total &t = totals[line.substr(0, tab)];
        t.lines++;
        if (tab != line.npos)
            t.sum += std::strtol(line.c_str() + tab + 1, nullptr, 10);
    }
    if (in.bad()) {
        std::perror(argv[1]);
        return 1;
    }
    for (const auto &[key, t] : std::map(totals.begin(), totals.end()))
        std::printf("%s\t%ld\t%ld\n", key.c_str(), t.lines, t.sum);
    return std::fclose(stdout) == 0 ? 0 : 1;
}
