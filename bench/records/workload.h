// SPDX-License-Identifier: MIT
//
// workload.h - the measured records: a head of 64 bytes and n structs of 32 bytes with mixed fields, 96 bytes
// to 100 KB in all; and the interface of the ways that move them.
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

// The size of a record, for each column of the tables.
inline const std::vector<size_t> sizes = {96, 1024, 10240, 102400};

inline uint32_t items_of(size_t size) {
    return static_cast<uint32_t>((size - sizeof(Head)) / sizeof(Item));
}

// make_head: a record of `items` items, which are static.
Head make_head(uint32_t items);

// The checksum that each way must return.
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

// The text of a row's column "moves", for each table.
struct Moves {
    std::string encode, decode, view;
    std::string send = encode;
};

using Pieces = std::vector<iovec>;

// One way of moving a record.  Functions that it does not support are empty.
struct Way {
    std::string name;
    Moves moves;
    std::function<void(const Head &)> prepare; // sets the record for the functions that follow
    std::function<size_t()> encode;            // into the way's own memory; returns the bytes
    std::function<double()> decode;            // into a struct; returns a sum of the values read
    std::function<double()> view;              // reads the message in place; returns a sum
    std::function<const Pieces &()> send;      // encodes; returns the pieces to send
    std::function<double(const void *, size_t)> receive,
        look; // as decode and view, of a received message
    // For ways that support streams: write a record to a stream, read one, and end the use of streams.
    std::function<void(asf_cios *)> put;
    std::function<double(asf_cios *)> get;
    std::function<void()> leave;
};

[[noreturn]] void give_up(const char *what);

// The base of all sides: the record, and the length of its message.
struct Base {
    Head head = {};
    size_t length = 0;
    Pieces pieces = Pieces(1);

    // Fails unless a message had as many items as the record.
    void expect_items(size_t n) const {
        if (n != head.count)
            give_up("another number of items");
    }
};

// add_way: add a way by a side, which has encode(), message() and receive(), and optionally view(), gather(),
// put(), get() and leave().
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

// add_asf: add memcpy and asf.  add_peers: add the installed libraries, and name the missing ones on stderr.
void add_asf(std::vector<Way> &all);
void add_peers(std::vector<Way> &all);

// measure: the nanoseconds of a call: the median of many.
double measure(const std::function<void()> &call, double seconds = 0.01);

#endif
