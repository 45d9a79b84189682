/* SPDX-License-Identifier: MIT
 *
 * turns.cpp - 64 bytes of input and 64 of output alternately on one file, and 100,000 positional regions of
 * output, or updates in place, by one, two and four threads.  The files are read and compared after each
 * pass.
 */
#include "asi_bench.h"
#include "sides.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>
#include <random>

namespace {

constexpr size_t turn = 64, turn_count = 4096, region_size = 64, region_count = 100000;

std::string content(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// --- by turns: each way reads 64 bytes and writes the text's next 64 in capitals -----------------

std::string capitals(size_t at) {
    std::string made = text().substr(at, turn);
    for (char &c : made)
        c = static_cast<char>(c ^ 0x20);
    return made;
}

uint64_t by_Salloc(const std::string &path, const std::string &put) {
    uint64_t sum = 0;
    asf_cios *file = sopen(path.c_str(), O_RDWR, 0, nullptr);
    for (size_t i = 0; i < turn_count; i++) {
        ssize_t n = turn;
        void *region = Salloc(file, ASF_READ, &n);
        sum += ends(static_cast<char *>(region), turn);
        sfree(file, region);
        region = Salloc(file, ASF_WRITE, &n);
        memcpy(region, &put[i * turn], turn);
        sfree(file, region);
    }
    return sclose(file) ? 0 : sum;
}

uint64_t by_stdio(const std::string &path, const std::string &put) {
    const stdio_side &libc = libc_side();
    uint64_t sum = 0;
    char bytes[turn];
    FILE *file = libc.fopen(path.c_str(), "r+");
    for (size_t i = 0; i < turn_count; i++) {
        if (libc.fread(bytes, 1, turn, file) == turn)
            sum += ends(bytes, turn);
        libc.fseek(file, 0, SEEK_CUR);
        libc.fwrite(&put[i * turn], 1, turn, file);
        libc.fseek(file, 0, SEEK_CUR);
    }
    return libc.fclose(file) ? 0 : sum;
}

uint64_t by_pread(const std::string &path, const std::string &put) {
    uint64_t sum = 0;
    char bytes[turn];
    const int fd = open(path.c_str(), O_RDWR);
    for (size_t i = 0; i < turn_count; i++) {
        const off_t at = static_cast<off_t>(2 * i * turn);
        if (pread(fd, bytes, turn, at) == ssize_t{turn})
            sum += ends(bytes, turn);
        if (pwrite(fd, &put[i * turn], turn, at + off_t{turn}) != ssize_t{turn})
            return 0;
    }
    return close(fd) ? 0 : sum;
}

template <auto way> void add_turn(const std::string &name, const std::string &path) {
    std::string put, after = text();
    uint64_t sum = 0;
    for (size_t i = 0; i < turn_count; i++) {
        put += capitals((2 * i + 1) * turn);
        after.replace((2 * i + 1) * turn, turn, put, i * turn, turn);
        sum += ends(&text()[2 * i * turn], turn);
    }
    add_case("turns/" + name, turn_count, [=] {
        std::fstream(path, std::ios::in | std::ios::out | std::ios::binary) << text();
        const double start = cpu_now();
        const uint64_t found = way(path, put);
        const double taken = cpu_now() - start;
        if (found != sum || content(path) != after)
            give_up(name + ", by turns: something else was read or written");
        return taken;
    });
}

// --- output at places ------------------------------------------------------------------------------

struct output_file {
    std::string path, expected;
    std::vector<size_t> order; // of the regions
};

const output_file &prepared(const std::string &directory) {
    static output_file made;
    made.path = directory + "/output";
    made.order.resize(region_count);
    std::iota(made.order.begin(), made.order.end(), size_t{0});
    std::shuffle(made.order.begin(), made.order.end(), std::mt19937(7));
    while (made.expected.size() < region_count * region_size)
        made.expected += text();
    made.expected.resize(region_count * region_size);
    return made;
}

// The threads call put(offset, bytes) for each region; then end() is called, which is timed, too.
template <class Put, class End>
double timed(const output_file &file, unsigned threads, const char *name, Put put, End end) {
    const double taken = in_threads(threads, [&](unsigned thread) {
        for (size_t i = thread; i < region_count; i += threads) {
            const size_t at = file.order[i] * region_size;
            if (!put(static_cast<off_t>(at), &file.expected[at]))
                give_up(std::string(name) + ": a region of output was refused");
        }
    });
    const double start = now();
    const int error = end();
    const double ended = now() - start;
    if (error || content(file.path) != file.expected)
        give_up(std::string(name) + ": the file is not as it must be");
    return taken + ended;
}

double put_by_sallocAt(const output_file &file, unsigned threads) {
    asf_cios *out = sopen(file.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600, nullptr);
    const auto put = [out](off_t at, const char *bytes) {
        ssize_t n = region_size;
        void *region = sallocAt(out, &n, at, SEEK_SET);
        if (!region)
            return false;
        memcpy(region, bytes, region_size);
        return sfree(out, region) == 0;
    };
    return timed(file, threads, "sallocAt", put, [out] { return sclose(out); });
}

double put_by_pwrite(const output_file &file, unsigned threads) {
    const int fd = open(file.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const auto put = [fd](off_t at, const char *bytes) {
        return pwrite(fd, bytes, region_size, at) == ssize_t{region_size};
    };
    return timed(file, threads, "pwrite", put, [fd] { return close(fd); });
}

// Before an update each region has its final bytes with one bit of each inverted.
void make_old(const output_file &file) {
    std::string old = file.expected;
    for (char &c : old)
        c = static_cast<char>(c ^ 0x20);
    std::ofstream(file.path, std::ios::binary) << old;
}

void update(char *bytes) {
    for (size_t i = 0; i < region_size; i++)
        bytes[i] = static_cast<char>(bytes[i] ^ 0x20);
}

double update_by_SallocAt(const output_file &file, unsigned threads) {
    make_old(file);
    asf_cios *both = sopen(file.path.c_str(), O_RDWR, 0, nullptr);
    const auto put = [both](off_t at, const char *) {
        char bytes[region_size];
        ssize_t n = region_size;
        void *region = SallocAt(both, ASF_READ, &n, at, SEEK_SET);
        if (n != ssize_t{region_size})
            return false;
        memcpy(bytes, region, region_size);
        sfree(both, region);
        update(bytes);
        region = SallocAt(both, ASF_WRITE, &n, at, SEEK_SET);
        if (!region)
            return false;
        memcpy(region, bytes, region_size);
        return sfree(both, region) == 0;
    };
    return timed(file, threads, "SallocAt", put, [both] { return sclose(both); });
}

double update_by_pread(const output_file &file, unsigned threads) {
    make_old(file);
    const int fd = open(file.path.c_str(), O_RDWR);
    const auto put = [fd](off_t at, const char *) {
        char bytes[region_size];
        if (pread(fd, bytes, region_size, at) != ssize_t{region_size})
            return false;
        update(bytes);
        return pwrite(fd, bytes, region_size, at) == ssize_t{region_size};
    };
    return timed(file, threads, "pread, pwrite", put, [fd] { return close(fd); });
}

} // namespace

void add_turns(const std::string &directory) {
    const std::string path = make_file(directory + "/turns", 1);
    add_turn<by_Salloc>("Salloc", path);
    add_turn<by_stdio>("libc", path);
    add_turn<by_stdio>("again", path);
    add_turn<by_pread>("pread", path);
}

void add_outputs(const std::string &directory) {
    using way = double (*)(const output_file &, unsigned);
    const output_file &file = prepared(directory);
    const auto add = [&file](const char *kind, unsigned threads, const char *name, way take) {
        add_case(std::string("places ") + kind + "/" + std::to_string(threads) + " " + name, region_count,
                 [=, &file] { return take(file, threads); });
    };
    for (const unsigned threads : {1u, 2u, 4u}) {
        add("output", threads, "sallocAt", put_by_sallocAt);
        add("output", threads, "pwrite", put_by_pwrite);
        add("output", threads, "again", put_by_pwrite);
        add("update", threads, "sallocAt", update_by_SallocAt);
        add("update", threads, "pwrite", update_by_pread);
        add("update", threads, "again", update_by_pread);
    }
}
