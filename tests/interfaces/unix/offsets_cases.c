/* SPDX-License-Identifier: MIT
 *
 * offsets_cases.c - rare calls that use or share the offset of a descriptor, or close or duplicate it.
 * Small reads, which may have made the descriptor private, precede each.
 */
#include "tests/interfaces/stdio/transcript.h"
#include "tests/interfaces/unix/lacking.h"

#include <dirent.h>
#include <mqueue.h>
#include <pty.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <syslog.h>
#include <utmp.h>
#include <wordexp.h>

enum { LINES = 100000, LINE = 10 };

/* Makes a file of numbered lines of 1 MB, for which the library uses a mapping by default. */
static void put_numbers(const char *path) {
    char *text = malloc(LINES * LINE + 1);
    for (int i = 0; i < LINES; i++)
        snprintf(text + (size_t)i * LINE, LINE + 1, "%09d\n", i);
    put_file(path, text, LINES * LINE);
    free(text);
}

static int open_read(const char *path, int flags) {
    char line[LINE];
    put_numbers(path);
    int fd = CALL(open(path, flags));
    for (int i = 0; i < 200; i++)
        read(fd, line, LINE);
    return fd;
}

static void note_next(int fd) {
    char line[LINE + 1] = "";
    CALL(read(fd, line, LINE));
    say("  %q", line);
}

static void in_child_of(pid_t (*start)(void), int fd) {
    pid_t child = start();
    if (child == 0) {
        note_next(fd);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    note_next(fd);
}

/* --- processes ----------------------------------------------------------------------------- */

CASE(forked) {
    int fd = open_read("data", O_RDONLY);
    in_child_of(fork, fd);
    in_child_of(__fork, fd);
}

CASE(forked_without_handlers) {
    int fd = open_read("data", O_RDONLY);
    in_child_of(_Fork, fd);
    int second = open_read("second", O_RDONLY);
    in_child_of(_Fork, second);
    note_next(fd);
}

/* The child reads another file: no lock may be left to a thread that does not exist in the child. */
CASE(read_in_a_child_without_handlers) {
    open_read("data", O_RDONLY);
    pid_t child = _Fork();
    if (child == 0) {
        note_next(open_read("own", O_RDONLY));
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

/* Forks before the process has a private descriptor. */
static void fork_early(pid_t (*start)(void)) {
    int ends[2];
    char line[LINE];
    put_numbers("data");
    pipe(ends);
    int fd = CALL(open("data", O_RDONLY));
    pid_t child = start();
    if (child == 0) {
        read(ends[0], line, 1);
        note_next(fd);
        _exit(0);
    }
    for (int i = 0; i < 200; i++)
        read(fd, line, LINE);
    write(ends[1], "x", 1);
    waitpid(child, NULL, 0);
    note_next(fd);
}

CASE(forked_before_the_first_read) {
    fork_early(fork);
}

CASE(forked_early_without_handlers) {
    fork_early(_Fork);
}

CASE(in_a_terminal_of_its_own) {
    int fd = open_read("data", O_RDONLY), terminal;
    pid_t child = forkpty(&terminal, NULL, NULL, NULL);
    if (child == 0) {
        note_next(fd);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    note_next(fd);
}

CASE(words_of_a_command) {
    int fd = open_read("data", O_RDONLY);
    char command[60];
    wordexp_t words;
    snprintf(command, sizeof command, "$(head -c 10 <&%d)", fd);
    if (CALL(wordexp(command, &words, 0)) == 0)
        say("%s", words.we_wordv[0]);
    note_next(fd);
}

/* The terminal replaces standard input, and its own descriptor is closed. */
static void log_in(void) {
    int terminal, line, fd;
    char name[60];
    close(0);
    open_read("data", O_RDONLY);
    openpty(&terminal, &line, name, NULL, NULL);
    close(line);
    fd = open(name, O_RDWR | O_NOCTTY);
    CALL(login_tty(fd));
    write(terminal, "typed\n", 6);
    note_next(0);
    int next = CALL(memfd_create("next", 0));
    say("the same number %d", next == fd);
}

CASE(logged_in) {
    if (fork() == 0) {
        log_in();
        _exit(0);
    }
    wait(NULL);
}

/* --- passed on ------------------------------------------------------------------------------- */

struct message {
    char byte, control[CMSG_SPACE(sizeof(int))];
    struct iovec v;
    struct mmsghdr m;
};

static void prepare(struct message *m) {
    *m = (struct message){.byte = 'x'};
    m->v = (struct iovec){&m->byte, 1};
    m->m.msg_hdr = (struct msghdr){
        .msg_iov = &m->v, .msg_iovlen = 1, .msg_control = m->control, .msg_controllen = sizeof m->control};
}

static int send_fd(int to, int fd) {
    struct message m;
    prepare(&m);
    struct cmsghdr *c = CMSG_FIRSTHDR(&m.m.msg_hdr);
    *c = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    return sendmmsg(to, &m.m, 1, 0);
}

static int receive_fd(int from) {
    struct message m;
    int fd = -1;
    prepare(&m);
    CALL(recvmmsg(from, &m.m, 1, 0, NULL));
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m.m.msg_hdr)), sizeof fd);
    return fd;
}

CASE(sent_by_sendmmsg) {
    int ends[2], fd = open_read("data", O_RDONLY);
    socketpair(AF_UNIX, SOCK_DGRAM, 0, ends);
    CALL(send_fd(ends[0], fd));
    int got = receive_fd(ends[1]);
    note_next(got);
    note_next(fd);
    CALL(close(fd));
    note_next(got);
}

/* libc closes a directory; then a file that another process shares gets its number. */
CASE(received_where_a_directory_was) {
    int ends[2], number;
    char line[LINE];
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    put_numbers("data");
    pid_t child = fork();
    if (child == 0) {
        int fd = open("data", O_RDONLY);
        send_fd(ends[1], fd);
        read(ends[1], line, 1);
        note_next(fd);
        _exit(0);
    }
    DIR *d = fdopendir(number = open(".", O_RDONLY));
    readdir(d);
    CALL(closedir(d));
    int fd = receive_fd(ends[0]);
    say("the same number %d", fd == number);
    for (int i = 0; i < 200; i++)
        read(fd, line, LINE);
    write(ends[0], "x", 1);
    waitpid(child, NULL, 0);
}

CASE(duplicated_by_pidfd_getfd) {
    int fd = open_read("data", O_RDONLY);
    int copy = CALL(pidfd_getfd(pidfd_open(getpid(), 0), fd, 0));
    note_next(copy);
    note_next(fd);
}

/* --- reads, writes and closes by other names -------------------------------------------------- */

CASE(vectors_at_the_offset) {
    int fd = open_read("data", O_RDWR);
    char line[LINE + 1] = "";
    struct iovec v = {line, LINE};
    CALL(preadv2(fd, &v, 1, -1, 0));
    say("  %q", line);
    note_next(fd);
    CALL(pwritev2(fd, &v, 1, -1, 0));
    note_next(fd);
    fd = open_read("other", O_RDWR);
    CALL(preadv64v2(fd, &v, 1, -1, 0));
    note_next(fd);
    fd = open_read("third", O_RDWR);
    CALL(pwritev64v2(fd, &v, 1, -1, 0));
    note_next(fd);
    CALL(pwritev(fd, &v, 1, 5));
    CALL(preadv2(fd, &v, 1, 0, 0));
    say("  %q", line);
    note_next(fd);
    CALL(close(fd));
}

CASE(as_an_event) {
    int fd = open_read("data", O_RDWR);
    eventfd_t value;
    CALL(eventfd_read(fd, &value));
    note_next(fd);
    fd = open_read("other", O_RDWR);
    CALL(eventfd_write(fd, 0x3837363534333231));
    note_next(fd);
    CALL(pread(fd, &value, 8, 2000));
    say("%lx", (unsigned long)value);
}

#ifdef __GLIBC__ /* musl lacks this interface */
CASE(a_backtrace_written_to_it) {
    int fd = open_read("data", O_RDWR);
    void *nowhere[3] = {NULL};
    backtrace_symbols_fd(nowhere, 3, fd);
    note_next(fd);
}
#endif

CASE(closed_as_a_queue) {
    int fd = open_read("data", O_RDONLY);
    CALL(mq_close(fd));
    note_next(fd);
    int next = CALL(memfd_create("next", 0));
    say("the same number %d", next == fd);
    note_next(next);
}

/* libc itself writes to this number. */
CASE(standard_error) {
    close(2);
    int fd = open_read("data", O_RDWR);
    openlog("program", LOG_PERROR, LOG_USER);
    syslog(LOG_ERR, "a message");
    note_next(fd);
    CALL(lseek(fd, 0, SEEK_CUR));
}

/* --- left alone ------------------------------------------------------------------------------------- */

CASE(a_daemon) {
    int fd, done[2];
    char byte;
    pipe(done);
    close(0);
    open_read("data", O_RDONLY);
    if (fork() == 0) {
        fd = open_read("other", O_RDONLY);
        if (daemon(1, 0) == 0) {
            note_next(0);
            note_next(fd);
        }
        _exit(0);
    }
    close(done[1]);
    read(done[0], &byte, 1);
}
