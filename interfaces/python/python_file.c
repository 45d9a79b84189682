/* SPDX-License-Identifier: MIT
 *
 * python_file.c - files: bytes, lines and regions of a stream.
 *
 * Lines and small reads come directly from the stream's buffer while the caller holds the GIL and no thread
 * is in a call (holder is 0).  All other calls go through asf__file_enter.
 */
#include "interfaces/python/python_module.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- errors ------------------------------------------------------------ */

PyObject *asf__raise(ssize_t code, PyObject *name) {
    if (PyErr_Occurred())
        return NULL;
    if (code == -EBUSY) {
        PyErr_SetString(PyExc_BufferError,
                        "a region of the file, or a reader or writer of records on it, is not released yet");
        return NULL;
    }
    PyObject *error = PyObject_CallFunction(PyExc_OSError, "isO", (int)-code, asf_error_text((int)code),
                                            name ? name : Py_None);
    if (error)
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_XDECREF(error);
    return NULL;
}

PyObject *asf__raise_decoding(ssize_t code, PyObject *name) {
    if (code != -ENOTSUP)
        return asf__raise(code, name);
    return asf__raise_why(code,
                          "The input is compressed, and its decoder is not installed: libasf_zstd, "
                          "libasf_gzip, libasf_lz4 or libasf_xz, in Debian's package libasf-decoders0",
                          name);
}

bool asf__again(ssize_t code) {
    return code == -EINTR && PyErr_CheckSignals() == 0;
}

PyObject *asf__unsupported(const char *what) {
    PyObject *io = PyImport_ImportModule("io");
    PyObject *type = io ? PyObject_GetAttrString(io, "UnsupportedOperation") : NULL;
    if (type)
        PyErr_SetString(type, what);
    Py_XDECREF(type);
    Py_XDECREF(io);
    return NULL;
}

/* --- exclusive use of the stream -------------------------------------------- */

/* End the iteration: the lines that the iterator has not returned stay in the stream.  A Line shows nothing
 * afterwards.  If a view of the Line exists, the iteration does not end. */
static bool end_iteration(struct asf__file *f) {
    if (!f->iterator)
        return true;
    if (f->line && asf__memory_is_viewed(f->line))
        return false;
    if (f->line)
        f->line->at = NULL;
    f->line = NULL;
    int rc = f->iterator == Py_None ? f->unsaid : asf_lines_end(&f->lines);
    f->iterator = NULL;
    if (rc < 0)
        asf__raise(rc, f->name);
    return rc == 0;
}

/* Flush even if nothing was written: flushing sets the descriptor's offset to the file's. */
static bool set_mode(struct asf__file *f, enum asf_mode mode) {
    int rc;
    if (f->now == mode)
        return true;
    ASF_PUTTING(f, rc = asf_sflush(f->stream));
    if (rc == 0 && !asf_set_stream_mode(f->stream, mode))
        rc = -EBUSY;
    if (rc < 0)
        asf__raise(rc, f->name);
    else
        f->now = mode;
    return rc == 0;
}

static bool may_use(struct asf__file *f, int mode, PyObject *iterator) {
    if (!f->stream)
        PyErr_SetString(PyExc_ValueError, "I/O operation on closed file");
    else if (mode == ASF_READ && !f->readable)
        asf__unsupported("the file is not open for reading");
    else if (mode == ASF_WRITE && !f->writable)
        asf__unsupported("the file is not open for writing");
    else
        return (f->iterator == iterator || end_iteration(f)) &&
               (mode == ASF_ANY || set_mode(f, (enum asf_mode)mode));
    return false;
}

bool asf__file_enter(struct asf__file *f, int mode, PyObject *iterator) {
    unsigned long self = PyThread_get_thread_ident();
    if (f->holder == self) {
        PyErr_SetString(PyExc_RuntimeError,
                        "a signal handler or finalizer uses the file that it has interrupted");
        return false;
    }
    if (!PyThread_acquire_lock(f->lock, NOWAIT_LOCK))
        ASF_WITHOUT_GIL(PyThread_acquire_lock(f->lock, WAIT_LOCK));
    f->holder = self;
    if (may_use(f, mode, iterator))
        return true;
    asf__file_leave(f);
    return false;
}

void asf__file_leave(struct asf__file *f) {
    f->holder = 0;
    PyThread_release_lock(f->lock);
}

/* Returns whether a region of n bytes can be allocated and given back without waiting. */
static bool at_hand(struct asf__file *f, enum asf_mode mode, ssize_t n) {
    const struct asf_view *v = (const struct asf_view *)f->stream;
    if (f->holder || f->iterator || !v || f->now != mode || n <= 0 || v->gate)
        return false;
    return n <= (mode == ASF_READ ? v->read_end - v->read_ptr : v->write_end - v->write_ptr) && !*v->regions;
}

/* --- signals during output ------------------------------------------------------------ */

/* A signal that interrupts a write loses the rest of the bytes.  Signals do not interrupt writes to regular
 * files.  For other files, block all signals except faults and those that usually end a program. */
void asf__hold_signals(const struct asf__file *f, sigset_t *before) {
    static const int through[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
    sigset_t held;
    if (f->regular)
        return;
    sigfillset(&held);
    for (size_t i = 0; i < sizeof through / sizeof *through; i++)
        sigdelset(&held, through[i]);
    pthread_sigmask(SIG_BLOCK, &held, before);
}

void asf__let_signals(const struct asf__file *f, const sigset_t *before) {
    if (!f->regular)
        pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* --- reading ------------------------------------------------------------ */

/* Call a function like salloc.  NULL with *n as salloc sets it, and with an exception if a signal handler
 * raised one. */
static void *allocate(struct asf__file *f, void *(*call)(struct asf_cios *, ssize_t *), ssize_t *n) {
    ssize_t wanted = *n;
    void *p;
    do {
        *n = wanted;
        ASF_WITHOUT_GIL(p = call(f->stream, n));
    } while (!p && asf__again(*n));
    return p;
}

PyObject *asf__copy_bytes(const void *from, ssize_t n) {
    if (n <= ASF_PIECE)
        return PyBytes_FromStringAndSize(from, n);
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, n);
    if (bytes) { /* copying from a mapped file may read the disk */
        char *to = PyBytes_AsString(bytes);
        ASF_WITHOUT_GIL(memcpy(to, from, (size_t)n));
    }
    return bytes;
}

/* Copy the bytes of a region, and give the region back. */
static PyObject *take_bytes(struct asf__file *f, void *region, ssize_t n) {
    PyObject *bytes = asf__copy_bytes(region, n);
    int rc = asf_sfree(f->stream, region);
    if (rc == 0)
        return bytes;
    Py_XDECREF(bytes);
    return asf__raise(rc, f->name);
}

int asf__read_again(struct asf__file *f, void *p) {
    ssize_t n = 0;
    void *q = asf_srealloc(f->stream, p, &n);
    asf_sabandon(f->stream, q ? q : p);
    return (int)n;
}

/* Lengthen the latest region to *n bytes, also after signals.  If srealloc returns a pipe's region with its
 * old length, only the next srealloc tells the end of input from a signal.  So this calls srealloc twice.
 * returns  the region, unchanged at the end or if a non-blocking descriptor has no data; NULL with *n as
 *          srealloc sets it, and with an exception if a signal handler raised one: then the bytes are read
 *          again */
static void *lengthen(struct asf__file *f, void *p, ssize_t have, ssize_t *n) {
    ssize_t wanted = *n;
    bool twice = f->regular;
    for (;;) {
        void *q;
        *n = wanted;
        ASF_WITHOUT_GIL(q = asf_srealloc(f->stream, p, n));
        p = q ? q : p;
        if (q && (*n > have || twice))
            return p;
        if (!q && !asf__again(*n))
            break;
        twice = q || f->regular;
    }
    if (*n == -EAGAIN) {
        *n = have;
        return p;
    }
    asf__read_again(f, p);
    return NULL;
}

/* Read up to `most` bytes into one region, which begins with `asked` bytes and grows fourfold.  Reading
 * pieces and joining them is no faster.  If a signal handler raises an exception, the bytes are read
 * again. */
static void *read_region(struct asf__file *f, ssize_t asked, ssize_t most, ssize_t *n) {
    *n = asked;
    void *p = allocate(f, asf_salloc, n);
    while (p && *n < most) {
        ssize_t have = *n;
        *n = have < asked ? asked : have < most / 4 ? 4 * have : most;
        asked = *n;
        p = lengthen(f, p, have, n);
        if (*n == have)
            break;
    }
    return p;
}

/* The size of the part or file, at least ASF_PIECE. */
static ssize_t size_of(struct asf__file *f) {
    struct stat st = {.st_size = f->part};
    if ((f->part < 0 && fstat(asf_fileno(f->stream), &st) < 0) || st.st_size < ASF_PIECE)
        return ASF_PIECE;
    return st.st_size;
}

/* Returns how many of `left` bytes to read at once. */
static ssize_t piece_of(ssize_t left) {
    enum { MOST = 1 << 28 };
    return left == SSIZE_MAX ? ASF_PIECE : left < MOST ? left : MOST;
}

/* The next piece of a regular file, or all available bytes of another file; NULL at the end or with an
 * exception.  EAGAIN is an error only for the first piece. */
static PyObject *next_piece(struct asf__file *f, ssize_t left, bool first) {
    ssize_t n, asked = piece_of(left);
    void *p = read_region(f, asked, f->regular ? asked : left, &n);
    if (p)
        return take_bytes(f, p, n);
    if (n < 0 && (n != -EAGAIN || first))
        asf__raise(n, f->name);
    return NULL;
}

static PyObject *join(PyObject *list) {
    PyObject *empty = PyBytes_FromStringAndSize(NULL, 0);
    PyObject *joined = empty ? PyObject_CallMethod(empty, "join", "O", list) : NULL;
    Py_XDECREF(empty);
    return joined;
}

/* Read `wanted` bytes, or fewer at the end; all bytes if `wanted` is negative. */
static PyObject *read_bytes(struct asf__file *f, ssize_t wanted) {
    ssize_t left = wanted >= 0 ? wanted : f->regular ? size_of(f) : SSIZE_MAX;
    PyObject *piece = next_piece(f, left, true), *list, *result = NULL;
    if (!piece)
        return PyErr_Occurred() ? NULL : PyBytes_FromStringAndSize(NULL, 0);
    if (!f->regular || PyBytes_Size(piece) == wanted)
        return piece;
    list = PyList_New(0);
    while (piece) {
        int rc = list ? PyList_Append(list, piece) : -1;
        bool whole = PyBytes_Size(piece) == piece_of(left);
        left -= wanted < 0 ? 0 : PyBytes_Size(piece);
        Py_DECREF(piece);
        piece = rc == 0 && whole && left > 0 ? next_piece(f, left, false) : NULL;
    }
    if (!PyErr_Occurred())
        result = PyList_Size(list) == 1 ? Py_NewRef(PyList_GetItem(list, 0)) : join(list);
    Py_XDECREF(list);
    return result;
}

/* Parse the optional size of read() and similar methods: -1 if it is missing or None. */
static bool size_argument(PyObject *const *args, Py_ssize_t count, Py_ssize_t *size) {
    *size = -1;
    if (count > 1) {
        PyErr_SetString(PyExc_TypeError, "at most one argument, a size, is taken");
        return false;
    }
    if (count == 1 && args[0] != Py_None)
        *size = PyNumber_AsSsize_t(args[0], PyExc_OverflowError);
    return !(*size == -1 && PyErr_Occurred());
}

static PyObject *file_read(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    struct asf__file *f = (struct asf__file *)self;
    Py_ssize_t n;
    if (!size_argument(args, count, &n))
        return NULL;
    if (n <= ASF_PIECE && at_hand(f, ASF_READ, n))
        return take_bytes(f, asf_salloc(f->stream, &n), n);
    if (!asf__file_enter(f, ASF_READ, NULL))
        return NULL;
    PyObject *bytes = n == 0 ? PyBytes_FromStringAndSize(NULL, 0) : read_bytes(f, n);
    asf__file_leave(f);
    return bytes;
}

static PyObject *file_read1(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    struct asf__file *f = (struct asf__file *)self;
    Py_ssize_t n;
    if (!size_argument(args, count, &n))
        return NULL;
    n = n < 0 ? ASF_PIECE : n;
    ssize_t some = n < ASF_PIECE ? n : ASF_PIECE;
    if (at_hand(f, ASF_READ, some))
        return take_bytes(f, asf_salloc(f->stream, &some), some);
    if (!asf__file_enter(f, ASF_READ, NULL))
        return NULL;
    void *p = n ? allocate(f, asf_salloc_some, &n) : NULL;
    PyObject *bytes = p        ? take_bytes(f, p, n)
                      : n == 0 ? PyBytes_FromStringAndSize(NULL, 0)
                               : asf__raise(n, f->name);
    asf__file_leave(f);
    return bytes;
}

/* Copy the n bytes of a region, and give it back.
 *   region   NULL: n is 0 or an error
 * returns  n, or -1 with an exception */
static ssize_t copy_out(struct asf__file *f, void *region, ssize_t n, char *to) {
    if (region)
        ASF_WITHOUT_GIL(memcpy(to, region, (size_t)n));
    int rc = region ? asf_sfree(f->stream, region) : (int)n;
    if (rc < 0)
        asf__raise(rc, f->name);
    return rc < 0 ? -1 : n;
}

static ssize_t read_into(struct asf__file *f, char *to, ssize_t wanted) {
    ssize_t n = 0;
    void *region = wanted > 0 ? read_region(f, wanted, wanted, &n) : NULL;
    return copy_out(f, region, n, to);
}

/* Like read_into, but wait only if no byte is available. */
static ssize_t read_some_into(struct asf__file *f, char *to, ssize_t wanted) {
    ssize_t n = wanted;
    void *region = wanted > 0 ? allocate(f, asf_salloc_some, &n) : NULL;
    return copy_out(f, region, n, to);
}

static PyObject *fill_buffer(PyObject *self, PyObject *target,
                             ssize_t (*call)(struct asf__file *, char *, ssize_t)) {
    struct asf__file *f = (struct asf__file *)self;
    Py_buffer to;
    ssize_t n = -1;
    if (!PyArg_Parse(target, "w*:readinto", &to))
        return NULL;
    if (asf__file_enter(f, ASF_READ, NULL)) {
        n = call(f, to.buf, to.len);
        asf__file_leave(f);
    }
    PyBuffer_Release(&to);
    return n < 0 ? NULL : PyLong_FromSsize_t(n);
}

static PyObject *file_readinto(PyObject *self, PyObject *target) {
    return fill_buffer(self, target, read_into);
}

static PyObject *file_readinto1(PyObject *self, PyObject *target) {
    return fill_buffer(self, target, read_some_into);
}

static PyObject *file_peek(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    enum { USUAL = 8192 }; /* io.DEFAULT_BUFFER_SIZE */
    struct asf__file *f = (struct asf__file *)self;
    Py_ssize_t n;
    if (!size_argument(args, count, &n) || !asf__file_enter(f, ASF_READ, NULL))
        return NULL;
    n = n < USUAL ? USUAL : n < ASF_PIECE ? n : ASF_PIECE;
    void *p = allocate(f, asf_salloc_some, &n);
    PyObject *bytes = p || n == 0 ? PyBytes_FromStringAndSize(p, n) : asf__raise(n, f->name);
    int rc = p ? asf__read_again(f, p) : 0;
    if (rc < 0 && bytes) {
        Py_DECREF(bytes);
        bytes = asf__raise(rc, f->name);
    }
    asf__file_leave(f);
    return bytes;
}

/* --- lines ------------------------------------------------------------ */

void *asf__line_region(struct asf__file *f, unsigned char delimiter, ssize_t longest, ssize_t *n) {
    for (;;) {
        const unsigned char *p;
        *n = longest;
        ASF_WITHOUT_GIL(p = asf_salloc_until(f->stream, delimiter, n));
        if (!p && asf__again(*n))
            continue;
        if (!p || p[*n - 1] == delimiter)
            return (void *)(uintptr_t)p;
        ssize_t have = (*n)++;
        void *q = lengthen(f, (void *)(uintptr_t)p, have, n);
        if (!q || *n == have)
            return q;
        asf__read_again(f, q);
    }
}

static const struct asf__parting newlines = {'\n', true, SSIZE_MAX};

static PyObject *file_iter(PyObject *self) {
    struct asf__file *f = (struct asf__file *)self;
    if (!asf__file_enter(f, ASF_READ, f->iterator))
        return NULL;
    asf__file_leave(f);
    return Py_NewRef(self);
}

static PyObject *file_next(PyObject *self) {
    return asf__next_line((struct asf__file *)self, self, &newlines);
}

/* Read a line, or its first `wanted` bytes. */
static PyObject *read_short_line(struct asf__file *f, ssize_t wanted) {
    ssize_t n;
    void *p = asf__line_region(f, '\n', wanted, &n);
    if (!p && n == -EMSGSIZE)
        p = read_region(f, wanted, wanted, &n);
    return p ? take_bytes(f, p, n) : n == 0 ? PyBytes_FromStringAndSize(NULL, 0) : asf__raise(n, f->name);
}

static PyObject *file_readline(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    struct asf__file *f = (struct asf__file *)self;
    Py_ssize_t n;
    PyObject *line;
    if (!size_argument(args, count, &n))
        return NULL;
    if (n < 0) {
        line = asf__next_line(f, self, &newlines);
        return line || PyErr_Occurred() ? line : PyBytes_FromStringAndSize(NULL, 0);
    }
    if (!asf__file_enter(f, ASF_READ, NULL))
        return NULL;
    line = n == 0 ? PyBytes_FromStringAndSize(NULL, 0) : read_short_line(f, n);
    asf__file_leave(f);
    return line;
}

/* --- regions ------------------------------------------------------------ */

static PyObject *new_region(struct asf__file *f, void *p, ssize_t n) {
    PyObject *region = p || n == 0 ? asf__region_new(f, p, n) : asf__raise(n, f->name);
    asf__file_leave(f);
    return region;
}

static int mode_of_region(const struct asf__file *f, int write) {
    return write || !f->readable ? ASF_WRITE : ASF_READ;
}

static PyObject *allocate_region(PyObject *self, PyObject *args, PyObject *keywords,
                                 void *(*call)(struct asf_cios *, ssize_t *)) {
    static char *names[] = {"", "write", NULL};
    struct asf__file *f = (struct asf__file *)self;
    Py_ssize_t n;
    int write = 0;
    if (!asf__parse(args, keywords, "n|$p:region", names, &n, &write))
        return NULL;
    if (n < 1)
        return PyErr_Format(PyExc_ValueError, "a region has a byte or more, not %zd", n);
    if (!asf__file_enter(f, mode_of_region(f, write), NULL))
        return NULL;
    void *p = allocate(f, call, &n);
    return new_region(f, p, n);
}

static PyObject *file_region(PyObject *self, PyObject *args, PyObject *keywords) {
    return allocate_region(self, args, keywords, asf_salloc);
}

static PyObject *file_region_some(PyObject *self, PyObject *args, PyObject *keywords) {
    return allocate_region(self, args, keywords, asf_salloc_some);
}

static PyObject *file_region_until(PyObject *self, PyObject *args, PyObject *keywords) {
    static char *names[] = {"delimiter", "longest", NULL};
    struct asf__file *f = (struct asf__file *)self;
    char delimiter = '\n';
    Py_ssize_t longest = SSIZE_MAX, n;
    if (!asf__parse(args, keywords, "|cn:region_until", names, &delimiter, &longest))
        return NULL;
    if (longest < 1)
        return PyErr_Format(PyExc_ValueError, "the longest line has a byte or more, not %zd", longest);
    if (!asf__file_enter(f, ASF_READ, NULL))
        return NULL;
    void *p = asf__line_region(f, (unsigned char)delimiter, longest, &n);
    return new_region(f, p, n);
}

static PyObject *file_region_at(PyObject *self, PyObject *args, PyObject *keywords) {
    static char *names[] = {"", "", "", "write", NULL};
    struct asf__file *f = (struct asf__file *)self;
    long long offset;
    Py_ssize_t n;
    int whence = SEEK_SET, write = 0;
    void *p;
    if (!asf__parse(args, keywords, "Ln|i$p:region_at", names, &offset, &n, &whence, &write))
        return NULL;
    if (n < 1)
        return PyErr_Format(PyExc_ValueError, "a region has a byte or more, not %zd", n);
    if (!asf__file_enter(f, mode_of_region(f, write), NULL))
        return NULL;
    ASF_PUTTING(f, p = asf_sallocAt(f->stream, &n, offset, whence));
    return new_region(f, p, n);
}

/* --- writing ------------------------------------------------------------ */

static bool write_bytes(struct asf__file *f, const char *from, ssize_t n) {
    enum { MOST = 1 << 20 };
    ssize_t done = 0, piece;
    int rc = 0;
    while (rc == 0 && done < n) {
        piece = n - done < MOST ? n - done : MOST;
        ASF_PUTTING(f, {
            void *p = asf_salloc(f->stream, &piece);
            if (p)
                memcpy(p, from + done, (size_t)piece);
            rc = p ? asf_sfree(f->stream, p) : (int)piece;
        });
        done += piece;
    }
    if (rc == -EINTR)
        PyErr_CheckSignals();
    if (rc < 0)
        asf__raise(rc, f->name);
    return rc == 0;
}

/* returns  false if the call would wait, or if giving the region back fails */
static bool write_at_hand(struct asf__file *f, const char *from, ssize_t n) {
    void *p = at_hand(f, ASF_WRITE, n) ? asf_salloc(f->stream, &n) : NULL;
    if (!p)
        return false;
    memcpy(p, from, (size_t)n);
    return asf_sfree(f->stream, p) == 0;
}

bool asf__file_write(struct asf__file *f, const char *from, ssize_t n) {
    bool written = write_at_hand(f, from, n);
    if (!written && asf__file_enter(f, ASF_WRITE, NULL)) {
        written = write_bytes(f, from, n);
        asf__file_leave(f);
    }
    return written;
}

static PyObject *file_write(PyObject *self, PyObject *data) {
    Py_buffer from;
    if (PyObject_GetBuffer(data, &from, PyBUF_SIMPLE) < 0)
        return NULL;
    bool written = asf__file_write((struct asf__file *)self, from.buf, from.len);
    Py_ssize_t n = from.len;
    PyBuffer_Release(&from);
    return written ? PyLong_FromSsize_t(n) : NULL;
}

static PyObject *file_writelines(PyObject *self, PyObject *lines) {
    PyObject *iterator = PyObject_GetIter(lines), *line, *written = iterator;
    while (iterator && written && (line = PyIter_Next(iterator))) {
        written = file_write(self, line);
        Py_XDECREF(written);
        Py_DECREF(line);
    }
    Py_XDECREF(iterator);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

/* Write the output, and set the descriptor's offset to the file's. */
static bool flush(struct asf__file *f) {
    int rc;
    ASF_PUTTING(f, rc = asf_sflush(f->stream));
    if (rc == -EINTR)
        PyErr_CheckSignals();
    if (rc < 0)
        asf__raise(rc, f->name);
    return rc == 0;
}

static PyObject *file_flush(PyObject *self, PyObject *unused) {
    (void)unused;
    struct asf__file *f = (struct asf__file *)self;
    if (!asf__file_enter(f, ASF_ANY, NULL))
        return NULL;
    bool flushed = flush(f);
    asf__file_leave(f);
    return flushed ? Py_NewRef(Py_None) : NULL;
}

/* --- offsets ------------------------------------------------------------ */

/* The descriptor's offset, which other processes may move.  A part has no descriptor: the stream's offset. */
static int64_t offset_of(const struct asf__file *f) {
    int fd = asf_fileno(f->stream);
    off_t at = fd < 0 ? asf_tell(f->stream) : lseek(fd, 0, SEEK_CUR);
    return fd >= 0 && at < 0 ? -errno : at;
}

static PyObject *place(struct asf__file *f) {
    int64_t at = flush(f) ? offset_of(f) : 0;
    return PyErr_Occurred() ? NULL : at < 0 ? asf__raise((ssize_t)at, f->name) : PyLong_FromLongLong(at);
}

static PyObject *file_tell(PyObject *self, PyObject *unused) {
    (void)unused;
    struct asf__file *f = (struct asf__file *)self;
    if (!asf__file_enter(f, ASF_ANY, NULL))
        return NULL;
    PyObject *at = place(f);
    asf__file_leave(f);
    return at;
}

/* asf_sallocAt moves the stream; its region is not used. */
static PyObject *file_seek(PyObject *self, PyObject *args) {
    struct asf__file *f = (struct asf__file *)self;
    long long offset;
    int whence = SEEK_SET, rc;
    ssize_t n = 1;
    if (!PyArg_ParseTuple(args, "L|i:seek", &offset, &whence) || !asf__file_enter(f, ASF_ANY, NULL))
        return NULL;
    ASF_PUTTING(f, {
        void *p = asf_sallocAt(f->stream, &n, offset, whence);
        if (p && f->now == ASF_READ)
            rc = asf__read_again(f, p);
        else
            rc = p ? asf_sabandon(f->stream, p) : (int)n;
    });
    PyObject *at = rc < 0 ? asf__raise(rc, f->name) : place(f);
    asf__file_leave(f);
    return at;
}

/* flush() first discards the read-ahead. */
static PyObject *truncate_file(struct asf__file *f, PyObject *argument) {
    PyObject *size = argument == Py_None ? place(f) : Py_NewRef(argument);
    long long to = size ? PyLong_AsLongLong(size) : -1;
    int rc;
    if (!PyErr_Occurred() && flush(f)) {
        do
            ASF_WITHOUT_GIL(rc = ftruncate(asf_fileno(f->stream), to) < 0 ? -errno : 0);
        while (asf__again(rc));
        if (rc < 0)
            asf__raise(rc, f->name);
    }
    if (!PyErr_Occurred())
        return size;
    Py_XDECREF(size);
    return NULL;
}

static PyObject *file_truncate(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    struct asf__file *f = (struct asf__file *)self;
    if (count > 1)
        return PyErr_Format(PyExc_TypeError, "at most one argument, a size, is taken");
    if (!asf__file_enter(f, ASF_ANY, NULL))
        return NULL;
    PyObject *size = f->writable ? truncate_file(f, count ? args[0] : Py_None)
                                 : asf__unsupported("the file is not open for writing");
    asf__file_leave(f);
    return size;
}

/* --- the file itself ------------------------------------------------------------ */

int asf__file_close(struct asf__file *f) {
    int rc;
    if (!f->stream)
        return 0;
    if (!asf__file_enter(f, ASF_ANY, f->iterator))
        return f->stream ? -1 : 0;
    if (!end_iteration(f) && f->iterator) { /* a view of a Line exists */
        asf__file_leave(f);
        return -1;
    } /* otherwise the file was truncated, which asf_sclose reports */
    if (f->shared && f->now == ASF_READ)
        asf_sflush(f->stream);
    if (f->users > 0)
        rc = -EBUSY;
    else
        ASF_PUTTING(f, rc = asf_sclose(f->stream));
    if (rc != -EBUSY)
        f->stream = NULL;
    if (rc == -EINTR)
        PyErr_CheckSignals();
    if (rc < 0)
        asf__raise(rc, f->name);
    asf__file_leave(f);
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *file_close(PyObject *self, PyObject *unused) {
    (void)unused;
    return asf__file_close((struct asf__file *)self) < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *file_enter_context(PyObject *self, PyObject *unused) {
    (void)unused;
    if (!asf__file_enter((struct asf__file *)self, ASF_ANY, NULL))
        return NULL;
    asf__file_leave((struct asf__file *)self);
    return Py_NewRef(self);
}

static PyObject *file_fileno(PyObject *self, PyObject *unused) {
    (void)unused;
    struct asf__file *f = (struct asf__file *)self;
    if (!f->stream)
        return PyErr_Format(PyExc_ValueError, "I/O operation on closed file");
    int fd = asf_fileno(f->stream);
    return fd < 0 ? asf__unsupported("a part and decoded input have no descriptor") : PyLong_FromLong(fd);
}

/* Returns the result of readable() and similar methods; ValueError for a closed file. */
static PyObject *truth(PyObject *self, bool is) {
    if (((struct asf__file *)self)->stream)
        return PyBool_FromLong(is);
    return PyErr_Format(PyExc_ValueError, "I/O operation on closed file");
}

static PyObject *file_readable(PyObject *self, PyObject *unused) {
    (void)unused;
    return truth(self, ((struct asf__file *)self)->readable);
}

static PyObject *file_writable(PyObject *self, PyObject *unused) {
    (void)unused;
    return truth(self, ((struct asf__file *)self)->writable);
}

static PyObject *file_seekable(PyObject *self, PyObject *unused) {
    (void)unused;
    struct asf__file *f = (struct asf__file *)self;
    return truth(self, f->stream && offset_of(f) >= 0);
}

static PyObject *file_isatty(PyObject *self, PyObject *unused) {
    (void)unused;
    struct asf_cios *stream = ((struct asf__file *)self)->stream;
    return truth(self, stream && isatty(asf_fileno(stream)));
}

static PyObject *file_detach(PyObject *self, PyObject *unused) {
    (void)unused;
    if (((struct asf__file *)self)->stream)
        return asf__unsupported("a File has no raw file below it");
    return truth(self, false);
}

static PyObject *file_closed(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(!((struct asf__file *)self)->stream);
}

static PyObject *file_name(PyObject *self, void *unused) {
    (void)unused;
    struct asf__file *f = (struct asf__file *)self;
    struct asf__module *m = PyType_GetModuleState(Py_TYPE(self));
    return Py_NewRef(Py_IS_TYPE(f->name, m->part) ? PyStructSequence_GetItem(f->name, 0) : f->name);
}

static PyObject *file_mode(PyObject *self, void *unused) {
    (void)unused;
    return PyUnicode_FromString(((struct asf__file *)self)->mode);
}

/* The file's offset, found without changing the stream.  The descriptor of a regular file is after the bytes
 * read, or before the bytes to write.  -1: it has no offset, or another thread is about to move it. */
static off_t glance_at_place(const struct asf__file *f) {
    const struct asf_view *v = (const struct asf_view *)f->stream;
    if (!v || !f->regular || f->holder)
        return -1;
    off_t at = lseek(asf_fileno(f->stream), 0, SEEK_CUR);
    if (at < 0 || f->now == ASF_WRITE)
        return at < 0 ? -1 : at + (v->write_ptr - v->write_base);
    at -= v->read_end - v->read_ptr;
    return f->iterator && f->iterator != Py_None ? at - (f->lines.end - f->lines.line) : at;
}

static PyObject *file_repr(PyObject *self) {
    struct asf__file *f = (struct asf__file *)self;
    off_t at = glance_at_place(f);
    if (at >= 0)
        return PyUnicode_FromFormat("<asf.File name=%R mode='%s' offset=%lld>", f->name, f->mode,
                                    (long long)at);
    return PyUnicode_FromFormat("<asf.File name=%R mode='%s'%s>", f->name, f->mode,
                                f->stream ? "" : " closed");
}

PyObject *asf__repr_on(PyObject *self, const struct asf__file *f, bool open) {
    PyObject *type = PyType_GetName(Py_TYPE(self));
    PyObject *text =
        type ? PyUnicode_FromFormat("<asf.%U of %R%s>", type, f->name, open ? "" : ", closed") : NULL;
    Py_XDECREF(type);
    return text;
}

/* TextIOWrapper calls this before it closes an unreferenced file. */
static PyObject *file_dealloc_warn(PyObject *self, PyObject *source) {
    struct asf__file *f = (struct asf__file *)self;
    if (f->stream && PyErr_ResourceWarning(source, 1, "unclosed file %R", source) < 0)
        return NULL;
    Py_RETURN_NONE;
}

/* Close an unreferenced file, with the ResourceWarning of Python's own files.  No region is left, because
 * regions hold a reference to the file. */
static void file_finalize(PyObject *self) {
    struct asf__file *f = (struct asf__file *)self;
    PyObject *error[3];
    PyErr_Fetch(&error[0], &error[1], &error[2]);
    if (f->stream && PyErr_WarnFormat(PyExc_ResourceWarning, 1, "unclosed file %R", f->name) < 0)
        PyErr_WriteUnraisable(NULL);
    if (asf__file_close(f) < 0)
        PyErr_WriteUnraisable(NULL);
    PyErr_Restore(error[0], error[1], error[2]);
}

static int file_traverse(PyObject *self, visitproc visit, void *arg) {
    struct asf__file *f = (struct asf__file *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(f->dict);
    Py_VISIT(f->name);
    return 0;
}

static int file_clear(PyObject *self) {
    Py_CLEAR(((struct asf__file *)self)->dict);
    return 0;
}

static void file_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    struct asf__file *f = (struct asf__file *)self;
    PyObject_GC_UnTrack(self);
    file_finalize(self);
    if (f->weak)
        PyObject_ClearWeakRefs(self);
    if (f->lock)
        PyThread_free_lock(f->lock);
    Py_CLEAR(f->dict);
    Py_XDECREF(f->name);
    PyObject_GC_Del(self);
    Py_DECREF((PyObject *)type);
}

/* --- the base ------------------------------------------------------------ */

static PyObject *buffered_io_base(void) {
    PyObject *io = PyImport_ImportModule("io");
    PyObject *class = io ? PyObject_GetAttrString(io, "BufferedIOBase") : NULL;
    Py_XDECREF(io);
    return class;
}

static Py_ssize_t number_of(PyObject *type, const char *attribute) {
    PyObject *number = PyObject_GetAttrString(type, attribute);
    Py_ssize_t n = number ? PyLong_AsSsize_t(number) : -1;
    Py_XDECREF(number);
    return n;
}

/* Returns the C base class of io.BufferedIOBase, as io's own files use, because BufferedIOBase has a
 * metaclass.  The stable ABI hides the base's layout, so this checks that struct asf__file begins with it. */
PyObject *asf__file_base(void) {
    PyObject *class = buffered_io_base();
    PyObject *base = class ? PyObject_GetAttrString(class, "__base__") : NULL;
    Py_XDECREF(class);
    if (!base || (number_of(base, "__basicsize__") == offsetof(struct asf__file, stream) &&
                  number_of(base, "__dictoffset__") == offsetof(struct asf__file, dict) &&
                  number_of(base, "__weakrefoffset__") == offsetof(struct asf__file, weak)))
        return base;
    Py_DECREF(base);
    PyErr_SetString(PyExc_ImportError,
                    "this Python's io.BufferedIOBase is laid out in another way: build asf for it");
    return NULL;
}

int asf__file_register(PyTypeObject *file) {
    PyObject *class = buffered_io_base();
    PyObject *registered = class ? PyObject_CallMethod(class, "register", "O", file) : NULL;
    Py_XDECREF(registered);
    Py_XDECREF(class);
    return registered ? 0 : -1;
}

/* --- types ------------------------------------------------------------ */

PyDoc_STRVAR(
    file_doc,
    "A file of bytes, which open() returns: an io.BufferedIOBase.\n\n"
    "It is used as a binary file of Python's own open() is, with the same results; io.TextIOWrapper and all\n"
    "else that takes such a file takes it.  Its data can also be used where it lies: lines_in_place() shows\n"
    "one line after the other, region() and its kin return a Region, for reading and writing.\n\n"
    "All calls go on where the last one has stopped.  Threads may share a file: each call is one step.\n"
    "Other threads run while one waits.  Errors are OSError with errno and filename.");
PyDoc_STRVAR(read_doc,
             "read($self, size=-1, /)\n--\n\n"
             "Return `size` bytes, fewer at the end of the file alone, all there are when it is negative\n"
             "or None.\n\n"
             "Of a descriptor that does not wait, what there is; BlockingIOError when there is nothing.");
PyDoc_STRVAR(read1_doc,
             "read1($self, size=-1, /)\n--\n\n"
             "Return at most `size` bytes (64 KB when it is negative), waiting only when there are none.");
PyDoc_STRVAR(readinto_doc,
             "readinto($self, buffer, /)\n--\n\n"
             "Fill a buffer, such as a bytearray; return the number of bytes, fewer at the end of the\n"
             "file alone.");
PyDoc_STRVAR(readinto1_doc,
             "readinto1($self, buffer, /)\n--\n\nAs readinto(), waiting only when there are no bytes.");
PyDoc_STRVAR(peek_doc,
             "peek($self, size=0, /)\n--\n\n"
             "Return bytes that come next, and do not go on: one or more but at the end, which may be\n"
             "fewer or more than `size`.");
PyDoc_STRVAR(truncate_doc,
             "truncate($self, size=None, /)\n--\n\n"
             "Cut the file to `size` bytes, or to the place, or lengthen it by zero bytes; return the\n"
             "size.  The place stays.");
PyDoc_STRVAR(detach_doc,
             "detach($self, /)\n--\n\nRaise io.UnsupportedOperation: there is no raw file below.");
PyDoc_STRVAR(readline_doc,
             "readline($self, size=-1, /)\n--\n\n"
             "Return the next line with its newline, or its first `size` bytes; b'' at the end.");
PyDoc_STRVAR(lines_doc, "lines($self, delimiter=b'\\n', keep=True, longest=sys.maxsize)\n--\n\n"
                        "Return an iterator over the lines that end with another byte.\n\n"
                        "  delimiter  the byte\n"
                        "  keep       whether the lines that are returned have it\n"
                        "  longest    bytes of the longest line with its delimiter; a longer one is OSError\n"
                        "             (EMSGSIZE), and the file stays before it");
PyDoc_STRVAR(lines_in_place_doc,
             "lines_in_place($self, delimiter=b'\\n', keep=True, longest=sys.maxsize)\n--\n\n"
             "As lines(), without copying: return an iterator whose items are one Line, which shows each\n"
             "line in turn.\n\n"
             "What it shows is valid until the next line is asked for, or the file is used otherwise:\n"
             "bytes(line), slices and split() make copies to keep.  BufferError: a memoryview of the line\n"
             "is left.");
PyDoc_STRVAR(region_doc,
             "region($self, size, /, *, write=False)\n--\n\n"
             "Return the next `size` bytes as a Region.\n\n"
             "Of input: fewer when the file ends, or a signal or an error comes before there are so\n"
             "many; none, a Region of length 0, at the end.  Of output: room for so many bytes.\n"
             "  write  output, of a file that is open for both");
PyDoc_STRVAR(region_some_doc,
             "region_some($self, size, /, *, write=False)\n--\n\n"
             "As region(), but content with a byte or more of input: it waits only when there is\n"
             "none.");
PyDoc_STRVAR(region_until_doc,
             "region_until($self, delimiter=b'\\n', longest=sys.maxsize)\n--\n\n"
             "Return the next line with its delimiter as a Region, of length 0 at the end.\n\n"
             "  longest  as for lines()");
PyDoc_STRVAR(region_at_doc,
             "region_at($self, offset, size, whence=0, /, *, write=False)\n--\n\n"
             "As seek(offset, whence) and region(size), with no other thread's call between.\n\n"
             "Regions of output may be held at many places of a file, in any order.");
PyDoc_STRVAR(write_doc, "write($self, data, /)\n--\n\n"
                        "Write all bytes of an object with the buffer protocol; return their number.\n\n"
                        "They are buffered until flush() or close(), or there are many.");
PyDoc_STRVAR(write_row_doc,
             "write_row($self, /, *values, separator='\\t')\n--\n\n"
             "Write a line of values with a separator between them, all of it or, if a value is refused,\n"
             "nothing.\n\n"
             "  values     int, as str() gives it; float, by the fewest digits that float() reads as the\n"
             "             same value; str, in UTF-8, and bytes, as they are, also if they have a\n"
             "             separator or a newline in them\n"
             "  separator  one byte, as str or bytes\n\n"
             "A float is the text of C++'s std::to_chars, whose form is not that of str(): 1 and not 1.0,\n"
             "1e+22, inf, nan.  NumPy's integers and float64 are int and float here.  TypeError: a bool,\n"
             "None or another type, of which str() or int() is to be written.");
PyDoc_STRVAR(
    write_columns_doc,
    "write_columns($self, columns, *, separator='\\t', threads=1)\n--\n\n"
    "Write arrays as the columns of a table, one row a line.\n\n"
    "  columns    a list or other iterable of columns of one length.  A column is an array of\n"
    "             NumPy, array.array, a memoryview or another with the buffer protocol; an object\n"
    "             with __array__(), such as a Series of pandas or polars and an array of pyarrow; or\n"
    "             a sequence of int and float, in which int are as float if there is a float.\n"
    "             Arrays have one dimension, any stride, and integers of 8 to 64 bits, float or\n"
    "             double.  One array or Series is one column.  list(a.T) has the columns of an\n"
    "             array of two dimensions\n"
    "  separator  as for write_row()\n"
    "  threads    how many format rows at the same time, at most; 0: as many as the process has\n"
    "             processors. The text is the same\n\n"
    "Numbers are written as write_row() does.  A float of 32 bits is written as the double of the\n"
    "same value: 0.10000000149011612.  Other threads run meanwhile.  If they change the arrays,\n"
    "the old or the new values are written.\n\n"
    "TypeError: a column is not of numbers.  ValueError: it has nulls (a nan is a number), or another\n"
    "length.  The message says which column, from 0 on, and nothing is written.");
PyDoc_STRVAR(read_columns_doc,
             "read_columns($self, fields, *, separator='\\t', rows=-1)\n--\n\n"
             "Read numbers from the next lines, one row a line; return a list of memoryviews, one for each\n"
             "field in the order in which they are given.  numpy.asarray() takes one without a copy.\n\n"
             "  fields     a mapping, or a list or tuple of pairs, of a field's number, the first of which\n"
             "             is 0, and its type: {0: 'q', 3: 'd'}.  'i' and 'q' are integers of 32 and 64\n"
             "             bits, 'd' is a double.  Other fields are skipped\n"
             "  separator  the byte between two fields, as str or bytes\n"
             "  rows       how many, or all if negative; there are fewer only at the end of the file\n\n"
             "A field is a number as C's strtoll() in base ten or strtod() reads it.  It may have blanks\n"
             "around it, and a carriage return after it.  A field in quotes is not a number.  An empty\n"
             "field is a nan ('d'), or an error ('i' and 'q').\n\n"
             "ValueError: a line lacks a field, or a field is no number or does not fit its type.  The\n"
             "file's position is then before that line.  OSError: EMSGSIZE, a line is longer than 1 MB.\n"
             "After an exception the rows that the call has read are lost.  If the descriptor does not\n"
             "wait, the call returns the rows that have come; BlockingIOError: there is none.");
PyDoc_STRVAR(writelines_doc, "writelines($self, lines, /)\n--\n\nWrite each item of an iterable.");
PyDoc_STRVAR(flush_doc,
             "flush($self, /)\n--\n\n"
             "Write what is buffered; of input, set the descriptor to where the file stands.\n\n"
             "BufferError: a region of output is not released, and what comes after it waits.  What a\n"
             "failed write has not written is lost.");
PyDoc_STRVAR(seek_doc,
             "seek($self, offset, whence=0, /)\n--\n\n"
             "Go to an offset from the beginning (0), the place (1) or the end (2); return the place.");
PyDoc_STRVAR(tell_doc, "tell($self, /)\n--\n\nReturn the place in the file.  Output is flushed.");
PyDoc_STRVAR(close_doc,
             "close($self, /)\n--\n\n"
             "Write what is buffered, close the file and its descriptor.\n\n"
             "BufferError: a Region of it, or a reader or writer of records on it, is not released; then\n"
             "nothing is closed.  A file may be closed twice.");
PyDoc_STRVAR(fileno_doc,
             "fileno($self, /)\n--\n\n"
             "Return the descriptor.  flush() before it is used by others.  A part, and input that\n"
             "open(decompress=True) decodes, have none: io.UnsupportedOperation.");

#define FAST(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef file_methods[] = {
    {"read", FAST(file_read), METH_FASTCALL, read_doc},
    {"read1", FAST(file_read1), METH_FASTCALL, read1_doc},
    {"readinto", file_readinto, METH_O, readinto_doc},
    {"readinto1", file_readinto1, METH_O, readinto1_doc},
    {"peek", FAST(file_peek), METH_FASTCALL, peek_doc},
    {"readline", FAST(file_readline), METH_FASTCALL, readline_doc},
    {"lines", FAST(asf__lines), METH_VARARGS | METH_KEYWORDS, lines_doc},
    {"lines_in_place", FAST(asf__lines_in_place), METH_VARARGS | METH_KEYWORDS, lines_in_place_doc},
    {"region", FAST(file_region), METH_VARARGS | METH_KEYWORDS, region_doc},
    {"region_some", FAST(file_region_some), METH_VARARGS | METH_KEYWORDS, region_some_doc},
    {"region_until", FAST(file_region_until), METH_VARARGS | METH_KEYWORDS, region_until_doc},
    {"region_at", FAST(file_region_at), METH_VARARGS | METH_KEYWORDS, region_at_doc},
    {"write", file_write, METH_O, write_doc},
    {"writelines", file_writelines, METH_O, writelines_doc},
    {"write_row", FAST(asf__write_row), METH_FASTCALL | METH_KEYWORDS, write_row_doc},
    {"write_columns", FAST(asf__write_columns), METH_VARARGS | METH_KEYWORDS, write_columns_doc},
    {"read_columns", FAST(asf__read_columns), METH_VARARGS | METH_KEYWORDS, read_columns_doc},
    {"flush", file_flush, METH_NOARGS, flush_doc},
    {"seek", file_seek, METH_VARARGS, seek_doc},
    {"tell", file_tell, METH_NOARGS, tell_doc},
    {"truncate", FAST(file_truncate), METH_FASTCALL, truncate_doc},
    {"close", file_close, METH_NOARGS, close_doc},
    {"detach", file_detach, METH_NOARGS, detach_doc},
    {"fileno", file_fileno, METH_NOARGS, fileno_doc},
    {"readable", file_readable, METH_NOARGS, "readable($self, /)\n--\n\nWhether it is open for reading."},
    {"writable", file_writable, METH_NOARGS, "writable($self, /)\n--\n\nWhether it is open for writing."},
    {"seekable", file_seekable, METH_NOARGS, "seekable($self, /)\n--\n\nWhether seek() can be used."},
    {"isatty", file_isatty, METH_NOARGS, "isatty($self, /)\n--\n\nWhether it is a terminal."},
    {"_dealloc_warn", file_dealloc_warn, METH_O, NULL},
    {"__enter__", file_enter_context, METH_NOARGS, NULL},
    {"__exit__", file_close, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef file_getset[] = {
    {"closed", file_closed, NULL, "Whether it is closed.", NULL},
    {"name", file_name, NULL, "What it was opened by: a path, that of a part, or a descriptor.", NULL},
    {"mode", file_mode, NULL, "The mode that it was opened in.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot file_slots[] = {
    {Py_tp_doc, (void *)file_doc},
    {Py_tp_dealloc, file_dealloc},
    {Py_tp_finalize, file_finalize},
    {Py_tp_traverse, file_traverse},
    {Py_tp_clear, file_clear},
    {Py_tp_repr, file_repr},
    {Py_tp_methods, file_methods},
    {Py_tp_getset, file_getset},
    {Py_tp_iter, file_iter},
    {Py_tp_iternext, file_next},
    {0, NULL},
};

PyType_Spec asf__file_spec = {
    .name = "asf.File",
    .basicsize = sizeof(struct asf__file),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_HAVE_GC,
    .slots = file_slots,
};
