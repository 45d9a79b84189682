// SPDX-License-Identifier: MIT
//
// asi_order_test.cpp - like stream_order, for calls of the Alloc Stream Interface.
//   ASF_ORDER_ROUNDS, ASF_ORDER_SEED    in the environment: the rounds of each kind of stream, and the seed
#include <sys/wait.h>

#include <asf/lines.h>

#include "tests/interfaces/asi/asi_test.h"
#include "tests/threads/history.h"

namespace asi {
namespace {

using namespace tests;

// Unless a comment says "under the lock", the call and the freeing take no explicit lock.
enum class What {
    take,       // salloc
    take_some,  // salloc_some, which may give less
    take_line,  // salloc_until
    take_less,  // u_salloc and u_srealloc under the lock
    take_twice, // u_salloc twice under the lock
    take_at,    // sallocAt
    read,       // u_Salloc to read under the lock
    put,        // salloc
    put_less,   // u_salloc and u_srealloc under the lock
    abandon,    // salloc and sabandon
    write,      // u_Salloc to write and u_sfree, both under the lock
    write_at,   // the same with u_SallocAt
    flush,
    in_child, // flush and fork under the lock; the child writes and flushes
    contents,
};

struct Op {
    What what = What::flush;
    size_t n = 0, at = 0;
    std::string bytes = {};

    std::string text() const {
        static const char *const names[] = {"take",    "take_some", "take_line", "take_less", "take_twice",
                                            "take_at", "read",      "put",       "put_less",  "abandon",
                                            "write",   "write_at",  "flush",     "in_child",  "contents"};
        return std::string(names[static_cast<size_t>(what)]) + "(" +
               (bytes.empty() ? std::to_string(n) : in_quotes(bytes)) + " at " + std::to_string(at) + ")";
    }
};

class Order {
  public:
    Order(std::string before, bool a) : contents(std::move(before)), append(a) {}

    bool apply(const Op &op, const std::string &result) {
        switch (op.what) {
        case What::take_some:
            return take(result.size()) == result &&
                   (result.empty() ? at >= contents.size() : result.size() <= op.n);
        case What::take_line:
            return take(line_length()) == result;
        case What::take_at:
            at = op.at;
            return take(op.n) == result;
        case What::abandon:
            return result == "0";
        case What::flush:
            return result == "0" || result == std::to_string(-EBUSY);
        case What::contents:
            return result == contents;
        case What::write_at:
            at = op.at;
            [[fallthrough]];
        case What::put:
        case What::put_less:
        case What::write:
        case What::in_child:
            return write(op.bytes) == result;
        default:
            return take(op.n) == result;
        }
    }

    // A cancelled call changes nothing: input that arrives stays for the next call, and output has not begun.
    std::vector<Order> cancelled(const Op &) const { return {*this}; }
    std::string key() const { return std::to_string(at) + ":" + contents; }

  private:
    size_t line_length() const {
        const size_t newline = contents.find('\n', at);
        return newline == std::string::npos ? contents.size() : newline + 1 - at;
    }

    std::string take(size_t n) {
        std::string s = at < contents.size() ? contents.substr(at, n) : "";
        at += s.size();
        return s;
    }

    std::string write(const std::string &bytes) {
        at = append ? contents.size() : at;
        contents.resize(std::max(contents.size(), at + bytes.size()));
        contents.replace(at, bytes.size(), bytes);
        at += bytes.size();
        return std::to_string(bytes.size());
    }

    std::string contents;
    size_t at = 0;
    bool append;
};

struct Kind {
    const char *name;
    int flags;
    bool pipe;
    std::vector<What> calls;
};

const std::vector<What> reading = {What::take, What::take_some, What::take_line, What::take_less,
                                   What::take_twice};
const std::vector<What> reading_anywhere = {What::take,      What::take_some,  What::take_line,
                                            What::take_less, What::take_twice, What::take_at,
                                            What::flush};
const std::vector<What> writing = {What::put,     What::put,   What::put_less,
                                   What::abandon, What::flush, What::in_child};
const std::vector<What> updating = {What::read, What::write, What::write_at, What::read, What::take_at};

const Kind kinds[] = {
    {"AFileThatIsRead", O_RDONLY, false, reading_anywhere},
    {"AFileThatIsWritten", O_WRONLY | O_TRUNC, false, writing},
    {"AFileThatIsAppendedTo", O_WRONLY | O_APPEND, false, writing},
    {"AFileThatIsUpdated", O_RDWR, false, updating},
    {"APipeThatIsRead", O_RDONLY, true, reading},
    {"APipeThatIsWritten", O_WRONLY, true, writing},
};

class Locked {
  public:
    explicit Locked(asf_cios *stream) : s(stream) { lockAsfStream(s); }
    ~Locked() { unlockAsfStream(s); }
    Locked(const Locked &) = delete;
    Locked &operator=(const Locked &) = delete;

  private:
    asf_cios *s;
};

// Returns a region's bytes. A region of input must not change until it is freed.
std::string taken(asf_cios *s, const void *p, ssize_t n) {
    if (!p)
        return n == 0 ? "" : "error " + std::to_string(n);
    const std::string bytes(static_cast<const char *>(p), static_cast<size_t>(n));
    spin(100);
    if (bytes.compare(0, bytes.size(), static_cast<const char *>(p), bytes.size()) != 0)
        return "changed";
    const int rc = sfree(s, const_cast<void *>(p));
    return rc == 0 ? bytes : "sfree " + std::to_string(rc);
}

std::string given(asf_cios *s, void *p, ssize_t n, const std::string &bytes) {
    if (!p || n != static_cast<ssize_t>(bytes.size()))
        return "error " + std::to_string(n);
    memcpy(p, bytes.data(), bytes.size());
    const int rc = sfree(s, p);
    return std::to_string(rc == 0 ? n : rc);
}

std::string take_less(asf_cios *s, ssize_t n) {
    ssize_t more = 2 * n;
    void *p = nullptr;
    {
        Locked lock(s);
        p = u_salloc(s, &more);
        if (p && more > n)
            p = u_srealloc(s, p, &n);
        else
            n = more;
    }
    return taken(s, p, n);
}

std::string take_twice(asf_cios *s, ssize_t n) {
    ssize_t first = (n + 1) / 2, second = n - first;
    Locked lock(s);
    void *p = u_salloc(s, &first), *q = nullptr;
    q = second ? u_salloc(s, &second) : q;
    return taken(s, p, first) + taken(s, q, second);
}

std::string put_less(asf_cios *s, const std::string &bytes) {
    auto n = static_cast<ssize_t>(bytes.size()), more = n + 100;
    void *p = nullptr;
    {
        Locked lock(s);
        p = u_salloc(s, &more);
        p = p ? u_srealloc(s, p, &n) : p;
    }
    return given(s, p, n, bytes);
}

std::string put(asf_cios *s, const std::string &bytes) {
    auto n = static_cast<ssize_t>(bytes.size());
    void *p = salloc(s, &n);
    return given(s, p, n, bytes);
}

std::string abandon(asf_cios *s, ssize_t n) {
    void *p = salloc(s, &n);
    return std::to_string(p ? sabandon(s, p) : static_cast<int>(n));
}

// Another thread's region keeps later output from being written; in the child it is never freed.
std::string put_in_child(asf_cios *s, const std::string &bytes) {
    Locked lock(s);
    if (u_sflush(s) != 0)
        return put(s, bytes);
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(put(s, bytes) == std::to_string(bytes.size()) && u_sflush(s) == 0 ? 0 : 1);
    }
    int status = -1;
    return waitpid(child, &status, 0) == child && status == 0 ? std::to_string(bytes.size())
                                                              : "status " + std::to_string(status);
}

std::string make(asf_cios *s, const Op &op) {
    auto n = static_cast<ssize_t>(op.bytes.empty() ? op.n : op.bytes.size());
    const auto at = static_cast<int64_t>(op.at);
    void *p = nullptr;
    switch (op.what) {
    case What::take:
        p = salloc(s, &n);
        return taken(s, p, n);
    case What::take_some:
        p = salloc_some(s, &n);
        return taken(s, p, n);
    case What::take_line:
        n = 0; // no limit on the length
        p = asf_salloc_until(s, '\n', &n);
        return taken(s, p, n);
    case What::take_less:
        return take_less(s, n);
    case What::take_twice:
        return take_twice(s, n);
    case What::take_at:
        p = SallocAt(s, ASF_READ, &n, at, SEEK_SET);
        return taken(s, p, n);
    case What::put:
        return put(s, op.bytes);
    case What::put_less:
        return put_less(s, op.bytes);
    case What::abandon:
        return abandon(s, n);
    case What::flush:
        return std::to_string(sflush(s));
    case What::in_child:
        return put_in_child(s, op.bytes);
    default:
        break;
    }
    Locked lock(s);
    p = op.what == What::write_at ? u_SallocAt(s, ASF_WRITE, &n, at, SEEK_SET)
                                  : u_Salloc(s, op.what == What::read ? ASF_READ : ASF_WRITE, &n);
    return op.what == What::read ? taken(s, p, n) : given(s, p, n, op.bytes);
}

class Orders : public Asi, public testing::WithParamInterface<Kind> {
  protected:
    void play(bool cancels, bool forks, uint64_t seed, Sum &sum);
    asf_cios *open(const std::string &before, Random random);
    std::string close(asf_cios *s);

    uint64_t rounds = from_environment("ASF_ORDER_ROUNDS", 300);
    uint64_t first = from_environment("ASF_ORDER_SEED", 1);
    std::thread other;
    std::string through;
};

Call<Op> some_call(Random &random, const Kind &kind, bool forks, bool cancels, unsigned thread, size_t number,
                   size_t length) {
    What what = kind.calls[random.below(kind.calls.size())];
    if (what == What::in_child && !(forks && random.one_in(3)))
        what = What::put;
    if (cancels && what == What::take_twice) // a cancellation could come between its two allocations
        what = What::take_less;
    Op op = {what, some_length(random, true), random.below(length)};
    if (what >= What::put && what != What::flush && what != What::abandon)
        op.bytes = some_text(random, thread, number, op.n);
    return {op, thread, random.below(random.one_in(2) ? 10 : 1000), false};
}

// A pipe's other end is used by another thread.
asf_cios *Orders::open(const std::string &before, Random random) {
    if (!GetParam().pipe)
        return must_open(put("file", before), GetParam().flags);
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    through = before;
    if (GetParam().flags == O_RDONLY)
        other = std::thread([to = ends[1], before, random]() mutable {
            for (size_t at = 0, n; at < before.size(); at += n) {
                n = std::min(before.size() - at, 1 + random.below(200));
                EXPECT_EQ(::write(to, before.data() + at, n), static_cast<ssize_t>(n));
                std::this_thread::yield();
            }
            ::close(to);
        });
    else
        other = std::thread([this, from = ends[0], random]() mutable {
            char piece[3000];
            for (ssize_t n; (n = ::read(from, piece, 1 + random.below(sizeof piece))) > 0;)
                through.append(piece, static_cast<size_t>(n));
            ::close(from);
        });
    return asf_sopen_fd(ends[GetParam().flags == O_RDONLY ? 0 : 1], GetParam().flags, nullptr);
}

std::string Orders::close(asf_cios *s) {
    EXPECT_EQ(sclose(s), 0);
    if (other.joinable())
        other.join();
    return GetParam().pipe ? through : contents("file");
}

void Orders::play(bool cancels, bool forks, uint64_t seed, Sum &sum) {
    Random random(seed);
    const Kind &kind = GetParam();
    const bool empty = kind.calls == writing && !(kind.flags & O_APPEND);
    const std::string before = empty ? "" : some_contents(random, true);
    asf_cios *s = open(before, Random(seed + 1));
    auto perform = [s](const Op &op) { return make(s, op); };
    std::vector<History<Op>> of_threads(2 + random.below(2));
    History<Op> calls;
    for (size_t i = random.below(3); i > 0; i--)
        calls.push_back(some_call(random, kind, forks, cancels, 0, i, before.size() + 20));
    for (unsigned thread = 0; thread < of_threads.size(); thread++)
        for (size_t i = 0; i < 4; i++)
            of_threads[thread].push_back(
                some_call(random, kind, forks, cancels, thread + 1, i, before.size() + 20));
    if (cancels)
        of_threads.back()[random.below(4)].cancel = true;
    for (Call<Op> &call : calls)
        make_call(call, perform);
    History<Op> others = make_at_once(std::move(of_threads), perform);
    std::move(others.begin(), others.end(), std::back_inserter(calls));
    if (kind.flags == O_RDONLY)
        make_call(calls.emplace_back(Call<Op>{{What::take, 100000}}), perform);
    make_call(calls.emplace_back(Call<Op>{{What::contents}}), [&](const Op &) { return close(s); });
    sum.add(calls, has_order(Order(before, kind.flags & O_APPEND), calls),
            "seed " + std::to_string(seed) + ", at first " + in_quotes(before));
}

TEST_P(Orders, HaveWhatEachCallGives) {
    Sum sum;
    for (uint64_t i = 0; i < rounds && sum.wrong < 3; i++)
        play(false, false, first + i, sum);
    sum.print(GetParam().name, first);
    EXPECT_EQ(sum.wrong, 0U);
}

TEST_P(Orders, HaveWhatAChildWrites) {
    Sum sum;
    if (GetParam().calls != writing)
        GTEST_SKIP() << "a child takes its own copy of what is buffered";
    for (uint64_t i = 0; i < rounds / 3 && sum.wrong < 3; i++)
        play(false, true, first + i, sum);
    sum.print(GetParam().name, first);
    EXPECT_EQ(sum.wrong, 0U);
}

TEST_P(Orders, HaveCancelledCallsOrNot) {
    Sum sum;
    if (GetParam().calls == updating)
        GTEST_SKIP() << "all of its calls are under the lock";
#ifndef __GLIBC__
    GTEST_SKIP() << "the destructors of a cancelled thread's objects are not called";
#endif
    for (uint64_t i = 0; i < rounds && sum.wrong < 3; i++)
        play(true, false, first + i, sum);
    sum.print(GetParam().name, first);
    EXPECT_EQ(sum.wrong, 0U);
}

INSTANTIATE_TEST_SUITE_P(Of, Orders, testing::ValuesIn(kinds),
                         [](const auto &kind) { return std::string(kind.param.name); });

} // namespace
} // namespace asi
