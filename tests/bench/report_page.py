#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""report_page.py LIBRARY: measures four programs with LIBRARY preloaded, has bench/report make its page of them, and
looks at it: charts in both themes, the table, nothing from elsewhere.  Where chromium is installed the page is laid out at
400 and 1,400 pixels, and must fit.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

LIBRARY = os.path.realpath(sys.argv.pop(1))
BENCH = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "bench")
CHROMIUM = shutil.which("chromium")


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="asf-report-")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = scratch.name
        with open(os.path.join(cls.folder, "programs-files.md"), "w", encoding="utf-8") as table:
            subprocess.run([os.path.join(BENCH, "programs", "run"), "--preload", LIBRARY, "--runs", "3", "--into-files",
                            "--filter", "^(nl|tac|uniq|cut -f2)$", "--dir", cls.folder,
                            "--json", os.path.join(cls.folder, "programs-files.json")], check=True, stdout=table)
        subprocess.run([os.path.join(BENCH, "report"), "--from", cls.folder], check=True, stdout=subprocess.DEVNULL)
        with open(os.path.join(cls.folder, "report.html"), encoding="utf-8") as file:
            cls.page = file.read()

    def test_has_charts_for_light_and_dark(self):
        for theme in ("light", "dark"):
            charts = re.findall(rf'<div class="panel {theme}"><svg.*?</svg>', self.page, re.DOTALL)
            for program in ("nl", "tac", "uniq", "cut -f2"):
                self.assertTrue(any(program in chart for chart in charts), f"{program} is in no {theme} chart")

    def test_has_the_table_and_says_on_what(self):
        self.assertRegex(self.page, r"<td>tac</td>\s*<td align=\"right\">\d+</td>")
        self.assertRegex(self.page, r"4 of Debian's programs, output into a file, by default: <strong>\d\.\d\d</strong>")
        self.assertIn(os.uname().release, self.page)

    def test_needs_no_other_file(self):
        self.assertNotRegex(self.page, r"""(?:src|href|srcset)=["'](?!#)""")
        self.assertNotRegex(self.page, r"url\((?!#)")

    @unittest.skipUnless(CHROMIUM, "chromium is not installed")
    def test_fits_narrow_and_wide_windows(self):
        path = os.path.join(self.folder, "frame.html")  # a window of chromium's has 500 pixels and more
        for width in (400, 1400):
            with open(path, "w", encoding="utf-8") as file:
                file.write(f'<iframe src="report.html" width="{width}" height="900" onload="document.title = '
                           'this.contentDocument.documentElement.scrollWidth"></iframe>')
            shown = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
                                    f"--user-data-dir={self.folder}/profile", "--dump-dom", path],
                                   check=True, capture_output=True, text=True).stdout
            self.assertLessEqual(int(re.search(r"<title>(\d+)</title>", shown)[1]), width)


if __name__ == "__main__":
    unittest.main()
