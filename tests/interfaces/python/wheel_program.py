# SPDX-License-Identifier: MIT
"""wheel_program.py [LIBRARY...] - uses the wheel as a user does: for lines, regions, compressed files and records.

The arguments name libraries that must be present: libasf_record for records, libasf_zstd and so on for decoders, numpy
for its arrays."""
import array
import errno
import gzip
import importlib.metadata
import importlib.util
import lzma
import random
import sys
import tempfile

import asf

r = random.Random(7)
folder = tempfile.TemporaryDirectory()

# The lines equal those of open, and their fields equal those of split.
lines = [b"%d\t%s\n" % (r.randrange(1000), b"x" * r.randrange(300)) for _ in range(50000)]
path = folder.name + "/lines"
with open(path, "wb") as plain:
    plain.writelines(lines)
with asf.open(path) as served:
    assert list(served) == lines
with asf.open(path) as served:
    total = sum(int(line.field(0, b"\t")) for line in served.lines_in_place())
assert total == sum(int(line.split(b"\t")[0]) for line in lines)
print(len(lines), "lines")

# A region is a buffer that other modules can use.
numbers = array.array("d", (r.random() for _ in range(100000)))
path = folder.name + "/numbers"
with asf.open(path, "wb") as output:
    output.write(numbers)
with asf.open(path) as served:
    region = served.region(len(numbers) * 8)
    with memoryview(region) as view:
        assert view.cast("d").tolist() == numbers.tolist()
    if "numpy" in sys.argv:
        import numpy

        values = numpy.frombuffer(region, numpy.float64)
        assert (values == numpy.array(numbers)).all()
        print("numpy", numpy.__version__, "sums a region:", values.sum())
        del values
    region.release()
print(len(numbers), "numbers")

# Compressed files; the wheel contains their decoders. The frames of zstd and lz4 have one uncompressed block.
text = b"hello\n"
packed = {
    "zstd": b"\x28\xb5\x2f\xfd\x20\x06\x31\x00\x00" + text,
    "gzip": gzip.compress(text),
    "lz4": b"\x04\x22\x4d\x18\x60\x40\x82\x06\x00\x00\x80" + text + bytes(4),
    "xz": lzma.compress(text),
}
decoded = []
for name, data in packed.items():
    with open(path, "wb") as plain:
        plain.write(data)
    try:
        with asf.open(path, decompress=True) as served:
            assert list(served) == [text]
        decoded.append(name)
    except OSError as error:
        assert error.errno == errno.ENOTSUP and "libasf_" + name not in sys.argv, error
print("decoders:", *decoded)

# Records, if the wheel has them.
assert hasattr(asf, "records") or "libasf_record" not in sys.argv, "the wheel has no records"
if hasattr(asf, "records"):
    written = [{"sensor": n, "value": r.random(), "name": str(n)} for n in range(1000)]
    reading = asf.record_format("reading", {"sensor": "int32", "value": "float64", "name": "string"})
    with asf.record_writer(folder.name + "/records") as writer:
        for record in written:
            writer.write(reading, record)
    with asf.records(folder.name + "/records") as records:
        assert list(records) == written
    print(len(written), "records")

# All modules and libraries come from the wheel.
assert importlib.util.find_spec("asf-stubs"), "the wheel has no stubs"
assert importlib.util.find_spec("asf.dask"), "the wheel has no asf.dask"
assert importlib.metadata.version("alloc-stream") == asf.__version__
with open("/proc/self/maps") as maps:
    libraries = {line.split()[-1] for line in maps if "libasf" in line or "libnettle" in line}
assert libraries and all("/asf.libs/" in path for path in libraries), libraries
print("asf", asf.__version__, asf.__file__, *sorted(libraries))
