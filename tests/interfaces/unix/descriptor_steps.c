/* SPDX-License-Identifier: MIT
 *
 * descriptor_steps.c - steps of random sequences: Unix I/O.
 */
#include "tests/interfaces/unix/sequences.h"

#include <aio.h>
#include <dirent.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

static char buffer[ROOM];

/* --- numbers ---------------------------------------------------------------------------------- */

static const int access_flags[] = {O_RDONLY,
                                   O_RDONLY,
                                   O_RDONLY,
                                   O_RDONLY,
                                   O_RDONLY,
                                   O_RDWR,
                                   O_RDWR,
                                   O_WRONLY,
                                   O_RDWR | O_APPEND,
                                   O_RDWR | O_CREAT,
                                   O_RDONLY | O_CREAT,
                                   O_WRONLY | O_CREAT | O_TRUNC,
                                   O_RDWR | O_TRUNC,
                                   O_RDONLY,
                                   O_RDONLY,
                                   O_WRONLY | O_CREAT | O_APPEND,
                                   O_WRONLY | O_CREAT,
                                   O_RDWR | O_CREAT,
                                   O_RDONLY | O_APPEND};

static int flags_of(uint32_t word) {
    int flags = PICK(access_flags, word >> 8);
    if (word % 8 == 0)
        flags |= O_CLOEXEC;
    if (word % 8 == 1)
        flags |= O_NONBLOCK;
    return flags;
}

static int open_path(const char *path, uint32_t word) {
    int flags = flags_of(word);
    say(" \"%s\" %o", path, flags);
    if (flags & (O_CREAT | O_TRUNC)) /* or creat */
        publish_path(path);
    switch (word >> 4 & 7) {
    case 0:
        return (int)RESULT("openat", openat(AT_FDCWD, path, flags, 0600));
    case 1:
        return (int)RESULT("open64", open64(path, flags, 0600));
    case 2:
        return (int)(flags & O_CREAT ? RESULT("creat", creat(path, 0600))
                                     : RESULT("__open_2", __open_2(path, flags)));
    default:
        return (int)RESULT("open", open(path, flags, 0600));
    }
}

static void do_open(const struct step *s) {
    keep_low(open_path(path_of(s->word[0]), s->word[1]));
}

static int duplicate_onto(int fd, int n, uint32_t word) {
    if (word % 3 == 0 && fd != n)
        return (int)RESULT("dup3", dup3(fd, n, word & 4 ? O_CLOEXEC : 0));
    return (int)RESULT("dup2", dup2(fd, n));
}

/* Gives a file a certain descriptor number, as shells and daemons do. */
static void do_place(const struct step *s) {
    int n = number_of(s->word[0]);
    say(" at %d", n);
    if (s->word[3] % 3 == 0) {
        RESULT("close", close(n));
        keep_low(open_path(path_of(s->word[1]), s->word[2]));
        return;
    }
    int fd = open_path(path_of(s->word[1]), s->word[2]);
    if (fd < 0 || fd == n)
        return;
    duplicate_onto(fd, n, s->word[4]);
    if (s->word[5] % 4)
        RESULT("close", close(fd));
    else
        keep_low(fd);
}

static void do_inherited(const struct step *s) {
    int n = number_of(s->word[0]), from = INHERITED + (int)(s->word[1] % INHERITED_COUNT);
    say(" %d from %d", n, from);
    duplicate_onto(from, n, s->word[2]);
}

static void do_close(const struct step *s) {
    int n = number_of(s->word[0]);
    say(" %d", n);
    RESULT("close", close(n));
}

static void do_dup(const struct step *s) {
    int n = number_of(s->word[0]), to = number_of(s->word[1]), least = (int)(s->word[3] % NUMBERS);
    say(" %d %d", n, to);
    switch (s->word[2] % 5) {
    case 0:
        keep_low((int)RESULT("dup", dup(n)));
        break;
    case 1:
        keep_low((int)RESULT("F_DUPFD", fcntl(n, F_DUPFD, least)));
        break;
    case 2:
        keep_low((int)RESULT("F_DUPFD_CLOEXEC", fcntl(n, F_DUPFD_CLOEXEC, least)));
        break;
    default:
        duplicate_onto(n, to, s->word[3]);
    }
}

/* Neither end of the pipe waits. */
static void do_pipe(const struct step *s) {
    int ends[2], n = number_of(s->word[0]), length = (int)(s->word[1] % 600);
    if (RESULT("pipe2", pipe2(ends, O_NONBLOCK)) < 0)
        return;
    say(" %d %d to %d", ends[0], ends[1], n);
    fill(buffer, (size_t)length, s->word[1]);
    RESULT("write", write(ends[1], buffer, (size_t)length));
    if (ends[0] != n && ends[1] != n) {
        RESULT("dup2", dup2(ends[0], n));
        RESULT("close", close(ends[0]));
    }
    if (s->word[2] % 3 || ends[1] >= NUMBERS)
        RESULT("close", close(ends[1]));
}

static void do_range(const struct step *s) {
    unsigned first = s->word[0] % NUMBERS, last = first + s->word[1] % 3;
    if (s->word[2] % 4 == 0) {
        say(" closefrom %u", first + 3);
        closefrom((int)first + 3);
    } else {
        say(" %u to %u", first, last);
        RESULT("close_range", close_range(first, last, s->word[2] % 4 == 1 ? CLOSE_RANGE_CLOEXEC : 0));
    }
}

static void do_flags(const struct step *s) {
    int n = number_of(s->word[0]);
    say(" %d", n);
    switch (s->word[1] % 5) {
    case 0:
        RESULT("F_GETFD", fcntl(n, F_GETFD));
        break;
    case 1:
        RESULT("F_SETFD", fcntl(n, F_SETFD, s->word[2] % 4 ? 0 : FD_CLOEXEC));
        break;
    case 2:
        RESULT("F_SETFL", fcntl(n, F_SETFL, O_NONBLOCK | (s->word[2] % 3 ? 0 : O_APPEND)));
        break;
    default:
        RESULT("F_GETFL", fcntl(n, F_GETFL));
    }
}

/* --- reading ----------------------------------------------------------------------------------- */

static const unsigned small[] = {1, 2, 5, 7, 10, 10, 10, 16, 33, 64, 100, 500, 1000, 1500, 4096, 5000};

static ssize_t read_by(uint32_t way, int fd, char *p, size_t n) {
    struct iovec v[2] = {{p, n / 2}, {p + n / 2, n - n / 2}};
    switch (way % 8) {
    case 0:
        return readv(fd, v, 2);
    case 1:
        return __read_chk(fd, p, n, ROOM);
    default:
        return read(fd, p, n);
    }
}

/* Mostly so many reads that the descriptor becomes private. */
static void do_reads(const struct step *s) {
    int n = number_of(s->word[0]);
    unsigned size = PICK(small, s->word[1]), times = s->word[2] % 3 ? 33 + s->word[3] % 70 : s->word[3] % 33;
    size_t got = 0;
    ssize_t r = 0;
    say(" %d: %u of %u", n, times, size);
    errno = 0;
    for (unsigned i = 0; i < times && got + size < ROOM; i++) {
        r = read_by(s->word[4] + i, n, buffer + got, size);
        if (r <= 0)
            break;
        got += (size_t)r;
    }
    say_result("last", r);
    say_bytes(buffer, got);
}

static void do_read(const struct step *s) {
    int n = number_of(s->word[0]);
    size_t size = s->word[1] % 4 ? PICK(small, s->word[1]) : s->word[2] % 60000;
    say(" %d: %zu", n, size);
    ssize_t r = RESULT("read", read_by(s->word[3], n, buffer, size));
    say_bytes(buffer, r > 0 ? (size_t)r : 0);
}

static ssize_t pread_by(uint32_t way, int fd, char *p, size_t n, off_t at) {
    struct iovec v[2] = {{p, n / 2}, {p + n / 2, n - n / 2}};
    switch (way % 8) {
    case 0:
        return preadv(fd, v, 2, at);
    case 1:
        return __pread_chk(fd, p, n, at, ROOM);
    default:
        return pread(fd, p, n, at);
    }
}

static void do_preads(const struct step *s) {
    int n = number_of(s->word[0]);
    unsigned size = PICK(small, s->word[1]), times = 1 + s->word[2] % 60, at = s->word[3] % 100000;
    size_t got = 0;
    ssize_t r = 0;
    say(" %d: %u of %u", n, times, size);
    errno = 0;
    for (unsigned i = 0; i < times && got + size < ROOM; i++) {
        r = pread_by(s->word[4] + i, n, buffer + got, size, at);
        if (r <= 0)
            break;
        got += (size_t)r;
        at = s->word[5] % 2 ? at + size : (at * 31 + 7) % 100000;
    }
    say_result("last", r);
    say_bytes(buffer, got);
}

static const off_t offsets[] = {0,    0,    0,     1,     10,    100,    999,   2990,
                                3000, 4096, 19999, 50000, 99990, 100000, 120000};

static void do_lseek(const struct step *s) {
    int n = number_of(s->word[0]);
    off_t to = PICK(offsets, s->word[1]);
    say(" %d", n);
    switch (s->word[2] % 12) {
    case 0:
    case 1:
    case 2:
    case 3:
        RESULT("SEEK_SET", lseek(n, to, SEEK_SET));
        break;
    case 4:
    case 5:
        RESULT("SEEK_CUR", lseek(n, s->word[3] % 2 ? to % 5000 : -(to % 5000), SEEK_CUR));
        break;
    case 6:
    case 7:
        RESULT("SEEK_END", lseek(n, -to, SEEK_END));
        break;
    case 8:
        RESULT("SEEK_DATA", lseek(n, to, s->word[3] % 2 ? SEEK_DATA : SEEK_HOLE));
        break;
    case 9:
        RESULT("far", lseek(n, (off_t)1 << (s->word[3] % 24 + 40), SEEK_SET));
        break;
    case 10:
        RESULT("wrong", lseek(n, -to - 1, (int)(s->word[3] % 7)));
        break;
    default:
        RESULT("SEEK_CUR", lseek(n, 0, SEEK_CUR));
    }
}

/* --- writing ---------------------------------------------------------------------------------- */

static ssize_t write_by(uint32_t way, int fd, const char *p, size_t n) {
    struct iovec v[2] = {{(char *)p, n / 2}, {(char *)p + n / 2, n - n / 2}};
    return way % 4 ? write(fd, p, n) : writev(fd, v, 2);
}

static void do_writes(const struct step *s) {
    int n = number_of(s->word[0]);
    size_t size = s->word[1] % 4 ? 1 + s->word[1] % 60 : s->word[1] % 5000, done = 0;
    unsigned times = s->word[2] % 2 ? 1 : 1 + s->word[2] % 40;
    ssize_t r = 0;
    say(" %d: %u of %zu", n, times, size);
    fill(buffer, size, s->word[3]);
    errno = 0;
    for (unsigned i = 0; i < times && (r = write_by(s->word[4] + i, n, buffer, size)) >= 0; i++)
        done += (size_t)r;
    say_result("last", r);
    say(" %zu", done);
}

static void do_pwrite(const struct step *s) {
    int n = number_of(s->word[0]);
    size_t size = s->word[1] % 200;
    off_t at = PICK(offsets, s->word[2]);
    struct iovec v = {buffer, size};
    say(" %d: %zu at %ld", n, size, (long)at);
    fill(buffer, size, s->word[3]);
    if (s->word[4] % 3)
        RESULT("pwrite", pwrite(n, buffer, size, at));
    else
        RESULT("pwritev", pwritev(n, &v, 1, at));
}

static void do_truncate(const struct step *s) {
    int n = number_of(s->word[0]);
    off_t to = PICK(offsets, s->word[1]);
    const char *path = path_of(s->word[2]);
    switch (s->word[3] % 4) {
    case 0:
        say(" \"%s\" to %ld", path, (long)to);
        publish_path(path);
        RESULT("truncate", truncate(path, to));
        break;
    case 1:
        say(" %d at %ld", n, (long)to);
        RESULT("posix_fallocate", posix_fallocate(n, to, 100));
        break;
    default:
        say(" %d to %ld", n, (long)to);
        RESULT("ftruncate", ftruncate(n, to));
    }
}

/* --- between descriptors ---------------------------------------------------------------------- */

static void do_transfer(const struct step *s) {
    int from = number_of(s->word[0]), to = number_of(s->word[1]);
    size_t size = s->word[2] % 3000;
    off64_t at = PICK(offsets, s->word[3]), *where = s->word[4] % 3 ? NULL : &at;
    say(" %d to %d: %zu", from, to, size);
    switch (s->word[5] % 3) {
    case 0:
        RESULT("sendfile", sendfile64(to, from, where, size));
        break;
    case 1:
        RESULT("splice", splice(from, where, to, NULL, size, SPLICE_F_NONBLOCK));
        break;
    default:
        RESULT("copy_file_range", copy_file_range(from, where, to, NULL, size, 0));
    }
    say(" %ld", (long)at);
}

static int received(int socket) {
    char byte, control[CMSG_SPACE(sizeof(int))] = "";
    struct iovec v = {&byte, 1};
    struct msghdr m = {
        .msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    int fd = -1;
    if (RESULT("recvmsg", recvmsg(socket, &m, 0)) == 1 && CMSG_FIRSTHDR(&m))
        memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
    return fd;
}

static long sent(int socket, int fd, bool many) {
    char control[CMSG_SPACE(sizeof(int))] = "";
    struct iovec v = {"x", 1};
    struct mmsghdr m = {
        .msg_hdr = {
            .msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control}};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m.msg_hdr);
    *c = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    return many ? RESULT("sendmmsg", sendmmsg(socket, &m, 1, 0))
                : RESULT("sendmsg", sendmsg(socket, &m.msg_hdr, 0));
}

/* Passes a descriptor through a socket, which makes another one with the same offset. */
static void do_pass(const struct step *s) {
    int n = number_of(s->word[0]), ends[2], got = -1;
    say(" %d", n);
    if (RESULT("socketpair", socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends)) < 0)
        return;
    if (sent(ends[0], n, s->word[1] % 2) == 1)
        got = received(ends[1]);
    RESULT("close", close(ends[0]));
    RESULT("close", close(ends[1]));
    if (got < 0)
        return;
    ssize_t r = RESULT("read", read(got, buffer, s->word[2] % 40));
    say_bytes(buffer, r > 0 ? (size_t)r : 0);
    if (s->word[3] % 2)
        RESULT("close", close(got));
    else
        keep_low(got);
}

/* Opens a directory whose descriptor libc closes. */
static void do_directory(const struct step *s) {
    int fd = (int)RESULT("open", open(".", O_RDONLY | O_DIRECTORY | (s->word[0] % 2 ? O_CLOEXEC : 0)));
    DIR *d = fdopendir(fd);
    if (!d)
        return;
    say(" entry %d", readdir(d) != NULL);
    if (s->word[1] % 3 == 0)
        say(" dirfd %d", dirfd(d));
    RESULT("closedir", closedir(d));
}

/* --- questions, and other steps --------------------------------------------------------------- */

static void do_look(const struct step *s) {
    for (int n = 0; n < NUMBERS; n++) {
        struct stat st = {0};
        say("\n  %d", n);
        publish_others(n);
        RESULT("lseek", lseek(n, 0, SEEK_CUR));
        if (s->word[0] % 2 && RESULT("fstat", fstat(n, &st)) == 0 && S_ISREG(st.st_mode))
            say(" size %ld", (long)st.st_size);
    }
}

static void do_ask(const struct step *s) {
    int n = number_of(s->word[0]), rest = 0;
    struct stat st = {0};
    say(" %d", n);
    switch (s->word[1] % 6) {
    case 0:
        RESULT("FIONREAD", ioctl(n, FIONREAD, &rest));
        say(" %d", rest);
        break;
    case 1:
        RESULT("posix_fadvise", posix_fadvise(n, 0, 0, (int)(s->word[2] % 4)));
        break;
    case 2:
        RESULT("fsync", s->word[2] % 2 ? fsync(n) : fdatasync(n));
        break;
    case 3:
        RESULT("isatty", isatty(n));
        break;
    default:
        if (RESULT("fstat", fstat(n, &st)) == 0 && S_ISREG(st.st_mode))
            say(" size %ld", (long)st.st_size);
    }
}

static void do_lock(const struct step *s) {
    int n = number_of(s->word[0]);
    struct flock l = {.l_type = F_RDLCK, .l_whence = SEEK_CUR, .l_start = 1, .l_len = 1};
    say(" %d", n);
    switch (s->word[1] % 3) {
    case 0:
        RESULT("flock", flock(n, LOCK_SH | LOCK_NB));
        break;
    case 1:
        RESULT("lockf", lockf(n, F_TEST, (off_t)(s->word[2] % 10)));
        break;
    default:
        RESULT("F_SETLK", fcntl(n, F_SETLK, &l));
    }
}

static void do_map(const struct step *s) {
    int n = number_of(s->word[0]);
    struct stat st;
    say(" %d", n);
    if (fstat(n, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
        return;
    char *p = mmap(NULL, 1, PROT_READ, s->word[1] % 2 ? MAP_SHARED : MAP_PRIVATE, n, 0);
    RESULT("mmap", p == MAP_FAILED ? -1 : 0);
    if (p != MAP_FAILED) {
        say_bytes(p, 1);
        munmap(p, 1);
    }
}

static void do_names(const struct step *s) {
    const char *path = path_of(s->word[0]), *to = path_of(s->word[1]);
    if (path[0] == '/' || to[0] == '/')
        return;
    say(" \"%s\" \"%s\"", path, to);
    if (s->word[2] % 2)
        RESULT("unlink", unlink(path));
    else
        RESULT("rename", rename(path, to));
}

/* Changes a file as another process would, by calls that no library sees. */
static void do_outside(const struct step *s) {
    const char *path = path_of(s->word[0]);
    publish();
    long fd = raw(SYS_openat, AT_FDCWD, (long)path, O_WRONLY, 0), to = PICK(offsets, s->word[1]);
    size_t size = s->word[2] % 300;
    say(" \"%s\" %ld at %ld", path, fd < 0 ? fd : 0, to);
    if (fd < 0)
        return;
    fill(buffer, size, s->word[3]);
    if (s->word[4] % 2)
        raw(SYS_ftruncate, fd, to, 0, 0);
    else
        raw(SYS_pwrite64, fd, (long)buffer, (long)size, to);
    raw(SYS_close, fd, 0, 0, 0);
}

static volatile int handled_number;
static volatile ssize_t handled;
static char handled_bytes[10];

static void handle(int sig) {
    (void)sig;
    handled = read(handled_number, handled_bytes, sizeof handled_bytes);
}

static void do_signal(const struct step *s) {
    struct sigaction act = {.sa_handler = handle};
    handled_number = number_of(s->word[0]);
    handled = -2;
    say(" %d", handled_number);
    sigaction(SIGUSR1, &act, NULL);
    /* Not by raise: in the child of a vfork, musl's raise sends the signal to the parent. */
    RESULT("tkill", raw(SYS_tkill, raw(SYS_gettid, 0, 0, 0, 0), SIGUSR1, 0, 0));
    say(" read=%zd", handled);
    say_bytes(handled_bytes, handled > 0 ? (size_t)handled : 0);
}

/* libc's own thread reads and writes; the descriptor's offset must not change. */
static void do_aio(const struct step *s) {
    int n = number_of(s->word[0]);
    struct aiocb a = {.aio_fildes = n,
                      .aio_buf = buffer,
                      .aio_nbytes = 1 + s->word[1] % 100,
                      .aio_offset = PICK(offsets, s->word[2])};
    const struct aiocb *all[] = {&a};
    bool reads = s->word[3] % 2;
    say(" %d", n);
    fill(buffer, 100, s->word[4]);
    if (RESULT("aio", reads ? aio_read(&a) : aio_write(&a)) < 0)
        return;
    while (aio_error(&a) == EINPROGRESS)
        aio_suspend(all, 1, NULL);
    RESULT("aio_error", aio_error(&a));
    ssize_t r = RESULT("aio_return", aio_return(&a));
    say_bytes(buffer, reads && r > 0 ? (size_t)r : 0);
}

const struct kind descriptor_kinds[] = {
    {"open", do_open, 30, SAFE},
    {"place", do_place, 120, SAFE},
    {"inherited", do_inherited, 15, SAFE},
    {"close", do_close, 25, SAFE},
    {"dup", do_dup, 40, SAFE},
    {"pipe", do_pipe, 10, SAFE},
    {"range", do_range, 4, SAFE},
    {"flags", do_flags, 12, SAFE},
    {"reads", do_reads, 220, SAFE},
    {"read", do_read, 50, SAFE},
    {"preads", do_preads, 30, SAFE},
    {"lseek", do_lseek, 50, SAFE},
    {"writes", do_writes, 35, SAFE},
    {"pwrite", do_pwrite, 12, SAFE},
    {"truncate", do_truncate, 15, SAFE},
    {"transfer", do_transfer, 20, SAFE},
    {"pass", do_pass, 15, SAFE},
    {"directory", do_directory, 10, 0},
    {"look", do_look, 40, SAFE},
    {"ask", do_ask, 15, SAFE},
    {"lock", do_lock, 8, SAFE},
    {"map", do_map, 4, SAFE},
    {"names", do_names, 10, SAFE},
    {"outside", do_outside, 15, SAFE},
    {"signal", do_signal, 12, SAFE},
    {"aio", do_aio, 4, SLOW},
    {NULL, NULL, 0, 0},
};
