// SPDX-License-Identifier: MIT
//
// scanf_fuzz.cpp - a format and a text from the input: our sscanf stores and returns the same as libc's, and
// sets the same errno.
#include <cerrno>
#include <clocale>
#include <cstdarg>
#include <dlfcn.h>

#include "fuzz.h"

namespace {

// A text has at most MOST characters, and a conversion stores at most four bytes for each of them.
enum { ARGUMENTS = 8, MOST = 250, SLOT = (4 * MOST + 64) / 16 * 16 };

using scanner = int(const char *, const char *, ...);
extern "C" scanner ours __asm__("__isoc99_sscanf");

struct Slots {
    alignas(16) char of[ARGUMENTS][SLOT];
};
Slots one, other;

scanner *libcs(const char *name) {
    static void *const handle = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    return reinterpret_cast<scanner *>(dlsym(handle, name));
}

struct Call {
    std::string format;
    size_t arguments = 0;
};

void add_set(fuzz::Bytes &in, Call &c) {
    c.format += in.below(3) ? "[" : "[^";
    c.format += in.below(4) ? "" : "]";
    for (size_t n = 1 + in.below(6); n > 0; n--) {
        const char ch = static_cast<char>(in.next());
        const bool ends = ch == '\0' || ch == ']' || (ch == '^' && c.format.back() == '[');
        c.format += ends ? 'a' : ch; // in "[^]" the ']' would not end the set
    }
    c.format += ']';
}

void add_conversion(fuzz::Bytes &in, Call &c) {
    static const char *const lengths[] = {"", "h", "hh", "l", "ll", "j", "z", "t", "L"};
    const bool stores = in.below(5) != 0;
    c.format += stores ? "%" : "%*";
    const bool wide = in.below(6) == 0;
    if (in.below(3) == 0)
        c.format += std::to_string(1 + in.next() % MOST);
    switch (in.below(6)) {
    case 0:
    case 1:
        c.format += lengths[in.below(8)];
        c.format += "diuxXo"[in.below(6)];
        break;
    case 2:
        c.format += in.below(3) == 0 ? "" : in.below(2) ? "l" : "L";
        c.format += "fegaEGA"[in.below(7)];
        break;
    case 3:
        c.format += wide ? "l" : "";
        c.format += "sc"[in.below(2)];
        break;
    case 4:
        c.format += wide ? "l" : "";
        add_set(in, c);
        break;
    default:
        c.format += "np"[in.below(2)];
    }
    c.arguments += stores;
}

Call make_call(fuzz::Bytes &in) {
    Call c;
    while (in.any() && c.arguments < ARGUMENTS && c.format.size() < 150 && in.below(12) != 0) {
        const char between = static_cast<char>(in.below(3) ? ' ' : in.next());
        if (between && in.below(4) == 0) // usually no text between conversions, since it would seldom match
            c.format += between == '%' ? "%%" : std::string(1, between);
        add_conversion(in, c);
    }
    return c;
}

// Returns the result and errno.
std::pair<int, int> call(scanner *scan, const std::string &text, const Call &c, Slots &s) {
    memset(&s, '~', sizeof s);
    errno = 0;
    const int n = scan(text.c_str(), c.format.c_str(), s.of[0], s.of[1], s.of[2], s.of[3], s.of[4], s.of[5],
                       s.of[6], s.of[7]);
    return {n, errno};
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const bool set = setlocale(LC_ALL, "C.UTF-8") != nullptr;
    static scanner *const libcs_c99 = libcs("__isoc99_sscanf");
    fuzz::Bytes in(data, size);
    std::string text = in.text(in.next() % MOST);
    text = text.substr(0, text.find('\0'));
    const Call c = make_call(in);
    const auto [n, error] = call(ours, text, c, one);
    const auto [m, libcs_error] = call(libcs_c99, text, c, other);
    if (!set || n != m || error != libcs_error || memcmp(&one, &other, sizeof one) != 0)
        fuzz::wrong("\"" + text + "\" by \"" + c.format + "\": " + std::to_string(n) + ", errno " +
                    std::to_string(error) + "; libc " + std::to_string(m) + ", errno " +
                    std::to_string(libcs_error));
    return 0;
}

std::string fuzz::make(Random &random) {
    const std::string text = of_words(random,
                                      "12|-7|0x1f|1e5|.5|nan|inf|abc| |\n|\xc3\xa9"
                                      "|+|99999999999999999999|0b1|]|(nil)",
                                      12);
    return std::string(1, static_cast<char>(text.size())) + text + of_bytes(random, 100);
}
