#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""report_page.py LIBRARY: measures four programs with LIBRARY preloaded, and makes the page of bench/report from them.
The page must have charts in both themes and the table, and load no other file.  If chromium is installed, the page must
fit into windows of 400 and 1,400 pixels.  Also tests which parts of earlier runs bench/results.md keeps.
"""
import importlib.machinery
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

LIBRARY = os.path.realpath(sys.argv.pop(1))
sys.dont_write_bytecode = True  # do not write .pyc files into the source tree
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
        # a frame can be narrower than chromium's own window, which has at least 500 pixels
        path = os.path.join(self.folder, "frame.html")
        for width in (400, 1400):
            with open(path, "w", encoding="utf-8") as file:
                file.write(f'<iframe src="report.html" width="{width}" height="900" onload="document.title = '
                           'this.contentDocument.documentElement.scrollWidth"></iframe>')
            shown = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
                                    f"--user-data-dir={self.folder}/profile", "--dump-dom", path],
                                   check=True, capture_output=True, text=True).stdout
            self.assertLessEqual(int(re.search(r"<title>(\d+)</title>", shown)[1]), width)


def load_report():
    sys.path.insert(0, BENCH)
    loader = importlib.machinery.SourceFileLoader("report", os.path.join(BENCH, "report"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("report", loader))
    loader.exec_module(module)
    return module


class Results(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="asf-results-")
        self.addCleanup(scratch.cleanup)
        self.report = load_report()
        self.report.RESULTS = os.path.join(scratch.name, "results.md")

    def part(self, heading, commit, text):
        return f"## {heading}\n\n*2 processors (One), cc 12; asf {commit}; 2026-11-28, load 0.1*\n\n{text}\n"

    def written(self, sections, tables):
        self.report.write_results(sections, tables)
        return self.report.read(self.report.RESULTS)

    def test_of_one_run(self):
        page = self.written({"programs-files": self.part("Files?", "aaaa", "1.56")}, {"lines": self.part("Lines", "aaaa", "| 3 |")})
        self.assertIn("All of commit aaaa, 2026-11-28, on 2 processors (One).", page)
        self.assertRegex(page, r"(?s)## Files\?.*1\.56.*## All tables.*<summary>Lines</summary>.*\| 3 \|.*</details>")

    def test_a_part_alone_replaces_only_its_own(self):
        self.written({"programs-files": self.part("Files?", "aaaa", "1.56")},
                     {"lines": self.part("Lines", "aaaa", "| 3 |"), "ring": self.part("Rings", "aaaa", "| 4 |")})
        page = self.written({}, {"lines": self.part("Lines", "bbbb", "| 5 |")})
        self.assertNotIn("| 3 |", page)
        for kept in ("1.56", "| 4 |", "| 5 |"):
            self.assertEqual(page.count(kept), 1)
        self.assertRegex(page, r"- commit aaaa, .*: programs-files, ring-tables\n- commit bbbb, .*: lines-tables\n")

    def test_figures_of_the_first_page(self):
        page = ("9 of Debian's programs, output into a file, by default: **1.40** times; `stdbuf -i128K -o128K` 1.10. No\n"
                "| *a / b, 3.0 is asked for* | 7.52 | 10.10 |\n")
        self.assertEqual(self.report.mean_of_programs(page), ("9", "1.40", "1.10"))
        self.assertEqual(self.report.whole(self.report.row_of("a / b")(page)), ["8", "10"])


if __name__ == "__main__":
    unittest.main()
