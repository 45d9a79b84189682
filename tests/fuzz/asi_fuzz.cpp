// SPDX-License-Identifier: MIT
//
// asi_fuzz.cpp - the input chooses calls of the Alloc Stream Interface, whose results are compared with the
// model of tests/interfaces/asi.
#include <filesystem>
#include <unistd.h>

#include "fuzz.h"
#include "tests/interfaces/asi/asi_model.h"

namespace {

// A directory in memory, which is removed when the process ends.
struct Directory {
    std::string path = "/dev/shm/asi_fuzz.XXXXXX";
    Directory() {
        if (!mkdtemp(path.data()))
            fuzz::wrong("there is no directory");
    }
    Directory(const Directory &) = delete;
    Directory &operator=(const Directory &) = delete;
    ~Directory() { std::filesystem::remove_all(path); }
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const Directory directory;
    static const asi::Kind kinds[] = {asi::Kind::file, asi::Kind::file, asi::Kind::pipe, asi::Kind::socket};
    if (size == 0)
        return 0;
    asi::Model model(kinds[data[0] % 4], directory.path + "/file", asi::Random(data[0], data + 1, size - 1));
    while (!model.is_used_up() && !model.has_failed())
        model.step();
    if (!model.has_failed())
        model.finish();
    if (model.has_failed())
        fuzz::wrong("the stream is not what the model is");
    return 0;
}

std::string fuzz::make(Random &random) {
    return of_bytes(random, 600);
}
