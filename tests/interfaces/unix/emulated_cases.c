/* SPDX-License-Identifier: MIT
 *
 * emulated_cases.c - small reads of descriptors that this process has opened, which may be served without
 * the kernel, and everything that could reveal it: offsets, errors, other writers, signals and processes.
 */
#include "tests/interfaces/stdio/transcript.h"
#include "tests/interfaces/unix/lacking.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>

enum { SIZE = 300000 };
static char buffer[SIZE];
static volatile size_t too_much = (size_t)-1;

static int open_pattern(const char *path) {
    put_pattern(path, SIZE);
    return CALL(open(path, O_RDONLY));
}

/* Makes n reads of `size` bytes; notes their sum in one line. */
static void read_small(int fd, int n, size_t size) {
    long sum = 0, bytes = 0;
    for (int i = 0; i < n; i++) {
        ssize_t r = read(fd, buffer, size);
        if (r < 0)
            say("  read %d: %s", i, strerrorname_np(errno));
        for (ssize_t k = 0; k < r; k++)
            sum = sum * 31 + (unsigned char)buffer[k];
        bytes += r > 0 ? r : 0;
    }
    say("  %ld bytes, sum %lx", bytes, sum);
}

/* Returns a descriptor after many small reads. */
static int in_use(const char *path) {
    int fd = open_pattern(path);
    read_small(fd, 200, 7);
    return fd;
}

/* Runs a command that changes the file in another process. */
static void outside(const char *command) {
    CALL(system(command));
}

CASE(short_at_a_new_end) {
    int ready[2];
    put_pattern("file", SIZE);
    pipe(ready);
    pid_t child = fork();
    if (child == 0) {
        read(ready[0], buffer, 1);
        _exit(truncate("file", 1405) != 0);
    }
    int fd = open("file", O_RDONLY);
    read_small(fd, 200, 7);
    write(ready[1], "x", 1);
    waitpid(child, NULL, 0);
    for (int i = 0; i < 2; i++) {
        ssize_t r = CALL(read(fd, buffer, 16));
        say("%b", buffer, (int)r);
    }
}

CASE(offsets_of_a_huge_file) {
    char name[] = "/dev/shm/emulated.XXXXXX";
    const off_t large = (off_t)1 << 44;
    int w = mkstemp(name), fd = open(name, O_RDONLY);
    memset(buffer, 'x', SIZE);
    pwrite(w, buffer, SIZE, 0);
    unlink(name);
    read_small(fd, 200, 16);
    CALL(ftruncate(w, 2 * large));
    for (int i = 0; i < 3; i++) {
        CALL(lseek(fd, large - 10, SEEK_SET) == large - 10);
        read_small(fd, 3, 40);
        say("%ld behind", (long)(lseek(fd, 0, SEEK_CUR) - large));
    }
}

CASE(sizes) {
    static const size_t sizes[] = {1,  2,  3,   8,   15,   16,   17,   31,   32,  33,
                                   63, 64, 100, 511, 1024, 1025, 4096, 8192, 9000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int fd = open_pattern("data");
        read_small(fd, (int)(SIZE / sizes[i]) + 5, sizes[i]);
        CALL(lseek(fd, 0, SEEK_CUR));
        close(fd);
    }
}

CASE(one_size_after_the_other) {
    int fd = in_use("data");
    for (int i = 0; i < 300; i++)
        read_small(fd, 1, (size_t)(i * i % 3000));
    CALL(lseek(fd, 0, SEEK_CUR));
    read_small(fd, 100, 1);
    CALL(close(fd));
    CALL(read(fd, buffer, 1));
}

CASE(seeking) {
    int fd = in_use("data");
    CALL(lseek(fd, 0, SEEK_CUR));
    CALL(lseek(fd, 100, SEEK_SET));
    read_small(fd, 1, 7);
    CALL(lseek(fd, -50, SEEK_CUR));
    read_small(fd, 3, 7);
    CALL(lseek(fd, -5, SEEK_END));
    read_small(fd, 3, 4);
    CALL(lseek(fd, -1, SEEK_SET));
    CALL(lseek(fd, LONG_MIN, SEEK_CUR));
    CALL(lseek(fd, LONG_MAX, SEEK_CUR));
    CALL(lseek(fd, 1L << 50, SEEK_SET));
    CALL(lseek(fd, 0, 17));
    CALL(lseek(fd, SIZE + 1000, SEEK_SET));
    read_small(fd, 2, 4);
    CALL(lseek(fd, 10, SEEK_DATA));
    CALL(lseek(fd, 10, SEEK_HOLE));
    CALL(lseek(fd, SIZE + 10, SEEK_DATA));
    read_small(fd, 2, 4);
    CALL(lseek(fd, 20, SEEK_SET));
    read_small(fd, 200, 4);
    CALL(lseek(fd, 1L << 43, SEEK_SET));
    read_small(fd, 2, 4);
    CALL(lseek(fd, 0, SEEK_CUR));
}

CASE(bad_arguments) {
    int fd = in_use("data");
    CALL(read(fd, buffer, 0));
    CALL(read(fd, NULL, 0));
    CALL(read(fd, buffer, too_much));
    CALL(lseek(fd, 0, SEEK_CUR));
    CALL(lseek(fd, 50, SEEK_SET));
    CALL(write(fd, "x", 1));
    CALL(ftruncate(fd, 5));
    CALL(readv(fd, NULL, (int)too_much));
}

CASE(other_objects) {
    int fd = CALL(open(".", O_RDONLY));
    read_small(fd, 50, 8);
    CALL(close(fd));
    fd = CALL(open("/dev/zero", O_RDONLY));
    read_small(fd, 100, 8);
    CALL(lseek(fd, 0, SEEK_CUR));
    CALL(close(fd));
    fd = CALL(open("/proc/self/limits", O_RDONLY));
    read_small(fd, 100, 2);
    CALL(lseek(fd, 0, SEEK_CUR));
    CALL(close(fd));
    put_text("empty", "");
    fd = CALL(open("empty", O_RDONLY));
    read_small(fd, 100, 2);
    CALL(close(fd));
    fd = CALL(open("data", O_WRONLY | O_CREAT, 0600));
    CALL(read(fd, buffer, 5));
    CALL(close(fd));
    fd = CALL(open("data", O_PATH));
    CALL(read(fd, buffer, 5));
    CALL(close(fd));
}

CASE(vectors_and_places) {
    int fd = in_use("data");
    struct iovec v[2] = {{buffer, 10}, {buffer + 100, 5000}};
    CALL(readv(fd, v, 2));
    read_small(fd, 10, 7);
    CALL(preadv(fd, v, 2, 77));
    CALL(preadv2(fd, v, 2, -1, 0));
    CALL(lseek(fd, 0, SEEK_CUR));
    CALL(pread(fd, buffer, 10, 10));
    say("%b", buffer, 10);
    read_small(fd, 100, 7);
    CALL(lseek(fd, 0, SEEK_CUR));
}

/* Makes n preads of `size` bytes at offsets that are `apart` bytes from each other, modulo SIZE. */
static void read_places(int fd, int n, size_t size, long apart) {
    long sum = 0, bytes = 0;
    for (int i = 0; i < n; i++) {
        ssize_t r = pread(fd, buffer, size, i * apart % SIZE);
        if (r < 0)
            say("  pread %d: %s", i, strerrorname_np(errno));
        for (ssize_t k = 0; k < r; k++)
            sum = sum * 31 + (unsigned char)buffer[k];
        bytes += r > 0 ? r : 0;
    }
    say("  %ld bytes, sum %lx", bytes, sum);
}

CASE(at_places) {
    static const size_t sizes[] = {1, 7, 64, 512, 1024, 1025, 8192};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int fd = open_pattern("data");
        read_places(fd, 300, sizes[i], (long)sizes[i]);
        read_places(fd, 300, sizes[i], 7919);
        CALL(lseek(fd, 0, SEEK_CUR));
        read_small(fd, 100, sizes[i]);
        read_places(fd, 300, sizes[i], 104729);
        CALL(lseek(fd, 0, SEEK_CUR));
        CALL(close(fd));
    }
}

CASE(at_bad_places) {
    int fd = open_pattern("data");
    read_places(fd, 300, 7, 7919);
    CALL(pread(fd, buffer, 10, -1));
    CALL(pread(fd, buffer, 10, INT64_MIN));
    CALL(pread(fd, buffer, 10, INT64_MAX));
    CALL(pread(fd, buffer, 10, SIZE - 3));
    CALL(pread(fd, buffer, 10, SIZE));
    CALL(pread(fd, buffer, 0, 5));
    CALL(pread(fd, NULL, 0, 5));
    CALL(pread(fd, buffer, too_much, 5));
    read_places(fd, 100, 7, 7919);
    int copy = CALL(dup(fd));
    read_places(copy, 100, 7, 7919);
    CALL(close(fd));
    read_places(copy, 100, 7, 7919);
    CALL(pread(fd, buffer, 7, 0));
    fd = CALL(open("data", O_WRONLY));
    CALL(pread(fd, buffer, 7, 0));
}

CASE(at_places_written_to) {
    int fd = open_pattern("data"), other = CALL(open("data", O_RDWR));
    read_places(fd, 300, 7, 7919);
    for (int i = 0; i < 50; i++) {
        CALL(pwrite(other, "written", 7, i * 5000));
        CALL(pread(fd, buffer, 10, i * 5000));
        say("%b", buffer, 10);
    }
    CALL(ftruncate(other, 100000));
    CALL(pread(fd, buffer, 10, 99995));
    CALL(pread(fd, buffer, 10, 150000));
    read_places(fd, 300, 7, 7919);
    CALL(ftruncate(other, SIZE));
    read_places(fd, 300, 7, 7919);
    CALL(lseek(fd, 0, SEEK_CUR));
}

CASE(read_and_written) {
    put_pattern("data", SIZE);
    int fd = CALL(open("data", O_RDWR));
    read_small(fd, 200, 7);
    CALL(pwrite(fd, "written", 7, 1405));
    read_small(fd, 200, 7);
    CALL(ftruncate(fd, 2900));
    read_small(fd, 20, 7);
    CALL(ftruncate(fd, SIZE));
    CALL(lseek(fd, 2890, SEEK_SET));
    read_small(fd, 100, 7);
    CALL(write(fd, "here", 4));
    CALL(lseek(fd, 0, SEEK_CUR));
    read_small(fd, 200, 7);
    CALL(write(fd, "there", 5));
    read_small(fd, 200, 7);
    CALL(lseek(fd, 0, SEEK_CUR));
    CALL(close(fd));
    note_file("data");
    fd = CALL(open("new", O_RDWR | O_CREAT | O_TRUNC, 0600));
    CALL(write(fd, buffer, 5000));
    CALL(lseek(fd, 0, SEEK_SET));
    read_small(fd, 800, 7);
    CALL(read(fd, buffer, 7));
    CALL(write(fd, buffer, 7));
    CALL(lseek(fd, -10, SEEK_END));
    CALL(read(fd, buffer, 20));
    fd = CALL(open("data", O_RDWR));
    read_small(fd, 200, 7);
    CALL(dprintf(fd, "%d lines", 7));
    CALL(lseek(fd, 0, SEEK_CUR));
    CALL(close(fd));
    fd = CALL(open("data", O_RDONLY));
    read_small(fd, 200, 7);
    CALL(write(fd, "x", 1));
    read_small(fd, 200, 7);
    CALL(lseek(fd, 0, SEEK_CUR));
}

/* --- who shares the description -------------------------------------------------------- */

CASE(duplicates) {
    int fd = in_use("data");
    int other = CALL(dup(fd));
    CALL(lseek(other, 0, SEEK_CUR));
    read_small(other, 100, 7);
    read_small(fd, 100, 7);
    CALL(dup2(fd, 77));
    read_small(77, 100, 3);
    CALL(fcntl(fd, F_DUPFD, 80));
    read_small(80, 100, 3);
    CALL(lseek(fd, 0, SEEK_CUR));
    int second = in_use("second");
    CALL(dup2(fd, second));
    read_small(second, 100, 3);
    CALL(dup3(fd, second, O_CLOEXEC));
    CALL(dup2(fd, fd));
    read_small(fd, 100, 3);
    CALL(close(fd));
    read_small(other, 100, 3);
    int again = CALL(open("data", O_RDONLY));
    read_small(again, 100, 3);
    CALL(lseek(other, 0, SEEK_CUR));
}

static int shared_fd;

static void _child_reads(void) {
    CALL(lseek(shared_fd, 0, SEEK_CUR));
    read_small(shared_fd, 100, 7);
    int own = CALL(open("data", O_RDONLY));
    read_small(own, 100, 7);
}

CASE(forks) {
    shared_fd = in_use("data");
    child(_child_reads);
    CALL(lseek(shared_fd, 0, SEEK_CUR));
    read_small(shared_fd, 100, 7);
    child(_child_reads);
    read_small(shared_fd, 100, 7);
}

CASE(vforks) {
    int fd = in_use("data"), status;
    pid_t pid = vfork();
    if (pid == 0) {
        read(fd, buffer, 100);
        close(fd);
        int new = open("/dev/null", O_RDONLY);
        for (int i = 0; i < 100; i++)
            read(new, buffer, 1);
        _exit(new == fd ? 3 : 4);
    }
    waitpid(pid, &status, 0);
    say("status %d", WEXITSTATUS(status));
    CALL(lseek(fd, 0, SEEK_CUR));
    read_small(fd, 100, 7);
    int other = in_use("other");
    read_small(other, 100, 7);
}

static void run(const char *format, int fd) {
    char command[200];
    snprintf(command, sizeof command, format, fd);
    CALL(system(command));
}

CASE(commands) {
    int fd = in_use("data");
    run("dd bs=1 count=20 status=none <&%d | od -An -tx1", fd);
    CALL(lseek(fd, 0, SEEK_CUR));
    read_small(fd, 100, 7);
    fd = in_use("data");
    FILE *f = popen("cat >/dev/null", "w");
    char line[40];
    snprintf(line, sizeof line, "%d", fd);
    fputs(line, f);
    pclose(f);
    read_small(fd, 100, 7);
}

static void _becomes_another(void) {
    int fd = in_use("data");
    char command[100];
    snprintf(command, sizeof command, "dd bs=1 count=20 status=none <&%d | od -An -tx1; cksum <&%d", fd, fd);
    execl("/nonexistent", "x", NULL);
    read_small(fd, 10, 7);
    execl("/bin/sh", "sh", "-c", command, NULL);
}

CASE(becomes_another_program) {
    child(_becomes_another);
}

CASE(passed_on) {
    int fd = in_use("data"), ends[2], got;
    char byte = 0, control[CMSG_SPACE(sizeof(int))] = "";
    struct iovec v = {&byte, 1};
    struct msghdr m = {
        .msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    socketpair(AF_UNIX, SOCK_DGRAM, 0, ends);
    *c = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(c), &fd, sizeof(int));
    CALL(sendmsg(ends[0], &m, 0));
    CALL(recvmsg(ends[1], &m, 0));
    memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(int));
    CALL(lseek(got, 0, SEEK_CUR));
    read_small(got, 100, 7);
    read_small(fd, 100, 7);
    CALL(lseek(got, 0, SEEK_CUR));
}

/* --- other calls that use the offset ------------------------------------------------------ */

CASE(moved_by_other_calls) {
    int fd = in_use("data"), pipes[2], out = open("out", O_RDWR | O_CREAT, 0600);
    pipe(pipes);
    CALL(sendfile(out, fd, NULL, 100));
    read_small(fd, 100, 7);
    CALL(splice(fd, NULL, pipes[1], NULL, 50, 0));
    read_small(fd, 100, 7);
    CALL(copy_file_range(fd, NULL, out, NULL, 1000, 0));
    read_small(fd, 100, 7);
    CALL(lseek(fd, 0, SEEK_CUR));
    int rest;
    CALL(ioctl(fd, FIONREAD, &rest));
    say("%d left", rest);
    note_file("out");
}

CASE(locks_from_here) {
    int fd = in_use("data");
    CALL(lockf(fd, F_TEST, 10));
    struct flock here = {.l_type = F_RDLCK, .l_whence = SEEK_CUR, .l_len = 10};
    CALL(fcntl(fd, F_SETLK, &here));
    if (fork() == 0) {
        struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        int w = open("data", O_RDWR);
        fcntl(w, F_GETLK, &l);
        say("locked from %ld", (long)l.l_start);
        _exit(0);
    }
    wait(NULL);
    read_small(fd, 10, 7);
}

CASE(flags_and_advice) {
    int fd = in_use("data");
    CALL(fcntl(fd, F_GETFL) & O_ACCMODE);
    CALL(fcntl(fd, F_SETFL, O_APPEND));
    read_small(fd, 100, 7);
    fd = in_use("second");
    CALL(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
    read_small(fd, 100, 7);
    CALL(isatty(fd));
    CALL(fsync(fd));
    struct stat st;
    CALL(fstat(fd, &st));
    say("size %ld", (long)st.st_size);
    read_small(fd, 100, 7);
    CALL(lseek(fd, 0, SEEK_CUR));
}

CASE(streams_on_it) {
    int fd = in_use("data");
    FILE *f = CALL(fdopen(fd, "r"));
    CALL(ftell(f));
    CALL(getc(f));
    CALL(lseek(fd, 0, SEEK_CUR));
    read_small(fd, 100, 7);
    CALL(fclose(f));
    fd = in_use("data");
    run("head -c 5 /proc/self/fd/%d >/dev/null", fd);
    read_small(fd, 10, 7);
}

CASE(its_offset_told_to_a_child) {
    int fd = in_use("data");
    char command[100];
    snprintf(command, sizeof command, "head -1 /proc/%d/fdinfo/%d", (int)getpid(), fd);
    CALL(system(command));
}

CASE(calls_by_number) {
    int fd = in_use("data");
    CALL(syscall(SYS_lseek, fd, 0L, SEEK_CUR));
    CALL(syscall(SYS_read, fd, buffer, 10L));
    read_small(fd, 100, 7);
    CALL(syscall(SYS_close, 987));
    say("%d", syscall(SYS_getpid) == getpid());
}

/* --- the file changes --------------------------------------------------------------------- */

CASE(written_to_by_others) {
    put_pattern("data", SIZE);
    int fd = open("data", O_RDONLY), w = open("data", O_RDWR);
    read_small(fd, 200, 7);
    for (int i = 0; i < 50; i++) {
        pwrite(w, "changed", 7, 1400 + i * 7);
        read_small(fd, 1, 7);
    }
    char *map = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, w, 0);
    memset(map + lseek(fd, 0, SEEK_CUR), 'm', 10);
    read_small(fd, 2, 7);
    FILE *f = fopen("data", "r+");
    fseek(f, lseek(fd, 0, SEEK_CUR), SEEK_SET);
    fputs("by a stream", f);
    fflush(f);
    read_small(fd, 2, 7);
    lseek(fd, -4, SEEK_END);
    read_small(fd, 100, 1);
    write(w, "", 0);
    pwrite(w, "appended", 8, SIZE);
    read_small(fd, 100, 1);
}

static void cut_and_read(int w, int fd, off_t to) {
    CALL(ftruncate(w, to));
    read_small(fd, 3, 5);
    CALL(lseek(fd, 0, SEEK_CUR));
}

CASE(truncated) {
    static const off_t places[] = {0, 10, 1000, 4095, 4096, 4097, 100000};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        put_pattern("data", SIZE);
        int fd = open("data", O_RDONLY), w = open("data", O_RDWR);
        read_small(fd, 190, 5);
        cut_and_read(w, fd, places[i]);
        CALL(ftruncate(w, SIZE));
        read_small(fd, 100, 5);
        put_pattern("data", SIZE);
        read_small(fd, 200, 5);
        lseek(fd, 0, SEEK_SET);
        cut_and_read(w, fd, places[i] / 2);
        close(fd);
        close(w);
    }
}

/* The new end of the file is among the zeros at its old end. */
CASE(truncated_in_zeros) {
    put_pattern("data", 8150);
    int w = open("data", O_RDWR), fd = open("data", O_RDONLY);
    CALL(ftruncate(w, 8192));
    read_small(fd, 8140, 1);
    CALL(ftruncate(w, 8160));
    read_small(fd, 60, 1);
    CALL(lseek(fd, 0, SEEK_CUR));
}

CASE(zeros_and_holes) {
    int w = open("data", O_RDWR | O_CREAT, 0600);
    ftruncate(w, SIZE);
    int fd = open("data", O_RDONLY);
    read_small(fd, 500, 9);
    CALL(ftruncate(w, 4500));
    read_small(fd, 3, 9);
    CALL(ftruncate(w, SIZE));
    read_small(fd, 500, 9);
    struct stat st;
    fstat(w, &st);
    say("%ld blocks", (long)st.st_blocks);
}

CASE(in_memory) {
    char name[] = "/dev/shm/emulated.XXXXXX";
    int w = mkstemp(name), fd = open(name, O_RDONLY);
    unlink(name);
    ftruncate(w, SIZE);
    read_small(fd, 500, 9);
    struct stat st;
    fstat(w, &st);
    say("%ld blocks", (long)st.st_blocks);
    memset(buffer, 'x', SIZE);
    pwrite(w, buffer, SIZE, 0);
    read_small(fd, 500, 9);
    CALL(ftruncate(w, 4500 + 20));
    read_small(fd, 5, 9);
    CALL(fallocate(w, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096));
    lseek(fd, 0, SEEK_SET);
    read_small(fd, 5, 9);
}

static int make_anew(const char *path, int how) {
    return how == 0   ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600)
           : how == 1 ? creat(path, 0600)
           : how == 2 ? creat64(path, 0600)
                      : fileno(fopen(path, "w"));
}

/* Truncates the file and writes only its last bytes: the rest must stay a hole although it is read. */
CASE(in_memory_made_anew) {
    for (int how = 0; how < 4; how++) {
        char name[] = "/dev/shm/emulated.XXXXXX";
        int w = mkstemp(name), fd = open(name, O_RDONLY);
        memset(buffer, 'x', SIZE);
        pwrite(w, buffer, SIZE, 0);
        read_small(fd, 500, 9);
        int made = make_anew(name, how);
        pwrite(made, "y", 1, SIZE - 1);
        lseek(fd, 0, SEEK_SET);
        read_small(fd, 500, 9);
        unlink(name);
        close(made);
        close(w);
        close(fd);
    }
}

CASE(grows) {
    put_text("log", "first line\n");
    int fd = open("log", O_RDONLY);
    for (int i = 0; i < 100; i++) {
        read_small(fd, 5, 3);
        if (i % 20 == 0)
            outside("seq 1 200 >>log");
    }
    CALL(lseek(fd, 0, SEEK_CUR));
}

CASE(renamed_and_removed) {
    int fd = in_use("data");
    put_text("new", "another file");
    CALL(rename("new", "data"));
    read_small(fd, 100, 7);
    CALL(unlink("data"));
    read_small(fd, 100, 7);
}

CASE(used_again) {
    for (int i = 0; i < 5; i++) {
        int fd = in_use(i % 2 ? "data" : "other");
        if (i == 3)
            CALL(close_range((unsigned)fd, (unsigned)fd, 0));
        else
            CALL(close(fd));
        put_text("short", "0123456789");
        CALL(open("short", O_RDONLY));
        read_small(fd, 100, 7);
        CALL(close(fd));
    }
    int fd = CALL(open(".", O_RDONLY));
    DIR *d = fdopendir(fd);
    closedir(d);
    int pipes[2];
    pipe(pipes);
    write(pipes[1], buffer, 1000);
    say("%d", pipes[0] == fd);
    read_small(pipes[0], 100, 7);
}

/* --- signals ---------------------------------------------------------------------------------- */

static int handler_fd;
static volatile sig_atomic_t alarms;
static sigjmp_buf away;

static void read_one(int sig) {
    char byte;
    (void)sig;
    alarms++;
    if (handler_fd >= 0)
        read(handler_fd, &byte, 1);
}

static void tick(void (*handler)(int), long us) {
    struct sigaction act = {.sa_handler = handler, .sa_flags = SA_RESTART};
    struct itimerval t = {{0, us}, {0, us}};
    sigaction(SIGALRM, &act, NULL);
    setitimer(ITIMER_REAL, &t, NULL);
}

CASE(handlers_that_read) {
    handler_fd = open_pattern("data");
    tick(read_one, 100);
    long bytes = 0;
    char byte;
    while (read(handler_fd, &byte, 1) == 1)
        bytes++;
    tick(SIG_IGN, 0);
    say("%d", bytes < SIZE && bytes + alarms >= SIZE);
    CALL(lseek(handler_fd, 0, SEEK_CUR));
}

static void jump(int sig) {
    (void)sig;
    alarms++;
    siglongjmp(away, 1);
}

CASE(handlers_that_jump) {
    int fd = open_pattern("data");
    char byte = 0;
    off_t before = 0;
    if (sigsetjmp(away, 1))
        before = lseek(fd, 0, SEEK_CUR);
    if (alarms == 0)
        tick(jump, 200);
    while (alarms < 300) {
        before = lseek(fd, 0, SEEK_CUR);
        for (int i = 0; i < 50; i++)
            read(fd, &byte, 1);
        if (before > SIZE - 1000)
            lseek(fd, 0, SEEK_SET);
    }
    tick(SIG_IGN, 0);
    before = lseek(fd, 0, SEEK_CUR);
    read(fd, &byte, 1);
    say("%d", (unsigned char)byte == pattern_at((size_t)before));
    lseek(fd, 1000, SEEK_SET);
    read_small(fd, 500, 7);
}

static void close_and_open(int sig) {
    (void)sig;
    alarms++;
    close(handler_fd);
    open("other", O_RDONLY);
}

CASE(handlers_that_close) {
    put_text("other", "");
    handler_fd = in_use("data");
    signal(SIGUSR1, close_and_open);
    raise(SIGUSR1);
    read_small(handler_fd, 10, 7);
}

static void own_fault(int sig) {
    (void)sig;
    say("a fault");
    siglongjmp(away, 1);
}

CASE(faults_of_the_program) {
    struct sigaction act = {.sa_handler = own_fault}, old;
    CALL(sigaction(SIGBUS, &act, NULL));
    int fd = in_use("data"), w = open("data", O_RDWR);
    CALL(sigaction(SIGBUS, NULL, &old));
    say("%d", old.sa_handler == own_fault);
    char *map = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0);
    CALL(ftruncate(w, 4096));
    read_small(fd, 1000, 7);
    if (sigsetjmp(away, 1) == 0)
        say("%d", map[200000]);
    read_small(fd, 2, 7);
}

CASE(faults_blocked) {
    int fd = in_use("data"), w = open("data", O_RDWR);
    sigset_t all;
    sigfillset(&all);
    CALL(sigprocmask(SIG_BLOCK, &all, NULL));
    read_small(fd, 100, 7);
    CALL(ftruncate(w, 100));
    read_small(fd, 10, 7);
    lseek(fd, 0, SEEK_SET);
    read_small(fd, 20, 7);
}

/* --- threads ------------------------------------------------------------------------------------ */

static void *read_there(void *fd) {
    read_small((int)(intptr_t)fd, 100, 7);
    return NULL;
}

CASE(threads) {
    int fd = in_use("data");
    pthread_t t;
    pthread_create(&t, NULL, read_there, (void *)(intptr_t)fd);
    CALL(pthread_join(t, NULL));
    read_small(fd, 100, 7);
    fd = in_use("other");
    pthread_create(&t, NULL, read_there, (void *)(intptr_t)fd);
    CALL(pthread_join(t, NULL));
    CALL(lseek(fd, 0, SEEK_CUR));
}

static void cancelled(void *unused) {
    (void)unused;
    say("cancelled");
}

static void _cancels_itself(void) {
    int fd = in_use("data");
    pthread_cleanup_push(cancelled, NULL);
    pthread_cancel(pthread_self());
    read(fd, buffer, 7);
    say("not cancelled");
    pthread_cleanup_pop(0);
}

CASE(a_thread_that_cancels_itself) {
    child(_cancels_itself);
}

/* --- many, and limits ------------------------------------------------------------------------------ */

CASE(many_at_once) {
    int fds[100];
    put_pattern("data", SIZE);
    for (int i = 0; i < 100; i++)
        fds[i] = open("data", O_RDONLY);
    for (int round = 0; round < 60; round++)
        for (int i = 0; i < 100; i++) {
            read(fds[i], buffer + i * 8, 5);
            if (buffer[i * 8] != (char)pattern_at((size_t)round * 5))
                say("wrong in %d", i);
        }
    for (int i = 0; i < 100; i += 7)
        CALL(lseek(fds[i], 0, SEEK_CUR));
    for (int i = 0; i < 100; i++)
        close(fds[i]);
    struct rlimit limit = {3000, 3000};
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0) {
        int fd = fcntl(open("data", O_RDONLY), F_DUPFD, 1500);
        read_small(fd, 100, 5);
        CALL(lseek(fd, 0, SEEK_CUR));
    }
}

/* Files can be mapped, but there is no memory for the data that watches the mappings. */
CASE(no_memory_of_its_own) {
    struct rlimit limit;
    int fd = open_pattern("data");
    getrlimit(RLIMIT_DATA, &limit);
    limit.rlim_cur = 4096;
    CALL(setrlimit(RLIMIT_DATA, &limit));
    read_small(fd, 1000, 7);
    CALL(lseek(fd, 0, SEEK_CUR));
}

CASE(little_memory) {
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = 300 << 20;
    CALL(setrlimit(RLIMIT_AS, &limit));
    int fd = in_use("data");
    read_small(fd, 1000, 7);
}
