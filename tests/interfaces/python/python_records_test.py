#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests records as dictionaries: reading returns the written records.  Reading a damaged file raises at most an OSError."""
import random
import unittest

import asf
from python_case import FileCase

FIELDS = {"id": "int32", "name": "string", "v[3]": "float64", "n": "uint16", "path[n]": {"x": "float32", "y": "int8"},
          "tag[8]": "char", "ok": "bool", "c": "char", "kind": "enum", "at": {"x": "float64", "s": "string"},
          "words[n]": "string", "big": "uint64"}


def sample(r):
    n = r.randrange(5)
    return {"id": r.randrange(-2**31, 2**31), "name": r.choice((None, "", "héllo")), "v": [r.random() for _ in range(3)],
            "n": n, "path": [{"x": r.randrange(100) / 4, "y": r.randrange(-128, 128)} for _ in range(n)],
            "tag": r.choice(("", "abc", "12345678")), "ok": r.random() < 0.5, "c": "x", "kind": -3,
            "at": {"x": 1e300, "s": "s"}, "words": [str(i) for i in range(n)], "big": r.randrange(2**64)}


@unittest.skipUnless(hasattr(asf, "records"), "built without libasf_record")
class Records(FileCase):
    def setUp(self):
        super().setUp()
        self.format = asf.record_format("sample", FIELDS)
        r = random.Random(1)
        self.records = [sample(r) for _ in range(100)]

    def write(self):
        with asf.record_writer(self.path, indexed=True) as writer:
            for record in self.records:
                writer.write(self.format, record)

    def test_there_and_back(self):
        self.write()
        with asf.records(self.path) as records:
            self.assertEqual(list(records), self.records)
            self.assertEqual(records.format, "sample")
            self.assertEqual(records.count(), 100)
            records.seek(42)
            self.assertEqual(next(records), self.records[42])
            self.assertRaises(OSError, records.seek, 101)
        self.assertRaises(ValueError, next, records)

    def test_repr(self):
        self.assertEqual(repr(self.format), "<asf.Format 'sample'>")
        for open_it, kind in ((asf.record_writer, "RecordWriter"), (asf.records, "Records")):
            with open_it(self.path) as opened:
                self.assertEqual(repr(opened), f"<asf.{kind} of {self.path!r}>")
            self.assertEqual(repr(opened), f"<asf.{kind} of {self.path!r}, closed>")

    def test_on_a_file(self):
        self.write()
        with asf.open(self.path) as file:
            records = asf.records(file)
            next(records)
            self.assertRaises(BufferError, file.close)
            self.assertEqual(len(list(records)), 99)
            self.assertRaises(BufferError, file.close)
            records.close()
            self.assertRaises(ValueError, records.__enter__)

    def test_wrong_records(self):
        record = self.records[0] | {"n": 1, "path": [{"x": 1, "y": 1}], "words": ["a"]}
        missing = dict(record)
        del missing["id"]
        for wrong, error in ((missing, KeyError), (record | {"other": 1}, ValueError), (record | {"id": 2**31}, OverflowError),
                             (record | {"id": 0.5}, TypeError), (record | {"n": 2}, ValueError), (record | {"words": []}, ValueError),
                             (record | {"tag": "123456789"}, ValueError), (record | {"name": "a\0"}, ValueError),
                             (record | {"v": [1]}, ValueError), (record | {"big": -1}, OverflowError), (record | {"at": 5}, TypeError), (5, TypeError)):
            with asf.record_writer(self.path) as writer:
                self.assertRaises(error, writer.write, self.format, wrong)

    def test_wrong_formats(self):
        deep = "int8"
        for _ in range(40):
            deep = {"a": deep}
        for fields in ({"x": "int33"}, {"v[": "int8"}, {"v[]": "int8"}, {"v[0]": "int8"}, {"v[n]": "int8"}, {"": "int8"}, deep,
                       {"v[n]": "int8", "n": "float32"}, {"a": "int8", "a[3]": "int8"}, {"v[99999999999]": "int64"}):
            self.assertRaises(ValueError, asf.record_format, "wrong", fields)

    def test_wrong_arguments(self):
        self.write()
        for call, *arguments in ((asf.record_format,), (asf.record_format, "a", 5), (asf.record_format, "a", {5: "int8"}),
                                 (asf.record_format, "a", {"x": 5}), (asf.record_writer,), (asf.records,), (asf.records, self.path, 5)):
            self.assertRaises((TypeError, ValueError), call, *arguments)
        self.assertRaises(ValueError, asf.records, self.path, most_bytes=-1)
        self.assertRaises(FileNotFoundError, asf.records, "/no/such")
        self.assertRaises(FileNotFoundError, asf.record_writer, "/no/such")
        with asf.records(self.path) as reader:
            for wrong in ("x", -1, 2**70):
                self.assertRaises((TypeError, OverflowError, OSError), reader.seek, wrong)
            self.assertEqual(next(reader), self.records[0])
        for call in (reader.count, lambda: reader.seek(0), reader.__enter__):
            self.assertRaises(ValueError, call)
        writer = asf.record_writer(self.path)
        self.assertRaises(TypeError, writer.write, 5, {})
        self.assertRaises(TypeError, writer.write, self.format)
        writer.close()
        writer.close()
        self.assertRaises(ValueError, writer.write, self.format, self.records[0])
        self.assertRaises(ValueError, writer.__enter__)
        with self.assertRaises(OSError):
            with asf.record_writer("/dev/full") as writer:
                for record in self.records * 50:
                    writer.write(self.format, record)

    def test_every_kind(self):
        fields = {f"{kind}{bits}": f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)}
        fields |= {"float32": "float32", "float64": "float64", "bool": "bool", "char": "char", "enum": "enum", "string": "string",
                   "text[4]": "char", "many[3]": "int16", "bools[2]": "bool"}
        kinds = asf.record_format("kinds", fields)
        least = {name: -2 ** (int(name[3:]) - 1) for name in fields if name.startswith("int")}
        most = {name: 2 ** int(name[4:]) - 1 for name in fields if name.startswith("uint")}
        record = least | most | {"float32": 0.5, "float64": 1e-300, "bool": True, "char": "z", "enum": 7, "string": "é", "text": "abcd",
                                 "many": [1, -2, 3], "bools": [True, False]}
        with asf.record_writer(self.path) as writer:
            writer.write(kinds, record)
            for name, wrong in ((name, value - 1 if value < 0 else value + 1) for name, value in (least | most).items()):
                self.assertRaises(OverflowError, writer.write, kinds, record | {name: wrong})
            for name, wrong in (("float32", "x"), ("char", "xy"), ("char", 5), ("string", 5), ("text", 5), ("many", 5),
                                ("many", [1, 2]), ("many", ["x"] * 3), ("enum", "x"), ("string", "\ud800")):
                self.assertRaises((TypeError, ValueError, OverflowError), writer.write, kinds, record | {name: wrong})
        with asf.records(self.path) as reader:
            self.assertEqual(list(reader), [record])

    def test_damaged_files(self):
        self.write()
        with open(self.path, "rb") as file:
            good = file.read()
        r = random.Random(3)
        for _ in range(300):
            data = bytearray(good[:r.randrange(len(good))] if r.random() < 0.3 else good)
            for _ in range(r.randrange(1, 4)):
                if data:
                    data[r.randrange(len(data))] = r.randrange(256)
            with open(self.path, "wb") as file:
                file.write(data)
            try:
                for _ in asf.records(self.path, most_bytes=1 << 20):
                    pass
            except OSError:
                pass


if __name__ == "__main__":
    unittest.main()
