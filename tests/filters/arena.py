# SPDX-License-Identifier: MIT
"""arena.py - runs one situation once, in a new work directory, and returns its output, exit status and files.

All runs of a slot use the same path for the work directory, so that a path in the output does not differ between runs.
"""
import dataclasses
import hashlib
import os
import pty
import select
import shutil
import signal
import stat
import subprocess
import termios
import time

import inputs

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
KEPT_WHOLE = 64 << 20
# seconds until a command counts as hanging; no command takes this long, even with a sanitizer on a busy machine
HANGS = 150


def remove_folder(path):
    """Removes a folder, even while processes of an earlier command still write to it."""
    for _ in range(100):
        shutil.rmtree(path, ignore_errors=True)
        if not os.path.exists(path):
            return
        time.sleep(0.1)
    shutil.rmtree(path)


@dataclasses.dataclass
class Outcome:
    stdout: bytes
    stderr: bytes
    status: object
    files: dict  # relative path -> (kind, mode, content)


@dataclasses.dataclass
class Arena:
    """A slot: a separate folder with the work directory and the captured output."""

    root: str
    inputs: str
    programs: str
    wrapper: tuple = ()  # a command that starts the case's shell, such as strace

    @property
    def work(self):
        return os.path.join(self.root, "work")

    def environment(self, situation, extra):
        return {"PATH": f"{self.programs}:{PATH}", "HOME": self.work, "LC_ALL": situation.locale, "TZ": "UTC",
                "TERM": "vt100", **extra}

    def prepare(self, case):
        shutil.rmtree(self.work, ignore_errors=True)
        os.makedirs(self.work)
        inputs.copy_inputs(self.inputs, case.command, self.work)
        os.chmod(self.work, 0o1777 if case.user else 0o755)
        if case.tmpfs:
            small = os.path.join(self.work, "small")
            os.mkdir(small)
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=" + case.tmpfs, "tmpfs", small], check=True)

    def clean(self, case):
        if case.tmpfs:
            subprocess.run(["umount", "-l", os.path.join(self.work, "small")], check=True)

    def run(self, situation, extra_environment):
        case = situation.case
        self.prepare(case)
        try:
            environment = self.environment(situation, extra_environment)
            catch = catch_tty if situation.output == "tty" else catch_plain
            stdout, stderr, status = catch(self, situation, environment)
            return Outcome(stdout, stderr, status, snapshot(self.work))
        finally:
            self.clean(case)


def start(arena, case, environment, prefix=(), **streams):
    identity = {"user": case.user, "group": "nogroup", "extra_groups": []} if case.user else {}
    command = [*prefix, *arena.wrapper, case.shell, "-c", case.command]
    return subprocess.Popen(command, cwd=arena.work, env=environment, umask=0o022, restore_signals=True,
                            start_new_session=not prefix, **identity, **streams)


def end_group(process):
    """Kills the processes that the command left in the background."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def catch_plain(arena, situation, environment):
    catch = catch_pipe if situation.output in ("pipe", "logpipe") else catch_file
    return catch(arena, situation, environment)


def catch_pipe(arena, situation, environment):
    joined = situation.output == "logpipe"
    process = start(arena, situation.case, environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT if joined else subprocess.PIPE)
    try:
        stdout, stderr = process.communicate(timeout=HANGS)
        status = process.returncode
    except subprocess.TimeoutExpired:
        end_group(process)
        stdout, stderr = process.communicate()
        status = "timed out"
    end_group(process)
    return stdout, stderr or b"", status


def catch_file(arena, situation, environment):
    paths = [os.path.join(arena.root, name) for name in ("stdout", "stderr")]
    append = situation.output == "append"
    for path in paths:
        with open(path, "wb") as file:
            file.write(b"a line from before\n" if append else b"")
    with open(paths[0], "ab" if append else "r+b") as out, open(paths[1], "r+b") as err:
        joined = situation.output in ("log", "append")
        process = start(arena, situation.case, environment, stdin=subprocess.DEVNULL, stdout=out,
                        stderr=subprocess.STDOUT if joined else err)
        try:
            status = process.wait(HANGS)
        except subprocess.TimeoutExpired:
            status = "timed out"
        end_group(process)
        process.wait()
    return *(read_file(path) for path in paths), status


def read_file(path):
    with open(path, "rb") as file:
        return file.read()


class Terminal:
    """The other end of a pseudo-terminal, and the transcript of the terminal's output.

    Turns the echo off, since its position between the program's lines depends on time.
    """

    def __init__(self):
        self.master, self.slave = pty.openpty()
        mode = termios.tcgetattr(self.slave)
        mode[3] &= ~termios.ECHO
        termios.tcsetattr(self.slave, termios.TCSANOW, mode)
        termios.tcsetwinsize(self.slave, (24, 80))
        self.transcript = b""
        self.deadline = time.monotonic() + HANGS

    def read_some(self, seconds):
        """Adds available output to the transcript.  Returns False if no process has the terminal open, or the time is up."""
        if time.monotonic() > self.deadline:
            return False
        if select.select([self.master], [], [], seconds)[0]:
            try:
                self.transcript += os.read(self.master, 65536)
            except OSError:
                return False
        return True

    def await_text(self, text, start):
        while text not in self.transcript[start:]:
            if not self.read_some(0.1):
                self.transcript += b"[never seen: %r]" % text
                return
        # Read the output that is still arriving, before the next line is typed.
        self.read_some(0.02)

    def converse(self, dialogue):
        start = 0
        for what, text in dialogue:
            if what == "await":
                self.await_text(text, start)
            else:
                start = len(self.transcript)
                os.write(self.master, text)


def catch_tty(arena, situation, environment):
    terminal = Terminal()
    # setsid makes the terminal the controlling one, so that /dev/tty works too.
    process = start(arena, situation.case, environment, ("setsid", "--ctty"), stdin=terminal.slave,
                    stdout=terminal.slave, stderr=terminal.slave)
    os.close(terminal.slave)
    terminal.converse(situation.case.dialogue)
    while terminal.read_some(1):
        pass
    in_time = time.monotonic() < terminal.deadline
    end_group(process)
    os.close(terminal.master)
    status = process.wait()
    return terminal.transcript, b"", status if in_time else "timed out"


def content_of(path, size):
    """Returns the file's bytes, or, for a large file, a digest of the blocks that are not all zero."""
    if size <= KEPT_WHOLE:
        return read_file(path)
    digest = hashlib.sha256(b"%d" % size)
    with open(path, "rb", buffering=0) as file:
        at = 0
        while at < size:
            try:
                at = os.lseek(file.fileno(), at, os.SEEK_DATA) & -4096
            except OSError:
                break
            block = os.pread(file.fileno(), 4096, at)
            if block.strip(b"\0"):
                digest.update(b"%d:" % at + block)
            at += 4096
    return digest.digest()


def describe(path):
    about = os.lstat(path)
    mode = stat.S_IMODE(about.st_mode)
    if stat.S_ISLNK(about.st_mode):
        return ("link", mode, os.readlink(path).encode())
    if stat.S_ISREG(about.st_mode):
        return ("file", mode, content_of(path, about.st_size))
    return (stat.filemode(about.st_mode)[0], mode, b"")


def snapshot(work):
    files = {}
    for folder, directories, names in os.walk(work):
        for name in directories + names:
            path = os.path.join(folder, name)
            files[os.path.relpath(path, work)] = describe(path)
    return files
