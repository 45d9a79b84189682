/* SPDX-License-Identifier: MIT
 *
 * python_write_columns.c - writes arrays as columns of text.  Rows are formatted in chunks without the GIL,
 * with several threads if the caller asks for them.  The calling thread writes the chunks in order.
 */
#include "interfaces/python/python_module.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <asf/numbers.h>

/* --- objects as arrays ------------------------------------------------------------ */

/* Returns the attribute, or NULL, with an exception only if there was an error. */
static PyObject *attribute_of(PyObject *object, const char *name) {
    PyObject *attribute = PyObject_GetAttrString(object, name);
    if (!attribute && PyErr_ExceptionMatches(PyExc_AttributeError))
        PyErr_Clear();
    return attribute;
}

/* Returns a pandas column's `hasnans` if its dtype has a null value, na_value.  NULL, otherwise like
 * attribute_of. */
static PyObject *nulls_of_pandas(PyObject *column) {
    PyObject *dtype = attribute_of(column, "dtype");
    PyObject *null = dtype ? attribute_of(dtype, "na_value") : NULL;
    PyObject *nulls = null ? attribute_of(column, "hasnans") : NULL;
    Py_XDECREF(null);
    Py_XDECREF(dtype);
    return nulls;
}

/* Refuse nulls, which __array__() converts to nan.  Their number is null_count in pyarrow, and null_count()
 * in polars.  Returns false with an exception. */
static bool has_no_nulls(PyObject *column) {
    PyObject *count = attribute_of(column, "null_count");
    PyObject *nulls = count && PyCallable_Check(count) ? PyObject_CallNoArgs(count)
                      : count                          ? Py_NewRef(count)
                      : PyErr_Occurred()               ? NULL
                                                       : nulls_of_pandas(column);
    if (nulls && PyObject_IsTrue(nulls) > 0)
        PyErr_SetString(PyExc_ValueError, "there are nulls in it, which are no numbers");
    Py_XDECREF(nulls);
    Py_XDECREF(count);
    return !PyErr_Occurred();
}

/* Returns 'q' for a list of int, 'd' for one with a float in it; '\0' with an exception. */
static char format_of(PyObject *list) {
    char format = 'q';
    for (Py_ssize_t i = 0; i < PyList_Size(list); i++) {
        PyObject *item = PyList_GetItem(list, i);
        if (PyFloat_Check(item)) {
            format = 'd';
        } else if (PyBool_Check(item) || !PyIndex_Check(item)) {
            PyErr_Format(PyExc_TypeError, "row %zd is of %R, not int or float", i, (PyObject *)Py_TYPE(item));
            return '\0';
        }
    }
    return format;
}

static PyObject *array_of_items(PyObject *items) {
    PyObject *list = PySequence_List(items);
    const char format[2] = {list ? format_of(list) : '\0'};
    PyObject *module = *format ? PyImport_ImportModule("array") : NULL;
    PyObject *array = module ? PyObject_CallMethod(module, "array", "sO", format, list) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(list);
    return array;
}

/* Returns the column as an object with the buffer protocol, a new reference; NULL with an exception. */
static PyObject *buffer_of(PyObject *column) {
    PyObject *method = PyObject_CheckBuffer(column) ? NULL : attribute_of(column, "__array__"), *array = NULL;
    if (method)
        array = PyObject_CallNoArgs(method);
    else if (PyObject_CheckBuffer(column))
        array = Py_NewRef(column);
    else if (!PyErr_Occurred() && PySequence_Check(column) && !PyUnicode_Check(column))
        array = array_of_items(column);
    else if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "an array or a list of numbers is wanted, not %R",
                     (PyObject *)Py_TYPE(column));
    Py_XDECREF(method);
    return array;
}

/* --- columns ------------------------------------------------------------ */

/* Types of items.  The integers of each group are in the order of their sizes: kind_of adds the logarithm of
 * a size. */
enum kind { INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, FLOAT32, FLOAT64 };

struct column {
    Py_buffer view;  /* obj is NULL: no buffer held */
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

/* Finds the kind for a format of Python's module struct, in the machine's byte order.  The size distinguishes
 * integers: "l" has four or eight bytes. */
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
    PyObject *buffer = buffer_of(array);
    int rc = buffer ? PyObject_GetBuffer(buffer, &c->view, PyBUF_RECORDS_RO) : -1;
    Py_XDECREF(buffer);
    if (rc < 0)
        return false;
    if (c->view.ndim != 1) {
        PyErr_Format(PyExc_ValueError,
                     "a column has one dimension, not %d: give the columns of two as a list, such as "
                     "list(array.T)",
                     c->view.ndim);
        return false;
    }
    if (!kind_of(&c->view, &c->kind)) {
        PyErr_Format(
            PyExc_TypeError, "a column is of integers or floats of this machine, not of format '%s'%s",
            c->view.format, strcmp(c->view.format, "O") == 0 ? ", of objects such as text or None" : "");
        return false;
    }
    c->step = c->view.strides[0];
    return PyObject_CheckBuffer(array) || has_no_nulls(array);
}

/* Put the column's number in front of the exception's message. */
static void name_column(Py_ssize_t number) {
    PyObject *const kinds[] = {PyExc_TypeError, PyExc_ValueError, PyExc_OverflowError};
    PyObject *error[3];
    for (int i = 0; i < 3; i++) {
        if (!PyErr_ExceptionMatches(kinds[i]))
            continue;
        PyErr_Fetch(&error[0], &error[1], &error[2]);
        PyErr_NormalizeException(&error[0], &error[1], &error[2]);
        PyErr_Format(kinds[i], "column %zd: %S", number, error[1]);
        for (int k = 0; k < 3; k++)
            Py_XDECREF(error[k]);
        return;
    }
}

static void free_table(struct table *t) {
    for (Py_ssize_t i = 0; t->columns && i < t->count; i++)
        if (t->columns[i].view.obj)
            PyBuffer_Release(&t->columns[i].view);
    PyMem_Free(t->columns);
}

/* Get the buffers of the columns, which must have equally many rows.  The caller calls free_table in any
 * case.
 *   arrays  a tuple
 * returns  false with an exception */
static bool take_columns(struct table *t, PyObject *arrays) {
    t->count = PyTuple_Size(arrays);
    t->columns = PyMem_Calloc((size_t)t->count + 1, sizeof *t->columns);
    if (!t->columns)
        PyErr_NoMemory();
    else if (t->count == 0)
        PyErr_SetString(PyExc_ValueError, "there is no column");
    for (Py_ssize_t i = 0; !PyErr_Occurred() && i < t->count; i++) {
        if (!take_column(&t->columns[i], PyTuple_GetItem(arrays, i))) {
            name_column(i);
            break;
        }
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

/* Format rows; `to` has room for them.  Returns the end of the text. */
static char *format_rows(const struct table *t, Py_ssize_t row, Py_ssize_t end, char *to) {
    for (; row < end; row++) {
        for (const struct column *c = t->columns; c < t->columns + t->count; c++) {
            to = put_digits(to, (const char *)c->view.buf + row * c->step, c->kind);
            *to++ = t->separator;
        }
        to[-1] = '\n';
    }
    return to;
}

/* --- chunks of rows ------------------------------------------------------------ */

/* A chunk has room for the longest numbers.  Its text usually fills half of it, and stays in the second-level
 * cache until it is written. */
enum { CHUNK = 128 << 10, CHUNKS_A_THREAD = 2, MOST_THREADS = 64 };

struct chunk {
    char *text; /* NULL: not allocated */
    size_t size;
    bool ready; /* formatted, and not yet written */
};

struct writer {
    const struct table *table;
    Py_ssize_t rows, count; /* rows per chunk; chunks of the table */
    int threads;            /* including the calling thread */
    struct chunk *chunks;   /* a ring: chunk n is in chunks[n % room] */
    Py_ssize_t room;
    pthread_mutex_t lock; /* protects the members below, and `ready` */
    pthread_cond_t changed;
    Py_ssize_t taken, written; /* numbers of chunks */
    bool stopped;
};

static void free_chunks(struct writer *w) {
    for (Py_ssize_t i = 0; w->chunks && i < w->room; i++)
        PyMem_Free(w->chunks[i].text);
    PyMem_Free(w->chunks);
}

/* Divide the table into chunks.  The caller calls free_chunks in any case.  Returns false with an
 * exception. */
static bool make_chunks(struct writer *w, const struct table *t, int threads) {
    const Py_ssize_t row = t->count * (ASF_DOUBLE_ROOM + 1), fit = row < CHUNK ? CHUNK / row : 1;
    w->table = t;
    w->rows = fit < t->rows ? fit : t->rows;
    w->count = t->rows ? (t->rows + fit - 1) / fit : 0;
    w->threads = (int)(threads < w->count ? threads : w->count);
    w->room = w->threads > 1 ? CHUNKS_A_THREAD * w->threads : 1;
    w->chunks = PyMem_Calloc((size_t)w->room, sizeof *w->chunks);
    bool made = w->chunks;
    for (Py_ssize_t i = 0; made && i < w->room; i++) {
        w->chunks[i].text = PyMem_Malloc((size_t)(w->rows * row));
        made = w->chunks[i].text;
    }
    if (!made)
        PyErr_NoMemory();
    return made;
}

/* Format the next chunk, if there is one and the ring has room.  The caller holds the lock, and this
 * releases it while it formats. */
static bool format_next(struct writer *w) {
    if (w->taken == w->count || w->taken == w->written + w->room)
        return false;
    struct chunk *chunk = &w->chunks[w->taken % w->room];
    const Py_ssize_t first = w->taken++ * w->rows, left = w->table->rows - first;
    pthread_mutex_unlock(&w->lock);
    char *end = format_rows(w->table, first, first + (left < w->rows ? left : w->rows), chunk->text);
    pthread_mutex_lock(&w->lock);
    chunk->size = (size_t)(end - chunk->text);
    chunk->ready = true;
    pthread_cond_broadcast(&w->changed);
    return true;
}

static int write_next(struct writer *w, struct asf_cios *stream, struct chunk *chunk) {
    pthread_mutex_unlock(&w->lock);
    int rc = asf_put_text(stream, chunk->text, chunk->size);
    pthread_mutex_lock(&w->lock);
    chunk->ready = false;
    w->written++;
    pthread_cond_broadcast(&w->changed);
    return rc;
}

/* Write all chunks, and format those that no other thread has taken. */
static int write_chunks(struct writer *w, struct asf_cios *stream) {
    int rc = 0;
    pthread_mutex_lock(&w->lock);
    while (rc == 0 && w->written < w->count) {
        struct chunk *next = &w->chunks[w->written % w->room];
        if (next->ready)
            rc = write_next(w, stream, next);
        else if (!format_next(w))
            pthread_cond_wait(&w->changed, &w->lock);
    }
    w->stopped = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    return rc;
}

/* --- threads ------------------------------------------------------------ */

static void *format_chunks(void *writer) {
    struct writer *w = writer;
    pthread_mutex_lock(&w->lock);
    while (!w->stopped && w->taken < w->count)
        if (!format_next(w))
            pthread_cond_wait(&w->changed, &w->lock);
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* Block all signals in the new threads, except those for faults. */
static int start_threads(struct writer *w, pthread_t *threads) {
    sigset_t held, before;
    int started = 0;
    sigfillset(&held);
    sigdelset(&held, SIGSEGV);
    sigdelset(&held, SIGBUS);
    pthread_sigmask(SIG_BLOCK, &held, &before);
    while (started + 1 < w->threads && pthread_create(&threads[started], NULL, format_chunks, w) == 0)
        started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

/* If the system refuses some threads, the others format all rows. */
static int write_rows(struct writer *w, struct asf_cios *stream) {
    pthread_t threads[MOST_THREADS];
    int started = start_threads(w, threads);
    int rc = write_chunks(w, stream);
    while (started > 0)
        pthread_join(threads[--started], NULL);
    return rc;
}

static int processors(void) {
    cpu_set_t allowed;
    return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

static int at_most(int threads) {
    threads = threads ? threads : processors();
    return threads < MOST_THREADS ? threads : MOST_THREADS;
}

/* --- the call ------------------------------------------------------------ */

static bool write_table(struct asf__file *f, const struct table *t, int threads) {
    struct writer w = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    int rc = -1;
    if (make_chunks(&w, t, at_most(threads)) && asf__file_enter(f, ASF_WRITE, NULL)) {
        ASF_PUTTING(f, rc = write_rows(&w, f->stream));
        if (rc == -EINTR)
            PyErr_CheckSignals();
        if (rc < 0)
            asf__raise(rc, f->name);
        asf__file_leave(f);
    }
    free_chunks(&w);
    return rc == 0;
}

/* Returns a tuple of the columns: of the object itself, if that is an array. */
static PyObject *tuple_of(PyObject *columns) {
    PyObject *method = PyObject_CheckBuffer(columns) ? NULL : attribute_of(columns, "__array__");
    bool one = method || PyObject_CheckBuffer(columns);
    Py_XDECREF(method);
    return PyErr_Occurred() ? NULL : one ? PyTuple_Pack(1, columns) : PySequence_Tuple(columns);
}

PyObject *asf__write_columns(PyObject *self, PyObject *args, PyObject *keywords) {
    static char *names[] = {"columns", "separator", "threads", NULL};
    PyObject *columns, *option = NULL;
    int threads = 1;
    if (!asf__parse(args, keywords, "O|$Oi:write_columns", names, &columns, &option, &threads))
        return NULL;
    if (threads < 0)
        return PyErr_Format(PyExc_ValueError, "a negative number of threads");
    int separator = asf__separator_of(option);
    if (separator < 0)
        return NULL;
    PyObject *arrays = tuple_of(columns);
    if (!arrays)
        return NULL;
    struct table t = {.separator = (char)separator};
    bool written = take_columns(&t, arrays) && write_table((struct asf__file *)self, &t, threads);
    free_table(&t);
    Py_DECREF(arrays);
    return written ? Py_NewRef(Py_None) : NULL;
}
