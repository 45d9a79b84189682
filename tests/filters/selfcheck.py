#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""selfcheck.py - checks that the comparisons of tests/filters and tests/soak detect defects.

Runs the comparisons with small libraries, each of which has one deliberate defect.  A comparison must name the defect.
It must pass a library without a defect, and must fail if the loader does not load the library.
"""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
COMMANDS = ["compare_filters.py", "--filter",
            "^(cat-files|seq-forms|head-then-cat-shown|stdout-then-stderr-putc|tty-cat|tee-files)"]
EMPTIED = ["latency.py", "--filter", "putc emptied"]
NOTES = ["latency.py", "--filter", "putc dribble"]
SERVER = ["../soak/server.py", "--requests", "300"]
PIPELINES = ["../soak/pipelines.py", "--minutes", "0"]

# Each row: the defect (see selfcheck/wrong.c), the program, its exit status, and texts that its report must contain.
EXPECTED = [
    ("", COMMANDS, 0, [" 0 failed, 0 skipped"]),
    ("BYTE", COMMANDS, 1, ["FAIL cat-files[pipe]: stdout:", "FAIL seq-forms[pipe]: stdout:", "file one.txt:"]),
    ("STATUS", COMMANDS, 1, ["status: 0 plain, 1 preloaded"]),
    ("FILE", COMMANDS, 1, ["file left-behind: only in the preloaded run"]),
    ("MODE", COMMANDS, 1, ["file one.txt: file 644 plain, file 600 preloaded"]),
    ("STDERR", COMMANDS, 1, ["FAIL cat-files[pipe]: stderr: 0 bytes plain", "FAIL tty-cat[tty]: stdout:"]),
    ("OFFSET", COMMANDS, 1, ["FAIL head-then-cat-shown[file]: stdout:"]),
    ("LATE", COMMANDS, 1,
     ["FAIL stdout-then-stderr-putc[log]: stdout:", "FAIL stdout-then-stderr-putc[append]: stdout:"]),
    ("IDLE", COMMANDS, 1, ["reports no stream"]),
    ("", NOTES, 0, [" 0 failed, 0 skipped"]),
    ("LATE", NOTES, 1, ["late after"]),
    ("LATE", EMPTIED, 1, ["late after"]),
    ("", SERVER, 0, ["| yes |"]),
    ("MEMORY", SERVER, 1, ["| NO |"]),
    ("DESCRIPTOR", SERVER, 1, ["| NO |"]),
    ("MAPPING", SERVER, 1, ["| NO |"]),
    ("READ", SERVER, 1, ["differs: openssl"]),
    ("", PIPELINES, 0, ["| gawk | 20 | 0 |"]),
    ("BYTE", PIPELINES, 1, ["FAIL pipeline-1"]),
]


def build(defect, folder):
    library = os.path.join(folder, f"libwrong_{defect or 'nothing'}.so")
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O0", "-w", f"-DDEFECT_{defect or 'NONE'}", "-o",
                    library, os.path.join(HERE, "selfcheck", "wrong.c"), "-ldl"], check=True)
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
    with tempfile.TemporaryDirectory(prefix="asf-selfcheck.") as folder:
        results = [try_library(build(defect, folder), *rest) for defect, *rest in EXPECTED]
        not_a_library = os.path.join(folder, "text.so")
        with open(not_a_library, "w", encoding="ascii") as file:
            file.write("no library\n")
        results.append(try_library(not_a_library, COMMANDS, 1, ["the loader did not take it"]))
        results.append(try_library(folder + "/missing.so", COMMANDS, 1, ["no such library"]))
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed, 0 skipped")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
