/* SPDX-License-Identifier: MIT
 *
 * writing.cpp - the calls that write to a stream.
 *
 * A writer has step(), the timed call, and expected(), the text that the next step must write.  Output is
 * timed to /dev/null and checked in a file.
 */
#include "cases.h"
#include "inputs.h"

#include <algorithm>
#include <string_view>
#include <unistd.h>

namespace {

template <auto put> struct character_writer {
    unsigned count = 0;
    void step(const stdio_side &side, FILE *file) { (side.*put)(static_cast<unsigned char>(count++), file); }
    std::string expected() const { return {static_cast<char>(count)}; }
};

struct block_writer {
    std::string_view block;
    explicit block_writer(size_t size) : block(binary_input().bytes.data(), size) {}
    void step(const stdio_side &side, FILE *file) { side.fwrite(block.data(), 1, block.size(), file); }
    std::string expected() const { return std::string(block); }
};

struct fputs_writer {
    std::string line;
    explicit fputs_writer(size_t size) : line(size - 1, 'x') { line += '\n'; }
    void step(const stdio_side &side, FILE *file) { side.fputs(line.c_str(), file); }
    std::string expected() const { return line; }
};

// puts writes to stdout only, so standard_output makes the stream under test stdout around the loop.
struct puts_writer {
    std::string line = std::string(15, 'x');
    void step(const stdio_side &side, FILE *) { side.puts(line.c_str()); }
    std::string expected() const { return line + "\n"; }
};

// Makes a stream stdout while this object lives.
class standard_output {
    FILE *before = stdout;

  public:
    explicit standard_output(FILE *file) { stdout = file; }
    ~standard_output() { stdout = before; }
};

// Writes enough to fill every buffer a few times: 1 MB and at least eight calls.
template <class Writer> std::string write_some(const stdio_side &side, FILE *file, Writer writer) {
    std::string expected;
    const standard_output redirected(file);
    for (int calls = 0; calls < 8 || expected.size() < (1 << 20); calls++) {
        expected += writer.expected();
        writer.step(side, file);
    }
    return expected;
}

template <class Writer> bool writes_all(const stdio_side &side, const Writer &writer) {
    const std::string path = scratch_path("written");
    FILE *file = open_stream(side, path, "w");
    const std::string expected = write_some(side, file, writer);
    const bool closed = side.fclose(file) == 0;
    const bool right = closed && file_bytes(path) == expected;
    unlink(path.c_str());
    return right;
}

template <class Writer> void time_writing(benchmark::State &state, const stdio_side &side, Writer writer) {
    FILE *file = open_stream(side, "/dev/null", "w");
    {
        const standard_output redirected(file);
        for (auto _ : state)
            writer.step(side, file);
    }
    side.fclose(file);
}

template <class Writer> void add(const std::string &name, const Writer &writer) {
    add_case({name, [=](const stdio_side &side) { return writes_all(side, writer); },
              [=](benchmark::State &state, const stdio_side &side) { time_writing(state, side, writer); }});
}

} // namespace

void add_writing() {
    add("putc", character_writer<&stdio_side::putc>());
    add("fputc", character_writer<&stdio_side::fputc>());
    add("putc_unlocked", character_writer<&stdio_side::putc_unlocked>());
    for (const size_t size : {1, 2, 4, 8, 16, 64, 256, 512, 1024, 4096, 16384, 65536})
        add("fwrite/" + std::to_string(size), block_writer(size));
    add("fputs/16", fputs_writer(16));
    add("fputs/117", fputs_writer(117));
    add("puts/16", puts_writer());
}
