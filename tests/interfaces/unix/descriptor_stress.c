/* SPDX-License-Identifier: MIT
 *
 * descriptor_stress.c - random Unix I/O on a few open file descriptions, through several descriptors, in
 * this process and its children, while another process writes to and truncates the files. Every result is
 * compared with a model. The program prints a digest of all results, which must not depend on the library.
 *
 *     descriptor_stress SEED STEPS DIRECTORY
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILES = 4, SLOTS = 12, LARGEST = 3 << 20, ROOM = 256 << 10 };

static uint64_t state, digest = 14695981039346656037u;
static unsigned long step, seed;

static uint64_t any(uint64_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 8) % below;
}

static void note(long value) {
    digest = (digest ^ (uint64_t)value) * 1099511628211u;
}

static void check_at(bool right, const char *what, long got, long expected, int line) {
    if (right)
        return;
    dprintf(2, "seed %lu, step %lu, line %d: %s: got %ld, expected %ld, errno %d\n", seed, step, line, what,
            got, expected, errno);
    _exit(1);
}

#define CHECK(what, got, expected)                                                                           \
    do {                                                                                                     \
        long got_ = (long)(got), expected_ = (long)(expected);                                               \
        note(got_);                                                                                          \
        check_at(got_ == expected_, what, got_, expected_, __LINE__);                                        \
    } while (0)

/* --- the model ---------------------------------------------------------------------- */

static struct file {
    char path[256];
    long size;
    char *data;
} files[FILES];

/* An open file description: the state that its descriptors share. */
struct description {
    struct file *file;
    long at;
    bool writes;
    int users;
};

static struct slot {
    int fd;
    struct description *of;
} slots[SLOTS];

static char buffer[ROOM];

/* Makes bytes, with stretches of zeros: in a mapping these look like truncated bytes. */
static void make_bytes(char *p, long n, uint64_t kind) {
    for (long i = 0; i < n; i++)
        p[i] = kind % 4 == 0 ? 0 : (char)(i * 7 + (long)kind + (i >> 8));
}

static struct slot *any_slot(void) {
    for (int i = 0; i < 20; i++) {
        struct slot *s = &slots[any(SLOTS)];
        if (s->of)
            return s;
    }
    return NULL;
}

static struct slot *free_slot(void) {
    for (int i = 0; i < SLOTS; i++)
        if (!slots[i].of)
            return &slots[i];
    return NULL;
}

static long there_is(const struct description *d, long at, long n) {
    long rest = d->file->size - at;
    return rest <= 0 ? 0 : rest < n ? rest : n;
}

static void check_bytes(const struct description *d, long at, long n, const char *p) {
    if (n > 0 && memcmp(p, d->file->data + at, (size_t)n) != 0) {
        long i = 0;
        while (p[i] == d->file->data[at + i])
            i++;
        check_at(false, "the bytes", p[i], d->file->data[at + i], __LINE__);
    }
    for (long i = 0; i < n; i += 61)
        note(p[i]);
}

/* --- another process that writes to the files ------------------------------------------ */

struct order {
    int file;
    long at, size; /* truncates at `at` if the size is 0 */
    uint64_t kind;
};

static int other[2];

static void write_some(int fd, long at, long n, uint64_t kind) {
    make_bytes(buffer, n, kind);
    CHECK("pwrite", pwrite(fd, buffer, (size_t)n, at), n);
}

static void serve(void) {
    struct order o;
    int fds[FILES];
    for (int i = 0; i < FILES; i++)
        fds[i] = open(files[i].path, O_RDWR | O_CLOEXEC);
    while (read(other[1], &o, sizeof o) == sizeof o) {
        if (o.size)
            write_some(fds[o.file], o.at, o.size, o.kind);
        else
            CHECK("ftruncate", ftruncate(fds[o.file], o.at), 0);
        if (write(other[1], "", 1) != 1)
            break;
    }
    _exit(0);
}

static void start_other(void) {
    CHECK("socketpair", socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, other), 0);
    if (fork() == 0) {
        close(other[0]);
        serve();
    }
    close(other[1]);
}

static void written(struct file *f, long at, long n, uint64_t kind) {
    if (at > f->size)
        memset(f->data + f->size, 0, (size_t)(at - f->size));
    make_bytes(f->data + at, n, kind);
    if (at + n > f->size)
        f->size = at + n;
}

static void cut(struct file *f, long to) {
    if (to > f->size)
        memset(f->data + f->size, 0, (size_t)(to - f->size));
    f->size = to;
}

static void change_from_outside(void) {
    struct order o = {.file = (int)any(FILES), .kind = any(1000)};
    struct file *f = &files[o.file];
    char done;
    bool truncate = any(3) == 0;
    o.size = truncate ? 0 : 1 + (long)any(any(2) ? 100 : 20000);
    o.at = (long)any(2) * (f->size - (long)any(300));
    if (o.at <= 0)
        o.at = (long)any((uint64_t)f->size + 5000);
    if (o.at + o.size > LARGEST)
        return;
    CHECK("an order", write(other[0], &o, sizeof o), sizeof o);
    CHECK("its answer", read(other[0], &done, 1), 1);
    if (truncate)
        cut(f, o.at);
    else
        written(f, o.at, o.size, o.kind);
}

/* --- steps on one descriptor ------------------------------------------------------------ */

static void read_once(struct slot *s, long n, char *into) {
    struct description *d = s->of;
    long r = there_is(d, d->at, n);
    CHECK("read", read(s->fd, into, (size_t)n), r);
    check_bytes(d, d->at, r, into);
    d->at += r;
}

/* Many reads in a row, which make a descriptor private. */
static void read_often(struct slot *s) {
    static const int sizes[] = {1, 1, 2, 7, 16, 32, 33, 64, 100, 512, 1024, 1500, 4096, 8192};
    long n = sizes[any(sizeof sizes / sizeof *sizes)], times = 1 + (long)any(any(3) ? 20 : 90);
    char *into = buffer + any(any(2) ? 1 : ROOM - 8192);
    for (long i = 0; i < times; i++, step++) {
        read_once(s, n, into);
    }
}

static void read_much(struct slot *s) {
    read_once(s, (long)any(ROOM), buffer);
}

static void read_vector(struct slot *s) {
    struct description *d = s->of;
    struct iovec v[3] = {{buffer, any(50)}, {buffer + 100, any(5000)}, {buffer + 8192, any(50)}};
    long n = (long)(v[0].iov_len + v[1].iov_len + v[2].iov_len), r = there_is(d, d->at, n), at = d->at;
    CHECK("readv", readv(s->fd, v, 3), r);
    for (int i = 0; i < 3; i++) {
        long here = there_is(d, at, (long)v[i].iov_len);
        check_bytes(d, at, here, v[i].iov_base);
        at += here;
    }
    d->at += r;
}

static void read_at(struct slot *s) {
    long n = (long)any(300), at = (long)any((uint64_t)s->of->file->size + 100), r = there_is(s->of, at, n);
    CHECK("pread", pread(s->fd, buffer, (size_t)n, at), r);
    check_bytes(s->of, at, r, buffer);
}

static void read_at_often(struct slot *s) {
    struct description *d = s->of;
    long n = 1 + (long)any(any(2) ? 64 : 1024), times = 1 + (long)any(100), at = 0;
    const bool in_sequence = any(2);
    for (long i = 0; i < times; i++, step++) {
        at = in_sequence ? at + n : (long)any((uint64_t)d->file->size + 100);
        long r = there_is(d, at, n);
        CHECK("pread", pread(s->fd, buffer, (size_t)n, at), r);
        check_bytes(d, at, r, buffer);
    }
}

static void seek(struct slot *s) {
    struct description *d = s->of;
    long to = (long)any((uint64_t)d->file->size + 200);
    switch (any(6)) {
    case 0:
        CHECK("lseek", lseek(s->fd, to, SEEK_SET), to);
        break;
    case 1:
        CHECK("lseek", lseek(s->fd, to - d->at, SEEK_CUR), to);
        break;
    case 2:
        CHECK("lseek", lseek(s->fd, to - d->file->size, SEEK_END), to);
        break;
    case 3:
        to = d->at;
        CHECK("lseek", lseek(s->fd, 0, SEEK_CUR), to);
        break;
    case 4:
        errno = 0;
        to = d->at;
        CHECK("lseek", lseek(s->fd, -to - 1, SEEK_CUR), -1);
        CHECK("its error", errno, EINVAL);
        break;
    default:
        to = d->at > 40 ? d->at - (long)any(40) : 0;
        CHECK("lseek", lseek(s->fd, to, SEEK_SET), to);
    }
    d->at = to;
}

static void write_once(struct slot *s) {
    struct description *d = s->of;
    long n = 1 + (long)any(200), at = any(2) ? d->at : (long)any((uint64_t)d->file->size + 1);
    uint64_t kind = any(1000);
    if (at + n > LARGEST)
        return;
    errno = 0;
    make_bytes(buffer, n, kind);
    bool in_place = at == d->at;
    long r = in_place ? write(s->fd, buffer, (size_t)n) : pwrite(s->fd, buffer, (size_t)n, at);
    CHECK("write", r, d->writes ? n : -1);
    CHECK("its error", errno, d->writes ? 0 : EBADF);
    if (d->writes)
        written(d->file, at, n, kind);
    if (d->writes && in_place)
        d->at += n;
}

static void truncate_here(struct slot *s) {
    long to = (long)any((uint64_t)s->of->file->size + 3000);
    errno = 0;
    if (to > LARGEST)
        return;
    CHECK("ftruncate", ftruncate(s->fd, to), s->of->writes ? 0 : -1);
    if (s->of->writes)
        cut(s->of->file, to);
}

static void ask(struct slot *s) {
    struct stat st;
    int rest = 0;
    CHECK("fstat", fstat(s->fd, &st), 0);
    CHECK("its size", st.st_size, s->of->file->size);
    CHECK("FIONREAD", ioctl(s->fd, FIONREAD, &rest), 0);
    CHECK("its answer", rest, s->of->file->size - s->of->at);
    CHECK("F_GETFL", fcntl(s->fd, F_GETFL) & O_ACCMODE, s->of->writes ? O_RDWR : O_RDONLY);
    if (any(4) == 0)
        CHECK("advice", posix_fadvise(s->fd, 0, 0, (int)any(3)), 0);
    if (any(4) == 0)
        CHECK("F_SETFL", fcntl(s->fd, F_SETFL, any(2) ? O_NONBLOCK : 0), 0);
}

/* Sends to a pipe or a file by calls that move the offset themselves. */
static void send_on(struct slot *s) {
    struct description *d = s->of;
    long n = (long)any(3000), r = there_is(d, d->at, n), got;
    int pipes[2];
    CHECK("pipe", pipe2(pipes, O_CLOEXEC), 0);
    got = any(2) ? sendfile(pipes[1], s->fd, NULL, (size_t)n)
                 : splice(s->fd, NULL, pipes[1], NULL, (size_t)n, 0);
    CHECK("sendfile or splice", got, r);
    if (r)
        CHECK("read from the pipe", read(pipes[0], buffer, (size_t)r), r);
    check_bytes(d, d->at, r, buffer);
    d->at += r;
    close(pipes[0]);
    close(pipes[1]);
}

/* --- opening and closing descriptors ---------------------------------------------------------- */

static void open_one(struct slot *unused) {
    (void)unused;
    struct slot *s = free_slot();
    struct file *f = &files[any(FILES)];
    bool writes = any(5) == 0;
    if (!s)
        return;
    s->of = calloc(1, sizeof *s->of);
    *s->of = (struct description){.file = f, .writes = writes, .users = 1};
    int flags = (writes ? O_RDWR : O_RDONLY) | (any(2) ? O_CLOEXEC : 0);
    s->fd = any(2) ? open(f->path, flags) : openat(AT_FDCWD, f->path, flags);
    note(s->fd);
    check_at(s->fd >= 0, "open", s->fd, 0, __LINE__);
}

static void close_one(struct slot *s) {
    CHECK("close", close(s->fd), 0);
    if (--s->of->users == 0)
        free(s->of);
    s->of = NULL;
    errno = 0;
    CHECK("read of what is closed", read(s->fd, buffer, 1), -1);
    CHECK("its error", errno, EBADF);
}

static void duplicate(struct slot *s) {
    struct slot *to = any(2) ? free_slot() : any_slot();
    if (!to || to == s)
        return;
    if (to->of) {
        int r = any(2) ? dup2(s->fd, to->fd) : dup3(s->fd, to->fd, O_CLOEXEC);
        CHECK("dup2", r, to->fd);
        if (--to->of->users == 0)
            free(to->of);
    } else {
        to->fd = any(2) ? dup(s->fd) : fcntl(s->fd, any(2) ? F_DUPFD : F_DUPFD_CLOEXEC, 3);
        check_at(to->fd >= 0, "dup", to->fd, 0, __LINE__);
    }
    to->of = s->of;
    to->of->users++;
}

/* A stream on the descriptor reads ahead; how far depends on libc. */
static void use_stream(struct slot *s) {
    FILE *f = fdopen(dup(s->fd), s->of->writes ? "r+" : "r");
    long n = (long)any(20);
    check_at(f != NULL, "fdopen", 0, 0, __LINE__);
    for (long i = 0; i < n; i++)
        note(getc(f));
    note(lseek(s->fd, 0, SEEK_CUR));
    note(ftell(f));
    CHECK("fclose", fclose(f), 0);
    s->of->at = lseek(s->fd, 0, SEEK_CUR);
    note(s->of->at);
}

/* Passes the descriptor through a socket and back; another process could receive it. */
static void pass_on(struct slot *s) {
    int ends[2], got = -1;
    char byte = 0, control[CMSG_SPACE(sizeof(int))] = "";
    struct iovec v = {&byte, 1};
    struct msghdr m = {
        .msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    CHECK("socketpair", socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), 0);
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    *c = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(c), &s->fd, sizeof(int));
    CHECK("sendmsg", sendmsg(ends[0], &m, 0), 1);
    CHECK("recvmsg", recvmsg(ends[1], &m, 0), 1);
    memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(int));
    struct slot received = {got, s->of};
    read_once(&received, (long)any(100), buffer);
    close(got);
    close(ends[0]);
    close(ends[1]);
}

/* --- processes and threads ----------------------------------------------------------------- */

static void await(pid_t child) {
    int status = -1;
    CHECK("waitpid", waitpid(child, &status, 0) == child, 1);
    CHECK("its status", status, 0);
}

/* Threads take records from one description; each record must be taken once. */
static struct slot *shared;
static char taken[4096];

static void *take_records(void *times) {
    char record[8];
    for (long i = 0; i < (long)times; i++)
        if (read(shared->fd, record, sizeof record) != sizeof record)
            break;
    return NULL;
}

static void read_in_threads(struct slot *s) {
    pthread_t threads[3];
    long times = 20 + (long)any(40), bytes = 3 * times * 8;
    if (there_is(s->of, s->of->at, bytes) < bytes)
        return;
    shared = s;
    for (int i = 0; i < 3; i++)
        CHECK("pthread_create", pthread_create(&threads[i], NULL, take_records, (void *)times), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    s->of->at += bytes;
    CHECK("lseek after threads", lseek(s->fd, 0, SEEK_CUR), s->of->at);
}

static void raw_calls(struct slot *s) {
    CHECK("a raw lseek", syscall(SYS_lseek, s->fd, 0L, SEEK_CUR), s->of->at);
    long n = (long)any(40), r = there_is(s->of, s->of->at, n);
    CHECK("a raw read", syscall(SYS_read, s->fd, buffer, n), r);
    check_bytes(s->of, s->of->at, r, buffer);
    s->of->at += r;
}

static void block_signals(struct slot *s) {
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    read_often(s);
    change_from_outside();
    read_often(s);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

static void steps(unsigned long n, bool child);

/* The child uses the inherited descriptors, and also makes calls that would end the emulation in the
 * parent. */
static void fork_child(struct slot *s) {
    uint64_t before = state;
    pid_t child = fork();
    if (child == 0) {
        steps(100 + any(200), true);
        switch (any(3)) {
        case 0:
            if ((s = any_slot()))
                read_in_threads(s);
            break;
        case 1:
            if ((s = any_slot()))
                raw_calls(s);
            break;
        default:
            if ((s = any_slot()))
                block_signals(s);
        }
        steps(any(100), true);
        _exit(0);
    }
    await(child);
    state = before ^ 0x5555;
    /* The parent does not know the child's changes to shared descriptions and files, so it reads them
     * here. */
    for (int i = 0; i < FILES; i++) {
        int fd = open(files[i].path, O_RDONLY);
        struct stat st;
        CHECK("fstat", fstat(fd, &st), 0);
        files[i].size = st.st_size;
        CHECK("read it all", pread(fd, files[i].data, LARGEST, 0), st.st_size);
        close(fd);
    }
    for (int i = 0; i < SLOTS; i++)
        if (slots[i].of)
            note(slots[i].of->at = lseek(slots[i].fd, 0, SEEK_CUR));
}

/* Runs a program that reads a few bytes of the description. */
static void run_program(struct slot *s) {
    char n[20];
    long wanted = (long)any(200);
    s->of->at += there_is(s->of, s->of->at, wanted);
    pid_t child;
    snprintf(n, sizeof n, "%ld", wanted);
    char *argv[] = {"dd", "bs=1", "status=none", "of=/dev/null", NULL, NULL};
    char count[40];
    snprintf(count, sizeof count, "count=%s", n);
    argv[4] = count;
    if (any(2)) {
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, s->fd, 0);
        CHECK("posix_spawnp", posix_spawnp(&child, "dd", &actions, NULL, argv, environ), 0);
        posix_spawn_file_actions_destroy(&actions);
    } else if ((child = vfork()) == 0) {
        dup2(s->fd, 0);
        execvp("dd", argv);
        _exit(127);
    }
    await(child);
    CHECK("lseek after a program", lseek(s->fd, 0, SEEK_CUR), s->of->at);
}

/* --- a handler that reads what the program reads --------------------------------------------- */

static int record_fd;
static volatile long handled;

static void take_record(int sig) {
    long record;
    (void)sig;
    if (read(record_fd, &record, sizeof record) == sizeof record && record < (long)sizeof taken)
        taken[record]++, handled++;
}

static void read_with_handler(struct slot *unused) {
    (void)unused;
    char path[300];
    snprintf(path, sizeof path, "%s.records", files[0].path);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (long i = 0; i < (long)sizeof taken; i++)
        check_at(write(fd, &i, sizeof i) == sizeof i, "write", 0, 0, __LINE__);
    close(fd);
    record_fd = open(path, O_RDONLY);
    memset(taken, 0, sizeof taken);
    struct sigaction act = {.sa_handler = take_record, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &act, NULL);
    struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, NULL);
    long record;
    while (read(record_fd, &record, sizeof record) == sizeof record)
        taken[record]++;
    setitimer(ITIMER_REAL, &never, NULL);
    for (long i = 0; i < (long)sizeof taken; i++)
        check_at(taken[i] == 1, "a record taken once", taken[i], 1, __LINE__);
    CHECK("lseek after a handler", lseek(record_fd, 0, SEEK_CUR), sizeof taken * sizeof record);
    close(record_fd);
}

/* --- */

static void (*const often[])(struct slot *) = {
    read_often,  read_often, read_often,    read_often, seek,     seek,     read_much, read_at,
    read_vector, write_once, read_at_often, ask,        open_one, open_one, read_often};
static void (*const seldom[])(struct slot *) = {close_one, close_one,  duplicate, send_on,  truncate_here,
                                                pass_on,   use_stream, open_one,  close_one};
static void (*const rarely[])(struct slot *) = {fork_child, run_program, fork_child, read_with_handler};

static void one_step(bool child) {
    struct slot *s = any_slot();
    if (!s)
        open_one(NULL);
    else if (any(12) == 0)
        change_from_outside();
    else if (any(400) == 0 && !child)
        rarely[any(sizeof rarely / sizeof *rarely)](s);
    else if (any(6) == 0)
        seldom[any(sizeof seldom / sizeof *seldom)](s);
    else
        often[any(sizeof often / sizeof *often)](s);
}

static void steps(unsigned long n, bool child) {
    for (unsigned long end = step + n; step < end; step++)
        one_step(child);
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: descriptor_stress SEED STEPS DIRECTORY\n");
        return 2;
    }
    seed = strtoul(argv[1], NULL, 10);
    state = seed * 2654435761u + 88172645463325252u;
    for (int i = 0; i < FILES; i++) {
        static const long sizes[FILES] = {300, 5000, 70000, 2500000};
        struct file *f = &files[i];
        snprintf(f->path, sizeof f->path, "%s/file%d", argv[3], i);
        f->data = malloc(LARGEST + ROOM);
        int fd = open(f->path, O_RDWR | O_CREAT | O_TRUNC, 0600);
        for (long at = 0, n; at < sizes[i]; at += n) {
            n = sizes[i] - at < ROOM ? sizes[i] - at : ROOM;
            uint64_t kind = any(1000);
            write_some(fd, at, n, kind);
            written(f, at, n, kind);
        }
        close(fd);
    }
    start_other();
    for (unsigned long n = strtoul(argv[2], NULL, 10); step < n;)
        steps(1, false);
    printf("%016llx\n", (unsigned long long)digest);
    return 0;
}
