/* SPDX-License-Identifier: MIT
 *
 * calls_cases.c - Unix calls that the library passes on: arguments, results and errno are the kernel's,
 * whether streams are in use or not.
 */
#include "tests/interfaces/stdio/transcript.h"

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <utime.h>

/* One stream with buffered output, and one that has read ahead. */
static FILE *busy_output, *busy_input;

static void be_busy(void) {
    put_lines("busy-input", 5000);
    busy_output = fopen("busy-output", "w");
    busy_input = fopen("busy-input", "r");
    for (int i = 0; i < 3000; i++) {
        fprintf(busy_output, "line %d\n", i);
        getc(busy_input);
    }
}

static void in_both_states(void (*body)(void)) {
    body();
    be_busy();
    say("with streams in use");
    body();
    CALL(ftell(busy_output));
    CALL(ftell(busy_input));
}

static void note_mode(const char *path) {
    struct stat st;
    CALL(stat(path, &st));
    say("  mode %x size %ld", st.st_mode, (long)st.st_size);
}

static void opens(void) {
    umask(022);
    int fd = CALL(open("new", O_RDWR | O_CREAT | O_EXCL, 0640));
    CALL(open("new", O_RDWR | O_CREAT | O_EXCL, 0640));
    note_mode("new");
    CALL(close(fd));
    CALL(open64("missing", O_RDONLY));
    fd = CALL(openat(AT_FDCWD, "other", O_WRONLY | O_CREAT, 0604));
    note_mode("other");
    CALL(close(fd));
    fd = CALL(creat("third", 0600));
    note_mode("third");
    CALL(close(fd));
    fd = open(".", O_TMPFILE | O_RDWR, 0600);
    if (fd >= 0) {
        struct stat st;
        CALL(fstat(fd, &st));
        say("  mode %x", st.st_mode);
        CALL(close(fd));
    }
    CALL(close(fd));
    CALL(close(-1));
    CALL(unlink("new"));
    CALL(unlink("new"));
    CALL(rename("other", "third"));
    CALL(rename("other", "third"));
    CALL(link("third", "fourth"));
    CALL(link("third", "fourth"));
    CALL(unlinkat(AT_FDCWD, "fourth", 0));
    CALL(remove("third"));
}

CASE(opening_and_naming) {
    in_both_states(opens);
}

static void transfers(void) {
    char a[8] = "", b[8] = "";
    struct iovec v[2] = {{a, 3}, {b, 4}};
    put_text("data", "0123456789abcdef");
    int fd = open("data", O_RDWR | O_CLOEXEC), null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    CALL(read(fd, a, 4));
    say("%q", a);
    CALL(readv(fd, v, 2));
    say("%q %q", a, b);
    CALL(pread(fd, a, 3, 10));
    CALL(preadv(fd, v, 2, 1));
    say("%q %q", a, b);
    CALL(write(fd, "XY", 2));
    CALL(writev(fd, v, 2));
    CALL(pwrite(fd, "P", 1, 0));
    CALL(pwritev(fd, v, 1, 2));
    CALL(lseek(fd, 0, SEEK_CUR));
    CALL(lseek(fd, -1, SEEK_SET));
    CALL(lseek64(fd, -2, SEEK_END));
    CALL(read(null, a, 1));
    CALL(read(-1, a, 1));
    const void *volatile nowhere = (void *)8;
    CALL(write(fd, nowhere, 100));
    CALL(pread(fd, a, 1, -1));
    off_t at = 3;
    CALL(sendfile(null, fd, &at, 5));
    say("  at %ld", (long)at);
    CALL(ftruncate(fd, 5));
    CALL(ftruncate(fd, -1));
    CALL(truncate("missing", 5));
    CALL(fsync(fd));
    CALL(fdatasync(-1));
    CALL(posix_fallocate(fd, 0, 100));
    CALL(close(null));
    CALL(close(fd));
    note_file("data");
}

#ifdef __GLIBC__ /* musl lacks this interface */
/* As in programs compiled with _FORTIFY_SOURCE. */
extern int checked_open(const char *, int) __asm__("__open_2");
extern int checked_open64(const char *, int) __asm__("__open64_2");
extern int checked_openat(int, const char *, int) __asm__("__openat_2");
extern int checked_openat64(int, const char *, int) __asm__("__openat64_2");
extern ssize_t checked_read(int, void *, size_t, size_t) __asm__("__read_chk");
extern ssize_t checked_pread(int, void *, size_t, off_t, size_t) __asm__("__pread_chk");
extern ssize_t checked_pread64(int, void *, size_t, off64_t, size_t) __asm__("__pread64_chk");
extern int checked_poll(struct pollfd *, nfds_t, int, size_t) __asm__("__poll_chk");
extern int checked_ppoll(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *,
                         size_t) __asm__("__ppoll_chk");

static void checked_calls(void) {
    char a[8] = "";
    put_text("data", "0123456789abcdef");
    int fds[] = {checked_open("data", O_RDWR), checked_open64("data", O_RDONLY | O_CLOEXEC),
                 checked_openat(AT_FDCWD, "data", O_RDONLY), checked_openat64(AT_FDCWD, "data", O_RDONLY)};
    CALL(checked_open("missing", O_RDONLY));
    CALL(checked_openat(-1, "data", O_RDONLY));
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
        CALL(checked_read(fds[i], a, 4, sizeof a));
        CALL(checked_pread(fds[i], a + 4, 1, 9, 4));
        CALL(checked_pread64(fds[i], a + 5, 2, 14, 3));
        say("%q", a);
        struct pollfd p = {.fd = fds[i], .events = POLLIN};
        CALL(checked_poll(&p, 1, 0, sizeof p));
        CALL(checked_ppoll(&p, 1, &(struct timespec){0}, NULL, sizeof p));
        CALL(write(fds[i], "X", 1));
        CALL(lseek(fds[i], 0, SEEK_CUR));
        close(fds[i]);
    }
}

CASE(calls_that_are_checked) {
    in_both_states(checked_calls);
}
#endif

CASE(moving_data) {
    in_both_states(transfers);
}

static void controls(void) {
    int fd = open("data", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    int copy = CALL(dup(fd));
    CALL(fcntl(copy, F_GETFD));
    int high = CALL(fcntl(fd, F_DUPFD_CLOEXEC, 40));
    CALL(fcntl(high, F_GETFD));
    CALL(fcntl(fd, F_SETFL, O_APPEND | O_NONBLOCK));
    CALL(fcntl(copy, F_GETFL) & (O_APPEND | O_NONBLOCK | O_ACCMODE));
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 10};
    CALL(fcntl(fd, F_SETLK, &lock));
    CALL(fcntl(fd, F_GETLK, &lock));
    say("  type %d", lock.l_type);
    CALL(fcntl(-1, F_GETFD));
    CALL(fcntl(fd, 99999));
    CALL(dup2(fd, 50));
    CALL(dup2(fd, fd));
    CALL(dup2(-1, 50));
    CALL(dup3(fd, 51, O_CLOEXEC));
    CALL(dup3(fd, fd, 0));
    CALL(flock(fd, LOCK_EX | LOCK_NB));
    CALL(close(50));
    CALL(close(51));
    CALL(close(high));
    CALL(close(copy));
    CALL(close(fd));
}

CASE(controlling_descriptors) {
    in_both_states(controls);
}

CASE(sizes_are_current) {
    FILE *f = fopen("out", "w");
    struct stat st;
    struct statx stx;
    for (int i = 0; i < 10000; i++)
        putc('x', f);
    CALL(stat("out", &st));
    say("%ld", (long)st.st_size);
    for (int i = 0; i < 10000; i++)
        putc('x', f);
    CALL(fstat(fileno(f), &st));
    say("%ld", (long)st.st_size);
    for (int i = 0; i < 10000; i++)
        putc('x', f);
    CALL(lstat("out", &st));
    say("%ld", (long)st.st_size);
    for (int i = 0; i < 10000; i++)
        putc('x', f);
    CALL(fstatat(AT_FDCWD, "out", &st, 0));
    say("%ld", (long)st.st_size);
    for (int i = 0; i < 10000; i++)
        putc('x', f);
    CALL(statx(AT_FDCWD, "out", 0, STATX_SIZE, &stx));
    say("%ld", (long)stx.stx_size);
    for (int i = 0; i < 10000; i++)
        putc('x', f);
    CALL(access("out", R_OK));
    CALL(open("out", O_RDONLY));
    say("%ld", lseek(4, 0, SEEK_END));
    CALL(stat("missing", &st));
    CALL(fstat(-1, &st));
    CALL(fstat(AT_FDCWD, &st));
}

CASE(times_that_are_set_stay) {
    FILE *f = fopen("out", "w");
    for (int i = 0; i < 10000; i++)
        putc('x', f);
    struct utimbuf t = {1000000000, 1000000000};
    fflush(f);
    CALL(utime("out", &t));
    struct stat st;
    stat("out", &st);
    say("%ld", (long)st.st_mtime);
    CALL(fclose(f));
    stat("out", &st);
    say("%ld", (long)st.st_mtime);
}

static void waits(void) {
    int ends[2];
    pipe2(ends, O_CLOEXEC);
    struct pollfd p = {ends[0], POLLIN, 0};
    CALL(poll(&p, 1, 0));
    raw_write(ends[1], "x", 1);
    CALL(poll(&p, 1, -1));
    say("  events %d", p.revents);
    struct timespec soon = {0, 1000000};
    CALL(ppoll(&p, 1, &soon, NULL));
    fd_set set;
    FD_ZERO(&set);
    FD_SET((size_t)ends[0], &set);
    struct timeval none = {0, 0};
    CALL(select(ends[0] + 1, &set, NULL, NULL, &none));
    CALL(select(-1, NULL, NULL, NULL, &none));
    CALL(pselect(ends[0] + 1, &set, NULL, NULL, &soon, NULL));
    int e = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = 77};
    epoll_ctl(e, EPOLL_CTL_ADD, ends[0], &event);
    event.data.u32 = 0;
    CALL(epoll_wait(e, &event, 1, 100));
    say("  data %d", (int)event.data.u32);
    CALL(nanosleep(&soon, NULL));
    CALL(clock_nanosleep(CLOCK_MONOTONIC, 0, &soon, NULL));
    struct timespec wrong = {0, -1};
    CALL(nanosleep(&wrong, NULL));
    CALL(clock_nanosleep(CLOCK_MONOTONIC, 0, &wrong, NULL));
    CALL(usleep(10));
    CALL(sleep(0));
    close(e);
    close(ends[0]);
    close(ends[1]);
}

CASE(waiting) {
    in_both_states(waits);
}

/* --- threads ------------------------------------------------------------------------ */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static int turn;

static void *plays(void *arg) {
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&mutex);
        while (turn != 1)
            pthread_cond_wait(&condition, &mutex);
        turn = 0;
        pthread_cond_signal(&condition);
        pthread_mutex_unlock(&mutex);
    }
    sem_post(&semaphore);
    return arg;
}

CASE(conditions_and_semaphores) {
    pthread_t t;
    void *result;
    sem_init(&semaphore, 0, 0);
    CALL(pthread_create(&t, NULL, plays, (void *)0x1234));
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&mutex);
        while (turn != 0)
            pthread_cond_wait(&condition, &mutex);
        turn = 1;
        pthread_cond_signal(&condition);
        pthread_mutex_unlock(&mutex);
    }
    CALL(sem_wait(&semaphore));
    CALL(pthread_join(t, &result));
    say("%lx", (unsigned long)result);
    struct timespec past = {1, 0};
    pthread_mutex_lock(&mutex);
    CALL(pthread_cond_timedwait(&condition, &mutex, &past));
    CALL(sem_timedwait(&semaphore, &past));
}

static atomic_int sleeper;

static void *sleeps(void *arg) {
    struct timespec long_time = {100, 0};
    sleeper = (int)syscall(SYS_gettid);
    switch ((long)arg) {
    case 0:
        nanosleep(&long_time, NULL);
        break;
    case 1:
        poll(NULL, 0, 100000);
        break;
    case 2:
        sem_wait(&semaphore);
        break;
    default:
        pause();
    }
    return NULL;
}

CASE(cancelled_while_waiting) {
    sem_init(&semaphore, 0, 0);
    for (long i = 0; i < 4; i++) {
        pthread_t t;
        void *result;
        sleeper = 0;
        pthread_create(&t, NULL, sleeps, (void *)i);
        while (!sleeper)
            usleep(100);
        wait_until_blocked(sleeper);
        pthread_cancel(t);
        pthread_join(t, &result);
        say("cancelled %d", result == PTHREAD_CANCELED);
    }
}

/* --- signals -------------------------------------------------------------------------- */

static volatile sig_atomic_t seen, value;

static void notes(int s) {
    seen = s;
}

static void notes_value(int s, siginfo_t *info, void *context) {
    (void)context;
    seen = s;
    value = info->si_value.sival_int;
}

CASE(handlers_are_remembered) {
    static const int signals[] = {SIGUSR1, SIGBUS, SIGSEGV, SIGCHLD};
    for (int i = 0; i < 4; i++) {
        int s = signals[i];
        struct sigaction old, act = {.sa_handler = notes, .sa_flags = SA_RESTART};
        say("signal %d", s);
        say("default %d", signal(s, notes) == SIG_DFL);
        say("ours %d", signal(s, SIG_IGN) == notes);
        say("ignored %d", signal(s, SIG_DFL) == SIG_IGN);
        sigaddset(&act.sa_mask, SIGUSR2);
        CALL(sigaction(s, &act, &old));
        say("default %d", old.sa_handler == SIG_DFL);
        CALL(sigaction(s, NULL, &old));
        say("same %d flags %d masked %d", old.sa_handler == notes, (old.sa_flags & SA_RESTART) != 0,
            sigismember(&old.sa_mask, SIGUSR2));
        CALL(raise(s));
        say("seen %d", seen);
        act.sa_flags = (int)SA_RESETHAND;
        CALL(sigaction(s, &act, NULL));
        CALL(kill(getpid(), s));
        CALL(sigaction(s, NULL, &old));
        say("default %d", old.sa_handler == SIG_DFL);
    }
    say("error %d %s", signal(SIGKILL, notes) == SIG_ERR, strerrorname_np(errno));
    CALL(sigaction(99, NULL, NULL));
}

CASE(signals_with_values) {
    be_busy();
    struct sigaction act = {.sa_sigaction = notes_value, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR1, &act, NULL);
    CALL(sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 42}));
    say("seen %d value %d", seen, value);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    CALL(kill(getpid(), SIGUSR2));
    int got = 0;
    CALL(sigwait(&set, &got));
    say("got %d", got);
    struct timespec soon = {0, 1000000};
    CALL(sigtimedwait(&set, NULL, &soon));
    CALL(pthread_kill(pthread_self(), SIGUSR1));
    CALL(kill(999999999, 0));
}

/* A file that the program itself has mapped is truncated, while streams are open that the library may have
 * mapped. */
static void leaves(int s) {
    say("its own handler for %d", s);
    printf("unflushed");
    _exit(3);
}

static void touch_torn_map(void) {
    put_pattern("mapped", 3 << 20);
    FILE *f = fopen("mapped", "r");
    static char block[100000];
    fread(block, 1, sizeof block, f);
    put_pattern("own", 20000);
    int fd = open("own", O_RDWR);
    char *map = mmap(NULL, 20000, PROT_READ, MAP_SHARED, fd, 0);
    ftruncate(fd, 0);
    say("%d", map[10000]);
}

CASE(a_fault_in_a_map_of_the_program) {
    signal(SIGBUS, leaves);
    touch_torn_map();
}

CASE(a_fault_without_a_handler) {
    touch_torn_map();
}

CASE(a_fault_with_the_handler_set_late) {
    put_pattern("mapped", 3 << 20);
    FILE *f = fopen("mapped", "r");
    static char block[100000];
    fread(block, 1, sizeof block, f);
    struct sigaction old;
    sigaction(SIGBUS, NULL, &old);
    say("default %d", old.sa_handler == SIG_DFL);
    signal(SIGBUS, leaves);
    touch_torn_map();
}

CASE(a_truncated_input_does_not_kill) {
    put_pattern("mapped", 6 << 20);
    FILE *f = fopen("mapped", "r");
    static char block[100000];
    fread(block, 1, sizeof block, f);
    truncate("mapped", 3 << 20);
    long total = 100000;
    for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;)
        total += (long)n;
    say("total %d", total >= 3 << 20 && total <= 6 << 20);
    unlink("mapped");
}

/* --- processes ----------------------------------------------------------------------------- */

static void exits_7(void) {
    exit(7);
}

CASE(waiting_for_children) {
    be_busy();
    int status = 0;
    struct rusage usage;
    siginfo_t info = {0};
    CALL(wait(&status));
    pid_t pid = fork();
    if (pid == 0)
        _exit(5);
    CALL(waitpid(pid, &status, 0) == pid);
    say("%d", WEXITSTATUS(status));
    pid = fork();
    if (pid == 0)
        _exit(6);
    CALL(wait4(pid, &status, 0, &usage) == pid);
    say("%d", WEXITSTATUS(status));
    pid = fork();
    if (pid == 0)
        exits_7();
    CALL(waitid(P_PID, (id_t)pid, &info, WEXITED));
    say("%d %d", info.si_code == CLD_EXITED, info.si_status);
    pid = fork();
    if (pid == 0)
        _exit(8);
    CALL(wait3(&status, 0, &usage) == pid);
    CALL(waitpid(-1, &status, WNOHANG));
}

CASE(many_arguments) {
    enum { MANY = 3000 };
    static char *arguments[MANY + 2];
    arguments[0] = (char *)"echo";
    for (int i = 1; i <= MANY; i++)
        arguments[i] = (char *)"argument";
    be_busy();
    pid_t pid = fork();
    if (pid == 0) {
        execv("/bin/echo", arguments);
        _exit(9);
    }
    finish(pid);
    CALL(execl("/no/such/program", "a", "b", "c", NULL));
    CALL(execlp("no-such-program", "a", NULL));
    CALL(execve("/etc/passwd", arguments, NULL));
    CALL(execvp("", arguments));
}

CASE(memory_maps) {
    put_pattern("data", 10000);
    int fd = open("data", O_RDWR);
    char *p = mmap(NULL, 10000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 4096);
    say("%d", (unsigned char)p[0] == pattern_at(4096));
    CALL(munmap(p, 10000));
    say("%d", mmap(NULL, 0, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED);
    say("%s", strerrorname_np(errno));
    say("%d", mmap(NULL, 10, PROT_READ, MAP_SHARED, fd, 5) == MAP_FAILED);
    say("%s", strerrorname_np(errno));
    say("%d", mmap(NULL, 4096, PROT_READ, MAP_SHARED, -1, 0) == MAP_FAILED);
    say("%s", strerrorname_np(errno));
    p = mmap64(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    say("%d", p[100]);
}

CASE(sockets) {
    be_busy();
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CALL(bind(listener, (struct sockaddr *)&address, sizeof address));
    CALL(listen(listener, 1));
    int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CALL(connect(client, (struct sockaddr *)&address, sizeof address));
    int server = accept(listener, NULL, NULL);
    CALL(send(client, "hello", 5, 0));
    char text[20] = "";
    CALL(recv(server, text, sizeof text, 0));
    say("%q", text);
    CALL(sendto(server, "to", 2, 0, NULL, 0));
    CALL(recvfrom(client, text, sizeof text, 0, NULL, NULL));
    CALL(recv(client, text, 1, MSG_DONTWAIT));
    CALL(send(-1, text, 1, 0));
    CALL(connect(client, (struct sockaddr *)&address, 0));
    /* Passes the descriptor of a stream to another process; both share its offset. */
    put_lines("lines", 3000);
    FILE *f = fopen("lines", "r");
    char line[20];
    CALL(fgets(line, sizeof line, f));
    char control[CMSG_SPACE(sizeof(int))] = "";
    struct iovec v = {(char *)"f", 1};
    struct msghdr m = {
        .msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    int fd = fileno(f);
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    CALL(sendmsg(client, &m, 0));
    CALL(recvmsg(server, &m, 0));
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
    CALL(read(fd, line, 12));
    say("%b", line, 12);
    CALL(fgets(line, sizeof line, f));
    unlink("socket");
}
