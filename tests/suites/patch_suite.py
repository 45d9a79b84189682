# SPDX-License-Identifier: MIT
"""GNU patch: tests input by getc, fseek and fread, and temporary and rejected output."""
import harness


class Patch(harness.Automake):
    package = "patch"
    needs = ("ed",)
    folders = ("tests",)


suite = Patch
