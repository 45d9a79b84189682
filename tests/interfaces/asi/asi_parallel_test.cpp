// SPDX-License-Identifier: MIT
//
// asi_parallel_test.cpp - threads that use one stream in parallel, by random calls; the checks hold for every
// order of the calls.
//   ASF_MODEL_SEED, ASF_MODEL_STEPS    as for the model
#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

#include "tests/interfaces/asi/asi_model.h"

namespace asi {
namespace {

constexpr unsigned THREADS = 3;
using Range = std::pair<uint64_t, uint64_t>;

// A region, and the words that it must have until it is freed.
struct Held {
    uint64_t *p;
    std::vector<uint64_t> words;
};

class Parallel : public Asi {
  protected:
    uint64_t seed = from_environment("ASF_MODEL_SEED", 1);
    uint64_t steps = from_environment("ASF_MODEL_STEPS", 20000);

    std::string put_words(uint64_t n) const {
        std::vector<uint64_t> words(n);
        for (uint64_t i = 0; i < n; i++)
            words[i] = i;
        return put("words", {reinterpret_cast<const char *>(words.data()), n * sizeof words[0]});
    }

    // Runs `body` in each thread, with the thread's number.
    template <typename F> void at_once(F body) {
        std::vector<std::thread> threads;
        for (unsigned i = 0; i < THREADS; i++)
            threads.emplace_back([=, this] { body(i, Random(seed * THREADS + i)); });
        for (std::thread &t : threads)
            t.join();
    }
};

// --- input ---------------------------------------------------------------------------------

// A thread's regions.  The thread frees them in any order, after checking each again.
class Holding {
  public:
    Holding(asf_cios *stream, Random numbers) : s(stream), random(numbers) {}
    ~Holding() {
        while (!held.empty())
            give_back();
    }
    Holding(const Holding &) = delete;
    Holding &operator=(const Holding &) = delete;

    // Keeps a region and returns its words, which must be consecutive.
    Range hold(void *p, ssize_t n) {
        auto *words = static_cast<uint64_t *>(p);
        held.push_back({words, {words, words + static_cast<size_t>(n) / sizeof *words}});
        const std::vector<uint64_t> &all = held.back().words;
        for (size_t i = 1; i < all.size(); i++)
            if (all[i] != all[0] + i)
                return {UINT64_MAX, UINT64_MAX};
        return {all[0], all[0] + all.size()};
    }

    void give_some_back() {
        while (held.size() > random.below(8))
            give_back();
    }

  private:
    void give_back() {
        std::swap(held[random.below(held.size())], held.back());
        const Held &h = held.back();
        EXPECT_EQ(memcmp(h.p, h.words.data(), h.words.size() * sizeof *h.p), 0);
        EXPECT_EQ(sfree(s, h.p), 0);
        held.pop_back();
    }

    asf_cios *s;
    Random random;
    std::vector<Held> held;
};

ssize_t some_words(Random &random) {
    const size_t most[] = {1, 10, 1000, 10000};
    return static_cast<ssize_t>(sizeof(uint64_t) * (1 + random.below(most[random.below(4)])));
}

std::vector<Range> take_all(asf_cios *s, Random random) {
    Holding holding(s, random);
    std::vector<Range> ranges;
    for (;;) {
        ssize_t n = some_words(random);
        void *p = (random.one_in(2) ? salloc : salloc_some)(s, &n);
        if (!p) {
            EXPECT_EQ(n, 0);
            return ranges;
        }
        ranges.push_back(holding.hold(p, n));
        holding.give_some_back();
        if (random.one_in(50))
            std::this_thread::yield();
    }
}

void expect_each_once(std::vector<Range> all, uint64_t words) {
    std::sort(all.begin(), all.end());
    uint64_t at = 0;
    for (const Range &range : all) {
        ASSERT_EQ(range.first, at);
        at = range.second;
    }
    EXPECT_EQ(at, words);
}

TEST_F(Parallel, EachByteOfInputIsHandedOutOnce) {
    const uint64_t words = 20 * steps;
    asf_cios *s = must_open(put_words(words), O_RDONLY);
    std::vector<Range> ranges[THREADS], all;
    at_once([&](unsigned i, Random random) { ranges[i] = take_all(s, random); });
    for (const auto &of_one : ranges)
        all.insert(all.end(), of_one.begin(), of_one.end());
    expect_each_once(all, words);
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(Parallel, EachByteOfAPipeIsHandedOutOnce) {
    const uint64_t words = 20 * steps;
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    std::thread writer([to = ends[1], words] {
        std::vector<uint64_t> some(1000);
        for (uint64_t i = 0; i < words; i += some.size()) {
            for (uint64_t j = 0; j < some.size(); j++)
                some[j] = i + j;
            const auto bytes = static_cast<ssize_t>(some.size() * sizeof some[0]);
            EXPECT_EQ(::write(to, some.data(), static_cast<size_t>(bytes)), bytes);
        }
        ::close(to);
    });
    asf_cios *s = asf_sopen_fd(ends[0], O_RDONLY, nullptr);
    std::vector<Range> ranges[THREADS], all;
    at_once([&](unsigned i, Random random) { ranges[i] = take_all(s, random); });
    writer.join();
    for (const auto &of_one : ranges)
        all.insert(all.end(), of_one.begin(), of_one.end());
    expect_each_once(all, (words + 999) / 1000 * 1000);
    EXPECT_EQ(sclose(s), 0);
}

// Takes regions at random offsets, and without an offset.  A positional region must be at its offset,
// whatever other threads do.
void take_anywhere(asf_cios *s, Random random, uint64_t words, uint64_t steps) {
    Holding holding(s, random);
    for (uint64_t i = 0; i < steps; i++) {
        ssize_t n = some_words(random);
        const uint64_t at = random.below(words);
        const auto offset = static_cast<int64_t>(at * sizeof at);
        const size_t how = random.below(4);
        void *p = how == 0   ? salloc(s, &n)
                  : how == 1 ? SallocAt(s, ASF_READ, &n, offset, SEEK_SET)
                             : sallocAt(s, &n, offset, SEEK_SET);
        if (!p) {
            EXPECT_EQ(n, 0);
            EXPECT_EQ(how, 0U) << "there are words at " << at;
            continue;
        }
        const Range range = holding.hold(p, n);
        if (how > 0) {
            EXPECT_EQ(range.first, at);
        }
        EXPECT_NE(range.first, UINT64_MAX);
        holding.give_some_back();
        if (random.one_in(20)) {
            EXPECT_EQ(sflush(s), 0);
        }
    }
}

TEST_F(Parallel, InputIsWhatStandsWhereItWasAskedFor) {
    const uint64_t words = 300000, each = steps / 10;
    asf_cios *s = must_open(put_words(words), O_RDONLY);
    at_once([&](unsigned, Random random) { take_anywhere(s, random, words, each); });
    EXPECT_EQ(sclose(s), 0);
}

// --- output -----------------------------------------------------------------------------------

// A record has its thread, number and word count, and words that are computed from these.
uint64_t word_of(uint64_t thread, uint64_t number, size_t i, size_t count) {
    const uint64_t head[] = {thread, number, count};
    return i < 3 ? head[i] : Random(thread << 48 ^ number << 16 ^ i).next();
}

struct Record {
    uint64_t *p;
    uint64_t number;
    size_t count;
};

class Writing {
  public:
    Writing(asf_cios *stream, unsigned thread, Random numbers) : s(stream), me(thread), random(numbers) {}

    void allocate() {
        const size_t count = 3 + random.below(random.one_in(5) ? 4000 : 40);
        auto n = static_cast<ssize_t>(count * sizeof(uint64_t));
        const size_t how = may_wait ? 1 + random.below(2) : random.below(3);
        auto *p = static_cast<uint64_t *>(how == 0   ? by_srealloc(&n)
                                          : how == 1 ? Salloc(s, ASF_WRITE, &n)
                                                     : salloc(s, &n));
        ASSERT_NE(p, nullptr) << n;
        ASSERT_EQ(static_cast<size_t>(n), count * sizeof *p);
        records.push_back({p, ++last, count});
    }

    void give_some_back(bool all) {
        while (records.size() > (all ? 0 : random.below(8)))
            give_back();
    }

    std::vector<uint64_t> abandoned;
    bool may_wait = false; // the u_ forms do not wait

  private:
    // Makes a record by growing a region; no other thread's region may come between its words.
    void *by_srealloc(ssize_t *n) {
        ssize_t more = *n * 2;
        lockAsfStream(s);
        void *p = u_salloc(s, &more);
        p = p ? u_srealloc(s, p, n) : p;
        unlockAsfStream(s);
        return p;
    }

    void give_back() {
        std::swap(records[random.below(records.size())], records.back());
        const Record r = records.back();
        records.pop_back();
        for (size_t i = 0; i < r.count; i++)
            r.p[i] = word_of(me, r.number, i, r.count);
        if (random.one_in(20)) {
            abandoned.push_back(r.number);
            EXPECT_EQ(sabandon(s, r.p), 0);
        } else {
            EXPECT_EQ(sfree(s, r.p), 0);
        }
    }

    asf_cios *s;
    uint64_t me, last = 0;
    Random random;
    std::vector<Record> records;
};

// Expects whole records, each thread's in order; returns the number of each thread's records.
std::map<uint64_t, uint64_t> read_records(const std::string &file) {
    std::map<uint64_t, uint64_t> last, counts;
    std::vector<uint64_t> words(file.size() / sizeof(uint64_t));
    memcpy(words.data(), file.data(), words.size() * sizeof words[0]);
    for (size_t at = 0; at < words.size(); at += words[at + 2]) {
        const size_t count = at + 3 <= words.size() ? words[at + 2] : 0;
        if (count < 3 || at + count > words.size()) {
            ADD_FAILURE() << "no record at word " << at;
            break;
        }
        for (size_t i = 0; i < count; i++)
            if (words[at + i] != word_of(words[at], words[at + 1], i, count)) {
                ADD_FAILURE() << "word " << i << " of the record at " << at;
                return counts;
            }
        EXPECT_GT(words[at + 1], last[words[at]]);
        last[words[at]] = words[at + 1];
        counts[words[at]]++;
    }
    return counts;
}

void write_records(asf_cios *s, unsigned me, Random random, uint64_t n, std::vector<uint64_t> *abandoned) {
    Writing writing(s, me, random);
    for (uint64_t i = 0; i < n && !testing::Test::HasFatalFailure(); i++) {
        writing.allocate();
        writing.give_some_back(false);
        const int rc = random.one_in(30) ? sflush(s) : 0;
        EXPECT_TRUE(rc == 0 || rc == -EBUSY) << rc;
    }
    writing.give_some_back(true);
    *abandoned = writing.abandoned;
}

TEST_F(Parallel, OutputIsWhereItWasAllocated) {
    const uint64_t each = steps / 20;
    for (const int flags : {O_WRONLY, O_RDWR, O_WRONLY | O_APPEND}) {
        asf_cios *s = must_open(path("out"), flags | O_CREAT | O_TRUNC);
        std::vector<uint64_t> abandoned[THREADS];
        ASSERT_EQ(set_stream_mode(s, ASF_WRITE), s);
        at_once([&](unsigned i, Random random) { write_records(s, i, random, each, &abandoned[i]); });
        EXPECT_EQ(sclose(s), 0);
        auto counts = read_records(contents("out"));
        for (unsigned i = 0; i < THREADS; i++)
            EXPECT_EQ(counts[i], each - abandoned[i].size()) << "thread " << i << ", flags " << flags;
    }
}

// Each thread has its own offsets, and writes at each once.
void write_places(asf_cios *s, unsigned me, Random random, size_t places, size_t size) {
    std::vector<char *> held;
    for (size_t k = 0; k < places; k++) {
        const auto at = static_cast<int64_t>((k * THREADS + me) * size);
        auto n = static_cast<ssize_t>(size);
        auto *p = static_cast<char *>(random.one_in(2) ? sallocAt(s, &n, at, SEEK_SET)
                                                       : SallocAt(s, ASF_WRITE, &n, at, SEEK_SET));
        ASSERT_NE(p, nullptr) << n;
        for (size_t i = 0; i < size; i++)
            p[i] = pattern_at(static_cast<size_t>(at) + i);
        held.push_back(p);
        while (!held.empty() && held.size() > random.below(6)) {
            std::swap(held[random.below(held.size())], held.back());
            EXPECT_EQ(sfree(s, held.back()), 0);
            held.pop_back();
        }
    }
    for (char *p : held)
        EXPECT_EQ(sfree(s, p), 0);
}

TEST_F(Parallel, OutputIsWrittenWhereItBelongs) {
    const size_t places = steps / 100, size = 300;
    asf_cios *s = must_open(path("out"), O_WRONLY | O_CREAT | O_TRUNC);
    at_once([&](unsigned i, Random random) { write_places(s, i, random, places, size); });
    EXPECT_EQ(sclose(s), 0);
    const std::string out = contents("out");
    EXPECT_EQ(out.size(), places * THREADS * size);
    EXPECT_EQ(first_wrong(out.data(), out.size(), 0), out.size());
}

// A thread that waits at the bound holds no region for which others would wait.
TEST_F(Parallel, OutputWaitsAtTheBound) {
    const uint64_t each = steps / 20;
    asf_cios *s = must_open(path("out"), O_WRONLY | O_CREAT | O_TRUNC);
    std::vector<uint64_t> abandoned[THREADS];
    asf_set_bound(s, 2000, 1);
    at_once([&](unsigned i, Random random) {
        Writing writing(s, i, random);
        writing.may_wait = true;
        for (uint64_t k = 0; k < each && !HasFatalFailure(); k++) {
            writing.allocate();
            if (random.one_in(3))
                std::this_thread::yield();
            writing.give_some_back(true);
        }
        abandoned[i] = writing.abandoned;
    });
    EXPECT_EQ(sclose(s), 0);
    auto counts = read_records(contents("out"));
    for (unsigned i = 0; i < THREADS; i++)
        EXPECT_EQ(counts[i], each - abandoned[i].size()) << "thread " << i;
}

// No output is lost if another thread begins to write during a read.
TEST_F(Parallel, OutputBesideReadsUnderWay) {
    const size_t places = steps / 4;
    asf_cios *s = must_open(put_pattern("out", 100000), O_RDWR);
    std::atomic<bool> ended = false;
    std::thread reader([&] {
        for (Random random(seed); !ended;) {
            ssize_t n = 10;
            void *p = sallocAt(s, &n, static_cast<int64_t>(random.below(90000)), SEEK_SET);
            EXPECT_EQ(sabandon(s, p), 0) << n; // the region may be output
        }
    });
    Random random(seed + 1);
    for (size_t i = 0; i < places; i++) {
        ssize_t n = 10;
        void *p = SallocAt(s, ASF_WRITE, &n, static_cast<int64_t>(10 * i), SEEK_SET);
        ASSERT_NE(p, nullptr) << n;
        memset(p, 'x', 10);
        EXPECT_EQ(sfree(s, p), 0);
        while (!set_stream_mode(s, ASF_READ)) // while the other thread has a region, the mode cannot change
            std::this_thread::yield();
        if (random.one_in(2)) // lets the other thread read
            std::this_thread::yield();
    }
    ended = true;
    reader.join();
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(contents("out").substr(0, 10 * places), std::string(10 * places, 'x'));
}

} // namespace
} // namespace asi
