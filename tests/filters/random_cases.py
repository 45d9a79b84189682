# SPDX-License-Identifier: MIT
"""random_cases.py - makes command lines with random steps for the probe program steps.c.

The same seed gives the same commands.  Short commands come first, so that the first failure is the easiest to examine.
"""
import random

from corpus import Case

SIZES = [1, 10, 100, 1000, 4095, 4096, 4097, 5000, 8191, 8192, 8193, 12288, 16384, 65536, 100000]
HOWS = ["putc", "unlocked", "fwrite:7", "fwrite:613", "fwrite:4096", "fwrite:5000", "fwrite:20000", "fputs:13",
        "fputs:4096", "printf:64", "printf:4096", "printf:5000", "puts:64", "puts:5000", "mix"]
WRITES = ["out"] * 6 + ["raw", "err"]
LOOKS = ["size", "offset=1", "flush", "err=7", "rawerr=3", "pending", "tell=out", "'system=echo child'", "spawn=true",
         "'vfork=echo child'", "fork exit=0 end", "fork out=putc,5 exit=0 end", "fork raw=5 _exit=0 end", "fsync",
         "'popen=echo child'", "thread", "file=other,10",
         "flush setvbuf=none"]  # C leaves any other change of the buffer after output undefined
READS = ["line", "line=30", "line=400", "fread=10", "fread=4096", "fread=5000", "fread=100000", "getc=1", "getc=5000",
         "scan", "getline", "getc=3 ungetc=Q", "seekin=5", "seekin=4096", "seekin=70001", "seekin=-50", "rest clear"]
INPUT_LOOKS = ["offset=0", "tell", "'system=head -n 1'", "'system=head -c 5000 | tail -c 5'", "'vfork=head -n 1'",
               "spawn=true", "'popen=head -c 7'", "fork line _exit=0 end", "fork fread=5000 exit=0 end",
               "fork exit=0 end", "read=10", "flush=stdin", "flush=all", "out=puts:64,200"]
ENDS = ["exit=0", "_exit=3", "quick_exit=3", "abort", "kill=KILL", "kill=TERM", "'exec=head -n 2'",
        "fclose=stdout", "close=1"]
PREFIXES = [""] * 6 + ["stdbuf -oL ", "stdbuf -o0 ", "stdbuf -o64K ", "stdbuf -o200 ", "stdbuf -i0 "]


def output_step(rng):
    write = rng.choice(WRITES)
    size = rng.choice(SIZES)
    return f"out={rng.choice(HOWS)},{size}" if write == "out" else f"{write}={size % 5000}"


def output_command(rng, length):
    steps = []
    for _ in range(length):
        steps.append(output_step(rng))
        if rng.random() < 0.4:
            steps.append(rng.choice(LOOKS))
    return f"{rng.choice(PREFIXES)}steps {' '.join(steps)} {rng.choice(ENDS)}; echo $?\ncat steps.log"


def input_command(rng, length):
    steps = []
    for _ in range(length):
        steps.append(rng.choice(READS))
        if rng.random() < 0.6:
            steps.append(rng.choice(INPUT_LOOKS))
    skip = rng.choice(["", "", "dd bs=777 count=1 of=/dev/null status=none; "])
    # Only the first file is large enough to be mapped.
    file = rng.choice(["part.log", "page4097", "small.txt"])
    source = rng.choice([f"<{file}", f"<{file}", f"<{file}", f"0<>{file}"])
    return (f"({skip}{rng.choice(PREFIXES)}steps {' '.join(steps)} {rng.choice(ENDS)}; head -n 1; wc -c) {source}\n"
            "cat steps.log")


def random_cases(count, seed):
    rng = random.Random(seed)
    cases = []
    for number in range(count):
        make = output_command if number % 2 else input_command
        outputs = [rng.choice(["file", "pipe", "log", "log", "logpipe", "append"])]
        command = make(rng, 1 + 4 * number // count)
        cases.append(Case(f"random-{seed}-{number}", f"seed {seed}", command, outputs=outputs))
    return cases
