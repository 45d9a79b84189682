# SPDX-License-Identifier: MIT
"""GNU patch: getc, fseek and fread over its inputs, temporary and rejected output."""
import harness


class Patch(harness.Automake):
    package = "patch"
    needs = ("ed",)
    folders = ("tests",)


suite = Patch
