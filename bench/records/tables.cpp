// SPDX-License-Identifier: MIT
//
// tables.cpp - tables in Markdown, and what they have shown.
#include "tables.h"

#include <cstdio>
#include <map>

std::string only;
static std::string current;
static std::map<std::string, std::map<std::string, std::map<size_t, double>>> figures;

bool begin_table(const std::string &title) {
    if (title.find(only) == std::string::npos)
        return false;
    current = title;
    printf("\n### %s, ns\n\n| |", title.c_str());
    for (const size_t size : sizes)
        printf(" %zu B |", size);
    printf(" moves |\n| --- | ---: | ---: | ---: | ---: | --- |\n");
    return true;
}

void add_row(const std::string &name, const std::function<double(size_t)> &ns, const std::string &moves) {
    printf("| %s |", name.c_str());
    for (const size_t size : sizes) {
        const double value = figures[current][name][size] = ns(size);
        if (value < 0)
            printf(" - |");
        else
            printf(value < 1000 ? " %.1f |" : " %.0f |", value);
        fflush(stdout);
    }
    printf(" %s |\n", moves.c_str());
    fflush(stdout);
}

double figure(const std::string &title, const std::string &name, size_t size) {
    for (const auto &[of, rows] : figures)
        if (of.rfind(title, 0) == 0 && rows.count(name))
            return rows.at(name).at(size);
    return -1;
}
