/* SPDX-License-Identifier: MIT
 *
 * visibility_cases.c - output that one stream holds back is examined by the same process in other ways:
 * through another stream, another descriptor, or functions of libc that read.
 */
#include "transcript.h"

#include <sys/mman.h>

#if __has_include(<fts.h>) /* musl has no fts */
#include <fts.h>
#endif
#include <ftw.h>
#include <mntent.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

static void put_many(FILE *f, int n) {
    for (int i = 0; i < n; i++)
        putc('x', f);
}

CASE(a_reader_opened_afterwards) {
    FILE *f = fopen("out", "w");
    put_many(f, 100000);
    FILE *g = fopen("out", "r");
    CALL(fseek(g, 0, SEEK_END));
    CALL(ftell(g));
    put_many(f, 100000);
    CALL(fseek(g, 0, SEEK_END));
    CALL(ftell(g));
    fclose(f);
    fclose(g);
}

CASE(a_reader_opened_before) {
    static char block[500000];
    FILE *f = fopen("out", "w"), *g = fopen("out", "r");
    for (int turn = 0; turn < 4; turn++) {
        put_many(f, 100000);
        CALL(fread(block, 1, sizeof block, g));
        clearerr(g);
    }
    put_many(f, 100000);
    int n = 0;
    while (getc(g) != EOF)
        n++;
    say("%d characters", n);
    fclose(f);
    fclose(g);
}

CASE(lines_of_a_reader) {
    char line[100];
    int n = 0;
    FILE *f = fopen("out", "w"), *g = fopen("out", "r");
    for (int i = 0; i < 20000; i++)
        fprintf(f, "line %d\n", i);
    while (fgets(line, sizeof line, g))
        n++;
    say("%d lines, the last %q", n, line);
    fclose(f);
    fclose(g);
}

CASE(emptied_by_another) {
    struct stat st;
    FILE *f = fopen("out", "w");
    put_many(f, 60000);
    FILE *g = fopen("out", "w");
    stat("out", &st);
    say("size %ld", (long)st.st_size);
    fclose(f);
    fclose(g);
    note_file("out");
}

CASE(seen_through_a_descriptor) {
    static char block[100];
    struct iovec v = {block, 20};
    int n = -1;
    FILE *f = fopen("out", "w");
    int d = open("out", O_RDONLY);
    put_many(f, 100000);
    CALL(lseek(d, 0, SEEK_END));
    put_many(f, 100000);
    ioctl(d, FIONREAD, &n);
    say("FIONREAD %d", n);
    put_many(f, 100000);
    CALL(lseek(d, 250000, SEEK_SET));
    CALL(readv(d, &v, 1));
    put_many(f, 100000);
    CALL(read(d, block, 20));
    put_many(f, 100000);
    CALL(pread(d, block, 20, 480000));
    fclose(f);
    close(d);
}

CASE(appends_from_now_on) {
    FILE *f = fopen("out", "w+");
    put_many(f, 200000);
    rewind(f);
    put_many(f, 100000);
    CALL(fcntl(fileno(f), F_SETFL, O_APPEND));
    CALL(fclose(f));
    struct stat st;
    stat("out", &st);
    say("size %ld", (long)st.st_size);
}

static off_t size_by_unlocking(FILE *f, int command) {
    struct flock lock = {.l_type = F_UNLCK};
    struct stat st;
    int d = open("out", O_RDONLY);
    put_many(f, 100000);
    fcntl(fileno(f), command, &lock);
    lseek(d, 0, SEEK_END);
    stat("out", &st);
    close(d);
    return st.st_size;
}

CASE(unlocked_afterwards) {
    FILE *f = fopen("out", "w");
    say("%ld", (long)size_by_unlocking(f, F_SETLK));
    say("%ld", (long)size_by_unlocking(f, F_OFD_SETLK));
    fclose(f);
}

static long size_seen;

static int see_size(const char *path, const struct stat *st, int type) {
    if (type == FTW_F && strstr(path, "out"))
        size_seen = (long)st->st_size;
    return 0;
}

static int see_size_too(const char *path, const struct stat *st, int type, struct FTW *place) {
    (void)place;
    return see_size(path, st, type);
}

CASE(walked_over) {
    char *const here[] = {(char *)".", NULL};
    FILE *f = fopen("out", "w");
    put_many(f, 100000);
    ftw(".", see_size, 4);
    say("ftw %ld", size_seen);
    put_many(f, 100000);
    nftw(".", see_size_too, 4, 0);
    say("nftw %ld", size_seen);
    put_many(f, 100000);
#ifdef FTS_PHYSICAL
    FTS *tree = fts_open(here, FTS_PHYSICAL, NULL);
    for (FTSENT *e; (e = fts_read(tree)) != NULL;)
        if (e->fts_info == FTS_F && strcmp(e->fts_name, "out") == 0)
            say("fts %ld", (long)e->fts_statp->st_size);
    fts_close(tree);
#endif
    fclose(f);
}

CASE(read_as_a_table) {
    int n = 0;
    FILE *f = fopen("out", "w");
    for (int i = 0; i < 5000; i++)
        fprintf(f, "/dev/%d /mnt/%d ext4 rw 0 0\n", i, i);
    FILE *table = setmntent("out", "r");
    while (getmntent(table))
        n++;
    say("%d entries", n);
    endmntent(table);
    fclose(f);
}

/* A process that waits for a new name must find all output written before. */
CASE(told_by_a_name) {
    FILE *f = fopen("out", "w");
    int d = open("out", O_RDONLY);
    char last;
    put_many(f, 100000);
    CALL(mkdir("done", 0777));
    CALL(pread(d, &last, 1, 98303));
    put_many(f, 100000);
    CALL(symlink("out", "link"));
    CALL(pread(d, &last, 1, 196607));
    CALL(rmdir("done"));
    CALL(chmod("out", 0600));
    fclose(f);
    close(d);
}

/* Reads in steps: the reader must not have read ahead of bytes that are written to the file in other ways. */
static void read_tenth(FILE *f) {
    char text[4000];
    for (int i = 0; i < 10; i++)
        fread(text, 1, sizeof text, f);
}

static void find_hello(FILE *f) {
    char line[100] = "";
    long at = ftell(f);
    while (at < 60000 && fgetc(f) != EOF)
        at++;
    fread(line, 1, 5, f);
    say("at %ld: %b", at, line, 5);
    fclose(f);
}

CASE(a_map_that_writes) {
    for (int first = 0; first < 2; first++) {
        put_pattern("file", 300000);
        FILE *f = first ? fopen("file", "r") : NULL;
        int fd = open("file", O_RDWR);
        char *map = mmap(NULL, 300000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (!f)
            f = fopen("file", "r");
        read_tenth(f);
        memcpy(map + 60000, "HELLO", 5);
        find_hello(f);
        munmap(map, 300000);
        close(fd);
    }
}

CASE(dprintf_into_a_file_that_is_read) {
    static char more[8000];
    memset(more, '.', sizeof more - 1);
    for (int much = 0; much < 2; much++) {
        put_pattern("file", 300000);
        int fd = open("file", O_RDWR);
        FILE *f = fopen("file", "r");
        read_tenth(f);
        lseek(fd, 60000, SEEK_SET);
        CALL(dprintf(fd, "%s%s", "HELLO", much ? more : ""));
        find_hello(f);
        close(fd);
    }
}
