#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""server.py - compares the answers of two of Debian's servers to the same requests, plainly and preloaded.

redis-server formats numbers, appends to a file, saves and loads its data through a FILE, and opens and closes its log for
each line.  `openssl s_server -WWW` opens, reads and closes a FILE for each request.
"""
import argparse
import os
import random
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # do not write .pyc files into the source tree
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "filters"))

import compare_filters
import twins

SAMPLES = 200  # the number of samples in a run
# Debian's redis-tools contains the server under another name. The package redis-server would also start a
# service.
REDIS = shutil.which("redis-check-rdb")
OPENSSL = shutil.which("openssl")


def connected(family, address):
    """Connects to a server.  Tries repeatedly, since the server may not listen yet."""
    for _ in range(1000):
        to = socket.socket(family)
        try:
            to.connect(address)
            return to
        except OSError:
            to.close()
            time.sleep(0.01)
    sys.exit(f"server: nothing answers at {address}")


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Server:
    """The process of a server."""

    def __init__(self, folder, command, environment, **more):
        self.process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        env={**os.environ, "LC_ALL": "C", **environment}, **more)
        self.pid = self.process.pid

    def end(self):
        self.process.terminate()
        self.process.wait()


class Redis(Server):
    """redis-server.  A question is a list of the words of a command."""

    def __init__(self, folder, environment):
        options = "--port 0 --unixsocket socket --appendonly yes --logfile log --enable-debug-command yes"
        super().__init__(folder, ["redis-server", "--save", "", *options.split()], environment, executable=REDIS)
        self.connection = connected(socket.AF_UNIX, os.path.join(folder, "socket"))
        self.replies = self.connection.makefile("rb")

    def reply(self):
        line = self.replies.readline()
        if line.startswith(b"*"):
            return line + b"".join(self.reply() for _ in range(int(line[1:])))
        return line + self.replies.read(int(line[1:]) + 2) if line.startswith(b"$") and line != b"$-1\r\n" else line

    def ask(self, question):
        words = [b"$%d\r\n%b\r\n" % (len(word), word) for word in map(str.encode, question)]
        self.connection.sendall(b"*%d\r\n" % len(words) + b"".join(words))
        return self.reply()

    @staticmethod
    def questions(count):
        rng = random.Random(1)
        for number in range(count):
            key, value = str(rng.randrange(500)), f"{rng.uniform(-1e6, 1e6):.{rng.randrange(12)}f}"
            yield ["DEBUG", "RELOAD"] if number % 2500 == 2499 else ["DEBUG", "DIGEST"] if number % 2500 == 0 else \
                ["BGREWRITEAOF"] if number % 10000 == 9998 else rng.choice([
                    ["SET", "s" + key, value * rng.randrange(1, 40)], ["GET", "s" + key],
                    ["INCRBYFLOAT", "f" + key, value], ["HINCRBYFLOAT", "h", key, value],
                    ["ZADD", "z", value, key], ["ZRANGE", "z", "0", "9", "WITHSCORES"], ["ZINCRBY", "z", value, key],
                    ["LSET", "l", key, value], ["LPUSH", "l", value], ["LTRIM", "l", "0", "600"],
                    ["SORT", "l", "LIMIT", "0", "10"], ["DEBUG", "LOG", value],
                    ["EVAL", "return string.format('%.14g %8.3f %s', ARGV[1], ARGV[1], ARGV[2])", "0", value, key]])


class Openssl(Server):
    """`openssl s_server`.  A question is the name of a file."""

    SIZES = (0, 1, 100, 4095, 4096, 4097, 16384, 65537)

    def __init__(self, folder, environment):
        subprocess.run([OPENSSL, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-keyout", "key", "-out", "certificate", "-subj", "/CN=soak"], cwd=folder, check=True,
                       stderr=subprocess.DEVNULL)
        rng = random.Random(2)
        for size in self.SIZES:
            with open(os.path.join(folder, f"file{size}"), "wb") as file:
                file.write(rng.randbytes(size))
        self.address = "127.0.0.1", free_port()
        options = f"-quiet -WWW -key key -cert certificate -accept 127.0.0.1:{self.address[1]}"
        super().__init__(folder, [OPENSSL, "s_server", *options.split()], environment)
        self.context = ssl.create_default_context(cafile=os.path.join(folder, "certificate"))
        self.context.check_hostname = False

    def ask(self, question):
        with self.context.wrap_socket(connected(socket.AF_INET, self.address)) as to:
            to.sendall(f"GET /{question} HTTP/1.0\r\n\r\n".encode())
            answer = b""
            while some := to.recv(1 << 17):
                answer += some
            # an error message begins with the thread's number
            return re.sub(rb"^[0-9A-F]{16}:", b"", answer, flags=re.MULTILINE)

    def questions(self, count):
        rng = random.Random(3)
        return (f"file{rng.choice(self.SIZES)}" if rng.random() < 0.95 else "missing" for _ in range(count))


def serve(name, kind, count, preload, folder):
    """Asks both servers all questions.  Returns whether the answers are equal, and memory use did not grow."""
    def start(number, environment):
        place = os.path.join(folder, name + str(number))
        os.mkdir(place)
        return kind(place, environment)
    pair = twins.Twins(name, start, preload)
    for number, question in enumerate(pair.programs[0].questions(count)):
        pair.ask(question)
        if number % max(1, count // SAMPLES) == 0:
            pair.sample()
    return pair.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    compare_filters.add_preload_arguments(parser)
    parser.add_argument("--requests", type=int, metavar="N", default=100000, help="to each server")
    arguments = parser.parse_args()
    servers = ("redis-server", Redis, REDIS), ("openssl-s_server", Openssl, OPENSSL)
    found = [(name, kind) for name, kind, program in servers if program]
    if not found:
        print("skipped: neither redis-tools nor openssl is installed")
        return 77
    with tempfile.TemporaryDirectory(prefix="asf-soak.") as folder:
        preload = compare_filters.Preload(arguments, folder).environment
        print(twins.HEAD, flush=True)
        good = [serve(name, kind, arguments.requests, preload, folder) for name, kind in found]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
