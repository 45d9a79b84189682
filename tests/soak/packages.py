#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""packages.py - configures, builds and tests Debian's source packages, plainly and under the preload.

In the preloaded run, the shells, make, compiler, assembler, linker and the built programs all use the library.  The files
of the built tree must be the same, byte for byte, and the tests' results, too.  If any differ, the script repeats the
plain build, and ignores files in which the two plain builds differ.
"""
import argparse
import dataclasses
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # do not write .pyc files into the source tree
TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(TESTS, "suites"), os.path.join(TESTS, "filters")]

import compare_filters
import comparing
import coreutils_suite
import fetching
import harness

HEAD = """
| package | lines of C | files built | differ | tests | passed | preloaded | differ | seconds | preloaded |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"""
MAKE = f"make -s -j{os.cpu_count()} "


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


def of_automake(output):
    """Returns automake's results.  Removes the extensions of the tests' names: after a failure the harness lists the tests
    that did not pass again, without extensions."""
    lines = re.findall(r"^([A-Z]+): (\S+)$", output, re.MULTILINE)
    found = {os.path.splitext(name)[0]: result for result, name in lines}
    return {name: result for name, result in found.items() if name + ".sh" not in coreutils_suite.LEFT_OUT}


def of_bash(output):
    """Returns bash's results.  A test prints its name, and after it only what is wrong or unusual."""
    words = re.split(r"^(run-\S+)\n", re.sub(r"\(\d+\)", "(process)", output), flags=re.MULTILINE)[1:]
    return {name: "PASS" for name in words[::2]} | \
        {name + harness.OUTPUT: digest(text.encode()) for name, text in zip(words[::2], words[1::2])}


def of_git(output):
    """Returns git's results, from lines that contain a file's name and one of its counts."""
    words = {"success": "PASS", "fixed": "PASS", "broken": "XFAIL", "failed": "FAIL"}
    counts = re.findall(r"([^/\s]+)\.counts:(success|fixed|broken|failed) *(\d+)", output)
    return {f"{name} {kind} {test}": words[kind] for name, kind, number in counts for test in range(int(number))}


def of_tap(output):
    lines = re.findall(r"^(not )?ok (\d.*)$", output, re.MULTILINE)
    return {f"{number}: {name}": "FAIL" if failed else "PASS" for number, (failed, name) in enumerate(lines)}


@dataclasses.dataclass
class Package:
    build: list  # commands
    check: str
    results: object  # a function: from the output of `check` to a dictionary of tests and their results
    needs: tuple = ()  # Debian packages


GIT = MAKE + "CFLAGS=-O0 NO_CURL=1 NO_EXPAT=1 NO_TCLTK=1 NO_GETTEXT=1 NO_PYTHON=1 "

PACKAGES = {
    "bash": Package(["./configure -q --disable-nls", MAKE], "make -s check", of_bash, ("bison",)),
    "coreutils": Package(["./configure -q --disable-nls --without-selinux", MAKE + "MAKEINFO=:"],
                         MAKE + "-k check SUBDIRS=. MAKEINFO=:", of_automake, ("perl",)),
    "git": Package([GIT + "all"], f"cd t; {GIT} -k t00*.sh t4*.sh >/dev/null 2>&1; "
                   "grep -H . test-results/*.counts", of_git, ("zlib1g-dev", "perl")),
    "dos2unix": Package([MAKE + "ENABLE_NLS= all"], "make -s check", of_tap, ("perl",)),
}
REAL = ("bash", "coreutils", "git")  # without dos2unix, with which a fast test checks this script


def manifest(tree):
    """Returns the digest of every file, in the format of test outputs: the path is the test's name."""
    found = {}
    for folder, _, names in os.walk(tree):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and not os.path.islink(path) and not path.endswith(".log"):
                with open(path, "rb") as file:
                    found[os.path.relpath(path, tree) + harness.OUTPUT] = digest(file.read())
    return found


class Trial:
    """One package.  All its builds use the same path, so that paths in files do not differ."""

    def __init__(self, name, folder):
        self.name = name
        self.package = PACKAGES[name]
        self.source = os.path.join(folder, "source")
        self.built = os.path.join(folder, "built")
        self.log = os.path.join(folder, "build.log")
        self.checks = os.path.join(folder, "tests.log")
        os.makedirs(folder, exist_ok=True)

    def fetch(self, sources):
        fetching.install(("dpkg-dev", "gcc", "make", "libc6-dev", *self.package.needs), self.log)
        if not os.path.isdir(self.source):
            sources.unpack(self.name, self.source, False)

    def lines(self):
        counted = subprocess.run("find . -name '*.[chy]' -type f -print0 | xargs -0 cat | wc -l", shell=True,
                                 check=True, cwd=self.source, stdout=subprocess.PIPE)
        return int(counted.stdout)

    def run(self, preload):
        """Builds and tests.  Returns the files' digests, the tests' results, and the seconds."""
        harness.say(f"{self.name}: {'preloaded' if preload else 'plainly'}")
        environment = {**harness.base_environment(), "SOURCE_DATE_EPOCH": "1700000000", **preload}
        start = time.monotonic()
        shutil.rmtree(self.built, ignore_errors=True)
        shutil.copytree(self.source, self.built, symlinks=True)
        for command in self.package.build:
            if not fetching.logged(["sh", "-c", command], self.log, self.built, environment):
                raise fetching.Problem(f"{self.name}: {command} fails {preload or ''}; see {self.log}")
        files = manifest(self.built)
        _, output = harness.run_limited(["sh", "-c", self.package.check], self.built, environment, 3600)
        with open(self.checks + ("-preloaded" if preload else ""), "wb") as file:
            file.write(output)
        return files, self.package.results(output.decode(errors="replace")), round(time.monotonic() - start)

    def compare(self, preload):
        """Prints the package's row of the table.  Returns whether nothing differs and tests have passed."""
        plain, preloaded = [self.run({})], self.run(preload)
        def differing():
            return [comparing.differences([run[kind] for run in plain], [preloaded[kind]]) for kind in (0, 1)]
        if any(differing()):
            plain.append(self.run({}))
        files, tests = differing()
        for name, (before, after) in (files | tests).items():
            harness.say(f"differs: {self.name}: {name}: {', '.join(before)} plainly, {', '.join(after)} preloaded")
        passed = [comparing.count(run[1]) for run in (plain[0], preloaded)]
        new = len(preloaded[0]) - len(manifest(self.source))
        columns = (self.name, self.lines(), new, len(files), sum(passed[0]), passed[0][0], passed[1][0], len(tests),
                   plain[0][2], preloaded[2])
        print("| " + " | ".join(map(str, columns)) + " |", flush=True)
        return not files and not tests and passed[0][0] > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", metavar="PACKAGE",
                        help=f"of {' '.join(PACKAGES)}; default: {' '.join(REAL)}")
    compare_filters.add_preload_arguments(parser)
    parser.add_argument("--work", metavar="DIR", required=True, help="where sources and builds are kept")
    arguments = parser.parse_args()
    if not shutil.which("apt-get"):
        print("skipped: no apt-get: the packages are Debian's source packages")
        return 77
    work = os.path.abspath(arguments.work)
    os.makedirs(os.path.join(work, "apt"), exist_ok=True)
    sources = fetching.Sources(os.path.join(work, "apt"))
    preload = compare_filters.Preload(arguments, work).environment
    status = 0
    print(HEAD, flush=True)
    for name in arguments.packages or REAL:
        trial = Trial(name, os.path.join(work, name))
        try:
            trial.fetch(sources)
            if not trial.compare(preload):
                status = 1
        except fetching.Offline as problem:
            print(f"skipped: {name}: {problem}")
            status = status or 77
        except fetching.Problem as problem:
            print(f"cannot run: {name}: {problem}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
