/* SPDX-License-Identifier: MIT
 *
 * steps.c - performs the steps that its arguments name, in order, on its standard streams. It logs the
 * results in the file "steps.log" by write(). A probe for tests/: with a preloaded library, output, files,
 * log and exit status must be the same as with libc.
 *
 *     steps out=putc,5000 err=10 fork out=fputs,5 _exit=0 end exit=3
 *
 * The steps from "fork" to its "end" run in the child. A child that has not ended by then continues after
 * "end", as the parent does after waiting for the child.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio_ext.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emit.h"

extern char **environ;

static int log_fd;
static size_t emitted, emitted_err, emitted_raw;
static size_t at_exit_bytes;

/* write() whose failure is ignored: there is no place to report it. */
static void put(int fd, const char *text, size_t n) {
    if (write(fd, text, n) < 0)
        return;
}

static void note(const char *format, ...) {
    char line[600];
    va_list list;
    va_start(list, format);
    int n = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    put(log_fd, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
}

static const char *error_name(int error) {
    return error ? strerrorname_np(error) : "0";
}

static long number(const char *text) {
    return text ? atol(text) : 0;
}

/* Splits "CALL,N". */
static size_t call_and_size(char *value, char **call) {
    char *comma = strchr(value, ',');
    if (comma)
        *comma = '\0';
    *call = value;
    return comma ? (size_t)number(comma + 1) : 0;
}

/* ---- output ---- */

static void do_out(char *value) {
    char *call;
    size_t n = call_and_size(value, &call);
    emit(stdout, call, emitted, n);
    emitted += n;
}

static void do_err(char *value) {
    size_t n = (size_t)number(value);
    for (size_t i = 0; i < n; i++)
        fputc("<error text>\n"[emitted_err++ % 13], stderr);
}

static void write_marked(int fd, size_t n, const char *mark) {
    char *text = malloc(n + 1);
    if (!text)
        abort();
    for (size_t i = 0; i < n; i++)
        text[i] = mark[emitted_raw++ % strlen(mark)];
    put(fd, text, n);
    free(text);
}

static void do_raw(char *value) {
    write_marked(1, (size_t)number(value), "{raw}");
}
static void do_rawerr(char *value) {
    write_marked(2, (size_t)number(value), "(raw err)");
}
static void do_say(char *value) {
    fputs(value, stdout);
}
static void do_complain(char *value) {
    errno = ENOENT;
    perror(value);
}

static void do_flush(char *value) {
    int bad = fflush(value && !strcmp(value, "all")     ? NULL
                     : value && !strcmp(value, "stdin") ? stdin
                                                        : stdout);
    note("flush %d %s\n", bad, error_name(bad ? errno : 0));
}

static void do_setvbuf(char *value) {
    char *kind;
    size_t n = call_and_size(value, &kind);
    int mode = !strcmp(kind, "none") ? _IONBF : !strcmp(kind, "line") ? _IOLBF : _IOFBF;
    note("setvbuf %d\n", setvbuf(stdout, NULL, mode, n));
}

static void do_seek(char *value) {
    int bad = fseeko(stdout, number(value), SEEK_SET);
    note("fseeko %d %s\n", bad, error_name(bad ? errno : 0));
}

static void do_fclose(char *value) {
    int bad = fclose(!value || !strcmp(value, "stdout") ? stdout : stdin);
    note("fclose %d %s\n", bad, error_name(bad ? errno : 0));
}

static void do_reopen(char *value) {
    if (!freopen(value, "w", stdout))
        note("freopen %s\n", error_name(errno));
}

static void do_outerror(char *value) {
    (void)value;
    note("stdout ferror %d\n", !!ferror(stdout));
}

static void exit_output(void) {
    emit(stdout, "putc", emitted, at_exit_bytes);
}

static void do_atexit(char *value) {
    at_exit_bytes = (size_t)number(value);
    atexit(exit_output);
}

/* Writes another file by its own stream, and closes it; with "+" leaves it open. */
static void do_file(char *value) {
    char *path;
    size_t n = call_and_size(value, &path);
    int keep = *path == '+';
    FILE *file = fopen(path + keep, "a");
    if (!file) {
        note("fopen %s %s\n", path, error_name(errno));
        return;
    }
    emit(file, "fputs", 0, n);
    if (!keep && fclose(file))
        note("fclose %s %s\n", path, error_name(errno));
}

/* ---- input ---- */

static void note_input(const char *what, const char *text, size_t n) {
    int error = errno;
    char shown[61];
    size_t kept = n < 60 ? n : 60;
    memcpy(shown, text, kept);
    for (size_t i = 0; i < kept; i++)
        if (shown[i] < ' ')
            shown[i] = '.';
    shown[kept] = '\0';
    note("%s: %zu '%s'%s%s", what, n, shown, feof(stdin) ? " eof" : "", ferror(stdin) ? " error " : "");
    note("%s\n", ferror(stdin) ? error_name(error) : "");
}

static void do_line(char *value) {
    char line[5000] = "";
    long times = value ? number(value) : 1;
    errno = 0;
    for (long i = 0; i < times; i++) {
        line[0] = '\0';
        if (!fgets(line, sizeof line, stdin))
            break;
    }
    note_input("line", line, strlen(line));
}

static void do_getline(char *value) {
    char *line = NULL;
    size_t size = 0;
    errno = 0;
    ssize_t n = getdelim(&line, &size, value ? *value : '\n', stdin);
    note_input("getline", n < 0 ? "" : line, n < 0 ? 0 : (size_t)n);
    free(line);
}

static void do_fread(char *value) {
    size_t n = (size_t)number(value);
    char *data = malloc(n + 1);
    if (!data)
        abort();
    errno = 0;
    n = fread(data, 1, n, stdin);
    note_input("fread", data, n);
    free(data);
}

static void do_getc(char *value) {
    long n = number(value);
    char last = 0;
    errno = 0;
    for (long i = 0; i < n; i++) {
        int c = getc(stdin);
        if (c == EOF)
            break;
        last = (char)c;
    }
    note_input("getc", &last, 1);
}

static void do_ungetc(char *value) {
    note("ungetc %d\n", ungetc(*value, stdin));
}

static void do_scan(char *value) {
    char word[100] = "";
    (void)value;
    int got = scanf("%99s", word);
    note_input(got == 1 ? "scan" : "no scan", word, strlen(word));
}

/* Reads the rest of the input; logs its length and a checksum. */
static void do_rest(char *value) {
    unsigned long count = 0, sum = 0;
    int c;
    (void)value;
    while ((c = getc(stdin)) != EOF) {
        count++;
        sum = sum * 31 + (unsigned)c;
    }
    note("rest: %lu bytes, sum %lx%s%s\n", count, sum, feof(stdin) ? " eof" : "",
         ferror(stdin) ? " error" : "");
}

static void do_read(char *value) {
    char data[8192];
    ssize_t n = read(0, data, (size_t)number(value));
    if (n < 0)
        note("read %s\n", error_name(errno));
    else
        note_input("read", data, (size_t)n);
}

static void do_seekin(char *value) {
    int bad = fseeko(stdin, number(value), number(value) < 0 ? SEEK_END : SEEK_SET);
    note("seekin %d %s\n", bad, error_name(bad ? errno : 0));
}

static void do_tell(char *value) {
    FILE *file = value && !strcmp(value, "out") ? stdout : stdin;
    off_t at = ftello(file);
    note("tell %lld %s\n", (long long)at, error_name(at < 0 ? errno : 0));
}

static void do_clear(char *value) {
    (void)value;
    clearerr(stdin);
}

/* Reads the first line of another file; logs its length and the errors. */
static void do_input(char *value) {
    char line[100] = "";
    FILE *file = fopen(value, "r");
    if (!file) {
        note("input %s: fopen %s\n", value, error_name(errno));
        return;
    }
    errno = 0;
    char *got = fgets(line, sizeof line, file);
    int error = errno;
    note("input %s: %zu bytes%s%s\n", value, strlen(line), got ? "" : ", none ",
         ferror(file) ? error_name(error)
         : feof(file) ? "eof"
                      : "");
    fclose(file);
}

/* ---- the kernel's view of a stream's file ---- */

static void do_size(char *value) {
    struct stat about;
    int fd = value ? (int)number(value) : 1;
    note("size %lld\n", fstat(fd, &about) ? -1LL : (long long)about.st_size);
}

static void do_statpath(char *value) {
    struct stat about;
    note("stat %s %lld\n", value, stat(value, &about) ? -1LL : (long long)about.st_size);
}

static void do_offset(char *value) {
    off_t at = lseek((int)number(value), 0, SEEK_CUR);
    note("offset %s %lld %s\n", value, (long long)at, error_name(at < 0 ? errno : 0));
}

static void do_rawseek(char *value) {
    note("lseek %lld\n", (long long)lseek(0, number(value), SEEK_SET));
}

static void do_pending(char *value) {
    (void)value;
    note("pending %zu\n", __fpending(stdout));
}

/* ---- descriptors ---- */

static void do_close(char *value) {
    note("close %d\n", close((int)number(value)));
}

static void do_dup2(char *value) {
    int fd = open(value, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    dup2(fd, 1);
    close(fd);
}

static void do_dupto(char *value) {
    char *from;
    size_t to = call_and_size(value, &from);
    note("dup2 %d\n", dup2((int)number(from), (int)to));
}

static void do_truncate(char *value) {
    char *path;
    size_t n = call_and_size(value, &path);
    note("truncate %d\n", truncate(path, (off_t)n));
}

static void do_ftruncate(char *value) {
    note("ftruncate %d\n", ftruncate(1, number(value)));
}
static void do_fsync(char *value) {
    (void)value;
    note("fsync %d\n", fsync(1));
}

static void do_unlink(char *value) {
    note("unlink %d\n", unlink(value));
}
static void do_nonblock(char *value) {
    fcntl((int)number(value), F_SETFL, O_NONBLOCK);
}

/* ---- time and signals ---- */

static void do_sleep(char *value) {
    poll(NULL, 0, (int)number(value));
}

static volatile sig_atomic_t caught;

static void on_signal(int signal) {
    caught++;
    /* For SIGXFSZ write nothing: the write would exceed the limit and raise SIGXFSZ again. */
    if (signal != SIGALRM && signal != SIGXFSZ)
        put(1, "[in the handler]", 16);
}

static int signal_number(const char *name) {
    static const struct {
        const char *name;
        int number;
    } table[] = {{"USR1", SIGUSR1}, {"ALRM", SIGALRM}, {"PIPE", SIGPIPE}, {"XFSZ", SIGXFSZ},
                 {"KILL", SIGKILL}, {"TERM", SIGTERM}, {"SEGV", SIGSEGV}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(table[i].name, name))
            return table[i].number;
    return 0;
}

static void do_catch(char *value) {
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(signal_number(value), &action, NULL);
}

static void do_ignore(char *value) {
    signal(signal_number(value), SIG_IGN);
}

/* Sends SIGALRM every `value` milliseconds. The handler has no SA_RESTART, so it interrupts system calls. */
static void do_alarm(char *value) {
    struct itimerval timer = {{number(value) / 1000, number(value) % 1000 * 1000},
                              {number(value) / 1000, number(value) % 1000 * 1000}};
    do_catch("ALRM");
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void do_quiet(char *value) {
    struct itimerval none = {{0, 0}, {0, 0}};
    (void)value;
    setitimer(ITIMER_REAL, &none, NULL);
    note("caught %s\n", caught ? "some" : "none");
}

static void do_raise(char *value) {
    raise(signal_number(value));
}
static void do_kill(char *value) {
    kill(getpid(), signal_number(value));
}

static void *wait_forever(void *unused) {
    for (;;)
        pause();
    return unused;
}

static void do_thread(char *value) {
    pthread_t thread;
    (void)value;
    pthread_create(&thread, NULL, wait_forever, NULL);
}

/* ---- children, and the end of the process ---- */

static void note_status(const char *what, int status) {
    note("%s: status %x\n", what, (unsigned)status);
}

static void do_system(char *value) {
    note_status("system", system(value));
}

static void do_popen(char *value) {
    char line[200];
    FILE *child = popen(value, "r");
    while (child && fgets(line, sizeof line, child))
        note("popen: %s", line);
    note_status("popen", child ? pclose(child) : -1);
}

static void do_popenw(char *value) {
    char *command;
    size_t n = call_and_size(value, &command);
    FILE *child = popen(command, "w");
    if (child)
        emit(child, "fputs", 0, n);
    note_status("popenw", child ? pclose(child) : -1);
}

static void do_spawn(char *value) {
    char *arguments[] = {"sh", "-c", value, NULL};
    pid_t pid;
    int status = -1;
    if (!posix_spawn(&pid, "/bin/sh", NULL, NULL, arguments, environ))
        waitpid(pid, &status, 0);
    note_status("spawn", status);
}

static void do_vfork(char *value) {
    int status = -1;
    pid_t pid = vfork();
    if (pid == 0) {
        put(1, "{vfork}", 7);
        if (value)
            execl("/bin/sh", "sh", "-c", value, (char *)NULL);
        _exit(3);
    }
    waitpid(pid, &status, 0);
    note_status("vfork", status);
}

static void do_exec(char *value) {
    execlp("sh", "sh", "-c", value, (char *)NULL);
}
static void do_exit(char *value) {
    exit((int)number(value));
}
static void do__exit(char *value) {
    _exit((int)number(value));
}
static void do__Exit(char *value) {
    _Exit((int)number(value));
}
static void do_quick_exit(char *value) {
    quick_exit((int)number(value));
}
static void do_abort(char *value) {
    (void)value;
    abort();
}

static const struct step {
    const char *name;
    void (*act)(char *value);
} steps[] = {
    {"out", do_out},
    {"err", do_err},
    {"raw", do_raw},
    {"rawerr", do_rawerr},
    {"say", do_say},
    {"flush", do_flush},
    {"setvbuf", do_setvbuf},
    {"seek", do_seek},
    {"fclose", do_fclose},
    {"reopen", do_reopen},
    {"atexit", do_atexit},
    {"file", do_file},
    {"outerror", do_outerror},
    {"input", do_input},
    {"line", do_line},
    {"getline", do_getline},
    {"fread", do_fread},
    {"getc", do_getc},
    {"ungetc", do_ungetc},
    {"scan", do_scan},
    {"rest", do_rest},
    {"read", do_read},
    {"seekin", do_seekin},
    {"tell", do_tell},
    {"clear", do_clear},
    {"size", do_size},
    {"stat", do_statpath},
    {"offset", do_offset},
    {"rawseek", do_rawseek},
    {"pending", do_pending},
    {"close", do_close},
    {"dup2", do_dup2},
    {"dupto", do_dupto},
    {"truncate", do_truncate},
    {"fsync", do_fsync},
    {"unlink", do_unlink},
    {"ftruncate", do_ftruncate},
    {"nonblock", do_nonblock},
    {"sleep", do_sleep},
    {"catch", do_catch},
    {"ignore", do_ignore},
    {"alarm", do_alarm},
    {"quiet", do_quiet},
    {"raise", do_raise},
    {"kill", do_kill},
    {"thread", do_thread},
    {"system", do_system},
    {"popen", do_popen},
    {"popenw", do_popenw},
    {"spawn", do_spawn},
    {"vfork", do_vfork},
    {"exec", do_exec},
    {"exit", do_exit},
    {"_exit", do__exit},
    {"_Exit", do__Exit},
    {"abort", do_abort},
    {"complain", do_complain},
    {"quick_exit", do_quick_exit},
};

static void do_step(char *text) {
    char *value = strchr(text, '=');
    size_t n = value ? (size_t)(value++ - text) : strlen(text);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (strlen(steps[i].name) == n && !strncmp(steps[i].name, text, n)) {
            steps[i].act(value);
            return;
        }
    }
    fprintf(stderr, "steps: no such step: %s\n", text);
    exit(9);
}

static char **behind_end(char **step) {
    int depth = 0;
    do {
        depth += !strcmp(*step, "fork") ? 1 : !strcmp(*step, "end") ? -1 : 0;
        step++;
    } while (depth > 0);
    return step;
}

/* Forks. Returns the child's first step in the child, and the step after "end" in the parent. */
static char **do_fork(char **step) {
    int status = -1;
    pid_t pid = fork();
    if (pid == 0)
        return step + 1;
    waitpid(pid, &status, 0);
    note_status("child", status);
    return behind_end(step);
}

/* Use descriptor 30 or above: the case may need a lower one to stay closed. */
static void open_log(void) {
    int low = open("steps.log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    log_fd = fcntl(low, F_DUPFD_CLOEXEC, 30);
    close(low);
}

int main(int count, char **arguments) {
    char **step = arguments + 1;
    (void)count;
    setlocale(LC_ALL, "");
    open_log();
    while (*step) {
        if (!strcmp(*step, "fork"))
            step = do_fork(step);
        else if (strcmp(*step, "end"))
            do_step(*step++);
        else
            step++;
    }
    return 0;
}
