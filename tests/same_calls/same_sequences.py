#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""same_sequences.py - compares the system calls of random stdio calls under a preloaded library with libc's.

Runs the sequences of tests/interfaces/stdio/random_streams.py.  The program stream_steps logs each result by a direct
system call.  So each stdio call must make the same transfers as libc's.  If a sequence differs, the script removes the
steps that the difference does not need, and shows the others.

A stdio call must not query the kernel where libc's does not, since a filter of system calls may kill a process for it.
On musl, whose stdio makes no queries, the library may make some.
"""
import itertools
import multiprocessing
import os
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path[:0] = [os.path.join(TESTS, "interfaces", "stdio"), os.path.join(TESTS, "filters")]

import arena
import random_streams
import tracing
import transfers

TRIES = 3


class Tracer(random_streams.Runner):
    """Compares the traces of sequences, not their results."""

    def __init__(self, program, environment, libc):
        super().__init__(program, environment, libc)
        self.may_ask = libc == "musl"
        handle, self.log = tempfile.mkstemp(prefix="trace.")
        os.close(handle)

    def status_of(self, command, environment, standard):
        names = [name for name in environment if name in self.preloaded]
        return random_streams.Runner.status_of(
            tracing.traced(self.log, {name: environment[name] for name in names}, tracing.ALWAYS_LEFT_OUT) + command,
            {**{name: value for name, value in environment.items() if name not in names}, "PATH": os.environ["PATH"]},
            standard)

    def trace(self, size, mode, steps, environment):
        status = self.run(size, mode, steps, environment)[1]
        return {} if status == "hangs" else transfers.processes_of(self.log)

    def traces(self, size, mode, steps):
        plain, preloaded = [], []
        for _ in range(TRIES):
            plain.append(self.trace(size, mode, steps, {}))
            preloaded.append(self.trace(size, mode, steps, self.preloaded))
            if not self.differ(plain, preloaded):
                break
        return plain, preloaded

    def differ(self, plain, preloaded):
        return ({} in plain + preloaded or bool(transfers.differing(plain, preloaded))
                or not self.may_ask and bool(transfers.asked_more(plain, preloaded)))

    def differs(self, size, mode, steps):
        return self.differ(*self.traces(size, mode, steps))

    def show(self, size, mode, steps):
        plain, preloaded = self.traces(size, mode, steps)
        for place in transfers.differing(plain, preloaded)[:2]:
            print(transfers.shown_difference(place, plain[-1], preloaded[-1]))
        print("\n".join(transfers.asked_more(plain, preloaded)[:4]))


tracer = None


def start_tracer(*arguments):
    global tracer
    tracer = Tracer(*arguments)


def try_seed(seed):
    """Returns the seed, and the shortened sequence if it differs, else None."""
    size, mode, steps = random_streams.sequence(seed)
    if not tracer.differs(size, mode, steps):
        return seed, None
    size, steps = tracer.shorten(size, mode, steps)
    return seed, (size, mode, steps)


def parse_arguments():
    parser = random_streams.argument_parser(__doc__)
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    return parser.parse_args()


def try_all(arguments, environment):
    """Returns the number of sequences tried, and how many differ."""
    tried = different = 0
    seeds = tracer.seeds(arguments)
    with multiprocessing.get_context("fork").Pool(arguments.jobs, start_tracer,
                                                  (arguments.program, environment, arguments.libc)) as pool:
        for seed, found in itertools.islice(pool.imap(try_seed, seeds, chunksize=4), arguments.count):
            tried += 1
            if not found:
                continue
            different += 1
            size, mode, steps = found
            print(f"seed {seed}: --steps '{size},{mode},{' '.join(steps)}'")
            tracer.show(size, mode, steps)
            sys.stdout.flush()
            if different == arguments.shown:
                break
    return tried, different


def main():
    arguments = parse_arguments()
    if not shutil.which("strace"):
        print("skipped: strace is not installed")
        return 77
    arguments.program = os.path.abspath(arguments.program)
    environment = random_streams.environment_of(arguments)
    folder = tempfile.mkdtemp(prefix="asf-same.")
    tempfile.tempdir = folder  # the worker processes use it, too
    try:
        start_tracer(arguments.program, environment, arguments.libc)
        if arguments.steps:
            parsed = random_streams.parsed(arguments.steps)
            tracer.show(*parsed)
            return tracer.differs(*parsed)
        tried, different = try_all(arguments, environment)
        print(f"{tried} sequences, {different} differ")
        return different > 0
    finally:
        os.chdir("/")
        arena.remove_folder(folder)


if __name__ == "__main__":
    sys.exit(main())
