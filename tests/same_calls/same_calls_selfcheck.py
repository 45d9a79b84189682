#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""same_calls_selfcheck.py - checks that the comparisons of system calls detect differences.

Runs the comparisons with small libraries, each of which deliberately makes other system calls than libc.  A comparison
must name the difference, and must pass a library without any.
"""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
COMMANDS = ["same_commands.py", "--jobs", "1", "--filter", "^(scanf-shares|many-small-turns|rev-lines)$"]

# Each row: the defect (see selfcheck/other_calls.c), the exit status, and texts that the report must contain.
EXPECTED = [
    ("", 0, ["3 commands, 0 differ"]),
    ("AHEAD", 1, ["FAIL scanf-shares[file]", "(steps), descriptor 0", "read of 0 (part.log): 65536 bytes asked for"]),
    ("LATE", 1, ["FAIL many-small-turns[log]", "FAIL rev-lines[file]", "(steps), descriptor 2"]),
    ("PIECES", 1, ["FAIL many-small-turns[log]", "write of 1"]),
    ("OFFSET", 1, ["FAIL scanf-shares[file]", "seek of "]),
    ("CLOSE", 1, ["FAIL scanf-shares[file]", "close of 0"]),
]
EXPECTED_OF_SEQUENCES = [("", 0, ["40 sequences, 0 differ"]), ("AHEAD", 1, ["descriptor 0", "65536 bytes asked for"]),
                         ("ASKS", 1, ["asks more: 1 fstat"])]


def build(defect, folder):
    library = os.path.join(folder, f"libother_{defect or 'nothing'}.so")
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O0", f"-DDEFECT_{defect or 'NONE'}", "-o",
                    library, os.path.join(HERE, "selfcheck", "other_calls.c")], check=True)
    return library


def try_library(library, program, status, texts):
    name = f"{program[0]} --preload {os.path.basename(library)}"
    command = [sys.executable, os.path.join(HERE, program[0]), *program[1:], "--preload", library]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    report = run.stdout.decode()
    missing = [text for text in texts if text not in report]
    if run.returncode == status and not missing:
        print("ok  ", name)
        return True
    print(f"FAIL {name}: status {run.returncode}, not {status}; not reported: {missing}\n{report[-3000:]}")
    return False


def main():
    if not shutil.which("strace"):
        print("skipped: strace is not installed")
        return 77
    sequences = ["same_sequences.py", sys.argv[1], "--count", "40", "--shown", "1"]
    with tempfile.TemporaryDirectory(prefix="asf-selfcheck.") as folder:
        results = [try_library(build(defect, folder), COMMANDS, *rest) for defect, *rest in EXPECTED]
        results += [try_library(build(defect, folder), sequences, *rest) for defect, *rest in EXPECTED_OF_SEQUENCES]
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
