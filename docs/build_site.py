"""Builds the documentation as a site, from the same Markdown: `make docs`.

    python docs/build_site.py [FOLDER]

The pages are copied to FOLDER/pages (.cache/docs by default), with three changes: docs/ becomes the root, README.md and the
other pages at the root of the repository become project/, and a link to a file that is not a page becomes plain text. Then
zensical builds FOLDER/site. A broken link or anchor fails, and so does a page that would load something from elsewhere.
"""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
DOCS: Final = ROOT / "docs"
TOP_PAGES: Final = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE")
_LINK: Final = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_LOADED: Final = re.compile(r"<(?:script|link|img|iframe)\b[^>]*?=[\"']?(?:https?:)?//[^>]*>")
BAR: Final = "\\|"
_CODE_WITH_BAR: Final = re.compile(r"(?<!`)`([^`|]*\\\|[^`]*)`(?!`)")
STYLE: Final = """\
.md-typeset td:first-child > code:only-child { white-space: nowrap; }
.md-typeset table:not([class]) th { min-width: 0; }
"""
_FENCE: Final = re.compile(r"^(```+)(\w*).*$")


def main(folder: Path = ROOT / ".cache/docs") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_pages(folder / "pages")
    shutil.copy(DOCS / "zensical.toml", folder)
    program = Path(sys.executable).with_name("zensical")
    command = [str(program) if program.exists() else "zensical", "build", "--clean", "--strict"]
    done = subprocess.run(command, cwd=folder)
    if done.returncode != 0:
        sys.exit(done.returncode)
    loaded = loaded_from_elsewhere(folder / "site")
    sys.exit("these pages load something from elsewhere:\n" + "\n".join(loaded) if loaded else 0)


def loaded_from_elsewhere(site: Path) -> list[str]:
    found = []
    for page in sorted(site.rglob("*.html")):
        found += [f"{page.relative_to(site)}: {tag}" for tag in _LOADED.findall(page.read_text("utf-8"))]
    return found


def write_pages(pages: Path) -> None:
    shutil.rmtree(pages, ignore_errors=True)
    sources = [*(ROOT / name for name in TOP_PAGES), *DOCS.rglob("*.md"), *DOCS.rglob("*.svg")]
    for source in sources:
        target = pages / place_of(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix == ".md":
            target.write_text(convert_page(source), "utf-8")
        else:
            shutil.copy(source, target)
    (pages / "site.css").write_text(STYLE, "utf-8")


def place_of(file: Path) -> Path:
    """Where a file of the repository is in the site."""
    if file.parent == ROOT:
        return Path("project", file.name)
    return file.relative_to(DOCS)


def convert_page(page: Path) -> str:
    fence = ""
    lines: list[str] = []
    for line in page.read_text("utf-8").splitlines():
        found = _FENCE.match(line)
        if found and not fence:
            fence = found[1]
            lines.append(found[1] + found[2])
        elif fence:
            fence = "" if line.strip() == fence else fence
            lines.append(line)
        else:
            line = _CODE_WITH_BAR.sub(_escape_bars, line) if line.startswith("|") else line
            lines.append(_LINK.sub(lambda link: convert_link(link, page), line))
    return "\n".join(lines) + "\n"


def _escape_bars(code: re.Match[str]) -> str:
    """In a table, a bar within code is written `\\|`. The site would show the backslash."""
    return f"<code>{html.escape(code[1]).replace(BAR, '&#124;')}</code>"


def convert_link(link: re.Match[str], page: Path) -> str:
    image, text, address = link.groups()
    name, mark, anchor = address.partition("#")
    text = text if image else _LINK.sub(lambda inner: convert_link(inner, page), text)
    if not name or ":" in name:
        return f"{image}[{text}]({address})"
    target = (page.parent / name).resolve()
    if target.suffix not in (".md", ".svg"):
        return text
    return f"{image}[{text}]({os.path.relpath(place_of(target), place_of(page).parent)}{mark}{anchor})"


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
