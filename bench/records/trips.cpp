// SPDX-License-Identifier: MIT
//
// trips.cpp - round trips between two processes on one processor: over a Unix socket, and over rings in
// shared memory.  MPICH's two processes, started by mpiexec, poll, each on its own processor.
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <asf/ring.h>

#include "ours.h"
#include "tables.h"

namespace {

volatile double sink;
constexpr double SECONDS = 0.03;

// The ends of a round trip: `way` moves the record, and `receive` reads it into a struct or in place.
struct Ends {
    Way &way;
    const std::function<double(const void *, size_t)> &receive;
    double expected;
};

void check(const Ends &e, double sum) {
    if (std::fabs(sum - e.expected) > 1e-3)
        give_up(e.way.name.c_str());
}

size_t bytes_of(const Pieces &pieces) {
    size_t n = 0;
    for (const iovec &p : pieces)
        n += p.iov_len;
    return n;
}

// The child answers until it is killed; the parent asks.
double between(const std::function<void()> &ask, const std::function<void()> &answer,
               const std::function<void(bool child)> &take_end, const std::function<void()> &stop) {
    fflush(nullptr);
    const pid_t child = fork();
    if (child == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    take_end(child == 0);
    while (child == 0)
        answer();
    const double ns = measure(ask, SECONDS);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    stop();
    return ns;
}

// --- sockets ----------------------------------------------------------------------------

void use_one_processor(bool one) {
    static cpu_set_t all;
    static const int kept = sched_getaffinity(0, sizeof all, &all);
    cpu_set_t first;
    CPU_ZERO(&first);
    for (int i = 0; kept == 0 && i < CPU_SETSIZE && CPU_COUNT(&first) == 0; i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &first);
    sched_setaffinity(0, sizeof all, one ? &first : &all);
}

bool send(int fd, const Pieces &pieces, size_t n) {
    msghdr message = {};
    message.msg_iov = const_cast<iovec *>(pieces.data());
    message.msg_iovlen = pieces.size();
    return sendmsg(fd, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(n);
}

bool receive(int fd, void *to, size_t n) {
    return recv(fd, to, n, MSG_WAITALL) == static_cast<ssize_t>(n);
}

// Makes the socket's buffer large enough for one call to send any message; returns whether it is.
bool make_room(int fd, size_t n) {
    const int wanted = static_cast<int>(2 * n + 200000);
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &wanted, sizeof wanted) != 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &wanted, sizeof wanted);
    int got = 0;
    socklen_t length = sizeof got;
    return getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &got, &length) == 0 && static_cast<size_t>(got) > n + n / 2;
}

double over_socket(const Ends &e, int type) {
    int fds[2];
    const size_t n = bytes_of(e.way.send());
    Memory in(n);
    if (socketpair(AF_UNIX, type, 0, fds) != 0)
        return -1;
    double ns = -1;
    if (make_room(fds[0], n) && make_room(fds[1], n)) {
        int fd = -1;
        use_one_processor(true);
        ns = between(
            [&] {
                if (!send(fd, e.way.send(), n) || !receive(fd, in.start(), n))
                    give_up("socket");
                check(e, e.receive(in.start(), n));
            },
            [&] {
                if (receive(fd, in.start(), n))
                    sink = e.receive(in.start(), n);
                send(fd, e.way.send(), n);
            },
            [&](bool child) {
                fd = fds[child];
                close(fds[!child]);
            },
            [&] { close(fd); });
        use_one_processor(false);
    }
    return ns;
}

// --- rings --------------------------------------------------------------------------------

// A way without stream functions copies its message into one region, and reads it in one.
void put(const Way &way, asf_cios *out) {
    if (way.put)
        return way.put(out);
    const Pieces &pieces = way.send();
    ssize_t n = static_cast<ssize_t>((bytes_of(pieces) + 63) / 64 * 64);
    char *region = static_cast<char *>(asf_salloc(out, &n)), *at = region;
    for (const iovec &p : pieces)
        at = static_cast<char *>(memcpy(at, p.iov_base, p.iov_len)) + p.iov_len;
    asf_sfree(out, region);
    asf_sflush(out);
}

double get(const Ends &e, asf_cios *in, size_t n) {
    if (e.way.put)
        return e.way.get(in);
    ssize_t length = static_cast<ssize_t>((n + 63) / 64 * 64);
    void *region = asf_salloc(in, &length);
    if (!region)
        give_up("ring");
    const double sum = e.receive(region, n);
    asf_sfree(in, region);
    return sum;
}

double over_ring(const Ends &e) {
    const int there = asf_ring_create(4 << 20), back = asf_ring_create(4 << 20);
    const size_t n = bytes_of(e.way.send());
    if (there < 0 || back < 0)
        give_up("ring");
    asf_cios *in = nullptr, *out = nullptr;
    use_one_processor(true);
    const double ns = between(
        [&] {
            put(e.way, out);
            check(e, get(e, in, n));
        },
        [&] {
            sink = get(e, in, n);
            put(e.way, out);
        },
        [&](bool child) {
            in = asf_ring_sopen_fd(child ? there : back, O_RDONLY, nullptr);
            out = asf_ring_sopen_fd(child ? back : there, O_WRONLY, nullptr);
        },
        [&] {
            if (e.way.leave)
                e.way.leave();
            asf_sclose(in);
            asf_sclose(out);
        });
    use_one_processor(false);
    close(there);
    close(back);
    return ns;
}

// --- tables ---------------------------------------------------------------------------------

std::string both(const std::string &send, const std::string &receive) {
    return (send.empty() ? "as it is" : send) + "; " + (receive.empty() ? "not looked at" : receive);
}

void add_rows(std::vector<Way> &all, double (*trip)(const Ends &), bool rings = false) {
    for (Way &w : all) {
        const auto run = [&](const std::function<double(const void *, size_t)> &receive) {
            return [&w, &receive, trip](size_t size) {
                const Head head = make_head(items_of(size));
                w.prepare(head);
                return trip({w, receive, sum_of(&head, head.items)});
            };
        };
        if (w.look)
            add_row(w.name + ", where it lies", run(w.look),
                    both(rings ? w.moves.encode : w.moves.send, w.moves.view));
        if (w.receive && !(w.put && rings))
            add_row(w.name, run(w.receive), both(rings ? w.moves.encode : w.moves.send, w.moves.decode));
    }
}

// Measured by MPICH itself, between two processes of mpiexec.
void mpich_row() {
    char self[4096] = {};
    std::vector<double> found;
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        return;
    const std::string command = std::string("mpiexec -n 2 '") + self + "' --mpi 2>/dev/null";
    FILE *p = popen(command.c_str(), "r");
    for (double ns; p && fscanf(p, "%lf", &ns) == 1;)
        found.push_back(ns);
    if (p)
        pclose(p);
    if (found.size() != sizes.size()) {
        fprintf(stderr, "records: MPICH by mpiexec is left out: mpich or libmpich-dev is not installed\n");
        return;
    }
    std::map<size_t, double> by_size;
    for (size_t i = 0; i < sizes.size(); i++)
        by_size[sizes[i]] = found[i];
    add_row(
        "MPICH by mpiexec, two processors that poll", [by_size](size_t size) { return by_size.at(size); },
        "struct to shared memory, to struct");
}

} // namespace

void trip_tables(std::vector<Way> &all) {
    if (begin_table("Round trip over a Unix socket, packets (Figure 11, Table 1)")) {
        add_rows(all, [](const Ends &e) { return over_socket(e, SOCK_SEQPACKET); });
        end_table();
    }
    if (begin_table("Round trip over a Unix socket, a stream (Figure 11, Table 1)")) {
        add_rows(all, [](const Ends &e) { return over_socket(e, SOCK_STREAM); });
        end_table();
    }
    if (begin_table("Round trip over rings in shared memory")) {
        add_rows(all, over_ring, true);
        mpich_row();
        end_table();
    }
}
