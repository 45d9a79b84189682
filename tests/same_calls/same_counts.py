#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""same_counts.py - compares the number of system calls of stock programs, plainly and under a preloaded library.

Runs the programs of bench/programs with inputs of at most 1 MB: plainly, preloaded, and under stdbuf -i128K -o128K.  A
preloaded program may make START calls more than a plain one, since loading a library takes some.  If stdbuf saves more
than half of the calls, the limit is the number under stdbuf plus START and BEFORE_BULK.  Two streams need BEFORE_BULK
calls until they become bulk streams.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "..", "bench", "programs"))

import program_inputs
import program_list

STDBUF = {"LD_PRELOAD": "/usr/libexec/coreutils/libstdbuf.so", "_STDBUF_I": "131072", "_STDBUF_O": "131072"}
PATH = "/usr/bin:/bin:/usr/sbin:/sbin:/usr/games"
MEGABYTES = 1
START = 20  # calls to load and to start the library
BEFORE_BULK = 2 * 66
TRIES = 4  # more than one, since a stream becomes a bulk stream only if it transfers data fast

# Programs that make very many calls without asf, so that strace takes long: a call for each line or file, or
# for each 16 bytes of wide characters.
MANY = {"bash printf", "bc", "c++filt", "dash printf", "find -printf", "readelf -sW"}
# recode is so slow under strace that its streams do not become bulk streams.
SLOW = {"recode"}
LEFT_OUT = MANY | SLOW | {program.title for program in program_list.wide()}


class SmallMaker(program_inputs.Maker):
    """Makes input files of at most MEGABYTES."""

    def get(self, name):
        kind, megabytes = name.rsplit("-", 1)
        return super().get(f"{kind}-{min(float(megabytes), MEGABYTES):g}")


def calls_in(log):
    with open(log, encoding="ascii") as lines:
        rows = [line.split() for line in lines]
    return sum(int(row[0]) for row in rows if len(row) == 2 and row[0].isdigit() and row[1] != "total")


def count(program, maker, settings):
    log, output = (os.path.join(maker.directory, name) for name in ("log", "output"))
    environment = {"PATH": PATH, "LC_ALL": program.locale, "TERM": "xterm", "HOME": maker.directory, **settings}
    variables = [word for name, value in environment.items() for word in ("-E", f"{name}={value}")]
    with open(program_inputs.stdin_of(program, maker), "rb") as source, open(output, "wb") as target:
        subprocess.run(["strace", "-f", "-qq", "-c", "-U", "calls,name", "-o", log, *variables, "--",
                        *program_inputs.command_of(program, maker)],
                       stdin=source, stdout=target, stderr=subprocess.DEVNULL, cwd=maker.directory, check=False)
    return calls_in(log)


def most(plain, buffered):
    """Returns how many calls the preloaded program may make."""
    return START + (buffered + BEFORE_BULK if buffered < plain / 2 else plain)


def try_program(program, maker, settings):
    """Returns the counts: plain, under stdbuf and preloaded; and whether the last one is small enough."""
    plain, buffered = count(program, maker, {}), count(program, maker, STDBUF)
    for _ in range(TRIES):
        ours = count(program, maker, settings)
        if 0 < ours <= most(plain, buffered):
            return plain, buffered, ours, True
    return plain, buffered, ours, False


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preload", metavar="LIB", required=True)
    parser.add_argument("--filter", metavar="REGEX", default="", help="only programs whose title matches")
    parser.add_argument("--table", action="store_true", help="print the counts of all programs")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    if not shutil.which("strace") or not os.path.exists(STDBUF["LD_PRELOAD"]):
        print("skipped: strace or libstdbuf.so is not installed")
        return 77
    settings = {"LD_PRELOAD": os.path.abspath(arguments.preload)}
    counted, more, absent = 0, 0, []
    with tempfile.TemporaryDirectory(prefix="asf-counts.") as folder:
        maker = SmallMaker(folder)
        for program in program_list.PROGRAMS:
            if program.title in LEFT_OUT or not re.search(arguments.filter, program.title):
                continue
            if not shutil.which(program_inputs.name_of(program), path=PATH):
                absent.append(program.title)
                continue
            plain, buffered, ours, right = try_program(program, maker, settings)
            counted, more = counted + 1, more + (not right)
            if arguments.table or not right:
                print(f"{program.title:20} plain {plain:6} stdbuf {buffered:6} preloaded {ours:6}{'' if right else ' too many'}",
                      flush=True)
    print(f"{counted} programs, {more} make too many calls; not installed: {', '.join(absent) or 'none'}")
    return 1 if more else 0


if __name__ == "__main__":
    sys.exit(main())
