/* SPDX-License-Identifier: MIT
 *
 * python_text.c - text files: an io.TextIOWrapper whose lines are decoded in place.
 *
 * TextIOWrapper decodes chunks, and cuts lines from them.  A TextFile's iteration takes the next line of its
 * File instead, while TextIOWrapper has read nothing ahead.  Then both have the same offset, and any method
 * of TextIOWrapper continues from it.
 */
#include "interfaces/python/python_module.h"

#include <string.h>
#include <unistd.h>

/* The members of a TextFile after those of TextIOWrapper, whose size is known only at run time. */
struct text {
    struct asf__file *file; /* the buffer, borrowed; NULL: use TextIOWrapper's lines */
    bool universal;         /* '\r' also ends a line */
    bool translates;        /* "\r\n" becomes "\n" */
    bool direct;            /* TextIOWrapper has read nothing ahead */
    bool lf, crlf;          /* line ends seen so far */
    bool strict;            /* errors is "strict" */
    char errors[32];        /* the error handler for invalid UTF-8 */
    PyObject *readline;     /* TextIOWrapper's method, borrowed from the type */
};

static Py_ssize_t text_offset;

static struct text *text_of(PyObject *self) {
    return (struct text *)(void *)((char *)self + text_offset);
}

/* super() */
static PyObject *super_of(PyObject *self) {
    return PyObject_CallFunction((PyObject *)&PySuper_Type, "OO", Py_TYPE(self), self);
}

static PyObject *call_base(PyObject *self, const char *name, PyObject *args, PyObject *keywords) {
    PyObject *super = super_of(self);
    PyObject *method = super ? PyObject_GetAttrString(super, name) : NULL;
    PyObject *result = method ? PyObject_Call(method, args, keywords) : NULL;
    Py_XDECREF(method);
    Py_XDECREF(super);
    return result;
}

/* --- lines ------------------------------------------------------------ */

/* Decode a copy of the line: an error handler may use the file and so invalidate the line.
 *   crlf  the line's final "\r\n" becomes "\n" */
static PyObject *decode_copy(const struct text *t, const char *line, ssize_t n, bool crlf) {
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, n - crlf); /* not a shared one-byte object */
    char *copy = bytes ? PyBytes_AsString(bytes) : NULL;
    if (!copy)
        return NULL;
    memcpy(copy, line, (size_t)(n - crlf));
    copy[n - crlf - 1] = line[n - 1];
    PyObject *text = PyUnicode_DecodeUTF8(copy, n - crlf, t->errors);
    Py_DECREF(bytes);
    return text;
}

static PyObject *next_of_base(PyObject *self) {
    PyObject *line = PyObject_CallFunctionObjArgs(text_of(self)->readline, self, NULL);
    if (!line || PyUnicode_GetLength(line) > 0)
        return line;
    Py_DECREF(line);
    return NULL;
}

/* A cookie above 63 bits carries decoder state. */
static bool is_plain(PyObject *place) {
    bool plain = place && PyLong_AsLongLong(place) >= 0;
    if (place && PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_OverflowError))
        PyErr_Clear();
    return plain;
}

static PyObject *next_direct(PyObject *self) {
    struct text *t = text_of(self);
    ssize_t n = 0;
    const char *line = asf__file_line(t->file, &n);
    if (!line)
        return NULL;
    const char *cr = t->universal ? memchr(line, '\r', (size_t)n) : NULL;
    bool crlf = cr && cr == line + n - 2 && cr[1] == '\n';
    if (!cr || crlf) {
        t->crlf |= crlf;
        t->lf |= !crlf && line[n - 1] == '\n';
        crlf = crlf && t->translates;
        return crlf || !t->strict ? decode_copy(t, line, n, crlf) : PyUnicode_DecodeUTF8(line, n, NULL);
    }
    struct asf__file *f = t->file;
    t->file = NULL; /* a lone '\r' ends a line: use TextIOWrapper's lines from now on */
    return asf__file_unread(f, line) ? next_of_base(self) : NULL;
}

static PyObject *text_next(PyObject *self) {
    struct text *t = text_of(self);
    return t->file && t->direct ? next_direct(self) : next_of_base(self);
}

/* --- methods of TextIOWrapper ------------------------------------------------------------ */

/* Only a seek makes the file direct again: after translated newlines TextIOWrapper's tell() is wrong, because
 * it counts "\r\n" as one byte. */
static PyObject *read_ahead(PyObject *self, const char *name, PyObject *args, PyObject *keywords) {
    text_of(self)->direct = false;
    return call_base(self, name, args, keywords);
}

static PyObject *text_read(PyObject *self, PyObject *args, PyObject *keywords) {
    return read_ahead(self, "read", args, keywords);
}

static PyObject *text_readline(PyObject *self, PyObject *args, PyObject *keywords) {
    struct text *t = text_of(self);
    if (PyTuple_Size(args) > 0 || keywords || !t->file || !t->direct)
        return read_ahead(self, "readline", args, keywords);
    PyObject *line = next_direct(self);
    return line || PyErr_Occurred() ? line : PyUnicode_FromString("");
}

/* After these calls TextIOWrapper's lines are used. */
static PyObject *text_reconfigure(PyObject *self, PyObject *args, PyObject *keywords) {
    text_of(self)->file = NULL;
    return call_base(self, "reconfigure", args, keywords);
}

static PyObject *text_detach(PyObject *self, PyObject *args, PyObject *keywords) {
    text_of(self)->file = NULL;
    return call_base(self, "detach", args, keywords);
}

static initproc base_init(PyObject *self) {
    PyTypeObject *base = PyType_GetSlot(Py_TYPE(self), Py_tp_base);
    return (initproc)PyType_GetSlot(base, Py_tp_init);
}

static int text_init(PyObject *self, PyObject *args, PyObject *keywords) {
    text_of(self)->file = NULL;
    return base_init(self)(self, args, keywords);
}

static PyObject *text_seek(PyObject *self, PyObject *args, PyObject *keywords) {
    PyObject *place = read_ahead(self, "seek", args, keywords);
    struct text *t = text_of(self);
    t->direct = is_plain(place);
    if (place)
        t->lf = t->crlf = false;
    return place;
}

/* Returns whether `seen`, TextIOWrapper's string or tuple of newlines, includes this newline. */
static bool has_newline(PyObject *seen, const char *newline) {
    PyObject *tuple = PyTuple_Check(seen) ? Py_NewRef(seen) : PyTuple_Pack(1, seen);
    PyObject *text = tuple ? PyUnicode_FromString(newline) : NULL;
    bool has = text && PySequence_Contains(tuple, text) == 1;
    Py_XDECREF(text);
    Py_XDECREF(tuple);
    return has;
}

/* Returns the newline that was seen, or a tuple of several; None: no newline was seen. */
static PyObject *text_newlines(PyObject *self, void *unused) {
    (void)unused;
    struct text *t = text_of(self);
    PyObject *super = super_of(self), *list = PyList_New(0);
    PyObject *seen = super && list ? PyObject_GetAttrString(super, "newlines") : NULL;
    const char *const known[] = {"\r", "\n", "\r\n"};
    const bool taken[] = {false, t->universal && t->lf, t->universal && t->crlf};
    for (int i = 0; seen && i < 3; i++) {
        PyObject *text = taken[i] || has_newline(seen, known[i]) ? PyUnicode_FromString(known[i]) : NULL;
        if (text)
            PyList_Append(list, text);
        Py_XDECREF(text);
    }
    Py_ssize_t n = seen && !PyErr_Occurred() ? PyList_Size(list) : -1;
    PyObject *result = n < 0    ? NULL
                       : n == 0 ? Py_NewRef(Py_None)
                       : n == 1 ? Py_NewRef(PyList_GetItem(list, 0))
                                : PyList_AsTuple(list);
    Py_XDECREF(seen);
    Py_XDECREF(list);
    Py_XDECREF(super);
    return result;
}

/* --- making one ------------------------------------------------------------ */

static bool is_utf8(PyObject *encoding) {
    static const char *const names[] = {"utf-8", "UTF-8", "utf8", "UTF8"};
    bool is = false;
    for (int i = 0; i < 4 && !is; i++)
        is = PyUnicode_CompareWithASCIIString(encoding, names[i]) == 0;
    return is;
}

static bool copy_errors(PyObject *self, struct text *t) {
    PyObject *errors = PyObject_GetAttrString(self, "errors");
    PyObject *name = errors && PyUnicode_Check(errors) ? PyUnicode_AsUTF8String(errors) : NULL;
    bool fits = name && PyBytes_Size(name) < (Py_ssize_t)sizeof t->errors;
    if (fits)
        memcpy(t->errors, PyBytes_AsString(name), (size_t)PyBytes_Size(name) + 1);
    Py_XDECREF(name);
    Py_XDECREF(errors);
    return fits;
}

/* Detach the buffer of a TextIOWrapper, and make a TextFile on it.  NULL with an exception. */
static PyObject *make_direct(PyTypeObject *type, PyObject *wrapper, PyObject *args, PyObject *options,
                             const char *newline) {
    PyObject *file = PyObject_CallMethod(wrapper, "detach", NULL);
    PyObject *text = file ? PyType_GenericAlloc(type, 0) : NULL;
    if (text && base_init(text)(text, args, options) < 0)
        Py_CLEAR(text);
    struct text *t = text ? text_of(text) : NULL;
    if (t && copy_errors(text, t)) {
        t->file = (struct asf__file *)file;
        t->universal = !newline || !*newline;
        t->translates = !newline;
        t->strict = strcmp(t->errors, "strict") == 0;
        t->direct = true;
    }
    if (t && !PyErr_Occurred())
        t->readline = PyObject_GetAttrString(PyType_GetSlot(type, Py_tp_base), "readline");
    if (t && !t->readline)
        Py_CLEAR(text);
    else if (t)
        Py_DECREF(t->readline);
    Py_XDECREF(file);
    return text;
}

/* For its own lines TextIOWrapper then reads 32 KB at a time: a line of 117 bytes takes 65 ns instead of
 * 76. */
static bool enlarge_chunk(PyObject *text) {
    PyObject *chunk = PyLong_FromLong(32768);
    bool set = chunk && PyObject_SetAttrString(text, "_CHUNK_SIZE", chunk) == 0;
    Py_XDECREF(chunk);
    return set;
}

/* Returns a TextFile if each line up to '\n' can be decoded by itself, else a TextIOWrapper. */
static PyObject *wrap(PyTypeObject *type, struct asf__file *f, PyObject *args, PyObject *options,
                      const char *newline) {
    bool suits = f->regular && !f->writable && (!newline || !*newline || strcmp(newline, "\n") == 0);
    PyObject *wrapper = PyObject_Call(PyType_GetSlot(type, Py_tp_base), args, options), *text = NULL;
    PyObject *encoding = wrapper ? PyObject_GetAttrString(wrapper, "encoding") : NULL;
    if (encoding && !(suits && is_utf8(encoding)))
        text = Py_NewRef(wrapper);
    else if (encoding && PyDict_SetItemString(options, "encoding", encoding) == 0)
        text = make_direct(type, wrapper, args, options, newline);
    Py_XDECREF(encoding);
    Py_XDECREF(wrapper);
    return text;
}

PyObject *asf__text_new(PyTypeObject *type, struct asf__file *f, PyObject *options, const char *newline) {
    PyObject *tty = PyBool_FromLong(isatty(asf_fileno(f->stream)));
    PyObject *args = Py_BuildValue("(O)", (PyObject *)f), *text = NULL;
    if (args && PyDict_SetItemString(options, "line_buffering", tty) == 0)
        text = wrap(type, f, args, options, newline);
    Py_XDECREF(args);
    Py_DECREF(tty);
    if (text && !enlarge_chunk(text))
        Py_CLEAR(text);
    return text;
}

/* --- the type ------------------------------------------------------------ */

PyDoc_STRVAR(text_doc, "A file of text, which open() returns for reading UTF-8 from a regular file: an\n"
                       "io.TextIOWrapper on a File, whose lines are decoded where they lie.");

#define METHOD(name)                                                                                         \
    { #name, (PyCFunction)(void (*)(void))text_##name, METH_VARARGS | METH_KEYWORDS, NULL }

static PyMethodDef text_methods[] = {
    METHOD(read), METHOD(readline), METHOD(seek), METHOD(reconfigure), METHOD(detach), {NULL, NULL, 0, NULL},
};

static PyGetSetDef text_getset[] = {
    {"newlines", text_newlines, NULL, "The kinds of newline that were read.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot text_slots[] = {
    {Py_tp_doc, (void *)text_doc}, {Py_tp_init, text_init},     {Py_tp_methods, text_methods},
    {Py_tp_getset, text_getset},   {Py_tp_iternext, text_next}, {0, NULL},
};

PyTypeObject *asf__text_type(PyObject *module) {
    PyObject *io = PyImport_ImportModule("io"), *type = NULL;
    PyObject *base = io ? PyObject_GetAttrString(io, "TextIOWrapper") : NULL;
    PyObject *size = base ? PyObject_GetAttrString(base, "__basicsize__") : NULL;
    if (size) {
        text_offset = PyLong_AsSsize_t(size);
        PyType_Spec spec = {.name = "asf.TextFile",
                            .basicsize = (int)text_offset + (int)sizeof(struct text),
                            .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                            .slots = text_slots};
        type = PyType_FromModuleAndSpec(module, &spec, base);
    }
    Py_XDECREF(size);
    Py_XDECREF(base);
    Py_XDECREF(io);
    return (PyTypeObject *)type;
}
