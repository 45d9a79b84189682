/* SPDX-License-Identifier: MIT
 *
 * forking_cases.c - fork, vfork, posix_spawn, exec: what children inherit, write and read.
 */
#include "transcript.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern char **environ;

static void nothing(void) {}

CASE(unflushed_output_is_inherited) {
    printf("A");
    child(nothing);
}

static void prints_b(void) {
    printf("B");
}

CASE(both_print) {
    printf("A");
    child(prints_b);
    printf("C");
}

CASE(inherited_file) {
    FILE *f = fopen("out", "w");
    fputs("A", f);
    child(nothing);
    fputs("B", f);
    fclose(f);
    note_file("out");
}

CASE(much_inherited_output) {
    for (int i = 0; i < 2000; i++)
        printf("line number %d\n", i);
    child(prints_b);
    for (int i = 0; i < 2000; i++)
        printf("line number %d\n", i);
}

CASE(flushed_before_fork) {
    printf("A");
    fflush(stdout);
    child(prints_b);
    printf("C");
}

static void prints_and_leaves(void) {
    printf("lost");
    _exit(0);
}

CASE(child_leaves_by__exit) {
    printf("A");
    child(prints_and_leaves);
}

static void reads_a_line(void) {
    char line[20];
    CALL(fgets(line, sizeof line, stdin));
}

static void reads_and_leaves(void) {
    reads_a_line();
    _exit(0);
}

static void finds_the_offset(void) {
    say("offset %ld", raw_offset(0));
    _exit(0);
}

CASE(input_read_before_fork) {
    reads_a_line();
    child(reads_a_line);
    reads_a_line();
    say("offset %ld", raw_offset(0));
}

CASE(input_read_in_the_child_only) {
    child(reads_a_line);
    reads_a_line();
}

CASE(input_read_in_a_child_that_leaves) {
    reads_a_line();
    child(reads_and_leaves);
    reads_a_line();
    child(finds_the_offset);
}

CASE(input_read_to_the_end_around_a_fork) {
    reads_a_line();
    child(reads_a_line);
    int count = 0;
    while (getchar() != EOF)
        count++;
    say("%d more", count);
}

CASE(a_file_read_before_fork) {
    put_lines("file", 3000);
    FILE *f = fopen("file", "r");
    char line[30];
    CALL(fgets(line, sizeof line, f));
    pid_t pid = fork();
    if (pid == 0) {
        CALL(fgets(line, sizeof line, f));
        for (int i = 0; i < 1000; i++)
            fgets(line, sizeof line, f);
        CALL(ftell(f));
        _exit(0);
    }
    finish(pid);
    CALL(fgets(line, sizeof line, f));
    int count = 0;
    while (fgets(line, sizeof line, f))
        count++;
    say("%d more, last %q", count, line);
}

CASE(append_from_two_processes) {
    FILE *f = fopen("log", "a");
    setlinebuf(f);
    fputs("parent before\n", f);
    pid_t pid = fork();
    if (pid == 0) {
        fputs("child\n", f);
        exit(0);
    }
    finish(pid);
    fputs("parent after\n", f);
    fclose(f);
    note_file("log");
}

CASE(many_children) {
    printf("start\n");
    fflush(stdout);
    for (int i = 0; i < 20; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            printf("child %d\n", i);
            exit(i);
        }
        finish(pid);
    }
    printf("end\n");
}

CASE(generations) {
    printf("A");
    if (fork() == 0) {
        printf("B");
        if (fork() == 0) {
            printf("C");
            exit(0);
        }
        wait(NULL);
        exit(0);
    }
    wait(NULL);
    printf("D");
}

CASE(memory_streams_after_fork) {
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    fputs("before", f);
    pid_t pid = fork();
    fputs(pid == 0 ? " child" : " parent", f);
    fclose(f);
    if (pid == 0) {
        say("%q", text);
        _exit(0);
    }
    finish(pid);
    say("%q", text);
}

/* --- vfork, spawn --------------------------------------------------------------------- */

CASE(vfork_and_exec) {
    printf("unflushed ");
    reads_a_line();
    pid_t pid = vfork();
    if (pid == 0) {
        execlp("head", "head", "-n", "1", NULL);
        _exit(127);
    }
    finish(pid);
    reads_a_line();
    printf("and the end");
}

CASE(vfork_and__exit) {
    printf("unflushed ");
    pid_t pid = vfork();
    if (pid == 0)
        _exit(5);
    finish(pid);
    printf("and the end");
}

CASE(vfork_and_failing_exec) {
    printf("unflushed ");
    reads_a_line();
    pid_t pid = vfork();
    if (pid == 0) {
        execl("/no/such/program", "program", NULL);
        _exit(127);
    }
    finish(pid);
    reads_a_line();
    printf("and the end");
}

CASE(vfork_and_dup2) {
    FILE *f = fopen("out", "w");
    fputs("unflushed ", f);
    printf("unflushed ");
    pid_t pid = vfork();
    if (pid == 0) {
        dup2(fileno(f), 1);
        execlp("echo", "echo", "from the child", NULL);
        _exit(127);
    }
    finish(pid);
    fputs("after", f);
    fclose(f);
    note_file("out");
    printf("after");
}

static void spawn(const char *const arguments[], posix_spawn_file_actions_t *actions) {
    pid_t pid;
    int error = posix_spawnp(&pid, arguments[0], actions, NULL, (char *const *)arguments, environ);
    say("posix_spawnp %d", error);
    if (error == 0)
        finish(pid);
}

CASE(spawning) {
    static const char *const head[] = {"head", "-n", "1", NULL}, *const none[] = {"/no/such/program", NULL};
    printf("unflushed ");
    reads_a_line();
    spawn(head, NULL);
    reads_a_line();
    spawn(none, NULL);
    printf("and the end");
}

CASE(spawning_into_a_file) {
    static const char *const echo[] = {"echo", "from the child", NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    FILE *f = fopen("out", "w");
    fputs("unflushed ", f);
    posix_spawn_file_actions_adddup2(&actions, fileno(f), 1);
    spawn(echo, &actions);
    fputs("after", f);
    fclose(f);
    note_file("out");
}

CASE(exec_in_every_form) {
    static char *const arguments[] = {(char *)"echo", (char *)"executed", NULL};
    for (int form = 0; form < 10; form++) {
        pid_t pid = fork();
        if (pid == 0) {
            getchar();
            printf("unflushed");
            switch (form) {
            case 0:
                execl("/bin/echo", "echo", "executed", NULL);
                break;
            case 1:
                execlp("echo", "echo", "executed", NULL);
                break;
            case 2:
                execle("/bin/echo", "echo", "executed", NULL, environ);
                break;
            case 3:
                execv("/bin/echo", arguments);
                break;
            case 4:
                execvp("echo", arguments);
                break;
            case 5:
                execvpe("echo", arguments, environ);
                break;
            case 6:
                execve("/bin/echo", arguments, environ);
                break;
            case 7:
                fexecve(open("/bin/echo", O_RDONLY), arguments, environ);
                break;
#ifdef __GLIBC__ /* musl lacks this interface */
            case 8:
                execveat(AT_FDCWD, "/bin/echo", arguments, environ, 0);
                break;
#endif
            default:
                syscall(SYS_execve, "/bin/echo", arguments, environ);
            }
            _exit(99);
        }
        finish(pid);
        say("offset %ld", raw_offset(0));
        lseek(0, 0, SEEK_SET);
    }
}

/* A shell loop: each child reads one line, and must leave the rest. */
CASE(a_shell_loop_shares_the_input) {
    CALL(system("for i in 1 2 3; do head -n 1; done"));
    CALL(system("while read line; do echo \"$line\"; [ \"$line\" = 'line 000007' ] && break; done"));
    reads_a_line();
}

CASE(_reads_one_line) {
    reads_a_line();
}

CASE(several_of_us_share_the_input) {
    for (int i = 0; i < 4; i++) {
        run_case("_reads_one_line", -1, -1, -1);
        say("offset %ld", raw_offset(0));
    }
    reads_a_line();
}

CASE(several_of_us_share_the_output) {
    int fd = open("log", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    for (int i = 0; i < 4; i++)
        run_case("_prints_one_line", -1, fd, -1);
    note_file("log");
}

CASE(_prints_one_line) {
    printf("line of %s\n", "a child");
}

CASE(a_child_without_the_preload) {
    unsetenv("LD_PRELOAD");
    reads_a_line();
    printf("unflushed ");
    CALL(system("head -n 1"));
    reads_a_line();
}

CASE(popen_child_and_fork) {
    FILE *f = popen("cat >cat", "w");
    fputs("to cat\n", f);
    printf("unflushed ");
    child(prints_b);
    pclose(f);
}

CASE(daemonised) {
    printf("before ");
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        daemon(1, 1);
        printf("from the daemon");
        fflush(stdout);
        put_text("ready", "");
        _exit(0);
    }
    finish(pid);
    while (access("ready", F_OK) != 0)
        usleep(1000);
    unlink("ready");
}

#ifdef __GLIBC__ /* musl lacks this interface */
/* Shells unblock signals in the child of a vfork. */
CASE(signals_unblocked_by_the_child_of_a_vfork) {
    pid_t child = vfork();
    if (child == 0) {
        sigsetmask(0);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    puts("the parent goes on");
}
#endif

/* --- while another thread is in a call ----------------------------------------------- */

static sem_t in_the_middle, forked;
enum { MUCH = 20480 };
static char *target;

static void waits_for_the_fork(int sig) {
    (void)sig;
    sem_post(&in_the_middle);
    while (sem_wait(&forked) < 0)
        continue;
    mprotect(target, MUCH, PROT_READ | PROT_WRITE);
}

static void *reads_into_the_target(void *f) {
    getc(f);
    fread(target, 1, MUCH, f);
    return NULL;
}

/* The thread is stopped in the middle of its copy, since the target memory is not accessible. */
CASE(another_thread_reads_the_stream_that_the_child_closes) {
    pthread_t reader;
    put_lines("file", 3000);
    FILE *f = fopen("file", "r");
    target = mmap(NULL, MUCH, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    signal(SIGSEGV, waits_for_the_fork);
    sem_init(&in_the_middle, 0, 0);
    sem_init(&forked, 0, 0);
    pthread_create(&reader, NULL, reads_into_the_target, f);
    sem_wait(&in_the_middle);
    pid_t pid = fork();
    if (pid == 0)
        _exit(fclose(f) == 0 ? 0 : errno);
    finish(pid);
    sem_post(&forked);
    pthread_join(reader, NULL);
    target[20] = '\0';
    say("read %s", target);
    CALL(fclose(f));
    munmap(target, MUCH);
}
