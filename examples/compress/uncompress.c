/* SPDX-License-Identifier: MIT
 *
 * uncompress.c - the example program uncompress.
 */
#include "compress_main.h"

int main(int argc, char **argv) {
    return compress_main(argc, argv, "uncompress", true);
}
