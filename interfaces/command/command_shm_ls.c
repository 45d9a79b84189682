/* SPDX-License-Identifier: MIT
 *
 * command_shm_ls.c - "asf shm ls": lists the segments, as a table or as JSON.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <inttypes.h>
#include <pwd.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "interfaces/command/command_json.h"
#include "interfaces/command/command_shm.h"
#include "interfaces/command/command_table.h"

/* How to list, and the number of segments listed so far. */
struct listing {
    bool json, leaked, all;
    size_t count;
};

static const char *state_of(const struct asf_shm_info *info) {
    static const char *const names[] = {[ASF_SHM_WHOLE] = "whole",
                                        [ASF_SHM_UNFINISHED] = "unfinished",
                                        [ASF_SHM_UNREADABLE] = "unreadable",
                                        [ASF_SHM_BROKEN] = "broken"};
    return names[info->state];
}

static const char *owner_of(const struct asf_shm_info *info) {
    const struct passwd *user = getpwuid(info->owner);
    return user ? user->pw_name : asf__text("%u", (unsigned)info->owner);
}

/* --- for people ---------------------------------------------------------------- */

static void format_time(char *to, size_t size, int64_t seconds) {
    struct tm parts;
    time_t t = (time_t)seconds;
    if (seconds == 0 || strftime(to, size, "%Y-%m-%d %H:%M:%S", localtime_r(&t, &parts)) == 0)
        snprintf(to, size, "-");
}

static void print_segment_row(const struct asf_shm_info *info) {
    char created[32], accessed[32];
    format_time(created, sizeof created, info->created);
    format_time(accessed, sizeof accessed, info->accessed);
    printf("%-10s %04o %14" PRIu64 " %-19s %-19s %8" PRId64 " %-10s %s\n", owner_of(info),
           (unsigned)info->mode, info->size, created, accessed, info->attached,
           info->leaked && info->state == ASF_SHM_WHOLE ? "leaked" : state_of(info), info->label);
}

/* --- for programs ----------------------------------------------------------------- */

static void print_member(const char *name, const char *value) {
    printf(", \"%s\": ", name);
    asf__put_json(value);
}

static void print_time(const char *name, int64_t seconds) {
    struct tm parts;
    char text[32];
    time_t t = (time_t)seconds;
    if (seconds != 0 && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &parts)) > 0)
        print_member(name, text);
    else
        printf(", \"%s\": null", name);
}

static void print_segment_object(const struct asf_shm_info *info) {
    fputs("{\"label\": ", stdout);
    asf__put_json(info->label);
    print_member("backend", info->backend);
    print_member("state", state_of(info));
    print_member("owner", owner_of(info));
    printf(", \"uid\": %u, \"mode\": \"%04o\", \"size\": %" PRIu64, (unsigned)info->owner,
           (unsigned)info->mode, info->size);
    print_time("created", info->created);
    print_time("accessed", info->accessed);
    printf(", \"attached\": %" PRId64 ", \"creator\": %d, \"leaked\": %s}", info->attached,
           (int)info->creator, info->leaked ? "true" : "false");
}

/* --- the list ------------------------------------------------------------------------ */

static int list_one(const struct asf_shm_info *info, void *arg) {
    struct listing *l = arg;
    if ((l->leaked && !info->leaked) || (!l->all && info->owner != geteuid()))
        return 0;
    if (l->json)
        fputs(l->count ? ",\n " : "[", stdout);
    else if (l->count == 0)
        printf("%-10s %-4s %14s %-19s %-19s %8s %-10s %s\n", "OWNER", "MODE", "SIZE", "CREATED", "ACCESSED",
               "ATTACHED", "STATE", "LABEL");
    l->count++;
    (l->json ? print_segment_object : print_segment_row)(info);
    return 0;
}

int asf__shm_list(int argc, char **argv) {
    struct listing listing = {0};
    for (int option; (option = getopt_long(argc, argv, "+:h", asf__options_of("shm ls"), NULL)) != -1;) {
        if (option == 'h')
            return asf__help_of("shm ls");
        if (option == ':' || option == '?')
            asf__bad_option("shm ls", option, argv);
        *(option == 'j' ? &listing.json : option == 'l' ? &listing.leaked : &listing.all) = true;
    }
    if (optind < argc)
        asf__fail("shm ls takes no argument, but '%s' is given", argv[optind]);
    int rc = asf_shm_each(list_one, &listing);
    if (rc < 0)
        asf__fail("shm ls: %s; %s", strerror(-rc), asf_shm_why());
    if (listing.json)
        puts(listing.count ? "]" : "[]");
    return asf__close_stdout();
}
