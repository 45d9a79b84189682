/* SPDX-License-Identifier: MIT
 *
 * children_cases.c - popen, pclose, system: streams connected to commands.
 */
#include "transcript.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static void note_status(int status) {
    if (status == -1)
        say("  no status, errno %s", strerrorname_np(errno));
    else if (WIFEXITED(status))
        say("  exited %d", WEXITSTATUS(status));
    else
        say("  signal %d", WTERMSIG(status));
}

/* Changes the user, since the limit does not apply to root. */
static void popen_without_a_process(void) {
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_NPROC, &none);
    setresuid(65534, 65534, 65534);
    WITH_ERRNO(popen("true", "r") != NULL);
}

CASE(no_process_for_popen) {
    child(popen_without_a_process);
}

CASE(a_command_that_begins_with_a_hyphen) {
    char line[100] = "";
    FILE *f = popen("-c 'echo as an option' 2>/dev/null || echo not found", "r");
    CALL(fgets(line, sizeof line, f));
    CALL(pclose(f));
}

static int moment; /* microseconds */

static void *set_a_variable(void *unused) {
    usleep((useconds_t)moment);
    setenv("SET_MEANWHILE", "1", 1);
    return unused;
}

static void popen_and_a_variable(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, set_a_variable, NULL);
    FILE *f = popen("true", "r");
    pclose(f);
    pthread_join(thread, NULL);
}

/* The first variable that is set makes libc move the whole environment. */
CASE(popen_while_a_variable_is_set) {
    for (moment = 0; moment < 1500; moment += 50)
        child(popen_and_a_variable);
}

/* The stream's descriptor is above the limit on descriptors, so the spawned command cannot be made to
 * close it. */
CASE(popen_beside_one_above_the_limit) {
    struct rlimit all, few;
    int below[8];
    getrlimit(RLIMIT_NOFILE, &all);
    for (int i = 0; i < 8; i++)
        below[i] = dup(0);
    FILE *f = popen("cat >out", "w");
    for (int i = 0; i < 8; i++)
        close(below[i]);
    few = (struct rlimit){(rlim_t)fileno(f), all.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    int free = dup(0);
    close(free);
    WITH_ERRNO(popen("echo text", "r") != NULL);
    say("nothing left open %d", dup(0) == free);
    setrlimit(RLIMIT_NOFILE, &all);
    CALL(fputs("text", f));
    CALL(pclose(f));
    note_file("out");
}

/* Waits by poll, without any requested event, until the pipe has no reader, which poll reports as an
 * error. */
static void wait_for_no_reader(FILE *f) {
    struct pollfd end = {fileno(f), 0, 0};
    poll(&end, 1, -1);
}

CASE(pclose_of_what_was_not_written) {
    signal(SIGPIPE, SIG_IGN);
    FILE *f = popen("exec <&-; exit 0", "w");
    wait_for_no_reader(f);
    fputs("lost", f);
    WITH_ERRNO(pclose(f));
    f = popen("exec <&-; exit 3", "w");
    wait_for_no_reader(f);
    fputs("lost", f);
    CALL(pclose(f));
    f = popen("exit 3", "r");
    close(fileno(f));
    WITH_ERRNO(pclose(f));
    int status;
    wait(&status);
    say("left %d", WEXITSTATUS(status));
}

CASE(reading_a_command) {
    FILE *f = CALL(popen("echo one; echo two; exit 3", "r"));
    char line[20];
    CALL(fgets(line, sizeof line, f));
    CALL(fgets(line, sizeof line, f));
    CALL(fgets(line, sizeof line, f));
    note_flags(f);
    CALL(ftell(f));
    note_status(pclose(f));
}

CASE(writing_a_command) {
    FILE *f = CALL(popen("cat >out; echo done >>out", "w"));
    CALL(fputs("to the command\n", f));
    CALL(fprintf(f, "%d\n", 5));
    note_status(pclose(f));
    note_file("out");
}

CASE(close_on_exec) {
    FILE *f = CALL(popen("true", "re"));
    say("cloexec %d", fcntl(fileno(f), F_GETFD) & FD_CLOEXEC);
    note_status(pclose(f));
    f = CALL(popen("true", "r"));
    say("cloexec %d", fcntl(fileno(f), F_GETFD) & FD_CLOEXEC);
    note_status(pclose(f));
}

CASE(wrong_modes) {
    CALL(popen("true", "x"));
    CALL(popen("true", ""));
    CALL(popen("true", "r+"));
    CALL(popen("true", "rw"));
}

CASE(commands_that_fail) {
    FILE *f = CALL(popen("kill -9 $$", "r"));
    CALL(getc(f));
    note_status(pclose(f));
    f = CALL(popen("/no/such/command 2>/dev/null", "r"));
    CALL(getc(f));
    note_status(pclose(f));
}

CASE(pclose_without_a_child) {
    FILE *f = popen("exit 4", "r");
    CALL(getc(f));
    wait(NULL);
    note_status(pclose(f));
}

CASE(fclose_instead) {
    int (*volatile close_it)(FILE *) = fclose;
    FILE *f = popen("exit 4", "r");
    CALL(getc(f));
    note_status(close_it(f));
}

CASE(several_at_once) {
    FILE *a = popen("cat >a", "w"), *b = popen("cat >b", "w"), *c = popen("echo from c", "r");
    fputs("to a", a);
    fputs("to b", b);
    char line[20];
    CALL(fgets(line, sizeof line, c));
    note_status(pclose(a));
    note_file("a");
    note_status(pclose(b));
    note_file("b");
    note_status(pclose(c));
}

CASE(unflushed_output_is_not_doubled) {
    printf("before ");
    FILE *f = popen("cat", "w");
    fputs("in the middle ", f);
    note_status(pclose(f));
    printf("after");
}

CASE(system_between_output) {
    printf("before\n");
    CALL(system("echo from the command"));
    printf("after\n");
    fflush(stdout);
    CALL(system("echo again; exit 7") == 7 << 8);
    CALL(system(NULL) != 0);
}

CASE(system_after_much_output) {
    for (int i = 0; i < 1000; i++)
        printf("line number %d\n", i);
    system("echo from the command");
    for (int i = 0; i < 1000; i++)
        printf("line number %d\n", i);
}

CASE(a_command_reads_the_rest_of_the_input) {
    char line[20];
    CALL(fgets(line, sizeof line, stdin));
    CALL(system("wc -c >rest"));
    note_file("rest");
    CALL(fgets(line, sizeof line, stdin));
    note_flags(stdin);
}

CASE(a_command_reads_after_much_input) {
    char line[20];
    for (int i = 0; i < 1000; i++)
        fgets(line, sizeof line, stdin);
    FILE *f = popen("head -c 30", "r");
    char text[40] = "";
    CALL(fread(text, 1, 30, f));
    say("%q", text);
    note_status(pclose(f));
    CALL(fgets(line, sizeof line, stdin));
}

CASE(_reads_a_line_then_a_command) {
    char line[20];
    CALL(fgets(line, sizeof line, stdin));
    CALL(system("wc -c >rest"));
    CALL(fgets(line, sizeof line, stdin));
}

CASE(a_command_reads_the_rest_of_a_pipe) {
    int ends[2];
    pipe2(ends, O_CLOEXEC);
    char text[20000];
    memset(text, 'p', sizeof text);
    memcpy(text, "first\nsecond\n", 13);
    raw_write(ends[1], text, sizeof text);
    close(ends[1]);
    run_case("_reads_a_line_then_a_command", ends[0], -1, -1);
    note_file("rest");
}

CASE(a_command_reads_a_file_of_ours) {
    put_lines("file", 3000);
    FILE *f = fopen("file", "r");
    char line[30], command[50];
    CALL(fgets(line, sizeof line, f));
    snprintf(command, sizeof command, "wc -c <&%d >rest", fileno(f));
    CALL(system(command));
    note_file("rest");
    CALL(fgets(line, sizeof line, f));
}

CASE(a_command_writes_to_our_file) {
    FILE *f = fopen("out", "w");
    char command[50];
    fputs("before ", f);
    snprintf(command, sizeof command, "echo command >&%d", fileno(f));
    CALL(system(command));
    fputs("after ", f);
    fflush(f);
    CALL(system(command));
    fputs("end", f);
    CALL(fclose(f));
    note_file("out");
}

CASE(much_to_and_from_commands) {
    FILE *in = popen("seq 1 20000", "r"), *out = popen("cksum >sum", "w");
    char *line = NULL;
    size_t size = 0;
    int count = 0;
    while (getline(&line, &size, in) > 0) {
        fputs(line, out);
        count++;
    }
    say("%d lines", count);
    note_status(pclose(in));
    note_status(pclose(out));
    note_file("sum");
}
