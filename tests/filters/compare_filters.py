#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare_filters.py - compares the system's filters under a preloaded library with plain runs.

Runs every command line of the *.cases files in each of its situations twice, plainly and with LD_PRELOAD.  stdout,
stderr, exit status and the files afterwards must be the same, byte for byte.  corpus.py describes the format of *.cases.
Compiles programs/*.c in the folder of the cases, for command lines that use these programs.
"""
import argparse
import collections
import concurrent.futures
import functools
import glob
import os
import queue
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # do not write .pyc files into the source tree

import arena
import corpus
import inputs
import random_cases

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


class Unusable(Exception):
    """The test cannot run.  The message names the remedy."""


def add_preload_arguments(parser):
    parser.add_argument("--preload", metavar="LIB[:LIB...]", help="the library to preload, and what goes behind it")
    parser.add_argument("--options", metavar="TEXT", help="ASF_OPTIONS for the preloaded runs")
    parser.add_argument("--environment", metavar="NAME=VALUE", action="append", default=[],
                        help="another variable for the preloaded runs")
    parser.add_argument("--skip", metavar="REGEX", default="$^", help="leave out what has a name that matches")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", help="case files (default: those beside this program)")
    add_preload_arguments(parser)
    parser.add_argument("--filter", metavar="REGEX", default="", help="run only situations whose name matches")
    parser.add_argument("--list", action="store_true", help="print the situations and their commands, run nothing")
    parser.add_argument("--random", type=int, metavar="N", help="N random command lines in place of the case files")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="which random ones")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    parser.add_argument("--keep", action="store_true", help="keep the temporary directory")
    parser.add_argument("--times", action="store_true", help="print the slowest situations")
    arguments = parser.parse_args()
    arguments.cases = arguments.cases or sorted(glob.glob(os.path.join(HERE, "*.cases")))
    if not arguments.preload and not arguments.list:
        parser.error("--preload LIB is needed: build/release/lib/libasf_stdio.so")
    return arguments


def compile_programs(case_files, target):
    folders = {os.path.join(os.path.dirname(os.path.abspath(path)), "programs") for path in case_files}
    folders.add(os.path.join(HERE, "programs"))
    os.makedirs(target)
    for folder in sorted(folders):
        for source in glob.glob(os.path.join(folder, "*.c")):
            program = os.path.join(target, os.path.basename(source)[:-2])
            compiled = subprocess.run([os.environ.get("CC", "cc"), "-O2", "-Wall", "-I", ROOT, "-o", program, source,
                                       "-lpthread"], check=False)
            if compiled.returncode:
                raise Unusable(f"{source} does not compile: is a C compiler installed?")


class Preload:
    """The library under test, with a sanitizer's runtime if it needs one.

    Copies the library, so that a rebuild during the run changes nothing, and so that every user can read it."""

    def __init__(self, arguments, root):
        library, *behind = arguments.preload.split(":")
        if not os.path.isfile(library):
            raise Unusable(f"{library}: no such library; build it first")
        self.path = os.path.join(root, os.path.basename(library))
        shutil.copy(library, self.path)
        os.chmod(self.path, 0o755)
        self.root = root
        self.environment = dict(setting.split("=", 1) for setting in arguments.environment)
        self.environment["LD_PRELOAD"] = ":".join([self.path, *behind])
        if arguments.options:
            self.environment["ASF_OPTIONS"] = arguments.options
        self.check()

    def environment_of(self, case):
        if not case.exact:
            return self.environment
        options = [self.environment.get("ASF_OPTIONS", ""), "buffer=libc"]
        return {**self.environment, "ASF_OPTIONS": ",".join(filter(None, options))}

    def run(self, command, **more):
        environment = {"PATH": arena.PATH, **self.environment, **more}
        return subprocess.run(command, env=environment, cwd=self.root, stdout=subprocess.PIPE,
                              check=False).stdout.decode()

    def check(self):
        """Checks that the loader loads the library; otherwise every case would pass."""
        if self.path not in self.run(["cat", "/proc/self/maps"]):
            raise Unusable(f"{self.path}: the loader did not take it into /bin/cat")
        with open(self.path, "rb") as library:
            if b"asf_version" in library.read():
                self.check_statistics()

    def check_statistics(self):
        """Checks that the loaded library serves programs: its statistics of sort must name a stream."""
        report = os.path.join(self.root, "statistics")
        self.run(["sort", "/etc/passwd"], ASF_OPTIONS="stats=" + report)
        if not os.path.exists(report) or not os.path.getsize(report):
            raise Unusable(f"{self.path}: loaded into sort, but ASF_OPTIONS=stats=FILE reports no stream")


@functools.cache
def version(program):
    """Returns the numbers of the last word in the first line of --version."""
    said = subprocess.run([program, "--version"], stdout=subprocess.PIPE, check=False).stdout.decode()
    return [int(number) for number in re.findall(r"\d+", said.partition("\n")[0].split()[-1])]


def why_skipped(case):
    if case.before and version(case.before[0]) >= [int(number) for number in case.before[1].split(".")]:
        return "not before " + " ".join(case.before)
    missing = [program for program in case.needs if not shutil.which(program, path=arena.PATH)]
    if missing:
        return "not installed: " + " ".join(missing)
    if (case.user or case.tmpfs) and os.geteuid():
        return "needs root"
    return ""


def first_difference(plain, preloaded):
    at = next((i for i, (a, b) in enumerate(zip(plain, preloaded)) if a != b), min(len(plain), len(preloaded)))
    start = max(0, at - 24)
    return (f"{len(plain)} bytes plain, {len(preloaded)} preloaded, first difference at {at}\n"
            f"        plain     …{plain[start:at + 56]!r}\n        preloaded …{preloaded[start:at + 56]!r}")


def file_difference(plain, preloaded):
    if plain is None or preloaded is None:
        return "only in the " + ("preloaded" if plain is None else "plain") + " run"
    if plain[:2] != preloaded[:2]:
        return f"{plain[0]} {plain[1]:o} plain, {preloaded[0]} {preloaded[1]:o} preloaded"
    return first_difference(plain[2], preloaded[2])


def masked(case, text):
    return re.sub(case.mask.encode(), b"#", text) if case.mask else text


def differences(case, plain, preloaded):
    for stream in ("stdout", "stderr"):
        texts = [masked(case, getattr(outcome, stream)) for outcome in (plain, preloaded)]
        if texts[0] != texts[1]:
            yield f"{stream}: {first_difference(*texts)}"
    if plain.status != preloaded.status or plain.status == "timed out":
        yield f"status: {plain.status} plain, {preloaded.status} preloaded"
    for path in sorted(plain.files.keys() | preloaded.files.keys()):
        if plain.files.get(path) != preloaded.files.get(path):
            yield f"file {path}: {file_difference(plain.files.get(path), preloaded.files.get(path))}"


class Run:
    """Runs the situations in a few slots.  Only one thread at a time uses a slot."""

    def __init__(self, arguments, root):
        self.preload = Preload(arguments, root)
        self.slots = queue.SimpleQueue()
        for number in range(arguments.jobs):
            slot = os.path.join(root, f"slot{number}")
            os.mkdir(slot)
            self.slots.put(arena.Arena(slot, os.path.join(root, "inputs"), os.path.join(root, "programs")))
        self.counts = collections.Counter()
        self.times = []

    def try_situation(self, situation):
        reason = why_skipped(situation.case)
        if reason:
            return "skipped", [reason]
        slot = self.slots.get()
        started = time.monotonic()
        try:
            plain = slot.run(situation, {})
            preloaded = slot.run(situation, self.preload.environment_of(situation.case))
        finally:
            self.slots.put(slot)
        self.times.append((time.monotonic() - started, situation.name))
        found = list(differences(situation.case, plain, preloaded))
        return ("failed" if found else "passed"), found

    def report(self, situation, result, notes):
        self.counts[result] += 1
        if result == "skipped":
            print(f"skip {situation.name}: {notes[0]}")
        elif result == "failed":
            command = situation.case.command.rstrip("\n").replace("\n", "\n        ")
            print(f"FAIL {situation.name}: " + "\n    ".join(notes) + f"\n    command ({situation.case.shell}):\n"
                  f"        {command}", flush=True)

    def run(self, situations, jobs):
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            pending = [(situation, pool.submit(self.try_situation, situation)) for situation in situations]
            for situation, future in pending:
                self.report(situation, *future.result())


def run_all(arguments, situations):
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    root = tempfile.mkdtemp(prefix="asf-filters.")
    os.chmod(root, 0o755)
    try:
        run = Run(arguments, root)
        compile_programs(arguments.cases, os.path.join(root, "programs"))
        inputs.make_inputs(os.path.join(root, "inputs"))
        run.run(situations, arguments.jobs)
    finally:
        if arguments.keep:
            print("kept:", root)
        else:
            arena.remove_folder(root)
    return run


def main():
    arguments = parse_arguments()
    cases = (random_cases.random_cases(arguments.random, arguments.seed) if arguments.random
             else corpus.read_corpus(arguments.cases))
    situations = [situation for case in cases for situation in case.situations()
                  if re.search(arguments.filter, situation.name)
                  and not re.search(arguments.skip, situation.name)]
    if arguments.list:
        for situation in situations:
            print(f"{situation.name}\t{situation.case.command.rstrip()!r}")
        return 0
    if not situations:
        raise Unusable(f"no situation matches --filter {arguments.filter}")
    run = run_all(arguments, situations)
    for seconds, name in sorted(run.times, reverse=True)[:20 if arguments.times else 0]:
        print(f"{seconds:7.2f} s  {name}")
    lines = len({situation.case.name for situation in situations})
    print(f"{run.counts['passed']} passed, {run.counts['failed']} failed, {run.counts['skipped']} skipped "
          f"({lines} command lines)")
    return 1 if run.counts["failed"] or not run.counts["passed"] else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Unusable, ValueError) as problem:
        sys.exit(f"compare_filters: {problem}")
