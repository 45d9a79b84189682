#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests segments, which support the buffer protocol, and text files with arrays."""
import array
import random
import subprocess
import sys
import unittest

import asf
from python_case import FileCase

try:
    import numpy
except ImportError:
    numpy = None


class Segments(FileCase):
    def setUp(self):
        super().setUp()
        self.segment = asf.create_segment("a test of Python", 800)
        self.label = self.segment.label
        self.addCleanup(lambda: asf.remove_segment(self.label))

    def test_shared(self):
        ours = self.segment.array()
        ours[99] = 0.1
        with asf.open_segment(self.label) as theirs:
            self.assertEqual(theirs.array()[99], 0.1)
            self.assertEqual(len(theirs), 800)
            with self.assertRaises(TypeError):
                theirs.array()[0] = 1
        with asf.open_segment(self.label, update=True) as theirs:
            theirs.array("I")[0] = 7
        self.assertEqual(self.segment.array("I")[0], 7)
        self.assertRaises(BufferError, self.segment.close)
        del ours
        self.segment.close()
        self.segment.close()
        self.assertRaises(ValueError, self.segment.array)
        self.assertRaises(ValueError, self.segment.__enter__)

    @unittest.skipUnless(numpy, "numpy is not installed")
    def test_numpy(self):
        numbers = numpy.asarray(self.segment.array())
        numbers[:] = numpy.arange(100)
        self.assertEqual(self.segment.array()[42], 42)
        self.assertTrue(numpy.shares_memory(numbers, numpy.frombuffer(self.segment)))

    def test_another_process(self):
        self.segment.array()[5] = 2.5
        code = "import asf, sys; s = asf.open_segment(sys.argv[1], update=True); s.array()[6] = 2 * s.array()[5]"
        subprocess.run([sys.executable, "-c", code, self.label], check=True)
        self.assertEqual(self.segment.array()[6], 5.0)

    def test_texts(self):
        numbers = array.array("d", [random.uniform(-1, 1) * 10 ** random.randrange(-300, 300) for _ in range(100)])
        self.segment.array()[:] = memoryview(numbers)
        for segments in (False, True):
            asf.write_arrays(self.path, {"npts": [10], "coeff": self.segment.array()}, segments=segments)
            with open(self.path) as file:
                text = file.read()
            self.assertEqual(f"coeff shmids {self.label}" in text, segments)
            with asf.open(self.path) as file:
                fields = asf.read_arrays(file)
            self.assertEqual({name: list(a) for name, a in fields.items()}, {"npts": [10.0], "coeff": list(numbers)})
            if segments:
                asf.remove_segment(text.split("shmids ")[1].split("\n")[0])

    def test_hostile_texts(self):
        for text, error in ((b"a 1 b shmids nonsense\n", OSError), (b"a 1e999", OSError), (b"a 1 a 2", ValueError),
                            (b"a shmids p1.000 x\n", OSError), (b"a 1 2 x3$ 3z", OSError), (b"a shmids", OSError)):
            with open(self.path, "wb") as file:
                file.write(text)
            self.assertRaises(error, asf.read_arrays, self.path)
        for name in ("", "1", "a b", "nan", "shmids", "a\0"):
            self.assertRaises(ValueError, asf.write_arrays, self.path, {name: [1]})
        self.assertRaises(TypeError, asf.write_arrays, self.path, {"a": array.array("f", [1])})

    def test_errors(self):
        self.assertRaises(FileNotFoundError, asf.open_segment, "p1.0123456789ab none")
        self.assertRaises(OSError, asf.create_segment, "", 8)
        self.assertRaises(ValueError, asf.create_segment, "a", -8)
        self.assertRaises(OSError, asf.create_segment, "a", 8, backend="none")
        self.assertRaises(TypeError, asf.create_segment, "a")
        self.assertRaises((ValueError, OSError), asf.create_segment, "a\0b", 8)
        self.assertRaises(TypeError, asf.open_segment, self.label, True)
        self.assertRaises((ValueError, FileNotFoundError), asf.open_segment, "a\0b")
        self.assertRaises(FileNotFoundError, asf.remove_segment, "p1.0123456789ab none")
        self.assertRaises(TypeError, asf.remove_segment, 5)
        self.assertRaises(TypeError, self.segment.array, 5)
        self.assertRaises(ValueError, self.segment.array, "nonsense")

    def test_as_memory(self):
        self.segment[0:3] = b"abc"
        self.assertEqual((self.segment[1], bytes(self.segment[:3]), len(self.segment)), (ord("b"), b"abc", 800))
        for wrong, error in ((lambda: self.segment[800], IndexError), (lambda: self.segment["x"], TypeError)):
            self.assertRaises(error, wrong)
        with self.assertRaises(TypeError):
            del self.segment[0]
        with self.assertRaises(ValueError):
            self.segment[0:3] = b"four"
        with asf.open_segment(self.label) as theirs, self.assertRaises(TypeError):
            theirs[0] = 1
        self.segment.close()
        for wrong in (lambda: self.segment[0], lambda: bytes(self.segment), self.segment.array):
            self.assertRaises(ValueError, wrong)

    def test_wrong_texts_and_arrays(self):
        for arrays in (5, {"a": 5}, {"a": ["x"]}, {5: [1]}, {"a": None}, {"a": [[1]]}):
            self.assertRaises((TypeError, ValueError, AttributeError), asf.write_arrays, self.path, arrays)
        self.assertRaises(TypeError, asf.write_arrays, self.path)
        self.assertRaises(FileNotFoundError, asf.read_arrays, "/no/such")
        self.assertRaises(FileNotFoundError, asf.write_arrays, "/no/such", {})
        self.assertRaises(OSError, asf.write_arrays, "/dev/full", {"a": range(100000)})
        asf.write_arrays(self.path, {})
        self.assertEqual(asf.read_arrays(self.path), {})
        with asf.open(self.path, "w+b") as file:
            asf.write_arrays(file, {"a": (1, 2), "b": array.array("d", [3])}, segments=True)
            file.seek(0)
            found = asf.read_arrays(file)
            self.assertEqual({name: list(view) for name, view in found.items()}, {"a": [1, 2], "b": [3]})
        with open(self.path, encoding="utf-8") as file:
            for line in file:
                if "shmids " in line:
                    asf.remove_segment(line.split("shmids ")[1].rstrip("\n"))


if __name__ == "__main__":
    unittest.main()
