// SPDX-License-Identifier: MIT
//
// record_formats_test.cpp - formats: declaring, describing, parsing and examining them.
#include "record_test.h"

namespace record {
namespace {

int declare(const asf_record_type &type) {
    Format f;
    const int rc = asf_record_declare(&type, f.out());
    EXPECT_EQ(f == nullptr, rc < 0);
    return rc;
}

// Returns the result of a declaration with one field changed.
int declare_with(size_t which, void (*change)(asf_record_field &)) {
    asf_record_field fields[std::size(sample_fields)];
    std::copy(std::begin(sample_fields), std::end(sample_fields), fields);
    change(fields[which]);
    asf_record_type type = sample_type;
    type.fields = fields;
    return declare(type);
}

bool why_names(const char *name) {
    return strstr(asf_record_why(), name) != nullptr;
}

TEST(RecordFormats, tell_what_was_declared) {
    const Format f(sample_type);
    const asf_record_layout *s = asf_record_layout_of(f);
    EXPECT_STREQ(asf_record_layout_name(s), "sample");
    EXPECT_EQ(asf_record_layout_size(s), sizeof(sample));
    EXPECT_EQ(asf_record_layout_order(s), 1234);
    ASSERT_EQ(asf_record_layout_fields(s), std::size(sample_fields));
    for (size_t i = 0; i < std::size(sample_fields); i++) {
        asf_record_member m;
        ASSERT_EQ(asf_record_layout_field(s, i, &m), 0);
        EXPECT_STREQ(m.name, sample_fields[i].name);
        EXPECT_EQ(m.kind, sample_fields[i].kind);
        EXPECT_EQ(m.shape, sample_fields[i].shape);
        EXPECT_EQ(m.offset, sample_fields[i].offset);
        EXPECT_EQ(m.size, sample_fields[i].size);
        EXPECT_EQ(m.count, sample_fields[i].count);
        EXPECT_STREQ(m.counter ? m.counter : "", sample_fields[i].counter ? sample_fields[i].counter : "");
    }
    asf_record_member m;
    EXPECT_EQ(asf_record_layout_field(s, 100, &m), -ENOENT);
    EXPECT_EQ(asf_record_layout_find(s, "nowhere", &m), -ENOENT);
    EXPECT_TRUE(why_names("nowhere"));
    ASSERT_EQ(asf_record_layout_find(s, "at", &m), 0);
    EXPECT_STREQ(asf_record_layout_name(m.layout), "point");
}

TEST(RecordFormats, are_the_same_after_being_described) {
    const Format f(sample_type);
    const Format again(f.description());
    EXPECT_EQ(f.description(), again.description());
    EXPECT_EQ(memcmp(asf_record_hash(f), asf_record_hash(again), 16), 0);
    const Format other(point_type);
    EXPECT_NE(memcmp(asf_record_hash(f), asf_record_hash(other), 16), 0);
}

TEST(RecordFormats, hash_is_that_of_sha256sum) {
    const Format f(sample_type);
    const File file;
    file.put(f.description());
    FILE *p = popen((std::string("sha256sum ") + file.path()).c_str(), "r");
    char sum[65] = "";
    ASSERT_EQ(fscanf(p, "%64s", sum), 1);
    pclose(p);
    std::string own;
    for (int i = 0; i < 16; i++) {
        char hex[3];
        snprintf(hex, sizeof hex, "%02x", asf_record_hash(f)[i]);
        own += hex;
    }
    EXPECT_EQ(std::string(sum).substr(0, 32), own);
}

TEST(RecordFormats, refuse_a_field_without_a_name) {
    EXPECT_EQ(declare_with(0, [](asf_record_field &f) { f.name = ""; }), -EINVAL);
    EXPECT_EQ(declare_with(0, [](asf_record_field &f) { f.name = nullptr; }), -EINVAL);
    EXPECT_EQ(declare_with(0, [](asf_record_field &f) { f.name = "ready"; }), -EINVAL);
    EXPECT_TRUE(why_names("ready"));
}

TEST(RecordFormats, refuse_a_struct_without_fields) {
    asf_record_type type = sample_type;
    type.count = 0;
    EXPECT_EQ(declare(type), -EINVAL);
    EXPECT_STREQ(asf_record_why(), "'sample' has no fields");
}

TEST(RecordFormats, refuse_sizes_that_no_number_has) {
    for (const size_t size : {0, 3, 5, 7, 16, 256})
        for (const size_t which : {0, 1, 3, 4, 7})
            EXPECT_EQ(asf_record_field(sample_fields[which]).size == size ? -EINVAL : [&] {
                asf_record_field fields[std::size(sample_fields)];
                std::copy(std::begin(sample_fields), std::end(sample_fields), fields);
                fields[which].size = size;
                asf_record_type type = sample_type;
                type.fields = fields;
                return declare(type);
            }(), -EINVAL) << size << " " << which;
}

TEST(RecordFormats, refuse_fields_that_overlap_or_stand_outside) {
    EXPECT_EQ(declare_with(3, [](asf_record_field &f) { f.offset -= 1; }), -EINVAL);
    EXPECT_TRUE(why_names("v"));
    EXPECT_EQ(declare_with(3, [](asf_record_field &f) { f.count = 4; }), -EINVAL);
    EXPECT_EQ(declare_with(10, [](asf_record_field &f) { f.offset = sizeof(sample) - 4; }), -EINVAL);
    EXPECT_EQ(declare_with(0, [](asf_record_field &f) { f.offset = SIZE_MAX; }), -EINVAL);
    EXPECT_EQ(declare_with(3, [](asf_record_field &f) { f.count = SIZE_MAX; }), -EINVAL);
    EXPECT_EQ(declare_with(3, [](asf_record_field &f) { f.count = 0; }), -EINVAL);
}

TEST(RecordFormats, refuse_counters_that_do_not_count) {
    EXPECT_EQ(declare_with(8, [](asf_record_field &f) { f.counter = "nowhere"; }), -EINVAL);
    EXPECT_TRUE(why_names("values"));
    EXPECT_EQ(declare_with(8, [](asf_record_field &f) { f.counter = nullptr; }), -EINVAL);
    EXPECT_EQ(declare_with(8, [](asf_record_field &f) { f.counter = "at"; }), -EINVAL);
    EXPECT_EQ(declare_with(8, [](asf_record_field &f) { f.counter = "v"; }), -EINVAL);
    EXPECT_EQ(declare_with(8, [](asf_record_field &f) { f.counter = "values"; }), -EINVAL);
}

TEST(RecordFormats, refuse_structs_that_are_none) {
    EXPECT_EQ(declare_with(5, [](asf_record_field &f) { f.type = nullptr; }), -EINVAL);
    EXPECT_EQ(declare_with(5, [](asf_record_field &f) { f.size = 8; }), -EINVAL);
    EXPECT_EQ(declare_with(0, [](asf_record_field &f) { f.kind = static_cast<asf_record_kind>(15); }),
              -EINVAL);
    EXPECT_EQ(declare_with(0, [](asf_record_field &f) { f.shape = static_cast<asf_record_shape>(3); }),
              -EINVAL);
}

TEST(RecordFormats, refuse_what_is_nested_too_deeply_or_in_itself) {
    std::vector<asf_record_field> fields(17);
    std::vector<asf_record_type> types(17);
    for (size_t i = 0; i < 17; i++) {
        fields[i] = {"inner",
                     i ? ASF_RECORD_STRUCT : ASF_RECORD_INT,
                     ASF_RECORD_SINGLE,
                     0,
                     4,
                     1,
                     nullptr,
                     i ? &types[i - 1] : nullptr,
                     nullptr,
                     0};
        types[i] = {"level", 4, 4, &fields[i], 1};
    }
    EXPECT_EQ(declare(types[15]), 0);
    EXPECT_EQ(declare(types[16]), -E2BIG);
    fields[3].type = &types[5];
    EXPECT_EQ(declare(types[5]), -E2BIG);
}

TEST(RecordFormats, take_as_many_fields_as_are_allowed) {
    std::vector<std::string> names;
    std::vector<asf_record_field> fields;
    for (size_t i = 0; i < 4097; i++)
        names.push_back("f" + std::to_string(i));
    for (size_t i = 0; i < 4097; i++)
        fields.push_back(
            {names[i].c_str(), ASF_RECORD_INT, ASF_RECORD_SINGLE, i, 1, 1, nullptr, nullptr, nullptr, 0});
    const asf_record_type small = {"many", 2000, 1, fields.data(), 2000};
    const asf_record_type many = {"many", 4097, 1, fields.data(), 4097};
    EXPECT_EQ(declare(small), 0);
    EXPECT_EQ(declare(many), -E2BIG);
}

TEST(RecordFormats, take_structs_as_large_as_is_allowed) {
    const asf_record_field field = {"n", ASF_RECORD_INT, ASF_RECORD_SINGLE, 0,       1,
                                    1,   nullptr,        nullptr,           nullptr, 0};
    const size_t most = size_t{1} << 24;
    EXPECT_EQ(declare({"large", most, 1, &field, 1}), 0);
    EXPECT_EQ(declare({"large", most + 1, 1, &field, 1}), -E2BIG);
    EXPECT_EQ(declare({"large", size_t{1} << 32 | 1, 1, &field, 1}), -E2BIG);
    EXPECT_EQ(declare({"aligned", 128, 128, &field, 1}), -EINVAL);
}

} // namespace
} // namespace record
