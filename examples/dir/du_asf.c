/* SPDX-License-Identifier: MIT
 *
 * du_asf.c - du -kl by asf_walk: prints the kilobytes on disk of each directory, with everything in it.  A
 * directory is printed after its subdirectories; otherwise the order is arbitrary.
 */
#define _GNU_SOURCE
#include <asf/dir.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static atomic_int status = EXIT_SUCCESS;

static void complain(const char *path, int error) {
    fprintf(stderr, "%s: %s\n", path, asf_error_text(error));
    status = EXIT_FAILURE;
}

static void show(long blocks, const char *path) {
    printf("%ld\t%s\n", blocks / 2, path);
}

/* `own` of a directory points to its blocks so far.  Several threads add the blocks of entries that are
 * complete. */
static int visit(const struct asf_visit *v, void *arg) {
    (void)arg;
    atomic_long *above = v->above;
    long blocks = v->entry.status ? (long)v->entry.status->stx_blocks : 0;
    if (v->entry.error)
        complain(v->path, -v->entry.error);
    if (v->when == ASF_WALK_FOUND && v->entry.type == DT_DIR) {
        atomic_long *own = *v->own = malloc(sizeof *own);
        if (!own)
            return -ENOMEM;
        atomic_init(own, blocks);
        return 0;
    }
    if (v->when == ASF_WALK_FAILED)
        return 0;
    if (v->when == ASF_WALK_DONE) {
        blocks = *(atomic_long *)*v->own;
        free(*v->own);
        show(blocks, v->path);
    } else if (v->depth == 0) {
        show(blocks, v->path);
    }
    if (above)
        *above += blocks;
    return 0;
}

int main(int argc, char **argv) {
    static char here[] = ".";
    const struct asf_walk_options options = {.mask = STATX_BLOCKS, .flags = ASF_WALK_AFTER};
    for (int i = argc > 1 ? 1 : 0; i < argc; i++) {
        const char *path = argc > 1 ? argv[i] : here;
        int rc = asf_walk(AT_FDCWD, path, &options, visit, NULL);
        if (rc < 0)
            complain(path, -rc);
    }
    return status;
}
