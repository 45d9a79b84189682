/* SPDX-License-Identifier: MIT
 *
 * bulk_cases.c - streams that move megabytes, and what others see of them meanwhile: children, popen, the
 * descriptor itself, a reader of the file, exit, seeks. By the time of each check, the stream may have
 * read ahead or held back more than one of libc's buffers.
 */
#include "tests/interfaces/stdio/transcript.h"

#include <pthread.h>
#include <sys/wait.h>
#include <time.h>

enum { MUCH = 3000000 };

static FILE *opened_pattern(void) {
    put_pattern("in", MUCH);
    return fopen("in", "r");
}

/* Reads n bytes by several kinds of calls in turn. */
static void read_much(FILE *f, long n) {
    static char block[70000];
    static const long sizes[] = {1, 64, 117, 4095, 4096, 4097, 8192, 12288, 300};
    long done = 0, wrong = 0;
    for (int i = 0; done < n; i++) {
        long want = sizes[i / 40 % 9] < n - done ? sizes[i / 40 % 9] : n - done;
        long got = (long)fread(block, 1, (size_t)want, f);
        for (long k = 0; k < got; k++)
            wrong += (unsigned char)block[k] != pattern_at((size_t)(done + k));
        done += got;
        if (got < want)
            break;
    }
    say("read %ld, %ld of them wrong", done, wrong);
}

static void write_much(FILE *f, long n) {
    static char block[70000];
    static const long sizes[] = {1, 64, 117, 4095, 4096, 4097, 8192, 12288, 300};
    for (int i = 0; n > 0; i++) {
        long some = sizes[i / 40 % 9] < n ? sizes[i / 40 % 9] : n;
        memset(block, 'a' + i % 26, (size_t)some);
        n -= (long)fwrite(block, 1, (size_t)some, f);
    }
}

static long size_of(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 ? (long)st.st_size : -1;
}

static void read_lines(FILE *f, int n) {
    char line[100];
    while (n-- > 0 && fgets(line, sizeof line, f))
        ;
}

static FILE *in, *out;

/* --- forks ----------------------------------------------------------------------- */

/* Returns the descriptor of the stream that was opened last, without calling fileno. */
static int only_descriptor(void) {
    int next = open("/dev/null", O_RDONLY);
    close(next);
    return next - 1;
}

static int fd;

static void child_looks(void) {
    say("offset %ld", raw_offset(fd));
    _exit(0);
}

CASE(fork_after_input_of_each_length) {
    in = opened_pattern();
    fd = only_descriptor();
    long total = 0;
    for (int i = 0; i < 8; i++) {
        long n = 330000 + i * 1365;
        static char block[400000];
        for (long done = 0; done < n;)
            done += (long)fread(block, 1, (size_t)(n - done < 100 ? n - done : 100), in);
        total += n;
        say("at %ld", total);
        child(child_looks);
    }
}

CASE(fork_at_the_end_of_a_block) {
    in = opened_pattern();
    fd = only_descriptor();
    static char block[8192];
    for (int i = 0; i < 500; i++)
        fread(block, 1, 64, in), fread(block, 1, 4032, in);
    child(child_looks);
    fread(block, 1, 4096, in);
    child(child_looks);
    ungetc(getc(in), in);
    child(child_looks);
    fread(block, 1, 8192, in);
    child(child_looks);
    getc(in);
    child(child_looks);
}

static void child_reads(void) {
    char byte;
    read(fd, &byte, 1);
    say("%b", &byte, 1);
    say("%d from the stream", getc(in));
    _exit(0);
}

CASE(child_reads_on) {
    in = opened_pattern();
    fd = only_descriptor();
    read_much(in, 1000000);
    child(child_reads);
    read_lines(in, 3);
    say("offset %ld", raw_offset(fd));
}

CASE(input_after_a_fork_is_bulk_again) {
    in = opened_pattern();
    fd = only_descriptor();
    static char block[100];
    long done = 0;
    for (int i = 1; fread(block, 1, sizeof block, in) == sizeof block; i++) {
        done += (long)sizeof block;
        if (i % 7001 == 0)
            child(child_looks);
    }
    say("%ld", done);
}

/* Large blocks that bypass the buffer, between small writes: a child must see as much of the output as
 * with libc. */
CASE(fork_after_output_of_large_blocks) {
    static const size_t sizes[] = {65536,  16384, 20000, 5,      70001, 4091,
                                   131072, 8192,  12288, 100000, 1,     32768};
    static char block[131072];
    out = fopen("out", "w");
    fd = only_descriptor();
    memset(block, 'x', sizeof block);
    for (int i = 0; i < 300000; i++)
        fwrite("0123456789", 1, 10, out);
    for (size_t i = 0; i < 10 * sizeof sizes / sizeof *sizes; i++) {
        fwrite(block, 1, sizes[i % (sizeof sizes / sizeof *sizes)], out);
        if (i % 5 == 0)
            child(child_looks);
    }
    fclose(out);
    say("%ld bytes", size_of("out"));
}

static void child_ends(void) {}

static void child_adds(void) {
    fputs("of the child\n", out);
}

CASE(fork_with_output_of_each_length) {
    out = fopen("out", "w");
    for (int i = 0; i < 8; i++) {
        write_much(out, 330000 + i * 1365);
        child(child_ends);
        say("size %ld", size_of("out"));
        child(child_adds);
        say("size %ld", size_of("out"));
    }
    fclose(out);
    note_file("out");
}

CASE(fork_at_full_buffers) {
    static char block[65536];
    out = fopen("out", "w");
    for (int i = 0; i < 5000; i++)
        fwrite(block, 1, 64, out);
    fwrite(block, 1, 64 * 8 * 3, out);
    for (int n = 4096; n <= 65536; n += 4096) {
        fwrite(block, 1, (size_t)n, out);
        child(child_adds);
        fwrite(block, 1, (size_t)n - 1, out);
        child(child_adds);
        putc('x', out);
        child(child_adds);
        for (int i = 0; i < 4000; i++)
            fwrite(block, 1, 128, out);
    }
    fclose(out);
    note_file("out");
}

/* --- popen ----------------------------------------------------------------------------- */

static void size_by_command(void) {
    char answer[100] = "";
    FILE *p = popen("wc -c < out", "r");
    fgets(answer, sizeof answer, p);
    CALL(pclose(p));
    say("%s", answer);
}

CASE(popen_shows_output) {
    out = fopen("out", "w");
    for (int i = 0; i < 4; i++) {
        write_much(out, 400000 + i);
        size_by_command();
    }
    fclose(out);
    size_by_command();
}

CASE(popen_has_the_input) {
    put_pattern("in", MUCH);
    CALL(freopen("in", "r", stdin) != NULL);
    read_much(stdin, 1234567);
    FILE *p = popen("head -c 20 | wc -c", "r");
    char answer[100] = "";
    fgets(answer, sizeof answer, p);
    pclose(p);
    say("%s", answer);
    say("offset %ld", raw_offset(0));
}

/* --- the descriptor ------------------------------------------------------------------------ */

CASE(fileno_and_read) {
    char bytes[8];
    in = opened_pattern();
    for (int i = 0; i < 4; i++) {
        static char block[400000];
        for (int k = 0; k < 5000; k++)
            fread(block, 1, 67, in);
        read(fileno(in), bytes, sizeof bytes);
        say("%b", bytes, 8);
        say("offset %ld", raw_offset(fileno(in)));
        CALL(getc(in));
    }
}

CASE(fileno_and_lseek) {
    in = opened_pattern();
    read_much(in, 1500000);
    CALL(lseek(fileno(in), 100, SEEK_SET));
    int count = 0;
    while (count < 5000 && getc(in) != EOF)
        count++;
    say("offset %ld", raw_offset(fileno(in)));
    note_state(in);
}

CASE(fileno_and_write) {
    out = fopen("out", "w");
    for (int i = 0; i < 4; i++) {
        write_much(out, 500001);
        kernel_write(fileno(out), "between");
    }
    fclose(out);
    note_file("out");
}

CASE(dup_of_the_descriptor) {
    in = opened_pattern();
    read_much(in, 1500000);
    int copy = dup(fileno(in));
    fclose(in);
    say("offset %ld", raw_offset(copy));
}

CASE(closed_with_a_copy_left) {
    in = opened_pattern();
    int copy = dup(fileno(in));
    static char block[100];
    for (int i = 0; i < 9999; i++)
        fread(block, 1, sizeof block, in);
    fclose(in);
    say("offset %ld", raw_offset(copy));
}

/* --- flushes, seeks ----------------------------------------------------------------------------- */

CASE(flush_in_bulk) {
    out = fopen("out", "w");
    write_much(out, 1000001);
    CALL(fflush(out));
    say("size %ld", size_of("out"));
    write_much(out, 1000001);
    CALL(fflush(NULL));
    say("size %ld", size_of("out"));
    fclose(out);
    say("size %ld", size_of("out"));
}

CASE(flush_of_input) {
    in = opened_pattern();
    fd = only_descriptor();
    read_much(in, 1000001);
    CALL(fflush(in));
    say("offset %ld", raw_offset(fd));
    read_lines(in, 2);
    say("offset %ld", raw_offset(fd));
    static char block[100];
    for (int i = 0; i < 9999; i++)
        fread(block, 1, sizeof block, in);
    CALL(fflush(NULL));
    say("offset %ld", raw_offset(fd));
}

CASE(exec_after_a_flush) {
    out = fopen("out", "w");
    write_much(out, 1000001);
    fflush(out);
    char *const argv[] = {"wc", "-c", "out", NULL};
    execvp("wc", argv);
}

CASE(places) {
    fpos_t at;
    in = opened_pattern();
    fd = only_descriptor();
    for (long n = 300000; n < 1000000; n += 111111) {
        static char block[100];
        for (long done = 0; done < n; done += 100)
            fread(block, 1, 100, in);
        CALL(ftell(in));
        fgetpos(in, &at);
        CALL(getc(in));
        fsetpos(in, &at);
        CALL(getc(in));
        CALL(fseek(in, -50, SEEK_CUR));
        CALL(getc(in));
        say("offset %ld", raw_offset(fd));
    }
    CALL(fseek(in, 10, SEEK_SET));
    CALL(getc(in));
    rewind(in);
    CALL(getc(in));
}

CASE(places_of_output) {
    out = fopen("out", "w");
    for (int i = 0; i < 5; i++) {
        write_much(out, 600001);
        CALL(ftell(out));
        CALL(fseek(out, -10, SEEK_CUR));
        say("size %ld", size_of("out"));
        fputs("over", out);
    }
    CALL(fseek(out, 5, SEEK_SET));
    fputs("first", out);
    fclose(out);
    note_file("out");
}

/* --- pushed back ----------------------------------------------------------------------------------- */

CASE(pushed_back) {
    in = opened_pattern();
    fd = only_descriptor();
    static char block[4096];
    for (int i = 0; i < 4096; i++)
        fread(block, 1, 128, in);
    CALL(ungetc('x', in)); /* after the last byte of a block */
    child(child_looks);
    CALL(getc(in));
    CALL(getc(in));
    CALL(ungetc('y', in));
    CALL(ungetc('z', in));
    child(child_looks);
    CALL(fread(block, 1, 100, in));
    say("%b", block, 100);
    note_state(in);
}

/* --- other buffers ----------------------------------------------------------------------------------- */

CASE(setvbuf_late) {
    static char buffer[100];
    out = fopen("out", "w");
    write_much(out, 1000001);
    CALL(setvbuf(out, buffer, _IOFBF, sizeof buffer));
    say("size %ld", size_of("out"));
    write_much(out, 1000001);
    say("size %ld", size_of("out"));
    CALL(setvbuf(out, NULL, _IONBF, 0));
    say("size %ld", size_of("out"));
    CALL(setvbuf(out, NULL, _IOLBF, 0));
    fputs("a line\nand more", out);
    say("size %ld", size_of("out"));
    fclose(out);
    note_file("out");
}

CASE(line_buffered_late) {
    out = fopen("out", "w");
    write_much(out, 1000001);
    CALL(setvbuf(out, NULL, _IOLBF, 0));
    fputs("a line\nand more", out);
    say("size %ld", size_of("out"));
    fclose(out);
    note_file("out");
}

CASE(reopened) {
    out = fopen("out", "w");
    write_much(out, 1000001);
    CALL(freopen("out2", "w", out) != NULL);
    say("size %ld", size_of("out"));
    write_much(out, 1000001);
    fclose(out);
    note_file("out");
    note_file("out2");
    in = opened_pattern();
    read_much(in, 1000001);
    CALL(freopen("out2", "r", in) != NULL);
    CALL(getc(in));
    note_state(in);
}

/* --- the end ---------------------------------------------------------------------------------------------
 */

CASE(exit_with_output) {
    write_much(stdout, 1000001);
    out = fopen("out", "w");
    write_much(out, 1000001);
}

CASE(exit_with_input) {
    put_pattern("in", MUCH);
    freopen("in", "r", stdin);
    read_much(stdin, 1000001);
}

CASE(_exits_with_input) {
    static char line[100];
    for (int i = 0; i < 100000; i++)
        fread(line, 1, 13, stdin);
    exit(0);
}

CASE(exit_of_a_child_with_input) {
    put_pattern("in", MUCH);
    int input = open("in", O_RDONLY);
    run_case("_exits_with_input", input, -1, -1);
    say("offset %ld", raw_offset(input));
}

CASE(grown_file) {
    in = opened_pattern();
    fd = only_descriptor();
    read_much(in, MUCH);
    CALL(getc(in));
    int more = open("in", O_WRONLY | O_APPEND);
    for (int i = 0; i < 3; i++) {
        clearerr(in);
        kernel_write(more, "some more");
        read_lines(in, 1);
        say("offset %ld", raw_offset(fd));
        CALL(getc(in));
        note_flags(in);
    }
}

CASE(full_disk) {
    out = fopen("/dev/full", "w");
    write_much(out, 1000001);
    note_flags(out);
    CALL(fclose(out));
}

CASE(pipe_input) {
    FILE *p = popen("seq 1 300000", "r");
    char line[100];
    long n = 0, sum = 0;
    while (fgets(line, sizeof line, p)) {
        n++;
        sum += atol(line);
        if (n % 50000 == 0)
            CALL(ungetc('7', p)), CALL(getc(p));
    }
    say("%ld lines, %ld", n, sum);
    CALL(pclose(p));
}

/* --- others meanwhile
 * --------------------------------------------------------------------------------------- */

/* Messages to standard error appear in the file at the same positions as with libc. */
CASE(both_outputs_in_one_file) {
    int one = open("both", O_CREAT | O_WRONLY, 0644);
    dup2(one, 1);
    dup2(one, 2);
    for (int i = 0; i < 20; i++) {
        write_much(stdout, 100003);
        fprintf(stderr, "message %d\n", i);
    }
    fclose(stdout);
    note_file("both");
}

/* After much output, writes a line every 5 ms: each line must be in the file once libc's buffer would be
 * full. */
CASE(slow_lines_are_seen) {
    enum { LINE = 200, BUFFER = 4096, LATE = 61 };
    char line[LINE + 1];
    long written = 1000000;
    int late = 0;
    out = fopen("out", "w");
    for (int i = 0; i < 1000000 / 100; i++)
        fprintf(out, "%099d\n", i);
    memset(line, 'l', LINE);
    line[LINE] = '\0';
    const struct timespec five = {0, 5000000};
    for (int i = 0; i < 200; i++) {
        nanosleep(&five, NULL);
        fputs(line, out);
        written += LINE;
        late += i > LATE && written - size_of("out") > BUFFER;
    }
    say("%d were late", late);
    fclose(out);
}

static void *write_from_a_thread(void *unused) {
    (void)unused;
    for (int i = 0; i < 100000; i++)
        fprintf(out, "line %06d\n", i);
    return NULL;
}

/* The program uses its own lock and unlocked calls, as sort does. */
static void *write_without_the_lock(void *unused) {
    static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    char line[20];
    (void)unused;
    for (int i = 0; i < 100000; i++) {
        snprintf(line, sizeof line, "line %06d\n", i);
        pthread_mutex_lock(&own);
        fputs_unlocked(line, out);
        pthread_mutex_unlock(&own);
    }
    return NULL;
}

static void write_while_main_forks(void *(*write)(void *)) {
    pthread_t threads[3];
    char line[40];
    int lines = 0, bad = 0;
    out = fopen("out", "w");
    for (int i = 0; i < 3; i++)
        pthread_create(threads + i, NULL, write, NULL);
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        waitpid(child, NULL, 0);
        if (write == write_from_a_thread)
            fflush(NULL);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    fclose(out);
    in = fopen("out", "r");
    while (fgets(line, sizeof line, in))
        lines++, bad += strlen(line) != 12;
    say("%d lines, %d bad", lines, bad);
    remove("out"); /* the order of the lines is unspecified */
}

CASE(threads_write_whole_lines) {
    write_while_main_forks(write_from_a_thread);
}

CASE(threads_write_without_the_lock) {
    write_while_main_forks(write_without_the_lock);
}

static void *read_from_a_thread(void *sum) {
    static __thread char block[4096];
    size_t n;
    while ((n = fread(block, 1, sizeof block, in)) > 0)
        for (size_t i = 0; i < n; i++)
            *(long *)sum += (unsigned char)block[i];
    return NULL;
}

CASE(threads_read_all_once) {
    pthread_t threads[3];
    long sums[3] = {0};
    in = opened_pattern();
    for (int i = 0; i < 3; i++)
        pthread_create(threads + i, NULL, read_from_a_thread, sums + i);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    say("%ld", sums[0] + sums[1] + sums[2]);
}

CASE(wide_after_blocks) {
    in = opened_pattern();
    fd = only_descriptor();
    static char block[4096];
    for (int i = 0; i < 500; i++)
        fread(block, 1, sizeof block, in);
    CALL(fgetwc(in));
    say("offset %ld", raw_offset(fd));
}
