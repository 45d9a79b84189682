// SPDX-License-Identifier: MIT
//
// package_test.cpp - the library recognizes the system by its os-release.
#include <cstdio>
#include <fstream>

#include "tests/interfaces/asi/asi_test.h"
#include "tests/streams/private_headers.h"
extern "C" {
#include "lib/sys/package.h"
}

namespace asi {
namespace {

std::string path; // the file to open instead of /etc/os-release

int open_other(const char *, int flags, mode_t) {
    const int fd = open(path.c_str(), flags);
    return fd < 0 ? -errno : fd;
}

std::string package_where(const std::string &text) {
    path = testing::TempDir() + "os-release";
    std::ofstream(path) << text;
    const auto before = asf__sys.open;
    asf__sys.open = open_other;
    const std::string found = asf__package("libasf-decoders0", "it");
    asf__sys.open = before;
    unlink(path.c_str());
    return found;
}

TEST(Package, DebianAndItsKin) {
    for (const char *text :
         {"PRETTY_NAME=\"Debian\"\nID=debian\nHOME_URL=x\n", "ID=\"debian\"", "ID='debian'\n",
          "NAME=Ubuntu\nID=ubuntu\nID_LIKE=debian\n", "ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n"})
        EXPECT_EQ(package_where(text), "libasf-decoders0") << text;
}

TEST(Package, Others) {
    for (const char *text :
         {"", "ID=fedora\n", "ID=alpine\nHOME_URL=\"https://debian\"\n", "ID=debianish\nID_LIKE=\n",
          "NAME=debian\nVARIANT_ID=debian\nID=arch\nX_ID_LIKE=debian\n",
          "ID=opensuse\nID_LIKE=\"suse\ndebian\"\n"})
        EXPECT_EQ(package_where(text), "it") << text;
    path = "/nowhere";
    const auto before = asf__sys.open;
    asf__sys.open = open_other;
    EXPECT_STREQ(asf__package("libasf-decoders0", "it"), "it");
    asf__sys.open = before;
}

} // namespace
} // namespace asi
