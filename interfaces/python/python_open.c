/* SPDX-License-Identifier: MIT
 *
 * python_open.c - opening files, as Python's own open() does.
 * Layer: interfaces/python.
 */
#include "interfaces/python/python_module.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* returns  the flags of open(), or -1 with an exception. */
static int parse_mode(const char *mode) {
    size_t length = strlen(mode), kinds = strcspn(mode, "rwax");
    bool plus = strchr(mode, '+'), binary = strchr(mode, 'b');
    if (kinds == length || !binary || length != 2U + plus) {
        PyErr_Format(PyExc_ValueError, "mode '%s': 'rb', 'wb', 'ab' or 'xb', or one of these and '+'", mode);
        return -1;
    }
    int access = plus ? O_RDWR : mode[kinds] == 'r' ? O_RDONLY : O_WRONLY;
    switch (mode[kinds]) {
    case 'w':
        return access | O_CREAT | O_TRUNC;
    case 'a':
        return access | O_CREAT | O_APPEND;
    case 'x':
        return access | O_CREAT | O_EXCL;
    default:
        return access;
    }
}

/* As Python's open() tells those who watch for it. */
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

/* A descriptor of the caller's, or another on the same file. */
static int take_descriptor(PyObject *number, bool closefd) {
    long fd = PyLong_AsLong(number);
    if (fd == -1 && PyErr_Occurred())
        return -1;
    int taken = fd < 0 || fd > INT_MAX ? -1 : closefd ? (int)fd : fcntl((int)fd, F_DUPFD_CLOEXEC, 0);
    if (taken < 0)
        asf__raise(fd < 0 || fd > INT_MAX ? -EBADF : -errno, number);
    return taken;
}

/* The stream on a descriptor, which is one of a file, not of a directory; a file that is appended to begins
 * at its end. */
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
    strncpy(f->mode, mode, sizeof f->mode - 1);
    f->readable = (flags & O_ACCMODE) != O_WRONLY;
    f->writable = (flags & O_ACCMODE) != O_RDONLY;
    f->now = f->readable ? ASF_READ : ASF_WRITE;
    f->lock = PyThread_allocate_lock();
    if (f->lock)
        return f;
    Py_DECREF((PyObject *)f);
    return (struct asf__file *)PyErr_NoMemory();
}

static PyObject *open_file(struct asf__module *module, PyObject *argument, const char *mode, bool closefd) {
    bool number = PyLong_Check(argument);
    int flags = parse_mode(mode);
    if (flags < 0)
        return NULL;
    if (!number && !closefd)
        return PyErr_Format(PyExc_ValueError, "closefd=False needs a descriptor, not a name");
    PyObject *name = number ? Py_NewRef(argument) : PyOS_FSPath(argument);
    if (!name)
        return NULL;
    struct asf__file *f = new_file(module, name, mode, flags);
    int fd = !f ? -1 : number ? take_descriptor(name, closefd) : open_path(name, mode, flags);
    Py_DECREF(name);
    if (fd >= 0 && open_stream(f, fd, flags)) {
        f->shared = !closefd;
        return (PyObject *)f;
    }
    if (fd >= 0 && !(number && closefd))
        close(fd);
    Py_XDECREF((PyObject *)f);
    return NULL;
}

PyObject *asf__open(PyObject *module, PyObject *args, PyObject *keywords) {
    static char *names[] = {"file", "mode", "closefd", NULL};
    PyObject *file;
    const char *mode = "rb";
    int closefd = 1;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|s$p:open", names, &file, &mode, &closefd))
        return NULL;
    return open_file(PyModule_GetState(module), file, mode, closefd);
}

struct asf__file *asf__file_of(struct asf__module *module, PyObject *argument, const char *mode, bool *own) {
    *own = !Py_IS_TYPE(argument, module->file);
    return (struct asf__file *)(*own ? open_file(module, argument, mode, !PyLong_Check(argument))
                                     : Py_NewRef(argument));
}
