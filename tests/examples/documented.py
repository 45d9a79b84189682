#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""documented.py BUILD DOCUMENT...: does what the documents tell people to do.

Each block of shell runs as it is printed, one after the other, in a copy of the tree's examples, with what BUILD
installs; a block marked "output" is what the block before it prints on standard output, and one marked "c FILE" or
"python FILE" is a part of that file.  Without BUILD ("-") the asf that the system has installed is used.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

TREE = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Wrong(Exception):
    """The document says something that is not so."""


def install(build, prefix):
    """What a user's shell would have in its environment."""
    subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
    library = next(folder for folder, _, files in os.walk(prefix) if "libasf.so" in files)
    return {"PATH": f"{prefix}/bin:{os.environ['PATH']}", "PKG_CONFIG_PATH": f"{library}/pkgconfig",
            "LD_LIBRARY_PATH": library, "PYTHONPATH": os.path.join(build, "python"), "PYTHONDONTWRITEBYTECODE": "1"}


def run_blocks(blocks, folder, environment):
    """Returns the outputs, by a shell that leaves each block's in a file of its own."""
    script = "".join(f"exec >{folder}/output.{i}\n{block}\n" for i, block in enumerate(blocks))
    result = subprocess.run(["bash", "-eu"], input=script, text=True, env={**os.environ, **environment}, check=False,
                            cwd=os.path.join(folder, "tree"), stderr=subprocess.PIPE)
    outputs = []
    for i in range(len(blocks)):
        path = os.path.join(folder, f"output.{i}")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                outputs.append(file.read())
    if result.returncode != 0:
        raise Wrong(f"this ends with status {result.returncode}:\n{blocks[len(outputs) - 1]}{result.stderr}")
    return outputs


def check_source(name, text, document):
    with open(os.path.join(os.path.dirname(document), name), encoding="utf-8") as file:
        if text not in file.read():
            raise Wrong(f"{name} has no such lines:\n{text}")


def check(document, folder, environment):
    """Returns how many blocks there are of each kind."""
    with open(document, encoding="utf-8") as file:
        found = BLOCK.findall(file.read())
    blocks = [text for kind, text in found if kind == "sh"]
    outputs = run_blocks(blocks, folder, environment)
    before, sources, compared = -1, 0, 0
    for kind, text in found:
        if kind == "sh":
            before += 1
        elif kind == "output":
            compared += 1
            if outputs[before] != text:
                raise Wrong(f"this prints\n{outputs[before]}and not\n{text}:\n{blocks[before]}")
        elif kind.startswith(("c ", "python ")):
            sources += 1
            check_source(kind.partition(" ")[2], text, document)
        else:
            raise Wrong(f"a block of the kind {kind!r}")
    if not blocks:
        raise Wrong("no block to run")
    return f"{len(blocks)} blocks run, {compared} outputs and {sources} sources compared"


def main():
    build, documents = sys.argv[1], sys.argv[2:]
    build = build if build == "-" else os.path.realpath(build)
    with tempfile.TemporaryDirectory(prefix="asf-documented-") as folder:
        environment = {} if build == "-" else install(build, os.path.join(folder, "prefix"))
        for document in documents:
            tree = os.path.join(folder, "tree")
            shutil.rmtree(tree, ignore_errors=True)
            os.mkdir(tree)
            os.symlink(os.path.join(TREE, "examples"), os.path.join(tree, "examples"))
            try:
                print(f"{document}: {check(document, folder, environment)}")
            except Wrong as wrong:
                sys.exit(f"{document}: {wrong}")


main()
