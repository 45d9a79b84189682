// SPDX-License-Identifier: MIT
//
// options_fuzz.cpp - any contents of ASF_OPTIONS: the options stay within their limits, each complaint is one
// line, and errno does not change.
#include <cerrno>
#include <initializer_list>

#include "fuzz.h"
extern "C" {
#include "lib/sys/options.h"
#include "lib/sys/syscalls.h"
}

namespace {

size_t lines;

ssize_t count_lines(int, const void *p, size_t n) {
    const char *text = static_cast<const char *>(p);
    if (n == 0 || n > 160 || text[n - 1] != '\n')
        fuzz::wrong("a complaint is no line");
    lines++;
    return static_cast<ssize_t>(n);
}

bool is_one_of(const char *text, size_t room, std::initializer_list<const char *> words) {
    if (strnlen(text, room) == room)
        return false;
    for (const char *word : words)
        if (strcmp(text, word) == 0)
            return true;
    return false;
}

bool are_good(const asf_options &o) {
    const size_t most = size_t{1} << 40;
    return strnlen(o.stats, 4096) < 4096 && is_one_of(o.module, sizeof o.module, {"", "map", "read"}) &&
           is_one_of(o.shm, sizeof o.shm, {"posix", "sysv"}) && o.map_min <= most && o.buffer <= most &&
           o.window <= most && o.window >= 2 << 20 && o.window % (2 << 20) == 0;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const asf_options before = asf__option_values;
    static char variable[1 << 16] = "ASF_OPTIONS="; // setenv would leak each value
    static const int put = putenv(variable);
    const size_t most = sizeof variable - 1 - strlen("ASF_OPTIONS="), n = size < most ? size : most;
    memcpy(variable + strlen("ASF_OPTIONS="), data, n);
    variable[strlen("ASF_OPTIONS=") + n] = '\0';
    asf__option_values = before;
    asf__sys.write = count_lines;
    lines = 0;
    errno = 0;
    asf__parse_options();
    if (put != 0 || errno != 0 || lines > 1 + size || !are_good(asf__option_values))
        fuzz::wrong("the options are not what they may be");
    return 0;
}

std::string fuzz::make(Random &random) {
    return of_words(random,
                    "stats|module|map_min|window|buffer|tune|verbose|shm|decompress|write|ring|rings|=|=|,|,|"
                    "map|read|posix|sysv|on|off|1|0|4M|64K|2097152|-1|99999999999999999999|stderr|/",
                    20);
}
