# SPDX-License-Identifier: MIT
"""harness.py - the base classes of suites, which build the package and run its tests.

A suite is a file NAME_suite.py.  It defines a class derived from a class in this file, and binds it to the name `suite`.
The class builds the package, lists the tests, and runs them, plainly or with a preload in the environment.

A test's result is PASS, SKIP, FAIL with the exit status, SIGNAL with the signal's number, TIMEOUT, or NONE if the test
left no result.  Under the test's name followed by OUTPUT, the results contain a digest of the test's output.
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
    """Returns the environment of builds and tests, without variables that could change their results."""
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
    """Runs a command with a time limit, in seconds.  Returns its result and its output.

    The output goes to a file, not a pipe, since a remaining background process may keep it open."""
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
    patched = False  # whether to apply Debian's patches
    in_quick = False  # whether a quick run without named suites includes this suite

    def __init__(self, name, folder, jobs):
        self.name = name
        self.folder = folder
        self.jobs = jobs
        self.source = os.path.join(folder, "source")
        self.log = os.path.join(folder, "build.log")

    # A suite defines tests() and run(), and build() unless configure and make suffice.

    def build(self):
        self.configure()
        self.make()

    def tests(self, quick):
        """Returns the names of the tests; in a quick run only of those that take little time."""
        raise NotImplementedError

    def run(self, names, environment):
        """Runs tests.  Returns a dictionary from their names to their results."""
        raise NotImplementedError

    # Suites use the functions from here on.

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
        """Returns the words of a make variable, after expansion."""
        shown = subprocess.run(["make", "-s", "--no-print-directory", f"--eval=show-it:;@printf '%s\\n' $({variable})",
                                "show-it"], cwd=os.path.join(self.source, folder), env=base_environment(),
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        return shown.stdout.decode().split()

    def files(self, pattern):
        """Returns the paths of the matching source files, relative to the source folder."""
        return sorted(os.path.relpath(path, self.source) for path in glob.glob(os.path.join(self.source, pattern)))

    def all_at_once(self, function, items):
        """Calls function(item) for each item, `jobs` at a time.  Returns the results in the items' order."""
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(function, items))


class Programs(Suite):
    """A suite in which each test is a command.  The exit status and the output are the result."""

    seconds = 120

    def command(self, name, scratch):
        """Returns the test's command, its folder and its standard input.

        The folder None means `scratch`, which is empty.  The input None means /dev/null."""
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
    """A suite that automake's parallel harness runs.  A test's name is FOLDER:TEST; the Makefile of FOLDER lists TEST."""

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
        """Returns whether to run a test."""
        del test, quick
        return True

    def drivers(self, folder, environment):
        """Returns make's variables for the drivers of the harness, with a time limit and the preload of this environment."""
        with open(os.path.join(self.source, folder, "Makefile"), encoding="utf-8", errors="replace") as makefile:
            named = dict(re.findall(r"^(\w*LOG_DRIVER) = (.*)", makefile.read(), re.MULTILINE))
        preload = f"LD_PRELOAD={environment['LD_PRELOAD']}" if "LD_PRELOAD" in environment else ""
        return [f"{name}=timeout -k 5 {self.seconds} env {preload} {value}" for name, value in named.items()]

    @staticmethod
    def result_file(folder, test):
        """Returns the path of a test's .trs file, or None.

        In its name the harness omits the test's extension if the Makefile knows the extension."""
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
