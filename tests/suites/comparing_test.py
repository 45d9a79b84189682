#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""comparing_test.py - checks that comparing.py reports the tests that a preload changes, and no others.

A suite in this file has a test for each kind of result.  The preloaded library has deliberate defects."""
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import comparing
import fetching
import harness

WRONG = """
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void start(void) {
    const char *what = getenv("WRONG");
    if (what && *what == 'e')
        _exit(3);
    if (what && *what == 's')
        __builtin_trap();
    if (what && *what == 'o')
        (void)!write(1, "more\\n", 5);
    if (what && *what == 'h')
        sleep(60);
}
"""
TESTS = {"same": "echo text", "exit": "WRONG=e /bin/true", "signal": "WRONG=s /bin/true", "output": "WRONG=o /bin/true",
         "hang": "WRONG=h /bin/true", "failing": "exit 4", "skipped": "exit 77", "random": "date +%N"}
EXPECTED = {"exit": ("PASS", "FAIL 3"), "signal": ("PASS", "FAIL 132"), "hang": ("PASS", "TIMEOUT"),
            "output (output)": None, "signal (output)": None}


class Own(harness.Programs):
    seconds = 3

    def tests(self, quick):
        return list(TESTS)

    def command(self, name, scratch):
        return ["sh", "-c", TESTS[name]], None, None


def check(whether, text):
    print("ok  " if whether else "FAIL", text)
    return whether


def check_results(folder):
    library = os.path.join(folder, "libwrong.so")
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", library, "-x", "c", "-"],
                   input=WRONG.encode(), check=True)
    suite = Own("own", folder, 2)
    plain, preloaded, found = comparing.compare(suite, {"LD_PRELOAD": library}, True, True)
    good = check(comparing.count(plain) == (6, 1, 1), f"counts of the plain run: {comparing.count(plain)}")
    good &= check(comparing.count(preloaded) == (3, 4, 1), f"counts of the preloaded run: {comparing.count(preloaded)}")
    for name, words in EXPECTED.items():
        seen = (found[name][0][0], found[name][1][0]) if name in found else None
        good &= check(bool(seen) and words in (None, seen), f"{name}: {seen}")
    others = set(found) - set(EXPECTED)
    good &= check(not others, f"nothing else differs: {sorted(others)}")
    _, _, found = comparing.compare(suite, {}, True, False)
    return good & check(not found, "a library without a defect passes")


def check_repeats():
    flaky = comparing.differences([{"t": "PASS"}, {"t": "FAIL 1"}], [{"t": "FAIL 1"}, {"t": "PASS"}])
    missing = comparing.differences([{"t": "PASS"}], [{}])
    return check(not flaky, "a result that a plain run gave does not count") & \
        check(missing == {"t": (["PASS"], ["NONE"])}, "a test without a result counts")


def check_sources(folder):
    etc = os.path.join(folder, "etc")
    os.makedirs(os.path.join(etc, "sources.list.d"))
    with open(os.path.join(etc, "sources.list"), "w", encoding="utf-8") as file:
        file.write("# none\ndeb http://127.0.0.1:9/debian suite main\ndeb-src http://127.0.0.1:9/debian suite main\n")
    with open(os.path.join(etc, "sources.list.d", "more.sources"), "w", encoding="utf-8") as file:
        file.write("Types: deb\nURIs: http://127.0.0.1:9/debian\nSuites: suite\nComponents: main\n")
    sources = fetching.Sources(os.path.join(folder, "apt"), etc)
    try:
        sources.prepare()
        offline = False
    except fetching.Offline:
        offline = True
    with open(os.path.join(sources.parts, "sources.list"), encoding="utf-8") as file:
        lines = file.read()
    with open(os.path.join(sources.parts, "more.sources"), encoding="utf-8") as file:
        types = file.readline()
    return check(offline, "sources that cannot be reached are told") & \
        check(lines == "deb-src http://127.0.0.1:9/debian suite main\n", "a line of sources.list") & \
        check(types == "Types: deb-src\n", "an entry of a .sources file")


def main():
    with tempfile.TemporaryDirectory(prefix="asf-suites.") as folder:
        good = check_results(folder)
        good &= check_repeats()
        good &= check_sources(folder)
    return 0 if good else 1


sys.exit(main())
