# SPDX-License-Identifier: MIT
"""GNU sed: in-place editing, unlocked calls; gnulib's own tests of stdio."""
import harness


class Sed(harness.Automake):
    package = "sed"
    needs = ("perl", "locales-all")
    folders = (".",)
    more_folders = ("gnulib-tests",)


suite = Sed
