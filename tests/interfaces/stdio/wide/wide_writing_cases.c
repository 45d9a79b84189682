/* SPDX-License-Identifier: MIT
 *
 * wide_writing_cases.c - output of wide characters: when each is written in every mode, characters that
 * cannot be encoded, the state after errors, and the output visible when a process ends or another starts.
 */
#include "tests/interfaces/stdio/transcript.h"

#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio_ext.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

static long size_of(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 ? (long)st.st_size : -1;
}

static long waiting_in(int fd) {
    int n = 0;
    ioctl(fd, FIONREAD, &n);
    return n;
}

static void put_many(FILE *f, wchar_t ch, int n) {
    for (int i = 0; i < n; i++)
        fputwc(ch, f);
}

/* --- each write to a pipe is visible --------------------------------------------------------- */

static int ends[2];

static FILE *open_pipe(void) {
    pipe(ends);
    fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
    return fdopen(ends[1], "w");
}

CASE(telling_behind_a_seek_into_what_was_read) {
    put_pattern("file", 3000);
    setlocale(LC_ALL, "C.UTF-8");
    put_lines("file", 250);
    FILE *f = fopen("file", "r+");
    CALL(fputwc(L'A', f));
    CALL(fseek(f, 1, SEEK_SET));
    CALL(fputws(L"hello", f));
    CALL(ftell(f));
    CALL(fclose(f));
    f = fopen("file", "r+");
    CALL(fgetwc(f));
    CALL(fseek(f, 100, SEEK_SET));
    CALL(fputws(L"hello", f));
    CALL(ftell(f));
    CALL(fflush(f));
    CALL(ftell(f));
    CALL(fclose(f));
    note_file("file");
}

CASE(characters_into_a_pipe) {
    setlocale(LC_ALL, "C.UTF-8");
    FILE *f = open_pipe();
    long last = 0;
    for (int i = 0; i < 13000; i++) {
        CALL(i ? 0 : (int)fputwc(L'a', f));
        fputwc(i % 3 ? L'\x20ac' : L'b', f);
        long now = waiting_in(ends[0]);
        if (now != last)
            say("after %d: %ld", i, last = now);
    }
    CALL(fflush(f));
    say("%ld", waiting_in(ends[0]));
}

static void strings_into_a_pipe(int mode, char *buffer, size_t size) {
    static wchar_t text[9000];
    FILE *f = open_pipe();
    setvbuf(f, buffer, mode, size);
    uint32_t random = 5;
    for (int i = 0; i < 200; i++) {
        random = random * 1664525 + 1013904223;
        unsigned n = (random >> 8) % (i % 10 ? 90 : 5000);
        for (unsigned j = 0; j < n; j++)
            text[j] = (j * 7 + (unsigned)i) % 31 ? L'\x436' : L'\n';
        text[n] = 0;
        fputws(text, f);
        say("%d: %u characters, %ld bytes, %ld pending", i, n, waiting_in(ends[0]), (long)__fpending(f));
    }
    CALL(fclose(f));
    say("%ld", waiting_in(ends[0]));
    close(ends[0]);
}

CASE(strings_into_a_pipe_fully_buffered) {
    static char buffer[500];
    setlocale(LC_ALL, "C.UTF-8");
    strings_into_a_pipe(_IOFBF, NULL, 0);
    strings_into_a_pipe(_IOFBF, buffer, sizeof buffer);
    strings_into_a_pipe(_IOFBF, buffer, 10);
    strings_into_a_pipe(_IOFBF, buffer, 1);
}

CASE(strings_into_a_pipe_line_buffered) {
    static char buffer[500];
    setlocale(LC_ALL, "C.UTF-8");
    strings_into_a_pipe(_IOLBF, NULL, 0);
    strings_into_a_pipe(_IOLBF, buffer, sizeof buffer);
    strings_into_a_pipe(_IOLBF, buffer, 10);
}

CASE(strings_into_a_pipe_unbuffered) {
    setlocale(LC_ALL, "C.UTF-8");
    strings_into_a_pipe(_IONBF, NULL, 0);
}

CASE(formats_into_a_pipe) {
    setlocale(LC_ALL, "C.UTF-8");
    FILE *f = open_pipe();
    for (int i = 0; i < 500; i++) {
        fwprintf(f, L"%*d %ls|%s\n", i % 70, i, L"w\xe9\x64\x65", "narrow");
        say("%d: %ld", i, waiting_in(ends[0]));
    }
    setvbuf(f, NULL, _IOLBF, 0);
    for (int i = 0; i < 100; i++) {
        CALL(fwprintf(f, L"%d%ls", i, i % 7 ? L"" : L"\nx"));
        say("%d: %ld", i, waiting_in(ends[0]));
    }
    setvbuf(f, NULL, _IONBF, 0);
    CALL(fwprintf(f, L"%d %ls\n", 5, L"text"));
    say("%ld", waiting_in(ends[0]));
}

CASE(late_setvbuf) {
    static char buffer[100];
    FILE *f = open_pipe();
    fputws(L"first", f);
    CALL(setvbuf(f, buffer, _IOFBF, sizeof buffer));
    say("%ld", waiting_in(ends[0]));
    put_many(f, L'x', 300);
    say("%ld", waiting_in(ends[0]));
    put_many(f, L'x', 5000);
    say("%ld", waiting_in(ends[0]));
    CALL(setvbuf(f, NULL, _IOLBF, 0));
    fputwc(L'\n', f);
    say("%ld", waiting_in(ends[0]));
    fputws(L"a\nb", f);
    say("%ld", waiting_in(ends[0]));
    CALL(setvbuf(f, NULL, _IOFBF, 0));
    fputws(L"a\nb", f);
    say("%ld", waiting_in(ends[0]));
    CALL(setvbuf(f, NULL, _IONBF, 0));
    fputws(L"a\nb", f);
    say("%ld", waiting_in(ends[0]));
    fputwc(L'c', f);
    say("%ld", waiting_in(ends[0]));
}

/* --- characters that cannot be encoded ------------------------------------------------------- */

static void without_bytes(const wchar_t *text) {
    FILE *f = fopen("file", "w");
    WITH_ERRNO(fputws(text, f));
    WITH_ERRNO(fflush(f));
    note_flags(f);
    note_file("file");
    WITH_ERRNO(fputws(L"more", f));
    WITH_ERRNO(fclose(f));
    note_file("file");
    f = fopen("file", "w");
    setvbuf(f, NULL, _IONBF, 0);
    for (const wchar_t *p = text; *p; p++)
        WITH_ERRNO(fputwc(*p, f));
    WITH_ERRNO(fputws(text, f));
    note_flags(f);
    WITH_ERRNO(fclose(f));
    note_file("file");
}

CASE(no_bytes_in_utf8) {
    setlocale(LC_ALL, "C.UTF-8");
    without_bytes(L"ab\xd800 cd");
    without_bytes(L"\xdfff");
    without_bytes(L"ab\x110000 \x1fffff \x3ffffff \x7fffffff cd");
    without_bytes(L"ab\x80000000 cd");
    without_bytes(L"\xfffe\xffff\xfeff\xe0041");
}

CASE(no_bytes_in_the_c_locale) {
    without_bytes(L"caf\xe9 \x20ac");
    without_bytes(L"0123456789abcde\x20ac\x2026\x2122 end");
    without_bytes(L"\x3042");
    without_bytes(L"ab\xe0041 cd");
}

CASE(no_bytes_among_many) {
    setlocale(LC_ALL, "C.UTF-8");
    FILE *f = fopen("file", "w");
    for (int i = 0; i < 30000; i++) {
        errno = 0;
        if (fputwc(i % 7000 == 6900 ? 0xd800 : i % 5 ? L'a' : L'\xe9', f) == WEOF)
            say("at %d: WEOF, errno %d", i, errno);
    }
    WITH_ERRNO(fclose(f));
    note_file("file");
}

static void fill_until_it_fails(FILE *f, int from) {
    for (int i = 0; i < 70000; i++)
        if (fputwc(i >= from ? 0xd800 : i % 9 ? L'a' : L'\xe9', f) == WEOF)
            return;
}

CASE(no_bytes_in_a_full_buffer_at_the_end) {
    setlocale(LC_ALL, "C.UTF-8");
    fill_until_it_fails(stdout, 60000);
}

CASE(no_bytes_in_a_full_buffer_and_a_seek) {
    setlocale(LC_ALL, "C.UTF-8");
    FILE *f = fopen("file", "w+");
    fill_until_it_fails(f, 60000);
    CALL(fseek(f, 0, SEEK_SET));
    CALL(fgetwc(f));
    fill_until_it_fails(f, 60000);
    CALL(fflush(f));
    note_file("file");
}

/* --- errors -------------------------------------------------------------------------- */

CASE(a_full_device) {
    FILE *f = fopen("/dev/full", "w");
    WITH_ERRNO(fputws(L"text", f));
    WITH_ERRNO(fflush(f));
    note_flags(f);
    WITH_ERRNO(fputws(L"text", f));
    int at = 0;
    for (errno = 0; at < 10000 && fputwc(L'x', f) != WEOF; at++)
        ;
    say("refused at %d, errno %d", at, errno);
    WITH_ERRNO(fputws(L"text", f));
    CALL((long)__fpending(f));
    WITH_ERRNO(fclose(f));
    f = fopen("/dev/full", "w");
    WITH_ERRNO(fputws(L"text", f));
    WITH_ERRNO(fclose(f));
}

CASE(a_limit_on_files) {
    struct rlimit limit = {20000, 20000};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    FILE *f = fopen("file", "w");
    for (int i = 0; i < 30000; i++) {
        errno = 0;
        if (fputwc(L'x', f) == WEOF)
            say("at %d: errno %d, size %ld", i, errno, size_of("file"));
    }
    note_flags(f);
    WITH_ERRNO(fclose(f));
    say("%ld", size_of("file"));
}

CASE(a_broken_pipe) {
    signal(SIGPIPE, SIG_IGN);
    FILE *f = open_pipe();
    close(ends[0]);
    WITH_ERRNO(fputws(L"text", f));
    WITH_ERRNO(fflush(f));
    note_flags(f);
    WITH_ERRNO(fclose(f));
}

CASE(what_cannot_be_written) {
    put_text("file", "text");
    FILE *f = fopen("file", "r");
    WITH_ERRNO(fputwc(L'x', f));
    note_flags(f);
    WITH_ERRNO(fputws(L"x", f));
    WITH_ERRNO(fwprintf(f, L"%d", 5));
    WITH_ERRNO(fclose(f));
    f = fopen("file", "w");
    fputws(L"text", f);
    close(fileno(f));
    WITH_ERRNO(fflush(f));
    note_flags(f);
    WITH_ERRNO(fclose(f));
}

/* After a seek, libc's buffer begins at a multiple of the block size. */
static void write_near_the_end_of_a_block(const char *mode) {
    for (int size = 4079; size < 4100; size++) {
        put_pattern("file", (size_t)size);
        FILE *f = fopen("file", mode);
        CALL(fseek(f, 0, SEEK_END));
        CALL(fputws(L"caf\xe9 and some more\n", f));
        CALL(fwprintf(f, L"%d\n", size));
        CALL(fclose(f));
        note_file("file");
    }
}

CASE(near_the_end_of_a_block) {
    setlocale(LC_ALL, "C.UTF-8");
    write_near_the_end_of_a_block("r+");
    write_near_the_end_of_a_block("r+,ccs=ISO-8859-1");
}

/* --- much output, and its visibility --------------------------------------------------------- */

static void look(void) {
    say("%ld", size_of("file"));
    note_file("file");
}

static FILE *much(const char *mode) {
    setlocale(LC_ALL, "C.UTF-8");
    FILE *f = fopen("file", mode);
    for (int i = 0; i < 30000; i++)
        fwprintf(f, L"line %d \xe9\n", i);
    return f;
}

CASE(much_and_a_child_that_looks) {
    much("w");
    child(look);
}

CASE(much_and_a_command_that_looks) {
    FILE *f = much("a");
    CALL(system("cksum <file"));
    fputws(L"the end\n", f);
    CALL(system("cksum <file"));
    fclose(f);
    note_file("file");
}

CASE(much_and_quick_exit) {
    much("w");
    _exit(3);
}

CASE(much_and_exit) {
    much("w");
    exit(4);
}

CASE(much_and_abort) {
    much("w");
    abort();
}

CASE(much_and_a_signal) {
    much("w");
    raise(SIGTERM);
}

CASE(much_and_a_descriptor_of_its_own) {
    FILE *f = much("w");
    int fd = dup(fileno(f));
    write(fd, "[raw]", 5);
    fputws(L"after\n", f);
    lseek(fd, 10, SEEK_SET);
    fflush(f);
    note_file("file");
}

CASE(much_and_a_place) {
    FILE *f = much("w+");
    wchar_t line[40];
    CALL(ftell(f));
    CALL(fseek(f, 10 + 10 + 10, SEEK_SET));
    CALL(fgetws(line, 40, f) != NULL);
    CALL(fgetws(line, 40, f));
    CALL(ftell(f));
    CALL(fseek(f, 0, SEEK_CUR));
    CALL(fputws(L"[here]", f));
    CALL(fseek(f, 0, SEEK_END));
    CALL(ftell(f));
    CALL(fclose(f));
    note_file("file");
}

static void to_standard_output(void) {
    setlocale(LC_ALL, "C.UTF-8");
    for (int i = 0; i < 4000; i++) {
        wprintf(L"line %d\n", i);
        if (i % 1000 == 0)
            fwprintf(stderr, L"error %d\n", i);
        if (i % 1500 == 0)
            write(1, "[raw]\n", 6);
    }
}

CASE(much_to_standard_output) {
    to_standard_output();
}

CASE(much_to_standard_output_and_quick_exit) {
    to_standard_output();
    _exit(0);
}

CASE(both_outputs_to_one_file) {
    dup2(1, 2);
    to_standard_output();
}

CASE(two_streams_on_one_file) {
    FILE *f = fopen("file", "w"), *g = fdopen(dup(fileno(f)), "w");
    for (int i = 0; i < 3000; i++) {
        fwprintf(f, L"wide %d\n", i);
        fprintf(g, "bytes %d\n", i);
    }
    CALL(fclose(g));
    CALL(fclose(f));
    note_file("file");
}

CASE(appending) {
    put_text("file", "there already\n");
    FILE *f = fopen("file", "a+");
    wchar_t line[40];
    CALL(fgetws(line, 6, f));
    CALL(fseek(f, 0, SEEK_CUR));
    CALL(fputws(L"appended\n", f));
    CALL(ftell(f));
    rewind(f);
    CALL(fgetws(line, 40, f));
    CALL(fgetws(line, 40, f));
    CALL(fgetws(line, 40, f));
    CALL(fputws(L"at the end\n", f));
    CALL(fclose(f));
    note_file("file");
}

CASE(a_command_and_wide_output) {
    fputws(L"before\n", stdout);
    CALL(system("echo in between"));
    fputws(L"after\n", stdout);
    fflush(NULL);
    CALL(system("echo at last"));
}

CASE(exec_loses_what_is_not_written) {
    setlocale(LC_ALL, "C.UTF-8");
    for (int i = 0; i < 2000; i++)
        wprintf(L"line %d\n", i);
    execlp("echo", "echo", "the other", (char *)NULL);
}

/* --- threads --------------------------------------------------------------------------- */

static void *write_lines(void *file) {
    for (int i = 0; i < 3000; i++) {
        flockfile(file);
        fputws_unlocked(L"one ", file);
        putwc_unlocked(L'\xe9', file);
        fputws_unlocked(L" line\n", file);
        funlockfile(file);
        fputws(L"another line\n", file);
    }
    return NULL;
}

CASE(threads) {
    setlocale(LC_ALL, "C.UTF-8");
    pthread_t thread[4];
    wchar_t line[40];
    int one = 0, another = 0, other = 0;
    FILE *f = fopen("file", "w+");
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, write_lines, f);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    rewind(f);
    while (fgetws(line, 40, f)) {
        one += wcscmp(line, L"one \xe9 line\n") == 0;
        another += wcscmp(line, L"another line\n") == 0;
        other++;
    }
    say("%d %d of %d", one, another, other);
    fclose(f);
    unlink("file");
}

static pthread_barrier_t together;

static void *write_characters(void *file) {
    pthread_barrier_wait(&together);
    put_many(file, L'x', 1500000);
    return NULL;
}

CASE(threads_that_write_characters) {
    pthread_t thread[3];
    FILE *f = fopen("file", "w");
    pthread_barrier_init(&together, NULL, 3);
    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, write_characters, f);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    CALL(fclose(f));
    say("%ld", size_of("file"));
    unlink("file");
}

/* --- memory --------------------------------------------------------------------------- */

CASE(wide_memory) {
    wchar_t *text;
    size_t size;
    FILE *f = open_wmemstream(&text, &size);
    CALL(fwide(f, 0));
    CALL(fputwc(L'w', f));
    CALL(fputws(L"ide ", f));
    CALL(fwprintf(f, L"%d %ls", 5, L"text"));
    CALL(fflush(f));
    say("%ld", (long)size);
    CALL((wchar_t *)text);
    for (int i = 0; i < 9000; i++)
        putwc(L'x', f);
    CALL(fseek(f, 3, SEEK_SET));
    CALL(fputws(L"there", f));
    CALL(ftell(f));
    WITH_ERRNO(fputs("bytes", f));
    WITH_ERRNO(fgetwc(f));
    CALL(fclose(f));
    say("%ld", (long)size);
    free(text);
}
