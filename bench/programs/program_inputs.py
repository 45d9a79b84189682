# SPDX-License-Identifier: MIT
"""The inputs of programs/run: text, tables, records and binary files, the same in every run, made on first use."""
import hashlib
import os
import random
import re
import shlex
import shutil
import sqlite3
import struct
import subprocess

MB = 1 << 20

WORDS = ("the of stream and buffer to a in module is that returns it for error on are as with file by this called if "
         "not be an or which descriptor from value set option see pathname process when default each may system bytes "
         "character function library output input string null directory pattern expression command signal").split()
ACCENTED = "où déjà größer señal łódź naïve Ærø über façade ключ поток буфер データ 文字列 entrée sûr €5 “quoted” –".split()
BLOCK = MB  # a piece of this size is made and repeated


class Maker:
    """Makes files in a directory; `get` gives the path of one by name."""

    def __init__(self, directory):
        self.directory = directory

    def get(self, name):
        path = os.path.join(self.directory, name)
        if not os.path.exists(path):
            kind, megabytes = name.rsplit("-", 1)
            make = getattr(self, "make_" + kind)
            make(path + ".new", int(float(megabytes) * MB))
            os.rename(path + ".new", path)
        return path

    @staticmethod
    def repeat(path, piece, size):
        """Returns whole copies of the piece, at least `size` bytes."""
        with open(path, "wb") as file:
            for _ in range(max(1, -(-size // len(piece)))):
                file.write(piece)

    @staticmethod
    def prose(choice, words, size):
        """Paragraphs of lines of up to 78 columns, some of them indented like a manual's examples."""
        lines, length = [], 0
        while length < size:
            line = "    " * (choice.random() < 0.15)
            while len(line) < choice.randint(40, 74):
                line += choice.choice(words) + choice.choice(("", "", "", "", ",", ".")) + " "
            lines.append(line.rstrip())
            if choice.random() < 0.1:
                lines.append("")
            length += len(line) + 1
        return "\n".join(lines) + "\n"

    def make_text(self, path, size):
        self.repeat(path, self.prose(random.Random(1), WORDS, min(size, BLOCK)).encode(), size)

    def make_utf8(self, path, size):
        words = WORDS + ACCENTED
        self.repeat(path, self.prose(random.Random(2), words, min(size, BLOCK)).encode(), size)

    def make_latin1(self, path, size):
        words = WORDS + ["déjà", "größer", "señal", "naïve", "façade", "über"]
        self.repeat(path, self.prose(random.Random(3), words, min(size, BLOCK)).encode("latin-1"), size)

    def make_crlf(self, path, size):
        text = self.prose(random.Random(4), WORDS, min(size, BLOCK))
        self.repeat(path, text.replace("\n", "\r\n").encode(), size)

    def make_overstruck(self, path, size):
        """A formatted manual page: bold and underlined words by backspaces."""
        choice, lines, length = random.Random(5), [], 0
        while length < min(size, BLOCK):
            words = []
            for _ in range(choice.randint(6, 12)):
                word, style = choice.choice(WORDS), choice.random()
                if style < 0.15:
                    word = "".join(f"{c}\b{c}" for c in word)
                elif style < 0.3:
                    word = "".join(f"_\b{c}" for c in word)
                words.append(word)
            lines.append("       " + " ".join(words))
            length += len(lines[-1]) + 1
        self.repeat(path, ("\n".join(lines) + "\n").encode(), size)

    def make_lines(self, path, size):
        """Sorted lines, each one to four times."""
        choice, lines, length = random.Random(6), [], 0
        for number in range(1 << 30):
            line = f"{number:08} " + " ".join(choice.choices(WORDS, k=choice.randint(2, 9)))
            lines += [line] * choice.choice((1, 1, 1, 2, 4))
            length += len(line) * 2
            if length > size:
                break
        self.repeat(path, ("\n".join(lines) + "\n").encode(), size)

    def make_other_lines(self, path, size):
        """The lines of `lines`, a tenth of them left out and a tenth new."""
        choice = random.Random(7)
        with open(self.get(f"lines-{size / MB:g}"), encoding="ascii") as old, open(path, "w", encoding="ascii") as new:
            for line in old:
                fate = choice.random()
                if fate < 0.1:
                    continue
                new.write(line)
                if fate > 0.9:
                    new.write(line[:8] + " ~ added\n")

    def make_log(self, path, size):
        choice, lines, length = random.Random(8), [], 0
        while length < min(size, BLOCK):
            lines.append(f"2026-{choice.randint(1, 12):02}-{choice.randint(1, 28):02}T{choice.randint(0, 86399):05} "
                         f"host{choice.randint(1, 400)} daemon[{choice.randint(100, 32000)}]: "
                         + " ".join(choice.choices(WORDS, k=choice.randint(4, 14))))
            length += len(lines[-1]) + 1
        self.repeat(path, ("\n".join(lines) + "\n").encode(), size)

    def make_tsv(self, path, size):
        choice, lines, length = random.Random(9), [], 0
        while length < min(size, BLOCK):
            lines.append("\t".join([f"{choice.randint(1, 10**6)}", choice.choice(WORDS), f"{choice.uniform(-1e4, 1e4):.3f}",
                                    f"host{choice.randint(1, 99)}", choice.choice(WORDS), f"{choice.random():.6g}"]))
            length += len(lines[-1]) + 1
        self.repeat(path, ("\n".join(lines) + "\n").encode(), size)

    def make_integers(self, path, size):
        choice = random.Random(10)
        lines = [str(choice.randint(1, 10 ** choice.randint(1, 9))) for _ in range(BLOCK // 6)]
        self.repeat(path, ("\n".join(lines) + "\n").encode(), size)

    def make_floats(self, path, size):
        choice = random.Random(11)
        lines = [f"{choice.uniform(-1, 1) * 10 ** choice.randint(-4, 7):.{choice.randint(1, 9)}g}"
                 for _ in range(BLOCK // 9)]
        self.repeat(path, ("\n".join(lines) + "\n").encode(), size)

    def make_markup(self, path, size):
        """Prose for m4: words, calls of a macro, quotes."""
        text = self.prose(random.Random(12), WORDS, min(size, BLOCK)).replace("value", "twice(value)")
        self.repeat(path, text.replace(",", "").replace("define", "").encode(), size)

    def make_names(self, path, size):
        """Lines with mangled C++ names, as nm prints them."""
        choice, lines, length = random.Random(13), [], 0

        def part():
            word = choice.choice(WORDS)
            return f"{len(word)}{word}"
        while length < min(size, BLOCK):
            name = f"_ZN{part()}{part()}{part()}E" + choice.choice(("v", "i", "PKc", "RKSsi", "St6vectorIiSaIiEE"))
            lines.append(f"{choice.randrange(1 << 40):016x} {choice.choice('TtUWdb')} {name}")
            length += len(lines[-1]) + 1
        self.repeat(path, ("\n".join(lines) + "\n").encode(), size)

    def make_binary(self, path, size):
        """The machine code of the system's own programs."""
        pieces, length = [], 0
        for name in sorted(os.listdir("/usr/bin")):
            source = os.path.join("/usr/bin", name)
            if os.path.isfile(source) and not os.path.islink(source):
                with open(source, "rb") as file:
                    pieces.append(file.read(4 * MB))
                length += len(pieces[-1])
            if length >= size:
                break
        self.repeat(path, b"".join(pieces)[:size], size)

    def make_other_binary(self, path, size):
        """`binary` with one byte in twenty changed."""
        choice = random.Random(14)
        with open(self.get(f"binary-{size / MB:g}"), "rb") as file:
            data = bytearray(file.read())
        for at in choice.sample(range(len(data)), len(data) // 20):
            data[at] ^= 0x55
        with open(path, "wb") as file:
            file.write(data)

    def make_library(self, path, size):
        """A shared library with code and symbols."""
        del size
        for source in ("/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/usr/lib/libc.so.6"):
            if os.path.exists(source):
                shutil.copyfile(source, path)
                return
        shutil.copyfile("/proc/self/exe", path)

    def make_ppm(self, path, size):
        width = 1024
        height = max(1, size // (3 * width))
        choice = random.Random(15)
        row = bytes(min(255, max(0, int(128 + 90 * choice.gauss(0, 0.6)))) for _ in range(3 * width))
        with open(path, "wb") as file:
            file.write(b"P6\n%d %d\n255\n" % (width, height))
            for y in range(height):
                shift = (y * 7) % len(row)
                file.write(row[shift:] + row[:shift])

    def make_wav(self, path, size):
        choice = random.Random(16)
        data = struct.pack("<65536h", *(int(12000 * choice.uniform(-1, 1)) for _ in range(65536))) * max(1, size >> 17)
        with open(path, "wb") as file:
            file.write(b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt "
                       + struct.pack("<IHHIIHH", 16, 1, 1, 44100, 88200, 2, 16) + b"data" + struct.pack("<I", len(data)))
            file.write(data)

    def make_pcap(self, path, size):
        """UDP datagrams of 40 to 1,400 bytes between two hosts."""
        choice, packets, length = random.Random(17), [], 0
        while length < min(size, BLOCK):
            payload = choice.randbytes(choice.randint(40, 1400))
            udp = struct.pack(">HHHH", choice.randint(1024, 65535), 5004, 8 + len(payload), 0) + payload
            ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 1, 0, 64, 17, 0, b"\x0a\0\0\x01", b"\x0a\0\0\x02")
            frame = b"\x02\0\0\0\0\x01\x02\0\0\0\0\x02\x08\0" + ip + udp
            packets.append(struct.pack("<IIII", len(packets), 0, len(frame), len(frame)) + frame)
            length += len(packets[-1])
        head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
        with open(path, "wb") as file:
            file.write(head)
            for _ in range(max(1, size // length)):
                file.write(b"".join(packets))

    def make_database(self, path, size):
        choice = random.Random(18)
        base = sqlite3.connect(path)
        base.execute("create table sample(id integer primary key, name text, value real, note text)")
        rows = ((choice.choice(WORDS), choice.uniform(-1e4, 1e4), " ".join(choice.choices(WORDS, k=8)))
                for _ in range(size // 90))
        base.executemany("insert into sample(name, value, note) values(?, ?, ?)", rows)
        base.commit()
        base.close()

    def make_source(self, path, size):
        """C source: the project's own, repeated."""
        tree = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
        pieces = []
        for folder in ("lib", "backplane", "streams"):
            for name in sorted(os.listdir(os.path.join(tree, folder))):
                if name.endswith(".c"):
                    with open(os.path.join(tree, folder, name), "rb") as file:
                        pieces.append(file.read())
        self.repeat(path, b"".join(pieces), size)

    def make_hex(self, path, size):
        """Plain hexadecimal digits, 60 a line."""
        digits = random.Random(19).randbytes(BLOCK // 2).hex()
        lines = (digits[at:at + 60] for at in range(0, len(digits), 60))
        self.repeat(path, ("\n".join(lines) + "\n").encode(), size)

    def make_uuencoded(self, path, size):
        with open(path, "wb") as file:
            subprocess.run(["uuencode", self.get(f"binary-{size / MB:g}"), "/dev/stdout"], stdout=file, check=True)

    def make_gzipped(self, path, size):
        with open(path, "wb") as file:
            subprocess.run(["gzip", "-1c", self.get(f"text-{size / MB:g}")], stdout=file, check=True)


def place(word, maker):
    """Returns a word of a program's command line (program_list.py), with the paths of its files inserted."""
    out = os.path.join(maker.directory, "written")
    return re.sub(r"\{(\w+-[\d.]+|out)\}", lambda m: out if m[1] == "out" else maker.get(m[1]), word)


def name_of(program):
    return program.command.split()[0] if isinstance(program.command, str) else program.command[0]


def command_of(program, maker):
    words = shlex.split(program.command) if isinstance(program.command, str) else program.command
    return [place(word, maker) for word in words]


def stdin_of(program, maker):
    """Returns the path of standard input; text after "=" in the list is the input itself."""
    text = program.stdin
    if text is None or not text.startswith("="):
        return place(text, maker) if text else "/dev/null"
    path = os.path.join(maker.directory, "script-" + hashlib.md5(text.encode()).hexdigest())
    with open(path, "w", encoding="ascii") as file:
        file.write(text[1:])
    return path
