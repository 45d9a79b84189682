/* SPDX-License-Identifier: MIT
 *
 * golden.h - a struct whose layout differs between machines, and the contents of the golden files.
 * Compiled for other machines, and by the test.
 */
#ifndef ASF_GOLDEN_H
#define ASF_GOLDEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <asf/record.h>

enum golden_colour { GOLDEN_RED, GOLDEN_GREEN = 1000, GOLDEN_BLUE = -7 };

struct golden_point {
    char tag;
    double x;
    short y;
};

struct golden {
    char letter;
    long number;            /* 4 or 8 bytes */
    unsigned long positive; /* 4 or 8 bytes */
    double real;            /* aligned to 4 or 8 */
    float narrow;
    bool flag;
    long long large;
    enum golden_colour colour;
    char text[5];
    short shorts[3];
    struct golden_point point;
    struct golden_point points[2];
    char *name;
    char *nothing;
    unsigned short count;
    double *values;
    struct golden_point *track;
    size_t track_count;
};

enum { GOLDEN_RECORDS = 20 };

static const struct asf_record_field golden_point_fields[] = {
    ASF_FIELD(CHAR, struct golden_point, tag),
    ASF_FIELD(FLOAT, struct golden_point, x),
    ASF_FIELD(INT, struct golden_point, y),
};
static const struct asf_record_type golden_point_type =
    ASF_RECORD_TYPE("golden_point", struct golden_point, golden_point_fields);

static const struct asf_record_field golden_fields[] = {
    ASF_FIELD(CHAR, struct golden, letter),
    ASF_FIELD(INT, struct golden, number),
    ASF_FIELD(UINT, struct golden, positive),
    ASF_FIELD(FLOAT, struct golden, real),
    ASF_FIELD(FLOAT, struct golden, narrow),
    ASF_FIELD(BOOL, struct golden, flag),
    ASF_FIELD(INT, struct golden, large),
    ASF_FIELD(ENUM, struct golden, colour),
    ASF_FIELD_ARRAY(CHAR, struct golden, text),
    ASF_FIELD_ARRAY(INT, struct golden, shorts),
    ASF_FIELD_STRUCT(struct golden, point, &golden_point_type),
    ASF_FIELD_STRUCT_ARRAY(struct golden, points, &golden_point_type),
    ASF_FIELD_STRING(struct golden, name),
    ASF_FIELD_STRING(struct golden, nothing),
    ASF_FIELD(UINT, struct golden, count),
    ASF_FIELD_DYNAMIC(FLOAT, struct golden, values, count),
    ASF_FIELD_STRUCT_DYNAMIC(struct golden, track, track_count, &golden_point_type),
    ASF_FIELD(UINT, struct golden, track_count),
};
static const struct asf_record_type golden_type = ASF_RECORD_TYPE("golden", struct golden, golden_fields);

static inline struct golden_point golden_point_of(int i) {
    struct golden_point p = {(char)('a' + i), -1.25 * i, (short)(-300 * i)};
    return p;
}

/* The i-th record; its arrays and strings are static. */
static inline struct golden golden_record(int i) {
    static char name[] = "a name from elsewhere";
    static double values[GOLDEN_RECORDS];
    static struct golden_point track[GOLDEN_RECORDS];
    struct golden g;
    memset(&g, 0, sizeof g);
    for (int j = 0; j < GOLDEN_RECORDS; j++) {
        values[j] = j / 8.0 - 1e100 * (j % 3);
        track[j] = golden_point_of(j + 1);
    }
    g.letter = (char)('A' + i);
    g.number = -1000000L * i;
    g.positive = 4000000000UL - (unsigned long)i;
    g.real = i * 3.141592653589793;
    g.narrow = (float)i * -0.1F;
    g.flag = i % 2 == 1;
    g.large = -9000000000000000000LL + i;
    g.colour = i % 3 == 0 ? GOLDEN_BLUE : GOLDEN_GREEN;
    memcpy(g.text, "texts", 5);
    for (int j = 0; j < 3; j++)
        g.shorts[j] = (short)(j * 1000 - i);
    g.point = golden_point_of(i);
    g.points[0] = golden_point_of(1);
    g.points[1] = golden_point_of(2);
    g.name = i % 4 ? name : NULL;
    g.count = (unsigned short)i;
    g.values = i ? values : NULL;
    g.track = track;
    g.track_count = (size_t)(i % 5);
    return g;
}

#endif
