// SPDX-License-Identifier: MIT
//
// fault_loops_shm_test.cpp - segments, rings and locks with failing calls: no segment is leaked, and no other
// process waits for ever.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/faults/fault_loops.h"
#include "tests/interfaces/shm/shm_test.h"

#include <asf/ring.h>
#include <asf/shm.h>

namespace faults {
namespace {

// Makes a /proc with this test's processes only: searching all processes of a machine takes long.
struct Apart : testing::Environment {
    void SetUp() override {
        if (!shm::Isolated::enter() || unshare(CLONE_NEWPID) != 0)
            return;
        const pid_t inner = fork();
        if (inner > 0) {
            int status = 0;
            waitpid(inner, &status, 0);
            _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
        }
        mount("proc", "/proc", "proc", 0, nullptr);
    }
};
testing::Environment *const apart = testing::AddGlobalTestEnvironment(new Apart);

// --- segments --------------------------------------------------------------------------------

std::set<std::string> known; // the labels that a scenario was given, and has not removed

void tell_errno(Outcome &o) {
    EXPECT_NE(errno, 0);
    o.told(-errno);
}

char *create(const char *backend, size_t bytes, Outcome &o) {
    errno = 0;
    char *shm = asf_shm_create_on(backend, "made", 0600, bytes);
    if (shm)
        known.insert(shm::label_of(shm));
    else
        tell_errno(o);
    return shm;
}

void close_segment(char *shm, Outcome &o) {
    if (asf_shm_close(shm) != 0)
        tell_errno(o);
}

void remove_segment(const std::string &label, Outcome &o) {
    int rc = asf_shm_remove(label.c_str());
    if (rc == 0)
        known.erase(label);
    o.told(rc);
}

void remove_known() {
    if (shm::Isolated::isolated) {
        for (const shm::Seen &s : shm::all())
            EXPECT_EQ(known.count(s.label), 1U) << s.label << " is there, and nobody was told";
    }
    for (const std::string &label : known) {
        int rc = asf_shm_remove(label.c_str());
        EXPECT_TRUE(rc == 0 || rc == -ENOENT) << label << ": " << asf_shm_why();
    }
    known.clear();
}

// Fills a segment, and attaches it a second time by its label.
Outcome makes_a_segment(const char *backend) {
    Outcome o;
    char *shm = create(backend, content.size(), o);
    if (!shm)
        return o;
    std::string label = shm::label_of(shm);
    memcpy(shm + ASF_SHM_HEAD, content.data(), content.size());
    errno = 0;
    if (char *again = asf_shm_open(label.c_str())) {
        o.text.assign(again + ASF_SHM_HEAD, asf_shm_size(again));
        close_segment(again, o);
    } else {
        tell_errno(o);
    }
    remove_segment(label, o);
    close_segment(shm, o);
    return o;
}

Outcome streams_a_segment(const char *backend) {
    Outcome o;
    int error = 0;
    char *shm = create(backend, content.size(), o);
    std::string label = shm ? shm::label_of(shm) : "";
    asf_cios *out = shm ? asf_shm_sopen(label.c_str(), O_WRONLY, &error) : nullptr;
    for (size_t at = 0; out && at < content.size() && o.error == 0; at += 10000)
        put(out, content.data() + at, std::min<size_t>(10000, content.size() - at), o);
    if (out)
        close_stream(out, o);
    o.told(error);
    asf_cios *in = out ? asf_shm_sopen(label.c_str(), O_RDONLY, &error) : nullptr;
    o.told(error);
    if (in) {
        read_to_end(in, 7000, o);
        close_stream(in, o);
    }
    if (shm) {
        remove_segment(label, o);
        close_segment(shm, o);
    }
    return o;
}

Outcome passes_a_descriptor(const char *backend) {
    Outcome o;
    char *shm = create(backend, content.size(), o);
    if (!shm)
        return o;
    std::string label = shm::label_of(shm);
    memcpy(shm + ASF_SHM_HEAD, content.data(), content.size());
    int fd = asf_shm_fd(label.c_str(), O_RDWR);
    o.told(fd);
    errno = 0;
    char *again = fd < 0 ? nullptr : asf_shm_open_fd(fd, O_RDWR);
    if (again) {
        o.text.assign(again + ASF_SHM_HEAD, asf_shm_size(again));
        close_segment(again, o);
    } else if (fd >= 0) {
        tell_errno(o);
    }
    if (fd >= 0)
        close(fd);
    remove_segment(label, o);
    close_segment(shm, o);
    return o;
}

// Lists all segments, each with the processes that have it attached.
Outcome lists_segments() {
    Outcome o;
    size_t found = 0;
    for (const char *backend : {"posix", "sysv", "memfd"})
        if (char *shm = create(backend, 100, o); shm && strcmp(backend, "memfd") != 0)
            close_segment(shm, o);
    auto count = [](const asf_shm_info *info, void *arg) {
        bool users = info->attached == (strcmp(info->backend, "memfd") == 0);
        bool whole = info->state == ASF_SHM_WHOLE && known.count(info->label) == 1;
        *static_cast<size_t *>(arg) += users && (whole || info->state == ASF_SHM_UNREADABLE);
        return 0;
    };
    o.told(asf_shm_each(count, &found));
    if (found == 3)
        o.text = content;
    std::set<std::string> labels = known;
    for (const std::string &label : labels)
        remove_segment(label, o);
    return o;
}

// --- rings -----------------------------------------------------------------------------------

asf_cios *open_end(int ring, int flags, Outcome &o) {
    int error = 0;
    asf_cios *s = asf_ring_sopen_fd(ring, flags, &error);
    EXPECT_EQ(s != nullptr, error == 0);
    o.told(error);
    return s;
}

// Both ends in one process, which never waits: writes a chunk, and reads it.
void through_both_ends(asf_cios *out, asf_cios *in, Outcome &o) {
    for (size_t at = 0; in && out && at < content.size() && o.error == 0; at += 3000) {
        put(out, content.data() + at, std::min<size_t>(3000, content.size() - at), o);
        o.told(asf_sflush(out));
        for (ssize_t left = (ssize_t)std::min<size_t>(3000, content.size() - at); left > 0 && o.error == 0;) {
            ssize_t n = left;
            auto *p = static_cast<char *>(asf_salloc(in, &n));
            o.told(p ? 0 : n ? n : -EPIPE);
            if (!p)
                break;
            o.text.append(p, (size_t)n);
            o.told(asf_sfree(in, p));
            left -= n;
        }
    }
    if (out)
        close_stream(out, o);
    if (in)
        close_stream(in, o);
}

Outcome through_a_ring() {
    Outcome o;
    int ring = asf_ring_create(8192);
    o.told(ring);
    asf_cios *out = ring < 0 ? nullptr : open_end(ring, O_WRONLY, o);
    asf_cios *in = out ? open_end(ring, O_RDONLY, o) : nullptr;
    through_both_ends(out, in, o);
    if (ring >= 0)
        close(ring);
    return o;
}

Outcome through_a_named_ring() {
    Outcome o;
    char label[ASF_RING_LABEL];
    int rc = asf_ring_create_named("ring", 0600, 8192, label), error = 0;
    o.told(rc);
    if (rc < 0)
        return o;
    known.insert(label);
    asf_cios *out = asf_ring_sopen(label, O_WRONLY, &error);
    o.told(error);
    asf_cios *in = out ? asf_ring_sopen(label, O_RDONLY, &error) : nullptr;
    o.told(error);
    through_both_ends(out, in, o);
    remove_segment(label, o);
    return o;
}

// Each end is a process; the two wait for each other, and calls fail in both.  If the reader keeps a region
// while the ring wraps, it must map the data again.
Outcome between_processes(bool keeps) {
    Outcome o;
    int ring = asf_ring_create(65536);
    o.told(ring);
    if (ring < 0)
        return o;
    int attached[2]; // the reader would wait for a writer that never attached
    char byte;
    EXPECT_EQ(pipe(attached), 0);
    pid_t writer = fork();
    if (writer == 0) {
        alarm(20);
        Outcome w;
        asf_cios *s = open_end(ring, O_WRONLY, w);
        bool told = s && write(attached[1], "", 1) == 1;
        close(attached[1]);
        EXPECT_EQ(told, s != nullptr);
        for (size_t at = 0; s && at < content.size() && w.error == 0; at += 9000)
            put(s, content.data() + at, std::min<size_t>(9000, content.size() - at), w);
        if (s && w.error == 0)
            close_stream(s, w);
        end_faults(); // gcov needs memory
        _exit(w.error != 0);
    }
    asf_cios *in = open_end(ring, O_RDONLY, o);
    close(attached[1]);
    const bool both = in && read(attached[0], &byte, 1) == 1;
    if (both) {
        ssize_t n = 5000;
        auto *kept = static_cast<char *>(keeps ? asf_salloc(in, &n) : nullptr);
        o.text.assign(kept ? kept : "", kept ? (size_t)n : 0);
        read_to_end(in, 5000, o);
        EXPECT_TRUE(!kept || o.text.compare(0, (size_t)n, kept, (size_t)n) == 0);
        if (kept)
            o.told(asf_sfree(in, kept));
    } else {
        kill(writer, SIGKILL); // the writer would wait for a reader
    }
    if (in)
        close_stream(in, o);
    close(attached[0]);
    int status = 0;
    waitpid(writer, &status, 0);
    EXPECT_TRUE(!WIFSIGNALED(status) || WTERMSIG(status) == SIGPIPE || (!both && WTERMSIG(status) == SIGKILL))
        << "the writer: " << strsignal(WTERMSIG(status));
    o.told(status == 0 ? 0 : -ECHILD);
    close(ring);
    return o;
}

// --- the lock ----------------------------------------------------------------------------------

struct Counted {
    asf_shm_lock lock;
    int count; // guarded by the lock
};

// Returns whether all calls succeeded.
bool count_up(Counted *c, int rounds) {
    for (int i = 0; i < rounds; i++) {
        if (asf_shm_obtain(&c->lock) != 0)
            return false;
        int n = c->count;
        sched_yield();
        c->count = n + 1;
        if (asf_shm_release(&c->lock) != 0)
            return false;
    }
    return true;
}

Outcome locks() {
    constexpr int workers = 2, rounds = 3;
    Outcome o;
    auto *c = static_cast<Counted *>(
        ::mmap(nullptr, sizeof(Counted), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    if (c == MAP_FAILED) {
        o.told(-errno);
        return o;
    }
    o.told(asf_shm_lock_init(&c->lock));
    pid_t pids[workers];
    for (pid_t &pid : pids) {
        pid = fork();
        if (pid == 0) {
            alarm(20);
            const bool well = !o.error && count_up(c, rounds);
            end_faults();
            _exit(!well);
        }
    }
    for (pid_t pid : pids) {
        int status = 0;
        waitpid(pid, &status, 0);
        EXPECT_TRUE(WIFEXITED(status)) << strsignal(WTERMSIG(status));
        o.told(status == 0 ? 0 : -ECHILD);
    }
    if (c->count == workers * rounds)
        o.text = content;
    munmap(c, sizeof *c);
    return o;
}

// More locks than a thread's table has room for at first.
Outcome holds_many_locks() {
    constexpr size_t many = 40;
    static asf_shm_lock all[many];
    Outcome o;
    size_t held = 0;
    for (asf_shm_lock &lock : all)
        o.told(asf_shm_lock_init(&lock));
    while (held < many && o.error == 0) {
        int rc = asf_shm_obtain(&all[held]);
        held += rc == 0;
        o.told(rc);
    }
    for (size_t i = 0; i < held; i++)
        o.told(asf_shm_release(&all[i]));
    if (held == many)
        o.text = content;
    return o;
}

const Scenario scenarios[] = {
    {"posix", [] { return makes_a_segment("posix"); }, true, remove_known},
    {"sysv", [] { return makes_a_segment("sysv"); }, true, remove_known},
    {"memfd", [] { return makes_a_segment("memfd"); }, true, remove_known},
    {"streams_posix", [] { return streams_a_segment("posix"); }, false, remove_known},
    {"streams_sysv", [] { return streams_a_segment("sysv"); }, false, remove_known},
    {"passes_posix", [] { return passes_a_descriptor("posix"); }, true, remove_known},
    {"passes_memfd", [] { return passes_a_descriptor("memfd"); }, true, remove_known},
    {"through_a_ring", through_a_ring, true},
    {"through_a_named_ring", through_a_named_ring, true, remove_known},
    {"between_processes", [] { return between_processes(false); }, true},
    {"keeps_a_region", [] { return between_processes(true); }, true},
    {"locks", locks, false},
    {"holds_many_locks", holds_many_locks, false},
    {"lists", lists_segments, false, remove_known, nullptr, {ENOENT, EACCES}},
};

INSTANTIATE_TEST_SUITE_P(Shm, FaultLoops, testing::ValuesIn(scenarios), name_of);

} // namespace
} // namespace faults
