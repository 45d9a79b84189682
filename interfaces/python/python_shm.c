/* SPDX-License-Identifier: MIT
 *
 * python_shm.c - segments of shared memory, and text files whose arrays may be in segments.
 */
#include "interfaces/python/python_module.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <asf/shm.h>

PyObject *asf__raise_why(ssize_t code, const char *why, PyObject *name) {
    PyObject *error = PyObject_CallFunction(PyExc_OSError, "isO", (int)-code, why, name ? name : Py_None);
    if (error)
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_XDECREF(error);
    return NULL;
}

static PyObject *raise_shm(ssize_t code, PyObject *name) {
    return asf__raise_why(code, asf_shm_why(), name);
}

/* --- segments ------------------------------------------------------------ */

struct segment {
    struct asf__memory shown; /* the data */
    PyObject *label;
};

static PyObject *new_segment(PyObject *module, char *shm, bool readonly) {
    struct asf__module *m = PyModule_GetState(module);
    PyObject *label = PyUnicode_DecodeFSDefaultAndSize(shm, (Py_ssize_t)strcspn(shm, "\n"));
    struct segment *s = label ? (struct segment *)PyType_GenericAlloc(m->segment, 0) : NULL;
    if (!s) {
        Py_XDECREF(label);
        return NULL;
    }
    s->shown.at = shm + ASF_SHM_HEAD;
    s->shown.size = (Py_ssize_t)asf_shm_size(shm);
    s->shown.readonly = readonly;
    s->label = label;
    return (PyObject *)s;
}

PyObject *asf__create_segment(PyObject *module, PyObject *args, PyObject *keywords) {
    static char *names[] = {"name", "size", "mode", "backend", NULL};
    PyObject *name, *bytes;
    Py_ssize_t size;
    int mode = 0600;
    const char *backend = NULL;
    char *shm;
    if (!asf__parse(args, keywords, "Un|$iz:create_segment", names, &name, &size, &mode, &backend))
        return NULL;
    if (size < 0)
        return PyErr_Format(PyExc_ValueError, "a negative size");
    if (!PyUnicode_FSConverter(name, &bytes))
        return NULL;
    const char *text = PyBytes_AsString(bytes);
    ASF_WITHOUT_GIL(shm = asf_shm_create_on(backend, text, (mode_t)mode, (size_t)size));
    Py_DECREF(bytes);
    if (!shm)
        return raise_shm(-errno, name);
    PyObject *segment = new_segment(module, shm, false);
    if (!segment) { /* without an object the program cannot find the segment */
        asf_shm_remove(shm);
        asf_shm_close(shm);
    }
    return segment;
}

PyObject *asf__open_segment(PyObject *module, PyObject *args, PyObject *keywords) {
    static char *names[] = {"label", "update", NULL};
    PyObject *label, *bytes;
    int update = 0;
    char *shm;
    if (!asf__parse(args, keywords, "U|$p:open_segment", names, &label, &update) ||
        !PyUnicode_FSConverter(label, &bytes))
        return NULL;
    const char *text = PyBytes_AsString(bytes);
    ASF_WITHOUT_GIL(shm = update ? asf_shm_open_update(text) : asf_shm_open(text));
    Py_DECREF(bytes);
    if (!shm)
        return raise_shm(-errno, label);
    PyObject *segment = new_segment(module, shm, !update);
    if (!segment)
        asf_shm_close(shm);
    return segment;
}

PyObject *asf__remove_segment(PyObject *module, PyObject *label) {
    (void)module;
    PyObject *bytes;
    if (!PyUnicode_FSConverter(label, &bytes))
        return NULL;
    int rc = asf_shm_remove(PyBytes_AsString(bytes));
    Py_DECREF(bytes);
    return rc < 0 ? raise_shm(rc, label) : Py_NewRef(Py_None);
}

static int detach(struct segment *s) {
    char *at = s->shown.at;
    s->shown.at = NULL;
    if (!at || asf_shm_close(at - ASF_SHM_HEAD) == 0)
        return 0;
    raise_shm(-errno, s->label);
    return -1;
}

static PyObject *segment_close(PyObject *self, PyObject *unused) {
    (void)unused;
    struct segment *s = (struct segment *)self;
    return asf__memory_is_viewed(&s->shown) || detach(s) < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *segment_array(PyObject *self, PyObject *args) {
    const char *format = "d";
    return PyArg_ParseTuple(args, "|s:array", &format) ? asf__memory_array(self, format) : NULL;
}

static PyObject *segment_label(PyObject *self, void *unused) {
    (void)unused;
    return Py_NewRef(((struct segment *)self)->label);
}

static PyObject *segment_repr(PyObject *self) {
    struct segment *s = (struct segment *)self;
    if (!s->shown.at)
        return PyUnicode_FromFormat("<asf.Segment %R, closed>", s->label);
    return PyUnicode_FromFormat("<asf.Segment %R of %zd bytes>", s->label, s->shown.size);
}

static void segment_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    struct segment *s = (struct segment *)self;
    PyObject *error[3];
    PyErr_Fetch(&error[0], &error[1], &error[2]);
    if (detach(s) < 0)
        PyErr_WriteUnraisable(NULL);
    PyErr_Restore(error[0], error[1], error[2]);
    Py_XDECREF(s->label);
    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

PyDoc_STRVAR(
    segment_doc,
    "A segment of shared memory that is attached, which create_segment() and open_segment() return.\n\n"
    "It has the buffer protocol, len() and slices, which are memoryviews; numpy.frombuffer(segment)\n"
    "or numpy.asarray(segment.array()) is an array in the segment itself.  Nothing keeps others from\n"
    "writing to it meanwhile.  The segment outlives the process, until remove_segment().");
PyDoc_STRVAR(array_doc, "array($self, format='d', /)\n--\n\n"
                        "Return the data as a memoryview of items of a format of the module struct.\n\n"
                        "TypeError: the size is no multiple of an item's.");
PyDoc_STRVAR(detach_doc,
             "close($self, /)\n--\n\n"
             "Detach the segment, which stays.\n\n"
             "BufferError: a view of it is left.  OSError (EIO): it was truncated while it was attached.");

static PyMethodDef segment_methods[] = {
    {"array", segment_array, METH_VARARGS, array_doc},
    {"close", segment_close, METH_NOARGS, detach_doc},
    {"__enter__", asf__memory_enter, METH_NOARGS, NULL},
    {"__exit__", segment_close, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef segment_getset[] = {
    {"label", segment_label, NULL, "The line of text by which other processes attach it.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot segment_slots[] = {
    {Py_tp_doc, (void *)segment_doc},
    {Py_tp_dealloc, segment_dealloc},
    {Py_tp_repr, segment_repr},
    {Py_tp_methods, segment_methods},
    {Py_tp_getset, segment_getset},
    {Py_bf_getbuffer, asf__memory_getbuffer},
    {Py_bf_releasebuffer, asf__memory_releasebuffer},
    {Py_mp_length, asf__memory_length},
    {Py_mp_subscript, asf__memory_subscript},
    {Py_mp_ass_subscript, asf__memory_ass_subscript},
    {0, NULL},
};

PyType_Spec asf__segment_spec = {
    .name = "asf.Segment",
    .basicsize = sizeof(struct segment),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = segment_slots,
};

/* --- arrays of read_arrays -------------------------------------------------------------------- */

static void array_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    asf_shm_free_doubles((const double *)(void *)((struct asf__memory *)self)->at);
    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

static PyType_Slot array_slots[] = {
    {Py_tp_doc, "What the views that read_arrays() returns are of."},
    {Py_tp_dealloc, array_dealloc},
    {Py_tp_repr, asf__memory_repr},
    {Py_bf_getbuffer, asf__memory_getbuffer},
    {Py_bf_releasebuffer, asf__memory_releasebuffer},
    {0, NULL},
};

PyType_Spec asf__array_spec = {
    .name = "asf.Array",
    .basicsize = sizeof(struct asf__memory),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = array_slots,
};

/* --- text files ------------------------------------------------------------ */

/* Feeds the FILE that asf_shm_read_doubles reads.  The caller has entered the file, and reads it to its
 * end. */
static ssize_t read_for_stdio(void *stream, char *to, size_t n) {
    ssize_t length = (ssize_t)n;
    void *p = asf_salloc_some(stream, &length);
    if (p)
        memcpy(to, p, (size_t)length);
    int rc = p ? asf_sfree(stream, p) : length < 0 ? (int)length : 0;
    errno = -rc;
    return rc < 0 ? -1 : length;
}

/* Returns a view of libasf's array, which is freed with the last view. */
static PyObject *view_of(struct asf__module *m, const double *array, size_t count) {
    struct asf__memory *shown = (struct asf__memory *)PyType_GenericAlloc(m->array, 0);
    if (!shown) {
        asf_shm_free_doubles(array);
        return NULL;
    }
    shown->at = (char *)(void *)(uintptr_t)array;
    shown->size = (Py_ssize_t)(count * sizeof *array);
    shown->readonly = true;
    PyObject *view = asf__memory_array((PyObject *)shown, "d");
    Py_DECREF((PyObject *)shown);
    return view;
}

/* Read the name of a field and its array, and add them to the dictionary.
 * returns  1; 0 at the end; -1 with an exception */
static int read_field(struct asf__module *m, FILE *stream, PyObject *fields, PyObject *filename) {
    char *word = NULL;
    int got;
    size_t count = 0;
    const double *array = NULL;
    Py_BEGIN_ALLOW_THREADS got = fscanf(stream, "%ms", &word);
    if (got == 1)
        array = asf_shm_read_doubles(stream, &count);
    Py_END_ALLOW_THREADS int error = errno;
    PyObject *name = word ? PyUnicode_DecodeUTF8(word, (Py_ssize_t)strlen(word), "surrogateescape") : NULL;
    free(word);
    if (got != 1)
        return ferror(stream) ? (asf__raise(-error, filename), -1) : 0;
    if (!array)
        raise_shm(-error, filename);
    PyObject *view = name && array ? view_of(m, array, count) : NULL;
    if (view && PyDict_Contains(fields, name) == 1)
        PyErr_Format(PyExc_ValueError, "the field '%U' comes twice", name);
    int rc = view && !PyErr_Occurred() && PyDict_SetItem(fields, name, view) == 0 ? 1 : -1;
    Py_XDECREF(view);
    Py_XDECREF(name);
    return rc;
}

PyObject *asf__read_arrays(PyObject *module, PyObject *argument) {
    struct asf__module *m = PyModule_GetState(module);
    bool own;
    int rc = -1;
    struct asf__file *f = asf__file_of(m, argument, "rb", &own);
    if (!f)
        return NULL;
    PyObject *fields = PyDict_New();
    if (fields && asf__file_enter(f, ASF_READ, NULL)) {
        FILE *stream = fopencookie(f->stream, "r", (cookie_io_functions_t){.read = read_for_stdio});
        if (!stream)
            PyErr_NoMemory();
        while (stream && (rc = read_field(m, stream, fields, f->name)) > 0)
            continue;
        if (stream)
            fclose(stream);
        asf__file_leave(f);
    }
    if (own && asf__file_close(f) < 0)
        rc = -1;
    Py_DECREF((PyObject *)f);
    if (rc == 0)
        return fields;
    Py_XDECREF(fields);
    return NULL;
}

/* Returns whether asf_shm_read_doubles takes the word for the end of the array before it. */
static bool is_field_name(const char *name) {
    char *end;
    if (!isalpha((unsigned char)*name) && *name != '_' && *name != '#')
        return false;
    strtod(name, &end);
    return *end && !name[strcspn(name, " \t\n\v\f\r")] && strcmp(name, "shmids") != 0;
}

/* Get the buffer of an array of doubles.  Any other sequence of numbers is converted first. */
static bool get_doubles(PyObject *array, Py_buffer *view) {
    PyObject *made = NULL;
    if (!PyObject_CheckBuffer(array)) {
        PyObject *array_module = PyImport_ImportModule("array");
        made = array_module ? PyObject_CallMethod(array_module, "array", "sO", "d", array) : NULL;
        Py_XDECREF(array_module);
        if (!made)
            return false;
        array = made;
    }
    bool got = PyObject_GetBuffer(array, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) == 0;
    Py_XDECREF(made);
    if (!got ||
        (view->itemsize == sizeof(double) && (!strcmp(view->format, "d") || !strcmp(view->format, "<d"))))
        return got;
    PyErr_Format(PyExc_TypeError, "an array of doubles ('d') is wanted, not of '%s'", view->format);
    PyBuffer_Release(view);
    return false;
}

/* The text of a field; the caller frees it. */
static char *text_of(const char *name, const Py_buffer *array, bool segment, size_t *length, int *rc) {
    char *text = NULL;
    FILE *stream = open_memstream(&text, length);
    *rc = stream ? 0 : -ENOMEM;
    if (!stream)
        return NULL;
    fprintf(stream, "%s ", name);
    *rc =
        asf_shm_write_doubles(stream, array->buf, (size_t)array->len / sizeof(double), segment ? name : NULL);
    if (fclose(stream) != 0 && *rc == 0)
        *rc = -ENOMEM;
    return text;
}

/* Data in a segment are written as the segment's label. */
static bool is_in_segment(const Py_buffer *array) {
    return array->len > 0 && asf_shm_size((char *)array->buf - ASF_SHM_HEAD) == (size_t)array->len;
}

/* Remove a new segment whose label did not reach the file, because no process can find it. */
static void remove_segment_in(const char *text) {
    static const char before[] = " shmids ";
    const char *label = text ? strstr(text, before) : NULL;
    if (label)
        asf_shm_remove(label + strlen(before));
}

static bool write_field(PyObject *file, PyObject *name, PyObject *array, bool segment) {
    PyObject *bytes = PyUnicode_AsEncodedString(name, "utf-8", "surrogateescape"), *written = NULL;
    char *text = NULL;
    Py_buffer view;
    size_t length;
    int rc = 0;
    if (!bytes)
        return false;
    const char *word = PyBytes_AsString(bytes);
    if (strlen(word) != (size_t)PyBytes_Size(bytes) || !is_field_name(word)) {
        PyErr_Format(PyExc_ValueError, "a field cannot be named '%U': a word that begins with a letter",
                     name);
    } else if (get_doubles(array, &view)) {
        bool makes = segment && !is_in_segment(&view);
        ASF_WITHOUT_GIL(text = text_of(word, &view, segment, &length, &rc));
        PyBuffer_Release(&view);
        if (rc < 0)
            raise_shm(rc, name);
        else
            written = PyObject_CallMethod(file, "write", "y#", text, (Py_ssize_t)length);
        if (!written && makes)
            remove_segment_in(text);
    }
    free(text);
    Py_DECREF(bytes);
    Py_XDECREF(written);
    return written;
}

PyObject *asf__write_arrays(PyObject *module, PyObject *args, PyObject *keywords) {
    static char *names[] = {"file", "arrays", "segments", NULL};
    PyObject *argument, *arrays, *items, *name, *array;
    int segments = 0;
    bool own, good = true;
    if (!asf__parse(args, keywords, "OO|$p:write_arrays", names, &argument, &arrays, &segments))
        return NULL;
    struct asf__file *f = asf__file_of(PyModule_GetState(module), argument, "wb", &own);
    items = f ? PyMapping_Items(arrays) : NULL;
    for (Py_ssize_t i = 0; items && good && i < PyList_Size(items); i++)
        good = PyArg_ParseTuple(PyList_GetItem(items, i), "UO", &name, &array) &&
               write_field((PyObject *)f, name, array, segments);
    good = good && items;
    if (f && own && asf__file_close(f) < 0)
        good = false;
    Py_XDECREF(items);
    Py_XDECREF((PyObject *)f);
    return good ? Py_NewRef(Py_None) : NULL;
}
