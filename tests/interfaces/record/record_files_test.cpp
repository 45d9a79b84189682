// SPDX-License-Identifier: MIT
//
// record_files_test.cpp - files of records: reading the n-th record by the index, or without it if the writer
// did not write it; and joined streams.
#include "record_test.h"

namespace record {
namespace {

void write_file(const File &file, int records, bool indexed) {
    const Format a(sample_type), b(point_type);
    asf_record_options o = options();
    o.indexed = indexed;
    Writer w(file, &o);
    for (int i = 0; i < records; i++) {
        const sample s = make_sample(i);
        const point p = {1.0 * i, 0};
        ASSERT_EQ(i % 3 == 2 ? asf_record_write(w, b, &p) : asf_record_write(w, a, &s), 0)
            << asf_record_why();
    }
}

// Returns the record's number, from its field.
int number_of(const asf_record *record) {
    asf_record_value v;
    double x;
    if (!record)
        return -1;
    EXPECT_EQ(
        asf_record_find(
            record,
            strcmp(asf_record_layout_name(asf_record_layout_of(asf_record_format_of(record))), "point") == 0
                ? "x"
                : "id",
            &v),
        0);
    EXPECT_EQ(asf_record_as_float(&v, &x), 0);
    return static_cast<int>(x);
}

void expect_any_order(Reader &r, int records) {
    uint64_t count = 0;
    ASSERT_EQ(asf_record_count(r, &count), 0) << asf_record_why();
    ASSERT_EQ(count, static_cast<uint64_t>(records));
    for (int i = 0; i < 200 && records > 0; i++) {
        const int n = (i * 7919 + 13) % records;
        ASSERT_EQ(asf_record_seek(r, static_cast<uint64_t>(n)), 0) << asf_record_why();
        ASSERT_EQ(number_of(r.next()), n);
        if (n + 1 < records) {
            ASSERT_EQ(number_of(r.next()), n + 1);
        }
    }
    asf_record *record;
    ASSERT_EQ(asf_record_seek(r, static_cast<uint64_t>(records)), 0);
    EXPECT_EQ(asf_record_next(r, &record), 0);
    EXPECT_EQ(asf_record_seek(r, static_cast<uint64_t>(records) + 1), -ERANGE);
    if (records > 0) {
        ASSERT_EQ(asf_record_seek(r, 0), 0);
        EXPECT_EQ(number_of(r.next()), 0);
    }
}

TEST(RecordFiles, the_nth_record_by_the_index) {
    for (const int records : {0, 1, 2, 3, 1000}) {
        const File file;
        write_file(file, records, true);
        Reader r(file);
        expect_any_order(r, records);
    }
}

TEST(RecordFiles, the_nth_record_without_an_index) {
    const File file;
    write_file(file, 500, false);
    Reader r(file);
    expect_any_order(r, 500);
}

TEST(RecordFiles, an_index_of_several_frames) {
    struct tiny {
        int32_t id;
    };
    const asf_record_field fields[] = {ASF_FIELD(INT, struct tiny, id)};
    const asf_record_type type = ASF_RECORD_TYPE("tiny", struct tiny, fields);
    const Format f(type);
    const File file;
    asf_record_options o = options();
    o.indexed = 1;
    const int records = 150000;
    {
        Writer w(file, &o);
        for (int32_t i = 0; i < records; i++) {
            const tiny t = {i};
            ASSERT_EQ(asf_record_write(w, f, &t), 0);
        }
    }
    Reader r(file);
    expect_any_order(r, records);
}

TEST(RecordFiles, after_a_crash_all_whole_records_are_there) {
    const File file;
    write_file(file, 100, true);
    const std::string all = file.contents();
    for (size_t n = all.size(); n > 2000; n -= 997) {
        file.put(all.substr(0, n));
        Reader r(file);
        uint64_t count = 0;
        ASSERT_EQ(asf_record_count(r, &count), 0) << asf_record_why();
        int forward = 0;
        asf_record *record;
        int rc;
        while ((rc = asf_record_next(r, &record)) > 0)
            EXPECT_EQ(number_of(record), forward++);
        EXPECT_TRUE(rc == 0 || rc == -ENODATA);
        EXPECT_EQ(count, static_cast<uint64_t>(forward)) << n;
        if (count > 0) {
            ASSERT_EQ(asf_record_seek(r, count - 1), 0);
            EXPECT_EQ(number_of(r.next()), forward - 1);
        }
        ASSERT_EQ(asf_record_seek(r, count), 0);
        EXPECT_EQ(asf_record_next(r, &record), rc) << "behind the last";
    }
}

// After a failed write the lost record would leave a gap in the middle.
TEST(RecordFiles, after_a_failure_nothing_more_is_written) {
    const Format f(point_type);
    const point t = {1, 2};
    asf_record_writer *w;
    int failures = 0;
    asf_cios *s = asf_sopen("/dev/full", O_WRONLY, 0, nullptr);
    ASSERT_EQ(asf_record_writer_new(s, nullptr, &w), 0);
    for (int i = 0; i < 100000; i++) {
        const int rc = asf_record_write(w, f, &t);
        EXPECT_TRUE(rc == -ENOSPC || (rc == 0 && failures == 0)) << i;
        failures += rc < 0;
    }
    EXPECT_GT(failures, 0);
    EXPECT_EQ(asf_record_writer_close(w), -ENOSPC);
    asf_sclose(s);
}

TEST(RecordFiles, on_a_stream_for_reading_nothing_is_written) {
    const Format f(point_type);
    const point t = {1, 2};
    for (const size_t bytes : {0, 8, 10000}) {
        const File file;
        const std::string before(bytes, 'x');
        file.put(before);
        asf_record_writer *w;
        asf_cios *s = file.open(O_RDONLY);
        EXPECT_EQ(asf_record_writer_new(s, nullptr, &w), -EBADF) << bytes;
        EXPECT_EQ(w, nullptr);
        EXPECT_EQ(asf_sclose(s), 0);
        EXPECT_EQ(file.contents(), before);

        s = file.open(O_RDWR); // the stream begins in the mode for reading
        ASSERT_EQ(asf_record_writer_new(s, nullptr, &w), 0) << asf_record_why();
        EXPECT_EQ(asf_record_write(w, f, &t), 0) << asf_record_why();
        asf_set_stream_mode(s, ASF_READ);
        EXPECT_EQ(asf_record_write(w, f, &t), 0) << asf_record_why();
        EXPECT_EQ(asf_record_writer_close(w), 0);
        EXPECT_EQ(asf_sclose(s), 0);
        Reader r(file);
        EXPECT_NE(r.next(), nullptr);
        EXPECT_NE(r.next(), nullptr);
    }
}

TEST(RecordFiles, on_a_stream_for_writing_nothing_is_read) {
    const File file;
    asf_record_reader *r;
    asf_cios *s = file.open(O_WRONLY);
    EXPECT_EQ(asf_record_reader_new(s, nullptr, &r), -EBADF);
    EXPECT_EQ(r, nullptr);
    EXPECT_EQ(asf_sclose(s), 0);
    EXPECT_EQ(file.contents(), "");

    write_file(file, 3, true);
    const std::string all = file.contents();
    s = file.open(O_RDWR);
    asf_set_stream_mode(s, ASF_WRITE);
    ASSERT_EQ(asf_record_reader_new(s, nullptr, &r), 0) << asf_record_why();
    asf_record *record;
    EXPECT_EQ(asf_record_next(r, &record), 1) << asf_record_why();
    asf_set_stream_mode(s, ASF_WRITE);
    EXPECT_EQ(asf_record_next(r, &record), 1) << asf_record_why();
    asf_set_stream_mode(s, ASF_WRITE);
    uint64_t count;
    EXPECT_EQ(asf_record_count(r, &count), 0) << asf_record_why();
    EXPECT_EQ(count, 3U);
    asf_set_stream_mode(s, ASF_WRITE);
    EXPECT_EQ(asf_record_seek(r, 2), 0) << asf_record_why();
    EXPECT_EQ(asf_record_next(r, &record), 1) << asf_record_why();
    asf_record_reader_free(r);
    EXPECT_EQ(asf_sclose(s), 0);
    EXPECT_EQ(file.contents(), all);
}

// The damaged index may lead to nothing, to the middle of a frame, or to another kind of frame.
TEST(RecordFiles, any_bit_of_the_index_may_be_wrong) {
    const File file;
    write_file(file, 30, true);
    const std::string all = file.contents();
    const size_t index = all.size() - 48 - (24 + 8 * 32) - 16; // entries: two formats and 30 records
    for (size_t at = index; at < all.size(); at++)
        for (int bit = 0; bit < 8; bit++) {
            std::string changed = all;
            changed[at] = static_cast<char>(changed[at] ^ 1 << bit);
            file.put(changed);
            Reader r(file);
            for (const int number : {5, static_cast<int>(at / 8 % 30)})
                if (asf_record_seek(r, static_cast<uint64_t>(number)) == 0) {
                    EXPECT_EQ(number_of(r.next()), number) << at - index << ", bit " << bit;
                }
        }
}

TEST(RecordFiles, an_index_that_lies_is_not_believed) {
    const File file;
    write_file(file, 30, true);
    const std::string all = file.contents();
    for (size_t at = all.size() - 48; at < all.size(); at += 8)
        for (const char value : {'\x01', '\x7f', '\xff'}) {
            std::string changed = all;
            changed[at] = value;
            changed[at + 6] = value;
            file.put(changed);
            Reader r(file);
            uint64_t count = 0;
            const int rc = asf_record_count(r, &count);
            EXPECT_TRUE((rc == 0 && count == 30) || rc == -EBADMSG || rc == -E2BIG)
                << at << " " << rc << " " << count;
        }
    // the last INDEX is at an offset beyond the file, and counts as many records before it
    std::string far = all;
    const uint64_t records = uint64_t{1} << 57, at_index = uint64_t{1} << 62;
    memcpy(&far[all.size() - 32], &records, 8);
    memcpy(&far[all.size() - 24], &at_index, 8);
    file.put(far);
    {
        Reader r(file);
        expect_any_order(r, 30);
    }
    const size_t index = all.size() - 48 - (24 + 8 * 32) - 16; // two formats and 30 records
    for (size_t at = index; at < all.size() - 48; at += 4) {
        std::string changed = all;
        changed[at] = static_cast<char>(changed[at] ^ 0x40);
        file.put(changed);
        Reader r(file);
        uint64_t count = 0;
        asf_record *record;
        if (asf_record_count(r, &count) == 0)
            for (uint64_t i = 0; i < count; i++)
                if (asf_record_seek(r, i) == 0)
                    asf_record_next(r, &record);
    }
}

TEST(RecordFiles, joined_streams_are_read_on) {
    const File a, b;
    write_file(a, 10, true);
    write_file(b, 7, false);
    a.put(a.contents() + b.contents());
    Reader r(a);
    for (int i = 0; i < 17; i++)
        EXPECT_EQ(number_of(r.next()), i % 10);
    asf_record *record;
    EXPECT_EQ(asf_record_next(r, &record), 0);
    uint64_t count;
    EXPECT_EQ(asf_record_count(r, &count), -EINVAL);
}

TEST(RecordFiles, pipes_cannot_be_sought_in_but_read) {
    const File file;
    write_file(file, 50, true);
    FILE *p = popen((std::string("cat ") + file.path()).c_str(), "r");
    int error;
    asf_cios *stream = asf_sopen_fd(dup(fileno(p)), O_RDONLY, &error);
    asf_record_reader *r;
    ASSERT_EQ(asf_record_reader_new(stream, nullptr, &r), 0);
    uint64_t count;
    EXPECT_EQ(asf_record_count(r, &count), -ESPIPE);
    asf_record *record;
    int n = 0;
    while (asf_record_next(r, &record) > 0) {
        EXPECT_EQ(reinterpret_cast<uintptr_t>(record) % 8, 0U);
        EXPECT_EQ(number_of(record), n++);
    }
    EXPECT_EQ(n, 50);
    asf_record_reader_free(r);
    asf_sclose(stream);
    pclose(p);
}

} // namespace
} // namespace record
