// SPDX-License-Identifier: MIT
//
// shm_fuzz.cpp - a label, an array in a text file, or a segment that somebody has forged:
// each is taken or refused, and an array that was read is written and read again the same.
// Layer: tests.
#include <asf/shm.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

namespace {

volatile char seen;

void open_label(const std::string &label) {
    if (char *shm = asf_shm_open(label.c_str())) {
        seen = *shm;
        asf_shm_close(shm);
    }
}

void open_forged(const std::string &bytes) {
    const int fd = memfd_create("forged", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || write(fd, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
        fuzz::wrong("there is no memory for a file");
    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    if (char *shm = asf_shm_open_fd(fd, O_RDONLY)) {
        for (size_t i = 0; i < ASF_SHM_HEAD; i++)
            seen = shm[i];
        asf_shm_close(shm);
    }
    close(fd);
}

void read_again(const double *array, size_t count) {
    char *text = nullptr;
    size_t size = 0, again = count;
    FILE *f = open_memstream(&text, &size);
    if (asf_shm_write_doubles(f, array, count, nullptr) != 0 || fclose(f) != 0)
        fuzz::wrong("the array could not be written");
    f = fmemopen(text, size, "r");
    const double *copy = asf_shm_read_doubles(f, &again);
    for (size_t i = 0; i < count; i++)
        if (!copy || again != count ||
            (memcmp(&array[i], &copy[i], sizeof *copy) != 0 && array[i] == array[i]))
            fuzz::wrong("number " + std::to_string(i) + " of " + std::to_string(count) + " is another");
    asf_shm_free_doubles(copy);
    fclose(f);
    free(text);
}

void read_array(std::string text, size_t wanted) {
    if (text.empty())
        return;
    FILE *f = fmemopen(text.data(), text.size(), "r");
    size_t count = wanted;
    if (const double *array = asf_shm_read_doubles(f, &count)) {
        if (count > 0)
            read_again(array, count);
        asf_shm_free_doubles(array);
    }
    fclose(f);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz::Bytes in(data, size);
    switch (in.below(4)) {
    case 0:
        open_label(in.rest());
        break;
    case 1:
        open_forged(in.rest());
        break;
    default: {
        const size_t wanted = in.below(3) ? 0 : in.next();
        read_array(in.rest(), wanted);
    }
    }
    return 0;
}

std::string fuzz::make(Random &random) {
    std::string s(1, static_cast<char>(random.below(4)));
    if (s[0] == 1)
        s += "asf-1.2 name\n" + std::string(99, '\0') + of_bytes(random, 40);
    s += of_words(random,
                  "shmids|asf-|posix:|/asf-shm-1|memfd|sysv:1|1|2.5|-3e10|nan|inf| |\n| "
                  "|1e400|0x1p3|coeff|.|/|..|12345678901234567890",
                  20);
    return s;
}
