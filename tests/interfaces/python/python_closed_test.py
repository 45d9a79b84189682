#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests each method and property of each type on a closed, released or abandoned object.

Files must behave like io's.  On other objects a call raises ValueError, or returns the value in TELL_NOTHING.  Also tests
that a program can make an object only by the module's function for its type."""
import ast
import copy
import gc
import io
import os
import pickle
import unittest

import asf
from python_case import FileCase

TEXT = b"1 2 3\nanother line\n"
STRUCTSEQ = {"n_fields", "n_sequence_fields", "n_unnamed_fields"}
SPECIAL = {"__iter__", "__next__", "__enter__", "__exit__", "__len__", "__getitem__", "__setitem__"}


def names(type):
    """Returns the public names of a type, and those of its SPECIAL methods."""
    return {name for name in dir(type) if not name.startswith("_")} | SPECIAL & set(dir(type))


def outcome(call):
    try:
        result = call()
    except Exception as error:  # any exception
        return type(error), str(error) if isinstance(error, ValueError) else ""
    return result


FILE = {
    "__enter__": lambda f: f.__enter__(),
    "__exit__": lambda f: f.__exit__(None, None, None),
    "__iter__": lambda f: iter(f),
    "__next__": lambda f: next(f),
    "close": lambda f: f.close(),
    "closed": lambda f: f.closed,
    "detach": lambda f: f.detach(),
    "fileno": lambda f: f.fileno(),
    "flush": lambda f: f.flush(),
    "isatty": lambda f: f.isatty(),
    "mode": lambda f: f.mode,
    "name": lambda f: f.name,
    "peek": lambda f: f.peek(),
    "read": lambda f: (f.read(1), f.read(0), f.read()),
    "read1": lambda f: f.read1(1),
    "readable": lambda f: f.readable(),
    "readinto": lambda f: f.readinto(bytearray(3)),
    "readinto1": lambda f: f.readinto1(bytearray(3)),
    "readline": lambda f: f.readline(),
    "readlines": lambda f: f.readlines(),
    "seek": lambda f: f.seek(0),
    "seekable": lambda f: f.seekable(),
    "tell": lambda f: f.tell(),
    "truncate": lambda f: f.truncate(5),
    "writable": lambda f: f.writable(),
    "write": lambda f: f.write(b"x"),
    "writelines": lambda f: f.writelines([b"x", b"y"]),
}

OF_ASF = {  # methods that io's files do not have, for reading and writing
    "lines": lambda f: next(f.lines()),
    "lines_in_place": lambda f: next(f.lines_in_place()),
    "region": lambda f: f.region(1),
    "region_some": lambda f: f.region_some(1),
    "region_until": lambda f: f.region_until(),
    "region_at": lambda f: f.region_at(0, 1),
    "region write": lambda f: f.region(1, write=True),
    "region_some write": lambda f: f.region_some(1, write=True),
    "read_columns": lambda f: f.read_columns({0: "d"}),
    "write_columns": lambda f: f.write_columns([b"x"]),
    "write_row": lambda f: f.write_row(1, 2.5),
    "region_at write": lambda f: f.region_at(0, 1, write=True),
}

LINE = {
    "__len__": lambda l: len(l),
    "__getitem__": lambda l: (l[0], l[0:2]),
    "buffer": lambda l: memoryview(l),
    "bytes": lambda l: bytes(l),
    "decode": lambda l: l.decode(),
    "contains": lambda l: b"x" in l,
    "endswith": lambda l: l.endswith(b"x"),
    "equal": lambda l: l == b"x",
    "field": lambda l: l.field(0, b" "),
    "find": lambda l: l.find(b"x"),
    "split": lambda l: l.split(b" "),
    "startswith": lambda l: l.startswith(b"x"),
}

MEMORY = {  # calls on a segment in memory, and on memoryview for comparison
    "__enter__": lambda m: m.__enter__(),
    "__exit__": lambda m: m.__exit__(None, None, None),
    "__len__": lambda m: len(m),
    "__getitem__": lambda m: (m[0], m[0:2]),
    "__setitem__": lambda m: m.__setitem__(0, 1),
    "abandon": lambda m: m.abandon(),
    "array": lambda m: m.array(),
    "buffer": lambda m: memoryview(m),
    "bytes": lambda m: bytes(m),
    "close": lambda m: m.close(),
    "label": lambda m: type(m.label),
    "release": lambda m: m.release(),
    "resize": lambda m: m.resize(1),
}

RECORDS = {
    "__enter__": lambda r: r.__enter__(),
    "__exit__": lambda r: r.__exit__(None, None, None),
    "__iter__": lambda r: iter(r) is r,
    "__next__": lambda r: next(r),
    "close": lambda r: r.close(),
    "count": lambda r: r.count(),
    "format": lambda r: r.format,
    "seek": lambda r: r.seek(0),
    "write": lambda r: r.write(FORMAT, {"a": 2}),
}

FORMAT = asf.record_format("one", {"a": "int32"})
CLOSED = (ValueError, "I/O operation on closed file")
TELL_NOTHING = {"__exit__": None, "close": None, "release": None, "abandon": None, "__iter__": True,
                "format": "one", "label": str}


class Closed(FileCase):
    def setUp(self):
        super().setUp()
        self.put(TEXT)

    def test_the_tables_have_all(self):
        self.assertEqual(names(asf.File), set(FILE) | {name.split()[0] for name in OF_ASF})
        self.assertEqual(names(asf.Lines), {"__iter__", "__next__"})
        self.assertEqual(names(asf.LinesInPlace), {"__iter__", "__next__"})
        self.assertEqual(names(asf.Line) | {"buffer", "bytes", "contains", "equal"}, set(LINE))
        self.assertEqual(names(asf.TextFile), names(io.TextIOWrapper))
        self.assertEqual(names(asf.Region) | names(asf.Segment) | {"buffer", "bytes"}, set(MEMORY))
        self.assertEqual(names(asf.Records) | names(asf.RecordWriter), set(RECORDS))
        self.assertEqual(names(asf.Format), set())
        self.assertEqual(names(asf.Column), {"__len__"})
        self.assertEqual(names(asf.Part), names(tuple) | STRUCTSEQ |
                         {"path", "begin", "end", "index", "count", "size", "modified", "form", "before", "after", "inode",
                          "delimiter"})
        known = {"Column", "File", "Lines", "LinesInPlace", "Line", "TextFile", "Region", "Segment", "Array", "Records", "RecordWriter", "Format", "Part"}
        self.assertEqual({name for name, value in vars(asf).items() if isinstance(value, type)}, known)

    def test_the_stub_has_all(self):
        """asf.pyi declares exactly the names that the module has."""
        stub = os.path.join(os.path.dirname(__file__), "../../../interfaces/python/asf.pyi")
        with open(stub, encoding="utf-8") as file:
            tree = ast.parse(file.read())
        functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        self.assertEqual(functions, {name for name, value in vars(asf).items() if callable(value) and not isinstance(value, type)})
        classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
        self.assertEqual({name for name in classes if not name.startswith("_")},
                         {name for name, value in vars(asf).items() if isinstance(value, type)})
        classes["_Memory"].body += classes["_Context"].body
        for name in (name for name in classes if not name.startswith("_")):
            parents = [classes[base.id] for base in classes[name].bases if isinstance(base, ast.Name)]
            declared = {each.name for part in [classes[name], *parents] for each in part.body if isinstance(each, ast.FunctionDef)}
            kind = getattr(asf, name)
            inherited = names(kind.__base__) | (STRUCTSEQ if kind is asf.Part else set())
            self.assertEqual({each for each in declared if each in SPECIAL or not each.startswith("_")} | inherited, names(kind) | inherited)

    def files(self, mode):
        """Yields the name of each closed state, with a file of io and one of asf in this state."""
        def closed(file):
            file.close()

        def used(file):
            file.readline() if file.readable() else file.write(b"text")
            file.close()

        def left(file):
            with file:
                file.readline() if file.readable() else file.write(b"text")

        def twice(file):
            file.close()
            file.close()

        for state in (closed, used, left, twice):
            pair = open(self.path, mode), asf.open(self.path, mode)
            for file in pair:
                state(file)
            yield state.__name__, *pair

    def test_files(self):
        for mode in ("rb", "wb", "ab", "r+b", "w+b"):
            for state, theirs, ours in self.files(mode):
                for name, call in FILE.items():
                    with self.subTest(mode=mode, state=state, name=name):
                        want, have = outcome(lambda: call(theirs)), outcome(lambda: call(ours))
                        # A closed io file raises UnsupportedOperation or AttributeError, or returns False,
                        # for calls of the other direction, without checking that it is closed.
                        if isinstance(want, tuple) and issubclass(want[0], (ValueError, AttributeError)) or want is False:
                            want = CLOSED
                        self.assertEqual(mode if name == "mode" else want, have)
                for name, call in OF_ASF.items():
                    with self.subTest(mode=mode, state=state, name=name):
                        self.assertEqual(CLOSED, outcome(lambda: call(ours)))

    def test_iterators_of_a_closed_file(self):
        file = asf.open(self.path)
        begun, fresh = file.lines(), file.lines()
        self.assertEqual(next(begun), b"1 2 3\n")
        self.assertEqual(iter(begun), begun)
        file.close()
        for lines in (begun, fresh, begun, fresh):
            self.assertEqual(CLOSED, outcome(lambda: next(lines)))
            self.assertEqual(iter(lines), lines)

    def test_iterators_in_place_of_a_closed_file(self):
        file = asf.open(self.path)
        begun, fresh = file.lines_in_place(), file.lines_in_place()
        line = next(begun)
        file.close()
        for lines in (begun, fresh, begun, fresh):
            self.assertEqual(CLOSED, outcome(lambda: next(lines)))
            self.assertEqual(iter(lines), lines)
        for name, call in LINE.items():
            with self.subTest(name=name):
                self.assertIs(ValueError, outcome(lambda: call(line))[0])

    def test_text(self):
        """Each method of a closed text file gives the same as that of Python's TextIOWrapper."""
        calls = {name: call for name, call in FILE.items() if name in names(io.TextIOWrapper) and "__" not in name}
        calls |= {"buffer": lambda f: f.buffer.closed,
                  "reconfigure": lambda f: f.reconfigure(errors="strict"), "write": lambda f: f.write("x"),
                  "writelines": lambda f: f.writelines(["x"]), "encoding": lambda f: f.encoding, "errors": lambda f: f.errors,
                  "newlines": lambda f: f.newlines, "line_buffering": lambda f: f.line_buffering,
                  "write_through": lambda f: f.write_through}
        self.assertEqual(names(io.TextIOWrapper) - set(calls), SPECIAL & names(io.TextIOWrapper))
        for mode in ("r", "w", "a", "r+", "w+"):
            for used in (False, True):
                theirs, ours = open(self.path, mode, encoding="utf-8"), asf.open(self.path, mode, encoding="utf-8")
                for file in (theirs, ours):
                    if used:
                        next(file) if mode == "r" else file.write("text")
                    file.close()
                for name, call in calls.items():
                    with self.subTest(mode=mode, used=used, name=name):
                        want, have = outcome(lambda: call(theirs)), outcome(lambda: call(ours))
                        if isinstance(want, tuple) and issubclass(want[0], ValueError) or name in ("readable", "writable"):
                            want, have = ValueError, isinstance(have, tuple) and issubclass(have[0], ValueError) and ValueError
                        self.assertEqual(want, have)

    def regions(self):
        with asf.open(self.path) as file:
            for end in ("release", "abandon"):
                for region in (file.region(3), file.region_some(3), file.region_until(), file.region_at(0, 3)):
                    getattr(region, end)()
                    yield region
            with file.region(2) as region:
                pass
            yield region
        with asf.open(self.path, "r+b") as file:
            for end in ("release", "abandon"):
                region = file.region(3, write=True)
                getattr(region, end)()
                yield region

    def segments(self):
        segment = asf.create_segment(f"closed-{os.getpid()}", 4096)
        self.addCleanup(asf.remove_segment, segment.label)
        segment.close()
        yield segment
        with asf.open_segment(segment.label) as segment:
            pass
        yield segment

    def check(self, objects, table):
        for made in objects:
            for name, call in table.items():
                if name not in names(type(made)) | {"buffer", "bytes"}:
                    continue
                with self.subTest(type=type(made).__name__, name=name):
                    have = outcome(lambda: call(made))
                    if name in TELL_NOTHING:
                        self.assertEqual(TELL_NOTHING[name], have)
                    else:
                        self.assertIs(ValueError, have[0] if isinstance(have, tuple) else have)

    def test_memory(self):
        released = memoryview(b"text")
        released.release()
        for name in ("__enter__", "__len__", "__getitem__", "__setitem__", "buffer", "bytes"):
            self.assertIs(ValueError, outcome(lambda: MEMORY[name](released))[0])
        self.check(self.regions(), MEMORY)
        self.check(self.segments(), MEMORY)

    def test_records(self):
        path = os.path.join(self.folder, "records")

        def ended():
            writer = asf.record_writer(path)
            writer.write(FORMAT, {"a": 1})
            writer.close()
            yield writer
            with asf.record_writer(os.path.join(self.folder, "more")) as writer:
                pass
            yield writer
            records = asf.records(path)
            self.assertEqual([{"a": 1}], list(records))
            records.close()
            yield records
            records = asf.records(path)
            self.assertEqual({"a": 1}, next(records))
            with records:
                pass
            yield records

        for made in ended():
            table = {name: call for name, call in RECORDS.items() if name in names(type(made))}
            self.check([made], table)

    def test_functions_that_take_a_closed_file(self):
        file = asf.open(self.path, "r+b")
        file.close()
        for call in (asf.records, asf.record_writer, asf.read_arrays, lambda f: asf.write_arrays(f, {"a": [1.0]})):
            self.assertEqual(CLOSED, outcome(lambda: call(file)))

    def test_none_is_made_but_by_its_function(self):
        file = asf.open(self.path)
        self.addCleanup(file.close)
        segment = asf.create_segment(f"made-{os.getpid()}", 4096)
        self.addCleanup(asf.remove_segment, segment.label)
        self.addCleanup(segment.close)
        records = os.path.join(self.folder, "records")
        asf.record_writer(records).close()
        made = [file, file.lines(), file.lines_in_place(), next(file.lines_in_place()), asf.open(self.path, "r", encoding="utf-8"), segment, FORMAT, asf.records(records), asf.record_writer(records)]
        with file.region(1) as region:
            for each in [*made, region]:
                kind = type(each)
                ways = (kind, lambda: kind.__new__(kind), lambda: object.__new__(kind), lambda: copy.copy(each),
                        lambda: copy.deepcopy(each), lambda: pickle.dumps(each), lambda: type("S", (kind,), {}),
                        lambda: pickle.loads(pickle.dumps(each, 0)))
                for way in ways:
                    self.assertIs(TypeError, outcome(way)[0])
        del made, each
        gc.collect()


if __name__ == "__main__":
    unittest.main()
