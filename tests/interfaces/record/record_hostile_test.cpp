// SPDX-License-Identifier: MIT
//
// record_hostile_test.cpp - forged descriptions and records: each is refused with its own message, and the
// use of memory stays bounded.
#include <malloc.h>
#include <sys/mman.h>

#include "record_random.h"
#include "record_test.h"

namespace record {
namespace {

// --- descriptions ---------------------------------------------------------------------

// A format: "outer" { int32 n; int32 *v; struct inner { double d } in[2]; char *s }.
struct Small {
    std::shared_ptr<Type> inner = std::make_shared<Type>(), outer = std::make_shared<Type>();
    Machine machine;
    Small() {
        inner->name = "inner";
        inner->fields = {{"d", ASF_RECORD_FLOAT, ASF_RECORD_SINGLE, 8, 1, 0, "", nullptr, ""}};
        inner->size = inner->alignment = 8;
        outer->name = "outer";
        outer->fields = {{"n", ASF_RECORD_INT, ASF_RECORD_SINGLE, 4, 1, 0, "", nullptr, ""},
                         {"v", ASF_RECORD_INT, ASF_RECORD_DYNAMIC, 4, 1, 8, "n", nullptr, ""},
                         {"in", ASF_RECORD_STRUCT, ASF_RECORD_ARRAY, 0, 2, 16, "", inner, ""},
                         {"s", ASF_RECORD_STRING, ASF_RECORD_SINGLE, 8, 1, 32, "", nullptr, ""},
                         {"b", ASF_RECORD_BOOL, ASF_RECORD_SINGLE, 1, 1, 40, "", nullptr, ""}};
        outer->size = 48;
        outer->alignment = 8;
    }
    Field &field(const char *name) {
        for (Field &f : outer->fields)
            if (f.name == name)
                return f;
        return outer->fields[0];
    }
    std::string describe() const { return Describer::describe(*outer, machine); }
};

int parse(const std::string &description) {
    Format f;
    // A separate heap block, so that a sanitizer detects reads beyond it.
    std::vector<char> copy(description.begin(), description.end());
    const int rc = asf_record_parse(copy.data(), copy.size(), f.out());
    EXPECT_EQ(f == nullptr, rc < 0);
    return rc;
}

#define EXPECT_REFUSED(description, code, words)                                                             \
    do {                                                                                                     \
        EXPECT_EQ(parse(description), code);                                                                 \
        EXPECT_NE(strstr(asf_record_why(), words), nullptr) << asf_record_why();                             \
    } while (0)

TEST(RecordHostileFormats, the_honest_one_is_taken) {
    EXPECT_EQ(parse(Small().describe()), 0) << asf_record_why();
}

TEST(RecordHostileFormats, any_other_length) {
    const std::string d = Small().describe();
    for (size_t n = 0; n < d.size(); n++)
        EXPECT_EQ(parse(d.substr(0, n)), -EBADMSG) << n;
    EXPECT_EQ(parse(d + '\0'), -EBADMSG);
    EXPECT_EQ(parse(std::string(64 * 1024 + 1, '\0')), -E2BIG);
}

TEST(RecordHostileFormats, any_single_byte_changed_is_harmless) {
    const std::string d = Small().describe();
    for (size_t i = 0; i < d.size(); i++)
        for (int bit = 0; bit < 8; bit++) {
            std::string changed = d;
            changed[i] = static_cast<char>(changed[i] ^ 1 << bit);
            const int rc = parse(changed);
            EXPECT_TRUE(rc == 0 || rc == -EBADMSG || rc == -E2BIG) << rc;
        }
}

TEST(RecordHostileFormats, another_version_order_or_pointer) {
    const std::string d = Small().describe();
    for (const auto &[at, value] : {std::pair{4, 2}, {5, 2}, {6, 0}, {6, 2}, {6, 16}, {7, 1}}) {
        std::string changed = d;
        changed[static_cast<size_t>(at)] = static_cast<char>(value);
        EXPECT_EQ(parse(changed), -EBADMSG) << at;
    }
}

TEST(RecordHostileFormats, sizes_that_no_number_has) {
    for (const size_t size : {0, 3, 16, 255}) {
        Small s;
        s.field("n").size = size;
        EXPECT_REFUSED(s.describe(), -EBADMSG, "'n'");
    }
}

TEST(RecordHostileFormats, an_offset_that_wraps_around) {
    Small s;
    s.field("n").offset = 0xfffffffe;
    EXPECT_REFUSED(s.describe(), -EBADMSG, "'n'");
}

TEST(RecordHostileFormats, a_count_that_wraps_around) {
    for (const size_t count : {0x20000000U, 0x20000001U, 0xffffffffU, 0U}) {
        Small s;
        s.field("in").count = count;
        EXPECT_REFUSED(s.describe(), -EBADMSG, "'in'");
    }
}

TEST(RecordHostileFormats, fields_that_overlap) {
    Small s;
    s.field("v").offset = 2;
    EXPECT_REFUSED(s.describe(), -EBADMSG, "overlaps");
}

TEST(RecordHostileFormats, fields_of_one_name) {
    Small s;
    s.field("b").name = "s";
    EXPECT_REFUSED(s.describe(), -EBADMSG, "twice");
}

TEST(RecordHostileFormats, a_struct_within_itself) {
    std::string d = Small().describe();
    const size_t fields = 16 + 2 * 16, in = fields + 3 * 20; // skips the fields "d", "n" and "v"
    ASSERT_EQ(d[in + 12], 0);
    d[in + 12] = 1; // outer contains itself
    EXPECT_REFUSED(d, -EBADMSG, "'in'");
    d[in + 12] = 77;
    EXPECT_REFUSED(d, -EBADMSG, "'in'");
}

TEST(RecordHostileFormats, a_counter_that_is_not_there_or_no_integer) {
    for (const char *counter : {"s", "in", "v", "b"}) {
        Small s;
        s.field("v").counter = counter;
        EXPECT_REFUSED(s.describe(), -EBADMSG, "'v'");
    }
    std::string d = Small().describe();
    const size_t v = 16 + 2 * 16 + 2 * 20;
    ASSERT_EQ(d[v + 14], 0);
    d[v + 14] = 9;
    EXPECT_REFUSED(d, -EBADMSG, "'v'");
}

TEST(RecordHostileFormats, structs_without_size_or_beyond_it) {
    for (const size_t size : {0U, 7U, 44U, 0x1000000U, 0x1000008U, 0x7ffffff8U, 0xfffffff8U}) {
        Small s;
        s.outer->size = size;
        EXPECT_EQ(parse(s.describe()), size > 1 << 24 ? -E2BIG : size == 1 << 24 ? 0 : -EBADMSG) << size;
    }
    for (const size_t alignment : {0U, 3U, 128U}) {
        Small s;
        s.outer->alignment = alignment;
        EXPECT_EQ(parse(s.describe()), -EBADMSG) << alignment;
    }
}

TEST(RecordHostileFormats, nesting_that_multiplies) {
    // 15 levels, each an array of the level before: 4 pointers become 4^15.
    auto type = std::make_shared<Type>();
    type->name = "t";
    type->fields = {{"s", ASF_RECORD_STRING, ASF_RECORD_ARRAY, 4, 4, 0, "", nullptr, ""}};
    type->size = 16;
    type->alignment = 4;
    Machine machine;
    machine.pointer = 4;
    for (int i = 0; i < 9; i++) {
        auto outer = std::make_shared<Type>();
        outer->name = "t";
        outer->fields = {{"a", ASF_RECORD_STRUCT, ASF_RECORD_ARRAY, 0, 4, 0, "", type, ""}};
        outer->size = 4 * type->size;
        outer->alignment = 4;
        type = outer;
    }
    EXPECT_EQ(parse(Describer::describe(*type, machine)), -E2BIG);
}

TEST(RecordHostileFormats, names_that_do_not_end_or_are_not_used) {
    std::string d = Small().describe();
    d.back() = 'x';
    EXPECT_EQ(parse(d), -EBADMSG);
    d = Small().describe();
    d[16] = 1; // the first struct's name starts within another name
    EXPECT_EQ(parse(d), -EBADMSG);
}

// --- records -----------------------------------------------------------------------------

// A record of "outer" with free space after the struct, whose fields can be forged.
class Forged {
  public:
    Forged() : record(256, '\0') {
        put("n", 4, 4);
        put("v", 8, 48);
        put("s", 8, 100);
        memcpy(&record[100], "text", 5);
    }
    void put(const char *name, size_t size, uint64_t value) {
        put_bytes(record, Small().field(name).offset, value, size, false);
    }
    // Returns the result of reading the record, which is in a separate heap block.
    int take() {
        const Format f(Small().describe());
        std::string frame(16, '\0');
        const std::string d = f.description();
        const File file;
        std::string stream;
        add(stream, 0x72667361, 0, "");
        add(stream, 0, 1, d);
        add(stream, 0, 2, record);
        file.put(stream);
        Reader r(file);
        asf_record *got;
        const int rc = asf_record_next(r, &got);
        if (rc > 0) {
            asf_record_value v;
            const char *text;
            EXPECT_EQ(asf_record_find(got, "s", &v), 0);
            EXPECT_EQ(asf_record_as_string(&v, &text), 0);
            sum += text ? strlen(text) : 0;
        }
        return rc;
    }
    static void add(std::string &s, uint32_t token, int kind, const std::string &payload) {
        const size_t at = s.size();
        s.resize(at + 16);
        put_bytes(s, at, token, 4, false);
        s[at + 4] = 1;
        s[at + 5] = static_cast<char>(kind);
        put_bytes(s, at + 8, payload.size(), 8, false);
        s += payload;
        s.resize((s.size() + 15) / 16 * 16);
    }
    std::string record;
    size_t sum = 0;
};

#define EXPECT_FORGED(forged, words)                                                                         \
    do {                                                                                                     \
        EXPECT_EQ((forged).take(), -EBADMSG);                                                                \
        EXPECT_NE(strstr(asf_record_why(), words), nullptr) << asf_record_why();                             \
    } while (0)

TEST(RecordHostileRecords, the_honest_one_is_taken) {
    Forged f;
    EXPECT_EQ(f.take(), 1) << asf_record_why();
    EXPECT_EQ(f.sum, 4U);
}

TEST(RecordHostileRecords, a_negative_count) {
    Forged f;
    f.put("n", 4, 0xffffffff);
    EXPECT_FORGED(f, "'v'");
}

TEST(RecordHostileRecords, a_count_beyond_the_record) {
    for (const uint64_t n : {53U, 54U, 1000U, 0x40000000U, 0x7fffffffU}) {
        Forged f;
        f.put("n", 4, n);
        EXPECT_FORGED(f, "'v'");
    }
    Forged f;
    f.put("n", 4, 52 - 2); // the most for which array and string together fit
    EXPECT_EQ(f.take(), 1) << asf_record_why();
}

TEST(RecordHostileRecords, an_offset_beyond_the_record_or_within_the_struct) {
    for (const uint64_t at : {256U, 248U, 1U, 8U, 40U, 47U, 0xffffffffU}) {
        Forged f;
        f.put("v", 8, at);
        EXPECT_FORGED(f, "'v'");
    }
    for (const uint64_t at : {UINT64_MAX, UINT64_MAX - 8, uint64_t{1} << 63}) {
        Forged f;
        f.put("v", 8, at);
        EXPECT_FORGED(f, "'v'");
        Forged g;
        g.put("s", 8, at);
        EXPECT_FORGED(g, "'s'");
    }
}

TEST(RecordHostileRecords, an_array_that_is_not_aligned) {
    for (const uint64_t at : {49U, 50U, 52U}) {
        Forged f;
        f.put("v", 8, at);
        EXPECT_FORGED(f, "aligned");
    }
}

TEST(RecordHostileRecords, elements_without_a_place) {
    Forged f;
    f.put("v", 8, 0);
    EXPECT_FORGED(f, "'v'");
}

TEST(RecordHostileRecords, a_string_that_does_not_end) {
    Forged f;
    f.put("n", 4, 0);
    memset(&f.record[100], 'x', 156);
    EXPECT_FORGED(f, "'s'");
    f.record.back() = '\0';
    EXPECT_EQ(f.take(), 1) << asf_record_why();
}

TEST(RecordHostileRecords, a_boolean_that_is_neither) {
    Forged f;
    f.put("b", 1, 2);
    EXPECT_FORGED(f, "'b'");
}

TEST(RecordHostileRecords, parts_that_lie_in_one_another) {
    Forged f;
    f.put("n", 4, 51); // the string overlaps the array
    EXPECT_FORGED(f, "'s'");
}

TEST(RecordHostileRecords, a_record_shorter_than_its_struct) {
    Forged f;
    f.record.resize(40);
    EXPECT_EQ(f.take(), -EBADMSG);
}

// A thousand strings share the same megabyte; as separate copies they would need a gigabyte.
TEST(RecordHostileRecords, a_small_message_that_stands_for_a_large_one) {
    Type t;
    t.name = "t";
    t.fields = {{"s", ASF_RECORD_STRING, ASF_RECORD_ARRAY, 8, 1000, 0, "", nullptr, ""}};
    t.size = 8000;
    t.alignment = 8;
    std::string record(8000 + (1 << 20), 'x');
    record.back() = '\0';
    for (size_t i = 0; i < 1000; i++)
        put_bytes(record, 8 * i, 8000, 8, false);
    const File file;
    std::string stream;
    Forged::add(stream, 0x72667361, 0, "");
    Forged::add(stream, 0, 1, Describer::describe(t, Machine()));
    Forged::add(stream, 0, 2, record);
    file.put(stream);
    Reader r(file);
    asf_record *got;
    EXPECT_EQ(asf_record_next(r, &got), -EBADMSG);
    EXPECT_NE(strstr(asf_record_why(), "'s'"), nullptr);
}

// --- streams ---------------------------------------------------------------------------------

int read_all(const std::string &stream, const asf_record_options *o = nullptr) {
    const File file;
    file.put(stream);
    const Reader r(file, o);
    asf_record *got;
    int rc;
    while ((rc = asf_record_next(r, &got)) > 0) {
    }
    return rc;
}

std::string honest_stream() {
    std::string s;
    Forged::add(s, 0x72667361, 0, "");
    Forged::add(s, 0, 1, Small().describe());
    Forged::add(s, 0, 2, Forged().record);
    return s;
}

TEST(RecordHostileStreams, heads_that_are_none) {
    EXPECT_EQ(read_all(honest_stream()), 0) << asf_record_why();
    EXPECT_EQ(read_all("this is a text and no stream of records\n"), -EBADMSG);
    for (const auto &[at, value] : {std::pair{4, 2}, {5, 6}, {5, 255}, {6, 1}, {7, 5}, {7, 255}, {0, 9}}) {
        std::string s = honest_stream();
        s[s.size() - 256 - 16 + static_cast<size_t>(at)] = static_cast<char>(value);
        EXPECT_EQ(read_all(s), -EBADMSG) << at;
    }
}

TEST(RecordHostileStreams, a_length_beyond_the_limit_or_the_stream) {
    std::string s = honest_stream();
    const size_t length = s.size() - 256 - 8;
    put_bytes(s, length, uint64_t{1} << 40, 8, false);
    EXPECT_EQ(read_all(s), -E2BIG);
    put_bytes(s, length, UINT64_MAX, 8, false);
    EXPECT_EQ(read_all(s), -E2BIG);
    put_bytes(s, length, 257, 8, false);
    EXPECT_EQ(read_all(s), -ENODATA);
}

// Rounding the forged length up would wrap around, and give a short frame with a long record.
TEST(RecordHostileStreams, a_length_that_wraps_around_without_a_limit) {
    asf_record_options options = {};
    options.size = sizeof options;
    options.most_bytes = SIZE_MAX;
    for (const uint64_t forged : {UINT64_MAX, UINT64_MAX - 3, UINT64_MAX - 14, UINT64_MAX - 15,
                                  uint64_t{1} << 63, (uint64_t{1} << 63) - 1}) {
        std::string s = honest_stream();
        const size_t head = s.size() - 256 - 16;
        s[head + 7] = 2; // blocks of a gap, which exist in the stream
        put_bytes(s, head + 8, forged, 8, false);
        EXPECT_EQ(read_all(s, &options), -E2BIG) << forged;
        Reader r(File{}, &options);
        asf_record *got;
        for (const size_t n : {32U, 48U, 64U}) {
            const std::vector<char> message(s.begin() + static_cast<ssize_t>(head),
                                            s.begin() + static_cast<ssize_t>(head + n));
            EXPECT_EQ(asf_record_take(r, message.data(), message.size(), &got), -E2BIG) << forged;
        }
    }
}

TEST(RecordHostileStreams, a_stream_that_ends_anywhere) {
    const std::string s = honest_stream();
    for (size_t n = 0; n < s.size(); n += 5) {
        const int rc = read_all(s.substr(0, n));
        EXPECT_TRUE(rc == -ENODATA || (rc == 0 && n % 16 == 0)) << n << " " << rc;
    }
}

TEST(RecordHostileStreams, formats_without_end) {
    std::string s;
    Forged::add(s, 0x72667361, 0, "");
    for (uint32_t i = 0; i < 9; i++)
        Forged::add(s, i, 1, Small().describe());
    asf_record_options o = options();
    o.most_formats = 8;
    EXPECT_EQ(read_all(s, &o), -E2BIG);
    o.most_formats = 9;
    EXPECT_EQ(read_all(s, &o), 0);
}

// A format "t" with `count` strings, each of which needs memory in the format, and integers.
std::string many_strings(size_t count, size_t number = 0) {
    Type t;
    t.name = "t";
    t.fields = {
        {"s", ASF_RECORD_STRING, ASF_RECORD_ARRAY, 8, count, 0, "", nullptr, ""},
        {"id" + std::to_string(number), ASF_RECORD_INT, ASF_RECORD_SINGLE, 4, 1, 8 * count, "", nullptr, ""},
        {"id", ASF_RECORD_INT, ASF_RECORD_SINGLE, 4, 1, 8 * count + 4, "", nullptr, ""}};
    t.size = 8 * count + 8;
    t.alignment = 8;
    return Describer::describe(t, Machine());
}

TEST(RecordHostileStreams, formats_that_take_memory) {
    std::string s = honest_stream();
    for (uint32_t i = 1; i < 1024; i++)
        Forged::add(s, i, 1, many_strings(65530));
    EXPECT_LT(s.size(), 150'000U);
    EXPECT_EQ(read_all(s), -E2BIG);
    EXPECT_NE(strstr(asf_record_why(), "formats take more than 67108864 bytes"), nullptr) << asf_record_why();

    s = honest_stream();
    Forged::add(s, 1, 1, many_strings(5000));
    Forged::add(s, 0, 2, Forged().record);
    asf_record_options o = options();
    o.most_memory = 100'000;
    const File file;
    file.put(s);
    Reader r(file, &o);
    r.next();
    asf_record *got;
    EXPECT_EQ(asf_record_next(r, &got), -E2BIG);
    o.most_memory = 1'000'000;
    EXPECT_EQ(read_all(s, &o), 0) << asf_record_why();
}

TEST(RecordHostileStreams, a_writer_writes_no_more_formats_than_a_reader_takes) {
    asf_record_options o = options();
    o.most_formats = 1;
    const Format small(many_strings(10)), large(many_strings(5000));
    const std::vector<char> none(50'000);
    const File file;
    {
        const Writer w(file, &o);
        EXPECT_EQ(asf_record_write(w, small, none.data()), 0) << asf_record_why();
        EXPECT_EQ(asf_record_write(w, large, none.data()), -E2BIG);
        EXPECT_EQ(asf_record_write(w, small, none.data()), 0) << asf_record_why();
    }
    o.most_memory = 100'000;
    EXPECT_EQ(read_all(file.contents(), &o), 0) << asf_record_why();
    const Writer w(file, &o);
    EXPECT_EQ(asf_record_write(w, large, none.data()), -E2BIG);
    EXPECT_EQ(asf_record_write(w, small, none.data()), 0) << asf_record_why();
}

// Each START discards the formats before it, but making them takes time.
TEST(RecordHostileStreams, formats_that_take_time) {
    std::string s;
    for (int i = 0; i < 5000; i++) {
        Forged::add(s, 0x72667361, 0, "");
        Forged::add(s, 0, 1, many_strings(65530));
    }
    EXPECT_EQ(read_all(s), -E2BIG);
    EXPECT_NE(strstr(asf_record_why(), "too many for its length"), nullptr) << asf_record_why();
    s.clear();
    for (int i = 0; i < 2500; i++) { // many joined streams with one record each
        Forged::add(s, 0x72667361, 0, "");
        Forged::add(s, 0, 1, many_strings(1000));
        Forged::add(s, 0, 2, std::string(8008, '\0'));
    }
    EXPECT_EQ(read_all(s), 0) << asf_record_why();
}

#ifdef __GLIBC__ // glibc can report the memory in use
TEST(RecordHostileStreams, conversions_that_take_memory) {
    asf_record_options o = options();
    o.most_memory = 4 << 20;
    std::string s;
    for (size_t i = 0; i < 200; i++) {
        Forged::add(s, 0x72667361, 0, "");
        Forged::add(s, 0, 1, many_strings(2000, i));
        Forged::add(s, 0, 2, std::string(16'008, '\0'));
    }
    const File file;
    file.put(s);
    Reader r(file, &o);
    struct wanted {
        int id;
    };
    const asf_record_field field = ASF_FIELD(INT, wanted, id);
    const asf_record_type type = {"t", sizeof(wanted), alignof(wanted), &field, 1};
    const Format native(type);
    const size_t before = mallinfo2().uordblks;
    for (int i = 0; i < 200; i++) {
        const void *view;
        ASSERT_EQ(asf_record_view(r.next(), native, &view), ASF_RECORD_CONVERTED) << asf_record_why();
    }
    EXPECT_LT(mallinfo2().uordblks, before + (10 << 20));
}
#endif

TEST(RecordHostileStreams, a_format_out_of_turn) {
    std::string s;
    Forged::add(s, 0x72667361, 0, "");
    Forged::add(s, 1, 1, Small().describe());
    EXPECT_EQ(read_all(s), -EBADMSG);
}

TEST(RecordHostileStreams, an_expansion_beyond_the_limit) {
    const File file;
    file.put(honest_stream());
    asf_record_options o = options();
    o.most_expanded = 60;
    Reader r(file, &o);
    asf_record *record = r.next();
    const void *view;
    Small s;
    s.field("n").size = 8; // a layout that requires conversion
    s.field("v").offset = 8;
    s.field("b").offset = 41;
    const Format native(s.describe());
    EXPECT_EQ(asf_record_view(record, native, &view), -E2BIG) << asf_record_why();
}

// --- memory that others write to -----------------------------------------------------------------

// The conversion uses the counts and offsets that the check has read, even if the memory has changed since.
TEST(RecordHostileMemory, counts_and_offsets_are_read_once) {
    const Format f(sample_type);
    sample s = make_sample(50);
    alignas(64) static char message[8192];
    asf_record_store *store = nullptr;
    char directory[] = "/tmp/asf-store-XXXXXX";
    ASSERT_NE(mkdtemp(directory), nullptr);
    ASSERT_EQ(asf_record_store_directory(directory, &store), 0);
    ASSERT_EQ(asf_record_store_put(store, f), 0);
    asf_record_options o = options();
    o.store = store;
    {
        const Reader r(&o);
        const ssize_t n = asf_record_encode(f, &s, message, sizeof message);
        ASSERT_GT(n, 0);
        asf_record *record;
        ASSERT_EQ(asf_record_take(r, message, static_cast<size_t>(n), &record), 1);
        const size_t before = 16 + 16 * static_cast<size_t>(message[7]);
        auto *wire = reinterpret_cast<sample *>(message + before);
        ASSERT_EQ(wire->id, 50);
        wire->count = 65535;
        wire->values = reinterpret_cast<float *>(uintptr_t{1} << 60);
        wire->track_count = INT64_MAX;
        memset(message + before + sizeof s, 'x',
               static_cast<size_t>(n) - before - sizeof s); // no string has an end
        void *block;
        sample got;
        ASSERT_EQ(asf_record_into(record, f, &got, &block), ASF_RECORD_COPIED) << asf_record_why();
        EXPECT_EQ(got.count, 50);
        EXPECT_EQ(got.track_count, 1);
        EXPECT_EQ(strlen(got.name), strlen("a name"));
        free(block);
    }
    asf_record_store_free(store);
    ASSERT_EQ(system((std::string("rm -r ") + directory).c_str()), 0);
}

} // namespace
} // namespace record
