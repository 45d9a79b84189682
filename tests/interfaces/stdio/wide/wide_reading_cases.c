/* SPDX-License-Identifier: MIT
 *
 * wide_reading_cases.c - input of wide characters: characters divided between reads, malformed and
 * unfinished ones, ungetwc, lines, and the offset afterwards.
 */
#include "tests/interfaces/stdio/transcript.h"

#include <limits.h>
#include <locale.h>
#include <pthread.h>
#include <stdio_ext.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static void note_rest(FILE *f) {
    wint_t ch;
    do
        ch = CALL(fgetwc(f));
    while (ch != WEOF);
    note_flags(f);
}

static void read_bytes(const char *bytes) {
    put_text("file", bytes);
    FILE *f = fopen("file", "r");
    note_rest(f);
    say("offset %ld", raw_offset(fileno(f)));
    clearerr(f);
    note_rest(f);
    note_rest(f);
    CALL(ftell(f));
    fclose(f);
}

CASE(malformed) {
    setlocale(LC_ALL, "C.UTF-8");
    read_bytes("");
    read_bytes("ok");
    read_bytes("a\xff");
    read_bytes("\xff");
    read_bytes("\x80z");
    read_bytes("a\xc3z");
    read_bytes("\xc3z");
    read_bytes("\xc0\x80z");
    read_bytes("\xed\xa0\x80z");
    read_bytes("a\xed\xbf\xbf");
    read_bytes("\xf4\x90\x80\x80z");
    read_bytes("\xf8\x88\x80\x80\x80z");
    read_bytes("\xfc\x84\x80\x80\x80\x80z");
    read_bytes("\xfe\x84\x80\x80\x80\x80\x80z");
    read_bytes("\xe0\x80\x80z");
    read_bytes("\xf0\x80\x80\x80z");
    read_bytes("\xef\xbf\xbe\xef\xbf\xbf\xef\xbb\xbfz");
}

CASE(unfinished) {
    setlocale(LC_ALL, "C.UTF-8");
    read_bytes("a\xc3");
    read_bytes("\xc3");
    read_bytes("\xe2\x82");
    read_bytes("a\xe2\x82");
    read_bytes("\xf0\x9f\x98");
    read_bytes("ab\xf0\x9f");
}

CASE(malformed_in_the_c_locale) {
    read_bytes("a\xe9z");
    read_bytes("\xff");
    read_bytes("\x7f\x80");
}

static void put_many(const char *path, const char *character, size_t times, const char *after) {
    static char text[30000];
    size_t n = strlen(character);
    for (size_t i = 0; i < times; i++)
        memcpy(text + i * n, character, n + 1);
    strcat(text, after);
    put_text(path, text);
}

CASE(characters_across_the_ends_of_reads) {
    setlocale(LC_ALL, "C.UTF-8");
    for (int more = 0; more < 4; more++) {
        put_many("file", "\xe2\x82\xac", 4000, &"abc\n"[more]);
        FILE *f = fopen("file", "r");
        long n = 0, sum = 0;
        for (wint_t ch; (ch = fgetwc(f)) != WEOF; sum += (long)ch)
            if (n++ % 700 == 0)
                say("%ld at %ld and %ld", n, ftell(f), raw_offset(fileno(f)));
        say("%ld characters, sum %ld", n, sum);
        note_flags(f);
        fclose(f);
    }
}

CASE(errors_after_many) {
    static const char *const ends[] = {"\xff", "\xe2", "\xe2\x82", "x\xff\nmore\n"};
    setlocale(LC_ALL, "C.UTF-8");
    for (int i = 0; i < 4; i++) {
        for (int times = 1363; times < 1368; times++) {
            put_many("file", "\xe2\x82\xac", (size_t)times, ends[i]);
            FILE *f = fopen("file", "r");
            int n = 0;
            while (fgetwc(f) != WEOF)
                n++;
            say("%d characters, errno %d, offset %ld", n, errno, raw_offset(fileno(f)));
            note_flags(f);
            WITH_ERRNO(fgetwc(f));
            fclose(f);
        }
    }
}

static void read_with(char *buffer, int mode, size_t size) {
    wchar_t line[40];
    put_text("file", "caf\xc3\xa9 \xe2\x82\xac and \xf0\x9f\x98\x80\nmore\nlast \xc3");
    FILE *f = fopen("file", "r");
    CALL(setvbuf(f, buffer, mode, size));
    CALL(fgetwc(f));
    say("offset %ld", raw_offset(fileno(f)));
    CALL(fgetws(line, 8, f));
    CALL(ftell(f));
    CALL(fgetws(line, 40, f));
    say("offset %ld", raw_offset(fileno(f)));
    if (!buffer) /* libc loops on a seek if its buffer is too small */
        CALL(fseek(f, 5, SEEK_SET));
    note_rest(f);
    fclose(f);
}

CASE(buffers_of_all_sizes) {
    static char buffer[100];
    setlocale(LC_ALL, "C.UTF-8");
    read_with(NULL, _IONBF, 0);
    read_with(NULL, _IOLBF, 0);
    for (size_t size = 1; size < 40; size++) {
        say("size %d", (int)size);
        read_with(buffer, _IOFBF, size);
    }
}

CASE(a_late_setvbuf) {
    static char buffer[64];
    setlocale(LC_ALL, "C.UTF-8");
    put_many("file", "\xc3\xa9", 3000, "end");
    FILE *f = fopen("file", "r");
    CALL(fgetwc(f));
    CALL(setvbuf(f, buffer, _IOFBF, sizeof buffer));
    say("offset %ld", raw_offset(fileno(f)));
    CALL(fgetwc(f));
    say("offset %ld", raw_offset(fileno(f)));
    CALL(ftell(f));
    CALL(setvbuf(f, NULL, _IONBF, 0));
    CALL(fgetwc(f));
    CALL(fgetwc(f));
    say("offset %ld", raw_offset(fileno(f)));
    fclose(f);
}

CASE(pushing_back) {
    setlocale(LC_ALL, "C.UTF-8");
    put_text("file", "caf\xc3\xa9 one\ntwo\n");
    FILE *f = fopen("file", "r");
    for (wint_t ch = L'A'; ch <= L'D'; ch++)
        CALL(ungetwc(ch, f));
    for (int i = 0; i < 6; i++)
        CALL(fgetwc(f));
    CALL(ungetwc(L'a', f));
    CALL(ungetwc(L'\x20ac', f));
    CALL(ungetwc(WEOF, f));
    WITH_ERRNO(ftell(f));
    CALL(fgetwc(f));
    CALL(ftell(f));
    CALL(ungetwc(L'x', f));
    CALL(fseek(f, 0, SEEK_SET));
    CALL(fgetwc(f));
    for (int i = 0; i < 300; i++)
        if (ungetwc((wint_t)(0x100 + i), f) == WEOF)
            say("refused %d", i);
    for (int i = 0; i < 303; i++)
        if (i % 50 == 0 || i > 298)
            CALL(fgetwc(f));
        else
            fgetwc(f);
    note_rest(f);
    CALL(ungetwc(L'z', f));
    note_flags(f);
    note_rest(f);
    rewind(f);
    CALL(fgetwc(f));
    CALL(ungetwc(L'y', f));
    wchar_t line[20];
    CALL(fgetws(line, 20, f));
    CALL(ungetwc(L'x', f));
    CALL(fwscanf(f, L"%ls", line));
    CALL((wchar_t *)line);
}

CASE(pushing_back_the_last_byte_of_what_was_read) {
    put_text("file", "abc\n");
    FILE *f = fopen("file", "r");
    CALL(fgetwc(f));
    CALL(ungetwc(L'\n', f));
    note_rest(f);
}

CASE(lines) {
    wchar_t line[5000];
    setlocale(LC_ALL, "C.UTF-8");
    put_many("file", "\xc3\xa9", 4700, "\nsecond\n\nlast");
    FILE *f = fopen("file", "r");
    WITH_ERRNO(fgetws(line, 0, f));
    CALL(fgetws(line, 1, f));
    CALL(fgetws(line, 2, f));
    CALL(fgetws(line, 3, f));
    CALL(fgetws(line, 5000, f) != NULL);
    CALL((long)wcslen(line));
    CALL(fgetws(line, 7, f));
    CALL(fgetws(line, 7, f));
    CALL(fgetws_unlocked(line, 7, f));
    CALL(fgetws(line, 7, f));
    CALL(fgetws(line, 7, f));
    note_flags(f);
}

CASE(scanning) {
    wchar_t word[20];
    char narrow[20];
    int a = 0, n = 0;
    setlocale(LC_ALL, "C.UTF-8");
    put_text("file", "12 caf\xc3\xa9 0x1f [abc] \xe2\x82\xac 7 x \xff 9");
    FILE *f = fopen("file", "r");
    CALL(fwscanf(f, L"%d %19ls%n", &a, word, &n));
    say("%d %d", a, n);
    CALL((wchar_t *)word);
    CALL(fwscanf(f, L"%x [%19[a-c]] %lc", &a, narrow, word));
    say("%x %s %x", a, narrow, (int)word[0]);
    CALL(ftell(f));
    CALL(fwscanf(f, L"%d%d", &a, &a));
    WITH_ERRNO(fwscanf(f, L"x%ls", word));
    note_flags(f);
    CALL(ftell(f));
}

CASE(the_offset_at_the_end) {
    wchar_t line[40];
    setlocale(LC_ALL, "C.UTF-8");
    CALL(fgetws(line, 40, stdin));
    CALL(ungetwc(L'e', stdin));
}

CASE(the_offset_after_fflush) {
    wchar_t line[40];
    setlocale(LC_ALL, "C.UTF-8");
    put_many("file", "\xc3\xa9", 3000, "end");
    FILE *f = fopen("file", "r");
    CALL(fgetws(line, 40, f));
    CALL(fflush(f));
    say("offset %ld", raw_offset(fileno(f)));
    CALL(fgetws(line, 40, f) != NULL);
    CALL(fclose(f));
    CALL(fgetws(line, 40, stdin));
    CALL(fflush(stdin));
    say("offset %ld", raw_offset(0));
    CALL(fgetws(line, 40, stdin));
    CALL(fclose(stdin));
}

static void read_one_more(void) {
    wchar_t line[40];
    CALL(fgetws(line, 40, stdin));
    say("offset %ld", raw_offset(0));
}

CASE(a_child_reads_on) {
    wchar_t line[40];
    CALL(fgetws(line, 40, stdin));
    say("offset %ld", raw_offset(0));
    child(read_one_more);
    CALL(fgetws(line, 40, stdin));
}

static int ends[2];

/* Writes each byte after the one before it has been read. */
static void *write_slowly(void *text) {
    for (const char *p = text; *p; p++) {
        int waiting = 1;
        raw_write(ends[1], p, 1);
        while (waiting > 0 && ioctl(ends[1], FIONREAD, &waiting) == 0)
            usleep(200);
    }
    close(ends[1]);
    return NULL;
}

CASE(a_slow_pipe) {
    pthread_t writer;
    setlocale(LC_ALL, "C.UTF-8");
    CALL(pipe(ends));
    FILE *f = fdopen(ends[0], "r");
    pthread_create(&writer, NULL, write_slowly, "a\xc3\xa9\xe2\x82\xac\n\xf0\x9f\x98\x80z\xe2\x82");
    note_rest(f);
    note_rest(f);
    pthread_join(writer, NULL);
}

CASE(a_pipe_that_would_block) {
    setlocale(LC_ALL, "C.UTF-8");
    CALL(pipe2(ends, O_NONBLOCK));
    FILE *f = fdopen(ends[0], "r");
    wchar_t line[20];
    WITH_ERRNO(fgetwc(f));
    note_flags(f);
    clearerr(f);
    kernel_write(ends[1], "abc\xe2\x82");
    WITH_ERRNO(fgetws(line, 20, f));
    note_flags(f);
    clearerr(f);
    kernel_write(ends[1], "\xac\n");
    WITH_ERRNO(fgetws(line, 20, f));
    kernel_write(ends[1], "\xe2");
    WITH_ERRNO(fgetwc(f));
    note_flags(f);
    clearerr(f);
    kernel_write(ends[1], "\x82\xac");
    WITH_ERRNO(fgetwc(f));
}

CASE(what_cannot_be_read) {
    FILE *f = fopen("file", "w");
    WITH_ERRNO(fgetwc(f));
    note_flags(f);
    fclose(f);
    f = fopen(".", "r");
    WITH_ERRNO(fgetwc(f));
    note_flags(f);
    fclose(f);
    f = fopen("/dev/null", "r");
    WITH_ERRNO(fgetwc(f));
    note_flags(f);
    WITH_ERRNO(ungetwc(L'x', f));
    note_flags(f);
    CALL(fgetwc(f));
    fclose(f);
}

CASE(a_growing_file) {
    put_text("file", "one\n");
    FILE *f = fopen("file", "r");
    note_rest(f);
    kernel_write(open("file", O_WRONLY | O_APPEND), "two\n");
    note_rest(f);
    clearerr(f);
    note_rest(f);
}

CASE(seeks_within_what_was_read) {
    wchar_t line[40];
    long place[40];
    setlocale(LC_ALL, "C.UTF-8");
    put_text("file", "caf\xc3\xa9 one\n\xe2\x82\xac two\n\xf0\x9f\x98\x80 three\nfour\nand the last");
    FILE *f = fopen("file", "r");
    CALL(fseek(f, 1, SEEK_SET));
    for (int i = 0; i < 4; i++) {
        place[i] = CALL(ftell(f));
        CALL(fgetws(line, 40, f));
    }
    for (int i = 3; i >= 0; i--) {
        CALL(fseek(f, place[i], SEEK_SET));
        say("offset %ld", raw_offset(fileno(f)));
        CALL(ftell(f));
        CALL(fgetwc(f));
        CALL(ftell(f));
        CALL(fseek(f, 0, SEEK_CUR));
        CALL(fgetws(line, 40, f));
        CALL(ftell(f));
    }
    CALL(fseek(f, -4, SEEK_END));
    CALL(fgetws(line, 40, f));
}

CASE(fflush_after_a_seek_and_before_the_first_character) {
    put_many("file", "\xc3\xa9", 3000, "end");
    setlocale(LC_ALL, "C.UTF-8");
    FILE *f = fopen("file", "r");
    CALL(fseek(f, 4, SEEK_SET));
    CALL(fflush(f));
    CALL(fgetwc(f));
    CALL(fseek(f, 0, SEEK_CUR));
    say("offset %ld", raw_offset(fileno(f)));
    CALL(fgetwc(f));
    say("offset %ld", raw_offset(fileno(f)));
}

CASE(places_among_shifts_in_a_small_buffer) {
    static char buffer[160];
    fpos_t place;
    wchar_t line[40];
    char text[600] = "";
    for (int i = 0; i < 12; i++)
        strcat(text, "ab\x1b$B$\"$$$&$\"\x1b(Bcd $\"e");
    put_text("file", text);
    FILE *f = fopen("file", "r,ccs=ISO-2022-JP");
    CALL(setvbuf(f, buffer, _IOFBF, sizeof buffer));
    for (int i = 0; i < 30; i++) {
        memset(&place, 0, sizeof place);
        CALL(fgetws(line, 6, f));
        CALL(ftell(f));
        CALL(fgetpos(f, &place));
#ifdef __GLIBC__
        say("state %d", place.__state.__count);
#endif
    }
    fclose(f);
}

CASE(which_seeks_are_exact) {
    wchar_t line[40];
    put_many("file", "\xc3\xa9", 3000, "end");
    setlocale(LC_ALL, "C.UTF-8");
    FILE *f = fopen("file", "r");
    CALL(fgetws(line, 10, f));
    CALL(fflush(f));
    CALL(fseek(f, 4100, SEEK_SET));
    say("offset %ld", raw_offset(fileno(f)));
    CALL(fgetwc(f));
    CALL(fseek(f, 20, SEEK_SET));
    say("offset %ld", raw_offset(fileno(f)));
    CALL(fgetwc(f));
    CALL(ftell(f));
    f = fopen("file", "r");
    CALL(fwide(f, 1));
    CALL(fseek(f, 4100, SEEK_SET));
    say("offset %ld", raw_offset(fileno(f)));
    CALL(fgetwc(f));
    CALL(fseek(f, 20, SEEK_SET));
    say("offset %ld", raw_offset(fileno(f)));
}

CASE(the_offset_moved_at_the_end_of_the_file) {
    put_text("file", "caf\xc3\xa9\nand more\n");
    setlocale(LC_ALL, "C.UTF-8");
    FILE *f = fopen("file", "r");
    CALL(fseek(f, 5, SEEK_SET));
    note_rest(f);
    CALL(syscall(SYS_lseek, fileno(f), 3L, SEEK_SET));
    clearerr(f);
    CALL(ftell(f));
    CALL(fseek(f, 0, SEEK_CUR));
    CALL(fgetwc(f));
}

CASE(places_among_characters_that_few_have) {
    put_text("file", "a\xf8\x88\x80\x80\x80z\xfc\x84\x80\x80\x80\x80yx");
    setlocale(LC_ALL, "C.UTF-8");
    FILE *f = fopen("file", "r");
    for (int i = 0; i < 7; i++) {
        CALL(fgetwc(f));
        CALL(ftell(f));
    }
}

CASE(a_prompt_is_shown) {
    struct stat st;
    FILE *f = fopen("/dev/zero", "r");
    setvbuf(f, NULL, _IONBF, 0);
    setvbuf(stdout, NULL, _IOLBF, 0);
    CALL(wprintf(L"prompt: "));
    fstat(1, &st);
    say("%ld", (long)st.st_size);
    CALL(fgetwc(f));
    fstat(1, &st);
    say("%ld", (long)st.st_size);
}

CASE(pushing_back_behind_a_seek_that_failed) {
    mkfifo("fifo", 0600);
    int both = open("fifo", O_RDWR);
    write(both, "abc", 3);
    FILE *f = fopen("fifo", "r");
    CALL(fwide(f, 1));
    CALL(fseek(f, 1, SEEK_SET));
    CALL(ungetwc(L'u', f));
    for (int i = 0; i < 3; i++)
        CALL(fgetwc(f));
    CALL(fclose(f));
    close(both);
    unlink("fifo");
}

/* Pushes back before the first read. Whether the buffer of wide characters exists shows in the offset
 * afterwards. */
static void push_back_first(const char *how, char *buf, int mode, size_t size) {
    fpos_t place;
    say("%s", how);
    FILE *f = fopen("file", "r");
    if (mode >= 0)
        CALL(setvbuf(f, buf, mode, size));
    for (int i = 0; i < 4; i++) {
        CALL(ungetwc(L'u', f));
        CALL(ungetwc(L'v', f));
        if (mode == _IOFBF && !buf && i == 2)
            CALL(setvbuf(f, NULL, _IOFBF, 0));
        CALL(fgetpos(f, &place));
        WITH_ERRNO(ftell(f));
        if (i == 1)
            CALL(fgetwc(f));
        CALL(fgetpos(f, &place));
        if (i == 2)
            rewind(f);
        else
            CALL(i % 2 ? fseek(f, 0, SEEK_SET) : fsetpos(f, &place));
        CALL(__fbufsize(f));
    }
    note_rest(f);
    CALL(fclose(f));
}

CASE(pushing_back_before_anything_is_read) {
    char own[100];
    put_text("file", "first\nsecond\nthird\n");
    push_back_first("as it is", NULL, -1, 0);
    push_back_first("unbuffered", NULL, _IONBF, 0);
    push_back_first("fully buffered", NULL, _IOFBF, 0);
    push_back_first("line buffered", NULL, _IOLBF, 0);
    push_back_first("in the program's memory", own, _IOFBF, sizeof own);
    push_back_first("in one byte", own, _IOFBF, 1);
    push_back_first("in lines of three bytes", own, _IOLBF, 3);
}

CASE(seeks_beyond_any_offset) {
    const long far[] = {LONG_MAX, LONG_MAX - 3, LONG_MIN, LONG_MIN + 3};
    put_text("file", "first\nsecond\nthird\n");
    for (int i = 0; i < 8; i++) {
        FILE *f = fopen("file", i < 4 ? "r" : "r+");
        CALL(getwc(f));
        CALL(fseek(f, far[i % 4], SEEK_CUR));
        CALL(getwc(f));
        CALL(fseek(f, far[i % 4], SEEK_END));
        CALL(getwc(f));
        note_state(f);
        fclose(f);
    }
}
