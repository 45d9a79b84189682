/* SPDX-License-Identifier: MIT
 *
 * transcript.c - the main program of every differential test: runs one case, and writes its notes to the
 * file named first. It uses direct system calls, so that no library under test sees them.
 */
#include "transcript.h"

#include <signal.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { LONGEST_RUN = 60, TRANSCRIPT_FD = 200 };

extern const struct test_case __start_cases[], __stop_cases[];

static const char *transcript_path;

/* Makes a system call by its own instruction, since libasf_unix interposes syscall(), which would flush
 * the streams. */
static long kernel(long number, long a, long b, long c, long d) {
#if defined __x86_64__
    register long r10 __asm__("r10") = d;
    __asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
    return number;
#elif defined __aarch64__
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c,
                     x3 __asm__("x3") = d;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
    return x0;
#endif
}

static int kernel_open(const char *path, int flags) {
    return (int)kernel(SYS_openat, AT_FDCWD, (long)path, flags, 0644);
}

void raw_write(int fd, const void *data, size_t n) {
    const char *p = data;
    while (n > 0) {
        long done = kernel(SYS_write, fd, (long)p, (long)n, 0);
        if (done <= 0)
            return;
        p += done;
        n -= (size_t)done;
    }
}

void kernel_write(int fd, const char *text) {
    raw_write(fd, text, strlen(text));
}

long raw_offset(int fd) {
    return syscall(SYS_lseek, fd, 0L, SEEK_CUR);
}

/* --- the transcript --------------------------------------------------------- */

struct line {
    char text[4096];
    size_t used;
};

static void add(struct line *l, char c) {
    if (l->used < sizeof l->text - 1)
        l->text[l->used++] = c;
}

static void add_text(struct line *l, const char *s) {
    while (*s)
        add(l, *s++);
}

static void add_number(struct line *l, unsigned long v, unsigned base) {
    char digits[24];
    int n = 0;
    do
        digits[n++] = "0123456789abcdef"[v % base];
    while (v /= base);
    while (n > 0)
        add(l, digits[--n]);
}

static void add_signed(struct line *l, long v) {
    if (v < 0)
        add(l, '-');
    add_number(l, v < 0 ? 0UL - (unsigned long)v : (unsigned long)v, 10);
}

static void add_escaped(struct line *l, unsigned char c) {
    if (c == '\n') {
        add_text(l, "\\n");
    } else if (c < ' ' || c > '~' || c == '"' || c == '\\') {
        add_text(l, "\\x");
        add(l, "0123456789abcdef"[c >> 4]);
        add(l, "0123456789abcdef"[c & 15]);
    } else {
        add(l, (char)c);
    }
}

static uint64_t hash(const unsigned char *p, size_t n) {
    uint64_t h = 14695981039346656037U;
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 1099511628211U;
    return h;
}

/* Quotes short data completely; of long data, both ends, the length and a hash. */
static void add_quoted(struct line *l, const void *data, size_t n) {
    const unsigned char *p = data;
    size_t shown = n <= 300 ? n : 24;
    add(l, '"');
    for (size_t i = 0; i < shown; i++)
        add_escaped(l, p[i]);
    if (shown < n) {
        add_text(l, "\"...\"");
        for (size_t i = n - 24; i < n; i++)
            add_escaped(l, p[i]);
    }
    add(l, '"');
    if (shown < n) {
        add_text(l, " length ");
        add_number(l, n, 10);
        add_text(l, " hash ");
        add_number(l, hash(p, n), 16);
    }
}

static void put_line(struct line *l) {
    l->text[l->used++] = '\n';
    raw_write(TRANSCRIPT_FD, l->text, l->used);
}

static void add_argument(struct line *l, const char **format, va_list *args) {
    bool is_long = **format == 'l';
    *format += is_long;
    switch (*(*format)++) {
    case 'd':
        add_signed(l, is_long ? va_arg(*args, long) : va_arg(*args, int));
        break;
    case 'u':
        add_number(l, is_long ? va_arg(*args, unsigned long) : va_arg(*args, unsigned), 10);
        break;
    case 'x':
        add_number(l, is_long ? va_arg(*args, unsigned long) : va_arg(*args, unsigned), 16);
        break;
    case 'c':
        add_escaped(l, (unsigned char)va_arg(*args, int));
        break;
    case 's':
        add_text(l, va_arg(*args, const char *));
        break;
    case 'q': {
        const char *s = va_arg(*args, const char *);
        s ? add_quoted(l, s, strlen(s)) : add_text(l, "NULL");
        break;
    }
    case 'b': {
        const void *p = va_arg(*args, const void *);
        add_quoted(l, p, (size_t)va_arg(*args, int));
        break;
    }
    default:
        add_text(l, "(unknown conversion)");
    }
}

void say(const char *format, ...) {
    int saved = errno;
    struct line l = {.used = 0};
    va_list args;
    va_start(args, format);
    while (*format)
        if (*format == '%') {
            format++;
            add_argument(&l, &format, &args);
        } else {
            add(&l, *format++);
        }
    va_end(args);
    put_line(&l);
    errno = saved;
}

static void add_wide(struct line *l, const wchar_t *s) {
    add_text(l, "L\"");
    for (size_t i = 0; s[i] && i < 100; i++)
        if (s[i] < 128) {
            add_escaped(l, (unsigned char)s[i]);
        } else {
            add_text(l, "\\u");
            add_number(l, (unsigned long)s[i], 16);
        }
    add(l, '"');
}

static void add_value(struct line *l, enum kind kind, long value) {
    if (kind == WIDE_CHARACTER && (unsigned)value == WEOF)
        add_text(l, "WEOF");
    else if (kind == NUMBER || kind == WIDE_CHARACTER)
        add_signed(l, value);
    else if (value == 0)
        add_text(l, "NULL");
    else if (kind == TEXT)
        add_quoted(l, (const char *)value, strlen((const char *)value));
    else if (kind == WIDE_TEXT)
        add_wide(l, (const wchar_t *)value);
    else
        add_text(l, "not null");
}

static void add_error(struct line *l, int error) {
    const char *name = strerrorname_np(error);
    add_text(l, " errno ");
    add_text(l, error ? name ? name : "unknown" : "0");
}

void note_call(const char *text, enum kind kind, long value, int error, bool always) {
    int saved = errno;
    bool failed = kind == NUMBER ? value < 0 : kind == WIDE_CHARACTER ? (unsigned)value == WEOF : value == 0;
    struct line l = {.used = 0};
    add_text(&l, text);
    add_text(&l, " = ");
    add_value(&l, kind, value);
    if (failed || always)
        add_error(&l, error);
    put_line(&l);
    errno = saved;
}

void note_flags(FILE *f) {
    say("  eof %d error %d", feof(f) != 0, ferror(f) != 0);
}

void note_state(FILE *f) {
    int saved = errno;
    errno = 0;
    long at = ftell(f);
    const char *why = at >= 0 ? "" : errno ? strerrorname_np(errno) : "without errno";
    say("  eof %d error %d ftell %ld %s", feof(f) != 0, ferror(f) != 0, at, why);
    errno = saved;
}

/* --- files ------------------------------------------------------------------- */

void note_file(const char *path) {
    struct stat st;
    int fd = kernel_open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || kernel(SYS_fstat, fd, (long)&st, 0, 0) != 0) {
        say("file %s: none", path);
        return;
    }
    char *data = malloc((size_t)st.st_size + 1);
    long n = kernel(SYS_pread64, fd, (long)data, st.st_size, 0);
    say("file %s: %ld bytes %b", path, (long)st.st_size, data, (int)(n > 0 ? n : 0));
    free(data);
    kernel(SYS_close, fd, 0, 0, 0);
}

void put_file(const char *path, const void *data, size_t n) {
    int fd = kernel_open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC);
    raw_write(fd, data, n);
    kernel(SYS_close, fd, 0, 0, 0);
}

void put_text(const char *path, const char *text) {
    put_file(path, text, strlen(text));
}

unsigned char pattern_at(size_t offset) {
    return (unsigned char)((offset * 2654435761U) >> 11 ^ offset >> 12);
}

void put_pattern(const char *path, size_t n) {
    unsigned char *data = malloc(n + 1);
    for (size_t i = 0; i < n; i++)
        data[i] = pattern_at(i);
    put_file(path, data, n);
    free(data);
}

void put_lines(const char *path, int n) {
    char *data = malloc((size_t)n * 12 + 1), *p = data;
    for (int i = 1; i <= n; i++) {
        memcpy(p, "line 000000\n", 12);
        for (int digit = 10, v = i; v > 0; v /= 10)
            p[digit--] = (char)('0' + v % 10);
        p += 12;
    }
    put_file(path, data, (size_t)n * 12);
    free(data);
}

/* --- processes ----------------------------------------------------------------- */

int finish(pid_t pid) {
    int status = -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (WIFEXITED(status))
        say("child exited %d", WEXITSTATUS(status));
    else
        say("child killed by signal %d", WTERMSIG(status));
    return status;
}

int child(void (*body)(void)) {
    pid_t pid = fork();
    if (pid == 0) {
        alarm(LONGEST_RUN);
        body();
        exit(0);
    }
    return finish(pid);
}

char **case_arguments(const char *name) {
    static const char *arguments[4];
    arguments[0] = "cases";
    arguments[1] = transcript_path;
    arguments[2] = name;
    return (char **)arguments;
}

/* On musl only the cases are preloaded: the system's commands use glibc, and cannot load the library. */
static char *preload;

#ifdef __GLIBC__
static void keep_preload(void) {}
#else
static void keep_preload(void) {
    for (char **e = environ; *e; e++)
        if (strncmp(*e, "LD_PRELOAD=", strlen("LD_PRELOAD=")) == 0)
            preload = *e;
    unsetenv("LD_PRELOAD");
}
#endif

static char **case_environment(void) {
    enum { MOST = 100 };
    static char *all[MOST + 2];
    size_t n = 0;
    if (!preload)
        return environ;
    for (; n < MOST && environ[n]; n++)
        all[n] = environ[n];
    all[n] = preload;
    all[n + 1] = NULL;
    return all;
}

void exec_case(const char *name) {
    execve("/proc/self/exe", case_arguments(name), case_environment());
    _exit(126);
}

pid_t start_case(const char *name, int in, int out, int err) {
    pid_t pid = fork();
    if (pid == 0) {
        const int wanted[3] = {in, out, err};
        for (int i = 0; i < 3; i++)
            if (wanted[i] >= 0 && wanted[i] != i)
                kernel(SYS_dup3, wanted[i], i, 0, 0);
        exec_case(name);
    }
    return pid;
}

int run_case(const char *name, int in, int out, int err) {
    return finish(start_case(name, in, out, err));
}

/* In /proc/.../stat, the state's letter follows the name in parentheses. */
void wait_until_blocked(pid_t tid) {
    char path[64] = "/proc/self/task/";
    struct line number = {.used = 0};
    add_number(&number, (unsigned long)tid, 10);
    strcat(strncat(path, number.text, number.used), "/stat");
    for (char state = 'R'; state != 'S'; usleep(1000)) {
        char text[512] = "";
        int fd = kernel_open(path, O_RDONLY);
        kernel(SYS_read, fd, (long)text, sizeof text - 1, 0);
        kernel(SYS_close, fd, 0, 0, 0);
        const char *bracket = strrchr(text, ')');
        state = bracket ? bracket[2] : 'S';
    }
    usleep(2000);
}

/* --- main ------------------------------------------------------------------------ */

static int list_cases(void) {
    for (const struct test_case *c = __start_cases; c < __stop_cases; c++)
        if (c->name[0] != '_') {
            kernel_write(1, c->name);
            kernel_write(1, "\n");
        }
    return 0;
}

static bool open_transcript(const char *path) {
    int fd = kernel_open(path, O_WRONLY | O_CREAT | O_APPEND);
    if (fd < 0)
        return false;
    kernel(SYS_dup3, fd, TRANSCRIPT_FD, O_CLOEXEC, 0);
    kernel(SYS_close, fd, 0, 0, 0);
    transcript_path = path;
    return true;
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--list") == 0)
        return list_cases();
    if (argc < 3 || !open_transcript(argv[1])) {
        kernel_write(2, "usage: cases --list | cases transcript-file case\n");
        return 2;
    }
    keep_preload();
    alarm(LONGEST_RUN);
    program_invocation_name = program_invocation_short_name = (char *)"cases";
    for (const struct test_case *c = __start_cases; c < __stop_cases; c++)
        if (strcmp(c->name, argv[2]) == 0) {
            c->run();
            return 0;
        }
    kernel_write(2, "there is no case of that name; --list shows them\n");
    return 2;
}
