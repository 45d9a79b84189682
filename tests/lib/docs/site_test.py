#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""site_test.py: makes the web site of the documents, and checks it.  The targets and anchors of all links exist.  No page
loads a file from the network.  The list of manual pages and the search index contain each manual page.
"""
import glob
import html.parser
import json
import os
import re
import subprocess
import tempfile
import unittest
import urllib.parse

TREE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "..")


class Page(html.parser.HTMLParser):
    """A page: its anchors in `ids`, the targets of its `links`, and in `loads` the files that a browser fetches with it."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loads = [], [], []
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids += [attrs["id"]] if "id" in attrs else []
        self.links += [attrs["href"]] if tag == "a" and attrs.get("href") else []
        self.loads += [attrs[name] for name in ("src", "srcset") if name in attrs]
        self.loads += [attrs["href"]] if tag == "link" else []


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="asf-site-")
        cls.addClassCleanup(scratch.cleanup)
        cls.site = os.path.join(scratch.name, "site")
        subprocess.run([os.path.join(TREE, "lib", "docs", "make_site.py"), cls.site], check=True)
        paths = glob.glob("**/*.html", root_dir=cls.site, recursive=True)
        cls.pages = {path: Page(os.path.join(cls.site, path)) for path in paths}
        cls.manuals = [os.path.basename(path) for path in glob.glob(f"{TREE}/interfaces/**/man/*.[1-8]", recursive=True)]

    def find(self, page, url):
        """Returns the target of the link `url` on `page`: a path in the site, and an anchor."""
        parts = urllib.parse.urlsplit(url)
        path = os.path.join("/", os.path.dirname(page), urllib.parse.unquote(parts.path)) if parts.path else f"/{page}"
        return os.path.normpath(path).lstrip("/"), urllib.parse.unquote(parts.fragment)

    def test_links_lead_to_what_is_there(self):
        for page, content in self.pages.items():
            for url in content.links + content.loads:
                if urllib.parse.urlsplit(url).scheme:
                    continue
                path, anchor = self.find(page, url)
                self.assertTrue(os.path.isfile(os.path.join(self.site, path or "index.html")), f"{page}: {url} is not there")
                if anchor:
                    self.assertTrue(anchor in self.pages[path].ids, f"{page}: {url}: there is no such anchor")

    def test_anchors_are_unique(self):
        for page, content in self.pages.items():
            twice = {name for name in content.ids if content.ids.count(name) > 1}
            self.assertFalse(twice, f"{page} has these anchors twice")

    def test_loads_nothing_from_the_network(self):
        for page, content in self.pages.items():
            for url in content.loads:
                self.assertFalse(urllib.parse.urlsplit(url).netloc, f"{page} loads {url}")
        for path in glob.glob(f"{self.site}/**/*.css", recursive=True):
            with open(path, encoding="utf-8") as file:
                self.assertNotRegex(file.read(), r"""(url\(|@import) *["']?(https?:)?//""", path)

    def test_has_each_manual_page(self):
        with open(os.path.join(self.site, "search", "search_index.json"), encoding="utf-8") as file:
            found = {entry["location"] for entry in json.load(file)["docs"]}
        self.assertTrue(self.manuals)
        for manual in self.manuals:
            self.assertTrue(f"{manual}.html" in self.pages["man/index.html"].links, f"{manual} is not in the list")
            self.assertTrue(f"man/{manual}.html#DESCRIPTION" in found, f"{manual} is not found by the search")

    def test_references_between_manual_pages_are_links(self):
        for manual in self.manuals:
            with open(os.path.join(self.site, "man", f"{manual}.html"), encoding="utf-8") as file:
                text = re.sub(r"<a [^>]*>.*?</a>|<(pre|title|h1)\b.*?</\1>", "", file.read(), flags=re.DOTALL)
            self.assertEqual(re.findall(r"(?<!\w)asf[\w-]*\([1-8]\)", text), [], f"{manual}: these are no links")


if __name__ == "__main__":
    unittest.main()
