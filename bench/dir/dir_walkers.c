/* SPDX-License-Identifier: MIT
 *
 * dir_walkers.c HOW PATH: print all paths of a tree as find does.  HOW is "fts" for fts(3), or the number of
 * threads of asf_walk; "limit": open and read each directory and print nothing.
 */
#define _GNU_SOURCE
#include <asf/dir.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fts.h>

static struct output {
    char text[64 << 10];
    size_t n;
} outputs[ASF_WALK_THREADS];

static void flush(struct output *o) {
    fwrite(o->text, 1, o->n, stdout);
    o->n = 0;
}

static int print(const struct asf_visit *v, void *arg) {
    struct output *o = &outputs[v->thread];
    (void)arg;
    if (v->when != ASF_WALK_FOUND)
        return 0;
    if (o->n + v->path_length >= sizeof o->text)
        flush(o);
    memcpy(o->text + o->n, v->path, v->path_length);
    o->n += v->path_length + 1;
    o->text[o->n - 1] = '\n';
    return 0;
}

static int by_walk(const char *path, unsigned threads) {
    const struct asf_walk_options options = {.threads = threads};
    int rc = asf_walk(AT_FDCWD, path, &options, print, NULL);
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        flush(&outputs[i]);
    return rc;
}

static int by_fts(char *path) {
    char *paths[] = {path, NULL};
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOSTAT | FTS_NOCHDIR, NULL);
    for (FTSENT *e; (e = fts_read(walk));)
        if (e->fts_info != FTS_DP)
            puts(e->fts_path);
    return fts_close(walk);
}

/* Makes the fewest possible system calls: four for each directory. */
static int at_the_limit(int at, const char *name) {
    static char buffer[64 << 10];
    struct folder {
        struct folder *next;
        char name[];
    } *first = NULL;
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    for (long n; (n = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0;)
        for (struct dirent *e = (void *)buffer; (char *)e < buffer + n; e = (void *)((char *)e + e->d_reclen))
            if (e->d_type == DT_DIR && strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) {
                struct folder *f = malloc(sizeof *f + strlen(e->d_name) + 1);
                strcpy(f->name, e->d_name);
                f->next = first;
                first = f;
            }
    for (struct folder *f; (f = first);) {
        at_the_limit(fd, f->name);
        first = f->next;
        free(f);
    }
    return close(fd);
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    if (strcmp(argv[1], "fts") == 0)
        return by_fts(argv[2]) != 0;
    if (strcmp(argv[1], "limit") == 0)
        return at_the_limit(AT_FDCWD, argv[2]) != 0;
    return by_walk(argv[2], (unsigned)atoi(argv[1])) != 0;
}
