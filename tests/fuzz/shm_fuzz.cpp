// SPDX-License-Identifier: MIT
//
// shm_fuzz.cpp - arbitrary labels, arrays in text files and forged segments: each is accepted or rejected,
// and an accepted array is the same after writing and reading it. Also held locks whose memory is
// overwritten: the thread's list of locks stays intact.
#include <asf/shm.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "tests/streams/ring_test.h"

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

void hold_forged(fuzz::Bytes in) {
    asf_shm_lock locks[12] = {}; // more locks than the initial size of a thread's table
    auto *bytes = reinterpret_cast<char *>(locks);
    while (in.any()) {
        asf_shm_lock &lock = locks[in.below(12)];
        if (const size_t what = in.below(4); what == 0) {
            asf_shm_release(&lock);
        } else if (what == 1) {
            const auto word = in.number<uint32_t>();
            memcpy(bytes + in.number<uint16_t>() % (sizeof locks - sizeof word), &word, sizeof word);
        } else {
            asf_shm_obtain_no_wait(&lock);
        }
    }
    for (asf_shm_lock &lock : locks)
        while (asf_shm_release(&lock) == 0)
            continue;
    if (!asi::is_list_empty())
        fuzz::wrong("the list of locks leads elsewhere");
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
    switch (in.below(5)) {
    case 0:
        open_label(in.rest());
        break;
    case 1:
        open_forged(in.rest());
        break;
    case 4:
        hold_forged(in);
        break;
    default: {
        const size_t wanted = in.below(3) ? 0 : in.next();
        read_array(in.rest(), wanted);
    }
    }
    return 0;
}

std::string fuzz::make(Random &random) {
    std::string s(1, static_cast<char>(random.below(5)));
    if (s[0] == 4)
        return s + of_bytes(random, 200);
    if (s[0] == 1)
        s += "asf-1.2 name\n" + std::string(99, '\0') + of_bytes(random, 40);
    s += of_words(random,
                  "shmids|asf-|posix:|/asf-shm-1|memfd|sysv:1|1|2.5|-3e10|nan|inf| |\n| "
                  "|1e400|0x1p3|coeff|.|/|..|12345678901234567890",
                  20);
    return s;
}
