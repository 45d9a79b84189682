# SPDX-License-Identifier: MIT
"""transfers.py - reduces the calls of a trace to comparable events: the transfers of each process and its other calls.

The place in the tree names a process: (2, 1) is the first child of the second child of the command.  A thread counts as
a process that shares its parent's descriptors.

The events omit what has no visible effect: queries, seeks to the present offset, and the dynamic linker's files.
Successive transfers in one direction on one descriptor become one event.

Queries in the trace are counted by name, for each interval between two writes to the file "transcript".  A preloaded
program may make no more queries in an interval than a plain one.
"""
import collections
import dataclasses
import functools
import operator
import re

import tracing

# Files of the dynamic linker, its list of mappings, and malloc's file.
LOADED = re.compile(r'"[^"]*(?:\.so(?:\.[0-9.]+)?|/ld\.so\.(?:cache|preload)|/proc/self/maps|/overcommit_memory)"')
FIRST = re.compile(r"(-?\d+)(?:<(.*?)>(?=,|\(|$))?")  # matches a call's first argument: a descriptor with its file
# Files whose transfer sizes depend on when the process at the other end ran.
BY_TURNS = re.compile(r"pipe:|socket:|UNIX|TCP|/dev/pts/|/dev/tty|/dev/ptmx")
READS = {"read", "readv", "pread64", "preadv", "preadv2"}
WRITES = {"write", "writev", "pwrite64", "pwritev", "pwritev2"}
OPENS = {"open", "openat", "openat2", "creat"}
FORKS = {"fork", "vfork", "clone", "clone3"}
DUPLICATES = {"dup", "dup2", "dup3"}
COPIES = {"sendfile", "splice", "copy_file_range", "tee"}
SIZES = {"ftruncate", "truncate", "fallocate"}
ASKING_IOCTLS = ("TCGETS", "TCGETS2", "TIOCGWINSZ", "TIOCGPGRP", "FIONREAD")
ASKING_FCNTLS = ("F_GET", "F_OFD_GETLK", "F_SETFD")
SAME_QUESTION = {"newfstatat": "fstat", "statx": "fstat"}
STANDARD_ERROR = "fstat of standard error"


@dataclasses.dataclass(frozen=True)
class Event:
    what: str  # read, write, seek, or the name of another call
    fd: int = -1
    asked: int = 0
    got: object = 0  # the number of bytes, the offset after a seek, a descriptor, or an error's name
    file: str = dataclasses.field(default="", compare=False)
    from_where: object = dataclasses.field(default=None, compare=False)  # the offset before a seek

    @property
    def by_turns(self):
        return self.what == "read" and bool(BY_TURNS.match(self.file))

    def __str__(self):
        file = re.sub(r"^/.*/(work|slot\.[^/]*|streams\.[^/]*)/", "", self.file)
        where = f" of {self.fd} ({file})" if self.fd >= 0 else f" {file}"
        if self.what in ("read", "write"):
            return f"{self.what}{where}: {self.asked} bytes asked for, {self.got} got"
        return f"{self.what}{where}" + (f", {self.asked}" if self.asked else "") + f" = {self.got}"


@dataclasses.dataclass
class OpenFile:
    """An open file description.  Forks and duplicates share it."""

    opened_as: int  # the first descriptor on this file
    position: object = None  # None: unknown
    appends: bool = False
    loads: bool = False  # opened by the dynamic linker

    def advance(self, count):
        if self.position is not None:
            self.position = None if self.appends else self.position + count


class Process:
    def __init__(self, place, files, command=""):
        self.place = place
        self.files = files
        self.command = command
        self.children = 0
        self.events = []
        self.asked = [collections.Counter()]

    def file(self, fd):
        return self.files.setdefault(fd, OpenFile(fd))

    def add(self, event):
        if event.what == "seek":
            self.add_seek(event)
        else:
            self.events.append(event)

    def add_seek(self, event):
        """Adds a seek.  Merges it with a seek just before, and omits both if they lead back to the first offset.

        Moves the seek before preceding dups and closes, since their order has no effect."""
        at = len(self.events)
        while at and self.events[at - 1].what in ("dup", "close"):
            at -= 1
        last = self.events[at - 1] if at else None
        if last and last.what == "seek" and last.fd == event.fd:
            at -= 1
            event = dataclasses.replace(event, from_where=self.events.pop(at).from_where)
        if event.got != event.from_where:
            self.events.insert(at, event)

    def forms(self):
        """Returns three forms of the events.

        They are the joined events in order; the totals by descriptor if the process reads a pipe or socket, else None;
        and the groups of transfers without amounts."""
        made = []
        for event in self.events:
            made.append(joined(made.pop(), event) if made and can_join(made[-1], event) else event)
        piped = any(event.what == "read" and event.file.startswith(("pipe:", "socket:")) for event in made)
        totals = tuple(grouped(made, whole_amounts)) if piped else None
        return tuple(made), totals, tuple(grouped(self.events, no_amounts))


def can_join(first, second):
    """Returns whether one call could make both transfers.  Transfers that fail with the same error count as one."""
    if (first.what, first.fd) != (second.what, second.fd) or first.what not in ("read", "write"):
        return False
    if isinstance(first.got, str) or isinstance(second.got, str):
        return first.got == second.got
    return first.by_turns or first.got == first.asked


def joined(first, second):
    return second if isinstance(second.got, str) else whole_amounts(first, second)


def whole_amounts(before, event):
    """Adds a transfer to a group: sums of the bytes, and of the requests.

    For a read from a pipe, socket or terminal keeps the largest request, since the number of reads depends on timing."""
    asked = max(before.asked, event.asked) if event.by_turns else before.asked + event.asked
    return dataclasses.replace(event, asked=asked, got=before.got + event.got)


def no_amounts(before, event):
    return dataclasses.replace(event, got=0, asked=max(before.asked, event.asked) if event.by_turns else 0)


def grouped(events, add):
    """Returns the events with the transfers between two other calls grouped by descriptor and direction."""
    groups, seen = {}, []
    for event in events:
        if event.what in ("read", "write") and not isinstance(event.got, str):
            key = (event.fd, event.what)
            groups[key] = add(groups.get(key, dataclasses.replace(event, asked=0, got=0)), event)
        else:
            seen += [groups[key] for key in sorted(groups)] + [event]
            groups = {}
    return seen + [groups[key] for key in sorted(groups)]


class Tree:
    """All processes of one trace."""

    def __init__(self):
        self.processes = {}
        self.finished = []

    def follow(self, calls):
        # A child has the descriptors that its parent has at the beginning of the fork.
        calls.sort(key=lambda call: call.begun if call.name in FORKS else call.ended)
        if calls:
            root = min(calls, key=lambda call: call.begun).pid
            self.processes[root] = Process((), {fd: OpenFile(fd, position=0) for fd in range(3)})
        for call in calls:
            process = self.processes.get(call.pid)
            if process:
                self.take(process, call)

    def take(self, process, call):
        first = FIRST.match(call.arguments)
        fd, path = (int(first[1]), first[2] or "") if first else (-1, "")
        count_asking(process, call, fd, path)
        if call.name in FORKS:
            self.fork(process, call)
        elif call.name in OPENS:
            opened(process, call)
        elif call.name in READS or call.name in WRITES:
            transferred(process, call, fd, path)
        elif call.name == "lseek":
            moved(process, call, fd, path)
        elif call.name == "close":
            closed(process, call, fd, path)
        elif not asks(call) and call.name not in tracing.ASKING:
            other(process, call, fd, path)

    def fork(self, process, call):
        if call.result > 0:
            process.children += 1
            threads = "CLONE_THREAD" in call.arguments
            files = process.files if threads or "CLONE_FILES" in call.arguments else dict(process.files)
            self.processes[call.result] = Process((*process.place, process.children), files, process.command)
        process.add(Event("fork", got=call.error))


def count_asking(process, call, fd, path):
    if path.endswith("/transcript"):
        process.asked.append(collections.Counter())
    file = process.files.get(fd)
    if (call.name in tracing.ASKING or call.name == "lseek" or asks(call)) and not (file and file.loads):
        name = SAME_QUESTION.get(call.name, call.name)
        process.asked[-1][STANDARD_ERROR if (name, fd) == ("fstat", 2) else name] += 1


def asks(call):
    words = call.arguments.split(", ")
    operation = words[1] if len(words) > 1 else ""
    waits = call.name in ("wait4", "waitid") and ("WNOHANG" in call.arguments or call.error == "ECHILD")
    return (waits or call.name in ("ioctl", "exit_group", "exit") and (not operation or operation in ASKING_IOCTLS)
            or call.name == "fcntl" and operation.startswith(ASKING_FCNTLS))


def opened(process, call):
    if LOADED.search(call.arguments):
        if not call.error:
            process.files[call.result] = OpenFile(call.result, loads=True)
        return
    path = call.arguments.split('"')[1]
    if not call.error:
        process.files[call.result] = OpenFile(call.result, position=0, appends="O_APPEND" in call.arguments)
    process.add(Event("open", got=call.error or call.result, file=path))


def closed(process, call, fd, path):
    file = process.files.pop(fd, None)
    if not (file and file.loads):
        process.add(Event("close", fd, got=call.error, file=path))


def transferred(process, call, fd, path):
    file = process.file(fd)
    if file.loads or call.error == "EBADF":  # asf may know beforehand that the call would fail
        return
    numbers = [int(n) for n in re.findall(r", (\d+)(?=,|$)", call.arguments)]
    places = 1 if call.name.startswith("p") else 0
    if "v" in call.name:
        asked = sum(int(n) for n in re.findall(r"iov_len=(\d+)", call.arguments))
    else:
        asked = numbers[-1 - places]
    what = "read" if call.name in READS else "write"
    if places:
        process.add(Event(f"p{what} at {numbers[-1]}", fd, asked, call.error or call.result, path))
        return
    if not call.error:
        file.advance(call.result)
    # The requested length of a failing write depends on how many writes were combined.
    asked = 0 if call.error and what == "write" else asked
    process.add(Event(what, fd, asked, call.error or call.result, path))


def moved(process, call, fd, path):
    file = process.file(fd)
    if call.error or file.loads:
        return
    before, file.position = file.position, call.result
    if call.result != before and ", 0, SEEK_CUR" not in call.arguments:
        process.add(Event("seek", file.opened_as, got=call.result, file=path, from_where=before))


def other(process, call, fd, path):
    if not path:
        fd = -1  # the number belonged to a descriptor of another kind
    if call.name == "execve":
        path = call.arguments.split('"')[1]
        if not call.error:
            process.command = path.rpartition("/")[2]
        process.add(Event("execve", got=call.error, file=path))
        return
    file = process.files.get(fd)
    if file and file.loads:
        return
    if (call.name in DUPLICATES or ", F_DUPFD" in call.arguments) and not call.error:
        process.files[call.result] = process.file(fd)
        process.add(Event("dup", fd, got=call.result, file=path))
        return
    if call.name in COPIES and call.result > 0:
        for copied in re.findall(r"(\d+)<[^>]*>, NULL", call.arguments) + [fd]:
            process.file(int(copied)).position = None
    size = re.search(r", (\d+)(?:, \d+)?$", call.arguments) if call.name in SIZES | COPIES else None
    got = call.error or (call.result if call.name in COPIES else 0)
    name = f"ends {call.arguments}" if call.name == "ends" else call.name
    process.add(Event(name, fd, int(size[1]) if size else 0, got, path))


@dataclasses.dataclass
class Seen:
    command: str
    forms: tuple
    asked: list


NOTHING = Seen("", ((), None, None), [])


def processes_of(log):
    """Returns a dictionary from each process's place in the tree to the events of the process."""
    tree = Tree()
    tree.follow(tracing.read_calls(log))
    return {process.place: Seen(process.command, process.forms(), process.asked) for process in tree.processes.values()}


def same(plain, preloaded):
    """Returns whether a preloaded run of a process has the same events as a plain run.

    If the runs of one kind differ among each other, amounts do not count."""
    ours, theirs = [[set(forms) for forms in zip(*(seen.forms for seen in runs))] for runs in (plain, preloaded)]
    if ours[0] & theirs[0] or (ours[1] & theirs[1]) - {None}:
        return True
    return (len(ours[0]) > 1 or len(theirs[0]) > 1) and bool((ours[2] & theirs[2]) - {None})


def differing(plain, preloaded):
    places = {place for run in plain + preloaded for place in run}
    return sorted(place for place in places if not same([run.get(place, NOTHING) for run in plain],
                                                        [run.get(place, NOTHING) for run in preloaded]))


def asked_more(plain, preloaded):
    """Returns a text for each interval in which every preloaded run makes more queries than any plain run.

    Ignores the interval before the first note.  An fstat may come in a later interval than libc's: libc allocates a
    buffer even if it only reads pushed-back bytes, asf does not.  In an interval in which libc calls fstat, asf may also
    call fstat on standard error, to see whether the stream uses the same file."""
    found = []
    for place in set.intersection(*(set(run) for run in plain + preloaded)):
        spared = collections.Counter()
        for number, asked in enumerate(zip(*(run[place].asked[1:] for run in plain + preloaded))):
            ours = functools.reduce(operator.or_, asked[:len(plain)])
            theirs = functools.reduce(operator.and_, asked[len(plain):])
            more = theirs - ours - spared
            if ours["fstat"]:
                del more[STANDARD_ERROR]
            spared += collections.Counter(fstat=(ours - theirs)["fstat"])
            if more:
                calls = ", ".join(f"{count} {name}" for name, count in more.items())
                found.append(f"    process {place}, after note {number}: asks more: {calls}")
    return found


def shown_list(events, at, name):
    lines = [f"      {name}:"] + [f"          {event}" for event in events[at:at + 6]]
    return lines + (["          (its end)"] if len(events) <= at + 5 else ["          ..."])


def shown_difference(place, plain, preloaded):
    """Returns a text about one process: the last events before the first difference, and the next ones of each run."""
    seen = plain.get(place, NOTHING), preloaded.get(place, NOTHING)
    a, b = seen[0].forms[0], seen[1].forms[0]
    at = next((i for i, (one, two) in enumerate(zip(a, b)) if one != two), min(len(a), len(b)))
    name = ".".join(str(n) for n in place) or "itself"
    fds = sorted({event.fd for event in (*a[at:at + 1], *b[at:at + 1]) if event.fd >= 0})
    numbers = ", ".join(map(str, fds)) or "none"
    lines = [f"    process {name} ({seen[0].command or seen[1].command}), descriptor {numbers}, "
             f"event {at + 1} of {len(a)} plain, {len(b)} preloaded", "      both:"]
    lines += [f"          {event}" for event in a[max(0, at - 4):at]]
    return "\n".join(lines + shown_list(a, at, "plain") + shown_list(b, at, "preloaded"))
