#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""injected_sequences.py - compares random stdio calls with libc's, while system calls fail.

Runs the sequences of tests/interfaces/stdio/random_streams.py plainly and under a preloaded library.  In both runs strace
makes the same system call on the file fail: the n-th one of a kind, once or from then on, for n = 1, 2, ... while there
are n calls.  On musl all calls of the kind fail.  Results, flags, offsets and the file must be the same in both runs.
"""
import itertools
import multiprocessing
import os
import random
import re
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "interfaces", "stdio"))

import random_streams

FAULTS = {"read": ["error=EIO", "error=EINTR", "error=EAGAIN", "error=EISDIR"],
          "write": ["error=ENOSPC", "error=EIO", "error=EINTR", "error=EAGAIN", "error=EFBIG", "error=EDQUOT",
                    "error=EPIPE"],
          "openat": ["error=EMFILE", "error=ENOENT", "error=EINTR"],
          "close": ["error=EIO", "error=EINTR"]}
BY_OTHER_NAMES = {"read": "read,readv", "write": "write,writev", "openat": "openat,open"}  # in musl
MOST = 40  # the limit of n


class Injector(random_streams.Runner):
    """Runs sequences while strace makes system calls fail."""

    def __init__(self, program, environment, libc):
        super().__init__(program, environment, libc)
        self.libc = libc
        handle, self.log = tempfile.mkstemp(prefix="log.")
        os.close(handle)
        self.fault = ""

    def status_of(self, command, environment, standard):
        variables = [word for name in self.preloaded if name in environment
                     for word in ("-E", f"{name}={environment[name]}")]
        strace = ["strace", "-f", "-q", "-s", "0", "-e", "signal=none", "-o", self.log, "-P", os.path.abspath("data"),
                  "-e", "trace=" + self.fault.partition(":")[0], "-e", "inject=" + self.fault, *variables, "--"]
        rest = {name: value for name, value in environment.items() if name not in self.preloaded}
        return random_streams.Runner.status_of(strace + command, {**rest, "PATH": os.environ["PATH"]}, standard)

    def was_injected(self):
        with open(self.log, encoding="utf-8") as log:
            return "(INJECTED)" in log.read()

    def names_of(self, call):
        return BY_OTHER_NAMES.get(call, call) if self.libc == "musl" else call

    def is_different(self, plain, preloaded):
        return plain != preloaded and not is_open(plain[0], preloaded[0])

    def differs(self, size, mode, steps):
        return self.is_different(self.run(size, mode, steps, {}), self.run(size, mode, steps, self.preloaded))

    def first_difference(self, size, mode, steps, fault, when):
        """Returns the number of faults tried, and the first one after which the library differs, or None."""
        numbers = range(1, MOST) if self.libc == "glibc" else [1]  # on musl once, since strace counts write and writev separately
        for n in numbers:
            self.fault = f"{fault}:when={n}{when if self.libc == 'glibc' else '+'}"
            plain = self.run(size, mode, steps, {})
            if not self.was_injected():
                return n - 1, None
            if self.is_different(plain, self.run(size, mode, steps, self.preloaded)):
                return n, self.fault
        return numbers[-1], None


def is_open(plain, preloaded):
    """Returns whether C leaves the first differing result undefined.

    This is so for input after a failed call, without a seek or flush that succeeded in between.  It is also so after
    EBADF: libc leaves the check of the direction to the kernel in some calls."""
    failed = False
    for ours, libcs in itertools.zip_longest(preloaded, plain, fillvalue=""):
        if ours != libcs and "EBADF" in ours + libcs:
            return True
        name, _, result = (libcs or ours).strip().removeprefix("t:").removeprefix("2:").partition(": ")
        if ours != libcs:
            return failed and name in random_streams.INPUTS
        if re.search(r" E[A-Z]+$", result):
            failed = True
        elif name in random_streams.BETWEEN:
            failed = False
    return False


injector = None


def start_injector(*arguments):
    global injector
    injector = Injector(*arguments)


def is_alone(steps):
    """Returns whether the sequence has one process and thread.  Of several, a random one would make the n-th call."""
    return not any(step.startswith(("fork", "thread", "memory")) for step in steps) and steps[0] != "growing"


def try_seed(seed):
    """Returns the seed, the number of faults tried, and the fault after which the library differs, with the shortened
    sequence; or None."""
    size, mode, steps = random_streams.sequence(seed)
    if not is_alone(steps):
        return seed, 0, None
    rng = random.Random(seed)
    call = rng.choice(["read", "write"] if rng.random() < 0.8 else ["openat", "close"])
    fault = f"{injector.names_of(call)}:{rng.choice(FAULTS[call])}"
    faults, found = injector.first_difference(size, mode, steps, fault, rng.choice(["", "+"]))
    if not found:
        return seed, faults, None
    injector.fault = found
    size, steps = injector.shorten(size, mode, steps)
    return seed, faults, (found, size, mode, steps)


def parse_arguments():
    parser = random_streams.argument_parser(__doc__)
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    parser.add_argument("--fault", metavar="FAULT", help="with this fault, as strace's inject has it")
    return parser.parse_args()


def try_all(arguments, environment):
    """Returns the number of sequences tried, of faults tried, and of sequences that differ."""
    tried = faults = different = 0
    seeds = injector.seeds(arguments)
    with multiprocessing.get_context("fork").Pool(arguments.jobs, start_injector,
                                                  (arguments.program, environment, arguments.libc)) as pool:
        for seed, several, found in itertools.islice(pool.imap(try_seed, seeds, chunksize=4), arguments.count):
            tried += 1
            faults += several
            if not found:
                continue
            different += 1
            fault, size, mode, steps = found
            print(f"seed {seed}: --fault {fault} --steps '{size},{mode},{' '.join(steps)}'")
            injector.fault = fault
            injector.show(size, mode, steps)
            sys.stdout.flush()
            if different == arguments.shown:
                break
    return tried, faults, different


def main():
    arguments = parse_arguments()
    if not shutil.which("strace"):
        print("skipped: strace is not installed")
        return 77
    environment = random_streams.environment_of(arguments)
    folder = tempfile.mkdtemp(prefix="asf-injected.")
    tempfile.tempdir = folder  # the worker processes use it, too
    try:
        start_injector(arguments.program, environment, arguments.libc)
        if arguments.steps:
            injector.fault = arguments.fault
            parsed = random_streams.parsed(arguments.steps)
            injector.show(*parsed)
            return injector.differs(*parsed)
        tried, faults, different = try_all(arguments, environment)
        print(f"{tried} sequences, {faults} faults injected, {different} differ")
        return different > 0
    finally:
        os.chdir("/")
        shutil.rmtree(folder, ignore_errors=True)  # a worker may still use a file in it


if __name__ == "__main__":
    sys.exit(main())
