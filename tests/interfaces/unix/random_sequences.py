#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""random_sequences.py - compares libasf_unix with libc, by random sequences of Unix I/O and stdio on descriptors 0 to 5.

The program unix_sequences makes each sequence from its seed.  The results of all calls, the ends of the processes and
the files must be the same without the library and with it.  Each --each adds a run with other options.  If a sequence differs, the
script removes the steps that the difference does not need, and shows the others.

The script names a sequence without counting it if two runs without the library differ, or if ten more runs do not
differ: on a busy machine the alarm for deadlocks may end any sequence.  The same holds if libc never ends the sequence;
for example, glibc's fseek may loop on wide streams.
ASF_UNIX_SEED and ASF_UNIX_SEQUENCES in the environment replace --seed and --count.
"""
import concurrent.futures
import os
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(TESTS, "interfaces", "stdio"), os.path.join(TESTS, "filters")]

import arena
import random_streams

AT_ONCE = 1000
BULK_SEEDS = 1 << 40  # the same as in sequences.h
HAVE_DIFFERED = (93893, 1040362, 1707867)  # seeds whose sequences have differed once


class Runner:
    def __init__(self, program, environment, folder):
        self.program = os.path.abspath(program)
        self.preloaded = environment
        self.folder = folder

    def run(self, arguments, options):
        """Returns the lines that unix_sequences prints.  If the options are None, runs it without the library."""
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
        if options is not None:
            environment.update(self.preloaded)
        if options:
            environment["ASF_OPTIONS"] = options
        folder = tempfile.mkdtemp(dir=self.folder)
        return subprocess.run([self.program, *arguments], env=environment, cwd=folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, check=True).stdout.decode("latin-1").splitlines()

    def hashes(self, first, count, options):
        return self.run(["run", str(first), str(count)], options)

    def show(self, seed, options, steps=None):
        return self.run(["show", str(seed)] + ([",".join(map(str, steps))] if steps is not None else []), options)

    def differs(self, seed, options, steps=None):
        return self.show(seed, None, steps) != self.show(seed, options, steps)

    def shorten(self, seed, options):
        """Returns the steps that the difference needs.  Tries to remove the last ones first."""
        steps = sorted({int(line.split()[0]) for run in (None, options) for line in self.show(seed, run)
                        if line[:1].isdigit()})
        shorter = True
        while shorter:
            shorter = False
            for step in reversed(steps):
                fewer = [other for other in steps if other != step]
                if fewer and self.differs(seed, options, fewer):
                    steps, shorter = fewer, True
        return steps

    def report(self, seed, options):
        """Reports a difference.  Returns whether the library causes it."""
        if any(self.show(seed, None) != self.show(seed, None) for _ in range(3)):
            print(f"seed {seed}: two runs without the library differ")
            return False
        if any(line.startswith(f"status {signal.SIGALRM:d},") for line in self.show(seed, None)):
            print(f"seed {seed}, ASF_OPTIONS={options}: libc never ends it")
            return False
        if not any(self.differs(seed, options) for _ in range(10)):
            print(f"seed {seed}, ASF_OPTIONS={options}: differed once, and not in ten more runs")
            return False
        self.report_shortened(seed, options)
        return True

    def report_shortened(self, seed, options):
        steps = self.shorten(seed, options)
        print(f"seed {seed}, ASF_OPTIONS={options}: unix_sequences show {seed} {','.join(map(str, steps))}")
        plain, tested = self.show(seed, None, steps), self.show(seed, options, steps)
        for number, (a, b) in enumerate(zip(plain + ["(end)"], tested + ["(end)"])):
            if a != b:
                for line in plain[:number]:
                    print("      ", line)
                print("  libc:", a)
                print("   asf:", b)
                return


def parsed_arguments():
    parser = random_streams.argument_parser(__doc__)
    parser.add_argument("--bulk", action="store_true", help="plans of streams that become bulk after a few blocks")
    parser.add_argument("--each", metavar="TEXT", action="append", default=[],
                        help="ASF_OPTIONS for another run of every sequence")
    arguments = parser.parse_args()
    arguments.seed = int(os.environ.get("ASF_UNIX_SEED", arguments.seed))
    arguments.count = int(os.environ.get("ASF_UNIX_SEQUENCES", arguments.count))
    arguments.seed += BULK_SEEDS if arguments.bulk else 0
    return arguments


def ranges_of(arguments):
    """Yields ranges of seeds: the first seed, and the number of seeds."""
    end = arguments.seed + arguments.count
    yield from ((first, min(AT_ONCE, end - first)) for first in range(arguments.seed, end, AT_ONCE))
    yield from ((seed, 1) for seed in HAVE_DIFFERED if not arguments.bulk)


def try_sequences(runner, arguments):
    """Runs all sequences.  Returns how many differ."""
    different = 0
    all_options = [arguments.options or ""] + arguments.each
    ranges = list(ranges_of(arguments))
    # one thread more than runs of a range, since a run may wait for its alarm
    with concurrent.futures.ThreadPoolExecutor(1 + len(all_options)) as pool:
        # Starts all runs at once, so that no processor waits for the slowest run of a range.
        hashes = pool.map(lambda job: runner.hashes(*job),
                          [(*numbers, options) for numbers in ranges for options in [None, *all_options]])
        for first, _ in ranges:
            plain, *tested = [next(hashes) for _ in range(1 + len(all_options))]
            for options, got in zip(all_options, tested):
                for seed in (seed for seed, pair in enumerate(zip(plain, got), first) if pair[0] != pair[1]):
                    different += different >= arguments.shown or runner.report(seed, options)
                    sys.stdout.flush()
    return different


def main():
    arguments = parsed_arguments()
    memory = "/dev/shm"
    folder = tempfile.mkdtemp(prefix="sequences.", dir=memory if os.access(memory, os.W_OK) else None)
    try:
        environment = random_streams.environment_of(arguments)
        environment.pop("ASF_OPTIONS", None)
        runner = Runner(arguments.program, environment, folder)
        different = try_sequences(runner, arguments)
    finally:
        arena.remove_folder(folder)
    print(f"{arguments.count} sequences from seed {arguments.seed}, {different} differ")
    return different > 0


if __name__ == "__main__":
    sys.exit(main())
