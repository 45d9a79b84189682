/* SPDX-License-Identifier: MIT
 *
 * python_records.c - reads the records of a stream as dictionaries.
 */
#include "interfaces/python/python_module.h"

#include <string.h>

#include <asf/record.h>

struct records {
    PyObject_HEAD struct asf__file *file;
    struct asf_record_reader *reader; /* NULL: closed */
    PyObject *format;                 /* the name of the last record's format, or None */
    bool own;
};

/* --- values ------------------------------------------------------------ */

static PyObject *value_of(const struct asf_record_value *v);

static PyObject *text_of(const char *text, size_t n) {
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)n, "surrogateescape");
}

static PyObject *single(const struct asf_record_value *v) {
    const char *text;
    double real;
    uint64_t positive;
    int64_t number;
    int rc;
    if (v->member.kind == ASF_RECORD_STRING) {
        rc = asf_record_as_string(v, &text);
        return rc < 0 ? asf__raise_why(rc, asf_record_why(), NULL)
               : text ? text_of(text, strlen(text))
                      : Py_NewRef(Py_None);
    }
    if (v->member.kind == ASF_RECORD_FLOAT && (rc = asf_record_as_float(v, &real)) == 0)
        return PyFloat_FromDouble(real);
    if (v->member.kind == ASF_RECORD_BOOL && (rc = asf_record_as_uint(v, &positive)) == 0)
        return PyBool_FromLong(positive != 0);
    if (v->member.kind == ASF_RECORD_UINT && (rc = asf_record_as_uint(v, &positive)) == 0)
        return PyLong_FromUnsignedLongLong(positive);
    if ((rc = asf_record_as_int(v, &number)) == 0)
        return PyLong_FromLongLong(number);
    return asf__raise_why(rc, asf_record_why(), NULL);
}

static PyObject *struct_of(const struct asf_record_value *v) {
    PyObject *fields = PyDict_New();
    struct asf_record_value field;
    bool good = fields;
    for (size_t i = 0; good && asf_record_value_field(v, i, &field) == 0; i++) {
        PyObject *name = text_of(field.member.name, strlen(field.member.name));
        PyObject *value = name ? value_of(&field) : NULL;
        good = value && PyDict_SetItem(fields, name, value) == 0;
        Py_XDECREF(name);
        Py_XDECREF(value);
    }
    if (good)
        return fields;
    Py_XDECREF(fields);
    return NULL;
}

static PyObject *list_of(const struct asf_record_value *v) {
    PyObject *list = PyList_New((Py_ssize_t)v->count);
    struct asf_record_value item;
    for (size_t i = 0; list && i < v->count; i++) {
        int rc = asf_record_value_item(v, i, &item);
        PyObject *value = rc < 0 ? asf__raise_why(rc, asf_record_why(), NULL) : value_of(&item);
        if (value)
            PyList_SetItem(list, (Py_ssize_t)i, value);
        else
            Py_CLEAR(list);
    }
    return list;
}

/* A character or an array of characters becomes a str, up to the null byte. */
static PyObject *value_of(const struct asf_record_value *v) {
    if (v->member.kind == ASF_RECORD_CHAR)
        return text_of((const char *)v->at, v->count ? strnlen((const char *)v->at, v->count) : 0);
    if (v->member.shape != ASF_RECORD_SINGLE)
        return list_of(v);
    return v->member.kind == ASF_RECORD_STRUCT ? struct_of(v) : single(v);
}

/* --- the reader ------------------------------------------------------------ */

static bool begin(struct records *r, struct asf__file *f, const struct asf_record_options *options) {
    if (!asf__file_enter(f, ASF_READ, NULL))
        return false;
    int rc = asf_record_reader_new(f->stream, options, &r->reader);
    asf__file_leave(f);
    if (rc < 0)
        asf__raise_why(rc, asf_record_why(), f->name);
    else
        f->users++;
    return rc == 0;
}

PyObject *asf__records(PyObject *module, PyObject *args, PyObject *keywords) {
    static char *names[] = {"file", "most_bytes", NULL};
    struct asf__module *m = PyModule_GetState(module);
    PyObject *argument;
    Py_ssize_t most = 0;
    bool own;
    if (!asf__parse(args, keywords, "O|$n:records", names, &argument, &most))
        return NULL;
    if (most < 0)
        return PyErr_Format(PyExc_ValueError, "most_bytes is negative");
    struct asf__file *f = asf__file_of(m, argument, "rb", &own);
    struct records *r = f ? (struct records *)PyType_GenericAlloc(m->records, 0) : NULL;
    if (!r) {
        Py_XDECREF((PyObject *)f);
        return NULL;
    }
    r->file = f;
    r->own = own;
    r->format = Py_NewRef(Py_None);
    if (begin(r, f,
              &(struct asf_record_options){.size = sizeof(struct asf_record_options),
                                           .most_bytes = (size_t)most}))
        return (PyObject *)r;
    Py_DECREF((PyObject *)r);
    return NULL;
}

static bool is_open(const struct records *r) {
    if (!r->reader)
        PyErr_SetString(PyExc_ValueError, "the reader is closed");
    return r->reader;
}

/* Returns whether the reader may be used; the caller then calls asf__file_leave. */
static bool enter(struct records *r) {
    if (!asf__file_enter(r->file, ASF_READ, NULL))
        return false;
    if (is_open(r))
        return true;
    asf__file_leave(r->file);
    return false;
}

static PyObject *records_enter(PyObject *self, PyObject *unused) {
    (void)unused;
    return is_open((struct records *)self) ? Py_NewRef(self) : NULL;
}

static PyObject *record_of(struct records *r, struct asf_record *record) {
    struct asf_record_value whole;
    const char *name = asf_record_layout_name(asf_record_layout_of(asf_record_format_of(record)));
    PyObject *format = text_of(name, strlen(name));
    if (!format)
        return NULL;
    Py_DECREF(r->format);
    r->format = format;
    int rc = asf_record_find(record, "", &whole);
    return rc < 0 ? asf__raise_why(rc, asf_record_why(), r->file->name) : struct_of(&whole);
}

static PyObject *records_next(PyObject *self) {
    struct records *r = (struct records *)self;
    struct asf_record *record;
    int rc;
    if (!enter(r))
        return NULL;
    ASF_WITHOUT_GIL(rc = asf_record_next(r->reader, &record));
    PyObject *fields = rc > 0 ? record_of(r, record) : NULL;
    if (rc < 0)
        asf__raise_why(rc, asf_record_why(), r->file->name);
    asf__file_leave(r->file);
    return fields;
}

static PyObject *records_seek(PyObject *self, PyObject *argument) {
    struct records *r = (struct records *)self;
    unsigned long long number = PyLong_AsUnsignedLongLong(argument);
    int rc;
    if (PyErr_Occurred() || !enter(r))
        return NULL;
    ASF_WITHOUT_GIL(rc = asf_record_seek(r->reader, number));
    asf__file_leave(r->file);
    return rc < 0 ? asf__raise_why(rc, asf_record_why(), r->file->name) : Py_NewRef(Py_None);
}

static PyObject *records_count(PyObject *self, PyObject *unused) {
    (void)unused;
    struct records *r = (struct records *)self;
    uint64_t count;
    int rc;
    if (!enter(r))
        return NULL;
    ASF_WITHOUT_GIL(rc = asf_record_count(r->reader, &count));
    asf__file_leave(r->file);
    return rc < 0 ? asf__raise_why(rc, asf_record_why(), r->file->name) : PyLong_FromUnsignedLongLong(count);
}

/* No thread uses the reader: the caller has entered the file, or holds the last reference. */
static void free_reader(struct records *r) {
    struct asf_record_reader *reader = r->reader;
    r->reader = NULL;
    if (reader) {
        ASF_WITHOUT_GIL(asf_record_reader_free(reader));
        r->file->users--;
    }
}

static PyObject *records_close(PyObject *self, PyObject *unused) {
    (void)unused;
    struct records *r = (struct records *)self;
    if (r->reader) {
        if (!asf__file_enter(r->file, ASF_ANY, NULL))
            return NULL;
        free_reader(r);
        asf__file_leave(r->file);
    }
    return r->own && asf__file_close(r->file) < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *records_format(PyObject *self, void *unused) {
    (void)unused;
    return Py_NewRef(((struct records *)self)->format);
}

static PyObject *records_repr(PyObject *self) {
    return asf__repr_on(self, ((struct records *)self)->file, ((struct records *)self)->reader);
}

static void records_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    struct records *r = (struct records *)self;
    PyObject *error[3];
    PyErr_Fetch(&error[0], &error[1], &error[2]);
    free_reader(r);
    if (r->own && asf__file_close(r->file) < 0)
        PyErr_WriteUnraisable(NULL);
    PyErr_Restore(error[0], error[1], error[2]);
    Py_DECREF((PyObject *)r->file);
    Py_DECREF(r->format);
    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

PyDoc_STRVAR(records_doc, "An iterator over the records of a file, which records() returns.\n\n"
                          "Each is a dict of its fields by name, whatever machine has written it: int, "
                          "float, bool and str; str or\n"
                          "None for a string; str for characters; a list for an array, a dict for a struct.");
PyDoc_STRVAR(seek_doc, "seek($self, number, /)\n--\n\n"
                       "Make the record of this number the next, from 0 on; of a file that can seek.");
PyDoc_STRVAR(count_doc,
             "count($self, /)\n--\n\n"
             "Return how many records the file has, and go to the first; of a file that can seek.");
PyDoc_STRVAR(close_doc, "close($self, /)\n--\n\n"
                        "End the reading; a file that records() has opened is closed.");

static PyMethodDef records_methods[] = {
    {"seek", records_seek, METH_O, seek_doc},         {"count", records_count, METH_NOARGS, count_doc},
    {"close", records_close, METH_NOARGS, close_doc}, {"__enter__", records_enter, METH_NOARGS, NULL},
    {"__exit__", records_close, METH_VARARGS, NULL},  {NULL, NULL, 0, NULL},
};

static PyGetSetDef records_getset[] = {
    {"format", records_format, NULL, "The name of the format of the record that was returned last, or None.",
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot records_slots[] = {
    {Py_tp_doc, (void *)records_doc}, {Py_tp_dealloc, records_dealloc},
    {Py_tp_repr, records_repr},       {Py_tp_methods, records_methods},
    {Py_tp_getset, records_getset},   {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, records_next},   {0, NULL},
};

PyType_Spec asf__records_spec = {
    .name = "asf.Records",
    .basicsize = sizeof(struct records),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = records_slots,
};
