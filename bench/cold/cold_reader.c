/* SPDX-License-Identifier: MIT
 *
 * cold_reader.c - reads a file once by the ASI, sums its bytes in place, and prints MB/s, CPU seconds (user,
 * system), the module and the sum.  bench/cold/run starts it on files that are in the page cache and on files
 * that are not.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <asf/asf.h>

static const char *const names[] = {"normal", "sequential", "random", "willneed", "dontneed", "once"};

static int advice_of(const char *name) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return (int)i;
    return -1;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double seconds(struct timeval t) {
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

/* Sums words rather than bytes, so that the sum does not limit the speed. */
static uint64_t sum(const char *p, size_t n) {
    uint64_t total = 0, word;
    for (; n >= sizeof word; p += sizeof word, n -= sizeof word) {
        memcpy(&word, p, sizeof word);
        total += word;
    }
    for (; n > 0; p++, n--)
        total += (unsigned char)*p;
    return total;
}

int main(int argc, char **argv) {
    enum { REGION = 256 << 10 };
    int error = 0, advice = argc == 3 ? advice_of(argv[1]) : -1;
    if (advice < 0) {
        fprintf(stderr, "usage: cold_reader normal|sequential|random|willneed|dontneed|once FILE\n");
        return 2;
    }
    double begin = now();
    uint64_t total = 0;
    int64_t size = 0;
    struct asf_cios *in = sopen(argv[2], O_RDONLY, 0, &error);
    if (in && advice != ASF_NORMAL)
        error = asf_advise(in, (enum asf_advice)advice);
    ssize_t n = error;
    for (const char *p; error == 0 && (n = REGION, p = salloc_some(in, &n));) {
        total += sum(p, (size_t)n);
        size += n;
        error = sfree(in, (void *)(uintptr_t)p);
    }
    if (error < 0 || n < 0) {
        fprintf(stderr, "cold_reader: %s: %s\n", argv[2], strerror(error < 0 ? -error : (int)-n));
        return 1;
    }
    const char *module = asf_module_name(in);
    sclose(in);
    double took = now() - begin;
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    printf("%.0f %.3f %.3f %s %016llx\n", (double)size / took / 1e6, seconds(used.ru_utime),
           seconds(used.ru_stime), module, (unsigned long long)total);
    return 0;
}
