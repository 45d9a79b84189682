/* SPDX-License-Identifier: MIT
 *
 * raced_stdio.c - threads that use stdio correctly: private streams, whose memory is reused, and shared
 * ones. With asf ThreadSanitizer must see the locks of a FILE, which glibc hides: with glibc it reports
 * putc_unlocked under flockfile and the functions of a cookie.
 */
#define _GNU_SOURCE
#include "raced.h"

#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <stdio_ext.h>
#include <string.h>
#include <wchar.h>

/* --- streams of a thread's own ----------------------------------------------------------- */

static void write_file(const char *path) {
    FILE *f;
    OK((f = fopen(path, "w")));
    for (int i = 0; i < 200; i++)
        OK(fprintf(f, "line %d\n", i) > 0);
    putc('x', f);
    putc_unlocked('\n', f);
    OK(fclose(f) == 0);
}

static void read_file(const char *path) {
    char line[100], *grown = NULL;
    size_t size = 0;
    int n = -1;
    FILE *f;
    OK((f = fopen(path, "r+")));
    OK(fgets(line, sizeof line, f));
    OK(getc(f) == 'l' && getc_unlocked(f) == 'i' && ungetc('i', f) == 'i');
    OK(getline(&grown, &size, f) > 0);
    OK(fseek(f, 0, SEEK_END) == 0 && ftell(f) > 100 && fputs("more\n", f) >= 0);
    OK(freopen(path, "r", f));
    OK(fscanf(f, "line %d", &n) == 1 && n == 0);
    OK(fread(line, 1, 50, f) == 50);
    OK(fclose(f) == 0);
    free(grown);
}

static void use_memory(void) {
    char memory[100] = "12 some text", *grown = NULL;
    size_t size = 0;
    int n = 0;
    FILE *f;
    OK((f = fmemopen(memory, sizeof memory, "r+")));
    OK(fscanf(f, "%d", &n) == 1 && n == 12 && fclose(f) == 0);
    OK((f = open_memstream(&grown, &size)));
    OK(fprintf(f, "%d and %s", 7, "text") > 0 && fclose(f) == 0);
    OK(strcmp(grown, "7 and text") == 0);
    free(grown);
}

static void use_wide_characters(const char *path) {
    wchar_t line[100];
    FILE *f;
    OK((f = fopen(path, "w")));
    OK(fwprintf(f, L"line %d\n", 3) > 0 && fclose(f) == 0);
    OK((f = fopen(path, "r")));
    OK(fgetws(line, 100, f) && fclose(f) == 0);
}

static void use_temporary_file(int i) {
    int n = -1;
    FILE *f;
    OK((f = tmpfile()));
    OK(setvbuf(f, NULL, i % 2 ? _IONBF : _IOFBF, 100) == 0);
    OK(fprintf(f, "%d", i) > 0);
    rewind(f);
    OK(fscanf(f, "%d", &n) == 1 && n == i && fclose(f) == 0);
    OK((f = fdopen(dup(1), "w")));
    OK(fputs("x", f) >= 0);
    __fpurge(f);
    OK(fclose(f) == 0);
}

static void *with_streams_of_its_own(void *name) {
    for (int i = 0; i < rounds; i++) {
        write_file(name);
        read_file(name);
        use_memory();
        use_wide_characters(name);
        use_temporary_file(i);
    }
    return NULL;
}

static void *with_children(void *unused) {
    char line[100];
    FILE *f;
    for (int i = 0; i < rounds / 20 + 1; i++) {
        OK((f = popen("echo text", "r")));
        OK(fgets(line, sizeof line, f) && pclose(f) == 0);
    }
    return unused;
}

/* --- shared ones ----------------------------------------------------------------------------- */

static FILE *output, *input, *cookie, *wide;
static char kept[1 << 16];
static size_t kept_n;

/* Called with the stream's lock held. */
static ssize_t keep(void *unused, const char *p, size_t n) {
    (void)unused;
    for (size_t i = 0; i < n; i++)
        kept[kept_n++ % sizeof kept] = p[i];
    return (ssize_t)n;
}

static void *with_a_shared_output(void *name) {
    for (int i = 0; i < 10 * rounds; i++) {
        fprintf(output, "%s %d\n", (char *)name, i);
        fputs("text\n", output);
        putc('c', output);
        fwrite("some bytes\n", 1, 11, output);
        flockfile(output);
        for (int j = 0; j < 3; j++)
            putc_unlocked('u', output);
        fputs_unlocked("text\n", output);
        funlockfile(output);
        if (ftrylockfile(output) == 0) {
            putc_unlocked('t', output);
            funlockfile(output);
        }
        if (i % 50 == 0)
            fflush(i % 100 ? output : NULL);
        fprintf(cookie, "%d and more\n", i);
        fwprintf(wide, L"%d and more\n", i);
        fputwc(L'w', wide);
    }
    return NULL;
}

static void *with_a_shared_input(void *unused) {
    char line[200], *grown = NULL;
    wchar_t wides[100];
    size_t size = 0;
    for (int i = 0; i < 10 * rounds; i++) {
        getc(input);
        fgets(line, sizeof line, input);
        if (getline(&grown, &size, input) < 0 || fread(line, 1, 100, input) < 100)
            rewind(input);
        flockfile(input);
        for (int j = 0; j < 3; j++)
            if (getc_unlocked(input) == EOF)
                rewind(input);
        funlockfile(input);
        if (!fgetws(wides, 100, wide) || fwscanf(wide, L"%99ls", wides) < 1)
            rewind(wide);
    }
    free(grown);
    return unused;
}

static void *with_the_standard_streams(void *name) {
    char line[100];
    for (int i = 0; i < rounds; i++) {
        errno = i % 30;
        perror(name);
        error(0, i % 30, "%s %d", (char *)name, i);
        dprintf(2, "%d\n", i);
        printf("%s %d\n", (char *)name, i);
        puts("text");
        putchar('c');
        if (!fgets(line, sizeof line, stdin) || getchar() == EOF || scanf("%99s", line) < 1)
            rewind(stdin);
    }
    return NULL;
}

/* A stream passed between threads, guarded by a mutex of the program. */
static void *with_one_that_is_handed_on(void *unused) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static FILE *f;
    for (int i = 0; i < 10 * rounds; i++) {
        pthread_mutex_lock(&mutex);
        if (!f) {
            OK((f = fopen("/dev/null", "w")));
        } else if (i % 7 == 0) {
            OK(fclose(f) == 0);
            f = NULL;
        } else {
            putc_unlocked('x', f);
            fprintf(f, "%d", i);
        }
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

/* --- reads of a descriptor, which libasf_unix serves from a window ---------------------------------- */

static int descriptor;

static void *with_a_shared_descriptor(void *unused) {
    char bytes[16];
    for (int i = 0; i < 50 * rounds; i++) {
        if (read(descriptor, bytes, sizeof bytes) == 0)
            lseek(descriptor, 0, SEEK_SET);
        if (i % 500 == 0)
            close(dup(descriptor));
    }
    return unused;
}

static void *with_descriptors_of_its_own(void *unused) {
    char bytes[16];
    for (int i = 0; i < rounds / 20 + 1; i++) {
        int fd = open("output", O_RDONLY);
        for (int j = 0; j < 200; j++)
            OK(read(fd, bytes, sizeof bytes) == sizeof bytes);
        close(fd);
    }
    return unused;
}

int main(int argc, char **argv) {
    begin(argc, argv);
    OK((output = fopen("output", "w")) && (wide = fopen("wide", "w")));
    OK((cookie = fopencookie(NULL, "w", (cookie_io_functions_t){.write = keep})));
    together(with_streams_of_its_own);
    together(with_children);
    together(with_a_shared_output);
    OK(fflush(output) == 0 && freopen("wide", "r", wide));
    OK((input = fopen("output", "r")) && freopen("output", "r", stdin));
    OK(freopen("/dev/null", "w", stdout) && freopen("/dev/null", "w", stderr));
    together(with_a_shared_input);
    together(with_the_standard_streams);
    together(with_one_that_is_handed_on);
    OK((descriptor = open("output", O_RDONLY)) >= 0);
    together(with_descriptors_of_its_own);
    together(with_a_shared_descriptor);
    OK(fclose(output) == 0 && fclose(input) == 0 && fclose(cookie) == 0 && fclose(wide) == 0);
    return end();
}
