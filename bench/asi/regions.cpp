/* SPDX-License-Identifier: MIT
 *
 * regions.cpp - regions of 16 and 117 bytes in sequence: by the inline calls, locked and unlocked, compared
 * with fread and fwrite.  The first and the last byte of each region are read or written.
 */
#include "asi_bench.h"
#include "sides.h"

#include <fstream>
#include <iterator>

namespace {

using input_pass = std::function<uint64_t()>;
using output_pass = std::function<void()>;

uint64_t expected(size_t size) {
    uint64_t sum = 0;
    for (size_t at = 0; at < text().size(); at += size)
        sum += ends(&text()[at], size);
    return sum;
}

template <auto take, auto give> input_pass by_regions(const std::string &path, size_t size) {
    asf_cios *in = sopen(path.c_str(), O_RDONLY, 0, nullptr);
    return [in, size] {
        uint64_t sum = 0;
        ssize_t n = static_cast<ssize_t>(size);
        void *region = sallocAt(in, &n, 0, SEEK_SET);
        for (; region; region = take(in, &n)) {
            sum += ends(static_cast<char *>(region), size);
            give(in, region);
            n = static_cast<ssize_t>(size);
        }
        return sum;
    };
}

input_pass by_fread(const stdio_side &side, const std::string &path, size_t size) {
    FILE *in = side.fopen(path.c_str(), "r");
    return [&side, in, size] {
        uint64_t sum = 0;
        char bytes[128];
        side.rewind(in);
        while (side.fread(bytes, 1, size, in) == size)
            sum += ends(bytes, size);
        return sum;
    };
}

// The lower limit of input by read(): reads blocks of whole regions, without a stream.
input_pass by_read(const std::string &path, size_t size, size_t block_size) {
    const int fd = open(path.c_str(), O_RDONLY);
    return [fd, size, block = std::string(block_size, '\0')]() mutable {
        uint64_t sum = 0;
        ssize_t n;
        lseek(fd, 0, SEEK_SET);
        while ((n = read(fd, block.data(), block.size())) > 0) {
            for (size_t at = 0; at < static_cast<size_t>(n); at += size)
                sum += ends(&block[at], size);
        }
        return sum;
    };
}

template <auto take, auto give> output_pass to_regions(const std::string &path, size_t size, bool close) {
    asf_cios *out = sopen(path.c_str(), O_WRONLY | O_CREAT, 0600, nullptr);
    return [out, size, close] {
        const std::string &from = text();
        for (size_t at = 0; at < from.size(); at += size) {
            ssize_t n = static_cast<ssize_t>(size);
            char *region = static_cast<char *>(take(out, &n));
            region[0] = from[at];
            region[size - 1] = from[at + size - 1];
            give(out, region);
        }
        if (close && sclose(out))
            give_up("sclose has failed");
    };
}

output_pass to_fwrite(const stdio_side &side, const std::string &path, size_t size, bool close) {
    FILE *out = side.fopen(path.c_str(), "w");
    return [&side, out, size, close] {
        const std::string &from = text();
        for (size_t at = 0; at < from.size(); at += size)
            side.fwrite(&from[at], 1, size, out);
        if (close && side.fclose(out))
            give_up("fclose has failed");
    };
}

void add_input(const std::string &name, size_t size, const input_pass &one) {
    add_case(name, text().size() / size, [name, one, sum = expected(size)] {
        const double start = cpu_now();
        const uint64_t found = one();
        const double taken = cpu_now() - start;
        if (found != sum)
            give_up(name + " has read something else");
        return taken;
    });
}

// Timed output goes to /dev/null.  The same calls first write a file, which is compared.
template <class Make>
void add_output(const std::string &name, const std::string &path, size_t size, Make make) {
    make(path, true)();
    std::ifstream file(path, std::ios::binary);
    const std::string found{std::istreambuf_iterator<char>(file), {}};
    bool right = found.size() == text().size();
    for (size_t at = 0; right && at < found.size(); at += size)
        right = found[at] == text()[at] && found[at + size - 1] == text()[at + size - 1];
    if (!right)
        give_up(name + " has written something else");
    std::remove(path.c_str());
    add_case(name, text().size() / size, [one = output_pass(make("/dev/null", false))] {
        const double start = cpu_now();
        one();
        return cpu_now() - start;
    });
}

} // namespace

void add_regions(const std::string &directory) {
    const std::string path = make_file(directory + "/text", 1), written = directory + "/written";
    const stdio_side &libc = libc_side(), &asf = asf_side();
    for (const size_t size : {size_t{16}, size_t{117}}) {
        const std::string in = "input " + std::to_string(size) + "/", out = "output " + in.substr(6);
        add_input(in + "salloc", size, by_regions<asf_salloc, asf_sfree>(path, size));
        add_input(in + "u_salloc", size, by_regions<asf_u_salloc, asf_u_sfree>(path, size));
        add_input(in + "libc", size, by_fread(libc, path, size));
        add_input(in + "again", size, by_fread(libc, path, size));
        add_input(in + "asf", size, by_fread(asf, path, size));
        add_input(in + "4 KB", size, by_read(path, size, 2 * 16 * 117));
        add_input(in + "64 KB", size, by_read(path, size, 35 * 16 * 117));
        add_output(out + "salloc", written, size, [=](const std::string &to, bool close) {
            return to_regions<asf_salloc, asf_sfree>(to, size, close);
        });
        add_output(out + "u_salloc", written, size, [=](const std::string &to, bool close) {
            return to_regions<asf_u_salloc, asf_u_sfree>(to, size, close);
        });
        add_output(out + "libc", written, size,
                   [&libc, size](auto &to, bool close) { return to_fwrite(libc, to, size, close); });
        add_output(out + "again", written, size,
                   [&libc, size](auto &to, bool close) { return to_fwrite(libc, to, size, close); });
        add_output(out + "asf", written, size,
                   [&asf, size](auto &to, bool close) { return to_fwrite(asf, to, size, close); });
    }
}
