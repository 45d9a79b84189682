/* SPDX-License-Identifier: MIT
 *
 * line_readers.cpp - the lines of a file, by libc, C++ and asf.
 */
#include "lines_bench.h"

#include <asf/lines.h>
#include <asf/streams.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <fstream>
#include <immintrin.h>
#include <unistd.h>

double cpu_now() {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

namespace {

template <auto read> tally timed(const input &from, double *nanoseconds) {
    const double start = cpu_now();
    const tally found = read(from.path.c_str());
    *nanoseconds = cpu_now() - start;
    return found;
}

// --- libraries ---------------------------------------------------------------------

tally by_getline(const char *path) {
    tally found;
    FILE *file = fopen(path, "r");
    char *line = nullptr;
    size_t room = 0;
    ssize_t n;
    while ((n = getline(&line, &room, file)) > 0)
        found.add(static_cast<size_t>(n - (line[n - 1] == '\n')));
    free(line);
    fclose(file);
    return found;
}

tally by_fgets(const char *path) {
    tally found;
    FILE *file = fopen(path, "r");
    char line[4096];
    while (fgets(line, sizeof line, file)) {
        const size_t n = strlen(line);
        found.add(n - (line[n - 1] == '\n'));
    }
    fclose(file);
    return found;
}

template <class Stream> tally by_getline_of(const char *path) {
    tally found;
    Stream file(path);
    std::string line;
    while (getline(file, line))
        found.add(line.size());
    return found;
}

tally by_asf_lines(const char *path) {
    tally found;
    asf_cios *stream = asf_sopen(path, O_RDONLY, 0, nullptr);
    asf_lines lines;
    ssize_t n;
    asf_lines_begin(&lines, stream, '\n', 0);
    while (asf_lines_next(&lines, &n))
        found.add(static_cast<size_t>(n));
    asf_lines_end(&lines);
    asf_sclose(stream);
    return found;
}

tally by_salloc_until(const char *path) {
    tally found;
    asf_cios *stream = asf_sopen(path, O_RDONLY, 0, nullptr);
    ssize_t n = 0;
    while (char *line = static_cast<char *>(asf_salloc_until(stream, '\n', &n))) {
        found.add(static_cast<size_t>(n - (line[n - 1] == '\n')));
        asf_sfree(stream, line);
        n = 0;
    }
    asf_sclose(stream);
    return found;
}

// --- by hand: each function takes the lines of a block; returns the number of bytes after the last line ---

struct with_memchr {
    static size_t split(tally &found, const char *text, size_t n) {
        while (const void *end = memchr(text, '\n', n)) {
            const size_t length = static_cast<size_t>(static_cast<const char *>(end) - text);
            found.add(length);
            text += length + 1;
            n -= length + 1;
        }
        return n;
    }
};

template <auto mask_of>
inline __attribute__((always_inline)) size_t split_by(tally &found, const char *text, size_t n) {
    const char *line = text;
    size_t at = 0;
    for (; n - at >= 64; at += 64) {
        for (uint64_t mask = mask_of(text + at); mask; mask &= mask - 1) {
            const char *end = text + at + __builtin_ctzll(mask);
            found.add(static_cast<size_t>(end - line));
            line = end + 1;
        }
    }
    for (; at < n; at++) {
        if (text[at] == '\n') {
            found.add(static_cast<size_t>(text + at - line));
            line = text + at + 1;
        }
    }
    return static_cast<size_t>(text + n - line);
}

#define AVX2   __attribute__((target("avx2,bmi,bmi2")))
#define AVX512 __attribute__((target("avx512f,avx512bw,bmi,bmi2")))

AVX2 inline uint64_t mask_avx2(const char *p) {
    const __m256i newline = _mm256_set1_epi8('\n');
    const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(p));
    const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(p + 32));
    const auto bits = [](__m256i x) AVX2 { return static_cast<uint32_t>(_mm256_movemask_epi8(x)); };
    return bits(_mm256_cmpeq_epi8(low, newline)) |
           static_cast<uint64_t>(bits(_mm256_cmpeq_epi8(high, newline))) << 32;
}

AVX512 inline uint64_t mask_avx512(const char *p) {
    return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(p), _mm512_set1_epi8('\n'));
}

struct with_avx2 {
    AVX2 static size_t split(tally &found, const char *text, size_t n) {
        return split_by<mask_avx2>(found, text, n);
    }
};

struct with_avx512 {
    AVX512 static size_t split(tally &found, const char *text, size_t n) {
        return split_by<mask_avx512>(found, text, n);
    }
};

template <class Way> tally over_map(const char *path) {
    tally found;
    const mapped file(path);
    if (const size_t rest = Way::split(found, file.text().data(), file.text().size()))
        found.add(rest);
    return found;
}

template <class Way> tally over_read(const char *path) {
    tally found;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    std::vector<char> block(64 << 10);
    size_t rest = 0;
    ssize_t n;
    while ((n = read(fd, block.data() + rest, block.size() - rest)) > 0) {
        const size_t have = rest + static_cast<size_t>(n);
        rest = Way::split(found, block.data(), have);
        memmove(block.data(), block.data() + have - rest, rest);
        if (rest == block.size())
            block.resize(2 * rest);
    }
    if (rest)
        found.add(rest);
    close(fd);
    return found;
}

// --- musl: a separate program --------------------------------------------------

std::string musl_program() {
    std::string path(4096, '\0');
    const ssize_t n = readlink("/proc/self/exe", path.data(), path.size());
    path.resize(n > 0 ? static_cast<size_t>(n) : 0);
    return path.substr(0, path.rfind('/') + 1) + "musl_lines";
}

tally by_musl(const input &from, double *nanoseconds) {
    tally found;
    FILE *program = popen((musl_program() + " " + from.path).c_str(), "r");
    if (fscanf(program, "%lf %lu %lu", nanoseconds, &found.count, &found.sum) != 3)
        found = {};
    pclose(program);
    return found;
}

} // namespace

std::string module_of(const input &from) {
    asf_cios *stream = asf_sopen(from.path.c_str(), O_RDONLY, 0, nullptr);
    ssize_t n = 0;
    asf_sfree(stream, asf_salloc_until(stream, '\n', &n));
    const std::string name = asf_module_name(stream);
    asf_sclose(stream);
    return name;
}

std::vector<reader> line_readers() {
    std::vector<reader> readers = {
        {"libc getline", timed<by_getline>},
        {"libc fgets", timed<by_fgets>},
        {"std::getline", timed<by_getline_of<std::ifstream>>},
        {"getline, asf::istream", timed<by_getline_of<asf::istream>>},
        {"memchr, mmap", timed<over_map<with_memchr>>},
        {"memchr, read", timed<over_read<with_memchr>>},
    };
    if (access(musl_program().c_str(), X_OK) == 0)
        readers.push_back({"musl getline", by_musl});
    if (__builtin_cpu_supports("avx2")) {
        readers.push_back({"avx2, mmap", timed<over_map<with_avx2>>});
        readers.push_back({"avx2, read", timed<over_read<with_avx2>>});
    }
    if (__builtin_cpu_supports("avx512bw")) {
        readers.push_back({"avx512, mmap", timed<over_map<with_avx512>>});
        readers.push_back({"avx512, read", timed<over_read<with_avx512>>});
    }
    readers.push_back({"salloc_until", timed<by_salloc_until>});
    readers.push_back({"asf_lines", timed<by_asf_lines>});
    readers.push_back(cxx_line_reader());
    return readers;
}
