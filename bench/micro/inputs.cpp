/* SPDX-License-Identifier: MIT
 *
 * inputs.cpp - makes the input files, by system calls only.
 */
#include "inputs.h"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace {

std::string directory = "/var/tmp";

// A linear congruential generator (Knuth's MMIX constants): the same data in every run.
struct generator {
    uint64_t state = 1;
    uint32_t next() {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<uint32_t>(state >> 33);
    }
};

std::system_error failure(const std::string &path, const char *call) {
    return {errno, std::generic_category(), path + ": " + call};
}

void write_bytes(int fd, const std::string &path, const std::string &bytes) {
    for (size_t done = 0; done < bytes.size();) {
        const ssize_t written = write(fd, bytes.data() + done, bytes.size() - done);
        if (written < 0)
            throw failure(path, "write");
        done += static_cast<size_t>(written);
    }
}

// Writes the bytes `times` times; 0: makes a hole of their length.
void write_file(const std::string &path, const std::string &bytes, int times) {
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        throw failure(path, "open");
    for (int i = 0; i < times; i++)
        write_bytes(fd, path, bytes);
    if (times == 0 && ftruncate(fd, static_cast<off_t>(bytes.size())) < 0)
        throw failure(path, "ftruncate");
    close(fd);
}

// A file in the page cache, which the destructor removes.
struct temporary_input {
    input_file file;
    temporary_input(const std::string &name, std::string bytes, int times = 1)
        : file{scratch_path(name), std::move(bytes)} {
        write_file(file.path, file.bytes, times);
    }
    ~temporary_input() { unlink(file.path.c_str()); }
};

std::string make_text() {
    std::string bytes;
    generator random;
    for (size_t at = 0; at < input_size; at++)
        bytes += at % line_length == line_length - 1 ? '\n' : static_cast<char>(' ' + random.next() % 95);
    return bytes;
}

std::string make_binary() {
    std::string bytes;
    generator random;
    for (size_t at = 0; at < input_size; at++)
        bytes += static_cast<char>(random.next());
    return bytes;
}

std::string number_text(generator &random) {
    return std::to_string(static_cast<int>(random.next() % 2000000) - 1000000);
}

std::string real_text(generator &random, int decimals) {
    char text[40];
    snprintf(text, sizeof text, "%.*f", decimals, static_cast<double>(random.next()) / 1e5);
    return text;
}

std::string word_text(generator &random) {
    std::string word;
    for (size_t n = 2 + random.next() % 9; n > 0; n--)
        word += static_cast<char>('a' + random.next() % 26);
    return word;
}

// Appends lines until the text has input_size bytes.
template <class Line> std::string make_lines(const Line &line) {
    std::string bytes;
    generator random;
    while (bytes.size() < input_size)
        bytes += line(random) + "\n";
    return bytes;
}

std::string make_record(generator &random) {
    return std::to_string(random.next() % 1000000) + " " + word_text(random) + " " + real_text(random, 4);
}

// One character in five has two bytes.
std::string make_utf8() {
    std::string bytes;
    generator random;
    for (size_t at = 0; bytes.size() < input_size; at++) {
        const uint32_t letter = random.next();
        if (at % line_length == line_length - 1)
            bytes += '\n';
        else if (letter % 5 == 0)
            bytes += {'\xd0', static_cast<char>(0x90 + letter % 32)};
        else
            bytes += static_cast<char>(' ' + letter % 95);
    }
    return bytes;
}

} // namespace

void set_input_directory(const std::string &path) {
    directory = path;
}

std::string scratch_path(const std::string &name) {
    return directory + "/asf-bench-" + std::to_string(getpid()) + "-" + name;
}

const input_file &text_input() {
    static const temporary_input input("text", make_text());
    return input.file;
}

const input_file &binary_input() {
    static const temporary_input input("binary", make_binary());
    return input.file;
}

const input_file &number_input() {
    static const temporary_input input("numbers", make_lines(number_text));
    return input.file;
}

const input_file &real_input() {
    static const temporary_input input("reals",
                                       make_lines([](generator &random) { return real_text(random, 6); }));
    return input.file;
}

const input_file &word_input() {
    static const temporary_input input("words", make_lines(word_text));
    return input.file;
}

const input_file &record_input() {
    static const temporary_input input("records", make_lines(make_record));
    return input.file;
}

const input_file &utf8_input() {
    static const temporary_input input("utf8", make_utf8());
    return input.file;
}

const input_file &zero_input() {
    static const temporary_input input("zeros", std::string(input_size, '\0'));
    return input.file;
}

const input_file &hole_input() {
    static const temporary_input input("hole", std::string(input_size, '\0'), 0);
    return input.file;
}

const input_file &large_input() {
    static const temporary_input input("large", make_binary(), static_cast<int>(large_size / input_size));
    return input.file;
}

const input_file &small_input() {
    static const temporary_input input("small", make_text().substr(0, line_length));
    return input.file;
}

std::string file_bytes(const std::string &path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0)
        throw failure(path, "open");
    std::string bytes(static_cast<size_t>(status.st_size), '\0');
    const ssize_t got = read(fd, bytes.data(), bytes.size());
    if (got < 0)
        throw failure(path, "read");
    close(fd);
    bytes.resize(static_cast<size_t>(got));
    return bytes;
}
