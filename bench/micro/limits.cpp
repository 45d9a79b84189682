/* SPDX-License-Identifier: MIT
 *
 * limits.cpp - the cost of moving the data alone on this machine: the lower limit of the calls that are
 * timed.
 */
#include "cases.h"
#include "inputs.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace {

constexpr size_t window_size = 2 << 20;
constexpr size_t buffer_size = 65536;

// Called through an opaque pointer, as the stdio calls are.
void *(*volatile copy_bytes)(void *, const void *, size_t) = memcpy;

struct descriptor {
    int fd;
    descriptor(const std::string &path, int flags) : fd(open(path.c_str(), flags | O_CLOEXEC)) {
        if (fd < 0)
            throw std::system_error(errno, std::generic_category(), path + ": open");
    }
    descriptor(const descriptor &) = delete;
    descriptor &operator=(const descriptor &) = delete;
    ~descriptor() { close(fd); }
};

// Maps the input file window after window, and starts again at its end.
class mapped_windows {
    descriptor file{binary_input().path, O_RDONLY};
    size_t offset = 0;
    const char *window = nullptr;

    void unmap() {
        if (window)
            munmap(const_cast<char *>(window), window_size);
    }

  public:
    const char *next() {
        unmap();
        void *mapped = mmap(nullptr, window_size, PROT_READ, MAP_SHARED, file.fd, static_cast<off_t>(offset));
        if (mapped == MAP_FAILED)
            throw std::system_error(errno, std::generic_category(), binary_input().path + ": mmap");
        offset = (offset + window_size) % input_size;
        return window = static_cast<const char *>(mapped);
    }
    ~mapped_windows() { unmap(); }
};

uint64_t sum_words(const char *data, size_t size) {
    uint64_t sum = 0, word;
    for (size_t at = 0; at + sizeof word <= size; at += sizeof word) {
        __builtin_memcpy(&word, data + at, sizeof word);
        sum += word;
    }
    return sum;
}

// The fixed cost of a timed call: the loop, the call, the test of its result.
[[gnu::noinline]] int return_at_once(FILE *) {
    return 0;
}
int (*volatile called)(FILE *) = return_at_once;

void call_only(benchmark::State &state) {
    const auto function = called;
    for (auto _ : state)
        if (function(nullptr) == EOF)
            state.SkipWithError("the empty function failed");
}

// The lower limit of getc, ungetc and getc: three calls that move a position in memory; each depends on the
// previous one's store.
struct position {
    const char *at;
};
[[gnu::noinline]] int forward(position &p) {
    return *p.at++;
}
[[gnu::noinline]] int backward(position &p) {
    return *--p.at;
}
int (*volatile forward_called)(position &) = forward;
int (*volatile backward_called)(position &) = backward;

void step_back_and_forth(benchmark::State &state) {
    const std::string &bytes = binary_input().bytes;
    const auto on = forward_called, back = backward_called;
    position p = {bytes.data()};
    size_t left = bytes.size();
    for (auto _ : state) {
        benchmark::DoNotOptimize(on(p));
        benchmark::DoNotOptimize(back(p));
        benchmark::DoNotOptimize(on(p));
        if (--left == 0) {
            p.at = bytes.data();
            left = bytes.size();
        }
    }
}

// fread's lower limit: copies from mapped windows to one block.
void copy_out(benchmark::State &state, size_t size) {
    mapped_windows windows;
    std::vector<char> block(size);
    const char *from = nullptr;
    size_t at = window_size;
    for (auto _ : state) {
        if (at == window_size) {
            from = windows.next();
            at = 0;
        }
        copy_bytes(block.data(), from + at, size);
        at += size;
    }
}

// fwrite's lower limit for short blocks: copies one block to a buffer that is written to /dev/null when full.
void copy_in(benchmark::State &state, size_t size) {
    const descriptor null("/dev/null", O_WRONLY);
    std::vector<char> buffer(buffer_size);
    const char *block = binary_input().bytes.data();
    size_t at = 0;
    for (auto _ : state) {
        copy_bytes(buffer.data() + at, block, size);
        at += size;
        if (at == buffer_size) {
            if (write(null.fd, buffer.data(), buffer_size) < 0)
                return state.SkipWithError("/dev/null: write");
            at = 0;
        }
    }
}

// fwrite's lower limit for long blocks: write() without a copy.
void write_block(benchmark::State &state, size_t size) {
    const descriptor null("/dev/null", O_WRONLY);
    const char *block = binary_input().bytes.data();
    for (auto _ : state)
        if (write(null.fd, block, size) < 0)
            return state.SkipWithError("/dev/null: write");
}

template <bool summed> void read_blocks(benchmark::State &state) {
    const descriptor file(binary_input().path, O_RDONLY);
    std::vector<char> buffer(buffer_size);
    off_t offset = 0;
    for (auto _ : state) {
        if (pread(file.fd, buffer.data(), buffer_size, offset) != static_cast<ssize_t>(buffer_size))
            return state.SkipWithError("pread of the input");
        if (summed)
            benchmark::DoNotOptimize(sum_words(buffer.data(), buffer_size));
        offset = (offset + static_cast<off_t>(buffer_size)) % static_cast<off_t>(input_size);
    }
    state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * buffer_size));
}

void map_and_sum(benchmark::State &state) {
    mapped_windows windows;
    for (auto _ : state)
        benchmark::DoNotOptimize(sum_words(windows.next(), window_size));
    state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * window_size));
}

void sum_in_memory(benchmark::State &state) {
    const std::string &bytes = binary_input().bytes;
    for (auto _ : state)
        benchmark::DoNotOptimize(sum_words(bytes.data(), bytes.size()));
    state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes.size()));
}

} // namespace

void add_limits() {
    add_limit("ungetc+getc", step_back_and_forth);
    for (const size_t size : {1, 2, 4, 8, 16, 64, 256, 512, 1024, 4096, 16384, 65536}) {
        add_limit("fread/" + std::to_string(size), [=](benchmark::State &state) { copy_out(state, size); });
        add_limit("fwrite/" + std::to_string(size), [=](benchmark::State &state) {
            size < 4096 ? copy_in(state, size) : write_block(state, size);
        });
    }
    add_limit("call", call_only);
    add_limit("page cache, read 64 KB", read_blocks<false>);
    add_limit("page cache, read 64 KB and sum", read_blocks<true>);
    add_limit("page cache, map 2 MB and sum", map_and_sum);
    add_limit("memory, sum", sum_in_memory);
}
