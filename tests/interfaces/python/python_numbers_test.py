#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares numbers written as text, and read back, with Python's float(), int() and str(), and NumPy's savetxt and loadtxt.

Also tests columns of NumPy, pandas, polars and pyarrow, if these are installed.  ASF_PYTHON_ROUNDS sets the number of
rounds with random values, ASF_PYTHON_SEED the seed."""
import array
import errno
import importlib
import io
import math
import os
import pathlib
import random
import re
import signal
import struct
import threading
import time
import unittest

import asf
from python_case import FileCase


def optional(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


numpy, pandas, polars, pyarrow = map(optional, ("numpy", "pandas", "polars", "pyarrow"))

ROUNDS = int(os.environ.get("ASF_PYTHON_ROUNDS", 20))
SEED = int(os.environ.get("ASF_PYTHON_SEED", 1))
EDGES = [0.0, -0.0, 0.1, 1 / 3, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 1e21, 1e22, 1e23, 9007199254740993.0,
         123456.0, 1e-5, 1e15, 1e16, math.inf, -math.inf, math.nan]
RANGES = {"b": 7, "h": 15, "i": 31, "l": 63, "q": 63, "B": 8, "H": 16, "I": 32, "L": 64, "Q": 64}


def random_double():
    """Returns a double of random bits, or one with at most nine decimals."""
    if random.random() < 0.5:
        return struct.unpack("d", random.randbytes(8))[0]
    return round(random.uniform(-1e6, 1e6), random.randrange(10))


def random_integer(format):
    bits = random.randrange(RANGES[format] + 1)
    return random.randrange(-(1 << bits) if format.islower() else 0, 1 << bits)


def random_array(format, count):
    if format in "fd":
        return array.array(format, [random.choice(EDGES) if format == "d" and random.random() < 0.2 else
                                    random_double() if format == "d" else random.uniform(-1e9, 1e9) for _ in range(count)])
    return array.array(format, [random_integer(format) for _ in range(count)])


def bits(value):
    """Returns a value to compare: it differs for 0.0 and -0.0, and is the same for all NaNs."""
    return "nan" if math.isnan(value) else struct.pack("d", value)


class Numbers(FileCase):
    def setUp(self):
        super().setUp()
        random.seed(SEED)

    def got(self):
        with open(self.path, "rb") as file:
            return file.read()

    def test_row(self):
        class Index:
            def __index__(self):
                return -7

        values = [0, -1, 2**63 - 1, -(2**63), 2**63, -(2**63) - 1, 10**500, "ä€𝄞", "", b"\xff\0", "a\tb\n", Index()]
        expected = [str(value) if isinstance(value, int) else value for value in values[:-1]] + ["-7"]
        with asf.open(self.path, "wb") as file:
            self.assertIsNone(file.write_row(*values))
            file.write_row()
            file.write_row(1, "x" * 100_000, 2, separator=b";")
            file.write_row("one")
        expected = b"\t".join(text if isinstance(text, bytes) else text.encode() for text in expected)
        self.assertEqual(self.got(), expected + b"\n\n1;" + b"x" * 100_000 + b";2\none\n")

    def test_row_of_floats(self):
        """float() reads the same value from the text, which has the digits of repr() in the layout that the manual shows."""
        values = EDGES + [random_double() for _ in range(200 * ROUNDS)]
        with asf.open(self.path, "wb") as file:
            file.write_row(*values, separator=" ")
            file.write_row(1.0, 1e22, 0.1, math.inf, math.nan, separator=" ")
        texts, told = (line.split(b" ") for line in self.got().splitlines())
        self.assertEqual(told, [b"1", b"1e+22", b"0.1", b"inf", b"nan"])
        self.assertEqual([bits(float(text)) for text in texts], [bits(value) for value in values])

        def digits(text):
            return re.sub(r"e.*|\D", "", text).strip("0")

        for text, value in zip(texts, values):
            if math.isfinite(value) and abs(value) < 1e15:  # repr prints all digits of larger whole numbers
                self.assertEqual(digits(text.decode()), digits(repr(value)))

    def test_row_that_is_refused(self):
        """If write_row() or write_columns() refuses an argument, it writes nothing."""
        with asf.open(self.path, "wb") as file:
            for value in (True, None, [1], 1j, memoryview(b"x"), object()):
                self.assertRaises(TypeError, file.write_row, 1, value)
            self.assertRaises(UnicodeEncodeError, file.write_row, 1, "\udc80")
            # more digits than sys.set_int_max_str_digits allows
            self.assertRaises(ValueError, file.write_row, 1, 10**5000)
            for separator in ("", "\n", b"\n", ", ", "ä", b""):
                self.assertRaises(ValueError, file.write_row, 1, separator=separator)
                self.assertRaises(ValueError, file.write_columns, array.array("d"), separator=separator)
            self.assertRaises(TypeError, file.write_row, 1, separator=9)
            self.assertRaisesRegex(TypeError, "separator", file.write_row, 1, end="x")
        self.assertEqual(self.got(), b"")

    def test_write_columns(self):
        """write_columns() writes columns of every format and stride."""
        for _ in range(ROUNDS):
            formats = random.choices("bBhHiIlLqQfd", k=random.randrange(1, 15))
            rows, step = random.choice([0, 1, 2, 100, 3000]), random.choice([-3, -1, 1, 2])
            columns = [memoryview(random_array(format, rows * abs(step)))[::step] for format in formats]
            with asf.open(self.path, "wb") as file:
                file.write(b"before\n")
                self.assertIsNone(file.write_columns(columns, separator=","))
                file.write(b"after\n")
            lines = self.got().split(b"\n")
            self.assertEqual((lines[0], lines[-2:], len(lines)), (b"before", [b"after", b""], rows + 3))
            for number, (format, column) in enumerate(zip(formats, columns)):
                texts = [line.split(b",")[number] for line in lines[1:-2]]
                if format in "fd":
                    self.assertEqual([bits(float(text)) for text in texts], [bits(value) for value in column])
                else:
                    self.assertEqual([text.decode() for text in texts], [str(value) for value in column])

    def test_columns_by_threads(self):
        """Several threads write the same text as one thread."""
        row, chunk = 3 * 41, 128 << 10  # the sizes in python_write_columns.c
        for rows in (0, 1, chunk // row - 1, chunk // row, chunk // row + 1, 20 * (chunk // row) + 1):
            columns = [random_array(format, 2 * rows)[::2] for format in "dqf"]
            expected = self.written(columns, threads=1)
            self.assertEqual(expected.count(b"\n"), rows)
            for threads in (2, 3, 9, 200, 0):
                self.assertEqual(self.written(columns, threads=threads), expected)
        wide = [array.array("d", [i, i / 3, -i]) for i in range(5000)]  # a row is longer than a chunk
        self.assertEqual(self.written(wide, threads=3), self.written(wide))

    def written(self, columns, **options):
        with asf.open(self.path, "wb") as file:
            file.write_columns(columns, **options)
        return self.got()

    def test_columns_by_threads_that_fail(self):
        columns = [array.array("d", [1 / 3]) * 300_000] * 2
        with asf.open("/dev/full", "wb") as file:
            with self.assertRaises(OSError) as caught:
                file.write_columns(columns, threads=4)
            self.assertEqual(caught.exception.errno, errno.ENOSPC)
            self.assertRaises(ValueError, file.write_columns, columns, threads=-1)

    def test_columns_by_threads_that_are_interrupted(self):
        """A signal handler runs while write_columns() waits for a full pipe, and its exception ends the call."""
        columns = [array.array("d", [1 / 3]) * 300_000] * 2
        raised = threading.Event()

        def handle(*_):
            if not raised.is_set():
                raised.set()
                raise KeyboardInterrupt

        def interrupt():
            while not raised.wait(0.1):
                os.kill(os.getpid(), signal.SIGINT)

        before = signal.signal(signal.SIGINT, handle)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        ours, theirs = os.pipe()
        with os.fdopen(ours):
            file = asf.open(theirs, "wb")
            thread = threading.Thread(target=interrupt)
            thread.start()
            self.assertRaises(KeyboardInterrupt, file.write_columns, columns, threads=4)
            thread.join()
            os.set_blocking(theirs, False)
            file.close()

    def test_one_column(self):
        with asf.open(self.path, "wb") as file:
            file.write_columns(array.array("i", [3, -4]))
            file.write_columns(iter([b"\x01\x02"]))
        self.assertEqual(self.got(), b"3\n-4\n1\n2\n")

    def test_columns_that_are_refused(self):
        doubles = array.array("d", [1, 2])
        with asf.open(self.path, "wb") as file:
            for columns in (1, None, "text", [1, 2], {"a": [1]}, [doubles, "text"], [doubles, None], array.array("u", "ab"),
                            memoryview(b"ab").cast("c"), memoryview(b"ab").cast("?")):
                self.assertRaises(TypeError, file.write_columns, columns)
            for columns in ([], [doubles, array.array("d", [1])], memoryview(doubles).cast("B").cast("d", [1, 2]),
                            memoryview(b"a").cast("B", [])):
                self.assertRaises(ValueError, file.write_columns, columns)
            doubles.append(3)  # fails if a buffer is still exported
        self.assertEqual(self.got(), b"")

    def test_columns_of_lists(self):
        columns = [[1, -2, 3], (0.1, 1, 1e300), range(3), [2**63 - 1, -(2**63), 2]]
        self.assertEqual(self.written(columns), b"1\t0.1\t0\t9223372036854775807\n-2\t1\t1\t-9223372036854775808\n3\t1e+300\t2\t2\n")
        self.assertEqual(self.written([[]]), b"")
        for column, error, what in (([1, "a"], TypeError, "row 1 .*str"), ([None], TypeError, "row 0 .*NoneType"), ([1.5, True], TypeError, "row 1 .*bool"),
                                    ([[1]], TypeError, "row 0 .*list"), ([2**63], OverflowError, ""), ({1}, TypeError, "set"), ("ab", TypeError, "str")):
            with asf.open(self.path, "wb") as file:
                self.assertRaisesRegex(error, "column 1: .*" + what, file.write_columns, [[1] * len(column), column])
            self.assertEqual(self.got(), b"")

    def test_columns_of_objects(self):
        """Writes objects whose __array__() returns a buffer.

        The attribute null_count, or dtype together with hasnans, shows whether there are nulls."""
        class Series:
            def __init__(self, made, **attributes):
                self.made = made
                self.__dict__.update(attributes)

            def __array__(self):
                if isinstance(self.made, Exception):
                    raise self.made
                return self.made

        class Dtype:
            na_value = None

        numbers = array.array("d", [1, math.nan])
        for attributes in ({}, {"null_count": 0}, {"null_count": lambda: 0}, {"dtype": Dtype, "hasnans": False}, {"dtype": "d", "hasnans": True}):
            series = Series(numbers, **attributes)
            self.assertEqual((self.written(series), self.written([series, [3, 4]])), (b"1\nnan\n", b"1\t3\nnan\t4\n"))
        for attributes in ({"null_count": 2}, {"null_count": lambda: 1}, {"dtype": Dtype, "hasnans": True}):
            with asf.open(self.path, "wb") as file:
                self.assertRaisesRegex(ValueError, "column 1: .*null", file.write_columns, [numbers, Series(numbers, **attributes)])
        for made, error, what in ((None, TypeError, ""), ([1, 2], TypeError, ""), (memoryview(b"ab").cast("c"), TypeError, "format 'c'"),
                                  (ValueError("mine"), ValueError, "mine"), (UnicodeError("mine"), ValueError, "mine")):
            with asf.open(self.path, "wb") as file:
                self.assertRaisesRegex(error, "column 0: .*" + what, file.write_columns, Series(made))
        with asf.open(self.path, "wb") as file:
            self.assertRaisesRegex(KeyError, "mine", file.write_columns, [Series(KeyError("mine"))])
            self.assertRaises(ZeroDivisionError, file.write_columns, Series(numbers, null_count=lambda: 1 / 0))
        self.assertEqual(self.got(), b"")
        numbers.append(3)  # fails if a buffer is still exported

    def check_series(self, series, nulls, others):
        self.assertEqual(self.written([series, series, [5, 6]]), b"1\t1\t5\n2\t2\t6\n")
        self.assertEqual(self.written(series), b"1\n2\n")
        for column in [nulls] + others:
            with asf.open(self.path, "wb") as file:
                self.assertRaisesRegex(ValueError if column is nulls else TypeError, "column 1: ", file.write_columns, [series, column])

    @unittest.skipUnless(pandas, "pandas is not installed")
    def test_pandas(self):
        for kind in ("int64", "uint8", "float32", "Int64", "Float64"):
            self.check_series(pandas.Series([1, 2], dtype=kind), pandas.Series([1, None], dtype="Int64"),
                              [pandas.Series(["a", "b"]), pandas.Series([True, False])])
        self.assertEqual(self.written(pandas.Series([1, 9, None])[::2]), b"1\nnan\n")
        self.assertEqual(self.written([pandas.DataFrame({"a": [1], "b": [2.5]})[name] for name in "ab"]), b"1\t2.5\n")

    @unittest.skipUnless(polars, "polars is not installed")
    def test_polars(self):
        for kind in (polars.Int64, polars.UInt8, polars.Float32):
            self.check_series(polars.Series([1, 2], dtype=kind), polars.Series([1, None]),
                              [polars.Series(["a", "b"]), polars.Series([True, False])])
        self.assertEqual(self.written(polars.DataFrame({"a": [1], "b": [2.5]}).get_columns()), b"1\t2.5\n")

    @unittest.skipUnless(pyarrow, "pyarrow is not installed")
    def test_pyarrow(self):
        for kind in (pyarrow.int64(), pyarrow.uint8(), pyarrow.float32()):
            for series in (pyarrow.array([1, 2], kind), pyarrow.chunked_array([[1], [2]], kind)):
                self.check_series(series, pyarrow.array([1, None]), [pyarrow.array(["a", "b"]), pyarrow.array([True, False])])
        self.assertEqual(self.written(pyarrow.table({"a": [1], "b": [2.5]}).columns), b"1\t2.5\n")

    def read(self, *arguments, **options):
        with asf.open(self.path) as file:
            return [list(view) for view in file.read_columns(*arguments, **options)]

    def test_read_columns(self):
        """Reads columns of every type, in another order than in the file, with unread fields between them."""
        for _ in range(ROUNDS):
            rows = random.choice([0, 1, 4095, 4096, 4097, 9000])
            doubles, small, large = random_array("d", rows), random_array("i", rows), random_array("q", rows)
            ends = random.choice([b"\n", b"\r\n"])
            separator = random.choice([b"\t", b",", b" ", b"\0"])
            lines = [separator.join([repr(d).encode(), b"text", str(i).encode(), str(q).encode(), b""]) for d, i, q in zip(doubles, small, large)]
            self.put(ends.join(lines) + random.choice([b"", ends] if rows else [b""]))
            with asf.open(self.path) as file:
                q, d, i = file.read_columns({3: "q", 0: "d", 2: "i"}, separator=separator)
                self.assertEqual([(view.format, len(view)) for view in (q, d, i)], [("q", rows), ("d", rows), ("i", rows)])
                self.assertEqual((list(q), list(i)), (list(large), list(small)))
                self.assertEqual(list(map(bits, d)), list(map(bits, doubles)))
                self.assertEqual([list(view) for view in file.read_columns([(0, "d")])], [[]])
                self.assertEqual(file.read(), b"")

    def test_read_columns_of_a_file(self):
        """Any number of threads reads the same columns, from files of one or several parts.  The columns are writable."""
        for rows in (0, 1, 5000, 120000):
            doubles, large = random_array("d", rows), random_array("q", rows)
            self.put(b"value,name,id\n" + b"".join(b"%r,some name,%d\n" % pair for pair in zip(doubles, large)))
            for threads in (0, 1, 3):
                for path in (self.path, os.fsencode(self.path), pathlib.Path(self.path)):
                    q, d = asf.read_columns(path, {2: "q", 0: "d"}, separator=",", skip=1, threads=threads)
                    self.assertEqual([(view.format, len(view)) for view in (q, d)], [("q", rows), ("d", rows)])
                    self.assertEqual(q, memoryview(large))
                    self.assertEqual(list(map(bits, d)), list(map(bits, doubles)))
        q[0] = 5
        self.assertEqual(q[0], 5)
        self.assertRaisesRegex(ValueError, f"{self.path}.*not a number", asf.read_columns, self.path, {0: "d"}, separator=",")
        self.assertRaises(FileNotFoundError, asf.read_columns, self.path + ".none", {0: "d"})
        self.assertRaises(ValueError, asf.read_columns, self.path, {})
        self.assertRaises(ValueError, asf.read_columns, self.path, {0: "d"}, skip=-1)
        self.assertRaises(ValueError, asf.read_columns, self.path, {0: "d"}, threads=-1)
        self.assertRaises(TypeError, asf.read_columns, 3, {0: "d"})

    def test_forms_of_numbers(self):
        texts = [b" 1 ", b"+1.5", b".5", b"5.", b"1e3", b"-1E-3", b"INF", b"nan", b"", b"0x10", b"1e999", b"1" * 400]
        self.put(b"\n".join(text + b"\tx" for text in texts))
        expected = [1, 1.5, 0.5, 5, 1000, -0.001, math.inf, math.nan, math.nan, 16, math.inf, math.inf]
        self.assertEqual(list(map(bits, self.read({0: "d"})[0])), list(map(bits, map(float, expected))))
        self.put(b" 7 \n+8\n-009\r\n")
        self.assertEqual(self.read({0: "q"}), [[7, 8, -9]])

    def test_rows(self):
        """Reads some rows, with other calls between.  The columns are writable and outlive the file."""
        self.put(b"id\tvalue\n" + b"".join(b"%d\t%d.5\n" % (i, i) for i in range(10000)))
        with asf.open(self.path) as file:
            self.assertEqual(next(file), b"id\tvalue\n")
            ids, values = file.read_columns([(0, "q"), (1, "d")], rows=3)
            self.assertEqual((list(ids), list(values)), ([0, 1, 2], [0.5, 1.5, 2.5]))
            self.assertEqual(next(file), b"3\t3.5\n")
            self.assertEqual(file.tell(), 9 + 4 * 6)
            self.assertEqual([list(view) for view in file.read_columns(((1, "d"),), rows=0)], [[]])
            self.assertEqual(file.read_columns({1: "d"}, rows=5000)[0][-1], 5003.5)
            self.assertEqual(file.readline(), b"5004\t5004.5\n")
            left = file.read_columns({0: "i"}, rows=10**15)[0]
            self.assertEqual((left[0], len(left)), (5005, 4995))
            file.seek(9)
            self.assertEqual(len(file.read_columns({0: "i"})[0]), 10000)
        ids[0] = 7
        self.assertEqual(list(ids), [7, 1, 2])

    def test_errors(self):
        """The error shows the line that is not a row.  The next call continues at the beginning of that line."""
        cases = [(b"x", "d"), (b"1 2", "d"), (b"'1'", "q"), (b"1.5", "q"), (b"", "q"), (b"%d" % 2**31, "i"), (b"%d" % -2**63 + b"0", "q")]
        for before in (0, 3, 4096, 5000):
            for text, kind in cases:
                good = b"1\t1\n" * before
                self.put(good + b"1\t" + text + b"\n5\t6\n")
                with asf.open(self.path) as file:
                    with self.assertRaises(ValueError) as caught:
                        file.read_columns({1: kind})
                    self.assertIn(repr(self.path), str(caught.exception))
                    self.assertIn(f"line {before + 1} ", str(caught.exception))
                    self.assertIn("too large" if len(text) > 5 else "not a number", str(caught.exception))
                    self.assertIn(repr(b"1\t" + text), str(caught.exception))
                    self.assertEqual(file.tell(), len(good))
                    self.assertEqual(file.readline(), b"1\t" + text + b"\n")
                    self.assertEqual([list(view) for view in file.read_columns({0: "q"})], [[5]])
        self.put(b"1\t2\n3")
        with asf.open(self.path) as file, self.assertRaisesRegex(ValueError, "line 2 .*missing"):
            file.read_columns({1: "d"})
        self.put(b"1" * (2 << 20))
        with asf.open(self.path) as file, self.assertRaises(OSError):
            file.read_columns({1: "d"})

    def test_fields_that_are_refused(self):
        self.put(b"1\t2\n")
        with asf.open(self.path) as file:
            for fields in ({}, [], {-1: "d"}, {0: "x"}, {0: ""}, {0: "dd"}, [(0, "d"), (0, "q")]):
                self.assertRaises(ValueError, file.read_columns, fields)
            for fields in ([0], [[0, "d"]], {0: 1}, {0: float}, {"a": "d"}, [(0,)], [(0, "d", 1)]):
                self.assertRaises(TypeError, file.read_columns, fields)
            for fields in (None, 3, "text"):
                self.assertRaises((TypeError, AttributeError), file.read_columns, fields)
            self.assertRaises(ValueError, file.read_columns, {0: "d"}, separator="\n")
            self.assertRaisesRegex(TypeError, "separator", file.read_columns, {0: "d"}, sep=",")
            self.assertEqual(file.read(), b"1\t2\n")

    def test_files_of_the_other_direction(self):
        with asf.open(self.path, "wb") as file:
            self.assertRaises(io.UnsupportedOperation, file.read_columns, {0: "d"})
        with asf.open(self.path) as file:
            self.assertRaises(io.UnsupportedOperation, file.write_row, 1)
            self.assertRaises(io.UnsupportedOperation, file.write_columns, array.array("d"))
        with asf.open(self.path, "w+b") as file:
            file.write_row(1, 2)
            file.seek(0)
            self.assertEqual(file.read_columns({1: "q"})[0][0], 2)
            file.write_row(3)
            file.seek(0)
            self.assertEqual(file.read(), b"1\t2\n3\n")
        with asf.open("/dev/full", "wb") as file:
            with self.assertRaises(OSError):
                for _ in range(100):
                    file.write_columns(array.array("d", [0.1]) * 100_000)
                    file.flush()

    def test_pipes(self):
        """Reads only complete lines as rows, though a pipe passes them in parts with signals between."""
        ours, theirs = os.pipe()
        pieces = [b"1\t2", b"\n3\t", b"4\n5\t6\n7", b"0\t8", b"0\n9\t1"]

        def feed():
            for piece in pieces:
                os.write(theirs, piece)
                time.sleep(0.02)
                os.kill(os.getpid(), signal.SIGUSR1)
            os.close(theirs)

        before = signal.signal(signal.SIGUSR1, lambda *_: None)
        thread = threading.Thread(target=feed)
        thread.start()
        with asf.open(ours) as file:
            self.assertEqual([list(view) for view in file.read_columns({0: "i", 1: "d"})], [[1, 3, 5, 70, 9], [2, 4, 6, 80, 1]])
        thread.join()
        signal.signal(signal.SIGUSR1, before)

    def test_descriptors_that_do_not_wait(self):
        ours, theirs = os.pipe2(os.O_NONBLOCK)
        with asf.open(ours) as file:
            self.assertRaises(BlockingIOError, file.read_columns, {0: "q"})
            os.write(theirs, b"1\n2\n3")
            self.assertEqual(list(file.read_columns({0: "q"})[0]), [1, 2])
            self.assertRaises(BlockingIOError, file.read_columns, {0: "q"})
            os.write(theirs, b"4\n5")
            os.close(theirs)
            self.assertEqual(list(file.read_columns({0: "q"})[0]), [34, 5])

    def test_threads(self):
        """Calls of several threads on one file are atomic."""
        columns = {letter: array.array("q", [letter] * 20000) for letter in range(4)}

        def write(letter):
            for _ in range(5):
                file.write_columns([columns[letter]] * 2)
                file.write_row(letter, letter)

        with asf.open(self.path, "wb") as file:
            threads = [threading.Thread(target=write, args=(letter,)) for letter in columns]
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]
        got = []
        with asf.open(self.path) as file:
            def read():
                while len(views := file.read_columns({0: "q", 1: "q"}, rows=20001)[0]):
                    got.append(list(views))
            threads = [threading.Thread(target=read) for _ in range(3)]
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]
        self.assertEqual(len(got), 20)
        self.assertEqual(sum(map(sum, got)), 5 * 20001 * (0 + 1 + 2 + 3))

    @unittest.skipUnless(numpy, "numpy is not installed")
    def test_numpy(self):
        rows = 5000
        table = {"d": numpy.array([random_double() for _ in range(rows)]), "q": numpy.random.default_rng(SEED).integers(-(2**63), 2**63 - 1, rows)}
        with asf.open(self.path, "wb") as file:
            file.write_columns(list(table.values()))
        theirs = numpy.loadtxt(self.path, dtype=[("d", "d"), ("q", "q")])
        numpy.testing.assert_array_equal(theirs["d"], table["d"])
        numpy.testing.assert_array_equal(theirs["q"], table["q"])
        numpy.savetxt(self.path, table["d"], fmt="%.17g")
        with asf.open(self.path) as file:
            view = file.read_columns({0: "d"})[0]
        made = numpy.asarray(view)
        numpy.testing.assert_array_equal(made, table["d"])
        self.assertTrue(numpy.shares_memory(made, numpy.asarray(view)))
        square = numpy.arange(6, dtype="f8").reshape(2, 3)
        with asf.open(self.path, "wb") as file:
            file.write_columns(list(square.T))
            file.write_row(numpy.int16(-3), numpy.float64(0.5))
            self.assertRaises(ValueError, file.write_columns, square)
            for kind in (">f8", "f2", "c16", "?", "S3", "g"):
                self.assertRaises(TypeError, file.write_columns, numpy.zeros(3, kind))
            self.assertRaises(TypeError, file.write_row, numpy.float32(1))
        self.assertEqual(self.got(), b"0\t1\t2\n3\t4\t5\n-3\t0.5\n")


if __name__ == "__main__":
    unittest.main()
