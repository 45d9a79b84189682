// SPDX-License-Identifier: MIT
//
// flatbuffers.cpp - the record by FlatBuffers, its items as structs; read in place after the verifier has
// accepted it, and copied from it.
#include <cstring>
#include <memory>

#include "peers.h"
#include "record_generated.h"

namespace {

struct Side : Base {
    flatbuffers::FlatBufferBuilder builder{200000};
    std::vector<::Item> items;

    size_t encode() {
        builder.Clear();
        static_assert(sizeof(bench::flat::Item) == sizeof(::Item));
        const auto all = builder.CreateVectorOfStructs(
            reinterpret_cast<const bench::flat::Item *>(head.items), head.count);
        const bench::flat::Scale scale(head.scale[0], head.scale[1], head.scale[2]);
        builder.Finish(bench::flat::CreateHead(builder, head.sequence, head.time, head.source, all, &scale,
                                               head.kind, head.state));
        return builder.GetSize();
    }
    const void *message() const { return builder.GetBufferPointer(); }
    const bench::flat::Head *verified(const void *m, size_t n) const {
        flatbuffers::Verifier v(static_cast<const uint8_t *>(m), n);
        if (!bench::flat::VerifyHeadBuffer(v))
            give_up("FlatBuffers' verifier");
        const bench::flat::Head *h = bench::flat::GetHead(m);
        expect_items(h->items()->size());
        return h;
    }
    double view(const void *m, size_t n) const {
        const bench::flat::Head *h = verified(m, n);
        return sum_of(h->time(), head.count ? h->items()->Get(head.count - 1)->value() : 0);
    }
    // Copies into a struct of the program, as the other rows do.
    double receive(const void *m, size_t n) {
        const bench::flat::Head *h = verified(m, n);
        items.resize(head.count);
        memcpy(items.data(), h->items()->Data(), head.count * sizeof(::Item));
        return sum_of(h->time(), items);
    }
};

} // namespace

void add_flatbuffers(std::vector<Way> &all) {
    add_way(all, "FlatBuffers", {"the bytes, once", "the bytes, once", "nothing"}, std::make_shared<Side>());
}
