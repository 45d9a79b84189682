// SPDX-License-Identifier: MIT
//
// fuzz_driver.cpp - runs a target without libFuzzer:
//   TARGET [RUNS [SEED]]  on random inputs
//   TARGET FILE...        on these files
//   TARGET DIRECTORY      writes initial inputs for libFuzzer into the directory
#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <sys/stat.h>

#include "fuzz.h"

namespace {

// Copies the input to a heap block of exactly its size, so that the sanitizer detects reads beyond it.
void run(const std::string &input) {
    const auto copy = std::make_unique<uint8_t[]>(input.size());
    std::copy(input.begin(), input.end(), copy.get());
    LLVMFuzzerTestOneInput(copy.get(), input.size());
}

int run_at_random(uint64_t runs, uint64_t seed) {
    for (uint64_t i = 0; i < runs; i++) {
        fuzz::Random random(seed * 1000000007 + i);
        run(fuzz::make(random));
    }
    printf("%llu inputs\n", static_cast<unsigned long long>(runs));
    return 0;
}

bool is_directory(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int write_some(const std::string &directory) {
    for (uint64_t i = 0; i < 200; i++) {
        fuzz::Random random(i);
        std::ofstream to(directory + "/" + std::to_string(i), std::ios::binary);
        if (!(to << fuzz::make(random)).flush())
            return 1;
    }
    return 0;
}

} // namespace

int main(int argc, char **argv) {
    char *end;
    const uint64_t runs = argc > 1 ? strtoull(argv[1], &end, 10) : 20000;
    if (argc < 2 || !*end)
        return run_at_random(runs, argc > 2 ? strtoull(argv[2], nullptr, 10) : 1);
    if (is_directory(argv[1]))
        return write_some(argv[1]);
    for (int i = 1; i < argc; i++) {
        std::ifstream from(argv[i], std::ios::binary);
        if (!from) {
            fprintf(stderr, "%s: there is no such file\n", argv[i]);
            return 1;
        }
        run({std::istreambuf_iterator<char>(from), {}});
    }
    return 0;
}
