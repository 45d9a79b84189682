// SPDX-License-Identifier: MIT
//
// random.h - random numbers for tests with random calls, and the number of rounds, which the environment
// sets.
#ifndef ASF_TESTS_RANDOM_H
#define ASF_TESTS_RANDOM_H

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

namespace tests {

inline uint64_t from_environment(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text ? strtoull(text, nullptr, 10) : otherwise;
}

// The rounds of a random test: a part of `many`, unless all tests run (tests/CMakeLists.txt).
inline constexpr int rounds(int many) {
    return many / ASF_SHARE_OF_ROUNDS > 0 ? many / ASF_SHARE_OF_ROUNDS : 1;
}

// splitmix64: the same numbers on every machine. Or choices read from given bytes, as long as any are left.
class Random {
  public:
    explicit Random(uint64_t seed) : state(seed) {}
    Random(uint64_t seed, const uint8_t *choices, size_t n) : state(seed), p(choices), left(n) {}

    uint64_t next() {
        uint64_t z = state += 0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        return z ^ z >> 31;
    }

    size_t below(size_t n) { return n == 0 ? 0 : (left ? chosen(n) : next()) % n; }
    bool is_used_up() const { return left == 0; }
    bool one_in(size_t n) { return below(n) == 0; }

    std::string bytes(size_t n) {
        std::string s(n, '\0');
        for (size_t i = 0; i < n; i += sizeof(uint64_t)) {
            const uint64_t word = next();
            memcpy(s.data() + i, &word, n - i < sizeof word ? n - i : sizeof word);
        }
        return s;
    }

  private:
    // Reads as many bytes as a number below n needs.
    uint64_t chosen(size_t n) {
        uint64_t value = 0;
        for (; n > 1 && left > 0; n = (n + 255) / 256, left--)
            value = value << 8 | *p++;
        return value;
    }

    uint64_t state;
    const uint8_t *p = nullptr;
    size_t left = 0;
};

} // namespace tests

#endif
