/* SPDX-License-Identifier: MIT
 *
 * unix_sequences.c - runs random sequences of Unix I/O and stdio on the descriptors 0 to 5, each in a
 * separate process. Prints a line for each: its seed and a hash of the results of its calls, the ends of
 * its processes, the offsets of inherited descriptors, and the files.
 *
 *     unix_sequences run FIRST COUNT          in the working directory, which is written to
 *     unix_sequences show SEED [STEP,STEP...] prints the hashed text; only with these steps
 *     unix_sequences resume SEED STEPS FROM TO ENDING
 *
 * A sequence runs `resume` when it starts a program that continues it. random_sequences.py compares the
 * lines of a run without asf with those under a preloaded library.
 */
#include "tests/interfaces/unix/sequences.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

enum { LOG_SIZE = 1 << 19, LONGEST_RUN = 3, LARGEST_FILE = 16 << 20, SHOWN_OF_A_FILE = 1 << 17 };

static struct log {
    uint32_t used;
    char text[LOG_SIZE - sizeof(uint32_t)];
} * transcript;

static struct step plan[MOST_STEPS];
static unsigned planned;
static uint64_t seed;
static int favourite;
static const char *kept = "";
static bool is_kept[MOST_STEPS];
struct range range;
bool in_child;
const char *program;

/* --- the log ---------------------------------------------------------------------------- */

static void append(const char *text, size_t n) {
    size_t room = sizeof transcript->text - transcript->used;
    n = n < room ? n : room;
    memcpy(transcript->text + transcript->used, text, n);
    transcript->used += (uint32_t)n;
}

void say(const char *format, ...) {
    char text[512];
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    append(text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

long say_result(const char *what, long result) {
    int error = errno;
    if (result < 0)
        say(" %s=%ld %s", what, result, error ? strerrorname_np(error) : "without errno");
    else
        say(" %s=%ld", what, result);
    return result;
}

static uint64_t hash(uint64_t h, const char *p, size_t n) {
    for (uint64_t word; n > 0; p += sizeof word, n -= n < sizeof word ? n : sizeof word) {
        word = 0;
        memcpy(&word, p, n < sizeof word ? n : sizeof word);
        h = (h ^ word) * 1099511628211U;
        h ^= h >> 29;
    }
    return h;
}

static const uint64_t nothing = 14695981039346656037U;

static void say_escaped(const char *p, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (p[i] == '\n')
            append("\\n", 2);
        else if (p[i] < ' ' || p[i] > '~')
            say("\\%o", (unsigned char)p[i]);
        else
            append(p + i, 1);
}

void say_bytes(const char *p, size_t n) {
    const size_t shown = 24;
    append(" \"", 2);
    if (n <= 2 * shown) {
        say_escaped(p, n);
        append("\"", 1);
        return;
    }
    say_escaped(p, shown);
    append("\"...\"", 5);
    say_escaped(p + n - shown, shown);
    say("\" hash %016lx", hash(nothing, p, n));
}

/* The log is a file, so that a program that a sequence executes can map it, too. */
static void map_log(int flags) {
    long fd = raw(SYS_openat, AT_FDCWD, (long)"log", O_RDWR | O_CLOEXEC | flags, 0600);
    raw(SYS_ftruncate, fd, sizeof *transcript, 0, 0);
    transcript = mmap(NULL, sizeof *transcript, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
    raw(SYS_close, fd, 0, 0, 0);
}

/* --- the plan ----------------------------------------------------------------------------- */

/* splitmix64 */
static uint64_t state;

static uint64_t next(void) {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static unsigned any(unsigned below) {
    return (unsigned)(next() % below);
}

static const struct kind *const all_kinds[] = {
    descriptor_kinds,
#ifdef __GLIBC__ /* tests/interfaces/stdio/musl_differences.txt lists the differences on musl */
    stdio_kinds,
#endif
    process_kinds,
    bulk_kinds,
};

bool is_bulk_plan(void) {
    return seed >= BULK_SEEDS;
}

void publish(void) {
    if (!is_bulk_plan())
        return;
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
}

static const struct kind *kind_of(unsigned needed, unsigned refused) {
    const struct kind *candidate[100];
    unsigned n = 0, weights = 0;
    for (size_t i = 0; i < COUNT(all_kinds) - !is_bulk_plan(); i++)
        for (const struct kind *k = all_kinds[i]; k->name; k++)
            if ((k->traits & needed) == needed && !(k->traits & refused)) {
                candidate[n++] = k;
                weights += k->weight;
            }
    unsigned chosen = any(weights);
    for (unsigned i = 0; i < n; i++) {
        if (chosen < candidate[i]->weight)
            return candidate[i];
        chosen -= candidate[i]->weight;
    }
    return candidate[0];
}

static void make_steps(unsigned count, unsigned needed, unsigned refused, bool threads) {
    while (count-- > 0 && planned < MOST_STEPS) {
        struct step *s = &plan[planned++];
        s->kind = kind_of(needed, refused);
        s->children = 0;
        for (int i = 0; i < WORDS; i++)
            s->word[i] = (uint32_t)next();
        s->threaded = threads && !(s->kind->traits & (PARENT | SLOW | TOP)) && any(3) == 0;
        if (!(s->kind->traits & PARENT))
            continue;
        unsigned before = planned;
        make_steps(1 + any(5), s->kind->traits & SAFE, refused | TOP | (needed & SAFE ? PARENT : 0),
                   threads && !(s->kind->traits & SAFE));
        s->children = planned - before;
    }
}

static void make_plan(void) {
    state = seed * 0x2545f4914f6cdd1d + 1;
    planned = 0;
    favourite = any(3) ? 0 : (int)any(NUMBERS);
    bool threads = any(10) == 0, slow = any(5) == 0;
    make_steps(4 + any(28), 0, slow ? 0 : SLOW, threads);
    for (unsigned i = 0; i < MOST_STEPS; i++)
        is_kept[i] = !*kept;
    for (const char *p = kept; *p; p += *p == ',') {
        char *end;
        unsigned long i = strtoul(p, &end, 10);
        if (i < MOST_STEPS)
            is_kept[i] = true;
        p = end > p ? end : p + 1;
    }
}

int number_of(uint32_t word) {
    int n = word % 2 ? favourite : (int)(word / 2 % NUMBERS);
    publish_others(n);
    return n;
}

/* a, b and c have 100, 3 and 20 kilobytes; e is empty; n is not there. */
static const char *const paths[] = {"a", "a", "a", "a", "b", "c", "c", "e", "o0", "o1", "n", "/dev/null"};

const char *path_of(uint32_t word) {
    return PICK(paths, word);
}

void fill(char *p, size_t n, uint32_t word) {
    for (size_t i = 0; i < n; i++)
        p[i] = i % 16 == 15 ? '\n' : (char)('A' + (word + i) % 26);
}

int keep_low(int fd) {
    if (fd < NUMBERS)
        return fd;
    RESULT("close", close(fd));
    return -1;
}

/* --- running ------------------------------------------------------------------------------- */

void set_alarm(void) {
    struct itimerval time = {.it_value = {LONGEST_RUN, 0}};
    raw(SYS_setitimer, ITIMER_REAL, (long)&time, 0, 0);
}

static void *run_threaded(void *step) {
    const struct step *s = step;
    s->kind->run(s);
    return NULL;
}

static void run_one(struct step *s) {
    pthread_t thread;
    if (!s->threaded)
        s->kind->run(s);
    else if (pthread_create(&thread, NULL, run_threaded, s) == 0)
        pthread_join(thread, NULL);
}

void run_steps(unsigned from, unsigned to) {
    for (unsigned i = from; i < to; i += 1 + plan[i].children)
        if (is_kept[i]) {
            say("\n%u %s%s:", i, plan[i].kind->name, plan[i].threaded ? " in a thread" : "");
            range.at = i;
            range.end = to;
            run_one(&plan[i]);
        }
}

static void end_process(uint32_t ending) {
    static const char *const names[] = {"exit",       "exit",  "_exit",   "exit",
                                        "quick_exit", "_Exit", "SIGKILL", "exit"};
    say("\nends by %s", PICK(names, ending));
    if (strcmp(PICK(names, ending), "exit") !=
        0) /* without publish, the others lose a bulk stream's output */
        publish();
    switch (ending % COUNT(names)) {
    case 2:
        _exit(2);
    case 4:
        quick_exit(4);
    case 5:
        _Exit(5);
    case 6:
        raw(SYS_kill, raw(SYS_getpid, 0, 0, 0, 0), SIGKILL, 0, 0);
        break;
    default:
        exit((int)(ending % COUNT(names)));
    }
}

void run_child(const struct step *s, bool safe) {
    unsigned from = (unsigned)(s - plan) + 1;
    set_alarm();
    in_child = true;
    range.ending = s->word[WORDS - 1];
    run_steps(from, from + s->children);
    if (safe)
        _exit(6);
    end_process(range.ending);
    abort();
}

char **arguments_from(unsigned at, unsigned end, uint32_t ending) {
    static char text[4][24];
    static char *argv[8];
    snprintf(text[0], sizeof text[0], "%lu", seed);
    snprintf(text[1], sizeof text[1], "%u", at);
    snprintf(text[2], sizeof text[2], "%u", end);
    snprintf(text[3], sizeof text[3], "%u", ending);
    char *made[] = {(char *)program, "resume", text[0], (char *)kept, text[1], text[2], text[3], NULL};
    memcpy(argv, made, sizeof made);
    return argv;
}

static int resume(char **argv) {
    seed = strtoul(argv[0], NULL, 10);
    kept = argv[1];
    map_log(0);
    make_plan();
    set_alarm(); /* a spawned program has no alarm yet */
    range.ending = (uint32_t)strtoul(argv[4], NULL, 10);
    run_steps((unsigned)strtoul(argv[2], NULL, 10), (unsigned)strtoul(argv[3], NULL, 10));
    end_process(range.ending);
    return 1;
}

/* --- one sequence: its initial files, and its results ---------------------------------------- */

static const struct {
    const char *name;
    unsigned size;
} inputs[] = {{"a", 100000}, {"b", 3000}, {"c", 20000}, {"e", 0}, {"o0", 0}, {"o1", 0}},
  outputs[] = {{"n", 0}, {"o2", 0}, {"d", 0}};

/* Each line contains its file's name and its offset. */
static void put_input(const char *name, unsigned size) {
    static char lines[6][100000];
    unsigned i = (unsigned)(name[0] - 'a');
    if (size > 0 && !lines[i][0])
        for (unsigned at = 0; at < size; at += 10) {
            char line[32];
            snprintf(line, sizeof line, "%c%08u\n", name[0], at);
            memcpy(lines[i] + at, line, 10);
        }
    long fd = raw(SYS_openat, AT_FDCWD, (long)name, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (size > 0)
        raw(SYS_write, fd, (long)lines[i], size, 0);
    raw(SYS_close, fd, 0, 0, 0);
}

static void remove_files(void) {
    for (size_t i = 0; i < COUNT(inputs); i++)
        raw(SYS_unlinkat, AT_FDCWD, (long)inputs[i].name, 0, 0);
    for (size_t i = 0; i < COUNT(outputs); i++)
        raw(SYS_unlinkat, AT_FDCWD, (long)outputs[i].name, 0, 0);
}

static void open_at(int number, const char *path, int flags) {
    long fd = raw(SYS_openat, AT_FDCWD, (long)path, flags, 0600);
    if (fd == number || fd < 0)
        return;
    raw(SYS_dup3, fd, number, 0, 0);
    raw(SYS_close, fd, 0, 0, 0);
}

/* Makes the files and descriptors that the sequence inherits. Copies of the descriptors stay in this
 * process, to show the offsets afterwards. */
static void put_files(void) {
    remove_files();
    for (size_t i = 0; i < COUNT(inputs); i++)
        put_input(inputs[i].name, inputs[i].size);
    open_at(INHERITED, "a", O_RDONLY);
    open_at(INHERITED + 1, "c", O_RDWR);
    open_at(INHERITED + 2, "o0", O_WRONLY | O_APPEND);
}

static void limit(int what, rlim_t to) {
    struct rlimit l = {to, to};
    raw(SYS_prlimit64, 0, what, (long)&l, 0);
}

static void run_sequence(void) {
    for (int i = 0; i < NUMBERS; i++)
        raw(SYS_close, i, 0, 0, 0);
    for (int i = 0; i < 3; i++)
        if (any(8))
            raw(SYS_dup3, INHERITED + (any(4) ? i : (int)any(INHERITED_COUNT)), i, 0, 0);
    for (int i = 0; i < NUMBERS; i++)
        if (any(5) == 0)
            open_at(i, path_of((uint32_t)next()), O_RDONLY);
    limit(RLIMIT_FSIZE, LARGEST_FILE);
    limit(RLIMIT_CORE, 0);
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    set_alarm();
    range.ending = (uint32_t)next();
    run_steps(0, planned);
    end_process(range.ending);
}

static void say_file(const char *name) {
    static char text[SHOWN_OF_A_FILE];
    long fd = raw(SYS_openat, AT_FDCWD, (long)name, O_RDONLY | O_NONBLOCK, 0);
    if (fd < 0)
        return;
    say("\nfile %s: %ld", name, raw(SYS_lseek, fd, 0, SEEK_END, 0));
    long n = raw(SYS_pread64, fd, (long)text, sizeof text, 0);
    say_bytes(text, n > 0 ? (size_t)n : 0);
    raw(SYS_close, fd, 0, 0, 0);
}

static void say_what_is_left(void) {
    for (int i = 0; i < INHERITED_COUNT; i++)
        say("\ninherited %d stands at %ld", i, raw(SYS_lseek, INHERITED + i, 0, SEEK_CUR, 0));
    for (size_t i = 0; i < COUNT(inputs); i++)
        say_file(inputs[i].name);
    for (size_t i = 0; i < COUNT(outputs); i++)
        say_file(outputs[i].name);
    say("\n");
}

/* Kills the commands that a sequence has left. One may wait for ever for a pipe whose other end it has
 * itself. */
static void kill_children(int sig) {
    char list[4096];
    (void)sig;
    long fd = raw(SYS_openat, AT_FDCWD, (long)"/proc/thread-self/children", O_RDONLY, 0);
    long n = raw(SYS_read, fd, (long)list, sizeof list - 1, 0);
    raw(SYS_close, fd, 0, 0, 0);
    list[n > 0 ? n : 0] = '\0';
    char *at = list;
    for (long pid; (pid = strtol(at, &at, 10)) > 0;)
        raw(SYS_kill, pid, SIGKILL, 0, 0);
}

/* Daemons and other processes left by the sequence are children of this process by then. */
static void wait_for_children(pid_t first, int *first_status, int *later) {
    int status;
    struct itimerval times = {.it_value = {3 * LONGEST_RUN, 0}, .it_interval = {1, 0}},
                     never = {{0, 0}, {0, 0}};
    signal(SIGALRM, kill_children);
    raw(SYS_setitimer, ITIMER_REAL, (long)&times, 0, 0);
    for (pid_t pid; (pid = waitpid(-1, &status, 0)) > 0;)
        if (pid == first || status != 0) /* musl's daemon() forks twice, and the first child ends with 0 */
            *(pid == first ? first_status : later) = status;
    raw(SYS_setitimer, ITIMER_REAL, (long)&never, 0, 0);
    signal(SIGALRM, SIG_DFL);
}

static void one_sequence(void) {
    int first_status = -1, later = 0;
    transcript->used = 0;
    make_plan();
    put_files();
    pid_t first = fork();
    if (first == 0) {
        run_sequence();
        _exit(9);
    }
    wait_for_children(first, &first_status, &later);
    say("\nstatus %d, and of a daemon %d", first_status, later);
    say_what_is_left();
}

static int run(unsigned long first, unsigned long count, bool shown) {
    char *lines = malloc(count * 40 + 1);
    size_t used = 0;
    map_log(O_CREAT);
    raw(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0);
    for (seed = first; seed < first + count; seed++) {
        one_sequence();
        if (shown)
            raw(SYS_write, 1, (long)transcript->text, transcript->used, 0);
        else
            used += (size_t)sprintf(lines + used, "%lu %016lx\n", seed,
                                    hash(nothing, transcript->text, transcript->used));
    }
    raw(SYS_write, 1, (long)lines, (long)used, 0);
    remove_files();
    return 0;
}

int main(int argc, char **argv) {
    program = argv[0];
    if (argc == 7 && strcmp(argv[1], "resume") == 0)
        return resume(argv + 2);
    if (argc == 4 && strcmp(argv[1], "run") == 0)
        return run(strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10), false);
    kept = argc == 4 ? argv[3] : "";
    if (argc >= 3 && strcmp(argv[1], "show") == 0)
        return run(strtoul(argv[2], NULL, 10), 1, true);
    fputs("usage: unix_sequences run FIRST COUNT | show SEED [STEP,STEP...]\n", stderr);
    return 2;
}
