#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""broken_files.py - compares uncompress on unusual and damaged .Z files with the system's programs.

The script writes files of the oldest format, without block mode, and files with random faults.  Each form of the example
and the system's program decode each file: gzip for the oldest format, ncompress for the others.  Both must refuse the
same files, and decode the same bytes.  A form that refuses a file must print a message, exit with status 1, and keep it.
"""
import argparse
import collections
import os
import random
import subprocess
import sys
import tempfile

FORMS = ["plain", "relinked", "recompiled", "asi"]


def words(rng, size):
    vocabulary = [bytes(rng.choices(b"abcdefghijkl ", k=rng.randint(1, 9))) for _ in range(60)]
    return b"".join(rng.choices(vocabulary, k=size // 5))[:size]


class Codes:
    """Packs codes into bits.  Before the width changes, fill() pads the last group to eight codes."""

    def __init__(self):
        self.bits, self.count, self.start = 0, 0, 0

    def put(self, code, width):
        self.bits |= code << self.count
        self.count += width

    def fill(self, width):
        self.count = self.start = self.start + -(-(self.count - self.start) // (8 * width)) * 8 * width

    def bytes(self):
        return self.bits.to_bytes((self.count + 7) // 8, "little")


def oldest_form(data, max_bits):
    """Compresses without block mode: code 256 is an ordinary string, not the code that clears the table."""
    table = {bytes([c]): c for c in range(256)}
    codes, width, prefix = Codes(), 9, b""
    for at in range(len(data)):
        string = prefix + data[at : at + 1]
        if string in table:
            prefix = string
            continue
        codes.put(table[prefix], width)
        if len(table) < 1 << max_bits:
            table[string] = len(table)
        if len(table) > 1 << width and width < max_bits:
            codes.fill(width)
            width += 1
        prefix = data[at : at + 1]
    if prefix:
        codes.put(table[prefix], width)
    return bytes([0x1F, 0x9D, max_bits]) + codes.bytes()


def with_faults(rng, data):
    data = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(data) if rng.random() < 0.6 else min(len(data), 12))
        kind = rng.randrange(4)
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at] = rng.randrange(256)
        elif kind == 2:
            del data[at : at + rng.randint(1, 3)]
        else:
            data[at:at] = rng.randbytes(rng.randint(1, 3))
    return bytes(data) or b"x"


def impossible_width(data):
    """Returns whether the header has a width below 9 bits: no compress writes one, but ncompress accepts it."""
    return len(data) > 2 and data[2] & 0x1F < 9


class Trial:
    def __init__(self, programs, work):
        self.programs, self.path = programs, os.path.join(work, "file.Z")
        self.counts = collections.Counter()

    def run(self, command):
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60)

    def fail(self, what, data):
        kept = os.path.join(tempfile.gettempdir(), "asf-broken.Z")
        with open(kept, "wb") as file:
            file.write(data)
        sys.exit(f"broken_files: {what}; the file is kept as {kept}")

    def check_refused(self, program, got, data):
        if got.returncode != 1 or not got.stderr.startswith(self.path.encode()):
            self.fail(f"{program}: status {got.returncode}, message {got.stderr!r}", data)
        replaced = self.run([program, self.path])
        if replaced.returncode != 1 or os.listdir(os.path.dirname(self.path)) != ["file.Z"]:
            self.fail(f"{program}: did not leave a broken file as it was", data)

    def compare(self, data, reference):
        with open(self.path, "wb") as file:
            file.write(data)
        expected = self.run(reference + [self.path])
        refused = expected.returncode != 0 or impossible_width(data)
        for form in FORMS:
            program = os.path.join(self.programs, form + "-uncompress")
            got = self.run([program, "-c", self.path])
            if (got.returncode != 0) != refused:
                self.fail(f"{program}: status {got.returncode}, the system's {expected.returncode}", data)
            if got.returncode == 0 and got.stdout != expected.stdout:
                self.fail(f"{program}: other output than the system's", data)
            if got.returncode:
                self.check_refused(program, got, data)
        self.counts["refused" if refused else "read"] += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", metavar="DIR", required=True, help="build/release/bin/examples")
    parser.add_argument("--count", type=int, default=150, help="how many broken files")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory(prefix="asf-broken.") as work:
        trial = Trial(arguments.programs, work)
        for size, bits in ((0, 16), (1, 16), (300, 10), (5000, 10), (40000, 12), (40000, 16)):
            for data in (words(rng, size), rng.randbytes(size), b"z" * size):
                trial.compare(oldest_form(data, bits), ["gzip", "-dc"])
        for _ in range(arguments.count):
            data = words(rng, rng.choice([20, 500, 6000, 60000]))
            bits = str(rng.choice([10, 12, 16]))
            good = subprocess.run(["compress", "-c", "-b", bits], input=data, capture_output=True, check=False).stdout
            trial.compare(with_faults(rng, good), ["uncompress.real", "-c"])
    print(f"{trial.counts['read']} files read as by the system's, {trial.counts['refused']} refused")
    return 0 if trial.counts["read"] and trial.counts["refused"] else 1


if __name__ == "__main__":
    sys.exit(main())
