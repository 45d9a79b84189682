# SPDX-License-Identifier: MIT
"""What figure6/run found, as Markdown tables and as data for gnuplot."""
import os
import statistics

import commands

# Speedups: over which form each is counted.
SPEEDUPS = [("relinked", "plain"), ("asi", "plain"), ("preloaded", "system"), ("asi", "system"), ("asi", "uutils")]
# At least this many times the speed of the other form.
TARGETS = [("wc", "asi", "system", 15.0), ("wc -l", "asi", "system", 2.0), ("cut -f2", "asi", "system", 4.0),
           ("cut -f2", "asi", "uutils", 1.0), ("cmp", "asi", "system", 1.5)]
# Nothing may become slower than 1.03 of plain, and start-up by no more than this.
NO_SLOWER = 1 / 1.03
STARTUP_MS = 0.5


def median_times(jobs):
    """Seconds as {(title, form): (cpu, wall)}."""
    return {(job.case.title, job.form): (statistics.median(sample.cpu for sample in job.samples),
                                         statistics.median(sample.wall for sample in job.samples)) for job in jobs}


def titles(jobs):
    return list(dict.fromkeys(job.case.title for job in jobs))


def speedup(times, title, form, over):
    """How many times as fast the form is as the other, or None where one is missing."""
    if (title, form) not in times or (title, over) not in times:
        return None
    return times[title, over][0] / max(times[title, form][0], 1e-6)


def row(cells):
    print("| " + " | ".join(cells) + " |")


def head(cells):
    row(cells)
    row(["---"] + ["---:"] * (len(cells) - 1))


def print_speedups(times, names):
    head(["program"] + [f"{form} / {over}" for form, over in SPEEDUPS])
    for title in names:
        ratios = [speedup(times, title, form, over) for form, over in SPEEDUPS]
        row([title] + ["" if ratio is None else f"{ratio:.2f}" for ratio in ratios])


def print_times(jobs, names, forms):
    times = median_times(jobs)
    differing = {(job.case.title, job.form) for job in jobs if job.differs}
    head(["program"] + forms)
    for title in names:
        cells = []
        for form in forms:
            cpu, wall = times.get((title, form), (None, None))
            mark = " ≠" if (title, form) in differing else ""
            cells.append("" if cpu is None else f"{1000 * cpu:.2f} / {1000 * wall:.2f}{mark}")
        row([title] + cells)


def targets(times, names):
    """Each target that can be judged, as (words, found, least)."""
    for title, form, over, least in TARGETS:
        ratio = speedup(times, title, form, over)
        if ratio is not None:
            yield f"{title}: {form} over {over}", ratio, least
    for title in names:
        for form, over in (("preloaded", "system"), ("relinked", "plain")):
            ratio = speedup(times, title, form, over)
            if ratio is not None and title != commands.STARTUP:
                yield f"{title}: {form} over {over}", ratio, NO_SLOWER


def startup_cost(times):
    """Milliseconds of user+sys that preloading adds to a program that does nothing, or None."""
    plain, preloaded = (times.get((commands.STARTUP, form)) for form in ("system", "preloaded"))
    return 1000 * (preloaded[0] - plain[0]) if plain and preloaded else None


def met(is_met):
    return "yes" if is_met else "**no**"


def print_targets(times, names):
    """Returns how many are missed."""
    missed = 0
    head(["target", "asked", "found", "met"])
    for words, ratio, least in targets(times, names):
        missed += ratio < least
        if least != NO_SLOWER or ratio < least:
            row([words, f"at least {least:.2f}", f"{ratio:.2f}", met(ratio >= least)])
    cost = startup_cost(times)
    if cost is not None:
        missed += cost > STARTUP_MS
        row(["start-up of the preload, ms", f"at most {STARTUP_MS}", f"{cost:.2f}", met(cost <= STARTUP_MS)])
    print("\nRelinked and preloaded programs that take no longer than 1.03 of plain are not listed.")
    return missed


def file_system(directory):
    """The type of file system that a directory is on."""
    path, best = os.path.realpath(directory), ("", "?")
    with open("/proc/self/mounts", encoding="utf-8") as mounts:
        for line in mounts:
            point, kind = line.split()[1:3]
            if (path + "/").startswith(point.rstrip("/") + "/") and len(point) >= len(best[0]):
                best = (point, kind)
    return best[1]


def print_report(arguments, measured):
    """Everything as Markdown; returns how many targets were missed."""
    print("# Figure 6: eight programs as they are, relinked, and on the ASI\n")
    print(f"Input of {arguments.size} MB in the page cache, {arguments.runs} interleaved runs, medians, LC_ALL=C; "
          f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors. Output goes to /dev/null, or to a new file. "
          "A speedup *form / other* says how many times as fast the form is as the other, by user+sys; "
          f"*{commands.STARTUP}* is what starting takes.")
    missed = 0
    for directory, jobs in measured.items():
        times, names = median_times(jobs), titles(jobs)
        place = f"{directory} ({file_system(directory)})"
        print(f"\n## Speedups on {place}\n")
        print_speedups(times, names)
        print(f"\n## Targets on {place}\n")
        missed += print_targets(times, names)
        print(f"\n## Times on {place}, ms: user+sys / elapsed\n")
        print_times(jobs, names, [form for form in commands.FORMS if any(job.form == form for job in jobs)])
    if any(job.differs for jobs in measured.values() for job in jobs):
        print("\n≠: writes something else than the system's program does.")
    return missed


def gnuplot_data(measured):
    """One block a directory: title and the speedups that the figure has bars for."""
    blocks = []
    for number, jobs in enumerate(measured.values()):
        times = median_times(jobs)
        lines = []
        for title in titles(jobs):
            if title == commands.STARTUP:
                continue
            ratios = [speedup(times, title, form, over) for form, over in SPEEDUPS[:3]]
            lines.append(" ".join([f'"{title}"'] + ["NaN" if ratio is None else f"{ratio:.3f}" for ratio in ratios]))
        blocks.append(f"$data{number} << END\n" + "\n".join(lines) + "\nEND\n")
    return "".join(blocks)


def gnuplot_script(output, terminal, measured, template):
    places = [f"{directory} ({file_system(directory)})" for directory in measured]
    with open(template, encoding="utf-8") as file:
        plots = file.read()
    return (f'terminal_type = "{terminal}"\noutput_file = "{output}"\npanels = {len(places)}\n'
            f'array places[{len(places)}] = [{", ".join(f"{chr(34)}{place}{chr(34)}" for place in places)}]\n'
            f"{gnuplot_data(measured)}{plots}")
