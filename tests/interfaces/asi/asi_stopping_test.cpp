// SPDX-License-Identifier: MIT
//
// asi_stopping_test.cpp - input that ends before a call has all its bytes, by a signal or at a terminal's end
// of file: the bytes come first, and the next call returns the reason.
#include <csignal>
#include <functional>
#include <pty.h>
#include <sys/time.h>
#include <thread>

#include <asf/lines.h>

#include "asi_test.h"

namespace asi {
namespace {

// The result of a call that asks for 10 bytes: the number of bytes, or the error.
struct Call {
    const char *name;
    ssize_t (*call)(asf_cios *s);
};

ssize_t freed(asf_cios *s, void *p, ssize_t n) {
    return p && sfree(s, p) != 0 ? -EIO : n;
}

template <typename F> ssize_t allocated(asf_cios *s, F call) {
    ssize_t n = 10;
    void *p = call(s, &n);
    return freed(s, p, n);
}

ssize_t next_line(asf_cios *s) {
    asf_lines it;
    ssize_t n;
    asf_lines_begin(&it, s, '\n', 0);
    asf_lines_next(&it, &n);
    return asf_lines_end(&it) == 0 ? n : -EIO;
}

ssize_t next_record(asf_cios *s) {
    asf_fixed_records it;
    ssize_t n;
    asf_fixed_records_begin(&it, s, 10);
    asf_fixed_records_next(&it, &n);
    return asf_fixed_records_end(&it) == 0 ? n : -EIO;
}

const Call calls[] = {
    {"salloc", [](asf_cios *s) { return allocated(s, [](auto *c, auto *n) { return salloc(c, n); }); }},
    {"u_salloc", [](asf_cios *s) { return allocated(s, [](auto *c, auto *n) { return u_salloc(c, n); }); }},
    {"Salloc",
     [](asf_cios *s) { return allocated(s, [](auto *c, auto *n) { return Salloc(c, ASF_READ, n); }); }},
    {"salloc_until",
     [](asf_cios *s) { return allocated(s, [](auto *c, auto *n) { return salloc_until(c, '\n', n); }); }},
    {"asf_lines", next_line},
    {"asf_fixed_records", next_record},
};

class Stopping : public Asi {
  protected:
    void SetUp() override {
        Asi::SetUp();
        struct sigaction act = {};
        act.sa_handler = [](int) {};
        sigaction(SIGALRM, &act, nullptr);
        ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
        s = asf_sopen_fd(ends[0], O_RDONLY, nullptr);
    }

    void TearDown() override {
        ::close(ends[1]);
        EXPECT_EQ(sclose(s), 0);
        Asi::TearDown();
    }

    void put_in(std::string_view text) const {
        ASSERT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    }

    // Makes a call that waits, and sends signals meanwhile.
    template <typename F> static auto interrupted(F call) {
        const itimerval often = {{0, 10000}, {0, 10000}}, never = {};
        setitimer(ITIMER_REAL, &often, nullptr);
        const auto result = call();
        setitimer(ITIMER_REAL, &never, nullptr);
        return result;
    }

    int ends[2] = {-1, -1};
    asf_cios *s = nullptr;
};

TEST_F(Stopping, TheNextCallSaysThatASignalCame) {
    for (const Call &first : calls)
        for (const Call &then : calls) {
            SCOPED_TRACE(std::string(first.name) + ", " + then.name);
            put_in("part");
            EXPECT_EQ(interrupted([&] { return first.call(s); }), 4);
            put_in("0123456789");
            ASSERT_EQ(then.call(s), -EINTR);
            EXPECT_EQ(take(s, 10), "0123456789");
        }
}

TEST_F(Stopping, ASeekThatFailsIsNotTheNextCall) {
    put_in("part");
    EXPECT_EQ(interrupted([&] { return take(s, 10); }), "part");
    put_in("0123456789");
    ssize_t n = 10;
    void *none = sallocAt(s, &n, 0, SEEK_SET);
    expect_none(none, n, -ESPIPE);
    ASSERT_EQ(take(s, 10), "error " + std::to_string(-EINTR));
}

TEST_F(Stopping, ARegionThatIsToGrow) {
    put_in("part");
    ssize_t n = 10;
    void *p = interrupted([&] { return salloc(s, &n); });
    ASSERT_EQ(n, 4);
    put_in("0123456789");
    n = 10;
    ASSERT_EQ(srealloc(s, p, &n), nullptr);
    EXPECT_EQ(n, -EINTR);
    n = 10;
    p = srealloc(s, p, &n);
    ASSERT_EQ(n, 10);
    EXPECT_EQ(std::string(static_cast<char *>(p), 10), "part012345");
    EXPECT_EQ(sfree(s, p), 0);
    EXPECT_EQ(take(s, 4), "6789");
}

// Returned bytes can be read again, and the error comes after them.
TEST_F(Stopping, ARegionThatIsGivenBackInPart) {
    put_in("part");
    ssize_t n = 10, less = 1;
    void *p = interrupted([&] { return salloc(s, &n); });
    EXPECT_EQ(srealloc(s, p, &less), p);
    EXPECT_EQ(sfree(s, p), 0);
    put_in("0123456789");
    EXPECT_EQ(take(s, 2), "ar");
    EXPECT_EQ(take(s, 10), "t");
    ASSERT_EQ(take(s, 10), "error " + std::to_string(-EINTR));
    EXPECT_EQ(take(s, 10), "0123456789");
}

TEST_F(Stopping, ACopy) {
    asf_cios *out = must_open(path("out"), O_WRONLY | O_CREAT);
    put_in("part");
    EXPECT_EQ(interrupted([&] { return take(s, 10); }), "part");
    put_in("0123456789");
    ASSERT_EQ(asf_copy(s, out, 10), -EINTR);
    EXPECT_EQ(asf_copy(s, out, 10), 10);
    EXPECT_EQ(sclose(out), 0);
    EXPECT_EQ(contents("out"), "0123456789");
}

// The region keeps its length, and the next call reports the end again.
TEST_F(Stopping, ARegionThatIsToGrowAtTheEnd) {
    int master, slave;
    ASSERT_EQ(openpty(&master, &slave, nullptr, nullptr, nullptr), 0);
    asf_cios *typed = asf_sopen_fd(slave, O_RDONLY, nullptr);
    ASSERT_EQ(::write(master, "part\004\004more\n", 11), 11);
    ssize_t n = 10;
    void *p = salloc(typed, &n);
    ASSERT_EQ(n, 4);
    n = 10;
    EXPECT_EQ(srealloc(typed, p, &n), p);
    EXPECT_EQ(n, 4);
    EXPECT_EQ(sfree(typed, p), 0);
    EXPECT_EQ(take(typed, 5), "");
    EXPECT_EQ(take(typed, 5), "more\n");
    EXPECT_EQ(sclose(typed), 0);
    ::close(master);
}

// Two ends of file are typed after a part of a line: the first passes the part to the reader.
TEST_F(Stopping, TheEndOfWhatIsTyped) {
    for (const Call &first : calls) {
        SCOPED_TRACE(first.name);
        int master, slave;
        ASSERT_EQ(openpty(&master, &slave, nullptr, nullptr, nullptr), 0);
        asf_cios *typed = asf_sopen_fd(slave, O_RDONLY, nullptr);
        ASSERT_EQ(::write(master, "part\004\004", 6), 6);
        EXPECT_EQ(first.call(typed), 4);
        ASSERT_EQ(::write(master, "more\n", 5), 5);
        ASSERT_EQ(take(typed, 5), "");
        EXPECT_EQ(take(typed, 5), "more\n");
        EXPECT_EQ(sclose(typed), 0);
        ::close(master);
    }
}

} // namespace
} // namespace asi
