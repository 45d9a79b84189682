// SPDX-License-Identifier: MIT
//
// record_cxx_test.cpp - <asf/record.hpp> gives the same formats and records as the calls of C.
#include <asf/record.hpp>

#include <functional>

#include "record_test.h"

template <>
inline constexpr auto asf::record::fields<::record::point> = asf::record::list(
    "point", asf::record::field<&::record::point::x>("x"), asf::record::field<&::record::point::y>("y"));

template <>
inline constexpr auto asf::record::fields<::record::sample> = asf::record::list(
    "sample", asf::record::field<&::record::sample::id>("id"),
    asf::record::field<&::record::sample::ready>("ready"),
    asf::record::field<&::record::sample::code>("code"), asf::record::field<&::record::sample::v>("v"),
    asf::record::field<&::record::sample::colour>("colour"), asf::record::field<&::record::sample::at>("at"),
    asf::record::field<&::record::sample::name>("name"),
    asf::record::field<&::record::sample::count>("count"),
    asf::record::counted<&::record::sample::values, &::record::sample::count>("values"),
    asf::record::counted<&::record::sample::track, &::record::sample::track_count>("track"),
    asf::record::field<&::record::sample::track_count>("track_count"));

namespace record {
namespace {

struct modern {
    std::array<double, 3> v;
    int64_t id;
    uint8_t fresh;
};
const uint8_t fresh = 9;

enum class bright : uint8_t { dark = 1, light = 200 };
struct lamp {
    bright how;
};
struct later_lamp {
    uint16_t how;
};

} // namespace
} // namespace record

template <>
inline constexpr auto asf::record::fields<::record::modern> = asf::record::list(
    "modern", asf::record::field<&::record::modern::v>("v"), asf::record::field<&::record::modern::id>("id"),
    asf::record::field<&::record::modern::fresh>("fresh", &::record::fresh));

template <>
inline constexpr auto asf::record::fields<::record::lamp> =
    asf::record::list("lamp", asf::record::field<&::record::lamp::how>("how"));

template <>
inline constexpr auto asf::record::fields<::record::later_lamp> =
    asf::record::list("lamp", asf::record::field<&::record::later_lamp::how>("how"));

namespace record {
namespace {

TEST(RecordCxx, has_the_same_formats) {
    const Format c(sample_type);
    EXPECT_EQ(memcmp(asf_record_hash(c), asf_record_hash(asf::record::format_of<sample>()), 16), 0);
}

TEST(RecordCxx, writes_and_reads) {
    const File file;
    asf_cios *stream = file.open(O_WRONLY);
    asf_record_options o = {};
    o.indexed = 1;
    asf::record::writer w(stream, o);
    for (int i = 0; i < 50; i++)
        w.write(make_sample(i));
    w.close();
    asf_sclose(stream);
    stream = file.open(O_RDONLY);
    {
        asf::record::reader r(stream);
        EXPECT_EQ(r.count(), 50U);
        int i = 0;
        while (const auto record = r.next()) {
            const auto view = record->view<sample>();
            EXPECT_EQ(view.how(), ASF_RECORD_IN_PLACE);
            EXPECT_EQ(view->id, i);
            EXPECT_STREQ(view->name ? view.at(view->name) : "", i % 3 ? "a name" : "");
            const auto own = record->into<sample>();
            EXPECT_EQ(own->count, i % 100);
            if (own->count > 2) {
                EXPECT_EQ(own->values[2], 3.0F);
            }
            EXPECT_EQ(record->view<modern>()->v[1], i * 0.5);
            EXPECT_EQ(record->view<modern>()->fresh, 9);
            EXPECT_EQ(record->number("v[0]"), i);
            EXPECT_EQ(record->name(), "sample");
            i++;
        }
        EXPECT_EQ(i, 50);
        r.seek(7);
        EXPECT_EQ(r.next()->view<sample>()->id, 7);
    }
    asf_sclose(stream);
}

TEST(RecordCxx, enumerations_without_a_sign) {
    const File file;
    asf_cios *stream = file.open(O_WRONLY | O_TRUNC);
    {
        asf::record::writer w(stream);
        w.write(lamp{bright::light});
    }
    asf_sclose(stream);
    stream = file.open(O_RDONLY);
    {
        asf::record::reader r(stream);
        auto record = r.next();
        EXPECT_EQ(record->view<lamp>()->how, bright::light);
        EXPECT_EQ(record->number("how"), 200);
    }
    asf_sclose(stream);
    stream = file.open(O_RDONLY);
    {
        asf::record::reader r(stream);
        EXPECT_EQ(r.next()->view<later_lamp>()->how, 200);
    }
    asf_sclose(stream);
}

TEST(RecordCxx, throws_what_fails) {
    const File file;
    file.put("this is not a stream of records");
    asf_cios *stream = file.open(O_RDONLY);
    {
        asf::record::reader r(stream);
        try {
            r.next();
            FAIL();
        } catch (const asf::record::error &e) {
            EXPECT_EQ(e.code(), -EBADMSG);
            EXPECT_STREQ(e.what(), "no record begins where one is expected");
        }
    }
    asf_sclose(stream);
}

int code_of(const std::function<void()> &call) {
    try {
        call();
    } catch (const asf::record::error &e) {
        return e.code();
    }
    return 0;
}

TEST(RecordCxx, what_is_not_open_is_refused) {
    const File file;
    asf_cios *stream = file.open(O_WRONLY | O_TRUNC);
    asf::record::writer w(stream);
    for (int i = 0; i < 2; i++) {
        w.close();
        EXPECT_EQ(w.get(), nullptr);
        EXPECT_EQ(code_of([&] { w.write(lamp{bright::light}); }), -EBADF);
    }
    asf_sclose(stream);
    EXPECT_EQ(code_of([] { const asf::record::writer none(nullptr); }), -EBADF);
    EXPECT_EQ(code_of([] { const asf::record::reader none(nullptr); }), -EBADF);
}

} // namespace
} // namespace record
