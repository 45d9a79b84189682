/* SPDX-License-Identifier: MIT
 *
 * command_compare.c - "asf compare": a program plainly and served, in turns; what it prints compared byte
 * for byte, and the time it takes.
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

#include "interfaces/command/command_json.h"
#include "interfaces/command/command_measure.h"
#include "interfaces/command/command_report.h"
#include "interfaces/command/command_table.h"

enum { MOST_RUNS = 1000, USUAL_RUNS = 9, LEAST_RUNS = 3, DIFFERS = 1, CANNOT_COMPARE = 2, FAILS = 3 };

/* All runs together take about so long, unless --runs says how many there are; seconds. */
static const double limit = 30;

enum way { PLAIN, SERVED };

struct sample {
    double cpu, elapsed; /* seconds */
};

/* The result of one run. */
struct outcome {
    int output, errors; /* files */
    int status;         /* as wait has it */
};

struct comparison {
    char **argv;
    struct serving serving;
    const char *output; /* where standard output goes; NULL: to a file, and is compared */
    int runs;           /* 0: by the time they take */
    bool json;
    struct sample samples[2][MOST_RUNS];
    int count;
    struct outcome reference, latest; /* of the first run, which is plain, and of the latest */
    const char *difference;           /* NULL: none yet */
};

/* --- standard input -------------------------------------------------------------------------- */

static void give_up(const char *what, int error) {
    asf__fail("compare: %s: %s; set TMPDIR to a directory with room", what, strerror(error));
}

/* A pipe cannot be read twice: its bytes are copied to a file, which becomes standard input. */
static void keep_input(void) {
    struct stat st;
    static char buffer[1 << 16];
    if (fstat(STDIN_FILENO, &st) < 0 || S_ISCHR(st.st_mode) ||
        (S_ISREG(st.st_mode) && lseek(STDIN_FILENO, 0, SEEK_CUR) == 0))
        return;
    int kept = asf__temporary("compare", NULL);
    FILE *to = fdopen(kept, "w");
    for (size_t n; to && (n = fread(buffer, 1, sizeof buffer, stdin)) > 0;)
        fwrite(buffer, 1, n, to);
    if (!to || ferror(stdin) || fflush(to) != 0 || ferror(to))
        give_up("standard input cannot be kept", errno);
    dup2(kept, STDIN_FILENO);
    fclose(to);
}

/* --- one run ------------------------------------------------------------------------------------ */

static const struct comparison *current; /* for the child */

static void redirect(int to, const char *path, int flags) {
    int fd = open(path, flags, 0666);
    if (fd < 0 || dup2(fd, to) < 0)
        asf__fail("compare: %s: open: %s", path, strerror(errno));
    close(fd);
}

static const char *path_of(int fd) {
    return asf__text("/proc/self/fd/%d", fd);
}

/* Each run begins at the beginning of its files. */
static void prepare(void) {
    const struct comparison *c = current;
    struct stat st;
    if (fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode))
        redirect(STDIN_FILENO, path_of(STDIN_FILENO), O_RDONLY);
    redirect(STDOUT_FILENO, c->output ? c->output : path_of(c->latest.output), O_WRONLY | O_CREAT | O_TRUNC);
    redirect(STDERR_FILENO, path_of(c->latest.errors), O_WRONLY | O_TRUNC);
}

static void become(const struct comparison *c, enum way way, int failure) {
    int errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    prepare();
    if (way == SERVED)
        _exit(asf__execute(c->argv, &c->serving));
    execvp(c->argv[0], c->argv);
    int error = errno;
    dup2(errors, STDERR_FILENO);
    dprintf(failure, "%s", strerror(error));
    _exit(EXIT_CANNOT_RUN);
}

static double seconds_of(const struct timeval *t) {
    return (double)t->tv_sec + 1e-6 * (double)t->tv_usec;
}

/* errors  ends the process with CANNOT_COMPARE if the program does not start. */
static struct sample run_once(struct comparison *c, enum way way) {
    int failure[2];
    char error[128];
    struct rusage usage;
    if (pipe2(failure, O_CLOEXEC) < 0)
        asf__fail("compare: pipe: %s", strerror(errno));
    double began = asf__seconds();
    pid_t child = fork();
    if (child < 0)
        asf__fail("compare: fork: %s; end some processes", strerror(errno));
    if (child == 0)
        become(c, way, failure[1]);
    close(failure[1]);
    FILE *why = fdopen(failure[0], "r");
    bool failed = why && fgets(error, sizeof error, why);
    if (why)
        fclose(why);
    while (wait4(child, &c->latest.status, 0, &usage) < 0)
        if (errno != EINTR)
            asf__fail("compare: wait: %s", strerror(errno));
    if (failed) {
        asf__warn("%s: exec: %s; check the name, its permissions and PATH", c->argv[0], error);
        exit(CANNOT_COMPARE);
    }
    return (struct sample){seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime), asf__seconds() - began};
}

/* --- compared -------------------------------------------------------------------------------------- */

static FILE *open_again(int fd) {
    FILE *file = fopen(path_of(fd), "re");
    if (!file)
        give_up("what was printed cannot be read", errno);
    return file;
}

/* Where two files differ first; NULL: nowhere. */
static const char *difference_of(const char *name, int first, int second) {
    FILE *a = open_again(first), *b = open_again(second);
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
                              i == n   ? ": it goes on there"
                              : i == m ? ": it ends there"
                                       : "");
        offset += n;
    }
    fclose(a);
    fclose(b);
    return found;
}

static const char *status_text(int status) {
    return WIFSIGNALED(status) ? asf__text("signal %d", WTERMSIG(status))
                               : asf__text("exit status %d", WEXITSTATUS(status));
}

/* How the latest run differs from the first; NULL: it does not. */
static const char *find_difference(const struct comparison *c) {
    const struct outcome *a = &c->reference, *b = &c->latest;
    const char *found = c->output ? NULL : difference_of("standard output", a->output, b->output);
    if (!found)
        found = difference_of("standard error", a->errors, b->errors);
    if (!found && a->status != b->status)
        found = asf__text("%s in place of %s", status_text(b->status), status_text(a->status));
    return found;
}

static void note_difference(struct comparison *c, enum way way) {
    const char *found = c->difference ? NULL : find_difference(c);
    if (found && way == SERVED) {
        run_once(c, PLAIN);
        way = find_difference(c) ? PLAIN : SERVED;
    }
    if (found)
        c->difference =
            asf__text(way == SERVED ? "differs: %s" : "differs from run to run, without asf too: %s", found);
}

/* --- the runs ---------------------------------------------------------------------------------------- */

static void show_progress(int done, int all) {
    enum { WIDTH = 30 };
    char bar[WIDTH + 1] = "..............................";
    memset(bar, '#', (size_t)(done * WIDTH / all));
    if (isatty(STDERR_FILENO))
        fprintf(stderr, done < all ? "\r\033[K[%s] run %d of %d" : "\r\033[K", bar, done + 1, all);
}

static unsigned random_word(void) {
    unsigned word = 0;
    return getrandom(&word, sizeof word, 0) == sizeof word ? word : (unsigned)rand();
}

/* As many as there is time for. */
static int count_runs(const struct comparison *c, double both) {
    int fit = both > 0 ? (int)(limit / both) : USUAL_RUNS;
    return c->runs ? c->runs : fit < LEAST_RUNS ? LEAST_RUNS : fit < USUAL_RUNS ? fit : USUAL_RUNS;
}

static struct outcome new_outcome(void) {
    return (struct outcome){.output = asf__temporary("compare", NULL),
                            .errors = asf__temporary("compare", NULL)};
}

/* The first of each warms up.  The plain one is what all others are compared with. */
static void run_all(struct comparison *c) {
    c->latest = new_outcome();
    double both = run_once(c, PLAIN).elapsed;
    c->reference = c->latest;
    c->latest = new_outcome();
    both += run_once(c, SERVED).elapsed;
    note_difference(c, SERVED);
    int runs = count_runs(c, both);
    for (; c->count < runs && !c->difference; c->count++) {
        enum way first = random_word() % 2 ? SERVED : PLAIN;
        for (int i = 0; i < 2; i++) {
            enum way way = i == 0 ? first : !first;
            show_progress(2 * c->count + i, 2 * runs);
            c->samples[way][c->count] = run_once(c, way);
            note_difference(c, way);
        }
    }
    show_progress(runs, runs);
}

/* --- what follows ------------------------------------------------------------------------------------ */

static int by_size(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double median(double *v, int n) {
    qsort(v, (size_t)n, sizeof *v, by_size);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* A median and the interval of 95 in 100. */
struct estimate {
    double value, low, high;
};

struct estimates {
    struct estimate way[2], ratio; /* ratio: plain by served */
};

static double value_of(const struct comparison *c, enum way way, int i, bool cpu) {
    const struct sample *s = &c->samples[way][i];
    return cpu ? s->cpu : s->elapsed;
}

static struct estimate interval(double *drawn, int n, double value) {
    qsort(drawn, (size_t)n, sizeof *drawn, by_size);
    return (struct estimate){value, drawn[n / 40], drawn[n - 1 - n / 40]};
}

/* By bootstrap: rounds are drawn with replacement. */
static struct estimates estimate(const struct comparison *c, bool cpu) {
    enum { DRAWS = 2000 };
    static double drawn[3][DRAWS], v[2][MOST_RUNS];
    double m[2] = {0, 0};
    for (int draw = -1; draw < DRAWS; draw++) {
        for (int i = 0; i < c->count; i++) {
            int from = draw < 0 ? i : (int)(random_word() % (unsigned)c->count);
            for (int way = PLAIN; way <= SERVED; way++)
                v[way][i] = value_of(c, (enum way)way, from, cpu);
        }
        double plain = median(v[PLAIN], c->count), served = median(v[SERVED], c->count);
        if (draw < 0)
            m[PLAIN] = plain, m[SERVED] = served;
        else
            drawn[PLAIN][draw] = plain, drawn[SERVED][draw] = served,
            drawn[2][draw] = served > 0 ? plain / served : 1;
    }
    double ratio = m[SERVED] > 0 ? m[PLAIN] / m[SERVED] : 1;
    return (struct estimates){
        {interval(drawn[PLAIN], DRAWS, m[PLAIN]), interval(drawn[SERVED], DRAWS, m[SERVED])},
        interval(drawn[2], DRAWS, ratio)};
}

/* A difference of less than 1 in 100 is none to anybody. */
static bool is_difference(const struct estimate *ratio) {
    return (ratio->low > 1 && ratio->value > 1.01) || (ratio->high < 1 && ratio->value < 0.99);
}

static const char *no_gain(const struct report *r) {
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->streams[i].module, "kernel") != 0)
            return NULL;
    return r->obstacle     ? "it is not served"
           : r->count == 0 ? "it does no I/O that asf serves"
                           : "it does its I/O by itself";
}

static const char *verdict_of(const struct comparison *c, const struct estimates *e, const struct report *r) {
    const struct estimate *ratio = &e->ratio;
    const char *same = c->output ? "same messages and status" : "same output";
    if (c->difference)
        return c->difference;
    if (is_difference(ratio) && ratio->value > 1 && !r->obstacle)
        return asf__text("%.2f times as fast, %s", ratio->value, same);
    if (no_gain(r))
        return asf__text("no gain: %s, %s", no_gain(r), same);
    if (!is_difference(ratio))
        return asf__text("no difference that can be told, %s", same);
    return asf__text("slower: by %.1f ms, or %.2f times the time, %s",
                     1e3 * (e->way[SERVED].value - e->way[PLAIN].value), 1 / ratio->value, same);
}

/* --- told -------------------------------------------------------------------------------------------- */

static void print_row(const char *what, const struct estimates *e) {
    const struct estimate *p = &e->way[PLAIN], *s = &e->way[SERVED], *r = &e->ratio;
    printf("  %-9s %8.4f s (%.4f-%.4f)  %8.4f s (%.4f-%.4f)   %.2f (%.2f-%.2f)\n", what, p->value, p->low,
           p->high, s->value, s->low, s->high, r->value, r->low, r->high);
}

static void print_table(const struct comparison *c, const struct estimates e[2]) {
    printf("  %-9s %-28s %-28s %s\n", "", "   plain", "   with asf", "ratio");
    print_row("user+sys", &e[0]);
    print_row("elapsed", &e[1]);
    printf("  medians of %d runs each, with intervals of 95 in 100\n", c->count);
}

static void print_estimate(const char *name, const struct estimate *e, const char *after) {
    printf("\"%s\": {\"median\": %.6f, \"low\": %.6f, \"high\": %.6f}%s", name, e->value, e->low, e->high,
           after);
}

static void print_json(const struct comparison *c, const struct estimates e[2], const char *verdict,
                       const char *advice) {
    static const char *const names[] = {"user_and_system", "elapsed"};
    const int status = c->reference.status;
    printf("{\"same\": %s, \"runs\": %d, \"status\": %d,\n", c->difference ? "false" : "true", c->count,
           WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
    for (int i = 0; i < 2 && !c->difference; i++) {
        printf(" \"%s\": {", names[i]);
        print_estimate("plain", &e[i].way[PLAIN], ", ");
        print_estimate("asf", &e[i].way[SERVED], ", ");
        print_estimate("ratio", &e[i].ratio, "},\n");
    }
    fputs(" \"verdict\": ", stdout);
    asf__put_json(verdict);
    fputs(",\n \"advice\": ", stdout);
    asf__put_json(advice);
    puts("}");
}

/* Reports that the program fails without asf, with the first lines of its messages, which nobody has seen. */
static void tell_of_failure(const struct comparison *c) {
    enum { LINES = 5 };
    char *line = NULL;
    size_t room = 0;
    FILE *messages = open_again(c->reference.errors);
    bool more = getline(&line, &room, messages) > 0;
    asf__warn("%s fails %s: %s%s", c->argv[0], c->difference ? "without asf" : "in each run, without asf too",
              status_text(c->reference.status), more ? "; it says" : ", without a message");
    for (int i = 0; i < LINES && more; i++) {
        asf__warn("  %.*s", (int)strcspn(line, "\n"), line);
        more = getline(&line, &room, messages) > 0;
    }
    if (more)
        asf__warn("  ...");
    free(line);
    fclose(messages);
}

static int tell(struct comparison *c) {
    struct report r;
    struct estimates e[2] = {0};
    asf__report_program(c->argv, &c->serving, &r);
    r.compared = true;
    for (int i = 0; i < 2 && c->count > 0; i++)
        e[i] = estimate(c, i == 0);
    const char *verdict = verdict_of(c, &e[0], &r), *advice = asf__advice(&r);
    const bool fails = c->reference.status != 0;
    if (fails)
        tell_of_failure(c);
    if (c->json) {
        print_json(c, e, verdict, advice);
    } else {
        printf("%s\n", verdict);
        if (!c->difference)
            print_table(c, e);
        printf("advice: %s\n", advice);
    }
    int failed = asf__close_stdout();
    return failed ? failed : c->difference ? DIFFERS : fails ? FAILS : 0;
}

/* --- the command -----------------------------------------------------------------------------------------
 */

static int parse_runs(const char *text) {
    char *end;
    long n = strtol(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || n < LEAST_RUNS || n > MOST_RUNS)
        asf__fail("compare: --runs %s: give a number from %d to %d", text, LEAST_RUNS, MOST_RUNS);
    return (int)n;
}

static bool parse(struct comparison *c, int argc, char **argv) {
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
    static struct comparison c = {.serving = {.prepare = prepare}};
    if (!parse(&c, argc, argv))
        return asf__help_of("compare");
    current = &c;
    asf__preload(c.serving.library); /* fails here, if it does */
    if (access(path_of(STDERR_FILENO), F_OK) != 0)
        asf__fail("compare: /proc/self/fd: access: %s; mount /proc", strerror(errno));
    signal(SIGCHLD, SIG_DFL);
    keep_input();
    run_all(&c);
    return tell(&c);
}
