/* SPDX-License-Identifier: MIT
 *
 * suite_findings_cases.c - faults that other projects' test suites found, reduced to a few calls each (see
 * tests/suites).
 */
#include "transcript.h"

#include <getopt.h>
#include <pthread.h>
#include <stdio_ext.h>
#include <sys/mman.h>

static ssize_t answer_read(void *cookie, char *buf, size_t n) {
    (void)cookie, (void)buf;
    say("  read of %ld", (long)n);
    return 42;
}

static ssize_t answer_write(void *cookie, const char *buf, size_t n) {
    (void)cookie, (void)buf;
    say("  write of %ld", (long)n);
    return 43;
}

static int seeks;

/* Only counts: libc calls it either when the direction changes or at the first write. */
static int answer_seek(void *cookie, off64_t *offset, int whence) {
    (void)cookie, (void)whence;
    seeks++;
    *offset = 44;
    return 44;
}

static int answer_close(void *cookie) {
    (void)cookie;
    say("  close");
    return 45;
}

static const cookie_io_functions_t answers = {answer_read, answer_write, answer_seek, answer_close};

/* glibc: stdio-common/tst-cookie */
CASE(callbacks_with_odd_answers) {
    char byte[1];
    FILE *f = fopencookie(NULL, "r+", answers);
    CALL(fread(byte, 1, 1, f));
    CALL(fwrite(byte, 1, 1, f));
    CALL(fseek(f, 0, SEEK_CUR));
    CALL(fclose(f));
    say("seeks %d", seeks);
}

/* glibc: stdio-common/tst-popen */
CASE(orientation_at_birth) {
    char area[10], *memory;
    size_t size;
    FILE *f = popen("echo text", "r");
    CALL(fwide(f, 0));
    pclose(f);
    f = fopencookie(NULL, "r+", answers);
    CALL(fwide(f, 0));
    fclose(f);
    f = fmemopen(area, sizeof area, "w+");
    CALL(fwide(f, 0));
    fclose(f);
    f = open_memstream(&memory, &size);
    CALL(fwide(f, 0));
    fclose(f);
    free(memory);
    f = tmpfile();
    CALL(fwide(f, 0));
    fclose(f);
    CALL(fwide(stdin, 0));
    CALL(fwide(stdout, 0));
}

/* glibc: stdio-common/tst-popen2 */
CASE(commands_on_the_standard_descriptors) {
    char line[20];
    fclose(stdout);
    fclose(stdin);
    FILE *one = popen("echo one", "r"), *two = popen("echo two", "r"),
         *three = popen("read word; exit 3", "w");
    say("descriptors %d %d %d", fileno(one), fileno(two), fileno(three));
    CALL(fgets(line, sizeof line, one));
    CALL(fgets(line, sizeof line, two));
    CALL(fputs("three\n", three));
    CALL(pclose(three));
    CALL(pclose(two));
    CALL(pclose(one));
}

/* glibc: libio/tst-ext */
CASE(buffer_size_before_first_use) {
    static char buffer[3072];
    FILE *f = fopen("file", "w+");
    CALL(__fbufsize(f));
    setvbuf(f, buffer, _IOFBF, sizeof buffer);
    CALL(__fbufsize(f));
    setvbuf(f, buffer, _IOLBF, 100);
    CALL(__fbufsize(f));
    setvbuf(f, NULL, _IONBF, 0);
    CALL(__fbufsize(f));
    fclose(f);
}

/* glibc: libio/tst-memstream4 */
CASE(reopening_what_is_no_file) {
    char *memory = (char *)"old";
    size_t size = 0;
    FILE *f = open_memstream(&memory, &size);
    fputs("new", f);
    say("%s", memory);
    CALL(freopen("missing", "r", f));
    say("%s %lu", memory, size);
    CALL(freopen("/dev/null", "w", f));
    fputs("er", f);
    CALL(fclose(f));
    say("%s %lu", memory, size);
    free(memory);
}

static void note_write_after_pushback(int before, int pushed) {
    put_text("file", "0123456789");
    FILE *f = fopen("file", "r+");
    for (int i = 0; i < before; i++)
        getc(f);
    for (int i = 0; i < pushed; i++)
        ungetc('x', f);
    CALL(putc('y', f));
    CALL(fclose(f));
    note_file("file");
}

/* glibc: libio/tst-bz22415 */
CASE(writing_over_what_was_pushed_back) {
    static char buffer[4096];
    FILE *f = fopen("new", "w+");
    setvbuf(f, buffer, _IOFBF, sizeof buffer); /* without a buffer, glibc writes to a null pointer */
    CALL(ungetc('x', f));
    CALL(putc('y', f));
    CALL(fclose(f));
    note_file("new");
    note_write_after_pushback(1, 3);
    note_write_after_pushback(4, 1);
    note_write_after_pushback(4, 3);
}

static FILE *lines_into_nothing(void) {
    FILE *f = fopen("file", "w");
    setlinebuf(f);
    close(fileno(f));
    return f;
}

/* glibc: stdio-common/tst-put-error */
CASE(lines_that_cannot_be_written) {
    FILE *f = lines_into_nothing();
    CALL(fprintf(f, "hello %s\n", "world"));
    CALL(fprintf(f, "hello %s\n", "world"));
    CALL(fprintf(f, "%100s\n", "foo"));
    note_flags(f);
    CALL(fclose(f));
    f = lines_into_nothing();
    CALL(fputs("a line\n", f));
    CALL(fputs("a line\nand more", f));
    CALL(fclose(f));
    f = lines_into_nothing();
    CALL(fwrite("one\ntwo\nthree", 1, 13, f));
    CALL(fwrite("one\ntwo\nthree", 1, 13, f));
    CALL(__fpending(f));
    CALL(fclose(f));
}

static void append_text(const char *text) {
    int fd = open("file", O_WRONLY | O_APPEND);
    raw_write(fd, text, strlen(text));
    close(fd);
}

static void note_growing(const char *mode) {
    char text[20];
    say("mode %s", mode);
    put_text("file", "first\n");
    FILE *f = fopen("file", mode);
    CALL(fgets(text, sizeof text, f));
    CALL(getc(f));
    append_text("second\n");
    CALL(fgets(text, sizeof text, f));
    note_flags(f);
    CALL(fgets(text, sizeof text, f));
    append_text("third\n");
    CALL(fread(text, 1, 6, f));
    CALL(fclose(f));
}

/* glibc: libio/tst-mmap-eofsync */
CASE(a_file_that_grows_at_its_end) {
    note_growing("r");
    note_growing("rm");
    note_growing("r+m");
    put_text("file", "");
    FILE *f = fopen("file", "rm");
    CALL(getc(f));
    append_text("text");
    CALL(getc(f));
    fclose(f);
}

/* gnulib: test-ftello4 */
CASE(telling_on_a_closed_descriptor) {
    put_text("file", "0123456789");
    for (int i = 0; i < 4; i++) {
        FILE *f = fopen("file", "r");
        if (i == 0)
            setvbuf(f, NULL, _IONBF, 0);
        if (i == 2)
            getc(f);
        if (i == 3)
            fseek(f, 5, SEEK_SET);
        close(fileno(f));
        CALL(ftell(f));
        CALL(fclose(f));
    }
}

/* --- a cancelled thread in calls that are not cancellation points ---------------------------- */

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static const char *reached;

static int open_memory_file(void) {
    return memfd_create("memory", 0); /* open() is a cancellation point */
}

static void complain(void) {
    static char *arguments[] = {(char *)"cases", (char *)"-x", (char *)"--unknown", NULL};
    static const struct option longs[] = {{"long", no_argument, NULL, 'l'}, {NULL, 0, NULL, 0}};
    optind = 0;
    while (getopt_long(3, arguments, "ab:", longs, NULL) != -1)
        continue;
    reached = "after getopt";
}

static void write_through(FILE *f) {
    setvbuf(f, NULL, _IONBF, 0);
    reached = "after setvbuf";
    fputs("text", f);
    reached = "after fputs";
    fclose(f);
    reached = "after fclose";
}

static void write_past_cancellation(void) {
    write_through(fopen("file", "wc"));
}

static void write_on_a_descriptor(void) {
    write_through(fdopen(open_memory_file(), "wc"));
}

static void close_only(void) {
    FILE *f = fdopen(open_memory_file(), "w");
    fclose(f);
    reached = "after fclose";
}

static void write_and_flush(void) {
    FILE *f = fdopen(open_memory_file(), "w");
    fputs("text", f);
    reached = "after fputs";
    fflush(f);
    reached = "after fflush";
}

static void *cancelled(void *body) {
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    ((void (*)(void))body)();
    pthread_testcancel();
    return NULL;
}

static void note_cancelled(const char *name, void (*body)(void)) {
    pthread_t thread;
    void *result;
    reached = "nothing";
    pthread_mutex_lock(&gate);
    pthread_create(&thread, NULL, cancelled, (void *)body);
    pthread_cancel(thread);
    pthread_mutex_unlock(&gate);
    pthread_join(thread, &result);
    say("%s: cancelled %d %s", name, result == PTHREAD_CANCELED, reached);
}

/* glibc: posix/tst-getopt-cancel */
CASE(cancellation_waits_for_its_place) {
    note_cancelled("getopt", complain);
    note_cancelled("fopen", write_past_cancellation);
    note_cancelled("fdopen", write_on_a_descriptor);
    note_cancelled("close", close_only);
    note_cancelled("flush", write_and_flush);
}
