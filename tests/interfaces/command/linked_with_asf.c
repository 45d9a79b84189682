/* SPDX-License-Identifier: MIT
 *
 * linked_with_asf.c - a program that is linked with the shared libasf, and prints its version by stdio.
 */
#include <stdio.h>

#include <asf/asf.h>

int main(void) {
    puts(asf_version());
    return 0;
}
