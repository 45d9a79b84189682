/* SPDX-License-Identifier: MIT
 *
 * coherent_reads.c - the result of read() while other processes or threads use the file or the descriptor:
 *
 *     coherent_reads others KIND SEED ROUNDS FILE   another process appends, truncates and rewrites
 *     coherent_reads zeros FILE                     a file of holes and zeros
 *     coherent_reads threads FILE                   threads take records from one descriptor
 *
 * Each byte of the file is computed from its offset and is not zero, so that an outdated byte shows. In
 * "zeros", and if KIND is zeros, only the number of bytes is checked.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LARGEST = 3 << 20, MOST = 9000 };

static uint64_t state;
static char content[LARGEST];

static uint64_t any(uint64_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 8) % below;
}

static void fail(const char *what, long got, long expected) {
    fprintf(stderr, "%s: got %ld, expected %ld, errno %d\n", what, got, expected, errno);
    _exit(1);
}

static void make_content(void) {
    for (size_t i = 0; i < LARGEST; i++)
        content[i] = (char)(1 + (i * 7 + (i >> 8)) % 255);
}

static void check_bytes(long at, long n, const char *p, bool or_zero) {
    for (long i = 0; i < n; i++)
        if (p[i] != content[at + i] && !(or_zero && p[i] == 0))
            fail("a byte that was never there", (unsigned char)p[i], (unsigned char)content[at + i]);
}

/* --- others ------------------------------------------------------------------------------ */

/* `settled` is odd while the writer changes the file. While it is even, `size` is the file's size. */
struct shared {
    volatile long settled, size;
    volatile bool over;
};

static void change(int fd, struct shared *s) {
    long size = s->size, n;
    switch (any(4)) {
    case 0:
        s->size = (long)any((uint64_t)size + 1);
        if (ftruncate(fd, s->size) != 0)
            fail("ftruncate", -1, 0);
        break;
    case 1: /* write the same bytes again */
        n = size ? (long)any((uint64_t)size) : 0;
        if (pwrite(fd, content + n, (size_t)(size - n), n) != size - n)
            fail("rewrite", -1, size - n);
        break;
    default:
        n = (long)any(2) ? (long)any(100) : (long)any(200000);
        n = n < LARGEST - size ? n : LARGEST - size;
        if (pwrite(fd, content + size, (size_t)n, size) != n)
            fail("append", -1, n);
        s->size = size + n;
    }
}

static void write_on(const char *path, struct shared *s) {
    /* If the reader fails, this process must not stay, since it holds the test's output open. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int fd = open(path, O_RDWR);
    while (!s->over) {
        __atomic_add_fetch(&s->settled, 1, __ATOMIC_SEQ_CST);
        change(fd, s);
        __atomic_add_fetch(&s->settled, 1, __ATOMIC_SEQ_CST);
        usleep((useconds_t)any(300));
    }
    _exit(0);
}

/*
 * If the writer was idle meanwhile, the result must be the file's bytes exactly. Otherwise zeros are
 * accepted: Linux's own read returned some (5 of 3,600 runs without asf), since ftruncate clears a page
 * that read is about to copy.
 */
static long read_once(int fd, long at, struct shared *s) {
    static char buffer[MOST];
    static const long sizes[] = {1, 3, 8, 8, 16, 64, 100, 512, 1000, 4096, MOST};
    long n = sizes[any(sizeof sizes / sizeof *sizes)];
    long before = __atomic_load_n(&s->settled, __ATOMIC_SEQ_CST), size = s->size;
    bool in_place = any(3) != 0;
    long r = in_place ? read(fd, buffer, (size_t)n) : pread(fd, buffer, (size_t)n, at);
    if (r < 0)
        fail("read", r, n);
    bool idle = before % 2 == 0 && __atomic_load_n(&s->settled, __ATOMIC_SEQ_CST) == before;
    check_bytes(at, r, buffer, !idle);
    long there = at >= size ? 0 : size - at < n ? size - at : n;
    if (idle && r != there)
        fail("bytes read of a file at rest", r, there);
    return in_place ? at + r : at;
}

static long seek_to(int fd, long at) {
    long r = lseek(fd, at, SEEK_SET);
    if (r != at)
        fail("lseek", r, at);
    return at;
}

static void read_beside_others(const char *path, long rounds) {
    struct shared *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    s->size = LARGEST / 2;
    if (pwrite(fd, content, LARGEST / 2, 0) != LARGEST / 2)
        fail("write", -1, LARGEST / 2);
    close(fd);
    pid_t other = fork();
    if (other == 0)
        write_on(path, s);
    for (long round = 0; round < rounds; round++) {
        long at = (long)any(LARGEST / 2);
        fd = open(path, O_RDONLY);
        seek_to(fd, at);
        for (int i = 0; i < 3000; i++) {
            if (any(500) == 0)
                at = seek_to(fd, (long)any(LARGEST));
            at = read_once(fd, at, s);
        }
        if (lseek(fd, 0, SEEK_CUR) != at)
            fail("the offset at the end", lseek(fd, 0, SEEK_CUR), at);
        close(fd);
    }
    s->over = true;
    waitpid(other, NULL, 0);
}

/* --- holes and zeros ------------------------------------------------------------------------ */

static void read_zeros(const char *path) {
    static char buffer[MOST];
    int w = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (int holes = 0; holes < 2; holes++) {
        if (!holes) {
            memset(content, 0, LARGEST);
            for (size_t i = 0; i < LARGEST; i += 20000) /* some islands */
                memcpy(content + i, "island", 6);
            if (pwrite(w, content, LARGEST, 0) != LARGEST)
                fail("write", -1, LARGEST);
        } else if (ftruncate(w, 0) != 0 || ftruncate(w, LARGEST) != 0) {
            fail("ftruncate", -1, 0);
        }
        if (holes)
            memset(content, 0, LARGEST);
        for (long n = 1; n < MOST; n = n * 3 + 1) {
            int fd = open(path, O_RDONLY);
            long at = 0, r;
            while ((r = read(fd, buffer, (size_t)n)) > 0) {
                check_bytes(at, r, buffer, false);
                at += r;
            }
            if (at != LARGEST)
                fail("bytes in all", at, LARGEST);
            close(fd);
        }
    }
    close(w);
}

/* --- threads ---------------------------------------------------------------------------------- */

enum { THREADS = 4, RECORD = 24, LARGE_RECORD = 3000 };
static int shared_fd;
static size_t record;
static char taken[LARGEST / RECORD + 1];

/* Reads an earlier record again by its offset. */
static void look_back(long at) {
    long before = at / 3 / (long)record * (long)record, told;
    if (pread(shared_fd, &told, sizeof told, before) != sizeof told || told != before)
        fail("a record looked at again", told, before);
}

static void *take_records(void *unused) {
    static __thread char buffer[LARGE_RECORD];
    for (ssize_t r; (r = read(shared_fd, buffer, record)) == (ssize_t)record;) {
        long at;
        memcpy(&at, buffer, sizeof at);
        if (at < 0 || at % (long)record != 0 || at >= LARGEST)
            fail("a record's place", at, 0);
        check_bytes(at + (long)sizeof at, r - (long)sizeof at, buffer + sizeof at, false);
        __atomic_add_fetch(&taken[(size_t)at / record], 1, __ATOMIC_RELAXED);
        look_back(at);
    }
    return unused;
}

static void read_in_threads(const char *path) {
    pthread_t threads[THREADS];
    for (int round = 0; round < 6; round++) {
        record = round % 2 ? LARGE_RECORD : RECORD;
        long count = LARGEST / (long)record;
        make_content();
        for (long i = 0; i < count; i++)
            memcpy(content + i * (long)record, &(long){i * (long)record}, sizeof i);
        int w = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
        if (write(w, content, (size_t)count * record) != count * (long)record)
            fail("write", -1, count);
        close(w);
        memset(taken, 0, sizeof taken);
        shared_fd = open(path, O_RDONLY);
        for (int i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, take_records, NULL);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        for (long i = 0; i < count; i++)
            if (taken[i] != 1)
                fail("times a record was read", taken[i], 1);
        close(shared_fd);
    }
}

int main(int argc, char **argv) {
    const char *path = argv[argc - 1];
    make_content();
    if (argc == 6 && strcmp(argv[1], "others") == 0) {
        if (strcmp(argv[2], "zeros") == 0)
            memset(content, 0, sizeof content);
        state = strtoul(argv[3], NULL, 10) * 2654435761u + 88172645463325252u;
        read_beside_others(path, strtol(argv[4], NULL, 10));
    } else if (argc == 3 && strcmp(argv[1], "zeros") == 0) {
        read_zeros(path);
    } else if (argc == 3 && strcmp(argv[1], "threads") == 0) {
        read_in_threads(path);
    } else {
        return 2;
    }
    unlink(path);
    return 0;
}
