/* SPDX-License-Identifier: MIT
 *
 * bulk_sharing_cases.c - streams that move much data, and other users of their descriptor number, their
 * file or the other end: another file on the number, a second stream, poll, children made without fork(2),
 * limits and filters of system calls. Output consists of 16-byte records, so each of libc's blocks ends
 * with a record.
 */
#include "tests/interfaces/stdio/transcript.h"

#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum {
    RECORD = 16,
    BLOCK = 4096,
    BULK_BUFFER = 128 << 10,
    MANY = 30000, /* records: 117 blocks, enough to make the stream a bulk stream */
    MUCH = 1000000,
};

static FILE *in, *out;
static int next_record;

static void write_records(FILE *f, int n) {
    for (int i = 0; i < n; i++)
        fprintf(f, "record %08d\n", next_record++);
}

static void read_bytes(FILE *f, long n) {
    char block[100];
    for (long done = 0, got = 1; done < n && got > 0; done += got)
        got = (long)fread(block, 1, (size_t)(n - done < 100 ? n - done : 100), f);
}

/* Returns the descriptor number that the next open will get, so that fileno is not called. */
static int next_number(void) {
    int fd = open("/dev/null", O_RDONLY);
    close(fd);
    return fd;
}

/* --- a number that gets another file --------------------------------------------------------- */

/* Replaces standard input by a pipe that holds at most `much` bytes, and starts a process that writes to
 * it. */
static void feed_standard_input(long much) {
    int ends[2];
    pipe(ends);
    if (fork() == 0) {
        char *bytes = malloc((size_t)much);
        for (long i = 0; i < much; i++)
            bytes[i] = i % 20 == 19 ? '\n' : 'x';
        close(ends[0]);
        signal(SIGPIPE, SIG_DFL);
        raw_write(ends[1], bytes, (size_t)much);
        _exit(0);
    }
    dup2(ends[0], 0);
    close(ends[0]);
    close(ends[1]);
}

static void give_number_a_file(void) {
    static char bytes[50000];
    int fd = open("in", O_RDONLY);
    CALL(dup2(fd, 0));
    close(fd);
    CALL(read(0, bytes, sizeof bytes));
}

static void read_pipe_then_a_file(void) {
    put_pattern("in", MUCH);
    feed_standard_input(MUCH);
    read_bytes(stdin, 500010);
    give_number_a_file();
}

static void forks(void) {
    if (fork() == 0)
        _exit(0);
    wait(NULL);
}

CASE(a_file_on_the_number_of_a_pipe_then_fork) {
    read_pipe_then_a_file();
    forks();
    say("offset %ld", raw_offset(0));
}

CASE(a_file_on_the_number_of_a_pipe_then_popen) {
    read_pipe_then_a_file();
    CALL(pclose(popen("exit 3", "r")));
    say("offset %ld", raw_offset(0));
}

CASE(a_file_on_the_number_of_a_pipe_then_system) {
    read_pipe_then_a_file();
    CALL(system("exit 3"));
    say("offset %ld", raw_offset(0));
}

CASE(a_file_on_the_number_of_a_pipe_then_fflush) {
    read_pipe_then_a_file();
    fflush(NULL);
    say("offset %ld", raw_offset(0));
}

CASE(a_file_on_the_number_of_a_pipe_then_fileno) {
    read_pipe_then_a_file();
    CALL(fileno(stdin));
    say("offset %ld", raw_offset(0));
}

static void _reads_a_pipe_then_a_file(void) {
    read_pipe_then_a_file();
    exit(3);
}

CASE(a_file_on_the_number_of_a_pipe_then_exit) {
    put_pattern("in", MUCH);
    int kept = open("in", O_RDONLY);
    dup2(kept, 0);
    child(_reads_a_pipe_then_a_file);
    say("offset %ld", raw_offset(kept));
}

/* After a child, the parent's stream is at the same place, and the child's new standard input affects only
 * the child. */
static void input_then(void (*in_child)(void)) {
    char line[100];
    long lines = 0;
    feed_standard_input(MUCH);
    while (fgets(line, sizeof line, stdin))
        if (++lines % 5000 == 0)
            child(in_child);
    say("%ld lines", lines);
}

static void closes_and_opens(void) {
    close(0);
    open("/dev/null", O_RDONLY);
    execlp("true", "true", (char *)NULL);
}

CASE(children_that_close_and_open_the_number) {
    input_then(closes_and_opens);
}

static void opens_and_duplicates(void) {
    int fd = open("/dev/null", O_RDONLY);
    dup2(fd, 0);
    close(fd);
    execlp("true", "true", (char *)NULL);
}

CASE(children_that_duplicate_onto_the_number) {
    input_then(opens_and_duplicates);
}

static void moves_and_leaves(void) {
    close(0);
    open("/etc/passwd", O_RDONLY);
    lseek(0, 100, SEEK_SET);
    say("offset %ld", raw_offset(0));
    exit(0);
}

CASE(children_that_move_the_number_and_exit) {
    input_then(moves_and_leaves);
}

static void reopens(void) {
    CALL(freopen("/dev/null", "r", stdin) != NULL);
    CALL(getchar());
}

CASE(children_that_reopen_standard_input) {
    input_then(reopens);
}

/* The child opens another file on the number. The parent's stream and its offset must be those of libc. */
CASE(a_file_of_the_child_on_the_number) {
    put_pattern("in", MUCH);
    int fd = next_number();
    in = fopen("in", "r");
    for (int i = 0; i < 3; i++) {
        read_bytes(in, 300010);
        if (fork() == 0) {
            close(fd);
            open("/dev/null", O_RDONLY);
            _exit(getc(in) != pattern_at((size_t)(i + 1) * 300010));
        }
        int status = 0;
        wait(&status);
        say("child %d, offset %ld", status, raw_offset(fd));
    }
}

/* --- poll on an empty window ---------------------------------------------------------------- */

/* Returns the number of bytes in the stream's buffer, which the kernel cannot return again. */
static long unread_in_window(FILE *f) {
#ifdef __GLIBC__
    return f->_IO_read_end - f->_IO_read_ptr;
#else
    size_t __freadahead(FILE *);
    return (long)__freadahead(f);
#endif
}

enum { REQUESTS = 40000, REQUEST = 20 };

/* Starts a peer that sends all requests at once, and exits with 0 if all are answered. */
static pid_t start_peer(int to, int from) {
    pid_t peer = fork();
    if (peer != 0)
        return peer;
    static char all[REQUESTS * REQUEST + 1];
    for (int i = 0; i < REQUESTS; i++)
        sprintf(all + (size_t)i * REQUEST, "request %08d...\n", i);
    raw_write(to, all, sizeof all - 1);
    char answer;
    _exit(read(from, &answer, 1) == 1 ? 0 : 1);
}

/* Returns whether poll on the number times out although the peer has sent more requests. */
static bool polls_in_vain(int fd) {
    struct pollfd p = {fd, POLLIN, 0};
    return poll(&p, 1, 5000) == 0;
}

static int answer_all(int from, int to) {
    char line[100];
    int lines = 0, counts_wrong = 0;
    in = fdopen(from, "r");
    while (lines < REQUESTS) {
        int below = 0;
        ioctl(from, FIONREAD, &below);
        counts_wrong += unread_in_window(in) + below != (long)(REQUESTS - lines) * REQUEST;
        if (unread_in_window(in) == 0 && polls_in_vain(from))
            break;
        if (!fgets(line, sizeof line, in))
            break;
        lines++;
    }
    say("%d lines, %d counts wrong", lines, counts_wrong);
    kernel_write(to, "y");
    return lines;
}

/* Waits until the peer has sent all requests, before the first is read. */
static void wait_for_requests(int fd) {
    for (int below = 0; below < REQUESTS * REQUEST; usleep(1000))
        if (ioctl(fd, FIONREAD, &below) < 0)
            return;
}

CASE(a_pipe_that_is_polled_when_the_window_is_empty) {
    int to[2], from[2];
    pipe(from);
    pipe(to);
    fcntl(from[1], F_SETPIPE_SZ, 1 << 20);
    pid_t peer = start_peer(from[1], to[0]);
    wait_for_requests(from[0]);
    answer_all(from[0], to[1]);
    finish(peer);
}

/* Like the peer above, but waits for an answer to each burst of requests. */
static void send_bursts(int to, int from) {
    char line[RECORD + 1], answer;
    for (int burst = 1; burst < 400; burst += 7) {
        for (int i = 0; i < burst * 10; i++) {
            sprintf(line, "record %08d\n", i);
            raw_write(to, line, RECORD);
        }
        kernel_write(to, "end of a burst.\n");
        if (read(from, &answer, 1) != 1)
            _exit(1);
    }
    _exit(0);
}

static void answer_bursts(int fd) {
    char line[100];
    long lines = 0, bursts = 0;
    in = fdopen(fd, "r");
    out = fdopen(dup(fd), "w");
    setvbuf(out, NULL, _IONBF, 0);
    while (fgets(line, sizeof line, in)) {
        lines++;
        if (line[0] != 'e')
            continue;
        bursts++;
        putc('y', out);
    }
    say("%ld lines, %ld bursts", lines, bursts);
}

CASE(a_peer_that_waits_for_answers_on_a_socket) {
    int ends[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    pid_t peer = fork();
    if (peer == 0) {
        close(ends[0]);
        send_bursts(ends[1], ends[1]);
    }
    close(ends[1]);
    answer_bursts(ends[0]);
    finish(peer);
}

CASE(a_peer_that_waits_for_answers_on_pipes) {
    int to[2], from[2];
    char line[100];
    long lines = 0;
    pipe(to);
    pipe(from);
    pid_t peer = fork();
    if (peer == 0) {
        close(to[1]);
        close(from[0]);
        send_bursts(from[1], to[0]);
    }
    close(to[0]);
    close(from[1]);
    in = fdopen(from[0], "r");
    out = fdopen(to[1], "w");
    while (fgets(line, sizeof line, in)) {
        lines++;
        if (line[0] == 'e')
            putc('y', out), fflush(out);
    }
    say("%ld lines", lines);
    finish(peer);
}

/* Output to a pipe: the reader gets each flushed answer, and all output before it that fills libc's
 * buffer. */
CASE(a_reader_that_waits_for_what_was_sent) {
    int ends[2];
    pipe(ends);
    fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
    out = fdopen(ends[1], "w");
    for (int i = 0; i < 12; i++) {
        int there = 0;
        write_records(out, 4001);
        ioctl(ends[0], FIONREAD, &there);
        say("%d bytes", there);
    }
    for (int i = 0, there = 0; i < 3; i++) {
        write_records(out, 11);
        CALL(fflush(out));
        ioctl(ends[0], FIONREAD, &there);
        say("%d bytes", there);
    }
}

/* --- one file, and other writers ------------------------------------------------------------- */

/* Redirects standard output to a file. */
static void redirect_output(int flags) {
    int fd = open("both", O_WRONLY | O_CREAT | O_TRUNC | flags, 0644);
    dup2(fd, 1);
    close(fd);
}

static void write_with_messages(FILE *messages) {
    for (int i = 0; i < 10; i++) {
        write_records(stdout, 4001);
        fprintf(messages, "message %d\n", i);
    }
    fflush(stdout);
    note_file("both");
}

CASE(appended_by_the_number_and_by_a_stream) {
    redirect_output(O_APPEND);
    FILE *messages = fopen("both", "a");
    setvbuf(messages, NULL, _IONBF, 0);
    write_with_messages(messages);
}

CASE(appended_by_a_flag_that_is_set_before_the_first_output) {
    redirect_output(0);
    CALL(fcntl(1, F_SETFL, O_APPEND));
    FILE *messages = fopen("both", "a");
    setvbuf(messages, NULL, _IONBF, 0);
    write_with_messages(messages);
}

CASE(standard_error_to_the_same_file_later) {
    redirect_output(0);
    write_records(stdout, 1);
    fflush(stdout);
    dup2(1, 2);
    write_with_messages(stderr);
}

CASE(standard_error_to_the_same_file_in_the_midst) {
    redirect_output(0);
    write_records(stdout, MANY);
    dup2(1, 2);
    write_with_messages(stderr);
}

CASE(standard_error_reopened_on_the_same_file) {
    redirect_output(O_APPEND);
    write_records(stdout, MANY);
    CALL(freopen("both", "a", stderr) != NULL);
    write_with_messages(stderr);
}

CASE(messages_of_libc_to_the_same_file) {
    redirect_output(0);
    write_records(stdout, 1);
    fflush(stdout);
    dup2(1, 2);
    for (int i = 0; i < 5; i++) {
        write_records(stdout, 5001);
        errno = ENOENT;
        perror("message");
    }
    fflush(stdout);
    note_file("both");
}

/* --- limits ----------------------------------------------------------------------------------- */

static void limit_files(rlim_t size) {
    const struct rlimit limit = {size, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
}

static long size_of(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 ? (long)st.st_size : -1;
}

/* As with libc, the block that fails is lost, and the part of the later blocks that fails. */
CASE(a_limit_on_files_that_passes) {
    int failed = 0;
    limit_files(MUCH);
    out = fopen("out", "w");
    for (int i = 0; i < 100000; i++)
        if (fprintf(out, "record %08d\n", i) < 0) {
            failed++;
            limit_files(RLIM_INFINITY);
        }
    CALL(fclose(out));
    long lost = 100000L * RECORD - size_of("out");
    say("an error was told: %d", failed > 0);
    say("a block more than libc loses, at most: %d", lost <= 2L * BLOCK);
    remove("out"); /* which records are lost is unspecified */
}

/* After the limit, each of libc's blocks fails, and a call reports each failure. */
CASE(a_limit_on_files_that_stays) {
    int failed = 0;
    limit_files(MUCH);
    out = fopen("out", "w");
    for (int i = 0; i < 100000; i++)
        failed += fprintf(out, "record %08d\n", i) < 0;
    say("%d failed", failed);
    note_flags(out);
    CALL(fclose(out));
    say("size %ld", size_of("out"));
}

CASE(a_full_device) {
    int failed = 0;
    out = fopen("/dev/full", "w");
    for (int i = 0; i < MANY; i++)
        failed += fprintf(out, "record %08d\n", i) < 0;
    say("%d failed", failed);
    CALL(fclose(out));
}

/* --- children made without fork(2) ----------------------------------------------------------- */

#ifdef __GLIBC__
static pid_t forked_bare(void) {
    return _Fork();
}
#endif

static pid_t forked_by_number(void) {
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

/* Counts how often each record is in the file. With libc, too, the records of the last block are written
 * twice if the child ends by exit(3). */
static void count_records(const char *path, int number, int times_at_most) {
    static unsigned char seen[10 * MANY];
    char record[RECORD + 1] = "";
    int missing = 0, repeated = 0, damaged = 0;
    memset(seen, 0, sizeof seen);
    FILE *f = fopen(path, "r");
    while (fread(record, 1, RECORD, f) == RECORD) {
        int i = -1;
        if (sscanf(record, "record %8d\n", &i) != 1 || i < 0 || i >= number)
            damaged++;
        else
            seen[i]++;
    }
    fclose(f);
    remove(path); /* the order of the two processes' writes is unspecified */
    for (int i = 0; i < number; i++)
        missing += !seen[i], repeated += seen[i] > 1 ? seen[i] - 1 : 0;
    say("%d missing, %d damaged, repeated as with libc: %d", missing, damaged,
        repeated <= times_at_most * BLOCK / RECORD);
}

static int in_child; /* the number of records that the child writes */

static void end_by_exit(void) {
    exit(0);
}

static void end_by_flush(void) {
    write_records(out, in_child);
    fflush(out);
    _exit(0);
}

static void end_by_close(void) {
    write_records(out, in_child);
    fclose(out);
    _exit(0);
}

static void output_with_child(pid_t (*forked)(void), void (*in_the_child)(void), int records) {
    next_record = 0;
    in_child = records;
    out = fopen("out", "w");
    write_records(out, MANY + 77);
    pid_t child = forked();
    if (child == 0)
        in_the_child();
    waitpid(child, NULL, 0);
    next_record += records;
    write_records(out, 1000);
    fclose(out);
    say("%d records of the child:", records);
    count_records("out", next_record, 1);
}

static void output_with_children(pid_t (*forked)(void)) {
    output_with_child(forked, end_by_exit, 0);
    output_with_child(forked, end_by_flush, 0);
    output_with_child(forked, end_by_flush, 5);
    output_with_child(forked, end_by_flush, 3000);
    output_with_child(forked, end_by_close, 5);
    output_with_child(forked, end_by_close, MANY);
}

#ifdef __GLIBC__
CASE(output_with_children_of__Fork) {
    output_with_children(forked_bare);
}
#endif

CASE(output_with_children_of_clone) {
    output_with_children(forked_by_number);
}

#ifdef SYS_fork
static pid_t forked_by_old_number(void) {
    return (pid_t)syscall(SYS_fork);
}

CASE(output_with_children_of_the_system_call) {
    output_with_children(forked_by_old_number);
}
#endif

/* The child and the parent both get the bytes that the parent had read ahead. */
static void input_with_child(pid_t (*forked)(void)) {
    put_pattern("in", MUCH);
    in = fopen("in", "r");
    read_bytes(in, 500010);
    if (forked() == 0) {
        long wrong = 0;
        for (size_t at = 500010; at < 500010 + 2000; at++)
            wrong += getc(in) != pattern_at(at);
        _exit(wrong != 0);
    }
    int status = 0;
    wait(&status);
    say("child %d, %d", status, getc(in) == pattern_at(500010));
    fclose(in);
}

CASE(input_with_a_child_of_clone) {
    input_with_child(forked_by_number);
}

#ifdef __GLIBC__
CASE(input_with_a_child_of__Fork) {
    input_with_child(forked_bare);
}
#endif

/* --- filters of system calls --------------------------------------------------------------------------- */

static void be_strict(void) {
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
}

static void leave(void) {
    syscall(SYS_exit, 3);
}

static void copy_lines(int n) {
    char line[100];
    for (int i = 0; i < n && fgets(line, sizeof line, in); i++)
        fputs(line, out);
}

static void copy_strictly(int before) {
    in = fopen("in", "r");
    out = fopen("out", "w");
    copy_lines(before);
    be_strict();
    copy_lines(100000);
    fflush(out);
    leave();
}

static void _strict_from_the_start(void) {
    copy_strictly(1);
}

static void _strict_in_bulk(void) {
    copy_strictly(60000);
}

static void _strict_on_a_pipe(void) {
    feed_standard_input(MUCH);
    in = stdin;
    out = fopen("out", "w");
    copy_lines(20000);
    be_strict();
    copy_lines(100000);
    fflush(out);
    leave();
}

static void _strict_with_pending_output(void) {
    out = fopen("out", "w");
    write_records(out, MANY + 77);
    be_strict();
    write_records(out, 5);
    fflush(out);
    write_records(out, MANY);
    fflush(out);
    leave();
}

static void try_filtered(void (*body)(void)) {
    put_lines("in", 90000);
    child(body);
    note_file("out");
}

CASE(strict_mode_from_the_start) {
    try_filtered(_strict_from_the_start);
}

CASE(strict_mode_in_bulk) {
    try_filtered(_strict_in_bulk);
}

CASE(strict_mode_on_a_pipe) {
    try_filtered(_strict_on_a_pipe);
}

CASE(strict_mode_with_pending_output) {
    try_filtered(_strict_with_pending_output);
}

/* --- two streams on one number ------------------------------------------------------------------------- */

static void write_by_turns(FILE *one, FILE *other) {
    for (int i = 0; i < 12; i++) {
        write_records(one, 3001);
        write_records(other, i % 3 ? 7 : 1001);
    }
    fflush(other);
    fflush(one);
}

static void read_by_turns(FILE *one, FILE *other) {
    char bytes[RECORD];
    for (int i = 0; i < 12; i++) {
        read_bytes(one, 48010);
        CALL(fread(bytes, 1, sizeof bytes, one));
        say("%b", bytes, RECORD);
        read_bytes(other, i % 3 ? 100 : 16010);
        CALL(fread(bytes, 1, sizeof bytes, other));
        say("%b", bytes, RECORD);
    }
}

CASE(_started_without_output) {
    out = fopen("both", "w");
    CALL(fileno(out));
    write_by_turns(out, stdout);
    note_file("both");
}

CASE(a_file_opened_where_standard_output_was_closed) {
    if (fork() == 0) {
        close(1);
        exec_case("_started_without_output");
    }
    wait(NULL);
}

CASE(two_streams_of_fdopen_that_write) {
    int fd = open("both", O_WRONLY | O_CREAT, 0644);
    FILE *one = fdopen(fd, "w"), *other = fdopen(fd, "w");
    write_by_turns(one, other);
    note_file("both");
}

CASE(a_second_stream_on_the_number_later) {
    int fd = open("both", O_WRONLY | O_CREAT, 0644);
    FILE *one = fdopen(fd, "w");
    write_records(one, MANY);
    FILE *other = fdopen(fd, "w");
    write_by_turns(one, other);
    note_file("both");
}

CASE(two_streams_of_fdopen_that_read) {
    put_pattern("in", MUCH);
    int fd = open("in", O_RDONLY);
    FILE *one = fdopen(fd, "r"), *other = fdopen(fd, "r");
    read_by_turns(one, other);
    fileno(one), fileno(other);
    say("offset %ld", raw_offset(fd));
}

CASE(a_second_reader_on_the_number_later) {
    put_pattern("in", MUCH);
    int fd = open("in", O_RDONLY);
    in = fdopen(fd, "r");
    read_bytes(in, 300010);
    FILE *other = fdopen(fd, "r");
    read_by_turns(in, other);
    fileno(in), fileno(other);
    say("offset %ld", raw_offset(fd));
}

CASE(two_streams_on_a_pipe) {
    char line[100];
    long lines[2] = {0, 0};
    feed_standard_input(MUCH);
    FILE *second = fdopen(0, "r");
    for (int i = 0; i < 60000; i++)
        if (fgets(line, sizeof line, i % 1000 ? stdin : second))
            lines[i % 1000 == 0]++;
    say("%ld and %ld lines", lines[0], lines[1]);
}

/* --- many streams ------------------------------------------------------------------------------------------
 */

enum { STREAMS = 1000, MEGABYTE = 1 << 20 };

/* Returns the value, in KB, of the line of this name in /proc/self/status. */
static long kilobytes(const char *name) {
    char text[4096] = "";
    int fd = open("/proc/self/status", O_RDONLY);
    read(fd, text, sizeof text - 1);
    close(fd);
    const char *line = strstr(text, name);
    return line ? atol(line + strlen(name)) : 0;
}

/* Opens many streams on the same file, which therefore needs little space on the disk. */
static void open_many(void) {
    const struct rlimit numbers = {STREAMS + 100, STREAMS + 100};
    int opened = 0;
    setrlimit(RLIMIT_NOFILE, &numbers);
    for (int i = 0; i < STREAMS; i++) {
        FILE *f = fopen("out", "w");
        if (!f)
            continue;
        opened++;
        for (int k = 0; k < 70 * BLOCK / 32; k++)
            fputs("a record of thirty-two bytes...\n", f);
    }
    say("%d streams", opened);
}

CASE(memory_of_a_thousand_streams) {
    long before = kilobytes("VmRSS:");
    open_many();
    say("grew by less than 10 MB: %d", kilobytes("VmRSS:") - before < 10 * 1024);
    remove("out");
    _exit(0);
}

CASE(memory_limited_for_a_thousand_streams) {
    rlim_t size = ((rlim_t)kilobytes("VmSize:") << 10) + 40 * MEGABYTE;
    const struct rlimit limit = {size, size};
    setrlimit(RLIMIT_AS, &limit);
    open_many();
    CALL(malloc(20 * MEGABYTE) != NULL);
    remove("out");
    _exit(0);
}
