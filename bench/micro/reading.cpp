/* SPDX-License-Identifier: MIT
 *
 * reading.cpp - the calls that take data from a stream.
 *
 * A reader has step(), the timed call, which is false at the end of the file, and data(), the bytes of the
 * last step.  It reads a file of 16 MB from beginning to end, again and again.
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

// The targets of fscanf; each row uses some of them.
struct scanned {
    int number = 0, at = 0;
    float small = 0;
    double real = 0;
    long double large = 0;
    char text[256] = "";
    wchar_t wide[256] = L"";
};

// One call of fscanf; `spell` makes the input's text again from the stored values.
template <auto scan, auto spell> struct scan_reader {
    scanned got;
    std::string text;
    bool step(const stdio_side &side, FILE *file) { return scan(side.fscanf, file, got); }
    std::string_view data() { return text = spell(got); }
};

using scanner = decltype(stdio_side::fscanf);

std::string spell_real(double value, int decimals) {
    char text[40];
    snprintf(text, sizeof text, "%.*f", decimals, value);
    return text;
}

constexpr auto spell_number = [](const scanned &v) { return std::to_string(v.number) + "\n"; };
constexpr auto spell_word = [](const scanned &v) { return std::string(v.text) + "\n"; };
constexpr auto spell_wide = [](const scanned &v) {
    return std::string(v.wide, v.wide + std::char_traits<wchar_t>::length(v.wide)) + "\n";
};

// Checks that all steps together read the file's bytes.
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

// A row: the variable arguments follow the FILE in the call; `good` is fscanf's result.
#define SCAN(name, input, good, spell, ...)                                                                  \
    add(name, input,                                                                                         \
        scan_reader<[](scanner scan, FILE *file, scanned &v) {                                               \
            (void)v;                                                                                         \
            return scan(file, __VA_ARGS__) == (good);                                                        \
        },                                                                                                   \
                    spell>())

void add_scanning() {
    SCAN("fscanf %d", number_input, 1, spell_number, "%d", &v.number);
    SCAN("fscanf %d%n", number_input, 1, spell_number, "%d%n", &v.number, &v.at);
    SCAN(
        "fscanf %lf", real_input, 1, [](const scanned &v) { return spell_real(v.real, 6) + "\n"; }, "%lf",
        &v.real);
    SCAN(
        "fscanf %Lf", real_input, 1,
        [](const scanned &v) { return spell_real(static_cast<double>(v.large), 6) + "\n"; }, "%Lf", &v.large);
    SCAN("fscanf %s", word_input, 1, spell_word, "%s", v.text);
    SCAN("fscanf %99s", word_input, 1, spell_word, "%99s", v.text);
    SCAN("fscanf %ls", word_input, 1, spell_wide, "%ls", v.wide);
    SCAN("fscanf %[a-z]", word_input, 1, spell_word, " %[a-z]", v.text);
    SCAN("fscanf %[^\\n]", record_input, 1, spell_word, "%[^\n]%*c", v.text);
    SCAN(
        "fscanf %c", text_input, 1, [](const scanned &v) { return std::string(v.text, 1); }, "%c", v.text);
    SCAN(
        "fscanf %lc", text_input, 1,
        [](const scanned &v) { return std::string(1, static_cast<char>(v.wide[0])); }, "%lc", v.wide);
    SCAN(
        "fscanf %d %s %lf\\n", record_input, 3,
        [](const scanned &v) {
            return std::to_string(v.number) + " " + v.text + " " + spell_real(v.real, 4) + "\n";
        },
        "%d %s %lf\n", &v.number, v.text, &v.real);
}

#undef SCAN

// Times sscanf of one string, with up to three values.
void add_sscanf(const std::string &name, const std::string &text, const char *format, int values) {
    const auto scan = [=](const stdio_side &side, int(&got)[3]) {
        return side.sscanf(text.c_str(), format, &got[0], &got[1], &got[2]) == values;
    };
    add_case({"sscanf " + name,
              [=](const stdio_side &side) {
                  int got[3] = {0, 0, 0};
                  return scan(side, got) && got[0] == 123 && (values < 3 || (got[1] == 45 && got[2] == 6));
              },
              [=](benchmark::State &state, const stdio_side &side) {
                  int got[3];
                  for (auto _ : state)
                      benchmark::DoNotOptimize(scan(side, got));
              }});
}

void add_scanning_memory() {
    add_sscanf("%d", "123", "%d", 1);
    add_sscanf("%d of 1000", "123 " + std::string(996, 'x'), "%d", 1);
    add_sscanf("%d.%d.%d", "123.45.6", "%d.%d.%d", 3);
    add_sscanf("key = %d", "key = 123", "key = %d", 1);
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
    add_scanning();
    add_scanning_memory();
}
