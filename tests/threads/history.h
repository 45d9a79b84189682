// SPDX-License-Identifier: MIT
//
// history.h - records the calls that threads make on one stream, and checks that the results are those of
// some order of the calls.
//
// A history is right if the calls have a linear order with two properties. A call that returned before
// another began precedes it. And the model, applied in this order, gives each call's result. A Model has:
//     bool apply(const Op &, const std::string &result)   makes the call; whether it may give this result
//     std::vector<Model> cancelled(const Op &)            the states that a cancelled call may leave
//     std::string key()                                   identifies the state
#ifndef ASF_TESTS_HISTORY_H
#define ASF_TESTS_HISTORY_H

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <limits>
#include <optional>
#include <pthread.h>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/random.h"

namespace tests {

// A call with its result; a cancelled call has none.
template <typename Op> struct Call {
    Op op;
    unsigned thread = 0;
    size_t pause = 0; // length of the pause before the call
    // the thread cancels itself: this call ends the thread, or the first later one that is a cancellation
    // point
    bool cancel = false;
    int64_t from = 0, to = std::numeric_limits<int64_t>::max(); // 0: the call never began
    std::optional<std::string> result = {};
};

template <typename Op> using History = std::vector<Call<Op>>;

// --- the order -----------------------------------------------------------------------------

// The next call of an order can be any that began before each remaining call returned.
template <typename Model, typename Op> class Orders {
  public:
    explicit Orders(const History<Op> &history) : calls(history) {}

    bool lead_on_from(const Model &model, uint64_t left) {
        if (left == 0)
            return true;
        if (!tried.emplace(left, model.key()).second)
            return false;
        int64_t first_return = std::numeric_limits<int64_t>::max();
        for (size_t i = 0; i < calls.size(); i++)
            if (left >> i & 1)
                first_return = std::min(first_return, calls[i].to);
        for (size_t i = 0; i < calls.size(); i++)
            if ((left >> i & 1) && calls[i].from <= first_return && leads_on(model, i, left & ~(1ULL << i)))
                return true;
        return false;
    }

  private:
    bool leads_on(const Model &model, size_t i, uint64_t left) {
        const Call<Op> &call = calls[i];
        if (call.result) {
            Model next = model;
            return next.apply(call.op, *call.result) && lead_on_from(next, left);
        }
        const std::vector<Model> states = model.cancelled(call.op);
        return std::any_of(states.begin(), states.end(),
                           [&](const Model &next) { return lead_on_from(next, left); });
    }

    const History<Op> &calls;
    std::set<std::pair<uint64_t, std::string>> tried;
};

template <typename Model, typename Op> bool has_order(const Model &start, const History<Op> &calls) {
    return Orders<Model, Op>(calls).lead_on_from(start, (1ULL << calls.size()) - 1);
}

// --- making one --------------------------------------------------------------------------------

// Not a shared counter: it would synchronize the threads, which hides races from ThreadSanitizer.
inline int64_t now() {
    return std::chrono::steady_clock::now().time_since_epoch().count();
}

template <typename Op, typename Perform> void make_call(Call<Op> &call, Perform perform) {
    call.from = now();
    std::string result = perform(call.op);
    call.to = now();
    call.result = std::move(result);
}

inline void spin(size_t turns) {
    for (; turns > 0; turns--)
        asm volatile("");
}

// Waits without sleeping, unless there are too few processors.
inline void wait_for_all(std::atomic<size_t> &waiting) {
    waiting--;
    for (size_t i = 0; waiting > 0; i++)
        if (i % 20000 == 19999)
            std::this_thread::yield();
}

// Makes each thread's calls, all threads at once. If `cancel` has a value, the last thread is cancelled so
// long after the start.
template <typename Op, typename Perform>
History<Op> make_at_once(std::vector<History<Op>> calls, Perform perform, std::optional<size_t> cancel = {}) {
    std::atomic<size_t> waiting = calls.size();
    std::vector<std::thread> threads;
    for (History<Op> &own : calls)
        threads.emplace_back([&] {
            wait_for_all(waiting);
            for (Call<Op> &call : own) {
                spin(call.pause);
                if (call.cancel)
                    pthread_cancel(pthread_self());
                make_call(call, perform);
            }
        });
    if (cancel) {
        while (waiting > 0)
            std::this_thread::yield();
        spin(*cancel);
        pthread_cancel(threads.back().native_handle());
    }
    History<Op> all;
    for (size_t i = 0; i < calls.size(); i++) {
        threads[i].join();
        for (Call<Op> &call : calls[i])
            if (call.from > 0) {
                call.to = call.result ? call.to : now();
                all.push_back(std::move(call));
            }
    }
    return all;
}

// Returns the number of calls that began before a call of another thread had returned.
template <typename Op> size_t beside_others(const History<Op> &calls) {
    return static_cast<size_t>(std::count_if(calls.begin(), calls.end(), [&](const Call<Op> &call) {
        return std::any_of(calls.begin(), calls.end(), [&](const Call<Op> &other) {
            return other.thread != call.thread && other.from <= call.to && call.from <= other.to;
        });
    }));
}

// --- for a reader --------------------------------------------------------------------------------

inline std::string in_quotes(const std::string &text) {
    std::string s = "\"";
    for (size_t i = 0; i < text.size(); i++) {
        if (text.size() > 100 && i == 50) {
            s += "...";
            i = text.size() - 50;
        }
        char byte[8];
        snprintf(byte, sizeof byte, text[i] >= ' ' && text[i] != '"' && text[i] != '\\' ? "%c" : "\\%03o",
                 static_cast<unsigned char>(text[i]));
        s += byte;
    }
    s += '"';
    return text.size() > 100 ? s + " (" + std::to_string(text.size()) + ")" : s;
}

template <typename Op> void show(const History<Op> &calls) {
    History<Op> sorted = calls;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Call<Op> &a, const Call<Op> &b) { return a.from < b.from; });
    for (const Call<Op> &call : sorted)
        fprintf(stderr, "thread %u %8lld to %8lld ns: %s: %s\n", call.thread,
                static_cast<long long>(call.from - sorted[0].from),
                static_cast<long long>(call.to - sorted[0].from), call.op.text().c_str(),
                call.result ? in_quotes(*call.result).c_str() : "cancelled");
}

// --- at random ---------------------------------------------------------------------------------

// Returns a random length. `much` is false for calls that work byte by byte: then at most 100.
inline size_t some_length(Random &random, bool much) {
    const size_t most[] = {1, 3, 10, 30, 100, 5000};
    return 1 + random.below(most[random.below(!much ? 5 : random.one_in(8) ? 6 : 4)]);
}

// Lines of numbers, so that each offset has recognizable contents.
inline std::string some_contents(Random &random, bool much) {
    std::string s;
    const size_t n = much && random.one_in(4) ? 4000 : random.below(120);
    for (size_t i = 0; i < n; i++)
        s += std::to_string(1000 + i) + (random.one_in(3) ? "\n" : " ");
    return s + "*";
}

// The text shows which thread and which call wrote it.
inline std::string some_text(Random &random, unsigned thread, size_t number, size_t n) {
    const char mark[] = {static_cast<char>('a' + thread), static_cast<char>('0' + number)};
    std::string s;
    while (s.size() < n)
        s += mark[s.size() % 2];
    if (n > 1 && random.one_in(3))
        s.back() = '\n';
    return s;
}

// How many rounds and calls were made, and how many of them were wrong.
struct Sum {
    size_t rounds = 0, calls = 0, beside = 0, cancelled = 0, wrong = 0;

    // Counts a history; prints its calls if it is wrong.
    template <typename Op> void add(const History<Op> &history, bool right, const std::string &title) {
        rounds++;
        calls += history.size();
        beside += beside_others(history);
        for (const Call<Op> &call : history)
            cancelled += !call.result;
        wrong += !right;
        if (right)
            return;
        fprintf(stderr, "%s: no order of these calls gives this\n", title.c_str());
        show(history);
    }

    void print(const char *name, uint64_t seed) const {
        printf(
            "%s: %zu rounds from seed %llu, %zu calls, %zu beside others, %zu cancelled, %zu rounds wrong\n",
            name, rounds, static_cast<unsigned long long>(seed), calls, beside, cancelled, wrong);
    }
};

} // namespace tests

#endif
