# SPDX-License-Identifier: MIT
"""GNU findutils: -fprintf, -fprint0, xargs reading its input; gnulib's own tests of stdio."""
import harness


class Findutils(harness.Automake):
    package = "findutils"
    needs = ("perl", "locales-all")
    folders = (".",)
    more_folders = ("gnulib-tests",)


suite = Findutils
