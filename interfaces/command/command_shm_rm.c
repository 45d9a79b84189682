/* SPDX-License-Identifier: MIT
 *
 * command_shm_rm.c - "asf shm rm": removes segments by label or by common properties.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "interfaces/command/command_shm.h"
#include "interfaces/command/command_table.h"

struct removal {
    bool dry_run, mine, leaked, has_min_age;
    int64_t min_age; /* seconds */
    bool failed;
};

static void report_removed(const struct removal *r, const char *label) {
    printf("%s %s\n", r->dry_run ? "would remove" : "removed", label);
}

static void report_error(struct removal *r, const char *label, int rc) {
    asf__warn("shm rm: %s: %s; %s", label, strerror(-rc), asf_shm_why());
    r->failed = true;
}

/* --- by common properties -------------------------------------------------------------- */

/* Selects no memfd segment: it ends with the last process that has it open. */
static bool is_selected(const struct removal *r, const struct asf_shm_info *info) {
    uid_t user = geteuid();
    if (!strcmp(info->backend, "memfd"))
        return false;
    if (info->owner != user && (user != 0 || r->mine))
        return false;
    if (r->leaked && !info->leaked)
        return false;
    return !r->has_min_age || (info->attached == 0 && (int64_t)time(NULL) - info->created >= r->min_age);
}

static int remove_if_selected(const struct asf_shm_info *info, void *arg) {
    struct removal *r = arg;
    if (!is_selected(r, info))
        return 0;
    int rc = r->dry_run ? 0 : asf_shm_remove(info->label);
    if (rc == -ENOENT)
        return 0; /* another process removed it first */
    if (rc < 0)
        report_error(r, info->label, rc);
    else
        report_removed(r, info->label);
    return 0;
}

static void remove_selected(struct removal *r) {
    int rc = asf_shm_each(remove_if_selected, r);
    if (rc < 0)
        asf__fail("shm rm: %s; %s", strerror(-rc), asf_shm_why());
}

/* --- by label ---------------------------------------------------------------------- */

struct search {
    const char *label;
    bool found;
};

static int match_label(const struct asf_shm_info *info, void *arg) {
    struct search *s = arg;
    s->found = !strcmp(info->label, s->label);
    return s->found;
}

/* A dry run reports what a removal would, except for missing permissions. */
static void dry_run_label(struct removal *r, const char *label) {
    struct search s = {.label = label};
    int rc = asf_shm_each(match_label, &s);
    if (s.found) {
        report_removed(r, label);
    } else if (rc < 0) {
        report_error(r, label, rc);
    } else {
        asf__warn("shm rm: %s: no segment with this label; 'asf shm ls' lists the labels", label);
        r->failed = true;
    }
}

static void remove_label(struct removal *r, const char *label) {
    char *line = asf__text("%s", label); /* a file's line may end with a newline */
    line[strcspn(line, "\n")] = '\0';
    if (r->dry_run) {
        dry_run_label(r, line);
        return;
    }
    int rc = asf_shm_remove(line);
    if (rc < 0)
        report_error(r, line, rc);
    else
        report_removed(r, line);
}

/* --- the command --------------------------------------------------------------------- */

static int64_t parse_age(const char *text) {
    static const struct {
        char letter;
        int64_t seconds;
    } units[] = {{'\0', 1}, {'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    if (text[0] >= '0' && text[0] <= '9' && errno == 0 && n < INT64_MAX / 86400)
        for (size_t i = 0; i < sizeof units / sizeof *units; i++)
            if (*end == units[i].letter && (*end == '\0' || end[1] == '\0'))
                return n * units[i].seconds;
    asf__fail("shm rm: --older %s: not an age; give seconds, or a number with s, m, h or d", text);
}

static bool parse_rm(struct removal *r, int argc, char **argv) {
    for (int option; (option = getopt_long(argc, argv, ":nh", asf__options_of("shm rm"), NULL)) != -1;) {
        if (option == 'n')
            r->dry_run = true;
        else if (option == 'm')
            r->mine = true;
        else if (option == 'l')
            r->leaked = true;
        else if (option == 'o')
            r->min_age = parse_age(optarg), r->has_min_age = true;
        else if (option == 'h')
            return false;
        else
            asf__bad_option("shm rm", option, argv);
    }
    return true;
}

/* No label begins with '-'.  With POSIXLY_CORRECT getopt_long leaves options after a label unparsed. */
static void refuse_options(int argc, char **argv) {
    for (int i = optind; i < argc; i++)
        if (argv[i][0] == '-')
            asf__fail("shm rm: '%s' is not a label; put options before labels", argv[i]);
}

int asf__shm_remove(int argc, char **argv) {
    struct removal r = {0};
    if (!parse_rm(&r, argc, argv))
        return asf__help_of("shm rm");
    refuse_options(argc, argv);
    bool selects = r.mine || r.leaked || r.has_min_age;
    if (selects == (optind < argc))
        asf__fail("shm rm: give labels or conditions, but not both; see 'asf shm rm --help'");
    if (selects)
        remove_selected(&r);
    for (int i = optind; i < argc; i++)
        remove_label(&r, argv[i]);
    int status = asf__close_stdout();
    return status == 0 && r.failed ? EXIT_FAILURE : status;
}
