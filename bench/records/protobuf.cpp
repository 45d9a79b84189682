// SPDX-License-Identifier: MIT
//
// protobuf.cpp - the record by Google's protobuf.
#include <memory>

#include "peers.h"
#include "record.pb.h"

namespace {

struct Side : Base {
    bench::Head out, in;
    std::string bytes;

    size_t encode() {
        out.Clear();
        out.set_sequence(head.sequence);
        out.set_time(head.time);
        out.set_source(head.source);
        for (const double s : head.scale)
            out.add_scale(s);
        out.set_kind(head.kind);
        out.set_state(head.state);
        for (uint32_t i = 0; i < head.count; i++) {
            bench::Item *item = out.add_items();
            item->set_id(head.items[i].id);
            item->set_weight(head.items[i].weight);
            item->set_value(head.items[i].value);
            item->set_stamp(head.items[i].stamp);
            for (const int16_t c : head.items[i].codes)
                item->add_codes(c);
        }
        out.SerializeToString(&bytes);
        return bytes.size();
    }
    const void *message() const { return bytes.data(); }
    double receive(const void *m, size_t n) {
        if (!in.ParseFromArray(m, static_cast<int>(n)))
            give_up("protobuf");
        expect_items(in.items().size());
        return sum_of(in.time(), head.count ? in.items().rbegin()->value() : 0);
    }
};

} // namespace

void add_protobuf(std::vector<Way> &all) {
    add_way(all, "protobuf", {"struct to message, message to bytes", "bytes to message", ""},
            std::make_shared<Side>());
}
