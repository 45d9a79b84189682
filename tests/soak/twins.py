# SPDX-License-Identifier: MIT
"""twins.py - compares two processes of a long-running program, one plain and one preloaded, which get the same questions.

Their answers must be the same.  The memory, descriptors and mappings of the preloaded process must not grow.  Growth is
the difference between the largest samples of the last and of the second quarter.  It may exceed the plain process's
growth only by BOUNDS.
"""
import os
import re
import sys

# The accepted growth: KB of memory, number of descriptors, number of mappings. A leak of 8 bytes a question
# exceeds it after 100,000 questions.
BOUNDS = (256, 1, 2)
ENOUGH = 16  # the least number of samples for a verdict
SHOWN = 3  # the number of differing answers that are printed

HEAD = """
| program | questions | differ | KB, descriptors, mappings: plain | preloaded | flat |
| --- | --- | --- | --- | --- | --- |"""


def held(pid):
    """Returns a process's KB of memory, number of descriptors and number of mappings."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as status, open(f"/proc/{pid}/maps", "rb") as maps:
        return (int(re.search(r"^VmRSS:\s*(\d+)", status.read(), re.MULTILINE)[1]), len(os.listdir(f"/proc/{pid}/fd")),
                sum(1 for _ in maps))


def most(samples, quarter):
    """Returns the largest value of each kind in one quarter of the samples."""
    part = samples[len(samples) * quarter // 4:len(samples) * (quarter + 1) // 4]
    return [max(values) for values in zip(*part)]


def growth(second_and_last):
    return second_and_last[1] - second_and_last[0]


class Twins:
    """A plain and a preloaded process of a program.  start(number, environment) starts each; number is 0 or 1.

    A program has the attribute pid and the methods ask(question), which returns the answer, and end()."""

    def __init__(self, name, start, preload):
        self.name = name
        self.library = preload["LD_PRELOAD"].split(":")[0]
        self.programs = [start(number, environment) for number, environment in enumerate(({}, preload))]
        self.samples = [], []
        self.asked = self.differing = 0

    def ask(self, question):
        plain, preloaded = [program.ask(question) for program in self.programs]
        self.asked += 1
        if plain != preloaded:
            self.differing += 1
            if self.differing <= SHOWN:
                print(f"differs: {self.name}: {question!r}: {plain[-200:]!r} plain, {preloaded[-200:]!r} preloaded",
                      file=sys.stderr)

    def sample(self):
        for samples, program in zip(self.samples, self.programs):
            samples.append(held(program.pid))

    def end(self):
        """Ends both, and prints the row of the table.  Returns whether all answers were equal and nothing grew."""
        with open(f"/proc/{self.programs[1].pid}/maps", encoding="utf-8") as maps:
            if self.library not in maps.read():
                sys.exit(f"{self.name}: the loader did not take {self.library} into it")
        for program in self.programs:
            program.end()
        libc, ours = [list(zip(most(samples, 1), most(samples, 3))) for samples in self.samples]
        flat = len(self.samples[1]) >= ENOUGH and all(growth(mine) <= max(0, growth(libcs)) + bound
                                                      for mine, libcs, bound in zip(ours, libc, BOUNDS))
        held_by = [", ".join(f"{second} → {last}" for second, last in pairs) for pairs in (libc, ours)]
        columns = (self.name, self.asked, self.differing, *held_by, "yes" if flat else "NO")
        print("| " + " | ".join(map(str, columns)) + " |", flush=True)
        return flat and not self.differing
