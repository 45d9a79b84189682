// SPDX-License-Identifier: MIT
//
// scanf_differential.cpp - compares scanf with libc's in one process, for random formats and inputs. The
// returned value, stored bytes, errno, indicators, offset, reads of the source and the next byte must be the
// same.
// usage: scanf_differential [--wide] [CALLS [SEED [LOCALE]]]
// --wide: fwscanf, on streams of wide characters.
#include <algorithm>
#include <cerrno>
#include <cfenv>
#include <clocale>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <dlfcn.h>
#include <fcntl.h>
#include <memory>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

#ifdef __GLIBC__
#define NAME_OF_LIBC "libc.so.6"
constexpr bool all_is_compared = true;
#else
#define NAME_OF_LIBC "libc.so"
// musl's reads of the source, and its errno after conversions of numbers, differ. Without a buffer musl loses
// bytes.
constexpr bool all_is_compared = false;
#endif

namespace {

using scanner = int(FILE *, const char *, ...);
using text_scanner = int(const char *, const char *, ...);
using wide_scanner = int(FILE *, const wchar_t *, ...);

bool wide_calls;

// The three families of names; libc has the last since 2.38.
enum dialect : size_t { gnu, c99, c23 };
#ifdef __GLIBC_PREREQ
constexpr size_t dialects = __GLIBC_PREREQ(2, 38) ? 3 : 2;
#else
constexpr size_t dialects = 2; // musl
#endif

struct side {
    void *handle;
    scanner *stream[dialects];
    text_scanner *text[dialects];
    wide_scanner *wide[dialects];
    decltype(&::fopen) fopen;
    decltype(&::fdopen) fdopen;
    decltype(&::fopencookie) fopencookie;
    decltype(&::fmemopen) fmemopen;
    decltype(&::fclose) fclose;
    decltype(&::setvbuf) setvbuf;
    decltype(&::getc) getc;
    decltype(&::ungetc) ungetc;
    decltype(&::fgetwc) fgetwc;
    decltype(&::ungetwc) ungetwc;
    decltype(&::fseek) fseek;
    decltype(&::ftell) ftell;
    decltype(&::feof) feof;
    decltype(&::ferror) ferror;
    decltype(&::clearerr) clearerr;
};

template <class Function> void find(void *handle, const char *name, Function &function) {
    void *address = dlsym(handle, name);
    if (!address) {
        dprintf(2, "scanf_differential: no %s: %s\n", name, dlerror());
        exit(2);
    }
    function = reinterpret_cast<Function>(address);
}

side load(const char *soname) {
    side s = {};
    s.handle = dlopen(soname, RTLD_NOW | RTLD_NOLOAD);
    if (!s.handle) {
        dprintf(2, "scanf_differential: %s is not in this process\n", soname);
        exit(2);
    }
    static const char *const prefixes[] = {"", "__isoc99_", "__isoc23_"};
    for (size_t i = 0; i < dialects; i++) {
        const std::string prefix = prefixes[i];
        find(s.handle, (prefix + "fscanf").c_str(), s.stream[i]);
        find(s.handle, (prefix + "sscanf").c_str(), s.text[i]);
        find(s.handle, (prefix + "fwscanf").c_str(), s.wide[i]);
    }
#define FIND(name) find(s.handle, #name, s.name)
    FIND(fopen), FIND(fdopen), FIND(fopencookie), FIND(fmemopen), FIND(fclose), FIND(setvbuf), FIND(getc);
    FIND(ungetc), FIND(fgetwc), FIND(ungetwc), FIND(fseek), FIND(ftell), FIND(feof), FIND(ferror),
        FIND(clearerr);
#undef FIND
    return s;
}

side sides[2];

struct generator {
    std::mt19937_64 source;
    size_t below(size_t n) { return source() % n; }
    bool one_in(size_t n) { return below(n) == 0; }
    template <size_t n> const char *of(const char *const (&list)[n]) { return list[below(n)]; }
} dice;

// --- formats ------------------------------------------------------------------------

constexpr size_t arguments = 12, slot_size = 8192;

enum stored { nothing, bytes, text_pointer, wide_pointer, char_pointer };

struct format {
    std::string text;
    stored kinds[arguments] = {};
    dialect family = c99;
    size_t used = 0;
};

std::string width() {
    static const char *const widths[] = {"",  "",  "",   "",   "1",   "2", "3",  "4",
                                         "5", "7", "12", "20", "300", "0", "007"};
    return dice.of(widths);
}

// A sanitizer's runtime, which wraps libc's function, treats %mc as %ms. musl's wide scanf writes a
// character's bytes beyond its memory for %mc.
#ifdef UNDER_SANITIZERS
constexpr bool knows_mc = false;
#else
constexpr bool knows_mc = true;
#endif

// A conversion's text, and the kind of value that it stores.
struct conversion {
    std::string text;
    stored kind;
};

conversion number() {
    static const char *const lengths[] = {"", "", "", "h", "hh", "l", "ll", "j", "z", "t", "L", "q"};
    static const char *const letters[] = {"d", "d", "d", "i", "i", "u", "x", "X", "o", "p"};
    return {std::string(dice.of(lengths)) + dice.of(letters), bytes};
}

conversion floating() {
    static const char *const lengths[] = {"", "l", "l", "L", "ll", "h", "z"};
    static const char *const letters[] = {"f", "e", "g", "a", "E", "G", "A", "F"};
    return {std::string(dice.of(lengths)) + dice.of(letters), bytes};
}

// Sets that end soon in these inputs; any other set gets a width.
std::string set() {
    static const char *const sets[] = {"[0-9]",    "[a-z]",   "[^\n]",        "[^ ]",     "[^,]",
                                       "[-+0-9.]", "[]x]",    "[^]\n]",       "[^-\n]",   "[a-]",
                                       "[--9]",    "[ \t\n]", "[a-fA-F0-9x]", "[^0-9]",   "[^ \t\n,]",
                                       "[+--]",    "[z-a1]",  "[a-c-e]",      "[^a-z\n]", "[%d]"};
    return dice.of(sets);
}

conversion word(dialect family) {
    switch (dice.below(8)) {
    case 0:
        return {"ms", text_pointer};
    case 1:
        return {"m" + set(), text_pointer};
    case 2:
        return family == gnu ? conversion{"as", text_pointer} : conversion{"s", bytes};
    case 3:
        return family == gnu ? conversion{"a" + set(), text_pointer} : conversion{set(), bytes};
    case 4:
    case 5:
        return {set(), bytes};
    default:
        return {"s", bytes};
    }
}

conversion wide() {
    static const char *const letters[] = {"ls", "S", "lc", "C", "l[a-z]", "l[^\n]"};
    return dice.one_in(6) ? conversion{dice.one_in(2) ? "mls" : "mS", wide_pointer}
                          : conversion{dice.of(letters), bytes};
}

conversion odd() {
    static const char *const all[] = {"n", "n", "ln", "hn", "hhn", "jn", "%",    "y",
                                      "D", "k", "!",  "b",  "b",   "w",  "w16d", "wf32x"};
    return {dice.of(all), bytes};
}

conversion any(dialect family) {
    switch (dice.below(24)) {
    case 0:
        return wide();
    case 1:
        return odd();
    case 2:
    case 3:
        return {knows_mc && (all_is_compared || !wide_calls) && dice.one_in(4) ? "mc" : "c", nothing};
    case 4:
    case 5:
    case 6:
    case 7:
    case 8:
        return word(family);
    case 9:
    case 10:
    case 11:
    case 12:
    case 13:
    case 14:
        return floating();
    default:
        return number();
    }
}

void add_conversion(format &f, bool positional) {
    conversion c = any(f.family);
    if (c.kind == nothing)
        c.kind = c.text == "mc" ? char_pointer : bytes;
    bool suppressed = dice.one_in(8);
    size_t at = positional ? dice.below(5) : f.used;
    if (positional && f.kinds[at] != nothing && (wide_calls || f.kinds[at] != c.kind))
        return; // an argument can have only one kind; see also same_bytes
    f.text += "%";
    if (positional)
        f.text += std::to_string(at + 1) + "$";
    if (suppressed)
        f.text += "*";
    if (dice.one_in(30))
        f.text += dice.one_in(4) ? "I" : "'";
    f.text += width() + c.text;
    if (suppressed)
        return;
    bool stores = c.text != "%" && c.text != "y" && c.text != "D" && c.text != "k" && c.text != "!";
    if (!stores)
        return;
    f.kinds[at] = c.kind;
    f.used += !positional;
}

format make_format() {
    static const char *const between[] = {"",  "",    "",   " ",   " ",        "\n", "\t ",
                                          ",", ", ",  "x",  "=",   " = ",      "-",  ".",
                                          ":", "key", "%%", " %%", "\xc3\xa4", "0x", "( "};
    format f;
    f.family = all_is_compared && dice.one_in(5) ? gnu : static_cast<dialect>(1 + dice.below(dialects - 1));
    bool positional = dice.one_in(12);
    size_t n = dice.one_in(3) ? 1 : 1 + dice.below(5);
    if (dice.one_in(150))
        n = 9;
    for (size_t i = 0; i < n; i++) {
        f.text += dice.one_in(6) ? dice.of(between) : dice.one_in(3) ? " " : "";
        add_conversion(f, positional);
    }
    f.text += dice.one_in(4) ? dice.of(between) : "";
    if (dice.one_in(200))
        f.text += "%";
    if (dice.one_in(300))
        f.text += "%[abc";
    return f;
}

// --- inputs ----------------------------------------------------------------------------

std::string digits(size_t most) {
    std::string s;
    for (size_t n = 1 + dice.below(most); n > 0; n--)
        s += static_cast<char>('0' + dice.below(10));
    return s;
}

std::string number_text() {
    static const char *const signs[] = {"", "", "", "-", "+"};
    static const char *const special[] = {"0x",
                                          "0X1f",
                                          "0b101",
                                          "0b",
                                          "-0B2",
                                          "00012",
                                          "0",
                                          "-0",
                                          "0x-1",
                                          "2147483647",
                                          "2147483648",
                                          "-2147483649",
                                          "9223372036854775807",
                                          "9223372036854775808",
                                          "-9223372036854775808",
                                          "-9223372036854775809",
                                          "18446744073709551615",
                                          "18446744073709551616",
                                          "0xffffffffffffffff",
                                          "0x10000000000000000",
                                          "-0x8000000000000001",
                                          "077",
                                          "08",
                                          "0777777777777777777777777",
                                          "+",
                                          "-",
                                          "--5",
                                          "(nil)",
                                          "(ni)",
                                          "(NIL)",
                                          "(nix",
                                          "1'234",
                                          "1,234"};
    if (dice.one_in(4))
        return dice.of(special);
    std::string sign = dice.of(signs);
    if (dice.one_in(4)) {
        char hex[40];
        snprintf(hex, sizeof hex, dice.one_in(2) ? "0x%lx" : "%lX", dice.source() >> dice.below(64));
        return sign + hex;
    }
    return sign + digits(dice.one_in(10) ? 30 : dice.one_in(3) ? 19 : 6);
}

std::string float_text() {
    static const char *const special[] = {"inf",
                                          "-inf",
                                          "INFINITY",
                                          "infinit",
                                          "infi",
                                          "infx",
                                          "nan",
                                          "NaN",
                                          "nan(12)",
                                          "NaN(",
                                          "-nan(a_Z",
                                          "nan(!)",
                                          "-nan",
                                          "na",
                                          "in",
                                          "1e",
                                          "1e+",
                                          "1e-x",
                                          "1.",
                                          ".5",
                                          ".",
                                          "-.",
                                          "1.e5",
                                          "1e5.5",
                                          "1.5.5",
                                          "0x",
                                          "0x.",
                                          "0x1p",
                                          "0x1p3",
                                          "0x1.8p-2",
                                          "0xp1",
                                          "0x.8",
                                          "0x1p+",
                                          "1e400",
                                          "1e-400",
                                          "-1e39",
                                          "1e-45",
                                          "4.9e-324",
                                          "2.2250738585072014e-308",
                                          "1.7976931348623157e308",
                                          "1.8e308",
                                          "3.4028236e38",
                                          "9007199254740993",
                                          "0.1",
                                          "123456789012345678901234567890",
                                          "0.000000000000000000000000000001",
                                          "1e5e5",
                                          "00.5",
                                          "0e0",
                                          "-0.0",
                                          "e5",
                                          "1e99999999999",
                                          "1.0000000000000000000000000000001",
                                          "16777217",
                                          "5e-1",
                                          "+.5e+1",
                                          "1'000.5",
                                          "n",
                                          "i",
                                          "+i",
                                          "-n"};
    if (dice.one_in(3))
        return dice.of(special);
    char text[400];
    switch (dice.below(5)) {
    case 0:
        snprintf(text, sizeof text, "%.*f", static_cast<int>(dice.below(12)),
                 static_cast<double>(dice.below(100000000)) / 1e3);
        break;
    case 1: {
        uint64_t bits = dice.source();
        double value;
        memcpy(&value, &bits, sizeof value);
        snprintf(text, sizeof text, "%.*e", static_cast<int>(dice.below(25)), value);
        break;
    }
    case 2:
        snprintf(text, sizeof text, "%a", static_cast<double>(dice.source()));
        break;
    case 3:
        snprintf(text, sizeof text, "%lu.%lue%d", dice.source() >> dice.below(64),
                 dice.source() >> dice.below(64), static_cast<int>(dice.below(60)) - 30);
        break;
    default:
        snprintf(text, sizeof text, "%g", static_cast<double>(dice.below(2000000)) / 64 - 10000);
    }
    return text;
}

std::string word_text() {
    static const char *const all[] = {"word",     "key",          "x=1",       "abc,def", "]x-y",
                                      "%",        "%d",           "a-b-c",     "A1b2",    "\xc3\xa4\xc3\xb6",
                                      "\xff\xfe", "\xe2\x82\xac", "key=value", "name:",   "xyz"};
    if (!dice.one_in(6))
        return dice.of(all);
    std::string s;
    for (size_t n = dice.below(dice.one_in(5) ? 260 : 20); n > 0; n--)
        s += static_cast<char>(dice.one_in(12) ? dice.below(256) : 'a' + dice.below(26));
    return s;
}

std::string blank() {
    static const char *const all[] = {" ",  " ",    " ",      "\n",   "\n", "",  "",  ",",
                                      ", ", "  \t", "\v\f\r", "\n\n", "-",  "]", "x", "   \n  "};
    return dice.of(all);
}

std::string make_content(size_t size) {
    std::string s;
    size_t since = 0;
    while (s.size() < size) {
        size_t before = s.size();
        switch (dice.below(6)) {
        case 0:
        case 1:
            s += number_text();
            break;
        case 2:
        case 3:
            s += float_text();
            break;
        case 4:
            s += word_text();
            break;
        default:
            s += dice.one_in(40) ? std::string(dice.below(300), dice.one_in(2) ? ' ' : '0') : "";
        }
        s += blank();
        since += s.size() - before;
        if (since > 400) {
            s += "\n, ]-a1\n";
            since = 0;
        }
    }
    return s;
}

// --- sources ------------------------------------------------------------------------------

// The source of an fopencookie stream: returns chunks, and errors now and then.
struct cookie {
    const std::string *content;
    size_t at = 0;
    std::mt19937_64 dice;
    size_t most;
    unsigned calls = 0;
    bool fails;
};

ssize_t read_cookie(void *arg, char *to, size_t n) {
    auto *c = static_cast<cookie *>(arg);
    c->calls++;
    if (c->fails && c->dice() % 12 == 0) {
        static const int errors[] = {EIO, EINTR, EAGAIN};
        errno = errors[c->dice() % 3];
        return -1;
    }
    size_t piece = 1 + c->dice() % c->most;
    piece = std::min({piece, n, c->content->size() - c->at});
    memcpy(to, c->content->data() + c->at, piece);
    c->at += piece;
    return static_cast<ssize_t>(piece);
}

enum source { plain_file, update_file, large_file, in_pieces, at_once, pipe_end, memory, sources };

const char *path = "scanf_differential.in", *large_path = "scanf_differential.large";

void write_file(const char *name, const std::string &content) {
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, content.data(), content.size()) != static_cast<ssize_t>(content.size())) {
        perror(name);
        exit(2);
    }
    close(fd);
}

struct stream {
    const side *of;
    FILE *file;
    cookie state;
};

FILE *open_pipe(const side &s, const std::string &content) {
    int ends[2];
    if (pipe(ends) != 0 ||
        write(ends[1], content.data(), content.size()) != static_cast<ssize_t>(content.size()))
        exit(2);
    close(ends[1]);
    return s.fdopen(ends[0], "r");
}

void open_stream(stream &t, source kind, std::string &content, uint64_t seed, bool fails) {
    const side &s = *t.of;
    t.state = {&content, 0,    std::mt19937_64(seed), kind == in_pieces ? size_t{7} : content.size() + 1,
               0,        fails};
    switch (kind) {
    case in_pieces:
    case at_once:
        t.file = s.fopencookie(&t.state, "r", {read_cookie, nullptr, nullptr, nullptr});
        break;
    case pipe_end:
        t.file = open_pipe(s, content);
        break;
    case memory:
        t.file = s.fmemopen(content.data(), content.size(), "r");
        break;
    default:
        t.file = s.fopen(kind == large_file ? large_path : path, kind == update_file ? "r+" : "r");
    }
    if (!t.file) {
        perror("scanf_differential: open");
        exit(2);
    }
}

// --- one call by both libraries --------------------------------------------------------------

struct outcome {
    int returned, error;
    std::vector<char> slots = std::vector<char>(arguments * slot_size);
    char *slot(size_t i) { return slots.data() + i * slot_size; }
    const char *slot(size_t i) const { return slots.data() + i * slot_size; }
};

outcome outcomes[2];
unsigned long calls, differences, assigned;

template <class Call> void run(outcome &o, const format &f, int rounding, const Call &call) {
    for (size_t i = 0; i < arguments; i++)
        if (f.kinds[i] != nothing)
            memset(o.slot(i), 0x5a, slot_size);
    char *a[arguments];
    for (size_t i = 0; i < arguments; i++)
        a[i] = o.slot(i);
    if (rounding)
        fesetround(rounding);
    errno = 7;
    o.returned = call(a);
    o.error = errno;
    if (rounding)
        fesetround(FE_TONEAREST);
}

char *pointer_in(const outcome &o, size_t i) {
    char *p;
    memcpy(&p, o.slot(i), sizeof p);
    return p;
}

bool untouched(const char *p) {
    return reinterpret_cast<uintptr_t>(p) == 0x5a5a5a5a5a5a5a5aU;
}

bool same_pointer(const char *x, const char *y, stored kind) {
    if (x == y) // not stored, or not a pointer for musl, as with %md
        return true;
    if (!x || !y || untouched(x) || untouched(y))
        return x == y;
    if (kind == text_pointer)
        return strcmp(x, y) == 0;
    if (kind == wide_pointer)
        return wcscmp(reinterpret_cast<const wchar_t *>(x), reinterpret_cast<const wchar_t *>(y)) == 0;
    return *x == *y;
}

// libc's fwscanf adds two null bytes after the bytes of a %s, where C requires one.
bool same_bytes(const char *libcs, const char *ours) {
    for (size_t i = 0; i < slot_size; i++) {
        const bool second_null = wide_calls && i > 0 && libcs[i] == 0 && libcs[i - 1] == 0 && ours[i] == 0x5a;
        if (libcs[i] != ours[i] && !second_null)
            return false;
    }
    return true;
}

bool same_slot(size_t i, stored kind) {
    if (kind == nothing)
        return true;
    if (kind == bytes)
        return same_bytes(outcomes[0].slot(i), outcomes[1].slot(i));
    char *x = pointer_in(outcomes[0], i), *y = pointer_in(outcomes[1], i);
    bool same = same_pointer(x, y, kind);
    for (char *p : {x, y})
        if (!untouched(p))
            free(p);
    return same;
}

void escape(const char *label, const char *p, size_t n) {
    printf("  %s \"", label);
    for (size_t i = 0; i < n; i++)
        printf(static_cast<unsigned char>(p[i]) - 32u < 95 && p[i] != '\\' ? "%c" : "\\x%02x",
               static_cast<unsigned char>(p[i]));
    puts("\"");
}

bool complain(const format &f, const char *what, long libc, long ours) {
    printf("call %lu: %s: libc %ld, asf %ld\n", calls, what, libc, ours);
    static const char *const labels[] = {"GNU format", "format", "C23 format"};
    escape(labels[f.family], f.text.data(), f.text.size());
    return false;
}

bool compare_outcomes(const format &f) {
    bool same = true;
    if (outcomes[0].returned != outcomes[1].returned)
        same = complain(f, "returned", outcomes[0].returned, outcomes[1].returned);
    if (all_is_compared && outcomes[0].error != outcomes[1].error)
        same = complain(f, "errno", outcomes[0].error, outcomes[1].error);
    for (size_t i = 0; i < arguments; i++)
        if (!same_slot(i, f.kinds[i])) {
            same = complain(f, "argument", static_cast<long>(i + 1), static_cast<long>(i + 1));
            escape("libc stored", outcomes[0].slot(i), 40);
            escape("asf stored ", outcomes[1].slot(i), 40);
        }
    assigned += outcomes[0].returned > 0 ? static_cast<unsigned long>(outcomes[0].returned) : 0;
    return same;
}

int rounding() {
    static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    return dice.one_in(40) ? modes[dice.below(3)] : 0;
}

// Compares both streams after a call: indicators, offset, and reads of the source.
bool compare_streams(const format &f, stream (&t)[2], source kind) {
    bool same = true;
    const auto check = [&](const char *what, long libc, long ours) {
        if (libc != ours)
            same = complain(f, what, libc, ours);
    };
    check("feof", t[0].of->feof(t[0].file) != 0, t[1].of->feof(t[1].file) != 0);
    check("ferror", t[0].of->ferror(t[0].file) != 0, t[1].of->ferror(t[1].file) != 0);
    if (kind == in_pieces || kind == at_once) {
        if (!all_is_compared)
            return same;
        check("bytes asked for", static_cast<long>(t[0].state.at), static_cast<long>(t[1].state.at));
        check("reads", t[0].state.calls, t[1].state.calls);
    } else if (kind != pipe_end) {
        // Before the start, which ungetc can reach, libc returns a wrong offset.
        long at = t[0].of->ftell(t[0].file);
        if (at >= 0)
            check("position", at, t[1].of->ftell(t[1].file));
    }
    return same;
}

std::wstring wide_text(const std::string &text) {
    wchar_t wide[1000];
    size_t n = mbstowcs(wide, text.c_str(), 1000);
    return n < 1000 ? std::wstring(wide, n) : L"%d";
}

template <class Scanner, class Format>
int call_with(Scanner *scan, FILE *file, const Format &format, char **a) {
    return scan(file, format.c_str(), a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10],
                a[11]);
}

bool scan_both(stream (&t)[2], source kind) {
    const format f = make_format();
    const std::wstring wide = wide_text(f.text);
    int mode = rounding();
    calls++;
    for (int i : {0, 1})
        run(outcomes[i], f, mode, [&](char **a) {
            const side &s = *t[i].of;
            return wide_calls ? call_with(s.wide[f.family], t[i].file, wide, a)
                              : call_with(s.stream[f.family], t[i].file, f.text, a);
        });
    bool same = compare_outcomes(f);
    return compare_streams(f, t, kind) && same;
}

// Makes a random call on both streams between two scanf calls.
bool step_both(stream (&t)[2], source kind, size_t size) {
    size_t what = dice.below(12);
    int got[2] = {0, 0};
    long target = static_cast<long>(
        dice.one_in(2) ? dice.below(size) : 4096 * (1 + dice.below(size / 4096 + 1)) - dice.below(20));
    int ch = static_cast<int>(dice.below(2) ? dice.below(256) : '0' + dice.below(10));
    for (int i : {0, 1}) {
        const side &s = *t[i].of;
        if (what < 6)
            got[i] = wide_calls ? static_cast<int>(s.fgetwc(t[i].file)) : s.getc(t[i].file);
        else if (what == 6 && kind != memory)
            got[i] = wide_calls ? static_cast<int>(s.ungetwc(static_cast<wint_t>(ch), t[i].file))
                                : s.ungetc(ch, t[i].file);
        else if (what == 7 && kind <= large_file && !wide_calls) // libc's fseek sometimes never returns
            got[i] = s.fseek(t[i].file, std::min(target, static_cast<long>(size)), SEEK_SET);
        else if (what == 8)
            s.clearerr(t[i].file);
    }
    if (got[0] != got[1])
        printf("call %lu: between calls: libc %d, asf %d (%zu)\n", calls, got[0], got[1], what);
    return got[0] == got[1];
}

// Invalid characters end a wide stream early, so most inputs contain none.
std::string make_input(size_t size) {
    std::string s = make_content(size);
    if (wide_calls && !dice.one_in(5))
        for (char &ch : s)
            ch = static_cast<char>(ch & 0x7f);
    return s;
}

bool session(source kind) {
    static std::string large;
    if (kind == large_file && (large.empty() || dice.one_in(50)))
        write_file(large_path, large = make_input(70000));
    std::string content = kind == large_file ? large : make_input(dice.one_in(3) ? 100 : 3000);
    if (kind == plain_file || kind == update_file)
        write_file(path, content);
    uint64_t seed = dice.source();
    bool fails = dice.one_in(3) && all_is_compared; // one of several reads fails; the reads differ on musl
    int buffer = static_cast<int>(dice.below(12));
    stream t[2] = {{&sides[0], nullptr, {}}, {&sides[1], nullptr, {}}};
    for (stream &one : t) {
        open_stream(one, kind, content, seed, fails);
        if (buffer == 0 && all_is_compared)
            one.of->setvbuf(one.file, nullptr, _IONBF, 0);
    }
    bool same = true;
    size_t n = 5 + content.size() / 12, at_end = 0;
    for (size_t i = 0; same && i < n && at_end < 4; i++) {
        same = scan_both(t, kind) && (dice.one_in(2) || step_both(t, kind, content.size()));
        at_end += t[0].of->feof(t[0].file) != 0;
    }
    if (!same)
        printf("source %d, buffer %d\n", kind, buffer);
    for (stream &one : t)
        one.of->fclose(one.file);
    return same;
}

// libc's streams on callbacks and on memory cannot be wide.
source any_source() {
    source s;
    do
        s = static_cast<source>(dice.below(sources));
    while (wide_calls && (s == in_pieces || s == at_once || s == memory));
    return s;
}

bool text_session() {
    std::string content = make_content(dice.one_in(3) ? 100 : 3000);
    bool same = true;
    for (size_t i = 0; same && i < content.size() / 12; i++) {
        const format f = make_format();
        int mode = rounding();
        size_t at = dice.below(content.size() + 1);
        calls++;
        // A copy of exactly this length, so that a sanitizer detects reads beyond it.
        std::unique_ptr<char[]> copy(new char[content.size() - at + 1]);
        memcpy(copy.get(), content.c_str() + at, content.size() - at + 1);
        for (int k : {0, 1})
            run(outcomes[k], f, mode, [&](char **a) {
                text_scanner *scan = sides[k].text[f.family];
                return scan(copy.get(), f.text.c_str(), a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8],
                            a[9], a[10], a[11]);
            });
        same = compare_outcomes(f);
        if (!same)
            escape("text", copy.get(), std::min<size_t>(60, strlen(copy.get())));
    }
    return same;
}

} // namespace

int main(int argc, char **argv) {
    wide_calls = argc > 1 && strcmp(argv[1], "--wide") == 0;
    if (wide_calls) { // uses other files, since both tests may run at once
        path = "scanf_differential.wide_in";
        large_path = "scanf_differential.wide_large";
        argc--;
        argv++;
    }
    unsigned long wanted = argc > 1 ? strtoul(argv[1], nullptr, 10) : 200000;
    uint64_t seed = argc > 2 ? strtoul(argv[2], nullptr, 10) : 1;
    if (!setlocale(LC_ALL, argc > 3 ? argv[3] : "C.UTF-8")) {
        printf("scanf_differential: there is no locale %s\n", argv[3]);
        return 2;
    }
    dice.source.seed(seed);
    sides[0] = load(NAME_OF_LIBC);
    sides[1] = load("libasf_stdio.so.0");
    while (calls < wanted && differences < 10)
        differences += !(!wide_calls && dice.one_in(4) ? text_session() : session(any_source()));
    unlink(path);
    unlink(large_path);
    printf("%lu calls, %lu values assigned, %lu sessions differ\n", calls, assigned, differences);
    return differences ? 1 : 0;
}
