// SPDX-License-Identifier: MIT
//
// changing_files_asi.cpp - a changing file, read by the ASI and from C++: regions, lines, sallocAt, copies,
// iostreams.  Bytes that were cut off may read as zeros; then the call that frees the region returns -EIO.
#include <asf/asf.h>
#include <asf/asf.hpp>
#include <asf/lines.h>
#include <asf/streams.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/faults/changing_files.h"

namespace {

// Maps a window of a file, which installs the library's handler of SIGBUS.
void map_still_file() {
    asf_cios *still = sopen(still_file(), O_RDONLY, 0, nullptr);
    ssize_t n = 100;
    sfree(still, salloc(still, &n));
    sclose(still);
    set_signals_now();
}

bool is_told(ssize_t error) {
    return error == -EIO && may_be_cut();
}

struct Stream {
    explicit Stream(const char *path) {
        static const asf_advice kinds_of_advice[] = {ASF_SEQUENTIAL, ASF_RANDOM, ASF_ONCE,
                                                     ASF_COPIED,     ASF_COPIED, ASF_WILLNEED};
        look before;
        look_now(&before);
        int error = 0;
        cios = sopen(path, any(5) ? O_RDONLY : O_RDWR, 0, &error);
        file = opened_now(&before);
        if (!cios)
            fail_at(0, "sopen: %s", strerror(-error));
        if (any(2)) {
            const asf_advice advice = kinds_of_advice[any(sizeof kinds_of_advice / sizeof *kinds_of_advice)];
            copied = advice == ASF_COPIED;
            asf_advise(cios, advice);
        }
    }
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;
    ~Stream() {
        const int rc = sclose(cios);
        if (rc != 0)
            fail_at(at, "sclose: %s", strerror(-rc));
    }

    asf_cios *cios;
    opened file{};
    long at = 0;
    bool copied = false;
};

// --- regions ---------------------------------------------------------------------------------------

struct Held {
    char *p;
    long n, at;
    zeros seen;
    std::string copy; // the contents, if the region must not change
};

void free_region(Stream &s, Held &h) {
    h.seen = std::max(h.seen, check_bytes(h.at, h.p, h.n, "a region held"));
    if (s.copied && h.copy != std::string_view(h.p, static_cast<size_t>(h.n)))
        fail_at(h.at, "a region of %ld bytes changed though ASF_COPIED was advised", h.n);
    if (s.copied && are_wrong(h.seen))
        fail_at(h.at, "a region of %ld bytes by ASF_COPIED has zeros", h.n);
    const char *module = asf_module_name(s.cios);
    const int rc = sfree(s.cios, h.p);
    if (rc != 0 && !is_told(rc))
        fail_at(h.at, "sfree of %ld bytes (%s): %s", h.n, module, strerror(-rc));
    if (h.seen == WRONG_ZEROS && rc == 0)
        fail_at(h.at, "a region of %ld bytes (%s) had zeros that were never there, and sfree says 0", h.n,
                module);
}

void free_any(Stream &s, std::vector<Held> &held) {
    const auto i = held.begin() + static_cast<long>(any(held.size()));
    free_region(s, *i);
    held.erase(i);
}

// returns  whether the call gave a region.
bool hold(Stream &s, std::vector<Held> &held, long at, char *p, ssize_t n, const char *call) {
    if (!p && n < 0 && !is_told(n))
        fail_at(at, "%s (%s): %s", call, asf_module_name(s.cios), strerror(static_cast<int>(-n)));
    if (!p)
        return false;
    Held h{p, n, at, check_bytes(at, p, n, call), {}};
    if (s.copied)
        h.copy.assign(p, static_cast<size_t>(n));
    held.push_back(h);
    return true;
}

char *any_region(Stream &s, ssize_t *n) {
    switch (any(4)) {
    case 0:
        return static_cast<char *>(salloc_some(s.cios, n));
    case 1:
        *n = *n < 1000 ? 1000 : *n;
        return static_cast<char *>(asf_salloc_until(s.cios, '\n', n));
    default:
        return static_cast<char *>(salloc(s.cios, n));
    }
}

// Takes a region or a line. A region may end at the file's former end; a line may exceed the limit.
void take_region(Stream &s, std::vector<Held> &held) {
    ssize_t n = static_cast<ssize_t>(any_size(CHANGING_LARGEST));
    char *p = any_region(s, &n);
    if (!p && n == -EMSGSIZE)
        return;
    if (hold(s, held, s.at, p, n, "salloc"))
        s.at += n;
}

void check_first_region(Stream &s) {
    look now;
    look_now(&now);
    ssize_t n = static_cast<ssize_t>(any_size(CHANGING_LARGEST)), asked = n;
    auto *p = static_cast<char *>(salloc(s.cios, &n));
    std::vector<Held> held;
    if (hold(s, held, 0, p, n, "the first salloc")) {
        check_region(&s.file, &now, 0, p, n, asked, "the first salloc");
        s.at = n;
        free_region(s, held[0]);
    }
}

void read_regions(const char *path) {
    map_still_file();
    for (int opened = 0; opened < 6; opened++) {
        Stream s(path);
        std::vector<Held> held;
        check_first_region(s);
        for (int i = 0; i < 40; i++) {
            may_change();
            take_region(s, held);
            may_change();
            while (held.size() > any(5))
                free_any(s, held);
        }
        while (!held.empty())
            free_any(s, held);
    }
}

// --- sallocAt ----------------------------------------------------------------------------------------

void take_at(Stream &s, std::vector<Held> &held) {
    look now;
    const long at = any(40) ? static_cast<long>(any(600000)) : static_cast<long>(any(CHANGING_LARGEST));
    ssize_t n = static_cast<ssize_t>(any(50) ? 1 + any(200) : any_size(CHANGING_LARGEST)), asked = n;
    look_now(&now);
    auto *p = static_cast<char *>(sallocAt(s.cios, &n, at, SEEK_SET));
    if (hold(s, held, at, p, n, "sallocAt"))
        check_region(&s.file, &now, at, p, n, asked, "sallocAt");
}

void read_here_and_there(Stream &s, int times, bool alone) {
    std::vector<Held> held;
    for (int i = 0; i < times; i++) {
        if (alone)
            may_change();
        take_at(s, held);
        if (alone && any(8) == 0)
            may_change();
        while (held.size() > any(5))
            free_any(s, held);
    }
    while (!held.empty())
        free_any(s, held);
}

void read_at_places(const char *path) {
    map_still_file();
    for (int opened = 0; opened < 3; opened++) {
        Stream s(path);
        read_here_and_there(s, 500, true);
    }
}

// The file changes at the first thread's calls, and so at any time of the other threads' calls.
void read_in_threads(const char *path) {
    expect_races();
    map_still_file();
    for (int opened = 0; opened < 3; opened++) {
        Stream s(path);
        std::vector<std::thread> threads;
        for (const uint64_t seed : {any(1000), any(1000)})
            threads.emplace_back([&s, seed] {
                set_numbers(seed);
                read_here_and_there(s, 500, false);
            });
        read_here_and_there(s, 500, true);
        for (auto &thread : threads)
            thread.join();
    }
}

// --- lines ---------------------------------------------------------------------------------------------

struct Line {
    long at, n;
};

// The lines of a stream, and whether the stream must still report zeros in them.
class Lines {
  public:
    explicit Lines(Stream &stream) : s(stream) { asf_lines_begin(&lines, s.cios, '\n', 0); }
    Lines(const Lines &) = delete;
    Lines &operator=(const Lines &) = delete;
    ~Lines() {
        const int rc = asf_lines_end(&lines);
        if (rc != 0 && !is_told(rc))
            fail_at(s.at, "asf_lines_end: %s", strerror(-rc));
        if (seen == WRONG_ZEROS && rc == 0)
            fail_at(s.at, "lines had zeros that were never there, and asf_lines_end says 0");
    }
    bool next() {
        ssize_t n;
        const char *line = asf_lines_next(&lines, &n);
        if (!line && n < 0)
            fail(n);
        if (!line)
            return false;
        n += asf_lines_delimited(&lines) != 0;
        seen = std::max(seen, check_bytes(s.at, line, n, "asf_lines_next"));
        s.at += n;
        return true;
    }

  private:
    void fail(ssize_t error) {
        if (error != -EMSGSIZE && !is_told(error))
            fail_at(s.at, "asf_lines_next: %s", strerror(static_cast<int>(-error)));
        seen = error == -EIO ? NO_ZEROS : seen;
    }
    Stream &s;
    asf_lines lines{};
    zeros seen = NO_ZEROS;
};

void read_lines(const char *path) {
    map_still_file();
    for (int opened = 0; opened < 6; opened++) {
        Stream s(path);
        for (int i = 0; i < 6; i++) {
            Lines lines(s);
            for (uint64_t n = any_size(100000); n > 0 && lines.next(); n--)
                if (any(500) == 0)
                    may_change();
        }
    }
}

// --- copies ----------------------------------------------------------------------------------------------

void check_copy(Stream &s, const std::string &name, const look &before, int64_t n, long asked, bool exact) {
    std::string copy(static_cast<size_t>(n > 0 ? n : 0), '\0');
    const int fd = open(name.c_str(), O_RDONLY);
    if (read(fd, copy.data(), copy.size()) != static_cast<ssize_t>(copy.size()))
        fail_at(s.at, "the copy has not all of %ld bytes", static_cast<long>(n));
    close(fd);
    if (exact)
        check_read(&s.file, &before, s.at, copy.data(), n, asked, "asf_copy");
    else if (are_wrong(check_bytes(s.at, copy.data(), n > 0 ? n : 0, "asf_copy")))
        fail_at(s.at, "asf_copy of %ld bytes has zeros that were never there", static_cast<long>(n));
}

void copy_files(const char *path) {
    const std::string name = std::string(path) + ".copy";
    map_still_file();
    for (int i = 0; i < 20; i++) {
        Stream s(path);
        for (int part = 0; part < 3; part++) {
            may_change();
            look before;
            look_now(&before);
            asf_cios *out = sopen(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600, nullptr);
            const long asked =
                any(2) ? long{CHANGING_LARGEST} : static_cast<long>(any_size(CHANGING_LARGEST));
            const int64_t n = asf_copy(s.cios, out, asked);
            if (sclose(out) != 0 || (n < 0 && !is_told(n)))
                fail_at(s.at, "asf_copy: %s", strerror(static_cast<int>(-n)));
            if (n >= 0)
                check_copy(s, name, before, n, asked, part == 0);
            s.at += n > 0 ? n : 0;
        }
    }
    unlink(name.c_str());
}

// --- C++ -----------------------------------------------------------------------------------------------

void read_ranges(const char *path) {
    map_still_file();
    for (int opened = 0; opened < 6; opened++) {
        asf::stream in(path);
        std::error_code error;
        zeros seen = NO_ZEROS;
        long at = 0;
        {
            asf::lines lines = in.lines('\n', 0, error);
            for (std::string_view line : lines) {
                const long n = static_cast<long>(line.size()) + lines.delimited();
                seen = std::max(seen, check_bytes(at, line.data(), n, "asf::lines"));
                at += n;
                if (any(2000) == 0)
                    may_change();
            }
        }
        if (error && error.value() != EMSGSIZE && !is_told(-error.value()))
            fail_at(at, "asf::lines: %s", error.message().c_str());
        if (seen == WRONG_ZEROS && error.value() != EIO)
            fail_at(at, "lines of asf::stream had zeros that were never there, and no error");
    }
}

zeros take_from(asf::istream &in, long *at) {
    static std::string line;
    const long before = *at;
    if (any(4)) {
        std::getline(in, line);
        const bool whole = in.good();
        *at += static_cast<long>(line.size()) + whole;
        line += whole ? "\n" : "";
    } else {
        line.resize(any_size(200000));
        in.read(line.data(), static_cast<std::streamsize>(line.size()));
        line.resize(static_cast<size_t>(in.gcount()));
        *at += static_cast<long>(in.gcount());
    }
    return check_bytes(before, line.data(), static_cast<long>(line.size()), "asf::istream");
}

void read_istreams(const char *path) {
    map_still_file();
    for (int opened = 0; opened < 6; opened++) {
        asf::istream in(path);
        zeros seen = NO_ZEROS;
        long at = 0;
        for (int i = 0; i < 3000; i++) {
            if (any(20) == 0)
                may_change();
            seen = std::max(seen, take_from(in, &at));
            if (in.bad())
                break;
            if (in.eof())
                in.clear();
            if (any(200) == 0)
                in.seekg(at = static_cast<long>(any(600000)));
        }
        const bool bad = in.bad();
        in.close();
        if ((bad || in.fail()) && !may_be_cut())
            fail_at(at, "an error of an asf::istream");
        if (seen == WRONG_ZEROS && !bad && !in.fail())
            fail_at(at, "an asf::istream had zeros that were never there, and is good");
    }
}

} // namespace

int main(int argc, char **argv) {
    static const changing_reader readers[] = {
        {"regions", read_regions},  {"places", read_at_places}, {"threads", read_in_threads},
        {"lines", read_lines},      {"copies", copy_files},     {"ranges", read_ranges},
        {"istream", read_istreams},
    };
    return changing_files(argc, argv, readers, sizeof readers / sizeof *readers);
}
