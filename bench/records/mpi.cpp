// SPDX-License-Identifier: MIT
//
// mpi.cpp - the record by MPICH: MPI_Pack and MPI_Unpack of its datatypes, and the
// same datatypes sent between two processes of mpiexec.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-function-type"
#include <mpi.h>
#pragma GCC diagnostic pop

#include "peers.h"
#include "tables.h"

namespace {

struct Side : Base {
    Head back = {};
    MPI_Datatype item = MPI_DATATYPE_NULL, whole = MPI_DATATYPE_NULL;
    std::vector<char> bytes = std::vector<char>(300000);
    std::vector<Item> items = std::vector<Item>(items_of(sizes.back()));

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
        int at = 0;
        const int room = static_cast<int>(bytes.size());
        MPI_Pack(&head, 1, whole, bytes.data(), room, &at, MPI_COMM_WORLD);
        MPI_Pack(head.items, static_cast<int>(head.count), item, bytes.data(), room, &at, MPI_COMM_WORLD);
        return static_cast<size_t>(at);
    }
    const void *message() const { return bytes.data(); }
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

// One datatype for the record in place: the addresses of the head and the items.
MPI_Datatype placed(const Side &s, const Head &head, const Item *items) {
    const int counts[] = {1, static_cast<int>(s.head.count)};
    MPI_Aint places[2];
    const MPI_Datatype types[] = {s.whole, s.item};
    MPI_Datatype made;
    MPI_Get_address(&head, &places[0]);
    MPI_Get_address(items, &places[1]);
    MPI_Type_create_struct(2, counts, places, types, &made);
    MPI_Type_commit(&made);
    return made;
}

enum { RECORD, END };

// The first process sends and receives; the other answers until the first sends END.
double round_trip(Side &s, bool first) {
    const int other = first;
    MPI_Datatype out = placed(s, s.head, s.head.items), in = placed(s, s.back, s.items.data());
    const auto send = [&] { MPI_Send(MPI_BOTTOM, 1, out, other, RECORD, MPI_COMM_WORLD); };
    const auto receive = [&] {
        MPI_Status status;
        MPI_Recv(MPI_BOTTOM, 1, in, other, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        return status.MPI_TAG;
    };
    double ns = 0;
    if (first) {
        ns = measure([&] { send(), receive(); }, 0.15);
        if (sum_of(&s.back, s.items.data()) != sum_of(&s.head, s.head.items))
            exit(1);
        MPI_Send(nullptr, 0, MPI_BYTE, other, END, MPI_COMM_WORLD);
    }
    while (!first && receive() == RECORD)
        send();
    MPI_Type_free(&out);
    MPI_Type_free(&in);
    return ns;
}

} // namespace

void add_mpi(std::vector<Way> &all) {
    add_way(all, "MPICH (MPI_Pack)",
            {"the bytes, once, without the gaps", "the bytes, once, without the gaps", ""},
            std::make_shared<Side>());
}

int mpi_process() {
    Side s;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (const size_t size : sizes) {
        s.head = make_head(items_of(size));
        const double ns = round_trip(s, rank == 0);
        if (rank == 0)
            printf("%f\n", ns);
    }
    MPI_Finalize();
    return 0;
}
