// SPDX-License-Identifier: MIT
//
// descriptor_order.cpp - like stream_order, for read, write, lseek and similar calls on one descriptor of a
// file.
//     descriptor_order [calls|fork] [ROUNDS [SEED]]    (of each kind of file)
#include <fcntl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/threads/history.h"

using namespace tests;

namespace {

// of_duplicate: reads by a duplicate and closes it. in_child: a child reads, which moves the parent's offset.
enum class What { read, readv, seek, seek_on, seek_end, pread, of_duplicate, in_child, write, contents };

struct Op {
    What what = What::read;
    size_t n = 0, at = 0;
    std::string bytes = {};

    std::string text() const {
        static const char *const names[] = {"read",  "readv",        "seek",     "seek_on", "seek_end",
                                            "pread", "of_duplicate", "in_child", "write",   "contents"};
        return std::string(names[static_cast<size_t>(what)]) + "(" +
               (bytes.empty() ? std::to_string(n) : in_quotes(bytes)) + " at " + std::to_string(at) + ")";
    }
};

class Model {
  public:
    explicit Model(std::string before, bool a) : contents(std::move(before)), append(a) {}

    bool apply(const Op &op, const std::string &result) {
        switch (op.what) {
        case What::seek:
            return seek_to(op.at, result);
        case What::seek_on:
            return seek_to(at + op.n, result);
        case What::seek_end:
            return seek_to(contents.size(), result);
        case What::pread:
            return result == there(op.at, op.n);
        case What::contents:
            return result == contents;
        case What::write:
            at = append ? contents.size() : at;
            contents.resize(std::max(contents.size(), at + op.bytes.size()));
            contents.replace(at, op.bytes.size(), op.bytes);
            at += op.bytes.size();
            return result == std::to_string(op.bytes.size());
        default:
            const std::string bytes = there(at, op.n);
            at += bytes.size();
            return result == bytes;
        }
    }

    std::vector<Model> cancelled(const Op &) const { return {}; }
    std::string key() const { return std::to_string(at) + ":" + contents; }

  private:
    std::string there(size_t from, size_t n) const {
        return from < contents.size() ? contents.substr(from, n) : "";
    }

    bool seek_to(size_t to, const std::string &result) {
        at = to;
        return result == std::to_string(to);
    }

    std::string contents;
    bool append;
    size_t at = 0;
};

// pread during a write may return a part of it, also on Linux without asf.
struct Kind {
    const char *name;
    int flags;
    std::vector<What> calls;
};

const std::vector<What> reading = {What::read, What::readv, What::seek,  What::seek_on,      What::seek_end,
                                   What::read, What::read,  What::pread, What::of_duplicate, What::in_child};
const std::vector<What> updating = {What::read,     What::readv, What::seek,         What::seek_on,
                                    What::seek_end, What::write, What::of_duplicate, What::in_child};
const Kind kinds[] = {
    {"a file that is read", O_RDONLY, reading},
    {"a file that is updated", O_RDWR, updating},
    {"a file that is appended to", O_RDWR | O_APPEND, updating},
};

[[noreturn]] void fail(const char *what) {
    perror(what);
    _exit(2);
}

std::string read_by(int fd, size_t n) {
    std::string s(n, '\0');
    const ssize_t got = ::read(fd, s.data(), n);
    return got < 0 ? "error" : s.substr(0, static_cast<size_t>(got));
}

std::string read_vector(int fd, size_t n) {
    std::string s(n, '\0');
    const iovec v[] = {{s.data(), n / 2}, {s.data() + n / 2, n - n / 2}};
    const ssize_t got = ::readv(fd, v, 2);
    return got < 0 ? "error" : s.substr(0, static_cast<size_t>(got));
}

std::string read_by_duplicate(int fd, size_t n) {
    const int other = dup(fd);
    std::string s = read_by(other, n);
    close(other);
    return s;
}

std::string read_in_child(int fd, size_t n) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        fail("pipe2");
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        const std::string s = read_by(fd, n);
        _exit(::write(ends[1], s.data(), s.size()) == static_cast<ssize_t>(s.size()) ? 0 : 1);
    }
    close(ends[1]);
    int status = -1;
    if (waitpid(child, &status, 0) != child || status != 0)
        fail("the child");
    std::string s = read_by(ends[0], n);
    close(ends[0]);
    return s;
}

std::string make(int fd, const Op &op) {
    std::string s(op.n, '\0');
    switch (op.what) {
    case What::readv:
        return read_vector(fd, op.n);
    case What::seek:
        return std::to_string(lseek(fd, static_cast<off_t>(op.at), SEEK_SET));
    case What::seek_on:
        return std::to_string(lseek(fd, static_cast<off_t>(op.n), SEEK_CUR));
    case What::seek_end:
        return std::to_string(lseek(fd, 0, SEEK_END));
    case What::pread:
        s.resize(static_cast<size_t>(pread(fd, s.data(), op.n, static_cast<off_t>(op.at))));
        return s;
    case What::of_duplicate:
        return read_by_duplicate(fd, op.n);
    case What::in_child:
        return read_in_child(fd, op.n);
    case What::write:
        return std::to_string(::write(fd, op.bytes.data(), op.bytes.size()));
    default:
        return read_by(fd, op.n);
    }
}

Call<Op> some_call(Random &random, const Kind &kind, bool forks, unsigned thread, size_t number,
                   size_t length) {
    What what = kind.calls[random.below(kind.calls.size())];
    if ((what == What::in_child && !(forks && random.one_in(4))) ||
        (what == What::of_duplicate && random.one_in(2)))
        what = What::read;
    Op op = {what, some_length(random, true), random.below(length)};
    if (what == What::seek_on)
        op.n = random.one_in(2) ? 0 : random.below(20);
    if (what == What::write)
        op.bytes = some_text(random, thread, number, op.n);
    return {op, thread, random.below(random.one_in(2) ? 10 : 1000), false};
}

// At first only the first thread uses the descriptor, sometimes so long that the library makes it private.
void play(const Kind &kind, bool forks, const char *path, uint64_t seed, Sum &sum) {
    Random random(seed);
    const std::string before = some_contents(random, true);
    const int made = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (::write(made, before.data(), before.size()) != static_cast<ssize_t>(before.size()))
        fail(path);
    close(made);
    const int fd = open(path, kind.flags | O_CLOEXEC);
    for (size_t i = random.one_in(2) ? 40 : 0; i > 0; i--)
        read_by(fd, 1);
    lseek(fd, 0, SEEK_SET);

    std::vector<History<Op>> of_threads(2 + random.below(2));
    History<Op> calls;
    for (unsigned thread = 0; thread < of_threads.size(); thread++)
        for (size_t i = 0; i < 4; i++)
            of_threads[thread].push_back(some_call(random, kind, forks, thread + 1, i, before.size() + 20));
    calls = make_at_once(std::move(of_threads), [fd](const Op &op) { return make(fd, op); });
    close(fd);
    const int written = open(path, O_RDONLY | O_CLOEXEC);
    calls.push_back({{What::contents}, 0, 0, false, now(), now(), read_by(written, 1000000)});
    close(written);
    sum.add(calls, has_order(Model(before, kind.flags & O_APPEND), calls),
            std::string(kind.name) + ", seed " + std::to_string(seed) + ", at first " + in_quotes(before));
}

} // namespace

int main(int argc, char **argv) {
    const bool forks = argc > 1 && argv[1] == std::string("fork");
    const uint64_t rounds =
        from_environment("ASF_ORDER_ROUNDS", argc > 2 ? strtoull(argv[2], nullptr, 10) : 1000);
    const uint64_t seed = from_environment("ASF_ORDER_SEED", argc > 3 ? strtoull(argv[3], nullptr, 10) : 1);
    char path[] = "/tmp/descriptor_order.XXXXXX";
    close(mkstemp(path));
    size_t wrong = 0;
    for (const Kind &kind : kinds) {
        Sum sum;
        for (uint64_t i = 0; i < rounds && sum.wrong < 3; i++)
            play(kind, forks, path, seed + i, sum);
        sum.print(kind.name, seed);
        wrong += sum.wrong;
    }
    unlink(path);
    return wrong > 0;
}
