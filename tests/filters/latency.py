#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""latency.py - the output of a slow program arrives under the preloaded library as early as with libc.

The program pace writes a burst to a pipe and pauses, again and again.  After each pause it reports how many bytes have
arrived, by direct system calls, which no library sees.  After each pause the preloaded run must have delivered at least
as many bytes as the plain run.  A second test does the same while this process empties the pipe after each pause.
"""
import argparse
import fcntl
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True

import arena
import compare_filters

BURSTS = ["10", "4096", "1", "5000", "70000", "100", "100", "300000", "9000", "3", "250000", "4095", "1"]
DRIBBLE = ["100"] * 120
HOWS = ["putc", "fputs:100", "fwrite:13", "fwrite:5000", "printf:64", "puts:64", "unlocked"]
PAUSES = ["nanosleep", "usleep", "poll", "select", "condition", "read", "compute", "unseen"]
F_SETPIPE_SZ = 1031


class Producer:
    """Runs pace, which writes its counts to descriptor 3 and may wait for bytes on descriptor 4.

    A thread writes a byte to descriptor 4 every arguments[2] milliseconds."""

    def __init__(self, program, arguments, output, environment, feeds=True):
        notes, notes_end = os.pipe()
        feed_end, self.feed = os.pipe()
        self.notes = os.fdopen(notes)
        redirect = f'exec "$@" 3>&{notes_end} 4<&{feed_end}'
        self.process = subprocess.Popen(["sh", "-c", redirect, "sh", program, *arguments], stdout=output,
                                        pass_fds=(notes_end, feed_end), env={**os.environ, **environment})
        for descriptor in (output, notes_end, feed_end):
            os.close(descriptor)
        self.feeder = threading.Thread(target=self.feed_bytes, args=(int(arguments[2]) / 1000,))
        if feeds:
            self.feeder.start()

    def feed_bytes(self, seconds):
        while self.process.poll() is None:
            time.sleep(seconds)
            try:
                os.write(self.feed, b".")
            except BrokenPipeError:
                break

    def finish(self):
        """Waits for pace to end.  Returns how many bytes had arrived after each pause."""
        with self.notes:
            counts = [int(line) for line in self.notes]
        status = self.process.wait()
        if self.feeder.ident:
            self.feeder.join()
        os.close(self.feed)
        if status:
            raise compare_filters.Unusable(f"pace ended with status {status}")
        return counts


def run_on_pipe(program, arguments, environment):
    """Runs pace on a pipe that has room for all its output, so that pace can count the bytes in the pipe."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, F_SETPIPE_SZ, 1 << 20)
    counts = Producer(program, arguments, writer, environment).finish()
    with os.fdopen(reader, "rb") as rest:
        return counts, rest.read()


def run_on_emptied_pipe(program, arguments, environment):
    """Runs pace on a pipe that this process empties after each pause.  A byte on descriptor 4 ends a pause."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, F_SETPIPE_SZ, 1 << 20)
    producer = Producer(program, arguments, writer, environment, feeds=False)
    counts, text = [], b""
    with os.fdopen(reader, "rb", buffering=0) as pipe:
        for _ in arguments[3:]:
            os.write(producer.feed, b".")
            text += pipe.read(int(producer.notes.readline()))
            counts.append(len(text))
        producer.finish()
        return counts, text + pipe.read()


def compare_arrivals(program, arguments, environment, run=run_on_pipe):
    plain, plain_text = run(program, arguments, {})
    preloaded, preloaded_text = run(program, arguments, environment)
    name = " ".join(arguments[:3])
    if plain_text != preloaded_text:
        yield f"pace {name}: the output differs"
    late = [i for i, (a, b) in enumerate(zip(plain, preloaded)) if b < a]
    if late or len(plain) != len(preloaded):
        at = late[0] if late else min(len(plain), len(preloaded))
        yield (f"pace {name}: late after {len(late)} of {len(plain)} bursts, first after sizes "
               f"{' '.join(arguments[3:at + 4])}: {plain[at:at + 1]} bytes had come plainly, "
               f"{preloaded[at:at + 1]} preloaded")


def all_tests(program, environment):
    for how in HOWS:
        yield f"{how} emptied", compare_arrivals(program, [how, "read", "0", *DRIBBLE], environment, run_on_emptied_pipe)
        yield f"{how} emptied bursts", compare_arrivals(program, [how, "read", "0", *BURSTS], environment,
                                                        run_on_emptied_pipe)
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
        arena.remove_folder(root)
    print(f"{counts[True]} passed, {counts[False]} failed, 0 skipped")
    return 1 if counts[False] or not counts[True] else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except compare_filters.Unusable as problem:
        sys.exit(f"latency: {problem}")
