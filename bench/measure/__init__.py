# SPDX-License-Identifier: MIT
"""measure: what the reports say of the machine, and how sure a ratio is."""
import datetime
import os
import platform
import random
import re
import statistics
import subprocess

TREE = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
RESAMPLES = 1000


def first_match(path, pattern, otherwise):
    try:
        with open(path, encoding="utf-8") as file:
            found = re.search(pattern, file.read(), re.MULTILINE)
    except OSError:
        found = None
    return found[1] if found else otherwise


def output_of(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=TREE).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def about():
    """What a figure depends on besides the code."""
    return {
        "processor": first_match("/proc/cpuinfo", r"^model name\s*: (.*)$", platform.machine()),
        "processors": os.cpu_count(),
        "governor": first_match("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", r"(.*)", "not told"),
        "kernel": platform.release(),
        "libc": " ".join(platform.libc_ver()),
        "system": first_match("/etc/os-release", r'^PRETTY_NAME="(.*)"$', platform.system()),
        "compiler": output_of("cc", "-dumpfullversion"),
        "commit": output_of("git", "describe", "--always", "--dirty"),
        "date": datetime.date.today().isoformat(),
        "load": round(os.getloadavg()[0], 1),
    }


def interval(ratios):
    """The median, and between what it lies in 95 of 100 samples that are drawn from these (bootstrap)."""
    draw = random.Random(len(ratios))  # the same report from the same samples
    medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES))
    return statistics.median(ratios), medians[RESAMPLES * 25 // 1000], medians[RESAMPLES * 975 // 1000 - 1]
