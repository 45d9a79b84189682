// SPDX-License-Identifier: MIT
//
// main.cpp - the evaluation of the paper, repeated: encoding, decoding, looking
// at a record where it lies, conversions, round trips; and what it all shows.
#include <cmath>
#include <cstdio>
#include <cstring>

#include "tables.h"

namespace {

volatile double sink;

void table_of(const std::string &title, std::vector<Way> &all, std::function<double()> Way::*call,
              std::string Moves::*moves) {
    if (!begin_table(title))
        return;
    for (Way &w : all) {
        if (!(w.*call))
            continue;
        add_row(
            w.name,
            [&](size_t size) {
                const Head head = make_head(items_of(size));
                w.prepare(head);
                if (std::fabs((w.*call)() - sum_of(&head, head.items)) > 1e-3)
                    give_up(w.name.c_str());
                return measure([&] { sink = (w.*call)(); });
            },
            w.moves.*moves);
    }
}

void encoding_table(std::vector<Way> &all) {
    if (!begin_table("Encoding (Figure 7)"))
        return;
    for (Way &w : all)
        if (w.encode)
            add_row(
                w.name,
                [&](size_t size) {
                    w.prepare(make_head(items_of(size)));
                    return measure([&] { sink = static_cast<double>(w.encode()); });
                },
                w.moves.encode);
}

} // namespace

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--mpi") == 0)
        return mpi_process();
    if (argc > 2 && strcmp(argv[1], "--only") == 0)
        only = argv[2];
    else if (argc > 1) {
        fprintf(stderr, "usage: bench_records [--only WORDS-OF-A-TITLE]\n");
        return 2;
    }
    std::vector<Way> all;
    add_asf(all);
    add_peers(all);
    printf("## Records\n\nA head of 64 bytes and structs of 32 bytes with mixed fields; medians.\n");
    encoding_table(all);
    table_of("Decoding into a struct (Figure 8)", all, &Way::decode, &Moves::decode);
    table_of("Looking at it where it lies, checked", all, &Way::view, &Moves::view);
    conversion_tables(all);
    trip_tables(all);
    format_table();
    return 0;
}
