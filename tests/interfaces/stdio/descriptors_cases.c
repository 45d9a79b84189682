/* SPDX-License-Identifier: MIT
 *
 * descriptors_cases.c - programs that use a stream's descriptor directly: dup2, close, read, write, lseek,
 * ftruncate, fcntl.
 */
#include "transcript.h"

#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

CASE(dup2_over_a_buffered_output) {
    printf("printed before. ");
    int fd = open("new", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    CALL(dup2(fd, 1));
    printf("printed after.");
    CALL(fflush(stdout));
    note_file("new");
}

CASE(dup2_over_much_output) {
    for (int i = 0; i < 3000; i++)
        printf("before %d\n", i);
    int fd = open("new", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    dup2(fd, 1);
    for (int i = 0; i < 3000; i++)
        printf("after %d\n", i);
}

CASE(dup2_and_back) {
    printf("one ");
    fflush(stdout);
    int saved = dup(1), fd = open("new", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    dup2(fd, 1);
    close(fd);
    printf("two ");
    fflush(stdout);
    dup2(saved, 1);
    close(saved);
    printf("three ");
    note_file("new");
}

CASE(dup2_over_a_buffered_input) {
    put_text("new", "new line 1\nnew line 2\n");
    char line[20];
    CALL(fgets(line, sizeof line, stdin));
    int fd = open("new", O_RDONLY);
    dup2(fd, 0);
    CALL(fgets(line, sizeof line, stdin));
    int count = 0;
    char last[20] = "";
    while (fgets(line, sizeof line, stdin)) {
        count++;
        strcpy(last, line);
    }
    say("%d more, last %q", count, last);
}

CASE(close_and_reuse_of_output) {
    printf("printed before. ");
    CALL(close(1));
    CALL(open("new", O_WRONLY | O_CREAT | O_TRUNC, 0644));
    printf("printed after.");
    CALL(fflush(stdout));
    note_file("new");
}

CASE(close_of_output) {
    printf("printed before. ");
    CALL(close(1));
    printf("printed after.");
    WITH_ERRNO(fflush(stdout));
    note_flags(stdout);
}

CASE(close_of_input) {
    CALL(getchar());
    CALL(close(0));
    CALL(getchar());
    char data[10000];
    CALL(fread(data, 1, sizeof data, stdin));
    note_flags(stdin);
    WITH_ERRNO(fclose(stdin));
}

CASE(close_under_a_stream) {
    FILE *f = fopen("out", "w");
    fputs("text", f);
    CALL(close(fileno(f)));
    CALL(fputs("more", f));
    WITH_ERRNO(fclose(f));
    note_file("out");
    put_text("in", "0123456789");
    f = fopen("in", "r");
    CALL(getc(f));
    CALL(close(fileno(f)));
    CALL(getc(f));
    WITH_ERRNO(fclose(f));
}

CASE(closed_and_taken_by_another) {
    put_pattern("a", 100000);
    put_text("b", "the second file");
    FILE *a = fopen("a", "r");
    CALL(getc(a));
    close(fileno(a));
    FILE *b = fopen("b", "r");
    say("same %d", fileno(a) == fileno(b));
    char text[20];
    CALL(fgets(text, sizeof text, b));
    CALL(getc(b));
    note_state(b);
}

CASE(read_between) {
    char text[20] = "";
    CALL(getchar());
    CALL(read(0, text, 11));
    say("%q", text);
    CALL(getchar());
    CALL(ftell(stdin));
}

CASE(write_between) {
    printf("one ");
    CALL(write(1, "[write]", 7));
    printf("two ");
    fflush(stdout);
    CALL(write(1, "[write]", 7));
    struct iovec v = {(void *)"[writev]", 8};
    CALL(writev(1, &v, 1));
    printf("three");
}

CASE(write_between_much) {
    for (int i = 0; i < 5; i++) {
        for (int k = 0; k < 1000; k++)
            printf("line %d\n", k);
        write(1, "[write]", 7);
    }
}

CASE(lseek_between) {
    FILE *f = fopen("out", "w+");
    for (int k = 0; k < 3000; k++)
        fprintf(f, "line %d\n", k);
    CALL(lseek(fileno(f), 0, SEEK_CUR));
    CALL(fflush(f));
    CALL(lseek(fileno(f), 0, SEEK_CUR));
    CALL(lseek(fileno(f), 5, SEEK_SET));
    fputs("HERE", f);
    CALL(fflush(f));
    CALL(lseek(fileno(f), 0, SEEK_CUR));
    fclose(f);
    note_file("out");
}

CASE(lseek_while_reading) {
    getchar();
    CALL(lseek(0, 0, SEEK_CUR));
    char line[20];
    for (int i = 0; i < 1000; i++)
        fgets(line, sizeof line, stdin);
    CALL(lseek(0, 0, SEEK_CUR));
    CALL(lseek(0, 120, SEEK_SET));
    int count = 0;
    while (fgets(line, sizeof line, stdin))
        count++;
    say("%d more", count);
}

CASE(truncate_between) {
    FILE *f = fopen("out", "w");
    fputs("0123456789", f);
    CALL(ftruncate(fileno(f), 5));
    fflush(f);
    note_file("out");
    CALL(ftruncate(fileno(f), 5));
    fputs("abc", f);
    fclose(f);
    note_file("out");
}

CASE(truncate_after_much) {
    FILE *f = fopen("out", "w");
    for (int k = 0; k < 3000; k++)
        fprintf(f, "line %d\n", k);
    CALL(ftruncate(fileno(f), 100));
    fclose(f);
    struct stat st;
    stat("out", &st);
    say("size %ld", (long)st.st_size);
}

CASE(fsync_between) {
    FILE *f = fopen("out", "w");
    fputs("text", f);
    CALL(fsync(fileno(f)));
    note_file("out");
    CALL(fdatasync(fileno(f)));
    fclose(f);
}

CASE(dup_of_a_stream) {
    put_lines("in", 3000);
    FILE *f = fopen("in", "r");
    char line[20];
    CALL(fgets(line, sizeof line, f));
    FILE *g = fdopen(dup(fileno(f)), "r");
    CALL(fgets(line, sizeof line, g));
    CALL(fgets(line, sizeof line, f));
    FILE *out = fopen("out", "w"), *other = fdopen(dup(fileno(out)), "w");
    fputs("one ", out);
    fputs("two ", other);
    fflush(other);
    fflush(out);
    fputs("three ", other);
    fclose(out);
    fclose(other);
    note_file("out");
}

CASE(dup_of_standard_output) {
    FILE *other = fdopen(dup(1), "w");
    printf("one ");
    fputs("two ", other);
    fclose(other);
    printf("three ");
}

CASE(append_flag_set_late) {
    put_text("out", "0123456789");
    FILE *f = fopen("out", "r+");
    fputs("AB", f);
    fcntl(fileno(f), F_SETFL, O_APPEND);
    fflush(f);
    fputs("CD", f);
    fclose(f);
    note_file("out");
}

CASE(copying_calls_see_our_output) {
    FILE *f = fopen("a", "w+");
    fputs("text of the file", f);
    int out = open("b", O_RDWR | O_CREAT, 0644);
    off_t at = 0;
    CALL(sendfile(out, fileno(f), &at, 100));
    fflush(f);
    at = 0;
    CALL(sendfile(out, fileno(f), &at, 100));
    at = 5;
    CALL(copy_file_range(fileno(f), &at, out, NULL, 4, 0));
    note_file("b");
}

CASE(mapped_by_the_program) {
    FILE *f = fopen("a", "w+");
    fputs("text of the file", f);
    fflush(f);
    char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(f), 0);
    say("%b", map, 16);
    rewind(f);
    map[0] = 'T';
    CALL(getc(f));
}

CASE(locks_survive) {
    FILE *f = fopen("a", "w+");
    CALL(flock(fileno(f), LOCK_EX));
    CALL(lockf(fileno(f), F_LOCK, 0));
    fputs("text", f);
    fflush(f);
    rewind(f);
    getc(f);
    pid_t pid = fork();
    if (pid == 0) {
        int fd = open("a", O_RDWR);
        CALL(flock(fd, LOCK_EX | LOCK_NB));
        CALL(lockf(fd, F_TEST, 0));
        _exit(0);
    }
    finish(pid);
}

CASE(sockets) {
    int ends[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    FILE *a = CALL(fdopen(ends[0], "r+")), *b = CALL(fdopen(ends[1], "r+"));
    CALL(fputs("question\n", a));
    CALL(fflush(a));
    char line[20];
    CALL(fgets(line, sizeof line, b));
    CALL(fputs("answer\n", b));
    CALL(fflush(b));
    CALL(fgets(line, sizeof line, a));
    CALL(fseek(a, 0, SEEK_SET));
    CALL(ftell(a));
    CALL(fputs("more\n", a));
    CALL(fclose(a));
    CALL(fgets(line, sizeof line, b));
    CALL(fgets(line, sizeof line, b));
    note_flags(b);
}

/* On this socket each write is a separate record. */
CASE(records_of_a_socket) {
    static char many[9000], got[20000];
    for (size_t i = 0; i < sizeof many - 1; i++)
        many[i] = i % 700 ? 'z' : '\n';
    for (int mode = 0; mode < 3; mode++) {
        int ends[2];
        socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends);
        FILE *f = fdopen(ends[0], "w");
        CALL(setvbuf(f, NULL, (int[]){_IOFBF, _IOLBF, _IONBF}[mode], 0));
        CALL(fwrite("a\nbb\nccc", 1, 8, f));
        CALL(fflush(f));
        CALL(fwrite(many, 1, sizeof many, f));
        CALL(fputs(many, f));
        CALL(fclose(f));
        ssize_t n;
        while ((n = read(ends[1], got, sizeof got)) > 0)
            say("record of %ld", (long)n);
        close(ends[1]);
    }
}

CASE(records_of_much_behind_a_little) {
    static char many[9000], got[20000], own[100];
    memset(many, 'z', sizeof many);
    for (size_t n = 50; n <= sizeof many; n *= 2) {
        int ends[2];
        socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends);
        FILE *f = fdopen(ends[0], "w");
        if (n % 400 == 0)
            setvbuf(f, own, _IOFBF, sizeof own);
        CALL(fputs("a little\n", f));
        CALL(fwrite(many, 1, n, f));
        CALL(fputs("again", f));
        CALL(fwrite(many, 1, n, f));
        CALL(fclose(f));
        for (ssize_t r; (r = read(ends[1], got, sizeof got)) > 0;)
            say("record of %ld", (long)r);
        close(ends[1]);
    }
}

CASE(a_datagram_socket) {
    int ends[2];
    socketpair(AF_UNIX, SOCK_DGRAM, 0, ends);
    FILE *a = fdopen(ends[0], "w"), *b = fdopen(ends[1], "r");
    fputs("first message\n", a);
    fflush(a);
    fputs("second message\n", a);
    fflush(a);
    char line[30];
    CALL(fgets(line, sizeof line, b));
    CALL(fgets(line, sizeof line, b));
}

CASE(a_fifo) {
    mkfifo("fifo", 0644);
    pid_t pid = fork();
    if (pid == 0) {
        FILE *f = fopen("fifo", "w");
        fputs("through the fifo\n", f);
        exit(0);
    }
    FILE *f = fopen("fifo", "r");
    char line[30];
    CALL(fgets(line, sizeof line, f));
    CALL(fgets(line, sizeof line, f));
    note_flags(f);
    finish(pid);
    unlink("fifo");
}

CASE(memory_files) {
    int fd = memfd_create("test", MFD_ALLOW_SEALING);
    FILE *f = fdopen(fd, "w+");
    fputs("in memory", f);
    rewind(f);
    char text[20];
    CALL(fgets(text, sizeof text, f));
    CALL(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE));
    CALL(fseek(f, 0, SEEK_SET));
    CALL(fputs("XX", f));
    WITH_ERRNO(fflush(f));
    note_flags(f);
}

#ifdef __GLIBC__ /* musl lacks this interface */
CASE(all_descriptors_closed) {
    printf("before");
    FILE *f = fopen("out", "w");
    fputs("text", f);
    CALL(close_range(3, 150, 0));
    WITH_ERRNO(fclose(f));
    CALL(fopen("out", "r") != NULL);
}
#endif

CASE(descriptors_in_use) {
    FILE *f = fopen("out", "w+");
    fputs("text", f);
    rewind(f);
    getc(f);
    getchar();
    putchar('x');
    for (int fd = 0; fd < 60; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            say("fd %d is open", fd);
}

CASE(renamed_and_removed_while_buffered) {
    FILE *f = fopen("old", "w"), *g = fopen("doomed", "w+");
    fputs("before ", f);
    fputs("hidden", g);
    CALL(rename("old", "new"));
    CALL(unlink("doomed"));
    for (int i = 0; i < 20000; i++) {
        fputs("after\n", f);
        fputs("more\n", g);
    }
    struct stat st;
    fstat(fileno(g), &st);
    say("size %ld links %d", (long)st.st_size, (int)st.st_nlink);
    rewind(g);
    char text[7] = "";
    CALL((long)fread(text, 1, 6, g));
    say("%q", text);
    CALL(fclose(f));
    CALL(fclose(g));
    note_file("old");
    note_file("new");
}

/* A process loses a lease when it opens the file again or closes another descriptor of it; so the library
 * must do neither. */
CASE(a_lease_is_kept) {
    put_lines("leased", 2000);
    FILE *f = fopen("leased", "r");
    CALL(fcntl(fileno(f), F_SETLEASE, F_RDLCK));
    char line[30];
    while (fgets(line, sizeof line, f))
        continue;
    CALL(fcntl(fileno(f), F_GETLEASE));
    rewind(f);
    CALL(fgets(line, sizeof line, f));
    CALL(fcntl(fileno(f), F_GETLEASE));
    fclose(f);
}

/* --- the file of a descriptor ---------------------------------------------------------------- */

static int by_dup2(int fd) {
    int other = open("far", O_WRONLY);
    dup2(other, fd);
    close(other);
    return fd;
}

static int by_close_and_open(int fd) {
    close(fd);
    return open("far", O_WRONLY);
}

static int by_fclose_and_fopen(int fd) {
    FILE *f = fdopen(fd, "w");
    fclose(f);
    return fileno(fopen("far", "r+"));
}

static int by_freopen(int fd) {
    FILE *f = fdopen(fd, "w");
    return fileno(freopen("far", "r+", f));
}

static int by_number(int fd) {
    syscall(SYS_close, fd);
    return (int)syscall(SYS_openat, AT_FDCWD, "far", O_WRONLY);
}

/* Written to while the descriptor has no file, and later when it has the file that is being read. */
CASE(a_descriptor_that_becomes_the_file) {
    int (*const ways[])(int) = {by_dup2, by_close_and_open, by_fclose_and_fopen, by_freopen, by_number};
    static char text[300000];
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        FILE *f = fopen("far", "w");
        memset(text, 'a', sizeof text);
        fwrite(text, 1, sizeof text, f);
        fclose(f);
        f = fopen("far", "r");
        int fd = open("/dev/null", O_WRONLY);
        for (int n = 0; n < 100; n++)
            fread(text, 1, 1000, f);
        for (int n = 0; n < 3; n++)
            CALL(write(fd, "nowhere", 7));
        fd = ways[i](fd);
        CALL(pwrite(fd, "there", 5, 120000));
        lseek(fd, 125000, SEEK_SET);
        CALL(write(fd, "far", 3));
        CALL((long)fread(text, 1, sizeof text, f));
        text[20000 + 5] = text[25000 + 3] = '\0';
        say("%s %s", text + 20000, text + 25000);
        fclose(f);
    }
}
