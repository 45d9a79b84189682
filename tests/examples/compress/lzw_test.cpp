// SPDX-License-Identifier: MIT
//
// lzw_test.cpp - the coder of compress and uncompress alone, compiled with sanitizers. Decoding gives the
// encoded bytes back, whatever the sizes of the chunks. No damaged input makes the decoder access memory out
// of bounds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

extern "C" {
#include "examples/compress/lzw.h"
}

namespace {

using Bytes = std::vector<unsigned char>;
using Random = std::mt19937;

template <typename Coder> using Owned = std::unique_ptr<Coder, decltype(&std::free)>;

Bytes random_bytes(Random &random, size_t n, unsigned alphabet) {
    Bytes bytes(n);
    for (auto &byte : bytes)
        byte = static_cast<unsigned char>(random() % alphabet);
    return bytes;
}

// Text of random words. Its vocabulary changes in the middle, so that the table is cleared.
Bytes text(Random &random, size_t n) {
    Bytes bytes;
    std::vector<std::string> words(50);
    while (bytes.size() < n) {
        if (random() % 500 == 0 || words[0].empty())
            for (auto &word : words)
                word = std::to_string(random() >> random() % 30) + (random() % 9 ? " " : "\n");
        const auto &word = words[random() % words.size()];
        bytes.insert(bytes.end(), word.begin(), word.end());
    }
    bytes.resize(n);
    return bytes;
}

// A heap buffer of exactly this size, so that a sanitizer reports an access beyond it.
std::unique_ptr<unsigned char[]> exactly(size_t n) {
    return std::make_unique<unsigned char[]>(n);
}

Bytes encode(const Bytes &in, unsigned max_bits, size_t piece) {
    Owned<lzw_encoder> coder(lzw_encoder_new(max_bits), std::free);
    Bytes out;
    for (size_t at = 0; at < in.size(); at += piece) {
        size_t n = std::min(piece, in.size() - at);
        auto from = exactly(n), to = exactly(lzw_encode_room(n));
        std::copy_n(in.data() + at, n, from.get());
        size_t used = lzw_encode(coder.get(), from.get(), n, to.get());
        out.insert(out.end(), to.get(), to.get() + used);
    }
    auto to = exactly(lzw_encode_room(0));
    size_t used = lzw_encode_end(coder.get(), to.get());
    out.insert(out.end(), to.get(), to.get() + used);
    return out;
}

struct Decoded {
    lzw_status status = LZW_OK;
    Bytes bytes;
    bool operator==(const Decoded &other) const { return status == other.status && bytes == other.bytes; }
};

// Decodes at most `most` bytes, since a damaged file may expand to very many.
Decoded decode(const Bytes &in, size_t piece, size_t most) {
    Owned<lzw_decoder> coder(lzw_decoder_new(), std::free);
    const size_t room = LZW_DECODE_ROOM + 1000;
    auto out = exactly(room);
    Decoded result;
    for (size_t at = 0; at < in.size() && result.status == LZW_OK; at += piece) {
        size_t n = std::min(piece, in.size() - at);
        auto from = exactly(n);
        std::copy_n(in.data() + at, n, from.get());
        const unsigned char *next = from.get();
        unsigned char *to;
        do {
            to = out.get();
            result.status = lzw_decode(coder.get(), &next, from.get() + n, &to, out.get() + room);
            result.bytes.insert(result.bytes.end(), out.get(), to);
        } while (result.status == LZW_OK && out.get() + room - to < LZW_DECODE_ROOM &&
                 result.bytes.size() < most);
        if (result.bytes.size() >= most)
            break;
    }
    if (result.status == LZW_OK)
        result.status = lzw_decode_end(coder.get());
    return result;
}

std::vector<Bytes> kinds(Random &random, size_t n) {
    return {random_bytes(random, n, 256),
            random_bytes(random, n, 2),
            random_bytes(random, n, 1),
            text(random, n),
            Bytes(),
            Bytes(1, 'x')};
}

TEST(Lzw, WhatGoesInComesOut) {
    Random random(1);
    for (const auto &in : kinds(random, 200000))
        for (unsigned bits = LZW_MIN_BITS; bits <= LZW_MAX_BITS; bits++) {
            Decoded out = decode(encode(in, bits, 10000), 5000, SIZE_MAX);
            EXPECT_EQ(out.status, LZW_OK) << bits << " bits";
            EXPECT_EQ(out.bytes, in) << bits << " bits";
        }
}

TEST(Lzw, PiecesDoNotMatter) {
    Random random(2);
    for (const auto &in : kinds(random, 30000))
        for (unsigned bits : {9U, 12U, 16U}) {
            Bytes whole = encode(in, bits, SIZE_MAX);
            for (size_t piece : {1U, 2U, 3U, 7U, 4096U}) {
                EXPECT_EQ(encode(in, bits, piece), whole) << bits << " bits by " << piece;
                EXPECT_EQ(decode(whole, piece, SIZE_MAX).bytes, in) << bits << " bits by " << piece;
            }
        }
}

void corrupt(Bytes &bytes, Random &random) {
    for (unsigned n = 1 + random() % 4; n > 0 && !bytes.empty(); n--) {
        size_t at = random() % 2 ? random() % bytes.size() : random() % std::min<size_t>(bytes.size(), 8);
        switch (random() % 5) {
        case 0:
            bytes[at] ^= static_cast<unsigned char>(1U << random() % 8);
            break;
        case 1:
            bytes[at] = static_cast<unsigned char>(random());
            break;
        case 2:
            bytes.resize(at);
            break;
        case 3:
            bytes.erase(bytes.begin() + static_cast<ptrdiff_t>(at));
            break;
        default:
            bytes.insert(bytes.begin() + static_cast<ptrdiff_t>(at), static_cast<unsigned char>(random()));
        }
    }
}

TEST(Lzw, BrokenInputIsHarmless) {
    Random random(3);
    std::vector<Bytes> good;
    for (size_t n : {50U, 2000U, 20000U})
        for (const auto &in : kinds(random, n))
            for (unsigned bits : {9U, 10U, 13U, 16U})
                good.push_back(encode(in, bits, SIZE_MAX));
    int found = 0;
    for (int i = 0; i < 6000; i++) {
        Bytes bad = good[random() % good.size()];
        corrupt(bad, random);
        Decoded whole = decode(bad, SIZE_MAX, 1 << 20);
        found += whole.status != LZW_OK;
        if (i % 8 == 0 && whole.bytes.size() < 1 << 20) {
            ASSERT_TRUE(decode(bad, 1 + random() % 100, 1 << 20) == whole) << "broken file " << i;
        }
    }
    EXPECT_GT(found, 1000) << "hardly any of the broken files was found to be broken";
}

TEST(Lzw, AnythingAfterTheHeaderIsHarmless) {
    Random random(4);
    for (int i = 0; i < 3000; i++) {
        Bytes bad = random_bytes(random, random() % 3000, i % 2 ? 256 : 4);
        const unsigned char width =
            static_cast<unsigned char>(9 + random() % 8 + (random() % 2 ? LZW_BLOCK_MODE : 0));
        bad.insert(bad.begin(), {LZW_MAGIC_1, LZW_MAGIC_2, width});
        decode(bad, 1 + random() % 4000, 1 << 20);
    }
}

TEST(Lzw, HeadersAreChecked) {
    const std::pair<Bytes, lzw_status> headers[] = {
        {{}, LZW_FORMAT},
        {{0x1f}, LZW_FORMAT},
        {{0x1f, 0x9d}, LZW_FORMAT},
        {{'a'}, LZW_FORMAT},
        {{0x1f, 0x9e}, LZW_FORMAT},
        {{0x1f, 0x9d, 0x90}, LZW_OK},
        {{0x1f, 0x9d, 0x10}, LZW_OK},
        {{0x1f, 0x9d, 0x91}, LZW_WIDTH},
        {{0x1f, 0x9d, 0x88}, LZW_WIDTH},
        {{0x1f, 0x9d, 0x9f}, LZW_WIDTH},
    };
    for (const auto &[header, status] : headers)
        EXPECT_EQ(decode(header, 1, SIZE_MAX).status, status) << testing::PrintToString(header);
}

} // namespace
