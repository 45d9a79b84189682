#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests parts of a file.  Together they contain the whole file.  A program can send a part to another process.

A file that is opened on a part has only the part's bytes.  If the file has changed, the error names the part."""
import errno
import importlib
import io
import multiprocessing
import os
import pickle
import random
import shutil
import subprocess
import sys
import unittest
import unittest.mock

import asf
from python_case import FileCase

FIELDS = {0: "q", 2: "d"}


def table(rows, seed=1):
    r = random.Random(seed)
    return b"".join(b"%d\t%s\t%s\n" % (i, b"x" * r.randrange(60), repr(r.random()).encode()) for i in range(rows))


def columns(part):
    return [column.tolist() for column in asf.read_columns(part, FIELDS, skip=1)]


class Parts(FileCase):
    def cut(self, data, **options):
        self.put(data)
        return asf.parts(self.path, **options)

    def read(self, part):
        with asf.open(part) as file:
            return file.read()

    def test_are_the_file(self):
        data = table(5000)
        parts = self.cut(data, size=10000)
        self.assertGreater(len(parts), 10)
        self.assertEqual(b"".join(map(self.read, parts)), data)
        for number, part in enumerate(parts):
            self.assertEqual((part.path, part.index, part.count, part.size), (self.path, number, len(parts), len(data)))
            self.assertEqual(self.read(part), data[part.begin:part.end])
            self.assertTrue(self.read(part).endswith(b"\n"))

    def test_options(self):
        data = bytes(range(256)) * 100
        for part in self.cut(data, size=1000, delimiter=b"\x07"):
            self.assertIn(data[part.end - 1], (7, 255))
        for part in self.cut(data, size=1000, record=300):
            self.assertEqual(part.begin % 300, 0)
            self.assertEqual(part.delimiter, -1)
        self.assertEqual(self.cut(b""), [])
        self.assertEqual(len(asf.parts(self.path.encode())), 0)
        self.assertEqual(asf.parts("/dev/null")[0].end, -1)
        for error, call in ((ValueError, lambda: asf.parts(self.path, size=-1)), (TypeError, lambda: asf.parts(self.path, bytes=1)),
                            (TypeError, lambda: asf.parts(3)), (FileNotFoundError, lambda: asf.parts(self.path + "none"))):
            self.assertRaises(error, call)

    def test_are_values(self):
        parts = self.cut(table(1000), size=10000)
        again = pickle.loads(pickle.dumps(parts))
        self.assertEqual(again, parts)
        self.assertIs(type(again[0]), asf.Part)
        self.assertEqual(len({*again, *parts}), len(parts))
        self.assertEqual(sorted(reversed(parts)), parts)
        self.assertIn(f"path={self.path!r}, begin={parts[1].begin}, end={parts[1].end}, index=1", repr(parts[1]))

    def test_a_part_is_a_file(self):
        data = table(2000)
        part = self.cut(data, size=20000)[1]
        with asf.open(part) as file, io.BytesIO(data[part.begin:part.end]) as plain:
            self.assertEqual((file.name, file.mode, file.seekable(), file.writable()), (self.path, "rb", True, False))
            for offset, whence in ((0, 0), (500, 0), (-300, 2), (0, 2), (77, 0), (10, 1)):
                self.assertEqual(file.seek(offset, whence), plain.seek(offset, whence))
                self.assertEqual((file.readline(), file.tell()), (plain.readline(), plain.tell()))
                self.assertEqual(list(file.lines(b"\t"))[:3], list(asf_lines(plain, b"\t"))[:3])
            self.assertRaises(io.UnsupportedOperation, file.fileno)
            self.assertRaises(io.UnsupportedOperation, file.write, b"")
            file.seek(0)
            self.assertEqual([bytes(line) for line in file.lines_in_place()], data[part.begin:part.end].splitlines(True))
        with asf.open(part, "r", encoding="ascii") as text:
            self.assertEqual(list(text), data[part.begin:part.end].decode().splitlines(True))
            text.seek(0)
            self.assertEqual(text.readline(), data[part.begin:].split(b"\n")[0].decode() + "\n")
        for mode in ("wb", "ab", "xb", "rb+", "w"):
            self.assertRaises(ValueError, asf.open, part, mode)
        self.assertRaises(ValueError, asf.open, part, closefd=False)

    def test_columns(self):
        parts = self.cut(b"id\ttext\tx\n" + table(5000), size=10000)
        whole = columns(self.path)
        self.assertEqual([sum(each, []) for each in zip(*map(columns, parts))], whole)
        with asf.open(parts[1]) as file:
            self.assertEqual([list(c) for c in file.read_columns(FIELDS)], columns(parts[1]))
        with self.assertRaisesRegex(ValueError, r"asf.Part\(.*index=0.*line 1 "):
            asf.read_columns(parts[0], FIELDS)
        with self.assertRaises(OSError) as caught:  # the heading is longer than the first part
            asf.read_columns(parts[0], FIELDS, skip=100_000)
        self.assertEqual(caught.exception.errno, errno.EMSGSIZE)
        self.assertEqual(len(asf.read_columns(self.cut(b"a\nb\n")[0], FIELDS, skip=3)[0]), 0)

    def test_by_processes(self):
        parts = self.cut(b"id\ttext\tx\n" + table(20000), size=50000)
        whole = columns(self.path)
        for method in ("fork", "spawn"):
            with multiprocessing.get_context(method).Pool(2) as pool:
                read = pool.map(columns, parts)
            self.assertEqual([sum(each, []) for each in zip(*read)], whole)

    def fails(self, call, part, code):
        with self.assertRaises(OSError) as caught:
            call()
        self.assertEqual((caught.exception.errno, caught.exception.filename), (code, part))
        self.assertIn(repr(part), str(caught.exception))
        self.assertEqual(pickle.loads(pickle.dumps(caught.exception)).filename, part)

    def test_a_file_that_changes(self):
        data = table(20000)
        part = self.cut(data, size=400_000)[1]
        file = asf.open(part)
        self.addCleanup(file.close)
        self.assertEqual(file.read(10), data[part.begin:part.begin + 10])
        with open(self.path, "ab") as more:
            more.write(b"more\n")
        self.assertEqual(self.read(part), data[part.begin:part.end])
        os.truncate(self.path, part.end - 1000)
        self.fails(file.read, part, errno.EIO)
        self.fails(lambda: asf.open(part), part, errno.ESTALE)
        self.fails(lambda: columns(part), part, errno.ESTALE)
        os.unlink(self.path)
        self.fails(lambda: columns(part), part, errno.ENOENT)
        self.put(data)
        self.fails(lambda: columns(part), part, errno.ESTALE)

    @unittest.skipUnless(shutil.which("zstd"), "zstd is not installed")
    def test_of_a_compressed_file(self):
        data = table(20000)
        pieces = [data[at:at + 50000] for at in range(0, len(data), 50000)]
        packed = b"".join(subprocess.run(["zstd", "-qc"], input=p, stdout=subprocess.PIPE, check=True).stdout for p in pieces)
        parts = self.cut(packed, size=20000, decode=True)
        self.assertGreater(len(parts), 5)
        parts = pickle.loads(pickle.dumps(parts))
        self.assertEqual(b"".join(map(self.read, parts)), data)
        with asf.open(parts[3]) as file:
            self.assertEqual(b"".join(file), self.read(parts[3]))
        self.assertEqual(sum(len(columns(part)[0]) for part in parts), 19999)
        records = self.cut(packed, size=20000, decode=True, record=32)
        self.assertEqual(b"".join(map(self.read, records)), data)

    def test_no_part(self):
        part = self.cut(table(10))[0]
        for wrong, error in (((1, *part[1:]), TypeError), ((*part[:11], "x"), TypeError), ((*part[:1], -1, *part[2:]), OSError)):
            self.assertRaises(error, asf.open, asf.Part(wrong))
            self.assertRaises(error, columns, asf.Part(wrong))
        self.assertRaises(TypeError, asf.open, tuple(part))


class Dask(unittest.TestCase):
    def test_is_optional(self):
        with unittest.mock.patch.dict(sys.modules, {"dask": None}):
            with self.assertRaisesRegex(ImportError, "pip install"):
                importlib.import_module("asf.dask")


def asf_lines(plain, delimiter):
    """Returns the remaining lines of an io.BytesIO, as File.lines does."""
    pieces = plain.read().split(delimiter)
    return [piece + delimiter for piece in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])


if __name__ == "__main__":
    unittest.main()
