// SPDX-License-Identifier: MIT
//
// capnp.cpp - the record by Cap'n Proto: set field by field, read field by field
// out of the message.
#include <cstring>
#include <memory>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <capnp/serialize.h>

#include "record.capnp.h"
#pragma GCC diagnostic pop

#include "peers.h"

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
    static auto words_of(const void *m, size_t n) {
        return kj::arrayPtr(static_cast<const capnp::word *>(m), n / sizeof(capnp::word));
    }
    double view(const void *m, size_t n) const {
        capnp::FlatArrayMessageReader reader(words_of(m, n));
        auto h = reader.getRoot<bench::capn::Head>();
        auto all = h.getItems();
        if (all.size() != head.count)
            exit(1);
        return sum_of(h.getTime(), head.count ? all[head.count - 1].getValue() : 0);
    }
    double receive(const void *m, size_t n) {
        capnp::FlatArrayMessageReader reader(words_of(m, n));
        auto h = reader.getRoot<bench::capn::Head>();
        auto all = h.getItems();
        if (all.size() != head.count)
            exit(1);
        items.resize(head.count);
        for (uint32_t i = 0; i < head.count; i++) {
            auto item = all[i];
            items[i] = {item.getId(),
                        item.getWeight(),
                        item.getValue(),
                        item.getStamp(),
                        {item.getA(), item.getB(), item.getC(), item.getD()}};
        }
        return sum_of(h.getTime(), items.empty() ? 0 : items.back().value);
    }
};

} // namespace

void add_capnp(std::vector<Way> &all) {
    add_way(all, "Cap'n Proto",
            {"each field, into the message", "each field, out of the message",
             "nothing: the last field is asked for"},
            std::make_shared<Side>());
}
