# SPDX-License-Identifier: MIT
"""The commands that figure6/run times: programs, their forms, their files; running one and keeping its time."""
import collections
import hashlib
import os
import random
import shutil
import subprocess
import time

# In the order of the paper's caption: Figure 6a are stdio programs, 6b use Unix I/O.
PROGRAMS = ["diff", "compress", "uncompress", "cut", "cmp", "wc", "cat", "cp"]
FORMS = ["plain", "relinked", "asi", "system", "preloaded", "uutils", "busybox", "toybox"]
OURS = ["plain", "relinked", "asi", "preloaded"]
# Whose output the others are compared with: the first of these that there is.
REFERENCES = ["system"] + [form for form in FORMS if form != "system"]

UUTILS = "/usr/lib/cargo/bin/coreutils"
SYSTEM_PATH = "/usr/bin:/bin"
# Where gzip brings a script of that name, Debian keeps the program itself under another.
SYSTEM_NAMES = {"uncompress": ["uncompress.real", "uncompress"]}
ENVIRONMENT = {"PATH": SYSTEM_PATH, "LC_ALL": "C"}

# The row that shows what a form costs before it moves any data.
STARTUP = "cat of nothing"

# A row of the tables: what is run, with which arguments, and where its output goes.  In the arguments, {text}, {copy},
# {packed} and {out} stand for files; {out} is also standard output unless the arguments name it.
Case = collections.namedtuple("Case", "title program arguments to_file")

CASES = [
    Case("diff", "diff", ("{text}", "{copy}"), False),
    Case("compress", "compress", ("-c", "{text}"), False),
    Case("compress to file", "compress", ("-c", "{text}"), True),
    Case("uncompress", "uncompress", ("-c", "{packed}"), False),
    Case("uncompress to file", "uncompress", ("-c", "{packed}"), True),
    Case("cut -f2", "cut", ("-f2", "{text}"), False),
    Case("cut -f2 to file", "cut", ("-f2", "{text}"), True),
    Case("cmp", "cmp", ("{text}", "{copy}"), False),
    Case("wc", "wc", ("{text}",), False),
    Case("wc -l", "wc", ("-l", "{text}"), False),
    Case("cat", "cat", ("{text}",), False),
    Case("cat to file", "cat", ("{text}",), True),
    Case("cp", "cp", ("{text}", "{out}"), False),
    Case("cp to file", "cp", ("{text}", "{out}"), True),
    Case(STARTUP, "cat", ("/dev/null",), False),
]

Sample = collections.namedtuple("Sample", "cpu wall")


class Unusable(Exception):
    """The run cannot say anything; the message tells what to do."""


def log_lines(size):
    """Tab-separated records as a log has them, about 100 bytes a line, the same in every run."""
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
        self.names = {name: os.path.join(directory, name) for name in ("text", "copy", "out", "seen")}
        self.names["packed"] = os.path.join(directory, "packed.Z")
        piece = "".join(log_lines(min(size, 4 << 20)))
        with open(self.names["text"], "w", encoding="ascii") as file:
            for _ in range(max(1, size // len(piece))):
                file.write(piece)
        shutil.copyfile(self.names["text"], self.names["copy"])
        self.pack()

    def pack(self):
        compress = shutil.which("compress", path=SYSTEM_PATH)
        if not compress:
            raise Unusable("compress: no such program; apt-get install ncompress")
        with open(self.names["packed"], "wb") as packed:
            subprocess.run([compress, "-c", self.names["text"]], stdout=packed, check=True)

    def arguments(self, case):
        out = self.out(case)
        return [argument.format(**{**self.names, "out": out}) for argument in case.arguments]

    def out(self, case):
        return self.names["out"] if case.to_file else "/dev/null"


def applets(program):
    """What a program of many names offers."""
    if not shutil.which(program, path=SYSTEM_PATH):
        return []
    listing = [program, "--list"] if program == "busybox" else [program]
    return subprocess.run(listing, stdout=subprocess.PIPE, check=True, text=True).stdout.split()


def preload_environment(build):
    return {**ENVIRONMENT, "LD_PRELOAD": os.path.join(build, "lib", "libasf_stdio.so")}


def find_form(form, program, build):
    """The beginning of the command line, or None where the form does not exist."""
    if form in ("system", "preloaded"):
        found = [shutil.which(name, path=SYSTEM_PATH) for name in SYSTEM_NAMES.get(program, [program])]
        return next(([path] for path in found if path), None)
    if form in ("busybox", "toybox"):
        return [shutil.which(form, path=SYSTEM_PATH), program] if program in applets(form) else None
    path = os.path.join(UUTILS, program) if form == "uutils" else \
        os.path.join(build, "bin", "examples", f"{form}-{program}")
    if os.access(path, os.X_OK):
        return [path]
    if form in OURS:
        raise Unusable(f"{path}: no such program; cmake --build --preset release makes it")
    return None


class Job:
    """One case in one form: its command, and the samples taken of it."""

    def __init__(self, case, form, command, files):
        self.case, self.form = case, form
        self.command = command + files.arguments(case)
        self.out, self.seen = files.out(case), files.names["seen"]
        # cp opens its target itself, the others write it as standard output.
        self.standard_output = "/dev/null" if "{out}" in case.arguments else self.out
        self.environment = preload_environment(files.build) if form == "preloaded" else ENVIRONMENT
        self.samples, self.differs = [], False

    @property
    def name(self):
        return f"{self.case.title} ({self.form})"

    def run(self, standard_output=None):
        """The time of one run into a new file."""
        if self.case.to_file and os.path.exists(self.out):
            os.unlink(self.out)
        opened = (os.POSIX_SPAWN_OPEN, 1, standard_output or self.standard_output,
                  os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        began = time.perf_counter()
        child = os.posix_spawn(self.command[0], self.command, self.environment, file_actions=[opened])
        _, status, usage = os.wait4(child, 0)
        wall = time.perf_counter() - began
        if status:
            raise Unusable(f"{' '.join(self.command)}: exit status {os.waitstatus_to_exitcode(status)}")
        return Sample(usage.ru_utime + usage.ru_stime, wall)

    def output(self):
        """What a run writes, as a short value to compare."""
        if "{out}" in self.case.arguments or self.case.to_file:
            self.run()
            path = self.out
        else:
            self.run(self.seen)
            path = self.seen
        with open(path, "rb") as file:
            if self.case.program == "wc":  # each wc pads its columns in its own way
                return b" ".join(file.read().split())
            return hashlib.file_digest(file, "sha256").hexdigest()


def jobs(arguments, files):
    """All that is to be timed in one directory."""
    found = []
    for case in CASES:
        for form in arguments.forms:
            command = find_form(form, case.program, files.build) if case.program in arguments.programs else None
            if command:
                found.append(Job(case, form, command, files))
    return found
