# SPDX-License-Identifier: MIT
"""cut.py FILE SIZE: prints the parts of a file, of about SIZE bytes each, one a line, as JSON."""
import json
import os
import sys

import asf

for part in asf.parts(os.path.abspath(sys.argv[1]), size=int(sys.argv[2])):
    print(json.dumps(part))
