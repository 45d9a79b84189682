/* SPDX-License-Identifier: MIT
 *
 * opening_cases.c - fopen, fdopen, freopen, fclose: every mode, every failure, and the state of the
 * descriptor.
 */
#include "transcript.h"

#include <pwd.h>
#include <sys/resource.h>

static const char *const modes[] = {"r",   "r+",  "w",   "w+",   "a",    "a+",   "rb", "rb+",
                                    "r+b", "wb",  "ab+", "re",   "r+e",  "we",   "ae", "wx",
                                    "w+x", "rm",  "rc",  "r+me", "wmc",  "rt",   "r,", "wxe",
                                    "a+x", "r++", "rwa", "w+bx", "rbbb", "r+bm", NULL};

/* Notes the visible state of a stream that has just been opened. */
static void note_descriptor(FILE *f) {
    int flags = fcntl(fileno(f), F_GETFL);
    say("  access %d append %d cloexec %d offset %ld", flags & O_ACCMODE, (flags & O_APPEND) != 0,
        fcntl(fileno(f), F_GETFD) & FD_CLOEXEC, raw_offset(fileno(f)));
}

/* Reads and writes a little, and notes which of both is allowed. */
static void use_both_ways(FILE *f) {
    char text[8] = "";
    WITH_ERRNO(fread(text, 1, 4, f));
    say("  read %q", text);
    note_flags(f);
    clearerr(f);
    CALL(fseek(f, 2, SEEK_SET));
    WITH_ERRNO(fwrite("XY", 1, 2, f));
    note_flags(f);
    clearerr(f);
    CALL(ftell(f));
}

static void open_in_mode(const char *mode) {
    say("mode %s", mode);
    FILE *f = CALL(fopen("file", mode));
    if (!f)
        return;
    note_descriptor(f);
    CALL(ftell(f));
    use_both_ways(f);
    CALL(fclose(f));
    note_file("file");
}

CASE(appending_where_there_is_no_end) {
    CALL(fopen("/proc/self/comm", "a"));
    CALL(freopen("/proc/self/comm", "a", stdin));
}

CASE(modes_of_a_descriptor) {
    static const char *const some_modes[] = {"r",      "rb+", "r+b", "rbbb+", "rbbbb+",
                                             "rbtce+", "rx+", "r+e", "a++",   "wbm"};
    for (size_t i = 0; i < sizeof some_modes / sizeof *some_modes; i++) {
        int fd = open("file", O_RDONLY | O_CREAT, 0600);
        FILE *f = fdopen(fd, some_modes[i]);
        say("%s: %d", some_modes[i], f != NULL);
        f ? fclose(f) : close(fd);
    }
}

CASE(each_mode_on_a_file) {
    for (int i = 0; modes[i]; i++) {
        put_text("file", "0123456789");
        open_in_mode(modes[i]);
    }
}

CASE(each_mode_without_a_file) {
    for (int i = 0; modes[i]; i++) {
        unlink("file");
        open_in_mode(modes[i]);
    }
}

CASE(each_mode_on_an_empty_file) {
    for (int i = 0; modes[i]; i++) {
        put_text("file", "");
        open_in_mode(modes[i]);
    }
}

CASE(modes_that_are_wrong) {
    static const char *const wrong[] = {"", "x", "b", "+", "R", " r", "+r", "q+", "\nr", NULL};
    put_text("file", "0123456789");
    for (int i = 0; wrong[i]; i++) {
        say("mode %q", wrong[i]);
        CALL(fopen("file", wrong[i]));
        CALL(fdopen(0, wrong[i]));
    }
    note_file("file");
}

CASE(coded_character_sets) {
    static const char *const coded[] = {
        "r,ccs=UTF-8",    "r,ccs=ISO-8859-1", "w,ccs=UTF-8", "r,ccs=NO-SUCH-SET",
        "r,ccs=UTF-16LE", "r,ccs=",           NULL};
    put_text("file", "caf\xc3\xa9\n");
    for (int i = 0; coded[i]; i++) {
        say("mode %s", coded[i]);
        FILE *f = CALL(fopen("file", coded[i]));
        if (!f)
            continue;
        CALL(fwide(f, 0));
        CALL(fgetwc(f));
        CALL(fclose(f));
    }
}

CASE(files_that_cannot_be_opened) {
    mkdir("directory", 0755);
    put_text("file", "text");
    CALL(fopen("missing", "r"));
    CALL(fopen("missing", "r+"));
    CALL(fopen("missing/below", "w"));
    CALL(fopen("file/below", "w"));
    CALL(fopen("", "r"));
    CALL(fopen("directory", "w"));
    CALL(fopen("directory", "r+"));
    CALL(fopen("file", "wx"));
    CALL(fopen64("missing", "r"));
    char path[5000];
    memset(path, 'p', sizeof path - 1);
    path[sizeof path - 1] = 0;
    say("a path of 4999 bytes");
    WITH_ERRNO(fopen(path, "w") == NULL);
    symlink("loop", "loop");
    CALL(fopen("loop", "r"));
    unlink("loop");
    CALL(fopen("/dev/no-such-device", "r"));
    CALL(fopen("/proc/no-such-file", "w"));
}

CASE(a_directory_opens_and_does_not_read) {
    mkdir("directory", 0755);
    FILE *f = CALL(fopen("directory", "r"));
    CALL(fgetc(f));
    note_state(f);
    char text[10];
    WITH_ERRNO(fread(text, 1, 10, f));
    CALL(fclose(f));
}

CASE(no_permission) {
    put_text("file", "text");
    chmod("file", 0);
    if (setuid(65534) != 0)
        say("setuid fails");
    CALL(fopen("file", "r"));
    CALL(fopen("file", "w"));
    CALL(fopen("/etc/new-file", "w"));
}

CASE(no_more_descriptors) {
    struct rlimit none = {3, 3};
    setrlimit(RLIMIT_NOFILE, &none);
    CALL(fopen("file", "w"));
    CALL(tmpfile());
    CALL(popen("true", "r"));
    char text[8];
    FILE *f = CALL(fmemopen(text, 8, "w"));
    CALL(fclose(f));
}

CASE(the_last_descriptor) {
    put_text("file", "text");
    int last = open("file", O_RDONLY);
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){(rlim_t)last + 1, (rlim_t)last + 1});
    close(last);
    FILE *f = CALL(fopen("file", "r,ccs=UTF-8"));
    CALL(fgetwc(f));
    CALL(fclose(f));
    CALL(fopen("made", "w,ccs=NO-SUCH-SET"));
    CALL(fopen("missing", "r,ccs=NO-SUCH-SET"));
}

CASE(permissions_follow_the_umask) {
    umask(027);
    FILE *f = CALL(fopen("new", "w"));
    struct stat st;
    fstat(fileno(f), &st);
    say("mode of the file %x", st.st_mode);
    CALL(fclose(f));
}

CASE(descriptors_are_the_lowest_free) {
    FILE *a = fopen("/dev/null", "r"), *b = fopen("/dev/null", "w");
    say("fds %d %d", fileno(a), fileno(b));
    CALL(fclose(a));
    FILE *c = fopen("/dev/zero", "r");
    say("fd %d", fileno(c));
    CALL(fclose(b));
    CALL(fclose(c));
}

CASE(fdopen_each_access) {
    static const int access[] = {O_RDONLY, O_WRONLY, O_RDWR, O_RDWR | O_APPEND};
    static const char *const wanted[] = {"r", "w", "a", "r+", "w+", "a+"};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 6; k++) {
            put_text("file", "0123456789");
            int fd = open("file", access[i]);
            lseek(fd, 3, SEEK_SET);
            say("access %d fdopen %s", access[i], wanted[k]);
            FILE *f = CALL(fdopen(fd, wanted[k]));
            if (!f) {
                close(fd);
                continue;
            }
            note_descriptor(f);
            CALL(ftell(f));
            CALL(fputc('!', f));
            CALL(fclose(f));
            note_file("file");
        }
}

CASE(fdopen_of_bad_descriptors) {
    CALL(fdopen(-1, "r"));
    CALL(fdopen(99, "r"));
    CALL(fdopen(99, "z"));
    int fd = open("/", O_PATH);
    CALL(fdopen(fd, "r") != NULL);
}

CASE(freopen_to_another_file) {
    put_text("one", "first file\n");
    put_text("two", "second file\n");
    FILE *f = CALL(fopen("one", "r"));
    int fd = fileno(f);
    CALL(fgetc(f));
    CALL(freopen("two", "r", f) == f);
    say("same descriptor %d", fd == fileno(f));
    char text[30];
    CALL(fgets(text, sizeof text, f));
    CALL(fgetc(f));
    note_state(f);
    CALL(freopen("one", "a+", f) == f);
    note_state(f);
    CALL(fputs("appended", f));
    CALL(freopen("three", "w", f) == f);
    CALL(fputs("third", f));
    CALL(fclose(f));
    note_file("one");
    note_file("three");
}

CASE(freopen_that_fails) {
    put_text("one", "first file\n");
    FILE *f = CALL(fopen("one", "r+"));
    CALL(fputs("FIRST", f));
    CALL(freopen("missing/file", "r", f));
    note_file("one");
    CALL(open("one", O_RDONLY) == 3);
}

/* The next fopen reuses the closed stream's memory; exit flushes streams opened before and after it. Since
 * glibc 2.41 freopen itself frees a stream that it cannot open. */
CASE(fclose_after_freopen_has_failed) {
    if (atoi(strchr(gnu_get_libc_version(), '.') + 1) >= 41)
        return;
    FILE *before = fopen("before", "w"), *f = fopen("file", "w");
    fputs("before", before);
    CALL(freopen("missing/file", "w", f) != NULL);
    CALL(fclose(f));
    FILE *after = fopen("after", "w"), *last = fopen("last", "w");
    fputs("after", after);
    fputs("last", last);
    CALL(fflush(NULL));
    fputs(" and at exit", before);
    fputs(" and at exit", after);
    fputs(" and at exit", last);
}

CASE(freopen_that_fails_on_a_closed_descriptor) {
    put_lines("there", 1);
    FILE *f = fopen("there", "r");
    close(fileno(f));
    CALL(freopen("missing/file", "r", f));
    close(0);
    CALL(freopen(NULL, "r", stdin));
}

CASE(freopen_changes_the_mode) {
    put_text("one", "first file\n");
    FILE *f = CALL(fopen("one", "r"));
    WITH_ERRNO(fputc('x', f));
    note_flags(f);
    FILE *g = CALL(freopen(NULL, "r", f));
    note_flags(g);
    CALL(fgetc(g));
    CALL(fclose(g));
    f = CALL(fopen("one", "r+"));
    CALL(freopen(NULL, "a+", f));
    CALL(fputs("more", f));
    CALL(fclose(f));
    note_file("one");
    f = CALL(fopen("one", "r+"));
    CALL(freopen(NULL, "w", f));
    CALL(fclose(f));
    note_file("one");
}

CASE(freopen_of_standard_output) {
    printf("before");
    CALL(freopen("out", "w", stdout) == stdout);
    say("fd %d", fileno(stdout));
    printf("after");
    CALL(system("echo a command also writes here"));
    puts(" and the end");
}

CASE(freopen_of_standard_input) {
    put_text("in", "another input\n");
    CALL(getchar());
    CALL(freopen("in", "r", stdin) == stdin);
    char text[30];
    CALL(fgets(text, sizeof text, stdin));
    say("fd %d", fileno(stdin));
}

CASE(freopen_of_standard_error) {
    fputs("before\n", stderr);
    CALL(freopen("errors", "w", stderr) == stderr);
    fputs("after, and no flush", stderr);
    note_file("errors");
    fputs("more", stderr);
    note_file("errors");
}

CASE(freopen_resets_the_buffering) {
    char mine[64];
    put_text("one", "first file\n");
    FILE *f = CALL(fopen("out", "w"));
    CALL(setvbuf(f, NULL, _IONBF, 0));
    CALL(freopen("out2", "w", f) == f);
    CALL(fputs("x", f));
    note_file("out2");
    CALL(setvbuf(f, mine, _IOFBF, sizeof mine));
    CALL(fputs("y", f));
    note_file("out2");
    CALL(freopen("out3", "w", f) == f);
    CALL(fputs("z", f));
    CALL(fclose(f));
    note_file("out2");
    note_file("out3");
}

CASE(fclose_reports_errors) {
    FILE *f = CALL(fopen("/dev/full", "w"));
    CALL(fputs("text", f));
    CALL(fclose(f));
    f = CALL(fopen("/dev/full", "w"));
    CALL(fputs("text", f));
    CALL(fflush(f));
    note_flags(f);
    CALL(fclose(f));
    f = CALL(fopen("file", "w"));
    CALL(fputs("text", f));
    CALL(close(fileno(f)));
    CALL(fclose(f));
    f = CALL(fopen("file", "r"));
    CALL(close(fileno(f)));
    CALL(fclose(f));
    note_file("file");
}

CASE(fclose_of_an_input_leaves_the_shared_offset) {
    put_pattern("file", 20000);
    int fd = open("file", O_RDONLY);
    FILE *f = fdopen(dup(fd), "r");
    CALL(fgetc(f));
    CALL(fclose(f));
    say("offset %ld", raw_offset(fd));
    lseek(fd, 100, SEEK_SET);
    f = fdopen(dup(fd), "r");
    char text[50];
    CALL(fread(text, 1, 50, f));
    CALL(fseek(f, 10, SEEK_CUR));
    CALL(fclose(f));
    say("offset %ld", raw_offset(fd));
}

CASE(fileno_of_every_kind) {
    char text[10];
    say("std %d %d %d", fileno(stdin), fileno(stdout), fileno(stderr));
    FILE *f = fmemopen(text, 10, "w");
    CALL(fileno(f));
    CALL(fileno_unlocked(f));
    fclose(f);
    char *p;
    size_t n;
    f = open_memstream(&p, &n);
    CALL(fileno(f));
    fclose(f);
    free(p);
    f = fopen("file", "w");
    CALL(fileno_unlocked(f));
    fclose(f);
}

CASE(many_streams) {
    enum { MANY = 200 };
    FILE *f[MANY];
    put_text("file", "abc");
    for (int i = 0; i < MANY; i++)
        f[i] = fopen("file", "r");
    long sum = 0;
    for (int i = 0; i < MANY; i++)
        sum += getc(f[i]) + fileno(f[i]);
    say("sum %ld", sum);
    for (int i = MANY - 1; i >= 0; i -= 2)
        fclose(f[i]);
    for (int i = 0; i < MANY; i += 2)
        sum += getc(f[i]);
    say("sum %ld", sum);
#ifdef __GLIBC__ /* musl lacks this interface */
    CALL(fcloseall());
#endif
}

CASE(opening_again_and_again) {
    put_text("file", "abc");
    long sum = 0;
    for (int i = 0; i < 20000; i++) {
        FILE *f = fopen("file", "r");
        sum += getc(f);
        fclose(f);
    }
    say("sum %ld", sum);
}

CASE(fopen_keeps_errno_of_success) {
    put_text("file", "abc");
    errno = E2BIG;
    FILE *f = fopen("file", "r");
    getc(f);
    say("errno %s", strerrorname_np(errno));
    fclose(f);
    say("errno %s", strerrorname_np(errno));
}

CASE(special_files) {
    char text[64];
    FILE *f = CALL(fopen("/dev/null", "r+"));
    CALL(fgetc(f));
    note_state(f);
    CALL(fputs("gone", f));
    CALL(fclose(f));
    f = CALL(fopen("/dev/zero", "r"));
    CALL(fread(text, 1, 64, f));
    say("first %d last %d", text[0], text[63]);
    CALL(fseek(f, 10, SEEK_SET));
    CALL(ftell(f));
    CALL(fclose(f));
    f = CALL(fopen("/proc/sys/kernel/ostype", "r"));
    CALL(fgets(text, sizeof text, f));
    CALL(fgets(text, sizeof text, f));
    note_state(f);
    CALL(fclose(f));
    f = CALL(fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r"));
    if (f)
        CALL(fgets(text, sizeof text, f));
}

CASE(letters_of_a_character_set) {
    put_text("file", "text");
    FILE *f = CALL(fopen("file", "r,ccs=euc-jp"));
    CALL(f ? fcntl(fileno(f), F_GETFD) : 0);
    CALL(fopen("file", "w,x"));
}

/* More bytes are pushed back than were read, so the offset would be negative. */
CASE(freopen_after_pushing_back) {
    put_pattern("file", 5000);
    int fd = open("file", O_RDONLY);
    FILE *f = fdopen(dup(fd), "r");
    CALL(getc(f));
    for (int i = 0; i < 100; i++)
        ungetc('x', f);
    CALL(freopen("/dev/null", "r", f) != NULL);
    say("offset %ld", raw_offset(fd));
}

/* The flag "e" of an earlier open stays, unless the descriptor was lost meanwhile. Since glibc 2.41,
 * freopen frees a stream that it cannot reopen, unless it is a standard stream. */
static bool note_reopened(const char *path, const char *mode, FILE *f) {
    FILE *r = freopen(path, mode, f);
    say("%s %s: %d", path ? path : "itself", mode, r ? fcntl(fileno(r), F_GETFD) : -1);
    return r != NULL;
}

static void note_standard(const char *first, const char *second) {
    note_reopened("file", first, stdin);
    if (note_reopened("file", second, stdin)) /* after a failure, glibc would abort */
        note_reopened(NULL, "r", stdin);
    note_reopened("nowhere", "re", stdin);
    note_reopened("file", "r", stdin);
    note_reopened("file", "r", stdin);
}

CASE(closed_by_exec_however_reopened) {
    static const char *const marked[] = {"r", "re", "rc", "r+e", "q", "re,ccs=NOSUCH"};
    const int n = sizeof marked / sizeof *marked;
    put_text("file", "text");
    for (int first = 0; first < 4; first++)
        for (int second = 0; second < n; second++) {
            FILE *f = fopen("file", marked[first]);
            say("%s: %d", marked[first], fcntl(fileno(f), F_GETFD));
            if (note_reopened("file", marked[second], f) && note_reopened(NULL, "r", f) &&
                note_reopened("file", "r", f))
                fclose(f);
            note_standard(marked[first], marked[second]);
        }
    FILE *f = fdopen(open("file", O_RDONLY | O_CLOEXEC), "re");
    note_reopened("file", "r", f);
    fclose(f);
}
