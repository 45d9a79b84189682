#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""documented.py BUILD DOCUMENT...: runs the code blocks of the documents, and checks what the documents say about them.

The mark of a block decides its use:

    sh                      a shell script
    output                  the standard output of the sh block before it
    c FILE, python FILE     an excerpt from FILE
    c, cpp, python, rust    a whole program
    cmake                   the project that builds the C and C++ programs

One shell runs all sh blocks in order, in a folder with a link to the tree's examples.  Then the script builds and runs
the programs, which must all print the same.  The blocks use the asf that BUILD installs, or the system's asf if BUILD
is "-".  Without cargo, Rust is omitted.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

TREE = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

PROGRAMS = {"c", "cpp", "python", "rust", "cmake"}


class Wrong(Exception):
    """The document contains a false statement."""


def install(build, prefix):
    """Installs the build, and returns the environment variables that a user would set for it."""
    subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
    library = next(folder for folder, _, files in os.walk(prefix) if "libasf.so" in files)
    return {"PATH": f"{prefix}/bin:{os.environ['PATH']}", "PKG_CONFIG_PATH": f"{library}/pkgconfig",
            "CMAKE_PREFIX_PATH": prefix, "LD_LIBRARY_PATH": library,
            "PYTHONPATH": os.path.join(build, "python"), "PYTHONDONTWRITEBYTECODE": "1"}


def run_blocks(blocks, folder, environment):
    """Runs the blocks in one shell, and returns the output of each."""
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


def write_project(folder, files):
    for name, text in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def build_with_cmake(folder, settings, source, suffix):
    """Writes the document's CMake project for this program.  Returns the commands that build and run it."""
    project = settings.replace(".c)", suffix + ")")
    program = re.search(r"add_executable\((\w+)", settings)[1]
    write_project(folder, {"CMakeLists.txt": project, program + suffix: source})
    return f"cmake -S {folder} -B {folder}/build >&2 && cmake --build {folder}/build >&2", f"{folder}/build/{program}"


def build_with_cargo(folder, source):
    crate = os.path.join(TREE, "interfaces", "rust")
    package = ('[package]\nname = "program"\nversion = "1.0.0"\nedition = "2021"\n'
               f'[dependencies]\nalloc-stream = {{ path = "{crate}" }}\n')
    write_project(folder, {"Cargo.toml": package, "src/main.rs": source})
    return (f"cargo build --quiet --offline --manifest-path {folder}/Cargo.toml --target-dir {folder}/build >&2",
            f"{folder}/build/debug/program")


def commands_of(kind, source, settings, folder):
    """Returns the commands that build and run a program."""
    if kind == "c":
        return build_with_cmake(folder, settings, source, ".c")
    if kind == "cpp":
        return build_with_cmake(folder, settings, source, ".cpp")
    if kind == "rust":
        return build_with_cargo(folder, source)
    write_project(folder, {"program.py": source})
    return ":", f"{sys.executable} -B {folder}/program.py"


def check_programs(programs, folder, environment):
    """Runs the program of each language.  Returns the number of programs."""
    sources = {kind: text for kind, text in programs.items() if kind != "cmake"}
    if not shutil.which("cargo"):
        sources.pop("rust", None)
    printed = {}
    for kind, text in sources.items():
        build, run = commands_of(kind, text, programs.get("cmake", ""), os.path.join(folder, kind))
        printed[kind] = run_blocks([build, run], folder, environment)[1]
    if len(set(printed.values())) > 1 or "" in printed.values():
        raise Wrong(f"the programs print {printed}")
    return len(sources)


def check(document, folder, environment):
    """Checks one document.  Returns the numbers of checked blocks, as text."""
    with open(document, encoding="utf-8") as file:
        found = BLOCK.findall(file.read())
    blocks = [text for kind, text in found if kind == "sh"]
    outputs = run_blocks(blocks, folder, environment)
    before, sources, compared = -1, 0, 0
    programs = {kind: text for kind, text in found if kind in PROGRAMS}
    count = check_programs(programs, folder, environment)
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
        elif kind not in PROGRAMS:
            raise Wrong(f"a block of the kind {kind!r}")
    if not blocks:
        raise Wrong("no block to run")
    return f"{len(blocks)} blocks and {count} programs run, {compared} outputs and {sources} sources compared"


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
