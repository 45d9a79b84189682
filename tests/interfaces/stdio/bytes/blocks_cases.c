/* SPDX-License-Identifier: MIT
 *
 * blocks_cases.c - fread and fwrite of every size near the size of libc's buffer, in every order, on
 * files, pipes and devices.
 */
#include "tests/interfaces/stdio/transcript.h"

#include <sys/wait.h>

static const int sizes[] = {0,     1,     2,     7,     63,    64,     511,     512,     1000,
                            4090,  4094,  4095,  4096,  4097,  4098,   8191,    8192,    8193,
                            12288, 16383, 65535, 65536, 65537, 100000, 1048575, 1048576, 1048577};
enum { SIZES = sizeof sizes / sizeof *sizes, FILE_SIZE = 3000000 };

static char data[2000000], back[2000000];

static void fill_data(void) {
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)pattern_at(i);
}

static bool is_pattern(const char *p, size_t at, size_t n) {
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)p[i] != pattern_at(at + i))
            return false;
    return true;
}

CASE(fread_of_each_size) {
    put_pattern("file", FILE_SIZE);
    for (int i = 0; i < SIZES; i++) {
        FILE *f = fopen("file", "r");
        size_t at = 0, n;
        int calls = 0;
        while (calls < 50 && (n = fread(back, 1, (size_t)sizes[i], f)) > 0) {
            if (!is_pattern(back, at, n))
                say("wrong bytes at %lu", at);
            at += n;
            calls++;
        }
        say("size %d: %d calls, %lu bytes, ftell %ld, eof %d", sizes[i], calls, at, ftell(f), feof(f));
        fclose(f);
    }
}

CASE(fread_of_pairs_of_sizes) {
    put_pattern("file", FILE_SIZE);
    for (int i = 0; i < SIZES; i++)
        for (int k = 0; k < SIZES; k++) {
            FILE *f = fopen("file", "r");
            size_t a = fread(back, 1, (size_t)sizes[i], f);
            bool right = is_pattern(back, 0, a);
            size_t b = fread(back, 1, (size_t)sizes[k], f);
            right = right && is_pattern(back, a, b);
            say("%d %d: %lu %lu right %d next %d", sizes[i], sizes[k], a, b, right, getc(f));
            fclose(f);
        }
}

CASE(fread_up_to_the_end) {
    for (int i = 0; i < SIZES; i++) {
        put_pattern("file", (size_t)sizes[i]);
        for (int more = -1; more <= 1; more++) {
            FILE *f = fopen("file", "r");
            int wanted = sizes[i] + more < 0 ? 0 : sizes[i] + more;
            size_t n = fread(back, 1, (size_t)wanted, f);
            say("%d of %d: %lu right %d eof %d ftell %ld next %d eof %d", wanted, sizes[i], n,
                is_pattern(back, 0, n), feof(f) != 0, ftell(f), getc(f), feof(f) != 0);
            fclose(f);
        }
    }
}

CASE(members) {
    put_pattern("file", 10000);
    FILE *f = fopen("file", "r");
    CALL(fread(back, 3, 5, f));
    CALL(fread(back, 7, 0, f));
    CALL(fread(back, 0, 7, f));
    CALL(fread(back, 4096, 2, f));
    note_state(f);
    CALL(fread(back, 1000, 5, f));
    note_state(f);
    CALL(fread(back, 1, 5, f));
    CALL(fread(back, 10, 0, f));
    fclose(f);
    f = fopen("out", "w");
    CALL(fwrite(data, 3, 5, f));
    CALL(fwrite(data, 7, 0, f));
    CALL(fwrite(data, 0, 7, f));
    CALL(fwrite(data, 4096, 3, f));
    note_state(f);
    fclose(f);
    note_file("out");
}

CASE(fwrite_of_each_size) {
    fill_data();
    for (int i = 0; i < SIZES; i++) {
        FILE *f = fopen("out", "w");
        int calls = 0;
        for (; calls < 3; calls++)
            if (fwrite(data + calls, 1, (size_t)sizes[i], f) != (size_t)sizes[i])
                say("short");
        say("size %d ftell %ld", sizes[i], ftell(f));
        fclose(f);
        note_file("out");
    }
}

CASE(fwrite_of_pairs_of_sizes) {
    fill_data();
    for (int i = 0; i < SIZES; i += 2)
        for (int k = 1; k < SIZES; k += 2) {
            FILE *f = fopen("out", "w");
            fwrite(data, 1, (size_t)sizes[i], f);
            fwrite(data, 1, (size_t)sizes[k], f);
            putc('.', f);
            fclose(f);
            note_file("out");
        }
}

CASE(records_across_many_blocks) {
    fill_data();
    FILE *f = fopen("out", "w");
    for (int i = 0; i < 30000; i++)
        fwrite(data + i, 1, (size_t)(i % 117), f);
    CALL(ftell(f));
    CALL(fclose(f));
    note_file("out");
    f = fopen("out", "r");
    bool same = true;
    for (int i = 0; i < 30000; i++)
        same = same && fread(back, 1, (size_t)(i % 117), f) == (size_t)(i % 117) &&
               !memcmp(back, data + i, (size_t)(i % 117));
    say("same %d next %d", same, getc(f));
}

/* A writer that sends 1000 bytes at a time into a pipe, then closes it. */
static FILE *pipe_of(int chunks, int chunk) {
    int ends[2];
    pipe(ends);
    if (fork() == 0) {
        close(ends[0]);
        for (int i = 0; i < chunks; i++)
            raw_write(ends[1], data + i * chunk, (size_t)chunk);
        _exit(0);
    }
    close(ends[1]);
    return fdopen(ends[0], "r");
}

CASE(fread_from_a_pipe) {
    fill_data();
    static const int wanted[] = {1, 10, 999, 4096, 5000, 70000};
    for (int i = 0; i < 6; i++) {
        FILE *f = pipe_of(200, 1000);
        size_t at = 0, n;
        bool right = true;
        for (int calls = 0; calls < 300 && (n = fread(back, 1, (size_t)wanted[i], f)) > 0; calls++) {
            right = right && is_pattern(back, at, n);
            at += n;
        }
        say("wanted %d: %lu bytes, right %d eof %d", wanted[i], at, right, feof(f) != 0);
        fclose(f);
        wait(NULL);
    }
}

CASE(fwrite_into_a_pipe) {
    fill_data();
    FILE *f = popen("cksum >sum", "w");
    for (int i = 0; i < 3000; i++)
        fwrite(data + i, 1, 333, f);
    CALL(pclose(f));
    note_file("sum");
}

CASE(standard_input_to_standard_output) {
    size_t n;
    while ((n = fread(back, 1, 1000, stdin)) > 0)
        fwrite(back, 1, n, stdout);
    note_state(stdin);
}

CASE(whole_input_at_once) {
    size_t n = CALL(fread(back, 1, sizeof back, stdin));
    CALL(fwrite(back, 1, n, stdout));
    note_state(stdin);
    note_state(stdout);
}

CASE(fwrite_to_a_full_device) {
    fill_data();
    for (int i = 0; i < SIZES; i += 3) {
        FILE *f = fopen("/dev/full", "w");
        say("size %d", sizes[i]);
        WITH_ERRNO(fwrite(data, 1, (size_t)sizes[i], f));
        note_flags(f);
        WITH_ERRNO(fwrite(data, 1, 10, f));
        note_flags(f);
        CALL(fflush(f));
        CALL(fclose(f));
    }
}

CASE(fwrite_returns_what_was_written) {
    fill_data();
    int ends[2];
    pipe(ends);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    FILE *f = fdopen(ends[1], "w");
    WITH_ERRNO(fwrite(data, 1, 100000, f));
    note_flags(f);
    close(ends[0]);
}

CASE(a_nonblocking_empty_pipe) {
    int ends[2];
    pipe(ends);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    FILE *f = fdopen(ends[0], "r");
    CALL(fgetc(f));
    note_flags(f);
    raw_write(ends[1], "abc", 3);
    CALL(fgetc(f));
    note_flags(f);
    clearerr(f);
    WITH_ERRNO(fread(back, 1, 10, f));
    note_flags(f);
    raw_write(ends[1], "xyz", 3);
    clearerr(f);
    WITH_ERRNO(fread(back, 1, 3, f));
    close(ends[1]);
    CALL(fgetc(f));
    note_flags(f);
}

CASE(huge_counts) {
    put_text("file", "0123456789");
    FILE *f = fopen("file", "r");
    volatile size_t huge = (size_t)1 << 40;
    CALL(fread(back, 1, huge, f));
    note_state(f);
    rewind(f);
    CALL(fread(back, 4, huge, f));
    note_state(f);
}

CASE(holes) {
    int fd = open("file", O_WRONLY | O_CREAT, 0644);
    pwrite(fd, "end", 3, 5000000);
    close(fd);
    FILE *f = fopen("file", "r");
    long total = 0, sum = 0;
    size_t n;
    while ((n = fread(back, 1, 70000, f)) > 0)
        for (size_t i = 0; i < n; i++, total++)
            sum += back[i];
    say("total %ld sum %ld", total, sum);
}

/* A failing fwrite returns the number of bytes that libc's buffer accepted. */
CASE(again_and_again_to_a_full_device) {
    static const int modes[] = {_IOFBF, _IOLBF, _IONBF};
    for (int m = 0; m < 3; m++) {
        for (size_t n = 100; n < sizeof data; n = n * 3 + 1) {
            FILE *f = fopen("/dev/full", m ? "w" : "a");
            setvbuf(f, NULL, modes[m], 0);
            for (int i = 0; i < 3; i++) {
                WITH_ERRNO(fwrite(data, 1, n, f));
                note_state(f);
            }
            WITH_ERRNO(putc('x', f));
            WITH_ERRNO(fwrite(data, 1, n, f));
            WITH_ERRNO(fflush(f));
            WITH_ERRNO(fclose(f));
        }
    }
}
