/* SPDX-License-Identifier: MIT
 *
 * wide.cpp - wide characters in UTF-8: from a file, and to /dev/null.
 *
 * The mode of fopen names the character set, so the locale of the other benchmarks does not change.
 */
#include "cases.h"
#include "inputs.h"

#include <cstring>
#include <unistd.h>

namespace {

void append_utf8(std::string &bytes, wint_t letter) {
    if (letter < 0x80) {
        bytes += static_cast<char>(letter);
    } else {
        bytes += static_cast<char>(0xc0 | letter >> 6);
        bytes += static_cast<char>(0x80 | (letter & 0x3f));
    }
}

std::string utf8(const wchar_t *text) {
    std::string bytes;
    for (; *text; text++)
        append_utf8(bytes, static_cast<wint_t>(*text));
    return bytes;
}

/* --- reading ---------------------------------------------------------------- */

struct fgetwc_reader {
    wint_t last = 0;
    bool step(const stdio_side &side, FILE *file) { return (last = side.fgetwc(file)) != WEOF; }
    void take(std::string &bytes) const { append_utf8(bytes, last); }
};

struct fgetws_reader {
    wchar_t line[256] = L"";
    bool step(const stdio_side &side, FILE *file) { return side.fgetws(line, 256, file) != nullptr; }
    void take(std::string &bytes) const { bytes += utf8(line); }
};

template <class Reader> bool reads_all(const stdio_side &side, const input_file &input, Reader reader) {
    FILE *file = open_stream(side, input.path, "r,ccs=UTF-8");
    std::string bytes;
    while (reader.step(side, file))
        reader.take(bytes);
    side.fclose(file);
    return bytes == input.bytes;
}

template <class Reader>
void add_reader(const std::string &name, const input_file &(*input)(), const Reader &reader) {
    add_case({name, [=](const stdio_side &side) { return reads_all(side, input(), reader); },
              [=](benchmark::State &state, const stdio_side &side) {
                  Reader own = reader;
                  FILE *file = open_stream(side, input().path, "r,ccs=UTF-8");
                  for (auto _ : state)
                      if (!own.step(side, file))
                          side.rewind(file);
                  side.fclose(file);
              }});
}

/* --- writing ------------------------------------------------------------------ */

struct fputwc_writer {
    wchar_t beyond; // every fifth character
    unsigned count = 0;
    wchar_t letter() const { return count % 5 ? static_cast<wchar_t>('a' + count % 26) : beyond; }
    void step(const stdio_side &side, FILE *file) {
        side.fputwc(letter(), file);
        count++;
    }
    std::string expected() const { return utf8(std::wstring(1, letter()).c_str()); }
};

struct fputws_writer {
    std::wstring line;
    void step(const stdio_side &side, FILE *file) { side.fputws(line.c_str(), file); }
    std::string expected() const { return utf8(line.c_str()); }
};

struct record_writer {
    unsigned count = 0;
    void step(const stdio_side &side, FILE *file) {
        side.fwprintf(file, L"%ls %d\n", L"record", static_cast<int>(count++));
    }
    std::string expected() const { return "record " + std::to_string(count) + "\n"; }
};

struct number_writer {
    unsigned count = 0;
    void step(const stdio_side &side, FILE *file) { side.fwprintf(file, L"%d\n", static_cast<int>(count++)); }
    std::string expected() const { return std::to_string(count) + "\n"; }
};

template <class Char> struct text_writer {
    const wchar_t *format;
    std::basic_string<Char> text;
    void step(const stdio_side &side, FILE *file) { side.fwprintf(file, format, text.c_str()); }
    std::string expected() const { return std::string(text.begin(), text.end()); }
};

struct fixed_writer {
    void step(const stdio_side &side, FILE *file) { side.fwprintf(file, L"%.2f ", 1234.5); }
    std::string expected() const { return "1234.50 "; }
};

template <class Writer> bool writes_all(const stdio_side &side, Writer writer) {
    const std::string path = scratch_path("written");
    FILE *file = open_stream(side, path, "w,ccs=UTF-8");
    std::string expected;
    while (expected.size() < 300000) {
        expected += writer.expected();
        writer.step(side, file);
    }
    const bool right = side.fclose(file) == 0 && file_bytes(path) == expected;
    unlink(path.c_str());
    return right;
}

template <class Writer> void add_writer(const std::string &name, const Writer &writer) {
    add_case({name, [=](const stdio_side &side) { return writes_all(side, writer); },
              [=](benchmark::State &state, const stdio_side &side) {
                  Writer own = writer;
                  FILE *file = open_stream(side, "/dev/null", "w,ccs=UTF-8");
                  for (auto _ : state)
                      own.step(side, file);
                  side.fclose(file);
              }});
}

std::wstring line_of(wchar_t letter) {
    return std::wstring(line_length - 1, letter) + L"\n";
}

} // namespace

void add_wide() {
    add_reader("fgetwc ascii", text_input, fgetwc_reader());
    add_reader("fgetwc utf-8", utf8_input, fgetwc_reader());
    add_reader("fgetws/117 ascii", text_input, fgetws_reader());
    add_reader("fgetws/117 utf-8", utf8_input, fgetws_reader());
    add_writer("fputwc ascii", fputwc_writer{L'x'});
    add_writer("fputwc utf-8", fputwc_writer{L'\x436'});
    add_writer("fputws/117 ascii", fputws_writer{line_of(L'x')});
    add_writer("fputws/117 utf-8", fputws_writer{line_of(L'\x436')});
    add_writer("fwprintf %ls %d\\n", record_writer());
    add_writer("fwprintf %d\\n", number_writer());
    add_writer("fwprintf %ls", text_writer<wchar_t>{L"%ls", L"record"});
    add_writer("fwprintf %s", text_writer<char>{L"%s", "record"});
    add_writer("fwprintf %.2f", fixed_writer());
}
