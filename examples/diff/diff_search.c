/* SPDX-License-Identifier: MIT
 *
 * diff_search.c - Myers's O(ND) search in linear space, with a limit on its cost.
 *
 * E. W. Myers, "An O(ND) Difference Algorithm and Its Variations" (1986),
 * section 4b.  The two sequences span a grid; a script is a path from its
 * north-west to its south-east corner, where a step east deletes, a step south
 * inserts, and a diagonal step costs nothing.  Two fronts move towards each
 * other, one edit a round, and where they meet the grid is split.  Diagonal d
 * holds the points with x - y = d.
 */
#include <limits.h>
#include <stdlib.h>

#include "diff.h"

/* at[d] is the furthest x that the front has reached on diagonal d, for d from low to high in steps of 2. */
struct front {
    long *at;
    long low, high;
};

struct box {
    long x, y, x_end, y_end;
};

struct split {
    long x, y;
    bool minimal[2]; /* for the parts before and after the split: search without a limit */
};

struct grid {
    const struct sequence *a, *b;
    long *forward, *backward;
    long too_expensive; /* rounds after which the best point so far becomes the split */
};

/* Extend the front by one diagonal on each side.  On a side where that diagonal is outside of the box, shrink
 * it by one. */
static void widen(struct front *front, const struct box *box, long unreached) {
    if (front->low > box->x - box->y_end)
        front->at[--front->low - 1] = unreached;
    else
        ++front->low;
    if (front->high < box->x_end - box->y)
        front->at[++front->high + 1] = unreached;
    else
        --front->high;
}

static bool within(const struct front *front, long diagonal) {
    return front->low <= diagonal && diagonal <= front->high;
}

static bool found(struct split *split, long x, long diagonal) {
    *split = (struct split){x, x - diagonal, {true, true}};
    return true;
}

/* Advance the front from the north-west by one edit.
 *   odd      the fronts' first diagonals differ by an odd number: only the forward front can meet the other
 * returns  whether it met the other front. */
static bool step_forward(const struct grid *grid, const struct box *box, struct front *front,
                         const struct front *other, bool odd, struct split *split) {
    const uint32_t *a = grid->a->classes, *b = grid->b->classes;
    widen(front, box, -1);
    for (long d = front->high; d >= front->low; d -= 2) {
        long east = front->at[d - 1] + 1, south = front->at[d + 1];
        long x = east > south ? east : south;
        while (x < box->x_end && x - d < box->y_end && a[x] == b[x - d])
            x++;
        front->at[d] = x;
        if (odd && within(other, d) && other->at[d] <= x)
            return found(split, x, d);
    }
    return false;
}

/* Advance the front from the south-east by one edit; see step_forward. */
static bool step_backward(const struct grid *grid, const struct box *box, struct front *front,
                          const struct front *other, bool odd, struct split *split) {
    const uint32_t *a = grid->a->classes, *b = grid->b->classes;
    widen(front, box, LONG_MAX);
    for (long d = front->high; d >= front->low; d -= 2) {
        long north = front->at[d - 1], west = front->at[d + 1] - 1;
        long x = north < west ? north : west;
        while (x > box->x && x - d > box->y && a[x - 1] == b[x - d - 1])
            x--;
        front->at[d] = x;
        if (!odd && within(other, d) && x <= other->at[d])
            return found(split, x, d);
    }
    return false;
}

/* Returns the largest x + y of the front's points, and the point's x in *best_x. */
static long best_forward(const struct box *box, const struct front *front, long *best_x) {
    long best = -1;
    for (long d = front->high; d >= front->low; d -= 2) {
        long x = front->at[d] < box->x_end ? front->at[d] : box->x_end;
        if (x - d > box->y_end)
            x = box->y_end + d;
        if (x + x - d > best) {
            best = x + x - d;
            *best_x = x;
        }
    }
    return best;
}

/* Returns the smallest x + y of the backward front's points, and the point's x in *best_x. */
static long best_backward(const struct box *box, const struct front *front, long *best_x) {
    long best = LONG_MAX;
    for (long d = front->high; d >= front->low; d -= 2) {
        long x = front->at[d] > box->x ? front->at[d] : box->x;
        if (x - d < box->y)
            x = box->y + d;
        if (x + x - d < best) {
            best = x + x - d;
            *best_x = x;
        }
    }
    return best;
}

/* Split at the best point of the front that has advanced further. */
static void give_up(const struct box *box, const struct front *forward, const struct front *backward,
                    struct split *split) {
    long x = box->x, back_x = box->x_end;
    long sum = best_forward(box, forward, &x);
    long back_sum = best_backward(box, backward, &back_x);
    if (sum - (box->x + box->y) > box->x_end + box->y_end - back_sum)
        *split = (struct split){x, sum - x, {true, false}};
    else
        *split = (struct split){back_x, back_sum - back_x, {false, true}};
}

static void find_split(const struct grid *grid, const struct box *box, bool minimal, struct split *split) {
    long start = box->x - box->y, end = box->x_end - box->y_end;
    struct front forward = {grid->forward, start, start}, backward = {grid->backward, end, end};
    bool odd = (start - end) & 1;
    forward.at[start] = box->x;
    backward.at[end] = box->x_end;
    for (long cost = 1;; cost++) {
        if (step_forward(grid, box, &forward, &backward, odd, split) ||
            step_backward(grid, box, &backward, &forward, odd, split))
            return;
        if (!minimal && cost >= grid->too_expensive) {
            give_up(box, &forward, &backward, split);
            return;
        }
    }
}

static void mark(const struct sequence *sequence, long from, long end) {
    for (; from < end; from++)
        sequence->changed[sequence->places[from]] = 1;
}

static void search_box(const struct grid *grid, struct box box, bool minimal) {
    const uint32_t *a = grid->a->classes, *b = grid->b->classes;
    for (; box.x < box.x_end && box.y < box.y_end && a[box.x] == b[box.y]; box.x++)
        box.y++;
    for (; box.x < box.x_end && box.y < box.y_end && a[box.x_end - 1] == b[box.y_end - 1]; box.x_end--)
        box.y_end--;
    if (box.x == box.x_end || box.y == box.y_end) {
        mark(grid->a, box.x, box.x_end);
        mark(grid->b, box.y, box.y_end);
        return;
    }
    struct split split;
    find_split(grid, &box, minimal, &split);
    search_box(grid, (struct box){box.x, box.y, split.x, split.y}, split.minimal[0]);
    search_box(grid, (struct box){split.x, split.y, box.x_end, box.y_end}, split.minimal[1]);
}

/* Returns the limit in rounds: about the square root of the number of diagonals, at least 4096. */
static long expensive(size_t diagonals) {
    long root = 1;
    for (; diagonals; diagonals >>= 2)
        root <<= 1;
    return root > 4096 ? root : 4096;
}

void search(const struct sequence *a, const struct sequence *b) {
    size_t diagonals = a->count + b->count + 3;
    long *fronts = must(malloc(2 * diagonals * sizeof *fronts));
    struct grid grid = {a, b, fronts + b->count + 1, fronts + diagonals + b->count + 1, expensive(diagonals)};
    search_box(&grid, (struct box){0, 0, (long)a->count, (long)b->count}, options.minimal);
    free(fronts);
}
