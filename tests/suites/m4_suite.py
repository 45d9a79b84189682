# SPDX-License-Identifier: MIT
"""GNU m4: tests diversions, syscmd, includes and freezing, by the examples of its manual, which its own script checks.

A full run also tests gnulib's stdio."""
import os

import harness

EXAMPLES = "checks:"


class M4(harness.Automake):
    package = "m4"
    needs = ("perl",)
    more_folders = ("tests",)
    in_quick = True

    def tests(self, quick):
        examples = self.files("checks/[0-9]*.*") + self.files("checks/stackovf.test")
        return [EXAMPLES + os.path.basename(path) for path in examples] + super().tests(quick)

    def check(self, test, environment):
        path = os.path.join(self.source, "src") + ":" + environment["PATH"]
        return harness.run_limited(["./check-them", "-I", "../examples", test], os.path.join(self.source, "checks"),
                                   {**environment, "PATH": path}, self.seconds)[0]

    def run(self, names, environment):
        examples = [name[len(EXAMPLES):] for name in names if name.startswith(EXAMPLES)]
        results = self.all_at_once(lambda test: self.check(test, environment), examples)
        checked = {EXAMPLES + test: result for test, result in zip(examples, results)}
        return {**checked, **super().run(names, environment)}


suite = M4
