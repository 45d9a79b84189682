/* SPDX-License-Identifier: MIT
 *
 * du_plain.c - du -kl by fts(3): prints the kilobytes on disk of each directory, with everything in it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <fts.h>

static int status = EXIT_SUCCESS;

static void complain(const char *path, int error) {
    fprintf(stderr, "%s: %s\n", path, strerror(error));
    status = EXIT_FAILURE;
}

/* fts_number of a directory is its blocks so far, with those of all complete entries. */
static void visit(FTSENT *e) {
    switch (e->fts_info) {
    case FTS_D:
        e->fts_number = e->fts_statp->st_blocks;
        break;
    case FTS_DP:
        printf("%ld\t%s\n", e->fts_number / 2, e->fts_path);
        e->fts_parent->fts_number += e->fts_number;
        break;
    case FTS_DNR:
        complain(e->fts_path, e->fts_errno);
        printf("%ld\t%s\n", e->fts_number / 2, e->fts_path);
        e->fts_parent->fts_number += e->fts_number;
        break;
    case FTS_ERR:
    case FTS_NS:
        complain(e->fts_path, e->fts_errno);
        break;
    default:
        if (e->fts_level == 0)
            printf("%ld\t%s\n", (long)e->fts_statp->st_blocks / 2, e->fts_path);
        e->fts_parent->fts_number += e->fts_statp->st_blocks;
    }
}

int main(int argc, char **argv) {
    static char here[] = ".";
    char *usual[] = {here, NULL};
    FTS *walk = fts_open(argc > 1 ? argv + 1 : usual, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    if (!walk) {
        complain("fts_open", errno);
        return status;
    }
    for (FTSENT *e; (e = fts_read(walk));)
        visit(e);
    fts_close(walk);
    return status;
}
