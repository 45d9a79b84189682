/* SPDX-License-Identifier: MIT
 *
 * sharing.cpp - threads that read one stream: shows the paper's point that data is copied with the stream
 * unlocked.
 */
#include "cases.h"
#include "inputs.h"

#include <atomic>
#include <cstring>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr size_t block_size = 65536;

struct totals {
    uint64_t bytes = 0, sum = 0;
    void add(std::string_view data) {
        bytes += data.size();
        for (const char c : data)
            sum += static_cast<unsigned char>(c);
    }
    bool operator==(const totals &) const = default;
};

totals read_until_end(const stdio_side &side, FILE *file) {
    std::vector<char> block(block_size);
    totals seen;
    while (const size_t got = side.fread(block.data(), 1, block.size(), file))
        seen.add({block.data(), got});
    return seen;
}

// Checks that two threads together read every byte of the file once.
bool shares_right(const stdio_side &side) {
    FILE *file = open_stream(side, binary_input().path, "r");
    totals other, expected;
    std::thread second([&] { other = read_until_end(side, file); });
    totals both = read_until_end(side, file);
    second.join();
    side.fclose(file);
    both.bytes += other.bytes;
    both.sum += other.sum;
    expected.add(binary_input().bytes);
    return both == expected;
}

// Each thread counts its own bytes; the thread that meets the end rewinds the stream for all.
uint64_t time_blocks(benchmark::State &state, const stdio_side &side, FILE *const &shared) {
    std::vector<char> block(block_size);
    uint64_t bytes = 0;
    for (auto _ : state) {
        const size_t got = side.fread(block.data(), 1, block.size(), shared);
        bytes += got;
        if (got < block.size())
            side.rewind(shared);
    }
    return bytes;
}

// The loop's first and last iterations are barriers, so the first thread may open and close for all.
void time_sharing(benchmark::State &state, const stdio_side &side, FILE *&shared) {
    if (state.thread_index() == 0)
        shared = open_stream(side, binary_input().path, "r");
    state.SetBytesProcessed(static_cast<int64_t>(time_blocks(state, side, shared)));
    if (state.thread_index() == 0)
        side.fclose(shared);
}

// The upper limit: threads copy blocks of the file from memory; one atomic counter assigns the blocks.
void copy_sharing(benchmark::State &state, std::atomic<size_t> &next) {
    const std::string &bytes = binary_input().bytes;
    std::vector<char> block(block_size);
    for (auto _ : state) {
        const size_t at = next.fetch_add(block_size) % bytes.size();
        memcpy(block.data(), bytes.data() + at, block_size);
        benchmark::ClobberMemory();
    }
    state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * block_size));
}

} // namespace

void add_sharing() {
    for (const int threads : {1, 2}) {
        const auto next = std::make_shared<std::atomic<size_t>>(0);
        add_limit(
            "fread/65536 shared", [=](benchmark::State &state) { copy_sharing(state, *next); }, threads);
        const auto shared = std::make_shared<FILE *>();
        add_case(
            {"fread/65536 shared", shares_right,
             [=](benchmark::State &state, const stdio_side &side) { time_sharing(state, side, *shared); },
             threads});
    }
}
