/* SPDX-License-Identifier: MIT
 *
 * python_numbers.c - numbers as text: rows of values, and columns of arrays.  Columns are written and read
 * without the GIL.
 */
#include "interfaces/python/python_module.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <asf/numbers.h>

/* --- separators ------------------------------------------------------------ */

/* Returns the separator byte of an option; a tab if the option was not given; -1 with an exception. */
int asf__separator_of(PyObject *option) {
    const char *text = "\t";
    Py_ssize_t n = 1;
    if (option && PyBytes_Check(option)) {
        text = PyBytes_AsString(option);
        n = PyBytes_Size(option);
    } else if (option && PyUnicode_Check(option)) {
        text = PyUnicode_AsUTF8AndSize(option, &n);
    } else if (option) {
        PyErr_SetString(PyExc_TypeError, "a separator is a str or bytes");
        return -1;
    }
    if (text && n == 1 && *text != '\n')
        return (unsigned char)*text;
    if (text)
        PyErr_Format(PyExc_ValueError, "a separator is one byte and no newline, not %R", option);
    return -1;
}

/* --- a row of values ------------------------------------------------------------ */

/* The text of a row, in memory of its own if it is long. */
struct row {
    char *text;
    Py_ssize_t used, room;
    char small[512];
};

/* Room for n bytes after the text: NULL with an exception. */
static char *reserve(struct row *r, Py_ssize_t n) {
    if (n > PY_SSIZE_T_MAX / 2 - r->used) {
        PyErr_NoMemory();
        return NULL;
    }
    if (n > r->room - r->used) {
        Py_ssize_t room = 2 * (r->used + n);
        char *text = PyMem_Realloc(r->text == r->small ? NULL : r->text, (size_t)room);
        if (!text) {
            PyErr_NoMemory();
            return NULL;
        }
        if (r->text == r->small)
            memcpy(text, r->small, (size_t)r->used);
        r->text = text;
        r->room = room;
    }
    return r->text + r->used;
}

static bool append_bytes(struct row *r, const char *from, Py_ssize_t n) {
    char *to = from ? reserve(r, n) : NULL;
    if (!to)
        return false;
    memcpy(to, from, (size_t)n);
    r->used += n;
    return true;
}

static bool append_text(struct row *r, PyObject *text) {
    Py_ssize_t n = 0;
    const char *bytes = PyUnicode_AsUTF8AndSize(text, &n);
    return append_bytes(r, bytes, n);
}

static bool append_integer(struct row *r, PyObject *value) {
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow) {
        PyObject *text = PyNumber_ToBase(value, 10);
        bool appended = text && append_text(r, text);
        Py_XDECREF(text);
        return appended;
    }
    char *to = number == -1 && PyErr_Occurred() ? NULL : reserve(r, ASF_INTEGER_ROOM);
    if (to)
        r->used += asf_digits_int(to, number) - to;
    return to;
}

static bool append_value(struct row *r, PyObject *value) {
    if (PyFloat_Check(value)) {
        char *to = reserve(r, ASF_DOUBLE_ROOM);
        if (to)
            r->used += asf_digits_double(to, PyFloat_AsDouble(value)) - to;
        return to;
    }
    if (PyUnicode_Check(value))
        return append_text(r, value);
    if (PyBytes_Check(value))
        return append_bytes(r, PyBytes_AsString(value), PyBytes_Size(value));
    if (PyIndex_Check(value) && !PyBool_Check(value))
        return append_integer(r, value);
    PyErr_Format(PyExc_TypeError,
                 "a value of a row is an int, a float, a str or bytes, not %R: write str() or int() of it",
                 (PyObject *)Py_TYPE(value));
    return false;
}

static bool append_row(struct row *r, PyObject *const *values, Py_ssize_t count, int separator) {
    const char byte = (char)separator;
    for (Py_ssize_t i = 0; i < count; i++)
        if ((i > 0 && !append_bytes(r, &byte, 1)) || !append_value(r, values[i]))
            return false;
    return append_bytes(r, "\n", 1);
}

/* Sets *option to the value of `separator`, the only option of write_row, or to NULL if it was not given.
 * Returns false with an exception for another option. */
static bool only_option(PyObject *const *values, PyObject *names, PyObject **option) {
    Py_ssize_t count = names ? PyTuple_Size(names) : 0;
    *option = count > 0 ? values[0] : NULL;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *name = PyTuple_GetItem(names, i);
        if (PyUnicode_CompareWithASCIIString(name, "separator") != 0) {
            PyErr_Format(PyExc_TypeError, "write_row() has no option %R: it has ['separator']", name);
            return false;
        }
    }
    return true;
}

PyObject *asf__write_row(PyObject *self, PyObject *const *values, Py_ssize_t count, PyObject *names) {
    struct row r = {.text = r.small, .room = sizeof r.small};
    PyObject *option;
    int separator = only_option(values + count, names, &option) ? asf__separator_of(option) : -1;
    bool written = separator >= 0 && append_row(&r, values, count, separator) &&
                   asf__file_write((struct asf__file *)self, r.text, r.used);
    if (r.text != r.small)
        PyMem_Free(r.text);
    return written ? Py_NewRef(Py_None) : NULL;
}

/* --- columns of arrays, to text ------------------------------------------------------------ */

/* Types of items.  Each group is in the order of its sizes: kind_of adds the logarithm of a size. */
enum kind { INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, FLOAT32, FLOAT64 };

struct column {
    Py_buffer view; /* obj is NULL: it was not taken */
    const char *next;
    Py_ssize_t step; /* bytes from one item to the next */
    enum kind kind;
};

struct table {
    struct column *columns;
    Py_ssize_t count, rows;
    char separator;
};

static bool is_one_of(const char *letters, char letter) {
    return letter && strchr(letters, letter);
}

/* The kind of items of a format of struct, in the machine's byte order.  Integers are told by their size:
 * "l" has four bytes or eight. */
static bool kind_of(const Py_buffer *view, enum kind *kind) {
    const char *format = view->format ? view->format : "B";
    format += is_one_of(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "@=<" : "@=>", *format);
    if (!*format || format[1] || !is_one_of("bhilqnBHILQNfd", *format))
        return false;
    enum kind first = is_one_of("bhilqn", *format) ? INT8 : UINT8;
    if (is_one_of("fd", *format))
        *kind = *format == 'f' ? FLOAT32 : FLOAT64;
    else
        *kind = (enum kind)((int)first + __builtin_ctz((unsigned)view->itemsize));
    return true;
}

static bool take_column(struct column *c, PyObject *array) {
    if (!PyObject_CheckBuffer(array)) {
        PyErr_Format(PyExc_TypeError, "a column is an array with the buffer protocol, not %R",
                     (PyObject *)Py_TYPE(array));
        return false;
    }
    if (PyObject_GetBuffer(array, &c->view, PyBUF_RECORDS_RO) < 0)
        return false;
    if (c->view.ndim != 1) {
        PyErr_Format(PyExc_ValueError,
                     "a column has one dimension, not %d: list(array.T) has the columns of two",
                     c->view.ndim);
        return false;
    }
    if (!kind_of(&c->view, &c->kind)) {
        PyErr_Format(PyExc_TypeError, "a column is of integers or floats of this machine, not of format '%s'",
                     c->view.format);
        return false;
    }
    c->next = c->view.buf;
    c->step = c->view.strides[0];
    return true;
}

static void free_table(struct table *t) {
    for (Py_ssize_t i = 0; t->columns && i < t->count; i++)
        if (t->columns[i].view.obj)
            PyBuffer_Release(&t->columns[i].view);
    PyMem_Free(t->columns);
}

/* Takes the buffers of columns, which must have equally many rows.  The caller calls free_table in any case.
 *   arrays  a tuple
 * returns  false with an exception. */
static bool take_columns(struct table *t, PyObject *arrays) {
    t->count = PyTuple_Size(arrays);
    t->columns = PyMem_Calloc((size_t)t->count + 1, sizeof *t->columns);
    if (!t->columns)
        PyErr_NoMemory();
    else if (t->count == 0)
        PyErr_SetString(PyExc_ValueError, "there is no column");
    for (Py_ssize_t i = 0; !PyErr_Occurred() && i < t->count; i++) {
        if (!take_column(&t->columns[i], PyTuple_GetItem(arrays, i)))
            break;
        Py_ssize_t rows = t->columns[i].view.shape[0];
        t->rows = i == 0 ? rows : t->rows;
        if (rows != t->rows)
            PyErr_Format(PyExc_ValueError, "column %zd has %zd rows, and those before it have %zd", i, rows,
                         t->rows);
    }
    return !PyErr_Occurred();
}

#define DIGITS(as, type, from)                                                                               \
    {                                                                                                        \
        type value;                                                                                          \
        memcpy(&value, from, sizeof value);                                                                  \
        return asf_digits_##as(to, value);                                                                   \
    }

static inline char *put_digits(char *to, const char *from, enum kind kind) {
    switch (kind) {
    case INT8:
        DIGITS(int, int8_t, from)
    case INT16:
        DIGITS(int, int16_t, from)
    case INT32:
        DIGITS(int, int32_t, from)
    case INT64:
        DIGITS(int, int64_t, from)
    case UINT8:
        DIGITS(uint, uint8_t, from)
    case UINT16:
        DIGITS(uint, uint16_t, from)
    case UINT32:
        DIGITS(uint, uint32_t, from)
    case UINT64:
        DIGITS(uint, uint64_t, from)
    case FLOAT32:
        DIGITS(double, float, from)
    case FLOAT64:
        break;
    }
    DIGITS(double, double, from)
}

/* Writes all rows.  The text is copied to the stream 16 KB at a time: so it stays in the first-level cache
 * until it is copied, and the stream is locked seldom. */
static int put_rows(struct asf_cios *stream, const struct table *t) {
    char text[16384], *to = text, *const full = text + sizeof text - ASF_DOUBLE_ROOM - 1;
    for (Py_ssize_t row = 0; row < t->rows; row++) {
        for (struct column *c = t->columns; c < t->columns + t->count; c++) {
            int rc = to > full ? asf_put_text(stream, text, (size_t)(to - text)) : 0;
            if (rc < 0)
                return rc;
            to = put_digits(to > full ? text : to, c->next, c->kind);
            c->next += c->step;
            *to++ = t->separator;
        }
        to[-1] = '\n';
    }
    return asf_put_text(stream, text, (size_t)(to - text));
}

static bool write_table(struct asf__file *f, const struct table *t) {
    int rc;
    if (!asf__file_enter(f, ASF_WRITE, NULL))
        return false;
    ASF_PUTTING(f, rc = put_rows(f->stream, t));
    if (rc == -EINTR)
        PyErr_CheckSignals();
    if (rc < 0)
        asf__raise(rc, f->name);
    asf__file_leave(f);
    return rc == 0;
}

PyObject *asf__write_columns(PyObject *self, PyObject *args, PyObject *keywords) {
    static char *names[] = {"columns", "separator", NULL};
    PyObject *columns, *option = NULL;
    if (!asf__parse(args, keywords, "O|$O:write_columns", names, &columns, &option))
        return NULL;
    int separator = asf__separator_of(option);
    if (separator < 0)
        return NULL;
    PyObject *arrays = PyObject_CheckBuffer(columns) ? PyTuple_Pack(1, columns) : PySequence_Tuple(columns);
    if (!arrays)
        return NULL;
    struct table t = {.separator = (char)separator};
    bool written = take_columns(&t, arrays) && write_table((struct asf__file *)self, &t);
    free_table(&t);
    Py_DECREF(arrays);
    return written ? Py_NewRef(Py_None) : NULL;
}
