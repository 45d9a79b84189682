# SPDX-License-Identifier: MIT
"""GNU diffutils: tests diff, diff3, sdiff and cmp; in a full run also gnulib's stdio."""
import harness


class Diffutils(harness.Automake):
    package = "diffutils"
    needs = ("perl", "locales-all")
    folders = ("tests",)
    more_folders = ("gnulib-tests",)


suite = Diffutils
