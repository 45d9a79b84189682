# SPDX-License-Identifier: MIT
"""GNU findutils: tests -fprintf, -fprint0 and the input of xargs; in a full run also gnulib's stdio."""
import harness


class Findutils(harness.Automake):
    package = "findutils"
    needs = ("perl", "locales-all")
    folders = (".",)
    more_folders = ("gnulib-tests",)


suite = Findutils
