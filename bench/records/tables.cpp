// SPDX-License-Identifier: MIT
//
// tables.cpp - prints tables in Markdown, and stores their figures.
#include "tables.h"

#include <cstdio>
#include <map>

namespace {

enum { PASSES = 5 };

struct Row {
    std::string name, moves;
    std::function<double(size_t)> ns;
};

std::vector<Row> rows;
std::string current;
std::map<std::string, std::map<std::string, std::map<size_t, double>>> figures;

} // namespace

std::string only;

bool begin_table(const std::string &title) {
    if (title.find(only) == std::string::npos)
        return false;
    current = title;
    rows.clear();
    return true;
}

void add_row(const std::string &name, const std::function<double(size_t)> &ns, const std::string &moves) {
    rows.push_back({name, moves, ns});
}

static void keep_less(double &figure, double ns) {
    if (figure == 0 || ns < figure)
        figure = ns;
}

static void print_row(const Row &row) {
    printf("| %s |", row.name.c_str());
    for (const size_t size : sizes) {
        const double value = figures[current][row.name][size];
        if (value < 0)
            printf(" - |");
        else
            printf(value < 1000 ? " %.1f |" : " %.0f |", value);
    }
    printf(" %s |\n", row.moves.c_str());
}

// The rows are measured in turn, so that a slow period of the machine does not hit one row alone.
void end_table() {
    for (int pass = 0; pass < PASSES; pass++)
        for (const Row &row : rows)
            for (const size_t size : sizes)
                keep_less(figures[current][row.name][size], row.ns(size));
    printf("\n### %s, ns\n\n| |", current.c_str());
    for (const size_t size : sizes)
        printf(" %zu B |", size);
    printf(" moves |\n| --- | ---: | ---: | ---: | ---: | --- |\n");
    for (const Row &row : rows)
        print_row(row);
    fflush(stdout);
}

double figure(const std::string &title, const std::string &name, size_t size) {
    for (const auto &[of, found] : figures)
        if (of.rfind(title, 0) == 0 && found.count(name))
            return found.at(name).at(size);
    return -1;
}
