/* SPDX-License-Identifier: MIT
 *
 * stdio_steps.c - steps of random sequences: stdio, on the standard streams and a few others.
 *
 * The steps omit what C leaves undefined: a stream is not used after fclose, its direction changes only
 * after a seek, and it is either a byte stream or a wide stream. They also omit glibc's behaviour after
 * failed wide output (a character stays, and a seek succeeds), and fopen's letter m, with which glibc maps
 * the file and the descriptor is at its end.
 */
#include "tests/interfaces/unix/sequences.h"

#include <err.h>
#include <error.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <wchar.h>

enum { STREAMS = 7, STANDARD = 3, LONGEST = 6000, PIPE_NUMBER = 20 };
enum direction { NEITHER, IN, OUT };

static struct stream {
    FILE *f;
    bool in, out; /* the directions that its mode allows */
    bool used;    /* setvbuf is no longer allowed */
    bool pushed;  /* a byte was pushed back and not read since */
    bool placed;  /* `place` is a position in this file */
    enum direction last;
    int wide; /* the result of fwide */
    int number;
    fpos_t place;
} streams[STREAMS];

static char bytes[ROOM];
static size_t piped; /* the number of bytes in the pipe at PIPE_NUMBER */

static void start(void) {
    static bool started;
    if (started)
        return;
    started = true;
    streams[0] = (struct stream){.f = stdin, .in = true};
    streams[1] = (struct stream){.f = stdout, .out = true, .number = 1};
    streams[2] = (struct stream){.f = stderr, .out = true, .number = 2};
}

static void publish_streams(const struct stat *st, int except) {
    struct stat other;
    for (unsigned i = 0; i < STREAMS; i++)
        if (streams[i].f && streams[i].number != except &&
            raw(SYS_fstat, streams[i].number, (long)&other, 0, 0) == 0 && other.st_ino == st->st_ino &&
            other.st_dev == st->st_dev)
            fileno(streams[i].f);
}

void publish_others(int number) {
    struct stat st;
    if (is_bulk_plan() && raw(SYS_fstat, number, (long)&st, 0, 0) == 0)
        publish_streams(&st, number);
}

void publish_path(const char *path) {
    struct stat st;
    if (is_bulk_plan() && raw(SYS_newfstatat, AT_FDCWD, (long)path, (long)&st, 0) == 0)
        publish_streams(&st, -1);
}

static bool is_pipe(int number) {
    struct stat st;
    return raw(SYS_fstat, number, (long)&st, 0, 0) == 0 && S_ISFIFO(st.st_mode);
}

/* Returns whether a stream may be used. libc does not give back the bytes read ahead from a pipe. So a
 * stream on the pipe is not used in a child, nor after its number was closed or replaced. */
static bool is_used(const struct stream *t) {
    return t->f && (t->number != PIPE_NUMBER || (!in_child && (piped == 0 || is_pipe(PIPE_NUMBER))));
}

/* Returns a stream that may be used in this direction now, more often a standard one. */
static struct stream *stream_for(uint32_t word, enum direction direction) {
    unsigned first = word % 3 ? (direction == OUT ? 1 : 0) : word / 3 % STREAMS;
    start();
    for (unsigned i = 0; i < STREAMS; i++) {
        struct stream *t = &streams[(first + i) % STREAMS];
        if (is_used(t) && (direction == NEITHER || (direction == IN ? t->in : t->out))) {
            say(" stream %d", (int)(t - streams));
            publish_others(t->number);
            return t;
        }
    }
    say(" no stream");
    return NULL;
}

/* Changes the direction; C requires a seek between output and input. */
static bool turn(struct stream *t, enum direction to) {
    if (t->pushed && to == OUT)
        return false;
    if (t->last != NEITHER && t->last != to && RESULT("seek between", fseek(t->f, 0, SEEK_CUR)) != 0)
        return false;
    t->last = to;
    t->used = true;
    t->pushed = false;
    return true;
}

static struct stream *stream_to(uint32_t word, enum direction direction, int wide) {
    struct stream *t = stream_for(word, direction);
    if (!t || (t->wide && t->wide != wide))
        return NULL;
    if (!turn(t, direction))
        return NULL;
    t->wide = wide;
    return t;
}

/* --- opening and closing ------------------------------------------------------------------------ */

static const char *const modes[] = {"r", "r", "r", "r", "r+", "r+", "w", "w+", "a", "a+", "re", "r+e", "wx"};

static void enter(struct stream *t, FILE *f, const char *mode) {
    bool both = strchr(mode, '+') != NULL;
    *t = (struct stream){.f = f, .in = both || mode[0] == 'r', .out = both || mode[0] != 'r'};
    t->number = f ? fileno(f) : -1;
    say(" number %d", t->number);
}

static struct stream *free_stream(void) {
    start();
    for (int i = STANDARD; i < STREAMS; i++)
        if (!streams[i].f) {
            say(" stream %d", i);
            return &streams[i];
        }
    return NULL;
}

static void do_fopen(const struct step *s) {
    struct stream *t = free_stream();
    const char *path = path_of(s->word[0]), *mode = PICK(modes, s->word[1]);
    if (!t)
        return;
    say(" \"%s\" %s", path, mode);
    publish();
    errno = 0;
    FILE *f = s->word[2] % 4 ? fopen(path, mode) : fopen64(path, mode);
    RESULT("fopen", f ? 0 : -1);
    enter(t, f, mode);
}

static const char *mode_of(int n, uint32_t word) {
    int flags = fcntl(n, F_GETFL);
    if (flags < 0 || word % 8 == 0)
        return PICK(modes, word / 8);
    if ((flags & O_ACCMODE) == O_RDONLY)
        return "r";
    if ((flags & O_ACCMODE) == O_WRONLY)
        return word & 8 ? "w" : "a";
    return word & 8 ? "r+" : word & 16 ? "w+" : "a+";
}

static void do_fdopen(const struct step *s) {
    struct stream *t = free_stream();
    int n = number_of(s->word[0]);
    const char *mode = mode_of(n, s->word[1]);
    if (!t)
        return;
    say(" %d %s", n, mode);
    errno = 0;
    FILE *f = fdopen(n, mode);
    say_result("fdopen", f ? 0 : -1);
    enter(t, f, mode);
}

static void do_tmpfile(const struct step *s) {
    struct stream *t = free_stream();
    if (!t)
        return;
    FILE *f = s->word[0] % 2 ? tmpfile() : tmpfile64();
    enter(t, f, "w+");
}

static void do_mkstemp(const struct step *s) {
    char name[] = "temporaryXXXXXX";
    int fd = (int)RESULT("mkstemp", s->word[0] % 2 ? mkstemp(name) : mkostemp(name, O_CLOEXEC));
    unlink(name);
    keep_low(fd);
}

static const char *reopening_mode(const struct stream *t, uint32_t word) {
    if (t->in)
        return t->out || word % 8 == 0 ? "r+" : "r";
    return word % 8 == 0 ? "a+" : word % 2 ? "a" : "w";
}

static void do_freopen(const struct step *s) {
    struct stream *t = stream_for(s->word[0], NEITHER);
    if (!t)
        return;
    const char *mode = reopening_mode(t, s->word[1]);
    const char *path = s->word[2] % 5 == 0 ? NULL : path_of(s->word[3]);
    say(" %s %s", path ? path : "(same)", mode);
    publish();
    errno = 0;
    FILE *f = freopen(path, mode, t->f);
    say_result("freopen", f ? 0 : -1);
    enter(t, f, mode);
}

static void do_fclose(const struct step *s) {
    struct stream *t = stream_for(s->word[0], NEITHER);
    if (!t)
        return;
    RESULT("fclose", fclose(t->f));
    t->f = NULL;
}

static void do_setvbuf(const struct step *s) {
    static char own[STREAMS][8192];
    static const int kinds[] = {_IONBF, _IOLBF, _IOFBF};
    static const size_t sizes[] = {1, 100, 1024, 4096, 5000, 8192};
    struct stream *t = stream_for(s->word[0], NEITHER);
    if (!t || t->used)
        return;
    int kind = PICK(kinds, s->word[1]);
    size_t size = PICK(sizes, s->word[2]);
    bool given = kind != _IONBF && s->word[3] % 2;
    t->used = true;
    say(" %d %zu", kind, given ? size : 0);
    RESULT("setvbuf", setvbuf(t->f, given ? own[t - streams] : NULL, kind, given ? size : 0));
}

/* --- input ---------------------------------------------------------------------------------------- */

static void do_lines(const struct step *s) {
    struct stream *t = stream_to(s->word[0], IN, -1);
    unsigned times = 1 + (s->word[1] % 3 ? s->word[1] % 4 : s->word[1] % 60);
    int size = s->word[2] % 3 ? 60 : 2 + (int)(s->word[2] % 30);
    size_t got = 0;
    if (!t)
        return;
    errno = 0;
    for (unsigned i = 0; i < times && fgets(bytes + got, size, t->f); i++)
        got += strlen(bytes + got);
    say_bytes(bytes, got);
    RESULT("at end", feof(t->f) + 2 * ferror(t->f));
}

static void do_characters(const struct step *s) {
    struct stream *t = stream_to(s->word[0], IN, -1);
    unsigned times = 1 + s->word[1] % 50, got = 0;
    int c = 0;
    if (!t)
        return;
    errno = 0;
    while (got < times) {
        c = s->word[2] % 2 ? getc(t->f) : t->f == stdin ? getchar() : getc_unlocked(t->f);
        if (c == EOF)
            break;
        bytes[got++] = (char)c;
    }
    say_bytes(bytes, got);
    if (c != EOF && s->word[3] % 3 == 0) {
        say(" pushed back %d", ungetc(c, t->f));
        t->pushed = true;
    } else if (c != EOF && s->word[3] % 3 == 1) {
        ungetc('!', t->f);
        say(" pushed back and read %d", getc(t->f));
    }
}

static void do_fread(const struct step *s) {
    struct stream *t = stream_to(s->word[0], IN, -1);
    size_t n = s->word[1] % 3 ? s->word[1] % 200 : s->word[1] % 20000;
    if (!t)
        return;
    say(" %zu", n);
    size_t r = (size_t)RESULT("fread", fread(bytes, 1, n, t->f));
    say_bytes(bytes, r);
}

static void do_scan(const struct step *s) {
    struct stream *t = stream_to(s->word[0], IN, -1);
    char word[61] = "";
    int number = -1;
    if (!t)
        return;
    switch (s->word[1] % 3) {
    case 0:
        RESULT("scanf", t->f == stdin ? scanf("%60s", word) : fscanf(t->f, "%60s", word));
        break;
    case 1:
        RESULT("scanf", fscanf(t->f, " %c%d", word, &number));
        break;
    default:
        RESULT("scanf", fscanf(t->f, "%d", &number));
    }
    say_bytes(word, strlen(word));
    say(" %d", number);
}

static void do_getline(const struct step *s) {
    struct stream *t = stream_to(s->word[0], IN, -1);
    char *line = NULL;
    size_t size = 0;
    if (!t)
        return;
    ssize_t n =
        RESULT("getline", s->word[1] % 2 ? getline(&line, &size, t->f)
                                         : getdelim(&line, &size, '0' + (int)(s->word[2] % 10), t->f));
    say_bytes(line, n > 0 ? (size_t)n : 0);
    free(line);
}

static void do_wide_input(const struct step *s) {
    struct stream *t = stream_to(s->word[0], IN, 1);
    wchar_t text[100] = L"";
    if (!t)
        return;
    if (s->word[1] % 2) {
        say(" fgetws %d", fgetws(text, 2 + (int)(s->word[2] % 90), t->f) != NULL);
        for (size_t i = 0; text[i]; i++)
            say("%lc", (wint_t)text[i]);
        return;
    }
    for (unsigned i = 0; i < 1 + s->word[2] % 40; i++)
        say(" %d", (int)getwc(t->f));
}

/* --- output --------------------------------------------------------------------------------------- */

static void do_print(const struct step *s) {
    struct stream *t = stream_to(s->word[0], OUT, -1);
    unsigned n = s->word[1];
    if (!t)
        return;
    bool standard = t->f == stdout;
    switch (s->word[2] % 5) {
    case 0:
        RESULT("printf", standard ? printf("out %u\n", n) : fprintf(t->f, "out %u\n", n));
        break;
    case 1:
        RESULT("puts", standard ? puts("a line") : fputs("a line\n", t->f));
        break;
    case 2:
        RESULT("putc", standard ? putchar('x') : putc('x', t->f));
        break;
    case 3:
        RESULT("vfprintf", fprintf(t->f, "%0*d\n", (int)(n % 300), 7));
        break;
    default:
        fill(bytes, LONGEST, n);
        RESULT("fwrite", fwrite(bytes, 1, n % 3 ? n % 200 : n % LONGEST, t->f));
    }
}

static bool takes_output(FILE *f) {
    int flags = fcntl(fileno(f), F_GETFL);
    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

static void do_wide_output(const struct step *s) {
    struct stream *t = stream_to(s->word[0], OUT, 1);
    if (!t || !takes_output(t->f))
        return;
    if (s->word[1] % 2)
        RESULT("fputws", fputws(L"wide\n", t->f) < 0 ? -1 : 0);
    else
        RESULT("fwprintf", fwprintf(t->f, L"wide %d\n", (int)(s->word[2] % 1000)));
    RESULT("fflush", fflush(t->f));
}

/* Makes libc itself write to standard error; perror and psignal bypass a stream without orientation. */
static void do_message(const struct step *s) {
    start();
    if (streams[2].f == NULL || streams[1].f == NULL || streams[2].last == IN)
        return;
    streams[2].used = true;
    errno = ENOENT;
    switch (s->word[0] % 5) {
    case 0:
        perror("perror");
        break;
    case 1:
        psignal(SIGTERM, "psignal");
        break;
    case 2:
        if (streams[2].wide <= 0)
            fprintf(stderr, "warning %u\n", s->word[1]);
        break;
    case 3:
        error(0, ENOENT, "error");
        break;
    default:
        dprintf(2, "dprintf %u\n", s->word[1]);
    }
    streams[2].wide = fwide(stderr, 0);
    streams[2].last = OUT;
}

static void do_dprintf(const struct step *s) {
    int n = number_of(s->word[0]);
    say(" %d", n);
    RESULT("dprintf", dprintf(n, "%s %0*u\n", "dprintf", (int)(s->word[1] % 100), s->word[2]));
}

/* --- offsets and buffers ---------------------------------------------------------------------- */

static const long places[] = {0, 0, 0, 5, 10, 100, 2995, 4096, 5000, 9000, 19990, 99000, 110000};

static void do_seek(const struct step *s) {
    struct stream *t = stream_for(s->word[0], NEITHER);
    long to = PICK(places, s->word[1]);
    int r = 0;
    if (!t)
        return;
    switch (s->word[2] % 8) {
    case 0:
    case 1:
    case 2:
        r = (int)RESULT("fseek", fseek(t->f, to, SEEK_SET));
        break;
    case 3:
        r = (int)RESULT("fseeko", fseeko(t->f, s->word[3] % 2 ? to % 5000 : -(to % 5000), SEEK_CUR));
        break;
    case 4:
        r = (int)RESULT("to the end", fseek(t->f, -to, SEEK_END));
        break;
    case 5:
        r = t->placed ? (int)RESULT("fsetpos", fsetpos(t->f, &t->place)) : -1;
        break;
    default:
        rewind(t->f);
        r = ferror(t->f) ? -1 : 0;
    }
    if (r != 0)
        return;
    t->last = NEITHER;
    t->pushed = false;
    t->used = true;
}

static void do_tell(const struct step *s) {
    struct stream *t = stream_for(s->word[0], NEITHER);
    if (!t)
        return;
    if (s->word[1] % 4) {
        RESULT("ftell", s->word[1] % 2 ? ftell(t->f) : ftello(t->f));
    } else {
        t->placed = RESULT("fgetpos", fgetpos(t->f, &t->place)) == 0;
    }
    say(" flags %d", feof(t->f) + 2 * ferror(t->f));
}

static void do_flush(const struct step *s) {
    if (s->word[1] % 4 == 0) {
        RESULT("fflush all", fflush(NULL));
        return;
    }
    struct stream *t = stream_for(s->word[0], NEITHER);
    if (!t)
        return;
    RESULT("fflush", fflush(t->f));
    if (s->word[2] % 4 == 0)
        clearerr(t->f);
}

/* --- streams that become bulk ----------------------------------------------------------------------- */

/* Returns the length of a few blocks; sometimes it ends at a block's end. */
static size_t much(uint32_t word) {
    return word % 3 ? 1 + word / 3 % 25000 : 4096 * (1 + (size_t)word / 3 % 6);
}

static void do_much_input(const struct step *s) {
    static const size_t sizes[] = {1, 7, 64, 100, 1000, 1024, 4096};
    struct stream *t = stream_to(s->word[0], IN, -1);
    size_t n = much(s->word[1]), size = PICK(sizes, s->word[2]), got = 0;
    if (!t)
        return;
    errno = 0;
    for (size_t r = 1; got < n && r > 0; got += r)
        r = fread(bytes + got, 1, n - got < size ? n - got : size, t->f);
    say_result("got", (long)got);
    say_bytes(bytes, got);
    if (got == n && s->word[3] % 4 == 0) {
        say(" pushed back %d", ungetc(bytes[n - 1], t->f));
        t->pushed = true;
    }
}

/* Makes a process without fork's handlers. */
static void do_clone(const struct step *s) {
    int status = -1;
    say(" %u", s->children);
#ifdef SYS_fork
    pid_t child = (pid_t)(s->word[0] % 2 ? syscall(SYS_fork) : syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
#else
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#endif
    if (child == 0)
        run_child(s, false);
    RESULT("\nparent: waitpid", waitpid(child, &status, 0) == child ? status : -1);
}

static void do_much_output(const struct step *s) {
    static const size_t sizes[] = {1, 7, 64, 100, 1000, 1024, 4096};
    struct stream *t = stream_to(s->word[0], OUT, -1);
    size_t n = much(s->word[1]), size = PICK(sizes, s->word[2]), done = 0;
    if (!t)
        return;
    fill(bytes, n, s->word[3]);
    errno = 0;
    for (size_t r = 1; done < n && r > 0; done += r)
        r = fwrite(bytes + done, 1, n - done < size ? n - done : size, t->f);
    say_result("done", (long)done);
}

/* A stream reads a pipe whose number no other step uses. */
static void do_full_pipe(const struct step *s) {
    int ends[2];
    size_t length = s->word[2] % 4 ? s->word[1] % 50000 : 0;
    struct stream *t = free_stream();
    if (!t || in_child || fcntl(PIPE_NUMBER, F_GETFD) >= 0 || RESULT("pipe2", pipe2(ends, O_NONBLOCK)) < 0)
        return;
    fill(bytes, length, s->word[1]);
    RESULT("write", write(ends[1], bytes, length));
    RESULT("dup2", dup2(ends[0], PIPE_NUMBER));
    RESULT("close", close(ends[0]));
    RESULT("close", close(ends[1]));
    piped = length;
    enter(t, fdopen(PIPE_NUMBER, "r"), "r");
}

/* The pipe's number gets a file, whose offset belongs to the program. */
static void do_number_of_pipe(const struct step *s) {
    if (fcntl(PIPE_NUMBER, F_GETFD) < 0)
        return;
    /* the number may have an earlier file, from which the stream has read */
    RESULT("lseek", lseek(PIPE_NUMBER, 0, SEEK_CUR));
    int fd = (int)RESULT("open", open(path_of(s->word[0]), O_RDONLY));
    if (fd < 0)
        return;
    RESULT("dup2", dup2(fd, PIPE_NUMBER));
    RESULT("close", close(fd));
    RESULT("read", read(PIPE_NUMBER, bytes, s->word[1] % 9000));
    if (s->word[2] % 2)
        publish();
    RESULT("lseek", lseek(PIPE_NUMBER, 0, SEEK_CUR));
}

const struct kind stdio_kinds[] = {
    {"fopen", do_fopen, 20, 0},
    {"fdopen", do_fdopen, 25, 0},
    {"tmpfile", do_tmpfile, 4, 0},
    {"mkstemp", do_mkstemp, 5, 0},
    {"freopen", do_freopen, 20, 0},
    {"fclose", do_fclose, 20, 0},
    {"setvbuf", do_setvbuf, 10, 0},
    {"lines", do_lines, 40, 0},
    {"characters", do_characters, 30, 0},
    {"fread", do_fread, 20, 0},
    {"scan", do_scan, 15, 0},
    {"getline", do_getline, 15, 0},
    {"wide input", do_wide_input, 4, 0},
    {"print", do_print, 50, 0},
    {"wide output", do_wide_output, 4, 0},
    {"message", do_message, 10, 0},
    {"dprintf", do_dprintf, 12, 0},
    {"seek", do_seek, 30, 0},
    {"tell", do_tell, 30, 0},
    {"flush", do_flush, 25, 0},
    {NULL, NULL, 0, 0},
};

const struct kind bulk_kinds[] = {
    {"much input", do_much_input, 180, 0},
    {"much output", do_much_output, 150, 0},
    {"clone", do_clone, 30, PARENT},
    {"full pipe", do_full_pipe, 40, 0},
    {"number of the pipe", do_number_of_pipe, 20, 0},
    {NULL, NULL, 0, 0},
};
