# SPDX-License-Identifier: MIT
"""Runs and times a command of figure6/run, between files or with the system's cat at the other end of a pipe."""
import fcntl
import hashlib
import os
import time

import commands
from measure import Sample

CAT = "/bin/cat"
PIECE = 1 << 18


def spawn(command, environment, actions):
    return os.posix_spawn(command[0], command, environment, file_actions=actions)


def writing(path, descriptor=1):
    return (os.POSIX_SPAWN_OPEN, descriptor, path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)


def reap(children):
    """Waits for all children; returns the status of the first and the CPU time of all."""
    cpu, first = 0, None
    for child in children:
        _, status, usage = os.wait4(child, 0)
        cpu += usage.ru_utime + usage.ru_stime
        first = status if first is None else first
    return first, cpu


class Job:
    """One case in one form: its command."""

    def __init__(self, case, form, command, files):
        self.case, self.form = case, form
        self.command = command + files.arguments(case)
        self.fed, self.out, self.seen = files.names[case.feeds], files.names["out"], files.names["seen"]
        self.names_output = "{out}" in case.arguments
        preload = {"LD_PRELOAD": os.path.join(files.build, "lib", "libasf_stdio.so")} if form == "preloaded" else {}
        options = {"ASF_OPTIONS": commands.OPTIONS[form][1]} if form in commands.OPTIONS else {}
        self.environment = {**commands.ENVIRONMENT, **preload, **options}
        self.differs = False

    @property
    def name(self):
        return f"{self.case.title}, {commands.ROUTES[self.case.route]} ({self.form})"

    def start(self, sink):
        """Starts the command and the cat at the other end of its pipe; returns the children, the command first."""
        route = self.case.route
        if route == "pipe":
            ours, theirs = os.pipe()
            other = spawn([CAT], commands.ENVIRONMENT, [(os.POSIX_SPAWN_DUP2, ours, 0), writing(sink)])
            os.close(ours)
            children = [spawn(self.command, self.environment, [(os.POSIX_SPAWN_DUP2, theirs, 1)]), other]
            os.close(theirs)
        elif route == "feed":
            ours, theirs = os.pipe()
            other = spawn([CAT, self.fed], commands.ENVIRONMENT, [(os.POSIX_SPAWN_DUP2, theirs, 1)])
            os.close(theirs)
            children = [spawn(self.command, self.environment, [(os.POSIX_SPAWN_DUP2, ours, 0), writing(sink)]), other]
            os.close(ours)
        else:
            children = [spawn(self.command, self.environment, [writing(sink)])]
        return children

    def run(self, sink=None):
        """Returns the time of one run; output to a file goes to a new file."""
        if sink is None:
            sink = self.out if self.case.route in ("file", "feed") and not self.names_output else "/dev/null"
        if os.path.exists(self.out):
            os.unlink(self.out)
        began = time.perf_counter()
        status, cpu = reap(self.start(sink))
        wall = time.perf_counter() - began
        if status:
            raise commands.Unusable(f"{' '.join(self.command)}: exit status {os.waitstatus_to_exitcode(status)}")
        return Sample(cpu, wall)

    def output(self):
        """Returns a digest of a run's output."""
        self.run(self.seen)
        with open(self.out if self.names_output else self.seen, "rb") as file:
            if self.case.program == "wc":  # each wc pads its columns in its own way
                return b" ".join(file.read().split())
            return hashlib.file_digest(file, "sha256").hexdigest()


class Splice:
    """cat by splice(2) in this process: the kernel's part of the cost, without the start of a program."""
    form = "splice"

    def __init__(self, case, files):
        self.case, self.text = case, files.names["text"]
        self.differs = False

    name = "splice alone"

    def to_null(self, source):
        ours, theirs = os.pipe()
        fcntl.fcntl(theirs, fcntl.F_SETPIPE_SZ, 1 << 20)
        with open("/dev/null", "wb", buffering=0) as null:
            while moved := os.splice(source, theirs, 1 << 20):
                while moved:
                    moved -= os.splice(ours, null.fileno(), moved)
        os.close(ours)
        os.close(theirs)
        return []

    @staticmethod
    def to_pipe(source):
        ours, theirs = os.pipe()
        other = spawn([CAT], commands.ENVIRONMENT, [(os.POSIX_SPAWN_DUP2, ours, 0), writing("/dev/null")])
        os.close(ours)
        while os.splice(source, theirs, 1 << 20):
            pass
        os.close(theirs)
        return [other]

    def run(self):
        began, cpu = time.perf_counter(), time.process_time()
        with open(self.text, "rb", buffering=0) as source:
            children = (self.to_null if self.case.route == "null" else self.to_pipe)(source.fileno())
        cpu = time.process_time() - cpu
        return Sample(cpu + reap(children)[1], time.perf_counter() - began)


def copy_once(path):
    """The limit: reads a file from the page cache once, and copies it once in memory.  Returns CPU seconds."""
    page, other = bytearray(PIECE), memoryview(bytearray(PIECE))
    with open(path, "rb", buffering=0) as file:
        began = time.process_time()
        while got := file.readinto(page):
            other[:got] = memoryview(page)[:got]
        return time.process_time() - began


def limits(files):
    """Returns the limit of each input file, the best of five passes."""
    return {name: min(copy_once(files.names[name]) for _ in range(5)) for name in ("text", "part", "packed")}


def make(arguments, files):
    """Returns all jobs to be timed in one directory."""
    found = []
    for case in commands.program_cases():
        if case.program not in arguments.programs or case.route not in arguments.routes:
            continue
        for form in arguments.forms:
            command = commands.find_form(form, case.program, files.build)
            if command:
                found.append(Job(case, form, command, files))
        if case.title == "cat" and case.route in ("null", "pipe"):
            found.append(Splice(case, files))
    return found
