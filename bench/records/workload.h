// SPDX-License-Identifier: MIT
//
// workload.h - the records that are measured: a head of 64 bytes and n structs of
// 32 bytes with mixed fields, 96 bytes to 100 KB in all.
#ifndef ASF_RECORDS_WORKLOAD_H
#define ASF_RECORDS_WORKLOAD_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <asf/record.h>

struct Item {
    int32_t id;
    float weight;
    double value;
    int64_t stamp;
    int16_t codes[4];
};

struct Head {
    int64_t sequence;
    double time;
    int32_t source;
    uint32_t count;
    struct Item *items;
    double scale[3];
    int32_t kind, state;
};

static_assert(sizeof(Item) == 32 && sizeof(Head) == 72 - 8, "the sizes of the tables");

// Bytes of a record in the tables' columns.
inline const std::vector<size_t> sizes = {96, 1024, 10240, 102400};

inline uint32_t items_of(size_t size) {
    return static_cast<uint32_t>((size - sizeof(Head)) / sizeof(Item));
}

// A record of so many items, which are static.
Head make_head(uint32_t items);

extern const asf_record_type item_type, head_type;

// One way of moving a record.
struct Way {
    std::string name;
    // What the column "moves" says.
    std::string moves;
    // Prepare for a size; the functions that follow are for it.
    std::function<void(const Head &)> prepare;
    std::function<size_t()> encode;              // into memory of its own; the bytes
    std::function<double()> decode;              // into a struct, or read where it is; a sum of what was read
    std::function<double()> view;                // only where that is possible
    std::function<const void *(size_t &)> bytes; // of the encoded message
    std::function<double(const void *, size_t)> receive; // the same as decode, of a message from elsewhere
};

// The libraries that are there; those that are not are named on stderr.
std::vector<Way> ways();
void add_asf(std::vector<Way> &all);
void add_peers(std::vector<Way> &all);

// Nanoseconds of a call: the median of many.
double measure(const std::function<void()> &call, double seconds = 0.05);

#endif
