/* SPDX-License-Identifier: MIT
 *
 * command_tune_table.c - the table of "asf tune": computes the settings, writes and reads the file, and
 * checks whether it still fits this machine.
 *
 * The library reads the file up to the line "end" (lib/sys/costs.c).  The measurements follow, for people.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "interfaces/command/command.h"
#include "interfaces/command/command_tune.h"

enum { KB = 1 << 10, MB = 1 << 20 };

/* --- this machine ----------------------------------------------------------------- */

static void copy_line(char *to, size_t size, const char *text) {
    snprintf(to, size, "%.*s", (int)strcspn(text, "\n"), text);
}

static void processor_name(char *to, size_t size) {
    char line[512];
    FILE *file = fopen("/proc/cpuinfo", "re");
    copy_line(to, size, "unknown");
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (!strncmp(line, "model name", 10) && colon) {
            copy_line(to, size, colon + 1 + strspn(colon + 1, " "));
            break;
        }
    }
    if (file)
        fclose(file);
}

void asf__tune_identify(struct table *table) {
    struct utsname system;
    time_t now = time(NULL);
    struct tm parts;
    copy_line(table->library, sizeof table->library, ASF_VERSION);
    if (uname(&system) == 0)
        snprintf(table->kernel, sizeof table->kernel, "%s %s", system.sysname, system.release);
    processor_name(table->processor, sizeof table->processor);
    strftime(table->measured, sizeof table->measured, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
}

char *asf__tune_stale(const struct table *table) {
    struct table now = {0};
    const struct {
        const char *what, *recorded, *current;
    } all[] = {{"library", table->library, now.library},
               {"kernel", table->kernel, now.kernel},
               {"processor", table->processor, now.processor}};
    asf__tune_identify(&now);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].recorded, all[i].current) != 0)
            return asf__text("the %s was %s and is %s", all[i].what, all[i].recorded, all[i].current);
    return NULL;
}

/* --- settings -------------------------------------------------------------------------- */

/* Picoseconds per byte; 0: not measured. */
static uint64_t picoseconds_per_byte(const struct target *p, const char *method, size_t size) {
    double rate = asf__rate(p, method, size);
    return rate > 0 ? (uint64_t)(1e12 / rate + 0.5) : 0;
}

static size_t value_or(size_t value, size_t otherwise) {
    return value ? value : otherwise;
}

static bool is_file_system(const struct target *p) {
    return p->type != 0;
}

/* Chooses sizes for the first file system, where files usually are.  map_min must suit all file systems. */
void asf__tune_compute_settings(struct table *table) {
    struct asf_costs *c = &table->costs;
    const struct target *first = &table->targets[0];
    *c = (struct asf_costs){.pipe = 512 * KB};
    c->window = value_or(asf__best_size(first, "map", 2 * MB), 8 * MB);
    c->buffer = value_or(asf__best_size(first, "write", 128 * KB), 128 * KB);
    c->copy = value_or(asf__best_size(first, "copy", 128 * KB), 256 * KB);
    for (size_t i = 0; i < table->count; i++) {
        const struct target *p = &table->targets[i];
        if (!is_file_system(p)) {
            c->pipe = value_or(asf__best_size(p, "splice to a pipe", 64 * KB), c->pipe);
            continue;
        }
        struct asf_fs_costs *fs = &c->fs[c->count++];
        *fs = (struct asf_fs_costs){.type = p->type,
                                    .read = picoseconds_per_byte(p, "read", 64 * KB),
                                    .map = picoseconds_per_byte(p, "map", c->window),
                                    .by_hand = picoseconds_per_byte(p, "copy", c->copy),
                                    .by_range = picoseconds_per_byte(p, "copy_file_range", 8 * MB)};
        if (asf__map_pays(fs) && p->map_min > c->map_min)
            c->map_min = p->map_min;
    }
    c->map_min = value_or(c->map_min, 256 * KB);
}

/* --- its file ---------------------------------------------------------------------------- */

static void put_settings(FILE *out, const struct asf_costs *c) {
    fprintf(out, "set map_min %zu\nset window %zu\nset buffer %zu\nset copy %zu\nset pipe %zu\n", c->map_min,
            c->window, c->buffer, c->copy, c->pipe);
    for (size_t i = 0; i < c->count; i++)
        fprintf(out, "fs %" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", c->fs[i].type,
                c->fs[i].read, c->fs[i].map, c->fs[i].by_hand, c->fs[i].by_range);
}

static char *format_table(const struct table *t) {
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        asf__fail("tune: open_memstream: %s; give asf more memory", strerror(errno));
    fprintf(out, ASF__TUNE_FORMAT "library %s\nkernel %s\nprocessor %s\nmeasured %s\n", t->library, t->kernel,
            t->processor, t->measured);
    put_settings(out, &t->costs);
    fputs("end\n", out);
    for (size_t i = 0; i < t->count; i++) {
        const struct target *p = &t->targets[i];
        fprintf(out, "place %" PRIx64 " %s %zu %d %s\n", p->type, p->name, p->map_min, p->clones,
                p->directory);
        for (size_t f = 0; f < p->count; f++)
            fprintf(out, "figure %zu %.0f %s\n", p->measurements[f].size, p->measurements[f].rate,
                    p->measurements[f].method);
    }
    fclose(out);
    return text;
}

/* Create the missing parent directories of a file. */
static void make_directories(const char *path) {
    char *directory = asf__text("%s", path);
    for (char *slash = directory + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        mkdir(directory, 0755);
    }
    free(directory);
}

void asf__tune_write(const struct table *table) {
    char *unfinished = asf__text("%s.%d", table->path, (int)getpid());
    char *text = format_table(table);
    make_directories(table->path);
    unlink(unfinished); /* a killed process with the same number may have left it */
    FILE *file = fopen(unfinished, "wxe");
    bool ok = file && fputs(text, file) >= 0 && fflush(file) == 0 && fchmod(fileno(file), 0644) == 0;
    ok = file && fclose(file) == 0 && ok && rename(unfinished, table->path) == 0;
    if (!ok) {
        int error = errno;
        unlink(unfinished);
        asf__fail("tune: %s: %s; name another file with --output, or use --dry-run", table->path,
                  strerror(error));
    }
    free(text);
    free(unfinished);
}

static void read_identity(struct table *t, const char *line) {
    struct {
        const char *word;
        char *to;
    } words[] = {{"library ", t->library},
                 {"kernel ", t->kernel},
                 {"processor ", t->processor},
                 {"measured ", t->measured}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strncmp(line, words[i].word, strlen(words[i].word)))
            copy_line(words[i].to, sizeof t->library, line + strlen(words[i].word));
}

static void read_target(struct table *t, const char *line) {
    int clones, at = 0;
    if (t->count == MAX_TARGETS)
        return;
    struct target *p = &t->targets[t->count];
    int n = sscanf(line, "place %" SCNx64 " %31s %zu %d %n", &p->type, p->name, &p->map_min, &clones, &at);
    if (n != 4 || at == 0)
        return;
    p->directory = asf__text("%s", line + at);
    p->clones = clones;
    t->count++;
}

/* The measurement belongs to the target read last. */
static void read_measurement(struct table *t, const char *line) {
    int at = 0;
    struct target *p = t->count ? &t->targets[t->count - 1] : NULL;
    if (!p || p->count == MAX_MEASUREMENTS)
        return;
    struct measurement *f = &p->measurements[p->count];
    if (sscanf(line, "figure %zu %lf %n", &f->size, &f->rate, &at) != 2 || at == 0)
        return;
    f->method = asf__text("%s", line + at);
    p->count++;
}

static void read_line(struct table *t, char *line) {
    line[strcspn(line, "\n")] = '\0';
    read_identity(t, line);
    read_target(t, line);
    read_measurement(t, line);
}

int asf__tune_read(struct table *table, const char *path) {
    char line[1024];
    *table = (struct table){.path = path};
    int rc = asf__costs_load(&table->costs, path);
    FILE *file = rc == 0 ? fopen(path, "re") : NULL;
    if (!file)
        return rc < 0 ? rc : -errno;
    while (fgets(line, sizeof line, file))
        read_line(table, line);
    fclose(file);
    return 0;
}
