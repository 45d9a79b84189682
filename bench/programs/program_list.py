# SPDX-License-Identifier: MIT
"""The stock programs that programs/run times: title, command line, package, and target."""
import collections

# In `command` and `stdin`, {kind-megabytes} is an input of program_inputs.py, {out} a file that the program may write.
# `least` is the target ratio plain/preloaded; None: the program must only not be slower.
Program = collections.namedtuple("Program", "title command package stdin locale least", defaults=[None, "C", None])

UTF8 = "C.UTF-8"
LUA_NUMBERS = "for i = 1, 600000 do io.write(i * 1.25, ' ', i, '\\n') end"
LUA_LINES = "for l in io.lines(arg[1]) do io.write(l, '\\n') end"
LUA_CHARACTERS = "local f = io.open(arg[1]); local n = 0; while f:read(1) do n = n + 1 end; print(n)"
SHELL_LOOP = "i=0; while [ $i -lt 60000 ]; do printf '%d %s\\n' $i word; i=$((i+1)); done"


def wide():
    """Programs on wide streams."""
    yield Program("rev", "rev {text-8}", "bsdextrautils", least=2.0)
    yield Program("rev (UTF-8)", "rev {utf8-8}", "bsdextrautils", locale=UTF8, least=2.0)
    yield Program("colrm", "colrm 20 40", "bsdextrautils", stdin="{text-8}", least=2.0)
    yield Program("colrm (UTF-8)", "colrm 20 40", "bsdextrautils", stdin="{utf8-4}", locale=UTF8, least=2.0)
    yield Program("col -b", "col -b", "bsdextrautils", stdin="{overstruck-8}", least=2.0)
    yield Program("col -b (UTF-8)", "col -b", "bsdextrautils", stdin="{utf8-8}", locale=UTF8, least=2.0)
    yield Program("ul", "ul -t xterm {overstruck-8}", "bsdextrautils", least=2.0)
    yield Program("column -t (UTF-8)", "column -t {tsv-2}", "bsdextrautils", locale=UTF8)


def formatted():
    """Programs that print numbers and formatted lines."""
    yield Program("hexdump -C", "hexdump -C {binary-4}", "bsdextrautils", least=2.0)
    yield Program("hexdump -x", "hexdump -x {binary-8}", "bsdextrautils", least=2.0)
    yield Program("hexdump -v %02x", ["hexdump", "-v", "-e", '1/1 "%02x"', "{binary-2}"], "bsdextrautils")
    yield Program("pnmtoplainpnm", "pnmtoplainpnm {ppm-6}", "netpbm", least=2.0)
    yield Program("seq -f %.3f", "seq -f %.3f 1 1000000", "coreutils", least=2.0)
    yield Program("seq 0 .1", "seq 0 .1 100000", "coreutils", least=2.0)
    yield Program("seq -w 0 .01", "seq -w 0 .01 10000", "coreutils")
    yield Program("lua io.write(number)", ["lua5.4", "-", "x"], "lua5.4", stdin="=" + LUA_NUMBERS, least=2.0)
    yield Program("od -x", "od -x {binary-8}", "coreutils", least=1.5)
    yield Program("od -c", "od -c {binary-4}", "coreutils", least=1.5)
    yield Program("od -tf8", "od -tf8 {binary-4}", "coreutils", least=1.5)
    yield Program("od -An -td4", "od -An -td4 {binary-8}", "coreutils")
    yield Program("objdump -d", "objdump -d {library-2}", "binutils", least=1.5)
    yield Program("readelf -x", "readelf -x .text {library-2}", "binutils", least=1.5)
    yield Program("readelf -sW", "readelf -sWr {library-2}", "binutils")
    yield Program("mawk %.2f", ["mawk", '{ printf "%.2f\\n", $1 }', "{floats-8}"], "mawk", least=1.5)
    yield Program("gawk %.2f", ["gawk", '{ printf "%.2f\\n", $1 }', "{floats-4}"], "gawk")
    yield Program("gawk printf", ["gawk", '{ printf "%s %d\\n", $1, NR }', "{log-16}"], "gawk")
    yield Program("mawk printf", ["mawk", '{ printf "%s %d\\n", $1, NR }', "{log-16}"], "mawk")
    yield Program("original-awk printf", ["original-awk", '{ printf "%s %d\\n", $1, NR }', "{log-4}"], "original-awk")
    yield Program("tcpdump -nXr", "tcpdump -nXr {pcap-8}", "tcpdump", least=1.5)
    yield Program("sqlite3 .dump", ["sqlite3", "{database-16}", ".dump"], "sqlite3", least=1.3)
    yield Program("sqlite3 -csv", ["sqlite3", "-csv", "{database-16}", "select * from sample"], "sqlite3")
    yield Program("sqlite3 -json", ["sqlite3", "-json", "{database-8}", "select * from sample"], "sqlite3")
    yield Program("numfmt --to=iec", "numfmt --to=iec", "coreutils", stdin="{integers-4}", least=1.3)
    yield Program("c++filt", "c++filt", "binutils", stdin="{text-8}", least=1.3)
    yield Program("nl", "nl {text-16}", "coreutils")
    yield Program("uniq -c", "uniq -c {lines-16}", "coreutils")
    yield Program("cmp -l", "cmp -l {binary-8} {other_binary-8}", "diffutils")
    yield Program("grep -n", "grep -n e {text-16}", "grep")
    yield Program("enscript", "enscript -q -o - {text-4}", "enscript")
    yield Program("a2ps", "a2ps -q -o - {text-2}", "a2ps")
    yield Program("find -printf", ["find", "/usr/include", "-printf", "%p %s %m\\n"], "findutils")
    yield Program("dash printf", ["dash", "-c", SHELL_LOOP], "dash")
    yield Program("bash printf", ["bash", "-c", SHELL_LOOP], "bash")
    yield Program("sox wav to dat", "sox {wav-1} -t dat -", "sox")


def by_character():
    """Programs that read and write single characters and short strings."""
    yield Program("catdoc", "catdoc {text-8}", "catdoc", least=2.0)
    yield Program("xxd", "xxd {binary-8}", "xxd")
    yield Program("xxd -p", "xxd -p {binary-8}", "xxd")
    yield Program("xxd -r", "xxd -r -p {hex-16} {out}", "xxd")
    yield Program("dos2unix", "dos2unix", "dos2unix", stdin="{crlf-16}")
    yield Program("unix2dos", "unix2dos", "dos2unix", stdin="{text-16}")
    yield Program("recode", "recode latin1..utf8", "recode", stdin="{latin1-8}")
    yield Program("m4", ["m4", "-Dtwice=[$1$1]", "{markup-8}"], "m4")
    yield Program("wdiff", "wdiff {log-0.4} {tsv-0.4}", "wdiff")
    yield Program("tcpdump -w", "tcpdump -r {pcap-64} -w -", "tcpdump")
    yield Program("uuencode", "uuencode {binary-32} name", "sharutils")
    yield Program("uudecode", "uudecode -o /dev/stdout {uuencoded-16}", "sharutils")
    yield Program("pnmtops", "pnmtops {ppm-6}", "netpbm")
    yield Program("ppmtopgm", "ppmtopgm {ppm-48}", "netpbm")
    yield Program("pamflip -lr", "pamflip -lr {ppm-48}", "netpbm")
    yield Program("lua lines", ["lua5.4", "-e", LUA_LINES.replace("arg[1]", "'{text-16}'")], "lua5.4")
    yield Program("lua read(1)", ["lua5.4", "-e", LUA_CHARACTERS.replace("arg[1]", "'{text-4}'")], "lua5.4")
    yield Program("figlet", "figlet", "figlet", stdin="{text-0.05}")
    yield Program("datamash transpose", "datamash transpose", "datamash", stdin="{tsv-4}")
    yield Program("indent", "indent -st {source-1}", "indent")
    yield Program("strings", "strings {binary-16}", "binutils")


def line_by_line():
    """Filters that read and write whole lines."""
    yield Program("cut -f2", "cut -f2 {tsv-32}", "coreutils")
    yield Program("paste", "paste {text-16} {utf8-16}", "coreutils")
    yield Program("join", "join {lines-2} {other_lines-2}", "coreutils")
    yield Program("comm", "comm {lines-16} {other_lines-16}", "coreutils")
    yield Program("uniq", "uniq {lines-32}", "coreutils")
    yield Program("fold -w40", "fold -w40 {text-16}", "coreutils")
    yield Program("expand", "expand {tsv-16}", "coreutils")
    yield Program("unexpand -a", "unexpand -a {text-16}", "coreutils")
    yield Program("fmt", "fmt {text-8}", "coreutils")
    yield Program("pr", "pr {text-16}", "coreutils")
    yield Program("shuf", "shuf --random-source={binary-32} {lines-16}", "coreutils")
    yield Program("sort", "sort {log-16}", "coreutils")
    yield Program("tac", "tac {text-32}", "coreutils")
    yield Program("tr", "tr a-z A-Z", "coreutils", stdin="{text-32}")
    yield Program("head -c", "head -c 120000000 {text-128}", "coreutils")
    yield Program("cat -n", "cat -n {text-32}", "coreutils")
    yield Program("wc", "wc {text-32}", "coreutils")
    yield Program("base64", "base64 {binary-32}", "coreutils")
    yield Program("md5sum", "md5sum {binary-32}", "coreutils")
    yield Program("sed s///", "sed s/the/THE/ {text-16}", "sed")
    yield Program("sed -n p", "sed -n p {text-32}", "sed")
    yield Program("grep", "grep stream {text-32}", "grep")
    yield Program("grep -v", "grep -v stream {text-16}", "grep")
    yield Program("diff", "diff {lines-8} {other_lines-8}", "diffutils")
    yield Program("gawk print $1", ["gawk", "{ print $1 }", "{log-32}"], "gawk")
    yield Program("mawk print $1", ["mawk", "{ print $1 }", "{log-32}"], "mawk")
    yield Program("gzip -dc", "gzip -dc {gzipped-32}", "gzip")
    yield Program("bc", "bc -q", "bc", stdin="=for (i = 0; i < 100000; i++) i * i\n")
    yield Program("jq -c", "jq -c . {integers-2}", "jq")


def on_musl():
    """Programs that tests/systems/musl --programs builds."""
    yield Program("busybox awk print $1", ["busybox", "awk", "{ print $1 }", "{log-16}"], "busybox")
    yield Program("busybox awk printf", ["busybox", "awk", '{ printf "%s %d\\n", $1, NR }', "{log-16}"], "busybox")
    yield Program("busybox awk %.2f", ["busybox", "awk", '{ printf "%.2f\\n", $1 }', "{floats-4}"], "busybox")
    yield Program("busybox sort", "busybox sort {log-8}", "busybox")
    yield Program("busybox sort -n", "busybox sort -n {integers-0.5}", "busybox")
    yield Program("busybox sed s///", "busybox sed s/the/THE/ {text-8}", "busybox")
    yield Program("busybox grep -n", "busybox grep -n e {text-16}", "busybox")
    yield Program("busybox od -x", "busybox od -x {binary-4}", "busybox")
    yield Program("busybox od -c", "busybox od -c {binary-2}", "busybox")
    yield Program("busybox hexdump -C", "busybox hexdump -C {binary-2}", "busybox")
    yield Program("busybox cut -f2", "busybox cut -f2 {tsv-16}", "busybox")
    yield Program("busybox uniq -c", "busybox uniq -c {lines-16}", "busybox")
    yield Program("busybox wc", "busybox wc {text-16}", "busybox")
    yield Program("busybox tr", "busybox tr a-z A-Z", "busybox", stdin="{text-32}")
    yield Program("sqlite3 .dump", ["sqlite3", "{database-16}", ".dump"], "sqlite3")
    yield Program("sqlite3 -csv", ["sqlite3", "-csv", "{database-16}", "select * from sample"], "sqlite3")
    yield Program("sqlite3 .import", ["sqlite3", ":memory:", ".import --csv {lines-8} lines", "select count(*) from lines"],
                  "sqlite3")
    yield Program("gawk print $1", ["gawk", "{ print $1 }", "{log-32}"], "gawk")
    yield Program("gawk printf", ["gawk", '{ printf "%s %d\\n", $1, NR }', "{log-16}"], "gawk")
    yield Program("gawk %.2f", ["gawk", '{ printf "%.2f\\n", $1 }', "{floats-4}"], "gawk")
    yield Program("lua io.write(number)", ["lua", "-", "x"], "lua5.4", stdin="=" + LUA_NUMBERS)
    yield Program("lua lines", ["lua", "-e", LUA_LINES.replace("arg[1]", "'{text-16}'")], "lua5.4")
    yield Program("lua read(1)", ["lua", "-e", LUA_CHARACTERS.replace("arg[1]", "'{text-4}'")], "lua5.4")
    yield Program("sed s///", "sed s/the/THE/ {text-16}", "sed")
    yield Program("sed -n p", "sed -n p {text-32}", "sed")
    yield Program("grep -n", "grep -n e {text-16}", "grep")
    yield Program("bc", "bc -q", "bc", stdin="=for (i = 0; i < 100000; i++) i * i\n")
    yield Program("dash printf", ["dash", "-c", SHELL_LOOP], "dash")
    yield Program("zstd", "zstd -q -c {text-32}", "libzstd")


PROGRAMS = [*wide(), *formatted(), *by_character(), *line_by_line()]
MUSL_PROGRAMS = list(on_musl())
