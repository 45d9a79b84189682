// SPDX-License-Identifier: MIT
//
// ours.h - the objects by which asf moves the workload's record: formats, a store of formats, a reader and
// memory for a message.
#ifndef ASF_RECORDS_OURS_H
#define ASF_RECORDS_OURS_H

#include "workload.h"

constexpr size_t ROOM = 300000;

// Memory that is aligned for a record.
class Memory {
  public:
    explicit Memory(size_t bytes) : room(bytes + 64) {}
    char *start() { return room.data() + (-reinterpret_cast<uintptr_t>(room.data()) & 63); }

  private:
    std::vector<char> room;
};

struct Ours : Base {
    asf_record_format *format = nullptr; // the program's
    asf_record_reader *reader = nullptr;
    Memory memory{ROOM};

    Ours();
    char *message() { return memory.start(); }
    // encode_as: encodes the struct at `data` into `memory`; returns the message's bytes.
    size_t encode_as(asf_record_format *f, const void *data);
    asf_record *take(const void *m, size_t n);
    double view_of(asf_record *record);
    double view(const void *m, size_t n) { return view_of(take(m, n)); }
};

// declare: make a format that readers find by its hash.
asf_record_format *declare(const asf_record_type &type);
asf_record_format *foreign_of(const asf_record_format *f);

#endif
