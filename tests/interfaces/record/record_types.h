// SPDX-License-Identifier: MIT
//
// record_types.h - structs that the tests of records read and write.
#ifndef ASF_RECORD_TYPES_H
#define ASF_RECORD_TYPES_H

#include <cerrno>
#include <cstdint>
#include <fcntl.h>

#include <asf/record.h>

namespace record {

struct point {
    double x;
    double y;
};

enum colour { RED, GREEN, BLUE = -5 };

struct sample {
    int32_t id;
    bool ready;
    char code[3];
    double v[3];
    enum colour colour;
    struct point at;
    const char *name;
    uint16_t count;
    float *values;
    struct point *track;
    int64_t track_count;
};

inline const asf_record_field point_fields[] = {
    ASF_FIELD(FLOAT, struct point, x),
    ASF_FIELD(FLOAT, struct point, y),
};
inline const asf_record_type point_type = ASF_RECORD_TYPE("point", struct point, point_fields);

inline const asf_record_field sample_fields[] = {
    ASF_FIELD(INT, struct sample, id),
    ASF_FIELD(BOOL, struct sample, ready),
    ASF_FIELD_ARRAY(CHAR, struct sample, code),
    ASF_FIELD_ARRAY(FLOAT, struct sample, v),
    ASF_FIELD(ENUM, struct sample, colour),
    ASF_FIELD_STRUCT(struct sample, at, &point_type),
    ASF_FIELD_STRING(struct sample, name),
    ASF_FIELD(UINT, struct sample, count),
    ASF_FIELD_DYNAMIC(FLOAT, struct sample, values, count),
    ASF_FIELD_STRUCT_DYNAMIC(struct sample, track, track_count, &point_type),
    ASF_FIELD(INT, struct sample, track_count),
};
inline const asf_record_type sample_type = ASF_RECORD_TYPE("sample", struct sample, sample_fields);

} // namespace record
#endif
