/* SPDX-License-Identifier: MIT
 *
 * python_columns.c - reads columns of numbers from text into arrays: from the next lines of a file, or from a
 * whole file with several threads.
 */
#include "interfaces/python/python_module.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <asf/parts.h>

/* A column to read. */
struct target {
    Py_ssize_t field, place; /* place: index in the returned list */
    char format[2];          /* a format code of Python's module struct: "i", "q" or "d" */
    PyObject *bytes;         /* bytearray with room for the rows, or a Column */
};

struct targets {
    struct target *of; /* sorted by field */
    struct asf_column *columns;
    Py_ssize_t count, room; /* room: allocated rows */
};

static Py_ssize_t size_of(const struct target *t) {
    return t->format[0] == 'i' ? 4 : 8;
}

static enum asf_column_type type_of(const struct target *t) {
    return t->format[0] == 'i' ? ASF_INT32 : t->format[0] == 'q' ? ASF_INT64 : ASF_DOUBLE;
}

static int compare_fields(const void *a, const void *b) {
    Py_ssize_t one = ((const struct target *)a)->field, other = ((const struct target *)b)->field;
    return (one > other) - (one < other);
}

static bool parse_pair(struct target *t, PyObject *pair) {
    PyObject *format;
    if (!PyTuple_Check(pair)) {
        PyErr_SetString(PyExc_TypeError, "fields are pairs of a number and a type, such as (3, 'd')");
        return false;
    }
    if (!PyArg_ParseTuple(pair, "nU:read_columns", &t->field, &format))
        return false;
    for (const char *known = "iqd"; *known && !t->format[0]; known++)
        if (PyUnicode_CompareWithASCIIString(format, (const char[]){*known, '\0'}) == 0)
            t->format[0] = *known;
    if (t->field < 0)
        PyErr_Format(PyExc_ValueError, "the first field is 0, and there is no %zd", t->field);
    else if (!t->format[0])
        PyErr_Format(PyExc_ValueError, "the type of a field is 'i', 'q' or 'd', not %R", format);
    return !PyErr_Occurred();
}

/* Parse pairs, and sort them by field number.  The caller calls free_targets in any case.
 *   pairs  a list
 * returns  false with an exception */
static bool parse_fields(struct targets *t, PyObject *pairs) {
    t->count = PyList_Size(pairs);
    t->of = PyMem_Calloc((size_t)t->count + 1, sizeof *t->of);
    t->columns = PyMem_Calloc((size_t)t->count + 1, sizeof *t->columns);
    if (!t->of || !t->columns) {
        PyErr_NoMemory();
        return false;
    }
    if (t->count == 0)
        PyErr_SetString(PyExc_ValueError, "there is no field");
    for (Py_ssize_t i = 0; !PyErr_Occurred() && i < t->count; i++) {
        t->of[i].place = i;
        if (!parse_pair(&t->of[i], PyList_GetItem(pairs, i)))
            return false;
    }
    qsort(t->of, (size_t)t->count, sizeof *t->of, compare_fields);
    for (Py_ssize_t i = 1; !PyErr_Occurred() && i < t->count; i++)
        if (t->of[i].field == t->of[i - 1].field)
            PyErr_Format(PyExc_ValueError, "field %zd comes twice", t->of[i].field);
    return !PyErr_Occurred();
}

static void free_targets(struct targets *t) {
    for (Py_ssize_t i = 0; t->of && i < t->count; i++)
        Py_XDECREF(t->of[i].bytes);
    PyMem_Free(t->of);
    PyMem_Free(t->columns);
}

/* Resize the arrays to `rows` rows.  Returns false with an exception. */
static bool resize_targets(struct targets *t, Py_ssize_t rows) {
    for (struct target *each = t->of; each < t->of + t->count; each++) {
        if (rows > PY_SSIZE_T_MAX / 16) {
            PyErr_NoMemory();
            return false;
        }
        if (!each->bytes)
            each->bytes = PyByteArray_FromStringAndSize(NULL, rows * size_of(each));
        else if (PyByteArray_Resize(each->bytes, rows * size_of(each)) < 0)
            return false;
        if (!each->bytes)
            return false;
    }
    t->room = rows;
    return true;
}

/* Returns the list of views for the caller. */
static PyObject *views_of(const struct targets *t) {
    PyObject *list = PyList_New(t->count);
    for (Py_ssize_t i = 0; list && i < t->count; i++) {
        PyObject *view = asf__memory_array(t->of[i].bytes, t->of[i].format);
        if (!view || PyList_SetItem(list, t->of[i].place, view) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* Raise the exception for a line that is not a row.  The message shows up to 60 bytes of the line, as far as
 * they are buffered.  The line stays unread. */
static void refuse_row(struct asf__file *f, Py_ssize_t row, int64_t code) {
    const char *why = code == -ERANGE ? "an integer is too large for its type"
                                      : "a field is missing or is not a number of its type";
    ssize_t n = 60;
    char *line = asf_salloc_some(f->stream, &n);
    const char *end = line ? memchr(line, '\n', (size_t)n) : NULL;
    PyObject *shown = PyBytes_FromStringAndSize(line, !line ? 0 : end ? end - line : n);
    if (line)
        asf__read_again(f, line);
    if (shown)
        PyErr_Format(PyExc_ValueError, "%R: line %zd from where the call began: %s: %R", f->name, row + 1,
                     why, shown);
    Py_XDECREF(shown);
}

/* Read up to `most` rows; `got` rows were read before.
 * returns  the number of rows; 0 at the end; -EAGAIN; -1 with an exception */
static int64_t scan_piece(struct asf__file *f, struct targets *t, int separator, Py_ssize_t got,
                          Py_ssize_t most) {
    int64_t n;
    for (Py_ssize_t i = 0; i < t->count; i++) {
        const struct target *to = &t->of[i];
        t->columns[i] = (struct asf_column){
            .field = (size_t)to->field,
            .type = type_of(to),
            .values = PyByteArray_AsString(to->bytes) + got * size_of(to),
        };
    }
    do
        ASF_WITHOUT_GIL(n = asf_get_columns(f->stream, separator, t->columns, (size_t)t->count, most));
    while (n < 0 && asf__again(n));
    if (n >= 0 || n == -EAGAIN || PyErr_Occurred())
        return PyErr_Occurred() ? -1 : n;
    if (n == -EBADMSG || n == -ERANGE)
        refuse_row(f, got, n);
    else
        asf__raise(n, f->name);
    return -1;
}

/* Read `rows` rows, or all rows if it is negative.  Signal handlers run between pieces.
 * returns  the number of rows, or -1 with an exception */
static Py_ssize_t scan_rows(struct asf__file *f, struct targets *t, int separator, Py_ssize_t rows) {
    enum { FIRST = 4096, PIECE = 1 << 20 };
    Py_ssize_t got = 0, most = rows < 0 ? PY_SSIZE_T_MAX : rows;
    int64_t n = 1;
    if (!resize_targets(t, most < FIRST ? most : FIRST))
        return -1;
    while (n > 0 && got < most) {
        if (got == t->room && !resize_targets(t, most / 2 < got ? most : 2 * got))
            return -1;
        n = scan_piece(f, t, separator, got, t->room - got < PIECE ? t->room - got : PIECE);
        got += n > 0 ? n : 0;
        if (PyErr_CheckSignals() < 0)
            return -1;
    }
    if (n == -EAGAIN && got == 0)
        asf__raise(n, f->name);
    return PyErr_Occurred() || !resize_targets(t, got) ? -1 : got;
}

static PyObject *pairs_of(PyObject *fields) {
    return PyList_Check(fields) || PyTuple_Check(fields) ? PySequence_List(fields) : PyMapping_Items(fields);
}

PyObject *asf__read_columns(PyObject *self, PyObject *args, PyObject *keywords) {
    static char *names[] = {"fields", "separator", "rows", NULL};
    struct asf__file *f = (struct asf__file *)self;
    PyObject *fields, *option = NULL, *list = NULL;
    Py_ssize_t rows = -1;
    if (!asf__parse(args, keywords, "O|$On:read_columns", names, &fields, &option, &rows))
        return NULL;
    int separator = asf__separator_of(option);
    PyObject *pairs = separator < 0 ? NULL : pairs_of(fields);
    if (!pairs)
        return NULL;
    struct targets t = {.count = 0};
    if (parse_fields(&t, pairs) && asf__file_enter(f, ASF_READ, NULL)) {
        Py_ssize_t got = scan_rows(f, &t, separator, rows);
        asf__file_leave(f);
        list = got < 0 ? NULL : views_of(&t);
    }
    free_targets(&t);
    Py_DECREF(pairs);
    return list;
}

/* --- of a whole file, by threads -------------------------------------------------------------- */

/* An object that owns an array from malloc. */
struct column {
    struct asf__memory shown;
};

static void column_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    free(((struct column *)self)->shown.at);
    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

PyDoc_STRVAR(column_doc, "Numbers that read_columns() has read, with the buffer protocol.");

static PyType_Slot column_slots[] = {
    {Py_tp_doc, (void *)column_doc},
    {Py_tp_dealloc, column_dealloc},
    {Py_bf_getbuffer, asf__memory_getbuffer},
    {Py_bf_releasebuffer, asf__memory_releasebuffer},
    {Py_mp_length, asf__memory_length},
    {Py_tp_repr, asf__memory_repr},
    {0, NULL},
};

PyType_Spec asf__column_spec = {
    .name = "asf.Column",
    .basicsize = sizeof(struct column),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = column_slots,
};

/* Move the columns' arrays into objects.  On failure the remaining arrays are freed. */
static bool take_values(struct asf__module *module, struct targets *t, Py_ssize_t rows) {
    bool taken = true;
    for (Py_ssize_t i = 0; i < t->count; i++) {
        struct column *c = taken ? (struct column *)PyType_GenericAlloc(module->column, 0) : NULL;
        taken = c;
        if (!c) {
            free(t->columns[i].values);
            continue;
        }
        c->shown.at = t->columns[i].values;
        c->shown.size = rows * size_of(&t->of[i]);
        t->of[i].bytes = (PyObject *)c;
    }
    return taken;
}

static PyObject *refuse_file(PyObject *path, int64_t code) {
    if (code != -EBADMSG && code != -ERANGE)
        return asf__raise_decoding((ssize_t)code, path);
    return PyErr_Format(PyExc_ValueError, "%R: %s", path,
                        code == -ERANGE ? "an integer is too large for its type"
                                        : "a field is missing or is not a number of its type");
}

static PyObject *read_file(struct asf__module *module, PyObject *path, struct targets *t, int separator,
                           Py_ssize_t skip, unsigned threads) {
    PyObject *name;
    int64_t rows;
    if (!PyUnicode_FSConverter(path, &name))
        return NULL;
    const char *text = PyBytes_AsString(name);
    for (Py_ssize_t i = 0; i < t->count; i++)
        t->columns[i] = (struct asf_column){.field = (size_t)t->of[i].field, .type = type_of(&t->of[i])};
    ASF_WITHOUT_GIL(rows = asf_read_columns(text, separator, skip, t->columns, (size_t)t->count, threads));
    Py_DECREF(name);
    if (rows < 0)
        return refuse_file(path, rows);
    if (rows == 0)
        return resize_targets(t, 0) ? views_of(t) : NULL;
    return take_values(module, t, (Py_ssize_t)rows) && PyErr_CheckSignals() == 0 ? views_of(t) : NULL;
}

/* --- of a part -------------------------------------------------------------- */

/* Skip the heading, which only the first part has.  As in asf_read_columns, a heading longer than the first
 * part is an error. */
static bool skip_lines(struct asf__file *f, const struct asf_part *part, Py_ssize_t lines) {
    for (; part->index == 0 && lines > 0; lines--) {
        ssize_t n;
        void *line = asf__line_region(f, '\n', SSIZE_MAX, &n);
        if (!line && n == 0)
            n = part->count > 1 ? -EMSGSIZE : 0;
        int rc = line ? asf_sfree(f->stream, line) : (int)n;
        if (rc < 0)
            asf__raise(rc, f->name);
        if (rc < 0 || !line)
            return rc == 0;
    }
    return true;
}

static PyObject *read_part(struct asf__module *module, PyObject *value, struct targets *t, int separator,
                           Py_ssize_t skip) {
    struct asf_part part;
    PyObject *path, *list = NULL;
    bool own;
    if (!asf__part_of(value, &part, &path))
        return NULL;
    Py_DECREF(path);
    struct asf__file *f = asf__file_of(module, value, "rb", &own);
    if (f && asf__file_enter(f, ASF_READ, NULL)) {
        if (skip_lines(f, &part, skip) && scan_rows(f, t, separator, -1) >= 0)
            list = views_of(t);
        asf__file_leave(f);
        ASF_WITHOUT_GIL(asf_sclose(f->stream));
        f->stream = NULL;
    }
    Py_XDECREF((PyObject *)f);
    return list;
}

PyObject *asf__read_columns_of(PyObject *module, PyObject *args, PyObject *keywords) {
    static char *names[] = {"file", "fields", "separator", "skip", "threads", NULL};
    PyObject *file, *fields, *option = NULL, *list = NULL;
    struct asf__module *m = PyModule_GetState(module);
    Py_ssize_t skip = 0;
    int threads = 0;
    if (!asf__parse(args, keywords, "OO|$Oni:read_columns", names, &file, &fields, &option, &skip, &threads))
        return NULL;
    if (skip < 0 || threads < 0)
        return PyErr_Format(PyExc_ValueError, "a negative number of lines or threads");
    int separator = asf__separator_of(option);
    PyObject *pairs = separator < 0 ? NULL : pairs_of(fields);
    if (!pairs)
        return NULL;
    struct targets t = {.count = 0};
    if (parse_fields(&t, pairs))
        list = Py_IS_TYPE(file, m->part) ? read_part(m, file, &t, separator, skip)
                                         : read_file(m, file, &t, separator, skip, (unsigned)threads);
    free_targets(&t);
    Py_DECREF(pairs);
    return list;
}
