/* SPDX-License-Identifier: MIT
 *
 * command_report.c - the report of "asf stat", as text and JSON: one block for each process.
 */
#define _GNU_SOURCE
#include "interfaces/command/command_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "interfaces/command/command_child.h"
#include "interfaces/command/command_json.h"

struct digits asf__digits(int64_t n) {
    struct digits d = {"-"}, plain;
    if (n < 0)
        return d;
    int length = snprintf(plain.text, sizeof plain.text, "%" PRId64, n), to = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            d.text[to++] = ',';
        d.text[to++] = plain.text[i];
    }
    d.text[to] = '\0';
    return d;
}

static bool is_same_process(const struct stream_report *a, const struct stream_report *b) {
    return a->process == b->process && !strcmp(a->program, b->program);
}

/* Returns whether the i-th stream is the first of its process. */
static bool starts_process(const struct report *r, size_t i) {
    for (size_t k = 0; k < i; k++)
        if (is_same_process(&r->streams[k], &r->streams[i]))
            return false;
    return true;
}

/* The total's `libc` is -1 if that of any stream is -1. */
static struct stream_report total_of(const struct report *r, const struct stream_report *of, size_t *count) {
    struct stream_report t = {.name = "total", .module = "", .why = ""};
    *count = 0;
    for (size_t i = 0; i < r->count; i++) {
        const struct stream_report *s = &r->streams[i];
        if (!is_same_process(s, of))
            continue;
        t.in += s->in, t.out += s->out, t.calls += s->calls, t.free += s->free, t.syscalls += s->syscalls;
        t.libc = s->libc < 0 || t.libc < 0 ? -1 : t.libc + s->libc;
        ++*count;
    }
    return t;
}

/* --- for people ---------------------------------------------------------------------------- */

/* Returns the kind of the stream's file and, for Unix I/O, what serves it: "regular file, by a window". */
static const char *served_by(const struct stream_report *s) {
    const char *kind = !strcmp(s->why, "the null device") ? "null device" : s->why;
    const char *comma = strchr(kind, ',');
    const char *text = asf__text("%.*s", (int)(comma ? comma - kind : (long)strlen(kind)), kind);
    return !strcmp(s->module, "kernel")   ? asf__text("%s, by the program itself", text)
           : !strcmp(s->module, "window") ? asf__text("%s, by a window", text)
                                          : text;
}

static void print_stream_row(FILE *to, const struct stream_report *s) {
    enum { WIDTH = 22 };
    const char *name = s->name, *slash = strrchr(name, '/');
    if (strlen(name) > WIDTH && slash)
        name = asf__text("...%s", slash);
    fprintf(to, "asf:   %-*s %13s %13s %11s %11s %11s %11s%s\n", WIDTH, name,
            asf__digits((int64_t)s->in).text, asf__digits((int64_t)s->out).text,
            asf__digits((int64_t)s->calls).text, asf__digits((int64_t)s->free).text,
            asf__digits((int64_t)s->syscalls).text, asf__digits(s->libc).text,
            s->why[0] ? asf__text("  %s", served_by(s)) : "");
}

static void print_process(FILE *to, const struct report *r, const struct stream_report *first) {
    size_t count;
    const struct stream_report total = total_of(r, first, &count);
    fprintf(to, "asf: %s[%ld]\nasf:   %-22s %13s %13s %11s %11s %11s %11s  %s\n", first->program,
            first->process, "stream", "bytes in", "bytes out", "calls", "no kernel", "syscalls", "libc's",
            "what it is");
    for (size_t i = 0; i < r->count; i++)
        if (is_same_process(&r->streams[i], first))
            print_stream_row(to, &r->streams[i]);
    if (count > 1)
        print_stream_row(to, &total);
    fprintf(to, "asf:   %s of %s calls needed no system call; %s system calls",
            asf__digits((int64_t)total.free).text, asf__digits((int64_t)total.calls).text,
            asf__digits((int64_t)total.syscalls).text);
    if (total.libc >= 0)
        fprintf(to, ", libc makes %s", asf__digits(total.libc).text);
    fputc('\n', to);
}

void asf__report_print(const struct report *r, FILE *to) {
    for (size_t i = 0; i < r->count; i++)
        if (starts_process(r, i))
            print_process(to, r, &r->streams[i]);
    if (r->status)
        fprintf(to, "asf: %s fails: %s\n", r->command, asf__status_text(r->status));
    fprintf(to, "asf: %s\n", asf__advice(r));
}

/* --- for programs ---------------------------------------------------------------------------- */

static void print_counts(FILE *to, const struct stream_report *s) {
    fprintf(to,
            "\"bytes_in\": %" PRIu64 ", \"bytes_out\": %" PRIu64 ", \"calls\": %" PRIu64
            ", \"calls_without_kernel\": %" PRIu64 ", \"system_calls\": %" PRIu64
            ", \"system_calls_of_libc\": ",
            s->in, s->out, s->calls, s->free, s->syscalls);
    s->libc < 0 ? fputs("null", to) : fprintf(to, "%" PRId64, s->libc);
}

static void print_stream_object(FILE *to, const struct stream_report *s) {
    fputs("{\"stream\": ", to);
    asf__print_json(to, s->name);
    fputs(", \"module\": ", to);
    asf__print_json(to, s->module);
    fputs(", \"why\": ", to);
    asf__print_json(to, s->why);
    fputs(", ", to);
    print_counts(to, s);
    fputc('}', to);
}

static void print_process_object(FILE *to, const struct report *r, const struct stream_report *first) {
    size_t count, printed = 0;
    const struct stream_report total = total_of(r, first, &count);
    fputs("{\"program\": ", to);
    asf__print_json(to, first->program);
    fprintf(to, ", \"process\": %ld,\n  \"streams\": [", first->process);
    for (size_t i = 0; i < r->count; i++)
        if (is_same_process(&r->streams[i], first)) {
            fputs(printed++ ? ",\n   " : "\n   ", to);
            print_stream_object(to, &r->streams[i]);
        }
    fputs("],\n  \"total\": {", to);
    print_counts(to, &total);
    fputs("}}", to);
}

void asf__report_json(const struct report *r, FILE *to) {
    size_t printed = 0;
    fputs("{\"processes\": [", to);
    for (size_t i = 0; i < r->count; i++)
        if (starts_process(r, i)) {
            fputs(printed++ ? ",\n " : "\n ", to);
            print_process_object(to, r, &r->streams[i]);
        }
    fprintf(to, "],\n \"status\": %d,\n \"advice\": ", asf__exit_status(r->status));
    asf__print_json(to, asf__advice(r));
    fputs("}\n", to);
}
