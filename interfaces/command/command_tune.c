/* SPDX-License-Identifier: MIT
 *
 * command_tune.c - "asf tune": measures this machine, and writes the table that the library reads.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "interfaces/command/command.h"
#include "interfaces/command/command_table.h"
#include "interfaces/command/command_tune.h"

enum { MB = 1 << 20 };

/* Seconds for all measurements; the table lacks measurements that do not fit. */
static const double time_limit = 18;

struct request {
    size_t count;
    const char *directories[MAX_TARGETS];
    const char *output;
    bool system, dry_run, show, check, json, help;
};

/* --- file systems to measure ----------------------------------------------------------- */

static const char *type_name(uint64_t type) {
    static const struct {
        uint64_t type;
        const char *name;
    } names[] = {{0xef53, "ext4"},         {0x01021994, "tmpfs"},   {0x58465342, "xfs"},
                 {0x9123683e, "btrfs"},    {0xf2f52010, "f2fs"},    {0x6969, "nfs"},
                 {0x65735546, "fuse"},     {0x794c7630, "overlay"}, {0x2fc12fc1, "zfs"},
                 {0xca451a4e, "bcachefs"}, {0xff534d42, "cifs"},    {0xfe534d42, "smb"},
                 {0x01021997, "9p"},       {0x00c36400, "ceph"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].type == type)
            return names[i].name;
    return asf__text("%" PRIx64, type);
}

/* Add the directory's file system, unless the table already has its type. */
static bool add_target(struct table *t, const char *directory, bool asked) {
    struct statfs fs;
    if (!directory || !*directory || t->count == MAX_TARGETS - 1)
        return false;
    if (statfs(directory, &fs) != 0 || access(directory, W_OK) != 0) {
        if (asked)
            asf__fail("tune: %s: %s; name a writable directory", directory, strerror(errno));
        return false;
    }
    for (size_t i = 0; i < t->count; i++)
        if (t->targets[i].type == (uint64_t)fs.f_type)
            return false;
    struct target *p = &t->targets[t->count++];
    *p = (struct target){.directory = directory, .type = (uint64_t)fs.f_type};
    snprintf(p->name, sizeof p->name, "%s", type_name(p->type));
    return true;
}

static void add_targets(struct table *t, const struct request *r) {
    const char *usual[] = {getenv("TMPDIR"), "/var/tmp", "/tmp", getenv("HOME"), ".", "/dev/shm"};
    for (size_t i = 0; i < r->count; i++)
        add_target(t, r->directories[i], true);
    for (size_t i = 0; r->count == 0 && i < sizeof usual / sizeof *usual; i++)
        add_target(t, usual[i], false);
    if (t->count == 0)
        asf__fail("tune: no writable directory; name one with --dir");
}

/* Larger than the processor's caches, but at most an eighth of the free memory and of the free space. */
static size_t choose_file_size(const struct target *p) {
    struct statvfs fs;
    uint64_t most = 64 * MB;
    uint64_t idle = (uint64_t)sysconf(_SC_AVPHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t room = statvfs(p->directory, &fs) == 0 ? (uint64_t)fs.f_bavail * fs.f_frsize : 0;
    if (most > idle / 8)
        most = idle / 8;
    if (most > room / 8)
        most = room / 8;
    return (size_t)(most / MB * MB);
}

/* --- progress ---------------------------------------------------------------------------- */

static void print_progress(const struct progress *progress, const char *what) {
    enum { WIDTH = 30 };
    char bar[WIDTH + 1];
    size_t full = progress->done * WIDTH / progress->total;
    memset(bar, '.', WIDTH);
    memset(bar, '#', full < WIDTH ? full : WIDTH);
    bar[WIDTH] = '\0';
    fprintf(stderr, "\r\033[K[%s] %3zu %% %s", bar, progress->done * 100 / progress->total, what);
}

static void ignore_progress(const struct progress *progress, const char *what) {
    (void)progress;
    (void)what;
}

/* --- measuring ------------------------------------------------------------------------------- */

/* returns  whether anything was measured */
static bool measure_target(struct target *p, struct progress *progress, double share,
                           int (*how)(struct target *, struct progress *)) {
    progress->bytes = choose_file_size(p);
    progress->end = asf__seconds() + share;
    int rc = how(p, progress);
    if (rc == -ENOSPC)
        asf__warn("tune: %s: no space for files of 4 MB; not measured", p->directory);
    else if (rc < 0)
        asf__warn("tune: %s: cannot create or fill a file: %s; not measured", p->directory, strerror(-rc));
    return rc == 0 && p->count > 0;
}

/* Other processes slow the measurements down, some measurements more than others. */
static void warn_when_busy(void) {
    double load;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (getloadavg(&load, 1) == 1 && load > 0.5 * (double)processors + 0.5)
        asf__warn("tune: the machine is busy (load %.1f); measure again when it is idle", load);
}

static void measure_all(struct table *t) {
    bool shown = isatty(STDERR_FILENO);
    size_t kept = 0, asked = t->count;
    struct progress progress = {.rounds = 5,
                                .report = shown ? print_progress : ignore_progress,
                                .total = asked * FILE_SYSTEM_STEPS + PIPE_STEPS};
    double share = time_limit / (double)(asked + 1);
    struct target pipes = {.directory = t->targets[0].directory, .name = "pipe"};
    warn_when_busy();
    asf__tune_identify(t);
    for (size_t i = 0; i < asked; i++)
        if (measure_target(&t->targets[i], &progress, share, asf__measure_file_system))
            t->targets[kept++] = t->targets[i];
    t->count = kept;
    if (kept && measure_target(&pipes, &progress, share, asf__measure_pipes))
        t->targets[t->count++] = pipes;
    if (shown)
        fputs("\r\033[K", stderr);
    if (kept == 0)
        asf__fail("tune: no file system was measured; name other directories with --dir");
    asf__tune_compute_settings(t);
}

/* --- the command ------------------------------------------------------------------------------ */

static struct request parse_tune(int argc, char **argv) {
    struct request r = {0};
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, "+:h", asf__options_of("tune"), NULL)) != -1;) {
        if (option == 'd' && r.count == MAX_TARGETS - 1)
            asf__fail("tune: --dir: more than %d directories; give fewer", MAX_TARGETS - 1);
        if (option == 'd')
            r.directories[r.count++] = optarg;
        else if (option == 'o')
            r.output = optarg;
        else if (option == ':' || option == '?')
            asf__bad_option("tune", option, argv);
        else
            *(option == 's'   ? &r.system
              : option == 'n' ? &r.dry_run
              : option == 'w' ? &r.show
              : option == 'c' ? &r.check
              : option == 'j' ? &r.json
                              : &r.help) = true;
    }
    if (optind < argc)
        asf__fail("tune takes no argument, but '%s' is given", argv[optind]);
    return r;
}

/* Options that exclude each other, as in the manual page. */
static void refuse_exclusive_options(const struct request *r) {
    const struct {
        bool both;
        const char *names;
    } pairs[] = {{r->show && r->check, "--show and --check"},
                 {r->show && r->count, "--show and --dir"},
                 {r->check && r->count, "--check and --dir"},
                 {r->show && r->dry_run, "--show and --dry-run"},
                 {r->check && r->dry_run, "--check and --dry-run"},
                 {r->check && r->json, "--check and --json"},
                 {r->system && r->output, "--system and --output"},
                 {r->system && r->dry_run, "--system and --dry-run"},
                 {r->output && r->dry_run, "--output and --dry-run"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i].both)
            asf__fail("tune: %s exclude each other; see 'asf tune --help'", pairs[i].names);
}

/* Find the table that the library uses; warn of tables that it ignores. */
static bool find_table(struct table *t, const struct request *r) {
    static char paths[2][PATH_MAX];
    for (int which = r->system ? 1 : 0; which < 2; which++) {
        const char *path = r->output ? r->output : paths[which];
        if (!r->output && !asf__costs_path(paths[which], PATH_MAX, which))
            continue;
        int rc = asf__tune_read(t, path);
        if (rc == 0)
            return true;
        if (rc != -ENOENT)
            asf__warn("tune: %s: %s; the library does not use it", path,
                      rc == -EINVAL  ? "not a table of this version of asf"
                      : rc == -EPERM ? "another user owns it or may write it"
                                     : strerror(-rc));
    }
    return false;
}

static int check_table(const struct request *r) {
    static struct table t;
    if (!find_table(&t, r)) {
        puts("no table: the library uses built-in figures; 'asf tune' makes a table");
        return asf__close_stdout() == 0 ? EXIT_FAILURE : EXIT_OWN_FAILURE;
    }
    char *change = asf__tune_stale(&t);
    if (change)
        printf("out of date: %s: %s; run 'asf tune' again\n", t.path, change);
    else
        printf("up to date: %s\n", t.path);
    bool stale = change != NULL;
    free(change);
    int status = asf__close_stdout();
    return status == 0 && stale ? EXIT_FAILURE : status;
}

static const char *output_path(const struct request *r) {
    static char path[PATH_MAX];
    if (r->dry_run)
        return NULL;
    if (r->output)
        return r->output;
    if (!asf__costs_path(path, sizeof path, r->system))
        asf__fail("tune: neither XDG_CONFIG_HOME nor HOME names a directory; use --output or --dry-run");
    return path;
}

int asf__tune(int argc, char **argv) {
    static struct table t;
    struct request r = parse_tune(argc, argv);
    if (r.help)
        return asf__help_of("tune");
    refuse_exclusive_options(&r);
    if (r.check)
        return check_table(&r);
    if (r.show && !find_table(&t, &r))
        asf__fail("tune: no table; 'asf tune' makes one");
    if (!r.show) {
        t.path = output_path(&r);
        add_targets(&t, &r);
        measure_all(&t);
        if (t.path)
            asf__tune_write(&t);
    }
    (r.json ? asf__tune_print_json : asf__tune_print)(&t);
    return asf__close_stdout();
}
