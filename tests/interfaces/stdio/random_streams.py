#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""random_streams.py - compares random sequences of stdio calls on one file under a preloaded library with libc's.

The program stream_steps runs each sequence twice, in an empty directory: plainly and preloaded.  The results of all
calls, the flags, the offsets and the file must be the same.  If a sequence differs, the script removes the steps that the
difference does not need, and shows the others.
"""
import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile

SIZES = [0, 1, 20, 500, 4095, 4096, 4097, 8192, 10000, 70000]
COUNTS = [1, 1, 2, 7, 13, 100, 1000, 4095, 4096, 4097, 5000, 8192, 12288, 20000]
PLACES = [0, 0, 1, 5, 100, 4095, 4096, 4097, 5000, 8192, 9000, 12288, 69999, 80000]
BUFFERS = ["none", "line", "full", "full,1", "full,100", "full,128", "full,4096", "full,5000", "full,65536", "line,50",
           "line,4096"]
MODES = ["r", "r", "r", "w", "a", "r+", "r+", "r+", "w+", "a+"]
READS = ["get", "uget", "read", "read", "uread", "line"]
TEXTS = ["getline", "scan", "number", "letters", "delim=0", "delim=4"]
WRITES = ["put", "uput", "write", "write", "uwrite", "text", "print"]
LOOKS = ["tell", "tell", "offset", "offset", "contents", "size", "about", "dup", "which"]
MEMORY_LOOKS = ["tell", "tell", "held", "held", "which"]


def count(rng):
    return rng.choice(COUNTS) if rng.random() < 0.8 else rng.randrange(1, 9000)


def place(rng):
    return rng.choice(PLACES) if rng.random() < 0.7 else rng.randrange(0, 70000)


def read_step(rng):
    step = rng.choice(READS)
    if rng.random() < 0.2:
        return rng.choice(TEXTS)
    return f"{step}={max(2, count(rng)) if step == 'line' else count(rng)}"


def move_step(rng):
    kind = rng.choice(["seek", "seek", "cur", "cur", "end", "rewind", "getpos", "setpos"])
    if kind == "seek":
        return f"seek={place(rng)}"
    if kind == "cur":
        return f"cur={rng.choice([0, 0, 1, -1, 10, -10, 4096, -4096, 5000, -9000, rng.randrange(-9000, 9000)])}"
    if kind == "end":
        return f"end={rng.choice([0, 0, -1, -100, -4096, -5000, 10, -100000])}"
    return kind


def child_steps(rng, files):
    inside = " ".join(step(rng, files, depth=1) for _ in range(rng.randrange(1, 3)))
    return f"fork {inside} {rng.choice(['exit=0', '_exit=0', '_exit=0', 'close exit=0'])} child_end"


def rare_step(rng, files, depth):
    if depth == 0 and rng.random() < 0.4:
        return child_steps(rng, files)
    return rng.choice([
        f"buf={rng.choice(BUFFERS)}", "flush", "flush", "flushall", "clear", "clear", "purge", "bycaller",
        f"rawread={count(rng) % 5000 + 1}", f"rawseek={place(rng)}", f"rawwrite={count(rng) % 300}",
        f"truncate={place(rng)}", f"grow={count(rng)}", f"remode={rng.choice(MODES)}", f"reopen={rng.choice(MODES)}"])


def step(rng, files, depth=0):
    which = "2:" if files == 2 and rng.random() < 0.3 else ""
    r = rng.random()
    if r < 0.3:
        return which + read_step(rng)
    if r < 0.55:
        return f"{which}{rng.choice(WRITES)}={count(rng)}"
    if r < 0.62:
        many = f"ungets={rng.choice([1, 2, 5, 127, 129, 300])}"
        return which + rng.choice(["unget", "unget", "unget=Q", "unget=Z", many])
    if r < 0.75:
        return which + move_step(rng)
    if r < 0.88:
        return which + rng.choice(LOOKS)
    made = rare_step(rng, files, depth)
    return made if made.startswith("fork") else which + made


BLOCKS = ("read", "uread", "scan", "number", "letters", "getline", "delim")
INPUTS = BLOCKS + ("get", "uget", "line", "unget", "ungets")
OUTPUTS = ("put", "uput", "write", "uwrite", "text", "print")
BETWEEN = ("flush", "flushall", "seek", "cur", "end", "rewind", "close", "remode", "reopen")


def name_of(part):
    return part.split("=")[0].removeprefix("t:").removeprefix("2:")


def fits(rng, mode, name):
    """Returns whether a step suits the mode.  Accepts some that do not, but few, since their calls only fail."""
    if "+" in mode or (name not in ("unget", "ungets") and rng.random() < 0.05):
        return name not in ("read", "uread") or mode[0] == "r"
    return name not in (OUTPUTS if mode[0] == "r" else INPUTS)


def defined(steps):
    """Returns whether the steps avoid calls that C leaves undefined and after which glibc fails.

    glibc then loses buffered output, reads purged bytes, or ends with SIGSEGV."""
    purged = wrote = putting = pushed = child = mixed = changed = oriented = forked = astray = free = several = False
    for name in (name_of(part) for part in " ".join(steps).split()):
        if wrote and name in BLOCKS or (putting or changed) and name in ("unget", "ungets"):
            return False
        if purged and name in INPUTS or free and name in ("remode", "reopen"):
            return False
        free = free or name == "bycaller"
        if mixed and name == "about" or pushed and name in OUTPUTS + ("buf", "about", "fork"):
            return False
        if pushed and (name == "tell" and forked or name in ("cur", "flush", "flushall") and not oriented):
            return False
        if several and name in ("tell", "getpos") or several and not oriented and name in INPUTS:
            return False  # C guarantees one byte of push-back, and does not specify the offset after more
        several = name == "ungets" or (several and name not in BETWEEN)
        oriented = oriented or name in OUTPUTS or name in INPUTS and name not in ("unget", "ungets")
        forked = forked or name == "fork"
        child = name == "fork" or (child and name != "child_end")
        astray = astray or name in ("fork", "rawseek", "rawread", "rawwrite")
        between = name in BETWEEN and not child and not astray and "2:" not in "".join(steps)
        changed = changed or name in ("remode", "reopen")
        mixed = mixed or (putting and name in ("read", "uread"))
        moved = between and not name.startswith("flush")
        purged = wrote and name == "purge" or (purged and (not moved or name == "cur"))  # a seek by "cur" may fail
        wrote = name in OUTPUTS or (wrote and not between)
        putting = name in OUTPUTS or (putting and not moved)
        pushed = name in ("unget", "ungets") or (pushed and not moved)
    return True


TELLS_THE_PLACE = ("tell", "getpos", "cur", "flush", "flushall")


def room_in_memory(first):
    """Returns how many bytes of output fit into the stream that the first step opens."""
    if not first.startswith("memory="):
        return float("inf")
    mode, size = first.removeprefix("memory=").split(",")
    return 0 if mode[0] == "a" else int(size)


def same_on_musl(steps):
    """Returns whether the steps avoid what is undefined, and what stays different on musl (musl_differences.txt).

    The steps must not change between input and output without a seek, call setvbuf or set a mode after either, or push
    back more than eight bytes.  They must not ask for the offset of standard output, after push-back, or after another
    user moved the descriptor.  They must not write beyond the end of memory, or use "about", whose calls POSIX lacks."""
    turn, room = {}, room_in_memory(steps[0])
    unknown_place, pushed = steps[0] == "standard=o", False
    for part in " ".join(steps).split():
        stream, name, value = part[:2] == "2:", name_of(part), part.split("=")[-1]
        made = "in" if name in INPUTS else "out" if name in OUTPUTS else None
        if name in ("about", "remode") or name == "buf" and stream in turn or name == "ungets" and int(value) > 8:
            return False
        if name == "reopen" and any(name_of(step) in ("buf", "which") for step in steps):
            return False
        if made and turn.get(stream, made) not in (made, "moved"):
            return False
        if name in TELLS_THE_PLACE and (unknown_place or pushed):
            return False
        room -= int(value) if made == "out" else 0
        if room < 0:
            return False
        if made:
            turn[stream] = made
        elif name in ("seek", "rewind") or turn.get(stream) == "out" and name in ("flush", "flushall"):
            turn[stream] = "moved"
        pushed = name in ("unget", "ungets") or pushed and turn.get(stream) != "moved"
        unknown_place = unknown_place or name in ("fork", "rawseek", "rawread", "rawwrite")
    return True


def memory_step(rng):
    r = rng.random()
    if r < 0.3:
        return read_step(rng)
    if r < 0.6:
        return f"{rng.choice(WRITES)}={count(rng)}"
    if r < 0.65:
        return rng.choice(["unget", "unget=Q"])
    if r < 0.8:
        return move_step(rng)
    if r < 0.9:
        return rng.choice(MEMORY_LOOKS)
    return rng.choice([f"buf={rng.choice(BUFFERS)}", "flush", "flush", "flushall", "clear"])


def bears(steps, made, size):
    """Returns whether glibc handles the step `made` correctly on a stream in memory; size None: a stream that grows.

    A stream that grows allows only output, keeps its buffer, and may lose data if a seek makes it grow.  After a seek
    beyond the end of memory, the buffer does not contain the bytes between its pointers."""
    name, _, value = made.partition("=")
    if size is None:
        return name not in INPUTS and name != "buf" and not (name in ("cur", "seek") and int(value) > 0)
    if name in ("unget", "ungets"):
        return not any(name_of(part) in OUTPUTS for part in steps)
    before = {name_of(part) for part in steps}
    mixed = before.intersection(INPUTS) and before.intersection(OUTPUTS)  # glibc computes a wrong offset
    if mixed and name in ("cur", "tell", "getpos"):
        return False
    return not (name in ("cur", "end") and int(value) > 0 or name == "seek" and int(value) > size)


def memory_sequence(rng):
    """Returns a sequence, as sequence() does, on a stream in memory."""
    mode, size = rng.choice(MODES), rng.choice([1, 20, 500, 4096, 5000, 10000])
    first = f"memory={mode},{size}"
    if rng.random() < 0.3:
        mode, size, first = "w", None, "growing"
    steps = [first]
    wanted = rng.randrange(2, 12)
    while len(steps) < wanted:
        made = memory_step(rng)
        if fits(rng, mode, made.split("=")[0]) and defined(steps + [made]) and bears(steps, made, size):
            steps.append(made)
    return 0, mode, steps + ["close", "held"]


def sequence(seed):
    """Returns the file's initial size, the mode for open_outside(), and the steps."""
    rng = random.Random(seed)
    if rng.random() < 0.08:
        return memory_sequence(rng)
    threads = rng.random() < 0.15
    mode = rng.choice(MODES)
    how = rng.choice(["open", "open", "fdopen", "standard"])
    files = 2 if rng.random() < 0.1 else 1
    if how == "standard":
        mode = mode.replace("r+", "r").rstrip("+")
    first = f"standard={'i' if mode == 'r' else 'o'}" if how == "standard" else f"{how}={mode}"
    second = rng.choice(MODES)
    steps = [first] + ([f"2:open={second}"] if files == 2 else [])
    if threads:
        steps.append("thread")
    if rng.random() < 0.15:
        steps.append(f"buf={rng.choice(BUFFERS)}")
    wanted = rng.randrange(2, 14)
    while len(steps) < wanted + 2:
        made = step(rng, files)
        names = [name_of(part) for part in made.split()]
        used = second if made.startswith("2:") else mode
        if not all(fits(rng, used, name) for name in names) or not defined(steps + [made]):
            continue
        steps.append("t:" + made if threads and len(names) == 1 and rng.random() < 0.3 else made)
        look = rng.choice(LOOKS)
        if rng.random() < 0.3 and defined(steps + [look]):
            steps.append(look)
    steps.append(rng.choice(["close", "exit=0", "_exit=3", ""]))
    steps.append("contents")
    return rng.choice(SIZES), mode, steps


BULK_LOOKS = ["tell", "offset", "dup", "size", "fork offset _exit=0 child_end", "fork {move}=1 exit=0 child_end",
              "fork {move}=5000 exit=0 child_end", "flush", "flushall"]


def bulk_step(rng, mode):
    move = "get" if mode == "r" else "put"
    r = rng.random()
    if r < 0.35:
        return f"{move}={rng.randrange(270000, 500000)}"
    if r < 0.6:
        return f"{rng.choice(READS if mode == 'r' else WRITES)}={max(2, count(rng))}"
    if r < 0.67 and mode == "r":
        return rng.choice(["unget", "unget=Q", "getline", "number", "scan"])
    if r < 0.72:
        return rng.choice(["seek=", "cur=-"]) + str(place(rng))
    return rng.choice(BULK_LOOKS).format(move=move)


def bulk_sequence(seed):
    """Returns a sequence, as sequence() does, in which a stream transfers so much that it becomes a bulk stream.

    No step examines the file itself, and only children end with unwritten output."""
    rng = random.Random(seed)
    mode = rng.choice("rw")
    how = rng.choice(["open", "open", "fdopen", "standard"])
    steps = [f"standard={'i' if mode == 'r' else 'o'}" if how == "standard" else f"{how}={mode}"]
    wanted = rng.randrange(3, 14)
    while len(steps) < wanted:
        made = bulk_step(rng, mode)
        if defined(steps + [made]):
            steps.append(made)
    return 2500000, mode, steps + [rng.choice(["close contents", "exit=0"])]


def open_outside(mode):
    """Opens the file for stdin or stdout of stream_steps; returns the descriptor."""
    create = 0 if mode[0] == "r" else os.O_CREAT
    access = os.O_RDWR if "+" in mode else os.O_RDONLY if mode[0] == "r" else os.O_WRONLY
    return os.open("data", create | access | {"w": os.O_TRUNC, "a": os.O_APPEND}.get(mode[0], 0), 0o644)


class Runner:
    def __init__(self, program, environment, libc="glibc"):
        self.program = os.path.abspath(program)
        self.fair = defined if libc == "glibc" else lambda steps: defined(steps) and same_on_musl(steps)
        self.preloaded = environment

    def seeds(self, arguments, made=sequence):
        """Returns the seeds whose sequences can be compared with libc."""
        return [seed for seed in range(arguments.seed, arguments.seed + arguments.count) if self.fair(made(seed)[2])]

    def run(self, size, mode, steps, environment):
        folder = tempfile.mkdtemp(prefix="streams.")
        os.chdir(folder)
        with open("data", "wb") as data:
            data.write(b"".join(b"line %06d\n" % i for i in range(size // 12 + 1))[:size])
        standard = open_outside(mode) if steps and steps[0].startswith("standard") else os.open("/dev/null", os.O_RDWR)
        status = self.status_of([self.program, "../" + os.path.basename(folder) + "/transcript", "all_steps"],
                                {"STEPS": " ".join(steps), "LC_ALL": "C", **environment}, standard)
        left = os.lseek(standard, 0, os.SEEK_CUR)
        os.close(standard)
        with open("transcript", "rb") as text:
            lines = text.read().decode("latin-1").splitlines()
        unknown = [line for line in lines if line.startswith("there is no step")]
        if unknown:
            sys.exit(f"{self.program}: {unknown[0]}")
        with open("data", "rb") as data:
            contents = data.read()
        os.chdir("/")
        shutil.rmtree(folder)
        return lines, status, left if steps and steps[0].startswith("standard") else None, contents

    @staticmethod
    def status_of(command, environment, standard):
        try:
            return subprocess.run(command, env=environment, stdin=standard, stdout=standard,
                                  stderr=subprocess.DEVNULL, check=False, timeout=60).returncode
        except subprocess.TimeoutExpired:
            return "hangs"

    def differs(self, size, mode, steps):
        return self.run(size, mode, steps, {}) != self.run(size, mode, steps, self.preloaded)

    def shorten(self, size, mode, steps):
        """Removes the steps that the difference does not need, the last ones first.  Returns the size and the steps."""
        shorter = True
        while shorter:
            shorter = False
            for i in reversed(range(1, len(steps))):
                fewer = steps[:i] + steps[i + 1:]
                if self.fair(fewer) and self.differs(size, mode, fewer):
                    steps, shorter = fewer, True
            if size != 0 and self.differs(size and 0, mode, steps):
                size, shorter = 0, True
        return size, steps

    def show(self, size, mode, steps):
        plain = self.run(size, mode, steps, {})
        tested = self.run(size, mode, steps, self.preloaded)
        for number, (a, b) in enumerate(zip(plain[0] + ["(end)"], tested[0] + ["(end)"])):
            if a != b:
                for line in plain[0][max(0, number - 6):number]:
                    print("      ", line)
                print("  libc:", a)
                print("   asf:", b)
                return
        for what, a, b in zip(("exit status", "offset left behind", "file left behind"), plain[1:], tested[1:]):
            if a != b:
                print(f"  {what}: libc {a if not isinstance(a, bytes) else len(a)},"
                      f" asf {b if not isinstance(b, bytes) else len(b)}")


def parsed(text):
    """Parses a sequence in the format of --steps."""
    size, mode, steps = text.split(",", 2)
    return int(size), mode, steps.split()


def try_kept(runner, path):
    """Runs the sequences that the file `path` contains.  Returns how many differ."""
    different = 0
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.strip() and not line.startswith("#") and runner.differs(*parsed(line.strip())):
                different += 1
                print(f"{path}: {line.strip()}")
                runner.show(*parsed(line.strip()))
    return different


def argument_parser(description):
    """Returns a parser for the options that all programs for random sequences have."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the program stream_steps")
    parser.add_argument("--preload", metavar="LIB", required=True)
    parser.add_argument("--options", metavar="TEXT", help="ASF_OPTIONS for the preloaded runs")
    parser.add_argument("--environment", metavar="NAME=VALUE", action="append", default=[],
                        help="set for the preloaded runs")
    parser.add_argument("--count", type=int, default=500, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="the first one")
    parser.add_argument("--shown", type=int, default=5, metavar="N", help="stop after so many differences")
    parser.add_argument("--steps", metavar="SIZE,MODE,STEPS", help="this sequence alone")
    parser.add_argument("--libc", choices=["glibc", "musl"], default="glibc", help="whose ways are left out")
    return parser


def environment_of(arguments):
    """Returns the variables for the preloaded runs.  Paths are absolute, since each run has another working directory."""
    environment = {"LD_PRELOAD": ":".join(os.path.abspath(path) for path in arguments.preload.split(":")),
                   **dict(setting.split("=", 1) for setting in arguments.environment)}
    if arguments.options:
        environment["ASF_OPTIONS"] = arguments.options
    return environment


def try_sequences(runner, arguments, made, different=0):
    """Runs all sequences, or the one of --steps.  Returns whether any differs."""
    if arguments.steps:
        runner.show(*parsed(arguments.steps))
        return runner.differs(*parsed(arguments.steps))
    tried = 0
    for tried, seed in enumerate(runner.seeds(arguments, made), 1):
        size, mode, steps = made(seed)
        if runner.differs(size, mode, steps):
            different += 1
            size, steps = runner.shorten(size, mode, steps)
            print(f"seed {seed}: --steps '{size},{mode},{' '.join(steps)}'")
            runner.show(size, mode, steps)
            sys.stdout.flush()
            if different == arguments.shown:
                break
    print(f"{tried} sequences, {different} differ")
    return different > 0


def main():
    parser = argument_parser(__doc__)
    parser.add_argument("--bulk", action="store_true", help="sequences on megabytes")
    parser.add_argument("--kept", metavar="FILE", help="first, the sequences in FILE, one a line as --steps has them")
    arguments = parser.parse_args()
    runner = Runner(arguments.program, environment_of(arguments), arguments.libc)
    different = try_kept(runner, arguments.kept) if arguments.kept and not arguments.steps else 0
    return try_sequences(runner, arguments, bulk_sequence if arguments.bulk else sequence, different)


if __name__ == "__main__":
    sys.exit(main())
