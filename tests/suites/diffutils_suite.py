# SPDX-License-Identifier: MIT
"""GNU diffutils: diff, diff3, sdiff and cmp; gnulib's own tests of stdio."""
import harness


class Diffutils(harness.Automake):
    package = "diffutils"
    needs = ("perl", "locales-all")
    folders = ("tests",)
    more_folders = ("gnulib-tests",)


suite = Diffutils
