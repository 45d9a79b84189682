// SPDX-License-Identifier: MIT
//
// Proves <asf/parts.h>: the parts make up the file and end at lines or records; a stream on a part reads that
// part only, or reports that the file has changed; threads process each part once, and end together.
#include <asf/lines.h>
#include <asf/parts.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <mutex>
#include <pthread.h>
#include <random>
#include <set>
#include <sys/resource.h>
#include <thread>

#include "tests/interfaces/asi/asi_test.h"

namespace asi {
namespace {

using Random = std::mt19937;
using Parts = std::vector<asf_part>;

class AsiParts : public Asi {
  protected:
    // Returns the parts by asf_parts, which must succeed.
    static Parts parts_of(const std::string &path, const asf_cut *how = nullptr) {
        asf_part *parts = nullptr;
        const ssize_t count = asf_parts(path.c_str(), how, &parts);
        EXPECT_GE(count, 0);
        Parts found(parts, parts + std::max<ssize_t>(count, 0));
        free(parts);
        for (size_t i = 0; i < found.size(); i++) {
            EXPECT_EQ(found[i].index, static_cast<int64_t>(i));
            EXPECT_EQ(found[i].count, count);
        }
        return found;
    }

    // Reads the whole stream, in regions of any size.
    static std::string read_all(asf_cios *stream, ssize_t *error = nullptr) {
        std::string all;
        for (ssize_t n = 5000;; n = 5000) {
            const auto *p = static_cast<const char *>(asf_salloc(stream, &n));
            if (!p) {
                if (error)
                    *error = n;
                EXPECT_TRUE(error || n == 0) << n;
                return all;
            }
            all.append(p, static_cast<size_t>(n));
            asf_sfree(stream, const_cast<char *>(p));
        }
    }

    static std::string text_of(const std::string &path, const asf_part &part) {
        int error = 1;
        asf_cios *stream = asf_sopen_part(path.c_str(), &part, &error);
        EXPECT_EQ(error, 0);
        const std::string text = stream ? read_all(stream) : "";
        EXPECT_EQ(stream ? asf_sclose(stream) : -1, 0);
        return text;
    }

    static int error_of(const std::string &path, const asf_part &part) {
        int error = 0;
        asf_cios *stream = asf_sopen_part(path.c_str(), &part, &error);
        EXPECT_EQ(stream, nullptr);
        return error;
    }
};

std::string random_lines(Random &random, size_t size, size_t longest) {
    std::string text;
    while (text.size() < size) {
        text.append(random() % longest, static_cast<char>('a' + random() % 26));
        text += random() % 50 ? '\n' : ';';
    }
    return text;
}

// The parts follow one another through the whole file, and each has its bytes.
void expect_whole(const Parts &parts, const std::string &text,
                  const std::function<std::string(const asf_part &)> &read) {
    int64_t at = 0;
    for (const asf_part &part : parts) {
        EXPECT_EQ(part.begin, at);
        EXPECT_GT(part.end, at);
        EXPECT_EQ(read(part), text.substr(static_cast<size_t>(at), static_cast<size_t>(part.end - at)));
        at = part.end;
    }
    EXPECT_EQ(at, static_cast<int64_t>(text.size()));
}

TEST_F(AsiParts, AreTheFileCutBehindDelimiters) {
    Random random(1);
    for (int round = 0; round < 200; round++) {
        const std::string text = random_lines(random, random() % 300000, round % 3 ? 100 : 20000);
        const std::string file = put("lines", text);
        const asf_cut how = {round % 4 ? '\n' : ';', 0,
                             static_cast<int64_t>(1 + random() % (round % 2 ? 70000 : 3000)), false};
        const Parts parts = parts_of(file, &how);
        expect_whole(parts, text, [&](const asf_part &part) { return text_of(file, part); });
        for (size_t i = 0; i + 1 < parts.size(); i++) {
            const auto end = static_cast<size_t>(parts[i].end);
            EXPECT_EQ(text[end - 1], static_cast<char>(how.delimiter));
            // the part ends at the latest after the first delimiter at or after the requested size
            const size_t wanted = static_cast<size_t>((parts[i].begin / how.size + 1) * how.size);
            EXPECT_LE(end, text.find(static_cast<char>(how.delimiter), wanted - 1) + 1);
        }
    }
}

TEST_F(AsiParts, ConsistOfWholeRecords) {
    const std::string text = pattern(100003);
    const std::string file = put("records", text);
    for (int64_t record : {1, 7, 100, 4096, 99999, 200000}) {
        const asf_cut how = {0, record, 10000, false};
        const Parts parts = parts_of(file, &how);
        expect_whole(parts, text, [&](const asf_part &part) { return text_of(file, part); });
        for (const asf_part &part : parts)
            EXPECT_EQ(part.begin % record, 0);
        EXPECT_EQ(parts.size() > 1, record < 99999 || record == 99999) << record;
    }
}

TEST_F(AsiParts, ALineIsNotCut) {
    const std::string text = "short\n" + std::string(500000, 'x') + "\nshort\n";
    const std::string file = put("long", text);
    const asf_cut how = {'\n', 0, 1000, false};
    const Parts parts = parts_of(file, &how);
    ASSERT_EQ(parts.size(), 2U);
    EXPECT_EQ(parts[0].end, static_cast<int64_t>(text.size()) - 6);
}

TEST_F(AsiParts, OfWhatCannotBeCut) {
    EXPECT_TRUE(parts_of(put("empty", "")).empty());
    asf_part *parts = nullptr;
    EXPECT_EQ(asf_parts(path("none").c_str(), nullptr, &parts), -ENOENT);
    const Parts proc = parts_of("/proc/self/status"); // st_size is 0
    ASSERT_EQ(proc.size(), 1U);
    EXPECT_EQ(text_of("/proc/self/status", proc[0]).substr(0, 5), "Name:");
    const asf_cut huge = {'\n', 0, INT64_MAX, false};
    EXPECT_EQ(parts_of(put("three", "a\nb\nc\n"), &huge).size(), 1U);
    const asf_cut negative = {'\n', 0, -1, false};
    EXPECT_EQ(asf_parts(put("some", "text").c_str(), &negative, &parts), -EINVAL);

    ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
    const Parts one = parts_of(path("fifo")); // must not wait for a writer
    ASSERT_EQ(one.size(), 1U);
    EXPECT_EQ(one[0].end, -1);
    std::thread writer([&] {
        const int fd = open(path("fifo").c_str(), O_WRONLY);
        EXPECT_EQ(write(fd, "one\ntwo\n", 8), 8);
        close(fd);
    });
    EXPECT_EQ(text_of(path("fifo"), one[0]), "one\ntwo\n");
    writer.join();
}

TEST_F(AsiParts, OffsetsCountFromTheirBeginning) {
    const std::string text = random_lines(*std::make_unique<Random>(2), 50000, 60);
    const std::string file = put("lines", text);
    const asf_cut how = {'\n', 0, 10000, false};
    const asf_part part = parts_of(file, &how)[2];
    asf_cios *stream = asf_sopen_part(file.c_str(), &part, nullptr);
    ASSERT_NE(stream, nullptr);
    EXPECT_STREQ(asf_module_name(stream), "part");
    const auto begin = static_cast<size_t>(part.begin);
    for (ssize_t offset : {500, 0, 9000, 77}) {
        ssize_t n = 100;
        void *p = asf_sallocAt(stream, &n, offset, SEEK_SET);
        ASSERT_NE(p, nullptr);
        EXPECT_EQ(std::string(static_cast<char *>(p), static_cast<size_t>(n)),
                  text.substr(begin + static_cast<size_t>(offset), 100));
        asf_sfree(stream, p);
        EXPECT_EQ(asf_tell(stream), offset + 100);
    }
    ssize_t n = 100;
    void *p = asf_sallocAt(stream, &n, -30, SEEK_END);
    ASSERT_NE(p, nullptr);
    EXPECT_EQ(n, 30);
    EXPECT_EQ(std::string(static_cast<char *>(p), 30), text.substr(static_cast<size_t>(part.end) - 30, 30));
    asf_sfree(stream, p);
    n = 1;
    EXPECT_EQ(asf_sallocAt(stream, &n, -1, SEEK_SET), nullptr);
    EXPECT_EQ(n, -EINVAL);
    EXPECT_EQ(asf_sclose(stream), 0);
}

TEST_F(AsiParts, OfAFileThatChanges) {
    const std::string text = random_lines(*std::make_unique<Random>(3), 50000, 60), more = "appended\n";
    const std::string file = put("lines", text);
    const asf_cut how = {'\n', 0, 10000, false};
    const Parts parts = parts_of(file, &how);
    int fd = open(file.c_str(), O_WRONLY | O_APPEND);
    EXPECT_EQ(write(fd, more.data(), more.size()), static_cast<ssize_t>(more.size()));
    close(fd);
    expect_whole(parts, text, [&](const asf_part &part) { return text_of(file, part); });

    put("lines", std::string(60000, 'x')); // other contents, and larger
    EXPECT_EQ(error_of(file, parts[1]), -ESTALE);
    put("lines", text.substr(0, 30000));
    EXPECT_EQ(error_of(file, parts[0]), -ESTALE);
    put("other", text);
    std::filesystem::rename(path("other"), file);
    EXPECT_EQ(error_of(file, parts[0]), -ESTALE);
    std::filesystem::remove(file);
    EXPECT_EQ(error_of(file, parts[0]), -ENOENT);
    asf_part wrong = parts[1];
    wrong.end = wrong.begin - 1;
    EXPECT_EQ(error_of(file, wrong), -EINVAL);
}

TEST_F(AsiParts, AFileCutOffIsTold) {
    const std::string text = random_lines(*std::make_unique<Random>(4), 900000, 60);
    const std::string file = put("lines", text);
    const asf_cut how = {'\n', 0, 800000, false};
    const asf_part part = parts_of(file, &how)[0];
    asf_cios *stream = asf_sopen_part(file.c_str(), &part, nullptr);
    ASSERT_NE(stream, nullptr);
    ssize_t n = 1;
    asf_sfree(stream, asf_salloc(stream, &n));
    ASSERT_EQ(truncate(file.c_str(), 500000), 0);
    ssize_t error = 0;
    const std::string all = read_all(stream, &error);
    EXPECT_EQ(error, -EIO);
    EXPECT_EQ(all, text.substr(1, all.size()));
    EXPECT_EQ(asf_sclose(stream), 0);
}

// Only the parts take memory, however large the file is.
TEST_F(AsiParts, TenThousandPartsTakeLittleMemory) {
    const std::string file = put("sparse", "");
    const off_t size = off_t{4} << 30;
    ASSERT_EQ(truncate(file.c_str(), size), 0);
    const auto peak = [] {
        rusage use = {};
        getrusage(RUSAGE_SELF, &use);
        return use.ru_maxrss; // KB
    };
    const asf_cut how = {0, 4096, size / 10000, false};
    const long before = peak();
    const Parts parts = parts_of(file, &how);
    EXPECT_GE(parts.size(), 10000U);
    for (const asf_part &part : parts) {
        int error = 1;
        asf_cios *s = asf_sopen_part(file.c_str(), &part, &error);
        ASSERT_NE(s, nullptr) << error;
        ssize_t n = 100;
        EXPECT_EQ(asf_sfree(s, asf_salloc(s, &n)), 0);
        EXPECT_EQ(n, 100);
        EXPECT_EQ(asf_sclose(s), 0);
    }
    EXPECT_LT(peak() - before, sanitized ? 200000 : 20000);
}

// --- threads ---------------------------------------------------------------------------------

// The parts, lines and threads that the callbacks have seen.
struct Tally {
    std::mutex lock;
    std::set<int64_t> parts;
    std::vector<int64_t> told;
    std::set<std::thread::id> threads;
    int64_t lines = 0, fails_at = -1, done_fails_at = -1;
    std::atomic<int> at_once = 0, telling = 0;
    int most_at_once = 0;
};

int count_lines(asf_cios *stream, const asf_part *part, void *tally) {
    auto &t = *static_cast<Tally *>(tally);
    const int now = ++t.at_once;
    int64_t lines = 0;
    asf_lines iterator;
    ssize_t n;
    asf_lines_begin(&iterator, stream, '\n', 0);
    while (asf_lines_next(&iterator, &n))
        lines++;
    asf_lines_end(&iterator);
    t.at_once--;
    const std::lock_guard<std::mutex> guard(t.lock);
    t.most_at_once = std::max(t.most_at_once, now);
    t.threads.insert(std::this_thread::get_id());
    EXPECT_TRUE(t.parts.insert(part->index).second) << "part " << part->index << " twice";
    t.lines += lines;
    return n < 0 ? static_cast<int>(n) : part->index == t.fails_at ? 77 : 0;
}

int note_told(const asf_part *part, void *tally) {
    auto &t = *static_cast<Tally *>(tally);
    EXPECT_EQ(++t.telling, 1);
    t.told.push_back(part->index);
    t.telling--;
    return part->index == t.done_fails_at ? 78 : 0;
}

class AsiPartsThreads : public AsiParts {
  protected:
    void SetUp() override {
        AsiParts::SetUp();
        Random random(5);
        text = random_lines(random, 3000000, 80);
        file = put("lines", text);
        lines = std::count(text.begin(), text.end(), '\n') + (text.back() != '\n');
    }

    std::string text, file;
    int64_t lines = 0;
    const asf_cut how = {'\n', 0, 50000, false};
};

TEST_F(AsiPartsThreads, EachPartOnceAndToldInOrder) {
    for (unsigned threads : {1U, 2U, 3U, 7U, 0U}) {
        Tally t;
        EXPECT_EQ(asf_each_part(file.c_str(), &how, threads, count_lines, note_told, &t), 0);
        EXPECT_EQ(t.lines, lines);
        EXPECT_EQ(t.parts.size(), parts_of(file, &how).size());
        ASSERT_EQ(t.told.size(), t.parts.size());
        for (size_t i = 0; i < t.told.size(); i++)
            EXPECT_EQ(t.told[i], static_cast<int64_t>(i));
        EXPECT_TRUE(threads == 0 || t.threads.size() <= threads);
    }
    Tally t;
    EXPECT_EQ(asf_each_part(file.c_str(), nullptr, 2, count_lines, nullptr, &t), 0);
    EXPECT_EQ(t.lines, lines);
    EXPECT_GT(t.parts.size(), 1U);
}

TEST_F(AsiPartsThreads, TheFirstFailureEndsAll) {
    Tally t;
    t.fails_at = 10;
    EXPECT_EQ(asf_each_part(file.c_str(), &how, 3, count_lines, note_told, &t), 77);
    EXPECT_LT(t.parts.size(), parts_of(file, &how).size());
    EXPECT_LE(t.told.size(), 10U);
    Tally u;
    u.done_fails_at = 5;
    EXPECT_EQ(asf_each_part(file.c_str(), &how, 3, count_lines, note_told, &u), 78);
    EXPECT_EQ(u.told.size(), 6U);
    EXPECT_EQ(asf_each_part(path("none").c_str(), &how, 3, count_lines, note_told, &u), -ENOENT);
    EXPECT_EQ(asf_each_part(put("empty", "").c_str(), &how, 3, count_lines, note_told, &u), 0);
}

// Counts of the parts that were begun and finished.
struct Ahead {
    std::atomic<int64_t> begun = 0, told = 0, most = 0;
    bool first_fails = false;
};

// Waits until no part is begun for a while.
void wait_for_the_others(const Ahead &a) {
    for (int64_t seen = -1; seen != a.begun;) {
        seen = a.begun;
        usleep(5000);
    }
}

int note_begun(asf_cios *, const asf_part *part, void *ahead) {
    auto &a = *static_cast<Ahead *>(ahead);
    a.begun++;
    if (part->index != 0 || !a.first_fails)
        return 0;
    wait_for_the_others(a);
    return 77;
}

int tell_slowly(const asf_part *, void *ahead) {
    auto &a = *static_cast<Ahead *>(ahead);
    wait_for_the_others(a);
    a.most = std::max<int64_t>(a.most, a.begun - a.told);
    a.told++;
    return 0;
}

TEST_F(AsiPartsThreads, ResultsThatWaitAreBounded) {
    const asf_cut parts = {'\n', 0, 100000, false};
    for (unsigned threads : {1U, 2U, 3U}) {
        Ahead a;
        EXPECT_EQ(asf_each_part(file.c_str(), &parts, threads, note_begun, tell_slowly, &a), 0);
        EXPECT_EQ(a.told, static_cast<int64_t>(parts_of(file, &parts).size()));
        EXPECT_LE(a.most, 4 * threads);
    }
    Ahead f; // the waiting threads end after a failure
    f.first_fails = true;
    EXPECT_EQ(asf_each_part(file.c_str(), &parts, 3, note_begun, tell_slowly, &f), 77);
    EXPECT_LE(f.begun, 12);
}

// Part 0 waits in its stream until another has failed: its next read is refused.
int fail_or_read_on(asf_cios *stream, const asf_part *part, void *failed) {
    auto &f = *static_cast<std::atomic<bool> *>(failed);
    if (part->index != 0) {
        f = true;
        return 5;
    }
    while (!f)
        sched_yield();
    usleep(20000);
    ssize_t n = 100000, read = 0;
    while (void *p = asf_salloc(stream, &n)) {
        read += n;
        asf_sfree(stream, p);
    }
    EXPECT_EQ(n, -ECANCELED);
    EXPECT_LT(read, part->end);
    return 0;
}

TEST_F(AsiPartsThreads, ReadsEndWhenAnotherThreadHasFailed) {
    std::atomic<bool> failed = false;
    const asf_cut large = {'\n', 0, 1000000, false};
    EXPECT_EQ(asf_each_part(file.c_str(), &large, 2, fail_or_read_on, nullptr, &failed), 5);
}

int end_the_thread(asf_cios *, const asf_part *, void *main_thread) {
    if (!pthread_equal(pthread_self(), *static_cast<pthread_t *>(main_thread)))
        pthread_exit(nullptr);
    usleep(1000);
    return 0;
}

TEST_F(AsiPartsThreads, AThreadThatEndsEndsAll) {
    pthread_t self = pthread_self();
    EXPECT_EQ(asf_each_part(file.c_str(), &how, 3, end_the_thread, nullptr, &self), -ECANCELED);
}

int count_calls_and_wait(asf_cios *, const asf_part *, void *calls) {
    ++*static_cast<std::atomic<int> *>(calls);
    for (int i = 0; i < 2000; i++) { // ThreadSanitizer does not support cancellation in usleep
        sched_yield();
        pthread_testcancel();
    }
    return 0;
}

TEST_F(AsiPartsThreads, ACancelledCallerStopsTheOthers) {
    struct Call {
        std::string file;
        asf_cut how;
        std::atomic<int> calls = 0;
    } call{file, how};
    pthread_t caller;
    pthread_create(
        &caller, nullptr,
        [](void *c) -> void * {
            auto &it = *static_cast<Call *>(c);
            asf_each_part(it.file.c_str(), &it.how, 3, count_calls_and_wait, nullptr, &it.calls);
            return nullptr;
        },
        &call);
    while (call.calls < 6)
        sched_yield();
    pthread_cancel(caller);
    void *result = nullptr;
    pthread_join(caller, &result);
    EXPECT_EQ(result, PTHREAD_CANCELED);
    const int calls = call.calls;
    usleep(20000);
    EXPECT_EQ(call.calls, calls);
    EXPECT_LT(calls, static_cast<int>(parts_of(file, &how).size()));
}

// The calling thread has finished, waits for a slow thread, and is cancelled.
TEST_F(AsiPartsThreads, ACallerIsCancelledWhileItWaits) {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "ThreadSanitizer follows no cancellation out of pthread_join";
#endif
    struct Call {
        std::string file;
        std::atomic<pthread_t> caller;
        std::atomic<int> slow = 0, ended = 0;
    } call;
    call.file = put("two", text);
    pthread_t thread;
    pthread_create(
        &thread, nullptr,
        [](void *c) -> void * {
            static_cast<Call *>(c)->caller = pthread_self();
            const asf_cut halves = {'\n', 0, 2000000, false};
            const auto work = [](asf_cios *, const asf_part *, void *argument) {
                auto &it = *static_cast<Call *>(argument);
                if (pthread_equal(pthread_self(), it.caller)) {
                    while (!it.slow) // leave the other part to the other thread
                        sched_yield();
                    return 0;
                }
                it.slow = 1;
                usleep(100000);
                it.ended = 1;
                return 0;
            };
            asf_each_part(static_cast<Call *>(c)->file.c_str(), &halves, 2, work, nullptr, c);
            return nullptr;
        },
        &call);
    while (!call.slow)
        sched_yield();
    usleep(20000);
    pthread_cancel(thread);
    pthread_join(thread, nullptr);
    EXPECT_EQ(call.ended, 1);
}

int read_pipe(asf_cios *stream, const asf_part *part, void *text) {
    EXPECT_EQ(part->end, -1);
    ssize_t n = 100;
    void *p = asf_salloc(stream, &n);
    static_cast<std::string *>(text)->assign(static_cast<char *>(p), static_cast<size_t>(n));
    return asf_sfree(stream, p);
}

TEST_F(AsiPartsThreads, APipeIsOnePart) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    EXPECT_EQ(write(ends[1], "one\ntwo\n", 8), 8);
    close(ends[1]);
    std::string found;
    EXPECT_EQ(asf_each_part(("/proc/self/fd/" + std::to_string(ends[0])).c_str(), nullptr, 4, read_pipe,
                            nullptr, &found),
              0);
    EXPECT_EQ(found, "one\ntwo\n");
    close(ends[0]);
}

int see_signals(asf_cios *, const asf_part *, void *others) {
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    *static_cast<std::atomic<int> *>(others) += sigismember(&blocked, SIGALRM);
    usleep(1000);
    return 0;
}

TEST_F(AsiPartsThreads, SignalsAreTheProgramsThreads) {
    std::atomic<int> blocked = 0;
    EXPECT_EQ(asf_each_part(file.c_str(), &how, 3, see_signals, nullptr, &blocked), 0);
    EXPECT_GT(blocked, 0);
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, nullptr, &now);
    EXPECT_EQ(sigismember(&now, SIGALRM), 0);
}

// --- columns -----------------------------------------------------------------------------------

class AsiPartsColumns : public AsiParts {
  protected:
    // An integer, a word, a double and a long integer a row.
    static std::string random_rows(Random &random, int rows, bool ends) {
        std::string text = "id,name,price,total\n";
        char row[200];
        for (int i = 0; i < rows; i++) {
            text.append(row, static_cast<size_t>(
                                 snprintf(row, sizeof row, "%d,%.*s,%.*f,%lld\n", static_cast<int>(random()),
                                          static_cast<int>(random() % 20), "any word that is long enough",
                                          static_cast<int>(random() % 5), static_cast<int>(random()) / 1e4,
                                          static_cast<long long>(random()) << random() % 30)));
        }
        if (!ends)
            text.pop_back();
        return text;
    }

    struct Columns {
        std::vector<asf_column> of = {
            {0, ASF_INT32, nullptr}, {2, ASF_DOUBLE, nullptr}, {3, ASF_INT64, nullptr}};
        int64_t rows = 0;
        ~Columns() {
            for (const asf_column &column : of)
                free(column.values);
        }
        std::string bytes() const {
            std::string all;
            for (const asf_column &column : of)
                all.append(static_cast<const char *>(column.values),
                           static_cast<size_t>(rows) * (column.type == ASF_INT32 ? 4 : 8));
            return all;
        }
    };

    // Reads the columns by one thread with asf_get_columns.
    static void scan(const std::string &path, int64_t room, Columns *columns) {
        for (asf_column &column : columns->of)
            column.values = malloc(static_cast<size_t>(room) * 8 + 1);
        asf_cios *stream = asf_sopen(path.c_str(), O_RDONLY, 0, nullptr);
        ssize_t n = 0;
        asf_sfree(stream, asf_salloc_until(stream, '\n', &n));
        columns->rows = asf_get_columns(stream, ',', columns->of.data(), columns->of.size(), room);
        asf_sclose(stream);
    }
};

TEST_F(AsiPartsColumns, AreThoseOfOneThread) {
    Random random(6);
    for (int rows : {0, 1, 5, 4096, 4097, 150000}) {
        const std::string file = put("table", random_rows(random, rows, rows % 2));
        Columns expected;
        scan(file, rows, &expected);
        ASSERT_EQ(expected.rows, rows);
        for (unsigned threads : {1U, 2U, 5U, 0U}) {
            Columns got;
            got.rows = asf_read_columns(file.c_str(), ',', 1, got.of.data(), got.of.size(), threads);
            ASSERT_EQ(got.rows, rows) << threads;
            EXPECT_TRUE(got.bytes() == expected.bytes()) << rows << " rows, " << threads << " threads";
            EXPECT_EQ(got.of[0].values == nullptr, rows == 0);
        }
    }
}

TEST_F(AsiPartsColumns, ALineThatIsNoRowIsTold) {
    Random random(7);
    std::string text = random_rows(random, 100000, true);
    const auto read = [&](int64_t skip) {
        Columns got;
        const std::string file = put("table", text);
        got.rows = asf_read_columns(file.c_str(), ',', skip, got.of.data(), got.of.size(), 3);
        for (const asf_column &column : got.of)
            EXPECT_EQ(column.values == nullptr, got.rows <= 0);
        return got.rows;
    };
    EXPECT_EQ(read(1), 100000);
    EXPECT_EQ(read(0), -EBADMSG);
    EXPECT_EQ(read(-1), -EINVAL);
    EXPECT_EQ(read(200000), -EMSGSIZE);
    const std::string all = text;
    text.resize(text.find('\n', 5000) + 1);
    EXPECT_EQ(read(200000), 0);
    text = all;
    const size_t last = text.rfind('\n', text.size() - 2);
    text.replace(last + 1, 1, "x");
    EXPECT_EQ(read(1), -EBADMSG);
    text.replace(text.find('\n') + 1, 0, "99999999999,a,1,1\n");
    EXPECT_EQ(read(1), -ERANGE);
    asf_column unset = {0, ASF_INT32, &text};
    EXPECT_EQ(asf_read_columns(path("table").c_str(), ',', -1, &unset, 1, 0), -EINVAL);
    EXPECT_EQ(unset.values, nullptr);
    Columns none;
    EXPECT_EQ(asf_read_columns(path("none").c_str(), ',', 0, none.of.data(), none.of.size(), 0), -ENOENT);
    EXPECT_EQ(asf_read_columns(path("table").c_str(), ',', 0, none.of.data(), 0, 0), -EINVAL);
    std::swap(none.of[0], none.of[1]);
    EXPECT_EQ(asf_read_columns(path("table").c_str(), ',', 1, none.of.data(), none.of.size(), 0), -EINVAL);
}

} // namespace
} // namespace asi
