// SPDX-License-Identifier: MIT
//
// record_test.h - structs, streams and messages, shared by the tests of records.
#ifndef ASF_RECORD_TEST_H
#define ASF_RECORD_TEST_H

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>
#include <vector>

#include <asf/record.h>
#include <asf/record_store.h>

#include "record_types.h"

namespace record {

// Owns a format.
class Format {
  public:
    Format() = default;
    explicit Format(const asf_record_type &type) {
        EXPECT_EQ(asf_record_declare(&type, &format), 0) << asf_record_why();
    }
    explicit Format(const std::string &description) {
        EXPECT_EQ(asf_record_parse(description.data(), description.size(), &format), 0) << asf_record_why();
    }
    Format(const Format &) = delete;
    Format &operator=(const Format &) = delete;
    ~Format() { asf_record_format_free(format); }
    operator asf_record_format *() const { return format; }
    asf_record_format **out() { return &format; }
    std::string description() const {
        size_t n;
        const void *p = asf_record_describe(format, &n);
        return {static_cast<const char *>(p), n};
    }

  private:
    asf_record_format *format = nullptr;
};

// A temporary file.
class File {
  public:
    File() {
        const int fd = mkstemp(path_.data());
        EXPECT_GE(fd, 0);
        close(fd);
    }
    File(const File &) = delete;
    File &operator=(const File &) = delete;
    ~File() { unlink(path_.c_str()); }
    const char *path() const { return path_.c_str(); }
    asf_cios *open(int flags) const {
        int error;
        asf_cios *c = asf_sopen(path(), flags, 0600, &error);
        EXPECT_NE(c, nullptr) << error;
        return c;
    }
    std::string contents() const {
        std::string all;
        FILE *f = fopen(path(), "re");
        for (int ch; (ch = getc(f)) != EOF;)
            all += static_cast<char>(ch);
        fclose(f);
        return all;
    }
    void put(const std::string &bytes) const {
        FILE *f = fopen(path(), "we");
        fwrite(bytes.data(), 1, bytes.size(), f);
        fclose(f);
    }

  private:
    std::string path_ = "/tmp/asf-record-XXXXXX";
};

// A writer to a file, closed by the destructor.
class Writer {
  public:
    explicit Writer(const File &file, const asf_record_options *options = nullptr)
        : stream(file.open(O_WRONLY | O_TRUNC)) {
        EXPECT_EQ(asf_record_writer_new(stream, options, &writer), 0) << asf_record_why();
    }
    Writer(const Writer &) = delete;
    Writer &operator=(const Writer &) = delete;
    ~Writer() { finish(); }
    void finish() {
        if (!writer)
            return;
        EXPECT_EQ(asf_record_writer_close(writer), 0) << asf_record_why();
        EXPECT_EQ(asf_sclose(stream), 0);
        writer = nullptr;
    }
    operator asf_record_writer *() const { return writer; }

  private:
    asf_cios *stream;
    asf_record_writer *writer = nullptr;
};

class Reader {
  public:
    explicit Reader(const asf_record_options *options = nullptr) {
        EXPECT_EQ(asf_record_reader_new(nullptr, options, &reader), 0);
    }
    explicit Reader(const File &file, const asf_record_options *options = nullptr)
        : stream(file.open(O_RDONLY)) {
        EXPECT_EQ(asf_record_reader_new(stream, options, &reader), 0);
    }
    Reader(const Reader &) = delete;
    Reader &operator=(const Reader &) = delete;
    ~Reader() {
        asf_record_reader_free(reader);
        if (stream)
            asf_sclose(stream);
    }
    operator asf_record_reader *() const { return reader; }

    // Returns the next record, which must exist.
    asf_record *next() {
        asf_record *r;
        EXPECT_EQ(asf_record_next(reader, &r), 1) << asf_record_why();
        return r;
    }

  private:
    asf_cios *stream = nullptr;
    asf_record_reader *reader = nullptr;
};

inline asf_record_options options() {
    asf_record_options o = {};
    o.size = sizeof o;
    return o;
}

// Returns a sample with all fields set; its arrays are static.
inline sample make_sample(int i) {
    static float values[100];
    static point track[100];
    for (int j = 0; j < 100; j++) {
        values[j] = static_cast<float>(j) * 1.5F;
        track[j] = {j * 2.0, j * -3.0};
    }
    sample s = {};
    s.id = i;
    s.ready = i % 2 == 0;
    memcpy(s.code, "abc", 3);
    s.v[0] = i;
    s.v[1] = i * 0.5;
    s.v[2] = -i;
    s.colour = BLUE;
    s.at = {1.0 * i, 2.0 * i};
    s.name = i % 3 == 0 ? nullptr : "a name";
    s.count = static_cast<uint16_t>(i % 100);
    s.values = i % 100 ? values : nullptr;
    s.track = track;
    s.track_count = i % 7;
    return s;
}

} // namespace record
#endif
