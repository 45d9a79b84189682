# SPDX-License-Identifier: MIT
"""The results of figure6/run as a script for gnuplot: a panel for each route on each file system."""
import commands
import tables

# The columns of a panel's data after the x coordinate and the title: speedups over plain.
BARS = [("relinked", "plain"), ("relinked-128K", "plain"), ("recompiled", "plain"), ("asi", "plain"), ("preloaded", "system")]
MARKS = ["system", "busybox", "toybox", "uutils"]


def number(ratio):
    return "?" if ratio is None else f"{ratio:.4f}"


def block(name, place, route):
    """The data of one panel."""
    lines = []
    for x, case in enumerate(case for case in place.cases(route) if case.title not in commands.ASIDE):
        ratios = [place.bar(case.title, route, *pair) for pair in BARS]
        ratios += [place.bar(case.title, route, form, "plain") for form in MARKS]
        ratios.append(place.limit(case))
        # All measurements of the paper are from file to file.
        ratios += tables.PAPER.get(case.program, (None, None)) if route == "file" else (None, None)
        lines.append(" ".join([str(x), f'"{case.title}"'] + [number(ratio) for ratio in ratios]))
    return f"${name} << END\n" + "\n".join(lines) + "\nEND\n"


def script(output, terminal, measured, template):
    panels = [(place, route) for route in commands.ROUTES for place in measured if place.cases(route)]
    titles = [f"{commands.ROUTES[route]} on {place.file_system}" for place, route in panels]
    quoted = ", ".join(f'"{title}"' for title in titles)
    with open(template, encoding="utf-8") as file:
        plots = file.read()
    return (f'terminal_type = "{terminal}"\noutput_file = "{output}"\n'
            f"panels = {len(panels)}\ncolumns = {len(measured)}\n"
            f"array titles[{len(panels)}] = [{quoted}]\n"
            + "".join(block(f"data{i + 1}", place, route) for i, (place, route) in enumerate(panels)) + plots)
