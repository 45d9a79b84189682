#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the files of asf.open() with those of Python's open(): the same calls on the same data give the same results.

Also tests regions, and the lifetimes of files, regions, lines and views.  ASF_PYTHON_ROUNDS sets the number of random
sequences, ASF_PYTHON_SEED the seed."""
import codecs
import gc
import io
import json
import os
import random
import signal
import sys
import threading
import time
import unittest
import weakref

import asf
from python_case import FileCase


class Files(FileCase):
    def same_lines(self, data):
        self.put(data)
        with open(self.path, "rb") as ours, asf.open(self.path) as theirs:
            self.assertEqual(list(ours), list(theirs))

    def test_lines(self):
        for data in (b"", b"\n", b"a", b"a\n", b"\n\nb", b"\0\n\xff\r\n", b"x" * 3000000 + b"\ny"):
            self.same_lines(data)
        for longest in (3, 40, 700, 40000):
            self.same_lines(b"".join(random.randbytes(random.randrange(longest)) + b"\n" for _ in range(200)))

    def test_lines_of_other_delimiters(self):
        data = b"a:b::c\n:d"
        self.put(data)
        with asf.open(self.path) as file:
            self.assertEqual(list(file.lines(b":", keep=False)), data.split(b":"))
            file.seek(0)
            self.assertEqual(b"".join(file.lines(b":")), data)
            file.seek(0)
            with self.assertRaises(OSError):
                next(file.lines(b":", longest=1))
            self.assertEqual(file.read(), data)
            with self.assertRaises(TypeError):
                file.lines(b"ab")
            with self.assertRaises(ValueError):
                file.lines(longest=0)

    def test_iterators_by_turns(self):
        self.put(b"1\n2\n3:4\n5\n6:7\n")
        with asf.open(self.path) as file:
            colons = file.lines(b":")
            got = [next(file), next(colons), next(file), file.read(2), next(colons), file.readline()]
        self.assertEqual(got, [b"1\n", b"2\n3:", b"4\n", b"5\n", b"6:", b"7\n"])

    def test_one_of_io(self):
        """A File is an instance of the base classes of io's buffered files, and has all their methods except raw."""
        self.put(b"one\ntwo\nthree")
        with asf.open(self.path) as ours, open(self.path, "rb") as theirs:
            for kind in (io.IOBase, io.BufferedIOBase, *type(theirs).__mro__[1:]):
                self.assertIsInstance(ours, kind)
                self.assertTrue(issubclass(asf.File, kind))
            self.assertNotIsInstance(ours, io.RawIOBase)
            missing = {name for name in dir(theirs) if not name.startswith("_")} - set(dir(ours))
            self.assertEqual(missing, {"raw"})
            self.assertIs(weakref.ref(ours)(), ours)
            ours.note = "of the program"
            self.assertEqual(ours.note, "of the program")
            self.assertRaises(io.UnsupportedOperation, ours.detach)
            self.assertRaises(io.UnsupportedOperation, ours.truncate)
        for call in (lambda f: f.readlines(), lambda f: f.readlines(4), lambda f: (f.peek(), f.read(2), f.peek(1)[:1], f.tell()),
                     lambda f: (f.readline(), f.readlines(), f.readlines()), lambda f: f.isatty(),
                     lambda f: (f.read1(2), f.read1(100), f.read1(), f.read1(5)), lambda f: (f.seek(0, 2), f.peek())):
            with asf.open(self.path) as ours, open(self.path, "rb") as theirs:
                self.assertEqual(call(ours), call(theirs))
        terminal, other = os.openpty()
        with asf.open(other, "r+b") as file:
            self.assertTrue(file.isatty())
        os.close(terminal)

    def test_repr(self):
        """repr() shows a file's name, mode and offset, and does not change the file."""
        self.put(b"0123456789\n" * 100000)
        with asf.open(self.path) as file:
            lines = file.lines_in_place()
            line = next(lines)
            self.assertEqual(repr(file), f"<asf.File name={self.path!r} mode='rb' offset=11>")
            self.assertEqual(line, b"0123456789\n")
            for count in (1, 5, 2000, 50000):
                for _ in range(count):
                    next(lines)
                told = repr(file)
                self.assertEqual(told, f"<asf.File name={self.path!r} mode='rb' offset={file.tell()}>")
            with file.region(5) as region:
                self.assertEqual(repr(region), "<asf.Region of 5 bytes, input>")
            self.assertEqual(repr(region), "<asf.Region, given back>")
        with asf.open(self.path, "wb") as file:
            self.assertEqual(repr(file), f"<asf.File name={self.path!r} mode='wb' offset=0>")
            file.write(b"text")
            self.assertEqual(repr(file), f"<asf.File name={self.path!r} mode='wb' offset=4>")
            self.assertEqual(os.path.getsize(self.path), 0, "it was flushed")
        self.assertEqual(repr(file), f"<asf.File name={self.path!r} mode='wb' closed>")
        ours, theirs = os.pipe()
        with asf.open(ours) as file, asf.open(theirs, "wb"):
            self.assertEqual(repr(file), f"<asf.File name={ours} mode='rb'>")

    def test_repr_of_objects(self):
        """repr() shows an object's file or size, not its address."""
        self.put(b"1\n2\n")
        segment = asf.create_segment("repr", 80)
        asf.remove_segment(segment.label)
        asf.write_arrays(self.path + "arrays", {"a": [1, 2]})
        with asf.open(self.path) as file:
            told = {
                file.lines(): f"<asf.Lines of {self.path!r}>",
                file.lines_in_place(): f"<asf.LinesInPlace of {self.path!r}>",
                asf.read_columns(self.path, {0: "q"})[0].obj: "<asf.Column of 16 bytes>",
                asf.read_arrays(self.path + "arrays")["a"].obj: "<asf.Array of 16 bytes>",
                segment: f"<asf.Segment {segment.label!r} of 80 bytes>",
            }
            self.assertEqual({thing: repr(thing) for thing in told}, told)
        with asf.open(asf.parts(self.path)[0]) as file:
            self.assertEqual(repr(file.lines()), f"<asf.Lines of {asf.parts(self.path)[0]!r}>")
        segment.close()
        self.assertEqual(repr(segment), f"<asf.Segment {segment.label!r}, closed>")

    def test_peek_and_readinto1_of_a_pipe(self):
        """peek() and readinto1() wait only if no byte is available."""
        ours, theirs = os.pipe()
        with asf.open(ours) as file:
            os.write(theirs, b"some")
            self.assertEqual(file.peek(100), b"some")
            into = bytearray(100)
            self.assertEqual((file.readinto1(into), into[:4]), (4, b"some"))
            os.close(theirs)
            self.assertEqual((file.peek(), file.readinto1(into)), (b"", 0))

    def test_a_cycle_is_collected(self):
        """The garbage collector closes a file that refers to itself by its attributes, and warns of the unclosed file."""
        self.put(b"1\n2\n")
        for lines in (asf.File.lines, asf.File.lines_in_place):
            file = asf.open(self.path)
            file.itself, file.lines_of_it = file, lines(file)
            next(file.lines_of_it)
            gone = weakref.ref(file)
            del file
            with self.assertWarns(ResourceWarning):
                gc.collect()
            self.assertIsNone(gone())

    def test_lines_in_place(self):
        for data in (b"", b"\n", b"a", b"a\n", b"\n\nb", b"\0\n\xff\r\n", b"x" * 3000000 + b"\ny",
                     *(b"".join(random.randbytes(random.randrange(n)) + b"\n" for _ in range(200)) for n in (3, 40, 700, 40000))):
            self.put(data)
            for delimiter, keep in ((b"\n", True), (b"\n", False), (b"x", True), (b"\0", False)):
                with asf.open(self.path) as copied, asf.open(self.path) as shown:
                    self.assertEqual(list(copied.lines(delimiter, keep)), [bytes(line) for line in shown.lines_in_place(delimiter, keep)])

    def test_lines_in_place_of_a_pipe(self):
        """The iterator waits until a line is complete.  A later read() continues after that line."""
        ours, theirs = os.pipe()
        with asf.open(ours) as file:
            os.write(theirs, b"one\ntwo\nthr")
            lines = file.lines_in_place(keep=False)
            self.assertEqual([bytes(next(lines)), bytes(next(lines))], [b"one", b"two"])
            threading.Timer(0.05, lambda: (os.write(theirs, b"ee\nlast"), os.close(theirs))).start()
            self.assertEqual(next(lines), b"three")
            self.assertEqual(file.read(), b"last")

    def test_what_a_line_in_place_can(self):
        """A line in place has the methods and operators of bytes."""
        text = b"some words, some more of them"
        self.put(text + b"\n")
        with asf.open(self.path) as file:
            line = next(file.lines_in_place(keep=False))
            self.assertEqual((line, len(line), bytes(line), str(line, "ascii")), (text, len(text), text, text.decode()))
            self.assertTrue(line == bytearray(text) and line != text[1:] and not line == text.decode())
            self.assertEqual(repr(line), f"<asf.Line {text!r}; line.decode() is a str, bytes(line) a copy>")
            self.assertEqual((line.decode(), line.decode("utf-16", errors="ignore")), (text.decode(), text.decode("utf-16", "ignore")))
            for sub in (b"", b"s", b"some", b"them", b"x", text, text + b"x"):
                self.assertEqual((sub in line, line.startswith(sub), line.endswith(sub)), (sub in text, text.startswith(sub), text.endswith(sub)))
                for bounds in ((), (1,), (-5,), (3, 9), (None, -3), (-99, 99), (50,), (29, 29), (5, 2), (2**80, 2**90)):
                    self.assertEqual(line.find(sub, *bounds), text.find(sub, *bounds), (sub, bounds))
            for key in (0, -1, 5, slice(None), slice(3, 8), slice(-4, None), slice(None, None, -1), slice(2, 20, 3), slice(9, 2)):
                self.assertEqual(line[key], text[key])
            for sep in (b" ", b"some", b", ", b"x", b"them"):
                for most in (-1, 0, 1, 2, 100):
                    self.assertEqual(line.split(sep, most), text.split(sep, most))
                fields = text.split(sep)
                self.assertEqual([line.field(i, sep) for i in range(len(fields))], fields)
                for number in (len(fields), 99, -1):
                    self.assertRaises(IndexError, line.field, number, sep)
            self.assertEqual(line.split(sep=b" ", maxsplit=1), text.split(b" ", 1))
            for call in (lambda: line[99], lambda: line[-99], lambda: line[2**80]):
                self.assertRaises(IndexError, call)
            for call in (lambda: line.split(b""), lambda: line.field(0, b"")):
                self.assertRaises(ValueError, call)
            self.assertRaises(LookupError, line.decode, "none")
            for call in (lambda: line["x"], lambda: line.decode(None), lambda: line.split("x"), lambda: "x" in line, lambda: hash(line), lambda: line.find(b"x", "y")):
                self.assertRaises(TypeError, call)

            def set_item():
                memoryview(line)[0] = 1
            self.assertRaises(TypeError, set_item)

    def test_lines_of_json(self):
        records = [{"name": "ä", "value": 1.5}, [1, None], "text"]
        self.put(b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records))
        with asf.open(self.path) as file:
            self.assertEqual([json.loads(line) for line in file], records)
            file.seek(0)
            self.assertEqual([json.loads(line.decode()) for line in file.lines_in_place()], records)
            file.seek(0)
            self.assertEqual([json.loads(bytes(line)) for line in file.lines_in_place(keep=False)], records)
        self.put(b"caf\xe9\n")
        with asf.open(self.path) as file:
            line = next(file.lines_in_place(keep=False))
            self.assertEqual((line.decode("latin-1"), line.decode(errors="replace")), ("café", "caf\ufffd"))
            self.assertRaises(UnicodeDecodeError, line.decode)
            codecs.register_error("python_files_test", lambda error: file.read() and ("", error.end))
            self.assertRaises(BufferError, line.decode, errors="python_files_test")

    def test_how_long_a_line_is_shown(self):
        self.put(b"1\n2\n3\n4\n5\n")
        with asf.open(self.path) as file:
            lines = file.lines_in_place()
            line = next(lines)
            self.assertIs(next(lines), line)
            self.assertEqual(line, b"2\n")
            view = memoryview(line)
            for call in (lambda: next(lines), file.readline, file.tell, file.close):
                self.assertRaises(BufferError, call)
            self.assertEqual(bytes(view), b"2\n")
            view.release()
            self.assertEqual(bytes(next(lines)), b"3\n")
            self.assertEqual(file.readline(), b"4\n")
            for call in (bytes, asf.Line.decode):
                self.assertRaises(ValueError, call, line)
            self.assertIn("nothing", repr(line))
            self.assertEqual(bytes(next(lines)), b"5\n")
            self.assertRaises(StopIteration, next, lines)
            self.assertRaises(ValueError, bytes, line)
            file.seek(0)
            del lines
            for line in file.lines_in_place():
                pass
            self.assertEqual(file.seek(2), 2)
            line = next(file.lines_in_place())  # the iterator itself is already destroyed
            self.assertEqual(line, b"2\n")
            view = memoryview(line)
            del line
            self.assertRaises(BufferError, file.read)
            del view
            self.assertEqual(file.read(), b"3\n4\n5\n")

    def test_threads_share_lines_in_place(self):
        """Threads that share an iterator get each line once, and never access freed memory."""
        self.put(b"".join(b"%d\n" % i * 50 for i in range(2000)))
        counts = []
        with asf.open(self.path) as file:
            lines = file.lines_in_place()

            def count():
                n = 0
                for line in lines:
                    n += 1
                    try:
                        bytes(line)
                    except ValueError:  # another thread has moved on to the next line
                        pass
                counts.append(n)
            threads = [threading.Thread(target=count) for _ in range(4)]
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]
        self.assertEqual(sum(counts), 100000)

    def test_truncating(self):
        data = b"0123456789" * 2000
        for mode in ("r+b", "w+b", "wb", "ab"):
            for size in (None, 0, 5, 4096, 19999, 30000):
                got = []
                for opens in (open, asf.open):
                    self.put(data)
                    with opens(self.path, mode) as file:
                        file.write(b"x" * 100)
                        if mode == "r+b":
                            file.seek(50), file.read(10)
                        got.append((file.truncate(size) if size is not None else file.truncate(), mode == "ab" or file.tell(),
                                    file.write(b"end"), file.flush()))
                        if "+" in mode:
                            file.seek(0)
                            got[-1] += (file.read(),)
                    with open(self.path, "rb") as file:
                        got[-1] += (file.read(),)
                self.assertEqual(*got, (mode, size))
        with asf.open(self.path, "r+b") as file:
            self.assertRaises(TypeError, file.truncate, "x")
            self.assertRaises(OSError, file.truncate, -1)

    def test_errors_list_what_is_known(self):
        for call, words in ((lambda: asf.open(self.path, "q"), ("'q'", "'r'", "'w'", "'a'", "'x'", "'b'", "'t'", "'+'")),
                            (lambda: asf.open(self.path, buffering=1), ("'buffering'", "'encoding'", "'errors'", "'newline'", "'closefd'")),
                            (lambda: asf.create_segment("x", 8, backend="disk"), ("backend", "posix", "sysv", "memfd")),
                            (lambda: asf.record_format("x", {"a": "int"}), ("'int'", "int8", "float64", "string", "dict")),
                            (lambda: asf.create_segment("x", 8, kind="posix"), ("'kind'", "'mode'", "'backend'"))):
            with self.assertRaises((TypeError, ValueError, OSError)) as caught:
                call()
            for word in words:
                self.assertIn(word, str(caught.exception))

    def test_text_above(self):
        self.put("héllo\r\nwörld".encode())
        with io.TextIOWrapper(asf.open(self.path), encoding="utf-8") as file:
            self.assertEqual(list(file), ["héllo\n", "wörld"])

    def step(self, r, mode):
        """Returns a random call, as a tuple of a method's name and its arguments."""
        size = r.choice((-1, 0, 1, 5, 60, 4096, 9000, 70000))
        if mode not in ("wb", "ab") and r.random() < 0.1: # newer Pythons reject None here
            size = None
        calls = [("read", size), ("readline", size or -1), ("readlines", size or -1), ("readline",), ("__next__",), ("tell",),
                 ("seek", r.randrange(100000)), ("seek", -r.randrange(50), 2), ("read", 7), ("__next__",)]
        if mode == "ab": # Python's tell() after a seek ignores the append
            calls = [call for call in calls if call[0] not in ("seek", "tell")]
        if mode != "rb":
            calls += [("write", r.randbytes(r.choice((0, 1, 30, 5000, 100000)))), ("flush",), ("truncate", r.randrange(100000))]
            calls += [("truncate",)] if mode != "ab" else []
        return r.choice(calls)

    def perform(self, file, call):
        try:
            if call[0] == "tell" and isinstance(file, asf.File):
                told = repr(file)
                self.assertIn(f" offset={file.tell()}>", told)
            return getattr(file, call[0])(*call[1:])
        except (StopIteration, OSError, ValueError) as error:
            return type(error).__name__

    def test_random_sequences(self):
        seed = int(os.environ.get("ASF_PYTHON_SEED", 1))
        rounds = int(os.environ.get("ASF_PYTHON_ROUNDS", 60))
        for number in range(rounds):
            r = random.Random(seed * 1000003 + number)
            data = b"\n".join(r.randbytes(r.randrange(r.choice((3, 90, 3000)))) for _ in range(r.randrange(300)))
            mode = r.choice(("rb", "rb", "r+b", "wb", "w+b", "ab"))
            outcomes, left = [], []
            for opens in (open, asf.open):
                steps = random.Random(number)
                self.put(data)
                with opens(self.path, mode) as file:
                    calls = [self.step(steps, mode) for _ in range(60)]
                    outcomes.append([self.perform(file, call) for call in calls])
                with open(self.path, "rb") as file:
                    left.append(file.read())
            for call, ours, theirs in zip(calls, *outcomes):
                self.assertEqual(ours, theirs, f"{call[0]}{call[1:2] if call[0] != 'write' else ''}, {mode}, round {number}, seed {seed}")
            self.assertEqual(left[0], left[1], f"{mode}, round {number}, seed {seed}")
        print(f"{rounds} sequences, seed {seed}", file=sys.stderr)

    def test_opening(self):
        for arguments in ((self.path,), (self.path, "r+b"), (os.path.dirname(self.path),), (self.path, "rwb"),
                          (self.path, "b"), (self.path, ""), (-1,), (10**30,), (12345,), (None,), ("a\0b",),
                          (self.path, "wb"), (self.path, "xb"), (os.fsencode(self.path), "ab")):
            outcomes = []
            for opens in (open, asf.open):
                try:
                    opens(*arguments).close()
                    outcomes.append(None)
                except (OSError, ValueError, TypeError, OverflowError) as error:
                    outcomes.append((isinstance(error, OSError), getattr(error, "errno", None), getattr(error, "filename", None)))
            if arguments[0] not in (-1, 10**30, 12345):
                self.assertEqual(*outcomes, arguments)
            else:
                self.assertTrue(all(outcomes), arguments)

    def test_descriptors(self):
        self.put(b"one\ntwo\n")
        fd = os.open(self.path, os.O_RDONLY)
        with asf.open(fd, closefd=False) as file:
            self.assertEqual(next(file), b"one\n")
        self.assertEqual(os.read(fd, 9), b"two\n")
        with asf.open(fd) as file:
            self.assertEqual(file.fileno(), fd)
        with self.assertRaises(OSError):
            os.close(fd)

    def test_wrong_direction_and_closed(self):
        with asf.open(self.path, "wb") as file:
            for call in (file.read, file.readline, file.__next__, lambda: iter(file), lambda: file.region_until()):
                self.assertRaises(io.UnsupportedOperation, call)
        with asf.open(self.path) as file:
            self.assertRaises(io.UnsupportedOperation, file.write, b"x")
        file.close()
        self.assertTrue(file.closed)
        for call in (file.read, file.readline, file.__next__, file.flush, file.tell, file.fileno, file.readable,
                     lambda: file.write(b"x"), lambda: file.region(5), lambda: file.region_at(5, 5), file.__enter__,
                     lambda: next(file.lines()), lambda: asf.read_arrays(file)):
            self.assertRaises(ValueError, call)

    def test_regions(self):
        self.put(bytes(range(256)) * 1000)
        with asf.open(self.path) as file:
            with file.region(300) as region:
                self.assertEqual(bytes(region[:3]), b"\0\1\2")
                self.assertEqual(len(region), 300)
                with self.assertRaises(TypeError):
                    region[0] = 1
            self.assertEqual(file.tell(), 300)
            region = file.region(10)
            self.assertEqual(region.resize(4), 4)
            self.assertEqual(next(file)[0], 48)
            self.assertEqual(bytes(file.region_at(255, 2)), b"\xff\0")
            self.assertEqual(file.tell(), 257)
            region.release()
            region.release()
            self.assertRaises(ValueError, region.__enter__)
            self.assertRaises(ValueError, memoryview, region)
            self.assertEqual(bytes(file.region_until(b"\x05")), b"\1\2\3\4\5")
            self.assertRaises(ValueError, file.region, 0)
            self.assertRaises(ValueError, file.region, -5)
            file.seek(0, 2)
            self.assertFalse(file.region(5))

    def test_output_regions(self):
        with asf.open(self.path, "wb") as file:
            with file.region(10) as region:
                region[:5] = b"hello"
                region.resize(5)
            with self.assertRaises(KeyError), file.region(7) as region:
                raise KeyError
            given_up = file.region(3)
            given_up[:] = b"no!"
            view = given_up[1:]
            self.assertRaises(BufferError, given_up.abandon)
            view.release()
            given_up.abandon()
            given_up.abandon()
            file.write(b" world")
            late, early = file.region_at(20, 2), file.region_at(11, 2)
            late[:], early[:] = b"zz", b"yy"
            late.release()
            del early
        with open(self.path, "rb") as file:
            self.assertEqual(file.read(), b"hello worldyy" + bytes(7) + b"zz")

    def test_what_it_was_opened_by(self):
        self.put(b"text")
        for name, mode in ((self.path, "rb"), (os.open(self.path, os.O_RDWR), "r+b")):
            with asf.open(name, mode) as file, open(name, mode, closefd=isinstance(name, str)) as other:
                self.assertEqual((file.name, file.mode), (other.name, other.mode.replace("rb+", "r+b")))

    def test_a_pipe_in_pieces(self):
        text = bytes(range(256)) * 2000

        def feed(writer):
            with open(writer, "wb") as pipe:
                pipe.write(text)

        for size in (-1, len(text) + 1, 300_000):
            reader, writer = os.pipe()
            thread = threading.Thread(target=feed, args=(writer,))
            thread.start()
            with asf.open(reader) as file:
                got = file.read(size)
                self.assertEqual(got, text[:size] if 0 < size < len(text) else text)
                self.assertEqual(got + file.read(), text)
            thread.join()

    def test_views_outlive_nothing(self):
        self.put(b"some bytes")
        file = asf.open(self.path)
        region = file.region(4)
        view = memoryview(region)[1:]
        self.assertRaises(BufferError, file.close)
        self.assertRaises(BufferError, region.release)
        self.assertRaises(BufferError, region.resize, 2)
        del file, region
        gc.collect()
        self.assertEqual(bytes(view), b"ome")
        with self.assertWarns(ResourceWarning):
            del view

    def test_truncated_under_a_region(self):
        self.put(b"x" * 3000000)
        file = asf.open(self.path)
        region = file.region(3000000)
        os.truncate(self.path, 1000)
        self.assertEqual(len(bytes(region)), 3000000)
        try:
            region.release()
        except OSError:
            pass
        try:
            file.close()
        except OSError:
            pass

    def test_truncated_under_lines_that_are_left(self):
        for call in (asf.File.tell, asf.File.read, asf.File.readline, asf.File.close, lambda file: next(iter(file))):
            self.put(b"0123456789abcde\n" * 200000)
            file = asf.open(self.path)
            for i, line in enumerate(file.lines()):
                if i == 0:
                    os.truncate(self.path, 4096)
                if i == 300:
                    break
            if line != b"0123456789abcde\n":  # otherwise the line is a copy
                self.assertRaisesRegex(OSError, "Input/output error, or the input was truncated", call, file)
            file.close()

    def test_threads_get_whole_lines(self):
        lines = [b"%d\n" % i for i in range(20000)]
        self.put(b"".join(lines))
        got = [[] for _ in range(4)]
        with asf.open(self.path) as file:
            threads = [threading.Thread(target=lambda g=g: g.extend(file)) for g in got]
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]
        self.assertEqual(sorted(sum(got, [])), sorted(lines))

    def test_a_pipe_is_waited_for_without_the_gil(self):
        ours, theirs = os.pipe()
        with asf.open(ours) as file, asf.open(theirs, "wb") as out:
            def write():
                for part in (b"a\nb", b"c\n", b"tail"):
                    time.sleep(0.02)
                    out.write(part)
                    out.flush()
                out.close()
            thread = threading.Thread(target=write)
            thread.start()
            self.assertEqual([next(file), next(file), file.read()], [b"a\n", b"bc\n", b"tail"])
            thread.join()

    def test_signals(self):
        """Signal handlers run while a read or write waits; then the call continues (PEP 475)."""
        ours, theirs = os.pipe()
        ran = []
        before = signal.signal(signal.SIGALRM, lambda *_: ran.append(1) or len(ran) == 3 and os.write(theirs, b"line\n"))
        signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
        try:
            with asf.open(ours) as file:
                self.assertEqual(next(file), b"line\n")
            ours, out = os.pipe()
            data = random.randbytes(1 << 20)
            def drain(got=[]):
                time.sleep(0.05)
                while part := os.read(ours, 30000):
                    got.append(part)
                self.assertEqual(b"".join(got), data)
            thread = threading.Thread(target=drain)
            thread.start()
            with asf.open(out, "wb") as file:
                file.write(data)
            thread.join()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
            os.close(theirs)
        self.assertGreaterEqual(len(ran), 3)

    def interrupted(self, handler, what, opened=asf.open):
        """Calls `what` on a pipe while a part of a line arrives, then signals, and then the rest of the line."""
        ours, theirs = os.pipe()
        os.write(theirs, b"one\npart")
        rest = threading.Timer(0.1, lambda: (os.write(theirs, b" of it\nlast\n"), os.close(theirs)))
        before = signal.signal(signal.SIGALRM, handler)
        with opened(ours, "rb") as file:
            self.assertEqual(next(file), b"one\n")
            rest.start()
            signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
            try:
                got = what(file)
            except KeyboardInterrupt:
                got = None
                self.assertTrue(rest.is_alive(), "the signal took effect at the end")
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, before)
            rest.join()
            return got, file.read()

    def test_signals_after_a_part(self):
        into = bytearray(100)
        def raising(*_):
            signal.setitimer(signal.ITIMER_REAL, 0)
            raise KeyboardInterrupt
        line, last = b"part of it\n", b"last\n"
        for call, got, then in (
                (lambda f: f.read(100), line + last, b""), (lambda f: f.read(11), line, last), (lambda f: f.read(), line + last, b""),
                (lambda f: bytes(into[:f.readinto(into)]), line + last, b""), (lambda f: f.readline(), line, last),
                (lambda f: f.readline(100), line, last), (lambda f: next(f), line, last), (lambda f: next(f.lines()), line, last),
                (lambda f: next(f.lines(keep=False)), line[:-1], last), (lambda f: bytes(f.region_until()), line, last)):
            self.assertEqual(self.interrupted(lambda *_: None, call), (got, then))
            try:
                self.assertEqual(self.interrupted(lambda *_: None, call, open), (got, then))
            except AttributeError: # Python's own file does not have the method
                pass
            self.assertEqual(self.interrupted(raising, call), (None, line + last))

    def test_places_that_are_none(self):
        self.put(b"0123456789" * 100000)
        for mode in ("rb", "r+b"):
            with open(self.path, mode) as theirs, asf.open(self.path, mode) as ours:
                for place in (2**45, 2**62, 2**63 - 1, 5000000, 500):
                    got = []
                    for file in (theirs, ours):
                        try:
                            got.append(file.seek(place))
                        except OSError as error:
                            got.append((error.errno, file.read(3) and None))
                        got.append((file.tell(), file.read(5), file.tell()))
                    self.assertEqual(got[:2], got[2:], (mode, place))

    def test_failing_writes(self):
        with self.assertRaises(OSError) as caught, asf.open("/dev/full", "wb") as file:
            file.write(b"x")
        self.assertEqual((caught.exception.errno, caught.exception.filename), (28, "/dev/full"))

    def test_wrong_arguments(self):
        """Wrong arguments raise an exception: a TypeError exactly where Python's files raise one."""
        self.put(b"text\n" * 9)
        with asf.open(self.path, "r+b") as ours, open(self.path, "r+b") as theirs:
            for name, *arguments in (("read", 1, 2), ("read", "x"), ("read", 2**70), ("read1", 1, 2), ("read1", b""), ("readline", 1, 2),
                                     ("readline", 1.5), ("readinto", b"fixed"), ("readinto", 5), ("write", "text"), ("write",),
                                     ("writelines", 5), ("writelines", [b"a", "b"]), ("seek", "x"), ("seek", 0, 9), ("seek", -1),
                                     ("seek", -100, 2)):
                kinds = []
                for file in (ours, theirs):
                    with self.assertRaises((TypeError, ValueError, OSError, OverflowError), msg=f"{name} {arguments}") as caught:
                        getattr(file, name)(*arguments)
                    kinds.append(isinstance(caught.exception, TypeError))
                self.assertEqual(*kinds, f"{name} {arguments}")
            for call, *arguments in ((ours.region,), (ours.region, "x"), (ours.region_some, None), (ours.region_until, "x"),
                                     (ours.region_until, b"ab"), (ours.region_at, 0), (ours.region_at, "x", 5), (ours.lines, "x"),
                                     (ours.lines, b"", 1)):
                self.assertRaises(TypeError, call, *arguments)
            for call, *arguments in ((ours.region_until, b"x", 0), (ours.region_at, 0, 0), (ours.region_at, 0, -1),
                                     (ours.lines, b"x", True, 0), (ours.region_some, 0)):
                self.assertRaises(ValueError, call, *arguments)
            self.assertRaises(OSError, ours.region_at, -9, 5)
            self.assertRaises(TypeError, asf.open)
            self.assertRaises(TypeError, asf.open, self.path, closefd=True, other=1)
            self.assertEqual(ours.read(), theirs.read())

    def test_pipes_that_do_not_block(self):
        """A call on a non-blocking pipe returns the available bytes; without any it raises BlockingIOError."""
        ours, theirs = os.pipe()
        os.set_blocking(ours, False)
        with asf.open(ours) as file:
            os.write(theirs, b"one\ntwo")
            self.assertEqual(file.read(100), b"one\ntwo")
            into = bytearray(10)
            for call in (file.read1, file.readline, lambda: file.readinto(into), lambda: file.region(5), lambda: file.region_until(),
                         lambda: file.region_some(5), lambda: file.read(5)):
                self.assertRaises(BlockingIOError, call)
            os.write(theirs, b"three")
            self.assertEqual(file.readinto(into), 5)
            os.write(theirs, b"a line\nand")
            self.assertEqual(next(file), b"a line\n")
            os.close(theirs)
            self.assertEqual(list(file), [b"and"])

    def test_writing_to_those_who_left(self):
        ours, theirs = os.pipe()
        os.close(ours)
        file = asf.open(theirs, "wb")
        file.write(b"text")
        self.assertRaises(BrokenPipeError, file.flush)
        try:
            file.close()
        except BrokenPipeError:
            pass
        self.assertTrue(file.closed)
        with asf.open(self.path, "wb") as file:
            self.assertEqual(repr(file)[:9], "<asf.File")
            file.writelines(line for line in (b"a", memoryview(b"b"), bytearray(b"c")))
            with self.assertRaises(ZeroDivisionError):
                file.writelines(1 / 0 for _ in range(1))
            with self.assertRaises(KeyError), file.region(3, write=True):
                raise KeyError
        with open(self.path, "rb") as file:
            self.assertEqual(file.read(), b"abc")

    def test_two_that_read_one_file(self):
        self.put(b"".join(b"%d\n" % i for i in range(100)))
        with asf.open(self.path) as file:
            first, second = file.lines(), file.lines(keep=False)
            self.assertEqual([next(first), next(second), next(file), next(first), file.readline(), file.read(2)],
                             [b"0\n", b"1", b"2\n", b"3\n", b"4\n", b"5\n"])
            with file.region(2) as region:
                self.assertEqual(bytes(region), b"6\n")
            self.assertEqual((next(second), file.tell()), (b"7", 16))
            with self.assertRaises(OSError):
                list(file.lines(b"x", longest=10))

    def test_nothing_leaks(self):
        self.put(b"line\n" * 1000)
        def use():
            with asf.open(self.path) as file:
                iterator = iter(file.lines())
                next(iterator), next(file), file.read(10), file.region(5), bytes(file.region_until())
            for arguments in (("/no/such",), (self.path, "q")):
                try:
                    asf.open(*arguments)
                except (OSError, ValueError):
                    pass
        use()
        gc.collect()
        references = sys.getrefcount(self.path)
        objects, descriptors = sys.getallocatedblocks(), len(os.listdir("/proc/self/fd"))
        for _ in range(300):
            use()
        gc.collect()
        self.assertLess(sys.getallocatedblocks() - objects, 100)
        self.assertEqual(sys.getrefcount(self.path), references)
        self.assertEqual(len(os.listdir("/proc/self/fd")), descriptors)


if __name__ == "__main__":
    unittest.main()
