/* SPDX-License-Identifier: MIT
 *
 * process_end_cases.c - the ends of a process, the output written by then, and the offset of the inherited
 * input.
 */
#include "transcript.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "lib/sys/machine.h"

static FILE *left_open(void) {
    FILE *f = fopen("open", "w");
    fputs("in a file left open", f);
    printf("on standard output");
    return f;
}

/* Notes the offset at which a child has left the input that it shares with this process. */
static void after(void (*body)(void)) {
    child(body);
    say("input stands at %ld", raw_offset(0));
    note_file("open");
}

static void read_a_line(void) {
    char line[20];
    fgets(line, sizeof line, stdin);
    left_open();
}

static void by_exit(void) {
    read_a_line();
    exit(3);
}

static void by_return(void) {
    read_a_line();
}

static void by__exit(void) {
    read_a_line();
    _exit(4);
}

static void by__Exit(void) {
    read_a_line();
    _Exit(5);
}

static void by_quick_exit(void) {
    read_a_line();
    quick_exit(6);
}

static void by_abort(void) {
    read_a_line();
    abort();
}

static void by_kill(void) {
    read_a_line();
    kill(getpid(), SIGKILL);
}

static void by_exec(void) {
    read_a_line();
    execl("/bin/true", "true", NULL);
}

static void by_failing_exec(void) {
    read_a_line();
    execl("/no/such/program", "true", NULL);
    _exit(7);
}

static void after_a_seek(void) {
    read_a_line();
    fseek(stdin, 1234, SEEK_SET);
}

static void after_fflush(void) {
    read_a_line();
    fflush(NULL);
    _exit(0);
}

static void after_fclose(void) {
    read_a_line();
    fclose(stdin);
}

#ifdef __GLIBC__ /* musl lacks this interface */
static void after_fcloseall(void) {
    read_a_line();
    fcloseall();
    _exit(0);
}
#endif

static void after_ungetc(void) {
    read_a_line();
    ungetc('x', stdin);
    ungetc('y', stdin);
}

static void after_much(void) {
    char line[20];
    for (int i = 0; i < 1000; i++)
        fgets(line, sizeof line, stdin);
}

static void after_much_by__exit(void) {
    after_much();
    _exit(0);
}

static void after_much_by_exec(void) {
    after_much();
    execl("/bin/true", "true", NULL);
}

static void at_end_of_file(void) {
    while (getchar() != EOF)
        continue;
}

static void unread(void) {
    printf("no input read");
}

static int deadly;

/* Sends a signal by a direct system call, which no library can see. */
static void raw_kill(pid_t pid, int sig) {
    asf__raw(SYS_kill, pid, sig, 0, 0);
}

static void _dies_while_it_computes(void) {
    FILE *f = fopen("out", "w");
    for (int i = 0; i < 100000; i++)
        putc('x', f);
    raw_kill(getpid(), deadly);
}

CASE(killed_by_rare_signals) {
    static const int signals[] = {SIGBUS, SIGIO, SIGPWR, SIGSTKFLT, SIGXCPU};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct stat st;
        deadly = signals[i];
        child(_dies_while_it_computes);
        stat("out", &st);
        say("signal %d: size %ld", deadly, (long)st.st_size);
    }
}

static void _faults_on_its_own(void) {
    int fd = open("empty", O_RDWR | O_CREAT, 0600);
    FILE *f = fopen("out", "w");
    for (int i = 0; i < 100000; i++)
        putc('x', f);
    volatile char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    for (int i = 0; i < 100000; i++)
        putc('y', f);
    *p = 1;
}

CASE(a_fault_of_its_own) {
    child(_faults_on_its_own);
    struct stat st;
    stat("out", &st);
    say("size %ld", (long)st.st_size);
    unlink("out");
}

CASE(ends_with_exit) {
    after(by_exit);
}
CASE(ends_with_return) {
    after(by_return);
}
CASE(ends_with__exit) {
    after(by__exit);
}
CASE(ends_with__Exit) {
    after(by__Exit);
}
CASE(ends_with_quick_exit) {
    after(by_quick_exit);
}
CASE(ends_with_abort) {
    after(by_abort);
}
CASE(ends_with_kill) {
    after(by_kill);
}
CASE(ends_with_exec) {
    after(by_exec);
}
CASE(ends_with_failing_exec) {
    after(by_failing_exec);
}

static void leave_many_open(void) {
    char path[16];
    for (int i = 0; i < 40; i++) {
        sprintf(path, "many%d", i);
        FILE *f = fopen(path, "w");
        for (int line = 0; line < 3000; line++)
            fprintf(f, "%d in file %d\n", line, i);
    }
}

static void many_by__exit(void) {
    leave_many_open();
    _exit(0);
}

static void many_by_kill(void) {
    leave_many_open();
    kill(getpid(), SIGTERM);
}

static void note_many(void (*body)(void)) {
    char path[16];
    struct stat st;
    child(body);
    for (int i = 0; i < 40; i++) {
        sprintf(path, "many%d", i);
        say("%s: %ld", path, stat(path, &st) == 0 ? (long)st.st_size : -1L);
    }
}

CASE(ends_with_many_streams_open) {
    note_many(many_by__exit);
    note_many(many_by_kill);
}

CASE(ends_after_a_seek) {
    after(after_a_seek);
}
CASE(ends_after_fflush) {
    after(after_fflush);
}
CASE(ends_after_fclose) {
    after(after_fclose);
}
#ifdef __GLIBC__ /* musl lacks this interface */
CASE(ends_after_fcloseall) {
    after(after_fcloseall);
}
#endif
CASE(ends_after_ungetc) {
    after(after_ungetc);
}
CASE(ends_after_much) {
    after(after_much);
}
CASE(ends_after_much_with__exit) {
    after(after_much_by__exit);
}
CASE(ends_after_much_with_exec) {
    after(after_much_by_exec);
}
CASE(ends_at_end_of_file) {
    after(at_end_of_file);
}
CASE(ends_without_reading) {
    after(unread);
}

/* Two input streams on one descriptor: the first sets the offset back at exit, and the second cannot. */
static void no_more(void) {}

CASE(ends_with_a_reopened_input) {
    char line[20];
    put_lines("lines", 1000);
    FILE *f = fdopen(0, "r");
    fgets(line, sizeof line, f);
    freopen("lines", "r", stdin);
    getchar();
    after(no_more);
}

/* The ends of the cases above, in the process of the case itself instead of a forked child. */
CASE(this_exit) {
    by_exit();
}
CASE(this_return) {
    by_return();
}
CASE(this__exit) {
    by__exit();
}
CASE(this_quick_exit) {
    by_quick_exit();
}
CASE(this_abort) {
    by_abort();
}
CASE(this_kill) {
    by_kill();
}
CASE(this_after_much) {
    after_much();
}
CASE(this_after_much__exit) {
    after_much_by__exit();
}
CASE(this_at_end) {
    at_end_of_file();
}

static void print_rest(void) {
    char line[20];
    fgets(line, sizeof line, stdin);
    printf("the next program starts after: %s", line);
    fflush(stdout);
}

CASE(exec_continues_the_input) {
    print_rest();
    execlp("head", "head", "-n", "2", NULL);
}

CASE(exec_continues_after_much) {
    after_much();
    print_rest();
    execlp("head", "head", "-n", "2", NULL);
}

CASE(exec_with_unflushed_output) {
    left_open();
    execlp("echo", "echo", "from the new program", NULL);
}

CASE(exec_with_much_output) {
    for (int i = 0; i < 3000; i++)
        printf("line %d\n", i);
    execlp("echo", "echo", "from the new program", NULL);
}

CASE(_much_output_and__exit) {
    for (int i = 0; i < 3000; i++)
        printf("line %d\n", i);
    _exit(0);
}

CASE(much_output_and__exit) {
    case__much_output_and__exit.run();
}

CASE(much_output_and_abort) {
    for (int i = 0; i < 3000; i++)
        printf("line %d\n", i);
    abort();
}

CASE(much_output_and_a_fatal_signal) {
    for (int i = 0; i < 3000; i++)
        printf("line %d\n", i);
    raise(SIGTERM);
}

CASE(much_output_to_a_pipe_and__exit) {
    int ends[2];
    pipe2(ends, O_CLOEXEC);
    pid_t pid = start_case("_much_output_and__exit", -1, ends[1], -1);
    close(ends[1]);
    long total = 0;
    char data[5000];
    for (ssize_t n; (n = read(ends[0], data, sizeof data)) > 0;)
        total += n;
    finish(pid);
    say("%ld bytes", total);
}

/* --- atexit ----------------------------------------------------------------------- */

static void prints_late(void) {
    printf("printed by atexit\n");
}
static void opens_late(void) {
    FILE *f = fopen("late", "w");
    fputs("opened by atexit and not closed", f);
}
static void reads_late(void) {
    say("read by atexit: %d", getchar());
}
static void exits_late(void) {
    _exit(9);
}

CASE(printing_from_atexit) {
    atexit(prints_late);
    atexit(opens_late);
    atexit(reads_late);
    printf("printed before\n");
    getchar();
}

CASE(_exit_from_atexit) {
    atexit(exits_late);
    printf("printed before\n");
}

CASE(leaving_by__exit_in_atexit) {
    run_case("_exit_from_atexit", -1, -1, -1);
}

static void quick(void) {
    printf("printed by at_quick_exit\n");
}

CASE(printing_from_at_quick_exit) {
    at_quick_exit(quick);
    printf("printed before\n");
    quick_exit(2);
}

/* Does what the exit handler close_stdout of gnulib does. */
static void close_stdout(void) {
    int failed = fclose(stdout) != 0;
    say("fclose(stdout) failed %d", failed);
    if (failed) {
        fprintf(stderr, "write error: %s\n", strerror(errno));
        _exit(1);
    }
    say("fclose(stderr) %d", fclose(stderr));
}

static void close_stdin(void) {
    if (fseeko(stdin, 0, SEEK_CUR) == 0)
        say("fflush(stdin) %d", fflush(stdin));
    say("fclose(stdin) %d", fclose(stdin));
    close_stdout();
}

CASE(closing_standard_output_in_atexit) {
    atexit(close_stdout);
    printf("some text");
}

CASE(closing_standard_input_in_atexit) {
    atexit(close_stdin);
    char line[20];
    fgets(line, sizeof line, stdin);
    printf("some text");
}

CASE(closing_a_full_output_in_atexit) {
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    run_case("closing_standard_output_in_atexit", -1, fd, -1);
}

CASE(closing_a_closed_output_in_atexit) {
    close(1);
    case_closing_standard_output_in_atexit.run();
}

CASE(full_output_and_exit) {
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    run_case("this_return", -1, fd, -1);
}

CASE(output_after_fclose_of_stdout) {
    printf("first");
    CALL(fclose(stdout));
    int fd = open("reused", O_WRONLY | O_CREAT, 0644);
    say("fd %d", fd);
    FILE *f = CALL(fdopen(fd, "w"));
    fputs("text in the file", f);
}

CASE(descriptors_closed_at_the_start) {
    for (int closed = 1; closed < 8; closed++) {
        say("closed %d", closed);
        pid_t pid = fork();
        if (pid == 0) {
            for (int i = 0; i < 3; i++)
                if (closed & 1 << i)
                    close(i);
            exec_case("_opens_files");
        }
        finish(pid);
        note_file("a");
        note_file("b");
        unlink("a");
        unlink("b");
    }
}

CASE(_opens_files) {
    FILE *a = CALL(fopen("a", "w"));
    FILE *b = CALL(fopen("b", "w"));
    say("fds %d %d", fileno(a), fileno(b));
    fputs("in a", a);
    fputs("in b", b);
    CALL(printf("%s", "standard output"));
    CALL(fputs("standard error", stderr));
    CALL(getchar());
    CALL(fflush(stdout));
}

CASE(a_broken_pipe) {
    int ends[2];
    pipe2(ends, O_CLOEXEC);
    close(ends[0]);
    run_case("_writes_much", -1, ends[1], -1);
    signal(SIGPIPE, SIG_IGN);
    run_case("_writes_much", -1, ends[1], -1);
}

CASE(_writes_much) {
    int first = -1;
    for (int i = 0; i < 20000; i++)
        if (putchar('x') == EOF && first < 0)
            first = i;
    say("first failure at %d", first);
    CALL(fflush(stdout));
    note_flags(stdout);
}

/* At the end of a process libc discards a stream's read-ahead, unless the stream is unbuffered. */
static FILE *half_read;

static void ends_by_exit(void) {
    exit(0);
}

CASE(what_was_read_of_unbuffered_input) {
    for (int mode = _IOFBF; mode <= _IONBF; mode++) {
        put_text("file", "word and more\nand a line\n");
        half_read = fopen("file", "r");
        setvbuf(half_read, NULL, mode, 0);
        CALL(getc(half_read));
        int c = CALL(getc(half_read));
        CALL(ungetc(c, half_read));
        child(ends_by_exit);
        say("mode %d: offset %ld", mode, raw_offset(fileno(half_read)));
        fclose(half_read);
    }
}
