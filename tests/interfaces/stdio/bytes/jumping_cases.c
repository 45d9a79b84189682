/* SPDX-License-Identifier: MIT
 *
 * jumping_cases.c - reading at scattered offsets of a file, where the library delays seeks; and other
 * readers of the descriptor or its offset.
 */
#include "tests/interfaces/stdio/transcript.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio_ext.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

enum { SIZE = 1 << 20 };

/* Returns a stream after seeks and reads at scattered offsets; notes a checksum of the bytes read. */
static FILE *jumping(size_t length) {
    static char record[1 << 16];
    put_pattern("file", SIZE);
    FILE *f = fopen("file", "r");
    unsigned at = 7, sum = 0;
    for (int i = 0; i < 9; i++) {
        at = at * 1103515245 + 12345;
        fseek(f, (long)(at >> 8) % (SIZE - (1 << 16)), SEEK_SET);
        size_t n = fread(record, 1, length, f);
        for (size_t j = 0; j < n; j++)
            sum = sum * 31 + (unsigned char)record[j];
    }
    say("%lu at a time: sum %u, at %ld", length, sum, ftell(f));
    return f;
}

/* Expects the right bytes at the stream's offset, and after a seek. */
static void go_on(FILE *f) {
    long at = ftell(f);
    int c = getc(f);
    say("goes on at %ld, right %d", at, c == pattern_at((size_t)at));
    fseek(f, 5000, SEEK_SET);
    c = getc(f);
    say("and at %ld, right %d", ftell(f), c == pattern_at(5000));
    fclose(f);
}

static const size_t lengths[] = {1, 100, 4096, 5000, 8192, 65536};
#define EACH_LENGTH(f)                                                                                       \
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)                                            \
        for (FILE *f = jumping(lengths[i]); f; go_on(f), f = NULL)

CASE(calls_on_the_descriptor) {
    char text[10];
    struct iovec part = {text, sizeof text};
    EACH_LENGTH(f) CALL(lseek(fileno(f), 0, SEEK_CUR));
    EACH_LENGTH(f) CALL(syscall(SYS_lseek, fileno(f), 0, SEEK_CUR));
    EACH_LENGTH(f) {
        CALL(read(fileno(f), text, sizeof text));
        say("%b", text, 10);
        CALL(lseek(fileno(f), 0, SEEK_CUR));
    }
    EACH_LENGTH(f) {
        CALL(readv(fileno(f), &part, 1));
        say("%b", text, 10);
    }
    EACH_LENGTH(f) {
        int copy = dup(fileno(f));
        CALL(lseek(copy, 0, SEEK_CUR));
        fseek(f, 100, SEEK_SET);
        getc(f);
        CALL(lseek(copy, 0, SEEK_CUR));
        close(copy);
    }
    EACH_LENGTH(f) {
        int out = open("copy", O_RDWR | O_CREAT | O_TRUNC, 0600);
        CALL(sendfile(out, fileno(f), NULL, 10));
        CALL(pread(out, text, sizeof text, 0));
        say("%b", text, 10);
        close(out);
    }
}

/* /proc/self/fdinfo shows the descriptor's offset to a program that opens it. */
CASE(looked_at_in_proc) {
    EACH_LENGTH(f) for (int by_stream = 0; by_stream < 2; by_stream++) {
        char path[40], text[100] = "";
        snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fileno(f));
        if (by_stream) {
            FILE *told = fopen(path, "r");
            fgets(text, sizeof text, told);
            fclose(told);
        } else {
            int told = open(path, O_RDONLY);
            ssize_t n = read(told, text, sizeof text - 1);
            text[n > 0 ? n : 0] = '\0';
            close(told);
        }
        say("%s", strtok(text, "\n"));
        fseek(f, 70000, SEEK_SET);
        getc(f);
    }
}

CASE(fdopen_beside_it) {
    EACH_LENGTH(f) {
        FILE *other = fdopen(dup(fileno(f)), "r");
        long at = ftell(other);
        say("the other at %ld, right %d", at, getc(other) == pattern_at((size_t)at));
        fclose(other);
    }
}

static void tell_offset(int fd) {
    char text[10] = "";
    long at = lseek(fd, 0, SEEK_CUR);
    ssize_t n = read(fd, text, sizeof text);
    say("a child at %ld reads %ld: %b", at, n, text, n > 0 ? (int)n : 0);
    _exit(0);
}

CASE(children) {
    EACH_LENGTH(f) {
        pid_t child = fork();
        if (child == 0)
            tell_offset(fileno(f));
        waitpid(child, NULL, 0);
        CALL(lseek(fileno(f), 0, SEEK_CUR));
    }
    EACH_LENGTH(f) {
        dup2(fileno(f), 0);
        CALL(system("head -c 10 | od -c"));
        CALL(lseek(fileno(f), 0, SEEK_CUR));
    }
    EACH_LENGTH(f) {
        char *const arguments[] = {"sh", "-c", "head -c 20 <&9 >told", NULL};
        pid_t child;
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, fileno(f), 9);
        CALL(posix_spawnp(&child, "sh", &actions, NULL, arguments, environ));
        waitpid(child, NULL, 0);
        note_file("told");
    }
    EACH_LENGTH(f) {
        pid_t child = fork();
        if (child == 0) {
            dup2(fileno(f), 9);
            fseek(f, 70000, SEEK_SET);
            getc(f);
            execlp("sh", "sh", "-c", "head -c 20 <&9 >told", NULL);
        }
        waitpid(child, NULL, 0);
        note_file("told");
    }
}

CASE(after_an_exec_that_failed) {
    EACH_LENGTH(f) {
        CALL(execl("/nonexistent", "x", NULL));
        CALL(lseek(fileno(f), 0, SEEK_CUR));
    }
}

CASE(flushed_closed_and_opened_anew) {
    EACH_LENGTH(f) {
        CALL(fflush(f));
        CALL(lseek(fileno(f), 0, SEEK_CUR));
    }
    EACH_LENGTH(f) {
        int copy = fcntl(fileno(f), F_DUPFD_CLOEXEC, 0);
        CALL(fseek(f, 30000, SEEK_SET));
        getc(f);
        FILE *again = freopen("file", "r", f);
        CALL(lseek(copy, 0, SEEK_CUR));
        CALL(ftell(again));
        close(copy);
    }
    EACH_LENGTH(f) {
        FILE *other = fopen("file", "r+");
        fseek(other, ftell(f), SEEK_SET);
        fputs("other", other);
        fclose(other);
        CALL(fseek(f, 0, SEEK_CUR));
        CALL(lseek(fileno(f), 0, SEEK_CUR));
        fseek(f, 77, SEEK_SET);
    }
}

CASE(at_the_end) {
    char text[100];
    EACH_LENGTH(f) {
        CALL(fseek(f, -10, SEEK_END));
        CALL(fread(text, 1, sizeof text, f));
        note_flags(f);
        CALL(lseek(fileno(f), 0, SEEK_CUR));
        CALL(ftell(f));
        CALL(fseek(f, SIZE + 5000, SEEK_SET));
        CALL(getc(f));
        CALL(lseek(fileno(f), 0, SEEK_CUR));
        CALL(fseek(f, 10, SEEK_SET));
    }
    EACH_LENGTH(f) {
        truncate("file", 1000);
        CALL(fseek(f, 20000, SEEK_SET));
        CALL(getc(f));
        CALL(ftell(f));
        CALL(lseek(fileno(f), 0, SEEK_CUR));
        put_pattern("file", SIZE);
        clearerr(f);
    }
}

CASE(places_that_are_too_far) {
    const off_t far[] = {INT32_MAX, 1L << 32, 1L << 43, 1L << 44, 1L << 60, INT64_MAX - 4095, INT64_MAX};
    EACH_LENGTH(f) for (int j = 0; j < 7; j++) {
        WITH_ERRNO(fseeko(f, far[j], SEEK_SET));
        CALL(ftello(f));
        CALL(lseek(fileno(f), 0, SEEK_CUR));
        fseek(f, 0, SEEK_SET);
        getc(f);
    }
}

CASE(a_large_file_with_holes) {
    int fd = open("large", O_RDWR | O_CREAT, 0600);
    for (off_t at = 1; at < 64; at++)
        pwrite(fd, &at, sizeof at, at << 28);
    close(fd);
    FILE *f = fopen("large", "r");
    off_t was, sum = 0;
    for (unsigned i = 0, n = 5; i < 500; i++) {
        n = n * 1103515245 + 12345;
        off_t at = (n >> 8) % 63 + 1;
        fseeko(f, at << 28, SEEK_SET);
        if (fread(&was, sizeof was, 1, f) == 1)
            sum += was == at;
    }
    say("right %ld, at %ld, descriptor %ld", (long)sum, ftell(f), lseek(fileno(f), 0, SEEK_CUR));
    fclose(f);
    unlink("large");
}

CASE(pushed_back_between) {
    EACH_LENGTH(f) {
        CALL(ungetc('x', f));
        CALL(lseek(fileno(f), 0, SEEK_CUR));
        CALL(ftell(f));
        CALL(fseek(f, 0, SEEK_CUR));
        CALL(getc(f));
        CALL(lseek(fileno(f), 0, SEEK_CUR));
    }
}

CASE(purged_and_given_a_buffer) {
    static char buffer[3000];
    EACH_LENGTH(f) {
        __fpurge(f);
        CALL(lseek(fileno(f), 0, SEEK_CUR));
        CALL(setvbuf(f, buffer, _IOFBF, sizeof buffer));
        CALL(fseek(f, 12345, SEEK_SET));
        CALL(getc(f));
        CALL(lseek(fileno(f), 0, SEEK_CUR));
    }
}
