// SPDX-License-Identifier: MIT
//
// mpi.cpp - the record by MPICH: MPI_Pack and MPI_Unpack of its datatypes.
#include <cstddef>
#include <cstdlib>
#include <memory>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-function-type"
#include <mpi.h>
#pragma GCC diagnostic pop

#include "peers.h"

namespace {

struct Side {
    Head head = {}, back = {};
    MPI_Datatype item = MPI_DATATYPE_NULL, whole = MPI_DATATYPE_NULL;
    std::vector<char> bytes = std::vector<char>(300000);
    std::vector<Item> items = std::vector<Item>(items_of(sizes.back()));
    int length = 0;

    static MPI_Datatype make(std::vector<int> counts, std::vector<MPI_Aint> places,
                             std::vector<MPI_Datatype> types, size_t size) {
        MPI_Datatype plain, sized;
        MPI_Type_create_struct(static_cast<int>(counts.size()), counts.data(), places.data(), types.data(),
                               &plain);
        MPI_Type_create_resized(plain, 0, static_cast<MPI_Aint>(size), &sized);
        MPI_Type_commit(&sized);
        return sized;
    }
    Side() {
        int there;
        MPI_Initialized(&there);
        if (!there)
            MPI_Init(nullptr, nullptr);
        item = make({1, 1, 1, 1, 4},
                    {offsetof(Item, id), offsetof(Item, weight), offsetof(Item, value), offsetof(Item, stamp),
                     offsetof(Item, codes)},
                    {MPI_INT32_T, MPI_FLOAT, MPI_DOUBLE, MPI_INT64_T, MPI_INT16_T}, sizeof(Item));
        whole =
            make({1, 1, 1, 1, 3, 2},
                 {offsetof(Head, sequence), offsetof(Head, time), offsetof(Head, source),
                  offsetof(Head, count), offsetof(Head, scale), offsetof(Head, kind)},
                 {MPI_INT64_T, MPI_DOUBLE, MPI_INT32_T, MPI_UINT32_T, MPI_DOUBLE, MPI_INT32_T}, sizeof(Head));
    }
    size_t encode() {
        length = 0;
        const int room = static_cast<int>(bytes.size());
        MPI_Pack(&head, 1, whole, bytes.data(), room, &length, MPI_COMM_WORLD);
        MPI_Pack(head.items, static_cast<int>(head.count), item, bytes.data(), room, &length, MPI_COMM_WORLD);
        return static_cast<size_t>(length);
    }
    double receive(const void *m, size_t n) {
        int at = 0;
        const int size = static_cast<int>(n);
        MPI_Unpack(m, size, &at, &back, 1, whole, MPI_COMM_WORLD);
        if (back.count != head.count)
            exit(1);
        MPI_Unpack(m, size, &at, items.data(), static_cast<int>(back.count), item, MPI_COMM_WORLD);
        return sum_of(back.time, back.count ? items[back.count - 1].value : 0);
    }
};

} // namespace

void add_mpi(std::vector<Way> &all) {
    auto s = std::make_shared<Side>();
    Way w;
    w.name = "MPICH (MPI_Pack)";
    w.moves = "the bytes, once each way, without the gaps";
    w.prepare = [s](const Head &h) {
        s->head = h;
        s->encode();
    };
    w.encode = [s] { return s->encode(); };
    w.decode = [s] { return s->receive(s->bytes.data(), static_cast<size_t>(s->length)); };
    w.bytes = [s](size_t &n) {
        n = static_cast<size_t>(s->length);
        return s->bytes.data();
    };
    w.receive = [s](const void *m, size_t n) { return s->receive(m, n); };
    all.push_back(w);
}
