#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""same_commands.py - compares the system calls of the commands of tests/filters under a preloaded library with plain runs.

Each command runs under strace, plainly and preloaded.  Between two other calls, each of its processes must transfer the
same bytes on each descriptor and in the same order; transfers.py defines the exact rules.  The schedule of the processes
also makes plain runs differ.  So a difference counts only if it remains after three more runs of each kind.
"""
import argparse
import glob
import multiprocessing
import os
import re
import resource
import shutil
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
FILTERS = os.path.join(os.path.dirname(HERE), "filters")
sys.path.insert(0, FILTERS)

import arena
import compare_filters
import corpus
import inputs
import tracing
import transfers

arena.HANGS = 60
TRIES = 4

EARLY = "a reader that stops early gets more at once where libc writes wide characters 16 bytes at a time"
MILLIONS = "libc writes wide characters 16 bytes at a time, which are millions of calls here"
TIMED = "what is done depends on how much time passes"

# Commands that this script does not compare, and the reasons.
UNCOMPARABLE = {
    "column-table": EARLY,
    "tty-column-width": EARLY,
    "wide-early-end-of-the-reader": EARLY,
    "huge-line-getline": MILLIONS,
    "wide-file-size-limit": MILLIONS,
    "wide-full-device": MILLIONS,
    "wide-large": MILLIONS,
    "wide-rev-line-ends": MILLIONS,
    "killed-writers": TIMED,
    "numfmt-units": TIMED,  # numfmt rejects the options and ends while seq writes
    "grep-pipe": TIMED,  # grep -q ends while cat writes
    "tail-follows": TIMED,
    "tail-follows-process": TIMED,
    "timeouts": TIMED,
    "tools-from-an-odd-offset": TIMED,
    "proc-self": "the size of /proc/self/status depends on how often the process waited",
    "bzip2-xz": "xz writes to a pipe that does not wait: as much as there is room for",
}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", help="case files (default: those of tests/filters)")
    compare_filters.add_preload_arguments(parser)
    parser.add_argument("--filter", metavar="REGEX", default="", help="run only commands whose name matches")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    parser.add_argument("--times", action="store_true", help="print the slowest commands")
    parser.add_argument("--keep", action="store_true", help="keep the traces of what differs")
    arguments = parser.parse_args()
    arguments.cases = arguments.cases or sorted(glob.glob(os.path.join(FILTERS, "*.cases")))
    if not arguments.preload:
        parser.error("--preload LIB is needed: build/release/lib/libasf_stdio.so")
    return arguments


class Tracer:
    """Runs commands in a separate slot.  Each process of the pool has one Tracer."""

    def __init__(self, root, settings, keep):
        slot = tempfile.mkdtemp(prefix="slot.", dir=root)
        os.chmod(slot, 0o755)
        self.arena = arena.Arena(slot, os.path.join(root, "inputs"), os.path.join(root, "programs"))
        self.settings = settings
        self.keep = keep

    def trace(self, situation, settings):
        log = os.path.join(self.arena.root, "trace")
        with open(log, "wb"):
            os.chmod(log, 0o666)  # strace may run commands as another user
        self.arena.wrapper = tracing.traced(log, settings)
        outcome = self.arena.run(situation, {})
        if outcome.status == "timed out":
            return {}
        if self.keep:
            shutil.copy(log, f"/tmp/trace.{situation.name}.{'preloaded' if settings else 'plain'}")
        return transfers.processes_of(log)

    def differences(self, situation):
        """Returns the number of tries, and a text for each process that differs in all tries."""
        plain, preloaded, places = [], [], None
        for _ in range(TRIES):
            plain.append(self.trace(situation, {}))
            preloaded.append(self.trace(situation, self.settings))
            places = transfers.differing(plain, preloaded)
            if not places:
                break
        timed_out = [f"    a {name} run timed out" for name, runs in (("plain", plain), ("preloaded", preloaded))
                     if {} in runs]
        return len(plain), timed_out or [transfers.shown_difference(place, plain[-1], preloaded[-1])
                                         for place in places]


tracer = None


def start_tracer(*arguments):
    global tracer
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    tracer = Tracer(*arguments)


def try_situation(situation):
    started = time.monotonic()
    tries, found = tracer.differences(situation)
    return situation, tries, found, time.monotonic() - started


def situation_of(case):
    """Returns the first situation of a case: one suffices, since the kind of output does not affect the comparison."""
    return next(case.situations())


def chosen_situations(arguments):
    situations = []
    for case in corpus.read_corpus(arguments.cases):
        reason = compare_filters.why_skipped(case) or UNCOMPARABLE.get(case.name)
        if not re.search(arguments.filter, case.name) or re.search(arguments.skip, case.name):
            continue
        if reason:
            print(f"skip {case.name}: {reason}")
        else:
            situations.append(situation_of(case))
    return situations


def report(situation, tries, found):
    if found:
        command = situation.case.command.rstrip("\n").replace("\n", "\n        ")
        print(f"FAIL {situation.name}: {len(found)} processes differ in all of {tries} tries\n"
              f"    command ({situation.case.shell}):\n        {command}")
        print("\n".join(found[:3]), flush=True)


def run_all(arguments, root):
    preload = compare_filters.Preload(arguments, root)
    compare_filters.compile_programs(arguments.cases, os.path.join(root, "programs"))
    inputs.make_inputs(os.path.join(root, "inputs"))
    situations = chosen_situations(arguments)
    if not situations:
        raise compare_filters.Unusable(f"no command matches --filter {arguments.filter}")
    failed, again, times = 0, 0, []
    with multiprocessing.Pool(arguments.jobs, start_tracer, (root, preload.environment, arguments.keep)) as pool:
        for situation, tries, found, seconds in pool.imap_unordered(try_situation, situations):
            failed += bool(found)
            again += tries > 1
            times.append((seconds, tries, situation.name))
            report(situation, tries, found)
    for seconds, tries, name in sorted(times, reverse=True)[:40 if arguments.times else 0]:
        print(f"{seconds:7.2f} s, {tries} tries  {name}")
    print(f"{len(situations)} commands, {failed} differ ({again} were run more than once)")
    return failed > 0


def main():
    arguments = parse_arguments()
    if not shutil.which("strace"):
        print("skipped: strace is not installed")
        return 77
    root = tempfile.mkdtemp(prefix="asf-same.")
    os.chmod(root, 0o755)
    try:
        return run_all(arguments, root)
    except (compare_filters.Unusable, ValueError) as problem:
        return f"same_commands: {problem}"
    finally:
        arena.remove_folder(root)


if __name__ == "__main__":
    sys.exit(main())
