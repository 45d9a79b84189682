/* SPDX-License-Identifier: MIT
 *
 * large_reads_cases.c - reads of megabytes into memory of every kind: fresh,
 * shared, a file's, with a hole of no access; and what is done to it later.
 * Layer: tests.
 */
#include "tests/interfaces/stdio/transcript.h"

#include <pthread.h>
#include <sys/mman.h>

enum { MB = 1 << 20, SIZE = 12 * MB, BEFORE = 12345 };

static char *fresh(size_t n) {
    return mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void check(const char *p, long at, long n) {
    long i = 0;
    while (i < n && (unsigned char)p[i] == pattern_at((size_t)(at + i)))
        i++;
    say("right up to %ld", i);
}

static int open_pattern(void) {
    put_pattern("large", SIZE);
    return open("large", O_RDONLY);
}

static int is_there(char *p) {
    unsigned char there = 2;
    mincore((char *)((uintptr_t)p & ~4095ul), 1, &there);
    return there & 1;
}

CASE(into_fresh_memory) {
    int fd = open_pattern();
    char *p = fresh(SIZE);
    CALL(read(fd, p + BEFORE, SIZE - BEFORE));
    check(p + BEFORE, 0, SIZE - BEFORE);
    say("before it %d", p[BEFORE - 1]);
    CALL(read(fd, p, SIZE));
    check(p, SIZE - BEFORE, BEFORE);
    CALL(read(fd, p, SIZE));
}

CASE(by_stdio) {
    put_pattern("large", SIZE);
    FILE *f = fopen("large", "r");
    char *p = malloc(SIZE + 1);
    CALL(getc(f));
    CALL(fread(p, 1, SIZE, f));
    check(p, 1, SIZE - 1);
    note_state(f);
}

CASE(memory_grows_later) {
    int fd = open_pattern();
    char *p = malloc(SIZE);
    CALL(read(fd, p, SIZE));
    p = realloc(p, 3ul * SIZE);
    check(p, 0, SIZE);
    char *q = fresh(SIZE), *moved;
    CALL(pread(fd, q, SIZE, 0));
    CALL(lseek(fd, 0, SEEK_SET));
    CALL(read(fd, q, SIZE));
    moved = mremap(q, SIZE, 2ul * SIZE, MREMAP_MAYMOVE);
    say("moved: %d", moved != MAP_FAILED);
    check(moved, 0, SIZE);
    CALL(madvise(moved, 5 * MB, MADV_DONTNEED));
    say("%d", moved[5 * MB - 1]);
    check(moved + 5 * MB, 5 * MB, SIZE - 5 * MB);
}

CASE(more_is_asked_for) {
    int fd = open_pattern();
    char *p = fresh(3ul * SIZE);
    CALL(lseek(fd, 5 * MB, SEEK_SET));
    CALL(read(fd, p, 3ul * SIZE));
    check(p, 5 * MB, SIZE - 5 * MB);
    say("what was not read is there: %d %d %d", is_there(p + SIZE - 5 * MB + 4096), is_there(p + SIZE),
        is_there(p + 2ul * SIZE));
    CALL(read(fd, p, 3ul * SIZE));
    CALL(lseek(fd, 100 * MB, SEEK_SET));
    CALL(read(fd, p, 3ul * SIZE));
}

CASE(bytes_that_stay) {
    int fd = open_pattern();
    char *p = fresh(SIZE);
    memset(p + 2 * MB, 'x', MB);
    memset(p + 9 * MB, 'y', 100);
    CALL(lseek(fd, 4 * MB, SEEK_SET));
    CALL(read(fd, p, SIZE));
    check(p, 4 * MB, SIZE - 4 * MB);
    say("%c%c%d", p[9 * MB], p[9 * MB + 99], p[9 * MB + 100]);
}

CASE(shared_memory) {
    int fd = open_pattern(), other = open("other", O_RDWR | O_CREAT | O_TRUNC, 0600);
    char *p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CALL(read(fd, p, SIZE));
    check(p, 0, SIZE);
    CALL(ftruncate(other, SIZE));
    p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, other, 0);
    CALL(lseek(fd, 0, SEEK_SET));
    CALL(read(fd, p, SIZE - 3 * MB));
    check(p, 0, SIZE - 3 * MB);
    struct stat st;
    CALL(fstat(other, &st));
    say("size %ld, filled %d", (long)st.st_size, st.st_blocks * 512 <= SIZE - 2 * MB);
}

CASE(private_map_of_a_file) {
    int fd = open_pattern(), other = open("other", O_RDWR | O_CREAT | O_TRUNC, 0600);
    struct stat st;
    CALL(ftruncate(other, SIZE));
    char *p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, other, 0);
    CALL(read(fd, p, SIZE));
    check(p, 0, SIZE);
    CALL(fstat(other, &st));
    say("blocks %ld", (long)st.st_blocks);
}

CASE(no_access_within) {
    int fd = open_pattern();
    char *p = fresh(SIZE);
    mprotect(p + 7 * MB, 4096, PROT_READ);
    CALL(read(fd, p, SIZE));
    check(p, 0, 7 * MB);
    CALL(lseek(fd, 0, SEEK_CUR));
    munmap(p + 3 * MB, 4096);
    CALL(lseek(fd, 0, SEEK_SET));
    CALL(read(fd, p, SIZE));
    CALL(read(fd, NULL, SIZE));
    CALL(read(fd, p + SIZE, 1ul << 46));
}

CASE(not_a_file) {
    int ends[2];
    char *p = fresh(SIZE);
    CALL(pipe(ends));
    CALL(write(ends[1], "abc", 3));
    CALL(read(ends[0], p, SIZE));
    say("%d", is_there(p + 6 * MB));
    CALL(read(open(".", O_RDONLY), p, SIZE));
    CALL(read(open("/dev/zero", O_RDONLY), p, 5 * MB));
    CALL(read(-1, p, SIZE));
}

CASE(the_next_descriptor) {
    int fd = open_pattern();
    CALL(read(fd, fresh(SIZE), SIZE));
    CALL(open("large", O_RDONLY));
}

static void *do_nothing(void *arg) {
    return arg;
}

CASE(with_a_thread) {
    pthread_t t;
    int fd = open_pattern();
    char *p = fresh(SIZE);
    pthread_create(&t, NULL, do_nothing, NULL);
    CALL(read(fd, p, SIZE));
    check(p, 0, SIZE);
    pthread_join(t, NULL);
}

CASE(a_child_has_its_own) {
    int fd = open_pattern();
    char *p = fresh(SIZE);
    CALL(read(fd, p, SIZE));
    pid_t pid = fork();
    if (pid == 0) {
        memset(p, 'z', SIZE);
        _exit(p[SIZE - 1] == 'z');
    }
    finish(pid);
    check(p, 0, SIZE);
}
