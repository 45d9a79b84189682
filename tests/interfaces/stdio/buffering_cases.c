/* SPDX-License-Identifier: MIT
 *
 * buffering_cases.c - setvbuf and similar functions, fflush, and which output is in the file at a given
 * time.
 */
#include "transcript.h"

#include <stdio_ext.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <termios.h>

static void note_buffer(FILE *f) {
    say("  size %lu line %d pending %lu", __fbufsize(f), __flbf(f) != 0, __fpending(f));
}

static char mine[10000];

CASE(each_mode_on_output) {
    static const int modes[] = {_IOFBF, _IOLBF, _IONBF};
    static const int sizes[] = {0, 1, 2, 10, 100, 4096, 10000};
    for (int m = 0; m < 3; m++)
        for (int s = 0; s < 7; s++)
            for (int own = 0; own < 2; own++) {
                FILE *f = fopen("out", "w");
                say("mode %d size %d own %d", m, sizes[s], own);
                CALL(setvbuf(f, own ? mine : NULL, modes[m], (size_t)sizes[s]));
                fputs("line one\nbegin", f);
                note_file("out");
                fputs(" of two\n", f);
                note_file("out");
                note_buffer(f);
                if (sizes[s] == 0 || sizes[s] >= 100)
                    fprintf(f, "%d\nabc", 12345);
                putc('x', f);
                fwrite("y\nz", 1, 3, f);
                note_file("out");
                CALL(fclose(f));
                note_file("out");
            }
}

CASE(each_mode_on_input) {
    static const int modes[] = {_IOFBF, _IOLBF, _IONBF};
    static const int sizes[] = {0, 1, 2, 10, 4096, 10000};
    put_lines("in", 2000);
    for (int m = 0; m < 3; m++)
        for (int s = 0; s < 6; s++)
            for (int own = 0; own < 2; own++) {
                FILE *f = fopen("in", "r");
                say("mode %d size %d own %d", m, sizes[s], own);
                CALL(setvbuf(f, own ? mine : NULL, modes[m], (size_t)sizes[s]));
                char line[50];
                CALL(getc(f));
                CALL(fgets(line, sizeof line, f));
                CALL(fread(line, 1, 20, f));
                CALL(ftell(f));
                CALL(ungetc('Q', f));
                CALL(fgets(line, sizeof line, f));
                CALL(fseek(f, 12000, SEEK_SET));
                CALL(fgets(line, sizeof line, f));
                CALL(fclose(f));
            }
}

CASE(wrong_mode) {
    FILE *f = fopen("out", "w");
    say("refused %d", setvbuf(f, NULL, 17, 100) != 0);
    say("refused %d", setvbuf(f, NULL, -1, 100) != 0);
    CALL(fputs("text", f));
    note_file("out");
}

/* The bytes after a newline stay in the buffer, even in a small one. */
CASE(lines_in_little_memory) {
    static char memory[200];
    for (int size = 9; size < (int)sizeof memory; size += 3) {
        FILE *f = fopen("little", "w");
        setvbuf(f, memory, _IOLBF, (size_t)size);
        unsigned long sum = 0;
        for (int i = 0; i < 100; i++) {
            fprintf(f, "%s", "a\nb" + i % 3);
            sum = sum * 31 + (unsigned long)raw_offset(fileno(f));
            fwrite("line\nand\nmore of it", 1, (size_t)i % 20, f);
            sum = sum * 31 + (unsigned long)raw_offset(fileno(f));
            fputs("a\nb\nc" + i % 4, f);
            sum = sum * 31 + (unsigned long)raw_offset(fileno(f));
            putc(i % 3 ? '.' : '\n', f);
            sum = sum * 31 + (unsigned long)raw_offset(fileno(f));
        }
        fclose(f);
        say("%d %lx", size, sum);
    }
}

CASE(late_changes_of_output) {
    FILE *f = fopen("out", "w");
    fputs("some text", f);
    CALL(setvbuf(f, NULL, _IONBF, 0));
    note_file("out");
    fputs("|more", f);
    note_file("out");
    CALL(setvbuf(f, mine, _IOFBF, sizeof mine));
    fputs("|again", f);
    note_file("out");
    CALL(setvbuf(f, NULL, _IOLBF, 0));
    note_file("out");
    fputs("|and\nagain", f);
    note_file("out");
    CALL(fclose(f));
    note_file("out");
}

CASE(late_changes_of_input) {
    put_lines("in", 2000);
    FILE *f = fopen("in", "r");
    char line[50];
    CALL(fgets(line, sizeof line, f));
    CALL(setvbuf(f, NULL, _IONBF, 0));
    CALL(fgets(line, sizeof line, f));
    CALL(setvbuf(f, mine, _IOFBF, 64));
    CALL(fgets(line, sizeof line, f));
    CALL(fgets(line, sizeof line, f));
    CALL(ftell(f));
    setbuf(f, NULL);
    CALL(fgets(line, sizeof line, f));
}

/* Pushed-back bytes stay after a setvbuf that allocates a buffer or sets only the mode. */
CASE(pushed_back_before_setvbuf) {
    static const int modes[] = {_IOFBF, _IOLBF};
    put_lines("in", 20);
    for (int m = 0; m < 2; m++) {
        FILE *f = fopen("in", "r");
        char line[50];
        CALL(ungetc('b', f));
        CALL(ungetc('a', f));
        CALL(setvbuf(f, NULL, modes[m], 0));
        CALL(fgets(line, sizeof line, f));
        CALL(fgets(line, sizeof line, f));
        CALL(fclose(f));
    }
}

CASE(setbuf_and_kin) {
    static char buffer[BUFSIZ];
    FILE *f = fopen("out", "w");
    setbuf(f, buffer);
    fputs("text\n", f);
    note_file("out");
    note_buffer(f);
    CALL(fflush(f));
    fclose(f);
    f = fopen("out", "w");
    setbuf(f, NULL);
    fputs("text", f);
    note_file("out");
    note_buffer(f);
    fclose(f);
    f = fopen("out", "w");
    setbuffer(f, buffer, 8);
    fputs("text", f);
    note_file("out");
    fputs(" and more text", f);
    note_file("out");
    note_buffer(f);
    fclose(f);
    f = fopen("out", "w");
    setlinebuf(f);
    fputs("line\nnext", f);
    note_file("out");
    note_buffer(f);
    fclose(f);
    note_file("out");
}

CASE(standard_output_line_buffered) {
    setlinebuf(stdout);
    fputs("line\nnext", stdout);
    kernel_write(1, "[raw]");
    putchar('\n');
    kernel_write(1, "[raw]");
    printf("a %s b\nc", "x");
    kernel_write(1, "[raw]");
}

CASE(standard_output_unbuffered) {
    setvbuf(stdout, NULL, _IONBF, 0);
    printf("%s", "no newline");
    kernel_write(1, "[raw]");
    putchar('x');
    fputs("yz", stdout);
    kernel_write(1, "[raw]");
}

CASE(line_buffered_pieces) {
    FILE *f = fopen("out", "w");
    setlinebuf(f);
    static const char *const pieces[] = {"a", "b\n", "c\nd", "e\nf\ng", "\n", "\n\n", "h"};
    for (int i = 0; i < 7; i++) {
        fwrite(pieces[i], 1, strlen(pieces[i]), f);
        note_file("out");
    }
    for (int i = 0; i < 5; i++) {
        putc(i == 2 ? '\n' : 'p', f);
        note_file("out");
    }
    for (int i = 0; i < 5; i++) {
        putc_unlocked(i == 2 ? '\n' : 'q', f);
        note_file("out");
    }
    static char filler[5000];
    memset(filler, '-', sizeof filler);
    fwrite(filler, 1, sizeof filler, f);
    note_file("out");
    fputs("x\n", f);
    note_file("out");
}

CASE(stderr_is_written_at_once) {
    struct stat st;
    fputs("one", stderr);
    fstat(2, &st);
    say("size %ld", (long)st.st_size);
    fprintf(stderr, "%d and %s", 5, "text");
    fstat(2, &st);
    say("size %ld", (long)st.st_size);
    putc('x', stderr);
    fwrite("ab", 1, 2, stderr);
    putc_unlocked('y', stderr);
    fstat(2, &st);
    say("size %ld", (long)st.st_size);
    note_buffer(stderr);
}

CASE(stderr_made_buffered) {
    struct stat st;
    setvbuf(stderr, NULL, _IOFBF, 1024);
    fputs("one\ntwo", stderr);
    fstat(2, &st);
    say("size %ld", (long)st.st_size);
    CALL(fflush(stderr));
    fstat(2, &st);
    say("size %ld", (long)st.st_size);
    fputs("rest", stderr);
}

CASE(flush_output) {
    FILE *f = fopen("out", "w");
    CALL(fflush(f));
    fputs("abc", f);
    note_file("out");
    CALL(fflush(f));
    note_file("out");
    CALL(fflush_unlocked(f));
    fputs("def", f);
    CALL(fflush_unlocked(f));
    note_file("out");
    for (int i = 0; i < 1000; i++) {
        fprintf(f, "%d ", i);
        fflush(f);
    }
    note_file("out");
}

CASE(flush_everything) {
    FILE *a = fopen("a", "w"), *b = fopen("b", "w"), *in = fopen("/dev/zero", "r");
    put_text("c", "0123456789");
    FILE *c = fopen("c", "r+"), *d = fopen("c", "r");
    fputs("in a", a);
    fputs("in b", b);
    getc(in);
    getc(c);
    getc(d);
    fputs("X", c);
    printf("on standard output");
    CALL(fflush(NULL));
    note_file("a");
    note_file("b");
    note_file("c");
    kernel_write(1, "[raw]");
    CALL(ftell(c));
    CALL(ftell(d));
    CALL(getc(d));
}

CASE(flush_everything_with_an_error) {
    FILE *a = fopen("/dev/full", "w"), *b = fopen("b", "w");
    fputs("in a", a);
    fputs("in b", b);
    CALL(fflush(NULL));
    note_flags(a);
    note_flags(b);
    note_file("b");
    CALL(fflush(NULL));
}

CASE(flush_of_input_sets_the_offset) {
    char text[20];
    CALL(fgets(text, sizeof text, stdin));
    CALL(fflush(stdin));
    say("offset %ld", raw_offset(0));
    CALL(fgets(text, sizeof text, stdin));
    CALL(fflush(NULL));
    CALL(getchar());
    CALL(fflush(stdin));
    say("offset %ld", raw_offset(0));
    CALL(system("head -n 1"));
    CALL(fgets(text, sizeof text, stdin));
}

CASE(flush_of_a_pipe_being_read) {
    int ends[2];
    pipe(ends);
    FILE *f = fdopen(ends[0], "r");
    kernel_write(ends[1], "abcdef");
    CALL(getc(f));
    CALL(fflush(f));
    note_flags(f);
    CALL(getc(f));
}

CASE(what_stat_sees) {
    FILE *f = fopen("out", "w");
    for (int i = 1; i <= 20000; i++) {
        putc('x', f);
        if (i % 1000 == 0 || i % 4096 < 3 || i % 4096 == 4095) {
            struct stat st;
            stat("out", &st);
            say("put %d seen %ld", i, (long)st.st_size);
        }
    }
}

CASE(what_stat_sees_of_blocks) {
    static const int counts[] = {10, 4086, 1, 4095, 4096, 4097, 1, 8192, 8191, 2, 30000, 5, 12288};
    static char block[30000];
    FILE *f = fopen("out", "w");
    for (int i = 0; i < 13; i++) {
        fwrite(block, 1, (size_t)counts[i], f);
        struct stat st;
        fstat(fileno(f), &st);
        say("wrote %d seen %ld pending %lu", counts[i], (long)st.st_size, __fpending(f));
    }
    fflush(f);
    fprintf(f, "%5000d", 7);
    struct stat st;
    fstat(fileno(f), &st);
    say("seen %ld", (long)st.st_size);
}

/* Shows how much of the output libc has written before a message to standard error. */
static void write_both(int n) {
    for (int i = 0; i < n; i++)
        putchar('o');
    fputs("[error]", stderr);
    for (int i = 0; i < 3000; i++)
        putchar('p');
    fputs("[error]", stderr);
    printf("%s", "the end");
}

CASE(_both_0) {
    write_both(0);
}
CASE(_both_10) {
    write_both(10);
}
CASE(_both_4095) {
    write_both(4095);
}
CASE(_both_4096) {
    write_both(4096);
}
CASE(_both_4097) {
    write_both(4097);
}
CASE(_both_8192) {
    write_both(8192);
}
CASE(_both_10000) {
    write_both(10000);
}
CASE(_both_200000) {
    write_both(200000);
}
CASE(_both_in_blocks) {
    static char block[7000];
    memset(block, 'b', sizeof block);
    for (int i = 1; i < 7000; i += 500) {
        fwrite(block, 1, (size_t)i, stdout);
        fputs("!", stderr);
    }
}
CASE(_both_in_lines) {
    for (int i = 0; i < 3000; i++) {
        printf("output line number %d\n", i);
        if (i % 100 == 0)
            fprintf(stderr, "error line number %d\n", i);
    }
}

static const char *const both[] = {"_both_0",         "_both_10",      "_both_4095",  "_both_4096",
                                   "_both_4097",      "_both_8192",    "_both_10000", "_both_200000",
                                   "_both_in_blocks", "_both_in_lines"};

CASE(both_outputs_to_one_file) {
    for (int i = 0; i < 10; i++) {
        int fd = open("log", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        run_case(both[i], -1, fd, fd);
        note_file("log");
        close(fd);
    }
}

CASE(both_outputs_appended_to_one_file) {
    for (int i = 0; i < 10; i++) {
        unlink("log");
        int out = open("log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        int err = open("log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        run_case(both[i], -1, out, err);
        note_file("log");
        close(out);
        close(err);
    }
}

CASE(both_outputs_to_one_pipe) {
    for (int i = 0; i < 10; i++) {
        int ends[2];
        pipe2(ends, O_CLOEXEC);
        fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
        run_case(both[i], -1, ends[1], ends[1]);
        close(ends[1]);
        static char data[300000];
        int n = 0, got;
        while ((got = (int)read(ends[0], data + n, sizeof data - (size_t)n)) > 0)
            n += got;
        say("%b", data, n);
        close(ends[0]);
    }
}

/* --- a terminal ------------------------------------------------------------------- */

CASE(_on_a_terminal) {
    note_buffer(stdout);
    say("tty %d", isatty(1));
    printf("prompt> ");
    kernel_write(2, "[raw]");
    char line[30];
    CALL(fgets(line, sizeof line, stdin));
    printf("a whole line\nhalf a line");
    kernel_write(2, "[raw]");
    CALL(fgets(line, sizeof line, stdin));
    putchar('x');
    kernel_write(2, "[raw]");
    putchar('\n');
    kernel_write(2, "[raw]");
    CALL(getchar());
    CALL(getchar());
    note_flags(stdin);
    note_buffer(stdout);
    printf("no newline at the end");
}

static void drain_terminal(int fd) {
    char data[4096];
    int n = 0, got;
    while ((got = (int)read(fd, data + n, sizeof data - (size_t)n)) > 0)
        n += got;
    say("terminal %b", data, n);
}

static int terminal(int *master) {
    *master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    grantpt(*master);
    unlockpt(*master);
    int slave = open(ptsname(*master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    struct termios quiet;
    tcgetattr(slave, &quiet);
    quiet.c_lflag &= ~(tcflag_t)ECHO; /* the echo would arrive at a random time */
    tcsetattr(slave, TCSANOW, &quiet);
    return slave;
}

CASE(a_terminal) {
    int master, slave = terminal(&master);
    kernel_write(master, "typed one\ntyped two\n\x04\x04");
    run_case("_on_a_terminal", slave, slave, slave);
    close(slave);
    drain_terminal(master);
}

CASE(a_terminal_for_output_only) {
    int master, slave = terminal(&master);
    run_case("_on_a_terminal", -1, slave, slave);
    close(slave);
    drain_terminal(master);
}

/* The kernel passes bytes from one end to the other at some later time. */
/* Returns how many bytes of a terminal's output have arrived, once no more have arrived for 150 ms. */
static int waiting_at(int master) {
    int waiting = -1, before = -1;
    for (int quiet = 0; quiet < 15; quiet++) {
        usleep(10000);
        ioctl(master, FIONREAD, &waiting);
        if (waiting != before)
            quiet = 0;
        before = waiting;
    }
    return waiting;
}

CASE(a_terminal_opened_by_name) {
    int master, slave = terminal(&master);
    (void)slave;
    FILE *f = CALL(fopen(ptsname(master), "r+"));
    fputs("text", f);
    CALL(waiting_at(master));
    fputs(" line\nnext", f);
    CALL(waiting_at(master));
    note_buffer(f);
    CALL(fclose(f));
    CALL(waiting_at(master));
}

/* Reading from a line-buffered or unbuffered input first flushes line-buffered output. */
CASE(input_flushes_line_buffered_output) {
    setlinebuf(stdout);
    FILE *f = fopen("out", "w");
    setlinebuf(f);
    fputs("half a line", f);
    fputs("half a line", stdout);
    struct stat st;
    put_text("in", "text\nmore\n");
    FILE *in = fopen("in", "r");
    CALL(getc(in));
    fstat(1, &st);
    say("stdout has %ld", (long)st.st_size);
    note_file("out");
    FILE *unbuffered = fopen("in", "r");
    setvbuf(unbuffered, NULL, _IONBF, 0);
    CALL(getc(unbuffered));
    fstat(1, &st);
    say("stdout has %ld", (long)st.st_size);
    note_file("out");
    FILE *line = fopen("in", "r");
    setlinebuf(line);
    CALL(getc(line));
    note_file("out");
}

/* fread of a block that bypasses the buffer flushes nothing; other blocks do, as getc. */
CASE(fread_flushes_line_buffered_output) {
    static const size_t sizes[] = {1, 5, 3000, 5000, 1};
    static char block[5000], text[20000];
    struct stat st;
    setlinebuf(stdout);
    memset(text, 't', sizeof text - 1);
    put_text("in", text);
    FILE *unbuffered = fopen("in", "r"), *line = fopen("in", "r"), *full = fopen("in", "r");
    setvbuf(unbuffered, NULL, _IONBF, 0);
    setlinebuf(line);
    FILE *streams[] = {unbuffered, line, full};
    for (int i = 0; i < 3; i++)
        for (int n = 0; n < 5; n++) {
            fputs("half a line", stdout);
            fread(block, 1, sizes[n], streams[i]);
            fstat(1, &st);
            say("stdout has %ld", (long)st.st_size);
        }
}

/* A slow writer: each chunk must arrive when libc would write it. */
CASE(slow_output_into_a_pipe) {
    int ends[2];
    pipe(ends);
    FILE *f = fdopen(ends[1], "w");
    char piece[500];
    memset(piece, 's', sizeof piece);
    int seen[40];
    for (int i = 0; i < 40; i++) {
        fwrite(piece, 1, sizeof piece, f);
        usleep(3000);
        ioctl(ends[0], FIONREAD, &seen[i]);
    }
    for (int i = 0; i < 40; i++)
        say("after %d bytes %d are seen", (i + 1) * 500, seen[i]);
}

CASE(a_buffer_given_late_and_a_seek) {
    static char buffer[128];
    static const char *const modes[] = {"w", "w+", "a", "a+"};
    for (int i = 0; i < 4; i++) {
        FILE *f = fopen("file", modes[i]);
        for (int n = 0; n < 4097; n++)
            putc('a' + n % 26, f);
        CALL(setvbuf(f, buffer, _IOFBF, sizeof buffer));
        rewind(f);
        CALL(fprintf(f, "<%d>", 5));
        note_file("file");
        CALL(fputs("more", f));
        note_file("file");
        CALL(fclose(f));
        note_file("file");
    }
}

CASE(line_buffering_given_late) {
    static char buffer[50];
    FILE *f = fopen("file", "w");
    fputs("before", f);
    CALL(setvbuf(f, buffer, _IOLBF, sizeof buffer));
    CALL(fputs("no whole line", f));
    note_file("file");
    CALL(fputs(" and\nmore", f));
    note_file("file");
    CALL(fclose(f));
    note_file("file");
}

#ifdef UNDER_GCOV /* gcov needs memory at exit */
static void give_memory_back(void) {
    setrlimit(RLIMIT_AS, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY});
}
#endif

/* Makes all later calls of malloc and mmap fail. */
static void take_all_memory(void) {
#ifdef UNDER_GCOV
    atexit(give_memory_back);
#endif
    setrlimit(RLIMIT_AS, &(struct rlimit){0, RLIM_INFINITY});
    for (size_t size = 1 << 20; size >= 16; size /= 2)
        for (void *volatile p; (p = malloc(size));)
            ;
}

/* Without memory, each of libc's streams works with a one-byte buffer, for any file and when it switches
 * between reading and writing. */
CASE(no_memory_for_a_turn) {
    static char line[200];
    put_pattern("file", 5000);
    FILE *update = fopen("file", "r+"), *behind = fopen("file", "r+"), *turning = fopen("new", "w+");
    FILE *append = fopen("appended", "a+"), *early = fopen("early", "w+");
    CALL(fputs("some text", early));
    take_all_memory();
    rewind(early);
    CALL(fgetc(early));
    CALL(fgets(line, sizeof line, early));
    CALL(fseek(early, 0, SEEK_END));
    CALL(fputs("more", early));
    CALL(fclose(early));
    CALL(fputs("new", update));
    CALL(fseek(update, 0, SEEK_CUR));
    CALL(fgets(line, 20, update));
    CALL(fclose(update));
    CALL(fgetc(behind));
    CALL(fputs("no seek between", behind));
    CALL(fclose(behind));
    CALL(fputs("hello", turning));
    rewind(turning);
    CALL(fgetc(turning));
    CALL(fclose(turning));
    CALL(fputs("app", append));
    rewind(append);
    CALL(fgetc(append));
    CALL(fputs("end", append));
    CALL(fclose(append));
}

static ssize_t take(void *cookie, const char *text, size_t n) {
    (void)text;
    *(size_t *)cookie += n;
    return (ssize_t)n;
}

static ssize_t give(void *cookie, char *text, size_t n) {
    (void)cookie;
    memset(text, 'g', n);
    return (ssize_t)n;
}

CASE(no_memory_for_memory_and_callbacks) {
    static char line[200], area[50], *text;
    size_t taken = 0, size;
    FILE *memory = fmemopen(area, sizeof area, "w+"), *growing = open_memstream(&text, &size);
    FILE *taker = fopencookie(&taken, "w", (cookie_io_functions_t){.write = take});
    FILE *giver = fopencookie(NULL, "r", (cookie_io_functions_t){.read = give});
    take_all_memory();
    CALL(fputs("in memory", memory));
    rewind(memory);
    CALL(fgetc(memory));
    CALL(fgets(line, sizeof line, memory));
    CALL(fclose(memory));
    CALL(strcmp(area, "in memory"));
    CALL(fputs("to a callback", taker));
    CALL(fclose(taker));
    CALL((int)taken);
    CALL(fgetc(giver));
    CALL((int)fread(line, 1, 100, giver));
    while (putc('x', growing) != EOF)
        taken++;
    CALL((int)taken);
    CALL(ferror(growing));
}

CASE(no_memory_for_a_stream) {
    put_text("kept", "as it is");
    take_all_memory();
    CALL(fopen("kept", "w") == NULL);
    CALL(fopen("not made", "w") == NULL);
    CALL(access("not made", F_OK));
}

CASE(no_memory_for_wide_characters) {
    FILE *out = fopen("out", "w");
    put_text("in", "wide");
    FILE *in = fopen("in", "r");
    take_all_memory();
    CALL(fputwc(L'a', out));
    CALL(fclose(out));
    take_all_memory(); /* the memory that fclose freed; glibc uses even a buffer for no characters */
    CALL(fgetwc(in));
    CALL(fgetwc(in));
    CALL(fputws(L"no memory\n", stderr));
    CALL(fwprintf(stderr, L"%d %ls\n", 1, L"wide"));
}

CASE(no_memory_for_a_line) {
    char *line = NULL;
    size_t size = 0;
    put_lines("file", 100);
    FILE *f = fopen("file", "r");
    getc(f);
    take_all_memory();
    CALL(getline(&line, &size, f));
    note_flags(f);
}

CASE(no_memory_for_a_buffer) {
    static char line[200];
    put_pattern("file", 5000);
    FILE *in = fopen("file", "r"), *again = fopen("file", "r"), *out = fopen("out", "w");
    FILE *update = fopen("file", "r+");
    take_all_memory();
    CALL(printf("%d %s\n", 1, "text"));
    CALL(puts("a line"));
    CALL(fprintf(stderr, "%s\n", "no memory"));
    CALL(fgetc(in));
    CALL(fgets(line, sizeof line, in));
    if (ungetc('u', in) == 'u') /* fails in glibc before 2.41, although C guarantees one byte */
        if (fgetc(in) != 'u')
            say("another byte");
    CALL((int)fread(line, 1, 100, in));
    CALL(ftell(in));
    CALL((int)fread(line, 1, 50, again));
    CALL(fseek(again, 3000, SEEK_SET));
    CALL(fgetc(again));
    for (int i = 0; i < 300; i++)
        if (fputs("some text ", out) == EOF || fprintf(out, "%d\n", i) < 0 || putc('.', out) == EOF)
            say("failed at %d", i);
    CALL(fflush(out));
    CALL((int)fwrite(line, 1, 150, out));
    CALL(fgetc(update));
    CALL(fseek(update, 0, SEEK_CUR));
    CALL(fputc('X', update));
    CALL(fclose(update));
    CALL(fclose(in));
    CALL(fclose(out));
    CALL(fopen("file", "r") == NULL);
    CALL(getchar());
    printf("the end");
}
