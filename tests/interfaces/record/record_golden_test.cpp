// SPDX-License-Identifier: MIT
//
// record_golden_test.cpp - records that other machines have written are read with their original values.
// golden/make makes the files.
#include <algorithm>

#include "golden/golden.h"
#include "record_test.h"

namespace record {
namespace {

void expect_points(const golden_point *a, const golden_point *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        EXPECT_EQ(a[i].tag, b[i].tag);
        EXPECT_EQ(a[i].x, b[i].x);
        EXPECT_EQ(a[i].y, b[i].y);
    }
}

void expect_golden(const golden &g, int i) {
    const golden e = golden_record(i);
    EXPECT_EQ(g.letter, e.letter);
    EXPECT_EQ(g.number, e.number);
    EXPECT_EQ(g.positive, e.positive);
    EXPECT_EQ(g.real, e.real);
    EXPECT_EQ(g.narrow, e.narrow);
    EXPECT_EQ(g.flag, e.flag);
    EXPECT_EQ(g.large, e.large);
    EXPECT_EQ(g.colour, e.colour);
    EXPECT_EQ(memcmp(g.text, e.text, sizeof e.text), 0);
    EXPECT_EQ(memcmp(g.shorts, e.shorts, sizeof e.shorts), 0);
    expect_points(&g.point, &e.point, 1);
    expect_points(g.points, e.points, 2);
    EXPECT_STREQ(g.name ? g.name : "(null)", e.name ? e.name : "(null)");
    EXPECT_EQ(g.nothing, nullptr);
    ASSERT_EQ(g.count, e.count);
    for (int j = 0; j < e.count; j++)
        EXPECT_EQ(g.values[j], e.values[j]);
    ASSERT_EQ(g.track_count, e.track_count);
    expect_points(g.track, e.track, e.track_count);
}

struct Machine {
    const char *name;
    int order;
    int how; // how the record becomes the program's struct
};

class RecordGolden : public testing::TestWithParam<Machine> {};

TEST_P(RecordGolden, is_read_as_it_was_written) {
    const std::string path = std::string(ASF_GOLDEN) + "/" + GetParam().name + ".records";
    const Format f(golden_type);
    for (const char *const *engine = asf_record_engines(); *engine; engine++) {
        if (asf_record_use(*engine) != 0)
            continue;
        int error;
        asf_cios *stream = asf_sopen(path.c_str(), O_RDONLY, 0, &error);
        ASSERT_NE(stream, nullptr) << path;
        asf_record_reader *r;
        ASSERT_EQ(asf_record_reader_new(stream, nullptr, &r), 0);
        uint64_t count;
        ASSERT_EQ(asf_record_count(r, &count), 0);
        EXPECT_EQ(count, static_cast<uint64_t>(GOLDEN_RECORDS));
        asf_record *record;
        for (int i = 0; i < GOLDEN_RECORDS; i++) {
            ASSERT_EQ(asf_record_next(r, &record), 1) << asf_record_why();
            EXPECT_EQ(asf_record_layout_order(asf_record_layout_of(asf_record_format_of(record))),
                      GetParam().order);
            golden g;
            void *block;
            ASSERT_EQ(asf_record_into(record, f, &g, &block), GetParam().how) << asf_record_why();
            expect_golden(g, i);
            free(block);
            asf_record_value v;
            int64_t large;
            ASSERT_EQ(asf_record_find(record, "large", &v), 0);
            ASSERT_EQ(asf_record_as_int(&v, &large), 0);
            EXPECT_EQ(large, golden_record(i).large);
        }
        EXPECT_EQ(asf_record_next(r, &record), 0);
        asf_record_reader_free(r);
        asf_sclose(stream);
    }
    asf_record_use(nullptr);
}

INSTANTIATE_TEST_SUITE_P(Machines, RecordGolden,
                         testing::Values(Machine{"s390x", 4321, ASF_RECORD_SWAPPED},
                                         Machine{"powerpc64", 4321, ASF_RECORD_SWAPPED},
                                         Machine{"powerpc", 4321, ASF_RECORD_CONVERTED},
                                         Machine{"i686", 1234, ASF_RECORD_CONVERTED},
                                         Machine{"armhf", 1234, ASF_RECORD_CONVERTED},
                                         Machine{"x86-64", 1234, ASF_RECORD_COPIED}),
                         [](const auto &machine) {
                             std::string name = machine.param.name;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

} // namespace
} // namespace record
