# SPDX-License-Identifier: MIT
"""Rows of ways to do one thing, and the rounds that measure them in random order."""
import random
import statistics
import sys
import time

from .verdict import Verdict, noise_of

AGAIN = "again"  # the reference, measured again in each round: the difference of the two is noise
FEWEST = 3       # rounds at least, even if the time is over
ENOUGH = 6       # rounds for an interval: with fewer, the least and the greatest ratio bound less than 95 %


class Row:
    """A task that is measured, and its sides: the ways to do it.

    A side is a function that returns a Sample, or, with a program, a name under which the program prints its samples.
    """

    def __init__(self, name, sides, reference, program=None, by="cpu", judged=None):
        self.name, self.reference, self.program, self.by = name, reference, program, by
        self.sides = dict(sides)
        if not program:
            self.sides[AGAIN] = self.sides[reference]
        self.judged = judged or [side for side in self.sides if side not in (reference, AGAIN)]
        self.samples = {side: [] for side in self.sides}
        self.spent = 0.0  # seconds

    @classmethod
    def of(cls, name, samples, reference):
        """Returns a row of given samples."""
        row = cls(name, dict.fromkeys(samples), reference)
        row.samples = samples
        return row

    def take(self, order):
        """Calls each side's function once, in random order."""
        for side in order.sample(list(self.sides), len(self.sides)):
            self.samples[side].append(self.sides[side]())

    def values(self, side, by=None):
        return [getattr(sample, by or self.by) for sample in self.samples[side]]

    def median(self, side, by=None):
        return statistics.median(self.values(side, by))

    def ratios(self, side, over=None, by=None):
        """Returns one ratio for each round: a processor that slows down slows down all sides of a round alike."""
        pairs = zip(self.values(over or self.reference, by), self.values(side, by))
        return [there / here if there > 0 and here > 0 else 1.0 for there, here in pairs]

    def noise(self, by=None):
        """Ratios of the reference to itself in the same round, or in the next round if a round measures it only once."""
        if AGAIN in self.samples:
            return self.ratios(AGAIN, by=by)
        values = self.values(self.reference, by)
        return [one / next_one for one, next_one in zip(values, values[1:])] or [1.0]

    def verdict(self, side, noise_of_run=1.0, over=None, by=None):
        return Verdict(self.ratios(side, over, by), self.noise(by), noise_of_run)

    @property
    def rounds(self):
        return len(self.samples[self.reference])


class Plan:
    """The rule that ends the rounds of a row."""

    def __init__(self, narrow=0.02, seconds=10.0, runs=None, seed=1):
        self.narrow, self.seconds, self.runs, self.seed = narrow, seconds, runs, seed

    @staticmethod
    def add_options(parser, seconds, *names):
        """Adds the options that all reports have; `names` are further spellings of --runs."""
        parser.add_argument("--runs", *names, type=int, metavar="N", help="rounds of each row (default: as many as it takes)")
        parser.add_argument("--narrow", type=float, default=2, metavar="PERCENT",
                            help="end a row when the interval of its ratio is so narrow (default 2)")
        parser.add_argument("--seconds", type=float, default=seconds, metavar="S",
                            help=f"time for each row at most (default {seconds:g})")
        parser.add_argument("--seed", type=int, default=1, help="seed of the random order (default 1)")

    @classmethod
    def of(cls, arguments):
        return cls(arguments.narrow / 100, arguments.seconds, arguments.runs, arguments.seed)

    def is_done(self, row, noise_of_run=1.0):
        if self.runs:
            return row.rounds >= self.runs
        if row.spent >= self.seconds and row.rounds >= FEWEST:
            return True
        if row.rounds < ENOUGH:
            return False
        found = [row.verdict(side, noise_of_run) for side in row.judged]
        return all(each.clear and each.interval.greatest <= each.interval.least * (1 + self.narrow) for each in found)

    def __str__(self):
        until = f"{self.runs} rounds" if self.runs else \
            f"rounds until the interval is within {100 * self.narrow:g} % or {self.seconds:g} s a row are over"
        return f"{until}, in random order (seed {self.seed})"


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def take_round(rows, order, clock):
    """Measures one round of rows that share a program, or of rows without a program."""
    program = rows[0].program
    for part in [rows] if program else [[row] for row in order.sample(rows, len(rows))]:
        begun = clock()
        if program:
            program.take(rows)
        else:
            part[0].take(order)
        for row in part:
            row.spent += (clock() - begun) / len(part)


def measure(rows, plan, clock=time.monotonic):
    """Adds samples to the rows, round by round, until the plan ends the last row.  Returns the rows."""
    order = random.Random(plan.seed)
    left = list(rows)
    while left:
        programs = list(dict.fromkeys(row.program for row in left))
        for program in order.sample(programs, len(programs)):
            of_it = [row for row in left if row.program is program]
            progress(f"round {left[0].rounds + 1}, {len(left)} rows of {len(rows)}: {of_it[0].name}")
            take_round(of_it, order, clock)
        noise = noise_of(rows)
        left = [row for row in left if not plan.is_done(row, noise)]
    progress("")
    return rows
