# SPDX-License-Identifier: MIT
"""bash: tests builtins that print by stdio, redirections, here documents and co-processes of the system's bash."""
import os
import shutil

import harness

HELPERS = ("recho", "zecho", "printenv", "xcase")
# Scripts that run all the others, take minutes, or depend on timing.
LEFT_OUT = {"run-all", "run-minimal", "run-gprof", "run-jobs", "run-history", "run-histexpand"}


class Bash(harness.Programs):
    package = "bash"
    needs = ("bash", "locales-all")

    def build(self):
        self.configure()
        self.make(*HELPERS)

    def tests(self, quick):
        return [name for name in map(os.path.basename, self.files("tests/run-*")) if name not in LEFT_OUT]

    def command(self, name, scratch):
        folder = os.path.join(scratch, "tests")
        shutil.copytree(os.path.join(self.source, "tests"), folder, symlinks=True)
        for helper in HELPERS:
            shutil.copy(os.path.join(self.source, helper), folder)
        setting = f"PATH={folder}:$PATH THIS_SH=/bin/bash BUILD_DIR={self.source} BASH_TSTOUT={scratch}/out"
        script = f"{setting}; export PATH THIS_SH BUILD_DIR BASH_TSTOUT; sh ./{name}; rm -f {scratch}/out"
        return ["sh", "-c", script], folder, None


suite = Bash
