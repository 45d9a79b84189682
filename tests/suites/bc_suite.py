# SPDX-License-Identifier: MIT
"""GNU bc: runs its sample programs, except ckbook, which waits for more input for ever."""
import os

import harness


class Bc(harness.Programs):
    package = "bc"
    needs = ("bison", "flex", "ed")

    def tests(self, quick):
        return [path for path in self.files("Test/*.b") + self.files("Examples/*.b") if "ckbook" not in path]

    def command(self, name, scratch):
        commands = os.path.join(scratch, "input")
        with open(commands, "w", encoding="utf-8") as file:
            file.write("quit\n")
        return [os.path.join(self.source, "bc/bc"), "-l", name], self.source, commands


suite = Bc
