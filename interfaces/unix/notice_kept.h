/* SPDX-License-Identifier: MIT
 *
 * notice_kept.h - calls that matter to descriptors whose offset we keep, and to
 * nothing else: through them it could be seen, or something comes that the
 * emulation has no answer to, such as a second thread.
 * Layer: interfaces.  Included by notice.c alone.
 */
#ifndef ASF_INTERFACES_UNIX_NOTICE_KEPT_H
#define ASF_INTERFACES_UNIX_NOTICE_KEPT_H

#include <aio.h>
#include <dirent.h>
#include <mqueue.h>
#include <netdb.h>
#include <sched.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <threads.h>
#include <utmp.h>

#define STOP asf__stop_keeping()
/* Not for calls that a vfork's child makes, as shells' do by sigsetmask: the
 * kernel registers a process for membarrier at once while nobody shares its
 * memory, and else after some twenty milliseconds. */
#define THREAD before_thread()

/* Threads. */
NOTICE(THREAD, int, thrd_create, (thrd_t * t, thrd_start_t start, void *arg), (t, start, arg))
NOTICE(STOP; asf__stop_growing_all(), int, pthread_cancel, (pthread_t t), (t))
NOTICE(THREAD, int, timer_create, (clockid_t clock, struct sigevent *restrict e, timer_t *restrict t),
       (clock, e, t))
NOTICE(THREAD, int, mq_notify, (mqd_t q, const struct sigevent *e), (q, e))
NOTICE(THREAD, int, getaddrinfo_a, (int mode, struct gaicb *list[], int n, struct sigevent *e),
       (mode, list, n, e))
NOTICE(THREAD; share_rings(), int, aio_read, (struct aiocb * c), (c))
NOTICE(THREAD; share_rings(), int, aio_write, (struct aiocb * c), (c))
NOTICE(THREAD, int, aio_fsync, (int op, struct aiocb *c), (op, c))
NOTICE(THREAD; share_rings(), int, lio_listio,
               (int mode, struct aiocb *const list[], int n, struct sigevent *restrict e), (mode, list, n, e))
NOTICE(THREAD; share_rings(), int, aio_read64, (struct aiocb64 * c), (c))
NOTICE(THREAD; share_rings(), int, aio_write64, (struct aiocb64 * c), (c))
NOTICE(THREAD, int, aio_fsync64, (int op, struct aiocb64 *c), (op, c))
NOTICE(THREAD; share_rings(), int, lio_listio64,
               (int mode, struct aiocb64 *const list[], int n, struct sigevent *restrict e),
               (mode, list, n, e))

EXPORT int clone(int (*start)(void *), void *stack, int flags, void *arg, ...) {
    va_list ap;
    va_start(ap, arg);
    void *parent = va_arg(ap, void *), *tls = va_arg(ap, void *), *child = va_arg(ap, void *);
    va_end(ap);
    before_child();
    THREAD;
    return ASF_NEXT(clone)(start, stack, flags, arg, parent, tls, child);
}

/* Shells call it in each child. */
extern int sigprocmask(int, const sigset_t *restrict, sigset_t *restrict);

/* Masks of signals, by which SIGBUS may be blocked. */
NOTICE(if (how != SIG_UNBLOCK) may_block(set), int, sigprocmask,
       (int how, const sigset_t *restrict set, sigset_t *restrict old), (how, set, old))
NOTICE(if (how != SIG_UNBLOCK) may_block(set), int, pthread_sigmask,
       (int how, const sigset_t *restrict set, sigset_t *restrict old), (how, set, old))
NOTICE(may_block(mask), int, epoll_pwait2,
       (int fd, struct epoll_event *e, int n, const struct timespec *t, const sigset_t *mask),
       (fd, e, n, t, mask))
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
NOTICE(STOP, int, sigblock, (int mask), (mask))
NOTICE(STOP, int, sigsetmask, (int mask), (mask))
NOTICE(STOP, int, sighold, (int sig), (sig))
#pragma GCC diagnostic pop

/* Who watches accesses of files would see fewer. */
NOTICE(if (mask & IN_ACCESS) STOP, int, inotify_add_watch, (int fd, const char *path, uint32_t mask),
       (fd, path, mask))
NOTICE(STOP, int, fanotify_init, (unsigned flags, unsigned file_flags), (flags, file_flags))

/* Views take room in the address space; and nothing may fail at a limit later than
 * it would under libc. */
static void before_limit(int what, bool set) {
    if (set && what == RLIMIT_AS)
        STOP;
    if (set && what == RLIMIT_FSIZE)
        asf__be_plain();
    if (set && what == RLIMIT_NOFILE)
        leave_rings();
}

NOTICE(before_limit((int)what, true), int, setrlimit, (__rlimit_resource_t what, const struct rlimit *to),
       (what, to))
NOTICE(before_limit((int)what, true), int, setrlimit64, (__rlimit_resource_t what, const struct rlimit64 *to),
       (what, to))
NOTICE(before_limit((int)what, to != NULL), int, prlimit,
       (pid_t pid, __rlimit_resource_t what, const struct rlimit *to, struct rlimit *old),
       (pid, what, to, old))
NOTICE(before_limit((int)what, to != NULL), int, prlimit64,
       (pid_t pid, __rlimit_resource_t what, const struct rlimit64 *to, struct rlimit64 *old),
       (pid, what, to, old))
/* Memory that was written to may go, or be protected. */
NOTICE(asf__forget_writable(), int, shmdt, (const void *at), (at))
NOTICE(asf__forget_writable(), void *, shmat, (int id, const void *at, int flags), (id, at, flags))
NOTICE(asf__forget_writable(), int, pkey_mprotect, (void *p, size_t n, int protection, int key),
       (p, n, protection, key))
NOTICE(asf__forget_writable(), int, remap_file_pages,
       (void *at, size_t n, int protection, size_t page, int flags), (at, n, protection, page, flags))
NOTICE(asf__forget_writable(), int, dlclose, (void *library), (library))

/* Without a search by name, since allocators call these, in which it would allocate. */
EXPORT int madvise(void *at, size_t n, int advice) {
    asf__forget_writable();
    return (int)asf__call(SYS_madvise, (long)at, (long)n, advice);
}

EXPORT void *sbrk(intptr_t n) {
    asf__forget_writable();
    return __sbrk(n);
}

EXPORT ssize_t process_madvise(int process, const struct iovec *v, size_t n, int advice, unsigned flags) {
    asf__forget_writable();
    long r = asf__raw6(SYS_process_madvise, process, (long)v, (long)n, advice, (long)flags, 0);
    return r < 0 ? asf__failed(r) : r;
}

/* Views would be locked memory, too, of which there may be little. */
NOTICE(asf__stop_keeping(), int, mlockall, (int flags), (flags))
NOTICE(asf__forget_writable(), int, pkey_set, (int key, unsigned rights), (key, rights))

NOTICE_CHANGE(fd, change_fd(fd); move_fd(fd), ssize_t, pwritev2,
                                 (int fd, const struct iovec *v, int n, off_t at, int flags),
                                 (fd, v, n, at, flags))
NOTICE_CHANGE(fd, change_fd(fd); move_fd(fd), ssize_t, pwritev64v2,
                                 (int fd, const struct iovec *v, int n, off64_t at, int flags),
                                 (fd, v, n, at, flags))

/* A descriptor that libc duplicates, closes or gives away by itself. */
NOTICE(before_child(), int, login_tty, (int fd), (fd))
NOTICE(before_child(), int, pidfd_getfd, (int pid, int fd, unsigned flags), (pid, fd, flags))
NOTICE(asf__unkeep(fd, true), DIR *, fdopendir, (int fd), (fd))

/* Some answer by the offset (FIONREAD), others change what a read does. */
EXPORT int ioctl(int fd, unsigned long request, ...) {
    va_list ap;
    va_start(ap, request);
    void *arg = va_arg(ap, void *);
    va_end(ap);
    if (request == FIONREAD || request == FIONBIO || request == FIOASYNC)
        leave_ring(fd);
    OUTPUT;
    asf__begin_by_kernel(fd);
    int r = (int)asf__call(SYS_ioctl, fd, (long)request, (long)arg);
    asf__end_by_kernel();
    return r;
}

/* Calls by their number: some are harmless, some do not ask for the offset,
 * some concern one descriptor, and after all others none is kept any more. */
static bool is_among(long number, const short *list, size_t n) {
    while (n > 0 && list[n - 1] != number)
        n--;
    return n > 0;
}

static void on_descriptor(long number, int fd, int other) {
    if (number == SYS_read || number == SYS_readv || number == SYS_lseek) {
        move_fd(fd);
        return;
    }
    use_fd(fd);
    asf__unkeep(fd, true);
    if (number != SYS_dup && number != SYS_dup2 && number != SYS_dup3)
        return;
    asf__share_offset(fd);
    if (number != SYS_dup && other != fd) {
        lose_fd(other);
        asf__forget_offset(other);
        asf__unkeep(other, true);
    }
}

#define AMONG(number, list) is_among(number, list, sizeof(list) / sizeof *(list))

static bool executes(long number) {
    return number == SYS_execve || number == SYS_execveat;
}

static void by_number(long number, long a, long b) {
    static const short harmless[] = {SYS_gettid, SYS_getpid,       SYS_futex,       SYS_getrandom,
                                     SYS_getcpu, SYS_membarrier,   SYS_sched_yield, SYS_clock_gettime,
                                     SYS_tgkill, SYS_gettimeofday, SYS_statx,       SYS_newfstatat,
                                     SYS_fstat,  SYS_stat,         SYS_lstat,       SYS_ioprio_set,
                                     SYS_uname,  SYS_sysinfo,      SYS_getdents64,  SYS_getppid};
    static const short elsewhere[] = {SYS_write, SYS_writev, SYS_pread64, SYS_pwrite64};
    static const short children[] = {SYS_fork, SYS_vfork, SYS_clone, SYS_clone3};
    static const short of_one[] = {SYS_read,  SYS_readv, SYS_preadv2, SYS_lseek, SYS_ioctl,
                                   SYS_close, SYS_dup,   SYS_dup2,    SYS_dup3};
    if (AMONG(number, harmless))
        return;
    if (number == SYS_seccomp || (number == SYS_prctl && is_confining(a)))
        asf__be_plain();
    if (executes(number))
        before_exec();
    else if (number == SYS_exit_group)
        before_end();
    else if (number == SYS_exit) /* of one thread, or of the last */
        asf__settle_last();
    else if (AMONG(number, children))
        before_child();
    share_rings();
    if (AMONG(number, of_one))
        on_descriptor(number, (int)a, (int)b);
    else if (number == SYS_open || number == SYS_openat)
        asf__before_open((const char *)(number == SYS_open ? a : b)); // NOLINT
    else if (!AMONG(number, elsewhere))
        STOP;
}

EXPORT long syscall(long number, ...) {
    va_list ap;
    va_start(ap, number);
    long a = va_arg(ap, long), b = va_arg(ap, long), c = va_arg(ap, long);
    long d = va_arg(ap, long), e = va_arg(ap, long), f = va_arg(ap, long);
    va_end(ap);
    asf__before_wait();
    by_number(number, a, b);
    long r = asf__raw6(number, a, b, c, d, e, f);
    if (executes(number))
        asf__after_exec();
    return r < 0 && r > -4096 ? asf__failed(r) : r;
}

#endif
