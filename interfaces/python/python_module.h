/* SPDX-License-Identifier: MIT
 *
 * python_module.h - shared by the files of the Python module: its types, objects with the buffer protocol,
 * files and errors.
 *
 * The GIL protects all data declared here.  It is released where a call of libasf may wait; the file's lock
 * then keeps other threads from that file.
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

/* The state of the module, which methods get by PyType_GetModuleState.  The types of records are NULL in a
 * build without libasf_record. */
struct asf__module {
    PyTypeObject *file, *lines, *lines_in_place, *line, *region, *segment, *array, *column, *records, *format,
        *record_writer, *text, *part;
};

enum {
    ASF_PIECE = 1 << 16
}; /* the most bytes copied with the GIL held; also the bytes of a read without a size */

/* The beginning of an object that shows memory: Region, Segment, Array, Column, Line. */
struct asf__memory {
    PyObject_HEAD char *at; /* NULL: given back */
    Py_ssize_t size, views;
    bool readonly;
};

/* Slots of types that show memory, and the method __enter__. */
int asf__memory_getbuffer(PyObject *self, Py_buffer *view, int flags);
void asf__memory_releasebuffer(PyObject *self, Py_buffer *view);
Py_ssize_t asf__memory_length(PyObject *self);
PyObject *asf__memory_subscript(PyObject *self, PyObject *key);
int asf__memory_ass_subscript(PyObject *self, PyObject *key, PyObject *value);
PyObject *asf__memory_enter(PyObject *self, PyObject *unused);

/* Returns the memory as a view of items.  `format` is a code of Python's module struct, such as "d". */
PyObject *asf__memory_array(PyObject *self, const char *format);

/* Slot of types that only show memory: "<asf.Array of 16 bytes>". */
PyObject *asf__memory_repr(PyObject *self);

/* Returns true, with BufferError, if a view exists. */
bool asf__memory_is_viewed(struct asf__memory *shown);

struct asf__file {
    PyObject_HEAD PyObject *dict, *weak; /* io.BufferedIOBase has the same two members here */
    struct asf_cios *stream;             /* NULL: closed */
    PyObject *name;                      /* the path, the descriptor's number, or the Part */
    char mode[4];
    bool readable, writable, regular;
    bool shared;     /* opened with closefd=False: close() sets the descriptor's offset to the file's */
    Py_ssize_t part; /* size of the part; negative: no part, or it ends where the input ends */
    enum asf_mode now;
    int users;               /* number of record readers and writers; each must be closed before the stream */
    PyThread_type_lock lock; /* held between asf__file_enter and asf__file_leave */
    unsigned long holder;    /* the thread that holds `lock`; 0: none */
    PyObject *iterator; /* the current iterator, borrowed: a Lines, a Line, the file itself, or NULL.  None:
                           the iterator was freed, and the next call raises `unsaid` */
    int unsaid;
    bool keep;                /* the iterator's lines include their delimiters */
    struct asf__memory *line; /* the iterator if it is a Line; or NULL */
    struct asf_lines lines;
};

/* Begin to use a file: wait for other threads, end an iteration unless it is `iterator`'s, and prepare to
 * read or write.
 *   mode     ASF_READ, ASF_WRITE, or ASF_ANY
 * returns  false with an exception; otherwise the caller calls asf__file_leave */
enum { ASF_ANY = -1 };
bool asf__file_enter(struct asf__file *f, int mode, PyObject *iterator);
void asf__file_leave(struct asf__file *f);

/* Returns the argument if it is a File, or a File opened on the path, descriptor or Part.  The caller keeps
 * the descriptor.  The result is a new reference, or NULL with an exception.
 *   own  out: the file was opened here, and the caller closes it */
struct asf__file *asf__file_of(struct asf__module *module, PyObject *argument, const char *mode, bool *own);

/* asf__file_base: returns the base class of asf.File, a new reference; NULL with an exception.
 * asf__file_register: register asf.File as an io.BufferedIOBase, as io does for its own types. */
PyObject *asf__file_base(void);
int asf__file_register(PyTypeObject *file);

/* Returns the repr of an object that uses a file: "<asf.Lines of 'path'>". */
PyObject *asf__repr_on(PyObject *self, const struct asf__file *f, bool open);

/* Close the file.  Returns 0, or -1 with an exception. */
int asf__file_close(struct asf__file *f);

/* Raise io.UnsupportedOperation.  Returns NULL. */
PyObject *asf__unsupported(const char *what);

PyObject *asf__copy_bytes(const void *from, ssize_t n);

/* Give the latest region of input back unread: the next read returns its bytes again.  Returns 0, or an
 * error, after which the stream continues after the region. */
int asf__read_again(struct asf__file *f, void *region);

/* Write n bytes; the caller has not entered the file.  Returns false with an exception. */
bool asf__file_write(struct asf__file *f, const char *from, ssize_t n);

/* Allocate the next line as a region, with its delimiter unless the file ends first.  A line that a signal
 * cuts short is read again. */
void *asf__line_region(struct asf__file *f, unsigned char delimiter, ssize_t longest, ssize_t *n);

/* asf__file_line: returns the next line in place, with its newline, if the file itself is the iterator; NULL
 * like asf__next_line.
 * asf__file_unread: put the line back; valid until another call on the file. */
const char *asf__file_line(struct asf__file *f, ssize_t *n);
bool asf__file_unread(struct asf__file *f, const char *line);

/* asf__text_type: returns the type asf.TextFile.
 * asf__text_new: returns a TextFile or TextIOWrapper on the file, with TextIOWrapper's options.  `newline` is
 * also in `options`. */
PyTypeObject *asf__text_type(PyObject *module);
PyObject *asf__text_new(PyTypeObject *type, struct asf__file *f, PyObject *options, const char *newline);

/* How an iterator separates lines. */
struct asf__parting {
    unsigned char delimiter;
    bool keep;
    ssize_t longest;
};

/* Returns the next line if none is buffered; NULL at the end, or with an exception. */
PyObject *asf__wait_for_line(struct asf__file *f, PyObject *iterator, const struct asf__parting *by);

static inline bool asf__is_line_at_hand(const struct asf__file *f, const void *iterator) {
    return f->iterator == iterator && !f->holder && asf_lines_at_hand(&f->lines);
}

/* Returns the next line; NULL at the end, or with an exception. */
static inline PyObject *asf__next_line(struct asf__file *f, PyObject *iterator,
                                       const struct asf__parting *by) {
    ssize_t n;
    if (!asf__is_line_at_hand(f, iterator))
        return asf__wait_for_line(f, iterator, by);
    const char *line = asf_lines_next(&f->lines, &n);
    return PyBytes_FromStringAndSize(line, n + f->keep);
}

/* asf__part_type: returns the type asf.Part.
 * asf__part_of: convert a Part; *path is a new reference to bytes.  Returns false with an exception. */
struct asf_part;
PyTypeObject *asf__part_type(void);
bool asf__part_of(PyObject *value, struct asf_part *part, PyObject **path);

/* Open the stream of a file whose name is a Part.  Returns false with an exception. */
bool asf__open_part(struct asf__file *f);

/* Parse the option `separator`: returns the byte; a tab if the option is NULL; -1 with an exception. */
int asf__separator_of(PyObject *option);

/* Methods of File. */
PyObject *asf__lines(PyObject *file, PyObject *args, PyObject *keywords);
PyObject *asf__lines_in_place(PyObject *file, PyObject *args, PyObject *keywords);
PyObject *asf__write_row(PyObject *file, PyObject *const *values, Py_ssize_t count, PyObject *names);
PyObject *asf__write_columns(PyObject *file, PyObject *args, PyObject *keywords);
PyObject *asf__read_columns(PyObject *file, PyObject *args, PyObject *keywords);

/* Returns a new reference to a Region, or NULL with an exception. */
PyObject *asf__region_new(struct asf__file *f, void *at, ssize_t size);

/* Raise an exception for a negated errno value, unless one is set: BufferError for -EBUSY, else OSError with
 * the file's name, which may be NULL.
 * returns  NULL */
PyObject *asf__raise(ssize_t code, PyObject *name);
PyObject *asf__raise_why(ssize_t code, const char *why, PyObject *name);

/* Like asf__raise; -ENOTSUP means that the input is compressed and its decoder is missing. */
PyObject *asf__raise_decoding(ssize_t code, PyObject *name);

/* Like PyArg_ParseTupleAndKeywords; the message about an unknown option lists the known ones. */
int asf__parse(PyObject *args, PyObject *keywords, const char *format, char **names, ...);

/* Returns whether to repeat an interrupted call: the signal handlers have run and raised no exception. */
bool asf__again(ssize_t code);

/* Run a call that may wait, without the GIL. */
#define ASF_WITHOUT_GIL(call)                                                                                \
    do {                                                                                                     \
        Py_BEGIN_ALLOW_THREADS call;                                                                         \
        Py_END_ALLOW_THREADS                                                                                 \
    } while (0)

/* Run a call that may write, without the GIL.  Signals that a program may handle and survive are blocked
 * during the call. */
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

/* The types that each file defines. */
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
