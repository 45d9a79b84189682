#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pipelines.py - compares shell pipelines and long-running interpreters, plainly and preloaded, for --minutes.

Runs random pipelines of the system's filters, and the random commands of tests/filters.  stdout, stderr, exit status and
files must be the same.  Between the pipelines gawk, bash and perl run rounds.  Each interpreter is one process for the
whole time.  In each round it opens and closes files and pipes, starts commands and prints.
"""
import argparse
import functools
import os
import random
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # do not write .pyc files into the source tree
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "filters"))

import arena
import compare_filters
import corpus
import inputs
import random_cases
import twins

BATCH = 20  # the number of command lines, and of the rounds of each interpreter after them

FILES = ["small.txt", "changed.txt", "noeol", "part.log", "numbers", "repeats.txt", "table.tsv", "sorted.txt",
         "crlf.txt"]
STAGES = ["sort", "sort -r", "sort -n -k2", "uniq -c", "uniq -d", "cut -d' ' -f1-3", "cut -c2-40", "tr a-z A-Z",
          "tr -s ' ' '\\n'", "grep e", "grep -c .", "grep -vn al", "sed 's/[aeiou]/<&>/g'", "sed -n '2~3p'", "rev",
          "awk '{print NF, $1}'", "awk '{n[$1]++} END {for (k in n) print n[k], k}' | sort", "paste - - -",
          "fold -w 30", "nl", "cat -A", "od -c", "expand", "fmt", "wc", "cksum", "tail -n 50", "tac", "base64",
          "gzip -c | gzip -dc",
          "bash -c 'while read -r a b; do printf \"%s|%s\\n\" \"$b\" \"$a\"; done'", "perl -pe 's/(\\d+)/$1+1/ge'",
          "comm -3 - sorted.txt 2>/dev/null", "xargs -n 900 echo",
          "dd bs=1000 status=none", "split -l 900 --filter='wc -c'"]
ENDS = ["", "", " | head -n 7", " | sed 5q", " | tee copy | cksum; cat copy", " >made; wc <made",
        " >made; sort made made | tail -n 3"]

# An interpreter reads a line for each round, and answers with some output and the line "end".
INTERPRETERS = {
    "gawk": ["gawk", r"""{
        file = "small.txt"; command = "sort -k" ($1 % 5 + 1) " made | uniq -c | tail -n 20"; both = "tr a-z A-Z"
        while ((getline line < file) > 0)
            if (++n % 7 == $1 % 7) printf "%s %d %.3f\n", line, n, n / ($1 + 1) > "made"
        close(file); close("made"); n = 0
        while ((command | getline line) > 0) print line
        close(command)
        print "to a child", $1 |& both; close(both, "to"); both |& getline line; close(both); print line
        fflush(); print "by a child", $1 | "cat"; close("cat"); system("tail -c 99 made"); print "end"; fflush()
    }"""],
    "bash": ["bash", "-c", r"""while read -r round; do
        exec 3<small.txt 4>made
        for ((i = 0; i < 40 + round % 7; i++)); do
            read -r line <&3
            printf '%s %d %5.2f\n' "$line" "$i" "$round" >&4
        done
        exec 3<&- 4>&-
        printf '%s\n' "$(sort made | uniq -c | tail -n 5)"; cat <(head -n 3 made) - <<<"a here document $round"
        mapfile -t lines <made; printf '%q ' "${lines[@]:round % 30:3}"
        (printf 'a subshell '; exit 3) || echo "$?"; echo end
    done"""],
    "perl": ["env", "PERLIO=stdio", "perl", "-e", r"""$| = 1; while (my $round = <STDIN>) { chomp $round;
        open my $in, "<", "small.txt" or die; open my $out, ">", "made" or die;
        while (<$in>) { printf $out "%s %d %.4g\n", $_, $., $. / ($round + 1) if $. % 7 == $round % 7 }
        close $in; close $out;
        open my $pipe, "-|", "sort made | uniq -c | tail -n 20" or die; print while <$pipe>; close $pipe;
        open my $to, "|-", "tr a-z A-Z" or die; print $to "to a child $round\n"; close $to;
        open my $both, "+<", "made" or die; seek $both, $round % 99, 0;
        print scalar(<$both>), tell $both, "\n"; close $both;
        print `tail -c 99 made`, "end\n" }"""],
}


def random_pipelines(count, seed):
    rng = random.Random(seed)
    for number in range(count):
        stages = " | ".join(rng.choices(STAGES, k=rng.randint(1, 5)))
        source = rng.choice(["cat {} | ", "cat - {} <noeol | ", "<{} ", "tail -n +100 {} | "]).format(rng.choice(FILES))
        yield corpus.Case(f"pipeline-{seed}-{number}", f"seed {seed}", source + stages + rng.choice(ENDS),
                          shell=rng.choice(["sh", "bash"]), locales=[rng.choice(["C", "C.UTF-8"])],
                          outputs=[rng.choice(["file", "pipe", "log", "logpipe", "append"])])


class Interpreter:
    """One of INTERPRETERS, which runs in a separate folder."""

    def __init__(self, name, folder, environment):
        os.mkdir(folder)
        inputs.copy_inputs(os.path.join(os.path.dirname(folder), "inputs"), "small.txt", folder)
        self.process = subprocess.Popen(INTERPRETERS[name], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env={"PATH": arena.PATH, "LC_ALL": "C.UTF-8", **environment})
        self.pid = self.process.pid

    def ask(self, question):
        self.process.stdin.write(b"%d\n" % question)
        self.process.stdin.flush()
        lines = [b""]
        while lines[-1] != b"end\n":
            lines.append(self.process.stdout.readline())
            if not lines[-1]:
                sys.exit(f"pipelines: {self.process.args} ended in the middle of round {question}")
        return b"".join(lines)

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def soak(run, pairs, seconds):
    """Runs command lines and rounds in turn.  Returns the number of command lines."""
    seed = lines = 0
    ends = time.monotonic() + seconds
    while not lines or time.monotonic() < ends:
        seed += 1
        cases = [*random_pipelines(BATCH // 2, seed), *random_cases.random_cases(BATCH // 2, seed)]
        run.run([situation for case in cases for situation in case.situations()], 1)
        lines += len(cases)
        for pair in pairs:
            for number in range(BATCH):
                pair.ask(seed * BATCH + number)
                pair.sample()
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    compare_filters.add_preload_arguments(parser)
    parser.add_argument("--minutes", type=float, default=60)
    arguments = parser.parse_args()
    arguments.jobs = 1
    with tempfile.TemporaryDirectory(prefix="asf-soak.") as folder:
        os.chmod(folder, 0o755)
        run = compare_filters.Run(arguments, folder)
        compare_filters.compile_programs([], os.path.join(folder, "programs"))
        inputs.make_inputs(os.path.join(folder, "inputs"))
        def start(name, number, environment):
            return Interpreter(name, os.path.join(folder, name + str(number)), environment)

        pairs = [twins.Twins(name, functools.partial(start, name), run.preload.environment) for name in INTERPRETERS]
        lines = soak(run, pairs, 60 * arguments.minutes)
        print(f"\n| command lines | failed | seeds |\n| --- | --- | --- |\n"
              f"| {lines} | {run.counts['failed']} | 1 to {lines // BATCH} |")
        print(twins.HEAD)
        good = [pair.end() for pair in pairs]
    return 0 if all(good) and run.counts["passed"] and not run.counts["failed"] else 1


if __name__ == "__main__":
    sys.exit(main())
