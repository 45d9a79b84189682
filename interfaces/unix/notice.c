/* SPDX-License-Identifier: MIT
 *
 * notice.c - calls through which somebody could see that our buffers are not
 * libc's.  Each settles the streams first (see backplane/settle.c), which is
 * one load and a branch while there is nothing to settle, and is then passed
 * on.  What a signal handler may call goes by names bound when the library is
 * linked or by the system call itself, never by dlsym.
 * Layer: interfaces.  May include: backplane, lib, include/asf.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backplane/backplane.h"
#include "backplane/gather.h"
#include "backplane/pipe_ring.h"
#include "interfaces/unix/emulate.h"
#include "interfaces/unix/forks.h"
#include "interfaces/unix/joined.h"
#include "lib/sys/export.h"
#include "lib/sys/fault.h"
#include "lib/sys/next.h"
#include "lib/sys/options.h"
#include "lib/sys/syscalls.h"

extern int __dup2(int, int);
extern pid_t __fork(void);
extern void *__sbrk(intptr_t);
extern int __sigaction(int, const struct sigaction *, struct sigaction *);

static inline bool unsettled(void) {
    return asf__unlikely(__atomic_load_n(&asf__unsettled_count, __ATOMIC_RELAXED));
}

/* The call works on the pipe itself. */
static inline void leave_ring(int fd) {
    if (asf__rings())
        asf__pipe_leave(fd);
}

/* And nothing is to have a ring later. */
static inline void share_rings(void) {
    if (asf__rings())
        asf__pipe_share();
}

static inline void leave_rings(void) {
    if (asf__rings())
        asf__pipe_leave_all();
}

/* The descriptor's offset or data is about to be used past its streams. */
static inline void touch_fd(int fd) {
    struct asf_cios *c = asf__joined(fd);
    if (asf__unlikely(c != NULL))
        asf__joined_release(c);
    if (unsettled()) {
        asf__settle_output();
        asf__settle_fd(fd);
    }
}

/* The same for calls that have no counterpart in a ring. */
static inline void use_fd(int fd) {
    leave_ring(fd);
    touch_fd(fd);
}

/* A descriptor on no file, and asf__fd_changes when it was found to be: who writes
 * much to it past the streams need not ask each time. */
static uint64_t on_no_file;

static uint64_t as_it_is_now(int fd) {
    uint32_t changes = __atomic_load_n(&asf__fd_changes, __ATOMIC_RELAXED);
    bool known = __libc_single_threaded && changes != ASF_FD_UNKNOWN;
    return known ? (uint64_t)(fd + 1) << 32 | changes : 0;
}

static void settle_readers_of(int fd) {
    struct stat64 st;
    uint64_t now = as_it_is_now(fd);
    if (now && now == on_no_file)
        return;
    if (asf__sys.fstat(fd, &st) < 0)
        return;
    if (S_ISREG(st.st_mode) || S_ISBLK(st.st_mode))
        asf__settle_readers(st.st_dev, st.st_ino, NULL);
    else if (now && !asf__has_others_memory())
        on_no_file = now;
}

/* The file is about to be changed past its streams. */
static void change_fd(int fd) {
    touch_fd(fd);
    if (asf__unlikely(unsettled()) && asf__some_ahead() && fd >= 0)
        settle_readers_of(fd);
}

/* It has been, and another thread may have read ahead meanwhile. */
static inline void changed_fd(int fd) {
    if (asf__unlikely(unsettled()) && !__libc_single_threaded && asf__some_ahead() && fd >= 0)
        settle_readers_of(fd);
}

/* The same for a call that moves the offset itself. */
static inline void move_fd(int fd) {
    use_fd(fd);
    asf__unkeep(fd, true);
    if (asf__fd_stream(fd))
        asf__forget_offset(fd);
}

/* --- data and offset of a descriptor ------------------------------------------ */

/* Out of the view of a descriptor that is kept, as long as there is one thread. */
static inline __attribute__((always_inline)) bool read_view(int fd, unsigned mark, void *buf, size_t n,
                                                            off64_t where) {
    return mark >= ASF_KEPT && asf__likely(__libc_single_threaded) &&
           asf__likely(asf__from_view(asf__kept(mark), fd, buf, n, where));
}

EXPORT ssize_t read(int fd, void *buf, size_t n) {
    unsigned mark = asf__mark(fd);
    if (mark) {
        ssize_t r;
        if (unsettled())
            asf__settle_output();
        if (asf__is_kernels(mark, n) && asf__kernels_read(fd, buf, n, &r))
            return r;
        return read_view(fd, mark, buf, n, ASF_AT_OFFSET) ? (ssize_t)n
                                                          : asf__marked_read(fd, buf, n, ASF_AT_OFFSET);
    }
    struct asf_cios *c = asf__joined(fd);
    if (asf__unlikely(c != NULL))
        return asf__joined_read(c, buf, n);
    touch_fd(fd);
    ssize_t r = asf__rings() ? asf__answer(asf__pipe_read(fd, buf, n)) : asf__kernel_read(fd, buf, n);
    if (asf__fd_stream(fd))
        asf__forget_offset(fd);
    return r;
}

/* Whether the bytes are gathered; nothing else may be held back meanwhile. */
static int gathers(int fd, const void *buf, size_t n) {
    if (__atomic_load_n(&asf__unsettled_count, __ATOMIC_RELAXED) != asf__gathered_count || asf__some_joined)
        return 0; /* the ASI may have the file mapped */
    int r = asf__gather(fd, buf, n);
    if (r && asf__fd_stream(fd))
        asf__forget_offset(fd);
    return r;
}

EXPORT ssize_t write(int fd, const void *buf, size_t n) {
    if (asf__unlikely(asf__options()->coalesce)) {
        int r = gathers(fd, buf, n);
        if (r)
            return r > 0 ? (ssize_t)n : asf__failed(r);
    }
    change_fd(fd);
    const bool marked = asf__unlikely(asf__mark(fd));
    ssize_t r = marked         ? asf__marked_write(fd, buf, n)
                : asf__rings() ? asf__answer(asf__pipe_write(fd, buf, n))
                               : asf__kernel_write(fd, buf, n);
    if (!marked && asf__fd_stream(fd))
        asf__forget_offset(fd);
    changed_fd(fd);
    return r;
}

EXPORT off_t lseek(int fd, off_t offset, int whence) {
    if (asf__mark(fd)) {
        if (whence != SEEK_SET && unsettled())
            asf__settle_output(); /* the size may be asked for */
        return asf__marked_lseek(fd, offset, whence);
    }
    struct asf_cios *c = asf__joined(fd);
    if (asf__unlikely(c != NULL))
        return asf__joined_seek(c, offset, whence);
    touch_fd(fd);
    off_t r = asf__call(SYS_lseek, fd, offset, whence);
    if (asf__fd_stream(fd) && (offset != 0 || whence != SEEK_CUR))
        asf__forget_offset(fd);
    return r;
}

off64_t lseek64(int, off64_t, int) ALIAS(lseek);

/* The descriptor goes away under its streams: errors must come when libc's do. */
static void lose_fd(int fd) {
    int tries = 0;
    touch_fd(fd);
    for (struct asf_cios *c = asf__fd_stream(fd); c; c = c->fd_next) {
        if (c->held || !c->may_grow)
            continue;
        bool locked;
        while (!(locked = asf__trylock(&c->lk)) && asf__patient(tries++, ASF_MOMENT))
            ;
        if (!locked)
            continue;
        asf__stop_growing(c);
        asf__unlock(&c->lk);
    }
}

static void lose_ring(int fd) {
    if (asf__rings())
        asf__pipe_lose(fd);
}

EXPORT int close(int fd) {
    touch_fd(fd);
    lose_ring(fd);
    if (asf__fd_stream(fd)) {
        lose_fd(fd);
        asf__forget_offset(fd);
    }
    asf__fd_changed();
    if (asf__mark(fd))
        asf__forget_descriptor(fd);
    if (asf__likely(!asf__options()->coalesce))
        return asf__kernel_close(fd);
    int failed = asf__end_gathering(fd), r = asf__kernel_close(fd);
    return failed && r == 0 ? (int)asf__failed(failed) : r;
}

EXPORT int dup(int fd) {
    use_fd(fd);
    asf__share_offset(fd);
    asf__unkeep(fd, true);
    int r = (int)asf__call(SYS_dup, fd, 0, 0);
    asf__forget_descriptor(r);
    return r;
}

/* A call that fails leaves `to` open, and what its ring holds has still to be read. */
static bool will_replace(int from, int flags) {
    return (flags & ~O_CLOEXEC) == 0 && asf__raw_syscall(SYS_fcntl, from, F_GETFD, 0, 0) >= 0;
}

/* What has descriptor 2 shares it with libc's own messages. */
static void before_dup(int from, int to, int flags) {
    leave_ring(from);
    if (to == STDERR_FILENO)
        lose_fd(from);
    else
        use_fd(from);
    lose_fd(to);
    if (from != to) {
        asf__share_offset(from);
        if (asf__rings() && will_replace(from, flags))
            asf__pipe_lose(to);
        asf__write_gathered();
        asf__end_gathering(to);
        asf__unkeep(from, true);
        asf__unkeep(to, true);
    }
}

EXPORT int dup2(int from, int to) {
    before_dup(from, to, 0);
    int r = __dup2(from, to);
    asf__forget_offset(to);
    return r;
}

EXPORT int dup3(int from, int to, int flags) {
    before_dup(from, to, flags);
    int r = (int)asf__call(SYS_dup3, from, to, flags);
    asf__forget_offset(to);
    return r;
}

/* --- new processes ------------------------------------------------------------- */

static __thread bool had_threads; /* when its last fork began */

static bool inherit(struct asf_cios *c, void *arg) {
    (void)arg;
    if (had_threads || c->inside)
        asf__leave_to_parent(c);
    asf__lock_inherit(&c->lk, !had_threads || c->inside); /* as glibc; a call that forks goes on */
    return true;
}

/* Another process will have our descriptors: from now on input is read as
 * libc reads it. */
static void before_child(void) {
    asf__settle_all();
    asf__share_all();
    share_rings();
    asf__forget_writable(); /* the child may lack some, and may empty a file that is mapped */
}

/* The locks, as libc's own, are taken behind the handlers of pthread_atfork, which may wait
 * for a thread that wants them, and released before those behind the fork.  The list is
 * locked only where there are threads, and not in a signal handler that has interrupted its
 * locking. */
static __thread bool has_list;

static void before_fork(void) {
    had_threads = !__libc_single_threaded;
    has_list = had_threads && asf__list_enter();
}

static void in_parent(void) {
    if (has_list)
        asf__list_unlock();
}

/* No other thread lives on to release its locks. */
static void in_child(void) {
    if (had_threads)
        asf__list_reset(has_list);
    asf__each_soon(inherit, NULL);
    asf__popen_reset();
}

extern int __register_atfork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void),
                             void *object);
#ifdef ASF_STATIC
#define LIBC_REGISTER __register_atfork
#else
static void *libc_register;
#define LIBC_REGISTER ((__typeof__(&__register_atfork))asf__next(&libc_register, "__register_atfork"))
#endif

/* Our handlers come before all others, but not at start-up: most processes never fork,
 * and each page of libc that is touched costs them some microseconds. */
void asf__heed_forks(void) {
    static bool heeded;
    if (!__atomic_exchange_n(&heeded, true, __ATOMIC_RELAXED))
        LIBC_REGISTER(before_fork, in_parent, in_child, NULL);
}

#ifdef ASF_STATIC
__attribute__((constructor)) static void start(void) {
    asf__heed_forks();
}
#else
EXPORT int __register_atfork(void (*before)(void), void (*parent)(void), void (*child)(void), void *object) {
    asf__heed_forks();
    return LIBC_REGISTER(before, parent, child, object);
}
#endif

/* Before a fork that runs the handlers. */
static void prepare_fork(void) {
    asf__heed_forks();
    before_child();
    asf__after_shared_memory();
}

EXPORT pid_t fork(void) {
    prepare_fork();
    return __fork();
}

void asf__before_vfork(void);
void asf__before_vfork(void) {
    before_child();
    asf__before_shared_memory();
}

/* vfork returns twice: it must be entered with the caller's own frame. */
__asm__(".text\n.globl vfork\n.type vfork, @function\nvfork:\n"
        "    .cfi_startproc\n    endbr64\n"
        "    sub $8, %rsp\n    .cfi_adjust_cfa_offset 8\n"
        "    call asf__before_vfork\n"
        "    add $8, %rsp\n    .cfi_adjust_cfa_offset -8\n"
        "    jmp __vfork@PLT\n"
        "    .cfi_endproc\n.size vfork, . - vfork\n");

static bool report(struct asf_cios *c, void *arg) {
    (void)arg;
    asf__cios_report(c);
    return true;
}

static void before_end(void) {
    asf__settle_last();
    if (asf__counting)
        asf__each(report, NULL);
}

static void before_exec(void) {
    before_end();
    asf__before_exec();
    leave_rings();
}

EXPORT int execve(const char *path, char *const argv[], char *const env[]) {
    before_exec();
    int failed = (int)asf__call(SYS_execve, (long)path, (long)argv, (long)env);
    asf__after_exec();
    return failed;
}

EXPORT void _exit(int status) {
    before_end();
    for (;;)
        asf__raw(SYS_exit_group, status, 0, 0, 0);
}

EXPORT __attribute__((noreturn)) void _Exit(int status) {
    _exit(status);
}

/* --- signals: handlers of ours that the program is not to see --------------------- */

/* Where SIGBUS may be blocked, a truncated view would be the end of the process. */
static void may_block(const sigset_t *set) {
    if (set && sigismember(set, SIGBUS) == 1)
        asf__stop_keeping();
}

#ifdef ASF_STATIC
static void find_for_handlers(sighandler_t handler) {
    (void)handler;
}
#else
static void find_for_handlers(sighandler_t handler);
#endif

EXPORT int sigaction(int sig, const struct sigaction *act, struct sigaction *old) {
    may_block(act ? &act->sa_mask : NULL);
    if (act)
        find_for_handlers(act->sa_handler);
    if (asf__program_action(sig, act, old))
        return 0;
    return __sigaction(sig, act, old);
}

#ifndef ASF_STATIC
#include "interfaces/unix/notice_more.h"

#include "interfaces/unix/notice_kept.h"
#endif
