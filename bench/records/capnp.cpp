// SPDX-License-Identifier: MIT
//
// capnp.cpp - the record by Cap'n Proto: its fields are set, and read from the message, one by one.
#include <cstring>
#include <memory>

#include <capnp/serialize.h>

#include "peers.h"
#include "record.capnp.h"

namespace {

struct Side : Base {
    kj::Array<capnp::word> words;
    std::vector<capnp::word> scratch = std::vector<capnp::word>(40000);
    std::vector<::Item> items;

    size_t encode() {
        memset(static_cast<void *>(scratch.data()), 0, 400 + head.count * 40);
        capnp::MallocMessageBuilder message(kj::arrayPtr(scratch.data(), scratch.size()));
        auto h = message.initRoot<bench::capn::Head>();
        h.setSequence(head.sequence);
        h.setTime(head.time);
        h.setSource(head.source);
        h.setX(head.scale[0]);
        h.setY(head.scale[1]);
        h.setZ(head.scale[2]);
        h.setKind(head.kind);
        h.setState(head.state);
        auto all = h.initItems(head.count);
        for (uint32_t i = 0; i < head.count; i++) {
            auto item = all[i];
            const ::Item &from = head.items[i];
            item.setId(from.id);
            item.setWeight(from.weight);
            item.setValue(from.value);
            item.setStamp(from.stamp);
            item.setA(from.codes[0]);
            item.setB(from.codes[1]);
            item.setC(from.codes[2]);
            item.setD(from.codes[3]);
        }
        words = capnp::messageToFlatArray(message);
        return words.asBytes().size();
    }
    const void *message() const { return words.begin(); }
    struct Message {
        capnp::FlatArrayMessageReader reader;
        bench::capn::Head::Reader head;

        Message(const void *m, size_t n)
            : reader(kj::arrayPtr(static_cast<const capnp::word *>(m), n / sizeof(capnp::word))),
              head(reader.getRoot<bench::capn::Head>()) {}
    };
    double view(const void *m, size_t n) const {
        Message in(m, n);
        const auto all = in.head.getItems();
        expect_items(all.size());
        return sum_of(in.head.getTime(), head.count ? all[head.count - 1].getValue() : 0);
    }
    double receive(const void *m, size_t n) {
        Message in(m, n);
        const auto all = in.head.getItems();
        expect_items(all.size());
        items.resize(head.count);
        for (uint32_t i = 0; i < head.count; i++) {
            const auto item = all[i];
            items[i] = {item.getId(),
                        item.getWeight(),
                        item.getValue(),
                        item.getStamp(),
                        {item.getA(), item.getB(), item.getC(), item.getD()}};
        }
        return sum_of(in.head.getTime(), items);
    }
};

} // namespace

void add_capnp(std::vector<Way> &all) {
    add_way(all, "Cap'n Proto",
            {"each field, into the message", "each field, out of the message",
             "nothing: the last field is asked for"},
            std::make_shared<Side>());
}
