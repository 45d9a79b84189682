// SPDX-License-Identifier: MIT
//
// conversions.cpp - the cost of a conversion alone, interpreted and as generated code (Figures 9 and 10), and
// of a field that the reader does not know (Figures 12 and 13).
#include <cmath>
#include <cstdio>
#include <cstring>

#include <asf/record_generator.h>

#include "foreign.h"
#include "ours.h"
#include "tables.h"
#ifdef WITH_XBYAK
#include <asf/record_xbyak.h>
#endif

namespace {

volatile double sink;

// A writer with an additional field before all others.
struct MoreItem {
    int64_t unexpected;
    int32_t id;
    float weight;
    double value;
    int64_t stamp;
    int16_t codes[4];
};
struct MoreHead {
    int64_t unexpected;
    int64_t sequence;
    double time;
    int32_t source;
    uint32_t count;
    MoreItem *items;
    double scale[3];
    int32_t kind, state;
};

// A writer whose longs and doubles have four bytes.
struct ShortItem {
    int32_t id;
    float weight;
    float value;
    int32_t stamp;
    int16_t codes[4];
};
struct ShortHead {
    int32_t sequence;
    float time;
    int32_t source;
    uint32_t count;
    ShortItem *items;
    float scale[3];
    int32_t kind, state;
};

#define ITEM_FIELDS(T)                                                                                       \
    ASF_FIELD(INT, T, id), ASF_FIELD(FLOAT, T, weight), ASF_FIELD(FLOAT, T, value),                          \
        ASF_FIELD(INT, T, stamp), ASF_FIELD_ARRAY(INT, T, codes)
#define HEAD_FIELDS(T, type)                                                                                 \
    ASF_FIELD(INT, T, sequence), ASF_FIELD(FLOAT, T, time), ASF_FIELD(INT, T, source),                       \
        ASF_FIELD(UINT, T, count), ASF_FIELD_STRUCT_DYNAMIC(T, items, count, type),                          \
        ASF_FIELD_ARRAY(FLOAT, T, scale), ASF_FIELD(INT, T, kind), ASF_FIELD(INT, T, state)

const asf_record_field more_item_fields[] = {ASF_FIELD(INT, MoreItem, unexpected), ITEM_FIELDS(MoreItem)};
const asf_record_type more_item = ASF_RECORD_TYPE("item", MoreItem, more_item_fields);
const asf_record_field more_head_fields[] = {ASF_FIELD(INT, MoreHead, unexpected),
                                             HEAD_FIELDS(MoreHead, &more_item)};
const asf_record_type more_head = ASF_RECORD_TYPE("head", MoreHead, more_head_fields);

const asf_record_field short_item_fields[] = {ITEM_FIELDS(ShortItem)};
const asf_record_type short_item = ASF_RECORD_TYPE("item", ShortItem, short_item_fields);
const asf_record_field short_head_fields[] = {HEAD_FIELDS(ShortHead, &short_item)};
const asf_record_type short_head = ASF_RECORD_TYPE("head", ShortHead, short_head_fields);

// A record of such a writer, in this machine's byte order or (`turned`) the other.
template <class WireHead, class WireItem> struct Wire : Ours {
    asf_record_format *wire, *foreign;
    std::vector<WireItem> items;
    asf_record *record = nullptr;

    explicit Wire(const asf_record_type &type, bool turned)
        : wire(declare(type)), foreign(turned ? foreign_of(wire) : nullptr) {}

    void prepare(size_t size) {
        head = make_head(items_of(size));
        items.clear();
        for (uint32_t i = 0; i < head.count; i++) {
            const Item &from = head.items[i];
            WireItem to = {};
            to.id = from.id;
            to.weight = from.weight;
            to.value = static_cast<decltype(to.value)>(from.value);
            to.stamp = static_cast<decltype(to.stamp)>(from.stamp);
            memcpy(to.codes, from.codes, sizeof from.codes);
            items.push_back(to);
        }
        WireHead h = {};
        h.sequence = static_cast<decltype(h.sequence)>(head.sequence);
        h.time = static_cast<decltype(h.time)>(head.time);
        h.source = head.source;
        h.count = head.count;
        h.items = items.data();
        for (int i = 0; i < 3; i++)
            h.scale[i] = static_cast<std::remove_reference_t<decltype(h.scale[0])>>(head.scale[i]);
        h.kind = head.kind;
        h.state = head.state;
        length = encode_as(wire, &h);
        if (foreign)
            make_foreign(message(), foreign);
        record = take(message(), length);
        if (std::fabs(view_of(record) - sum_of(&head, head.items)) > 1e-3)
            give_up("a wrong value");
    }
    double convert_alone(size_t size) {
        prepare(size);
        return measure([&] { sink = view_of(record); });
    }
    double receive_whole(size_t size) {
        prepare(size);
        return measure([&] { sink = view(message(), length); });
    }
};
using Same = Wire<Head, Item>;
using More = Wire<MoreHead, MoreItem>;
using Short = Wire<ShortHead, ShortItem>;

// Enables generated code; returns false if there is no generator.
bool generate() {
#ifdef WITH_XBYAK
    return asf_record_generate_xbyak() == 0;
#else
    return false;
#endif
}

// Adds a row for an engine: "" is the best one, "generated" the best one with code made at run time.
template <class W>
void row(const std::string &name, const asf_record_type &type, bool turned, double (W::*time)(size_t),
         const char *moves, const std::string &engine = "") {
    const auto w = std::make_shared<W>(type, turned);
    const auto run = [w, time, engine](size_t size) {
        const bool generated = engine == "generated";
        if (generated)
            generate();
        asf_record_use(generated || engine.empty() ? nullptr : engine.c_str());
        const double ns = (*w.*time)(size);
        asf_record_use(nullptr);
        asf_record_generate_with(nullptr);
        return ns;
    };
    add_row(name, run, moves);
}

// Adds the rows of the plain copies, for comparison.
void copies(std::vector<Way> &all) {
    for (Way &w : all)
        if (w.name == "memcpy" || w.name == "copy by vectors")
            add_row(
                w.name,
                [&w](size_t size) {
                    w.prepare(make_head(items_of(size)));
                    return measure([&] { sink = w.decode(); });
                },
                w.moves.decode);
}

// Times conversions in place, by asf_record_take_over.  Each pass needs a new copy of the message.  The time
// to copy and to check it is measured separately and subtracted.
struct Arriving : Same {
    Memory arrived{ROOM};

    Arriving() : Same(head_type, true) {}

    double turn_alone(size_t size) {
        prepare(size);
        const double arrival = measure([&] { arrive(); });
        return measure([&] { sink = view_of(arrive()); }) - arrival;
    }

  private:
    asf_record *arrive() {
        asf_record *r;
        memcpy(arrived.start(), message(), length);
        if (asf_record_take_over(reader, arrived.start(), length, &r) != 1)
            give_up("take over");
        return r;
    }
};

// Adds a row for each engine that this CPU has.
template <class W>
void by_each_engine(const std::string &name, const asf_record_type &type, const char *moves) {
    for (const char *const *e = asf_record_engines(); *e; e++)
        if (asf_record_use(*e) == 0)
            row<W>(name + *e, type, true, &W::convert_alone, moves, *e);
    asf_record_use(nullptr);
}

} // namespace

void conversion_tables(std::vector<Way> &all) {
    if (begin_table("Conversion alone, of a record that has been checked (Figure 9)")) {
        copies(all);
        by_each_engine<Same>("asf, other byte order, ", head_type, "the bytes, once, each turned");
        const auto arriving = std::make_shared<Arriving>();
        add_row(
            "asf, other byte order, handed over",
            [arriving](size_t size) { return arriving->turn_alone(size); }, "each byte turned, where it is");
        end_table();
    }
    if (begin_table("Conversion alone, of a 32-bit machine of the other byte order (Figures 9 and 10)")) {
        const char *moves = "the bytes, once, each turned, longs and reals widened";
        by_each_engine<Short>("asf, ", short_head, moves);
        if (generate())
            row<Short>("asf, generated code", short_head, true, &Short::convert_alone, moves, "generated");
        else
            fprintf(
                stderr,
                "records: generated code is left out: libxbyak-dev was not installed when this was built\n");
        end_table();
    }
    if (begin_table("An unexpected field before the others, other byte order (Figure 12)")) {
        row<Same>("asf, without", head_type, true, &Same::receive_whole, "the bytes, once, each turned");
        row<More>("asf, with", more_head, true, &More::receive_whole, "the fields, once, each turned");
        end_table();
    }
    if (begin_table("An unexpected field before the others, same machine (Figure 13)")) {
        row<Same>("asf, without", head_type, false, &Same::receive_whole, "nothing");
        row<More>("asf, with", more_head, false, &More::receive_whole, "the fields, once");
        end_table();
    }
}
