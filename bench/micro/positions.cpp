/* SPDX-License-Identifier: MIT
 *
 * positions.cpp - seeks in a stream, queries of its offset, and opening.
 */
#include "cases.h"
#include "inputs.h"

#include <cstdint>

namespace {

// A mover has step(), the timed calls, and at(), the stream's offset after step().

// Seeks forward by 16 bytes 127 times and back again: always within libc's 4096-byte buffer.
template <int whence> struct near_seek {
    long offset = 0;
    void step(const stdio_side &side, FILE *file) {
        const long next = (offset + 16) % 2048;
        side.fseek(file, whence == SEEK_CUR ? next - offset : next, whence);
        offset = next;
    }
    long at() const { return offset; }
};

struct tell {
    long answer = 0;
    void step(const stdio_side &side, FILE *file) { answer = side.ftell(file); }
    long at() const { return answer; }
};

struct far_seek {
    uint64_t random = 1;
    long offset = 0;
    int got = 0;
    void step(const stdio_side &side, FILE *file) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        offset = static_cast<long>((random >> 33) % (input_size - 1));
        side.fseek(file, offset, SEEK_SET);
        got = side.getc(file);
    }
    long at() const { return offset + 1; }
};

char byte_at(long offset) {
    return binary_input().bytes[static_cast<size_t>(offset)];
}

// Checks after each step that the stream's offset is the mover's, and that the byte there is the file's; then
// seeks back over that byte.
template <class Mover> bool moves_right(const stdio_side &side, Mover mover) {
    FILE *file = open_stream(side, binary_input().path, "r");
    bool right = side.getc(file) == static_cast<unsigned char>(byte_at(0));
    side.rewind(file);
    for (int steps = 0; steps < 1000 && right; steps++) {
        mover.step(side, file);
        right = side.ftell(file) == mover.at() && static_cast<char>(side.getc(file)) == byte_at(mover.at()) &&
                side.fseek(file, mover.at(), SEEK_SET) == 0;
    }
    side.fclose(file);
    return right;
}

// The stream has been read but not sought: libc then asks the kernel for the offset at each call.
template <class Mover> void time_moving(benchmark::State &state, const stdio_side &side, Mover mover) {
    FILE *file = open_stream(side, binary_input().path, "r");
    side.getc(file);
    for (auto _ : state)
        mover.step(side, file);
    benchmark::DoNotOptimize(mover.at());
    side.fclose(file);
}

template <class Mover> void add(const std::string &name, const Mover &mover) {
    add_case({name, [=](const stdio_side &side) { return moves_right(side, mover); },
              [=](benchmark::State &state, const stdio_side &side) { time_moving(state, side, mover); }});
}

// Returns the first byte of the file, or EOF.
int open_get_close(const stdio_side &side, const input_file &input) {
    FILE *file = open_stream(side, input.path, "r");
    const int got = side.getc(file);
    side.fclose(file);
    return got;
}

void add_opening(const std::string &name, const input_file &(*input)()) {
    const auto right = [=](const stdio_side &side) {
        return open_get_close(side, input()) == static_cast<unsigned char>(input().bytes[0]);
    };
    const auto time = [=](benchmark::State &state, const stdio_side &side) {
        const input_file &made = input(); // makes the file before the clock starts
        for (auto _ : state)
            benchmark::DoNotOptimize(open_get_close(side, made));
    };
    add_case({name, right, time});
}

} // namespace

void add_positions() {
    add("ftell", tell());
    add("fseek near, SEEK_CUR", near_seek<SEEK_CUR>());
    add("fseek near, SEEK_SET", near_seek<SEEK_SET>());
    add("fseek far + getc", far_seek());
    add_opening("fopen+getc+fclose/117 B", small_input);
    add_opening("fopen+getc+fclose/16 MB", binary_input);
}
