# SPDX-License-Identifier: MIT
"""GNU grep: output by line, colours, encodings; gnulib's own tests of stdio."""
import harness


class Grep(harness.Automake):
    package = "grep"
    needs = ("perl", "locales-all")
    folders = ("tests",)
    more_folders = ("gnulib-tests",)


suite = Grep
