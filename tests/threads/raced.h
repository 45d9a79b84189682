/* SPDX-License-Identifier: MIT
 *
 * raced.h - shared by the programs that are compiled with ThreadSanitizer, while the library is not:
 * ThreadSanitizer must not report a race if the library synchronizes.
 */
#ifndef ASF_TESTS_RACED_H
#define ASF_TESTS_RACED_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define OK(x)                                                                                                \
    do {                                                                                                     \
        if (!(x)) {                                                                                          \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x);                                          \
            _exit(3);                                                                                        \
        }                                                                                                    \
    } while (0)

enum { THREADS = 4 };

static int rounds = 100;
static char folder[] = "/tmp/raced.XXXXXX";

/* Runs a function in several threads, each with its own name. */
static inline void together(void *(*run)(void *)) {
    static char names[THREADS][2] = {"a", "b", "c", "d"};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        OK(pthread_create(&threads[i], NULL, run, names[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static inline void begin(int argc, char **argv) {
    rounds = argc > 1 ? atoi(argv[1]) : rounds;
    OK(mkdtemp(folder));
    OK(chdir(folder) == 0);
}

static inline int end(void) {
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

#endif
