/* SPDX-License-Identifier: MIT
 *
 * cookies_cases.c - fopencookie: streams on functions of the program.
 */
#include "transcript.h"

/* A file in memory; every call on it is noted. */
struct store {
    char data[40000];
    off64_t at, size;
    size_t most;  /* moves at most this many bytes a call */
    int failures; /* how many of the next calls fail */
};

static bool fails(struct store *s, int error) {
    if (s->failures == 0)
        return false;
    s->failures--;
    errno = error;
    return true;
}

static ssize_t store_read(void *cookie, char *buffer, size_t n) {
    struct store *s = cookie;
    if (fails(s, EPERM)) {
        say("    read fails");
        return -1;
    }
    size_t left = s->at < s->size ? (size_t)(s->size - s->at) : 0;
    n = n < left ? n : left;
    n = n < s->most ? n : s->most;
    memcpy(buffer, s->data + s->at, n);
    s->at += (off64_t)n;
    say("    read gives %lu", n);
    return (ssize_t)n;
}

static ssize_t store_write(void *cookie, const char *buffer, size_t n) {
    struct store *s = cookie;
    if (fails(s, ENOSPC)) {
        say("    write fails");
        return 0;
    }
    n = n < s->most ? n : s->most;
    memcpy(s->data + s->at, buffer, n);
    s->at += (off64_t)n;
    s->size = s->at > s->size ? s->at : s->size;
    say("    write takes %lu", n);
    return (ssize_t)n;
}

static int store_seek(void *cookie, off64_t *offset, int whence) {
    struct store *s = cookie;
    if (fails(s, EIO)) {
        say("    seek fails");
        return -1;
    }
    off64_t to = *offset + (whence == SEEK_SET ? 0 : whence == SEEK_CUR ? s->at : s->size);
    say("    seek %ld %d to %ld", (long)*offset, whence, (long)to);
    if (to < 0)
        return -1;
    *offset = s->at = to;
    return 0;
}

static int store_close(void *cookie) {
    struct store *s = cookie;
    say("    close");
    return fails(s, EIO) ? -1 : 0;
}

static const cookie_io_functions_t all = {store_read, store_write, store_seek, store_close};

static struct store *store(const char *text) {
    static struct store s;
    memset(&s, 0, sizeof s);
    strcpy(s.data, text);
    s.size = (off64_t)strlen(text);
    s.most = sizeof s.data;
    return &s;
}

CASE(reading) {
    struct store *s = store("one\ntwo\nthree\n");
    FILE *f = CALL(fopencookie(s, "r", all));
    CALL(fileno(f));
    char line[20];
    CALL(getc(f));
    CALL(ftell(f));
    CALL(fgets(line, sizeof line, f));
    CALL(fgets(line, sizeof line, f));
    CALL(ungetc('#', f));
    CALL(fgets(line, sizeof line, f));
    CALL(fgets(line, sizeof line, f));
    note_flags(f);
    CALL(fclose(f));
}

static int close_busy(void *cookie) {
    (void)cookie;
    say("    close");
    errno = EBUSY;
    return -1;
}

static ssize_t read_ends_at_times(void *cookie, char *buffer, size_t n) {
    int *calls = cookie;
    say("    read %lu", (unsigned long)n);
    if (++*calls % 2 == 0)
        return 0;
    memset(buffer, 'a' + *calls, 5);
    return 5;
}

static void read_to_the_end(int mode, size_t n) {
    int calls = 0;
    static char block[20000];
    FILE *f = fopencookie(&calls, "r", (cookie_io_functions_t){.read = read_ends_at_times});
    setvbuf(f, NULL, mode, 0);
    for (int i = 0; i < 3; i++) {
        CALL(fread(block, 1, n, f));
        note_flags(f);
    }
    clearerr(f);
    CALL(fread(block, 1, n, f));
    CALL(fclose(f));
}

CASE(the_end_stays_the_end) {
    read_to_the_end(_IOFBF, 20000);
    read_to_the_end(_IOFBF, 10);
    read_to_the_end(_IONBF, 10);
    read_to_the_end(_IONBF, 1);
}

CASE(closing_what_is_busy) {
    cookie_io_functions_t busy = all;
    busy.close = close_busy;
    FILE *f = fopencookie(store("one"), "r", busy);
    CALL(getc(f));
    WITH_ERRNO(fclose(f));
}

CASE(reading_in_small_pieces) {
    struct store *s = store("0123456789abcdefghij");
    s->most = 3;
    FILE *f = fopencookie(s, "r", all);
    char text[30] = "";
    CALL(fread(text, 1, 10, f));
    say("%q", text);
    CALL(fread(text, 1, 30, f));
    note_flags(f);
    CALL(fclose(f));
}

CASE(writing) {
    struct store *s = store("");
    FILE *f = fopencookie(s, "w", all);
    CALL(fputs("hello ", f));
    CALL(fprintf(f, "%d", 42));
    CALL(fflush(f));
    CALL(ftell(f));
    CALL(fputs("more", f));
    CALL(fclose(f));
    say("%b", s->data, (int)s->size);
}

CASE(writing_much) {
    struct store *s = store("");
    FILE *f = fopencookie(s, "w", all);
    for (int i = 0; i < 2000; i++)
        fprintf(f, "%d,", i);
    CALL(fclose(f));
    say("%b", s->data, (int)s->size);
}

CASE(writing_a_large_block) {
    static char block[9000];
    memset(block, 'b', sizeof block);
    struct store *s = store("");
    FILE *f = fopencookie(s, "w", all);
    CALL(fwrite("x", 1, 1, f));
    CALL(fwrite(block, 1, sizeof block, f));
    CALL(fclose(f));
    say("%b", s->data, (int)s->size);
}

CASE(writing_in_small_pieces) {
    struct store *s = store("");
    s->most = 4;
    FILE *f = fopencookie(s, "w", all);
    CALL(fputs("0123456789", f));
    WITH_ERRNO(fflush(f));
    note_flags(f);
    CALL(fclose(f));
    say("%b", s->data, (int)s->size);
}

CASE(update) {
    struct store *s = store("0123456789");
    FILE *f = fopencookie(s, "r+", all);
    CALL(getc(f));
    CALL(fseek(f, 0, SEEK_CUR));
    CALL(fputs("AB", f));
    CALL(fseek(f, 5, SEEK_SET));
    CALL(getc(f));
    CALL(fseek(f, -1, SEEK_END));
    CALL(getc(f));
    CALL(ftell(f));
    rewind(f);
    CALL(getc(f));
    CALL(fclose(f));
    say("%b", s->data, (int)s->size);
}

CASE(appending) {
    struct store *s = store("0123456789");
    FILE *f = fopencookie(s, "a", all);
    CALL(ftell(f));
    CALL(fputs("end", f));
    CALL(ftell(f));
    CALL(fclose(f));
    say("%b", s->data, (int)s->size);
}

CASE(failing_calls) {
    struct store *s = store("0123456789");
    s->failures = 1;
    FILE *f = fopencookie(s, "r+", all);
    WITH_ERRNO(getc(f));
    note_flags(f);
    clearerr(f);
    CALL(getc(f));
    s->failures = 1;
    WITH_ERRNO(fseek(f, 2, SEEK_END));
    CALL(fseek(f, 3, SEEK_SET));
    CALL(getc(f));
    CALL(fclose(f));
}

CASE(failing_writes) {
    struct store *s = store("");
    FILE *f = fopencookie(s, "w", all);
    fputs("XX", f);
    s->failures = 1;
    WITH_ERRNO(fflush(f));
    note_flags(f);
    clearerr(f);
    CALL(fputs("YY", f));
    s->failures = 5;
    WITH_ERRNO(fclose(f));
    say("%b", s->data, (int)s->size);
}

CASE(close_that_fails) {
    struct store *s = store("0123456789");
    FILE *f = fopencookie(s, "r", all);
    s->failures = 1;
    WITH_ERRNO(fclose(f));
}

CASE(no_functions) {
    static const cookie_io_functions_t none;
    FILE *f = CALL(fopencookie(NULL, "r+", none));
    WITH_ERRNO(getc(f));
    note_flags(f);
    clearerr(f);
    WITH_ERRNO(fputs("x", f));
    WITH_ERRNO(fflush(f));
    note_flags(f);
    WITH_ERRNO(fseek(f, 0, SEEK_SET));
    WITH_ERRNO(ftell(f));
    WITH_ERRNO(fclose(f));
}

CASE(no_seek_function) {
    static const cookie_io_functions_t some = {store_read, store_write, NULL, store_close};
    FILE *f = CALL(fopencookie(store("0123456789"), "r", some));
    CALL(getc(f));
    WITH_ERRNO(ftell(f));
    WITH_ERRNO(fseek(f, 3, SEEK_SET));
    CALL(getc(f));
    CALL(fclose(f));
}

CASE(wrong_modes) {
    CALL(fopencookie(NULL, "x", all));
    CALL(fopencookie(NULL, "", all));
    FILE *f = CALL(fopencookie(store("abc"), "r", all));
    WITH_ERRNO(fputs("x", f));
    note_flags(f);
    fclose(f);
    f = CALL(fopencookie(store("abc"), "w", all));
    WITH_ERRNO(getc(f));
    note_flags(f);
    fclose(f);
}

CASE(buffering_modes) {
    struct store *s = store("");
    FILE *f = fopencookie(s, "w", all);
    CALL(setvbuf(f, NULL, _IONBF, 0));
    CALL(fputs("abc", f));
    CALL(putc('d', f));
    CALL(fprintf(f, "%d-%d", 1, 2));
    CALL(fclose(f));
    f = fopencookie(s, "w", all);
    CALL(setvbuf(f, NULL, _IOLBF, 0));
    CALL(fputs("abc\nde", f));
    CALL(putc('\n', f));
    CALL(fclose(f));
}

/* If the buffer is too small for the lines, each line is a separate write call. */
CASE(lines_are_written_one_by_one) {
    static char many[9000];
    for (int i = 0; i < 9000; i++)
        many[i] = i % 50 ? 'z' : '\n';
    for (int size = 0; size <= 100; size += 100) {
        struct store *s = store("");
        FILE *f = fopencookie(s, "w", all);
        CALL(setvbuf(f, NULL, _IOLBF, (size_t)size));
        for (int i = 0; i < 2; i++)
            CALL(fwrite("a\nbb\nccc\nrest", 1, 13, f));
        CALL(fwrite(many, 1, sizeof many, f));
        CALL(fputs("a\nbb\nccc\nrest", f));
        CALL(fclose(f));
    }
}

/* The write calls show into which chunks libc divides a format, and text larger than the buffer. */
CASE(pieces_that_the_calls_show) {
    static char many[9000];
    for (size_t i = 0; i < sizeof many - 1; i++)
        many[i] = i % 500 ? 'z' : '\n';
    static const int modes[] = {_IOFBF, _IOLBF, _IONBF};
    for (int m = 0; m < 3; m++) {
        struct store *s = store("");
        FILE *f = fopencookie(s, "w", all);
        CALL(setvbuf(f, NULL, modes[m], 0));
        if (modes[m] == _IOFBF) { /* in other modes the division into chunks is unspecified */
            CALL(fprintf(f, "<%d>%.900s|%5.2f\n", m, many, 1.5));
            CALL(fprintf(f, "%d\n%s\n%d", m, "second line", 3));
            CALL(fprintf(f, "<%s>", many));
        }
        CALL(fflush(f));
        s->at = s->size = 0;
        CALL(fwrite(many, 1, sizeof many, f));
        CALL(fwrite(many, 1, sizeof many, f));
        CALL(fclose(f));
    }
}

CASE(a_line_that_cannot_be_written) {
    for (int at = 0; at < 4; at++) {
        struct store *s = store("");
        FILE *f = fopencookie(s, "w", all);
        CALL(setvbuf(f, NULL, _IOLBF, 0));
        s->failures = at == 0;
        s->most = 2 + (size_t)at;
        CALL(fwrite("a\nbb\nccc\ndddd\nrest", 1, 19, f));
        note_flags(f);
        CALL(fclose(f));
    }
}

/* A seek that succeeds, but returns a wrong or impossible offset. */
struct liar {
    off64_t told;
    bool always; /* returns the wrong offset also for SEEK_CUR */
};

static int seek_lies(void *cookie, off64_t *offset, int whence) {
    const struct liar *l = cookie;
    say("    seek %ld %d", (long)*offset, whence);
    if (l->always || whence != SEEK_CUR)
        *offset = l->told;
    return 0;
}

static ssize_t read_letters(void *cookie, char *buffer, size_t n) {
    (void)cookie;
    say("    read");
    n = n < 10 ? n : 10;
    memcpy(buffer, "abcdefghij", n);
    return (ssize_t)n;
}

static ssize_t write_all(void *cookie, const char *buffer, size_t n) {
    (void)cookie;
    say("    write %b", buffer, (int)n);
    return (ssize_t)n;
}

static void with_a_liar(struct liar l, const char *mode) {
    say("%s: told %ld%s", mode, (long)l.told, l.always ? " always" : "");
    FILE *f = fopencookie(&l, mode, (cookie_io_functions_t){read_letters, write_all, seek_lies, NULL});
    fpos_t position;
    memset(&position, 0, sizeof position);
    WITH_ERRNO(ftello(f));
    if (mode[0] == 'r') {
        CALL(getc(f));
        WITH_ERRNO(ftello(f));
    }
    if (mode[0] != 'r' || mode[1]) {
        WITH_ERRNO(fseeko(f, 0, SEEK_CUR));
        CALL(putc('X', f));
        WITH_ERRNO(ftello(f));
        WITH_ERRNO(fflush(f));
    }
    for (int whence = SEEK_SET; whence <= SEEK_END; whence++) {
        WITH_ERRNO(fseeko(f, 3, whence));
        WITH_ERRNO(ftello(f));
        if (mode[0] == 'r')
            CALL(getc(f));
        else
            CALL(putc('Y', f));
        WITH_ERRNO(ftello(f));
    }
    WITH_ERRNO(fgetpos(f, &position));
    WITH_ERRNO(fsetpos(f, &position));
    WITH_ERRNO(fseeko(f, 100000, SEEK_SET));
    WITH_ERRNO(fseeko(f, INT64_MAX, SEEK_SET));
    WITH_ERRNO(fseeko(f, INT64_MAX, SEEK_CUR));
    WITH_ERRNO(fseeko(f, INT64_MIN, SEEK_CUR));
    rewind(f);
    WITH_ERRNO(ftello(f));
    note_flags(f);
    WITH_ERRNO(fclose(f));
}

static void with_liars(off64_t told) {
    static const char *const modes[] = {"r", "w", "a", "r+", "w+"};
    for (int m = 0; m < 5; m++)
        for (int always = 0; always < 2; always++)
            with_a_liar((struct liar){told, always}, modes[m]);
}

CASE(seek_that_tells_minus_one) {
    with_liars(-1);
}

CASE(seek_that_tells_less_than_nothing) {
    with_liars(-2);
    with_liars(INT64_MIN + 100); /* lower values overflow in libc */
}

CASE(seek_that_tells_too_much) {
    with_liars(INT64_MAX);
    with_liars(INT64_MAX - 5);
}

CASE(seek_that_tells_another_place) {
    with_liars(0);
    with_liars(77);
    with_liars(1LL << 40);
}

/* The read before the target offset returns fewer bytes than the distance to it. */
CASE(sought_behind_a_short_block) {
    struct store *s = store("0123456789abcdefghij");
    for (int most = 3; most < 30; most += 13) {
        FILE *f = fopencookie(s, "r", all);
        s->at = 0;
        s->most = (size_t)most;
        CALL(getc(f));
        CALL(fseek(f, 15, SEEK_SET));
        CALL(getc(f));
        CALL(fseek(f, 100, SEEK_SET));
        CALL(getc(f));
        CALL(fclose(f));
    }
}

CASE(unflushed_at_exit) {
    struct store *s = store("");
    FILE *f = fopencookie(s, "w", all);
    fputs("text", f);
    say("now exit");
}

#ifdef __GLIBC__ /* musl lacks this interface */
CASE(standard_output_assigned) {
    struct store *s = store("");
    FILE *real = stdout;
    stdout = fopencookie(s, "w", all);
    printf("through the %s\n", "cookie");
    puts("and puts");
    putchar('x');
    fflush(stdout);
    stdout = real;
    printf("real output\n");
    say("%b", s->data, (int)s->size);
}
#endif

/* --- calls on the stream that is being closed ------------------------------------------------ */

static int written;

static ssize_t write_and_flush(void *cookie, const char *buffer, size_t n) {
    (void)cookie;
    say("    write of %.*s", (int)n, buffer);
    if (written++ == 0)
        fflush(NULL);
    return (ssize_t)n;
}

CASE(a_flush_of_all_while_one_is_closed) {
    FILE *f = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_and_flush});
    fputs("data", f);
    CALL(fclose(f));
    say("%d", written);
}

static ssize_t write_and_exit(void *cookie, const char *buffer, size_t n) {
    (void)cookie;
    say("    write of %.*s", (int)n, buffer);
    exit(3);
}

CASE(an_exit_while_one_is_closed) {
    FILE *f = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_and_exit});
    fputs("data", f);
    fclose(f);
}
