/* SPDX-License-Identifier: MIT
 *
 * diff_script.c - makes a script of changes from the classes of the lines.
 *
 * A line's partners are the equal lines of the other side.  Lines without a partner are left out of the
 * search, and so are some lines near them that have too many partners.  After the search each run of changed
 * lines is shifted to the position that people expect.  Both steps follow GNU diff, so the scripts are the
 * same.
 */
#include <stdlib.h>
#include <string.h>

#include "diff.h"

enum mark { KEEP, DROP, MAYBE };

/* Returns the number of a side's lines in each class. */
static uint32_t *count_classes(const struct side *side, size_t class_count) {
    uint32_t *counts = must(calloc(class_count + 1, sizeof *counts));
    for (size_t i = 0; i < side->count; i++)
        counts[side->classes[i]]++;
    return counts;
}

/* Returns the number of partners above which a line is MAYBE: about the square root of the lines. */
static size_t many(size_t lines) {
    size_t limit = 5;
    for (size_t rest = lines / 256; rest > 0; rest /= 4)
        limit *= 2;
    return limit;
}

static unsigned char *mark_lines(const struct side *side, const uint32_t *partners) {
    unsigned char *marks = must(malloc(side->count + 1));
    size_t too_many = many(side->count);
    for (size_t i = 0; i < side->count; i++) {
        uint32_t n = partners[side->classes[i]];
        marks[i] = n == 0 ? DROP : n > too_many ? MAYBE : KEEP;
    }
    return marks;
}

static void keep_maybes(unsigned char *marks, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (marks[i] == MAYBE)
            marks[i] = KEEP;
}

/* Within a run, keep rows of at least `least` consecutive MAYBE lines. */
static void keep_long_rows(unsigned char *run, size_t length, size_t least) {
    for (size_t i = 0, end; i < length; i = end + 1) {
        for (end = i; end < length && run[end] == MAYBE;)
            end++;
        if (end - i >= least)
            keep_maybes(run + i, end - i);
    }
}

/* Keep MAYBE lines near one end of a run: up to three consecutive DROP lines, or up to a DROP line that is
 * not among the first eight lines. */
static void keep_near_end(unsigned char *end, ptrdiff_t inwards, size_t length) {
    int drops = 0;
    for (size_t i = 0; i < length && drops < 3; i++) {
        unsigned char *mark = end + (ptrdiff_t)i * inwards;
        if (i >= 8 && *mark == DROP)
            return;
        drops = *mark == DROP ? drops + 1 : 0;
        if (*mark == MAYBE)
            *mark = KEEP;
    }
}

/* Choose the MAYBE lines to keep in a run.  The run's first and last lines are DROP. */
static void settle_run(unsigned char *run, size_t length) {
    size_t maybes = 0, least = 1;
    for (size_t i = 0; i < length; i++)
        maybes += run[i] == MAYBE;
    if (maybes * 4 > length) {
        keep_maybes(run, length);
        return;
    }
    for (size_t rest = length / 16; rest > 0; rest /= 4)
        least *= 2;
    keep_long_rows(run, length, least + 1);
    keep_near_end(run, 1, length);
    keep_near_end(run + length - 1, -1, length);
}

static void settle_marks(unsigned char *marks, size_t n) {
    for (size_t i = 0, end; i < n; i = end) {
        end = i + 1;
        if (marks[i] == MAYBE)
            marks[i] = KEEP;
        if (marks[i] == KEEP)
            continue;
        while (end < n && marks[end] != KEEP)
            end++;
        size_t last = end;
        while (marks[last - 1] == MAYBE)
            marks[--last] = KEEP;
        settle_run(marks + i, last - i);
    }
}

/* Returns the kept lines, for the search.  The other lines are marked as changed. */
static struct sequence left_for_search(const struct side *side, const unsigned char *marks) {
    uint32_t *classes = must(malloc((side->count + 1) * sizeof *classes));
    size_t *places = must(malloc((side->count + 1) * sizeof *places));
    size_t n = 0;
    for (size_t i = 0; i < side->count; i++) {
        if (marks[i] == KEEP || options.minimal) {
            classes[n] = side->classes[i];
            places[n++] = i;
        } else {
            side->changed[i] = 1;
        }
    }
    return (struct sequence){classes, places, n, side->changed};
}

static void mark_changes(struct side sides[2], size_t class_count) {
    uint32_t *counts[2];
    struct sequence left[2];
    for (int f = 0; f < 2; f++)
        counts[f] = count_classes(&sides[f], class_count);
    for (int f = 0; f < 2; f++) {
        unsigned char *marks = mark_lines(&sides[f], counts[1 - f]);
        settle_marks(marks, sides[f].count);
        left[f] = left_for_search(&sides[f], marks);
        free(marks);
    }
    search(&left[0], &left[1]);
    for (int f = 0; f < 2; f++) {
        free(counts[f]);
        free((void *)left[f].classes);
        free((void *)left[f].places);
    }
}

/* The changed lines, possibly none, between two unchanged lines.  Each unchanged line has an equal line on
 * the other side, so each group has a partner there. */
struct group {
    const struct side *side;
    size_t start, end;
};

static bool next_group(struct group *group) {
    if (group->end == group->side->count)
        return false;
    group->start = ++group->end;
    while (group->side->changed[group->end])
        group->end++;
    return true;
}

static void previous_group(struct group *group) {
    group->end = --group->start;
    while (group->side->changed[(ptrdiff_t)group->start - 1])
        group->start--;
}

/* Move a group up by one line, if the line before the group equals the group's last line.  If the group then
 * touches another, the two become one. */
static bool shift_up(struct group *group, struct group *partner) {
    const struct side *side = group->side;
    if (group->start == 0 || side->classes[group->start - 1] != side->classes[group->end - 1])
        return false;
    side->changed[--group->start] = 1;
    side->changed[--group->end] = 0;
    while (side->changed[(ptrdiff_t)group->start - 1])
        group->start--;
    previous_group(partner);
    return true;
}

static bool shift_down(struct group *group, struct group *partner) {
    const struct side *side = group->side;
    if (group->end == side->count || side->classes[group->start] != side->classes[group->end])
        return false;
    side->changed[group->start++] = 0;
    side->changed[group->end++] = 1;
    while (side->changed[group->end])
        group->end++;
    next_group(partner);
    return true;
}

/* Shift a group until it joins no other group.  Its final position is the lowest one with changed lines in
 * the partner; if there is none, the lowest possible. */
static void shift_group(struct group *group, struct group *partner) {
    size_t size, beside;
    do {
        size = group->end - group->start;
        while (shift_up(group, partner))
            continue;
        beside = partner->end > partner->start ? group->end : SIZE_MAX;
        while (shift_down(group, partner))
            if (partner->end > partner->start)
                beside = group->end;
    } while (size != group->end - group->start);
    while (beside < group->end && shift_up(group, partner))
        continue;
}

static struct group first_group(const struct side *side) {
    struct group group = {side, 0, 0};
    while (side->changed[group.end])
        group.end++;
    return group;
}

static void shift_changes(const struct side *side, const struct side *other) {
    struct group group = first_group(side), partner = first_group(other);
    do {
        if (group.end > group.start)
            shift_group(&group, &partner);
    } while (next_group(&group) && next_group(&partner));
}

static void add_change(struct script *script, const struct group *group, const struct group *partner) {
    if ((script->count & (script->count - 1)) == 0) {
        size_t room = script->count ? 2 * script->count : 1;
        script->changes = must(realloc(script->changes, room * sizeof *script->changes));
    }
    script->changes[script->count++] = (struct change){
        .at = {group->side->first + group->start, partner->side->first + partner->start},
        .lines = {group->end - group->start, partner->end - partner->start},
    };
}

struct script make_script(struct side sides[2], size_t class_count) {
    struct script script = {0};
    mark_changes(sides, class_count);
    shift_changes(&sides[0], &sides[1]);
    shift_changes(&sides[1], &sides[0]);
    struct group group = first_group(&sides[0]), partner = first_group(&sides[1]);
    do {
        if (group.end > group.start || partner.end > partner.start)
            add_change(&script, &group, &partner);
    } while (next_group(&group) && next_group(&partner));
    return script;
}
