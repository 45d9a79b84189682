/* SPDX-License-Identifier: MIT
 *
 * set_uid_program.c - copies its input by stdio, linked with the library.
 */
#include <stdio.h>

int main(void) {
    int ch;
    while ((ch = getchar()) != EOF)
        putchar(ch);
    return fflush(stdout) != 0;
}
