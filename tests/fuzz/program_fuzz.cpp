// SPDX-License-Identifier: MIT
//
// program_fuzz.cpp - a file that is not a program, or whose headers point outside the file: "asf run"
// examines it, reports why it refuses the file, if it does, and neither crashes nor hangs.
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
extern "C" {
#include "interfaces/command/command.h"
#include "lib/sys/machine.h"

// Pretends that the build for the other libc is installed; the real function searches beside the command.
const char *asf__other_library_flaw(library) {
    return nullptr;
}
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const int fd = memfd_create("program", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != static_cast<ssize_t>(size))
        fuzz::wrong("there is no memory for a file");
    const std::string path = "/proc/self/fd/" + std::to_string(fd);
    // asf__find_program leaks a script's interpreter name
    const bool script = size > 1 && data[0] == '#' && data[1] == '!';
    const program p = script ? program{} : asf__find_program(path.c_str());
    if (p.obstacle == UNREADABLE || (asf__is_library(path.c_str()) && p.obstacle == FOREIGN_MACHINE))
        fuzz::wrong("the file is not what it is");
    free(const_cast<char *>(p.loader)); // the command never frees it
    close(fd);
    return 0;
}

namespace {

template <class T> void put(std::string &s, const T &t) {
    s.append(reinterpret_cast<const char *>(&t), sizeof t);
}

// In one of eight cases a random, possibly large number; else `otherwise`.
uint64_t much(fuzz::Random &random, uint64_t otherwise) {
    return random.one_in(8) ? random.bits() >> random.below(64) : otherwise;
}

} // namespace

std::string fuzz::make(Random &random) {
    std::string s;
    Elf64_Ehdr header = {};
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_machine = ASF_ELF;
    header.e_type = static_cast<Elf64_Half>(random.one_in(3) ? ET_EXEC : ET_DYN);
    header.e_phoff = much(random, sizeof header);
    header.e_phentsize = static_cast<Elf64_Half>(much(random, sizeof(Elf64_Phdr)));
    header.e_phnum = static_cast<Elf64_Half>(much(random, 3));
    put(s, header);
    for (size_t i = 0; i < 3; i++) {
        Elf64_Phdr segment = {};
        segment.p_type = static_cast<Elf64_Word>(random.below(4));
        segment.p_offset = much(random, sizeof header + 3 * sizeof segment);
        segment.p_filesz = much(random, 48);
        put(s, segment);
    }
    const Elf64_Dyn entries[] = {{static_cast<Elf64_Sxword>(much(random, DT_NEEDED)), {1}},
                                 {DT_FLAGS_1, {much(random, DF_1_PIE)}},
                                 {}};
    put(s, entries);
    s.resize(random.one_in(4) ? random.below(s.size()) : s.size());
    return random.one_in(6) ? "#!" + of_bytes(random, 20) : s;
}
