/* SPDX-License-Identifier: MIT
 *
 * array_reader.c - reads an array from text, or from the segment that the text names, and prints its range
 * and sum.  The program's code is the same for both.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <asf/shm.h>

static void report(const double *coeff, size_t n) {
    double least = n ? coeff[0] : 0, most = least, sum = 0;
    for (size_t i = 0; i < n; i++) {
        least = coeff[i] < least ? coeff[i] : least;
        most = coeff[i] > most ? coeff[i] : most;
        sum += coeff[i];
    }
    printf("%zu numbers from %.17g to %.17g, sum %.17g\n", n, least, most, sum);
}

int main(void) {
    size_t n;
    if (scanf("npts %zu coeff", &n) != 1) {
        fputs("shm-reader: standard input: it does not begin with npts COUNT\n", stderr);
        return EXIT_FAILURE;
    }
    const double *coeff = asf_shm_read_doubles(stdin, &n);
    if (!coeff) {
        fprintf(stderr, "shm-reader: %s; %s\n", strerror(errno), asf_shm_why());
        return EXIT_FAILURE;
    }
    report(coeff, n);
    return asf_shm_free_doubles(coeff) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
