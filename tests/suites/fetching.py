# SPDX-License-Identifier: MIT
"""fetching.py - fetches Debian's source packages, and installs the binary packages that their builds need.

Reads the system's apt sources, and does not change them.  A private copy in the work folder, which has deb-src in place
of deb, uses separate package lists and a separate cache.
"""
import glob
import os
import re
import subprocess
import time


class Problem(Exception):
    """A suite cannot run.  The message names the remedy, or a log."""


class Offline(Problem):
    """Packages cannot be downloaded now."""


LISTS_LAST = 12 * 3600  # in seconds


def logged(command, log, cwd=None, environment=None):
    """Runs a command, and appends its output to a file.  Returns whether the command succeeded."""
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
    """Installs those of the packages that are missing."""
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
    """Returns a deb-src line for each source in a sources.list."""
    lines = [line for line in text.splitlines() if re.match(r"deb(-src)? ", line)]
    return sorted({re.sub(r"^deb(-src)?", "deb-src", line) for line in lines})


class Sources:
    """Fetches source packages by apt, with a private configuration."""

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
        """Downloads the package lists if they are older than LISTS_LAST."""
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
        """Returns the versions of a source package in apt's order, the newest first."""
        shown = subprocess.run(self.apt("apt-cache", "showsrc", package), stdout=subprocess.PIPE, check=False,
                               stderr=subprocess.DEVNULL).stdout.decode()
        stanzas = [dict(re.findall(r"^(Package|Version): (.*)", text, re.MULTILINE)) for text in shown.split("\n\n")]
        return [stanza["Version"] for stanza in stanzas if stanza.get("Package") == package]

    def unpack(self, package, target, patched):
        """Fetches the newest version that can be downloaded, and unpacks it to `target`."""
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
