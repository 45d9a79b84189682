/* SPDX-License-Identifier: MIT
 *
 * python_lines.c - iterators over the lines of a file, which copy each line or show it in place.
 *
 * A file has one iteration at a time.  asf__file.iterator is the Lines object that copies, or the Line that
 * shows; any other call on the file ends the iteration.
 */
#include "interfaces/python/python_module.h"

#include <errno.h>
#include <string.h>

/* --- the next line ------------------------------------------------------------ */

/* Returns whether asf_lines need not wait: the file is regular, or a whole line is buffered.  Interrupted by
 * a signal, asf_lines would return a part of a line as a line. */
static bool has_line(struct asf__file *f, unsigned char delimiter) {
    const struct asf_view *v = (const struct asf_view *)f->stream;
    ssize_t n = v->read_end - v->read_ptr;
    return f->regular || (n > 0 && memchr(v->read_ptr, delimiter, (size_t)n));
}

/* Begin the iteration.  If the file is not regular, begin again at each wait, which gives back the lines'
 * region. */
static int begin_lines(struct asf__file *f, PyObject *iterator, const struct asf__parting *by) {
    int rc = f->iterator && !f->regular ? asf_lines_end(&f->lines) : 0;
    if (!f->iterator || !f->regular)
        asf_lines_begin(&f->lines, f->stream, by->delimiter, by->longest);
    f->iterator = iterator;
    f->keep = by->keep;
    return rc;
}

/* Find the next line in place.  NULL with *n as asf_lines_next sets it.
 *   region  out: NULL, or the region that has only this line, for the caller to give back */
static const char *find_line(struct asf__file *f, const struct asf__parting *by, ssize_t *n, char **region) {
    const char *line;
    *region = NULL;
    if (has_line(f, by->delimiter)) {
        do
            ASF_WITHOUT_GIL(line = asf_lines_next(&f->lines, n));
        while (!line && asf__again(*n));
        *n += line && f->keep && asf_lines_delimited(&f->lines);
        return line;
    }
    *region = asf__line_region(f, by->delimiter, by->longest, n);
    *n -= *region && !f->keep && (unsigned char)(*region)[*n - 1] == by->delimiter;
    return *region;
}

static PyObject *copy_line(struct asf__file *f, const char *line, char *region, ssize_t *n) {
    PyObject *bytes = line ? asf__copy_bytes(line, *n) : NULL;
    int rc = region ? asf_sfree(f->stream, region) : 0;
    if (rc == 0)
        return bytes;
    Py_XDECREF(bytes);
    *n = rc;
    return NULL;
}

PyObject *asf__wait_for_line(struct asf__file *f, PyObject *iterator, const struct asf__parting *by) {
    if (!asf__file_enter(f, ASF_READ, iterator))
        return NULL;
    char *region = NULL;
    ssize_t n = begin_lines(f, iterator, by);
    const char *line = n < 0 ? NULL : find_line(f, by, &n, &region);
    PyObject *bytes = copy_line(f, line, region, &n);
    if (!bytes && n < 0)
        asf__raise(n, f->name);
    asf__file_leave(f);
    return bytes;
}

static const char *wait_for_file_line(struct asf__file *f, const struct asf__parting *by, ssize_t *n) {
    char *region = NULL;
    if (!asf__file_enter(f, ASF_READ, (PyObject *)f))
        return NULL;
    *n = begin_lines(f, (PyObject *)f, by);
    const char *line = *n < 0 ? NULL : find_line(f, by, n, &region);
    if (!line && *n < 0)
        asf__raise(*n, f->name);
    asf__file_leave(f);
    return line;
}

const char *asf__file_line(struct asf__file *f, ssize_t *n) {
    static const struct asf__parting newlines = {'\n', true, SSIZE_MAX};
    if (!asf__is_line_at_hand(f, f))
        return wait_for_file_line(f, &newlines, n);
    const char *line = asf_lines_next(&f->lines, n);
    ++*n;
    return line;
}

bool asf__file_unread(struct asf__file *f, const char *line) {
    f->lines.line = line; /* asf_lines_end then sets the stream's offset to this line */
    bool ended = asf__file_enter(f, ASF_READ, NULL);
    if (ended)
        asf__file_leave(f);
    return ended;
}

/* --- lines that are copied ------------------------------------------------------------ */

struct lines {
    PyObject_HEAD struct asf__file *file;
    struct asf__parting by;
};

static bool parse_parting(PyObject *args, PyObject *keywords, const char *call, struct asf__parting *by) {
    static char *names[] = {"delimiter", "keep", "longest", NULL};
    char delimiter = '\n';
    int keep = 1;
    Py_ssize_t longest = SSIZE_MAX;
    if (!asf__parse(args, keywords, call, names, &delimiter, &keep, &longest))
        return false;
    *by = (struct asf__parting){(unsigned char)delimiter, keep, longest};
    if (longest < 1)
        PyErr_Format(PyExc_ValueError, "the longest line has a byte or more, not %zd", longest);
    return longest >= 1;
}

PyObject *asf__lines(PyObject *file, PyObject *args, PyObject *keywords) {
    struct asf__module *module = PyType_GetModuleState(Py_TYPE(file));
    struct asf__parting by;
    struct lines *l = parse_parting(args, keywords, "|cpn:lines", &by)
                          ? (struct lines *)PyType_GenericAlloc(module->lines, 0)
                          : NULL;
    if (l) {
        l->file = (struct asf__file *)Py_NewRef(file);
        l->by = by;
    }
    return (PyObject *)l;
}

static PyObject *lines_next(PyObject *self) {
    struct lines *l = (struct lines *)self;
    return asf__next_line(l->file, self, &l->by);
}

/* End the iteration: the stream continues after the last returned line.  If the file was truncated under the
 * lines, the next call reports the truncation. */
static void end_iteration_of(struct asf__file *f, PyObject *iterator) {
    if (f->iterator != iterator)
        return;
    f->unsaid = asf_lines_end(&f->lines);
    f->iterator = f->unsaid ? Py_None : NULL;
    f->line = NULL;
}

static PyObject *lines_repr(PyObject *self) {
    return asf__repr_on(self, ((struct lines *)self)->file, true);
}

static int lines_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT((PyObject *)((struct lines *)self)->file);
    return 0;
}

static void lines_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    struct asf__file *f = ((struct lines *)self)->file;
    PyObject_GC_UnTrack(self);
    if (f) {
        end_iteration_of(f, self);
        Py_DECREF((PyObject *)f);
    }
    PyObject_GC_Del(self);
    Py_DECREF((PyObject *)type);
}

/* --- lines in place ------------------------------------------------------------ */

/* The object that the iterator returns each time. */
struct line {
    struct asf__memory shown;
    struct asf__file *file;
    PyObject *copy; /* copy of a line that had its own region; or NULL */
};

struct lines_in_place {
    PyObject_HEAD struct line *line;
    struct asf__parting by;
};

static struct line *new_line(PyTypeObject *type, PyObject *file) {
    struct line *line = (struct line *)PyType_GenericAlloc(type, 0);
    if (line) {
        line->shown.readonly = true;
        line->file = (struct asf__file *)Py_NewRef(file);
    }
    return line;
}

PyObject *asf__lines_in_place(PyObject *file, PyObject *args, PyObject *keywords) {
    struct asf__module *module = PyType_GetModuleState(Py_TYPE(file));
    struct asf__parting by;
    if (!parse_parting(args, keywords, "|cpn:lines_in_place", &by))
        return NULL;
    struct lines_in_place *l = (struct lines_in_place *)PyType_GenericAlloc(module->lines_in_place, 0);
    if (!l)
        return NULL;
    l->by = by;
    l->line = new_line(module->line, file);
    if (l->line)
        return (PyObject *)l;
    Py_DECREF((PyObject *)l);
    return NULL;
}

/* Copy a line that has its own region: otherwise the next call would have to give the region back.  `at` is
 * NULL while the stream is used, so threads that share the iterator see no bytes. */
static bool show_found(struct line *line, const struct asf__parting *by) {
    struct asf__file *f = line->file;
    char *region = NULL;
    if (asf__memory_is_viewed(&line->shown))
        return false;
    line->shown.at = NULL;
    Py_CLEAR(line->copy);
    ssize_t n = begin_lines(f, (PyObject *)line, by);
    f->line = &line->shown;
    const char *at = n < 0 ? NULL : find_line(f, by, &n, &region);
    if (region) {
        line->copy = copy_line(f, at, region, &n);
        at = line->copy ? PyBytes_AsString(line->copy) : NULL;
    }
    if (!at && n < 0)
        asf__raise(n, f->name);
    line->shown.at = (char *)(uintptr_t)at;
    line->shown.size = at ? n : 0;
    return at;
}

static PyObject *wait_to_show(struct line *line, const struct asf__parting *by) {
    if (!asf__file_enter(line->file, ASF_READ, (PyObject *)line))
        return NULL;
    bool found = show_found(line, by);
    asf__file_leave(line->file);
    return found ? Py_NewRef((PyObject *)line) : NULL;
}

static PyObject *lines_in_place_next(PyObject *self) {
    struct lines_in_place *l = (struct lines_in_place *)self;
    struct line *line = l->line;
    struct asf__file *f = line->file;
    if (line->shown.views > 0 && asf__memory_is_viewed(&line->shown))
        return NULL;
    if (!asf__is_line_at_hand(f, line))
        return wait_to_show(line, &l->by);
    ssize_t n;
    line->shown.at = (char *)(uintptr_t)asf_lines_next(&f->lines, &n);
    line->shown.size = n + f->keep;
    return Py_NewRef((PyObject *)line);
}

static PyObject *lines_in_place_repr(PyObject *self) {
    return asf__repr_on(self, ((struct lines_in_place *)self)->line->file, true);
}

static int lines_in_place_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT((PyObject *)((struct lines_in_place *)self)->line);
    return 0;
}

static void lines_in_place_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_XDECREF((PyObject *)((struct lines_in_place *)self)->line);
    PyObject_GC_Del(self);
    Py_DECREF((PyObject *)type);
}

static int line_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT((PyObject *)((struct line *)self)->file);
    return 0;
}

static void line_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    struct line *line = (struct line *)self;
    PyObject_GC_UnTrack(self);
    Py_XDECREF(line->copy);
    end_iteration_of(line->file, self);
    Py_DECREF((PyObject *)line->file);
    PyObject_GC_Del(self);
    Py_DECREF((PyObject *)type);
}

/* --- a line ------------------------------------------------------------ */

/* Bytes to search for, or to compare with.  `view` is held as long as they are used. */
struct sought {
    Py_buffer view;
    const char *at;
    ssize_t size;
};

static bool get_sought(PyObject *of, struct sought *s) {
    s->view.obj = NULL;
    if (PyBytes_CheckExact(of)) { /* bytes need no view, which saves 15 ns */
        s->at = PyBytes_AsString(of);
        s->size = PyBytes_Size(of);
        return true;
    }
    if (PyObject_GetBuffer(of, &s->view, PyBUF_SIMPLE) < 0)
        return false;
    s->at = s->view.buf;
    s->size = s->view.len;
    return true;
}

/* Returns the first occurrence in [from, end), or NULL. */
static const char *find_sought(const struct sought *s, const char *from, const char *end) {
    size_t n = (size_t)(end - from);
    return s->size == 1 ? memchr(from, s->at[0], n) : memmem(from, n, s->at, (size_t)s->size);
}

/* Returns the line's bytes, or NULL with an exception. */
static const char *shown_bytes(PyObject *self, ssize_t *n) {
    *n = asf__memory_length(self);
    return *n < 0 ? NULL : ((struct line *)self)->shown.at;
}

static PyObject *line_slice(PyObject *self, PyObject *slice) {
    Py_ssize_t start, stop, step, size;
    if (PySlice_Unpack(slice, &start, &stop, &step) < 0)
        return NULL;
    const char *at = shown_bytes(self, &size);
    if (!at)
        return NULL;
    Py_ssize_t n = PySlice_AdjustIndices(size, &start, &stop, step);
    PyObject *bytes = PyBytes_FromStringAndSize(step == 1 ? at + start : NULL, n);
    char *to = bytes && step != 1 ? PyBytes_AsString(bytes) : NULL;
    for (Py_ssize_t i = 0; to && i < n; i++)
        to[i] = at[start + i * step];
    return bytes;
}

static PyObject *line_subscript(PyObject *self, PyObject *key) {
    if (Py_IS_TYPE(key, &PySlice_Type))
        return line_slice(self, key);
    ssize_t n, i = PyNumber_AsSsize_t(key, PyExc_IndexError);
    if (i == -1 && PyErr_Occurred())
        return NULL;
    const char *at = shown_bytes(self, &n);
    if (!at)
        return NULL;
    i += i < 0 ? n : 0;
    if (i >= 0 && i < n)
        return PyLong_FromLong((unsigned char)at[i]);
    return PyErr_Format(PyExc_IndexError, "the line has %zd bytes", n);
}

/* Parse an index of a slice: any number; None leaves the default. */
static bool get_index(PyObject *argument, ssize_t *index) {
    if (argument != Py_None)
        *index = PyNumber_AsSsize_t(argument, NULL);
    return *index != -1 || !PyErr_Occurred();
}

static PyObject *line_find(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    struct sought s;
    ssize_t n, start = 0, stop = SSIZE_MAX;
    if (count < 1 || count > 3)
        return PyErr_Format(PyExc_TypeError, "find() takes bytes, and a start and an end or not");
    if ((count > 1 && !get_index(args[1], &start)) || (count > 2 && !get_index(args[2], &stop)) ||
        !get_sought(args[0], &s))
        return NULL;
    const char *at = shown_bytes(self, &n), *found = NULL;
    start += start < 0 ? n : 0;
    stop += stop < 0 ? n : 0;
    start = start > 0 ? start : 0;
    stop = stop < n ? stop : n;
    if (at && start <= stop)
        found = find_sought(&s, at + start, at + stop);
    PyBuffer_Release(&s.view);
    return at ? PyLong_FromSsize_t(found ? found - at : -1) : NULL;
}

static int line_contains(PyObject *self, PyObject *of) {
    struct sought s;
    ssize_t n;
    if (!get_sought(of, &s))
        return -1;
    const char *at = shown_bytes(self, &n);
    int contains = at ? find_sought(&s, at, at + n) != NULL : -1;
    PyBuffer_Release(&s.view);
    return contains;
}

/* Returns whether the line begins, or ends, with the bytes. */
static PyObject *compare_end(PyObject *self, PyObject *of, bool at_end) {
    struct sought s;
    ssize_t n;
    if (!get_sought(of, &s))
        return NULL;
    const char *at = shown_bytes(self, &n);
    bool same = at && s.size <= n && memcmp(at_end ? at + n - s.size : at, s.at, (size_t)s.size) == 0;
    PyBuffer_Release(&s.view);
    return at ? PyBool_FromLong(same) : NULL;
}

static PyObject *line_startswith(PyObject *self, PyObject *of) {
    return compare_end(self, of, false);
}

static PyObject *line_endswith(PyObject *self, PyObject *of) {
    return compare_end(self, of, true);
}

static PyObject *line_compare(PyObject *self, PyObject *other, int how) {
    struct sought s;
    ssize_t n;
    if ((how != Py_EQ && how != Py_NE) || !PyObject_CheckBuffer(other))
        return Py_NewRef(Py_NotImplemented);
    if (!get_sought(other, &s))
        return NULL;
    const char *at = shown_bytes(self, &n);
    bool same = at && s.size == n && memcmp(at, s.at, (size_t)n) == 0;
    PyBuffer_Release(&s.view);
    return at ? PyBool_FromLong(same == (how == Py_EQ)) : NULL;
}

static bool append_bytes(PyObject *list, const char *from, ssize_t n) {
    PyObject *bytes = PyBytes_FromStringAndSize(from, n);
    bool appended = bytes && PyList_Append(list, bytes) == 0;
    Py_XDECREF(bytes);
    return appended;
}

static PyObject *split(const char *at, const char *end, const struct sought *by, ssize_t most) {
    PyObject *list = PyList_New(0);
    bool appended = list;
    for (const char *found; appended && most != 0 && (found = find_sought(by, at, end)); most--) {
        appended = append_bytes(list, at, found - at);
        at = found + by->size;
    }
    if (appended && append_bytes(list, at, end - at))
        return list;
    Py_XDECREF(list);
    return NULL;
}

/* Parse a non-empty separator. */
static bool get_separator(PyObject *of, struct sought *by) {
    if (!get_sought(of, by))
        return false;
    if (by->size > 0)
        return true;
    PyBuffer_Release(&by->view);
    PyErr_SetString(PyExc_ValueError, "empty separator");
    return false;
}

static PyObject *line_split(PyObject *self, PyObject *args, PyObject *keywords) {
    static char *names[] = {"sep", "maxsplit", NULL};
    PyObject *of;
    struct sought by;
    ssize_t n;
    Py_ssize_t most = -1;
    if (!asf__parse(args, keywords, "O|n:split", names, &of, &most) || !get_separator(of, &by))
        return NULL;
    struct asf__memory *shown = &((struct line *)self)->shown;
    const char *at = shown_bytes(self, &n);
    shown->views++; /* a finalizer may use the file here, and must not end the line */
    PyObject *list = at ? split(at, at + n, &by, most) : NULL;
    shown->views--;
    PyBuffer_Release(&by.view);
    return list;
}

static PyObject *line_field(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    PyObject *bytes = NULL;
    struct sought by;
    ssize_t n, left;
    if (count != 2)
        return PyErr_Format(PyExc_TypeError, "field() takes a number and a separator");
    left = PyNumber_AsSsize_t(args[0], PyExc_IndexError);
    if ((left == -1 && PyErr_Occurred()) || !get_separator(args[1], &by))
        return NULL;
    const char *at = shown_bytes(self, &n), *end = at ? at + n : NULL, *stop = NULL;
    for (; at && (stop = find_sought(&by, at, end)) && left > 0; left--)
        at = stop + by.size;
    if (at && left == 0)
        bytes = PyBytes_FromStringAndSize(at, (stop ? stop : end) - at);
    else if (at)
        PyErr_SetString(PyExc_IndexError, "the line has no such field");
    PyBuffer_Release(&by.view);
    return bytes;
}

static PyObject *line_decode(PyObject *self, PyObject *args, PyObject *keywords) {
    static char *names[] = {"encoding", "errors", NULL};
    const char *encoding = "utf-8", *errors = "strict";
    ssize_t n;
    if (!asf__parse(args, keywords, "|ss:decode", names, &encoding, &errors) || !shown_bytes(self, &n))
        return NULL;
    return PyUnicode_FromEncodedObject(self, encoding, errors);
}

/* Functions that accept only str and bytes, such as json.loads, refuse a Line.  The repr shows how to convert
 * one. */
static PyObject *line_repr(PyObject *self) {
    if (!((struct line *)self)->shown.at)
        return PyUnicode_FromString("<asf.Line, which shows nothing now>");
    PyObject *bytes = PyBytes_FromObject(self);
    PyObject *text =
        bytes ? PyUnicode_FromFormat("<asf.Line %R; line.decode() is a str, bytes(line) a copy>", bytes)
              : NULL;
    Py_XDECREF(bytes);
    return text;
}

PyDoc_STRVAR(line_doc,
             "A line of a file where it lies, which lines_in_place() shows.\n\n"
             "It has the buffer protocol, len(), ==, in, and slices, find and split as bytes have them;\n"
             "int(), float() and re take it; json.loads() and others that want bytes or str take\n"
             "line.decode().  It shows the next line when that is asked for, and nothing\n"
             "(ValueError) once the file is used otherwise: bytes(line) is a copy to keep.");
PyDoc_STRVAR(find_doc, "find($self, sub, start=0, end=sys.maxsize, /)\n--\n\n"
                       "Return where bytes are in the line first, in the slice [start:end]; -1: nowhere.");
PyDoc_STRVAR(split_doc, "split($self, sep, maxsplit=-1)\n--\n\n"
                        "Return a list of the fields between separators, as bytes.");
PyDoc_STRVAR(field_doc, "field($self, number, sep, /)\n--\n\n"
                        "Return split(sep)[number], without making the others.");

PyDoc_STRVAR(decode_doc, "decode($self, encoding='utf-8', errors='strict')\n--\n\n"
                         "Return the line as a str, as bytes.decode() does.");

static PyMethodDef line_methods[] = {
    {"decode", (PyCFunction)(void (*)(void))line_decode, METH_VARARGS | METH_KEYWORDS, decode_doc},
    {"find", (PyCFunction)(void (*)(void))line_find, METH_FASTCALL, find_doc},
    {"split", (PyCFunction)(void (*)(void))line_split, METH_VARARGS | METH_KEYWORDS, split_doc},
    {"field", (PyCFunction)(void (*)(void))line_field, METH_FASTCALL, field_doc},
    {"startswith", line_startswith, METH_O,
     "startswith($self, prefix, /)\n--\n\nWhether it begins with bytes."},
    {"endswith", line_endswith, METH_O, "endswith($self, suffix, /)\n--\n\nWhether it ends with bytes."},
    {NULL, NULL, 0, NULL},
};

/* --- types ------------------------------------------------------------ */

enum { FLAGS = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_HAVE_GC };

static PyType_Slot line_slots[] = {
    {Py_tp_doc, (void *)line_doc},
    {Py_tp_dealloc, line_dealloc},
    {Py_tp_traverse, line_traverse},
    {Py_tp_repr, line_repr},
    {Py_tp_methods, line_methods},
    {Py_tp_richcompare, line_compare},
    {Py_bf_getbuffer, asf__memory_getbuffer},
    {Py_bf_releasebuffer, asf__memory_releasebuffer},
    {Py_mp_length, asf__memory_length},
    {Py_mp_subscript, line_subscript},
    {Py_sq_contains, line_contains},
    {0, NULL},
};

PyType_Spec asf__line_spec = {
    .name = "asf.Line", .basicsize = sizeof(struct line), .flags = FLAGS, .slots = line_slots};

static PyType_Slot lines_in_place_slots[] = {
    {Py_tp_doc, "An iterator that shows the lines of a File, which lines_in_place() returns."},
    {Py_tp_dealloc, lines_in_place_dealloc},
    {Py_tp_repr, lines_in_place_repr},
    {Py_tp_traverse, lines_in_place_traverse},
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, lines_in_place_next},
    {0, NULL},
};

PyType_Spec asf__lines_in_place_spec = {.name = "asf.LinesInPlace",
                                        .basicsize = sizeof(struct lines_in_place),
                                        .flags = FLAGS,
                                        .slots = lines_in_place_slots};

static PyType_Slot lines_slots[] = {
    {Py_tp_doc, "An iterator over the lines of a File, which lines() returns."},
    {Py_tp_dealloc, lines_dealloc},
    {Py_tp_repr, lines_repr},
    {Py_tp_traverse, lines_traverse},
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, lines_next},
    {0, NULL},
};

PyType_Spec asf__lines_spec = {
    .name = "asf.Lines", .basicsize = sizeof(struct lines), .flags = FLAGS, .slots = lines_slots};
