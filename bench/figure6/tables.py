# SPDX-License-Identifier: MIT
"""The results of figure6/run as Markdown tables."""
import collections
import math
import os

import commands
from measure import AGAIN, head as head_of_run, noise_of

# The paper's own speedups on AIX, if its text names them: (linked to ASF, on ASI).  For diff it says "less than half
# the time" and then 3.67 by an additional 40 percent; of cp "almost twice" and two and a half times.
PAPER = {"diff": (3.67 / 1.4, 3.67), "cp": (2.0, 2.5)}

# Each pair is a form, and the form that its speedup is relative to.
SPEEDUPS = [("relinked", "plain"), ("relinked-128K", "plain"), ("recompiled", "plain"), ("asi", "plain"),
            ("preloaded", "system"), ("asi", "system"), ("asi", "busybox"), ("asi", "toybox"), ("asi", "uutils")]
MEANS = SPEEDUPS[:6]
REFERENCES = ["plain", "system"]  # noise is the difference of the first of them from itself

# Targets: the least speed relative to the fastest of the other forms.
Target = collections.namedtuple("Target", "title route form others least")
RIVALS = ("system", "busybox", "uutils", "splice")
TARGETS = [
    Target("cat", "null", "asi", RIVALS, 1.0), Target("cat", "pipe", "asi", RIVALS, 1.0),
    Target("cat", "pipe", "asi", ("system",), 2.0), Target("cp", "file", "asi", ("system", "busybox"), 1.0),
    Target("cmp", "file", "asi", ("system",), 1.5), Target("wc", "file", "asi", ("system",), 15.0),
    Target("wc -l", "null", "asi", ("system",), 2.0), Target("cut -f2", "null", "asi", ("system",), 4.0),
    Target("cut -f2", "null", "asi", ("uutils",), 1.0),
    Target("diff", "file", "relinked", ("plain",), 2.0), Target("diff", "file", "asi", ("plain",), 3.67),
    Target("cp", "file", "relinked", ("plain",), 2.0), Target("cp", "file", "asi", ("plain",), 2.5),
]
# Elapsed time counts for these rows and for pipes: their threads or processes may use several processors.
TOGETHER = {"wc -l"}
MEAN_TARGETS = {("relinked", "plain"): 1.3, ("recompiled", "plain"): 1.3, ("asi", "plain"): 2.0}
# The most milliseconds that the preload may add to a program's start.
STARTUP_MS = 0.5


class Measured:
    """One directory: its jobs, their rows, timed, and the limit of each file in seconds."""

    def __init__(self, directory, jobs, rows, limits):
        self.directory, self.jobs, self.limits = directory, jobs, limits
        self.file_system = file_system(directory)
        self.rows = {row.name: row for row in rows}
        self.noise = {by: noise_of(rows, by) for by in ("cpu", "elapsed")}
        self.times = {(*row.name, form): (row.median(form, "cpu"), row.median(form, "elapsed"))
                      for row in rows for form in row.sides if form != AGAIN}
        self.start_splices()

    def start_splices(self):
        """Adds the start of the system's cat to the times of splicing, which starts no program."""
        start = self.times.get((commands.STARTUP, "null", "system"), (0, 0))
        for key in [key for key in self.times if key[2] == "splice"]:
            self.times[key] = tuple(time + more for time, more in zip(self.times[key], start))

    @property
    def place(self):
        return f"{self.directory} ({self.file_system})"

    def cases(self, route):
        return list(dict.fromkeys(job.case for job in self.jobs if job.case.route == route))

    def speedup(self, title, route, form, over, elapsed=False):
        """Returns the time of `over` divided by the time of `form`, or None if one is missing."""
        if (title, route, form) not in self.times or (title, route, over) not in self.times:
            return None
        return self.times[title, route, over][elapsed] / max(self.times[title, route, form][elapsed], 1e-6)

    def verdict(self, title, route, form, over, elapsed=False):
        """Returns the verdict on `form` against `over`, or None if one is missing."""
        row = self.rows.get((title, route))
        if not row or not {form, over} <= set(row.sides):
            return None
        by = "elapsed" if elapsed else "cpu"
        return row.verdict(form, self.noise[by], over, by)

    def is_slower(self, *of):
        """Returns whether the form is slower.  Splicing has no verdict, since its time includes an added start."""
        verdict = self.verdict(*of)
        return verdict.word == "slower" if verdict and "splice" not in of else self.speedup(*of) < 1

    def bar(self, *of):
        """Returns the speedup for the figure: 1 if there is no difference."""
        verdict = self.verdict(*of)
        return 1.0 if verdict and verdict.word == "no difference" else self.speedup(*of)

    def limit(self, case):
        """Returns the speedup over plain of one read and one copy of the input, or None."""
        plain = self.times.get((case.title, case.route, "plain"))
        copies = sum(self.limits[name] for name in self.read_by(case))
        return plain[0] / copies if plain and copies else None

    @staticmethod
    def read_by(case):
        if case.title == commands.STARTUP:
            return []
        return [case.feeds] + (["text"] if case.program in ("diff", "cmp") else [])


def file_system(directory):
    """Returns the type of a directory's file system."""
    path, best = os.path.realpath(directory), ("", "?")
    with open("/proc/self/mounts", encoding="utf-8") as mounts:
        for line in mounts:
            point, kind = line.split()[1:3]
            if (path + "/").startswith(point.rstrip("/") + "/") and len(point) >= len(best[0]):
                best = (point, kind)
    return best[1]


def row(cells):
    print("| " + " | ".join(cells) + " |")


def head(cells):
    row(cells)
    row(["---"] + ["---:"] * (len(cells) - 1))


def ratio_text(ratio):
    return "" if ratio is None else f"{ratio:.2f}"


def geometric_mean(ratios):
    ratios = [ratio for ratio in ratios if ratio]
    return math.exp(sum(math.log(ratio) for ratio in ratios) / len(ratios)) if ratios else None


def program_means(measured):
    """Returns {program: {(form, over): geometric mean over the routes and the file systems}}."""
    means = {}
    for program in commands.PROGRAMS:
        keys = [(place, case) for place in measured for route in commands.ROUTES for case in place.cases(route)
                if case.program == program and case.title not in commands.ASIDE]
        if keys:
            means[program] = {pair: geometric_mean(place.speedup(case.title, case.route, *pair) for place, case in keys)
                              for pair in MEANS}
    return means


def print_means(measured):
    """Prints the means of each program and of all programs; returns the means of all programs."""
    means = program_means(measured)
    head(["program"] + [f"{form} / {over}" for form, over in MEANS] + ["paper, linked to ASF", "paper, on ASI"])
    for program, found in means.items():
        row([program] + [ratio_text(found[pair]) for pair in MEANS] +
            [ratio_text(ratio) for ratio in PAPER.get(program, (None, None))])
    overall = {pair: geometric_mean(found[pair] for found in means.values()) for pair in MEANS}
    row(["**geometric mean**"] + [f"**{ratio_text(overall[pair])}**" for pair in MEANS] + ["", ""])
    return overall


def print_speedups(place):
    for route, words in commands.ROUTES.items():
        if not place.cases(route):
            continue
        print(f"\n### {words[0].upper() + words[1:]}\n")
        head(["program"] + [f"{form} / {over}" for form, over in SPEEDUPS] + ["limit / plain"])
        for case in place.cases(route):
            verdicts = [place.verdict(case.title, route, *pair) for pair in SPEEDUPS]
            row([case.title] + ["" if verdict is None else str(verdict) for verdict in verdicts] +
                [ratio_text(place.limit(case))])


def print_times(place, forms):
    differing = {(job.case.title, job.case.route, job.form) for job in place.jobs if job.differs}
    head(["program"] + forms)
    for route, words in commands.ROUTES.items():
        for case in place.cases(route):
            cells = []
            for form in forms:
                key = (case.title, route, form)
                cpu, wall = place.times.get(key, (None, None))
                mark = " ≠" if key in differing else ""
                cells.append("" if cpu is None else f"{1000 * cpu:.2f} / {1000 * wall:.2f}{mark}")
            row([f"{case.title}, {words}"] + cells)


def stated_targets(place):
    """Yields each target that has results, as (words, asked, found, met)."""
    for target in TARGETS:
        elapsed = target.route == "pipe" or target.title in TOGETHER
        ratios = {other: place.speedup(target.title, target.route, target.form, other, elapsed)
                  for other in target.others}
        ratios = {other: ratio for other, ratio in ratios.items() if ratio is not None}
        if ratios:
            other, ratio = min(ratios.items(), key=lambda item: item[1])
            words = commands.ROUTES[target.route] + (", elapsed" if elapsed else "")
            of = (target.title, target.route, target.form, other, elapsed)
            verdict = place.verdict(*of) if other != "splice" else None
            ratio = verdict.interval.ratio if verdict else ratio
            is_met = ratio >= target.least if target.least > 1 else not place.is_slower(*of)
            yield (f"{target.title}, {words}: {target.form} over {other}",
                   f"at least {target.least:.2f}" if target.least > 1 else "no slower", verdict or f"{ratio:.2f}", is_met)


def slower_forms(place):
    """Yields a missed target for each form that is slower and must not be."""
    for route, words in commands.ROUTES.items():
        for case in place.cases(route):
            for form, over in (("preloaded", "system"), ("relinked", "plain"), ("relinked-128K", "plain"),
                               ("recompiled", "plain")):
                verdict = place.verdict(case.title, route, form, over)
                if verdict and verdict.word == "slower" and case.title != commands.STARTUP:
                    yield f"{case.title}, {words}: {form} over {over}", "no slower", verdict, False


def startup_cost(place):
    """Returns the milliseconds of user+sys that preloading adds to an empty program, or None."""
    plain, preloaded = (place.times.get((commands.STARTUP, "null", form)) for form in ("system", "preloaded"))
    return 1000 * (preloaded[0] - plain[0]) if plain and preloaded else None


def met(is_met):
    return "yes" if is_met else "**no**"


def print_targets(place):
    """Prints the targets; returns how many are missed."""
    missed = 0
    head(["target", "asked", "found", "met"])
    for words, asked, found, is_met in [*stated_targets(place), *slower_forms(place)]:
        missed += not is_met
        row([words, asked, str(found), met(is_met)])
    cost = startup_cost(place)
    if cost is not None:
        missed += cost > STARTUP_MS
        row(["start-up of the preload, ms", f"at most {STARTUP_MS}", f"{cost:.2f}", met(cost <= STARTUP_MS)])
    print("\nRelinked and preloaded programs that are not slower than plain are not listed.")
    return missed


def print_introduction(arguments, plan):
    print(f"# Figure 6: eight programs as they are, relinked, and on the ASI\n\n{head_of_run()}\n")
    print(f"Input of {arguments.size} MB (compress and uncompress: a quarter of it) in the page cache, "
          f"{plan}; medians, LC_ALL=C. Speedups have their intervals of 95 % (bootstrap); what plain programs differ by from "
          "themselves is no difference. A speedup *form / other* says how many times as fast the form is as the other, by user+sys of "
          f"the command and of the cat at the other end of a pipe; *{commands.STARTUP}* is what starting takes. "
          "*Limit* is what one read of the input from the page cache and one copy of it in memory would take; what is not "
          "copied may be faster. *splice* is splice(2) alone and the start of the system's cat. Of the paper's own "
          "figures those stand here that its text names, on AIX.\n")


def print_report(arguments, plan, measured):
    """Prints all tables as Markdown; returns how many targets were missed."""
    print_introduction(arguments, plan)
    print("## Each program, over all routes and file systems\n")
    overall = print_means(measured)
    missed = sum(overall[pair] is not None and overall[pair] < least for pair, least in MEAN_TARGETS.items())
    asked = ", ".join(f"{form} / {over} {least}" for (form, over), least in MEAN_TARGETS.items())
    print(f"\nAsked of the geometric means: {asked}. Without {', '.join(sorted(commands.ASIDE))}.")
    for place in measured:
        print(f"\n## Speedups on {place.place}")
        print_speedups(place)
        print(f"\n## Targets on {place.place}\n")
        missed += print_targets(place)
        print(f"\n## Times on {place.place}, ms: user+sys / elapsed\n")
        there = {job.form for job in place.jobs}
        print_times(place, [form for form in commands.FORMS + ["splice"] if form in there])
    if any(job.differs for place in measured for job in place.jobs):
        print("\n≠: writes something else than the system's program does.")
    return missed
