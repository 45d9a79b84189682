#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make_site.py SITE: makes a web site of the manual pages and the Markdown files of the tree, in the folder SITE.

mandoc converts the manual pages, for the site's folder man.  mkdocs then makes the site from these pages and from
copies of the Markdown files.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[2]
SECTIONS = {"1": "Commands", "3": "Functions", "7": "Libraries"}
CODE = re.compile(r"(^```.*?^```$|^    [^\n]*$)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[([^]]+)\]\(([^)#\s:]+)(#[^)\s]*)?\)")
REFERENCE = re.compile(r"`man (asf[\w-]*)`|(?<![\w`])(asf[\w-]*)\(([1-8])\)(?!`)")
HEADING = re.compile(r'<section class="Sh">\n<h1 class="Sh" id="([^"]*)"><a[^>]*>([^<]*)</a></h1>\n')


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


class Manual:
    """A manual page: its file, its page in the site, the names that it describes, and what they do."""

    def __init__(self, path):
        self.path, self.file, self.page = path, path.name, f"man/{path.name}.md"
        self.title, self.section = self.file.rsplit(".", 1)
        source = path.read_text(encoding="utf-8")
        self.names = re.findall(r"^\.Nm (\S+)", source.split("\n.Nd ")[0], re.MULTILINE)
        self.does = re.search(r"^\.Nd (.*)", source, re.MULTILINE)[1]

    def markdown(self, described):
        """Returns the page: mandoc's HTML, with headings in Markdown, which mkdocs needs for its table of contents.
        References to pages that are not ours become text."""
        converted = subprocess.run(["mandoc", "-T", "html", "-O", "fragment,man=%N.%S", self.path], check=True,
                                   capture_output=True, encoding="utf-8").stdout
        text = re.search(r'<div class="manual-text">\n(.*)</div>', converted, re.DOTALL)[1]
        text = re.sub(r'<a class="Xr" href="([^"]*)">([^<]*)</a>',
                      lambda m: f'<a class="Xr" href="{described[m[1]]}.html">{m[2]}</a>' if m[1] in described else m[2], text)
        parts = HEADING.split(re.sub(r"(</?)h2\b", r"\1h3", text))
        page = f"# {self.title}({self.section})\n"
        for anchor, title, body in zip(parts[1::3], parts[2::3], parts[3::3]):
            body = body.rstrip().removesuffix("</section>")
            page += f'\n## {" ".join(title.split())} {{: #{anchor} }}\n\n<div class="manual">\n{body}</div>\n'
        return page


def index(manuals):
    """The page that lists all manual pages."""
    text = "# Manual\n"
    for section, title in SECTIONS.items():
        text += f"\n## {title}\n\n| page | describes |\n| --- | --- |\n"
        for manual in manuals:
            if manual.section == section:
                others = ", ".join(f"`{name}`" for name in manual.names if name != manual.title)
                text += f"| [{manual.title}({section})]({manual.file}.md) | {manual.does}{others and '<br>also '}{others} |\n"
    return text


def navigation(manuals):
    parts = [{title: [{manual.title: manual.page} for manual in manuals if manual.section == section]}
             for section, title in SECTIONS.items()]
    return json.dumps([{"All pages": "man/index.md"}, *parts])


def link(match, page, pages):
    """Returns a link to a page of the site, or the path as text.  A dead link stays, so that mkdocs reports it."""
    text, target, anchor = match[1], match[2], match[3] or ""
    folder = os.path.dirname(page)
    path = os.path.normpath(os.path.join(folder, target))
    for there in (path, f"{path}/README.md", f"man/{os.path.basename(path)}.md"):
        if there in pages:
            return f"[{text}]({os.path.relpath(there, folder or '.')}{anchor})"
    if not (TREE / path).exists():
        return match[0]
    return f"`{path}`" if text.strip("`/") in path else f"{text} (`{path}`)"


def reference(match, page, described):
    """Returns `man NAME` or NAME(SECTION); as a link if the page is ours."""
    names = [f"{match[1] or match[2]}.{section}" for section in match[3] or SECTIONS]
    found = [described[name] for name in names if name in described]
    return f"[{match[0]}]({'../' * page.count('/')}man/{found[0]}.md)" if found else match[0]


def adapt(text, page, pages, described):
    """Returns the page rewritten for mkdocs, where mkdocs shows Markdown differently from GitHub."""
    parts = CODE.split(text)
    for i, part in enumerate(parts):
        if i % 2:
            parts[i] = re.sub(r"^```(\w+) .*", r"```\1", part)
            continue
        part = LINK.sub(lambda m: link(m, page, pages), part)
        part = REFERENCE.sub(lambda m: reference(m, page, described), part)
        part = re.sub(r"^\|.*", lambda row: re.sub("`[^`]*`", lambda m: m[0].replace(r"\|", "|"), row[0]), part,
                      flags=re.MULTILINE)
        part = re.sub(r"^([^\s|-].*\n)(?=- )", r"\1\n", part, flags=re.MULTILINE)  # a blank line before a list
        part = re.sub(r"^  (?=- )", "    ", part, flags=re.MULTILINE)  # MkDocs indents nested lists by four
        parts[i] = part.replace("<details>", '<details markdown="1">')
    return re.sub(r"<source [^>]*>\n? *", "", "".join(parts))  # remove the charts for dark pages


def with_charts(results):
    """Returns the results with bench/report's chart, if there is one, at the beginning of each part."""
    return re.sub(r"(<!-- (\S+) -->\n## (.*)\n)", lambda m: f"{m[1]}\n![{m[3]}](results/{m[2]}.svg)\n"
                  if (TREE / f"bench/results/{m[2]}.svg").exists() else m[0], results)


def collect(folder):
    """Writes all files that mkdocs needs: settings, pages, style and charts."""
    manuals = sorted((Manual(path) for path in TREE.glob("interfaces/**/man/*.[1-8]")),
                     key=lambda manual: (manual.section, manual.title))
    described = {f"{name}.{manual.section}": manual.file for manual in manuals for name in manual.names}
    settings = (TREE / "lib/docs/mkdocs.yml.in").read_text(encoding="utf-8")
    files = re.findall(r": (\S+\.md)$", settings, re.MULTILINE)
    pages = {*files, *(manual.page for manual in manuals)}
    docs = folder / "docs"
    write(folder / "mkdocs.yml", settings.replace("@MANUAL@", navigation(manuals)))
    write(docs / "man/index.md", index(manuals))
    for manual in manuals:
        write(docs / manual.page, manual.markdown(described))
    for page in files:
        text = adapt((TREE / page).read_text(encoding="utf-8"), page, pages, described)
        write(docs / page, with_charts(text) if page == "bench/results.md" else text)
    shutil.copy(TREE / "lib/docs/site.css", docs)
    shutil.copytree(TREE / "bench/results", docs / "bench/results", ignore=shutil.ignore_patterns("*-dark.svg"))


def main():
    site = os.path.abspath(sys.argv[1])
    for program in ("mkdocs", "mandoc"):
        if not shutil.which(program):
            sys.exit(f"{program} is not installed: apt-get install {program}")
    with tempfile.TemporaryDirectory(prefix="asf-docs-") as folder:
        collect(pathlib.Path(folder))
        made = subprocess.run(["mkdocs", "build", "--strict", "-f", f"{folder}/mkdocs.yml", "-d", site], check=False)
    if made.returncode != 0:
        sys.exit("mkdocs failed; its messages are above")
    print(f"{site}/index.html is the site; its search needs a web server: python3 -m http.server -d {site}")


if __name__ == "__main__":
    main()
