# SPDX-License-Identifier: MIT
"""perl: tests the I/O of the system's perl: files, pipes, duplicates and layers.

perl uses mostly read and write, and sometimes stdio."""
import os
import re
import shutil
import subprocess

import harness

MORE = ["t/op/print.t", "t/op/sprintf*.t", "t/op/readline.t", "t/op/chop.t", "t/op/stat.t", "t/op/filetest.t",
        "t/op/exec.t", "t/op/fork.t", "t/op/sysio.t", "t/op/eof.t", "t/op/die_exit.t", "t/op/sselect.t", "t/op/write.t",
        "ext/PerlIO-*/t/*.t", "lib/FileHandle.t", "lib/open.t", "lib/perlio*.t"]


class Perl(harness.Programs):
    package = "perl"
    needs = ("perl",)

    def build(self):
        """Replaces the modules in lib, which the tests load, by those of the system's perl, which runs the tests."""
        asked = subprocess.run(["perl", "-MConfig", "-e", 'print "@Config{qw(privlibexp archlibexp)}\n@INC"'],
                               stdout=subprocess.PIPE, check=True).stdout.decode().split()
        library, theirs = os.path.join(self.source, "lib"), os.path.join(self.source, "lib.theirs")
        shutil.move(library, theirs)
        os.mkdir(library)
        for folder in dict.fromkeys(asked[:2] + [path for path in asked if path.endswith("/perl-base")]):
            # may fail, since some files are in several folders
            self.logged("cp", "-rs", folder + "/.", library, may_fail=True)
        self.logged("sh", "-c", "cp lib.theirs/*.t lib/")

    def tests(self, quick):
        return [path for pattern in ["t/io/*.t", *([] if quick else MORE)] for path in self.files(pattern)]

    def command(self, name, scratch):
        return ["perl", "-I../lib", os.path.relpath(name, "t")], os.path.join(self.source, "t"), None

    def judge(self, result, output):
        failed = re.search(rb"^not ok (?!.*# TODO)", output, re.MULTILINE)
        return "FAIL" if failed and result == "PASS" else result, output


suite = Perl
