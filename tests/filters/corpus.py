# SPDX-License-Identifier: MIT
"""corpus.py - reads *.cases files, which contain named command lines.

    == name                 starts a case; no other case in the set of files has this name
    %key value              sets a field of Case; only before the command
    any other lines         the command, which the shell gets unchanged
    # text                  a comment; only before the command

A situation is a case in one of its locales with one of its kinds of output.
"""
import dataclasses
import re

OUTPUTS = ("file", "pipe", "log", "logpipe", "append", "tty")


@dataclasses.dataclass
class Case:
    """One command line.  The comments show the lines of a *.cases file that set the fields."""

    name: str
    source: str
    command: str = ""
    # %needs PROGRAM...: skip the case unless all are installed
    needs: list = dataclasses.field(default_factory=list)
    # %before PROGRAM VERSION: skip the case from this version on, whose output differs
    before: list = dataclasses.field(default_factory=list)
    locales: list = dataclasses.field(default_factory=lambda: ["C"])  # %locale C C.UTF-8
    # %out KIND...: "file" and "pipe" capture stdout and stderr separately, "log" and "logpipe" together as with
    # 2>&1. "append" is a log that already has text, "tty" a pseudo-terminal.
    outputs: list = dataclasses.field(default_factory=lambda: ["file", "pipe"])
    shell: str = "sh"  # %shell bash
    user: str = ""  # %user nobody: run as this user; needs root
    tmpfs: str = ""  # %tmpfs 64k: "small" is a tmpfs of this size; needs root
    mask: str = ""  # %mask REGEX: ignore matches in the output, such as a process number
    exact: str = ""  # %exact WHY: run with buffer=libc, since the case shows the descriptor's offset
    dialogue: list = dataclasses.field(default_factory=list)  # %await TEXT, %type TEXT: implies tty

    def situations(self):
        for locale in self.locales:
            for output in self.outputs:
                yield Situation(self, locale, output)


@dataclasses.dataclass
class Situation:
    case: Case
    locale: str
    output: str

    @property
    def name(self):
        locale = "" if self.locale == "C" else "," + self.locale
        return f"{self.case.name}[{self.output}{locale}]"


def unescape(text):
    """Replaces escape sequences such as \\n, \\t and \\004 by their characters, as C does."""
    return text.encode().decode("unicode_escape").encode("latin-1")


def set_option(case, key, value):
    if key in ("await", "type"):
        case.dialogue.append((key, unescape(value)))
        case.outputs = ["tty"]
    elif key in ("shell", "user", "tmpfs", "mask", "exact"):
        setattr(case, key, value)
    elif key in ("needs", "before", "locale", "out"):
        field = {"locale": "locales", "out": "outputs"}.get(key, key)
        setattr(case, field, value.split())
    else:
        raise ValueError(f"{case.source}: unknown option %{key}")
    if not set(case.outputs) <= set(OUTPUTS):
        raise ValueError(f"{case.source}: %out takes {' '.join(OUTPUTS)}, not {value}")


def add_line(case, line):
    if case.command or not line.startswith(("%", "#")):
        case.command += line + "\n"
    elif line.startswith("%"):
        key, _, value = line[1:].partition(" ")
        set_option(case, key, value)


def read_cases(path):
    cases = []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.rstrip("\n")
            header = re.fullmatch(r"== (\S+)", line)
            if header:
                cases.append(Case(header[1], f"{path}:{number}"))
            elif cases and (line or cases[-1].command):
                add_line(cases[-1], line)
            elif line and not line.startswith("#"):
                raise ValueError(f"{path}:{number}: text before the first '== name'")
    for case in cases:
        case.command = case.command.rstrip("\n") + "\n"
    return cases


def read_corpus(paths):
    cases, names = [], set()
    for path in paths:
        cases += read_cases(path)
    for case in cases:
        if case.name in names or not case.command.strip():
            raise ValueError(f"{case.source}: {case.name}: named twice, or without a command")
        names.add(case.name)
    return cases
