# SPDX-License-Identifier: MIT
"""inputs.py - makes the input files of the commands, always with the same bytes.

A case gets new copies of the inputs that its command names.  "inputs.py FOLDER" makes the inputs in FOLDER.  A test
uses that folder if ASF_TEST_INPUTS names it.
"""
import os
import random
import re
import shutil
import sys

WORDS = """alloc backplane buffer stream window module region offset length kernel filter thread lock fault
pipe child parent signal page folio cache line field record column table number letter copy map read write
seek flush close open truncate append rename unlink descriptor terminal program library interface""".split()
HOSTS = ["alder", "birch", "cedar", "elm", "fir", "hazel", "oak", "pine", "rowan", "yew"]


def text_lines(rng, count, low, high):
    return "".join(" ".join(rng.choices(WORDS, k=rng.randint(low, high))) + "\n" for _ in range(count)).encode()


def log_lines(rng, count):
    line = "2024-{:02}-{:02}T{:02}:{:02}:{:02} {} {}[{}]: {} {} took {:.3f} ms, {} bytes\n"
    return "".join(line.format(rng.randint(1, 12), rng.randint(1, 28), rng.randint(0, 23), rng.randint(0, 59),
                               rng.randint(0, 59), rng.choice(HOSTS), rng.choice(WORDS), rng.randint(100, 32767),
                               rng.choice(WORDS), rng.choice(WORDS), rng.random() * 900, rng.randint(0, 1 << 20))
                   for _ in range(count)).encode()


def table(rng, keys):
    row = "k{:06}\t{}\t{}\t{:.2f}\n"
    return "".join(row.format(k, rng.choice(WORDS), rng.randint(0, 9999), rng.random() * 100)
                   for k in keys).encode()


def edited(rng, text):
    """Returns the text after removing, changing and adding some lines."""
    lines = []
    for line in text.splitlines(True):
        what = rng.random()
        if what < 0.01:
            continue
        lines.append(line.replace(b"a", b"A") if what < 0.03 else line)
        if what > 0.985:
            lines.append(b"a new line\n")
    return b"".join(lines)


def utf8_lines(rng, count):
    letters = "abcdefghij äöüéñßøåçğ αβγδεζηθ жзийклмн 漢字仮名 ☃✓→∞ 😀🙂"
    return "".join("".join(rng.choices(letters, k=rng.randint(0, 70))) + "\n" for _ in range(count)).encode()


def small_inputs(rng):
    plain = text_lines(rng, 300, 1, 12)
    page = (b"%07d\n" * 1024) % tuple(range(1024))
    return {
        "empty": b"",
        "onebyte": b"x",
        "newline": b"\n",
        "noeol": b"first line\nsecond line\nno newline at the end",
        "small.txt": plain,
        "changed.txt": edited(rng, plain),
        "page4095": page[:4095],
        "page4096": page[:4096],
        "page4097": page[:4097],
        "crlf.txt": plain[:3000].replace(b"\n", b"\r\n"),
        "tabs.txt": plain[:6000].replace(b" ", b"\t"),
        "names0": b"".join(b"name %d with spaces\n and a newline\0" % i for i in range(500)),
        "hello.c": b"#include <stdio.h>\n#define N 10\nint main(void) {\n\tfor (int i = 0; i < N; i++)\n"
                   b'\t\tprintf("%d\\n", i); /* comment */\n\treturn 0;\n}\n',
    }


def large_inputs(rng):
    log = log_lines(rng, 45000)
    numbers = "".join(f"{rng.randint(-10**6, 10**6)}\n" for _ in range(60000)).encode()
    return {
        "big.log": log,
        "other.log": edited(rng, log[:1 << 20]),
        "part.log": log[:1 << 20],
        "table.tsv": table(rng, range(0, 30000)),
        "second.tsv": table(rng, range(0, 45000, 3)),
        "sorted.txt": b"".join(sorted(set(text_lines(rng, 20000, 2, 4).splitlines(True)))),
        "repeats.txt": b"".join(w.encode() + b"\n" for w in WORDS for _ in range(rng.randint(1, 900))),
        "numbers": numbers,
        "binary": rng.randbytes(700001),
        "zeros": b"\0" * 300000 + b"end\n",
        "utf8.txt": utf8_lines(rng, 9000),
        "hugeline": b"".join(b"%09d," % i for i in range(2400000)),
        "longlines": b"\n".join(b"%d:" % i + bytes([97 + i]) * 5000000 for i in range(3)) + b"\n",
    }


def make_sparse(path):
    """Makes a sparse file of 6 GiB, with text at the start, after 4.5 GiB and at the end."""
    with open(path, "wb") as file:
        for offset, text in ((0, b"start of the file\n"), (9 << 29, b"\nline past four GiB\n"),
                             ((6 << 30) - 30, b"\nlast but one\nthe last line.\n\n\n")):
            file.seek(offset)
            file.write(text)


def make_inputs(folder):
    made = os.environ.get("ASF_TEST_INPUTS")
    if made and os.path.exists(os.path.join(made, "sparse6g")):
        os.symlink(os.path.abspath(made), folder)
        return
    rng = random.Random(1994)
    os.makedirs(folder)
    for name, data in {**small_inputs(rng), **large_inputs(rng)}.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)
    with open(os.path.join(folder, "sparse6g"), "wb"):
        pass  # only the name: copy_inputs makes each copy as a new sparse file


def copy_inputs(folder, command, target):
    words = set(re.findall(r"[\w.]+", command))
    for name in sorted(words & set(os.listdir(folder))):
        copy = os.path.join(target, name)
        if name == "sparse6g":
            make_sparse(copy)
        else:
            shutil.copyfile(os.path.join(folder, name), copy)
        os.utime(copy, (10**9, 10**9))


if __name__ == "__main__":
    os.environ.pop("ASF_TEST_INPUTS", None)
    shutil.rmtree(sys.argv[1], ignore_errors=True)
    make_inputs(sys.argv[1])
