/* SPDX-License-Identifier: MIT
 *
 * command_load.c - reads the machine's load from /proc, and the processor's instruction counter.
 */
#define _GNU_SOURCE
#include "interfaces/command/command_load.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interfaces/command/command.h"
#include "interfaces/command/command_measure.h"

/* Limits that an idle machine stays below: seconds waited per second, and preemptions per second. */
static const double max_wait_share = 0.05, max_preemption_rate = 20;

/* The file's line: "some avg10=1.50 avg60=0.80 avg300=0.20 total=12345678", in percent and microseconds. */
static bool read_pressure(struct load *load) {
    unsigned long long total;
    FILE *file = fopen("/proc/pressure/cpu", "re");
    bool ok =
        file && fscanf(file, "some avg10=%lf avg60=%*f avg300=%*f total=%llu", &load->recent, &total) == 2;
    if (file)
        fclose(file);
    if (!ok)
        return false;
    load->recent /= 100;
    load->waiting = 1e-6 * (double)total;
    return true;
}

static void read_average(struct load *load) {
    FILE *file = fopen("/proc/loadavg", "re");
    if (!file || fscanf(file, "%lf", &load->recent) != 1)
        load->recent = 0;
    if (file)
        fclose(file);
    load->recent /= (double)sysconf(_SC_NPROCESSORS_ONLN);
}

struct load asf__load(void) {
    struct load load = {.time = asf__seconds(), .waiting = -1};
    if (!read_pressure(&load))
        read_average(&load);
    return load;
}

bool asf__is_busy(const struct load *load) {
    return load->recent > (load->waiting < 0 ? 1 : max_wait_share);
}

const char *asf__disturbance(const struct load *since, long preempted) {
    const struct load now = asf__load();
    const double took = now.time - since->time;
    const double waited = (now.waiting - since->waiting) / took;
    const char *words = "";
    if (now.waiting < 0 && asf__is_busy(&now))
        words = asf__text("%.1f processes ran per processor", now.recent);
    else if (now.waiting >= 0 && waited > max_wait_share)
        words = asf__text("processes waited for a processor %.0f %% of the time", 100 * waited);
    if ((double)preempted > max_preemption_rate * took)
        words = asf__join_list(words, ',',
                               asf__text("%sthe runs were preempted %.0f times per second",
                                         words[0] ? " " : "", (double)preempted / took));
    return words[0] ? words : NULL;
}

int asf__count_instructions(void) {
    struct perf_event_attr counter = {.size = sizeof counter,
                                      .type = PERF_TYPE_HARDWARE,
                                      .config = PERF_COUNT_HW_INSTRUCTIONS,
                                      .disabled = 1,
                                      .inherit = 1,
                                      .enable_on_exec = 1,
                                      .exclude_kernel = 1,
                                      .exclude_hv = 1};
    return (int)syscall(SYS_perf_event_open, &counter, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

uint64_t asf__instructions(int counter) {
    uint64_t count = 0;
    FILE *file = counter < 0 ? NULL : fdopen(counter, "r");
    if (file && fread(&count, sizeof count, 1, file) != 1)
        count = 0;
    if (file)
        fclose(file);
    return count;
}
