/* SPDX-License-Identifier: MIT
 *
 * array_writer.c - computes an array, and passes it on as text, or with --shm through shared memory:
 *
 *     shm-writer 1000000 | shm-reader
 *     shm-writer --shm 1000000 | shm-reader
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <asf/shm.h>

static void compute(double *coeff, size_t n) {
    for (size_t i = 0; i < n; i++)
        coeff[i] = sin((double)i) / (double)(i + 1);
}

/* Print an error.
 *   error  an errno value, negated or not
 *   why    asf's text about the error, or NULL */
static int complain(const char *what, int error, const char *why) {
    fprintf(stderr, "shm-writer: %s: %s%s%s\n", what, strerror(abs(error)), why ? "; " : "", why ? why : "");
    return EXIT_FAILURE;
}

static int written(int rc) {
    return rc == 0 ? EXIT_SUCCESS : complain("asf_shm_write_doubles", rc, asf_shm_why());
}

/* Compute the array in a segment, where the other program reads it: nothing is copied. */
static int write_segment(size_t n) {
    char *shm = asf_shm_create("coeff", 0600, n * sizeof(double));
    if (!shm)
        return complain("asf_shm_create", errno, asf_shm_why());
    double *coeff = (double *)(void *)(shm + ASF_SHM_HEAD);
    compute(coeff, n);
    int rc = asf_shm_write_doubles(stdout, coeff, n, "coeff");
    asf_shm_close(shm);
    return written(rc);
}

static int write_text(size_t n) {
    double *coeff = malloc((n + 1) * sizeof *coeff);
    if (!coeff)
        return complain("malloc", errno, NULL);
    compute(coeff, n);
    int rc = asf_shm_write_doubles(stdout, coeff, n, NULL);
    free(coeff);
    return written(rc);
}

int main(int argc, char **argv) {
    int through_segment = argc > 1 && strcmp(argv[1], "--shm") == 0;
    if (argc != 2 + through_segment) {
        fputs("usage: shm-writer [--shm] COUNT\n", stderr);
        return EXIT_FAILURE;
    }
    size_t n = strtoul(argv[1 + through_segment], NULL, 10);
    printf("npts %zu\ncoeff ", n);
    int status = (through_segment ? write_segment : write_text)(n);
    return fflush(stdout) == 0 ? status : complain("standard output", errno, NULL);
}
