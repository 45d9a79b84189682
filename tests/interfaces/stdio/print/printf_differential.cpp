// SPDX-License-Identifier: MIT
//
// printf_differential.cpp - compares snprintf or swprintf of libasf_stdio with libc's for random formats and
// values: the memory and the returned value must be the same.
//   printf_differential [--wide] [calls [seed]]     ASF_PRINTF_CALLS, ASF_PRINTF_SEED
// Prints the calls that differ; exits with 1 if there are any.
#include <algorithm>
#include <bit>
#include <cerrno>
#include <cinttypes>
#include <clocale>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <random>
#include <string>

#ifdef __GLIBC__
#define NAME_OF_LIBC "libc.so.6"
enum { WIDE_TEXTS = 10 };
#else
#define NAME_OF_LIBC "libc.so"
enum { WIDE_TEXTS = 9 }; // musl crashes on a null pointer
#endif

namespace {

enum { ROOM = 6000, SHOWN = 20 };

// Converts a format to either kind of characters.
template <class Char> std::basic_string<Char> in_characters(const std::string &text) {
    return std::basic_string<Char>(text.begin(), text.end());
}

template <class Char> struct comparison {
    using printing_function = int (*)(Char *, size_t, const Char *, ...);
    static constexpr Char UNTOUCHED = '~';

    printing_function ours, libcs;
    uint64_t calls = 0, different = 0;
    Char left[ROOM] = {}, right[ROOM] = {};

    template <class... Values> void compare(size_t room, const std::string &text, Values... values) {
        const std::basic_string<Char> format = in_characters<Char>(text);
        calls++;
        std::fill_n(left, room + 8, UNTOUCHED);
        std::fill_n(right, room + 8, UNTOUCHED);
        errno = 0;
        const int n = ours(left, room, format.c_str(), values...), error = errno;
        errno = 0;
        const int m = libcs(right, room, format.c_str(), values...);
        if (n != m || error != errno || !is_same_memory(room + 8, n < 0))
            report(room, text, n, m);
    }

  private:
    // If libc rejects wide text, a part of the text may be in memory.
    bool is_same_memory(size_t n, bool failed) const {
        for (size_t i = 0; i < n; i++)
            if (left[i] != right[i] && (sizeof(Char) == 1 || !failed || i + 8 >= n || right[i] != UNTOUCHED))
                return false;
        return true;
    }

    void report(size_t room, const std::string &format, int n, int m) {
        if (different++ >= SHOWN)
            return;
        fprintf(stderr, "room for %zu, \"%s\": %d, libc %d\n", room, format.c_str(), n, m);
        show(left, room);
        show(right, room);
    }

    static void show(const Char *p, size_t room) {
        fputs("  ", stderr);
        for (; room-- > 0 && *p != UNTOUCHED; p++) {
            const auto code = static_cast<unsigned>(*p);
            fprintf(stderr, code - 32 < 95 ? "%c" : "<%x>", code);
        }
        putc('\n', stderr);
    }
};

class generator {
    std::mt19937_64 source;

  public:
    explicit generator(uint64_t seed) : source(seed) {}

    uint64_t bits() { return source(); }
    uint64_t below(uint64_t n) { return source() % n; }
    bool once_in(uint64_t n) { return below(n) == 0; }
    // An integer of a random number of bits.
    uint64_t integer() { return source() >> below(64); }
    // Returns the first text in half of the cases, else any.
    template <size_t N> const char *one_of(const char *const (&texts)[N]) {
        return texts[once_in(2) ? 0 : below(N)];
    }

    double value() {
        switch (below(10)) {
        case 0:
            return std::bit_cast<double>(bits());
        case 1: // near a power of two
            return std::bit_cast<double>((below(2047) << 52) + below(5) - 2);
        case 2: // near a power of ten
            return std::bit_cast<double>(std::bit_cast<uint64_t>(power_of_ten()) + below(5) - 2);
        case 3: // a short decimal
            return signed_integer() / std::pow(10.0, static_cast<double>(below(12)));
        case 4: // exact halves
            return std::ldexp(static_cast<double>(below(1 << 20)), -static_cast<int>(below(30)));
        case 5: // subnormal
            return std::bit_cast<double>(bits() >> (12 + below(52)));
        case 6:
            return signed_integer();
        case 7: // a decimal of up to 17 digits
            return std::strtod(decimal().c_str(), nullptr);
        case 8: // money
            return static_cast<double>(static_cast<int64_t>(below(200000000)) - 100000000) / 100;
        default:
            return special();
        }
    }

    long double long_value() {
        switch (below(4)) {
        case 0:
            return value();
        case 1: // any bit pattern that is a valid number
            return std::ldexp(static_cast<long double>(bits() | UINT64_C(1) << 63),
                              static_cast<int>(below(2400)) - 1200);
        case 2:
            return static_cast<long double>(integer()) / std::pow(10.0L, static_cast<long double>(below(19)));
        default:
            return std::ldexp(static_cast<long double>(integer()), static_cast<int>(below(140)) - 128) *
                   (once_in(2) ? 1 : -1);
        }
    }

    std::string flags() {
        std::string text;
        while (once_in(3))
            text += "-+ #0'"[below(6)];
        return text;
    }

    std::string number(uint64_t usual, uint64_t most) {
        return std::to_string(once_in(50) ? below(most) : below(usual));
    }

    std::string specification(const char *conversion, uint64_t usual_precision, uint64_t largest) {
        std::string text = "%" + flags();
        if (once_in(3))
            text += std::to_string(1 + below(once_in(50) ? 1500 : 40));
        if (!once_in(3))
            text += "." + (once_in(8) ? "" : number(usual_precision, largest));
        return text + conversion;
    }

    template <size_t n> void shuffle(size_t (&list)[n]) { std::shuffle(list, list + n, source); }

    // Returns the size of the buffer, usually enough for the text.
    size_t room() { return once_in(6) ? below(40) : 3000; }

  private:
    double power_of_ten() { return std::pow(10.0, static_cast<double>(below(630)) - 320); }
    double signed_integer() { return static_cast<double>(static_cast<int64_t>(bits()) >> below(64)); }
    std::string decimal() {
        return std::to_string(below(UINT64_C(1) << below(57))) + "e" +
               std::to_string(static_cast<int>(below(60)) - 40);
    }
    double special() {
        static const double values[] = {0.0,  -0.0,   INFINITY, -INFINITY, NAN,       -NAN,         0.5,
                                        1.5,  2.5,    1e23,     9.995,     0.1,       5e-324,       1e-310,
                                        9.5,  99.5,   0.95,     0.095,     1e15,      1e16,         1e17,
                                        1e22, 123456, 999999.5, 99999.5,   0.0001,    0.00001,      1.0,
                                        10.0, 100.0,  DBL_MAX,  DBL_MIN,   9.9999995, 0.00099999995};
        return values[below(sizeof values / sizeof *values)];
    }
    static constexpr double DBL_MAX = __DBL_MAX__, DBL_MIN = __DBL_MIN__;
};

template <class Char> void print_double(comparison<Char> &c, generator &g) {
    static const char *const letters[] = {"f", "f", "e", "g", "F", "E", "G", "lf", "lg", "le", "a"};
    c.compare(g.room(), g.specification(g.one_of(letters), 20, 1200), g.value());
}

template <class Char> void print_long_double(comparison<Char> &c, generator &g) {
    static const char *const letters[] = {"Lf", "Lg", "Le", "LF", "LG", "LE", "La", "llg", "qf"};
    c.compare(g.room(), g.specification(g.one_of(letters), 22, 1200), g.long_value());
}

template <class Char> void print_integer(comparison<Char> &c, generator &g) {
    static const char *const letters[] = {"d",  "ld",  "lu", "lx", "lX", "lo",  "i",   "u",  "x",  "o",
                                          "X",  "hhd", "hu", "zu", "jd", "lli", "hhx", "td", "qd", "Ld",
                                          "hd", "b",   "lb", "B",  "p",  "hho", "zx",  "Zd"};
    const uint64_t value = g.integer();
    c.compare(g.room(), g.specification(g.one_of(letters), 24, 1200).c_str(),
              g.once_in(2) ? value : 0 - value);
}

template <class Char> void print_text(comparison<Char> &c, generator &g) {
    static const char *const texts[] = {"text", "", "a", "some text of a middling length",
                                        ("a text that is longer than the others, and by far: it does not end "
                                         "before it has filled more than a line, and then half of another")};
    static const char *const bytes[] = {
        "caf\xc3\xa9",   "\xe2\x82\xac 5, \xf0\x9f\x98\x80 and some text behind it",
        "no text: \xff", "cut off \xe2\x82",
        "\xed\xa0\x80",  "\xc0\xaf"};
    static const wchar_t lone[] = {L'a', 0xd800, L'b', 0}, beyond[] = {L'\u20ac', 0x110000, 0};
    static const std::wstring long_text = std::wstring(4095, L'x') + L"\u00e9y";
    static const wchar_t *const wide_texts[] = {L"wide text",
                                                L"caf\u00e9",
                                                L"\u20ac 5, \U0001f600",
                                                L"",
                                                L"\U0010ffff\u07ff\u0800\uffff and more of it",
                                                lone,
                                                beyond,
                                                long_text.c_str(),
                                                long_text.c_str() + 2,
                                                nullptr};
    static const wchar_t characters[] = {L'w', L'\u00e9', L'\u20ac', L'\U0001f600',
                                         0,    0xd800,    0x10ffff,  0x110000};
    static const char *const wide[] = {"ls", "lc", "S", "C"};
    if (g.once_in(10))
        c.compare(g.room(), g.specification(wide[1 + 2 * g.below(2)], 12, 300), characters[g.below(8)]);
    else if (g.once_in(6))
        c.compare(g.room(), g.specification(wide[2 * g.below(2)], 12, 300), wide_texts[g.below(WIDE_TEXTS)]);
    else if (g.once_in(4))
        c.compare(g.room(), g.specification("s", 12, 300), bytes[g.below(6)]);
    else if (g.once_in(4))
        c.compare(g.room(), g.specification("c", 12, 300), static_cast<int>(g.below(256)));
    else
        c.compare(g.room(), g.specification("s", 12, 300), g.once_in(9) ? nullptr : g.one_of(texts));
}

// Several conversions: the arguments must be taken in the right order, even if libc formats some of them.
template <class Char> void print_several(comparison<Char> &c, generator &g) {
    static const char *const whole[] = {"d", "i", "5d", "-7d", "02x", "c", "%%%d", "*d"};
    static const char *const real[] = {"f", "g", ".3f", "e", "a", "8.2f", "'f", ".17g"};
    static const char *const text[] = {"s", "10s", "-10.3s", "s: %%", "p"};
    const std::string format = std::string("<%") + g.one_of(text) + ", %" + (g.once_in(2) ? "ld" : "lx") +
                               " %" + g.one_of(real) + " and more of it%" + g.one_of(real) + "%m|%" +
                               g.one_of(text) + "\n%L" + (g.once_in(2) ? "f" : "g") + ">";
    c.compare(g.room(), format, "first", static_cast<long>(g.integer()), g.value(), g.value(), "second",
              g.long_value());
    const std::string short_format = std::string("%") + g.one_of(whole) + "|%*.*f";
    if (short_format[1] != '*')
        c.compare(g.room(), short_format, static_cast<int>(g.below(200)), static_cast<int>(g.below(40)) - 20,
                  static_cast<int>(g.below(12)) - 2, g.value());
    c.compare(g.room(), "%2$s %1$d%%", static_cast<int>(g.integer()), "text");
}

// Numbered conversions of four arguments, in any order; some arguments are used twice.
template <class Char> void print_numbered(comparison<Char> &c, generator &g) {
    static const char *const letters[] = {"d", "s", "f", "lx", "Lg"};
    std::string format = "numbered: ";
    size_t order[] = {0, 1, 2, 3, 4, g.below(5), g.below(5)};
    g.shuffle(order);
    for (const size_t i : order)
        format += "%" + std::to_string(i + 1) + "$" + g.specification(letters[i], 12, 30).substr(1) +
                  (g.once_in(4) ? " %% " : "|");
    c.compare(g.room(), format, static_cast<int>(g.integer()), g.once_in(9) ? nullptr : "text", g.value(),
              static_cast<long>(g.integer()), g.long_value());
}

template <class Char> void print_one(comparison<Char> &c, generator &g) {
    switch (g.below(17)) {
    case 0:
    case 1:
        return print_integer(c, g);
    case 2:
        return print_text(c, g);
    case 3:
        return print_several(c, g);
    case 4:
        return print_numbered(c, g);
    case 5:
    case 6:
    case 7:
        return print_long_double(c, g);
    default:
        return print_double(c, g);
    }
}

uint64_t setting(const char *name, const char *argument, uint64_t otherwise) {
    const char *text = argument ? argument : getenv(name);
    return text ? strtoull(text, nullptr, 10) : otherwise;
}

template <class Char> typename comparison<Char>::printing_function find(const char *library) {
    const char *name = sizeof(Char) == 1 ? "snprintf" : "swprintf";
    void *handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
    void *found = handle ? dlsym(handle, name) : nullptr;
    Dl_info info;
    // musl's libc.so is found under the name of its loader.
    const std::string file =
        library == std::string("libc.so") ? "ld-musl" : std::string(library).substr(0, 6);
    if (!found || !dladdr(found, &info) || !strstr(info.dli_fname, file.c_str())) {
        fprintf(stderr, "%s is not in %s\n", name, library);
        exit(2);
    }
    return reinterpret_cast<typename comparison<Char>::printing_function>(found);
}

template <class Char> int run(uint64_t calls, uint64_t seed) {
    static comparison<Char> c = {find<Char>("libasf_stdio.so.0"), find<Char>(NAME_OF_LIBC)};
    generator g(seed);
    while (c.calls < calls)
        print_one(c, g);
    printf("%" PRIu64 " calls, decimal point %s, %" PRIu64 " different\n", c.calls,
           localeconv()->decimal_point, c.different);
    return c.different ? 1 : 0;
}

} // namespace

int main(int argc, char **argv) {
    const bool wide = argc > 1 && strcmp(argv[1], "--wide") == 0;
    argc -= wide;
    argv += wide;
    const uint64_t calls = setting("ASF_PRINTF_CALLS", argc > 1 ? argv[1] : nullptr, 1000000);
    const uint64_t seed = setting("ASF_PRINTF_SEED", argc > 2 ? argv[2] : nullptr, 20240611);
    if (const char *locale = getenv("LC_ALL"); locale && !setlocale(LC_ALL, locale)) {
        fprintf(stderr, "no such locale: %s\n", locale);
        return 2;
    }
    return wide ? run<wchar_t>(calls, seed) : run<char>(calls, seed);
}
