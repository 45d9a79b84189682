# SPDX-License-Identifier: MIT
"""gawk: tests getline, pipes, co-processes, redirections and locales.

A test is a target of test/Makefile.  It prints its name first.  If it fails, the file _NAME remains."""
import os

import harness

# Four tests need a network; in the other two, the order of gawk's output and a child's is unspecified.
LEFT_OUT = {"inetdayt", "inetdayu", "inetecht", "inetechu", "clos1way2", "clos1way6"}


class Gawk(harness.Suite):
    package = "gawk"
    needs = ("locales-all",)
    in_quick = True

    def build(self):
        self.configure()
        self.make("-C", "support")
        self.make("gawk")
        self.make("-k", "-C", "extension", may_fail=True)

    def tests(self, quick):
        groups = ["BASIC_TESTS", "UNIX_TESTS", "GAWK_EXT_TESTS"]
        if not quick:
            groups += ["LOCALE_CHARSET_TESTS", "SHLIB_TESTS", "MACHINE_TESTS"]
        return [test for group in groups for test in self.make_variable("test", group) if test not in LEFT_OUT]

    def run(self, names, environment):
        folder = os.path.join(self.source, "test")
        for name in names:
            if os.path.exists(os.path.join(folder, "_" + name)):
                os.remove(os.path.join(folder, "_" + name))
        command = ["make", "-k", f"-j{self.jobs}", *names]
        _, output = harness.run_limited(command, folder, environment, 900)
        begun = {line.split()[0] for line in output.decode(errors="replace").splitlines() if line.split()}
        failed = {name for name in names if os.path.exists(os.path.join(folder, "_" + name))}
        return {name: "FAIL" if name in failed else "PASS" if name in begun else "NONE" for name in names}


suite = Gawk
