// SPDX-License-Identifier: MIT
//
// main.cpp - the paper's evaluation repeated: encoding, decoding, reading a record in place, conversions,
// round trips; and a summary.
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
            [&w, call](size_t size) {
                const Head head = make_head(items_of(size));
                w.prepare(head);
                if (std::fabs((w.*call)() - sum_of(&head, head.items)) > 1e-3)
                    give_up(w.name.c_str());
                return measure([&] { sink = (w.*call)(); });
            },
            w.moves.*moves);
    }
    end_table();
}

void encoding_table(std::vector<Way> &all) {
    if (!begin_table("Encoding (Figure 7)"))
        return;
    for (Way &w : all)
        if (w.encode)
            add_row(
                w.name,
                [&w](size_t size) {
                    w.prepare(make_head(items_of(size)));
                    return measure([&] { sink = static_cast<double>(w.encode()); });
                },
                w.moves.encode);
    end_table();
}

// --- summary ---------------------------------------------------------------------

struct Of {
    const char *table, *row;
    size_t size;
    double operator()() const { return figure(table, row, size); }
};

void asked(const std::string &what, const char *relation, double limit, double found) {
    const bool met = relation[0] == '<' ? found <= limit : found >= limit;
    printf("| %s | %s %g | %.4g | %s |\n", what.c_str(), relation, limit, found,
           found < 0 ? "not measured"
           : met     ? "yes"
                     : "**no**");
}

double ratio(const Of &a, const Of &b) {
    return a() < 0 || b() < 0 ? -1 : a() / b();
}

void what_it_shows(double plan) {
    const char *looking = "Looking", *alone = "Conversion alone, of a record",
               *trip = "Round trip over a Unix socket, packets", *ours = "asf, same machine, where it lies";
    const std::string other = std::string("asf, other byte order, ") + asf_record_engine();
    printf("\n### What this run shows\n\n| asked | | found | met |\n| --- | ---: | ---: | --- |\n");
    for (const size_t size : {size_t{96}, size_t{102400}})
        asked("received in place and checked, ns, " + std::to_string(size) + " B", "<=", 20,
              figure(looking, "asf, same machine", size));
    for (const auto &[row, where] :
         {std::pair{std::string("asf, other byte order, handed over"), "where it lies"},
          {other, "elsewhere"}})
        for (const size_t size : {size_t{1024}, size_t{10240}, size_t{102400}})
            asked(std::string("other byte order, turned ") + where + ", beside memcpy, " +
                      std::to_string(size) + " B",
                  "<=", size > 100000 ? 1.2 : 2.5,
                  ratio({alone, row.c_str(), size}, {alone, "memcpy", size}));
    asked("other byte order beside a copy by vectors, 102400 B", "<=", 1.2,
          ratio({alone, other.c_str(), 102400}, {alone, "copy by vectors", 102400}));
    asked("round trip of 102400 B beside memcpy at both ends", "<=", 0.85,
          ratio({trip, ours, 102400}, {trip, "memcpy", 102400}));
    const struct {
        const char *name;
        double times;
    } peers[] = {{"FlatBuffers", 1.2},        {"FlatBuffers, where it lies", 1.2},
                 {"Cap'n Proto", 3},          {"Cap'n Proto, where it lies", 3},
                 {"omniORB (CDR)", 4},        {"protobuf", 10},
                 {"XML (printf, expat)", 500}};
    for (const auto &p : peers)
        asked(std::string("round trip of 102400 B, times faster than ") + p.name, ">=", p.times,
              ratio({trip, p.name, 102400}, {trip, ours, 102400}));
    asked("matching and planning 30 fields, ns", "<=", 10000, plan);
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
    printf("# Records\n\nA head of 64 bytes and structs of 32 bytes with mixed fields.  Each figure is the "
           "least of five\n"
           "medians, which were taken in turn with those of the other rows.\n");
    encoding_table(all);
    table_of("Decoding into a struct (Figure 8)", all, &Way::decode, &Moves::decode);
    table_of("Looking at it where it lies, checked", all, &Way::view, &Moves::view);
    conversion_tables(all);
    trip_tables(all);
    const double plan = format_table();
    if (only.empty())
        what_it_shows(plan);
    return 0;
}
