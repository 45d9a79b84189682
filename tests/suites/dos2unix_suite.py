# SPDX-License-Identifier: MIT
"""dos2unix: tests fgetc, ungetc and fputc, with bytes and with wide characters.

Each test runs in a copy of the folder, since all tests use the same file names."""
import os

import harness

PROGRAMS = ("dos2unix", "unix2dos", "mac2unix", "unix2mac")


class Dos2unix(harness.Programs):
    package = "dos2unix"
    needs = ("perl", "locales-all")
    in_quick = True

    def build(self):
        self.make("ENABLE_NLS=", *PROGRAMS)

    def tests(self, quick):
        return [os.path.basename(path) for path in self.files("test/*.t")]

    def command(self, name, scratch):
        programs = " ".join(os.path.join(self.source, program) for program in PROGRAMS)
        setup = f"cp -P {programs} . && cp -R {self.source}/test test && cd test"
        return ["sh", "-c", f"{setup} && D2U_UTF8_LOCALE=C.UTF-8 perl {name}"], None, None


suite = Dos2unix
