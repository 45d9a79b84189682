// SPDX-License-Identifier: MIT
//
// ring_fuzz.cpp - both ends of a ring, whose control block, data and length are overwritten before the ends
// are opened and between their calls. An end may fail, but must return in time: a timer interrupts an end
// that waits. No byte outside the ring is written, each region is readable and writable, and other rings and
// the thread's list of locks stay intact.
#include <csignal>
#include <ctime>
#include <sys/mman.h>
#include <vector>

#ifndef sigev_notify_thread_id // glibc has no name for it
#define sigev_notify_thread_id _sigev_un._tid
#endif

#include "fuzz.h"
#include "tests/streams/ring_test.h"

namespace {

constexpr size_t SIZE = 8192;
volatile char seen;

void interrupt_waits() {
    struct sigaction act {};
    act.sa_handler = [](int) {};
    sigaction(SIGRTMIN, &act, nullptr);
    signal(SIGPIPE, SIG_IGN);
    struct sigevent to {};
    to.sigev_notify = SIGEV_THREAD_ID;
    to.sigev_signo = SIGRTMIN;
    to.sigev_notify_thread_id = gettid();
    timer_t timer;
    const struct itimerspec soon = {{0, 100000}, {0, 100000}};
    if (timer_create(CLOCK_MONOTONIC, &to, &timer) != 0 || timer_settime(timer, 0, &soon, nullptr) != 0)
        fuzz::wrong("there is no timer");
}

// Pages that must not be written to. The kernel places the next mapping directly below them.
class Trap {
  public:
    Trap() {
        if (p == MAP_FAILED)
            fuzz::wrong("there is no memory");
        memset(p, 'x', size);
    }
    Trap(const Trap &) = delete;
    Trap &operator=(const Trap &) = delete;
    ~Trap() {
        for (size_t i = 0; i < size; i++)
            if (p[i] != 'x')
                fuzz::wrong("written to outside of the ring");
        munmap(p, size);
    }
    uint64_t address() const { return reinterpret_cast<uint64_t>(p + size / 2); }

  private:
    static constexpr size_t size = 8192;
    char *p =
        static_cast<char *>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
};

// Makes a ring. If it is not sealed, it is a copy in a file without seals.
int make_ring(bool sealed) {
    const int ring = asf_ring_create(SIZE);
    if (sealed)
        return ring;
    struct stat st {};
    const int copy = memfd_create("forged", MFD_CLOEXEC);
    std::string page(4096, '\0');
    fstat(ring, &st);
    const off_t at = st.st_size - static_cast<off_t>(SIZE + page.size());
    if (ftruncate(copy, st.st_size) != 0 || pread(ring, page.data(), page.size(), at) != 4096 ||
        pwrite(copy, page.data(), page.size(), at) != 4096)
        fuzz::wrong("there is no memory for a file");
    close(ring);
    return copy;
}

class Hostile {
  public:
    explicit Hostile(fuzz::Bytes bytes) : in(bytes), ring(make_ring(in.below(2))) {
        struct stat st {};
        fstat(ring, &st);
        whole = st.st_size;
    }
    Hostile(const Hostile &) = delete;
    Hostile &operator=(const Hostile &) = delete;
    ~Hostile() {
        std::string label(4096, 'x');
        if (pread(ring, label.data(), label.size(), 0) > 0 &&
            label.find_first_not_of(std::string("x\0", 2)) != label.npos)
            fuzz::wrong("written to before the control block");
        close(ring);
    }

    void play() {
        for (size_t n = in.below(8); n > 0; n--)
            spoil();
        writer = asi::open_end(ring, O_WRONLY);
        reader = asi::open_end(ring, O_RDONLY);
        const Trap below;
        while (in.any())
            step();
        while (!regions.empty())
            give_back();
        for (asf_cios *s : {writer, reader})
            if (s)
                sclose(s);
    }

  private:
    void step() {
        switch (in.below(6)) {
        case 0:
        case 1:
            return take(writer);
        case 2:
        case 3:
            return take(reader);
        case 4:
            return give_back();
        default:
            return spoil();
        }
    }

    // Takes a region, and gives it back at once or later.
    void take(asf_cios *s) {
        ssize_t n = in.number<uint16_t>() % (2 * SIZE);
        auto *p = s ? static_cast<char *>(salloc(s, &n)) : nullptr;
        if (!p)
            return;
        for (ssize_t i = 0; i < n; i++)
            if (s == writer)
                p[i] = 'w';
            else
                seen = p[i];
        regions.push_back({s, p});
        if (in.below(4))
            give_back();
        if (s == writer && in.below(2))
            sflush(s);
    }

    void give_back() {
        if (regions.empty())
            return;
        const size_t i = in.below(regions.size());
        sfree(regions[i].first, regions[i].second);
        regions.erase(regions.begin() + static_cast<ptrdiff_t>(i));
    }

    // Overwrites words of the shared memory: mostly the words of the control block that both ends use.
    void spoil() {
        const size_t from = in.below(16) ? 256 : 4096;
        const off_t control = whole - static_cast<off_t>(SIZE);
        const off_t at =
            control - static_cast<off_t>(from) + in.number<uint16_t>() % static_cast<off_t>(from) / 4 * 4;
        switch (in.below(9)) {
        case 0:
            return put(at, static_cast<uint32_t>(gettid()) | uint32_t{in.next()} << 24);
        case 1:
            return put(at, trap.address());
        case 2:
            return put(at, in.number<uint64_t>());
        case 3:
            return put(at, uint64_t{1} << in.below(64));
        case 4:
            return put(control + in.number<uint16_t>() % static_cast<off_t>(SIZE), in.number<uint64_t>());
        case 5:
            (void)!ftruncate(ring, in.number<uint16_t>() % whole);
            return;
        default:
            return put(at, in.number<uint32_t>());
        }
    }
    template <class Number> void put(off_t at, Number value) {
        (void)!pwrite(ring, &value, sizeof value, at);
    }

    fuzz::Bytes in;
    int ring;
    off_t whole = 0;
    Trap trap;
    asf_cios *writer = nullptr, *reader = nullptr;
    std::vector<std::pair<asf_cios *, char *>> regions;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const bool prepared = (interrupt_waits(), true);
    (void)prepared;
    Hostile(fuzz::Bytes(data, size)).play();
    if (!asi::is_list_empty())
        fuzz::wrong("the list of locks leads elsewhere");
    if (!asi::ring_still_works())
        fuzz::wrong("another ring works no more");
    return 0;
}

std::string fuzz::make(Random &random) {
    return of_bytes(random, 200);
}
