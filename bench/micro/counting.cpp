/* SPDX-License-Identifier: MIT
 *
 * counting.cpp - instructions and branches by perf_event_open(2).
 */
#include "counting.h"

#include <cstdint>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

// The first counter of a group is disabled and has no leader; enabling it enables all.
int open_counter(uint64_t event, int leader) {
    perf_event_attr attributes = {};
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.config = event;
    attributes.disabled = leader < 0;
    attributes.exclude_kernel = attributes.exclude_hv = 1;
    attributes.read_format = PERF_FORMAT_GROUP;
    return static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, leader, PERF_FLAG_FD_CLOEXEC));
}

struct counters {
    int instructions = open_counter(PERF_COUNT_HW_INSTRUCTIONS, -1);
    int branches = instructions < 0 ? -1 : open_counter(PERF_COUNT_HW_BRANCH_INSTRUCTIONS, instructions);
    bool there() const { return branches >= 0; }
};

} // namespace

void count_instructions(benchmark::State &state, const std::function<void()> &work) {
    static const counters group; // of the thread that runs all single-threaded benchmarks
    if (!group.there() || state.threads() > 1)
        return work();
    ioctl(group.instructions, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
    ioctl(group.instructions, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
    work();
    ioctl(group.instructions, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
    struct {
        uint64_t count, instructions, branches;
    } found;
    if (read(group.instructions, &found, sizeof found) != static_cast<ssize_t>(sizeof found))
        return;
    const auto iterations = static_cast<double>(state.iterations());
    state.counters["instructions"] = static_cast<double>(found.instructions) / iterations;
    state.counters["branches"] = static_cast<double>(found.branches) / iterations;
}
