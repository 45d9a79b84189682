/* SPDX-License-Identifier: MIT
 *
 * command_compare.c - "asf compare": runs a program alternately without asf and with it.  It compares the
 * output byte for byte, and the time and instructions that the runs take.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interfaces/command/command_child.h"
#include "interfaces/command/command_json.h"
#include "interfaces/command/command_load.h"
#include "interfaces/command/command_measure.h"
#include "interfaces/command/command_report.h"
#include "interfaces/command/command_table.h"

enum { MAX_RUNS = 1000, DEFAULT_RUNS = 9, BUSY_RUNS = 27, MIN_RUNS = 3, DIFFERS = 1, CANNOT_COMPARE = 2 };

/* Seconds for all runs together, unless --runs gives their number. */
static const double time_limit = 30, busy_time_limit = 60;

enum variant { PLAIN, SERVED };

enum measure { CPU, ELAPSED, INSTRUCTIONS, MEASURES };

/* Seconds; instructions are 0 if they are not counted. */
struct sample {
    double values[MEASURES];
};

/* The result of one run. */
struct outcome {
    int output, errors; /* files */
    int status;         /* wait status */
};

struct comparison {
    char **argv;
    struct serving serving;
    struct program program;
    const char *output; /* the file for standard output; NULL: a temporary file, which is compared */
    int runs;           /* 0: chosen by the time a run takes */
    bool json;
    struct sample samples[2][MAX_RUNS];
    int count;
    struct outcome reference, latest; /* outcomes of the first run, which is plain, and of the latest run */
    int served_status;                /* wait status of the latest served run */
    const char *served_message;       /* first line of its standard error if it failed */
    const char *difference;           /* NULL: none so far */
    struct load load_before;
    long preempted;          /* preemptions of all runs */
    const char *disturbance; /* NULL: none */
    bool counted;            /* the instructions of all runs were counted */
};

/* --- standard input -------------------------------------------------------------------------- */

static void fail_on_file(const char *what, int error) {
    asf__fail("compare: %s: %s; %s", what, strerror(error),
              error == EFBIG ? "raise 'ulimit -f'" : "set TMPDIR to a directory with free space");
}

/* A pipe can be read only once: copy standard input to a file, and replace standard input by the file. */
static void copy_input_to_file(void) {
    struct stat st;
    static char buffer[1 << 16];
    if (fstat(STDIN_FILENO, &st) < 0 || S_ISCHR(st.st_mode) ||
        (S_ISREG(st.st_mode) && lseek(STDIN_FILENO, 0, SEEK_CUR) == 0))
        return;
    int kept = asf__temporary("compare", NULL);
    FILE *to = fdopen(kept, "w");
    for (size_t n = 1; to && !ferror(to) && n > 0;) {
        n = fread(buffer, 1, sizeof buffer, stdin);
        fwrite(buffer, 1, n, to);
    }
    if (!to || ferror(stdin) || fflush(to) != 0 || ferror(to))
        fail_on_file("standard input: copy", errno);
    dup2(kept, STDIN_FILENO);
    fclose(to);
}

/* --- one run ------------------------------------------------------------------------------------ */

static const struct comparison *current_comparison; /* for redirect_streams, which has no arguments */
static void (*sigxfsz_action)(int); /* the child's action for SIGXFSZ; asf ignores it to get EFBIG */

static void redirect(int to, const char *path, int flags) {
    int fd = open(path, flags, 0666);
    if (fd < 0 || dup2(fd, to) < 0)
        asf__fail("compare: %s: open: %s", path, strerror(errno));
    if (fd != to)
        close(fd);
}

static const char *path_of(int fd) {
    return asf__text("/proc/self/fd/%d", fd);
}

/* Reopen the files so that each run starts at their beginning. */
static void redirect_streams(void) {
    const struct comparison *c = current_comparison;
    struct stat st;
    signal(SIGXFSZ, sigxfsz_action);
    if (fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode))
        redirect(STDIN_FILENO, path_of(STDIN_FILENO), O_RDONLY);
    redirect(STDOUT_FILENO, c->output ? c->output : path_of(c->latest.output), O_WRONLY | O_CREAT | O_TRUNC);
    redirect(STDERR_FILENO, path_of(c->latest.errors), O_WRONLY | O_TRUNC);
}

static void exec_program(const struct comparison *c, enum variant variant, int failure) {
    int errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    redirect_streams();
    if (variant == SERVED)
        _exit(asf__execute(&c->program, c->argv, &c->serving));
    execvp(c->argv[0], c->argv);
    int error = errno;
    dup2(errors, STDERR_FILENO);
    dprintf(failure, "%s", strerror(error));
    _exit(EXIT_CANNOT_RUN);
}

static double seconds_of(const struct timeval *t) {
    return (double)t->tv_sec + 1e-6 * (double)t->tv_usec;
}

/* errors  ends the process with CANNOT_COMPARE if the program cannot be executed */
static struct sample run_program(struct comparison *c, enum variant variant) {
    int failure[2];
    char error[128];
    struct rusage usage;
    if (pipe2(failure, O_CLOEXEC) < 0)
        asf__fail("compare: pipe2: %s; raise 'ulimit -n'", strerror(errno));
    int counter = asf__count_instructions();
    double began = asf__seconds();
    pid_t child = asf__fork();
    if (child < 0)
        asf__fail("compare: fork: %s; end some processes", strerror(errno));
    if (child == 0)
        exec_program(c, variant, failure[1]);
    close(failure[1]);
    FILE *why = fdopen(failure[0], "r");
    bool failed = why && fgets(error, sizeof error, why);
    if (why)
        fclose(why);
    c->latest.status = asf__wait(&usage);
    double elapsed = asf__seconds() - began, cpu = seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime);
    asf__child_done();
    if (failed) {
        asf__warn("%s: exec: %s; check the name, its permissions and PATH", c->argv[0], error);
        exit(CANNOT_COMPARE);
    }
    c->preempted += usage.ru_nivcsw;
    return (struct sample){{cpu, elapsed, (double)asf__instructions(counter)}};
}

/* --- comparing the output ------------------------------------------------------------------------- */

static FILE *open_from_start(int fd) {
    FILE *file = fopen(path_of(fd), "re");
    if (!file)
        fail_on_file("output of the program: open", errno);
    return file;
}

/* The first difference of two files; NULL: they are equal. */
static const char *compare_files(const char *name, int first, int second) {
    FILE *a = open_from_start(first), *b = open_from_start(second);
    static char one[1 << 16], other[1 << 16];
    unsigned long long offset = 0, line = 1;
    const char *found = NULL;
    for (size_t n = 1; n > 0 && !found;) {
        n = fread(one, 1, sizeof one, a);
        size_t m = fread(other, 1, sizeof other, b), i = 0;
        for (; i < n && i < m && one[i] == other[i]; i++)
            line += one[i] == '\n';
        if (i < n || i < m)
            found = asf__text("%s at byte %llu, line %llu%s", name, offset + i + 1, line,
                              i == n   ? ": longer than in the first run"
                              : i == m ? ": shorter than in the first run"
                                       : "");
        offset += n;
    }
    fclose(a);
    fclose(b);
    return found;
}

/* How the latest run differs from the first; the status is compared first.  NULL: no difference. */
static const char *compare_outcomes(const struct comparison *c, enum variant variant) {
    const struct outcome *a = &c->reference, *b = &c->latest;
    if (a->status != b->status)
        return asf__text(variant == SERVED ? "%s with asf, %s without" : "%s, %s in the first run",
                         asf__status_text(b->status), asf__status_text(a->status));
    const char *found = c->output ? NULL : compare_files("standard output", a->output, b->output);
    return found ? found : compare_files("standard error", a->errors, b->errors);
}

/* Returns "" if the file is empty. */
static const char *first_line(int fd) {
    char *line = NULL;
    size_t room = 0;
    FILE *file = open_from_start(fd);
    ssize_t n = getline(&line, &room, file);
    const char *text = asf__text("%.*s", n > 0 ? (int)strcspn(line, "\n") : 0, line);
    free(line);
    fclose(file);
    return text;
}

static void check_outcome(struct comparison *c, enum variant variant) {
    const char *found = c->difference ? NULL : compare_outcomes(c, variant);
    if (variant == SERVED) {
        c->served_status = c->latest.status;
        c->served_message = c->served_status ? first_line(c->latest.errors) : "";
    }
    if (found && variant == SERVED) {
        run_program(c, PLAIN);
        const char *without = compare_outcomes(c, PLAIN);
        variant = without ? PLAIN : SERVED;
        found = without ? without : found;
    }
    if (found)
        c->difference = asf__text(
            variant == SERVED ? "differs: %s" : "differs from run to run, also without asf: %s", found);
}

/* --- the runs ---------------------------------------------------------------------------------------- */

static void show_progress(const struct comparison *c, int done, int all) {
    enum { WIDTH = 30, WARM_UP = 2 };
    char bar[WIDTH + 1] = "..............................";
    double each = (asf__seconds() - c->load_before.time) / (done + WARM_UP);
    memset(bar, '#', (size_t)(done * WIDTH / all));
    if (isatty(STDERR_FILENO))
        fprintf(stderr, done < all ? "\r\033[K[%s] run %d of %d, %.0f s left" : "\r\033[K", bar, done + 1,
                all, each * (all - done));
}

static unsigned random_word(void) {
    unsigned word = 0;
    return getrandom(&word, sizeof word, 0) == sizeof word ? word : (unsigned)rand();
}

/* Returns --runs, or as many runs as fit into the time limit.  On a busy machine the limit is longer, and the
 * maximum is higher. */
static int choose_run_count(const struct comparison *c, double both, bool busy) {
    int usual = busy ? BUSY_RUNS : DEFAULT_RUNS;
    int fit = both > 0 ? (int)((busy ? busy_time_limit : time_limit) / both) : usual;
    return c->runs ? c->runs : fit < MIN_RUNS ? MIN_RUNS : fit < usual ? fit : usual;
}

static struct outcome new_outcome(void) {
    return (struct outcome){.output = asf__temporary("compare", NULL),
                            .errors = asf__temporary("compare", NULL)};
}

static void run_pair(struct comparison *c, int runs) {
    enum variant first = random_word() % 2 ? SERVED : PLAIN;
    for (int i = 0; i < 2; i++) {
        enum variant variant = i == 0 ? first : !first;
        show_progress(c, 2 * c->count + i, 2 * runs);
        struct sample s = c->samples[variant][c->count] = run_program(c, variant);
        c->counted = c->counted && s.values[INSTRUCTIONS] > 0;
        check_outcome(c, variant);
    }
    c->count++;
}

/* The first plain and the first served run warm up.  All other runs are compared with the first plain run. */
static void run_pairs(struct comparison *c) {
    c->load_before = asf__load();
    c->counted = true;
    c->latest = new_outcome();
    double both = run_program(c, PLAIN).values[ELAPSED];
    c->reference = c->latest;
    c->latest = new_outcome();
    both += run_program(c, SERVED).values[ELAPSED];
    check_outcome(c, SERVED);
    int runs = choose_run_count(c, both, asf__is_busy(&c->load_before));
    while (c->count < runs && !c->difference) {
        run_pair(c, runs);
        if (c->count == runs && asf__disturbance(&c->load_before, c->preempted))
            runs = choose_run_count(c, both, true);
    }
    show_progress(c, 2 * runs, 2 * runs);
}

/* --- statistics and verdict ----------------------------------------------------------------------- */

static int compare_doubles(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double median(double *v, int n) {
    qsort(v, (size_t)n, sizeof *v, compare_doubles);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* A median and its 95 % confidence interval. */
struct estimate {
    double value, low, high;
};

struct estimates {
    struct estimate variant[2], ratio; /* ratio: plain divided by served */
};

static struct estimate confidence_interval(double *drawn, int n, double value) {
    qsort(drawn, (size_t)n, sizeof *drawn, compare_doubles);
    return (struct estimate){value, drawn[n / 40], drawn[n - 1 - n / 40]};
}

/* Estimates the medians and their ratio by bootstrap: draws pairs of runs with replacement. */
static struct estimates bootstrap(const struct comparison *c, enum measure measure) {
    enum { DRAWS = 2000 };
    static double drawn[3][DRAWS], v[2][MAX_RUNS];
    double m[2] = {0, 0};
    for (int draw = -1; draw < DRAWS; draw++) {
        for (int i = 0; i < c->count; i++) {
            int from = draw < 0 ? i : (int)(random_word() % (unsigned)c->count);
            for (int variant = PLAIN; variant <= SERVED; variant++)
                v[variant][i] = c->samples[variant][from].values[measure];
        }
        double plain = median(v[PLAIN], c->count), served = median(v[SERVED], c->count);
        if (draw < 0)
            m[PLAIN] = plain, m[SERVED] = served;
        else
            drawn[PLAIN][draw] = plain, drawn[SERVED][draw] = served,
            drawn[2][draw] = served > 0 ? plain / served : 1;
    }
    double ratio = m[SERVED] > 0 ? m[PLAIN] / m[SERVED] : 1;
    return (struct estimates){{confidence_interval(drawn[PLAIN], DRAWS, m[PLAIN]),
                               confidence_interval(drawn[SERVED], DRAWS, m[SERVED])},
                              confidence_interval(drawn[2], DRAWS, ratio)};
}

/* Differences below 1 % do not count. */
static bool is_difference(const struct estimate *ratio) {
    return (ratio->low > 1 && ratio->value > 1.01) || (ratio->high < 1 && ratio->value < 0.99);
}

static const char *no_gain_reason(const struct report *r) {
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->streams[i].module, "kernel") != 0)
            return NULL;
    return r->obstacle     ? "asf does not serve the program"
           : r->count == 0 ? "the program does no I/O that asf serves"
                           : "the program makes its own system calls";
}

/* Returns the disturbance in brackets, for a verdict that might differ on a quiet machine; "": none. */
static const char *disturbance_note(const struct comparison *c) {
    return c->disturbance ? asf__text(" (disturbed: %s)", c->disturbance) : "";
}

static const char *verdict_of(const struct comparison *c, const struct estimates *e, const struct report *r) {
    const struct estimate *ratio = &e->ratio;
    const char *same = c->output ? "same messages and status" : "same output";
    if (c->difference)
        return c->difference;
    if (is_difference(ratio) && ratio->value > 1 && !r->obstacle)
        return asf__text("%.2f times as fast, %s", ratio->value, same);
    if (no_gain_reason(r))
        return asf__text("no gain: %s, %s", no_gain_reason(r), same);
    if (!is_difference(ratio))
        return asf__text("no measurable difference, %s%s", same, disturbance_note(c));
    return asf__text("slower: by %.1f ms, or %.2f times the time, %s",
                     1e3 * (e->variant[SERVED].value - e->variant[PLAIN].value), 1 / ratio->value, same);
}

/* --- the report ----------------------------------------------------------------------------------- */

static void print_estimates(const char *what, const char *unit, const struct estimates *e) {
    const struct estimate *p = &e->variant[PLAIN], *s = &e->variant[SERVED], *r = &e->ratio;
    printf("  %-9s %8.4f %s (%.4f-%.4f)  %8.4f %s (%.4f-%.4f)   %.2f (%.2f-%.2f)\n", what, p->value, unit,
           p->low, p->high, s->value, unit, s->low, s->high, r->value, r->low, r->high);
}

static struct estimate in_billions(struct estimate e) {
    return (struct estimate){1e-9 * e.value, 1e-9 * e.low, 1e-9 * e.high};
}

static void print_table(const struct comparison *c, const struct estimates e[MEASURES]) {
    const struct estimates *n = &e[INSTRUCTIONS];
    const struct estimates billions = {{in_billions(n->variant[PLAIN]), in_billions(n->variant[SERVED])},
                                       n->ratio};
    printf("  %-9s %-28s %-28s %s\n", "", "   plain", "   with asf", "ratio");
    print_estimates("user+sys", "s", &e[CPU]);
    print_estimates("elapsed", "s", &e[ELAPSED]);
    if (c->counted)
        print_estimates("instr.", "G", &billions);
    printf("  medians of %d runs each, with 95 %% confidence intervals\n", c->count);
}

static void print_estimate(const char *name, const struct estimate *e, const char *after) {
    printf("\"%s\": {\"median\": %.6f, \"low\": %.6f, \"high\": %.6f}%s", name, e->value, e->low, e->high,
           after);
}

static void print_json(const struct comparison *c, const struct estimates e[MEASURES], const char *verdict,
                       const char *advice) {
    static const char *const names[] = {"user_and_system", "elapsed", "instructions"};
    printf("{\"same\": %s, \"runs\": %d, \"status\": %d,\n", c->difference ? "false" : "true", c->count,
           asf__exit_status(c->reference.status));
    for (int i = 0; i < (c->counted ? MEASURES : INSTRUCTIONS) && !c->difference; i++) {
        printf(" \"%s\": {", names[i]);
        print_estimate("plain", &e[i].variant[PLAIN], ", ");
        print_estimate("asf", &e[i].variant[SERVED], ", ");
        print_estimate("ratio", &e[i].ratio, "},\n");
    }
    fputs(" \"disturbance\": ", stdout);
    c->disturbance ? asf__put_json(c->disturbance) : (void)fputs("null", stdout);
    fputs(",\n \"verdict\": ", stdout);
    asf__put_json(verdict);
    fputs(",\n \"advice\": ", stdout);
    asf__put_json(advice);
    puts("}");
}

static void warn_of_failure(const struct comparison *c, const char *how, int status, const char *message) {
    if (status)
        asf__warn("%s fails %s: %s%s%s", c->argv[0], how, asf__status_text(status),
                  message[0] ? ": " : ", without a message", message);
}

/* The program's messages went to files: repeat the first line for the user. */
static void warn_of_failures(const struct comparison *c) {
    const struct outcome *plain = &c->reference;
    if (plain->status == c->served_status) {
        warn_of_failure(c, "both ways", plain->status, first_line(plain->errors));
    } else {
        warn_of_failure(c, "with asf", c->served_status, c->served_message);
        warn_of_failure(c, "without asf", plain->status, first_line(plain->errors));
    }
}

static int report_result(struct comparison *c) {
    struct report r;
    struct estimates e[MEASURES] = {0};
    c->disturbance = asf__disturbance(&c->load_before, c->preempted);
    asf__report_program(&c->program, c->argv, &c->serving, &r);
    r.compared = true;
    for (int i = 0; i < MEASURES && c->count > 0; i++)
        e[i] = bootstrap(c, (enum measure)i);
    const char *verdict = verdict_of(c, &e[CPU], &r), *advice = asf__advice(&r);
    warn_of_failures(c);
    if (c->json) {
        print_json(c, e, verdict, advice);
    } else {
        printf("%s\n", verdict);
        if (!c->difference)
            print_table(c, e);
        printf("advice: %s\n", advice);
    }
    int failed = asf__close_stdout();
    return failed ? failed : c->difference ? DIFFERS : asf__exit_status(c->reference.status);
}

/* --- the command -----------------------------------------------------------------------------------------
 */

static int parse_runs(const char *text) {
    char *end;
    long n = strtol(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || n < MIN_RUNS || n > MAX_RUNS)
        asf__fail("compare: --runs %s: give a number from %d to %d", text, MIN_RUNS, MAX_RUNS);
    return (int)n;
}

static bool parse_compare(struct comparison *c, int argc, char **argv) {
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, "+:ho:", asf__options_of("compare"), NULL)) != -1;) {
        if (option == 'h')
            return false;
        if (option == 'n')
            c->runs = parse_runs(optarg);
        else if (option == 'o')
            c->output = optarg;
        else if (option == 'j')
            c->json = true;
        else if (!asf__serving_option(&c->serving, "compare", option, optarg))
            asf__bad_option("compare", option, argv);
    }
    if (optind == argc)
        asf__fail("compare: no program given; see 'asf compare --help'");
    c->argv = argv + optind;
    return true;
}

int asf__compare(int argc, char **argv) {
    static struct comparison c = {.serving = {.prepare = redirect_streams}};
    if (!parse_compare(&c, argc, argv))
        return asf__help_of("compare");
    if (fcntl(STDOUT_FILENO, F_GETFD) < 0)
        asf__fail("compare: standard output: fcntl: %s; redirect it to a file", strerror(errno));
    current_comparison = &c;
    c.program = asf__find_program(c.argv[0]);
    asf__preload(c.serving.library); /* a missing library must fail before the first run */
    if (access(path_of(STDOUT_FILENO), F_OK) != 0)
        asf__fail("compare: /proc/self/fd: access: %s; mount /proc", strerror(errno));
    signal(SIGCHLD, SIG_DFL);
    sigxfsz_action = signal(SIGXFSZ, SIG_IGN);
    asf__die_by_signals();
    copy_input_to_file();
    run_pairs(&c);
    return report_result(&c);
}
