// SPDX-License-Identifier: MIT
//
// parts_fuzz.cpp - parts of a file with arbitrary bytes, compressed or not. Read together, the parts give the
// bytes that asf_decode reads from the whole file; or a part fails at the byte at which the whole file fails.
#include <asf/decode.h>
#include <asf/parts.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

namespace {

struct Read {
    std::string bytes;
    ssize_t error = 0;
};

// returns  the bytes of a stream up to its end or its first error; closes it.
Read read_all(asf_cios *stream) {
    Read all;
    for (ssize_t n = 700;; n = 700) {
        auto *region = static_cast<const char *>(asf_salloc(stream, &n));
        if (!region) {
            all.error = n;
            break;
        }
        all.bytes.append(region, static_cast<size_t>(n));
        asf_sfree(stream, const_cast<char *>(region));
    }
    asf_sclose(stream);
    return all;
}

Read whole(const std::string &path, bool decode) {
    int error = 0;
    asf_cios *stream = asf_sopen(path.c_str(), O_RDONLY, 0, &error);
    if (stream && decode)
        stream = asf_decode(stream, &error);
    return stream ? read_all(stream) : Read{"", error};
}

// returns  the bytes of the parts before the first error.
Read joined(const std::string &path, const asf_part *parts, ssize_t count) {
    Read all;
    for (ssize_t i = 0; i < count && all.error == 0; i++) {
        int error = 0;
        asf_cios *stream = asf_sopen_part(path.c_str(), parts + i, &error);
        const Read part = stream ? read_all(stream) : Read{"", error};
        all.bytes += part.bytes;
        all.error = part.error;
    }
    return all;
}

void compare(const Read &parts, const Read &file) {
    const size_t both = std::min(parts.bytes.size(), file.bytes.size());
    if (parts.bytes.compare(0, both, file.bytes, 0, both) != 0)
        fuzz::wrong("the parts have other bytes than the file");
    if ((parts.error == 0) != (file.error == 0))
        fuzz::wrong("of parts and file one fails: " + std::to_string(parts.error) + ", " +
                    std::to_string(file.error));
    if (parts.error == 0 && parts.bytes.size() != file.bytes.size())
        fuzz::wrong("the parts have fewer bytes or more");
}

// A zstd frame with one uncompressed block and the content's size in its header.
std::string frame(const std::string &text) {
    const auto size = static_cast<uint32_t>(text.size());
    const uint32_t header = 1U | size << 3;
    std::string all("\x28\xb5\x2f\xfd\xa0", 5);
    all.append(reinterpret_cast<const char *>(&size), 4);
    all.append(reinterpret_cast<const char *>(&header), 3);
    return all + text;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const int fd = memfd_create("parts", 0);
    static const std::string path = "/proc/self/fd/" + std::to_string(fd);
    fuzz::Bytes input(data, size);
    asf_cut how = {};
    how.decode = input.below(4) != 3;
    how.record = static_cast<int64_t>(input.below(3) == 2 ? input.below(40) : 0);
    how.size = static_cast<int64_t>(input.next());
    how.delimiter = '\n';
    const std::string file = input.rest();
    if (ftruncate(fd, 0) != 0 || pwrite(fd, file.data(), file.size(), 0) != static_cast<ssize_t>(file.size()))
        fuzz::wrong("the file cannot be written");
    asf_part *parts = nullptr;
    const ssize_t count = asf_parts(path.c_str(), &how, &parts);
    if (count < 0)
        fuzz::wrong("asf_parts fails: " + std::to_string(count));
    if (count > 0)
        compare(joined(path, parts, count), whole(path, how.decode));
    free(parts);
    return 0;
}

std::string fuzz::make(Random &random) {
    std::string file = of_bytes(random, 3);
    file.resize(3);
    for (size_t frames = random.below(9); frames > 0; frames--)
        file += random.one_in(12) ? of_bytes(random, 30)
                                  : frame(of_words(random, "a|line\n|\n|longer text\n", 40));
    if (random.one_in(3) && file.size() > 4)
        file[3 + random.below(file.size() - 3)] = static_cast<char>(random.bits());
    if (random.one_in(5))
        file.resize(random.below(file.size() + 1));
    return file;
}
