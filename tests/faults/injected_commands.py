#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""injected_commands.py ASF GOLDEN - runs asf's commands while each of their system calls fails in turn.

strace makes the n-th call of a kind fail, once or from then on, for n = 1, 2, ... while the command makes n such calls.
The command must end in time and without a signal.  Either its results are the same as without a fault, or its status is
not 0 and it prints a message.  It must not leave additional files, nor, after a failure, a segment.
"""
import argparse
import collections
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

FAULTS = {
    "openat": ["EMFILE", "EACCES", "EINTR"], "read": ["EIO", "EINTR"], "pread64": ["EIO"],
    "write": ["ENOSPC", "EIO", "EINTR"], "pwrite64": ["ENOSPC"], "close": ["EIO"], "lseek": ["ESPIPE"],
    "newfstatat": ["EACCES"], "statx": ["ENOSYS"], "mmap": ["ENOMEM"], "mprotect": ["ENOMEM"], "munmap": ["EINVAL"],
    "ftruncate": ["ENOSPC"], "fallocate": ["ENOSPC", "EOPNOTSUPP"], "fsync": ["EIO"], "linkat": ["EPERM"],
    "rename,renameat,renameat2": ["EIO"], "unlink,unlinkat": ["EPERM"], "getdents64": ["EIO"], "readlink,readlinkat":
    ["EACCES"], "fchmod": ["EPERM"], "getrandom": ["ENOSYS"], "pipe2": ["EMFILE"], "vfork,clone,clone3": ["EAGAIN"],
    "execve": ["EACCES"], "wait4": ["EINTR"], "dup2,dup3,fcntl": ["EMFILE"],
}
MOST = 30  # the limit of n: later calls of a command only repeat earlier ones
Scenario = collections.namedtuple("Scenario", "name command input")

# Matches names and times of segments, which differ in every run.
CHANGING = re.compile(rb"shmids \S+ .*|p\d+\.[0-9a-f]{12}")

# Matches the loader's own mappings: if one of them fails, the loader ends the program.
LOADERS = re.compile(r"\bmmap\(NULL, (8192|12288), PROT_READ\|PROT_WRITE, MAP_PRIVATE\|MAP_ANONYMOUS[^\n]*\(INJECTED\)")


def scenarios(asf, golden):
    """Yields the commands, which run in a directory with the files "text" and "packed".  Omits "shm ls" and "shm rm", whose
    output depends on other processes."""
    record = golden + "/s390x.records"
    yield Scenario("formats", [asf, "record", "formats", record], None)
    yield Scenario("dump", [asf, "record", "dump", "--json", record], None)
    yield Scenario("dump-of-a-pipe", [asf, "record", "dump"], record)
    yield Scenario("convert", [asf, "record", "convert", "--index", "--output", "converted", record], None)
    yield Scenario("pack", [asf, "shm", "pack", "--min", "100", "text"], None)
    yield Scenario("expand", [asf, "shm", "expand", "packed"], None)
    yield Scenario("run", [asf, "run", "--options", "stats=report", "sh", "-c", "echo done"], None)
    yield Scenario("pipe", [asf, "pipe", "cat text | sort | tail -n 3"], None)


def is_same(plain, now):
    return [CHANGING.sub(b"", part) for part in plain] == [CHANGING.sub(b"", part) for part in now]


class Loop:
    """Runs one scenario, in a separate directory."""

    def __init__(self, asf, golden, scenario):
        self.scenario = scenario
        self.folder = tempfile.mkdtemp(prefix="asf-faults.")
        with open(self.path("text"), "w", encoding="ascii") as text:
            text.writelines(f"{i} {i / 7:.9g}\n" for i in range(3000))
        with open(self.path("packed"), "wb") as packed:
            subprocess.run([asf, "shm", "pack", "--min", "100", "text"], cwd=self.folder, stdout=packed, check=True)
        self.kept = set(glob.glob("/dev/shm/*"))
        self.files = set(os.listdir(self.folder))

    def path(self, name):
        return os.path.join(self.folder, name)

    def end(self):
        shutil.rmtree(self.folder)
        for segment in self.kept:
            os.unlink(segment)

    def run(self, fault):
        """Returns the results, status, stderr, the names of new files, and strace's log.

        The results are stdout and the contents of the new files."""
        log = self.path("log")
        strace = ["strace", "-q", "-o", log, "-e", f"trace={fault[0]},execve", "-e",
                  f"inject={fault[0]}:error={fault[1]}:when={fault[2]}"] if fault else []
        with open(self.scenario.input or os.devnull, "rb") as given:
            try:
                done = subprocess.run(strace + self.scenario.command, cwd=self.folder, stdin=given, check=False,
                                      capture_output=True, timeout=60,
                                      env={"PATH": os.environ["PATH"], "HOME": self.folder, "LC_ALL": "C"})
            except subprocess.TimeoutExpired:
                return [], "no end in a minute", b"", set(), "(INJECTED)"
        made = [done.stdout]
        left = set()
        for name in sorted(set(os.listdir(self.folder)) - self.files):
            if name not in ("log", "report"):
                left.add(name)
                with open(self.path(name), "rb") as file:
                    made.append(name.encode() + b": " + file.read())
                os.unlink(self.path(name))
        if os.path.exists(self.path("report")):
            os.unlink(self.path("report"))
        for segment in set(glob.glob("/dev/shm/*")) - self.kept:
            left.add("a segment")
            os.unlink(segment)
        calls = ""
        if fault:
            with open(log, encoding="utf-8", errors="replace") as lines:
                calls = lines.read()
        return made, done.returncode, done.stderr, left, calls

    def faults(self):
        """Tries every fault.  Returns the number of faults, and a text for each fault that the command handles wrongly."""
        made, status, message, left, _ = self.run(None)
        if status != 0:
            return 0, [f"{self.scenario.name}: without a fault: status {status}, {message!r}"]
        count, wrong = 0, []
        for calls, errors in FAULTS.items():
            if self.scenario.name == "pipe" and calls == "close":  # a close that fails by strace leaves the end of a pipe open
                continue
            for error in errors:
                for when in ("",) if error == "EINTR" else ("", "+"):  # after EINTR the command tries again
                    for n in range(1, MOST):
                        fault = (calls, error, f"{n}{when}")
                        now, status, message, left_now, log = self.run(fault)
                        if "(INJECTED)" not in log:
                            break
                        if status == -signal.SIGSEGV and LOADERS.search(log):
                            continue
                        count += 1
                        why = self.judge((made, left), (now, left_now), status, message, calls)
                        if why:
                            wrong.append(f"{self.scenario.name}: {' '.join(fault)}: {why}")
        return count, wrong

    @staticmethod
    def judge(plain, now, status, message, calls):
        """Returns None if the command handled the fault correctly, else a text."""
        if not isinstance(status, int):
            return status
        if status < 0 or 128 < status < 160:
            return f"ended by a signal: {status}"
        if not now[1] <= plain[1]:
            return f"left {', '.join(now[1] - plain[1])}"
        if status == 0:
            return None if is_same(plain[0], now[0]) else "wrong output with status 0"
        if not message and calls != "write":
            return f"status {status} without a message"
        return "failed, and left a segment" if "a segment" in now[1] else None


def main():
    """Runs all scenarios, or the named ones."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("asf")
    parser.add_argument("golden")
    parser.add_argument("name", nargs="*")
    options = parser.parse_args()
    if "ASF_TEST_ISOLATED" not in os.environ:
        os.environ["ASF_TEST_ISOLATED"] = "1"
        apart = ["unshare", "-m"] + (["-U", "-r"] if os.geteuid() else [])
        if subprocess.run(apart + ["true"], check=False, capture_output=True).returncode == 0:
            mount = "mount -t tmpfs none /dev/shm && exec \"$@\""
            os.execvp(apart[0], apart + ["sh", "-c", mount, "sh", sys.executable, "-B", *sys.argv])
        print("skipped: no /dev/shm of its own")
        return 77
    if subprocess.run(["strace", "-o", os.devnull, "true"], check=False, capture_output=True).returncode != 0:
        print("skipped: strace cannot trace here")
        return 77
    asf, golden = os.path.realpath(options.asf), os.path.realpath(options.golden)
    failed = False
    for scenario in scenarios(asf, golden):
        if options.name and scenario.name not in options.name:
            continue
        loop = Loop(asf, golden, scenario)
        try:
            count, wrong = loop.faults()
        finally:
            loop.end()
        print(f"{scenario.name}: {count} faults, {len(wrong)} wrong", *wrong, sep="\n  ", flush=True)
        failed = failed or bool(wrong) or count == 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
