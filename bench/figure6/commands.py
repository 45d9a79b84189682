# SPDX-License-Identifier: MIT
"""The commands that figure6/run times: programs, their forms, their inputs and outputs."""
import collections
import os
import random
import shutil
import subprocess

# In the order of the paper's caption: Figure 6a are stdio programs, 6b use Unix I/O.
PROGRAMS = ["diff", "compress", "uncompress", "cut", "cmp", "wc", "cat", "cp"]
FORMS = ["plain", "relinked", "relinked-128K", "recompiled", "asi", "system", "preloaded", "uutils", "busybox", "toybox"]
OURS = ["plain", "relinked", "relinked-128K", "recompiled", "asi", "preloaded"]
# The reference for comparing outputs: the first of these forms that exists.
REFERENCES = ["system"] + [form for form in FORMS if form != "system"]

UUTILS = "/usr/lib/cargo/bin/coreutils"
SYSTEM_PATH = "/usr/bin:/bin"
PACKAGES = {"uutils": "rust-coreutils", "busybox": "busybox-static", "toybox": "toybox"}
# Debian renames a program if gzip has a script of the same name.
SYSTEM_NAMES = {"uncompress": ["uncompress.real", "uncompress"]}
ENVIRONMENT = {"PATH": SYSTEM_PATH, "LC_ALL": "C"}
# Forms that run the program of another form, with options of asf.
OPTIONS = {"relinked-128K": ("relinked", "buffer=128K")}

# The row that shows what a form costs before it moves any data.
STARTUP = "cat of nothing"

# The routes: input and output; the other end of a pipe is the system's cat.
ROUTES = {"null": "file to /dev/null", "file": "file to file", "pipe": "file to pipe", "feed": "pipe to file"}

# A row of the tables: program, route and arguments.  In the arguments, {text}, {copy}, {part}, {packed} and {out} stand
# for files; {out} is also standard output unless the arguments name it.  `feeds` names the file that an input pipe carries.
Case = collections.namedtuple("Case", "title program route arguments feeds", defaults=("text",))


def program_cases():
    """Returns the eight programs by every route, and two additional rows."""
    for route in ROUTES:
        fed = route == "feed"
        text = () if fed else ("{text}",)
        yield Case("diff", "diff", route, ("-" if fed else "{text}", "{copy}"))
        yield Case("compress", "compress", route, ("-c",) + (() if fed else ("{part}",)), "part")
        yield Case("uncompress", "uncompress", route, ("-c",) + (() if fed else ("{packed}",)), "packed")
        yield Case("cut -f2", "cut", route, ("-f2",) + text)
        yield Case("cmp", "cmp", route, ("-" if fed else "{text}", "{copy}"))
        yield Case("wc", "wc", route, text)
        yield Case("cat", "cat", route, text)
        yield Case("cp", "cp", route, ("/dev/stdin" if fed else "{text}", CP_TARGETS[route]))
    yield Case("wc -l", "wc", "null", ("-l", "{text}"))
    yield Case(STARTUP, "cat", "null", ("/dev/null",))


CP_TARGETS = {"null": "/dev/null", "file": "{out}", "pipe": "/dev/stdout", "feed": "{out}"}

# Rows that are not in the paper's figure, or are no typical run of a program.
ASIDE = {"wc -l", STARTUP}


class Unusable(Exception):
    """The run has no result; the message says what to do."""


def log_lines(size):
    """Returns tab-separated records like a log's, about 100 bytes a line, the same in every run."""
    choice = random.Random(1994)
    words = ["accepted", "connection", "from", "closed", "session", "opened", "for", "user", "error", "reading",
             "timeout", "after", "retry", "stream", "buffer", "of", "the", "in", "at", "request"]
    length = 0
    while length < size:
        message = " ".join(choice.choices(words, k=choice.randint(4, 14)))
        line = (f"2026-{choice.randint(1, 12):02}-{choice.randint(1, 28):02}T{choice.randint(0, 86399):05}\t"
                f"host{choice.randint(1, 400)}\tdaemon[{choice.randint(100, 32000)}]\t{message}\n")
        length += len(line)
        yield line


class Files:
    """The inputs in a directory, and the build whose programs read them."""

    def __init__(self, directory, size, build):
        self.build = os.path.abspath(build)
        self.names = {name: os.path.join(directory, name) for name in ("text", "copy", "part", "out", "seen")}
        self.names["packed"] = os.path.join(directory, "packed.Z")
        piece = "".join(log_lines(min(size, 1 << 20)))
        times = max(1, size // len(piece))
        self.write("text", piece, times)
        self.write("part", piece, max(1, times // 4))  # a quarter of the text: compress and uncompress take long
        shutil.copyfile(self.names["text"], self.names["copy"])
        self.pack()

    def write(self, name, piece, times):
        with open(self.names[name], "w", encoding="ascii") as file:
            for _ in range(times):
                file.write(piece)

    def pack(self):
        compress = shutil.which("compress", path=SYSTEM_PATH)
        if not compress:
            raise Unusable("compress: no such program; apt-get install ncompress")
        with open(self.names["packed"], "wb") as packed:
            subprocess.run([compress, "-c", self.names["part"]], stdout=packed, check=True)

    def arguments(self, case):
        return [argument.format(**self.names) for argument in case.arguments]


def applets(program):
    """Returns the programs that a multi-call program such as busybox has."""
    if not shutil.which(program, path=SYSTEM_PATH):
        return []
    listing = [program, "--list"] if program == "busybox" else [program]
    return subprocess.run(listing, stdout=subprocess.PIPE, check=True, text=True).stdout.split()


def missing_forms(forms):
    """Returns the packages of the forms that are not installed, by form."""
    there = {"uutils": os.path.isdir(UUTILS), "busybox": applets("busybox"), "toybox": applets("toybox")}
    return {form: package for form, package in PACKAGES.items() if form in forms and not there[form]}


def find_form(form, program, build):
    """Returns the beginning of the command line, or None if the form does not exist."""
    if form in ("system", "preloaded"):
        found = [shutil.which(name, path=SYSTEM_PATH) for name in SYSTEM_NAMES.get(program, [program])]
        return next(([path] for path in found if path), None)
    if form in ("busybox", "toybox"):
        return [shutil.which(form, path=SYSTEM_PATH), program] if program in applets(form) else None
    form_of_file = OPTIONS.get(form, (form,))[0]
    path = os.path.join(UUTILS, program) if form == "uutils" else \
        os.path.join(build, "bin", "examples", f"{form_of_file}-{program}")
    if os.access(path, os.X_OK):
        return [path]
    if form in OURS:
        raise Unusable(f"{path}: no such program; cmake --build --preset release makes it")
    return None
