// SPDX-License-Identifier: MIT
//
// omniorb.cpp - the record by omniORB: CDR to memory and from it.
#include <cstring>
#include <memory>

#include "peers.h"
#include "record.hh"

namespace {

struct Side : Base {
    bench_orb::Head out, in;
    cdrMemoryStream stream;

    size_t encode() {
        out.sequence_number = head.sequence;
        out.time = head.time;
        out.source = head.source;
        memcpy(out.scale_values, head.scale, sizeof head.scale);
        out.kind = head.kind;
        out.state = head.state;
        out.item_values.length(head.count);
        for (uint32_t i = 0; i < head.count; i++) {
            const ::Item &from = head.items[i];
            bench_orb::Item &to = out.item_values[i];
            to.id = from.id;
            to.weight = from.weight;
            to.value = from.value;
            to.stamp = from.stamp;
            memcpy(to.code_values, from.codes, sizeof from.codes);
        }
        stream.rewindPtrs();
        out >>= stream;
        return stream.bufSize();
    }
    const void *message() const { return stream.bufPtr(); }
    double receive(const void *m, size_t n) {
        cdrMemoryStream from(const_cast<void *>(m), n);
        in <<= from;
        expect_items(in.item_values.length());
        return sum_of(in.time, head.count ? in.item_values[head.count - 1].value : 0);
    }
};

} // namespace

void add_omniorb(std::vector<Way> &all) {
    add_way(all, "omniORB (CDR)", {"struct to struct, each field to bytes", "each field to a struct", ""},
            std::make_shared<Side>());
}
