// SPDX-License-Identifier: MIT
//
// stream_order.cpp - threads make random stdio calls on one stream of each kind. Their results, and the
// file's contents afterwards, must be those of some order of the calls.
//
//     stream_order [calls|cancel|interrupt|fork] [ROUNDS [SEED]]    (of each kind of stream)
//
// cancel: a thread cancels itself in one of its calls, which has then done all of its work, a part or none.
// interrupt: another thread cancels it at any moment. This may happen just after the kernel has transferred
// bytes, of which the stream then does not know (glibc's bug 12683); so the stream must only stay usable.
// fork: a child makes some of the calls. A run under libc shows whether the model is right.
//
// The program uses fseeko, since g++ assumes that a cancellation never leaves fseek.
#include <array>
#include <ctime>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/threads/stream_model.h"

using namespace tests;

namespace {

#ifdef __GLIBC__
constexpr bool of_musl = false;
#else
constexpr bool of_musl = true;
#endif

enum class Mode { calls, cancel, interrupt, fork };
enum class Below { file, pipe, memory, callbacks };

struct Kind {
    const char *name, *mode;
    Below below;
    std::vector<What> calls;
};

const std::vector<What> reading = {What::get,  What::read, What::line,   What::word, What::unget,
                                   What::many, What::tell, What::at_end, What::clear};
const std::vector<What> reading_anywhere = {What::get,  What::read, What::line, What::word,     What::unget,
                                            What::many, What::tell, What::seek, What::seek_end, What::at_end};
const std::vector<What> writing = {What::put,   What::write, What::puts, What::print,   What::put_many,
                                   What::flush, What::tell,  What::puts, What::in_child};
const std::vector<What> writing_anywhere = {What::put,      What::write,    What::puts,  What::print,
                                            What::put_many, What::in_child, What::flush, What::tell,
                                            What::seek_end, What::seek};
const std::vector<What> writing_memory = {What::put,   What::write, What::puts,  What::print, What::put_many,
                                          What::flush, What::tell,  What::print, What::aside};
// Without read_on and write_on: after output to fmemopen, libc takes the present offset to be the one at
// which the output began.
const std::vector<What> updating_memory = {What::read_at, What::write_at, What::tell};
const std::vector<What> updating = {What::read_on, What::write_on, What::read_at, What::write_at,
                                    What::read_on};

const Kind kinds[] = {
    {"a file that is read", "r", Below::file, reading_anywhere},
    {"a file that is written", "w", Below::file, writing_anywhere},
    {"a file that is appended to", "a", Below::file, writing},
    {"a file that is updated", "r+", Below::file, updating},
    {"a file that is read and appended to", "a+", Below::file, updating},
    {"a pipe that is read", "r", Below::pipe, reading},
    {"a pipe that is written", "w", Below::pipe, writing},
    {"callbacks that are read", "r", Below::callbacks, reading_anywhere},
    {"callbacks that are written", "w", Below::callbacks, writing_memory},
    {"memory that is read", "r", Below::memory, reading_anywhere},
    {"memory that grows", "w", Below::memory, writing_memory},
    {"memory that is updated", "w+", Below::memory, updating_memory},
};

bool updates(const Kind &kind) {
    return kind.mode[1];
}

void check(bool good, const char *what) {
    if (!good) {
        perror(what);
        _exit(2);
    }
}

// --- the file, pipe or memory of a stream -------------------------------------------------------

class Ground {
  public:
    Ground(const Kind &k, const std::string &before, Random random) : kind(k) {
        const bool reads = *k.mode == 'r';
        if (kind.below == Below::pipe) {
            check(pipe2(ends, O_CLOEXEC) == 0, "pipe2");
            other = reads ? std::thread(&Ground::feed, this, before, random)
                          : std::thread(&Ground::drain, this, random);
            stream = fdopen(ends[reads ? 0 : 1], k.mode);
        } else if (kind.below == Below::memory) {
            open_memory(before, reads);
        } else if (kind.below == Below::callbacks) {
            through = before;
            stream = fopencookie(this, k.mode, {&Ground::give, &Ground::take, &Ground::move, nullptr});
        } else {
            const int fd = memfd_create("stream_order", 0);
            check(::write(fd, before.data(), before.size()) == static_cast<ssize_t>(before.size()), "write");
            path = "/proc/self/fd/" + std::to_string(fd);
            ends[0] = fd;
            stream = fopen(path.c_str(), k.mode);
        }
        check(stream != nullptr, "fopen");
    }

    // Closes the stream; returns the contents of the file or pipe, and of memory the first `length` bytes.
    std::string close(size_t length) {
        check(fclose(stream) == 0, "fclose");
        if (other.joinable())
            other.join();
        if (kind.below == Below::file) {
            length = static_cast<size_t>(lseek(ends[0], 0, SEEK_END));
            through.resize(length);
            check(pread(ends[0], through.data(), length, 0) == static_cast<ssize_t>(length), "pread");
            ::close(ends[0]);
        } else if (grown) {
            through.assign(grown, size);
            free(grown);
        } else if (kind.below == Below::memory) {
            through.assign(memory.data(), length);
        }
        return through;
    }

    FILE *stream = nullptr;

  private:
    // Opens a stream in memory that contains `before`. If the stream is for output, it writes `before`
    // itself.
    void open_memory(const std::string &before, bool reads) {
        memcpy(memory.data(), before.data(), reads ? before.size() : 0);
        stream = kind.calls[0] == What::put
                     ? open_memstream(&grown, &size)
                     : fmemopen(memory.data(), reads ? before.size() : memory.size(), kind.mode);
        if (stream && !reads && !before.empty())
            check(fwrite(before.data(), 1, before.size(), stream) == before.size() &&
                      fseeko(stream, 0, SEEK_SET) == 0,
                  "fwrite");
    }

    // Waits in a callback until other threads wait for this one. Not by usleep: if a thread is cancelled in
    // usleep, ThreadSanitizer no longer sees its unlocking.
    static Ground &after_others(void *cookie) {
        const timespec a_moment = {0, 1000};
        syscall(SYS_nanosleep, &a_moment, nullptr);
        pthread_testcancel();
        return *static_cast<Ground *>(cookie);
    }

    static ssize_t give(void *cookie, char *p, size_t n) {
        Ground &g = after_others(cookie);
        n = std::min(n, g.through.size() - std::min(g.at, g.through.size()));
        memcpy(p, g.through.data() + g.at, n);
        g.at += n;
        return static_cast<ssize_t>(n);
    }

    static ssize_t take(void *cookie, const char *p, size_t n) {
        Ground &g = after_others(cookie);
        g.at = g.through.append(p, n).size();
        return static_cast<ssize_t>(n);
    }

    static int move(void *cookie, off64_t *offset, int whence) {
        Ground &g = after_others(cookie);
        const size_t base[] = {0, g.at, g.through.size()};
        g.at = base[whence] + static_cast<size_t>(*offset);
        *offset = static_cast<off64_t>(g.at);
        return 0;
    }

    // Writes the input in chunks, for which the readers must wait.
    void feed(std::string bytes, Random random) {
        through = bytes;
        while (!bytes.empty()) {
            const size_t n = std::min(bytes.size(), 1 + random.below(200));
            check(::write(ends[1], bytes.data(), n) == static_cast<ssize_t>(n), "write");
            bytes.erase(0, n);
            if (random.one_in(3))
                std::this_thread::yield();
        }
        ::close(ends[1]);
    }

    void drain(Random random) {
        char piece[3000];
        for (ssize_t n; (n = ::read(ends[0], piece, 1 + random.below(sizeof piece))) > 0;)
            through.append(piece, static_cast<size_t>(n));
        ::close(ends[0]);
    }

    const Kind &kind;
    std::string path, through;
    int ends[2] = {-1, -1};
    std::thread other;
    std::array<char, 65536> memory = {};
    char *grown = nullptr;
    size_t size = 0, at = 0;
};

// --- the calls ----------------------------------------------------------------------------------

class Locked {
  public:
    explicit Locked(FILE *stream) : f(stream) { flockfile(f); }
    ~Locked() { funlockfile(f); }
    Locked(const Locked &) = delete;
    Locked &operator=(const Locked &) = delete;

  private:
    FILE *f;
};

std::string of_byte(int c) {
    return c == EOF ? "" : std::string(1, static_cast<char>(c));
}

std::string read(FILE *f, size_t n) {
    std::string s(n, '\0');
    s.resize(fread(s.data(), 1, n, f));
    return s;
}

std::string line(FILE *f, size_t n) {
    std::string s(n + 1, '\0');
    return fgets(s.data(), static_cast<int>(n + 1), f) ? s.c_str() : "";
}

std::string word(FILE *f, size_t n) {
    std::string s(n + 1, '\0'), format = "%" + std::to_string(n) + "[^\n]";
    const int r = fscanf(f, format.c_str(), s.data());
    return std::to_string(r) + s.c_str();
}

std::string many(FILE *f, size_t n) {
    Locked lock(f);
    std::string s;
    for (int c; s.size() < n && (c = getc_unlocked(f)) != EOF;)
        s += static_cast<char>(c);
    return s;
}

std::string count(long n) {
    return std::to_string(n);
}

std::string put_many(FILE *f, const std::string &bytes) {
    Locked lock(f);
    long n = 0;
    for (char c : bytes)
        n += putc_unlocked(static_cast<unsigned char>(c), f) != EOF;
    return count(n);
}

long write(FILE *f, const std::string &bytes) {
    return static_cast<long>(fwrite(bytes.data(), 1, bytes.size(), f));
}

// If the child owns the stream alone, it has an equal copy; the output that it does not flush is lost.
std::string in_child(FILE *f, const StreamOp &op) {
    Locked lock(f);
    const bool shows = op.what == What::in_child;
    if (fflush(f) != 0)
        return "fflush";
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        const long n = write(f, op.bytes);
        _exit(n == static_cast<long>(op.bytes.size()) && (!shows || fflush(f) == 0) ? 0 : 1);
    }
    int status = -1;
    if (waitpid(child, &status, 0) != child || status != 0)
        return "the child ended with " + std::to_string(status);
    return shows ? std::to_string(op.bytes.size()) : "0";
}

std::string update(FILE *f, const StreamOp &op) {
    const bool moves = op.what == What::read_at || op.what == What::write_at;
    Locked lock(f);
    if (fseeko(f, moves ? static_cast<long>(op.at) : 0, moves ? SEEK_SET : SEEK_CUR) != 0)
        return "fseek";
    return op.bytes.empty() ? read(f, op.n) : count(write(f, op.bytes));
}

std::string make(FILE *f, const StreamOp &op) {
    const char *bytes = op.bytes.c_str();
    const auto size = static_cast<long>(op.bytes.size());
    switch (op.what) {
    case What::get:
        return of_byte(getc(f));
    case What::read:
        return read(f, op.n);
    case What::line:
        return line(f, op.n);
    case What::word:
        return word(f, op.n);
    case What::unget:
        return of_byte(ungetc(*bytes, f));
    case What::many:
        return many(f, op.n);
    case What::put:
        return count(putc(*bytes, f) == *bytes);
    case What::write:
        return count(write(f, op.bytes));
    case What::puts:
        return count(fputs(bytes, f) >= 0 ? size : -1);
    case What::print:
        return count(fprintf(f, "%c%s", *bytes, bytes + 1));
    case What::put_many:
        return put_many(f, op.bytes);
    case What::flush:
        return count(fflush(f));
    case What::in_child:
    case What::aside:
        return in_child(f, op);
    case What::tell:
        return count(ftell(f));
    case What::seek:
        return count(fseeko(f, static_cast<long>(op.n), SEEK_SET));
    case What::seek_end:
        return count(fseeko(f, 0, SEEK_END));
    case What::at_end:
        return feof(f) ? "1" : "0";
    case What::clear:
        clearerr(f);
        return "";
    default:
        return update(f, op);
    }
}

// --- at random -------------------------------------------------------------------------------------

bool takes_text(What what) {
    return (what >= What::put && what <= What::aside && what != What::flush) || what == What::write_on ||
           what == What::write_at || what == What::unget;
}

Call<StreamOp> some_call(Random &random, const Kind &kind, Mode mode, unsigned thread, size_t number,
                         size_t length) {
    What what = kind.calls[random.below(kind.calls.size())];
    const bool forks = what == What::in_child || what == What::aside;
    if (forks && (mode != Mode::fork || !random.one_in(4)))
        what = What::write;
    StreamOp op = {what};
    op.n = what == What::seek  ? random.below(length)
           : what == What::get ? 1
                               : some_length(random, mode != Mode::cancel);
    op.at = random.below(length);
    if (takes_text(what))
        op.bytes = some_text(random, thread, number, what == What::put || what == What::unget ? 1 : op.n);
    return {op, thread, random.below(random.one_in(2) ? 10 : 1000), false};
}

void some_buffer(Random &random, FILE *f, char *memory) {
    const size_t sizes[] = {1, 2, 7, 16, 64, 4096};
    if (random.one_in(3))
        return;
    check(setvbuf(f, memory,
                  random.one_in(4)   ? _IONBF
                  : random.one_in(3) ? _IOLBF
                                     : _IOFBF,
                  sizes[random.below(6)]) == 0,
          "setvbuf");
}

// Adds a call that is the last of every order.
void add(History<StreamOp> &calls, const StreamOp &op, const std::string &result) {
    const int64_t at = now();
    calls.push_back({op, 0, 0, false, at, at, result});
}

// The first thread, which at first uses the stream alone, makes some calls. Then all threads make theirs.
History<StreamOp> make_calls(Random &random, const Kind &kind, Mode mode, FILE *f, size_t length) {
    auto perform = [f](const StreamOp &op) { return make(f, op); };
    std::vector<History<StreamOp>> of_threads(2 + random.below(2));
    History<StreamOp> calls;
    for (size_t i = random.below(3); i > 0; i--)
        calls.push_back(some_call(random, kind, mode, 0, i, length));
    for (unsigned thread = 0; thread < of_threads.size(); thread++)
        for (size_t i = 0; i < 4; i++)
            of_threads[thread].push_back(some_call(random, kind, mode, thread + 1, i, length));
    for (Call<StreamOp> &call : calls)
        make_call(call, perform);
    std::optional<size_t> cancel;
    if (mode == Mode::cancel)
        of_threads.back()[random.below(4)].cancel = true;
    if (mode == Mode::interrupt)
        cancel = random.below(random.one_in(2) ? 100 : 5000);
    History<StreamOp> others = make_at_once(std::move(of_threads), perform, cancel);
    std::move(others.begin(), others.end(), std::back_inserter(calls));
    return calls;
}

// Reads the rest of the input, or notes the contents of the output file.
void end(Ground &ground, const Kind &kind, History<StreamOp> &calls, size_t before) {
    FILE *f = ground.stream;
    const bool free = ftrylockfile(f) == 0;
    if (free)
        funlockfile(f);
    check(free, "the lock is not free after the threads' ends");
    const StreamOp rest = {updates(kind) ? What::read_at : What::read, 100000};
    if (*kind.mode == 'r' || updates(kind))
        add(calls, rest, make(f, rest));
    const size_t length = kind.calls == updating_memory ? calls.back().result->size() : before;
    add(calls, {What::contents}, ground.close(length));
}

void play(const Kind &kind, Mode mode, uint64_t seed, Sum &sum) {
    Random random(seed);
    StreamModel model;
    std::array<char, 4096> buffer;
    const bool new_file = kind.calls[0] == What::put && *kind.mode == 'w';
    model.contents = new_file ? "" : some_contents(random, mode != Mode::cancel);
    model.seekable = kind.below != Below::pipe;
    model.append = *kind.mode == 'a';
    if (model.append && !updates(kind) && !of_musl) // musl's fopen does not seek
        model.at = model.contents.size();
    // memory cannot grow
    const size_t length = model.contents.size() + (kind.below == Below::memory ? 0 : 20);
    Ground ground(kind, model.contents, Random(seed + 1));
    if (kind.below != Below::memory)
        some_buffer(random, ground.stream, buffer.data());
    History<StreamOp> calls = make_calls(random, kind, mode, ground.stream, length);
    end(ground, kind, calls, model.contents.size());
    sum.add(calls, mode == Mode::interrupt || has_order(model, calls),
            std::string(kind.name) + ", seed " + std::to_string(seed) + ", at first " +
                in_quotes(model.contents));
}

} // namespace

int main(int argc, char **argv) {
    const std::string name = argc > 1 ? argv[1] : "calls";
    const Mode mode = name == "cancel"      ? Mode::cancel
                      : name == "interrupt" ? Mode::interrupt
                      : name == "fork"      ? Mode::fork
                                            : Mode::calls;
    const uint64_t rounds =
        from_environment("ASF_ORDER_ROUNDS", argc > 2 ? strtoull(argv[2], nullptr, 10) : 1000);
    const uint64_t seed = from_environment("ASF_ORDER_SEED", argc > 3 ? strtoull(argv[3], nullptr, 10) : 1);
    size_t wrong = 0;
    for (const Kind &kind : kinds) {
        if (of_musl && kind.below == Below::callbacks && (mode == Mode::cancel || mode == Mode::interrupt))
            continue; // in musl, a thread cancelled in a callback keeps the lock
        Sum sum;
        for (uint64_t i = 0; i < rounds && sum.wrong < 3; i++)
            play(kind, mode, seed + i, sum);
        sum.print(kind.name, seed);
        wrong += sum.wrong;
    }
    return wrong > 0;
}
