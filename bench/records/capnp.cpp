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

struct Side {
    ::Head head = {};
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
    double receive(const void *m, size_t n) {
        capnp::FlatArrayMessageReader reader(
            kj::arrayPtr(static_cast<const capnp::word *>(m), n / sizeof(capnp::word)));
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
    auto s = std::make_shared<Side>();
    Way w;
    w.name = "Cap'n Proto";
    w.moves = "each field, both ways";
    w.prepare = [s](const ::Head &h) {
        s->head = h;
        s->encode();
    };
    w.encode = [s] { return s->encode(); };
    w.decode = [s] { return s->receive(s->words.begin(), s->words.asBytes().size()); };
    w.bytes = [s](size_t &n) {
        n = s->words.asBytes().size();
        return static_cast<const void *>(s->words.begin());
    };
    w.receive = [s](const void *m, size_t n) { return s->receive(m, n); };
    all.push_back(w);
}
