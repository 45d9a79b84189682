/* SPDX-License-Identifier: MIT
 *
 * lines_bench.h - shared by the parts of lines_bench: the inputs, the readers, and their results.
 */
#ifndef ASF_BENCH_LINES_BENCH_H
#define ASF_BENCH_LINES_BENCH_H

#include <cstdint>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

// A reader's result: the number of lines or fields, and the sum of their lengths.  All readers of an input
// must have the same result.
struct tally {
    uint64_t count = 0, sum = 0;
    bool operator==(const tally &) const = default;
    void add(size_t n) {
        count++;
        sum += n;
    }
};

struct input {
    std::string name, path, text;
    char separator; // between fields
};

// make_inputs: files of 16 MB under a directory, and the same in memory.  make_integers and make_reals:
// numbers, one a line.
std::vector<input> make_inputs(const std::string &directory);
std::vector<input> make_integers(const std::string &directory);
std::vector<input> make_reals(const std::string &directory);

// A file mapped as a whole.
class mapped {
  public:
    explicit mapped(const std::string &path) {
        struct stat st;
        const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        fstat(fd, &st);
        size_ = static_cast<size_t>(st.st_size);
        text_ = static_cast<char *>(mmap(nullptr, size_, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0));
        close(fd);
    }
    mapped(const mapped &) = delete;
    mapped &operator=(const mapped &) = delete;
    ~mapped() { munmap(text_, size_); }
    std::string_view text() const { return {text_, size_}; }

  private:
    char *text_;
    size_t size_;
};

// A way to read: returns the result, and in *nanoseconds the CPU time.
struct reader {
    std::string name;
    tally (*read)(const input &from, double *nanoseconds);
};

std::vector<reader> line_readers();  // read lines of the file input::path
std::vector<reader> field_readers(); // find fields in the text input::text

// Readers in C++.
reader cxx_line_reader();
std::vector<reader> cxx_field_readers(); // read fields of the file input::path
std::vector<reader> integer_readers();
std::vector<reader> real_readers();

double cpu_now(); // CPU time, nanoseconds

// module_of: the stream module that serves the file; whether it is mapped or read depends on its pages in the
// cache.
std::string module_of(const input &from);

#endif
