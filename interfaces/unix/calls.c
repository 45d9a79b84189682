/* SPDX-License-Identifier: MIT
 *
 * calls.c - the functions of calls.def, and, written by hand, those that are variadic or create or end a
 * process.
 */
#define _GNU_SOURCE
#include "interfaces/unix/unix.h"

#include <aio.h>
#include <dirent.h>
#include <mqueue.h>
#include <poll.h>
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utmp.h>
#include <wordexp.h>

#include "lib/sys/fault.h"

#ifdef __GLIBC__
#include "interfaces/unix/glibc/glibc_calls.h"
#endif
/* No header declares these. */
int capset(void *, const void *);
int pivot_root(const char *, const char *);

#ifndef ASF_STATIC
void asf__end_all(void) {
    asf__publish_every();
    asf__pipe_stop_all_rings();
    asf__report_all_calls();
}
#endif

/* --- the table --------------------------------------------------------------------------- */

#define OURS(effect, type, name, function, parameters, arguments)                                            \
    EXPORT type name parameters {                                                                            \
        return (type)function arguments; /* NOLINT(performance-no-int-to-ptr) */                             \
    }

#define OURS_64(effect, type, name, function, parameters, arguments)                                         \
    OURS(effect, type, name, function, parameters, arguments)                                                \
    ALIAS_64(name);

#define CHECKED(effect, type, name, function, parameters, arguments)                                         \
    EXPORT type name parameters {                                                                            \
        if (n > room)                                                                                        \
            __chk_fail();                                                                                    \
        return (type)function arguments;                                                                     \
    }

#define BEFORE_PUBLISHES asf__publish(fd)
#define BEFORE_TRUNCATES asf__publish_streams(fd)
#define BEFORE_QUEUES    asf__publish(request->aio_fildes)
#define BEFORE_QUEUES_ALL                                                                                    \
    for (int i = 0; i < n; i++)                                                                              \
    (requests[i] ? asf__publish(requests[i]->aio_fildes) : (void)0)
#define BEFORE_TRANSFERS                                                                                     \
    if (asf__decodes(in)) /* the kernel would transfer the compressed bytes; on EINVAL programs read */      \
        return asf__result_or_errno(-EINVAL);                                                                \
    (asf__publish(in), asf__publish(out))
#define BEFORE_WAITS    asf__pipe_before_poll(fds, n, _Generic(timeout, int : timeout != 0, default : true))
#define BEFORE_SELECTS  (n > 0 ? asf__pipe_before_share() : (void)0)
#define BEFORE_PWAITS   (BEFORE_WAITS, asf__before_mask(signals))
#define BEFORE_PSELECTS (BEFORE_SELECTS, asf__before_mask(signals))
#define BEFORE_BLOCKS   asf__before_mask(signals)
#define BEFORE_MASKS    asf__before_action((unsigned)mask >> (SIGBUS - 1) & 1 ? SIGBUS : 0)
#define BEFORE_DISPOSES asf__before_action(sig)
#define BEFORE_WATCHES  asf__pipe_disable_ring(fd)
#define BEFORE_CONFINES asf__pipe_stop_all_rings()
#define BEFORE_ENDS     asf__end_all()
#define BEFORE_SENDS    (m && m->msg_controllen > 0 ? asf__publish_all() : (void)0)
#define BEFORE_SENDS_ALL                                                                                     \
    for (unsigned i = 0; i < n && i < UIO_MAXIOV; i++)                                                       \
    (m[i].msg_hdr.msg_controllen > 0 ? asf__publish_all() : (void)0)
#define BEFORE_SHARES  asf__publish_all()
#define BEFORE_STARTS  asf__publish_all()
#define BEFORE_BECOMES asf__end_all()

#define PASSED(effect, type, name, parameters, arguments)                                                    \
    EXPORT type name parameters {                                                                            \
        BEFORE_##effect;                                                                                     \
        return ASF_NEXT(name) arguments;                                                                     \
    }

#define PASSED_64(effect, type, name, parameters, arguments)                                                 \
    PASSED(effect, type, name, parameters, arguments)                                                        \
    ALIAS_64(name);

#define RUNS(effect, name, parameters, arguments)                                                            \
    EXPORT int name parameters {                                                                             \
        BEFORE_##effect;                                                                                     \
        asf__before_exec();                                                                                  \
        int result = ASF_NEXT(name) arguments;                                                               \
        asf__after_exec();                                                                                   \
        return result;                                                                                       \
    }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* of names that programs still call */
#include "interfaces/unix/calls.def"
#pragma GCC diagnostic pop

/* --- written by hand: variadic, or without a return ---------------------------------------- */

#ifndef ASF_STATIC
EXPORT int prctl(int option, ...) {
    va_list ap;
    va_start(ap, option);
    unsigned long a = va_arg(ap, unsigned long), b = va_arg(ap, unsigned long);
    unsigned long c = va_arg(ap, unsigned long), d = va_arg(ap, unsigned long);
    va_end(ap);
    if (option == PR_SET_NO_NEW_PRIVS ||
        option == PR_SET_SECCOMP) { /* a filter may allow only the calls that libc makes */
        asf__never_private();
        asf__publish_all();
    }
    return ASF_NEXT(prctl)(option, a, b, c, d);
}

/* _Fork does not run the handlers that libc's fork runs, so it calls ours itself. */
EXPORT pid_t _Fork(void) {
    asf__before_fork();
    pid_t child = ASF_NEXT(_Fork)();
    child == 0 ? asf__after_fork_in_child() : asf__after_fork();
    return child;
}

typedef pid_t forks(void);

/* Returns libc's vfork, after publishing all descriptors: the child runs in this process's memory, and may
 * close descriptors that are private here. */
__attribute__((used)) forks *asf__before_vfork(void);
forks *asf__before_vfork(void) {
    if (!__libc_single_threaded)
        asf__never_private();
    asf__publish_all();
    asf__note_vfork();
    return ASF_NEXT(vfork);
}

/* vfork returns twice: it must be entered with the caller's own frame. */
ASF_PASS_THROUGH(vfork, asf__before_vfork);

EXPORT int clone(int (*start)(void *), void *stack, int flags, void *arg, ...) {
    va_list ap;
    va_start(ap, arg);
    void *parent = va_arg(ap, void *), *tls = va_arg(ap, void *), *child = va_arg(ap, void *);
    va_end(ap);
    asf__never_private();
    asf__publish_all();
    return ASF_NEXT(clone)(start, stack, flags, arg, parent, tls, child);
}

/* Whether the system call concerns no descriptor.  Unlisted calls may concern one. */
static bool uses_no_descriptor(long number) {
    return number == SYS_futex || number == SYS_gettid || number == SYS_getpid || number == SYS_getrandom ||
           number == SYS_membarrier || number == SYS_tgkill || number == SYS_exit || number == SYS_getcpu ||
           number == SYS_rseq;
}

EXPORT long syscall(long number, ...) {
    va_list ap;
    va_start(ap, number);
    long a = va_arg(ap, long), b = va_arg(ap, long), c = va_arg(ap, long);
    long d = va_arg(ap, long), e = va_arg(ap, long), f = va_arg(ap, long);
    va_end(ap);
    if (!uses_no_descriptor(number))
        asf__publish_all();
    return asf__result_or_errno(asf__raw6(number, a, b, c, d, e, f));
}

/* Calls the form that takes a vector.  The vector is on the stack and no larger than needed: the caller may
 * be a signal handler on a small stack. */
#define EXEC_LIST(name, vector_form, env)                                                                    \
    EXPORT __attribute__((no_sanitize_address)) int name(const char *path, const char *first, ...) {         \
        va_list ap, again;                                                                                   \
        va_start(ap, first);                                                                                 \
        va_copy(again, ap);                                                                                  \
        size_t n = 1;                                                                                        \
        while (va_arg(again, char *))                                                                        \
            n++;                                                                                             \
        char *argv[n + 1];                                                                                   \
        argv[0] = (char *)first;                                                                             \
        for (size_t i = 1; i <= n; i++)                                                                      \
            argv[i] = va_arg(ap, char *);                                                                    \
        return vector_form(path, argv env);                                                                  \
    }

#define NOTHING
#define AND_ENVIRONMENT , va_arg(ap, char **)
EXEC_LIST(execl, execv, NOTHING)
EXEC_LIST(execlp, execvp, NOTHING)
EXEC_LIST(execle, execve, AND_ENVIRONMENT)
#endif
