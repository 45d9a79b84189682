// SPDX-License-Identifier: MIT
//
// use_cxx.cpp - copies standard input to standard output by lines, with <asf/asf.hpp>, and counts
// them through <asf/streams.hpp>.
#include <cstdio>

#include <asf/asf.hpp>
#include <asf/streams.hpp>

int main() {
    asf::stream in = asf::stream::on(0), out = asf::stream::on(1);
    for (std::string_view line : in.lines()) {
        out.put(line);
        out.put("\n");
    }
    out.close();
    asf::istream self("/proc/self/status");
    std::string word;
    return self >> word ? 0 : 1;
}
