# SPDX-License-Identifier: MIT
"""mawk: runs its own test scripts, and compares the output."""
import harness


class Mawk(harness.Programs):
    package = "mawk"
    in_quick = True

    def build(self):
        self.configure()
        self.make("mawk")

    def tests(self, quick):
        return ["mawktest", "fpe_test"]

    def command(self, name, scratch):
        script = f"cp -R {self.source}/test test && ln -s {self.source}/mawk mawk && cd test && sh ./{name}"
        return ["sh", "-c", script], None, None


suite = Mawk
