/* SPDX-License-Identifier: MIT
 *
 * python_parts.c - parts of a file as plain values, and streams on them.
 */
#include "interfaces/python/python_module.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <asf/parts.h>

/* --- the type asf.Part ------------------------------------------------------------ */

static PyStructSequence_Field fields[] = {
    {"path", "of the file, as parts() was given it"},
    {"begin", "offset of the first byte"},
    {"end", "offset after the last byte; -1: the part ends where the input ends"},
    {"index", "number of this part, from 0"},
    {"count", "how many parts the file has"},
    {"size", "of the file when it was cut"},
    {"modified", "time at which the file was modified, in nanoseconds"},
    {"form", "0: plain; others: the streams have decoded bytes"},
    {"before", "decoded bytes at the beginning that belong to the part before"},
    {"after", "decoded bytes after `end` that belong to this part"},
    {"inode", "of the file"},
    {"delimiter", "the byte that ends every part but perhaps the last; -1: none"},
    {NULL, NULL},
};

static PyStructSequence_Desc description = {
    .name = "asf.Part",
    .doc = "A part of a file, which parts() returns: a named tuple, to be pickled, compared, sent to other\n"
           "processes and given to open() and read_columns().",
    .fields = fields,
    .n_in_sequence = 12,
};

PyTypeObject *asf__part_type(void) {
    return PyStructSequence_NewType(&description);
}

/* returns  false with an exception */
static bool set_field(PyObject *part, Py_ssize_t at, PyObject *value) {
    if (value)
        PyStructSequence_SetItem(part, at, value);
    return value;
}

static PyObject *value_of(struct asf__module *module, PyObject *path, const struct asf_part *p) {
    const int64_t numbers[] = {p->begin,    p->end,  p->index,  p->count, p->size,
                               p->modified, p->form, p->before, p->after};
    enum { COUNT = sizeof numbers / sizeof *numbers };
    PyObject *part = PyStructSequence_New(module->part);
    bool good = part && set_field(part, 0, Py_NewRef(path));
    for (Py_ssize_t i = 0; good && i < COUNT; i++)
        good = set_field(part, 1 + i, PyLong_FromLongLong(numbers[i]));
    if (good && set_field(part, 1 + COUNT, PyLong_FromUnsignedLongLong(p->inode)) &&
        set_field(part, 2 + COUNT, PyLong_FromLong(p->delimiter)))
        return part;
    Py_XDECREF(part);
    return NULL;
}

bool asf__part_of(PyObject *value, struct asf_part *part, PyObject **path) {
    long long n[9];
    unsigned long long inode;
    int delimiter;
    if (!PyArg_ParseTuple(value, "O&LLLLLLLLLKi;a part is one that parts() has returned",
                          PyUnicode_FSConverter, path, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7],
                          &n[8], &inode, &delimiter))
        return false;
    *part = (struct asf_part){.begin = n[0],
                              .end = n[1],
                              .index = n[2],
                              .count = n[3],
                              .size = n[4],
                              .modified = n[5],
                              .form = n[6] >= 0 && n[6] <= ASF_PART_WHOLE ? (int32_t)n[6] : -1,
                              .before = n[7],
                              .after = n[8],
                              .inode = inode,
                              .delimiter = delimiter};
    return true;
}

/* --- cutting ------------------------------------------------------------ */

static PyObject *list_of(struct asf__module *module, PyObject *path, const struct asf_part *parts,
                         Py_ssize_t count) {
    PyObject *list = PyList_New(count);
    for (Py_ssize_t i = 0; list && i < count; i++) {
        PyObject *part = value_of(module, path, &parts[i]);
        if (!part || PyList_SetItem(list, i, part) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *cut(struct asf__module *module, PyObject *path, const struct asf_cut *how) {
    PyObject *name, *list = NULL;
    struct asf_part *parts = NULL;
    ssize_t count;
    if (!PyUnicode_FSConverter(path, &name))
        return NULL;
    const char *text = PyBytes_AsString(name);
    do
        ASF_WITHOUT_GIL(count = asf_parts(text, how, &parts));
    while (asf__again(count));
    Py_DECREF(name);
    if (count < 0)
        return asf__raise_decoding(count, path);
    list = list_of(module, path, parts, count);
    free(parts);
    return list;
}

PyObject *asf__parts(PyObject *module, PyObject *args, PyObject *keywords) {
    static char *names[] = {"file", "size", "delimiter", "record", "decode", NULL};
    PyObject *file;
    Py_ssize_t size = 0, record = 0;
    char delimiter = '\n';
    int decode = 0;
    if (!asf__parse(args, keywords, "O|$ncnp:parts", names, &file, &size, &delimiter, &record, &decode))
        return NULL;
    if (size < 0 || record < 0)
        return PyErr_Format(PyExc_ValueError, "a negative number of bytes");
    PyObject *path = PyOS_FSPath(file);
    const struct asf_cut how = {
        .delimiter = (unsigned char)delimiter, .record = record, .size = size, .decode = decode};
    PyObject *list = path ? cut(PyModule_GetState(module), path, &how) : NULL;
    Py_XDECREF(path);
    return list;
}

/* --- the stream ------------------------------------------------------------ */

bool asf__open_part(struct asf__file *f) {
    struct asf_part part;
    PyObject *path;
    int error;
    if (!asf__part_of(f->name, &part, &path))
        return false;
    const char *name = PyBytes_AsString(path);
    do
        ASF_WITHOUT_GIL(f->stream = asf_sopen_part(name, &part, &error));
    while (!f->stream && asf__again(error));
    Py_DECREF(path);
    f->regular = part.end >= 0 && part.form == ASF_PART_PLAIN;
    f->part = part.end - part.begin;
    if (!f->stream)
        asf__raise_decoding(error, f->name);
    return f->stream;
}
