/* SPDX-License-Identifier: MIT
 *
 * unix_io.cpp - read, lseek and write on descriptors, compared with libc's, which call the kernel.
 */
#include "cases.h"
#include "inputs.h"

#include <fcntl.h>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace {

// A descriptor that the side opens and closes.
class descriptor {
    const stdio_side &side;

  public:
    const int fd;
    descriptor(const stdio_side &of, const std::string &path, int flags)
        : side(of), fd(of.open(path.c_str(), flags, 0600)) {
        if (fd < 0)
            throw std::runtime_error("open: " + path);
    }
    descriptor(const descriptor &) = delete;
    descriptor &operator=(const descriptor &) = delete;
    ~descriptor() { side.close(fd); }
};

// Checks that reads of this size give the input's bytes.
bool reads_right(const stdio_side &side, const input_file &input, size_t size) {
    const descriptor d(side, input.path, O_RDONLY);
    std::vector<char> block(size);
    size_t at = 0;
    for (ssize_t n; (n = side.read(d.fd, block.data(), size)) > 0; at += static_cast<size_t>(n))
        if (input.bytes.compare(at, static_cast<size_t>(n), block.data(), static_cast<size_t>(n)) != 0)
            return false;
    return at == input.bytes.size() && side.lseek(d.fd, 0, SEEK_CUR) == static_cast<off_t>(at);
}

void add_read(const std::string &name, const input_file &(*input)(), size_t size) {
    add_case({"unix read" + name + "/" + std::to_string(size),
              [=](const stdio_side &side) { return reads_right(side, input(), size); },
              [=](benchmark::State &state, const stdio_side &side) {
                  const descriptor d(side, input().path, O_RDONLY);
                  std::vector<char> block(size);
                  for (auto _ : state)
                      if (side.read(d.fd, block.data(), size) <= 0)
                          side.lseek(d.fd, 0, SEEK_SET);
              }});
}

// Reads at random offsets within the first `within` bytes.
void add_pread(const std::string &name, const input_file &(*input)(), size_t within, size_t size) {
    add_case({"unix pread" + name + "/" + std::to_string(size),
              [=](const stdio_side &side) {
                  const descriptor d(side, input().path, O_RDONLY);
                  std::string block(size, 0);
                  bool right = true;
                  for (size_t i = 0, at = 0; i < 100; i++, at = (at + 7654321) % (input_size - size))
                      right = right && side.pread(d.fd, block.data(), size, static_cast<off_t>(at)) > 0 &&
                              input().bytes.compare(at, size, block) == 0;
                  return right;
              },
              [=](benchmark::State &state, const stdio_side &side) {
                  const descriptor d(side, input().path, O_RDONLY);
                  std::vector<char> block(size);
                  size_t at = 0;
                  for (auto _ : state) {
                      at = (at + 123456789) % (within - size);
                      benchmark::DoNotOptimize(side.pread(d.fd, block.data(), size, static_cast<off_t>(at)));
                  }
              }});
}

// One small read, as by a program that examines a file's first bytes.
void add_first_bytes() {
    const auto look = [](const stdio_side &side, char *byte) {
        const descriptor d(side, binary_input().path, O_RDONLY);
        return side.read(d.fd, byte, 1) == 1;
    };
    add_case({"unix open+read+close",
              [=](const stdio_side &side) {
                  char byte = 0;
                  return look(side, &byte) && byte == binary_input().bytes[0];
              },
              [=](benchmark::State &state, const stdio_side &side) {
                  char byte = 0;
                  for (auto _ : state)
                      benchmark::DoNotOptimize(look(side, &byte));
              }});
}

void add_seek() {
    add_case({"unix lseek+read/16",
              [](const stdio_side &side) { return reads_right(side, binary_input(), 1000); },
              [](benchmark::State &state, const stdio_side &side) {
                  const descriptor d(side, binary_input().path, O_RDONLY);
                  char block[16];
                  off_t at = 0;
                  for (auto _ : state) {
                      side.lseek(d.fd, at = (at + 20) & (input_size - 1), SEEK_SET);
                      benchmark::DoNotOptimize(side.read(d.fd, block, sizeof block));
                  }
              }});
}

void add_write(size_t size) {
    const std::string path = scratch_path("unix_write");
    add_case({"unix write/" + std::to_string(size),
              [=](const stdio_side &side) {
                  const std::string block(size, 'x');
                  {
                      const descriptor d(side, path, O_WRONLY | O_CREAT | O_TRUNC);
                      for (int i = 0; i < 10; i++)
                          if (side.write(d.fd, block.data(), size) != static_cast<ssize_t>(size))
                              return false;
                  }
                  const bool right = file_bytes(path) == std::string(10 * size, 'x');
                  unlink(path.c_str());
                  return right;
              },
              [=](benchmark::State &state, const stdio_side &side) {
                  const descriptor d(side, path, O_WRONLY | O_CREAT | O_TRUNC);
                  const std::string block(size, 'x');
                  size_t at = 0;
                  for (auto _ : state) {
                      benchmark::DoNotOptimize(side.write(d.fd, block.data(), size));
                      if ((at += size) >= input_size)
                          at = 0 * static_cast<size_t>(side.lseek(d.fd, 0, SEEK_SET));
                  }
                  unlink(path.c_str());
              }});
}

} // namespace

void add_unix_io() {
    for (const size_t size : {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 65536})
        add_read("", binary_input, size);
    for (const size_t size : {1, 16, 64, 512, 4096, 8192, 65536}) {
        add_read(" zeros", zero_input, size);
        add_read(" hole", hole_input, size);
    }
    for (const size_t size : {16, 512, 4096}) {
        add_pread(" in 2 MB", binary_input, 2 << 20, size);
        add_pread(" in 208 MB", large_input, large_size, size);
    }
    add_first_bytes();
    add_seek();
    for (const size_t size : {1, 64, 4096})
        add_write(size);
}
