# SPDX-License-Identifier: MIT
"""The interval of a ratio, and the verdict on it."""
import collections
import functools
import math
import statistics

# The addresses of code and data alone change a program's time by up to this factor; figlet's by more (bench/README.md).
LEAST_DIFFERENCE = 1.02

Interval = collections.namedtuple("Interval", "ratio least greatest")


@functools.lru_cache(maxsize=None)
def lower_rank(n):
    """The index of the interval's lower end among n sorted samples.

    The bootstrap draws n of the samples again and again, and takes the median of each draw.  That median is at most the
    k-th smallest sample if at least half of the draw is; a binomial sum gives the probability.  So the result is
    the limit of many draws, without random numbers: equal samples have equal intervals.
    """
    for k in range(1, n):
        share = k / n
        reached = sum(math.comb(n, i) * share**i * (1 - share) ** (n - i) for i in range((n + 1) // 2, n + 1))
        if reached > 0.025:
            return k - 1
    return 0


def interval(ratios):
    """Returns the median, and its bootstrap interval of 95 %."""
    ordered = sorted(ratios)
    low = lower_rank(len(ordered))
    return Interval(statistics.median(ordered), ordered[low], ordered[-1 - low])


def spread(found):
    """Returns the largest factor between 1 and a value of the interval."""
    return max(found.greatest, 1 / found.least)


def noise_of(rows, by=None):
    """The noise of a run: in 95 of 100 rows the reference differs from itself by this factor or less."""
    medians = [statistics.median(row.noise(by)) for row in rows]
    factors = sorted(max(found, 1 / found) for found in medians)
    return factors[int(0.95 * (len(factors) - 1))] if factors else 1.0


class Verdict:
    """The verdict on a ratio.

    It is "faster" or "slower" only if the whole interval is beyond the noise of this row and the noise of the run.
    """

    def __init__(self, ratios, noise, noise_of_run=1.0):
        self.interval = interval(ratios)
        self.band = max(LEAST_DIFFERENCE, noise_of_run, spread(interval(noise)))

    @property
    def word(self):
        if self.interval.least > self.band:
            return "faster"
        return "slower" if self.interval.greatest < 1 / self.band else "no difference"

    @property
    def clear(self):
        """Returns whether the interval contains no limit of the noise: then more samples would hardly change the verdict."""
        return not any(self.interval.least <= end <= self.interval.greatest for end in (self.band, 1 / self.band))

    def __str__(self):
        """Returns the verdict as text.  "no difference" has no number, since a reader would take noise for a result."""
        if self.word == "no difference":
            return self.word
        return f"{self.word} {self.interval.ratio:.2f} [{self.interval.least:.2f}, {self.interval.greatest:.2f}]"

    @property
    def short(self):
        return self.word if self.word == "no difference" else f"{self.interval.ratio:.2f}"
