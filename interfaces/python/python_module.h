/* SPDX-License-Identifier: MIT
 *
 * python_module.h - what the files of the Python module share: its types, memory that is shown
 * by the buffer protocol, files and errors.
 *
 * The GIL guards all that is declared here.  It is given up where a call of libasf may wait; a
 * file's lock then keeps other threads from that file.
 */
#ifndef ASF_PYTHON_MODULE_H
#define ASF_PYTHON_MODULE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000 /* 3.11, the first stable ABI with the buffer protocol */
#include <Python.h>

#include <signal.h>
#include <stdbool.h>

#include <asf/asf.h>
#include <asf/lines.h>

/* The state of the module, which a type's methods find by PyType_GetModuleState; those of records are NULL
 * where libasf_record is left out. */
struct asf__module {
    PyTypeObject *file, *lines, *lines_in_place, *line, *region, *segment, *array, *column, *records, *format,
        *record_writer, *text, *part;
};

enum {
    ASF_PIECE = 1 << 16
}; /* bytes that are copied with the GIL, and read at once where no size is known */

/* The beginning of an object that shows memory: Region, Segment, Array. */
struct asf__memory {
    PyObject_HEAD char *at; /* NULL: it was given back */
    Py_ssize_t size, views;
    bool readonly;
};

/* Slots of such types, and a method __enter__. */
int asf__memory_getbuffer(PyObject *self, Py_buffer *view, int flags);
void asf__memory_releasebuffer(PyObject *self, Py_buffer *view);
Py_ssize_t asf__memory_length(PyObject *self);
PyObject *asf__memory_subscript(PyObject *self, PyObject *key);
int asf__memory_ass_subscript(PyObject *self, PyObject *key, PyObject *value);
PyObject *asf__memory_enter(PyObject *self, PyObject *unused);

/* The memory as a view of items of a struct's format, "d". */
PyObject *asf__memory_array(PyObject *self, const char *format);

/* A view is left: BufferError, and true. */
bool asf__memory_is_viewed(struct asf__memory *shown);

struct asf__file {
    PyObject_HEAD PyObject *dict, *weak; /* where io.BufferedIOBase has them, which asf__file_base checks */
    struct asf_cios *stream;             /* NULL: closed */
    PyObject *name;                      /* the path, the number of the descriptor, or the Part */
    char mode[4];
    bool readable, writable, regular;
    bool shared;     /* the caller keeps a descriptor, which is to stand where the file ended */
    Py_ssize_t part; /* bytes of the part that it is; -1: it is none, or ends where the input does */
    enum asf_mode now;
    int users;               /* readers and writers of records, which must go before the stream */
    PyThread_type_lock lock; /* held by who uses the stream on the slow path */
    unsigned long holder;    /* that thread, or 0: nobody is within a call */
    PyObject *iterator; /* whose lines are iterated over, borrowed: a Lines, the file itself, or NULL; None:
                         * of one that has gone, and the next call tells its error, `unsaid` */
    int unsaid;
    bool keep;                /* its lines have their delimiters */
    struct asf__memory *line; /* the iterator if it is a Line, which ends with the iteration; or NULL */
    struct asf_lines lines;
};

/* Begin to use a file: wait for other threads, end an iteration but `iterator`'s, and make it one that
 * reads or writes.
 *   mode     ASF_READ, ASF_WRITE, or ASF_ANY
 * returns  false with an exception; otherwise asf__file_leave ends it. */
enum { ASF_ANY = -1 };
bool asf__file_enter(struct asf__file *f, int mode, PyObject *iterator);
void asf__file_leave(struct asf__file *f);

/* The file that an argument is, or that is opened on the path or descriptor that it is; the descriptor stays
 * the caller's.  A new reference, or NULL with an exception. own  out: it was opened here, and is to be
 * closed. */
struct asf__file *asf__file_of(struct asf__module *module, PyObject *argument, const char *mode, bool *own);

/* The base of asf.File, a new reference; NULL with an exception.  And the class of io whose objects Files are
 * is told so, as io does for its own types. */
PyObject *asf__file_base(void);
int asf__file_register(PyTypeObject *file);

/* Close it: 0, or -1 with an exception. */
int asf__file_close(struct asf__file *f);

/* io.UnsupportedOperation.  returns  NULL. */
PyObject *asf__unsupported(const char *what);

PyObject *asf__copy_bytes(const void *from, ssize_t n);

/* The latest region of input is read again.  returns  0, or an error: the stream is after the region. */
int asf__read_again(struct asf__file *f, void *region);

/* Write n bytes of a file that was not entered: false with an exception. */
bool asf__file_write(struct asf__file *f, const char *from, ssize_t n);

/* The next line as a region, which has its delimiter unless the file ends before: what a signal leaves of it
 * is read again. */
void *asf__line_region(struct asf__file *f, unsigned char delimiter, ssize_t longest, ssize_t *n);

/* The next line of a file whose own iteration it is, in place with its newline; NULL as asf__next_line. Until
 * another call on the file asf__file_unread puts it back. */
const char *asf__file_line(struct asf__file *f, ssize_t *n);
bool asf__file_unread(struct asf__file *f, const char *line);

/* asf.TextFile, and one of it or a TextIOWrapper.  options: those of TextIOWrapper; newline: that of them. */
PyTypeObject *asf__text_type(PyObject *module);
PyObject *asf__text_new(PyTypeObject *type, struct asf__file *f, PyObject *options, const char *newline);

/* What parts the lines that an iterator asks for. */
struct asf__parting {
    unsigned char delimiter;
    bool keep;
    ssize_t longest;
};

/* The next line where none is at hand.  NULL at the end, or with an exception. */
PyObject *asf__wait_for_line(struct asf__file *f, PyObject *iterator, const struct asf__parting *by);

static inline bool asf__is_line_at_hand(const struct asf__file *f, const void *iterator) {
    return f->iterator == iterator && !f->holder && asf_lines_at_hand(&f->lines);
}

/* The next line: NULL at the end, or with an exception. */
static inline PyObject *asf__next_line(struct asf__file *f, PyObject *iterator,
                                       const struct asf__parting *by) {
    ssize_t n;
    if (!asf__is_line_at_hand(f, iterator))
        return asf__wait_for_line(f, iterator, by);
    const char *line = asf_lines_next(&f->lines, &n);
    return PyBytes_FromStringAndSize(line, n + f->keep);
}

/* The type asf.Part.  And what one says: false with an exception; else *path is a new reference to bytes. */
struct asf_part;
PyTypeObject *asf__part_type(void);
bool asf__part_of(PyObject *value, struct asf_part *part, PyObject **path);

/* Opens the stream of a file whose name is a Part: false with an exception. */
bool asf__open_part(struct asf__file *f);

/* The byte that an option `separator` is, a tab if it is NULL: -1 with an exception. */
int asf__separator_of(PyObject *option);

/* Methods of File. */
PyObject *asf__lines(PyObject *file, PyObject *args, PyObject *keywords);
PyObject *asf__lines_in_place(PyObject *file, PyObject *args, PyObject *keywords);
PyObject *asf__write_row(PyObject *file, PyObject *const *values, Py_ssize_t count, PyObject *names);
PyObject *asf__write_columns(PyObject *file, PyObject *args, PyObject *keywords);
PyObject *asf__read_columns(PyObject *file, PyObject *args, PyObject *keywords);

/* A new reference to a region of a file, or NULL with an exception. */
PyObject *asf__region_new(struct asf__file *f, void *at, ssize_t size);

/* An exception for a negated errno value, unless there is one: OSError with a file's name, which may be NULL;
 * BufferError for -EBUSY.
 * returns  NULL. */
PyObject *asf__raise(ssize_t code, PyObject *name);
PyObject *asf__raise_why(ssize_t code, const char *why, PyObject *name);

/* As PyArg_ParseTupleAndKeywords; an option that is not known is told with those that are. */
int asf__parse(PyObject *args, PyObject *keywords, const char *format, char **names, ...);

/* Whether a call that a signal has ended is to be made again: its handlers have run, and raised nothing. */
bool asf__again(ssize_t code);

/* A call that may wait. */
#define ASF_WITHOUT_GIL(call)                                                                                \
    do {                                                                                                     \
        Py_BEGIN_ALLOW_THREADS call;                                                                         \
        Py_END_ALLOW_THREADS                                                                                 \
    } while (0)

/* A call that may write, too: none of the signals that a program may handle and go on ends it. */
void asf__hold_signals(const struct asf__file *f, sigset_t *before);
void asf__let_signals(const struct asf__file *f, const sigset_t *before);
#define ASF_PUTTING(f, call)                                                                                 \
    do {                                                                                                     \
        sigset_t before;                                                                                     \
        Py_BEGIN_ALLOW_THREADS asf__hold_signals(f, &before);                                                \
        call;                                                                                                \
        asf__let_signals(f, &before);                                                                        \
        Py_END_ALLOW_THREADS                                                                                 \
    } while (0)

/* The types of each file. */
extern PyType_Spec asf__file_spec, asf__lines_spec, asf__lines_in_place_spec, asf__line_spec;
extern PyType_Spec asf__region_spec, asf__segment_spec, asf__array_spec, asf__column_spec;
extern PyType_Spec asf__records_spec, asf__format_spec, asf__record_writer_spec;

/* The functions of the module. */
PyObject *asf__open(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *asf__parts(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *asf__create_segment(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *asf__open_segment(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *asf__remove_segment(PyObject *module, PyObject *label);
PyObject *asf__read_arrays(PyObject *module, PyObject *file);
PyObject *asf__write_arrays(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *asf__read_columns_of(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *asf__records(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *asf__record_format(PyObject *module, PyObject *args);
PyObject *asf__record_writer(PyObject *module, PyObject *args, PyObject *keywords);

#endif
