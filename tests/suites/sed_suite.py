# SPDX-License-Identifier: MIT
"""GNU sed: tests in-place editing and unlocked calls; in a full run also gnulib's stdio."""
import harness


class Sed(harness.Automake):
    package = "sed"
    needs = ("perl", "locales-all")
    folders = (".",)
    more_folders = ("gnulib-tests",)


suite = Sed
