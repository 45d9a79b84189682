/* SPDX-License-Identifier: MIT
 *
 * command_parallel.c - "asf parallel": several runs of one command, each of which filters a chunk of the
 * input.
 *
 * Each job has a thread that takes a chunk, starts the command and copies its output.  A second thread writes
 * the chunk to the command.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <malloc.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "interfaces/command/command.h"
#include "interfaces/command/command_measure.h"
#include "interfaces/command/command_parallel.h"
#include "interfaces/command/command_parallel_check.h"
#include "interfaces/command/command_table.h"
#include "lib/sys/processors.h"

enum {
    MAX_JOBS = 512,
    MAX_HELD_PIPES = 48,
    MAX_CHUNK = 16 * MB,
    STACK_SIZE = 256 * KB,
    MERGE_CHUNKS = 256,
    CHECK_CHUNKS = 8
};

extern char **environ;

struct job {
    struct run *run;
    pthread_t thread;
    struct buffer buffer;
    /* Protected by the lock of `run`: */
    pid_t process; /* 0: not running */
    int64_t index; /* index of the job's chunk */
};

struct run {
    char **argv;
    struct program program;
    posix_spawnattr_t spawn_attributes;
    unsigned count;        /* number of jobs */
    int64_t header, block; /* `block` 0: choose_block decides */
    bool headless, found, checks;
    const char *merge;
    struct input input;
    struct output output;
    pthread_t main;
    struct job *jobs;
    pthread_mutex_t lock; /* protects the members below */
    unsigned running;     /* jobs that have not ended */
    int64_t failed;       /* index of the first failed chunk */
    int result;           /* exit status for that chunk */
    bool any_found;
    int *files; /* for --merge: output file of each chunk */
    int64_t files_capacity;
};

/* --- ending early --------------------------------------------------------------------------- */

static struct run *current_run; /* for terminate_jobs, at exit */

static void kill_later_jobs(struct run *r, int64_t last_good, int sig) {
    for (unsigned i = 0; i < r->count; i++)
        if (r->jobs[i].process > 0 && r->jobs[i].index > last_good)
            kill(r->jobs[i].process, sig);
}

/* Keeps the lock: no job may start before this process ends. */
static void kill_all_jobs(int sig) {
    pthread_mutex_lock(&current_run->lock);
    kill_later_jobs(current_run, -1, sig);
}

static void terminate_jobs(void) {
    kill_all_jobs(SIGTERM);
}

/* Stop the chunks after the first failed chunk.  Print that chunk and those before it, as the command alone
 * would; with --unordered print nothing more. */
static void record_failure(struct run *r, int64_t index, int result) {
    pthread_mutex_lock(&r->lock);
    if (index < r->failed) {
        r->failed = index;
        r->result = result;
        asf__output_cancel(&r->output, r->output.unordered ? -1 : index);
        kill_later_jobs(r, index, SIGTERM);
    }
    pthread_mutex_unlock(&r->lock);
}

/* Ends this process because a write to standard output failed. */
static void fail_output(struct run *r) {
    int error = r->output.error;
    if (error == EPIPE) {
        terminate_jobs();
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
        _exit(128 + SIGPIPE); /* the signal is blocked */
    }
    asf__fail("parallel: standard output: write: %s; redirect it to a file system with free space",
              strerror(error));
}

static void check_status(struct run *r, int64_t index, int status) {
    int result = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (result == 0)
        __atomic_store_n(&r->any_found, true, __ATOMIC_RELAXED);
    if (result == 0 || (r->found && result == 1))
        return;
    record_failure(r, index, result);
}

/* --- one chunk -------------------------------------------------------------------------------- */

struct feeder {
    struct run *run;
    const struct chunk *chunk;
    int to;
    pthread_t thread;
};

static void *feed_command(void *arg) {
    struct feeder *f = arg;
    asf__input_feed(&f->run->input, f->chunk, f->to);
    close(f->to);
    return NULL;
}

static void start_thread(pthread_t *thread, void *(*function)(void *), void *argument) {
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK_SIZE);
    int error = pthread_create(thread, &small, function, argument);
    if (error)
        asf__fail("parallel: pthread_create: %s; use fewer jobs", strerror(error));
    pthread_attr_destroy(&small);
}

/* The command starts even for a cancelled chunk.  It ends soon, because nobody reads its output. */
static void start_command(struct job *j, int64_t index, int in, int out) {
    struct run *r = j->run;
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    pthread_mutex_lock(&r->lock);
    int error = posix_spawn(&j->process, r->program.path, &files, &r->spawn_attributes, r->argv, environ);
    j->index = index;
    pthread_mutex_unlock(&r->lock);
    if (error)
        exit(asf__cannot_execute(&r->program, r->argv[0], error));
    posix_spawn_file_actions_destroy(&files);
}

/* Wait without reaping, then reap under the lock: nobody can kill a new process of the same number. */
static int wait_for_command(struct job *j) {
    siginfo_t info;
    int status = 0;
    while (waitid(P_PID, (id_t)j->process, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        continue;
    pthread_mutex_lock(&j->run->lock);
    waitpid(j->process, &status, 0);
    j->process = 0;
    pthread_mutex_unlock(&j->run->lock);
    return status;
}

/* The input's lock makes the calls come in order of `index`. */
static int open_chunk_file(struct run *r, int64_t index) {
    if (index == r->files_capacity) {
        r->files_capacity = r->files_capacity ? 2 * r->files_capacity : MERGE_CHUNKS;
        r->files = realloc(r->files, (size_t)r->files_capacity * sizeof *r->files);
        if (!r->files)
            asf__fail("parallel: malloc: %s; give asf more memory", strerror(errno));
    }
    return r->files[index] = asf__temporary("parallel", NULL);
}

static void filter_chunk(struct job *j, struct chunk *p, int file) {
    struct run *r = j->run;
    const int64_t index = p->index;
    struct feeder f = {.run = r, .chunk = p};
    int in[2], out[2] = {-1, file};
    asf__make_pipe("parallel", in);
    if (!r->merge)
        asf__make_pipe("parallel", out);
    fcntl(in[1], F_SETPIPE_SZ, PIPE_SIZE); /* larger pipes need fewer context switches */
    if (!r->merge)
        fcntl(out[1], F_SETPIPE_SZ, PIPE_SIZE);
    start_command(j, index, in[0], out[1]);
    close(in[0]);
    f.to = in[1];
    start_thread(&f.thread, feed_command, &f);
    if (!r->merge) {
        close(out[1]);
        if (!asf__output_copy(&r->output, p, out[0]) && !asf__output_is_cancelled(&r->output, p))
            fail_output(r);
        close(out[0]);
    }
    pthread_join(f.thread, NULL);
    check_status(r, index, wait_for_command(j));
    if (r->merge)
        free(p);
    else if (!asf__output_finish(&r->output, p))
        fail_output(r);
}

/* returns  NULL: the input has ended, or a run has failed */
static struct chunk *next_chunk(struct job *j, int *file) {
    struct run *r = j->run;
    struct chunk *p = calloc(1, sizeof *p);
    if (!p)
        asf__fail("parallel: malloc: %s; give asf more memory", strerror(errno));
    pthread_mutex_lock(&r->input.lock);
    bool found = __atomic_load_n(&r->failed, __ATOMIC_RELAXED) == INT64_MAX &&
                 asf__input_next(&r->input, p, &j->buffer);
    if (found && r->merge)
        *file = open_chunk_file(r, p->index);
    else if (found)
        asf__output_add(&r->output, p);
    pthread_mutex_unlock(&r->input.lock);
    if (found && p->index > 0 && !r->headless)
        p->to_skip = r->header;
    if (found)
        return p;
    free(p);
    return NULL;
}

static void *run_job(void *arg) {
    struct job *j = arg;
    struct run *r = j->run;
    struct chunk *p;
    int file = -1;
    while ((p = next_chunk(j, &file)))
        filter_chunk(j, p, file);
    free(j->buffer.bytes);
    pthread_mutex_lock(&r->lock);
    if (--r->running == 0)
        pthread_kill(r->main, SIGALRM); /* ends the main thread's sigtimedwait */
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

/* --- all runs --------------------------------------------------------------------------------- */

static void show_progress(const struct run *r, double seconds) {
    double fed = (double)__atomic_load_n(&r->input.bytes_fed, __ATOMIC_RELAXED), rate = fed / seconds / 1e6;
    double total = (double)(r->input.size - r->input.begin);
    if (r->input.is_file && fed > 0)
        fprintf(stderr, "\r%3.0f %%, %.0f MB/s, %.0f s left \033[K", 100 * fed / total, rate,
                (total - fed) / fed * seconds);
    else
        fprintf(stderr, "\r%.0f MB, %.0f MB/s \033[K", fed / 1e6, rate);
}

/* A signal that ends this process also ends the runs. */
static void die_by_signal(int sig) {
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, sig);
    kill_all_jobs(sig);
    signal(sig, SIG_DFL);
    raise(sig);
    pthread_sigmask(SIG_UNBLOCK, &only, NULL);
}

static void wait_for_jobs(const struct run *r, const sigset_t *waited) {
    const bool shows = isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO);
    const struct timespec often = {.tv_nsec = 200000000};
    const double began = asf__seconds();
    bool shown = false;
    for (int sig; (sig = sigtimedwait(waited, NULL, shows ? &often : NULL)) != SIGALRM;) {
        if (sig > 0)
            die_by_signal(sig);
        double seconds = asf__seconds() - began;
        if (shows && seconds > 1)
            show_progress(r, seconds), shown = true;
    }
    if (shown)
        fputs("\r\033[K", stderr);
}

/* Block SIGALRM, which the last job sends, and each fatal signal that is not ignored. */
static void block_signals(sigset_t *waited) {
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction is;
    sigemptyset(waited);
    sigaddset(waited, SIGALRM);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        if (sigaction(ending[i], NULL, &is) == 0 && is.sa_handler != SIG_IGN)
            sigaddset(waited, ending[i]);
    pthread_sigmask(SIG_BLOCK, waited, NULL);
}

/* The runs get the signal mask and actions that this process was started with. */
static void prepare_signals(struct run *r, sigset_t *waited) {
    sigset_t mask, defaults;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    sigemptyset(&defaults);
    if (signal(SIGPIPE, SIG_IGN) != SIG_IGN)
        sigaddset(&defaults, SIGPIPE);
    signal(SIGCHLD, SIG_DFL);
    posix_spawnattr_init(&r->spawn_attributes);
    posix_spawnattr_setsigmask(&r->spawn_attributes, &mask);
    posix_spawnattr_setsigdefault(&r->spawn_attributes, &defaults);
    posix_spawnattr_setflags(&r->spawn_attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    block_signals(waited);
}

static void run_jobs(struct run *r) {
    sigset_t waited;
    prepare_signals(r, &waited);
#ifdef M_ARENA_MAX /* these threads allocate little, and an arena reserves 64 MB of addresses */
    mallopt(M_ARENA_MAX, 1);
#endif
    pthread_mutex_init(&r->lock, NULL);
    pthread_mutex_init(&r->output.lock, NULL);
    pthread_cond_init(&r->output.changed, NULL);
    r->output.max_pipes = MAX_HELD_PIPES;
    r->output.last_good = r->failed = INT64_MAX;
    r->main = pthread_self();
    r->running = r->count;
    r->jobs = calloc(r->count, sizeof *r->jobs);
    if (!r->jobs)
        asf__fail("parallel: malloc: %s; use fewer jobs", strerror(errno));
    current_run = r;
    atexit(terminate_jobs);
    for (unsigned i = 0; i < r->count; i++) {
        r->jobs[i].run = r;
        start_thread(&r->jobs[i].thread, run_job, &r->jobs[i]);
    }
    wait_for_jobs(r, &waited);
    for (unsigned i = 0; i < r->count; i++)
        pthread_join(r->jobs[i].thread, NULL);
    pthread_sigmask(SIG_UNBLOCK, &waited, NULL);
}

/* Execute the merging command, with the output files as its arguments. */
static int exec_merge(const struct run *r) {
    size_t count = (size_t)r->input.count;
    char **argv = calloc(count + 5, sizeof *argv);
    if (!argv)
        asf__fail("parallel: malloc: %s; give asf more memory", strerror(errno));
    argv[0] = argv[3] = "sh";
    argv[1] = "-c";
    argv[2] = asf__text("%s \"$@\"", r->merge);
    for (size_t i = 0; i < count; i++) {
        fcntl(r->files[i], F_SETFD, 0);
        argv[4 + i] = asf__text("/dev/fd/%d", r->files[i]);
    }
    signal(SIGPIPE, SIG_DFL);
    execv("/bin/sh", argv);
    asf__fail("parallel: /bin/sh: exec: %s; install a shell", strerror(errno));
}

/* Reading with splice and pread does not move the offset of a file: set the offset as the command alone
 * would. */
static int finish_run(const struct run *r) {
    if (r->input.is_file)
        lseek(STDIN_FILENO, r->input.next_offset, SEEK_SET);
    if (r->result == 0 && r->merge)
        return exec_merge(r);
    return r->result == 0 && r->found && !r->any_found ? 1 : r->result;
}

/* --- options -------------------------------------------------------------------------------------- */

static int64_t parse_number(const char *option, const char *value, int64_t least, int64_t most) {
    char *end;
    errno = 0;
    long long n = strtoll(value, &end, 10);
    if (*value == '\0' || *end != '\0' || errno || n < least || n > most)
        asf__fail("parallel: --%s %s: give a number from %lld to %lld", option, value, (long long)least,
                  (long long)most);
    return n;
}

/* Chooses a size small enough that pipes hold the output of all runs.  It must be large enough that starting
 * the processes takes a small part of the time. */
static void choose_block(struct run *r) {
    int64_t size = MAX_HELD_PIPES * (int64_t)PIPE_SIZE / (int64_t)r->count;
    int64_t bytes = r->input.is_file ? r->input.size - r->input.next_offset : 0;
    if (r->checks)
        size = bytes / CHECK_CHUNKS;
    size = size < MAX_CHUNK ? size : MAX_CHUNK;
    if (r->input.is_file && bytes / 4 / r->count < size)
        size = bytes / 4 / r->count;
    if (size < MB && !r->checks)
        size = MB;
    if (r->merge && bytes / MERGE_CHUNKS > size)
        size = bytes / MERGE_CHUNKS;
    r->input.cut.size = r->block ? r->block : size > 0 ? size : 1;
}

static bool is_found_command(const char *path) {
    static const char *const names[] = {"grep", "egrep", "fgrep", "rg"};
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static void parse_option(struct run *r, int option, char **argv) {
    if (option == 'j')
        r->count = (unsigned)parse_number("jobs", optarg, 1, MAX_JOBS);
    else if (option == 'b')
        r->block = (int64_t)asf__size("parallel", "block", optarg);
    else if (option == 'r')
        r->input.cut.record = parse_number("records", optarg, 1, INT64_MAX / 4);
    else if (option == 'n')
        r->header = parse_number("header", optarg, 1, 1000000);
    else if (option == 'l')
        r->headless = true;
    else if (option == 'u')
        r->output.unordered = true;
    else if (option == 'f')
        r->found = true;
    else if (option == 'm')
        r->merge = optarg;
    else if (option == 'c')
        r->checks = true;
    else
        asf__bad_option("parallel", option, argv);
}

static void check_descriptors(void) {
    if (fcntl(STDIN_FILENO, F_GETFD) < 0)
        asf__fail("parallel: standard input is closed; redirect it with <FILE");
    if (fcntl(STDOUT_FILENO, F_GETFD) < 0)
        asf__fail("parallel: standard output is closed; redirect it with >FILE");
}

static void find_command(struct run *r, char **argv) {
    r->argv = argv;
    r->program = asf__find_program(argv[0]);
    if (!r->program.path)
        exit(asf__cannot_execute(&r->program, argv[0], ENOENT));
    asf__prepare(&r->program, &(struct serving){0});
    r->found = r->found || is_found_command(argv[0]);
}

static int run_parallel(void *run) {
    struct run *r = run;
    asf__input_begin(&r->input, r->header);
    choose_block(r);
    run_jobs(r);
    return finish_run(r);
}

int asf__parallel(int argc, char **argv) {
    static struct run r = {.input.cut.delimiter = '\n'};
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, "+:hj:", asf__options_of("parallel"), NULL)) != -1;) {
        if (option == 'h')
            return asf__help_of("parallel");
        parse_option(&r, option, argv);
    }
    if (optind == argc)
        asf__fail("parallel: no command given; see 'asf parallel --help'");
    if (r.merge && (r.output.unordered || r.header))
        asf__fail("parallel: --merge excludes --unordered and --header; omit them");
    check_descriptors();
    find_command(&r, argv + optind);
    r.count = r.count ? r.count : asf__usable_processors();
    return r.checks ? asf__parallel_check(r.argv, run_parallel, &r) : run_parallel(&r);
}
