// SPDX-License-Identifier: MIT
//
// changing_files_decoders.cpp - a changing compressed file, read by asf_decode: the output is that of one
// state of the file, or ends in an error.
#include <asf/asf.h>
#include <asf/decode.h>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "tests/faults/changing_files.h"

namespace {

constexpr size_t states = 4;
std::string plain[states], encoded[states];

std::string output_of(const std::string &command) {
    std::string out;
    FILE *f = popen(command.c_str(), "r");
    char part[65536];
    for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;)
        out.append(part, n);
    if (pclose(f) != 0)
        perror(command.c_str());
    return out;
}

// The format's checksums detect a mixture of two states.
void make_states(const std::string &folder, const std::string &encode) {
    const std::string name = folder + "/changing-" + std::to_string(getpid()) + ".plain";
    for (unsigned i = 0; i < states; i++) {
        plain[i].resize(3 << 20);
        for (size_t at = 0; at < plain[i].size(); at++)
            plain[i][at] = changing_byte(at, i);
        FILE *f = fopen(name.c_str(), "w");
        fwrite(plain[i].data(), 1, plain[i].size(), f);
        fclose(f);
        encoded[i] = output_of(encode + " <" + name);
        set_content(i, encoded[i].data(), static_cast<long>(encoded[i].size()));
    }
    unlink(name.c_str());
}

bool is_a_state(const std::string &got) {
    for (const std::string &state : plain)
        if (got == state)
            return true;
    return false;
}

// Reads until the end or an error; returns the error.
ssize_t read_all(asf_cios *stream, std::string &got) {
    for (;;) {
        ssize_t n = static_cast<ssize_t>(any_size(300000));
        auto *p = static_cast<char *>(salloc(stream, &n));
        if (!p)
            return n;
        may_change();
        got.append(p, static_cast<size_t>(n));
        sfree(stream, p);
    }
}

// An empty file, or one that is cut off within its magic number, counts as uncompressed.
void read_decoded(const char *path) {
    set_signals_now();
    for (int opened = 0; opened < 5; opened++) {
        int error = 0;
        std::string got;
        asf_cios *file = sopen(path, O_RDONLY, 0, nullptr), *decoded = asf_decode(file, &error);
        if (!decoded && error != -EIO)
            fail_at(-1, "asf_decode: %s", strerror(-error));
        ssize_t end = read_all(decoded ? decoded : file, got);
        if (decoded && decoded != file && end == 0 && !is_a_state(got))
            fail_at(static_cast<long>(got.size()), "%zu bytes were decoded, of none of the states",
                    got.size());
        if (decoded && decoded != file && end < 0 && end != -EBADMSG && end != -EIO && end != -ENOMEM)
            fail_at(-1, "decoding: %s", strerror(static_cast<int>(-end)));
        sclose(decoded ? decoded : file);
    }
}

} // namespace

// PROGRAM FOLDER COMMAND: COMMAND is the compressor.
int main(int argc, char **argv) {
    static const changing_reader reader = {argv[argc - 1], read_decoded};
    if (argc != 3)
        return 2;
    make_states(argv[1], argv[2]);
    return changing_files(2, argv, &reader, 1);
}
