#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare_programs.py - compares each form of an example program with the system's program of the same name.

Runs each command line of NAME.cases with the system's program NAME, and with each form of the example under this name.
stdout, stderr, exit status and the files afterwards must be the same, byte for byte.  tests/filters/corpus.py describes
the format of NAME.cases.
"""
import argparse
import collections
import glob
import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "filters"))
# pylint: disable=wrong-import-position
import arena
import compare_filters
import corpus
import inputs

FORMS = ["plain", "relinked", "recompiled", "asi"]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", help="NAME.cases")
    parser.add_argument("--programs", metavar="DIR", required=True, help="where FORM-NAME are: build/release/bin/examples")
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=FORMS)
    parser.add_argument("--filter", metavar="REGEX", default="", help="run only cases whose name matches")
    return parser.parse_args()


class Forms:
    """Makes a folder for each form, which contains the form's program under the system's name and comes first in PATH.

    Copies the programs and the libraries, so that every user can read them."""

    def __init__(self, arguments, name, root):
        self.libraries = os.path.join(root, "lib")
        os.makedirs(self.libraries)
        for library in glob.glob(os.path.join(arguments.programs, "..", "..", "lib", "*.so*")):
            shutil.copy(library, self.libraries)
        self.folders = {form: os.path.join(root, form) for form in arguments.forms}
        for form, folder in self.folders.items():
            os.makedirs(folder)
            program = os.path.join(arguments.programs, f"{form}-{name}")
            if not os.path.exists(program):
                sys.exit(f"compare_programs: {program}: no such program; build it first")
            shutil.copy(program, os.path.join(folder, name))

    def environment(self, form):
        sanitizers = {name: os.environ[name] for name in ("ASAN_OPTIONS", "TSAN_OPTIONS") if name in os.environ}
        return {"LD_LIBRARY_PATH": self.libraries, **sanitizers} if form else {}


def masked(case, text):
    return re.sub(case.mask.encode(), b"#", text) if case.mask else text


def shown(data):
    return repr(data if len(data) <= 300 else data[:150] + b"..." + data[-150:])


def text_difference(expected, got):
    at = next((i for i, (a, b) in enumerate(zip(expected, got)) if a != b), min(len(expected), len(got)))
    start = max(0, at - 40)
    return (f"{len(expected)} bytes expected, {len(got)} printed, first difference at {at}\n"
            f"        expected {shown(expected[start:at + 200])}\n        printed  {shown(got[start:at + 200])}")


def differences(case, expected, got):
    for stream in ("stdout", "stderr"):
        texts = [masked(case, getattr(outcome, stream)) for outcome in (expected, got)]
        if texts[0] != texts[1]:
            yield f"{stream}: {text_difference(*texts)}"
    if expected.status != got.status or got.status == "timed out":
        yield f"status: {expected.status} expected, {got.status} given"
    for path in sorted(expected.files.keys() | got.files.keys()):
        files = [outcome.files.get(path) for outcome in (expected, got)]
        if files[0] != files[1]:
            yield f"file {path}: {' instead of '.join(shown(file[2]) + str(file[:2]) if file else 'none' for file in files[::-1])}"


class Run:
    def __init__(self, arguments, name, root):
        self.forms = Forms(arguments, name, root)
        self.root = root
        self.inputs = os.path.join(root, "inputs")
        self.counts = collections.Counter()
        inputs.make_inputs(self.inputs)
        os.makedirs(os.path.join(root, "slot"))

    def outcome(self, situation, form):
        programs = self.forms.folders.get(form, os.path.join(self.root, "system"))
        slot = arena.Arena(os.path.join(self.root, "slot"), self.inputs, programs)
        return slot.run(situation, self.forms.environment(form))

    def try_situation(self, situation):
        reason = compare_filters.why_skipped(situation.case)
        if reason:
            self.counts["skipped"] += 1
            print(f"skip {situation.name}: {reason}")
            return
        expected = self.outcome(situation, None)
        for form in self.forms.folders:
            found = list(differences(situation.case, expected, self.outcome(situation, form)))
            self.counts["failed" if found else "passed"] += 1
            if found:
                print(f"FAIL {form} {situation.name}: " + "\n    ".join(found)
                      + f"\n    command: {situation.case.command}", flush=True)


def main():
    arguments = parse_arguments()
    name = os.path.basename(arguments.cases).removesuffix(".cases")
    cases = [case for case in corpus.read_corpus([arguments.cases]) if re.search(arguments.filter, case.name)]
    with tempfile.TemporaryDirectory(prefix="asf-examples.") as root:
        os.chmod(root, 0o755)
        run = Run(arguments, name, root)
        for case in cases:
            for situation in case.situations():
                run.try_situation(situation)
    print(f"{name}: {len(cases)} command lines; {run.counts['passed']} runs as the system's, {run.counts['failed']} not, "
          f"{run.counts['skipped']} skipped")
    return 1 if run.counts["failed"] or not run.counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
