// SPDX-License-Identifier: MIT
//
// foreign.h - makes the message that a machine of the other byte order would write.
#ifndef ASF_RECORDS_FOREIGN_H
#define ASF_RECORDS_FOREIGN_H

#include <algorithm>
#include <cstring>
#include <string>

#include <asf/record.h>

// Returns the description of the format in the other byte order.
inline std::string foreign_description(const asf_record_format *f) {
    size_t n;
    const void *p = asf_record_describe(f, &n);
    std::string d(static_cast<const char *>(p), n);
    d[5] = static_cast<char>(!d[5]);
    return d;
}

inline void turn(char *p, size_t size) {
    std::reverse(p, p + size);
}

inline void turn_fields(char *base, const asf_record_layout *s);

inline void turn_elements(char *p, const asf_record_member &m, size_t count) {
    for (size_t i = 0; i < count; i++, p += m.size) {
        if (m.layout)
            turn_fields(p, m.layout);
        else
            turn(p, m.size);
    }
}

inline void turn_fields(char *base, const asf_record_layout *s) {
    asf_record_member m;
    for (size_t i = 0; asf_record_layout_field(s, i, &m) == 0; i++)
        if (m.shape != ASF_RECORD_DYNAMIC)
            turn_elements(base + m.offset, m, m.count);
}

// Converts a message to the other byte order.  Works for the workload only, whose one array has structs
// without pointers.
inline void make_foreign(char *message, const asf_record_format *foreign) {
    char *base = message + 16 + 16 * static_cast<size_t>(message[7]);
    const asf_record_layout *s = asf_record_layout_of(foreign);
    asf_record_member m;
    for (size_t i = 0; asf_record_layout_field(s, i, &m) == 0; i++) {
        if (m.shape != ASF_RECORD_DYNAMIC)
            continue;
        asf_record_member counter;
        uint64_t at;
        uint32_t count;
        asf_record_layout_find(s, m.counter, &counter);
        memcpy(&count, base + counter.offset, sizeof count);
        memcpy(&at, base + m.offset, sizeof at);
        turn_elements(base + at, m, count);
        turn(base + m.offset, 8);
    }
    turn_fields(base, s);
    memcpy(message + 16, asf_record_hash(foreign), 16);
}

#endif
