#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""measure_test.py: tests bench/measure with simulated samples and a simulated clock, and with commands that fail."""
import os
import random
import sys
import unittest

sys.dont_write_bytecode = True  # do not write .pyc files into the source tree
sys.path.insert(1, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "bench"))

import measure  # noqa: E402


class MadeUp:
    """Makes rows with simulated times.  Its clock is the sum of these times, in seconds."""

    def __init__(self, seed):
        self.now, self.random, self.calls = 0.0, random.Random(seed), []

    def clock(self):
        return self.now

    def side(self, name, seconds, noise):
        def take():
            took = seconds * self.random.lognormvariate(0, noise)
            self.now += took
            self.calls.append(name)
            return measure.Sample(took, took)
        return take

    def row(self, ratio, noise, name="row"):
        return measure.Row(name, {"libc": self.side("libc", 1.0, noise), "asf": self.side("asf", 1 / ratio, noise)}, "libc")

    def verdicts(self, ratios, noise, **plan):
        rows = [self.row(ratio, noise, f"row {i}") for i, ratio in enumerate(ratios)]
        measure.measure(rows, measure.Plan(**plan), clock=self.clock)
        of_run = measure.noise_of(rows)
        return [row.verdict("asf", of_run) for row in rows]


class Intervals(unittest.TestCase):
    def test_of_few_samples_is_all_of_them(self):
        self.assertEqual(measure.interval([1.2, 1.0, 1.1]), (1.1, 1.0, 1.2))

    def test_is_that_of_a_bootstrap(self):
        draw = random.Random(3)
        for n in (9, 15, 31):
            ratios = sorted(draw.gauss(1, 0.1) for _ in range(n))
            medians = sorted(sorted(draw.choices(ratios, k=n))[n // 2] for _ in range(20000))
            _, least, greatest = measure.interval(ratios)
            self.assertAlmostEqual(ratios.index(least), ratios.index(medians[500]), delta=1)
            self.assertAlmostEqual(ratios.index(greatest), ratios.index(medians[-500]), delta=1)


class Verdicts(unittest.TestCase):
    def test_equal_sides_do_not_differ(self):
        for seed, noise in enumerate((0.001, 0.005, 0.02, 0.1)):
            for verdict in MadeUp(seed).verdicts([1.0] * 50, noise, seconds=40):
                self.assertEqual(verdict.word, "no difference", f"noise {noise}: {verdict.interval}")

    def test_three_percent_are_told_above_half_a_percent_of_noise(self):
        faster, slower = MadeUp(1).verdicts([1.03, 1 / 1.03], 0.005, seconds=100)
        self.assertRegex(str(faster), r"^faster 1\.0[23] \[1\.0\d, 1\.0\d\]$")
        self.assertRegex(str(slower), r"^slower 0\.9[78] \[0\.9\d, 0\.9\d\]$")

    def test_no_difference_has_no_number(self):
        self.assertEqual(str(MadeUp(1).verdicts([0.99], 0.005, seconds=100)[0]), "no difference")

    def test_what_noise_covers_is_no_difference(self):
        self.assertEqual(measure.Verdict([1.05] * 9, [1.06] * 9).word, "no difference")
        self.assertEqual(measure.Verdict([1.05] * 9, [1.0] * 9, 1.07).word, "no difference")
        self.assertEqual(measure.Verdict([1.05] * 9, [1.0] * 9).word, "faster")

    def test_three_runs_agree(self):
        ratios = [1.0] * 60 + [1.04, 1.1, 1.5, 3, 0.95, 0.8]
        runs = [[verdict.word for verdict in MadeUp(seed).verdicts(ratios, 0.01, seconds=100)] for seed in range(3)]
        self.assertEqual(runs[0], runs[1])
        self.assertEqual(runs[1], runs[2])


class Rounds(unittest.TestCase):
    def test_stop_when_the_interval_is_narrow(self):
        made = MadeUp(1)
        row = made.row(1.5, 0.001)
        measure.measure([row], measure.Plan(narrow=0.02, seconds=1000), clock=made.clock)
        self.assertEqual(row.rounds, 6)

    def test_go_on_while_it_is_not(self):
        made = MadeUp(1)
        quiet, noisy = made.row(1.5, 0.001), made.row(1.5, 0.05)
        measure.measure([quiet, noisy], measure.Plan(narrow=0.02, seconds=1000), clock=made.clock)
        self.assertEqual(quiet.rounds, 6)
        self.assertGreater(noisy.rounds, 20)
        found = noisy.verdict("asf").interval
        self.assertLessEqual(found.greatest, 1.02 * found.least)

    def test_end_when_the_time_is_up(self):
        made = MadeUp(1)
        quick, slow = made.row(1.5, 0.5), measure.Row("slow", {"libc": made.side("libc", 30.0, 0.5)}, "libc")
        measure.measure([quick, slow], measure.Plan(narrow=0.02, seconds=60), clock=made.clock)
        self.assertGreaterEqual(quick.spent, 60)
        self.assertLess(quick.spent, 60 + 10)  # the round in progress is completed
        self.assertEqual(slow.rounds, 3)

    def test_are_as_many_as_asked(self):
        made = MadeUp(1)
        row = made.row(1.0, 0.5)
        measure.measure([row], measure.Plan(runs=4, seconds=0.1), clock=made.clock)
        self.assertEqual([len(each) for each in row.samples.values()], [4, 4, 4])

    def test_are_in_an_order_that_the_seed_decides(self):
        orders = []
        for seed in (1, 1, 2):
            made = MadeUp(seed)
            measure.measure([made.row(1.0, 0.1)], measure.Plan(runs=8, seed=seed), clock=made.clock)
            orders.append(made.calls)
        self.assertEqual(orders[0], orders[1])
        self.assertNotEqual(orders[1], orders[2])
        self.assertGreater(len({tuple(orders[0][at:at + 3]) for at in range(0, 24, 3)}), 1)


class Commands(unittest.TestCase):
    def test_have_both_times(self):
        sample = measure.run(["sleep", "0.05"])
        self.assertGreaterEqual(sample.elapsed, 0.05)
        self.assertLess(sample.cpu, sample.elapsed)

    def test_that_fail_are_named(self):
        row = measure.Row("row", {"libc": lambda: measure.run(["true"]), "asf": lambda: measure.run(["sh", "-c", "exit 3"])}, "libc")
        with self.assertRaisesRegex(measure.Failed, "sh -c 'exit 3': exit status 3"):
            measure.measure([row], measure.Plan())

    def test_that_time_themselves_are_started_once_a_round(self):
        def read(text):
            return {name: measure.Sample(float(ns), float(ns)) for name, ns in (line.split() for line in text.splitlines())}
        program = measure.Program(["printf", "libc 20\\nasf 10\\n"], read)
        row = measure.Row("row", {"libc": "libc", "asf": "asf"}, "libc", program)
        measure.measure([row], measure.Plan(seconds=10))
        self.assertEqual((row.rounds, str(row.verdict("asf"))), (6, "faster 2.00 [2.00, 2.00]"))
        failing = measure.Program(["false"], read)
        with self.assertRaisesRegex(measure.Failed, "false: exit status 1"):
            measure.measure([measure.Row("row", {"libc": "libc"}, "libc", failing)], measure.Plan())


class Head(unittest.TestCase):
    def test_says_on_what(self):
        self.assertRegex(measure.head(), r"processors .*governor .*Linux \d.*libc.*cc .*asf .*\d{4}-\d\d-\d\d, load")


if __name__ == "__main__":
    unittest.main()
