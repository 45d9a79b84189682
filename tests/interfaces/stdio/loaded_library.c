/* SPDX-License-Identifier: MIT
 *
 * loaded_library.c - a shared library that uses stdio when it is loaded, called and unloaded; for
 * loading_cases.c.
 */
#include <stdio.h>
#include <stdlib.h>

static FILE *log_of_library;

void loaded_library_prints(const char *text);
FILE *loaded_library_stream(void);

static void at_exit(void) {
    fputs("library: atexit\n", stdout);
}

__attribute__((constructor)) static void loaded(void) {
    if (!getenv("LOADED_LIBRARY"))
        return;
    printf("library: loaded\n");
    log_of_library = fopen("library-log", "a");
    fputs("loaded ", log_of_library);
    atexit(at_exit);
}

__attribute__((destructor)) static void unloaded(void) {
    if (!log_of_library) /* loaded before LOADED_LIBRARY was set */
        return;
    printf("library: unloaded\n");
    fputs("unloaded\n", log_of_library);
}

void loaded_library_prints(const char *text) {
    printf("library: %s\n", text);
    puts("library: puts");
    putchar('!');
    putchar('\n');
}

FILE *loaded_library_stream(void) {
    return log_of_library;
}
