# SPDX-License-Identifier: MIT
"""GNU grep: tests output by lines, colours and encodings; in a full run also gnulib's stdio."""
import harness


class Grep(harness.Automake):
    package = "grep"
    needs = ("perl", "locales-all")
    folders = ("tests",)
    more_folders = ("gnulib-tests",)


suite = Grep
