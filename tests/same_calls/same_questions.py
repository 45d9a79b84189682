#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""same_questions.py - checks that a preloaded library makes no additional system calls that only query the kernel.

A filter of system calls may kill a process for such a call.  Each case of tests/interfaces/stdio runs under strace,
plainly and preloaded.  Between two lines of its transcript, the preloaded run may make each query at most as often as
the plain run.
"""
import argparse
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import tracing
import transfers

TRIES = 3


def trace(program, case, settings):
    with tempfile.TemporaryDirectory(prefix="asf-questions.") as folder:
        files, log, data = (os.path.join(folder, name) for name in ("files", "trace", "input"))
        os.mkdir(files)
        with open(data, "w", encoding="ascii") as lines:
            lines.writelines(f"line {i:06}\n" for i in range(1, 3001))
        with open(data, "rb") as given, open(os.path.join(folder, "output"), "wb") as output:
            subprocess.run(tracing.traced(log, settings, tracing.ALWAYS_LEFT_OUT) + [program, "../transcript", case],
                           cwd=files, stdin=given, stdout=output, stderr=output, check=False,
                           env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TMPDIR": "/tmp"})
        return transfers.processes_of(log)


def try_case(task):
    program, case, settings = task
    plain, preloaded, found = [], [], []
    for _ in range(TRIES):
        plain.append(trace(program, case, {}))
        preloaded.append(trace(program, case, settings))
        found = transfers.asked_more(plain, preloaded)
        if not found:
            break
    return program, case, found


def cases_of(program):
    run = subprocess.run([program, "--list"], stdout=subprocess.PIPE, check=True)
    return run.stdout.decode().split()


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="+", help="programs of cases")
    parser.add_argument("--preload", metavar="LIB", required=True)
    parser.add_argument("--environment", metavar="NAME=VALUE", action="append", default=[],
                        help="set for the preloaded runs")
    parser.add_argument("--case", metavar="NAME", help="this one alone")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    return parser.parse_args()


def main():
    if not shutil.which("strace"):
        print("skipped: strace is not installed")
        return 77
    arguments = parse_arguments()
    settings = {"LD_PRELOAD": os.path.abspath(arguments.preload),
                **dict(setting.split("=", 1) for setting in arguments.environment)}
    tasks = [(os.path.abspath(program), case, settings) for program in arguments.programs for case in cases_of(program)
             if arguments.case in (None, case)]
    differ = 0
    with multiprocessing.Pool(arguments.jobs) as pool:
        for program, case, found in pool.imap(try_case, tasks):
            differ += bool(found)
            if found:
                print(f"{os.path.basename(program)} {case}", *found, sep="\n", flush=True)
    print(f"{len(tasks)} cases, {differ} ask more")
    return differ > 0


if __name__ == "__main__":
    sys.exit(main())
