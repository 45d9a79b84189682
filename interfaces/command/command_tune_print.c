/* SPDX-License-Identifier: MIT
 *
 * command_tune_print.c - prints the table of "asf tune", as text or as JSON.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <string.h>

#include "interfaces/command/command.h"
#include "interfaces/command/command_json.h"
#include "interfaces/command/command_tune.h"

struct size_words {
    char text[24];
};

static struct size_words size_text(size_t n) {
    struct size_words w;
    bool megabytes = n % (1 << 20) == 0 && n;
    snprintf(w.text, sizeof w.text, "%zu %s", megabytes ? n >> 20 : n >> 10, megabytes ? "MB" : "KB");
    return w;
}

/* --- for people ------------------------------------------------------------------ */

static void print_rate_row(const struct table *t, const struct measurement *row, bool pipes) {
    printf("  %-18s %8s", row->method, size_text(row->size).text);
    for (size_t i = 0; i < t->count; i++) {
        if ((t->targets[i].type == 0) != pipes)
            continue;
        double rate = asf__rate(&t->targets[i], row->method, row->size);
        rate > 0 ? printf(" %9.2f", rate / 1e9) : printf(" %9s", "-");
    }
    putchar('\n');
}

static void print_rates(const struct table *t, bool pipes) {
    printf("\n  %-27s", "GB/s in blocks of");
    const struct target *first = NULL;
    for (size_t i = 0; i < t->count; i++)
        if ((t->targets[i].type == 0) == pipes) {
            printf(" %9s", t->targets[i].name);
            first = first ? first : &t->targets[i];
        }
    putchar('\n');
    for (size_t i = 0; first && i < first->count; i++)
        print_rate_row(t, &first->measurements[i], pipes);
}

static void print_choices(const struct table *t) {
    const struct asf_costs *c = &t->costs;
    puts("\nResulting settings:");
    for (size_t i = 0; i < t->count; i++) {
        const struct target *p = &t->targets[i];
        if (p->type == 0)
            continue;
        const struct asf_fs_costs *fs = NULL;
        for (size_t k = 0; k < c->count; k++)
            fs = c->fs[k].type == p->type ? &c->fs[k] : fs;
        if (!fs)
            continue;
        printf("  %-6s large input is %s; files are copied by %s\n", p->name,
               asf__map_pays(fs) ? "mapped" : "read",
               p->clones                                                   ? "sharing blocks"
               : fs->by_range && fs->by_hand && fs->by_range < fs->by_hand ? "copy_file_range"
                                                                           : "read and write");
    }
    printf("  files of %s or more are mapped, through windows of %s\n", size_text(c->map_min).text,
           size_text(c->window).text);
    printf("  output buffers hold %s, copy buffers %s, and pipes %s\n", size_text(c->buffer).text,
           size_text(c->copy).text, size_text(c->pipe).text);
}

void asf__tune_print(const struct table *t) {
    printf("Measured %s for asf %s\non %s, %s\n", t->measured, t->library, t->kernel, t->processor);
    if (t->path)
        printf("in %s\n", t->path);
    print_rates(t, false);
    print_rates(t, true);
    print_choices(t);
}

/* --- for programs ----------------------------------------------------------------- */

static void print_string(const char *name, const char *text, const char *after) {
    printf("\"%s\": ", name);
    asf__put_json(text);
    fputs(after, stdout);
}

static void print_target(const struct target *p) {
    printf("    {");
    print_string("name", p->name, ", ");
    print_string("directory", p->directory, ", ");
    printf("\"type\": %" PRIu64 ", \"map_min\": %zu, \"clones\": %s, \"figures\": [", p->type, p->map_min,
           p->clones ? "true" : "false");
    for (size_t i = 0; i < p->count; i++) {
        printf("%s\n      {", i ? "," : "");
        print_string("way", p->measurements[i].method, ", ");
        printf("\"size\": %zu, \"bytes_per_second\": %.0f}", p->measurements[i].size,
               p->measurements[i].rate);
    }
    printf("]}");
}

void asf__tune_print_json(const struct table *t) {
    const struct asf_costs *c = &t->costs;
    printf("{");
    print_string("path", t->path ? t->path : "", ",\n ");
    print_string("library", t->library, ",\n ");
    print_string("kernel", t->kernel, ",\n ");
    print_string("processor", t->processor, ",\n ");
    print_string("measured", t->measured, ",\n ");
    printf(
        "\"settings\": {\"map_min\": %zu, \"window\": %zu, \"buffer\": %zu, \"copy\": %zu, \"pipe\": %zu},\n",
        c->map_min, c->window, c->buffer, c->copy, c->pipe);
    printf(" \"places\": [\n");
    for (size_t i = 0; i < t->count; i++) {
        print_target(&t->targets[i]);
        puts(i + 1 < t->count ? "," : "");
    }
    puts(" ]}");
}
