// SPDX-License-Identifier: MIT
//
// cxx_test.h - shared by the tests of the C++ interfaces: files in a temporary directory.
#ifndef ASF_TESTS_CXX_TEST_H
#define ASF_TESTS_CXX_TEST_H

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace cxx {

namespace fs = std::filesystem;

class Directory {
  public:
    Directory() {
        char name[] = "/tmp/asf_cxx_XXXXXX";
        path_ = mkdtemp(name);
    }
    ~Directory() { fs::remove_all(path_); }
    fs::path operator/(const char *name) const { return path_ / name; }

  private:
    fs::path path_;
};

inline std::string contents(const fs::path &path) {
    std::ifstream in(path, std::ios_base::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

inline fs::path make(const fs::path &path, const std::string &text) {
    std::ofstream(path, std::ios_base::binary) << text;
    return path;
}

} // namespace cxx

#endif
