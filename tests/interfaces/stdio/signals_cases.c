/* SPDX-License-Identifier: MIT
 *
 * signals_cases.c - signals during calls on a stream, and handlers that write, end the process or jump.
 */
#include "transcript.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

static volatile sig_atomic_t count;

static void install(int signal, void (*handler)(int), int flags) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigaction(signal, &action, NULL);
}

static void counts(int signal) {
    (void)signal;
    count++;
}

static void writes(int signal) {
    (void)signal;
    write(1, "[handler]", 9);
}

static void leaves(int signal) {
    (void)signal;
    write(1, "[handler]", 9);
    _exit(5);
}

CASE(a_handler_that_writes) {
    install(SIGUSR1, writes, 0);
    printf("before ");
    raise(SIGUSR1);
    printf("after ");
}

CASE(a_handler_that_leaves) {
    install(SIGUSR1, leaves, 0);
    printf("before ");
    raise(SIGUSR1);
}

CASE(a_handler_that_leaves_after_much) {
    install(SIGUSR1, leaves, 0);
    for (int i = 0; i < 3000; i++)
        printf("line %d\n", i);
    raise(SIGUSR1);
}

/* Signals arrive at any point of the library's work. */
CASE(a_handler_that_writes_at_any_time) {
    install(SIGALRM, counts, SA_RESTART);
    struct itimerval often = {{0, 200}, {0, 200}};
    setitimer(ITIMER_REAL, &often, NULL);
    FILE *f = fopen("out", "w+");
    for (int i = 0; i < 50000; i++)
        fprintf(f, "%d\n", i);
    rewind(f);
    long sum = 0;
    for (int value; fscanf(f, "%d", &value) == 1;)
        sum += value;
    say("sum %ld", sum);
    fclose(f);
    unlink("out");
    alarm(0);
    struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &never, NULL);
    say("there were some %d", count > 0);
}

static pthread_t main_thread;
static pid_t main_tid;

static void *interrupts(void *arg) {
    (void)arg;
    wait_until_blocked(main_tid);
    pthread_kill(main_thread, SIGUSR1);
    return NULL;
}

static void interrupt_me(pthread_t *t) {
    main_thread = pthread_self();
    main_tid = (pid_t)syscall(SYS_gettid);
    pthread_create(t, NULL, interrupts, NULL);
}

CASE(an_interrupted_read) {
    install(SIGUSR1, counts, 0);
    int ends[2];
    pipe(ends);
    FILE *f = fdopen(ends[0], "r");
    pthread_t t;
    interrupt_me(&t);
    WITH_ERRNO(getc(f));
    note_flags(f);
    pthread_join(t, NULL);
    raw_write(ends[1], "abc", 3);
    CALL(getc(f));
    note_flags(f);
    clearerr(f);
    CALL(getc(f));
}

CASE(an_interrupted_fread) {
    install(SIGUSR1, counts, 0);
    int ends[2];
    pipe(ends);
    FILE *f = fdopen(ends[0], "r");
    raw_write(ends[1], "abc", 3);
    pthread_t t;
    interrupt_me(&t);
    char text[20] = "";
    WITH_ERRNO(fread(text, 1, 10, f));
    say("%q", text);
    note_flags(f);
    pthread_join(t, NULL);
}

CASE(an_interrupted_fgets) {
    install(SIGUSR1, counts, 0);
    int ends[2];
    pipe(ends);
    FILE *f = fdopen(ends[0], "r");
    raw_write(ends[1], "abc", 3);
    pthread_t t;
    interrupt_me(&t);
    char text[20] = "";
    WITH_ERRNO(fgets(text, 20, f));
    note_flags(f);
    pthread_join(t, NULL);
}

/* The pipe by which another thread ends the interrupted call, once the call waits again. */
struct afterwards {
    int to, from, bytes; /* write to `to`, or read `bytes` from `from` */
};

static void *interrupts_before(void *arg) {
    static char block[65536];
    const struct afterwards *then = arg;
    interrupts(NULL);
    while (!count)
        usleep(100);
    wait_until_blocked(main_tid);
    if (then->to >= 0)
        raw_write(then->to, "late", 4);
    for (ssize_t n = 0, r; n < then->bytes && (r = read(then->from, block, sizeof block)) > 0;)
        n += r;
    return NULL;
}

static void interrupt_me_before(pthread_t *t, const struct afterwards *then) {
    main_thread = pthread_self();
    main_tid = (pid_t)syscall(SYS_gettid);
    pthread_create(t, NULL, interrupts_before, (void *)then);
}

CASE(a_restarted_read) {
    install(SIGUSR1, counts, SA_RESTART);
    int ends[2];
    pipe(ends);
    FILE *f = fdopen(ends[0], "r");
    pthread_t t;
    interrupt_me_before(&t, &(struct afterwards){.to = ends[1]});
    WITH_ERRNO(getc(f));
    note_flags(f);
    pthread_join(t, NULL);
}

CASE(an_interrupted_dprintf) {
    install(SIGUSR1, counts, 0);
    int ends[2];
    pipe(ends);
    static char block[65536];
    fcntl(ends[1], F_SETPIPE_SZ, sizeof block);
    raw_write(ends[1], block, sizeof block);
    pthread_t t;
    interrupt_me_before(&t, &(struct afterwards){.to = -1, .from = ends[0], .bytes = sizeof block});
    WITH_ERRNO(dprintf(ends[1], "%s", "late"));
    pthread_join(t, NULL);
}

CASE(an_interrupted_write) {
    install(SIGUSR1, counts, 0);
    int ends[2];
    pipe(ends);
    FILE *f = fdopen(ends[1], "w");
    static char block[65536];
    fcntl(ends[1], F_SETPIPE_SZ, sizeof block);
    raw_write(ends[1], block, sizeof block);
    pthread_t t;
    interrupt_me(&t);
    WITH_ERRNO(fwrite(block, 1, sizeof block, f));
    note_flags(f);
    pthread_join(t, NULL);
    signal(SIGPIPE, SIG_IGN);
    close(ends[0]);
}

static sigjmp_buf out;
static volatile int *volatile nowhere = (int *)8;

static void jumps(int signal) {
    (void)signal;
    siglongjmp(out, 1);
}

CASE(a_jump_out_of_a_read) {
    install(SIGUSR1, jumps, 0);
    int ends[2];
    pipe(ends);
    FILE *f = fdopen(ends[0], "r");
    if (sigsetjmp(out, 1) == 0) {
        pthread_t t;
        interrupt_me(&t);
        getc(f);
    }
    say("jumped");
    raw_write(ends[1], "abc", 3);
    CALL(getc(f));
    CALL(getc(f));
    printf("and output");
}

/* Without threads: the alarm arrives while the process waits. */
static void jumps_from_alarm(int signal) {
    (void)signal;
    siglongjmp(out, 1);
}

CASE(a_jump_out_of_a_read_by_an_alarm) {
    install(SIGALRM, jumps_from_alarm, 0);
    int ends[2];
    pipe(ends);
    FILE *f = fdopen(ends[0], "r");
    struct itimerval soon = {{0, 0}, {0, 20000}};
    char line[20];
    if (sigsetjmp(out, 1) == 0) {
        setitimer(ITIMER_REAL, &soon, NULL);
        fgets(line, sizeof line, f);
    }
    say("jumped");
    raw_write(ends[1], "abc\n", 4);
    CALL(fgets(line, sizeof line, f));
}

/* Reads so much of a file that the library may map it and install its handler of SIGBUS. */
static FILE *read_mapped(void) {
    put_pattern("file", 5000000);
    FILE *f = fopen("file", "r");
    for (int i = 0; i < 500000; i++)
        getc(f);
    return f;
}

static void faults(int signal) {
    (void)signal;
    write(1, "[fault handler]", 15);
    siglongjmp(out, 1);
}

CASE(faults_of_the_program_are_its_own) {
    install(SIGSEGV, faults, 0);
    install(SIGBUS, faults, 0);
    FILE *f = read_mapped();
    if (sigsetjmp(out, 1) == 0) {
        *nowhere = 1;
        say("not here");
    }
    say("back from a fault");
    if (sigsetjmp(out, 1) == 0) {
        raise(SIGBUS);
        say("not here");
    }
    CALL(getc(f));
    printf("text");
}

/* SIGBUS has two actions, the library's and the program's; SIGUSR1 has one. */
static const int both[] = {SIGBUS, SIGUSR1};

static void say_action(const char *when, int s) {
    struct sigaction action;
    sigset_t blocked;
    sigaction(s, NULL, &action);
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    say("%s: %s, flags %x, USR2 in its mask %d, blocked now: it %d, USR2 %d", when,
        action.sa_handler == SIG_DFL   ? "default"
        : action.sa_handler == SIG_IGN ? "ignored"
                                       : "handled",
        (unsigned)action.sa_flags, sigismember(&action.sa_mask, SIGUSR2), sigismember(&blocked, s),
        sigismember(&blocked, SIGUSR2));
}

static void tells(int s) {
    sigset_t blocked;
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    say("handler, USR2 blocked %d", sigismember(&blocked, SIGUSR2));
    struct sigaction action;
    sigaction(s, NULL, &action);
    say("in it %s", action.sa_handler == SIG_DFL ? "default" : "handled");
}

CASE(an_action_is_kept_as_by_the_kernel) {
    static const int flags[] = {0, SA_RESTART, (int)SA_RESETHAND, SA_NODEFER | SA_ONSTACK};
    read_mapped();
    for (size_t i = 0; i < sizeof both / sizeof *both; i++)
        for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) {
            struct sigaction action = {.sa_handler = tells, .sa_flags = flags[k]};
            sigaddset(&action.sa_mask, SIGUSR2);
            sigaddset(&action.sa_mask, SIGKILL);
            sigaction(both[i], &action, NULL);
            say_action("before", both[i]);
            raise(both[i]);
            say_action("after", both[i]);
        }
}

#ifdef __GLIBC__ /* musl lacks this interface */
CASE(handlers_by_old_names) {
    extern sighandler_t __sysv_signal(int, sighandler_t);
    read_mapped();
    for (size_t i = 0; i < sizeof both / sizeof *both; i++) {
        int s = both[i];
        say("was default %d", __sysv_signal(s, counts) == SIG_DFL);
        say_action("System V", s);
        raise(s);
        say_action("raised", s);
        say("was default %d", ssignal(s, counts) == SIG_DFL);
        say_action("BSD", s);
        say("was handled %d", sysv_signal(s, writes) == counts);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
        say("was handled %d", sigset(s, counts) == writes);
        say_action("sigset", s);
        say("was handled %d", sigset(s, SIG_HOLD) == counts);
        say_action("held", s);
        raise(s);
        say("count %d", (int)count);
        say("was held %d", sigset(s, writes) == SIG_HOLD);
        say("count %d", (int)count);
        CALL(sigignore(s));
#pragma GCC diagnostic pop
        raise(s);
        say_action("ignored", s);
        CALL(signal(s, SIG_DFL) == SIG_IGN);
    }
    CALL(signal(0, counts) == SIG_ERR);
    CALL(sysv_signal(100, counts) == SIG_ERR);
}
#endif

/* Reads to the truncated file's end, wherever the stream finds it. */
static void read_truncated(FILE *f) {
    truncate("file", 0);
    while (getc(f) != EOF)
        ;
    say("alive");
}

CASE(an_ignored_signal_is_ignored_by_who_comes_next) {
    FILE *f = read_mapped();
    signal(SIGBUS, SIG_IGN);
    raise(SIGBUS);
    fflush(stdout);
    static char *const sends[] = {"sh", "-c", "kill -BUS $$; echo and by who is started", NULL};
    pid_t child;
    int status = -1;
    CALL(posix_spawn(&child, "/bin/sh", NULL, NULL, sends, NULL));
    CALL(waitpid(child, &status, 0) == child && status == 0);
    CALL(system("kill -BUS $$; echo and here"));
    CALL(execl("/nowhere", "nowhere", (char *)NULL));
    read_truncated(f);
    fflush(stdout);
    execl("/bin/sh", "sh", "-c", "kill -BUS $$; echo still here", (char *)NULL);
}

static void executes(int signal) {
    (void)signal;
    execl("/bin/echo", "echo", "from a small stack", (char *)NULL);
}

/* A stack of 8 KB, the former SIGSTKSZ. The kernel's frame takes up to half of it. */
CASE(a_handler_on_a_small_stack) {
    enum { SMALL = 8192, PAGE = 4096 };
    char *memory = mmap(NULL, PAGE + SMALL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(memory, PAGE, PROT_NONE);
    CALL(sigaltstack(&(stack_t){.ss_sp = memory + PAGE, .ss_size = SMALL}, NULL));
    install(SIGUSR1, executes, SA_ONSTACK);
    read_mapped();
    printf("lost");
    raise(SIGUSR1);
}

CASE(dying_of_a_fault) {
    read_mapped();
    printf("unflushed");
    *nowhere = 1;
}

CASE(dying_of_sigbus) {
    read_mapped();
    raise(SIGBUS);
}

CASE(dispositions_are_left_alone) {
    read_mapped();
    getchar();
    for (int s = 1; s < 32; s++) {
        struct sigaction action;
        sigaction(s, NULL, &action);
        if (s != SIGBUS && action.sa_handler != SIG_DFL)
            say("signal %d has a handler", s);
    }
    struct sigaction action;
    sigaction(SIGBUS, NULL, &action);
    say("SIGBUS default %d", action.sa_handler == SIG_DFL);
    sigset_t blocked;
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    for (int s = 1; s < 32; s++)
        if (sigismember(&blocked, s))
            say("signal %d is blocked", s);
}
