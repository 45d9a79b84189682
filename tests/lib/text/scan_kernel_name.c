/* SPDX-License-Identifier: MIT
 *
 * scan_kernel_name.c - prints the scanning kernels that the environment and the CPU have chosen; with an
 * argument, those that asf_scan_use chooses.
 */
#include <asf/scan.h>

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--best") == 0)
        asf_scan_use(NULL);
    puts(asf_scan_kernel());
    return 0;
}
