/* SPDX-License-Identifier: MIT
 *
 * position_cases.c - fseek, ftell, fgetpos, fsetpos and rewind in every state of a stream, and the
 * kernel's offset after calls that must set it.
 */
#include "tests/interfaces/stdio/transcript.h"

#include <limits.h>
#include <sys/mman.h>

enum { SIZE = 50000 };

static FILE *pattern_file(const char *mode) {
    put_pattern("file", SIZE);
    return fopen("file", mode);
}

/* Seeks; notes the result, the stream's offset and the byte there. */
static void seek_and_look(FILE *f, long offset, int whence) {
    int result = fseek(f, offset, whence);
    int error = errno;
    say("fseek %ld %d = %d %s", offset, whence, result, result ? strerrorname_np(error) : "");
    long at = ftell(f);
    int c = getc(f);
    say("  at %ld byte %d right %d then %ld", at, c, c == EOF || c == pattern_at((size_t)at), ftell(f));
    note_flags(f);
}

/* Until a stream's first seek, ftell asks the kernel for the descriptor's offset. */
CASE(moved_by_other_names) {
    FILE *f = fopen("file", "w+");
    dprintf(fileno(f), "abc");
    CALL(ftell(f));
    int d = dup(fileno(f));
    write(d, "defg", 4);
    CALL(ftell(f));
    FILE *g = fdopen(d, "w");
    fputs("hijkl", g);
    fclose(g);
    CALL(ftell(f));
    CALL(fseek(f, 0, SEEK_CUR));
    dprintf(fileno(f), "%5000d", 1);
    CALL(ftell(f));
    d = fcntl(fileno(f), F_DUPFD, 50);
    lseek(d, 3, SEEK_SET);
    CALL(ftell(f));
    CALL(fputs("over", f));
    CALL(ftell(f));
    fclose(f);
    close(d);
    note_file("file");
}

/* The same for fgetpos on input, and for output in append mode. */
CASE(moved_meanwhile) {
    fpos_t place;
    put_lines("file", 300);
    FILE *f = fopen("file", "r");
    int d = dup(fileno(f));
    CALL(fseek(f, 100, SEEK_SET));
    CALL(getc(f));
    lseek(d, 50, SEEK_CUR);
    CALL(fgetpos(f, &place));
    CALL(ftell(f));
    CALL(fsetpos(f, &place));
    say("%ld", raw_offset(d));
    fclose(f);
    close(d);
    fcntl(STDOUT_FILENO, F_SETFL, O_APPEND);
    puts("text");
    CALL(fseek(stdout, 1, SEEK_SET));
    for (int i = 0; i < 1500; i++)
        puts("appended");
    CALL(ftell(stdout));
}

/* Notes the states after pushing back: the same bytes as read, others, or more; with any buffering, and on
 * a pipe. */
static void note_pushed_back(FILE *f, const char *pushed) {
    int fd = dup(fileno(f));
    CALL(getc(f));
    CALL(getc(f));
    for (; *pushed; pushed++)
        CALL(ungetc(*pushed, f));
    CALL(fflush(f));
    say("offset %ld", raw_offset(fd));
    note_state(f);
    CALL(getc(f));
    CALL(ungetc('!', f));
    CALL(fflush(f));
    CALL(getc(f));
    CALL(ungetc('!', f));
    CALL(fclose(f));
    say("offset %ld", raw_offset(fd));
    close(fd);
}

CASE(fflush_after_pushing_back) {
    static const char *const pushed[] = {"b", "ba", "x", "bx", "xy", "xyz"};
    put_text("file", "abcdefgh");
    for (int i = 0; i < 6; i++)
        for (int mode = _IOFBF; mode <= _IONBF; mode++) {
            say("%s, mode %d", pushed[i], mode);
            FILE *f = fopen("file", mode == _IOLBF ? "r+" : "r");
            setvbuf(f, NULL, mode, 0);
            note_pushed_back(f, pushed[i]);
        }
    for (int i = 0; i < 6; i++) {
        int ends[2];
        pipe(ends);
        raw_write(ends[1], "abcdefgh", 8);
        note_pushed_back(fdopen(ends[0], "r"), pushed[i]);
        close(ends[1]);
    }
}

/* Sets another buffering while bytes are pushed back. The case ends by _exit, since glibc aborts when it
 * closes the stream; late_setvbuf_test closes it. */
CASE(setvbuf_after_pushing_back) {
    put_text("file", "abcdefgh");
    FILE *f = fopen("file", "r");
    CALL(getc(f));
    CALL(ungetc('x', f));
    CALL(setvbuf(f, NULL, _IONBF, 0));
    say("offset %ld", raw_offset(fileno(f)));
    _exit(0);
}

CASE(devices_that_stand_nowhere) {
    static const char *const devices[] = {"/dev/zero", "/dev/full", "/dev/urandom"};
    for (int i = 0; i < 3; i++) {
        FILE *f = fopen(devices[i], "r");
        getc(f);
        CALL(ftell(f));
        CALL(fseek(f, 100, SEEK_SET));
        CALL(ftell(f));
        fclose(f);
    }
    FILE *f = fopen("/dev/null", "w");
    for (int i = 0; i < 4323; i++)
        putc('x', f);
    CALL(ftell(f));
    CALL(fflush(f));
    CALL(ftell(f));
    fclose(f);
}

CASE(seeks_in_a_file_that_is_read) {
    FILE *f = pattern_file("r");
    static const long places[] = {0,     1,     10,    4095,   4096, 4097, 8192, 100,
                                  49999, 50000, 50001, 200000, 4000, 0,    12288};
    for (unsigned i = 0; i < sizeof places / sizeof *places; i++)
        seek_and_look(f, places[i], SEEK_SET);
    for (unsigned i = 0; i < sizeof places / sizeof *places; i++)
        seek_and_look(f, -places[i], SEEK_END);
    seek_and_look(f, 25000, SEEK_SET);
    for (long d = -30000; d <= 30000; d += 3333)
        seek_and_look(f, d, SEEK_CUR);
    seek_and_look(f, 10, SEEK_END);
}

CASE(seeks_that_fail) {
    FILE *f = pattern_file("r+");
    seek_and_look(f, -1, SEEK_SET);
    seek_and_look(f, -50001, SEEK_END);
    seek_and_look(f, -10, SEEK_CUR);
    seek_and_look(f, 5, SEEK_SET);
    seek_and_look(f, -100, SEEK_CUR);
    seek_and_look(f, 0, 77);
    seek_and_look(f, 0, -1);
    CALL(fputc('w', f));
    CALL(fseek(f, -100, SEEK_CUR));
    CALL(fseek(f, 0, 99));
    note_state(f);
    volatile long largest = 0x7fffffffffffffffL, smallest = -largest - 1;
    CALL(fseek(f, largest, SEEK_SET));
    note_state(f);
    CALL(fseek(f, largest, SEEK_CUR));
    CALL(fseek(f, largest, SEEK_END));
    CALL(fseek(f, smallest, SEEK_SET));
    CALL(fseek(f, smallest, SEEK_CUR));
    note_state(f);
}

CASE(seek_data_and_hole) {
    FILE *f = pattern_file("r");
    getc(f);
    CALL(fseek(f, 0, SEEK_DATA));
    CALL(fseek(f, 0, SEEK_HOLE));
    note_state(f);
}

CASE(many_seeks_at_random) {
    FILE *f = pattern_file("r");
    unsigned long state = 1, wrong = 0;
    char block[300];
    for (int i = 0; i < 20000; i++) {
        state = state * 6364136223846793005UL + 1442695040888963407UL;
        long to = (long)(state >> 33) % SIZE;
        fseek(f, to, SEEK_SET);
        size_t n = (state >> 20) % sizeof block;
        size_t got = fread(block, 1, n, f);
        for (size_t k = 0; k < got; k++)
            wrong += (unsigned char)block[k] != pattern_at((size_t)to + k);
        wrong += ftell(f) != to + (long)got;
    }
    say("wrong %lu", wrong);
}

CASE(ftell_while_reading_in_every_way) {
    CALL(ftell(stdin));
    getchar();
    CALL(ftell(stdin));
    char text[5000];
    CALL(fgets(text, 20, stdin) != NULL);
    CALL(ftell(stdin));
    CALL(fread(text, 1, 5000, stdin));
    CALL(ftell(stdin));
    CALL(fseek(stdin, -100, SEEK_CUR));
    CALL(ftell(stdin));
    CALL(ungetc('x', stdin));
    CALL(ftell(stdin));
    CALL(ungetc('y', stdin));
    CALL(ftell(stdin));
    CALL(getchar());
    CALL(ftell(stdin));
}

/* At this point musl has no buffer, while glibc has allocated one for the seek. */
CASE(ftell_after_a_seek_and_pushing_back) {
    put_text("file", "abcdefgh");
    for (int mode = _IOFBF; mode <= _IONBF; mode++) {
        FILE *f = fopen("file", "r");
        setvbuf(f, NULL, mode, 0);
        CALL(fseek(f, 3, SEEK_SET));
        CALL(ungetc('!', f));
        CALL(ftell(f));
        CALL(ungetc('?', f));
        CALL(ftell(f));
        CALL(fseek(f, 0, SEEK_CUR));
        CALL(getc(f));
        CALL(ftell(f));
        CALL(fclose(f));
    }
}

CASE(ftell_while_writing) {
    FILE *f = fopen("out", "w");
    CALL(ftell(f));
    static const int counts[] = {1, 4094, 1, 1, 1, 4095, 8192, 100000};
    static char zeros[100000];
    for (int i = 0; i < 8; i++) {
        fwrite(zeros, 1, (size_t)counts[i], f);
        CALL(ftell(f));
    }
    fclose(f);
    put_text("out", "already here");
    f = fopen("out", "a");
    CALL(ftell(f));
    fputs("more", f);
    CALL(ftell(f));
    CALL(fflush(f));
    CALL(ftell(f));
    f = fopen("out", "r+");
    fputs("begin", f);
    CALL(ftell(f));
}

CASE(ftell_of_append_and_read) {
    put_text("out", "already here");
    FILE *f = fopen("out", "a+");
    CALL(ftell(f));
    CALL(getc(f));
    CALL(ftell(f));
    CALL(fputs("more", f));
    CALL(ftell(f));
    CALL(fseek(f, 2, SEEK_SET));
    CALL(getc(f));
    CALL(fseek(f, 1, SEEK_SET));
    CALL(fputs("end", f));
    CALL(ftell(f));
    CALL(fflush(f));
    CALL(ftell(f));
    CALL(fseek(f, 0, SEEK_CUR));
    CALL(getc(f));
    fclose(f);
    note_file("out");
}

CASE(writing_at_places) {
    FILE *f = fopen("out", "w");
    fputs("0123456789", f);
    CALL(fseek(f, 3, SEEK_SET));
    fputs("abc", f);
    CALL(fseek(f, 0, SEEK_END));
    fputs("end", f);
    CALL(fseek(f, -1, SEEK_CUR));
    fputs("D", f);
    CALL(fseek(f, 20, SEEK_SET));
    note_file("out");
    CALL(fseek(f, 5, SEEK_END));
    fputs("!", f);
    note_state(f);
    CALL(fseek(f, 100, SEEK_SET));
    fclose(f);
    note_file("out");
}

CASE(writing_many_places) {
    put_pattern("out", 30000);
    FILE *f = fopen("out", "r+");
    for (int i = 0; i < 2000; i++) {
        fseek(f, (i * 7919L) % 40000, SEEK_SET);
        fprintf(f, "<%d>", i);
    }
    CALL(fclose(f));
    note_file("out");
}

CASE(seek_to_where_it_is) {
    FILE *f = pattern_file("r");
    getc(f);
    CALL(fseek(f, 0, SEEK_CUR));
    CALL(fseek(f, 1, SEEK_SET));
    CALL(getc(f));
    f = fopen("out", "w");
    fputs("text", f);
    CALL(fseek(f, 0, SEEK_CUR));
    note_file("out");
}

CASE(positions) {
    FILE *f = pattern_file("r+");
    fpos_t a, b;
    CALL(fgetpos(f, &a));
    fseek(f, 12345, SEEK_SET);
    CALL(fgetpos(f, &b));
    CALL(fsetpos(f, &a));
    CALL(ftell(f));
    CALL(getc(f));
    CALL(fsetpos(f, &b));
    CALL(getc(f));
    CALL(ftell(f));
    while (getc(f) != EOF)
        continue;
    note_flags(f);
    CALL(fsetpos(f, &a));
    note_flags(f);
    CALL(ungetc('x', f));
    CALL(fgetpos(f, &b));
    CALL(fsetpos(f, &b));
    note_state(f);
}

CASE(rewind_clears_the_error) {
    FILE *f = pattern_file("r");
    fputc('x', f);
    note_flags(f);
    fseek(f, 100, SEEK_SET);
    note_flags(f);
    rewind(f);
    note_state(f);
    while (getc(f) != EOF)
        continue;
    rewind(f);
    note_state(f);
    CALL(getc(f));
}

CASE(large_offset_functions) {
    FILE *f = pattern_file("r");
    CALL(fseeko(f, 4100, SEEK_SET));
    CALL(ftello(f));
    CALL(fseeko64(f, -10, SEEK_END));
    CALL(ftello64(f));
    CALL(getc(f));
    fpos64_t p;
    CALL(fgetpos64(f, &p));
    CALL(fseeko(f, 0, SEEK_SET));
    CALL(fsetpos64(f, &p));
    CALL(ftello(f));
    CALL(fseeko(f, -1, SEEK_SET));
    CALL(fseeko64(f, 0, 3000));
}

CASE(seeks_on_a_pipe) {
    int ends[2];
    pipe(ends);
    FILE *in = fdopen(ends[0], "r"), *out = fdopen(ends[1], "w");
    CALL(ftell(in));
    CALL(ftell(out));
    fputs("through the pipe", out);
    CALL(ftell(out));
    CALL(fseek(out, 0, SEEK_SET));
    CALL(fflush(out));
    CALL(getc(in));
    CALL(ftell(in));
    CALL(fseek(in, 0, SEEK_CUR));
    CALL(fseek(in, 1, SEEK_SET));
    fpos_t p;
    CALL(fgetpos(in, &p));
    errno = 0;
    rewind(in);
    say("rewind errno %s", errno ? strerrorname_np(errno) : "0");
    CALL(getc(in));
    note_flags(in);
    fclose(out);
    char text[30];
    CALL(fgets(text, sizeof text, in));
    note_flags(in);
}

CASE(seek_clears_end_of_file) {
    put_text("file", "ab");
    FILE *f = fopen("file", "r");
    while (getc(f) != EOF)
        continue;
    note_flags(f);
    CALL(ftell(f));
    note_flags(f);
    CALL(fseek(f, 0, SEEK_CUR));
    note_flags(f);
    CALL(getc(f));
    CALL(fseek(f, 1, SEEK_SET));
    note_flags(f);
    CALL(getc(f));
}

CASE(seek_in_a_growing_file) {
    put_text("file", "abc");
    FILE *f = fopen("file", "r");
    CALL(fseek(f, 0, SEEK_END));
    CALL(ftell(f));
    int fd = open("file", O_WRONLY | O_APPEND);
    kernel_write(fd, "defgh");
    CALL(fseek(f, -1, SEEK_END));
    CALL(getc(f));
    CALL(ftell(f));
    CALL(fseek(f, 0, SEEK_END));
    kernel_write(fd, "ij");
    CALL(getc(f));
    CALL(ftell(f));
}

CASE(position_after_the_descriptor_moved) {
    FILE *f = pattern_file("r");
    lseek(fileno(f), 1000, SEEK_SET);
    CALL(ftell(f));
    CALL(getc(f) == pattern_at(1000));
    CALL(fseek(f, 0, SEEK_SET));
    f = fopen("out", "w");
    lseek(fileno(f), 10, SEEK_SET);
    fputs("text", f);
    CALL(ftell(f));
    fclose(f);
    note_file("out");
}

CASE(line_offsets) {
    put_lines("lines", 5000);
    FILE *f = fopen("lines", "r");
    long at[5000];
    char line[40];
    for (int i = 0; i < 5000; i++) {
        at[i] = ftell(f);
        fgets(line, sizeof line, f);
    }
    unsigned long sum = 0;
    for (int i = 4999; i >= 0; i -= 7) {
        fseek(f, at[i], SEEK_SET);
        fgets(line, sizeof line, f);
        sum = sum * 31 + (unsigned long)atoi(line + 5);
    }
    say("sum %lu", sum);
}

CASE(tell_after_flush_of_input) {
    FILE *f = pattern_file("r");
    char block[10];
    fread(block, 1, 10, f);
    CALL(fflush(f));
    say("offset %ld", raw_offset(fileno(f)));
    CALL(ftell(f));
    CALL(getc(f) == pattern_at(10));
    fseek(f, 30000, SEEK_SET);
    CALL(fflush(f));
    say("offset %ld", raw_offset(fileno(f)));
    CALL(getc(f) == pattern_at(30000));
    rewind(f);
    CALL(fflush(f));
    say("offset %ld", raw_offset(fileno(f)));
}

CASE(told_after_a_flush_of_nothing) {
    put_text("file", "ten bytes\n");
    int fd = open("file", O_WRONLY | O_APPEND);
    dup2(fd, 1);
    CALL(fseek(stdout, 5000, SEEK_CUR));
    fputs("ab", stdout);
    CALL(fflush(NULL));
    CALL(fflush(stdout));
    CALL(ftell(stdout));
    CALL(fflush(stdout));
    CALL(ftell(stdout));
}

/* Returns how many bytes this process has read by system calls. */
static long bytes_read(void) {
    char text[512] = "";
    long n = 0;
    int fd = open("/proc/self/io", O_RDONLY);
    read(fd, text, sizeof text - 1);
    close(fd);
    sscanf(text, "rchar: %ld", &n);
    return n;
}

/* Reading single records at scattered offsets must not read more than two blocks for each. */
CASE(records_here_and_there) {
    enum { RECORDS = 2000, RECORD = 4096, LARGE = 4 << 20 };
    static char record[RECORD];
    unsigned at = 12345, sum = 0;
    put_pattern("file", LARGE);
    FILE *f = fopen("file", "r");
    long before = bytes_read();
    for (int i = 0; i < RECORDS; i++) {
        at = at * 1103515245 + 12345;
        fseek(f, (at >> 8) % (LARGE - RECORD), SEEK_SET);
        if (fread(record, 1, sizeof record, f) == sizeof record)
            sum += (unsigned char)record[i];
    }
    say("sum %u, little read %d", sum, bytes_read() - before <= RECORDS * 2L * RECORD);
}

CASE(places_in_a_pipe_that_has_a_name) {
    fpos_t place;
    mkfifo("fifo", 0600);
    for (int first = 0; first < 4; first++) {
        int ends = open("fifo", O_RDWR);
        FILE *w = fopen("fifo", "w"), *r = fopen("fifo", "r");
        if (first == 1)
            CALL(fputs("ab", w));
        write(ends, "x", 1);
        if (first == 2)
            CALL(getc(r));
        if (first == 3)
            CALL(fseek(r, 0, SEEK_SET));
        CALL(ftell(w));
        CALL(ftell(r));
        CALL(fgetpos(r, &place));
        rewind(r);
        CALL(ftell(r));
        fclose(w);
        fclose(r);
        close(ends);
    }
    unlink("fifo");
}

/* libc can seek within its buffer although the descriptor is closed. */
CASE(seeks_where_the_descriptor_is_closed) {
    static const long places[] = {300, 0, 4095, 4096, 20000, 8};
    for (int way = 0; way < 6; way++) {
        FILE *f = pattern_file(way & 1 ? "r+" : "r");
        if (way / 2 != 1)
            CALL(fseek(f, 100, SEEK_SET));
        CALL(getc(f));
        int other = way / 2 != 0 ? dup(fileno(f)) : -1;
        if (other >= 0)
            lseek(other, 5000, SEEK_SET);
        close(fileno(f));
        for (unsigned i = 0; i < sizeof places / sizeof *places; i++)
            seek_and_look(f, places[i], SEEK_SET);
        seek_and_look(f, 3, SEEK_CUR);
        seek_and_look(f, -9, SEEK_CUR);
        seek_and_look(f, -9, SEEK_END);
        errno = 0;
        rewind(f);
        CALL(ftell(f));
        CALL(getc(f));
        WITH_ERRNO(fclose(f));
        close(other);
    }
}

static int refuse_seek(void *cookie, off64_t *offset, int whence) {
    (void)cookie;
    say("    seek %ld %d", (long)*offset, whence);
    return -1;
}

/* Streams of a file, of memory and of callbacks, with and without pushed-back bytes. */
CASE(seeks_beyond_any_offset) {
    const long far[] = {LONG_MAX, LONG_MAX - 3, LONG_MIN, LONG_MIN + 3};
    static char area[] = "first second third";
    put_text("file", area);
    for (int i = 0; i < 24; i++) {
        cookie_io_functions_t calls = {.seek = refuse_seek};
        FILE *f = i < 8    ? fopen("file", "r")
                  : i < 16 ? fmemopen(area, sizeof area, "r")
                           : fopencookie(NULL, "r", calls);
        CALL(getc(f));
        if (i & 4)
            CALL(ungetc('x', f));
        CALL(fseek(f, far[i % 4], SEEK_CUR));
        CALL(getc(f));
        CALL(fseek(f, far[i % 4], SEEK_END));
        CALL(getc(f));
        CALL(fseek(f, far[i % 4], SEEK_CUR));
        note_flags(f);
        fclose(f);
    }
}

/* The file is /proc/self/mem: the kernel's offsets are addresses, half of which are negative as off_t. */
static FILE *open_memory(int way) {
    static const char *const modes[] = {"r", "r+", "w", "a"};
    static char own[100];
    const char *mode = modes[way % 4];
    FILE *f;
    if (way < 8)
        f = fopen("/proc/self/mem", mode);
    else
        f = fdopen(open("/proc/self/mem", way % 4 == 0 ? O_RDONLY : O_RDWR), mode);
    if (f && way & 4)
        CALL(setvbuf(f, way & 8 ? own : NULL, way & 8 ? _IOFBF : _IONBF, sizeof own));
    return f;
}

/* Maps a page at the same address in each process. */
static char *fixed_page(void) {
    char *const at = (char *)0x60000000; // NOLINT(performance-no-int-to-ptr)
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    char *page = mmap(at, 8192, PROT_READ | PROT_WRITE, flags, -1, 0);
    return strcpy(page + 100, "in the lower half") - 100;
}

static void seek_and_tell(FILE *f, off_t offset, int whence) {
    CALL(fseeko(f, offset, whence));
    say("    of %lx %d: %lx", (long)offset, whence, raw_offset(fileno(f)));
    CALL(ftello(f));
    note_flags(f);
}

static void visit_addresses(FILE *f, bool wide) {
    static const off_t places[] = {-10000, -4097, -4096, -4094, -20, -1, LONG_MIN, LONG_MIN + 5000, LONG_MAX};
    const off_t here = (off_t)(uintptr_t)fixed_page() + 100;
    const int size = sizeof places / sizeof *places;
    for (int i = 0; i < 3 * size; i++) {
        seek_and_tell(f, places[i % size], SEEK_SET);
        if (i / size == 1)
            seek_and_tell(f, i % 2 ? -16 : 16, SEEK_CUR);
        if (i / size == 2)
            WITH_ERRNO(wide ? (int)fgetwc(f) : getc(f));
        say("    %lx", raw_offset(fileno(f)));
        seek_and_tell(f, 5000, SEEK_CUR);
        seek_and_tell(f, places[i % size], SEEK_END);
        WITH_ERRNO(fflush(f));
        clearerr(f);
    }
    seek_and_tell(f, here, SEEK_SET);
    WITH_ERRNO(wide ? (int)fgetwc(f) : getc(f));
    seek_and_tell(f, 2, SEEK_CUR);
}

static void write_at_addresses(FILE *f, bool wide) {
    fpos_t place;
    WITH_ERRNO(fseeko(f, -10000, SEEK_SET));
    WITH_ERRNO(wide ? (int)fputwc(L'x', f) : putc('x', f));
    WITH_ERRNO(ftello(f));
    WITH_ERRNO(fgetpos(f, &place));
    WITH_ERRNO(fflush(f));
    say("    %lx", raw_offset(fileno(f)));
    if (!wide)
        seek_and_tell(f, 100, SEEK_CUR);
    errno = 0;
    rewind(f);
    say("rewind: errno %d", errno);
}

static void use_addresses(bool wide) {
    for (int way = 0; way < 16; way++) {
        if (wide && way & 4) /* libc hangs in this combination */
            continue;
        say("way %d", way);
        FILE *f = CALL(open_memory(way));
        if (!f)
            continue;
        fwide(f, wide ? 1 : -1);
        if (way % 4 < 2)
            visit_addresses(f, wide);
        if (way % 4 > 0)
            write_at_addresses(f, wide);
        WITH_ERRNO(fclose(f));
    }
}

CASE(places_that_are_addresses) {
    use_addresses(false);
}

CASE(places_that_are_addresses_of_wide_characters) {
    use_addresses(true);
}
