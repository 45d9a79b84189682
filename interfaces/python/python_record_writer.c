/* SPDX-License-Identifier: MIT
 *
 * python_record_writer.c - formats that a program declares, and dictionaries written as records.
 *
 * A record is built in C's layout: a block for its struct, and one for each array or string that it points
 * to.  The blocks are bytes objects in a list, which is freed when the record is written.
 */
#include "interfaces/python/python_module.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <asf/record.h>

/* A struct of a format: its fields, and for each field its key and, if the field is a struct, its plan. */
struct plan {
    struct asf_record_type type;
    struct asf_record_field *fields;
    struct asf__key {
        PyObject *name;
        struct plan *of;
        int counter; /* field with the dynamic array's length, or -1 */
        bool counts; /* the field is the length of an array */
    } * keys;
};

struct format {
    PyObject_HEAD struct asf_record_format *format;
    struct plan *plan;
};

/* --- declaring ------------------------------------------------------------ */

static void free_plan(struct plan *p) {
    for (size_t i = 0; p && i < p->type.count; i++) {
        free((char *)(uintptr_t)p->fields[i].name);
        free((char *)(uintptr_t)p->fields[i].counter);
        Py_XDECREF(p->keys[i].name);
        free_plan(p->keys[i].of);
    }
    if (p) {
        free((char *)(uintptr_t)p->type.name);
        free(p->fields);
        free(p->keys);
    }
    free(p);
}

static bool set_kind(struct asf_record_field *field, const char *type) {
    static const struct {
        const char *name;
        enum asf_record_kind kind;
        size_t size;
    } kinds[] = {
        {"int8", ASF_RECORD_INT, 1},      {"int16", ASF_RECORD_INT, 2},     {"int32", ASF_RECORD_INT, 4},
        {"int64", ASF_RECORD_INT, 8},     {"uint8", ASF_RECORD_UINT, 1},    {"uint16", ASF_RECORD_UINT, 2},
        {"uint32", ASF_RECORD_UINT, 4},   {"uint64", ASF_RECORD_UINT, 8},   {"float32", ASF_RECORD_FLOAT, 4},
        {"float64", ASF_RECORD_FLOAT, 8}, {"char", ASF_RECORD_CHAR, 1},     {"bool", ASF_RECORD_BOOL, 1},
        {"enum", ASF_RECORD_ENUM, 4},     {"string", ASF_RECORD_STRING, 8},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].name, type)) {
            field->kind = kinds[i].kind;
            field->size = kinds[i].size;
            return true;
        }
    char known[200] = "";
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        strcat(strcat(known, i ? ", " : ""), kinds[i].name);
    PyErr_Format(PyExc_ValueError, "the type '%s' is not known: %s, and a dict for a struct, are", type,
                 known);
    return false;
}

/* Parse "v", "v[3]" or "v[n]". */
static bool set_name(struct asf_record_field *field, const char *declarator) {
    size_t length = strcspn(declarator, "["), rest = strlen(declarator + length);
    field->name = strndup(declarator, length);
    field->count = 1;
    field->shape = ASF_RECORD_SINGLE;
    if (rest == 0)
        return true;
    char *inner = strndup(declarator + length + 1, rest - 1), *end = NULL;
    bool closed = inner && rest > 2 && inner[rest - 2] == ']';
    if (closed) {
        inner[rest - 2] = '\0';
        field->count = strtoul(inner, &end, 10);
        field->shape = *end ? ASF_RECORD_DYNAMIC : ASF_RECORD_ARRAY;
    }
    if (closed && *end) {
        field->counter = inner;
        field->count = 1;
        return true;
    }
    free(inner);
    if (!closed || field->count == 0)
        PyErr_Format(PyExc_ValueError, "'%s' is no field: a name, name[3] or name[counter]", declarator);
    return closed && field->count > 0;
}

static struct plan *new_plan(const char *name, PyObject *fields, int level);

/* Declare the i-th field. */
static bool add_field(struct plan *p, size_t i, PyObject *declarator, PyObject *type, int level) {
    struct asf_record_field *field = &p->fields[i];
    PyObject *text = PyUnicode_AsUTF8String(declarator), *kind = NULL;
    bool good = text && set_name(field, PyBytes_AsString(text));
    Py_XDECREF(text);
    if (good && PyDict_Check(type)) {
        p->keys[i].of = new_plan(field->name, type, level + 1);
        field->kind = ASF_RECORD_STRUCT;
        field->type = p->keys[i].of ? &p->keys[i].of->type : NULL;
        field->size = field->type ? field->type->size : 0;
        good = field->type;
    } else if (good) {
        kind = PyUnicode_AsUTF8String(type);
        good = kind && set_kind(field, PyBytes_AsString(kind));
        Py_XDECREF(kind);
    }
    p->keys[i].name = good ? PyUnicode_InternFromString(field->name) : NULL;
    p->keys[i].counter = -1;
    return p->keys[i].name;
}

/* Compute offsets and size as C does on this machine. */
static void place_fields(struct plan *p) {
    size_t at = 0, widest = 1;
    for (size_t i = 0; i < p->type.count; i++) {
        struct asf_record_field *field = &p->fields[i];
        bool pointer = field->shape == ASF_RECORD_DYNAMIC || field->kind == ASF_RECORD_STRING;
        size_t alignment = pointer ? sizeof(void *) : field->type ? field->type->alignment : field->size;
        at = (at + alignment - 1) / alignment * alignment;
        field->offset = at;
        at += field->shape == ASF_RECORD_DYNAMIC ? sizeof(void *) : field->size * field->count;
        widest = alignment > widest ? alignment : widest;
    }
    p->type.size = (at + widest - 1) / widest * widest;
    p->type.alignment = widest;
}

/* asf_record_declare reports a counter that is missing or not an integer. */
static void find_counters(struct plan *p) {
    for (size_t i = 0; i < p->type.count; i++)
        for (size_t j = 0; p->fields[i].counter && j < p->type.count; j++)
            if (!strcmp(p->fields[i].counter, p->fields[j].name)) {
                p->keys[i].counter = (int)j;
                p->keys[j].counts = true;
            }
}

static struct plan *new_plan(const char *name, PyObject *fields, int level) {
    enum { LEVELS = 16 };
    PyObject *declarator, *type;
    Py_ssize_t place = 0, count = PyDict_Size(fields);
    struct plan *p = calloc(1, sizeof *p);
    if (!p || level > LEVELS || count > INT_MAX / 64) {
        free(p);
        return (struct plan *)PyErr_Format(PyExc_ValueError, "structs are too deep, or have too many fields");
    }
    p->type.name = strdup(name);
    p->type.fields = p->fields = calloc((size_t)count + 1, sizeof *p->fields);
    p->keys = calloc((size_t)count + 1, sizeof *p->keys);
    bool good = p->type.name && p->fields && p->keys;
    if (!good)
        PyErr_NoMemory();
    while (good && p->type.count < (size_t)count && PyDict_Next(fields, &place, &declarator, &type))
        good = add_field(p, p->type.count++, declarator, type, level);
    if (!good) {
        free_plan(p);
        return NULL;
    }
    place_fields(p);
    find_counters(p);
    return p;
}

PyObject *asf__record_format(PyObject *module, PyObject *args) {
    struct asf__module *m = PyModule_GetState(module);
    const char *name;
    PyObject *fields;
    if (!PyArg_ParseTuple(args, "sO!:record_format", &name, &PyDict_Type, &fields))
        return NULL;
    struct format *f = (struct format *)PyType_GenericAlloc(m->format, 0);
    if (!f)
        return NULL;
    f->plan = new_plan(name, fields, 1);
    int rc = f->plan ? asf_record_declare(&f->plan->type, &f->format) : 0;
    if (rc < 0)
        PyErr_Format(rc == -ENOMEM ? PyExc_MemoryError : PyExc_ValueError, "%s", asf_record_why());
    if (f->format)
        return (PyObject *)f;
    Py_DECREF((PyObject *)f);
    return NULL;
}

static PyObject *format_repr(PyObject *self) {
    return PyUnicode_FromFormat("<asf.Format '%s'>", ((struct format *)self)->plan->type.name);
}

static void format_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    struct format *f = (struct format *)self;
    asf_record_format_free(f->format);
    free_plan(f->plan);
    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

static PyType_Slot format_slots[] = {
    {Py_tp_doc, "A format of records, which record_format() returns."},
    {Py_tp_dealloc, format_dealloc},
    {Py_tp_repr, format_repr},
    {0, NULL},
};

PyType_Spec asf__format_spec = {
    .name = "asf.Format",
    .basicsize = sizeof(struct format),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = format_slots,
};

/* --- putting values ------------------------------------------------------------ */

/* Allocate a block of zero bytes that lives as long as the list.  NULL with an exception. */
static char *block(PyObject *list, size_t size) {
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (!bytes || PyList_Append(list, bytes) < 0) {
        Py_XDECREF(bytes);
        return NULL;
    }
    Py_DECREF(bytes); /* the list holds a reference */
    return memset(PyBytes_AsString(bytes), 0, size);
}

/* The low bytes of `n` come first: asf supports only little-endian machines. */
static bool put_integer(const struct asf_record_field *field, PyObject *value, char *to) {
    PyObject *index = PyNumber_Index(value);
    int bits = 8 * (int)field->size;
    bool is_signed = field->kind != ASF_RECORD_UINT, fits = false;
    if (!index)
        return false;
    long long n = is_signed ? PyLong_AsLongLong(index) : (long long)PyLong_AsUnsignedLongLong(index);
    Py_DECREF(index);
    if (PyErr_Occurred())
        return false;
    if (is_signed)
        fits = n >> (bits - 1) == 0 || n >> (bits - 1) == -1;
    else
        fits = bits == 64 || (unsigned long long)n >> bits == 0;
    if (fits)
        memcpy(to, &n, field->size);
    else
        PyErr_Format(PyExc_OverflowError, "'%s' has %d bits, too few for the value", field->name, bits);
    return fits;
}

static bool put_float(const struct asf_record_field *field, PyObject *value, char *to) {
    double real = PyFloat_AsDouble(value);
    float narrow = (float)real;
    if (PyErr_Occurred())
        return false;
    memcpy(to, field->size == sizeof narrow ? (void *)&narrow : (void *)&real, field->size);
    return true;
}

static PyObject *encoded(PyObject *value) {
    return PyUnicode_AsEncodedString(value, "utf-8", "surrogateescape");
}

/* Store a pointer to a string. */
static bool put_string(const struct asf_record_field *field, PyObject *value, char *to, PyObject *list) {
    if (value == Py_None)
        return true;
    PyObject *bytes = encoded(value);
    char *text = bytes ? PyBytes_AsString(bytes) : NULL;
    bool whole = text && strlen(text) == (size_t)PyBytes_Size(bytes);
    bool good = whole && PyList_Append(list, bytes) == 0;
    if (text && !whole)
        PyErr_Format(PyExc_ValueError, "'%s': a string cannot have a null character", field->name);
    Py_XDECREF(bytes);
    if (good)
        memcpy(to, &text, sizeof text);
    return good;
}

/* Store characters in the struct itself; null bytes fill the rest. */
static bool put_characters(const struct asf_record_field *field, PyObject *value, char *to, size_t room) {
    PyObject *bytes = encoded(value);
    if (!bytes)
        return false;
    size_t n = (size_t)PyBytes_Size(bytes);
    if (n <= room)
        memcpy(to, PyBytes_AsString(bytes), n);
    else
        PyErr_Format(PyExc_ValueError, "'%s' has room for %zu characters, not for %zu", field->name, room, n);
    Py_DECREF(bytes);
    return n <= room;
}

static bool put_struct(const struct plan *p, PyObject *record, char *to, PyObject *list);

static bool put_single(const struct plan *p, size_t i, PyObject *value, char *to, PyObject *list) {
    const struct asf_record_field *field = &p->fields[i];
    int truth;
    switch (field->kind) {
    case ASF_RECORD_STRUCT:
        return put_struct(p->keys[i].of, value, to, list);
    case ASF_RECORD_STRING:
        return put_string(field, value, to, list);
    case ASF_RECORD_CHAR:
        return put_characters(field, value, to, 1);
    case ASF_RECORD_FLOAT:
        return put_float(field, value, to);
    case ASF_RECORD_BOOL:
        truth = PyObject_IsTrue(value);
        *to = (char)(truth > 0);
        return truth >= 0;
    default:
        return put_integer(field, value, to);
    }
}

static bool put_items(const struct plan *p, size_t i, PyObject *items, Py_ssize_t count, char *to,
                      PyObject *list) {
    bool good = true;
    for (Py_ssize_t k = 0; good && k < count; k++) {
        PyObject *item = PySequence_GetItem(items, k);
        good = item && put_single(p, i, item, to + (size_t)k * p->fields[i].size, list);
        Py_XDECREF(item);
    }
    return good;
}

/* Store the number of elements in the counter.  If another array has the same counter, the numbers must be
 * equal. */
static bool put_count(const struct plan *p, size_t i, Py_ssize_t count, char *base, bool *counted) {
    size_t at = (size_t)p->keys[i].counter;
    const struct asf_record_field *counter = &p->fields[at];
    long long before = 0;
    memcpy(&before, base + counter->offset, counter->size);
    if (counted[at] && before != count) {
        PyErr_Format(PyExc_ValueError, "'%s' has %zd elements, and '%s' is %lld", p->fields[i].name, count,
                     counter->name, before);
        return false;
    }
    counted[at] = true;
    PyObject *number = PyLong_FromSsize_t(count);
    bool good = number && put_integer(counter, number, base + counter->offset);
    Py_XDECREF(number);
    return good;
}

/* Allocate the elements of a dynamic array, and store the pointer to them.  NULL if the array is empty, or
 * with an exception. */
static char *put_elements(const struct plan *p, size_t i, Py_ssize_t count, char *base, bool *counted,
                          PyObject *list) {
    const struct asf_record_field *field = &p->fields[i];
    if (!put_count(p, i, count, base, counted) || count == 0)
        return NULL;
    if ((size_t)count > (size_t)PY_SSIZE_T_MAX / field->size)
        return (char *)PyErr_NoMemory();
    char *elements = block(list, (size_t)count * field->size);
    memcpy(base + field->offset, &elements, sizeof elements);
    return elements;
}

static bool put_array(const struct plan *p, size_t i, PyObject *value, char *base, bool *counted,
                      PyObject *list) {
    const struct asf_record_field *field = &p->fields[i];
    bool text = field->kind == ASF_RECORD_CHAR;
    PyObject *items = text ? encoded(value) : Py_NewRef(value);
    Py_ssize_t count = items ? PySequence_Size(items) : -1;
    char *to = base + field->offset;
    if (count >= 0 && field->shape == ASF_RECORD_DYNAMIC)
        to = put_elements(p, i, count, base, counted, list);
    else if (count >= 0 && !text && (size_t)count != field->count)
        PyErr_Format(PyExc_ValueError, "'%s' has %zu elements, not %zd", field->name, field->count, count);
    bool good = !PyErr_Occurred();
    if (good && text)
        good = put_characters(field, value, to,
                              field->shape == ASF_RECORD_DYNAMIC ? (size_t)count : field->count);
    else if (good)
        good = put_items(p, i, items, count, to, list);
    Py_XDECREF(items);
    return good;
}

/* If the record has a value for a counter, it must equal the number of elements. */
static bool check_count(const struct plan *p, size_t i, PyObject *record, const char *base) {
    PyObject *value = PyObject_GetItem(record, p->keys[i].name);
    if (!value) {
        bool missing = PyErr_ExceptionMatches(PyExc_KeyError);
        if (missing)
            PyErr_Clear();
        return missing;
    }
    char wanted[8] = {0};
    bool good = put_integer(&p->fields[i], value, wanted);
    if (good && memcmp(wanted, base + p->fields[i].offset, p->fields[i].size) != 0) {
        PyErr_Format(PyExc_ValueError, "'%s' is not the number of elements", p->fields[i].name);
        good = false;
    }
    Py_DECREF(value);
    return good;
}

static bool put_field(const struct plan *p, size_t i, PyObject *record, char *base, bool *counted,
                      PyObject *list) {
    PyObject *value = PyObject_GetItem(record, p->keys[i].name);
    bool good = value && (p->fields[i].shape == ASF_RECORD_SINGLE
                              ? put_single(p, i, value, base + p->fields[i].offset, list)
                              : put_array(p, i, value, base, counted, list));
    Py_XDECREF(value);
    return good;
}

static bool put_struct(const struct plan *p, PyObject *record, char *to, PyObject *list) {
    bool *counted = calloc(p->type.count + 1, sizeof *counted);
    Py_ssize_t known = 0;
    bool good = counted ? true : PyErr_NoMemory() != NULL;
    for (size_t i = 0; good && i < p->type.count; i++)
        if (!p->keys[i].counts)
            good = put_field(p, i, record, to, counted, list);
    for (size_t i = 0; good && i < p->type.count; i++) {
        if (p->keys[i].counts)
            good = check_count(p, i, record, to);
        known += PyMapping_HasKey(record, p->keys[i].name);
    }
    free(counted);
    if (good && PyMapping_Size(record) > known) {
        PyErr_Format(PyExc_ValueError, "the record has fields that '%s' does not have", p->type.name);
        good = false;
    }
    return good;
}

/* --- the writer ------------------------------------------------------------ */

struct record_writer {
    PyObject_HEAD struct asf__file *file;
    struct asf_record_writer *writer; /* NULL: closed */
    bool own;
};

static bool begin(struct record_writer *w, struct asf__file *f, const struct asf_record_options *options) {
    int rc;
    if (!asf__file_enter(f, ASF_WRITE, NULL))
        return false;
    ASF_PUTTING(f, rc = asf_record_writer_new(f->stream, options, &w->writer));
    asf__file_leave(f);
    if (rc < 0)
        asf__raise_why(rc, asf_record_why(), f->name);
    else
        f->users++;
    return rc == 0;
}

PyObject *asf__record_writer(PyObject *module, PyObject *args, PyObject *keywords) {
    static char *names[] = {"file", "indexed", NULL};
    struct asf__module *m = PyModule_GetState(module);
    PyObject *argument;
    int indexed = 0;
    bool own;
    if (!asf__parse(args, keywords, "O|$p:record_writer", names, &argument, &indexed))
        return NULL;
    struct asf__file *f = asf__file_of(m, argument, "wb", &own);
    struct record_writer *w = f ? (struct record_writer *)PyType_GenericAlloc(m->record_writer, 0) : NULL;
    if (!w) {
        Py_XDECREF((PyObject *)f);
        return NULL;
    }
    w->file = f;
    w->own = own;
    if (begin(w, f,
              &(struct asf_record_options){.size = sizeof(struct asf_record_options), .indexed = indexed}))
        return (PyObject *)w;
    Py_DECREF((PyObject *)w);
    return NULL;
}

static bool is_open(const struct record_writer *w) {
    if (!w->writer)
        PyErr_SetString(PyExc_ValueError, "the writer is closed");
    return w->writer;
}

static PyObject *record_writer_enter(PyObject *self, PyObject *unused) {
    (void)unused;
    return is_open((struct record_writer *)self) ? Py_NewRef(self) : NULL;
}

static bool write_record(struct record_writer *w, struct format *f, const char *data) {
    int rc = 0;
    if (!asf__file_enter(w->file, ASF_WRITE, NULL))
        return false;
    const bool open = is_open(w);
    if (open)
        ASF_PUTTING(w->file, rc = asf_record_write(w->writer, f->format, data));
    asf__file_leave(w->file);
    if (rc < 0)
        asf__raise_why(rc, asf_record_why(), w->file->name);
    return open && rc == 0;
}

static PyObject *record_writer_write(PyObject *self, PyObject *args) {
    struct asf__module *m = PyType_GetModuleState(Py_TYPE(self));
    PyObject *format, *record;
    if (!PyArg_ParseTuple(args, "O!O:write", m->format, &format, &record))
        return NULL;
    struct format *f = (struct format *)format;
    PyObject *list = PyList_New(0);
    char *data = list ? block(list, f->plan->type.size) : NULL;
    bool good = data && put_struct(f->plan, record, data, list) &&
                write_record((struct record_writer *)self, f, data);
    Py_XDECREF(list);
    return good ? Py_NewRef(Py_None) : NULL;
}

/* No thread uses the writer: the caller has entered the file, or holds the last reference. */
static void end_writer(struct record_writer *w) {
    struct asf_record_writer *writer = w->writer;
    int rc;
    w->writer = NULL;
    if (!writer)
        return;
    ASF_PUTTING(w->file, rc = asf_record_writer_close(writer));
    w->file->users--;
    if (rc < 0)
        asf__raise_why(rc, asf_record_why(), w->file->name);
}

static PyObject *record_writer_close(PyObject *self, PyObject *unused) {
    (void)unused;
    struct record_writer *w = (struct record_writer *)self;
    PyObject *error[3];
    if (w->writer) {
        if (!asf__file_enter(w->file, ASF_WRITE, NULL))
            return NULL;
        end_writer(w);
        asf__file_leave(w->file);
    }
    PyErr_Fetch(&error[0], &error[1], &error[2]);
    if (w->own)
        asf__file_close(w->file);
    if (error[0])
        PyErr_Restore(error[0], error[1], error[2]);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyObject *record_writer_repr(PyObject *self) {
    return asf__repr_on(self, ((struct record_writer *)self)->file, ((struct record_writer *)self)->writer);
}

static void record_writer_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    struct record_writer *w = (struct record_writer *)self;
    PyObject *error[3];
    PyErr_Fetch(&error[0], &error[1], &error[2]);
    end_writer(w);
    if (PyErr_Occurred() || (w->own && asf__file_close(w->file) < 0))
        PyErr_WriteUnraisable(NULL);
    PyErr_Restore(error[0], error[1], error[2]);
    Py_DECREF((PyObject *)w->file);
    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

PyDoc_STRVAR(writer_doc, "Writes dicts as records, which record_writer() returns.\n\n"
                         "Formats go into the file before their first record.");
PyDoc_STRVAR(write_doc,
             "write($self, format, record, /)\n--\n\n"
             "Write a mapping that has each field of the format by its name.\n\n"
             "A field that counts an array may be left out.  KeyError: a field is missing; ValueError: one\n"
             "is not the format's, or has another number of elements; OverflowError: an integer does not\n"
             "fit.  Nothing is written then.");
PyDoc_STRVAR(close_doc,
             "close($self, /)\n--\n\n"
             "Write the index, if there is to be one; a file that record_writer() has opened is closed.");

static PyMethodDef writer_methods[] = {
    {"write", record_writer_write, METH_VARARGS, write_doc},
    {"close", record_writer_close, METH_NOARGS, close_doc},
    {"__enter__", record_writer_enter, METH_NOARGS, NULL},
    {"__exit__", record_writer_close, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot writer_slots[] = {
    {Py_tp_doc, (void *)writer_doc},
    {Py_tp_dealloc, record_writer_dealloc},
    {Py_tp_repr, record_writer_repr},
    {Py_tp_methods, writer_methods},
    {0, NULL},
};

PyType_Spec asf__record_writer_spec = {
    .name = "asf.RecordWriter",
    .basicsize = sizeof(struct record_writer),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = writer_slots,
};
