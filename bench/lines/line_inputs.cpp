/* SPDX-License-Identifier: MIT
 *
 * line_inputs.cpp - typical texts: a list of words, a log, a table, and a text whose lines have many lengths.
 */
#include "lines_bench.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>

namespace {

class text_source {
  public:
    size_t between(size_t low, size_t high) {
        return std::uniform_int_distribution<size_t>(low, high)(engine_);
    }
    std::string word(size_t low, size_t high) {
        std::string text(between(low, high), ' ');
        for (char &c : text)
            c = static_cast<char>('a' + between(0, 25));
        return text;
    }
    std::string words(size_t low, size_t high, size_t longest, char separator) {
        std::string text = word(1, longest);
        for (size_t n = between(low, high); n > 1; n--)
            text += separator + word(1, longest);
        return text;
    }

  private:
    std::mt19937_64 engine_{11};
};

template <class Line>
input make(const std::string &directory, const std::string &name, char separator, Line line) {
    constexpr size_t size = 16 << 20;
    text_source source;
    input made{name, directory + "/" + name, "", separator};
    while (made.text.size() < size)
        made.text += line(source) + "\n";
    std::ofstream(made.path, std::ios::binary) << made.text;
    return made;
}

} // namespace

std::vector<input> make_inputs(const std::string &directory) {
    return {
        make(directory, "words", 'e', [](text_source &s) { return s.word(4, 14); }),
        make(directory, "table", '\t', [](text_source &s) { return s.words(6, 6, 11, '\t'); }),
        make(directory, "log", ' ', [](text_source &s) { return s.words(8, 20, 12, ' '); }),
        make(directory, "mixed", ',',
             [](text_source &s) { return s.words(0, s.between(0, 3) ? 5 : 60, 10, ','); }),
    };
}

std::vector<input> make_integers(const std::string &directory) {
    return {
        make(directory, "small", ' ', [](text_source &s) { return std::to_string(s.between(0, 9999)); }),
        make(directory, "large", ' ', [](text_source &s) { return std::to_string(s.between(0, 1UL << 60)); }),
    };
}

std::vector<input> make_reals(const std::string &directory) {
    const auto text = [](const char *format, double value) {
        char buffer[64];
        snprintf(buffer, sizeof buffer, format, value);
        return std::string(buffer);
    };
    return {
        make(directory, "two_places", ' ',
             [&](text_source &s) { return text("%.2f", static_cast<double>(s.between(0, 99999)) / 100); }),
        make(directory, "17_digits", ' ',
             [&](text_source &s) {
                 return text("%.17g", static_cast<double>(s.between(0, 1UL << 60)) / 3e9);
             }),
    };
}
