// SPDX-License-Identifier: MIT
//
// options_test.cpp - reading ASF_OPTIONS changes nothing but the options.
#include <cerrno>
#include <cstdlib>

#include "tests/interfaces/asi/asi_test.h"
#include "tests/streams/private_headers.h"
extern "C" {
#include "lib/sys/options.h"
}

namespace asi {
namespace {

TEST(Options, ErrnoIsTheProgramsOwn) {
    const std::string large(40, '9');
    const asf_options before = asf__option_values;
    for (const std::string &text : {"ring=" + large, "ring=1/2/" + large, "ring=1/2/" + large + "x",
                                    "window=" + large, std::string("ring=1/2"), std::string("unknown")}) {
        setenv("ASF_OPTIONS", text.c_str(), 1);
        errno = 0;
        asf__parse_options();
        EXPECT_EQ(errno, 0) << text;
    }
    unsetenv("ASF_OPTIONS");
    asf__option_values = before;
}

} // namespace
} // namespace asi
