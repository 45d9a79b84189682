#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""changing_files.py FILE TABLE SEED CUT ZERO: reads a file that changes, by the module asf.  Each byte is TABLE's,
but for its last two bits, or zero where there were holes (ZERO is not empty); what is cut off (CUT is not empty)
reads as zeros, too, and somebody says so."""
import errno
import random
import sys

import asf

PATH, TABLE, SEED, CUT, ZERO = sys.argv[1:]
RANDOM = random.Random(int(SEED))
PLAIN = bytes(b if b == 10 else b & ~3 for b in range(256))
with open(TABLE, "rb") as table:
    EXPECTED = table.read()
PAGE = 4096


def fail(*message):
    print("Python:", *message, file=sys.stderr, flush=True)
    sys.exit(1)


def zeros(at, data, call):
    """Whether whole pages of zeros are where the file has had none: a part of one may be behind the file's end."""
    expected = EXPECTED[at:at + len(data)]
    got = bytes(data).translate(PLAIN)
    if got == expected:
        return False
    for i, (one, other) in enumerate(zip(got, expected)):
        if one not in (other, 0):
            fail(f"{call} of {len(data)} bytes at {at}: byte {i} is {one}, not {other}")
    page = -at % PAGE
    while got[page:page + PAGE].strip(b"\0") and page < len(got):
        page += PAGE
    return len(got[page:page + PAGE]) == PAGE and not ZERO


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


def read_copies(file):
    at = 0
    for _ in range(60):
        n = size()
        kind = RANDOM.randrange(4)
        try:
            if kind == 0:
                at = refuse_zeros(at, file.readline(), "readline")
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
        if file.tell() != at:
            fail("tell says", file.tell(), "and not", at)


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
