#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""changing_files.py FILE TABLE SEED CUT ZERO PAGES: reads a changing file by the module asf.

Apart from its last two bits, each byte must be TABLE's.  If ZERO is not empty, the file may have holes, which read as
zeros.  If CUT is not empty, the file may be truncated: the lost bytes read as zeros, and a call reports an error.  PAGES
has a byte for each page of FILE; where it is not zero, the error may be missing (see changing_files.h)."""
import errno
import mmap
import random
import sys

import asf

PATH, TABLE, SEED, CUT, ZERO, PAGES = sys.argv[1:]
RANDOM = random.Random(int(SEED))
PLAIN = bytes(b if b == 10 else b & ~3 for b in range(256))
with open(TABLE, "rb") as table:
    EXPECTED = table.read()
with open(PAGES, "rb") as pages:
    SHOW_ZEROS = mmap.mmap(pages.fileno(), 0, prot=mmap.PROT_READ)
PAGE = 4096


def fail(*message):
    print("Python:", *message, file=sys.stderr, flush=True)
    sys.exit(1)


def zeros(at, data, call):
    """Returns whether `data` has zeros that the library must report.  Ends the test for any other wrong byte."""
    expected = EXPECTED[at:at + len(data)]
    got = bytes(data).translate(PLAIN)
    if got == expected:
        return False
    seen = False
    for i, (one, other) in enumerate(zip(got, expected)):
        if one not in (other, 0):
            fail(f"{call} of {len(data)} bytes at {at}: byte {i} is {one}, not {other}")
        seen = seen or (one != other and not SHOW_ZEROS[(at + i) // PAGE])
    return seen and not ZERO


def refuse_zeros(at, data, call):
    if zeros(at, data, call):
        fail(f"{call} of {len(data)} bytes at {at} has zeros that were never there")
    return at + len(data)


def size():
    return 1 + RANDOM.randrange(RANDOM.choice((20, 300, 5000, 70000, 1 << 20)))


def is_told(error):
    if error.errno != errno.EIO or not CUT:
        fail(error)
    return True


def place(file):
    """Returns the file's offset, and whether tell() reported an error of the readline() before it, which reads ahead."""
    try:
        return file.tell(), False
    except OSError as error:
        return file.tell(), is_told(error)


def read_copies(file):
    at = 0
    for _ in range(60):
        n = size()
        kind = RANDOM.randrange(4)
        seen = False
        try:
            if kind == 0:
                line = file.readline()
                seen = zeros(at, line, "readline")
                at += len(line)
            elif kind == 1:
                at = refuse_zeros(at, file.read(n), "read")
            elif kind == 2:
                buffer = bytearray(n)
                at = refuse_zeros(at, buffer[:file.readinto(buffer)], "readinto")
            else:
                at = file.seek(RANDOM.randrange(600000))
        except OSError as error:
            is_told(error)
            at = file.tell()
        there, told = place(file)
        if seen and not told:
            fail("a line at", at, "had zeros that were never there, and the next call says nothing")
        if there != at:
            fail("tell says", there, "and not", at)


def read_lines(file):
    at, seen = 0, False
    try:
        for line in file.lines(longest=1 << 26):
            seen = zeros(at, line, "lines") or seen
            at += len(line)
            if RANDOM.randrange(5000) == 0:
                break
        file.close()
    except OSError as error:
        seen = not is_told(error)
    if seen:
        fail("lines had zeros that were never there, and there was no error")


def read_regions(file):
    held = []
    for _ in range(60):
        try:
            at = RANDOM.randrange(600000)
            region = file.region_at(at, size()) if RANDOM.randrange(2) else None
            if region is None:
                at = file.tell()
                region = file.region(size())
            if len(region):
                held.append((at, region))
        except OSError as error:
            is_told(error)
        while len(held) > RANDOM.randrange(4):
            at, region = held.pop(RANDOM.randrange(len(held)))
            seen = zeros(at, region, "a region")
            try:
                region.release()
            except OSError as error:
                seen = not is_told(error)
            if seen:
                fail("a region at", at, "had zeros that were never there, and release says nothing")
    for _, region in held:
        try:
            region.release()
        except OSError as error:
            is_told(error)


for _ in range(4):
    for read in (read_copies, read_lines, read_regions):
        with asf.open(PATH) as opened:
            read(opened)
