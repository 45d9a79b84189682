/* SPDX-License-Identifier: MIT
 *
 * compress.c - the example program compress.
 */
#include "compress_main.h"

int main(int argc, char **argv) {
    return compress_main(argc, argv, "compress", false);
}
