# SPDX-License-Identifier: MIT
"""The machine and the build on which the measurements depend."""
import datetime
import os
import platform
import re
import subprocess

TREE = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))


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


def flags_of(build):
    """The flags for C of a build, from CMake's cache."""
    cache = os.path.join(build, "CMakeCache.txt")
    kind = first_match(cache, r"^CMAKE_BUILD_TYPE:\w+=(.+)$", "")
    flags = [first_match(cache, rf"^CMAKE_C_FLAGS{name}:\w+=(.+)$", "") for name in ("", "_" + kind.upper())]
    return " ".join(filter(None, flags)) or "unknown"


def about(build=os.path.join(TREE, "build", "release")):
    return {
        "processor": first_match("/proc/cpuinfo", r"^model name\s*: (.*)$", platform.machine()),
        "processors": os.cpu_count(),
        "governor": first_match("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", r"(.*)", "not told"),
        "kernel": platform.release(),
        "libc": " ".join(platform.libc_ver()),
        "system": first_match("/etc/os-release", r'^PRETTY_NAME="(.*)"$', platform.system()),
        "compiler": output_of("cc", "-dumpfullversion"),
        "flags": flags_of(build),
        "commit": output_of("git", "describe", "--always", "--dirty"),
        "date": datetime.date.today().isoformat(),
        "load": round(os.getloadavg()[0], 1),
    }


def head(facts=None):
    """Returns the facts as a line of Markdown."""
    return ("*{processors} processors ({processor}), governor {governor}; Linux {kernel}, {libc}, {system}; cc {compiler} "
            "{flags}; asf {commit}; {date}, load {load}*").format(**{"flags": "", **(facts or about())})
