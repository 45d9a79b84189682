/* SPDX-License-Identifier: MIT
 *
 * exit_7.c - a program for the tests of the asf command, linked statically.
 */
int main(void) {
    return 7;
}
