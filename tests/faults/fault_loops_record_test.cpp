// SPDX-License-Identifier: MIT
//
// fault_loops_record_test.cpp - records written, read, converted and found with failing calls.
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

#include "tests/faults/fault_loops.h"

#include <asf/record.h>
#include <asf/record_store.h>

namespace faults {
namespace {

// A part of the content, in two layouts.
struct part {
    int32_t number;
    const char *text;
};
struct other_part {
    char *text;
    double weight;
    int64_t number;
};
constexpr size_t length = 1000;

const asf_record_field part_fields[] = {ASF_FIELD(INT, struct part, number),
                                        ASF_FIELD_STRING(struct part, text)};
const asf_record_field other_fields[] = {ASF_FIELD_STRING(struct other_part, text),
                                         ASF_FIELD(FLOAT, struct other_part, weight),
                                         ASF_FIELD(INT, struct other_part, number)};
const asf_record_type part_type = ASF_RECORD_TYPE("part", struct part, part_fields);
const asf_record_type other_type = ASF_RECORD_TYPE("part", struct other_part, other_fields);

asf_record_format *declare(const asf_record_type &type, Outcome &o) {
    asf_record_format *format = nullptr;
    int rc = asf_record_declare(&type, &format);
    EXPECT_EQ(rc == 0, format != nullptr);
    o.told(rc);
    return format;
}

asf_record_options with(bool indexed, asf_record_store *store) {
    asf_record_options options = {};
    options.size = sizeof options;
    options.indexed = indexed;
    options.hashed = store != nullptr;
    options.store = store;
    return options;
}

void write_records(asf_record_writer *w, asf_record_format *format, Outcome &o) {
    for (size_t at = 0; at < content.size(); at += length) {
        std::string text = content.substr(at, length);
        struct part p = {(int32_t)(at / length), text.c_str()};
        for (int tries = 0, rc = -1; rc < 0 && tries < TRIES; tries++)
            o.told(rc = asf_record_write(w, format, &p));
    }
}

void write_file(const char *name, bool indexed, asf_record_store *store, Outcome &o) {
    asf_record_format *format = declare(part_type, o);
    asf_record_writer *w = nullptr;
    asf_record_options options = with(indexed, store);
    unlink(name);
    asf_cios *s = format ? open_stream(name, O_WRONLY | O_CREAT | O_TRUNC, o) : nullptr;
    if (s)
        o.told(asf_record_writer_new(s, &options, &w));
    if (w) {
        write_records(w, format, o);
        o.told(asf_record_writer_close(w));
    }
    if (s)
        close_stream(s, o);
    asf_record_format_free(format);
}

// Reads in place, if the layout is the file's.
bool take_view(asf_record *r, asf_record_format *format, Outcome &o) {
    const void *data = nullptr;
    int rc = asf_record_view(r, format, &data);
    o.told(rc);
    if (rc >= 0) {
        const auto *p = static_cast<const struct part *>(data);
        o.text += static_cast<const char *>(asf_record_at(p, p->text));
    }
    return rc >= 0;
}

bool take_converted(asf_record *r, asf_record_format *format, Outcome &o) {
    struct other_part p;
    void *block = nullptr;
    int rc = asf_record_into(r, format, &p, &block);
    o.told(rc);
    if (rc >= 0)
        o.text += p.text;
    free(block);
    return rc >= 0;
}

using Take = bool(asf_record *, asf_record_format *, Outcome &);

void read_records(asf_record_reader *reader, asf_record_format *format, Take *take, size_t most, Outcome &o) {
    asf_record *r;
    int rc = 1;
    for (size_t i = 0; i < most && rc > 0; i++) {
        o.told(rc = asf_record_next(reader, &r));
        for (int tries = 0; rc > 0 && !take(r, format, o);)
            rc = ++tries < TRIES ? 1 : -1;
    }
}

// Calls `read` with a reader, which has its own format.
template <class Read>
void with_reader(const char *name, const asf_record_type &type, asf_record_store *store, Outcome &o,
                 Read read) {
    asf_record_format *format = declare(type, o);
    asf_record_reader *reader = nullptr;
    asf_record_options options = with(false, store);
    asf_cios *s = format ? open_stream(name, O_RDONLY, o) : nullptr;
    if (s)
        o.told(asf_record_reader_new(s, &options, &reader));
    if (reader)
        read(reader, format);
    asf_record_reader_free(reader);
    if (s)
        close_stream(s, o);
    asf_record_format_free(format);
}

void read_whole(const char *name, const asf_record_type &type, Take *take, asf_record_store *store,
                Outcome &o) {
    with_reader(name, type, store, o,
                [&](auto *reader, auto *format) { read_records(reader, format, take, SIZE_MAX, o); });
}

void make_input() {
    Outcome o;
    write_file("records", true, nullptr, o);
    ASSERT_EQ(o.error, 0);
}

// Writes records; without faults then checks that the file's records are whole.
Outcome writes_records(bool indexed) {
    Outcome o, without;
    write_file("out", indexed, nullptr, o);
    end_faults();
    if (std::filesystem::exists("out"))
        read_whole("out", part_type, take_view, nullptr, without);
    o.text = without.text;
    return o;
}

Outcome reads_records(const asf_record_type &type, Take *take) {
    Outcome o;
    read_whole("records", type, take, nullptr, o);
    return o;
}

// Reads the second half, and then the first.
Outcome seeks_records() {
    Outcome o;
    std::string second;
    with_reader("records", part_type, nullptr, o, [&](auto *reader, auto *format) {
        uint64_t count = 0;
        o.told(asf_record_count(reader, &count));
        if (o.error == 0)
            o.told(asf_record_seek(reader, count / 2));
        if (o.error == 0)
            read_records(reader, format, take_view, SIZE_MAX, o);
        second.swap(o.text);
        if (o.error == 0)
            o.told(asf_record_seek(reader, 0));
        if (o.error == 0)
            read_records(reader, format, take_view, count / 2, o);
    });
    o.text = o.error ? "" : o.text + second;
    return o;
}

// Stores the format in a directory, and looks it up there.
Outcome stores_formats() {
    Outcome o;
    asf_record_store *store = nullptr;
    std::filesystem::remove_all("formats");
    o.told(asf_record_store_directory("formats", &store));
    if (store)
        write_file("out", false, store, o);
    asf_record_store_free(store);
    store = nullptr;
    o.told(asf_record_store_directory("formats", &store));
    if (store && std::filesystem::exists("out"))
        read_whole("out", part_type, take_view, store, o);
    asf_record_store_free(store);
    return o;
}

void no_file_is_left() {
    size_t files = 0;
    if (std::filesystem::exists("formats"))
        for (const auto &entry : std::filesystem::directory_iterator("formats")) {
            EXPECT_EQ(entry.path().extension(), ".format") << entry.path();
            files++;
        }
    EXPECT_LE(files, 1U);
}

const Scenario scenarios[] = {
    {"writes", [] { return writes_records(false); }, true},
    {"writes_an_index", [] { return writes_records(true); }, true},
    {"reads", [] { return reads_records(part_type, take_view); }, true, nullptr, make_input},
    {"converts", [] { return reads_records(other_type, take_converted); }, true, nullptr, make_input},
    {"seeks", seeks_records, false, nullptr, make_input},
    {"stores_formats", stores_formats, true, no_file_is_left},
};

INSTANTIATE_TEST_SUITE_P(Record, FaultLoops, testing::ValuesIn(scenarios), name_of);

} // namespace
} // namespace faults
