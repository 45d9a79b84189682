/* SPDX-License-Identifier: MIT
 *
 * reading.cpp - the calls that take data from a stream.
 * Part of: bench/micro.
 *
 * A reader has step(), the timed call, false at the end of the file, and data(),
 * what the last step read.  It reads a file of 16 MB from beginning to end and
 * begins again.
 */
#include "cases.h"
#include "inputs.h"

#include <cstdlib>
#include <string_view>
#include <vector>

namespace {

template <auto get> struct character_reader {
    char last = 0;
    bool step(const stdio_side &side, FILE *file) {
        const int got = (side.*get)(file);
        last = static_cast<char>(got);
        return got != EOF;
    }
    std::string_view data() const { return {&last, 1}; }
};

// Each character is read, put back and read again.
struct ungetc_reader {
    char last = 0;
    bool step(const stdio_side &side, FILE *file) {
        const int got = side.getc(file);
        if (got == EOF)
            return false;
        side.ungetc(got, file);
        last = static_cast<char>(side.getc(file));
        return true;
    }
    std::string_view data() const { return {&last, 1}; }
};

struct block_reader {
    std::vector<char> block;
    size_t got = 0;
    explicit block_reader(size_t size) : block(size) {}
    bool step(const stdio_side &side, FILE *file) {
        got = side.fread(block.data(), 1, block.size(), file);
        return got > 0;
    }
    std::string_view data() const { return {block.data(), got}; }
};

struct fgets_reader {
    char line[256] = "";
    bool step(const stdio_side &side, FILE *file) { return side.fgets(line, sizeof line, file) != nullptr; }
    std::string_view data() const { return line; }
};

struct getline_reader {
    char *line = nullptr;
    size_t room = 0;
    ssize_t got = 0;
    getline_reader() = default;
    getline_reader(const getline_reader &) : getline_reader() {}
    getline_reader &operator=(const getline_reader &) = delete;
    ~getline_reader() { free(line); }
    bool step(const stdio_side &side, FILE *file) {
        got = side.getline(&line, &room, file);
        return got > 0;
    }
    std::string_view data() const { return {line, static_cast<size_t>(got)}; }
};

struct fscanf_reader {
    int number = 0;
    std::string text;
    bool step(const stdio_side &side, FILE *file) { return side.fscanf(file, "%d", &number) == 1; }
    std::string_view data() {
        text = std::to_string(number) + "\n";
        return text;
    }
};

// The whole file, read step by step, is the file as the kernel has it.
template <class Reader> bool reads_all(const stdio_side &side, const input_file &input, Reader reader) {
    FILE *file = open_stream(side, input.path, "r");
    const std::string_view expected = input.bytes;
    size_t at = 0;
    while (at < expected.size() && reader.step(side, file)) {
        const std::string_view data = reader.data();
        if (expected.substr(at, data.size()) != data)
            break;
        at += data.size();
    }
    const bool right = at == expected.size() && !reader.step(side, file);
    side.fclose(file);
    return right;
}

template <class Reader>
void time_reading(benchmark::State &state, const stdio_side &side, const input_file &input, Reader reader) {
    FILE *file = open_stream(side, input.path, "r");
    for (auto _ : state)
        if (!reader.step(side, file))
            side.rewind(file);
    side.fclose(file);
}

template <class Reader>
void add(const std::string &name, const input_file &(*input)(), const Reader &reader) {
    add_case({name, [=](const stdio_side &side) { return reads_all(side, input(), reader); },
              [=](benchmark::State &state, const stdio_side &side) {
                  time_reading(state, side, input(), reader);
              }});
}

} // namespace

void add_reading() {
    add("getc", binary_input, character_reader<&stdio_side::getc>());
    add("fgetc", binary_input, character_reader<&stdio_side::fgetc>());
    add("getc_unlocked", binary_input, character_reader<&stdio_side::getc_unlocked>());
    add("ungetc+getc", binary_input, ungetc_reader());
    for (const size_t size : {1, 2, 4, 8, 16, 64, 256, 512, 1024, 4096, 16384, 65536})
        add("fread/" + std::to_string(size), binary_input, block_reader(size));
    add("fgets/117", text_input, fgets_reader());
    add("getline/117", text_input, getline_reader());
    add("fscanf %d", number_input, fscanf_reader());
}
