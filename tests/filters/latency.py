#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""latency.py - a slow producer is seen no later under the preloaded library than under libc.

The producer writes a burst, pauses, and notes by a system call that no library can see how much of its output had
arrived by then.  At the end of every pause the preloaded run must have delivered at least what the plain one had.
A second test keeps the reader's own time stamps of a producer of 100 bytes each 10 ms.
"""
import argparse
import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True

import compare_filters

BURSTS = ["10", "4096", "1", "5000", "70000", "100", "100", "300000", "9000", "3", "250000", "4095", "1"]
DRIBBLE = ["100"] * 120
HOWS = ["putc", "fputs:100", "fwrite:13", "fwrite:5000", "printf:64", "puts:64", "unlocked"]
PAUSES = ["nanosleep", "usleep", "poll", "select", "condition", "read", "compute", "unseen"]
F_SETPIPE_SZ = 1031
LATE = 0.2  # seconds that a reader's time stamps may differ by on a busy machine


class Producer:
    """pace with descriptor 3 for its notes and 4 for a byte every so many milliseconds to wait for."""

    def __init__(self, program, arguments, output, environment):
        notes, notes_end = os.pipe()
        feed_end, self.feed = os.pipe()
        self.notes = os.fdopen(notes)
        redirect = f'exec "$@" 3>&{notes_end} 4<&{feed_end}'
        self.process = subprocess.Popen(["sh", "-c", redirect, "sh", program, *arguments], stdout=output,
                                        pass_fds=(notes_end, feed_end), env={**os.environ, **environment})
        for descriptor in (output, notes_end, feed_end):
            os.close(descriptor)
        self.feeder = threading.Thread(target=self.feed_bytes, args=(int(arguments[2]) / 1000,))
        self.feeder.start()

    def feed_bytes(self, seconds):
        while self.process.poll() is None:
            time.sleep(seconds)
            try:
                os.write(self.feed, b".")
            except BrokenPipeError:
                break

    def finish(self):
        """The notes: bytes that had arrived at the end of each pause."""
        with self.notes:
            counts = [int(line) for line in self.notes]
        status = self.process.wait()
        self.feeder.join()
        os.close(self.feed)
        if status:
            raise compare_filters.Unusable(f"pace ended with status {status}")
        return counts


def run_on_pipe(program, arguments, environment):
    """The pipe holds all that the producer writes, so that what has arrived can be counted in it."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, F_SETPIPE_SZ, 1 << 20)
    counts = Producer(program, arguments, writer, environment).finish()
    with os.fdopen(reader, "rb") as rest:
        return counts, rest.read()


def stamped(program, arguments, environment):
    """Seconds after the start by which each further 1000 bytes had come."""
    reader, writer = os.pipe()
    start, stamps, total = time.monotonic(), [], 0
    producer = Producer(program, arguments, writer, environment)
    while block := os.read(reader, 65536):
        total += len(block)
        stamps += [time.monotonic() - start] * (total // 1000 - len(stamps))
    os.close(reader)
    producer.finish()
    return stamps


def compare_arrivals(program, arguments, environment):
    plain, plain_text = run_on_pipe(program, arguments, {})
    preloaded, preloaded_text = run_on_pipe(program, arguments, environment)
    name = " ".join(arguments[:3])
    if plain_text != preloaded_text:
        yield f"pace {name}: the output differs"
    late = [i for i, (a, b) in enumerate(zip(plain, preloaded)) if b < a]
    if late or len(plain) != len(preloaded):
        at = late[0] if late else min(len(plain), len(preloaded))
        yield (f"pace {name}: late after {len(late)} of {len(plain)} bursts, first after sizes "
               f"{' '.join(arguments[3:at + 4])}: {plain[at:at + 1]} bytes had come plainly, "
               f"{preloaded[at:at + 1]} preloaded")


def compare_stamps(program, environment):
    arguments = ["fputs:100", "nanosleep", "10", *DRIBBLE, *DRIBBLE]
    plain = stamped(program, arguments, {})
    preloaded = stamped(program, arguments, environment)
    for number, (before, after) in enumerate(zip(plain, preloaded), 1):
        if after > before + LATE:
            yield f"100 bytes each 10 ms: {number}000 bytes after {before:.2f} s plainly, {after:.2f} s preloaded"


def all_tests(program, environment):
    yield "time stamps", compare_stamps(program, environment)
    for how in HOWS:
        yield f"{how} dribble", compare_arrivals(program, [how, "nanosleep", "5", *DRIBBLE], environment)
    for how in HOWS[::2]:
        for pause in PAUSES:
            yield f"{how} {pause}", compare_arrivals(program, [how, pause, "20", *BURSTS], environment)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    compare_filters.add_preload_arguments(parser)
    parser.add_argument("--filter", metavar="TEXT", default="", help="only tests whose name holds this")
    arguments = parser.parse_args()
    if not arguments.preload:
        parser.error("--preload is needed")
    root = tempfile.mkdtemp(prefix="asf-latency.")
    counts = {True: 0, False: 0}
    try:
        preload = compare_filters.Preload(arguments, root)
        compare_filters.compile_programs([], os.path.join(root, "programs"))
        for name, found in all_tests(os.path.join(root, "programs", "pace"), preload.environment):
            if arguments.filter in name and not re.search(arguments.skip, name):
                found = list(found)
                counts[not found] += 1
                for line in found:
                    print("FAIL", line, flush=True)
    finally:
        shutil.rmtree(root)
    print(f"{counts[True]} passed, {counts[False]} failed, 0 skipped")
    return 1 if counts[False] or not counts[True] else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except compare_filters.Unusable as problem:
        sys.exit(f"latency: {problem}")
