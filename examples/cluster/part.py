# SPDX-License-Identifier: MIT
"""part.py PARTS NUMBER: writes the bytes of one part: line NUMBER, counted from 1, of PARTS, the output of cut.py."""
import json
import linecache
import shutil
import sys

import asf

part = asf.Part(json.loads(linecache.getline(sys.argv[1], int(sys.argv[2]))))
with asf.open(part) as file:
    shutil.copyfileobj(file, sys.stdout.buffer, 1 << 20)
