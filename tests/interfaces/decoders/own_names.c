/* SPDX-License-Identifier: MIT
 *
 * own_names.c - copies standard input to standard output, and exports functions with the names of the
 * decoders' libraries, as coreutils' cksum exports crc32. zlib is loaded from the start, as in cksum.
 */
#include <stdio.h>
#include <stdlib.h>

int crc32(void);
int crc32(void) {
    abort();
}

int lzma_crc32(void);
int lzma_crc32(void) {
    abort();
}

int LZ4_decompress_safe(void);
int LZ4_decompress_safe(void) {
    abort();
}

int ZSTD_decompressStream(void);
int ZSTD_decompressStream(void) {
    abort();
}

int main(void) {
    for (int c; (c = getchar()) != EOF;)
        putchar(c);
    return ferror(stdin) || fflush(stdout) != 0;
}
