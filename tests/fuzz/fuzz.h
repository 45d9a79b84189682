// SPDX-License-Identifier: MIT
//
// fuzz.h - the parts of a fuzz target: LLVMFuzzerTestOneInput, which is called with an input, and fuzz::make,
// which makes a random input. Without libFuzzer, fuzz_driver.cpp calls both; with it, fuzz::make makes the
// initial inputs.
#ifndef ASF_TESTS_FUZZ_H
#define ASF_TESTS_FUZZ_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace fuzz {

class Random {
  public:
    explicit Random(uint64_t seed) : source(seed) {}
    uint64_t bits() { return source(); }
    size_t below(size_t n) { return source() % n; }
    bool one_in(size_t n) { return below(n) == 0; }

  private:
    std::mt19937_64 source;
};

// Makes a random input; each target defines its own.
std::string make(Random &random);

// Random text of at most `most` elements: words of the target's language, which `words` lists separated by
// bars, and random bytes.
inline std::string of_words(Random &random, const std::string &words, size_t most) {
    std::string s;
    for (size_t n = random.below(most + 1); n > 0; n--) {
        const size_t at = words.rfind('|', random.below(words.size())) + 1;
        if (random.one_in(8))
            s += static_cast<char>(random.bits());
        else
            s += words.substr(at, words.find('|', at) - at);
    }
    return s;
}

inline std::string of_bytes(Random &random, size_t most) {
    std::string s(random.below(most + 1), '\0');
    for (char &c : s)
        c = static_cast<char>(random.bits());
    return s;
}

// Reads an input byte by byte; after its end all bytes are 0.
class Bytes {
  public:
    Bytes(const uint8_t *data, size_t size) : p(data), end(data + size) {}
    bool any() const { return p < end; }
    uint8_t next() { return any() ? *p++ : 0; }
    size_t below(size_t n) { return next() % n; }
    template <class Number> Number number() {
        Number value = 0;
        for (size_t i = 0; i < sizeof value; i++)
            reinterpret_cast<uint8_t *>(&value)[i] = next();
        return value;
    }
    std::string text(size_t most) {
        std::string s;
        while (any() && s.size() < most)
            s += static_cast<char>(next());
        return s;
    }
    std::string rest() { return text(SIZE_MAX); }

  private:
    const uint8_t *p, *end;
};

// Prints the message and crashes, so that libFuzzer keeps the input.
[[noreturn]] inline void wrong(const std::string &what) {
    fprintf(stderr, "%s\n", what.c_str());
    abort();
}

} // namespace fuzz
#endif
