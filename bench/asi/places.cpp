/* SPDX-License-Identifier: MIT
 *
 * places.cpp - 16 bytes at each of 100,000 different offsets of a file: sallocAt and pread, by one thread and
 * by two.  The pages are in memory, and have been touched.
 */
#include "asi_bench.h"
#include "sides.h"

#include <algorithm>
#include <atomic>
#include <random>
#include <set>

namespace {

constexpr size_t region_size = 16, place_count = 100000;

struct place_file {
    std::string name, path;
    std::vector<off_t> places;
    uint64_t sum = 0; // the sum of ends() over all regions
};

std::vector<off_t> random_places(off_t file_size, size_t count) {
    std::mt19937_64 engine(7);
    std::set<off_t> different;
    while (different.size() < count)
        different.insert(static_cast<off_t>(engine() % static_cast<uint64_t>(file_size / 16)) * 16);
    std::vector<off_t> places(different.begin(), different.end());
    std::shuffle(places.begin(), places.end(), engine);
    return places;
}

const char *text_at(off_t place) {
    return &text()[static_cast<size_t>(place) % text().size()];
}

place_file make_full(const std::string &directory) {
    place_file made{"200 MB", make_file(directory + "/full", 200), {}};
    made.places = random_places(static_cast<off_t>(200 * text().size()), place_count);
    for (const off_t place : made.places)
        made.sum += ends(text_at(place), region_size);
    return made;
}

// One offset in a hundred has text, the others are in holes.
place_file make_sparse(const std::string &directory) {
    const off_t size = off_t{20} << 30;
    place_file made{"20 GB", make_file(directory + "/sparse", 0), random_places(size, place_count)};
    const int fd = open(made.path.c_str(), O_WRONLY);
    bool written = ftruncate(fd, size) == 0;
    for (size_t i = 0; i < place_count; i += 100) {
        written = written && pwrite(fd, text_at(made.places[i]), region_size, made.places[i]) > 0;
        made.sum += ends(text_at(made.places[i]), region_size);
    }
    if (close(fd) || !written)
        give_up("the sparse file cannot be written");
    return made;
}

uint64_t by_pread(int fd, const off_t *place, size_t count) {
    uint64_t sum = 0;
    for (char bytes[region_size]; count > 0; count--) {
        if (pread(fd, bytes, region_size, *place++) == ssize_t{region_size})
            sum += ends(bytes, region_size);
    }
    return sum;
}

uint64_t by_sallocAt(asf_cios *in, const off_t *place, size_t count) {
    uint64_t sum = 0;
    for (; count > 0; count--) {
        ssize_t n = region_size;
        void *region = sallocAt(in, &n, *place++, SEEK_SET);
        if (n == ssize_t{region_size})
            sum += ends(static_cast<char *>(region), region_size);
        sfree(in, region);
    }
    return sum;
}

// Reads each offset once; the threads share the offsets.
template <class Source, class Read>
double timed(const place_file &file, unsigned threads, Source source, Read read) {
    std::atomic<uint64_t> sum = 0;
    const size_t each = place_count / threads;
    const double taken =
        in_threads(threads, [&](unsigned i) { sum += read(source, file.places.data() + i * each, each); });
    if (sum != file.sum)
        give_up("something else stands in the places of " + file.path);
    return taken;
}

void add_file(const place_file &file) {
    const int fd = open(file.path.c_str(), O_RDONLY);
    asf_cios *kept = sopen(file.path.c_str(), O_RDONLY, 0, nullptr);
    if (by_pread(fd, file.places.data(), place_count) != file.sum)
        give_up("something else stands in " + file.path);
    for (const unsigned threads : {1u, 2u}) {
        const std::string name = "places " + file.name + "/" + std::to_string(threads) + " ";
        for (const char *way : {"pread", "again"})
            add_case(name + way, place_count, [=] { return timed(file, threads, fd, by_pread); });
        add_case(name + "sallocAt", place_count, [=] { return timed(file, threads, kept, by_sallocAt); });
        add_case(name + "sallocAt first", place_count, [=] {
            asf_cios *opened = sopen(file.path.c_str(), O_RDONLY, 0, nullptr);
            const double taken = timed(file, threads, opened, by_sallocAt);
            sclose(opened);
            return taken;
        });
    }
}

// Adds cases for 100,000 offsets below 4000, which are all within the stream's buffer.
void add_buffer(const std::string &path) {
    place_file near{"buffer", path, {}};
    std::mt19937 engine(7);
    for (size_t i = 0; i < place_count; i++) {
        near.places.push_back(engine() % 4000);
        near.sum += ends(text_at(near.places.back()), region_size);
    }
    const int fd = open(path.c_str(), O_RDONLY);
    for (const char *way : {"pread", "again"})
        add_case(std::string("places buffer/1 ") + way, place_count,
                 [=] { return timed(near, 1, fd, by_pread); });
    add_case("places buffer/1 sallocAt", place_count, [=] {
        asf_cios *in = sopen(path.c_str(), O_RDONLY, 0, nullptr);
        ssize_t n = 4096;
        sfree(in, salloc(in, &n));
        const double taken = timed(near, 1, in, by_sallocAt);
        sclose(in);
        return taken;
    });
}

} // namespace

void add_places(const std::string &directory) {
    const place_file full = make_full(directory);
    add_file(full);
    add_file(make_sparse(directory));
    add_buffer(full.path);
}
