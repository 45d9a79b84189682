/* SPDX-License-Identifier: MIT
 *
 * python_memory.c - objects that show libasf's memory by the buffer protocol, and the regions of a file.
 *
 * A view holds a reference to its object, and the object one to its file: neither is freed while a view
 * exists.
 */
#include "interfaces/python/python_module.h"

#include <errno.h>

/* --- the buffer protocol ------------------------------------------------------------ */

static bool is_there(const struct asf__memory *m) {
    if (!m->at)
        PyErr_SetString(PyExc_ValueError, "the memory was given back");
    return m->at;
}

int asf__memory_getbuffer(PyObject *self, Py_buffer *view, int flags) {
    struct asf__memory *m = (struct asf__memory *)self;
    view->obj = NULL;
    if (!is_there(m))
        return -1;
    if (PyBuffer_FillInfo(view, self, m->at, m->size, m->readonly, flags) < 0)
        return -1;
    m->views++;
    return 0;
}

void asf__memory_releasebuffer(PyObject *self, Py_buffer *view) {
    (void)view;
    ((struct asf__memory *)self)->views--;
}

bool asf__memory_is_viewed(struct asf__memory *m) {
    if (m->views > 0)
        PyErr_Format(PyExc_BufferError, "%zd views of the memory are left; release them first", m->views);
    return m->views > 0;
}

Py_ssize_t asf__memory_length(PyObject *self) {
    struct asf__memory *m = (struct asf__memory *)self;
    return is_there(m) ? m->size : -1;
}

PyObject *asf__memory_subscript(PyObject *self, PyObject *key) {
    PyObject *view = PyMemoryView_FromObject(self);
    PyObject *item = view ? PyObject_GetItem(view, key) : NULL;
    Py_XDECREF(view);
    return item;
}

int asf__memory_ass_subscript(PyObject *self, PyObject *key, PyObject *value) {
    PyObject *view = PyMemoryView_FromObject(self);
    int rc = !view ? -1 : value ? PyObject_SetItem(view, key, value) : PyObject_DelItem(view, key);
    Py_XDECREF(view);
    return rc;
}

PyObject *asf__memory_array(PyObject *self, const char *format) {
    PyObject *bytes = PyMemoryView_FromObject(self);
    PyObject *view = bytes ? PyObject_CallMethod(bytes, "cast", "s", format) : NULL;
    Py_XDECREF(bytes);
    return view;
}

PyObject *asf__memory_enter(PyObject *self, PyObject *unused) {
    (void)unused;
    return is_there((struct asf__memory *)self) ? Py_NewRef(self) : NULL;
}

PyObject *asf__memory_repr(PyObject *self) {
    PyObject *type = PyType_GetName(Py_TYPE(self));
    PyObject *text =
        type ? PyUnicode_FromFormat("<asf.%U of %zd bytes>", type, ((struct asf__memory *)self)->size) : NULL;
    Py_XDECREF(type);
    return text;
}

/* --- regions ------------------------------------------------------------ */

struct region {
    struct asf__memory shown;
    struct asf__file *file; /* NULL: nothing to give back */
    bool abandoned;         /* an exception left the region half filled */
};

PyObject *asf__region_new(struct asf__file *f, void *at, ssize_t size) {
    static char nothing[1];
    struct asf__module *module = PyType_GetModuleState(Py_TYPE((PyObject *)f));
    struct region *r = (struct region *)PyType_GenericAlloc(module->region, 0);
    if (!r) {
        if (at)
            asf_sabandon(f->stream, at);
        return NULL;
    }
    r->shown.at = at ? at : nothing;
    r->shown.size = size;
    r->shown.readonly = f->now == ASF_READ;
    r->file = at ? (struct asf__file *)Py_NewRef((PyObject *)f) : NULL;
    return (PyObject *)r;
}

/* Giving back input waits only if another thread is in a call on the file: keep the GIL otherwise. */
static int give_back(struct region *r) {
    struct asf__file *f = r->file;
    char *at = r->shown.at;
    int rc = 0;
    r->shown.at = NULL;
    r->file = NULL;
    if (!f)
        return 0;
    if (r->abandoned)
        ASF_PUTTING(f, rc = asf_sabandon(f->stream, at));
    else if (!r->shown.readonly || f->holder)
        ASF_PUTTING(f, rc = asf_sfree(f->stream, at));
    else
        rc = asf_sfree(f->stream, at);
    if (rc < 0)
        asf__raise(rc, f->name);
    Py_DECREF((PyObject *)f);
    return rc < 0 ? -1 : 0;
}

static PyObject *region_release(PyObject *self, PyObject *unused) {
    (void)unused;
    struct region *r = (struct region *)self;
    if (asf__memory_is_viewed(&r->shown) || give_back(r) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *region_abandon(PyObject *self, PyObject *unused) {
    struct region *r = (struct region *)self;
    if (asf__memory_is_viewed(&r->shown))
        return NULL;
    r->abandoned = true;
    return region_release(self, unused);
}

/* Raise no BufferError for a view that the exception's traceback holds: it would hide the exception. */
static PyObject *region_exit(PyObject *self, PyObject *args) {
    struct region *r = (struct region *)self;
    PyObject *type = PyTuple_GetItem(args, 0);
    if (!type)
        return NULL;
    if (type == Py_None)
        return region_release(self, NULL);
    r->abandoned = true;
    if (r->shown.views > 0)
        Py_RETURN_NONE;
    return region_release(self, NULL);
}

static PyObject *region_resize(PyObject *self, PyObject *argument) {
    struct region *r = (struct region *)self;
    struct asf__file *f = r->file;
    ssize_t n, wanted = PyLong_AsSsize_t(argument);
    char *at;
    if ((wanted == -1 && PyErr_Occurred()) || asf__memory_is_viewed(&r->shown))
        return NULL;
    if (wanted < 0 || !f)
        return PyErr_Format(PyExc_ValueError, f ? "a negative size" : "the region was given back");
    if (!asf__file_enter(f, ASF_ANY, NULL))
        return NULL;
    do {
        n = wanted;
        ASF_WITHOUT_GIL(at = asf_srealloc(f->stream, r->shown.at, &n));
    } while (!at && asf__again(n));
    if (at) {
        r->shown.at = at;
        r->shown.size = n;
    }
    asf__file_leave(f);
    return at ? PyLong_FromSsize_t(n) : asf__raise(n, f->name);
}

static PyObject *region_repr(PyObject *self) {
    struct region *r = (struct region *)self;
    if (!r->shown.at)
        return PyUnicode_FromString("<asf.Region, given back>");
    return PyUnicode_FromFormat("<asf.Region of %zd bytes, %s>", r->shown.size,
                                r->shown.readonly ? "input" : "output");
}

static void region_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject *error[3];
    PyErr_Fetch(&error[0], &error[1], &error[2]);
    if (give_back((struct region *)self) < 0)
        PyErr_WriteUnraisable(NULL);
    PyErr_Restore(error[0], error[1], error[2]);
    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

PyDoc_STRVAR(release_doc,
             "release($self, /)\n--\n\n"
             "Give the region back.  Output is complete from now on, and may be written.\n\n"
             "BufferError: a view of it is left.  OSError: a write that has waited for it has\n"
             "failed; or EIO: the file was truncated under it, and what is missing read as zero.\n"
             "A region that was released may be released again.");
PyDoc_STRVAR(abandon_doc, "abandon($self, /)\n--\n\n"
                          "Give an output region up: its bytes are left out, and what follows moves up.\n"
                          "An input region is released.");
PyDoc_STRVAR(resize_doc, "resize($self, size, /)\n--\n\n"
                         "Change the length of the region that was allocated last; return what it is now.\n\n"
                         "What is cut off an input region is read again; what is cut off an output region\n"
                         "is not written.  BufferError: a view of it is left, or it is not the last one.");
PyDoc_STRVAR(region_doc, "Bytes of a file where they lie: the next ones of its input, or room for output.\n\n"
                         "It has the buffer protocol, len() and slices, which are memoryviews; those of\n"
                         "input cannot be written to.  It is valid until release(), also when the file has\n"
                         "gone on, and from any thread; its file cannot be closed before.  Output that is\n"
                         "not filled has whatever was in memory.\n\n"
                         "As a context manager it is released at the end, or, of output, abandoned when an\n"
                         "exception leaves it.  One that nobody has any more is released.");

static PyMethodDef region_methods[] = {
    {"release", region_release, METH_NOARGS, release_doc},
    {"abandon", region_abandon, METH_NOARGS, abandon_doc},
    {"resize", region_resize, METH_O, resize_doc},
    {"__enter__", asf__memory_enter, METH_NOARGS, NULL},
    {"__exit__", region_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot region_slots[] = {
    {Py_tp_doc, (void *)region_doc},
    {Py_tp_dealloc, region_dealloc},
    {Py_tp_repr, region_repr},
    {Py_tp_methods, region_methods},
    {Py_bf_getbuffer, asf__memory_getbuffer},
    {Py_bf_releasebuffer, asf__memory_releasebuffer},
    {Py_mp_length, asf__memory_length},
    {Py_mp_subscript, asf__memory_subscript},
    {Py_mp_ass_subscript, asf__memory_ass_subscript},
    {0, NULL},
};

PyType_Spec asf__region_spec = {
    .name = "asf.Region",
    .basicsize = sizeof(struct region),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = region_slots,
};
