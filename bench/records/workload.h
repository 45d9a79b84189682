// SPDX-License-Identifier: MIT
//
// workload.h - the records that are measured: a head of 64 bytes and n structs of
// 32 bytes with mixed fields, 96 bytes to 100 KB in all; and a way of moving them.
#ifndef ASF_RECORDS_WORKLOAD_H
#define ASF_RECORDS_WORKLOAD_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <sys/uio.h>
#include <vector>

#include <asf/asf.h>
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

// A way is right when it gives this back.
inline double sum_of(double time, double last) {
    return time + last;
}
inline double sum_of(const Head *h, const Item *items) {
    return sum_of(h->time, h->count ? items[h->count - 1].value : 0);
}
inline double sum_of(double time, const std::vector<Item> &items) {
    return sum_of(time, items.empty() ? 0 : items.back().value);
}

extern const asf_record_type item_type, head_type;

// What a row moves, table by table.
struct Moves {
    std::string encode, decode, view;
    std::string send = encode;
};

using Pieces = std::vector<iovec>;

// One way of moving a record.  What it cannot do is empty.
struct Way {
    std::string name;
    Moves moves;
    std::function<void(const Head &)> prepare; // the functions that follow are for this record
    std::function<size_t()> encode;            // into memory of its own; the bytes
    std::function<double()> decode;            // into a struct; a sum of what was read
    std::function<double()> view;              // where it lies
    std::function<const Pieces &()> send;      // encode, for the wire
    std::function<double(const void *, size_t)> receive,
        look; // as decode and view, of a message from elsewhere
    // Into a stream and out of one, for those that know streams, until it is left.
    std::function<void(asf_cios *)> put;
    std::function<double(asf_cios *)> get;
    std::function<void()> leave;
};

[[noreturn]] void give_up(const char *what);

// What every side has: the record, and the bytes of its message.
struct Base {
    Head head = {};
    size_t length = 0;
    Pieces pieces = Pieces(1);

    // A message that was read has as many items as it should.
    void expect_items(size_t n) const {
        if (n != head.count)
            give_up("another number of items");
    }
};

// A way by a side, which has encode(), message() and receive(), and, if it can,
// view(), gather(), put(), get() and leave().
template <class Side>
void add_way(std::vector<Way> &all, const std::string &name, const Moves &moves, std::shared_ptr<Side> s) {
    Way w;
    w.name = name;
    w.moves = moves;
    const auto encode = [s] { return s->length = s->encode(); };
    const auto whole = [s]() -> const Pieces & {
        s->pieces[0] = {const_cast<void *>(static_cast<const void *>(s->message())), s->length};
        return s->pieces;
    };
    w.prepare = [s, encode](const Head &h) {
        s->head = h;
        encode();
    };
    w.decode = [s] { return s->receive(s->message(), s->length); };
    w.receive = [s](const void *m, size_t n) { return s->receive(m, n); };
    w.send = whole;
    if (!moves.encode.empty()) {
        w.encode = encode;
        w.send = [encode, whole]() -> const Pieces & {
            encode();
            return whole();
        };
    }
    if constexpr (requires { s->view(s->message(), s->length); }) {
        w.view = [s] { return s->view(s->message(), s->length); };
        w.look = [s](const void *m, size_t n) { return s->view(m, n); };
    }
    if constexpr (requires { s->gather(); })
        w.send = [s]() -> const Pieces & { return s->gather(); };
    if constexpr (requires(asf_cios * stream) { s->put(stream); }) {
        w.put = [s](asf_cios *stream) { s->put(stream); };
        w.get = [s](asf_cios *stream) { return s->get(stream); };
        w.leave = [s] { s->leave(); };
    }
    all.push_back(w);
}

// memcpy, asf, and the libraries that are there; those that are not are named on stderr.
void add_asf(std::vector<Way> &all);
void add_peers(std::vector<Way> &all);

// Nanoseconds of a call: the median of many.
double measure(const std::function<void()> &call, double seconds = 0.01);

#endif
