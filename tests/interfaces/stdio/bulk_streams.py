#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bulk_streams.py - compares random sequences of calls with libc's, on streams that become bulk streams after few blocks.

The library is built with ASF_BULK_AFTER from 1 to 3.  A sequence transfers some of libc's blocks.  It also has one of
these: a second stream on the same descriptor number or file, children of each kind of fork, direct calls on the number,
messages on standard error, polled pipes, or a filter of system calls.  The program stream_steps runs each sequence plainly and under
the preload, as for random_streams.py.  The results of all calls, the offsets and the files must be the same.

libasf_stdio does not notice changes to a descriptor without stdio.  So the step "publish" precedes each of them: a child
that does nothing, before which the library writes its output.  libasf_unix (--unix) notices most of these changes, but
not the end of a process without exit(3).  A sequence in which the filter kills libc is not compared.
"""
import os
import random
import signal
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import random_streams
from random_streams import INPUTS, OUTPUTS, READS, WRITES, count, name_of, place

BLOCKS = [4096, 4096, 4096, 8192, 12288, 16384, 20480]
AT_BLOCK_ENDS = ["read=4092 scan", "read=4092 letters", "read=4095 get=1", "get=1 read=8191", "read=4096 number",
                 "line=4097", "uget=4096", "get=4095 getline", "read=4096 unget", "get=8192 unget=Q", "uread=4097 ungets=2"]
UNDER_A_FILTER = {"r": ["get", "uget", "read", "uread", "line"], "w": ["put", "uput", "write", "uwrite", "text"]}
UNSEEN = ("numread", "numwrite", "numseek", "numoffset", "numclose", "numopen", "numdup", "numappend", "contents", "truncate",
          "_exit", "exec", "bare", "unread", "about")
UNSEEN_BY_UNIX = ("_exit", "exec", "contents", "truncate", "about")
KILLED = (-signal.SIGSYS, -signal.SIGKILL)


def amount(rng):
    r = rng.random()
    return rng.choice(BLOCKS) if r < 0.5 else count(rng) if r < 0.9 else rng.randrange(1, 40000)


def move(rng, mode):
    """Returns a step that reads from the stream or writes to it."""
    reads = mode == "r" or "+" in mode and rng.random() < 0.5
    if not reads:
        return f"{rng.choice(WRITES)}={amount(rng)}"
    if rng.random() < 0.3:
        return rng.choice(AT_BLOCK_ENDS)
    if rng.random() < 0.1:
        return rng.choice(["unget", "unget=Q", "getline", "number", "scan", "delim=4"])
    step = rng.choice(READS)
    return f"{step}={max(2, amount(rng))}"


def look(rng):
    return rng.choice(["tell", "offset", "dup", "size", "contents", "numoffset", "fork offset _exit=0 child_end", "publish"])


def common(rng, mode):
    r = rng.random()
    if r < 0.55:
        return move(rng, mode)
    if r < 0.8:
        return look(rng)
    if r < 0.9:
        return random_streams.move_step(rng)
    return rng.choice(["flush", "flush", "flushall", "clear", f"buf={rng.choice(random_streams.BUFFERS)}",
                       f"grow={count(rng)}", f"rawread={count(rng) % 5000 + 1}", f"rawseek={place(rng)}"])


def child(rng, mode):
    """Returns the steps of a child that is made by fork, or without fork's handlers.

    The child makes one call on the stream or its number, and then ends or executes another program."""
    kind = rng.choice(["fork", "fork", "bare=F", "bare=s", "bare=c"])
    inside = rng.choice([move(rng, mode), "numclose", "numopen=/dev/null", "numdup=/dev/null", "numopen=other",
                         "numdup=other", f"numseek={place(rng)}", f"numread={count(rng) % 5000}", look(rng), "reopen=r"])
    end = rng.choice(["exit=0", "exit=3", "close exit=0", "flush _exit=0", "_exit=0", "exec=true", "exec=head"])
    return f"{kind} {inside} {end} child_end"


def by_number(rng, mode):
    return rng.choice([f"numread={count(rng) % 6000 + 1}", f"numwrite={count(rng) % 6000}", f"numseek={place(rng)}",
                       "numoffset", "numdup=other", "numopen=other", "numclose", move(rng, mode), move(rng, mode)])


def first_step(rng, mode):
    how = rng.choice(["open", "open", "fdopen", "standard"]) if "+" not in mode else rng.choice(["open", "fdopen"])
    return f"standard={'i' if mode == 'r' else 'o'}" if how == "standard" else f"{how}={mode}"


def alone(rng):
    mode = rng.choice(["r", "r", "w", "w", "a", "r+", "w+"])
    return mode, [first_step(rng, mode)], lambda: common(rng, mode), ["close", "exit=0", "_exit=3", ""]


def with_children(rng):
    mode = rng.choice("rrwwa")
    return mode, [first_step(rng, mode)], lambda: rng.choice([child, common, common])(rng, mode), ["close", "exit=0"]


def with_raw_calls(rng):
    mode = rng.choice("rrww")
    return mode, [first_step(rng, mode)], lambda: rng.choice([by_number, common])(rng, mode), ["close", "exit=0"]


def with_second_on_number(rng):
    mode = rng.choice("rrww")
    steps = [first_step(rng, mode)] + [move(rng, mode) for _ in range(rng.choice([0, 0, 2]))] + [f"2:same={mode}"]

    def made():
        step = rng.choice([move, move, common])(rng, mode)
        return "2:" + step if rng.random() < 0.4 and " " not in step else step
    return mode, steps, made, ["flush 2:flush", "exit=0"]


def with_second_on_path(rng):
    mode, second = rng.choice(["rr", "rw", "wr", "ww", "wa", "ra"])
    steps = [f"open={mode}", f"2:open={second}"]

    def made():
        return "2:" + move(rng, second) if rng.random() < 0.4 else common(rng, mode)
    return mode, steps, lambda: made().replace("2:get=1 ", "2:get=1 2:"), ["close 2:close", "exit=0"]


def with_messages(rng):
    mode = rng.choice(["w", "w", "a"])
    first = first_step(rng, mode)
    before = rng.choice([["errors"], ["numappend", "errors"], ["numappend"], [move(rng, mode), move(rng, mode), "errors"]])

    def made():
        return f"message={rng.randrange(1000)}" if rng.random() < 0.3 else move(rng, mode)
    return mode, [first] + before, made, ["close", "exit=0"]


def with_peer(rng):
    mode = rng.choice("rrw")
    steps = [f"{rng.choice(['pipe', 'pipe', 'socket'])}={mode}"]

    def made():
        if mode == "w":
            return rng.choice([move(rng, mode), "flush", "receive", "flush receive", "flushall", "publish receive"])
        return rng.choice([move(rng, mode), move(rng, mode), f"feed={rng.choice([5000, 20480, 40000, 60000])}",
                           f"feed={amount(rng)}", "unread", "unread", "line=100", "clear", "publish"])
    if mode == "r":
        steps.append("feed=65536")
    return mode, steps, made, ["hangup", "close", "exit=0"]


def with_filter(rng):
    mode = rng.choice("rrww")
    # not "standard": after an end by a direct system call, the offset of the shared input is unspecified
    how = rng.choice(["open", "fdopen"])
    steps = [f"{how}={mode}", f"{'get' if mode == 'r' else 'put'}={amount(rng)}"]
    steps += [move(rng, mode) for _ in range(rng.choice([0, 0, 1, 4]))] + [f"filter={rng.choice('sf')}"]

    def made():
        return f"{rng.choice(UNDER_A_FILTER[mode])}={max(2, amount(rng))}"
    return mode, steps, made, ["leave"] if mode == "r" else ["flush leave"]


KINDS = [alone, alone, with_children, with_children, with_raw_calls, with_second_on_number, with_second_on_path, with_messages,
         with_peer, with_filter]


def published(steps, unix):
    """Returns the steps, with "publish" before each step that the library does not notice."""
    shown, filtered, unseen = [], False, UNSEEN_BY_UNIX if unix else UNSEEN
    if any(step.startswith("2:open") for step in steps):
        unseen += INPUTS + OUTPUTS + ("close", "flush", "open", "reopen", "size")
    for part in " ".join(steps).split():
        name = name_of(part)
        filtered = filtered or name == "filter"
        if name in unseen and not filtered and shown[-1:] != ["publish"]:
            shown.append("publish")
        shown.append(part)
    return shown


def asks_astray(steps):
    """Returns whether a step asks for the offset after raw calls moved the descriptor, and input followed without a seek.

    POSIX requires a seek there.  After the end of the file, the offset depends on the size of the buffer."""
    astray = read = False
    for name in (name_of(part) for part in " ".join(steps).split()):
        astray = name in ("rawseek", "rawread") or (astray and name not in random_streams.BETWEEN)
        read = astray and (read or name in INPUTS)
        if read and name in random_streams.TELLS_THE_PLACE:
            return True
    return False


def of_bulk(rng):
    """Returns the mode and the steps of a sequence of one of the KINDS."""
    kind = rng.choice(KINDS)
    mode, steps, made, ends = kind(rng)
    wanted = rng.randrange(4, 16) + len(steps)
    while len(steps) < wanted:
        step = made()
        more = steps + [step]
        if random_streams.defined(more) and not asks_astray(more) and fits(mode, step):
            steps.append(step)
    return mode, steps + [rng.choice(ends)] + ([] if kind is with_filter else ["contents"])


def sequence(seed, unix):
    """Returns the file's initial size, the mode for open_outside(), and the steps."""
    rng = random.Random(seed)
    if rng.random() < 0.3:
        size, mode, steps = random_streams.sequence(seed)
        while asks_astray(steps):
            steps = steps[:-1]
    else:
        size = rng.choice([0, 20000, 65536, 150000, 400000])
        mode, steps = of_bulk(rng)
    if not unix and mode != "r" and "numclose" in steps:  # the steps after it differ: the error comes only with a later block
        steps = steps[:steps.index("numclose")] + ["numclose", "contents"]
    return size, mode, published(steps, unix)


def fits(mode, step):
    """Returns whether all calls of the step have a direction that the mode allows."""
    names = [name_of(part) for part in step.split()]
    wrong = OUTPUTS if mode == "r" else INPUTS if "+" not in mode and not step.startswith("2:") else ()
    return not any(name in wrong for name in names)


class Runner(random_streams.Runner):
    def __init__(self, program, environment, libc="glibc", unix=False):
        super().__init__(program, environment, libc)
        is_fair = self.fair
        self.fair = lambda steps: is_fair(steps) and steps == published(steps, unix)

    def differs(self, size, mode, steps):
        """Returns whether the library differs from libc only with bulk streams.

        random_streams.py finds all other differences."""
        plain = self.run(size, mode, steps, {})
        return (plain[1] not in KILLED and plain != self.run(size, mode, steps, self.preloaded)
                and plain == self.run(size, mode, steps, {**self.preloaded, "ASF_OPTIONS": "buffer=libc"}))


def main():
    parser = random_streams.argument_parser(__doc__)
    parser.add_argument("--unix", action="store_true", help="the library is libasf_unix")
    arguments = parser.parse_args()
    runner = Runner(arguments.program, random_streams.environment_of(arguments), arguments.libc, arguments.unix)
    return random_streams.try_sequences(runner, arguments, lambda seed: sequence(seed, arguments.unix))


if __name__ == "__main__":
    sys.exit(main())
