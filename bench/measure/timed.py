# SPDX-License-Identifier: MIT
"""Commands, which are timed here, and programs that time themselves and print their times."""
import collections
import json
import os
import re
import shlex
import subprocess
import time

Sample = collections.namedtuple("Sample", "cpu elapsed")  # cpu: user and system time; both in the program's unit, or seconds


class Failed(Exception):
    """A command failed, so its time is meaningless."""


def wait(child, begun, accepted=None):
    """Waits for a process; returns the seconds since `begun`, and its CPU seconds with those of its children."""
    _, status, usage = os.wait4(child.pid, 0)
    elapsed = time.perf_counter() - begun
    child.returncode = os.waitstatus_to_exitcode(status)
    if accepted is not None and child.returncode not in accepted:
        raise Failed(f"{shlex.join(child.args)}: exit status {child.returncode}")
    return Sample(usage.ru_utime + usage.ru_stime, elapsed)


def run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, accepted=(0,), **how):
    """Runs a command and times it; `how` is Popen's."""
    begun = time.perf_counter()
    try:
        child = subprocess.Popen(argv, stdin=stdin, stdout=stdout, **how)
    except OSError as error:
        raise Failed(f"{argv[0]}: {error.strerror}") from error
    return wait(child, begun, accepted)


class Program:
    """A program that times many things and prints them.  It is started once a round, since the places of code, stack and
    heap differ from process to process; `read` turns its output into samples by name."""

    def __init__(self, argv, read, environment=None):
        self.argv, self.read, self.environment = argv, read, {**os.environ, **(environment or {})}

    def output(self, *more):
        argv = [*self.argv, *more]
        # Output goes to a pipe, not to /dev/null: the timed streams may write there.
        try:
            done = subprocess.run(argv, capture_output=True, text=True, check=False, env=self.environment)
        except OSError as error:
            raise Failed(f"{argv[0]}: {error.strerror}") from error
        if done.returncode:
            raise Failed(f"{shlex.join(argv)}: exit status {done.returncode}\n{done.stderr[-2000:]}")
        return done.stdout

    def start(self, _rows):
        return self.read(self.output())

    def take(self, rows):
        """Makes one round of rows whose sides are names."""
        found = self.start(rows)
        for row in rows:
            for side, name in row.sides.items():
                row.samples[side].append(found[name])


class Benchmarks(Program):
    """A program of Google Benchmark's.  Each start runs the rows that are left, all sides in random order; `sample` turns
    an entry into a Sample.  `later` are options of all starts but the first."""

    def __init__(self, argv, sample, min_time, later=(), environment=None):
        super().__init__(argv, None, environment)
        self.sample, self.later, self.entries, self.context = sample, later, [], {}
        self.options = [f"--benchmark_min_time={min_time}", "--benchmark_enable_random_interleaving=true",
                        "--benchmark_format=json"]

    def names(self, wanted="."):
        """Returns the benchmarks whose names match."""
        listing = self.output("--benchmark_list_tests=true", f"--benchmark_filter={wanted}")
        return [] if listing.startswith("Failed to match") else listing.splitlines()

    def start(self, rows):
        # Google Benchmark takes POSIX's extended expressions, where no other character may be escaped.
        wanted = [re.sub(r"([\[\\^$.|?*+(){])", r"\\\1", name) for row in rows for name in row.sides.values()]
        later = self.later if self.entries else ()
        results = json.loads(self.output(f"--benchmark_filter=^({'|'.join(wanted)})$", *self.options, *later))
        for entry in results["benchmarks"]:
            if entry.get("error_occurred"):
                raise Failed(f"{self.argv[0]}: {entry['run_name']}: {entry['error_message']}")
        self.context = self.context or results["context"]
        self.entries += results["benchmarks"]
        return {entry["run_name"]: self.sample(entry) for entry in results["benchmarks"]}
