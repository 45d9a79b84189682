# SPDX-License-Identifier: MIT
"""glibc: runs its tests of stdio, wide stdio and popen; in a full run also tests of streams, processes and cancellation.

Each test is compiled separately against the system's libc.  Tests that need the tree of a built glibc do not compile, and
are omitted.  The status and the output are compared."""
import os
import re
import subprocess

import fetching
import harness

# For each folder a pattern, with which the names of the tests begin.
QUICK = {"stdio-common": "", "libio": ""}
MORE = {"wcsmbs": "", "argp": "", "assert": "", "grp": "", "gshadow": "", "shadow": "",
        "debug": "tst-fortify|tst-read", "misc": "tst-(mntent|error|syslog|warn|preadv)",
        "posix": "tst-(exec|fork|vfork|spawn|getopt)|bug-getopt",
        "sysdeps/pthread": "tst-(stdio|pt-popen|fork|memstream|exec|cancel|cleanup|eintr)"}
IS_PROGRAM = re.compile(r"\b(main *\(|TEST_FUNCTION\b|do_test\b)|test-(skeleton|driver)\.c")
ARGUMENTS = {"libio/tst_wprintf2": ["Some Text"], "libio/test-freopen": ["file"]}
PATHS = ("SRCDIR OBJDIR OBJDIR_ELF_LDSO INSTDIR LIBDIR BINDIR SBINDIR ROOTSBINDIR COMPLOCALEDIR SYSCONFDIR "
         "SLIBDIR").split()
# Macros that glibc's internal headers would define.
DEFINED = ["-D_GNU_SOURCE", "-DTIMEOUTFACTOR=10", '-DOBJPFX=""', "-Dlibc_hidden_proto(x)=", "-Dlibc_hidden_def(x)=",
           "-D__set_errno(e)=(errno=(e))"] + [f'-D{name}_PATH=""' for name in PATHS]
HEADERS = ("include/intprops.h include/scratch_buffer.h include/array_length.h include/libc-diag.h support/support.h "
           "support/xunistd.h support/xstdio.h support/test-driver.h support/xsignal.h support/xthread.h "
           "support/check.h").split()


class Glibc(harness.Programs):
    seconds = 240
    package = "glibc"
    needs = ("locales-all", "binutils")
    patched = True
    in_quick = True

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def compiles(self, *arguments):
        """Runs the compiler, and returns whether it succeeded.

        Uses a header of glibc's tree only if the system does not have this header."""
        return fetching.logged(["gcc", "-std=gnu11", "-O2", "-w", "-include", "limits.h", *DEFINED,
                                *(f"-idirafter{folder}" for folder in (self.source, self.path("own"),
                                                                       os.path.join(self.source, "malloc"))),
                                *arguments], self.log, environment=harness.base_environment())

    def own_headers(self):
        os.makedirs(self.path("own"), exist_ok=True)
        for header in HEADERS:
            link = self.path("own", os.path.basename(header))
            if not os.path.lexists(link):
                os.symlink(os.path.join(self.source, header), link)
        for empty in ("libc-config.h", "config.h"):
            with open(self.path("own", empty), "w", encoding="utf-8"):
                pass

    def support_library(self):
        sources = [path for path in self.files("support/*.c") if not os.path.basename(path).startswith("test-")]
        sources += self.files("malloc/dynarray_*.c") + self.files("malloc/scratch_buffer_*.c")
        objects = [self.path("objects", os.path.basename(path)[:-2] + ".o") for path in sources]
        made = self.all_at_once(lambda both: self.compiles("-c", os.path.join(self.source, both[0]), "-o", both[1]),
                                zip(sources, objects))
        subprocess.run(["ar", "rcs", self.path("libsupport.a"),
                        *(path for path, whether in zip(objects, made) if whether)], check=True)

    def test_program(self, name):
        """Compiles a source file, if it is a test program."""
        source = os.path.join(self.source, name + ".c")
        with open(source, encoding="utf-8", errors="replace") as file:
            text = file.read()
        old = ["-std=gnu89"] if "should be compiled with deprecated scanf" in text else []
        if IS_PROGRAM.search(text):
            self.compiles(*old, f"-I{os.path.dirname(source)}", source, "-o", self.path("bin", name),
                          self.path("libsupport.a"), "-lm")

    def build(self):
        os.makedirs(self.path("objects"), exist_ok=True)
        self.own_headers()
        self.support_library()
        if len(self.tests(True)) < 100:
            raise fetching.Problem(f"few of the tests compile; see {self.log}")

    def in_container(self, folder):
        """Returns the folder's tests for which glibc makes a root directory, since they change the system.

        For example, one test removes /bin/sh."""
        makefile = os.path.join(self.source, folder, "Makefile")
        if not os.path.exists(makefile):
            return set()
        with open(makefile, encoding="utf-8") as file:
            lists = re.findall(r"^tests-container *[+:]?=(.*)$", file.read().replace("\\\n", " "), re.MULTILINE)
        return {name for names in lists for name in names.split()}

    def compiled(self, folder, beginning):
        """Returns the tests of a folder.  The first call compiles them."""
        if not os.path.isdir(self.path("bin", folder)):
            os.makedirs(self.path("bin", folder))
            wanted = re.compile(f"{folder}/({beginning})")
            changing = self.in_container(folder)
            sources = [path[:-2] for path in self.files(f"{folder}/*.c")
                       if wanted.match(path) and os.path.basename(path)[:-2] not in changing]
            self.all_at_once(self.test_program, sources)
        return [f"{folder}/{name}" for name in sorted(os.listdir(self.path("bin", folder)))]

    def tests(self, quick):
        folders = QUICK if quick else {**QUICK, **MORE}
        return [name for folder, beginning in folders.items() for name in self.compiled(folder, beginning)]

    def command(self, name, scratch):
        given = os.path.join(self.source, name + ".input")
        return [self.path("bin", name), *ARGUMENTS.get(name, [])], None, given if os.path.exists(given) else None


suite = Glibc
