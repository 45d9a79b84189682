/* SPDX-License-Identifier: MIT
 *
 * report.c - a stream's line of the statistics.
 * Layer: backplane.  May include: backplane, lib, include/asf.
 */
#define _GNU_SOURCE
#include "backplane/report.h"

#include <stdlib.h>
#include <string.h>

#include "lib/sys/options.h"
#include "lib/text/format_digits.h"

void asf__set_name(struct asf_cios *c, const char *name) {
    if (asf__counting || asf__options()->verbose) {
        free(c->name);
        c->name = strdup(name);
    }
}

void asf__tell_bulk(const struct asf_cios *c) {
    if (asf__options()->verbose)
        asf__stats_verbose(c->name ? c->name : "stream", c->ops->name, "bulk from here on");
}

void asf__report(struct asf_cios *c) {
    char fd[32] = "memory";
    uint64_t told = c->stats.in + c->stats.out + 1;
    if (!asf__counting || (!c->stats.calls && !c->stats.syscalls) || c->stats.told == told)
        return;
    c->stats.told = told;
    if (c->fd >= 0) {
        char *end = fd + 3 + asf__count_digits((uint64_t)c->fd);
        memcpy(fd, "fd ", 3);
        asf__write_digits(end, (uint64_t)c->fd);
        *end = '\0';
    }
    asf__stats_line(&(struct asf_stats_line){
        .stream = c->name ? c->name : fd, .module = c->ops->name, .why = c->why, .stats = &c->stats});
}
