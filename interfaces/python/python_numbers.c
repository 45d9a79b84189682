/* SPDX-License-Identifier: MIT
 *
 * python_numbers.c - formats values as text, one row per line.
 */
#include "interfaces/python/python_module.h"

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

/* The text of a row, in separate memory if it is long. */
struct row {
    char *text;
    Py_ssize_t used, room;
    char small[512];
};

/* Reserve n bytes after the text.  NULL with an exception. */
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
