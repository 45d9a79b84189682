/* SPDX-License-Identifier: MIT
 *
 * python_module.c - the module `asf`: its functions and types.
 */
#include "interfaces/python/python_module.h"

#include <stdarg.h>
#include <string.h>

#define KEYWORDS(function) ((PyCFunction)(void (*)(void))(function)), METH_VARARGS | METH_KEYWORDS

/* Raise an exception if a keyword is not in `names`.  Positional arguments have empty names. */
static void refuse_unknown(PyObject *keywords, const char *call, char **names) {
    PyObject *list = PyList_New(0), *option;
    Py_ssize_t at = 0;
    for (char **name = names; list && *name; name++) {
        PyObject *text = **name ? PyUnicode_FromString(*name) : NULL;
        if (text)
            PyList_Append(list, text);
        Py_XDECREF(text);
    }
    while (list && !PyErr_Occurred() && PyDict_Next(keywords, &at, &option, NULL))
        if (PySequence_Contains(list, option) == 0)
            PyErr_Format(PyExc_TypeError, "%s() has no option %R: it has %R", call, option, list);
    Py_XDECREF(list);
}

int asf__parse(PyObject *args, PyObject *keywords, const char *format, char **names, ...) {
    va_list out;
    if (keywords)
        refuse_unknown(keywords, strchr(format, ':') + 1, names);
    if (PyErr_Occurred())
        return false;
    va_start(out, names);
    int parsed = PyArg_VaParseTupleAndKeywords(args, keywords, format, names, out);
    va_end(out);
    return parsed;
}

PyDoc_STRVAR(
    module_doc,
    "Files whose bytes are used where they lie, arrays in shared memory, and records: the Alloc Stream "
    "Facility.\n\n"
    "    with asf.open(path) as file:            # as open(path, 'rb'), and its lines in half the time\n"
    "        for line in file:\n"
    "            ...\n"
    "        for line in file.lines_in_place():  # not copied: find(), split(), line[:4]\n"
    "            ...\n"
    "        with file.region(65536) as region:  # the next bytes, not copied\n"
    "            use(region[:16])\n\n"
    "    with asf.open(path, 'r', encoding='utf-8') as file:  # text, an io.TextIOWrapper\n"
    "    with asf.open(path, decompress=True) as file:  # zstd, gzip, lz4 and xz are decoded\n\n"
    "    with asf.open(path, 'wb') as file:\n"
    "        file.write_row('id', 'price')\n"
    "        file.write_columns([ids, prices])   # arrays of NumPy and others, one row a line\n"
    "    with asf.open(path) as file:\n"
    "        next(file)                          # the titles\n"
    "        ids, prices = map(numpy.asarray, file.read_columns({0: 'q', 1: 'd'}))\n\n"
    "    parts = asf.parts(path)                 # values for other processes: asf.read_columns(part, ...)\n"
    "    with asf.open(parts[0]) as file:        # a file that ends where the part ends\n"
    "    ids, prices = asf.dask.read_columns(path, {0: 'q', 1: 'd'})  # Dask's, by import asf.dask\n\n"
    "    with asf.create_segment('series', 8 * n) as segment:\n"
    "        numbers = numpy.asarray(segment.array())\n"
    "    fields = asf.read_arrays(path)          # 'coeff 1 2 3', or 'coeff shmids LABEL'\n\n"
    "    for record in asf.records(path):        # dicts\n"
    "        print(record['name'])\n\n"
    "Memory that a view is left of is not given back: to close its file or segment is BufferError, as with "
    "mmap.\n"
    "All objects may be used by any threads. Errors of the system are OSError with errno and, of files, "
    "filename.");
PyDoc_STRVAR(
    open_doc,
    "open(file, mode='rb', *, encoding=None, errors=None, newline=None, closefd=True, decompress=False)\n"
    "--\n\n"
    "Open a file as Python's open() does, of bytes unless the mode says otherwise.\n\n"
    "  file      a path, a descriptor, which the file owns from now on, or a Part\n"
    "  mode      'rb', 'wb', 'ab' or 'xb', or one of these with '+': a File is returned. Without\n"
    "            the 'b', or with 't': an io.TextIOWrapper on a File, such as TextFile\n"
    "  encoding, errors, newline\n"
    "            of text, as for Python's open()\n"
    "  closefd   False: the descriptor stays the caller's (its place in the file moves along)\n"
    "  decompress\n"
    "            True: input that begins as zstd, gzip, lz4 or xz does is decoded while it is read;\n"
    "            other input is read as it is. For reading; a Part is decoded by parts(decode=True)\n\n"
    "Decoded input has no descriptor and cannot seek; closefd=False leaves the descriptor at the end of\n"
    "what was read ahead. Of a pipe, open() waits for the first bytes.\n"
    "OSError: ENOTSUP, the decoder's library is not installed; while it is read, EBADMSG, the input is\n"
    "damaged, or EIO, it ends too early.\n\n"
    "A part is read as a file that begins and ends where it does. OSError: ESTALE, the file was\n"
    "replaced, rewritten or cut off since parts(); EIO, while it is read. Errors of a part have it\n"
    "as `filename`.");
PyDoc_STRVAR(parts_doc,
             "parts(file, *, size=0, delimiter=b'\\n', record=0, decode=False)\n--\n\n"
             "Cut a regular file; return a list of its parts in order, each a Part, which another process,\n"
             "or a machine that mounts the same file system, can open or give to read_columns().\n\n"
             "  file       a path, which the parts carry: an absolute one if others have another working\n"
             "             directory. What is no regular file is one part\n"
             "  size       about the bytes of a part; 0: 16 MB. A longer line or record stays whole\n"
             "  delimiter  a part ends after this byte\n"
             "  record     not 0: parts consist of whole records of this many bytes\n"
             "  decode     cut a compressed file between its frames; a File on a part has decoded bytes\n\n"
             "Bytes that are appended later belong to no part. An empty file has none.");
PyDoc_STRVAR(create_doc, "create_segment(name, size, *, mode=0o600, backend=None)\n--\n\n"
                         "Make a segment of shared memory and return it, attached, as a Segment.\n\n"
                         "  name     words that tell people what it is\n"
                         "  size     bytes, which are zero at first\n"
                         "  mode     who may attach it, as for a file\n"
                         "  backend  'posix', 'sysv' or 'memfd'; None for the default\n\n"
                         "It outlives the process: remove_segment() it, or 'asf shm rm'.");
PyDoc_STRVAR(open_segment_doc,
             "open_segment(label, *, update=False)\n--\n\n"
             "Attach the segment of a label, as a Segment.\n\n"
             "  update  its data can be written to\n\n"
             "OSError: ESTALE when what is there is not what the label names; ENOENT, EACCES, EINVAL.");
PyDoc_STRVAR(remove_doc, "remove_segment(label, /)\n--\n\nRemove a segment. Who has attached it keeps it.");
PyDoc_STRVAR(
    read_arrays_doc,
    "read_arrays(file, /)\n--\n\n"
    "Read a text of fields, each a name and numbers, to its end; return a dict of memoryviews ('d').\n\n"
    "A field is 'coeff 0 1 2 3', over several lines if it is long, or 'coeff shmids LABEL': the\n"
    "segment of that label then is the array, and is not copied.\n"
    "  file  a path, a descriptor, which stays open, or a File\n\n"
    "OSError: a label's segment cannot be attached; EBADMSG: a word is no number. ValueError: a\n"
    "name comes twice.");
PyDoc_STRVAR(write_arrays_doc,
             "write_arrays(file, arrays, *, segments=False)\n--\n\n"
             "Write such a text.\n\n"
             "  file      a path, a descriptor, which stays open, or a File\n"
             "  arrays    a mapping of names to arrays of doubles, or sequences of numbers\n"
             "  segments  False: as numbers, the shortest that are read back exactly. True: as labels, of\n"
             "            the segment whose data the array is, or of a new one named as the field");
PyDoc_STRVAR(
    read_columns_doc,
    "read_columns(file, fields, *, separator='\\t', skip=0, threads=0)\n--\n\n"
    "Read numbers from all lines of a file, by several threads; return a list of memoryviews, one for\n"
    "each field, as File.read_columns() does.\n\n"
    "  file       a path; a compressed file is decoded, by several threads if it has frames to cut at.\n"
    "             Or a Part, which the calling thread alone reads\n"
    "  fields, separator\n"
    "             as for File.read_columns()\n"
    "  skip       lines at the beginning of the file that are no rows, such as a heading: those of the\n"
    "             first part\n"
    "  threads    how many at most; 0: as many as the process may use of the processors\n\n"
    "Other threads of Python run meanwhile. Signals are handled at the end; of a pipe they end the\n"
    "call. Exceptions are those of File.read_columns().");
#ifdef ASF_PYTHON_RECORDS
PyDoc_STRVAR(records_doc,
             "records(file, *, most_bytes=0)\n--\n\n"
             "Return an iterator over the records of a file, as dicts: a Records.\n\n"
             "  file        a path, a descriptor, which stays open, or a File\n"
             "  most_bytes  of one record; 0: 256 MiB. As a dict it may take a hundred times as much\n\n"
             "OSError: EBADMSG, a record is broken; E2BIG, it is beyond a limit; ENODATA, the file ends\n"
             "within one.");
PyDoc_STRVAR(
    format_doc,
    "record_format(name, fields, /)\n--\n\n"
    "Declare a format for RecordWriter.write().\n\n"
    "  fields  a dict of names to types, as C would declare them: {'id': 'int32', 'v[3]': 'float64',\n"
    "          'count': 'uint32', 'path[count]': {'x': 'float32', 'y': 'float32'}}\n\n"
    "The types are int8 to int64, uint8 to uint64, float32, float64, char, bool, enum, string, and a\n"
    "dict for a struct. name[3] is an array in the struct, name[count] one of as many elements as\n"
    "the field count says. ValueError: it is no format.");
PyDoc_STRVAR(writer_doc, "record_writer(file, *, indexed=False)\n--\n\n"
                         "Return a RecordWriter on a file.\n\n"
                         "  file     a path, a descriptor, which stays open, or a File\n"
                         "  indexed  an index is written at the end, for Records.seek()");
#endif

static PyMethodDef functions[] = {
    {"open", KEYWORDS(asf__open), open_doc},
    {"parts", KEYWORDS(asf__parts), parts_doc},
    {"create_segment", KEYWORDS(asf__create_segment), create_doc},
    {"open_segment", KEYWORDS(asf__open_segment), open_segment_doc},
    {"remove_segment", asf__remove_segment, METH_O, remove_doc},
    {"read_arrays", asf__read_arrays, METH_O, read_arrays_doc},
    {"write_arrays", KEYWORDS(asf__write_arrays), write_arrays_doc},
    {"read_columns", KEYWORDS(asf__read_columns_of), read_columns_doc},
#ifdef ASF_PYTHON_RECORDS
    {"records", KEYWORDS(asf__records), records_doc},
    {"record_format", asf__record_format, METH_VARARGS, format_doc},
    {"record_writer", KEYWORDS(asf__record_writer), writer_doc},
#endif
    {NULL, NULL, 0, NULL},
};

/* The types, in the order of struct asf__module. */
static PyType_Spec *const specs[] = {
    &asf__file_spec,    &asf__lines_spec,   &asf__lines_in_place_spec, &asf__line_spec,
    &asf__region_spec,  &asf__segment_spec, &asf__array_spec,          &asf__column_spec,
#ifdef ASF_PYTHON_RECORDS
    &asf__records_spec, &asf__format_spec,  &asf__record_writer_spec,
#endif
};
enum { TYPES = sizeof specs / sizeof *specs };

static PyTypeObject *make_type(PyObject *module, PyType_Spec *spec) {
    PyObject *base = spec == &asf__file_spec ? asf__file_base() : NULL;
    if (spec == &asf__file_spec && !base)
        return NULL;
    PyObject *type = PyType_FromModuleAndSpec(module, spec, base);
    Py_XDECREF(base);
    return (PyTypeObject *)type;
}

/* Python modules such as asf.dask are in the folder asf next to asf.abi3.so.  With __path__ the import system
 * finds them as if asf were a package. */
static int add_path(PyObject *module) {
    const Py_ssize_t suffix = sizeof ".abi3.so" - 1;
    PyObject *file = PyModule_GetFilenameObject(module);
    PyObject *folder = file ? PyUnicode_Substring(file, 0, PyUnicode_GetLength(file) - suffix) : NULL;
    PyObject *path = folder ? Py_BuildValue("[O]", folder) : NULL;
    int rc = path ? PyModule_AddObjectRef(module, "__path__", path) : -1;
    Py_XDECREF(path);
    Py_XDECREF(folder);
    Py_XDECREF(file);
    return rc;
}

static int fill_module(PyObject *module) {
    PyTypeObject **types = PyModule_GetState(module);
    for (int i = 0; i < TYPES; i++) {
        types[i] = make_type(module, specs[i]);
        if (!types[i] || PyModule_AddType(module, types[i]) < 0)
            return -1;
    }
    struct asf__module *m = PyModule_GetState(module);
    m->text = asf__text_type(module);
    m->part = asf__part_type();
    if (!m->text || PyModule_AddType(module, m->text) < 0 || !m->part ||
        PyModule_AddType(module, m->part) < 0 || asf__file_register(m->file) < 0)
        return -1;
    return add_path(module) < 0 ? -1 : PyModule_AddStringConstant(module, "__version__", asf_version());
}

enum { MEMBERS = sizeof(struct asf__module) / sizeof(PyTypeObject *) };

static int traverse_module(PyObject *module, visitproc visit, void *arg) {
    PyTypeObject **types = PyModule_GetState(module);
    for (int i = 0; types && i < MEMBERS; i++)
        Py_VISIT(types[i]);
    return 0;
}

static int clear_module(PyObject *module) {
    PyTypeObject **types = PyModule_GetState(module);
    for (int i = 0; types && i < MEMBERS; i++)
        Py_CLEAR(types[i]);
    return 0;
}

static void free_module(void *module) {
    clear_module(module);
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, fill_module}, {0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,         .m_name = "asf",
    .m_doc = module_doc,           .m_size = sizeof(struct asf__module),
    .m_methods = functions,        .m_slots = slots,
    .m_traverse = traverse_module, .m_clear = clear_module,
    .m_free = free_module,
};

PyMODINIT_FUNC PyInit_asf(void) {
    return PyModuleDef_Init(&definition);
}
