/* SPDX-License-Identifier: MIT
 *
 * diff_context.c - prints the script in the unified and in the context format.
 */
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "diff.h"

/* Changes that are printed together, because they are close to each other.  `from` and `end` are the printed
 * lines of each side. */
struct hunk {
    const struct change *changes;
    size_t count;
    size_t from[2], end[2];
};

static size_t change_end(const struct change *change, int f) {
    return change->at[f] + change->lines[f];
}

/* Two changes are in the same hunk if their contexts touch: at most 2 * context lines are between them.  If
 * the second is ignorable, fewer than `context` lines must be between them. */
static bool same_hunk(const struct change *a, const struct change *b) {
    size_t gap = b->at[0] - change_end(a, 0);
    if (b->ignorable)
        return gap < options.context;
    return gap / 2 < options.context || gap == 2 * options.context;
}

static struct hunk next_hunk(const struct side sides[2], const struct script *script, size_t first) {
    struct hunk hunk = {script->changes + first, 1, {0}, {0}};
    while (first + hunk.count < script->count &&
           same_hunk(&hunk.changes[hunk.count - 1], &hunk.changes[hunk.count]))
        hunk.count++;
    for (int f = 0; f < 2; f++) {
        size_t from = hunk.changes[0].at[f], end = change_end(&hunk.changes[hunk.count - 1], f);
        size_t before = from - sides[f].stored, after = sides[f].stored_end - end;
        hunk.from[f] = from - (before < options.context ? before : options.context);
        hunk.end[f] = end + (after < options.context ? after : options.context);
    }
    return hunk;
}

static bool all_ignorable(const struct hunk *hunk) {
    for (size_t i = 0; i < hunk->count; i++)
        if (!hunk->changes[i].ignorable)
            return false;
    return true;
}

/* Returns whether the hunk changes any lines of side `f`. */
static bool touches(const struct hunk *hunk, int f) {
    for (size_t i = 0; i < hunk->count; i++)
        if (hunk->changes[i].lines[f] > 0)
            return true;
    return false;
}

/* In the POSIX locale, POSIX requires an older form of the time. */
static bool older_form(void) {
    const char *locale = setlocale(LC_TIME, NULL);
    return options.style == STYLE_CONTEXT && (strcmp(locale, "C") == 0 || strcmp(locale, "POSIX") == 0);
}

static void print_time(const struct timespec *time) {
    char date[64], zone[16];
    struct tm tm;
    if (!localtime_r(&time->tv_sec, &tm)) {
        out_format("\t%jd.%09ld", (intmax_t)time->tv_sec, time->tv_nsec);
    } else if (older_form()) {
        strftime(date, sizeof date, "%a %b %e %T %Y", &tm);
        out_format("\t%s", date);
    } else {
        strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &tm);
        strftime(zone, sizeof zone, "%z", &tm);
        out_format("\t%s.%09ld %s", date, time->tv_nsec, zone);
    }
}

static void print_header(const struct side *side, const char *mark) {
    if (side->label) {
        out_format("%s %s\n", mark, side->label);
        return;
    }
    out_format("%s ", mark);
    out_name(side->name);
    print_time(&side->status.st_mtim);
    out_format("\n");
}

static void out_unified_range(const struct hunk *hunk, int f) {
    size_t count = hunk->end[f] - hunk->from[f];
    if (count == 1)
        out_format("%zu", hunk->end[f]);
    else
        out_format("%zu,%zu", count == 0 ? hunk->end[f] : hunk->from[f] + 1, count);
}

static void print_unified(const struct side sides[2], const struct hunk *hunk) {
    out_format("@@ -");
    out_unified_range(hunk, 0);
    out_format(" +");
    out_unified_range(hunk, 1);
    out_format(" @@\n");
    size_t i = hunk->from[0];
    for (const struct change *c = hunk->changes; c < hunk->changes + hunk->count; c++) {
        for (; i < c->at[0]; i++)
            out_line(&sides[0], " ", i);
        for (; i < change_end(c, 0); i++)
            out_line(&sides[0], "-", i);
        for (size_t j = c->at[1]; j < change_end(c, 1); j++)
            out_line(&sides[1], "+", j);
    }
    for (; i < hunk->end[0]; i++)
        out_line(&sides[0], " ", i);
}

static void out_context_range(const struct hunk *hunk, int f) {
    if (hunk->end[f] - hunk->from[f] > 1)
        out_format("%zu,%zu", hunk->from[f] + 1, hunk->end[f]);
    else
        out_format("%zu", hunk->end[f]);
}

/* Print one side of a hunk.  If none of its lines is changed, only the range is printed. */
static void print_context_side(const struct side sides[2], const struct hunk *hunk, int f) {
    const char *mark = f == 0 ? "***" : "---", *changed = f == 0 ? "- " : "+ ";
    out_format("%s ", mark);
    out_context_range(hunk, f);
    out_format(" %s%s\n", mark, f == 0 ? "*" : "-");
    if (!touches(hunk, f))
        return;
    size_t i = hunk->from[f];
    for (const struct change *c = hunk->changes; c < hunk->changes + hunk->count; c++) {
        for (; i < c->at[f]; i++)
            out_line(&sides[f], "  ", i);
        for (; i < change_end(c, f); i++)
            out_line(&sides[f], c->lines[1 - f] > 0 ? "! " : changed, i);
    }
    for (; i < hunk->end[f]; i++)
        out_line(&sides[f], "  ", i);
}

static void print_context(const struct side sides[2], const struct hunk *hunk) {
    out_format("***************\n");
    print_context_side(sides, hunk, 0);
    print_context_side(sides, hunk, 1);
}

void print_context_script(const struct side sides[2], const struct script *script) {
    bool unified = options.style == STYLE_UNIFIED;
    print_header(&sides[0], unified ? "---" : "***");
    print_header(&sides[1], unified ? "+++" : "---");
    for (size_t i = 0; i < script->count;) {
        struct hunk hunk = next_hunk(sides, script, i);
        i += hunk.count;
        if (all_ignorable(&hunk))
            continue;
        if (unified)
            print_unified(sides, &hunk);
        else
            print_context(sides, &hunk);
    }
}
