// SPDX-License-Identifier: MIT
//
// record_records_test.cpp - records written and read: in place, gathered, in memory, by name, and between
// versions of a format.
#include "record_test.h"

namespace record {
namespace {

void expect_same(const sample &a, const sample &b) {
    EXPECT_EQ(a.id, b.id);
    EXPECT_EQ(a.ready, b.ready);
    EXPECT_EQ(memcmp(a.code, b.code, 3), 0);
    EXPECT_EQ(memcmp(a.v, b.v, sizeof a.v), 0);
    EXPECT_EQ(a.colour, b.colour);
    EXPECT_EQ(memcmp(&a.at, &b.at, sizeof a.at), 0);
    EXPECT_STREQ(a.name ? a.name : "(null)", b.name ? b.name : "(null)");
    ASSERT_EQ(a.count, b.count);
    if (a.count) {
        EXPECT_EQ(memcmp(a.values, b.values, a.count * sizeof *a.values), 0);
    }
    ASSERT_EQ(a.track_count, b.track_count);
    if (a.track_count) {
        EXPECT_EQ(memcmp(a.track, b.track, static_cast<size_t>(a.track_count) * sizeof *a.track), 0);
    }
}

// Returns a view's struct with pointers instead of offsets.
sample with_pointers(const void *view) {
    sample s = *static_cast<const sample *>(view);
    s.name = static_cast<const char *>(asf_record_at(view, s.name));
    s.values = static_cast<float *>(const_cast<void *>(asf_record_at(view, s.values)));
    s.track = static_cast<point *>(const_cast<void *>(asf_record_at(view, s.track)));
    return s;
}

TEST(RecordRecords, come_as_they_were_written_and_lie_where_they_were_read) {
    const Format f(sample_type);
    const File file;
    Writer w(file);
    for (int i = 0; i < 1000; i++) {
        const sample s = make_sample(i);
        ASSERT_EQ(asf_record_write(w, f, &s), 0) << asf_record_why();
    }
    w.finish();
    Reader r(file);
    for (int i = 0; i < 1000; i++) {
        asf_record *record = r.next();
        ASSERT_NE(record, nullptr);
        const void *view;
        ASSERT_EQ(asf_record_view(record, f, &view), ASF_RECORD_IN_PLACE) << asf_record_why();
        expect_same(make_sample(i), with_pointers(view));
        sample own;
        void *block;
        ASSERT_EQ(asf_record_into(record, f, &own, &block), ASF_RECORD_COPIED) << asf_record_why();
        expect_same(make_sample(i), own);
        free(block);
    }
    asf_record *record;
    EXPECT_EQ(asf_record_next(r, &record), 0);
    EXPECT_EQ(asf_record_next(r, &record), 0);
}

TEST(RecordRecords, are_filled_in_place) {
    const Format f(sample_type);
    const File file;
    Writer w(file);
    for (int i = 0; i < 300; i++) {
        void *at;
        ASSERT_EQ(asf_record_begin(w, f, 4096, &at), 0) << asf_record_why();
        auto *s = static_cast<sample *>(at);
        EXPECT_EQ(s->track, nullptr);
        const sample from = make_sample(i);
        *s = from;
        s->values = nullptr;
        s->track = nullptr;
        ASSERT_EQ(asf_record_string(w, &s->name, from.name), 0);
        if (from.count)
            memcpy(asf_record_part(w, &s->values, from.count * sizeof(float)), from.values,
                   from.count * sizeof(float));
        if (from.track_count)
            memcpy(asf_record_part(w, &s->track, static_cast<size_t>(from.track_count) * sizeof(point)),
                   from.track, static_cast<size_t>(from.track_count) * sizeof(point));
        ASSERT_EQ(asf_record_end(w), 0) << asf_record_why();
    }
    w.finish();
    Reader r(file);
    for (int i = 0; i < 300; i++) {
        const void *view;
        ASSERT_EQ(asf_record_view(r.next(), f, &view), ASF_RECORD_IN_PLACE) << asf_record_why();
        expect_same(make_sample(i), with_pointers(view));
    }
    EXPECT_LT(file.contents().size(), 300 * 1500U); // the unused part of each record's space was given back
}

TEST(RecordRecords, in_place_know_their_limits) {
    const Format f(sample_type);
    const File file;
    Writer w(file);
    void *at;
    EXPECT_EQ(asf_record_end(w), -EINVAL);
    ASSERT_EQ(asf_record_begin(w, f, 32, &at), 0);
    EXPECT_EQ(asf_record_begin(w, f, 32, &at), -EINVAL);
    ASSERT_EQ(asf_record_begin(w, f, SIZE_MAX, &at), -E2BIG);
}

TEST(RecordRecords, that_were_begun_and_not_ended_are_not_written) {
    const Format f(sample_type);
    const File file;
    Writer w(file);
    void *at;
    const sample s = make_sample(1);
    ASSERT_EQ(asf_record_write(w, f, &s), 0);
    ASSERT_EQ(asf_record_begin(w, f, 32, &at), 0);
    EXPECT_EQ(asf_record_part(w, &static_cast<sample *>(at)->values, 33), nullptr);
    EXPECT_NE(asf_record_part(w, &static_cast<sample *>(at)->values, 16), nullptr);
    EXPECT_EQ(asf_record_string(w, &static_cast<sample *>(at)->name, "12345678901234567890"), -E2BIG);
    w.finish();
    Reader r(file);
    EXPECT_NE(r.next(), nullptr);
    asf_record *record;
    EXPECT_EQ(asf_record_next(r, &record), 0) << asf_record_why();
}

TEST(RecordRecords, with_broken_pointers_are_not_written) {
    const Format f(sample_type);
    const File file;
    Writer w(file);
    sample s = make_sample(5);
    s.values = nullptr;
    EXPECT_EQ(asf_record_write(w, f, &s), -EINVAL);
    EXPECT_NE(strstr(asf_record_why(), "values"), nullptr);
    s = make_sample(5);
    s.track_count = -1;
    EXPECT_EQ(asf_record_write(w, f, &s), -EINVAL);
    EXPECT_NE(strstr(asf_record_why(), "track"), nullptr);
}

TEST(RecordRecords, go_through_memory_as_messages) {
    const Format f(sample_type);
    asf_record_store *store = nullptr;
    char directory[] = "/tmp/asf-store-XXXXXX";
    ASSERT_NE(mkdtemp(directory), nullptr);
    ASSERT_EQ(asf_record_store_directory(directory, &store), 0) << asf_record_why();
    ASSERT_EQ(asf_record_store_put(store, f), 0);
    asf_record_options o = options();
    o.store = store;
    {
        const Reader r(&o);
        for (int i = 0; i < 50; i++) {
            const sample s = make_sample(i);
            alignas(64) static char message[8192];
            EXPECT_EQ(asf_record_encode(f, &s, message, 10),
                      asf_record_encode(f, &s, message, sizeof message));
            const ssize_t n = asf_record_encode(f, &s, message, sizeof message);
            ASSERT_GT(n, 0);
            asf_record *record;
            ASSERT_EQ(asf_record_take(r, message, static_cast<size_t>(n), &record), 1) << asf_record_why();
            const void *view;
            ASSERT_EQ(asf_record_view(record, f, &view), ASF_RECORD_IN_PLACE);
            expect_same(s, with_pointers(view));
            EXPECT_EQ(asf_record_take(r, message, static_cast<size_t>(n - 16), &record), -EBADMSG);
            EXPECT_EQ(asf_record_take(r, message, 15, &record), -EBADMSG);
        }
    }
    asf_record_store_free(store);
    ASSERT_EQ(system((std::string("rm -r ") + directory).c_str()), 0);
}

template <class T> void turn_round(T *numbers, size_t count) {
    for (size_t i = 0; i < count; i++)
        std::reverse(reinterpret_cast<char *>(numbers + i), reinterpret_cast<char *>(numbers + i + 1));
}

// Reverses the byte order of a sample in a message.
void turn_round(sample *s) {
    char *base = reinterpret_cast<char *>(s);
    turn_round(reinterpret_cast<float *>(base + reinterpret_cast<size_t>(s->values)), s->count);
    turn_round(reinterpret_cast<double *>(base + reinterpret_cast<size_t>(s->track)),
               2 * static_cast<size_t>(s->track_count));
    turn_round(&s->id, 1);
    turn_round(s->v, 3);
    turn_round(&s->colour, 1);
    turn_round(&s->at.x, 2);
    turn_round(&s->name, 1);
    turn_round(&s->count, 1);
    turn_round(&s->values, 1);
    turn_round(&s->track, 1);
    turn_round(&s->track_count, 1);
}

// Messages from a machine of the other byte order, and a store that knows their format.
class Foreign {
  public:
    explicit Foreign(const Format &native) : format(turned(native.description())) {
        EXPECT_NE(mkdtemp(directory), nullptr);
        EXPECT_EQ(asf_record_store_directory(directory, &o.store), 0) << asf_record_why();
        EXPECT_EQ(asf_record_store_put(o.store, format), 0) << asf_record_why();
    }
    Foreign(const Foreign &) = delete;
    Foreign &operator=(const Foreign &) = delete;
    ~Foreign() {
        asf_record_store_free(o.store);
        EXPECT_EQ(system((std::string("rm -r ") + directory).c_str()), 0);
    }
    size_t make(const Format &native, const sample &s) {
        const ssize_t n = asf_record_encode(native, &s, message, sizeof message);
        EXPECT_GT(n, 0) << asf_record_why();
        memcpy(message + 16, asf_record_hash(format), 16);
        turn_round(in_message());
        return static_cast<size_t>(n);
    }
    sample *in_message() {
        return reinterpret_cast<sample *>(message + 16 + 16 * size_t{uint8_t(message[7])});
    }
    bool holds(const void *p) const { return p >= message && p < message + sizeof message; }

    asf_record_options o = options();
    alignas(64) char message[8192];

  private:
    static std::string turned(std::string description) {
        description[5] ^= 1;
        return description;
    }
    char directory[32] = "/tmp/asf-store-XXXXXX";
    const Format format;
};

TEST(RecordRecords, handed_over_are_turned_where_they_lie) {
    const Format f(sample_type);
    Foreign foreign(f);
    const Reader r(&foreign.o);
    for (int i = 0; i < 100; i++) {
        const sample s = make_sample(i);
        const size_t n = foreign.make(f, s);
        asf_record *record;
        ASSERT_EQ(asf_record_take_over(r, foreign.message, n, &record), 1) << asf_record_why();
        const void *view, *again;
        ASSERT_EQ(asf_record_view(record, f, &view), ASF_RECORD_SWAPPED) << asf_record_why();
        EXPECT_EQ(view, foreign.in_message());
        expect_same(s, with_pointers(view));
        EXPECT_EQ(asf_record_format_of(record), static_cast<asf_record_format *>(f));
        ASSERT_EQ(asf_record_view(record, f, &again), ASF_RECORD_IN_PLACE) << asf_record_why();
        EXPECT_EQ(view, again);
        asf_record_value v;
        int64_t id = -1;
        ASSERT_EQ(asf_record_find(record, "id", &v), 0) << asf_record_why();
        ASSERT_EQ(asf_record_as_int(&v, &id), 0);
        EXPECT_EQ(id, i);
        sample own;
        void *block;
        ASSERT_EQ(asf_record_into(record, f, &own, &block), ASF_RECORD_COPIED) << asf_record_why();
        expect_same(s, own);
        free(block);
    }
}

TEST(RecordRecords, not_handed_over_stay_as_they_are) {
    const Format f(sample_type);
    Foreign foreign(f);
    const Reader r(&foreign.o);
    const size_t n = foreign.make(f, make_sample(5));
    const std::string before(foreign.message, n);
    asf_record *record;
    const void *view;
    ASSERT_EQ(asf_record_take_over(r, foreign.message, n, &record), 1); // the next record replaces this one
    ASSERT_EQ(asf_record_take(r, foreign.message, n, &record), 1) << asf_record_why();
    ASSERT_EQ(asf_record_view(record, f, &view), ASF_RECORD_SWAPPED);
    EXPECT_FALSE(foreign.holds(view));
    expect_same(make_sample(5), with_pointers(view));
    EXPECT_EQ(std::string(foreign.message, n), before);
}

// A record whose parts overlap is converted elsewhere: in place the shared bytes would be swapped twice.
TEST(RecordRecords, whose_parts_overlap_are_not_turned_where_they_lie) {
    const Format f(sample_type);
    Foreign foreign(f);
    const Reader r(&foreign.o);
    sample s = make_sample(8);
    s.count = 2;
    s.track_count = 2;
    const size_t n = foreign.make(f, s);
    foreign.in_message()->values = reinterpret_cast<float *>(foreign.in_message()->track);
    const std::string before(foreign.message, n);
    asf_record *record;
    const void *view;
    ASSERT_EQ(asf_record_take_over(r, foreign.message, n, &record), 1) << asf_record_why();
    ASSERT_EQ(asf_record_view(record, f, &view), ASF_RECORD_SWAPPED) << asf_record_why();
    EXPECT_FALSE(foreign.holds(view));
    EXPECT_EQ(with_pointers(view).track[1].x, s.track[1].x);
    EXPECT_EQ(std::string(foreign.message, n), before);
}

// Joins the chunks of a message; counts the bytes that were copied to `room`.
std::string joined(const iovec *pieces, int count, const char *room, size_t size, size_t &copied) {
    std::string all;
    copied = 0;
    for (int i = 0; i < count; i++) {
        const char *p = static_cast<const char *>(pieces[i].iov_base);
        all.append(p, pieces[i].iov_len);
        copied += p >= room && p < room + size ? pieces[i].iov_len : 0;
    }
    return all;
}

TEST(RecordRecords, are_gathered_in_pieces_that_make_the_same_message) {
    const Format f(sample_type);
    alignas(64) static char message[32768], room[32768];
    static float values[1001];
    static point track[300];
    for (int i = 0; i < 1001; i++)
        values[i] = static_cast<float>(i);
    for (int i = 0; i < 300; i++)
        track[i] = {i * 0.5, i * 0.25};
    const std::string name(700, 'n');
    sample s = make_sample(3);
    s.name = name.c_str();
    s.values = values;
    s.count = 1001;
    s.track = track;
    s.track_count = 300;
    const ssize_t n = asf_record_encode(f, &s, message, sizeof message);
    ASSERT_GT(n, 0);
    const std::string whole(message, static_cast<size_t>(n));
    size_t copied = 0;
    for (size_t most = 1; most < 9; most++) {
        iovec pieces[9];
        const int count = asf_record_gather(f, &s, room, sizeof room, pieces, most);
        ASSERT_GT(count, 0) << asf_record_why();
        ASSERT_LE(static_cast<size_t>(count), most);
        ASSERT_TRUE(joined(pieces, count, room, sizeof room, copied) == whole) << most;
        memset(room, 0x5a, sizeof room);
        EXPECT_EQ(asf_record_gather(f, &s, room, copied, pieces, most), count) << asf_record_why();
        EXPECT_EQ(room[copied], 0x5a);
        for (size_t less = 0; less < copied; less += 7)
            EXPECT_EQ(asf_record_gather(f, &s, room, less, pieces, most), -E2BIG);
    }
    EXPECT_LT(copied, 400U); // the arrays and the string were not copied
    EXPECT_EQ(asf_record_gather(f, &s, room, sizeof room, nullptr, 0), -E2BIG);
}

TEST(RecordRecords, are_read_by_name_without_a_struct) {
    const Format f(sample_type);
    const File file;
    Writer w(file);
    const sample s = make_sample(13);
    ASSERT_EQ(asf_record_write(w, f, &s), 0);
    w.finish();
    Reader r(file);
    const asf_record *record = r.next();
    asf_record_value v;
    int64_t i;
    uint64_t u;
    double d;
    const char *text;
    ASSERT_EQ(asf_record_find(record, "id", &v), 0);
    EXPECT_EQ(asf_record_as_int(&v, &i), 0);
    EXPECT_EQ(i, 13);
    ASSERT_EQ(asf_record_find(record, "v[1]", &v), 0);
    EXPECT_EQ(asf_record_as_float(&v, &d), 0);
    EXPECT_EQ(d, 6.5);
    EXPECT_EQ(asf_record_as_int(&v, &i), -EPROTOTYPE);
    ASSERT_EQ(asf_record_find(record, "at.y", &v), 0);
    EXPECT_EQ(asf_record_as_float(&v, &d), 0);
    EXPECT_EQ(d, 26);
    ASSERT_EQ(asf_record_find(record, "track[5].y", &v), 0) << asf_record_why();
    EXPECT_EQ(asf_record_as_float(&v, &d), 0);
    EXPECT_EQ(d, -15);
    ASSERT_EQ(asf_record_find(record, "values[12]", &v), 0);
    EXPECT_EQ(asf_record_as_float(&v, &d), 0);
    EXPECT_EQ(d, 18);
    ASSERT_EQ(asf_record_find(record, "name", &v), 0);
    EXPECT_EQ(asf_record_as_string(&v, &text), 0);
    EXPECT_STREQ(text, "a name");
    ASSERT_EQ(asf_record_find(record, "colour", &v), 0);
    EXPECT_EQ(asf_record_as_int(&v, &i), 0);
    EXPECT_EQ(i, -5);
    EXPECT_EQ(asf_record_as_uint(&v, &u), -ERANGE);
    EXPECT_EQ(asf_record_find(record, "values[13]", &v), -ERANGE);
    for (const char *path : {"nothing", "at.z", "id.x", "v[", "v[]", "v[x]", "at..x", "v[0]x", "[1].v"})
        EXPECT_LT(asf_record_find(record, path, &v), 0) << path;
    EXPECT_EQ(asf_record_find(record, "[0].id", &v), 0);
    for (const char *path : {"v[3]", "v[-1]", "v[18446744073709551616]", "v[99999999999999999999999]"})
        EXPECT_EQ(asf_record_find(record, path, &v), -ERANGE) << path;
    for (const char *path : {"v[-]", "v[-x]", "v[99999999999999999999999", "nothing"})
        EXPECT_EQ(asf_record_find(record, path, &v), -ENOENT) << path;
    for (const char *path : {"id.x", "v[0].x", "track.x"})
        EXPECT_EQ(asf_record_find(record, path, &v), -EPROTOTYPE) << path;
}

// --- versions ----------------------------------------------------------------------------

struct longer {
    sample before;
    int64_t more;
};

struct other {
    int64_t id;
    float v[5];
    const char *name;
    int16_t fresh;
    const char *greeting;
    uint64_t amount;
    double *unheard_of;
    bool ready;
};
const int16_t fresh = 77;
const asf_record_field other_fields[] = {
    ASF_FIELD(INT, struct other, id),
    ASF_FIELD_ARRAY(FLOAT, struct other, v),
    ASF_FIELD_STRING(struct other, name),
    ASF_FIELD_OR(INT, struct other, fresh, &fresh, 0),
    ASF_FIELD_STRING_OR(struct other, greeting, "good day"),
    ASF_FIELD(UINT, struct other, amount),
    ASF_FIELD_DYNAMIC(FLOAT, struct other, unheard_of, amount),
    ASF_FIELD(BOOL, struct other, ready),
};
const asf_record_type other_type = ASF_RECORD_TYPE("other", struct other, other_fields);

TEST(RecordVersions, fields_added_at_the_end_cost_nothing) {
    asf_record_field fields[std::size(sample_fields) + 1];
    std::copy(std::begin(sample_fields), std::end(sample_fields), fields);
    fields[std::size(sample_fields)] = ASF_FIELD(INT, struct longer, more);
    const asf_record_type type = ASF_RECORD_TYPE("sample", struct longer, fields);
    const Format wire(type), f(sample_type);
    const File file;
    Writer w(file);
    const longer l = {make_sample(9), 42};
    ASSERT_EQ(asf_record_write(w, wire, &l), 0);
    w.finish();
    Reader r(file);
    asf_record *record = r.next();
    const void *view;
    ASSERT_EQ(asf_record_view(record, f, &view), ASF_RECORD_IN_PLACE);
    expect_same(l.before, with_pointers(view));
    asf_record_receipt receipt;
    ASSERT_EQ(asf_record_match(r, asf_record_format_of(record), f, &receipt), ASF_RECORD_IN_PLACE);
    EXPECT_EQ(receipt.ignored, 1U);
    EXPECT_EQ(receipt.missing, 0U);
}

TEST(RecordVersions, an_older_record_is_converted_and_missing_fields_are_told) {
    const Format wire(sample_type), native(other_type);
    const File file;
    Writer w(file);
    for (int i = 0; i < 20; i++) {
        const sample s = make_sample(i);
        ASSERT_EQ(asf_record_write(w, wire, &s), 0);
    }
    w.finish();
    for (const char *const *engine = asf_record_engines(); *engine; engine++) {
        if (asf_record_use(*engine) != 0)
            continue;
        Reader r(file);
        for (int i = 0; i < 20; i++) {
            asf_record *record = r.next();
            other o;
            void *block;
            ASSERT_EQ(asf_record_into(record, native, &o, &block), ASF_RECORD_CONVERTED) << asf_record_why();
            EXPECT_EQ(o.id, i);
            EXPECT_EQ(o.v[1], static_cast<float>(i * 0.5));
            EXPECT_EQ(o.v[4], 0);
            EXPECT_EQ(o.fresh, 77);
            EXPECT_STREQ(o.greeting, "good day");
            EXPECT_STREQ(o.name ? o.name : "", i % 3 ? "a name" : "");
            EXPECT_EQ(o.amount, 0U);
            EXPECT_EQ(o.unheard_of, nullptr);
            EXPECT_EQ(o.ready, i % 2 == 0);
            free(block);
            asf_record_receipt receipt;
            ASSERT_EQ(asf_record_match(r, asf_record_format_of(record), native, &receipt),
                      ASF_RECORD_CONVERTED);
            ASSERT_EQ(receipt.missing, 3U);
            EXPECT_STREQ(receipt.absent[0], "fresh");
            EXPECT_EQ(receipt.ignored, 7U);
        }
    }
    asf_record_use(nullptr);
}

TEST(RecordVersions, a_required_field_must_be_there) {
    asf_record_field fields[] = {ASF_FIELD(INT, struct other, id),
                                 ASF_FIELD_OR(INT, struct other, fresh, nullptr, ASF_RECORD_REQUIRED)};
    const asf_record_type type = ASF_RECORD_TYPE("other", struct other, fields);
    const Format wire(sample_type), native(type);
    const Reader r;
    EXPECT_EQ(asf_record_match(r, wire, native, nullptr), -ENOENT);
    EXPECT_NE(strstr(asf_record_why(), "fresh"), nullptr);
}

TEST(RecordVersions, kinds_that_contradict_each_other_are_refused_unless_asked_for) {
    struct wish {
        double id;
    };
    asf_record_field fields[] = {ASF_FIELD(FLOAT, struct wish, id)};
    const asf_record_type type = ASF_RECORD_TYPE("wish", struct wish, fields);
    const Format wire(sample_type), strict(type);
    const Reader r;
    EXPECT_EQ(asf_record_match(r, wire, strict, nullptr), -EPROTOTYPE);
    EXPECT_NE(strstr(asf_record_why(), "id"), nullptr);
    fields[0].wishes = ASF_RECORD_ANY_NUMBER;
    const Format lenient(type);
    EXPECT_EQ(asf_record_match(r, wire, lenient, nullptr), ASF_RECORD_CONVERTED);
}

TEST(RecordVersions, formats_with_nothing_in_common_are_refused) {
    const Format wire(sample_type), native(point_type);
    const Reader r;
    EXPECT_EQ(asf_record_match(r, wire, native, nullptr), -EPROTOTYPE);
}

TEST(RecordVersions, a_reader_keeps_no_more_plans_than_it_may) {
    asf_record_options o = options();
    o.most_plans = 2;
    const Reader r(&o);
    const Format wire(sample_type), a(other_type), b(sample_type), c(other_type);
    for (int i = 0; i < 100; i++)
        for (asf_record_format *f : {(asf_record_format *)a, (asf_record_format *)b, (asf_record_format *)c})
            ASSERT_GE(asf_record_match(r, wire, f, nullptr), 0);
}

} // namespace
} // namespace record
