#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# count_keys_plain FILE: for each key, the first column of a TSV, the number of its lines and the
# sum of the integers in the second column, sorted by key.
import sys

counts = {}
with open(sys.argv[1], "rb") as file:
    for line in file:
        key, *rest = line.rstrip(b"\n").split(b"\t", 2)
        count = counts.setdefault(key, [0, 0])
        count[0] += 1
        if rest and rest[0]:
            count[1] += int(rest[0])
for key in sorted(counts):
    sys.stdout.buffer.write(b"%s\t%d\t%d\n" % (key, *counts[key]))
