/* SPDX-License-Identifier: MIT
 *
 * printing.cpp - the printf family, on a stream and into memory.
 *
 * A form has a format and the values of a step.  Each form is timed through several functions, whose output
 * is compared with libc's snprintf.
 */
#include "cases.h"
#include "inputs.h"

#include <tuple>
#include <unistd.h>

namespace {

// Numbers of all lengths up to seven digits, of both signs.
int number_at(unsigned step) {
    return static_cast<int>(step * 2654435761u >> 8) % 2000000 - 1000000;
}

double real_at(unsigned step) {
    return number_at(step) / 997.0;
}

enum { TEXT = 256 };

// The targets: the same call, printing to different destinations.
template <class Values> std::string to_reference(const char *format, const Values &values) {
    char text[TEXT];
    const int length = std::apply(
        [&](auto... value) { return libc_side().snprintf(text, sizeof text, format, value...); }, values);
    return {text, static_cast<size_t>(length)};
}

struct by_fprintf {
    static constexpr const char *name = "fprintf";
    template <class... Values>
    void operator()(const stdio_side &side, FILE *file, const char *format, Values... values) const {
        side.fprintf(file, format, values...);
    }
};

struct by_checked_fprintf {
    static constexpr const char *name = "__fprintf_chk";
    template <class... Values>
    void operator()(const stdio_side &side, FILE *file, const char *format, Values... values) const {
        side.__fprintf_chk(file, 1, format, values...);
    }
};

struct by_snprintf {
    static constexpr const char *name = "snprintf";
    template <class... Values>
    int operator()(const stdio_side &side, char *text, const char *format, Values... values) const {
        return side.snprintf(text, TEXT, format, values...);
    }
};

struct by_checked_snprintf {
    static constexpr const char *name = "__snprintf_chk";
    template <class... Values>
    int operator()(const stdio_side &side, char *text, const char *format, Values... values) const {
        return side.__snprintf_chk(text, TEXT, 1, TEXT, format, values...);
    }
};

struct by_checked_sprintf {
    static constexpr const char *name = "__sprintf_chk";
    template <class... Values>
    int operator()(const stdio_side &side, char *text, const char *format, Values... values) const {
        return side.__sprintf_chk(text, 1, TEXT, format, values...);
    }
};

// Enough to fill every buffer a few times.
enum { CHECKED = 100000 };

template <class Print, class Form> bool prints_to_stream(const stdio_side &side, const Form &form) {
    const std::string path = scratch_path("printed");
    FILE *file = open_stream(side, path, "w");
    std::string expected;
    for (unsigned step = 0; step < CHECKED; step++) {
        std::apply([&](auto... value) { Print()(side, file, form.format, value...); }, form.values(step));
        expected += to_reference(form.format, form.values(step));
    }
    const bool closed = side.fclose(file) == 0;
    const bool right = closed && file_bytes(path) == expected;
    unlink(path.c_str());
    return right;
}

template <class Print, class Form>
void time_on_stream(benchmark::State &state, const stdio_side &side, const Form &form) {
    FILE *file = open_stream(side, "/dev/null", "w");
    unsigned step = 0;
    for (auto _ : state)
        std::apply([&](auto... value) { Print()(side, file, form.format, value...); }, form.values(step++));
    side.fclose(file);
}

template <class Print, class Form> bool prints_to_memory(const stdio_side &side, const Form &form) {
    char text[TEXT];
    for (unsigned step = 0; step < CHECKED; step++) {
        const int length = std::apply(
            [&](auto... value) { return Print()(side, text, form.format, value...); }, form.values(step));
        if (std::string(text, static_cast<size_t>(length)) != to_reference(form.format, form.values(step)))
            return false;
    }
    return true;
}

template <class Print, class Form>
void time_into_memory(benchmark::State &state, const stdio_side &side, const Form &form) {
    char text[TEXT];
    unsigned step = 0;
    for (auto _ : state) {
        std::apply([&](auto... value) { return Print()(side, text, form.format, value...); },
                   form.values(step++));
        benchmark::DoNotOptimize(text);
    }
}

// The name with the format as in a program's source: "fprintf %d\n".
template <class Print, class Form> std::string name_of(const Form &form) {
    std::string name = std::string(Print::name) + " ";
    for (const char *p = form.format; *p; p++)
        name += *p == '\n' ? "\\n" : *p == ' ' ? "_" : std::string(1, *p);
    return name;
}

template <class Print, class Form> void add_on_stream(const Form &form) {
    add_case(
        {name_of<Print>(form), [=](const stdio_side &side) { return prints_to_stream<Print>(side, form); },
         [=](benchmark::State &state, const stdio_side &side) { time_on_stream<Print>(state, side, form); }});
}

template <class Print, class Form> void add_into_memory(const Form &form) {
    add_case({name_of<Print>(form),
              [=](const stdio_side &side) { return prints_to_memory<Print>(side, form); },
              [=](benchmark::State &state, const stdio_side &side) {
                  time_into_memory<Print>(state, side, form);
              }});
}

template <class Values> struct form {
    const char *format;
    Values values;
};

template <class Values> void add(const char *format, Values values) {
    const form<Values> stated = {format, values};
    add_on_stream<by_fprintf>(stated);
    add_into_memory<by_snprintf>(stated);
}

// For forms with a target ratio: times the names that fortified programs call, too.
template <class Values> void add_all(const char *format, Values values) {
    const form<Values> stated = {format, values};
    add(format, values);
    add_on_stream<by_checked_fprintf>(stated);
    add_into_memory<by_checked_snprintf>(stated);
    add_into_memory<by_checked_sprintf>(stated);
}

} // namespace

void add_printing() {
    const auto number = [](unsigned step) { return std::tuple(number_at(step)); };
    const auto real = [](unsigned step) { return std::tuple(real_at(step)); };
    add_all("%d\n", number);
    add_all("%s %d\n", [](unsigned step) { return std::tuple("record", number_at(step)); });
    add_all("%08x ", number);
    add_all("%.4f ", real);
    add_all("%g ", real);
    add("%.17g ", real);
    add("%e ", real);
    add("%5.2f ", real);
    add("%f ", real);
    add("%.15g ", [](unsigned step) { return std::tuple(number_at(step) / 100.0); });
    add("%.20e ", real);
    add("%.1f ", [](unsigned step) { return std::tuple(number_at(step) * 1e150); });
    add("%G ", [](unsigned step) { return std::tuple(number_at(step) * 1e-200); });
    add("%.3Lf ", [](unsigned step) { return std::tuple(static_cast<long double>(real_at(step))); });
    add("%Lg ", [](unsigned step) { return std::tuple(static_cast<long double>(real_at(step))); });
    add("%ld,%s,%.3f\n",
        [](unsigned step) { return std::tuple(long{number_at(step)}, "name", real_at(step)); });
    add("%-20s|", [](unsigned) { return std::tuple("a name"); });
    add("%c", [](unsigned step) { return std::tuple(static_cast<int>('a' + step % 26)); });
    add("%02x", [](unsigned step) { return std::tuple(static_cast<int>(step % 256)); });
    add("%s\n", [](unsigned) { return std::tuple("some text of a middling length"); });
    add("%*d|%5d|%-8u|%lu\n", [](unsigned step) {
        return std::tuple(9, number_at(step), number_at(step + 1), 7u, static_cast<unsigned long>(step));
    });
    add("usage: a program of some options [-abc] [-d FILE]\n", [](unsigned) { return std::tuple(); });
    add("%p %a\n", [](unsigned step) { return std::tuple(reinterpret_cast<void *>(step + 4096ul), 0.5); });
}
