/* SPDX-License-Identifier: MIT
 *
 * python_open.c - opens files, as Python's own open() does.
 */
#include "interfaces/python/python_module.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <asf/decode.h>

/* The meaning of a mode. */
struct opening {
    const char *mode; /* the File's mode */
    char bytes[4];    /* mode of the binary file under a text file */
    int flags;        /* flags for open() */
    bool text;
};

static bool is_mode(const char *mode) {
    size_t kinds = 0, letters = strlen(mode);
    for (const char *c = mode; *c; c++) {
        kinds += strchr("rwax", *c) != NULL;
        if (!strchr("rwaxbt+", *c) || strchr(c + 1, *c))
            return false;
    }
    return kinds == 1 && letters <= 3 && !(strchr(mode, 'b') && strchr(mode, 't'));
}

/* returns  false with an exception */
static bool parse_mode(const char *mode, struct opening *o) {
    if (!is_mode(mode)) {
        PyErr_Format(
            PyExc_ValueError,
            "mode '%s': it is 'r', 'w', 'a' or 'x'; 'b' after it for bytes, 't' or neither for text; "
            "and '+' to read and write",
            mode);
        return false;
    }
    bool plus = strchr(mode, '+');
    char kind = mode[strcspn(mode, "rwax")];
    int access = plus ? O_RDWR : kind == 'r' ? O_RDONLY : O_WRONLY;
    int creates = kind == 'w'   ? O_CREAT | O_TRUNC
                  : kind == 'a' ? O_CREAT | O_APPEND
                  : kind == 'x' ? O_CREAT | O_EXCL
                                : 0;
    *o = (struct opening){mode, {kind, 'b', plus ? '+' : 0, 0}, access | creates, !strchr(mode, 'b')};
    return true;
}

/* Raise the audit event of Python's open(). */
static bool audit(PyObject *path, const char *mode, int flags) {
    PyObject *sys_audit = PySys_GetObject("audit");
    PyObject *done = sys_audit ? PyObject_CallFunction(sys_audit, "sOsi", "open", path, mode, flags) : NULL;
    Py_XDECREF(done);
    return done || !sys_audit;
}

static int open_path(PyObject *path, const char *mode, int flags) {
    PyObject *bytes;
    int fd;
    if (!audit(path, mode, flags) || !PyUnicode_FSConverter(path, &bytes))
        return -1;
    const char *name = PyBytes_AsString(bytes);
    do {
        ASF_WITHOUT_GIL(fd = open(name, flags | O_CLOEXEC, 0666));
    } while (fd < 0 && asf__again(-errno));
    int error = errno;
    Py_DECREF(bytes);
    if (fd < 0)
        asf__raise(-error, path);
    return fd;
}

/* Returns the caller's descriptor; a duplicate of it without `closefd`. */
static int take_descriptor(PyObject *number, bool closefd) {
    long fd = PyLong_AsLong(number);
    if (fd == -1 && PyErr_Occurred())
        return -1;
    int taken = fd < 0 || fd > INT_MAX ? -1 : closefd ? (int)fd : fcntl((int)fd, F_DUPFD_CLOEXEC, 0);
    if (taken < 0)
        asf__raise(fd < 0 || fd > INT_MAX ? -EBADF : -errno, number);
    return taken;
}

/* Open the stream on a descriptor, which must not be a directory's.  A file opened to append starts at its
 * end. */
static bool open_stream(struct asf__file *f, int fd, int flags) {
    struct stat st;
    int set = fcntl(fd, F_GETFL), error = 0;
    if (set < 0 || fstat(fd, &st) < 0)
        error = -errno;
    else if (S_ISDIR(st.st_mode))
        error = -EISDIR;
    else
        f->stream = asf_sopen_fd(fd, (flags & O_ACCMODE) | (set & O_APPEND), &error);
    if (!f->stream) {
        asf__raise(error, f->name);
        return false;
    }
    if (flags & O_APPEND)
        lseek(fd, 0, SEEK_END);
    f->regular = S_ISREG(st.st_mode);
    return true;
}

static struct asf__file *new_file(struct asf__module *module, PyObject *name, const char *mode, int flags) {
    struct asf__file *f = (struct asf__file *)PyType_GenericAlloc(module->file, 0);
    if (!f)
        return NULL;
    f->name = Py_NewRef(name);
    memcpy(f->mode, mode, strlen(mode)); /* at most 3 letters */
    f->readable = (flags & O_ACCMODE) != O_WRONLY;
    f->writable = (flags & O_ACCMODE) != O_RDONLY;
    f->part = -1;
    f->now = f->readable ? ASF_READ : ASF_WRITE;
    f->lock = PyThread_allocate_lock();
    if (f->lock)
        return f;
    Py_DECREF((PyObject *)f);
    return (struct asf__file *)PyErr_NoMemory();
}

static PyObject *open_part(struct asf__module *module, PyObject *part, const struct opening *o) {
    if (o->flags != O_RDONLY)
        return PyErr_Format(PyExc_ValueError, "a part is opened for reading, not with mode '%s'", o->mode);
    if (!audit(PyStructSequence_GetItem(part, 0), o->mode, o->flags))
        return NULL;
    struct asf__file *f = new_file(module, part, o->text ? o->bytes : o->mode, o->flags);
    if (f && asf__open_part(f))
        return (PyObject *)f;
    Py_XDECREF((PyObject *)f);
    return NULL;
}

static PyObject *open_file(struct asf__module *module, PyObject *argument, const struct opening *o,
                           bool closefd) {
    if (closefd && Py_IS_TYPE(argument, module->part))
        return open_part(module, argument, o);
    bool number = PyLong_Check(argument);
    const char *mode = o->text ? o->bytes : o->mode;
    if (!number && !closefd)
        return PyErr_Format(PyExc_ValueError, "closefd=False needs a descriptor, not a name");
    PyObject *name = number ? Py_NewRef(argument) : PyOS_FSPath(argument);
    if (!name)
        return NULL;
    struct asf__file *f = new_file(module, name, mode, o->flags);
    int fd = !f ? -1 : number ? take_descriptor(name, closefd) : open_path(name, o->mode, o->flags);
    Py_DECREF(name);
    if (fd >= 0 && open_stream(f, fd, o->flags)) {
        f->shared = !closefd;
        return (PyObject *)f;
    }
    if (fd >= 0 && !(number && closefd))
        close(fd);
    Py_XDECREF((PyObject *)f);
    return NULL;
}

/* Close a file that open() does not return, and keep the exception. */
static void close_file(struct asf__file *f) {
    PyObject *error[3];
    PyErr_Fetch(&error[0], &error[1], &error[2]);
    asf__file_close(f);
    PyErr_Restore(error[0], error[1], error[2]);
}

/* If the file is compressed, read its decoded bytes from now on.  On failure close it.
 * returns  the file, or NULL with an exception */
static PyObject *decode(struct asf__file *f) {
    struct asf_cios *decoded;
    int error;
    do
        ASF_WITHOUT_GIL(decoded = asf_decode(f->stream, &error));
    while (!decoded && asf__again(error));
    if (decoded) {
        f->regular = f->regular && decoded == f->stream;
        f->stream = decoded;
        return (PyObject *)f;
    }
    asf__raise_decoding(error, f->name);
    close_file(f);
    Py_DECREF((PyObject *)f);
    return NULL;
}

/* Make a TextFile with the caller's mode.  On failure close the binary file. */
static PyObject *open_text(struct asf__module *module, struct asf__file *f, const char *mode,
                           PyObject *options, const char *newline) {
    PyObject *name = f ? PyUnicode_FromString(mode) : NULL;
    PyObject *text = name ? asf__text_new(module->text, f, options, newline) : NULL;
    if (text && PyObject_SetAttrString(text, "mode", name) < 0)
        Py_CLEAR(text);
    if (f && !text)
        close_file(f);
    Py_XDECREF(name);
    Py_XDECREF((PyObject *)f);
    return text;
}

static bool may_decode(struct asf__module *module, PyObject *file, const struct opening *o) {
    if (o->flags != O_RDONLY)
        PyErr_Format(PyExc_ValueError, "decompress=True is for reading, not for mode '%s'", o->mode);
    else if (Py_IS_TYPE(file, module->part))
        PyErr_SetString(PyExc_ValueError, "a part is decoded if it is cut by parts(decode=True)");
    return !PyErr_Occurred();
}

PyObject *asf__open(PyObject *module, PyObject *args, PyObject *keywords) {
    static char *names[] = {"file", "mode", "encoding", "errors", "newline", "closefd", "decompress", NULL};
    struct asf__module *state = PyModule_GetState(module);
    PyObject *file;
    const char *mode = "rb", *encoding = NULL, *errors = NULL, *newline = NULL;
    int closefd = 1, decompress = 0;
    struct opening o;
    if (!asf__parse(args, keywords, "O|s$zzzpp:open", names, &file, &mode, &encoding, &errors, &newline,
                    &closefd, &decompress) ||
        !parse_mode(mode, &o) || (decompress && !may_decode(state, file, &o)))
        return NULL;
    if (!o.text && (encoding || errors || newline))
        return PyErr_Format(
            PyExc_ValueError,
            "mode '%s' is of bytes: encoding, errors and newline are for text, such as mode 'r'", mode);
    PyObject *options =
        o.text ? Py_BuildValue("{szszsz}", "encoding", encoding, "errors", errors, "newline", newline) : NULL;
    PyObject *opened = !o.text || options ? open_file(state, file, &o, closefd) : NULL;
    if (opened && decompress)
        opened = decode((struct asf__file *)opened);
    if (o.text)
        opened = open_text(state, (struct asf__file *)opened, mode, options, newline);
    Py_XDECREF(options);
    return opened;
}

struct asf__file *asf__file_of(struct asf__module *module, PyObject *argument, const char *mode, bool *own) {
    struct opening o;
    *own = !Py_IS_TYPE(argument, module->file);
    if (!*own)
        return (struct asf__file *)Py_NewRef(argument);
    return parse_mode(mode, &o) ? (struct asf__file *)open_file(module, argument, &o, !PyLong_Check(argument))
                                : NULL;
}
