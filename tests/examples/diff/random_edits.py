#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""random_edits.py - compares diff with the system's diff, on random files and random edits of these files.

Each form of the example must print the same as the system's diff, with some random options for each pair of files.
With its output, patch or ed must turn the old file into the new one.
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile

FORMS = ["plain", "relinked", "recompiled", "asi"]
OPTIONS = ["", "-u", "-c", "-e", "-U0", "-U1", "-C0", "-U1000", "-d", "-b", "-w", "-i", "-q", "-s", "-B", "-B -u", "-bB", "-wB -U1",
           "-bi -u", "-iwB -c", "-qb", "-qB"]
APPLIED = ["", "-u", "-c", "-e", "-d"]
SPACES = ["", "a", "b", " ", "  a", "a ", "A", "a  b", "a b", "ab", "\t", ".", "..", "{", "}", "}  "]


def alphabet(rng):
    """Returns the lines of which files consist: few, many, many with some frequent ones, or lines that options equate."""
    return rng.choice([["line %d" % i for i in range(rng.randint(1, 30))], list("abc"), SPACES,
                       ["line %d" % i for i in range(400)] + ["", "{", "}"] * 20,
                       ["line %d" % i for i in range(4000)] + ["", "{", "}", "return;"] * 300])


def edited(rng, lines, letters, edits):
    lines = list(lines)
    for _ in range(edits):
        at = rng.randint(0, len(lines))
        kind = rng.randrange(4)
        if kind == 0:
            lines[at:at] = rng.choices(letters, k=rng.randint(1, 4))
        elif kind == 1:
            del lines[at : at + rng.randint(1, 4)]
        elif kind == 2:
            lines[at : at + rng.randint(1, 3)] = rng.choices(letters, k=rng.randint(1, 3))
        elif lines:
            start = rng.randrange(len(lines))
            lines[at:at] = lines[start : start + rng.randint(1, 7)]
    return lines


def write(name, lines, newline):
    with open(name, "w", encoding="ascii", newline="") as file:
        file.write("\n".join(lines) + (newline if lines else ""))
    os.utime(name, (10**9, 10**9))


def run(program, options):
    done = subprocess.run([program, *options, "old", "new"], capture_output=True, check=False)
    return done.stdout, done.stderr, done.returncode


def apply(script, option):
    """Applies the script to a copy of the old file.  Returns whether the result is the new file."""
    subprocess.run(["cp", "old", "made"], check=True)
    if option == "-e":
        subprocess.run(["ed", "-s", "made"], input=script + b"w\n", stdout=subprocess.DEVNULL, check=False)
    else:
        subprocess.run(["patch", "-s", "made"], input=script, stdout=subprocess.DEVNULL, check=False)
    with open("made", "rb") as made, open("new", "rb") as new:
        return made.read() == new.read()


class Trial:
    def __init__(self, programs, rng):
        self.programs, self.rng, self.applied = programs, rng, 0

    def make_files(self):
        letters, rng = alphabet(self.rng), self.rng
        lines = rng.choices(letters, k=rng.choice([0, 1, 3, 10, 40, 150, 600]))
        newlines = ["\n", "\n", ""]
        write("old", lines, rng.choice(newlines))
        write("new", edited(rng, lines, letters, rng.choice([0, 1, 1, 2, 4, 10, 60])), rng.choice(newlines))

    def compare(self, number, option):
        expected = run("diff", option.split())
        if option == "-e" and expected[2] == 2:
            return  # an ed script cannot express a missing final newline
        for form in FORMS:
            got = run(os.path.join(self.programs, form + "-diff"), option.split())
            if got != expected:
                self.fail(f"file pair {number}: {form}-diff {option} is not the system's", expected[0], got[0])
        if option in APPLIED and expected[2] == 1 and number % 4 == 0:
            self.applied += 1
            if not apply(got[0], option):
                self.fail(f"file pair {number}: the output of diff {option} does not make the new file", got[0])

    def fail(self, what, *outputs):
        print(f"random_edits: {what}")
        for name in ("old", "new"):
            with open(name, encoding="ascii") as file:
                print(f"{name}: {file.read()!r}")
        for output in outputs:
            print(output.decode())
        sys.exit(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", metavar="DIR", required=True, help="build/release/bin/examples")
    parser.add_argument("--count", type=int, default=200, help="how many pairs of files")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    programs = os.path.abspath(arguments.programs)
    os.environ["LC_ALL"] = "C"
    with tempfile.TemporaryDirectory(prefix="asf-edits.") as work:
        os.chdir(work)
        trial = Trial(programs, rng)
        for number in range(arguments.count):
            trial.make_files()
            for option in rng.sample(OPTIONS, 3) + [rng.choice(APPLIED)]:
                trial.compare(number, option)
        os.chdir("/")
    print(f"{arguments.count} pairs of files, {trial.applied} scripts applied")
    return 0 if trial.applied else 1


if __name__ == "__main__":
    sys.exit(main())
