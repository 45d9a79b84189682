#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes each allocation of the interpreter fail in turn, alone or together with the next ones.

Each call must return the right result or raise MemoryError, and no descriptor may stay open."""
import array
import gc
import glob
import gzip
import itertools
import os
import sys
import tempfile
import unittest
import warnings

import asf

try:
    import _testcapi
except ImportError:
    _testcapi = None

TEXT = b"".join(b"line %d\n" % i for i in range(3)) + b"x" * 100_000 + b"\nlast"
PACKED = gzip.compress(TEXT)
LONG = array.array("d", range(5000))


def read(path):
    with asf.open(path) as file:
        seen = [file.readline(), file.read(3), file.read1(2), file.tell()]
        into = bytearray(8)
        seen += [file.readinto(into), bytes(into), next(file), [len(line) for line in file.lines(keep=False)]]
        file.seek(5)
        seen += [len(file.read()), file.seekable(), repr(file)]
        return seen


def lines_in_place(path):
    with asf.open(path) as file:
        seen = [file.peek(3)[:3], file.readlines(5), file.readinto1(bytearray(2))]
        for line in file.lines_in_place(keep=False):
            seen += [len(line), line[:3], line.split(b" "), line.field(0, b"n"), line.find(b"x"), repr(line) if len(line) < 9 else 0]
        return seen


def text(path):
    seen = []
    for options in ({"encoding": "utf-8"}, {"encoding": "utf-8", "errors": "replace"}, {"encoding": "latin-1"}):
        with asf.open(path, "r", **options) as file:
            seen += [next(file), file.readline(), file.newlines, file.read(2), len(next(file))]
            file.seek(0)
            seen += [len(line) for line in file]
    return seen


def regions(path):
    with asf.open(path) as file:
        seen = []
        calls = ((file.region, 10), (file.region_some, 10), (file.region_until,), (file.region_at, 20, 10))
        for call, *arguments in calls:  # not a lambda: Python 3.13 crashes if it cannot allocate one
            with call(*arguments) as region:
                seen += [bytes(region[:4]), len(region)]
        return seen


def write(path):
    made = path + ".made"
    with asf.open(made, "w+b") as file:
        file.write(b"one\n")
        file.writelines([b"two\n", bytearray(b"three\n")])
        file.write(b"y" * 200_000)
        with file.region(4, write=True) as region:
            region[:] = b"end\n"
        file.flush()
        file.seek(0)
        seen = [file.readline(), len(file.read())]
    return seen


def numbers(path):
    made = path + ".numbers"
    with asf.open(made, "w+b") as file:
        file.write_row(1, 2.5, "text", 10**30, b"x" * 1000)
        file.write_columns([array.array("q", [3, 4]), array.array("d", [0.5, 1.5])])
        file.write_columns([[5, 6], (7, 8.5)])
        file.write_columns(LONG)
        file.seek(0)
        seen = [file.readline(), *map(list, file.read_columns({1: "d", 0: "q"}, rows=2))]
        seen += [sum(file.read_columns([(0, "d")])[0])]
    seen += map(list, asf.read_columns(made, {0: "d"}, skip=1, threads=1))
    try:
        with asf.open(path) as file:
            file.read_columns({0: "d"})
    except ValueError as error:
        seen += [str(error)]
    return seen


def columns_by_threads(path):
    with asf.open(path + ".columns", "w+b") as file:
        file.write_columns([LONG, LONG], threads=3)
        file.seek(0)
        return len(file.read())


def parts(path):
    made = path + ".parts"
    with asf.open(made, "wb") as file:
        file.write(b"id x\n" + b"1 2.5\n" * 3000)
    cut, seen = asf.parts(made, size=9000), []
    with asf.open(cut[1]) as file:
        seen += [file.name == made, file.seek(6), next(file), len(file.read())]
    with asf.open(cut[0], "r") as file:
        seen += [next(file)]
    for part in cut:
        seen += map(sum, asf.read_columns(part, {0: "q", 1: "d"}, separator=" ", skip=1))
    try:
        asf.open(asf.Part((*cut[0][:5], 0, *cut[0][6:])))
    except OSError as error:
        seen += [error.errno]
    return seen


def decoded(path):
    made = path + ".gz"
    with asf.open(made, "wb") as file:
        file.write(PACKED)
    try:
        with asf.open(made, decompress=True) as file:
            seen = [next(file), len(file.read())]
        with asf.open(made, "r", encoding="utf-8", decompress=True) as file:
            return seen + [next(file)]
    except OSError as error:  # for example, the decoder was not built
        return error.errno


MADE = [None]  # the objects that a call has made, for removal when memory is available again


def segment(path):
    MADE[0] = made = asf.create_segment("memory", 80)
    with made:
        made.array()[3] = 1.5
        with asf.open_segment(made.label) as again:
            return [again.array()[3], len(again), again[:2] == made[:2]]


def arrays(path):
    made = path + ".arrays"
    asf.write_arrays(made, {"a": array.array("d", [1, 2.5]), "b": [3, 4]})
    return {name: list(view) for name, view in asf.read_arrays(made).items()}


def arrays_in_segments(path):
    MADE[0] = path + ".segments"
    asf.write_arrays(MADE[0], {"a": array.array("d", [1, 2.5])}, segments=True)
    return {name: list(view) for name, view in asf.read_arrays(MADE[0]).items()}


def records(path):
    made = path + ".records"
    record = {"id": 1, "name": "text", "n": 2, "at": {"x": 0.5}, "words": ["a", "b"], "ok": True, "tag": "abc"}
    layout = {"id": "int32", "name": "string", "n": "uint16", "at": {"x": "float64"}, "words[n]": "string", "ok": "bool",
              "tag[8]": "char"}
    with asf.record_writer(made, indexed=True) as writer:
        kind = asf.record_format("sample", layout)
        for _ in range(3):
            writer.write(kind, record)
    with asf.records(made) as reader:
        seen = [next(reader) == record, reader.format, reader.count()]
        reader.seek(2)
        return seen + [list(reader) == [record]]


def remove_made():
    made, MADE[0] = MADE[0], None
    labels = [made.label] if isinstance(made, asf.Segment) else []
    if isinstance(made, str) and os.path.exists(made):
        with open(made, encoding="ascii") as file:
            labels = [line.partition("shmids ")[2] for line in file]
        os.unlink(made)
    for label in labels:
        asf.remove_segment(label)


def descriptors():
    gc.collect()
    return os.listdir("/proc/self/fd")


def segments():
    return glob.glob(f"/dev/shm/asf-shm.p{os.getpid()}.*")


@unittest.skipUnless(_testcapi, "the interpreter has no _testcapi")
class Memory(unittest.TestCase):
    SETTLED = 40  # after this many runs in a row without a MemoryError, the test has tried all allocations

    def one(self, scenario, n, count):
        """Runs the scenario while `count` allocations fail, from the n-th on.

        Returns the result, and whether the scenario raised MemoryError."""
        result, hurt = None, False
        try:
            _testcapi.set_nomemory(n, n + count)
            try:
                result = scenario(self.path)
            finally:
                _testcapi.remove_mem_hooks()
        except MemoryError:
            hurt = True
        remove_made()
        left = segments()
        for file in left:
            os.unlink(file)
        self.assertEqual(left, [], n)
        return result, hurt

    def check(self, scenario, count):
        expected = scenario(self.path)
        remove_made()
        settled, n = 0, 0
        while settled < self.SETTLED:
            n += 1
            result, hurt = self.one(scenario, n, count)
            settled = 0 if hurt else settled + 1
            if not hurt:
                self.assertEqual(result, expected, n)
        self.assertEqual(scenario(self.path), expected)
        remove_made()
        print(f"{scenario.__name__}: {n - settled} times {count} allocations", flush=True)

    def test_scenarios(self):
        scenarios = [read, lines_in_place, text, regions, write, numbers, columns_by_threads, parts, decoded, segment, arrays, arrays_in_segments] + ([records] if hasattr(asf, "records") else [])
        warnings.simplefilter("ignore", ResourceWarning)  # about files that could not be closed
        sys.unraisablehook = lambda _: None  # do not print exceptions of destructors
        with tempfile.TemporaryDirectory() as folder:
            self.path = os.path.join(folder, "text")
            with open(self.path, "wb") as file:
                file.write(TEXT)
            # Not all later allocations: the interpreter's own handling of MemoryError would never end.
            for scenario, count in itertools.product(scenarios, (1, 3, 20)):
                with self.subTest(scenario.__name__, count=count):
                    before = descriptors()
                    self.check(scenario, count)
                    self.assertEqual(descriptors(), before)


if __name__ == "__main__":
    unittest.main()
