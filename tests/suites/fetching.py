# SPDX-License-Identifier: MIT
"""fetching.py - Debian's source packages, and the binary packages that building them takes.

The system's own apt sources are read, never changed: a private copy, with deb turned into deb-src, has its own lists
and cache in the work folder.
"""
import glob
import os
import re
import subprocess
import time


class Problem(Exception):
    """A suite cannot be run; the message tells what to do."""


class Offline(Problem):
    """Sources cannot be had now."""


LISTS_LAST = 12 * 3600  # seconds


def logged(command, log, cwd=None, environment=None):
    """Run a command with its output appended to a file; returns whether it succeeded."""
    with open(log, "ab") as out:
        out.write(("$ " + " ".join(command) + "\n").encode())
        out.flush()
        return subprocess.run(command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=out,
                              stderr=subprocess.STDOUT, check=False).returncode == 0


def installed(package):
    asked = subprocess.run(["dpkg-query", "-W", "-f=${db:Status-Status}", package], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, check=False)
    return asked.stdout == b"installed"


def install(packages, log):
    """Install what is missing of these packages."""
    missing = [package for package in packages if not installed(package)]
    if not missing:
        return
    if os.geteuid() != 0:
        raise Problem("not root; run this first: sudo apt-get install " + " ".join(missing))
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    command = ["apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=600", "install", "--no-install-recommends", *missing]
    if not logged(command, log, environment=environment):
        logged(["apt-get", "-q", "update"], log, environment=environment)
        if not logged(command, log, environment=environment):
            raise Offline(f"cannot install {' '.join(missing)}; see {log}")


def source_lines(text):
    """The deb-src lines that stand for the lines of a sources.list."""
    lines = [line for line in text.splitlines() if re.match(r"deb(-src)? ", line)]
    return sorted({re.sub(r"^deb(-src)?", "deb-src", line) for line in lines})


class Sources:
    """Source packages by way of a private apt."""

    def __init__(self, folder, etc="/etc/apt"):
        self.folder = folder
        self.etc = etc
        self.log = os.path.join(folder, "apt.log")
        self.parts = os.path.join(folder, "parts")
        self.lists = os.path.join(folder, "lists")
        self.fresh = os.path.join(folder, "lists-are-fresh")

    def apt(self, program, *arguments):
        options = {"Dir::Etc::sourcelist": "/dev/null", "Dir::Etc::sourceparts": self.parts,
                   "Dir::State::lists": self.lists, "Dir::Cache": os.path.join(self.folder, "cache"),
                   "APT::Sandbox::User": "", "Acquire::Retries": "1", "Acquire::http::Timeout": "20",
                   "Acquire::https::Timeout": "20"}
        return [program, "-q"] + [word for name, value in options.items() for word in ("-o", f"{name}={value}")] + \
            list(arguments)

    def write_parts(self):
        for path in [os.path.join(self.etc, "sources.list")] + glob.glob(f"{self.etc}/sources.list.d/*"):
            name = os.path.join(self.parts, os.path.basename(path))
            if not os.path.isfile(path) or not path.endswith((".list", ".sources")):
                continue
            with open(path, encoding="utf-8") as file:
                text = file.read()
            if path.endswith(".list"):
                text = "".join(line + "\n" for line in source_lines(text))
            else:
                text = re.sub(r"^Types:.*", "Types: deb-src", text, flags=re.MULTILINE)
            with open(name, "w", encoding="utf-8") as file:
                file.write(text)

    def prepare(self):
        """Read the lists, unless that was done lately."""
        if os.path.exists(self.fresh) and time.time() - os.path.getmtime(self.fresh) < LISTS_LAST:
            return
        for folder in (self.parts, self.lists + "/partial", self.folder + "/cache/archives/partial"):
            os.makedirs(folder, exist_ok=True)
        self.write_parts()
        if not logged(self.apt("apt-get", "update"), self.log):
            raise Offline(f"apt-get update fails; see {self.log}")
        if not glob.glob(os.path.join(self.lists, "*_source_Sources*")):
            raise Offline(f"no source lists can be had (offline?); see {self.log}")
        with open(self.fresh, "w", encoding="utf-8"):
            pass

    def versions(self, package):
        """The versions of a source package, newest first as apt has them."""
        shown = subprocess.run(self.apt("apt-cache", "showsrc", package), stdout=subprocess.PIPE, check=False,
                               stderr=subprocess.DEVNULL).stdout.decode()
        stanzas = [dict(re.findall(r"^(Package|Version): (.*)", text, re.MULTILINE)) for text in shown.split("\n\n")]
        return [stanza["Version"] for stanza in stanzas if stanza.get("Package") == package]

    def unpack(self, package, target, patched):
        """Fetch the newest version there is, and unpack it to `target`."""
        self.prepare()
        folder = target + ".fetched"
        os.makedirs(folder, exist_ok=True)
        for wanted in [package] + [f"{package}={version}" for version in self.versions(package)]:
            if logged(self.apt("apt-get", "source", "--download-only", wanted), self.log, cwd=folder):
                break
        else:
            raise Offline(f"cannot fetch the source of {package} (offline?); see {self.log}")
        described = sorted(glob.glob(f"{folder}/{package}_*.dsc"), key=os.path.getmtime)[-1]
        patches = [] if patched else ["--skip-patches"]
        if not logged(["dpkg-source", "--no-copy", *patches, "-x", described, target], self.log):
            raise Problem(f"cannot unpack {described}; see {self.log}")
