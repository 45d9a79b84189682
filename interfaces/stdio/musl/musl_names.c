/* SPDX-License-Identifier: MIT
 *
 * musl_names.c - names that only musl has, and musl's functions outside stdio that take a FILE.
 */
#include "interfaces/stdio/stdio_cios.h"

#include <err.h>
#include <grp.h>
#include <mntent.h>
#include <netdb.h>
#include <pwd.h>
#include <shadow.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio_ext.h>

/* --- the buffer ------------------------------------------------------------------------ */

EXPORT int __fpurge(FILE *f) {
    asf__purge(asf__cios(f));
    return 0;
}
int fpurge(FILE *) ALIAS(__fpurge);

EXPORT size_t __freadahead(FILE *f) {
    return asf__avail(asf__cios(f));
}

EXPORT const char *__freadptr(FILE *f, size_t *size) {
    *size = asf__avail(asf__cios(f));
    return *size > 0 ? asf__cios(f)->read_ptr : NULL;
}

EXPORT void __freadptrinc(FILE *f, size_t n) {
    asf__cios(f)->read_ptr += n;
}

EXPORT void __fseterr(FILE *f) {
    asf__cios(f)->flags |= ASF_ERR;
}

/* The line is in memory that belongs to the stream, until the next call or fclose. */
EXPORT char *fgetln(FILE *f, size_t *length) {
    struct asf_cios *c = asf__cios(f);
    char *line = NULL;
    size_t room = 0;
    ssize_t n = getline(&line, &room, f);
    free(c->freeres_buf);
    c->freeres_buf = line;
    *length = n > 0 ? (size_t)n : 0;
    return n > 0 ? line : NULL;
}

/* --- messages, which musl writes to a FILE that it does not show --------------------------- */

EXPORT void perror(const char *text) {
    const char *error = strerror(errno);
    flockfile(stderr);
    if (text && *text)
        fprintf(stderr, "%s: ", text);
    fprintf(stderr, "%s\n", error);
    funlockfile(stderr);
}

EXPORT void psignal(int signal, const char *text) {
    int saved = errno;
    flockfile(stderr);
    if (fprintf(stderr, "%s%s%s\n", text ? text : "", text ? ": " : "", strsignal(signal)) >= 0)
        errno = saved;
    funlockfile(stderr);
}

EXPORT void psiginfo(const siginfo_t *info, const char *text) {
    psignal(info->si_signo, text);
}

#ifdef ASF_STATIC

/* Objects of libc.a call these: perror and getopt lock a FILE, the resolver opens a FILE in its own memory.
 */
int __lockfile(FILE *f);
void __unlockfile(FILE *f);
FILE *__fopen_rb_ca(const char *path, FILE *memory, unsigned char *buffer, size_t size);
int __fclose_ca(FILE *f);

EXPORT int __lockfile(FILE *f) {
    flockfile(f);
    return 1;
}

EXPORT void __unlockfile(FILE *f) {
    funlockfile(f);
}

EXPORT FILE *__fopen_rb_ca(const char *path, FILE *memory, unsigned char *buffer, size_t size) {
    (void)memory, (void)buffer, (void)size;
    return fopen(path, "rbe");
}

EXPORT int __fclose_ca(FILE *f) {
    return fclose(f);
}

#else

static void write_warning(const char *format, va_list ap, const char *end) {
    extern char *__progname;
    fprintf(stderr, "%s: ", __progname);
    if (format)
        vfprintf(stderr, format, ap);
    fputs(end, stderr);
}

EXPORT void vwarn(const char *format, va_list ap) {
    write_warning(format, ap, format ? ": " : "");
    perror(NULL);
}

EXPORT void vwarnx(const char *format, va_list ap) {
    write_warning(format, ap, "\n");
}

EXPORT void verr(int status, const char *format, va_list ap) {
    vwarn(format, ap);
    exit(status);
}

EXPORT void verrx(int status, const char *format, va_list ap) {
    vwarnx(format, ap);
    exit(status);
}

#define WITH_LIST(call)                                                                                      \
    va_list ap;                                                                                              \
    va_start(ap, format);                                                                                    \
    call;                                                                                                    \
    va_end(ap)

EXPORT void warn(const char *format, ...) {
    WITH_LIST(vwarn(format, ap));
}

EXPORT void warnx(const char *format, ...) {
    WITH_LIST(vwarnx(format, ap));
}

EXPORT void err(int status, const char *format, ...) {
    WITH_LIST(verr(status, format, ap));
}

EXPORT void errx(int status, const char *format, ...) {
    WITH_LIST(verrx(status, format, ap));
}

EXPORT void herror(const char *text) {
    fprintf(stderr, "%s%s%s\n", text ? text : "", text ? ": " : "", hstrerror(h_errno));
}

void __assert_fail(const char *expression, const char *file, int line, const char *function);
EXPORT void __assert_fail(const char *expression, const char *file, int line, const char *function) {
    fprintf(stderr, "Assertion failed: %s (%s: %s: %d)\n", expression, file, function, line);
    abort();
}

/* --- tables ---------------------------------------------------------------------------------- */

EXPORT FILE *setmntent(const char *path, const char *mode) {
    return fopen(path, mode);
}

EXPORT int endmntent(FILE *f) {
    if (f)
        fclose(f);
    return 1;
}

/* Calls musl's function on a bridge; `otherwise` is the result if there is no memory for a bridge. */
#define BRIDGED(otherwise, f, call)                                                                          \
    (__extension__({                                                                                         \
        struct asf_cios *c = asf__cios(f);                                                                   \
        asf__enter(c);                                                                                       \
        struct asf_bridge *b = asf__bridge_open(c, BUFSIZ);                                                  \
        __typeof__(call) r = b ? call : otherwise;                                                           \
        if (b)                                                                                               \
            asf__bridge_close(b);                                                                            \
        asf__leave(c);                                                                                       \
        r;                                                                                                   \
    }))

EXPORT struct mntent *getmntent(FILE *f) {
    return BRIDGED(NULL, f, ASF_LIBC_OWN(getmntent)(b->file));
}

EXPORT struct mntent *getmntent_r(FILE *f, struct mntent *entry, char *line, int size) {
    return BRIDGED(NULL, f, ASF_LIBC_OWN(getmntent_r)(b->file, entry, line, size));
}

EXPORT int addmntent(FILE *f, const struct mntent *entry) {
    return BRIDGED(1, f, ASF_LIBC_OWN(addmntent)(b->file, entry));
}

EXPORT struct passwd *fgetpwent(FILE *f) {
    return BRIDGED(NULL, f, ASF_LIBC_OWN(fgetpwent)(b->file));
}

EXPORT int putpwent(const struct passwd *entry, FILE *f) {
    return BRIDGED(-1, f, ASF_LIBC_OWN(putpwent)(entry, b->file));
}

EXPORT struct group *fgetgrent(FILE *f) {
    return BRIDGED(NULL, f, ASF_LIBC_OWN(fgetgrent)(b->file));
}

EXPORT int putgrent(const struct group *entry, FILE *f) {
    return BRIDGED(-1, f, ASF_LIBC_OWN(putgrent)(entry, b->file));
}

EXPORT struct spwd *fgetspent(FILE *f) {
    return BRIDGED(NULL, f, ASF_LIBC_OWN(fgetspent)(b->file));
}

EXPORT int putspent(const struct spwd *entry, FILE *f) {
    return BRIDGED(-1, f, ASF_LIBC_OWN(putspent)(entry, b->file));
}
#endif
