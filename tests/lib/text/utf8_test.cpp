/* SPDX-License-Identifier: MIT
 *
 * utf8_test.cpp - compares conversions of UTF-8 and ASCII to wide characters and back with libc's mbrtowc
 * and wcrtomb.
 */
extern "C" {
#include "lib/text/utf8.h"
}

#include <clocale>
#include <cwchar>
#include <gtest/gtest.h>
#include <random>
#include <string>

namespace {

using decoder = void(const char **, const char *, wchar_t **, wchar_t *);
using encoder = void(const wchar_t **, const wchar_t *, char **, char *);

struct utf8 : testing::Test {
    std::mt19937 random{1994};
    unsigned draw(unsigned below) { return static_cast<unsigned>(random() % below); }
    void SetUp() override { ASSERT_NE(setlocale(LC_ALL, "C.UTF-8"), nullptr); }

    // Mostly whole characters, and some random bytes.
    std::string text(size_t length, bool ascii) {
        static const char *const letters[] = {
            "a", "z", "0", "\n", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
        std::string bytes;
        while (bytes.size() < length)
            bytes +=
                draw(60) == 0 ? std::string(1, static_cast<char>(draw(256))) : letters[draw(ascii ? 4 : 7)];
        return bytes;
    }
};

// Returns libc's result, as far as both decoders accept the bytes: without surrogates and characters beyond
// Unicode.
std::wstring expected_of(const std::string &bytes, size_t room, size_t *used) {
    std::wstring characters;
    mbstate_t state{};
    *used = 0;
    while (*used < bytes.size() && characters.size() < room) {
        wchar_t ch;
        size_t n = mbrtowc(&ch, bytes.data() + *used, bytes.size() - *used, &state);
        if (n == 0)
            n = 1;
        if (n > 4 || (ch >= 0xd800 && ch < 0xe000) || ch > 0x10ffff)
            break;
        characters += ch;
        *used += n;
    }
    return characters;
}

// Decodes into exactly `room` characters; memory beyond must not change.
std::wstring decoded(decoder *decode, const std::string &bytes, size_t room, size_t *used) {
    std::wstring characters(room + 1, L'#');
    const char *from = bytes.data();
    wchar_t *to = characters.data();
    decode(&from, bytes.data() + bytes.size(), &to, characters.data() + room);
    EXPECT_EQ(characters[room], L'#');
    *used = static_cast<size_t>(from - bytes.data());
    characters.resize(static_cast<size_t>(to - characters.data()));
    return characters;
}

std::string encoded(encoder *encode, const std::wstring &characters, size_t room, size_t *used) {
    std::string bytes(room + 1, '#');
    const wchar_t *from = characters.data();
    char *to = bytes.data();
    encode(&from, characters.data() + characters.size(), &to, bytes.data() + room);
    EXPECT_EQ(bytes[room], '#');
    *used = static_cast<size_t>(from - characters.data());
    bytes.resize(static_cast<size_t>(to - bytes.data()));
    return bytes;
}

// Returns the bytes of the characters that fit completely into `room` bytes, up to the first that cannot be
// encoded.
std::string expected_bytes(const std::wstring &characters, size_t room, size_t *used) {
    std::string bytes;
    for (*used = 0; *used < characters.size(); ++*used) {
        char one[16];
        mbstate_t state{};
        const wchar_t ch = characters[*used];
        const size_t n = ch > 0x10ffff ? size_t(-1) : wcrtomb(one, ch, &state);
        if (n == size_t(-1) || bytes.size() + n > room)
            break;
        bytes.append(one, n);
    }
    return bytes;
}

TEST_F(utf8, decodes_as_libc) {
    for (int i = 0; i < 20000; i++) {
        const std::string bytes = text(draw(90), false);
        const size_t room = draw(100);
        size_t used, expected_used;
        const std::wstring expected = expected_of(bytes, room, &expected_used);
        EXPECT_EQ(decoded(asf__utf8_decode, bytes, room, &used), expected);
        EXPECT_EQ(used, expected_used);
    }
}

TEST_F(utf8, decodes_every_short_sequence) {
    for (unsigned lead = 0; lead < 256; lead++) {
        for (unsigned second = 0; second < 256; second++) {
            for (const char *rest : {"", "\x80\x80", "\xbf\xbf\xbf", "z"}) {
                const std::string bytes = {static_cast<char>(lead), static_cast<char>(second)};
                size_t used, expected_used;
                const std::wstring expected = expected_of(bytes + rest, 9, &expected_used);
                EXPECT_EQ(decoded(asf__utf8_decode, bytes + rest, 9, &used), expected);
                EXPECT_EQ(used, expected_used) << lead << " " << second;
            }
        }
    }
}

TEST_F(utf8, decodes_ascii_up_to_the_first_other_byte) {
    for (int i = 0; i < 5000; i++) {
        const std::string bytes = text(draw(90), true);
        const size_t room = draw(100);
        size_t used, end = 0;
        while (end < bytes.size() && end < room && static_cast<unsigned char>(bytes[end]) < 0x80)
            end++;
        EXPECT_EQ(decoded(asf__ascii_decode, bytes, room, &used),
                  std::wstring(bytes.begin(), bytes.begin() + static_cast<long>(end)));
        EXPECT_EQ(used, end);
    }
}

TEST_F(utf8, encodes_as_libc) {
    static const wchar_t letters[] = {L'a',  L'\n',  0,      0x7f,   0x80,    0x7ff,
                                      0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff};
    static const wchar_t without[] = {0xd800, 0xdfff, 0x110000, 0x7fffffff, static_cast<wchar_t>(-1)};
    for (int i = 0; i < 20000; i++) {
        std::wstring characters;
        for (size_t n = draw(90); n > 0; n--)
            characters += draw(80) == 0 ? without[draw(5)] : letters[draw(3) ? draw(2) : draw(12)];
        const size_t room = draw(120);
        size_t used, expected_used;
        const std::string expected = expected_bytes(characters, room, &expected_used);
        EXPECT_EQ(encoded(asf__utf8_encode, characters, room, &used), expected);
        EXPECT_EQ(used, expected_used);
    }
}

TEST_F(utf8, encodes_ascii_up_to_the_first_other_character) {
    for (int i = 0; i < 5000; i++) {
        std::wstring characters;
        for (size_t n = draw(90); n > 0; n--)
            characters += static_cast<wchar_t>(draw(60) ? draw(128) : random());
        const size_t room = draw(100);
        size_t used, end = 0;
        while (end < characters.size() && end < room && static_cast<unsigned>(characters[end]) < 0x80)
            end++;
        std::string expected;
        for (size_t at = 0; at < end; at++)
            expected += static_cast<char>(characters[at]);
        EXPECT_EQ(encoded(asf__ascii_encode, characters, room, &used), expected);
        EXPECT_EQ(used, end);
    }
}

TEST_F(utf8, spans_as_many_bytes_as_characters_take) {
    const std::string bytes =
        "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xf8\x88\x80\x80\x80\xfc\x84\x80\x80\x80\x80z";
    const size_t ends[] = {0, 1, 3, 6, 10, 15, 21, 22, 22};
    for (size_t n = 0; n < 9; n++)
        EXPECT_EQ(asf__utf8_span(bytes.data(), bytes.data() + bytes.size(), n), ends[n]);
}

} // namespace
