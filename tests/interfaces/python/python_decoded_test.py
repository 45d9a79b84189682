#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests asf.open(decompress=True): it returns the bytes that Python's modules or the formats' tools compressed."""
import errno
import glob
import gzip
import lzma
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import unittest
import warnings

import asf
from python_case import FileCase


def library():
    """Returns the path of the libasf that the module uses."""
    with open("/proc/self/maps") as maps:
        return next(line.split()[-1] for line in maps if "/libasf.so" in line)


def by_tool(name):
    return lambda data: subprocess.run([name, "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout


PACKERS = {"gzip": gzip.compress, "xz": lzma.compress, "zstd": by_tool("zstd"), "lz4": by_tool("lz4")}
DECODERS = [name for name in PACKERS if glob.glob(os.path.join(os.path.dirname(library()), f"libasf_{name}.so.*"))]
FORMATS = [name for name in DECODERS if name in ("gzip", "xz") or shutil.which(name)]

r = random.Random(3)
DATA = b"".join(b"%d\t%s\t%r\n" % (i, b"x" * r.randrange(60), r.random()) for i in range(10000))
LINES = DATA.splitlines(True)
PACKED = {name: PACKERS[name](DATA) for name in FORMATS}


def of_each_format(test):
    """Decorates a test: calls it for each format, with the compressed DATA as its argument and in its file."""
    def run(self):
        for name, packed in PACKED.items():
            with self.subTest(name):
                self.put(packed)
                test(self, packed)
    return run


@unittest.skipUnless(FORMATS, "no decoder was built")
class Decoded(FileCase):
    @of_each_format
    def test_calls(self, packed):
        with asf.open(self.path, decompress=True) as file:
            self.assertEqual((file.name, file.mode, file.isatty(), file.seekable()), (self.path, "rb", False, False))
            self.assertEqual(repr(file), f"<asf.File name={self.path!r} mode='rb'>")
            self.assertEqual((next(file), file.peek(1)[:1], file.readline()), (LINES[0], LINES[1][:1], LINES[1]))
            self.assertEqual([bytes(line) for line, _ in zip(file.lines_in_place(), range(3))], LINES[2:5])
            rest = b"".join(LINES[6:])  # zip has read LINES[5] and dropped it
            self.assertEqual((file.read(100), file.read1(0)), (rest[:100], b""))
            with file.region(100_000) as region:
                self.assertEqual(bytes(region), rest[100:100_100])
            self.assertEqual((file.read(), file.read(), file.readline()), (rest[100_100:], b"", b""))
            for call in (file.tell, lambda: file.seek(0), file.fileno):
                self.assertRaises(OSError, call)
        with asf.open(self.path, decompress=True) as file:
            self.assertEqual(list(file), LINES)
        with asf.open(self.path, decompress=True) as file:
            numbers, reals = file.read_columns({0: "q", 2: "d"})
            self.assertEqual(list(numbers), list(range(len(LINES))))
            self.assertEqual(list(reals), [float(line.split(b"\t")[2]) for line in LINES])
        with asf.open(self.path) as file:
            self.assertNotEqual(file.read(), DATA)

    @of_each_format
    def test_text(self, packed):
        with asf.open(self.path, "r", encoding="utf-8", decompress=True) as file:
            self.assertEqual((file.mode, "".join(file)), ("r", DATA.decode()))
        with warnings.catch_warnings(record=True) as caught:
            self.assertRaises(LookupError, asf.open, self.path, "r", encoding="none", decompress=True)
        self.assertEqual(caught, [])

    @of_each_format
    def test_descriptors(self, packed):
        ours, theirs = os.pipe()
        thread = threading.Thread(target=lambda: (os.write(theirs, packed[:3]), os.write(theirs, packed[3:]), os.close(theirs)))
        thread.start()
        with asf.open(ours, decompress=True) as file:
            self.assertEqual(file.read(), DATA)
        thread.join()
        self.assertRaises(OSError, os.close, ours)
        self.put(b"plain" + packed)
        fd = os.open(self.path, os.O_RDONLY)
        os.lseek(fd, 5, os.SEEK_SET)
        with asf.open(fd, closefd=False, decompress=True) as file:
            self.assertEqual(file.read(), DATA)
        os.close(fd)

    def test_input_that_is_not_compressed(self):
        for data in (b"", b"\x1f", b"\xfd7zX", LINES[0], DATA):
            self.put(data)
            with asf.open(self.path, decompress=True) as file, open(self.path, "rb") as plain:
                self.assertEqual((file.fileno() > 2, file.seekable()), (True, True))
                self.assertEqual((file.readline(), file.tell(), file.read(10)), (plain.readline(), plain.tell(), plain.read(10)))
                self.assertEqual(file.seek(-1 if data else 0, 2), plain.seek(-1 if data else 0, 2))
                self.assertEqual(file.read(), plain.read())
        with asf.open(self.path, "r", encoding="utf-8", decompress=True) as text:
            self.assertEqual((type(text), list(text)), (asf.TextFile, [line.decode() for line in LINES]))
        with asf.open("/dev/null", decompress=True) as file:
            self.assertEqual(file.read(), b"")

    @unittest.skipUnless("gzip" in FORMATS, "libasf_gzip was not built")
    def test_several_members(self):
        self.put(b"".join(gzip.compress(piece) for piece in (DATA, b"", b"last\n")))
        with asf.open(self.path, decompress=True) as file:
            self.assertEqual(file.read(), DATA + b"last\n")

    @of_each_format
    def test_damaged_input(self, packed):
        self.put(packed[:-9])
        with asf.open(self.path, decompress=True) as file, self.assertRaises(OSError) as caught:
            file.read()
        self.assertEqual((caught.exception.errno, caught.exception.filename), (errno.EIO, self.path))
        middle = len(packed) // 2
        self.put(packed[:middle] + bytes(255 - byte for byte in packed[middle:middle + 50]) + packed[middle + 50:])
        with asf.open(self.path, decompress=True) as file, self.assertRaises(OSError) as caught:
            file.readlines()
        self.assertEqual(caught.exception.errno, errno.EBADMSG)

    def test_a_signal_while_open_waits(self):
        def handle(*_):
            raise ZeroDivisionError

        before = signal.signal(signal.SIGALRM, handle)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        ours, theirs = os.pipe()
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        self.assertRaises(ZeroDivisionError, asf.open, ours, decompress=True)
        os.close(theirs)
        self.assertRaises(OSError, os.close, ours)

    def test_refused(self):
        self.put(b"some")
        part = asf.parts(self.path)[0]
        for mode in ("wb", "ab", "xb", "r+b", "w+b", "w", "r+"):
            self.assertRaisesRegex(ValueError, "for reading", asf.open, self.path, mode, decompress=True)
        self.assertRaisesRegex(ValueError, r"parts\(decode=True\)", asf.open, part, decompress=True)
        self.assertRaises(TypeError, asf.open, self.path, "rb", True)
        with open(self.path, "rb") as file:
            self.assertEqual(file.read(), b"some")

    def test_a_decoder_that_is_not_there(self):
        """The error names the file and the missing package.  No descriptor stays open, and nothing is printed."""
        folder = os.path.join(self.folder, "lib")
        os.mkdir(folder)
        soname = re.match(r"libasf\.so\.\d+", os.path.basename(library()))[0]
        shutil.copy(library(), os.path.join(folder, soname))
        shutil.copy(asf.__file__, folder)
        # an empty library here, so that the loader does not search for the system's
        open(os.path.join(folder, soname.replace("asf", "asf_gzip")), "w").close()
        self.put(gzip.compress(DATA))
        program = """if True:
            import asf, errno, os, sys
            for call in (lambda: asf.open(sys.argv[1], decompress=True), lambda: asf.parts(sys.argv[1], decode=True),
                         lambda: asf.open(sys.argv[1], "r", encoding="utf-8", decompress=True),
                         lambda: asf.read_columns(sys.argv[1], {0: "q"})):
                before = os.listdir("/proc/self/fd")
                try:
                    call()
                except OSError as error:
                    print(error.errno == errno.ENOTSUP, error, "libasf-decoders0" in error.strerror)
                assert os.listdir("/proc/self/fd") == before
            """
        environment = {**os.environ, "PYTHONPATH": folder, "LD_LIBRARY_PATH": folder}
        run = subprocess.run([sys.executable, "-X", "dev", "-c", program, self.path], env=environment, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(run.stderr, "")
        lines = run.stdout.splitlines()
        self.assertEqual(len(lines), 4)
        for line in lines:
            self.assertRegex(line, f"^True .*libasf_gzip.*libasf-decoders0: {self.path!r} True$")


if __name__ == "__main__":
    unittest.main()
