// SPDX-License-Identifier: MIT
//
// record_fuzz.cpp - arbitrary bytes as a stream of records. The target reads the stream to its end, examines
// every field, views and copies every record as structs of this program, and seeks. It also passes possible
// messages to asf_record_take_over, which converts them in place.
#include <asf/record.h>
#include <asf/stream.h>

#include "../interfaces/record/record_types.h"
#include "fuzz.h"

namespace {

// A stream on bytes in memory.
struct Bytes {
    const uint8_t *all;
    size_t size;
};

struct Place {
    Bytes bytes;
    size_t at;
};

ssize_t get(asf_cios *c, void *to, size_t n) {
    auto *p = static_cast<Place *>(asf_stream_data(c));
    n = n < p->bytes.size - p->at ? n : p->bytes.size - p->at;
    memcpy(to, p->bytes.all + p->at, n);
    p->at += n;
    return static_cast<ssize_t>(n);
}

int64_t seek(asf_cios *c, int64_t offset, int whence) {
    auto *p = static_cast<Place *>(asf_stream_data(c));
    const auto size = static_cast<int64_t>(p->bytes.size);
    const int64_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? static_cast<int64_t>(p->at) : size;
    if (offset < -from)
        return -EINVAL;
    p->at = static_cast<size_t>(offset > size - from ? size : from + offset);
    return offset + from;
}

asf_stream_ops operations() {
    asf_stream_ops ops = {};
    ops.size = sizeof ops;
    ops.version = ASF_STREAM_VERSION;
    ops.name = "bytes";
    ops.get = get;
    ops.seek = seek;
    return ops;
}

volatile uint64_t sum; // keeps the compiler from removing the reads

void look_at(const asf_record_value &v);

void look_at_one(const asf_record_value &v) {
    int64_t i = 0;
    uint64_t u = 0;
    double d = 0;
    const char *text = nullptr;
    if (asf_record_as_int(&v, &i) == 0)
        sum = sum + static_cast<uint64_t>(i);
    if (asf_record_as_uint(&v, &u) == 0)
        sum = sum + u;
    if (asf_record_as_float(&v, &d) == 0)
        sum = sum + (d > 0);
    if (asf_record_as_string(&v, &text) == 0 && text)
        sum = sum + strlen(text);
    if (v.member.kind != ASF_RECORD_STRUCT)
        return;
    asf_record_value field;
    for (size_t n = 0; asf_record_value_field(&v, n, &field) == 0; n++)
        look_at(field);
}

void look_at(const asf_record_value &v) {
    if (v.member.shape == ASF_RECORD_SINGLE)
        return look_at_one(v);
    asf_record_value item;
    for (size_t i = 0; i < v.count; i++)
        if (asf_record_value_item(&v, i, &item) == 0)
            look_at_one(item);
}

asf_record_format *declare(const asf_record_type &type) {
    asf_record_format *f = nullptr;
    if (asf_record_declare(&type, &f) != 0)
        abort();
    return f;
}

void look_at_sample(const void *view) {
    const auto *s = static_cast<const record::sample *>(view);
    const auto *name = static_cast<const char *>(asf_record_at(view, s->name));
    const auto *values = static_cast<const float *>(asf_record_at(view, s->values));
    const auto *track = static_cast<const record::point *>(asf_record_at(view, s->track));
    sum = sum + (name ? strlen(name) : 0) + s->ready;
    for (unsigned i = 0; i < s->count; i++)
        sum = sum + (values[i] > 0);
    for (int64_t i = 0; i < s->track_count; i++)
        sum = sum + (track[i].x > track[i].y);
}

void look_at_record(asf_record *record) {
    static asf_record_format *const sample = declare(record::sample_type), *const point =
                                                                               declare(record::point_type);
    asf_record_value v;
    if (asf_record_find(record, "", &v) == 0)
        look_at(v);
    const void *view;
    if (asf_record_view(record, sample, &view) >= 0)
        look_at_sample(view);
    asf_record_view(record, point, &view);
    record::sample s;
    void *block;
    if (asf_record_into(record, sample, &s, &block) >= 0) {
        sum = sum + (s.name ? strlen(s.name) : 0);
        for (unsigned i = 0; i < s.count; i++)
            sum = sum + (s.values[i] > 0);
        free(block);
    }
    if (asf_record_view(record, asf_record_format_of(record), &view) >= 0)
        sum = sum + *static_cast<const unsigned char *>(view);
}

// Returns the same format in this machine's byte order, or nullptr if it is not valid.
asf_record_format *twin_of(const asf_record_format *f) {
    size_t n;
    const void *p = asf_record_describe(f, &n);
    std::string description(static_cast<const char *>(p), n);
    description[5] = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    asf_record_format *twin = nullptr;
    asf_record_parse(description.data(), n, &twin);
    return twin;
}

void hand_over(asf_record_reader *reader, void *message, size_t n) {
    asf_record *record;
    if (asf_record_take_over(reader, message, n, &record) != 1)
        return;
    asf_record_format *twin = twin_of(asf_record_format_of(record));
    const void *view;
    asf_record_value v;
    if (twin && asf_record_view(record, twin, &view) >= 0)
        sum = sum + *static_cast<const unsigned char *>(view);
    if (asf_record_find(record, "", &v) == 0)
        look_at(v);
    asf_record_format_free(twin);
}

void hand_over_all(asf_record_reader *reader, const uint8_t *data, size_t size) {
    for (size_t at = 0, n; size - at >= 16; at += n) {
        uint64_t length;
        memcpy(&length, data + at + 8, sizeof length);
        const size_t before = 16 * (1 + size_t{data[at + 7]});
        n = 16;
        if (length > size - at || before + (length + 15) / 16 * 16 > size - at)
            continue;
        n = before + (length + 15) / 16 * 16;
        void *message = aligned_alloc(16, n);
        memcpy(message, data + at, n);
        hand_over(reader, message, n);
        free(message);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const asf_stream_ops ops = operations();
    Place place = {{data, size}, 0};
    asf_record_options options = {};
    options.size = sizeof options;
    options.most_bytes = 1 << 20;
    options.most_expanded = 4 << 20;
    options.most_formats = 16;
    options.most_plans = 4;
    options.most_memory = 8 << 20;
    asf_cios *stream = asf_sopen_with(&ops, &place, O_RDONLY, nullptr);
    asf_record_reader *reader = nullptr;
    if (asf_record_reader_new(stream, &options, &reader) != 0)
        abort();
    asf_record *record;
    while (asf_record_next(reader, &record) > 0)
        look_at_record(record);
    uint64_t count;
    if (asf_record_count(reader, &count) == 0)
        for (uint64_t i = count; i > 0 && count - i < 8; i--)
            if (asf_record_seek(reader, i - 1) == 0 && asf_record_next(reader, &record) > 0)
                look_at_record(record);
    hand_over_all(reader, data, size);
    asf_record_reader_free(reader);
    asf_sclose(stream);
    return 0;
}
