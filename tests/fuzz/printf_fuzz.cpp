// SPDX-License-Identifier: MIT
//
// printf_fuzz.cpp - a format and values from the input: lib/text/format.c gives the same text as libc. The
// test passes the formats that format.c does not handle to libc.
#include <cerrno>
#include <clocale>
#include <cstdarg>
#include <cwchar>
#include <vector>

#include "fuzz.h"
extern "C" {
#include "lib/text/format.h"
}

namespace {

enum { ROOM = 3000, MOST = 8 };

// The arguments: first those in general registers, then those in vector registers. On x86-64 and AArch64
// va_arg reads each kind in its own order.
struct Call {
    std::string format;
    uint64_t general[MOST] = {};
    double floats[MOST] = {};
    size_t generals = 0, floating = 0;
    std::vector<std::string> texts;
    std::vector<std::wstring> wide_texts;
};

int ours(char *to, size_t room, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    asf__output o = {};
    o.p = o.begin = to;
    o.end = to + room - 1;
    o.error = errno;
    const char *rest = asf__format(&o, format, ASF_ARGUMENTS(ap));
    const size_t made = asf__made(&o);
    int n = 0;
    to[made < room ? made : room - 1] = '\0';
    if (rest)
        n = made < room ? vsnprintf(to + made, room - made, rest, ap) : vsnprintf(nullptr, 0, rest, ap);
    va_end(ap);
    return n < 0 || o.failed ? -1 : static_cast<int>(made) + n;
}

template <class F> int with_values(F print, char *to, const Call &c) {
    const uint64_t *g = c.general;
    const double *d = c.floats;
    errno = ENOENT; // for %m
    return print(to, ROOM, c.format.c_str(), g[0], g[1], g[2], g[3], g[4], g[5], g[6], g[7], d[0], d[1], d[2],
                 d[3], d[4], d[5], d[6], d[7]);
}

std::wstring wide(fuzz::Bytes &in) {
    std::wstring s;
    for (size_t n = in.below(20); n > 0; n--)
        s += in.below(4) ? static_cast<wchar_t>(in.next()) : in.number<wchar_t>();
    return s.substr(0, s.find(L'\0'));
}

// Adds a width or precision: a number, or a '*' and its argument.
void add_number(fuzz::Bytes &in, Call &c) {
    if (c.generals < MOST - 1 && in.below(4) == 0) {
        c.general[c.generals++] = static_cast<uint64_t>(static_cast<int64_t>(in.below(100)) - 20);
        c.format += '*';
    } else {
        c.format += std::to_string(in.below(5) ? in.next() % 40 : in.number<uint16_t>() % 500);
    }
}

void add_integer(fuzz::Bytes &in, Call &c) {
    static const char *const lengths[] = {"", "h", "hh", "l", "ll", "j", "z", "t"};
    c.format += lengths[in.below(8)];
    c.format += "diuxXo"[in.below(6)];
    c.general[c.generals++] = in.below(2) ? in.number<uint64_t>() : in.next();
}

void add_text(fuzz::Bytes &in, Call &c) {
    const void *p;
    if (in.below(3) == 0) {
        c.wide_texts.push_back(wide(in));
        p = c.wide_texts.back().c_str();
        c.format += "ls";
    } else {
        c.texts.push_back(in.text(in.below(60)));
        p = c.texts.back().c_str();
        c.format += 's';
    }
    c.general[c.generals++] = in.below(20) ? reinterpret_cast<uintptr_t>(p) : 0;
}

void add_conversion(fuzz::Bytes &in, Call &c) {
    c.format += '%';
    for (size_t flags = in.next(), i = 0; i < 6; i++)
        if (flags & 3U << i && (flags >> i & 3) == 3)
            c.format += "-+ #0'"[i];
    if (in.below(3) == 0)
        add_number(in, c);
    if (in.below(3) == 0) {
        c.format += '.';
        if (in.below(4))
            add_number(in, c);
    }
    switch (in.below(6)) {
    case 0:
    case 1:
        return add_integer(in, c);
    case 2:
        c.floats[c.floating++] = in.below(2) ? in.number<double>() : in.number<int16_t>() / 100.0;
        c.format += "fFeEgGaA"[in.below(8)];
        return;
    case 3:
        return add_text(in, c);
    case 4:
        c.general[c.generals++] = in.next();
        c.format += in.below(3) ? "c" : "lc";
        return;
    default:
        c.format += in.below(2) ? 'm' : 'p';
        if (c.format.back() == 'p')
            c.general[c.generals++] = in.number<uint64_t>();
    }
}

Call make_call(fuzz::Bytes &in) {
    Call c;
    c.texts.reserve(MOST);
    c.wide_texts.reserve(MOST);
    while (in.any() && c.generals < MOST && c.floating < MOST && c.format.size() < 200) {
        for (const char ch : in.text(in.below(8)))
            c.format += ch == '%' ? "%%" : ch == '\0' ? "" : std::string(1, ch);
        add_conversion(in, c);
    }
    return c;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const locale = setlocale(LC_ALL, "C.UTF-8");
    fuzz::Bytes in(data, size);
    const Call c = make_call(in);
    static char one[ROOM], other[ROOM];
    memset(one, '~', sizeof one);
    memset(other, '~', sizeof other);
    const int n = with_values(ours, one, c), m = with_values(snprintf, other, c);
    if (n != m || (n >= 0 && memcmp(one, other, ROOM) != 0))
        fuzz::wrong(std::string(locale ? locale : "C") + ": \"" + c.format + "\" gives " + std::to_string(n) +
                    ", " + std::string(one, strnlen(one, ROOM)) + "\nlibc: " + std::to_string(m) + ", " +
                    std::string(other, strnlen(other, ROOM)));
    return 0;
}

std::string fuzz::make(Random &random) {
    return of_bytes(random, 200);
}
