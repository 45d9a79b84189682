# SPDX-License-Identifier: MIT
"""harness.py - what a suite is, and the ways in which suites run their tests.

A suite is a file NAME_suite.py with a class that is derived from one of those below and bound to the name `suite`.  It
says how it is built, which tests it has, and runs them, plainly or with a preload in the environment.

A result is PASS, SKIP, or a word for what else happened: FAIL 1, SIGNAL 11, TIMEOUT, NONE (the test left no result).
A name that ends in OUTPUT carries a digest of what the test printed.
"""
import concurrent.futures
import glob
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import fetching

OUTPUT = " (output)"
OUTPUT_KEPT = 1 << 26


def base_environment():
    """The environment of builds and tests: what could change their results is left out."""
    out = {"LC_ALL", "LANG", "LANGUAGE", "LD_PRELOAD", "MAKEFLAGS", "MAKELEVEL", "POSIXLY_CORRECT", "ASF_OPTIONS"}
    kept = {name: value for name, value in os.environ.items() if name not in out}
    return {**kept, "LC_ALL": "C", "TZ": "UTC0", "FORCE_UNSAFE_CONFIGURE": "1"}


def status_of(code):
    if code == 0:
        return "PASS"
    if code == 77:
        return "SKIP"
    return f"SIGNAL {-code}" if code < 0 else f"FAIL {code}"


def run_limited(command, cwd, environment, seconds, stdin=None):
    """Run a command with a time limit; returns its result and what it printed.  The output goes to a file, which a
    process left behind may keep open."""
    with open(stdin or os.devnull, "rb") as source, tempfile.TemporaryFile() as out:
        with subprocess.Popen(command, cwd=cwd, env=environment, stdin=source, stdout=out, stderr=subprocess.STDOUT,
                              start_new_session=True) as process:
            try:
                result = status_of(process.wait(seconds))
            except subprocess.TimeoutExpired:
                result = "TIMEOUT"
                os.killpg(process.pid, signal.SIGKILL)
        out.seek(0)
        return result, out.read(OUTPUT_KEPT)


class Suite:
    """One source package and its tests."""

    package = None  # the Debian source package
    needs = ()  # Debian packages that the build and the tests need
    patched = False  # apply Debian's patches
    in_quick = False  # runs when no suite is named and the run is quick

    def __init__(self, name, folder, jobs):
        self.name = name
        self.folder = folder
        self.jobs = jobs
        self.source = os.path.join(folder, "source")
        self.log = os.path.join(folder, "build.log")

    # Defined by a suite: build() unless configure and make suffice, tests(), run().

    def build(self):
        self.configure()
        self.make()

    def tests(self, quick):
        """The names of the tests; in a quick run those that take little time."""
        raise NotImplementedError

    def run(self, names, environment):
        """Run tests; returns a dictionary from name to result."""
        raise NotImplementedError

    # For use by suites.

    def fetch(self, sources):
        fetching.install(("dpkg-dev", "gcc", "make", "libc6-dev", *self.needs), self.log)
        shutil.rmtree(self.source, ignore_errors=True)
        sources.unpack(self.package, self.source, self.patched)

    def logged(self, *command, cwd="", may_fail=False):
        done = fetching.logged(list(command), self.log, os.path.join(self.source, cwd), base_environment())
        if not done and not may_fail:
            raise fetching.Problem(f"cannot build: {' '.join(command)[:80]} fails; see {self.log}")
        return done

    def configure(self, *options):
        self.logged("./configure", "-q", "--disable-nls", "--disable-dependency-tracking", *options)

    def make(self, *arguments, may_fail=False):
        self.logged("make", "-s", f"-j{self.jobs}", "MAKEINFO=:", *arguments, may_fail=may_fail)

    def make_variable(self, folder, variable):
        """The words of a variable as make sees them."""
        shown = subprocess.run(["make", "-s", "--no-print-directory", f"--eval=show-it:;@printf '%s\\n' $({variable})",
                                "show-it"], cwd=os.path.join(self.source, folder), env=base_environment(),
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        return shown.stdout.decode().split()

    def files(self, pattern):
        """Files of the source, by their path in it."""
        return sorted(os.path.relpath(path, self.source) for path in glob.glob(os.path.join(self.source, pattern)))

    def all_at_once(self, function, items):
        """function(item) for each, `jobs` at a time; the results in order."""
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(function, items))


class Programs(Suite):
    """Each test is a command, its result the exit status and what it prints."""

    seconds = 120

    def command(self, name, scratch):
        """The command, the folder to run it in (None: `scratch`, which is empty), its standard input (None: none)."""
        raise NotImplementedError

    def one(self, name, environment):
        with tempfile.TemporaryDirectory(prefix="t.", dir=self.folder) as scratch:
            command, where, stdin = self.command(name, scratch)
            result, output = run_limited(command, where or scratch, {**environment, "TMPDIR": scratch}, self.seconds,
                                         stdin)
            return self.judge(result, output.replace(scratch.encode(), b"SCRATCH"))

    def judge(self, result, output):
        return result, output

    def run(self, names, environment):
        results = {}
        for name, (result, output) in zip(names, self.all_at_once(lambda name: self.one(name, environment), names)):
            results[name] = result
            results[name + OUTPUT] = hashlib.sha256(output).hexdigest()[:10]
        return results


class Automake(Suite):
    """Tests that automake's parallel harness runs.  A name is a folder of the source and a test of its Makefile."""

    folders = ()  # the folders of the tests
    more_folders = ()  # folders that a quick run omits
    seconds = 120

    def build(self):
        super().build()
        for folder in (*self.folders, *self.more_folders):
            self.make("-k", "-C", folder, "check", "TESTS=", "SUBDIRS=.", may_fail=True)

    def tests(self, quick):
        folders = self.folders if quick else (*self.folders, *self.more_folders)
        return [f"{folder}:{test}" for folder in folders for test in self.make_variable(folder, "TESTS")
                if self.wanted(test, quick)]

    def wanted(self, test, quick):
        """Whether a test is to be run."""
        del test, quick
        return True

    def drivers(self, folder, environment):
        """The harness's drivers, each started under a time limit and with the preload of this environment."""
        with open(os.path.join(self.source, folder, "Makefile"), encoding="utf-8", errors="replace") as makefile:
            named = dict(re.findall(r"^(\w*LOG_DRIVER) = (.*)", makefile.read(), re.MULTILINE))
        preload = f"LD_PRELOAD={environment['LD_PRELOAD']}" if "LD_PRELOAD" in environment else ""
        return [f"{name}=timeout -k 5 {self.seconds} env {preload} {value}" for name, value in named.items()]

    @staticmethod
    def result_file(folder, test):
        """The harness takes the extension off a test's name when it is one that the Makefile knows."""
        for name in (test, os.path.splitext(test)[0]):
            path = os.path.join(folder, name + ".trs")
            if os.path.exists(path):
                return path
        return None

    def result(self, folder, test):
        path = self.result_file(folder, test)
        if not path:
            return "NONE"
        with open(path, encoding="utf-8", errors="replace") as file:
            found = re.search(r"^:global-test-result: (.*)", file.read(), re.MULTILINE)
        return found.group(1) if found else "NONE"

    def run(self, names, environment):
        results = {}
        for folder in (*self.folders, *self.more_folders):
            tests = [name.split(":", 1)[1] for name in names if name.startswith(folder + ":")]
            where = os.path.join(self.source, folder)
            for test in tests:
                while self.result_file(where, test):
                    os.remove(self.result_file(where, test))
            if tests:
                plain = {name: value for name, value in environment.items() if name != "LD_PRELOAD"}
                fetching.logged(["make", "-k", f"-j{self.jobs}", "check", "SUBDIRS=.", "MAKEINFO=:",
                                 "TESTS=" + " ".join(tests), *self.drivers(folder, environment)],
                                os.path.join(self.folder, "tests.log"), where, plain)
            results.update({f"{folder}:{test}": self.result(where, test) for test in tests})
        return results


def say(text):
    print(text, file=sys.stderr, flush=True)
