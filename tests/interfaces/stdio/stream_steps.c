/* SPDX-License-Identifier: MIT
 *
 * stream_steps.c - a transcript program that performs the steps in the environment variable STEPS on a
 * stream, in order:
 *
 *     STEPS="open=r+ read=10 write=5 fork get=3 _exit=0 end offset contents"
 *
 * Two streams may be in use: the prefix "2:" marks the steps for the second. A step with the prefix "t:"
 * runs in a separate thread. The steps between "fork" and "child_end" run in the child, which continues
 * after them unless it has ended. random_streams.py makes up the steps.
 *
 * After "filter" the process allocates no memory; calls for which libc's stdio needs none must work.
 */
#include "transcript.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio_ext.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static FILE *streams[2], **chosen = streams;
static int numbers[2] = {-1, -1}; /* the streams' descriptor numbers when they were opened */
static int peer = -1;             /* the other end of a pipe or socket */
static bool filtered;
static fpos_t remembered;
static bool has_position;
static int last_read = 'x', written;
static char *rest; /* the steps after the current one */

static long number(const char *text) {
    return text ? strtol(text, NULL, 0) : 0;
}

/* Cuts "A,B" at the comma, and returns B. */
static char *cut(char *value) {
    char *comma = value ? strchr(value, ',') : NULL;
    if (comma)
        *comma++ = '\0';
    return comma;
}

static void note_result(const char *step, long result, bool failed) {
    int error = errno;
    if (failed)
        say("%s: %ld %s", step, result, error ? strerrorname_np(error) : "without errno");
    else
        say("%s: %ld", step, result);
}

/* --- opening --------------------------------------------------------------- */

static void note_open(const char *step, FILE *f) {
    note_result(step, f != NULL, !f);
    *chosen = f;
    numbers[chosen - streams] = f ? fileno(f) : -1;
}

static void do_open(FILE *f, char *mode) {
    (void)f;
    note_open("open", fopen("data", mode));
}

static int flags_of(const char *mode) {
    int create = *mode == 'r' ? 0 : O_CREAT;
    int access = strchr(mode, '+') ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY;
    return create | access | (*mode == 'w' ? O_TRUNC : 0);
}

static void do_fdopen(FILE *f, char *mode) {
    (void)f;
    note_open("fdopen", fdopen(open("data", flags_of(mode), 0644), mode));
}

static void do_standard(FILE *f, char *which) {
    (void)f;
    *chosen = *which == 'i' ? stdin : stdout;
    numbers[chosen - streams] = *which != 'i';
}

/* Opens a second stream on the first one's number. */
static void do_same(FILE *f, char *mode) {
    (void)f;
    note_open("same", fdopen(numbers[0], mode));
}

static void open_end(const char *step, const int ends[2], char *mode) {
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    peer = ends[*mode == 'r'];
    note_open(step, fdopen(ends[*mode != 'r'], mode));
}

/* Neither end waits, and the pipe has room for all data: how full it is depends on the amount read. */
static void do_pipe(FILE *f, char *mode) {
    int ends[2];
    (void)f;
    if (pipe(ends) != 0)
        return;
    fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
    open_end("pipe", ends, mode);
}

static void do_socket(FILE *f, char *mode) {
    int ends[2];
    (void)f;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0)
        open_end("socket", ends, mode);
}

static char memory[10000];

/* Opens a stream in memory, with text like the file's. */
static void do_memory(FILE *f, char *mode) {
    (void)f;
    for (size_t i = 0; i < sizeof memory; i++)
        memory[i] = "line 000000\n"[i % 12];
    long size = number(cut(mode));
    note_open("memory", fmemopen(memory, (size_t)size, mode));
}

static char *grown;
static size_t grown_size;

static void do_growing(FILE *f, char *value) {
    (void)f;
    (void)value;
    note_open("growing", open_memstream(&grown, &grown_size));
}

static void do_held(FILE *f, char *value) {
    (void)value;
    if (f && grown)
        fflush(f);
    if (grown)
        say("held: %lu %b", grown_size, grown, (int)grown_size);
    else
        say("held: %b", memory, (int)sizeof memory);
}

static void do_reopen(FILE *f, char *mode) {
    note_open("reopen", freopen("data", mode, f));
}

static void do_remode(FILE *f, char *mode) {
    note_open("remode", freopen(NULL, mode, f));
}

static void do_close(FILE *f, char *value) {
    (void)value;
    int r = fclose(f);
    note_result("close", r, r != 0);
    *chosen = NULL;
}

/* Returns memory for n bytes and a null byte. After "filter" malloc and free could need the kernel. */
static char *taken(long n) {
    static char room[1 << 18];
    return filtered ? room : malloc((size_t)n + 1);
}

static void give(char *p) {
    if (!filtered)
        free(p);
}

/* --- reading --------------------------------------------------------------- */

static void note_input(const char *step, const char *data, long n, long wanted) {
    int error = errno;
    if (n > 0)
        last_read = (unsigned char)data[n - 1];
    say("%s: %ld %b", step, n, data, (int)(n > 0 ? n : 0));
    if (n < wanted)
        say("  %s", error ? strerrorname_np(error) : "without errno");
}

static long characters(FILE *f, char *data, long n, bool locked) {
    for (long i = 0; i < n; i++) {
        int c = locked ? getc(f) : getc_unlocked(f);
        if (c == EOF)
            return i;
        data[i] = (char)c;
    }
    return n;
}

static void do_get(FILE *f, char *value) {
    long n = number(value);
    char *data = taken(n);
    note_input("get", data, characters(f, data, n, true), n);
    give(data);
}

static void do_uget(FILE *f, char *value) {
    long n = number(value);
    char *data = taken(n);
    note_input("uget", data, characters(f, data, n, false), n);
    give(data);
}

static void do_read(FILE *f, char *value) {
    long n = number(value);
    char *data = taken(n);
    note_input("read", data, (long)fread(data, 1, (size_t)n, f), n);
    give(data);
}

static void do_line(FILE *f, char *value) {
    long n = number(value);
    char *data = taken(n);
    char *line = fgets(data, (int)n, f);
    note_input("line", data, line ? (long)strlen(line) : -1, 0);
    give(data);
}

static void do_getline(FILE *f, char *value) {
    char *line = NULL;
    size_t size = 0;
    (void)value;
    note_input("getline", line, getline(&line, &size, f), 0);
    free(line);
}

static void do_delim(FILE *f, char *value) {
    char *text = NULL;
    size_t size = 0;
    note_input("delim", text, getdelim(&text, &size, *value, f), 0);
    give(text);
}

static void do_uread(FILE *f, char *value) {
    long n = number(value);
    char *data = taken(n);
    note_input("uread", data, (long)(fread_unlocked)(data, 1, (size_t)n, f), n);
    give(data);
}

/* Mostly the text is not a number, and the examined bytes are pushed back. */
static void do_number(FILE *f, char *value) {
    int n = 0, used = 0;
    (void)value;
    int got = fscanf(f, "%d%n", &n, &used);
    say("number: %d %d %d", got, n, used);
}

static void do_letters(FILE *f, char *value) {
    char word[100] = "";
    (void)value;
    int got = fscanf(f, "%50[a-z \n]", word);
    say("letters: %d %q", got, word);
}

static void do_scan(FILE *f, char *value) {
    char word[100] = "";
    (void)value;
    int got = fscanf(f, "%99s", word);
    say("scan: %d %q", got, word);
}

static void do_unget(FILE *f, char *value) {
    int r = ungetc(value ? *value : last_read, f);
    say("unget: %d", r);
}

/* Pushes back n different bytes. */
static void do_ungets(FILE *f, char *value) {
    long n = number(value), i = 0;
    while (i < n && ungetc((int)('a' + i % 26), f) != EOF)
        i++;
    note_result("ungets", i, i < n);
}

/* --- writing --------------------------------------------------------------- */

/* Returns n bytes that identify the call that wrote them, with some newlines. */
static char *text_of(long n) {
    char *text = taken(n);
    for (long i = 0; i < n; i++)
        text[i] = i % 17 == 16 ? '\n' : (char)('A' + (written + i / 17) % 26);
    text[n] = '\0';
    written++;
    return text;
}

static void do_put(FILE *f, char *value) {
    long n = number(value), i = 0;
    char *text = text_of(n);
    while (i < n && putc(text[i], f) != EOF)
        i++;
    note_result("put", i, i < n);
    give(text);
}

static void do_uput(FILE *f, char *value) {
    long n = number(value), i = 0;
    char *text = text_of(n);
    while (i < n && putc_unlocked(text[i], f) != EOF)
        i++;
    note_result("uput", i, i < n);
    give(text);
}

static void do_write(FILE *f, char *value) {
    long n = number(value);
    char *text = text_of(n);
    long done = (long)fwrite(text, 1, (size_t)n, f);
    note_result("write", done, done < n);
    give(text);
}

static void do_uwrite(FILE *f, char *value) {
    long n = number(value);
    char *text = text_of(n);
    long done = (long)(fwrite_unlocked)(text, 1, (size_t)n, f);
    note_result("uwrite", done, done < n);
    give(text);
}

static void do_text(FILE *f, char *value) {
    char *text = text_of(number(value));
    int r = fputs(text, f);
    note_result("text", r == EOF ? EOF : 1, r == EOF);
    give(text);
}

static void do_print(FILE *f, char *value) {
    char *text = text_of(number(value));
    int r = fprintf(f, "<%s|%d>", text, written);
    note_result("print", r, r < 0);
    give(text);
}

/* --- the position ------------------------------------------------------------ */

static void note_seek(const char *step, int r) {
    note_result(step, r, r != 0);
}

static void do_seek(FILE *f, char *value) {
    note_seek("seek", fseeko(f, number(value), SEEK_SET));
}

static void do_cur(FILE *f, char *value) {
    note_seek("cur", fseeko(f, number(value), SEEK_CUR));
}

static void do_end(FILE *f, char *value) {
    note_seek("end", fseeko(f, number(value), SEEK_END));
}

static void do_rewind(FILE *f, char *value) {
    (void)value;
    rewind(f);
}

static void do_tell(FILE *f, char *value) {
    (void)value;
    long at = ftell(f);
    note_result("tell", at, at < 0);
}

static void do_getpos(FILE *f, char *value) {
    (void)value;
    int r = fgetpos(f, &remembered);
    has_position = r == 0;
    note_result("getpos", r, r != 0);
}

static void do_setpos(FILE *f, char *value) {
    (void)value;
    if (has_position)
        note_seek("setpos", fsetpos(f, &remembered));
}

/* --- buffers and flags --------------------------------------------------------- */

static void do_flush(FILE *f, char *value) {
    (void)value;
    int r = fflush(f);
    note_result("flush", r, r != 0);
}

static void do_flushall(FILE *f, char *value) {
    (void)f;
    (void)value;
    int r = fflush(NULL);
    note_result("flushall", r, r != 0);
}

static void do_buf(FILE *f, char *value) {
    static char buffers[4][200000]; /* static, since the stream may use it until the end */
    static int used;
    long size = number(cut(value));
    int mode = *value == 'n' ? _IONBF : *value == 'l' ? _IOLBF : _IOFBF;
    char *own = size > 0 ? buffers[used++ % 4] : NULL;
    int r = setvbuf(f, own, mode, (size_t)size);
    note_result("buf", r, r != 0);
}

static void do_clear(FILE *f, char *value) {
    (void)value;
    clearerr(f);
}

static void do_about(FILE *f, char *value) {
    (void)value;
    say("about: pending %lu reading %d writing %d size %lu line %d", __fpending(f), __freading(f) != 0,
        __fwriting(f) != 0, __fbufsize(f), __flbf(f) != 0);
}

static void do_purge(FILE *f, char *value) {
    (void)value;
    __fpurge(f);
}

static void do_bycaller(FILE *f, char *value) {
    (void)value;
    say("bycaller: %d", __fsetlocking(f, FSETLOCKING_BYCALLER));
}

static void do_which(FILE *f, char *value) {
    (void)value;
    say("which: %d", fwide(f, 0));
}

/* --- threads ------------------------------------------------------------------------ */

static void *sleeper(void *unused) {
    for (;;)
        pause();
    return unused;
}

/* Starts another thread, which stays. */
static void do_thread(FILE *f, char *value) {
    pthread_t thread;
    (void)f;
    (void)value;
    say("thread: %d", pthread_create(&thread, NULL, sleeper, NULL));
}

/* --- directly by the descriptor -------------------------------------------------------------- */

static void do_rawread(FILE *f, char *value) {
    long n = number(value);
    char *data = taken(n);
    note_input("rawread", data, read(fileno(f), data, (size_t)n), 0);
    give(data);
}

static void do_rawwrite(FILE *f, char *value) {
    long n = number(value);
    char *text = text_of(n);
    long done = write(fileno(f), text, (size_t)n);
    note_result("rawwrite", done, done < 0);
    give(text);
}

static void do_rawseek(FILE *f, char *value) {
    long at = lseek(fileno(f), number(value), SEEK_SET);
    note_result("rawseek", at, at < 0);
}

static void do_offset(FILE *f, char *value) {
    (void)value;
    long at = lseek(fileno(f), 0, SEEK_CUR);
    note_result("offset", at, at < 0);
}

static void do_dup(FILE *f, char *value) {
    (void)value;
    int fd = dup(fileno(f));
    say("dup: %ld", (long)lseek(fd, 0, SEEK_CUR));
    close(fd);
}

static void do_size(FILE *f, char *value) {
    struct stat st;
    (void)value;
    say("size: %ld", fstat(fileno(f), &st) == 0 ? (long)st.st_size : -1L);
}

static void do_truncate(FILE *f, char *value) {
    (void)f;
    say("truncate: %d", truncate("data", number(value)));
}

/* --- the number, without a call of fileno ---------------------------------------------------- */

static int its_number(void) {
    return numbers[chosen - streams];
}

static void do_numread(FILE *f, char *value) {
    long n = number(value);
    char *data = taken(n);
    (void)f;
    note_input("numread", data, read(its_number(), data, (size_t)n), 0);
    give(data);
}

static void do_numwrite(FILE *f, char *value) {
    char *text = text_of(number(value));
    (void)f;
    long done = write(its_number(), text, strlen(text));
    note_result("numwrite", done, done < 0);
    give(text);
}

static void do_numseek(FILE *f, char *value) {
    (void)f;
    long at = lseek(its_number(), number(value), SEEK_SET);
    note_result("numseek", at, at < 0);
}

static void do_numoffset(FILE *f, char *value) {
    (void)f;
    (void)value;
    long at = lseek(its_number(), 0, SEEK_CUR);
    note_result("numoffset", at, at < 0);
}

static void do_numclose(FILE *f, char *value) {
    (void)f;
    (void)value;
    int r = close(its_number());
    note_result("numclose", r, r != 0);
}

/* Gives the number another file, by close and open, or by dup2. */
static void do_numopen(FILE *f, char *path) {
    (void)f;
    close(its_number());
    int fd = open(path, O_RDWR | O_CREAT, 0644);
    note_result("numopen", fd == its_number(), fd < 0);
}

static void do_numdup(FILE *f, char *path) {
    (void)f;
    int fd = open(path, O_RDWR | O_CREAT, 0644);
    int r = dup2(fd, its_number());
    note_result("numdup", r == its_number(), r < 0);
    if (fd != its_number())
        close(fd);
}

static void do_numappend(FILE *f, char *value) {
    (void)f;
    (void)value;
    int r = fcntl(its_number(), F_SETFL, O_APPEND);
    note_result("numappend", r, r < 0);
}

/* Redirects standard error to the stream's file. */
static void do_errors(FILE *f, char *value) {
    (void)f;
    (void)value;
    say("errors: %d", dup2(its_number(), 2));
}

static void do_message(FILE *f, char *value) {
    (void)f;
    say("message: %d", fprintf(stderr, "message %s\n", value));
}

/* --- the other end ---------------------------------------------------------------------------- */

static void do_feed(FILE *f, char *value) {
    char *text = text_of(number(value));
    (void)f;
    long done = write(peer, text, strlen(text));
    note_result("feed", done, done < 0);
    give(text);
}

static void do_hangup(FILE *f, char *value) {
    (void)f;
    (void)value;
    close(peer);
    peer = -1;
}

/* Receives all that was sent so far. */
static void do_receive(FILE *f, char *value) {
    static char data[1 << 18];
    (void)f;
    (void)value;
    note_input("receive", data, read(peer, data, sizeof data), 0);
}

/* If the stream's buffer is empty, all the remaining data is in the kernel. */
static void do_unread(FILE *f, char *value) {
    struct pollfd p = {its_number(), POLLIN, 0};
    int below = 0;
    long window = 0;
    (void)value;
#ifdef __GLIBC__
    window = f->_IO_read_end - f->_IO_read_ptr;
    if (f->_flags & 0x100) /* bytes were pushed back: the save pointers show the main buffer */
        window += f->_IO_save_end - f->_IO_save_base;
#else
    (void)f;
#endif
    ioctl(p.fd, FIONREAD, &below);
    say("unread: %ld", window + below);
    if (window == 0 && (poll(&p, 1, 0) == 1 && (p.revents & POLLIN)) != (below > 0))
        say("the window is empty, and poll is wrong");
}

/* Notes the file's contents by another descriptor; the library may see these calls. */
static void do_contents(FILE *f, char *value) {
    struct stat st;
    (void)f;
    (void)value;
    int fd = open("data", O_RDONLY);
    if (fd < 0 || fstat(fd, &st) != 0)
        return;
    char *data = taken(st.st_size);
    long n = pread(fd, data, (size_t)st.st_size, 0);
    say("contents: %ld %b", n, data, (int)n);
    give(data);
    close(fd);
}

/* --- processes ---------------------------------------------------------------------- */

static void do_end_child(FILE *f, char *value) {
    (void)f;
    (void)value;
}

static void do_fork(FILE *f, char *value) {
    (void)f;
    (void)value;
    pid_t pid = fork();
    if (pid == 0)
        return;
    finish(pid);
    char *end = strstr(rest, "child_end");
    rest = end ? end : strchr(rest, '\0');
}

/* Forks a child that does nothing; afterwards the stream's state is visible as with libc. */
static void do_publish(FILE *f, char *value) {
    (void)f;
    (void)value;
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    waitpid(pid, NULL, 0);
}

static pid_t forked_bare(int how) {
#ifdef __GLIBC__
    if (how == 'F')
        return _Fork();
#endif
#ifdef SYS_fork
    if (how == 's')
        return (pid_t)syscall(SYS_fork);
#endif
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

/* Makes a child without the handlers of pthread_atfork. */
static void do_bare(FILE *f, char *how) {
    (void)f;
    pid_t pid = forked_bare(*how);
    if (pid == 0)
        return;
    finish(pid);
    char *end = strstr(rest, "child_end");
    rest = end ? end : strchr(rest, '\0');
}

static void do_exec(FILE *f, char *program) {
    (void)f;
    execlp(program, program, "-c", "1000", (char *)NULL);
    _exit(127);
}

/* Another process, without streams, appends to the file. */
static void do_grow(FILE *f, char *value) {
    (void)f;
    pid_t pid = fork();
    if (pid == 0) {
        char *text = text_of(number(value));
        int fd = open("data", O_WRONLY | O_APPEND);
        raw_write(fd, text, strlen(text));
        _exit(0);
    }
    finish(pid);
}

static void do_exit(FILE *f, char *value) {
    (void)f;
    exit((int)number(value));
}

static void do__exit(FILE *f, char *value) {
    (void)f;
    _exit((int)number(value));
}

/* --- filters --------------------------------------------------------------------------- */

#define ALLOWED(name)                                                                                        \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* From now on a filter permits only transfers and the end of the process. */
static void do_filter(FILE *f, char *how) {
    struct sock_filter transfers[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                      ALLOWED(read),
                                      ALLOWED(write),
                                      ALLOWED(lseek),
                                      ALLOWED(exit),
                                      ALLOWED(exit_group),
                                      ALLOWED(rt_sigreturn),
                                      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
    struct sock_fprog program = {sizeof transfers / sizeof *transfers, transfers};
    (void)f;
    filtered = true;
    if (*how == 's') {
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
        return;
    }
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void do_leave(FILE *f, char *value) {
    (void)f;
    (void)value;
    syscall(SYS_exit, 7);
}

/* --- the steps ------------------------------------------------------------------------ */

#define STEP(name, anywhere)                                                                                 \
    { #name, do_##name, anywhere }

static const struct step {
    const char *name;
    void (*run)(FILE *f, char *value);
    bool anywhere; /* needs no open stream */
} steps[] = {
    STEP(open, true),      STEP(fdopen, true),   STEP(standard, true),   STEP(flushall, true),
    STEP(truncate, true),  STEP(contents, true), STEP(fork, true),       STEP(grow, true),
    STEP(exit, true),      STEP(_exit, true),    STEP(reopen, false),    STEP(remode, false),
    STEP(close, false),    STEP(get, false),     STEP(uget, false),      STEP(read, false),
    STEP(line, false),     STEP(getline, false), STEP(scan, false),      STEP(unget, false),
    STEP(put, false),      STEP(uput, false),    STEP(write, false),     STEP(text, false),
    STEP(print, false),    STEP(seek, false),    STEP(cur, false),       STEP(end, false),
    STEP(rewind, false),   STEP(tell, false),    STEP(getpos, false),    STEP(setpos, false),
    STEP(flush, false),    STEP(buf, false),     STEP(clear, false),     STEP(about, false),
    STEP(purge, false),    STEP(rawread, false), STEP(rawwrite, false),  STEP(rawseek, false),
    STEP(offset, false),   STEP(dup, false),     STEP(size, false),      STEP(memory, true),
    STEP(growing, true),   STEP(held, true),     STEP(delim, false),     STEP(uread, false),
    STEP(number, false),   STEP(letters, false), STEP(ungets, false),    STEP(uwrite, false),
    STEP(thread, true),    STEP(which, false),   STEP(bycaller, false),  {"child_end", do_end_child, true},
    STEP(same, true),      STEP(pipe, true),     STEP(socket, true),     STEP(numread, false),
    STEP(numwrite, false), STEP(numseek, false), STEP(numoffset, false), STEP(numclose, false),
    STEP(numopen, false),  STEP(numdup, false),  STEP(numappend, false), STEP(errors, false),
    STEP(message, true),   STEP(feed, true),     STEP(hangup, true),     STEP(receive, true),
    STEP(unread, false),   STEP(publish, true),  STEP(bare, true),       STEP(exec, true),
    STEP(filter, true),    STEP(leave, true),
};

static void run_step(char *step);

static void *run_in_thread(void *step) {
    run_step(step);
    return NULL;
}

static void run_step(char *step) {
    pthread_t thread;
    if (strncmp(step, "t:", 2) == 0) {
        if (pthread_create(&thread, NULL, run_in_thread, step + 2) == 0)
            pthread_join(thread, NULL);
        return;
    }
    chosen = streams + (strncmp(step, "2:", 2) == 0);
    step += 2 * (chosen == streams + 1);
    char *value = strchr(step, '=');
    if (value)
        *value++ = '\0';
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (strcmp(steps[i].name, step) != 0)
            continue;
        if (!*chosen && !steps[i].anywhere)
            return;
        errno = 0;
        steps[i].run(*chosen, value);
        if (*chosen)
            note_flags(*chosen);
        return;
    }
    say("there is no step %s", step);
}

CASE(all_steps) {
    char *text = getenv("STEPS");
    if (!text)
        return;
    rest = strdup(text);
    for (char *step = strsep(&rest, " "); step; step = rest ? strsep(&rest, " ") : NULL)
        if (*step)
            run_step(step);
}
