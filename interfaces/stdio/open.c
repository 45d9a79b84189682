/* SPDX-License-Identifier: MIT
 *
 * open.c - fopen, fdopen, freopen, fclose, tmpfile.
 */
#include "interfaces/stdio/stdio_cios.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/sys/cleanup.h"
#include "lib/sys/options.h"
#include "lib/sys/syscalls.h"
#include "streams/streams.h"

struct mode {
    int flags; /* for open() */
    bool append;
    const char *charset; /* of ",ccs=...", which makes the stream wide; or NULL */
    int flags2;          /* bits for the stream's flags2, which freopen may keep */
};

/* Parses a mode as musl does: the letters after the first may be in any order.  An empty mode opens for
 * writing. */
static bool parse_mode_letters(const char *text, struct mode *m) {
    if (!strchr("rwa", *text)) {
        errno = EINVAL;
        return false;
    }
    m->append = *text == 'a';
    m->flags2 = ASF_AS_LIBC & ASF_NOT_CANCELLED;
    m->flags = *text == 'r' ? O_RDONLY : O_WRONLY | O_CREAT;
    m->flags |= (*text == 'w' ? O_TRUNC : 0) | (m->append ? O_APPEND : 0);
    if (strchr(text, '+'))
        m->flags = (m->flags & ~O_ACCMODE) | O_RDWR;
    if (strchr(text, 'x'))
        m->flags |= O_EXCL;
    if (strchr(text, 'e'))
        m->flags |= O_CLOEXEC, m->flags2 |= ASF_CLOSE_ON_EXEC;
    return true;
}

/* Parses fopen's mode string as glibc does: a letter, then at most six more characters; unknown ones are
 * ignored.  fdopen's string has at most four more, and ends at a '+'. */
static bool parse_fopen_mode(const char *text, struct mode *m, bool of_descriptor) {
    *m = (struct mode){0};
    if (!ASF_LIBC(mode_in_order))
        return parse_mode_letters(text, m);
    switch (*text) {
    case 'r':
        m->flags = O_RDONLY;
        break;
    case 'w':
        m->flags = O_WRONLY | O_CREAT | O_TRUNC;
        break;
    case 'a':
        m->flags = O_WRONLY | O_CREAT | O_APPEND;
        m->append = true;
        break;
    default:
        errno = EINVAL;
        return false;
    }
    const char *last = text; /* glibc searches for ",ccs=" after this letter */
    bool ended = false;
    for (int i = 1; i < (of_descriptor ? 5 : 7) && text[i] && !ended; i++) {
        ended = of_descriptor ? text[i] == '+' : text[i] == ',' && ASF_LIBC(mode_comma);
        if (text[i] == '+')
            m->flags = (m->flags & ~O_ACCMODE) | O_RDWR;
        else if (text[i] == 'x')
            m->flags |= O_EXCL;
        else if (text[i] == 'e')
            m->flags |= O_CLOEXEC, m->flags2 |= ASF_CLOSE_ON_EXEC;
        else if (text[i] == 'c')
            m->flags2 |= ASF_NOT_CANCELLED;
        else if (text[i] == 'm')
            m->flags2 |= ASF_FOLLOWS;
        if (strchr("+xb", text[i]))
            last = text + i;
    }
    if ((m->flags & O_ACCMODE) != O_RDONLY)
        m->flags2 &= ~ASF_FOLLOWS;
    m->charset = last[1] ? strstr(last + 1, ",ccs=") : NULL;
    return true;
}

static void set_appending(struct asf_cios *c, const struct mode *m) {
    if (m->append)
        c->flags |= ASF_APPENDING;
}

static inline int open_path(const char *path, const struct mode *m) {
    int before;
    if (m->flags2 & ASF_NOT_CANCELLED)
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    int fd = asf__open(path, m->flags, 0666);
    if (m->flags2 & ASF_NOT_CANCELLED)
        pthread_setcancelstate(before, &before);
    return fd;
}

void asf__set_libc_buffering(struct asf_cios *c) {
    const struct asf_options *o = asf__options();
    const bool is_asked_for = o->decompress || o->verbose || asf__counting || o->popen_rings || o->rings;
    c->block = BUFSIZ;
    c->flags2 |= ASF_AS_LIBC;
    if (!is_asked_for)
        c->flags2 |= ASF_NOT_LOOKED_AT;
    if (!is_asked_for && !o->buffer && c->access == O_RDONLY && !ASF_LIBC(asks_for_kind))
        c->flags2 |= ASF_LOOKS_LATE;
}

static struct asf_cios *new_file(int fd, const struct mode *m) {
    asf__stdio_start();
    struct asf_cios *c = asf__cios_new(&asf__as_libc, fd, m->flags);
    if (c)
        asf__set_libc_buffering(c);
    else
        errno = ENOMEM;
    return c;
}

/* For mode "a", not "a+": sets the descriptor's offset to the end of its file, if the file can seek.
 * returns  false, with errno, if the seek failed. */
static bool seek_to_end_for_append(int fd, const struct mode *m) {
    if (!m->append || (m->flags & O_ACCMODE) != O_WRONLY || !ASF_LIBC(mode_in_order))
        return true;
    off64_t at = asf__sys.lseek(fd, 0, SEEK_END);
    if (!asf__failed(at) || at == -ESPIPE)
        return true;
    errno = (int)-at;
    return false;
}

/* Called if the thread is cancelled in open, where it may wait for a FIFO's other end. */
static void free_unopened(void *c) {
    asf__cios_free(c);
}

EXPORT FILE *fopen(const char *path, const char *mode) {
    struct mode m;
    if (!parse_fopen_mode(mode, &m, false))
        return NULL;
    struct asf_cios *c = new_file(-1, &m); /* first: without memory no file is created or truncated */
    if (!c)
        return NULL;
    /* Before open_path, since this opens a FILE for a moment, and the file may take the last descriptor. */
    bool named = !m.charset || asf__named_conversion(c, m.charset);
    int why = errno;
    int fd = ASF_CLEANUP(free_unopened, c, open_path(path, &m));
    if (fd < 0) {
        asf__cios_free(c);
        errno = -fd;
        return NULL;
    }
    c->fd = fd;
    set_appending(c, &m);
    c->flags2 |= m.flags2; /* fdopen ignores these letters */
    c->exclusive = true;
    c->place = m.append ? -1 : 0;
    bool ready = seek_to_end_for_append(fd, &m);
    if (!ready || !named) {
        why = ready ? why : errno;
        asf__close(fd);
        asf__cios_free(c);
        errno = why;
        return NULL;
    }
    asf__set_name(c, path);
    asf__cios_link(c);
    return asf__file(c);
}

GLIBC_NAME(FILE *fopen64(const char *, const char *), fopen)

/* Checks that the descriptor's access mode allows the stream's, and adds O_APPEND to the descriptor.  Stores
 * the descriptor's flags in *flags, if libc reads them. */
static bool fit_descriptor(int fd, const struct mode *m, int *flags) {
    if (!ASF_LIBC(checks_descriptor) && m->flags & O_CLOEXEC)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    if (!ASF_LIBC(checks_descriptor) && !m->append)
        return true;
    int have = *flags = fcntl(fd, F_GETFL);
    if (!ASF_LIBC(checks_descriptor)) {
        fcntl(fd, F_SETFL, have | O_APPEND);
        return true;
    }
    if (have < 0)
        return false;
    int access = have & O_ACCMODE, wanted = m->flags & O_ACCMODE;
    if (access != O_RDWR && access != O_ACCMODE && access != wanted) { /* O_ACCMODE: open for ioctl alone */
        errno = EINVAL;
        return false;
    }
    if (!m->append || have & O_APPEND)
        return true;
    return fcntl(fd, F_SETFL, have | O_APPEND) >= 0 && seek_to_end_for_append(fd, m);
}

static FILE *open_on_descriptor(int fd, const struct mode *m) {
    struct asf_cios *c = new_file(fd, m);
    if (!c)
        return NULL;
    set_appending(c, m);
    asf__cios_link(c);
    return asf__file(c);
}

EXPORT FILE *fdopen(int fd, const char *mode) {
    struct mode m;
    int flags = -1;
    if (!parse_fopen_mode(mode, &m, true) || !fit_descriptor(fd, &m, &flags))
        return NULL;
    FILE *f = open_on_descriptor(fd, &m);
    if (f)
        asf__note_descriptor_flags(asf__cios(f), flags);
    return f;
}

FILE *asf__open_on_pipe(int fd, int access) {
    return open_on_descriptor(fd, &(struct mode){.flags = access});
}

/* --- closing ------------------------------------------------------------------ */

/* Closes the stream, whose object the caller frees or resets.  *result: 0, EOF with errno set, or a
 * callback's result.  Returns false if regions have not been given back: the stream stays open. */
static bool end_stream(struct asf_cios *c, int *result) {
    if (c->fd < 0 && c->flags & ASF_NO_READS && c->flags & ASF_NO_WRITES) { /* freopen has failed */
        asf__cios_unlink(c);
        *result = EOF; /* without an errno, as glibc */
        return true;
    }
    bool closed = asf__cios_close(c, result);
    if (!closed)
        *result = -EBUSY;
    if (*result < 0)
        *result = asf__output_error(*result);
    return closed;
}

/* Seeks to the first unread byte.  behind: the unread bytes of the main window, while the window has
 * pushed-back bytes.  If the stream has not examined its file (ASF_UNKNOWN), the seek is relative to the
 * descriptor's offset. */
static off64_t seek_to_unread(struct asf_cios *c, off64_t behind) {
    if (!c->ops->seek)
        return -ESPIPE;
    if (c->kind == ASF_UNKNOWN)
        return c->ops->seek(c, -(off64_t)asf__avail(c) - behind, SEEK_CUR);
    off64_t at = asf__ours_wide(c) ? asf__wide_tell(c) : asf__tell_file(c);
    return asf__failed(at) ? at : c->ops->seek(c, at - behind, SEEK_SET);
}

/* Sets the descriptor's offset to where the program has read, as glibc does since 2.42: other descriptors may
 * share the offset. */
static int restore_input_offset(struct asf_cios *c) {
    size_t unread = asf__is_wide(c) ? asf__wide_unread(c) : asf__avail(c);
    if (c->fd < 0 || asf__is_putting(c) || !(unread > 0 || c->flags & ASF_IN_BACKUP) ||
        !ASF_LIBC(fclose_restores_offset))
        return 0;
    off64_t at = seek_to_unread(c, c->flags & ASF_IN_BACKUP ? c->save_end - c->save_base : 0);
    if (asf__failed(at)) {
        asf__set_errno((int)at);
        return at == -ESPIPE || !ASF_LIBC(fclose_reports_seek) ? 0 : EOF;
    }
    c->offset = at; /* the stream stays open if it has regions */
    c->read_ptr = c->read_end;
    return 0;
}

/* The steps of closing that need an open descriptor: sets the offset of input, and writes a wide stream's
 * output. */
static int finish_windows(struct asf_cios *c) {
    asf__begin_call(c);
    int left = restore_input_offset(c), written = asf__ours_wide(c) ? asf__wide_close(c) : 0;
    asf__end_call(c);
    return written ? written : left;
}

/* Frees the object.  A standard stream's object is reset instead, and then refuses every call. */
static void free_or_reset(struct asf_cios *c) {
    if (!asf__is_standard(c)) {
        asf__cios_free(c);
        return;
    }
    asf__lock(&c->lk);
    asf__cios_reset(c);
    asf__unlock(&c->lk);
}

static int close_stream(struct asf_cios *c) {
    pid_t child = c->child;
    /* Once the stream is out of the list, another thread's popen cannot close its descriptor in the child:
     * close-on-exec does. */
    if (child > 0 && !__libc_single_threaded)
        asf__raw_syscall(SYS_fcntl, c->fd, F_SETFD, FD_CLOEXEC, 0);
    int left = finish_windows(c), rc;
    if (!end_stream(c, &rc))
        return rc;
    rc = rc ? rc : left;
    asf__free_line(c);
    free_or_reset(c);
    if (child <= 0 || !ASF_LIBC(fclose_waits) ||
        (rc == EOF && errno == EBADF)) /* as glibc: no wait without the descriptor */
        return rc;
    int status = asf__pclose_child(child);
    return status ? status : rc;
}

EXPORT int fclose(FILE *f) {
    struct asf_cios *c = asf__cios(f);
    return asf__is_own_object(c) ? close_stream(c) : asf__other_close(c);
}

/* --- freopen -------------------------------------------------------------------- */

/* Opens the new file under the number of the old descriptor, as glibc does. */
static int reopen_descriptor(int fd, const char *path, const struct mode *m) {
    char self[40];
    if (!path && !ASF_LIBC(reopens_itself)) {
        if (m->flags & O_CLOEXEC)
            asf__raw_syscall(SYS_fcntl, fd, F_SETFD, FD_CLOEXEC, 0);
        int rc = (int)asf__raw_syscall(SYS_fcntl, fd, F_SETFL, m->flags & ~(O_CREAT | O_EXCL | O_CLOEXEC), 0);
        return rc < 0 ? rc : fd;
    }
    if (!path) {
        snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
        path = self;
    }
    int new = open_path(path, m);
    if (new >= 0 && !seek_to_end_for_append(new, m)) {
        asf__close(new);
        return -errno;
    }
    if (new < 0 || fd < 0 || new == fd)
        return new;
    asf__use_descriptor(fd, true);
    int rc = (int)asf__raw_syscall(SYS_dup3, new, fd, m->flags2 & ASF_CLOSE_ON_EXEC ? O_CLOEXEC : 0, 0);
    asf__close(new);
    return rc;
}

/* Closes the old file and sets the stream up on the new one.  The stream stays locked and stays in libc's
 * chain.  If the thread is cancelled while it opens the file, the stream stays closed.  returns  the
 * descriptor or -errno. */
static int reopen_file(struct asf_cios *c, const char *path, const struct mode *m, bool valid) {
    int fd = c->fd, buffering = ASF_LIBC(reopens_itself) ? 0 : c->flags & (ASF_UNBUFFERED | ASF_LINE_BUF);
    asf__stdio_start();
    if (path && c->flags2 & ASF_LINES_AT_FIRST) /* libc does not test the new file for a terminal */
        buffering |= ASF_LINE_BUF;
    asf__flush_stream(c);
    restore_input_offset(c);
    if (asf__ours_wide(c))
        asf__wide_close(c);
    asf__report(c);
    c->fd = -1; /* the module's close must not close the descriptor */
    if (fd >= 0 && c->data && c->ops->close)
        c->ops->close(c);
    asf__cios_reset(c);
    int new = valid ? ASF_CLEANUP(asf__cancelled, c, reopen_descriptor(fd, path, m)) : -EINVAL;
    int closed = new < 0 && fd >= 0 ? asf__close(fd) : 0;
    if (closed < 0)
        new = closed; /* glibc reports the later error */
    asf__cios_set_up(c, &asf__as_libc, new < 0 ? -1 : new, new < 0 ? O_RDWR : m->flags);
    c->flags |= buffering;
    asf__set_libc_buffering(c);
    return new;
}

static FILE *refuse_all_calls(struct asf_cios *c) {
    c->flags |= ASF_NO_READS | ASF_NO_WRITES;
    return NULL;
}

static FILE *reopen(struct asf_cios *c, const char *path, const char *mode) {
    struct mode m;
    bool valid = parse_fopen_mode(mode, &m, false);
    const bool anew = ASF_LIBC(freopen_forgets_mode);
    if (!anew)
        m.flags2 |= c->flags2 & (ASF_NOT_CANCELLED | ASF_CLOSE_ON_EXEC);
    int fd = reopen_file(c, path, &m, valid);
    c->flags2 |= m.flags2;
    if (fd < 0) {
        errno = -fd;
        return refuse_all_calls(c);
    }
    if (m.charset && !asf__named_conversion(c, m.charset)) {
        asf__close(fd);
        c->fd = -1;
        return refuse_all_calls(c);
    }
    if (!anew) { /* the stream loses its orientation and character set */
        c->vtable = asf__vtable;
        c->orientation = 0;
    }
    set_appending(c, &m);
    if (path)
        asf__set_name(c, path);
    c->flags2 |= ASF_REOPENED;
    return asf__file(c);
}

EXPORT FILE *freopen(const char *path, const char *mode, FILE *f) {
    struct asf_cios *c = asf__cios(f);
    if (!asf__is_own_object(c))
        return asf__other_reopen(path, mode, c);
    asf__begin_call(c);
    FILE *r = NULL;
    if (c->flags & ASF_FILEBUF || !asf__ours(c))
        r = reopen(c, path, mode);
    else
        asf__flush_stream(c); /* a stream on memory or callbacks is not reopened, as in glibc */
    asf__end_call(c);
    if (r)
        asf__cios_link(c); /* after the stream is unlocked: the list's lock ranks before the stream's */
    return r;
}

GLIBC_NAME(FILE *freopen64(const char *, const char *, FILE *), freopen)

/* --- tmpfile ---------------------------------------------------------------------- */

EXPORT FILE *tmpfile(void) {
    int fd = asf__open(P_tmpdir, O_RDWR | O_TMPFILE | O_EXCL, 0600);
    if (fd < 0) {
        char name[] = P_tmpdir "/tmpfXXXXXX";
        fd = mkstemp(name);
        if (fd < 0)
            return NULL;
        unlink(name);
    }
    FILE *f = fdopen(fd, "w+");
    if (!f)
        asf__close(fd);
    return f;
}

GLIBC_NAME(FILE *tmpfile64(void), tmpfile)
