/* SPDX-License-Identifier: MIT
 *
 * notice_more.h - the rest of notice.c's calls: those that are passed on to
 * libc's own function by its name, which a static program cannot do.
 * Layer: interfaces.  Included by notice.c alone.
 */
#ifndef ASF_INTERFACES_UNIX_NOTICE_MORE_H
#define ASF_INTERFACES_UNIX_NOTICE_MORE_H

#include <execinfo.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <mntent.h>
#include <poll.h>
#include <pty.h>
#include <semaphore.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/fsuid.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <time.h>
#include <utime.h>
#include <wordexp.h>

#include "lib/sys/next.h"

/* LIBC: libc's function, kept where handlers' needs can be seen to beforehand. */
#define KEEP(name) static void *libc_##name
#define LIBC(name) ((__typeof__(&(name)))asf__next(&libc_##name, #name))

/* NOTICE: settle by `before`, then libc's function. */
#define NOTICE(before, type, name, params, args)                                                             \
    KEEP(name);                                                                                              \
    EXPORT type name params {                                                                                \
        before;                                                                                              \
        return LIBC(name) args;                                                                              \
    }

/* Of those that change a file. */
#define NOTICE_CHANGE(fd, before, type, name, params, args)                                                  \
    KEEP(name);                                                                                              \
    EXPORT type name params {                                                                                \
        before;                                                                                              \
        type result = LIBC(name) args;                                                                       \
        changed_fd(fd);                                                                                      \
        return result;                                                                                       \
    }

/* Of those that execute something, here or in a child. */
#define NOTICE_EXEC(before, name, params, args)                                                              \
    KEEP(name);                                                                                              \
    EXPORT int name params {                                                                                 \
        before;                                                                                              \
        int result = LIBC(name) args;                                                                        \
        asf__after_exec();                                                                                   \
        return result;                                                                                       \
    }

/* Everybody sees output: what libc would have written is written. */
#define OUTPUT asf__settle_output()

/* And reads are the kernel's, which sets the time of access by what it was. */
#define TIMES                                                                                                \
    OUTPUT;                                                                                                  \
    asf__unkeep_all()

static void before_spawn(void) {
    before_child();
    asf__before_exec();
}

/* Another process may get descriptors of ours. */
static void send_descriptors(const struct msghdr *m) {
    if (m && m->msg_controllen > 0)
        before_child();
}

static void close_many(void) {
    asf__settle_all();
    asf__unkeep_all();
    asf__stop_gathering();
    leave_rings();
}

/* Who waits for descriptors waits for pipes, and will again; who only looks, as
 * some programs do when they start, may still have a ring later. */
static void wait_for(struct pollfd *fds, nfds_t n, bool waits) {
    OUTPUT;
    for (nfds_t i = 0; asf__rings() && i < n; i++)
        if (waits)
            asf__pipe_refuse(fds[i].fd);
        else
            asf__pipe_leave(fds[i].fd);
}

static void wait_for_some(int n) {
    OUTPUT;
    if (n > 0)
        share_rings();
}

static void watch(int fd) {
    if (asf__rings())
        asf__pipe_refuse(fd);
}

/* Calls that move data past the streams. */
EXPORT ssize_t readv(int fd, const struct iovec *v, int n) {
    if (asf__mark(fd)) {
        OUTPUT;
        return asf__marked_readv(fd, v, n);
    }
    move_fd(fd);
    return ASF_NEXT(readv)(fd, v, n);
}

NOTICE_CHANGE(fd, change_fd(fd);
              move_fd(fd), ssize_t, writev, (int fd, const struct iovec *v, int n), (fd, v, n))
EXPORT ssize_t pread(int fd, void *p, size_t n, off_t at) {
    unsigned mark = asf__mark(fd);
    use_fd(fd);
    if (mark == 0 || at < 0)
        return ASF_NEXT(pread)(fd, p, n, at);
    return read_view(fd, mark, p, n, at) ? (ssize_t)n : asf__marked_read(fd, p, n, at);
}

ssize_t pread64(int, void *, size_t, off64_t) ALIAS(pread);
NOTICE_CHANGE(fd, change_fd(fd), ssize_t, pwrite, (int fd, const void *p, size_t n, off_t at), (fd, p, n, at))
NOTICE_CHANGE(fd, change_fd(fd), ssize_t, pwrite64, (int fd, const void *p, size_t n, off64_t at),
              (fd, p, n, at))
NOTICE_CHANGE(out, move_fd(in); change_fd(out);
              move_fd(out), ssize_t, sendfile, (int out, int in, off_t *at, size_t n), (out, in, at, n))
NOTICE_CHANGE(out, move_fd(in); change_fd(out);
              move_fd(out), ssize_t, sendfile64, (int out, int in, off64_t *at, size_t n), (out, in, at, n))
NOTICE_CHANGE(out, move_fd(in); change_fd(out);
              move_fd(out), ssize_t, copy_file_range,
              (int in, off64_t *in_at, int out, off64_t *out_at, size_t n, unsigned flags),
              (in, in_at, out, out_at, n, flags))
NOTICE_CHANGE(out, move_fd(in); change_fd(out);
              move_fd(out), ssize_t, splice,
              (int in, off64_t *in_at, int out, off64_t *out_at, size_t n, unsigned flags),
              (in, in_at, out, out_at, n, flags))
NOTICE(use_fd(fd), ssize_t, preadv, (int fd, const struct iovec *v, int n, off_t at), (fd, v, n, at))
NOTICE_CHANGE(fd, change_fd(fd), ssize_t, pwritev, (int fd, const struct iovec *v, int n, off_t at),
              (fd, v, n, at))
NOTICE(move_fd(fd), ssize_t, preadv2, (int fd, const struct iovec *v, int n, off_t at, int flags),
       (fd, v, n, at, flags))
NOTICE(move_fd(fd), ssize_t, preadv64v2, (int fd, const struct iovec *v, int n, off64_t at, int flags),
       (fd, v, n, at, flags))
NOTICE(use_fd(fd), ssize_t, vmsplice, (int fd, const struct iovec *v, size_t n, unsigned flags),
       (fd, v, n, flags))
NOTICE(use_fd(in);
       use_fd(out), ssize_t, tee, (int in, int out, size_t n, unsigned flags), (in, out, n, flags))
NOTICE(OUTPUT, ssize_t, sendto,
       (int fd, const void *p, size_t n, int flags, const struct sockaddr *a, socklen_t alen),
       (fd, p, n, flags, a, alen))
NOTICE(OUTPUT, ssize_t, recvfrom, (int fd, void *p, size_t n, int flags, struct sockaddr *a, socklen_t *alen),
       (fd, p, n, flags, a, alen))
NOTICE(OUTPUT, ssize_t, send, (int fd, const void *p, size_t n, int flags), (fd, p, n, flags))
NOTICE(OUTPUT;
       send_descriptors(m), ssize_t, sendmsg, (int fd, const struct msghdr *m, int flags), (fd, m, flags))
NOTICE(OUTPUT;
       before_child(), int, sendmmsg, (int fd, struct mmsghdr *m, unsigned n, int flags), (fd, m, n, flags))
NOTICE(OUTPUT, ssize_t, recv, (int fd, void *p, size_t n, int flags), (fd, p, n, flags))
NOTICE(OUTPUT, ssize_t, recvmsg, (int fd, struct msghdr *m, int flags), (fd, m, flags))

NOTICE(move_fd(fd), void, backtrace_symbols_fd, (void *const *frames, int n, int fd), (frames, n, fd))

/* Calls that tell a file's size or times, or change them. */
NOTICE(OUTPUT, int, fstat, (int fd, struct stat *st), (fd, st))
NOTICE(OUTPUT, int, fstat64, (int fd, struct stat64 *st), (fd, st))
NOTICE(OUTPUT, int, stat, (const char *path, struct stat *st), (path, st))
NOTICE(OUTPUT, int, stat64, (const char *path, struct stat64 *st), (path, st))
NOTICE(OUTPUT, int, lstat, (const char *path, struct stat *st), (path, st))
NOTICE(OUTPUT, int, lstat64, (const char *path, struct stat64 *st), (path, st))
NOTICE(OUTPUT, int, fstatat, (int dir, const char *path, struct stat *st, int flags), (dir, path, st, flags))
NOTICE(OUTPUT, int, fstatat64, (int dir, const char *path, struct stat64 *st, int flags),
       (dir, path, st, flags))
NOTICE(OUTPUT, int, statx,
       (int dir, const char *restrict path, int flags, unsigned mask, struct statx *restrict st),
       (dir, path, flags, mask, st))
static void before_cut(int fd) {
    change_fd(fd);
    asf__drop_views();
}

static void before_cut_by_name(void) {
    asf__settle_all();
    asf__drop_views();
}
NOTICE_CHANGE(fd, before_cut(fd), int, ftruncate, (int fd, off_t size), (fd, size))
NOTICE_CHANGE(fd, before_cut(fd), int, ftruncate64, (int fd, off64_t size), (fd, size))
NOTICE(before_cut_by_name(), int, truncate, (const char *path, off_t size), (path, size))
NOTICE(close_many(), int, close_range, (unsigned first, unsigned last, int flags), (first, last, flags))
NOTICE(close_many(), void, closefrom, (int first), (first))
/* The error of a write that was gathered is told here, too. */
#define SYNCING(name)                                                                                        \
    KEEP(name);                                                                                              \
    EXPORT int name(int fd) {                                                                                \
        use_fd(fd);                                                                                          \
        int failed = asf__gathering_error(fd), r = LIBC(name)(fd);                                           \
        return failed && r == 0 ? (int)asf__failed(failed) : r;                                              \
    }
SYNCING(fsync)
SYNCING(fdatasync)
NOTICE(OUTPUT, int, rename, (const char *from, const char *to), (from, to))
NOTICE(OUTPUT, int, link, (const char *from, const char *to), (from, to))
NOTICE(OUTPUT, int, unlink, (const char *path), (path))
NOTICE(TIMES, int, futimens, (int fd, const struct timespec t[2]), (fd, t))
NOTICE(TIMES, int, utimensat, (int dir, const char *path, const struct timespec t[2], int flags),
       (dir, path, t, flags))

NOTICE(OUTPUT, int, renameat, (int from_dir, const char *from, int to_dir, const char *to),
       (from_dir, from, to_dir, to))
NOTICE(OUTPUT, int, renameat2, (int from_dir, const char *from, int to_dir, const char *to, unsigned flags),
       (from_dir, from, to_dir, to, flags))
NOTICE(OUTPUT, int, linkat, (int from_dir, const char *from, int to_dir, const char *to, int flags),
       (from_dir, from, to_dir, to, flags))
NOTICE(OUTPUT, int, unlinkat, (int dir, const char *path, int flags), (dir, path, flags))
NOTICE(OUTPUT, int, remove, (const char *path), (path))
NOTICE(TIMES, int, utime, (const char *path, const struct utimbuf *t), (path, t))
NOTICE(TIMES, int, utimes, (const char *path, const struct timeval t[2]), (path, t))
NOTICE(TIMES, int, futimes, (int fd, const struct timeval t[2]), (fd, t))
NOTICE(TIMES, int, lutimes, (const char *path, const struct timeval t[2]), (path, t))
NOTICE(TIMES, int, futimesat, (int dir, const char *path, const struct timeval t[2]), (dir, path, t))
NOTICE(OUTPUT, void, sync, (void), ())
NOTICE(OUTPUT, int, syncfs, (int fd), (fd))
NOTICE_CHANGE(fd, before_cut(fd), int, fallocate, (int fd, int mode, off_t at, off_t n), (fd, mode, at, n))
NOTICE_CHANGE(fd, change_fd(fd), int, posix_fallocate, (int fd, off_t at, off_t n), (fd, at, n))
NOTICE(before_cut_by_name(), int, truncate64, (const char *path, off64_t size), (path, size))
NOTICE_CHANGE(fd, before_cut(fd), int, fallocate64, (int fd, int mode, off64_t at, off64_t n),
              (fd, mode, at, n))
NOTICE_CHANGE(fd, change_fd(fd), int, posix_fallocate64, (int fd, off64_t at, off64_t n), (fd, at, n))
NOTICE(asf__unkeep(fd, false), int, posix_fadvise, (int fd, off_t at, off_t n, int advice),
       (fd, at, n, advice))
NOTICE(asf__unkeep(fd, false), int, posix_fadvise64, (int fd, off64_t at, off64_t n, int advice),
       (fd, at, n, advice))
NOTICE(use_fd(fd); asf__unkeep(fd, true), int, lockf64, (int fd, int command, off64_t n), (fd, command, n))
NOTICE(use_fd(fd), ssize_t, preadv64, (int fd, const struct iovec *v, int n, off64_t at), (fd, v, n, at))
NOTICE_CHANGE(fd, change_fd(fd), ssize_t, pwritev64, (int fd, const struct iovec *v, int n, off64_t at),
              (fd, v, n, at))
NOTICE(use_fd(fd); asf__unkeep(fd, true), int, lockf, (int fd, int command, off_t n), (fd, command, n))

/* A write that comes later takes some modes and capabilities away. */
NOTICE(OUTPUT, int, chmod, (const char *path, mode_t mode), (path, mode))
NOTICE(OUTPUT, int, fchmod, (int fd, mode_t mode), (fd, mode))
NOTICE(OUTPUT, int, fchmodat, (int dir, const char *path, mode_t mode, int flags), (dir, path, mode, flags))
NOTICE(OUTPUT, int, chown, (const char *path, uid_t owner, gid_t group), (path, owner, group))
NOTICE(OUTPUT, int, lchown, (const char *path, uid_t owner, gid_t group), (path, owner, group))
NOTICE(OUTPUT, int, fchown, (int fd, uid_t owner, gid_t group), (fd, owner, group))
NOTICE(OUTPUT, int, fchownat, (int dir, const char *path, uid_t owner, gid_t group, int flags),
       (dir, path, owner, group, flags))
NOTICE(OUTPUT, int, setxattr, (const char *path, const char *name, const void *v, size_t n, int flags),
       (path, name, v, n, flags))
NOTICE(OUTPUT, int, lsetxattr, (const char *path, const char *name, const void *v, size_t n, int flags),
       (path, name, v, n, flags))
NOTICE(OUTPUT, int, fsetxattr, (int fd, const char *name, const void *v, size_t n, int flags),
       (fd, name, v, n, flags))

/* Behind these a reader may not get at the other end of its pipe any more, and so
 * could not leave its ring. */
NOTICE(leave_rings(), int, setuid, (uid_t user), (user))
NOTICE(leave_rings(), int, seteuid, (uid_t user), (user))
NOTICE(leave_rings(), int, setreuid, (uid_t real, uid_t effective), (real, effective))
NOTICE(leave_rings(), int, setresuid, (uid_t real, uid_t effective, uid_t saved), (real, effective, saved))
NOTICE(leave_rings(), int, setfsuid, (uid_t user), (user))
NOTICE(leave_rings(), int, setgid, (gid_t group), (group))
NOTICE(leave_rings(), int, setegid, (gid_t group), (group))
NOTICE(leave_rings(), int, setregid, (gid_t real, gid_t effective), (real, effective))
NOTICE(leave_rings(), int, setresgid, (gid_t real, gid_t effective, gid_t saved), (real, effective, saved))
NOTICE(leave_rings(), int, setfsgid, (gid_t group), (group))
NOTICE(leave_rings(), int, chroot, (const char *path), (path))
NOTICE(leave_rings(), int, unshare, (int flags), (flags))
NOTICE(leave_rings(), int, setns, (int fd, int kind), (fd, kind))

/* Names in a directory that stand for a lock, or tell that something is done. */
NOTICE(OUTPUT, int, mkdir, (const char *path, mode_t mode), (path, mode))
NOTICE(OUTPUT, int, mkdirat, (int dir, const char *path, mode_t mode), (dir, path, mode))
NOTICE(OUTPUT, int, rmdir, (const char *path), (path))
NOTICE(OUTPUT, int, symlink, (const char *to, const char *path), (to, path))
NOTICE(OUTPUT, int, symlinkat, (const char *to, int dir, const char *path), (to, dir, path))
NOTICE(OUTPUT, int, mkfifo, (const char *path, mode_t mode), (path, mode))
NOTICE(OUTPUT, int, mkfifoat, (int dir, const char *path, mode_t mode), (dir, path, mode))

/* Functions of libc that ask for sizes, or read, by themselves. */
NOTICE(OUTPUT, int, ftw, (const char *path, __ftw_func_t f, int most), (path, f, most))
NOTICE(OUTPUT, int, ftw64, (const char *path, __ftw64_func_t f, int most), (path, f, most))
NOTICE(OUTPUT, int, nftw, (const char *path, __nftw_func_t f, int most, int flags), (path, f, most, flags))
NOTICE(OUTPUT, int, nftw64, (const char *path, __nftw64_func_t f, int most, int flags),
       (path, f, most, flags))
typedef int fts_order(const FTSENT **, const FTSENT **);
typedef int fts64_order(const FTSENT64 **, const FTSENT64 **);
NOTICE(OUTPUT, FTS *, fts_open, (char *const *paths, int options, fts_order *order), (paths, options, order))
NOTICE(OUTPUT, FTS64 *, fts64_open, (char *const *paths, int options, fts64_order *order),
       (paths, options, order))
NOTICE(OUTPUT, FTSENT *, fts_read, (FTS * tree), (tree))
NOTICE(OUTPUT, FTSENT64 *, fts64_read, (FTS64 * tree), (tree))
NOTICE(OUTPUT, FILE *, setmntent, (const char *path, const char *mode), (path, mode))

static inline void before_open(const char *path) {
    if (unsettled())
        asf__settle_output();
    if (asf__unlikely(asf__kept_count > 0) || unsettled())
        asf__before_open(path);
}

/* Opening a file may empty it, or be the start of reading it. */
#define OPENING(name, params, args)                                                                          \
    KEEP(name);                                                                                              \
    EXPORT int name params {                                                                                 \
        mode_t mode = 0;                                                                                     \
        before_open(path);                                                                                   \
        if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE) {                                           \
            va_list ap;                                                                                      \
            va_start(ap, flags);                                                                             \
            mode = va_arg(ap, mode_t);                                                                       \
            va_end(ap);                                                                                      \
        }                                                                                                    \
        return asf__opened(LIBC(name) args, flags);                                                          \
    }

OPENING(open, (const char *path, int flags, ...), (path, flags, mode))
OPENING(open64, (const char *path, int flags, ...), (path, flags, mode))
OPENING(openat, (int dir, const char *path, int flags, ...), (dir, path, flags, mode))
OPENING(openat64, (int dir, const char *path, int flags, ...), (dir, path, flags, mode))
#define CREATING(name)                                                                                       \
    KEEP(name);                                                                                              \
    EXPORT int name(const char *path, mode_t mode) {                                                         \
        before_open(path);                                                                                   \
        return asf__opened(LIBC(name)(path, mode), O_WRONLY | O_CREAT | O_TRUNC);                            \
    }

CREATING(creat)
CREATING(creat64)

#define OPENING_2(name, params, args)                                                                        \
    EXPORT int name params {                                                                                 \
        before_open(path);                                                                                   \
        return asf__opened(ASF_NEXT(name) args, flags);                                                      \
    }

/* The names that programs built with _FORTIFY_SOURCE or against an older libc
 * have for some of the above. */

ssize_t __read_chk(int, void *, size_t, size_t);
ssize_t __pread_chk(int, void *, size_t, off_t, size_t);
ssize_t __pread64_chk(int, void *, size_t, off64_t, size_t);
ssize_t __recv_chk(int, void *, size_t, size_t, int);
int __poll_chk(struct pollfd *, nfds_t, int, size_t);
int __ppoll_chk(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t);
int __open_2(const char *, int);
int __open64_2(const char *, int);
int __openat_2(int, const char *, int);
int __openat64_2(int, const char *, int);
int __fxstat(int, int, struct stat *);
int __xstat(int, const char *, struct stat *);
int __lxstat(int, const char *, struct stat *);
int __fxstat64(int, int, struct stat64 *);
int __xstat64(int, const char *, struct stat64 *);
int __lxstat64(int, const char *, struct stat64 *);

EXPORT ssize_t __read_chk(int fd, void *p, size_t n, size_t room) {
    return n > room ? ASF_NEXT(__read_chk)(fd, p, n, room) : read(fd, p, n);
}

EXPORT ssize_t __pread_chk(int fd, void *p, size_t n, off_t at, size_t room) {
    return n > room ? ASF_NEXT(__pread_chk)(fd, p, n, at, room) : pread(fd, p, n, at);
}

ssize_t __pread64_chk(int, void *, size_t, off64_t, size_t) ALIAS(__pread_chk);
NOTICE(OUTPUT, ssize_t, __recv_chk, (int fd, void *p, size_t n, size_t room, int flags),
       (fd, p, n, room, flags))
NOTICE(wait_for(fds, n, timeout != 0), int, __poll_chk,
       (struct pollfd * fds, nfds_t n, int timeout, size_t room), (fds, n, timeout, room))
NOTICE(wait_for(fds, n, true);
       may_block(mask), int, __ppoll_chk,
       (struct pollfd * fds, nfds_t n, const struct timespec *t, const sigset_t *mask, size_t room),
       (fds, n, t, mask, room))
OPENING_2(__open_2, (const char *path, int flags), (path, flags))
OPENING_2(__open64_2, (const char *path, int flags), (path, flags))
OPENING_2(__openat_2, (int dir, const char *path, int flags), (dir, path, flags))
OPENING_2(__openat64_2, (int dir, const char *path, int flags), (dir, path, flags))
NOTICE(OUTPUT, int, __fxstat, (int version, int fd, struct stat *st), (version, fd, st))
NOTICE(OUTPUT, int, __xstat, (int version, const char *path, struct stat *st), (version, path, st))
NOTICE(OUTPUT, int, __lxstat, (int version, const char *path, struct stat *st), (version, path, st))
NOTICE(OUTPUT, int, __fxstat64, (int version, int fd, struct stat64 *st), (version, fd, st))
NOTICE(OUTPUT, int, __xstat64, (int version, const char *path, struct stat64 *st), (version, path, st))
NOTICE(OUTPUT, int, __lxstat64, (int version, const char *path, struct stat64 *st), (version, path, st))

/* Calls that wait: whoever waits for us must have what libc would have sent. */
NOTICE(OUTPUT, int, nanosleep, (const struct timespec *t, struct timespec *left), (t, left))
NOTICE(OUTPUT, int, clock_nanosleep,
       (clockid_t clock, int flags, const struct timespec *t, struct timespec *left), (clock, flags, t, left))
NOTICE(OUTPUT, unsigned, sleep, (unsigned s), (s))
NOTICE(OUTPUT, int, usleep, (useconds_t us), (us))
NOTICE(OUTPUT, int, pause, (void), ())
NOTICE(OUTPUT; may_block(mask), int, sigsuspend, (const sigset_t *mask), (mask))
NOTICE(OUTPUT, int, sigwait, (const sigset_t *set, int *sig), (set, sig))
NOTICE(OUTPUT, int, sigwaitinfo, (const sigset_t *set, siginfo_t *info), (set, info))
NOTICE(OUTPUT, int, sigtimedwait, (const sigset_t *set, siginfo_t *info, const struct timespec *t),
       (set, info, t))
NOTICE(wait_for(fds, n, timeout != 0), int, poll, (struct pollfd * fds, nfds_t n, int timeout),
       (fds, n, timeout))
NOTICE(wait_for(fds, n, true);
       may_block(mask), int, ppoll,
       (struct pollfd * fds, nfds_t n, const struct timespec *t, const sigset_t *mask), (fds, n, t, mask))
NOTICE(wait_for_some(n), int, select, (int n, fd_set *r, fd_set *w, fd_set *x, struct timeval *t),
       (n, r, w, x, t))
NOTICE(wait_for_some(n);
       may_block(mask), int, pselect,
       (int n, fd_set *r, fd_set *w, fd_set *x, const struct timespec *t, const sigset_t *mask),
       (n, r, w, x, t, mask))
NOTICE(watch(fd), int, epoll_ctl, (int epoll, int op, int fd, struct epoll_event *e), (epoll, op, fd, e))
NOTICE(OUTPUT, int, epoll_wait, (int fd, struct epoll_event *e, int n, int timeout), (fd, e, n, timeout))
NOTICE(OUTPUT; may_block(mask), int, epoll_pwait,
               (int fd, struct epoll_event *e, int n, int timeout, const sigset_t *mask),
               (fd, e, n, timeout, mask))
NOTICE(OUTPUT, pid_t, wait, (int *status), (status))
NOTICE(OUTPUT, pid_t, waitpid, (pid_t pid, int *status, int flags), (pid, status, flags))
NOTICE(OUTPUT, pid_t, wait4, (pid_t pid, int *status, int flags, struct rusage *u), (pid, status, flags, u))
NOTICE(OUTPUT, pid_t, wait3, (int *status, int flags, struct rusage *u), (status, flags, u))
NOTICE(OUTPUT, int, waitid, (idtype_t type, id_t id, siginfo_t *info, int flags), (type, id, info, flags))
NOTICE(OUTPUT, int, accept, (int fd, struct sockaddr *a, socklen_t *n), (fd, a, n))
NOTICE(OUTPUT, int, connect, (int fd, const struct sockaddr *a, socklen_t n), (fd, a, n))
NOTICE(OUTPUT, int, flock, (int fd, int op), (fd, op))
NOTICE(OUTPUT, int, pthread_join, (pthread_t t, void **r), (t, r))
NOTICE(OUTPUT, int, sem_wait, (sem_t * s), (s))
NOTICE(OUTPUT, int, sem_timedwait, (sem_t *restrict s, const struct timespec *restrict t), (s, t))
NOTICE(OUTPUT, int, pthread_cond_wait, (pthread_cond_t *restrict c, pthread_mutex_t *restrict m), (c, m))
NOTICE(OUTPUT, int, pthread_cond_timedwait,
       (pthread_cond_t *restrict c, pthread_mutex_t *restrict m, const struct timespec *restrict t),
       (c, m, t))
NOTICE(OUTPUT, int, sem_post, (sem_t * s), (s))
NOTICE(OUTPUT, int, shutdown, (int fd, int how), (fd, how))
NOTICE(OUTPUT, int, semop, (int id, struct sembuf *ops, size_t n), (id, ops, n))
NOTICE(OUTPUT, int, msgsnd, (int id, const void *m, size_t n, int flags), (id, m, n, flags))
NOTICE(OUTPUT, ssize_t, msgrcv, (int id, void *m, size_t n, long type, int flags), (id, m, n, type, flags))

/* A signal may be the end of this process. */
NOTICE(asf__settle_last(), int, kill, (pid_t pid, int sig), (pid, sig))
NOTICE(asf__settle_last(), int, killpg, (pid_t group, int sig), (group, sig))
NOTICE(asf__settle_last(), int, raise, (int sig), (sig))
NOTICE(asf__settle_last(), int, pthread_kill, (pthread_t t, int sig), (t, sig))
NOTICE(asf__settle_last(), int, sigqueue, (pid_t pid, int sig, const union sigval value), (pid, sig, value))

/* Children and ends of the process. */
NOTICE_EXEC(before_spawn(), system, (const char *command), (command))
NOTICE_EXEC(before_spawn(), posix_spawn,
            (pid_t * pid, const char *path, const posix_spawn_file_actions_t *actions,
             const posix_spawnattr_t *attributes, char *const argv[], char *const env[]),
            (pid, path, actions, attributes, argv, env))
NOTICE_EXEC(before_spawn(), posix_spawnp,
            (pid_t * pid, const char *file, const posix_spawn_file_actions_t *actions,
             const posix_spawnattr_t *attributes, char *const argv[], char *const env[]),
            (pid, file, actions, attributes, argv, env))
NOTICE(before_child(), int, wordexp, (const char *restrict words, wordexp_t *restrict p, int flags),
       (words, p, flags))
NOTICE(prepare_fork(), int, daemon, (int nochdir, int noclose), (nochdir, noclose))

/* No handler of forks runs, and it may be in a signal handler: whoever has the list may be
 * waiting for what the interrupted code holds. */
static void before_bare_fork(void) {
    had_threads = !__libc_single_threaded;
    has_list = asf__list_enter_soon();
}

EXPORT pid_t _Fork(void) {
    before_child();
    asf__after_shared_memory();
    before_bare_fork();
    pid_t child = ASF_NEXT(_Fork)();
    (child == 0 ? in_child : in_parent)();
    return child;
}

EXPORT pid_t forkpty(int *terminal, char *name, const struct termios *settings, const struct winsize *size) {
    prepare_fork();
    return ASF_NEXT(forkpty)(terminal, name, settings, size);
}

NOTICE_EXEC(before_exec(), execv, (const char *path, char *const argv[]), (path, argv))
NOTICE_EXEC(before_exec(), execvp, (const char *file, char *const argv[]), (file, argv))
NOTICE_EXEC(before_exec(), execvpe, (const char *file, char *const argv[], char *const env[]),
            (file, argv, env))
NOTICE_EXEC(before_exec(), fexecve, (int fd, char *const argv[], char *const env[]), (fd, argv, env))
NOTICE_EXEC(before_exec(), execveat,
            (int dir, const char *path, char *const argv[], char *const env[], int flags),
            (dir, path, argv, env, flags))

KEEP(abort);
EXPORT __attribute__((noreturn)) void abort(void) {
    asf__settle_last();
    LIBC(abort)();
    __builtin_unreachable();
}

EXPORT __attribute__((noreturn)) void quick_exit(int status) {
    asf__settle_last();
    ASF_NEXT(quick_exit)(status);
    __builtin_unreachable();
}

/* The variadic exec calls, over the ones that take a vector. */
static size_t count_arguments(va_list ap) {
    va_list count;
    size_t n = 1;
    va_copy(count, ap);
    while (va_arg(count, char *))
        n++;
    va_end(count);
    return n;
}

static void gather(char **argv, const char *first, va_list ap, size_t n) {
    argv[0] = (char *)first;
    for (size_t i = 1; i <= n; i++)
        argv[i] = va_arg(ap, char *);
}

/* On the stack, however many, and no more of it than they need: the caller may be
 * a handler on a small one, or the child of a vfork, which would leave marks of
 * AddressSanitizer's on its parent's. */
#define EXEC_LIST(name, vector_form, env)                                                                    \
    EXPORT __attribute__((no_sanitize_address)) int name(const char *path, const char *first, ...) {         \
        va_list ap;                                                                                          \
        va_start(ap, first);                                                                                 \
        size_t n = count_arguments(ap);                                                                      \
        char *argv[n + 1];                                                                                   \
        gather(argv, first, ap, n);                                                                          \
        int r = vector_form(path, argv env);                                                                 \
        va_end(ap);                                                                                          \
        return r;                                                                                            \
    }

#define NOTHING
#define AND_ENVIRONMENT , va_arg(ap, char **)
EXEC_LIST(execl, execv, NOTHING)
EXEC_LIST(execlp, execvp, NOTHING)
EXEC_LIST(execle, execve, AND_ENVIRONMENT)

/* --- threads and signals ---------------------------------------------------------- */

/* What was read ahead is given up while nobody else can be reading. */
static void before_thread(void) {
    asf__heed_forks(); /* by any name */
    asf__lock_register();
    asf__stop_keeping();
    if (__libc_single_threaded)
        asf__settle_input();
}

KEEP(fcntl);
KEEP(signal);

/* What signal handlers are known to call of what POSIX lets them (2.4.3), and
 * usleep: found before there is one, since dlsym may want what its thread holds
 * below it. */
static void find_for_handlers(sighandler_t handler) {
    static bool done;
    if (__atomic_load_n(&done, __ATOMIC_RELAXED) || handler == SIG_DFL || handler == SIG_IGN)
        return;
    (void)LIBC(abort);
    (void)LIBC(fcntl);
    (void)LIBC(fstat);
    (void)LIBC(kill);
    (void)LIBC(nanosleep);
    (void)LIBC(open);
    (void)LIBC(open64);
    (void)LIBC(pause);
    (void)LIBC(poll);
    (void)LIBC(raise);
    (void)LIBC(rmdir);
    (void)LIBC(select);
    (void)LIBC(sem_post);
    (void)LIBC(signal);
    (void)LIBC(sigsuspend);
    (void)LIBC(sleep);
    (void)LIBC(stat);
    (void)LIBC(unlink);
    (void)LIBC(usleep);
    (void)LIBC(wait);
    (void)LIBC(waitpid);
    (void)LIBC_REGISTER; /* by fork */
    __atomic_store_n(&done, true, __ATOMIC_RELAXED);
}

EXPORT int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*start)(void *), void *arg) {
    before_thread();
    return ASF_NEXT(pthread_create)(t, a, start, arg);
}

static sighandler_t set_handler(int sig, sighandler_t handler, int flags,
                                sighandler_t (*by_libc)(int, sighandler_t)) {
    struct sigaction act = {.sa_handler = handler, .sa_flags = flags}, old;
    sigemptyset(&act.sa_mask);
    if (flags & SA_RESTART)
        sigaddset(&act.sa_mask, sig);
    find_for_handlers(handler);
    return asf__program_action(sig, &act, &old) ? old.sa_handler : by_libc(sig, handler);
}

/* BSD's way, by its three names, and System V's. */
EXPORT sighandler_t signal(int sig, sighandler_t handler) {
    return set_handler(sig, handler, SA_RESTART, LIBC(signal));
}
sighandler_t bsd_signal(int, sighandler_t) ALIAS(signal);
sighandler_t ssignal(int, sighandler_t) ALIAS(signal);

KEEP(__sysv_signal);
EXPORT sighandler_t __sysv_signal(int sig, sighandler_t handler) {
    return set_handler(sig, handler, (int)SA_RESETHAND | SA_NODEFER, LIBC(__sysv_signal));
}
sighandler_t sysv_signal(int, sighandler_t) ALIAS(__sysv_signal);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
KEEP(sigset);
EXPORT sighandler_t sigset(int sig, sighandler_t handler) {
    bool hold = handler == SIG_HOLD;
    struct sigaction act = {.sa_handler = handler}, old;
    sigset_t set, before;
    asf__stop_keeping(); /* it may block SIGBUS */
    find_for_handlers(handler);
    sigemptyset(&set);
    sigemptyset(&act.sa_mask);
    if (sigaddset(&set, sig) < 0 || !asf__program_action(sig, hold ? NULL : &act, &old))
        return LIBC(sigset)(sig, handler);
    asf__raw_syscall(SYS_rt_sigprocmask, hold ? SIG_BLOCK : SIG_UNBLOCK, (long)&set, (long)&before,
                     _NSIG / 8);
    return sigismember(&before, sig) ? SIG_HOLD : old.sa_handler;
}
#pragma GCC diagnostic pop

EXPORT int sigignore(int sig) {
    struct sigaction act = {.sa_handler = SIG_IGN};
    asf__stop_keeping();
    return sigaction(sig, &act, NULL);
}

EXPORT void *mremap(void *at, size_t n, size_t wanted, int flags, ...) {
    va_list ap;
    va_start(ap, flags);
    void *to = flags & (MREMAP_FIXED | MREMAP_DONTUNMAP) ? va_arg(ap, void *) : NULL;
    va_end(ap);
    asf__forget_writable();
    long r = asf__raw6(SYS_mremap, (long)at, (long)n, (long)wanted, flags, (long)to, 0);
    return r < 0 && r > -4096 ? (errno = (int)-r, MAP_FAILED) : (void *)r; // NOLINT
}

EXPORT void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset) {
    if (fd >= 0)
        asf__settle_output();
    if (fd >= 0 && flags & MAP_SHARED)
        asf__stop_gathering(); /* what is written to the file is to be seen in the map */
    if (fd >= 0 && flags & MAP_SHARED && protection & PROT_WRITE)
        asf__write_by_map(fd);
    if (flags & MAP_FIXED)
        asf__forget_writable();
    long r = asf__raw6(SYS_mmap, (long)at, (long)n, protection, flags, fd, offset);
    return (void *)(r < 0 && r > -4096 ? asf__failed(r) : r); // NOLINT
}

/* Memory that read() could copy to goes away. */
EXPORT int munmap(void *at, size_t n) {
    asf__forget_writable();
    return (int)asf__call(SYS_munmap, (long)at, (long)n, 0);
}

EXPORT int mprotect(void *at, size_t n, int protection) {
    asf__forget_writable();
    return (int)asf__call(SYS_mprotect, (long)at, (long)n, protection);
}

void *mmap64(void *, size_t, int, int, int, off64_t) ALIAS(mmap);

/* A filter of system calls is coming, which may allow libc's own alone. */
static bool is_confining(long option) {
    return option == PR_SET_NO_NEW_PRIVS || option == PR_SET_SECCOMP;
}

EXPORT int prctl(int option, ...) {
    va_list ap;
    va_start(ap, option);
    unsigned long a = va_arg(ap, unsigned long), b = va_arg(ap, unsigned long);
    unsigned long c = va_arg(ap, unsigned long), d = va_arg(ap, unsigned long);
    va_end(ap);
    if (is_confining(option))
        asf__be_plain();
    return ASF_NEXT(prctl)(option, a, b, c, d);
}

/* fcntl: a duplicate shares the offset, a lock may begin at it or protect what was
 * written before, with other flags the kernel reads and writes otherwise, a sealed
 * file takes no more. */
EXPORT int fcntl(int fd, int command, ...) {
    va_list ap;
    va_start(ap, command);
    void *arg = va_arg(ap, void *);
    va_end(ap);
    bool duplicate = command == F_DUPFD || command == F_DUPFD_CLOEXEC;
    if (duplicate || command == F_SETFL || command == F_SETLK || command == F_SETLKW ||
        command == F_OFD_SETLK || command == F_OFD_SETLKW || command == F_SETPIPE_SZ)
        leave_ring(fd);
    if (command != F_GETFD && command != F_SETFD && command != F_GETFL) {
        touch_fd(fd);
        asf__unkeep(fd, true);
    }
    if (duplicate)
        asf__share_offset(fd);
    if (command == F_NOTIFY && (uintptr_t)arg & DN_ACCESS)
        asf__stop_keeping(); /* it is to be told of each access */
    int r = LIBC(fcntl)(fd, command, arg);
    if (duplicate)
        asf__forget_descriptor(r);
    return r;
}

EXPORT int fcntl64(int fd, int command, ...) {
    va_list ap;
    va_start(ap, command);
    void *arg = va_arg(ap, void *);
    va_end(ap);
    return fcntl(fd, command, arg);
}

/* Names of libc's own for them, by which libraries may call. */
ssize_t __pwrite64(int, const void *, size_t, off64_t) ALIAS(pwrite64);
off_t __lseek(int, off_t, int) ALIAS(lseek);
off_t llseek(int, off_t, int) ALIAS(lseek);
int __open(const char *, int, ...) ALIAS(open);
int __close(int) ALIAS(close);
int __fcntl(int, int, ...) ALIAS(fcntl);

#endif
