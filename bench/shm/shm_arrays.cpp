// SPDX-License-Identifier: MIT
//
// shm_arrays.cpp - Table 1 of Grosse, "How Shall We Connect Our Software Tools?":
// one process sets an array of doubles, another sums it, in several ways.
//
//     shm_arrays DOUBLES numbers|text|files DIRECTORY
//
// A run makes one pass each way, in random order: of the array itself, of its text, or of its text through
// files.  "fresh": segment, file and memory are new.  "reused": the segment or file of the previous pass
// still exists, and private memory has been touched.  The clock stops before resources are freed.  Every
// value is checked.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include <asf/shm.h>

#include "shm_processes.h"

using namespace processes;

namespace {

// The array's values depend on the run, so that a stale array is found.
struct Array {
    size_t count;
    int run;
    bool fresh;
    double value(size_t i) const { return static_cast<double>(static_cast<int64_t>(i) + run) * 0.37 + 0.1; }
    size_t bytes() const { return count * sizeof(double); }
};

void set(double *to, const Array &a) {
    for (size_t i = 0; i < a.count; i++)
        to[i] = a.value(i);
}

// Eight sums in parallel: with one sum each addition would wait for the previous one.
class Sum {
  public:
    void add(const double *from, size_t n) {
        size_t i = 0;
        for (; i + 8 <= n; i += 8)
            for (size_t k = 0; k < 8; k++)
                part[k] += from[i + k];
        for (; i < n; i++)
            part[i % 8] += from[i];
    }
    bool operator==(const Sum &b) const { return !memcmp(part, b.part, sizeof part); }

  private:
    double part[8] = {};
};

void check_values(const double *from, const Array &a, const Sum &sum) {
    Sum right;
    for (size_t i = 0; i < a.count; i++)
        check(from[i] == a.value(i), "value " + std::to_string(i));
    right.add(from, a.count);
    check(sum == right, "the sum");
}

// Private memory for the whole array.
double *own_memory(const Array &a) {
    double *memory = static_cast<double *>(malloc(a.bytes()));
    check(memory, "malloc");
    return memory;
}

double *begin_with_memory(Watch &w, const Array &a) {
    double *before = nullptr;
    if (!a.fresh)
        memset(before = own_memory(a), 1, a.bytes());
    w.begin();
    return a.fresh ? own_memory(a) : before;
}

void end_with_sum(Watch &w, const double *from, const Array &a) {
    Sum sum;
    sum.add(from, a.count);
    w.end();
    check_values(from, a, sum);
}

class Way {
  public:
    virtual ~Way() = default;
    virtual void write(Watch &w, const Array &a) = 0;
    virtual void read(Watch &w, const Array &a) = 0;
    virtual bool together() const { return false; } // reader and writer at once
    virtual bool read_at_all() const { return true; }
};

// --- the ways -------------------------------------------------------------------

class Malloc : public Way {
  public:
    void write(Watch &w, const Array &a) override {
        double *memory = begin_with_memory(w, a);
        set(memory, a);
        w.end();
        Sum sum;
        sum.add(memory, a.count);
        check_values(memory, a, sum);
    }
    void read(Watch &, const Array &) override {}
    bool read_at_all() const override { return false; }
};

class Segment : public Way {
  public:
    explicit Segment(const char *kind) : backend(kind) {}
    ~Segment() override { remove(); }
    void write(Watch &w, const Array &a) override {
        if (a.fresh)
            remove();
        w.begin();
        char *shm = a.fresh ? asf_shm_create_on(backend, "array of a benchmark", 0600, a.bytes())
                            : asf_shm_open_update(label());
        check(shm, asf_shm_why());
        set(reinterpret_cast<double *>(shm + ASF_SHM_HEAD), a);
        w.end();
        strncpy(label(), shm, ASF_SHM_HEAD - 1);
        check(asf_shm_close(shm) == 0, "asf_shm_close");
    }
    void read(Watch &w, const Array &a) override {
        w.begin();
        char *shm = asf_shm_open(label());
        check(shm, asf_shm_why());
        check(asf_shm_size(shm) == a.bytes(), "the segment's size");
        end_with_sum(w, reinterpret_cast<double *>(shm + ASF_SHM_HEAD), a);
        check(asf_shm_close(shm) == 0, "asf_shm_close");
    }

  private:
    char *label() const { return memory.at<char>(); }
    void remove() {
        if (*label())
            asf_shm_remove(label());
        *label() = 0;
    }
    const char *backend;
    Shared memory{ASF_SHM_HEAD};
};

class File {
  public:
    File(const std::string &directory, const char *name)
        : path(directory + "/" + name + "." + std::to_string(getpid()) + "." + std::to_string(made++)) {}
    ~File() { unlink(path.c_str()); }
    int open_to_write(const Array &a) const { return open_with(O_RDWR | (a.fresh ? O_CREAT | O_TRUNC : 0)); }
    int open_to_read() const { return open_with(O_RDONLY); }

  private:
    int open_with(int flags) const {
        const int fd = open(path.c_str(), flags | O_CLOEXEC, 0600);
        check(fd >= 0, path);
        return fd;
    }
    static inline int made = 0;
    std::string path;
};

class Mapped : public Way {
  public:
    explicit Mapped(const std::string &directory) : file(directory, "shm_arrays.mapped") {}
    void write(Watch &w, const Array &a) override {
        w.begin();
        const int fd = file.open_to_write(a);
        check(!a.fresh || ftruncate(fd, static_cast<off_t>(a.bytes())) == 0, "ftruncate");
        set(static_cast<double *>(map(fd, PROT_READ | PROT_WRITE, a)), a);
        w.end();
    }
    void read(Watch &w, const Array &a) override {
        w.begin();
        end_with_sum(w, static_cast<double *>(map(file.open_to_read(), PROT_READ, a)), a);
    }

  private:
    static void *map(int fd, int access, const Array &a) {
        void *p = mmap(nullptr, a.bytes(), access, MAP_SHARED, fd, 0);
        check(p != MAP_FAILED, "mmap");
        return p;
    }
    File file;
};

class ThroughFile : public Way {
  public:
    explicit ThroughFile(const std::string &directory) : file(directory, "shm_arrays.written") {}
    void write(Watch &w, const Array &a) override {
        double *memory = begin_with_memory(w, a);
        set(memory, a);
        write_all(file.open_to_write(a), memory, a.bytes());
        w.end();
    }
    void read(Watch &w, const Array &a) override {
        double *memory = begin_with_memory(w, a);
        read_all(file.open_to_read(), memory, a.bytes());
        end_with_sum(w, memory, a);
    }

  private:
    File file;
};

class Binary : public Way {
  public:
    void write(Watch &w, const Array &a) override {
        double *memory = begin_with_memory(w, a);
        set(memory, a);
        write_all(pipe.writer(), memory, a.bytes());
        w.end();
    }
    void read(Watch &w, const Array &a) override {
        double *memory = begin_with_memory(w, a);
        read_all(pipe.reader(), memory, a.bytes());
        end_with_sum(w, memory, a);
    }
    bool together() const override { return true; }
    // Sends an array that is made before the clock starts.
    void send(Watch &w, const Array &a) {
        double *memory = own_memory(a);
        set(memory, a);
        w.begin();
        write_all(pipe.writer(), memory, a.bytes());
        w.end();
    }

  protected:
    const Pipe pipe;
};

// The same, but the reader reads into one block that stays in the processor's cache, not into a whole array.
class BinaryBlocks : public Binary {
  public:
    void read(Watch &w, const Array &a) override {
        static double block[block_doubles];
        Sum sum, right;
        w.begin();
        for (size_t done = 0; done < a.count; done += block_doubles) {
            const size_t n = std::min(block_doubles, a.count - done);
            read_all(pipe.reader(), block, n * sizeof(double));
            sum.add(block, n);
        }
        w.end();
        for (size_t done = 0; done < a.count; done += block_doubles) {
            const size_t n = std::min(block_doubles, a.count - done);
            for (size_t i = 0; i < n; i++)
                block[i] = a.value(done + i);
            right.add(block, n);
        }
        check(sum == right, "the sum");
    }

  private:
    static constexpr size_t block_doubles = 4096;
};

FILE *stream(int fd, const char *mode) {
    FILE *f = fdopen(fd, mode);
    check(f, "fdopen");
    return f;
}

// Text goes through a pipe, or if `directory` is not empty through a file.
class Ascii : public Way {
  public:
    explicit Ascii(const std::string &directory)
        : file(directory, "shm_arrays.text"), piped(directory.empty()) {}
    void write(Watch &w, const Array &a) override {
        double *memory = begin_with_memory(w, a);
        set(memory, a);
        FILE *f = stream(piped ? pipe.writer() : file.open_to_write(a), "w");
        print(f, memory, a);
        check(fclose(f) == 0, "fclose");
        w.end();
    }
    void read(Watch &w, const Array &a) override {
        w.begin();
        end_with_sum(w, scan(stream(piped ? pipe.reader() : file.open_to_read(), "r"), a), a);
    }
    bool together() const override { return piped; }

  private:
    virtual void print(FILE *f, const double *from, const Array &a) = 0;
    virtual const double *scan(FILE *f, const Array &a) = 0;
    const Pipe pipe;
    File file;
    bool piped;
};

class AsciiOfLibc : public Ascii {
    using Ascii::Ascii;
    void print(FILE *f, const double *from, const Array &a) override {
        for (size_t i = 0; i < a.count; i++)
            check(fprintf(f, "%.17g\n", from[i]) > 0, "fprintf");
    }
    const double *scan(FILE *f, const Array &a) override {
        double *memory = own_memory(a);
        for (size_t i = 0; i < a.count; i++)
            check(fscanf(f, "%lf", memory + i) == 1, "fscanf");
        return memory;
    }
};

class AsciiOfAsf : public Ascii {
    using Ascii::Ascii;
    void print(FILE *f, const double *from, const Array &a) override {
        check(asf_shm_write_doubles(f, from, a.count, nullptr) == 0, "asf_shm_write_doubles");
    }
    const double *scan(FILE *f, const Array &a) override {
        size_t count = a.count;
        const double *array = asf_shm_read_doubles(f, &count);
        check(array && count == a.count, "asf_shm_read_doubles");
        return array;
    }
};

// --- measuring --------------------------------------------------------------------

struct Row {
    const char *name;
    std::unique_ptr<Way> way;
};

void pass(const char *name, Way &way, const Array &a) {
    const Process writer = {0, [&](Watch &w) { way.write(w, a); }};
    const Process reader = {1, [&](Watch &w) { way.read(w, a); }};
    std::vector<Times> times;
    if (way.together()) {
        times = run({writer, reader});
    } else {
        times = run({writer});
        times.push_back(way.read_at_all() ? run({reader})[0] : Times{});
    }
    const double total = way.together() ? span(times) : times[0].elapsed() + times[1].elapsed();
    printf("passing\t%s\t%s\t%g\t%g\t%g\t%g\t%g\n", name, a.fresh ? "fresh" : "reused", times[0].elapsed(),
           times[1].elapsed(), total, times[0].cpu, times[1].cpu);
}

// Text is measured with fresh memory only: it is slow, and reused memory makes no difference.
void passing(const std::vector<Row> &rows, size_t count, bool text) {
    int run = 0;
    for (const size_t i : random_order(rows.size()))
        for (const bool fresh : {true, false})
            if (fresh || !text)
                pass(rows[i].name, *rows[i].way, {count, ++run, fresh});
}

// Readers of an array that exists already, one after another.  Each attaches the one segment, or gets the
// array from a writer on the same processor or another.
struct Reader {
    const char *name;
    std::unique_ptr<Way> way;
    int writer_cpu;
};

double read_once(const Reader &r, const Array &a) {
    const Process reader = {1, [&](Watch &w) { r.way->read(w, a); }};
    const Process writer = {r.writer_cpu, [&](Watch &w) { static_cast<Binary &>(*r.way).send(w, a); }};
    return span(r.way->together() ? run({writer, reader}) : run({reader}));
}

void reading(size_t count) {
    const Array a{count, 0, true};
    std::vector<Reader> readers;
    readers.push_back({"segment, posix", std::make_unique<Segment>("posix"), 0});
    readers.push_back({"segment, sysv", std::make_unique<Segment>("sysv"), 0});
    readers.push_back({"a \\| b", std::make_unique<Binary>(), 0});
    readers.push_back({"a \\| b, by blocks", std::make_unique<BinaryBlocks>(), 0});
    readers.push_back({"a \\| b, one processor", std::make_unique<Binary>(), 1});
    readers.push_back({"a \\| b, by blocks, one processor", std::make_unique<BinaryBlocks>(), 1});
    for (const Reader &r : readers)
        if (!r.way->together())
            run({{r.writer_cpu, [&](Watch &w) { r.way->write(w, a); }}});
    for (const size_t i : random_order(readers.size()))
        printf("reading\t%s\t%g\n", readers[i].name, read_once(readers[i], a));
}

void measure_numbers(size_t count, const std::string &directory) {
    std::vector<Row> rows;
    rows.push_back({"shmget", std::make_unique<Segment>("sysv")});
    rows.push_back({"posix", std::make_unique<Segment>("posix")});
    rows.push_back({"mmap", std::make_unique<Mapped>(directory)});
    rows.push_back({"a \\| b", std::make_unique<Binary>()});
    rows.push_back({"a \\| b, by blocks", std::make_unique<BinaryBlocks>()});
    rows.push_back({"a>x; b<x", std::make_unique<ThroughFile>(directory)});
    rows.push_back({"malloc", std::make_unique<Malloc>()});
    passing(rows, count, false);
    reading(count);
}

void measure_text(size_t count, const std::string &directory) {
    const bool files = !directory.empty();
    std::vector<Row> rows;
    rows.push_back(
        {files ? "ascii, libc, a>x; b<x" : "ascii, libc", std::make_unique<AsciiOfLibc>(directory)});
    rows.push_back({files ? "ascii, asf, a>x; b<x" : "ascii, asf", std::make_unique<AsciiOfAsf>(directory)});
    passing(rows, count, true);
}

} // namespace

int main(int argc, char **argv) {
    const std::string what = argc == 4 ? argv[2] : "";
    if (what != "numbers" && what != "text" && what != "files") {
        fprintf(stderr, "usage: shm_arrays DOUBLES numbers|text|files DIRECTORY\n");
        return 2;
    }
    return guarded([&] {
        const size_t count = strtoul(argv[1], nullptr, 10);
        if (what == "numbers")
            measure_numbers(count, argv[3]);
        else
            measure_text(count, what == "files" ? argv[3] : "");
    });
}
