/* SPDX-License-Identifier: MIT
 *
 * scan.c - choose the scanning kernels, once, at the first use: a program that never scans does not pay for
 * the choice.
 */
#include <asf/scan.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/sys/syscalls.h"
#include "lib/text/scan_kernels.h"

enum { KERNELS_MOST = 4 };

const struct asf_scan_table *asf__scan_chosen;

/* Returns the index of the kernel with this name; -EINVAL: there is none; -ENOTSUP: this CPU does not have
 * it. */
static int find_kernel(const char *name) {
    for (int i = 0; asf__scan_all[i]; i++)
        if (strcmp(asf__scan_all[i]->name, name) == 0)
            return asf__scan_has(i) ? i : -ENOTSUP;
    return -EINVAL;
}

struct line {
    char text[200];
    size_t length;
};

static void append_text(struct line *line, const char *text) {
    for (size_t i = 0; text[i] && i < 64 && line->length < sizeof line->text; i++)
        line->text[line->length++] = text[i];
}

static void report_bad_name(const char *name, int error) {
    struct line line = {.length = 0};
    append_text(&line, "asf: ASF_SCAN=");
    append_text(&line, name);
    append_text(&line, error == -EINVAL ? ": unknown, one of " : ": this CPU does not have it");
    for (int i = 0; error == -EINVAL && asf__scan_all[i]; i++) {
        append_text(&line, i > 0 ? ", " : "");
        append_text(&line, asf__scan_all[i]->name);
    }
    append_text(&line, error == -EINVAL ? " is expected; using " : "; using ");
    append_text(&line, asf__scan_all[asf__scan_best()]->name);
    append_text(&line, "\n");
    asf__sys.write(2, line.text, line.length);
}

/* Chooses the kernels.  If several threads call this at once, they make the same choice, and only one
 * reports an error. */
const struct asf_scan_table *asf__scan_choose(void) {
    const char *name = secure_getenv("ASF_SCAN");
    int which = name && *name ? find_kernel(name) : asf__scan_best();
    const struct asf_scan_table *before = NULL;
    const struct asf_scan_table *now = asf__scan_all[which < 0 ? asf__scan_best() : which];
    if (!__atomic_compare_exchange_n(&asf__scan_chosen, &before, now, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED))
        return before;
    if (which < 0)
        report_bad_name(name, which);
    return now;
}

const char *const *asf_scan_kernels(void) {
    static const char *names[KERNELS_MOST + 1];
    for (int i = 0; asf__scan_all[i]; i++)
        __atomic_store_n(&names[i], asf__scan_all[i]->name, __ATOMIC_RELAXED);
    return names;
}

const char *asf_scan_kernel(void) {
    return asf__scan()->name;
}

int asf_scan_use(const char *name) {
    int which = name ? find_kernel(name) : asf__scan_best();
    if (which < 0)
        return which;
    __atomic_store_n(&asf__scan_chosen, asf__scan_all[which], __ATOMIC_RELAXED);
    return 0;
}

size_t asf_scan_count(const void *s, int c, size_t n) {
    return asf__scan()->count(s, c, n);
}

void *asf_scan_find(const void *s, int c, size_t n) {
    return asf__scan()->find(s, c, n);
}

void *asf_scan_rfind(const void *s, int c, size_t n) {
    return asf__scan()->rfind(s, c, n);
}

size_t asf_scan_differ(const void *a, const void *b, size_t n) {
    return asf__scan()->differ(a, b, n);
}

size_t asf_scan_ascii(const void *s, size_t n) {
    return asf__scan()->ascii(s, n);
}

void asf_scan_words(struct asf_scan_counts *counts, const void *s, size_t n) {
    asf__scan()->words(counts, s, n);
}

void asf_scan_masks(const void *s, size_t n, int a, int b, uint64_t *at_a, uint64_t *at_b) {
    asf__scan()->masks(s, n, a, b, at_a, at_b);
}
