// SPDX-License-Identifier: MIT
//
// ring_bench.cpp - one process writes, one reads, and both access every word of the data: by a ring, a pipe,
// Boost's message queue or ZeroMQ.  Each run makes one transfer; bench/ring/report runs all transports in
// turn.
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <memory>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <asf/ring.h>

#ifdef HAVE_BOOST
#include <boost/interprocess/ipc/message_queue.hpp>
#endif
#ifdef HAVE_ZMQ
#include <zmq.h>
#endif

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void stop(const std::string &what) {
    fprintf(stderr, "ring_bench: %s: %s\n", what.c_str(), strerror(errno));
    exit(1);
}

struct Work {
    size_t block, blocks;
};

// Accesses the words by wide instructions if there are any: otherwise the accesses would take longer than the
// transport and hide its cost.
#define WIDEST __attribute__((target_clones("avx2", "default")))
using Words = uint64_t __attribute__((vector_size(32), aligned(8), may_alias));

// Fills a block; each word is its index in the transfer.
WIDEST void fill(char *to, size_t n, uint64_t &next) {
    Words *all = reinterpret_cast<Words *>(to), words = {next, next + 1, next + 2, next + 3};
    for (size_t i = 0; i < n / sizeof words; i++, words += 4)
        all[i] = words;
    next += n / sizeof next;
}

WIDEST void sum(const char *from, size_t n, uint64_t &total) {
    const Words *all = reinterpret_cast<const Words *>(from);
    Words even = {}, odd = {};
    for (size_t i = 0; i < n / sizeof even; i += 2) {
        even += all[i];
        odd += all[i + 1];
    }
    even += odd;
    total += even[0] + even[1] + even[2] + even[3];
}

struct Transport {
    virtual ~Transport() = default;
    virtual void write(const Work &w) = 0;
    virtual uint64_t read(const Work &w) = 0;
};

class Pipe : public Transport {
  public:
    explicit Pipe(int size) {
        if (pipe2(ends, O_CLOEXEC) != 0 || fcntl(ends[1], F_SETPIPE_SZ, size) < size)
            stop("pipe");
    }
    ~Pipe() override {
        close(ends[0]);
        close(ends[1]);
    }
    void write(const Work &w) override {
        std::vector<char> buffer(w.block);
        uint64_t next = 0;
        for (size_t i = 0; i < w.blocks; i++) {
            fill(buffer.data(), w.block, next);
            for (size_t done = 0; done < w.block;) {
                const ssize_t n = ::write(ends[1], buffer.data() + done, w.block - done);
                if (n <= 0)
                    stop("write");
                done += static_cast<size_t>(n);
            }
        }
    }
    uint64_t read(const Work &w) override {
        std::vector<char> buffer(w.block);
        uint64_t total = 0;
        for (size_t i = 0; i < w.blocks; i++) {
            for (size_t done = 0; done < w.block;) {
                const ssize_t n = ::read(ends[0], buffer.data() + done, w.block - done);
                if (n <= 0)
                    stop("read");
                done += static_cast<size_t>(n);
            }
            sum(buffer.data(), w.block, total);
        }
        return total;
    }

  private:
    int ends[2]{};
};

class Ring : public Transport {
  public:
    explicit Ring(bool copies) : fd(asf_ring_create(0)), copying(copies) {
        if (fd < 0)
            stop("asf_ring_create");
    }
    ~Ring() override { close(fd); }
    void write(const Work &w) override {
        asf_cios *s = asf_ring_sopen_fd(fd, O_WRONLY, nullptr);
        std::vector<char> buffer(w.block);
        uint64_t next = 0;
        for (size_t i = 0; i < w.blocks; i++) {
            ssize_t n = static_cast<ssize_t>(w.block);
            char *p = static_cast<char *>(salloc(s, &n));
            if (!p)
                stop("salloc");
            fill(copying ? buffer.data() : p, w.block, next);
            if (copying)
                memcpy(p, buffer.data(), w.block);
            sfree(s, p);
        }
        if (sclose(s) != 0)
            stop("sclose");
    }
    uint64_t read(const Work &w) override {
        asf_cios *s = asf_ring_sopen_fd(fd, O_RDONLY, nullptr);
        std::vector<char> buffer(w.block);
        uint64_t total = 0;
        for (size_t i = 0; i < w.blocks; i++) {
            ssize_t n = static_cast<ssize_t>(w.block);
            char *p = static_cast<char *>(salloc(s, &n));
            if (!p)
                stop("salloc");
            if (copying)
                memcpy(buffer.data(), p, w.block);
            sum(copying ? buffer.data() : p, w.block, total);
            sfree(s, p);
        }
        sclose(s);
        return total;
    }

  private:
    int fd;
    bool copying;
};

#ifdef HAVE_BOOST
namespace bip = boost::interprocess;
class Boost : public Transport {
  public:
    explicit Boost(const Work &w) : name("asf-bench-" + std::to_string(getpid())) {
        bip::message_queue::remove(name.c_str());
        queue = std::make_unique<bip::message_queue>(bip::create_only, name.c_str(), (1 << 20) / w.block,
                                                     w.block);
    }
    ~Boost() override { bip::message_queue::remove(name.c_str()); }
    void write(const Work &w) override {
        std::vector<char> buffer(w.block);
        uint64_t next = 0;
        for (size_t i = 0; i < w.blocks; i++) {
            fill(buffer.data(), w.block, next);
            queue->send(buffer.data(), w.block, 0);
        }
    }
    uint64_t read(const Work &w) override {
        std::vector<char> buffer(w.block);
        uint64_t total = 0;
        for (size_t i = 0; i < w.blocks; i++) {
            bip::message_queue::size_type n = 0;
            unsigned priority = 0;
            queue->receive(buffer.data(), w.block, n, priority);
            sum(buffer.data(), n, total);
        }
        return total;
    }

  private:
    std::string name;
    std::unique_ptr<bip::message_queue> queue;
};
#endif

#ifdef HAVE_ZMQ
class ZeroMq : public Transport {
  public:
    ZeroMq() : address("ipc:///tmp/asf-bench-" + std::to_string(getpid())) {}
    ~ZeroMq() override { unlink(address.c_str() + 6); }
    void write(const Work &w) override {
        void *context = zmq_ctx_new(), *s = zmq_socket(context, ZMQ_PUSH);
        if (zmq_connect(s, address.c_str()) != 0)
            stop("zmq_connect");
        std::vector<char> buffer(w.block);
        uint64_t next = 0;
        for (size_t i = 0; i < w.blocks; i++) {
            fill(buffer.data(), w.block, next);
            if (zmq_send(s, buffer.data(), w.block, 0) < 0)
                stop("zmq_send");
        }
        zmq_close(s);
        zmq_ctx_term(context);
    }
    uint64_t read(const Work &w) override {
        void *context = zmq_ctx_new(), *s = zmq_socket(context, ZMQ_PULL);
        if (zmq_bind(s, address.c_str()) != 0)
            stop("zmq_bind");
        uint64_t total = 0;
        for (size_t i = 0; i < w.blocks; i++) {
            zmq_msg_t m;
            zmq_msg_init(&m);
            if (zmq_msg_recv(&m, s, 0) < 0)
                stop("zmq_msg_recv");
            sum(static_cast<char *>(zmq_msg_data(&m)), zmq_msg_size(&m), total);
            zmq_msg_close(&m);
        }
        zmq_close(s);
        zmq_ctx_term(context);
        return total;
    }

  private:
    std::string address;
};
#endif

struct Kind {
    const char *name;
    std::function<std::unique_ptr<Transport>(const Work &)> make;
};

const std::vector<Kind> &kinds() {
    static const std::vector<Kind> all = {
        {"ring, nothing copied", [](const Work &) { return std::make_unique<Ring>(false); }},
        {"ring, copied in and out", [](const Work &) { return std::make_unique<Ring>(true); }},
        {"pipe of 1 MB", [](const Work &) { return std::make_unique<Pipe>(1 << 20); }},
        {"pipe of 64 KB", [](const Work &) { return std::make_unique<Pipe>(64 << 10); }},
#ifdef HAVE_BOOST
        {"Boost message_queue", [](const Work &w) { return std::make_unique<Boost>(w); }},
#endif
#ifdef HAVE_ZMQ
        {"ZeroMQ ipc", [](const Work &) { return std::make_unique<ZeroMq>(); }},
#endif
    };
    return all;
}

void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<unsigned>(cpu), &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        stop("sched_setaffinity");
}

double now() {
    return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

// Returns GB/s, from before the start of the two processes until both have ended, by one clock.
double run(const Kind &kind, const Work &w, int writer_cpu, int reader_cpu) {
    void *memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t *total = static_cast<uint64_t *>(memory);
    const std::unique_ptr<Transport> t = kind.make(w);
    const auto child = [](int cpu, const std::function<void()> &body) {
        const pid_t pid = fork();
        if (pid == 0) {
            pin(cpu);
            body();
            _exit(0);
        }
        return pid;
    };
    const double start = now();
    const pid_t reader = child(reader_cpu, [&] { *total = t->read(w); });
    const pid_t writer = child(writer_cpu, [&] { t->write(w); });
    for (const pid_t pid : {reader, writer}) {
        int status = 0;
        if (waitpid(pid, &status, 0) != pid || status != 0)
            stop(std::string(kind.name) + " failed");
    }
    const double seconds = now() - start;
    const uint64_t words = w.block * w.blocks / 8;
    if (*total != words * (words - 1) / 2)
        stop(std::string(kind.name) + ": a wrong byte");
    munmap(memory, 4096);
    return static_cast<double>(w.block * w.blocks) / seconds / 1e9;
}

} // namespace

// ring_bench: prints the transports.  ring_bench TRANSPORT BLOCK-KB one|two MB: prints the GB/s of one
// transfer on one or two processors.
int main(int argc, char **argv) {
    if (argc == 1) {
        for (const Kind &kind : kinds())
            puts(kind.name);
        return 0;
    }
    if (argc != 5)
        stop("usage: ring_bench [TRANSPORT BLOCK-KB one|two MB]");
    const size_t block = strtoul(argv[2], nullptr, 10) << 10, bytes = strtoul(argv[4], nullptr, 10) << 20;
    for (const Kind &kind : kinds()) {
        if (kind.name == std::string(argv[1])) {
            printf("%g\n", run(kind, {block, bytes / block}, 0, argv[3] == std::string("two") ? 1 : 0));
            return 0;
        }
    }
    stop(std::string(argv[1]) + ": no such transport");
}
