/* SPDX-License-Identifier: MIT
 *
 * wrong.c - libraries with one deliberate defect each, for selfcheck.py: the comparison must detect every
 * defect.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef DEFECT_BYTE
/* Changes every 5000th byte that is written by write(). */
ssize_t write(int fd, const void *data, size_t n) {
    static size_t written;
    ssize_t (*next)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    char *copy = memcpy(malloc(n + 1), data, n);
    for (size_t i = 0; i < n; i++)
        copy[i] = (char)(++written % 5000 ? copy[i] : copy[i] ^ 1);
    ssize_t result = next(fd, copy, n);
    free(copy);
    return result;
}

size_t fwrite_unlocked(const void *data, size_t size, size_t n, FILE *file) {
    fflush(file);
    ssize_t done = write(fileno(file), data, size * n);
    return done < 0 ? 0 : (size_t)done / size;
}
#endif

#ifdef DEFECT_READ
/* Changes the first byte of each block. */
size_t fread(void *data, size_t size, size_t n, FILE *file) {
    size_t (*next)(void *, size_t, size_t, FILE *) = dlsym(RTLD_NEXT, "fread");
    size_t done = next(data, size, n, file);
    *(char *)data ^= done > 0;
    return done;
}
#endif

#ifdef DEFECT_STATUS
static void wrong_status(int status, void *unused) {
    (void)unused;
    fflush(NULL);
    _exit(status + 1);
}

__attribute__((constructor)) static void start(void) {
    on_exit(wrong_status, NULL);
}
#endif

#ifdef DEFECT_FILE
__attribute__((constructor)) static void start(void) {
    close(creat("left-behind", 0600));
}
#endif

#ifdef DEFECT_MODE
__attribute__((constructor)) static void start(void) {
    umask(0077);
}
#endif

#ifdef DEFECT_STDERR
__attribute__((constructor)) static void start(void) {
    (void)!write(2, "wrong\n", 6);
}
#endif

#ifdef DEFECT_OFFSET
/* Moves the offset, which other processes share. */
__attribute__((constructor)) static void start(void) {
    lseek(0, 1, SEEK_CUR);
}
#endif

#ifdef DEFECT_LATE
/* Holds all output in a buffer until the end. */
static char held[8 << 20];

__attribute__((constructor)) static void start(void) {
    setvbuf(stdout, held, _IOFBF, sizeof held);
}
#endif

#ifdef DEFECT_IDLE
/* Defines a function of the library under test, but interposes nothing. */
const char *asf_version(void) {
    return "0";
}
#endif

#if defined DEFECT_MEMORY
#define LEAKED memset(malloc(16384), 1, 16384)
#elif defined DEFECT_DESCRIPTOR
#define LEAKED dup(0)
#elif defined DEFECT_MAPPING /* shared, so that the kernel does not merge the mappings */
#define LEAKED mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
#endif
#ifdef LEAKED
/* Each fclose leaks memory, a descriptor or a mapping. */
int fclose(FILE *file) {
    int (*next)(FILE *) = dlsym(RTLD_NEXT, "fclose");
    LEAKED;
    return next(file);
}
#endif
